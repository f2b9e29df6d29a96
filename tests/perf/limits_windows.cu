// limits_windows.cu - what the hardware allows where elements are read again: hand-written CUDA C++ on the cases of bench_windows.c, in
// the same run. nvcc -O3 -std=c++17 -arch=sm_90 limits_windows.cu -o limits_windows (the case of contraction is what nvcc does by itself;
// pulls are compiled with -fmad=false semantics by intrinsics where ours have none)
#include "limits.cuh"

#include <cstdint>

static const int side = 1 << 13;
static float *x, *r;

// Tiles of 128 x 16 results with their borders in shared memory, 128 x 4 threads, four rows a thread.
template <int reach> __global__ void k_window(const float *__restrict__ u, float *__restrict__ v, int n, int m) {
    const int width = 128, rows = 16, across = width + 2 * reach;
    __shared__ float tile[rows + 2 * reach][across];
    int j0 = blockIdx.x * width, i0 = blockIdx.y * rows;
    for (int k = threadIdx.y * width + threadIdx.x; k < (rows + 2 * reach) * across; k += width * 4) {
        int i = i0 + k / across - reach, j = j0 + k % across - reach;
        tile[k / across][k % across] = i >= 0 && i < n && j >= 0 && j < m ? u[(size_t)i * m + j] : 0;
    }
    __syncthreads();
    int j = j0 + threadIdx.x;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        int i = i0 + threadIdx.y * 4 + q;
        float s = 0;
#pragma unroll
        for (int a = 0; a <= 2 * reach; a++)
#pragma unroll
            for (int b = 0; b <= 2 * reach; b++)
                s += tile[threadIdx.y * 4 + q + a][threadIdx.x + b];
        if (i >= reach && i < n - reach && j >= reach && j < m - reach)
            v[(size_t)i * m + j] = s * (1.0f / ((2 * reach + 1) * (2 * reach + 1)));
    }
}

// Bytes: tiles of 128 x 32 results through shared memory; four neighbours and eight rows a thread.
__global__ void k_sobel(const uint8_t *__restrict__ u, uint8_t *__restrict__ v, int n, int m) {
    __shared__ unsigned tile[34][34]; // words: one before and one behind
    int j0 = blockIdx.x * 128, i0 = blockIdx.y * 32;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 34 * 34; k += 128) {
        int i = i0 + k / 34 - 1, j = j0 + (k % 34 - 1) * 4;
        tile[k / 34][k % 34] = i >= 0 && i < n && j >= 0 && j < m ? *(const unsigned *)(u + (size_t)i * m + j) : 0;
    }
    __syncthreads();
    int j = j0 + threadIdx.x * 4;
    int w[3][6];
    auto take = [&](int (&to)[6], int row) {
        unsigned a = tile[row][threadIdx.x], b = tile[row][threadIdx.x + 1], c = tile[row][threadIdx.x + 2];
        to[0] = a >> 24, to[1] = b & 255, to[2] = b >> 8 & 255, to[3] = b >> 16 & 255, to[4] = b >> 24, to[5] = c & 255;
    };
    take(w[0], threadIdx.y * 8);
    take(w[1], threadIdx.y * 8 + 1);
#pragma unroll
    for (int q = 0; q < 8; q++) {
        int i = i0 + threadIdx.y * 8 + q;
        int(&up)[6] = w[q % 3], (&at)[6] = w[(q + 1) % 3], (&down)[6] = w[(q + 2) % 3];
        take(down, threadIdx.y * 8 + q + 2);
        unsigned out = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int gx = up[k + 2] + 2 * at[k + 2] + down[k + 2] - up[k] - 2 * at[k] - down[k];
            int gy = down[k] + 2 * down[k + 1] + down[k + 2] - up[k] - 2 * up[k + 1] - up[k + 2];
            out |= (unsigned)min((abs(gx) + abs(gy)) >> 2, 255) << 8 * k;
        }
        if (i > 0 && i < n - 1) {
            if (j == 0 || j + 4 >= m)
                for (int k = j == 0; k < 4 - (j + 4 >= m); k++)
                    v[(size_t)i * m + j + k] = (uint8_t)(out >> 8 * k);
            else
                *(unsigned *)(v + (size_t)i * m + j) = out;
        }
    }
}

__global__ void k_transpose_tiled(const float *a, float *b, int n, int m) {
    __shared__ float tile[32][33];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = a[(size_t)(i + k) * m + j];
    __syncthreads();
    j = blockIdx.y * 32 + threadIdx.x;
    i = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        b[(size_t)(i + k) * n + j] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void k_fill(float4 *r, size_t n4) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4)
        r[i] = make_float4(1, 2, 3, 4);
}

// Without contraction, as ours: a product and a sum are rounded each by itself.
__device__ __forceinline__ void pull(float4 self, float4 other, float3 &a) {
    float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    float d = __fadd_rn(__fadd_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)), __fmul_rn(dz, dz)), 1e-4f);
    float q = rsqrtf(d), w = __fmul_rn(__fmul_rn(__fmul_rn(other.w, q), q), q);
    a.x = __fadd_rn(a.x, __fmul_rn(w, dx));
    a.y = __fadd_rn(a.y, __fmul_rn(w, dy));
    a.z = __fadd_rn(a.z, __fmul_rn(w, dz));
}

__global__ void k_pull(const float4 *__restrict__ p, float4 *v, int n) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 self = p[i];
    float3 a = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = p[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; j++)
            pull(self, tile[j], a);
        __syncthreads();
    }
    v[i] = make_float4(a.x, a.y, a.z, 0);
}

static std::vector<float> host;

static float at(size_t i) {
    float v;
    CHECK(cudaMemcpy(&v, r + i, 4, cudaMemcpyDeviceToHost));
    return v;
}

template <int reach> static void window(const char *name) {
    auto work = [&] { k_window<reach><<<dim3(side / 128, side / 16), dim3(128, 4)>>>(x, r, side, side); };
    work();
    double sum = 0;
    for (int a = -reach; a <= reach; a++)
        for (int b = -reach; b <= reach; b++)
            sum += host[(size_t)(777 + a) * side + 1234 + b];
    check(at((size_t)777 * side + 1234), sum / ((2 * reach + 1) * (2 * reach + 1)), name);
    row(name, "CUDA shared", "GB/s", 8e-9 * side * side, timed(work));
    row(name, "cudaMemcpyAsync", "GB/s", 8e-9 * side * side,
        timed([&] { cudaMemcpyAsync(r, x, 4ul * side * side, cudaMemcpyDeviceToDevice); }));
}

static void pulls(const char *name, int m) {
    float4 *p = (float4 *)x, *v = (float4 *)r;
    std::vector<double> best;
    for (int block : {64, 128, 256, 512}) {
        auto t = timed([&] { k_pull<<<m / block, block, block * 16>>>(p, v, m); });
        std::sort(t.begin(), t.end());
        if (best.empty() || t[t.size() / 2] < best[best.size() / 2])
            best = t;
    }
    row(name, "CUDA tiled", "Gpair/s", 1e-9 * m * m, best);
}

int main() {
    const size_t n = (size_t)side * side;
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&r, 4 * n));
    host = numbers(n);
    CHECK(cudaMemcpy(x, host.data(), 4 * n, cudaMemcpyHostToDevice));
    window<1>("gpu_window3_f32");
    window<2>("gpu_window5_f32");
    row("gpu_sobel_u8", "CUDA shared", "GB/s", 2e-9 * n,
        timed([&] { k_sobel<<<dim3(side / 128, side / 32), dim3(32, 4)>>>((uint8_t *)x, (uint8_t *)r, side, side); }));
    row("gpu_transpose_f32", "CUDA tiled", "GB/s", 8e-9 * n,
        timed([&] { k_transpose_tiled<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(x, r, side, side); }));
    for (const char *name : {"gpu_distance3_f32", "gpu_distance4_f32"})
        row(name, "CUDA fill", "GB/s", 4e-9 * n, timed([&] { k_fill<<<n / 4 / 256, 256>>>((float4 *)r, n / 4); }));
    pulls("gpu_pull_f32", 1 << 14);
    pulls("gpu_pull64k_f32", 1 << 16);
}
