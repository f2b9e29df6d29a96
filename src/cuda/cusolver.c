/* cusolver.c - routines of linear algebra by cuSOLVER, one matrix of a batch after the other on the call's stream. What a routine says
 * of a matrix stays on the device. */
#include <limits.h>

#include "cuda/code.h"
#include "cuda/cublas.h"
#include "cuda/cusolver.h"

enum {
    /* Values of cuSOLVER's enumerations; it takes cuBLAS's operations, too. */
    STATUS_ALLOC_FAILED = 2,
    UPPER = 1,
    VECTORS = 1,
    ALIGN = 256,
    /* Rows; a larger matrix keeps the device busy by itself. */
    BATCHED_MOST = 256,
    JACOBI_MOST = 64
};

/* X(member, its name behind cusolverDnS and D, behind cusolverDnC and Z, parameters) */
#define ROUTINES(X)                                                                                                    \
    X(getrf_size, getrf_bufferSize, getrf_bufferSize, (void *, int m, int n, void *a, int lda, int *lwork))            \
    X(getrf, getrf, getrf, (void *, int m, int n, void *a, int lda, void *work, int *pivots, int *info))               \
    X(getrs, getrs, getrs,                                                                                             \
      (void *, int op, int n, int nrhs, const void *a, int lda, const int *pivots, void *b, int ldb, int *info))       \
    X(potrf_size, potrf_bufferSize, potrf_bufferSize, (void *, int uplo, int n, void *a, int lda, int *lwork))         \
    X(potrf, potrf, potrf, (void *, int uplo, int n, void *a, int lda, void *work, int lwork, int *info))              \
    X(potrf_batched, potrfBatched, potrfBatched,                                                                       \
      (void *, int uplo, int n, void *const *a, int lda, int *info, int batch))                                        \
    X(geqrf_size, geqrf_bufferSize, geqrf_bufferSize, (void *, int m, int n, void *a, int lda, int *lwork))            \
    X(geqrf, geqrf, geqrf, (void *, int m, int n, void *a, int lda, void *tau, void *work, int lwork, int *info))      \
    X(orgqr_size, orgqr_bufferSize, ungqr_bufferSize,                                                                  \
      (void *, int m, int n, int k, const void *a, int lda, const void *tau, int *lwork))                              \
    X(orgqr, orgqr, ungqr,                                                                                             \
      (void *, int m, int n, int k, void *a, int lda, const void *tau, void *work, int lwork, int *info))              \
    X(syevd_size, syevd_bufferSize, heevd_bufferSize,                                                                  \
      (void *, int jobz, int uplo, int n, const void *a, int lda, const void *w, int *lwork))                          \
    X(syevd, syevd, heevd,                                                                                             \
      (void *, int jobz, int uplo, int n, void *a, int lda, void *w, void *work, int lwork, int *info))                \
    X(syevj_size, syevjBatched_bufferSize, heevjBatched_bufferSize,                                                    \
      (void *, int jobz, int uplo, int n, const void *a, int lda, const void *w, int *lwork, void *settings,           \
       int batch))                                                                                                     \
    X(syevj, syevjBatched, heevjBatched,                                                                               \
      (void *, int jobz, int uplo, int n, void *a, int lda, void *w, void *work, int lwork, int *info, void *settings, \
       int batch))                                                                                                     \
    X(gesvd_size, gesvd_bufferSize, gesvd_bufferSize, (void *, int m, int n, int *lwork))                              \
    X(gesvd, gesvd, gesvd,                                                                                             \
      (void *, signed char jobu, signed char jobvt, int m, int n, void *a, int lda, void *s, void *u, int ldu,         \
       void *vt, int ldvt, void *work, int lwork, void *rwork, int *info))

typedef struct functions {
#define X(member, real, complex, parameters) int(*member) parameters;
    ROUTINES(X)
#undef X
} functions;

static struct {
    int (*create)(void **out);
    int (*set_stream)(void *handle, cu_stream stream);
    int (*settings_create)(
        void **out); /* of Jacobi's method: the defaults, which are full precision and sorted values */
    int (*settings_destroy)(void *settings);
    functions of[LAPACK_TYPES]; /* float32, float64, complex64, complex128 */
} cusolver;

/* clang-format off */
static const char *const names[] = {
    "cusolverDnCreate",
    "cusolverDnSetStream",
    "cusolverDnCreateSyevjInfo",
    "cusolverDnDestroySyevjInfo",
#define X(member, real, complex, parameters) "cusolverDnS" #real,
    ROUTINES(X)
#undef X
#define X(member, real, complex, parameters) "cusolverDnD" #real,
    ROUTINES(X)
#undef X
#define X(member, real, complex, parameters) "cusolverDnC" #complex,
    ROUTINES(X)
#undef X
#define X(member, real, complex, parameters) "cusolverDnZ" #complex,
    ROUTINES(X)
#undef X
};
/* clang-format on */
_Static_assert(sizeof cusolver == COUNT(names) * sizeof(void *), "a name for each function");

static uf_status status_fail(int status, const char *call) {
    return fail(status == STATUS_ALLOC_FAILED ? UF_ERR_MEMORY : UF_ERR_DEVICE, "cuSOLVER's %s: status %d", call,
                status);
}

#define CUSOLVER(call, ...)                                      \
    do {                                                         \
        int cusolver_status = (call)(__VA_ARGS__);               \
        if (cusolver_status)                                     \
            return status_fail(cusolver_status, name_of(#call)); \
    } while (0)

/* The last part of "j->f->getrf". */
static const char *name_of(const char *call) {
    const char *dot = strrchr(call, '.'), *arrow = strrchr(call, '>');
    return arrow ? arrow + 1 : dot ? dot + 1 : call;
}

static uf_status create(void **out) {
    CUSOLVER(cusolver.create, out);
    return UF_OK;
}

static cuda_library library = {.title = "cuSOLVER",
                               .variable = "UFUNC_CUSOLVER",
                               .wheel = "cusolver",
                               .property = "cusolverGetProperty",
                               .without = "matrices larger than the catalogue's kernels take are errors",
                               .files = {{"libcusolver.so.12", 13}, {"libcusolver.so.11", 12}},
                               .functions = names,
                               .table = &cusolver,
                               .count = COUNT(names),
                               .create = create};

void cusolver_info(text *out) { library_info(&library, out); }

uf_status cusolver_open(int device) {
    (void)device;
    TRY(cuda_open());
    TRY(library_need(&library));
    return library_need(&cublas_library);
}

/* ---- Routines, on one matrix ---- */

typedef struct job {
    const lapack_call *c;
    const functions *f;
    void *handle;
    int m, n, k, nrhs;
    int lwork;
    char *work, *tau; /* the workspace, and behind it the scalars of reflectors */
    int *no_info;     /* for what nobody reads */
    void *settings;   /* of Jacobi's method, for batches of small matrices */
    char *array[ROUTINE_ARRAYS];
    int *info;
} job;

static uf_status ask_nothing(const job *j, int *lwork) {
    (void)j;
    *lwork = 0;
    return UF_OK;
}

static uf_status ask_lu(const job *j, int *lwork) {
    CUSOLVER(j->f->getrf_size, j->handle, j->n, j->n, j->array[0], j->n, lwork);
    return UF_OK;
}

static uf_status run_lu(const job *j) {
    CUSOLVER(j->f->getrf, j->handle, j->n, j->n, j->array[0], j->n, j->work, (int *)(void *)j->array[1], j->info);
    return UF_OK;
}

static uf_status run_solve(const job *j) {
    CUSOLVER(j->f->getrs, j->handle, CUBLAS_OP_TRANS, j->n, j->nrhs, j->array[0], j->n,
             (const int *)(void *)j->array[1], j->array[2], j->n, j->no_info);
    return UF_OK;
}

/* Makes the unit matrix: zeros, and in the words that hold the leading bits of the diagonal those of 1. */
static uf_status unit_matrix(const job *j, char *at) {
    size_t n = (size_t)j->n, size = dtypes[j->c->type].size, part = dtypes[dtypes[j->c->type].component].size;
    unsigned one = part == sizeof(float) ? 0x3f800000 : 0x3ff00000;
    cu_pointer words = (uintptr_t)at + part - sizeof one;
    CU(cuMemsetD8Async, (uintptr_t)at, 0, n * n * size, j->c->stream);
    CU(cuMemsetD2D32Async, words, (n + 1) * size, one, 1, n, j->c->stream);
    return UF_OK;
}

static uf_status run_inverse(const job *j) {
    TRY(unit_matrix(j, j->array[2]));
    CUSOLVER(j->f->getrs, j->handle, CUBLAS_OP_NONE, j->n, j->n, j->array[0], j->n, (const int *)(void *)j->array[1],
             j->array[2], j->n, j->no_info);
    return UF_OK;
}

static uf_status ask_cholesky(const job *j, int *lwork) {
    CUSOLVER(j->f->potrf_size, j->handle, UPPER, j->n, j->array[0], j->n, lwork);
    return UF_OK;
}

static uf_status run_cholesky(const job *j) {
    CUSOLVER(j->f->potrf, j->handle, UPPER, j->n, j->array[0], j->n, j->work, j->lwork, j->info);
    return UF_OK;
}

static uf_status run_cholesky_batch(const job *j) {
    CUSOLVER(j->f->potrf_batched, j->handle, UPPER, j->n, j->c->first, j->n, j->info, (int)j->c->batch);
    return UF_OK;
}

static uf_status ask_qr(const job *j, int *lwork) {
    int more;
    CUSOLVER(j->f->geqrf_size, j->handle, j->m, j->n, j->array[0], j->m, lwork);
    CUSOLVER(j->f->orgqr_size, j->handle, j->m, j->k, j->k, j->array[1], j->m, j->array[1], &more);
    *lwork = *lwork > more ? *lwork : more;
    return UF_OK;
}

static uf_status run_qr(const job *j) {
    size_t bytes = (size_t)j->m * (size_t)j->k * dtypes[j->c->type].size;
    CUSOLVER(j->f->geqrf, j->handle, j->m, j->n, j->array[0], j->m, j->tau, j->work, j->lwork, j->no_info);
    CU(cuMemcpyAsync, (uintptr_t)j->array[1], (uintptr_t)j->array[0], bytes, j->c->stream);
    CUSOLVER(j->f->orgqr, j->handle, j->m, j->k, j->k, j->array[1], j->m, j->tau, j->work, j->lwork, j->no_info);
    return UF_OK;
}

static uf_status ask_eigh(const job *j, int *lwork) {
    if (j->settings)
        CUSOLVER(j->f->syevj_size, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], lwork, j->settings,
                 (int)j->c->batch);
    else
        CUSOLVER(j->f->syevd_size, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], lwork);
    return UF_OK;
}

static uf_status run_eigh(const job *j) {
    CUSOLVER(j->f->syevd, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], j->work, j->lwork, j->info);
    return UF_OK;
}

static uf_status run_eigh_batch(const job *j) {
    CUSOLVER(j->f->syevj, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], j->work, j->lwork, j->info,
             j->settings, (int)j->c->batch);
    return UF_OK;
}

static uf_status ask_svd(const job *j, int *lwork) {
    CUSOLVER(j->f->gesvd_size, j->handle, j->m, j->n, lwork);
    return UF_OK;
}

static uf_status run_svd(const job *j) {
    CUSOLVER(j->f->gesvd, j->handle, 'S', 'S', j->m, j->n, j->array[0], j->m, j->array[2], j->array[1], j->m,
             j->array[3], j->n, j->work, j->lwork, NULL, j->info);
    return UF_OK;
}

static const struct {
    uf_status (*ask)(const job *j, int *lwork);
    uf_status (*run)(const job *j);
    uf_status (*batch)(const job *j); /* all small matrices of a batch at once; NULL: there is no such routine */
    int most;                         /* rows of such matrices */
    bool listed;                      /* it takes a list of their addresses */
    const char *waits;                /* its name, if it waits on the host */
} routines[LAPACK_ROUTINES] = {
    [ROUTINE_LU] = {ask_lu, run_lu, NULL, 0, false, NULL},
    [ROUTINE_LU_SOLVE] = {ask_nothing, run_solve, NULL, 0, false, NULL},
    [ROUTINE_LU_INVERSE] = {ask_nothing, run_inverse, NULL, 0, false, NULL},
    [ROUTINE_CHOLESKY] = {ask_cholesky, run_cholesky, run_cholesky_batch, BATCHED_MOST, true, NULL},
    [ROUTINE_QR] = {ask_qr, run_qr, NULL, 0, false, NULL},
    [ROUTINE_EIGH] = {ask_eigh, run_eigh, run_eigh_batch, JACOBI_MOST, false, "syevd"},
    [ROUTINE_SVD] = {ask_svd, run_svd, NULL, 0, false, "gesvd"},
};

/* ---- Batches ---- */

/* Are the matrices small, and many, so that one call computes them all? */
static bool is_small_batch(const lapack_call *c) {
    return routines[c->routine].batch && (c->first || !routines[c->routine].listed) && c->batch > 1 &&
           c->batch <= INT_MAX && c->n <= routines[c->routine].most;
}

static uf_status run_each(job *j) {
    if (is_small_batch(j->c))
        return routines[j->c->routine].batch(j);
    for (int64_t at = 0; at < j->c->batch; at++) {
        TRY(routines[j->c->routine].run(j));
        for (int i = 0; i < ROUTINE_ARRAYS; i++)
            j->array[i] += lapack_bytes(j->c, i);
        j->info += j->c->info ? 1 : 0;
    }
    return UF_OK;
}

/* The workspace, the scalars of reflectors and what nobody reads are one piece of memory. */
static uf_status run_with_memory(job *j) {
    size_t size = dtypes[j->c->type].size;
    void *block;
    TRY(routines[j->c->routine].ask(j, &j->lwork));
    size_t work = ((size_t)j->lwork * size + ALIGN - 1) / ALIGN * ALIGN;
    size_t tau = ((size_t)j->k * size + ALIGN - 1) / ALIGN * ALIGN;
    TRY(memory_scratch(j->c->device, work + tau + sizeof(int), j->c->stream, &block));
    j->work = block;
    j->tau = j->work + work;
    j->no_info = (int *)(void *)(j->tau + tau);
    j->info = j->c->info ? j->c->info : j->no_info;
    uf_status s = run_each(j);
    memory_scratch_free(j->c->device, block, j->c->stream);
    return s;
}

static uf_status run_held(const lapack_call *c, void *handle) {
    job j = {.c = c,
             .f = &cusolver.of[lapack_type(c->type)],
             .handle = handle,
             .m = (int)c->m,
             .n = (int)c->n,
             .k = (int)(c->m < c->n ? c->m : c->n),
             .nrhs = (int)c->nrhs};
    for (int i = 0; i < ROUTINE_ARRAYS; i++)
        j.array[i] = c->array[i];
    CUSOLVER(cusolver.set_stream, handle, c->stream);
    if (c->routine != ROUTINE_EIGH || !is_small_batch(c))
        return run_with_memory(&j);
    CUSOLVER(cusolver.settings_create, &j.settings);
    uf_status s = run_with_memory(&j);
    cusolver.settings_destroy(j.settings);
    return s;
}

/* A routine that waits on the host would spoil the capture. */
static uf_status capture_check(const lapack_call *c) {
    int capturing = 0;
    if (!routines[c->routine].waits)
        return UF_OK;
    CU(cuStreamIsCapturing, c->stream, &capturing);
    return capturing
               ? fail(UF_ERR_DEVICE,
                      "cuSOLVER's %s waits on the host for what the device computes: calls that need it cannot be "
                      "captured",
                      routines[c->routine].waits)
               : UF_OK;
}

static uf_status run_here(cuda_device *d, const cuda_scope *scope, const lapack_call *c) {
    library_handle *h;
    if (batched_fits(c))
        return batched_run(d, scope, c);
    TRY(capture_check(c));
    TRY(library_take(&library, d, scope, &h));
    uf_status s = run_held(c, h->handle);
    library_give(h);
    return s;
}

uf_status cusolver_run(const lapack_call *c) {
    cuda_device *d;
    cuda_scope scope;
    if (c->m > INT_MAX || c->n > INT_MAX || c->nrhs > INT_MAX)
        return fail(UF_ERR_SHAPE,
                    "matrices of %lld by %lld with %lld right sides are too large for cuSOLVER, which counts "
                    "in 32 bits",
                    (long long)c->m, (long long)c->n, (long long)c->nrhs);
    TRY(cuda_device_get(c->device, &d));
    TRY(cuda_enter_relaxed(d, &scope));
    uf_status s = run_here(d, &scope, c);
    cuda_leave(&scope);
    return s;
}

/* ---- The choice ---- */

/* Rows from which the library is faster than the generated code: of one matrix, and of many. */
static const struct {
    int one, many;
} pays_from[LAPACK_FORMS] = {
    [LAPACK_SOLVE] = {17, 17}, [LAPACK_SOLVE_MATRIX] = {17, 17}, [LAPACK_INV] = {17, 17},
    [LAPACK_DET] = {17, 17},   [LAPACK_CHOLESKY] = {32, 20},     [LAPACK_QR] = {17, 17},
    [LAPACK_EIGH] = {17, 17},  [LAPACK_SVD] = {17, 17},          [LAPACK_LSTSQ] = {17, 17},
};

bool cusolver_pays(const lapack_problem *p) {
    return (p->m > p->n ? p->m : p->n) >= (p->batch > 1 ? pays_from[p->form].many : pays_from[p->form].one);
}
