/* lanes.c - points that several lanes compute together: see lanes.h. */
#include "ir/forall/lanes.h"

#include "ir/common/nodes.h"
#include "ir/construct/construct.h"
#include "ir/construct/cooperative.h"

/* ---- Which array such a reduction goes through ---- */

typedef struct search {
    const function *f;
    int variable;  /* of the reduction's range */
    uint8_t array; /* 1 + that, or 0 */
    bool forall;   /* there is a forall within the kernel */
} search;

/* Does an index contain the variable, outside of other elements' indices? */
static bool moves(const node *n, int variable) {
    if (!n || n->kind == N_ELEMENT)
        return false;
    return (n->kind == N_LOCAL && n->local == variable) || moves(n->kid[0], variable) || moves(n->kid[1], variable) ||
           moves(n->kid[2], variable);
}

static void find_element(const node *n, void *user) {
    search *s = user;
    if (n->kind != N_ELEMENT || s->array)
        return;
    const local *l = &s->f->locals[n->local];
    if (l->core && l->rank == 1 && moves(element_index(n, 1, 0), s->variable))
        s->array = (uint8_t)(n->local + 1);
}

/* Is it a reduction over one range, whose extent is neither a constant nor a size? */
static bool is_ragged(const node *n) {
    return n->kind == N_REDUCE && n->args && !n->args->next && n->args->kid[0]->kind != N_CONST &&
           n->args->kid[0]->kind != N_SIZE;
}

static void find_reduction(const node *n, void *user) {
    search *s = user;
    s->forall |= n->kind == N_FORALL;
    if (!is_ragged(n) || s->array)
        return;
    s->variable = n->args->local;
    node_each(n->kid[0], find_element, s);
}

uint8_t point_lanes_array(const tree *t, const uint16_t *use) {
    search s = {.f = t->kernel};
    for (int k = 0; k < t->layout->nin; k++)
        if (use[k] & USE_ATOMIC || (use[k] & USE_READ && use[k] & USE_WRITE))
            return 0;
    node_each(t->kernel->body, find_reduction, &s);
    return s.forall ? 0 : s.array;
}

/* ---- Code ---- */

static int lanes_of(const body *b) { return b->e->frame->v->forall.lanes; }

void point_lanes_begin(body *b) {
    b->store_mask = emit_value(b->e, "icmp eq i64 %s, 0", coop_lane(b, lanes_of(b)).text);
}

bool point_lanes_reduce(body *b, const node *n, ssa *value) {
    emit *e = b->e;
    int count;
    if (!is_ragged(n) || b->depth)
        return false;
    ssa *limits = ranges_read(b, n->args, &count);
    accumulator a = accumulator_new(b, n);
    accumulator_clear(b, n, &a);
    b->depth++;
    counted_loop l = counted_loop_begin(e, "i64", coop_lane(b, lanes_of(b)), limits[0]);
    b->bound[n->args->local] = l.i;
    accumulator_term(b, n, &a, ssa_none());
    counted_loop_end(e, &l, ssa_constant(1 << lanes_of(b)), 0);
    b->bound[n->args->local] = ssa_none();
    b->depth--;
    ssa present = accumulator_present(b, &a);
    *value = accumulator_read(b, n, &a);
    lanes_reduce(b, n, lanes_of(b), value, &present);
    return true;
}
