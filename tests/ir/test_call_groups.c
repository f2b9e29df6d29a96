/* test_call_groups.c - calls that lie side by side, whose cores are copied to where their elements do (ir/gufunc/call_groups.c), or which are
 * computed by strips (ir/gufunc/call_strips.c): which are so, and that they give what calls with cores in C order give, for any sizes, dtypes
 * and orders of memory. */
#include "cpu/cpu.h"
#include "ir/ir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "draw.h"
#include "gu_kernel.h"
#include "ir_check.h"
#include "type/schema.h"

#undef fail
#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

/* ---- Which are ---- */

typedef struct example {
    const char *types;
    int64_t n, calls; /* of a matrix of n by n times a vector */
    int64_t beside;   /* strides of calls, .. */
    bool rows;        /* .. and cores in C order */
    bool copied;
} example;

/* Bytes of float64 that four calls' matrices, vectors and results have room for: 126 by 126, with what pads them. */
static const example examples[] = {{"float64,float64->float64", 40, 100, 1, false, true},
                                   {"float64,float64->float64", 40, 100, 2, false, false},
                                   {"float64,float64->float64", 40, 100, 1, true, false},
                                   {"float64,float64->float64", 40, 3, 1, false, false},
                                   {"float64,float64->float64", 40, 4, 1, false, true},
                                   {"float64,float64->float64", 1, 100, 1, false, false},
                                   {"float64,float64->float64", 126, 100, 1, false, true},
                                   {"float64,float64->float64", 128, 100, 1, false, false},
                                   {"float64,float64->float64", INT64_C(1) << 40, 100, 1, false, false},
                                   {"complex64,complex64->complex64", 40, 100, 1, false, true}};

static void chosen(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        const example *x = &examples[i];
        arena a = {0};
        const gu_kernel k = {"times", "(m,n),(n)->(m)",
                             "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }", x->types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        code_traits traits;
        int64_t by = x->rows ? 1 : x->calls, row = x->n > 1 << 20 ? by : x->n * by,
                core[] = {x->n, x->n, row, by, by, by}, strides[] = {x->beside, x->beside, x->beside}, calls = x->calls;
        nd_loop loop = {.ndim = 1, .narrays = 3, .count = calls, .extent = &calls, .stride = strides};
        ir_traits(t, &traits);
        assert_int_equal(t->layout->nparameters, COUNT(core));
        cpu_engine.specialise(&v, &(loop_problem){.loop = &loop, .layout = t->layout, .core = core, .traits = &traits});
        bool copied = v.operand[0].staged && v.operand[1].staged && v.operand[2].staged;
        if (copied != x->copied || (copied && v.operand[0].unit != 2))
            fail_msg("example %zu", i);
        code_module m = gu_generate(&a, &k, t, &v, &gu_cpu);
        const char *in = strstr(m.ir.data, "call void @uf_copy_in_64("),
                   *out = strstr(m.ir.data, "call void @uf_copy_out_64(");
        if ((strstr(m.ir.data, "uf_thread_scratch") != NULL) != x->copied || (in != NULL) != x->copied ||
            (out != NULL) != x->copied)
            fail_msg("example %zu\n%s", i, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Those whose constructs stand alone and combine numbers of 4 and 8 bytes, where no operand has a row of its own. */
static void strips_chosen(void **state) {
    const bool wide = judge_host().vector_bits == 512; /* then few calls do not pay */
    static const char times[] = "{ auto s = sum(i : n, x[i]); forall (i : n) y[i] = w[i] * s; }";
    static const char of_exp[] = "{ auto s = sum(i : n, exp(x[i])); forall (i : n) y[i] = w[i] * s; }";
    const struct {
        const char *source, *types;
        int64_t n, calls, beside,
            weights; /* strides of calls, which are rows if that is n, and of those of the weights, which are rows unless it is 1 */
        bool strips;
    } cases[] = {
        {times, "float32", 40, 32, 1, 0, true},
        {times, "float32", 40, 31, 1, 0, !wide},
        {times, "float32", 40, 16, 1, 0, !wide},
        {times, "float32", 40, 15, 1, 0, false},
        {times, "float64", 40, 8, 1, 0, !wide},
        {times, "float64", 40, 7, 1, 0, false},
        {times, "float32", 512, 31, 1, 0, !wide},
        {times, "float32", 513, 31, 1, 0, false},
        {times, "float32", 40, 100, 2, 0, false},
        {times, "float32", 40, 100, 1, 1, true},
        {times, "float32", 40, 100, 1, 40, false},
        {of_exp, "float32", 20, 16, 20, 0, !wide},
        {of_exp, "float32", 20, 15, 20, 0, false},
        {of_exp, "float64", 32, 100, 32, 0, !wide},
        {of_exp, "float64", 33, 100, 33, 0, false},
        {of_exp, "float32", 20, 100, 20, 1, !wide}, /* rows, and weights that lie side by side */
        {times, "float32", 20, 100, 20, 0, false},
        {times, "float64", 1024, 100, 1, 0, true},
        {times, "float64", 1025, 100, 1, 0, false},
        {times, "float64", INT64_C(1) << 60, 100, 1, 0, false},
        {"{ auto s = max(i : n, x[i]); forall (i : n) y[i] = w[i] + s; }", "int64", 40, 100, 1, 0, true},
        {times, "int16", 40, 100, 1, 0, false},
        {times, "float16", 40, 100, 1, 0, false},
        {times, "complex64", 40, 100, 1, 0, false},
        {"{ forall (i : n) y[i] = sum(j : n, x[j]) * w[i]; }", "float32", 40, 100, 1, 0, false},
        {"{ auto s = w[0] > 0 ? sum(i : n, x[i]) : 0; y[0] = s; }", "float32", 40, 100, 1, 0, false},
        {"{ auto s = any(i : n, x[i] > 0); y[0] = s ? w[0] : 0; }", "float32", 40, 100, 1, 0, false},
        {"{ auto s = sum(i : n, x[(int64)w[i]]); y[0] = s; }", "float32", 40, 100, 1, 0, false},
        {"{ auto s = sum(i : n, x[i]); y[(int64)s] = w[0]; }", "float32", 40, 100, 1, 0, false},
        {"{ auto s = sum(i : n, x[i]); for (int64 i = 0; i < n; i++) y[i] = w[i] * s; }", "float32", 40, 100, 1, 0,
         false},
        {"{ if (x[0] > w[0]) y[0] = 1; }", "float32", 40, 100, 1, 0, false},
        {"{ float32 t[4]; t[0] = x[0]; y[0] = w[0]; }", "float32", 40, 100, 1, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        char source[256], types[64];
        snprintf(source, sizeof source, "(x, w) -> (y) %s", cases[i].source);
        snprintf(types, sizeof types, "%s,%s->%s", cases[i].types, cases[i].types, cases[i].types);
        const gu_kernel k = {"strips", "(n),(n)->(n)", source, types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        code_traits traits;
        bool row = cases[i].beside == cases[i].n;
        int64_t calls = cases[i].calls, by = row ? 1 : cases[i].beside * calls,
                weight = cases[i].weights == 1 ? calls : 1, core[] = {cases[i].n, by, weight, by},
                strides[] = {cases[i].beside, cases[i].weights, cases[i].beside};
        nd_loop loop = {.ndim = 1, .narrays = 3, .count = calls, .extent = &calls, .stride = strides};
        ir_traits(t, &traits);
        cpu_engine.specialise(&v, &(loop_problem){.loop = &loop, .layout = t->layout, .core = core, .traits = &traits});
        if (v.gufunc.strips != cases[i].strips)
            fail_msg("case %zu: %s, %s", i, cases[i].source, cases[i].types);
        if (v.gufunc.strips) {
            assert_int_equal(v.operand[0].unit, 2);
            assert_int_equal(v.operand[1].unit, cases[i].weights == 1 ? 2 : 1);
            assert_int_equal(v.operand[2].unit, 2);
            assert_int_equal(v.operand[0].staged, row);
            assert_int_equal(v.operand[1].staged, 0);
            assert_int_equal(v.operand[2].staged, row);
            code_module m = gu_generate(&a, &k, t, &v, &gu_cpu);
            for (int j = 0; j < judge_count(); j++)
                assert_null(judge_ir(j, m.ir.data));
            assert_non_null(strstr(m.ir.data, "alloca [128 x "));
            text_free(&m.ir);
        }
        arena_free(&a);
    }
}

/* Rows are copied only where there is room for what lies beside them, too: as many elements of each of a vector's calls. */
static void strips_room(void **state) {
    (void)state;
    const bool wide = judge_host().vector_bits == 512;
    for (int i = 0; i < 3; i++) {
        const int64_t sizes[] = {1000, 1100, INT64_C(1) << 40};
        int64_t calls = 100;
        arena a = {0};
        const gu_kernel k = {"room", "(n),(m)->(n)",
                             "(x, w) -> (y) { auto s = sum(i : n, exp(x[i])) + sum(j : m, w[j]); "
                             "forall (i : n) y[i] = x[i] * s; }",
                             "float32,float32->float32"};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        code_traits traits;
        int64_t core[] = {20, sizes[i], 1, calls, 1}, strides[] = {20, 1, 20};
        nd_loop loop = {.ndim = 1, .narrays = 3, .count = calls, .extent = &calls, .stride = strides};
        assert_int_equal(t->layout->nparameters, COUNT(core));
        ir_traits(t, &traits);
        cpu_engine.specialise(&v, &(loop_problem){.loop = &loop, .layout = t->layout, .core = core, .traits = &traits});
        if (v.gufunc.strips != (!wide && i == 0))
            fail_msg("%lld elements beside rows of 20", (long long)sizes[i]);
        arena_free(&a);
    }
}

/* ---- What they compute ---- */

enum {
    MOST = 5,
    RANK = 4
};

static const struct {
    const char *layout, *source;
    int nargs;
    const char *core[MOST]; /* dimensions */
    int nout;
    bool ordered; /* it compares numbers */
} kernels[] = {
    {"(n),(n),()->(n),()",
     "square(z) { return z * z; } (x, w, s) -> (y, z) { auto all = sum(i : n, x[i]) + s; z = max(i : n, x[i] + w[i]); "
     "auto some = all > z ? all : s; forall (i : n) y[i] = square(x[n - 1 - i]) + some * w[i]; }",
     5,
     {"n", "n", "", "n", ""},
     2,
     true},
    {"(m,n)->(n),()",
     "(x) -> (y, z) { z = sum(i : m, j : n, x[i][j]) + min(i : m, x[i][0]); forall (j : n) y[j] = x[m - 1][j] - z; "
     "y[0] = z; "
     "}",
     3,
     {"mn", "n", ""},
     2,
     true},
    {"(m,n),(n)->(m,n)",
     "(x, w) -> (y) { auto low = min(i : m, j : n, x[i][j]), high = max(i : n, w[i]); auto width = high - low; "
     "forall (i : m, j : n) y[i][j] = x[i][j] * width - w[j]; }",
     3,
     {"mn", "n", "mn"},
     1,
     true},
    {"(m,n),(n)->(m)",
     "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }",
     3,
     {"mn", "n", "m"},
     1,
     false},
    {"(n),(n)->()", "(x, y) -> (z) { z = sum(i : n, x[i] * y[i]); }", 3, {"n", "n", ""}, 1, false},
    {"(n)->(n)", "(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = s - x[i]; }", 2, {"n", "n"}, 1, false},
    {"(n)->(n)",
     "(x) -> (y) { auto t = x[0]; t = sum(i : n, x[i] - t); forall (i : n) y[i] = x[i] - t; }",
     2,
     {"n", "n"},
     1,
     false},
    {"(n)->(n)",
     "(x) -> (y) { auto s = sum(i : n, exp2(x[i])); forall (i : n) y[i] = exp2(x[i]) * s; }",
     2,
     {"n", "n"},
     1,
     true},
    {"(n)->(n)",
     "(x) -> (y) { for (int64 i = 0; i < n; i++) y[i] = i > 0 ? y[i - 1] - x[i] : x[i]; }",
     2,
     {"n", "n"},
     1,
     false},
    {"(m,n)->(n,m)",
     "(x) -> (y) { for (int64 i = 0; i < m; i++) for (int64 j = 0; j < n; j++) if (x[i][j] != x[0][0]) y[j][i] = "
     "x[i][j]; }",
     2,
     {"mn", "nm"},
     1,
     false},
    {"(n),()->(n)",
     "(x, s) -> (y) { s = s + sum(i : n, x[i]); forall (i : n) y[i] = x[i] - s; }",
     3,
     {"n", "", "n"},
     1,
     false},
    {"(n),()->(n)", "(x, s) -> (y) { forall (i : n) y[n - 1 - i] = x[i] * s; }", 3, {"n", "", "n"}, 1, false},
};

static const struct {
    const char *name;
    DLDataType type;
} kinds[] = {{"int8", {kDLInt, 8, 1}},       {"int16", {kDLInt, 16, 1}},         {"int32", {kDLInt, 32, 1}},
             {"int64", {kDLInt, 64, 1}},     {"float16", {kDLFloat, 16, 1}},     {"float32", {kDLFloat, 32, 1}},
             {"float64", {kDLFloat, 64, 1}}, {"complex64", {kDLComplex, 64, 1}}, {"complex128", {kDLComplex, 128, 1}}};

typedef struct array {
    int64_t shape[RANK], strides[RANK], size;
    char *data;
    DLTensor t;
} array;

static void array_order(array *a, const int *order) {
    int64_t stride = 1;
    for (int d = 0; d < a->t.ndim; d++) {
        a->strides[order[d]] = stride;
        stride *= a->shape[order[d]];
    }
    a->size = stride;
    a->t.shape = a->shape;
    a->t.strides = a->strides;
    a->t.device = (DLDevice){kDLCPU, 0};
}

/* Elements in the order of their indices, one after the other. */
static void array_walk(const array *a, const array *other, void (*each)(char *to, const char *from, size_t bytes)) {
    size_t bytes = (size_t)a->t.dtype.bits / 8;
    for (int64_t i = 0; i < a->size; i++) {
        int64_t rest = i, at = 0, from = 0;
        for (int d = a->t.ndim - 1; d >= 0; d--) {
            at += rest % a->shape[d] * a->strides[d];
            from += rest % a->shape[d] * other->strides[d];
            rest /= a->shape[d];
        }
        each(a->data + (size_t)at * bytes, other->data + (size_t)from * bytes, bytes);
    }
}

static void copy_element(char *to, const char *from, size_t bytes) { memcpy(to, from, bytes); }

static int64_t differences;
static void compare_element(char *to, const char *from, size_t bytes) { differences += memcmp(to, from, bytes) != 0; }

/* Small whole numbers, of which no sum is rounded. */
static void fill(array *a, int kind) {
    static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0xbc00};
    static const double numbers[] = {0, 1, 2, 3, -1};
    int parts = a->t.dtype.code == kDLComplex ? 2 : 1, bits = a->t.dtype.bits / parts;
    a->data = malloc((size_t)a->size * a->t.dtype.bits / 8 + 1);
    assert_non_null(a->data);
    for (int64_t i = 0; i < a->size * parts; i++) {
        int which = (int)pick(0, COUNT(numbers) - 1);
        double x = numbers[which];
        int64_t n = (int64_t)x;
        float f = (float)x;
        if (kinds[kind].type.code == kDLInt)
            memcpy(a->data + i * bits / 8, &n, (size_t)bits / 8);
        else if (bits == 16)
            memcpy(a->data + i * 2, &halves[which], 2);
        else if (bits == 32)
            memcpy(a->data + i * 4, &f, 4);
        else
            memcpy(a->data + i * 8, &x, 8);
    }
}

static void try_one(void) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 65, 100, 130};
    static const int64_t counts[] = {1, 3, 4, 5, 7, 8, 15, 16, 17, 32, 33, 70, 127, 128, 129, 300};
    int which = (int)pick(0, COUNT(kernels) - 1), kind = (int)pick(0, COUNT(kinds) - 1 - 2 * kernels[which].ordered),
        nargs = kernels[which].nargs, nout = kernels[which].nout;
    int64_t n = sizes[pick(0, COUNT(sizes) - 1)], m = strchr(kernels[which].core[0], 'm') ? pick(1, 20) : n,
            rows = pick(1, 3), columns = counts[pick(0, COUNT(counts) - 1)];
    char signature[120] = "";
    uf_func *f;
    array a[MOST], plain[MOST];
    DLTensor t[MOST], want[MOST];
    for (int k = 0; k < nargs; k++)
        snprintf(signature + strlen(signature), sizeof signature - strlen(signature), "%s%s",
                 !k                  ? ""
                 : k != nargs - nout ? ","
                                     : "->",
                 kinds[kind].name);
    OK(uf_guvectorize(&f, "f", kernels[which].layout, signature, kernels[which].source));
    for (int k = 0; k < nargs; k++) {
        const char *core = kernels[which].core[k];
        int rank = (int)strlen(core), order[RANK], c_order[RANK];
        bool alike = k < nargs - nout && k && chance(25); /* for all calls */
        a[k] = (array){.shape = {alike ? 1 : rows, alike ? 1 : columns},
                       .t = {.dtype = kinds[kind].type, .ndim = 2 + rank}};
        for (int d = 0; d < rank; d++)
            a[k].shape[2 + d] = core[d] == 'm' ? m : n;
        plain[k] = a[k];
        for (int d = 0; d < 2 + rank; d++) {
            c_order[d] = 1 + rank - d;
            order[d] = d == 0 ? 1 : d == 1 ? 0 : d;
        }
        for (int d = 1 + rank; d > 1; d--) { /* the calls of a row stay side by side, the others in any order */
            int other = (int)pick(1, d), swapped = order[d];
            order[d] = order[other];
            order[other] = swapped;
        }
        array_order(&a[k], order);
        array_order(&plain[k], c_order);
        fill(&a[k], kind);
        plain[k].data = malloc((size_t)a[k].size * a[k].t.dtype.bits / 8 + 1);
        assert_non_null(plain[k].data);
        array_walk(&plain[k], &a[k], copy_element);
    }
    bool in_place = nargs == 2 && !strcmp(kernels[which].core[0], kernels[which].core[1]) && chance(30);
    for (int k = 0; k < nargs; k++) {
        const array *from = in_place ? &a[0] : &a[k];
        t[k] = from->t;
        t[k].data = from->data;
        t[k].shape = a[k].shape;
        t[k].strides = (int64_t *)(uintptr_t)from->strides;
        want[k] = (in_place ? &plain[0] : &plain[k])->t;
        want[k].data = (in_place ? &plain[0] : &plain[k])->data;
        want[k].shape = plain[k].shape;
        want[k].strides = plain[in_place ? 0 : k].strides;
    }
    uf_options o = {.size = sizeof o, .threads = (int)pick(1, 2)};
    OK(uf_call(f, nargs, t, &o));
    OK(uf_call(f, nargs, want, &o));
    differences = 0;
    for (int k = 0; k < nargs; k++)
        array_walk(&plain[k], &a[k], compare_element);
    if (differences)
        fail_msg("%s of %s, m %lld, n %lld, %lld x %lld calls%s: %lld elements differ", kernels[which].source,
                 kinds[kind].name, (long long)m, (long long)n, (long long)rows, (long long)columns,
                 in_place ? ", in place" : "", (long long)differences);
    for (int k = 0; k < nargs; k++) {
        free(a[k].data);
        free(plain[k].data);
    }
    uf_free(f);
}

static void any_order(void **state) {
    (void)state;
    for (int64_t i = 0; i < trials(150); i++)
        try_one();
}

/* ---- Strips for every width of vectors ---- */

/* Memory whose end is that of what can be read and written. */
typedef struct guarded {
    char *all, *data;
    size_t pages, page;
} guarded;

static guarded guarded_new(size_t bytes) {
    guarded g = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    g.pages = (bytes + g.page - 1) / g.page * g.page;
    g.all = mmap(NULL, g.pages + g.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.all != MAP_FAILED);
    assert_int_equal(mprotect(g.all + g.pages, g.page, PROT_NONE), 0);
    g.data = g.all + g.pages - bytes;
    return g;
}

static double number_at(const char *data, dtype t, int64_t i) {
    const void *all = data;
    switch (t) {
    case DT_INT8:
        return ((const int8_t *)all)[i];
    case DT_INT16:
        return ((const int16_t *)all)[i];
    case DT_FLOAT32:
        return (double)((const float *)all)[i];
    default:
        return ((const double *)all)[i];
    }
}

static void put_number(char *data, dtype t, int64_t i, int x) {
    void *all = data;
    switch (t) {
    case DT_INT8:
        ((int8_t *)all)[i] = (int8_t)x;
        break;
    case DT_INT16:
        ((int16_t *)all)[i] = (int16_t)x;
        break;
    case DT_FLOAT32:
        ((float *)all)[i] = (float)x;
        break;
    default:
        ((double *)all)[i] = x;
    }
}

enum {
    STRIP_OPERANDS = 4 /* x (m,n), s (), y (n), z () */
};

/* An operand of calls, which lie side by side or, where pitch is not 0, so many elements apart, with their own elements side by side. */
typedef struct strip_operand {
    dtype stored;
    int64_t core, pitch; /* elements */
    guarded memory;
} strip_operand;

static int64_t place(const strip_operand *o, int64_t calls, int64_t call, int64_t i) {
    return o->pitch ? call * o->pitch + i : i * calls + call;
}

static double strip_number(const strip_operand *o, int64_t calls, int64_t call, int64_t i) {
    return number_at(o->memory.data, o->stored, place(o, calls, call, i));
}

static void run_strips(const code_module *m, const tree *t, const variant *v, const int64_t *sizes, int64_t calls,
                       const strip_operand *operands) {
    const core_layout *l = t->layout;
    uint64_t parameters[64];
    const int64_t step[] = {operands[0].pitch ? 1 : calls, operands[2].pitch ? 1 : calls},
                  core[] = {sizes[0], sizes[1], sizes[1] * step[0], step[0], step[1]};
    assert_int_equal(l->nparameters, COUNT(core));
    parameter_writer w = parameters_write(parameters, v, l, false);
    for (int k = 0; k < STRIP_OPERANDS; k++)
        put_operand(&w, k, (uintptr_t)operands[k].memory.data, NULL);
    put_parameter(&w, CPU_LOOP_EXTENTS, calls);
    put_parameter(&w, CPU_LOOP_EXTENTS, 1);
    for (int k = 0; k < STRIP_OPERANDS; k++) {
        put_parameter(&w, CPU_LOOP_STRIDES, operands[k].pitch ? operands[k].pitch : 1);
        put_parameter(&w, CPU_LOOP_STRIDES, 0);
    }
    put_core(&w, l, core);
    parameters_finish(&w);
    judged *compiled = judge_compile((int)pick(0, judge_count() - 1), m, 3);
    ((void (*)(const uint64_t *))judge_address(compiled, m->entry))(parameters);
    judge_free(compiled);
}

static void expect_strips(const char *what, const int64_t *sizes, int64_t calls, const strip_operand *o) {
    for (int64_t c = 0; c < calls; c++) {
        double sum = 0;
        for (int64_t i = 0; i < o[0].core; i++)
            sum += strip_number(&o[0], calls, c, i);
        double z = sum * strip_number(&o[1], calls, c, 0);
        bool same = strip_number(&o[3], calls, c, 0) == z;
        for (int64_t j = 0; j < sizes[1]; j++)
            same &= strip_number(&o[2], calls, c, j) == strip_number(&o[0], calls, c, o[0].core - sizes[1] + j) - z;
        if (!same)
            fail_msg("%s, %lld x %lld, %lld calls: call %lld", what, (long long)sizes[0], (long long)sizes[1],
                     (long long)calls, (long long)c);
    }
}

/* The last row ends where memory does. */
static strip_operand strip_operand_new(dtype stored, int64_t core, int64_t calls, bool row) {
    strip_operand o = {.stored = stored, .core = core, .pitch = row ? core + pick(core == 1, 3) : 0};
    int64_t count = row ? (calls - 1) * o.pitch + core : core * calls;
    o.memory = guarded_new((size_t)count * dtypes[stored].size);
    for (int64_t i = 0; i < count; i++)
        put_number(o.memory.data, stored, i, (int)pick(-1, 1));
    return o;
}

static void try_strips(int bits) {
    static const dtype kinds_in_memory[] = {DT_FLOAT32, DT_FLOAT64, DT_INT8, DT_INT16};
    const dtype types[] = {kinds_in_memory[pick(0, 1)], kinds_in_memory[pick(0, 1)]};
    const int64_t sizes[] = {pick(1, 5), pick(1, 9)}, calls = chance(50) ? pick(1, 20) : pick(1, 300),
                  cores[STRIP_OPERANDS] = {sizes[0] * sizes[1], 1, sizes[1], 1};
    const code_target target = {.vector_bits = bits, .f16c = true};
    char signature[80], what[200];
    strip_operand operands[STRIP_OPERANDS];
    arena a = {0};
    snprintf(signature, sizeof signature, "%s,%s->%s,%s", dtypes[types[0]].name, dtypes[types[1]].name,
             dtypes[types[0]].name, dtypes[types[1]].name);
    const gu_kernel k = {"strips", "(m,n),()->(n),()",
                         "(x, s) -> (y, z) { z = sum(i : m, j : n, x[i][j]) * s; "
                         "forall (j : n) y[j] = x[m - 1][j] - z; }",
                         signature};
    const tree *t = gu_tree(&a, &k);
    variant v = gu_variant(t, 0, 0, 1, 1);
    int length = snprintf(what, sizeof what, "%d bits, %s, in memory", bits, signature);
    v.gufunc.strips = v.gufunc.along = 1;
    for (int i = 0; i < STRIP_OPERANDS; i++) {
        dtype stored = chance(60) ? types[i % 2] : kinds_in_memory[pick(0, COUNT(kinds_in_memory) - 1)];
        bool row = bits < 512 && chance(40); /* with masks at hand they stay rows */
        operands[i] = strip_operand_new(stored, cores[i], calls, row);
        v.operand[i].unit = t->layout->operands[i].rank + 1;
        v.operand[i].staged = row;
        v.operand[i].memory = (uint8_t)stored;
        length +=
            snprintf(what + length, sizeof what - (size_t)length, " %s%s", dtypes[stored].name, row ? " (rows)" : "");
    }
    code_module m = gu_generate(&a, &k, t, &v, &target);
    assert_true((strstr(m.ir.data, "predicate.enable") == NULL) == (bits != 512));
    run_strips(&m, t, &v, sizes, calls, operands);
    expect_strips(what, sizes, calls, operands);
    for (int i = 0; i < STRIP_OPERANDS; i++)
        munmap(operands[i].memory.all, operands[i].memory.pages + operands[i].memory.page);
    text_free(&m.ir);
    arena_free(&a);
}

static void widths(void **state) {
    (void)state;
    if (!judge_count())
        skip();
    for (int bits = 128; bits <= judge_host().vector_bits; bits *= 2)
        for (int64_t i = 0; i < trials(10); i++)
            try_strips(bits);
}

/* Strips of calls whose elements are converted as they are read and written: of several sizes, one after the other. */
static void converted(void **state) {
    enum {
        ROWS = 3,
        N = 20,
        CALLS = 39 /* of which the last few fill no vector */
    };
    static const DLDataType types[][2] = {
        {{kDLFloat, 32, 1}, {kDLFloat, 32, 1}}, {{kDLFloat, 32, 1}, {kDLFloat, 64, 1}},
        {{kDLFloat, 32, 1}, {kDLFloat, 16, 1}}, {{kDLInt, 16, 1}, {kDLFloat, 32, 1}},
        {{kDLInt, 8, 1}, {kDLFloat, 64, 1}},    {{kDLFloat, 64, 1}, {kDLFloat, 32, 1}}};
    static int64_t shape[] = {ROWS, CALLS, N}, across[] = {CALLS * N, 1, CALLS}, c_order[] = {CALLS * N, N, 1};
    static char memory[4][ROWS * CALLS * N * sizeof(double)];
    uf_func *f;
    (void)state;
    OK(uf_guvectorize(&f, "f", "(n)->(n)", "float32->float32; float64->float64",
                      "(x) -> (y) { auto top = max(i : n, x[i]); forall (i : n) y[i] = x[i] - top; }"));
    for (size_t i = 0; i < COUNT(types); i++) {
        DLTensor t[2][2];
        size_t bytes[2] = {types[i][0].bits / 8, types[i][1].bits / 8};
        memset(memory, 0, sizeof memory);
        for (int64_t j = 0; j < ROWS * CALLS * N; j++) {
            int64_t row = j / (CALLS * N), call = j / N % CALLS, k = j % N, x = pick(0, 100);
            double f64 = (double)x;
            float f32 = (float)x;
            const void *from = types[i][0].code == kDLInt ? (void *)&x : bytes[0] == 4 ? (void *)&f32 : (void *)&f64;
            memcpy(memory[0] + (size_t)(row * CALLS * N + k * CALLS + call) * bytes[0], from, bytes[0]);
            memcpy(memory[1] + (size_t)j * bytes[0], from, bytes[0]);
        }
        for (int k = 0; k < 4; k++)
            t[k % 2][k / 2] = (DLTensor){.data = memory[k],
                                         .device = {kDLCPU, 0},
                                         .ndim = 3,
                                         .dtype = types[i][k / 2],
                                         .shape = shape,
                                         .strides = k % 2 ? c_order : across};
        for (int k = 0; k < 2; k++)
            OK(uf_call(f, 2, t[k], NULL));
        for (int64_t j = 0; j < ROWS * CALLS * N; j++) {
            int64_t row = j / (CALLS * N), call = j / N % CALLS, k = j % N;
            if (memcmp(memory[2] + (size_t)(row * CALLS * N + k * CALLS + call) * bytes[1],
                       memory[3] + (size_t)j * bytes[1], bytes[1]))
                fail_msg("types %zu: call %lld, element %lld", i, (long long)call, (long long)k);
        }
    }
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen),      cmocka_unit_test(strips_chosen),
                                       cmocka_unit_test(strips_room), cmocka_unit_test(any_order),
                                       cmocka_unit_test(widths),      cmocka_unit_test(converted)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
