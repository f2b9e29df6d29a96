/* short.c - reductions and accumulations whose results, or lines, have few elements: code is generated for that number, and a thread takes
 * whole ones. Which operands come through shared memory, and how many a thread takes, or a block. */
#include <assert.h>

#include "gpu/class.h"

enum {
    LENGTH_MOST = ROW_STRAIGHT, /* elements that code is generated for, */
    NODES_MOST = 2600,          /* of all elements of a thread: all are written out, which takes time to compile; */
    ELEMENTS_MOST = 64,         /* and of several rows so many */
    LENGTH_DIRECT = 8,          /* where no operand comes through shared memory */
    FLIGHT = 96,                /* bytes that a thread reads and writes, before it takes several, */
    ROWS_MOST = 16,             /* and their number; */
    TILE_MOST = 40 << 10,       /* bytes of a block in shared memory: with what is left free less than 48 KiB */
    /* Planes of rows that lie side by side. */
    PLANE_MOST = 255,  /* rows of one, and elements of a row; */
    PLANE_ROWS = 4096, /* rows that there should be; */
    PLANE_WORD = 4,    /* bytes of an element: rows of LENGTH_MOST of them at whole accesses are as well off there; */
    PLANES_MOST = 255, /* planes of a block, */
    PLANES_BYTES = 8 << 10, /* bytes of them, but for rows for half the threads, if these are short, */
    PLANES_LARGE = 12000    /* and of planes that are too large for reductions of words */
};

/* Do the elements of operand k lie one behind the other, row by row? */
static bool is_packed(const variant *v, const nd_loop *rows, int64_t length, int k) {
    int64_t step = length;
    bool packed = v->operand[k].kind == OPERAND_CONTIGUOUS;
    for (int d = 0; d < rows->ndim && packed; d++) {
        packed = rows->extent[d] == 1 || stride_of(rows, d, k) == step;
        step *= rows->extent[d];
    }
    return packed;
}

/* Bytes of a row in shared memory. */
static int64_t staged_bytes(const variant *v, int64_t length) {
    int64_t bytes = 0;
    for (int k = 0; k < v->nin + v->nout + v->masked; k++)
        if (v->operand[k].staged && variant_tile(v, k) == k)
            bytes += element_size(v, k) * length;
    return bytes;
}

/* Bytes of memory that a row takes. A result of a reduction is one element. */
static int64_t moved_bytes(const variant *v, int64_t length) {
    int64_t bytes = 0;
    for (int k = 0; k < v->nin + v->nout + v->masked; k++) {
        bool one =
            v->operand[k].kind == OPERAND_CONSTANT || (v->loop == LOOP_FOLD && k >= v->nin && k < v->nin + v->nout);
        if (v->operand[k].kind < OPERAND_NUMBER)
            bytes += element_size(v, k) * (one ? 1 : length);
    }
    return bytes;
}

int short_specialise(variant *v, const nd_loop *rows, const nd_loop *along, const code_traits *traits, int64_t blocks) {
    int64_t length = along->count, most = length ? NODES_MOST / (traits->nodes + 1) / length : 0;
    if (along->ndim > 1 || length < 2 || length > LENGTH_MOST || rows->count < ROW_TILE_THREADS || traits->has_loop)
        return 0;
    bool any = false;
    for (int k = 0; k < v->nin + v->nout + v->masked; k++)
        any |= v->operand[k].staged = is_packed(v, rows, length, k);
    int64_t tile = ROW_TILE_THREADS * staged_bytes(v, length), moved = moved_bytes(v, length);
    bool fits = tile <= TILE_MOST && most > 0 && (any || length <= LENGTH_DIRECT);
    for (int k = 0; k < v->nin + v->nout + v->masked; k++)
        v->operand[k].staged &= fits;
    int each = ROWS_MOST;
    while (each > 1 && (each * moved > FLIGHT || each * tile > TILE_MOST || each > most ||
                        each * length > ELEMENTS_MOST || rows->count < blocks * each * ROW_TILE_THREADS))
        each /= 2;
    return fits ? each : 0;
}

bool short_aligned(const launch *l) {
    uintptr_t all = 0;
    for (int k = 0; k < variant_operands(l->v); k++)
        all |= l->v->operand[k].staged ? (uintptr_t)l->data[k] : 0;
    return !(all & (ACCESS_BYTES - 1));
}

/* Are the elements of operand k planes of such rows, one behind the other? */
static bool is_planes(const nd_loop *rows, const nd_loop *along, int k) {
    int64_t side = rows->extent[0], step = side * along->count;
    bool planes = lies_beside(rows, along, k);
    for (int d = 1; d < rows->ndim && planes; d++) {
        planes = rows->extent[d] == 1 || stride_of(rows, d, k) == step;
        step *= rows->extent[d];
    }
    return planes;
}

/* Operands with elements along a row: those of folds are inputs. */
static int lengthwise(const variant *v) { return v->loop == LOOP_FOLD ? v->nin : v->nin + v->nout; }

/* May they go by planes, and would not be as well off where they are? least: so many planes end at a whole access. */
static bool wants_planes(const variant *v, const nd_loop *rows, const nd_loop *along, int64_t *least) {
    int64_t side = rows->extent[0], length = along->count;
    bool all = lengthwise(v) > 0, parts = length != LENGTH_MOST;
    *least = 1;
    for (int k = 0, n = lengthwise(v); k < n && all; k++) {
        int64_t size = element_size(v, k);
        all = v->operand[k].kind < OPERAND_NUMBER && is_planes(rows, along, k);
        parts |= side * size % ACCESS_WHOLE != 0 || size < PLANE_WORD;
        while (*least * size * side * length % ACCESS_BYTES)
            *least *= 2;
    }
    return all && parts;
}

/* The planes of a block: as many rows as bring FLIGHT bytes for each thread, if there are so many, or as threads; but fewer of longer rows, so that the
 * first level cache, which is what shared memory leaves, has what two accesses have in common. */
static int64_t planes_of(const variant *v, const nd_loop *rows, int64_t length, int64_t least, int64_t blocks) {
    int64_t side = rows->extent[0], moved = moved_bytes(v, length), bytes = side * staged_bytes(v, length);
    assert(side > 0 && moved > 0 && bytes > 0);
    int64_t each = FLIGHT / moved;
    while (each > 1 && rows->count < blocks * each * ROW_TILE_THREADS)
        each /= 2;
    int64_t most = (each > 1 ? each : 1) * ROW_TILE_THREADS / side, few = PLANES_BYTES / bytes,
            half = length > LENGTH_MOST ? 1 : ROW_TILE_THREADS / 2 / side;
    few = few > half ? few : half;
    most = most < few ? most : few;
    most = most < PLANES_MOST ? most : PLANES_MOST;
    most = most > least ? most : least;
    return most * bytes <= TILE_MOST ? most / least * least : 0;
}

/* Reductions of words are faster where they are than by large planes. */
static bool too_large(const variant *v, int64_t bytes) {
    bool words = false;
    for (int k = 0; k < v->nin; k++)
        words |= element_size(v, k) >= PLANE_WORD;
    return v->loop == LOOP_FOLD && words && bytes > PLANES_LARGE;
}

int short_specialise_planes(variant *v, const nd_loop *rows, const nd_loop *along, const code_traits *traits,
                            int64_t blocks) {
    int64_t length = along->count, least, planes = 0;
    int64_t straight = length <= LENGTH_MOST ? length : 2 * ROW_TOGETHER;
    bool fits = along->ndim == 1 && length > 1 && length <= PLANE_MOST && rows->extent[0] > 1 &&
                rows->extent[0] <= PLANE_MOST && rows->count >= PLANE_ROWS && !v->masked && !traits->has_loop &&
                straight * (traits->nodes + 1) <= NODES_MOST && wants_planes(v, rows, along, &least);
    for (int k = 0, n = lengthwise(v); k < n; k++)
        v->operand[k].staged = fits;
    if (fits)
        planes = planes_of(v, rows, length, least, blocks);
    if (too_large(v, planes * rows->extent[0] * staged_bytes(v, length)))
        planes = 0;
    for (int k = 0, n = lengthwise(v); k < n; k++)
        v->operand[k].staged = planes > 0;
    return (int)planes;
}

int64_t short_layout(const launch *l, int each, int plane, grid *g) {
    g->threads = ROW_TILE_THREADS;
    return (l->loop->count - 1) / ((int64_t)each * (plane ? plane : ROW_TILE_THREADS)) + 1;
}
