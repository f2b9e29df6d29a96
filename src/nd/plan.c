/* plan.c - makes one loop from the arrays of a call: broadcasts, drops dimensions of extent 1, orders, flips, merges
 * and classifies them. The loop visits exactly the tuples of elements that the arrays' shapes define, and visits them
 * in C order under ND_KEEP_ORDER. */
#include "nd/nd.h"

/* A loop of one dimension, through which every array runs element by element. It also stands for loops of one element
 * or none. */
static void set_flat(const nd_array *arrays, int narrays, int64_t count, nd_loop *out) {
    out->ndim = 1;
    out->count = out->extent[0] = count;
    out->loop = LOOP_FLAT;
    for (int k = 0; k < narrays; k++) {
        out->offset[k] = 0;
        out->stride[k] = !arrays[k].number;
        out->kind[k] = arrays[k].number ? OPERAND_NUMBER : OPERAND_CONTIGUOUS;
    }
}

/* ---- The fast path ---- */

/* Is the array C-contiguous? *count is its number of elements. */
static bool is_contiguous(const nd_array *a, int64_t *count) {
    *count = 1;
    for (int d = a->ndim - 1; d >= 0; d--) {
        if (a->shape[d] != 1 && a->strides && a->strides[d] != *count)
            return false;
        if (__builtin_mul_overflow(*count, a->shape[d], count))
            return false;
    }
    return true;
}

static bool same_shape(const nd_array *a, const nd_array *b) {
    if (a->ndim != b->ndim)
        return false;
    if (a->shape != b->shape)
        for (int d = 0; d < a->ndim; d++)
            if (a->shape[d] != b->shape[d])
                return false;
    return true;
}

/* Are all arrays but numbers of one shape and C-contiguous, and is there one? *count is their number of elements. */
static bool all_alike(const nd_array *arrays, int narrays, int64_t *count) {
    const nd_array *first = NULL;
    for (int k = 0; k < narrays; k++) {
        const nd_array *a = &arrays[k];
        int64_t elements;
        if (a->number)
            continue;
        if (first && !same_shape(first, a))
            return false;
        if (!first) {
            first = a;
            if (!is_contiguous(a, count))
                return false;
        } else if (a->strides && a->strides != first->strides && !is_contiguous(a, &elements)) {
            return false;
        }
    }
    return first != NULL;
}

/* ---- The loop's shape ---- */

static uf_status outputs_differ(const nd_array *arrays, int k, int first) {
    const nd_array *a = &arrays[k], *b = &arrays[first];
    if (a->ndim != b->ndim)
        return nd_fail(UF_ERR_SHAPE, k, -1, "its %s is %d, but that of argument %d, an output too, is %d",
                       nd_rank(a->core ? a : b), a->ndim, first, b->ndim);
    int d = 0;
    while (a->shape[d] == b->shape[d])
        d++;
    return nd_fail(UF_ERR_SHAPE, k, nd_dimension(a, d), "is %lld, but that of argument %d, an output too, is %lld",
                   (long long)a->shape[d], first, (long long)b->shape[d]);
}

/* Does array k broadcast to the shape of output `to`? */
static uf_status check_fit(const nd_array *arrays, int k, int to) {
    const nd_array *a = &arrays[k], *b = &arrays[to];
    int argument = nd_argument(arrays, k);
    if (a->ndim > b->ndim)
        return nd_fail(UF_ERR_SHAPE, argument, -1, "its %s is %d, but that of argument %d, an output, is %d",
                       nd_rank(a->core ? a : b), a->ndim, to, b->ndim);
    for (int d = 0, shift = b->ndim - a->ndim; d < a->ndim; d++)
        if (a->shape[d] != 1 && a->shape[d] != b->shape[d + shift])
            return nd_fail(UF_ERR_SHAPE, argument, nd_dimension(a, d),
                           "is %lld, but dimension %d of argument %d, an output, is %lld: it must be that or 1",
                           (long long)a->shape[d], nd_dimension(b, d + shift), to, (long long)b->shape[d + shift]);
    return UF_OK;
}

/* Have all arrays but numbers the shape of array `to`, which is none? */
static bool all_of_shape(const nd_array *arrays, int narrays, int to) {
    for (int k = 0; k < narrays; k++)
        if (!arrays[k].number && !same_shape(&arrays[k], &arrays[to]))
            return false;
    return true;
}

/* The shape of the loop: that of the outputs, which all others must broadcast to; without outputs the one that the
 * arrays broadcast to. */
static uf_status loop_shape(const nd_array *arrays, int narrays, int nin, int *ndim, int64_t *shape) {
    int to = nin;
    if (nin == narrays || !arrays[nin].output)
        return nd_broadcast(arrays, narrays, ndim, shape);
    if (!all_of_shape(arrays, narrays, to)) {
        /* Inputs are compared with each other first: an error between two of them should not name an output. */
        TRY(nd_broadcast(arrays, nin, ndim, shape));
        for (int k = 0; k < narrays; k++)
            if (arrays[k].output) {
                if (!same_shape(&arrays[k], &arrays[to]))
                    return outputs_differ(arrays, k, to);
            } else if (!arrays[k].number) {
                TRY(check_fit(arrays, k, to));
            }
    }
    *ndim = arrays[to].ndim;
    memcpy(shape, arrays[to].shape, (size_t)*ndim * sizeof *shape);
    return UF_OK;
}

/* ---- Order and direction ---- */

static bool runs_backwards(const nd_array *arrays, const int64_t *stride, int narrays, int nin) {
    if (nin < narrays && arrays[nin].output)
        return stride[nin] < 0;
    bool negative = false;
    for (int k = 0; k < narrays; k++) {
        if (stride[k] > 0)
            return false;
        negative |= stride[k] < 0;
    }
    return negative;
}

static void flip(const nd_array *arrays, nd_loop *out, int nin) {
    for (int d = 0; d < out->ndim; d++)
        if (runs_backwards(arrays, out->stride + (size_t)d * (size_t)out->narrays, out->narrays, nin))
            nd_loop_flip(out, d);
}

static void record(const nd_array *arrays, const int64_t *shape, int ndim, nd_loop *out) {
    int64_t stride[UF_MAX_NDIM];
    nd_loop_extents(shape, ndim, out);
    for (int k = 0; k < out->narrays; k++) {
        out->offset[k] = 0;
        nd_loop_strides(&arrays[k], ndim, stride);
        nd_loop_record(shape, ndim, stride, k, out);
    }
}

/* The loop of arrays that are not all contiguous and of one shape. Not inlined: it needs much of the stack, and most
 * calls do without it. */
static __attribute__((noinline)) uf_status plan_unlike(const nd_array *arrays, int narrays, int nin, unsigned flags,
                                                       void *space, nd_loop *out) {
    int64_t count, shape[UF_MAX_NDIM];
    int ndim;
    TRY(loop_shape(arrays, narrays, nin, &ndim, shape));
    TRY(nd_count(shape, ndim, &count));
    nd_loop_init(space, ndim, narrays, out);
    if (count <= 1) {
        set_flat(arrays, narrays, count, out);
        return UF_OK;
    }
    out->count = count;
    record(arrays, shape, ndim, out);
    if (!(flags & ND_KEEP_ORDER)) {
        flip(arrays, out, nin);
        nd_loop_order(out, nin);
    }
    nd_loop_merge(out);
    out->loop = nd_loop_class(out, nd_loop_kinds(arrays, out));
    return UF_OK;
}

uf_status nd_plan(const nd_array *arrays, int narrays, int nin, unsigned flags, void *space, nd_loop *out) {
    int64_t count;
    if (!all_alike(arrays, narrays, &count))
        return plan_unlike(arrays, narrays, nin, flags, space, out);
    nd_loop_init(space, 1, narrays, out);
    set_flat(arrays, narrays, count, out);
    return UF_OK;
}
