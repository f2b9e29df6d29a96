/* guards.h - kernels over indices on the CPU: where all of a kernel stands in an `if` without else, or it begins with one that
 * returns, points of a row for which nothing is done are left out of the loop over the row, instead of masked in it. */
#ifndef UF_IR_GUARDS_H
#define UF_IR_GUARDS_H

#include "ir/common/emit.h"

struct forall_writer;

enum {
    GUARDS_MOST = 16
};

/* A part of the condition: one index compared with what is the same for a row, or all of it the same for a row. */
typedef struct guard {
    const node *n;
    bool holds; /* what it is for the points that are left */
} guard;

typedef struct guards {
    guard of[GUARDS_MOST];
    int count;
} guards;

/* Those of a tree whose rows go along index number `last`. */
void guards_find(const tree *t, int last, guards *out);
/* Is an expression one of them? NULL: no. */
const guard *guards_get(const guards *g, const node *n);
/* Its value (i1), if it is one. */
bool guards_recall(const guards *g, const node *n, ssa *value);
/* Is all of the condition of the `if` that a kernel begins with decided by them? */
bool guards_decide(const guards *g, const node *n);
/* Has an integer one value for all points of a row? index: local number of the last index. */
bool guards_fixed(const tree *t, int index, const node *n);
/* Narrows a row from *first to *limit (i64); index[d] are set but for the last one. */
void guards_narrow(const struct forall_writer *w, const guards *g, const ssa *index, ssa *first, ssa *limit);

#endif
