/* indices.c - the index arrays of uf_at that the host reads: is every index within the target? */
#include "core/at.h"

enum {
    CHUNK = 1024 /* indices that are checked together */
};

/* Defines a function that finds the first of n indices that is out of range, or gives n. Signed indices may count from the end: adding
 * `up`, the extent, to all of them makes the valid range 0 .. last, in the unsigned type that is as wide. CHUNK neighbours are
 * checked at once, with vector instructions; only where one is beyond are they looked at one by one. A type that has no value
 * out of range need not be looked at. beyond: of an index, 0 or 1, as the vector instructions that all processors have
 * compute it best. */
#define OUTSIDE(name, type, bits, counts_down, beyond)                                                      \
    static bool name##_chunk(const type *x, uint##bits##_t up, uint##bits##_t last) {                       \
        uint##bits##_t any = 0;                                                                             \
        for (int i = 0; i < CHUNK; i++) {                                                                   \
            uint##bits##_t index = (uint##bits##_t)((uint##bits##_t)x[i] + up);                             \
            any |= (uint##bits##_t)(beyond);                                                                \
        }                                                                                                   \
        return any;                                                                                         \
    }                                                                                                       \
    static int64_t name(const void *data, int64_t n, int64_t stride, int64_t extent) {                      \
        const type *x = data;                                                                               \
        const uint64_t up = (counts_down) ? (uint64_t)extent : 0, last = (uint64_t)extent + up - 1;         \
        if (extent && last >= UINT##bits##_MAX)                                                             \
            return n;                                                                                       \
        for (int64_t first = 0, end; first < n; first = end) {                                              \
            end = n - first < CHUNK ? n : first + CHUNK;                                                    \
            if (stride == 1 && end - first == CHUNK && extent &&                                            \
                !name##_chunk(x + first, (uint##bits##_t)up, (uint##bits##_t)last))                         \
                continue;                                                                                   \
            for (int64_t i = first; i < end; i++)                                                           \
                if (!extent || (uint##bits##_t)((uint##bits##_t)x[i * stride] + (uint##bits##_t)up) > last) \
                    return i;                                                                               \
        }                                                                                                   \
        return n;                                                                                           \
    }
/* Both an index and its distance from `last` have no sign bit if it is within: 64 bits are not compared by vectors everywhere. */
#define SIGNS (index | (last - index)) >> 63
OUTSIDE(outside_int8, int8_t, 8, true, index > last)
OUTSIDE(outside_int16, int16_t, 16, true, index > last)
OUTSIDE(outside_int32, int32_t, 32, true, index > last)
OUTSIDE(outside_int64, int64_t, 64, true, SIGNS)
OUTSIDE(outside_uint8, uint8_t, 8, false, index > last)
OUTSIDE(outside_uint16, uint16_t, 16, false, index > last)
OUTSIDE(outside_uint32, uint32_t, 32, false, index > last)
OUTSIDE(outside_uint64, uint64_t, 64, false, SIGNS)

typedef int64_t find_outside(const void *data, int64_t n, int64_t stride, int64_t extent);
static find_outside *const outside_of[DT_COUNT] = {
    [DT_INT8] = outside_int8,     [DT_INT16] = outside_int16,  [DT_INT32] = outside_int32,
    [DT_INT64] = outside_int64,   [DT_UINT8] = outside_uint8,  [DT_UINT16] = outside_uint16,
    [DT_UINT32] = outside_uint32, [DT_UINT64] = outside_uint64};

/* The position, in C order, of the first index out of range in a loop over one array, and its address in *at; -1:
 * all are in range. */
static int64_t outside_loop(const nd_loop *loop, const char *data, dtype type, int64_t extent, const char **at) {
    int64_t index[UF_MAX_NDIM] = {0}, size = dtypes[type].size, n = loop->extent[0];
    for (int64_t row = 0; row < loop->count; row += n) {
        int64_t bad = outside_of[type](data, n, loop->stride[0], extent);
        *at = data + bad * loop->stride[0] * size;
        if (bad < n)
            return row + bad;
        for (int d = 1; d < loop->ndim; d++) {
            data += loop->stride[d] * size;
            if (++index[d] < loop->extent[d])
                break;
            data -= loop->stride[d] * loop->extent[d] * size;
            index[d] = 0;
        }
    }
    return -1;
}

/* Prints "element (2, 3) ", or "" for a rank of 0. */
static void position_print(text *t, const at_index *x, int64_t position) {
    int64_t index[UF_MAX_NDIM];
    for (int d = x->ndim - 1; d >= 0; d--) {
        index[d] = position % x->shape[d];
        position /= x->shape[d];
    }
    for (int d = 0; d < x->ndim; d++)
        text_printf(t, "%s%lld%s", d ? ", " : "element (", (long long)index[d], d == x->ndim - 1 ? ") " : "");
}

static uf_status index_outside(int i, const at_index *x, int64_t position, const char *at) {
    number found = number_read(x->type, at);
    text t = {0};
    position_print(&t, x, position);
    text_printf(&t, dtypes[x->type].is_signed ? "is %lld" : "is %llu", (long long)found.as.i);
    text_printf(&t, ", but dimension %d of target is %lld: ", i, (long long)x->extent);
    if (!x->extent)
        text_puts(&t, "there is no index");
    else
        text_printf(&t, "%lld to %lld are possible", dtypes[x->type].is_signed ? -(long long)x->extent : 0LL,
                    (long long)x->extent - 1);
    uf_status s = t.failed ? fail_memory() : fail_argument(UF_ERR_ARGUMENT, 1 + i, -1, "%s", t.data);
    text_free(&t);
    return s;
}

uf_status indices_check(const at_part *part, void *const *data) {
    for (int i = 0; i < part->nindices; i++) {
        const at_index *x = &part->index[i];
        const char *at;
        int64_t position = outside_loop(&x->loop, data[i], x->type, x->extent, &at);
        if (position >= 0)
            return index_outside(i, x, position, at);
    }
    return UF_OK;
}

uf_status indices_lay(uf_plan *p, const nd_array *arrays, const dtype *types, const int64_t *extents) {
    at_part *part = &p->at;
    part->index = plan_space(p, (size_t)part->nindices * sizeof *part->index);
    if (!part->index)
        return fail_memory();
    for (int i = 0; i < part->nindices; i++) {
        at_index *x = &part->index[i];
        size_t shape = (size_t)arrays[i].ndim * sizeof *x->shape;
        void *space = plan_space(p, nd_space(arrays[i].ndim, 1));
        x->type = types[i];
        x->extent = extents[i];
        x->ndim = arrays[i].ndim;
        x->shape = plan_space(p, shape);
        if (!space || !x->shape)
            return fail_memory();
        if (shape)
            memcpy(x->shape, arrays[i].shape, shape);
        TRY(nd_plan(&arrays[i], 1, 1, ND_KEEP_ORDER, space, &x->loop));
    }
    return UF_OK;
}
