/* test_interval.c - the module `interval` of the catalogue, in float32 and float64, against MPFR: for points of random and hard intervals
 * the exact result is in the result, and what is made of directed arithmetic has the tightest bounds there are; with and without
 * fast, and to the bit on the simulated GPU. Comparisons and sets against their definitions, empty and unbounded operands among
 * them; reductions with an identity; bad input. */
#include <float.h>
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
    POINTS = 4, /* tried of each operand */
    BITS = 240, /* in which the exact result is enclosed */
    MAX_ARGUMENTS = 3
};

typedef struct interval {
    double lo, hi;
} interval;

/* ---- Numbers of both types, kept as float64 ---- */

static double largest(dtype t) { return t == DT_FLOAT32 ? (double)FLT_MAX : DBL_MAX; }
static double least(dtype t) { return t == DT_FLOAT32 ? 0x1p-149 : 0x1p-1074; }
static double epsilon(dtype t) { return t == DT_FLOAT32 ? 0x1p-23 : 0x1p-52; }
static double rounded(dtype t, double x) { return t == DT_FLOAT32 ? (double)(float)x : x; }

static double any_number(dtype t) {
    const double hard[] = {0,           -0.0, 1, -1,     least(t), -least(t), largest(t),
                           -largest(t), 0.5,  3, M_PI_2, -M_PI,    100,       1e-3};
    double mantissa = (double)(draw_bits()) * 0x1p-53 + 1;
    int most = t == DT_FLOAT32 ? 127 : 1023, range = chance(60) ? 6 : most;
    if (chance(25))
        return rounded(t, hard[pick(0, (int64_t)COUNT(hard) - 1)]);
    return rounded(t, ldexp(chance(50) ? mantissa : -mantissa, (int)pick(-range, range - 1)));
}

static interval any_interval(dtype t) {
    double x = any_number(t), y = chance(25) ? x : chance(30) ? rounded(t, x * (1 + 0x1p-18)) : any_number(t);
    interval r = {fmin(x, y), fmax(x, y)};
    if (chance(6))
        r.lo = -INFINITY;
    if (chance(6))
        r.hi = INFINITY;
    return chance(3) ? (interval){NAN, NAN} : r;
}

/* A number in an interval that is not empty: a bound, 0, or one in between. */
static double point(dtype t, interval a) {
    double lo = fmax(a.lo, -largest(t)), hi = fmin(a.hi, largest(t)), part = (double)draw_bits() * 0x1p-53;
    double inside = rounded(t, lo * (1 - part) + hi * part);
    if (lo <= 0 && hi >= 0 && chance(20))
        return 0;
    return chance(30) ? lo : chance(40) ? hi : fmin(fmax(inside, lo), hi);
}

/* ---- Arrays of intervals in their type ---- */

static void interval_write(dtype t, void *array, int64_t i, interval x) {
    if (t == DT_FLOAT32)
        memcpy((float *)array + 2 * i, &(float[2]){(float)x.lo, (float)x.hi}, 2 * sizeof(float));
    else
        memcpy((double *)array + 2 * i, &(double[2]){x.lo, x.hi}, 2 * sizeof(double));
}

static interval interval_read(dtype t, const void *array, int64_t i) {
    const float *f = (const float *)array + 2 * i;
    const double *d = (const double *)array + 2 * i;
    return t == DT_FLOAT32 ? (interval){(double)f[0], (double)f[1]} : (interval){d[0], d[1]};
}

static double in[MAX_ARGUMENTS][2 * N], out[2 * N], again[2 * N];

static bool is_empty(interval a) { return isnan(a.lo) && isnan(a.hi); }

/* ---- Functions ---- */

/* The exact result, rounded to BITS; false: it has none. */
typedef bool exact_function(mpfr_t r, const mpfr_t *x, mpfr_rnd_t direction);

static bool exact_add(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_add(r, x[0], x[1], d), true; }
static bool exact_sub(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_sub(r, x[0], x[1], d), true; }
static bool exact_mul(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_mul(r, x[0], x[1], d), true; }
static bool exact_div(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) {
    return mpfr_div(r, x[0], x[1], d), !mpfr_zero_p(x[1]);
}
static bool exact_fma(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_fma(r, x[0], x[1], x[2], d), true; }
static bool exact_neg(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_neg(r, x[0], d), true; }
static bool exact_fabs(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_abs(r, x[0], d), true; }
static bool exact_min(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_min(r, x[0], x[1], d), true; }
static bool exact_max(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_max(r, x[0], x[1], d), true; }
static bool exact_sqrt(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_sqrt(r, x[0], d), !mpfr_nan_p(r); }
static bool exact_cube(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_pow_si(r, x[0], 3, d), true; }
static bool exact_tenth(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_pow_si(r, x[0], 10, d), true; }
static bool exact_zeroth(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_pow_si(r, x[0], 0, d), true; }
static bool exact_inverse_square(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) {
    return mpfr_pow_si(r, x[0], -2, d), !mpfr_zero_p(x[0]);
}
static bool exact_inverse_fifth(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) {
    return mpfr_pow_si(r, x[0], -5, d), !mpfr_zero_p(x[0]);
}
static bool exact_exp(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_exp(r, x[0], d), true; }
static bool exact_log(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_log(r, x[0], d), mpfr_sgn(x[0]) > 0; }
static bool exact_sin(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_sin(r, x[0], d), true; }
static bool exact_cos(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_cos(r, x[0], d), true; }
static bool exact_twice(mpfr_t r, const mpfr_t *x, mpfr_rnd_t d) { return mpfr_mul_ui(r, x[0], 2, d), true; }

typedef enum tightness {
    LOOSE,
    TIGHT_AT_CORNERS, /* the bounds are rounded results of the operands' bounds, where all of these are numbers */
    TIGHT_OF_POINTS   /* of a point the result is a few units in the last place wide */
} tightness;

typedef struct subject {
    const char *expression;
    int arity;
    exact_function *exact;
    tightness how;
} subject;

static const subject subjects[] = {
    {"x + y", 2, exact_add, TIGHT_AT_CORNERS},        {"x - y", 2, exact_sub, TIGHT_AT_CORNERS},
    {"x * y", 2, exact_mul, TIGHT_AT_CORNERS},        {"x / y", 2, exact_div, TIGHT_AT_CORNERS},
    {"fma(x, y, z)", 3, exact_fma, TIGHT_AT_CORNERS}, {"-+x", 1, exact_neg, TIGHT_AT_CORNERS},
    {"2 * x", 1, exact_twice, TIGHT_AT_CORNERS},      {"fabs(x)", 1, exact_fabs, LOOSE},
    {"min(x, y)", 2, exact_min, TIGHT_AT_CORNERS},    {"max(x, y)", 2, exact_max, TIGHT_AT_CORNERS},
    {"sqrt(x)", 1, exact_sqrt, TIGHT_AT_CORNERS},     {"pow(x, 0)", 1, exact_zeroth, TIGHT_AT_CORNERS},
    {"pow(x, 3)", 1, exact_cube, TIGHT_OF_POINTS},    {"pow(x, 10)", 1, exact_tenth, TIGHT_OF_POINTS},
    {"pow(x, -2)", 1, exact_inverse_square, LOOSE},   {"pow(x, -5)", 1, exact_inverse_fifth, LOOSE},
    {"exp(x)", 1, exact_exp, TIGHT_OF_POINTS},        {"log(x)", 1, exact_log, TIGHT_OF_POINTS},
    {"sin(x)", 1, exact_sin, TIGHT_OF_POINTS},        {"cos(x)", 1, exact_cos, TIGHT_OF_POINTS}};

typedef struct exact_range {
    mpfr_t x[MAX_ARGUMENTS], down, up;
} exact_range;

static void range_begin(exact_range *e) {
    for (int k = 0; k < MAX_ARGUMENTS; k++)
        mpfr_init2(e->x[k], 53);
    mpfr_init2(e->down, BITS);
    mpfr_init2(e->up, BITS);
}

static void range_end(exact_range *e) {
    for (int k = 0; k < MAX_ARGUMENTS; k++)
        mpfr_clear(e->x[k]);
    mpfr_clears(e->down, e->up, (mpfr_ptr)NULL);
}

static bool range_of(exact_range *e, const subject *s, const double *x) {
    for (int k = 0; k < s->arity; k++)
        mpfr_set_d(e->x[k], x[k], MPFR_RNDN);
    const mpfr_t *args = (const mpfr_t *)e->x;
    return s->exact(e->down, args, MPFR_RNDD) && s->exact(e->up, args, MPFR_RNDU);
}

/* Rounded from BITS on, in the same direction. */
static double down_to(dtype t, const exact_range *e) {
    return t == DT_FLOAT32 ? (double)mpfr_get_flt(e->down, MPFR_RNDD) : mpfr_get_d(e->down, MPFR_RNDD);
}
static double up_to(dtype t, const exact_range *e) {
    return t == DT_FLOAT32 ? (double)mpfr_get_flt(e->up, MPFR_RNDU) : mpfr_get_d(e->up, MPFR_RNDU);
}

static void fail_case(const subject *s, dtype t, const interval *a, interval r, const char *what) {
    fail_msg("%s of %s: [%a, %a] [%a, %a] [%a, %a] is [%a, %a], %s", s->expression, dtypes[t].name, a[0].lo, a[0].hi,
             a[1].lo, a[1].hi, a[2].lo, a[2].hi, r.lo, r.hi, what);
}

/* A bound is a number that all exact results are beyond, so that comparing it with them rounded to BITS is exact. */
static void check_points(const subject *s, dtype t, const interval *a, interval r, exact_range *e) {
    for (int p = 0; p < POINTS; p++) {
        double x[MAX_ARGUMENTS] = {0};
        for (int k = 0; k < s->arity; k++)
            x[k] = point(t, a[k]);
        if (!range_of(e, s, x))
            continue;
        if (!(mpfr_cmp_d(e->down, r.lo) >= 0 && mpfr_cmp_d(e->up, r.hi) <= 0) || isnan(r.lo) || isnan(r.hi))
            fail_case(s, t, a, r, "which a result is outside of");
    }
}

/* The bounds are results of bounds, rounded once. */
static void check_corners(const subject *s, dtype t, const interval *a, interval r, exact_range *e) {
    double low = INFINITY, high = -INFINITY;
    bool straddles = a[1].lo <= 0 && a[1].hi >= 0;
    for (int corner = 0; corner < 1 << s->arity; corner++) {
        double x[MAX_ARGUMENTS] = {0};
        for (int k = 0; k < s->arity; k++)
            x[k] = corner >> k & 1 ? a[k].hi : a[k].lo;
        for (int k = 0; k < s->arity; k++)
            if (!isfinite(x[k]))
                return;
        if ((s->exact == exact_div && straddles) || !range_of(e, s, x))
            return;
        low = fmin(low, down_to(t, e));
        high = fmax(high, up_to(t, e));
    }
    if (r.lo != low || r.hi != high)
        fail_case(s, t, a, r, "which could be tighter");
}

static void check_width(const subject *s, dtype t, const interval *a, interval r, exact_range *e) {
    /* Far from 0 an extremum near the point is taken for one in it. */
    bool huge = (s->exact == exact_sin || s->exact == exact_cos) && fabs(a[0].lo) > 64;
    if (a[0].lo != a[0].hi || huge || !range_of(e, s, &a[0].lo))
        return;
    double y = mpfr_get_d(e->down, MPFR_RNDN), allowed = 22 * epsilon(t) * fabs(y) + 22 * least(t);
    if (isfinite(r.hi) && isfinite(r.lo) && r.hi - r.lo > allowed)
        fail_case(s, t, a, r, "which is wide for a point");
}

static void judge(const subject *s, dtype t) {
    exact_range e;
    range_begin(&e);
    for (int64_t i = 0; i < N; i++) {
        interval a[MAX_ARGUMENTS] = {{0, 0}}, r = interval_read(t, out, i);
        bool empty = false;
        for (int k = 0; k < s->arity; k++)
            empty |= is_empty(a[k] = interval_read(t, in[k], i));
        if (empty && !is_empty(r))
            fail_case(s, t, a, r, "not empty");
        if (!is_empty(r) && !(r.lo <= r.hi && r.lo < INFINITY && r.hi > -INFINITY))
            fail_case(s, t, a, r, "no interval");
        if (empty)
            continue;
        check_points(s, t, a, r, &e);
        if (s->how == TIGHT_AT_CORNERS && !(s->exact == exact_sqrt && a[0].lo < 0))
            check_corners(s, t, a, r, &e);
        if (s->how == TIGHT_OF_POINTS)
            check_width(s, t, a, r, &e);
    }
    range_end(&e);
}

static void fill(dtype t) {
    for (int k = 0; k < MAX_ARGUMENTS; k++)
        for (int64_t i = 0; i < N; i++)
            interval_write(t, in[k], i, any_interval(t));
}

/* NaNs count as equal. */
static void check_same(dtype t, const char *what) {
    for (int64_t i = 0; i < N; i++) {
        interval a = interval_read(t, out, i), b = interval_read(t, again, i);
        if (!ref_same((number){.type = t, .as.f = {a.lo}}, (number){.type = t, .as.f = {b.lo}}) ||
            !ref_same((number){.type = t, .as.f = {a.hi}}, (number){.type = t, .as.f = {b.hi}}))
            fail_msg("%s of %s: element %lld is [%a, %a] on the CPU, [%a, %a] on the simulated GPU", what,
                     dtypes[t].name, (long long)i, a.lo, a.hi, b.lo, b.hi);
    }
}

#define ONE(type) "interval(" type ")"

/* Runs a kernel of intervals on the CPU, and where it can be on the simulated GPU. */
static void run(dtype t, const char *expression, int arity, unsigned fast) {
    static const char *const types[][2] = {
        {ONE("float32") "->" ONE("float32"), ONE("float64") "->" ONE("float64")},
        {ONE("float32") "," ONE("float32") "->" ONE("float32"), ONE("float64") "," ONE("float64") "->" ONE("float64")},
        {ONE("float32") "," ONE("float32") "," ONE("float32") "->" ONE("float32"),
         ONE("float64") "," ONE("float64") "," ONE("float64") "->" ONE("float64")}};
    static const char *const names[] = {"x", "x, y", "x, y, z"};
    char source[160];
    snprintf(source, sizeof source, "(%s) { return %s; }", names[arity - 1], expression);
    record_trial trial = {.module = "interval",
                          .source = source,
                          .types = types[arity - 1][t == DT_FLOAT64],
                          .fast = fast,
                          .n = N,
                          .noperands = arity + 1};
    for (int k = 0; k < arity; k++)
        trial.operands[k] = (trial_operand){t, 2, in[k]};
    trial.operands[arity] = (trial_operand){t, 2, out};
    trial_cpu(&trial);
    trial.operands[arity].data = again;
    bool libdevice = !strncmp(expression, "exp", 3) || !strncmp(expression, "log", 3) ||
                     !strncmp(expression, "sin", 3) || !strncmp(expression, "cos", 3);
    if (!sim_there() || libdevice)
        return;
    assert_true(trial_gpu(&trial));
    check_same(t, expression);
}

static void containment(void **state) {
    (void)state;
    for (int64_t round = 0; round < trials(1); round++)
        for (size_t k = 0; k < COUNT(subjects); k++)
            for (dtype t = DT_FLOAT32; t <= DT_FLOAT64; t++) {
                fill(t);
                run(t, subjects[k].expression, subjects[k].arity, chance(50) ? UF_FAST_ALL : 0);
                judge(&subjects[k], t);
            }
}

/* ---- Sets and comparisons ---- */

static interval hull(interval a, interval b) { return (interval){fmin(a.lo, b.lo), fmax(a.hi, b.hi)}; }
static interval intersect(interval a, interval b) {
    interval r = {fmax(a.lo, b.lo), fmin(a.hi, b.hi)};
    return !is_empty(a) && !is_empty(b) && r.lo <= r.hi ? r : (interval){NAN, NAN};
}

static interval truth(bool x) { return (interval){x, x}; }
static interval less(interval a, interval b) { return truth(a.hi < b.lo); }
static interval less_equal(interval a, interval b) { return truth(a.hi <= b.lo); }
static interval greater(interval a, interval b) { return truth(a.lo > b.hi); }
static interval greater_equal(interval a, interval b) { return truth(a.lo >= b.hi); }
static interval maybe_less(interval a, interval b) { return truth(a.lo < b.hi); }
static interval maybe_less_equal(interval a, interval b) { return truth(a.lo <= b.hi); }
static interval maybe_equal(interval a, interval b) { return truth(!is_empty(intersect(a, b))); }
static interval same(interval a, interval b) { return truth(a.lo == b.lo && a.hi == b.hi); }
static interval contains(interval a, interval b) { return truth(a.lo <= b.lo && a.hi >= b.hi); }
static interval contains_number(interval a, interval b) { return truth(a.lo <= b.lo && b.lo <= a.hi); }
static interval empty(interval a, interval b) {
    (void)b;
    return truth(is_empty(a));
}

static void sets(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        interval (*wanted)(interval, interval);
    } rows[] = {{"hull(x, y)", hull},
                {"intersect(x, y)", intersect},
                {"x < y", less},
                {"x <= y", less_equal},
                {"x > y", greater},
                {"x >= y", greater_equal},
                {"possibly_less(x, y)", maybe_less},
                {"possibly_less_equal(x, y)", maybe_less_equal},
                {"possibly_equal(x, y)", maybe_equal},
                {"x == y", same},
                {"contains(x, y)", contains},
                {"contains(x, y.lo)", contains_number},
                {"is_empty(x)", empty}};
    for (size_t k = 0; k < COUNT(rows); k++)
        for (dtype t = DT_FLOAT32; t <= DT_FLOAT64; t++) {
            char source[128];
            fill(t);
            snprintf(source, sizeof source, k < 2 ? "%s" : "(interval(%s))(%s)(%s)",
                     k < 2 ? rows[k].expression : dtypes[t].name, dtypes[t].name, rows[k].expression);
            run(t, source, 2, 0);
            for (int64_t i = 0; i < N; i++) {
                interval a = interval_read(t, in[0], i), b = interval_read(t, in[1], i), r = interval_read(t, out, i);
                interval want = rows[k].wanted(a, b);
                if (!(is_empty(want) ? is_empty(r) : r.lo == want.lo && r.hi == want.hi))
                    fail_msg("%s of [%a, %a] and [%a, %a] is [%a, %a]", rows[k].expression, a.lo, a.hi, b.lo, b.hi,
                             r.lo, r.hi);
            }
        }
}

/* What gives numbers: as an interval of one. */
static interval of_number(dtype t, const char *expression, interval a) {
    char source[128];
    snprintf(source, sizeof source, "(interval(%s))%s", dtypes[t].name, expression);
    for (int64_t i = 0; i < N; i++)
        interval_write(t, in[0], i, a);
    run(t, source, 1, 0);
    return interval_read(t, out, 0);
}

static void parts(void **state) {
    (void)state;
    for (dtype t = DT_FLOAT32; t <= DT_FLOAT64; t++) {
        double most = largest(t), unit = epsilon(t), tiny = least(t);
        const interval whole = {-INFINITY, INFINITY}, none = {NAN, NAN};
        assert_true(of_number(t, "width(x)", (interval){1, 1 + unit}).lo == unit);
        assert_true(of_number(t, "width(x)", (interval){-tiny, 1}).lo == 1 + unit); /* upwards */
        assert_true(of_number(t, "width(x)", whole).hi == INFINITY);
        assert_true(is_empty(of_number(t, "width(x)", none)));
        assert_true(of_number(t, "mid(x)", (interval){1, 2}).lo == 1.5);
        assert_true(of_number(t, "mid(x)", (interval){tiny, tiny}).lo == tiny);
        assert_true(of_number(t, "mid(x)", (interval){most, most}).lo == most);
        assert_true(of_number(t, "mid(x)", whole).lo == 0);
        assert_true(of_number(t, "mid(x)", (interval){most, INFINITY}).lo == most);
        assert_true(is_empty(of_number(t, "mid(x)", none)));
        /* Conversions from numbers. */
        assert_true(of_number(t, "x.hi", (interval){-3, 5}).lo == 5);
        interval r = of_number(t, "x.hi", whole);
        assert_true(r.lo == most && r.hi == INFINITY);
        r = of_number(t, "x.lo", whole);
        assert_true(r.lo == -INFINITY && r.hi == -most);
        assert_true(is_empty(of_number(t, "x.lo", none)));
        fill(t);
        run(t, "widen(x, 3)", 1, 0);
        for (int64_t i = 0; i < N; i++) {
            interval a = interval_read(t, in[0], i), w = interval_read(t, out, i);
            double low = a.lo, high = a.hi;
            for (int k = 0; k < 3; k++) {
                low = t == DT_FLOAT32 ? (double)nextafterf((float)low, -INFINITY) : nextafter(low, -INFINITY);
                high = t == DT_FLOAT32 ? (double)nextafterf((float)high, INFINITY) : nextafter(high, INFINITY);
            }
            assert_true(is_empty(a) ? is_empty(w) : w.lo <= low && w.hi >= high);
            if (!is_empty(a) && isfinite(low))
                assert_true(w.lo >= low - 8 * unit * fabs(low) - 8 * tiny);
        }
    }
}

/* ---- Reductions ---- */

static uf_func *reduction(const char *signatures, const uf_reduction_def *def) {
    uf_module *m;
    uf_func *f;
    uf_reduction_def own = *def;
    OK(uf_module_load(&m, "interval"));
    own.size = sizeof own;
    own.nmodules = 1;
    own.modules = &m;
    OK(uf_reduction(&f, "reduction", signatures, &own));
    uf_module_free(m);
    return f;
}

static void sums(void **state) {
    (void)state;
    static interval x[N];
    static double numbers[N];
    mpfr_t low, high;
    interval r = {7, 7}, none = {7, 7};
    uf_func *add = reduction(ONE("float64") "->" ONE("float64"),
                             &(uf_reduction_def){.combine = "(a, b) { return a + b; }", .identity = "0"});
    uf_func *sum =
        reduction("float64->" ONE("float64"), &(uf_reduction_def){.map = "(x) { return (" ONE("float64") ")x; }",
                                                                  .state = ONE("float64"),
                                                                  .combine = "(a, b) { return a + b; }",
                                                                  .identity = "0"});
    uf_func *box = reduction(ONE("float64") "->" ONE("float64"),
                             &(uf_reduction_def){.combine = "(a, b) { return hull(a, b); }", .identity = "NAN"});
    mpfr_inits2(4000, low, high, (mpfr_ptr)NULL); /* sums of float64 are exact */
    mpfr_set_zero(low, 1);
    mpfr_set_zero(high, 1);
    for (int64_t i = 0; i < N; i++) {
        numbers[i] = ldexp((double)draw_bits(), (int)pick(-80, 20));
        x[i] = (interval){-numbers[i], ldexp((double)draw_bits(), (int)pick(-80, 20))};
        mpfr_add_d(low, low, x[i].lo, MPFR_RNDN);
        mpfr_add_d(high, high, x[i].hi, MPFR_RNDN);
    }
    const DLTensor result = {.data = &r, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 2}};
    OK(uf_reduce(add, 2, (DLTensor[]){UF_RECORDS(x, N), result}, NULL));
    assert_true(mpfr_cmp_d(low, r.lo) >= 0 && mpfr_cmp_d(high, r.hi) <= 0);
    assert_true(fabs(mpfr_get_d(low, MPFR_RNDN) / r.lo - 1) < 1e-12 &&
                fabs(mpfr_get_d(high, MPFR_RNDN) / r.hi - 1) < 1e-12);
    OK(uf_reduce(sum, 2, (DLTensor[]){UF_ARRAY(numbers, N), result}, NULL));
    assert_true(mpfr_cmp_d(low, -r.hi) >= 0 && mpfr_cmp_d(low, -r.lo) <= 0 && r.hi - r.lo < 1e-12 * r.hi);
    OK(uf_reduce(box, 2, (DLTensor[]){UF_RECORDS(x, N), result}, NULL));
    none = x[0];
    for (int64_t i = 1; i < N; i++)
        none = hull(none, x[i]);
    assert_true(r.lo == none.lo && r.hi == none.hi);
    OK(uf_reduce(add, 2, (DLTensor[]){UF_RECORDS(x, 0), result}, NULL));
    assert_true(r.lo == 0 && r.hi == 0);
    OK(uf_reduce(box, 2, (DLTensor[]){UF_RECORDS(x, 0), result}, NULL));
    assert_true(is_empty(r));
    mpfr_clears(low, high, (mpfr_ptr)NULL);
    uf_free(add);
    uf_free(sum);
    uf_free(box);
}

/* ---- Bad input ---- */

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *types, *source, *message;
    } rows[] = {{ONE("float64") "," ONE("float64") "->" ONE("float64"), "(x, y) { return x % y; }", "operator %"},
                {ONE("float64") "," ONE("float64") "->" ONE("float64"), "(x, y) { return tan(x); }", "tan"},
                {ONE("float64") "," ONE("float32") "->" ONE("float64"), "(x, y) { return x + y; }", "operator +"},
                {ONE("float32") ",float64->" ONE("float32"), "(x, y) { return x + y; }", "no conversion from float64"},
                {ONE("float64") "," ONE("float64") "->float64", "(x, y) { return x; }", "interval(float64)"},
                {"int32,int32->" ONE("int32"), "(x, y) { return x; }", "interval"}};
    for (size_t k = 0; k < COUNT(rows); k++) {
        uf_module *m;
        uf_func *f;
        const uf_section only = {.signatures = rows[k].types, .source = rows[k].source};
        OK(uf_module_load(&m, "interval"));
        FAILS(UF_ERR_TYPE, rows[k].message,
              uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                             .name = "f",
                                             .nsections = 1,
                                             .sections = &only,
                                             .nmodules = 1,
                                             .modules = &m}));
        uf_module_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(containment), cmocka_unit_test(sets), cmocka_unit_test(parts),
                                       cmocka_unit_test(sums), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("interval", tests, draw_seed, NULL);
}
