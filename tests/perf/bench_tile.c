/* bench_tile.c - elementwise calls across memory order: transposed and permuted operands, beside C loops on the CPU. Rates are of useful
 * bytes. Results are compared with plain loops before they are timed, on the GPU in samples. */
#include "bench.h"

enum {
    MOST_DIMS = 4,
    MOST_INPUTS = 2,
    MOST_ARRAYS = 4,
    SAMPLES = 20000
};

/* The output of a case, or the first one, lies in C order. Input i has its dimensions in memory in the order order[i], the outermost first; "": there is no such
 * input; so has the second output in the order `second`. pad: elements by which the lines of the inputs and the output are longer than they need be. */
typedef struct layout_case {
    const char *name;
    char type; /* B, e, f, d, D */
    int64_t shape[MOST_DIMS];
    const char *order[MOST_INPUTS];
    int quick; /* calls in a repetition on the CPU */
    const char *second;
} layout_case;

/* clang-format off */
static const layout_case on_gpus[] = {
    {"copy_f32", 'f', {16384, 16384}, {"01", ""}, 1, ""},
    {"sum_bT_f32", 'f', {16384, 16384}, {"01", "10"}, 1, ""},
    {"sum_aT_bT_f32", 'f', {16384, 16384}, {"10", "10"}, 1, ""},
    {"T_f32", 'f', {16384, 16384}, {"10", ""}, 1, ""},
    {"T_f32_odd", 'f', {16383, 16381}, {"10", ""}, 1, ""},
    {"T_u8", 'B', {32768, 32768}, {"10", ""}, 1, ""},
    {"T_u8_odd", 'B', {32767, 32765}, {"10", ""}, 1, ""},
    {"T_f16_odd", 'e', {16383, 32765}, {"10", ""}, 1, ""},
    {"T_f16", 'e', {16384, 32768}, {"10", ""}, 1, ""},
    {"T_f64", 'd', {16384, 8192}, {"10", ""}, 1, ""},
    {"T_c128", 'D', {8192, 8192}, {"10", ""}, 1, ""},
    {"021_f32", 'f', {64, 2048, 2048}, {"021", ""}, 1, ""},
    {"210_f32", 'f', {512, 768, 640}, {"210", ""}, 1, ""},
    {"021_f32_31", 'f', {262144, 31, 31}, {"021", ""}, 1, ""},
    {"021_f32_32", 'f', {262144, 32, 32}, {"021", ""}, 1, ""},
    {"021_f32_99", 'f', {26214, 99, 99}, {"021", ""}, 1, ""},
    {"nchw64_f32", 'f', {64, 64, 256, 256}, {"0231", ""}, 1, ""},
    {"nhwc64_f32", 'f', {64, 256, 256, 64}, {"0312", ""}, 1, ""},
    {"nchw3_f32", 'f', {128, 3, 1024, 512}, {"0231", ""}, 1, ""},
    {"nhwc3_f32", 'f', {128, 1024, 512, 3}, {"0312", ""}, 1, ""},
    {"nchw4_f32", 'f', {128, 4, 1024, 512}, {"0231", ""}, 1, ""},
    {"nchw3_u8", 'B', {256, 3, 1024, 1024}, {"0231", ""}, 1, ""},
    {"nhwc3_u8", 'B', {256, 1024, 1024, 3}, {"0312", ""}, 1, ""},
    {"out2_f32", 'f', {16384, 16384}, {"01", ""}, 1, "10"},
    {"out2_f32_odd", 'f', {16383, 16381}, {"01", ""}, 1, "10"},
    {"out2_f16", 'e', {16384, 32768}, {"01", ""}, 1, "10"},
    {"out2_u8", 'B', {32768, 32768}, {"01", ""}, 1, "10"},
    {"out2_f64", 'd', {16384, 8192}, {"01", ""}, 1, "10"},
    {"out2_sum_bT_f32", 'f', {16384, 16384}, {"01", "10"}, 1, "10"},
    {"out2_sum_aT_bT_f32", 'f', {16384, 16384}, {"10", "10"}, 1, "10"},
};
static const layout_case on_cpus[] = {
    {"sum_bT_f32_64", 'f', {64, 64}, {"01", "10"}, 200, ""},
    {"sum_bT_f32_100", 'f', {100, 100}, {"01", "10"}, 100, ""},
    {"sum_bT_f32_1024", 'f', {1024, 1024}, {"01", "10"}, 1, ""},
    {"sum_bT_f32_4096", 'f', {4096, 4096}, {"01", "10"}, 1, ""},
    {"sum_aT_bT_f32_4096", 'f', {4096, 4096}, {"10", "10"}, 1, ""},
    {"T_f32_64", 'f', {64, 64}, {"10", ""}, 200, ""},
    {"T_u8_256", 'B', {256, 256}, {"10", ""}, 20, ""},
    {"T_u8_8192", 'B', {8192, 8192}, {"10", ""}, 1, ""},
    {"T_f16_4096", 'e', {4096, 4096}, {"10", ""}, 1, ""},
    {"T_f32_4096", 'f', {4096, 4096}, {"10", ""}, 1, ""},
    {"T_f32_4095", 'f', {4095, 4095}, {"10", ""}, 1, ""},
    {"T_f64_4096", 'd', {4096, 4096}, {"10", ""}, 1, ""},
    {"T_c128_2048", 'D', {2048, 2048}, {"10", ""}, 1, ""},
    {"021_f32_16", 'f', {4096, 16, 16}, {"021", ""}, 1, ""},
    {"210_f32", 'f', {128, 192, 160}, {"210", ""}, 1, ""},
    {"nchw3_u8", 'B', {4, 3, 512, 512}, {"0231", ""}, 1, ""},
    {"nhwc3_u8", 'B', {4, 512, 512, 3}, {"0312", ""}, 1, ""},
    {"nchw3_f32", 'f', {4, 3, 512, 512}, {"0231", ""}, 1, ""},
    {"nhwc3_f32", 'f', {4, 512, 512, 3}, {"0312", ""}, 1, ""},
    {"nchw64_f32", 'f', {4, 64, 128, 128}, {"0231", ""}, 1, ""},
};
/* clang-format on */

static const struct {
    char code;
    int bytes;
    DLDataType type;
} types[] = {{'B', 1, {kDLUInt, 8, 1}},
             {'e', 2, {kDLFloat, 16, 1}},
             {'f', 4, {kDLFloat, 32, 1}},
             {'d', 8, {kDLFloat, 64, 1}},
             {'D', 16, {kDLComplex, 128, 1}}};

typedef struct tile_call {
    uf_func *f;
    int nin, nargs, ndim, bytes;
    int64_t count, shape[MOST_DIMS], strides[MOST_ARRAYS][MOST_DIMS];
    DLTensor args[MOST_ARRAYS];
} tile_call;

static void strides_of(const layout_case *x, const char *order, int ndim, int64_t *out) {
    int64_t step = 1;
    for (int i = ndim; i-- > 0;) {
        int d = order ? order[i] - '0' : i;
        out[d] = step;
        step *= x->shape[d];
    }
}

/* Shapes and strides live in *c: do not copy it. */
static void tile_call_make(tile_call *c, const layout_case *x) {
    size_t t = 0;
    while (types[t].code != x->type)
        t++;
    int nin = x->order[1][0] ? 2 : 1, two = x->second[0] != 0;
    *c = (tile_call){.nin = nin, .nargs = nin + 1 + two, .count = 1, .bytes = types[t].bytes};
    for (; c->ndim < MOST_DIMS && x->shape[c->ndim]; c->ndim++)
        c->count *= c->shape[c->ndim] = x->shape[c->ndim];
    for (int k = 0; k < c->nargs; k++) {
        strides_of(x, k < nin ? x->order[k] : k > nin ? x->second : NULL, c->ndim, c->strides[k]);
        c->args[k] = (DLTensor){.ndim = c->ndim, .dtype = types[t].type, .shape = c->shape, .strides = c->strides[k]};
    }
    static const char *const kernels[2][2] = {
        {"(x) { return x; }", "(x) -> (p, q) { p = x; q = x; }"},
        {"(x, y) { return x + y; }", "(x, y) -> (p, q) { p = x + y; q = x + y; }"}};
    MUST(uf_vectorize(&c->f, "tile", NULL, kernels[nin - 1][two]));
}

static double bytes_of(const tile_call *c) { return (double)c->nargs * (double)c->bytes * (double)c->count; }

/* The offset of element n of the output's in array k. */
static int64_t place_of(const tile_call *c, int k, int64_t n) {
    int64_t at = 0;
    for (int d = c->ndim; d-- > 0; n /= c->shape[d])
        at += n % c->shape[d] * c->strides[k][d];
    return at;
}

static void fill(void *at, int64_t bytes, bool floats) {
    if (floats)
        for (int64_t i = 0; i < bytes / 4; i++)
            ((float *)at)[i] = (float)(i * 2654435761u >> 8 & 0xffff);
    else
        for (int64_t i = 0; i < bytes; i++)
            ((unsigned char *)at)[i] = (unsigned char)(i * 2654435761u >> 11 & 0x3f);
}

/* data: where the arrays are on the host. Both outputs have the same elements. */
static void verify(const tile_call *c, char *const *data, int64_t step, const char *what) {
    for (int64_t n = 0; n < c->count; n += step) {
        const char *x = data[0] + place_of(c, 0, n) * c->bytes,
                   *y = c->nin == 2 ? data[1] + place_of(c, 1, n) * c->bytes : NULL;
        for (int k = c->nin; k < c->nargs; k++) {
            const char *got = data[k] + place_of(c, k, n) * c->bytes;
            check(y ? *(const float *)got == *(const float *)x + *(const float *)y : !memcmp(got, x, (size_t)c->bytes),
                  what);
        }
    }
}

/* ---- GPU ---- */

static void tile_call_run(void *user) {
    tile_call *c = user;
    MUST(uf_call(c->f, c->nargs, c->args, NULL));
}

/* Beside those with two outputs, for which there is no kernel by hand: a copy of one array onto the last one, bytes read and written. */
typedef struct bare_copy {
    unsigned long long to, from;
    size_t size;
} bare_copy;
static void bare_copy_run(void *user) {
    bare_copy *c = user;
    cu.copy(c->to, c->from, c->size, NULL);
}

static void copy_row(const tile_call *c, const char *name, int runs) {
    double t[REPETITIONS];
    size_t size = (size_t)(c->count * c->bytes);
    bare_copy b = {(unsigned long long)(uintptr_t)c->args[c->nargs - 1].data,
                   (unsigned long long)(uintptr_t)c->args[0].data, size};
    gpu_time(bare_copy_run, &b, t, runs);
    row(name, "copy", "GB/s", 2e-9 * (double)size, t, runs);
}

static void on_gpu_case(const layout_case *x) {
    tile_call c;
    double t[REPETITIONS];
    DLManagedTensor *m[MOST_ARRAYS];
    char name[64], *host[MOST_ARRAYS];
    tile_call_make(&c, x);
    int64_t size = c.count * c.bytes;
    for (int k = 0; k < c.nargs; k++) {
        host[k] = memory((size_t)size);
        fill(host[k], size, c.nin == 2);
        MUST(uf_empty(&m[k], (DLDevice){kDLCUDA, 0}, (DLDataType){kDLUInt, 8, 1}, 1, &size));
        DLTensor flat = {.data = host[k], .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLUInt, 8, 1}, .shape = &size};
        MUST(uf_copy(&m[k]->dl_tensor, &flat, NULL));
        c.args[k].data = m[k]->dl_tensor.data;
        c.args[k].device = (DLDevice){kDLCUDA, 0};
    }
    int runs = getenv("BENCH_RUNS") ? atoi(getenv("BENCH_RUNS")) : REPETITIONS;
    runs = runs < 1 || runs > REPETITIONS ? REPETITIONS : runs;
    gpu_time(tile_call_run, &c, t, runs);
    for (int k = c.nin; k < c.nargs; k++) {
        DLTensor flat = {.data = host[k], .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLUInt, 8, 1}, .shape = &size};
        MUST(uf_copy(&flat, &m[k]->dl_tensor, NULL));
    }
    verify(&c, host, c.count / SAMPLES + 1, x->name);
    snprintf(name, sizeof name, "gpu_tile_%s", x->name);
    row(name, "libufunc", "GB/s", 1e-9 * bytes_of(&c), t, runs);
    if (x->second[0])
        copy_row(&c, name, runs);
    for (int k = 0; k < c.nargs; k++) {
        m[k]->deleter(m[k]);
        free(host[k]);
    }
    uf_free(c.f);
}

/* ---- CPU ---- */

typedef void plain_copy(int64_t bytes, const int64_t *shape, const int64_t *sx, const void *x, void *r);
typedef void plain_sum(const int64_t *shape, const int64_t *sx, const int64_t *sy, const float *x, const float *y,
                       float *r);

static void on_cpu_case(const layout_case *x, void *plain) {
    tile_call c;
    double t[REPETITIONS];
    char name[64], *data[MOST_ARRAYS];
    int64_t shape[MOST_DIMS], strides[MOST_INPUTS][MOST_DIMS] = {{0}};
    tile_call_make(&c, x);
    for (int d = 0; d < MOST_DIMS; d++) { /* plain loops have all dimensions */
        int own = d - (MOST_DIMS - c.ndim);
        shape[d] = own < 0 ? 1 : c.shape[own];
        for (int k = 0; k < c.nargs - 1; k++)
            strides[k][d] = own < 0 ? 0 : c.strides[k][own];
    }
    for (int k = 0; k < c.nargs; k++) {
        data[k] = memory((size_t)(c.count * c.bytes));
        fill(data[k], c.count * c.bytes, c.nin == 2);
        c.args[k].data = data[k];
        c.args[k].device = (DLDevice){kDLCPU, 0};
    }
    snprintf(name, sizeof name, "cpu_tile_%s", x->name);
    for (int ours = 1; ours >= 0; ours--) {
        if (!ours && !plain)
            break;
        plain_copy *copy = NULL;
        plain_sum *sum = NULL;
        if (!ours) {
            *(void **)&copy = dlsym(plain, "plain_permuted_copy");
            *(void **)&sum = dlsym(plain, "plain_permuted_sum");
        }
        memset(data[c.nargs - 1], 0, (size_t)(c.count * c.bytes));
        for (int k = -3; k < REPETITIONS; k++) {
            double start = now();
            for (int i = 0; i < x->quick; i++)
                if (ours)
                    MUST(uf_call(c.f, c.nargs, c.args, &one_thread));
                else if (c.nin == 2)
                    sum(shape, strides[0], strides[1], (float *)data[0], (float *)data[1], (float *)data[2]);
                else
                    copy(c.bytes, shape, strides[0], data[0], data[1]);
            if (k >= 0)
                t[k] = (now() - start) / x->quick;
        }
        verify(&c, data, 1, x->name);
        row(name, ours ? "libufunc 1 thread" : "gcc -O3 -march=native", "GB/s", 1e-9 * bytes_of(&c), t, REPETITIONS);
    }
    for (int k = 0; k < c.nargs; k++)
        free(data[k]);
    uf_free(c.f);
}

/* BENCH_CASES: the names of those that are wanted, any separators between them. */
static bool is_wanted(const layout_case *x) {
    const char *wanted = getenv("BENCH_CASES");
    return !wanted || strstr(wanted, x->name);
}

int main(int argc, char **argv) {
    void *plain = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plain)
        fprintf(stderr, "bench: no plain_tile.so; the plain C loops are left out\n");
    for (size_t i = 0; !getenv("BENCH_GPU_ONLY") && i < sizeof on_cpus / sizeof *on_cpus; i++)
        if (is_wanted(&on_cpus[i]))
            on_cpu_case(&on_cpus[i], plain);
    if (!driver_open()) {
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof on_gpus / sizeof *on_gpus; i++)
        if (is_wanted(&on_gpus[i]))
            on_gpu_case(&on_gpus[i]);
    return 0;
}
