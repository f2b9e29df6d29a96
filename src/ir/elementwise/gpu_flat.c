/* gpu_flat.c - one dimension, in which every operand is contiguous, in contiguous records, or constant. A block covers a tile of blockDim.x * vector * repeat
 * elements, which begins at the head, the first element at which arrays are aligned; the elements before the head come after all
 * others, as if the arrays were rings. A tile that is whole and aligned is read and written by vectors, `repeat` of them a thread, a
 * block's width apart; any other tile element by element, neighbouring threads on neighbouring elements. The two ways meet between
 * loads and stores, so that the body stands in the code only once for each of a thread's elements. There is no loop, and all loads
 * come before the first store. */
#include "ir/elementwise/elementwise.h"

#include "ir/common/internal.h"
#include "ir/common/lanes.h"

typedef struct flat {
    ssa thread, threads;      /* i32 */
    ssa whole;                /* i1: the tile is full and aligned */
    ssa n;                    /* i64 */
    ssa count, ring;          /* i32: elements of the tile, and how many of them come before the ring closes */
    ssa at[VARIANT_OPERANDS]; /* arrays: address of the tile's first element */
    bool vectors, peeled;     /* is there a path by vectors; can there be a head? */
    int each;                 /* elements a thread */
} flat;

/* The smaller of an i64 and an i32 that is not negative, as i32. */
static ssa clip(skeleton *s, ssa far, ssa most) {
    ssa wide = emit_widen(s->e, most), below = emit_op(s->e, "icmp slt i64", far, wide);
    return emit_value(s->e, "trunc i64 %s to i32", emit_select_as(s->e, "i64", below, far, wide).text);
}

static void find_operands(skeleton *s, flat *f, ssa first) {
    for (int k = 0; k < s->noperands; k++) {
        if (!skeleton_moves(s, k))
            continue;
        if (!skeleton_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            skeleton_load_uniform(s, k, s->base[k]);
        else
            f->at[k] = skeleton_neighbour(s, k, s->base[k], first);
    }
}

static flat flat_begin(skeleton *s) {
    emit *e = s->e;
    flat f = {.vectors = s->v->flat.vector > 1 || skeleton_has_pairs(s->v),
              .peeled = s->v->flat.vector > 1,
              .each = s->v->flat.vector * s->v->flat.vectors_per_thread};
    f.n = skeleton_parameter(s, GPU_FLAT_ELEMENTS);
    ssa head = skeleton_parameter(s, GPU_FLAT_HEAD);
    f.thread = emit_special_register(s->e, "tid");
    f.threads = emit_special_register(s->e, "ntid");
    ssa tile = emit_value(e, "mul i32 %s, %d", f.threads.text, f.each), wide = emit_widen(e, tile);
    ssa start = emit_op(e, "mul i64", emit_widen(e, emit_special_register(s->e, "ctaid")), wide), first = start;
    ssa aligned = emit_op(e, "icmp sge i64", head, ssa_constant(0));
    ssa left = emit_op(e, "sub i64", f.n, start), before = left;
    if (f.peeled) {
        ssa peel = emit_select_as(e, "i64", aligned, head, ssa_constant(0));
        first = emit_op(e, "add i64", start, peel);
        before = emit_op(e, "sub i64", left, peel); /* less than 0 where the tile is of the head alone */
    }
    f.whole = emit_op(e, "and i1", aligned, emit_op(e, "icmp sge i64", before, wide));
    f.count = clip(s, left, tile);
    f.ring = clip(s, before, tile);
    find_operands(s, &f, first);
    return f;
}

/* Element i of the thread, 0 .. each-1, one by one: its index, i64, counted from the tile's first. Beyond the end of the tile
 * the thread's first stands in. */
static ssa single_index(skeleton *s, const flat *f, int i) {
    emit *e = s->e;
    ssa j = f->thread;
    if (i) {
        ssa far = emit_op(e, "add i32", j, emit_value(e, "mul i32 %s, %d", f->threads.text, i));
        j = emit_select_as(e, "i32", emit_op(e, "icmp slt i32", far, f->count), far, j);
    }
    ssa index = emit_widen(e, j);
    if (!f->peeled)
        return index;
    ssa inside = emit_op(e, "icmp slt i32", j, f->ring);
    return emit_op(e, "sub i64", index, emit_select_as(e, "i64", inside, ssa_constant(0), f->n));
}

/* The same for the first element of vector g of the thread. */
static ssa vector_index(skeleton *s, const flat *f, int g) {
    emit *e = s->e;
    ssa unit = f->thread;
    if (g)
        unit = emit_op(e, "add i32", unit, emit_value(e, "mul i32 %s, %d", f->threads.text, g));
    return emit_widen(e, emit_value(e, "mul i32 %s, %d", unit.text, s->v->flat.vector));
}

static bool is_loaded(const skeleton *s, int k) { return !s->uniform[k] && !skeleton_is_output(s, k); }

/* Loads n elements from `index` on of all operands. */
static void load_elements(skeleton *s, const flat *f, ssa index, int n, bool whole, ssa *in) {
    for (int k = 0; k < s->noperands; k++)
        if (is_loaded(s, k) && skeleton_moves(s, k))
            skeleton_load(s, k, skeleton_neighbour(s, k, f->at[k], index), n, whole, in);
}

/* in[i * noperands + k] are the thread's elements as loaded, element g * vector + lane for lane `lane` of vector g. */
static void load_whole(skeleton *s, const flat *f, ssa *in) {
    int vector = s->v->flat.vector;
    for (int g = 0; g < s->v->flat.vectors_per_thread; g++)
        load_elements(s, f, vector_index(s, f, g), vector, true, in + (size_t)(g * vector) * (size_t)s->noperands);
}

static void load_single(skeleton *s, const flat *f, ssa *in) {
    for (int i = 0; i < f->each; i++)
        load_elements(s, f, single_index(s, f, i), 1, false, in + (size_t)i * (size_t)s->noperands);
}

/* Loads by vectors or one by one; a thread without an element branches to `end`. */
static ssa *load(skeleton *s, const flat *f, int end) {
    emit *e = s->e;
    size_t n = (size_t)f->each * (size_t)s->noperands;
    ssa *single = arena_alloc(e->a, n * sizeof *single), *whole = arena_alloc(e->a, n * sizeof *whole);
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), some = emit_label_new(e),
        loaded = emit_label_new(e);
    if (f->vectors) {
        emit_branch_if(e, f->whole, by_vectors, one_by_one);
        emit_label(e, by_vectors);
        load_whole(s, f, whole);
        emit_branch(e, loaded);
        emit_label(e, one_by_one);
    }
    emit_branch_if(e, emit_op(e, "icmp slt i32", f->thread, f->count), some, end);
    emit_label(e, some);
    load_single(s, f, single);
    if (!f->vectors)
        return single;
    emit_branch(e, loaded);
    emit_label(e, loaded);
    for (size_t i = 0; i < n; i++) {
        int k = (int)(i % (size_t)s->noperands);
        if (is_loaded(s, k))
            whole[i] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", ir_value_type(skeleton_memory(s, k)),
                                  whole[i].text, by_vectors, single[i].text, some);
    }
    return whole;
}

/* Stores the results of n elements from `index` on: out[i * nout + k]. whole: but those that are staged. */
static void store_elements(skeleton *s, const flat *f, ssa index, int n, bool whole, const ssa *out) {
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (skeleton_moves(s, k) && !(whole && s->v->operand[k].staged))
            skeleton_store(s, k, skeleton_neighbour(s, k, f->at[k], index), n, whole, out);
}

/* ---- Records through shared memory: a warp's are one piece of memory there as in the array, which is written by accesses that
 * neighbouring lanes make side by side. ---- */

static const char unit_type[] = "<4 x i32>"; /* of an access */

static ssa unit_at(emit *e, ssa pointer, ssa unit) {
    return emit_value(e, "getelementptr inbounds %s, %s%s %s, i64 %s", unit_type, unit_type, ir_global_pointer(e),
                      pointer.text, unit.text);
}

/* Copies a warp's units from shared memory to the array. from: in units; pointer: to the warp's first record. */
static void copy_units(skeleton *s, int k, ssa lane, ssa from, ssa pointer, int accesses) {
    emit *e = s->e;
    ssa to = emit_pointer_as(e, ir_memory_type(skeleton_memory(s, k)), pointer, unit_type);
    ssa shared = emit_shared_address(e, ssa_constant(0), unit_type);
    for (int j = 0; j < accesses; j++) {
        ssa unit = emit_value(e, "add i64 %s, %d", lane.text, j * WARP);
        e->shared = true;
        ssa all = emit_load_as(e, unit_type, unit_at(e, shared, emit_op(e, "add i64", from, unit)), ACCESS_BYTES);
        e->shared = false;
        emit_store_as(e, unit_type, all, unit_at(e, to, unit), ACCESS_BYTES);
    }
}

/* Stores vector g of every thread; all lanes of the warp get here together, as the tile is whole. */
static void store_staged(skeleton *s, const flat *f, int g, int k, const ssa *out) {
    emit *e = s->e;
    int vector = s->v->flat.vector, bytes = vector * s->v->operand[k].record;
    ssa lane = emit_value(e, "and i32 %s, %d", f->thread.text, WARP - 1), warp = emit_op(e, "sub i32", f->thread, lane);
    ssa own = emit_widen(e, emit_value(e, "mul i32 %s, %d", f->thread.text, bytes));
    ssa from = emit_widen(e, emit_value(e, "mul i32 %s, %d", warp.text, bytes / ACCESS_BYTES));
    ssa first = emit_op(e, "add i32", warp, emit_value(e, "mul i32 %s, %d", f->threads.text, g));
    ssa index = emit_widen(e, emit_value(e, "mul i32 %s, %d", first.text, vector));
    emit_warp_barrier(e, ssa_constant(-1)); /* what was there before has been read */
    ssa at = emit_shared_address(e, own, ir_memory_type(skeleton_memory(s, k)));
    e->shared = true;
    skeleton_store(s, k, at, vector, true, out);
    e->shared = false;
    emit_warp_barrier(e, ssa_constant(-1));
    copy_units(s, k, emit_widen(e, lane), from, skeleton_neighbour(s, k, f->at[k], index), bytes / ACCESS_BYTES);
}

/* Stores the results of n elements from `index` on, where the mask is true if there is one. in: as they were loaded. */
static void store_some(skeleton *s, const flat *f, ssa index, int n, bool whole, const ssa *in, const ssa *out) {
    if (!s->v->masked) {
        store_elements(s, f, index, n, whole, out);
        return;
    }
    ssa *at = arena_alloc(s->e->a, (size_t)s->noperands * sizeof *at);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (skeleton_moves(s, k))
            at[k] = skeleton_neighbour(s, k, f->at[k], index);
    skeleton_store_where(s, in, n, whole, at, out);
}

static void store_whole(skeleton *s, const flat *f, const ssa *in, const ssa *out) {
    int vector = s->v->flat.vector;
    for (int g = 0; g < s->v->flat.vectors_per_thread; g++) {
        const ssa *some = out + (size_t)(g * vector) * s->v->nout;
        store_some(s, f, vector_index(s, f, g), vector, true, in + g * vector * s->noperands, some);
        for (int k = s->nin; k < s->nin + s->v->nout; k++)
            if (s->v->operand[k].staged)
                store_staged(s, f, g, k, some);
    }
}

static void store_single(skeleton *s, const flat *f, const ssa *in, const ssa *out) {
    for (int i = 0; i < f->each; i++)
        store_some(s, f, single_index(s, f, i), 1, false, in + i * s->noperands, out + (size_t)i * s->v->nout);
}

/* All elements are computed, then stored in the way they were loaded. */
static void finish_all(skeleton *s, const flat *f, const ssa *in) {
    emit *e = s->e;
    ssa *out = arena_alloc(e->a, (size_t)f->each * s->v->nout * sizeof *out);
    skeleton_compute_all(s, in, f->each, out);
    if (!f->vectors) {
        store_single(s, f, in, out);
        return;
    }
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), stored = emit_label_new(e);
    emit_branch_if(e, f->whole, by_vectors, one_by_one);
    emit_label(e, by_vectors);
    store_whole(s, f, in, out);
    emit_branch(e, stored);
    emit_label(e, one_by_one);
    store_single(s, f, in, out);
    emit_branch(e, stored);
    emit_label(e, stored);
}

/* Where element i of the thread is: if the tile is whole and has records, which are then stored as a whole; and else. */
typedef struct places {
    ssa records, other;
} places;

static places find_places(skeleton *s, const flat *f, int i) {
    int vector = s->v->flat.vector;
    places p = {.other = single_index(s, f, i)};
    if (!f->vectors)
        return p;
    ssa lane = emit_op(s->e, "add i64", vector_index(s, f, i / vector), ssa_constant(i % vector));
    if (skeleton_has_records(s->v))
        p.records = lane;
    else
        p.other = emit_select_as(s->e, "i64", f->whole, lane, p.other);
    return p;
}

static void store_masked(skeleton *s, const flat *f, const places *p, const ssa *results) {
    emit *e = s->e;
    if (!ssa_is_set(p->records)) {
        store_elements(s, f, p->other, 1, false, results);
        return;
    }
    int as_whole = emit_label_new(e), by_fields = emit_label_new(e), stored = emit_label_new(e);
    emit_branch_if(e, f->whole, as_whole, by_fields);
    emit_label(e, as_whole);
    store_elements(s, f, p->records, 1, true, results);
    emit_branch(e, stored);
    emit_label(e, by_fields);
    store_elements(s, f, p->other, 1, false, results);
    emit_branch(e, stored);
    emit_label(e, stored);
}

/* Element by element, where the mask is true. Where it is false nothing is computed either, since a kernel might loop for long. */
static void finish_masked(skeleton *s, const flat *f, const ssa *in) {
    int mask = s->nin + s->v->nout;
    for (int i = 0; i < f->each; i++) {
        const ssa *element = in + (size_t)i * (size_t)s->noperands;
        ssa results[UF_MAX_OPERANDS];
        places p = find_places(s, f, i);
        int end = skeleton_if(s, s->uniform[mask] ? s->value[mask] : element[mask]);
        skeleton_compute(s, element, results);
        store_masked(s, f, &p, results);
        skeleton_end_if(s, end);
    }
}

void gpu_flat(skeleton *s) {
    flat f = flat_begin(s);
    int end = emit_label_new(s->e);
    ssa *in = load(s, &f, end);
    (s->v->masked && !skeleton_ignores_mask(s) ? finish_masked : finish_all)(s, &f, in);
    emit_branch(s->e, end);
    emit_label(s->e, end);
}
