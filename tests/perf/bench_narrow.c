/* bench_narrow.c - our side of the benchmark of short rows on the GPU: reductions and scans of rows, and of columns, of 2 to 40 elements, beside
 * a copy of as many bytes as are read and written; sparse matrices, gathers, and histograms by uf_at. The first rows' results are compared with the CPU's before a case is timed.
 * Argument: what the name of a case must contain. */
#include "bench.h"

enum {
    CHECKED = 1000,   /* rows */
    READ = 1 << 29,   /* bytes of the input of a case */
    FIRST_CALL = 31,  /* elements of a row of which the first call, which compiles, is timed, too */
    SPARSE = 1 << 26, /* elements of a sparse matrix, and indices */
    SOME = 1 << 20    /* numbers that the inputs repeat */
};

typedef struct narrow_case {
    const char *function, *dtype;
    DLDataType type;
    bool scans, columns;
    int lengths[24]; /* up to a 0 */
} narrow_case;

#define LENGTHS \
    { 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 17, 20, 24, 28, 31, 32, 33, 40 }
#define FEW \
    { 3, 8, 10, 31 }

static const narrow_case cases[] = {
    {"sum", "f32", {kDLFloat, 32, 1}, false, false, LENGTHS},
    {"argmax", "f32", {kDLFloat, 32, 1}, false, false, LENGTHS},
    {"cumsum", "f32", {kDLFloat, 32, 1}, true, false, LENGTHS},
    {"sum", "f32", {kDLFloat, 32, 1}, false, true, LENGTHS},
    {"cumsum", "f32", {kDLFloat, 32, 1}, true, true, FEW},
    {"sum", "f64", {kDLFloat, 64, 1}, false, false, FEW},
    {"sum", "c64", {kDLComplex, 64, 1}, false, false, FEW},
    {"sum", "f16", {kDLFloat, 16, 1}, false, false, FEW},
    {"sum", "i8", {kDLInt, 8, 1}, false, false, FEW},
    {"max", "u8", {kDLUInt, 8, 1}, false, false, FEW},
    {"cumsum", "i64", {kDLInt, 64, 1}, true, false, FEW},
};

/* A function over rows of the first argument. The shapes live here: do not copy. */
typedef struct narrow_call {
    uf_func *f;
    int axis;
    bool scans;
    DLTensor args[2];
    int64_t shape[2], result[1];
} narrow_call;

static void narrow_run(void *user) {
    narrow_call *c = user;
    if (c->scans)
        MUST(uf_accumulate(c->f, 2, c->args, c->axis, NULL));
    else
        MUST(uf_reduce(c->f, 2, c->args,
                       &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = 1, .axes = &c->axis}));
}

static DLDataType result_type(const narrow_case *x) {
    const DLDataType i64 = {kDLInt, 64, 1};
    if (!strcmp(x->function, "argmax") || (x->type.code == kDLInt && !strcmp(x->function, "sum")))
        return i64;
    return x->type;
}

static void call_make(narrow_call *c, const narrow_case *x, int64_t rows, int n, void *from, void *to,
                      DLDevice device) {
    c->scans = x->scans;
    c->axis = x->columns ? 0 : 1;
    c->shape[!x->columns] = n;
    c->shape[x->columns] = c->result[0] = rows;
    c->args[0] = (DLTensor){.data = from, .device = device, .ndim = 2, .dtype = x->type, .shape = c->shape};
    c->args[1] = (DLTensor){.data = to, .device = device, .ndim = 1, .dtype = result_type(x), .shape = c->result};
    if (x->scans) {
        c->args[1].ndim = 2;
        c->args[1].shape = c->shape;
    }
    MUST(uf_load(&c->f, x->function));
}

/* The first `some` rows of an array of two dimensions (or elements of one), copied to the host. */
static void *first_rows(const DLTensor *all, int64_t some, bool columns) {
    int64_t shape[2] = {some, some}, strides[2] = {1, 1};
    DLTensor part = *all, host;
    if (all->ndim == 2) {
        shape[columns ? 0 : 1] = all->shape[columns ? 0 : 1];
        strides[0] = all->shape[1];
    }
    part.shape = shape;
    part.strides = strides;
    host = part;
    host.strides = NULL;
    host.device = (DLDevice){kDLCPU, 0};
    int64_t n = all->ndim == 2 ? shape[0] * shape[1] : shape[0];
    host.data = memory((size_t)n * (all->dtype.bits / 8));
    MUST(uf_copy(&host, &part, NULL));
    return host.data;
}

static void narrow_check(const narrow_call *c, const narrow_case *x, int n, const char *name) {
    narrow_call host;
    int size = result_type(x).bits / 8;
    size_t bytes = (size_t)(CHECKED * size * (x->scans ? n : 1));
    void *from = first_rows(&c->args[0], CHECKED, x->columns), *got = first_rows(&c->args[1], CHECKED, x->columns),
         *want = memory(bytes);
    call_make(&host, x, CHECKED, n, from, want, (DLDevice){kDLCPU, 0});
    narrow_run(&host);
    check(!memcmp(got, want, bytes), name);
    uf_free(host.f);
    free(from);
    free(got);
    free(want);
}

static double copied[REPETITIONS]; /* times of a copy of READ bytes */

static void gpu_case(const narrow_case *x, int n, void *from, void *to, const char *only) {
    char name[64];
    double t[REPETITIONS];
    narrow_call c;
    snprintf(name, sizeof name, "gpu_%s_%s_%s_of_%d", x->function, x->dtype, x->columns ? "columns" : "rows", n);
    if (!strstr(name, only))
        return;
    int64_t size = x->type.bits / 8, out = result_type(x).bits / 8, rows = READ / size / n;
    call_make(&c, x, rows, n, from, to, (DLDevice){kDLCUDA, 0});
    double first = now();
    narrow_run(&c);
    first = now() - first;
    narrow_check(&c, x, n, name);
    gpu_time(narrow_run, &c, t, REPETITIONS);
    row(name, "libufunc", "GB/s", 1e-9 * (double)(rows * (n * size + out * (x->scans ? n : 1))), t, REPETITIONS);
    uf_free(c.f);
    row(name, "cudaMemcpyAsync", "GB/s", 2e-9 * READ, copied, REPETITIONS);
    if (n != FIRST_CALL)
        return;
    strcat(name, "_first_call");
    row(name, "libufunc", "host us", 0, &first, 1);
}

typedef struct gpu_copy {
    void *to, *from;
} gpu_copy;

static void copy_run(void *user) {
    const gpu_copy *c = user;
    cu.copy((unsigned long long)(uintptr_t)c->to, (unsigned long long)(uintptr_t)c->from, READ, NULL);
}

/* Small whole numbers, so that sums are exact in every dtype. */
static void fill(void *to, DLDataType type) {
    uint8_t *h = memory(SOME);
    for (int64_t i = 0; i < SOME; i++)
        h[i] = (uint8_t)noise(0, 4);
    int64_t shape[2] = {READ / (type.bits / 8) / SOME, SOME}, strides[2] = {0, 1};
    DLTensor host = UF_ARRAY(h, SOME), part = on_gpu((DLDataType){kDLUInt, 8, 1}, SOME);
    DLTensor all = {.data = to, .device = {kDLCUDA, 0}, .ndim = 2, .dtype = type, .shape = shape};
    MUST(uf_copy(&part, &host, NULL));
    part.ndim = 2;
    part.shape = shape;
    part.strides = strides;
    MUST(uf_copy(&all, &part, NULL));
    free(h);
}

/* ---- Rows of a sparse matrix, and elements found by indices: the numbers are those of limits_narrow.cu ---- */

static const DLDataType i32 = {kDLInt, 32, 1};

typedef struct points {
    uf_func *f;
    int64_t n;
    int nargs;
    DLTensor args[5];
} points;

static void points_run(void *user) {
    const points *p = user;
    MUST(uf_forall(p->f, 1, &p->n, p->nargs, p->args, NULL));
}

static void points_case(points *p, const char *name, double gigabytes, const float *wanted) {
    double t[REPETITIONS];
    float got[CHECKED];
    int64_t some = CHECKED;
    points_run(p);
    DLTensor part = p->args[p->nargs - 1], host = UF_ARRAY(got, CHECKED);
    part.shape = &some;
    MUST(uf_copy(&host, &part, NULL));
    check(!memcmp(got, wanted, sizeof got), name);
    gpu_time(points_run, p, t, REPETITIONS);
    row(name, "libufunc", "GB/s", gigabytes, t, REPETITIONS);
    uf_free(p->f);
}

static float *whole_numbers(int64_t n) {
    float *h = memory((size_t)n * sizeof *h);
    for (int64_t i = 0; i < n; i++)
        h[i] = (float)draw(8);
    return h;
}

static void gpu_csr(int mean) {
    const int64_t rows = SPARSE / mean;
    char name[64];
    float wanted[CHECKED];
    int *start = memory((size_t)(rows + 1) * sizeof *start), *column;
    draw_state = 1;
    for (int64_t i = 0; i < rows; i++)
        start[i + 1] = start[i] + mean / 2 + (int)draw((unsigned)mean + 1);
    int64_t all = start[rows];
    column = memory((size_t)all * sizeof *column);
    for (int64_t i = 0; i < all; i++)
        column[i] = (int)draw((unsigned)rows);
    float *value = whole_numbers(all), *x = whole_numbers(rows);
    for (int i = 0; i < CHECKED; i++) {
        wanted[i] = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            wanted[i] += value[k] * x[column[k]];
    }
    points p = {.n = rows,
                .nargs = 5,
                .args = {to_gpu(start, i32, rows + 1), to_gpu(column, i32, all), to_gpu(value, f32, all),
                         to_gpu(x, f32, rows), on_gpu(f32, rows)}};
    MUST(uf_kernel(&p.f, "csr", "int32[], int32[], float32[], float32[], float32[]",
                   UF_SOURCE([i](start, column, value, x, y) {
                       int64 first = start[i];
                       y[i] = sum(k : start[i + 1] - first, value[first + k] * x[column[first + k]]);
                   })));
    snprintf(name, sizeof name, "gpu_csr_f32_mean_%d", mean);
    points_case(&p, name, 1e-9 * (double)(8 * all + 12 * rows), wanted);
    free(start);
    free(column);
    free(value);
    free(x);
}

static void gpu_gather(int64_t from, const char *name) {
    int *at = memory(SPARSE * sizeof *at);
    float wanted[CHECKED], *x;
    draw_state = 1;
    for (int64_t i = 0; i < SPARSE; i++)
        at[i] = (int)draw((unsigned)from);
    x = whole_numbers(from);
    for (int i = 0; i < CHECKED; i++)
        wanted[i] = x[at[i]];
    points p = {.n = SPARSE, .nargs = 3, .args = {to_gpu(x, f32, from), to_gpu(at, i32, SPARSE), on_gpu(f32, SPARSE)}};
    MUST(uf_kernel(&p.f, "gather", "float32[], int32[], float32[]", UF_SOURCE([i](x, at, y) { y[i] = x[at[i]]; })));
    points_case(&p, name, 12e-9 * SPARSE, wanted);
    free(at);
    free(x);
}

/* ---- Histograms: rates are of the bytes of the indices ---- */

typedef struct counters {
    uf_func *f;
    DLTensor target, index, one;
} counters;

static void counters_run(void *user) {
    counters *c = user;
    MUST(uf_at(c->f, &c->target, 1, &c->index, &c->one, NULL));
}

static void gpu_at_case(int64_t bins) {
    const DLDataType i64 = {kDLInt, 64, 1};
    int64_t *at = memory(SPARSE * sizeof *at), *got = memory((size_t)bins * sizeof *got),
            *wanted = memory((size_t)bins * sizeof *wanted), one = 1;
    char name[64];
    double t[REPETITIONS];
    draw_state = 1;
    for (int64_t i = 0; i < SPARSE; i++)
        wanted[at[i] = draw((unsigned)bins)]++;
    counters c = {.target = to_gpu(got, i64, bins), .index = to_gpu(at, i64, SPARSE), .one = UF_SCALAR(one)};
    c.target.shape = &bins;
    MUST(uf_load(&c.f, "add"));
    counters_run(&c);
    DLTensor host = UF_ARRAY(got, bins);
    MUST(uf_copy(&host, &c.target, NULL));
    snprintf(name, sizeof name, "gpu_at_i64_bins_%d", (int)bins);
    check(!memcmp(got, wanted, (size_t)bins * sizeof *got), name);
    gpu_time(counters_run, &c, t, REPETITIONS);
    row(name, "libufunc", "GB/s", 8e-9 * SPARSE, t, REPETITIONS);
    uf_free(c.f);
    free(at);
    free(got);
    free(wanted);
}

int main(int argc, char **argv) {
    if (!driver_open())
        return 0;
    const char *only = argc > 1 ? argv[1] : "";
    const DLDataType u8 = {kDLUInt, 8, 1};
    void *from = on_gpu(u8, READ).data, *to = on_gpu(u8, (int64_t)4 * READ).data; /* sums of bytes have 64 bits */
    gpu_time(copy_run, &(gpu_copy){to, from}, copied, REPETITIONS);
    const char *filled = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(filled, cases[i].dtype))
            fill(from, cases[i].type);
        filled = cases[i].dtype;
        for (const int *n = cases[i].lengths; *n; n++)
            gpu_case(&cases[i], *n, from, to, only);
    }
    if (!strstr("gpu_csr gpu_gather gpu_at", only))
        return 0;
    for (int64_t bins = 1; bins <= 1 << 16; bins *= 16)
        gpu_at_case(bins);
    for (int mean = 4; mean <= 64; mean *= 4)
        gpu_csr(mean);
    gpu_gather(1 << 20, "gpu_gather_f32_of_1M");
    gpu_gather(SPARSE, "gpu_gather_f32_of_64M");
    return 0;
}
