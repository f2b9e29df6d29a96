/* memory.c - memory of devices, pinned and managed memory, copies, and waiting. Addresses are unified: from an
 * address the driver knows where the memory is. */
#include "cuda/code.h"

static uf_status alloc_in_context(DLDevice device, size_t size, void **out) {
    cu_pointer p = 0;
    switch ((int)device.device_type) {
    case kDLCUDAHost:
        CU(cuMemHostAlloc, out, size, CU_HOST_PORTABLE);
        return UF_OK;
    case kDLCUDAManaged:
        CU(cuMemAllocManaged, &p, size, CU_MANAGED_GLOBAL);
        break;
    default:
        CU(cuMemAlloc, &p, size);
    }
    *out = (void *)(uintptr_t)p;
    return UF_OK;
}

uf_status memory_alloc(DLDevice device, size_t size, void **out) {
    cuda_device *d;
    cuda_scope scope;
    *out = NULL;
    TRY(cuda_device_get(device.device_id, &d));
    TRY(cuda_enter_relaxed(d, &scope));
    uf_status s = alloc_in_context(device, size ? size : 1, out);
    cuda_leave(&scope);
    return s;
}

/* Frees memory. An error is ignored, as there is nobody to report it to: at the end of the process the driver is
 * gone, and the memory with it. */
void memory_free(DLDevice device, void *block) {
    cuda_device *d;
    cuda_scope scope;
    if (!block || cuda_device_get(device.device_id, &d) || cuda_enter_relaxed(d, &scope))
        return;
    if ((int)device.device_type == kDLCUDAHost)
        cuda.cuMemFreeHost(block);
    else
        cuda.cuMemFree((uintptr_t)block);
    cuda_leave(&scope);
}

static uf_status copy_in_context(void *dst, const void *src, size_t size, cu_stream stream, bool wait) {
    CU(cuMemcpyAsync, (uintptr_t)dst, (uintptr_t)src, size, stream);
    if (wait)
        CU(cuStreamSynchronize, stream);
    return UF_OK;
}

uf_status memory_copy(int device, void *dst, const void *src, size_t size, void *stream, bool wait) {
    cuda_device *d;
    cuda_scope scope;
    if (!size)
        return UF_OK;
    TRY(cuda_device_get(device, &d));
    TRY(cuda_enter(d, &scope));
    uf_status s = copy_in_context(dst, src, size, stream, wait);
    cuda_leave(&scope);
    return s || !wait ? s : report_collect(d);
}

static uf_status sync_in_context(cu_stream stream) {
    CU(cuStreamSynchronize, stream);
    return UF_OK;
}

uf_status memory_sync(int device, void *stream) {
    cuda_device *d;
    cuda_scope scope;
    TRY(cuda_device_get(device, &d));
    TRY(cuda_enter(d, &scope));
    uf_status s = sync_in_context(stream);
    cuda_leave(&scope);
    return s ? s : report_collect(d);
}
