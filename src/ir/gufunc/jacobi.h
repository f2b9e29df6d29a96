/* jacobi.h - GPU: the singular values of a matrix, or the eigenvalues of a Hermitian one, in the lanes of a group, for what makes results of
 * them. See jacobi.c. */
#ifndef UF_JACOBI_H
#define UF_JACOBI_H

#include "ir/gufunc/lane_matrix.h"

/* The columns that a lane's meets in the steps of even columns or of odd ones. */
typedef struct meeting {
    ssa partner; /* its number (i32), the lane's own where there is none */
    ssa low;     /* the lesser of the two */
    ssa first;   /* i1: that is this lane */
    ssa any;     /* i1: there is a partner */
} meeting;

typedef struct jacobi {
    gufunc_writer *w;
    emit *e;
    bool hermitian;
    bool wide; /* the matrix has more columns than rows: it is its adjoint whose columns the lanes have */
    num_kind of;
    const num_precision *precision;
    int rows, n; /* of what the lanes have */
    ssa lane, exists;
    matrix_scale scale;
    meeting meets[2];
    /* What steps change. */
    ssa step, sweep, pass;            /* i32 */
    ssa active;                       /* i1: this matrix is not done */
    ssa rotated;                      /* i1: something was rotated in this sweep */
    ssa diagonal;                     /* of a Hermitian matrix; its place in the column is 0 */
    ssa flags;                        /* i32, of the column: FILLED, NEGATED */
    num x[2 * JACOBI_N], v[JACOBI_N]; /* the column; the row of the product */
    /* Results: how the columns are ordered, and what they have. */
    ssa value; /* of the lane's column */
    ssa rank;  /* its place among the results (i32) */
    ssa unit;  /* what makes its norm 1 */
} jacobi;

/* Rotates the matrix of one call, operand 0, whose operands are at w->at; all lanes of the warp get there together. */
jacobi *jacobi_rotate(gufunc_writer *w);
/* Stores the lane's value as an element of operand k. */
void jacobi_store_value(const jacobi *j, int k);

#endif
