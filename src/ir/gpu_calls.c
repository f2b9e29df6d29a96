/* gpu_calls.c - inner calls on the GPU: which threads compute which, by the variant's team, and where its operands are. The
 * teams of a grid loop over the calls, so that a grid may be smaller than their number. Teams of several warps meet at
 * barriers: all their threads make the same calls. */
#include "ir/calls.h"
#include "ir/team.h"

typedef struct gpu {
    bool wide;
    ssa n, aligned;
    divisor extent[UF_MAX_NDIM];
    ssa stride[VARIANT_OPERANDS][UF_MAX_NDIM];
    ssa blocks, slots; /* TEAM_GRID */
} gpu;

int gpu_calls_words(const calls *c) {
    const variant *v = c->s.v;
    int words = 2 + 3 * (v->ndim - 1) + shape_arrays(v) * v->ndim + !!v->reports + c->layout->nwords +
                (v->team == TEAM_GRID ? 2 : 0);
    for (int k = 0; k < variant_operands(v); k++)
        words += 3 * v->operand[k].staged;
    return words;
}

/* The addresses of call number x (i64). */
static void find_call(calls *c, void *user, ssa x) {
    const gpu *g = user;
    shape *s = &c->s;
    emit *e = s->e;
    ssa offset[VARIANT_OPERANDS] = {{""}}, rest = g->wide ? x : emit_value(e, "trunc i64 %s to i32", x.text), index;
    for (int d = 0; d < s->v->ndim; d++) {
        index = rest;
        if (d < s->v->ndim - 1)
            shape_divide(s, &g->extent[d], g->wide, rest, &rest, &index);
        ssa far = g->wide ? index : shape_widen(e, index);
        for (int k = 0; k < s->noperands; k++) {
            if (!shape_is_array(s, k) || s->v->operand[k].staged)
                continue;
            ssa step = shape_op(e, "mul i64", far, g->stride[k][d]);
            offset[k] = d ? shape_op(e, "add i64", offset[k], step) : step;
        }
    }
    for (int k = 0; k < s->noperands; k++)
        if (shape_is_array(s, k) && !s->v->operand[k].staged)
            c->at[k] = shape_at(s, k, s->base[k], offset[k]);
}

static void read_words(calls *c, gpu *g) {
    shape *s = &c->s;
    g->wide = s->v->wide;
    g->n = shape_word(s);
    g->aligned = emit_value(s->e, "icmp ne i64 %s, 0", shape_word(s).text);
    for (int d = 0; d < s->v->ndim - 1; d++)
        g->extent[d] = shape_divisor(s, g->wide);
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < s->v->ndim && shape_is_array(s, k); d++)
            g->stride[k][d] = shape_word(s);
}

/* first + i * step over the calls: those of one team. */
static void each_call(calls *c, gpu *g, ssa first, ssa step, ssa stores) {
    emit *e = c->s.e;
    shape_loop l = shape_loop_begin(e, "i64", first, g->n);
    find_call(c, g, l.i);
    c->element = l.i;
    calls_run(c, stores);
    shape_loop_end(e, &l, step, shape_no_unroll(e));
}

static ssa wide_product(emit *e, ssa a, ssa b) { return shape_op(e, "mul i64", shape_widen(e, a), shape_widen(e, b)); }

/* What @kernel is told of its team, in the order of its parameters. */
static void spread_arguments(calls *c, ssa rank, ssa size, ssa aligned, ssa slot, ssa blocks) {
    text_printf(&c->arguments, ", i64 %s, i64 %s, i1 %s, i8 addrspace(1)* %s, i32 %s", rank.text, size.text,
                aligned.text, slot.text, blocks.text);
}

static void calls_by_thread(calls *c, gpu *g, const staging *st) {
    emit *e = c->s.e;
    ssa threads = shape_register(c->s.e, "ntid"), first = wide_product(e, shape_register(c->s.e, "ctaid"), threads);
    ssa step = wide_product(e, shape_register(c->s.e, "nctaid"), threads);
    if (st->any) {
        staging_run(c, st, g->n, first, step, find_call, g);
        return;
    }
    first = shape_op(e, "add i64", first, shape_widen(e, shape_register(c->s.e, "tid")));
    each_call(c, g, first, step, ssa_text("%s", ""));
}

/* Teams within a block: of lanes of a warp, or the block. */
static void calls_by_block(calls *c, gpu *g) {
    emit *e = c->s.e;
    int team = c->s.v->team;
    ssa threads = shape_register(c->s.e, "ntid"), block = shape_register(c->s.e, "ctaid");
    ssa thread = shape_register(c->s.e, "tid"), size = ssa_text("%d", 1 << team);
    ssa rank = shape_widen(e, emit_value(e, "and i32 %s, %d", thread.text, (1 << team) - 1));
    ssa all = shape_op(e, "add i64", wide_product(e, block, threads), shape_widen(e, thread));
    ssa first = emit_value(e, "lshr i64 %s, %d", all.text, team);
    ssa step = wide_product(e, shape_register(c->s.e, "nctaid"), threads);
    step = emit_value(e, "lshr i64 %s, %d", step.text, team);
    spread_arguments(c, rank, size, g->aligned, ssa_text("null"), ssa_text("1"));
    each_call(c, g, first, step, emit_value(e, "icmp eq i64 %s, 0", rank.text));
}

static void calls_by_grid(calls *c, gpu *g) {
    emit *e = c->s.e;
    ssa block = shape_register(c->s.e, "ctaid"), thread = shape_register(c->s.e, "tid"), blocks = g->blocks;
    ssa team = emit_value(e, "udiv i32 %s, %s", block.text, blocks.text);
    ssa teams = emit_value(e, "udiv i32 %s, %s", shape_register(c->s.e, "nctaid").text, blocks.text);
    ssa own = emit_value(e, "urem i32 %s, %s", block.text, blocks.text);
    ssa rank = emit_value(e, "shl i32 %s, %d", own.text, TEAM_GRID_BLOCK);
    rank = shape_widen(e, shape_op(e, "add i32", rank, thread));
    ssa size = emit_value(e, "shl i32 %s, %d", blocks.text, TEAM_GRID_BLOCK);
    ssa slot = emit_value(e, "mul i32 %s, %d", team.text, TEAM_SLOT);
    slot = emit_value(e, "getelementptr i8, i8 addrspace(1)* %s, i64 %s", g->slots.text, shape_widen(e, slot).text);
    spread_arguments(c, rank, shape_widen(e, size), g->aligned, slot, blocks);
    team_grid_begin(e);
    each_call(c, g, shape_widen(e, team), shape_widen(e, teams), emit_value(e, "icmp eq i64 %s, 0", rank.text));
}

void gpu_calls(calls *c) {
    emit *e = c->s.e;
    gpu *g = arena_alloc(e->a, sizeof *g);
    read_words(c, g);
    const staging *st = staging_words(c);
    if (c->s.v->team == TEAM_GRID) {
        g->blocks = shape_word32(&c->s);
        g->slots = emit_value(e, "inttoptr i64 %s to i8 addrspace(1)*", shape_word(&c->s).text);
    }
    calls_core_words(c);
    if (c->s.v->team == TEAM_GRID)
        calls_by_grid(c, g);
    else if (c->s.v->team)
        calls_by_block(c, g);
    else
        calls_by_thread(c, g, st);
}
