/* bench_linalg.c - inverses of matrices and solutions of equations, of 3 to 256 rows in batches: the catalogue's functions, and beside
 * them on the CPU LAPACK of OpenBLAS called directly, matrix by matrix, on one thread. The GPU's peers are in
 * peers_gpu_linalg.py, and cuBLAS and cuSOLVER called directly in limits_linalg.cu, beside which stand more forms, of single matrices and
 * of batches (`bench_linalg forms`: these alone). */
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

/* ---- Single matrices and batches, by every form that has a library on the GPU; the peers are in limits_linalg.cu ---- */

typedef struct form {
    const char *name;
    int nout;
    char shape[4]; /* of the outputs, and of a second input before them: m a matrix, v a vector */
    bool two;      /* it has a second input */
} form;

static const form forms[] = {{"solve", 1, "vv", true}, {"inv", 1, "m", false},   {"cholesky", 1, "m", false},
                             {"qr", 2, "mm", false},   {"eigh", 2, "vm", false}, {"svd", 3, "mvm", false}};

static const struct {
    int n, count, least; /* least: matrices for methods without a batch */
} batches[] = {{8, 4096, 4096}, {16, 4096, 4096}, {32, 4096, 4096}, {64, 1024, 1024}, {256, 64, 4},
               {32, 1, 1},      {64, 1, 1},       {256, 1, 1},      {1024, 1, 1}};

/* Symmetric with a large diagonal: positive definite. */
static void symmetric(float *a, int64_t count, int n) {
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                a[(k * n + i) * n + j] = a[(k * n + j) * n + i] = (float)noise(-1, 1) + (i == j ? (float)n : 0);
}

/* all: matrices of the case, of which `count` are computed. */
static void form_case(const form *f, int n, int all, int64_t count, float *from, float *const to[4]) {
    enum {
        RUNS = 9
    };
    char name[64];
    int64_t matrices[] = {count, n, n}, vectors[] = {count, n};
    double t[RUNS];
    gpu_call c = {.nargs = 1 + f->two + f->nout};
    MUST(uf_load(&c.f, f->name));
    for (int k = 0; k < c.nargs; k++) {
        bool matrix = !k || f->shape[k - 1] == 'm';
        c.args[k] = (DLTensor){.data = k ? to[k] : from,
                               .device = gpu,
                               .ndim = matrix ? 3 : 2,
                               .dtype = f32,
                               .shape = matrix ? matrices : vectors};
    }
    snprintf(name, sizeof name, "gpu_%s_f32_%d_x%d", f->name, n, all);
    gpu_time(gpu_call_run, &c, t, RUNS);
    row(name, "libufunc", "Mmatrix/s", 1e-6 * (double)count, t, RUNS);
    uf_free(c.f);
}

static void forms_all(void) {
    const int64_t most = 1 << 22;
    float *host = memory((size_t)most * 4), *to[4];
    for (int k = 0; k < 4; k++)
        to[k] = on_gpu(f32, most).data;
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        int n = batches[b].n;
        symmetric(host, batches[b].count, n);
        DLTensor there = {.data = to[0], .device = gpu, .ndim = 1, .dtype = f32, .shape = (int64_t[]){most}},
                 here = UF_ARRAY(host, most);
        MUST(uf_copy(&there, &here, NULL));
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            bool svd = !strcmp(forms[k].name, "svd");
            form_case(&forms[k], n, batches[b].count, svd ? batches[b].least : batches[b].count, to[0], to);
        }
    }
    free(host);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "forms")) {
        check(driver_open(), "no CUDA driver");
        forms_all();
        return 0;
    }
    if (!getenv("BENCH_GPU_ONLY")) {
        bool peer = lapack_open();
        if (!peer)
            fprintf(stderr, "bench: no OpenBLAS; its rows are left out\n");
        for (int i = 0; i < SIZES; i++)
            size_case(sizes[i], 1 << 20, false, peer);
    }
    if (driver_open()) {
        for (int i = 0; i < SIZES; i++)
            size_case(sizes[i], 1 << 24, true, false);
        forms_all();
    } else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return 0;
}
