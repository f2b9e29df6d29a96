/* rewrite.h - trees rewritten at random into others that compute the same by the kinds of nodes that texts seldom lead to: sequences
 * within expressions, calls with several results, bodies in place. Test programs are linked so that every lang_check of a test or of
 * the library's objects beside it comes here. */
#ifndef UF_TEST_REWRITE_H
#define UF_TEST_REWRITE_H

#include "lang/lang.h"

/* How many of a hundred expressions and statements lang_check rewrites in the trees that it makes; at first 0. UF_REWRITES=N has any test
 * program rewrite so many: what it computes stays the same, but not the forms of code that some tests expect. */
extern int tree_rewrites;
/* Only values become sequences, indices, extents and conditions not, and these only declare variables: what must not change the form
 * of the code. */
extern bool tree_rewrites_plainly;

/* The kinds that rewriting makes, counted since the program began: whether a test has seen what it is meant to see. */
typedef struct rewrite_counts {
    int64_t sequences, calls, inlines;
} rewrite_counts;
extern rewrite_counts tree_rewritten;

/* Rewrites a tree that lang_check has made. */
void tree_rewrite(arena *a, tree *t, int percent, uint64_t seed);

#endif
