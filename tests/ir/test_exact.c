/* test_exact.c - helpers that the `fast` bits of a function do not enter: what is rounded in them is rounded, in every compiler, also
 * where they are inlined, and in the helpers that they call. On the GPU by libNVVM's PTX, as its options are those of a module. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/toolkit.h"
#include "draw.h"
#include "element_module.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    ELEMENTS = 1024
};

static arena memory;
static code_target host;
static const code_target gpu = {.gpu = true, .arch = 90};

/* The tree of a kernel in which the helpers of this name are exact; NULL: none are. */
static tree *marked(const char *kernel, const char *types, const char *exact) {
    tree *t;
    if (lang_try(&memory, kernel, types, &t))
        fail_msg("%s", uf_last_error()->message);
    for (function *f = t->functions; f; f = f->next)
        f->exact = exact && strcmp(f->name, exact) == 0;
    return t;
}

/* x * y - z is 0 if z is the rounded product, and not where the product is not rounded. The helper called last, in which this stands,
 * is called by the one that is marked. */
static const char rest[] = "inner(x, y, z) { return x * y - z; } rest(x, y, z) { return inner(x, y, z); } "
                           "(x, y, z) { return rest(x, y, z); }";
/* What a product lacks, by T. J. Dekker's method: products and sums of which contraction makes others. */
static const char lost[] = "high(x, k) { auto c = x * k; return c - (c - x); }"
                           "lost(x, y) {"
                           "    auto k = _Generic(x, float32: 4097.f, default: 134217729.), a = high(x, k), b = x - a, "
                           "c = high(y, k), d = y - c;"
                           "    return b * d - (((x * y - a * c) - b * c) - a * d);"
                           "}"
                           "(x, y, z) { return lost(x, y) + 0 * z; }";

/* ---- The CPU ---- */

typedef struct data {
    dtype t;
    _Alignas(64) char x[3][ELEMENTS * 8], out[ELEMENTS * 8];
} data;

static void put(dtype t, char *array, int i, double value) {
    number_write((number){.type = t, .as.f = {value}}, t, array + i * dtypes[t].size);
}

static double get(dtype t, const char *array, int i) { return number_read(t, array + i * dtypes[t].size).as.f[0]; }

/* Numbers between 1 and 2, and their rounded product. */
static void fill(data *d, dtype t) {
    int digits = t == DT_FLOAT32 ? 24 : 53;
    d->t = t;
    for (int i = 0; i < ELEMENTS; i++) {
        double x = 1 + ldexp((double)(draw_bits() >> (53 - digits + 1)), 1 - digits);
        double y = 1 + ldexp((double)(draw_bits() >> (53 - digits + 1)), 1 - digits);
        put(t, d->x[0], i, x);
        put(t, d->x[1], i, y);
        put(t, d->x[2], i, t == DT_FLOAT32 ? (double)((float)x * (float)y) : x * y);
    }
}

static void run_cpu(data *d, const tree *t, int i, int level) {
    char *arrays[] = {d->x[0], d->x[1], d->x[2], d->out};
    code_module m = element_module(&memory, t, &host, UF_FAST_ALL, 0);
    judged *result = judge_compile(i, &m, level);
    ((void (*)(char **, int64_t))judge_address(result, "entry"))(arrays, ELEMENTS);
    judge_free(result);
    text_free(&m.ir);
}

static const char *types_of(dtype t) {
    return t == DT_FLOAT32 ? "float32,float32,float32->float32" : "float64,float64,float64->float64";
}

/* Elements that are not 0. */
static int count_rests(data *d, const char *exact, int i, int level) {
    int count = 0;
    run_cpu(d, marked(rest, types_of(d->t), exact), i, level);
    for (int k = 0; k < ELEMENTS; k++)
        count += get(d->t, d->out, k) != 0;
    return count;
}

static void check_lost(data *d, int i, int level) {
    run_cpu(d, marked(lost, types_of(d->t), "lost"), i, level);
    for (int k = 0; k < ELEMENTS; k++) {
        double x = get(d->t, d->x[0], k), y = get(d->t, d->x[1], k), z = get(d->t, d->x[2], k);
        if (get(d->t, d->out, k) != fma(x, y, -z))
            fail_msg("%s, level %d, %s: %a times %a lacks %a, not %a", judge_name(i), level, dtypes[d->t].name, x, y,
                     fma(x, y, -z), get(d->t, d->out, k));
    }
}

static void test_cpu(void **unused) {
    static data d;
    (void)unused;
    for (dtype t = DT_FLOAT32; t <= DT_FLOAT64; t++)
        for (int i = 0; i < judge_count(); i++)
            for (int level = 0; level <= 3; level += 3) {
                fill(&d, t);
                assert_int_equal(count_rests(&d, "inner", i, level), 0);
                assert_int_equal(count_rests(&d, "rest", i, level), 0);
                assert_int_equal(count_rests(&d, "kernel", i, level), 0);
                if (level && host.vector_bits >= 256) /* such a host has fused operations */
                    assert_true(count_rests(&d, NULL, i, level) > ELEMENTS / 2);
                check_lost(&d, i, level);
            }
}

/* ---- The GPU ---- */

/* By the engine's own way, whose options are what this is about; the caller's. */
static char *ptx_of(const char *kernel, dtype t, const char *exact, unsigned fast, int arch) {
    text ptx = {0};
    const code_target target = {.gpu = true, .arch = arch};
    code_module m = element_module(&memory, marked(kernel, types_of(t), exact), &target, fast, 0);
    assert_int_equal(nvvm_compile(&m, arch, &ptx), UF_OK);
    text_free(&m.ir);
    return ptx.data;
}

static void test_gpu(void **unused) {
    static const char quotient[] = "ratio(x, y, z) { return (x - y) / z; } (x, y, z) { return ratio(x, y, z); }";
    static const char mixed[] = "p(x, y) { return x * y; } (x, y, z) { return p(x, y) + z * y + x; }";
    static const struct {
        const char *kernel;
        dtype t;
        const char *exact;
        unsigned fast;
        const char *there, *absent;
    } rows[] = {
        {rest, DT_FLOAT32, "rest", UF_FAST_ALL, "mul.rn.f32", "fma"},
        {rest, DT_FLOAT32, "inner", UF_FAST_ALL, "mul.rn.f32", "ftz"},
        {rest, DT_FLOAT64, "rest", UF_FAST_ALL, "mul.rn.f64", "fma"},
        {rest, DT_FLOAT32, NULL, UF_FAST_ALL, "fma.rn.ftz.f32", "mul.f32"},
        {quotient, DT_FLOAT32, "ratio", UF_FAST_ALL, "div.rn.f32", "ftz"},
        {quotient, DT_FLOAT32, NULL, UF_FAST_ALL, "div", "div.rn"},
        {mixed, DT_FLOAT32, "p", UF_FAST_ALL, "mul.rn.f32", "ftz"},
        {mixed, DT_FLOAT32, "p", UF_FAST_ALL, "fma.rn.f32", "ftz"}, /* outside of the helper */
    };
    static const int archs[] = {75, 90, 100, 120};
    (void)unused;
    if (!nvvm_found())
        skip();
    for (size_t k = 0; k < COUNT(archs) * COUNT(rows); k++) {
        size_t r = k % COUNT(rows);
        char *ptx = ptx_of(rows[r].kernel, rows[r].t, rows[r].exact, rows[r].fast, archs[k / COUNT(rows)]);
        if (!strstr(ptx, rows[r].there) || strstr(ptx, rows[r].absent))
            fail_msg("row %d: %s must be there and %s not, in\n%s", (int)r, rows[r].there, rows[r].absent, ptx);
        mem_free(ptx);
    }
}

/* The intrinsics compute what they should. */
static void test_simulated(void **unused) {
    static data d;
    (void)unused;
    if (!sim_there())
        skip();
    for (dtype t = DT_FLOAT32; t <= DT_FLOAT64; t++) {
        fill(&d, t);
        code_module m = element_module(&memory, marked(lost, types_of(t), "lost"), &gpu, UF_FAST_ALL, 0);
        const uint64_t words[] = {(uint64_t)(uintptr_t)d.x[0], (uint64_t)(uintptr_t)d.x[1], (uint64_t)(uintptr_t)d.x[2],
                                  (uint64_t)(uintptr_t)d.out};
        assert_non_null(strstr(m.ir.data, "llvm.nvvm.mul.rn."));
        assert_null(sim_run(&m, words, 4, 1, ELEMENTS));
        for (int k = 0; k < ELEMENTS; k++)
            assert_true(get(t, d.out, k) == fma(get(t, d.x[0], k), get(t, d.x[1], k), -get(t, d.x[2], k)));
        text_free(&m.ir);
    }
}

/* ---- */

static int set_up(void **state) {
    host = judge_host();
    return draw_seed(state);
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&memory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_gpu),
                                       cmocka_unit_test(test_simulated)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
