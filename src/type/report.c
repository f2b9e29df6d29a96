/* report.c - turns a kernel's report into an error. */
#include "type/report.h"

#include <assert.h>
#include <ctype.h>

enum {
    SHOWN = 120 /* bytes of an assertion's condition that are shown */
};

/* Adds the point, ", at (17, 511)"; nothing where the space of points has no dimensions, and there is a single one. */
static void print_point(text *t, const report_kernel *kernel, int64_t element) {
    int64_t rest = kernel->npoints ? element : 0, block = 1;
    for (int d = 1; d < kernel->npoints; d++)
        block *= kernel->points[d];
    for (int d = 0; d < kernel->npoints; d++) {
        text_printf(t, "%s%lld",
                    d               ? ", "
                    : kernel->inner ? ", in the inner call ("
                                    : ", at (",
                    (long long)(rest / block));
        rest %= block;
        if (d + 1 < kernel->npoints)
            block /= kernel->points[d + 1];
    }
    text_puts(t, kernel->npoints ? ")" : "");
}

/* The length of what stands in the parentheses of "assert(..)", from its first character on. */
static int64_t condition_length(const char *condition) {
    int64_t length = 0;
    for (int depth = 0; condition[length] && (depth || condition[length] != ')'); length++)
        depth += (condition[length] == '(') - (condition[length] == ')');
    return length;
}

/* Adds the condition of an assertion. Line breaks and indentation become single blanks. */
static void print_condition(text *t, const char *assertion) {
    const char *open = strchr(assertion, '(');
    assert(open); /* the report has the offset of "assert(..)" */
    const char *condition = open + 1;
    int64_t length = condition_length(condition), end = length > SHOWN ? SHOWN : length;
    while (end < length && ((unsigned char)condition[end] & 0xC0) == 0x80)
        end--;
    for (int64_t i = 0; i < end; i++)
        if (!isspace((unsigned char)condition[i]))
            text_add(t, &condition[i], 1);
        else if (i + 1 < end && !isspace((unsigned char)condition[i + 1]))
            text_puts(t, " ");
    text_puts(t, end < length ? " .." : "");
}

static void print_index(text *t, const report *r, const report_kernel *kernel) {
    bool own = r->operand < 0;
    text_printf(t, "index %lld is outside of %sdimension %lld of ", (long long)r->value,
                kernel->inner && !own ? "core " : "", (long long)r->dimension);
    if (own)
        text_puts(t, "a local array");
    else
        text_printf(t, "argument %lld", (long long)r->operand);
    text_printf(t, ", which is %lld", (long long)r->extent);
}

void report_cancelled(report *r) {
    int64_t none = 0;
    if (__atomic_compare_exchange_n(&r->state, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        r->what = REPORT_CANCEL;
}

/* Adds what went wrong. */
static void print_what(text *t, const report *r, const report_kernel *kernel) {
    switch (r->what) {
    case REPORT_INDEX:
        print_index(t, r, kernel);
        return;
    case REPORT_DIVISION:
        text_puts(t, "integer division by 0");
        return;
    case REPORT_STEPS:
        text_printf(t, "the kernel took more than %lld steps", (long long)r->value);
        return;
    default:
        text_puts(t, "assertion failed: ");
        print_condition(t, kernel->source + r->value);
    }
}

uf_status report_fail(const report *r, const report_kernel *kernel) {
    if (r->what == REPORT_CANCEL)
        return fail(UF_ERR_KERNEL, "%s: the call was cancelled", kernel->name);
    text t = {0};
    uf_error *e = error_slot();
    const text_head head = text_head_read(kernel->source);
    if (head.length)
        text_printf(&t, "%s: %.*s:%lld: ", kernel->name, head.path_length, head.path, (long long)r->line);
    else
        text_printf(&t, "%s: line %lld: ", kernel->name, (long long)r->line);
    print_what(&t, r, kernel);
    print_point(&t, kernel, r->element);
    uf_status s = t.failed ? fail_memory() : fail(UF_ERR_KERNEL, "%s", t.data);
    text_free(&t);
    if (s != UF_ERR_KERNEL)
        return s;
    e->line = (int)r->line;
    if (head.length)
        fail_named(s, "%.*s", head.path_length, head.path);
    else
        fail_named(s, "%s", kernel->name);
    if (r->what == REPORT_INDEX && r->operand >= 0) {
        e->argument = (int)r->operand;
        e->dimension = (int)r->dimension;
    }
    return s;
}
