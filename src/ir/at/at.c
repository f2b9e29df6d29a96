/* at.c - updates in place: which operators have an atomic instruction, what indices say, and the kernel's frame. */
#include "ir/at/at.h"

#include "ir/common/atomic.h"
#include "ir/common/nodes.h"
#include "ir/common/target.h"

const char *at_instruction(const tree *t, const variant *v) {
    const variant_operand *o = v->operand;
    uint8_t type = o[0].memory;
    if (v->nin != 2 || v->nout != 1 || dtypes[type].size < 4 || o[0].value != type || o[1].value != type ||
        o[v->nin].value != type)
        return NULL;
    const char *name = tree_operator(t, (dtype)type);
    return name && strcmp(name, "mul") ? name : NULL; /* there is none for products */
}

/* Arithmetic of 8 and 16 bits has no instruction, but an operator all the same. */
const char *at_operator(const tree *t, const variant *v) {
    const variant_operand *o = v->operand;
    dtype type = (dtype)o[0].memory;
    if (dtypes[type].size >= 4 || type == DT_BOOL)
        return at_instruction(t, v);
    if (v->nin != 2 || v->nout != 1 || o[0].value != type || o[1].value != type || o[v->nin].value != type)
        return NULL;
    const char *name = dtype_is_half(type) ? tree_operator_of_halves(t, type) : tree_operator(t, type);
    return name && strcmp(name, "mul") ? name : NULL;
}

at_way ir_at_way(const tree *t, const variant *v, const code_target *target) {
    dtype type = (dtype)v->operand[0].memory;
    int size = dtypes[type].size;
    at_way otherwise = size <= 8 ? AT_EXCHANGE : AT_OWNED;
    if (v->nout > 1)
        return v->at.record ? AT_EXCHANGE : AT_OWNED;
    if (!at_instruction(t, v))
        return otherwise;
    if (dtype_is_integer(type))
        return AT_EXACT;
    return atomic_adds(target, (dtype)dtypes[type].component) ? AT_ATOMIC : otherwise;
}

at_counters ir_at_counters(const tree *t, const variant *v, const code_target *target) {
    at_way way = ir_at_way(t, v, target);
    dtype type = (dtype)v->operand[0].memory;
    const char *name = at_operator(t, v);
    if (!target->gpu || !name || way == AT_OWNED || (way == AT_EXCHANGE && dtypes[type].size >= 4) ||
        dtype_is_complex(type))
        return COUNTERS_NONE;
    bool added = dtype_is_integer(type) && (!strcmp(name, "add") || !strcmp(name, "sub"));
    return added ? COUNTERS_ADDED : COUNTERS_COMBINED;
}

/* ---- Indices ---- */

indexed *indexed_read(skeleton *s) {
    indexed *x = arena_alloc(s->e->a, sizeof *x);
    x->counted = false;
    for (int j = 0; j < s->v->nindices; j++) {
        x->extent[j] = skeleton_parameter(s, PARAMETER_INDEXED);
        x->stride[j] = skeleton_parameter(s, PARAMETER_INDEXED);
        if (s->v->operand[variant_index(s->v) + j].unit)
            x->stride[j] = ssa_constant(1);
    }
    return x;
}

/* Counted from the front; an int64 that an unsigned one does not fit is negative, and stays so. */
static ssa from_front(skeleton *s, int k, ssa index, ssa extent) {
    emit *e = s->e;
    if (!dtypes[s->v->operand[k].memory].is_signed)
        return index;
    ssa negative = emit_value(e, "icmp slt i64 %s, 0", index.text);
    return emit_op(e, "add i64", index, emit_select_as(e, "i64", negative, extent, ssa_constant(0)));
}

ssa indexed_offset(skeleton *s, const indexed *x, const ssa *at, ssa *inside) {
    emit *e = s->e;
    ssa offset = ssa_constant(0);
    for (int j = 0; j < s->v->nindices; j++) {
        int k = variant_index(s->v) + j;
        ssa index = s->uniform[k]
                        ? s->value[k]
                        : emit_convert(e, emit_load(e, skeleton_memory(s, k), at[k]), skeleton_memory(s, k), DT_INT64);
        index = x->counted ? index : from_front(s, k, index, x->extent[j]);
        ssa part = emit_op(e, "mul i64", index, x->stride[j]);
        offset = j ? emit_op(e, "add i64", offset, part) : part;
        if (!inside)
            continue;
        ssa fits = emit_op(e, "icmp ult i64", index, x->extent[j]);
        *inside = j ? emit_op(e, "and i1", *inside, fits) : fits;
    }
    return offset;
}

ssa indexed_address(skeleton *s, int k, ssa at, ssa offset) {
    int first = dtypes[skeleton_memory(s, 0)].size, own = dtypes[skeleton_memory(s, k)].size;
    if (first > own)
        offset = emit_value(s->e, "mul i64 %s, %d", offset.text, first / own);
    else if (first < own) /* a record is a whole number of elements of each leaf */
        offset = emit_value(s->e, "sdiv exact i64 %s, %d", offset.text, own / first);
    return skeleton_address(s, k, at, offset);
}

/* ---- The module ---- */

typedef struct at_request {
    skeleton s;
    const tree *t;
    const variant *v;
} at_request;

static void write_kernel(emit *e, void *user) {
    at_request *q = user;
    e->reports = q->v->reports;
    emit_functions(e, q->t, "kernel");
    skeleton_begin(&q->s, e, q->t, q->v, NULL);
    (e->target->gpu ? gpu_at : cpu_at)(&q->s);
    skeleton_end(&q->s);
}

uf_status ir_at(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                code_module *module) {
    at_request *q = arena_alloc(a, sizeof *q);
    if (!q)
        return fail_memory();
    q->t = t;
    q->v = v;
    return skeleton_module(a, name, v, target, module, write_kernel, q);
}
