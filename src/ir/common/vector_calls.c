/* vector_calls.c - CPU: which functions of vectors statements call. */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"
#include "ir/common/target.h"
#include "ir/common/vector_forms.h"

typedef struct call_search {
    const emit *e;
    vector_calls *calls;
} call_search;

static void find_calls(const node *n, void *user) {
    call_search *s = user;
    vector_calls *c = s->calls;
    c->loops |= n->kind == N_LOOP || n->kind == N_FORALL || n->kind == N_REDUCE;
    if (n->kind == N_MATH && n->math->vector && emit_math_has_vectors(s->e, n->math, (dtype)n->wide)) {
        char isa;
        int lanes = target_lanes(s->e->target, (dtype)n->wide, &isa);
        c->lanes = !c->count || lanes < c->lanes ? lanes : c->lanes;
        c->count++;
        c->own += emit_has_vector_form(s->e, n->math, (dtype)n->wide);
    }
    if (n->callee && !c->loops)
        node_each(n->callee->body, find_calls, s);
}

vector_calls emit_vector_calls(const emit *e, const node *list) {
    vector_calls found = {0};
    call_search s = {.e = e, .calls = &found};
    if (!e->target->gpu)
        node_each(list, find_calls, &s);
    return found;
}
