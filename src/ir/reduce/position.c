/* position.c - which values of a reduction's state are always the position of some element. Such a value needs no more bits than
 * positions do, whatever its dtype is. */
#include "ir/common/nodes.h"
#include "ir/reduce/fold.h"

/* Which locals of a function never hold anything but the values looked for: at first all, until an assignment shows otherwise. */
typedef struct search {
    bool *holds;
    bool changed;
} search;

static bool chooses(const search *s, const node *n) {
    switch (n->kind) {
    case N_LOCAL:
        return s->holds[n->local];
    case N_SELECT:
        return chooses(s, n->kid[1]) && chooses(s, n->kid[2]);
    case N_ASSIGN:
        return chooses(s, n->kid[1]);
    default:
        return false;
    }
}

static void strike(search *s, int which) {
    s->changed |= s->holds[which];
    s->holds[which] = false;
}

static void visit(const node *n, void *user) {
    search *s = user;
    if (n->kind == N_ASSIGN && n->kid[0]->kind == N_LOCAL && !chooses(s, n->kid[1]))
        strike(s, n->kid[0]->local);
    for (const node *to = n->kind == N_ASSIGN ? NULL : node_assigned(n); to; to = to->next)
        strike(s, to->local);
    if (n->kind == N_RANGE || (n->kind == N_DECLARE && n->kid[0] && !chooses(s, n->kid[0])))
        strike(s, n->local);
}

/* Is result k of a tree always one of the values of two of its parameters (or 0, where it is not assigned)? */
static bool result_chooses(emit *e, const tree *t, int k, int first, int second) {
    const function *f = t->kernel;
    search s = {.holds = arena_alloc(e->a, (size_t)f->nlocals)};
    for (int i = 0; i < f->nlocals; i++)
        s.holds[i] = f->locals[i].type == DT_INT64 && (i >= f->nparams || i == first || i == second);
    do {
        s.changed = false;
        node_each(f->body, visit, &s);
    } while (s.changed);
    return s.holds[f->nparams + k];
}

bool fold_is_position(fold_writer *w, int k) {
    const fold *f = w->f;
    const variant *v = w->s.v;
    if (!v->position || v->reduction.from_states || !f->map || k >= f->nstate || f->state[k] != DT_INT64)
        return false;
    bool missing = v->masked || w->s.e->target->gpu; /* of some lanes: then the identity's values come in */
    if (f->order == FOLD_SERIAL || (missing && fold_fills(w)))
        return false;
    return result_chooses(w->s.e, f->map, k, f->nin, f->nin) && result_chooses(w->s.e, f->combine, k, k, f->nstate + k);
}
