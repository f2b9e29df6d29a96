/* staging.c - GPU, a thread an inner call: small core operands that are copied to shared memory. The calls of a block lie in one piece of
 * global memory, which its threads copy together, neighbouring threads neighbouring elements, by accesses of 16 bytes where it is
 * aligned. In shared memory the calls are `pitch` elements apart, so that threads that read the same element of their calls do not
 * meet in a bank. Outputs are copied back; and they are copied in first, unless it can be seen that the kernel assigns all of
 * them. */
#include "ir/common/lanes.h"
#include "ir/common/nodes.h"
#include "ir/gufunc/gufunc.h"

enum {
    TOGETHER = 4 /* accesses of a thread that are in flight together */
};

staging *staging_read(gufunc_writer *w) {
    skeleton *s = &w->s;
    staging *st = arena_alloc(s->e->a, sizeof *st);
    st->of = arena_alloc(s->e->a, (size_t)s->noperands * sizeof *st->of);
    for (int k = 0; k < s->noperands; k++) {
        if (!s->v->operand[k].staged || s->v->gufunc.unrolled)
            continue;
        st->any = true;
        st->of[k].count = skeleton_parameter(s, GPU_GUFUNC_STAGED);
        st->of[k].pitch = skeleton_parameter(s, GPU_GUFUNC_STAGED);
        st->of[k].offset = skeleton_parameter(s, GPU_GUFUNC_STAGED);
    }
    return st;
}

/* The address in shared memory of operand k of the block's call `call` (i32). */
static ssa shared_at(gufunc_writer *w, const staging *st, int k, ssa call) {
    emit *e = w->s.e;
    const char *type = ir_memory_type(skeleton_memory(&w->s, k));
    ssa part = emit_shared_address(e, st->of[k].offset, type);
    ssa elements = emit_widen(e, emit_op(e, "mul i32", call, st->of[k].pitch));
    e->shared = true;
    part = emit_element(e, skeleton_memory(&w->s, k), part, elements);
    e->shared = false;
    return part;
}

typedef struct copy {
    gufunc_writer *w;
    const staging *st;
    int k, width; /* elements an access */
    bool out;
    ssa memory; /* address of the block's first element */
} copy;

/* Loads access number q: the elements from q * width on, which all belong to one call. */
static void copy_load(const copy *p, ssa q, ssa *values) {
    skeleton *s = &p->w->s;
    emit *e = s->e;
    dtype t = skeleton_memory(s, p->k);
    ssa at = emit_element(e, t, p->memory, emit_widen(e, emit_value(e, "mul i32 %s, %d", q.text, p->width)));
    if (p->width > 1)
        emit_load_vector(e, t, at, p->width, values);
    else
        values[0] = emit_load(e, t, at);
}

static ssa shared_of(const copy *p, ssa q) {
    emit *e = p->w->s.e;
    ssa first = emit_value(e, "mul i32 %s, %d", q.text, p->width);
    ssa call = emit_op(e, "udiv i32", first, p->st->of[p->k].count);
    ssa within = emit_op(e, "sub i32", first, emit_op(e, "mul i32", call, p->st->of[p->k].count));
    ssa at = shared_at(p->w, p->st, p->k, call);
    e->shared = true;
    at = emit_element(e, skeleton_memory(&p->w->s, p->k), at, emit_widen(e, within));
    e->shared = false;
    return at;
}

static void copy_some(const copy *p, const ssa *q, int n) {
    skeleton *s = &p->w->s;
    emit *e = s->e;
    dtype t = skeleton_memory(s, p->k);
    ssa values[TOGETHER][ACCESS_BYTES] = {0};
    for (int i = 0; i < n && !p->out; i++)
        copy_load(p, q[i], values[i]);
    for (int i = 0; i < n; i++) {
        ssa at = shared_of(p, q[i]);
        e->shared = true;
        for (int j = 0; j < p->width; j++) {
            ssa one = emit_element(e, t, at, ssa_constant(j));
            if (p->out)
                values[i][j] = emit_load(e, t, one);
            else
                emit_store(e, t, values[i][j], one);
        }
        e->shared = false;
        if (!p->out)
            continue;
        ssa to = emit_element(e, t, p->memory, emit_widen(e, emit_value(e, "mul i32 %s, %d", q[i].text, p->width)));
        if (p->width > 1)
            emit_store_vector(e, t, values[i], to, p->width);
        else
            emit_store(e, t, values[i][0], to);
    }
}

/* Accesses 0 .. n-1 by all threads: TOGETHER at a time, then one by one. */
static void copy_all(const copy *p, ssa n, ssa thread, ssa threads) {
    emit *e = p->w->s.e;
    ssa far = emit_value(e, "mul i32 %s, %d", threads.text, TOGETHER), tiles = emit_op(e, "udiv i32", n, far);
    ssa whole = emit_op(e, "mul i32", tiles, far), q[TOGETHER];
    counted_loop l = counted_loop_begin(e, "i32", thread, whole);
    for (int i = 0; i < TOGETHER; i++)
        q[i] = i ? emit_op(e, "add i32", q[i - 1], threads) : l.i;
    copy_some(p, q, TOGETHER);
    counted_loop_end(e, &l, far, loop_no_unroll(e));
    l = counted_loop_begin(e, "i32", emit_op(e, "add i32", whole, thread), n);
    copy_some(p, &l.i, 1);
    counted_loop_end(e, &l, threads, loop_no_unroll(e));
}

/* The elements of the calls from number `first` (i64) on, `some` (i32) of them. */
static void copy_operand(gufunc_writer *w, const staging *st, int k, ssa first, ssa some, bool out) {
    skeleton *s = &w->s;
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    ssa count = st->of[k].count, thread = emit_special_register(s->e, "tid"),
        threads = emit_special_register(s->e, "ntid");
    copy p = {w, st, k, 1, out, skeleton_address(s, k, s->base[k], emit_op(e, "mul i64", first, emit_widen(e, count)))};
    ssa elements = emit_op(e, "mul i32", some, count);
    int wide = ACCESS_BYTES / dtypes[t].size;
    if (wide == 1) {
        copy_all(&p, elements, thread, threads);
        return;
    }
    ssa address = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(t), ir_global_pointer(e), p.memory.text);
    ssa odd = emit_value(e, "and i64 %s, %d", address.text, ACCESS_BYTES - 1);
    ssa uneven = emit_widen(e, emit_value(e, "and i32 %s, %d", count.text, wide - 1));
    ssa aligned = emit_value(e, "icmp eq i64 %s, 0", emit_op(e, "or i64", odd, uneven).text);
    int by_access = emit_label_new(e), by_element = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, aligned, by_access, by_element);
    emit_label(e, by_access);
    p.width = wide;
    copy_all(&p, emit_value(e, "udiv i32 %s, %d", elements.text, wide), thread, threads);
    emit_branch(e, end);
    emit_label(e, by_element);
    p.width = 1;
    copy_all(&p, elements, thread, threads);
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- Calls ---- */

static void copy_operands(gufunc_writer *w, const staging *st, ssa first, ssa some, bool out) {
    const function *f = w->s.t->kernel;
    for (int k = 0; k < w->s.noperands; k++) {
        bool output = k >= w->s.nin;
        if (w->s.v->operand[k].staged && (out ? output : !output || needs_content(f, k)))
            copy_operand(w, st, k, first, some, out);
    }
}

void staging_run(gufunc_writer *w, const staging *st, ssa n, ssa first, ssa step,
                 void (*find)(gufunc_writer *w, void *user, ssa call), void *user) {
    skeleton *s = &w->s;
    emit *e = s->e;
    ssa thread = emit_special_register(s->e, "tid"), threads = emit_widen(e, emit_special_register(s->e, "ntid"));
    counted_loop l = counted_loop_begin(e, "i64", first, n);
    ssa left = emit_op(e, "sub i64", n, l.i), few = emit_op(e, "icmp slt i64", left, threads);
    ssa some = emit_value(e, "trunc i64 %s to i32", emit_select_as(e, "i64", few, left, threads).text);
    copy_operands(w, st, l.i, some, false);
    emit_block_barrier(e);
    int end = skeleton_if(s, emit_op(e, "icmp slt i32", thread, some));
    find(w, user, emit_op(e, "add i64", l.i, emit_widen(e, thread)));
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].staged)
            w->at[k] = shared_at(w, st, k, thread);
    gufunc_call(w, ssa_none());
    skeleton_end_if(s, end);
    emit_block_barrier(e);
    copy_operands(w, st, l.i, some, true);
    emit_block_barrier(e);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}
