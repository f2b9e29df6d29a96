/* privatised.c - private copies of operands: see privatised.h. */
#include "ir/forall/privatised.h"

#include "ir/common/atomic.h"

static bool counts(const forall_writer *w, int k) { return w->g.s.v->operand[k].privatised; }

static dtype array_type(const forall_writer *w, int k) { return (dtype)w->g.s.v->operand[k].memory; }

dtype private_type(const forall_writer *w, int k) {
    return w->g.s.v->operand[k].privatised == PRIVATE_TALLY ? DT_UINT32 : array_type(w, k);
}

/* " addrspace(3)*" */
static const char *private_pointer(emit *e) {
    e->shared = e->target->gpu;
    const char *star = ir_global_pointer(e);
    e->shared = false;
    return star;
}

void private_declare(forall_writer *w) {
    const variant *v = w->g.frame.v;
    w->g.frame.private_copies = w->private_copies;
    for (int k = 0; k < v->nin; k++) {
        if (!v->operand[k].privatised)
            continue;
        w->private_copies[k] = (private_copy){true, private_type(w, k), ssa_named("%%own%d", k)};
        text_printf(&w->g.parameters, ", %s%s %s", ir_memory_type(private_type(w, k)), private_pointer(w->g.s.e),
                    w->private_copies[k].base.text);
    }
}

void private_arguments(const forall_writer *w, text *out) {
    for (int k = 0; k < w->g.s.v->nin; k++)
        if (counts(w, k))
            text_printf(out, ", %s%s %s", ir_memory_type(private_type(w, k)), private_pointer(w->g.s.e),
                        w->private_base[k].text);
}

ssa private_size(const forall_writer *w, int k) {
    const layout_operand *o = &w->g.layout->operands[k];
    ssa size = w->g.core[o->dim[0]];
    for (int d = 1; d < o->rank; d++)
        size = emit_op(w->g.s.e, "mul i64", size, w->g.core[o->dim[d]]);
    return size;
}

/* The address of an element of the copy. Until the caller clears e->shared, addresses are in shared memory (GPU). */
static ssa private_at(const forall_writer *w, int k, ssa i) {
    emit *e = w->g.s.e;
    e->shared = e->target->gpu;
    return emit_element(e, private_type(w, k), w->private_base[k], i);
}

void private_clear(forall_writer *w, int k, ssa i) {
    emit *e = w->g.s.e;
    dtype t = private_type(w, k);
    ssa at = private_at(w, k, i);
    emit_store(e, t, atomic_identity(forall_counted(w->g.s.t, k), t), at);
    e->shared = false;
}

/* The address of element i, in C order, in the array. */
static ssa element_at(forall_writer *w, int k, ssa i) {
    emit *e = w->g.s.e;
    const layout_operand *o = &w->g.layout->operands[k];
    ssa offset = ssa_constant(0);
    for (int d = o->rank - 1; d >= 0; d--) {
        ssa extent = w->g.core[o->dim[d]], index = i;
        if (d) {
            index = emit_op(e, "urem i64", i, extent);
            i = emit_op(e, "udiv i64", i, extent);
        }
        offset = emit_op(e, "add i64", offset, emit_op(e, "mul i64", index, w->g.core[o->strides + d]));
    }
    return skeleton_address(&w->g.s, k, w->g.s.base[k], offset);
}

/* Is an element not the identity any more? Compared as bits, since a sum of 0 is not the identity -0. */
static ssa differs(emit *e, dtype t, ssa value, ssa nothing) {
    const char *type = ir_value_type(t);
    if (type[0] == 'i')
        return emit_value(e, "icmp ne %s %s, %s", type, value.text, nothing.text);
    int bits = 8 * dtypes[t].size;
    ssa x = emit_value(e, "bitcast %s %s to i%d", type, value.text, bits);
    ssa y = emit_value(e, "bitcast %s %s to i%d", type, nothing.text, bits);
    return emit_value(e, "icmp ne i%d %s, %s", bits, x.text, y.text);
}

void private_merge(forall_writer *w, int k, ssa i) {
    emit *e = w->g.s.e;
    dtype t = private_type(w, k), to = array_type(w, k);
    atomic_op o = forall_counted(w->g.s.t, k);
    ssa value = emit_load(e, t, private_at(w, k, i));
    e->shared = false;
    int end = skeleton_if(&w->g.s, differs(e, t, value, atomic_identity(o, t)));
    emit_atomic(e, atomic_merge(o), to, element_at(w, k, i), emit_convert(e, value, t, to), ssa_none());
    skeleton_end_if(&w->g.s, end);
}
