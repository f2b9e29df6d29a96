/* vector_log.c - logarithms in vectors. x = m 2^e, m from 1 to 2; R is near 1 / m and has so few bits that r = m R - 1 is exact. The logarithm is
 * that of 2^e, that of 1 / R, which is in a table in registers, and that of 1 + r, by a short polynomial (of least error, by Remez). What
 * the table gives is 0 on both sides of x = 1, so that nothing cancels there. Instructions do right by subnormal numbers, zeros and
 * infinities. */
#include <math.h>

#include "ir/common/vector_forms.h"
#include "ir/common/vector_tables.h"

/* What both logarithms begin with. */
typedef struct parts {
    ssa e, r;  /* x R is 2^e times something from 1 to 2, where R is, or 2 R is, such a number; m R - 1 */
    ssa index; /* that number: its distance from 1, in the last bits */
} parts;

/* R is a multiple of 2^-places. */
static parts take_apart(const vec *v, ssa x, bool nan_below_zero, int places) {
    int bits = v->type == DT_FLOAT32 ? 23 : 52; /* of the fraction */
    ssa m = vec_mantissa(v, x, nan_below_zero), inverse = vec_round(v, vec_rough_inverse(v, m), places);
    ssa e = vec_sub(v, vec_exponent(v, x), vec_exponent(v, inverse));
    ssa r = vec_fma(v, m, inverse, vec_constant(v, -1));
    return (parts){e, r, vec_integer(v, "lshr", vec_bits(v, inverse), bits - places + 1)};
}

/* A table's numbers in two parts, the first of which is a multiple of 2^-places. step: every second one, or all. */
static vec_two lookup(const vec *v, const double *high, const double *low, int count, int step, int places, ssa index) {
    double first[32], second[32];
    for (int j = 0; j < count; j++) {
        first[j] = ldexp(rint(ldexp(high[j * step], places)), -places);
        second[j] = high[j * step] - first[j] + low[j * step];
    }
    return (vec_two){vec_lookup(v, first, count, index), vec_lookup(v, second, count, index)};
}

void vec_log(const vec *v, const ssa *x) {
    /* (log(1 + r) - r) / r^2 */
    static const double single[] = {-0x1.fffffcp-2, 0x1.55555p-2, -0x1.00353cp-2, 0x1.9a12bcp-3};
    static const double wide[] = {-0x1.fffffffffffc7p-2, 0x1.5555555555496p-2,  -0x1.00000000bf42ep-2,
                                  0x1.9999999c8bad7p-3,  -0x1.55553fc151402p-3, 0x1.24922ad7a9655p-3,
                                  -0x1.007339aef7b39p-3, 0x1.c819bb0fa07a4p-4};
    bool is_single = v->type == DT_FLOAT32;
    parts d = take_apart(v, x[0], true, 5);
    vec_two t = lookup(v, log_high, log_low, 16, 1, is_single ? 15 : 42, d.index);
    /* log 2, of which the first part has so few bits that e times it, and that and the table's number, are exact */
    ssa high = vec_constant(v, vec_choose(v, 0x1.62e4p-1, 0x1.62e42fefa38p-1));
    ssa low = vec_constant(v, vec_choose(v, 0x1.7f7d1cp-20, 0x1.ef35793c7673p-45));
    ssa q = vec_polynomial(v, VEC_COEFFICIENTS(v, single, wide), d.r);
    ssa rest = vec_fma(v, vec_mul(v, d.r, d.r), q, vec_fma(v, d.e, low, t.low));
    ssa value = vec_add(v, vec_fma(v, d.e, high, t.high), vec_add(v, d.r, rest));
    emit_line(v->e, "ret %s %s", v->real, value.text);
}

/* 1 / log 2 as a sum */
static vec_two log2_e(const vec *v) {
    return (vec_two){vec_constant(v, vec_choose(v, 0x1.715476p+0, 0x1.71547652b82fep+0)),
                     vec_constant(v, vec_choose(v, 0x1.4ae0bf85ddf44p-26, 0x1.777d0ffda0d24p-56))};
}

/* log2(1 + r), and what the table's number lacks: u / log 2 + rest. rough: the rest with a few of its bits, which are there sooner. */
typedef struct near_one {
    ssa u, rough, rest;
} near_one;

static near_one near_one_single(const vec *v, ssa r, ssa table_low) {
    /* (log(1 + r) - r) / r^2 / log(2) */
    static const double c[] = {-0x1.715476p-1, 0x1.ec709ep-2, -0x1.71684ap-2, 0x1.278d4cp-2};
    ssa first = vec_fma(v, r, vec_constant(v, c[0]), log2_e(v).low), cube = vec_mul(v, vec_mul(v, r, r), r);
    ssa rest = vec_fma(v, cube, vec_polynomial(v, c + 1, COUNT(c) - 1, r), table_low);
    return (near_one){r, vec_fma(v, first, r, table_low), vec_fma(v, first, r, rest)};
}

/* float64: r^2, too, must have more bits than a number has. */
static near_one near_one_wide(const vec *v, ssa r, ssa table_low) {
    /* (log(1 + r) - r + r^2 / 2) / r^3 */
    static const double c[] = {0x1.5555555555555p-2,  -0x1.ffffffffffed9p-3, 0x1.9999999999567p-3,
                               -0x1.55555557ac491p-3, 0x1.249249293d717p-3,  -0x1.ffffcda08ee58p-4,
                               0x1.c71c2a88bb936p-4,  -0x1.9a76bbad8215bp-4, 0x1.7552cda656eb3p-4};
    vec_two factor = log2_e(v);
    ssa half = vec_mul(v, r, vec_constant(v, -0.5)), square = vec_mul(v, r, half);
    ssa square_low = vec_fma(v, r, half, vec_negate(v, square)), u = vec_add(v, r, square);
    ssa u_low = vec_add(v, vec_add(v, vec_sub(v, r, u), square), square_low);
    ssa cube = vec_mul(v, vec_polynomial(v, c, COUNT(c), r), r);
    u_low = vec_fma(v, cube, vec_mul(v, r, r), u_low);
    return (near_one){u, vec_mul(v, u_low, factor.high),
                      vec_fma(v, u_low, factor.high, vec_fma(v, u, factor.low, table_low))};
}

vec_logarithm vec_log2_of(const vec *v, ssa a) {
    bool is_single = v->type == DT_FLOAT32;
    parts d = take_apart(v, a, false, is_single ? 6 : 5);
    vec_two t = is_single ? lookup(v, log2_high, log2_low, 32, 1, 15, d.index)
                          : lookup(v, log2_high, log2_low, 16, 2, 40, d.index);
    near_one one = (is_single ? near_one_single : near_one_wide)(v, d.r, t.low);
    ssa whole = vec_add(v, d.e, t.high), factor = log2_e(v).high, high = vec_fma(v, one.u, factor, whole);
    ssa low = vec_add(v, vec_fma(v, one.u, factor, vec_sub(v, whole, high)), one.rest);
    return (vec_logarithm){{high, low}, vec_add(v, high, one.rough)};
}
