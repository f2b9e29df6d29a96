/* test_reduce_device.c - reductions on a real GPU, with UF_TEST_GPU=1, where it matters whose memory is between their launches:
 * one function on two streams at once, more threads than streams, streams and contexts that come and go, calls captured into a
 * graph, the caller's scratch. What results are right for which shapes is for others to say. */
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
static const DLDataType int32 = {kDLInt, 32, 1}, int64 = {kDLInt, 64, 1}, bytes = {kDLUInt, 8, 1};

enum {
    SLOTS = 1024 /* results */
};

/* Any order and grouping gives the same. */
static uf_func *sum_of_ints(void) {
    uf_func *f;
    OK(uf_reduction(
        &f, "sum", "int32->int64",
        &(uf_reduction_def){.size = sizeof(uf_reduction_def), .combine = "(a, b) { return a + b; }", .identity = "0"}));
    return f;
}

/* ---- Arrays ---- */

/* first, first + 1 .. first + 999, first .. */
static void line_set(const DLManagedTensor *m, int first, void *stream) {
    int64_t n = m->dl_tensor.shape[0];
    int *host = malloc((size_t)n * sizeof *host);
    for (int64_t i = 0; i < n; i++)
        host[i] = first + (int)(i % 1000);
    OK(uf_copy(&m->dl_tensor, &UF_ARRAY(host, n), stream));
    OK(uf_sync(gpu, stream));
    free(host);
}

static DLManagedTensor *line_new(int64_t n, int first) {
    DLManagedTensor *m;
    OK(uf_empty(&m, gpu, int32, 1, &n));
    line_set(m, first, NULL);
    return m;
}

static int64_t line_sum(int64_t n, int first) {
    int64_t cycles = n / 1000, rest = n % 1000;
    return n * first + cycles * (999 * 500) + rest * (rest - 1) / 2;
}

static DLManagedTensor *slots_new(void) {
    DLManagedTensor *m;
    int64_t n = SLOTS;
    OK(uf_empty(&m, gpu, int64, 1, &n));
    OK(cuda.cuMemsetD8Async((uintptr_t)m->dl_tensor.data, 0xff, SLOTS * sizeof(int64_t), NULL));
    OK(uf_sync(gpu, NULL));
    return m;
}

static int64_t slot(const DLManagedTensor *slots, int k) {
    int64_t value, one = 1;
    DLTensor t = slots->dl_tensor;
    t.shape = &one;
    t.byte_offset = (uint64_t)k * sizeof value;
    OK(uf_copy(&UF_ARRAY(&value, 1), &t, NULL));
    return value;
}

/* Enqueues slots[k] = sum(x). */
static uf_status reduce(const uf_func *f, const DLManagedTensor *x, const DLManagedTensor *slots, int k,
                        uf_reduce_options options) {
    DLTensor args[] = {x->dl_tensor, slots->dl_tensor};
    args[1].ndim = 0;
    args[1].byte_offset = (uint64_t)k * sizeof(int64_t);
    options.size = sizeof options;
    return uf_reduce(f, 2, args, &options);
}

static cu_stream stream_new(void) {
    cu_stream stream;
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    return stream;
}

static void release(DLManagedTensor *m) { m->deleter(m); }

/* ---- Streams and threads ---- */

static void test_two_streams(void **unused) {
    enum {
        ROUNDS = 100,
        MOST = 1 << 22
    };
    (void)unused;
    device_enter_primary();
    uf_func *f = sum_of_ints();
    cu_stream stream[] = {stream_new(), stream_new()};
    DLManagedTensor *x[] = {line_new(MOST + 3, 1), line_new(MOST / 3 + 1, 7)}, *slots = slots_new();
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 2; k++)
            OK(reduce(f, x[k], slots, 2 * i + k, (uf_reduce_options){.stream = stream[k]}));
    for (int k = 0; k < 2; k++)
        OK(uf_sync(gpu, stream[k]));
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(slot(slots, 2 * i), line_sum(MOST + 3, 1));
        assert_int_equal(slot(slots, 2 * i + 1), line_sum(MOST / 3 + 1, 7));
    }
    for (int k = 0; k < 2; k++) {
        OK(more.cuStreamDestroy_v2(stream[k]));
        release(x[k]);
    }
    release(slots);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

enum {
    THREADS = 12,
    STREAMS = 3,
    CALLS = 40
};

typedef struct worker {
    const uf_func *f;
    const DLManagedTensor *x, *slots;
    cu_stream stream[STREAMS];
    int id, failures;
} worker;

/* Each call on another stream than the one before, which other threads use too. */
static void *work(void *user) {
    worker *w = user;
    for (int i = 0; i < CALLS; i++)
        w->failures += reduce(w->f, w->x, w->slots, w->id * CALLS + i,
                              (uf_reduce_options){.stream = w->stream[(w->id + i) % STREAMS]}) != UF_OK;
    return NULL;
}

static void test_threads(void **unused) {
    pthread_t thread[THREADS];
    worker w[THREADS];
    DLManagedTensor *x[THREADS], *slots;
    cu_stream stream[STREAMS];
    (void)unused;
    device_enter_primary();
    uf_func *f = sum_of_ints();
    slots = slots_new();
    for (int k = 0; k < STREAMS; k++)
        stream[k] = stream_new();
    for (int k = 0; k < THREADS; k++) {
        w[k] = (worker){.f = f, .x = x[k] = line_new(100000 * (k + 1) + k, k), .slots = slots, .id = k};
        memcpy(w[k].stream, stream, sizeof stream);
    }
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, work, &w[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < STREAMS; k++) {
        OK(uf_sync(gpu, stream[k]));
        OK(more.cuStreamDestroy_v2(stream[k]));
    }
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(w[k].failures, 0);
        for (int i = 0; i < CALLS; i++)
            assert_int_equal(slot(slots, k * CALLS + i), line_sum(100000 * (k + 1) + k, k));
        release(x[k]);
    }
    release(slots);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

/* Streams that are destroyed with work on them, whose addresses the driver uses again. */
static void test_streams_come_and_go(void **unused) {
    (void)unused;
    device_enter_primary();
    uf_func *f = sum_of_ints();
    DLManagedTensor *x = line_new(2000003, 5), *slots = slots_new();
    for (int i = 0; i < SLOTS; i++) {
        cu_stream stream = stream_new();
        for (int again = 0; again < 9; again++) /* enough for the library to look for pieces unused */
            OK(reduce(f, x, slots, i, (uf_reduce_options){.stream = stream}));
        OK(more.cuStreamDestroy_v2(stream));
    }
    OK(cuda.cuCtxSynchronize());
    for (int i = 0; i < SLOTS; i++)
        assert_int_equal(slot(slots, i), line_sum(2000003, 5));
    release(x);
    release(slots);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

static void test_contexts_come_and_go(void **unused) {
    enum {
        CONTEXTS = 20 /* more than have a place */
    };
    cuda_device *d;
    (void)unused;
    OK(cuda_device_get(0, &d));
    uf_func *f = sum_of_ints();
    for (int i = 0; i < CONTEXTS; i++) {
        cu_context own;
        OK(more.cuCtxCreate_v2(&own, 0, d->handle));
        DLManagedTensor *x = line_new(1000001, i), *slots = slots_new();
        cu_stream stream = stream_new();
        for (int k = 0; k < 3; k++)
            OK(reduce(f, x, slots, k, (uf_reduce_options){.stream = k ? stream : NULL}));
        OK(cuda.cuCtxSynchronize());
        for (int k = 0; k < 3; k++)
            assert_int_equal(slot(slots, k), line_sum(1000001, i));
        release(x);
        release(slots);
        OK(more.cuStreamDestroy_v2(stream));
        code_reap(d);
        OK(more.cuCtxDestroy_v2(own));
    }
    uf_free(f);
}

/* ---- Capture ---- */

/* Two reductions and an accumulation in one graph, which runs twice, the second time over other numbers, with an ordinary
 * call between. */
static void test_capture(void **unused) {
    enum {
        N = 3000001
    };
    void *graph, *exec;
    (void)unused;
    device_enter_primary();
    uf_func *f = sum_of_ints();
    cu_stream stream = stream_new();
    DLManagedTensor *x = line_new(N, 1), *y = line_new(N / 2, 3), *slots = slots_new(), *running;
    int64_t n = N;
    OK(uf_empty(&running, gpu, int64, 1, &n));
    const uf_options plain = {.size = sizeof plain, .stream = stream};
    DLTensor scan[] = {x->dl_tensor, running->dl_tensor};
    OK(reduce(f, x, slots, 0, (uf_reduce_options){.stream = stream})); /* compiles */
    OK(reduce(f, y, slots, 1, (uf_reduce_options){.stream = stream}));
    OK(uf_accumulate(f, 2, scan, 0, &plain));
    OK(uf_sync(gpu, stream));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    OK(reduce(f, x, slots, 2, (uf_reduce_options){.stream = stream}));
    OK(reduce(f, y, slots, 3, (uf_reduce_options){.stream = stream}));
    OK(uf_accumulate(f, 2, scan, 0, &plain));
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int first = 1; first < 3; first++) {
        line_set(x, first, stream);
        OK(more.cuGraphLaunch(exec, stream));
        OK(reduce(f, y, slots, 4, (uf_reduce_options){.stream = stream}));
        OK(uf_sync(gpu, stream));
        assert_int_equal(slot(slots, 2), line_sum(N, first));
        assert_int_equal(slot(slots, 3), line_sum(N / 2, 3));
        assert_int_equal(slot(slots, 4), line_sum(N / 2, 3));
        for (int64_t i = 1; i <= N; i = i < N ? (5 * i < N ? 5 * i : N) : N + 1)
            assert_int_equal(slot(running, (int)i - 1), line_sum(i, first));
    }
    OK(more.cuGraphExecDestroy(exec));
    OK(more.cuGraphDestroy(graph));
    OK(more.cuStreamDestroy_v2(stream));
    release(x);
    release(y);
    release(slots);
    release(running);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- The caller's scratch ---- */

static void test_own_scratch(void **unused) {
    enum {
        N = 5000001,
        GUARD = 256
    };
    size_t size;
    (void)unused;
    device_enter_primary();
    uf_func *f = sum_of_ints();
    DLManagedTensor *x = line_new(N, 2), *slots = slots_new(), *block;
    DLTensor args[] = {x->dl_tensor, slots->dl_tensor};
    args[1].ndim = 0;
    OK(uf_reduce_scratch_size(&size, f, 2, args, NULL));
    print_message("%d elements: %zu bytes of scratch\n", N, size);
    assert_true(size > 0); /* one block would not be fast enough */
    int64_t all = (int64_t)size + GUARD;
    OK(uf_empty(&block, gpu, bytes, 1, &all));
    OK(cuda.cuMemsetD8Async((uintptr_t)block->dl_tensor.data, 0x5a, (size_t)all, NULL));
    OK(reduce(f, x, slots, 0, (uf_reduce_options){.scratch = block->dl_tensor.data, .scratch_size = size}));
    OK(uf_sync(gpu, NULL));
    assert_int_equal(slot(slots, 0), line_sum(N, 2));
    unsigned char *host = malloc((size_t)all);
    OK(uf_copy(&UF_ARRAY(host, all), &block->dl_tensor, NULL));
    size_t written = 0;
    for (size_t i = 0; i < size; i++)
        written += host[i] != 0x5a;
    assert_true(written > 0);
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(host[size + (size_t)i], 0x5a);
    free(host);
    assert_int_equal(
        reduce(f, x, slots, 0, (uf_reduce_options){.scratch = block->dl_tensor.data, .scratch_size = size - 1}),
        UF_ERR_ARGUMENT);
    release(block);
    release(x);
    release(slots);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- More than 2^31 elements ---- */

/* 3 * 2^30 bytes that are 1, but for one 7 far in; as `rows` x `columns`. */
static DLManagedTensor *bytes_new(int64_t rows, int64_t columns, int64_t odd) {
    DLManagedTensor *m;
    DLTensor one;
    uint8_t seven = 7;
    OK(uf_empty(&m, gpu, bytes, 2, (int64_t[]){rows, columns}));
    uf_func *same;
    OK(uf_vectorize(&same, "same", "uint8->uint8", "(x) { return x; }"));
    OK(uf_call(same, 2, (DLTensor[]){UF_SCALAR((uint8_t)1), m->dl_tensor}, NULL));
    uf_free(same);
    one = UF_CUDA(0, bytes, m->dl_tensor.data, 1);
    one.byte_offset = (uint64_t)odd;
    OK(uf_copy(&one, &UF_ARRAY(&seven, 1), NULL));
    return m;
}

static int64_t reduce_bytes(const char *name, const DLManagedTensor *x, int naxes, int64_t at) {
    uf_func *f;
    DLManagedTensor *r;
    int axis = 0;
    int64_t value, one = 1;
    OK(uf_load(&f, name));
    OK(uf_empty(&r, gpu, int64, naxes, &x->dl_tensor.shape[1]));
    OK(uf_reduce(
        f, 2, (DLTensor[]){x->dl_tensor, r->dl_tensor},
        &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = naxes, .axes = naxes ? &axis : NULL}));
    DLTensor t = UF_CUDA(0, int64, r->dl_tensor.data, 1);
    t.shape = &one;
    t.byte_offset = (uint64_t)at * sizeof value;
    OK(uf_copy(&UF_ARRAY(&value, 1), &t, NULL));
    release(r);
    uf_free(f);
    return value;
}

static void test_beyond_32_bits(void **unused) {
    const int64_t rows = (int64_t)3 << 20, columns = 1024, odd = rows * columns - 12345;
    (void)unused;
    DLManagedTensor *x = bytes_new(rows, columns, odd);
    uf_func *f;
    assert_int_equal(reduce_bytes("argmax", x, 0, 0), odd);
    assert_int_equal(reduce_bytes("argmax", x, 1, odd % columns), odd / columns);
    OK(uf_vectorize(&f, "sum_of_bytes", "int64,int64->int64", "(x, y) { return x + y; }"));
    DLManagedTensor *r;
    OK(uf_empty(&r, gpu, int64, 0, NULL));
    OK(uf_reduce(f, 2, (DLTensor[]){x->dl_tensor, r->dl_tensor}, NULL));
    assert_int_equal(slot(r, 0), rows * columns + 6);
    release(r);
    /* as many results as two columns make */
    int64_t wide[] = {2, rows * columns / 2};
    DLTensor pairs = x->dl_tensor;
    pairs.shape = wide;
    OK(uf_empty(&r, gpu, bytes, 1, &wide[1]));
    OK(uf_reduce(f, 2, (DLTensor[]){pairs, r->dl_tensor},
                 &(uf_reduce_options){
                     .size = sizeof(uf_reduce_options), .naxes = 1, .axes = (int[]){0}, .casting = UF_CAST_UNSAFE}));
    uint8_t value;
    DLTensor t = UF_CUDA(0, bytes, r->dl_tensor.data, 1);
    t.byte_offset = (uint64_t)(odd - wide[1]);
    OK(uf_copy(&UF_ARRAY(&value, 1), &t, NULL));
    assert_int_equal(value, 8);
    release(r);
    uf_free(f);
    release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_streams_come_and_go),
        cmocka_unit_test(test_contexts_come_and_go),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_own_scratch),
        cmocka_unit_test(test_beyond_32_bits),
    };
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
