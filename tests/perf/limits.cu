// limits.cu - what the hardware allows: hand-written CUDA C++ and CUB on the shapes of bench.c, in the same run.
// nvcc -O3 -std=c++17 -arch=sm_90 limits.cu -o limits
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
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

struct Rel {
    __host__ __device__ float operator()(float x, float y) const { return 2 * (x - y) / (x + y); }
};
__device__ __forceinline__ float rel(float x, float y) { return 2 * (x - y) / (x + y); }
__device__ __forceinline__ float4 rel(float4 a, float4 b) {
    return make_float4(rel(a.x, b.x), rel(a.y, b.y), rel(a.z, b.z), rel(a.w, b.w));
}

template <int U> __global__ void k_rel(const float4 *x, const float4 *y, float4 *r, size_t n4) {
    size_t base = (size_t)blockIdx.x * blockDim.x * U + threadIdx.x;
    float4 a[U], b[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        size_t i = base + (size_t)u * blockDim.x;
        if (i < n4) {
            a[u] = x[i];
            b[u] = y[i];
        }
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
        size_t i = base + (size_t)u * blockDim.x;
        if (i < n4)
            r[i] = rel(a[u], b[u]);
    }
}

// r[i][j] = rel(a[i], b[j]): eight rows a thread, four columns each
__global__ void k_outer(const float *a, const float *b, float *r, int m) {
    int j = (blockIdx.x * blockDim.x + threadIdx.x) * 4, i0 = blockIdx.y * 8;
    if (j >= m)
        return;
    float4 v = *(const float4 *)(b + j);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float x = a[i0 + k];
        *(float4 *)(r + (size_t)(i0 + k) * m + j) = rel(make_float4(x, x, x, x), v);
    }
}

__global__ void k_mandelbrot(const double *xs, const double *ys, unsigned char *o, int w, int limit) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= w)
        return;
    double cr = xs[j], ci = ys[i], zr = 0, zi = 0;
    int v = 255;
    for (int k = 0; k < limit; k++) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        if (zr * zr + zi * zi >= 4) {
            v = 255 * k / limit;
            break;
        }
    }
    o[(size_t)i * w + j] = (unsigned char)v;
}

int main() {
    const size_t n = (size_t)1 << 28;
    float *x, *y, *r;
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&y, 4 * n));
    CHECK(cudaMalloc(&r, 4 * n));
    std::vector<float> h(n);
    unsigned s = 1;
    for (auto &v : h) {
        s = s * 1664525u + 1013904223u;
        v = 0.5f + (s >> 8) * (1.5f / 16777216);
    }
    CHECK(cudaMemcpy(x, h.data(), 4 * n, cudaMemcpyHostToDevice));
    std::reverse(h.begin(), h.end());
    CHECK(cudaMemcpy(y, h.data(), 4 * n, cudaMemcpyHostToDevice));

    row("gpu_copy_f32", "cudaMemcpyAsync", "GB/s", 8e-9 * n, timed([&] { cudaMemcpyAsync(r, x, 4 * n, cudaMemcpyDeviceToDevice); }));
    row("gpu_rel_diff_f32", "CUDA float4 x1", "GB/s", 12e-9 * n, timed([&] { k_rel<1><<<n / 4 / 256, 256>>>((float4 *)x, (float4 *)y, (float4 *)r, n / 4); }));
    row("gpu_rel_diff_f32", "CUDA float4 x2", "GB/s", 12e-9 * n, timed([&] { k_rel<2><<<n / 8 / 256, 256>>>((float4 *)x, (float4 *)y, (float4 *)r, n / 4); }));
    row("gpu_rel_diff_f32", "CUDA float4 x4", "GB/s", 12e-9 * n, timed([&] { k_rel<4><<<n / 16 / 256, 256>>>((float4 *)x, (float4 *)y, (float4 *)r, n / 4); }));
    row("gpu_rel_diff_f32", "CUB DeviceTransform", "GB/s", 12e-9 * n, timed([&] { cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), r, n, Rel{}); }));
    int m = 1 << 14;
    row("gpu_outer_bcast_f32", "CUDA float4", "GB/s", 4e-9 * m * m, timed([&] { k_outer<<<dim3(m / 1024, m / 8), 256>>>(x, y, r, m); }));

    int w = 12288, height = 8192;
    std::vector<double> hx(w), hy(height);
    for (int i = 0; i < w; i++)
        hx[i] = -2 + 3.0 * i / (w - 1);
    for (int i = 0; i < height; i++)
        hy[i] = -1 + 2.0 * i / (height - 1);
    double *dx, *dy;
    unsigned char *o;
    CHECK(cudaMalloc(&dx, 8 * w));
    CHECK(cudaMalloc(&dy, 8 * height));
    CHECK(cudaMalloc(&o, (size_t)w * height));
    CHECK(cudaMemcpy(dx, hx.data(), 8 * w, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dy, hy.data(), 8 * height, cudaMemcpyHostToDevice));
    for (int limit : {20, 1000}) {
        char name[32];
        snprintf(name, sizeof name, "gpu_mandelbrot%d_f64", limit);
        row(name, "CUDA", "Mpx/s", 1e-6 * w * height, timed([&] { k_mandelbrot<<<dim3(w / 256, height), 256>>>(dx, dy, o, w, limit); }, 7));
    }
}
