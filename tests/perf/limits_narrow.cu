// limits_narrow.cu - what others do with the cases of bench_narrow.c: CUB's segmented reduction of short rows, cuSPARSE on the rows of sparse
// matrices (opened at run time), and hand-written CUDA for elements found by indices, in the same run.
// nvcc -O3 -std=c++17 -arch=sm_90 limits_narrow.cu -o limits_narrow -ldl
#include "limits.cuh"

#include <cub/cub.cuh>
#include <dlfcn.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

static const size_t read_bytes = (size_t)1 << 29, sparse = (size_t)1 << 26;

static std::vector<float> whole_numbers(size_t n) {
    std::vector<float> h(n);
    for (auto &v : h)
        v = (float)draw(8);
    return h;
}

// ---- Rows ----

struct row_start {
    int n;
    __host__ __device__ long long operator()(long long i) const { return i * n; }
};

static void rows_of(int n, const float *x, float *r) {
    long long rows = (long long)(read_bytes / 4) / n;
    auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), row_start{n});
    size_t size = 0;
    void *scratch = nullptr;
    CHECK(cub::DeviceSegmentedReduce::Sum(scratch, size, x, r, rows, begin, begin + 1));
    CHECK(cudaMalloc(&scratch, size + 1));
    auto t = timed([&] { cub::DeviceSegmentedReduce::Sum(scratch, size, x, r, rows, begin, begin + 1); }, 11);
    char name[64];
    snprintf(name, sizeof name, "gpu_sum_f32_rows_of_%d", n);
    row(name, "CUB DeviceSegmentedReduce", "GB/s", 4e-9 * (double)(rows * (n + 1)), t);
    CHECK(cudaFree(scratch));
}

// ---- Sparse matrices, by cuSPARSE's generic functions ----

struct sparse_library {
    int (*create)(void **);
    int (*create_csr)(void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int);
    int (*create_vector)(void **, int64_t, void *, int);
    int (*size)(void *, int, const void *, void *, void *, const void *, void *, int, int, size_t *);
    int (*run)(void *, int, const void *, void *, void *, const void *, void *, int, int, void *);
};

static bool sparse_open(sparse_library *s) {
    void *lib = dlopen("libcusparse.so.12", RTLD_NOW);
    if (!lib)
        return false;
    s->create = (decltype(s->create))dlsym(lib, "cusparseCreate");
    s->create_csr = (decltype(s->create_csr))dlsym(lib, "cusparseCreateCsr");
    s->create_vector = (decltype(s->create_vector))dlsym(lib, "cusparseCreateDnVec");
    s->size = (decltype(s->size))dlsym(lib, "cusparseSpMV_bufferSize");
    s->run = (decltype(s->run))dlsym(lib, "cusparseSpMV");
    return s->create && s->create_csr && s->create_vector && s->size && s->run;
}

static void csr(const sparse_library *s, int mean) {
    enum { FLOAT32 = 0, INDEX32 = 2, ALG1 = 2, ALG2 = 3 };
    size_t rows = sparse / mean;
    std::vector<int> start(rows + 1), column;
    draw_state = 1;
    for (size_t i = 0; i < rows; i++)
        start[i + 1] = start[i] + mean / 2 + (int)draw(mean + 1);
    size_t all = start[rows];
    column.resize(all);
    for (auto &c : column)
        c = (int)draw((unsigned)rows);
    auto value = whole_numbers(all), x = whole_numbers(rows);
    int *d_start = to_gpu(start), *d_column = to_gpu(column);
    float *d_value = to_gpu(value), *d_x = to_gpu(x), *d_y, one = 1, zero = 0;
    CHECK(cudaMalloc(&d_y, 4 * rows));
    void *handle, *matrix, *vx, *vy, *scratch;
    s->create(&handle);
    s->create_csr(&matrix, rows, rows, all, d_start, d_column, d_value, INDEX32, INDEX32, 0, FLOAT32);
    s->create_vector(&vx, rows, d_x, FLOAT32);
    s->create_vector(&vy, rows, d_y, FLOAT32);
    for (int algorithm = ALG1; algorithm <= ALG2; algorithm++) {
        size_t size = 0;
        s->size(handle, 0, &one, matrix, vx, &zero, vy, FLOAT32, algorithm, &size);
        CHECK(cudaMalloc(&scratch, size + 1));
        auto t = timed([&] { s->run(handle, 0, &one, matrix, vx, &zero, vy, FLOAT32, algorithm, scratch); });
        double want = 0;
        float got;
        for (int k = start[7]; k < start[8]; k++)
            want += value[k] * x[column[k]];
        CHECK(cudaMemcpy(&got, d_y + 7, 4, cudaMemcpyDeviceToHost));
        check(got, want, "cuSPARSE");
        char name[64];
        snprintf(name, sizeof name, "gpu_csr_f32_mean_%d", mean);
        row(name, algorithm == ALG1 ? "cuSPARSE SPMV_CSR_ALG1" : "cuSPARSE SPMV_CSR_ALG2", "GB/s",
            1e-9 * (double)(8 * all + 12 * rows), t);
        CHECK(cudaFree(scratch));
    }
    cudaFree(d_start), cudaFree(d_column), cudaFree(d_value), cudaFree(d_x), cudaFree(d_y);
}

// ---- Elements found by indices ----

__global__ void k_gather(const float *x, const int *at, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[at[i]];
}

__global__ void k_gather4(const float *x, const int4 *at, float4 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int4 a = at[i];
    y[i] = make_float4(x[a.x], x[a.y], x[a.z], x[a.w]);
}

static void gather(size_t from, const char *name) {
    std::vector<int> at(sparse);
    draw_state = 1;
    for (auto &a : at)
        a = (int)draw((unsigned)from);
    int *d_at = to_gpu(at), n = (int)sparse;
    float *d_x = to_gpu(whole_numbers(from)), *d_y;
    CHECK(cudaMalloc(&d_y, 4 * sparse));
    row(name, "CUDA", "GB/s", 12e-9 * sparse, timed([&] { k_gather<<<n / 256, 256>>>(d_x, d_at, d_y, n); }));
    row(name, "CUDA x4", "GB/s", 12e-9 * sparse,
        timed([&] { k_gather4<<<n / 1024, 256>>>(d_x, (const int4 *)d_at, (float4 *)d_y, n / 4); }));
    cudaFree(d_at), cudaFree(d_x), cudaFree(d_y);
}

int main() {
    float *x, *r;
    CHECK(cudaMalloc(&x, read_bytes));
    CHECK(cudaMalloc(&r, read_bytes));
    CHECK(cudaMemset(x, 0, read_bytes));
    for (int n : {3, 10, 31})
        rows_of(n, x, r);
    sparse_library s;
    if (sparse_open(&s))
        for (int mean = 4; mean <= 64; mean *= 4)
            csr(&s, mean);
    gather(1 << 20, "gpu_gather_f32_of_1M");
    gather(sparse, "gpu_gather_f32_of_64M");
}
