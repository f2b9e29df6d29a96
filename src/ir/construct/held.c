/* held.c - see held.h. */
#include "ir/construct/held.h"

#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/construct/unroll_jam.h"

bool held_covers(const body *b, const node *range) {
    const node *limit = range->kid[0];
    return b->held && !range->next && limit->kind == N_SIZE && limit->dim == b->held->dimension;
}

static void find_tiles(body *b, struct held *h) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    for (int j = 0; j < h->count; j++) {
        ssa i = j ? emit_value(e, "add i64 %%rank, %d", j << v->gufunc.coop) : ssa_named("%%rank");
        h->there[j] = ssa_none();
        if (h->width > 1)
            i = emit_value(e, "mul i64 %s, %d", i.text, h->width);
        if (j >= h->count - HELD_LOOSE) { /* there are more, so that the first is there */
            h->there[j] = emit_value(e, "icmp slt i64 %s, %%s%d", i.text, h->dimension);
            i = emit_select_as(e, "i64", h->there[j], i, h->index[0]);
        }
        h->index[j] = i;
    }
}

/* An operand, and where its tiles are. */
typedef struct part {
    int operand;
    const ssa *pointer;
} part;

/* All tiles are loaded before the first value is used. */
static void load_tiles(body *b, void *user, bool by_vectors, ssa *values) {
    const part *p = user;
    const struct held *h = b->held;
    const variant_operand *v = &b->e->frame->v->operand[p->operand];
    emit_invariant(b->e, true);
    for (int j = 0; j < h->count; j++)
        emit_neighbours(b->e, (dtype)v->memory, (dtype)b->f->locals[p->operand].type, p->pointer[j], h->width,
                        by_vectors, values + j * h->width);
    b->e->invariant = 0;
}

static const ssa *load_part(body *b, int k) {
    emit *e = b->e;
    const struct held *h = b->held;
    const layout_operand *o = &e->frame->layout->operands[k];
    const variant_operand *v = &e->frame->v->operand[k];
    ssa *value = arena_alloc(e->a, (size_t)(h->count * h->width) * sizeof *value),
        *pointer = arena_alloc(e->a, (size_t)h->count * sizeof *pointer);
    for (int j = 0; j < h->count; j++) {
        ssa offset = v->unit == 1 ? h->index[j] : emit_value(e, "mul i64 %s, %%s%d", h->index[j].text, o->strides);
        pointer[j] = emit_element(e, (dtype)v->memory, ssa_named("%%p%d", k), offset);
    }
    part p = {k, pointer};
    if (h->width > 1)
        emit_if_aligned(b, (dtype)b->f->locals[k].type, h->count * h->width, value, load_tiles, &p);
    else
        load_tiles(b, &p, false, value);
    return value;
}

static void begin(body *b) {
    const variant *v = b->e->frame->v;
    struct held *h = arena_alloc(b->e->a, sizeof *h);
    *h = (struct held){
        .dimension = -1, .count = v->gufunc.held, .width = v->gufunc.across ? 1 : v->gufunc.vector, .variable = -1};
    assert(h->count > HELD_LOOSE && h->count * h->width <= HELD_MOST);
    for (int k = 0; k < b->f->nparams; k++)
        if (v->operand[k].held)
            h->dimension = b->e->frame->layout->operands[k].dim[0];
    if (h->dimension < 0 || b->e->plain)
        return;
    b->held = h;
    find_tiles(b, h);
    for (int k = 0; k < b->f->nparams; k++)
        if (v->operand[k].held)
            h->value[k] = load_part(b, k);
}

static bool recall(body *b, const node *n, ssa *value) {
    const struct held *h = b->held;
    if (!h || h->variable < 0 || n->kind != N_ELEMENT || n->local >= b->f->nparams || !h->value[n->local] || !b->jam ||
        b->jam->outer)
        return false;
    const node *i = element_index(n, 1, 0);
    if (i->kind != N_LOCAL || i->local != h->variable)
        return false;
    *value = h->value[n->local][h->first * h->width + b->jam->now];
    return true;
}

const body_hooks held_hooks = {.begin = begin, .recall = recall};
