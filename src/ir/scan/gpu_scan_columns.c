/* gpu_scan_columns.c - accumulations on the GPU along lines that lie side by side.
 *
 * A block takes `vector << coop` neighbouring lines: 2^coop threads across, each with `vector` of them, and as many rows of threads as the
 * block has room for. A thread scans `accesses` elements of its lines; the states of the rows of threads are scanned through shared memory.
 * If there are enough lines, a block goes from tile to tile by itself; else each tile is a block's, and what comes before a tile is
 * found by look-back, for which each row of threads reads entries of its own. */
#include "ir/scan/gpu_scan.h"

#include "ir/common/lanes.h"

typedef struct columns {
    gpu_scan_kernel *g;
    fold_writer *w;
    int across;         /* log2 of the threads across */
    int steps;          /* elements of a thread, of each of its lines */
    scan_group b;       /* of which `before` is what comes before the tile */
    ssa line, count;    /* i64: the thread's first line along dimension 0; lines from there on, may be negative */
    ssa first, left;    /* i64: the thread's first element; elements from there on, may be negative */
    ssa whole;          /* i1 */
    ssa *raw, *results; /* [(step * vector + i) * noperands, nout] */
    partial *x;         /* [step * vector + i] */
    bool over_blocks;   /* tiles of a line may be taken by several blocks */
} columns;

/* ---- Loads and stores ---- */

static ssa at_row(columns *c, int k, ssa row) {
    skeleton *s = &c->w->s;
    return skeleton_address(s, k, c->g->at[k], emit_op(s->e, "mul i64", row, c->g->along[k]));
}

/* The address in operand k of the thread's line i (a constant, or i64), in a row. */
static ssa at_line(columns *c, int k, ssa row, ssa i) {
    skeleton *s = &c->w->s;
    switch (s->v->operand[k].kind) {
    case OPERAND_CONTIGUOUS:
        return skeleton_address(s, k, row, i);
    case OPERAND_CONSTANT:
        return row;
    default:
        return skeleton_address(s, k, row, emit_op(s->e, "mul i64", i, c->g->kept_stride[k][0]));
    }
}

static ssa *raw_at(columns *c, int step, int i, int k) {
    return &c->raw[(step * c->b.vector + i) * c->w->s.noperands + k];
}

static ssa *result_at(columns *c, int step, int i, int k) {
    return &c->results[(step * c->b.vector + i) * c->w->s.v->nout + k];
}

static void keep_raw(columns *c, int step, int i, int k, ssa value) {
    const char *type = ir_value_type(skeleton_memory(&c->w->s, k));
    emit_line(c->w->s.e, "store %s %s, %s* %s", type, value.text, type, raw_at(c, step, i, k)->text);
}

static void load_row(columns *c, int step, bool whole) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    ssa row = emit_value(e, "add i64 %s, %d", c->first.text, step), values[BATCH_LANES];
    ssa last = emit_value(e, "sub i64 %s, 1", c->g->length.text), end = emit_value(e, "sub i64 %s, 1", c->count.text);
    if (!whole)
        row = emit_min(e, row, last);
    for (int k = 0; k < s->nin; k++) {
        if (!fold_reads(c->w, k))
            continue;
        bool vector = whole && s->v->operand[k].kind == OPERAND_CONTIGUOUS;
        ssa at = at_row(c, k, row);
        if (vector)
            emit_load_vector(e, skeleton_memory(s, k), at, c->b.vector, values);
        for (int i = 0; i < c->b.vector; i++) {
            ssa index = whole ? ssa_constant(i) : emit_min(e, ssa_constant(i), end);
            if (!vector)
                values[i] = emit_load(e, skeleton_memory(s, k), at_line(c, k, at, index));
            keep_raw(c, step, i, k, values[i]);
        }
    }
}

static void store_row(columns *c, int step, bool whole) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    ssa row = emit_value(e, "add i64 %s, %d", c->first.text, step), values[BATCH_LANES];
    for (int k = 0; k < s->v->nout; k++) {
        int o = s->nin + k;
        bool vector = whole && s->v->operand[o].kind == OPERAND_CONTIGUOUS;
        ssa at = at_row(c, o, row);
        for (int i = 0; i < c->b.vector; i++)
            values[i] = *result_at(c, step, i, k);
        if (vector)
            emit_store_vector(e, skeleton_memory(s, o), values, at, c->b.vector);
        for (int i = 0; i < c->b.vector && !vector; i++) {
            int end = whole ? 0 : skeleton_if(s, emit_value(e, "icmp sgt i64 %s, %d", c->count.text, i));
            emit_store(e, skeleton_memory(s, o), values[i], at_line(c, o, at, ssa_constant(i)));
            if (end)
                skeleton_end_if(s, end);
        }
    }
}

/* Calls `row` for each step: by vectors if all of the thread's elements exist, else one by one; guarded: rows past the end are left out. */
static void each_row(columns *c, void (*row)(columns *c, int step, bool whole), bool guarded) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, c->whole, whole, part);
    emit_label(e, whole);
    for (int i = 0; i < c->steps; i++)
        row(c, i, true);
    emit_branch(e, end);
    emit_label(e, part);
    for (int i = 0; i < c->steps; i++) {
        int skip = guarded ? skeleton_if(s, emit_value(e, "icmp sgt i64 %s, %d", c->left.text, i)) : 0;
        row(c, i, false);
        if (skip)
            skeleton_end_if(s, skip);
    }
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- Scans ---- */

static void elements(columns *c) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    for (int step = 0; step < c->steps; step++) {
        ssa position = gpu_scan_position(c->g, emit_value(e, "add i64 %s, %d", c->first.text, step));
        for (int i = 0; i < c->b.vector; i++) {
            ssa in[VARIANT_OPERANDS];
            for (int k = 0; k < s->nin; k++)
                if (fold_reads(c->w, k)) {
                    const char *type = ir_value_type(skeleton_memory(s, k));
                    in[k] = emit_value(e, "load %s, %s* %s", type, type, raw_at(c, step, i, k)->text);
                }
            partial *own = &c->x[step * c->b.vector + i], x = fold_element(c->w, in, position);
            *own = step ? fold_join(c->w, own - c->b.vector, &x) : x;
        }
    }
}

/* before[i]: what comes before the thread's elements in the tile; c->b.total[i]: the state of the tile alone. */
static void scan_rows(columns *c, partial *before) {
    emit *e = c->w->s.e;
    for (int i = 0; i < c->b.vector && c->b.rows == 1; i++) {
        before[i] = c->b.total[i] = c->x[(c->steps - 1) * c->b.vector + i];
        before[i].present = ssa_bool(false);
    }
    if (c->b.rows == 1)
        return;
    for (int i = 0; i < c->b.vector; i++)
        scan_shared_put(c->g, scan_group_place(&c->b, c->b.row, i), &c->x[(c->steps - 1) * c->b.vector + i]);
    emit_block_barrier(c->w->s.e);
    for (int row = 0; row < c->b.rows; row++) {
        ssa after = emit_value(e, "icmp uge i32 %s, %d", c->b.row.text, row);
        for (int i = 0; i < c->b.vector; i++) {
            partial one = scan_shared_get(c->g, scan_group_place(&c->b, ssa_constant(row), i));
            if (row) {
                before[i] = row > 1 ? fold_choose(c->w, after, &c->b.total[i], &before[i]) : c->b.total[i];
                one = fold_join(c->w, &c->b.total[i], &one);
            }
            c->b.total[i] = one;
        }
    }
    for (int i = 0; i < c->b.vector; i++)
        before[i].present = emit_value(e, "icmp ne i32 %s, 0", c->b.row.text);
}

/* ---- The kernel ---- */

static void find_lines(columns *c, ssa block) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    ssa thread = emit_special_register(e, "tid"), group, outer, tile;
    ssa column = emit_value(e, "and i32 %s, %d", thread.text, (1 << c->across) - 1);
    c->b.line = emit_value(e, "mul i32 %s, %d", column.text, c->b.vector);
    c->b.row = emit_value(e, "lshr i32 %s, %d", thread.text, c->across);
    skeleton_divide(s, &c->g->order, false, block, &tile, &c->b.group);
    skeleton_divide(s, &c->g->columns, false, c->b.group, &outer, &group);
    c->b.tile = tile;
    ssa extent = c->w->s.v->ndim > 1 ? c->g->kept[0].extent : c->g->lines;
    if (c->w->s.v->ndim > 1 && !c->w->s.v->wide)
        extent = emit_widen(e, extent);
    ssa first = emit_value(e, "mul i64 %s, %d", emit_widen(e, group).text, c->b.width);
    c->line = emit_op(e, "add i64", first, emit_widen(e, c->b.line));
    c->count = emit_op(e, "sub i64", extent, c->line);
    if (c->w->s.v->ndim > 1) {
        gpu_scan_line(c->g, emit_widen(e, outer), 1);
    } else {
        memcpy(c->g->at, s->base, sizeof s->base);
        if (s->v->position)
            c->g->at[variant_position(s->v)] = s->value[variant_position(s->v)];
    }
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].kind != OPERAND_NUMBER) {
            ssa by = emit_op(e, "mul i64", c->line, c->g->kept_stride[k][0]);
            c->g->at[k] = s->v->operand[k].kind == OPERAND_POSITION ? emit_op(e, "add i64", c->g->at[k], by)
                                                                    : skeleton_address(s, k, c->g->at[k], by);
        }
}

static void find_elements(columns *c, ssa tile) {
    emit *e = c->w->s.e;
    ssa from = emit_value(e, "mul i64 %s, %d", emit_widen(e, tile).text, c->b.rows * c->steps);
    ssa row = emit_widen(e, emit_value(e, "mul i32 %s, %d", c->b.row.text, c->steps));
    c->first = emit_op(e, "add i64", from, row);
    c->left = emit_op(e, "sub i64", c->g->length, c->first);
    ssa all = emit_value(e, "icmp sge i64 %s, %d", c->left.text, c->steps);
    ssa lines = emit_value(e, "icmp sge i64 %s, %d", c->count.text, c->b.vector);
    c->whole = emit_op(e, "and i1", emit_op(e, "and i1", all, lines), c->g->aligned);
}

static void results(columns *c, const partial *before) {
    emit *e = c->w->s.e;
    for (int i = 0; i < c->b.vector; i++) {
        partial tiles = partial_get(c->w, &c->b.before[i]);
        partial all = fold_join(c->w, &tiles, &before[i]);
        for (int step = 0; step < c->steps; step++) {
            partial x = fold_join(c->w, &all, &c->x[step * c->b.vector + i]);
            ssa count = emit_value(e, "add i64 %s, %d", c->first.text, step + 1);
            x.present = ssa_none();
            fold_results(c->w, &x, count, result_at(c, step, i, 0));
        }
    }
}

static void carry_on(columns *c) {
    for (int i = 0; i < c->b.vector; i++) {
        partial before = partial_get(c->w, &c->b.before[i]), x = fold_join(c->w, &before, &c->b.total[i]);
        partial_put(c->w, &c->b.before[i], &x);
    }
}

static void no_state_before(columns *c) {
    for (int i = 0; i < c->b.vector; i++) {
        partial none = c->b.total[i];
        none.present = ssa_bool(false);
        partial_put(c->w, &c->b.before[i], &none);
    }
}

/* One tile: c->b.tile, or the next one of this block. */
static void one_tile(columns *c, ssa tile) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    partial *before = arena_alloc(e->a, (size_t)c->b.vector * sizeof *before);
    c->b.tile =
        tile; /* which is the first one where a tile looks back, but nothing about that is to be kept in registers beforehand */
    find_elements(c, tile);
    each_row(c, load_row, false);
    elements(c);
    scan_rows(c, before);
    /* what comes before the line's first tile is not there: any state will do for it */
    int first = skeleton_if(s, emit_value(e, "icmp eq i32 %s, 0", tile.text));
    no_state_before(c);
    skeleton_end_if(s, first);
    if (c->over_blocks) {
        int several = skeleton_if(s, emit_value(e, "icmp ne i64 %s, 0", c->g->counter.text));
        no_state_before(c);
        gpu_scan_look_back(&c->b);
        skeleton_end_if(s, several);
    }
    results(c, before);
    each_row(c, store_row, true);
    carry_on(c);
}

static void make_variables(columns *c) {
    skeleton *s = &c->w->s;
    size_t n = (size_t)(c->steps * c->b.vector), vector = (size_t)c->b.vector;
    c->x = arena_alloc(s->e->a, n * sizeof *c->x);
    c->b.total = arena_alloc(s->e->a, vector * sizeof *c->b.total);
    c->b.before = arena_alloc(s->e->a, vector * sizeof *c->b.before);
    c->results = arena_alloc(s->e->a, n * s->v->nout * sizeof *c->results);
    c->raw = arena_alloc(s->e->a, n * (size_t)s->noperands * sizeof *c->raw);
    for (int i = 0; i < c->b.vector; i++)
        c->b.before[i] = partial_variable(c->w, true);
    for (int step = 0; step < c->steps; step++)
        for (int i = 0; i < c->b.vector; i++)
            for (int k = 0; k < s->nin; k++)
                if (fold_reads(c->w, k))
                    *raw_at(c, step, i, k) = emit_value(s->e, "alloca %s", ir_value_type(skeleton_memory(s, k)));
}

void gpu_scan_columns(gpu_scan_kernel *g) {
    const variant *v = g->w->s.v;
    emit *e = g->w->s.e;
    columns c = {.g = g, .w = g->w, .across = v->scan.coop, .steps = v->scan.accesses};
    c.b = (scan_group){.g = g,
                       .width = v->scan.vector << c.across,
                       .vector = v->scan.vector,
                       .together = 1,
                       .rows = SCAN_COLUMN_THREADS >> c.across};
    c.over_blocks = c.across <= SCAN_ACROSS_MAX;
    int entries = c.over_blocks && c.b.rows < SCAN_LOOK_BACK ? SCAN_LOOK_BACK : c.b.rows;
    g->shared = entries * c.b.width * g->words + 1;
    make_variables(&c);
    if (c.over_blocks)
        gpu_scan_group_begin(&c.b);
    ssa block = gpu_scan_ticket(g, g->shared - 1);
    find_lines(&c, block);
    ssa several = emit_value(e, "icmp ne i64 %s, 0", g->counter.text);
    ssa end = emit_select_as(e, "i32", several, emit_value(e, "add i32 %s, 1", c.b.tile.text), g->tiles);
    counted_loop l = counted_loop_begin(e, "i32", c.b.tile, end);
    one_tile(&c, l.i);
    emit_block_barrier(g->w->s.e); /* what lies in shared memory has been read */
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}
