/* blas.c - launches that OpenBLAS computes, as products of matrices (nd/product.c). The extents of these alone decide whether a dot
 * product, a matrix times a vector, or a matrix times a matrix is computed, whatever form the function named.
 *
 * OpenBLAS is opened for the first product that is large enough: the file that UFUNC_OPENBLAS names, if it is set,
 * else the soname. It is set to one thread, and the work is spread over the library's own threads, as that of
 * generated code is; a program that opens OpenBLAS later finds it set so. If the process had it loaded before, its
 * number of threads is left as its owner set it. Inner calls for which it would use threads of its own then run one
 * after another, and use as many as the owner allows, since which form computes a product follows from sizes alone. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/blas.h"

/* ---- The library ---- */

enum {
    COLUMN_MAJOR = 102,
    OP_NONE = 111,
    OP_TRANS = 112,
    OP_CONJ_TRANS = 113,
    OP_CONJ = 114, /* an extension of OpenBLAS */
    /* Callers at the same time, where the library does not say how many it is built for. */
    USERS = 64
};

typedef void gemm_s(int order, int op_a, int op_b, int m, int n, int k, float alpha, const void *a, int lda,
                    const void *b, int ldb, float beta, void *c, int ldc);
typedef void gemm_d(int order, int op_a, int op_b, int m, int n, int k, double alpha, const void *a, int lda,
                    const void *b, int ldb, double beta, void *c, int ldc);
typedef void gemm_z(int order, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a, int lda,
                    const void *b, int ldb, const void *beta, void *c, int ldc);
typedef void gemv_s(int order, int op, int m, int n, float alpha, const void *a, int lda, const void *x, int incx,
                    float beta, void *y, int incy);
typedef void gemv_d(int order, int op, int m, int n, double alpha, const void *a, int lda, const void *x, int incx,
                    double beta, void *y, int incy);
typedef void gemv_z(int order, int op, int m, int n, const void *alpha, const void *a, int lda, const void *x, int incx,
                    const void *beta, void *y, int incy);
typedef float dot_s(int n, const void *x, int incx, const void *y, int incy);
typedef double dot_d(int n, const void *x, int incx, const void *y, int incy);
typedef void dot_z(int n, const void *x, int incx, const void *y, int incy, void *result);

/* X(type, name) */
#define BLAS_FUNCTIONS(X)                \
    X(gemm_s, cblas_sgemm)               \
    X(gemm_d, cblas_dgemm)               \
    X(gemm_z, cblas_cgemm)               \
    X(gemm_z, cblas_zgemm)               \
    X(gemv_s, cblas_sgemv)               \
    X(gemv_d, cblas_dgemv)               \
    X(gemv_z, cblas_cgemv)               \
    X(gemv_z, cblas_zgemv)               \
    X(dot_s, cblas_sdot)                 \
    X(dot_d, cblas_ddot)                 \
    X(dot_z, cblas_cdotu_sub)            \
    X(dot_z, cblas_zdotu_sub)            \
    X(dot_z, cblas_cdotc_sub)            \
    X(dot_z, cblas_zdotc_sub)            \
    X(text_get, openblas_get_config)     \
    X(int_get, openblas_get_num_threads) \
    X(int_set, openblas_set_num_threads)

typedef char *text_get(void);
typedef int int_get(void);
typedef void int_set(int value);

static struct {
#define X(type, name) type *name;
    BLAS_FUNCTIONS(X)
#undef X
} blas;

static const char *const functions[] = {
#define X(type, name) #name,
    BLAS_FUNCTIONS(X)
#undef X
};

enum {
    UNTRIED,
    MISSING,
    PRESENT
};

static struct {
    pthread_mutex_t opening;
    atomic_int found;
    /* Held for reading while in the library. fork holds it for writing, so that the child finds the library's own
     * locks free. */
    pthread_rwlock_t gate;
    pthread_once_t once;
    /* The library has memory for so many callers, and writes to stderr if there are more. */
    sem_t users;
    /* It does not know this processor; then vectors are left to generated code. */
    bool outdated;
    void *handle;
    char path[512], reason[512];
} library = {.opening = PTHREAD_MUTEX_INITIALIZER,
             .gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
             .once = PTHREAD_ONCE_INIT};

static void fork_prepare(void) { pthread_rwlock_wrlock(&library.gate); }
static void fork_parent(void) { pthread_rwlock_unlock(&library.gate); }
static void fork_child(void) { library.gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP; }
static void fork_watch(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

void blas_enter(void) {
    pthread_rwlock_rdlock(&library.gate);
    while (sem_wait(&library.users)) /* again if a signal interrupted it */
        ;
}

void blas_leave(void) {
    sem_post(&library.users);
    pthread_rwlock_unlock(&library.gate);
}

/* Fills the table, which has one pointer a row in the order of `functions`. The reason why the library is of no use,
 * or NULL. */
static const char *bind(void *handle) {
    static char reason[128];
    for (size_t k = 0; k < COUNT(functions); k++) {
        void *address = dlsym(handle, functions[k]);
        if (!address) {
            snprintf(reason, sizeof reason, "it has no function %s", functions[k]);
            return reason;
        }
        memcpy((char *)&blas + k * sizeof address, &address, sizeof address);
    }
    return strstr(blas.openblas_get_config(), "USE64BITINT") ? "it takes 64-bit integers" : NULL;
}

/* The kernels that OpenBLAS takes for a processor that it does not know. They have no wide vectors. */
static const char oldest_core[] = " Prescott";

static bool host_has_wide_vectors(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

static bool open_file(const char *file) {
    const char *reason;
    void *before = library_load(file, RTLD_NOLOAD, &reason);
    void *handle = before ? before : library_load(file, 0, &reason);
    if (handle)
        reason = bind(handle);
    if (reason) {
        snprintf(library.reason, sizeof library.reason, "%s: %s", file, reason);
        if (handle)
            dlclose(handle);
        return false;
    }
    library.handle = handle;
    Dl_info info;
    void *any = dlsym(handle, functions[0]);
    snprintf(library.path, sizeof library.path, "%s", dladdr(any, &info) && info.dli_fname ? info.dli_fname : file);
    if (!before)
        blas.openblas_set_num_threads(1);
    library.outdated = host_has_wide_vectors() && strstr(blas.openblas_get_config(), oldest_core);
    const char *most = strstr(blas.openblas_get_config(), "MAX_THREADS=");
    int users = most ? atoi(most + strlen("MAX_THREADS=")) : 0;
    sem_init(&library.users, 0, (unsigned)(users > 0 ? users : USERS));
    return true;
}

/* Runs on a big stack, as the loader takes much. */
static uf_status open_any(void *unused) {
    (void)unused;
    const char *file = secure_getenv("UFUNC_OPENBLAS");
    return open_file(file && *file ? file : "libopenblas.so.0") ? UF_OK : UF_ERR_LIBRARY;
}

/* Opens the library, once: to search again in each call would take longer than most products. */
bool blas_open(void) {
    int found = atomic_load_explicit(&library.found, memory_order_acquire);
    if (found)
        return found == PRESENT;
    pthread_once(&library.once, fork_watch);
    pthread_rwlock_rdlock(&library.gate);
    pthread_mutex_lock(&library.opening);
    if (!atomic_load_explicit(&library.found, memory_order_relaxed)) {
        uf_status s = on_big_stack(open_any, NULL);
        atomic_store_explicit(&library.found, s ? MISSING : PRESENT, memory_order_release);
    }
    pthread_mutex_unlock(&library.opening);
    pthread_rwlock_unlock(&library.gate);
    return atomic_load_explicit(&library.found, memory_order_acquire) == PRESENT;
}

const char *blas_missing(void) { return library.reason; }
void *blas_symbol(const char *name) { return dlsym(library.handle, name); }
bool blas_shared(void) { return blas.openblas_get_num_threads() <= 1; }

void blas_info(text *out) {
    if (!blas_open()) {
        text_printf(out,
                    "  OpenBLAS     missing: %s\n               products of matrices run as generated code, and there "
                    "is no LAPACK\n",
                    library.reason);
        return;
    }
    const char *config = blas.openblas_get_config(), *version = strpbrk(config, "0123456789");
    int length = version ? (int)strcspn(version, " ") : 1;
    text_printf(out, "  OpenBLAS     %.*s, %s\n", length, version ? version : "?", library.path);
    if (library.outdated)
        text_puts(out,
                  "               it does not know this processor; OPENBLAS_CORETYPE=Haswell would make it faster\n");
}

/* ---- Products ---- */

static bool is_stored(const nd_side *s, int64_t extent, int64_t n, nd_stored *out) {
    *out = (nd_stored){0};
    return nd_product_stored(s, extent, n, out) && out->ld <= INT_MAX;
}

/* Which function of BLAS computes a product, and with what. */
typedef struct plan {
    enum {
        DOT,
        ROWS,    /* gemv, with the unit stride along the matrix's rows */
        COLUMNS, /* gemv, with the unit stride along its columns */
        GEMM
    } kind;
    nd_product p;
    nd_stored left, right; /* both for GEMM; left alone for ROWS and COLUMNS */
    int64_t ldc;           /* GEMM */
} plan;

static int64_t increment(int64_t extent, int64_t stride) { return extent == 1 ? 1 : stride; }

static bool is_increment(int64_t extent, int64_t stride) { return extent == 1 || (stride > 0 && stride <= INT_MAX); }

static bool plan_gemm(const nd_product *p, plan *out) {
    out->p = p->row == 1 && p->column >= p->m ? *p : nd_product_transposed(p);
    const nd_product *q = &out->p;
    out->kind = GEMM;
    out->ldc = q->column;
    return q->row == 1 && q->column >= q->m && q->column <= INT_MAX && is_stored(&q->left, q->m, q->n, &out->left) &&
           is_stored(&q->right, q->p, q->n, &out->right);
}

/* Decides how to compute a product. False if its strides are not what BLAS takes. */
static bool plan_make(const nd_product *p, plan *out) {
    if (p->n > INT_MAX)
        return false;
    if (p->m > 1 && p->p > 1)
        return plan_gemm(p, out);
    out->p = p->m == 1 ? nd_product_transposed(p) : *p;
    const nd_product *q = &out->p;
    if (!is_increment(q->n, q->right.inner))
        return false;
    if (q->m == 1) {
        out->kind = DOT;
        return is_increment(q->n, q->left.inner);
    }
    if (!is_increment(q->m, q->row) || !is_stored(&q->left, q->m, q->n, &out->left))
        return false;
    out->kind = out->left.along_n ? ROWS : COLUMNS;
    return true;
}

static bool fits(const nd_product *p) {
    plan unused;
    return plan_make(p, &unused);
}

enum {
    NEVER = -1,
    /* Terms of a sum, and rows of a matrix times a vector, at least. With fewer, the time goes into storing results. */
    LEAST = 4
};

/* Products of elements, m * n * p, from which BLAS is faster than the generated loop. Measured on one thread (Xeon with
 * AVX-512, OpenBLAS 0.3.21 with its SkylakeX and Haswell kernels, operands in cache; Gop/s of the loop, of BLAS):
 *   dot            float32  n 406: 8.6, 6.6; 1369: 8.6, 8.5     complex64  36: 1.5, 1.5; 81: 1.6, 2.5; 1369: 1.4, 4.2
 *   gemv, rows in  float32  16 square: 5.8, 3.6; 24: 6.8, 6.3;  complex64  8: 1.6, 1.3; 16: 1.6, 3.0; 81: 1.6, 5.6
 *   C order        36: 4.4, 9.6; float64  16: 2.2, 3.5
 *   gemv, columns  float32  8: 2.0, 1.9; 16: 5.0, 5.3 to 7.6;   complex64  8: 1.4, 1.3; 16: 1.5, 3.4
 *                  24: 2.4, 9.0; 81: 6.2, 12
 *   gemm           float32  6: 1.2, 1.7 to 6.0; 8: 2.0, 3.9 to 11; 16: 5.6, 15 to 38; 81: 7.5, 33 to 69
 *                  complex128  6: 1.2, 1.3; 8: 1.3, 2.0; 16: 1.4, 3.4 to 4.8
 * Outer products, which are gemm with one term, take longer in BLAS at every size (8: 4.2, 1.0; 36: 5.9, 4.1; 406: 6.3,
 * 3.7), and so do dot products of real numbers. */
static const struct {
    int real, complex;
} pays_from[] = {[DOT] = {NEVER, 64}, [ROWS] = {1024, 256}, [COLUMNS] = {256, 256}, [GEMM] = {512, 512}};

static bool pays(const plan *c, dtype type) {
    const nd_product *p = &c->p;
    int from = dtype_is_complex(type) ? pays_from[c->kind].complex : pays_from[c->kind].real;
    return from != NEVER && (double)p->m * (double)p->n * (double)p->p >= from && p->n >= LEAST &&
           (c->kind == DOT || p->m >= LEAST);
}

/* ---- Calls ---- */

/* A part of C: so many rows and columns, and where the operands of that part begin. */
typedef struct tile {
    int m, p;
    const char *left, *right;
    char *result;
} tile;

static int op_of(bool transpose, bool conjugate) {
    return transpose ? conjugate ? OP_CONJ_TRANS : OP_TRANS : conjugate ? OP_CONJ : OP_NONE;
}

static const float one_c[2] = {1, 0}, zero_c[2] = {0, 0};
static const double one_z[2] = {1, 0}, zero_z[2] = {0, 0};

static void run_gemm(dtype type, const plan *c, const tile *t) {
    int op_left = op_of(c->left.along_n, c->p.left.conjugate),
        op_right = op_of(!c->right.along_n, c->p.right.conjugate);
    int n = (int)c->p.n, left = (int)c->left.ld, right = (int)c->right.ld, ldc = (int)c->ldc;
#define GEMM(function, one, zero)                                                                            \
    blas.function(COLUMN_MAJOR, op_left, op_right, t->m, t->p, n, one, t->left, left, t->right, right, zero, \
                  t->result, ldc)
    switch (type) {
    case DT_FLOAT32:
        GEMM(cblas_sgemm, 1, 0);
        break;
    case DT_FLOAT64:
        GEMM(cblas_dgemm, 1, 0);
        break;
    case DT_COMPLEX64:
        GEMM(cblas_cgemm, one_c, zero_c);
        break;
    default:
        GEMM(cblas_zgemm, one_z, zero_z);
        break;
    }
#undef GEMM
}

/* Sets a vector of m elements to 0. */
static void clear(char *y, int64_t m, int64_t stride, size_t size) {
    if (stride == 1)
        memset(y, 0, (size_t)m * size);
    else
        for (int64_t i = 0; i < m; i++)
            memset(y + i * stride * (int64_t)size, 0, size);
}

static void negate_imaginary(dtype type, char *y, int64_t m, int64_t stride) {
    for (int64_t i = 0; i < 2 * m * stride; i += 2 * stride)
        if (type == DT_COMPLEX64)
            ((float *)y)[i + 1] = -((float *)y)[i + 1];
        else
            ((double *)y)[i + 1] = -((double *)y)[i + 1];
}

/* Computes y = A x. y is set to 0 and added to, as versions differ in whether beta = 0 keeps a NaN in y out of the
 * result. sum A conj(x) is computed as the conjugate of sum conj(A) x. */
static void run_gemv(dtype type, const plan *c, const tile *t) {
    const nd_product *p = &c->p;
    bool conjugate = p->left.conjugate != p->right.conjugate;
    int op = op_of(c->left.along_n, conjugate), n = (int)p->n, ld = (int)c->left.ld;
    int rows = c->left.along_n ? n : t->m, columns = c->left.along_n ? t->m : n;
    int incx = (int)increment(p->n, p->right.inner), incy = (int)increment(p->m, p->row);
    clear(t->result, t->m, incy, dtypes[type].size);
#define GEMV(function, one) \
    blas.function(COLUMN_MAJOR, op, rows, columns, one, t->left, ld, t->right, incx, one, t->result, incy)
    switch (type) {
    case DT_FLOAT32:
        GEMV(cblas_sgemv, 1);
        break;
    case DT_FLOAT64:
        GEMV(cblas_dgemv, 1);
        break;
    case DT_COMPLEX64:
        GEMV(cblas_cgemv, one_c);
        break;
    default:
        GEMV(cblas_zgemv, one_z);
        break;
    }
#undef GEMV
    if (p->right.conjugate && dtype_is_complex(type))
        negate_imaginary(type, t->result, t->m, incy);
}

static void run_dot(dtype type, const plan *c, const tile *t) {
    const nd_product *p = &c->p;
    int n = (int)p->n, incx = (int)increment(p->n, p->left.inner), incy = (int)increment(p->n, p->right.inner);
    const char *x = t->left, *y = t->right;
    if (p->right.conjugate) {
        int inc = incx;
        x = t->right;
        y = t->left;
        incx = incy;
        incy = inc;
    }
    bool conjugate = p->left.conjugate || p->right.conjugate;
    switch (type) {
    case DT_FLOAT32:
        *(float *)t->result = blas.cblas_sdot(n, x, incx, y, incy);
        break;
    case DT_FLOAT64:
        *(double *)t->result = blas.cblas_ddot(n, x, incx, y, incy);
        break;
    case DT_COMPLEX64:
        (conjugate ? blas.cblas_cdotc_sub : blas.cblas_cdotu_sub)(n, x, incx, y, incy, t->result);
        break;
    default:
        (conjugate ? blas.cblas_zdotc_sub : blas.cblas_zdotu_sub)(n, x, incx, y, incy, t->result);
        break;
    }
}

/* ---- The work and its parts ---- */

/* Products are cut by their sizes, whatever the number of threads, so that the number does not show in the results.
 * On one thread this costs too little to measure at 1024 square, and 15 % at 4096. */
enum {
    GEMM_TILE = 512, /* rows and columns of C in a unit of work, at most, .. */
    /* .. unless it then has fewer products of elements: a matrix of 16 x 16 times many vectors runs at 57 Gop/s by units of 512, at 72 by
     * 2^22 products, and at 73 as one; on another processor by 2^22 at 0.90, by 2^23 at 1.00 of the rate as one. */
    GEMM_WORK = 1 << 23,
    GEMV_TILE = 1 << 18, /* elements of the matrix in a unit, at most, */
    GEMV_ROWS = 64,      /* but at least so many of its rows */
    /* Products of elements in a part for another thread, at least: 10 us or more. */
    PART_WORK = 1 << 18,
    /* For up to so many products of elements OpenBLAS uses the caller's thread only, whatever its number of threads. */
    OWN_GEMM = 1 << 18,
    OWN_OTHER = 1 << 13
};

typedef struct work {
    dtype type;
    const launch *l;
    const plan *c;
    const nd_product_loop *loop;
    int64_t rows, columns; /* of C in a unit */
    int64_t across, units; /* units along p of one product, and units in all */
    int64_t per_product;   /* units of one product */
    int64_t part;          /* units in a part */
} work;

/* Cuts an extent into even pieces of at most `most`, in multiples of 16: the size of one. */
static int64_t piece_of(int64_t extent, int64_t most) {
    int64_t pieces = (extent + most - 1) / most, piece = (extent + pieces - 1) / pieces;
    piece = (piece + 15) / 16 * 16;
    return piece < extent ? piece : extent;
}

/* Rows or columns of C in a unit at most, which has so many of the other. */
static int64_t tile_most(int64_t other, int64_t n) {
    int64_t most = GEMM_WORK / (other * n);
    return most > GEMM_TILE ? most : GEMM_TILE;
}

static void run_tile(const work *w, int64_t unit, const int64_t offset[3]) {
    const nd_product *p = &w->c->p;
    int64_t size = dtypes[w->type].size, i = unit / w->across * w->rows, j = unit % w->across * w->columns;
    char *const *data = w->l->data;
    tile t = {
        .m = (int)(p->m - i < w->rows ? p->m - i : w->rows),
        .p = (int)(p->p - j < w->columns ? p->p - j : w->columns),
        .left = data[p->left.operand] + (offset[p->left.operand] + i * p->left.outer) * size,
        .right = data[p->right.operand] + (offset[p->right.operand] + j * p->right.outer) * size,
        .result = data[ND_RESULT] + (offset[ND_RESULT] + i * p->row + j * p->column) * size,
    };
    static void (*const run[])(dtype, const plan *, const tile *) = {
        [DOT] = run_dot, [ROWS] = run_gemv, [COLUMNS] = run_gemv, [GEMM] = run_gemm};
    run[w->c->kind](w->type, w->c, &t);
}

static void run_part(void *user, int64_t k) {
    const work *w = user;
    int64_t unit = k * w->part, last = w->units - unit < w->part ? w->units : unit + w->part;
    int64_t index[UF_MAX_NDIM], offset[3] = {0}, rest = unit / w->per_product;
    for (int d = 0; d < w->loop->ndim; d++) {
        index[d] = rest % w->loop->extent[d];
        rest /= w->loop->extent[d];
        for (int o = 0; o < 3; o++)
            offset[o] += index[d] * w->loop->step[d][o];
    }
    blas_enter();
    for (int64_t at = unit % w->per_product; unit < last; unit++) {
        run_tile(w, at, offset);
        if (++at == w->per_product) {
            at = 0;
            nd_product_next(w->loop, index, offset);
        }
    }
    blas_leave();
}

/* How many of our threads may be in the library at the same time: one, if it uses threads of its own for a unit. */
static int threads_of(const launch *l, const plan *c, double unit) {
    if (blas.openblas_get_num_threads() > 1 && unit > (c->kind == GEMM ? OWN_GEMM : OWN_OTHER))
        return 1;
    return l->threads ? l->threads : cpu_count();
}

static void run(dtype type, const launch *l, const plan *c, const nd_product_loop *loop) {
    const nd_product *p = &c->p;
    work w = {.type = type, .l = l, .c = c, .loop = loop, .rows = p->m, .columns = p->p};
    if (c->kind == GEMM) {
        w.rows = piece_of(p->m, tile_most(p->p < GEMM_TILE ? p->p : GEMM_TILE, p->n));
        w.columns = piece_of(p->p, tile_most(w.rows, p->n));
    } else if (c->kind != DOT) {
        w.rows = piece_of(p->m, GEMV_TILE / p->n > GEMV_ROWS ? GEMV_TILE / p->n : GEMV_ROWS);
    }
    w.across = (p->p + w.columns - 1) / w.columns;
    w.per_product = (p->m + w.rows - 1) / w.rows * w.across;
    w.units = loop->count * w.per_product;
    double unit = (double)w.rows * (double)w.columns * (double)p->n;
    w.part = unit >= PART_WORK ? 1 : (int64_t)(PART_WORK / unit);
    pool_run(threads_of(l, c, unit), (w.units + w.part - 1) / w.part, run_part, &w);
}

static bool plan_read(const launch *l, dtype type, plan *c, nd_product_loop *loop) {
    nd_product p;
    if (type == DT_NONE || dtype_is_half(type) || l->v->gufunc.columns ||
        !nd_product_read(l->blas, l->layout, l->core, &p) || !l->loop->count || !p.m || !p.n || !p.p)
        return false;
    nd_product_merge(l->loop, fits, &p, loop);
    return plan_make(&p, c) && pays(c, type) && blas_open() && (c->kind == GEMM || !library.outdated);
}

static dtype type_of(const launch *l) { return l->blas == BLAS_NONE ? DT_NONE : nd_product_type(l->v); }

bool blas_takes(const launch *l) {
    plan c;
    nd_product_loop loop;
    return plan_read(l, type_of(l), &c, &loop);
}

bool blas_launch(const launch *l) {
    dtype type = type_of(l);
    plan c;
    nd_product_loop loop;
    if (!plan_read(l, type, &c, &loop))
        return false;
    run(type, l, &c, &loop);
    return true;
}
