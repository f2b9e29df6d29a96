/* gpu_rows.c - every operand contiguous, in contiguous records, or constant along dimension 0. A block covers a tile of columns and rows: 2^shift threads along a
 * row, each with `vector` columns, and `repeat` rows a thread, so that operands that are the same for all rows stay in registers. A
 * block finds its tile by one division by magic numbers. A thread whose vector lies within the row and is aligned loads and stores
 * whole vectors, of as many rows at a time as it takes to keep the memory busy; any other thread goes column by column. */
#include "ir/elementwise/elementwise.h"

typedef struct rows {
    ssa columns, vectors;     /* i64, i1 */
    ssa lane, lanes, across;  /* i32: thread along the row, their number, and threads across rows */
    ssa count;                /* i32: this thread's rows span this many from its first on, in the tile and the array */
    ssa column;               /* i64: the tile's first */
    ssa row;                  /* i64: this thread's first */
    ssa outer[UF_MAX_NDIM];   /* i32: index in dimensions from 2 on */
    ssa at[VARIANT_OPERANDS]; /* arrays: address of the tile's column 0 in the thread's first row */
    ssa stride[VARIANT_OPERANDS]; /* i64: of dimension 1 */
} rows;

/* Which tile the block is, and where in it the thread. */
static void find_tile(skeleton *s, rows *f) {
    emit *e = s->e;
    const variant *v = s->v;
    f->columns = skeleton_parameter(s, GPU_ROWS_EXTENTS);
    ssa nrows = skeleton_parameter(s, GPU_ROWS_EXTENTS), shift = skeleton_parameter(s, GPU_ROWS_SHIFT), tile, row_tile,
        rest;
    f->vectors = skeleton_parameter(s, GPU_ROWS_VECTORS);
    divisor tile_columns = skeleton_divisor(s, GPU_ROWS_ACROSS), tile_rows = skeleton_divisor(s, GPU_ROWS_DOWN);
    ssa thread = emit_special_register(s->e, "tid");
    f->lanes = emit_value(e, "shl i32 1, %s", shift.text);
    f->lane = emit_op(e, "and i32", thread, emit_value(e, "sub i32 %s, 1", f->lanes.text));
    f->across = emit_op(e, "lshr i32", emit_special_register(s->e, "ntid"), shift);
    skeleton_divide(s, &tile_columns, false, emit_special_register(s->e, "ctaid"), &row_tile, &tile);
    if (v->ndim > 2) {
        rest = row_tile;
        skeleton_divide(s, &tile_rows, false, rest, &rest, &row_tile);
        for (int d = 2; d < v->ndim - 1; d++) {
            divisor extent = skeleton_divisor(s, GPU_ROWS_OUTER);
            skeleton_divide(s, &extent, false, rest, &rest, &f->outer[d]);
        }
        f->outer[v->ndim - 1] = rest;
    }
    ssa width = emit_widen(e, emit_value(e, "mul i32 %s, %d", f->lanes.text, v->rows.vector));
    ssa height = emit_widen(e, emit_value(e, "mul i32 %s, %d", f->across.text, v->rows.rows_per_thread));
    f->column = emit_op(e, "mul i64", emit_widen(e, tile), width);
    f->row = emit_op(e, "mul i64", emit_widen(e, row_tile), height);
    f->row = emit_op(e, "add i64", f->row, emit_widen(e, emit_op(e, "lshr i32", thread, shift)));
    ssa left = emit_op(e, "sub i64", nrows, f->row), some = emit_op(e, "icmp slt i64", left, height);
    f->count = emit_value(e, "trunc i64 %s to i32", emit_select_as(e, "i64", some, left, height).text);
}

static void find_operands(skeleton *s, rows *f) {
    emit *e = s->e;
    for (int k = 0; k < s->noperands; k++) {
        if (!skeleton_moves(s, k))
            continue;
        f->stride[k] = skeleton_parameter(s, GPU_ROWS_STRIDES);
        ssa offset = emit_op(e, "mul i64", f->row, f->stride[k]);
        for (int d = 2; d < s->v->ndim; d++) {
            ssa part = emit_op(e, "mul i64", emit_widen(e, f->outer[d]), skeleton_parameter(s, GPU_ROWS_STRIDES));
            offset = emit_op(e, "add i64", offset, part);
        }
        f->at[k] = skeleton_address(s, k, s->base[k], offset);
        if (s->v->operand[k].kind != OPERAND_CONSTANT)
            f->at[k] = skeleton_neighbour(s, k, f->at[k], f->column);
    }
}

/* Where operand k has column 0 of the tile in a row, i64, counted from the thread's first. */
static ssa row_of(skeleton *s, const rows *f, int k, ssa row) {
    if (s->v->operand[k].fixed || ssa_is(row, 0))
        return f->at[k];
    return skeleton_address(s, k, f->at[k], emit_op(s->e, "mul i64", row, f->stride[k]));
}

static bool is_constant(const skeleton *s, int k) { return s->v->operand[k].kind == OPERAND_CONSTANT; }
static bool is_fixed(const skeleton *s, int k) { return s->v->operand[k].fixed && !skeleton_is_output(s, k); }

/* Operand k of a group, at a column of a row that row_of found. */
static void access_column(skeleton *s, batch *b, int group, int k, ssa row, ssa column) {
    if (is_constant(s, k))
        batch_broadcast(s, b, group, k, row);
    else
        batch_access(s, b, group, k, skeleton_neighbour(s, k, row, column));
}

/* Some of the thread's columns, i64. */
typedef struct columns {
    ssa at[SINGLE_STEP];
    int count;
} columns;

/* The first column stands in for those beyond the limit. */
static columns find_columns(skeleton *s, int count, ssa first, ssa apart, ssa limit) {
    columns c = {.at = {first}, .count = count};
    ssa far = first;
    for (int i = 1; i < count; i++) {
        far = emit_op(s->e, "add i64", far, apart);
        c.at[i] = emit_select_as(s->e, "i64", emit_op(s->e, "icmp slt i64", far, limit), far, first);
    }
    return c;
}

/* The columns of one row as groups from `group` on; operands that are the same for all rows are in `fixed`. */
static void load_row(skeleton *s, const rows *f, batch *b, int group, ssa row, const columns *c, const batch *fixed) {
    for (int k = 0; k < s->noperands; k++) {
        if (s->uniform[k] || (variant_follows(s->v, k) && !is_fixed(s, k)))
            continue;
        ssa at = is_fixed(s, k) ? ssa_none() : row_of(s, f, k, row);
        for (int i = 0; i < c->count; i++)
            if (is_fixed(s, k))
                batch_copy(s, b, group + i, fixed, i, k);
            else if (i && is_constant(s, k))
                batch_copy(s, b, group + i, b, group, k);
            else
                access_column(s, b, group + i, k, at, c->at[i]);
    }
}

/* `step` rows from the thread's row `first` on, which exists; loaded before any of them is computed. */
static void some_rows(skeleton *s, const rows *f, ssa first, int step, const columns *c, const batch *fixed) {
    emit *e = s->e;
    batch b = batch_new(s, step * c->count, fixed->vector, fixed->aligned);
    ssa far = first;
    for (int r = 0; r < step; r++) {
        ssa row = first;
        if (r) {
            far = emit_op(e, "add i32", far, f->across);
            row = emit_select_as(e, "i32", emit_op(e, "icmp slt i32", far, f->count), far, first);
        }
        load_row(s, f, &b, r * c->count, emit_widen(e, row), c, fixed);
    }
    batch_finish(s, &b);
}

/* Some columns of all rows of the thread, `step` rows at a time; a column stands for `vector` neighbours. What is the same
 * for all rows is loaded once. */
static void all_rows(skeleton *s, const rows *f, const columns *c, int step, int vector, bool aligned) {
    emit *e = s->e;
    batch fixed = batch_new(s, c->count, vector, aligned);
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < s->noperands; k++)
            if (skeleton_moves(s, k) && is_fixed(s, k))
                access_column(s, &fixed, i, k, f->at[k], c->at[i]);
    if (step >= s->v->rows.rows_per_thread) {
        some_rows(s, f, ssa_constant(0), s->v->rows.rows_per_thread, c, &fixed);
        return;
    }
    ssa apart = emit_value(e, "mul i32 %s, %d", f->across.text, step);
    counted_loop l = counted_loop_begin(e, "i32", ssa_constant(0), f->count);
    some_rows(s, f, l.i, step, c, &fixed);
    counted_loop_end(e, &l, apart, loop_no_unroll(e));
}

enum {
    IN_FLIGHT = 32 /* bytes that a thread loads before it computes */
};

/* Rows that are loaded at once: as many as keep enough bytes in flight, each as many bodies as there are columns; one where the body has
 * a loop, which bounds the time. */
static int row_step(const skeleton *s) {
    if (s->t->has_loop)
        return 1;
    int bytes = 0, step = 1;
    for (int k = 0; k < s->noperands; k++)
        if (!s->uniform[k] && !skeleton_is_output(s, k) && !is_fixed(s, k))
            bytes += dtypes[skeleton_memory(s, k)].size * (is_constant(s, k) ? 1 : s->v->rows.vector);
    while (bytes && bytes * step < IN_FLIGHT && step < s->v->rows.rows_per_thread)
        step *= 2;
    return step;
}

/* Column by column: a thread whose vector reaches beyond the row takes the columns of its vector; where vectors are not used at all,
 * neighbouring threads take neighbouring columns. left: columns of the row from the tile's first on. */
static void single_columns(skeleton *s, const rows *f, ssa first, ssa left) {
    emit *e = s->e;
    int vector = s->v->rows.vector, most = skeleton_single_step(s), count = vector < most ? vector : most;
    ssa apart = emit_select_as(e, "i64", f->vectors, ssa_constant(1), emit_widen(e, f->lanes));
    ssa end = emit_op(e, "add i64", first, emit_value(e, "mul i64 %s, %d", apart.text, vector));
    ssa limit = emit_select_as(e, "i64", emit_op(e, "icmp slt i64", end, left), end, left);
    ssa step = emit_value(e, "mul i64 %s, %d", apart.text, count);
    counted_loop l = counted_loop_begin(e, "i64", first, limit);
    columns c = find_columns(s, count, l.i, apart, limit);
    all_rows(s, f, &c, most / count, 1, false);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

void gpu_rows(skeleton *s) {
    emit *e = s->e;
    const variant *v = s->v;
    rows f = {.column = ssa_none()};
    bool pairs = skeleton_has_pairs(v),
         both = v->rows.vector > 1 || (pairs && v->rows.rows_per_thread > 1) || skeleton_has_records(v);
    find_tile(s, &f);
    find_operands(s, &f);
    ssa mine = emit_value(e, "mul i32 %s, %d", f.lane.text, v->rows.vector), first = mine;
    if (both)
        first = emit_select_as(e, "i32", f.vectors, mine, f.lane);
    first = emit_widen(e, first);
    int some = emit_label_new(e), whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    ssa left = emit_op(e, "sub i64", f.columns, f.column);
    ssa in_row = emit_op(e, "icmp slt i64", first, left), in_rows = emit_value(e, "icmp sgt i32 %s, 0", f.count.text);
    emit_branch_if(e, emit_op(e, "and i1", in_row, in_rows), some, end);
    emit_label(e, some);
    for (int k = 0; k < s->noperands; k++)
        if (!s->uniform[k] && is_fixed(s, k) && is_constant(s, k))
            skeleton_load_uniform(s, k, f.at[k]);
    if (both) {
        ssa fits = emit_op(e, "icmp sle i64", emit_value(e, "add i64 %s, %d", first.text, v->rows.vector), left);
        emit_branch_if(e, emit_op(e, "and i1", fits, f.vectors), whole, part);
        emit_label(e, whole);
    }
    columns mine_alone = {.at = {first}, .count = 1};
    all_rows(s, &f, &mine_alone, row_step(s), v->rows.vector, both || !pairs);
    emit_branch(e, end);
    if (both) {
        emit_label(e, part);
        single_columns(s, &f, first, left);
        emit_branch(e, end);
    }
    emit_label(e, end);
}
