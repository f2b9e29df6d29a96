/* lanes.h - GPU: values as 32-bit words, shuffles between the lanes of a warp, and barriers. */
#ifndef UF_LANES_H
#define UF_LANES_H

#include "ir/common/emit.h"

enum {
    LANE_WORDS = 4 /* of the widest value */
};

/* A value as 32-bit words, and back; how many words there are. */
int lanes_words(emit *e, dtype type, ssa value, ssa *words);
ssa lanes_value(emit *e, dtype type, const ssa *words);
int lanes_word_count(dtype type);
/* The lanes of this thread's group of 2^lanes neighbours, as the mask of a shuffle. */
ssa lanes_mask(emit *e, int lanes);
/* mode: "bfly", "down" or "up" by so many lanes, "idx" from that lane of the group. All lanes of the mask get there together.
 * Beyond the group's end (down) or beginning (up) a lane gets its own value. */
ssa lanes_shuffle(emit *e, const char *mode, ssa mask, dtype type, ssa value, ssa by, int lanes);

/* The lanes of the warp for which an i1 is true, as bits (i32). All of them get there. */
ssa lanes_ballot(emit *e, ssa is);

/* Waits for all threads of the block, or for the lanes of a warp in the mask (i32). All of them get there. */
void emit_block_barrier(emit *e);
void emit_warp_barrier(emit *e, ssa mask);
/* What the thread has written so far is seen by all threads of the device before what it writes behind this, and likewise what it reads. */
void emit_device_fence(emit *e);

#endif
