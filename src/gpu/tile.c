/* tile.c - inputs that lie side by side along dimension 1: tiles that a block reads along that dimension and computes along dimension 0. */
#include "gpu/elementwise.h"

enum {
    TILE_VECTOR_MAX = 8,
    TILE_ROWS_MAX = 4,
    TILE_LANES_MAX = 4,           /* log2 of the threads along each dimension, where both are long */
    TILE_THREADS_MAX = 8,         /* log2 of the threads of a block */
    TILE_SHARED_BYTES = 32 << 10, /* of a block, so that a multiprocessor has several */
    TILE_ELEMENTS_MAX = 32,       /* of a thread */
};

_Static_assert(1 << TILE_THREADS_MAX <= BLOCK_MAX, "code is generated for blocks of that size");

static bool is_staged(const variant *v, const nd_loop *loop, int k) {
    return v->operand[k].kind == OPERAND_STRIDED && !elementwise_is_output(v, k) && nd_is_across(loop, k);
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
    v->tile.rows = (uint8_t)(rows > TILE_ROWS_MAX ? TILE_ROWS_MAX : rows);
    elementwise_lighten(s->traits, &v->tile.vector, &v->tile.rows);
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
    t.down = ceil_shift(loop->extent[1], log2_floor(v->tile.rows) + v->tile.across);
    t.blocks = t.across;
    for (int d = 1; d < loop->ndim; d++)
        if (__builtin_mul_overflow(t.blocks, d == 1 ? t.down : loop->extent[d], &t.blocks) || t.blocks > GRID_MAX) {
            t.blocks = INT64_MAX;
            break;
        }
    return t;
}

static bool has_unit(const nd_loop *loop, int k) { return stride_of(loop, 1, k) == 1; }

static void stage(variant *v, const nd_loop *loop, int k) {
    v->operand[k].staged = 1;
    v->operand[k].kind = OPERAND_CONTIGUOUS;
    v->operand[k].unit = has_unit(loop, k);
}

static void forget(variant *v, const nd_loop *loop, int k) {
    if (v->operand[k].staged)
        v->operand[k].kind = loop->kind[k];
    v->operand[k].staged = v->operand[k].unit = v->operand[k].fixed = 0;
}

void tile_specialise(variant *v, const loop_problem *s) {
    const nd_loop *loop = s->loop;
    for (int k = 0; k < variant_operands(v); k++) {
        if (is_staged(v, loop, k))
            stage(v, loop, k);
        v->operand[k].fixed =
            v->operand[k].kind != OPERAND_NUMBER && !elementwise_is_output(v, k) && stride_of(loop, 1, k) == 0;
    }
    choose_elements(v, s);
    choose_threads(v, s);
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].staged && shared_bytes(v, k + 1) > TILE_SHARED_BYTES)
            forget(v, loop, k);
    /* tiles that leave lanes of a warp idle, and more of them than a grid has blocks */
    if (v->tile.columns + v->tile.across < COOP_WARP || tile_tiling(v, loop).blocks > GRID_MAX) {
        for (int k = 0; k < variant_operands(v); k++)
            forget(v, loop, k);
        variant_reclass(v, LOOP_GENERAL);
        general_specialise(v, s);
    }
}

/* Are the accesses of operand k by vectors of so many elements, along dimension `unit`, aligned? */
static bool is_aligned(const launch *l, int k, int unit, int vector) {
    uintptr_t size = (uintptr_t)element_size(l->v, k), all = (uintptr_t)l->data[k];
    for (int d = 0; d < l->loop->ndim; d++)
        if (d != unit)
            all |= (uintptr_t)stride_of(l->loop, d, k) * size;
    return all % (size * (uintptr_t)vector) == 0;
}

static bool tile_aligned(const launch *l) {
    const variant *v = l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        const variant_operand *o = &v->operand[k];
        if (o->staged ? o->unit && !is_aligned(l, k, 1, variant_tile_access(v, k))
                      : o->kind == OPERAND_CONTIGUOUS && !is_aligned(l, k, 0, v->tile.vector))
            return false;
    }
    return true;
}

int64_t tile_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    const nd_loop *loop = l->loop;
    tiling t = tile_tiling(l->v, loop);
    (void)r;
    put_parameter(w, GPU_TILE_EXTENTS, loop->extent[0]);
    put_parameter(w, GPU_TILE_EXTENTS, loop->extent[1]);
    put_parameter(w, GPU_TILE_ALIGNED, tile_aligned(l));
    put_divisor(w, GPU_TILE_ACROSS, t.across);
    put_divisor(w, GPU_TILE_DOWN, t.down);
    put_extents(w, GPU_TILE_OUTER, loop, 2, loop->ndim - 1);
    put_strides(w, GPU_TILE_STRIDES, loop, 0);
    g->threads = 1U << (l->v->tile.columns + l->v->tile.across);
    g->shared = (uint32_t)shared_bytes(l->v, variant_operands(l->v));
    return t.blocks;
}
