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

/* Indices of the general class are computed with 32 bits below this: some way below 2^31, so that those of the threads past
 * the end do not wrap. */
static const int64_t narrow_max = INT32_MAX - 65536;

static bool is_output(const variant *v, int k) { return k >= v->nin && k < v->nin + v->nout; }

/* ---- Specialising ---- */

/* Elements in one access of the widest operand that is accessed by vectors. */
static int vector_width(const variant *v) {
    int largest = 1;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > largest)
            largest = element_size(v, k);
    return ACCESS / largest;
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
static void lighten(variant *v, const code_traits *traits) {
    int most = traits->has_loop ? 1 : BODY_MAX / (traits->nodes > 0 ? traits->nodes : 1);
    while (v->repeat > 1 && v->vector * v->repeat > most)
        v->repeat /= 2;
    while (v->vector > 1 && v->vector * v->repeat > most)
        v->vector /= 2;
}

void flat_specialise(variant *v, const problem *s) {
    int vector = vector_width(v), bytes = vector * input_bytes(v);
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)(bytes ? repeat_for(bytes, IN_FLIGHT, FLAT_REPEAT_MAX) : 1);
    lighten(v, s->traits);
}

static bool is_narrow(const variant *v, const nd_loop *loop) {
    if (loop->count > narrow_max)
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

void general_specialise(variant *v, const problem *s) {
    v->loop = LOOP_GENERAL;
    v->vector = 1;
    v->repeat = GENERAL_REPEAT;
    v->wide = !is_narrow(v, s->loop);
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].fixed = 0;
    lighten(v, s->traits);
}

/* How a block of the rows class is laid out: 2^shift threads along a row; the tiles of dimensions 0 and 1; all blocks, or
 * more than GRID_MAX. */
typedef struct tiling {
    unsigned shift;
    int64_t across, down, blocks;
} tiling;

static tiling rows_tiling(const variant *v, const nd_loop *loop, unsigned threads) {
    unsigned vector = log2_floor(v->vector), repeat = log2_floor(v->repeat), all = log2_floor(threads);
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
    int64_t lanes = ceil_shift(loop->extent[0], log2_floor(v->vector)),
            rows = ceil_shift(loop->extent[1], log2_floor(v->repeat));
    return lanes > BLOCK_MAX || rows > BLOCK_MAX ? BLOCK_MAX : lanes * rows;
}

void rows_specialise(variant *v, const problem *s) {
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
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)(bytes ? repeat_for(bytes, shared ? IN_FLIGHT_SHARED : IN_FLIGHT, most) : most);
    lighten(v, s->traits);
    /* planes that leave a warp idle, and more tiles than a grid has blocks */
    if ((loop->ndim > 2 && plane_threads(v, loop) < WARP) || rows_tiling(v, loop, WARP).blocks > GRID_MAX)
        general_specialise(v, s);
}

/* Elements before the first index at which every contiguous operand is aligned for vectors; -1: none, or beyond the end. */
static int64_t find_head(const launch *l) {
    const variant *v = l->v;
    int64_t head = -1;
    for (int k = 0; k < variant_operands(v); k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t size = (uintptr_t)element_size(v, k), width = size * v->vector; /* powers of two */
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
        uintptr_t misaligned = (uintptr_t)l->data[k] & ((uintptr_t)element_size(v, k) * v->vector - 1);
        for (int d = 1; d < l->loop->ndim; d++)
            misaligned |= (uintptr_t)stride_of(l->loop, d, k) & (v->vector - 1u);
        if (misaligned)
            return false;
    }
    return true;
}

/* ---- Layouts: each writes the words after the operands', sets the threads of a block, and returns the number of blocks.
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

int64_t flat_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    int64_t n = l->loop->count, head = find_head(l);
    w[0] = (uint64_t)n;
    w[1] = (uint64_t)head;
    return layout_line(n, (unsigned)l->v->vector * l->v->repeat, r, g);
}

int64_t general_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    *w++ = (uint64_t)l->loop->count;
    for (int d = 0; d < l->loop->ndim - 1; d++)
        w = put_divisor(w, l->loop->extent[d], l->v->wide);
    put_strides(w, l, 0);
    return layout_line(l->loop->count, l->v->repeat, r, g);
}

int64_t rows_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
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
    *w++ = (uint64_t)loop->extent[0];
    *w++ = (uint64_t)loop->extent[1];
    *w++ = t.shift;
    *w++ = rows_aligned(l);
    w = put_divisor(w, t.across, false);
    w = put_divisor(w, t.down, false);
    for (int d = 2; d < loop->ndim - 1; d++)
        w = put_divisor(w, loop->extent[d], false);
    put_strides(w, l, 1);
    g->threads = threads;
    return t.blocks;
}

int flat_words(const variant *v, const core_layout *layout, int arrays) {
    (void)v, (void)layout, (void)arrays;
    return 2;
}

int rows_words(const variant *v, const core_layout *layout, int arrays) {
    (void)layout;
    return 10 + 3 * (v->ndim > 3 ? v->ndim - 3 : 0) + arrays * (v->ndim - 1);
}

int general_words(const variant *v, const core_layout *layout, int arrays) {
    (void)layout;
    return 1 + 3 * (v->ndim - 1) + arrays * v->ndim;
}
