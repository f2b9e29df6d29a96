/* vector_pow.c - x^y in vectors: 2^(y log2 |x|), where the logarithm and the product are sums of two numbers, so that all bits are left of
 * the power. Exact cases and special values are those of C's pow: a vector that has none takes a short way, on which elements come out
 * as on the long one. */
#include "ir/common/vector_forms.h"

#include <math.h>

/* y times a logarithm. */
static vec_two times(const vec *v, ssa y, vec_two l) {
    ssa high = vec_mul(v, y, l.high);
    return (vec_two){high, vec_fma(v, y, l.low, vec_fma(v, y, l.high, vec_negate(v, high)))};
}

/* Is an exponent, which may be infinite or NaN, no larger than that? */
static ssa is_below(const vec *v, ssa exponent, double most) {
    return vec_compare(v, "ole", vec_abs(v, exponent), vec_constant(v, most));
}

/* Are all x above 0, and all powers normal numbers? t.low is at most 2. */
static ssa is_plain(const vec *v, ssa x, vec_two t) {
    ssa positive = emit_value(v->e, "icmp sgt %s %s, zeroinitializer", v->whole, vec_bits(v, x).text);
    return vec_and(v, positive, is_below(v, t.high, vec_choose(v, 124, 1020)));
}

/* |x|^y of all numbers, but for those whose power is 1 whatever the other is. */
static ssa any_power(const vec *v, vec_two t, ssa shifted) {
    double most = vec_choose(v, 160, 1100); /* beyond it powers are infinite, or 0 */
    ssa inside = is_below(v, t.high, most);
    t.low = vec_select(v, inside, t.low, vec_constant(v, 0));
    t.high = vec_clamp(v, t.high, -most, most);
    shifted = vec_select(v, inside, shifted, vec_add(v, t.high, vec_to_sixteenths(v)));
    return vec_exp2_of(v, t, shifted, false);
}

static ssa is_whole(const vec *v, ssa x) { return vec_compare(v, "oeq", vec_rint(v, x), x); }

/* The power of a negative number: minus it where the exponent is odd, NaN where it is no integer. */
static ssa with_sign(const vec *v, ssa power, ssa x, ssa y) {
    ssa whole = is_whole(v, y), zero = vec_constant(v, 0);
    ssa odd = vec_and(v, whole, vec_not(v, is_whole(v, vec_mul(v, y, vec_constant(v, 0.5)))));
    ssa turned = vec_with_sign(v, power, vec_select(v, odd, x, zero));
    ssa none = vec_and(v, vec_compare(v, "olt", x, zero), vec_compare(v, "ogt", x, vec_constant(v, -INFINITY)));
    return vec_select(v, vec_and(v, none, vec_not(v, whole)), vec_constant(v, NAN), turned);
}

/* Is the power 1 whatever else the operands are? */
static ssa is_one(const vec *v, ssa x, ssa y) {
    ssa one = vec_constant(v, 1), plain = vec_compare(v, "oeq", y, vec_constant(v, 0));
    ssa unit = vec_compare(v, "oeq", vec_abs(v, x), one);
    unit = vec_and(v, unit, vec_compare(v, "oeq", vec_abs(v, y), vec_constant(v, INFINITY)));
    return vec_or(v, vec_or(v, plain, vec_compare(v, "oeq", x, one)), unit);
}

void vec_pow(const vec *v, const ssa *x) {
    emit *e = v->e;
    vec_logarithm l = vec_log2_of(v, x[0]);
    vec_two t = times(v, x[1], l.sum);
    ssa shifted = vec_fma(v, x[1], l.near, vec_to_sixteenths(v));
    int plain = emit_label_new(e), any = emit_label_new(e);
    emit_branch_if(e, vec_any_false(v, is_plain(v, x[0], t)), any, plain);
    emit_label(e, plain);
    emit_line(e, "ret %s %s", v->real, vec_exp2_of(v, t, shifted, true).text);
    emit_label(e, any);
    ssa power = with_sign(v, any_power(v, t, shifted), x[0], x[1]);
    ssa value = vec_select(v, is_one(v, x[0], x[1]), vec_constant(v, 1), power);
    emit_line(e, "ret %s %s", v->real, value.text);
}
