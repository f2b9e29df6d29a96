/* held.h - GPU: inputs of which each thread has its part in registers (variant.gufunc.held). At its head the kernel loads all elements that
 * the thread will use, so that all loads are in flight together and memory is read once; its constructs over that dimension then have
 * no loops, and what two of them compute of the same element, the compiler computes once.
 *
 * Of rows that blocks share, a thread may have the first vectors of its block's piece alone, while the others are in shared memory
 * (variant_holds_part): constructs take those first, and then loop over these.
 *
 * A thread may have two neighbouring calls (variant.gufunc.calls), so that elements of 16 bits are loaded and stored by words, and a warp
 * reaches whole lines of memory. Each statement is then written for the first call and for the second. A forall that assigns all of an
 * output goes through both calls' elements together, and stores those of both at once. */
#ifndef UF_HELD_H
#define UF_HELD_H

#include "ir/construct/partial.h"

enum {
    HELD_CALLS = 2
};

/* What a thread has: tiles of `width` neighbours, of which number j begins at index[j] of the dimension; those of the last few that lie
 * beyond its end are the thread's first once more. Columns have a width of 1. Of rows that begin anywhere a thread has one of the elements
 * that are in no tile, too, as number `count`; or else the first of its tiles' elements. */
struct held {
    int dimension, count, width;
    int apart; /* elements from where one tile begins to where the next one does */
    int calls;
    bool ends;                /* there are elements in no tile */
    ssa index[HELD_MOST + 1]; /* i64 */
    ssa there[HELD_MOST + 1]; /* i1: lies it before the end? none: always */
    /* By call and operand: of all elements; NULL: it is not held. */
    ssa *value[HELD_CALLS][UF_MAX_OPERANDS];
    /* By operand, while a construct is written: of the tiles that are visited, where the operand is broadcast; else NULL. */
    const ssa *broadcast[UF_MAX_OPERANDS];
    /* i32: the elements of tiles, of 16 bits each, two and two, or those of two calls; NULL: they are not packed. */
    ssa *word[UF_MAX_OPERANDS];
    const node *keeps[UF_MAX_OPERANDS]; /* by output: the forall that assigns all of it; NULL: there is none */
    /* While a construct is written: that, if it is such a forall; its range's variable, and the tile that the first instances of the
     * jam stand for; by call and output, what the forall assigns these. */
    const node *construct;
    int variable, first;
    const ssa *assigned[HELD_CALLS][UF_MAX_OPERANDS];
};

/* Hooks of a kernel with held operands. */
extern const body_hooks held_hooks;
/* Has the thread its part of this range's values? */
bool held_covers(const body *b, const node *range);
/* A construct takes tiles first, first + 1 .., so many: their elements are taken out of words anew, so that the thread keeps no more than
 * these, whatever another construct made of the elements. */
void held_unpack(body *b, int first, int tiles);
/* Calls write for `tiles` tiles of a construct: for each call, if it is a forall that goes through both calls' elements together. */
void held_each_call(body *b, const node *construct, int tiles, void (*write)(body *b, void *user), void *user);
/* Finds what the thread has of a reduction. */
typedef void held_part(body *b, partial *p);
/* A reduction that stands in no construct: its value for the call that is being written. Where the statement allows it, the value for the
 * second call is found with the first one's. */
ssa held_reduce(body *b, const node *reduce, held_part *of_thread);
/* The value of instance i of the forall that is being written is value[i], which it assigns to an element: true if it is stored later. */
bool held_keeps(body *b, const node *element, const ssa *value);

#endif
