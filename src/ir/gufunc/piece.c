/* piece.c - GPU, gufunc.pieces: which part of the range that all constructs of the kernel go along is the block's. Rows may begin anywhere
 * between the addresses that accesses by vectors need: the elements before the first such address, the head, are taken one by one. The
 * blocks of a cooperative group have equal pieces of what follows, whole vectors; the first one has the head as well. */
#include "ir/gufunc/gufunc.h"

#include <assert.h>

/* The elements before the first address that accesses of `vector` elements need, at most n. */
static ssa head_of(gufunc_writer *w, int lead, ssa n, ssa aligned) {
    emit *e = w->s.e;
    int vector = w->s.v->gufunc.vector;
    dtype t = skeleton_memory(&w->s, lead);
    if (vector == 1 || w->s.v->gufunc.even)
        return ssa_constant(0);
    ssa at = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(t), ir_global_pointer(e), w->at[lead].text);
    ssa place = emit_value(e, "lshr i64 %s, %d", at.text, __builtin_ctz((unsigned)dtypes[t].size));
    ssa head = emit_value(e, "and i64 %s, %d", emit_value(e, "sub i64 0, %s", place.text).text, vector - 1);
    return emit_select_as(e, "i64", aligned, emit_min(e, head, n), ssa_constant(0));
}

/* Elements of a block's piece of so many: a multiple of the vector. */
static ssa each_of(gufunc_writer *w, ssa elements, ssa blocks) {
    emit *e = w->s.e;
    int vector = w->s.v->gufunc.vector;
    ssa most = emit_value(e, "mul i64 %s, %d", blocks.text, vector), less = emit_value(e, "sub i64 %s, 1", most.text);
    ssa each = emit_op(e, "udiv i64", emit_op(e, "add i64", elements, less), most);
    return emit_value(e, "mul i64 %s, %d", each.text, vector);
}

void piece_find(gufunc_writer *w, ssa aligned, ssa block, ssa blocks) {
    emit *e = w->s.e;
    int lead = variant_lead(w->s.v);
    assert(lead >= 0);
    const layout_operand *o = &w->layout->operands[lead];
    ssa n = w->core[o->dim[w->s.v->operand[lead].unit - 1]], head = head_of(w, lead, n, aligned);
    w->piece = (struct piece){.from = ssa_constant(0), .to = n, .head = head};
    if (ssa_is(blocks, 1)) {
        assert(!variant_holds_part(w->s.v));
        return;
    }
    ssa each = each_of(w, emit_op(e, "sub i64", n, head), blocks);
    ssa before = emit_op(e, "add i64", head, emit_op(e, "mul i64", block, each));
    ssa first = emit_value(e, "icmp eq i64 %s, 0", block.text);
    w->piece.from = emit_select_as(e, "i64", first, ssa_constant(0), emit_min(e, before, n));
    w->piece.to = emit_min(e, emit_op(e, "add i64", before, each), n);
    w->piece.head = emit_select_as(e, "i64", first, head, ssa_constant(0));
    if (variant_holds_part(w->s.v)) {
        ssa staged = emit_value(e, "add i64 %s, %d", w->piece.from.text, variant_held_part(w->s.v));
        w->piece.before = w->piece.head;
        w->piece.from = emit_op(e, "add i64", staged, w->piece.head);
        w->piece.head = ssa_constant(0);
    }
}

ssa piece_origin(gufunc_writer *w) {
    emit *e = w->s.e;
    ssa before = emit_value(e, "sub i64 0, %s", w->piece.head.text);
    before = emit_value(e, "and i64 %s, %d", before.text, w->s.v->gufunc.vector - 1);
    return emit_op(e, "sub i64", before, w->piece.from);
}
