/* gpu_reduce_short.c - reductions on the GPU whose results have few elements, of a number that is a constant of the code. A thread takes whole
 * results. Inputs whose rows lie one behind the other, or side by side, few before the next ones (planes), come through shared memory
 * (common/row_tile.h), so that a block reads one piece of memory from end to end; elements of others are read where they are. Elements are
 * combined as a balanced tree; if they must be combined one by one (FOLD_SERIAL), from left to right. Of long rows in planes a thread has
 * some elements at a time in registers. */
#include "ir/common/internal.h"
#include "ir/common/row_tile.h"
#include "ir/reduce/gpu_reduce.h"

typedef struct short_rows {
    gpu_fold *g;
    fold_writer *w;
    emit *e;
    int length; /* elements of a result */
    const row_tiles *tiles;
    bool within;         /* results that do not exist are not computed: see row_tiles_row */
    fold_place p;        /* of the last result */
    partial_slot so_far; /* of long ones */
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

/* The partials of n elements from one on (i64). */
static partial *partials_of(short_rows *r, ssa *in, ssa from, int n) {
    skeleton *s = &r->w->s;
    partial *partials = arena_alloc(r->e->a, (size_t)n * sizeof *partials);
    ssa position = ssa_none();
    for (int j = 0; j < n; j++) {
        if (s->v->position) {
            int k = variant_position(s->v);
            ssa first = ssa_is(from, 0) ? s->value[k]
                                        : emit_op(r->e, "add i64", s->value[k],
                                                  emit_op(r->e, "mul i64", from, r->g->reduced_stride[k][0]));
            position = gpu_fold_position(r->g, first, r->g->reduced_stride[k][0], j);
        }
        partials[j] = fold_element(r->w, in + j * s->noperands, position);
    }
    return partials;
}

static partial *elements_of(short_rows *r, const tile_row *row) {
    skeleton *s = &r->w->s;
    size_t n = (size_t)r->length;
    ssa *in = arena_alloc(r->e->a, n * (size_t)s->noperands * sizeof *in);
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
    return partials_of(r, in, ssa_constant(0), r->length);
}

/* ---- Results ---- */

/* before: what is in front of them; NULL: nothing is. */
static partial from_left(short_rows *r, const partial *before, const partial *partials, int n) {
    partial x = before ? *before : partials[0];
    for (int j = !before; j < n; j++)
        x = fold_join(r->w, &x, &partials[j]);
    return x;
}

/* n partials, behind what the thread has so far, if they do not begin the result. */
static partial combined(short_rows *r, partial *partials, int n, bool begins) {
    partial before;
    bool serial = r->w->f->order == FOLD_SERIAL, some = !begins || (serial && r->w->begun);
    if (some)
        before = begins ? fold_beginning(r->w) : partial_get(r->w, &r->so_far);
    if (serial)
        return from_left(r, some ? &before : NULL, partials, n);
    partial x = fold_tree(r->w, partials, n);
    return some ? fold_join(r->w, &before, &x) : x;
}

/* Elements from .. from + n - 1 (i32) of a long result. */
static void take_some(short_rows *r, const tile_row *row, ssa from, int n, bool begins) {
    skeleton *s = &r->w->s;
    ssa in[ROW_TOGETHER * VARIANT_OPERANDS], values[ROW_TOGETHER];
    for (int k = 0; k < s->noperands; k++) {
        if (!fold_reads(r->w, k))
            continue;
        row_tile_get_some(&r->tiles->tile[k], row, from, n, values);
        for (int j = 0; j < n; j++)
            in[j * s->noperands + k] = values[j];
    }
    ssa index = ssa_is(from, 0) ? from : emit_widen(r->e, from);
    partial x = combined(r, partials_of(r, in, index, n), n, begins);
    partial_put(r->w, &r->so_far, &x);
}

/* What is no whole number of ROW_TOGETHER elements comes first. */
static partial take_long(short_rows *r, const tile_row *row) {
    int first = r->length % ROW_TOGETHER ? r->length % ROW_TOGETHER : ROW_TOGETHER;
    take_some(r, row, ssa_constant(0), first, true);
    counted_loop rest = counted_loop_begin(r->e, "i32", ssa_constant(first), ssa_constant(r->length));
    take_some(r, row, rest.i, ROW_TOGETHER, false);
    counted_loop_end(r->e, &rest, ssa_constant(ROW_TOGETHER), loop_no_unroll(r->e));
    return partial_get(r->w, &r->so_far);
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
    partial x = r->length > ROW_STRAIGHT ? take_long(r, row) : combined(r, elements_of(r, row), r->length, true);
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
    if (r.length > ROW_STRAIGHT) {
        fold_narrow(w, true);
        r.so_far = partial_variable(w, false);
        fold_narrow(w, false);
    }
    (v->fold.plane ? take_planes : take_rows)(&r);
}
