/* gpu_reduce_short.c - reductions on the GPU whose results have few elements, of a number that is a constant of the code. A thread takes whole
 * results. Inputs whose rows lie one behind the other, or side by side, few before the next ones, come through shared memory
 * (common/row_tile.h), so that a block reads one piece of memory from end to end; elements of others are read where they are. Elements are combined as a balanced tree; if they must be
 * combined one by one (FOLD_SERIAL), from left to right. */
#include "ir/common/internal.h"
#include "ir/common/row_tile.h"
#include "ir/reduce/gpu_reduce.h"

typedef struct short_rows {
    gpu_fold *g;
    fold_writer *w;
    emit *e;
    int length; /* elements of a result */
    const row_tiles *tiles;
    bool within;  /* results that do not exist are not computed: see row_tiles_row */
    fold_place p; /* of the last result */
} short_rows;

/* ---- The elements of a result: in[j * noperands + k] ---- */

static void get_staged(short_rows *r, int k, const tile_row *row, ssa *in) {
    ssa *values = arena_alloc(r->e->a, (size_t)r->length * sizeof *values);
    row_tile_get(&r->tiles->tile[k], row, values);
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

static partial *elements_of(short_rows *r, const tile_row *row) {
    skeleton *s = &r->w->s;
    size_t n = (size_t)r->length;
    ssa *in = arena_alloc(r->e->a, n * (size_t)s->noperands * sizeof *in), position = ssa_none();
    partial *partials = arena_alloc(r->e->a, n * sizeof *partials);
    for (int k = 0; k < s->noperands; k++) {
        if (!fold_reads(r->w, k))
            continue;
        if (s->v->operand[k].staged) {
            get_staged(r, k, row, in);
        } else {
            emit_invariant(r->e, true);
            get_direct(r, k, r->p.at[k], in);
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

/* The place of the thread's result i: along one dimension it is as far from the one before as that is from its own. */
static void find_place(short_rows *r, int i, ssa index) {
    gpu_fold *g = r->g;
    if (!i || r->within || r->w->s.v->ndim > 1) {
        gpu_fold_place(g, &r->p, index, 0);
        return;
    }
    for (int k = 0; k < r->w->s.noperands; k++)
        if (g->kept_stride[k]) {
            ssa step = emit_value(r->e, "mul i64 %s, %d", g->kept_stride[k][0].text, ROW_TILE_THREADS);
            r->p.at[k] = skeleton_address(&r->w->s, k, r->p.at[k], step);
        }
}

/* The result whose place has been found. */
static void result(short_rows *r, const tile_row *row) {
    fold_narrow(r->w, true);
    partial *partials = elements_of(r, row), x;
    x = r->w->f->order == FOLD_SERIAL ? from_left(r, partials) : fold_tree(r->w, partials, r->length);
    fold_narrow(r->w, false);
    x = fold_widened(r->w, &x);
    gpu_fold_store(r->g, &r->p, &x, NULL, r->p.there);
}

static void take_rows(short_rows *r) {
    const variant *v = r->w->s.v;
    r->tiles = row_tiles_load(&r->w->s, r->length, v->fold.results, r->g->results, r->g->aligned, true);
    for (int i = 0; i < v->fold.results; i++) {
        ssa index;
        tile_row row = row_tiles_row(r->tiles, i, r->within, &index, &r->p.there);
        find_place(r, i, index);
        result(r, &row);
    }
}

static void take_planes(short_rows *r) {
    const variant *v = r->w->s.v;
    counted_loop rows;
    ssa index;
    r->tiles =
        row_tiles_load_planes(&r->w->s, r->length, v->fold.plane, v->fold.results, r->g->results, r->g->aligned, true);
    tile_row row = row_tiles_rows_begin(r->tiles, &rows, &index);
    gpu_fold_place(r->g, &r->p, index, 0);
    r->p.there = ssa_bool(true);
    result(r, &row);
    row_tiles_rows_end(r->tiles, &rows);
}

void gpu_fold_short(fold_writer *w) {
    const variant *v = w->s.v;
    short_rows r = {
        .g = gpu_fold_begin(w), .w = w, .e = w->s.e, .length = v->fold.length, .within = fold_needs_rows(w)};
    r.p = (fold_place){.begin = ssa_constant(0), .end = r.g->total};
    w->begun = w->f->order == FOLD_SERIAL && fold_begins(w);
    (v->fold.plane ? take_planes : take_rows)(&r);
}
