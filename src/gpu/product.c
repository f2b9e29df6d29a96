/* product.c - which launches a library of products computes, and by which calls of it: strided batches of matrices that it can take
 * without copies. The numbers to tune are the constants and the table of sizes. */
#include "gpu/class.h"

enum {
    /* Multiplications in a call at least, if a launch takes several: fewer are done before the next call is enqueued. */
    CALL_WORK = 1 << 24,
    MIDDLE = 12, /* the middle one of a product's three extents, at least */
    /* Elements of a matrix that is multiplied by a vector of its own, at most, for which generated code reads the matrices of a batch
     * at the speed of memory; and of such a matrix with rows of at most so many float32 elements, for which cuBLAS does not. */
    VECTOR_MATRIX = 1 << 16,
    VECTOR_SHORT = 1 << 18,
    VECTOR_ROW = 64,
    /* Multiplications in all of few products, for which generated code is faster: of any number; of some that have so many terms at most; of
     * one. None of the extents is less than FEW_SIDE. */
    FEW_SIDE = 16,
    FEW_ANY = 1 << 19,
    FEW_CALLS = 4,
    FEW_TERMS = 128,
    FEW_WORK = 1 << 23,
    ONE_TERMS = 256,
    ONE_WORK = 1 << 24
};

/* ---- How matrices lie ---- */

/* BLAS conjugates a matrix only where it also transposes it: `transposed` says which way of lying that is. */
static bool find_stored(const nd_side *s, int64_t extent, int64_t n, bool transposed, nd_stored *out) {
    if (s->conjugate && transposed && (s->inner == 1 || n == 1) && (extent == 1 || s->outer >= n)) {
        *out = (nd_stored){true, extent == 1 ? n : s->outer};
        return true;
    }
    return nd_product_stored(s, extent, n, out) && (!s->conjugate || out->along_n == transposed);
}

static bool is_by_columns(const nd_product *p) {
    return (p->m == 1 || p->row == 1) && (p->p == 1 || p->column >= p->m);
}

/* The members of *out for one product. False if its strides are not what BLAS takes. A result of one row is better told as one of one column:
 * cuBLAS has kernels for those. */
static bool lay(const nd_product *p, gpu_gemm *out) {
    nd_product turned = nd_product_transposed(p);
    bool turns = p->m == 1 && is_by_columns(&turned);
    out->p = is_by_columns(p) && !turns ? *p : turned;
    const nd_product *q = &out->p;
    out->ldc = q->p == 1 ? q->m : q->column;
    return is_by_columns(q) && find_stored(&q->left, q->m, q->n, true, &out->left) &&
           find_stored(&q->right, q->p, q->n, false, &out->right);
}

static bool fits(const nd_product *p) {
    gpu_gemm unused;
    return lay(p, &unused);
}

/* ---- Batches ---- */

/* Takes the longest dimension of the loop that a stride can say into the calls. */
static void take_batch(gpu_gemm *g) {
    nd_product_loop *loop = &g->calls;
    int best = -1;
    for (int d = 0; d < loop->ndim; d++) {
        const int64_t *step = loop->step[d];
        if (step[0] >= 0 && step[1] >= 0 && step[ND_RESULT] > 0 && (best < 0 || loop->extent[d] > loop->extent[best]))
            best = d;
    }
    g->batch = 1;
    memset(g->step, 0, sizeof g->step);
    if (best < 0)
        return;
    g->batch = loop->extent[best];
    memcpy(g->step, loop->step[best], sizeof g->step);
    loop->count /= g->batch;
    loop->ndim--;
    for (int d = best; d < loop->ndim; d++) {
        loop->extent[d] = loop->extent[d + 1];
        memcpy(loop->step[d], loop->step[d + 1], sizeof loop->step[d]);
    }
}

/* ---- The choice ---- */

/* The multiplications in a product from which a library is faster. Measured on an H200 with cuBLAS 13.1, batches that take 100 MB and more
 * (GFLOP/s of generated code, of cuBLAS):
 *   float32  24 square: 7681, 8314; 32: 14300, 14200; 48: 12900, 14900; 64: 19400, 26300; 256: 11200, 45100
 *   float64  16: 3283, 2191; 32: 4554, 10131        float16     16: 6520, 2630; 32: 10274, 19517
 *   complex64  16: 11594, 5921; 32: 14510, 26876    complex128  16: 5976, 7371; 64: 5123, 25449
 * One product of many multiplications is always worth it, however small one extent (4096 square times a vector: 221, 1006), but
 * not if two are: a matrix times 4 million vectors, float32, 8 square: 4659, 2369; 16: 4401, 7000. */
static const int work_from[DT_COUNT] = {
    [DT_FLOAT16] = 24 * 24 * 24, [DT_BFLOAT16] = 24 * 24 * 24,  [DT_FLOAT32] = 24 * 24 * 24,
    [DT_FLOAT64] = 20 * 20 * 20, [DT_COMPLEX64] = 24 * 24 * 24, [DT_COMPLEX128] = 14 * 14 * 14,
};

/* The middle one of the three extents. */
static int64_t middle(const nd_product *p) {
    int64_t low = p->m < p->n ? p->m : p->n, high = p->m < p->n ? p->n : p->m;
    return p->p < low ? low : p->p < high ? p->p : high;
}

/* Products that are done before the device is full, where what the host and the kernel take before the first multiplication counts: cuBLAS takes
 * the host 4 to 12 microseconds a call. Microseconds on an H200 of calls one after the other, and of a graph of them, by cuBLAS 13.1 and by
 * generated code:
 *   float32  64 square: 6.4, 3.9 and 3.5, 3.3; 4 of them: 7.0, 4.0 and 3.8, 3.4; 16: 7.1, 5.2 and 3.9, 4.5; 128: 6.0, 5.3 and 4.7, 4.7;
 *            256: 11.5, 8.2 and 6.7, 7.5; 2 of them: 8.2, 12.7; 384: 11.1, 12.6; 128 x 512 x 128: 8.4, 9.1 and 7.2, 9.3
 *   complex64  64: 9.7, 6.1 and 5.8, 3.9; 128: 6.7, 6.3 and 6.1, 5.8; 192: 8.7, 12.3      float64  64: 7.4, 5.4 and 2.8, 4.9 */
static bool are_few(const gpu_gemm *g, dtype type) {
    const nd_product *p = &g->p;
    double calls = (double)g->calls.count * (double)g->batch, work = (double)p->m * (double)p->n * (double)p->p * calls;
    bool thin = p->m < FEW_SIDE || p->n < FEW_SIDE || p->p < FEW_SIDE;
    if (thin || (type != DT_FLOAT32 && type != DT_COMPLEX64))
        return false;
    return work <= FEW_ANY || (calls <= FEW_CALLS && p->n <= FEW_TERMS && work <= FEW_WORK) ||
           (calls <= 1 && type == DT_FLOAT32 && p->n <= ONE_TERMS && work <= ONE_WORK);
}

/* A batch of matrices times a vector each, of which all is read once. TB/s on an H200, by cuBLAS 13.1 and by generated code:
 *   float32   128 square: 2.71, 3.58; 256: 3.42, 3.67; 512: 3.64, 3.27; 64 x 1024: 3.65, 3.83; 1024 x 64: 0.89, 3.70; 4096 x 64: 0.89, 3.39
 *   float64   128: 3.44, 3.85; 256: 3.86, 3.84; 512: 3.86, 2.94         bfloat16  128: 3.53, 3.63; 256: 3.78, 3.64; 255: 1.54, 2.38
 * Of sums along columns cuBLAS's are faster but for the smallest. */
static bool reads_rows_once(const launch *l, const nd_product *p, const gpu_gemm *g, dtype type) {
    bool rows = l->blas == BLAS_GEMV && p->p == 1 && p->left.inner == 1 && g->calls.count * g->batch > 1;
    int64_t elements = p->m * p->n;
    bool small = elements <= VECTOR_MATRIX || (type == DT_FLOAT32 && p->n <= VECTOR_ROW && elements <= VECTOR_SHORT);
    return rows && small && !dtype_is_complex(type);
}

static bool pays(const launch *l, const gpu_gemm *g, dtype type) {
    const nd_product *p = &g->p;
    double work = (double)p->m * (double)p->n * (double)p->p;
    bool few = are_few(g, type) && !(l->fast & UF_FAST_TF32); /* which a library alone knows to use */
    return work >= work_from[type] && !few && middle(p) >= MIDDLE &&
           (g->calls.count == 1 || work * (double)g->batch >= CALL_WORK);
}

bool gpu_gemm_plan(const launch *l, gpu_gemm *out) {
    dtype type = l->blas == BLAS_NONE ? DT_NONE : nd_product_type(l->v);
    nd_product p;
    if (type == DT_NONE || !nd_product_read(l->blas, l->layout, l->core, &p) || !l->loop->count || !p.m || !p.n || !p.p)
        return false;
    p.left.conjugate = p.left.conjugate && dtype_is_complex(type);
    nd_product_merge(l->loop, fits, &p, &out->calls);
    if (!lay(&p, out))
        return false;
    take_batch(out);
    return pays(l, out, type) && !reads_rows_once(l, &p, out, type);
}
