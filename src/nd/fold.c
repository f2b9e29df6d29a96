/* fold.c - makes the two loops of a reduction from its arrays: one over the results, one over the elements of a
 * result. */
#include <assert.h>

#include "nd/nd.h"

#include <assert.h>

size_t nd_fold_space(int ndim, int narrays) {
    /* Each loop has at least one dimension, even if it needs none, and with segments the axis is a dimension of both
     * loops: so there may be two dimensions more than the rank. */
    size_t dimensions = (size_t)ndim + 2, arrays = (size_t)narrays;
    return (dimensions + 2 * arrays + dimensions * arrays) * sizeof(int64_t);
}

/* ---- Axes and shapes ---- */

static uint64_t bit(int d) { return (uint64_t)1 << d; }

/* Checks the number of axes before any is read. Of an array of rank 0 one axis is read: the message then says which
 * value was out of range. */
static uf_status axes_counted(int naxes, const int *axes, int ndim) {
    if (naxes < 0)
        return fail(UF_ERR_ARGUMENT, "naxes is %d; it must be a number of axes, or UF_NO_AXES (%d)", naxes, UF_NO_AXES);
    if (naxes > (ndim > 1 ? ndim : 1))
        return fail(UF_ERR_ARGUMENT, "naxes is %d, but the rank of what is reduced is %d", naxes, ndim);
    if (!axes && naxes)
        return fail(UF_ERR_ARGUMENT, "naxes is %d, but axes, which names them, is NULL", naxes);
    if (axes && !naxes)
        return fail(
            UF_ERR_ARGUMENT,
            "axes is given without naxes: naxes, which is 0, is how many axes it has (UF_NO_AXES reduces none)");
    return UF_OK;
}

uf_status nd_axes(int naxes, const int *axes, int ndim, uint64_t *out) {
    *out = 0;
    if (naxes == UF_NO_AXES)
        return UF_OK;
    TRY(axes_counted(naxes, axes, ndim));
    if (!axes)
        *out = ndim == UF_MAX_NDIM ? UINT64_MAX : bit(ndim) - 1;
    for (int i = 0; i < naxes; i++) {
        int axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim)
            return fail(UF_ERR_ARGUMENT, "axis %d is out of range: the rank of what is reduced is %d", axes[i], ndim);
        if (*out & bit(axis))
            return fail(UF_ERR_ARGUMENT, "axis %d occurs twice (axes[%d] is %d, the rank %d)", axis, i, axes[i], ndim);
        *out |= bit(axis);
    }
    return UF_OK;
}

uf_status nd_fold_shape(const nd_array *arrays, int narrays, int *ndim, int64_t *shape) {
    return nd_broadcast(arrays, narrays, ndim, shape);
}

void nd_fold_results(int ndim, const int64_t *shape, uint64_t axes, unsigned flags, int *out_ndim, int64_t *out_shape) {
    *out_ndim = 0;
    for (int d = 0; d < ndim; d++) {
        bool gone = axes & bit(d) && !(flags & ND_SCAN);
        if (!gone || flags & ND_KEEPDIMS)
            out_shape[(*out_ndim)++] = gone ? 1 : shape[d];
    }
}

/* What a call reduces. kept and reduced are the shapes of the two loops; both have the rank of the elements, with an
 * extent of 1 for each dimension that the loop does not have. */
typedef struct fold_request {
    const nd_array *arrays;
    int narrays, ndim, results_ndim;
    uint64_t axes;
    unsigned flags;
    bool segments;
    int64_t kept[UF_MAX_NDIM], reduced[UF_MAX_NDIM], results[UF_MAX_NDIM];
} fold_request;

static const nd_array *bounds_of(const nd_array *arrays, int narrays) {
    for (int k = 0; k < narrays; k++)
        if (arrays[k].role == ND_BOUNDS)
            return &arrays[k];
    return NULL;
}

static uf_status shapes_resolve(fold_request *s) {
    int64_t shape[UF_MAX_NDIM], count;
    const nd_array *bounds = bounds_of(s->arrays, s->narrays);
    TRY(nd_fold_shape(s->arrays, s->narrays, &s->ndim, shape));
    TRY(nd_count(shape, s->ndim, &count));
    s->segments = bounds;
    for (int d = 0; d < s->ndim; d++) {
        bool axis = s->axes & bit(d);
        s->reduced[d] = axis ? shape[d] : 1;
        s->kept[d] = !axis ? shape[d] : bounds ? bounds->shape[0] : 1;
    }
    if (bounds) {
        s->results_ndim = s->ndim;
        memcpy(s->results, s->kept, (size_t)s->ndim * sizeof *s->results);
    } else {
        nd_fold_results(s->ndim, shape, s->axes, s->flags, &s->results_ndim, s->results);
    }
    return UF_OK;
}

static uf_status outputs_check(const fold_request *s) {
    for (int k = 0; k < s->narrays; k++) {
        const nd_array *a = &s->arrays[k];
        if (a->role != ND_RESULTS || !a->output)
            continue;
        if (a->ndim != s->results_ndim)
            return nd_fail(UF_ERR_SHAPE, k, -1, "its rank is %d, but that of the results is %d%s", a->ndim,
                           s->results_ndim, s->results_ndim ? "" : ", since all axes are reduced");
        for (int d = 0; d < a->ndim; d++)
            if (a->shape[d] != s->results[d])
                return nd_fail(UF_ERR_SHAPE, k, d, "is %lld, but that of the results is %lld", (long long)a->shape[d],
                               (long long)s->results[d]);
    }
    return UF_OK;
}

/* ---- Strides, by the dimensions of the elements ---- */

typedef struct movement {
    int64_t kept[UF_MAX_NDIM], reduced[UF_MAX_NDIM];
} movement;

static void elements_move(const fold_request *s, const nd_array *a, movement *out) {
    nd_loop_strides(a, s->ndim, out->reduced);
    bool inside = s->segments && s->flags & ND_SEGMENTS_INSIDE; /* until they are ordered */
    for (int d = 0; d < s->ndim; d++)
        out->kept[d] = s->axes & bit(d) && !inside ? 0 : out->reduced[d];
}

static void results_move(const fold_request *s, const nd_array *a, movement *out) {
    int64_t own[UF_MAX_NDIM];
    bool all = s->results_ndim == s->ndim;
    nd_loop_strides(a, s->results_ndim, own);
    for (int d = 0, i = 0; d < s->ndim; d++) {
        bool gone = s->axes & bit(d) && !all;
        out->kept[d] = gone ? 0 : own[i++];
        out->reduced[d] = s->flags & ND_SCAN ? out->kept[d] : 0;
    }
}

static void position_moves(const fold_request *s, const nd_array *a, movement *out) {
    (void)a;
    int64_t dense = 1;
    for (int d = s->ndim - 1; d >= 0; d--) {
        out->kept[d] = 0;
        out->reduced[d] = dense;
        dense *= s->reduced[d];
    }
}

static void bounds_move(const fold_request *s, const nd_array *a, movement *out) {
    for (int d = 0; d < s->ndim; d++) {
        out->kept[d] = !(s->axes & bit(d)) ? 0 : a->strides ? a->strides[0] : 1;
        out->reduced[d] = 0;
    }
}

static void (*const moves[])(const fold_request *s, const nd_array *a, movement *out) = {
    [ND_ELEMENTS] = elements_move,
    [ND_RESULTS] = results_move,
    [ND_POSITION] = position_moves,
    [ND_BOUNDS] = bounds_move,
};

/* ---- The loops ---- */

/* A loop of one dimension, of extent 0 or 1. Every array that would move in the loop has stride 1. */
static void set_single(const fold_request *s, bool kept, nd_loop *out) {
    out->ndim = 1;
    out->extent[0] = out->count;
    for (int k = 0; k < s->narrays; k++) {
        const nd_array *a = &s->arrays[k];
        bool results = a->role == ND_RESULTS || a->role == ND_BOUNDS;
        bool still = a->number || (kept ? a->role == ND_POSITION : results && !(s->flags & ND_SCAN));
        out->stride[k] = !still;
    }
}

static void flip(nd_loop *loop) {
    for (int d = 0; d < loop->ndim; d++) {
        const int64_t *stride = loop->stride + (size_t)d * (size_t)loop->narrays;
        int k = 0;
        while (k < loop->narrays - 1 && stride[k] == 0)
            k++;
        if (stride[k] < 0)
            nd_loop_flip(loop, d);
    }
}

/* Elements stand still along the dimension of the segments, which was ordered as they lie. */
static void hold_elements(const fold_request *s, nd_loop *out) {
    for (int d = 0; d < out->ndim; d++) {
        int64_t *stride = out->stride + (size_t)d * (size_t)out->narrays;
        if (!stride[bounds_of(s->arrays, s->narrays) - s->arrays])
            continue;
        for (int k = 0; k < out->narrays; k++)
            if (s->arrays[k].role == ND_ELEMENTS)
                stride[k] = 0;
    }
}

static void loop_finish(const fold_request *s, bool kept, nd_loop *out) {
    if (out->count <= 1) {
        set_single(s, kept, out);
    } else {
        if (kept || !(s->flags & (ND_KEEP_ORDER | ND_SCAN) || s->segments)) {
            nd_loop_order(out, 0);
            if (kept && s->segments && s->flags & ND_SEGMENTS_INSIDE)
                hold_elements(s, out);
            flip(out);
        }
        nd_loop_merge(out);
    }
    nd_loop_kinds(s->arrays, out);
    out->loop = s->flags & ND_SCAN ? LOOP_SCAN : LOOP_FOLD;
}

/* Moves the offsets of the reduced loop to the kept one. */
static void offsets_join(nd_fold *f) {
    for (int k = 0; k < f->kept.narrays; k++) {
        f->kept.offset[k] += f->reduced.offset[k];
        f->reduced.offset[k] = 0;
    }
}

static void record(const fold_request *s, nd_fold *out) {
    movement m;
    nd_loop_extents(s->kept, s->ndim, &out->kept);
    nd_loop_extents(s->reduced, s->ndim, &out->reduced);
    for (int k = 0; k < s->narrays; k++) {
        const nd_array *a = &s->arrays[k];
        out->kept.offset[k] = out->reduced.offset[k] = 0;
        moves[a->role](s, a, &m);
        nd_loop_record(s->kept, s->ndim, m.kept, k, &out->kept);
        nd_loop_record(s->reduced, s->ndim, m.reduced, k, &out->reduced);
    }
}

uf_status nd_fold_plan(const nd_array *arrays, int narrays, uint64_t axes, unsigned flags, void *space, nd_fold *out) {
    fold_request s;
    s.arrays = arrays;
    s.narrays = narrays;
    s.axes = axes;
    s.flags = flags;
    TRY(shapes_resolve(&s));
    TRY(outputs_check(&s));
    TRY(nd_count(s.kept, s.ndim, &out->kept.count));
    TRY(nd_count(s.reduced, s.ndim, &out->reduced.count));
    assert(!(s.segments || flags & ND_SCAN) || __builtin_popcountll(axes) == 1);
    int reduced_ndim = __builtin_popcountll(axes), kept_ndim = s.segments ? s.ndim : s.ndim - reduced_ndim;
    space = nd_loop_init(space, kept_ndim, narrays, &out->kept);
    nd_loop_init(space, reduced_ndim, narrays, &out->reduced);
    record(&s, out);
    loop_finish(&s, true, &out->kept);
    loop_finish(&s, false, &out->reduced);
    offsets_join(out);
    return UF_OK;
}

/* ---- The same loops over other arrays ---- */

static void regroup(const nd_loop *from, int n, const int *of, int64_t step, nd_loop *out) {
    out->ndim = from->ndim;
    out->count = from->count;
    out->loop = from->loop;
    for (int k = 0; k < n; k++)
        assert(of[k] < from->narrays);
    for (int d = 0; d < from->ndim; d++) {
        out->extent[d] = from->extent[d];
        for (int k = 0; k < n; k++)
            out->stride[d * n + k] = of[k] < 0 ? step : from->stride[d * from->narrays + of[k]];
        step *= from->extent[d];
    }
    for (int k = 0; k < n; k++) {
        assert(of[k] < from->narrays); /* negative: an array that is not in the loop yet */
        out->offset[k] = of[k] < 0 ? 0 : from->offset[of[k]];
        out->kind[k] = of[k] >= 0            ? from->kind[of[k]]
                       : out->stride[k] == 1 ? OPERAND_CONTIGUOUS
                       : out->stride[k] == 0 ? OPERAND_CONSTANT
                                             : OPERAND_STRIDED;
    }
}

void nd_fold_regroup(const nd_fold *from, int n, const int *of, int64_t step, void *space, nd_fold *out) {
    space = nd_loop_init(space, from->kept.ndim, n, &out->kept);
    nd_loop_init(space, from->reduced.ndim, n, &out->reduced);
    regroup(&from->kept, n, of, step, &out->kept);
    regroup(&from->reduced, n, of, 0, &out->reduced);
}
