/* mockcublas.c - a cuBLAS without a GPU: products by plain loops over host memory, and batches of small matrices by LAPACK of OpenBLAS. It checks what the real one would (live handles, leading
 * dimensions, a workspace behind the stream), and that no two threads use one handle at the same time. Any function can be made to
 * fail. */
#include <complex.h>
#include <math.h>

#include "mockcublas.h"
#include "mocklibrary.h"

enum {
    NOT_INITIALIZED = 1,
    INVALID_VALUE = 7,
    REAL_FLOAT = 0,
    REAL_DOUBLE = 1,
    REAL_HALF = 2,
    COMPLEX_FLOAT = 4,
    COMPLEX_DOUBLE = 5,
    REAL_BFLOAT = 14
};

static mock_gemm last;
static void (*look)(const mock_gemm *);

/* ---- Handles ---- */

static void looked(const mock_gemm *g) {
    pthread_mutex_lock(&lock);
    void (*looking)(const mock_gemm *) = look;
    pthread_mutex_unlock(&lock);
    if (looking)
        looking(g);
}

API int cublasCreate_v2(struct handle **out) {
    CALL();
    looked(NULL);
    return handle_make(out);
}

API int cublasSetStream_v2(struct handle *h, void *stream) {
    CALL();
    NEED(is_alive(h), NOT_INITIALIZED);
    handle_set(h, stream);
    return 0;
}

API int cublasSetWorkspace_v2(struct handle *h, void *workspace, size_t size) {
    CALL();
    NEED(is_alive(h), NOT_INITIALIZED);
    NEED((uintptr_t)workspace % 256 == 0, INVALID_VALUE);
    h->workspace = workspace;
    h->size = size;
    return 0;
}

API int cublasSetMathMode(struct handle *h, int mode) {
    CALL();
    NEED(is_alive(h), NOT_INITIALIZED);
    h->math = mode;
    return 0;
}

API int cublasGetProperty(int which, int *value) {
    CALL();
    static const int version[] = {13, 1, 7};
    NEED(which >= 0 && which < 3, INVALID_VALUE);
    *value = version[which];
    return 0;
}

API const char *cublasGetStatusName(int status) {
    static _Thread_local char name[64];
    snprintf(name, sizeof name, "CUBLAS_STATUS_MOCK_%d", status);
    return name;
}

API const char *cublasGetStatusString(int status) {
    (void)status;
    return "a status of the mock cuBLAS";
}

/* ---- Elements ---- */

static size_t size_of(int type) {
    return type == COMPLEX_DOUBLE ? 16 : type == REAL_FLOAT ? 4 : type == REAL_DOUBLE || type == COMPLEX_FLOAT ? 8 : 2;
}

/* Halves as integers: not every compiler has a type for them. */
static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double v = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                              : ldexp(exponent ? mantissa + 1024 : mantissa, (exponent ? exponent : 1) - 25);
    return bits >> 15 ? -v : v;
}

/* Rounded to the nearest, ties to even. */
static uint16_t half_bits(double v) {
    int exponent, sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v))
        return 0x7e00;
    if (!v || fabs(v) >= 65536)
        return (uint16_t)(sign | (v ? 0x7c00 : 0));
    frexp(v, &exponent);
    int unit = exponent > -13 ? exponent - 11 : -24; /* of the last place, as a power of two */
    double exact = ldexp(fabs(v), -unit);
    int n = (int)exact;
    n += exact - n > 0.5 || (exact - n == 0.5 && n % 2);
    return (uint16_t)(sign | (((unit + 24) << 10) + n));
}

static double complex get(int type, const void *at) {
    switch (type) {
    case REAL_FLOAT:
        return *(const float *)at;
    case REAL_DOUBLE:
        return *(const double *)at;
    case COMPLEX_FLOAT:
        return *(const float complex *)at;
    case COMPLEX_DOUBLE:
        return *(const double complex *)at;
    case REAL_HALF:
        return half_value(*(const uint16_t *)at);
    default: {
        uint32_t bits = (uint32_t) * (const uint16_t *)at << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    }
}

static void put(int type, void *at, double complex v) {
    switch (type) {
    case REAL_FLOAT:
        *(float *)at = (float)creal(v);
        break;
    case REAL_DOUBLE:
        *(double *)at = creal(v);
        break;
    case COMPLEX_FLOAT:
        *(float complex *)at = (float complex)v;
        break;
    case COMPLEX_DOUBLE:
        *(double complex *)at = v;
        break;
    case REAL_HALF:
        *(uint16_t *)at = half_bits(creal(v));
        break;
    default: {
        float f = (float)creal(v);
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        bits += 0x7fff + (bits >> 16 & 1);
        *(uint16_t *)at = (uint16_t)(bits >> 16);
        break;
    }
    }
}

/* ---- Products ---- */

/* Element (i, j) of a matrix after the operation on it. */
static double complex element(const void *matrix, int type, int op, int64_t ld, int64_t i, int64_t j) {
    double complex v = get(type, (const char *)matrix + (size_t)(op ? j + i * ld : i + j * ld) * size_of(type));
    return op == 2 ? conj(v) : v;
}

static void multiply(const mock_gemm *g, const char *a, const char *b, char *c) {
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double re = 0, im = 0;
            for (int64_t k = 0; k < g->k; k++) {
                double complex x = element(a, g->type, g->op_a, g->lda, i, k),
                               y = element(b, g->type, g->op_b, g->ldb, k, j);
                re += creal(x) * creal(y) - cimag(x) * cimag(y);
                im += creal(x) * cimag(y) + cimag(x) * creal(y);
            }
            put(g->type, c + (size_t)(i + j * g->ldc) * size_of(g->type), re + im * I);
        }
}

static int64_t rows(int op, int64_t outer, int64_t inner) { return op ? inner : outer; }

static int is_valid(const mock_gemm *g) {
    return g->m > 0 && g->n > 0 && g->k > 0 && g->batch > 0 && g->op_a >= 0 && g->op_a <= 2 && g->op_b >= 0 &&
           g->op_b <= 2 && g->lda >= rows(g->op_a, g->m, g->k) && g->ldb >= rows(g->op_b, g->k, g->n) && g->ldc >= g->m;
}

/* 1 and 0 in the dtype that is computed in. */
static int is_plain(const void *alpha, const void *beta, int compute) {
    int wide = compute == 70;
    return get(wide ? REAL_DOUBLE : REAL_FLOAT, alpha) == 1 && get(wide ? REAL_DOUBLE : REAL_FLOAT, beta) == 0;
}

API int cublasGemmStridedBatchedEx_64(struct handle *h, int op_a, int op_b, int64_t m, int64_t n, int64_t k,
                                      const void *alpha, const void *a, int type_a, int64_t lda, long long stride_a,
                                      const void *b, int type_b, int64_t ldb, long long stride_b, const void *beta,
                                      void *c, int type_c, int64_t ldc, long long stride_c, int64_t batch, int compute,
                                      int algorithm) {
    CALL();
    NEED(is_alive(h), NOT_INITIALIZED);
    mock_gemm g = {.handle = h,
                   .stream = h->stream,
                   .workspace = h->workspace,
                   .workspace_size = h->size,
                   .math = h->math,
                   .op_a = op_a,
                   .op_b = op_b,
                   .type = type_a,
                   .compute = compute,
                   .m = m,
                   .n = n,
                   .k = k,
                   .lda = lda,
                   .ldb = ldb,
                   .ldc = ldc,
                   .batch = batch,
                   .stride_a = stride_a,
                   .stride_b = stride_b,
                   .stride_c = stride_c};
    NEED(is_valid(&g) && h->workspace && type_a == type_b && type_a == type_c && algorithm == -1 &&
             is_plain(alpha, beta, compute),
         INVALID_VALUE);
    NEED(!__atomic_exchange_n(&h->busy, 1, __ATOMIC_ACQUIRE), NOT_INITIALIZED);
    pthread_mutex_lock(&lock);
    last = g;
    pthread_mutex_unlock(&lock);
    looked(&g);
    size_t size = size_of(type_a);
    for (int64_t i = 0; i < batch; i++)
        multiply(&g, (const char *)a + i * stride_a * (int64_t)size, (const char *)b + i * stride_b * (int64_t)size,
                 (char *)c + i * stride_c * (int64_t)size);
    memset(h->workspace, 0x77, h->size < 4096 ? h->size : 4096); /* it is ours while the product runs */
    __atomic_store_n(&h->busy, 0, __ATOMIC_RELEASE);
    return 0;
}

/* ---- Batches of small matrices ---- */

#define ROUTINES(T, t, size)                                                                                         \
    API int cublas##T##getrfBatched(struct handle *h, int n, void *const *a, int lda, int *pivots, int *info,        \
                                    int batch) {                                                                     \
        CALL();                                                                                                      \
        NEED(is_ready(h), NOT_INITIALIZED);                                                                          \
        for (int i = 0; i < batch; i++)                                                                              \
            LAPACK(#t "getrf_", (N, N, P, N, P, P), &n, &n, a[i], &lda, pivots + (size_t)i * (size_t)n, info + i);   \
        return 0;                                                                                                    \
    }                                                                                                                \
    API int cublas##T##getrsBatched(struct handle *h, int op, int n, int nrhs, void *const *a, int lda, int *pivots, \
                                    void *const *b, int ldb, int *info, int batch) {                                 \
        CALL();                                                                                                      \
        NEED(is_ready(h), NOT_INITIALIZED);                                                                          \
        *info = 0;                                                                                                   \
        for (int i = 0; i < batch; i++) {                                                                            \
            int unused;                                                                                              \
            LAPACK(#t "getrs_", (S, N, N, P, N, P, P, N, P, size_t), op_of(op), &n, &nrhs, a[i], &lda,               \
                   pivots + (size_t)i * (size_t)n, b[i], &ldb, &unused, 1);                                          \
        }                                                                                                            \
        return 0;                                                                                                    \
    }                                                                                                                \
    API int cublas##T##getriBatched(struct handle *h, int n, void *const *a, int lda, int *pivots, void *const *c,   \
                                    int ldc, int *info, int batch) {                                                 \
        CALL();                                                                                                      \
        NEED(is_ready(h) && ldc == lda && n == lda, NOT_INITIALIZED);                                                \
        int lwork = 64 * n;                                                                                          \
        void *work = malloc((size_t)lwork * 16);                                                                     \
        for (int i = 0; i < batch; i++) {                                                                            \
            memcpy(c[i], a[i], (size_t)n *(size_t)n *(size));                                                        \
            LAPACK(#t "getri_", (N, P, N, P, P, N, P), &n, c[i], &ldc, pivots + (size_t)i * (size_t)n, work, &lwork, \
                   info + i);                                                                                        \
        }                                                                                                            \
        free(work);                                                                                                  \
        return 0;                                                                                                    \
    }                                                                                                                \
    API int cublas##T##geqrfBatched(struct handle *h, int m, int n, void *const *a, int lda, void *const *tau,       \
                                    int *info, int batch) {                                                          \
        CALL();                                                                                                      \
        NEED(is_ready(h) && lda == m && m > 0 && n > 0, NOT_INITIALIZED);                                            \
        int lwork = 64 * n;                                                                                          \
        void *work = malloc((size_t)lwork * 16);                                                                     \
        for (int i = 0; i < batch; i++)                                                                              \
            LAPACK(#t "geqrf_", (N, N, P, N, P, P, N, P), &m, &n, a[i], &lda, tau[i], work, &lwork, info);           \
        free(work);                                                                                                  \
        return 0;                                                                                                    \
    }

ROUTINES(S, s, 4)
ROUTINES(D, d, 8)
ROUTINES(C, c, 8)
ROUTINES(Z, z, 16)

/* ---- Control ---- */

static const mock_gemm *control_gemm(void) { return &last; }

static void control_on_call(void (*looking)(const mock_gemm *)) {
    pthread_mutex_lock(&lock);
    look = looking;
    pthread_mutex_unlock(&lock);
}

API const mock_cublas *mock_cublas_control(void);
const mock_cublas *mock_cublas_control(void) {
    static const mock_cublas functions = {.fail_name = control_fail_name,
                                          .count = control_count,
                                          .stream = control_stream,
                                          .gemm = control_gemm,
                                          .on_call = control_on_call};
    return &functions;
}
