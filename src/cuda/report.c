/* report.c - what launches with reports tell. Each has a slot of pinned memory, which its kernel writes to. The slot
 * is read when the launch is known to be done: a value is stored behind the kernel, in the order of the stream.
 * Calls that wait collect the reports of launches that are done on their device. If no slot is free, the current
 * context is waited for. */
#include <pthread.h>

#include "cuda/code.h"

enum {
    SLOTS = 256
};

typedef struct slot {
    report report;
    _Atomic int64_t done;
    int64_t unused[6]; /* fills a cache line */
} slot;

/* A launch whose report was not collected yet. */
typedef struct pending {
    /* drained: the launch is done, as its context was waited for; its `done` need not have been stored. */
    bool used, drained;
    int device;
    cu_context context;
    uint64_t number;      /* of the launch */
    report_kernel kernel; /* in one block, at points */
} pending;

static struct {
    pthread_mutex_t lock;
    /* Valid in all contexts; NULL before the first launch. */
    slot *slots;
    uint64_t launches;
    atomic_int used;
    pending of[SLOTS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Slots. The lock is taken, unless a function says otherwise ---- */

static bool is_done(int i) {
    return all.of[i].used && (all.of[i].drained || atomic_load_explicit(&all.slots[i].done, memory_order_acquire) != 0);
}

static void drop(int i) {
    mem_free((void *)(uintptr_t)all.of[i].kernel.points);
    all.of[i] = (pending){0};
    atomic_fetch_sub(&all.used, 1);
}

/* The first of a device's launches that are done and have failed; -1: there is none. */
static int first_failed(int device) {
    int first = -1;
    for (int i = 0; i < SLOTS; i++)
        if (is_done(i) && all.of[i].device == device && all.slots[i].report.state &&
            (first < 0 || all.of[i].number < all.of[first].number))
            first = i;
    return first;
}

/* Frees the slots of all launches that are done, but for the first failed one of each device. */
static void sweep(void) {
    for (int i = 0; i < SLOTS; i++)
        if (is_done(i) && i != first_failed(all.of[i].device))
            drop(i);
}

static int find_free(void) {
    for (int i = 0; i < SLOTS; i++)
        if (!all.of[i].used)
            return i;
    return -1;
}

/* A copy of what the launch is called, as its arguments and the function may be gone when it is needed. Not locked. */
static uf_status kernel_copy(const launch *l, report_kernel *out) {
    report_kernel p = launch_report_kernel(l);
    size_t points = (size_t)p.npoints * sizeof *p.points, name = strlen(p.name) + 1, source = strlen(p.source) + 1;
    char *block = mem_alloc(points + name + source);
    if (!block)
        return fail_memory();
    if (points)
        memcpy(block, p.points, points);
    p.points = (int64_t *)(uintptr_t)block;
    p.name = memcpy(block + points, p.name, name);
    p.source = memcpy(block + points + name, p.source, source);
    *out = p;
    return UF_OK;
}

/* Allocates the slots in the primary context, which lasts as long as the process. */
static uf_status slots_alloc(cuda_device *d) {
    void *block;
    cuda_scope scope;
    TRY(cuda_enter_primary(d, &scope));
    cu_result r = cuda.cuMemHostAlloc(&block, SLOTS * sizeof(slot), CU_HOST_PORTABLE);
    cuda_leave(&scope);
    if (r)
        return cuda_fail(r, "cuMemHostAlloc");
    all.slots = block;
    return UF_OK;
}

/* *out: -1 if there is none. */
static uf_status take(cuda_device *d, cu_context context, const report_kernel *kernel, int *out) {
    if (!all.slots)
        TRY(slots_alloc(d));
    int i = find_free();
    if (i < 0) {
        sweep();
        i = find_free();
    }
    *out = i;
    if (i < 0)
        return UF_OK;
    memset(&all.slots[i], 0, sizeof all.slots[i]);
    all.of[i] =
        (pending){.used = true, .device = d->ordinal, .context = context, .number = ++all.launches, .kernel = *kernel};
    atomic_fetch_add(&all.used, 1);
    return UF_OK;
}

static uf_status take_locked(cuda_device *d, cu_context context, const report_kernel *kernel, int *out) {
    pthread_mutex_lock(&all.lock);
    uf_status s = take(d, context, kernel, out);
    pthread_mutex_unlock(&all.lock);
    return s;
}

/* Waits for what is enqueued in the current context so far. The lock is not taken. */
static void drain(cu_context context) {
    int mode = CU_MODE_RELAXED;
    pthread_mutex_lock(&all.lock);
    uint64_t last = all.launches;
    pthread_mutex_unlock(&all.lock);
    if (cuda.cuThreadExchangeStreamCaptureMode(&mode))
        return;
    bool done = context_drain();
    cuda.cuThreadExchangeStreamCaptureMode(&mode);
    pthread_mutex_lock(&all.lock);
    for (int i = 0; i < SLOTS && done; i++)
        all.of[i].drained |= all.of[i].used && all.of[i].context == context && all.of[i].number <= last;
    pthread_mutex_unlock(&all.lock);
}

/* ---- Launches ---- */

static uf_status find_slot(cuda_device *d, cu_context context, const report_kernel *kernel, int *out) {
    TRY(take_locked(d, context, kernel, out));
    if (*out < 0) {
        drain(context);
        TRY(take_locked(d, context, kernel, out));
    }
    if (*out < 0)
        return fail(UF_ERR_DEVICE,
                    "%s reports what ends its elements (UF_DEBUG, max_steps, cancel), and %d launches of such "
                    "functions are not done yet, in contexts that cannot be "
                    "waited for here; uf_sync waits for a stream",
                    kernel->name, SLOTS);
    return UF_OK;
}

/* Why a launch reports, for errors. */
static const char *cause(const variant *v) {
    static const char *const causes[] = {"loops that are not proved short, and the call a flag to cancel it",
                                         "loops over sizes that may take very long, and the call a flag to cancel it",
                                         "max_steps, and loops that are not proved short",
                                         "max_steps, and loops over sizes that may take more"};
    return v->reports & REPORTS_ERRORS ? "UF_DEBUG"
                                       : causes[2 * !!(v->reports & REPORTS_STEPS) + !!(v->reports & REPORTS_SIZES)];
}

uf_status report_flag(const launch *l, uint64_t *out) {
    unsigned managed = 0, type = CU_MEMORY_HOST;
    cu_pointer flag = (uintptr_t)l->cancel;
    *out = 0;
    if (!flag)
        return UF_OK;
    cu_result r = cuda.cuPointerGetAttribute(&managed, CU_POINTER_IS_MANAGED, flag);
    if (!r && !managed)
        r = cuda.cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, flag);
    if (r == CU_INVALID_VALUE || (!r && type != CU_MEMORY_HOST))
        return fail(UF_ERR_ARGUMENT,
                    "%s: the flag to cancel the call with is at %p, which is not host memory that the device can read: "
                    "kDLCUDAHost or kDLCUDAManaged from uf_empty, or what cuMemHostRegister has made so",
                    l->name, (void *)(uintptr_t)flag);
    if (r)
        return cuda_fail(r, "cuPointerGetAttribute");
    CU(cuPointerGetAttribute, out, CU_POINTER_DEVICE_POINTER, flag);
    return UF_OK;
}

uf_status report_begin(cuda_device *d, cu_context context, const launch *l, report **out) {
    int capturing = 0, i;
    uint64_t flag;
    report_kernel kernel = {0};
    TRY(report_flag(l, &flag));
    CU(cuStreamIsCapturing, l->stream, &capturing);
    if (capturing)
        return fail(UF_ERR_ARGUMENT,
                    "%s has %s: what it reports is collected by the calls that wait, and a CUDA graph has none; "
                    "its calls cannot be captured",
                    l->name, cause(l->v));
    TRY(kernel_copy(l, &kernel));
    uf_status s = find_slot(d, context, &kernel, &i);
    if (s)
        mem_free((void *)(uintptr_t)kernel.points);
    else
        *out = &all.slots[i].report;
    if (!s)
        (*out)->cancel = flag;
    return s;
}

uf_status report_end(report *r, void *stream, uf_status launched) {
    slot *own = (slot *)(uintptr_t)r;
    if (!launched) {
        CU(cuMemsetD8Async, (uintptr_t)&own->done, 1, sizeof own->done, stream);
        return UF_OK;
    }
    pthread_mutex_lock(&all.lock);
    drop((int)(own - all.slots));
    pthread_mutex_unlock(&all.lock);
    return launched;
}

/* ---- Collecting ---- */

uf_status report_collect(const cuda_device *d) {
    uf_status s = UF_OK;
    if (!atomic_load_explicit(&all.used, memory_order_relaxed))
        return UF_OK;
    pthread_mutex_lock(&all.lock);
    int failed = first_failed(d->ordinal);
    if (failed >= 0)
        s = report_fail(&all.slots[failed].report, &all.of[failed].kernel);
    for (int i = 0; i < SLOTS; i++)
        if (is_done(i) && all.of[i].device == d->ordinal)
            drop(i);
    pthread_mutex_unlock(&all.lock);
    return s;
}
