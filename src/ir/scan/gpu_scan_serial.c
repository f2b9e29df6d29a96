/* gpu_scan_serial.c - accumulations on the GPU, a thread a line from its first element to its last (scan.alone): by operators that allow no other
 * order, and of lines side by side that are enough for all threads. It loads `accesses` elements ahead. */
#include "ir/scan/gpu_scan.h"

typedef struct serial {
    gpu_scan_kernel *g;
    ssa index[BATCH_LANES]; /* i64: the elements under way */
    partial x[BATCH_LANES];
    partial_slot so_far;
} serial;

static ssa element_at(serial *l, int k, ssa index) {
    skeleton *s = &l->g->w->s;
    return skeleton_address(s, k, l->g->at[k], emit_op(s->e, "mul i64", index, l->g->along[k]));
}

/* Loads `count` elements from `first` on, all of which exist. */
static void load(serial *l, ssa first, int count) {
    skeleton *s = &l->g->w->s;
    emit *e = s->e;
    for (int i = 0; i < count; i++) {
        ssa in[VARIANT_OPERANDS];
        l->index[i] = i ? emit_value(e, "add i64 %s, %d", first.text, i) : first;
        for (int k = 0; k < s->nin; k++)
            if (fold_reads(l->g->w, k))
                in[k] = emit_load(e, skeleton_memory(s, k), element_at(l, k, l->index[i]));
        l->x[i] = fold_element(l->g->w, in, gpu_scan_position(l->g, l->index[i]));
    }
}

/* so_far takes in element i, which is the line's first if the i1 is true, and is stored. */
static void take(serial *l, int i, ssa begins) {
    skeleton *s = &l->g->w->s;
    ssa results[UF_MAX_OPERANDS];
    partial before = partial_get(l->g->w, &l->so_far), x = fold_join(l->g->w, &before, &l->x[i]);
    if (ssa_is_set(begins))
        x = fold_choose(l->g->w, begins, &l->x[i], &x);
    partial_put(l->g->w, &l->so_far, &x);
    fold_results(l->g->w, &x, emit_value(s->e, "add i64 %s, 1", l->index[i].text), results);
    for (int k = 0; k < s->v->nout; k++)
        emit_store(s->e, skeleton_memory(s, s->nin + k), results[k], element_at(l, s->nin + k, l->index[i]));
}

/* The elements from .. limit - 1, `count` at a time, which divides their number. */
static void take_all(serial *l, ssa from, ssa limit, int count) {
    emit *e = l->g->w->s.e;
    counted_loop rows = counted_loop_begin(e, "i64", from, limit);
    load(l, rows.i, count);
    for (int i = 0; i < count; i++)
        take(l, i, i ? ssa_none() : emit_value(e, "icmp eq i64 %s, 0", rows.i.text));
    counted_loop_end(e, &rows, ssa_constant(count), loop_no_unroll(e));
}

void gpu_scan_serial(gpu_scan_kernel *g) {
    skeleton *s = &g->w->s;
    emit *e = s->e;
    int count = s->v->scan.accesses;
    serial l = {.g = g, .so_far = partial_variable(g->w, false)};
    ssa block = emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "ctaid")),
                        emit_widen(e, emit_special_register(e, "ntid")));
    ssa line = emit_op(e, "add i64", block, emit_widen(e, emit_special_register(e, "tid")));
    int end = skeleton_if(s, emit_op(e, "icmp slt i64", line, g->lines));
    gpu_scan_line(g, line, 0);
    load(&l, ssa_constant(0), 1);
    partial_put(g->w, &l.so_far, &l.x[0]); /* any state will do before the first */
    ssa whole = emit_value(e, "and i64 %s, %d", g->length.text, -count);
    take_all(&l, ssa_constant(0), whole, count);
    if (count > 1)
        take_all(&l, whole, g->length, 1);
    skeleton_end_if(s, end);
}
