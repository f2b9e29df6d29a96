/* test_double_double.c - the module `double_double` of the catalogue against MPFR: operators and functions within their bounds, with and
 * without fast, and to the bit on the simulated GPU; sums and dot products; comparisons; conversions; infinities and NaN. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "gpu_sim.h"
#include "record_trial.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */
#include <mpfr.h>

#include "expect.h"

enum {
    N = 3000,
    BITS = 4400, /* sums of float64 and of products of two are exact */
    MAX_ARGUMENTS = 2
};

typedef struct double_double {
    double hi, lo;
} double_double;

#define DD "double_double"

static double_double in[MAX_ARGUMENTS][N], out[N], again[N];

/* ---- Operands ---- */

static double_double normalized(double a, double b) { return (double_double){a + b, b - ((a + b) - a)}; }

static double_double any_number(void) {
    double hi = ldexp((double)draw_bits() * 0x1p-53 + 1, (int)pick(-200, 200));
    double lo = chance(20) ? 0 : ldexp((double)draw_bits() * 0x1p-53 - 0.5, ilogb(hi) - (int)pick(53, 80));
    double_double r = normalized(hi, lo);
    return chance(50) ? r : (double_double){-r.hi, -r.lo};
}

/* One that nearly cancels another, or is of its size, or any. */
static double_double partner(double_double x) {
    double scale = chance(50) ? -1 : 1;
    if (chance(40))
        return any_number();
    return normalized(x.hi * scale * (chance(50) ? 1 : 1 + 0x1p-50 * (double)pick(-8, 8)),
                      x.lo * (1 + 0x1p-30 * (double)pick(-8, 8)));
}

static void fill(void) {
    for (int i = 0; i < N; i++) {
        in[0][i] = any_number();
        in[1][i] = partner(in[0][i]);
    }
}

static void mpfr_from(mpfr_t r, double_double x) {
    mpfr_set_d(r, x.hi, MPFR_RNDN);
    mpfr_add_d(r, r, x.lo, MPFR_RNDN);
}

/* ---- Running ---- */

static void check_same(const char *what) {
    for (int i = 0; i < N; i++)
        if (!ref_same((number){.type = DT_FLOAT64, .as.f = {out[i].hi}},
                      (number){.type = DT_FLOAT64, .as.f = {again[i].hi}}) ||
            !ref_same((number){.type = DT_FLOAT64, .as.f = {out[i].lo}},
                      (number){.type = DT_FLOAT64, .as.f = {again[i].lo}}))
            fail_msg("%s: element %d is %a + %a on the CPU, %a + %a on the simulated GPU", what, i, out[i].hi,
                     out[i].lo, again[i].hi, again[i].lo);
}

static void run(const char *expression, int arity, unsigned fast) {
    char source[160];
    snprintf(source, sizeof source, "(%s) { return %s; }", arity == 1 ? "x" : "x, y", expression);
    record_trial trial = {.module = "double_double",
                          .source = source,
                          .types = arity == 1 ? DD "->" DD : DD "," DD "->" DD,
                          .fast = fast,
                          .n = N,
                          .noperands = arity + 1};
    for (int k = 0; k < arity; k++)
        trial.operands[k] = (trial_operand){DT_FLOAT64, 2, in[k]};
    trial.operands[arity] = (trial_operand){DT_FLOAT64, 2, out};
    trial_cpu(&trial);
    trial.operands[arity].data = again;
    if (!sim_there())
        return;
    assert_true(trial_gpu(&trial));
    check_same(expression);
}

/* ---- Operators and functions ---- */

typedef void exact_function(mpfr_t r, mpfr_t x, mpfr_t y);
static void exact_add(mpfr_t r, mpfr_t x, mpfr_t y) { mpfr_add(r, x, y, MPFR_RNDN); }
static void exact_sub(mpfr_t r, mpfr_t x, mpfr_t y) { mpfr_sub(r, x, y, MPFR_RNDN); }
static void exact_mul(mpfr_t r, mpfr_t x, mpfr_t y) { mpfr_mul(r, x, y, MPFR_RNDN); }
static void exact_div(mpfr_t r, mpfr_t x, mpfr_t y) { mpfr_div(r, x, y, MPFR_RNDN); }
static void exact_twice(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_mul_ui(r, x, 2, MPFR_RNDN);
}
static void exact_sqrt(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_sqrt(r, x, MPFR_RNDN);
}
static void exact_fabs(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_abs(r, x, MPFR_RNDN);
}
static void exact_neg(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_neg(r, x, MPFR_RNDN);
}
static void exact_floor(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_floor(r, x);
}
static void exact_ceil(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_ceil(r, x);
}
static void exact_trunc(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_trunc(r, x);
}
static void exact_min(mpfr_t r, mpfr_t x, mpfr_t y) { mpfr_min(r, x, y, MPFR_RNDN); }
static void exact_max(mpfr_t r, mpfr_t x, mpfr_t y) { mpfr_max(r, x, y, MPFR_RNDN); }
static void exact_rounded(mpfr_t r, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_set_d(r, mpfr_get_d(x, MPFR_RNDN), MPFR_RNDN);
}
static void exact_upper_sum(mpfr_t r, mpfr_t x, mpfr_t y) {
    mpfr_set_d(r, mpfr_get_d(x, MPFR_RNDN), MPFR_RNDN);
    mpfr_add_d(r, r, mpfr_get_d(y, MPFR_RNDN), MPFR_RNDN);
}
static void exact_upper_product(mpfr_t r, mpfr_t x, mpfr_t y) {
    mpfr_set_d(r, mpfr_get_d(x, MPFR_RNDN), MPFR_RNDN);
    mpfr_mul_d(r, r, mpfr_get_d(y, MPFR_RNDN), MPFR_RNDN);
}

static void bounds(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        int arity;
        exact_function *exact;
        double bound; /* relative */
    } rows[] = {{"x + y", 2, exact_add, 0x1p-104},
                {"x - y", 2, exact_sub, 0x1p-104},
                {"x * y", 2, exact_mul, 0x1p-103},
                {"x / y", 2, exact_div, 0x1p-102},
                {"2 * x", 1, exact_twice, 0},
                {"sqrt(fabs(x))", 1, exact_sqrt, 0x1p-104},
                {"fabs(x)", 1, exact_fabs, 0},
                {"-+x", 1, exact_neg, 0},
                {"floor(x)", 1, exact_floor, 0},
                {"ceil(x)", 1, exact_ceil, 0},
                {"trunc(x)", 1, exact_trunc, 0},
                {"min(x, y)", 2, exact_min, 0},
                {"max(x, y)", 2, exact_max, 0},
                {"(double_double)(float64)x", 1, exact_rounded, 0},
                {"exact_sum(x.hi, y.hi)", 2, exact_upper_sum, 0},
                {"exact_product(x.hi, y.hi)", 2, exact_upper_product, 0}};
    mpfr_t x, y, want, got;
    mpfr_inits2(BITS, x, y, want, got, (mpfr_ptr)NULL);
    for (size_t k = 0; k < COUNT(rows); k++) {
        double worst = 0;
        fill();
        run(rows[k].expression, rows[k].arity, k % 2 ? 0 : UF_FAST_ALL);
        run(rows[k].expression, rows[k].arity, k % 2 ? UF_FAST_ALL : 0);
        for (int i = 0; i < N; i++) {
            mpfr_from(x, in[0][i]);
            mpfr_from(y, in[1][i]);
            if (rows[k].exact == exact_sqrt)
                mpfr_abs(x, x, MPFR_RNDN);
            mpfr_set_prec(want, rows[k].exact == exact_div || rows[k].exact == exact_sqrt ? 300 : BITS);
            rows[k].exact(want, x, y);
            mpfr_from(got, out[i]);
            assert_true(out[i].hi + out[i].lo == out[i].hi);
            mpfr_sub(got, got, want, MPFR_RNDN);
            if (!mpfr_zero_p(got))
                mpfr_div(got, got, want, MPFR_RNDN);
            double error = fabs(mpfr_get_d(got, MPFR_RNDN));
            if (error > rows[k].bound)
                fail_msg("%s of %a + %a, %a + %a is %a + %a: an error of %a", rows[k].expression, in[0][i].hi,
                         in[0][i].lo, in[1][i].hi, in[1][i].lo, out[i].hi, out[i].lo, error);
            worst = fmax(worst, error);
        }
        print_message("%-28s %a of %a\n", rows[k].expression, worst, rows[k].bound);
    }
    mpfr_clears(x, y, want, got, (mpfr_ptr)NULL);
}

static void comparisons(void **state) {
    (void)state;
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    mpfr_t x, y;
    mpfr_inits2(BITS, x, y, (mpfr_ptr)NULL);
    for (size_t k = 0; k < COUNT(signs); k++) {
        char expression[64];
        snprintf(expression, sizeof expression, "(double_double)(x %s y)", signs[k]);
        fill();
        for (int i = 0; i < N; i++)
            if (chance(30))
                in[1][i] = in[0][i];
        in[0][0] = (double_double){NAN, 0};
        run(expression, 2, 0);
        assert_true(out[0].hi == (k == 5));
        for (int i = 1; i < N; i++) {
            mpfr_from(x, in[0][i]);
            mpfr_from(y, in[1][i]);
            int order = mpfr_cmp(x, y);
            bool want[] = {order<0, order <= 0, order> 0, order >= 0, order == 0, order != 0};
            assert_true(out[i].hi == want[k] && out[i].lo == 0);
        }
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* ---- Special values and conversions ---- */

static double_double one(const char *expression, double a, double b) {
    for (int i = 0; i < N; i++) {
        in[0][i] = (double_double){a, 0};
        in[1][i] = (double_double){b, 0};
    }
    run(expression, 2, 0);
    return out[0];
}

static void special_values(void **state) {
    (void)state;
    static const char *const both[] = {"x + y", "x - y", "x * y", "x / y", "sqrt(x) + 0 * y.hi"};
    static const double hard[] = {0, 1, -2, INFINITY, -INFINITY, NAN, 0x1.fffffffffffffp1023};
    for (size_t k = 0; k < COUNT(both); k++)
        for (size_t i = 0; i < COUNT(hard); i++)
            for (size_t j = 0; j < COUNT(hard); j++) {
                double a = hard[i], b = hard[j];
                const double wanted[] = {a + b, a - b, a * b, a / b, sqrt(a) + 0 * b};
                double_double r = one(both[k], a, b);
                if (!isfinite(wanted[k]) && !(isnan(wanted[k]) ? isnan(r.hi) : r.hi == wanted[k] && r.lo == 0))
                    fail_msg("%s of %a and %a is %a + %a", both[k], a, b, r.hi, r.lo);
                if (isfinite(wanted[k]) && !(fabs(r.hi - wanted[k]) <= 0x1p-52 * fabs(wanted[k]) && isfinite(r.lo)))
                    fail_msg("%s of %a and %a is %a + %a", both[k], a, b, r.hi, r.lo);
            }
}

/* Integers of 64 bits have no rounding. */
static void conversions(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        double hi, lo;
    } rows[] = {{"(double_double)0x7FFFFFFFFFFFFFFF", 0x1p63, -1},
                {"(double_double)0xFFFFFFFFFFFFFFFFu", 0x1p64, -1},
                {"(double_double)(-0x7FFFFFFFFFFFFFFF - 1)", -0x1p63, 0},
                {"(double_double)(-0x7FFFFFFFFFFFFFFF)", -0x1p63, 1},
                {"(double_double)(int8)(-3)", -3, 0},
                {"(double_double)(1 < 2)", 1, 0},
                {"(double_double)0.1f", (double)0.1f, 0},
                {"(double_double)(float16)0.1", 0x1.998p-4, 0},
                {"(double_double)0.1", 0.1, 0},
                {"x + 0x20000000000001", 0x1p53 + 2, 0}};
    for (size_t k = 0; k < COUNT(rows); k++) {
        double_double r = one(rows[k].expression, 1, 1);
        if (r.hi != rows[k].hi || r.lo != rows[k].lo)
            fail_msg("%s is %a + %a", rows[k].expression, r.hi, r.lo);
    }
}

/* ---- Reductions ---- */

static uf_func *reduction(const char *signatures, const char *first, unsigned fast) {
    uf_module *m;
    uf_func *f;
    uf_reduction_def def = {
        .size = sizeof def, .map = first, .combine = "(a, b) { return a + b; }", .state = DD, .identity = "0"};
    OK(uf_module_load(&m, "double_double"));
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "sum",
                                      .nsections = 1,
                                      .sections = &(uf_section){.signatures = signatures},
                                      .reduction = &def,
                                      .fast = fast,
                                      .nmodules = 1,
                                      .modules = &m}));
    uf_module_free(m);
    return f;
}

static const DLTensor *result_of(double_double *r) {
    static DLTensor t;
    t = (DLTensor){.data = r, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 2}};
    return &t;
}

/* The error of a sum beside the sum of the magnitudes. */
static double error_of(double_double got, mpfr_t want, mpfr_t magnitudes) {
    mpfr_t r;
    mpfr_init2(r, BITS);
    mpfr_from(r, got);
    mpfr_sub(r, r, want, MPFR_RNDN);
    mpfr_div(r, r, magnitudes, MPFR_RNDN);
    double error = fabs(mpfr_get_d(r, MPFR_RNDN));
    mpfr_clear(r);
    return error;
}

static void sums_and_dots(void **state) {
    (void)state;
    static double x[N], y[N];
    mpfr_t sum, dot, size, dot_size, product;
    double_double r;
    mpfr_inits2(BITS, sum, dot, size, dot_size, product, (mpfr_ptr)NULL);
    for (int trial = 0; trial < 20; trial++) {
        /* Well-conditioned, then with terms that cancel all but their last bits. */
        int n = trial < 10 ? 1000 : N, range = trial < 10 ? 4 : 100;
        mpfr_set_zero(sum, 1), mpfr_set_zero(dot, 1), mpfr_set_zero(size, 1), mpfr_set_zero(dot_size, 1);
        for (int i = 0; i < n; i++) {
            x[i] = ldexp((double)draw_bits() * 0x1p-53 + 1, (int)pick(-range, range));
            y[i] = (double)draw_bits() * 0x1p-53 + 1;
            if (trial >= 10 && i % 2) {
                x[i] = -x[i - 1];
                y[i] = y[i - 1] * (1 + 0x1p-50 * (double)pick(-4, 4));
            }
            mpfr_add_d(sum, sum, x[i], MPFR_RNDN);
            mpfr_add_d(size, size, fabs(x[i]), MPFR_RNDN);
            mpfr_set_d(product, x[i], MPFR_RNDN);
            mpfr_mul_d(product, product, y[i], MPFR_RNDN);
            mpfr_add(dot, dot, product, MPFR_RNDN);
            mpfr_abs(product, product, MPFR_RNDN);
            mpfr_add(dot_size, dot_size, product, MPFR_RNDN);
        }
        double bound = trial < 10 ? 1e-30 : n * 0x1p-104;
        uf_func *add = reduction("float64->" DD, "(x) { return (double_double)x; }", trial % 2 ? UF_FAST_ALL : 0);
        uf_func *by =
            reduction("float64,float64->" DD, "(x, y) { return exact_product(x, y); }", trial % 2 ? UF_FAST_ALL : 0);
        OK(uf_reduce(add, 2, (DLTensor[]){UF_ARRAY(x, n), *result_of(&r)}, NULL));
        assert_true(error_of(r, sum, size) <= bound);
        OK(uf_reduce(by, 3, (DLTensor[]){UF_ARRAY(x, n), UF_ARRAY(y, n), *result_of(&r)}, NULL));
        assert_true(error_of(r, dot, dot_size) <= bound);
        OK(uf_reduce(add, 2, (DLTensor[]){UF_ARRAY(x, 0), *result_of(&r)}, NULL));
        assert_true(r.hi == 0 && r.lo == 0);
        uf_free(add);
        uf_free(by);
    }
    mpfr_clears(sum, dot, size, dot_size, product, (mpfr_ptr)NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds), cmocka_unit_test(comparisons),
                                       cmocka_unit_test(special_values), cmocka_unit_test(conversions),
                                       cmocka_unit_test(sums_and_dots)};
    return cmocka_run_group_tests_name("double_double", tests, draw_seed, NULL);
}
