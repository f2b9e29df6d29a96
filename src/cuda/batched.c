/* batched.c - LU factors, their equations and inverses for batches of small matrices, all at once, by cuBLAS. It takes a list of the
 * matrices' addresses, in memory of the device, and works on 32-bit pivots, as cuSOLVER does. */
#include <limits.h>

#include "cuda/cusolver.h"
#include "cuda/library.h"

enum {
    STATUS_ALLOC_FAILED = 3,
    OP_TRANS = 1,
    TYPES = 4,
    /* With more rows a matrix keeps the device busy by itself. */
    MOST = 256
};

/* X(member, its name behind cublasS .., parameters) */
#define ROUTINES(X)                                                                                          \
    X(getrf, getrfBatched, (void *, int n, void *const *a, int lda, int *pivots, int *info, int batch))      \
    X(getrs, getrsBatched,                                                                                   \
      (void *, int op, int n, int nrhs, void *const *a, int lda, const int *pivots, void *const *b, int ldb, \
       int *host_info, int batch))                                                                           \
    X(getri, getriBatched,                                                                                   \
      (void *, int n, void *const *a, int lda, const int *pivots, void *const *c, int ldc, int *info, int batch))

typedef struct functions {
#define X(member, name, parameters) int(*member) parameters;
    ROUTINES(X)
#undef X
} functions;

static struct {
    int (*create)(void **out);
    int (*set_stream)(void *handle, cu_stream stream);
    functions of[TYPES]; /* float32, float64, complex64, complex128 */
} cublas;

/* clang-format off */
static const char *const names[] = {
    "cublasCreate_v2",
    "cublasSetStream_v2",
#define X(member, name, parameters) "cublasS" #name,
    ROUTINES(X)
#undef X
#define X(member, name, parameters) "cublasD" #name,
    ROUTINES(X)
#undef X
#define X(member, name, parameters) "cublasC" #name,
    ROUTINES(X)
#undef X
#define X(member, name, parameters) "cublasZ" #name,
    ROUTINES(X)
#undef X
};
/* clang-format on */
_Static_assert(sizeof cublas == COUNT(names) * sizeof(void *), "a name for each function");

static uf_status status_check(int status, const char *call) {
    if (!status)
        return UF_OK;
    return fail(status == STATUS_ALLOC_FAILED ? UF_ERR_MEMORY : UF_ERR_DEVICE, "cuBLAS's %s: status %d", call, status);
}

static uf_status create(void **out) { return status_check(cublas.create(out), "cublasCreate"); }

static cuda_library library = {.title = "cuBLAS",
                               .variable = "UFUNC_CUBLAS",
                               .wheel = "cublas",
                               .property = "cublasGetProperty",
                               .without = "",
                               .files = {{"libcublas.so.13", 13}, {"libcublas.so.12", 12}},
                               .functions = names,
                               .table = &cublas,
                               .count = COUNT(names),
                               .create = create};

uf_status batched_open(void) {
    return library_open(&library) ? UF_OK
                                  : fail(UF_ERR_LIBRARY, "cuBLAS, %s\nUFUNC_CUBLAS names its file",
                                         *library.reason ? library.reason : "of which there is none for this driver");
}

bool batched_fits(const lapack_call *c) {
    bool lu = c->routine == ROUTINE_LU || c->routine == ROUTINE_LU_SOLVE || c->routine == ROUTINE_LU_INVERSE;
    return lu && c->first && c->batch > 1 && c->batch <= INT_MAX && c->n <= MOST && c->nrhs <= INT_MAX;
}

/* ROUTINE_LU_INVERSE has no place of its own for what the routine says of a matrix: of a singular one the factors have said so, and it
 * is said again in the same place (skip). */
static uf_status run(void *handle, const lapack_call *c) {
    const functions *f = &cublas.of[c->type == DT_FLOAT32     ? 0
                                    : c->type == DT_FLOAT64   ? 1
                                    : c->type == DT_COMPLEX64 ? 2
                                                              : 3];
    int n = (int)c->n, batch = (int)c->batch, *pivots = c->array[1], wrong = 0;
    TRY(status_check(cublas.set_stream(handle, c->stream), "cublasSetStream"));
    if (c->routine == ROUTINE_LU)
        return status_check(f->getrf(handle, n, c->first, n, pivots, c->info, batch), "getrfBatched");
    if (c->routine == ROUTINE_LU_SOLVE)
        return status_check(
            f->getrs(handle, OP_TRANS, n, (int)c->nrhs, c->first, n, pivots, c->third, n, &wrong, batch),
            "getrsBatched");
    return status_check(f->getri(handle, n, c->first, n, pivots, c->third, n, (int *)(uintptr_t)c->skip, batch),
                        "getriBatched");
}

uf_status batched_run(cuda_device *d, const cuda_scope *scope, const lapack_call *c) {
    library_handle *h;
    TRY(library_take(&library, d, scope, &h));
    uf_status s = run(h->handle, c);
    library_give(h);
    return s;
}
