/* gu_known.c - generalized ufuncs with known answers: what people write by hand, at sizes for every mapping; empty
 * things, axes, optional dimensions, overlap, plans, inference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "gu_call.h"

static const char matvec[] = "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }";

static double *numbers(int64_t n, int modulus) {
    double *x = malloc((size_t)(n ? n : 1) * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)((i * 7919 + i / 7) % modulus) - modulus / 2;
    return x;
}

/* ---- Linear algebra ---- */

/* Whole numbers: sums are exact whatever the order. */
static void check_matvec(const uf_func *f, int64_t calls, int64_t m, int64_t n) {
    double *A = numbers(calls * m * n, 11), *x = numbers(calls * n, 7), *y = numbers(calls * m, 3);
    OK(GU_CALL(f, UF_ARRAY(A, calls, m, n), UF_ARRAY(x, calls, n), UF_ARRAY(y, calls, m)));
    for (int64_t i = 0; i < calls * m; i++) {
        double want = 0;
        for (int64_t j = 0; j < n; j++)
            want += A[i * n + j] * x[i / m * n + j];
        if (y[i] != want)
            fail_msg("%lld calls, %lld x %lld: element %lld is %g, not %g", (long long)calls, (long long)m,
                     (long long)n, (long long)i, y[i], want);
    }
    free(A);
    free(x);
    free(y);
}

void gu_matvec(void **state) {
    static const int64_t sizes[][3] = {{3000, 8, 8},  {2000, 3, 5},  {200, 32, 32},   {20, 100, 100}, {7, 256, 256},
                                       {2, 300, 700}, {1, 1, 65536}, {1, 2, 1 << 19}, {1, 4096, 9},   {3, 1, 1}};
    (void)state;
    uf_func *f = gu_make("(m,n),(n)->(m)", "float32,float32->float32; float64,float64->float64", matvec);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_matvec(f, sizes[i][0], sizes[i][1], sizes[i][2]);
    uf_free(f);
}

void gu_vecdot(void **state) {
    (void)state;
    float _Complex x[6], y[6], d[2], want[2];
    uf_func *f = gu_make("(n),(n)->()", "complex64,complex64->complex64",
                         "(x, y) -> (d) { d = sum(i : n, conj(x[i]) * y[i]); }");
    for (int i = 0; i < 6; i++) {
        x[i] = (float)i + (float)(i % 4 - 1) * _Complex_I;
        y[i] = (float)(2 - i) + 2.0f * _Complex_I;
    }
    for (int c = 0; c < 2; c++) {
        want[c] = 0;
        for (int i = 0; i < 3; i++)
            want[c] += conjf(x[3 * c + i]) * y[3 * c + i];
    }
    OK(GU_CALL(f, UF_ARRAY(x, 2, 3), UF_ARRAY(y, 2, 3), UF_ARRAY(d, 2)));
    assert_true(d[0] == want[0] && d[1] == want[1]);
    uf_free(f);
}

void gu_outer(void **state) {
    (void)state;
    int16_t x[40], y[30], r[40 * 30];
    for (int i = 0; i < 40; i++)
        x[i] = (int16_t)(i - 20);
    for (int j = 0; j < 30; j++)
        y[j] = (int16_t)(3 * j);
    uf_func *f =
        gu_make("(m),(n)->(m,n)", NULL, "(x, y) -> (r) { forall (i : m, j : n) r[i][j] = (int16)(x[i] * y[j]); }");
    OK(GU_CALL(f, UF_ARRAY(x, 40), UF_ARRAY(y, 30), UF_ARRAY(r, 40, 30)));
    for (int i = 0; i < 40 * 30; i++)
        assert_int_equal(r[i], x[i / 30] * y[i % 30]);
    uf_free(f);
}

/* Two steps of an elimination, of whole numbers: an element of each row stays along it, and that of the column that is eliminated is kept. */
static void check_elimination(const uf_func *f, int64_t calls, int64_t n) {
    int64_t size = calls * n * n;
    int32_t *a = malloc((size_t)size * sizeof *a), *got = malloc((size_t)size * sizeof *got);
    float *b = malloc((size_t)size * sizeof *b), *floats = malloc((size_t)size * sizeof *floats);
    for (int64_t i = 0; i < size; i++) {
        a[i] = (int32_t)((i * 7919 + i / 7) % 11 - 5);
        b[i] = (float)a[i];
    }
    OK(GU_CALL(f, UF_ARRAY(a, calls, n, n), UF_ARRAY(got, calls, n, n)));
    OK(GU_CALL(f, UF_ARRAY(b, calls, n, n), UF_ARRAY(floats, calls, n, n)));
    for (int64_t c = 0; c < calls; c++) {
        int32_t *y = a + c * n * n;
        for (int64_t k = 0; k < n && k < 2; k++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    if (i != k && j != k)
                        y[i * n + j] -= y[i * n + k] * y[k * n + j];
    }
    for (int64_t i = 0; i < size; i++)
        if (got[i] != a[i] || floats[i] != (float)a[i])
            fail_msg("%lld x %lld: element %lld is %d and %g, not %d", (long long)n, (long long)n, (long long)i,
                     (int)got[i], (double)floats[i], (int)a[i]);
    free(a);
    free(got);
    free(b);
    free(floats);
}

void gu_elimination(void **state) {
    (void)state;
    uf_func *f = gu_make("(n,n)->(n,n)", "int32->int32; float32->float32",
                         "(a) -> (y) {\n"
                         "    forall (i : n, j : n) y[i][j] = a[i][j];\n"
                         "    for (int64 k = 0; k < n && k < 2; k++)\n"
                         "        forall (i : n, j : n) if (i != k && j != k) y[i][j] -= y[i][k] * y[k][j];\n"
                         "}");
    for (int64_t n = 1; n < 40; n += n < 20 ? 1 : 6)
        for (int64_t calls = 1; calls < 200; calls += 150)
            check_elimination(f, calls, n);
    uf_free(f);
}

/* NumPy's matmul: a matrix product, and vectors on either side. */
void gu_matmul_forms(void **state) {
    (void)state;
    enum {
        M = 5,
        N = 7,
        P = 3,
        B = 4
    };
    int64_t *a = malloc(B * M * N * sizeof *a), *b = malloc(N * P * sizeof *b), *c = malloc(B * M * P * sizeof *c);
    uf_func *f = gu_make("(m?,n),(n,p?)->(m?,p?)", "int64,int64->int64",
                         "(a, b) -> (c) { forall (i : m, k : p) c[i][k] = sum(j : n, a[i][j] * b[j][k]); }");
    for (int i = 0; i < B * M * N; i++)
        a[i] = i % 13 - 5;
    for (int i = 0; i < N * P; i++)
        b[i] = i % 5 + 1;
    OK(GU_CALL(f, UF_ARRAY(a, B, M, N), UF_ARRAY(b, N, P), UF_ARRAY(c, B, M, P)));
    for (int i = 0; i < B * M * P; i++) {
        int64_t want = 0;
        for (int j = 0; j < N; j++)
            want += a[i / P * N + j] * b[j * P + i % P];
        assert_int_equal(c[i], want);
    }
    int64_t vector[M > P ? M : P], number;
    OK(GU_CALL(f, UF_ARRAY(a, M, N), UF_ARRAY(b, N), UF_ARRAY(vector, M)));
    for (int i = 0; i < M; i++) {
        int64_t want = 0;
        for (int j = 0; j < N; j++)
            want += a[i * N + j] * b[j];
        assert_int_equal(vector[i], want);
    }
    OK(GU_CALL(f, UF_ARRAY(a, N), UF_ARRAY(b, N, P), UF_ARRAY(vector, P)));
    for (int k = 0; k < P; k++) {
        int64_t want = 0;
        for (int j = 0; j < N; j++)
            want += a[j] * b[j * P + k];
        assert_int_equal(vector[k], want);
    }
    DLTensor scalar = {.data = &number, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}};
    OK(GU_CALL(f, UF_ARRAY(a, N), UF_ARRAY(b, N), scalar));
    int64_t want = 0;
    for (int j = 0; j < N; j++)
        want += a[j] * b[j];
    assert_int_equal(number, want);
    FAILS(UF_ERR_SHAPE, "argument 1: dimension 0 is 5, but n is 7 (from argument 0)",
          GU_CALL(f, UF_ARRAY(a, M, N), UF_ARRAY(b, 5), UF_ARRAY(vector, M)));
    free(a);
    free(b);
    free(c);
    uf_free(f);
}

/* ---- Reductions and what is made of them ---- */

static const char softmax[] = "(x) -> (y) { auto t = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - t));"
                              " forall (i : n) y[i] = exp(x[i] - t) / s; }";

void gu_softmax(void **state) {
    static const int64_t sizes[][2] = {{500, 5}, {100, 64}, {9, 1024}, {2, 20000}, {1, 1 << 20}};
    (void)state;
    uf_func *f = gu_make("(n)->(n)", "float32->float32; float64->float64", softmax);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t calls = sizes[s][0], n = sizes[s][1];
        double *x = numbers(calls * n, 23), *y = numbers(calls * n, 3);
        OK(GU_CALL(f, UF_ARRAY(x, calls, n), UF_ARRAY(y, calls, n)));
        for (int64_t c = 0; c < calls; c++) {
            double sum = 0, most = -DBL_MAX;
            for (int64_t i = 0; i < n; i++)
                most = fmax(most, x[c * n + i]);
            for (int64_t i = 0; i < n; i++)
                sum += exp(x[c * n + i] - most);
            for (int64_t i = 0; i < n; i++) {
                double want = exp(x[c * n + i] - most) / sum;
                if (!(fabs(y[c * n + i] - want) <= (double)(n + 20) * DBL_EPSILON * want))
                    fail_msg("%lld of %lld: %.17g, not %.17g", (long long)i, (long long)n, y[c * n + i], want);
            }
        }
        free(x);
        free(y);
    }
    uf_free(f);
}

void gu_norm(void **state) {
    static const int64_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 255, 1000, 4096, 100003, 1 << 20};
    (void)state;
    uf_func *f = gu_make("(n)->()", "float32->float32", "(x) -> (r) { r = sqrt(sum(i : n, x[i] * x[i])); }");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s], calls = n < 100 ? 100 : 2;
        float *x = malloc((size_t)(calls * n) * sizeof *x), r[100];
        for (int64_t i = 0; i < calls * n; i++)
            x[i] = (float)((i * 37) % 101) / 16 - 3;
        OK(GU_CALL(f, UF_ARRAY(x, calls, n), UF_ARRAY(r, calls)));
        for (int64_t c = 0; c < calls; c++) {
            double want = 0;
            for (int64_t i = 0; i < n; i++)
                want += (double)x[c * n + i] * x[c * n + i];
            want = sqrt(want);
            if (!(fabs(r[c] - want) <= (double)(n + 4) * FLT_EPSILON * want))
                fail_msg("n is %lld: %g, not %g", (long long)n, (double)r[c], want);
        }
        free(x);
    }
    uf_free(f);
}

void gu_pairwise(void **state) {
    (void)state;
    enum {
        N = 6,
        D = 3
    };
    double x[N * D], p[N * (N - 1) / 2];
    for (int i = 0; i < N * D; i++)
        x[i] = (i * i) % 17;
    uf_func *f =
        gu_make("(n,d)->(n*(n-1)/2)", "float64->float64",
                "(x) -> (p) { forall (i : n) { auto k = i * n - i * (i + 1) / 2; for (auto j = i + 1; j < n; j++)"
                " p[k + j - i - 1] = sqrt(sum(c : d, (x[i][c] - x[j][c]) * (x[i][c] - x[j][c]))); } }");
    OK(GU_CALL(f, UF_ARRAY(x, N, D), UF_ARRAY(p, N * (N - 1) / 2)));
    for (int i = 0, k = 0; i < N; i++)
        for (int j = i + 1; j < N; j++, k++) {
            double want = 0;
            for (int c = 0; c < D; c++)
                want += (x[i * D + c] - x[j * D + c]) * (x[i * D + c] - x[j * D + c]);
            assert_true(p[k] == sqrt(want));
        }
    FAILS(UF_ERR_SHAPE, "n*(n-1)/2 is 15", GU_CALL(f, UF_ARRAY(x, N, D), UF_ARRAY(p, 14)));
    assert_int_equal(uf_last_error()->argument, 1);
    assert_int_equal(uf_last_error()->dimension, 0);
    uf_free(f);
}

void gu_cumsum(void **state) {
    (void)state;
    enum {
        C = 33,
        N = 70
    };
    static int32_t x[C * N], y[C * N];
    for (int i = 0; i < C * N; i++)
        x[i] = i % 10 - 3;
    uf_func *f = gu_make("(n)->(n)", "int32->int32",
                         "(x) -> (y) { auto t = x[0] - x[0]; for (int64 i = 0; i < n; i++) { t += x[i]; y[i] = t; } }");
    OK(GU_CALL(f, UF_ARRAY(x, C, N), UF_ARRAY(y, C, N)));
    for (int c = 0; c < C; c++)
        for (int i = 0, t = 0; i < N; i++) {
            t += x[c * N + i];
            assert_int_equal(y[c * N + i], t);
        }
    uf_free(f);
}

void gu_histogram(void **state) {
    (void)state;
    enum {
        N = 1000,
        BINS = 10
    };
    static uint8_t x[N];
    int64_t h[2 * BINS], want[BINS] = {0};
    for (int i = 0; i < N; i++)
        x[i] = (uint8_t)(i * i % 13); /* those beyond the bins are dropped */
    for (int i = 0; i < N; i++)
        if (x[i] < BINS)
            want[x[i]]++;
    uf_func *f = gu_make("(n)->(bins)", "uint8->int64",
                         "(x) -> (h) { forall (b : bins) h[b] = 0; for (int64 i = 0; i < n; i++) h[x[i]]++; }");
    OK(GU_CALL(f, UF_ARRAY(x, N), UF_ARRAY(h, 2, BINS)));
    for (int b = 0; b < 2 * BINS; b++)
        assert_int_equal(h[b], want[b % BINS]);
    uf_free(f);
}

void gu_minmax(void **state) {
    static const int64_t sizes[][2] = {{1000, 3}, {50, 100}, {3, 5000}, {1, 300000}};
    (void)state;
    uf_func *f =
        gu_make("(n)->(),()", "float64->float64,int64",
                "(x) -> (low, at) { low = min(i : n, x[i]); at = n - 1 - max(i : n, x[i] == low ? n - 1 - i : -1); }");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t calls = sizes[s][0], n = sizes[s][1];
        double *x = numbers(calls * n, 41), *low = numbers(calls, 3);
        int64_t *at = malloc((size_t)calls * sizeof *at);
        OK(GU_CALL(f, UF_ARRAY(x, calls, n), UF_ARRAY(low, calls), UF_ARRAY(at, calls)));
        for (int64_t c = 0; c < calls; c++) {
            int64_t want = 0;
            for (int64_t i = 1; i < n; i++)
                want = x[c * n + i] < x[c * n + want] ? i : want;
            assert_int_equal(at[c], want);
            assert_true(low[c] == x[c * n + want]);
        }
        free(x);
        free(low);
        free(at);
    }
    uf_free(f);
}

/* The inputs are read beyond their ends on purpose: that gives 0. */
void gu_convolve(void **state) {
    (void)state;
    enum {
        M = 9,
        N = 4
    };
    int32_t x[M], y[N], r[M + N - 1];
    for (int i = 0; i < M; i++)
        x[i] = i + 1;
    for (int j = 0; j < N; j++)
        y[j] = 10 * j - 7;
    uf_func *f = gu_make("(m),(n)->(m+n-1)", "int32,int32->int32",
                         "(x, y) -> (r) { forall (k : m + n - 1) r[k] = sum(j : n, x[k - j] * y[j]); }");
    OK(GU_CALL(f, UF_ARRAY(x, M), UF_ARRAY(y, N), UF_ARRAY(r, M + N - 1)));
    for (int k = 0; k < M + N - 1; k++) {
        int want = 0;
        for (int j = 0; j < N; j++)
            want += k - j >= 0 && k - j < M ? x[k - j] * y[j] : 0;
        assert_int_equal(r[k], want);
    }
    uf_free(f);
}

/* A size that only the output has, and numbers for inputs without core dimensions. */
void gu_output_only(void **state) {
    (void)state;
    float r[3 * 11], first[3] = {0, 5, -2};
    uf_func *f =
        gu_make("(),()->(p)", "float32,float32->float32", "(a, step) -> (r) { forall (i : p) r[i] = a + i * step; }");
    OK(GU_CALL(f, UF_ARRAY(first, 3), UF_SCALAR(0.5), UF_ARRAY(r, 3, 11)));
    for (int i = 0; i < 33; i++)
        assert_true(r[i] == first[i / 11] + 0.5f * (float)(i % 11));
    OK(GU_CALL(f, UF_SCALAR(1.0f), UF_SCALAR(2.0f), UF_ARRAY(r, 33)));
    assert_true(r[32] == 65);
    int64_t shape[UF_MAX_NDIM];
    FAILS(UF_ERR_SHAPE, "known from the outputs alone",
          uf_infer(f, 3, (DLTensor[]){UF_ARRAY(first, 3), UF_SCALAR(0.5), {.shape = shape}}, NULL));
    uf_free(f);
}

/* ---- Nothing, and one ---- */

void gu_empty(void **state) {
    (void)state;
    int32_t x[4] = {1, 2, 3, 4}, s[3] = {9, 9, 9};
    struct {
        int64_t sum, product, least, most;
        bool some, all;
    } r;
    uf_func *f =
        gu_make("(n)->(),(),(),(),(),()", "int32->int64,int64,int64,int64,bool,bool",
                "(x) -> (s, p, l, m, o, a) { s = sum(i : n, x[i]); p = prod(i : n, x[i]); l = min(i : n, x[i]);"
                " m = max(i : n, x[i]); o = any(i : n, x[i] > 0); a = all(i : n, x[i] > 0); }");
    OK(GU_CALL(f, UF_ARRAY(x, 0), UF_ARRAY(&r.sum, 1), UF_ARRAY(&r.product, 1), UF_ARRAY(&r.least, 1),
               UF_ARRAY(&r.most, 1), UF_ARRAY(&r.some, 1), UF_ARRAY(&r.all, 1)));
    assert_true(r.sum == 0 && r.product == 1 && r.least == INT32_MAX && r.most == INT32_MIN);
    assert_true(!r.some && r.all);
    uf_free(f);
    f = gu_make("(n)->()", "int32->int32", "(x) -> (s) { s = sum(i : n, x[i]); }");
    OK(GU_CALL(f, UF_ARRAY(x, 0, 4), UF_ARRAY(s, 0)));
    OK(GU_CALL(f, UF_ARRAY(x, 0, 0), UF_ARRAY(s, 0)));
    assert_int_equal(s[0], 9);
    OK(GU_CALL(f, UF_ARRAY(x, 3, 0), UF_ARRAY(s, 3)));
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 0);
    OK(GU_CALL(f, UF_ARRAY(x, 2, 1, 2), UF_ARRAY(s, 2, 1)));
    assert_true(s[0] == 3 && s[1] == 7);
    uf_free(f);
    f = gu_make("(n)->(n)", "int32->int32", "(x) -> (y) { forall (i : n) y[i] = x[i]; }");
    OK(GU_CALL(f, UF_ARRAY(x, 4, 0), UF_ARRAY(s, 4, 0)));
    assert_int_equal(s[2], 0);
    uf_free(f);
}

/* Elements that are not assigned keep what they held; one without core dimensions starts at 0. */
void gu_unassigned(void **state) {
    (void)state;
    int32_t x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {7, 7, 7, 7, 7, 7}, s = 5;
    DLTensor scalar = {.data = &s, .device = {kDLCPU, 0}, .dtype = {kDLInt, 32, 1}};
    uf_func *f = gu_make(
        "(n)->(n),()", "int32->int32,int32",
        "(x) -> (y, s) { forall (i : n) if (x[i] % 2) y[i] += x[i]; y[n] = 1; y[-1] = 1; if (n > 100) s = 1; }");
    OK(GU_CALL(f, UF_ARRAY(x, 6), UF_ARRAY(y, 6), scalar));
    for (int i = 0; i < 6; i++)
        assert_int_equal(y[i], x[i] % 2 ? 7 + x[i] : 7);
    assert_int_equal(s, 0);
    uf_free(f);
}

/* What an output held is read before all of it is assigned; or the kernel ends before that; or it is assigned again, by
 * whichever threads. */
static void check_again(const char *source, int64_t calls, int64_t n, int old, int diagonal, int new) {
    int64_t size = calls * n * n;
    int32_t *x = malloc((size_t)(calls * n) * sizeof *x), *y = malloc((size_t)size * sizeof *y);
    for (int64_t i = 0; i < calls * n; i++)
        x[i] = (int32_t)i % 100;
    for (int64_t i = 0; i < size; i++)
        y[i] = 1000 + (int32_t)(i % 7);
    uf_func *f = gu_make("(n)->(n,n)", "int32->int32", source);
    OK(GU_CALL(f, UF_ARRAY(x, calls, n), UF_ARRAY(y, calls, n, n)));
    for (int64_t i = 0; i < size; i++) {
        int want = old * (1000 + (int)(i % 7)) + new *x[i / (n * n) * n + i % n] + (i / n % n == i % n ? diagonal : 0);
        if (y[i] != want)
            fail_msg("%s, %lld calls, n is %lld: element %lld is %d, not %d", source, (long long)calls, (long long)n,
                     (long long)i, y[i], want);
    }
    uf_free(f);
    free(x);
    free(y);
}

void gu_assigned_again(void **state) {
    static const int64_t sizes[][2] = {{500, 3}, {300, 6}, {40, 33}, {2, 300}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t calls = sizes[i][0], n = sizes[i][1];
        check_again("(x) -> (y) { forall (i : n, j : n) y[i][j] = y[i][j] + x[j]; }", calls, n, 1, 0, 1);
        check_again("(x) -> (y) { if (n > 2) return; forall (i : n, j : n) y[i][j] = x[j]; }", calls, n, 1, 0, 0);
        check_again("(x) -> (y) { forall (i : n) for (int64 j = 0; j < n; j++) y[j][i] = 5;"
                    " forall (i : n, j : n) y[i][j] = x[j]; }",
                    calls, n, 0, 0, 1);
        check_again(
            "(x) -> (y) { forall (i : n, j : n) y[i][j] = x[j] - 7; forall (j : n) for (int64 i = 0; i < n; i++)"
            " y[i][j] = x[j]; forall (i : n) y[i][i] += 3; }",
            calls, n, 0, 3, 1);
        check_again("(x) -> (y) { for (int64 k = 0; k < 3; k++) forall (i : n, j : n) y[k % 2 ? i : j][k % 2 ? j : i] ="
                    " k % 2 ? 0 : x[i]; }",
                    calls, n, 0, 0, 1);
    }
}

/* ---- Axes ---- */

void gu_axes(void **state) {
    (void)state;
    enum {
        A = 3,
        B = 4,
        C = 5
    };
    double x[A * B * C], s[A * B * C];
    for (int i = 0; i < A * B * C; i++)
        x[i] = i * i % 31;
    uf_func *f = gu_make("(n)->()", "float64->float64", "(x) -> (s) { s = sum(i : n, x[i]); }");
    for (int axis = -3; axis < 3; axis++)
        for (int keep = 0; keep < 2; keep++) {
            int at = axis < 0 ? axis + 3 : axis;
            int64_t shape[3] = {A, B, C}, left[3];
            int64_t step = at == 0 ? B * C : at == 1 ? C : 1, extent = shape[at];
            for (int d = 0, n = 0; d < 3; d++)
                if (d != at || keep)
                    left[n++] = d == at ? 1 : shape[d];
            uf_axes axes = {.size = sizeof axes, .axis = &axis, .keepdims = keep};
            DLTensor r = {
                .data = s, .device = {kDLCPU, 0}, .ndim = 2 + keep, .dtype = {kDLFloat, 64, 1}, .shape = left};
            OK(gu_call(f, 2, (DLTensor[]){UF_ARRAY(x, A, B, C), r},
                       &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
            for (int64_t i = 0; i < A * B * C / extent; i++) {
                double want = 0;
                for (int64_t k = 0; k < extent; k++)
                    want += x[i / step * step * extent + i % step + k * step];
                assert_true(s[i] == want);
            }
        }
    uf_free(f);
}

/* Matrix times vector with the matrix in the first dimensions. */
void gu_axes_lists(void **state) {
    (void)state;
    enum {
        M = 3,
        N = 4,
        B = 5
    };
    double A[N * M * B], x[N * B], y[B * M];
    for (int i = 0; i < N * M * B; i++)
        A[i] = i % 17;
    for (int i = 0; i < N * B; i++)
        x[i] = i % 5 - 2;
    uf_func *f = gu_make("(m,n),(n)->(m)", "float64,float64->float64", matvec);
    const uf_axis_list lists[] = {{2, (int[]){1, 0}}, {1, (int[]){0}}, {1, (int[]){-1}}};
    uf_axes axes = {.size = sizeof axes, .count = 3, .lists = lists};
    OK(gu_call(f, 3, (DLTensor[]){UF_ARRAY(A, N, M, B), UF_ARRAY(x, N, B), UF_ARRAY(y, B, M)},
               &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
    for (int b = 0; b < B; b++)
        for (int i = 0; i < M; i++) {
            double want = 0;
            for (int j = 0; j < N; j++)
                want += A[(j * M + i) * B + b] * x[j * B + b];
            assert_true(y[b * M + i] == want);
        }
    uf_free(f);
}

/* ---- Stretching ---- */

void gu_stretch(void **state) {
    (void)state;
    int32_t x[4] = {1, 2, 3, 4}, one = 10, r[4];
    uf_func *f =
        gu_make("(n),(n|1)->(n)", "int32,int32->int32", "(x, y) -> (r) { forall (i : n) r[i] = x[i] + y[i]; }");
    OK(GU_CALL(f, UF_ARRAY(x, 4), UF_ARRAY(&one, 1), UF_ARRAY(r, 4)));
    for (int i = 0; i < 4; i++)
        assert_int_equal(r[i], x[i] + 10);
    OK(GU_CALL(f, UF_ARRAY(x, 4), UF_ARRAY(x, 4), UF_ARRAY(r, 4)));
    assert_int_equal(r[3], 8);
    FAILS(UF_ERR_SHAPE, "argument 1: dimension 0 is 3, but n is 4 (from argument 0)",
          GU_CALL(f, UF_ARRAY(x, 4), UF_ARRAY(x, 3), UF_ARRAY(r, 4)));
    FAILS(UF_ERR_SHAPE, "argument 1: dimension 0 is 4, but n is 1 (from argument 0)",
          GU_CALL(f, UF_ARRAY(&one, 1), UF_ARRAY(x, 4), UF_ARRAY(r, 4)));
    uf_free(f);
}

/* ---- Overlap ---- */

/* Host arrays that share a block: on the GPU the block is copied as a whole. */
static void call_within(const uf_func *f, int32_t *block, int64_t size, int n, DLTensor *args) {
    DLManagedTensor *memory = NULL;
    if (gu_gpu) {
        OK(uf_empty(&memory, (DLDevice){kDLCUDA, 0}, (DLDataType){kDLInt, 32, 1}, 1, &size));
        OK(uf_copy(&memory->dl_tensor, &UF_ARRAY(block, size), NULL));
        for (int k = 0; k < n; k++) {
            args[k].data = (int32_t *)memory->dl_tensor.data + ((int32_t *)args[k].data - block);
            args[k].device = memory->dl_tensor.device;
        }
    }
    OK(uf_call(f, n, args, NULL));
    if (gu_gpu) {
        OK(uf_copy(&UF_ARRAY(block, size), &memory->dl_tensor, NULL));
        memory->deleter(memory);
    }
}

void gu_in_place(void **state) {
    enum {
        N = 37,
        B = 3,
        SIZE = B * N * N + 64
    };
    static int32_t block[SIZE], before[SIZE];
    static const int shifts[] = {0, 1, -1, N, 5 * N + 3, -N * N};
    (void)state;
    uf_func *f =
        gu_make("(n,n)->(n,n)", "int32->int32",
                "(x) -> (y) { forall (i : n, j : n) y[i][j] = x[j][i] + 1000; }"); /* reads what others wrote */
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        int calls = shifts[s] == 0 ? B : 1, from = N * N, to = from + shifts[s];
        if (calls > 1)
            from = to = 5;
        for (int i = 0; i < SIZE; i++)
            before[i] = block[i] = i;
        call_within(f, block, SIZE, 2,
                    (DLTensor[]){UF_ARRAY(block + from, calls, N, N), UF_ARRAY(block + to, calls, N, N)});
        for (int c = 0; c < calls; c++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    before[to + (c * N + i) * N + j] = from + (c * N + j) * N + i + 1000;
        assert_memory_equal(block, before, sizeof block);
    }
    uf_free(f);
}

/* Loops that share inputs with outputs: each call overwrites what a later one reads. */
void gu_in_place_loop(void **state) {
    enum {
        C = 100,
        N = 8,
        SIZE = (C + 1) * N
    };
    static int32_t block[SIZE], before[SIZE];
    (void)state;
    uf_func *f =
        gu_make("(n)->(n)", "int32->int32", "(x) -> (y) { forall (i : n) y[i] = sum(j : n, x[j]) + x[n - 1 - i]; }");
    for (int back = 0; back < 2; back++) {
        for (int i = 0; i < SIZE; i++)
            before[i] = block[i] = i * i % 1001;
        int32_t *in = block + (back ? N : 0), *out = block + (back ? 0 : N);
        call_within(f, block, SIZE, 2, (DLTensor[]){UF_ARRAY(in, C, N), UF_ARRAY(out, C, N)});
        for (int c = 0; c < C; c++)
            for (int i = 0; i < N; i++) {
                const int32_t *x = before + (in - block) + c * N;
                int want = x[N - 1 - i];
                for (int j = 0; j < N; j++)
                    want += x[j];
                assert_int_equal(out[c * N + i], want);
            }
    }
    uf_free(f);
}

/* ---- Signatures, inference, plans, threads ---- */

void gu_signatures(void **state) {
    (void)state;
    int8_t x[3] = {100, 100, 100};
    int64_t s64, n = 3, shape[UF_MAX_NDIM];
    uf_func *f =
        gu_make("(n)->()", "int8->int8; int16->int64; float64->float64", "(x) -> (s) { s = sum(i : n, x[i]); }");
    DLTensor args[] = {UF_ARRAY(x, n), {.shape = shape}};
    OK(uf_infer(f, 2, args, NULL));
    assert_true(args[1].dtype.code == kDLInt && args[1].dtype.bits == 8 && args[1].ndim == 0);
    uf_options forced = {.size = sizeof forced, .signature = "int16->int64"};
    OK(uf_infer(f, 2, args, &forced));
    assert_true(args[1].dtype.code == kDLInt && args[1].dtype.bits == 64);
    DLTensor scalar = {.data = &s64, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}};
    OK(gu_call(f, 2, (DLTensor[]){UF_ARRAY(x, 3), scalar}, &forced));
    assert_int_equal(s64, 300);
    OK(gu_call(f, 2, (DLTensor[]){UF_ARRAY(x, 3), scalar}, NULL));
    assert_int_equal(s64, 44); /* int8 wraps when it is stored */
    FAILS(UF_ERR_SIGNATURE, "int32",
          gu_call(f, 2, (DLTensor[]){UF_ARRAY(x, 3), scalar},
                  &(uf_options){.size = sizeof(uf_options), .signature = "int32->int32"}));
    uf_free(f);
}

void gu_infer_shapes(void **state) {
    (void)state;
    int64_t shape[2][UF_MAX_NDIM];
    double x[1];
    uf_func *f = gu_make("(m,n),(n|1)->(n,m),(m+n-1)", "float64,float64->float64,float64",
                         "(a, b) -> (t, c) { forall (i : m, j : n) t[j][i] = a[i][j] * b[j]; }");
    DLTensor args[] = {UF_ARRAY(x, 6, 1, 4, 3), UF_ARRAY(x, 5, 1), {.shape = shape[0]}, {.shape = shape[1]}};
    OK(uf_infer(f, 4, args, NULL));
    assert_true(args[2].ndim == 4 && args[3].ndim == 3);
    assert_memory_equal(shape[0], ((int64_t[]){6, 5, 3, 4}), 4 * sizeof(int64_t));
    assert_memory_equal(shape[1], ((int64_t[]){6, 5, 6}), 3 * sizeof(int64_t));
    const uf_axis_list lists[] = {{2, (int[]){3, 2}}, {1, (int[]){-1}}, {2, (int[]){0, -1}}, {1, (int[]){1}}};
    uf_axes axes = {.size = sizeof axes, .count = 4, .lists = lists};
    OK(uf_infer(f, 4, args, &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
    assert_memory_equal(shape[0], ((int64_t[]){4, 6, 5, 3}), 4 * sizeof(int64_t));
    assert_memory_equal(shape[1], ((int64_t[]){6, 6, 5}), 3 * sizeof(int64_t));
    uf_free(f);
    uf_description d = {.size = sizeof d};
    f = gu_make(" ( m , n ),(n)->( m )", NULL, matvec);
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "gufunc");
    assert_string_equal(d.layout, "(m,n),(n)->(m)");
    uf_free(f);
}

void gu_plans(void **state) {
    (void)state;
    enum {
        B = 40,
        M = 6,
        N = 9
    };
    static double A[2][B * M * N], x[2][N], y[2][B * M];
    DLDevice device = {gu_gpu ? kDLCUDA : kDLCPU, 0};
    DLDataType type = {kDLFloat, 64, 1};
    uf_func *f = gu_make("(m,n),(n)->(m)", "float64,float64->float64", matvec);
    DLTensor args[] = {UF_ARRAY(A[0], B, M, N), UF_ARRAY(x[0], N), UF_ARRAY(y[0], B, M)};
    for (int k = 0; k < 3; k++) {
        args[k].device = device;
        args[k].data = NULL;
    }
    uf_plan *plan;
    OK(uf_plan_new(&plan, f, 3, args, NULL));
    uf_free(f);
    for (int r = 0; r < 2; r++) {
        DLManagedTensor *memory[3];
        void *data[3];
        for (int i = 0; i < B * M * N; i++)
            A[r][i] = (i + r) % 9;
        for (int j = 0; j < N; j++)
            x[r][j] = j - r;
        DLTensor host[] = {UF_ARRAY(A[r], B, M, N), UF_ARRAY(x[r], N), UF_ARRAY(y[r], B, M)};
        for (int k = 0; k < 3; k++) {
            OK(uf_empty(&memory[k], device, type, host[k].ndim, host[k].shape));
            OK(uf_copy(&memory[k]->dl_tensor, &host[k], NULL));
            data[k] = memory[k]->dl_tensor.data;
        }
        OK(uf_plan_run(plan, data, NULL));
        OK(uf_copy(&host[2], &memory[2]->dl_tensor, NULL));
        FAILS(UF_ERR_ARGUMENT, "NULL", uf_plan_run(plan, (void *[]){data[0], NULL, data[2]}, NULL));
        for (int k = 0; k < 3; k++)
            memory[k]->deleter(memory[k]);
        for (int i = 0; i < B * M; i++) {
            double want = 0;
            for (int j = 0; j < N; j++)
                want += A[r][i * N + j] * x[r][j];
            assert_true(y[r][i] == want);
        }
    }
    uf_plan_free(plan);
}

/* A result does not depend on how many threads there are. */
void gu_threads(void **state) {
    (void)state;
    if (gu_gpu)
        skip();
    enum {
        B = 300,
        N = 100
    };
    static float x[B * N], y[B], z[B];
    for (int i = 0; i < B * N; i++)
        x[i] = 1.0f / (float)(i % 977 + 1);
    uf_func *f = gu_make("(n)->()", "float32->float32", "(x) -> (s) { s = sum(i : n, x[i]); }");
    OK(uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, B, N), UF_ARRAY(y, B)},
               &(uf_options){.size = sizeof(uf_options), .threads = 1}));
    for (int threads = 2; threads < 9; threads += 3) {
        OK(uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, B, N), UF_ARRAY(z, B)},
                   &(uf_options){.size = sizeof(uf_options), .threads = threads}));
        assert_memory_equal(y, z, sizeof y);
    }
    uf_free(f);
}
