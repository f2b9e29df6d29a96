/* cooperative.h - GPU: barriers of a cooperative group, that is, of the threads that compute one inner call together, and reductions over
 * it. All threads of the group (or all lanes of a row) must get to each call of what is written here. */
#ifndef UF_COOP_H
#define UF_COOP_H

#include "ir/construct/construct.h"

enum {
    COOP_VALUES = 2 /* of a thread, that are combined together */
};

/* To be written once, at the head of a kernel with COOP_GRID: clears the block's counters of meetings. */
void coop_grid_begin(emit *e);
/* Clusters: a block may write to another one's memory once that has begun, and is ready to count what comes. Each block says that it is,
 * and waits for the others before the first reduction. */
void coop_cluster_arrive(emit *e);
void coop_cluster_wait(emit *e);
/* Waits for all threads of the group; what they have stored is then visible to all of them. */
void coop_barrier(body *b);
/* Combines the threads' values over the group, or over 2^lanes neighbours of a warp; all threads get the same bits. *present, i1: does
 * the thread have a value? none where the reduction has an identity. */
void coop_reduce(body *b, const node *reduce, ssa *value, ssa *present);
/* The same of the values of a thread's several calls, by one exchange. */
void coop_reduce_calls(body *b, const node *reduce, int calls, ssa *value, ssa *present);
void lanes_reduce(body *b, const node *reduce, int lanes, ssa *value, ssa *present);
/* This thread's number among 2^lanes neighbours, i64. */
ssa coop_lane(body *b, int lanes);

#endif
