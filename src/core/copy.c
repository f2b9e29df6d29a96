/* copy.c - copies between any two arrays. Within the host or one device a copy is a call of the identity function,
 * which broadcasts, casts and takes care of overlap. Between them packed bytes travel; the identity function packs
 * them before, and unpacks them after. */
#include "core/core.h"

uf_status copy_function(const uf_func **out) {
    static _Atomic(uf_func *) identity;
    uf_func *mine;
    *out = atomic_load(&identity);
    if (*out)
        return UF_OK;
    TRY(uf_vectorize(&mine, "copy", NULL, "(x) { return x; }"));
    *out = func_publish(&identity, mine);
    return UF_OK;
}

static bool on_device(const DLTensor *t) {
    return (int)t->device.device_type == kDLCUDA || (int)t->device.device_type == kDLCUDAManaged;
}

static bool packed(const DLTensor *t) {
    int64_t stride = 1;
    for (int d = t->ndim - 1; d >= 0 && t->strides; d--) {
        if (t->shape[d] != 1 && t->strides[d] != stride)
            return false;
        stride *= t->shape[d];
    }
    return true;
}

static int64_t elements(const DLTensor *t) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] == 0)
            return 0;
    for (int d = 0; d < t->ndim; d++)
        n *= t->shape[d];
    return n;
}

static bool same_form(const DLTensor *a, const DLTensor *b) {
    return a->ndim == b->ndim && (!a->ndim || !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape)) &&
           a->dtype.code == b->dtype.code && a->dtype.bits == b->dtype.bits;
}

static uf_status copy_within(const DLTensor *dst, const DLTensor *src, void *stream) {
    const uf_func *copy;
    TRY(copy_function(&copy));
    return uf_call(copy, 2, (DLTensor[]){*src, *dst}, &(uf_options){.size = sizeof(uf_options), .stream = stream});
}

uf_status copy_compile(const DLTensor *dst, const DLTensor *src) {
    const uf_func *copy;
    uf_plan *plan;
    TRY(copy_function(&copy));
    TRY(uf_plan_new(&plan, copy, 2, (DLTensor[]){*src, *dst}, NULL));
    uf_plan_free(plan);
    return UF_OK;
}

/* Makes a packed array of t's shape and dtype on the device (or host) of `like`. Its memory is ordered on the
 * stream. */
static uf_status temp_make(const DLTensor *t, const DLTensor *like, void *stream, DLTensor *out) {
    const engine *e = engines[on_device(like) ? ENGINE_CUDA : ENGINE_CPU];
    *out = *t;
    out->device = on_device(like) ? (DLDevice){kDLCUDA, like->device.device_id} : (DLDevice){kDLCPU, 0};
    out->strides = NULL;
    out->byte_offset = 0;
    return e->scratch(out->device.device_id, (size_t)(elements(t) * (t->dtype.bits / 8)), stream, &out->data);
}

static void temp_free(const DLTensor *temp, void *stream) {
    engines[on_device(temp) ? ENGINE_CUDA : ENGINE_CPU]->scratch_free(temp->device.device_id, temp->data, stream);
}

/* Copies the bytes of a packed array to a packed array of the same shape and dtype on another device. */
static uf_status bytes_across(const DLTensor *dst, const DLTensor *src, void *stream) {
    const DLTensor *device = on_device(dst) ? dst : src, *host = on_device(dst) ? src : dst;
    bool wait = on_device(host) || (int)host->device.device_type != kDLCUDAHost;
    return engines[ENGINE_CUDA]->copy(device->device.device_id, (char *)dst->data + dst->byte_offset,
                                      (const char *)src->data + src->byte_offset,
                                      (size_t)(elements(src) * (src->dtype.bits / 8)), stream, wait);
}

/* Has the copy been made although there is an error? It has if the error is one that an earlier kernel reported to
 * the call that waited. */
static bool has_arrived(uf_status s) { return !s || s == UF_ERR_KERNEL; }

/* Copies (broadcasts, casts) what arrived in a packed array beside dst to dst. If that is on the host, it is waited
 * for first. */
static uf_status unpack(const DLTensor *dst, const DLTensor *arrived, const DLTensor *device, void *stream) {
    uf_status waited = UF_OK;
    if (!on_device(dst))
        waited = engines[ENGINE_CUDA]->sync(device->device.device_id, stream);
    uf_status s = has_arrived(waited) ? copy_within(dst, arrived, stream) : UF_OK;
    return s ? s : waited;
}

static uf_status copy_across(const DLTensor *dst, const DLTensor *src, void *stream) {
    DLTensor from = *src, to = *dst;
    bool pack = !packed(src), direct = packed(dst) && same_form(dst, src);
    uf_status s = UF_OK;
    if (pack) {
        TRY(temp_make(src, src, stream, &from));
        s = copy_within(&from, src, stream);
    }
    if (!direct && !s) {
        s = temp_make(src, dst, stream, &to);
        if (s)
            direct = true; /* nothing to free */
    }
    if (!s)
        s = bytes_across(&to, &from, stream);
    if (has_arrived(s) && !direct) {
        uf_status unpacked = unpack(dst, &to, on_device(dst) ? dst : src, stream);
        s = unpacked ? unpacked : s;
    }
    if (!direct)
        temp_free(&to, stream);
    if (pack)
        temp_free(&from, stream);
    return s;
}

/* There are no elements to move: only shapes and dtypes are checked, as if both arrays were on the host. */
static uf_status copy_nothing(const DLTensor *dst, const DLTensor *src) {
    DLTensor to = *dst, from = *src;
    to.device = from.device = (DLDevice){kDLCPU, 0};
    return copy_within(&to, &from, NULL);
}

/* The arguments count as for the identity function: src is 0 and dst is 1. */
static uf_status copy(const DLTensor *dst, const DLTensor *src, void *stream) {
    TRY(array_check(dst, 1, 0));
    TRY(array_check(src, 0, 0));
    TRY(output_writable(dst, 1));
    bool same_side =
        on_device(dst) == on_device(src) && (!on_device(dst) || dst->device.device_id == src->device.device_id);
    bool by_value = src->ndim == 0 && !on_device(src);
    if (elements(dst) == 0 || elements(src) == 0)
        return copy_nothing(dst, src);
    if (same_side || by_value)
        return copy_within(dst, src, stream);
    return copy_across(dst, src, stream);
}

/* Restates the thread's error in the caller's terms: the arguments by name in the message, and counted as uf_copy
 * has them. */
static uf_status named(uf_status status) {
    uf_error *e = error_slot();
    char was[sizeof e->message];
    strcpy(was, e->message);
    size_t used = 0;
    for (const char *at = was; *at;) {
        bool src = !strncmp(at, "argument 0", 10), dst = !strncmp(at, "argument 1", 10);
        memcpy(e->message + used, src ? "src" : dst ? "dst" : at, src || dst ? 3 : 1);
        used += src || dst ? 3 : 1;
        at += src || dst ? 10 : 1;
    }
    e->message[used] = 0;
    if (e->argument >= 0)
        e->argument = 1 - e->argument;
    return status;
}

/* A view of an array of records whose last dimension are the lanes. */
typedef struct lanes_view {
    DLTensor array;
    int64_t shape[UF_MAX_NDIM + 1], strides[UF_MAX_NDIM + 1];
} lanes_view;

static uf_status lanes_open(const DLTensor *t, int argument, DLDataType as, int lanes, lanes_view *out) {
    TRY(array_check(t, argument, ARGS_LANES));
    if (t->ndim == UF_MAX_NDIM)
        return fail_argument(UF_ERR_ARGUMENT, argument, -1, "its rank is %d; at most %d are possible for records",
                             t->ndim, UF_MAX_NDIM - 1);
    int64_t dense = lanes;
    out->array = *t;
    out->array.dtype = as;
    out->array.shape = out->shape;
    out->array.strides = out->strides;
    out->array.ndim = t->ndim + 1;
    out->shape[t->ndim] = lanes;
    out->strides[t->ndim] = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        out->shape[d] = t->shape[d];
        out->strides[d] = t->strides && t->shape[d] > 1 ? t->strides[d] * lanes : dense;
        dense *= t->shape[d] > 1 ? t->shape[d] : 1;
    }
    return UF_OK;
}

/* Copies records: both arrays have elements of as many bytes, which stay what they are. */
static uf_status copy_records(const DLTensor *dst, const DLTensor *src, void *stream) {
    lanes_view to, from;
    DLDataType as = dst->dtype;
    bool same = as.code == src->dtype.code && as.bits == src->dtype.bits;
    int64_t bytes = (int64_t)as.bits / 8 * as.lanes, others = (int64_t)src->dtype.bits / 8 * src->dtype.lanes;
    if (bytes != others)
        return fail_argument(UF_ERR_CAST, 0, -1,
                             "has elements of %lld bytes (%d lanes), but those of argument 1 have %lld",
                             (long long)others, src->dtype.lanes, (long long)bytes);
    as.lanes = 1;
    if (!same)
        as = dtypes[DT_UINT8].dl;
    int lanes = same ? dst->dtype.lanes : (int)bytes;
    TRY(lanes_open(dst, 1, as, lanes, &to));
    TRY(lanes_open(src, 0, as, lanes, &from));
    return copy(&to.array, &from.array, stream);
}

uf_status uf_copy(const DLTensor *dst, const DLTensor *src, void *stream) {
    RANGE("uf_copy", NULL);
    if (!dst || !src)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", dst ? "src" : "dst");
    uf_status s = (dst->dtype.lanes > 1 && src->dtype.lanes > 1 ? copy_records : copy)(dst, src, stream);
    return s ? named(s) : UF_OK;
}
