/* counters.c - what operands count by themselves: see counters.h. */
#include "ir/forall/privatised.h"

#include "ir/common/atomic.h"

static bool counts(const calls *c, int k) { return c->s.v->operand[k].privatised; }

static dtype type_of(const calls *c, int k) { return (dtype)c->s.v->operand[k].memory; }

/* " addrspace(3)*" */
static const char *own_pointer(emit *e) {
    e->shared = e->target->gpu;
    const char *star = ir_global_pointer(e);
    e->shared = false;
    return star;
}

void counters_declare(calls *c) {
    const variant *v = c->frame.v;
    c->frame.own = c->own;
    for (int k = 0; k < v->nin; k++) {
        if (!v->operand[k].privatised)
            continue;
        c->own[k] = (own_copy){true, ssa_named("%%own%d", k)};
        text_printf(&c->parameters, ", %s%s %s", ir_memory_type((dtype)v->operand[k].memory), own_pointer(c->s.e),
                    c->own[k].base.text);
    }
}

void counters_arguments(const calls *c, text *out) {
    for (int k = 0; k < c->s.v->nin; k++)
        if (counts(c, k))
            text_printf(out, ", %s%s %s", ir_memory_type(type_of(c, k)), own_pointer(c->s.e), c->counts[k].text);
}

ssa counters_size(const calls *c, int k) {
    const layout_operand *o = &c->layout->operands[k];
    ssa size = c->core[o->dim[0]];
    for (int d = 1; d < o->rank; d++)
        size = emit_op(c->s.e, "mul i64", size, c->core[o->dim[d]]);
    return size;
}

/* The address of an element's counter; memory is the shared one from here on. */
static ssa counter_at(const calls *c, int k, ssa i) {
    emit *e = c->s.e;
    e->shared = e->target->gpu;
    return emit_element(e, type_of(c, k), c->counts[k], i);
}

void counters_clear(calls *c, int k, ssa i) {
    emit *e = c->s.e;
    dtype t = type_of(c, k);
    ssa at = counter_at(c, k, i);
    emit_store(e, t, atomic_identity(forall_counted(c->s.t, k), t), at);
    e->shared = false;
}

/* The address of element i, in C order, in the array. */
static ssa element_at(calls *c, int k, ssa i) {
    emit *e = c->s.e;
    const layout_operand *o = &c->layout->operands[k];
    ssa offset = ssa_constant(0);
    for (int d = o->rank - 1; d >= 0; d--) {
        ssa extent = c->core[o->dim[d]], index = i;
        if (d) {
            index = emit_op(e, "urem i64", i, extent);
            i = emit_op(e, "udiv i64", i, extent);
        }
        offset = emit_op(e, "add i64", offset, emit_op(e, "mul i64", index, c->core[o->strides + d]));
    }
    return skeleton_address(&c->s, k, c->s.base[k], offset);
}

/* As bits: a sum of 0 is not the -0 that stands for nothing. */
static ssa differs(emit *e, dtype t, ssa value, ssa nothing) {
    const char *type = ir_value_type(t);
    if (type[0] == 'i')
        return emit_value(e, "icmp ne %s %s, %s", type, value.text, nothing.text);
    int bits = 8 * dtypes[t].size;
    ssa x = emit_value(e, "bitcast %s %s to i%d", type, value.text, bits);
    ssa y = emit_value(e, "bitcast %s %s to i%d", type, nothing.text, bits);
    return emit_value(e, "icmp ne i%d %s, %s", bits, x.text, y.text);
}

void counters_merge(calls *c, int k, ssa i) {
    emit *e = c->s.e;
    dtype t = type_of(c, k);
    atomic_op o = forall_counted(c->s.t, k);
    ssa value = emit_load(e, t, counter_at(c, k, i));
    e->shared = false;
    int end = skeleton_if(&c->s, differs(e, t, value, atomic_identity(o, t)));
    emit_atomic(e, atomic_merge(o), t, element_at(c, k, i), value, ssa_none());
    skeleton_end_if(&c->s, end);
}
