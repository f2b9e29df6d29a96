/* forms.c - see forms.h. */
#include "ir/forall/forms.h"

#include "ir/common/nodes.h"

enum {
    UNROLL_MOST = 64,   /* iterations of one loop, or of all ranges of a construct together */
    UNROLL_NODES = 2500 /* nodes that unrolling may add */
};

/* ---- Known extents ---- */

static bool is_known(const known_extents *known, int dim, int64_t *size) {
    for (int i = 0; i < FORALL_KNOWN; i++)
        if (known->dim[i] == dim + 1) {
            *size = known->size[i];
            return true;
        }
    return false;
}

/* An extent that is known is a constant, and constant indices below it need no check. */
static node *settle_size(rewriter *r, node *n) {
    int64_t size;
    if (n->kind == N_SIZE && is_known(r->user, n->dim, &size))
        return rewrite_integer(r, (dtype)n->type, size);
    if (n->kind != N_ELEMENT || n->unchecked || !r->f->locals[n->local].core)
        return n;
    const local *l = &r->f->locals[n->local];
    bool inside = true;
    for (int d = 0; d < l->rank && inside; d++) {
        const node *i = element_index(n, l->rank, d);
        inside = i->kind == N_CONST && is_known(r->user, l->dim[d], &size) && i->value.as.u < (uint64_t)size;
    }
    n->unchecked |= inside;
    return n;
}

static rewriter rewriter_of(arena *a, const known_extents *known, int unroll_most) {
    return (rewriter){.a = a,
                      .settle = known->dim[0] ? settle_size : NULL,
                      .user = (void *)(uintptr_t)known,
                      .unroll_most = unroll_most,
                      .nodes_most = 2 * LANG_MAX_NODES};
}

const tree *forall_known(arena *a, const tree *t, const known_extents *known) {
    if (!known->dim[0])
        return t;
    rewriter r = rewriter_of(a, known, 0);
    const tree *copy = rewrite_tree(&r, t);
    return copy || r.failed ? copy : t;
}

/* ---- Forms ---- */

/* With fewer iterations unrolled if the tree would become too large; in the end it stays as it is. */
static const tree *unrolled(arena *a, const tree *t, const known_extents *known, bool *failed) {
    for (int most = t->has_loop ? UNROLL_MOST : 0; most > 1; most /= 4) {
        rewriter r = rewriter_of(a, known, most);
        const tree *copy = rewrite_tree(&r, t);
        *failed |= r.failed;
        if (copy && copy->nodes - t->nodes <= UNROLL_NODES)
            return copy;
    }
    return t;
}

bool forall_forms_make(arena *a, const tree *t, const known_extents *known, forall_forms *out) {
    bool failed = false;
    out->general = unrolled(a, t, known, &failed);
    if (failed || !interior_find(a, out->general, &out->interior))
        return false;
    out->in_interior = *out->general;
    out->in_interior.kernel = out->interior.kernel;
    return true;
}
