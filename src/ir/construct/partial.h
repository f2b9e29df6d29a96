/* partial.h - GPU: what a thread, a warp or a block has of a reduction that a cooperative group computes, how two of these are combined, and
 * how they go through memory. A partial may be that of two reductions which are found together (online.h). */
#ifndef UF_IR_PARTIAL_H
#define UF_IR_PARTIAL_H

#include "ir/common/lanes.h"
#include "ir/construct/construct.h"
#include "ir/construct/online.h"

enum {
    PARTIAL_WORDS = COOP_ENTRY /* at most: three of a real number, or a complex one and whether it is there */
};

typedef struct partial {
    const node *reduce;
    ssa value, present;   /* present: i1, is there a value? none where the reduction has an identity */
    const online *online; /* NULL: it is that of one reduction */
    ssa second;           /* the second one's value, as it follows from `value`, .. */
    ssa count;            /* .. which is of so many terms, where online->counted */
} partial;

/* A partial as 32-bit words; sets one to what such words are; how many there are. */
int partial_words(emit *e, const partial *p, ssa *words);
void partial_read(emit *e, partial *p, const ssa *words);
int partial_word_count(const partial *p);

/* Combines those of 2^lanes neighbouring lanes of a warp: all of them get the same bits. */
void partial_reduce(body *b, int lanes, partial *p);
/* Combines `count` of them, in order. */
partial partial_gather(body *b, const partial *all, int count);
/* When all are combined. */
void partial_finish(body *b, partial *p);

/* The same in a loop: begin with nothing, join one after the other. */
typedef struct partial_accumulator {
    partial like;
    accumulator first, second, count;
} partial_accumulator;
partial_accumulator partial_begin(body *b, const partial *like);
void partial_join(body *b, const partial_accumulator *all, const partial *p);
partial partial_end(body *b, const partial_accumulator *all); /* what it is now */
void partial_set(body *b, const partial_accumulator *all, const partial *p);
/* Corrects the second one's value, which followed from what `before` is, for what *p is now. */
void partial_correct(body *b, partial *p, const partial *before);

/* A value over 2^lanes neighbours of a warp; all threads get the same bits. */
void lanes_reduce(body *b, const node *reduce, int lanes, ssa *value, ssa *present);
/* This thread's number in the block, i32; among 2^lanes neighbours, i64. */
ssa lanes_thread(emit *e);
ssa coop_lane(body *b, int lanes);

#endif
