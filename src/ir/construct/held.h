/* held.h - GPU: inputs of which each thread has its part in registers (variant.gufunc.held). At its head the kernel loads all elements that
 * the thread will use, so that all loads are in flight together and memory is read once; its constructs over that dimension then have
 * no loops, and what two of them compute of the same element, the compiler computes once. */
#ifndef UF_HELD_H
#define UF_HELD_H

#include "ir/construct/construct.h"

/* What a thread has: tiles of `width` neighbours, of which number j begins at index[j] of the dimension; those of the last few that lie
 * beyond its end are the thread's first once more. Columns have a width of 1. */
struct held {
    int dimension, count, width;
    ssa index[HELD_MOST];              /* i64 */
    ssa there[HELD_MOST];              /* i1: lies it before the end? none: always */
    const ssa *value[UF_MAX_OPERANDS]; /* by operand, of all elements; NULL: it is not held */
    /* While a construct is written: its range's variable, and the tile that the first instances of the jam stand for. */
    int variable, first;
};

/* Hooks of a kernel with held operands. */
extern const body_hooks held_hooks;
/* Has the thread its part of this range's values? */
bool held_covers(const body *b, const node *range);

#endif
