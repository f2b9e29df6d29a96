/* bench_products.c - products of matrices beside cuBLAS, which is called here directly, with a workspace of the size that NVIDIA
 * recommends. Rows are GFLOP/s: 2 * m * n * p for each product, four times that for complex numbers. "libufunc plan" is
 * a plan of the same call, "libufunc generated" what runs where there is no cuBLAS: this program again, with UFUNC_CUBLAS naming none. On the CPU OpenBLAS is the peer. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum {
    RUNS = 9,
    PERIOD = 1 << 20, /* of the operands' values */
    WORKSPACE = 32 << 20
};

/* ---- Cases ---- */

typedef enum kind {
    MATMUL, /* batches of matrices in C order */
    VECTORS /* one matrix times many vectors */
} kind;

typedef struct product {
    const char *name;
    char type; /* e b f d F D: float16, bfloat16, float32, .. complex128 */
    kind kind;
    int64_t m, n, p, batch; /* VECTORS: p of them */
} product;

static const struct {
    char code;
    DLDataType type;
    int cuda;    /* cudaDataType_t */
    int compute; /* cublasComputeType_t */
    int flops;   /* of a multiplication and an addition */
} types[] = {{'e', {kDLFloat, 16, 1}, 2, 68, 2},   {'b', {kDLBfloat, 16, 1}, 14, 68, 2},
             {'f', {kDLFloat, 32, 1}, 0, 68, 2},   {'d', {kDLFloat, 64, 1}, 1, 70, 2},
             {'F', {kDLComplex, 64, 1}, 4, 68, 8}, {'D', {kDLComplex, 128, 1}, 5, 70, 8}};

static int type_of(const product *q) {
    int t = 0;
    while (types[t].code != q->type)
        t++;
    return t;
}

static double flops(const product *q) {
    return (double)types[type_of(q)].flops * (double)q->m * (double)q->n * (double)q->p * (double)q->batch;
}

/* ---- Values: multiples of 1/4 up to 2, which every dtype holds ---- */

static double value(int64_t i) { return (double)((i * 7 + i / 13) % 17 - 8) / 4; }

static void put(char type, void *at, int64_t i, double x) {
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    switch (type) {
    case 'e':
        ((uint16_t *)at)[i] = f == 0 ? 0 : (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 13) - (112 << 10)) & 0x7fff));
        break;
    case 'b':
        ((uint16_t *)at)[i] = (uint16_t)(bits >> 16);
        break;
    case 'f':
    case 'F':
        ((float *)at)[i] = f;
        break;
    default:
        ((double *)at)[i] = x;
    }
}

static double get(char type, const void *at, int64_t i) {
    uint32_t bits;
    float f;
    switch (type) {
    case 'e':
        bits = ((const uint16_t *)at)[i];
        bits = (bits & 0x8000) << 16 | ((bits & 0x7fff) ? ((bits & 0x7fff) << 13) + (112 << 23) : 0);
        break;
    case 'b':
        bits = (uint32_t)((const uint16_t *)at)[i] << 16;
        break;
    case 'f':
    case 'F':
        return (double)((const float *)at)[i];
    default:
        return ((const double *)at)[i];
    }
    memcpy(&f, &bits, 4);
    return (double)f;
}

static bool is_complex(char type) { return type == 'F' || type == 'D'; }

/* n elements of a dtype, whose imaginary parts are 0 at odd places; they repeat after PERIOD. */
static void fill(const DLTensor *t, char type, int64_t n) {
    int parts = is_complex(type) ? 2 : 1, size = t->dtype.bits / 8;
    char *h = memory((size_t)PERIOD * (size_t)size);
    for (int64_t i = 0; i < PERIOD; i++) {
        put(type, h, parts * i, value(i));
        if (parts == 2)
            put(type, h, 2 * i + 1, i % 2 ? 0 : value(i + 3));
    }
    for (int64_t i = 0; i < n; i += PERIOD) {
        int64_t count = n - i < PERIOD ? n - i : PERIOD;
        DLTensor part = *t, host = *t;
        part.shape = host.shape = &count;
        part.byte_offset += (uint64_t)(i * size);
        host.data = h;
        host.byte_offset = 0;
        host.device = (DLDevice){kDLCPU, 0};
        MUST(uf_copy(&part, &host, NULL));
    }
    free(h);
}

static double real_part(int64_t i) { return value(i % PERIOD); }
static double imaginary(char type, int64_t i) { return !is_complex(type) || i % 2 ? 0 : value(i % PERIOD + 3); }

/* ---- Operands ---- */

typedef struct operands {
    product q;
    DLManagedTensor *owner[3];
    gpu_call call;
    int64_t shape[3][3];
} operands;

static int64_t count_of(const product *q, int k) {
    int64_t a = q->m * q->n, b = q->n * q->p, c = q->m * q->p;
    return k == 0 ? q->batch * a : k == 1 ? q->batch * b : q->batch * c;
}

static void operands_make(operands *o, const product *q, DLDevice device) {
    const int64_t shapes[2][3][3] = {{{q->batch, q->m, q->n}, {q->batch, q->n, q->p}, {q->batch, q->m, q->p}},
                                     {{1, q->m, q->n}, {q->p, q->n}, {q->p, q->m}}};
    o->q = *q;
    memcpy(o->shape, shapes[q->kind == VECTORS], sizeof o->shape);
    MUST(uf_load(&o->call.f, q->kind == VECTORS ? "matvec" : "matmul"));
    o->call.nargs = 3;
    for (int k = 0; k < 3; k++) {
        int64_t n = count_of(q, k);
        MUST(uf_empty(&o->owner[k], device, types[type_of(q)].type, 1, &n));
        if (k < 2)
            fill(&o->owner[k]->dl_tensor, q->type, n);
        o->call.args[k] = o->owner[k]->dl_tensor;
        o->call.args[k].shape = o->shape[k];
        o->call.args[k].strides = NULL;
        o->call.args[k].ndim = q->kind == VECTORS && k ? 2 : 3;
    }
}

static void operands_free(operands *o) {
    for (int k = 0; k < 3; k++)
        o->owner[k]->deleter(o->owner[k]);
    uf_free(o->call.f);
}

/* The last elements of the result against sums of doubles. */
static void operands_check(const operands *o) {
    enum {
        PLACES = 16
    };
    const product *q = &o->q;
    int64_t all = count_of(q, 2), first = all > PLACES ? all - PLACES : 0, n = all - first;
    double result[2 * PLACES];
    DLTensor part = o->owner[2]->dl_tensor, host = part;
    part.shape = host.shape = &n;
    part.byte_offset += (uint64_t)first * part.dtype.bits / 8;
    host.device = (DLDevice){kDLCPU, 0};
    host.data = result;
    host.byte_offset = 0;
    MUST(uf_copy(&host, &part, NULL));
    for (int64_t i = first; i < all; i++) {
        bool vectors = q->kind == VECTORS;
        int64_t b = vectors ? 0 : i / (q->m * q->p), at = vectors ? i : i % (q->m * q->p);
        int64_t row = vectors ? at % q->m : at / q->p, column = vectors ? at / q->m : at % q->p;
        double re = 0, im = 0, size = 0;
        for (int64_t k = 0; k < q->n; k++) {
            int64_t x = (b * q->m + row) * q->n + k, y = vectors ? column * q->n + k : (b * q->n + k) * q->p + column;
            double a = real_part(x), ai = imaginary(q->type, x), c = real_part(y), ci = imaginary(q->type, y);
            re += a * c - ai * ci;
            im += a * ci + ai * c;
            size += fabs(a * c) + fabs(ai * ci);
        }
        int64_t place = is_complex(q->type) ? 2 * (i - first) : i - first;
        double off = fabs(get(q->type, result, place) - re) +
                     (is_complex(q->type) ? fabs(get(q->type, result, place + 1) - im) : 0);
        double part_of = q->type == 'e' ? 1e-3 : q->type == 'b' ? 8e-3 : 1e-5;
        check(off <= part_of * (fabs(re) + fabs(im) + 1e-2 * size + 1), q->name);
    }
}

/* ---- cuBLAS ---- */

typedef int gemm_function(void *handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha,
                          const void *a, int type_a, int64_t lda, long long stride_a, const void *b, int type_b,
                          int64_t ldb, long long stride_b, const void *beta, void *c, int type_c, int64_t ldc,
                          long long stride_c, int64_t batch, int compute, int algorithm);

static struct {
    int (*create)(void **);
    int (*workspace)(void *, void *, size_t);
    gemm_function *gemm;
    void *handle;
} cublas;

static void *cublas_library(void) {
    static const char *const files[] = {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12"};
    void *lib = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files && !lib; i++)
        lib = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return lib;
}

static bool cublas_open(void) {
    void *lib = cublas_library();
    const int64_t size = WORKSPACE;
    DLManagedTensor *workspace;
    const struct {
        const char *name;
        void *slot;
    } table[] = {{"cublasCreate_v2", &cublas.create},
                 {"cublasSetWorkspace_v2", &cublas.workspace},
                 {"cublasGemmStridedBatchedEx_64", &cublas.gemm}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *p = lib ? dlsym(lib, table[i].name) : NULL;
        if (!p)
            return false;
        memcpy(table[i].slot, &p, sizeof p);
    }
    MUST(uf_empty(&workspace, (DLDevice){kDLCUDA, 0}, (DLDataType){kDLUInt, 8, 1}, 1, &size));
    return !cublas.create(&cublas.handle) && !cublas.workspace(cublas.handle, workspace->dl_tensor.data, (size_t)size);
}

static void cublas_run(void *user) {
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    static const float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
    const operands *o = user;
    const product *q = &o->q;
    int t = type_of(q), type = types[t].cuda, compute = types[t].compute;
    bool wide = types[t].compute == 70;
    const void *alpha = wide ? (const void *)one : one_f, *beta = wide ? (const void *)zero : zero_f;
    void *a = o->call.args[0].data, *b = o->call.args[1].data, *c = o->call.args[2].data;
    int bad = q->kind == VECTORS
                  ? cublas.gemm(cublas.handle, 1, 0, q->m, q->p, q->n, alpha, a, type, q->n, 0, b, type, q->n, 0, beta,
                                c, type, q->m, 0, 1, compute, -1)
                  : cublas.gemm(cublas.handle, 0, 0, q->p, q->m, q->n, alpha, b, type, q->p, q->n * q->p, a, type, q->n,
                                q->m * q->n, beta, c, type, q->p, q->m * q->p, q->batch, compute, -1);
    check(!bad, "cuBLAS");
}

/* ---- GPU ---- */

typedef struct planned {
    uf_plan *plan;
    void *data[3];
} planned;

static void plan_run(void *user) {
    const planned *p = user;
    MUST(uf_plan_run(p->plan, p->data, NULL));
}

static void plan_time(const operands *o, double *t) {
    planned p = {.data = {o->call.args[0].data, o->call.args[1].data, o->call.args[2].data}};
    MUST(uf_plan_new(&p.plan, o->call.f, 3, o->call.args, NULL));
    gpu_time(plan_run, &p, t, RUNS);
    uf_plan_free(p.plan);
}

/* clang-format off */
static const product gpu_products[] = {
    {"f32_4", 'f', MATMUL, 4, 4, 4, 1 << 21},
    {"f32_8", 'f', MATMUL, 8, 8, 8, 1 << 19},
    {"f32_12", 'f', MATMUL, 12, 12, 12, 1 << 18},
    {"f32_16", 'f', MATMUL, 16, 16, 16, 1 << 17},
    {"f32_24", 'f', MATMUL, 24, 24, 24, 1 << 16},
    {"f32_32", 'f', MATMUL, 32, 32, 32, 1 << 15},
    {"f32_48", 'f', MATMUL, 48, 48, 48, 1 << 14},
    {"f32_64", 'f', MATMUL, 64, 64, 64, 1 << 13},
    {"f32_100", 'f', MATMUL, 100, 100, 100, 1 << 12},
    {"f32_128", 'f', MATMUL, 128, 128, 128, 1 << 11},
    {"f32_256", 'f', MATMUL, 256, 256, 256, 1 << 9},
    {"f32_1024", 'f', MATMUL, 1024, 1024, 1024, 16},
    {"f32_1000", 'f', MATMUL, 1000, 1001, 999, 1},
    {"f32_2048", 'f', MATMUL, 2048, 2048, 2048, 1},
    {"f32_4096", 'f', MATMUL, 4096, 4096, 4096, 1},
    {"f32_64_one", 'f', MATMUL, 64, 64, 64, 1},
    {"f32_256_one", 'f', MATMUL, 256, 256, 256, 1},
    {"f32_8_one", 'f', MATMUL, 8, 8, 8, 1},
    {"f32_16_one", 'f', MATMUL, 16, 16, 16, 1},
    {"f32_32_one", 'f', MATMUL, 32, 32, 32, 1},
    {"f64_p1", 'd', MATMUL, 4096, 4096, 1, 1},
    {"c64_p1", 'F', MATMUL, 4096, 4096, 1, 1},
    {"f16_p1", 'e', MATMUL, 4096, 4096, 1, 1},
    {"f16_p1_batch", 'e', MATMUL, 256, 256, 1, 512},
    {"f64_p1_batch", 'd', MATMUL, 128, 128, 1, 2048},
    {"f32_p3_batch", 'f', MATMUL, 128, 128, 3, 2048},
    {"f16_p3_batch", 'e', MATMUL, 128, 128, 3, 2048},
    {"f32_matvec", 'f', VECTORS, 4096, 4096, 1, 1},
    {"f32_matvec_thin", 'f', VECTORS, 64, 1 << 18, 1, 1},
    {"f32_matvec_long", 'f', VECTORS, 1 << 18, 64, 1, 1},
    {"f16_vectors_16", 'e', VECTORS, 16, 16, 1 << 22, 1},
    {"f16_vectors_64", 'e', VECTORS, 64, 64, 1 << 22, 1},
    {"f32_wide_n", 'f', MATMUL, 64, 1 << 18, 64, 1},
    {"f32_long_m", 'f', MATMUL, 1 << 18, 64, 64, 1},
    {"f32_p2", 'f', MATMUL, 4096, 4096, 2, 1},
    {"f32_p8", 'f', MATMUL, 4096, 4096, 8, 1},
    {"f32_p1", 'f', MATMUL, 4096, 4096, 1, 1},
    {"f32_m1", 'f', MATMUL, 1, 4096, 4096, 1},
    {"f32_p1_batch", 'f', MATMUL, 256, 256, 1, 512},
    {"f32_p4_batch", 'f', MATMUL, 256, 256, 4, 256},
    {"f32_outer", 'f', MATMUL, 4096, 1, 4096, 1},
    {"f32_n4", 'f', MATMUL, 4096, 4, 4096, 1},
    {"f32_vectors_4", 'f', VECTORS, 4, 4, 1 << 22, 1},
    {"f32_vectors_8", 'f', VECTORS, 8, 8, 1 << 22, 1},
    {"f32_vectors_16", 'f', VECTORS, 16, 16, 1 << 22, 1},
    {"f32_vectors_32", 'f', VECTORS, 32, 32, 1 << 22, 1},
    {"f32_vectors_64", 'f', VECTORS, 64, 64, 1 << 22, 1},
    {"f32_vectors_128", 'f', VECTORS, 128, 128, 1 << 21, 1},
    {"f64_8", 'd', MATMUL, 8, 8, 8, 1 << 18},
    {"f64_16", 'd', MATMUL, 16, 16, 16, 1 << 16},
    {"f64_32", 'd', MATMUL, 32, 32, 32, 1 << 14},
    {"f64_64", 'd', MATMUL, 64, 64, 64, 1 << 12},
    {"f64_256", 'd', MATMUL, 256, 256, 256, 1 << 8},
    {"f64_2048", 'd', MATMUL, 2048, 2048, 2048, 1},
    {"c64_8", 'F', MATMUL, 8, 8, 8, 1 << 18},
    {"c64_16", 'F', MATMUL, 16, 16, 16, 1 << 16},
    {"c64_32", 'F', MATMUL, 32, 32, 32, 1 << 14},
    {"c64_64", 'F', MATMUL, 64, 64, 64, 1 << 12},
    {"c64_1024", 'F', MATMUL, 1024, 1024, 1024, 1},
    {"c128_16", 'D', MATMUL, 16, 16, 16, 1 << 15},
    {"c128_64", 'D', MATMUL, 64, 64, 64, 1 << 10},
    {"c128_512", 'D', MATMUL, 512, 512, 512, 4},
    {"f16_8", 'e', MATMUL, 8, 8, 8, 1 << 20},
    {"f16_16", 'e', MATMUL, 16, 16, 16, 1 << 18},
    {"f16_32", 'e', MATMUL, 32, 32, 32, 1 << 16},
    {"f16_64", 'e', MATMUL, 64, 64, 64, 1 << 14},
    {"f16_256", 'e', MATMUL, 256, 256, 256, 1 << 10},
    {"f16_4096", 'e', MATMUL, 4096, 4096, 4096, 1},
    {"bf16_16", 'b', MATMUL, 16, 16, 16, 1 << 18},
    {"bf16_256", 'b', MATMUL, 256, 256, 256, 1 << 10},
    {"bf16_4096", 'b', MATMUL, 4096, 4096, 4096, 1},
};
/* clang-format on */

static void gpu_product(const product *q, bool generated) {
    char name[64];
    double t[RUNS];
    operands o;
    snprintf(name, sizeof name, "gpu_product_%s", q->name);
    operands_make(&o, q, (DLDevice){kDLCUDA, 0});
    gpu_call_run(&o.call);
    operands_check(&o);
    gpu_time(gpu_call_run, &o.call, t, RUNS);
    row(name, generated ? "libufunc generated" : "libufunc", "GFLOP/s", 1e-9 * flops(q), t, RUNS);
    if (!generated) {
        plan_time(&o, t);
        row(name, "libufunc plan", "GFLOP/s", 1e-9 * flops(q), t, RUNS);
    }
    if (cublas.handle) {
        cublas_run(&o);
        operands_check(&o);
        gpu_time(cublas_run, &o, t, RUNS);
        row(name, "cuBLAS", "GFLOP/s", 1e-9 * flops(q), t, RUNS);
    }
    operands_free(&o);
}

static void gpu_all(bool generated) {
    const char *only = getenv("BENCH_PRODUCTS"); /* names of cases */
    MUST(uf_sync((DLDevice){kDLCUDA, 0}, NULL));
    if (!generated && !cublas_open())
        fprintf(stderr, "bench_products: no cuBLAS of CUDA 12 or later; its rows are left out\n");
    for (size_t i = 0; i < sizeof gpu_products / sizeof *gpu_products; i++)
        if (!only || strstr(only, gpu_products[i].name))
            gpu_product(&gpu_products[i], generated);
}

/* ---- CPU ---- */

typedef void sgemm_function(int order, int op_a, int op_b, int m, int n, int k, float alpha, const void *a, int lda,
                            const void *b, int ldb, float beta, void *c, int ldc);
static sgemm_function *openblas;

/* float32 only: by OpenBLAS called directly, on one thread. */
static void openblas_run(const operands *o) {
    const product *q = &o->q;
    int m = (int)q->m, n = (int)q->n, p = (int)q->p;
    const float *a = o->call.args[0].data, *b = o->call.args[1].data;
    float *c = o->call.args[2].data;
    if (q->kind == VECTORS)
        openblas(102, 112, 111, m, p, n, 1, a, n, b, n, 0, c, m);
    for (int64_t i = 0; q->kind == MATMUL && i < q->batch; i++)
        openblas(101, 111, 111, m, p, n, 1, a + i * m * n, n, b + i * n * p, p, 0, c + i * m * p, p);
}

static const product cpu_products[] = {
    {"f32_64", 'f', MATMUL, 64, 64, 64, 512},
    {"f32_512", 'f', MATMUL, 512, 512, 512, 1},
    {"f32_vectors_16", 'f', VECTORS, 16, 16, 1 << 18, 1},
    {"f32_vectors_64", 'f', VECTORS, 64, 64, 1 << 16, 1},
};

static void cpu_product(const product *q) {
    char name[64];
    double t[RUNS];
    operands o;
    snprintf(name, sizeof name, "cpu_product_%s", q->name);
    operands_make(&o, q, (DLDevice){kDLCPU, 0});
    for (int peer = 0; peer < (openblas ? 2 : 1); peer++) {
        for (int k = -1; k < RUNS; k++) {
            double start = now();
            if (peer)
                openblas_run(&o);
            else
                MUST(uf_call(o.call.f, 3, o.call.args, &one_thread));
            if (k >= 0)
                t[k] = now() - start;
        }
        operands_check(&o);
        row(name, peer ? "OpenBLAS" : "libufunc 1 thread", "GFLOP/s", 1e-9 * flops(q), t, RUNS);
    }
    operands_free(&o);
}

/* libufunc has opened OpenBLAS before, and set it to one thread. */
static void cpu_all(void) {
    char *info;
    MUST(uf_system_info(&info));
    free(info);
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *f = lib ? dlsym(lib, "cblas_sgemm") : NULL;
    memcpy(&openblas, &f, sizeof f);
    for (size_t i = 0; i < sizeof cpu_products / sizeof *cpu_products; i++)
        cpu_product(&cpu_products[i]);
}

/* This program again, in a process that has no cuBLAS. */
static bool run_generated(char *program) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        setenv("UFUNC_CUBLAS", "/nowhere", 1);
        execl("/proc/self/exe", program, "generated", (char *)NULL);
        _exit(126);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int argc, char **argv) {
    bool generated = argc > 1 && !strcmp(argv[1], "generated");
    if (!generated && !getenv("BENCH_GPU_ONLY"))
        cpu_all();
    bool right = generated || run_generated(argv[0]);
    if (driver_open())
        gpu_all(generated);
    else if (!generated)
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return !right;
}
