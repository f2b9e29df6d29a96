/* gpu_scan_serial.c - accumulations on the GPU, a thread a line from its first element to its last (scan.alone): by operators that allow no other
 * order, and of lines side by side that are enough for all threads. It loads `accesses` elements ahead. Of such lines a thread may have
 * `vector` neighbours, so that narrow elements are accessed by words and more. */
#include "ir/common/internal.h"
#include "ir/scan/gpu_scan.h"

typedef struct serial {
    gpu_scan_kernel *g;
    int lines;              /* of a thread */
    bool by_vectors;        /* their neighbouring elements are accessed so */
    ssa index[BATCH_LANES]; /* i64: the elements under way */
    partial *x;             /* [i * lines + line]: of those */
    partial_slot *so_far;   /* by line */
} serial;

static ssa element_at(serial *l, int k, ssa index) {
    skeleton *s = &l->g->w->s;
    return skeleton_address(s, k, l->g->at[k], emit_op(s->e, "mul i64", index, l->g->along[k]));
}

static ssa position_at(serial *l, ssa index, int line) {
    const skeleton *s = &l->g->w->s;
    ssa position = gpu_scan_position(l->g, index);
    if (!s->v->position || !line)
        return position;
    ssa step = l->g->kept_stride[variant_position(s->v)][0];
    return emit_op(s->e, "add i64", position, emit_value(s->e, "mul i64 %s, %d", step.text, line));
}

/* Loads `count` elements of each line from `first` on, all of which exist. */
static void load(serial *l, ssa first, int count) {
    fold_writer *w = l->g->w;
    skeleton *s = &w->s;
    emit *e = s->e;
    ssa *in = arena_alloc(e->a, (size_t)(count * l->lines * s->noperands) * sizeof *in), values[BATCH_LANES];
    for (int i = 0; i < count; i++) {
        l->index[i] = i ? emit_value(e, "add i64 %s, %d", first.text, i) : first;
        for (int k = 0; k < s->nin; k++) {
            if (!fold_reads(w, k))
                continue;
            dtype t = skeleton_memory(s, k);
            emit_neighbours(e, t, t, element_at(l, k, l->index[i]), l->lines, l->by_vectors, values);
            for (int line = 0; line < l->lines; line++)
                in[(i * l->lines + line) * s->noperands + k] = values[line];
        }
    }
    for (int i = 0; i < count * l->lines; i++)
        l->x[i] = fold_element(w, in + i * s->noperands, position_at(l, l->index[i / l->lines], i % l->lines));
}

/* The lines take in their element i, which is the first if the i1 is true, and store what they are then. */
static void take(serial *l, int i, ssa begins) {
    fold_writer *w = l->g->w;
    skeleton *s = &w->s;
    ssa results[UF_MAX_OPERANDS], stored[UF_MAX_OPERANDS][BATCH_LANES];
    ssa count = emit_value(s->e, "add i64 %s, 1", l->index[i].text);
    for (int line = 0; line < l->lines; line++) {
        const partial *own = &l->x[i * l->lines + line];
        partial before = partial_get(w, &l->so_far[line]), x = fold_join(w, &before, own);
        if (ssa_is_set(begins))
            x = fold_choose(w, begins, own, &x);
        partial_put(w, &l->so_far[line], &x);
        fold_results(w, &x, count, results);
        for (int k = 0; k < s->v->nout; k++)
            stored[k][line] = results[k];
    }
    for (int k = 0; k < s->v->nout; k++)
        emit_store_neighbours(s->e, skeleton_memory(s, s->nin + k), stored[k], element_at(l, s->nin + k, l->index[i]),
                              l->lines, l->by_vectors);
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

static void take_lines(serial *l, bool by_vectors) {
    gpu_scan_kernel *g = l->g;
    emit *e = g->w->s.e;
    int count = g->w->s.v->scan.accesses;
    l->by_vectors = by_vectors;
    load(l, ssa_constant(0), 1);
    for (int line = 0; line < l->lines; line++)
        partial_put(g->w, &l->so_far[line], &l->x[line]); /* any state will do before the first */
    ssa whole = emit_value(e, "and i64 %s, %d", g->length.text, -count);
    take_all(l, ssa_constant(0), whole, count);
    if (count > 1)
        take_all(l, whole, g->length, 1);
}

void gpu_scan_serial(gpu_scan_kernel *g) {
    skeleton *s = &g->w->s;
    emit *e = s->e;
    int lines = s->v->scan.vector;
    serial l = {.g = g, .lines = lines};
    l.x = arena_alloc(e->a, (size_t)(s->v->scan.accesses * lines) * sizeof *l.x);
    l.so_far = arena_alloc(e->a, (size_t)lines * sizeof *l.so_far);
    for (int i = 0; i < lines; i++)
        l.so_far[i] = partial_variable(g->w, false);
    ssa block = emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "ctaid")),
                        emit_widen(e, emit_special_register(e, "ntid")));
    ssa line = emit_op(e, "add i64", block, emit_widen(e, emit_special_register(e, "tid")));
    if (lines > 1)
        line = emit_value(e, "mul i64 %s, %d", line.text, lines);
    int end = skeleton_if(s, emit_op(e, "icmp slt i64", line, g->lines));
    gpu_scan_line(g, line, 0);
    if (lines == 1) {
        take_lines(&l, false);
    } else {
        int aligned = emit_label_new(e), other = emit_label_new(e), both = emit_label_new(e);
        emit_branch_if(e, g->aligned, aligned, other);
        emit_label(e, aligned);
        take_lines(&l, true);
        emit_branch(e, both);
        emit_label(e, other);
        take_lines(&l, false);
        emit_branch(e, both);
        emit_label(e, both);
    }
    skeleton_end_if(s, end);
}
