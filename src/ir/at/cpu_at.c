/* cpu_at.c - updates in place on the CPU, one after the other in the order of the indices. Where all indices are constant along the
 * rows of the loop, a row is an elementwise loop at one place of the target, and becomes a vector loop: no two of its updates
 * are of the same element, and core has copied what overlaps the target. */
#include "ir/at/at.h"

static bool whole_rows(const variant *v) {
    for (int j = 0; j < v->nindices; j++)
        if (v->operand[variant_index(v) + j].kind != OPERAND_CONSTANT)
            return false;
    return v->operand[0].kind != OPERAND_CONSTANT;
}

static void rows(skeleton *s, const cpu_loop *all, const indexed *x, ssa *row) {
    ssa offset = indexed_offset(s, x, row, NULL);
    for (int k = 0; k < at_targets(s); k++)
        row[k] = row[s->nin + k] = indexed_address(s, k, row[k], offset);
    cpu_row(s, all->n, row, all->stride[0]);
}

/* Operand k of element i of a row. */
static ssa element(skeleton *s, const cpu_loop *all, const ssa *row, int k, ssa i) {
    bool strided = s->v->operand[k].kind == OPERAND_STRIDED;
    return skeleton_address(s, k, row[k], strided ? emit_op(s->e, "mul i64", i, all->stride[0][k]) : i);
}

static void elements(skeleton *s, const cpu_loop *all, const indexed *x, const ssa *row) {
    emit *e = s->e;
    ssa at[VARIANT_OPERANDS] = {0}, in[UF_MAX_OPERANDS] = {0}, result[UF_MAX_OPERANDS] = {0};
    for (int k = at_targets(s); k < s->noperands; k++)
        if (!skeleton_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            skeleton_load_uniform(s, k, row[k]);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), all->n);
    for (int k = 0; k < s->noperands; k++)
        if (!s->uniform[k])
            at[k] = s->v->operand[k].kind == OPERAND_CONSTANT ? row[k] : element(s, all, row, k, l.i);
    ssa offset = indexed_offset(s, x, at, NULL);
    for (int k = 0; k < at_targets(s); k++)
        at[k] = indexed_address(s, k, at[k], offset);
    for (int k = 0; k < s->nin; k++)
        if (!s->uniform[k])
            in[k] = emit_load(e, skeleton_memory(s, k), at[k]);
    skeleton_compute(s, in, result);
    for (int k = 0; k < at_targets(s); k++)
        emit_store(e, skeleton_memory(s, k), result[k], at[k]);
    counted_loop_end(e, &l, ssa_constant(1), 0);
}

void cpu_at(skeleton *s) {
    cpu_loop all;
    ssa row[VARIANT_OPERANDS] = {0};
    cpu_loop_read(s, &all);
    const indexed *x = indexed_read(s);
    counted_loop l = counted_loop_begin(s->e, "i64", ssa_constant(0), all.m);
    cpu_loop_row(s, &all, l.i, row);
    if (whole_rows(s->v))
        rows(s, &all, x, row);
    else
        elements(s, &all, x, row);
    counted_loop_end(s->e, &l, ssa_constant(1), 0);
}
