/* mockcuda.c - a CUDA driver without a GPU: device memory is host memory, PTX is only looked at, launches are recorded.
 * It checks what the real driver would (live handles, a current context, sizes of parameter blocks), can be made to fail at
 * any call, and knows what was not given back. Calls that release something do so even when they report an error, as the
 * real ones do when the error is an earlier kernel's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mockcuda.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the symbols are the driver's */

#define API __attribute__((visibility("default")))

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    COOPERATIVE_TOO_LARGE = 720,
    NOT_SUPPORTED = 801,
    SMS = 4,
    SM_THREADS = 1536,
    SM_SHARED = 228 << 10,
    SHARED_MAX = 48 << 10,
    SHARED = 227 << 10, /* with permission */
    OWN_SHARED = 48,    /* of each kernel */
    MAX_DEVICES = 8,
    MAX_STACK = 16,
    MAX_BLOCKS = 4096,
    MAX_HELD = 4096,
    MAX_COUNTED = 64,
    PAGE = 4096,
    ALIGN = 256 /* of blocks */
};

struct context {
    int device, primary, synchronised, id;
};

struct kernel {
    struct library *library;
    char name[64];
    int parameters, threads; /* threads: the most in a block */
    unsigned shared;         /* bytes of dynamic shared memory that are permitted; 0: SHARED_MAX less OWN_SHARED */
};

struct library {
    struct library *next;
    struct kernel kernel;
    char *ptx;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialised, ndevices, arch, pools, cooperative, sms;
static struct context primaries[MAX_DEVICES];
static int references[MAX_DEVICES];
static struct library *libraries;
static void *blocks[MAX_BLOCKS], *maps[MAX_BLOCKS];
static size_t mapped[MAX_BLOCKS];
static enum {
    DEVICE_BLOCK,
    MANAGED_BLOCK,
    HOST_BLOCK
} kinds[MAX_BLOCKS];
static int calls, fail_at, fail_error, name_error, launches, capture_status, last_options[16], last_option_count;
static int contexts = MAX_DEVICES, generation;
static struct {
    const char *name;
    int count;
} counted[MAX_COUNTED];
static char fail_function[64];
static const char *failed_function;
static mock_launch last;
static void (*look)(const mock_launch *);
static int holding, nheld;
static struct {
    void *at, *stream;
    size_t size;
    unsigned char value;
} held[MAX_HELD];
static _Thread_local struct context *stack[MAX_STACK];
static _Thread_local int depth, mode;

static void count_call(const char *name) {
    int i = 0;
    while (i < MAX_COUNTED - 1 && counted[i].name && strcmp(counted[i].name, name))
        i++;
    counted[i].name = name;
    counted[i].count++;
}

/* Counts a call; the error it is to report, or 0. */
static int enter(const char *name) {
    pthread_mutex_lock(&lock);
    count_call(name);
    int error = ++calls == fail_at ? fail_error : strcmp(name, fail_function) == 0 ? name_error : 0;
    if (error)
        failed_function = name;
    pthread_mutex_unlock(&lock);
    return error;
}

#define CALL()                      \
    int injected = enter(__func__); \
    if (injected)                   \
    return injected
#define RELEASE() int injected = enter(__func__)
#define NEED(condition, error) \
    if (!(condition))          \
    return error

static struct context *current(void) { return depth ? stack[depth - 1] : NULL; }

/* ---- Errors ---- */

API int cuGetErrorName(int error, const char **text) {
    static _Thread_local char name[64];
    snprintf(name, sizeof name, "CUDA_ERROR_MOCK_%d", error);
    *text = name;
    return 0;
}

API int cuGetErrorString(int error, const char **text) {
    (void)error;
    *text = "an error of the mock driver";
    return 0;
}

/* ---- Devices ---- */

static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : otherwise;
}

API int cuInit(unsigned flags) {
    CALL();
    NEED(flags == 0, INVALID_VALUE);
    ndevices = number("MOCK_DEVICES", 2);
    arch = number("MOCK_ARCH", 90);
    pools = number("MOCK_POOLS", 1);
    cooperative = number("MOCK_COOPERATIVE", 1);
    sms = number("MOCK_SMS", SMS);
    NEED(ndevices <= MAX_DEVICES, INVALID_VALUE);
    NEED(ndevices, 100);
    for (int i = 0; i < ndevices; i++)
        primaries[i] = (struct context){i, 1, 0, i};
    initialised = 1;
    return 0;
}

API int cuDriverGetVersion(int *version) {
    CALL();
    *version = number("MOCK_VERSION", 13000);
    return 0;
}

API int cuDeviceGetCount(int *count) {
    CALL();
    NEED(initialised, NOT_INITIALIZED);
    *count = ndevices;
    return 0;
}

/* Handles differ from ordinals, so that mixing them up is seen. */
API int cuDeviceGet(int *device, int ordinal) {
    CALL();
    NEED(initialised, NOT_INITIALIZED);
    NEED(ordinal >= 0 && ordinal < ndevices, INVALID_DEVICE);
    *device = 100 + ordinal;
    return 0;
}

static int ordinal_of(int device) { return device >= 100 && device < 100 + ndevices ? device - 100 : -1; }

API int cuDeviceGetName(char *name, int size, int device) {
    CALL();
    NEED(ordinal_of(device) >= 0, INVALID_DEVICE);
    snprintf(name, (size_t)size, "Mock %d", ordinal_of(device));
    return 0;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    CALL();
    NEED(ordinal_of(device) >= 0, INVALID_DEVICE);
    *bytes = (size_t)8 << 30;
    return 0;
}

API int cuDeviceGetAttribute(int *value, int attribute, int device) {
    CALL();
    NEED(ordinal_of(device) >= 0, INVALID_DEVICE);
    switch (attribute) {
    case 16:
        *value = sms;
        return 0;
    case 39:
        *value = SM_THREADS;
        return 0;
    case 75:
        *value = arch / 10;
        return 0;
    case 76:
        *value = arch % 10;
        return 0;
    case 95:
        *value = cooperative;
        return 0;
    case 97:
        *value = SHARED;
        return 0;
    case 115:
        *value = pools;
        return 0;
    }
    return INVALID_VALUE;
}

/* ---- Contexts ---- */

static int references_of(int ordinal) {
    pthread_mutex_lock(&lock);
    int n = references[ordinal];
    pthread_mutex_unlock(&lock);
    return n;
}

API int cuDevicePrimaryCtxRetain(struct context **context, int device) {
    CALL();
    NEED(ordinal_of(device) >= 0, INVALID_DEVICE);
    pthread_mutex_lock(&lock);
    references[ordinal_of(device)]++;
    pthread_mutex_unlock(&lock);
    *context = &primaries[ordinal_of(device)];
    return 0;
}

API int cuDevicePrimaryCtxRelease_v2(int device) {
    RELEASE();
    NEED(ordinal_of(device) >= 0 && references_of(ordinal_of(device)) > 0, INVALID_CONTEXT);
    pthread_mutex_lock(&lock);
    references[ordinal_of(device)]--;
    pthread_mutex_unlock(&lock);
    return injected;
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    CALL();
    NEED(ordinal_of(device) >= 0, INVALID_DEVICE);
    *flags = 0;
    *active = references_of(ordinal_of(device)) > 0;
    return 0;
}

API int cuCtxGetCurrent(struct context **context) {
    CALL();
    *context = current();
    return 0;
}

API int cuCtxGetDevice(int *device) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    *device = 100 + current()->device;
    return 0;
}

API int cuCtxGetId(const struct context *context, uint64_t *id) {
    CALL();
    NEED(context, INVALID_CONTEXT);
    *id = 1 + (uint64_t)context->id;
    return 0;
}

static int is_alive(const struct context *c) { return !c->primary || references_of(c->device) > 0; }

API int cuCtxPushCurrent_v2(struct context *context) {
    CALL();
    NEED(context && is_alive(context) && depth < MAX_STACK, INVALID_CONTEXT);
    stack[depth++] = context;
    return 0;
}

API int cuCtxPopCurrent_v2(struct context **context) {
    RELEASE();
    NEED(depth, INVALID_CONTEXT);
    *context = stack[--depth];
    return injected;
}

/* What others look at in one step is written in one step: the sanitizers are to see what a device's writes order. */
static void set_bytes(void *at, unsigned char value, size_t size) {
    if (size == sizeof(uint64_t) && (uintptr_t)at % sizeof(uint64_t) == 0)
        __atomic_store_n((uint64_t *)at, value * UINT64_C(0x0101010101010101), __ATOMIC_RELEASE);
    else
        memset(at, value, size);
}

/* Sets what was held back of a stream, or of all. */
static void let_go(int all, const void *stream) {
    int left = 0;
    for (int i = 0; i < nheld; i++) {
        if (all || held[i].stream == stream)
            set_bytes(held[i].at, held[i].value, held[i].size);
        else
            held[left++] = held[i];
    }
    nheld = left;
}

API int cuCtxSynchronize(void) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    NEED(!capture_status, 900);
    pthread_mutex_lock(&lock);
    current()->synchronised++;
    let_go(1, NULL);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- Code ---- */

/* Reads ".entry name( .param .u64 a, .. ) .maxntid n": every parameter is a word. */
static int read_entry(struct kernel *k, const char *ptx) {
    const char *entry = strstr(ptx, ".entry ");
    NEED(strstr(ptx, ".version") && entry, INVALID_PTX);
    NEED(sscanf(entry, ".entry %63[A-Za-z0-9_$]", k->name) == 1, INVALID_PTX);
    const char *end = strchr(entry, ')');
    NEED(end, INVALID_PTX);
    for (const char *p = entry; (p = strstr(p, ".param")) && p < end; p++) {
        char type[8];
        NEED(sscanf(p, ".param .%7[a-z0-9]", type) == 1 && strcmp(type + 1, "64") == 0, INVALID_PTX);
        k->parameters++;
    }
    const char *most = strstr(end, ".maxntid ");
    k->threads = most ? atoi(most + strlen(".maxntid ")) : 1024;
    return 0;
}

static void write_log(unsigned n, const int *options, void **values, const char *text) {
    char *log = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == 5)
            log = values[i];
        if (options[i] == 6)
            size = (size_t)values[i];
    }
    if (log && size)
        snprintf(log, size, "%s", text);
}

API int cuLibraryLoadData(struct library **out, const void *code, const int *options, void **values, unsigned n,
                          const int *library_options, void **library_values, unsigned m) {
    CALL();
    NEED(initialised, NOT_INITIALIZED);
    NEED(n <= 16 && m == 0 && !library_options && !library_values, INVALID_VALUE);
    pthread_mutex_lock(&lock);
    last_option_count = (int)n;
    memcpy(last_options, options, n * sizeof *options);
    pthread_mutex_unlock(&lock);
    struct library *l = calloc(1, sizeof *l);
    l->kernel.library = l;
    int error = read_entry(&l->kernel, code);
    if (error) {
        write_log(n, options, values, "mock: line 1: this is no PTX");
        free(l);
        return error;
    }
    l->ptx = strdup(code);
    pthread_mutex_lock(&lock);
    l->next = libraries;
    libraries = l;
    pthread_mutex_unlock(&lock);
    *out = l;
    return 0;
}

API int cuLibraryUnload(struct library *library) {
    RELEASE();
    pthread_mutex_lock(&lock);
    struct library **at = &libraries;
    while (*at && *at != library)
        at = &(*at)->next;
    int found = *at != NULL;
    if (found)
        *at = library->next;
    pthread_mutex_unlock(&lock);
    NEED(found, INVALID_HANDLE);
    free(library->ptx);
    free(library);
    return injected;
}

static int kernel_alive(const struct kernel *k) {
    int alive = 0;
    pthread_mutex_lock(&lock);
    for (struct library *l = libraries; l; l = l->next)
        alive |= &l->kernel == k;
    pthread_mutex_unlock(&lock);
    return alive;
}

API int cuLibraryGetKernel(struct kernel **kernel, struct library *library, const char *name) {
    CALL();
    NEED(kernel_alive(&library->kernel), INVALID_HANDLE);
    NEED(strcmp(name, library->kernel.name) == 0, NOT_FOUND);
    *kernel = &library->kernel;
    return 0;
}

API int cuKernelGetFunction(void **function, struct kernel *kernel) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    NEED(kernel_alive(kernel), INVALID_HANDLE);
    *function = kernel;
    return 0;
}

API int cuKernelGetAttribute(int *value, int attribute, struct kernel *kernel, int device) {
    CALL();
    NEED(kernel_alive(kernel) && ordinal_of(device) >= 0, INVALID_HANDLE);
    const int values[] = {kernel->threads, OWN_SHARED, 0, 16, 40};
    NEED(attribute >= 0 && attribute <= 4, INVALID_VALUE);
    *value = values[attribute];
    return 0;
}

/* Of all there are the dynamic shared memory and the permission of large clusters. */
API int cuKernelSetAttribute(int attribute, int value, struct kernel *kernel, int device) {
    CALL();
    NEED(kernel_alive(kernel) && ordinal_of(device) >= 0, INVALID_HANDLE);
    if (attribute == 14) {
        NEED(value == 1, INVALID_VALUE);
        return 0;
    }
    NEED(attribute == 8 && value > 0 && value + OWN_SHARED <= SHARED, INVALID_VALUE);
    kernel->shared = (unsigned)value;
    return 0;
}

API int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, struct kernel *kernel, size_t (*shared)(int),
                                         size_t bytes, int limit) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    NEED(kernel_alive(kernel) && !shared && !bytes, INVALID_VALUE);
    *grid = 4;
    *block = limit && limit < kernel->threads ? limit : kernel->threads;
    return 0;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, struct kernel *kernel, int block, size_t bytes) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    NEED(kernel_alive(kernel) && block > 0 && bytes <= (kernel->shared ? kernel->shared : SHARED_MAX - OWN_SHARED),
         INVALID_VALUE);
    *count = block <= kernel->threads ? SM_THREADS / block : 0;
    if ((size_t)*count * bytes > SM_SHARED)
        *count = (int)(SM_SHARED / bytes);
    return 0;
}

/* The words of a launch, as many as the PTX says: one by one, or in a block, which a cooperative launch must not have. */
static int words_read(const struct kernel *kernel, mock_launch *now, void **parameters, void **extra) {
    size_t bytes = 8 * (size_t)kernel->parameters;
    NEED(!parameters != !extra && bytes <= sizeof now->words, INVALID_VALUE);
    now->bytes = bytes;
    if (parameters) {
        for (size_t i = 0; i < bytes / 8; i++)
            memcpy(&now->words[i], parameters[i], 8);
        return 0;
    }
    NEED(!now->cooperative && extra[0] == (void *)1 && extra[2] == (void *)2 && !extra[4], INVALID_VALUE);
    NEED(*(size_t *)extra[3] == bytes, INVALID_VALUE);
    memcpy(now->words, extra[1], bytes);
    return 0;
}

/* What both ways of launching have in common. */
static int record(struct kernel *kernel, mock_launch now, void **parameters, void **extra) {
    NEED(current(), INVALID_CONTEXT);
    NEED(kernel_alive(kernel), INVALID_HANDLE);
    NEED(now.blocks && now.blocks <= 0x7fffffff && now.threads && now.threads <= (unsigned)kernel->threads,
         INVALID_VALUE);
    NEED(now.shared <= (kernel->shared ? kernel->shared : SHARED_MAX - OWN_SHARED) &&
             !words_read(kernel, &now, parameters, extra),
         INVALID_VALUE);
    now.context = current();
    now.ptx = kernel->library->ptx;
    memcpy(now.kernel, kernel->name, sizeof now.kernel);
    pthread_mutex_lock(&lock);
    last = now;
    launches++;
    void (*looking)(const mock_launch *) = look;
    pthread_mutex_unlock(&lock);
    if (looking)
        looking(&now);
    return 0;
}

API int cuLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
    CALL();
    NEED(gy == 1 && gz == 1 && by == 1 && bz == 1, INVALID_VALUE);
    return record(kernel, (mock_launch){.blocks = gx, .threads = bx, .shared = shared, .stream = stream}, parameters,
                  extra);
}

struct attribute {
    int id, padding, value[16];
};

struct config {
    unsigned gx, gy, gz, bx, by, bz, shared;
    void *stream;
    struct attribute *attributes;
    unsigned count;
};

/* The one attribute known is that of cooperative launches: all blocks must fit at once. */
API int cuLaunchKernelEx(const struct config *c, struct kernel *kernel, void **parameters, void **extra) {
    CALL();
    NEED(c->gy == 1 && c->gz == 1 && c->by == 1 && c->bz == 1 && c->count <= 1, INVALID_VALUE);
    int together = c->count && c->attributes->value[0];
    if (c->count) {
        NEED(c->attributes->id == 2, INVALID_VALUE);
        NEED(cooperative, NOT_SUPPORTED);
        NEED(c->bx && c->gx <= SM_THREADS / c->bx * (unsigned)sms, COOPERATIVE_TOO_LARGE);
    }
    return record(
        kernel,
        (mock_launch){
            .blocks = c->gx, .threads = c->bx, .shared = c->shared, .cooperative = together, .stream = c->stream},
        parameters, extra);
}

/* ---- Memory ---- */

/* Memory that ends at a page which nobody may touch, or nearly so. */
static void *block_map(int at, size_t size) {
    size_t bytes = (size + ALIGN - 1) / ALIGN * ALIGN, all = (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE;
    char *map =
        size > SIZE_MAX / 2 ? MAP_FAILED : mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    mprotect(map, PAGE, PROT_NONE);
    mprotect(map + all - PAGE, PAGE, PROT_NONE);
    maps[at] = map;
    mapped[at] = all;
    return map + all - PAGE - bytes;
}

static int block_new(void **out, size_t size, int kind) {
    NEED(current(), INVALID_CONTEXT);
    NEED(size, INVALID_VALUE);
    int at = 0, error = OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    while (at < MAX_BLOCKS && blocks[at])
        at++;
    if (at < MAX_BLOCKS && (blocks[at] = block_map(at, size))) {
        *out = blocks[at];
        kinds[at] = kind;
        error = 0;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int block_free(void *block, int injected) {
    int at = 0;
    pthread_mutex_lock(&lock);
    while (at < MAX_BLOCKS && blocks[at] != block)
        at++;
    if (at < MAX_BLOCKS) {
        munmap(maps[at], mapped[at]);
        blocks[at] = NULL;
    }
    pthread_mutex_unlock(&lock);
    return at < MAX_BLOCKS ? injected : INVALID_VALUE;
}

static int device_block_new(uint64_t *out, size_t size, int kind) {
    void *block;
    int error = block_new(&block, size, kind);
    if (error)
        return error;
    memset(block, 0xa5, size < 1 << 20 ? size : 1 << 20); /* what an earlier owner left */
    *out = (uint64_t)(uintptr_t)block;
    return 0;
}

API int cuMemAlloc_v2(uint64_t *out, size_t size) {
    CALL();
    return device_block_new(out, size, DEVICE_BLOCK);
}

API int cuMemAllocManaged(uint64_t *out, size_t size, unsigned flags) {
    CALL();
    NEED(flags == 1, INVALID_VALUE);
    return device_block_new(out, size, MANAGED_BLOCK);
}

API int cuMemAllocAsync(uint64_t *out, size_t size, void *stream) {
    CALL();
    (void)stream;
    NEED(pools, NOT_SUPPORTED);
    return device_block_new(out, size, DEVICE_BLOCK);
}

API int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    CALL();
    NEED(flags == 1, INVALID_VALUE);
    return block_new(out, size, HOST_BLOCK);
}

/* Of memory that was allocated here, of which the first address alone is known. */
API int cuPointerGetAttribute(void *out, int attribute, uint64_t block) {
    CALL();
    int at = 0;
    while (at < MAX_BLOCKS && (!block || blocks[at] != (void *)(uintptr_t)block))
        at++;
    NEED(at < MAX_BLOCKS, INVALID_VALUE);
    if (attribute == 3)
        *(uint64_t *)out = block;
    else
        *(unsigned *)out = attribute == 2 ? kinds[at] == HOST_BLOCK ? 1 : 2 : kinds[at] == MANAGED_BLOCK;
    return 0;
}

API int cuMemFree_v2(uint64_t block) {
    RELEASE();
    return block_free((void *)(uintptr_t)block, injected);
}

API int cuMemFreeHost(void *block) {
    RELEASE();
    return block_free(block, injected);
}

API int cuMemFreeAsync(uint64_t block, void *stream) {
    RELEASE();
    (void)stream;
    return block_free((void *)(uintptr_t)block, injected);
}

API int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t size, void *stream) {
    CALL();
    (void)stream;
    NEED(current(), INVALID_CONTEXT);
    memmove((void *)(uintptr_t)dst, (void *)(uintptr_t)src, size);
    return 0;
}

API int cuMemsetD2D32Async(uint64_t dst, size_t pitch, unsigned value, size_t width, size_t height, void *stream) {
    CALL();
    (void)stream;
    NEED(current(), INVALID_CONTEXT);
    NEED(dst % sizeof value == 0 && pitch >= width * sizeof value, INVALID_VALUE);
    for (size_t row = 0; row < height; row++)
        for (size_t i = 0; i < width; i++)
            memcpy((char *)(uintptr_t)dst + row * pitch + i * sizeof value, &value, sizeof value);
    return 0;
}

API int cuMemsetD8Async(uint64_t dst, unsigned char value, size_t size, void *stream) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    pthread_mutex_lock(&lock);
    int waits = holding && nheld < MAX_HELD;
    if (waits) {
        held[nheld].at = (void *)(uintptr_t)dst;
        held[nheld].stream = stream;
        held[nheld].size = size;
        held[nheld++].value = value;
    }
    pthread_mutex_unlock(&lock);
    if (!waits)
        set_bytes((void *)(uintptr_t)dst, value, size);
    return 0;
}

/* ---- Streams ---- */

API int cuStreamSynchronize(void *stream) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    pthread_mutex_lock(&lock);
    let_go(0, stream);
    pthread_mutex_unlock(&lock);
    return 0;
}

API int cuStreamIsCapturing(void *stream, int *status) {
    CALL();
    (void)stream;
    NEED(current(), INVALID_CONTEXT);
    *status = capture_status;
    return 0;
}

/* The legacy stream is another one in each context. While a stream is being captured it may not be asked. */
API int cuStreamGetId(void *stream, uint64_t *id) {
    CALL();
    NEED(current(), INVALID_CONTEXT);
    NEED(!capture_status, 900);
    pthread_mutex_lock(&lock);
    *id = (uint64_t)generation << 48 | (uint64_t)(stream ? 0 : current()->id) << 32 | (uint64_t)(uintptr_t)stream;
    pthread_mutex_unlock(&lock);
    return 0;
}

API int cuThreadExchangeStreamCaptureMode(int *value) {
    CALL();
    int before = mode;
    mode = *value;
    *value = before;
    return 0;
}

/* ---- Control ---- */

static void control_fail(int nth, int error) {
    pthread_mutex_lock(&lock);
    calls = 0;
    fail_at = nth;
    fail_error = error;
    failed_function = NULL;
    pthread_mutex_unlock(&lock);
}

static void control_fail_name(const char *function, int error) {
    snprintf(fail_function, sizeof fail_function, "%s", function ? function : "");
    name_error = error;
}

static int control_calls(void) { return calls; }
static const char *control_failed(void) { return failed_function; }

static mock_live control_live(void) {
    mock_live l = {.depth = depth};
    for (int i = 0; i < MAX_BLOCKS; i++)
        l.allocations += blocks[i] != NULL;
    for (struct library *p = libraries; p; p = p->next)
        l.libraries++;
    for (int i = 0; i < ndevices; i++)
        l.retained += references[i];
    return l;
}

static const mock_launch *control_launch(int *count) {
    *count = launches;
    return &last;
}

static void control_on_launch(void (*looking)(const mock_launch *)) { look = looking; }
static void control_capture(int status) { capture_status = status; }
static int control_mode(void) { return mode; }

static void *control_context_new(int device) {
    struct context *c = calloc(1, sizeof *c);
    c->device = device;
    c->id = contexts++;
    return c;
}

static int control_count(const char *function) {
    int n = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_COUNTED && counted[i].name; i++)
        if (strcmp(counted[i].name, function) == 0)
            n = counted[i].count;
    pthread_mutex_unlock(&lock);
    return n;
}

static void control_hold(int on) {
    pthread_mutex_lock(&lock);
    holding = on;
    if (!on)
        let_go(1, NULL);
    pthread_mutex_unlock(&lock);
}

static void control_renew_streams(void) {
    pthread_mutex_lock(&lock);
    generation++;
    pthread_mutex_unlock(&lock);
}

static void control_context_set(void *context) {
    depth = 0;
    if (context)
        stack[depth++] = context;
}

static void *control_context_get(void) { return current(); }

static const int *control_jit(int *count) {
    *count = last_option_count;
    return last_options;
}

static int control_synchronised(void *context) { return ((struct context *)context)->synchronised; }

API const mock_functions *mock_control(void);
const mock_functions *mock_control(void) {
    static const mock_functions functions = {
        .fail_at = control_fail,
        .fail_name = control_fail_name,
        .calls = control_calls,
        .count = control_count,
        .failed = control_failed,
        .live = control_live,
        .launch = control_launch,
        .on_launch = control_on_launch,
        .capture = control_capture,
        .mode = control_mode,
        .context_new = control_context_new,
        .context_set = control_context_set,
        .context_get = control_context_get,
        .jit = control_jit,
        .synchronised = control_synchronised,
        .hold = control_hold,
        .renew_streams = control_renew_streams,
    };
    return &functions;
}
