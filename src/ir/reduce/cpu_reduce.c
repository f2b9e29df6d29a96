/* cpu_reduce.c - the CPU's kernels for reductions, by pairwise summation (pairwise.h). Rows: the lanes take neighbouring elements of one
 * result, and are combined in the end; a result of few elements has few lanes and no stack. Where the order of combining is fixed there
 * is one lane. Columns: the lanes take neighbouring results. Merged rows: the lanes take the neighbouring elements of several results,
 * each of which is combined in the end. */
#include "ir/reduce/pairwise.h"

#include <assert.h>

enum {
    COLUMN_BYTES =
        16384 /* of the accumulators of one level, for columns: more than for rows, so that memory is read in long pieces */
};

typedef struct cpu_reduction {
    fold_writer *w;
    pairwise c;
    int dims;  /* of the reduced loop */
    int inner; /* its dimension along which steps are: 1 where rows are merged, else 0 */
    ssa n, elements, first, last;
    ssa stop;                /* segments: what the address of the last one's end would be (i64) */
    ssa extent[UF_MAX_NDIM]; /* of the reduced loop's dimensions but the last */
    operand_strides kept, reduced[UF_MAX_NDIM];
    ssa kept_stride[VARIANT_OPERANDS];
    extremum_search extremum; /* which: none, if results are not found that way */
} cpu_reduction;

/* ---- Parameters ---- */

static bool is_position(const fold_writer *w, int k) { return w->s.v->operand[k].kind == OPERAND_POSITION; }

static ssa known(ssa stride, bool one) { return one ? ssa_constant(1) : stride; }

static void read_parameters(cpu_reduction *q) {
    fold_writer *w = q->w;
    skeleton *s = &w->s;
    q->n = skeleton_parameter(s, CPU_FOLD_RESULTS);
    for (int k = 0; k < s->noperands; k++)
        if (operand_has_strides(s->v, k))
            q->kept_stride[k] = skeleton_parameter(s, CPU_FOLD_KEPT_STRIDES);
    q->elements = skeleton_parameter(s, CPU_FOLD_ELEMENTS);
    q->first = skeleton_parameter(s, CPU_FOLD_FIRST);
    q->last = skeleton_parameter(s, CPU_FOLD_LAST);
    if (s->v->segmented)
        q->stop = skeleton_parameter(s, CPU_FOLD_STOP);
    for (int d = 0; d < q->dims - 1; d++)
        q->extent[d] = skeleton_parameter(s, CPU_FOLD_EXTENTS);
    for (int k = 0; k < s->noperands; k++) {
        q->kept.by[k] = fold_reads(w, k) ? q->kept_stride[k] : ssa_none();
        for (int d = 0; d < q->dims && variant_moves(s->v, k); d++) {
            ssa stride = skeleton_parameter(s, CPU_FOLD_REDUCED_STRIDES);
            if (is_position(w, k))
                q->reduced[d].position = known(stride, d == 0 && s->v->operand[k].unit);
            else
                q->reduced[d].by[k] = stride;
        }
    }
}

/* Where each result of a row has a segment of its own, the inputs are the same for all of them. */
static void fix_segments(cpu_reduction *q) {
    const variant *v = q->w->s.v;
    if (!v->segmented || !v->operand[variant_bounds(v)].unit)
        return;
    for (int i = 0; i < 2; i++)
        q->kept_stride[variant_bounds(v) + i] = ssa_constant(1);
    for (int k = 0; k < q->w->s.noperands; k++)
        q->kept.by[k] = ssa_none();
}

/* Strides from lane to lane, which for some kinds of operands are constants. */
static operand_strides lane_strides(cpu_reduction *q, const operand_strides *by) {
    fold_writer *w = q->w;
    operand_strides lanes = *by;
    for (int k = 0; k < w->s.noperands; k++) {
        int kind = w->s.v->operand[k].kind;
        if (!ssa_is_set(lanes.by[k]))
            continue;
        const variant_operand *o = &w->s.v->operand[k];
        lanes.by[k] = kind == OPERAND_CONTIGUOUS    ? ssa_constant(1)
                      : kind == OPERAND_INTERLEAVED ? ssa_constant(o->record / dtypes[o->memory].size)
                      : kind == OPERAND_CONSTANT    ? ssa_none()
                                                    : skeleton_opaque_stride(w->s.e, by->by[k]);
    }
    return lanes;
}

static element_place start(const cpu_reduction *q) {
    const skeleton *s = &q->w->s;
    element_place p;
    for (int k = 0; k < s->noperands; k++)
        p.at[k] = s->base[k];
    p.position = s->v->position ? s->value[variant_position(s->v)] : ssa_none();
    return p;
}

/* ---- Results ---- */

static void store_results(cpu_reduction *q, const partial *x, ssa count, ssa index, bool along) {
    fold_writer *w = q->w;
    skeleton *s = &w->s;
    emit *e = s->e;
    ssa results[VARIANT_OPERANDS];
    fold_outcome(w, x, count, results);
    for (int k = s->nin; k < s->nin + s->v->nout; k++) {
        bool unit = along && s->v->operand[k].kind == OPERAND_CONTIGUOUS;
        ssa offset = unit ? index : emit_op(e, "mul i64", index, q->kept_stride[k]);
        emit_store(e, skeleton_memory(s, k), results[k - s->nin], skeleton_address(s, k, s->base[k], offset));
    }
}

/* ---- The dimensions of the reduced loop above that of the steps ---- */

static element_place nest_begin(cpu_reduction *q, const element_place *p, counted_loop *loops) {
    element_place at = *p;
    for (int d = q->dims - 1; d > q->inner; d--) {
        bool outer = d == q->dims - 1;
        loops[d] =
            counted_loop_begin(q->w->s.e, "i64", outer ? q->first : ssa_constant(0), outer ? q->last : q->extent[d]);
        at = element_place_moved(q->w, &at, &q->reduced[d], loops[d].i);
    }
    return q->dims == q->inner + 1 ? element_place_moved(q->w, &at, &q->reduced[q->inner], q->first) : at;
}

static void nest_end(cpu_reduction *q, const counted_loop *loops) {
    for (int d = q->inner + 1; d < q->dims; d++)
        counted_loop_end(q->w->s.e, &loops[d], ssa_constant(1), 0);
}

/* ---- Segments ---- */

/* The address of bound i of result r. */
static ssa bound_address(cpu_reduction *q, ssa r, int i) {
    skeleton *s = &q->w->s;
    int k = variant_bounds(s->v) + i;
    return skeleton_address(s, k, s->base[k], emit_op(s->e, "mul i64", r, q->kept_stride[k]));
}

/* The segment of result r, whose bounds are read: whether it is within the elements (i1), where it begins, and how many it has. */
static ssa segment(cpu_reduction *q, ssa r, ssa *begin, ssa *count) {
    emit *e = q->w->s.e;
    ssa first = bound_address(q, r, 0), second = bound_address(q, r, 1);
    ssa open = emit_op(e, "icmp eq i64", emit_value(e, "ptrtoint i64* %s to i64", second.text), q->stop);
    *begin = emit_load(e, DT_INT64, first);
    ssa end = emit_load(e, DT_INT64, emit_select_as(e, "i64*", open, first, second));
    ssa over = emit_op(e, "or i1", open, emit_op(e, "icmp sgt i64", end, q->last));
    ssa stop = emit_select_as(e, "i64", over, q->last, end), length = emit_op(e, "sub i64", stop, *begin);
    ssa some = emit_value(e, "icmp sgt i64 %s, 0", length.text);
    *count = emit_select_as(e, "i64", some, length, ssa_constant(1));
    return emit_op(e, "icmp ult i64", *begin, q->last);
}

/* ---- Columns ---- */

/* All steps of `width` lanes, from p on. */
static void take_all(cpu_reduction *q, const element_place *p, ssa width) {
    counted_loop loops[UF_MAX_NDIM];
    emit *e = q->w->s.e;
    element_place at = nest_begin(q, p, loops);
    ssa steps = q->dims == q->inner + 1 ? emit_op(e, "sub i64", q->last, q->first) : q->extent[q->inner];
    pairwise_run(&q->c, &at, unknown_each_time(e, steps), width, ssa_constant(0));
    nest_end(q, loops);
}

/* Results first .. first + width - 1 of `count` elements each. */
static void fold_tile(cpu_reduction *q, ssa first, ssa width, ssa count) {
    fold_writer *w = q->w;
    emit *e = w->s.e;
    element_place all = start(q), p = element_place_moved(w, &all, &q->kept, first);
    pairwise_clear(&q->c, width);
    take_all(q, &p, width);
    pairwise_end(&q->c, width);
    lane_loop l = lanes_begin(e, width, true);
    partial x = pairwise_lane(&q->c, l.loop.i);
    store_results(q, &x, count, emit_op(e, "add i64", first, l.loop.i), true);
    lanes_end(e, &l, false);
}

/* All results in a row have the same bounds. */
static void fold_columns(cpu_reduction *q) {
    emit *e = q->w->s.e;
    int lanes = q->c.lanes, end = 0;
    ssa count = q->elements;
    q->c.lane = lane_strides(q, &q->kept);
    q->c.step = q->reduced[0];
    if (q->w->s.v->segmented) {
        end = skeleton_if(&q->w->s, segment(q, ssa_constant(0), &q->first, &count));
        q->last = emit_op(e, "add i64", q->first, count);
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), q->n);
    ssa left = emit_op(e, "sub i64", q->n, l.i), few = emit_value(e, "icmp slt i64 %s, %d", left.text, lanes);
    fold_tile(q, l.i, emit_select_as(e, "i64", few, left, ssa_constant(lanes)), count);
    counted_loop_end(e, &l, ssa_constant(lanes), loop_no_unroll(e));
    if (end)
        skeleton_end_if(&q->w->s, end);
}

/* ---- Rows ---- */

/* A run of m elements along dimension 0, in whole steps and a part of one. */
static void row_run(cpu_reduction *q, const element_place *p, ssa m, ssa width) {
    emit *e = q->w->s.e;
    if (q->c.lanes == 1)
        pairwise_run(&q->c, p, m, width, ssa_constant(0));
    else
        pairwise_run(&q->c, p, emit_op(e, "udiv i64", m, width), width, emit_op(e, "urem i64", m, width));
}

/* row_short in registers, up to where lanes are combined. */
static void row_held(cpu_reduction *q, pairwise *held, const element_place *p, ssa m) {
    emit *e = q->w->s.e;
    ssa width = ssa_constant(held->lanes), steps = emit_op(e, "udiv i64", m, width),
        part = emit_op(e, "urem i64", m, width);
    held->step = strides_scaled(q->w, &held->lane, width);
    pairwise_held_clear(held);
    pairwise_plain(held, p, steps, held->lanes);
    int whole = skeleton_if(&q->w->s, emit_value(e, "icmp ne i64 %s, 0", part.text));
    element_place rest = element_place_moved(q->w, p, &held->step, steps);
    pairwise_held_part(held, &rest, part, emit_value(e, "icmp eq i64 %s, 0", steps.text));
    skeleton_end_if(&q->w->s, whole);
}

/* Few elements along the one reduced dimension: without the stack. Branches to `end`. */
static void row_short(cpu_reduction *q, const element_place *p, ssa m, int lanes, int end) {
    emit *e = q->w->s.e;
    ssa width = ssa_constant(lanes);
    int some = emit_label_new(e), none = emit_label_new(e);
    pairwise_few(&q->c, p, m, end);
    emit_branch_if(e, emit_op(e, "icmp slt i64", m, width), none, some);
    emit_label(e, none);
    pairwise_part(&q->c, p, m, true);
    pairwise_halve(&q->c, ssa_constant(0), m);
    emit_branch(e, end);
    emit_label(e, some);
    ssa steps = emit_op(e, "udiv i64", m, width), part = emit_op(e, "urem i64", m, width);
    q->c.step = strides_scaled(q->w, &q->c.lane, width);
    pairwise_plain(&q->c, p, steps, lanes);
    element_place rest = element_place_moved(q->w, p, &q->c.step, steps);
    pairwise_part(&q->c, &rest, part, false);
    pairwise_halve_all(&q->c, lanes);
    emit_branch(e, end);
}

/* Do all elements that are read lie side by side along dimension 0? */
static bool is_contiguous(const cpu_reduction *q) {
    bool strided = false;
    for (int k = 0; k < q->w->s.noperands; k++)
        strided |= fold_reads(q->w, k) && ssa_is_set(q->c.lane.by[k]) && !ssa_is(q->c.lane.by[k], 1);
    return !strided;
}

/* width: all lanes, where there is one dimension. Where they are held, they are still to be combined. */
static void row_long(cpu_reduction *q, const element_place *p, ssa m, ssa width) {
    counted_loop loops[UF_MAX_NDIM];
    q->c.step = strides_scaled(q->w, &q->c.lane, width);
    pairwise_clear(&q->c, width);
    q->c.dense = q->dims == 1 && q->c.lanes > 1 && is_contiguous(q);
    if (q->dims == 1) {
        row_run(q, p, m, width);
    } else {
        element_place at = nest_begin(q, p, loops);
        row_run(q, &at, m, width);
        nest_end(q, loops);
    }
    q->c.dense = false;
    pairwise_end(&q->c, width);
    if (q->c.lanes > 1 && !pairwise_holds(&q->c))
        pairwise_halve(&q->c, ssa_constant(0), width);
}

/* Of which lengths are rows? Where counts are taken in fewer bits the engine does not know what the lengths are told apart by. */
static row_lengths rows_of(const cpu_reduction *q) {
    row_lengths rows = q->c.few == DT_NONE ? (row_lengths)q->w->s.v->cpu_fold.rows : ROWS_ANY;
    /* The engine chose by code_traits.short_rows. */
    assert(rows != ROWS_SHORT || pairwise_short(&q->c) >= pairwise_short_rows(q->w->f));
    assert(rows != ROWS_LONG || pairwise_short(&q->c) == pairwise_short_rows(q->w->f));
    return rows;
}

static void branch_by_length(cpu_reduction *q, ssa m, int few, int many) {
    emit *e = q->w->s.e;
    emit_branch_if(e, emit_value(e, "icmp sle i64 %s, %d", m.text, pairwise_short(&q->c)), few, many);
}

/* Where lanes are held: leaves the lanes of one vector, and returns how many of them have an element. */
static ssa row_in_lanes(cpu_reduction *q, pairwise *held, const element_place *p, ssa m, row_lengths rows) {
    if (rows == ROWS_SHORT) {
        row_held(q, held, p, m);
        return m;
    }
    row_long(q, p, m, ssa_constant(q->c.lanes));
    pairwise_held_gather(&q->c, held);
    return ssa_constant(held->lanes);
}

static ssa row_of_any_length(cpu_reduction *q, pairwise *held, const element_place *p, ssa m) {
    emit *e = q->w->s.e;
    int begin[2] = {emit_label_new(e), emit_label_new(e)}, end[2] = {emit_label_new(e), emit_label_new(e)};
    int both = emit_label_new(e);
    ssa lanes[2];
    branch_by_length(q, m, begin[0], begin[1]);
    for (int i = 0; i < 2; i++) {
        emit_label(e, begin[i]);
        lanes[i] = row_in_lanes(q, held, p, m, i ? ROWS_LONG : ROWS_SHORT);
        emit_branch(e, end[i]);
        emit_label(e, end[i]);
        emit_branch(e, both);
    }
    emit_label(e, both);
    return emit_value(e, "phi i64 [ %s, %%L%d ], [ %s, %%L%d ]", lanes[0].text, end[0], lanes[1].text, end[1]);
}

/* Where lanes are held: they are combined by the same code, whatever the length. */
static void row_by_lanes(cpu_reduction *q, const element_place *p, ssa m) {
    pairwise held = pairwise_held(&q->c);
    row_lengths rows = rows_of(q);
    ssa lanes = rows == ROWS_ANY ? row_of_any_length(q, &held, p, m) : row_in_lanes(q, &held, p, m, rows);
    pairwise_held_halve(&held, lanes);
    partial x = pairwise_lane(&held, ssa_constant(0));
    pairwise_put(&q->c, ssa_constant(0), &x);
}

static void row_by_memory(cpu_reduction *q, const element_place *p, ssa m) {
    emit *e = q->w->s.e;
    row_lengths rows = rows_of(q);
    int few = emit_label_new(e), many = emit_label_new(e), end = emit_label_new(e);
    if (rows == ROWS_ANY) {
        branch_by_length(q, m, few, many);
        emit_label(e, few);
    }
    if (rows != ROWS_LONG)
        row_short(q, p, m, pairwise_vector(&q->c), end);
    if (rows == ROWS_ANY)
        emit_label(e, many);
    if (rows != ROWS_SHORT) {
        row_long(q, p, m, ssa_constant(q->c.lanes));
        emit_branch(e, end);
    }
    emit_label(e, end);
}

/* Reduces the elements of one result, from p on, into lane 0. m: how many there are along dimension 0. */
static void row_fold(cpu_reduction *q, const element_place *p, ssa m) {
    emit *e = q->w->s.e;
    ssa lanes = ssa_constant(q->c.lanes);
    if (q->c.lanes == 1 || q->dims > 1) {
        ssa few = emit_value(e, "icmp slt i64 %s, %s", m.text, lanes.text);
        row_long(q, p, m, q->c.lanes == 1 ? lanes : emit_select_as(e, "i64", few, m, lanes));
    } else if (q->extremum.which) {
        extremum_run(&q->extremum, p, m);
    } else if (pairwise_decides(&q->c)) {
        pairwise_decide(&q->c, p, m);
    } else if (pairwise_one_by_one(&q->c)) {
        pairwise_take_one_by_one(&q->c, p, m);
    } else if (pairwise_by_masks(&q->c)) {
        pairwise_take_by_masks(&q->c, p, m);
    } else if (pairwise_holds(&q->c)) {
        row_by_lanes(q, p, m);
    } else {
        row_by_memory(q, p, m);
    }
}

static void fold_row(cpu_reduction *q, const element_place *all, ssa r) {
    fold_writer *w = q->w;
    emit *e = w->s.e;
    element_place p = element_place_moved(w, all, &q->kept, r);
    ssa count = q->elements, begin = q->first, m;
    int end = 0;
    if (w->s.v->segmented) {
        end = skeleton_if(&w->s, segment(q, r, &begin, &count));
        m = count;
    } else {
        m = q->dims == 1 ? emit_op(e, "sub i64", q->last, q->first) : q->extent[0];
    }
    if (q->dims == 1)
        p = element_place_moved(w, &p, &q->reduced[0], begin);
    p = element_place_unknown(w, &p);
    row_fold(q, &p, unknown_each_time(e, m));
    partial x = pairwise_lane(&q->c, ssa_constant(0));
    store_results(q, &x, count, r, false);
    if (end)
        skeleton_end_if(&w->s, end);
}

static void fold_rows(cpu_reduction *q) {
    emit *e = q->w->s.e;
    q->c.lane = lane_strides(q, &q->reduced[0]);
    q->c.apart = pairwise_by_element(&q->c);
    element_place all = start(q);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), q->n);
    fold_row(q, &all, l.i);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* ---- Merged rows ---- */

/* Results first .. first + results - 1, of which each has m lanes. */
static void fold_rows_together(cpu_reduction *q, ssa first, ssa results, ssa m) {
    emit *e = q->w->s.e;
    element_place all = start(q), p = element_place_moved(q->w, &all, &q->kept, first);
    ssa width = emit_op(e, "mul i64", results, m);
    pairwise_clear(&q->c, width);
    take_all(q, &p, width);
    pairwise_end(&q->c, width);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), results);
    ssa lane = emit_op(e, "mul i64", l.i, m);
    pairwise_halve(&q->c, lane, m);
    partial x = pairwise_lane(&q->c, lane);
    store_results(q, &x, q->elements, emit_op(e, "add i64", first, l.i), false);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

static void fold_merged(cpu_reduction *q) {
    emit *e = q->w->s.e;
    q->c.lane = lane_strides(q, &q->reduced[0]);
    q->c.step = q->reduced[1];
    ssa m = q->extent[0], most = emit_value(e, "udiv i64 %d, %s", q->c.lanes, m.text);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), q->n);
    ssa left = emit_op(e, "sub i64", q->n, l.i);
    fold_rows_together(q, l.i, emit_min(e, left, most), m);
    counted_loop_end(e, &l, most, loop_no_unroll(e));
}

static void fold_nothing(cpu_reduction *q) {
    emit *e = q->w->s.e;
    partial x = fold_beginning(q->w);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), q->n);
    store_results(q, &x, ssa_constant(0), l.i, false);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* Is the position of an extremum to be found: where all elements that a result is made of are in a row, in order, and take part? */
static extremum extremum_of(const cpu_reduction *q) {
    const variant *v = q->w->s.v;
    bool plain = q->dims == 1 && !v->reduction.columns && !v->reduction.from_states && !v->reduction.counted &&
                 !v->masked && v->position && v->operand[variant_position(v)].unit && skeleton_is_array(&q->w->s, 0);
    return plain ? fold_extremum(q->w->f) : EXTREMUM_NONE;
}

void cpu_fold(fold_writer *w) {
    const variant *v = w->s.v;
    cpu_reduction *q = arena_alloc(w->s.e->a, sizeof *q);
    memset(q, 0, sizeof *q);
    q->w = w;
    q->dims = v->reduction.reduced;
    read_parameters(q);
    fix_segments(q);
    if (v->reduction.empty) {
        fold_nothing(q);
        return;
    }
    bool free = w->f->order == FOLD_FREE, merged = v->cpu_fold.merged;
    q->inner = merged;
    pairwise_begin(&q->c, w, v->reduction.columns || merged ? COLUMN_BYTES : free ? PAIRWISE_ROW_BYTES : 0);
    extremum_begin(&q->extremum, &q->c, extremum_of(q));
    (v->reduction.columns ? fold_columns : merged ? fold_merged : fold_rows)(q);
}
