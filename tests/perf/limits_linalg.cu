// limits_linalg.cu - cuBLAS and cuSOLVER called directly on the single matrices and batches of bench_linalg.c: each routine that the
// libraries have for a form, float32. The matrices are restored outside the time, and are in the order that the libraries want.
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <functional>
#include <vector>

#include "limits.cuh"

static cublasHandle_t blas;
static cusolverDnHandle_t solver;
static cusolverDnParams_t generic;
static gesvdjInfo_t jacobi;
static syevjInfo_t jacobi_eigen;
static const size_t WORK = (size_t)2 << 30;
static float *work;
static std::vector<char> host_work;

struct matrices {
    int n, count;
    float *saved, *a, *b, *u, *v, *s;
    int *pivots, *info;
    float **at, **bt, **st; // lists of addresses
};

static float *floats(size_t n) {
    float *p;
    cudaMalloc(&p, n * sizeof *p);
    return p;
}

static float **list(float *first, size_t step, int count) {
    std::vector<float *> host(count);
    for (int i = 0; i < count; i++)
        host[i] = first + (size_t)i * step;
    float **p;
    cudaMalloc(&p, count * sizeof *p);
    cudaMemcpy(p, host.data(), count * sizeof *p, cudaMemcpyHostToDevice);
    return p;
}

static matrices make(int n, int count) {
    size_t size = (size_t)n * n, all = size * count;
    matrices m = {n, count, floats(all), floats(all), floats(all), floats(all), floats(all), floats((size_t)n * count)};
    cudaMalloc(&m.pivots, sizeof(int) * n * count);
    cudaMalloc(&m.info, sizeof(int) * count);
    m.at = list(m.a, size, count), m.bt = list(m.b, size, count), m.st = list(m.s, n, count);
    std::vector<float> host(all);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                host[k * size + i * n + j] = host[k * size + j * n + i] = 2 * (float)rand() / RAND_MAX - 1 + (i == j ? n : 0);
    cudaMemcpy(m.saved, host.data(), all * sizeof(float), cudaMemcpyHostToDevice);
    return m;
}

static void release(const matrices &m) {
    void *all[] = {m.saved, m.a, m.b, m.u, m.v, m.s, m.pivots, m.info, m.at, m.bt, m.st};
    for (void *p : all)
        cudaFree(p);
}

// `count` matrices by one run; those that a routine refuses have no row.
static void timed(const matrices &m, const char *form, const char *system, int count, const std::function<int()> &run) {
    enum { RUNS = 9 };
    std::vector<double> t;
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    for (int k = -2; k < RUNS; k++) {
        float ms;
        cudaMemcpy(m.a, m.saved, sizeof(float) * m.n * m.n * m.count, cudaMemcpyDeviceToDevice);
        cudaDeviceSynchronize();
        cudaEventRecord(a);
        if (run())
            return;
        cudaEventRecord(b);
        if (cudaEventSynchronize(b))
            return;
        cudaEventElapsedTime(&ms, a, b);
        if (k >= 0)
            t.push_back(1e-3 * ms);
    }
    std::sort(t.begin(), t.end());
    printf("gpu_%s_f32_%d_x%d,%s,Mmatrix/s,%.5g,%.3f\n", form, m.n, m.count, system, 1e-6 * count / t[RUNS / 2],
           (t[3 * RUNS / 4] - t[RUNS / 4]) / t[RUNS / 2]);
    fflush(stdout);
}

static int each(int count, const std::function<int(int)> &one) {
    int bad = 0;
    for (int i = 0; i < count && !bad; i++)
        bad = one(i);
    return bad;
}

static const cusolverEigMode_t V = CUSOLVER_EIG_MODE_VECTOR;
static const cublasFillMode_t UP = CUBLAS_FILL_MODE_UPPER;

static void by_cublas(const matrices &m) {
    int n = m.n, c = m.count, info;
    auto lu = [=] { return (int)cublasSgetrfBatched(blas, n, m.at, n, m.pivots, m.info, c); };
    timed(m, "solve", "cuBLAS batched", c, [&] {
        return lu() + cublasSgetrsBatched(blas, CUBLAS_OP_T, n, 1, m.at, n, m.pivots, m.bt, n, &info, c);
    });
    timed(m, "inv", "cuBLAS batched", c, [&] { return lu() + cublasSgetriBatched(blas, n, m.at, n, m.pivots, m.bt, n, m.info, c); });
    timed(m, "qr", "cuBLAS batched reflectors", c, [&] { return (int)cublasSgeqrfBatched(blas, n, n, m.at, n, m.st, &info, c); });
    timed(m, "cholesky", "cuSOLVER batched", c, [&] { return (int)cusolverDnSpotrfBatched(solver, UP, n, m.at, n, m.info, c); });
}

static void factors(const matrices &m, int loop) {
    int n = m.n, lwork, more;
    size_t size = (size_t)n * n;
    cusolverDnSgetrf_bufferSize(solver, n, n, m.a, n, &lwork);
    auto lu = [=](int i) { return (int)cusolverDnSgetrf(solver, n, n, m.a + i * size, n, work, m.pivots + i * n, m.info + i); };
    auto solve = [=](int i, cublasOperation_t op, int r) {
        return lu(i) + cusolverDnSgetrs(solver, op, n, r, m.a + i * size, n, m.pivots + i * n, m.b + i * size, n, m.info + i);
    };
    timed(m, "solve", "cuSOLVER", loop, [&] { return each(loop, [&](int i) { return solve(i, CUBLAS_OP_T, 1); }); });
    timed(m, "inv", "cuSOLVER", loop, [&] { return each(loop, [&](int i) { return solve(i, CUBLAS_OP_N, n); }); });
    cusolverDnSpotrf_bufferSize(solver, UP, n, m.a, n, &lwork);
    timed(m, "cholesky", "cuSOLVER", loop, [&] {
        return each(loop, [&](int i) { return (int)cusolverDnSpotrf(solver, UP, n, m.a + i * size, n, work, lwork, m.info + i); });
    });
    cusolverDnSgeqrf_bufferSize(solver, n, n, m.a, n, &lwork);
    cusolverDnSorgqr_bufferSize(solver, n, n, n, m.a, n, m.s, &more);
    timed(m, "qr", "cuSOLVER", loop, [&] {
        return each(loop, [&](int i) {
            float *a = m.a + i * size, *tau = m.s + i * n;
            return (int)cusolverDnSgeqrf(solver, n, n, a, n, tau, work, lwork, m.info + i) +
                   (int)cusolverDnSorgqr(solver, n, n, n, a, n, tau, work, more, m.info + i);
        });
    });
}

static void eigenvalues(const matrices &m, int loop) {
    int n = m.n, c = m.count, lwork;
    size_t size = (size_t)n * n, device, host;
    cusolverDnSsyevd_bufferSize(solver, V, UP, n, m.a, n, m.s, &lwork);
    timed(m, "eigh", "cuSOLVER", loop, [&] {
        return each(loop, [&](int i) { return (int)cusolverDnSsyevd(solver, V, UP, n, m.a + i * size, n, m.s + i * n, work, lwork, m.info + i); });
    });
    if (n <= 64 && !cusolverDnSsyevjBatched_bufferSize(solver, V, UP, n, m.a, n, m.s, &lwork, jacobi_eigen, c))
        timed(m, "eigh", "cuSOLVER syevjBatched", c, [&] {
            return (int)cusolverDnSsyevjBatched(solver, V, UP, n, m.a, n, m.s, work, lwork, m.info, jacobi_eigen, c);
        });
    if (!cusolverDnXsyevBatched_bufferSize(solver, generic, V, UP, n, CUDA_R_32F, m.a, n, CUDA_R_32F, m.s, CUDA_R_32F, &device, &host, c) &&
        device <= WORK && host <= host_work.size() && n <= 512)
        timed(m, "eigh", "cuSOLVER XsyevBatched", c, [&] {
            return (int)cusolverDnXsyevBatched(solver, generic, V, UP, n, CUDA_R_32F, m.a, n, CUDA_R_32F, m.s, CUDA_R_32F, work, device,
                                               host_work.data(), host, m.info, c);
        });
}

static void singular_values(const matrices &m, int loop) {
    int n = m.n, c = m.count, lwork;
    size_t size = (size_t)n * n, device, host;
    double moved;
    if (n <= 32 && !cusolverDnSgesvdjBatched_bufferSize(solver, V, n, n, m.a, n, m.s, m.u, n, m.v, n, &lwork, jacobi, c)) {
        timed(m, "svd", "cuSOLVER gesvdjBatched", c, [&] {
            return (int)cusolverDnSgesvdjBatched(solver, V, n, n, m.a, n, m.s, m.u, n, m.v, n, work, lwork, m.info, jacobi, c);
        });
        if (c > 1)
            return;
    }
    cusolverDnSgesvd_bufferSize(solver, n, n, &lwork);
    if (n <= 256)
        timed(m, "svd", "cuSOLVER gesvd", loop, [&] {
            return each(loop, [&](int i) {
                return (int)cusolverDnSgesvd(solver, 'S', 'S', n, n, m.a + i * size, n, m.s + i * n, m.u + i * size, n, m.v + i * size, n, work,
                                             lwork, NULL, m.info + i);
            });
        });
    cusolverDnXgesvdp_bufferSize(solver, generic, V, 1, n, n, CUDA_R_32F, m.a, n, CUDA_R_32F, m.s, CUDA_R_32F, m.u, n, CUDA_R_32F, m.v, n,
                                 CUDA_R_32F, &device, &host);
    timed(m, "svd", "cuSOLVER gesvdp", loop, [&] {
        return each(loop, [&](int i) {
            return (int)cusolverDnXgesvdp(solver, generic, V, 1, n, n, CUDA_R_32F, m.a + i * size, n, CUDA_R_32F, m.s + i * n, CUDA_R_32F,
                                          m.u + i * size, n, CUDA_R_32F, m.v + i * size, n, CUDA_R_32F, work, device, host_work.data(), host,
                                          m.info + i, &moved);
        });
    });
}

int main() {
    // rows, matrices, matrices for methods without a batch
    static const int cases[][3] = {{8, 4096, 64}, {16, 4096, 64}, {32, 4096, 64}, {64, 1024, 32}, {256, 64, 4},
                                   {32, 1, 1},    {64, 1, 1},     {256, 1, 1},    {1024, 1, 1}};
    cublasCreate(&blas), cusolverDnCreate(&solver), cusolverDnCreateParams(&generic);
    cusolverDnCreateGesvdjInfo(&jacobi), cusolverDnCreateSyevjInfo(&jacobi_eigen);
    cudaMalloc(&work, WORK);
    host_work.resize(64 << 20);
    for (auto &c : cases) {
        matrices m = make(c[0], c[1]);
        if (c[1] > 1)
            by_cublas(m);
        factors(m, c[2]);
        eigenvalues(m, c[2]);
        singular_values(m, c[2]);
        release(m);
    }
    return 0;
}
