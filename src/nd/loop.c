/* loop.c - the steps of making a loop: its dimensions from shapes and strides, their order, direction and merging.
 * nd_plan and nd_fold_plan say which dimensions a loop has and how they are ordered. */
#include "nd/nd.h"

#include <assert.h>

size_t nd_space(int ndim, int narrays) {
    size_t dimensions = ndim > 0 ? (size_t)ndim : 1, arrays = (size_t)narrays;
    return (dimensions + arrays + dimensions * arrays) * sizeof(int64_t);
}

void *nd_loop_init(void *space, int ndim, int narrays, nd_loop *out) {
    int dimensions = ndim > 0 ? ndim : 1;
    out->narrays = narrays;
    out->extent = space;
    out->offset = out->extent + dimensions;
    out->stride = out->offset + narrays;
    return out->stride + (size_t)dimensions * (size_t)narrays;
}

uf_status nd_count(const int64_t *shape, int ndim, int64_t *count) {
    int64_t product = 1;
    bool overflow = false, empty = false;
    for (int d = 0; d < ndim; d++) {
        empty |= shape[d] == 0;
        overflow |= __builtin_mul_overflow(product, shape[d], &product);
    }
    *count = empty ? 0 : product;
    return overflow && !empty ? fail(UF_ERR_SHAPE, "the arguments broadcast to 2^63 elements or more") : UF_OK;
}

void nd_loop_strides(const nd_array *a, int ndim, int64_t *stride) {
    int64_t dense = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        int own = d - (ndim - a->ndim);
        bool moves = !a->number && own >= 0 && a->shape[own] != 1;
        stride[d] = !moves ? 0 : a->strides ? a->strides[own] : dense;
        if (moves && !a->strides)
            dense *= a->shape[own];
    }
}

void nd_loop_extents(const int64_t *shape, int ndim, nd_loop *out) {
    out->ndim = 0;
    for (int d = ndim - 1; d >= 0; d--)
        if (shape[d] != 1)
            out->extent[out->ndim++] = shape[d];
}

void nd_loop_record(const int64_t *shape, int ndim, const int64_t *stride, int k, nd_loop *out) {
    assert(k >= 0 && k < out->narrays);
    for (int d = ndim - 1, record = 0; d >= 0; d--)
        if (shape[d] != 1)
            out->stride[record++ * out->narrays + k] = stride[d];
}

/* The key by which a stride is ordered: its magnitude, but the largest key for 0, so that dimensions in which an array
 * stands still go outside. */
static uint64_t sort_key(int64_t stride) {
    return stride == 0 ? UINT64_MAX : stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Does the dimension with strides a belong inside the one with strides b? The arrays are asked in turn, from `first`
 * on. */
static bool is_inner(const int64_t *a, const int64_t *b, int narrays, int first) {
    for (int i = 0; i < narrays; i++) {
        int k = i + first < narrays ? i + first : i + first - narrays;
        if (sort_key(a[k]) != sort_key(b[k]))
            return sort_key(a[k]) < sort_key(b[k]);
    }
    return false;
}

static void swap(int64_t *a, int64_t *b, int n) {
    for (int i = 0; i < n; i++) {
        int64_t t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* By insertion, which is stable; and mostly the order is right already. */
void nd_loop_order(nd_loop *loop, int first) {
    int n = loop->narrays;
    for (int i = 1; i < loop->ndim; i++)
        for (int j = i; j > 0; j--) {
            int64_t *outer = loop->stride + (size_t)j * (size_t)n, *inner = outer - n;
            if (!is_inner(outer, inner, n, first))
                break;
            swap(outer, inner, n);
            swap(&loop->extent[j], &loop->extent[j - 1], 1);
        }
}

void nd_loop_flip(nd_loop *loop, int d) {
    assert(d >= 0 && d < loop->ndim && loop->extent[d] > 0); /* there is a last element to begin with */
    int64_t *stride = loop->stride + (size_t)d * (size_t)loop->narrays;
    for (int k = 0; k < loop->narrays; k++) {
        loop->offset[k] += (loop->extent[d] - 1) * stride[k];
        stride[k] = -stride[k];
    }
}

static bool mergeable(const int64_t *inner, const int64_t *outer, int64_t extent, int narrays) {
    for (int k = 0; k < narrays; k++) {
        int64_t end;
        if (__builtin_mul_overflow(extent, inner[k], &end) || end != outer[k])
            return false;
    }
    return true;
}

void nd_loop_merge(nd_loop *loop) {
    assert(loop->ndim > 0); /* a loop of one element is flat, and is not merged */
    int n = loop->narrays, last = 0;
    for (int d = 1; d < loop->ndim; d++) {
        int64_t *inner = loop->stride + (size_t)last * (size_t)n, *outer = loop->stride + (size_t)d * (size_t)n;
        if (mergeable(inner, outer, loop->extent[last], n)) {
            loop->extent[last] *= loop->extent[d];
            continue;
        }
        last++;
        loop->extent[last] = loop->extent[d];
        if (last != d)
            memcpy(inner + n, outer, (size_t)n * sizeof *outer);
    }
    loop->ndim = last + 1;
}

bool nd_loop_kinds(const nd_array *arrays, nd_loop *loop) {
    bool strided = false;
    for (int k = 0; k < loop->narrays; k++) {
        int64_t stride = loop->stride[k];
        loop->kind[k] = arrays[k].number                ? OPERAND_NUMBER
                        : arrays[k].role == ND_POSITION ? OPERAND_POSITION
                        : stride == 1                   ? OPERAND_CONTIGUOUS
                        : stride == 0                   ? OPERAND_CONSTANT
                                                        : OPERAND_STRIDED;
        strided |= loop->kind[k] == OPERAND_STRIDED;
    }
    return strided;
}

loop_class nd_loop_class(const nd_loop *loop, bool strided) {
    if (strided)
        return LOOP_GENERAL;
    if (loop->ndim == 1)
        return LOOP_FLAT;
    return loop->extent[0] >= ND_ROW_MIN ? LOOP_ROWS : LOOP_GENERAL;
}
