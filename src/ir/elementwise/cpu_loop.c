/* cpu_loop.c - the CPU's loops: flat (one loop) and strided (a loop over rows, for LOOP_ROWS and LOOP_GENERAL). Every access to an array in
 * the inner loop is in one access group, of which the loop says that its iterations are independent. That is true: operands that are
 * not exactly the same array do not overlap, and one that is the same is read before it is written. So LLVM makes vector loops
 * without checks at run time, in place too. */
#include "ir/elementwise/elementwise.h"

enum {
    STRIP = 1024 /* elements */
};

ssa cpu_element(skeleton *s, int k, ssa row, ssa i, const ssa *stride) {
    switch (s->v->operand[k].kind) {
    case OPERAND_STRIDED:
        return skeleton_address(s, k, row, emit_op(s->e, "mul i64", i, stride[k]));
    case OPERAND_CONSTANT:
        return row;
    default:
        return skeleton_neighbour(s, k, row, i);
    }
}

void cpu_row(skeleton *s, ssa n, const ssa *row, const ssa *stride) {
    emit *e = s->e;
    for (int k = 0; k < s->noperands; k++)
        if (!skeleton_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            skeleton_load_uniform(s, k, row[k]);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    batch b = batch_new(s, 1, 1, false);
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    for (int k = 0; k < s->noperands; k++) {
        if (skeleton_moves(s, k))
            batch_access(s, &b, 0, k, cpu_element(s, k, row[k], l.i, stride));
    }
    batch_finish(s, &b);
    e->access_group = 0;
    int hints[] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group),
                   e->chained ? emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 2}") : 0};
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, e->chained ? 2 : 1);
}

/* Is an element of the mask true, of n from an address on (i1)? */
static ssa mask_any(skeleton *s, ssa any, ssa mask, ssa n) {
    emit *e = s->e;
    emit_line(e, "store i8 0, i8* %s", any.text);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    ssa one = emit_load(e, DT_UINT8, emit_element(e, DT_BOOL, mask, l.i));
    ssa so_far = emit_value(e, "load i8, i8* %s", any.text);
    emit_line(e, "store i8 %s, i8* %s", emit_op(e, "or i8", so_far, one).text, any.text);
    counted_loop_end(e, &l, ssa_constant(1), 0);
    return emit_value(e, "icmp ne i8 %s, 0", emit_value(e, "load i8, i8* %s", any.text).text);
}

/* A strip at a time, so that those without an element that counts cost the reading of their mask alone. */
static void flat_by_strips(skeleton *s, ssa n) {
    emit *e = s->e;
    ssa row[VARIANT_OPERANDS] = {0}, any = emit_value(e, "alloca i8"), rest;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    for (int k = 0; k < s->noperands; k++)
        row[k] = skeleton_moves(s, k) && s->v->operand[k].kind != OPERAND_CONSTANT
                     ? skeleton_neighbour(s, k, s->base[k], l.i)
                     : s->base[k];
    rest = emit_min(e, emit_op(e, "sub i64", n, l.i), ssa_constant(STRIP));
    int end = skeleton_if(s, mask_any(s, any, row[variant_mask(s->v)], rest));
    cpu_row(s, rest, row, NULL);
    skeleton_end_if(s, end);
    counted_loop_end(e, &l, ssa_constant(STRIP), loop_no_unroll(e));
}

void cpu_flat(skeleton *s) {
    ssa n = skeleton_parameter(s, CPU_FLAT_ELEMENTS);
    if (s->v->masked && s->v->operand[variant_mask(s->v)].kind == OPERAND_CONTIGUOUS)
        flat_by_strips(s, n);
    else
        cpu_row(s, n, s->base, NULL);
}

void cpu_loop_read(skeleton *s, cpu_loop *l) {
    l->n = skeleton_parameter(s, CPU_LOOP_EXTENTS);
    l->m = skeleton_parameter(s, CPU_LOOP_EXTENTS);
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < 2 && operand_has_strides(s->v, k); d++)
            l->stride[d][k] = skeleton_parameter(s, CPU_LOOP_STRIDES);
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].kind == OPERAND_STRIDED)
            l->stride[0][k] = skeleton_opaque_stride(s->e, l->stride[0][k]);
}

void cpu_loop_row(skeleton *s, const cpu_loop *l, ssa i, ssa *row) {
    for (int k = 0; k < s->noperands; k++)
        if (operand_has_strides(s->v, k))
            row[k] = skeleton_address(s, k, s->base[k], emit_op(s->e, "mul i64", i, l->stride[1][k]));
}

void cpu_strided(skeleton *s) {
    cpu_loop all;
    ssa row[VARIANT_OPERANDS] = {0};
    cpu_loop_read(s, &all);
    counted_loop l = counted_loop_begin(s->e, "i64", ssa_constant(0), all.m);
    cpu_loop_row(s, &all, l.i, row);
    cpu_row(s, all.n, row, all.stride[0]);
    counted_loop_end(s->e, &l, ssa_constant(1), 0);
}
