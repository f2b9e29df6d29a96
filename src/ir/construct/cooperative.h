/* cooperative.h - GPU: barriers of a cooperative group, that is, of the threads that compute one inner call together, and reductions over
 * it. All threads of the group (or all lanes of a row) must get to each call of what is written here. */
#ifndef UF_COOP_H
#define UF_COOP_H

#include "ir/construct/partial.h"

enum {
    COOP_CALLS = 2 /* of a thread, whose partials are combined together */
};

/* To be written once, at the head of a kernel with COOP_GRID: clears the block's counters of meetings. */
void coop_grid_begin(emit *e);
/* Clusters: a block may write to another one's memory once that has begun, and is ready to count what comes. Each block says that it is,
 * and waits for the others before the first reduction. */
void coop_cluster_arrive(emit *e);
void coop_cluster_wait(emit *e);
/* Waits for all threads of the group; what they have stored is then visible to all of them. */
void coop_barrier(body *b);
/* Threads of a block of a COOP_GRID group or a cluster with pieces, and the number (i64) of this one in its block. */
int coop_threads(const variant *v);
ssa coop_thread(body *b);
/* The threads of a group, i64: a constant, unless the launch says how many blocks there are to a call. */
ssa coop_size(const variant *v);
/* Do threads copy to shared memory by accesses whose end they wait for (coop_copies_wait)? */
bool coop_copies_async(const emit *e);
void coop_copies_wait(emit *e);
/* Combines the partials of the threads of the group, by one exchange of those of all of a thread's calls where shared memory has room for
 * that; all threads get the same bits. */
void coop_reduce(body *b, int calls, partial *p);

#endif
