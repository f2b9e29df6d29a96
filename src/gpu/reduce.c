/* reduce.c - reductions on the GPU: which lanes go along what, how many threads have a result, and whether its elements are
 * divided among blocks. All of it follows from shapes and the device's size, so that results do not depend on anything else.
 * What the words mean is in type/variant.h. */
#include "gpu/class.h"

enum {
    FLIGHT = 64, /* bytes a thread has in flight: with half of the threads that fit, enough for any device so far */
    FLIGHT_COLUMNS = 128, /* columns: threads are fewer, and go on for longer */
    REPEAT_MAX = 8,
    RESULTS_MAX = 4,
    COOP_MOST = 8,        /* log2 of a block: of a cooperative group where there are many results */
    STATE_MOST = 64,      /* bytes of the states of a thread's columns */
    BLOCKS_WANTED = 16,   /* blocks a multiprocessor, for all to be busy to the end */
    CHUNK_VISITS = 2,     /* of a part, at least: what combining parts costs must be small beside it */
    ONE_BLOCK_VISITS = 4, /* a result that a block of 1024 threads does in so many visits is not divided */
    SM_THREADS = 2048,
    WAVES_MOST = 4
};
#define FILLED 0.97

/* Indices and numbers of elements are computed with 32 bits below this: some way below 2^31, so that what lies past the end does
 * not wrap. */
static const int64_t narrow_most = INT32_MAX - (1 << 20);

static bool reads(const variant *v, int k) {
    return (k < v->nin || (v->masked && k == variant_mask(v))) && v->operand[k].kind < OPERAND_NUMBER;
}

static bool contiguous(const variant *v, int k) { return reads(v, k) && v->operand[k].kind == OPERAND_CONTIGUOUS; }

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* Do neighbouring lanes better take neighbouring results? What lies closest together in the first input decides. */
static bool wants_columns(const variant *v, const fold_problem *s) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    if (v->empty)
        return false;
    if (s->traits->order == FOLD_SERIAL)
        return true;
    if (v->segmented && stride_of(kept, 0, variant_bounds(v)))
        return false;
    for (int k = 0; k < v->nin; k++)
        if (kept->kind[k] != OPERAND_NUMBER) {
            uint64_t across = magnitude(stride_of(kept, 0, k)), along = magnitude(stride_of(reduced, 0, k));
            return kept->count > 1 && across && (!along || across < along);
        }
    return false;
}

static void fill_kinds(variant *v, const nd_fold *loops) {
    const nd_loop *lanes = v->columns ? &loops->kept : &loops->reduced;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->unit = o->staged = 0;
        if (loops->kept.kind[k] == OPERAND_NUMBER)
            o->kind = OPERAND_NUMBER;
        else if (v->position && k == variant_position(v))
            o->kind = OPERAND_POSITION;
        else
            o->kind = k < v->nin || (v->masked && k == variant_mask(v)) ? lanes->kind[k] : OPERAND_STRIDED;
    }
}

/* Are accesses of so many elements aligned wherever they are, if the first is? whole: they make up a result. */
static bool vectors_fit(const variant *v, const nd_loop *kept, const nd_loop *reduced, int vector, bool whole) {
    const nd_loop *lanes = v->columns ? kept : reduced;
    uint64_t off = whole || v->columns || reduced->ndim > 1 ? (uint64_t)lanes->extent[0] : 0;
    for (int k = 0; k < variant_operands(v); k++) {
        if (!contiguous(v, k))
            continue;
        for (int d = v->columns; d < kept->ndim; d++)
            off |= (uint64_t)stride_of(kept, d, k);
        for (int d = !v->columns; d < reduced->ndim; d++)
            off |= (uint64_t)stride_of(reduced, d, k);
    }
    return !(off & ((unsigned)vector - 1));
}

/* Elements in an access of the widest contiguous operand, and bytes that are read for an element. */
static int vector_most(const variant *v) {
    int largest = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (contiguous(v, k) && element_size(v, k) > largest)
            largest = element_size(v, k);
    return largest ? ACCESS / largest : 1;
}

static int element_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (reads(v, k) && v->operand[k].kind != OPERAND_CONSTANT)
            bytes += element_size(v, k);
    return bytes ? bytes : 1;
}

static int most_elements(const code_traits *traits) {
    int most = traits->has_loop ? 1 : BODY_MAX / (traits->nodes > 0 ? traits->nodes : 1);
    return most > 0 ? most : 1;
}

static int fit_vectors(const variant *v, const fold_problem *s, bool whole) {
    int vector = vector_most(v);
    while (vector > 1 &&
           (!vectors_fit(v, &s->loops->kept, &s->loops->reduced, vector, whole) || vector > most_elements(s->traits)))
        vector /= 2;
    return vector;
}

static int64_t threads_wanted(int sms) { return (int64_t)sms * SM_THREADS; }

/* Elements of a part, if `wanted` of them are: a multiple of `grain`, at least `least`. 0: there is one part. */
static int64_t chunk_of(int64_t n, int64_t wanted, int64_t grain, int64_t least) {
    int64_t chunk = wanted > 1 ? n / wanted + 1 : n;
    chunk = chunk < least ? least : chunk;
    chunk = (chunk + grain - 1) / grain * grain;
    return chunk < n ? chunk : 0;
}

/* ---- Lanes along elements ---- */

/* Several short results a cooperative group, each in one visit. */
static bool short_rows(variant *v, const fold_problem *s, int sms) {
    int64_t n = s->loops->reduced.count, results = s->loops->kept.count;
    int vector = fit_vectors(v, s, true);
    int64_t units = n / vector;
    if (v->segmented || units > (REPEAT_MAX << COOP_WARP) || results < 2)
        return false;
    unsigned coop = log2_ceil((uint64_t)units);
    coop = coop < COOP_WARP ? coop : COOP_WARP;
    int repeat = (int)ceil_shift(units, coop), most = most_elements(s->traits) / (repeat * vector);
    if (!most)
        return false;
    int flight = vector * element_bytes(v) * repeat, at_once = RESULTS_MAX;
    while (at_once > 1 &&
           (at_once * flight > FLIGHT || at_once > most || (results << coop) < threads_wanted(sms) * at_once))
        at_once /= 2;
    v->coop = (uint8_t)coop;
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)repeat;
    v->results = (uint8_t)at_once;
    return true;
}

static int64_t long_rows(variant *v, const fold_problem *s, int sms) {
    int64_t n = s->loops->reduced.count, results = s->loops->kept.count, span = n;
    bool lines = s->loops->reduced.ndim == 1; /* each finds its own head */
    int vector = lines ? vector_most(v) : fit_vectors(v, s, false), most = most_elements(s->traits);
    while (vector > 1 && (vector > most || vector > n))
        vector /= 2;
    int repeat = repeat_for(vector * element_bytes(v), FLIGHT, REPEAT_MAX);
    while (repeat > 1 && repeat * vector > most)
        repeat /= 2;
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)repeat;
    if (v->segmented)
        span = n / (results < n ? results : n) + 1; /* of a segment, about */
    int64_t visit = (int64_t)vector * repeat, lanes = span / visit;
    unsigned coop = lanes > 1 ? log2_ceil((uint64_t)lanes) : 0;
    v->coop = (uint8_t)(coop < COOP_MOST ? coop : COOP_MOST);
    if (results << COOP_MOST > threads_wanted(sms) || v->segmented)
        return 0;
    bool one_block = span <= (visit << COOP_BLOCK) * ONE_BLOCK_VISITS || s->whole;
    if (one_block) {
        v->coop = (uint8_t)(coop < COOP_BLOCK ? coop : COOP_BLOCK);
        return 0;
    }
    int64_t wanted = ((int64_t)sms * BLOCKS_WANTED + results - 1) / results, width = visit << COOP_MOST;
    return chunk_of(n, wanted, width, width * CHUNK_VISITS);
}

/* ---- Lanes along results ---- */

static unsigned columns_shift(const variant *v, const nd_loop *kept) {
    unsigned shift = log2_ceil((uint64_t)ceil_shift(kept->extent[0], log2_floor(v->vector)));
    unsigned most = COOP_MOST - (unsigned)v->coop;
    return shift < most ? shift : most;
}

static int64_t columns_blocks(const variant *v, const nd_loop *kept) {
    int64_t across = ceil_shift(kept->extent[0], columns_shift(v, kept) + log2_floor(v->vector));
    return across * (kept->count / kept->extent[0]);
}

static int64_t specialise_columns(variant *v, const fold_problem *s, int sms) {
    const nd_loop *kept = &s->loops->kept;
    int64_t n = s->loops->reduced.count;
    bool apart = v->segmented && stride_of(kept, 0, variant_bounds(v)); /* each column is a segment of its own */
    int vector = apart ? 1 : fit_vectors(v, s, false), most = most_elements(s->traits);
    while (vector > 1 && vector * s->traits->state_bytes > STATE_MOST)
        vector /= 2;
    int repeat = repeat_for(vector * element_bytes(v), FLIGHT_COLUMNS, REPEAT_MAX);
    while (repeat > 1 && (repeat * vector > most || repeat / 2 >= n))
        repeat /= 2;
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)repeat;
    v->coop = 0;
    if (s->traits->order == FOLD_SERIAL)
        return 0;
    unsigned across = log2_ceil((uint64_t)ceil_shift(kept->extent[0], log2_floor((uint64_t)vector)));
    unsigned high = COOP_MOST - (across < COOP_WARP ? across : COOP_WARP);
    if (kept->count / vector >= 2 * threads_wanted(sms) && across >= COOP_MOST)
        high = 0;
    while (high && (int64_t)repeat << high > n)
        high--;
    v->coop = (uint8_t)high;
    if (s->whole || v->segmented)
        return 0;
    int64_t blocks = columns_blocks(v, kept), wanted = (int64_t)sms * BLOCKS_WANTED, visit = (int64_t)repeat << high;
    if (blocks * 2 > wanted)
        return 0;
    return chunk_of(n, (wanted + blocks - 1) / blocks, visit, visit * CHUNK_VISITS);
}

/* ---- Specialising ---- */

static int64_t specialise(variant *v, const fold_problem *s, int sms) {
    v->results = 0;
    v->vector = v->repeat = 1;
    v->coop = 0;
    if (v->empty)
        return 0;
    if (v->columns)
        return specialise_columns(v, s, sms);
    return short_rows(v, s, sms) ? 0 : long_rows(v, s, sms);
}

int64_t fold_specialise(variant *v, const fold_problem *s, int sms) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    v->ndim = (uint8_t)kept->ndim;
    v->reduced = (uint8_t)reduced->ndim;
    v->columns = wants_columns(v, s);
    fill_kinds(v, s->loops);
    int64_t chunk = specialise(v, s, sms), parts_most = chunk ? reduced->count / chunk + 1 : 1, tasks;
    v->wide =
        __builtin_mul_overflow(kept->count, parts_most, &tasks) || tasks > narrow_most || reduced->count > narrow_most;
    return chunk;
}

/* ---- Words ---- */

static bool moves(const variant *v, int k) { return reads(v, k) || v->operand[k].kind == OPERAND_POSITION; }

static bool places(const variant *v, int k) {
    return v->operand[k].kind < OPERAND_NUMBER && (!v->empty || (k >= v->nin && k < v->nin + v->nout));
}

int fold_words(const variant *v, const core_layout *layout, int arrays) {
    (void)layout;
    int placed = 0, moving = 0;
    (void)arrays;
    for (int k = 0; k < variant_operands(v); k++) {
        placed += places(v, k);
        moving += moves(v, k);
    }
    int words = 4 + 3 * (v->ndim - 1) + placed * v->ndim;
    if (v->empty)
        return words;
    return words + (v->to_states ? 5 : 0) + (v->columns ? 5 : 0) + (v->reduced > 1 ? 3 * v->reduced : 0) +
           moving * v->reduced;
}

/* Is every access by vectors aligned? */
static bool is_aligned(const launch *l) {
    const variant *v = l->v;
    if (v->empty || (l->chunk && l->chunk % v->vector && !v->columns) ||
        !vectors_fit(v, l->loop, l->reduced, v->vector, v->results))
        return v->empty;
    for (int k = 0; k < variant_operands(v); k++)
        if (contiguous(v, k) && (uintptr_t)l->data[k] & ((uintptr_t)element_size(v, k) * v->vector - 1))
            return false;
    return true;
}

static uint64_t *put_loop_strides(uint64_t *w, const variant *v, const nd_loop *loop, int ndim,
                                  bool (*wanted)(const variant *v, int k)) {
    for (int k = 0; k < variant_operands(v); k++)
        for (int d = 0; d < ndim && wanted(v, k); d++)
            *w++ = (uint64_t)stride_of(loop, d, k);
    return w;
}

static int64_t part_count(const launch *l) { return l->chunk ? (l->reduced->count + l->chunk - 1) / l->chunk : 1; }

static int64_t layout_rows(const launch *l, const occupancy *r, grid *g) {
    const variant *v = l->v;
    int64_t tasks, results = v->results ? v->results : 1;
    if (__builtin_mul_overflow(l->loop->count, part_count(l), &tasks))
        return INT64_MAX;
    tasks = (tasks + results - 1) / results;
    unsigned shift = v->coop > COOP_WARP ? v->coop : COOP_MOST;
    while (shift > COOP_WARP && shift > v->coop && ceil_shift(tasks, shift - v->coop) < r->sms)
        shift--;
    g->threads = 1u << shift;
    return ceil_shift(tasks, shift - v->coop);
}

static int64_t layout_columns(const launch *l, grid *g) {
    int64_t blocks;
    g->threads = 1u << (columns_shift(l->v, l->loop) + l->v->coop);
    return __builtin_mul_overflow(columns_blocks(l->v, l->loop), part_count(l), &blocks) ? INT64_MAX : blocks;
}

/* ---- How many parts ---- */

/* Parts of each of `tasks` blocks' work, so that all of them together are a whole number of times what runs at once, or nearly. */
static int64_t parts_for(int64_t tasks, int64_t slots) {
    int64_t best = 1;
    double filled = 0;
    for (int64_t times = 1; times <= WAVES_MOST && filled < FILLED; times++) {
        int64_t some = slots * times / tasks, rounds = (tasks * some + slots - 1) / slots;
        if (some && (double)(tasks * some) / (double)(rounds * slots) > filled) {
            best = some;
            filled = (double)(tasks * some) / (double)(rounds * slots);
        }
    }
    return best;
}

/* log2 of the threads of a block of a launch whose results are divided. */
static unsigned block_shift(const launch *l) {
    const variant *v = l->v;
    return v->columns ? columns_shift(v, l->loop) + v->coop : v->coop > COOP_WARP ? v->coop : COOP_MOST;
}

int gpu_fold_block(const launch *l) { return 1 << block_shift(l); }

int64_t gpu_fold_chunk(const launch *l, int resident) {
    const variant *v = l->v;
    int64_t tasks = v->columns ? columns_blocks(v, l->loop) : ceil_shift(l->loop->count, block_shift(l) - v->coop);
    int64_t visit = v->columns ? (int64_t)v->repeat << v->coop : ((int64_t)v->vector * v->repeat) << v->coop;
    int64_t chunk = chunk_of(l->reduced->count, parts_for(tasks, resident), visit, visit * CHUNK_VISITS);
    return chunk ? chunk : l->chunk;
}

int64_t fold_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    const variant *v = l->v;
    const nd_loop *kept = l->loop, *reduced = l->reduced;
    bool wide = v->wide;
    *w++ = (uint64_t)kept->count;
    *w++ = (uint64_t)reduced->count;
    *w++ = (uint64_t)l->elements;
    *w++ = is_aligned(l);
    if (v->to_states) {
        *w++ = (uint64_t)l->chunk;
        *w++ = (uint64_t)l->chunk_stride;
        w = put_divisor(w, part_count(l), wide);
    }
    if (v->columns) {
        unsigned shift = columns_shift(v, kept);
        *w++ = (uint64_t)kept->extent[0];
        *w++ = shift;
        w = put_divisor(w, ceil_shift(kept->extent[0], shift + log2_floor(v->vector)), wide);
    }
    for (int d = v->columns; d < kept->ndim - !v->columns; d++)
        w = put_divisor(w, kept->extent[d], wide);
    if (v->reduced > 1 && !v->empty) {
        w = put_divisor(w, reduced->extent[0] / v->vector > 0 ? reduced->extent[0] / v->vector : 1, wide);
        for (int d = 0; d < reduced->ndim - 1; d++)
            w = put_divisor(w, reduced->extent[d], wide);
    }
    w = put_loop_strides(w, v, kept, kept->ndim, places);
    if (!v->empty)
        put_loop_strides(w, v, reduced, reduced->ndim, moves);
    return v->columns ? layout_columns(l, g) : layout_rows(l, r, g);
}
