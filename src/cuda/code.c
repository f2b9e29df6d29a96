/* code.c - from generated code to a loaded kernel, and its end. Code is loaded as a library of the driver's, which
 * belongs to no context, so that one kernel serves every context of the device. Released code may still be used by
 * work that is queued. It is put aside, and unloaded together with others after the device has been waited for. So a
 * release neither waits nor disturbs a capture. */
#include <pthread.h>

#include "cuda/code.h"
#include "cuda/toolkit.h"

enum {
    RELEASED_MAX = 32 /* each time so many more pieces of code wait, those of the device are unloaded */
};

static struct {
    pthread_mutex_t lock;
    code *first;
    int count;
} released = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Loading ---- */

/* Makes the error where the driver could not make machine code: with its log, and with status COMPILE if the code is
 * at fault. */
static uf_status load_fail(code *c, cu_result result, const char *call, const char *entry) {
    c->log[sizeof c->log - 1] = 0;
    switch (result) {
    case CU_INVALID_IMAGE:
    case CU_NO_BINARY_FOR_GPU:
    case CU_INVALID_PTX:
    case CU_INVALID_SOURCE:
        return fail(UF_ERR_COMPILE, "%s: the driver refused the PTX of %s (error %d)%s%s", call, entry, result,
                    *c->log ? "\n" : "", c->log);
    }
    return cuda_fail(result, call);
}

static void set_option(code *c, int *n, int option, uintptr_t value) {
    c->option[*n] = option;
    c->value[*n] = (void *)value;
    ++*n;
}

static uf_status load_library(code *c, const char *ptx, const char *entry, int max_registers, unsigned flags) {
    int n = 0;
    set_option(c, &n, CU_OPTION_ERROR_LOG, (uintptr_t)c->log);
    set_option(c, &n, CU_OPTION_ERROR_LOG_SIZE, sizeof c->log - 1);
    if (max_registers)
        set_option(c, &n, CU_OPTION_MAX_REGISTERS, (uintptr_t)max_registers);
    if (flags & (UF_DEBUG | UF_LINES))
        set_option(c, &n, CU_OPTION_LINE_INFO, 1);
    cu_result r = cuda.cuLibraryLoadData(&c->library, ptx, c->option, c->value, (unsigned)n, NULL, NULL, 0);
    if (r) {
        c->library = NULL;
        return load_fail(c, r, "cuLibraryLoadData", entry);
    }
    CU(cuLibraryGetKernel, &c->kernel, c->library, entry);
    if (c->device->clusters > CLUSTER_PORTABLE)
        CU(cuKernelSetAttribute, CU_KERNEL_LARGE_CLUSTERS, 1, c->kernel, c->device->handle);
    return UF_OK;
}

uf_status code_prepare(code *c) {
    cu_function function;
    int blocks, threads = 0;
    cu_result r = cuda.cuKernelGetFunction(&function, c->kernel);
    if (r)
        return load_fail(c, r, "cuKernelGetFunction", "a kernel");
    CU(cuOccupancyMaxPotentialBlockSize, &blocks, &threads, c->kernel, NULL, 0, BLOCK_MAX);
    unsigned block = 32;
    while (2 * block <= (unsigned)threads && block < BLOCK_MAX)
        block *= 2;
    atomic_store_explicit(&c->block, block, memory_order_release);
    return UF_OK;
}

static uf_status ask_resident(code *c, int threads, int shared, int *out) {
    TRY(code_share(c, (uint32_t)shared));
    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, out, c->kernel, threads, (size_t)shared);
    return UF_OK;
}

uf_status code_resident(code *c, int threads, int shared, int *out) {
    uint64_t known = atomic_load_explicit(&c->resident, memory_order_relaxed);
    int blocks = (int)(known & UINT32_MAX);
    uint64_t asked = (uint64_t)threads |
                     (uint64_t)shared << 11; /* blocks have at most 1024 threads, and shared memory below 2^21 bytes */
    if (known >> 32 != asked) {
        cuda_scope scope;
        TRY(cuda_enter_relaxed(c->device, &scope));
        uf_status s = ask_resident(c, threads, shared, &blocks);
        cuda_leave(&scope);
        TRY(s);
        blocks = blocks > 0 ? blocks : 1; /* if not even one fits, the launch says why */
        atomic_store_explicit(&c->resident, asked << 32 | (uint64_t)blocks, memory_order_relaxed);
    }
    *out = blocks * c->device->sms;
    return UF_OK;
}

/* All that is left beside the kernel's own: then each launch may take what it needs, whatever others take at the same time. What needs no
 * permission is SHARED_FREE together with the kernel's own, so that any launch that takes some asks for it, once. */
uf_status code_share(code *c, uint32_t bytes) {
    int own;
    if (!bytes || atomic_load_explicit(&c->shares, memory_order_acquire))
        return UF_OK;
    CU(cuKernelGetAttribute, &own, CU_KERNEL_SHARED_BYTES, c->kernel, c->device->handle);
    CU(cuKernelSetAttribute, CU_KERNEL_DYNAMIC_SHARED_BYTES, c->device->shared - own, c->kernel, c->device->handle);
    atomic_store_explicit(&c->shares, true, memory_order_release);
    return UF_OK;
}

static uf_status ask_resources(code *c, int block, int shared, resources *r) {
    cu_device handle = c->device->handle;
    TRY(code_prepare(c));
    CU(cuKernelGetAttribute, &r->registers, CU_KERNEL_REGISTERS, c->kernel, handle);
    CU(cuKernelGetAttribute, &r->shared, CU_KERNEL_SHARED_BYTES, c->kernel, handle);
    CU(cuKernelGetAttribute, &r->local, CU_KERNEL_LOCAL_BYTES, c->kernel, handle);
    CU(cuKernelGetAttribute, &r->threads, CU_KERNEL_MAX_THREADS, c->kernel, handle);
    r->block = block                    ? block
               : r->threads > BLOCK_MAX ? r->threads /* kernels that take larger blocks take blocks of one size only */
                                        : (int)atomic_load(&c->block);
    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, &r->blocks, c->kernel, r->block, (size_t)shared);
    return UF_OK;
}

uf_status code_resources(code *c, int block, int shared, resources *out) {
    cuda_scope scope;
    *out = (resources){0};
    TRY(cuda_enter_relaxed(c->device, &scope));
    uf_status s = ask_resources(c, block, shared, out);
    cuda_leave(&scope);
    return s;
}

/* Makes the code ready if the device's primary context exists. This runs on the library's thread for compilation,
 * which has no current context. If there is no primary context, the caller has a context of its own, and its first
 * launch makes the code ready. */
static uf_status prepare_early(code *c) {
    cuda_scope scope;
    cu_context context;
    TRY(cuda_primary_if_active(c->device, &context));
    if (!context)
        return UF_OK;
    TRY(cuda_enter_relaxed(c->device, &scope));
    uf_status s = code_prepare(c);
    cuda_leave(&scope);
    return s;
}

/* Loads code. That needs no context, but a capture in another thread forbids it unless the mode of this thread is
 * relaxed. */
static uf_status load_relaxed(code *c, const char *ptx, const char *entry, int max_registers, unsigned flags) {
    int mode = CU_MODE_RELAXED;
    CU(cuThreadExchangeStreamCaptureMode, &mode);
    uf_status s = load_library(c, ptx, entry, max_registers, flags);
    cuda.cuThreadExchangeStreamCaptureMode(&mode);
    return s;
}

/* Unloads code. At the end of the process the driver may have been unloaded, and the library with it; errors are
 * ignored. */
static void unload(code *c) {
    int mode = CU_MODE_RELAXED;
    bool relaxed = !cuda.cuThreadExchangeStreamCaptureMode(&mode);
    if (c->library)
        cuda.cuLibraryUnload(c->library);
    if (relaxed)
        cuda.cuThreadExchangeStreamCaptureMode(&mode);
    mem_free(c);
}

uf_status code_load(const char *ptx, const char *entry, int max_registers, unsigned flags, cuda_device *d, code **out) {
    code *c = mem_zero(1, sizeof *c);
    *out = NULL;
    if (!c)
        return fail_memory();
    c->device = d;
    uf_status s = load_relaxed(c, ptx, entry, max_registers, flags);
    if (!s)
        s = prepare_early(c);
    if (s) {
        unload(c);
        return s;
    }
    *out = c;
    return UF_OK;
}

uf_status code_compile(const code_module *module, const code_target *target, int device, code **out) {
    cuda_device *d;
    text ptx = {0};
    *out = NULL;
    TRY(cuda_device_get(device, &d));
    uf_status s = nvvm_compile(module, target->arch, &ptx);
    if (!s)
        s = code_load(ptx.data, module->entry, module->max_registers, module->flags, d, out);
    if (!s)
        (*out)->plain = module->plain;
    text_free(&ptx);
    return s;
}

/* ---- The end ---- */

/* Is a stream of the current context being captured? The legacy stream is asked, which knows of all streams but
 * non-blocking ones. */
static bool capturing(void) {
    int status = 0;
    return cuda.cuStreamIsCapturing(NULL, &status) != 0 || status != 0;
}

bool context_drain(void) {
    if (capturing())
        return false;
    cu_result r = cuda.cuCtxSynchronize();
    return r < CU_CAPTURE_UNSUPPORTED || r > CU_CAPTURE_LAST;
}

/* Waits for the primary context, unless it is `current`, which has been waited for. False: it cannot be waited for. */
static bool drain_primary(cuda_device *d, cu_context current) {
    cu_context primary = atomic_load(&d->primary), popped;
    if (!primary || primary == current)
        return true;
    if (cuda.cuCtxPushCurrent(primary))
        return false;
    bool done = context_drain();
    cuda.cuCtxPopCurrent(&popped);
    return done;
}

/* Takes the released code of a device that ran only in its primary context or in `current`. What ran in another
 * context stays until that one is current: whether it is still alive cannot be found out. */
static code *released_take(cuda_device *d, cu_context current) {
    code *taken = NULL;
    cu_context primary = atomic_load(&d->primary);
    pthread_mutex_lock(&released.lock);
    for (code **at = &released.first; *at;) {
        code *c = *at;
        cu_context foreign = atomic_load(&c->foreign);
        if (c->device != d || atomic_load(&c->many_contexts) || (foreign && foreign != current && foreign != primary)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->next = taken;
        taken = c;
        released.count--;
    }
    pthread_mutex_unlock(&released.lock);
    return taken;
}

static int released_put(code *c) {
    pthread_mutex_lock(&released.lock);
    c->next = released.first;
    released.first = c;
    int count = ++released.count;
    pthread_mutex_unlock(&released.lock);
    return count;
}

int code_dead(void) {
    pthread_mutex_lock(&released.lock);
    int count = released.count;
    pthread_mutex_unlock(&released.lock);
    return count;
}

void code_reap(cuda_device *d) {
    cuda_scope scope;
    if (cuda_enter_relaxed(d, &scope))
        return;
    /* Before waiting, since work that uses code released later may be queued later. */
    code *taken = released_take(d, scope.context), *next;
    bool done = taken && context_drain() && drain_primary(d, scope.context);
    for (; taken; taken = next) {
        next = taken->next;
        if (done)
            unload(taken);
        else
            released_put(taken);
    }
    cuda_leave(&scope);
}

void code_release(code *c) {
    if (!c)
        return;
    cuda_device *d = c->device;
    if (!atomic_load(&c->launched))
        unload(c);
    else if (released_put(c) % RELEASED_MAX == 0)
        code_reap(d);
}
