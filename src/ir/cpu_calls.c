/* cpu_calls.c - inner calls on the CPU: two loops, dimensions 0 and 1 of the loop; the engine walks the others. */
#include "ir/calls.h"

int cpu_calls_words(const calls *c) { return 2 + 2 * shape_arrays(c->s.v) + 2 * !!c->s.v->reports + c->layout->nwords; }

/* The arrays' addresses one loop further in. */
static void move(calls *c, const shape_loop *l, const ssa *from, const ssa *stride, ssa *to) {
    shape *s = &c->s;
    for (int k = 0; k < s->noperands; k++)
        if (shape_is_array(s, k))
            to[k] = shape_at(s, k, from[k], shape_op(s->e, "mul i64", l->i, stride[k]));
}

void cpu_calls(calls *c) {
    shape *s = &c->s;
    emit *e = s->e;
    ssa n = shape_word(s), m = shape_word(s), stride[2][VARIANT_OPERANDS], row[VARIANT_OPERANDS];
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < 2 && shape_is_array(s, k); d++)
            stride[d][k] = shape_word(s);
    ssa first = s->v->reports ? shape_word(s) : ssa_text("%s", "");
    calls_core_words(c);
    shape_loop outer = shape_loop_begin(e, "i64", ssa_text("0"), m);
    move(c, &outer, s->base, stride[1], row);
    shape_loop inner = shape_loop_begin(e, "i64", ssa_text("0"), n);
    move(c, &inner, row, stride[0], c->at);
    if (s->v->reports)
        c->element = shape_op(e, "add i64", shape_op(e, "mul i64", outer.i, n), shape_op(e, "add i64", first, inner.i));
    calls_run(c, ssa_text("%s", ""));
    shape_loop_end(e, &inner, ssa_text("1"), 0);
    shape_loop_end(e, &outer, ssa_text("1"), 0);
}
