/* tile.c - elementwise loops across memory order: some input lies side by side along another dimension than the loop's innermost, as the
 * transposed one of a + b.T does. From the strides of the arrays to the two dimensions that such a loop is cut into tiles along. */
#include "nd/nd.h"

static int64_t stride_of(const nd_loop *loop, int d, int k) { return loop->stride[d * loop->narrays + k]; }

static bool is_unit(int64_t stride) { return stride == 1 || stride == -1; }

bool nd_is_across(const nd_loop *loop, int k) {
    int64_t inner = stride_of(loop, 0, k);
    return inner && !is_unit(inner) && is_unit(stride_of(loop, 1, k));
}

bool nd_is_dense(const nd_loop *loop, int k) {
    return stride_of(loop, 1, k) == 1 && stride_of(loop, 0, k) == loop->extent[1];
}

/* Bytes of an element in all inputs, and the mask, that lie side by side along dimension d, and not along dimension 0. */
static int bytes_across(const nd_array *arrays, const nd_loop *loop, int d) {
    int bytes = 0;
    for (int k = 0; k < loop->narrays; k++) {
        int64_t inner = stride_of(loop, 0, k);
        if (!arrays[k].output && inner && !is_unit(inner) && is_unit(stride_of(loop, d, k)))
            bytes += arrays[k].size;
    }
    return bytes;
}

static void swap_dimensions(nd_loop *loop, int a, int b) {
    int64_t extent = loop->extent[a];
    loop->extent[a] = loop->extent[b];
    loop->extent[b] = extent;
    for (int k = 0; k < loop->narrays; k++) {
        int64_t *x = &loop->stride[a * loop->narrays + k], *y = &loop->stride[b * loop->narrays + k], was = *x;
        *x = *y;
        *y = was;
    }
}

void nd_tile(const nd_array *arrays, nd_loop *loop) {
    int along = 0, most = 0;
    for (int d = 1; loop->loop == LOOP_GENERAL && d < loop->ndim; d++) {
        int bytes = bytes_across(arrays, loop, d);
        if (bytes > most) {
            most = bytes;
            along = d;
        }
    }
    if (!along || (loop->extent[0] < ND_TILE_MIN && loop->extent[along] < ND_TILE_MIN))
        return;
    swap_dimensions(loop, 1, along);
    if (loop->extent[0] <= ND_NARROW_MAX && loop->extent[0] < loop->extent[1])
        swap_dimensions(loop, 0, 1);
    nd_loop_kinds(arrays, loop);
    loop->loop = LOOP_TILE;
}
