// limits.cuh - what the programs of hand-written CUDA and CUB share: rows, clocks, checks.
#ifndef LIMITS_CUH
#define LIMITS_CUH

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t e = (call);                                      \
        if (e) {                                                     \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); \
            exit(1);                                                 \
        }                                                            \
    } while (0)

static void row(const char *name, const char *system, const char *metric, double scale, std::vector<double> t) {
    std::sort(t.begin(), t.end());
    size_t n = t.size();
    printf("%s,%s,%s,%.5g,%.3f\n", name, system, metric, scale / t[n / 2], (t[3 * n / 4] - t[n / 4]) / t[n / 2]);
    fflush(stdout);
}

template <class Work> static std::vector<double> timed(Work work, int runs = 31) {
    std::vector<double> t;
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    for (int k = -3; k < runs; k++) {
        float ms;
        cudaEventRecord(a);
        work();
        cudaEventRecord(b);
        cudaEventSynchronize(b);
        cudaEventElapsedTime(&ms, a, b);
        if (k >= 0)
            t.push_back(ms * 1e-3);
    }
    CHECK(cudaGetLastError());
    return t;
}

static void check(double got, double want, const char *what) {
    if (std::abs(got - want) <= 1e-4 * std::abs(want))
        return;
    fprintf(stderr, "%s: %g, not %g\n", what, got, want);
    exit(1);
}

template <class T> static T *to_gpu(const std::vector<T> &h) {
    T *d;
    CHECK(cudaMalloc(&d, h.size() * sizeof(T)));
    CHECK(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

// A number below another one, as bench.h draws them.
static unsigned draw_state;
static inline unsigned draw(unsigned below) {
    draw_state = draw_state * 1664525u + 1013904223u;
    return (unsigned)((unsigned long long)draw_state * below >> 32);
}

// The numbers that every program works on.
static std::vector<float> numbers(size_t n) {
    std::vector<float> h(n);
    unsigned s = 1;
    for (auto &v : h) {
        s = s * 1664525u + 1013904223u;
        v = 0.5f + (s >> 8) * (1.5f / 16777216);
    }
    return h;
}

#endif
