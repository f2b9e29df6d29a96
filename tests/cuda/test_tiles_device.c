/* test_tiles_device.c - products of matrices without a library on a real GPU, with UF_TEST_GPU=1: what the policy makes of many sizes, large,
 * thin and wide ones, with any strides, against plain loops, to the bit; and the same bits in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "product_case.h"

static const DLDevice gpu = {kDLCUDA, 0};
static uf_func *matmul;

static DLTensor bytes_of(const product_case *q, int k, int64_t *size) {
    *size = (int64_t)product_case_bytes(q, k);
    return (DLTensor){
        .data = q->operand[k].buffer, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLUInt, 8, 1}, .shape = size};
}

/* Runs a case on the GPU; the output's buffer, from malloc. */
static char *run(const product_case *q) {
    DLManagedTensor *there[3];
    DLTensor args[3], host;
    int64_t size, shape[3][PRODUCT_LOOPS + 2], strides[3][PRODUCT_LOOPS + 2];
    for (int k = 0; k < 3; k++) {
        host = bytes_of(q, k, &size);
        OK(uf_empty(&there[k], gpu, host.dtype, 1, &size));
        OK(uf_copy(&there[k]->dl_tensor, &host, NULL));
        args[k] = product_case_array(q, k, false, false, shape[k], strides[k]);
        args[k].device = gpu;
        args[k].data = (char *)there[k]->dl_tensor.data + (q->operand[k].data - q->operand[k].buffer);
    }
    device_call(matmul, 3, args, NULL, chance(30));
    host.data = malloc((size_t)size);
    assert_non_null(host.data);
    OK(uf_copy(&host, &there[2]->dl_tensor, NULL));
    for (int k = 0; k < 3; k++)
        there[k]->deleter(there[k]);
    return host.data;
}

/* Sizes that make large tiles, thin ones, and reductions in parts. */
static int64_t draw_extent(void) {
    int64_t n = chance(25) ? pick(1, 20) : chance(60) ? pick(30, 300) : pick(300, 1500);
    return chance(50) ? (n + 3) & ~(int64_t)3 : n;
}

static void random_products(void **unused) {
    static const dtype types[] = {DT_FLOAT16, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};
    (void)unused;
    for (int64_t k = trials(40); k; k--) {
        dtype type = chance(40) ? DT_FLOAT32 : types[pick(0, (int64_t)COUNT(types) - 1)];
        int64_t m = draw_extent(), n = draw_extent(), p = draw_extent();
        while (m * n * p > 2000000)
            *(m >= n && m >= p ? &m : n >= p ? &n : &p) /= 2;
        product_case q = product_case_of(BLAS_GEMM, type, m, n, p);
        q.ndim = (int)pick(0, 1);
        q.loop[0] = pick(1, 3);
        product_case_fill(&q, chance(50));
        char *got = run(&q), *again = run(&q), *want = product_case_expected(&q);
        product_case_compare(&q, got, want);
        assert_memory_equal(got, again, product_case_bytes(&q, 2));
        free(got);
        free(again);
        free(want);
        product_case_free(&q);
    }
}

/* Of numbers that round, every run has the same sums, whichever block was the last. */
static void same_bits(void **unused) {
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT32, 40, 100000, 24);
    (void)unused;
    product_case_fill(&q, false);
    product_case_reals(&q);
    char *first = run(&q);
    for (int i = 0; i < 20; i++) {
        char *next = run(&q);
        assert_memory_equal(first, next, product_case_bytes(&q, 2));
        free(next);
    }
    free(first);
    product_case_free(&q);
}

static int begin(void **unused) {
    const uf_section section = {"float16,float16->float16; bfloat16,bfloat16->bfloat16; float32,float32->float32; "
                                "float64,float64->float64; complex64,complex64->complex64; "
                                "complex128,complex128->complex128",
                                product_forms[BLAS_GEMM].source};
    OK(uf_define(&matmul, &(uf_definition){.size = sizeof(uf_definition),
                                           .name = "matmul",
                                           .nsections = 1,
                                           .sections = &section,
                                           .layout = product_forms[BLAS_GEMM].layout}));
    draw_seed(NULL);
    return device_begin(unused);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_products), cmocka_unit_test(same_bits)};
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, begin, NULL);
}
