/* gpu_scan_interleaved.c - accumulations on the GPU along few long lines that lie side by side without gaps: an element of each, then the next
 * ones.
 *
 * A block takes a tile of all lines, which is one piece of memory, through shared memory (common/row_tile.h). There a thread has `accesses`
 * elements of one line, one row of threads behind the other. The states of the rows of threads are scanned through shared memory, and what comes before
 * the tile is found by look-back. */
#include "ir/common/lanes.h"
#include "ir/common/row_tile.h"
#include "ir/scan/gpu_scan.h"

enum {
    TOGETHER = 16 /* elements of a thread that are loaded at once; they divide those that it has, if these are more */
};

typedef struct line_tile {
    gpu_scan_kernel *g;
    fold_writer *w;
    int steps; /* elements of a thread */
    scan_group b;
    ssa first; /* i64: the thread's first element */
    const row_tiles *tiles;
    tile_row row;
    partial_slot so_far; /* of the thread's elements */
} line_tile;

/* Finds the block's tile, and the thread's place in it; copies the tile. */
static void load(line_tile *l) {
    skeleton *s = &l->w->s;
    emit *e = s->e;
    scan_group *b = &l->b;
    int tile = b->rows * l->steps; /* elements of a line */
    ssa thread = emit_special_register(e, "tid"), at[VARIANT_OPERANDS] = {0};
    b->row = emit_value(e, "udiv i32 %s, %d", thread.text, b->width);
    b->line = emit_value(e, "urem i32 %s, %d", thread.text, b->width);
    skeleton_divide(s, &l->g->order, false, gpu_scan_ticket(l->g, l->g->shared - 1), &b->tile, &b->group);
    gpu_scan_line(l->g, emit_value(e, "mul i64 %s, %d", emit_widen(e, b->group).text, b->width), 0);
    ssa begin = emit_value(e, "mul i64 %s, %d", emit_widen(e, b->tile).text, tile);
    l->first = emit_op(e, "add i64", begin, emit_widen(e, emit_value(e, "mul i32 %s, %d", b->row.text, l->steps)));
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].staged)
            at[k] = skeleton_address(s, k, l->g->at[k], emit_value(e, "mul i64 %s, %d", begin.text, b->width));
    if (s->v->position) {
        int k = variant_position(s->v);
        ssa by = emit_op(e, "mul i64", emit_widen(e, b->line), l->g->kept_stride[k][0]);
        l->g->at[k] = emit_op(e, "add i64", l->g->at[k], by);
    }
    ssa left = emit_min(e, emit_op(e, "sub i64", l->g->length, begin), ssa_constant(tile));
    ssa count = emit_value(e, "mul i32 %s, %d", emit_value(e, "trunc i64 %s to i32", left.text).text, b->width);
    l->tiles = row_tiles_load_part(s, l->steps, b->width, b->rows, at, count, l->g->aligned);
    l->row = (tile_row){.of = thread};
}

/* Takes elements from .. from + n - 1 (i32) of the thread's into its state so far, which they begin or not; and if there is what comes before the thread,
 * leaves their results in the tile. */
static void take_some(line_tile *l, ssa from, int n, bool begins, const partial *before) {
    fold_writer *w = l->w;
    emit *e = w->s.e;
    int nout = w->s.v->nout;
    ssa values[VARIANT_OPERANDS][TOGETHER], results[UF_MAX_OPERANDS][TOGETHER];
    ssa first = emit_op(e, "add i64", l->first, emit_widen(e, from));
    partial so_far;
    if (!begins)
        so_far = partial_get(w, &l->so_far);
    for (int k = 0; k < w->s.nin; k++)
        if (fold_reads(w, k))
            row_tile_get_some(&l->tiles->tile[k], &l->row, from, n, values[k]);
    for (int i = 0; i < n; i++) {
        ssa in[VARIANT_OPERANDS] = {0}, out[UF_MAX_OPERANDS];
        for (int k = 0; k < w->s.nin; k++)
            if (fold_reads(w, k))
                in[k] = values[k][i];
        partial x = fold_element(w, in, gpu_scan_position(l->g, emit_value(e, "add i64 %s, %d", first.text, i)));
        so_far = i || !begins ? fold_join(w, &so_far, &x) : x;
        if (!before)
            continue;
        x = fold_join(w, before, &so_far);
        x.present = ssa_none();
        fold_results(w, &x, emit_value(e, "add i64 %s, %d", first.text, i + 1), out);
        for (int k = 0; k < nout; k++)
            results[k][i] = out[k];
    }
    partial_put(w, &l->so_far, &so_far);
    for (int k = 0; k < nout && before; k++)
        row_tile_put_some(&l->tiles->tile[w->s.nin + k], &l->row, from, n, results[k]);
}

/* All elements of the thread. They are combined twice, rather than kept while what comes before them is awaited: that would take registers. */
static void take_all(line_tile *l, const partial *before) {
    emit *e = l->w->s.e;
    int n = l->steps < TOGETHER ? l->steps : TOGETHER;
    take_some(l, ssa_constant(0), n, true, before);
    if (n == l->steps)
        return;
    counted_loop rest = counted_loop_begin(e, "i32", ssa_constant(n), ssa_constant(l->steps));
    take_some(l, rest.i, n, false, before);
    counted_loop_end(e, &rest, ssa_constant(n), loop_no_unroll(e));
}

/* Returns what comes before the thread's elements in the tile, and leaves the state of the tile alone. Each round joins twice as many rows of threads:
 * those of one round are read while the next ones are written elsewhere. */
static partial scan_rows(line_tile *l) {
    fold_writer *w = l->w;
    emit *e = w->s.e;
    scan_group *b = &l->b;
    partial own = partial_get(w, &l->so_far), before;
    int half = 0;
    for (int by = 1; by < b->rows; by *= 2) {
        scan_shared_put(l->g, scan_group_place(b, emit_value(e, "add i32 %s, %d", b->row.text, half), 0), &own);
        emit_block_barrier(e);
        ssa there = emit_value(e, "icmp uge i32 %s, %d", b->row.text, by);
        ssa from = emit_select_as(e, "i32", there, emit_value(e, "sub i32 %s, %d", b->row.text, by), ssa_constant(0));
        partial other = scan_shared_get(l->g, scan_group_place(b, emit_value(e, "add i32 %s, %d", from.text, half), 0));
        other = fold_join(w, &other, &own);
        own = fold_choose(w, there, &other, &own);
        half = b->rows - half;
    }
    scan_shared_put(l->g, scan_group_place(b, emit_value(e, "add i32 %s, %d", b->row.text, half), 0), &own);
    emit_block_barrier(e);
    ssa first = emit_value(e, "icmp eq i32 %s, 0", b->row.text);
    ssa from = emit_select_as(e, "i32", first, ssa_constant(0), emit_value(e, "sub i32 %s, 1", b->row.text));
    before = scan_shared_get(l->g, scan_group_place(b, emit_value(e, "add i32 %s, %d", from.text, half), 0));
    before.present = emit_value(e, "icmp ne i32 %s, 0", b->row.text);
    b->total[0] = scan_shared_get(l->g, scan_group_place(b, ssa_constant(half + b->rows - 1), 0));
    return before;
}

static void look_back(line_tile *l) {
    skeleton *s = &l->w->s;
    partial none = l->b.total[0];
    none.present = ssa_bool(false);
    partial_put(l->w, &l->b.before[0], &none);
    int several = skeleton_if(s, emit_value(s->e, "icmp ne i64 %s, 0", l->g->counter.text));
    gpu_scan_look_back(&l->b);
    skeleton_end_if(s, several);
}

void gpu_scan_interleaved(gpu_scan_kernel *g) {
    const variant *v = g->w->s.v;
    line_tile l = {.g = g, .w = g->w, .steps = v->scan.accesses, .so_far = partial_variable(g->w, false)};
    partial total;
    partial_slot before = partial_variable(g->w, true);
    l.b = (scan_group){.g = g,
                       .width = v->scan.plane,
                       .vector = 1,
                       .rows = v->scan.lines,
                       .together = SCAN_LOOK_BACK / v->scan.lines + 1,
                       .total = &total,
                       .before = &before};
    gpu_scan_group_begin(&l.b);
    g->shared = variant_scan_places(v) * g->words + 1;
    load(&l);
    take_all(&l, NULL);
    partial in_tile = scan_rows(&l);
    look_back(&l);
    partial tiles = partial_get(g->w, &before), all = fold_join(g->w, &tiles, &in_tile);
    take_all(&l, &all);
    row_tiles_store(l.tiles);
}
