/* test_hostile.c - texts that are made to take time and memory: as many of something as the limits on texts allow, beside each
 * other and in each other. What is generated for each is in proportion to its tree, or an error that says so; and it is compiled,
 * for the GPU too where UF_TEST_GPU is set, whose seconds are printed and decide nothing. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum {
    LINES_A_NODE = 40, /* of generated code, at most */
    LINES_OF_ALL = 20000,
    COUNT_MOST = 4000
};

typedef enum form {
    ELEMENTWISE,
    GUFUNC,
    KERNEL,
    MAP,
    COMBINE
} form;

/* head, n times item, middle, n times closing, tail; '#' is the number of the repetition. */
typedef struct family {
    form form;
    const char *name, *types; /* a signature, a layout, parameters */
    const char *head, *item, *middle, *closing, *tail;
} family;

static const family families[] = {
    /* Constructs in the terms of others. */
    {ELEMENTWISE, "nested max", "f->f", "(x) { return ", "max(i# : 2, ", "x", ")", "; }"},
    {ELEMENTWISE, "nested sum", "d->d", "(x) { return ", "sum(i# : 2, ", "x", ")", "; }"},
    {ELEMENTWISE, "nested reduce", "f->f", "h(a, b) { return a + b; } (x) { return ", "reduce(h, i# : 2, ", "x", ")",
     "; }"},
    {GUFUNC, "nested max over n", "(n)->()", "(x) -> (y) { y = ", "max(i# : n, x[i#] + ", "x[0]", ")", "; }"},
    {GUFUNC, "nested foralls", "(n)->(n)", "(x) -> (y) { ", "forall (i# : n) ", "y[i0] = x[i1];", "", " }"},
    /* Constructs beside each other. */
    {ELEMENTWISE, "max", "f->f", "(x) { auto s = x; ", "s += max(i : 40, x * i + #); ", "return s;", "", " }"},
    {ELEMENTWISE, "sum", "e->e", "(x) { float s = x; ", "s += sum(i : 40, x * i + #); ", "return s;", "", " }"},
    {ELEMENTWISE, "reduce", "f->f", "h(a, b) { return a + b * a; } (x) { auto s = x; ",
     "s += reduce(h, i : 40, x * i + #); ", "return s;", "", " }"},
    {GUFUNC, "sums over n", "(n)->()", "(x) -> (y) { ", "y += sum(i : n, x[i] * # + 1); ", "", "", " }"},
    {GUFUNC, "max over n", "(n)->()", "(x) -> (y) { ", "y += max(i : n, x[i] * # + 1); ", "", "", " }"},
    {GUFUNC, "foralls", "(n)->(n)", "(x) -> (y) { ", "forall (i : n) y[i] = x[i] * # + 1; ", "", "", " }"},
    {GUFUNC, "foralls with sums", "(m,n)->(m)", "(x) -> (y) { ", "forall (i : m) y[i] = sum(j : n, x[i][j] * #); ", "",
     "", " }"},
    {GUFUNC, "sums in a forall", "(m,n)->(m)", "(x) -> (y) { forall (i : m) { y[i] = 0", " + sum(j : n, x[i][j] * #)",
     "; } ", "", " }"},
    {KERNEL, "sums of a kernel", "float32[], float32[]", "[i : n](x, y) { y[i] = 0", " + sum(j : n, x[j] * x[i] * #)",
     "; ", "", " }"},
    /* Loops. */
    {ELEMENTWISE, "loops", "f->f", "(x) { auto s = x; ", "for (int i = 0; i < 40 + #; i++) s += i * s; ", "return s;",
     "", " }"},
    {ELEMENTWISE, "loops with conditions", "l->l", "(x) { auto s = x; ",
     "for (int i = 0; i < 40 + #; i++) if (i * x > #) s += i; ", "return s;", "", " }"},
    {ELEMENTWISE, "loops in loops", "f->f", "(x) { auto s = x; ", "for (int i# = 0; i# < x + #; i#++) { s += i#; ",
     "s += s * x; ", "}", " return s; }"},
    {ELEMENTWISE, "while in while", "f->f", "(x) { auto s = x; ", "while (s < #) { s += 1; if (s == #) break; ",
     "s += s * x; ", "}", " return s; }"},
    {GUFUNC, "loops over n", "(n)->(n)", "(x) -> (y) { ", "for (int64 i = #; i < n; i++) y[i] += x[i] * #; ", "", "",
     " }"},
    {KERNEL, "loops of a kernel", "float32[], float32[]", "[i : n](x, y) { float s = 0; ",
     "for (int64 j = 0; j < n; j++) s += x[j] * x[i] * #; ", "y[i] = s; ", "", " }"},
    {KERNEL, "loops in loops of a kernel", "float32[], float32[]", "[i : n](x, y) { float s = 0; ",
     "for (int64 j# = 0; j# < n; j#++) ", "s += x[j0] * x[i]; y[i] = s; ", "", " }"},
    /* Conditions. */
    {ELEMENTWISE, "switch", "f->f", "(x) { auto s = x; switch ((int)x) { ", "case # * 7: s = s * # + 1; break; ",
     "} return s;", "", " }"},
    {ELEMENTWISE, "ifs", "e->e", "(x) { float s = x; ", "if (s > #) s = s * 2 - #; ", "return s;", "", " }"},
    {ELEMENTWISE, "ifs in ifs", "f->f", "(x) { auto s = x; ", "if (s > #) { s += #; ", "", "}", " return s; }"},
    {ELEMENTWISE, "conditional expressions", "d->d", "(x) { return ", "x * x + x > # ? exp(x * #) : ", "x; ", "", "}"},
    {KERNEL, "conditions of a kernel", "float32[], float32[]", "[i : n](x, y) { ",
     "if (i > # && i < n - #) y[i] += x[i - #] * x[i + #]; ", "", "", " }"},
    /* Straight code. */
    {ELEMENTWISE, "assignments", "e->e", "(x) { float s = x; ", "s = s * x + #; ", "return s;", "", " }"},
    {ELEMENTWISE, "one expression", "d->d", "(x) { return 0", " + (x * # + 1) * (x - #)", ";", "", " }"},
    {ELEMENTWISE, "complex divisions", "F->F", "(x) { auto s = x; ", "s = # / s + x; ", "return s;", "", " }"},
    {ELEMENTWISE, "functions", "d->d", "(x) { auto s = x; ", "s = exp(s) + #; ", "return s;", "", " }"},
    {ELEMENTWISE, "functions with loops", "d->d", "(x) { auto s = x; ", "s = jn(#, s) + #; ", "return s;", "", " }"},
    {ELEMENTWISE, "random numbers", "d->d", "(x) { auto s = x; ", "s += random_uniform((int64)s, #, 2); ", "return s;",
     "", " }"},
    {ELEMENTWISE, "variables", "f->f", "(x) { ", "auto v# = x * #; ", "return v0;", "", " }"},
    {ELEMENTWISE, "elements", "e->e", "(x) { float16 a[1000]; ", "a[(int)x + #] = a[(int)x * #]; ", "return a[7];", "",
     " }"},
    {ELEMENTWISE, "helpers", "f->f",
     "f(x) { auto s = x; for (int i = 0; i < 30; i++) if (s < i) s += i * x; return s; } "
     "(x) { return 0",
     " + f(x + #)", ";", "", " }"},
    {KERNEL, "neighbours", "float32[], float32[]", "[i : n](x, y) { y[i] = 0", " + x[i + #] * #", "; ", "", " }"},
    {KERNEL, "indices that nothing proves", "float32[], int32[]", "[i : n](x, p) { ", "x[p[i] + #] = x[p[i] * #]; ", "",
     "", " }"},
    {KERNEL, "atomic functions", "int32[], int8[]", "[i](x, h) { ", "atomic_max(h[x[i] + #], (int8)#); ", "", "", " }"},
    {KERNEL, "what is known", "float32[], float32[]", "[i : n](x, y) { ",
     "int64 a# = i + #; if (a# < n) y[a#] = x[a#]; ", "", "", " }"},
    /* Reductions. */
    {MAP, "map", "f->f", "(x) -> (s) { s = 1", " * (x * # + 1)", ";", "", " }"},
    {MAP, "map with max", "f->f", "(x) -> (s) { s = 0", " + max(i : 40, x * # + i)", ";", "", " }"},
    {COMBINE, "combine", "f->f", "(a, b) { auto s = a; ", "if (s > b * #) s = s * b + #; ", "return s;", "", " }"},
    {COMBINE, "combine with loops", "f->f", "(a, b) { auto s = a; ", "for (int i = 0; i < b; i++) s = s * b + #; ",
     "return s;", "", " }"},
};

static void repeat(text *out, const char *item, int n) {
    for (int i = 0; i < n; i++)
        for (const char *c = item; *c; c++)
            if (*c == '#')
                text_printf(out, "%d", i);
            else
                text_add(out, c, 1);
}

static char *text_of(const family *f, int n) {
    text t = {0};
    text_puts(&t, f->head);
    repeat(&t, f->item, n);
    text_puts(&t, f->middle);
    repeat(&t, f->closing, n);
    text_puts(&t, f->tail);
    return text_take(&t);
}

static uf_status make(const family *f, int n, uf_func **out) {
    char *source = text_of(f, n);
    uf_reduction_def def = {.size = sizeof def, .combine = "(a, b) { return a + b; }", .state = "float32"};
    uf_status s = UF_OK;
    assert_non_null(source);
    switch (f->form) {
    case ELEMENTWISE:
        s = uf_vectorize(out, "hostile", f->types, source);
        break;
    case GUFUNC:
        s = uf_guvectorize(out, "hostile", f->types, "f->f", source);
        break;
    case KERNEL:
        s = uf_kernel(out, "hostile", f->types, source);
        break;
    case MAP:
    case COMBINE:
        *(f->form == MAP ? &def.map : &def.combine) = source;
        s = uf_reduction(out, "hostile", f->types, &def);
        break;
    }
    free(source);
    return s;
}

/* The largest that is taken; what is not is refused for its size. */
static uf_func *largest(const family *f, int *n) {
    int low = 2, high = COUNT_MOST;
    uf_func *func;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        uf_status s = make(f, middle, &func);
        if (s && s != UF_ERR_SYNTAX)
            fail_msg("%s, %d times: %s", f->name, middle, uf_last_error()->message);
        *(s ? &high : &low) = s ? middle - 1 : middle;
        uf_free(func);
    }
    *n = low;
    assert_int_equal(make(f, low, &func), UF_OK);
    return func;
}

static int count_lines(const char *s) {
    int lines = 0;
    for (; *s; s++)
        lines += *s == '\n';
    return lines;
}

/* Lines of a view; -1: there is too much of it for the device, which the message says. */
static int lines_of(const uf_func *func, const char *name, DLDevice device, uf_view view) {
    char *view_text = NULL;
    uf_status s = uf_inspect(func, NULL, device, view, &view_text);
    if (s == UF_ERR_COMPILE && strstr(uf_last_error()->message, "is too large: for these types its code has more than"))
        return -1;
    if (s)
        fail_msg("%s: %s", name, uf_last_error()->message);
    int lines = count_lines(view_text);
    free(view_text);
    return lines;
}

static const DLDevice host = {kDLCPU, 0}, sm_90 = {kDLCUDA, -90};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double compile(const uf_func *func, const char *name, DLDevice device, uf_view view) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    lines_of(func, name, device, view);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* Is the code for the host, and for a GPU if that is looked at, in proportion to the tree? */
static void check_size(const uf_func *func, const char *name, bool gpu) {
    int nodes = lines_of(func, name, host, UF_VIEW_TREE), cpu = lines_of(func, name, host, UF_VIEW_IR),
        device = gpu ? lines_of(func, name, sm_90, UF_VIEW_IR) : 0, most = LINES_OF_ALL + LINES_A_NODE * nodes;
    printf("# %-28s %5d nodes, lines: CPU %6d, GPU %6d\n", name, nodes, cpu, device);
    if (cpu > most || device > most)
        fail_msg("%s: %d and %d lines for %d nodes", name, cpu, device, nodes);
}

static void try_family(const family *f, bool gpu) {
    int n;
    double begin = seconds();
    uf_func *func = largest(f, &n);
    printf("# %-28s %4d times, %.2f s to read\n", f->name, n, seconds() - begin);
    check_size(func, f->name, gpu);
    printf("# to compile: CPU %.2f", compile(func, f->name, host, UF_VIEW_ASSEMBLY));
    if (gpu)
        printf(", PTX %.2f", compile(func, f->name, sm_90, UF_VIEW_PTX));
    printf("\n");
    uf_free(func);
}

/* About as many as the fast forms allow, which are compiled with copies of loops: constructs spread over threads, loops in each
 * other, loops beside each other. Of those that are taken the code is in proportion, and is compiled; on the CPU the least alone,
 * for time. */
static void try_fast(const family *f, bool gpu) {
    static const int counts[] = {15, 31, 95};
    for (size_t i = 0; i < (gpu ? COUNT(counts) : 1); i++) {
        uf_func *func;
        if (make(f, counts[i], &func)) {
            assert_int_equal(uf_last_error()->status, UF_ERR_SYNTAX);
            continue;
        }
        check_size(func, f->name, gpu);
        printf("# %-28s %4d times, to compile: CPU %.2f", f->name, counts[i],
               compile(func, f->name, host, UF_VIEW_ASSEMBLY));
        if (gpu)
            printf(", PTX %.2f", compile(func, f->name, sm_90, UF_VIEW_PTX));
        printf("\n");
        uf_free(func);
    }
}

static void test_fast(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(families); i++)
        try_fast(&families[i], getenv("UF_TEST_GPU") != NULL);
}

static void test_all(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(families); i++)
        try_family(&families[i], getenv("UF_TEST_GPU") != NULL);
}

/* Each level adds as much as the one before. */
static void test_levels(void **state) {
    (void)state;
    static const int which[] = {0, 1, 2, 3};
    for (size_t i = 0; i < COUNT(which); i++) {
        const family *f = &families[which[i]];
        int lines[3];
        for (int k = 0; k < 3; k++) {
            uf_func *func;
            assert_int_equal(make(f, 4 + 4 * k, &func), UF_OK);
            lines[k] = lines_of(func, f->name, host, UF_VIEW_IR);
            uf_free(func);
        }
        if (lines[2] - lines[1] > lines[1] - lines[0] + 100)
            fail_msg("%s: %d, %d, %d lines", f->name, lines[0], lines[1], lines[2]);
    }
}

/* What is too large for the fast forms computes the same. */
static void test_results(void **state) {
    (void)state;
    static const int counts[] = {3, 8, 150};
    for (size_t i = 0; i < COUNT(counts); i++) {
        int n = counts[i];
        float x[77], r[77];
        uf_func *func;
        const family *f = &families[5]; /* siblings of max */
        for (int k = 0; k < 77; k++)
            x[k] = (float)(k % 7 - 3);
        assert_int_equal(make(f, n, &func), UF_OK);
        assert_int_equal(UF_CALL(func, UF_ARRAY(x, 77), UF_ARRAY(r, 77)), UF_OK);
        for (int k = 0; k < 77; k++) {
            float s = x[k];
            for (int c = 0; c < n; c++)
                s += (x[k] > 0 ? x[k] * 39 : 0) + (float)c;
            assert_float_equal(r[k], s, 0);
        }
        uf_free(func);
    }
}

/* Helpers that are short enough to be inlined, called as often as may be: most are not inlined. */
static void test_called(void **state) {
    (void)state;
    text t = {0};
    uf_func *func;
    for (int i = 0; i < 20; i++) {
        text_printf(&t, "f%d(x) { auto y = x + %d; ", i, i);
        for (int k = 0; k < 6; k++)
            text_printf(&t, "y = y * x - %d; ", k);
        text_puts(&t, "return y; } ");
    }
    text_puts(&t, "(x) { auto s = x; ");
    for (int i = 0; i < 1400; i++)
        text_printf(&t, "s = f%d(s); ", i % 20);
    text_puts(&t, "return s; }");
    assert_int_equal(uf_vectorize(&func, "called", "f->f", t.data), UF_OK);
    int lines = lines_of(func, "called", host, UF_VIEW_IR);
    double seconds = compile(func, "called", host, UF_VIEW_ASSEMBLY);
    printf("# 1400 calls of 20 helpers, lines: CPU %d, to compile: CPU %.2f\n", lines, seconds);
    assert_true(lines < 40000 && seconds < 20);
    float x[2] = {0.5F, 0}, r[2] = {0};
    assert_int_equal(UF_CALL(func, UF_ARRAY(x, 2), UF_ARRAY(r, 2)), UF_OK);
    for (int e = 0; e < 2; e++) {
        float s = x[e];
        for (int i = 0; i < 1400; i++) {
            float y = s + (float)(i % 20);
            for (int k = 0; k < 6; k++)
                y = y * s - (float)k;
            s = y;
        }
        assert_true(memcmp(&s, &r[e], sizeof s) == 0 || (s != s && r[e] != r[e]));
    }
    uf_free(func);
    text_free(&t);
}

/* Twice as much at each level: refused while it is read, before the 2^40 nodes. */
static void test_doubled(void **state) {
    (void)state;
    text t = {0};
    uf_func *func;
    text_puts(&t, "f0(x) { return x + 1; } ");
    for (int i = 1; i < 40; i++)
        text_printf(&t, "f%d(x) { return f%d(x) + f%d(x * 2); } ", i, i - 1, i - 1);
    text_puts(&t, "(x) { return f39(x); }");
    assert_int_equal(uf_vectorize(&func, "doubled", "f->f", t.data), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "more than 1048576 nodes, helpers counted at each call"));
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels), cmocka_unit_test(test_doubled), cmocka_unit_test(test_results),
        cmocka_unit_test(test_called), cmocka_unit_test(test_all),     cmocka_unit_test(test_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
