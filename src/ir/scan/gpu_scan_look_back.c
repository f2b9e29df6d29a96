/* gpu_scan_look_back.c - accumulations on the GPU along lines side by side, a tile of which is a block's: what comes before the tile, from the
 * entries that blocks leave in a tree of a fixed form (gpu_scan.h). Each row of threads reads entries of its own. */
#include "ir/scan/gpu_scan.h"

#include "ir/common/lanes.h"

ssa scan_group_place(const scan_group *b, ssa row, int i) {
    emit *e = b->g->w->s.e;
    ssa at = emit_op(e, "add i32", emit_value(e, "mul i32 %s, %d", row.text, b->width), b->line);
    return emit_value(e, "add i32 %s, %d", at.text, i);
}

enum {
    FAN = 1 << SCAN_FAN_COLUMNS,
    JOINED = 4 /* entries that are read from shared memory at once */
};

/* What a tile looks back to: the tiles before it in its group, the groups before that in its part, and the part before. */
typedef struct way {
    const scan_group *b;
    emit *e;
    ssa of[SCAN_LEVELS];    /* i32: entries that a line has at a level */
    ssa index[SCAN_LEVELS]; /* i32: the tile's own there */
    ssa from[2], count[2];  /* i32: those before it, from that one on */
    ssa last[2];            /* i1: it is the last of its group; its group is the last of its part */
} way;

static ssa low_bits(emit *e, ssa x) { return emit_value(e, "and i32 %s, %d", x.text, FAN - 1); }
static ssa up(emit *e, ssa x) { return emit_value(e, "lshr i32 %s, %d", x.text, SCAN_FAN_COLUMNS); }

static way way_of(const scan_group *b) {
    emit *e = b->g->w->s.e;
    way w = {.b = b, .e = e, .of = {b->g->tiles}, .index = {b->tile}};
    for (int level = 0; level < 2; level++) {
        ssa index = w.index[level];
        w.of[level + 1] = up(e, emit_value(e, "add i32 %s, %d", w.of[level].text, FAN - 1));
        w.index[level + 1] = up(e, index);
        w.count[level] = low_bits(e, index);
        w.from[level] = emit_op(e, "sub i32", index, w.count[level]);
        w.last[level] = emit_value(e, "icmp eq i32 %s, %d", w.count[level].text, FAN - 1);
    }
    return w;
}

/* Entry `index` (i32) of a level, for line i of the thread's (i64). */
static ssa entry(const way *w, int level, ssa index, int i) {
    emit *e = w->e;
    const scan_group *b = w->b;
    ssa at = emit_op(e, "mul i64", emit_widen(e, b->group), emit_widen(e, w->of[level]));
    at = emit_value(e, "mul i64 %s, %d", emit_op(e, "add i64", at, emit_widen(e, index)).text, b->width);
    at = emit_op(e, "add i64", at, emit_widen(e, b->line));
    return scan_entry(b->g, level, emit_value(e, "add i64 %s, %d", at.text, i));
}

/* Leaves the tile's own entry of a level: its total, with what came before it in `before`. */
static void leave(const way *w, int level, ssa when) {
    const scan_group *b = w->b;
    skeleton *s = &b->g->w->s;
    ssa one = emit_op(w->e, "and i1", emit_value(w->e, "icmp eq i32 %s, 0", b->row.text), when);
    int end = skeleton_if(s, one);
    for (int i = 0; i < b->vector; i++) {
        partial x = b->total[i];
        if (level) {
            partial before = partial_get(b->g->w, &b->before[i]);
            x = fold_join(b->g->w, &before, &x);
        }
        scan_publish(b->g, entry(w, level, w->index[level], i), &x);
    }
    skeleton_end_if(s, end);
}

/* The entry that place `place` (i32) of shared memory is for, and in *there whether there is one. levels: with those from the second on. */
static ssa entry_for(const way *w, ssa place, bool levels, int i, ssa *there) {
    emit *e = w->e;
    ssa at = entry(w, 0, emit_op(e, "add i32", w->from[0], place), i);
    *there = emit_op(e, "icmp ult i32", place, w->count[0]);
    if (!levels)
        return at;
    ssa second = emit_value(e, "sub i32 %s, %d", place.text, FAN), is_first = *there;
    ssa other = entry(w, 1, emit_op(e, "add i32", w->from[1], second), i);
    ssa is_second = emit_op(e, "icmp ult i32", second, w->count[1]);
    ssa part = entry(w, 2, emit_value(e, "sub i32 %s, 1", w->index[2].text), i);
    ssa is_part = emit_op(e, "and i1", emit_value(e, "icmp eq i32 %s, %d", place.text, 2 * FAN),
                          emit_value(e, "icmp ne i32 %s, 0", w->index[2].text));
    *there = emit_op(e, "or i1", emit_op(e, "or i1", is_first, is_second), is_part);
    return emit_select_as(e, "i64", is_first, at, emit_select_as(e, "i64", is_second, other, part));
}

/* Rounds in which the rows of threads have a place each. */
static int rounds_of(const scan_group *b, int places) { return (places + b->rows - 1) / b->rows; }

/* Entries into shared memory, by all threads: those of the first level, or of all. */
static void gather(const way *w, bool levels) {
    const scan_group *b = w->b;
    emit *e = w->e;
    int rounds = rounds_of(b, levels ? SCAN_LOOK_BACK : FAN), n = rounds * b->vector,
        together = b->together * b->vector;
    ssa *at = arena_alloc(e->a, 2 * (size_t)n * sizeof *at), *there = at + n;
    partial *x = arena_alloc(e->a, (size_t)n * sizeof *x);
    emit_block_barrier(e); /* what lies there has been read */
    for (int first = 0; first < n; first += together) {
        int some = n - first < together ? n - first : together;
        for (int k = first; k < first + some; k++) {
            ssa place = emit_value(e, "add i32 %s, %d", b->row.text, k / b->vector * b->rows);
            at[k] = entry_for(w, place, levels, k % b->vector, &there[k]);
        }
        scan_await_some(b->g, b->awaited, at + first, there + first, some, x + first);
        for (int k = first; k < first + some; k++) {
            ssa place = emit_value(e, "add i32 %s, %d", b->row.text, k / b->vector * b->rows);
            int end = skeleton_if(&b->g->w->s, there[k]);
            scan_shared_put(b->g, scan_group_place(b, place, k % b->vector), &x[k]);
            skeleton_end_if(&b->g->w->s, end);
        }
    }
    emit_block_barrier(e);
}

/* Joins `count` (i32) entries from a place on to the left of what came before the tile so far. */
static void take(const way *w, int from, ssa count) {
    const scan_group *b = w->b;
    emit *e = w->e;
    fold_writer *f = b->g->w;
    counted_loop l = counted_loop_begin(e, "i32", ssa_constant(0), count);
    ssa behind = emit_op(e, "sub i32", count, l.i);
    for (int i = 0; i < b->vector; i++) {
        partial x[JOINED], before = partial_get(f, &b->before[i]);
        ssa there[JOINED];
        for (int k = 0; k < JOINED; k++) {
            ssa place = emit_value(e, "add i32 %s, %d", behind.text, from - 1 - k);
            there[k] = emit_value(e, "icmp sge i32 %s, %d", place.text, from);
            place = emit_select_as(e, "i32", there[k], place, ssa_constant(from));
            x[k] = scan_shared_get(b->g, scan_group_place(b, place, i));
        }
        for (int k = 0; k < JOINED; k++) {
            partial joined = fold_join(f, &x[k], &before);
            before = k ? fold_choose(f, there[k], &joined, &before) : joined;
        }
        partial_put(f, &b->before[i], &before);
    }
    counted_loop_end(e, &l, ssa_constant(JOINED), loop_no_unroll(e));
}

void gpu_scan_group_begin(scan_group *b) { b->awaited = scan_await_variables(b->g, b->together * b->vector); }

void gpu_scan_look_back(const scan_group *b) {
    way w = way_of(b);
    emit *e = w.e;
    skeleton *s = &b->g->w->s;
    leave(&w, 0, ssa_bool(true));
    /* others wait for what the last of a group leaves, so that it waits for nothing but its group before */
    int group = skeleton_if(s, w.last[0]);
    gather(&w, false);
    take(&w, 0, w.count[0]);
    leave(&w, 1, ssa_bool(true));
    skeleton_end_if(s, group);
    w.count[0] = emit_select_as(e, "i32", w.last[0], ssa_constant(0), w.count[0]);
    gather(&w, true);
    take(&w, 0, w.count[0]);
    take(&w, FAN, w.count[1]);
    take(&w, 2 * FAN, emit_value(e, "zext i1 %s to i32", emit_value(e, "icmp ne i32 %s, 0", w.index[2].text).text));
    leave(&w, 2, emit_op(e, "and i1", w.last[0], w.last[1]));
}
