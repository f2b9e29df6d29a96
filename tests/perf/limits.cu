// limits.cu - what the hardware allows: hand-written CUDA C++ and CUB on the shapes of bench.c, in the same run.
// nvcc -O3 -std=c++17 -arch=sm_90 limits.cu -o limits
#include "limits.cuh"

#include <cub/cub.cuh>

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

// Batched matrix times vector. 8 x 8: a thread a row. 32 x 32: a warp a matrix, eight lanes a row. 256 x 256: a block 32 rows,
// a warp a row at a time.
__device__ __forceinline__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__global__ void k_matvec8(const float4 *a, const float4 *x, float *y, size_t count) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, b = i >> 3;
    if (b < count)
        y[i] = dot(a[i * 2], x[b * 2]) + dot(a[i * 2 + 1], x[b * 2 + 1]);
}

__global__ void k_matvec32(const float4 *a, const float4 *x, float *y, size_t count) {
    size_t w = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int l = threadIdx.x & 31;
    if (w >= count)
        return;
    float4 p = x[w * 8 + (l & 7)], v[8];
#pragma unroll
    for (int u = 0; u < 8; u++)
        v[u] = a[w * 256 + u * 32 + l];
#pragma unroll
    for (int u = 0; u < 8; u++) {
        float s = dot(v[u], p);
#pragma unroll
        for (int d = 4; d; d >>= 1)
            s += __shfl_xor_sync(~0u, s, d, 8);
        if (!(l & 7))
            y[w * 32 + u * 4 + (l >> 3)] = s;
    }
}

__global__ void k_matvec256(const float4 *a, const float4 *x, float *y) {
    __shared__ float4 p[64];
    if (threadIdx.x < 64)
        p[threadIdx.x] = x[blockIdx.y * 64 + threadIdx.x];
    __syncthreads();
    int w = threadIdx.x >> 5, l = threadIdx.x & 31;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 32 + w * 4 + k;
        const float4 *r = a + ((size_t)blockIdx.y * 256 + i) * 64;
        float s = dot(r[l], p[l]) + dot(r[l + 32], p[l + 32]);
#pragma unroll
        for (int q = 16; q; q >>= 1)
            s += __shfl_xor_sync(~0u, s, q);
        if (!l)
            y[blockIdx.y * 256 + i] = s;
    }
}

// The last results of a batch of n x n matrices times vectors.
static void check_matvec(const std::vector<float> &a, const std::vector<float> &x, const float *y, size_t n, size_t count) {
    std::vector<float> got(n);
    CHECK(cudaMemcpy(got.data(), y + (count - 1) * n, 4 * n, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        double want = 0;
        for (size_t j = 0; j < n; j++)
            want += (double)a[((count - 1) * n + i) * n + j] * x[(count - 1) * n + j];
        check(got[i], want, "matvec");
    }
}

int main() {
    const size_t n = (size_t)1 << 28;
    float *x, *y, *r;
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&y, 4 * n));
    CHECK(cudaMalloc(&r, 4 * n));
    std::vector<float> h = numbers(n);
    CHECK(cudaMemcpy(x, h.data(), 4 * n, cudaMemcpyHostToDevice));
    std::vector<float> first = h;
    std::reverse(h.begin(), h.end());
    CHECK(cudaMemcpy(y, h.data(), 4 * n, cudaMemcpyHostToDevice));

    auto copying = timed([&] { cudaMemcpyAsync(r, x, 4 * n, cudaMemcpyDeviceToDevice); });
    for (const char *name : {"gpu_copy_f32", "gpu_softmax_f32_64", "gpu_softmax_f32_1024", "gpu_softmax_f32_1M"})
        row(name, "cudaMemcpyAsync", "GB/s", 8e-9 * n, copying);
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

    const float4 *a = (const float4 *)x, *v = (const float4 *)y;
    auto matvec = [&](const char *name, size_t size, size_t count, auto work) {
        work();
        check_matvec(first, h, r, size, count);
        row(name, "CUDA", "GB/s", 4e-9 * count * (size * size + 2 * size), timed(work));
    };
    matvec("gpu_matvec_f32_8x8", 8, 1 << 20, [&] { k_matvec8<<<(1 << 23) / 256, 256>>>(a, v, r, 1 << 20); });
    matvec("gpu_matvec_f32_32x32", 32, 1 << 16, [&] { k_matvec32<<<(1 << 16) / 8, 256>>>(a, v, r, 1 << 16); });
    matvec("gpu_matvec_f32_256x256", 256, 1 << 12, [&] { k_matvec256<<<dim3(8, 1 << 12), 256>>>(a, v, r); });

    size_t size = 0;
    void *scratch;
    double total = 0;
    float got;
    CHECK(cub::DeviceReduce::Sum(nullptr, size, x, r, (int)n));
    CHECK(cudaMalloc(&scratch, size));
    auto summing = timed([&] { cub::DeviceReduce::Sum(scratch, size, x, r, (int)n); });
    for (float e : first)
        total += e;
    CHECK(cudaMemcpy(&got, r, 4, cudaMemcpyDeviceToHost));
    check(got, total, "sum");
    for (const char *name : {"gpu_norm_f32_64", "gpu_norm_f32_1024", "gpu_norm_f32_1M"})
        row(name, "CUB DeviceReduce::Sum", "GB/s", 4e-9 * n, summing);
}
