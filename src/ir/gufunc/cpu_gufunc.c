/* cpu_gufunc.c - inner calls on the CPU: two loops, dimensions 0 and 1 of the loop; the engine walks the others. */
#include "ir/gufunc/gufunc.h"

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
    counted_loop_end(e, &inner, ssa_constant(1), 0);
    counted_loop_end(e, &outer, ssa_constant(1), 0);
}
