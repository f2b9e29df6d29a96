/* block_copy.c - GPU, unrolled inner calls: the staged cores of a block's calls between global and shared memory. Sizes are constants,
 * so that each thread knows its accesses: all have 16 bytes, neighbouring threads' lie side by side in global memory, and several are
 * in flight before the first is stored. The last calls, if they do not fill a block, and arrays that are not aligned are copied
 * element by element. core_pitch (type/variant.h) says where a core lies in shared memory. */
#include <assert.h>

#include "ir/common/lanes.h"
#include "ir/gufunc/gufunc.h"

enum {
    IN_FLIGHT = 8, /* accesses of a thread */
    MAGIC_BITS = 20,
    MAGIC_VECTORS = 1 << 8,
    ACCESSES_MOST = UNROLLED_SHARED / ACCESS_BYTES /* of a block */
};

static const char vector_type[] = "<4 x i32>"; /* of an access: libNVVM splits others */

/* The cores of a block's calls. */
typedef struct block_calls {
    gufunc_writer *w;
    int calls, threads; /* of a block, but for the last */
    int pieces;         /* of memory, of the calls: core_piece */
    ssa thread;         /* i32 */
    ssa first;          /* number of the first call, i64 */
    ssa some;           /* how many calls there are, i32 */
} block_calls;

/* The part of an operand. */
typedef struct part {
    int k;
    int bytes, pitch; /* of a piece */
    int offset;       /* of its part of shared memory */
    ssa memory;       /* the block's first element in global memory */
} part;

static part part_of(const block_calls *c, int k) {
    skeleton *s = &c->w->s;
    part p = {.k = k, .bytes = core_piece(s->v, c->w->layout, k)};
    p.pitch = core_pitch(p.bytes);
    for (int i = 0, place = staged_place(s->v, c->w->layout, k); i < place; i++)
        if (s->v->operand[i].staged && staged_place(s->v, c->w->layout, i) == i)
            p.offset += c->pieces * core_pitch(core_piece(s->v, c->w->layout, i));
    int count = core_bytes(s->v, c->w->layout, k) / dtypes[skeleton_memory(s, k)].size;
    p.memory = skeleton_address(s, k, s->base[k], emit_value(s->e, "mul i64 %s, %d", c->first.text, count));
    return p;
}

/* ---- Whole blocks ---- */

/* Access number q (i32) of the block's. */
static ssa vector_in_memory(const block_calls *c, const part *p, ssa q) {
    emit *e = c->w->s.e;
    ssa at = emit_pointer_as(e, ir_memory_type(skeleton_memory(&c->w->s, p->k)), p->memory, vector_type);
    return emit_value(e, "getelementptr inbounds %s, %s%s %s, i64 %s", vector_type, vector_type, ir_global_pointer(e),
                      at.text, emit_widen(e, q).text);
}

/* The piece that access number q (i32) belongs to: a division by multiplication. The driver's assembler takes a millisecond and more
 * for each division by a constant that it is given. Up to MAGIC_VECTORS quotients are exact, and products below 2^32. */
static ssa piece_of_access(const block_calls *c, const part *p, ssa q) {
    int vectors = p->bytes / ACCESS_BYTES, factor = (1 << MAGIC_BITS) / vectors + 1;
    assert(c->pieces * vectors <= ACCESSES_MOST);
    if (vectors > MAGIC_VECTORS)
        return emit_value(c->w->s.e, "udiv i32 %s, %d", q.text, vectors);
    return emit_value(c->w->s.e, "lshr i32 %s, %d", emit_value(c->w->s.e, "mul i32 %s, %d", q.text, factor).text,
                      MAGIC_BITS);
}

/* Access number `step` of this thread. In the last one some threads have none left: they do the block's last access again. */
typedef struct access {
    const part *p;
    int step;
    ssa q, value;
} access;

/* x + n, below 2^32: so compilers add n to the address. */
static ssa ahead(const block_calls *c, ssa x, int n) {
    return n ? emit_value(c->w->s.e, "add nuw i32 %s, %d", x.text, n) : x;
}

static bool all_have(const block_calls *c, const part *p, int step) {
    return (step + 1) * c->threads * ACCESS_BYTES <= c->pieces * p->bytes;
}

static ssa number_of(const block_calls *c, const part *p, int step) {
    emit *e = c->w->s.e;
    ssa q = ahead(c, c->thread, step * c->threads), last = ssa_constant(c->pieces * p->bytes / ACCESS_BYTES - 1);
    return all_have(c, p, step) ? q : emit_select_as(e, "i32", emit_op(e, "icmp slt i32", q, last), q, last);
}

/* Where an access is in shared memory, in accesses: behind as many free ones as there are pieces before its own. */
static ssa place_of(const block_calls *c, const access *a) {
    emit *e = c->w->s.e;
    if (a->p->pitch == a->p->bytes) /* also of cores smaller than an access */
        return a->q;
    int vectors = a->p->bytes / ACCESS_BYTES, pieces = c->threads / vectors; /* of a step */
    if (c->threads % vectors || !all_have(c, a->p, a->step))
        return emit_op(e, "add i32", a->q, piece_of_access(c, a->p, a->q));
    ssa first = emit_op(e, "add i32", c->thread, piece_of_access(c, a->p, c->thread));
    return ahead(c, first, a->step * (c->threads + pieces));
}

static ssa vector_in_shared(const block_calls *c, const access *a) {
    emit *e = c->w->s.e;
    ssa base = emit_shared_address(e, ssa_constant(a->p->offset), vector_type);
    return emit_value(e, "getelementptr inbounds %s, %s addrspace(3)* %s, i64 %s", vector_type, vector_type, base.text,
                      emit_widen(e, place_of(c, a)).text);
}

static void copy_some(const block_calls *c, access *list, int n, bool out) {
    emit *e = c->w->s.e;
    for (int i = 0; i < n; i++) {
        list[i].q = number_of(c, list[i].p, list[i].step);
        e->shared = out;
        emit_invariant(e, !out && list[i].p->k < c->w->s.nin);
        ssa from = out ? vector_in_shared(c, &list[i]) : vector_in_memory(c, list[i].p, list[i].q);
        list[i].value = emit_load_as(e, vector_type, from, ACCESS_BYTES);
        e->invariant = 0;
        e->shared = false;
    }
    for (int i = 0; i < n; i++) {
        ssa to = out ? vector_in_memory(c, list[i].p, list[i].q) : vector_in_shared(c, &list[i]);
        e->shared = !out;
        emit_store_as(e, vector_type, list[i].value, to, ACCESS_BYTES);
        e->shared = false;
    }
}

static void copy_by_vectors(const block_calls *c, const part *parts, int n, bool out) {
    access list[IN_FLIGHT];
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int step = 0; step * c->threads * ACCESS_BYTES < c->pieces * parts[i].bytes; step++) {
            list[count++] = (access){.p = &parts[i], .step = step};
            if (count < IN_FLIGHT)
                continue;
            copy_some(c, list, count, out);
            count = 0;
        }
    copy_some(c, list, count, out);
}

/* ---- Element by element ---- */

static void copy_by_elements(const block_calls *c, const part *p, bool out) {
    skeleton *s = &c->w->s;
    emit *e = s->e;
    dtype t = skeleton_memory(s, p->k);
    int size = dtypes[t].size, piece = p->bytes / size, count = piece / core_side(s->v);
    ssa base = emit_shared_address(e, ssa_constant(p->offset), ir_memory_type(t));
    counted_loop l = counted_loop_begin(e, "i32", c->thread, emit_value(e, "mul i32 %s, %d", c->some.text, count));
    ssa i = l.i, memory = emit_element(e, t, p->memory, emit_widen(e, i));
    if (p->pitch != p->bytes) {
        ssa before = emit_value(e, "udiv i32 %s, %d", i.text, piece);
        i = emit_op(e, "add i32", i, emit_value(e, "mul i32 %s, %d", before.text, (p->pitch - p->bytes) / size));
    }
    e->shared = true;
    ssa shared = emit_element(e, t, base, emit_widen(e, i));
    e->shared = out;
    ssa value = emit_load(e, t, out ? shared : memory);
    e->shared = !out;
    emit_store(e, t, value, out ? memory : shared);
    e->shared = false;
    counted_loop_end(e, &l, ssa_constant(c->threads), loop_no_unroll(e));
}

/* ---- Calls ---- */

/* Can the block's cores be copied by vectors? (i1) */
static ssa is_whole(const block_calls *c, const part *parts, int n) {
    emit *e = c->w->s.e;
    ssa whole = emit_value(e, "icmp eq i32 %s, %d", c->some.text, c->calls);
    for (int i = 0; i < n; i++) {
        const char *type = ir_memory_type(skeleton_memory(&c->w->s, parts[i].k));
        ssa address = emit_value(e, "ptrtoint %s%s %s to i64", type, ir_global_pointer(e), parts[i].memory.text);
        ssa low = emit_value(e, "and i64 %s, %d", address.text, ACCESS_BYTES - 1);
        whole = emit_op(e, "and i1", whole, emit_value(e, "icmp eq i64 %s, 0", low.text));
    }
    return whole;
}

/* The staged operands that are copied in, or out. */
static int parts_copied(const block_calls *c, bool out, part *parts) {
    const gufunc_writer *w = c->w;
    int n = 0;
    for (int k = 0; k < w->s.nin + w->s.v->nout; k++)
        if (w->s.v->operand[k].staged && (out ? k >= w->s.nin : k < w->s.nin || w->reads_output[k]))
            parts[n++] = part_of(c, k);
    return n;
}

static void copy_parts(const block_calls *c, bool out) {
    emit *e = c->w->s.e;
    part parts[UF_MAX_OPERANDS];
    int n = parts_copied(c, out, parts), vectors = emit_label_new(e), elements = emit_label_new(e),
        end = emit_label_new(e);
    if (!n)
        return;
    emit_branch_if(e, is_whole(c, parts, n), vectors, elements);
    emit_label(e, vectors);
    copy_by_vectors(c, parts, n, out);
    emit_branch(e, end);
    emit_label(e, elements);
    for (int i = 0; i < n; i++)
        copy_by_elements(c, &parts[i], out);
    emit_branch(e, end);
    emit_label(e, end);
}

/* The arguments of @kernel that tell which part of its call a thread computes. rank: its number among those that share the call, i32. */
static void part_arguments(gufunc_writer *w, ssa rank) {
    emit *e = w->s.e;
    for (int d = 0, left = core_sharers(w->s.v); d < GUFUNC_SIZES; d++) {
        int shares = core_shares(w->s.v, d);
        ssa own = ssa_constant(0);
        if (!w->s.v->gufunc.part[d])
            continue;
        left /= shares;
        if (shares > 1) {
            own = emit_value(e, "udiv i32 %s, %d", rank.text, left);
            rank = emit_op(e, "sub i32", rank, emit_value(e, "mul i32 %s, %d", own.text, left));
            own = emit_widen(e, own);
        }
        text_printf(&w->arguments, ", i64 %s", own.text);
    }
}

/* call: of the thread, within the block, i32. */
static void find_staged(const block_calls *c, ssa call) {
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    int side = core_side(w->s.v);
    ssa piece = side > 1 ? emit_value(e, "udiv i32 %s, %d", call.text, side) : call;
    for (int k = 0; k < w->s.nin + w->s.v->nout; k++) {
        if (!w->s.v->operand[k].staged)
            continue;
        part p = part_of(c, k);
        dtype t = skeleton_memory(&w->s, k);
        ssa at = emit_value(e, "mul i32 %s, %d", piece.text, p.pitch);
        at = emit_widen(e, emit_value(e, "add i32 %s, %d", at.text, p.offset));
        w->at[k] = emit_shared_address(e, at, ir_memory_type(t));
        if (side == 1)
            continue;
        e->shared = true;
        w->at[k] = emit_element(e, t, w->at[k], emit_widen(e, emit_value(e, "urem i32 %s, %d", call.text, side)));
        e->shared = false;
    }
}

void staged_calls(gufunc_writer *w, ssa n, void (*find)(gufunc_writer *w, void *user, ssa call), void *user) {
    skeleton *s = &w->s;
    emit *e = s->e;
    int sharers = core_sharers(s->v);
    block_calls c = {.w = w,
                     .calls = core_calls(s->v, w->layout),
                     .threads = core_threads(s->v, w->layout),
                     .pieces = core_calls(s->v, w->layout) / core_side(s->v),
                     .thread = emit_special_register(e, "tid")};
    ssa call = sharers > 1 ? emit_value(e, "udiv i32 %s, %d", c.thread.text, sharers) : c.thread;
    if (core_has_parts(s->v))
        part_arguments(w, emit_value(e, "urem i32 %s, %d", c.thread.text, sharers));
    ssa block = emit_widen(e, emit_special_register(e, "ctaid")),
        blocks = emit_widen(e, emit_special_register(e, "nctaid"));
    counted_loop l = counted_loop_begin(e, "i64", emit_value(e, "mul i64 %s, %d", block.text, c.calls), n);
    ssa left = emit_op(e, "sub i64", n, l.i), few = emit_value(e, "icmp slt i64 %s, %d", left.text, c.calls);
    c.first = l.i;
    c.some = emit_value(e, "trunc i64 %s to i32", emit_select_as(e, "i64", few, left, ssa_constant(c.calls)).text);
    copy_parts(&c, false);
    emit_block_barrier(e);
    int end = skeleton_if(s, emit_op(e, "icmp slt i32", call, c.some));
    find(w, user, emit_op(e, "add i64", l.i, emit_widen(e, call)));
    find_staged(&c, call);
    gufunc_call(w, ssa_none());
    skeleton_end_if(s, end);
    emit_block_barrier(e);
    copy_parts(&c, true);
    emit_block_barrier(e);
    counted_loop_end(e, &l, emit_value(e, "mul i64 %s, %d", blocks.text, c.calls), loop_no_unroll(e));
}
