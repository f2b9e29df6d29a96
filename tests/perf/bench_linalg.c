/* bench_linalg.c - inverses of matrices and solutions of equations, of 3 to 256 rows in batches: the catalogue's functions, and beside
 * them on the CPU LAPACK of OpenBLAS called directly, matrix by matrix, on one thread. The GPU's peers are in
 * peers_gpu_linalg.py. */
#include "bench.h"

static const DLDevice cpu = {kDLCPU, 0}, gpu = {kDLCUDA, 0};

enum {
    SIZES = 5
};
static const int sizes[SIZES] = {3, 4, 8, 32, 256};

/* LAPACK, by its Fortran symbols. */
static struct {
    void (*getrf)(const int *m, const int *n, float *a, const int *lda, int *pivots, int *info);
    void (*getri)(const int *n, float *a, const int *lda, const int *pivots, float *work, const int *lwork, int *info);
    void (*gesv)(const int *n, const int *nrhs, float *a, const int *lda, int *pivots, float *b, const int *ldb,
                 int *info);
} lapack;

static bool lapack_open(void) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    void (*set_threads)(int);
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&lapack.getrf = dlsym(library, "sgetrf_");
    *(void **)&lapack.getri = dlsym(library, "sgetri_");
    *(void **)&lapack.gesv = dlsym(library, "sgesv_");
    if (set_threads)
        set_threads(1);
    return lapack.getrf && lapack.getri && lapack.gesv;
}

/* A batch: float32 matrices a, vectors b, results. */
typedef struct batch {
    uf_func *f;
    int nargs;
    DLTensor args[3];
    const uf_options *options;
    int n;
    int64_t count, matrices[3], vectors[2];
    float *a, *b, *y;
} batch;

static void ours(void *user) {
    batch *w = user;
    MUST(uf_call(w->f, w->nargs, w->args, w->options));
}

static void inverses(void *user) {
    const batch *w = user;
    static int pivots[256], info;
    static float work[256 * 64];
    const int lwork = 256 * 64;
    memcpy(w->y, w->a, (size_t)w->count * (size_t)(w->n * w->n) * sizeof *w->y);
    for (int64_t i = 0; i < w->count; i++) {
        float *at = w->y + i * w->n * w->n;
        lapack.getrf(&w->n, &w->n, at, &w->n, pivots, &info);
        lapack.getri(&w->n, at, &w->n, pivots, work, &lwork, &info);
    }
}

static void solutions(void *user) {
    const batch *w = user;
    static int pivots[256], info;
    static float own[256 * 256];
    const int one = 1;
    memcpy(w->y, w->b, (size_t)w->count * (size_t)w->n * sizeof *w->y);
    for (int64_t i = 0; i < w->count; i++) {
        for (int r = 0; r < w->n; r++)
            for (int c = 0; c < w->n; c++)
                own[r + c * w->n] = w->a[(i * w->n + r) * w->n + c];
        lapack.gesv(&w->n, &one, own, &w->n, pivots, w->y + i * w->n, &w->n, &info);
    }
}

/* Times what is done for a batch; on the CPU so often that the clock tells. */
static void timed(const char *name, const char *system, gpu_work *work, batch *w, bool on_gpu) {
    double t[REPETITIONS];
    if (on_gpu) {
        gpu_time(work, w, t, REPETITIONS);
    } else {
        for (int k = -2; k < REPETITIONS; k++) {
            double start = now();
            work(w);
            if (k >= 0)
                t[k] = now() - start;
        }
    }
    row(name, system, "Mmatrix/s", 1e-6 * (double)w->count, t, REPETITIONS);
}

/* Matrices with a large diagonal, so that all have inverses. */
static void fill(batch *w) {
    for (int64_t i = 0; i < w->count * w->n * w->n; i++)
        w->a[i] = (float)noise(-1, 1) + (i % (w->n * w->n) % (w->n + 1) ? 0 : (float)w->n);
    for (int64_t i = 0; i < w->count * w->n; i++)
        w->b[i] = (float)noise(-1, 1);
}

/* On the GPU a copy of an array of the host's, else the array. */
static float *place(float *from, int64_t n, bool device) {
    if (!device)
        return from;
    DLTensor there = on_gpu(f32, n), here = UF_ARRAY(from, n);
    MUST(uf_copy(&there, &here, NULL));
    return there.data;
}

static void set(batch *w, const char *name, bool inverse, bool device, float *const data[3]) {
    DLDevice where = device ? gpu : cpu;
    MUST(uf_load(&w->f, name));
    w->nargs = inverse ? 2 : 3;
    for (int k = 0; k < w->nargs; k++) {
        bool matrix = !k || inverse;
        w->args[k] = (DLTensor){.data = data[inverse && k ? 2 : k],
                                .device = where,
                                .ndim = matrix ? 3 : 2,
                                .dtype = f32,
                                .shape = matrix ? w->matrices : w->vectors};
    }
    w->options = device ? NULL : &one_thread;
}

static void size_case(int n, int64_t elements, bool device, bool peer) {
    char name[64];
    batch w = {.n = n, .count = elements / (n * n)};
    memcpy(w.matrices, (int64_t[]){w.count, n, n}, sizeof w.matrices);
    memcpy(w.vectors, (int64_t[]){w.count, n}, sizeof w.vectors);
    w.a = memory((size_t)elements * 4), w.b = memory((size_t)elements * 4), w.y = memory((size_t)elements * 4);
    fill(&w);
    float *data[] = {place(w.a, elements, device), place(w.b, elements, device), place(w.y, elements, device)};
    for (int inverse = 1; inverse >= 0; inverse--) {
        snprintf(name, sizeof name, "%s_%s_f32_%d", device ? "gpu" : "cpu", inverse ? "inv" : "solve", n);
        set(&w, inverse ? "inv" : "solve", inverse, device, data);
        timed(name, device ? "libufunc" : "libufunc 1 thread", ours, &w, device);
        if (peer)
            timed(name, "OpenBLAS LAPACK", inverse ? inverses : solutions, &w, false);
        uf_free(w.f);
    }
    free(w.a);
    free(w.b);
    free(w.y);
}

int main(void) {
    if (!getenv("BENCH_GPU_ONLY")) {
        bool peer = lapack_open();
        if (!peer)
            fprintf(stderr, "bench: no OpenBLAS; its rows are left out\n");
        for (int i = 0; i < SIZES; i++)
            size_case(sizes[i], 1 << 20, false, peer);
    }
    if (driver_open())
        for (int i = 0; i < SIZES; i++)
            size_case(sizes[i], 1 << 24, true, false);
    else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return 0;
}
