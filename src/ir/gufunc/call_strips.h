/* call_strips.h - CPU: inner calls that lie side by side, a strip of them at a time: each construct goes over all calls of the strip before the
 * next construct begins, and its innermost loop goes over the calls, as vectors (gufunc.strips). Operands that are rows (`staged`) are copied so that
 * calls lie side by side. */
#ifndef UF_CALL_STRIPS_H
#define UF_CALL_STRIPS_H

#include "ir/gufunc/gufunc.h"

/* May the kernel be computed so? It has no other statements than declarations and assignments of numbers, and foralls. */
bool call_strips_fit(const tree *t);
/* Do terms of reductions call functions that libmvec has for vectors? */
bool call_strips_vectored(const tree *t);
/* The kernel for a strip: operands of which calls lie side by side (`unit` is 1 + their rank) have one more core dimension, the calls, which is the last
 * of the layout's. NULL: no memory. */
tree *call_strips_lift(arena *a, const tree *t, const variant *v);
/* frame.strip_lanes: those of the widest elements, unless vectors have conditions for their lanes that take no time. */
int call_strips_lanes(const variant *v, const code_target *t);
/* Writes `extent` (i64) calls, of the first of which the operands are at `row`. stride: of neighbouring calls, by operand, in elements (i64). */
void call_strips_row(gufunc_writer *w, const ssa *row, const ssa *stride, ssa extent);

#endif
