/* tile.c - operands that lie side by side along dimension 1: tiles that a block reads, or writes, along that dimension and computes along
 * dimension 0. */
#include "gpu/elementwise.h"

enum {
    TILE_VECTOR_MAX = 8,
    TILE_ROWS_MAX = 8,
    TILE_ROWS_BYTES = ACCESS_BYTES, /* the same of bytes, where all of them are accessed by vectors */
    TILE_LANES_MAX = 4,             /* log2 of the threads along each dimension, where both are long */
    TILE_THREADS_MAX = 8,           /* log2 of the threads of a block */
    TILE_SHARED_BYTES = 32 << 10,   /* of a block, so that a multiprocessor has several */
    NARROW_ELEMENTS_MAX = 64,       /* of a thread, where dimension 1 is narrow, .. */
    NARROW_LEAST = 128,             /* .. and dimension 0 has so many, .. */
    NARROW_BYTES = 32,              /* .. and a thread writes so many bytes to records at most; .. */
    NARROW_SINGLE = 6,   /* .. but for records of bytes up to so many, but 4, of which tiles would be single accesses */
    HALO_NODES_MAX = 32, /* of a kernel that is cheap enough to be computed twice for some elements, .. */
    HALO_PART = 4        /* .. at most for one of so many */
};

_Static_assert(1 << TILE_THREADS_MAX <= BLOCK_MAX, "code is generated for blocks of that size");

/* Under a mask outputs are not, since what the mask leaves out must not be written. */
static bool is_staged(const variant *v, const nd_loop *loop, int k) {
    return loop->kind[k] == OPERAND_STRIDED && !(v->masked && elementwise_is_output(v, k)) && nd_is_across(loop, k);
}

static int tile_bytes(const variant *v, int k) {
    return element_size(v, k) * v->tile.vector * v->tile.rows << (v->tile.columns + v->tile.across);
}

/* Of the staged operands before operand k, or with k of all. */
static int shared_bytes(const variant *v, int k) {
    int bytes = 0;
    for (int i = 0; i < k; i++)
        bytes += v->operand[i].staged ? tile_bytes(v, i) : 0;
    return bytes;
}

/* What the staged operands take in the largest block. */
static int shared_most(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++)
        bytes += v->operand[k].staged ? element_size(v, k) : 0;
    return bytes * v->tile.vector * v->tile.rows << TILE_THREADS_MAX;
}

/* All of a narrow dimension 1 is a thread's; `fits` tells whether the kernel is small enough for that. */
static bool choose_narrow(variant *v, const loop_problem *s) {
    const nd_loop *loop = s->loop;
    int widest = 1, vector = NARROW_ELEMENTS_MAX / v->tile.narrow;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > widest)
            widest = element_size(v, k);
    vector = 1 << log2_floor((uint64_t)vector);
    v->tile.vector = (uint8_t)(vector < ACCESS_BYTES / widest ? vector : ACCESS_BYTES / widest);
    v->tile.rows = v->tile.narrow;
    elementwise_lighten(s->traits, &v->tile.vector, &v->tile.rows);
    while (v->tile.vector > 1 && (int64_t)v->tile.vector * WARP > loop->extent[0])
        v->tile.vector /= 2;
    unsigned columns = log2_ceil((uint64_t)ceil_shift(loop->extent[0], log2_floor(v->tile.vector)));
    v->tile.columns = (uint8_t)(columns < TILE_THREADS_MAX ? columns : TILE_THREADS_MAX);
    return v->tile.rows == v->tile.narrow;
}

/* Does a thread write records in so many accesses that each leaves half a sector to the next? Tiles in shared memory are written by whole ones then. */
static bool writes_long_records(const variant *v) {
    for (int k = v->nin; k < v->nin + v->nout; k++) {
        int size = element_size(v, k), n = v->tile.narrow;
        bool single = size == 1 && n <= NARROW_SINGLE && n != 4, record = v->operand[k].kind == OPERAND_INTERLEAVED;
        if (record && !single && !v->masked && n * size * v->tile.vector > NARROW_BYTES)
            return true;
    }
    return false;
}

/* What operand k is accessed along by vectors, as bits of dimensions, and how many bytes the first element must be aligned to; 0: nothing. */
static int access_of(const variant *v, int k, unsigned *along) {
    const variant_operand *o = &v->operand[k];
    *along = o->kind == OPERAND_INTERLEAVED ? 3 : o->staged ? 2 : 1;
    if (o->kind == OPERAND_INTERLEAVED)
        return record_width(v->tile.vector, o->record);
    if (o->kind != OPERAND_CONTIGUOUS || (o->staged && !o->unit))
        return 0;
    return element_size(v, k) * (o->staged ? variant_tile_access(v, k) : v->tile.vector);
}

/* Is every access to operand k by vectors aligned, if its first element is at this address? */
static bool operand_aligned(const variant *v, const nd_loop *loop, int k, uintptr_t all) {
    unsigned along;
    int bytes = access_of(v, k, &along);
    for (int d = 0; bytes && d < loop->ndim; d++)
        if (d > 1 || !(along >> d & 1))
            all |= (uintptr_t)stride_of(loop, d, k) * (uintptr_t)element_size(v, k);
    return !bytes || !(all & ((uintptr_t)bytes - 1));
}

/* Are all arrays of bytes, and do their strides leave every access aligned? */
static bool has_aligned_bytes(const variant *v, const nd_loop *loop) {
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind != OPERAND_NUMBER && (element_size(v, k) > 1 || !operand_aligned(v, loop, k, 0)))
            return false;
    return true;
}

/* A thread's elements: along dimension 0 what the widest contiguous operand has in one access, along dimension 1 what the widest staged
 * one has. */
static void choose_elements(variant *v, const loop_problem *s) {
    int along = 1, across = 1;
    for (int k = 0; k < variant_operands(v); k++) {
        int size = element_size(v, k);
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && !v->operand[k].staged && size > along)
            along = size;
        if (v->operand[k].staged && size > across)
            across = size;
    }
    int vector = ACCESS_BYTES / along, rows = ACCESS_BYTES / across;
    v->tile.vector = (uint8_t)(vector > TILE_VECTOR_MAX ? TILE_VECTOR_MAX : vector);
    v->tile.rows = (uint8_t)rows;
    if (rows > TILE_ROWS_MAX)
        v->tile.rows = has_aligned_bytes(v, s->loop) ? TILE_ROWS_BYTES : TILE_ROWS_MAX;
    elementwise_lighten(s->traits, &v->tile.vector, &v->tile.rows);
    while (shared_most(v) > TILE_SHARED_BYTES && v->tile.vector * v->tile.rows > 1)
        *(v->tile.rows >= v->tile.vector ? &v->tile.rows : &v->tile.vector) /= 2;
    while (v->tile.vector > 1 && v->tile.vector >= 2 * s->loop->extent[0])
        v->tile.vector /= 2;
    while (v->tile.rows > 1 && v->tile.rows >= 2 * s->loop->extent[1])
        v->tile.rows /= 2;
}

/* The threads of a block, along both dimensions: as many along the shorter one as it needs, and along the longer one what is left. */
static void choose_threads(variant *v, const loop_problem *s) {
    unsigned columns = log2_ceil((uint64_t)ceil_shift(s->loop->extent[0], log2_floor(v->tile.vector))),
             across = log2_ceil((uint64_t)ceil_shift(s->loop->extent[1], log2_floor(v->tile.rows)));
    unsigned least = columns < across ? columns : across, half = least < TILE_LANES_MAX ? least : TILE_LANES_MAX,
             rest = TILE_THREADS_MAX - half;
    v->tile.columns = (uint8_t)(columns <= across ? half : columns < rest ? columns : rest);
    v->tile.across = (uint8_t)(columns <= across ? across < rest ? across : rest : half);
}

/* Tiles of each dimension, and blocks in all; more than GRID_MAX where there are more. */
typedef struct tiling {
    int64_t across, down, blocks;
} tiling;

static tiling tile_tiling(const variant *v, const nd_loop *loop) {
    tiling t;
    t.across = ceil_shift(loop->extent[0], log2_floor(v->tile.vector) + v->tile.columns);
    int64_t rows = loop->extent[1] + (v->tile.halo ? v->tile.halo - 1 : 0);
    t.down = v->tile.narrow ? 1 : ceil_shift(rows, log2_floor(v->tile.rows) + v->tile.across);
    t.blocks = t.across;
    for (int d = 1; d < loop->ndim; d++)
        if (__builtin_mul_overflow(t.blocks, d == 1 ? t.down : loop->extent[d], &t.blocks) || t.blocks > GRID_MAX) {
            t.blocks = INT64_MAX;
            break;
        }
    return t;
}

/* How each operand is accessed. */
static void choose_accesses(variant *v, const nd_loop *loop) {
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        if (o->kind == OPERAND_NUMBER)
            continue;
        bool dense = v->tile.narrow && nd_is_dense(loop, k);
        o->unit = stride_of(loop, 1, k) == 1;
        o->fixed = !elementwise_is_output(v, k) && stride_of(loop, 1, k) == 0;
        o->staged = !v->tile.narrow && is_staged(v, loop, k);
        o->record = dense ? (uint8_t)(v->tile.narrow * element_size(v, k)) : 0;
        o->kind = o->staged ? OPERAND_CONTIGUOUS : dense ? OPERAND_INTERLEAVED : loop->kind[k];
    }
}

/* Operands for whose tiles there is no room are read and written where they are. */
static void bound_shared(variant *v, const nd_loop *loop) {
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].staged && shared_bytes(v, k + 1) > TILE_SHARED_BYTES) {
            v->operand[k].staged = 0;
            v->operand[k].kind = loop->kind[k];
        }
}

/* Where a line of an output across does not begin at a sector, two blocks would write parts of one, far apart in time. What is computed for
 * that must be cheap, and read from where it lies. */
static int choose_halo(const variant *v, const loop_problem *s) {
    int halo = 0, height = v->tile.rows << v->tile.across;
    bool aligned = true;
    for (int k = 0; k < variant_operands(v); k++) {
        if (!v->operand[k].staged)
            continue;
        if (!elementwise_is_output(v, k) || !v->operand[k].unit)
            return 0;
        aligned &= operand_aligned(v, s->loop, k, 0);
        halo = variant_tile_sector(v, k) > halo ? variant_tile_sector(v, k) : halo;
    }
    bool cheap = !s->traits->has_loop && s->traits->nodes <= HALO_NODES_MAX;
    return cheap && !aligned && HALO_PART * halo <= height ? halo : 0;
}

static bool choose_tiles(variant *v, const loop_problem *s) {
    choose_elements(v, s);
    choose_threads(v, s);
    bound_shared(v, s->loop);
    v->tile.halo = (uint8_t)choose_halo(v, s);
    return true;
}

void tile_specialise(variant *v, const loop_problem *s) {
    const nd_loop *loop = s->loop;
    bool narrow = loop->extent[1] <= GPU_NARROW_MAX && (loop->extent[0] >= NARROW_LEAST || v->masked);
    v->tile.narrow = (uint8_t)(narrow ? loop->extent[1] : 0);
    choose_accesses(v, loop);
    bool fits = narrow && choose_narrow(v, s);
    if (!narrow || (fits && writes_long_records(v))) {
        v->tile.narrow = 0;
        choose_accesses(v, loop);
        fits = choose_tiles(v, s);
    }
    /* tiles that leave lanes of a warp idle, and more of them than a grid has blocks */
    if (fits && v->tile.columns + v->tile.across >= COOP_WARP && tile_tiling(v, loop).blocks <= GRID_MAX)
        return;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->staged = o->unit = 0;
        o->kind = o->kind == OPERAND_NUMBER ? o->kind : loop->kind[k];
    }
    variant_reclass(v, LOOP_GENERAL);
    general_specialise(v, s);
}

static bool tile_aligned(const launch *l) {
    for (int k = 0; k < variant_operands(l->v); k++)
        if (!operand_aligned(l->v, l->loop, k, (uintptr_t)l->data[k]))
            return false;
    return true;
}

/* Is no output in the memory of an input? The two have the same elements or none in common, since others are copied before. */
static bool tile_apart(const launch *l) {
    for (int out = l->v->nin; out < l->v->nin + l->v->nout; out++)
        for (int k = 0; k < l->v->nin; k++)
            if (l->v->operand[k].kind != OPERAND_NUMBER && l->data[k] == l->data[out])
                return false;
    return true;
}

int64_t tile_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    const nd_loop *loop = l->loop;
    tiling t = tile_tiling(l->v, loop);
    (void)r;
    put_parameter(w, GPU_TILE_EXTENTS, loop->extent[0]);
    put_parameter(w, GPU_TILE_EXTENTS, loop->extent[1]);
    put_parameter(w, GPU_TILE_ALIGNED, tile_aligned(l));
    if (l->v->tile.halo)
        put_parameter(w, GPU_TILE_APART, tile_apart(l));
    put_divisor(w, GPU_TILE_ACROSS, t.across);
    put_divisor(w, GPU_TILE_DOWN, t.down);
    put_extents(w, GPU_TILE_OUTER, loop, 2, loop->ndim - 1);
    put_strides(w, GPU_TILE_STRIDES, loop, 0);
    g->threads = 1U << (l->v->tile.columns + l->v->tile.across);
    g->shared = (uint32_t)shared_bytes(l->v, variant_operands(l->v));
    return t.blocks;
}
