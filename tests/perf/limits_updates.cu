// limits_updates.cu - what others do with the cases of bench_updates.c on the GPU: CUB's segmented reduction, atomic additions by hand-written CUDA, and a
// copy, in the same run.
// nvcc -O3 -std=c++17 -arch=sm_90 limits_updates.cu -o limits_updates
#include "limits.cuh"

#include <cub/cub.cuh>
#include <string>

static const long long elements = 1ll << 26, indices = 1ll << 24;

enum lengths { even, drawn, skewed };

static void segments(const char *name, int mean, lengths way, const float *x, float *copy) {
    std::vector<long long> start;
    draw_state = 1;
    for (long long at = 0; at < (way == skewed ? elements / 2 + 1 : elements); at += way == drawn ? mean / 2 + draw(mean + 1) : mean)
        start.push_back(at);
    long long n = (long long)start.size();
    start.push_back(elements);
    long long *d_start = to_gpu(start);
    float *r;
    size_t size = 0;
    void *scratch = nullptr;
    CHECK(cudaMalloc(&r, 4 * n));
    auto work = [&] { cub::DeviceSegmentedReduce::Sum(scratch, size, x, r, n, d_start, d_start + 1); };
    work();
    CHECK(cudaMalloc(&scratch, size + 1));
    row(name, "CUB DeviceSegmentedReduce", "GB/s", 1e-9 * (4. * elements + 12. * n), timed(work));
    double copied = 4. * elements + 12. * n; // as many bytes, half of them read
    row(name, "copy", "GB/s", 1e-9 * copied,
        timed([&] { cudaMemcpyAsync(copy, x, (size_t)(copied / 2), cudaMemcpyDeviceToDevice); }));
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(r));
    CHECK(cudaFree(d_start));
}

__global__ void k_add(const long long *at, const float *x, float *sums, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[at[i]], x[i]);
}

static void sums(const char *name, unsigned bins, bool sorted, const float *x) {
    std::vector<long long> at(indices);
    draw_state = 1;
    for (auto &a : at)
        a = draw(bins);
    if (sorted)
        std::sort(at.begin(), at.end());
    long long *d_at = to_gpu(at);
    float *r;
    CHECK(cudaMalloc(&r, 4ll * std::max(bins, 1u << 20))); // see bench_updates.c
    row(name, "CUDA atomicAdd", "GB/s", 12e-9 * indices, timed([&] { k_add<<<indices / 256, 256>>>(d_at, x, r, indices); }));
    CHECK(cudaFree(d_at));
    CHECK(cudaFree(r));
}

int main() {
    float *x = to_gpu(numbers(elements)), *copy;
    CHECK(cudaMalloc(&copy, 8 * elements));
    for (int mean : {4, 64, 1000})
        segments(("gpu_segments_f32_" + std::to_string(mean)).c_str(), mean, even, x, copy);
    for (int mean : {16, 100})
        segments(("gpu_segments_f32_drawn_" + std::to_string(mean)).c_str(), mean, drawn, x, copy);
    for (int mean : {16, 1000})
        segments(("gpu_segments_f32_half_among_" + std::to_string(mean)).c_str(), mean, skewed, x, copy);
    sums("gpu_sums_f32_64K", 1 << 16, false, x);
    sums("gpu_sums_f32_64K_sorted", 1 << 16, true, x);
    sums("gpu_sums_f32_4M", 1 << 22, false, x);
}
