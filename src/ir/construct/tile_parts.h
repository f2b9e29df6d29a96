/* tile_parts.h - GPU: a reduction whose terms are shared out among several blocks, its parts, each of which has values of many results. Each
 * block leaves its values in memory; the last one of PARTS_JOINED to come combines theirs in the order of the parts, and so on with what
 * these have, so that no block waits, and the result is the same whichever comes last. */
#ifndef UF_TILE_PARTS_H
#define UF_TILE_PARTS_H

#include "ir/construct/construct.h"

typedef struct tile_parts {
    ssa number; /* i64: of these results among all that the launch has, for which there is memory at %slot (type/tile.h) */
    int parts;
    ssa part;    /* i64: which is this block's */
    int threads; /* of the block */
    ssa thread;  /* i64 */
} tile_parts;

/* Combines the accumulators of all parts. What follows, up to the label that is returned, is for the block that has the results. All
 * threads of the block must get here. */
int tile_parts_join(body *b, const tile_parts *p, const node *reduce, const accumulator *all, int count);

#endif
