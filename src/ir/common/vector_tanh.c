/* vector_tanh.c - tanh in vectors: s / (s + 2), where s is e^(2x) - 1, which has all its bits also near 0. x is taken with the sign of which
 * less is lost: negative where it is small, as s + 2 is then below 2, which leaves it a bit more, and positive elsewhere. float64
 * is put right by what its rounded quotient leaves, so that 1 unit in the last place remains of 2; of float32 there is no time for that. */
#include "ir/common/vector_forms.h"

/* s / (s + 2). The quotient of rounded numbers is put right by what it leaves, in float64. */
static ssa share(const vec *v, vec_two s) {
    ssa two = vec_constant(v, 2), under = vec_add(v, s.high, two), q = vec_divide(v, s.high, under);
    if (v->type == DT_FLOAT32)
        return q;
    ssa rest = vec_add(v, vec_sub(v, s.high, vec_sub(v, under, two)), s.low), minus = vec_negate(v, q);
    ssa left = vec_fma(v, minus, rest, vec_fma(v, minus, under, s.high));
    return vec_fma(v, vec_add(v, left, s.low), vec_rough_inverse(v, under), q);
}

void vec_tanh(const vec *v, const ssa *x) {
    /* (e^r - 1 - r) / r^2 */
    static const double single[] = {0x1p-1, 0x1.55571p-3, 0x1.55575p-5};
    static const double wide[] = {0x1.0000000000003p-1, 0x1.5555555555559p-3,  0x1.55555554a67d5p-5,
                                  0x1.111111108ae4bp-7, 0x1.6c18264399e1ep-10, 0x1.a01b900fc0674p-13};
    ssa a = vec_at_most(v, vec_abs(v, x[0]), vec_choose(v, 10, 22)); /* from there on the result is 1 */
    a = vec_select(v, vec_compare(v, "olt", a, vec_constant(v, 0.2)), vec_negate(v, a), a);
    vec_reduced d = vec_reduce(v, a, 2);
    vec_two p = vec_expm1_of(v, d, true, VEC_COEFFICIENTS(v, single, wide));
    ssa power = vec_power_of(v, d.index), above = vec_sub(v, power, vec_constant(v, 1));
    ssa high = vec_fma(v, power, p.high, above);
    ssa low = vec_fma(v, power, p.low, vec_fma(v, power, p.high, vec_sub(v, above, high)));
    emit_line(v->e, "ret %s %s", v->real, vec_with_sign(v, share(v, (vec_two){high, low}), x[0]).text);
}
