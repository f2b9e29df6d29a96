/* bench_records.c - arrays of records (of structs): functions whose operands are fields that lie interleaved, beside a copy of as many bytes
 * on the GPU, and beside C loops over structs on the CPU. Results on the GPU are compared with the CPU's before they are timed. */
#include "bench.h"

enum {
    FIELDS = 4,
    MOST_ARGS = 3 * FIELDS + 1,
    CHECKED = 1000
};

typedef struct record {
    const char *name;
    int bytes, nfields;
    DLDataType type[FIELDS];
    int offset[FIELDS];
    const char *types, *source;
} record;

#define F32 \
    { kDLFloat, 32, 1 }
#define F64 \
    { kDLFloat, 64, 1 }
#define U8 \
    { kDLUInt, 8, 1 }
#define ADD2 "(a, b, c, d) -> (r, s) { r = a + c; s = b + d; }"
#define ADD3 "(a, b, c, d, e, f) -> (r, s, t) { r = a + d; s = b + e; t = c + f; }"
#define ADD4 "(a, b, c, d, e, f, g, h) -> (r, s, t, u) { r = a + e; s = b + f; t = c + g; u = d + h; }"

/* clang-format off */
static const record records[] = {
    {"f32x2", 8, 2, {F32, F32}, {0, 4}, "ffff->ff", ADD2},
    {"f32x3", 12, 3, {F32, F32, F32}, {0, 4, 8}, "ffffff->fff", ADD3},
    {"f32x4", 16, 4, {F32, F32, F32, F32}, {0, 4, 8, 12}, "ffffffff->ffff", ADD4},
    {"f64x2", 16, 2, {F64, F64}, {0, 8}, "dddd->dd", ADD2},
    {"f64x3", 24, 3, {F64, F64, F64}, {0, 8, 16}, "dddddd->ddd", ADD3},
    {"f64x4", 32, 4, {F64, F64, F64, F64}, {0, 8, 16, 24}, "dddddddd->dddd", ADD4},
    {"u8x3", 3, 3, {U8, U8, U8}, {0, 1, 2}, "BBBBBB->BBB", ADD3},
    {"mixed", 16, 3, {F64, F32, {kDLInt, 8, 1}}, {0, 8, 12}, "dfbdfb->dfb", ADD3},
    {"interval", 16, 2, {F64, F64}, {0, 8}, "dddd->dd",
     "(a, b, c, d) -> (r, s) { auto p = a * c, q = a * d, t = b * c, u = b * d; "
     "r = min(min(p, q), min(t, u)); s = max(max(p, q), max(t, u)); }"},
};
/* clang-format on */

/* A call over n records, or rows of them. The shapes live here: do not copy. */
typedef struct record_call {
    uf_func *f;
    int nargs;
    DLTensor args[MOST_ARGS];
    int64_t shape[2], strides[3][FIELDS][2];
} record_call;

static void record_call_run(void *user) {
    record_call *c = user;
    MUST(uf_call(c->f, c->nargs, c->args, NULL));
}

/* at[i]: array i's first record; step[i]: bytes from row to row of it, in a shape of m rows (1: one dimension) of n records. */
static void record_call_make(record_call *c, const record *r, void *const *at, const int64_t *step, DLDevice device,
                             int64_t m, int64_t n) {
    c->nargs = 3 * r->nfields;
    c->shape[0] = m;
    c->shape[1] = n;
    for (int i = 0; i < 3; i++)
        for (int f = 0; f < r->nfields; f++) {
            int size = r->type[f].bits / 8;
            c->strides[i][f][0] = step ? step[i] / size : 0;
            c->strides[i][f][1] = r->bytes / size;
            c->args[i * r->nfields + f] = (DLTensor){.data = at[i],
                                                     .byte_offset = (uint64_t)r->offset[f],
                                                     .device = device,
                                                     .ndim = m > 1 ? 2 : 1,
                                                     .dtype = r->type[f],
                                                     .shape = c->shape + (m == 1),
                                                     .strides = c->strides[i][f] + (m == 1)};
        }
    MUST(uf_vectorize(&c->f, r->name, r->types, r->source));
}

static void record_fill(const record *r, char *to, int64_t n) {
    memset(to, 0, (size_t)(n * r->bytes));
    for (int64_t i = 0; i < n; i++)
        for (int f = 0; f < r->nfields; f++) {
            char *at = to + i * r->bytes + r->offset[f];
            double value = noise(.5, 2);
            if (r->type[f].bits == 64)
                *(double *)(void *)at = value;
            else if (r->type[f].bits == 32)
                *(float *)(void *)at = (float)value;
            else
                *at = (char)(20 * value);
        }
}

/* ---- CPU ---- */

typedef void plain_loop(const void *a, const void *b, void *r, int64_t n);

static void cpu_case(void *plain, const record *r, int64_t n, const char *tag) {
    char name[64], symbol[64];
    double t[REPETITIONS];
    void *data[3];
    record_call c;
    for (int i = 0; i < 3; i++) {
        data[i] = memory((size_t)(n * r->bytes));
        record_fill(r, data[i], n);
    }
    snprintf(name, sizeof name, "cpu_records_%s_%s", r->name, tag);
    snprintf(symbol, sizeof symbol, "plain_%s", r->name);
    record_call_make(&c, r, data, NULL, (DLDevice){kDLCPU, 0}, 1, n);
    int inner = (int)((1 << 20) / n) + 1;
    for (int k = -3; k < REPETITIONS; k++) {
        double start = now();
        for (int j = 0; j < inner; j++)
            MUST(uf_call(c.f, c.nargs, c.args, &one_thread));
        if (k >= 0)
            t[k] = (now() - start) / inner;
    }
    row(name, "libufunc 1 thread", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    union {
        void *object;
        plain_loop *function;
    } loop = {plain ? dlsym(plain, symbol) : NULL};
    if (loop.object) {
        char *want = memory((size_t)(n * r->bytes));
        loop.function(data[0], data[1], want, n);
        for (int64_t i = 0; i < n; i++)
            for (int f = 0; f < r->nfields; f++) {
                int64_t at = i * r->bytes + r->offset[f];
                check(!memcmp(want + at, (char *)data[2] + at, r->type[f].bits / 8), name);
            }
        for (int k = -3; k < REPETITIONS; k++) {
            double start = now();
            for (int j = 0; j < inner; j++)
                loop.function(data[0], data[1], data[2], n);
            if (k >= 0)
                t[k] = (now() - start) / inner;
        }
        row(name, "gcc -O3 -march=native", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
        free(want);
    }
    uf_free(c.f);
    for (int i = 0; i < 3; i++)
        free(data[i]);
}

/* ---- Dot products of intervals, with bounds rounded outwards ---- */

typedef struct interval {
    double lo, hi;
} interval;

static uf_func *interval_dot(void) {
    static const uf_reduction_def def = {.size = sizeof def,
                                         .map = "use interval; (x, y) { return x * y; }",
                                         .combine = "use interval; (a, b) { return a + b; }",
                                         .identity = "0"};
    uf_func *f;
    MUST(uf_reduction(&f, "dot", "interval(float64),interval(float64)->interval(float64)", &def));
    return f;
}

static void interval_fill(interval *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double value = noise(-1, 2);
        x[i] = (interval){value, value + 1e-9};
    }
}

/* Both have the exact bounds in them, and are wider by little. */
static bool interval_near(const interval *a, const interval *b, int64_t n) {
    double allowed = 1e-15 * (double)n * (double)n; /* of plain sums, whose error grows with their length and size */
    return fabs(a->lo - b->lo) <= allowed && fabs(a->hi - b->hi) <= allowed && a->lo < a->hi;
}

static void cpu_interval_dot(void *plain, int64_t n, const char *tag) {
    static const char *const ways[][2] = {{"plain_dot_once", "C fesetround once"},
                                          {"plain_dot_each", "C fesetround per operation"}};
    const uf_reduce_options alone = {.size = sizeof alone, .threads = 1};
    interval *x = memory((size_t)n * sizeof *x), *y = memory((size_t)n * sizeof *y), got = {0, 0}, want;
    const DLTensor args[] = {
        UF_RECORDS(x, n), UF_RECORDS(y, n), {.data = &got, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 2}}};
    uf_func *f = interval_dot();
    char name[64];
    double t[REPETITIONS];
    interval_fill(x, n);
    interval_fill(y, n);
    snprintf(name, sizeof name, "cpu_interval_dot_%s", tag);
    for (int k = -3; k < REPETITIONS; k++) {
        double start = now();
        MUST(uf_reduce(f, 3, args, &alone));
        if (k >= 0)
            t[k] = now() - start;
    }
    row(name, "libufunc 1 thread", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    for (size_t w = 0; plain && w < sizeof ways / sizeof *ways; w++) {
        union {
            void *object;
            void (*function)(const interval *, const interval *, interval *, int64_t);
        } loop = {dlsym(plain, ways[w][0])};
        for (int k = -3; k < REPETITIONS; k++) {
            double start = now();
            loop.function(x, y, &want, n);
            if (k >= 0)
                t[k] = now() - start;
        }
        check(interval_near(&got, &want, n), name);
        row(name, ways[w][1], "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    }
    uf_free(f);
    free(x);
    free(y);
}

/* ---- What a call of twelve operands costs, in place and not ---- */

static void host_case(const char *name, DLDevice device, void *const *data) {
    const record *r = &records[2];
    double t[REPETITIONS];
    record_call c;
    enum {
        CALLS = 400
    };
    static const char *const systems[] = {"uf_call", "uf_call in place"};
    for (int way = 0; way < 2; way++) {
        void *at[] = {data[0], data[1], data[way ? 0 : 2]};
        record_call_make(&c, r, at, NULL, device, 1, 16);
        for (int k = -3; k < REPETITIONS; k++) {
            MUST(uf_sync(device, NULL));
            double start = now();
            for (int j = 0; j < CALLS; j++)
                record_call_run(&c);
            if (k >= 0)
                t[k] = (now() - start) / CALLS;
        }
        row(name, systems[way], "host us/call", 0, t, REPETITIONS);
        uf_free(c.f);
    }
}

static void cpu_all(void *plain) {
    for (size_t k = 0; k < sizeof records / sizeof *records; k++) {
        cpu_case(plain, &records[k], 1 << 14, "16K");
        cpu_case(plain, &records[k], 1 << 21, "2M");
    }
    cpu_interval_dot(plain, 1 << 14, "16K");
    cpu_interval_dot(plain, 1 << 21, "2M");
    void *data[3];
    for (int i = 0; i < 3; i++)
        data[i] = memory(4096);
    host_case("cpu_records_call_16", (DLDevice){kDLCPU, 0}, data);
    for (int i = 0; i < 3; i++)
        free(data[i]);
}

/* ---- GPU ---- */

static const DLDevice gpu = {kDLCUDA, 0};

static void bytes_copy(void *to, DLDevice to_device, void *from, DLDevice from_device, int64_t n) {
    const DLDataType byte = {kDLUInt, 8, 1};
    DLTensor t = {.data = to, .device = to_device, .ndim = 1, .dtype = byte, .shape = &n},
             s = {.data = from, .device = from_device, .ndim = 1, .dtype = byte, .shape = &n};
    MUST(uf_copy(&t, &s, NULL));
}

/* The same call on few records, here and there. */
static void gpu_verify(const record *r, void *const *data) {
    const DLDevice cpu = {kDLCPU, 0};
    int64_t bytes = (int64_t)CHECKED * r->bytes;
    void *host[3];
    char *got = memory((size_t)bytes);
    record_call here, there;
    for (int i = 0; i < 3; i++) {
        host[i] = memory((size_t)bytes);
        record_fill(r, host[i], CHECKED);
        bytes_copy(data[i], gpu, host[i], cpu, bytes);
    }
    record_call_make(&here, r, host, NULL, cpu, 1, CHECKED);
    record_call_make(&there, r, data, NULL, gpu, 1, CHECKED);
    record_call_run(&here);
    record_call_run(&there);
    bytes_copy(got, cpu, data[2], gpu, bytes);
    check(!memcmp(got, host[2], (size_t)bytes), r->name);
    uf_free(here.f);
    uf_free(there.f);
    free(got);
    for (int i = 0; i < 3; i++)
        free(host[i]);
}

static void gpu_time_row(const char *what, const record *r, void *const *at, const int64_t *step, int64_t m, int64_t n,
                         double bytes) {
    char name[64];
    double t[REPETITIONS];
    record_call c;
    snprintf(name, sizeof name, "gpu_records_%s%s", r->name, what);
    record_call_make(&c, r, at, step, gpu, m, n);
    gpu_time(record_call_run, &c, t, REPETITIONS);
    row(name, "libufunc", "GB/s", 1e-9 * bytes, t, REPETITIONS);
    uf_free(c.f);
}

/* A record times a number that lies contiguously beside. */
static void gpu_scaled(void *const *data, int64_t n) {
    double t[REPETITIONS];
    const record *r = &records[2];
    record_call c;
    record_call_make(&c, r, data, NULL, gpu, 1, n);
    uf_free(c.f);
    MUST(uf_vectorize(&c.f, "scale", "fffff->ffff",
                      "(s, a, b, c, d) -> (p, q, r, t) { p = s * a; q = s * b; r = s * c; t = s * d; }"));
    c.nargs = 9;
    memmove(c.args + 5, c.args + 8, 4 * sizeof *c.args);
    memmove(c.args + 1, c.args, 4 * sizeof *c.args);
    c.args[0].data = data[1];
    c.args[0].byte_offset = 0;
    c.args[0].strides = NULL;
    gpu_time(record_call_run, &c, t, REPETITIONS);
    row("gpu_records_f32x4_scaled", "libufunc", "GB/s", 36e-9 * (double)n, t, REPETITIONS);
    uf_free(c.f);
}

/* The sum of all records of four float32: a reduction of four inputs. */
typedef struct record_sum {
    uf_func *f;
    DLTensor args[8];
} record_sum;

static void record_sum_run(void *user) {
    record_sum *c = user;
    MUST(uf_reduce(c->f, 8, c->args, NULL));
}

static void gpu_sum(void *const *data, int64_t n, double *copied) {
    static const uf_reduction_def def = {.size = sizeof def,
                                         .state = "ffff",
                                         .combine = "(a, b, c, d, e, f, g, h) -> (r, s, t, u) "
                                                    "{ r = a + e; s = b + f; t = c + g; u = d + h; }",
                                         .identity = "0, 0, 0, 0"};
    static const uf_section section = {"ffff->ffff", NULL};
    int64_t stride = 4;
    double t[REPETITIONS];
    record_sum c;
    for (int k = 0; k < 8; k++)
        c.args[k] = (DLTensor){.data = data[k < 4 ? 0 : 2],
                               .byte_offset = (uint64_t)(4 * (k % 4)),
                               .device = gpu,
                               .ndim = k < 4,
                               .dtype = f32,
                               .shape = &n,
                               .strides = &stride};
    MUST(uf_define(
        &c.f,
        &(uf_definition){
            .size = sizeof(uf_definition), .name = "sum4", .nsections = 1, .sections = &section, .reduction = &def}));
    gpu_time(record_sum_run, &c, t, REPETITIONS);
    row("gpu_records_sum_f32x4", "libufunc", "GB/s", 16e-9 * (double)n, t, REPETITIONS);
    row("gpu_records_sum_f32x4", "cuMemcpyDtoDAsync", "GB/s", 32e-9 * (double)n, copied, REPETITIONS);
    uf_free(c.f);
}

typedef struct dot_call {
    uf_func *f;
    DLTensor args[3];
} dot_call;

static void dot_call_run(void *user) {
    dot_call *c = user;
    MUST(uf_reduce(c->f, 3, c->args, NULL));
}

/* On pairs of numbers that are 0.5 to 2, which are intervals with both bounds anywhere; the first ones compared with the CPU's result. */
static void gpu_interval_dot(void *const *data, int64_t n, double *copied) {
    const DLDevice cpu = {kDLCPU, 0};
    const DLDataType pair = {kDLFloat, 64, 2};
    static interval x[CHECKED], y[CHECKED];
    interval want, got;
    int64_t few = CHECKED;
    double t[REPETITIONS];
    DLTensor here[] = {UF_RECORDS(x, CHECKED), UF_RECORDS(y, CHECKED), {.data = &want, .device = cpu, .dtype = pair}};
    dot_call c = {.f = interval_dot()};
    interval_fill(x, CHECKED);
    interval_fill(y, CHECKED);
    for (int k = 0; k < 3; k++)
        c.args[k] =
            (DLTensor){.data = data[k], .device = gpu, .ndim = k < 2, .dtype = pair, .shape = k < 2 ? &few : NULL};
    for (int k = 0; k < 2; k++)
        bytes_copy(data[k], gpu, here[k].data, cpu, (int64_t)sizeof x);
    MUST(uf_reduce(c.f, 3, here, NULL));
    dot_call_run(&c);
    MUST(uf_sync(gpu, NULL));
    bytes_copy(&got, cpu, data[2], gpu, (int64_t)sizeof got);
    check(interval_near(&got, &want, CHECKED), "gpu_interval_dot");
    few = n;
    gpu_time(dot_call_run, &c, t, REPETITIONS);
    row("gpu_interval_dot", "libufunc", "GB/s", 32e-9 * (double)n, t, REPETITIONS);
    row("gpu_interval_dot", "cuMemcpyDtoDAsync", "GB/s", 32e-9 * (double)n, copied, REPETITIONS);
    uf_free(c.f);
}

typedef struct bare_copy {
    unsigned long long to, from;
    size_t size;
} bare_copy;
static void bare_copy_run(void *user) {
    bare_copy *c = user;
    cu.copy(c->to, c->from, c->size, NULL);
}

static void gpu_all(void) {
    const int64_t bytes = (int64_t)1 << 30, m = 4096;
    double t[REPETITIONS];
    void *data[3];
    DLTensor all[3];
    for (int i = 0; i < 3; i++) {
        all[i] = on_gpu(f32, bytes / 4);
        gpu_fill(&all[i], bytes / 4);
        data[i] = all[i].data;
    }
    bare_copy c = {(unsigned long long)(uintptr_t)data[2], (unsigned long long)(uintptr_t)data[0], (size_t)bytes};
    gpu_time(bare_copy_run, &c, t, REPETITIONS);
    for (size_t k = 0; k < sizeof records / sizeof *records; k++) {
        char name[64];
        double copied[REPETITIONS];
        const record *r = &records[k];
        int64_t n = bytes / r->bytes;
        memcpy(copied, t, sizeof t);
        snprintf(name, sizeof name, "gpu_records_%s", r->name);
        row(name, "cuMemcpyDtoDAsync", "GB/s", 2e-9 * (double)bytes, copied, REPETITIONS);
        gpu_verify(r, data);
        gpu_time_row("", r, data, NULL, 1, n, 3.0 * (double)(n * r->bytes));
    }
    const record *four = &records[2], *three = &records[1];
    int64_t n = bytes / 16;
    gpu_time_row("_in_place", four, (void *[]){data[0], data[1], data[0]}, NULL, 1, n, 3.0 * (double)bytes);
    gpu_time_row("_offset", four, (void *[]){(char *)data[0] + 4, (char *)data[1] + 4, (char *)data[2] + 4}, NULL, 1,
                 n - 1, 3.0 * (double)bytes);
    gpu_time_row("_row", four, data, (int64_t[]){16 * m, 0, 16 * m}, n / m, m, 2.0 * (double)bytes);
    gpu_time_row("_row", three, data, (int64_t[]){12 * m, 0, 12 * m}, n / m, m, 1.5 * (double)bytes);
    gpu_time_row("_gaps", four, data, (int64_t[]){16 * (m + 1), 16 * (m + 1), 16 * (m + 1)}, n / (m + 1), m,
                 3.0 * (double)bytes * (double)m / (double)(m + 1));
    gpu_scaled(data, n);
    gpu_sum(data, n, t);
    gpu_interval_dot(data, n, t);
    host_case("gpu_records_call_16", gpu, data);
}

int main(int argc, char **argv) {
    void *plain = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plain)
        fprintf(stderr, "bench: no plain_records.so; the plain C loops are left out\n");
    if (!getenv("BENCH_GPU_ONLY"))
        cpu_all(plain);
    if (driver_open())
        gpu_all();
    else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return 0;
}
