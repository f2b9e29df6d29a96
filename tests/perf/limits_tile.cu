// limits_tile.cu - hand-written tiles of shared memory for the cases of bench_tile.c: 32 x 32 elements with a column of padding, and tiles
// that both sides access by vectors, in the order of the output. Each case is a transpose of matrices of rows x columns, which lie `stride` elements apart in both arrays
// (for "210" a line of each belongs to another matrix). Results are checked before they are timed.
#include "limits.cuh"

#include <cstdint>
#include <string>
#include <type_traits>

// Matrix z of the input begins at z * in_z, its line i at i * in_line; so do those of the output, whose lines are the input's columns.
struct shape {
    int64_t rows, columns, matrices, in_line, in_z, out_line, out_z;
};

struct item16 {
    double x, y;
};
template <class T> __device__ T add(T a, T b) { return a + b; }
__device__ item16 add(item16 a, item16 b) { return {a.x + b.x, a.y + b.y}; }

// MODE 0: r = x.T; 1: r = a + x.T; 2: r = y.T + x.T; 3: r = x.T, and a = x.
template <class T, int MODE> __global__ void padded(shape s, const T *x, T *a, T *r) {
    __shared__ T tile[32][33], more[MODE == 2 ? 32 : 1][33];
    int64_t i0 = blockIdx.x * 32ll, j0 = blockIdx.y * 32ll, at = blockIdx.z * s.in_z, to = blockIdx.z * s.out_z;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (i0 + k < s.rows && j0 + threadIdx.x < s.columns) {
            tile[k][threadIdx.x] = x[at + (i0 + k) * s.in_line + j0 + threadIdx.x];
            if (MODE == 2)
                more[k][threadIdx.x] = a[at + (i0 + k) * s.in_line + j0 + threadIdx.x];
            if (MODE == 3)
                a[at + (i0 + k) * s.in_line + j0 + threadIdx.x] = tile[k][threadIdx.x];
        }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (j0 + k < s.columns && i0 + threadIdx.x < s.rows) {
            int64_t n = to + (j0 + k) * s.out_line + i0 + threadIdx.x;
            T v = tile[threadIdx.x][k];
            r[n] = MODE == 0 || MODE == 3 ? v : add(v, MODE == 1 ? a[n] : more[threadIdx.x][k]);
        }
}

// Tiles of N x N elements, N = 16 * V, where V are in an access; 256 threads, of which each has V x V elements, transposed in registers. Units of
// 16 bytes are exchanged within lines against bank conflicts. Sizes are multiples of N.
template <class T, int W = 16> struct line_of {
    using raw = std::conditional_t<W == 16, uint4, uint2>;
    union {
        raw all;
        T v[W / sizeof(T)];
    };
    __device__ line_of() {}
    __device__ explicit line_of(const void *p) : all(*(const raw *)p) {}
    __device__ void to(void *p) const { *(raw *)p = all; }
};
template <class T> using unit = line_of<T>;

// W: bytes of an access, 8 for bytes, of which a thread would else have 256 elements.
template <class T> constexpr int width = sizeof(T) == 1 ? 8 : 16;

template <class T, int MODE> __global__ void vectors(shape s, const T *x, T *a, T *r) {
    using unit = line_of<T, width<T>>;
    constexpr int V = width<T> / sizeof(T), N = 16 * V;
    __shared__ typename unit::raw tile[MODE == 2 ? 2 : 1][N * 16];
    int64_t i0 = (int64_t)blockIdx.x * N, j0 = (int64_t)blockIdx.y * N, at = blockIdx.z * s.in_z, to = blockIdx.z * s.out_z;
    int lane = threadIdx.x & 15, line = threadIdx.x >> 4;
    unit beside[V], in[V], in2[V];
#pragma unroll
    for (int k = 0; k < V; k++) {
        int64_t from = at + (i0 + line + 16 * k) * s.in_line + j0 + lane * V;
        in[k] = unit(x + from);
        if (MODE == 2)
            in2[k] = unit(a + from);
        if (MODE == 3)
            in[k].to(a + from);
    }
#pragma unroll
    for (int k = 0; k < V && MODE == 1; k++)
        beside[k] = unit(a + to + (j0 + line * V + k) * s.out_line + i0 + lane * V);
#pragma unroll
    for (int k = 0; k < V; k++) {
        int i = line + 16 * k, place = (i * 16 + lane) ^ (i / V & 7);
        in[k].to(&tile[0][place]);
        if (MODE == 2)
            in2[k].to(&tile[MODE == 2][place]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < V; k++) {
        int place = ((lane * V + k) * 16 + line) ^ (lane & 7);
        in[k] = unit(&tile[0][place]);
        if (MODE == 2)
            in2[k] = unit(&tile[MODE == 2][place]);
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        unit out;
#pragma unroll
        for (int j = 0; j < V; j++)
            out.v[j] = MODE == 0 || MODE == 3 ? in[j].v[k] : add(in[j].v[k], MODE == 1 ? beside[k].v[j] : in2[j].v[k]);
        out.to(r + to + (j0 + line * V + k) * s.out_line + i0 + lane * V);
    }
}

__global__ void fill_bytes(uint8_t *x, int64_t n, int salt) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        x[i] = (uint8_t)((i * 2654435761u >> 11) + salt) & 0x3f;
}

template <class T> static T host_at(const T *x, int64_t i) {
    T v;
    CHECK(cudaMemcpy(&v, x + i, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

template <class T, int MODE> static void run(const char *name, shape s) {
    int64_t n = s.rows * s.columns * s.matrices;
    T *x, *a, *r;
    CHECK(cudaMalloc(&x, n * sizeof(T)));
    CHECK(cudaMalloc(&a, n * sizeof(T)));
    CHECK(cudaMalloc(&r, n * sizeof(T)));
    fill_bytes<<<4096, 256>>>((uint8_t *)x, n * sizeof(T), 1);
    fill_bytes<<<4096, 256>>>((uint8_t *)a, n * sizeof(T), 2);
    int runs = getenv("BENCH_RUNS") ? atoi(getenv("BENCH_RUNS")) : 31;
    double bytes = (MODE ? 3e-9 : 2e-9) * n * sizeof(T);
    std::string what = std::string("gpu_tile_") + name;
    auto verify = [&](const char *system) {
        for (int k = 0; k < 200; k++) {
            int64_t z = k * 7919ll % s.matrices, i = k * 104729ll % s.rows, j = k * 15485863ll % s.columns;
            int64_t from = z * s.in_z + i * s.in_line + j, to = z * s.out_z + j * s.out_line + i;
            T got = host_at(r, to), vx = host_at(x, from), va = host_at(a, MODE >= 2 ? from : to);
            if ((MODE == 0 || MODE == 3) && (memcmp(&got, &vx, sizeof got) || (MODE == 3 && memcmp(&va, &vx, sizeof va)))) {
                fprintf(stderr, "%s, %s: wrong result\n", name, system);
                exit(1);
            }
            if constexpr (MODE == 1 || MODE == 2)
                check((double)got, (double)(vx + va), name);
        }
    };
    dim3 small((unsigned)((s.rows + 31) / 32), (unsigned)((s.columns + 31) / 32), (unsigned)s.matrices);
    auto work = [&] { padded<T, MODE><<<small, dim3(32, 8)>>>(s, x, a, r); };
    work();
    verify("padded");
    row(what.c_str(), "CUDA 32x32", "GB/s", bytes, timed(work, runs));
    constexpr int N = 16 * width<T> / sizeof(T);
    if (s.rows % N == 0 && s.columns % N == 0) {
        dim3 large((unsigned)(s.rows / N), (unsigned)(s.columns / N), (unsigned)s.matrices);
        auto wide = [&] { vectors<T, MODE><<<large, 256>>>(s, x, a, r); };
        CHECK(cudaMemset(r, 0, n * sizeof(T)));
        wide();
        verify("vectors");
        row(what.c_str(), "CUDA vectors", "GB/s", bytes, timed(wide, runs));
    }
    CHECK(cudaFree(x));
    CHECK(cudaFree(a));
    CHECK(cudaFree(r));
}

// Few channels: a thread has as many pixels as 16 bytes of a plane, whose channels are as many accesses of 16 bytes. TO: planes to pixels.
template <class T, int C, bool TO> __global__ void channels(int64_t pixels, const T *x, T *r) {
    constexpr int V = 16 / sizeof(T);
    int64_t p = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) * V, image = blockIdx.y * pixels * C;
    if (p >= pixels)
        return;
    unit<T> plane[C], line[C];
    const T *from = x + image, *planes = TO ? from : r + image, *lines = (TO ? r + image : from) + p * C;
    for (int c = 0; c < C; c++)
        (TO ? plane : line)[c] = unit<T>(TO ? planes + c * pixels + p : lines + c * V);
    for (int c = 0; c < C; c++)
        for (int k = 0; k < V; k++) {
            T &of_line = line[(k * C + c) / V].v[(k * C + c) % V], &of_plane = plane[c].v[k];
            (TO ? of_line : of_plane) = TO ? of_plane : of_line;
        }
    for (int c = 0; c < C; c++)
        (TO ? line[c] : plane[c]).to(TO ? (T *)lines + c * V : (T *)planes + c * pixels + p);
}

template <class T, int C, bool TO> static void run_channels(const char *name, int64_t images, int64_t pixels) {
    int64_t n = images * pixels * C;
    T *x, *r;
    CHECK(cudaMalloc(&x, n * sizeof(T)));
    CHECK(cudaMalloc(&r, n * sizeof(T)));
    fill_bytes<<<4096, 256>>>((uint8_t *)x, n * sizeof(T), 1);
    constexpr int V = 16 / sizeof(T);
    auto work = [&] { channels<T, C, TO><<<dim3((unsigned)((pixels / V + 255) / 256), (unsigned)images), 256>>>(pixels, x, r); };
    work();
    for (int k = 0; k < 200; k++) {
        int64_t image = k * 7919ll % images, p = k * 15485863ll % pixels, c = k % C;
        int64_t plane = (image * C + c) * pixels + p, line = (image * pixels + p) * C + c;
        check((double)host_at(r, TO ? line : plane), (double)host_at(x, TO ? plane : line), name);
    }
    row((std::string("gpu_tile_") + name).c_str(), "CUDA vectors", "GB/s", 2e-9 * n * sizeof(T),
        timed(work, getenv("BENCH_RUNS") ? atoi(getenv("BENCH_RUNS")) : 31));
    CHECK(cudaFree(x));
    CHECK(cudaFree(r));
}

// Matrices one behind the other.
static shape plain(int64_t rows, int64_t columns, int64_t matrices = 1) {
    return {rows, columns, matrices, columns, rows * columns, rows, rows * columns};
}

int main() {
    run<float, 1>("sum_bT_f32", plain(16384, 16384));
    run<float, 2>("sum_aT_bT_f32", plain(16384, 16384));
    run<float, 0>("T_f32", plain(16384, 16384));
    run<float, 0>("T_f32_odd", plain(16381, 16383));
    run<uint8_t, 0>("T_u8", plain(32768, 32768));
    run<uint16_t, 0>("T_f16", plain(32768, 16384));
    run<double, 0>("T_f64", plain(8192, 16384));
    run<item16, 0>("T_c128", plain(8192, 8192));
    run<float, 3>("out2_f32", plain(16384, 16384));
    run<float, 3>("out2_f32_odd", plain(16383, 16381));
    run<uint16_t, 3>("out2_f16", plain(16384, 32768));
    run<uint8_t, 3>("out2_u8", plain(32768, 32768));
    run<double, 3>("out2_f64", plain(16384, 8192));
    run<float, 0>("021_f32", plain(2048, 2048, 64));
    // (512, 768, 640) of an input of (640, 768, 512): for each index of the middle dimension a matrix
    run<float, 0>("210_f32", {640, 512, 768, 768 * 512, 512, 768 * 640, 640});
    run<float, 0>("nchw64_f32", plain(65536, 64, 64));
    run<float, 0>("nhwc64_f32", plain(64, 65536, 64));
    run_channels<float, 3, false>("nchw3_f32", 128, 1024 * 512);
    run_channels<float, 3, true>("nhwc3_f32", 128, 1024 * 512);
    run_channels<float, 4, false>("nchw4_f32", 128, 1024 * 512);
    run_channels<uint8_t, 3, false>("nchw3_u8", 256, 1024 * 1024);
    run_channels<uint8_t, 3, true>("nhwc3_u8", 256, 1024 * 1024);
    return 0;
}
