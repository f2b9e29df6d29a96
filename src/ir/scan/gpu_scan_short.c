/* gpu_scan_short.c - accumulations on the GPU along lines of few elements, of a number that is a constant of the code. A thread takes whole
 * lines, from left to right. Arrays whose lines lie one behind the other come and go through shared memory (common/row_tile.h);
 * elements of others are read and written where they are. Lines that lie side by side, few before the next ones, go so by whole planes; of
 * long ones a thread has some elements at a time in registers. */
#include "ir/common/internal.h"
#include "ir/common/row_tile.h"
#include "ir/scan/gpu_scan.h"

typedef struct short_lines {
    gpu_scan_kernel *g;
    skeleton *s;
    int length;
    const row_tiles *tiles;
    ssa *values;         /* [k * length + element]: of inputs as loaded, and of outputs in their memory dtype */
    partial_slot so_far; /* of long lines */
} short_lines;

static ssa *values_of(const short_lines *l, int k) { return l->values + (size_t)k * (size_t)l->length; }

static ssa element_at(const short_lines *l, int k, int i) {
    emit *e = l->s->e;
    return skeleton_address(l->s, k, l->g->at[k], emit_value(e, "mul i64 %s, %d", l->g->along[k].text, i));
}

static void load(short_lines *l, const tile_row *row) {
    for (int k = 0; k < l->s->nin; k++) {
        if (!fold_reads(l->g->w, k))
            continue;
        if (l->s->v->operand[k].staged) {
            row_tile_get(&l->tiles->tile[k], row, values_of(l, k));
            continue;
        }
        for (int i = 0; i < l->length; i++)
            values_of(l, k)[i] = emit_load(l->s->e, skeleton_memory(l->s, k), element_at(l, k, i));
    }
}

/* Element i behind one (i32) of the line, as a number of 64 bits. */
static ssa index_behind(const short_lines *l, ssa from, int i) {
    emit *e = l->s->e;
    int64_t first;
    return ssa_is_constant(from, &first) ? ssa_constant(first + i)
                                         : emit_widen(e, emit_op(e, "add i32", from, ssa_constant(i)));
}

/* Takes elements from .. from + n - 1 (i32), which are loaded, and leaves their results. before: the state in front of them; NULL: they begin the
 * line. Returns the state behind them. */
static partial accumulate(short_lines *l, ssa from, int n, const partial *before) {
    fold_writer *w = l->g->w;
    partial so_far = {.present = ssa_none()};
    for (int i = 0; i < n; i++) {
        ssa in[VARIANT_OPERANDS] = {0}, results[UF_MAX_OPERANDS];
        for (int k = 0; k < l->s->nin; k++)
            if (fold_reads(w, k))
                in[k] = values_of(l, k)[i];
        partial x = fold_element(w, in, gpu_scan_position(l->g, index_behind(l, from, i)));
        so_far = i ? fold_join(w, &so_far, &x) : before ? fold_join(w, before, &x) : x;
        fold_results(w, &so_far, index_behind(l, from, i + 1), results);
        for (int k = 0; k < l->s->v->nout; k++)
            values_of(l, l->s->nin + k)[i] = results[k];
    }
    return so_far;
}

static void store(short_lines *l, const tile_row *row) {
    emit *e = l->s->e;
    for (int k = l->s->nin; k < l->s->nin + l->s->v->nout; k++) {
        if (l->s->v->operand[k].staged) {
            row_tile_put(&l->tiles->tile[k], row, values_of(l, k));
            continue;
        }
        for (int i = 0; i < l->length; i++)
            emit_store(e, skeleton_memory(l->s, k), values_of(l, k)[i], element_at(l, k, i));
    }
}

static void take_lines(short_lines *l) {
    bool within = fold_needs_rows(l->g->w);
    for (int i = 0; i < l->tiles->each; i++) {
        ssa index, there;
        tile_row row = row_tiles_row(l->tiles, i, within, &index, &there);
        gpu_scan_line(l->g, index, 0);
        load(l, &row);
        accumulate(l, ssa_constant(0), l->length, NULL);
        int end = skeleton_if(l->s, there);
        store(l, &row);
        skeleton_end_if(l->s, end);
    }
}

/* Elements from .. from + n - 1 (i32) of a long line, the first of which begins it or not. */
static void take_some(short_lines *l, const tile_row *row, ssa from, int n, bool begins) {
    fold_writer *w = l->g->w;
    partial before;
    if (!begins)
        before = partial_get(w, &l->so_far);
    for (int k = 0; k < l->s->nin; k++)
        if (fold_reads(w, k))
            row_tile_get_some(&l->tiles->tile[k], row, from, n, values_of(l, k));
    partial so_far = accumulate(l, from, n, begins ? NULL : &before);
    partial_put(w, &l->so_far, &so_far);
    for (int k = l->s->nin; k < l->s->nin + l->s->v->nout; k++)
        row_tile_put_some(&l->tiles->tile[k], row, from, n, values_of(l, k));
}

/* What is no whole number of ROW_TOGETHER elements comes first. */
static void take_long(short_lines *l, const tile_row *row) {
    emit *e = l->s->e;
    int first = l->length % ROW_TOGETHER ? l->length % ROW_TOGETHER : ROW_TOGETHER;
    take_some(l, row, ssa_constant(0), first, true);
    counted_loop rest = counted_loop_begin(e, "i32", ssa_constant(first), ssa_constant(l->length));
    take_some(l, row, rest.i, ROW_TOGETHER, false);
    counted_loop_end(e, &rest, ssa_constant(ROW_TOGETHER), loop_no_unroll(e));
}

static void take_planes(short_lines *l) {
    counted_loop lines;
    ssa index;
    tile_row row = row_tiles_rows_begin(l->tiles, &lines, &index);
    gpu_scan_line(l->g, index, 0);
    if (l->length > ROW_STRAIGHT) {
        take_long(l, &row);
    } else {
        load(l, &row);
        accumulate(l, ssa_constant(0), l->length, NULL);
        store(l, &row);
    }
    row_tiles_rows_end(l->tiles, &lines);
}

void gpu_scan_short(gpu_scan_kernel *g) {
    skeleton *s = &g->w->s;
    const variant *v = s->v;
    short_lines l = {.g = g, .s = s, .length = v->scan.length};
    l.values = arena_alloc(s->e->a, (size_t)(s->noperands * l.length) * sizeof *l.values);
    if (l.length > ROW_STRAIGHT)
        l.so_far = partial_variable(g->w, false);
    if (v->scan.plane) {
        l.tiles = row_tiles_load_planes(s, l.length, v->scan.plane, v->scan.lines, g->lines, g->aligned, false);
        take_planes(&l);
    } else {
        l.tiles = row_tiles_load(s, l.length, v->scan.lines, g->lines, g->aligned, false);
        take_lines(&l);
    }
    row_tiles_store(l.tiles);
}
