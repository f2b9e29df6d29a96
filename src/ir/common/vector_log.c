/* vector_log.c - logarithms in vectors. x = m 2^e, m from 1 to 2; R is near 1 / m and has so few bits that r = m R - 1 is exact. The logarithm is
 * that of 2^e, that of 1 / R, which is in a table in registers, and that of 1 + r, by a short polynomial (of least error, by Remez). What
 * the table gives is 0 on both sides of x = 1, so that nothing cancels there. Instructions do right by subnormal numbers, zeros and
 * infinities.
 *
 * Vectors without such tables and instructions have m from 2/3 to 4/3 by arithmetic on bits, and a longer polynomial of m - 1; subnormal
 * numbers are multiplied first, behind a branch for a vector. */
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

/* What is to be added to the exponents that bits have: 0 of ordinary numbers, what makes log x of zeros, negative ones, infinity and NaN. *x: of
 * subnormal numbers multiples. */
static ssa prepare(const vec *v, ssa *x) {
    ssa zero = vec_constant(v, 0), many = vec_constant(v, 0x1p23), infinite = vec_constant(v, INFINITY);
    ssa small = vec_compare(v, "olt", *x, vec_constant(v, 0x1p-126));
    ssa offset = vec_select(v, small, vec_constant(v, -23), zero);
    offset = vec_select(v, vec_compare(v, "oeq", *x, zero), vec_constant(v, -INFINITY), offset);
    offset = vec_select(v, vec_compare(v, "oeq", *x, infinite), infinite, offset);
    offset = vec_select(v, vec_compare(v, "oge", *x, zero), offset, vec_constant(v, NAN));
    *x = vec_select(v, small, vec_mul(v, *x, many), *x);
    return offset;
}

void vec_log_without_tables(const vec *v, const ssa *x) {
    /* (log(1 + r) - r) / r^2, |r| up to 1/3 */
    static const double c[] = {-0x1p-1,       0x1.555502p-2,  -0x1.fffe86p-3, 0x1.99d1f4p-3, -0x1.55a74ep-3,
                               0x1.1ebe46p-3, -0x1.f25e36p-4, 0x1.1ed1dcp-3,  -0x1.093164p-3};
    enum {
        LEAST_NORMAL = 0x00800000,
        INFINITE = 0x7f800000,
        TWO_THIRDS = 0x3f2aaaab, /* the bits of these numbers */
        FRACTION = 0x007fffff
    };
    emit *e = v->e;
    int begin = emit_label_new(e), rare = emit_label_new(e), any = emit_label_new(e);
    emit_branch(e, begin);
    emit_label(e, begin);
    ssa above = vec_integer(v, "sub", vec_bits(v, x[0]), LEAST_NORMAL);
    ssa plain = vec_integer(v, "icmp ult", above, INFINITE - LEAST_NORMAL), odd = x[0];
    emit_branch_if(e, vec_any_false(v, plain), rare, any);
    emit_label(e, rare);
    ssa special = prepare(v, &odd);
    emit_branch(e, any);
    emit_label(e, any);
    ssa a = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", v->real, x[0].text, begin, odd.text, rare);
    ssa offset = emit_value(e, "phi %s [ zeroinitializer, %%L%d ], [ %s, %%L%d ]", v->real, begin, special.text, rare);
    ssa bits = vec_integer(v, "sub", vec_bits(v, a), TWO_THIRDS), n = vec_integer(v, "ashr", bits, 23);
    ssa m = vec_of_bits(v, vec_integer(v, "add", vec_integer(v, "and", bits, FRACTION), TWO_THIRDS));
    n = vec_add(v, emit_value(e, "sitofp %s %s to %s", v->whole, n.text, v->real), offset);
    ssa r = vec_sub(v, m, vec_constant(v, 1)), q = vec_polynomial_by_halves(v, c, COUNT(c), r);
    /* log 2 in two parts */
    ssa high = vec_constant(v, 0x1.62e4p-1), low = vec_constant(v, 0x1.7f7d1cp-20);
    ssa rest = vec_fma(v, vec_mul(v, r, r), q, vec_mul(v, n, low));
    emit_line(e, "ret %s %s", v->real, vec_fma(v, n, high, vec_add(v, r, rest)).text);
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
