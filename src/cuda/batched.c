/* batched.c - LU factors, their equations and inverses for batches of small matrices, all at once, by cuBLAS. It takes a list of the
 * matrices' addresses, in memory of the device, and works on 32-bit pivots, as cuSOLVER does. */
#include <limits.h>

#include "cuda/cublas.h"
#include "cuda/cusolver.h"

enum {
    /* With more rows a matrix keeps the device busy by itself. */
    MOST = 256
};

bool batched_fits(const lapack_call *c) {
    bool lu = c->routine == ROUTINE_LU || c->routine == ROUTINE_LU_SOLVE || c->routine == ROUTINE_LU_INVERSE;
    return lu && c->first && c->batch > 1 && c->batch <= INT_MAX && c->n <= MOST && c->nrhs <= INT_MAX;
}

#define ROUTINE(member, ...)                                                     \
    do {                                                                         \
        int cublas_status = cublas.of[lapack_type(c->type)].member(__VA_ARGS__); \
        if (cublas_status)                                                       \
            return cublas_fail(cublas_status, "cublas<t>" #member "Batched");    \
    } while (0)

/* ROUTINE_LU_INVERSE has no place of its own for what the routine says of a matrix: of a singular one the factors have said so, and it
 * is said again in the same place (skip). */
static uf_status run(void *handle, const lapack_call *c) {
    int n = (int)c->n, batch = (int)c->batch, *pivots = c->array[1], wrong = 0;
    if (c->routine == ROUTINE_LU)
        ROUTINE(getrf, handle, n, c->first, n, pivots, c->info, batch);
    else if (c->routine == ROUTINE_LU_SOLVE)
        ROUTINE(getrs, handle, CUBLAS_OP_TRANS, n, (int)c->nrhs, c->first, n, pivots, c->third, n, &wrong, batch);
    else
        ROUTINE(getri, handle, n, c->first, n, pivots, c->third, n, (int *)(uintptr_t)c->skip, batch);
    return UF_OK;
}

uf_status batched_run(cuda_device *d, const cuda_scope *scope, const lapack_call *c) {
    library_handle *h;
    TRY(library_take(&cublas_library, d, scope, &h));
    uf_status s = cublas_tell(h, c->stream, 0, NULL, 0, CUBLAS_MATH_NO_REDUCED_SUMS);
    s = s ? s : run(h->handle, c);
    library_give(h);
    return s;
}
