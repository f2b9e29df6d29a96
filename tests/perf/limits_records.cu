// limits_records.cu - what the hardware allows: hand-written CUDA C++ on the records of bench_records.c, in the same run.
// nvcc -O3 -std=c++17 -arch=sm_90 limits_records.cu -o limits_records
#include "limits.cuh"

template <class T, int N> struct record {
    T at[N];
};

// A thread a record, field by field, as nvcc compiles the struct.
template <class T, int N> __global__ void k_fields(const record<T, N> *a, const record<T, N> *b, record<T, N> *r, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int f = 0; f < N; f++)
        r[i].at[f] = a[i].at[f] + b[i].at[f];
}

// A thread a piece of 16 bytes, whatever record it is of: what an access that leaves no gaps between threads would come to.
__global__ void k_pieces(const float4 *a, const float4 *b, float4 *r, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 x = a[i], y = b[i];
    r[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// A thread 48 bytes: four records of 12 bytes, or two of 24, by three accesses of 16.
__global__ void k_threes(const float4 *a, const float4 *b, float4 *r, size_t n) {
    size_t i = 3 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    float4 x[3], y[3];
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        x[k] = a[i + k];
        y[k] = b[i + k];
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        r[i + k] = make_float4(x[k].x + y[k].x, x[k].y + y[k].y, x[k].z + y[k].z, x[k].w + y[k].w);
}

template <class T, int N> static void fields(const char *name, const char *a, const char *b, char *r, size_t bytes) {
    typedef record<T, N> R;
    size_t n = bytes / sizeof(R), blocks = (n + 255) / 256;
    row(name, "CUDA fields", "GB/s", 3e-9 * bytes,
        timed([&] { k_fields<<<blocks, 256>>>((const R *)a, (const R *)b, (R *)r, n); }));
}

int main() {
    const size_t bytes = (size_t)1 << 30;
    char *a, *b, *r;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&r, bytes));
    std::vector<float> h = numbers(bytes / 4);
    CHECK(cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, h.data(), bytes, cudaMemcpyHostToDevice));
    fields<float, 2>("gpu_records_f32x2", a, b, r, bytes);
    fields<float, 3>("gpu_records_f32x3", a, b, r, bytes);
    fields<float, 4>("gpu_records_f32x4", a, b, r, bytes);
    fields<double, 2>("gpu_records_f64x2", a, b, r, bytes);
    fields<double, 3>("gpu_records_f64x3", a, b, r, bytes);
    fields<double, 4>("gpu_records_f64x4", a, b, r, bytes);
    fields<unsigned char, 3>("gpu_records_u8x3", a, b, r, bytes);
    size_t n = bytes / 16;
    auto pieces = timed([&] { k_pieces<<<(n + 255) / 256, 256>>>((float4 *)a, (float4 *)b, (float4 *)r, n); });
    for (const char *name : {"gpu_records_f32x2", "gpu_records_f32x3", "gpu_records_f32x4"})
        row(name, "CUDA float4", "GB/s", 3e-9 * bytes, pieces);
    size_t threes = n / 3 * 3;
    auto by_threes = timed([&] { k_threes<<<(threes / 3 + 255) / 256, 256>>>((float4 *)a, (float4 *)b, (float4 *)r, threes); });
    for (const char *name : {"gpu_records_f32x3", "gpu_records_f64x3"})
        row(name, "CUDA 3 float4", "GB/s", 48e-9 * threes, by_threes);
}
