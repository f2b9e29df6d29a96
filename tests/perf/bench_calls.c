/* bench_calls.c - our side of the benchmark of generalized ufuncs: functions of the catalogue over batches. Results are
 * checked against plain loops before they are timed; a case that fails is left out, and the exit status says so. */
#include "bench.h"

enum {
    CHECKED = 3, /* inner calls at each end of the batch */
    MOST_ARGS = 3
};

static int failures;

/* ---- Functions, with every core dimension of one size n ---- */

static void plain_matvec(int64_t n, const float *a, const float *x, double *y) {
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < n; j++)
            y[i] += (double)a[i * n + j] * (double)x[j];
    }
}

static void plain_matmul(int64_t n, const float *a, const float *b, double *c) {
    for (int64_t i = 0; i < n * n; i++) {
        c[i] = 0;
        for (int64_t j = 0; j < n; j++)
            c[i] += (double)a[i / n * n + j] * (double)b[j * n + i % n];
    }
}

static void plain_vecdot(int64_t n, const float *x, const float *y, double *r) {
    *r = 0;
    for (int64_t i = 0; i < n; i++)
        *r += (double)x[i] * (double)y[i];
}

static void plain_norm(int64_t n, const float *x, const float *unused, double *r) {
    (void)unused;
    plain_vecdot(n, x, x, r);
    *r = sqrt(*r);
}

static void plain_softmax(int64_t n, const float *x, const float *unused, double *y) {
    double sum = 0;
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        sum += exp((double)x[i]);
    for (int64_t i = 0; i < n; i++)
        y[i] = exp((double)x[i]) / sum;
}

typedef struct function {
    const char *name;
    int nargs;
    int rank[MOST_ARGS]; /* core dimensions of each argument; the last is the output */
    void (*plain)(int64_t n, const float *a, const float *b, double *result);
} function;

static const function matvec = {"matvec", 3, {2, 1, 1}, plain_matvec}, matmul = {"matmul", 3, {2, 2, 2}, plain_matmul},
                      vecdot = {"vecdot", 3, {1, 1, 0}, plain_vecdot}, norm = {"norm", 2, {1, 0}, plain_norm},
                      softmax = {"softmax", 2, {1, 1}, plain_softmax};

/* ---- One case ---- */

/* A batch of inner calls. The arguments' shapes live here: do not copy. */
typedef struct batch {
    const function *function;
    int64_t n, count;
    gpu_call call;
    int64_t shape[MOST_ARGS][3];
} batch;

static int64_t core_elements(const batch *b, int k) {
    int64_t elements = 1;
    for (int d = 0; d < b->function->rank[k]; d++)
        elements *= b->n;
    return elements;
}

/* Bytes read and written; of a reduction, those read. */
static double bytes(const batch *b) {
    double sum = 0;
    int last = b->function->nargs - 1;
    for (int k = 0; k <= last; k++)
        if (k < last || b->function->rank[k])
            sum += 4.0 * (double)(b->count * core_elements(b, k));
    return sum;
}

/* The arguments are the first elements of `data`. */
static bool batch_make(batch *b, const function *f, int64_t n, int64_t count, void *const *data, DLDevice device) {
    *b = (batch){.function = f, .n = n, .count = count, .call = {.nargs = f->nargs}};
    for (int k = 0; k < f->nargs; k++) {
        b->shape[k][0] = count;
        b->shape[k][1] = b->shape[k][2] = n;
        b->call.args[k] =
            (DLTensor){.data = data[k], .device = device, .ndim = 1 + f->rank[k], .dtype = f32, .shape = b->shape[k]};
    }
    return !uf_load(&b->call.f, f->name);
}

/* Inner call `which` of argument k, in host memory; the caller frees it. */
static float *fetch(const batch *b, int k, int64_t which) {
    int64_t elements = core_elements(b, k);
    float *host = memory(4 * (size_t)elements);
    DLTensor part = b->call.args[k], to = UF_ARRAY(host, elements);
    part.ndim = 1;
    part.shape = &elements;
    part.byte_offset += 4 * (uint64_t)(which * elements);
    MUST(uf_copy(&to, &part, NULL));
    return host;
}

static bool inner_right(const batch *b, int64_t which) {
    int last = b->function->nargs - 1;
    int64_t elements = core_elements(b, last);
    double *want = memory(8 * (size_t)elements);
    float *arg[MOST_ARGS] = {NULL};
    bool right = true;
    for (int k = 0; k <= last; k++)
        arg[k] = fetch(b, k, which);
    b->function->plain(b->n, arg[0], arg[1], want);
    for (int64_t i = 0; i < elements; i++)
        right &= fabs((double)arg[last][i] - want[i]) <= 1e-4 * fabs(want[i]);
    for (int k = 0; k <= last; k++)
        free(arg[k]);
    free(want);
    return right;
}

/* Calls once and looks at the first and the last results; says what is wrong. */
static bool batch_right(const batch *b, const uf_options *options, const char *name) {
    bool right = !uf_call(b->call.f, b->call.nargs, b->call.args, options);
    if (!right)
        fprintf(stderr, "%s: %s\n", name, uf_last_error()->message);
    for (int64_t i = 0; right && i < b->count && i < CHECKED; i++) {
        right = inner_right(b, i) && inner_right(b, b->count - 1 - i);
        if (!right)
            fprintf(stderr, "%s: wrong result\n", name);
    }
    failures += !right;
    return right;
}

static bool loaded(bool success, const char *name) {
    if (!success)
        fprintf(stderr, "%s: %s\n", name, uf_last_error()->message);
    failures += !success;
    return success;
}

/* ---- CPU ---- */

static void cpu_case(const function *f, int64_t n, int64_t elements, float *const *data) {
    char name[64];
    batch b;
    double t[REPETITIONS];
    const struct {
        const char *system;
        const uf_options *options;
    } ways[] = {{"libufunc 1 thread", &one_thread}, {"libufunc all threads", NULL}};
    int64_t core = f->rank[0] == 2 ? n * n : n;
    snprintf(name, sizeof name, "cpu_%s_f32_%lld", f->name, (long long)n);
    void *const arrays[] = {data[0], data[1], data[2]};
    if (!loaded(batch_make(&b, f, n, elements / core, arrays, (DLDevice){kDLCPU, 0}), name))
        return;
    for (int way = 0; way < 2 && batch_right(&b, ways[way].options, name); way++) {
        for (int k = -3; k < REPETITIONS; k++) {
            double start = now();
            uf_call(b.call.f, b.call.nargs, b.call.args, ways[way].options);
            if (k >= 0)
                t[k] = now() - start;
        }
        row(name, ways[way].system, "Gelem/s", 1e-9 * (double)elements, t, REPETITIONS);
    }
    uf_free(b.call.f);
}

/* Elements are those of the first argument; they stay in the caches. */
static void cpu_all(void) {
    enum {
        ELEMENTS = 1 << 22
    };
    float *data[3];
    for (int k = 0; k < 3; k++) {
        data[k] = memory(4 * (size_t)ELEMENTS);
        for (int64_t i = 0; i < ELEMENTS; i++)
            data[k][i] = (float)noise(.5, 2);
    }
    for (int64_t n = 8; n <= 256; n = n == 8 ? 32 : 8 * n)
        cpu_case(&matvec, n, ELEMENTS, data);
    for (int64_t n = 8; n <= 256; n = n == 8 ? 32 : 8 * n)
        cpu_case(&vecdot, n, ELEMENTS / 2, data);
    for (int64_t n = 8; n <= 512; n *= 8)
        cpu_case(&matmul, n, n * n * (512 / n), data);
    for (int k = 0; k < 3; k++)
        free(data[k]);
}

/* ---- GPU ---- */

static void gpu_case(const function *f, const char *tag, int64_t n, int64_t count, void *const *data) {
    char name[64];
    batch b;
    double t[REPETITIONS];
    snprintf(name, sizeof name, "gpu_%s_f32_%s", f->name, tag);
    if (!loaded(batch_make(&b, f, n, count, data, (DLDevice){kDLCUDA, 0}), name))
        return;
    if (batch_right(&b, NULL, name)) {
        gpu_time(gpu_call_run, &b.call, t, REPETITIONS);
        row(name, "libufunc", "GB/s", 1e-9 * bytes(&b), t, REPETITIONS);
    }
    uf_free(b.call.f);
}

static void gpu_all(void) {
    const int64_t all = 1 << 28;
    DLTensor x = on_gpu(f32, all), y = on_gpu(f32, all), r = on_gpu(f32, all);
    gpu_fill(&x, all);
    gpu_fill(&y, all);
    void *const two[] = {x.data, y.data, r.data}, *const one[] = {x.data, r.data};
    gpu_case(&matvec, "8x8", 8, 1 << 20, two);
    gpu_case(&matvec, "32x32", 32, 1 << 16, two);
    gpu_case(&matvec, "256x256", 256, 1 << 12, two);
    gpu_case(&matmul, "16x16", 16, 1 << 18, two);
    gpu_case(&matmul, "32x32", 32, 1 << 16, two);
    gpu_case(&norm, "64", 64, all / 64, one);
    gpu_case(&norm, "1024", 1024, all / 1024, one);
    gpu_case(&norm, "1M", 1 << 20, all >> 20, one);
    gpu_case(&softmax, "64", 64, all / 64, one);
    gpu_case(&softmax, "1024", 1024, all / 1024, one);
    gpu_case(&softmax, "1M", 1 << 20, all >> 20, one);
}

int main(void) {
    if (!getenv("BENCH_GPU_ONLY"))
        cpu_all();
    if (driver_open())
        gpu_all();
    else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return failures != 0;
}
