/* plain.c - the loops a C programmer would write, built with -O3 -march=native by run.sh and loaded by bench.c. */
#include <stdint.h>

void plain_rel_diff(const float *x, const float *y, float *r, int64_t n);
void plain_outer(const float *a, const float *b, float *r, int64_t m, int64_t n);
void plain_strided(const double *x, double *r, int64_t n, int64_t stride);

void plain_rel_diff(const float *restrict x, const float *restrict y, float *restrict r, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        r[i] = 2 * (x[i] - y[i]) / (x[i] + y[i]);
}

void plain_outer(const float *restrict a, const float *restrict b, float *restrict r, int64_t m, int64_t n) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            r[i * n + j] = 2 * (a[i] - b[j]) / (a[i] + b[j]);
}

void plain_strided(const double *restrict x, double *restrict r, int64_t n, int64_t stride) {
    for (int64_t i = 0; i < n; i++)
        r[i] = x[i * stride] * 3 + 1;
}
