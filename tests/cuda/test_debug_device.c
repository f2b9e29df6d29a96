/* test_debug_device.c - UF_DEBUG on a real GPU, with UF_TEST_GPU=1: what only a real driver and threads at once can show. Pinned
 * memory that kernels of any context write to, many threads that fail together, reports of launches that are not done, more
 * launches than slots, and captures. What is said of which failure is for test_debug. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/code.h"
#include "define.h"
#include "device.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType int32 = {kDLInt, 32, 1};

/* 100 / x */
static uf_func *quotient(const char *name) {
    return define(name, NULL, "int32->int32", "(x) { return 100 / x; }", UF_DEBUG, 0);
}

/* 1 + i % 7, but 0 at `zero`, and at every `every`-th from there on if that is not 0. */
static DLManagedTensor *device_line(int64_t n, int64_t zero, int64_t every) {
    DLManagedTensor *m;
    int32_t *host = malloc((size_t)n * sizeof *host);
    for (int64_t i = 0; i < n; i++)
        host[i] = i == zero || (every && i >= zero && (i - zero) % every == 0) ? 0 : (int32_t)(1 + i % 7);
    OK(uf_empty(&m, gpu, int32, 1, &n));
    OK(uf_copy(&m->dl_tensor, &UF_ARRAY(host, n), NULL));
    free(host);
    return m;
}

static void call(const uf_func *f, const DLManagedTensor *x, const DLManagedTensor *y, void *stream) {
    OK(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor},
               &(uf_options){.size = sizeof(uf_options), .stream = stream}));
}

static void expect(uf_status s, const char *message) {
    assert_int_equal(s, UF_ERR_KERNEL);
    assert_string_equal(uf_last_error()->message, message);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Threads ---- */

/* 2^26 elements of which all fail, or every other one: one is told of, all others are computed, and soon. */
static void test_many(void **unused) {
    enum {
        N = 1 << 26
    };
    (void)unused;
    uf_func *f = quotient("many");
    for (int64_t every = 1; every <= 2; every++) {
        DLManagedTensor *x = device_line(N, 1, every), *y = device_line(N, N, 0), *z = device_line(N, N, 0);
        int32_t *host = malloc((size_t)N * sizeof *host);
        long long at;
        call(f, z, z, NULL); /* compiles: nothing fails */
        OK(uf_sync(gpu, NULL));
        double before = seconds();
        call(f, x, y, NULL);
        assert_int_equal(uf_sync(gpu, NULL), UF_ERR_KERNEL);
        print_message("%d elements, every %lld fails: %.3f s\n", N, (long long)every, seconds() - before);
        assert_true(seconds() - before < 60); /* other programs may be using the GPU */
        assert_int_equal(sscanf(uf_last_error()->message, "many: line 1: integer division by 0, at (%lld)", &at), 1);
        assert_true(at >= 1 && at < N && (at - 1) % every == 0);
        OK(uf_copy(&UF_ARRAY(host, N), &y->dl_tensor, NULL));
        for (int64_t i = 0; i < N; i++) {
            bool fails = i >= 1 && (i - 1) % every == 0;
            if (host[i] != (fails ? 1 + i % 7 : 100 / (1 + i % 7)))
                fail_msg("element %lld is %d", (long long)i, host[i]);
        }
        free(host);
        x->deleter(x);
        y->deleter(y);
        z->deleter(z);
    }
    uf_free(f);
}

/* A point of 2^26, by a kernel over three indices and by one over eight. */
static void test_points(void **unused) {
    (void)unused;
    DLManagedTensor *x = device_line(1 << 12, 1 << 12, 0);
    uf_func *f =
        define("points", NULL, "int32[]",
               "[i, j, k](x) {\n  assert(i != 300 || j != 201 || k != 77);\n  if (i + j + k == 0)\n    x[0] = 5;\n}",
               UF_DEBUG | UF_KERNEL, 0);
    OK(uf_forall(f, 3, (int64_t[]){512, 1024, 128}, 1, &x->dl_tensor, NULL));
    expect(uf_sync(gpu, NULL), "points: line 2: assertion failed: i != 300 || j != 201 || k != 77, at (300, 201, 77)");
    uf_free(f);
    f = define(
        "eight", NULL, "int32[]",
        "[a, b, c, d, e, f, g, h](x) {\n  x[a * 27 == b && b == 0 && c + d + e + f + g + h == 18 ? -1 : h] = 1;\n}",
        UF_DEBUG | UF_KERNEL, 0);
    OK(uf_forall(f, 8, (int64_t[]){3, 3, 4, 4, 4, 4, 4, 4}, 1, &x->dl_tensor, NULL));
    expect(uf_sync(gpu, NULL),
           "eight: line 2: index -1 is outside of dimension 0 of argument 0, which is 4096, at (0, 0, 3, 3, "
           "3, 3, 3, 3)");
    uf_free(f);
    x->deleter(x);
}

/* ---- Streams ---- */

/* What is reported of a launch that runs for long is not seen by waiting for another stream. */
static void test_not_done(void **unused) {
    cu_stream slow, other;
    (void)unused;
    device_enter_primary();
    OK(more.cuStreamCreate(&slow, NON_BLOCKING));
    OK(more.cuStreamCreate(&other, NON_BLOCKING));
    uf_func *f = define("slow", NULL, "int32->int32",
                        "spin(n) {\n  int64_t s = n;\n  for (int64_t i = 0; i < 20000000; i++)\n    s = s * 3 + (s ^ "
                        "i);\n  return s;\n}\n"
                        "(x) -> (y) {\n  if (x == 0) y = 1 / x;\n  y = spin(x);\n}",
                        UF_DEBUG, 0);
    uf_func *quick = quotient("quick");
    DLManagedTensor *x = device_line(4096, 7, 0), *y = device_line(4096, 4096, 0), *z = device_line(64, 9, 0);
    uf_plan *plan;
    OK(uf_plan_new(&plan, f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL));
    call(quick, y, y, NULL);
    OK(uf_sync(gpu, NULL));
    OK(uf_plan_run(plan, (void *[]){x->dl_tensor.data, y->dl_tensor.data}, slow));
    call(quick, z, z, other);
    expect(uf_sync(gpu, other), "quick: line 1: integer division by 0, at (9)");
    OK(uf_sync(gpu, other));
    expect(uf_sync(gpu, slow), "slow: line 8: integer division by 0, at (7)");
    OK(uf_sync(gpu, slow));
    uf_plan_free(plan);
    DLManagedTensor *all[] = {x, y, z};
    for (size_t i = 0; i < COUNT(all); i++)
        all[i]->deleter(all[i]);
    uf_free(f);
    uf_free(quick);
    OK(more.cuStreamDestroy_v2(slow));
    OK(more.cuStreamDestroy_v2(other));
    OK(more.cuCtxSetCurrent(NULL));
}

/* Ten times as many launches as there are slots, on three streams, one of which is gone before it is waited for. */
static void test_crowd(void **unused) {
    cu_stream streams[3];
    (void)unused;
    device_enter_primary();
    uf_func *good = quotient("good"), *bad = quotient("bad");
    DLManagedTensor *x = device_line(1000, 1000, 0), *zero = device_line(1000, 423, 0), *y = device_line(1000, 1000, 0);
    for (int i = 0; i < 3; i++)
        OK(more.cuStreamCreate(&streams[i], NON_BLOCKING));
    for (int i = 0; i < 2560; i++)
        call(i == 1100 ? bad : good, i >= 1100 && i % 50 == 0 ? zero : x, y, streams[i % 3]);
    OK(more.cuStreamDestroy_v2(streams[2]));
    OK(cuda.cuCtxSynchronize());
    expect(uf_sync(gpu, streams[0]), "bad: line 1: integer division by 0, at (423)");
    OK(uf_sync(gpu, NULL));
    OK(more.cuStreamDestroy_v2(streams[0]));
    OK(more.cuStreamDestroy_v2(streams[1]));
    x->deleter(x);
    zero->deleter(zero);
    y->deleter(y);
    uf_free(good);
    uf_free(bad);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Contexts and captures ---- */

static void test_own_context(void **unused) {
    cu_context own;
    cuda_device *d;
    (void)unused;
    OK(cuda_device_get(0, &d));
    for (int i = 0; i < 2; i++) {
        OK(more.cuCtxCreate_v2(&own, 0, d->handle));
        uf_func *f = quotient("own");
        DLManagedTensor *x = device_line(500, 33, 0), *y = device_line(500, 500, 0);
        call(f, x, y, NULL);
        expect(uf_sync(gpu, NULL), "own: line 1: integer division by 0, at (33)");
        OK(uf_sync(gpu, NULL));
        x->deleter(x);
        y->deleter(y);
        uf_free(f);
        code_reap(d);
        OK(more.cuCtxDestroy_v2(own));
    }
}

static void test_capture(void **unused) {
    cu_stream stream;
    void *graph;
    (void)unused;
    device_enter_primary();
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    uf_func *f = quotient("caught");
    DLManagedTensor *x = device_line(500, 33, 0), *y = device_line(500, 500, 0);
    call(f, y, y, stream);
    OK(uf_sync(gpu, stream));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    assert_int_equal(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor},
                             &(uf_options){.size = sizeof(uf_options), .stream = stream}),
                     UF_ERR_ARGUMENT);
    assert_non_null(strstr(uf_last_error()->message, "cannot be captured"));
    OK(more.cuStreamEndCapture(stream, &graph)); /* it goes on */
    OK(more.cuGraphDestroy(graph));
    call(f, x, y, stream);
    expect(uf_sync(gpu, stream), "caught: line 1: integer division by 0, at (33)");
    x->deleter(x);
    y->deleter(y);
    uf_free(f);
    OK(more.cuStreamDestroy_v2(stream));
    OK(more.cuCtxSetCurrent(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),  cmocka_unit_test(test_points),      cmocka_unit_test(test_not_done),
        cmocka_unit_test(test_crowd), cmocka_unit_test(test_own_context), cmocka_unit_test(test_capture),
    };
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests_name("debug on a GPU", tests, device_begin, NULL);
}
