/* rows.c - contiguous, in contiguous records, or constant along dimension 0 in every operand: rows of a thread, and tiles of a block. */
#include "gpu/elementwise.h"

enum {
    IN_FLIGHT_SHARED = 64, /* bytes in flight where a row is shared: each row of a thread more is a load of it less */
    ROWS_REPEAT_MAX = 8,
    ROWS_REPEAT_LOOP = 4,          /* rows of a thread whose body has a loop; it takes them one after the other .. */
    ROWS_REPEAT_ELEMENTS = 1 << 22 /* .. where so many elements keep a device busy with fewer threads */
};

/* How a block of the rows class is laid out: 2^shift threads along a row; the tiles of dimensions 0 and 1; all blocks, or
 * more than GRID_MAX. */
typedef struct tiling {
    unsigned shift;
    int64_t across, down, blocks;
} tiling;

static tiling rows_tiling(const variant *v, const nd_loop *loop, unsigned threads) {
    unsigned vector = log2_floor(v->rows.vector), repeat = log2_floor(v->rows.rows_per_thread),
             all = log2_floor(threads);
    unsigned wanted = log2_ceil((uint64_t)ceil_shift(loop->extent[0], vector));
    tiling t = {.shift = wanted < all ? wanted : all};
    t.across = ceil_shift(loop->extent[0], t.shift + vector);
    t.down = ceil_shift(loop->extent[1], all - t.shift + repeat);
    t.blocks = t.across;
    for (int d = 1; d < loop->ndim; d++)
        if (__builtin_mul_overflow(t.blocks, d == 1 ? t.down : loop->extent[d], &t.blocks) || t.blocks > GRID_MAX) {
            t.blocks = INT64_MAX;
            break;
        }
    return t;
}

/* Threads that a plane of dimensions 0 and 1 keeps busy. */
static int64_t plane_threads(const variant *v, const nd_loop *loop) {
    int64_t lanes = ceil_shift(loop->extent[0], log2_floor(v->rows.vector)),
            rows = ceil_shift(loop->extent[1], log2_floor(v->rows.rows_per_thread));
    return lanes > BLOCK_MAX || rows > BLOCK_MAX ? BLOCK_MAX : lanes * rows;
}

/* The bytes from one row of operand k to others, in one word: accesses whose bytes, a power of two, divide it are aligned in all rows if they are in
 * one. */
static uint64_t rows_apart(const variant *v, const nd_loop *loop, int k) {
    uint64_t all = 0;
    for (int d = 1; d < loop->ndim; d++)
        all |= (uint64_t)stride_of(loop, d, k) * (uint64_t)element_size(v, k);
    return all;
}

/* May rows of all operands that are accessed by so many elements begin where such accesses have to? */
static bool rows_fit(const variant *v, const nd_loop *loop, int vector) {
    for (int k = 0; k < variant_operands(v); k++)
        if (elementwise_step(v, k) && rows_apart(v, loop, k) & ((uint64_t)elementwise_align(v, k, vector) - 1))
            return false;
    return true;
}

void rows_specialise(variant *v, const loop_problem *s) {
    const nd_loop *loop = s->loop;
    if (!rows_fit(v, loop, elementwise_vector(v)) && general_has_neighbours(v, s)) {
        variant_reclass(v, LOOP_GENERAL);
        general_specialise(v, s);
        return;
    }
    bool shared = false;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->kind != OPERAND_NUMBER && !elementwise_is_output(v, k) && stride_of(loop, 1, k) == 0;
        shared |= o->fixed && o->kind != OPERAND_CONSTANT;
    }
    int vector = elementwise_vector(v), bytes = vector * elementwise_input_bytes(v), most = ROWS_REPEAT_MAX;
    while (most > 1 && most / 2 >= loop->extent[1])
        most /= 2;
    v->rows.vector = (uint8_t)vector;
    v->rows.rows_per_thread = (uint8_t)(bytes ? repeat_for(bytes, shared ? IN_FLIGHT_SHARED : IN_FLIGHT, most) : most);
    elementwise_lighten(s->traits, &v->rows.vector, &v->rows.rows_per_thread);
    /* A body with a loop stands in the code once, however many rows a thread takes: each row more saves what it takes to find the tile. */
    if (s->traits->has_loop && loop->count >= ROWS_REPEAT_ELEMENTS)
        v->rows.rows_per_thread = (uint8_t)(most < ROWS_REPEAT_LOOP ? most : ROWS_REPEAT_LOOP);
    /* planes that leave a warp idle, and more tiles than a grid has blocks */
    if ((loop->ndim > 2 && plane_threads(v, loop) < WARP) || rows_tiling(v, loop, WARP).blocks > GRID_MAX) {
        variant_reclass(v, LOOP_GENERAL);
        general_specialise(v, s);
        return;
    }
    elementwise_forget_alignment(v);
}

/* Is every row of every operand aligned for vectors? */
static bool rows_aligned(const launch *l) {
    const variant *v = l->v;
    uintptr_t misaligned = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (elementwise_step(v, k))
            misaligned |= (uintptr_t)l->data[k] & ((uintptr_t)elementwise_align(v, k, v->rows.vector) - 1);
    return !misaligned && rows_fit(v, l->loop, v->rows.vector);
}

int64_t rows_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    const nd_loop *loop = l->loop;
    int64_t busy = plane_threads(l->v, loop);
    unsigned threads = r->block;
    while (threads > WARP && threads / 2 >= busy)
        threads /= 2;
    tiling t = rows_tiling(l->v, loop, threads);
    while (t.blocks < r->sms && threads > BLOCK_MIN) {
        threads /= 2;
        t = rows_tiling(l->v, loop, threads);
    }
    put_parameter(w, GPU_ROWS_EXTENTS, loop->extent[0]);
    put_parameter(w, GPU_ROWS_EXTENTS, loop->extent[1]);
    put_parameter(w, GPU_ROWS_SHIFT, t.shift);
    put_parameter(w, GPU_ROWS_VECTORS, rows_aligned(l));
    put_divisor(w, GPU_ROWS_ACROSS, t.across);
    put_divisor(w, GPU_ROWS_DOWN, t.down);
    put_extents(w, GPU_ROWS_OUTER, loop, 2, loop->ndim - 1);
    put_strides(w, GPU_ROWS_STRIDES, loop, 1);
    g->threads = threads;
    return t.blocks;
}
