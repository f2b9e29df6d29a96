/* lapack.c - the routines of LAPACK in OpenBLAS, by their Fortran symbols, over a batch of matrices. Each of our threads that takes part
 * has a workspace of its own. OpenBLAS runs on the thread that calls it (blas.c), so that a single matrix is factorised on one
 * thread; the right sides of one matrix are cut in blocks, which threads share. */
#include <limits.h>
#include <pthread.h>

#include "cpu/blas.h"
#include "cpu/cpu.h"
#include "cpu/lapack.h"

/* ---- The functions ---- */

/* Behind the arguments of a Fortran routine stand the lengths of those that are characters. */
typedef void fn_getrf(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);
typedef void fn_getrs(const char *trans, const int *n, const int *nrhs, const void *a, const int *lda,
                      const int *pivots, void *b, const int *ldb, int *info, size_t);
typedef void fn_getri(const int *n, void *a, const int *lda, const int *pivots, void *work, const int *lwork,
                      int *info);
typedef void fn_potrf(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);
typedef void fn_geqrf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work, const int *lwork,
                      int *info);
typedef void fn_orgqr(const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau, void *work,
                      const int *lwork, int *info);
typedef void fn_syevd(const char *jobz, const char *uplo, const int *n, void *a, const int *lda, void *w, void *work,
                      const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);
typedef void fn_heevd(const char *jobz, const char *uplo, const int *n, void *a, const int *lda, void *w, void *work,
                      const int *lwork, void *rwork, const int *lrwork, int *iwork, const int *liwork, int *info,
                      size_t, size_t);
typedef void fn_gesdd(const char *jobz, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
                      const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, int *iwork, int *info,
                      size_t);
typedef void fn_zgesdd(const char *jobz, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
                       const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, void *rwork, int *iwork,
                       int *info, size_t);

/* X(member, its name for float32, float64, complex64, complex128), NULL where there is none */
#define LAPACK_FUNCTIONS(X)                              \
    X(getrf, "sgetrf_", "dgetrf_", "cgetrf_", "zgetrf_") \
    X(getrs, "sgetrs_", "dgetrs_", "cgetrs_", "zgetrs_") \
    X(getri, "sgetri_", "dgetri_", "cgetri_", "zgetri_") \
    X(potrf, "spotrf_", "dpotrf_", "cpotrf_", "zpotrf_") \
    X(geqrf, "sgeqrf_", "dgeqrf_", "cgeqrf_", "zgeqrf_") \
    X(orgqr, "sorgqr_", "dorgqr_", "cungqr_", "zungqr_") \
    X(syevd, "ssyevd_", "dsyevd_", NULL, NULL)           \
    X(heevd, NULL, NULL, "cheevd_", "zheevd_")           \
    X(gesdd, "sgesdd_", "dgesdd_", NULL, NULL)           \
    X(zgesdd, NULL, NULL, "cgesdd_", "zgesdd_")

typedef struct functions {
#define X(member, s, d, c, z) fn_##member *member;
    LAPACK_FUNCTIONS(X)
#undef X
} functions;

static const char *const names[][LAPACK_TYPES] = {
#define X(member, s, d, c, z) {s, d, c, z},
    LAPACK_FUNCTIONS(X)
#undef X
};

static struct {
    functions of[LAPACK_TYPES]; /* by dtype, from float32 on */
    const char *absent;         /* a function that the library does not have; NULL: it has all */
} lapack;

static void bind(void) {
    for (size_t t = 0; t < LAPACK_TYPES; t++)
        for (size_t k = 0; k < COUNT(names); k++) {
            void *address = names[k][t] ? blas_symbol(names[k][t]) : NULL;
            if (names[k][t] && !address)
                lapack.absent = names[k][t];
            memcpy((char *)&lapack.of[t] + k * sizeof address, &address, sizeof address);
        }
}

uf_status lapack_open(int device) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)device;
    if (!blas_open())
        return fail(UF_ERR_LIBRARY, "%s\nUFUNC_OPENBLAS names an OpenBLAS with LAPACK", blas_missing());
    pthread_once(&once, bind);
    if (lapack.absent)
        return fail(UF_ERR_LIBRARY, "OpenBLAS has no function %s of LAPACK\nUFUNC_OPENBLAS names one that has",
                    lapack.absent);
    return UF_OK;
}

/* ---- Routines, on one matrix ---- */

/* One matrix of a batch: its part of each array. */
typedef struct matrix {
    const functions *f;
    int m, n, k, nrhs;
    size_t size; /* of an element */
    char *array[ROUTINE_ARRAYS];
    int info;
} matrix;

/* The memory that a routine works in, and how much of it there is: elements, real numbers, integers. A routine that is called with lwork
 * -1 only says, in the first element, how much it wants. */
typedef struct work_memory {
    void *work, *real;
    int *integer;
    int lwork, lreal, linteger;
} work_memory;

static const char trans[] = "T", upper[] = "U", vectors[] = "V", reduced[] = "S";

static void run_getrf(matrix *x, const work_memory *w) {
    (void)w;
    x->f->getrf(&x->n, &x->n, x->array[0], &x->n, (int *)(void *)x->array[1], &x->info);
}

static void run_getrs(matrix *x, const work_memory *w) {
    (void)w;
    x->f->getrs(trans, &x->n, &x->nrhs, x->array[0], &x->n, (int *)(void *)x->array[1], x->array[2], &x->n, &x->info,
                1);
}

static void run_getri(matrix *x, const work_memory *w) {
    if (w->lwork >= 0)
        memcpy(x->array[2], x->array[0], (size_t)x->n * (size_t)x->n * x->size);
    x->f->getri(&x->n, x->array[2], &x->n, (int *)(void *)x->array[1], w->work, &w->lwork, &x->info);
}

static void run_potrf(matrix *x, const work_memory *w) {
    (void)w;
    x->f->potrf(upper, &x->n, x->array[0], &x->n, &x->info, 1);
}

/* Between the two routines of QR, the scalars of the reflectors are kept in the memory for real numbers. */
static void run_geqrf(matrix *x, const work_memory *w) {
    x->f->geqrf(&x->m, &x->n, x->array[0], &x->m, w->real, w->work, &w->lwork, &x->info);
}

static void run_orgqr(matrix *x, const work_memory *w) {
    if (w->lwork >= 0)
        memcpy(x->array[1], x->array[0], (size_t)x->m * (size_t)x->k * x->size);
    x->f->orgqr(&x->m, &x->k, &x->k, x->array[1], &x->m, w->real, w->work, &w->lwork, &x->info);
}

static void run_eigh(matrix *x, const work_memory *w) {
    if (x->f->syevd)
        x->f->syevd(vectors, upper, &x->n, x->array[0], &x->n, x->array[1], w->work, &w->lwork, w->integer,
                    &w->linteger, &x->info, 1, 1);
    else
        x->f->heevd(vectors, upper, &x->n, x->array[0], &x->n, x->array[1], w->work, &w->lwork, w->real, &w->lreal,
                    w->integer, &w->linteger, &x->info, 1, 1);
}

static void run_svd(matrix *x, const work_memory *w) {
    if (x->f->gesdd)
        x->f->gesdd(reduced, &x->m, &x->n, x->array[0], &x->m, x->array[2], x->array[1], &x->m, x->array[3], &x->n,
                    w->work, &w->lwork, w->integer, &x->info, 1);
    else
        x->f->zgesdd(reduced, &x->m, &x->n, x->array[0], &x->m, x->array[2], x->array[1], &x->m, x->array[3], &x->n,
                     w->work, &w->lwork, w->real, w->integer, &x->info, 1);
}

/* ---- What they work on ---- */

static double no_numbers(const matrix *x) {
    (void)x;
    return 0;
}
static double scalars_of_reflectors(const matrix *x) { return 2.0 * x->k; }
static double integers_of_eigh(const matrix *x) { return 3 + 5.0 * x->n; }
static double integers_of_svd(const matrix *x) { return 8.0 * x->n; }
/* What LAPACK's documentation asks for. Only complex routines use real numbers. */
static double reals_of_eigh(const matrix *x) { return 1 + 5.0 * x->n + 2.0 * x->n * x->n; }
static double reals_of_svd(const matrix *x) {
    double m = x->m, n = x->n, some = 5 * n * n + 5 * n, others = 2 * m * n + 2 * n * n + n;
    return some > others ? some : others;
}

enum {
    RUNS = 2,
    RHS_BLOCK = 256 /* right sides in a unit of work */
};

static const struct {
    void (*run[RUNS])(matrix *x, const work_memory *w);
    bool asks; /* they say how much memory they want */
    double (*reals)(const matrix *x);
    double (*integers)(const matrix *x);
} routines[LAPACK_ROUTINES] = {
    [ROUTINE_LU] = {{run_getrf}, false, no_numbers, no_numbers},
    [ROUTINE_LU_SOLVE] = {{run_getrs}, false, no_numbers, no_numbers},
    [ROUTINE_LU_INVERSE] = {{run_getri}, true, no_numbers, no_numbers},
    [ROUTINE_CHOLESKY] = {{run_potrf}, false, no_numbers, no_numbers},
    [ROUTINE_QR] = {{run_geqrf, run_orgqr}, true, scalars_of_reflectors, no_numbers},
    [ROUTINE_EIGH] = {{run_eigh}, true, reals_of_eigh, integers_of_eigh},
    [ROUTINE_SVD] = {{run_svd}, true, reals_of_svd, integers_of_svd},
};

/* ---- Batches ---- */

typedef struct batch {
    const lapack_call *c;
    matrix whole;         /* its arrays are those of the batch */
    int64_t blocks;       /* of right sides; else 1 */
    int64_t units, parts; /* matrices times blocks, and the pieces that threads take */
    work_memory sizes;
    size_t bytes; /* of the memory of a part */
    char *memory;
} batch;

/* Does a routine, on one matrix or block, and notes that there is no result. */
static void unit_run(const batch *b, int64_t unit, const work_memory *w) {
    const lapack_call *c = b->c;
    int64_t at = unit / b->blocks, block = unit % b->blocks;
    matrix x = b->whole;
    if (c->skip && c->skip[at])
        return;
    for (int i = 0; i < ROUTINE_ARRAYS && x.array[i]; i++)
        x.array[i] += (size_t)at * lapack_bytes(c, i);
    if (b->blocks > 1) {
        int64_t left = c->nrhs - block * RHS_BLOCK;
        x.array[2] += (size_t)(block * RHS_BLOCK * x.n) * x.size;
        x.nrhs = left < RHS_BLOCK ? (int)left : RHS_BLOCK;
    }
    for (int i = 0; i < RUNS && routines[c->routine].run[i]; i++)
        routines[c->routine].run[i](&x, w);
    if (c->info)
        c->info[at] = x.info;
}

static void part_run(void *user, int64_t k) {
    const batch *b = user;
    char *memory = b->memory + (size_t)k * b->bytes;
    work_memory w = b->sizes;
    w.work = memory;
    w.real = memory + (size_t)w.lwork * b->whole.size;
    w.integer = (int *)(void *)((char *)w.real + (size_t)w.lreal * sizeof(double));
    blas_enter();
    for (int64_t unit = b->units * k / b->parts; unit < b->units * (k + 1) / b->parts; unit++)
        unit_run(b, unit, &w);
    blas_leave();
}

/* Asks the routines how much memory they want. False: more than a routine can be told of. */
static bool work_ask(batch *b) {
    double first[2] = {0}, wanted = 1, real, more;
    int integer;
    const bool is_float = b->c->type == DT_FLOAT32 || b->c->type == DT_COMPLEX64;
    real = routines[b->c->routine].reals(&b->whole);
    more = routines[b->c->routine].integers(&b->whole);
    if (real >= INT_MAX || more >= INT_MAX)
        return false;
    work_memory w = {first, &first[1], &integer, -1, (int)real + 1, (int)more + 1};
    for (int i = 0; i < RUNS && routines[b->c->routine].asks && routines[b->c->routine].run[i]; i++) {
        matrix x = b->whole;
        blas_enter();
        routines[b->c->routine].run[i](&x, &w);
        blas_leave();
        float said;
        memcpy(&said, first, sizeof said);
        double n = is_float ? (double)said : first[0];
        wanted = n > wanted ? n : wanted;
    }
    wanted += 1 + wanted * 0x1p-22; /* float32 may have rounded it down */
    b->sizes = (work_memory){.lwork = wanted < INT_MAX ? (int)wanted : 0, .lreal = w.lreal, .linteger = w.linteger};
    return wanted < INT_MAX;
}

static uf_status too_large(const lapack_call *c) {
    return fail(UF_ERR_SHAPE, "matrices of %lld by %lld are too large for LAPACK, which counts in 32 bits",
                (long long)c->m, (long long)c->n);
}

static uf_status batch_begin(const lapack_call *c, batch *b) {
    if (c->m > INT_MAX || c->n > INT_MAX)
        return too_large(c);
    int64_t nrhs = c->nrhs < RHS_BLOCK ? c->nrhs : RHS_BLOCK;
    *b = (batch){.c = c, .blocks = 1};
    b->whole = (matrix){.f = &lapack.of[lapack_type(c->type)],
                        .m = (int)c->m,
                        .n = (int)c->n,
                        .k = (int)(c->m < c->n ? c->m : c->n),
                        .nrhs = (int)nrhs,
                        .size = dtypes[c->type].size};
    for (int i = 0; i < ROUTINE_ARRAYS; i++)
        b->whole.array[i] = c->array[i];
    if (c->routine == ROUTINE_LU_SOLVE)
        b->blocks = (c->nrhs + RHS_BLOCK - 1) / RHS_BLOCK;
    if (!work_ask(b))
        return too_large(c);
    int64_t threads = !blas_shared() ? 1 : c->threads ? c->threads : cpu_count();
    b->units = c->batch * b->blocks;
    b->parts = b->units < threads ? b->units : threads;
    size_t bytes = (size_t)b->sizes.lwork * b->whole.size + (size_t)b->sizes.lreal * sizeof(double) +
                   (size_t)b->sizes.linteger * sizeof(int);
    b->bytes = (bytes + 63) / 64 * 64;
    b->memory = mem_alloc((size_t)b->parts * b->bytes);
    return b->memory ? UF_OK : fail_memory();
}

static uf_status batch_run(void *user) {
    const lapack_call *c = user;
    batch b;
    TRY(batch_begin(c, &b));
    pool_run((int)b.parts, b.parts, part_run, &b);
    mem_free(b.memory);
    return UF_OK;
}

uf_status cpu_lapack_run(const lapack_call *c) { return cpu_default_mode(batch_run, (void *)(uintptr_t)c); }

/* ---- The choice ---- */

/* Rows from which a matrix goes to LAPACK, though the generated code would take it. Only solve, inv and cholesky were measured beside it;
 * where the number is 17, the catalogue's kernels take no more than 16 rows. */
static const int pays_from[LAPACK_FORMS] = {
    [LAPACK_SOLVE] = 17, [LAPACK_SOLVE_MATRIX] = 17, [LAPACK_INV] = 17, [LAPACK_DET] = 17,  [LAPACK_CHOLESKY] = 32,
    [LAPACK_QR] = 8,     [LAPACK_EIGH] = 8,          [LAPACK_SVD] = 8,  [LAPACK_LSTSQ] = 8,
};

bool lapack_pays(const lapack_problem *p) { return (p->m > p->n ? p->m : p->n) >= pays_from[p->form]; }
