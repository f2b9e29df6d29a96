/* short.c - reductions and accumulations whose results, or lines, have few elements: code is generated for that number, and a thread takes
 * whole ones. Which operands come through shared memory, and how many a thread takes, or a block. */
#include "gpu/class.h"

enum {
    LENGTH_MOST = 64,     /* elements that code is generated for, */
    NODES_MOST = 2600,    /* of all elements of a thread: all are written out, which takes time to compile; */
    ELEMENTS_MOST = 64,   /* and of several rows so many */
    LENGTH_DIRECT = 8,    /* where no operand comes through shared memory */
    FLIGHT = 96,          /* bytes that a thread reads and writes, before it takes several, */
    ROWS_MOST = 16,       /* and their number; */
    TILE_MOST = 40 << 10, /* bytes of a block in shared memory: with what is left free less than 48 KiB */
    /* Planes of lines that lie side by side. */
    PLANE_MOST = 255, /* lines of one; */
    PLANE_WHOLE =
        128, /* bytes of an access by all lanes, of words and more: where lines begin at such, those of LENGTH_MOST elements .. */
    PLANE_WORD = 4,     /* .. are as well off where they are; */
    PLANE_LINES = 4096, /* lines that there should be; */
    PLANES_MOST = 255   /* of a block */
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

/* Are the elements of operand k planes of such lines, one behind the other? */
static bool is_planes(const nd_loop *lines, const nd_loop *along, int k) {
    int64_t side = lines->extent[0], step = side * along->count;
    bool planes = stride_of(lines, 0, k) == 1 && stride_of(along, 0, k) == side;
    for (int d = 1; d < lines->ndim && planes; d++) {
        planes = lines->extent[d] == 1 || stride_of(lines, d, k) == step;
        step *= lines->extent[d];
    }
    return planes;
}

/* The planes of a block: as many lines as bring FLIGHT bytes for each thread, or as threads. least: so many end at a whole access. */
static int64_t planes_of(const variant *v, int64_t side, int64_t length, int64_t least) {
    int64_t each = FLIGHT / moved_bytes(v, length), bytes = side * staged_bytes(v, length);
    int64_t most = (each > 1 ? each : 1) * ROW_TILE_THREADS / side, room = TILE_MOST / bytes;
    most = most < PLANES_MOST ? most : PLANES_MOST;
    most = most > least ? most : least;
    most = most < room ? most : room;
    return most / least * least;
}

int short_specialise_planes(variant *v, const nd_loop *lines, const nd_loop *along, const code_traits *traits) {
    int64_t side = lines->extent[0], length = along->count, least = 1, planes = 0;
    bool all = along->ndim == 1 && length > 1 && length <= LENGTH_MOST && side > 1 && side <= PLANE_MOST &&
               lines->count >= PLANE_LINES && !v->masked && !traits->has_loop &&
               length * (traits->nodes + 1) <= NODES_MOST;
    bool parts = false;
    for (int k = 0; k < v->nin + v->nout && all; k++) {
        int64_t size = element_size(v, k);
        all = v->operand[k].kind < OPERAND_NUMBER && is_planes(lines, along, k);
        parts |= side * size % PLANE_WHOLE != 0 || size < PLANE_WORD;
        while (least * size * side * length % ACCESS_BYTES)
            least *= 2;
    }
    for (int k = 0; k < v->nin + v->nout; k++)
        v->operand[k].staged = all;
    if (all && (parts || length < LENGTH_MOST))
        planes = planes_of(v, side, length, least);
    for (int k = 0; k < v->nin + v->nout; k++)
        v->operand[k].staged = planes > 0;
    return (int)planes;
}

int64_t short_layout(const launch *l, int rows, grid *g) {
    g->threads = ROW_TILE_THREADS;
    return (l->loop->count - 1) / rows + 1;
}
