// limits_forall.cu - what the hardware allows for kernels over indices: hand-written CUDA C++, CUB and cuRAND on the cases of
// bench_forall.c, in the same run. "CUDA" is plain and good: a thread a point, of several shapes of blocks the fastest.
// nvcc -O3 -std=c++17 -arch=sm_90 limits_forall.cu -o limits_forall
#include "limits.cuh"

#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <curand_kernel.h>
#include <dlfcn.h>
#include <string>

// ---- Kernels ----

__device__ __forceinline__ float power(int decimals) {
    float f = 1;
    for (int k = 0; k < decimals; k++)
        f *= 10;
    return f;
}

__global__ void k_round(const float *x, float *r, size_t n, int decimals) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float f = power(decimals);
    if (i < n)
        r[i] = rintf(x[i] * f) / f;
}

__global__ void k_round4(const float4 *x, float4 *r, size_t n4, int decimals) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float f = power(decimals);
    if (i >= n4)
        return;
    float4 v = x[i];
    r[i] = make_float4(rintf(v.x * f) / f, rintf(v.y * f) / f, rintf(v.z * f) / f, rintf(v.w * f) / f);
}

__global__ void k_heat(const float *__restrict__ u, float *__restrict__ v, int n, int m, float k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= n - 1 || j >= m - 1)
        return;
    size_t c = (size_t)i * m + j;
    v[c] = u[c] + k * (u[c - m] + u[c + m] + u[c - 1] + u[c + 1] - 4 * u[c]);
}

// Four columns a thread and eight rows, each read once; the two neighbours of the four are found by single loads, which hit
// the cache.
__global__ void k_heat4(const float *__restrict__ u, float *__restrict__ v, int n, int m, float k) {
    const int rows = 8;
    int j = (blockIdx.x * blockDim.x + threadIdx.x) * 4, first = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (j >= m)
        return;
    auto line = [&](int i) { return i >= 0 && i < n ? *(const float4 *)(u + (size_t)i * m + j) : make_float4(0, 0, 0, 0); };
    float4 above = line(first - 1), here = line(first);
#pragma unroll
    for (int i = first; i < first + rows; i++) {
        float4 below = line(i + 1);
        if (i > 0 && i < n - 1) {
            const float *at = u + (size_t)i * m + j;
            float left = j ? at[-1] : 0, right = j + 4 < m ? at[4] : 0;
            float4 r = here;
            r.x += k * (above.x + below.x + left + here.y - 4 * here.x);
            r.y += k * (above.y + below.y + here.x + here.z - 4 * here.y);
            r.z += k * (above.z + below.z + here.y + here.w - 4 * here.z);
            r.w += k * (above.w + below.w + here.z + right - 4 * here.w);
            float *to = v + (size_t)i * m + j;
            if (j && j + 4 < m)
                *(float4 *)to = r;
            else {
                if (j)
                    to[0] = r.x;
                to[1] = r.y;
                to[2] = r.z;
                if (j + 4 < m)
                    to[3] = r.w;
            }
        }
        above = here;
        here = below;
    }
}

// A table for each block; sixteen bytes at a time.
template <class Counter> __global__ void k_histogram(const uint4 *b, Counter *h, size_t n16) {
    __shared__ unsigned own[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        own[k] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n16; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = b[i];
        for (unsigned w : {v.x, v.y, v.z, v.w})
#pragma unroll
            for (int k = 0; k < 4; k++)
                atomicAdd(&own[w >> 8 * k & 255], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        atomicAdd(&h[k], (Counter)own[k]);
}

// Each thread has a subsequence of the generator, as cuRAND's manual does it, and draws four at a time.
__global__ void k_uniform4(float4 *r, size_t n4, unsigned long long seed) {
    size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, first, 0, &state);
    for (size_t i = first; i < n4; i += step)
        r[i] = curand_uniform4(&state);
}

// Philox by hand: counter i, key seed, four words a thread, and no state.
__global__ void k_philox4(float4 *r, size_t n4, unsigned k0, unsigned k1) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4)
        return;
    uint4 c = make_uint4((unsigned)i, (unsigned)(i >> 32), 0, 0);
#pragma unroll
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        unsigned high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
        unsigned high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
    }
    const float unit = 1.0f / (1 << 24);
    r[i] = make_float4((c.x >> 8) * unit, (c.y >> 8) * unit, (c.z >> 8) * unit, (c.w >> 8) * unit);
}

struct precise {
    static __device__ __forceinline__ float weight(float m, float d) { return m / (d * sqrtf(d)); }
};
struct reciprocal {
    static __device__ __forceinline__ float weight(float m, float d) {
        float r = rsqrtf(d);
        return m * r * r * r;
    }
};

template <class Math> __device__ __forceinline__ void pull(float4 self, float4 other, float3 &a) {
    float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    float w = Math::weight(other.w, dx * dx + dy * dy + dz * dz + 1e-4f);
    a.x += w * dx;
    a.y += w * dy;
    a.z += w * dz;
}

__device__ __forceinline__ void move(float4 self, float3 a, float4 *v, float4 *q, float dt) {
    float4 u = *v;
    *v = u = make_float4(u.x + dt * a.x, u.y + dt * a.y, u.z + dt * a.z, u.w);
    *q = make_float4(self.x + dt * u.x, self.y + dt * u.y, self.z + dt * u.z, self.w);
}

template <class Math> __global__ void k_nbody(const float4 *__restrict__ p, float4 *v, float4 *q, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 self = p[i];
    float3 a = make_float3(0, 0, 0);
#pragma unroll 4
    for (int j = 0; j < n; j++)
        pull<Math>(self, p[j], a);
    move(self, a, v + i, q + i, dt);
}

// The others pass through shared memory, a block of them at a time.
template <class Math> __global__ void k_nbody_tiled(const float4 *__restrict__ p, float4 *v, float4 *q, int n, float dt) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 self = p[i];
    float3 a = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = p[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; j++)
            pull<Math>(self, tile[j], a);
        __syncthreads();
    }
    move(self, a, v + i, q + i, dt);
}

__global__ void k_life(const uint8_t *__restrict__ a, uint8_t *__restrict__ b, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= n - 1 || j >= m - 1)
        return;
    const uint8_t *at = a + (size_t)i * m + j;
    int c = at[-m - 1] + at[-m] + at[-m + 1] + at[-1] + at[1] + at[m - 1] + at[m] + at[m + 1];
    b[(size_t)i * m + j] = c == 3 || (c == 2 && *at);
}

__global__ void k_transpose(const float *a, float *b, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m)
        b[(size_t)j * n + i] = a[(size_t)i * m + j];
}

// Tiles of 32 x 32 through shared memory, eight rows of threads.
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

__global__ void k_gather(const float *__restrict__ a, const int *__restrict__ place, float *r, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = a[place[i]];
}

__global__ void k_gather4(const float *__restrict__ a, const int4 *__restrict__ place, float4 *r, size_t n4) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4)
        return;
    int4 k = place[i];
    r[i] = make_float4(a[k.x], a[k.y], a[k.z], a[k.w]);
}

__global__ void k_saxpy(const float *x, const float *y, float *r, float a, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = a * x[i] + y[i];
}

__global__ void k_saxpy4(const float4 *x, const float4 *y, float4 *r, float a, size_t n4) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4)
        return;
    float4 u = x[i], v = y[i];
    r[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}

__global__ void k_stencil3(const float *__restrict__ u, float *__restrict__ v, int n, float k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, h = blockIdx.z;
    if (h < 1 || i < 1 || j < 1 || h >= n - 1 || i >= n - 1 || j >= n - 1)
        return;
    size_t plane = (size_t)n * n, c = h * plane + (size_t)i * n + j;
    v[c] = u[c] + k * (u[c - plane] + u[c + plane] + u[c - n] + u[c + n] + u[c - 1] + u[c + 1] - 6 * u[c]);
}

// ---- The cases ----

static const size_t n = (size_t)1 << 28;
static const int side = 1 << 14;
static std::vector<float> host;
static float *x, *y, *r;

template <class T> static T fetch(const T *from, size_t at) {
    T v;
    CHECK(cudaMemcpy(&v, from + at, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

static std::vector<size_t> looks(size_t count) {
    std::vector<size_t> at;
    for (size_t k = 0; k < 32; k++)
        at.push_back(k < 4 ? k : k < 8 ? count + 3 - k : 0x9e3779b97f4a7c15u * k % count);
    return at;
}

// Runs `work` once on results of 0, looks at them and returns the times; `want(i)` is what element i should be.
template <class T, class Work, class Want>
static std::vector<double> good(const char *name, size_t count, Work work, Want want) {
    CHECK(cudaMemset(r, 0, sizeof(T) * count));
    work();
    CHECK(cudaDeviceSynchronize());
    for (size_t i : looks(count))
        check(fetch((const T *)r, i), want(i), name);
    return timed(work);
}

template <class Work, class Want>
static void rate(const char *name, const char *system, double gigabytes, size_t count, Work work, Want want) {
    row(name, system, "GB/s", gigabytes, good<float>(name, count, work, want));
}

// The fastest of several shapes of blocks.
template <class T, class Work, class Want>
static void shapes(const char *name, double gigabytes, size_t count, Work work, Want want) {
    std::vector<double> best;
    for (dim3 block : {dim3(32, 8), dim3(64, 4), dim3(128, 2), dim3(256, 1), dim3(32, 4), dim3(128, 1), dim3(512, 1)}) {
        auto t = good<T>(name, count, [&] { work(block); }, want);
        std::sort(t.begin(), t.end());
        if (best.empty() || t[t.size() / 2] < best[best.size() / 2])
            best = t;
    }
    row(name, "CUDA", "GB/s", gigabytes, best);
}

static void lines() {
    const float power = 1000;
    auto rounded = [&](size_t i) { return std::rint(host[i] * power) / power; };
    rate("gpu_round_f32", "CUDA", 8e-9 * n, n, [&] { k_round<<<n / 256, 256>>>(x, r, n, 3); }, rounded);
    rate("gpu_round_f32", "CUDA float4", 8e-9 * n, n,
         [&] { k_round4<<<n / 4 / 256, 256>>>((float4 *)x, (float4 *)r, n / 4, 3); }, rounded);
    auto saxpy = [&](size_t i) { return 1.5 * host[i] + host[n - 1 - i]; };
    rate("gpu_saxpy_f32", "CUDA", 12e-9 * n, n, [&] { k_saxpy<<<n / 256, 256>>>(x, y, r, 1.5f, n); }, saxpy);
    rate("gpu_saxpy_f32", "CUDA float4", 12e-9 * n, n,
         [&] { k_saxpy4<<<n / 4 / 256, 256>>>((float4 *)x, (float4 *)y, (float4 *)r, 1.5f, n / 4); }, saxpy);
}

static void gathers() {
    std::vector<int> place(n);
    for (size_t i = 0; i < n; i++)
        place[i] = (int)((unsigned)i * 2654435761u >> 12);
    CHECK(cudaMemcpy(y, place.data(), 4 * n, cudaMemcpyHostToDevice));
    auto want = [&](size_t i) { return host[place[i]]; };
    rate("gpu_gather_f32", "CUDA", 8e-9 * n, n, [&] { k_gather<<<n / 256, 256>>>(x, (int *)y, r, n); }, want);
    rate("gpu_gather_f32", "CUDA int4", 8e-9 * n, n,
         [&] { k_gather4<<<n / 4 / 256, 256>>>(x, (int4 *)y, (float4 *)r, n / 4); }, want);
}

static dim3 grid(dim3 block, int rows, int columns) {
    return dim3((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

static void planes() {
    auto heat = [&](size_t at) {
        size_t i = at / side, j = at % side;
        if (i < 1 || j < 1 || i + 1 >= side || j + 1 >= side)
            return 0.0;
        const float *u = &host[at];
        return u[0] + .125 * ((double)u[-side] + u[side] + u[-1] + u[1] - 4.0 * u[0]);
    };
    shapes<float>("gpu_heat_f32", 8e-9 * n, n, [&](dim3 b) { k_heat<<<grid(b, side, side), b>>>(x, r, side, side, .125f); }, heat);
    rate("gpu_heat_f32", "CUDA float4 x8", 8e-9 * n, n,
         [&] { k_heat4<<<dim3(side / 4 / 64, side / 8 / 4), dim3(64, 4)>>>(x, r, side, side, .125f); }, heat);
    auto turned = [&](size_t at) { return host[at % side * side + at / side]; };
    shapes<float>("gpu_transpose_f32", 8e-9 * n, n, [&](dim3 b) { k_transpose<<<grid(b, side, side), b>>>(x, r, side, side); }, turned);
    rate("gpu_transpose_f32", "CUDA tiled", 8e-9 * n, n,
         [&] { k_transpose_tiled<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(x, r, side, side); }, turned);
}

static void cubes() {
    const int m = 512;
    const size_t plane = (size_t)m * m, count = plane * m;
    auto want = [&](size_t at) {
        size_t h = at / plane, i = at / m % m, j = at % m;
        if (h < 1 || i < 1 || j < 1 || h + 1 >= m || i + 1 >= m || j + 1 >= m)
            return 0.0;
        const float *u = &host[at];
        return u[0] + .125 * ((double)u[-(long)plane] + u[plane] + u[-m] + u[m] + u[-1] + u[1] - 6.0 * u[0]);
    };
    auto work = [&](dim3 b) { k_stencil3<<<dim3(m / b.x, m / b.y, m), b>>>(x, r, m, .125f); };
    shapes<float>("gpu_stencil3_f32", 8e-9 * count, count, work, want);
}

static std::vector<uint8_t> random_bytes(unsigned mask) {
    std::vector<uint8_t> b(n);
    unsigned s = 1;
    for (auto &v : b) {
        s = s * 1664525u + 1013904223u;
        v = (uint8_t)(s >> 24 & mask);
    }
    return b;
}

static void life() {
    auto a = random_bytes(1);
    CHECK(cudaMemcpy(y, a.data(), n, cudaMemcpyHostToDevice));
    auto want = [&](size_t at) {
        size_t i = at / side, j = at % side;
        if (i < 1 || j < 1 || i + 1 >= side || j + 1 >= side)
            return 0;
        int c = 0;
        for (long d : {-side - 1, -side, -side + 1, -1, 1, side - 1, side, side + 1})
            c += a[at + d];
        return c == 3 || (c == 2 && a[at]) ? 1 : 0;
    };
    auto work = [&](dim3 b) { k_life<<<grid(b, side, side), b>>>((uint8_t *)y, (uint8_t *)r, side, side); };
    shapes<uint8_t>("gpu_life_u8", 2e-9 * n, n, work, want);
}

template <class Counter> static void histogram(const char *name, const std::vector<size_t> &want) {
    Counter *h = (Counter *)r, got[256];
    void *scratch = (char *)r + 65536;
    size_t size = 0;
    auto right = [&] {
        CHECK(cudaMemcpy(got, h, sizeof got, cudaMemcpyDeviceToHost));
        for (int k = 0; k < 256; k++)
            check((double)got[k], (double)want[k], name);
    };
    CHECK(cub::DeviceHistogram::HistogramEven(nullptr, size, (uint8_t *)y, h, 257, 0, 256, (int64_t)n));
    auto counting = [&] { cub::DeviceHistogram::HistogramEven(scratch, size, (uint8_t *)y, h, 257, 0, 256, (int64_t)n); };
    counting();
    right();
    row(name, "CUB DeviceHistogram::HistogramEven", "GB/s", 1e-9 * n, timed(counting));
    auto by_hand = [&] {
        cudaMemsetAsync(h, 0, sizeof got);
        k_histogram<<<132 * 8, 256>>>((uint4 *)y, h, n / 16);
    };
    by_hand();
    right();
    row(name, "CUDA shared", "GB/s", 1e-9 * n, timed(by_hand));
}

static void histograms() {
    auto b = random_bytes(255);
    std::vector<size_t> want(256);
    for (uint8_t v : b)
        want[v]++;
    CHECK(cudaMemcpy(y, b.data(), n, cudaMemcpyHostToDevice));
    histogram<int>("gpu_histogram_i32", want);
    histogram<unsigned long long>("gpu_histogram_i64", want);
}

template <class Work> static void bodies_rate(const char *system, int m, Work work) {
    CHECK(cudaMemset(r, 0, 16 * m));
    work();
    for (size_t at : looks(4 * m)) {
        size_t i = at / 4 * 4;
        double a = 0;
        for (int j = 0; j < 4 * m; j += 4) {
            double d = 1e-4;
            for (int k = 0; k < 3; k++)
                d += ((double)host[j + k] - host[i + k]) * ((double)host[j + k] - host[i + k]);
            a += host[j + 3] * ((double)host[j + at % 4] - host[at]) / (d * std::sqrt(d));
        }
        if (at % 4 < 3 && std::abs(fetch(r, at) - .5 * a) > 1e-2 + 1e-4 * std::abs(a)) {
            fprintf(stderr, "nbody, %s: wrong result\n", system);
            exit(1);
        }
    }
    row("gpu_nbody_f32", system, "Gpair/s", 1e-9 * m * m, timed(work));
}

static void bodies() {
    const int m = 1 << 14;
    float4 *p = (float4 *)x, *v = (float4 *)r, *q = v + m;
    bodies_rate("CUDA", m, [&] { k_nbody<precise><<<m / 128, 128>>>(p, v, q, m, .5f); });
    bodies_rate("CUDA rsqrtf", m, [&] { k_nbody<reciprocal><<<m / 128, 128>>>(p, v, q, m, .5f); });
    bodies_rate("CUDA tiled", m, [&] { k_nbody_tiled<precise><<<m / 128, 128, 128 * 16>>>(p, v, q, m, .5f); });
    bodies_rate("CUDA tiled rsqrtf", m, [&] { k_nbody_tiled<reciprocal><<<m / 128, 128, 128 * 16>>>(p, v, q, m, .5f); });
}

// ---- Random numbers ----

// Their first moments, which of so many are off by 2 parts in 10^5 as a rule; with 1 added, check allows seven times that.
template <class Work> static void uniform(const char *system, Work work) {
    CHECK(cudaMemset(r, 0, 4 * n));
    work();
    std::vector<float> got(n);
    CHECK(cudaMemcpy(got.data(), r, 4 * n, cudaMemcpyDeviceToHost));
    double sum = 0, squares = 0;
    for (float v : got) {
        sum += v;
        squares += (double)v * v;
    }
    check(1 + sum / n, 3.0 / 2, system);
    check(1 + squares / n, 4.0 / 3, system);
    row("gpu_uniform_f32", system, "GB/s", 4e-9 * n, timed(work));
}

// libcurand is opened at run time: not every machine with nvcc has it where the linker looks.
struct host_generator {
    int (*create)(void **, int);
    int (*seed)(void *, unsigned long long);
    int (*uniform)(void *, float *, size_t);
};

static bool curand_open(host_generator *c) {
    void *lib = nullptr;
    std::string root = getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "/usr/local/cuda";
    for (const std::string &name : {std::string("libcurand.so.10"), root + "/lib64/libcurand.so.10", root + "/lib/libcurand.so.10"})
        if (!lib)
            lib = dlopen(name.c_str(), RTLD_NOW);
    if (!lib)
        return false;
    c->create = (decltype(c->create))dlsym(lib, "curandCreateGenerator");
    c->seed = (decltype(c->seed))dlsym(lib, "curandSetPseudoRandomGeneratorSeed");
    c->uniform = (decltype(c->uniform))dlsym(lib, "curandGenerateUniform");
    return c->create && c->seed && c->uniform;
}

static void randoms() {
    const int philox = 161; // CURAND_RNG_PSEUDO_PHILOX4_32_10
    host_generator c;
    void *generator;
    if (!curand_open(&c) || c.create(&generator, philox) || c.seed(generator, 1))
        fprintf(stderr, "limits_forall: missing: libcurand; its rows are left out\n");
    else
        uniform("cuRAND host API", [&] { c.uniform(generator, r, n); });
    uniform("cuRAND device API", [&] { k_uniform4<<<132 * 8, 256>>>((float4 *)r, n / 4, 1); });
    uniform("CUDA float4", [&] { k_philox4<<<n / 4 / 256, 256>>>((float4 *)r, n / 4, 1, 0); });
}

int main() {
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&y, 4 * n));
    CHECK(cudaMalloc(&r, 4 * n));
    host = numbers(n);
    std::vector<float> reversed(host.rbegin(), host.rend());
    CHECK(cudaMemcpy(x, host.data(), 4 * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(y, reversed.data(), 4 * n, cudaMemcpyHostToDevice));
    lines();
    planes();
    cubes();
    bodies();
    randoms();
    gathers();
    histograms();
    life();
}
