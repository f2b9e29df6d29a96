/* bench_sizes.c - generalized ufuncs on many small matrices and vectors, whose sizes are constants of the code: on the GPU beside a copy of
 * as many bytes, on the CPU beside libxsmm, if that is there, one thread. Results are compared with those of few calls, for
 * which there is no code of their own, before they are timed. */
#include "bench.h"

enum {
    MOST_ARGS = 3,
    CHECKED = 200, /* inner calls: fewer than get code of their own */
    RUNS = 11
};

/* A function of the catalogue and the core of each argument: letter n for the size, a digit for itself; the last is the output. */
typedef struct function {
    const char *name;
    int nargs;
    const char *core[MOST_ARGS];
} function;

static const function matmul = {"matmul", 3, {"nn", "nn", "nn"}}, matvec = {"matvec", 3, {"nn", "n", "n"}},
                      cross = {"cross1d", 3, {"3", "3", "3"}}, quaternion = {"quat_mul", 3, {"4", "4", "4"}},
                      rotation = {"rot3", 3, {"4", "3", "3"}}, inverse = {"inv", 2, {"nn", "nn"}},
                      solve = {"solve", 3, {"nn", "n", "n"}}, det = {"det", 2, {"nn", ""}},
                      vecdot = {"vecdot", 3, {"n", "n", ""}}, softmax = {"softmax", 2, {"n", "n"}};

/* A batch of inner calls. The arguments' shapes live here: do not copy. */
typedef struct batch {
    const function *function;
    int64_t count;
    gpu_call call;
    int64_t shape[MOST_ARGS][3];
} batch;

static int64_t core_size(const function *f, int k, int64_t n) {
    int64_t size = 1;
    for (const char *c = f->core[k]; *c; c++)
        size *= *c == 'n' ? n : *c - '0';
    return size;
}

static void batch_make(batch *b, const function *f, int64_t n, int64_t count, void *const *data, DLDevice device) {
    *b = (batch){.function = f, .count = count, .call = {.nargs = f->nargs}};
    for (int k = 0; k < f->nargs; k++) {
        int rank = (int)strlen(f->core[k]);
        b->shape[k][0] = count;
        for (int d = 0; d < rank; d++)
            b->shape[k][1 + d] = f->core[k][d] == 'n' ? n : f->core[k][d] - '0';
        b->call.args[k] =
            (DLTensor){.data = data[k], .device = device, .ndim = 1 + rank, .dtype = f32, .shape = b->shape[k]};
    }
    MUST(uf_load(&b->call.f, f->name));
}

static double batch_bytes(const function *f, int64_t n, int64_t count) {
    int64_t all = 0;
    for (int k = 0; k < f->nargs; k++)
        all += core_size(f, k, n);
    return 4.0 * (double)(count * all);
}

/* Argument k of the first or the last calls, in host memory; the caller frees it. */
static float *fetch(const batch *b, int k, int64_t first, int64_t count, int64_t size) {
    int64_t elements = count * size;
    float *host = memory(4 * (size_t)elements);
    DLTensor part = b->call.args[k], to = UF_ARRAY(host, elements);
    part.ndim = 1;
    part.shape = &elements;
    part.byte_offset += 4 * (uint64_t)(first * size);
    MUST(uf_copy(&to, &part, NULL));
    return host;
}

/* Compares the results of some calls with those of a batch of these alone, on the CPU. */
static void verify(const batch *b, int64_t n, int64_t first, const char *name) {
    const function *f = b->function;
    void *data[MOST_ARGS];
    int last = f->nargs - 1, wrong = 0;
    int64_t size = core_size(f, last, n);
    batch few;
    for (int k = 0; k <= last; k++)
        data[k] = fetch(b, k, first, CHECKED, core_size(f, k, n));
    float *got = fetch(b, last, first, CHECKED, size), *want = data[last];
    batch_make(&few, f, n, CHECKED, data, (DLDevice){kDLCPU, 0});
    MUST(uf_call(few.call.f, few.call.nargs, few.call.args, NULL));
    for (int64_t i = 0; i < CHECKED * size; i++)
        wrong += !(fabs((double)got[i] - (double)want[i]) <= 1e-3 * (fabs((double)want[i]) + 1e-3));
    if (wrong > CHECKED * size / 100) {
        fprintf(stderr, "%s: %d of %lld elements are wrong\n", name, wrong, (long long)(CHECKED * size));
        exit(1);
    }
    for (int k = 0; k <= last; k++)
        free(data[k]);
    free(got);
    uf_free(few.call.f);
}

/* ---- GPU ---- */

static const struct {
    const function *f;
    int n;
} gpu_cases[] = {{&matmul, 2},  {&matmul, 3},  {&matmul, 4},  {&matmul, 5},     {&matmul, 6},   {&matmul, 7},
                 {&matmul, 8},  {&matmul, 9},  {&matmul, 10}, {&matmul, 11},    {&matmul, 12},  {&matmul, 13},
                 {&matmul, 14}, {&matmul, 15}, {&matmul, 16}, {&matvec, 3},     {&matvec, 4},   {&matvec, 7},
                 {&matvec, 8},  {&matvec, 16}, {&cross, 3},   {&quaternion, 4}, {&rotation, 3}, {&inverse, 3},
                 {&inverse, 4}, {&inverse, 8}, {&solve, 3},   {&solve, 4},      {&solve, 8},    {&det, 3},
                 {&det, 4},     {&det, 8},     {&vecdot, 3},  {&vecdot, 8},     {&softmax, 10}};

typedef struct bare_copy {
    unsigned long long to, from;
    size_t size;
} bare_copy;
static void bare_copy_run(void *user) {
    bare_copy *c = user;
    cu.copy(c->to, c->from, c->size, NULL);
}

static void gpu_case(const function *f, int n, int64_t all, void *const *data, double copy_rate) {
    char name[64];
    double t[RUNS], start;
    batch b;
    int64_t largest = 1;
    void *arrays[MOST_ARGS] = {data[0], f->nargs == 3 ? data[1] : data[2], data[2]};
    for (int k = 0; k < f->nargs; k++)
        largest = core_size(f, k, n) > largest ? core_size(f, k, n) : largest;
    snprintf(name, sizeof name, "gpu_sizes_%s_%d", f->name, n);
    batch_make(&b, f, n, all / largest, arrays, (DLDevice){kDLCUDA, 0});
    start = now();
    gpu_call_run(&b.call);
    start = now() - start;
    verify(&b, n, 0, name);
    verify(&b, n, b.count - CHECKED, name);
    gpu_time(gpu_call_run, &b.call, t, RUNS);
    row(name, "libufunc", "GB/s", 1e-9 * batch_bytes(f, n, b.count), t, RUNS);
    row(name, "libufunc first call", "us", 0, &start, 1);
    printf("%s,copy,GB/s,%.5g,0\n", name, copy_rate);
    uf_free(b.call.f);
}

/* Calls on a square whose array `turned` lies in the order of columns. */
static const struct {
    const function *f;
    int n, turned;
    int64_t side;
} turned_cases[] = {{&cross, 3, 1, 4096},      {&cross, 3, 2, 4096},    {&cross, 3, 1, 4001},
                    {&vecdot, 4, 1, 4096},     {&vecdot, 4, 2, 4096},   {&vecdot, 4, 2, 4100},
                    {&quaternion, 4, 1, 4096}, {&rotation, 3, 2, 4096}, {&matmul, 2, 1, 4096}};

typedef struct turned_call {
    gpu_call call;
    int64_t shape[MOST_ARGS][4], strides[4];
} turned_call;

static void turned_make(turned_call *t, const function *f, int n, int turned, int64_t side, void *const *data) {
    *t = (turned_call){.call = {.nargs = f->nargs}};
    for (int k = 0; k < f->nargs; k++) {
        int rank = 2 + (int)strlen(f->core[k]);
        int64_t size = core_size(f, k, n);
        t->shape[k][0] = t->shape[k][1] = side;
        for (int d = 2; d < rank; d++)
            t->shape[k][d] = f->core[k][d - 2] == 'n' ? n : f->core[k][d - 2] - '0';
        t->call.args[k] =
            (DLTensor){.data = data[k], .device = {kDLCUDA, 0}, .ndim = rank, .dtype = f32, .shape = t->shape[k]};
        if (k != turned)
            continue;
        t->strides[0] = size;
        t->strides[1] = size * side;
        for (int d = rank - 1, step = 1; d >= 2; step *= (int)t->shape[k][d--])
            t->strides[d] = step;
        t->call.args[k].strides = t->strides;
    }
    MUST(uf_load(&t->call.f, f->name));
}

/* The first elements of the last row of an array, in host memory; the caller frees them. */
static float *last_row(const DLTensor *array, int64_t size) {
    DLTensor row = *array;
    int64_t side = array->shape[0], one[4] = {1, CHECKED};
    float *host = memory(4 * CHECKED * (size_t)size);
    memcpy(one + 2, array->shape + 2, (size_t)(array->ndim - 2) * sizeof *one);
    row.shape = one;
    row.byte_offset = 4 * (uint64_t)((side - 1) * (array->strides ? array->strides[0] : side * size));
    DLTensor to = {.data = host, .device = {kDLCPU, 0}, .ndim = row.ndim, .dtype = f32, .shape = one};
    int64_t dense[4] = {side * size, size};
    if (!array->strides) {
        for (int d = row.ndim - 1, step = 1; d >= 2; step *= (int)one[d--])
            dense[d] = step;
        row.strides = dense;
    }
    MUST(uf_copy(&to, &row, NULL));
    return host;
}

/* Compares the results with those of the same calls without a turned array, a copy of which is made at data[3]. */
static void turned_verify(const turned_call *t, const function *f, int n, int turned, int64_t side, void *const *data,
                          const char *name) {
    int last = f->nargs - 1;
    void *plain_data[MOST_ARGS] = {data[0], data[1], data[last]};
    turned_call plain;
    float *got = last_row(&t->call.args[last], core_size(f, last, n));
    if (turned < last)
        plain_data[turned] = data[3];
    turned_make(&plain, f, n, -1, side, plain_data);
    if (turned < last)
        MUST(uf_copy(&plain.call.args[turned], &t->call.args[turned], NULL));
    gpu_call_run(&plain.call);
    float *want = last_row(&plain.call.args[last], core_size(f, last, n));
    check(!memcmp(got, want, 4 * CHECKED * (size_t)core_size(f, last, n)), name);
    free(got);
    free(want);
    uf_free(plain.call.f);
}

static void turned_case(const function *f, int n, int turned, int64_t side, void *const *data, double copy_rate) {
    char name[64];
    double times[RUNS];
    turned_call t;
    snprintf(name, sizeof name, "gpu_sizes_%s_%d_turned%d_%lld", f->name, n, turned, (long long)side);
    turned_make(&t, f, n, turned, side, data);
    gpu_call_run(&t.call);
    turned_verify(&t, f, n, turned, side, data, name);
    gpu_time(gpu_call_run, &t.call, times, RUNS);
    row(name, "libufunc", "GB/s", 1e-9 * batch_bytes(f, n, side * side), times, RUNS);
    printf("%s,copy,GB/s,%.5g,0\n", name, copy_rate);
    uf_free(t.call.f);
}

static void gpu_all(void) {
    const int64_t all = 1 << 27;
    DLTensor x = on_gpu(f32, all), y = on_gpu(f32, all), r = on_gpu(f32, all);
    void *const data[] = {x.data, y.data, r.data, on_gpu(f32, all).data};
    const char *only = getenv("BENCH_CASE");
    double t[RUNS];
    gpu_fill(&x, all);
    gpu_fill(&y, all);
    bare_copy c = {(unsigned long long)(uintptr_t)r.data, (unsigned long long)(uintptr_t)x.data, 4 * (size_t)all};
    gpu_time(bare_copy_run, &c, t, RUNS);
    qsort(t, RUNS, sizeof *t, by_value);
    for (size_t i = 0; i < sizeof gpu_cases / sizeof *gpu_cases; i++)
        if (!only || !strcmp(only, gpu_cases[i].f->name))
            gpu_case(gpu_cases[i].f, gpu_cases[i].n, all, data, 8e-9 * (double)all / t[RUNS / 2]);
    for (size_t i = 0; i < sizeof turned_cases / sizeof *turned_cases; i++)
        if (!only || !strcmp(only, turned_cases[i].f->name))
            turned_case(turned_cases[i].f, turned_cases[i].n, turned_cases[i].turned, turned_cases[i].side, data,
                        8e-9 * (double)all / t[RUNS / 2]);
}

/* ---- CPU ---- */

typedef int xsmm_matmul(int64_t n, int64_t count, const float *a, const float *b, float *c);

enum {
    CPU_ELEMENTS = 1 << 16 /* of each argument, which stay in the second level cache */
};

static const struct {
    const function *f;
    int n;
} cpu_cases[] = {{&matmul, 2},  {&matmul, 3},  {&matmul, 4},  {&matmul, 5},  {&matmul, 7},   {&matmul, 8},
                 {&matmul, 13}, {&matmul, 16}, {&matmul, 23}, {&matmul, 32}, {&matmul, 48},  {&matmul, 64},
                 {&matvec, 4},  {&matvec, 8},  {&matvec, 16}, {&inverse, 3}, {&inverse, 4},  {&solve, 3},
                 {&solve, 4},   {&solve, 8},   {&det, 4},     {&cross, 3},   {&rotation, 3}, {&quaternion, 4},
                 {&vecdot, 8},  {&softmax, 10}};

static void cpu_case(const function *f, int n, float *const *data, xsmm_matmul *peer) {
    char name[64];
    double t[REPETITIONS], start;
    batch b;
    int64_t largest = 1;
    void *arrays[MOST_ARGS] = {data[0], f->nargs == 3 ? data[1] : data[2], data[2]};
    for (int k = 0; k < f->nargs; k++)
        largest = core_size(f, k, n) > largest ? core_size(f, k, n) : largest;
    snprintf(name, sizeof name, "cpu_sizes_%s_%d", f->name, n);
    int64_t count = CPU_ELEMENTS / largest > 256 ? CPU_ELEMENTS / largest : 256;
    batch_make(&b, f, n, count, arrays, (DLDevice){kDLCPU, 0});
    start = now();
    MUST(uf_call(b.call.f, b.call.nargs, b.call.args, &one_thread));
    start = now() - start;
    verify(&b, n, 0, name);
    verify(&b, n, b.count - CHECKED, name);
    for (int k = -3; k < REPETITIONS; k++) {
        double begin = now();
        for (int j = 0; j < 16; j++)
            MUST(uf_call(b.call.f, b.call.nargs, b.call.args, &one_thread));
        if (k >= 0)
            t[k] = (now() - begin) / 16;
    }
    row(name, "libufunc 1 thread", "Mcalls/s", 1e-6 * (double)count, t, REPETITIONS);
    row(name, "libufunc first call", "us", 0, &start, 1);
    for (int k = -3; k < REPETITIONS && peer && f == &matmul; k++) {
        double begin = now();
        for (int j = 0; j < 16; j++)
            peer(n, count, data[0], data[1], data[2]);
        if (k >= 0)
            t[k] = (now() - begin) / 16;
    }
    if (peer && f == &matmul) {
        verify(&b, n, 0, "libxsmm");
        row(name, "libxsmm", "Mcalls/s", 1e-6 * (double)count, t, REPETITIONS);
    }
    uf_free(b.call.f);
}

static void cpu_all(const char *library) {
    void *lib = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    union {
        void *object;
        xsmm_matmul *function;
    } peer = {lib ? dlsym(lib, "xsmm_matmul") : NULL};
    const char *only = getenv("BENCH_CASE");
    float *data[3];
    for (int k = 0; k < 3; k++) {
        data[k] = memory(4 * 256 * 64 * 64);
        for (int64_t i = 0; i < 256 * 64 * 64; i++)
            data[k][i] = (float)noise(.5, 2);
    }
    for (size_t i = 0; i < sizeof cpu_cases / sizeof *cpu_cases; i++)
        if (!only || !strcmp(only, cpu_cases[i].f->name))
            cpu_case(cpu_cases[i].f, cpu_cases[i].n, data, peer.function);
}

int main(int argc, char **argv) {
    if (!getenv("BENCH_GPU_ONLY"))
        cpu_all(argc > 1 ? argv[1] : NULL);
    if (driver_open())
        gpu_all();
    return 0;
}
