/* cublas.h - cuBLAS: its functions and handles, for the files that call it, and the launches that it computes. */
#ifndef UF_CUDA_CUBLAS_H
#define UF_CUDA_CUBLAS_H

#include "cuda/library.h"
#include "engine.h"
#include "gpu/gpu.h"

/* Values of its enumerations. */
enum {
    CUBLAS_ALLOC_FAILED = 3,
    CUBLAS_OP_NONE = 0,
    CUBLAS_OP_TRANS = 1,
    CUBLAS_OP_CONJ_TRANS = 2,
    CUBLAS_MATH_DEFAULT = 0,
    CUBLAS_MATH_NO_REDUCED_SUMS = 16 /* partial sums of halves are added in float32, as all others are */
};

/* X(name, result, parameters) */
#define CUBLAS_FUNCTIONS(X)                                                                                           \
    X(cublasCreate_v2, int, (void **))                                                                                \
    X(cublasSetStream_v2, int, (void *, cu_stream))                                                                   \
    X(cublasSetWorkspace_v2, int, (void *, void *, size_t))                                                           \
    X(cublasSetMathMode, int, (void *, int))                                                                          \
    X(cublasGetStatusName, const char *, (int))                                                                       \
    X(cublasGetStatusString, const char *, (int))                                                                     \
    X(cublasGemmStridedBatchedEx_64, int,                                                                             \
      (void *, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int type_a,     \
       int64_t lda, long long stride_a, const void *b, int type_b, int64_t ldb, long long stride_b, const void *beta, \
       void *c, int type_c, int64_t ldc, long long stride_c, int64_t batch, int compute, int algorithm))

/* Those that there are for each dtype: X(member, its name behind cublasS .., parameters) */
#define CUBLAS_ROUTINES(X)                                                                                        \
    X(getrf, getrfBatched, (void *, int n, void *const *a, int lda, int *pivots, int *info, int batch))           \
    X(getrs, getrsBatched,                                                                                        \
      (void *, int op, int n, int nrhs, void *const *a, int lda, const int *pivots, void *const *b, int ldb,      \
       int *host_info, int batch))                                                                                \
    X(getri, getriBatched,                                                                                        \
      (void *, int n, void *const *a, int lda, const int *pivots, void *const *c, int ldc, int *info, int batch)) \
    X(geqrf, geqrfBatched, (void *, int m, int n, void *const *a, int lda, void *const *tau, int *host_info, int batch))

typedef struct cublas_routines {
#define X(member, name, parameters) int(*member) parameters;
    CUBLAS_ROUTINES(X)
#undef X
} cublas_routines;

typedef struct cublas_functions {
#define X(name, result, parameters) result(*name) parameters;
    CUBLAS_FUNCTIONS(X)
#undef X
    cublas_routines of[LAPACK_TYPES];
} cublas_functions;

/* The functions. They are valid once library_open(&cublas_library) has found it. */
extern cublas_functions cublas;
extern cuda_library cublas_library;

/* Sets the error of a call that failed: MEMORY if memory ran out, else DEVICE. */
uf_status cublas_fail(int status, const char *call);

#define CUBLAS(name, ...)                             \
    do {                                              \
        int cublas_status = cublas.name(__VA_ARGS__); \
        if (cublas_status)                            \
            return cublas_fail(cublas_status, #name); \
    } while (0)

/* Tells a handle the stream, the workspace of that stream's (NULL: cuBLAS's own), and the mode; what it was told last is not said again.
 * id: the stream's; 0: not known, as in a capture. */
uf_status cublas_tell(library_handle *h, cu_stream stream, uint64_t id, void *workspace, size_t size, int math);

/* product.c: is a launch of LOOP_GUFUNC one for a library (gpu_gemm_plan), and is cuBLAS there for its device? */
bool cublas_takes(const launch *l);
/* product.c: enqueues a whole launch on its stream, if it is one that cublas_takes: *done.
 * Otherwise nothing happens, and generated code computes the launch. Errors: DEVICE, MEMORY; ARGUMENT (the flag to cancel it). */
uf_status cublas_launch(cuda_device *d, const launch *l, bool *done);

/* A line of uf_system_info. */
void cublas_info(text *out);

#endif
