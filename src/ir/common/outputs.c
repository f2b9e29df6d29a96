/* outputs.c - which elements of their outputs kernels assign. */
#include "ir/common/nodes.h"

/* Is element n, over all iterations of the forall, every element of its output? */
static bool runs_over(const function *f, const node *forall, const node *n) {
    const local *l = &f->locals[n->local];
    int ranges = 0;
    for (const node *r = forall->args; r; r = r->next)
        ranges++;
    if (ranges != l->rank)
        return false;
    for (int d = 0; d < l->rank; d++) {
        const node *i = element_index(n, l->rank, d), *r = forall->args;
        while (r && !(i->kind == N_LOCAL && r->local == i->local))
            r = r->next;
        if (!r)
            return false;
        const node *limit = r->kid[0];
        bool same = limit->kind == N_SIZE && limit->dim == l->dim[d];
        if (!same && !(limit->kind == N_CONST && l->extent[d] >= 0 && limit->value.as.i == l->extent[d]))
            return false;
        for (int other = 0; other < d; other++)
            if (element_index(n, l->rank, other)->local == i->local)
                return false;
    }
    return true;
}

static bool list_assigns(const function *f, const node *list, int k, const node *forall) {
    for (const node *n = list; n; n = n->next) {
        if (n->kind == N_RETURN)
            return false;
        if (node_is_block(n) && list_assigns(f, n->body, k, forall))
            return true;
        if (n->kind == N_FORALL && !forall && list_assigns(f, n->body, k, n))
            return true;
        if (n->kind != N_EVAL || n->kid[0]->kind != N_ASSIGN || !forall)
            continue;
        const node *to = n->kid[0]->kid[0];
        if (to->kind == N_ELEMENT && to->local == k && runs_over(f, forall, to))
            return true;
    }
    return false;
}

bool forall_assigns(const function *f, const node *forall, int k) { return list_assigns(f, forall->body, k, forall); }

bool reads_or_leaves(const node *n, int k) {
    for (; n; n = n->next) {
        const node *to = n->kind == N_ASSIGN ? n->kid[0] : NULL;
        if (n->kind == N_RETURN || (n->kind == N_ELEMENT && n->local == k))
            return true;
        for (int i = 0; i < 3; i++)
            if (reads_or_leaves(to ? to->kid[i] : NULL, k) || (!(to && i == 0) && reads_or_leaves(n->kid[i], k)))
                return true;
        if (reads_or_leaves(to ? to->args : NULL, k) || reads_or_leaves(n->args, k) || reads_or_leaves(n->body, k) ||
            reads_or_leaves(n->other, k) || reads_or_leaves(n->step, k))
            return true;
    }
    return false;
}

bool needs_content(const function *f, int k) {
    return reads_or_leaves(f->body, k) || !list_assigns(f, f->body, k, NULL);
}
