/* bench_cores.c - reductions over core dimensions: products in order of quaternions and of small matrices, beside a copy of as many bytes,
 * on the CPU beside a loop in C, too. The elements have norm 1, so that products stay finite; results of the GPU are compared with the
 * CPU's. */
#include "bench.h"

typedef struct product {
    const char *name, *layout, *source;
    int rank;
    int64_t n, scalars; /* of a core, n in each dimension */
} product;

#define MATRICES "(a, b) -> (c) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]); }"

static const product products[] = {
    {"quaternions", "(4),(4)->(4)",
     "(p, q) -> (r) { r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];"
     " r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];"
     " r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];"
     " r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]; }",
     1, 4, 4},
    {"matrices2", "(n,n),(n,n)->(n,n)", MATRICES, 2, 2, 4},
    {"matrices3", "(n,n),(n,n)->(n,n)", MATRICES, 2, 3, 9},
    {"matrices4", "(n,n),(n,n)->(n,n)", MATRICES, 2, 4, 16},
};

/* Rotations about random axes by small angles; of matrices the upper left 2 x 2 is a plane rotation, else the unit matrix. */
static void elements_fill(const product *p, float *x, int64_t count) {
    memset(x, 0, (size_t)(count * p->scalars) * sizeof *x);
    for (int64_t e = 0; e < count; e++, x += p->scalars) {
        double angle = noise(-1, 1), u = noise(-1, 1), w = sqrt(1 - u * u);
        if (p->rank == 1) {
            x[0] = (float)cos(angle);
            x[1] = (float)(sin(angle) * u);
            x[2] = (float)(sin(angle) * w);
            continue;
        }
        int64_t n = p->n, at = n > 2 ? e % (n - 1) : 0;
        for (int64_t i = 0; i < n; i++)
            x[i * n + i] = 1;
        x[at * n + at] = x[(at + 1) * n + at + 1] = (float)cos(angle);
        x[at * n + at + 1] = (float)sin(angle);
        x[(at + 1) * n + at] = -(float)sin(angle);
    }
}

/* A call; the shapes live here: do not copy. */
typedef struct product_call {
    uf_func *f;
    DLTensor args[2];
    int64_t shape[3], core[2];
    bool scans;
    int threads;
} product_call;

static void product_run(void *user) {
    product_call *c = user;
    const uf_reduce_options reducing = {.size = sizeof reducing, .threads = c->threads};
    const uf_options scanning = {.size = sizeof scanning, .threads = c->threads};
    if (c->scans)
        MUST(uf_accumulate(c->f, 2, c->args, 0, &scanning));
    else
        MUST(uf_reduce(c->f, 2, c->args, &reducing));
}

static void product_make(product_call *c, const product *p, DLDevice device, void *x, void *result, int64_t count,
                         bool scans) {
    *c = (product_call){.shape = {count, p->n, p->n}, .core = {p->n, p->n}, .scans = scans, .threads = 1};
    c->args[0] = (DLTensor){.data = x, .device = device, .ndim = 1 + p->rank, .dtype = f32, .shape = c->shape};
    c->args[1] = c->args[0];
    c->args[1].data = result;
    if (!scans) {
        c->args[1].ndim = p->rank;
        c->args[1].shape = c->core;
    }
    MUST(uf_guvectorize(&c->f, p->name, p->layout, "ff->f", p->source));
}

/* ---- CPU ---- */

static void plain_multiply(const product *p, const float *a, const float *b, float *c) {
    if (p->rank == 1) {
        c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
        c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
        c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
        c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
        return;
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float sum = 0;
            for (int64_t k = 0; k < p->n; k++)
                sum += a[i * p->n + k] * b[k * p->n + j];
            c[i * p->n + j] = sum;
        }
}

static void plain_product(const product *p, const float *x, int64_t count, float *out) {
    float next[16];
    memcpy(out, x, (size_t)p->scalars * sizeof *x);
    for (int64_t e = 1; e < count; e++) {
        plain_multiply(p, out, x + e * p->scalars, next);
        memcpy(out, next, (size_t)p->scalars * sizeof *x);
    }
}

static bool is_near(const float *a, const float *b, int64_t n, double allowed) {
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)a[i] - b[i]) <= allowed))
            return false;
    return true;
}

static void cpu_case(const product *p, int64_t count, const char *tag) {
    const DLDevice cpu = {kDLCPU, 0};
    enum {
        FEW = 7
    };
    size_t bytes = (size_t)(count * p->scalars) * sizeof(float);
    float *x = memory(bytes), *y = memory(bytes), got[16], want[16];
    double t[FEW], gb = 1e-9 * (double)bytes;
    char name[64];
    elements_fill(p, x, count);
    for (int scans = 0; scans < 2; scans++) {
        product_call c;
        snprintf(name, sizeof name, "cpu_cores_%s_%s_%s", scans ? "scan" : "reduce", p->name, tag);
        product_make(&c, p, cpu, x, scans ? y : got, count, scans);
        for (int k = -1; k < FEW; k++) {
            double start = now();
            product_run(&c);
            if (k >= 0)
                t[k] = now() - start;
        }
        row(name, "libufunc 1 thread", "GB/s", scans ? 2 * gb : gb, t, FEW);
        uf_free(c.f);
    }
    for (int k = -1; k < FEW; k++) {
        double start = now();
        plain_product(p, x, count, want);
        if (k >= 0)
            t[k] = now() - start;
    }
    snprintf(name, sizeof name, "cpu_cores_reduce_%s_%s", p->name, tag);
    row(name, "C loop", "GB/s", gb, t, FEW);
    check(is_near(got, want, p->scalars, 1e-6 * (double)count) &&
              is_near(y + (count - 1) * p->scalars, want, p->scalars, 1e-6 * (double)count),
          name);
    for (int k = -1; k < FEW; k++) {
        double start = now();
        memcpy(y, x, bytes);
        if (k >= 0)
            t[k] = now() - start;
    }
    row(name, "memcpy", "GB/s", 2 * gb, t, FEW);
    free(x);
    free(y);
}

/* ---- GPU ---- */

static const DLDevice gpu = {kDLCUDA, 0};

typedef struct bare_copy {
    unsigned long long to, from;
    size_t size;
} bare_copy;
static void bare_copy_run(void *user) {
    bare_copy *c = user;
    cu.copy(c->to, c->from, c->size, NULL);
}

static void gpu_case(const product *p, int64_t count, const char *tag) {
    int64_t scalars = count * p->scalars, few = p->scalars;
    double t[REPETITIONS], gb = 4e-9 * (double)scalars;
    float *host = memory(4 * (size_t)scalars), want[16], got[16];
    DLTensor x = on_gpu(f32, scalars), y = on_gpu(f32, scalars), here = UF_ARRAY(host, scalars);
    char name[64];
    elements_fill(p, host, count);
    MUST(uf_copy(&x, &here, NULL));
    product_call c;
    product_make(&c, p, (DLDevice){kDLCPU, 0}, host, want, count, false);
    c.threads = 0;
    product_run(&c);
    uf_free(c.f);
    for (int scans = 0; scans < 2; scans++) {
        snprintf(name, sizeof name, "gpu_cores_%s_%s_%s", scans ? "scan" : "reduce", p->name, tag);
        product_make(&c, p, gpu, x.data, y.data, count, scans);
        gpu_time(product_run, &c, t, REPETITIONS);
        row(name, "libufunc", "GB/s", scans ? 2 * gb : gb, t, REPETITIONS);
        DLTensor last = y, to = UF_ARRAY(got, few);
        last.shape = &few;
        last.byte_offset = scans ? 4 * (uint64_t)(scalars - few) : 0;
        MUST(uf_copy(&to, &last, NULL));
        check(is_near(got, want, few, 1e-6 * (double)count), name);
        uf_free(c.f);
        bare_copy copy = {(unsigned long long)(uintptr_t)y.data, (unsigned long long)(uintptr_t)x.data,
                          4 * (size_t)scalars};
        gpu_time(bare_copy_run, &copy, t, REPETITIONS);
        row(name, "cuMemcpyDtoDAsync", "GB/s", 2 * gb, t, REPETITIONS);
    }
    free(host);
}

int main(void) {
    for (size_t k = 0; k < sizeof products / sizeof *products && !getenv("BENCH_GPU_ONLY"); k++) {
        cpu_case(&products[k], 1 << 12, "4K");
        cpu_case(&products[k], 1 << 20, "1M");
    }
    if (!driver_open()) {
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
        return 0;
    }
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        gpu_case(&products[k], k ? 1 << 22 : 1 << 24, k ? "4M" : "16M");
    return 0;
}
