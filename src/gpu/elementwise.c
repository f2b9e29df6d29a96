/* elementwise.c - the classes flat, rows and general: how many elements a thread takes, and at each launch the kernel's parameters
 * behind the operands', the blocks and the threads. */
#include "gpu/class.h"

enum {
    IN_FLIGHT = 32,        /* bytes a thread should load before it computes: 48 KiB a multiprocessor and more */
    IN_FLIGHT_SHARED = 64, /* the same where a row is shared: each row of a thread more is a load of it less */
    FLAT_REPEAT_MAX = 4,
    ROWS_REPEAT_MAX = 8,
    GENERAL_REPEAT = 4
};

static bool is_output(const variant *v, int k) { return k >= v->nin && k < v->nin + v->nout; }

/* ---- Specialising ---- */

/* Elements in one access of the widest operand that is accessed by vectors. */
static int vector_width(const variant *v) {
    int largest = 1;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > largest)
            largest = element_size(v, k);
    return ACCESS_BYTES / largest;
}

/* Bytes of the contiguous inputs of one element; the mask is one, `fixed` operands are not. */
static int input_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (!is_output(v, k) && v->operand[k].kind == OPERAND_CONTIGUOUS && !v->operand[k].fixed)
            bytes += element_size(v, k);
    return bytes;
}

/* Large bodies are not multiplied: they are bound by computation, and cost registers and compile time. */
static void lighten(const code_traits *traits, uint8_t *vector, uint8_t *repeat) {
    int most = traits->has_loop ? 1 : BODY_NODES_MAX / (traits->nodes > 0 ? traits->nodes : 1);
    while (*repeat > 1 && *vector * *repeat > most)
        *repeat /= 2;
    while (*vector > 1 && *vector * *repeat > most)
        *vector /= 2;
}

void flat_specialise(variant *v, const loop_problem *s) {
    int vector = vector_width(v), bytes = vector * input_bytes(v);
    v->flat.vector = (uint8_t)vector;
    v->flat.vectors_per_thread = (uint8_t)(bytes ? repeat_for(bytes, IN_FLIGHT, FLAT_REPEAT_MAX) : 1);
    lighten(s->traits, &v->flat.vector, &v->flat.vectors_per_thread);
}

static bool is_narrow(const variant *v, const nd_loop *loop) {
    if (loop->count > NARROW_MAX)
        return false;
    for (int k = 0; k < variant_operands(v); k++) {
        int64_t reach = 0, part;
        if (v->operand[k].kind == OPERAND_NUMBER)
            continue;
        for (int d = 0; d < loop->ndim; d++) {
            int64_t stride = stride_of(loop, d, k);
            if (stride == INT64_MIN ||
                __builtin_mul_overflow(stride < 0 ? -stride : stride, loop->extent[d] - 1, &part) ||
                __builtin_add_overflow(reach, part, &reach) || reach > INT32_MAX)
                return false;
        }
    }
    return true;
}

void general_specialise(variant *v, const loop_problem *s) {
    uint8_t one = 1;
    v->general.elements_per_thread = GENERAL_REPEAT;
    v->wide = !is_narrow(v, s->loop);
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].fixed = 0;
    lighten(s->traits, &one, &v->general.elements_per_thread);
}

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

void rows_specialise(variant *v, const loop_problem *s) {
    const nd_loop *loop = s->loop;
    bool shared = false;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->kind != OPERAND_NUMBER && !is_output(v, k) && stride_of(loop, 1, k) == 0;
        shared |= o->fixed && o->kind == OPERAND_CONTIGUOUS;
    }
    int vector = vector_width(v), bytes = vector * input_bytes(v), most = ROWS_REPEAT_MAX;
    while (most > 1 && most / 2 >= loop->extent[1])
        most /= 2;
    v->rows.vector = (uint8_t)vector;
    v->rows.rows_per_thread = (uint8_t)(bytes ? repeat_for(bytes, shared ? IN_FLIGHT_SHARED : IN_FLIGHT, most) : most);
    lighten(s->traits, &v->rows.vector, &v->rows.rows_per_thread);
    /* planes that leave a warp idle, and more tiles than a grid has blocks */
    if ((loop->ndim > 2 && plane_threads(v, loop) < WARP) || rows_tiling(v, loop, WARP).blocks > GRID_MAX) {
        variant_reclass(v, LOOP_GENERAL);
        general_specialise(v, s);
    }
}

/* Elements before the first index at which every contiguous operand is aligned for vectors; -1: none, or beyond the end. */
static int64_t find_head(const launch *l) {
    const variant *v = l->v;
    int64_t head = -1;
    for (int k = 0; k < variant_operands(v); k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t size = (uintptr_t)element_size(v, k), width = size * v->flat.vector; /* powers of two */
        uintptr_t before = (0 - (uintptr_t)l->data[k]) & (width - 1);
        int64_t here = (int64_t)(before >> log2_floor(size));
        if (before & (size - 1) || (head >= 0 && head != here))
            return -1;
        head = here;
    }
    return head > l->loop->count ? -1 : head;
}

/* Is every row of every contiguous operand aligned for vectors? */
static bool rows_aligned(const launch *l) {
    const variant *v = l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t misaligned = (uintptr_t)l->data[k] & ((uintptr_t)element_size(v, k) * v->rows.vector - 1);
        for (int d = 1; d < l->loop->ndim; d++)
            misaligned |= (uintptr_t)stride_of(l->loop, d, k) & (v->rows.vector - 1u);
        if (misaligned)
            return false;
    }
    return true;
}

/* ---- Layouts: each writes the parameters after the operands', sets the threads of a block, and returns the number of blocks.
 * Small loops get smaller blocks, so that every multiprocessor has work. ---- */

static int64_t layout_line(int64_t n, unsigned elements, const occupancy *r, grid *g) {
    unsigned per = log2_floor(elements), shift = log2_floor(r->block);
    int64_t blocks = ceil_shift(n, per + shift);
    g->threads = r->block;
    while (blocks < r->sms && g->threads > BLOCK_MIN) {
        g->threads /= 2;
        blocks = ceil_shift(n, per + --shift);
    }
    return blocks ? blocks : 1;
}

int64_t flat_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    int64_t n = l->loop->count, head = find_head(l);
    put_parameter(w, GPU_FLAT_ELEMENTS, n);
    put_parameter(w, GPU_FLAT_HEAD, head);
    return layout_line(n, (unsigned)l->v->flat.vector * l->v->flat.vectors_per_thread, r, g);
}

int64_t general_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    put_parameter(w, GPU_GENERAL_ELEMENTS, l->loop->count);
    put_extents(w, GPU_GENERAL_EXTENTS, l->loop, 0, l->loop->ndim - 1);
    put_strides(w, GPU_GENERAL_STRIDES, l->loop, 0);
    return layout_line(l->loop->count, l->v->general.elements_per_thread, r, g);
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
