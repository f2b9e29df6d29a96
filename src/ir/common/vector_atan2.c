/* vector_atan2.c - atan2 in vectors: the arc tangent of the smaller number by the larger one, by a polynomial of least error, and that from
 * the multiple of a right angle that the signs and sizes of both say. */
#include "ir/common/vector_forms.h"

#include <math.h>

/* atan(q), 0 <= q <= 1 */
static ssa arc(const vec *v, ssa q) {
    /* (atan(q) / q - 1) / q^2, of q^2 */
    static const double single[] = {-0x1.55553ep-2, 0x1.9991fcp-3,  -0x1.2421b2p-3, 0x1.c099e6p-4,  -0x1.583452p-4,
                                    0x1.dac91cp-5,  -0x1.fecfeap-6, 0x1.65a4e2p-7,  -0x1.d62d6ap-10};
    static const double wide[] = {
        -0x1.5555555555526p-2, 0x1.9999999995549p-3,  -0x1.249249237e278p-3,  0x1.c71c717f95228p-4,
        -0x1.745d11aaf9074p-4, 0x1.3b13667621dbbp-4,  -0x1.110e501d3a941p-4,  0x1.e1bb9b1bdb089p-5,
        -0x1.ae5e4415009aep-5, 0x1.82da436717ee9p-5,  -0x1.59a29100d38ddp-5,  0x1.2c2b993ebbf5ap-5,
        -0x1.e9f1b1eee4b55p-6, 0x1.6832f276c70bap-6,  -0x1.c77df76f53dd8p-7,  0x1.d7a0c45d47379p-8,
        -0x1.7a2148e414a0ep-9, 0x1.b3d96e4c9ea3ep-11, -0x1.3f1a295bcd378p-13, 0x1.bbc1a3eeee01dp-17};
    ssa square = vec_mul(v, q, q);
    ssa p = vec_polynomial(v, VEC_COEFFICIENTS(v, single, wide), square);
    return vec_fma(v, vec_mul(v, q, square), p, q);
}

/* a / b, 0 <= a <= b; of two zeros 0, of two infinities 1. */
static ssa share(const vec *v, ssa a, ssa b) {
    ssa q = vec_divide(v, a, b);
    return vec_select(v, vec_compare(v, "uno", q, q), vec_at_most(v, b, 1), q);
}

/* A right angle where `steep`, two where the number is to the left, else 0. */
static ssa angle(const vec *v, ssa steep, ssa left, double right_angle) {
    ssa flat = vec_select(v, left, vec_constant(v, 2 * right_angle), vec_constant(v, 0));
    return vec_select(v, steep, vec_constant(v, right_angle), flat);
}

void vec_atan2(const vec *v, const ssa *x) {
    ssa height = vec_abs(v, x[0]), width = vec_abs(v, x[1]), steep = vec_compare(v, "ogt", height, width);
    ssa p = arc(v, share(v, vec_select(v, steep, width, height), vec_select(v, steep, height, width)));
    ssa left = emit_value(v->e, "icmp slt %s %s, zeroinitializer", v->whole, vec_bits(v, x[1]).text);
    ssa back = emit_value(v->e, "xor %s %s, %s", v->flags, steep.text, left.text);
    p = vec_select(v, back, vec_negate(v, p), p);
    /* half of pi, and what it lacks */
    ssa high = angle(v, steep, left, vec_choose(v, 0x1.921fb6p+0, 0x1.921fb54442d18p+0));
    ssa low = angle(v, steep, left, vec_choose(v, -0x1.777a5cp-25, 0x1.1a62633145c07p-54));
    ssa value = vec_with_sign(v, vec_add(v, high, vec_add(v, p, low)), x[0]);
    value = vec_select(v, vec_compare(v, "uno", x[0], x[1]), vec_constant(v, NAN), value);
    emit_line(v->e, "ret %s %s", v->real, value.text);
}
