/* cpu_gufunc.c - inner calls on the CPU: two loops, dimensions 0 and 1 of the loop; the engine walks the others. */
#include "ir/common/nodes.h"
#include "ir/gufunc/gufunc.h"

typedef struct survey {
    const frame *f;
    bool loops;
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

/* Has the kernel a `forall`, `for` or `while` whose length is not known? Then no vector loop goes over inner calls. LLVM would make one for
 * sizes of which no such loop is left: it is much code, but not where a reduction stands alone. */
static bool has_loop(const gufunc_writer *w) {
    survey s = {&w->frame, false};
    if (!w->s.v->gufunc.unrolled)
        node_each(w->s.t->kernel->body, find_loop, &s);
    return s.loops;
}

/* The arrays' addresses one loop further in. */
static void move(gufunc_writer *w, const counted_loop *l, const ssa *from, const ssa *stride, ssa *to) {
    skeleton *s = &w->s;
    for (int k = 0; k < s->noperands; k++)
        if (skeleton_is_array(s, k))
            to[k] = skeleton_address(s, k, from[k], emit_op(s->e, "mul i64", l->i, stride[k]));
}

void cpu_gufunc(gufunc_writer *w) {
    skeleton *s = &w->s;
    emit *e = s->e;
    ssa n = skeleton_parameter(s, CPU_LOOP_EXTENTS), m = skeleton_parameter(s, CPU_LOOP_EXTENTS);
    ssa stride[2][VARIANT_OPERANDS] = {0}, row[VARIANT_OPERANDS] = {0};
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < 2 && skeleton_is_array(s, k); d++)
            stride[d][k] = skeleton_parameter(s, CPU_LOOP_STRIDES);
    ssa first = s->v->reports ? skeleton_parameter(s, CPU_GUFUNC_FIRST) : ssa_none();
    gufunc_core_parameters(w);
    counted_loop outer = counted_loop_begin(e, "i64", ssa_constant(0), m);
    move(w, &outer, s->base, stride[1], row);
    counted_loop inner = counted_loop_begin(e, "i64", ssa_constant(0), n);
    move(w, &inner, row, stride[0], w->at);
    if (s->v->reports)
        w->element = emit_op(e, "add i64", emit_op(e, "mul i64", outer.i, n), emit_op(e, "add i64", first, inner.i));
    gufunc_call(w, ssa_none());
    counted_loop_end(e, &inner, ssa_constant(1), has_loop(w) ? loop_no_vectors(e) : 0);
    counted_loop_end(e, &outer, ssa_constant(1), 0);
}
