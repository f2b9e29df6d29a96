// limits_reduce.cu - what the hardware allows for reductions and scans: CUB, and hand-written CUDA for the shapes that it has
// nothing fast for, on the cases of bench_reduce.c, in the same run.
// nvcc -O3 -std=c++17 -arch=sm_90 limits_reduce.cu -o limits_reduce
#include "limits.cuh"

#include <cub/cub.cuh>

__device__ __forceinline__ float across(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ __forceinline__ float4 plus(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// Rows of 64: sixteen lanes a row, four rows of each group in flight.
__global__ void k_rows64(const float4 *x, float *r, size_t rows) {
    size_t group = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 4, groups = ((size_t)gridDim.x * blockDim.x) >> 4;
    int lane = threadIdx.x & 15;
    for (size_t i = group; i < rows; i += 4 * groups) {
        float s[4];
#pragma unroll
        for (int u = 0; u < 4; u++) {
            size_t j = i + u * groups;
            s[u] = j < rows ? across(x[j * 16 + lane]) : 0;
        }
#pragma unroll
        for (int u = 0; u < 4; u++) {
#pragma unroll
            for (int d = 8; d; d >>= 1)
                s[u] += __shfl_xor_sync(~0u, s[u], d, 16);
            if (!lane && i + u * groups < rows)
                r[i + u * groups] = s[u];
        }
    }
}

// Rows of 1024: a warp a row.
__global__ void k_rows1024(const float4 *x, float *r, size_t rows) {
    size_t w = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (w >= rows)
        return;
    float4 v[8];
#pragma unroll
    for (int u = 0; u < 8; u++)
        v[u] = x[w * 256 + u * 32 + lane];
    float s = 0;
#pragma unroll
    for (int u = 0; u < 8; u++)
        s += across(v[u]);
#pragma unroll
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    if (!lane)
        r[w] = s;
}

// Columns of rows of 64: blocks of sixteen lanes by sixteen rows leave partial sums, which one block adds.
__global__ void k_columns64(const float4 *x, float4 *part, size_t rows) {
    __shared__ float4 t[16][16];
    int lane = threadIdx.x & 15, high = threadIdx.x >> 4;
    float4 s = make_float4(0, 0, 0, 0);
    size_t step = (size_t)gridDim.x * 16, i = (size_t)blockIdx.x * 16 + high;
    for (; i + 3 * step < rows; i += 4 * step) {
        float4 v[4];
#pragma unroll
        for (int u = 0; u < 4; u++)
            v[u] = x[(i + u * step) * 16 + lane];
#pragma unroll
        for (int u = 0; u < 4; u++)
            s = plus(s, v[u]);
    }
    for (; i < rows; i += step)
        s = plus(s, x[i * 16 + lane]);
    t[high][lane] = s;
    __syncthreads();
    if (high)
        return;
    for (int k = 1; k < 16; k++)
        s = plus(s, t[k][lane]);
    part[blockIdx.x * 16 + lane] = s;
}

__global__ void k_columns64_end(const float4 *part, float4 *r, int n) {
    __shared__ float4 t[64][16];
    int lane = threadIdx.x & 15, high = threadIdx.x >> 4;
    float4 s = make_float4(0, 0, 0, 0);
    for (int i = high; i < n; i += 64)
        s = plus(s, part[i * 16 + lane]);
    t[high][lane] = s;
    __syncthreads();
    if (high)
        return;
    for (int k = 1; k < 64; k++)
        s = plus(s, t[k][lane]);
    r[lane] = s;
}

static const size_t n = (size_t)1 << 28;
static std::vector<float> host;

static double plain_sum(size_t first, size_t count, size_t stride) {
    double s = 0;
    for (size_t k = 0; k < count; k++)
        s += host[first + k * stride];
    return s;
}

static float fetch(const float *r, size_t at) {
    float v;
    CHECK(cudaMemcpy(&v, r + at, 4, cudaMemcpyDeviceToHost));
    return v;
}

// The rates that many aims are measured by.
static const char *const reads[] = {
    "gpu_sum_f32", "gpu_prod_f32", "gpu_user_f32", "gpu_argmax_f32", "gpu_minmax_f32", "gpu_sum_f32_16384x16384_axis0",
    "gpu_sum_f32_16384x16384_axis1", "gpu_sum_f32_4194304x64_axis0", "gpu_sum_f32_4194304x64_axis1",
    "gpu_sum_f32_64x4194304_axis0", "gpu_sum_f32_64x4194304_axis1", "gpu_sum_f32_262144x1024_axis0",
    "gpu_sum_f32_262144x1024_axis1", "gpu_sum_f32_1024x262144_axis0", "gpu_sum_f32_1024x262144_axis1",
    "gpu_sum_f32_512x512x1024_axis1", "gpu_sum_f16", "gpu_sum_f16_axis0", "gpu_sum_f16_axis1", "gpu_sum_i8",
    "gpu_sum_i8_axis0", "gpu_sum_i8_axis1", "gpu_sum_f64", "gpu_sum_f64_axis0", "gpu_sum_f64_axis1"};
static const char *const scans[] = {"gpu_cumsum_f32", "gpu_cumsum_f32_16384x16384_axis0", "gpu_cumsum_f32_16384x16384_axis1"};

// CUB's functions ask for their scratch memory by a first call.
template <class Work> static std::vector<double> with_scratch(Work work) {
    size_t size = 0;
    void *scratch = nullptr;
    CHECK(work(scratch, size));
    CHECK(cudaMalloc(&scratch, size));
    CHECK(work(scratch, size));
    auto t = timed([&] { work(scratch, size); });
    CHECK(cudaFree(scratch));
    return t;
}

int main() {
    float *x, *r;
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&r, 4 * n));
    host = numbers(n);
    CHECK(cudaMemcpy(x, host.data(), 4 * n, cudaMemcpyHostToDevice));

    auto summing = with_scratch([&](void *t, size_t &s) { return cub::DeviceReduce::Sum(t, s, x, r, (int)n); });
    check(fetch(r, 0), plain_sum(0, n, 1), "sum");
    for (const char *name : reads)
        row(name, "CUB DeviceReduce::Sum", "GB/s", 4e-9 * n, summing);
    auto scanning = with_scratch([&](void *t, size_t &s) { return cub::DeviceScan::InclusiveSum(t, s, x, r, (int)n); });
    check(fetch(r, n - 1), plain_sum(0, n, 1), "scan");
    check(fetch(r, n / 3), plain_sum(0, n / 3 + 1, 1), "scan");
    for (const char *name : scans)
        row(name, "CUB DeviceScan::InclusiveSum", "GB/s", 8e-9 * n, scanning);

    const float4 *v = (const float4 *)x;
    auto rows = [&](const char *name, size_t length, auto work) {
        work();
        for (size_t i : {(size_t)0, n / length / 3, n / length - 1})
            check(fetch(r, i), plain_sum(i * length, length, 1), name);
        row(name, "CUDA", "GB/s", 4e-9 * n, timed(work));
    };
    rows("gpu_sum_f32_4194304x64_axis1", 64, [&] { k_rows64<<<132 * 16, 256>>>(v, r, n / 64); });
    rows("gpu_sum_f32_262144x1024_axis1", 1024, [&] { k_rows1024<<<n / 1024 / 8, 256>>>(v, r, n / 1024); });
    auto columns = [&] {
        k_columns64<<<132 * 16, 256>>>(v, (float4 *)r + 16, n / 64);
        k_columns64_end<<<1, 1024>>>((float4 *)r + 16, (float4 *)r, 132 * 16);
    };
    columns();
    for (size_t j : {0, 21, 63})
        check(fetch(r, j), plain_sum(j, n / 64, 64), "columns");
    row("gpu_sum_f32_4194304x64_axis0", "CUDA", "GB/s", 4e-9 * n, timed(columns));
}
