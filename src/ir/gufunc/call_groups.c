/* call_groups.c - see call_groups.h. What copies is part of the library (call_copy.h). The arrays lie in the upper half of the thread's
 * scratch memory, from call to call an odd number of lines apart: by multiples of 4 KiB they would share few places of
 * the nearest cache. Sums of columns of 300 float32 that are multiplied, one thread of a Zen 5 guest, ns an element: strided 0.8, copied 0.2;
 * softmax 6.2 and 0.5. */
#include "ir/gufunc/call_groups.h"

#include "ir/common/nodes.h"
#include "ir/gufunc/call_copy.h"

enum {
    SCRATCH_FROM = THREAD_SCRATCH_BYTES - CALL_GROUP_BYTES
};

typedef struct groups {
    gufunc_writer *w;
    const ssa *row, *stride;
    ssa size;                    /* calls of a group (i64) */
    ssa array[VARIANT_OPERANDS]; /* of staged operands */
    ssa pitch[VARIANT_OPERANDS]; /* elements from a call's core to the next one's */
    ssa first, count;            /* the calls of this group */
} groups;

static bool is_staged(const gufunc_writer *w, int k) { return w->s.v->operand[k].staged; }
static int size_of(const gufunc_writer *w, int k) { return dtypes[skeleton_memory(&w->s, k)].size; }
static ssa extent_of(const gufunc_writer *w, int k, int d) { return w->core[w->layout->operands[k].dim[d]]; }

bool call_groups_needed(const gufunc_writer *w) {
    bool any = false;
    for (int k = 0; k < w->s.v->nin + w->s.v->nout && !w->s.v->gufunc.unrolled && !w->s.v->gufunc.columns; k++)
        any |= is_staged(w, k);
    return any;
}

/* ---- Arrays ---- */

/* Elements from a core to the next: an odd number of lines of the cache (call_group_pitch). */
static ssa pitch_of(const gufunc_writer *w, int k) {
    emit *e = w->s.e;
    int line = LINE_BYTES / size_of(w, k);
    ssa elements = emit_value(e, "add i64 %s, %d", core_array_step(w, &w->layout->operands[k], -1, 1).text, line - 1);
    ssa lines = emit_value(e, "or i64 %s, 1", emit_value(e, "udiv i64 %s, %d", elements.text, line).text);
    return emit_value(e, "mul i64 %s, %d", lines.text, line);
}

/* As many calls as have room, a multiple of four, and no more than a line of the cache has of bytes. */
static ssa size_of_groups(gufunc_writer *w, const ssa *pitch) {
    emit *e = w->s.e;
    ssa bytes = ssa_constant(0);
    int most = CALL_GROUP_LEAST;
    for (int k = 0; k < w->s.noperands; k++)
        if (ssa_is_set(pitch[k])) {
            bytes = emit_op(e, "add i64", bytes, emit_value(e, "mul i64 %s, %d", pitch[k].text, size_of(w, k)));
            most = LINE_BYTES / size_of(w, k) > most ? LINE_BYTES / size_of(w, k) : most;
        }
    ssa room = emit_value(e, "udiv i64 %d, %s", CALL_GROUP_BYTES, bytes.text);
    return emit_min(e, emit_value(e, "and i64 %s, %d", room.text, -CALL_GROUP_LEAST), ssa_constant(most));
}

static void arrays_place(groups *g) {
    gufunc_writer *w = g->w;
    emit *e = w->s.e;
    for (int k = 0; k < w->s.noperands; k++)
        if (k < w->s.v->nin + w->s.v->nout && is_staged(w, k))
            g->pitch[k] = pitch_of(w, k);
    g->size = size_of_groups(w, g->pitch);
    ssa at = emit_scratch(e, SCRATCH_FROM);
    for (int k = 0; k < w->s.noperands; k++) {
        if (!ssa_is_set(g->pitch[k]))
            continue;
        fragment type = fragment_of("%s*", ir_memory_type(skeleton_memory(&w->s, k)));
        g->array[k] = emit_value(e, "bitcast i8* %s to %s", at.text, type.text);
        ssa bytes = emit_op(e, "mul i64", g->size, emit_value(e, "mul i64 %s, %d", g->pitch[k].text, size_of(w, k)));
        at = emit_value(e, "getelementptr i8, i8* %s, i64 %s", at.text, bytes.text);
    }
}

/* ---- Copies ---- */

typedef struct copy {
    const groups *g;
    int k;
    bool out;
    ssa memory; /* the first call's core */
} copy;

static void end_loop(emit *e, const counted_loop *l) {
    int hints[] = {loop_no_vectors(e), loop_no_unroll(e)};
    counted_loop_end_hints(e, l, ssa_constant(1), hints, COUNT(hints));
}

/* The elements along the last dimension of all calls: the first is `offset` elements from the first call's core on, and number `element` of the
 * array's. */
static void copy_row(const void *user, ssa offset, ssa element) {
    const copy *p = user;
    gufunc_writer *w = p->g->w;
    emit *e = w->s.e;
    const layout_operand *o = &w->layout->operands[p->k];
    emit_call_copy(e,
                   &(call_copy){.size = size_of(w, p->k),
                                .array = call_copy_place(w, p->k, p->g->array[p->k], element),
                                .memory = call_copy_place(w, p->k, p->memory, offset),
                                .extent = extent_of(w, p->k, o->rank - 1),
                                .step = w->core[o->strides + o->rank - 1],
                                .count = p->g->count,
                                .pitch = p->g->pitch[p->k]},
                   p->out);
}

static void copy_calls(const groups *g, int k, bool out) {
    copy p = {.g = g, .k = k, .out = out, .memory = skeleton_address(&g->w->s, k, g->row[k], g->first)};
    core_array_lines(g->w, &g->w->layout->operands[k], 1, ssa_constant(0), ssa_constant(0), copy_row, &p);
}

/* ---- Calls ---- */

/* What the kernel is told of the cores: those of the arrays are in C order. */
static ssa *core_of_arrays(const gufunc_writer *w) {
    ssa *core = arena_alloc(w->s.e->a, (size_t)w->layout->nparameters * sizeof *core);
    memcpy(core, w->core, (size_t)w->layout->nparameters * sizeof *core);
    for (int k = 0; k < w->s.v->nin + w->s.v->nout; k++)
        for (int d = 0; d < w->layout->operands[k].rank && is_staged(w, k); d++)
            core[w->layout->operands[k].strides + d] = core_array_step(w, &w->layout->operands[k], d, 1);
    return core;
}

static void compute(const groups *g) {
    gufunc_writer *w = g->w;
    emit *e = w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), g->count);
    ssa call = emit_op(e, "add i64", g->first, l.i), *core = w->core;
    w->core = core_of_arrays(w);
    for (int k = 0; k < w->s.noperands; k++)
        if (skeleton_is_array(&w->s, k))
            w->at[k] = ssa_is_set(g->array[k])
                           ? skeleton_address(&w->s, k, g->array[k], emit_op(e, "mul i64", l.i, g->pitch[k]))
                           : skeleton_address(&w->s, k, g->row[k], emit_op(e, "mul i64", call, g->stride[k]));
    gufunc_call(w, ssa_none());
    w->core = core;
    end_loop(e, &l);
}

void call_groups_row(gufunc_writer *w, const ssa *row, const ssa *stride, ssa extent) {
    emit *e = w->s.e;
    groups g = {.w = w, .row = row, .stride = stride};
    arrays_place(&g);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), extent);
    g.first = l.i;
    g.count = emit_min(e, emit_op(e, "sub i64", extent, l.i), g.size);
    for (int k = 0; k < w->s.noperands; k++)
        if (ssa_is_set(g.array[k]) && (k < w->s.nin || needs_content(w->s.t->kernel, k)))
            copy_calls(&g, k, false);
    compute(&g);
    for (int k = w->s.nin; k < w->s.noperands; k++)
        if (ssa_is_set(g.array[k]))
            copy_calls(&g, k, true);
    counted_loop_end(e, &l, g.size, loop_no_unroll(e));
}
