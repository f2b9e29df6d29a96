/* interchange.c - CPU: a forall around reductions, where memory is contiguous along the forall's last range and not along the
 * reductions' (as in the product of two matrices, or of a vector and a matrix). The loops are strip-mined and interchanged: the last
 * range is cut into strips, the reduction's loop goes around a strip, and the loop over the strip is innermost. Each element of the
 * strip has an accumulator, in an array that stays in the first-level cache. The inner loops become vector loops, with masked lanes
 * where a strip is short. */
#include <math.h>

#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/common/skeleton.h"
#include "ir/common/target.h"
#include "ir/construct/unroll_jam.h"

enum {
    STRIP_BYTES = 1024, /* of accumulators: enough that each has been stored long before it is read again */
    STRIP_LEAST = 16    /* elements along the last range from which it pays */
};

_Static_assert(CALL_STRIP * 8 <= STRIP_BYTES, "calls that are computed side by side are one strip");

typedef struct strip {
    ssa first, width; /* i64: of the forall's last range */
    int variable;
} strip;

/* ---- What fits ---- */

/* A reduction with an accumulator that vectors hold, whose ranges are the same for all elements of the strip. */
static bool reduction_fits(const node *n, int variable) {
    dtype type = (dtype)n->type;
    for (const node *r = n->args; r; r = r->next)
        if (jam_depends(r->kid[0], variable))
            return false;
    return n->is_identity && type != DT_BOOL && !dtype_is_complex(type);
}

/* How many of a node's kids are always evaluated. A reduction in any other stays where it is: the condition in front of it may be what
 * proves its indices to be in range. */
static int kids_reached(const node *n) { return n->kind == N_AND || n->kind == N_OR || n->kind == N_SELECT ? 1 : 3; }

/* Counts the reductions that are reached by all elements; false if one does not fit. One within a sequence does not: it may use the
 * variables of that. */
static bool reductions_fit(const node *n, int variable, int *count) {
    if (!n)
        return true;
    if (n->kind == N_SEQUENCE)
        return !node_reduces(n);
    if (n->kind == N_REDUCE) {
        ++*count;
        return reduction_fits(n, variable);
    }
    for (int k = 0; k < kids_reached(n); k++)
        if (!reductions_fit(n->kid[k], variable, count))
            return false;
    for (const node *a = n->args; a; a = a->next)
        if (!reductions_fit(a, variable, count))
            return false;
    return true;
}

bool interchange_fits(const body *b, const node *n) {
    int count = 0;
    const node *last = n->args;
    if (b->e->plain || !b->is_kernel || b->e->target->gpu || !b->e->frame->v->gufunc.along || b->jam)
        return false;
    while (last->next)
        last = last->next;
    for (const node *s = n->body; s; s = s->next) {
        if (s->kind != N_EVAL || s->kid[0]->kind != N_ASSIGN || !b->f->locals[s->kid[0]->kid[0]->local].core)
            return false;
        if (!reductions_fit(s->kid[0], last->local, &count))
            return false;
    }
    return count > 0;
}

/* ---- Loops over a strip ---- */

static ssa element_of(body *b, ssa array, const char *type, ssa l) {
    return emit_value(b->e, "getelementptr inbounds %s, %s* %s, i64 %s", type, type, array.text, l.text);
}

typedef struct strip_loop {
    counted_loop l;
    int group; /* of accesses around the loop */
} strip_loop;

/* A strip is not empty. */
static strip_loop strip_begin(body *b, const strip *p) {
    emit *e = b->e;
    strip_loop s = {.l = counted_loop_begin_some(e, "i64", ssa_constant(0), p->width), .group = e->access_group};
    e->access_group = emit_metadata(e, "distinct !{}");
    b->bound[p->variable] = emit_value(e, "add nuw nsw i64 %s, %s", p->first.text, s.l.i.text);
    return s;
}

/* unrolls: LLVM may write it out for all vectors of a strip. For loops that do more than to add a term, that was half of the time that it took to
 * compile softmax of columns, which were faster by a twentieth. */
static void strip_end(body *b, const strip *p, const strip_loop *s, bool unrolls) {
    emit *e = b->e;
    int own = e->access_group;
    e->access_group = s->group;
    b->bound[p->variable] = ssa_none();
    int hints[2 + FEW_LANE_HINTS], n = 0, lanes = frame_has_strips(e->frame) ? e->frame->strip_lanes : 0;
    if (lanes)
        n = loop_few_lanes(e, lanes, hints);
    else if (target_masks_freely(e->target))
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.vectorize.predicate.enable\", i1 true}");
    hints[n++] = emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", own);
    if (!unrolls)
        hints[n++] = loop_no_unroll(e);
    counted_loop_end_hints(e, &s->l, ssa_constant(1), hints, n);
}

static void strip_put(body *b, const char *type, ssa value, ssa at) {
    emit_line(b->e, "store %s %s, %s* %s, !llvm.access.group !%d", type, value.text, type, at.text, b->e->access_group);
}

static ssa strip_get(body *b, const char *type, ssa at) {
    return emit_value(b->e, "load %s, %s* %s, !llvm.access.group !%d", type, type, at.text, b->e->access_group);
}

/* ---- Reductions ---- */

/* Are all bits of what there is without terms 0? */
static bool is_zero(const node *n) {
    bool floating = dtype_is_floating((dtype)n->type);
    return floating ? n->value.as.f[0] == 0 && !signbit(n->value.as.f[0]) : n->value.as.u == 0;
}

/* All accumulators of a strip, of which there may be `size`, begin as the result of no terms. */
static void strip_fill(body *b, const strip *p, const node *n, ssa array, int size) {
    emit *e = b->e;
    const char *type = ir_value_type((dtype)n->type);
    if (is_zero(n)) {
        emit_clear(e, emit_pointer_as(e, type, array, "i8"), size * dtypes[n->type].size);
        return;
    }
    strip_loop s = strip_begin(b, p);
    strip_put(b, type, emit_constant(n->value, (dtype)n->type), element_of(b, array, type, s.l.i));
    strip_end(b, p, &s, false);
}

/* The accumulators of one reduction for the strip: the address of the first. variable: a variable of the calls that has its results; -1: none. */
static ssa strip_reduce(body *b, const strip *p, const node *n, int variable) {
    emit *e = b->e;
    const char *type = ir_value_type((dtype)n->type);
    int size = variable < 0 ? STRIP_BYTES / dtypes[n->type].size : CALL_STRIP, count;
    ssa *limits = ranges_read(b, n->args, &count);
    ssa all = variable < 0 ? emit_slot(b, fragment_of("[%d x %s]", size, type).text) : emit_local_slot(b, variable);
    ssa array = emit_value(e, "getelementptr [%d x %s], [%d x %s]* %s, i64 0, i64 0", size, type, size, type, all.text);
    strip_fill(b, p, n, array, size);
    counted_loop *loops = arena_alloc(e->a, (size_t)count * sizeof *loops);
    for (int k = 0; k < count; k++) {
        loops[k] = counted_loop_begin(e, "i64", ssa_constant(0), limits[k]);
        b->bound[range_at(n->args, k)->local] = loops[k].i;
    }
    strip_loop s = strip_begin(b, p);
    ssa at = element_of(b, array, type, s.l.i);
    strip_put(b, type, accumulate(b, n, strip_get(b, type, at)), at);
    strip_end(b, p, &s, !n->callee && !emit_vector_calls(e, n->kid[0]).count);
    for (int k = count - 1; k >= 0; k--) {
        counted_loop_end(e, &loops[k], ssa_constant(1), 0);
        b->bound[range_at(n->args, k)->local] = ssa_none();
    }
    return array;
}

typedef struct reduced {
    const node *n;
    ssa array;
    struct reduced *next;
} reduced;

static void reduce_all(body *b, const strip *p, const node *n, reduced **list) {
    if (!n)
        return;
    if (n->kind == N_SEQUENCE)
        return;
    if (n->kind == N_REDUCE) {
        reduced *r = arena_alloc(b->e->a, sizeof *r);
        *r = (reduced){n, strip_reduce(b, p, n, -1), *list};
        *list = r;
        return;
    }
    for (int k = 0; k < kids_reached(n); k++)
        reduce_all(b, p, n->kid[k], list);
    for (const node *a = n->args; a; a = a->next)
        reduce_all(b, p, a, list);
}

/* The variable of the calls that an assignment gives the results of a reduction as they are, if its terms do not read it; -1: it does something else. */
static int variable_of(const body *b, const node *assign) {
    const node *to = assign->kid[0], *value = assign->kid[1];
    bool same = value->kind == N_REDUCE && value->type == to->type && !jam_depends(value, to->local);
    return same && !b->f->locals[to->local].core ? to->local : -1;
}

/* Writes a statement, and in the same loop over the strip those behind it that reduce nothing; returns the last of them. */
static const node *strip_statements(body *b, const strip *p, const node *n) {
    reduced *list = NULL;
    int variable = variable_of(b, n->kid[0]);
    if (variable >= 0)
        strip_reduce(b, p, n->kid[0]->kid[1], variable);
    else
        reduce_all(b, p, n->kid[0], &list);
    bool more = n->next && !node_reduces(n->next->kid[0]);
    if (variable >= 0 && !more)
        return n;
    strip_loop s = strip_begin(b, p);
    jam_begin(b, 1, true);
    for (const reduced *r = list; r; r = r->next) {
        const char *type = ir_value_type((dtype)r->n->type);
        ssa *value = arena_alloc(b->e->a, sizeof *value);
        *value = strip_get(b, type, element_of(b, r->array, type, s.l.i));
        jam_know(b, r->n, value);
    }
    if (variable < 0)
        emit_expression(b, n->kid[0]);
    jam_end(b);
    for (; more; more = n->next && !node_reduces(n->next->kid[0])) {
        n = n->next;
        emit_statement(b, n);
    }
    strip_end(b, p, &s, false);
    return n;
}

/* Bytes of the widest accumulator, which decides how long strips are. */
static int widest(const node *n) {
    int size = 1;
    for (; n; n = n->next) {
        int sizes[] = {n->kind == N_REDUCE ? dtypes[n->type].size : 1, widest(n->kid[0]), widest(n->kid[1]),
                       widest(n->kid[2]), widest(n->args)};
        for (size_t i = 0; i < COUNT(sizes); i++)
            size = sizes[i] > size ? sizes[i] : size;
    }
    return size;
}

static void forall_by_strips(body *b, const node *n, const ssa *limits, int count) {
    emit *e = b->e;
    int size = STRIP_BYTES / widest(n->body);
    counted_loop *loops = arena_alloc(e->a, (size_t)count * sizeof *loops);
    b->depth++;
    for (int k = 0; k < count; k++) {
        loops[k] = counted_loop_begin(e, "i64", ssa_constant(0), limits[k]);
        if (k < count - 1)
            b->bound[range_at(n->args, k)->local] = loops[k].i;
    }
    const counted_loop *last = &loops[count - 1];
    ssa left = emit_op(e, "sub i64", limits[count - 1], last->i),
        few = emit_value(e, "icmp slt i64 %s, %d", left.text, size);
    strip p = {last->i, emit_select_as(e, "i64", few, left, ssa_constant(size)), range_at(n->args, count - 1)->local};
    for (const node *s = n->body; s; s = s->next)
        s = strip_statements(b, &p, s);
    for (int k = count - 1; k >= 0; k--) {
        counted_loop_end(e, &loops[k], ssa_constant(k == count - 1 ? size : 1), 0);
        b->bound[range_at(n->args, k)->local] = ssa_none();
    }
    b->depth--;
}

void forall_of_calls(body *b, const node *n) {
    emit *e = b->e;
    int count;
    ssa *limits = ranges_read(b, n->args, &count);
    counted_loop *loops = arena_alloc(e->a, (size_t)count * sizeof *loops);
    b->depth++;
    for (int k = 0; k < count - 1; k++) {
        loops[k] = counted_loop_begin(e, "i64", ssa_constant(0), limits[k]);
        b->bound[range_at(n->args, k)->local] = loops[k].i;
    }
    strip p = {ssa_constant(0), limits[count - 1], range_at(n->args, count - 1)->local};
    for (const node *s = n->body; s; s = s->next)
        s = strip_statements(b, &p, s);
    for (int k = count - 2; k >= 0; k--) {
        counted_loop_end(e, &loops[k], ssa_constant(1), 0);
        b->bound[range_at(n->args, k)->local] = ssa_none();
    }
    b->depth--;
}

void interchange_forall(body *b, const node *n) {
    emit *e = b->e;
    int count, strips = emit_label_new(e), alone = emit_label_new(e), end = emit_label_new(e);
    ssa *limits = ranges_read(b, n->args, &count);
    /* Else LLVM would learn from the branch on it, make the code behind the branch twice, and leave the copy for few iterations without vectors. */
    ssa length = unknown_value(e, limits[count - 1]);
    ssa pays = emit_value(e, "icmp sge i64 %s, %d", length.text, STRIP_LEAST);
    emit_branch_if(e, pays, strips, alone);
    emit_label(e, strips);
    forall_by_strips(b, n, limits, count);
    emit_branch(e, end);
    emit_label(e, alone);
    forall_alone(b, n, limits, count);
    emit_branch(e, end);
    emit_label(e, end);
}
