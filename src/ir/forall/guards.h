/* guards.h - CPU, kernels over indices: where the whole kernel stands in an `if` without else, or begins with an `if` that returns, the
 * points of a row for which it does nothing are left out of the loop over the row, rather than masked in it. */
#ifndef UF_IR_GUARDS_H
#define UF_IR_GUARDS_H

#include "ir/common/emit.h"

struct forall_writer;

enum {
    GUARDS_MOST = 16
};

/* A comparison in the condition: of the last index with a value that is the same for a row, or of two such values. */
typedef struct guard {
    const node *n;
    bool holds; /* its value for the points that stay in the loop */
} guard;

typedef struct guards {
    guard of[GUARDS_MOST];
    int count;
} guards;

/* Finds the guards of a tree whose rows go along index number `last`. */
void guards_find(const tree *t, int last, guards *out);
/* The guard that an expression is, or NULL. */
const guard *guards_get(const guards *g, const node *n);
/* Its value (i1), if it is one. */
bool guards_recall(const guards *g, const node *n, ssa *value);
/* Do the guards decide the whole condition of the `if` that a kernel begins with? */
bool guards_decide(const guards *g, const node *n);
/* Has an integer expression the same value for all points of a row? index: local number of the last index. */
bool guards_fixed(const tree *t, int index, const node *n);
/* Narrows the part *first .. *limit - 1 (i64) of a row to the points that stay; index[d] must be set for all indices but the last. */
void guards_narrow(const struct forall_writer *w, const guards *g, const ssa *index, ssa *first, ssa *limit);

#endif
