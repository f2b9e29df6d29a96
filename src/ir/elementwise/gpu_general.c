/* gpu_general.c - any strides. A block covers blockDim.x * repeat elements, and a thread has `repeat` of them, a block's width apart. The
 * number of an element is divided into indices by magic numbers; all of a thread's elements are loaded before the first is computed.
 * Indices and offsets have 32 bits, or 64 if the variant is wide. */
#include "ir/elementwise/elementwise.h"

general *general_read(skeleton *s) {
    general *f = arena_alloc(s->e->a, sizeof *f);
    f->wide = s->v->wide;
    f->type = f->wide ? "i64" : "i32";
    f->n = skeleton_parameter(s, GPU_GENERAL_ELEMENTS);
    for (int d = 0; d < s->v->ndim - 1; d++)
        f->extent[d] = skeleton_divisor(s, GPU_GENERAL_EXTENTS);
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < s->v->ndim && operand_has_strides(s->v, k); d++)
            f->stride[k][d] = skeleton_parameter(s, GPU_GENERAL_STRIDES);
    return f;
}

/* a + b * c, or b * c if a is empty. */
static ssa multiply_add(emit *e, const char *type, ssa a, ssa b, ssa c) {
    ssa product = emit_value(e, "mul %s %s, %s", type, b.text, c.text);
    return ssa_is_set(a) ? emit_value(e, "add %s %s, %s", type, a.text, product.text) : product;
}

void general_find(skeleton *s, const general *f, ssa x, ssa *at) {
    emit *e = s->e;
    ssa offset[VARIANT_OPERANDS] = {ssa_none()}, rest = x, index = x;
    for (int d = 0; d < s->v->ndim; d++) {
        if (d < s->v->ndim - 1)
            skeleton_divide(s, &f->extent[d], f->wide, rest, &rest, &index);
        else
            index = rest;
        for (int k = 0; k < s->noperands; k++) {
            int kind = s->v->operand[k].kind;
            if (!skeleton_moves(s, k) || (d == 0 && kind == OPERAND_CONSTANT))
                continue;
            if (d == 0 && kind == OPERAND_CONTIGUOUS)
                offset[k] = index;
            else
                offset[k] = multiply_add(e, f->type, offset[k], index, f->stride[k][d]);
        }
    }
    for (int k = 0; k < s->noperands; k++) {
        if (variant_follows(s->v, k))
            continue;
        ssa o = ssa_is_set(offset[k]) ? offset[k] : ssa_constant(0);
        if (!f->wide && ssa_is_set(offset[k]))
            o = emit_value(e, "sext i32 %s to i64", o.text);
        at[k] = s->uniform[k] ? o : skeleton_address(s, k, s->base[k], o);
    }
}

/* The thread's first; it may be beyond the end. */
static ssa general_first(skeleton *s, const general *f) {
    emit *e = s->e;
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid"),
        block = emit_special_register(e, "ctaid");
    ssa tile = emit_value(e, "mul i32 %s, %d", threads.text, s->v->general.elements_per_thread);
    if (f->wide)
        return emit_op(e, "add i64", emit_op(e, "mul i64", emit_widen(e, block), emit_widen(e, tile)),
                       emit_widen(e, thread));
    return emit_op(e, "add i32", emit_op(e, "mul i32", block, tile), thread);
}

ssa general_next(skeleton *s, const general *f, ssa first, int g, ssa *exists) {
    emit *e = s->e;
    ssa far = emit_value(e, "mul i32 %s, %d", emit_special_register(e, "ntid").text, g);
    far = emit_value(e, "add %s %s, %s", f->type, first.text, (f->wide ? emit_widen(e, far) : far).text);
    *exists = emit_value(e, "icmp ult %s %s, %s", f->type, far.text, f->n.text);
    return emit_select_as(e, f->type, *exists, far, first);
}

void gpu_general(skeleton *s) {
    if (s->v->general.vector) {
        gpu_neighbours(s);
        return;
    }
    emit *e = s->e;
    const general *f = general_read(s);
    ssa *at = arena_alloc(e->a, VARIANT_OPERANDS * sizeof *at), exists;
    ssa first = general_first(s, f);
    int end = skeleton_if(s, emit_value(e, "icmp ult %s %s, %s", f->type, first.text, f->n.text));
    batch b = batch_new(s, s->v->general.elements_per_thread, 1, false);
    for (int g = 0; g < b.groups; g++) {
        general_find(s, f, g ? general_next(s, f, first, g, &exists) : first, at);
        for (int k = 0; k < s->noperands; k++)
            if (skeleton_moves(s, k))
                batch_access(s, &b, g, k, at[k]);
    }
    batch_finish(s, &b);
    skeleton_end_if(s, end);
}
