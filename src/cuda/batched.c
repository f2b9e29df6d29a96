/* batched.c - LU factors, their equations and inverses, and QR's reflectors, for batches of small matrices, all at once, by cuBLAS.
 * It takes a list of the matrices' addresses, in memory of the device, and works on 32-bit pivots, as cuSOLVER does. */
#include <limits.h>

#include "cuda/cublas.h"
#include "cuda/cusolver.h"

/* Up to so many rows a batch is computed at once if each matrix of it has no more than `each` rows for it: a routine takes about as
 * long for one matrix as for some hundreds, and with more rows one matrix keeps the device busy by itself. Measured on an H200,
 * float32, in microseconds: getrf 36, 105, 356, 1260, 7170 at 32, 64, 128, 256, 512 rows, beside 55, 97, 184, 374, 839 for each
 * matrix by cuSOLVER; getri 31, 98, 513, 2750, 19160, beside getrs with 23, 40, 86, 233, 477; getrs 35, 64, 230, 287, 620 beside
 * 28, 34, 51, 84, 152, with as many right sides as rows 63, 118, 1890, 1750, 10900 beside 23, 40, 86, 232, 477. Those are of the transposed
 * matrices' factors; with the matrices' own, getrs for inverses takes 240, 308, 404 for 1024, 256, 64 matrices of 64, 128, 256 rows on an
 * H100, where getri takes 225, 511, 2783: from INVERT_BY_SOLVING rows on it is taken. */
static const struct {
    int most, each;
} limits[LAPACK_ROUTINES] = {
    [ROUTINE_LU] = {256, 64},
    [ROUTINE_LU_SOLVE] = {256, 32},
    [ROUTINE_LU_INVERSE] = {256, 32},
};

enum {
    INVERT_BY_SOLVING = 65
};

/* Of these, too: geqrf takes 269, 1072, 3290, 7350, 35000 at 32, 64, 96, 128, 256 rows, beside 52, 172, 357, 672, 607 and besides
 * 50 to 165 for making Q. */
enum {
    REFLECTORS_MOST = 128,
    REFLECTORS_FROM = 8
};

bool batched_reflects(const lapack_problem *p) {
    int64_t rows = p->m > p->n ? p->m : p->n;
    return rows <= REFLECTORS_MOST && p->batch >= REFLECTORS_FROM && p->batch <= INT_MAX;
}

bool batched_fits(const lapack_call *c) {
    if (c->routine == ROUTINE_REFLECTORS)
        return true;
    return c->first && c->batch > 1 && c->batch <= INT_MAX && c->nrhs <= INT_MAX && c->n <= limits[c->routine].most &&
           c->batch * limits[c->routine].each >= c->n;
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
    bool solves = c->routine == ROUTINE_LU_INVERSE && n >= INVERT_BY_SOLVING;
    if (solves)
        TRY(cusolver_units(c, c->array[2], c->batch));
    if (c->routine == ROUTINE_REFLECTORS)
        ROUTINE(geqrf, handle, (int)c->m, n, c->first, (int)c->m, c->third, &wrong, batch);
    else if (c->routine == ROUTINE_LU)
        ROUTINE(getrf, handle, n, c->first, n, pivots, c->info, batch);
    else if (c->routine == ROUTINE_LU_SOLVE)
        ROUTINE(getrs, handle, CUBLAS_OP_TRANS, n, (int)c->nrhs, c->first, n, pivots, c->third, n, &wrong, batch);
    else if (solves)
        ROUTINE(getrs, handle, CUBLAS_OP_NONE, n, n, c->first, n, pivots, c->third, n, &wrong, batch);
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
