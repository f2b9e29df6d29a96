/* cpu_forall.c - points on the CPU: rows of the last index, one after the other in C order of the other indices. The last index
 * is that of dimension variant.ndim - 1; in those after it there is only 0. Points are independent, and LLVM is told so: the
 * accesses of @kernel to arrays are one access group, of which the loop over a row says that its iterations do not depend on
 * each other. */
#include "ir/forall/guards.h"
#include "ir/forall/nontemporal.h"
#include "ir/forall/outer_vector.h"
#include "ir/forall/privatised.h"

/* What the engine says: the part of each row, and the rows, by the indices of the first. */
typedef struct part {
    ssa first, last, rows;
    ssa start[LAYOUT_MAX_RANK];
} part;

int cpu_forall_words(const calls *c) {
    return 2 + c->s.v->ndim + variant_has_nontemporal(c->s.v) + !!c->s.v->reports + c->layout->nwords;
}

static part read_words(calls *c) {
    skeleton *s = &c->s;
    part p;
    p.first = skeleton_word(s);
    p.last = skeleton_word(s);
    p.rows = skeleton_word(s);
    for (int d = 0; d < s->v->ndim - 1; d++)
        p.start[d] = skeleton_word(s);
    if (variant_has_nontemporal(s->v))
        c->copy = emit_value(s->e, "inttoptr i64 %s to void (i8*, i8*, i64)*", skeleton_word(s).text);
    gufunc_core_words(c);
    return p;
}

/* Points of a row by runs; the first of the others. */
static ssa runs(calls *c, ssa *index, ssa first, ssa limit) {
    emit *e = c->s.e;
    ssa count = emit_op(e, "sub i64", limit, first), none = ssa_constant(0), width = ssa_constant(c->outer->width);
    count = emit_select_as(e, "i64", emit_op(e, "icmp slt i64", count, none), none, count);
    ssa end = emit_op(e, "add i64", first, emit_op(e, "and i64", count, ssa_constant(-c->outer->width)));
    counted_loop l = counted_loop_begin(e, "i64", first, end);
    index[c->s.v->ndim - 1] = l.i;
    forall_point(c, "points", index);
    counted_loop_end(e, &l, width, 0);
    return end;
}

static void points_of_row(calls *c, ssa *index, ssa first, ssa limit) {
    emit *e = c->s.e;
    if (c->outer)
        first = runs(c, index, first, limit);
    counted_loop l = counted_loop_begin(e, "i64", first, limit);
    index[c->s.v->ndim - 1] = l.i;
    forall_point(c, "kernel", index);
    counted_loop_end(e, &l, ssa_constant(1), emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", c->group));
}

static void row(calls *c, const part *p, ssa *index) {
    for (int d = c->s.v->ndim; d < c->layout->nindices; d++)
        index[d] = ssa_constant(0);
    ssa first = p->first, limit = p->last;
    if (c->guards)
        guards_narrow(c, c->guards, index, &first, &limit);
    if (nontemporal_any(c))
        nontemporal_row(c, index, first, limit, points_of_row);
    else
        points_of_row(c, index, first, limit);
}

/* Rows that differ in the last index but one alone, `count` of them. */
static void row_after_row(calls *c, const part *p, ssa *index, ssa from, ssa count) {
    emit *e = c->s.e;
    counted_loop l = counted_loop_begin(e, "i64", from, emit_op(e, "add i64", from, count));
    index[c->s.v->ndim - 2] = l.i;
    row(c, p, index);
    counted_loop_end(e, &l, ssa_constant(1), 0);
}

/* ---- Three dimensions and more: the other indices count like an odometer, in variables ---- */

static ssa variable(emit *e) { return emit_value(e, "alloca i64"); }

static void set(emit *e, ssa at, ssa value) { emit_line(e, "store i64 %s, i64* %s", value.text, at.text); }

static ssa get(emit *e, ssa at) { return emit_value(e, "load i64, i64* %s", at.text); }

/* One more in the dimensions before the last but one. */
static void step(calls *c, const ssa *index, const ssa *at) {
    emit *e = c->s.e;
    ssa carry = ssa_bool(true);
    for (int d = c->s.v->ndim - 3; d >= 0; d--) {
        ssa next = emit_op(e, "add i64", index[d], emit_value(e, "zext i1 %s to i64", carry.text));
        carry = emit_op(e, "icmp eq i64", next, c->core[d]);
        set(e, at[d], emit_select_as(e, "i64", carry, ssa_constant(0), next));
    }
}

static void all_rows(calls *c, const part *p, const ssa *at) {
    emit *e = c->s.e;
    int outer = c->s.v->ndim - 2;
    ssa index[LAYOUT_MAX_RANK];
    for (int d = 0; d <= outer; d++)
        set(e, at[d], p->start[d]);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), p->rows);
    for (int d = 0; d < outer; d++)
        index[d] = get(e, at[d]);
    ssa from = get(e, at[outer]), left = emit_op(e, "sub i64", p->rows, l.i);
    ssa count = emit_min(e, left, emit_op(e, "sub i64", c->core[outer], from));
    row_after_row(c, p, index, from, count);
    set(e, at[outer], ssa_constant(0));
    step(c, index, at);
    counted_loop_end(e, &l, count, 0);
}

static void rows(calls *c, const part *p, const ssa *at) {
    ssa index[LAYOUT_MAX_RANK];
    if (c->s.v->ndim == 1)
        row(c, p, index);
    else if (c->s.v->ndim == 2)
        row_after_row(c, p, index, p->start[0], p->rows);
    else
        all_rows(c, p, at);
}

/* ---- Counters ---- */

static void counters_new(calls *c, int k) {
    dtype t = (dtype)c->s.v->operand[k].memory;
    c->counts[k] = emit_array(c->s.e, t, COPY_BYTES / dtypes[t].size);
}

static void each_counter(calls *c, void (*visit)(calls *c, int k, ssa i)) {
    for (int k = 0; k < c->s.v->nin; k++) {
        if (!c->s.v->operand[k].privatised)
            continue;
        counted_loop l = counted_loop_begin(c->s.e, "i64", ssa_constant(0), counters_size(c, k));
        visit(c, k, l.i);
        counted_loop_end(c->s.e, &l, ssa_constant(1), 0);
    }
}

void cpu_forall(calls *c) {
    ssa at[LAYOUT_MAX_RANK];
    for (int k = 0; k < c->s.v->nin; k++)
        if (c->s.v->operand[k].privatised)
            counters_new(c, k);
    nontemporal_begin(c);
    for (int d = 0; d < c->s.v->ndim - 1 && c->s.v->ndim > 2; d++)
        at[d] = variable(c->s.e);
    part p = read_words(c);
    each_counter(c, counters_clear);
    rows(c, &p, at);
    each_counter(c, counters_merge);
}
