/* mockcusolver.c - a cuSOLVER without a GPU: what its routines do is done by LAPACK of OpenBLAS, over host memory. It checks that
 * handles are alive, that a stream was set and that leading dimensions fit. Any
 * function can be made to fail. */
#include "mockcusolver.h"
#include "mocklibrary.h"

enum {
    NOT_INITIALIZED = 1,
    INVALID_VALUE = 3,
    OF_SYEVJ = 11,
    OF_GESVDJ,
    OF_GENERIC
};

API int cusolverDnCreate(struct handle **out) {
    CALL();
    return handle_make(out);
}
API int cusolverDnSetStream(struct handle *h, void *stream) {
    CALL();
    NEED(is_alive(h), NOT_INITIALIZED);
    handle_set(h, stream);
    return 0;
}
API int cusolverGetProperty(int which, int *value) {
    CALL();
    static const int version[] = {12, 0, 4};
    NEED(which >= 0 && which < 3, INVALID_VALUE);
    *value = version[which];
    return 0;
}
/* What a method's settings are of, which it checks. */
#define SETTINGS(name, number)                  \
    API int cusolverDnCreate##name(int **out) { \
        CALL();                                 \
        *out = calloc(1, sizeof **out);         \
        **out = (number);                       \
        return 0;                               \
    }
SETTINGS(SyevjInfo, OF_SYEVJ)
SETTINGS(GesvdjInfo, OF_GESVDJ)
SETTINGS(Params, OF_GENERIC)
/* ---- Routines ---- */

static const char *upper_of(int uplo) { return uplo ? "U" : "L"; }

typedef struct kind {
    int type; /* cudaDataType */
    const char *gesvd, *syevd;
    int complex, size;
} kind;

static const kind kinds[] = {{0, "sgesvd_", "ssyevd_", 0, 4},
                             {1, "dgesvd_", "dsyevd_", 0, 8},
                             {4, "cgesvd_", "cheevd_", 1, 8},
                             {5, "zgesvd_", "zheevd_", 1, 16}};

static const kind *kind_of(int type) {
    const kind *k = kinds;
    while (k->type != type)
        k++;
    return k;
}

/* Eigenvectors take the matrix's place. */
static void eigen(const kind *k, int uplo, int n, void *a, int lda, void *w, int *info) {
    int lwork = 1 + 70 * n + 2 * n * n, nreal = 1 + 5 * n + 2 * n * n, nint = 3 + 5 * n;
    void *work = malloc((size_t)lwork * 16), *real = malloc((size_t)nreal * 8),
         *whole = malloc((size_t)nint * sizeof(int));
    if (k->complex)
        LAPACK(k->syevd, (S, S, N, P, N, P, P, N, P, N, P, N, P, size_t, size_t), "V", upper_of(uplo), &n, a, &lda, w,
               work, &lwork, real, &nreal, whole, &nint, info, 1, 1);
    else
        LAPACK(k->syevd, (S, S, N, P, N, P, P, N, P, N, P, size_t, size_t), "V", upper_of(uplo), &n, a, &lda, w, work,
               &lwork, whole, &nint, info, 1, 1);
    free(work);
    free(real);
    free(whole);
}

/* V is the conjugate of V^H, transposed. */
static void turn(const kind *k, int n, const char *vh, char *v) {
    size_t size = (size_t)k->size, part = size / 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            char *to = v + (size_t)(j + i * n) * size;
            memcpy(to, vh + (size_t)(i + j * n) * size, size);
            if (k->complex && part == 4)
                ((float *)(void *)to)[1] *= -1;
            if (k->complex && part == 8)
                ((double *)(void *)to)[1] *= -1;
        }
}

/* square: all columns of U, and V in place of V^H. */
static void singular(const kind *k, int square, int m, int n, void *a, void *s, void *u, void *v, int *info) {
    const char *jobu = square ? "A" : "S";
    int lwork = 5 * m + 70 * n;
    void *work = malloc((size_t)lwork * 16), *real = malloc((size_t)n * 5 * 8),
         *vh = malloc((size_t)n * (size_t)n * 16);
    if (k->complex)
        LAPACK(k->gesvd, (S, S, N, N, P, N, P, P, N, P, N, P, N, P, P, size_t, size_t), jobu, "S", &m, &n, a, &m, s, u,
               &m, vh, &n, work, &lwork, real, info, 1, 1);
    else
        LAPACK(k->gesvd, (S, S, N, N, P, N, P, P, N, P, N, P, N, P, size_t, size_t), jobu, "S", &m, &n, a, &m, s, u, &m,
               vh, &n, work, &lwork, info, 1, 1);
    if (square)
        turn(k, n, vh, v);
    else
        memcpy(v, vh, (size_t)n * (size_t)n * (size_t)k->size);
    free(work);
    free(real);
    free(vh);
}

static double spoiled; /* in units of rounding */

static void control_spoil(double units) { spoiled = units; }

/* Adds so much of the first of `columns` vectors of `numbers` real numbers to the others. */
static void mix(int is_double, size_t numbers, size_t columns, void *vectors, double part) {
    double *d = vectors;
    float *f = vectors;
    for (size_t i = numbers; i < numbers * columns; i++)
        if (is_double)
            d[i] += part * d[i % numbers];
        else
            f[i] += (float)(part * (double)f[i % numbers]);
}

/* What a method leaves that rotates from both sides: errors of the largest value's size in vectors and small values. */
static void spoil(const kind *k, int m, int n, void *s, void *u, void *v) {
    int is_double = k->type & 1;
    size_t parts = k->complex ? 2 : 1, rows = (size_t)m, columns = (size_t)n;
    double part = spoiled * (is_double ? 0x1p-53 : 0x1p-24), *d = s;
    float *f = s;
    for (int i = 1; i < n; i++)
        if (is_double)
            d[i] += part * d[0];
        else
            f[i] += (float)(part * (double)f[0]);
    mix(is_double, rows * parts, rows, u, part);
    mix(is_double, columns * parts, columns, v, part);
}

/* Work that a routine gets is at least what its bufferSize said: so it says what LAPACK wants. Memory for real numbers and integers is
 * the mock's own. */
#define ROUTINES(T, t, type, ORGQR, SYEVD, SYEVJ, orgqr)                                                               \
    API int cusolverDn##T##getrf_bufferSize(struct handle *h, int m, int n, void *a, int lda, int *lwork) {            \
        CALL();                                                                                                        \
        NEED(h &&a &&m > 0 && n > 0 && lda >= m, INVALID_VALUE);                                                       \
        *lwork = 1;                                                                                                    \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##getrf(struct handle *h, int m, int n, void *a, int lda, void *work, int *pivots,            \
                                 int *info) {                                                                          \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info, INVALID_VALUE);                                                              \
        LAPACK(#t "getrf_", (N, N, P, N, P, P), &m, &n, a, &lda, pivots, info);                                        \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##getrs(struct handle *h, int op, int n, int nrhs, void *a, int lda, int *pivots, void *b,    \
                                 int ldb, int *info) {                                                                 \
        CALL();                                                                                                        \
        NEED(is_ready(h) && info, INVALID_VALUE);                                                                      \
        LAPACK(#t "getrs_", (S, N, N, P, N, P, P, N, P, size_t), op_of(op), &n, &nrhs, a, &lda, pivots, b, &ldb, info, \
               1);                                                                                                     \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##potrf_bufferSize(struct handle *h, int uplo, int n, void *a, int lda, int *lwork) {         \
        CALL();                                                                                                        \
        NEED(h &&a &&uplo<2 && n> 0 && lda >= n, INVALID_VALUE);                                                       \
        *lwork = 1;                                                                                                    \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##potrf(struct handle *h, int uplo, int n, void *a, int lda, void *work, int lwork,           \
                                 int *info) {                                                                          \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info && lwork >= 1, INVALID_VALUE);                                                \
        LAPACK(#t "potrf_", (S, N, P, N, P, size_t), upper_of(uplo), &n, a, &lda, info, 1);                            \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##potrfBatched(struct handle *h, int uplo, int n, void *const *a, int lda, int *info,         \
                                        int batch) {                                                                   \
        CALL();                                                                                                        \
        NEED(is_ready(h) && info, INVALID_VALUE);                                                                      \
        for (int i = 0; i < batch; i++)                                                                                \
            LAPACK(#t "potrf_", (S, N, P, N, P, size_t), upper_of(uplo), &n, a[i], &lda, info + i, 1);                 \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##geqrf_bufferSize(struct handle *h, int m, int n, void *a, int lda, int *lwork) {            \
        CALL();                                                                                                        \
        NEED(h &&a &&m > 0 && n > 0 && lda >= m, INVALID_VALUE);                                                       \
        *lwork = 64 * n;                                                                                               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##geqrf(struct handle *h, int m, int n, void *a, int lda, void *tau, void *work, int lwork,   \
                                 int *info) {                                                                          \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info && lwork >= 64 * n, INVALID_VALUE);                                           \
        LAPACK(#t "geqrf_", (N, N, P, N, P, P, N, P), &m, &n, a, &lda, tau, work, &lwork, info);                       \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##ORGQR##_bufferSize(struct handle *h, int m, int n, int k, void *a, int lda, void *tau,      \
                                              int *lwork) {                                                            \
        CALL();                                                                                                        \
        NEED(h &&a &&tau &&m >= n && n >= k && lda >= m, INVALID_VALUE);                                               \
        *lwork = 64 * n;                                                                                               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##ORGQR(struct handle *h, int m, int n, int k, void *a, int lda, void *tau, void *work,       \
                                 int lwork, int *info) {                                                               \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info && lwork >= 64 * n, INVALID_VALUE);                                           \
        LAPACK(orgqr, (N, N, N, P, N, P, P, N, P), &m, &n, &k, a, &lda, tau, work, &lwork, info);                      \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##SYEVD##_bufferSize(struct handle *h, int jobz, int uplo, int n, void *a, int lda, void *w,  \
                                              int *lwork) {                                                            \
        CALL();                                                                                                        \
        NEED(h &&a &&w &&jobz == 1 && uplo < 2 && lda >= n, INVALID_VALUE);                                            \
        *lwork = 1 + 70 * n + 2 * n * n;                                                                               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##SYEVD(struct handle *h, int jobz, int uplo, int n, void *a, int lda, void *w, void *work,   \
                                 int lwork, int *info) {                                                               \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info && jobz == 1 && lwork >= 1 + 70 * n + 2 * n * n, INVALID_VALUE);              \
        eigen(kind_of(type), uplo, n, a, lda, w, info);                                                                \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##SYEVJ##Batched_bufferSize(struct handle *h, int jobz, int uplo, int n, void *a, int lda,    \
                                                     void *w, int *lwork, int *settings, int batch) {                  \
        CALL();                                                                                                        \
        NEED(h &&a &&w &&settings &&*settings == OF_SYEVJ && batch > 0 && jobz == 1 && uplo < 2 && lda >= n,           \
             INVALID_VALUE);                                                                                           \
        *lwork = 1 + 70 * n + 2 * n * n;                                                                               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##SYEVJ##Batched(struct handle *h, int jobz, int uplo, int n, void *a, int lda, void *w,      \
                                          void *work, int lwork, int *info, int *settings, int batch) {                \
        CALL();                                                                                                        \
        NEED(settings &&*settings == OF_SYEVJ, INVALID_VALUE);                                                         \
        NEED(is_ready(h) && work && jobz == 1 && lwork >= 1 && n <= 32, INVALID_VALUE);                                \
        const kind *k = kind_of(type);                                                                                 \
        size_t matrix = (size_t)n * (size_t)n * (size_t)k->size,                                                       \
               values = (size_t)n * (size_t)k->size / (k->complex ? 2 : 1);                                            \
        for (int i = 0; i < batch; i++)                                                                                \
            eigen(k, uplo, n, (char *)a + (size_t)i * matrix, lda, (char *)w + (size_t)i * values, info + i);          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##gesvd_bufferSize(struct handle *h, int m, int n, int *lwork) {                              \
        CALL();                                                                                                        \
        NEED(h &&m >= n && n > 0, INVALID_VALUE);                                                                      \
        *lwork = 5 * m + 70 * n;                                                                                       \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##gesvd(struct handle *h, signed char jobu, signed char jobvt, int m, int n, void *a,         \
                                 int lda, void *s, void *u, int ldu, void *vt, int ldvt, void *work, int lwork,        \
                                 void *rwork, int *info) {                                                             \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info && m >= n && lda == m && ldu == m && ldvt == n && jobu == 'S' &&              \
                 jobvt == 'S' && !rwork && lwork >= 5 * m + 70 * n,                                                    \
             INVALID_VALUE);                                                                                           \
        singular(kind_of(type), 0, m, n, a, s, u, vt, info);                                                           \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##gesvdjBatched_bufferSize(struct handle *h, int jobz, int m, int n, void *a, int lda,        \
                                                    void *s, void *u, int ldu, void *v, int ldv, int *lwork,           \
                                                    int *settings, int batch) {                                        \
        CALL();                                                                                                        \
        NEED(h &&a &&s &&u &&v &&jobz == 1 && lda >= m && ldu >= m && ldv >= n && *settings == OF_GESVDJ && batch > 0, \
             INVALID_VALUE);                                                                                           \
        *lwork = 31;                                                                                                   \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##gesvdjBatched(struct handle *h, int jobz, int m, int n, void *a, int lda, void *s, void *u, \
                                         int ldu, void *v, int ldv, void *work, int lwork, int *info, int *settings,   \
                                         int batch) {                                                                  \
        CALL();                                                                                                        \
        NEED(is_ready(h) && work && info && jobz == 1 && m <= 32 && n <= 32 && m >= n && lda == m && ldu == m &&       \
                 ldv == n && lwork == 31 && *settings == OF_GESVDJ,                                                    \
             INVALID_VALUE);                                                                                           \
        const kind *k = kind_of(type);                                                                                 \
        size_t size = (size_t)k->size, real = k->complex ? size / 2 : size, rows = (size_t)m, columns = (size_t)n;     \
        for (size_t i = 0; i < (size_t)batch; i++) {                                                                   \
            char *values = (char *)s + i * columns * real, *left = (char *)u + i * rows * rows * size,                 \
                 *right = (char *)v + i * columns * columns * size;                                                    \
            singular(k, 1, m, n, (char *)a + i * rows * columns * size, values, left, right, info + i);                \
            spoil(k, m, n, values, left, right);                                                                       \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

ROUTINES(S, s, 0, orgqr, syevd, syevj, "sorgqr_")
ROUTINES(D, d, 1, orgqr, syevd, syevj, "dorgqr_")
ROUTINES(C, c, 4, ungqr, heevd, heevj, "cungqr_")
ROUTINES(Z, z, 5, ungqr, heevd, heevj, "zungqr_")

/* ---- Routines of any dtype: so much workspace a matrix, on the host as well ---- */

enum {
    DEVICE_WORK = 1 << 22, /* that matrices of a test are in different parts of a batch */
    HOST_WORK = 48
};

/* Some sizes take none on the host, as with the real one. */
static size_t host_work_of(int64_t n) { return n > 36 ? HOST_WORK : 0; }

API int cusolverDnXsyevBatched_bufferSize(struct handle *h, const int *settings, int jobz, int uplo, int64_t n,
                                          int type_a, const void *a, int64_t lda, int type_w, const void *w,
                                          int compute, size_t *device, size_t *host, int64_t batch) {
    CALL();
    NEED(h && *settings == OF_GENERIC && jobz == 1 && uplo < 2 && a && w && lda == n && type_w == (type_a & 1) &&
             compute == type_a && batch > 0,
         INVALID_VALUE);
    *device = (size_t)batch * DEVICE_WORK;
    *host = host_work_of(n);
    return 0;
}

API int cusolverDnXsyevBatched(struct handle *h, const int *settings, int jobz, int uplo, int64_t n, int type_a,
                               void *a, int64_t lda, int type_w, void *w, int compute, void *work, size_t device,
                               void *host_work, size_t host, int *info, int64_t batch) {
    CALL();
    NEED(is_ready(h) && *settings == OF_GENERIC && jobz == 1 && lda == n && type_w == (type_a & 1) &&
             compute == type_a && work && device == (size_t)batch * DEVICE_WORK && !host_work == !host &&
             host == host_work_of(n) && info,
         INVALID_VALUE);
    if (host)
        memset(host_work, 0x55, host);
    const kind *k = kind_of(type_a);
    size_t matrix = (size_t)(n * n * k->size), values = (size_t)n * (size_t)k->size / (k->complex ? 2 : 1);
    for (int64_t i = 0; i < batch; i++)
        eigen(k, uplo, (int)n, (char *)a + (size_t)i * matrix, (int)lda, (char *)w + (size_t)i * values, info + i);
    return 0;
}

/* ---- Control ---- */

API const mock_cusolver *mock_cusolver_control(void);
const mock_cusolver *mock_cusolver_control(void) {
    static const mock_cusolver functions = {
        .fail_name = control_fail_name, .count = control_count, .stream = control_stream, .spoil = control_spoil};
    return &functions;
}
