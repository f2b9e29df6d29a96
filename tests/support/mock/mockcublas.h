/* mockcublas.h - what tests ask of the mock cuBLAS. The functions are found with dlsym in the library that UFUNC_CUBLAS names; a test
 * never links it. */
#ifndef MOCKCUBLAS_H
#define MOCKCUBLAS_H

#include <stddef.h>
#include <stdint.h>

/* A call of cublasGemmStridedBatchedEx_64. */
typedef struct mock_gemm {
    void *handle, *stream, *workspace;
    size_t workspace_size;
    int math, op_a, op_b, type, compute;
    int64_t m, n, k, lda, ldb, ldc, batch;
    long long stride_a, stride_b, stride_c;
} mock_gemm;

typedef struct mock_cublas {
    void (*fail_name)(const char *function,
                      int status);      /* every call of one function reports it from now on; NULL: none */
    int (*count)(const char *function); /* calls of one function since the process began */
    void *(*stream)(void);              /* that the last routine for a batch ran on */
    const mock_gemm *(*gemm)(void);     /* the last one */
    /* Called within each creation of a handle (NULL) and each product, with nothing locked; NULL: none. */
    void (*on_call)(void (*look)(const mock_gemm *));
} mock_cublas;

/* The library exports one: const mock_cublas *mock_cublas_control(void). */

#endif
