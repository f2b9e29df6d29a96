/* math_loop.c - CPU: innermost loops of constructs whose elements call functions of vectors. LLVM would write such a loop for four vectors, then for half
 * of one, and then for one element, each time with the code of the function, so that rows of 20 took longer than rows of 64. Where vectors have
 * conditions for their lanes there are two loops: one takes several whole vectors at once; one takes what these leave, by vectors of which
 * the last one has lanes without an element (body.there). LLVM's own loops of this kind (vectorize.predicate.enable) call functions of one
 * number from version 16 on. */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/common/skeleton.h"
#include "ir/common/target.h"
#include "ir/construct/construct.h"

enum {
    /* Functions of vectors of our own in a turn of the first loop: with one, softmax of long rows took 1.2 times as long, with two 1.1 times. Of
     * libmvec's there is one: around a call nothing stays in vector registers. */
    AT_ONCE = 4
};

typedef struct place_search {
    const body *b;
    bool other;
} place_search;

/* Helpers that work on arrays stand in the kernel itself. */
static void find_places(const node *n, void *user) {
    place_search *s = user;
    s->other |= n->kind == N_ELEMENT && !s->b->f->locals[n->local].core;
}

/* Of everything that a kernel reads and writes; helpers have float32 and float64. */
static bool have_conditions(const body *b) {
    bool all = target_has_lane_conditions(b->e->target, dtypes[DT_FLOAT32].size);
    const variant *v = b->is_kernel ? b->e->frame->v : NULL;
    for (int k = 0; v && k < v->nin + v->nout; k++)
        all &= target_has_lane_conditions(b->e->target, dtypes[v->operand[k].memory].size);
    return all;
}

bool lanes_fit(const body *b, const node *construct) {
    place_search s = {.b = b};
    if (!have_conditions(b) || b->e->plain || reports(b->e))
        return false;
    if (construct->kind == N_REDUCE)
        node_visit(construct->kid[0], find_places, &s);
    else
        node_each(construct->body, find_places, &s);
    return !s.other;
}

static bool has_halves(const variant *v) {
    bool halves = false;
    for (int k = 0; k < v->nin + v->nout; k++)
        halves |= dtype_is_half((dtype)v->operand[k].memory);
    return halves;
}

void lanes_guard(body *b, ssa i, ssa limit, ssa limit_too) {
    b->there = emit_op(b->e, "icmp slt i64", i, limit);
    b->there_too = emit_op(b->e, "icmp slt i64", i, limit_too);
}

void lanes_unguard(body *b) { b->there = b->there_too = ssa_none(); }

math_loop math_loop_of(const body *b, const node *construct) {
    const node *elements = construct->kind == N_REDUCE ? construct->kid[0] : construct->body;
    vector_calls calls = emit_vector_calls(b->e, elements);
    if (!calls.count || calls.loops)
        return (math_loop){0};
    return (math_loop){.lanes = calls.lanes,
                       .halves = b->is_kernel && has_halves(b->e->frame->v),
                       .split = lanes_fit(b, construct),
                       .at_once = calls.own < calls.count || calls.count > AT_ONCE ? 1 : AT_ONCE / calls.count};
}

ssa math_loop_whole(emit *e, const math_loop *m, ssa limit) {
    return emit_value(e, "and i64 %s, %d", limit.text, -m->lanes * m->at_once);
}

ssa math_loop_end(emit *e, const math_loop *m, ssa limit) {
    return emit_value(e, "and i64 %s, %d", emit_value(e, "add i64 %s, %d", limit.text, m->lanes - 1).text, -m->lanes);
}

/* The lanes are said where LLVM would take others: as many as fit elements in memory, and of halves that is a function of two vectors, whose
 * constants are in memory. */
int math_loop_hints(emit *e, const math_loop *m, bool rest, int hints[MATH_LOOP_HINTS]) {
    int n = 0;
    if (m->lanes && (m->split || m->halves))
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", m->lanes);
    if (m->split)
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 %d}", rest ? 1 : m->at_once);
    return n;
}
