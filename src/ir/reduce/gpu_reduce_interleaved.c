/* gpu_reduce_interleaved.c - reductions on the GPU to few results whose elements lie side by side without gaps: an element of each, then the next
 * ones, whose order does not matter. Memory is one piece, of which a block has rows of as many elements as its threads access by vectors, and which are a
 * whole number of elements of each result: so what a thread has at a place of its vectors always belongs to the same result. A thread visits
 * `accesses` rows at a time; visits are combined in two levels, so that rounding errors grow slowly; then the places of a row are
 * combined through shared memory, half of them with the other half until one is left of each result. */
#include "ir/common/internal.h"
#include "ir/common/lanes.h"
#include "ir/reduce/gpu_reduce.h"

typedef struct row_reduce {
    gpu_fold *g;
    fold_writer *w;
    emit *e;
    int lanes, side;
    int width;      /* elements of a row */
    ssa own;        /* i64: the thread's first place in a row */
    ssa mine;       /* i1: there is one */
    ssa there;      /* i64: that, or 0 */
    ssa rows, all;  /* i64: whole rows; elements */
    ssa full, step; /* i64: rows of whole visits; rows from one visit of the block to its next */
    fold_levels levels;
} row_reduce;

/* ---- Visits ---- */

/* The elements of a row (i64), all of which exist. */
static fold_access load_row(row_reduce *r, ssa row, bool aligned) {
    skeleton *s = &r->w->s;
    emit *e = r->e;
    fold_access a = fold_access_new(r->g, r->lanes);
    ssa at = emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", row.text, r->width), r->there);
    emit_invariant(e, true);
    for (int k = 0; k < s->nin; k++) {
        ssa values[BATCH_LANES], first = skeleton_address(s, k, s->base[k], at);
        if (!fold_reads(r->w, k))
            continue;
        dtype t = skeleton_memory(s, k);
        emit_neighbours(e, t, t, first, r->lanes, aligned, values);
        for (int i = 0; i < r->lanes; i++)
            a.in[i * s->noperands + k] = values[i];
    }
    emit_invariant(e, false);
    return a;
}

/* Combines `accesses` rows from one on (i64) into the inner slots. */
static void visit(row_reduce *r, ssa row, bool aligned) {
    int steps = r->w->s.v->fold.accesses;
    fold_access *access = arena_alloc(r->e->a, (size_t)steps * sizeof *access);
    partial *partials = arena_alloc(r->e->a, (size_t)steps * sizeof *partials);
    for (int u = 0; u < steps; u++)
        access[u] = load_row(r, u ? emit_value(r->e, "add i64 %s, %d", row.text, u) : row, aligned);
    for (int i = 0; i < r->lanes; i++) {
        for (int u = 0; u < steps; u++)
            partials[u] = fold_access_partial(r->g, &access[u], i);
        partial all = fold_tree(r->w, partials, steps);
        fold_slot_add(r->w, &r->levels.inner[i], &all);
    }
}

/* The same of one row, the last of which may have some of its elements. */
static void visit_part(row_reduce *r, ssa row) {
    skeleton *s = &r->w->s;
    emit *e = r->e;
    ssa at = emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", row.text, r->width), r->own);
    for (int i = 0; i < r->lanes; i++) {
        fold_access a = fold_access_new(r->g, 1);
        ssa x = emit_value(e, "add i64 %s, %d", at.text, i), there = emit_op(e, "icmp slt i64", x, r->all);
        there = emit_op(e, "and i1", there, r->mine);
        x = emit_select_as(e, "i64", there, x, ssa_constant(0));
        for (int k = 0; k < s->nin; k++)
            if (fold_reads(r->w, k))
                a.in[k] = emit_load(e, skeleton_memory(s, k), skeleton_address(s, k, s->base[k], x));
        partial one = fold_access_partial(r->g, &a, 0);
        one = fold_if(r->w, there, &one);
        fold_slot_add(r->w, &r->levels.inner[i], &one);
    }
}

static void visit_all(row_reduce *r, ssa first, bool aligned) {
    emit *e = r->e;
    ssa many = emit_value(e, "mul i64 %s, %d", r->step.text, INNER_VISITS);
    counted_loop o = counted_loop_begin(e, "i64", first, r->full);
    fold_levels_begin(&r->levels);
    ssa limit = emit_min(e, emit_op(e, "add i64", o.i, many), r->full);
    counted_loop i = counted_loop_begin(e, "i64", o.i, limit);
    visit(r, i.i, aligned);
    counted_loop_end(e, &i, r->step, loop_no_unroll(e));
    fold_levels_end(&r->levels);
    counted_loop_end(e, &o, many, loop_no_unroll(e));
}

/* What is in no whole visit. */
static void visit_rest(row_reduce *r, ssa last) {
    emit *e = r->e;
    ssa some = emit_op(e, "icmp slt i64", emit_value(e, "mul i64 %s, %d", r->full.text, r->width), r->all);
    int end = skeleton_if(&r->w->s, emit_op(e, "and i1", last, some));
    fold_levels_begin(&r->levels);
    counted_loop l = counted_loop_begin(e, "i64", r->full, emit_value(e, "add i64 %s, 1", r->rows.text));
    visit_part(r, l.i);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
    fold_levels_end(&r->levels);
    skeleton_end_if(&r->w->s, end);
}

/* ---- Places ---- */

/* Where place x (i64) of a row is in shared memory: lanes are a block of entries apart, so that neighbouring threads use different banks. */
static ssa entry(row_reduce *r, ssa x) {
    emit *e = r->e;
    int bits = __builtin_ctz((unsigned)r->lanes);
    ssa lane = emit_value(e, "and i64 %s, %d", x.text, r->lanes - 1);
    return emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", lane.text, FOLD_INTERLEAVED_THREADS),
                   emit_value(e, "lshr i64 %s, %d", x.text, bits));
}

/* Combines the places of each result, variant_wrapped of them, until the first `side` places have them. */
static void combine_places(row_reduce *r, const partial_array *shared, ssa thread) {
    emit *e = r->e;
    for (int i = 0; i < r->lanes; i++) {
        partial mine = partial_get(r->w, &r->levels.outer[i]);
        partial_array_put(r->w, shared, entry(r, emit_value(e, "add i64 %s, %d", r->own.text, i)), &mine);
    }
    emit_block_barrier(e);
    for (int n = r->width / r->side, half; n > 1; n = half) {
        half = (n + 1) / 2;
        counted_loop l = counted_loop_begin(e, "i64", thread, ssa_constant((int64_t)(n - half) * r->side));
        ssa other = emit_value(e, "add i64 %s, %d", l.i.text, half * r->side);
        partial a = partial_array_get(r->w, shared, entry(r, l.i)),
                b = partial_array_get(r->w, shared, entry(r, other));
        a = fold_join(r->w, &a, &b);
        partial_array_put(r->w, shared, entry(r, l.i), &a);
        counted_loop_end(e, &l, ssa_constant(FOLD_INTERLEAVED_THREADS), loop_no_unroll(e));
        emit_block_barrier(e);
    }
}

static void store(row_reduce *r, const partial_array *shared, const fold_place *p, ssa thread) {
    skeleton *s = &r->w->s;
    ssa offset[VARIANT_OPERANDS];
    int end = skeleton_if(s, emit_value(r->e, "icmp slt i64 %s, %d", thread.text, r->side));
    partial x = partial_array_get(r->w, shared, entry(r, thread));
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        offset[k] = emit_op(r->e, "mul i64", thread, r->g->kept_stride[k][0]);
    gpu_fold_store(r->g, p, &x, offset, ssa_bool(true));
    skeleton_end_if(s, end);
}

/* ---- The kernel ---- */

static void find_rows(row_reduce *r, ssa thread) {
    emit *e = r->e;
    const variant *v = r->w->s.v;
    ssa total = r->g->total, parts = v->reduction.to_states ? gpu_fold_parts(r->g) : ssa_constant(1);
    r->own = emit_value(e, "mul i64 %s, %d", thread.text, r->lanes);
    r->mine = emit_value(e, "icmp slt i64 %s, %d", r->own.text, r->width);
    r->there = emit_select_as(e, "i64", r->mine, r->own, ssa_constant(0));
    r->rows = emit_value(e, "sdiv i64 %s, %d", total.text, r->width / r->side);
    r->all = emit_value(e, "mul i64 %s, %d", total.text, r->side);
    r->full = emit_value(e, "and i64 %s, %d", r->rows.text, -v->fold.accesses);
    r->step = emit_value(e, "mul i64 %s, %d", parts.text, v->fold.accesses);
}

void gpu_fold_interleaved_results(fold_writer *w) {
    emit *e = w->s.e;
    const variant *v = w->s.v;
    row_reduce r = {.g = gpu_fold_begin(w), .w = w, .e = e, .lanes = v->fold.vector, .side = v->fold.plane};
    r.width = variant_wrapped(v) * r.side;
    fold_place p = {.there = ssa_bool(true)};
    ssa thread = emit_widen(e, emit_special_register(e, "tid")),
        block = emit_widen(e, emit_special_register(e, "ctaid"));
    r.levels = fold_levels_new(w, r.lanes);
    partial none = fold_none(w);
    for (int i = 0; i < r.lanes; i++)
        partial_put(w, &r.levels.outer[i], &none);
    partial_array shared = partial_array_new(w, "fold_places", r.lanes * FOLD_INTERLEAVED_THREADS, fold_sparse(w));
    gpu_fold_place(r.g, &p, block, 1);
    find_rows(&r, thread);
    ssa first =
        v->reduction.to_states ? emit_value(e, "mul i64 %s, %d", p.part.text, v->fold.accesses) : ssa_constant(0);
    if (r.lanes == 1 || v->fold.aligned) {
        visit_all(&r, first, true);
    } else {
        int vectors = emit_label_new(e), singles = emit_label_new(e), end = emit_label_new(e);
        emit_branch_if(e, r.g->aligned, vectors, singles);
        emit_label(e, vectors);
        visit_all(&r, first, true);
        emit_branch(e, end);
        emit_label(e, singles);
        visit_all(&r, first, false);
        emit_branch(e, end);
        emit_label(e, end);
    }
    visit_rest(&r, v->reduction.to_states ? gpu_fold_last_part(r.g, &p) : ssa_bool(true));
    combine_places(&r, &shared, thread);
    store(&r, &shared, &p, thread);
}
