/* cpu_gufunc.c - inner calls on the CPU: two loops, dimensions 0 and 1 of the loop, or one loop over both; the engine walks the others. */
#include "ir/common/nodes.h"
#include "ir/gufunc/call_groups.h"
#include "ir/gufunc/call_strips.h"
#include "ir/gufunc/gufunc.h"
#include "ir/gufunc/lane_calls.h"

enum {
    MANY_LOOPS = 8,   /* of a kernel's text: its calls take so long that one loop goes over them */
    MANY_ACCESSES = 4 /* of a kernel's text to its operands, whose addresses are then unknown to LLVM */
};

typedef struct survey {
    const frame *f;
    const function *kernel;
    bool loops, text_loops; /* some whose length is not known; some of the text that are no constructs */
    int constructs, accesses;
} survey;

static void find_size(const node *n, void *user) {
    survey *s = user;
    int64_t size;
    s->loops |= n->kind == N_SIZE && !frame_size(s->f, n->dim, &size);
}

static void find_loop(const node *n, void *user) {
    for (const node *r = n->kind == N_FORALL ? n->args : NULL; r; r = r->next)
        node_visit(r->kid[0], find_size, user);
    if (n->kind == N_LOOP && n->kid[0])
        node_visit(n->kid[0], find_size, user);
}

static void find_all(const node *n, void *user) {
    survey *s = user;
    find_loop(n, user);
    s->text_loops |= n->kind == N_LOOP;
    s->constructs += n->kind == N_FORALL || n->kind == N_REDUCE || n->kind == N_LOOP;
    s->accesses += n->kind == N_ELEMENT && s->kernel->locals[n->local].core;
}

/* Where a `forall`, `for` or `while` has a length that is not known no vector loop goes over inner calls. LLVM would make one for
 * sizes of which no such loop is left: it is much code, but not where a reduction stands alone. */
static survey survey_of(const gufunc_writer *w) {
    survey s = {.f = &w->frame, .kernel = w->s.t->kernel};
    if (!w->s.v->gufunc.unrolled)
        node_each(s.kernel->body, find_all, &s);
    return s;
}

/* The arrays' addresses one loop further in. */
static void move(gufunc_writer *w, const counted_loop *l, const ssa *from, const ssa *stride, ssa *to) {
    skeleton *s = &w->s;
    for (int k = 0; k < s->noperands; k++)
        if (skeleton_is_array(s, k))
            to[k] = skeleton_address(s, k, from[k], emit_op(s->e, "mul i64", l->i, stride[k]));
}

/* Addresses that LLVM cannot relate to the loops over calls: else its loop strength reduction tries in each loop of the kernel what changes
 * with those, too. */
static void forget(gufunc_writer *w) {
    skeleton *s = &w->s;
    for (int k = 0; k < s->noperands; k++) {
        if (!skeleton_is_array(s, k))
            continue;
        const char *t = ir_memory_type(skeleton_memory(s, k));
        w->at[k] = emit_value(s->e, "call %s* asm \"\", \"=r,0\"(%s* %s)", t, t, w->at[k].text);
    }
}

typedef struct call_loops {
    ssa extent[2], first; /* of dimensions 0 and 1; where errors are reported, the number of the first call */
    ssa stride[2][VARIANT_OPERANDS];
    bool forgets;
} call_loops;

/* The call of these indices. */
static void write_call(gufunc_writer *w, const call_loops *c, const counted_loop *inner, const counted_loop *outer,
                       const ssa *row) {
    emit *e = w->s.e;
    move(w, inner, row, c->stride[0], w->at);
    if (c->forgets)
        forget(w);
    if (w->s.v->reports)
        w->element = emit_op(e, "add i64", emit_op(e, "mul i64", outer->i, c->extent[0]),
                             emit_op(e, "add i64", c->first, inner->i));
    gufunc_call(w, ssa_none());
}

static void in_two_loops(gufunc_writer *w, const call_loops *c, int hint) {
    emit *e = w->s.e;
    ssa row[VARIANT_OPERANDS] = {0};
    counted_loop outer = counted_loop_begin(e, "i64", ssa_constant(0), c->extent[1]);
    move(w, &outer, w->s.base, c->stride[1], row);
    counted_loop inner = counted_loop_begin(e, "i64", ssa_constant(0), c->extent[0]);
    write_call(w, c, &inner, &outer, row);
    counted_loop_end(e, &inner, ssa_constant(1), hint);
    counted_loop_end(e, &outer, ssa_constant(1), 0);
}

static void in_lanes(gufunc_writer *w, const call_loops *c) {
    emit *e = w->s.e;
    ssa row[VARIANT_OPERANDS] = {0};
    lane_calls lanes = lane_calls_begin(w, c->stride[0]);
    counted_loop outer = counted_loop_begin(e, "i64", ssa_constant(0), c->extent[1]);
    move(w, &outer, w->s.base, c->stride[1], row);
    lane_calls_row(&lanes, row, c->extent[0]);
    counted_loop_end(e, &outer, ssa_constant(1), 0);
}

/* write: call_groups_row, or call_strips_row. */
static void in_rows(gufunc_writer *w, const call_loops *c,
                    void (*write)(gufunc_writer *w, const ssa *row, const ssa *stride, ssa extent)) {
    emit *e = w->s.e;
    ssa row[VARIANT_OPERANDS] = {0};
    counted_loop outer = counted_loop_begin(e, "i64", ssa_constant(0), c->extent[1]);
    move(w, &outer, w->s.base, c->stride[1], row);
    write(w, row, c->stride[0], c->extent[0]);
    counted_loop_end(e, &outer, ssa_constant(1), 0);
}

/* Both indices are counted by one loop. LLVM goes through the loops of the kernel by the depth they
 * have, and makes copies of all loops around a condition that does not change. */
static void in_one_loop(gufunc_writer *w, const call_loops *c, int hint) {
    emit *e = w->s.e;
    ssa row[VARIANT_OPERANDS] = {0}, calls = ssa_none();
    for (int d = 0; d < 2; d++) {
        ssa some = emit_value(e, "icmp sgt i64 %s, 0", c->extent[d].text);
        calls = d ? emit_op(e, "and i1", calls, some) : some;
    }
    int before = emit_label_new(e), head = emit_label_new(e), latch = emit_label_new(e), end = emit_label_new(e);
    counted_loop loops[2] = {{.i = ssa_named("%%i%d", head), .next = ssa_named("%%next%d", head)},
                             {.i = ssa_named("%%j%d", head), .next = ssa_named("%%after%d", head)}};
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch_if(e, calls, head, end);
    emit_loop_begin(e);
    emit_label(e, head);
    for (int d = 0; d < 2; d++)
        emit_line(e, "%s = phi i64 [ 0, %%L%d ], [ %s, %%L%d ]", loops[d].i.text, before, loops[d].next.text, latch);
    move(w, &loops[1], w->s.base, c->stride[1], row);
    write_call(w, c, &loops[0], &loops[1], row);
    emit_branch(e, latch);
    emit_label(e, latch);
    ssa more = emit_value(e, "add nuw nsw i64 %s, 1", loops[0].i.text),
        over = emit_op(e, "icmp eq i64", more, c->extent[0]);
    emit_line(e, "%s = select i1 %s, i64 0, i64 %s", loops[0].next.text, over.text, more.text);
    emit_line(e, "%s = add nuw nsw i64 %s, %s", loops[1].next.text, loops[1].i.text,
              emit_value(e, "zext i1 %s to i64", over.text).text);
    ssa on = emit_op(e, "icmp slt i64", loops[1].next, c->extent[1]);
    emit_line(e, "br i1 %s, label %%L%d, label %%L%d%s", on.text, head, end, loop_hints(e, &hint, 1).text);
    emit_loop_end(e);
    emit_label(e, end);
}

/* A hint for the loop over calls of an unrolled kernel whose results are numbers, which become vectors: eight at a time. For vectors of 16 LLVM has a
 * second loop, of vectors of 8 for the rest; nearly all of the code stood there twice, and calls that wait for divisions and gathered
 * elements are as fast. 0: none. */
static int loop_hint_unrolled(gufunc_writer *w) {
    const skeleton *s = &w->s;
    enum {
        CALLS = 8
    };
    bool numbers = s->v->gufunc.unrolled && s->e->target->vector_bits == 512;
    for (int k = 0; k < s->noperands; k++)
        numbers &= k < s->nin ? dtypes[s->v->operand[k].memory].size <= 4 : !gufunc_is_core(w, k);
    return numbers ? emit_metadata(s->e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", CALLS) : 0;
}

/* Unrolled: do elements of some core lie side by side? Calls do not then, and LLVM would make a vector loop for the case that they did. */
static bool calls_are_apart(const gufunc_writer *w) {
    bool apart = false;
    for (int k = 0; k < w->s.noperands; k++)
        apart |= w->s.v->gufunc.unrolled && gufunc_is_core(w, k) && w->s.v->operand[k].unit;
    return apart;
}

/* Of a kernel with few loops. Cholesky factors and determinants, which have loops of the text, were slower by a tenth, and elements that are
 * apart by a twentieth. */
static bool forgets(const gufunc_writer *w, const survey *found) {
    bool apart = false;
    for (int k = 0; k < w->s.noperands; k++)
        apart |= gufunc_is_core(w, k) && !w->s.v->operand[k].unit;
    return found->loops && !found->text_loops && !apart && found->accesses >= MANY_ACCESSES;
}

void cpu_gufunc(gufunc_writer *w) {
    skeleton *s = &w->s;
    survey found = survey_of(w);
    bool many = found.loops && found.constructs >= MANY_LOOPS;
    call_loops c = {.forgets = many || forgets(w, &found)};
    for (int d = 0; d < 2; d++)
        c.extent[d] = skeleton_parameter(s, CPU_LOOP_EXTENTS);
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < 2 && skeleton_is_array(s, k); d++)
            c.stride[d][k] = skeleton_parameter(s, CPU_LOOP_STRIDES);
    c.first = s->v->reports ? skeleton_parameter(s, CPU_GUFUNC_FIRST) : ssa_none();
    gufunc_core_parameters(w);
    s->e->module->straight = s->v->gufunc.unrolled && !tree_branches(s->t) && !tree_has_math(s->t);
    if (lane_calls_needed(w))
        in_lanes(w, &c);
    else if (s->v->gufunc.strips)
        in_rows(w, &c, call_strips_row);
    else if (call_groups_needed(w))
        in_rows(w, &c, call_groups_row);
    else if (many)
        in_one_loop(w, &c, loop_no_vectors(s->e));
    else
        in_two_loops(w, &c, found.loops || calls_are_apart(w) ? loop_no_vectors(s->e) : loop_hint_unrolled(w));
}
