/* rotation.c - see rotation.h. */
#include "ir/gufunc/rotation.h"

#include <math.h>

enum {
    HERMITIAN_MIN = 40 /* log2 of the scale over what counts as nothing beside the diagonal, without the rounding's */
};

/* a > b, and c > d. */
static ssa exceed(const num_kind *of, ssa a, ssa b, ssa c, ssa d) {
    return emit_op(of->e, "and i1", part_binary(of, OP_GT, a, b), part_binary(of, OP_GT, c, d));
}

ssa rotation_counts_hermitian(const num_kind *of, const rotated_pair *p) {
    const num_precision *k = num_precision_of(of);
    ssa square = part_binary(of, OP_MUL, p->r, p->r);
    ssa least = part_binary(of, OP_MUL, num_constant(of, k->epsilon * k->epsilon), part_magnitude(of, p->x));
    least = part_binary(of, OP_MUL, least, part_magnitude(of, p->y));
    return exceed(of, square, least, p->r, num_constant(of, ldexp(k->epsilon, k->scale - HERMITIAN_MIN)));
}

ssa rotation_counts(const num_kind *of, const rotated_pair *p, ssa norm, ssa other) {
    const num_precision *k = num_precision_of(of);
    ssa least = part_binary(of, OP_MUL, part_binary(of, OP_MUL, num_constant(of, 4 * k->epsilon), norm), other);
    return exceed(of, p->r, least, p->r, num_constant(of, k->tiny));
}

/* With 1 / (2 theta) for the tangent where a square would overflow. */
rotation_angle rotation_of_pair(const num_kind *of, const rotated_pair *p) {
    ssa one = num_constant(of, 1), twice = part_binary(of, OP_ADD, p->r, p->r);
    ssa theta = part_binary(of, OP_MUL, part_binary(of, OP_SUB, p->y, p->x), part_inverse(of, twice));
    ssa size = part_magnitude(of, theta), large = part_binary(of, OP_GT, size, num_constant(of, 0x1p30));
    ssa square = part_fused(of, size, size, one);
    ssa secant = part_select(of, large, size, part_binary(of, OP_MUL, square, part_inverse_root(of, square)));
    ssa t = part_signed_as(of, part_inverse(of, part_binary(of, OP_ADD, size, secant)), theta);
    return (rotation_angle){.tangent = t, .cosine = part_inverse_root(of, part_fused(of, t, t, one))};
}

num rotation_along(const num_kind *of, const rotated_pair *p, ssa length) {
    if (of->parts == 1)
        return (num){{part_binary(of, OP_MUL, length, part_signed_as(of, num_constant(of, 1), p->z.part[0]))}};
    return num_scaled(of, p->z, part_binary(of, OP_MUL, length, part_inverse(of, p->r)));
}

void rotation_turn(const num_kind *of, const rotation *r, bool adjoint, num *p, num *q) {
    num sine = adjoint ? num_conjugate(of, r->sine) : r->sine, first = *p;
    *p = num_fused(of, num_conjugate(of, sine), *q, num_scaled(of, first, r->cosine));
    *q = num_fused(of, num_negated(of, sine), first, num_scaled(of, *q, r->cosine));
}
