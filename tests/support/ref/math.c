/* math.c - the math rows by MPFR: correctly rounded values for the interpreter, errors in ULPs for the sweep. Functions
 * whose results are exact are computed from their definitions. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "ref.h"

/* How the row rounds. */
static mpfr_rnd_t rounding_of(const math_row *row) {
    return row->direction < 0 ? MPFR_RNDD : row->direction > 0 ? MPFR_RNDU : MPFR_RNDN;
}

typedef int (*one_argument)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*two_arguments)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int log_of_gamma(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    int sign;
    return mpfr_lgamma(out, &sign, x, rounding);
}

/* MPFR gives +infinity for -0, IEEE 754 -infinity. */
static int reciprocal_root(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    int ternary = mpfr_rec_sqrt(out, x, rounding);
    return mpfr_zero_p(x) ? mpfr_setsign(out, out, mpfr_signbit(x), rounding) : ternary;
}

static const struct {
    const char *name;
    one_argument one;
    two_arguments two;
} inexact[] = {
    {"acos", mpfr_acos, NULL},   {"acosh", mpfr_acosh, NULL},         {"asin", mpfr_asin, NULL},
    {"asinh", mpfr_asinh, NULL}, {"atan", mpfr_atan, NULL},           {"atan2", NULL, mpfr_atan2},
    {"atanh", mpfr_atanh, NULL}, {"cbrt", mpfr_cbrt, NULL},           {"cos", mpfr_cos, NULL},
    {"cosh", mpfr_cosh, NULL},   {"digamma", mpfr_digamma, NULL},     {"rsqrt", reciprocal_root, NULL},
    {"erf", mpfr_erf, NULL},     {"erfc", mpfr_erfc, NULL},           {"exp", mpfr_exp, NULL},
    {"exp10", mpfr_exp10, NULL}, {"exp2", mpfr_exp2, NULL},           {"expm1", mpfr_expm1, NULL},
    {"fmod", NULL, mpfr_fmod},   {"hypot", NULL, mpfr_hypot},         {"j0", mpfr_j0, NULL},
    {"j1", mpfr_j1, NULL},       {"lgamma", log_of_gamma, NULL},      {"log", mpfr_log, NULL},
    {"log10", mpfr_log10, NULL}, {"log1p", mpfr_log1p, NULL},         {"log2", mpfr_log2, NULL},
    {"pow", NULL, mpfr_pow},     {"remainder", NULL, mpfr_remainder}, {"sin", mpfr_sin, NULL},
    {"sinh", mpfr_sinh, NULL},   {"sqrt", mpfr_sqrt, NULL},           {"tan", mpfr_tan, NULL},
    {"tanh", mpfr_tanh, NULL},   {"tgamma", mpfr_gamma, NULL},        {"y0", mpfr_y0, NULL},
    {"y1", mpfr_y1, NULL},
};

/* What rounding to a type means to MPFR, whose numbers are 0.1... x 2^e. */
typedef struct format {
    int digits, emin, emax;
} format;

static format format_of(dtype type) { return type == DT_FLOAT32 ? (format){24, -148, 128} : (format){53, -1073, 1024}; }

/* ---- Inexact functions, to any precision ---- */

/* Orders below 0 by reflection: MPFR 4.2 runs out of memory on some of them. */
static int bessel(bool second_kind, mpfr_t out, long order, const mpfr_t x) {
    bool negate = order < 0 && order % 2;
    int ternary = (second_kind ? mpfr_yn : mpfr_jn)(out, labs(order), x, MPFR_RNDN);
    if (negate)
        mpfr_neg(out, out, MPFR_RNDN);
    return negate ? -ternary : ternary;
}

/* Rows that round in a direction, by the beginning of their names. */
static int directed(const math_row *row, mpfr_t out, mpfr_t x, mpfr_t y, mpfr_t z) {
    mpfr_rnd_t way = rounding_of(row);
    switch (row->name[0]) {
    case 'a':
        return mpfr_add(out, x, y, way);
    case 'm':
        return mpfr_mul(out, x, y, way);
    case 'd':
        return mpfr_div(out, x, y, way);
    case 'f':
        return mpfr_fma(out, x, y, z, way);
    default:
        return row->arity == 1 ? mpfr_sqrt(out, x, way) : mpfr_sub(out, x, y, way);
    }
}

/* out = the function; the ternary value as MPFR's. Arguments are exact in MPFR. */
static int by_mpfr(const math_row *row, mpfr_t out, mpfr_t x, mpfr_t y, mpfr_t z, const number *args) {
    switch (row->rule) {
    case MATH_INT_FLOATING:
        return bessel(row->name[0] == 'y', out, args[0].as.i, y);
    case MATH_FLOATING_INT:
        return mpfr_mul_2si(out, x, args[1].as.i, MPFR_RNDN);
    default:
        break;
    }
    if (row->direction)
        return directed(row, out, x, y, z);
    if (strcmp(row->name, "fma") == 0)
        return mpfr_fma(out, x, y, z, MPFR_RNDN);
    for (size_t i = 0; i < COUNT(inexact); i++)
        if (strcmp(row->name, inexact[i].name) == 0)
            return inexact[i].one ? inexact[i].one(out, x, MPFR_RNDN) : inexact[i].two(out, x, y, MPFR_RNDN);
    abort(); /* a row of the table that the oracle does not know */
}

static int apply(const math_row *row, mpfr_t out, const number *args) {
    mpfr_t in[3];
    for (int i = 0; i < 3; i++) {
        mpfr_init2(in[i], 53);
        mpfr_set_d(in[i], i < row->arity ? args[i].as.f[0] : 0, MPFR_RNDN);
    }
    int ternary = by_mpfr(row, out, in[0], in[1], in[2], args);
    for (int i = 0; i < 3; i++)
        mpfr_clear(in[i]);
    return ternary;
}

static double correctly_rounded(const math_row *row, dtype type, const number *args) {
    format f = format_of(type);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t out;
    mpfr_init2(out, f.digits);
    mpfr_set_emin(f.emin);
    mpfr_set_emax(f.emax);
    mpfr_subnormalize(out, apply(row, out, args), rounding_of(row));
    double value = mpfr_get_d(out, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(out);
    return value;
}

/* ---- Exact functions ---- */

static double next_after(dtype type, double x, double y) {
    if (isnan(x) || isnan(y))
        return NAN;
    if (x == y)
        return y;
    double least = type == DT_FLOAT32 ? 0x1p-149 : 0x1p-1074;
    if (x == 0)
        return copysign(least, y);
    if (type != DT_FLOAT32) {
        int64_t bits;
        memcpy(&bits, &x, sizeof bits);
        bits += (y > x) == (x > 0) ? 1 : -1;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    float narrow = (float)x;
    int32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    bits += (y > x) == (x > 0) ? 1 : -1;
    memcpy(&narrow, &bits, sizeof narrow);
    return narrow;
}

static double to_even(double x) {
    double low = floor(x), over = x - low, even = floor(low / 2) * 2 == low ? low : low + 1;
    if (isinf(x) || isnan(x) || over == 0)
        return x;
    return copysign(over < 0.5 ? low : over > 0.5 ? low + 1 : even, x);
}

static double away(double x) {
    double whole = trunc(x);
    return isfinite(x) && fabs(x - whole) >= 0.5 ? whole + copysign(1, x) : copysign(whole, x);
}

static double exponent_of(double x) {
    int e;
    if (isnan(x))
        return x;
    if (x == 0)
        return -HUGE_VAL;
    if (isinf(x))
        return HUGE_VAL;
    frexp(x, &e);
    return e - 1;
}

static int32_t exponent_as_integer(double x) {
    double e = exponent_of(x);
    return isnan(e) || e == -HUGE_VAL ? INT32_MIN : e == HUGE_VAL ? INT32_MAX : (int32_t)e;
}

static double upward(double x) { return ceil(x); }
static double downward(double x) { return floor(x); }
static double magnitude(double x) { return fabs(x); }
static double whole_part(double x) { return copysign(floor(fabs(x)), x); }

static const struct {
    const char *name;
    double (*function)(double);
} exact[] = {
    {"ceil", upward},       {"fabs", magnitude}, {"floor", downward}, {"logb", exponent_of},
    {"nearbyint", to_even}, {"rint", to_even},   {"round", away},     {"trunc", whole_part},
};

/* Bits of an integer of a type: those set, and from either end to the first. */
static int32_t count_bits(const char *name, dtype type, number x) {
    int bits = 8 * dtypes[type].size, set = 0, first = bits, last = -1;
    for (int i = 0; i < bits; i++)
        if (x.as.u >> i & 1) {
            set++;
            first = i < first ? i : first;
            last = i;
        }
    return name[0] == 'p' ? set : strcmp(name, "ctz") == 0 ? first : bits - 1 - last;
}

number ref_math(const math_row *row, dtype type, const number *args) {
    number result = {.type = type};
    if (row->rule == MATH_BITS)
        return (number){.type = DT_INT32, .as.i = count_bits(row->name, type, args[0])};
    if (row->rule == MATH_TO_INT)
        return (number){.type = DT_INT32, .as.i = exponent_as_integer(args[0].as.f[0])};
    if (strcmp(row->name, "nextafter") == 0)
        result.as.f[0] = next_after(type, args[0].as.f[0], args[1].as.f[0]);
    else if (strcmp(row->name, "copysign") == 0)
        result.as.f[0] = copysign(args[0].as.f[0], args[1].as.f[0]);
    else {
        for (size_t i = 0; i < COUNT(exact); i++)
            if (strcmp(row->name, exact[i].name) == 0) {
                result.as.f[0] = exact[i].function(args[0].as.f[0]);
                return result;
            }
        result.as.f[0] = correctly_rounded(row, type, args);
    }
    return result;
}

/* ---- Errors ---- */

enum {
    PRECISION = 160
};

/* |got - value| in units in the last place of value; both finite, infinity having become 2^emax. */
static double distance(const format *f, mpfr_t value, mpfr_t got) {
    mpfr_t difference;
    mpfr_exp_t exponent = mpfr_zero_p(value) ? f->emin : mpfr_get_exp(value);
    exponent = exponent - f->digits < f->emin - 1 ? f->emin - 1 : exponent - f->digits;
    mpfr_init2(difference, PRECISION);
    mpfr_sub(difference, got, value, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, -exponent, MPFR_RNDN);
    double ulps = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return ulps;
}

/* What lies beyond the largest finite number becomes 2^emax, with its sign. */
static void limit(const format *f, mpfr_t x) {
    if (mpfr_inf_p(x) || (!mpfr_zero_p(x) && mpfr_get_exp(x) > f->emax)) {
        int sign = mpfr_signbit(x) ? -1 : 1;
        mpfr_set_si_2exp(x, sign, f->emax, MPFR_RNDN);
    }
}

double ref_ulps(const math_row *row, dtype type, const number *args, double got, double *value) {
    format f = format_of(type);
    mpfr_t out, other;
    mpfr_init2(out, PRECISION);
    mpfr_init2(other, PRECISION);
    apply(row, out, args);
    mpfr_set_d(other, got, MPFR_RNDN);
    if (value)
        *value = mpfr_get_d(out, MPFR_RNDN);
    double ulps = mpfr_nan_p(out) && isnan(got) ? 0 : HUGE_VAL;
    if (!mpfr_nan_p(out) && !isnan(got)) {
        limit(&f, out);
        limit(&f, other);
        ulps = distance(&f, out, other);
    }
    mpfr_clear(out);
    mpfr_clear(other);
    return ulps;
}
