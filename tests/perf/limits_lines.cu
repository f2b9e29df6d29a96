// limits_lines.cu - the limit of columns, by hand-written CUDA: threads load their elements of a group of columns, wait until all of these are
// there, in the block or in the cluster of blocks that has the columns, and write them where functions along the first axis would. Nothing
// is computed. Groups are a line of memory wide, but for the highest columns, which do not fit a cluster so.
// nvcc -O3 -std=c++17 -arch=sm_90 limits_lines.cu -o limits_lines
#include "limits.cuh"

static const size_t bytes = (size_t)1 << 29;

// 2^ACROSS words of a row side by side, HELD rows a thread, 2^ALONG threads of a block along a column, 2^CLUSTER blocks.
template <int ACROSS, int HELD, int ALONG, int CLUSTER>
__global__ void __launch_bounds__(1 << (ACROSS + ALONG)) hold(const unsigned *x, unsigned *y, long long words) {
    int lane = threadIdx.x & ((1 << ACROSS) - 1), part = blockIdx.x & ((1 << CLUSTER) - 1);
    long long first = (threadIdx.x >> ACROSS) + (part << ALONG), step = words << (ALONG + CLUSTER);
    long long at = first * words + ((long long)(blockIdx.x >> CLUSTER) << ACROSS) + lane;
    unsigned v[HELD], all = 0;
#pragma unroll
    for (int j = 0; j < HELD; j++)
        v[j] = x[at + j * step];
#pragma unroll
    for (int j = 0; j < HELD; j++)
        all |= v[j];
    if (all == 1) // which no number has: the loads are before the barrier
        v[0] = 0;
    if (CLUSTER)
        asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    else
        __syncthreads();
#pragma unroll
    for (int j = 0; j < HELD; j++)
        y[at + j * step] = v[j];
}

template <int ACROSS, int HELD, int ALONG, int CLUSTER> static void columns(const unsigned *x, unsigned *y) {
    static const char *const functions[] = {"softmax", "layer_norm"}, *const types[] = {"f32", "bf16"};
    long long height = HELD << (ALONG + CLUSTER), words = (long long)(bytes / 4) / height;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 1 << CLUSTER;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = (unsigned)((words >> ACROSS) << CLUSTER);
    c.blockDim = 1 << (ACROSS + ALONG);
    c.attrs = &cluster;
    c.numAttrs = 1;
    auto kernel = hold<ACROSS, HELD, ALONG, CLUSTER>;
    CHECK(cudaMemset(y, 0, bytes));
    auto t = timed([&] { CHECK(cudaLaunchKernelEx(&c, kernel, x, y, words)); }, 7);
    std::vector<float> got(1 << 20);
    CHECK(cudaMemcpy(got.data(), y + bytes / 4 - got.size(), got.size() * 4, cudaMemcpyDeviceToHost));
    std::vector<float> want = numbers(bytes / 4);
    for (size_t i = 0; i < got.size(); i++)
        check(got[i], want[want.size() - got.size() + i], "columns");
    for (auto function : functions)
        for (auto type : types) {
            char name[64];
            snprintf(name, sizeof name, "gpu_%s_%s_columns_%lld", function, type, height);
            row(name, "columns held", "GB/s", 2e-9 * bytes, t);
        }
}

int main() {
    unsigned *x, *y;
    std::vector<float> h = numbers(bytes / 4);
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMemcpy(x, h.data(), bytes, cudaMemcpyHostToDevice));
    columns<5, 32, 1, 0>(x, y);
    columns<5, 32, 3, 0>(x, y);
    columns<5, 32, 4, 1>(x, y);
    columns<5, 32, 4, 3>(x, y);
    columns<4, 32, 6, 3>(x, y);
    return 0;
}
