/* gpu_reduce_columns.c - reductions on the GPU whose neighbouring lanes take neighbouring results: columns. A block is a tile of columns wide
 * and some rows of threads high. A thread has `vector` columns; it visits its rows of elements `accesses` at a time, and loads all of a
 * visit before it combines the first. Visits are combined in two levels, so that rounding errors grow slowly; then the rows of threads
 * are combined through shared memory. Few elements, whose number is a constant of the code, are one visit of one row of threads. If
 * order is to be kept (FOLD_ORDERED), each row of threads has a run of rows of its own; if elements must be combined one by one
 * (FOLD_SERIAL), there is one row of threads. */
#include "ir/common/internal.h"
#include "ir/common/lanes.h"
#include "ir/reduce/gpu_reduce.h"

enum {
    THREADS_MOST = 256
};

typedef struct columns {
    gpu_fold *g;
    fold_writer *w;
    emit *e;
    int lanes; /* columns of a thread */
    fold_order order;
    ssa across, above; /* i64: this thread's place in the block, along columns and along rows */
    ssa high;          /* i64: rows of threads */
    ssa high_shift;    /* log2 of it, i64 */
    ssa *column;       /* i64, by lane */
    ssa *there;        /* i1, by lane */
    ssa *clamped;      /* i64, by lane: the column, or 0 if it does not exist */
    fold_levels levels;
    partial_array shared;
} columns;

/* ---- Elements ---- */

static void load_operand(columns *c, const fold_place *p, const fold_access *a, int k, ssa offset, bool aligned) {
    skeleton *s = &c->w->s;
    emit *e = c->e;
    int n = s->noperands, kind = s->v->operand[k].kind;
    dtype type = skeleton_memory(s, k);
    ssa values[BATCH_LANES], row = skeleton_address(s, k, p->at[k], offset);
    for (int i = 0; i < c->lanes && s->v->operand[k].group; i++) {
        ssa far = emit_op(e, "mul i64", c->clamped[i], c->g->kept_stride[k][0]);
        skeleton_load(s, k, skeleton_address(s, k, row, far), 1, true, a->in + (size_t)i * (size_t)n);
    }
    if (s->v->operand[k].group)
        return;
    if (kind == OPERAND_CONTIGUOUS && aligned) {
        emit_load_vector(e, type, skeleton_address(s, k, row, c->clamped[0]), c->lanes, values);
    } else {
        for (int i = 0; i < c->lanes; i++) {
            if (i && kind == OPERAND_CONSTANT) {
                values[i] = values[0];
                continue;
            }
            ssa far = kind == OPERAND_CONTIGUOUS ? c->clamped[i]
                      : kind == OPERAND_CONSTANT ? ssa_constant(0)
                                                 : emit_op(e, "mul i64", c->clamped[i], c->g->kept_stride[k][0]);
            values[i] = emit_load(e, type, skeleton_address(s, k, row, far));
        }
    }
    for (int i = 0; i < c->lanes; i++)
        a->in[i * n + k] = values[i];
}

static fold_access load_row(columns *c, const fold_place *p, ssa row, bool aligned) {
    skeleton *s = &c->w->s;
    fold_index x = gpu_fold_index(c->g, row, false);
    fold_access a = fold_access_new(c->g, c->lanes);
    emit_invariant(c->e, true);
    for (int k = 0; k < s->noperands; k++)
        if (fold_reads(c->w, k))
            load_operand(c, p, &a, k, gpu_fold_offset(c->g, &x, k), aligned);
    emit_invariant(c->e, false);
    if (s->v->position) {
        int k = variant_position(s->v);
        ssa at = emit_op(c->e, "add i64", s->value[k], gpu_fold_offset(c->g, &x, k));
        at = gpu_fold_position(c->g, at, ssa_constant(0), 0);
        for (int i = 0; i < c->lanes; i++)
            a.position[i] = at;
    }
    return a;
}

/* ---- Visits ---- */

/* Combines the rows of a visit, of one lane, into a slot: as a tree, or one by one from left to right. */
static void add_rows(columns *c, const partial_slot *slot, partial *partials, int n) {
    if (c->order == FOLD_SERIAL) {
        for (int u = 0; u < n; u++)
            fold_slot_add(c->w, slot, &partials[u]);
        return;
    }
    partial all = fold_tree(c->w, partials, n);
    fold_slot_add(c->w, slot, &all);
}

/* Visits this thread's rows from row `base` of the block on, and combines them into the slots. limit: rows from it on do not exist; none:
 * all exist. */
static void visit(columns *c, const fold_place *p, const partial_slot *slots, ssa base, ssa limit, bool aligned) {
    emit *e = c->e;
    int steps = c->w->s.v->fold.accesses;
    fold_access *access = arena_alloc(e->a, (size_t)steps * sizeof *access);
    partial *partials = arena_alloc(e->a, (size_t)steps * sizeof *partials);
    ssa *there = arena_alloc(e->a, (size_t)steps * sizeof *there), row = base;
    for (int u = 0; u < steps; u++) {
        if (c->order == FOLD_FREE && !c->w->s.v->fold.length)
            row = u ? emit_op(e, "add i64", row, c->high) : emit_op(e, "add i64", base, c->above);
        else if (u)
            row = c->w->s.v->fold.length ? ssa_constant(u) : emit_value(e, "add i64 %s, %d", base.text, u);
        ssa safe = row;
        if (ssa_is_set(limit)) {
            there[u] = emit_op(e, "icmp slt i64", row, limit);
            safe = emit_select_as(e, "i64", there[u], row, base);
        }
        access[u] = load_row(c, p, safe, aligned);
    }
    for (int i = 0; i < c->lanes; i++) {
        for (int u = 0; u < steps; u++) {
            partials[u] = fold_access_partial(c->g, &access[u], i);
            partials[u] = fold_if(c->w, there[u], &partials[u]);
        }
        add_rows(c, &slots[i], partials, steps);
    }
}

/* The rows that this thread takes: whole visits from `from` to `full`, and, if `rest`, one more up to `to`. */
typedef struct span {
    ssa from, full, to, step; /* i64; step: from one visit to the next */
    ssa rest;                 /* i1: there is a last visit */
} span;

static span own_rows(columns *c, const fold_place *p) {
    emit *e = c->e;
    int steps = c->w->s.v->fold.accesses;
    span x = {.from = p->begin, .to = p->end};
    ssa width = ssa_constant(steps);
    if (c->order == FOLD_FREE) {
        width = emit_value(e, "mul i64 %s, %d", c->high.text, steps);
    } else if (c->order == FOLD_ORDERED) {
        ssa n = emit_op(e, "sub i64", p->end, p->begin);
        ssa up = emit_value(e, "sub i64 %s, 1", c->high.text);
        ssa each = emit_op(e, "lshr i64", emit_op(e, "add i64", n, up), c->high_shift);
        x.from = emit_min(c->e, emit_op(e, "add i64", p->begin, emit_op(e, "mul i64", c->above, each)), p->end);
        x.to = emit_min(c->e, emit_op(e, "add i64", x.from, each), p->end);
    }
    ssa length = emit_op(e, "sub i64", x.to, x.from);
    ssa left = emit_op(e, "and i64", length, emit_value(e, "sub i64 %s, 1", width.text)); /* a power of two */
    x.full = emit_op(e, "sub i64", x.to, left);
    x.rest = emit_op(e, "icmp slt i64", x.full, x.to);
    x.step = width;
    if (gpu_fold_interleaved(c->g)) {
        ssa first = emit_op(e, "mul i64", p->part, width);
        x.from = c->w->s.v->segmented ? emit_op(e, "add i64", p->begin, first) : first;
        x.step = emit_op(e, "mul i64", gpu_fold_parts(c->g), width);
        x.rest = emit_op(e, "and i1", x.rest, gpu_fold_last_part(c->g, p));
    }
    return x;
}

static void visit_serially(columns *c, const fold_place *p, const span *x, bool aligned) {
    counted_loop i = counted_loop_begin(c->e, "i64", x->from, x->full);
    visit(c, p, c->levels.outer, i.i, ssa_none(), aligned);
    counted_loop_end(c->e, &i, x->step, loop_no_unroll(c->e));
    int end = skeleton_if(&c->w->s, x->rest);
    visit(c, p, c->levels.outer, x->full, x->to, aligned);
    skeleton_end_if(&c->w->s, end);
}

/* All elements in one visit: their number is a constant of the code. */
static void visit_once(columns *c, const fold_place *p, bool aligned) {
    if (c->order != FOLD_SERIAL) {
        fold_levels_begin(&c->levels);
    }
    visit(c, p, c->order == FOLD_SERIAL ? c->levels.outer : c->levels.inner, ssa_constant(0), ssa_none(), aligned);
    if (c->order != FOLD_SERIAL) {
        fold_levels_end(&c->levels);
    }
}

static void visit_all(columns *c, const fold_place *p, bool aligned) {
    emit *e = c->e;
    if (c->w->s.v->fold.length) {
        visit_once(c, p, aligned);
        return;
    }
    span x = own_rows(c, p);
    if (c->order == FOLD_SERIAL) {
        visit_serially(c, p, &x, aligned);
        return;
    }
    ssa many = emit_value(e, "mul i64 %s, %d", x.step.text, INNER_VISITS);
    counted_loop o = counted_loop_begin(e, "i64", x.from, x.full);
    fold_levels_begin(&c->levels);
    ssa limit = emit_min(c->e, emit_op(e, "add i64", o.i, many), x.full);
    counted_loop i = counted_loop_begin(e, "i64", o.i, limit);
    visit(c, p, c->levels.inner, i.i, ssa_none(), aligned);
    counted_loop_end(e, &i, x.step, loop_no_unroll(e));
    fold_levels_end(&c->levels);
    counted_loop_end(e, &o, many, loop_no_unroll(e));
    int end = skeleton_if(&c->w->s, x.rest);
    fold_levels_begin(&c->levels);
    visit(c, p, c->levels.inner, x.full, x.to, aligned);
    fold_levels_end(&c->levels);
    skeleton_end_if(&c->w->s, end);
}

/* ---- Rows of threads ---- */

/* The index of a thread's lane in shared memory. Lanes are a block of entries apart, so that neighbouring threads use different banks. */
static ssa entry(columns *c, ssa thread, int lane) {
    ssa threads = emit_widen(c->e, emit_special_register(c->e, "ntid"));
    ssa base = emit_value(c->e, "mul i64 %s, %d", threads.text, lane);
    return emit_op(c->e, "add i64", base, thread);
}

/* Combines neighbouring rows of threads, then neighbouring pairs of them, and so on, into the slots of the lowest row. */
static void combine_rows(columns *c) {
    emit *e = c->e;
    ssa thread = emit_widen(e, emit_special_register(e, "tid"));
    int some = skeleton_if(&c->w->s, emit_value(e, "icmp sgt i64 %s, 1", c->high.text)); /* the same for the block */
    for (int i = 0; i < c->lanes; i++) {
        partial mine = partial_get(c->w, &c->levels.outer[i]);
        partial_array_put(c->w, &c->shared, entry(c, thread, i), &mine);
    }
    ssa bits = emit_value(e, "zext i32 %s to i64", c->g->shift.text);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), c->high_shift);
    emit_block_barrier(e);
    ssa by = emit_op(e, "shl i64", ssa_constant(1), l.i),
        low = emit_value(e, "sub i64 %s, 1", emit_value(e, "shl i64 %s, 1", by.text).text);
    ssa own = emit_op(e, "and i64", c->above, low);
    int end = skeleton_if(&c->w->s, emit_value(e, "icmp eq i64 %s, 0", own.text));
    ssa other = emit_op(e, "add i64", thread, emit_op(e, "shl i64", by, bits));
    for (int i = 0; i < c->lanes; i++) {
        partial next = partial_array_get(c->w, &c->shared, entry(c, other, i)),
                mine = partial_get(c->w, &c->levels.outer[i]);
        partial both = fold_join(c->w, &mine, &next);
        partial_put(c->w, &c->levels.outer[i], &both);
        partial_array_put(c->w, &c->shared, entry(c, thread, i), &both);
    }
    skeleton_end_if(&c->w->s, end);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
    skeleton_end_if(&c->w->s, some);
}

/* ---- The kernel ---- */

static columns columns_begin(fold_writer *w, gpu_fold *g) {
    emit *e = w->s.e;
    size_t lanes = w->s.v->fold.vector;
    columns c = {.g = g, .w = w, .e = e, .lanes = (int)lanes, .order = w->f->order};
    c.column = arena_alloc(e->a, lanes * sizeof *c.column);
    c.there = arena_alloc(e->a, lanes * sizeof *c.there);
    c.clamped = arena_alloc(e->a, lanes * sizeof *c.clamped);
    c.levels = fold_levels_new(w, c.lanes);
    if (c.order != FOLD_SERIAL && !w->s.v->fold.length)
        c.shared = partial_array_new(w, "fold_threads", c.lanes * THREADS_MOST, fold_sparse(w));
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid");
    ssa wide = emit_op(e, "shl i32", ssa_constant(1), g->shift);
    c.across = emit_widen(e, emit_op(e, "and i32", thread, emit_value(e, "sub i32 %s, 1", wide.text)));
    c.above = emit_widen(e, emit_op(e, "lshr i32", thread, g->shift));
    c.high = emit_widen(e, emit_op(e, "lshr i32", threads, g->shift));
    emit_declare(e, "declare i64 @llvm.cttz.i64(i64, i1)");
    c.high_shift = emit_value(e, "call i64 @llvm.cttz.i64(i64 %s, i1 false)", c.high.text);
    return c;
}

/* Finds the columns of this thread: neighbours where rows are aligned, else as far apart as the tile has threads along a row. */
static void find_columns(columns *c, ssa tile) {
    emit *e = c->e;
    ssa wide = emit_widen(e, emit_op(e, "shl i32", ssa_constant(1), c->g->shift));
    ssa first = emit_value(e, "mul i64 %s, %d", emit_op(e, "mul i64", tile, wide).text, c->lanes);
    ssa beside = emit_value(e, "mul i64 %s, %d", c->across.text, c->lanes);
    ssa own = emit_op(e, "add i64", first, emit_select_as(e, "i64", c->g->aligned, beside, c->across));
    ssa step = emit_select_as(e, "i64", c->g->aligned, ssa_constant(1), wide);
    for (int i = 0; i < c->lanes; i++) {
        c->column[i] = i ? emit_op(e, "add i64", c->column[i - 1], step) : own;
        c->there[i] = emit_op(e, "icmp slt i64", c->column[i], c->g->columns);
        c->clamped[i] = emit_select_as(e, "i64", c->there[i], c->column[i], ssa_constant(0));
    }
}

/* Do neighbouring results of every output make accesses by vectors? */
static bool stores_vectors(const columns *c) {
    const variant *v = c->w->s.v;
    bool all = c->lanes > 1 && !v->reduction.to_states;
    for (int k = v->nin; k < v->nin + v->nout; k++)
        all = all && v->operand[k].kind == OPERAND_CONTIGUOUS;
    return all;
}

static void store_one_by_one(columns *c, const fold_place *p, ssa lowest) {
    emit *e = c->e;
    skeleton *s = &c->w->s;
    ssa offset[VARIANT_OPERANDS];
    for (int i = 0; i < c->lanes; i++) {
        partial x = partial_get(c->w, &c->levels.outer[i]);
        for (int k = s->nin; k < s->nin + s->v->nout; k++)
            offset[k] = emit_op(e, "mul i64", c->column[i], c->g->kept_stride[k][0]);
        gpu_fold_store(c->g, p, &x, offset, emit_op(e, "and i1", lowest, c->there[i]));
    }
}

static void store_columns(columns *c, const fold_place *p) {
    emit *e = c->e;
    ssa lowest = emit_op(e, "and i1", p->there, emit_value(e, "icmp eq i64 %s, 0", c->above.text));
    if (!stores_vectors(c)) {
        store_one_by_one(c, p, lowest);
        return;
    }
    int vectors = emit_label_new(e), singles = emit_label_new(e), end = emit_label_new(e);
    ssa all = emit_op(e, "and i1", c->g->aligned, c->there[c->lanes - 1]);
    emit_branch_if(e, all, vectors, singles);
    emit_label(e, vectors);
    int own = skeleton_if(&c->w->s, lowest);
    partial *x = arena_alloc(e->a, (size_t)c->lanes * sizeof *x);
    for (int i = 0; i < c->lanes; i++)
        x[i] = partial_get(c->w, &c->levels.outer[i]);
    gpu_fold_store_vector(c->g, p, x, c->lanes, c->column[0]);
    skeleton_end_if(&c->w->s, own);
    emit_branch(e, end);
    emit_label(e, singles);
    store_one_by_one(c, p, lowest);
    emit_branch(e, end);
    emit_label(e, end);
}

void gpu_fold_columns(fold_writer *w) {
    emit *e = w->s.e;
    gpu_fold *g = gpu_fold_begin(w);
    columns c = columns_begin(w, g);
    fold_place p = {.there = ssa_bool(true)};
    ssa index, tile;
    gpu_fold_divide(g, &g->across, emit_widen(e, emit_special_register(e, "ctaid")), &index, &tile);
    find_columns(&c, tile);
    gpu_fold_place(g, &p, index, 1);
    for (int k = variant_bounds(w->s.v); k < variant_initial(w->s.v); k++) /* serially each column may be a segment */
        p.at[k] = skeleton_address(&w->s, k, p.at[k], emit_op(e, "mul i64", c.clamped[0], g->kept_stride[k][0]));
    gpu_fold_range(g, &p);
    bool serial = c.order == FOLD_SERIAL;
    w->begun = serial && fold_begins(w);
    partial first = w->begun ? fold_beginning(w) : fold_none(w);
    for (int i = 0; i < c.lanes; i++)
        partial_put(w, &c.levels.outer[i], &first);
    if (c.lanes == 1 || w->s.v->fold.aligned) {
        visit_all(&c, &p, true);
    } else {
        int vectors = emit_label_new(e), singles = emit_label_new(e), end = emit_label_new(e);
        emit_branch_if(e, g->aligned, vectors, singles);
        emit_label(e, vectors);
        visit_all(&c, &p, true);
        emit_branch(e, end);
        emit_label(e, singles);
        visit_all(&c, &p, false);
        emit_branch(e, end);
        emit_label(e, end);
    }
    if (!serial && !w->s.v->fold.length)
        combine_rows(&c);
    store_columns(&c, &p);
}
