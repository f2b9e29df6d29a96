/* registers.c - inner calls whose core sizes are constants: the core operands of the kernel are in registers while it runs. At its
 * head it reads its inputs, and what its outputs hold if that matters; at its end it writes its outputs. Between the two no memory
 * is accessed. See common/unrolled.h. */
#include <assert.h>

#include "ir/common/unrolled.h"
#include "ir/gufunc/gufunc.h"

/* Elements of an access by vectors: where the core lies without gaps and where it is aligned. On the CPU LLVM makes vectors itself. */
static int width_of(const emit *e, int k) {
    const variant_operand *o = &e->frame->v->operand[k];
    int bytes = core_bytes(e->frame->v, e->frame->layout, k), size = dtypes[o->memory].size;
    return o->staged && e->target->gpu && core_width(bytes) > size ? core_width(bytes) / size : 1;
}

/* The address of element i of operand k, in C order. */
static ssa element_at(body *b, int k, int i) {
    emit *e = b->e;
    const layout_operand *o = &e->frame->layout->operands[k];
    const variant_operand *v = &e->frame->v->operand[k];
    ssa offset = ssa_constant(v->staged ? i : 0), base = ssa_named("%%p%d", k);
    for (int d = o->rank - 1; d >= 0 && !v->staged; d--) {
        int size = e->frame->v->gufunc.size[o->dim[d]], index = i % size;
        i /= size;
        if (!index)
            continue;
        ssa step = v->unit == d + 1 ? ssa_constant(index) : emit_value(e, "mul i64 %%s%d, %d", o->strides + d, index);
        offset = ssa_is(offset, 0) ? step : emit_op(e, "add i64", offset, step);
    }
    return emit_element(e, (dtype)v->memory, base, offset);
}

/* Reads an operand's elements. */
static void read_core(body *b, int k, void (*put)(body *b, int operand, int i, ssa value)) {
    emit *e = b->e;
    const variant_operand *o = &e->frame->v->operand[k];
    int count = unrolled_count(b, k), width = width_of(e, k);
    ssa values[ACCESS_BYTES];
    for (int i = 0; i < count; i += width) {
        emit_bound(e);
        e->shared = o->staged && e->target->gpu;
        emit_invariant(e, k < b->f->nparams);
        ssa at = element_at(b, k, i);
        if (width > 1)
            emit_load_vector(e, (dtype)o->memory, at, width, values);
        else
            values[0] = emit_load(e, (dtype)o->memory, at);
        e->invariant = 0;
        e->shared = false;
        for (int j = 0; j < width; j++)
            put(b, k, i + j, emit_convert(e, values[j], (dtype)o->memory, b->f->locals[k].type));
    }
}

static void write_core(body *b, int k) {
    emit *e = b->e;
    const variant_operand *o = &e->frame->v->operand[k];
    int count = unrolled_count(b, k), width = width_of(e, k);
    ssa values[ACCESS_BYTES];
    assert(width >= 1 && width <= ACCESS_BYTES);
    for (int i = 0; i < count; i += width) {
        for (int j = 0; j < width; j++)
            values[j] = emit_convert(e, unrolled_output(b, k, i + j), b->f->locals[k].type, (dtype)o->memory);
        e->shared = o->staged && e->target->gpu;
        ssa at = element_at(b, k, i);
        if (width > 1)
            emit_store_vector(e, (dtype)o->memory, values, at, width);
        else
            emit_store(e, (dtype)o->memory, values[0], at);
        e->shared = false;
    }
}

static void read_inputs(body *b) {
    for (int k = 0; k < b->f->nparams; k++)
        if (b->f->locals[k].core)
            read_core(b, k, unrolled_set_input);
}

/* Whether an output must be read is known at the end; the text of its reading goes to the head of the function. */
static void write_outputs(body *b) {
    emit *e = b->e;
    gufunc_writer *w = b->user;
    for (int k = b->f->nparams; k < b->f->nparams + b->f->nresults; k++) {
        if (!b->f->locals[k].core)
            continue;
        write_core(b, k);
        w->reads_output[k] = unrolled_needs_content(b, k);
        if (!w->reads_output[k])
            continue;
        text *out = e->out;
        e->out = &b->slots;
        read_core(b, k, unrolled_set_output);
        e->out = out;
    }
}

const body_hooks registers_hooks = {.begin = read_inputs, .end = write_outputs};
