/* cpu_gufunc.c - inner calls on the CPU: two loops, dimensions 0 and 1 of the loop; the engine walks the others. */
#include "ir/gufunc/gufunc.h"

int cpu_gufunc_words(const gufunc_writer *w) {
    return 2 + 2 * skeleton_arrays(w->s.v) + 2 * !!w->s.v->reports + w->layout->nwords;
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
    ssa n = skeleton_word(s), m = skeleton_word(s), stride[2][VARIANT_OPERANDS], row[VARIANT_OPERANDS];
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < 2 && skeleton_is_array(s, k); d++)
            stride[d][k] = skeleton_word(s);
    ssa first = s->v->reports ? skeleton_word(s) : ssa_none();
    gufunc_core_words(w);
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
