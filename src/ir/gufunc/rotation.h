/* rotation.h - GPU: the rotations of two columns of a matrix that make them orthogonal, or of a Hermitian matrix of two rows diagonal, which
 * is the same of their products with each other (G. H. Golub and C. F. Van Loan, Matrix Computations). */
#ifndef UF_ROTATION_H
#define UF_ROTATION_H

#include "ir/gufunc/num.h"

/* What is rotated: the elements x and y on the diagonal of a matrix of two rows, z beside them, and its absolute value. */
typedef struct rotated_pair {
    ssa x, y, r;
    num z;
} rotated_pair;

enum {
    ROTATION_SWEEPS = 40 /* through all pairs, at most; matrices of numbers take 5 to 11 */
};

/* Is what is beside the diagonal more than nothing (i1)? Of a Hermitian matrix whose exponent was taken out (num_precision.scale), and of the
 * products of two columns that have these norms. */
ssa rotation_counts_hermitian(const num_kind *of, const rotated_pair *p);
ssa rotation_counts(const num_kind *of, const rotated_pair *p, ssa norm, ssa other);

/* The lesser angle that makes z nothing: its tangent, by whose product with r y grows and x becomes less, and its cosine. */
typedef struct rotation_angle {
    ssa tangent, cosine;
} rotation_angle;
rotation_angle rotation_of_pair(const num_kind *of, const rotated_pair *p);
/* z / |z| times a number. */
num rotation_along(const num_kind *of, const rotated_pair *p, ssa length);

/* What columns p, q become: p' = cosine p + conj(sine) q, q' = cosine q - sine p. */
typedef struct rotation {
    ssa cosine;
    num sine;
} rotation;
/* An element of each of them, or with `adjoint` of rows p, q. */
void rotation_turn(const num_kind *of, const rotation *r, bool adjoint, num *p, num *q);

#endif
