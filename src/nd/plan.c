/* plan.c - from the arrays of a call to one loop: broadcast, drop, order, flip, merge, classify. The loop visits exactly
 * the tuples of elements that the arrays' shapes define; under ND_KEEP_ORDER in C order. The caller gives the memory. */
#include "nd/nd.h"

size_t nd_space(int ndim, int narrays) {
    size_t dimensions = ndim > 0 ? (size_t)ndim : 1, arrays = (size_t)narrays;
    return (dimensions + arrays + dimensions * arrays) * sizeof(int64_t);
}

static void lay_out(void *space, int ndim, int narrays, nd_loop *out) {
    out->narrays = narrays;
    out->extent = space;
    out->offset = out->extent + (ndim > 0 ? ndim : 1);
    out->stride = out->offset + narrays;
}

/* One dimension that every array runs through element by element (or not at all, for count 1 and 0). */
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

/* Is a C-contiguous? *count is its number of elements. */
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

/* Are there arrays, all of one shape and C-contiguous? */
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

static int argument_of(const nd_array *arrays, int k, int nin) { return k >= nin && !arrays[k].output ? -1 : k; }

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
static uf_status check_fit(const nd_array *arrays, int k, int to, int nin) {
    const nd_array *a = &arrays[k], *b = &arrays[to];
    int argument = argument_of(arrays, k, nin);
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

/* The outputs' shape, which all others broadcast to; without outputs what the arrays broadcast to. */
static uf_status loop_shape(const nd_array *arrays, int narrays, int nin, int *ndim, int64_t *shape) {
    int to = nin;
    if (nin == narrays || !arrays[nin].output)
        return nd_broadcast(arrays, narrays, ndim, shape);
    /* Inputs against each other first: their quarrel is not the output's. */
    TRY(nd_broadcast(arrays, nin, ndim, shape));
    for (int k = 0; k < narrays; k++)
        if (arrays[k].output) {
            if (!same_shape(&arrays[k], &arrays[to]))
                return outputs_differ(arrays, k, to);
        } else if (!arrays[k].number) {
            TRY(check_fit(arrays, k, to, nin));
        }
    *ndim = arrays[to].ndim;
    memcpy(shape, arrays[to].shape, (size_t)*ndim * sizeof *shape);
    return UF_OK;
}

static uf_status count_of(const int64_t *shape, int ndim, int64_t *count) {
    bool overflow = false;
    *count = 1;
    for (int d = 0; d < ndim; d++)
        if (shape[d] == 0) {
            *count = 0;
            return UF_OK;
        }
    for (int d = 0; d < ndim; d++)
        overflow |= __builtin_mul_overflow(*count, shape[d], count);
    return overflow ? fail(UF_ERR_SHAPE, "the arguments broadcast to 2^63 elements or more") : UF_OK;
}

/* ---- Dimension records ---- */

/* Writes array k's strides into the records of the dimensions of extent > 1, innermost first. */
static void record_strides(const nd_array *a, int k, const int64_t *shape, int ndim, nd_loop *out) {
    int64_t dense = 1;
    for (int d = ndim - 1, record = 0; d >= 0; d--) {
        int own = d - (ndim - a->ndim);
        bool moves = !a->number && own >= 0 && a->shape[own] != 1;
        int64_t stride = !moves ? 0 : a->strides ? a->strides[own] : dense;
        if (moves && !a->strides)
            dense *= a->shape[own];
        if (shape[d] != 1)
            out->stride[record++ * out->narrays + k] = stride;
    }
}

static void record(const nd_array *arrays, const int64_t *shape, int ndim, nd_loop *out) {
    out->ndim = 0;
    for (int d = ndim - 1; d >= 0; d--)
        if (shape[d] != 1)
            out->extent[out->ndim++] = shape[d];
    for (int k = 0; k < out->narrays; k++) {
        out->offset[k] = 0;
        record_strides(&arrays[k], k, shape, ndim, out);
    }
}

/* A stride as a key for ordering; what stands still goes outside. */
static uint64_t sort_key(int64_t stride) {
    return stride == 0 ? UINT64_MAX : stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Does dimension record a belong inside b? Outputs decide, then the mask, then the inputs. */
static bool is_inner(const int64_t *a, const int64_t *b, int narrays, int nin) {
    for (int i = 0; i < narrays; i++) {
        int k = i + nin < narrays ? i + nin : i + nin - narrays;
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

/* By insertion: stable, and nearly always the order is right already. */
static void order(nd_loop *out, int nin) {
    int n = out->narrays;
    for (int i = 1; i < out->ndim; i++)
        for (int j = i; j > 0; j--) {
            int64_t *outer = out->stride + (size_t)j * (size_t)n, *inner = outer - n;
            if (!is_inner(outer, inner, n, nin))
                break;
            swap(outer, inner, n);
            swap(&out->extent[j], &out->extent[j - 1], 1);
        }
}

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
    for (int d = 0; d < out->ndim; d++) {
        int64_t *stride = out->stride + (size_t)d * (size_t)out->narrays;
        if (!runs_backwards(arrays, stride, out->narrays, nin))
            continue;
        for (int k = 0; k < out->narrays; k++) {
            out->offset[k] += (out->extent[d] - 1) * stride[k];
            stride[k] = -stride[k];
        }
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

static void merge(nd_loop *out) {
    int n = out->narrays, last = 0;
    for (int d = 1; d < out->ndim; d++) {
        int64_t *inner = out->stride + (size_t)last * (size_t)n, *outer = out->stride + (size_t)d * (size_t)n;
        if (mergeable(inner, outer, out->extent[last], n)) {
            out->extent[last] *= out->extent[d];
            continue;
        }
        last++;
        out->extent[last] = out->extent[d];
        if (last != d)
            memcpy(inner + n, outer, (size_t)n * sizeof *outer);
    }
    out->ndim = last + 1;
}

static void classify(const nd_array *arrays, nd_loop *out) {
    bool strided = false;
    for (int k = 0; k < out->narrays; k++) {
        int64_t stride = out->stride[k];
        out->kind[k] = arrays[k].number ? OPERAND_NUMBER
                       : stride == 1    ? OPERAND_CONTIGUOUS
                       : stride == 0    ? OPERAND_CONSTANT
                                        : OPERAND_STRIDED;
        strided |= out->kind[k] == OPERAND_STRIDED;
    }
    if (strided)
        out->loop = LOOP_GENERAL;
    else if (out->ndim == 1)
        out->loop = LOOP_FLAT;
    else
        out->loop = out->extent[0] >= ND_ROW_MIN ? LOOP_ROWS : LOOP_GENERAL;
}

uf_status nd_plan(const nd_array *arrays, int narrays, int nin, unsigned flags, void *space, nd_loop *out) {
    int64_t count, shape[UF_MAX_NDIM];
    int ndim;
    if (all_alike(arrays, narrays, &count)) {
        lay_out(space, 1, narrays, out);
        set_flat(arrays, narrays, count, out);
        return UF_OK;
    }
    TRY(loop_shape(arrays, narrays, nin, &ndim, shape));
    TRY(count_of(shape, ndim, &count));
    lay_out(space, ndim, narrays, out);
    if (count <= 1) {
        set_flat(arrays, narrays, count, out);
        return UF_OK;
    }
    out->count = count;
    record(arrays, shape, ndim, out);
    if (!(flags & ND_KEEP_ORDER)) {
        flip(arrays, out, nin);
        order(out, nin);
    }
    merge(out);
    classify(arrays, out);
    return UF_OK;
}
