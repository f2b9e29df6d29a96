/* apart.c - CPU: loops along which elements of a core operand lie a stride apart that is known only when the code runs. LLVM would make
 * a vector loop of them for the stride 1, and choose between that and the loop of single elements. But the variant says along which
 * dimension the stride is 1, and there the stride is a constant: along others the vector loop would never run. */
#include "ir/common/nodes.h"
#include "ir/construct/construct.h"
#include "ir/construct/unroll_jam.h"

typedef struct walk {
    const body *b;
    const node *construct;
    int last; /* the variable of the innermost loop */
    bool apart;
} walk;

typedef struct change {
    int local;
    bool found;
} change;

static void find_change(const node *n, void *user) {
    change *c = user;
    const node *to = n->kind == N_DECLARE ? n : node_assigned(n);
    for (; to; to = n->kind == N_DECLARE ? NULL : to->next)
        c->found |= to->local == c->local;
}

/* Is it the same in all iterations? */
static bool stays(const walk *w, const node *n) {
    if (n->kind == N_CONST || n->kind == N_SIZE)
        return true;
    if (n->kind == N_BINARY)
        return stays(w, n->kid[0]) && stays(w, n->kid[1]);
    change c = {n->local, n->kind != N_LOCAL};
    if (!c.found)
        node_visit(w->construct, find_change, &c);
    return !c.found;
}

/* Is an index one more where the variable is one more? */
static bool steps(const walk *w, const node *n, int variable) {
    if (n->kind == N_LOCAL)
        return n->local == variable;
    if (n->kind != N_BINARY || (n->op != OP_ADD && n->op != OP_SUB))
        return false;
    if (steps(w, n->kid[0], variable))
        return !jam_depends(n->kid[1], variable) && stays(w, n->kid[1]);
    return n->op == OP_ADD && steps(w, n->kid[1], variable) && !jam_depends(n->kid[0], variable) && stays(w, n->kid[0]);
}

/* Does an element move by a stride that is not known where only this variable is one more? */
static bool moves(const walk *w, const node *n, int variable) {
    int rank = w->b->f->locals[n->local].rank, count = 0, at = 0;
    for (int d = 0; d < rank; d++)
        if (jam_depends(element_index(n, rank, d), variable)) {
            count++;
            at = d;
        }
    return count == 1 && at + 1 != w->b->e->frame->v->operand[n->local].unit &&
           steps(w, element_index(n, rank, at), variable);
}

static bool depends(const walk *w, const node *n, int variable) {
    int rank = w->b->f->locals[n->local].rank;
    for (int d = 0; d < rank; d++)
        if (jam_depends(element_index(n, rank, d), variable))
            return true;
    return false;
}

/* Of an element that stays along the innermost loop LLVM asks the same, by the stride along the loop around it. */
static void find_apart(const node *n, void *user) {
    walk *w = user;
    if (n->kind != N_ELEMENT || !w->b->f->locals[n->local].core || w->apart)
        return;
    if (moves(w, n, w->last)) {
        w->apart = true;
        return;
    }
    for (const node *r = w->construct->args; r && w->construct->kind == N_FORALL; r = r->next)
        w->apart |= !depends(w, n, w->last) && moves(w, n, r->local);
}

bool walks_apart(const body *b, const node *construct) {
    const frame *f = b->e->frame;
    walk w = {.b = b, .construct = construct};
    if (b->e->target->gpu || !b->is_kernel || f->v->loop != LOOP_GUFUNC)
        return false;
    for (const node *r = construct->args; r; r = r->next)
        w.last = r->local;
    if (construct->kind == N_REDUCE)
        node_visit(construct->kid[0], find_apart, &w);
    else
        node_each(construct->body, find_apart, &w);
    return w.apart;
}
