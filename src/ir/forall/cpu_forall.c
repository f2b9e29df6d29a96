/* cpu_forall.c - points on the CPU: rows along the last index, one after the other in C order of the other indices. The last index is
 * that of dimension variant.ndim - 1; dimensions behind it have extent 1. Points are independent, and LLVM is told so: the accesses of
 * @kernel to arrays are in one access group, of which the loop over a row says that its iterations are independent. */
#include "ir/forall/guards.h"
#include "ir/forall/nontemporal.h"
#include "ir/forall/outer_vector.h"
#include "ir/forall/privatised.h"

/* The part of the space that a call computes: points first .. last - 1 of each of `rows` rows, and the indices of the first row. */
typedef struct part {
    ssa first, last, rows;
    ssa start[LAYOUT_MAX_RANK];
} part;

/* A stride that is not known to be 1 isn't 1: code that LLVM makes for the case that it is, which is all that it makes vectors of, never
 * runs. */
static void hide_strides(forall_writer *w) {
    const skeleton *s = &w->g.s;
    for (int k = 0; k < s->noperands; k++) {
        const layout_operand *o = &w->g.layout->operands[k];
        for (int d = 0; gufunc_is_core(&w->g, k) && d < o->rank; d++)
            if (d + 1 != s->v->operand[k].unit)
                w->g.core[o->strides + d] = skeleton_opaque_stride(s->e, w->g.core[o->strides + d]);
    }
}

static part read_parameters(forall_writer *w) {
    skeleton *s = &w->g.s;
    part p;
    p.first = skeleton_parameter(s, CPU_FORALL_FIRST);
    p.last = skeleton_parameter(s, CPU_FORALL_LAST);
    p.rows = skeleton_parameter(s, CPU_FORALL_ROWS);
    for (int d = 0; d < s->v->ndim - 1; d++)
        p.start[d] = skeleton_parameter(s, CPU_FORALL_INDEX);
    if (variant_has_nontemporal(s->v))
        w->copy =
            emit_value(s->e, "inttoptr i64 %s to void (i8*, i8*, i64)*", skeleton_parameter(s, CPU_FORALL_COPY).text);
    gufunc_core_parameters(&w->g);
    hide_strides(w);
    return p;
}

/* Writes the loop over whole runs of a row; returns the first point behind them. */
static ssa runs(forall_writer *w, ssa *index, ssa first, ssa limit) {
    emit *e = w->g.s.e;
    ssa count = emit_op(e, "sub i64", limit, first), none = ssa_constant(0), width = ssa_constant(w->outer->width);
    count = emit_select_as(e, "i64", emit_op(e, "icmp slt i64", count, none), none, count);
    ssa end = emit_op(e, "add i64", first, emit_op(e, "and i64", count, ssa_constant(-w->outer->width)));
    counted_loop l = counted_loop_begin(e, "i64", first, end);
    index[w->g.s.v->ndim - 1] = l.i;
    forall_point(w, "points", index);
    counted_loop_end(e, &l, width, 0);
    return end;
}

static void points_of_row(forall_writer *w, ssa *index, ssa first, ssa limit) {
    emit *e = w->g.s.e;
    if (w->outer)
        first = runs(w, index, first, limit);
    counted_loop l = counted_loop_begin(e, "i64", first, limit);
    index[w->g.s.v->ndim - 1] = l.i;
    forall_point(w, "kernel", index);
    counted_loop_end(e, &l, ssa_constant(1), emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", w->group));
}

static void row(forall_writer *w, const part *p, ssa *index) {
    for (int d = w->g.s.v->ndim; d < w->g.layout->nindices; d++)
        index[d] = ssa_constant(0);
    ssa first = p->first, limit = p->last;
    if (w->guards)
        guards_narrow(w, w->guards, index, &first, &limit);
    if (nontemporal_any(w))
        nontemporal_row(w, index, first, limit, points_of_row);
    else
        points_of_row(w, index, first, limit);
}

/* `count` rows that follow each other along the last index but one. */
static void row_after_row(forall_writer *w, const part *p, ssa *index, ssa from, ssa count) {
    emit *e = w->g.s.e;
    counted_loop l = counted_loop_begin(e, "i64", from, emit_op(e, "add i64", from, count));
    index[w->g.s.v->ndim - 2] = l.i;
    row(w, p, index);
    counted_loop_end(e, &l, ssa_constant(1), 0);
}

/* ---- Three dimensions and more: the outer indices are variables, which count like an odometer ---- */

static ssa variable(emit *e) { return emit_value(e, "alloca i64"); }

static void set(emit *e, ssa at, ssa value) { emit_line(e, "store i64 %s, i64* %s", value.text, at.text); }

static ssa get(emit *e, ssa at) { return emit_value(e, "load i64, i64* %s", at.text); }

/* Steps to the next index in the dimensions before the last but one. */
static void step(forall_writer *w, const ssa *index, const ssa *at) {
    emit *e = w->g.s.e;
    ssa carry = ssa_bool(true);
    for (int d = w->g.s.v->ndim - 3; d >= 0; d--) {
        ssa next = emit_op(e, "add i64", index[d], emit_value(e, "zext i1 %s to i64", carry.text));
        carry = emit_op(e, "icmp eq i64", next, w->g.core[d]);
        set(e, at[d], emit_select_as(e, "i64", carry, ssa_constant(0), next));
    }
}

static void all_rows(forall_writer *w, const part *p, const ssa *at) {
    emit *e = w->g.s.e;
    int outer = w->g.s.v->ndim - 2;
    ssa index[LAYOUT_MAX_RANK] = {0};
    for (int d = 0; d <= outer; d++)
        set(e, at[d], p->start[d]);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), p->rows);
    for (int d = 0; d < outer; d++)
        index[d] = get(e, at[d]);
    ssa from = get(e, at[outer]), left = emit_op(e, "sub i64", p->rows, l.i);
    ssa count = emit_min(e, left, emit_op(e, "sub i64", w->g.core[outer], from));
    row_after_row(w, p, index, from, count);
    set(e, at[outer], ssa_constant(0));
    step(w, index, at);
    counted_loop_end(e, &l, count, 0);
}

static void rows(forall_writer *w, const part *p, const ssa *at) {
    ssa index[LAYOUT_MAX_RANK] = {0};
    if (w->g.s.v->ndim == 1)
        row(w, p, index);
    else if (w->g.s.v->ndim == 2)
        row_after_row(w, p, index, p->start[0], p->rows);
    else
        all_rows(w, p, at);
}

/* ---- Private copies ---- */

static void private_new(forall_writer *w, int k) {
    dtype t = (dtype)w->g.s.v->operand[k].memory;
    w->private_base[k] = emit_array(w->g.s.e, t, COPY_BYTES / dtypes[t].size);
}

static void each_private(forall_writer *w, void (*visit)(forall_writer *w, int k, ssa i)) {
    for (int k = 0; k < w->g.s.v->nin; k++) {
        if (!w->g.s.v->operand[k].privatised)
            continue;
        counted_loop l = counted_loop_begin(w->g.s.e, "i64", ssa_constant(0), private_size(w, k));
        visit(w, k, l.i);
        counted_loop_end(w->g.s.e, &l, ssa_constant(1), 0);
    }
}

void cpu_forall(forall_writer *w) {
    ssa at[LAYOUT_MAX_RANK] = {0};
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (w->g.s.v->operand[k].privatised)
            private_new(w, k);
    nontemporal_begin(w);
    for (int d = 0; d < w->g.s.v->ndim - 1 && w->g.s.v->ndim > 2; d++)
        at[d] = variable(w->g.s.e);
    part p = read_parameters(w);
    each_private(w, private_clear);
    rows(w, &p, at);
    each_private(w, private_merge);
}
