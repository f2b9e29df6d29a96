/* test_cublas_device.c - products of matrices by cuBLAS on a real GPU, with UF_TEST_GPU=1: every form, dtype and kind of strides against
 * plain loops, to the bit; the same bits in every run, on every stream and in a graph; TF32 where it is asked for, and only there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/code.h"
#include "cuda/cublas.h"
#include "device.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "product_case.h"

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType bytes = {kDLUInt, 8, 1};
static const dtype types[] = {DT_FLOAT16, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};

/* ---- A case whose buffers are on the device ---- */

typedef struct on_device {
    const product_case *q;
    DLManagedTensor *buffer[3];
    product_launch space;
    launch l;
} on_device;

static DLTensor host_bytes(const product_case *q, int k, int64_t *size) {
    *size = (int64_t)product_case_bytes(q, k);
    return (DLTensor){.data = q->operand[k].buffer, .device = {kDLCPU, 0}, .ndim = 1, .dtype = bytes, .shape = size};
}

static void place(on_device *o, const product_case *q) {
    int64_t size;
    o->q = q;
    o->l = product_case_launch(q, &o->space);
    for (int k = 0; k < 3; k++) {
        DLTensor host = host_bytes(q, k, &size);
        OK(uf_empty(&o->buffer[k], gpu, bytes, 1, &size));
        OK(uf_copy(&o->buffer[k]->dl_tensor, &host, NULL));
        o->space.data[k] = (char *)o->buffer[k]->dl_tensor.data + (q->operand[k].data - q->operand[k].buffer);
    }
}

static void release(on_device *o) {
    for (int k = 0; k < 3; k++)
        o->buffer[k]->deleter(o->buffer[k]);
}

/* What the output's buffer is; from malloc. */
static char *result_of(const on_device *o) {
    int64_t size;
    DLTensor host = host_bytes(o->q, 2, &size);
    host.data = malloc((size_t)size);
    assert_non_null(host.data);
    OK(uf_copy(&host, &o->buffer[2]->dl_tensor, NULL));
    return host.data;
}

static bool run(on_device *o, void *stream, unsigned fast) {
    cuda_device *d;
    bool done;
    o->l.stream = stream;
    o->l.fast = fast;
    OK(cuda_device_get(0, &d));
    OK(cublas_launch(d, &o->l, &done));
    OK(uf_sync(gpu, stream));
    return done;
}

/* ---- Tests ---- */

static bool try_problem(const product_case *q) {
    on_device o;
    place(&o, q);
    bool ran = run(&o, NULL, 0);
    char *got = result_of(&o), *want = product_case_expected(q);
    if (!ran)
        memset(want, 0xff, product_case_bytes(q, 2));
    product_case_compare(q, got, want);
    free(got);
    free(want);
    release(&o);
    return ran;
}

static void random_problems(void **unused) {
    int ran[PRODUCT_FORMS] = {0}, tried[PRODUCT_FORMS] = {0};
    (void)unused;
    for (int64_t k = trials(600); k; k--) {
        bool matrices = chance(30); /* of which few are large enough for cuBLAS */
        blas_form form = matrices ? BLAS_GEMM : (blas_form)pick(BLAS_GEMM, PRODUCT_FORMS - 1);
        int64_t most = form == BLAS_GEMM ? 70 : 300;
        product_case q =
            product_case_of(form, types[pick(0, (int64_t)COUNT(types) - 1)], chance(10) ? 1 : pick(20, most),
                            chance(10) ? 1 : pick(20, most), chance(10) ? 1 : pick(20, most));
        q.ndim = (int)pick(0, PRODUCT_LOOPS);
        for (int d = 0; d < q.ndim; d++)
            q.loop[d] = pick(1, 3);
        product_case_fill(&q, true);
        tried[form]++;
        ran[form] += try_problem(&q);
        product_case_free(&q);
    }
    for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++)
        print_message("%s: cuBLAS computed %d of %d\n", product_forms[form].name, ran[form], tried[form]);
    assert_true(ran[BLAS_GEMM] > 5 && ran[BLAS_GEMV] > 0);
}

/* From registration to result: what cuBLAS computes and what it does not. */
static void calls(void **unused) {
    (void)unused;
    for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++) {
        uf_func *f = product_case_define((blas_form)form);
        for (int k = 0; k < 6; k++) {
            product_case q = product_case_of((blas_form)form, types[k], pick(30, 60), pick(30, 60), pick(30, 60));
            on_device o;
            int64_t shape[3][PRODUCT_LOOPS + 2], strides[3][PRODUCT_LOOPS + 2];
            DLTensor args[3];
            q.ndim = 1;
            q.loop[0] = pick(1, 40);
            product_case_fill(&q, k % 2);
            place(&o, &q);
            for (int i = 0; i < 3; i++) {
                args[i] = product_case_array(&q, i, false, false, shape[i], strides[i]);
                args[i].data = o.space.data[i];
                args[i].device = gpu;
            }
            OK(uf_call(f, 3, args, NULL));
            char *got = result_of(&o), *want = product_case_expected(&q);
            product_case_compare(&q, got, want);
            free(got);
            free(want);
            release(&o);
            product_case_free(&q);
        }
        uf_free(f);
    }
}

static cu_stream stream_new(void) {
    cu_stream s;
    OK(more.cuStreamCreate(&s, NON_BLOCKING));
    return s;
}

static void graph_run(on_device *o, cu_stream stream) {
    void *graph, *exec;
    cuda_device *d;
    bool done;
    o->l.stream = stream;
    o->l.fast = 0;
    OK(cuda_device_get(0, &d));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    OK(cublas_launch(d, &o->l, &done));
    assert_true(done);
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuda.cuMemsetD8Async((uintptr_t)o->buffer[2]->dl_tensor.data, 0xff, product_case_bytes(o->q, 2), stream));
    for (int k = 0; k < 3; k++)
        OK(more.cuGraphLaunch(exec, stream));
    OK(uf_sync(gpu, stream));
    OK(more.cuGraphExecDestroy(exec));
    OK(more.cuGraphDestroy(graph));
}

/* The first product of the process is captured, so that the library is opened and its handle made meanwhile. */
static void same_bits(void **unused) {
    static const struct {
        int64_t m, n, p, batch;
    } sizes[] = {{64, 100000, 64, 1}, {100, 200, 300, 7}, {1, 5000, 700, 1}, {513, 511, 257, 1}};
    (void)unused;
    device_enter_primary();
    cu_stream streams[] = {stream_new(), stream_new(), NULL};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t t = 0; t < COUNT(types); t++) {
            on_device o;
            product_case q = product_case_of(BLAS_GEMM, types[t], sizes[i].m, sizes[i].n, sizes[i].p);
            q.ndim = 1;
            q.loop[0] = sizes[i].batch;
            product_case_fill(&q, false);
            product_case_reals(&q);
            place(&o, &q);
            graph_run(&o, streams[0]);
            char *first = result_of(&o);
            for (int k = 0; k < 9; k++) {
                OK(cuda.cuMemsetD8Async((uintptr_t)o.buffer[2]->dl_tensor.data, 0xff, product_case_bytes(&q, 2), NULL));
                OK(uf_sync(gpu, NULL));
                assert_true(run(&o, streams[k % 3], 0));
                char *again = result_of(&o);
                assert_memory_equal(first, again, product_case_bytes(&q, 2));
                free(again);
            }
            free(first);
            release(&o);
            product_case_free(&q);
        }
}

enum {
    WORST_SIDE = 320 /* fewer are generated code's without TF32 */
};

/* The largest error relative to the result of float32 products of numbers from 0 to 1. */
static double worst(unsigned fast) {
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT32, WORST_SIDE, WORST_SIDE, WORST_SIDE);
    on_device o;
    double most = 0;
    product_case_fill(&q, false);
    product_case_reals(&q);
    place(&o, &q);
    assert_true(run(&o, NULL, fast));
    char *got = result_of(&o), *want = product_case_expected(&q);
    for (int64_t i = PRODUCT_EDGE; i < PRODUCT_EDGE + WORST_SIDE * WORST_SIDE; i++) {
        double x = ((float *)(void *)got)[i], y = ((float *)(void *)want)[i];
        most = fabs(x - y) > most * y ? fabs(x - y) / y : most;
    }
    free(got);
    free(want);
    release(&o);
    product_case_free(&q);
    return most;
}

static void tf32(void **unused) {
    (void)unused;
    double exact = worst(UF_FAST_ALL & ~UF_FAST_TF32), rounded = worst(UF_FAST_TF32);
    print_message("largest relative error: %.2g, with UF_FAST_TF32 %.2g\n", exact, rounded);
    assert_true(exact < 3e-6 && rounded > 1e-5 && rounded < 2e-3);
}

static void information(void **unused) {
    text info = {0};
    (void)unused;
    cublas_info(&info);
    print_message("%s", info.data);
    assert_null(strstr(info.data, "missing"));
    text_free(&info);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(random_problems),
                                       cmocka_unit_test(calls), cmocka_unit_test(tf32), cmocka_unit_test(information)};
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
