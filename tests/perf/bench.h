/* bench.h - what the programs of the benchmark share: rows, clocks, memory, and the bare driver. Rows:
 * case,system,metric,value, spread (spread: the relative distance between the quartiles of the repetitions). */
#ifndef BENCH_H
#define BENCH_H

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ufunc.h>

#define MUST(call)                                                        \
    do {                                                                  \
        if (call) {                                                       \
            fprintf(stderr, "%s: %s\n", #call, uf_last_error()->message); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

enum {
    REPETITIONS = 31
};

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the median of samples (with BENCH_BEST set the least, for a machine that others keep busy) as scale / sample (a rate) or,
 * if scale is 0, as 1e6 * sample (microseconds). */
static inline void row(const char *name, const char *system, const char *metric, double scale, double *sample, int n) {
    qsort(sample, (size_t)n, sizeof *sample, by_value);
    double typical = sample[getenv("BENCH_BEST") ? 0 : n / 2],
           spread = (sample[3 * n / 4] - sample[n / 4]) / sample[n / 2];
    printf("%s,%s,%s,%.5g,%.3f\n", name, system, metric, scale > 0 ? scale / typical : 1e6 * typical, spread);
    fflush(stdout);
}

static inline void check(bool right, const char *what) {
    if (right)
        return;
    fprintf(stderr, "%s: wrong result\n", what);
    exit(1);
}

static unsigned noise_state = 1;
static inline double noise(double low, double high) {
    noise_state = noise_state * 1664525u + 1013904223u;
    return low + (high - low) * (noise_state >> 8) / 16777216.0;
}

/* On huge pages where there are some, as uf_empty and NumPy have it. */
static inline void *memory(size_t size) {
    const size_t page = 2 << 20;
    void *p = aligned_alloc(page, (size + page - 1) & ~(page - 1));
    if (!p)
        exit(1);
    madvise(p, size, MADV_HUGEPAGE);
    memset(p, 0, size);
    return p;
}

static const uf_options one_thread = {.size = sizeof(uf_options), .threads = 1};

/* ---- GPU ---- */

typedef void *event;
static struct {
    int (*init)(unsigned);
    int (*event_create)(event *, unsigned);
    int (*event_record)(event, void *);
    int (*event_wait)(event);
    int (*event_ms)(float *, event, event);
    int (*load)(void **, const void *);
    int (*get)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*copy)(unsigned long long, unsigned long long, size_t, void *);
} cu;

static inline bool driver_open(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return false;
    const struct {
        const char *name;
        void *slot;
    } table[] = {{"cuInit", &cu.init},
                 {"cuEventCreate", &cu.event_create},
                 {"cuEventRecord", &cu.event_record},
                 {"cuEventSynchronize", &cu.event_wait},
                 {"cuEventElapsedTime", &cu.event_ms},
                 {"cuModuleLoadData", &cu.load},
                 {"cuModuleGetFunction", &cu.get},
                 {"cuLaunchKernel", &cu.launch},
                 {"cuDevicePrimaryCtxRetain", &cu.retain},
                 {"cuCtxSetCurrent", &cu.set_current},
                 {"cuMemcpyDtoDAsync_v2", &cu.copy}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *p = dlsym(lib, table[i].name);
        if (!p)
            return false;
        memcpy(table[i].slot, &p, sizeof p);
    }
    void *context;
    return cu.init(0) == 0 && cu.retain(&context, 0) == 0 && cu.set_current(context) == 0;
}

/* The times of `runs` calls on the default stream, by events. */
typedef void gpu_work(void *user);
static inline void gpu_time(gpu_work *work, void *user, double *t, int runs) {
    event a, b;
    cu.event_create(&a, 0);
    cu.event_create(&b, 0);
    for (int k = -3; k < runs; k++) {
        float ms;
        cu.event_record(a, NULL);
        work(user);
        cu.event_record(b, NULL);
        cu.event_wait(b);
        cu.event_ms(&ms, a, b);
        if (k >= 0)
            t[k] = 1e-3 * (double)ms;
    }
}

typedef struct gpu_call {
    uf_func *f;
    int nargs;
    DLTensor args[4];
} gpu_call;

static inline void gpu_call_run(void *user) {
    gpu_call *c = user;
    MUST(uf_call(c->f, c->nargs, c->args, NULL));
}

static inline DLTensor on_gpu(DLDataType type, int64_t n) {
    DLManagedTensor *m;
    MUST(uf_empty(&m, (DLDevice){kDLCUDA, 0}, type, 1, &n));
    return m->dl_tensor;
}

/* A copy of n elements of the host's. */
static inline DLTensor to_gpu(const void *from, DLDataType type, int64_t n) {
    DLTensor to = on_gpu(type, n), host = UF_ARRAY((const float *)from, n);
    host.dtype = type;
    MUST(uf_copy(&to, &host, NULL));
    return to;
}

/* A number below another one, as limits.cuh draws them. */
static unsigned draw_state;
static inline unsigned draw(unsigned below) {
    draw_state = draw_state * 1664525u + 1013904223u;
    return (unsigned)((unsigned long long)draw_state * below >> 32);
}

static const DLDataType f32 = {kDLFloat, 32, 1};

static inline void gpu_fill(const DLTensor *t, int64_t n) {
    float *h = memory(4 * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        h[i] = (float)noise(.5, 2);
    DLTensor host = UF_ARRAY(h, n);
    MUST(uf_copy(t, &host, NULL));
    free(h);
}

#endif
