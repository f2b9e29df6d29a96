/* test_cusolver.c - routines of linear algebra by cuSOLVER and cuBLAS, against the mock driver and a mock of both that computes by
 * LAPACK: results beside those of the CPU's engine, on which stream, captures, every failure, and where the libraries are missing. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cpu/lapack.h"
#include "cuda/code.h"
#include "cuda/cusolver.h"
#include "cuda/library.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "mock/mockcublas.h"
#include "mock/mockcusolver.h"
#include "mock_child.h"

static const dtype types[] = {DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};

enum {
    TYPES = COUNT(types),
    MOST = 40, /* rows */
    BATCH = 3,
    RHS = 5,
    LARGE = 257, /* rows of one matrix of float64 */
    BYTES = LARGE * LARGE * 8
};
static void *const stream = (void *)0x55;

static char solver_path[4096], blas_path[4096]; /* beside the mock driver */
static const mock_cusolver *solver;
static const mock_cublas *blas;

/* What a mock's function of that name returns. */
static const void *control_of(const char *path, const char *name) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    const void *(*control)(void);
    *(void **)&control = dlsym(handle, name);
    CHECK(control);
    return control();
}

static void use_solver(void) {
    CHECK(setenv("UFUNC_CUSOLVER", solver_path, 1) == 0 && setenv("UFUNC_CUBLAS", blas_path, 1) == 0);
    solver = control_of(solver_path, "mock_cusolver_control");
    blas = control_of(blas_path, "mock_cublas_control");
    CHECK(!cusolver_open(0) && !lapack_open(0));
}

/* Calls of a function of either library. */
static int count(const char *function) { return solver->count(function) + blas->count(function); }

/* Every call of it fails from now on; NULL: none. */
static void fail_calls(const char *function, int status) {
    bool of_blas = function && !strncmp(function, "cublas", 6);
    solver->fail_name(of_blas ? NULL : function, status);
    blas->fail_name(of_blas ? function : NULL, status);
}

/* ---- Problems ---- */

/* The arrays of a routine's call; those of two engines begin with the same bytes. */
typedef struct arrays {
    _Alignas(16) char data[ROUTINE_ARRAYS][BYTES];
    int32_t info[BATCH];
    void *first[BATCH], *third[BATCH];
} arrays;

static arrays ours, theirs;

static double get(dtype type, const char *at, int64_t i) {
    return dtypes[dtypes[type].component].size == 4 ? (double)((const float *)(const void *)at)[i]
                                                    : ((const double *)(const void *)at)[i];
}

static void put(dtype type, char *at, int64_t i, double v) {
    if (dtypes[dtypes[type].component].size == 4)
        ((float *)(void *)at)[i] = (float)v;
    else
        ((double *)(void *)at)[i] = v;
}

static int components(dtype type) { return dtype_is_complex(type) ? 2 : 1; }

/* Numbers in an array of the dtype; of square matrices the diagonal is large, so that they are positive definite, and real. */
static void fill(dtype type, char *at, int64_t count, int64_t rows) {
    int n = components(type);
    for (int64_t i = 0; i < count; i++) {
        bool diagonal = rows && i % (rows * rows) % (rows + 1) == 0;
        put(type, at, i * n, (diagonal ? 4.0 * (double)rows : 0) + (double)pick(-100, 100) / 100);
        if (n == 2)
            put(type, at, i * n + 1, diagonal ? 0 : (double)pick(-100, 100) / 100);
    }
}

static lapack_call call_of(lapack_routine routine, dtype type, int64_t m, int64_t n, int64_t batch, arrays *a,
                           bool lists) {
    lapack_call c = {.routine = routine,
                     .type = type,
                     .m = m,
                     .n = n,
                     .nrhs = RHS,
                     .batch = batch,
                     .info = a->info,
                     .stream = stream};
    for (int i = 0; i < ROUTINE_ARRAYS; i++)
        c.array[i] = lapack_bytes(&c, i) ? a->data[i] : NULL;
    for (int64_t i = 0; i < batch; i++) {
        a->first[i] = a->data[0] + (size_t)i * lapack_bytes(&c, 0);
        a->third[i] = a->data[2] + (size_t)i * lapack_bytes(&c, 2);
    }
    c.first = lists ? a->first : NULL;
    c.third = lists ? a->third : NULL;
    return c;
}

/* The calls that make the arrays of a routine: it, or before it the LU factors. */
static uf_status routine_run(uf_status (*run)(const lapack_call *), lapack_routine routine, dtype type, int64_t m,
                             int64_t n, int64_t batch, arrays *a, bool lists) {
    bool factors = routine == ROUTINE_LU_SOLVE || routine == ROUTINE_LU_INVERSE;
    if (factors) {
        const lapack_call before = call_of(ROUTINE_LU, type, m, n, batch, a, lists);
        TRY(run(&before));
    }
    lapack_call c = call_of(routine, type, m, n, batch, a, lists);
    if (factors) {
        c.info = NULL;
        c.skip = routine == ROUTINE_LU_INVERSE ? a->info : NULL;
    }
    return run(&c);
}

static void begin(dtype type, int64_t m, int64_t n) {
    memset(&ours, 0, sizeof ours);
    int64_t batch = n < LARGE ? BATCH : 1;
    fill(type, ours.data[0], batch * m * n, m == n ? n : 0);
    fill(type, ours.data[2], batch * n * RHS, 0);
    theirs = ours;
}

static double tolerance(dtype type) { return dtypes[dtypes[type].component].size == 4 ? 2e-3 : 1e-11; }

/* Is array i of both the same, but for rounding? */
static bool alike(const lapack_call *c, int i) {
    dtype type = c->type;
    int64_t bytes = (int64_t)lapack_bytes(c, i) * c->batch;
    if (c->routine <= ROUTINE_LU_INVERSE && i == 1)
        return !memcmp(ours.data[i], theirs.data[i], (size_t)bytes);
    for (int64_t k = 0; k < bytes / dtypes[dtypes[type].component].size; k++)
        if (!(fabs(get(type, ours.data[i], k) - get(type, theirs.data[i], k)) <= tolerance(type)))
            return false;
    return true;
}

/* n: 0: m */
static void compare(lapack_routine routine, dtype type, int64_t m, int64_t n, int64_t batch, bool lists) {
    n = n ? n : m;
    begin(type, m, n);
    CHECK(!routine_run(cusolver_run, routine, type, m, n, batch, &ours, lists));
    CHECK(solver->stream() == stream || blas->stream() == stream);
    CHECK(!routine_run(cpu_lapack_run, routine, type, m, n, batch, &theirs, false));
    const lapack_call c = call_of(routine, type, m, n, batch, &ours, lists);
    for (int i = 0; i < ROUTINE_ARRAYS; i++) {
        bool destroyed = !i && routine == ROUTINE_LU_INVERSE;
        if (!(destroyed || alike(&c, i)))
            fprintf(stderr, "routine %d, %s, %lld by %lld, batch %lld, array %d\n", (int)routine, dtypes[type].name,
                    (long long)m, (long long)n, (long long)batch, i);
        CHECK(destroyed || alike(&c, i));
    }
    CHECK(!memcmp(ours.info, theirs.info, sizeof ours.info));
}

/* U S V^H, which signs do not change, is the matrix that was. */
static void svd_is_right(lapack_routine routine, dtype type, int64_t m, int64_t n, int64_t batch) {
    int p = components(type);
    begin(type, m, n);
    CHECK(!routine_run(cusolver_run, routine, type, m, n, batch, &ours, false));
    const lapack_call c = call_of(routine, type, m, n, batch, &ours, false);
    for (int64_t b = 0; b < batch; b++) {
        const char *a = theirs.data[0] + (size_t)b * lapack_bytes(&c, 0),
                   *u = ours.data[1] + (size_t)b * lapack_bytes(&c, 1),
                   *s = ours.data[2] + (size_t)b * lapack_bytes(&c, 2),
                   *v = ours.data[3] + (size_t)b * lapack_bytes(&c, 3);
        CHECK(!ours.info[b]);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double re = 0, im = 0;
                for (int64_t k = 0; k < n; k++) {
                    int64_t at = routine == ROUTINE_SVD ? k + j * n : j + k * n;
                    double size = get(type, s, k), x = get(type, u, (i + k * m) * p), y = get(type, v, at * p);
                    double xi = p == 2 ? get(type, u, (i + k * m) * p + 1) : 0,
                           yi = p == 2 ? (routine == ROUTINE_SVD ? 1 : -1) * get(type, v, at * p + 1) : 0;
                    re += size * (x * y - xi * yi);
                    im += size * (x * yi + xi * y);
                }
                CHECK(fabs(re - get(type, a, (i + j * m) * p)) < tolerance(type));
                CHECK(p == 1 || fabs(im - get(type, a, (i + j * m) * p + 1)) < tolerance(type));
            }
    }
}

/* The reflectors are LAPACK's, which QR by LAPACK leaves behind. */
static void reflectors_are_right(dtype type, int64_t m, int64_t n) {
    begin(type, m, n);
    CHECK(!routine_run(cusolver_run, ROUTINE_REFLECTORS, type, m, n, BATCH, &ours, true));
    CHECK(blas->stream() == stream);
    CHECK(!routine_run(cpu_lapack_run, ROUTINE_QR, type, m, n, BATCH, &theirs, false));
    const lapack_call c = call_of(ROUTINE_REFLECTORS, type, m, n, BATCH, &ours, true);
    CHECK(alike(&c, 0));
}

/* ---- Tests ---- */

static void routines_body(void *unused) {
    (void)unused;
    draw_seed(NULL);
    use_solver();
    for (size_t t = 0; t < TYPES; t++)
        for (int r = 0; r < ROUTINE_SVD; r++)
            for (int64_t batch = 1; batch <= BATCH; batch++) {
                int64_t n = pick(1, 30), m = r == ROUTINE_QR ? n + pick(0, 10) : n;
                compare((lapack_routine)r, types[t], m, n, batch, false);
                compare((lapack_routine)r, types[t], m, n, batch, true);
                if (r == ROUTINE_QR)
                    compare((lapack_routine)r, types[t], n, m, batch, false);
            }
    for (size_t t = 0; t < TYPES; t++) /* inverses by solving */
        compare(ROUTINE_LU_INVERSE, types[t], pick(65, 80), 0, BATCH, true);
    for (size_t t = 0; t < TYPES; t++)
        for (int64_t batch = 1; batch <= BATCH; batch++) {
            int64_t n = pick(1, 32), m = pick(n, 32), columns = pick(1, MOST);
            CHECK(cusolver_svd(m, n) == ROUTINE_SVD_SQUARE && cusolver_svd(33, n) == ROUTINE_SVD);
            svd_is_right(ROUTINE_SVD_SQUARE, types[t], m, n, batch);
            svd_is_right(ROUTINE_SVD, types[t], pick(columns, MOST), columns, batch);
            compare(ROUTINE_EIGH, types[t], pick(33, MOST), 0, batch, false);
            reflectors_are_right(types[t], pick(1, MOST), pick(1, MOST));
        }
}

/* Batches of small matrices are one call; others are a call each. Handles and settings are made once, and sizes of workspaces asked once. */
static void batches_body(void *unused) {
    (void)unused;
    use_solver();
    begin(DT_FLOAT64, 8, 8);
    CHECK(!routine_run(cusolver_run, ROUTINE_LU_SOLVE, DT_FLOAT64, 8, 8, BATCH, &ours, true));
    CHECK(count("cublasDgetrfBatched") == 1 && count("cublasDgetrsBatched") == 1);
    CHECK(count("cusolverDnDgetrf") == 0);
    CHECK(!routine_run(cusolver_run, ROUTINE_LU, DT_FLOAT64, 8, 8, 1, &ours, true));
    CHECK(!routine_run(cusolver_run, ROUTINE_LU, DT_FLOAT64, 8, 8, BATCH, &ours, false));
    CHECK(count("cusolverDnDgetrf") == 1 + BATCH);
    CHECK(!routine_run(cusolver_run, ROUTINE_CHOLESKY, DT_FLOAT32, 8, 8, BATCH, &ours, true));
    CHECK(count("cusolverDnSpotrfBatched") == 1 && count("cusolverDnSpotrf") == 0);
    CHECK(!routine_run(cusolver_run, ROUTINE_EIGH, DT_COMPLEX64, 8, 8, BATCH, &ours, true));
    CHECK(count("cusolverDnCheevjBatched") == 1);
    CHECK(!routine_run(cusolver_run, ROUTINE_SVD_SQUARE, DT_FLOAT64, 8, 8, BATCH, &ours, false));
    CHECK(!routine_run(cusolver_run, ROUTINE_SVD_SQUARE, DT_FLOAT64, 8, 8, BATCH, &ours, false));
    CHECK(count("cusolverDnDgesvdjBatched") == 2 && count("cusolverDnCreateGesvdjInfo") == 1);
    CHECK(count("cusolverDnDgesvdjBatched_bufferSize") == 2); /* of one matrix, and of the batch */
    for (int64_t n = 9; n < 9 + LIBRARY_WORKSPACES; n++)
        CHECK(!routine_run(cusolver_run, ROUTINE_SVD_SQUARE, DT_FLOAT64, n, n, BATCH, &ours, false));
    CHECK(!routine_run(cusolver_run, ROUTINE_SVD_SQUARE, DT_FLOAT64, 9, 9, BATCH, &ours, false)); /* forgotten */
    CHECK(count("cusolverDnDgesvdjBatched_bufferSize") == 2 * (2 + LIBRARY_WORKSPACES));
    CHECK(!routine_run(cusolver_run, ROUTINE_REFLECTORS, DT_FLOAT64, 8, 8, BATCH, &ours, true));
    CHECK(count("cublasDgeqrfBatched") == 1);
    CHECK(count("cusolverDnCreateSyevjInfo") == 1);
    CHECK(count("cusolverDnCreate") == 1 && count("cublasCreate_v2") == 1);
}

/* What takes a batch of larger matrices at once pays from so many matrices on, which is a matter of sizes alone. */
static void limits_body(void *unused) {
    (void)unused;
    use_solver();
    begin(DT_FLOAT64, 40, 40);
    CHECK(!routine_run(cusolver_run, ROUTINE_EIGH, DT_FLOAT64, 40, 40, 1, &ours, false));
    CHECK(count("cusolverDnXsyevBatched") == 1 && count("cusolverDnCreateParams") == 1);
    CHECK(!count("cusolverDnDsyevd") && !count("cusolverDnDsyevjBatched"));
    lapack_call c = call_of(ROUTINE_LU, DT_FLOAT64, 256, 256, 2, &ours, true);
    CHECK(!batched_fits(&c));
    c.batch = 4;
    CHECK(batched_fits(&c));
    c.routine = ROUTINE_LU_INVERSE;
    CHECK(!batched_fits(&c));
    c.batch = 13;
    CHECK(batched_fits(&c));
    c.n = c.m = 257;
    CHECK(!batched_fits(&c));
    lapack_problem p = {LAPACK_QR, DT_FLOAT64, 128, 20, 1, 8};
    CHECK(batched_reflects(&p));
    p.batch = 7;
    CHECK(!batched_reflects(&p));
    p.batch = 8, p.n = 129;
    CHECK(!batched_reflects(&p));
}

/* A batch whose workspace would be too large is cut: 64 matrices of the mock's 4 MiB, and the rest. */
static void parts_body(void *unused) {
    enum {
        MATRICES = 130,
        N = 33
    };
    static double a[MATRICES * N * N], values[MATRICES * N];
    static int32_t info[MATRICES];
    (void)unused;
    use_solver();
    for (int k = 0; k < MATRICES; k++)
        for (int i = 0; i < N; i++)
            a[(k * N + i) * N + i] = k + 1;
    const lapack_call c = {.routine = ROUTINE_EIGH,
                           .type = DT_FLOAT64,
                           .m = N,
                           .n = N,
                           .batch = MATRICES,
                           .array = {a, values},
                           .info = info,
                           .stream = stream};
    memset(info, 0xff, sizeof info);
    CHECK(!cusolver_run(&c));
    CHECK(count("cusolverDnXsyevBatched") == 3);
    for (int k = 0; k < MATRICES; k++)
        CHECK(!info[k] && fabs(values[k * N] - (k + 1)) < 1e-9 && fabs(values[k * N + N - 1] - (k + 1)) < 1e-9);
}

/* A matrix that has no inverse, or no Cholesky factor, is told by `info`, and the others of the batch are computed. */
static void told_body(void *unused) {
    (void)unused;
    use_solver();
    for (int lists = 0; lists < 2; lists++) {
        begin(DT_FLOAT64, 4, 4);
        memset(ours.data[0] + 16 * sizeof(double), 0, 16 * sizeof(double));
        CHECK(!routine_run(cusolver_run, ROUTINE_LU, DT_FLOAT64, 4, 4, BATCH, &ours, lists));
        CHECK(!ours.info[0] && ours.info[1] == 1 && !ours.info[2]);
        begin(DT_FLOAT64, 4, 4);
        put(DT_FLOAT64, ours.data[0], 16 + 5, -1);
        CHECK(!routine_run(cusolver_run, ROUTINE_CHOLESKY, DT_FLOAT64, 4, 4, BATCH, &ours, lists));
        CHECK(!ours.info[0] && ours.info[1] == 2 && !ours.info[2]);
    }
}

static void failures_body(void *unused) {
    static const struct {
        const char *function, *says;
        lapack_routine routine;
        bool lists;
        int n; /* 0: 8 */
    } cases[] = {
        {"cusolverDnDgetrf_bufferSize", "cuSOLVER's getrf_size: status 7", ROUTINE_LU, false, 0},
        {"cusolverDnDgetrf", "cuSOLVER's getrf: status 7", ROUTINE_LU, false, 0},
        {"cusolverDnDgetrs", "cuSOLVER's getrs: status 7", ROUTINE_LU_SOLVE, false, 0},
        {"cusolverDnDgetrs", "cuSOLVER's getrs: status 7", ROUTINE_LU_INVERSE, false, 0},
        {"cusolverDnDpotrf_bufferSize", "cuSOLVER's potrf_size: status 7", ROUTINE_CHOLESKY, false, 0},
        {"cusolverDnDpotrf", "cuSOLVER's potrf: status 7", ROUTINE_CHOLESKY, false, 0},
        {"cusolverDnDpotrfBatched", "cuSOLVER's potrf_batched: status 7", ROUTINE_CHOLESKY, true, 0},
        {"cusolverDnDgeqrf_bufferSize", "cuSOLVER's geqrf_size: status 7", ROUTINE_QR, false, 0},
        {"cusolverDnDgeqrf", "cuSOLVER's geqrf: status 7", ROUTINE_QR, false, 0},
        {"cusolverDnDorgqr_bufferSize", "cuSOLVER's orgqr_size: status 7", ROUTINE_QR, false, 9},
        {"cusolverDnDorgqr", "cuSOLVER's orgqr: status 7", ROUTINE_QR, false, 0},
        {"cusolverDnDsyevd_bufferSize", "cuSOLVER's syevd_size: status 7", ROUTINE_EIGH, false, 257},
        {"cusolverDnDsyevd", "cuSOLVER's syevd: status 7", ROUTINE_EIGH, false, 257},
        {"cusolverDnCreateSyevjInfo", "cuSOLVER's settings_create: status 7", ROUTINE_EIGH, false, 0},
        {"cusolverDnDsyevjBatched_bufferSize", "cuSOLVER's syevj_size: status 7", ROUTINE_EIGH, true, 0},
        {"cusolverDnDsyevjBatched", "cuSOLVER's syevj: status 7", ROUTINE_EIGH, true, 0},
        {"cusolverDnCreateParams", "cuSOLVER's settings_create: status 7", ROUTINE_EIGH, false, 33},
        {"cusolverDnXsyevBatched_bufferSize", "cuSOLVER's syev_size: status 7", ROUTINE_EIGH, true, 33},
        {"cusolverDnXsyevBatched", "cuSOLVER's syev: status 7", ROUTINE_EIGH, true, 33},
        {"cusolverDnCreateGesvdjInfo", "cuSOLVER's settings_create: status 7", ROUTINE_SVD_SQUARE, false, 0},
        {"cusolverDnDgesvdjBatched_bufferSize", "cuSOLVER's gesvdj_size: status 7", ROUTINE_SVD_SQUARE, true, 0},
        {"cusolverDnDgesvdjBatched", "cuSOLVER's gesvdj: status 7", ROUTINE_SVD_SQUARE, true, 0},
        {"cusolverDnDgesvd_bufferSize", "cuSOLVER's gesvd_size: status 7", ROUTINE_SVD, true, 0},
        {"cusolverDnDgesvd", "cuSOLVER's gesvd: status 7", ROUTINE_SVD, true, 0},
        {"cublasDgeqrfBatched", "cublas<t>geqrfBatched: CUBLAS_STATUS_MOCK_7 (7)", ROUTINE_REFLECTORS, true, 0},
        {"cusolverDnSetStream", "cuSOLVER's set_stream: status 7", ROUTINE_LU, false, 0},
        {"cublasSetStream_v2", "cublasSetStream_v2: CUBLAS_STATUS_MOCK_7 (7)", ROUTINE_LU, true, 0},
        {"cublasDgetrfBatched", "cublas<t>getrfBatched: CUBLAS_STATUS_MOCK_7 (7)", ROUTINE_LU, true, 0},
        {"cublasDgetrsBatched", "cublas<t>getrsBatched: CUBLAS_STATUS_MOCK_7 (7)", ROUTINE_LU_SOLVE, true, 0},
        {"cublasDgetriBatched", "cublas<t>getriBatched: CUBLAS_STATUS_MOCK_7 (7)", ROUTINE_LU_INVERSE, true, 0},
        {"cublasDgetrsBatched", "cublas<t>getrsBatched: CUBLAS_STATUS_MOCK_7 (7)", ROUTINE_LU_INVERSE, true, 65},
    };
    (void)unused;
    use_solver();
    fail_calls("cusolverDnCreate", 2);
    CHECK_FAILS(routine_run(cusolver_run, ROUTINE_LU, DT_FLOAT64, 8, 8, 1, &ours, false), UF_ERR_MEMORY,
                "create: status 2");
    fail_calls("cublasCreate_v2", 3);
    CHECK_FAILS(routine_run(cusolver_run, ROUTINE_LU, DT_FLOAT64, 8, 8, 2, &ours, true), UF_ERR_MEMORY,
                "cublasCreate_v2: CUBLAS_STATUS_MOCK_3 (3)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        int n = cases[i].n ? cases[i].n : 8, batch = cases[i].lists ? BATCH : 1;
        for (int fails = 1; fails >= 0; fails--) {
            begin(DT_FLOAT64, n, n);
            fail_calls(fails ? cases[i].function : NULL, 7);
            uf_status s = routine_run(cusolver_run, cases[i].routine, DT_FLOAT64, n, n, batch, &ours, cases[i].lists);
            CHECK(fails ? s == UF_ERR_DEVICE && strstr(error_slot()->message, cases[i].says) : !s);
        }
    }
    CHECK(count("cusolverDnCreate") == 2 && count("cublasCreate_v2") == 2); /* handles were given back */
}

/* Each driver call fails once; nothing is lost. */
static void each_driver_call_fails(lapack_routine r, int n, int batch, bool lists) {
    begin(DT_FLOAT64, n, n);
    CHECK(!routine_run(cusolver_run, r, DT_FLOAT64, n, n, batch, &ours, lists));
    for (int nth = 1, done = 0; !done && nth < 100; nth++) {
        begin(DT_FLOAT64, n, n);
        mock->fail_at(nth, 999);
        uf_status s = routine_run(cusolver_run, r, DT_FLOAT64, n, n, batch, &ours, lists);
        done = !mock->failed();
        mock->fail_at(0, 0);
        CHECK(done ? !s : s == UF_ERR_DEVICE || !s);
    }
    CHECK(mock->live().depth == 0);
}

static void driver_body(void *unused) {
    (void)unused;
    use_solver();
    for (int r = 0; r < LAPACK_ROUTINES; r++)
        each_driver_call_fails((lapack_routine)r, 8, 1, r == ROUTINE_REFLECTORS);
    each_driver_call_fails(ROUTINE_LU_INVERSE, 65, BATCH, true);
    CHECK(count("cusolverDnCreate") == 1);
}

static void capture_body(void *unused) {
    (void)unused;
    use_solver();
    begin(DT_FLOAT64, 8, 8);
    mock->capture(1);
    CHECK(!routine_run(cusolver_run, ROUTINE_LU, DT_FLOAT64, 8, 8, 1, &ours, false));
    CHECK(!routine_run(cusolver_run, ROUTINE_EIGH, DT_FLOAT64, 8, 8, 1, &ours, false));
    CHECK(!routine_run(cusolver_run, ROUTINE_EIGH, DT_FLOAT64, 34, 34, 1, &ours, false));
    CHECK(count("cusolverDnXsyevBatched") == 1 && mock->count("cuStreamSynchronize") == 0);
    CHECK_FAILS(routine_run(cusolver_run, ROUTINE_EIGH, DT_FLOAT64, 40, 40, 1, &ours, false), UF_ERR_DEVICE,
                "cuSOLVER's XsyevBatched, which is for matrices of 40 by 40, waits on the host");
    CHECK(!routine_run(cusolver_run, ROUTINE_SVD_SQUARE, DT_FLOAT64, 32, 8, 2, &ours, false));
    CHECK(!routine_run(cusolver_run, ROUTINE_REFLECTORS, DT_FLOAT64, 8, 8, 2, &ours, true));
    CHECK_FAILS(routine_run(cusolver_run, ROUTINE_EIGH, DT_FLOAT64, 257, 257, 1, &ours, false), UF_ERR_DEVICE,
                "cuSOLVER's syevd, which is for matrices of 257 by 257, waits on the host");
    CHECK_FAILS(routine_run(cusolver_run, ROUTINE_SVD, DT_FLOAT64, 33, 8, 1, &ours, false), UF_ERR_DEVICE,
                "cuSOLVER's gesvd, which is for matrices of 33 by 8, waits on the host");
    CHECK(!count("cusolverDnDsyevd") && !count("cusolverDnDgesvd"));
    mock->capture(0);
}

static void sizes_body(void *unused) {
    (void)unused;
    use_solver();
    lapack_call c = call_of(ROUTINE_LU, DT_FLOAT64, 8, 8, 1, &ours, false);
    c.n = c.m = (int64_t)1 << 31;
    CHECK_FAILS(cusolver_run(&c), UF_ERR_SHAPE,
                "matrices of 2147483648 by 2147483648 with 5 right sides are too large");
    CHECK_FAILS(cpu_lapack_run(&c), UF_ERR_SHAPE, "matrices of 2147483648 by 2147483648 are too large for LAPACK");
}

/* The choice is one of sizes: no larger matrix goes to the kernel if a smaller one does not. */
static void choice_body(void *unused) {
    (void)unused;
    for (int form = LAPACK_SOLVE; form < LAPACK_FORMS; form++)
        for (int64_t batch = 1; batch < 100; batch += 98)
            for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
                bool before = false;
                for (int64_t n = 1; n < 600; n++) {
                    const lapack_problem p = {(lapack_form)form, DT_FLOAT64, n, n, 1, batch};
                    bool pays = (on_gpu ? cusolver_pays : lapack_pays)(&p);
                    CHECK(pays >= before && (n > 4 || !pays));
                    before = pays;
                }
                CHECK(before);
            }
}

/* A copy of the mock whose functions that came with CUDA 12.6 have other names. */
static void old_solver_make(char *path) {
    static const char name[] = "cusolverDnXsyevBatched";
    static char bytes[1 << 20];
    FILE *from = fopen(solver_path, "rb");
    CHECK(from);
    size_t n = fread(bytes, 1, sizeof bytes, from);
    CHECK(n < sizeof bytes && !fclose(from));
    for (size_t i = 0; i + sizeof name <= n; i++)
        if (!memcmp(bytes + i, name, sizeof name - 1))
            bytes[i + strlen("cusolverDn")] = 'x';
    int file = mkstemp(path);
    FILE *to = fdopen(file, "wb");
    CHECK(to && fwrite(bytes, 1, n, to) == n && !fclose(to));
}

/* An older library has no XsyevBatched: syevd takes its place. */
static void old_solver_body(void *unused) {
    char path[] = "/tmp/cusolverXXXXXX";
    (void)unused;
    old_solver_make(path);
    strcpy(solver_path, path);
    use_solver();
    CHECK(!unlink(path));
    compare(ROUTINE_EIGH, DT_COMPLEX64, 40, 40, BATCH, false);
    CHECK(count("cusolverDnCheevd") == BATCH && !count("cusolverDnXsyevBatched"));
}

static void found_body(void *unused) {
    text info = {0};
    (void)unused;
    use_solver();
    cusolver_info(&info);
    CHECK(strstr(info.data, "cuSOLVER") && strstr(info.data, "version 12.0.4"));
    text_free(&info);
}

static void no_solver_body(void *unused) {
    text info = {0};
    (void)unused;
    CHECK(setenv("UFUNC_CUSOLVER", "/nowhere/libcusolver.so", 1) == 0);
    cuda_device *d;
    CHECK(!cuda_device_get(0, &d));
    CHECK_FAILS(cusolver_open(0), UF_ERR_LIBRARY, "cuSOLVER, /nowhere/libcusolver.so: ");
    CHECK_FAILS(cusolver_open(0), UF_ERR_LIBRARY, "UFUNC_CUSOLVER names its file");
    cusolver_info(&info);
    CHECK(strstr(info.data, "cuSOLVER     missing: /nowhere/libcusolver.so"));
    text_free(&info);
}

static void no_cublas_body(void *unused) {
    (void)unused;
    CHECK(setenv("UFUNC_CUSOLVER", solver_path, 1) == 0 && setenv("UFUNC_CUBLAS", "/nowhere/libcublas.so", 1) == 0);
    cuda_device *d;
    CHECK(!cuda_device_get(0, &d));
    CHECK_FAILS(cusolver_open(0), UF_ERR_LIBRARY, "cuBLAS, /nowhere/libcublas.so: ");
}

#define TEST(name)                    \
    static void name(void **unused) { \
        (void)unused;                 \
        in_child(name##_body, NULL);  \
    }
TEST(routines)
TEST(batches)
TEST(limits)
TEST(parts)
TEST(told)
TEST(failures)
TEST(driver)
TEST(capture)
TEST(sizes)
TEST(choice)
TEST(old_solver)
TEST(found)
TEST(no_solver)
TEST(no_cublas)

static int find_mocks(void **unused) {
    (void)unused;
    if (!mock_find())
        return -1;
    int folder = (int)(strrchr(mock_path, '/') + 1 - mock_path);
    snprintf(solver_path, sizeof solver_path, "%.*slibmockcusolver.so", folder, mock_path);
    snprintf(blas_path, sizeof blas_path, "%.*slibmockcublas.so", folder, mock_path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routines),  cmocka_unit_test(batches),    cmocka_unit_test(limits),
        cmocka_unit_test(parts),     cmocka_unit_test(told),       cmocka_unit_test(failures),
        cmocka_unit_test(driver),    cmocka_unit_test(capture),    cmocka_unit_test(sizes),
        cmocka_unit_test(choice),    cmocka_unit_test(old_solver), cmocka_unit_test(found),
        cmocka_unit_test(no_solver), cmocka_unit_test(no_cublas),
    };
    return cmocka_run_group_tests(tests, find_mocks, NULL);
}
