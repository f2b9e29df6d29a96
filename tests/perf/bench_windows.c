/* bench_windows.c - our side of the benchmark of kernels over indices that read elements again: windows, pairs, transposed writes; on the CPU
 * the plain C loops of plain_windows.c beside them. limits_windows.cu has them by hand. Results are checked in places against a sum over
 * the text of the case. */
#include "bench.h"

enum {
    MOST = 4,
    LOOKS = 64
};

typedef struct window_case window_case;
struct window_case {
    const char *name, *parameters, *source;
    unsigned fast;
    DLDataType dtype;       /* of all arrays but `small` ones, which are float32 */
    int64_t gpu[2], cpu[2]; /* the space */
    int nargs, result;
    int64_t shape[MOST]
                 [2]; /* extents: 0 and -1 stand for those of the space, others for themselves; the second 1: rank 1 */
    double bytes;     /* read and written for a point; 0: see flops */
    double flops;     /* for a point; 0: the work is points */
    double (*expect)(const window_case *c, const int64_t *n, int64_t at);
};

static void *host[MOST];
static float f32_at(int k, int64_t i) { return ((const float *)host[k])[i]; }
static int u8(int64_t i) { return ((const uint8_t *)host[0])[i]; }

static double expect_window(const int64_t *n, int64_t at, int reach) {
    int64_t i = at / n[1], j = at % n[1];
    double sum = 0;
    if (i < reach || j < reach || i >= n[0] - reach || j >= n[1] - reach)
        return 0;
    for (int64_t a = -reach; a <= reach; a++)
        for (int64_t b = -reach; b <= reach; b++)
            sum += (double)f32_at(0, at + a * n[1] + b);
    return sum / ((2 * reach + 1) * (2 * reach + 1));
}
static double expect_3(const window_case *c, const int64_t *n, int64_t at) {
    (void)c;
    return expect_window(n, at, 1);
}
static double expect_5(const window_case *c, const int64_t *n, int64_t at) {
    (void)c;
    return expect_window(n, at, 2);
}

static double expect_sobel(const window_case *c, const int64_t *n, int64_t at) {
    int64_t i = at / n[1], j = at % n[1], m = n[1];
    (void)c;
    if (i < 1 || j < 1 || i >= n[0] - 1 || j >= m - 1)
        return 0;
    int gx = u8(at - m + 1) + 2 * u8(at + 1) + u8(at + m + 1) - u8(at - m - 1) - 2 * u8(at - 1) - u8(at + m - 1);
    int gy = u8(at + m - 1) + 2 * u8(at + m) + u8(at + m + 1) - u8(at - m - 1) - 2 * u8(at - m) - u8(at - m + 1);
    int g = (abs(gx) + abs(gy)) / 4;
    return g > 255 ? 255 : g;
}

static double expect_rows(const window_case *c, const int64_t *n, int64_t at) {
    double sum = 0;
    (void)c;
    for (int64_t k = 0; k < 9; k++)
        sum += (double)f32_at(1, k) * (double)f32_at(0, at / n[1] * (n[1] + 8) + at % n[1] + k);
    return sum;
}

static double expect_distance(const window_case *c, const int64_t *n, int64_t at) {
    double sum = 0;
    int64_t d = c->shape[0][1];
    for (int64_t k = 0; k < d; k++) {
        double x = (double)f32_at(0, at / n[1] * d + k) - (double)f32_at(1, at % n[1] * d + k);
        sum += x * x;
    }
    return sqrt(sum);
}

static double expect_turned(const window_case *c, const int64_t *n, int64_t at) {
    (void)c;
    return (double)f32_at(0, at % n[0] * n[1] + at / n[0]);
}

/* The pull of all bodies on one, along x. */
static double expect_pull(const window_case *c, const int64_t *n, int64_t at) {
    double a = 0;
    int64_t self = at / 4 * 4;
    (void)c;
    for (int64_t j = 0; j < 4 * n[0]; j += 4) {
        double d = 1e-4;
        for (int k = 0; k < 3; k++)
            d += ((double)f32_at(0, j + k) - (double)f32_at(0, self + k)) *
                 ((double)f32_at(0, j + k) - (double)f32_at(0, self + k));
        a += (double)f32_at(0, j + 3) * ((double)f32_at(0, j + at % 4) - (double)f32_at(0, at)) / (d * sqrt(d));
    }
    return at % 4 == 3 ? 0 : a;
}

#define F32 \
    { kDLFloat, 32, 1 }
#define U8 \
    { kDLUInt, 8, 1 }
#define WINDOW(reach, count)                                                                    \
    "[i : n, j : m](x, y) {"                                                                    \
    "    if (i >= " #reach " && i < n - " #reach " && j >= " #reach " && j < m - " #reach ") {" \
    "        auto s = 0.0f;"                                                                    \
    "        for (int a = -" #reach "; a <= " #reach "; a++)"                                   \
    "            for (int b = -" #reach "; b <= " #reach "; b++) s += x[i + a][j + b];"         \
    "        y[i][j] = s * (1.0f / " #count ");"                                                \
    "    }"                                                                                     \
    "}"
#define SPACE \
    { 0, -1 }
#define DISTANCES(dims) \
    "[i, j](x, y, d) { d[i][j] = sqrt(sum(k : " #dims ", (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]))); }"
#define PULL                                                                                \
    "[i : n](p, v) {"                                                                       \
    "    auto x = p[i][0], y = p[i][1], z = p[i][2];"                                       \
    "    auto ax = 0.0f, ay = 0.0f, az = 0.0f;"                                             \
    "    for (int64_t j = 0; j < n; j++) {"                                                 \
    "        auto dx = p[j][0] - x, dy = p[j][1] - y, dz = p[j][2] - z;"                    \
    "        auto r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-4f), w = p[j][3] * r * r * r;" \
    "        ax += w * dx; ay += w * dy; az += w * dz;"                                     \
    "    }"                                                                                 \
    "    v[i][0] = ax; v[i][1] = ay; v[i][2] = az;"                                         \
    "}"

static const window_case cases[] = {
    {"window3_f32",
     "float32[,], float32[,]",
     WINDOW(1, 9),
     0,
     F32,
     {1 << 13, 1 << 13},
     {4096, 4096},
     2,
     1,
     {SPACE, SPACE},
     8,
     0,
     expect_3},
    {"window5_f32",
     "float32[,], float32[,]",
     WINDOW(2, 25),
     0,
     F32,
     {1 << 13, 1 << 13},
     {4096, 4096},
     2,
     1,
     {SPACE, SPACE},
     8,
     0,
     expect_5},
    {"sobel_u8",
     "uint8[,], uint8[,]",
     "[i : n, j : m](x, y) {"
     "    if (i > 0 && i < n - 1 && j > 0 && j < m - 1) {"
     "        int gx = x[i-1][j+1] + 2 * x[i][j+1] + x[i+1][j+1] - x[i-1][j-1] - 2 * x[i][j-1] - x[i+1][j-1];"
     "        int gy = x[i+1][j-1] + 2 * x[i+1][j] + x[i+1][j+1] - x[i-1][j-1] - 2 * x[i-1][j] - x[i-1][j+1];"
     "        y[i][j] = min((abs(gx) + abs(gy)) >> 2, 255);"
     "    }"
     "}",
     0,
     U8,
     {1 << 13, 1 << 13},
     {4096, 4096},
     2,
     1,
     {SPACE, SPACE},
     2,
     0,
     expect_sobel},
    {"rows9_f32",
     "float32[,], float32[], float32[,]",
     "[i, j](x, w, y) { y[i][j] = sum(k : 9, w[k] * x[i][j + k]); }",
     0,
     F32,
     {1 << 13, 1 << 13},
     {4096, 4096},
     3,
     2,
     {{0, -9}, {9, 1}, SPACE},
     8,
     0,
     expect_rows},
    {"transpose_f32",
     "float32[,], float32[,]",
     "[i, j](a, b) { b[j][i] = a[i][j]; }",
     0,
     F32,
     {1 << 13, 1 << 13},
     {4096, 4096},
     2,
     1,
     {SPACE, {-1, 0}},
     8,
     0,
     expect_turned},
    {"distance3_f32",
     "float32[,], float32[,], float32[,]",
     DISTANCES(3),
     0,
     F32,
     {1 << 13, 1 << 13},
     {2048, 2048},
     3,
     2,
     {{0, 3}, {-1, 3}, SPACE},
     4,
     0,
     expect_distance},
    {"distance4_f32",
     "float32[,], float32[,], float32[,]",
     DISTANCES(4),
     0,
     F32,
     {1 << 13, 1 << 13},
     {2048, 2048},
     3,
     2,
     {{0, 4}, {-1, 4}, SPACE},
     4,
     0,
     expect_distance},
    {"distance32_f32",
     "float32[,], float32[,], float32[,]",
     DISTANCES(32),
     UF_FAST_CONTRACT,
     F32,
     {1 << 13, 1 << 13},
     {1024, 1024},
     3,
     2,
     {{0, 32}, {-1, 32}, SPACE},
     0,
     96,
     expect_distance},
    {"distance64_f32",
     "float32[,], float32[,], float32[,]",
     DISTANCES(64),
     UF_FAST_CONTRACT,
     F32,
     {1 << 13, 1 << 13},
     {1024, 1024},
     3,
     2,
     {{0, 64}, {-1, 64}, SPACE},
     0,
     192,
     expect_distance},
    {"pull_f32",
     "float32[,], float32[,]",
     PULL,
     0,
     F32,
     {1 << 14, 1},
     {4096, 1},
     2,
     1,
     {{0, 4}, {0, 4}},
     0,
     0,
     expect_pull},
    {"pull64k_f32",
     "float32[,], float32[,]",
     PULL,
     0,
     F32,
     {1 << 16, 1},
     {4096, 1},
     2,
     1,
     {{0, 4}, {0, 4}},
     0,
     0,
     expect_pull},
};

/* ---- One case on one device. The shapes live here: do not copy. ---- */

typedef struct problem {
    const window_case *c;
    const int64_t *n;
    int ndim;
    double points;
    uf_func *f;
    DLManagedTensor *array[MOST];
    DLTensor args[MOST];
    int threads, elements, block;
} problem;

static int64_t extent(const int64_t *n, int64_t x) { return x > 0 ? x : x == 0 ? n[0] : x == -9 ? n[1] + 8 : n[1]; }

static void fill(void *to, DLDataType type, size_t n, bool zero) {
    for (size_t i = 0; i < n; i++)
        if (type.bits == 8)
            ((uint8_t *)to)[i] = zero ? 0 : (uint8_t)noise(0, 256);
        else
            ((float *)to)[i] = zero ? 0 : (float)noise(0.5, 2);
}

static void array_make(problem *p, int k, DLDevice device) {
    const window_case *c = p->c;
    int64_t shape[2] = {extent(p->n, c->shape[k][0]), extent(p->n, c->shape[k][1])};
    int ndim = c->shape[k][1] == 1 ? 1 : 2;
    size_t count = (size_t)shape[0] * (size_t)shape[1], bytes = count * c->dtype.bits / 8;
    host[k] = memory(bytes);
    fill(host[k], c->dtype, count, k == c->result);
    MUST(uf_empty(&p->array[k], device, c->dtype, ndim, shape));
    p->args[k] = p->array[k]->dl_tensor;
    DLTensor from = p->args[k];
    from.data = host[k];
    from.device = (DLDevice){kDLCPU, 0};
    MUST(uf_copy(&p->args[k], &from, NULL));
}

static void problem_make(problem *p, const window_case *c, DLDevice device) {
    const uf_section section = {c->parameters, c->source};
    *p = (problem){.c = c, .n = device.device_type == kDLCUDA ? c->gpu : c->cpu, .threads = 1};
    p->ndim = p->n[1] == 1 ? 1 : 2;
    p->points = (double)p->n[0] * (double)(p->ndim == 1 ? p->n[0] : p->n[1]);
    MUST(uf_define(&p->f, &(uf_definition){.size = sizeof(uf_definition),
                                           .name = c->name,
                                           .nsections = 1,
                                           .sections = &section,
                                           .fast = c->fast,
                                           .flags = UF_KERNEL}));
    for (int k = 0; k < c->nargs; k++)
        array_make(p, k, device);
}

static void problem_free(problem *p) {
    for (int k = 0; k < p->c->nargs; k++) {
        p->array[k]->deleter(p->array[k]);
        free(host[k]);
    }
    uf_free(p->f);
}

static void run(void *user) {
    const problem *p = user;
    MUST(uf_forall(
        p->f, p->ndim, p->n, p->c->nargs, p->args,
        &(uf_options){.size = sizeof(uf_options), .threads = p->threads, .elements = p->elements, .block = p->block}));
}

static void results_check(const problem *p, const char *system) {
    const window_case *c = p->c;
    const DLTensor *out = &p->args[c->result];
    int64_t n = out->shape[0] * (out->ndim == 2 ? out->shape[1] : 1), one = 1;
    for (int64_t look = 0; look < LOOKS; look++) {
        int64_t at = look < 4   ? look
                     : look < 8 ? n - look + 3
                                : (int64_t)(0x9e3779b97f4a7c15u * (uint64_t)look % (uint64_t)n);
        double got, want = c->expect(c, p->n, at);
        DLTensor element = *out, to = UF_ARRAY(&got, 1);
        element.ndim = 1;
        element.shape = &one;
        element.strides = NULL;
        element.byte_offset += (uint64_t)at * out->dtype.bits / 8;
        MUST(uf_copy(&to, &element, NULL));
        if (fabs(got - want) > 1e-3 + 1e-4 * fabs(want)) {
            fprintf(stderr, "%s, %s: wrong result %lld: %.9g, not %.9g\n", c->name, system, (long long)at, got, want);
            exit(1);
        }
    }
}

/* ---- Rows ---- */

static void rate(const problem *p, const char *device, const char *system, double *t, int times) {
    const window_case *c = p->c;
    char name[64];
    double work = c->bytes ? c->bytes : c->flops ? c->flops : 1;
    snprintf(name, sizeof name, "%s_%s", device, c->name);
    row(name, system, c->bytes ? "GB/s" : c->flops ? "GFLOP/s" : "Gpair/s", 1e-9 * work * p->points, t, times);
}

static void gpu_case(const window_case *c) {
    problem p;
    double t[REPETITIONS];
    problem_make(&p, c, (DLDevice){kDLCUDA, 0});
    const char *elements = getenv("BENCH_ELEMENTS"), *block = getenv("BENCH_BLOCK");
    p.elements = elements ? atoi(elements) : 0;
    p.block = block ? atoi(block) : 0;
    run(&p);
    results_check(&p, "libufunc");
    gpu_time(run, &p, t, REPETITIONS);
    rate(&p, "gpu", "libufunc", t, REPETITIONS);
    if (getenv("BENCH_INFO")) {
        uf_launch l = {.size = sizeof l};
        MUST(uf_launch_info(p.f, p.ndim, p.n, c->nargs, p.args, NULL, &l));
        fprintf(stderr, "%s: %d points a thread, %d together, blocks of %d, %d registers, occupancy %.2f, local %d\n",
                c->name, l.elements, l.vector, l.block, l.registers, l.occupancy, l.local_bytes);
    }
    problem_free(&p);
}

typedef void plain_loop(void *const *args, const int64_t *n);

static void cpu_case(const window_case *c, void *lib) {
    problem p;
    double t[2][REPETITIONS], most;
    char symbol[64];
    plain_loop *plain = NULL;
    void *data[MOST];
    int times = -1;
    problem_make(&p, c, (DLDevice){kDLCPU, 0});
    snprintf(symbol, sizeof symbol, "plain_%s", c->name);
    void *found = lib ? dlsym(lib, symbol) : NULL;
    memcpy(&plain, &found, sizeof plain);
    for (int k = 0; k < c->nargs; k++)
        data[k] = p.args[k].data;
    run(&p);
    results_check(&p, "libufunc");
    if (plain) {
        plain(data, p.n);
        results_check(&p, "gcc");
    }
    most = now() + 1;
    for (; times < 5 || (times < REPETITIONS && now() < most); times++)
        for (int way = 0; way < (plain ? 2 : 1); way++) {
            double start = now();
            if (way)
                plain(data, p.n);
            else
                run(&p);
            if (times >= 0)
                t[way][times] = now() - start;
        }
    rate(&p, "cpu", "libufunc 1 thread", t[0], times);
    if (plain)
        rate(&p, "cpu", "gcc -O3 -march=native", t[1], times);
    problem_free(&p);
}

int main(int argc, char **argv) {
    void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *only = getenv("BENCH_CASE");
    bool gpu = driver_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (only && !strstr(cases[i].name, only))
            continue;
        if (gpu)
            gpu_case(&cases[i]);
        if (!getenv("BENCH_GPU_ONLY"))
            cpu_case(&cases[i], lib);
    }
    return 0;
}
