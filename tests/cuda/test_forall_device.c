/* test_forall_device.c - kernels over indices on a real GPU, with UF_TEST_GPU=1: on two streams, from two threads, captured into
 * a graph, planned, over more blocks than a grid has, in managed memory; and what a launch is said to be against the device. What
 * results are right for which kernels and shapes is for others to say (oracle/forall.py). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/code.h"
#include "device.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType int32 = {kDLInt, 32, 1}, int64 = {kDLInt, 64, 1};

static uf_func *kernel_new(const char *parameters, const char *source) {
    uf_func *f;
    OK(uf_kernel(&f, "points", parameters, source));
    return f;
}

/* y[i] = y[i] + x[i] * k, and how often that was done. */
static uf_func *step_new(void) {
    return kernel_new("int32[], int32[], int32, int64[]",
                      "[i](x, y, k, count) { y[i] += x[i] * k; atomic_add(count[0], 1); }");
}

static DLManagedTensor *array_new(DLDataType type, int64_t n, int value) {
    DLManagedTensor *m;
    OK(uf_empty(&m, gpu, type, 1, &n));
    uf_func *f = kernel_new("int32[], int32; int64[], int32", "[i](x, value) { x[i] = value * (i % 7 + 1); }");
    DLTensor args[] = {m->dl_tensor, UF_SCALAR(value)};
    OK(uf_forall(f, 1, &n, 2, args, NULL));
    OK(uf_sync(gpu, NULL));
    uf_free(f);
    return m;
}

static void release(DLManagedTensor *m) { m->deleter(m); }

static int64_t element(const DLManagedTensor *m, int64_t i) {
    int64_t wide = 0, one = 1;
    int32_t narrow = 0;
    DLTensor t = m->dl_tensor;
    t.shape = &one;
    t.byte_offset = (uint64_t)i * (t.dtype.bits / 8);
    if (t.dtype.bits == 64)
        OK(uf_copy(&UF_ARRAY(&wide, 1), &t, NULL));
    else
        OK(uf_copy(&UF_ARRAY(&narrow, 1), &t, NULL));
    return t.dtype.bits == 64 ? wide : narrow;
}

/* Is each y[i] = factor * (i % 7 + 1)? */
static void check_line(const DLManagedTensor *y, int64_t factor) {
    int64_t n = y->dl_tensor.shape[0];
    int32_t *host = malloc((size_t)n * sizeof *host);
    OK(uf_copy(&UF_ARRAY(host, n), &y->dl_tensor, NULL));
    for (int64_t i = 0; i < n; i++)
        if (host[i] != (int32_t)(factor * (i % 7 + 1)))
            fail_msg("element %lld of %lld is %d, not %lld", (long long)i, (long long)n, host[i],
                     (long long)(factor * (i % 7 + 1)));
    free(host);
}

static cu_stream stream_new(void) {
    cu_stream stream;
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    return stream;
}

/* Arrays of one chain of steps, each of which needs the one before. */
typedef struct chain {
    int64_t n;
    DLManagedTensor *x, *y, *count;
} chain;

static chain chain_new(int64_t n) {
    return (chain){n, array_new(int32, n, 1), array_new(int32, n, 0), array_new(int64, 1, 0)};
}

static void chain_free(chain *c) {
    release(c->x);
    release(c->y);
    release(c->count);
}

static uf_status chain_step(const uf_func *f, const chain *c, int k, cu_stream stream) {
    DLTensor args[] = {c->x->dl_tensor, c->y->dl_tensor, UF_SCALAR(k), c->count->dl_tensor};
    return uf_forall(f, 1, &c->n, 4, args, &(uf_options){.size = sizeof(uf_options), .stream = stream});
}

static void chain_check(const chain *c, int64_t factor, int64_t steps) {
    check_line(c->y, factor);
    assert_int_equal(element(c->count, 0), steps * c->n);
}

/* ---- Streams and threads ---- */

static void test_two_streams(void **unused) {
    enum {
        ROUNDS = 100
    };
    (void)unused;
    device_enter_primary();
    uf_func *f = step_new();
    chain c[] = {chain_new((1 << 22) + 3), chain_new(70001)};
    cu_stream stream[] = {stream_new(), stream_new()};
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 2; k++)
            OK(chain_step(f, &c[k], i, stream[k]));
    for (int k = 0; k < 2; k++) {
        OK(uf_sync(gpu, stream[k]));
        chain_check(&c[k], ROUNDS * (ROUNDS - 1) / 2, ROUNDS);
        OK(more.cuStreamDestroy_v2(stream[k]));
        chain_free(&c[k]);
    }
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

enum {
    THREADS = 2,
    STEPS = 200
};

typedef struct worker {
    const uf_func *f;
    chain c;
    cu_stream stream;
    int failures;
} worker;

static void *work(void *user) {
    worker *w = user;
    for (int i = 0; i < STEPS; i++)
        w->failures += chain_step(w->f, &w->c, 1, w->stream) != UF_OK;
    return NULL;
}

/* Both meet a kernel that is not compiled yet. */
static void test_two_threads(void **unused) {
    pthread_t thread[THREADS];
    worker w[THREADS];
    (void)unused;
    device_enter_primary();
    uf_func *f = step_new();
    for (int k = 0; k < THREADS; k++)
        w[k] = (worker){f, chain_new(300007 + k), stream_new(), 0};
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, work, &w[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        OK(uf_sync(gpu, w[k].stream));
        assert_int_equal(w[k].failures, 0);
        chain_check(&w[k].c, STEPS, STEPS);
        OK(more.cuStreamDestroy_v2(w[k].stream));
        chain_free(&w[k].c);
    }
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Capture ---- */

/* Two steps and a call of another space in one graph, which runs three times, with an ordinary call between. */
static void test_capture(void **unused) {
    void *graph, *exec;
    (void)unused;
    device_enter_primary();
    uf_func *f = step_new();
    chain big = chain_new(1000003), small = chain_new(5);
    cu_stream stream = stream_new();
    OK(chain_step(f, &big, 1, stream)); /* compiles */
    OK(chain_step(f, &small, 1, stream));
    OK(uf_sync(gpu, stream));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    OK(chain_step(f, &big, 10, stream));
    OK(chain_step(f, &big, 100, stream));
    OK(chain_step(f, &small, 10, stream));
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        OK(more.cuGraphLaunch(exec, stream));
        OK(chain_step(f, &big, 1000, stream));
    }
    OK(uf_sync(gpu, stream));
    chain_check(&big, 1 + 3 * 1110, 1 + 3 * 3);
    chain_check(&small, 1 + 3 * 10, 1 + 3);
    OK(more.cuGraphExecDestroy(exec));
    OK(more.cuGraphDestroy(graph));
    OK(more.cuStreamDestroy_v2(stream));
    chain_free(&big);
    chain_free(&small);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Plans ---- */

/* A plan runs on arrays whose addresses are aligned or not, and in place. */
static void test_plan(void **unused) {
    enum {
        N = 100001
    };
    (void)unused;
    device_enter_primary();
    uf_func *f = kernel_new("int32[], int32[], int32", "[i](x, y, k) { y[i] = x[i] + k * (i % 7 + 1); }");
    cu_stream stream = stream_new();
    DLManagedTensor *x = array_new(int32, N + 7, 5), *y = array_new(int32, N + 7, 0);
    int64_t n = N;
    int k = 3;
    DLTensor args[] = {UF_CUDA(0, int32, NULL, N), UF_CUDA(0, int32, NULL, N), UF_SCALAR(k)};
    uf_plan *plan;
    OK(uf_forall_plan(&plan, f, 1, &n, 3, args, NULL));
    uf_free(f); /* the plan keeps it */
    for (int shift = 0; shift < 14; shift += 7) {
        char *from = (char *)x->dl_tensor.data + shift * (int)sizeof(int32_t);
        void *data[] = {from, (char *)y->dl_tensor.data + shift * (int)sizeof(int32_t), &k};
        OK(uf_plan_run(plan, data, stream));
        OK(uf_sync(gpu, stream));
        for (int64_t i = 0; i < N; i += 1009)
            assert_int_equal(element(y, i + shift), 8 * (i % 7 + 1));
        k = 4;
        data[0] = data[1];
        OK(uf_plan_run(plan, data, stream));
        OK(uf_sync(gpu, stream));
        for (int64_t i = 0; i < N; i += 1009)
            assert_int_equal(element(y, i + shift), 12 * (i % 7 + 1));
        k = 3;
    }
    uf_plan_free(plan);
    OK(more.cuStreamDestroy_v2(stream));
    release(x);
    release(y);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Large spaces ---- */

/* More points than 2^31 blocks of 32 threads have, one a thread. */
static void test_beyond_a_grid(void **unused) {
    const int64_t n = ((int64_t)1 << 36) + ((int64_t)3 << 30) + 5;
    (void)unused;
    device_enter_primary();
    uf_func *f = kernel_new("int64[]", "[i](seen) { if ((i & 0x3fffffff) == 7) seen[i >> 30] = i; }");
    DLManagedTensor *seen = array_new(int64, 70, 0);
    OK(uf_forall(f, 1, &n, 1, &seen->dl_tensor, &(uf_options){.size = sizeof(uf_options), .block = 32, .elements = 1}));
    OK(uf_sync(gpu, NULL));
    for (int64_t k = 0; k < 70; k++)
        assert_int_equal(element(seen, k), k < 67 ? (k << 30) + 7 : 0);
    uf_free(f);
    f = kernel_new("int64[]", "[i, j, k](seen) { if (j == 65535 && k == 65530) seen[i % 70] = i + 1; }");
    DLManagedTensor *again = array_new(int64, 70, 0);
    const int64_t extents[] = {9, 65537, 65531};
    OK(uf_forall(f, 3, extents, 1, &again->dl_tensor, NULL));
    OK(uf_sync(gpu, NULL));
    for (int64_t k = 0; k < 70; k++)
        assert_int_equal(element(again, k), k < 9 ? k + 1 : 0);
    uf_free(f);
    release(seen);
    release(again);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- What a launch is ---- */

static void test_launch_info(void **unused) {
    int sms, threads;
    cuda_device *d;
    (void)unused;
    device_enter_primary();
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDeviceGetAttribute(&sms, CU_ATTRIBUTE_SM_COUNT, d->handle));
    OK(cuda.cuDeviceGetAttribute(&threads, CU_ATTRIBUTE_SM_THREADS, d->handle));
    uf_func *f = step_new();
    for (int64_t n = 1; n < (int64_t)1 << 27; n = 9 * n + 5) {
        chain c = chain_new(n);
        DLTensor args[] = {c.x->dl_tensor, c.y->dl_tensor, UF_SCALAR(1), c.count->dl_tensor};
        for (int block = 0; block <= 1024; block = block ? 2 * block : 32) {
            uf_options options = {.size = sizeof options, .block = block};
            uf_launch info = {.size = sizeof info};
            OK(uf_launch_info(f, 1, &n, 4, args, &options, &info));
            assert_true(block ? info.block == block : info.block >= 32 && info.block <= 1024 && info.block % 32 == 0);
            assert_in_range(info.registers, 8, 255);
            assert_in_range(info.blocks_per_processor, 1, threads / info.block);
            assert_true(info.occupancy == (double)(info.blocks_per_processor * info.block) / threads);
            assert_int_equal(info.local_bytes, 0);
            assert_in_range(info.shared_bytes, 0, 48 << 10);
            assert_in_range(info.vector, 1, info.elements);
            assert_int_equal(info.threads, 0);
            /* all points at once, or blocks that loop */
            assert_true(info.grid * info.block * info.elements >= n || info.grid >= sms);
            assert_true((info.grid - 1) * info.block * info.elements < n);
            uf_launch small = {.size = offsetof(uf_launch, elements), .elements = -1};
            OK(uf_launch_info(f, 1, &n, 4, args, &options, &small));
            assert_true(small.grid == info.grid && small.block == info.block && small.elements == -1);
        }
        chain_check(&c, 0, 0); /* nothing ran */
        chain_free(&c);
    }
    uf_free(f);
    f = kernel_new("float64[], int32",
                   "[i](x, k) { double t[64]; for (int j = 0; j < 64; j++) t[(j * k) & 63] = x[i + j]; "
                   "x[i] = t[k & 63] + t[(k + i) & 63]; }");
    DLManagedTensor *x = array_new(int64, 1000, 0);
    x->dl_tensor.dtype = (DLDataType){kDLFloat, 64, 1};
    uf_launch info = {.size = sizeof info};
    DLTensor args[] = {x->dl_tensor, UF_SCALAR(1)};
    OK(uf_launch_info(f, 1, x->dl_tensor.shape, 2, args, NULL, &info));
    assert_in_range(info.local_bytes, 64 * sizeof(double), 1 << 16);
    release(x);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

/* What blocks hold in shared memory, and whether the interior has code of its own. */
static void test_staged(void **unused) {
    static const struct {
        const char *parameters, *source;
        int ndim, shape[3][2], staged, interior;
        int64_t extents[2];
    } rows[] = {
        {"float32[,], float32[,], float32[,]",
         "[i, j](x, y, d) { d[i][j] = sqrt(sum(k : 32, (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]))); }",
         2,
         {{256, 32}, {128, 32}, {256, 128}},
         UF_STAGED_PAIRS,
         0,
         {256, 128}},
        {"float32[,], float32[,], float32[,]",
         "[i, j](x, y, d) { d[i][j] = sum(k : 32, (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])); }",
         2,
         {{63, 32}, {128, 32}, {63, 128}},
         0,
         1,
         {63, 128}},
        {"float32[,], float32[,]",
         "[i : n](p, v) { auto a = 0.0f; for (int64_t j = 0; j < n; j++) a += (p[j][0] - p[i][0]) * p[j][1] * p[j][2] "
         "* "
         "p[j][3]; v[i][0] = a; }",
         1,
         {{1024, 4}, {1024, 4}},
         UF_STAGED_ROWS,
         1,
         {1024}},
        {"float32[,], int32[,]",
         "[i](x, h) { atomic_add(h[(int)x[i][0] & 7][0], 1); }",
         1,
         {{1 << 20, 1}, {8, 1}},
         UF_STAGED_COUNTERS,
         1,
         {1 << 20}},
        {"float32[,], float32[,]",
         "[i, j](x, y) { y[i][j] = x[i - 1][j] + x[i + 1][j]; }",
         2,
         {{64, 64}, {64, 64}},
         0,
         1,
         {64, 64}},
    };
    (void)unused;
    device_enter_primary();
    for (size_t r = 0; r < COUNT(rows); r++) {
        uf_func *f = kernel_new(rows[r].parameters, rows[r].source);
        DLManagedTensor *m[3] = {NULL};
        DLTensor args[3];
        int n = 0;
        for (; n < 3 && rows[r].shape[n][0]; n++) {
            int64_t shape[] = {rows[r].shape[n][0], rows[r].shape[n][1]};
            bool counts = n == 1 && strstr(rows[r].source, "atomic");
            OK(uf_empty(&m[n], gpu, counts ? int32 : (DLDataType){kDLFloat, 32, 1}, 2, shape));
            args[n] = m[n]->dl_tensor;
        }
        uf_launch info = {.size = sizeof info};
        OK(uf_launch_info(f, rows[r].ndim, rows[r].extents, n, args, NULL, &info));
        if (info.staged != rows[r].staged || info.interior != rows[r].interior)
            fail_msg("%s: staged %d, interior %d", rows[r].source, info.staged, info.interior);
        while (n--)
            release(m[n]);
        uf_free(f);
    }
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Managed memory ---- */

static void test_managed(void **unused) {
    int64_t n = 10007;
    (void)unused;
    device_enter_primary();
    DLManagedTensor *m[2];
    for (int k = 0; k < 2; k++)
        OK(uf_empty(&m[k], (DLDevice){kDLCUDAManaged, 0}, int32, 1, &n));
    int32_t *x = m[0]->dl_tensor.data, *y = m[1]->dl_tensor.data;
    for (int64_t i = 0; i < n; i++)
        x[i] = (int32_t)i;
    uf_func *f = kernel_new("int32[], int32[]", "[i : n](x, y) { y[n - 1 - i] = x[i] * 2; }");
    DLTensor args[] = {m[0]->dl_tensor, m[1]->dl_tensor};
    OK(uf_forall(f, 1, &n, 2, args, NULL));
    OK(uf_sync((DLDevice){kDLCUDAManaged, 0}, NULL));
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(y[n - 1 - i], 2 * i);
    uf_free(f);
    release(m[0]);
    release(m[1]);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Extents that are constants of the code ---- */

static const char window_list[] = "float32[,], float32[,], float32[,]",
                  window[] = "[i : n, j](y, x, w) {"
                             "    auto s = 0.0f;"
                             "    for (int64 a = 0; a < extent(w, 0); a++)"
                             "        for (int64 b = 0; b < extent(w, 1); b++) {"
                             "            int64 k = i + a - 1, l = j + b - 1;"
                             "            if (k >= 0 && k < n && l >= 0 && l < extent(x, 1))"
                             "                s += x[k][l] * w[a][b];"
                             "        }"
                             "    y[i][j] = s;"
                             "}";

static DLManagedTensor *floats_new(int64_t rows, int64_t columns, int seed) {
    static const DLDataType float32 = {kDLFloat, 32, 1};
    DLManagedTensor *m;
    OK(uf_empty(&m, (DLDevice){kDLCUDAManaged, 0}, float32, 2, (int64_t[]){rows, columns}));
    float *x = m->dl_tensor.data;
    for (int64_t i = 0; i < rows * columns; i++)
        x[i] = (float)((i * 7919 + seed) % 1009) / 37.0f;
    return m;
}

/* Windows around the bounds: the bits are those of the form that reports, which knows no extents, and those of the host. */
static void test_known(void **unused) {
    static const int64_t cases[][4] = {{61, 70, 3, 3},   {64, 64, 3, 3},  {67, 131, 5, 5},  {200, 260, 1, 1},
                                       {64, 64, 8, 8},   {70, 72, 9, 8},  {300, 16, 2, 32}, {130, 64, 1, 33},
                                       {512, 513, 4, 4}, {90, 1030, 7, 2}};
    const uf_section section = {window_list, window};
    uf_func *f[2];
    (void)unused;
    device_enter_primary();
    for (int k = 0; k < 2; k++)
        OK(uf_define(&f[k], &(uf_definition){.size = sizeof(uf_definition),
                                             .name = "window",
                                             .nsections = 1,
                                             .sections = &section,
                                             .flags = UF_KERNEL | (k ? UF_DEBUG : 0)}));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t *c = cases[i];
        DLManagedTensor *x = floats_new(c[0], c[1], 5), *w = floats_new(c[2], c[3], 3), *y[2];
        for (int k = 0; k < 2; k++) {
            y[k] = floats_new(c[0], c[1], 0);
            DLTensor args[] = {y[k]->dl_tensor, x->dl_tensor, w->dl_tensor};
            OK(uf_forall(f[k], 2, c, 3, args, NULL));
            OK(uf_sync(gpu, NULL));
        }
        assert_memory_equal(y[0]->dl_tensor.data, y[1]->dl_tensor.data, (size_t)(c[0] * c[1]) * sizeof(float));
        const float *from = x->dl_tensor.data, *by = w->dl_tensor.data, *got = y[0]->dl_tensor.data;
        for (int64_t p = 0; p < c[0] * c[1]; p++) {
            float sum = 0;
            for (int64_t k = 0; k < c[2] * c[3]; k++) {
                int64_t row = p / c[1] + k / c[3] - 1, column = p % c[1] + k % c[3] - 1;
                if (row >= 0 && row < c[0] && column >= 0 && column < c[1]) {
                    float term = from[row * c[1] + column] * by[k];
                    sum += term;
                }
            }
            assert_memory_equal(&got[p], &sum, sizeof sum);
        }
        release(x);
        release(w);
        release(y[0]);
        release(y[1]);
    }
    uf_free(f[0]);
    uf_free(f[1]);
    OK(more.cuCtxSetCurrent(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_streams), cmocka_unit_test(test_two_threads),   cmocka_unit_test(test_capture),
        cmocka_unit_test(test_plan),        cmocka_unit_test(test_beyond_a_grid), cmocka_unit_test(test_launch_info),
        cmocka_unit_test(test_staged),      cmocka_unit_test(test_managed),       cmocka_unit_test(test_known),
    };
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
