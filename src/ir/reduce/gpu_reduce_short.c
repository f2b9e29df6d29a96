/* gpu_reduce_short.c - reductions on the GPU whose results have few elements, of a number that is a constant of the code. A thread takes whole
 * results. Inputs whose rows lie one behind the other come through shared memory (common/row_tile.h), so that a block reads one piece of
 * memory from end to end; elements of others are read where they are. Elements are combined as a balanced tree; if they must be
 * combined one by one (FOLD_SERIAL), from left to right. */
#include <stdio.h>

#include "ir/common/internal.h"
#include "ir/common/lanes.h"
#include "ir/common/row_tile.h"
#include "ir/reduce/gpu_reduce.h"

typedef struct short_rows {
    gpu_fold *g;
    fold_writer *w;
    emit *e;
    int length;                      /* elements of a result */
    row_tile tile[VARIANT_OPERANDS]; /* of operands that are staged */
} short_rows;

static bool is_staged(const short_rows *r, int k) { return r->w->s.v->operand[k].staged; }

/* Copies the rows of the results from number `first` on, `left` (i64) of them or a whole tile, to shared memory. */
static void stage(short_rows *r, ssa first, ssa left) {
    skeleton *s = &r->w->s;
    emit *e = r->e;
    int rows = ROW_TILE_THREADS * s->v->fold.results;
    ssa some = emit_min(e, left, ssa_constant(rows)), at = emit_value(e, "mul i64 %s, %d", first.text, r->length);
    bool any = false;
    for (int k = 0; k < s->noperands; k++) {
        if (!is_staged(r, k))
            continue;
        char name[24];
        snprintf(name, sizeof name, "@rows_%d", k);
        r->tile[k] = row_tile_new(e, name, skeleton_memory(s, k), r->length, rows, ROW_TILE_THREADS);
        r->tile[k].constant = true;
        row_tile_load(&r->tile[k], skeleton_address(s, k, s->base[k], at), some, r->g->aligned);
        any = true;
    }
    if (any)
        emit_block_barrier(e);
}

/* ---- The elements of a result: in[j * noperands + k] ---- */

static void get_staged(short_rows *r, int k, ssa row, ssa *in) {
    ssa *values = arena_alloc(r->e->a, (size_t)r->length * sizeof *values);
    row_tile_get(&r->tile[k], row, values);
    for (int j = 0; j < r->length; j++)
        in[j * r->w->s.noperands + k] = values[j];
}

static void get_direct(short_rows *r, int k, ssa from, ssa *in) {
    skeleton *s = &r->w->s;
    int n = s->noperands;
    for (int j = 0; j < r->length; j++) {
        if (j && s->v->operand[k].kind == OPERAND_CONSTANT && !s->v->operand[k].group) {
            in[j * n + k] = in[k];
            continue;
        }
        ssa far = j ? emit_value(r->e, "mul i64 %s, %d", r->g->reduced_stride[k][0].text, j) : ssa_constant(0);
        skeleton_load(s, k, skeleton_address(s, k, from, far), 1, s->v->operand[k].group != 0, in + j * n);
    }
}

static partial *elements_of(short_rows *r, const fold_place *p, ssa row) {
    skeleton *s = &r->w->s;
    size_t n = (size_t)r->length;
    ssa *in = arena_alloc(r->e->a, n * (size_t)s->noperands * sizeof *in), position = ssa_none();
    partial *partials = arena_alloc(r->e->a, n * sizeof *partials);
    for (int k = 0; k < s->noperands; k++) {
        if (!fold_reads(r->w, k))
            continue;
        if (is_staged(r, k)) {
            get_staged(r, k, row, in);
        } else {
            emit_invariant(r->e, true);
            get_direct(r, k, p->at[k], in);
            emit_invariant(r->e, false);
        }
    }
    for (int j = 0; j < r->length; j++) {
        if (s->v->position) {
            int k = variant_position(s->v);
            position = gpu_fold_position(r->g, s->value[k], r->g->reduced_stride[k][0], j);
        }
        partials[j] = fold_element(r->w, in + j * s->noperands, position);
    }
    return partials;
}

/* ---- Results ---- */

static partial from_left(short_rows *r, const partial *partials) {
    partial x = partials[0];
    int next = 1;
    if (r->w->begun) {
        x = fold_beginning(r->w);
        next = 0;
    }
    for (int j = next; j < r->length; j++)
        x = fold_join(r->w, &x, &partials[j]);
    return x;
}

static void result(short_rows *r, ssa first, ssa left, int i) {
    emit *e = r->e;
    ssa thread = emit_special_register(e, "tid");
    ssa row = i ? emit_value(e, "add i32 %s, %d", thread.text, i * ROW_TILE_THREADS) : thread;
    fold_place p = {.begin = ssa_constant(0), .end = r->g->total};
    p.there = emit_op(e, "icmp slt i64", emit_widen(e, row), left);
    row = emit_select_as(e, "i32", p.there, row, ssa_constant(0));
    gpu_fold_place(r->g, &p, emit_op(e, "add i64", first, emit_widen(e, row)), 0);
    fold_narrow(r->w, true);
    partial *partials = elements_of(r, &p, row), x;
    x = r->w->f->order == FOLD_SERIAL ? from_left(r, partials) : fold_tree(r->w, partials, r->length);
    fold_narrow(r->w, false);
    x = fold_widened(r->w, &x);
    gpu_fold_store(r->g, &p, &x, NULL, p.there);
}

void gpu_fold_short(fold_writer *w) {
    emit *e = w->s.e;
    short_rows r = {.g = gpu_fold_begin(w), .w = w, .e = e, .length = w->s.v->fold.length};
    w->begun = w->f->order == FOLD_SERIAL && fold_begins(w);
    int rows = ROW_TILE_THREADS * w->s.v->fold.results;
    ssa first = emit_value(e, "mul i64 %s, %d", emit_widen(e, emit_special_register(e, "ctaid")).text, rows);
    ssa left = emit_op(e, "sub i64", r.g->results, first);
    stage(&r, first, left);
    for (int i = 0; i < w->s.v->fold.results; i++)
        result(&r, first, left, i);
}
