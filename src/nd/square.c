/* square.c - loops of inner calls across memory order: neighbouring calls find some array's cores far apart, and those of calls that are
 * neighbours along another dimension side by side, as in a call on a[i][j][3] and b[j][i][3]. From the strides of the arrays to a
 * loop that takes squares of calls, in which the cores of every array are near each other. */
#include "nd/nd.h"

#include <assert.h>

enum {
    SECTOR = 32, /* bytes that memory is read by: cores that far apart or farther have none in common, .. */
    LINE = 128   /* .. and nearer than this lie in one line of a cache, or in two */
};

/* Sides of squares, as measured on an H200, where a warp then has calls in several rows and columns. Eight calls side by side are sectors of
 * memory that are whole, if the rows begin at such; where rows have a length that eight does not divide, they do not, and it is as
 * well to take whole rows, few of them together. */
enum {
    SIDE = 8,        /* calls along dimension 0 */
    SIDE_OTHER = 24, /* calls along the other one, at most, .. */
    SIDE_OTHER_LEAST = 8,
    ROWS = 4,       /* whole rows that are taken together, at most, .. */
    ROWS_ALL = 8,   /* .. or all, if there are no more */
    SIDE_LONG = 32, /* calls along dimension 0 where neither goes, at most, .. */
    SIDE_LONG_LEAST = 12
};

static int64_t stride_of(const nd_loop *loop, int d, int k) { return loop->stride[d * loop->narrays + k]; }

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* Bytes of a line of array k that calls share if they are neighbours along dimension d, and do not if they are so along dimension 0. */
static int64_t turned_bytes(const nd_array *arrays, const nd_loop *loop, int k, int d) {
    int64_t near = magnitude(stride_of(loop, d, k)), far = magnitude(stride_of(loop, 0, k)), size = arrays[k].size;
    return near > 0 && near < far && near < LINE / size && far >= SECTOR / size ? LINE - near * size : 0;
}

/* The dimension along which arrays lie across, that of the most such bytes; 0: there is none. */
static int find_turned(const nd_array *arrays, const nd_loop *loop) {
    int64_t most = 0;
    int found = 0;
    for (int d = 1; d < loop->ndim; d++) {
        int64_t bytes = 0;
        for (int k = 0; k < loop->narrays; k++)
            bytes += turned_bytes(arrays, loop, k, d);
        if (bytes > most) {
            most = bytes;
            found = d;
        }
    }
    return found;
}

/* The largest divisor of an extent from `least` to `most`; 0: there is none. */
static int64_t divisor(int64_t extent, int64_t least, int64_t most) {
    while (most >= least && extent % most)
        most--;
    return most >= least ? most : 0;
}

/* The sides, by the extents of dimension 0 and the other one; false: there are none without a rest. */
static bool choose_sides(int64_t extent, int64_t other, nd_square *out) {
    int d = out->dimension[1];
    int64_t side = divisor(other, SIDE_OTHER_LEAST, SIDE_OTHER);
    if (extent % SIDE == 0) {
        out->side[0] = SIDE;
        out->side[1] = side ? side : other;
        return true;
    }
    side = other <= ROWS_ALL ? other : divisor(other, 2, ROWS);
    if (side) {
        *out = (nd_square){.dimension = {d, 0}, .side = {side, extent}};
        return true;
    }
    out->side[0] = divisor(extent, SIDE_LONG_LEAST, SIDE_LONG);
    out->side[1] = other;
    return out->side[0] > 0;
}

/* Rows of dimension 0 that are so short follow each other within a square in any case. */
static bool is_short(const nd_loop *loop, int d) {
    return d == 1 && (loop->extent[0] <= SIDE || (loop->extent[0] <= SIDE_LONG && loop->extent[0] % SIDE));
}

bool nd_square_find(const nd_array *arrays, const nd_loop *loop, nd_square *out) {
    int d = loop->ndim <= ND_SQUARE_RANK ? find_turned(arrays, loop) : 0;
    *out = (nd_square){.dimension = {0, d}};
    return d && !is_short(loop, d) && choose_sides(loop->extent[0], loop->extent[d], out);
}

/* Adds a dimension of so many steps, each of `step` steps along dimension d of a loop. */
static void add_dimension(const nd_loop *from, int d, int64_t extent, int64_t step, nd_loop *to) {
    if (extent == 1)
        return;
    for (int k = 0; k < to->narrays; k++)
        to->stride[to->ndim * to->narrays + k] = step * stride_of(from, d, k);
    to->extent[to->ndim++] = extent;
}

void nd_square_cut(const nd_square *q, void *space, nd_loop *loop) {
    nd_loop from = *loop;
    nd_loop_init(space, from.ndim + ND_SQUARE_MORE, from.narrays, loop);
    memcpy(loop->offset, from.offset, (size_t)from.narrays * sizeof *from.offset);
    loop->ndim = 0;
    for (int i = 0; i < 2; i++)
        add_dimension(&from, q->dimension[i], q->side[i], 1, loop);
    for (int i = 0; i < 2; i++)
        add_dimension(&from, q->dimension[i], from.extent[q->dimension[i]] / q->side[i], q->side[i], loop);
    for (int d = 0; d < from.ndim; d++)
        if (d != q->dimension[0] && d != q->dimension[1])
            add_dimension(&from, d, from.extent[d], 1, loop);
    assert(loop->ndim <= from.ndim + ND_SQUARE_MORE);
}
