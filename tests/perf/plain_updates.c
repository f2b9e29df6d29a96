/* plain_updates.c - the loops a C programmer would write to count and add by index and to add up segments, on one thread, built with -O3
 * -march=native -fopenmp-simd by run.sh and loaded by bench_updates.c. */
#include <stdint.h>

void plain_counters(int64_t n, const int32_t *at, int64_t *bins);
void plain_sums(int64_t n, const int32_t *at, const double *x, double *bins);
void plain_segments(int64_t segments, const int64_t *starts, int64_t n, const float *x, float *sums);

void plain_counters(int64_t n, const int32_t *restrict at, int64_t *restrict bins) {
    for (int64_t i = 0; i < n; i++)
        bins[at[i]]++;
}

void plain_sums(int64_t n, const int32_t *restrict at, const double *restrict x, double *restrict bins) {
    for (int64_t i = 0; i < n; i++)
        bins[at[i]] += x[i];
}

/* A vector of partial sums, as the order of float sums is free in libufunc, too. */
void plain_segments(int64_t segments, const int64_t *restrict starts, int64_t n, const float *restrict x,
                    float *restrict sums) {
    for (int64_t k = 0; k < segments; k++) {
        int64_t end = k + 1 < segments ? starts[k + 1] : n;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = starts[k]; i < end; i++)
            sum += x[i];
        sums[k] = sum;
    }
}
