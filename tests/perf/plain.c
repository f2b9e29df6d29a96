/* plain.c - the loops a C programmer would write, built with -O3 -march=native by run.sh and loaded by bench.c. */
#include <stdint.h>

void plain_rel_diff(const float *x, const float *y, float *r, int64_t n);
void plain_outer(const float *a, const float *b, float *r, int64_t m, int64_t n);
void plain_strided(const double *x, double *r, int64_t n, int64_t stride);
void plain_table(const uint8_t *x, uint8_t *r, int64_t n);

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

/* Element i is (i * 167 + 13) % 256; see bench.c. */
#define T1(i) (uint8_t)((i)*167 + 13)
#define T4(i) T1(i), T1((i) + 1), T1((i) + 2), T1((i) + 3)
#define T16(i) T4(i), T4((i) + 4), T4((i) + 8), T4((i) + 12)
#define T64(i) T16(i), T16((i) + 16), T16((i) + 32), T16((i) + 48)
static const uint8_t table[256] = {T64(0), T64(64), T64(128), T64(192)};

void plain_table(const uint8_t *restrict x, uint8_t *restrict r, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        r[i] = table[x[i]];
}
