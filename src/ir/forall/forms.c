/* forms.c - see forms.h. */
#include "ir/forall/forms.h"

enum {
    UNROLL_MOST = 64,   /* iterations of one loop, or of all ranges of a construct together */
    UNROLL_NODES = 2500 /* nodes that unrolling may add */
};

/* With fewer iterations unrolled if the tree would become too large; in the end it stays as it is. */
static const tree *unrolled(arena *a, const tree *t, bool *failed) {
    for (int most = t->has_loop ? UNROLL_MOST : 0; most > 1; most /= 4) {
        rewriter r = {.a = a, .unroll_most = most, .nodes_most = 2 * LANG_MAX_NODES};
        const tree *copy = rewrite_tree(&r, t);
        *failed |= r.failed;
        if (copy && copy->nodes - t->nodes <= UNROLL_NODES)
            return copy;
    }
    return t;
}

bool forall_forms_make(arena *a, const tree *t, forall_forms *out) {
    bool failed = false;
    out->general = unrolled(a, t, &failed);
    if (failed || !interior_find(a, out->general, &out->interior))
        return false;
    out->in_interior = *out->general;
    out->in_interior.kernel = out->interior.kernel;
    return true;
}
