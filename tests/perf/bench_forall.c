/* bench_forall.c - our side of the benchmark of kernels over indices, and on the CPU the plain C loops of plain_forall.c beside
 * it. Results are checked in places before they are timed; a case that fails is left out, and the exit status says so. */
#include "bench.h"

enum {
    MOST_AXES = 3,
    MOST_PARAMETERS = 6,
    LOOKS = 64, /* elements of a result that are checked */
    TABLE = 1 << 20,
    BINS = 256
};

static int failures;

static void failed(const char *name) {
    fprintf(stderr, "%s: %s\n", name, uf_last_error()->message);
    failures++;
}

/* ---- Cases ---- */

typedef enum content {
    NUMBER,  /* by value */
    RESULT,  /* the array that is checked, which starts at 0 */
    ROOM,    /* another one */
    NUMBERS, /* of 0.5 to 2 */
    BYTES,
    CELLS, /* bytes of 0 and 1 */
    PLACES /* in a table */
} content;

/* An array has the extents of the space, or one dimension of `length`, and behind these `width` elements if that is set. */
typedef struct parameter {
    DLDataType dtype;
    content content;
    double number;
    int64_t length, width;
} parameter;

typedef struct problem problem;
typedef struct kernel {
    const char *name, *parameters, *source;
    int ndim;
    int64_t cpu[MOST_AXES], gpu[MOST_AXES];
    int nparameters;
    parameter parameter[MOST_PARAMETERS];
    double (*expect)(const problem *p, int64_t at); /* element `at` of the result */
    int bytes;                                      /* read and written for a point; 0: the work is pairs of points */
    bool math;                                      /* bound by arithmetic: also with UF_FAST_ALL */
    const char *also;                               /* another plain loop, for information */
} kernel;

/* One case on one device. The shapes live here: do not copy. */
struct problem {
    const kernel *kernel;
    uf_func *f;
    const int64_t *n; /* the space */
    int64_t points;
    DLManagedTensor *array[MOST_PARAMETERS];
    const void *host[MOST_PARAMETERS]; /* what inputs hold */
    union {
        float f32;
        int32_t i32;
        int64_t i64;
    } number[MOST_PARAMETERS];
    DLTensor args[MOST_PARAMETERS];
    int result;
    int threads;
};

/* ---- Plain results ---- */

static float f32_at(const problem *p, int k, int64_t i) { return ((const float *)p->host[k])[i]; }

static double expect_round(const problem *p, int64_t i) { return (double)(rintf(f32_at(p, 0, i) * 1000) / 1000); }

static bool inner(const problem *p, int64_t i) {
    for (int d = p->kernel->ndim - 1; d >= 0; i /= p->n[d--])
        if (i % p->n[d] == 0 || i % p->n[d] == p->n[d] - 1)
            return false;
    return true;
}

/* An element and its 2 d neighbours. */
static double expect_diffusion(const problem *p, int64_t i) {
    if (!inner(p, i))
        return 0;
    double sum = 0, self = (double)f32_at(p, 0, i);
    int64_t step = 1;
    for (int d = p->kernel->ndim - 1; d >= 0; step *= p->n[d--])
        sum += (double)f32_at(p, 0, i - step) + (double)f32_at(p, 0, i + step) - 2 * self;
    return self + p->kernel->parameter[2].number * sum;
}

static int64_t counts[BINS]; /* of the bytes that were made last */
static double expect_count(const problem *p, int64_t bin) {
    (void)p;
    return (double)counts[bin];
}

/* Philox 4x32-10 with the seed as key, of counter i / 4. */
static double expect_uniform(const problem *p, int64_t i) {
    uint64_t seed = (uint64_t)p->number[1].i64, n = (uint64_t)i >> 2;
    uint32_t word[4] = {(uint32_t)n, (uint32_t)(n >> 32), 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xd2511f53ull * word[0], b = 0xcd9e8d57ull * word[2];
        word[0] = (uint32_t)(b >> 32) ^ word[1] ^ key[0];
        word[2] = (uint32_t)(a >> 32) ^ word[3] ^ key[1];
        word[1] = (uint32_t)b;
        word[3] = (uint32_t)a;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return (word[i & 3] >> 8) * 0x1p-24;
}

static double expect_velocity(const problem *p, int64_t at) {
    const float *body = p->host[0], *self = body + at / 4 * 4;
    double a = 0;
    for (const float *other = body; other < body + 4 * p->n[0]; other += 4) {
        double d = 1e-4, r = (double)other[at % 4] - (double)self[at % 4];
        for (int k = 0; k < 3; k++)
            d += ((double)other[k] - (double)self[k]) * ((double)other[k] - (double)self[k]);
        a += (double)other[3] * r / (d * sqrt(d));
    }
    return at % 4 == 3 ? 0 : p->kernel->parameter[3].number * a;
}

static double expect_life(const problem *p, int64_t i) {
    const uint8_t *a = (const uint8_t *)p->host[0] + i;
    int64_t m = p->n[1];
    if (!inner(p, i))
        return 0;
    int c = a[-m - 1] + a[-m] + a[-m + 1] + a[-1] + a[1] + a[m - 1] + a[m] + a[m + 1];
    return c == 3 || (c == 2 && *a);
}

static double expect_transposed(const problem *p, int64_t at) {
    return (double)f32_at(p, 0, at % p->n[0] * p->n[1] + at / p->n[0]);
}

static double expect_gathered(const problem *p, int64_t i) {
    return (double)f32_at(p, 0, ((const int32_t *)p->host[1])[i]);
}

static double expect_saxpy(const problem *p, int64_t i) {
    return p->kernel->parameter[3].number * (double)f32_at(p, 0, i) + (double)f32_at(p, 1, i);
}

/* ---- The kernels ---- */

#define F32 \
    { kDLFloat, 32, 1 }
#define I32 \
    { kDLInt, 32, 1 }
#define I64 \
    { kDLInt, 64, 1 }
#define U8 \
    { kDLUInt, 8, 1 }

static const char heat_source[] = UF_SOURCE([i : n, j : m](u, v, k) {
    if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
        v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
});
static const char histogram_source[] = UF_SOURCE([i](b, h) { atomic_add(h[b[i]], 1); });

static const kernel kernels[] = {
    {.name = "round_f32",
     .parameters = "float32[], float32[], int32",
     .source = UF_SOURCE(
         ten_to(n) {
             float power = n & 1 ? 1e1f : 1;
             power *= n & 2 ? 1e2f : 1;
             power *= n & 4 ? 1e4f : 1;
             power *= n & 8 ? 1e8f : 1;
             return n & 16 ? power * 1e16f : power;
         }[i](x, r, decimals) {
             auto f = ten_to(decimals);
             r[i] = rint(x[i] * f) / f;
         }),
     .ndim = 1,
     .cpu = {1 << 24},
     .gpu = {1 << 28},
     .nparameters = 3,
     .parameter = {{F32, NUMBERS}, {F32, RESULT}, {I32, NUMBER, 3}},
     .expect = expect_round,
     .bytes = 8},
    {.name = "round_loop_f32",
     .parameters = "float32[], float32[], int32",
     .source = UF_SOURCE([i](x, r, decimals) {
         auto f = 1.0f;
         for (int k = 0; k < decimals; k++)
             f *= 10;
         r[i] = rint(x[i] * f) / f;
     }),
     .ndim = 1,
     .cpu = {1 << 24},
     .gpu = {1 << 28},
     .nparameters = 3,
     .parameter = {{F32, NUMBERS}, {F32, RESULT}, {I32, NUMBER, 3}},
     .expect = expect_round,
     .bytes = 8},
    {.name = "heat_f32",
     .parameters = "float32[,], float32[,], float32",
     .source = heat_source,
     .ndim = 2,
     .cpu = {4096, 4096},
     .gpu = {1 << 14, 1 << 14},
     .nparameters = 3,
     .parameter = {{F32, NUMBERS}, {F32, RESULT}, {F32, NUMBER, .125}},
     .expect = expect_diffusion,
     .bytes = 8},
    {.name = "histogram_i32",
     .parameters = "uint8[], int32[]",
     .source = histogram_source,
     .ndim = 1,
     .cpu = {1 << 24},
     .gpu = {1 << 28},
     .nparameters = 2,
     .parameter = {{U8, BYTES}, {I32, RESULT, .length = BINS}},
     .expect = expect_count,
     .bytes = 1,
     .also = "histogram_i32_tables"},
    {.name = "histogram_i64",
     .parameters = "uint8[], int64[]",
     .source = histogram_source,
     .ndim = 1,
     .cpu = {1 << 24},
     .gpu = {1 << 28},
     .nparameters = 2,
     .parameter = {{U8, BYTES}, {I64, RESULT, .length = BINS}},
     .expect = expect_count,
     .bytes = 1},
    {.name = "uniform_f32",
     .parameters = "float32[], int64",
     .source = UF_SOURCE([i](r, seed) { r[i] = random_uniformf(seed, i, 0); }),
     .ndim = 1,
     .cpu = {1 << 22},
     .gpu = {1 << 28},
     .nparameters = 2,
     .parameter = {{F32, RESULT}, {I64, NUMBER, 20251122e6}},
     .expect = expect_uniform,
     .bytes = 4,
     .also = "uniform_fours"},
    {.name = "nbody_f32",
     .parameters = "float32[,], float32[,], float32[,], float32",
     .source = UF_SOURCE([i : n](p, v, q, dt) {
         auto x = p[i][0], y = p[i][1], z = p[i][2];
         auto ax = 0.0f, ay = 0.0f, az = 0.0f;
         for (int64_t j = 0; j < n; j++) {
             auto dx = p[j][0] - x, dy = p[j][1] - y, dz = p[j][2] - z;
             auto d = dx * dx + dy * dy + dz * dz + 1e-4f;
             auto w = p[j][3] / (d * sqrt(d));
             ax += w * dx;
             ay += w * dy;
             az += w * dz;
         }
         v[i][0] += dt * ax;
         v[i][1] += dt * ay;
         v[i][2] += dt * az;
         q[i][0] = x + dt * v[i][0];
         q[i][1] = y + dt * v[i][1];
         q[i][2] = z + dt * v[i][2];
         q[i][3] = p[i][3];
     }),
     .ndim = 1,
     .cpu = {4096},
     .gpu = {1 << 14},
     .nparameters = 4,
     .parameter = {{F32, NUMBERS, .width = 4}, {F32, RESULT, .width = 4}, {F32, ROOM, .width = 4}, {F32, NUMBER, .5}},
     .expect = expect_velocity,
     .math = true},
    {.name = "life_u8",
     .parameters = "uint8[,], uint8[,]",
     .source = UF_SOURCE([i : n, j : m](a, b) {
         if (i > 0 && i < n - 1 && j > 0 && j < m - 1) {
             int alive = a[i][j], c = a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j + 1] +
                                      a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1];
             b[i][j] = c == 3 || (c == 2 && alive);
         }
     }),
     .ndim = 2,
     .cpu = {4096, 4096},
     .gpu = {1 << 14, 1 << 14},
     .nparameters = 2,
     .parameter = {{U8, CELLS}, {U8, RESULT}},
     .expect = expect_life,
     .bytes = 2},
    {.name = "transpose_f32",
     .parameters = "float32[,], float32[,]",
     .source = UF_SOURCE([i, j](a, b) { b[j][i] = a[i][j]; }),
     .ndim = 2,
     .cpu = {4096, 4096},
     .gpu = {1 << 14, 1 << 14},
     .nparameters = 2,
     .parameter = {{F32, NUMBERS}, {F32, RESULT}},
     .expect = expect_transposed,
     .bytes = 8},
    {.name = "gather_f32",
     .parameters = "float32[], int32[], float32[]",
     .source = UF_SOURCE([i](a, place, r) { r[i] = a[place[i]]; }),
     .ndim = 1,
     .cpu = {1 << 24},
     .gpu = {1 << 28},
     .nparameters = 3,
     .parameter = {{F32, NUMBERS, .length = TABLE}, {I32, PLACES}, {F32, RESULT}},
     .expect = expect_gathered,
     .bytes = 8},
    {.name = "saxpy_f32",
     .parameters = "float32[], float32[], float32[], float32",
     .source = UF_SOURCE([i](x, y, r, a) { r[i] = a * x[i] + y[i]; }),
     .ndim = 1,
     .cpu = {1 << 24},
     .gpu = {1 << 28},
     .nparameters = 4,
     .parameter = {{F32, NUMBERS}, {F32, NUMBERS}, {F32, RESULT}, {F32, NUMBER, 1.5}},
     .expect = expect_saxpy,
     .bytes = 12},
    {.name = "stencil3_f32",
     .parameters = "float32[,,], float32[,,], float32",
     .source = UF_SOURCE([h : l, i : n, j : m](u, v, k) {
         if (h > 0 && h < l - 1 && i > 0 && i < n - 1 && j > 0 && j < m - 1)
             v[h][i][j] = u[h][i][j] + k * (u[h - 1][i][j] + u[h + 1][i][j] + u[h][i - 1][j] + u[h][i + 1][j] +
                                            u[h][i][j - 1] + u[h][i][j + 1] - 6 * u[h][i][j]);
     }),
     .ndim = 3,
     .cpu = {256, 256, 256},
     .gpu = {512, 512, 512},
     .nparameters = 3,
     .parameter = {{F32, NUMBERS}, {F32, RESULT}, {F32, NUMBER, .125}},
     .expect = expect_diffusion,
     .bytes = 8},
};

/* ---- Arrays ---- */

static int64_t size_of(DLDataType type, int64_t n) { return n * (type.bits / 8); }

/* 2^28 numbers and a few; the arrays of a case begin at different ones. */
static const float *numbers(int64_t first, int64_t n) {
    static float *made;
    static int64_t count;
    if (first + n > count) {
        free(made);
        count = first + n + 64;
        made = memory(4 * (size_t)count);
        for (int64_t i = 0; i < count; i++)
            made[i] = (float)noise(.5, 2);
    }
    return made + first;
}

static uint32_t random_bits(void) {
    noise_state = noise_state * 1664525u + 1013904223u;
    return noise_state >> 8;
}

static const uint8_t *bytes(int64_t n, int mask) {
    uint8_t *b = memory((size_t)n);
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n; i++)
        counts[b[i] = (uint8_t)(random_bits() >> 16 & (uint32_t)mask)]++;
    return b;
}

static const int32_t *places(int64_t n) {
    int32_t *p = memory(4 * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        p[i] = (int32_t)(random_bits() % TABLE);
    return p;
}

static const void *content_of(const parameter *q, int k, int64_t n) {
    switch (q->content) {
    case NUMBERS:
        return numbers(k, n);
    case BYTES:
        return bytes(n, 255);
    case CELLS:
        return bytes(n, 1);
    case PLACES:
        return places(n);
    default:
        return NULL;
    }
}

static void number_make(problem *p, int k) {
    const parameter *q = &p->kernel->parameter[k];
    if (q->dtype.code == kDLFloat)
        p->number[k].f32 = (float)q->number;
    else if (q->dtype.bits == 32)
        p->number[k].i32 = (int32_t)q->number;
    else
        p->number[k].i64 = (int64_t)q->number;
    p->args[k] = (DLTensor){.data = &p->number[k], .device = {kDLCPU, 0}, .dtype = q->dtype};
}

/* By a call: uf_copy would wait for the device. */
static void zero(const DLTensor *array) {
    static uf_func *set;
    if (!set)
        MUST(uf_vectorize(&set, "set", "uint8->uint8", "(x) { return x; }"));
    MUST(uf_call(set, 2, (DLTensor[]){UF_SCALAR((uint8_t)0), *array}, NULL));
}

static void array_make(problem *p, int k, DLDevice device) {
    const parameter *q = &p->kernel->parameter[k];
    int64_t shape[MOST_AXES + 1], n = 1;
    int ndim = 0;
    for (; ndim < (q->length ? 1 : p->kernel->ndim); ndim++)
        n *= shape[ndim] = q->length ? q->length : p->n[ndim];
    if (q->width)
        n *= shape[ndim++] = q->width;
    MUST(uf_empty(&p->array[k], device, q->dtype, ndim, shape));
    p->args[k] = p->array[k]->dl_tensor;
    p->host[k] = content_of(q, k, n);
    DLTensor from = p->args[k];
    from.data = (void *)(uintptr_t)p->host[k];
    from.device = (DLDevice){kDLCPU, 0};
    if (p->host[k])
        MUST(uf_copy(&p->args[k], &from, NULL));
    else
        zero(&p->args[k]);
    if (q->content == RESULT)
        p->result = k;
}

static bool problem_make(problem *p, const kernel *k, unsigned fast, DLDevice device) {
    const uf_section section = {k->parameters, k->source};
    *p = (problem){.kernel = k, .n = device.device_type == kDLCUDA ? k->gpu : k->cpu, .points = 1};
    for (int d = 0; d < k->ndim; d++)
        p->points *= p->n[d];
    if (uf_define(&p->f, &(uf_definition){.size = sizeof(uf_definition),
                                          .name = k->name,
                                          .nsections = 1,
                                          .sections = &section,
                                          .fast = fast,
                                          .flags = UF_KERNEL})) {
        failed(k->name);
        return false;
    }
    for (int j = 0; j < k->nparameters; j++)
        if (k->parameter[j].content == NUMBER)
            number_make(p, j);
        else
            array_make(p, j, device);
    return true;
}

static void problem_free(problem *p) {
    for (int k = 0; k < p->kernel->nparameters; k++) {
        if (p->array[k])
            p->array[k]->deleter(p->array[k]);
        if (p->kernel->parameter[k].content != NUMBERS)
            free((void *)(uintptr_t)p->host[k]);
    }
    uf_free(p->f);
}

/* Counters are set to 0 by each call, as those of peers are. */
static uf_status run(const problem *p) {
    const kernel *k = p->kernel;
    if (k->parameter[p->result].length)
        zero(&p->args[p->result]);
    return uf_forall(p->f, k->ndim, p->n, k->nparameters, p->args,
                     &(uf_options){.size = sizeof(uf_options), .threads = p->threads});
}

/* ---- Checks ---- */

static double result(const DLTensor *out, int64_t at) {
    double value;
    int64_t one = 1;
    DLTensor element = *out, to = UF_ARRAY(&value, 1);
    element.ndim = 1;
    element.shape = &one;
    element.strides = NULL;
    element.byte_offset += (uint64_t)size_of(out->dtype, at);
    MUST(uf_copy(&to, &element, NULL));
    return value;
}

/* The result of one run so far: the first elements, the last ones, and some between. */
static bool right(const problem *p, const char *system) {
    const DLTensor *out = &p->args[p->result];
    int64_t n = 1;
    for (int d = 0; d < out->ndim; d++)
        n *= out->shape[d];
    for (int look = 0; look < LOOKS; look++) {
        int64_t at = look < 4   ? look
                     : look < 8 ? n - look + 3
                                : (int64_t)(0x9e3779b97f4a7c15u * (uint64_t)look % (uint64_t)n);
        double want = p->kernel->expect(p, at), got = result(out, at);
        if (fabs(got - want) <= 1e-5 * fabs(want) + (p->kernel->math ? 1e-2 : 0))
            continue;
        fprintf(stderr, "%s, %s: wrong result %lld: %.9g, not %.9g\n", p->kernel->name, system, (long long)at, got,
                want);
        failures++;
        return false;
    }
    return true;
}

static bool runs(const problem *p) {
    zero(&p->args[p->result]);
    if (!run(p))
        return right(p, "libufunc");
    failed(p->kernel->name);
    return false;
}

/* ---- CPU ---- */

/* ISO C keeps function and object pointers apart; dlsym does not. */
typedef void plain_loop(void *const *args, const int64_t *n, int threads);
static plain_loop *plain_find(void *lib, const char *name) {
    char symbol[64];
    plain_loop *loop = NULL;
    snprintf(symbol, sizeof symbol, "plain_%s", name);
    void *p = lib ? dlsym(lib, symbol) : NULL;
    memcpy(&loop, &p, sizeof p);
    return loop;
}

/* The library, or a plain loop. */
typedef struct contender {
    const char *system;
    plain_loop *plain;
    double t[REPETITIONS];
} contender;

static void contend(const problem *p, const contender *c) {
    void *args[MOST_PARAMETERS];
    for (int k = 0; k < p->kernel->nparameters; k++)
        args[k] = p->args[k].data;
    if (c->plain)
        c->plain(args, p->n, p->threads);
    else
        run(p);
}

static bool contends(const problem *p, const contender *c) {
    if (!c->plain)
        return runs(p);
    zero(&p->args[p->result]);
    contend(p, c);
    return right(p, c->system);
}

/* In turns: what else the machine does then slows all of them. Long ones are not repeated as often. */
static void cpu_rows(const problem *p, contender *c, int count) {
    double work = (double)p->points * (p->kernel->bytes ? 1 : (double)p->points), most = now() + 2 * count;
    char name[64];
    int times = -2;
    for (; times < 7 || (times < REPETITIONS && now() < most); times++)
        for (int j = 0; j < count; j++) {
            double start = now();
            contend(p, &c[j]);
            if (times >= 0)
                c[j].t[times] = now() - start;
        }
    snprintf(name, sizeof name, "cpu_%s", p->kernel->name);
    for (int j = 0; j < count; j++)
        row(name, c[j].system, p->kernel->bytes ? "Gelem/s" : "Gpair/s", 1e-9 * work, c[j].t, times);
}

static const struct {
    int threads;
    const char *ours, *fast, *plain;
} ways[] = {{1, "libufunc 1 thread", "libufunc fast 1 thread", "gcc -O3 -march=native"},
            {0, "libufunc all threads", "libufunc fast all threads", "gcc -O3 -march=native OpenMP"}};

static void cpu_case(const kernel *k, bool fast, void *lib) {
    problem p;
    if (!problem_make(&p, k, fast ? UF_FAST_ALL : 0, (DLDevice){kDLCPU, 0}))
        return;
    for (int way = 0; way < 2; way++) {
        char also[64];
        contender c[3] = {{fast ? ways[way].fast : ways[way].ours, NULL, {0}}};
        int count = 0;
        snprintf(also, sizeof also, "%s %s", ways[way].plain, k->also ? k->also : "");
        p.threads = ways[way].threads;
        count += contends(&p, &c[0]);
        c[count] = (contender){ways[way].plain, fast ? NULL : plain_find(lib, k->name), {0}};
        count += c[count].plain && contends(&p, &c[count]);
        c[count] = (contender){also, k->also && !fast ? plain_find(lib, k->also) : NULL, {0}};
        count += c[count].plain && contends(&p, &c[count]);
        cpu_rows(&p, c, count);
    }
    problem_free(&p);
}

/* ---- GPU ---- */

static void gpu_run(void *user) { MUST(run(user)); }

static void gpu_case(const kernel *k, bool fast) {
    problem p;
    char name[64];
    double t[REPETITIONS];
    if (!problem_make(&p, k, fast ? UF_FAST_ALL : 0, (DLDevice){kDLCUDA, 0}))
        return;
    snprintf(name, sizeof name, "gpu_%s", k->name);
    if (runs(&p)) {
        gpu_time(gpu_run, &p, t, REPETITIONS);
        row(name, fast ? "libufunc fast" : "libufunc", k->bytes ? "GB/s" : "Gpair/s",
            1e-9 * (double)p.points * (k->bytes ? k->bytes : (double)p.points), t, REPETITIONS);
    }
    problem_free(&p);
}

/* ---- The host's time for a small space ---- */

static const char add_source[] = UF_SOURCE([i](x, y, r) { r[i] = x[i] + y[i]; });

/* The address of element 0 of each argument, as a plan takes them. */
typedef struct small {
    uf_func *f;
    uf_plan *plan;
    int64_t n;
    DLManagedTensor *array[3];
    DLTensor args[3];
    void *data[3];
    void *bare; /* the driver's kernel */
} small;

static void small_make(small *s, DLDevice device) {
    *s = (small){.n = 16};
    MUST(uf_kernel(&s->f, "add", "float32[], float32[], float32[]", add_source));
    for (int k = 0; k < 3; k++) {
        MUST(uf_empty(&s->array[k], device, f32, 1, &s->n));
        s->args[k] = s->array[k]->dl_tensor;
        s->data[k] = s->args[k].data;
        DLTensor number = UF_SCALAR((float)(k + 1));
        MUST(uf_copy(&s->args[k], &number, NULL));
    }
    MUST(uf_forall(s->f, 1, &s->n, 3, s->args, NULL));
    MUST(uf_forall_plan(&s->plan, s->f, 1, &s->n, 3, s->args, NULL));
    check(result(&s->args[2], 15) == 3, "uf_forall of 16");
    zero(&s->args[2]);
    MUST(uf_plan_run(s->plan, s->data, NULL));
    check(result(&s->args[2], 15) == 3, "uf_plan_run of 16");
}

static void small_free(small *s) {
    uf_plan_free(s->plan);
    uf_free(s->f);
    for (int k = 0; k < 3; k++)
        s->array[k]->deleter(s->array[k]);
}

static void bare_launch(small *s) {
    void *params[] = {&s->data[0], &s->data[1], &s->data[2], &s->n};
    cu.launch(s->bare, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}
static void forall_call(small *s) { uf_forall(s->f, 1, &s->n, 3, s->args, NULL); }
static void plan_call(small *s) { uf_plan_run(s->plan, s->data, NULL); }

static const struct {
    const char *system;
    void (*call)(small *s);
} small_ways[] = {{"bare cuLaunchKernel", bare_launch}, {"uf_forall", forall_call}, {"uf_plan_run", plan_call}};

static void small_rows(small *s, const char *name, int first, int calls) {
    double t[REPETITIONS];
    for (int round = 0; round < 2; round++) /* the first warms up */
        for (int way = first; way < 3; way++) {
            for (int k = 0; k < REPETITIONS; k++) {
                MUST(uf_sync(s->args[0].device, NULL));
                t[k] = now();
                for (int j = 0; j < calls; j++)
                    small_ways[way].call(s);
                t[k] = (now() - t[k]) / calls;
            }
            if (round)
                row(name, small_ways[way].system, "host us/call", 0, t, REPETITIONS);
        }
}

static void gpu_small(void) {
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry bare(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n) { ret; }\n";
    small s;
    void *module;
    small_make(&s, (DLDevice){kDLCUDA, 0});
    check(!cu.load(&module, ptx) && !cu.get(&s.bare, module, "bare"), "the bare kernel");
    small_rows(&s, "gpu_forall_16", 0, 400);
    small_free(&s);
}

static void cpu_small(void) {
    small s;
    small_make(&s, (DLDevice){kDLCPU, 0});
    small_rows(&s, "cpu_forall_16", 1, 20000);
    small_free(&s);
}

int main(int argc, char **argv) {
    const size_t count = sizeof kernels / sizeof *kernels;
    void *plain = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!getenv("BENCH_GPU_ONLY")) {
        if (!plain)
            fprintf(stderr, "bench: no plain_forall.so; the plain C loops are left out\n");
        cpu_small();
        for (size_t k = 0; k < count; k++)
            for (int fast = 0; fast <= kernels[k].math; fast++)
                cpu_case(&kernels[k], fast, plain);
    }
    if (driver_open()) {
        gpu_small();
        for (size_t k = 0; k < count; k++)
            for (int fast = 0; fast <= kernels[k].math; fast++)
                gpu_case(&kernels[k], fast);
    } else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return failures != 0;
}
