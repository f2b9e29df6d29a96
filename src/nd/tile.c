/* tile.c - elementwise loops across memory order: some array lies side by side along another dimension than the loop's innermost, as the
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

/* Does array k lie side by side along dimension d, and not along dimension `from`, in which it moves? */
static bool is_turned(const nd_loop *loop, int k, int from, int d) {
    int64_t other = stride_of(loop, from, k);
    return other && !is_unit(other) && is_unit(stride_of(loop, d, k));
}

/* Bytes of an element in all inputs, the mask and perhaps the outputs that do. */
static int bytes_turned(const nd_array *arrays, const nd_loop *loop, bool outputs, int from, int d) {
    int bytes = 0;
    for (int k = 0; k < loop->narrays; k++)
        bytes += (outputs || !arrays[k].output) && is_turned(loop, k, from, d) ? arrays[k].size : 0;
    return bytes;
}

static bool has_output_turned(const nd_array *arrays, const nd_loop *loop, int d) {
    for (int k = 0; k < loop->narrays; k++)
        if (arrays[k].output && is_turned(loop, k, 0, d))
            return true;
    return false;
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

void nd_tile(const nd_array *arrays, bool outputs, int narrow, nd_loop *loop) {
    int along = 0, most = 0;
    for (int d = 1; loop->loop == LOOP_GENERAL && d < loop->ndim; d++) {
        int bytes = bytes_turned(arrays, loop, outputs, 0, d);
        if (bytes > most) {
            most = bytes;
            along = d;
        }
    }
    if (!along || (loop->extent[0] < ND_TILE_MIN && loop->extent[along] < ND_TILE_MIN))
        return;
    int against = outputs ? bytes_turned(arrays, loop, true, along, 0) : 0;
    bool turned = against && most > against && has_output_turned(arrays, loop, along);
    swap_dimensions(loop, 1, along);
    if (turned)
        swap_dimensions(loop, 0, 1);
    if (loop->extent[0] <= narrow && loop->extent[0] < loop->extent[1])
        swap_dimensions(loop, 0, 1);
    nd_loop_kinds(arrays, loop);
    loop->loop = LOOP_TILE;
}
