/* mockcusolver.c - a cuSOLVER without a GPU: what its routines do is done by LAPACK of OpenBLAS, over host memory. It checks that
 * handles are alive, that a stream was set and that leading dimensions fit. Any
 * function can be made to fail. */
#include "mockcusolver.h"
#include "mocklibrary.h"

enum {
    NOT_INITIALIZED = 1,
    INVALID_VALUE = 3
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
API int cusolverDnCreateSyevjInfo(void **out) {
    CALL();
    *out = calloc(1, 16);
    return 0;
}
API int cusolverDnDestroySyevjInfo(void *settings) {
    CALL();
    free(settings);
    return 0;
}
/* ---- Routines ---- */

static const char *upper_of(int uplo) { return uplo ? "U" : "L"; }

/* Work that a routine gets is at least what its bufferSize said: so it says what LAPACK wants. Memory for real numbers and integers is
 * the mock's own. */
#define ROUTINES(T, t, complex, ORGQR, SYEVD, SYEVJ, orgqr, syevd, size)                                               \
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
        int nreal = 1 + 5 * n + 2 * n * n, nint = 3 + 5 * n;                                                           \
        void *real = malloc((size_t)nreal * 8), *whole = malloc((size_t)nint * sizeof(int));                           \
        if (complex)                                                                                                   \
            LAPACK(syevd, (S, S, N, P, N, P, P, N, P, N, P, N, P, size_t, size_t), "V", upper_of(uplo), &n, a, &lda,   \
                   w, work, &lwork, real, &nreal, whole, &nint, info, 1, 1);                                           \
        else                                                                                                           \
            LAPACK(syevd, (S, S, N, P, N, P, P, N, P, N, P, size_t, size_t), "V", upper_of(uplo), &n, a, &lda, w,      \
                   work, &lwork, whole, &nint, info, 1, 1);                                                            \
        free(real);                                                                                                    \
        free(whole);                                                                                                   \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##SYEVJ##Batched_bufferSize(struct handle *h, int jobz, int uplo, int n, void *a, int lda,    \
                                                     void *w, int *lwork, void *settings, int batch) {                 \
        CALL();                                                                                                        \
        NEED(h &&a &&w &&settings &&batch > 0 && jobz == 1 && uplo < 2 && lda >= n, INVALID_VALUE);                    \
        *lwork = 1 + 70 * n + 2 * n * n;                                                                               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    API int cusolverDn##T##SYEVJ##Batched(struct handle *h, int jobz, int uplo, int n, void *a, int lda, void *w,      \
                                          void *work, int lwork, int *info, void *settings, int batch) {               \
        CALL();                                                                                                        \
        NEED(settings, INVALID_VALUE);                                                                                 \
        size_t values = (size_t)n * ((complex) ? (size) / 2 : (size));                                                 \
        for (int i = 0, s = 0; i < batch; i++) {                                                                       \
            s = cusolverDn##T##SYEVD(h, jobz, uplo, n, (char *)a + (size_t)i * (size_t)n * (size_t)n * (size), lda,    \
                                     (char *)w + (size_t)i * values, work, lwork, info + i);                           \
            NEED(!s, s);                                                                                               \
        }                                                                                                              \
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
        NEED(is_ready(h) && work && info && m >= n && ldu >= m && ldvt >= n && lwork >= 5 * m + 70 * n,                \
             INVALID_VALUE);                                                                                           \
        char ju[2] = {(char)jobu, 0}, jv[2] = {(char)jobvt, 0};                                                        \
        void *real = malloc((size_t)n * 5 * 8);                                                                        \
        (void)rwork;                                                                                                   \
        if (complex)                                                                                                   \
            LAPACK(#t "gesvd_", (S, S, N, N, P, N, P, P, N, P, N, P, N, P, P, size_t, size_t), ju, jv, &m, &n, a,      \
                   &lda, s, u, &ldu, vt, &ldvt, work, &lwork, real, info, 1, 1);                                       \
        else                                                                                                           \
            LAPACK(#t "gesvd_", (S, S, N, N, P, N, P, P, N, P, N, P, N, P, size_t, size_t), ju, jv, &m, &n, a, &lda,   \
                   s, u, &ldu, vt, &ldvt, work, &lwork, info, 1, 1);                                                   \
        free(real);                                                                                                    \
        return 0;                                                                                                      \
    }

ROUTINES(S, s, 0, orgqr, syevd, syevj, "sorgqr_", "ssyevd_", 4)
ROUTINES(D, d, 0, orgqr, syevd, syevj, "dorgqr_", "dsyevd_", 8)
ROUTINES(C, c, 1, ungqr, heevd, heevj, "cungqr_", "cheevd_", 8)
ROUTINES(Z, z, 1, ungqr, heevd, heevj, "zungqr_", "zheevd_", 16)

/* ---- Control ---- */

API const mock_cusolver *mock_cusolver_control(void);
const mock_cusolver *mock_cusolver_control(void) {
    static const mock_cusolver functions = {
        .fail_name = control_fail_name, .count = control_count, .stream = control_stream};
    return &functions;
}
