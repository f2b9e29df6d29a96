/* gpu_flat.c - one dimension, every operand contiguous or constant. A block covers a tile of blockDim.x * vector * repeat
 * elements, counted from the head on; those of the head come after all others, as if the arrays were rings. A tile that is
 * full and aligned is read and written by vectors, `repeat` of them a thread, a block's width apart; any other one element
 * by element, neighbouring threads on neighbouring elements. The two ways meet in between: the body stands in the code once
 * for each of a thread's elements. No loop; all loads come before the first store. */
#include "ir/shape.h"

typedef struct flat {
    ssa thread, threads;  /* i32 */
    ssa n, head, start;   /* i64; start: the tile's first element, counted from the head */
    ssa whole;            /* i1: the tile is full and aligned */
    bool vectors, peeled; /* is there a whole way; can there be a head? */
    int each;             /* elements a thread */
} flat;

static flat flat_begin(shape *s) {
    emit *e = s->e;
    flat f = {.vectors = s->v->vector > 1 || shape_has_pairs(s->v),
              .peeled = s->v->vector > 1,
              .each = s->v->vector * s->v->repeat};
    f.n = shape_word(s);
    ssa head = shape_word(s);
    f.thread = shape_register(s, "tid");
    f.threads = shape_register(s, "ntid");
    ssa block = shape_widen(e, shape_register(s, "ctaid"));
    ssa tile = shape_widen(e, emit_value(e, "mul i32 %s, %d", f.threads.text, f.each));
    f.start = shape_op(e, "mul i64", block, tile);
    ssa aligned = shape_op(e, "icmp sge i64", head, ssa_text("0"));
    f.head = shape_select(e, "i64", aligned, head, ssa_text("0"));
    ssa end = shape_op(e, "add i64", shape_op(e, "add i64", f.start, tile), f.head);
    f.whole = shape_op(e, "and i1", aligned, shape_op(e, "icmp sle i64", end, f.n));
    for (int k = 0; k < s->noperands; k++)
        if (!s->known[k] && !shape_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            shape_know(s, k, s->base[k]);
    return f;
}

/* Element i of the thread, 0 .. each-1, apart by `width` threads: the index, from 0, and whether it exists. */
static ssa single_index(shape *s, const flat *f, int i, ssa *exists) {
    emit *e = s->e;
    ssa j = f->thread;
    if (i)
        j = shape_op(e, "add i32", j, emit_value(e, "mul i32 %s, %d", f->threads.text, i));
    ssa place = shape_op(e, "add i64", f->start, shape_widen(e, j));
    *exists = shape_op(e, "icmp slt i64", place, f->n);
    if (!f->peeled)
        return place;
    ssa index = shape_op(e, "add i64", place, f->head);
    ssa back = shape_op(e, "sub i64", index, f->n);
    return shape_select(e, "i64", shape_op(e, "icmp sge i64", index, f->n), back, index);
}

/* Vector g of the thread: the index of its first element. */
static ssa vector_index(shape *s, const flat *f, int g) {
    emit *e = s->e;
    ssa unit = f->thread;
    if (g)
        unit = shape_op(e, "add i32", unit, emit_value(e, "mul i32 %s, %d", f->threads.text, g));
    ssa first = shape_op(e, "add i64", f->start, f->head);
    ssa index = shape_widen(e, emit_value(e, "mul i32 %s, %d", unit.text, s->v->vector));
    return shape_op(e, "add i64", first, index);
}

static bool is_loaded(const shape *s, int k) { return !s->known[k] && !shape_is_output(s, k); }

/* in[i * noperands + k] are the thread's elements as loaded, element g * vector + lane for lane `lane` of vector g. */
static void load_whole(shape *s, const flat *f, ssa *in) {
    ssa lanes[BATCH_LANES];
    for (int g = 0; g < s->v->repeat; g++) {
        ssa index = vector_index(s, f, g);
        for (int k = 0; k < s->noperands; k++) {
            if (!is_loaded(s, k))
                continue;
            emit_load_vector(s->e, shape_memory(s, k), shape_at(s, k, s->base[k], index), s->v->vector, lanes);
            for (int i = 0; i < s->v->vector; i++)
                in[(g * s->v->vector + i) * s->noperands + k] = lanes[i];
        }
    }
}

/* Where there is no element, element 0 is loaded. */
static void load_single(shape *s, const flat *f, ssa *in) {
    for (int i = 0; i < f->each; i++) {
        ssa exists, index = single_index(s, f, i, &exists);
        index = shape_select(s->e, "i64", exists, index, ssa_text("0"));
        for (int k = 0; k < s->noperands; k++)
            if (is_loaded(s, k))
                in[i * s->noperands + k] = emit_load(s->e, shape_memory(s, k), shape_at(s, k, s->base[k], index));
    }
}

/* Loads in either way. */
static ssa *load(shape *s, const flat *f) {
    emit *e = s->e;
    size_t n = (size_t)f->each * (size_t)s->noperands;
    ssa *single = arena_alloc(e->a, n * sizeof *single);
    if (!f->vectors) {
        load_single(s, f, single);
        return single;
    }
    ssa *whole = arena_alloc(e->a, n * sizeof *whole);
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), loaded = emit_label_new(e);
    emit_branch_if(e, f->whole, by_vectors, one_by_one);
    emit_label(e, by_vectors);
    load_whole(s, f, whole);
    emit_branch(e, loaded);
    emit_label(e, one_by_one);
    load_single(s, f, single);
    emit_branch(e, loaded);
    emit_label(e, loaded);
    for (size_t i = 0; i < n; i++) {
        int k = (int)(i % (size_t)s->noperands);
        if (is_loaded(s, k))
            whole[i] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", ir_value_type(shape_memory(s, k)),
                                  whole[i].text, by_vectors, single[i].text, one_by_one);
    }
    return whole;
}

/* out[i * nout + k]: results, by vectors. */
static void store_whole(shape *s, const flat *f, const ssa *out) {
    ssa lanes[BATCH_LANES];
    int nout = s->v->nout, vector = s->v->vector;
    for (int g = 0; g < s->v->repeat; g++) {
        ssa index = vector_index(s, f, g);
        for (int k = 0; k < nout; k++) {
            for (int i = 0; i < vector; i++)
                lanes[i] = out[(g * vector + i) * nout + k];
            ssa at = shape_at(s, s->nin + k, s->base[s->nin + k], index);
            emit_store_vector(s->e, shape_memory(s, s->nin + k), lanes, at, vector);
        }
    }
}

static void store_one(shape *s, ssa index, const ssa *results) {
    for (int k = 0; k < s->v->nout; k++)
        emit_store(s->e, shape_memory(s, s->nin + k), results[k], shape_at(s, s->nin + k, s->base[s->nin + k], index));
}

static void store_single(shape *s, const flat *f, const ssa *out) {
    for (int i = 0; i < f->each; i++) {
        ssa exists, index = single_index(s, f, i, &exists);
        int end = shape_if(s, exists);
        store_one(s, index, out + (size_t)i * s->v->nout);
        shape_end_if(s, end);
    }
}

/* All elements are computed, then stored in the way they were loaded. */
static void finish_all(shape *s, const flat *f, const ssa *in) {
    emit *e = s->e;
    ssa *out = arena_alloc(e->a, (size_t)f->each * s->v->nout * sizeof *out);
    for (int i = 0; i < f->each; i++)
        shape_compute(s, in + (size_t)i * (size_t)s->noperands, out + (size_t)i * s->v->nout);
    if (!f->vectors) {
        store_single(s, f, out);
        return;
    }
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, f->whole, by_vectors, one_by_one);
    emit_label(e, by_vectors);
    store_whole(s, f, out);
    emit_branch(e, end);
    emit_label(e, one_by_one);
    store_single(s, f, out);
    emit_branch(e, end);
    emit_label(e, end);
}

/* Element by element, where it exists and the mask is true: what does not count is not computed either, as a kernel may
 * loop for long. */
static void finish_each(shape *s, const flat *f, const ssa *in) {
    emit *e = s->e;
    int mask = s->nin + s->v->nout, vector = s->v->vector;
    for (int i = 0; i < f->each; i++) {
        const ssa *element = in + (size_t)i * (size_t)s->noperands;
        ssa results[UF_MAX_OPERANDS], counts, index = single_index(s, f, i, &counts);
        if (f->vectors) {
            ssa lane = ssa_text("%d", i % vector);
            index =
                shape_select(e, "i64", f->whole, shape_op(e, "add i64", vector_index(s, f, i / vector), lane), index);
            counts = shape_op(e, "or i1", counts, f->whole);
        }
        if (s->v->masked)
            counts = shape_op(e, "and i1", counts, s->known[mask] ? s->value[mask] : element[mask]);
        int end = shape_if(s, counts);
        shape_compute(s, element, results);
        store_one(s, index, results);
        shape_end_if(s, end);
    }
}

void gpu_flat(shape *s) {
    flat f = flat_begin(s);
    ssa *in = load(s, &f);
    if (!in)
        return; /* out of memory: emit_finish says so */
    (s->v->masked || f.each == 1 ? finish_each : finish_all)(s, &f, in);
}
