/* segments.h - segments of which several blocks of a GPU have a part each (variant.fold.split): what generated code and those who launch it
 * agree on. A kernel is then launched twice. Blocks of the first launch leave segments of more than GPU_FOLD_SPLIT elements to the second one, in
 * the memory at GPU_FOLD_LIST, which is 0 before, as long as that has room. Number i of them has the result number SPLIT_INDEX[i], and its
 * parts the places from SPLIT_BASE[i] - 1 on; parts that blocks are done with are counted in SPLIT_DONE[i]. */
#ifndef UF_SEGMENTS_H
#define UF_SEGMENTS_H

#include "type/kernel.h"
#include "ufunc.h"

enum {
    SPLIT_SEGMENTS = 1 << COOP_SEGMENTS, /* that there is room for; segments which do not overlap are fewer */
    SPLIT_PARTS = 1 << COOP_SEGMENTS,    /* of a segment, at most: a thread of a block has the partial of each */
    SPLIT_PLACES = SPLIT_PARTS + SPLIT_SEGMENTS, /* that there is room for, likewise */

    /* Offsets in bytes of int64: first how many segments there are, and in its high half how many parts. */
    SPLIT_INDEX = 16,
    SPLIT_BASE = SPLIT_INDEX + 8 * SPLIT_SEGMENTS,
    SPLIT_DONE = SPLIT_BASE + 8 * SPLIT_SEGMENTS,
    /* The partials of places, value by value: each value has SPLIT_PLACES elements. Behind them a byte for each, whether it is there. */
    SPLIT_VALUES = SPLIT_DONE + 8 * SPLIT_SEGMENTS,
    SPLIT_STATE = UF_MAX_STATE + 1, /* values of a partial, at most, of 16 bytes */
    SPLIT_BYTES = SPLIT_VALUES + SPLIT_PLACES * (16 * SPLIT_STATE + 1)
};

#endif
