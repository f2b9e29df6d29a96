/* cooperative group.h - threads that compute one inner call together (GPU): what they share and where they meet. Everything here is
 * reached by all threads of the cooperative group, or of the row's lanes, together. */
#ifndef UF_COOP_H
#define UF_COOP_H

#include "ir/construct/construct.h"

/* COOP_GRID: once at the head of the kernel. */
void coop_grid_begin(emit *e);
/* Waits for the cooperative group; what its threads have stored is then seen by all of them. */
void coop_barrier(body *b);
/* Every thread's value (and, where the reduction has no identity, whether it has one) combined over the cooperative group, or over
 * 2^lanes neighbours of a warp; all get the same bits. */
void coop_reduce(body *b, const node *reduce, ssa *value, ssa *present);
void lanes_reduce(body *b, const node *reduce, int lanes, ssa *value, ssa *present);
/* This thread's number among 2^lanes neighbours, i64. */
ssa coop_lane(body *b, int lanes);

#endif
