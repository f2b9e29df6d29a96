/* registers.c - inner calls whose core sizes are constants: the core operands of the kernel are in registers while it runs. At its
 * head it reads its inputs, and what its outputs hold if that matters; at its end it writes its outputs. Between the two no memory
 * is accessed. See common/unrolled.h. Where threads share a call, a thread has its part alone, a call with smaller sizes, and elements
 * are read when they are needed, since all that a thread's sums need would take more registers than there are. */
#include <assert.h>

#include "ir/common/unrolled.h"
#include "ir/gufunc/gufunc.h"

/* ---- Where elements are ---- */

/* Does a thread take a part of operand k alone? */
static bool has_part(const emit *e, int k) {
    const layout_operand *o = &e->frame->layout->operands[k];
    bool any = false;
    for (int d = 0; d < o->rank; d++)
        any |= core_shares(e->frame->v, o->dim[d]) > 1;
    return any;
}

/* Bytes that all runs of elements of operand k which a thread takes together are multiples of, as are their places. */
static int run_bytes(const emit *e, int k) {
    const variant *v = e->frame->v;
    const layout_operand *o = &e->frame->layout->operands[k];
    int last = o->dim[o->rank - 1], size = dtypes[v->operand[k].memory].size;
    return has_part(e, k) ? size * (v->gufunc.size[last] | v->gufunc.part[last]) : core_bytes(v, e->frame->layout, k);
}

/* Elements of an access by vectors: where the core lies without gaps and where it is aligned. On the CPU LLVM makes vectors itself. */
static int width_of(const emit *e, int k) {
    const variant_operand *o = &e->frame->v->operand[k];
    int width = core_width(run_bytes(e, k)), size = dtypes[o->memory].size;
    return o->staged && e->target->gpu && !e->frame->v->gufunc.plane && width > size ? width / size : 1;
}

/* Is it the last dimension of some operand? Then a thread takes neighbouring indices of it, for the sake of wide accesses; of other
 * dimensions every so many'th, so that neighbouring threads read neighbouring rows, which are not in the same bank. */
static bool is_last(const core_layout *l, int dimension) {
    bool last = false;
    for (int k = 0; k < l->nin + l->nout; k++)
        last |= l->operands[k].rank && l->operands[k].dim[l->operands[k].rank - 1] == dimension;
    return last;
}

/* An index: a constant, and what depends on the thread (i64); none: nothing. Where the parts are not all full, some threads take the
 * last indices too that are others' as well. */
typedef struct position {
    int constant;
    ssa more;
} position;

static ssa at_most(emit *e, ssa x, int most) {
    return emit_select_as(e, "i64", emit_value(e, "icmp slt i64 %s, %d", x.text, most), x, ssa_constant(most));
}

static position position_of(emit *e, int dimension, int index) {
    const variant *v = e->frame->v;
    int size = v->gufunc.size[dimension], part = v->gufunc.part[dimension], shares = core_shares(v, dimension);
    ssa own = ssa_named("%%t%d", dimension);
    if (shares == 1)
        return (position){index, ssa_none()};
    if (is_last(e->frame->layout, dimension)) {
        ssa first = emit_value(e, "mul i64 %s, %d", own.text, part);
        return (position){index, part * shares > size ? at_most(e, first, size - part) : first};
    }
    if ((index + 1) * shares <= size)
        return (position){index * shares, own};
    return (position){0, at_most(e, emit_value(e, "add i64 %s, %d", own.text, index * shares), size - 1)};
}

static ssa plus(emit *e, ssa x, ssa y) {
    return !ssa_is_set(x) || ssa_is(x, 0) ? y : !ssa_is_set(y) || ssa_is(y, 0) ? x : emit_op(e, "add i64", x, y);
}

/* The address of element i of what a thread takes of operand k, in C order. */
static ssa element_at(body *b, int k, int i) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    const layout_operand *o = &e->frame->layout->operands[k];
    const variant_operand *x = &v->operand[k];
    ssa offset = ssa_none(), base = ssa_named("%%p%d", k);
    int64_t constant = 0, stride = 1, size;
    for (int d = o->rank - 1; d >= 0; d--, stride *= size) {
        int64_t own;
        frame_size(e->frame, o->dim[d], &own);
        assert(own > 0); /* sizes_count (core/sizes.c) */
        size = v->gufunc.size[o->dim[d]];
        position p = position_of(e, o->dim[d], (int)(i % own));
        i /= (int)own;
        if (x->staged || x->unit == d + 1) {
            int64_t step = x->staged ? (stride << v->gufunc.calls) * core_side(v) : 1;
            constant += p.constant * step;
            offset = plus(e, offset,
                          !ssa_is_set(p.more) || step == 1
                              ? p.more
                              : emit_value(e, "mul i64 %s, %lld", p.more.text, (long long)step));
            continue;
        }
        ssa index = plus(e, p.more, ssa_constant(p.constant));
        if (!ssa_is(index, 0))
            offset = plus(e, offset, emit_value(e, "mul i64 %%s%d, %s", o->strides + d, index.text));
    }
    if (ssa_is_set(offset))
        base = emit_element(e, (dtype)x->memory, base, offset);
    return constant || !ssa_is_set(offset) ? emit_element(e, (dtype)x->memory, base, ssa_constant(constant)) : base;
}

/* ---- Reading and writing ---- */

/* Reads the elements of one access, from i on. */
static void read_access(body *b, int k, int i, void (*put)(body *b, int operand, int i, ssa value)) {
    emit *e = b->e;
    const variant_operand *o = &e->frame->v->operand[k];
    int width = width_of(e, k);
    ssa values[ACCESS_BYTES];
    emit_bound(e);
    e->shared = o->staged && e->target->gpu;
    emit_invariant(e, k < b->f->nparams &&
                          (e->target->gpu || !e->frame->v->gufunc.calls)); /* copies are other calls' later */
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

static void read_core(body *b, int k, void (*put)(body *b, int operand, int i, ssa value)) {
    for (int i = 0; i < unrolled_count(b, k); i += width_of(b->e, k))
        read_access(b, k, i, put);
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

/* Calls that are computed together have accesses that do not meet (lane_calls.c). */
static int access_group(body *b) {
    gufunc_writer *w = b->user;
    if (w->s.v->gufunc.calls && !w->accesses)
        w->accesses = emit_metadata(b->e, "distinct !{}");
    return w->accesses;
}

static void read_inputs(body *b) {
    b->e->access_group = access_group(b);
    for (int k = 0; k < b->f->nparams; k++)
        if (b->f->locals[k].core)
            read_core(b, k, unrolled_set_input);
    b->e->access_group = 0;
}

/* Whether an output must be read is known at the end; the text of its reading goes to the head of the function. */
static void write_outputs(body *b) {
    emit *e = b->e;
    gufunc_writer *w = b->user;
    e->access_group = access_group(b);
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
    e->access_group = 0;
}

static void read_when_needed(body *b, int k, int i) {
    read_access(b, k, i - i % width_of(b->e, k), unrolled_set_input);
}

const body_hooks registers_hooks = {.begin = read_inputs, .end = write_outputs};
const body_hooks registers_part_hooks = {.input = read_when_needed, .end = write_outputs};
