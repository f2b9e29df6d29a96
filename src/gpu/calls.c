/* calls.c - see calls.h. */
#include "gpu/calls.h"

enum {
    /* Pieces of a range. */
    PIECE_RESERVED =
        4 << 10, /* of each block's share of shared memory, for what reductions leave there and the driver's own */
    SHARED_BESIDE = 1 << 10, /* that a multiprocessor has beyond what it gives one block */
};

int64_t core_total(const cores *c, bool bytes) {
    int64_t total = 0;
    for (int k = 0; k < variant_operands(c->v); k++) {
        int64_t count = is_array(c, k) ? bytes ? element_size(c->v, k) : 1 : 0;
        for (int i = 0; i < rank_of(c, k); i++)
            count = times(count, extent_at(c, k, i));
        total = plus(total, count);
    }
    return total;
}

/* The strides of operand k's core but that of its unit dimension, in one word. */
static uint64_t core_strides(const cores *c, int k) {
    uint64_t bits = 0;
    for (int i = 0; i < rank_of(c, k); i++)
        if (i + 1 != c->v->operand[k].unit && extent_at(c, k, i) > 1)
            bits |= (uint64_t)stride_at(c, k, i);
    return bits;
}

uint64_t other_strides(const cores *c, int k) {
    uint64_t bits = core_strides(c, k);
    for (int d = 0; d < c->loop->ndim; d++)
        if (c->loop->extent[d] > 1)
            bits |= (uint64_t)stride_of(c->loop, d, k);
    return bits;
}

uint64_t row_strides(const cores *c, int k) {
    uint64_t bits = 0;
    for (int i = 0; i < rank_of(c, k); i++)
        bits |= extent_at(c, k, i) > 1 ? (uint64_t)stride_at(c, k, i) : 0;
    for (int d = 1; d < c->loop->ndim; d++)
        bits |= c->loop->extent[d] > 1 ? (uint64_t)stride_of(c->loop, d, k) : 0;
    return bits;
}

int64_t packed_apart(const cores *c, int k, int64_t apart) {
    int64_t count = 1;
    for (int i = rank_of(c, k) - 1; i >= 0; i--) {
        int64_t extent = extent_at(c, k, i);
        if (extent != 1 && stride_at(c, k, i) != times(count, apart))
            return 0;
        count = times(count, extent);
    }
    return count;
}

int64_t packed_count(const cores *c, int k) { return packed_apart(c, k, 1); }

bool moves_alike(const cores *c, int k, int lead) {
    uint64_t bits = core_strides(c, k);
    for (int d = 0; d < c->loop->ndim; d++)
        if (c->loop->extent[d] > 1)
            bits |= (uint64_t)stride_of(c->loop, d, k) - (uint64_t)stride_of(c->loop, d, lead);
    return !(bits & (c->v->gufunc.vector - 1u));
}

int tiled_output(const cores *c) {
    for (int k = c->v->nin; k < c->v->nin + c->v->nout; k++)
        if (rank_of(c, k) == 2)
            return k;
    return -1;
}

/* Elements of a piece that are staged, if each row is divided in so many; what is before its first vector takes the place of one. */
static int64_t piece_elements(const cores *c, int64_t n, int64_t pieces) {
    int64_t vector = c->v->gufunc.vector, vectors = ceil_shift(n, log2_floor((uint64_t)vector)),
            held = variant_held_part(c->v);
    if (!c->v->gufunc.pieces)
        return n;
    int64_t all = times((vectors + pieces - 1) / pieces + 1, vector);
    return all > held ? all - held : 0;
}

int64_t whole_part(const cores *c, int k, int64_t pieces) {
    int64_t n = piece_elements(c, extent_at(c, k, 0), pieces);
    int64_t bytes = times(n, (int64_t)element_size(c->v, k) << c->v->gufunc.across);
    return bytes > INT64_MAX / 4 ? bytes : (bytes + ACCESS_BYTES - 1) & -ACCESS_BYTES;
}

int64_t piece_share(int shared, bool fine) {
    int all = (shared > SHARED_FREE ? shared : SHARED_FREE) + SHARED_BESIDE;
    return (all / PIECE_FIT >> fine) - PIECE_RESERVED;
}

int64_t pieces_bytes(const cores *c, int64_t pieces) {
    int64_t bytes = 0;
    for (int k = 0; k < c->v->nin; k++)
        if (c->v->operand[k].staged)
            bytes = plus(bytes, whole_part(c, k, pieces));
    return bytes;
}

int64_t pieces_least(const cores *c, int64_t most) {
    int64_t pieces = 1;
    while (pieces < COOP_BLOCKS_MAX && pieces_bytes(c, pieces) > most)
        pieces++;
    return pieces;
}

int64_t pieces_holding(const cores *c) {
    int64_t pieces = COOP_BLOCKS_MAX, held = variant_held_part(c->v) / c->v->gufunc.vector;
    int lead = variant_lead(c->v);
    /* A piece is the whole row's part, rounded up, and the last one may lack as many vectors as there are pieces; the first lacks one where
     * rows begin between two. */
    while (held && pieces > 1 && extent_at(c, lead, 0) / c->v->gufunc.vector / pieces <= held + pieces + 1)
        pieces--;
    return pieces;
}

/* ---- Alignment ---- */

/* Pieces: are the rows of all operands that are accessed by vectors at places that differ by whole vectors, or if they are shifted, by whole
 * elements? */
static bool aligned_alike(const cores *c, const uint8_t *misalignment) {
    int lead = variant_lead(c->v);
    unsigned from = lead < 0 ? 0 : misalignment[lead] / (unsigned)element_size(c->v, lead);
    for (int k = 0; k < variant_operands(c->v); k++) {
        const variant_operand *o = &c->v->operand[k];
        unsigned at = misalignment[k], size = (unsigned)element_size(c->v, k);
        if (!o->unit)
            continue;
        if (at % size || (!o->shifted && (!moves_alike(c, k, lead) || (at / size - from) & (c->v->gufunc.vector - 1u))))
            return false;
    }
    return true;
}

/* Calls two a thread: are their elements, where they are not the same, at multiples of two? */
static bool pairs_aligned(const cores *c, const uint8_t *misalignment) {
    for (int k = 0; k < c->v->nin + c->v->nout; k++)
        if (!c->v->operand[k].fixed &&
            (misalignment[k] & (2 * element_size(c->v, k) - 1) || (is_array(c, k) && row_strides(c, k) & 1)))
            return false;
    return true;
}

bool vectors_aligned(const cores *c, const uint8_t *misalignment) {
    for (int k = 0; k < variant_operands(c->v); k++)
        if (must_align(c, k) && (misalignment[k] & (element_size(c->v, k) * c->v->gufunc.vector - 1) ||
                                 other_strides(c, k) & (c->v->gufunc.vector - 1u)))
            return false;
    return true;
}

bool calls_aligned(const cores *c, const uint8_t *misalignment) {
    return (c->v->gufunc.pieces  ? aligned_alike
            : c->v->gufunc.calls ? pairs_aligned
                                 : vectors_aligned)(c, misalignment);
}
