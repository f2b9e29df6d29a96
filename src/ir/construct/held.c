/* held.c - see held.h. */
#include "ir/construct/held.h"

#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/construct/unroll_jam.h"

bool held_covers(const body *b, const node *range) {
    const node *limit = range->kid[0];
    return b->held && !range->next && limit->kind == N_SIZE && limit->dim == b->held->dimension;
}

static void find_indices(body *b, struct held *h) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    for (int j = 0; j < h->count; j++) {
        ssa i = j ? emit_value(e, "add i64 %%rank, %d", j << v->gufunc.coop) : ssa_named("%%rank");
        h->there[j] = ssa_none();
        if (j >= h->count - HELD_LOOSE) {
            h->there[j] = emit_value(e, "icmp slt i64 %s, %%s%d", i.text, h->dimension);
            i = emit_select_as(e, "i64", h->there[j], i, ssa_named("%%rank"));
        }
        h->index[j] = i;
    }
}

static const ssa *load_part(body *b, const struct held *h, int k) {
    emit *e = b->e;
    const layout_operand *o = &e->frame->layout->operands[k];
    const variant_operand *v = &e->frame->v->operand[k];
    ssa *value = arena_alloc(e->a, (size_t)h->count * sizeof *value);
    emit_invariant(e, true);
    for (int j = 0; j < h->count; j++) {
        ssa offset = v->unit == 1 ? h->index[j] : emit_value(e, "mul i64 %s, %%s%d", h->index[j].text, o->strides);
        value[j] = emit_load(e, (dtype)v->memory, emit_element(e, (dtype)v->memory, ssa_named("%%p%d", k), offset));
    }
    e->invariant = 0;
    for (int j = 0; j < h->count; j++)
        value[j] = emit_convert(e, value[j], (dtype)v->memory, b->f->locals[k].type);
    return value;
}

static void begin(body *b) {
    const variant *v = b->e->frame->v;
    struct held *h = arena_alloc(b->e->a, sizeof *h);
    *h = (struct held){.dimension = -1, .count = v->gufunc.held, .variable = -1};
    assert(h->count > HELD_LOOSE && h->count <= HELD_MOST);
    for (int k = 0; k < b->f->nparams; k++)
        if (v->operand[k].held)
            h->dimension = b->e->frame->layout->operands[k].dim[0];
    if (h->dimension < 0 || b->e->plain)
        return;
    find_indices(b, h);
    for (int k = 0; k < b->f->nparams; k++)
        if (v->operand[k].held)
            h->value[k] = load_part(b, h, k);
    b->held = h;
}

static bool recall(body *b, const node *n, ssa *value) {
    const struct held *h = b->held;
    if (!h || h->variable < 0 || n->kind != N_ELEMENT || n->local >= b->f->nparams || !h->value[n->local] || !b->jam ||
        b->jam->outer)
        return false;
    const node *i = element_index(n, 1, 0);
    if (i->kind != N_LOCAL || i->local != h->variable)
        return false;
    *value = h->value[n->local][h->first + b->jam->now];
    return true;
}

const body_hooks held_hooks = {.begin = begin, .recall = recall};
