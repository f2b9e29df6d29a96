/* whole_core.c - GPU: core operands that the kernel's constructs read several times, staged in shared memory for the cooperative group that
 * computes an inner call, so that global memory is read once. With gufunc.across the cores of a block's calls lie side by side: element i
 * of call c of the block is at i << across | c, so that neighbouring threads, which are those of neighbouring calls, meet different
 * banks. */
#include "ir/common/lanes.h"
#include "ir/construct/cooperative.h"
#include "ir/gufunc/gufunc.h"

enum {
    TOGETHER = 8,         /* accesses of a thread that are in flight together, */
    TOGETHER_SINGLE = 16, /* if each is of one element, */
    TOGETHER_REST = 4,    /* and of what is left over; */
    TOGETHER_ASYNC = 4,   /* those that need no registers, between two jumps */
    ASYNC_COOP = 9        /* and log2 of the threads of a block from which all accesses are made so */
};

typedef struct core_copy {
    gufunc_writer *w;
    int k, width; /* elements of an access */
    ssa stride;   /* i64, elements; none: 1 */
    int across;   /* log2 of the calls side by side */
    ssa own;      /* i64: the number of the thread's call among these */
    ssa to;       /* address in shared memory */
} core_copy;

static void load_access(const core_copy *p, ssa offset, ssa *values) {
    emit *e = p->w->s.e;
    dtype t = skeleton_memory(&p->w->s, p->k);
    ssa at = emit_element(e, t, p->w->at[p->k], offset);
    emit_invariant(e, true);
    if (p->width > 1)
        emit_load_vector(e, t, at, p->width, values);
    else
        values[0] = emit_load(e, t, at);
    e->invariant = 0;
}

static void store_access(const core_copy *p, ssa i, const ssa *values) {
    emit *e = p->w->s.e;
    dtype t = skeleton_memory(&p->w->s, p->k);
    if (p->across)
        i = emit_op(e, "add i64", emit_value(e, "shl i64 %s, %d", i.text, p->across), p->own);
    e->shared = true;
    ssa at = emit_element(e, t, p->to, i);
    if (p->width > 1)
        emit_store_vector(e, t, values, at, p->width);
    else
        emit_store(e, t, values[0], at);
    e->shared = false;
}

static ssa offset_of(const core_copy *p, ssa elements) {
    return ssa_is_set(p->stride) ? emit_op(p->w->s.e, "mul i64", elements, p->stride) : elements;
}

/* Makes accesses first, first + step .. (i64, elements). end: accesses beyond it are the first once more; none: there are none. */
static void copy_some(const core_copy *p, ssa first, ssa step, ssa end, int n) {
    emit *e = p->w->s.e;
    ssa values[TOGETHER_SINGLE][ACCESS_BYTES] = {0}, i[TOGETHER_SINGLE], next = first;
    ssa from = offset_of(p, first), at = from, apart = offset_of(p, step);
    for (int j = 0; j < n; j++) {
        ssa there = j && ssa_is_set(end) ? emit_op(e, "icmp slt i64", next, end) : ssa_none();
        i[j] = ssa_is_set(there) ? emit_select_as(e, "i64", there, next, first) : next;
        load_access(p, ssa_is_set(there) ? emit_select_as(e, "i64", there, at, from) : at, values[j]);
        next = emit_op(e, "add i64", next, step);
        at = emit_op(e, "add i64", at, apart);
    }
    for (int j = 0; j < n; j++)
        store_access(p, i[j], values[j]);
}

/* May accesses go from memory to shared memory by themselves? So all of them are in flight at once, however few registers there are.
 * They must lie at multiples of their size, as single complex numbers need not. */
static bool can_async(const core_copy *p) {
    const variant *v = p->w->s.v;
    const dtype_info *t = &dtypes[v->operand[p->k].memory];
    int bytes = p->width * t->size, aligned = p->width > 1 ? bytes : t->align;
    return coop_copies_async(p->w->s.e) && aligned >= bytes && (bytes == 4 || bytes == 8 || bytes == ACCESS_BYTES);
}

static void copy_access(const core_copy *p, ssa i) {
    emit *e = p->w->s.e;
    dtype t = skeleton_memory(&p->w->s, p->k);
    int bytes = p->width * dtypes[t].size;
    const char *type = ir_memory_type(t);
    ssa from = emit_element(e, t, p->w->at[p->k], i);
    from = emit_value(e, "ptrtoint %s%s %s to i64", type, ir_global_pointer(e), from.text);
    e->shared = true;
    ssa to = emit_element(e, t, p->to, i);
    to = emit_value(e, "ptrtoint %s%s %s to i32", type, ir_global_pointer(e), to.text);
    e->shared = false;
    emit_line(e,
              "call void asm sideeffect \"cp.async.%s.shared.global [$0], [$1], $2;\", \"r,l,n,~{memory}\"(i32 %s, i64 "
              "%s, i32 %d)",
              bytes == ACCESS_BYTES ? "cg" : "ca", to.text, from.text, bytes);
}

/* Copies the elements from .. end - 1 (i64): of `size` accesses in a row the thread makes the one of its rank. What has been copied is
 * there after copies_wait. */
static void copy_async(const core_copy *p, ssa from, ssa end, ssa rank, ssa size) {
    emit *e = p->w->s.e;
    ssa step = emit_value(e, "mul i64 %s, %d", size.text, p->width);
    ssa first = emit_op(e, "add i64", from, emit_value(e, "mul i64 %s, %d", rank.text, p->width));
    counted_loop l = counted_loop_begin(e, "i64", first, end);
    ssa i = l.i;
    copy_access(p, i);
    for (int j = 1; j < TOGETHER_ASYNC; j++) {
        i = emit_op(e, "add i64", i, step);
        int more = skeleton_if(&p->w->s, emit_op(e, "icmp slt i64", i, end)); /* ptxas predicates the access */
        copy_access(p, i);
        skeleton_end_if(&p->w->s, more);
    }
    counted_loop_end(e, &l, emit_value(e, "mul i64 %s, %d", step.text, TOGETHER_ASYNC), loop_no_unroll(e));
}

/* The same through registers, in rounds of several accesses: `whole` elements (i64), and what is left over, which is not copied one by one
 * either. */
static void copy_rounds(const core_copy *p, ssa from, ssa whole, ssa end, ssa rank, ssa size) {
    emit *e = p->w->s.e;
    int together = p->width > 1 ? TOGETHER : TOGETHER_SINGLE;
    ssa step = emit_value(e, "mul i64 %s, %d", size.text, p->width);
    ssa first = emit_op(e, "add i64", from, emit_value(e, "mul i64 %s, %d", rank.text, p->width));
    counted_loop l = counted_loop_begin(e, "i64", first, emit_op(e, "add i64", from, whole));
    copy_some(p, l.i, step, ssa_none(), together);
    counted_loop_end(e, &l, emit_value(e, "mul i64 %s, %d", step.text, together), loop_no_unroll(e));
    if (can_async(p)) /* there is nothing left over */
        return;
    l = counted_loop_begin(e, "i64", emit_op(e, "add i64", first, whole), end);
    copy_some(p, l.i, step, end, TOGETHER_REST);
    counted_loop_end(e, &l, emit_value(e, "mul i64 %s, %d", step.text, TOGETHER_REST), loop_no_unroll(e));
}

/* The same in the way that is faster: through registers if these do not cost blocks and nothing is left over behind the rounds. */
static void copy_from(const core_copy *p, ssa from, ssa end, ssa rank, ssa size) {
    emit *e = p->w->s.e;
    const variant *v = p->w->s.v;
    if (can_async(p) && (v->gufunc.cluster || v->gufunc.coop >= ASYNC_COOP)) {
        copy_async(p, from, end, rank, size);
        return;
    }
    ssa count = emit_op(e, "sub i64", end, from);
    ssa far = emit_value(e, "mul i64 %s, %d", size.text, p->width * (p->width > 1 ? TOGETHER : TOGETHER_SINGLE));
    ssa whole = emit_op(e, "mul i64", emit_op(e, "udiv i64", count, far), far);
    if (!can_async(p)) {
        copy_rounds(p, from, whole, end, rank, size);
        return;
    }
    int rounds = emit_label_new(e), async = emit_label_new(e), done = emit_label_new(e);
    emit_branch_if(e, emit_op(e, "icmp eq i64", whole, count), rounds, async);
    emit_label(e, rounds);
    copy_rounds(p, from, whole, end, rank, size);
    emit_branch(e, done);
    emit_label(e, async);
    copy_async(p, from, end, rank, size);
    emit_branch(e, done);
    emit_label(e, done);
}

/* The whole vectors of `count` elements (i64) from `from` on, if they are aligned: returns where what is left over begins. */
static ssa copy_vectors(core_copy *p, ssa from, ssa count, ssa rank, ssa size, ssa aligned) {
    emit *e = p->w->s.e;
    int vector = p->w->s.v->gufunc.vector;
    ssa whole = emit_value(e, "mul i64 %s, %d", emit_whole_vectors(e, count).text, vector);
    ssa end = emit_op(e, "add i64", from, emit_select_as(e, "i64", aligned, whole, ssa_constant(0)));
    p->width = vector;
    copy_from(p, from, end, rank, size);
    p->width = 1;
    return end;
}

/* Without a unit dimension one by one: `aligned` does not speak of such an operand. */
static void copy_core(core_copy *p, ssa rank, ssa size, ssa aligned) {
    gufunc_writer *w = p->w;
    const layout_operand *o = &w->layout->operands[p->k];
    bool unit = w->s.v->operand[p->k].unit == 1;
    int vector = p->across || !unit ? 1 : w->s.v->gufunc.vector;
    ssa count = w->core[o->dim[0]], done = ssa_constant(0);
    if (!unit)
        p->stride = w->core[o->strides];
    if (vector > 1)
        done = copy_vectors(p, done, count, rank, size, aligned);
    if (vector == 1 || !w->s.v->gufunc.even)
        copy_from(p, done, count, rank, size);
}

/* The same of a piece: its head one by one, then as above. Each thread copies the elements that it will compute with, which
 * construct/thread_mapping.c gives it: every size-th vector, and of the elements that are in none, the head's first, every size-th, too. */
static void copy_piece(core_copy *p, ssa rank, ssa size, ssa aligned) {
    gufunc_writer *w = p->w;
    emit *e = w->s.e;
    int vector = w->s.v->gufunc.vector;
    const struct piece *piece = &w->piece;
    ssa start = emit_op(e, "add i64", piece->from, piece->head), done = start;
    if (vector > 1 && w->s.v->gufunc.even) {
        copy_vectors(p, start, emit_op(e, "sub i64", piece->to, start), rank, size, aligned);
        return;
    }
    if (vector > 1) {
        counted_loop l = counted_loop_begin(e, "i64", emit_op(e, "add i64", piece->from, rank), start);
        copy_some(p, l.i, size, ssa_none(), 1);
        counted_loop_end(e, &l, size, loop_no_unroll(e));
        done = copy_vectors(p, start, emit_op(e, "sub i64", piece->to, start), rank, size, aligned);
        ssa in_head = emit_op(e, "icmp slt i64", rank, piece->head), after = emit_op(e, "sub i64", rank, piece->head);
        rank = emit_select_as(e, "i64", in_head, emit_op(e, "add i64", after, size), after);
    }
    copy_from(p, done, piece->to, rank, size);
}

/* The address in shared memory where element 0 of a staged operand's core is, or would be. */
static ssa part_of(gufunc_writer *w, const staging *st, int k) {
    emit *e = w->s.e;
    dtype t = skeleton_memory(&w->s, k);
    ssa offset = st->of[k].offset;
    if (w->s.v->gufunc.pieces)
        offset = emit_op(e, "add i64", offset, emit_value(e, "mul i64 %s, %d", piece_origin(w).text, dtypes[t].size));
    return emit_shared_address(e, offset, ir_memory_type(t));
}

/* The block's calls before have read what lies there. Threads that read what they copied need not wait for each other before the first;
 * of later ones rows may begin at other places, so that other threads have copied what lies where a thread copies to. */
static void wait_for_readers(gufunc_writer *w, bool own, ssa again) {
    if (own && !ssa_is_set(again))
        return;
    int end = own ? skeleton_if(&w->s, again) : 0;
    emit_block_barrier(w->s.e);
    if (end)
        skeleton_end_if(&w->s, end);
}

void whole_cores(gufunc_writer *w, const staging *st, ssa rank, ssa size, ssa again, ssa aligned) {
    emit *e = w->s.e;
    int across = w->s.v->gufunc.across;
    bool own = w->s.v->gufunc.pieces && !e->crosses; /* a thread reads what it copies, and nothing else */
    if (!st->any)
        return;
    wait_for_readers(w, own, again);
    for (int k = 0; k < w->s.nin; k++) {
        if (!w->s.v->operand[k].staged)
            continue;
        core_copy p = {.w = w, .k = k, .width = 1, .across = across};
        ssa to = part_of(w, st, k);
        if (across)
            p.own =
                emit_widen(e, emit_value(e, "and i32 %s, %d", emit_special_register(e, "tid").text, (1 << across) - 1));
        p.to = to;
        (w->s.v->gufunc.pieces ? copy_piece : copy_core)(&p, rank, size, aligned);
        e->shared = true;
        w->memory[k] = w->at[k];
        w->at[k] = across ? emit_element(e, skeleton_memory(&w->s, k), to, p.own) : to;
        e->shared = false;
    }
    if (coop_copies_async(e) && (!variant_holds_part(w->s.v) || e->crosses)) /* held.c waits otherwise */
        coop_copies_wait(e);
    if (!own)
        emit_block_barrier(e);
}
