/* test_dual.c - the module dual, and uf_derivative: first and second derivatives of every function of the math table and of the prelude
 * that has one against central differences in MPFR, at random points; what is exact at special points; gradients; and bad input.
 * With UF_TEST_GPU=1 on the GPU, too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpfr.h>

#undef I

#include "lang/lang.h" /* before cmocka, which has a macro of the name of a function of base.h */

#include <cmocka.h>

#include "define.h"
#include "expect.h"

enum {
    POINTS = 64,
    BITS = 500,
    STEP = 110 /* differences are taken over 2^-STEP */
};

static uint64_t seed;

static double uniform(double low, double high) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

/* ---- The functions in MPFR ---- */

typedef void exact(mpfr_t r, mpfr_t *x);

#define ONE(name, call) \
    static void name(mpfr_t r, mpfr_t *x) { call(r, x[0], MPFR_RNDN); }
#define TWO(name, call) \
    static void name(mpfr_t r, mpfr_t *x) { call(r, x[0], x[1], MPFR_RNDN); }
#define STEPS(name, call) \
    static void name(mpfr_t r, mpfr_t *x) { call(r, x[0]); }
#define BESSEL(name, call, n) \
    static void name(mpfr_t r, mpfr_t *x) { call(r, n, x[0], MPFR_RNDN); }

ONE(of_acos, mpfr_acos)
ONE(of_acosh, mpfr_acosh)
ONE(of_asin, mpfr_asin)
ONE(of_asinh, mpfr_asinh)
ONE(of_atan, mpfr_atan)
ONE(of_atanh, mpfr_atanh)
ONE(of_cbrt, mpfr_cbrt)
ONE(of_cos, mpfr_cos)
ONE(of_cosh, mpfr_cosh)
ONE(of_digamma, mpfr_digamma)
ONE(of_erf, mpfr_erf)
ONE(of_erfc, mpfr_erfc)
ONE(of_exp, mpfr_exp)
ONE(of_exp10, mpfr_exp10)
ONE(of_exp2, mpfr_exp2)
ONE(of_expm1, mpfr_expm1)
ONE(of_fabs, mpfr_abs)
ONE(of_log, mpfr_log)
ONE(of_log10, mpfr_log10)
ONE(of_log1p, mpfr_log1p)
ONE(of_log2, mpfr_log2)
ONE(of_rsqrt, mpfr_rec_sqrt)
ONE(of_sin, mpfr_sin)
ONE(of_sinh, mpfr_sinh)
ONE(of_sqrt, mpfr_sqrt)
ONE(of_tan, mpfr_tan)
ONE(of_tanh, mpfr_tanh)
ONE(of_tgamma, mpfr_gamma)
ONE(of_j0, mpfr_j0)
ONE(of_j1, mpfr_j1)
ONE(of_y0, mpfr_y0)
ONE(of_y1, mpfr_y1)
STEPS(of_ceil, mpfr_ceil)
STEPS(of_floor, mpfr_floor)
STEPS(of_round, mpfr_round)
STEPS(of_trunc, mpfr_trunc)
BESSEL(of_j3, mpfr_jn, 3)
BESSEL(of_y3, mpfr_yn, 3)
TWO(of_atan2, mpfr_atan2)
TWO(of_copysign, mpfr_copysign)
TWO(of_divide, mpfr_div)
TWO(of_fdim, mpfr_dim)
TWO(of_fmax, mpfr_max)
TWO(of_fmin, mpfr_min)
TWO(of_fmod, mpfr_fmod)
TWO(of_hypot, mpfr_hypot)
TWO(of_multiply, mpfr_mul)
TWO(of_pow, mpfr_pow)
TWO(of_remainder, mpfr_remainder)
TWO(of_subtract, mpfr_sub)

static void of_rint(mpfr_t r, mpfr_t *x) { mpfr_rint(r, x[0], MPFR_RNDN); }
static void of_zero(mpfr_t r, mpfr_t *x) { mpfr_mul_ui(r, x[0], 0, MPFR_RNDN); }
static void of_first(mpfr_t r, mpfr_t *x) { mpfr_set(r, x[0], MPFR_RNDN); }
static void of_scaled(mpfr_t r, mpfr_t *x) { mpfr_mul_2si(r, x[0], -5, MPFR_RNDN); }
static void of_fma(mpfr_t r, mpfr_t *x) { mpfr_fma(r, x[0], x[1], x[2], MPFR_RNDN); }
static void of_lgamma(mpfr_t r, mpfr_t *x) {
    int sign;
    mpfr_lgamma(r, &sign, x[0], MPFR_RNDN);
}
static void of_clamp(mpfr_t r, mpfr_t *x) {
    mpfr_max(r, x[0], x[1], MPFR_RNDN);
    mpfr_min(r, r, x[2], MPFR_RNDN);
}

typedef struct row {
    const char *name; /* of the math table or the prelude; "": an operator */
    const char *call;
    int arity;
    exact *of;
    double low, high;
    double bound; /* in units of epsilon times what is sensible: see allowed() */
} row;

static const row rows[] = {
    {"acos", "acos(x)", 1, of_acos, -0.99, 0.99, 64},
    {"acosh", "acosh(x)", 1, of_acosh, 1.01, 50, 64},
    {"asin", "asin(x)", 1, of_asin, -0.99, 0.99, 64},
    {"asinh", "asinh(x)", 1, of_asinh, -50, 50, 64},
    {"atan", "atan(x)", 1, of_atan, -50, 50, 64},
    {"atan2", "atan2(x, y)", 2, of_atan2, -10, 10, 64},
    {"atanh", "atanh(x)", 1, of_atanh, -0.99, 0.99, 64},
    {"cbrt", "cbrt(x)", 1, of_cbrt, -50, 50, 64},
    {"ceil", "ceil(x)", 1, of_ceil, -50, 50, 64},
    {"copysign", "copysign(x, y)", 2, of_copysign, -50, 50, 64},
    {"cos", "cos(x)", 1, of_cos, -50, 50, 64},
    {"cosh", "cosh(x)", 1, of_cosh, -50, 50, 64},
    {"erf", "erf(x)", 1, of_erf, -6, 6, 64},
    {"erfc", "erfc(x)", 1, of_erfc, -6, 20, 64},
    {"exp", "exp(x)", 1, of_exp, -50, 50, 64},
    {"exp10", "exp10(x)", 1, of_exp10, -30, 30, 64},
    {"exp2", "exp2(x)", 1, of_exp2, -50, 50, 64},
    {"expm1", "expm1(x)", 1, of_expm1, -50, 50, 64},
    {"fabs", "fabs(x)", 1, of_fabs, -50, 50, 64},
    {"floor", "floor(x)", 1, of_floor, -50, 50, 64},
    {"fma", "fma(x, y, z)", 3, of_fma, -50, 50, 64},
    {"fmod", "fmod(x, y)", 2, of_fmod, -50, 50, 64},
    {"hypot", "hypot(x, y)", 2, of_hypot, -50, 50, 64},
    {"j0", "j0(x)", 1, of_j0, -30, 30, 4000},
    {"j1", "j1(x)", 1, of_j1, -30, 30, 4000},
    {"jn", "jn(3, x)", 1, of_j3, -30, 30, 4000},
    {"ldexp", "ldexp(x, -5)", 1, of_scaled, -50, 50, 64},
    {"lgamma", "lgamma(x)", 1, of_lgamma, -9.5, 30, 400},
    {"log", "log(x)", 1, of_log, 0.01, 50, 64},
    {"log10", "log10(x)", 1, of_log10, 0.01, 50, 64},
    {"log1p", "log1p(x)", 1, of_log1p, -0.99, 50, 64},
    {"log2", "log2(x)", 1, of_log2, 0.01, 50, 64},
    {"logb", "logb(x)", 1, of_zero, 0.01, 50, 64},
    {"nearbyint", "nearbyint(x)", 1, of_rint, -50, 50, 64},
    {"nextafter", "nextafter(x, y)", 2, of_first, -50, 50, 64},
    {"pow", "pow(x, y)", 2, of_pow, 0.01, 20, 64},
    {"remainder", "remainder(x, y)", 2, of_remainder, -50, 50, 64},
    {"rint", "rint(x)", 1, of_rint, -50, 50, 64},
    {"round", "round(x)", 1, of_round, -50, 50, 64},
    {"scalbn", "scalbn(x, -5)", 1, of_scaled, -50, 50, 64},
    {"sin", "sin(x)", 1, of_sin, -50, 50, 64},
    {"sinh", "sinh(x)", 1, of_sinh, -50, 50, 64},
    {"sqrt", "sqrt(x)", 1, of_sqrt, 0, 50, 64},
    {"tan", "tan(x)", 1, of_tan, -50, 50, 64},
    {"tanh", "tanh(x)", 1, of_tanh, -50, 50, 64},
    {"tgamma", "tgamma(x)", 1, of_tgamma, -9.5, 30, 400},
    {"trunc", "trunc(x)", 1, of_trunc, -50, 50, 64},
    {"y0", "y0(x)", 1, of_y0, 0.1, 30, 4000},
    {"y1", "y1(x)", 1, of_y1, 0.1, 30, 4000},
    {"yn", "yn(3, x)", 1, of_y3, 0.1, 30, 4000},
    {"abs", "abs(x)", 1, of_fabs, -50, 50, 64},
    {"clamp", "clamp(x, y, z)", 3, of_clamp, -50, 50, 64},
    {"digamma", "digamma(x)", 1, of_digamma, -9.5, 30, 400},
    {"fdim", "fdim(x, y)", 2, of_fdim, -50, 50, 64},
    {"fmax", "fmax(x, y)", 2, of_fmax, -50, 50, 64},
    {"fmin", "fmin(x, y)", 2, of_fmin, -50, 50, 64},
    {"max", "max(x, y)", 2, of_fmax, -50, 50, 64},
    {"min", "min(x, y)", 2, of_fmin, -50, 50, 64},
    {"rsqrt", "rsqrt(x)", 1, of_rsqrt, 0.01, 50, 64},
    {"scalbln", "scalbln(x, -5)", 1, of_scaled, -50, 50, 64},
    {"sign", "sign(x)", 1, of_zero, -50, 50, 64},
    {"", "x * y", 2, of_multiply, -50, 50, 64},
    {"", "x / y", 2, of_divide, -50, 50, 64},
    {"", "x - y", 2, of_subtract, -50, 50, 64},
};

/* What of the math table has no derivative: integers come in or out, or a direction of rounding. */
static const char *const without[] = {"clz",       "ctz",     "ilogb",    "popcount", "add_down", "add_up",
                                      "div_down",  "div_up",  "fma_down", "fma_up",   "mul_down", "mul_up",
                                      "sqrt_down", "sqrt_up", "sub_down", "sub_up"};

static void all_functions_are_here(void **state) {
    (void)state;
    for (int i = 0; i < math_row_count; i++) {
        bool found = false;
        for (size_t k = 0; k < COUNT(rows); k++)
            found |= !strcmp(rows[k].name, math_rows[i].name);
        for (size_t k = 0; k < COUNT(without); k++)
            found |= !strcmp(without[k], math_rows[i].name);
        if (!found)
            fail_msg("'%s' of the math table is not tested here", math_rows[i].name);
    }
}

/* ---- Differences ---- */

/* The derivatives of order 0 to 2 in direction k, by central differences. */
static void differences(const row *r, const double *at, int k, double *out) {
    mpfr_t x[3], f[3], h;
    mpfr_init2(h, BITS);
    for (int i = 0; i < 3; i++) {
        mpfr_inits2(BITS, x[i], f[i], (mpfr_ptr)0);
        mpfr_set_d(x[i], at[i], MPFR_RNDN);
    }
    mpfr_set_ui_2exp(h, 1, -STEP, MPFR_RNDN);
    mpfr_sub(x[k], x[k], h, MPFR_RNDN);
    for (int i = 0; i < 3; i++) {
        r->of(f[i], x);
        mpfr_add(x[k], x[k], h, MPFR_RNDN);
    }
    out[0] = mpfr_get_d(f[1], MPFR_RNDN);
    mpfr_sub(h, f[2], f[0], MPFR_RNDN);
    mpfr_mul_2si(h, h, STEP - 1, MPFR_RNDN);
    out[1] = mpfr_get_d(h, MPFR_RNDN);
    mpfr_add(h, f[2], f[0], MPFR_RNDN);
    mpfr_sub(h, h, f[1], MPFR_RNDN);
    mpfr_sub(h, h, f[1], MPFR_RNDN);
    mpfr_mul_2si(h, h, 2 * STEP, MPFR_RNDN);
    out[2] = mpfr_get_d(h, MPFR_RNDN);
    for (int i = 0; i < 3; i++)
        mpfr_clears(x[i], f[i], (mpfr_ptr)0);
    mpfr_clear(h);
}

/* What a derivative may be off: some epsilons of it, and of what a change of the inputs by an epsilon makes of it. */
static double allowed(const row *r, const double *at, int k, double epsilon, double want) {
    double size = fabs(want), moved[3], here[3], other[3];
    differences(r, at, k, here);
    for (int i = 0; i < r->arity; i++) {
        memcpy(moved, at, sizeof moved);
        moved[i] *= 1 + 0x1p-20;
        differences(r, moved, k, other);
        size += fabs(other[1] - here[1]) * 0x1p20;
    }
    bool is_absolute = r->bound > 100;
    return epsilon * r->bound * (size + (is_absolute ? fabs(here[0]) + 1 : 0));
}

/* ---- Calls ---- */

static uf_func *derivative(const uf_func *f, int input) {
    uf_func *d;
    OK(uf_derivative(&d, f, input));
    return d;
}

static bool on_device(int k, DLDevice *device) {
    *device = (DLDevice){k ? kDLCUDA : kDLCPU, 0};
    return k == 0 || (k == 1 && getenv("UF_TEST_GPU"));
}

static void apply(const uf_func *f, int arity, DLDevice device, double (*in)[POINTS], double *out) {
    int64_t points = POINTS;
    DLTensor args[4];
    const uf_options options = {.size = sizeof options, .device = device, .flags = UF_STAGE};
    for (int k = 0; k <= arity; k++)
        args[k] = (DLTensor){.data = k < arity ? in[k] : out,
                             .device = {kDLCPU, 0},
                             .ndim = 1,
                             .dtype = {kDLFloat, 64, 1},
                             .shape = &points};
    OK(uf_call(f, arity + 1, args, device.device_type == kDLCPU ? NULL : &options));
}

static uf_func *function_of(const row *r, const char *type) {
    static const char *const parameters[] = {"", "x", "x, y", "x, y, z"};
    char kernel[128], signature[64] = "";
    snprintf(kernel, sizeof kernel, "(%s) { return %s; }", parameters[r->arity], r->call);
    for (int k = 0; k < r->arity; k++)
        strcat(strcat(signature, k ? "," : ""), type);
    strcat(strcat(signature, "->"), type);
    return make(signature, kernel);
}

static void points_draw(const row *r, double (*in)[POINTS]) {
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < POINTS; i++)
            in[k][i] = uniform(r->low, r->high);
}

static void compare(const row *r, int k, int order, double (*in)[POINTS], const double *got) {
    for (int i = 0; i < POINTS; i++) {
        const double at[3] = {in[0][i], in[1][i], in[2][i]};
        double want[3], off;
        differences(r, at, k, want);
        off = order == 1 ? allowed(r, at, k, 0x1p-52, want[1])
                         : 1e-10 * (fabs(want[2]) + fabs(want[1]) + fabs(want[0]) + 1);
        if (!(fabs(got[i] - want[order]) <= off))
            fail_msg("derivative %d of %s by argument %d at (%.17g, %.17g, %.17g): %.17g, should be %.17g within %g",
                     order, r->call, k, at[0], at[1], at[2], got[i], want[order], off);
    }
}

static void against_mpfr(void **state) {
    (void)state;
    double in[3][POINTS], out[POINTS];
    DLDevice device;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        uf_func *f = function_of(r, "float64");
        for (int k = 0; k < r->arity; k++) {
            uf_func *first = derivative(f, k), *second = derivative(first, k);
            for (int which = 0; on_device(which, &device); which++) {
                points_draw(r, in);
                apply(first, r->arity, device, in, out);
                compare(r, k, 1, in, out);
                apply(second, r->arity, device, in, out);
                compare(r, k, 2, in, out);
            }
            uf_free(first);
            uf_free(second);
        }
        uf_free(f);
    }
}

/* In float32 it is the derivative in float64 but for rounding; and the value that a dual number carries is that of the function. */
static void in_single_precision(void **state) {
    (void)state;
    double in[3][POINTS], wide[POINTS];
    float x[3][POINTS], d[POINTS];
    for (size_t i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        uf_func *f = function_of(r, "float64"), *g = function_of(r, "float32"), *df = derivative(f, 0),
                *dg = derivative(g, 0);
        points_draw(r, in);
        for (int k = 0; k < 3; k++)
            for (int n = 0; n < POINTS; n++)
                in[k][n] = (double)(x[k][n] = (float)in[k][n]);
        DLTensor args[4] = {UF_ARRAY(x[0], POINTS), UF_ARRAY(x[1], POINTS), UF_ARRAY(x[2], POINTS)};
        args[r->arity] = UF_ARRAY(d, POINTS);
        OK(uf_call(dg, r->arity + 1, args, NULL));
        apply(df, r->arity, (DLDevice){kDLCPU, 0}, in, wide);
        for (int n = 0; n < POINTS; n++) {
            const double at[3] = {in[0][n], in[1][n], in[2][n]};
            double off = allowed(r, at, 0, 0x1p-23, wide[n]) + 0x1p-126;
            if (!(fabs((double)d[n] - wide[n]) <= off))
                fail_msg("%s in float32 at %.9g: %.9g, should be %.9g within %g", r->call, at[0], (double)d[n], wide[n],
                         off);
        }
        uf_free(f);
        uf_free(g);
        uf_free(df);
        uf_free(dg);
    }
}

/* A gradient by one evaluation, in three directions; and its values. */
static void gradients(void **state) {
    (void)state;
    double in[3][POINTS], out[5][POINTS], one[POINTS];
    static const char source[] =
        "use dual, vec;\n"
        "at(x, e) { return (dual(vec3(typeof(x)))){x, e}; }\n"
        "(x, y, z) -> (f, dx, dy, dz) {\n"
        "    auto e = (vec3(float64)){1, 0, 0}, g = (vec3(float64)){0, 1, 0}, h = (vec3(float64)){0, 0, 1};\n"
        "    auto r = %s(at(x, e), at(y, g), at(z, h));\n"
        "    f = r.re; dx = r.du.x; dy = r.du.y; dz = r.du.z; }";
    for (size_t i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        char whole[2048], helper[160];
        snprintf(helper, sizeof helper, "(x, y, z) { return %s; }", r->call);
        snprintf(whole, sizeof whole, source, "value");
        char *behind = strstr(whole, "at(x, e) {");
        char kernel[4096];
        snprintf(kernel, sizeof kernel, "%.*svalue%s\n%s", (int)(behind - whole), whole, helper, behind);
        uf_func *all = make("ddd->dddd", kernel), *f = function_of(r, "float64");
        points_draw(r, in);
        OK(UF_CALL(all, UF_ARRAY(in[0], POINTS), UF_ARRAY(in[1], POINTS), UF_ARRAY(in[2], POINTS),
                   UF_ARRAY(out[0], POINTS), UF_ARRAY(out[1], POINTS), UF_ARRAY(out[2], POINTS),
                   UF_ARRAY(out[3], POINTS)));
        apply(f, r->arity, (DLDevice){kDLCPU, 0}, in, one);
        for (int n = 0; n < POINTS; n++)
            assert_true(fabs(out[0][n] - one[n]) <= 8 * 0x1p-52 * fabs(one[n]));
        for (int k = 0; k < 3; k++) {
            uf_func *d = k < r->arity ? derivative(f, k) : NULL;
            memset(one, 0, sizeof one);
            if (d)
                apply(d, r->arity, (DLDevice){kDLCPU, 0}, in, one);
            for (int n = 0; n < POINTS; n++)
                assert_true(fabs(out[1 + k][n] - one[n]) <= 8 * 0x1p-52 * fabs(one[n]));
            uf_free(d);
        }
        uf_free(all);
        uf_free(f);
    }
}

/* ---- Special points ---- */

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void special_points(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        int input;
        double x, y, want;
    } cases[] = {
        {"(x, y) { return fabs(x); }", 0, 0, 0, 0},
        {"(x, y) { return pow(x, y); }", 0, -2, 2, -4}, /* although log(-2), the slope by y, is NaN */
        {"(x, y) { return pow(x, 3); }", 0, -2, 0, 12},
        {"(x, y) { return pow(x, y); }", 0, 0, 2, 0},
        {"(x, y) { return pow(x, y); }", 1, 0, 2, 0},
        {"(x, y) { return pow(x, y); }", 0, 0, 0, 0},
        {"(x, y) { return pow(x, y); }", 0, 0, 1, 1},
        {"(x, y) { return pow(x, y); }", 1, -2, 2, NAN},
        {"(x, y) { return sqrt(x); }", 0, 0, 0, INFINITY},
        {"(x, y) { return sqrt(y) * x; }", 0, 3, 0, 0},
        {"(x, y) { return cbrt(x); }", 0, 0, 0, INFINITY},
        {"(x, y) { return asin(x); }", 0, 1, 0, INFINITY},
        {"(x, y) { return acos(x); }", 0, 1, 0, -INFINITY},
        {"(x, y) { return log(x); }", 0, 0, 0, INFINITY},
        {"(x, y) { return tanh(x); }", 0, 1000, 0, 0},
        {"(x, y) { return exp(x); }", 0, -INFINITY, 0, 0},
        {"(x, y) { return erf(x); }", 0, 1e200, 0, 0},
        {"(x, y) { return hypot(x, y); }", 0, 0, 0, NAN},
        {"(x, y) { return hypot(x, y); }", 0, 3e300, 4e300, 0.6},
        {"(x, y) { return atan2(x, y); }", 0, 0, 2, 0.5},
        {"(x, y) { return x * y; }", 0, INFINITY, 2, 2},
        {"(x, y) { return x / y; }", 1, 0, 2, 0},
        {"(x, y) { return x / 4; }", 0, 8, 0, 0.25},
        {"(x, y) { return ldexp(x, 2000); }", 0, 0, 0, INFINITY},
        {"(x, y) { return ldexp(x * y, 1024); }", 0, 3, 0x1p-1000, 0x1p24},
        {"(x, y) { return fmod(x, y); }", 1, 7, 2, -3},
        {"(x, y) { return fmod(x, y); }", 1, -7, 2, 3},
        {"(x, y) { return remainder(x, y); }", 1, 7, 2, -4},
        {"(x, y) { return copysign(x, -1); }", 0, 3, 0, -1},
        {"(x, y) { return max(x, 0); }", 0, NAN, 0, 1},
        {"(x, y) { return max(x, y); }", 0, 1, 2, 0},
        {"(x, y) { return fmin(x, y); }", 0, 1, NAN, 1},
        {"(x, y) { return clamp(x, 0, 1); }", 0, 2, 0, 0},
        {"(x, y) { return (int)x * x; }", 0, 3.5, 0, 3},
        {"(x, y) { return x > 0; }", 0, 3.5, 0, 0},
        {"(x, y) { return y; }", 0, 3.5, 0, 0},
        {"(x, y) { if (x < 1) return 0; return x * x; }", 0, 3.5, 0, 7},
        {"(x, y) { if (x < 1) return 0; return x * x; }", 0, 0.5, 0, 0},
        {"(x, y) { return x > 1 && y < 1 ? -x : 3; }", 0, 2, 0, -1},
        {"(x, y) { auto t = x; for (int i = 0; i < 3; i++) t *= x; return t; }", 0, 2, 0, 32},
        {"(x, y) { return isnan(x) || isinf(x) || !isfinite(x) || signbit(x) ? 0 : +x; }", 0, 2, 0, 1},
        {"(x, y) { return lrint(x) + lround(x) + llrint(x) + llround(x) + ilogb(x) + x; }", 0, 2, 0, 1},
        {"(x, y) { return x == y ? x : x != y && x >= y && y <= x ? 2 * x : 3 * x; }", 0, 2, 1, 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uf_func *f = make("dd->d", cases[i].kernel), *d = derivative(f, cases[i].input);
        double x[1] = {cases[i].x}, y[1] = {cases[i].y}, out[1] = {-77};
        OK(UF_CALL(d, UF_ARRAY(x, 1), UF_ARRAY(y, 1), UF_ARRAY(out, 1)));
        if (!same(out[0], cases[i].want))
            fail_msg("%s by input %d at (%g, %g): %g, should be %g", cases[i].kernel, cases[i].input, x[0], y[0],
                     out[0], cases[i].want);
        uf_free(f);
        uf_free(d);
    }
}

/* ---- uf_derivative ---- */

static const char *signatures_of(const uf_func *f) {
    static uf_description d;
    d.size = sizeof d;
    OK(uf_describe(f, &d));
    return d.signatures;
}

/* Outputs, sections, dtypes, what the texts see, and functions that other texts call. */
static void what_has_derivatives(void **state) {
    (void)state;
    double x[1] = {0.5}, y[1] = {3}, a[1], b[1];
    uf_func *f = make("dd->dd", "(x, y) -> (s, p) { s = sin(x); p = s * y; }"), *d = derivative(f, 0),
            *dd = derivative(d, 1);
    uf_free(f);
    uf_free(derivative(d, 0));
    OK(UF_CALL(d, UF_ARRAY(x, 1), UF_ARRAY(y, 1), UF_ARRAY(a, 1), UF_ARRAY(b, 1)));
    assert_true(fabs(a[0] - cos(0.5)) < 1e-15 && fabs(b[0] - 3 * cos(0.5)) < 1e-15);
    OK(UF_CALL(dd, UF_ARRAY(x, 1), UF_ARRAY(y, 1), UF_ARRAY(a, 1), UF_ARRAY(b, 1)));
    assert_true(a[0] == 0 && fabs(b[0] - cos(0.5)) < 1e-15);
    uf_free(d);
    uf_free(dd);

    uf_module *m;
    const uf_section two[] = {
        {"ii->i; if->f", "(x, y) { return x + y; }"},
        {"fi->f; dd->d; df->i", "use logaddexp;\n(x, y) { return x * logaddexp(cube(x), k * y); }"}};
    OK(uf_module_new(&m, &(uf_module_definition){.size = sizeof(uf_module_definition),
                                                 .name = "m",
                                                 .source = "const k = 2;\ncube(x) { return x * x * x; }"}));
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "f",
                                      .nsections = 2,
                                      .sections = two,
                                      .nmodules = 1,
                                      .modules = &m}));
    uf_module_free(m);
    d = derivative(f, 0);
    assert_string_equal(signatures_of(d), "float32,int32->float32; float64,float64->float64");
    OK(UF_CALL(d, UF_ARRAY(x, 1), UF_ARRAY(y, 1), UF_ARRAY(a, 1)));
    double e = exp(0.125) / (exp(0.125) + exp(6));
    assert_true(fabs(a[0] - (log(exp(0.125) + exp(6)) + 0.5 * e * 0.75)) < 1e-14);
    uf_free(d);
    d = derivative(f, 1);
    assert_string_equal(signatures_of(d), "int32,float32->float32; float64,float64->float64");
    int32_t n[1] = {3};
    float z[1] = {0.5f}, w[1];
    OK(UF_CALL(d, UF_ARRAY(n, 1), UF_ARRAY(z, 1), UF_ARRAY(w, 1)));
    assert_true(w[0] == 1);
    uf_free(d);
    uf_free(f);

    OK(uf_vectorize(&f, "f", NULL,
                    "(x) { return x * x; }")); /* any types: of integers it is that of their values in float64 */
    d = derivative(f, 0);
    OK(UF_CALL(d, UF_ARRAY(n, 1), UF_ARRAY(a, 1)));
    assert_true(a[0] == 6);
    OK(UF_CALL(d, UF_ARRAY(z, 1), UF_ARRAY(w, 1)));
    assert_true(w[0] == 1);
    uf_free(d);
    uf_free(f);
}

/* Half precision is computed in float32, as the function is, and rounded once. */
static void in_half_precision(void **state) {
    (void)state;
    uf_func *f = make("float16->float16", "(x) { return x * x * x * 1e-3 * 1e3; }"), *d = derivative(f, 0);
    uint16_t x[1] = {0x5640}, out[1]; /* 100 */
    DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 16, 1}, .shape = (int64_t[]){1}};
    DLTensor to = in;
    to.data = out;
    OK(UF_CALL(d, in, to));
    assert_int_equal(out[0], 0x7753); /* 30000 */
    uf_free(d);
    uf_free(f);
}

static void bad_input(void **state) {
    (void)state;
    uf_func *d = (uf_func *)&d, *f = make("dd->d", "(x, y) { return x + y; }"), *other;
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_derivative(NULL, f, 0));
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_derivative(&d, NULL, 0));
    assert_null(d);
    FAILS(UF_ERR_ARGUMENT, "f: input is 2; it has 2 inputs, counted from 0", uf_derivative(&d, f, 2));
    FAILS(UF_ERR_ARGUMENT, "f: input is -1", uf_derivative(&d, f, -1));
    uf_free(f);
    static const char *const kinds[][2] = {
        {"matmul", "matmul is a generalized ufunc; derivatives are those of elementwise"},
        {"sum", "sum is a reduction; derivatives"}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        OK(uf_load(&other, kinds[i][0]));
        FAILS(UF_ERR_ARGUMENT, kinds[i][1], uf_derivative(&d, other, 0));
        uf_free(other);
    }
    OK(uf_load(&other, "gcd"));
    FAILS(UF_ERR_SIGNATURE, "gcd: input 0 and the outputs are floating in none of the signatures int8,int8->int8",
          uf_derivative(&d, other, 0));
    uf_free(other);
    static const char *const texts[][2] = {
        {"(x) {\n  return (float)x; }", "there is no conversion from dual(float64) to float32"},
        {"(x) {\n  double s = x; return s; }", "a number is needed here, got dual(float64)"},
        {"(x) {\n  return add_up(x, 1); }", "there is no 'add_up' with (dual(float64), int32 (weak))"},
        {"(x) {\n  return random_uniform(x * 0 == 0, 1, 1) + (x && 1); }",
         "a number is needed here, got dual(float64)"},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        f = make("d->d", texts[i][0]);
        FAILS(UF_ERR_TYPE, texts[i][1], uf_derivative(&d, f, 0));
        assert_null(d);
        assert_string_equal(uf_last_error()->source, "f");
        assert_int_equal(uf_last_error()->line, 2);
        uf_free(f);
    }
}

int main(void) {
    const char *given = getenv("UF_SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("UF_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_functions_are_here), cmocka_unit_test(against_mpfr),
                                       cmocka_unit_test(in_single_precision),    cmocka_unit_test(gradients),
                                       cmocka_unit_test(special_points),         cmocka_unit_test(what_has_derivatives),
                                       cmocka_unit_test(in_half_precision),      cmocka_unit_test(bad_input)};
    int failed = cmocka_run_group_tests_name("dual numbers", tests, NULL, NULL);
    mpfr_free_cache();
    return failed;
}
