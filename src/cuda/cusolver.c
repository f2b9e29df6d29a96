/* cusolver.c - routines of linear algebra by cuSOLVER, on the call's stream: the matrices of a batch all at once where it has such a
 * method and that is faster, else one after the other. What a routine says of a matrix stays on the device. */
#include <assert.h>
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
    /* Rows that it says its batched method of Jacobi takes. */
    JACOBI_MOST = 32
};
/* Bytes of the workspace of a batch, which is cut where one would take more. */
#define WORK_MOST ((size_t)1 << 28)

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
       void *vt, int ldvt, void *work, int lwork, void *rwork, int *info))                                             \
    X(gesvdj_size, gesvdjBatched_bufferSize, gesvdjBatched_bufferSize,                                                 \
      (void *, int jobz, int m, int n, const void *a, int lda, const void *s, const void *u, int ldu, const void *v,   \
       int ldv, int *lwork, void *settings, int batch))                                                                \
    X(gesvdj, gesvdjBatched, gesvdjBatched,                                                                            \
      (void *, int jobz, int m, int n, void *a, int lda, void *s, void *u, int ldu, void *v, int ldv, void *work,      \
       int lwork, int *info, void *settings, int batch))

/* Those of any dtype, whose numbers are cudaDataType's, which came with CUDA 12.6: X(member, name, parameters) */
#define GENERIC(X)                                                                                                   \
    X(syev_size, cusolverDnXsyevBatched_bufferSize,                                                                  \
      (void *, void *settings, int jobz, int uplo, int64_t n, int type_a, const void *a, int64_t lda, int type_w,    \
       const void *w, int compute, size_t *device, size_t *host, int64_t batch))                                     \
    X(syev, cusolverDnXsyevBatched,                                                                                  \
      (void *, void *settings, int jobz, int uplo, int64_t n, int type_a, void *a, int64_t lda, int type_w, void *w, \
       int compute, void *work, size_t device, void *host_work, size_t host, int *info, int64_t batch))

typedef struct functions {
#define X(member, real, complex, parameters) int(*member) parameters;
    ROUTINES(X)
#undef X
} functions;

/* What is set for a method, which is the defaults throughout: full precision and sorted values. */
typedef enum settings_kind {
    SETTINGS_NONE,
    SETTINGS_SYEVJ,
    SETTINGS_GESVDJ,
    SETTINGS_GENERIC,
    SETTINGS_KINDS
} settings_kind;
_Static_assert(SETTINGS_KINDS - 1 == LIBRARY_SETTINGS, "a handle has a place for each");

static struct {
    int (*create)(void **out);
    int (*set_stream)(void *handle, cu_stream stream);
    int (*settings_create[SETTINGS_KINDS - 1])(void **out);
    functions of[LAPACK_TYPES];
#define X(member, name, parameters) int(*member) parameters;
    GENERIC(X)
#undef X
} cusolver;

/* clang-format off */
static const char *const names[] = {
    "cusolverDnCreate",
    "cusolverDnSetStream",
    "cusolverDnCreateSyevjInfo",
    "cusolverDnCreateGesvdjInfo",
    "cusolverDnCreateParams",
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
#define X(member, name, parameters) #name,
    GENERIC(X)
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

/* The last part of "j->f->getrf" and the like. */
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
                               .optional = 2,
                               .create = create};

void cusolver_info(text *out) { library_info(&library, out); }

uf_status cusolver_open(int device) {
    (void)device;
    TRY(cuda_open());
    TRY(library_need(&library));
    return library_need(&cublas_library);
}

/* ---- Routines ---- */

/* A part of a call: as many matrices as a method computes at once. */
typedef struct job {
    const lapack_call *c;
    const functions *f;
    library_handle *held;
    void *handle; /* the library's */
    int m, n, k, nrhs, batch;
    int lwork; /* elements of the workspace, for methods that count it so */
    size_t bytes, host;
    char *work, *tau; /* the workspace, and behind it the scalars of reflectors */
    void *host_work;
    int *no_info; /* for what nobody reads */
    void *settings;
    char *array[ROUTINE_ARRAYS];
    void *const *first; /* addresses of array 0 */
    int *info;
    int type, part; /* cudaDataType's number of the elements, and of their real parts */
} job;

static uf_status ask_lu(job *j) {
    CUSOLVER(j->f->getrf_size, j->handle, j->n, j->n, j->array[0], j->n, &j->lwork);
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

/* The first by zeros, and in the words that hold the leading bits of the diagonal those of 1; the others are copies of what is there. */
uf_status cusolver_units(const lapack_call *c, char *at, int64_t count) {
    size_t n = (size_t)c->n, size = dtypes[c->type].size, part = dtypes[dtypes[c->type].component].size;
    size_t matrix = n * n * size, all = matrix * (size_t)count;
    unsigned one = part == sizeof(float) ? 0x3f800000 : 0x3ff00000;
    cu_pointer words = (uintptr_t)at + part - sizeof one;
    CU(cuMemsetD8Async, (uintptr_t)at, 0, matrix, c->stream);
    CU(cuMemsetD2D32Async, words, (n + 1) * size, one, 1, n, c->stream);
    for (size_t done = matrix; done < all; done *= 2)
        CU(cuMemcpyAsync, (uintptr_t)at + done, (uintptr_t)at, done < all - done ? done : all - done, c->stream);
    return UF_OK;
}

static uf_status run_inverse(const job *j) {
    TRY(cusolver_units(j->c, j->array[2], 1));
    CUSOLVER(j->f->getrs, j->handle, CUBLAS_OP_NONE, j->n, j->n, j->array[0], j->n, (const int *)(void *)j->array[1],
             j->array[2], j->n, j->no_info);
    return UF_OK;
}

static uf_status ask_cholesky(job *j) {
    CUSOLVER(j->f->potrf_size, j->handle, UPPER, j->n, j->array[0], j->n, &j->lwork);
    return UF_OK;
}

static uf_status run_cholesky(const job *j) {
    CUSOLVER(j->f->potrf, j->handle, UPPER, j->n, j->array[0], j->n, j->work, j->lwork, j->info);
    return UF_OK;
}

static uf_status run_cholesky_batch(const job *j) {
    CUSOLVER(j->f->potrf_batched, j->handle, UPPER, j->n, j->first, j->n, j->info, j->batch);
    return UF_OK;
}

static uf_status ask_qr(job *j) {
    int more;
    CUSOLVER(j->f->geqrf_size, j->handle, j->m, j->n, j->array[0], j->m, &j->lwork);
    CUSOLVER(j->f->orgqr_size, j->handle, j->m, j->k, j->k, j->array[1], j->m, j->array[1], &more);
    j->lwork = j->lwork > more ? j->lwork : more;
    return UF_OK;
}

static uf_status run_qr(const job *j) {
    size_t bytes = (size_t)j->m * (size_t)j->k * dtypes[j->c->type].size;
    CUSOLVER(j->f->geqrf, j->handle, j->m, j->n, j->array[0], j->m, j->tau, j->work, j->lwork, j->no_info);
    CU(cuMemcpyAsync, (uintptr_t)j->array[1], (uintptr_t)j->array[0], bytes, j->c->stream);
    CUSOLVER(j->f->orgqr, j->handle, j->m, j->k, j->k, j->array[1], j->m, j->tau, j->work, j->lwork, j->no_info);
    return UF_OK;
}

static uf_status ask_eigh(job *j) {
    CUSOLVER(j->f->syevd_size, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], &j->lwork);
    return UF_OK;
}

static uf_status run_eigh(const job *j) {
    CUSOLVER(j->f->syevd, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], j->work, j->lwork, j->info);
    return UF_OK;
}

static uf_status ask_eigh_small(job *j) {
    CUSOLVER(j->f->syevj_size, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], &j->lwork, j->settings,
             j->batch);
    return UF_OK;
}

static uf_status run_eigh_small(const job *j) {
    CUSOLVER(j->f->syevj, j->handle, VECTORS, UPPER, j->n, j->array[0], j->n, j->array[1], j->work, j->lwork, j->info,
             j->settings, j->batch);
    return UF_OK;
}

static uf_status ask_eigh_batch(job *j) {
    CUSOLVER(cusolver.syev_size, j->handle, j->settings, VECTORS, UPPER, j->n, j->type, j->array[0], j->n, j->part,
             j->array[1], j->type, &j->bytes, &j->host, j->batch);
    return UF_OK;
}

static uf_status run_eigh_batch(const job *j) {
    CUSOLVER(cusolver.syev, j->handle, j->settings, VECTORS, UPPER, j->n, j->type, j->array[0], j->n, j->part,
             j->array[1], j->type, j->work, j->bytes, j->host_work, j->host, j->info, j->batch);
    return UF_OK;
}

static uf_status ask_svd(job *j) {
    CUSOLVER(j->f->gesvd_size, j->handle, j->m, j->n, &j->lwork);
    return UF_OK;
}

static uf_status run_svd(const job *j) {
    CUSOLVER(j->f->gesvd, j->handle, 'S', 'S', j->m, j->n, j->array[0], j->m, j->array[2], j->array[1], j->m,
             j->array[3], j->n, j->work, j->lwork, NULL, j->info);
    return UF_OK;
}

static uf_status ask_svd_small(job *j) {
    CUSOLVER(j->f->gesvdj_size, j->handle, VECTORS, j->m, j->n, j->array[0], j->m, j->array[2], j->array[1], j->m,
             j->array[3], j->n, &j->lwork, j->settings, j->batch);
    return UF_OK;
}

static uf_status run_svd_small(const job *j) {
    CUSOLVER(j->f->gesvdj, j->handle, VECTORS, j->m, j->n, j->array[0], j->m, j->array[2], j->array[1], j->m,
             j->array[3], j->n, j->work, j->lwork, j->info, j->settings, j->batch);
    return UF_OK;
}

/* ---- The choice among them ---- */

/* A way to compute a routine. */
typedef struct method {
    lapack_routine routine;
    uf_status (*ask)(job *j); /* NULL: it wants no workspace */
    uf_status (*run)(const job *j);
    /* It is for matrices of at most so many rows (0: of any), and for batches of at least `from`. */
    int most, from;
    bool together; /* it takes a batch, not a matrix */
    bool listed;   /* by a list of the matrices' addresses */
    bool late;     /* the library may be too old for it */
    settings_kind settings;
    bool waits;       /* on the host, so that it cannot be captured */
    const char *name; /* of what may wait */
} method;

/* The first that fits is taken. Measured on an H200, float32, in microseconds: syevjBatched 115 for 4 matrices of 32 rows and
 * 1231 for 4096, XsyevBatched for two matrices 310, 2650, 62400 at 64, 256, 1024 rows and 2240, 3660 for 1024 and 64 of them at
 * 64 and 256, beside syevd's 183, 654, 1940, 10270 for each at 32, 64, 256, 1024 rows; potrfBatched for two 75, 276 at 64, 256
 * rows beside potrf's 37, 166; gesvdjBatched 186 and 3770 for 4 and 4096 matrices of 32 rows, beside 1170 of gesvd for each.
 * Not taken, though faster: Xgesvdp (2060, 4880 at 64, 256 rows beside gesvd's 2390, 17600), which is off by up to 3e7 units of
 * rounding where the rank is not full, and gesvdaStridedBatched, whose vectors need not be orthogonal there. */
static const method methods[] = {
    {.routine = ROUTINE_LU, ask_lu, run_lu},
    {.routine = ROUTINE_LU_SOLVE, NULL, run_solve},
    {.routine = ROUTINE_LU_INVERSE, NULL, run_inverse},
    {ROUTINE_CHOLESKY, NULL, run_cholesky_batch, 512, 3, .together = true, .listed = true},
    {.routine = ROUTINE_CHOLESKY, ask_cholesky, run_cholesky},
    {.routine = ROUTINE_QR, ask_qr, run_qr},
    {ROUTINE_EIGH, ask_eigh_small, run_eigh_small, JACOBI_MOST, .together = true, .settings = SETTINGS_SYEVJ},
    {ROUTINE_EIGH, ask_eigh_batch, run_eigh_batch, 128, .together = true, .late = true, .settings = SETTINGS_GENERIC,
     .name = "XsyevBatched"},
    {ROUTINE_EIGH, ask_eigh_batch, run_eigh_batch, 256, 2, .together = true, .late = true, .settings = SETTINGS_GENERIC,
     .name = "XsyevBatched"},
    {.routine = ROUTINE_EIGH, ask_eigh, run_eigh, .waits = true, .name = "syevd"},
    {ROUTINE_SVD_SQUARE, ask_svd_small, run_svd_small, .together = true, .settings = SETTINGS_GESVDJ},
    {.routine = ROUTINE_SVD, ask_svd, run_svd, .waits = true, .name = "gesvd"},
};

lapack_routine cusolver_svd(int64_t m, int64_t n) {
    return m <= JACOBI_MOST && n <= JACOBI_MOST ? ROUTINE_SVD_SQUARE : ROUTINE_SVD;
}

static const method *method_of(const lapack_call *c) {
    const method *m = methods;
    while (m->routine != c->routine || (m->most && c->n > m->most) || c->batch < m->from || (m->listed && !c->first) ||
           (m->late && !cusolver.syev)) {
        m++;
        assert(m < methods + COUNT(methods)); /* every routine has one for any matrix */
    }
    return m;
}

/* ---- Batches ---- */

/* What the library said before; NULL: it was not asked, or too long ago. */
static const library_workspace *asked_find(const job *j, const method *m) {
    for (int i = 0; i < LIBRARY_WORKSPACES; i++) {
        const library_workspace *w = &j->held->asked[i];
        if (w->method == m && w->type == j->type && w->m == j->m && w->n == j->n && w->batch == j->batch)
            return w;
    }
    return NULL;
}

static uf_status ask_anew(job *j, const method *m) {
    library_workspace *w = &j->held->asked[j->held->oldest];
    j->lwork = 0;
    j->bytes = j->host = 0;
    TRY(m->ask(j));
    *w = (library_workspace){m, j->type, j->m, j->n, j->batch, j->lwork, j->bytes, j->host};
    j->held->oldest = (j->held->oldest + 1) % LIBRARY_WORKSPACES;
    return UF_OK;
}

/* What a method wants for a part of so many matrices: j->bytes and the like. */
static uf_status ask(job *j, const method *m, int64_t batch) {
    j->batch = (int)batch;
    if (!m->ask)
        return UF_OK;
    const library_workspace *w = asked_find(j, m);
    if (w) {
        j->lwork = w->elements;
        j->bytes = w->device;
        j->host = w->host;
    } else {
        TRY(ask_anew(j, m));
    }
    if (j->lwork)
        j->bytes = (size_t)j->lwork * dtypes[j->c->type].size;
    return UF_OK;
}

/* Matrices in a part: one, or as many as their workspace allows. */
static uf_status ask_part(job *j, const method *m, int64_t *out) {
    int64_t most = INT_MAX;
    TRY(ask(j, m, 1));
    *out = 1;
    if (!m->together)
        return UF_OK;
    if (j->bytes)
        most = (int64_t)(WORK_MOST / j->bytes);
    most = most < 1 ? 1 : most;
    *out = j->c->batch < most ? j->c->batch : most;
    return ask(j, m, *out);
}

static void advance(job *j, int64_t matrices) {
    for (int i = 0; i < ROUTINE_ARRAYS; i++)
        j->array[i] += (size_t)matrices * lapack_bytes(j->c, i);
    j->first += j->first ? matrices : 0;
    j->info += j->c->info ? matrices : 0;
}

static uf_status run_parts(job *j, const method *m, int64_t part) {
    for (int64_t left = j->c->batch; left; left -= part) {
        part = part < left ? part : left;
        if (part != j->batch)
            TRY(ask(j, m, part));
        TRY(m->run(j));
        advance(j, part);
    }
    return UF_OK;
}

/* What waits on the host would spoil a capture. */
static uf_status capture_check(const lapack_call *c, const method *m) {
    int capturing = 0;
    CU(cuStreamIsCapturing, c->stream, &capturing);
    return capturing ? fail(UF_ERR_DEVICE,
                            "cuSOLVER's %s, which is for matrices of %lld by %lld, waits on the host for what the "
                            "device computes: calls that need it cannot be captured",
                            m->name, (long long)c->m, (long long)c->n)
                     : UF_OK;
}

/* The host's workspace is free once the stream has come to it. */
static uf_status run_with_host_memory(job *j, const method *m, int64_t part) {
    if (j->host)
        TRY(capture_check(j->c, m));
    j->host_work = j->host ? mem_alloc(j->host) : NULL;
    if (j->host && !j->host_work)
        return fail_memory();
    uf_status s = run_parts(j, m, part);
    if (j->host_work)
        cuda.cuStreamSynchronize(j->c->stream);
    mem_free(j->host_work);
    return s;
}

/* The workspace, the scalars of reflectors and what nobody reads are one piece of memory. */
static uf_status run_with_memory(job *j, const method *m) {
    size_t size = dtypes[j->c->type].size;
    int64_t part;
    void *block;
    TRY(ask_part(j, m, &part));
    size_t work = (j->bytes + ALIGN - 1) / ALIGN * ALIGN;
    size_t tau = ((size_t)j->k * size + ALIGN - 1) / ALIGN * ALIGN;
    TRY(memory_scratch(j->c->device, work + tau + sizeof(int), j->c->stream, &block));
    j->work = block;
    j->tau = j->work + work;
    j->no_info = (int *)(void *)(j->tau + tau);
    j->info = j->c->info ? j->c->info : j->no_info;
    uf_status s = run_with_host_memory(j, m, part);
    memory_scratch_free(j->c->device, block, j->c->stream);
    return s;
}

/* Settings last as long as the handle. */
static uf_status settings_of(library_handle *held, settings_kind kind, void **out) {
    *out = NULL;
    if (kind && !held->settings[kind - 1]) {
        int (*settings_create)(void **) = cusolver.settings_create[kind - 1];
        CUSOLVER(settings_create, &held->settings[kind - 1]);
    }
    if (kind)
        *out = held->settings[kind - 1];
    return UF_OK;
}

static uf_status run_held(const lapack_call *c, const method *m, library_handle *held) {
    /* cudaDataType's numbers, of which a complex one's parts are 4 before it. */
    static const int types[LAPACK_TYPES] = {0, 1, 4, 5};
    job j = {.c = c,
             .f = &cusolver.of[lapack_type(c->type)],
             .held = held,
             .handle = held->handle,
             .m = (int)c->m,
             .n = (int)c->n,
             .k = (int)(c->m < c->n ? c->m : c->n),
             .nrhs = (int)c->nrhs,
             .first = c->first,
             .type = types[lapack_type(c->type)],
             .part = types[lapack_type(c->type)] & 1};
    for (int i = 0; i < ROUTINE_ARRAYS; i++)
        j.array[i] = c->array[i];
    CUSOLVER(cusolver.set_stream, j.handle, c->stream);
    TRY(settings_of(held, m->settings, &j.settings));
    return run_with_memory(&j, m);
}

static uf_status run_here(cuda_device *d, const cuda_scope *scope, const lapack_call *c) {
    library_handle *h;
    if (batched_fits(c))
        return batched_run(d, scope, c);
    const method *m = method_of(c);
    if (m->waits)
        TRY(capture_check(c, m));
    TRY(library_take(&library, d, scope, &h));
    uf_status s = run_held(c, m, h);
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

/* In the host's memory routines, which read what they work on many times, would go over the bus for it. */
bool cusolver_lands(const void *address) {
    unsigned type = CU_MEMORY_HOST;
    return !cuda.cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, (uintptr_t)address) && type != CU_MEMORY_HOST;
}

/* ---- The choice ---- */

/* Rows from which the library is taken, of one matrix and of many. Measured on an H200 with 4096 matrices in float32, in millions a second,
 * generated code and the library called directly: solve 395, 163 of 8 rows, 29.5, 93 of 16; inv 358, 177, 4.9, 71; cholesky 425, 71, 42,
 * 60; qr 57, 158 (the reflectors), 5.1, 50; eigh 15.4, 33.5, 0.56, 16.8; svd 13.9, 3.2, 0.76, 1.9. Around the library's routines go two or
 * three kernels, so that its rows stand above the crossing. Those of single matrices were not measured; from 17 on most kernels take none.
 * Equations, inverses, determinants and Cholesky factors of up to 64 rows, and the others of up to 32 columns or, of eigenvectors and singular
 * vectors, somewhat more, get here only where lanes do not compute them (gpu/gufunc_lanes.c), as of one matrix that several calls share. */
static const struct {
    int one, many;
} pays_from[LAPACK_FORMS] = {
    [LAPACK_SOLVE] = {17, 13}, [LAPACK_SOLVE_MATRIX] = {17, 13}, [LAPACK_INV] = {17, 12},
    [LAPACK_DET] = {17, 17},   [LAPACK_CHOLESKY] = {32, 20},     [LAPACK_QR] = {17, 12},
    [LAPACK_EIGH] = {17, 8},   [LAPACK_SVD] = {17, 12},          [LAPACK_LSTSQ] = {17, 12},
};

bool cusolver_pays(const lapack_problem *p) {
    return (p->m > p->n ? p->m : p->n) >= (p->batch > 1 ? pays_from[p->form].many : pays_from[p->form].one);
}
