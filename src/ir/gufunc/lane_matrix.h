/* lane_matrix.h - GPU: what the files share that compute a form of LAPACK by the lanes of a group, neighbours in a warp, which have a matrix
 * in their registers: what one lane tells the others, loops whose steps hand on many values, and elements of core operands. */
#ifndef UF_LANE_MATRIX_H
#define UF_LANE_MATRIX_H

#include "ir/gufunc/gufunc.h"
#include "ir/gufunc/num.h"

/* ---- Lanes: all of the warp get there together. ---- */

/* The value that the lane with that number in the group (i32) has. */
ssa lane_told(const gufunc_writer *w, dtype type, ssa value, ssa lane);
num lane_told_num(const gufunc_writer *w, const num_kind *of, num x, ssa lane);
/* For which lanes of the group is that true, and of the warp, as bits (i32)? A block's group are its warps' lanes, each warp's by itself. */
ssa lane_ballot(const gufunc_writer *w, ssa is);
ssa lane_ballot_of_warp(const gufunc_writer *w, ssa is);
/* The largest of the group's (i32). */
ssa lane_largest(const gufunc_writer *w, ssa x);

/* The sum of the group's, in all of its lanes. */
num lane_sum(const gufunc_writer *w, const num_kind *of, num x);

/* ---- Loops ---- */

/* A loop that carries values from each step to the next: between begin and end these stand for those of the step, and behind it for the last
 * ones. `while` comes first in the loop: its condition (i1) is for the step to come. */
typedef struct carried {
    ssa *at, name;
    const char *type;
    ssa before;
} carried;
typedef struct carrying_loop {
    emit *e;
    carried *list;
    int n, most;
    int before, head, step, after; /* labels */
    size_t phis;                   /* where they go, in the text */
} carrying_loop;
carrying_loop carrying_loop_new(emit *e, int most);
void carry(carrying_loop *l, ssa *at, const char *type); /* unless it is none */
void carry_num(carrying_loop *l, const num_kind *of, num *x);
void carrying_loop_begin(carrying_loop *l);
void carrying_loop_while(carrying_loop *l, ssa condition);
void carrying_loop_end(carrying_loop *l);

/* ---- Core operands: k is one of them, d one of its core dimensions. ---- */

int64_t matrix_extent(const gufunc_writer *w, int k, int d);
ssa matrix_offset(const gufunc_writer *w, ssa x, int k, int d); /* x (i64) times the stride, in elements */
ssa matrix_moved(const gufunc_writer *w, int k, ssa pointer, ssa offset);
/* The address of element t (constant) along the dimension, if the first one is there; *last: that of t - 1, then of t. */
ssa matrix_element(const gufunc_writer *w, int k, int d, ssa first, int t, ssa *last);
/* An element, converted to the operand's dtype in value, and back. */
num matrix_load(const gufunc_writer *w, int k, ssa pointer);
void matrix_store(const gufunc_writer *w, int k, ssa pointer, num x);
/* Element t of the column with that number (i32) of a Hermitian matrix, operand 0, of which what is above the diagonal is not read: the
 * conjugate of what is below it. own: the number; column, row: where those with it begin; last: of both. */
num matrix_load_hermitian(const gufunc_writer *w, ssa own, int t, ssa column, ssa row, ssa *last);
/* ---- Exponents ---- */

/* What was taken out of a matrix: the factors that put it back into results, which make NaN of these if an element is not finite, and those that
 * took it out; whether all elements are finite (i1). */
typedef struct matrix_scale {
    num_factors back, out;
    ssa finite;
} matrix_scale;
/* The same from the largest part_size of all elements. */
matrix_scale matrix_scale_of(const num_kind *of, ssa largest);
/* Takes the exponent of the largest element out of a matrix of which each lane of the group has n elements, x. */
matrix_scale matrix_take_exponent(const gufunc_writer *w, const num_kind *of, num *x, int n);

#endif
