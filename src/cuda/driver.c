/* driver.c - opens libcuda, finds its devices, enters contexts, and makes errors of its results. The tables of
 * functions and devices are written once, under the lock, and read without it once `ready` is set. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

#include "cuda/driver.h"
#include "type/kernel.h"

cuda_functions cuda;

static struct {
    pthread_mutex_t lock;
    atomic_bool ready;
    char *path;
    int version, count;
    cuda_device *devices;
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Errors ---- */

/* What to add to the driver's own description of some results. */
static const struct {
    cu_result result;
    const char *hint;
} hints[] = {
    {CU_NOT_INITIALIZED, "CUDA does not survive fork: use it first after the fork, or not before it"},
    {CU_NO_DEVICE, "the driver sees no GPU; CUDA_VISIBLE_DEVICES may hide it"},
    {CU_STUB_LIBRARY, "this is the toolkit's stub, not the driver: look at LD_LIBRARY_PATH and UFUNC_CUDA_DRIVER"},
    {CU_JIT_COMPILER_NOT_FOUND, "libnvidia-ptxjitcompiler.so.1 of the driver is missing"},
    {CU_UNSUPPORTED_PTX_VERSION, "libnvvm is newer than the driver: update the driver, or let UFUNC_NVVM and "
                                 "UFUNC_LIBDEVICE name an older toolkit's"},
    {CU_CAPTURE_UNSUPPORTED, "the call cannot be captured; compile the function before the capture begins, by a call "
                             "or a plan"},
};

/* Is it an error after which the context is lost? Every call in the context then reports it, until the context is
 * destroyed. */
static bool is_sticky(cu_result result) {
    static const short sticky[] = {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721};
    for (size_t i = 0; i < COUNT(sticky); i++)
        if (sticky[i] == result)
            return true;
    return false;
}

static uf_status status_of(cu_result result) {
    switch (result) {
    case CU_OUT_OF_MEMORY:
        return UF_ERR_MEMORY;
    case CU_STUB_LIBRARY:
    case CU_JIT_COMPILER_NOT_FOUND:
    case CU_UNSUPPORTED_PTX_VERSION:
        return UF_ERR_LIBRARY;
    default:
        return UF_ERR_DEVICE;
    }
}

uf_status cuda_fail(cu_result result, const char *call) {
    const char *name = NULL, *sentence = NULL, *hint = "";
    if (cuda.cuGetErrorName(result, &name) || !name)
        name = "unknown CUDA error";
    if (cuda.cuGetErrorString(result, &sentence) || !sentence)
        sentence = "no description";
    for (size_t i = 0; i < COUNT(hints); i++)
        if (hints[i].result == result)
            hint = hints[i].hint;
    if (is_sticky(result))
        hint =
            "an earlier kernel or copy caused it; the context is lost, and every call reports this until the process "
            "ends";
    return fail(status_of(result), "%s: %s (%d): %s%s%s", call, name, result, sentence, *hint ? "; " : "", hint);
}

/* ---- Opening ---- */

static uf_status library_error(const char *path, const char *reason) {
    return fail(UF_ERR_LIBRARY,
                "the CUDA driver cannot be used\n  %s: %s\nUFUNC_CUDA_DRIVER names another file\n"
                "install: the NVIDIA driver, 525 (CUDA 12.0) or later; Debian: apt install nvidia-driver libcuda1",
                path, reason);
}

static char *path_of(void *handle, const char *otherwise) {
    struct link_map *loaded = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &loaded) || !loaded || !loaded->l_name || !*loaded->l_name)
        return mem_copy_text(otherwise);
    return mem_copy_text(loaded->l_name);
}

static uf_status bind_functions(void *handle, const char *path) {
#define X(name, symbol, parameters)               \
    *(void **)&cuda.name = dlsym(handle, symbol); \
    if (!cuda.name)                               \
        return library_error(path, "it has no " symbol ": the driver is older than CUDA 12.0, or not a driver");
    CUDA_FUNCTIONS(X)
#undef X
    return UF_OK;
}

enum {
    ARCH_CLUSTERS = 90, /* the first with clusters of blocks, which takes large ones of kernels that ask for them, */
    CLUSTER_LARGE = 4,  /* log2 of their blocks, */
    DRIVER_CLUSTERS = 12010, /* and the first driver that knows st.async */
};

static int clusters_of(int arch, int driver_version) {
    if (arch < ARCH_CLUSTERS || driver_version < DRIVER_CLUSTERS)
        return 0;
    return arch == ARCH_CLUSTERS ? CLUSTER_LARGE : CLUSTER_PORTABLE;
}

static uf_status device_read(cuda_device *d, int ordinal, int driver_version) {
    int major, minor, pools, cooperative;
    d->ordinal = ordinal;
    CU(cuDeviceGet, &d->handle, ordinal);
    CU(cuDeviceGetAttribute, &major, CU_ATTRIBUTE_MAJOR, d->handle);
    CU(cuDeviceGetAttribute, &minor, CU_ATTRIBUTE_MINOR, d->handle);
    CU(cuDeviceGetAttribute, &d->sms, CU_ATTRIBUTE_SM_COUNT, d->handle);
    CU(cuDeviceGetAttribute, &d->threads, CU_ATTRIBUTE_SM_THREADS, d->handle);
    CU(cuDeviceGetAttribute, &cooperative, CU_ATTRIBUTE_COOPERATIVE, d->handle);
    CU(cuDeviceGetAttribute, &pools, CU_ATTRIBUTE_MEMORY_POOLS, d->handle);
    CU(cuDeviceGetAttribute, &d->shared, CU_ATTRIBUTE_SHARED_OPTIN, d->handle);
    CU(cuDeviceTotalMem, &d->memory, d->handle);
    CU(cuDeviceGetName, d->name, (int)sizeof d->name - 1, d->handle);
    d->arch = 10 * major + minor;
    d->clusters = clusters_of(d->arch, driver_version);
    d->cooperative = cooperative != 0;
    d->pools = pools != 0;
    return UF_OK;
}

static uf_status initialise(int *version, int *count, cuda_device **devices) {
    CU(cuInit, 0);
    CU(cuDriverGetVersion, version);
    CU(cuDeviceGetCount, count);
    *devices = mem_zero((size_t)*count, sizeof(cuda_device));
    if (!*devices)
        return fail_memory();
    for (int i = 0; i < *count; i++)
        TRY(device_read(&(*devices)[i], i, *version));
    return UF_OK;
}

/* Runs on a big stack, as nothing says how much of it the driver takes. */
static uf_status open_locked(void *unused) {
    (void)unused;
    const char *reason, *name = secure_getenv("UFUNC_CUDA_DRIVER");
    if (!name || !*name)
        name = "libcuda.so.1";
    void *handle = library_load(name, 0, &reason);
    if (!handle)
        return library_error(name, reason);
    int version = 0, count = 0;
    cuda_device *devices = NULL;
    char *path = path_of(handle, name);
    uf_status s = path ? bind_functions(handle, path) : fail_memory();
    if (!s)
        s = initialise(&version, &count, &devices);
    if (s) {
        mem_free(devices);
        mem_free(path);
        dlclose(handle);
        return s;
    }
    driver.path = path;
    driver.version = version;
    driver.count = count;
    driver.devices = devices;
    atomic_store_explicit(&driver.ready, true, memory_order_release);
    return UF_OK;
}

uf_status cuda_open(void) {
    if (atomic_load_explicit(&driver.ready, memory_order_acquire))
        return UF_OK;
    pthread_mutex_lock(&driver.lock);
    uf_status s = atomic_load(&driver.ready) ? UF_OK : on_big_stack(open_locked, NULL);
    pthread_mutex_unlock(&driver.lock);
    return s;
}

const char *cuda_driver_path(void) { return driver.path ? driver.path : ""; }
int cuda_driver_version(void) { return driver.version; }
int cuda_device_count(void) { return driver.count; }

uf_status cuda_device_get(int ordinal, cuda_device **out) {
    TRY(cuda_open());
    if (ordinal < 0 || ordinal >= driver.count)
        return fail(UF_ERR_DEVICE, "CUDA device %d: this process sees %d CUDA device%s, numbered from 0", ordinal,
                    driver.count, driver.count == 1 ? "" : "s");
    *out = &driver.devices[ordinal];
    return UF_OK;
}

/* ---- Contexts ---- */

/* The primary context, which is retained once for the process. If two threads retain it, the second releases its
 * reference. */
static uf_status primary_retain(cuda_device *d, cu_context *out) {
    cu_context made = atomic_load_explicit(&d->primary, memory_order_acquire), none = NULL;
    if (!made) {
        CU(cuDevicePrimaryCtxRetain, &made, d->handle);
        if (!atomic_compare_exchange_strong(&d->primary, &none, made))
            cuda.cuDevicePrimaryCtxRelease(d->handle);
    }
    *out = made;
    return UF_OK;
}

uf_status cuda_primary_if_active(cuda_device *d, cu_context *out) {
    unsigned flags;
    int active = 0;
    *out = atomic_load_explicit(&d->primary, memory_order_acquire);
    if (*out)
        return UF_OK;
    CU(cuDevicePrimaryCtxGetState, d->handle, &flags, &active);
    return active ? primary_retain(d, out) : UF_OK;
}

static uf_status push_primary(cuda_device *d, cuda_scope *scope) {
    TRY(primary_retain(d, &scope->context));
    CU(cuCtxPushCurrent, scope->context);
    scope->pushed = true;
    return UF_OK;
}

uf_status cuda_enter(cuda_device *d, cuda_scope *scope) {
    cu_device current;
    *scope = (cuda_scope){0};
    CU(cuCtxGetCurrent, &scope->context);
    if (!scope->context)
        return push_primary(d, scope);
    if (scope->context == atomic_load_explicit(&d->primary, memory_order_relaxed))
        return UF_OK;
    CU(cuCtxGetDevice, &current);
    return current == d->handle ? UF_OK : push_primary(d, scope);
}

static uf_status enter_relaxed(cuda_device *d, cuda_scope *scope, uf_status (*enter)(cuda_device *, cuda_scope *)) {
    int mode = CU_MODE_RELAXED;
    CU(cuThreadExchangeStreamCaptureMode, &mode);
    uf_status s = enter(d, scope);
    scope->relaxed = true;
    scope->mode = mode;
    if (s)
        cuda_leave(scope);
    return s;
}

uf_status cuda_enter_relaxed(cuda_device *d, cuda_scope *scope) { return enter_relaxed(d, scope, cuda_enter); }

static uf_status enter_primary(cuda_device *d, cuda_scope *scope) {
    *scope = (cuda_scope){0};
    return push_primary(d, scope);
}

uf_status cuda_enter_primary(cuda_device *d, cuda_scope *scope) { return enter_relaxed(d, scope, enter_primary); }

void cuda_leave(const cuda_scope *scope) {
    cu_context popped;
    int mode = scope->mode;
    if (scope->pushed)
        cuda.cuCtxPopCurrent(&popped);
    if (scope->relaxed)
        cuda.cuThreadExchangeStreamCaptureMode(&mode);
}
