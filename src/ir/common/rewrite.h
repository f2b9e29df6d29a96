/* rewrite.h - makes a copy of a function with expressions folded: constants, indices of the form "index + constant", variables that never
 * change and stand for one of these, conditions that are decided, and the branches that they leave. What else is to change is the
 * caller's: see `settle`, and `unroll_most`. */
#ifndef UF_IR_REWRITE_H
#define UF_IR_REWRITE_H

#include "lang/lang.h"

typedef struct rewriter rewriter;
struct rewriter {
    arena *a;
    const function *f;
    /* Called with each expression of the copy, its parts first; returns what is to stand in its place, most often itself. NULL: it
     * stays. */
    node *(*settle)(rewriter *r, node *n);
    void *user;
    int unroll_most; /* loops and constructs of so many iterations are unrolled at most; 0: none are */
    int nodes_most;  /* the copy may have so many nodes; beyond, `full` is set and the copy is useless */

    /* The rewriter's own. */
    int nodes;
    bool full, failed; /* failed: no memory */
    struct rewritten_local *locals;
    struct rewritten_function *functions; /* those that callees are replaced by */
    int nfunctions;
    node nowhere; /* takes what is written when the copy has been given up */
};

/* A copy of one function, which calls what the function calls; of a tree with all functions. NULL: `full`, or no memory (failed). */
function *rewrite_function(rewriter *r, const function *f);
tree *rewrite_tree(rewriter *r, const tree *t);

/* New nodes: a constant, and variable number `index` (int64) plus a constant. */
node *rewrite_integer(rewriter *r, dtype type, int64_t value);
node *rewrite_offset(rewriter *r, int index, int64_t constant);

/* n = index + *constant, where index is a variable (its local number goes to *index), or -1 for a constant. int64 alone. */
bool node_is_offset(const node *n, int *index, int64_t *constant);

#endif
