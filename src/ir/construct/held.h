/* held.h - GPU: inputs of which each thread has its part in registers (variant.gufunc.held). At its head the kernel loads all elements that
 * the thread will use, so that all loads are in flight together and memory is read once; its constructs over that dimension then have
 * no loops, and what two of them compute of the same element, the compiler computes once.
 *
 * A thread may have two neighbouring calls (variant.gufunc.calls), so that elements of 16 bits are loaded and stored by words, and a warp
 * reaches whole lines of memory. The body is then written twice, for the first call and for the second. Outputs of which one forall
 * assigns all are kept until both are there. */
#ifndef UF_HELD_H
#define UF_HELD_H

#include "ir/construct/construct.h"

enum {
    HELD_CALLS = 2
};

/* What a thread has: tiles of `width` neighbours, of which number j begins at index[j] of the dimension; those of the last few that lie
 * beyond its end are the thread's first once more. Columns have a width of 1. */
struct held {
    int dimension, count, width;
    int calls, call;      /* how many, and the one that is being written */
    ssa index[HELD_MOST]; /* i64 */
    ssa there[HELD_MOST]; /* i1: lies it before the end? none: always */
    /* By call and operand: of all elements; NULL: it is not held. */
    const ssa *value[HELD_CALLS][UF_MAX_OPERANDS];
    /* By operand: the forall whose results are kept, NULL: none is; and by call their slots. */
    const node *keeps[UF_MAX_OPERANDS];
    const ssa *slot[HELD_CALLS][UF_MAX_OPERANDS];
    /* While a construct is written: that, its range's variable, and the tile that the first instances of the jam stand for. */
    const node *construct;
    int variable, first;
};

/* Hooks of a kernel with held operands. */
extern const body_hooks held_hooks;
/* Has the thread its part of this range's values? */
bool held_covers(const body *b, const node *range);
/* The value of instance i of the forall that is being written is value[i], which it assigns to an element: true if they are kept, and
 * stored later. */
bool held_keeps(body *b, const node *element, const ssa *value);

#endif
