/* apart.c - CPU: loops along which elements of a core operand lie a stride apart that is known only when the code runs. LLVM would make
 * a vector loop of them for the stride 1, and choose between that and the loop of single elements. But the variant says along which
 * dimension the stride is 1, and there the stride is a constant: along others the vector loop would never run. Of an element that stays along
 * the innermost loop LLVM asks the same, by the stride along the loop around it: one such is read before that loop, where it may be. */
#include "ir/common/nodes.h"
#include "ir/construct/construct.h"
#include "ir/construct/unroll_jam.h"

typedef struct walk {
    const body *b;
    const node *construct;
    int last; /* the variable of the innermost loop */
    bool apart, rows;
    const node *steady; /* the element that stays along that loop, and lies a stride apart along one around it */
    int nsteady;
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

/* Does an element move to its neighbour along one dimension where only this variable is one more? By a stride of 1 (unit), or one that is not
 * known. */
static bool moves(const walk *w, const node *n, int variable, bool unit) {
    int rank = w->b->f->locals[n->local].rank, count = 0, at = 0;
    for (int d = 0; d < rank; d++)
        if (jam_depends(element_index(n, rank, d), variable)) {
            count++;
            at = d;
        }
    return count == 1 && (at + 1 == w->b->e->frame->v->operand[n->local].unit) == unit &&
           steps(w, element_index(n, rank, at), variable);
}

static bool depends(const walk *w, const node *n, int variable) {
    int rank = w->b->f->locals[n->local].rank;
    for (int d = 0; d < rank; d++)
        if (jam_depends(element_index(n, rank, d), variable))
            return true;
    return false;
}

static void find_apart(const node *n, void *user) {
    walk *w = user;
    if (n->kind != N_ELEMENT || !w->b->f->locals[n->local].core)
        return;
    w->apart |= moves(w, n, w->last, false);
    w->rows &= !depends(w, n, w->last) || moves(w, n, w->last, true);
    bool steady = false;
    for (const node *r = w->construct->args; r && w->construct->kind == N_FORALL; r = r->next)
        steady |= !depends(w, n, w->last) && moves(w, n, r->local, false);
    if (steady) {
        w->steady = n;
        w->nsteady++;
    }
}

static bool is_variable(const walk *w, const node *n) {
    bool found = false;
    for (const node *r = w->construct->args; r; r = r->next)
        found |= n->kind == N_LOCAL && n->local == r->local;
    return found;
}

static void find_assignments(const node *n, void *user) {
    int *count = user;
    *count += n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE || n->kind == N_CALL;
}

/* Has each iteration an element of its own? */
static bool is_own_element(const walk *w, const node *n) {
    int rank = n->kind == N_ELEMENT ? w->b->f->locals[n->local].rank : 0;
    bool own = n->kind == N_ELEMENT && n->unchecked;
    for (const node *r = w->construct->args; r; r = r->next) {
        bool found = false;
        for (int d = 0; d < rank; d++)
            found |= element_index(n, rank, d)->kind == N_LOCAL && element_index(n, rank, d)->local == r->local;
        own &= found;
    }
    return own;
}

/* Is a list of statements one compound assignment to an element of the iteration's own, behind conditions or not? */
static bool is_one_assignment(const walk *w, const node *list) {
    const node *s = list;
    int count = 0;
    node_each(list, find_assignments, &count);
    while (s && s->kind == N_IF && !s->next && !s->other)
        s = s->body;
    return s && !s->next && s->kind == N_EVAL && s->kid[0]->kind == N_COMPOUND && !s->kid[0]->callee && count == 1 &&
           is_own_element(w, s->kid[0]->kid[0]);
}

/* Can the steady element be read before the innermost loop? An iteration stores nothing before it reads it, and what others store it may
 * see or not. */
static bool can_be_read_before(const walk *w) {
    const node *n = w->steady;
    int rank = w->b->f->locals[n->local].rank;
    if (w->nsteady != 1 || !n->unchecked || dtype_is_complex((dtype)n->type) || w->b->e->frame->v->reports ||
        !is_one_assignment(w, w->construct->body))
        return false;
    for (int d = 0; d < rank; d++)
        if (!is_variable(w, element_index(n, rank, d)) && !stays(w, element_index(n, rank, d)))
            return false;
    return true;
}

static bool knows_strides(const body *b) {
    return !b->e->target->gpu && b->is_kernel && b->e->frame->v->loop == LOOP_GUFUNC;
}

static walk walk_of(const body *b, const node *construct) {
    walk w = {.b = b, .construct = construct, .rows = true};
    for (const node *r = construct->args; r; r = r->next)
        w.last = r->local;
    if (construct->kind == N_REDUCE)
        node_visit(construct->kid[0], find_apart, &w);
    else
        node_each(construct->body, find_apart, &w);
    return w;
}

bool walks_rows(const body *b, const node *construct) { return knows_strides(b) && walk_of(b, construct).rows; }

bool walks_apart(const body *b, const node *construct, const node **steady) {
    *steady = NULL;
    if (!knows_strides(b))
        return false;
    walk w = walk_of(b, construct);
    if (!w.apart && w.nsteady && can_be_read_before(&w))
        *steady = w.steady;
    return w.apart || (w.nsteady && !*steady);
}
