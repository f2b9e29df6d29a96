/* shared_tile.h - GPU: a forall of two ranges around one reduction whose operands are used again, as in a product of matrices. A block
 * computes a tile of the forall at a time, and passes over the reduction in slices: it copies what the tile needs of a slice into
 * shared memory, and each thread then reads there what its outputs need. */
#ifndef UF_SHARED_TILE_H
#define UF_SHARED_TILE_H

#include "ir/construct/unroll_jam.h"

enum {
    SHARED_TILE_INSTANCES = 64 /* outputs of a thread */
};

typedef struct shared_tile shared_tile;

/* Opens the loop over the block's tiles, and a jam of the thread's outputs in one of them. Past the last row or column they repeat it.
 * *reduce: the reduction, whose values, by instance, are returned. All threads of the block must get here. */
shared_tile *shared_tile_begin(body *b, const node *forall, const node **reduce, ssa **value);
void shared_tile_end(body *b, shared_tile *t);

#endif
