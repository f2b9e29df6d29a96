/* product.c - launches that cuBLAS computes. Its handle is one of the library's for the context, held while calls are enqueued, and its
 * workspace is the piece of memory that belongs to the stream, or memory in stream order in a capture. So nothing that runs at
 * the same time shares a workspace, and with a workspace of fixed size cuBLAS gives the same bits in every run. */
#include "cuda/code.h"
#include "cuda/cublas.h"

enum {
    ALGORITHM_DEFAULT = -1,
    /* What NVIDIA recommends as workspace. */
    WORKSPACE_HOPPER = 32 << 20,
    WORKSPACE = 4 << 20,
    ARCH_HOPPER = 90
};

/* cuBLAS's numbers for the dtypes, and in what it computes. Plain float32 is the pedantic kind, which no setting of the process
 * turns into TF32 or sums of bfloat16 products, and which is as fast as the default. */
enum {
    COMPUTE_FLOAT32 = 68,
    COMPUTE_FLOAT32_PEDANTIC = 69,
    COMPUTE_FLOAT64 = 70,
    COMPUTE_TF32 = 77
};
static const struct {
    int type, compute, fast; /* fast: with UF_FAST_TF32 */
} kinds[DT_COUNT] = {
    [DT_FLOAT16] = {2, COMPUTE_FLOAT32, COMPUTE_FLOAT32},
    [DT_BFLOAT16] = {14, COMPUTE_FLOAT32, COMPUTE_FLOAT32},
    [DT_FLOAT32] = {0, COMPUTE_FLOAT32_PEDANTIC, COMPUTE_TF32},
    [DT_FLOAT64] = {1, COMPUTE_FLOAT64, COMPUTE_FLOAT64},
    [DT_COMPLEX64] = {4, COMPUTE_FLOAT32_PEDANTIC, COMPUTE_TF32},
    [DT_COMPLEX128] = {5, COMPUTE_FLOAT64, COMPUTE_FLOAT64},
};

/* 1 and 0 in the dtype that is computed in, which is double for the two that have such parts. */
static const double one_d[2] = {1, 0}, zero_d[2] = {0, 0};
static const float one_f[2] = {1, 0}, zero_f[2] = {0, 0};

static int op_of(bool transpose, bool conjugate) {
    return conjugate ? CUBLAS_OP_CONJ_TRANS : transpose ? CUBLAS_OP_TRANS : CUBLAS_OP_NONE;
}

/* One call, whose operands begin so many elements behind the launch's. */
static uf_status call(void *handle, const launch *l, const gpu_gemm *g, const int64_t offset[3]) {
    dtype type = l->v->operand[0].value;
    bool wide = dtypes[dtypes[type].component].size == sizeof(double);
    const nd_product *p = &g->p;
    const char *at[3];
    int64_t size = dtypes[type].size;
    for (int k = 0; k < 3; k++)
        at[k] = l->data[k] + offset[k] * size;
    CUBLAS(cublasGemmStridedBatchedEx_64, handle, op_of(g->left.along_n, p->left.conjugate),
           op_of(!g->right.along_n, p->right.conjugate), p->m, p->p, p->n, wide ? (const void *)one_d : one_f,
           at[p->left.operand], kinds[type].type, g->left.ld, g->step[p->left.operand], at[p->right.operand],
           kinds[type].type, g->right.ld, g->step[p->right.operand], wide ? (const void *)zero_d : zero_f,
           (void *)(uintptr_t)at[ND_RESULT], kinds[type].type, g->ldc, g->step[ND_RESULT], g->batch,
           l->fast & UF_FAST_TF32 ? kinds[type].fast : kinds[type].compute, ALGORITHM_DEFAULT);
    return UF_OK;
}

/* All calls of a launch. */
static uf_status call_each(void *handle, const launch *l, const gpu_gemm *g) {
    const nd_product_loop *loop = &g->calls;
    int64_t index[UF_MAX_NDIM] = {0}, offset[3] = {0};
    for (int64_t i = 0; i < loop->count; i++) {
        TRY(call(handle, l, g, offset));
        nd_product_next(loop, index, offset);
    }
    return UF_OK;
}

static uf_status call_with(library_handle *h, const launch *l, const gpu_gemm *g, const stream_memory *m, size_t size) {
    int math = l->fast & UF_FAST_TF32 ? CUBLAS_MATH_DEFAULT : CUBLAS_MATH_NO_REDUCED_SUMS;
    TRY(cublas_tell(h, l->stream, m->stream, (void *)(uintptr_t)m->block, size, math));
    return call_each(h->handle, l, g);
}

static uf_status run(cuda_device *d, const cuda_scope *scope, const launch *l, const gpu_gemm *g) {
    library_handle *h;
    stream_memory workspace;
    size_t size = d->arch >= ARCH_HOPPER ? WORKSPACE_HOPPER : WORKSPACE;
    uint64_t flag; /* it is to be one that the device can read, though no product takes long enough to look at it */
    TRY(report_flag(l, &flag));
    TRY(scratch_hold(d, scope, size, l->stream, &workspace));
    uf_status s = library_take(&cublas_library, d, scope, &h);
    if (!s) {
        s = call_with(h, l, g, &workspace, size);
        library_give(h);
    }
    scratch_release(d, &workspace, l->stream);
    return s;
}

/* The driver is opened first, since the library is to be one that it can run; what is wrong with it the launch says. */
bool cublas_takes(const launch *l) {
    gpu_gemm g;
    cuda_device *d;
    return gpu_gemm_plan(l, &g) && !cuda_device_get(l->device, &d) && library_open(&cublas_library);
}

uf_status cublas_launch(cuda_device *d, const launch *l, bool *done) {
    gpu_gemm g;
    cuda_scope scope;
    *done = gpu_gemm_plan(l, &g) && library_open(&cublas_library);
    if (!*done)
        return UF_OK;
    TRY(cuda_enter_relaxed(d, &scope));
    uf_status s = run(d, &scope, l, &g);
    cuda_leave(&scope);
    return s;
}
