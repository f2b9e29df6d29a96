/* broadcast.c - the shape that several arrays broadcast to, by NumPy's rule: shapes are aligned at their last
 * dimension, and the extents of a dimension must be equal or 1. */
#include "nd/nd.h"

/* Does the array take part in broadcasting? */
static bool takes_part(const nd_array *a) { return !a->number && a->role == ND_ELEMENTS; }

/* The first array before k with an extent other than 1 in a dimension, which is counted from the last one (1). */
static int first_with_extent(const nd_array *arrays, int k, int from_end) {
    for (int j = 0; j < k; j++)
        if (takes_part(&arrays[j]) && from_end <= arrays[j].ndim && arrays[j].shape[arrays[j].ndim - from_end] != 1)
            return j;
    return -1;
}

static uf_status disagree(const nd_array *arrays, int k, int from_end) {
    int j = first_with_extent(arrays, k, from_end), dimension = arrays[k].ndim - from_end,
        other = arrays[j].ndim - from_end;
    return nd_fail(UF_ERR_SHAPE, nd_argument(arrays, k), nd_dimension(&arrays[k], dimension),
                   "is %lld, but dimension %d of argument %d is %lld: they must be equal, or one of them 1",
                   (long long)arrays[k].shape[dimension], nd_dimension(&arrays[j], other), j,
                   (long long)arrays[j].shape[other]);
}

/* The shape that the arrays broadcast to. Its number of elements may overflow. */
static uf_status join(const nd_array *arrays, int n, int *ndim, int64_t *shape) {
    *ndim = 0;
    for (int k = 0; k < n; k++)
        if (takes_part(&arrays[k]) && arrays[k].ndim > *ndim)
            *ndim = arrays[k].ndim;
    for (int d = 0; d < *ndim; d++)
        shape[d] = 1;
    for (int k = 0; k < n; k++) {
        if (!takes_part(&arrays[k]))
            continue;
        for (int d = 0; d < arrays[k].ndim; d++) {
            int64_t extent = arrays[k].shape[d], *common = &shape[*ndim - arrays[k].ndim + d];
            if (extent == 1 || extent == *common)
                continue;
            if (*common != 1)
                return disagree(arrays, k, arrays[k].ndim - d);
            *common = extent;
        }
    }
    return UF_OK;
}

uf_status nd_broadcast(const nd_array *arrays, int n, int *ndim, int64_t *shape) {
    int64_t count;
    TRY(join(arrays, n, ndim, shape));
    return nd_count(shape, *ndim, &count);
}
