/* reduce.c - reductions on the GPU: which lanes go along what, how many threads have a result, and whether its elements are
 * divided among blocks. All of it follows from shapes and the device's size, so that results do not depend on anything else.
 * What the parameters mean is in type/schema.h. */
#include <assert.h>

#include "gpu/class.h"
#include "type/segments.h"

enum {
    FLIGHT = 64, /* bytes a thread has in flight: with half of the threads that fit, enough for any device so far */
    FLIGHT_WIDE = 128, /* of rows that are no whole visit, if their elements have WIDE bytes: longer visits pay */
    WIDE = 8,
    FLIGHT_COLUMNS = 128, /* columns: threads are fewer, and go on for longer */
    REPEAT_MAX = 8,
    RESULTS_MAX = 4,
    COOP_MOST = 8,        /* log2 of a block: of a cooperative group where there are many results */
    STATE_MOST = 64,      /* bytes of the states of a thread's columns */
    STATE_MORE = 9,       /* of what a state that is counted has beside it: the count, and whether there is any */
    BLOCKS_WANTED = 16,   /* blocks a multiprocessor, for all to be busy to the end */
    CHUNK_VISITS = 2,     /* of a part, at least: what combining parts costs must be small beside it */
    ONE_BLOCK_VISITS = 4, /* a result that a block of 1024 threads does in so many visits is not divided */
    SM_THREADS = 2048,
    WAVES_MOST = 4,
    FILLING_BYTES = 4,    /* of an element of which rows may leave lanes over */
    LIGHT_NODES = 24,     /* of mapping and combining an element */
    COLUMNS_LENGTH = 16,  /* elements of a column that are loaded together, */
    COLUMNS_FLIGHT = 256, /* and bytes of a thread */
    PLANE_MOST = 255,     /* results side by side that a block has together, */
    PLANE_VISITS = 4,     /* and its visits, at least */
    SHORT_BLOCKS = 4,     /* blocks a multiprocessor, before a thread takes several results */

    /* Columns, a thread each. */
    WORD = 4, /* bytes of an element below which vectors of neighbouring columns bring more than threads alone */
    ALONE_PLANE = 8 << 10,       /* elements of a plane, at most, .. */
    ALONE_PLANE_BUSY = 16 << 10, /* .. and where an element takes LANE_LIGHT operations a byte, */
    ALONE_LENGTH = 512,          /* elements of a column, if it takes fewer, at most, .. */
    ALONE_LENGTH_WIDE = 64,      /* .. of WIDE bytes, .. */
    ALONE_LEAST = 16,            /* .. and at least, if they lie in planes of a warp and more, .. */
    ALONE_LEAST_BUSY = 8,        /* .. or if it takes so many, and has more than a byte; */
    ALONE_AHEAD = 8,             /* elements that are loaded together */

    /* Segments, by what was measured. */
    SEGMENT_LEAST = 16,         /* elements, on average, of which vectors pay, .. */
    SEGMENT_VECTORS = 4,        /* .. if there are so many; no more single elements of less are loaded together */
    SEGMENT_VISITS = 32,        /* by the lanes of a segment, before it is left to a block, .. */
    SEGMENT_TIMES = 8,          /* .. if it is so many times as long as the others */
    SPLIT_LEAST = 8 << 10,      /* bytes of all elements for each multiprocessor, below which it does not pay */
    SPLIT_BLOCKS = 2,           /* parts, of each multiprocessor */
    SPLIT_TIMES = 2,            /* a segment is split if it is so many times as long as the others, .. */
    SPLIT_MANY = 512,           /* .. if there are so many, .. */
    SPLIT_SOME = 32,            /* .. else if it is longer than a part; of fewer all are divided */
    SEGMENT_BYTES = 1536,       /* of a segment of all columns, which threads alone take if it has no more, .. */
    SEGMENT_BYTES_FEW = 4 << 10 /* .. of less than a warp of columns */
};
#define FILLED 0.97

/* Bytes of a row that a lane should have at least for each operation on a byte (code_traits.nodes): the lanes of a row cost more to combine
 * than its elements where these are narrow, or combining is long, and then memory waits for them. Rows of one visit, and longer ones, where a
 * lane need not have more than LANE_MOST. By what was measured (docs/measured.md). */
enum {
    LANE_SHORT = 4,
    LANE_LONG = 32,
    LANE_MOST = 512,
    LONG_LEAST = 4,      /* log2 of a longer row's lanes, at least, .. */
    LONG_LEAST_BUSY = 3, /* .. and where an element takes LANE_LIGHT operations a byte */
    PARTS_MOST = 96,     /* vectors of two or four elements in a short row, if whole ones could begin anywhere */
    LANE_SOME = 4,       /* operations on a byte, from which that pays for vectors of four, too */
    LANE_LIGHT = 8 /* operations on a byte, below which rows that fill one visit of all lanes are best taken by it */
};

_Static_assert((int)COOP_MOST == (int)COOP_SEGMENTS,
               "segments that a block takes are those of a cooperative group of that size");

/* Indices and numbers of elements are computed with 32 bits below this: some way below 2^31, so that what lies past the end does
 * not wrap. */
static const int64_t narrow_most = INT32_MAX - (1 << 20);

static bool reads(const variant *v, int k) {
    return (k < v->nin || (v->masked && k == variant_mask(v))) && v->operand[k].kind < OPERAND_NUMBER;
}

static bool is_result(const variant *v, int k) { return k >= v->nin && k < v->nin + v->nout; }

static bool contiguous(const variant *v, int k) { return reads(v, k) && v->operand[k].kind == OPERAND_CONTIGUOUS; }

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* Do neighbouring results lie closer together in the first input than the elements of one? */
static bool lies_in_columns(const variant *v, const fold_problem *s) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    for (int k = 0; k < v->nin; k++)
        if (kept->kind[k] != OPERAND_NUMBER) {
            uint64_t across = magnitude(stride_of(kept, 0, k)), along = magnitude(stride_of(reduced, 0, k));
            return kept->count > 1 && across && (!along || across < along);
        }
    return false;
}

/* Segments; 0: the results have none, or states of their parts. */
static int64_t segments_of(const variant *v, const nd_loop *kept) {
    int64_t n = variant_reads_segments(v);
    for (int d = 0; d < kept->ndim && n; d++)
        n *= stride_of(kept, d, variant_bounds(v)) ? kept->extent[d] : 1;
    return n;
}

/* Elements of a result: of a segment so many on average, which is all that is known. */
static int64_t mean_length(const variant *v, const nd_loop *kept, const nd_loop *reduced) {
    int64_t segments = segments_of(v, kept);
    return segments ? (reduced->count + segments - 1) / segments : reduced->count;
}

static int64_t length_of(const variant *v, const fold_problem *s) {
    return mean_length(v, &s->loops->kept, &s->loops->reduced);
}

/* Do neighbouring lanes better take neighbouring results? */
static bool wants_columns(const variant *v, const fold_problem *s) {
    if (v->reduction.empty)
        return false;
    if (s->traits->order == FOLD_SERIAL)
        return true;
    return !(variant_reads_segments(v) && stride_of(&s->loops->kept, 0, variant_bounds(v))) && lies_in_columns(v, s);
}

/* Does operand k move along the lanes' dimension? Results do in columns. */
static bool has_kind(const variant *v, int k) {
    return k < v->nin || (v->reduction.columns && is_result(v, k)) || (v->masked && k == variant_mask(v));
}

static void fill_kinds(variant *v, const nd_fold *loops) {
    const nd_loop *lanes = v->reduction.columns ? &loops->kept : &loops->reduced;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->unit = o->staged = 0;
        if (loops->kept.kind[k] == OPERAND_NUMBER)
            o->kind = OPERAND_NUMBER;
        else if (v->position && k == variant_position(v))
            o->kind = OPERAND_POSITION;
        else
            o->kind = has_kind(v, k) ? lanes->kind[k] : OPERAND_STRIDED;
    }
}

/* Are accesses of so many elements aligned wherever they are, if the first is? whole: they make up a result. */
static bool vectors_fit(const variant *v, const nd_loop *kept, const nd_loop *reduced, int vector, bool whole) {
    const nd_loop *lanes = v->reduction.columns ? kept : reduced;
    uint64_t off = whole || v->reduction.columns || reduced->ndim > 1 ? (uint64_t)lanes->extent[0] : 0;
    for (int k = 0; k < variant_operands(v); k++) {
        if (!contiguous(v, k))
            continue;
        for (int d = v->reduction.columns; d < kept->ndim; d++)
            off |= (uint64_t)stride_of(kept, d, k);
        for (int d = !v->reduction.columns; d < reduced->ndim; d++)
            off |= (uint64_t)stride_of(reduced, d, k);
    }
    return !(off & ((unsigned)vector - 1));
}

/* The same of what was chosen. */
static bool rows_fit(const variant *v, const nd_loop *kept, const nd_loop *reduced) {
    return variant_interleaved_results(v) || vectors_fit(v, kept, reduced, v->fold.vector, v->fold.results);
}

/* Bytes of an element of the widest contiguous operand; 0: there is none. Elements in an access of it. */
static int widest_element(const variant *v) {
    int largest = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (contiguous(v, k) && element_size(v, k) > largest)
            largest = element_size(v, k);
    return largest;
}

static int vector_most(const variant *v) {
    int widest = widest_element(v);
    return widest ? ACCESS_BYTES / widest : 1;
}

/* Bytes that are read for an element. */
static int element_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (reads(v, k) && v->operand[k].kind != OPERAND_CONSTANT)
            bytes += element_size(v, k);
    return bytes ? bytes : 1;
}

static int most_elements(const code_traits *traits) {
    int most = traits->has_loop ? 1 : BODY_NODES_MAX / (traits->nodes > 0 ? traits->nodes : 1);
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

/* The same, where parts consist of visits. Each segment has as many parts as the others. */
static int64_t parts_of(const variant *v, const nd_loop *kept, const nd_loop *reduced, int64_t wanted, int64_t visit) {
    int64_t segments = segments_of(v, kept);
    return chunk_of(reduced->count, wanted, visit, visit * CHUNK_VISITS * (segments ? segments : 1));
}

/* ---- Results of a constant length ---- */

/* Does a thread take whole rows? */
static bool takes_whole(const variant *v) { return v->fold.length && !v->reduction.columns; }

/* Are rows a whole number of the widest accesses, or one of half as many bytes? Code for any number then moves as much, if combining is
 * light: more of it is worth a thread that has a whole result, without shuffles. */
static bool goes_by_vectors(const variant *v, const fold_problem *s) {
    int64_t n = s->loops->reduced.count, bytes = n * widest_element(v);
    bool whole = bytes && (bytes % ACCESS_BYTES == 0 || bytes == ACCESS_BYTES / 2);
    bool fills =
        widest_element(v) <= FILLING_BYTES || !(bytes & (bytes - 1)); /* lanes left over cost shuffles of words */
    return whole && fills && s->traits->order != FOLD_SERIAL && s->traits->nodes <= LIGHT_NODES &&
           fit_vectors(v, s, true) == (n < vector_most(v) ? n : vector_most(v));
}

/* States of parts, whose number follows from large sizes, are left to code for any number. The kinds are those of rows. */
static bool short_results(variant *v, const fold_problem *s, int sms) {
    const nd_fold *x = s->loops;
    if (v->segmented || v->reduction.from_states || v->reduction.to_states || lies_in_columns(v, s) ||
        goes_by_vectors(v, s))
        return false;
    v->fold.results = (uint8_t)short_specialise(v, &x->kept, &x->reduced, s->traits, (int64_t)SHORT_BLOCKS * sms);
    v->fold.length = (uint8_t)(v->fold.results ? x->reduced.count : 0);
    return v->fold.length;
}

/* The same of results that lie side by side, few before the next ones, whose inputs are planes of these. */
static bool short_planes(variant *v, const fold_problem *s, int sms) {
    const nd_fold *x = s->loops;
    if (v->segmented || v->reduction.from_states || v->reduction.to_states)
        return false;
    v->fold.results =
        (uint8_t)short_specialise_planes(v, &x->kept, &x->reduced, s->traits, (int64_t)SHORT_BLOCKS * sms);
    v->fold.length = (uint8_t)(v->fold.results ? x->reduced.count : 0);
    v->fold.plane = (uint8_t)(v->fold.results ? x->kept.extent[0] : 0);
    return v->fold.length;
}

/* ---- Lanes along elements ---- */

/* Have 2^coop lanes fewer bytes of a row each than they should? per: for each operation on a byte. */
static bool has_thin_lanes(const variant *v, const fold_problem *s, unsigned coop, int per) {
    int64_t size = element_bytes(v), least = (int64_t)per * s->traits->nodes / size;
    return length_of(v, s) * size >> coop < (least < LANE_MOST ? least : LANE_MOST);
}

/* Do half as many lanes a row still fill the device? */
static bool may_halve(const fold_problem *s, unsigned coop, int sms) {
    return coop && s->traits->order == FOLD_FREE && s->loops->kept.count >= threads_wanted(sms) >> (coop - 1);
}

/* Are there so many results that each need not have several blocks? */
static bool has_many(const fold_problem *s, int sms) { return s->loops->kept.count << COOP_MOST > threads_wanted(sms); }

/* Should each of many rows go by whole vectors from its first aligned address on, as longer ones do, since vectors of all of them together have
 * few elements? */
static bool begins_anywhere(const variant *v, const fold_problem *s, int sms, int vector) {
    bool few = vector == 2 || (vector == 4 && s->traits->nodes >= LANE_SOME * element_bytes(v));
    int64_t most = vector == 1 ? WARP : few ? PARTS_MOST : INT64_MAX;
    return s->loops->reduced.count / vector > most && vector < vector_most(v) && element_bytes(v) < WIDE &&
           s->loops->reduced.ndim == 1 && s->traits->order == FOLD_FREE && has_many(s, sms);
}

/* Several short results a cooperative group, each in one visit. */
static bool short_rows(variant *v, const fold_problem *s, int sms) {
    int64_t n = s->loops->reduced.count, results = s->loops->kept.count;
    int vector = fit_vectors(v, s, true);
    int64_t units = n / vector;
    if (variant_reads_segments(v) || units > (REPEAT_MAX << COOP_WARP) || results < 2 ||
        begins_anywhere(v, s, sms, vector))
        return false;
    unsigned coop = log2_ceil((uint64_t)units);
    coop = coop < COOP_WARP ? coop : COOP_WARP;
    while (may_halve(s, coop, sms) && has_thin_lanes(v, s, coop, LANE_SHORT) &&
           ceil_shift(units, coop - 1) < REPEAT_MAX && ceil_shift(units, coop - 1) * vector <= most_elements(s->traits))
        coop--;
    int repeat = (int)ceil_shift(units, coop), most = most_elements(s->traits) / (repeat * vector);
    if (!most)
        return false;
    int flight = vector * element_bytes(v) * repeat, at_once = RESULTS_MAX;
    while (at_once > 1 &&
           (at_once * flight > FLIGHT || at_once > most || (results << coop) < threads_wanted(sms) * at_once))
        at_once /= 2;
    v->fold.coop = (uint8_t)coop;
    v->fold.vector = (uint8_t)vector;
    v->fold.accesses = (uint8_t)repeat;
    v->fold.results = (uint8_t)at_once;
    return true;
}

/* Accesses of a visit: bytes that a thread has in flight. */
static int accesses_of(const variant *v, const fold_problem *s, int vector, int flight) {
    int repeat = repeat_for(vector * element_bytes(v), flight, REPEAT_MAX);
    while (repeat > 1 && repeat * vector > most_elements(s->traits))
        repeat /= 2;
    return repeat;
}

/* log2 of the lanes that visit n elements at once. */
static unsigned lanes_for(int64_t n, int64_t visit) { return n / visit > 1 ? log2_ceil((uint64_t)(n / visit)) : 0; }

/* Do n elements fill one visit of a group? */
static bool fills_visit(int64_t n, int64_t visit) {
    int64_t all = visit << lanes_for(n, visit);
    return n <= all && n > all - all / 8 && lanes_for(n, visit) <= COOP_MOST;
}

/* log2 of the lanes of a row, of which there are many. */
static unsigned lanes_of_many(const variant *v, const fold_problem *s, int sms, int64_t visit) {
    int64_t n = length_of(v, s);
    unsigned coop = lanes_for(n, visit);
    bool light = s->traits->nodes < LANE_LIGHT * element_bytes(v);
    coop = coop < COOP_MOST ? coop : COOP_MOST;
    while (coop > (light ? LONG_LEAST : LONG_LEAST_BUSY) && !(light && fills_visit(n, visit)) &&
           may_halve(s, coop, sms) && has_thin_lanes(v, s, coop, LANE_LONG))
        coop--;
    return coop;
}

/* Elements of an access, and accesses of a visit, of a segment. Short ones have few whole vectors. */
static int segment_vector(const variant *v, const fold_problem *s, int *repeat) {
    int64_t n = length_of(v, s);
    int vector = vector_most(v), most = most_elements(s->traits);
    while (vector > 1 && (vector > most || n < SEGMENT_LEAST || vector > n / SEGMENT_VECTORS))
        vector /= 2;
    *repeat = accesses_of(v, s, vector, FLIGHT);
    int64_t together = n < SEGMENT_LEAST && n > SEGMENT_VECTORS ? SEGMENT_VECTORS : n / vector;
    while (*repeat > 2 && *repeat > together)
        *repeat /= 2;
    return vector;
}

/* log2 of the lanes of a segment: a warp's at most, or a block's, to which a warp's leave those that are longer. */
static unsigned lanes_of_segment(int64_t n, int64_t visit, unsigned most) {
    unsigned coop = log2_floor((uint64_t)(n * 3 / (4 * visit)));
    if (coop >= COOP_SEGMENTS)
        return coop < most ? coop : most;
    return coop < COOP_WARP ? coop : COOP_WARP;
}

static int64_t long_rows(variant *v, const fold_problem *s, int sms) {
    int64_t n = length_of(v, s), results = s->loops->kept.count;
    bool lines = s->loops->reduced.ndim == 1, many = has_many(s, sms);
    int vector = lines ? vector_most(v) : fit_vectors(v, s, false), repeat; /* of lines each finds its own head */
    while (vector > 1 && (vector > most_elements(s->traits) || vector > n))
        vector /= 2;
    repeat = accesses_of(v, s, vector, FLIGHT);
    if (variant_reads_segments(v))
        vector = segment_vector(v, s, &repeat);
    else if (many && element_bytes(v) >= WIDE && !fills_visit(n, (int64_t)vector * repeat))
        repeat = accesses_of(v, s, vector, FLIGHT_WIDE);
    v->fold.vector = (uint8_t)vector;
    v->fold.accesses = (uint8_t)repeat;
    int64_t visit = (int64_t)vector * repeat;
    unsigned coop = many ? lanes_of_many(v, s, sms, visit) : lanes_for(n, visit);
    bool one_block = many || n <= (visit << COOP_BLOCK) * ONE_BLOCK_VISITS || s->whole ||
                     (s->uneven && segments_of(v, &s->loops->kept) >= SPLIT_SOME);
    unsigned most = many || !one_block || s->uneven ? COOP_MOST : COOP_BLOCK;
    coop = coop < most ? coop : most;
    v->fold.coop = (uint8_t)(variant_reads_segments(v) ? lanes_of_segment(n, visit, most) : coop);
    if (one_block)
        return 0;
    int64_t wanted = ((int64_t)sms * BLOCKS_WANTED + results - 1) / results;
    return parts_of(v, &s->loops->kept, &s->loops->reduced, wanted, visit << COOP_MOST);
}

/* ---- Lanes along results ---- */

static unsigned columns_shift(const variant *v, const nd_loop *kept) {
    if (variant_interleaved_results(v))
        return COOP_MOST;
    unsigned shift = log2_ceil((uint64_t)ceil_shift(kept->extent[0], log2_floor(v->fold.vector)));
    unsigned most = COOP_MOST - (unsigned)v->fold.coop;
    return shift < most ? shift : most;
}

static int64_t columns_blocks(const variant *v, const nd_loop *kept) {
    int64_t across = ceil_shift(kept->extent[0], columns_shift(v, kept) + log2_floor(v->fold.vector));
    return across * (kept->count / kept->extent[0]);
}

/* Results that are no vectors of neighbours wherever they are, if the first are, are stored one by one. */
static void drop_results(variant *v, const nd_loop *kept) {
    for (int k = v->nin; k < v->nin + v->nout; k++)
        for (int d = 1; d < kept->ndim; d++)
            if (stride_of(kept, d, k) & (v->fold.vector - 1))
                v->operand[k].kind = OPERAND_STRIDED;
}

/* Few elements, of a number that is a constant of the code, and blocks of columns enough for them to be loaded together. */
static bool short_columns(variant *v, const fold_problem *s, int sms, int vector) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    int64_t n = reduced->count;
    if (v->segmented || v->reduction.from_states || v->reduction.to_states || reduced->ndim > 1 || n < 2 ||
        n > COLUMNS_LENGTH || n * vector > most_elements(s->traits) || n * vector * element_bytes(v) > COLUMNS_FLIGHT ||
        kept->extent[0] < (int64_t)vector << COOP_MOST || columns_blocks(v, kept) < (int64_t)SHORT_BLOCKS * sms)
        return false;
    v->fold.length = v->fold.accesses = (uint8_t)n;
    return true;
}

/* Is each column best left to one thread? There are enough of them, and what a block would have of one plane is soon combined, or takes long to
 * combine; but not where vectors of neighbouring columns bring more at a time, or columns have next to nothing. A segment of all columns is a
 * block's work where it has so many bytes. */
static bool goes_alone(const variant *v, const fold_problem *s, int sms) {
    const nd_loop *kept = &s->loops->kept;
    int64_t n = length_of(v, s), across = kept->extent[0];
    int size = element_bytes(v);
    bool light = s->traits->nodes < LANE_LIGHT * size,
         whole = size < WORD && fit_vectors(v, s, false) * widest_element(v) == ACCESS_BYTES;
    if (s->loops->reduced.ndim > 1 || s->traits->order == FOLD_SERIAL || kept->count < threads_wanted(sms) / 2)
        return false;
    if (variant_reads_segments(v))
        return n <= (across < WARP ? SEGMENT_BYTES_FEW : SEGMENT_BYTES) / size / across;
    if (light && (whole || n > (size < WIDE ? ALONE_LENGTH : ALONE_LENGTH_WIDE)))
        return false;
    return n <= (light ? ALONE_PLANE : ALONE_PLANE_BUSY) / across &&
           (across < WARP || n >= (light || size == 1 ? ALONE_LEAST : ALONE_LEAST_BUSY));
}

/* Lanes along results that follow each other, whichever plane they are of. */
static void specialise_alone(variant *v, const fold_problem *s) {
    v->reduction.columns = 0;
    fill_kinds(v, s->loops);
    v->fold.accesses = (uint8_t)accesses_of(v, s, 1, ALONE_AHEAD * element_bytes(v));
    while (v->fold.accesses > 1 && v->fold.accesses > length_of(v, s))
        v->fold.accesses /= 2;
    if (variant_reads_segments(v) && v->fold.accesses > SEGMENT_VECTORS)
        v->fold.accesses = SEGMENT_VECTORS;
}

static int64_t specialise_columns(variant *v, const fold_problem *s, int sms) {
    const nd_loop *kept = &s->loops->kept;
    int64_t n = length_of(v, s);
    bool apart =
        variant_reads_segments(v) && stride_of(kept, 0, variant_bounds(v)); /* each column is a segment of its own */
    int vector = apart ? 1 : fit_vectors(v, s, false), most = most_elements(s->traits);
    int state = s->traits->state_bytes, all = state + (v->reduction.counted ? STATE_MORE : 1);
    while (vector > 1 && (vector * state > STATE_MOST || vector * all * BLOCK_MAX > SHARED_FREE))
        vector /= 2;
    int repeat = repeat_for(vector * element_bytes(v), FLIGHT_COLUMNS, REPEAT_MAX);
    while (repeat > 1 && (repeat * vector > most || repeat / 2 >= n))
        repeat /= 2;
    v->fold.vector = (uint8_t)vector;
    v->fold.accesses = (uint8_t)repeat;
    v->fold.coop = 0;
    drop_results(v, kept);
    if (short_columns(v, s, sms, vector) || s->traits->order == FOLD_SERIAL)
        return 0;
    unsigned across = log2_ceil((uint64_t)ceil_shift(kept->extent[0], log2_floor((uint64_t)vector)));
    unsigned high = COOP_MOST - (across < COOP_WARP ? across : COOP_WARP);
    if (kept->count / vector >= 2 * threads_wanted(sms) && across >= COOP_MOST)
        high = 0;
    while (high && (int64_t)repeat << high > n)
        high--;
    v->fold.coop = (uint8_t)high;
    if (s->whole)
        return 0;
    int64_t blocks = columns_blocks(v, kept), wanted = (int64_t)sms * BLOCKS_WANTED, visit = (int64_t)repeat << high;
    if (blocks * 2 > wanted)
        return 0;
    return parts_of(v, kept, &s->loops->reduced, (wanted + blocks - 1) / blocks, visit);
}

/* ---- Specialising ---- */

/* Are accesses by vectors aligned, if strides let them be, where the operands' addresses are these modulo ACCESS_BYTES? */
static bool addresses_aligned(const variant *v, const uint8_t *misalignment) {
    for (int k = 0; k < variant_operands(v); k++) {
        int width = element_size(v, k) * v->fold.vector;
        bool result = is_result(v, k) && !v->reduction.to_states && v->operand[k].kind == OPERAND_CONTIGUOUS;
        if ((contiguous(v, k) || result) && misalignment[k] & ((width < ACCESS_BYTES ? width : ACCESS_BYTES) - 1))
            return false;
    }
    return true;
}

/* Has the code accesses of single elements that are for arrays which are not aligned, and for nothing else? */
static bool has_other_accesses(const variant *v) {
    return v->fold.vector > 1 && (v->reduction.columns || (v->fold.results && !v->fold.length));
}

/* Elements of a result that a visit has, where the results are interleaved. Parts are a multiple of them, so that none is without elements. */
static int64_t interleaved_visit(const variant *v) { return (int64_t)v->fold.accesses * variant_wrapped(v); }

/* Do the elements of all results lie side by side in every input, and nothing between them? */
static bool is_interleaved(const variant *v, const nd_loop *kept, const nd_loop *reduced) {
    bool all = kept->ndim == 1 && reduced->ndim == 1;
    for (int k = 0; k < v->nin && all; k++)
        all = v->operand[k].kind < OPERAND_NUMBER && !v->operand[k].group && lies_beside(kept, reduced, k);
    return all;
}

/* Chooses the elements of a vector, and the rows of a visit, of few results side by side. Returns variant_wrapped: 0 if a row does not hold them. */
static int interleaved_vector(variant *v, const fold_problem *s) {
    int vector = vector_most(v), state = s->traits->state_bytes, most = most_elements(s->traits);
    while (vector > 1 && (vector * state > STATE_MOST ||
                          vector * (state + 1) * FOLD_INTERLEAVED_THREADS > SHARED_FREE || vector > most))
        vector /= 2;
    int flight =
        element_bytes(v) < WORD ? FLIGHT : FLIGHT_COLUMNS; /* more of narrow ones is as fast, and twice the code */
    int repeat = repeat_for(vector * element_bytes(v), flight, REPEAT_MAX);
    while (repeat > 1 && repeat * vector > most)
        repeat /= 2;
    v->fold.vector = (uint8_t)vector;
    v->fold.accesses = (uint8_t)repeat;
    return variant_wrapped(v);
}

/* Do columns have no vectors, or narrower ones, and threads across that are idle? */
static bool columns_waste(const variant *v, const fold_problem *s) {
    int fit = fit_vectors(v, s, false);
    int64_t across = s->loops->kept.extent[0] / fit, threads = (int64_t)1 << log2_ceil((uint64_t)across);
    return fit == 1 || (fit < vector_most(v) && 4 * across < 3 * threads);
}

static bool specialise_interleaved(variant *v, const fold_problem *s, int sms, int64_t *chunk) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    int64_t side = kept->extent[0];
    if (s->traits->order != FOLD_FREE || s->traits->has_loop || v->position || v->masked || v->segmented ||
        v->reduction.from_states || v->reduction.counted || s->whole || !is_interleaved(v, kept, reduced) || side < 2 ||
        side > PLANE_MOST || !columns_waste(v, s))
        return false;
    variant t = *v;
    t.fold.plane = (uint8_t)side;
    bool fits = interleaved_vector(&t, s) > 0;
    int64_t visit = interleaved_visit(&t), wanted = (int64_t)sms * BLOCKS_WANTED;
    if (!fits || reduced->count < visit * sms * PLANE_VISITS)
        return false;
    t.fold.coop = 0;
    *v = t;
    *chunk = parts_of(v, kept, reduced, wanted, visit);
    return true;
}

static int64_t specialise(variant *v, const fold_problem *s, int sms) {
    v->fold.results = v->fold.length = v->fold.plane = v->fold.aligned = v->fold.split = 0;
    v->fold.vector = v->fold.accesses = 1;
    v->fold.coop = 0;
    if (v->reduction.empty || short_planes(v, s, sms) || short_results(v, s, sms))
        return 0;
    v->reduction.columns = wants_columns(v, s);
    fill_kinds(v, s->loops);
    int64_t chunk;
    if (v->reduction.columns && specialise_interleaved(v, s, sms, &chunk))
        return chunk;
    if (v->reduction.columns && goes_alone(v, s, sms)) {
        specialise_alone(v, s);
        return 0;
    }
    if (v->reduction.columns)
        return specialise_columns(v, s, sms);
    return short_rows(v, s, sms) ? 0 : long_rows(v, s, sms);
}

/* Has one visit of a group all accesses by vectors of its one result? */
static bool visits_once(const variant *v, int64_t n) {
    return !v->reduction.empty && !v->reduction.to_states && !v->reduction.columns && !variant_reads_segments(v) &&
           !v->fold.results && n <= ((int64_t)v->fold.vector * v->fold.accesses) << v->fold.coop;
}

/* ---- Segments that are longer than the others ---- */

/* Elements of a segment that is not left to the block: of some visits, and not of most segments. */
static int64_t longest_segment(const variant *v, const nd_loop *kept, const nd_loop *reduced) {
    int64_t visits = ((int64_t)v->fold.vector * v->fold.accesses * SEGMENT_VISITS) << v->fold.coop,
            some = mean_length(v, kept, reduced) * SEGMENT_TIMES;
    return visits > some ? visits : some;
}

/* log2 of the parts that a segment of all elements would have. */
static unsigned split_shift(int sms) {
    unsigned shift = log2_floor((uint64_t)sms * SPLIT_BLOCKS);
    return shift < log2_floor(SPLIT_PARTS) ? shift : log2_floor(SPLIT_PARTS);
}

/* All elements; false: more than can be counted. */
static bool all_elements(const variant *v, const nd_loop *kept, const nd_loop *reduced, int64_t *n) {
    int64_t segments = segments_of(v, kept);
    return !__builtin_mul_overflow(reduced->count, segments ? kept->count / segments : kept->count, n);
}

/* Elements of a part of a segment that several blocks have: segments that do not overlap have no more parts in all than there is room for. */
static int64_t split_size(const variant *v, const nd_loop *kept, const nd_loop *reduced, int sms) {
    int64_t all, some = segments_of(v, kept) < SPLIT_MANY ? 1 : mean_length(v, kept, reduced) * SPLIT_TIMES,
                 least = variant_defers_segments(v) ? longest_segment(v, kept, reduced) : some;
    least = least > some ? least : some;
    int64_t size = all_elements(v, kept, reduced, &all) ? (all >> split_shift(sms)) + 1 : INT64_MAX;
    return size > least ? size : least;
}

/* Do several blocks have parts of long segments? */
static bool splits_segments(const variant *v, const fold_problem *s, int sms) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    int64_t all, bytes;
    return s->uneven && variant_reads_segments(v) && !v->reduction.empty && !v->reduction.to_states &&
           !v->reduction.columns && v->fold.coop <= COOP_SEGMENTS && all_elements(v, kept, reduced, &all) &&
           !__builtin_mul_overflow(all, element_bytes(v), &bytes) && bytes / SPLIT_LEAST >= sms &&
           split_size(v, kept, reduced, sms) < reduced->count;
}

int64_t fold_specialise(variant *v, const fold_problem *s, int sms) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    v->ndim = (uint8_t)kept->ndim;
    v->reduction.reduced = (uint8_t)reduced->ndim;
    v->reduction.columns = 0;
    fill_kinds(v, s->loops);
    int64_t chunk = specialise(v, s, sms);
    v->fold.aligned =
        has_other_accesses(v) && s->misalignment && rows_fit(v, kept, reduced) && addresses_aligned(v, s->misalignment);
    v->fold.once = !chunk && visits_once(v, reduced->count);
    v->fold.split = !chunk && splits_segments(v, s, sms);
    int64_t parts_most = chunk ? reduced->count / chunk + 1 : 1, tasks;
    v->wide =
        __builtin_mul_overflow(kept->count, parts_most, &tasks) || tasks > narrow_most || reduced->count > narrow_most;
    return chunk;
}

/* ---- Parameters ---- */

/* Is every access by vectors aligned? */
static bool is_aligned(const launch *l) {
    const variant *v = l->v;
    if (takes_whole(v))
        return short_aligned(l);
    if (v->reduction.empty || (l->chunk && l->chunk % v->fold.vector && !v->reduction.columns) ||
        !rows_fit(v, l->loop, l->reduced))
        return v->reduction.empty;
    uint8_t misalignment[VARIANT_OPERANDS];
    launch_misalignment(l, misalignment);
    return addresses_aligned(v, misalignment);
}

static void put_strides_if(parameter_writer *w, parameter_id id, const nd_loop *loop,
                           bool (*wanted)(const variant *v, int k)) {
    for (int k = 0; k < variant_operands(w->v); k++)
        for (int d = 0; d < loop->ndim && wanted(w->v, k); d++)
            put_parameter(w, id, stride_of(loop, d, k));
}

static int64_t part_count(const launch *l) { return l->chunk ? (l->reduced->count + l->chunk - 1) / l->chunk : 1; }

static int64_t layout_rows(const launch *l, const occupancy *r, grid *g) {
    const variant *v = l->v;
    int64_t tasks, results = v->fold.results ? v->fold.results : 1;
    if (__builtin_mul_overflow(l->loop->count, part_count(l), &tasks))
        return INT64_MAX;
    tasks = (tasks + results - 1) / results;
    unsigned shift = v->fold.coop > COOP_WARP ? v->fold.coop : COOP_MOST;
    while (shift > COOP_WARP && shift > v->fold.coop && !variant_defers_segments(v) &&
           ceil_shift(tasks, shift - v->fold.coop) < r->sms)
        shift--;
    g->threads = 1u << shift;
    return ceil_shift(tasks, shift - v->fold.coop);
}

static int64_t layout_columns(const launch *l, grid *g) {
    int64_t blocks;
    assert(!variant_interleaved_results(l->v) || l->chunk % interleaved_visit(l->v) == 0);
    g->threads = 1u << (columns_shift(l->v, l->loop) + l->v->fold.coop);
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
    return v->reduction.columns       ? columns_shift(v, l->loop) + v->fold.coop
           : v->fold.coop > COOP_WARP ? v->fold.coop
                                      : COOP_MOST;
}

int gpu_fold_block(const launch *l) { return 1 << block_shift(l); }

int64_t gpu_fold_chunk(const launch *l, int resident) {
    const variant *v = l->v;
    int64_t tasks =
        v->reduction.columns ? columns_blocks(v, l->loop) : ceil_shift(l->loop->count, block_shift(l) - v->fold.coop);
    int64_t visit = variant_interleaved_results(v) ? interleaved_visit(v)
                    : v->reduction.columns         ? (int64_t)v->fold.accesses << v->fold.coop
                                                   : ((int64_t)v->fold.vector * v->fold.accesses) << v->fold.coop;
    int64_t chunk = parts_of(v, l->loop, l->reduced, parts_for(tasks, resident), visit);
    return chunk ? chunk : l->chunk;
}

size_t fold_scratch(const launch *l) { return l->v->fold.split ? SPLIT_BYTES : 0; }

static void put_split(parameter_writer *w, const launch *l, int sms, grid *g) {
    put_divisor(w, GPU_FOLD_SPLIT, split_size(l->v, l->loop, l->reduced, sms));
    g->second = put_parameter(w, GPU_FOLD_SECOND, false);
    g->second_blocks = 2u << split_shift(sms);
    put_address(w, GPU_FOLD_LIST, l->scratch);
}

int64_t fold_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    const variant *v = l->v;
    const nd_loop *kept = l->loop, *reduced = l->reduced;
    put_parameter(w, GPU_FOLD_RESULTS, kept->count);
    put_parameter(w, GPU_FOLD_TOTAL, reduced->count);
    put_parameter(w, GPU_FOLD_ELEMENTS, l->elements);
    bool aligned = is_aligned(l);
    assert(aligned || !v->fold.aligned);
    put_parameter(w, GPU_FOLD_ALIGNED, aligned);
    if (v->segmented)
        put_address(w, GPU_FOLD_STOP, launch_bounds_stop(l));
    if (variant_defers_segments(v))
        put_parameter(w, GPU_FOLD_LONG, longest_segment(v, kept, reduced));
    if (v->fold.split)
        put_split(w, l, r->sms, g);
    if (v->reduction.to_states) {
        put_parameter(w, GPU_FOLD_CHUNK, l->chunk);
        put_parameter(w, GPU_FOLD_CHUNK_STRIDE, l->chunk_stride);
        put_divisor(w, GPU_FOLD_PARTS, part_count(l));
    }
    if (v->reduction.columns) {
        unsigned shift = columns_shift(v, kept);
        put_parameter(w, GPU_FOLD_COLUMNS, kept->extent[0]);
        put_parameter(w, GPU_FOLD_SHIFT, shift);
        put_divisor(w, GPU_FOLD_ACROSS, ceil_shift(kept->extent[0], shift + log2_floor(v->fold.vector)));
    }
    put_extents(w, GPU_FOLD_KEPT, kept, v->reduction.columns, kept->ndim - !v->reduction.columns);
    if (v->reduction.reduced > 1 && !v->reduction.empty) {
        put_divisor(w, GPU_FOLD_UNIT,
                    reduced->extent[0] / v->fold.vector > 0 ? reduced->extent[0] / v->fold.vector : 1);
        put_extents(w, GPU_FOLD_REDUCED, reduced, 0, reduced->ndim - 1);
    }
    put_strides_if(w, GPU_FOLD_KEPT_STRIDES, kept, variant_places);
    if (!v->reduction.empty)
        put_strides_if(w, GPU_FOLD_REDUCED_STRIDES, reduced, variant_moves);
    return takes_whole(v)         ? short_layout(l, v->fold.results, v->fold.plane, g)
           : v->reduction.columns ? layout_columns(l, g)
                                  : layout_rows(l, r, g);
}
