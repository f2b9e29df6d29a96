/* array.c - uf_empty and uf_sync. */
#include "core/core.h"

typedef struct owned {
    DLManagedTensor managed; /* first: the deleter gets its address */
    int64_t shape[];
} owned;

static uf_status engine_of(DLDevice device, const engine **out) {
    switch ((int)device.device_type) {
    case kDLCPU:
        *out = engines[ENGINE_CPU];
        return UF_OK;
    case kDLCUDA:
    case kDLCUDAHost:
    case kDLCUDAManaged:
        if (device.device_id < 0)
            return fail(UF_ERR_DEVICE, "device_id is %d; devices count from 0", device.device_id);
        *out = engines[ENGINE_CUDA];
        return UF_OK;
    default:
        return fail(UF_ERR_DEVICE, "DLPack device type %d; kDLCPU, kDLCUDA, kDLCUDAHost and kDLCUDAManaged are known",
                    (int)device.device_type);
    }
}

static void owned_delete(DLManagedTensor *self) {
    const engine *e = NULL;
    if (engine_of(self->dl_tensor.device, &e) == UF_OK && self->dl_tensor.data)
        e->free(self->dl_tensor.device, self->dl_tensor.data);
    mem_free(self);
}

static uf_status shape_size(int ndim, const int64_t *shape, int element, size_t *size) {
    int64_t n = element;
    bool empty = false, overflow = false;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] < 0)
            return fail(UF_ERR_ARGUMENT, "shape[%d] is %lld; extents must not be negative", d, (long long)shape[d]);
        empty |= shape[d] == 0;
        overflow |= !empty && __builtin_mul_overflow(n, shape[d], &n);
    }
    if (overflow && !empty)
        return fail(UF_ERR_ARGUMENT, "the shape's size exceeds 2^63 - 1 bytes");
    *size = empty ? 0 : (size_t)n;
    return UF_OK;
}

uf_status uf_empty(DLManagedTensor **out, DLDevice device, DLDataType type, int ndim, const int64_t *shape) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    if (ndim < 0 || ndim > UF_MAX_NDIM)
        return fail(UF_ERR_ARGUMENT, "ndim is %d; 0 to %d are possible", ndim, UF_MAX_NDIM);
    if (ndim && !shape)
        return fail(UF_ERR_ARGUMENT, "shape is NULL");
    DLDataType one = type;
    one.lanes = 1;
    dtype t = type.lanes ? dtype_of_dl(one) : DT_NONE;
    if (t == DT_NONE)
        return fail(UF_ERR_ARGUMENT, "the dtype (DLPack code %d, %d bits, %d lanes) is none of the fifteen", type.code,
                    type.bits, type.lanes);
    const engine *e = NULL;
    size_t size = 0;
    TRY(engine_of(device, &e));
    TRY(shape_size(ndim, shape, dtypes[t].size * type.lanes, &size));
    owned *o = mem_alloc(sizeof *o + (size_t)ndim * sizeof *shape);
    if (!o)
        return fail_memory();
    *o = (owned){.managed = {.dl_tensor = {.device = device, .ndim = ndim, .dtype = type, .shape = o->shape},
                             .deleter = owned_delete}};
    if (ndim)
        memcpy(o->shape, shape, (size_t)ndim * sizeof *shape);
    uf_status s = size ? e->alloc(device, size, &o->managed.dl_tensor.data) : UF_OK;
    if (s)
        mem_free(o);
    else
        *out = &o->managed;
    return s;
}

uf_status uf_sync(DLDevice device, void *stream) {
    const engine *e = NULL;
    TRY(engine_of(device, &e));
    return e->sync(device.device_id, stream);
}
