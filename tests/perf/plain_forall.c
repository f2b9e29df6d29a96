/* plain_forall.c - the kernels of bench_forall.c as the loops a C programmer would write, over all points or, with OpenMP, a part
 * of them for each thread. Built with -O3 -march=native -fopenmp by run.sh and loaded by bench_forall.c. `args` are the
 * addresses of arrays and numbers, `n` the extents of the space; threads 0: all that OpenMP has. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

typedef void part(void *const *args, const int64_t *n, int64_t first, int64_t last);
typedef void plain_loop(void *const *args, const int64_t *n, int threads);

plain_loop plain_round_f32, plain_round_loop_f32, plain_heat_f32, plain_histogram_i32, plain_histogram_i64,
    plain_histogram_i32_tables, plain_uniform_f32, plain_uniform_fours, plain_nbody_f32, plain_life_u8,
    plain_transpose_f32, plain_gather_f32, plain_saxpy_f32, plain_stencil3_f32;

static void share(part *f, void *const *args, const int64_t *n, int threads) {
    if (threads == 1) {
        f(args, n, 0, n[0]);
        return;
    }
#pragma omp parallel num_threads(threads ? threads : omp_get_max_threads())
    {
        int64_t k = omp_get_thread_num(), count = omp_get_num_threads();
        f(args, n, n[0] * k / count, n[0] * (k + 1) / count);
    }
}

static float ten_to(int n) {
    float power = n & 1 ? 1e1f : 1;
    power *= n & 2 ? 1e2f : 1;
    power *= n & 4 ? 1e4f : 1;
    power *= n & 8 ? 1e8f : 1;
    return n & 16 ? power * 1e16f : power;
}

static void round_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const float *restrict x = args[0];
    float *restrict r = args[1];
    int decimals = *(const int *)args[2];
    (void)n;
    for (int64_t i = first; i < last; i++) {
        float f = ten_to(decimals);
        r[i] = rintf(x[i] * f) / f;
    }
}

static void round_loop_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const float *restrict x = args[0];
    float *restrict r = args[1];
    int decimals = *(const int *)args[2];
    (void)n;
    for (int64_t i = first; i < last; i++) {
        float f = 1;
        for (int k = 0; k < decimals; k++)
            f *= 10;
        r[i] = rintf(x[i] * f) / f;
    }
}

static void heat_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    float k = *(const float *)args[2];
    int64_t m = n[1];
    for (int64_t i = first < 1 ? 1 : first; i < last && i < n[0] - 1; i++) {
        const float *restrict u = (const float *)args[0] + i * m;
        float *restrict v = (float *)args[1] + i * m;
        for (int64_t j = 1; j < m - 1; j++)
            v[j] = u[j] + k * (u[j - m] + u[j + m] + u[j - 1] + u[j + 1] - 4 * u[j]);
    }
}

/* Each thread counts in a table of its own. */
static void histogram_i32_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const uint8_t *restrict b = args[0];
    int32_t *h = args[1], own[256] = {0};
    (void)n;
    for (int64_t i = first; i < last; i++)
        own[b[i]]++;
    for (int k = 0; k < 256; k++)
#pragma omp atomic
        h[k] += own[k];
}

static void histogram_i64_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const uint8_t *restrict b = args[0];
    int64_t *h = args[1], own[256] = {0};
    (void)n;
    for (int64_t i = first; i < last; i++)
        own[b[i]]++;
    for (int k = 0; k < 256; k++)
#pragma omp atomic
        h[k] += own[k];
}

/* Four tables: an equal byte does not wait for the one before. */
static void histogram_i32_tables_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const uint8_t *restrict b = args[0];
    int32_t *h = args[1], own[4][256] = {{0}};
    int64_t i = first;
    (void)n;
    for (; i + 4 <= last; i += 4)
        for (int k = 0; k < 4; k++)
            own[k][b[i + k]]++;
    for (; i < last; i++)
        own[0][b[i]]++;
    for (int k = 0; k < 256; k++)
#pragma omp atomic
        h[k] += own[0][k] + own[1][k] + own[2][k] + own[3][k];
}

/* Philox 4x32-10: four words from counter n, of stream 0. */
static inline void philox(uint64_t seed, uint64_t n, uint32_t *word) {
    uint32_t c0 = (uint32_t)n, c1 = (uint32_t)(n >> 32), c2 = 0, c3 = 0, k0 = (uint32_t)seed,
             k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        uint64_t p = 0xd2511f53ull * c0, q = 0xcd9e8d57ull * c2;
        c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)q;
        c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p;
    }
    word[0] = c0;
    word[1] = c1;
    word[2] = c2;
    word[3] = c3;
}

static void uniform_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    float *restrict r = args[0];
    uint64_t seed = *(const uint64_t *)args[1];
    (void)n;
    for (int64_t i = first; i < last; i++) {
        uint32_t word[4];
        philox(seed, (uint64_t)i >> 2, word);
        r[i] = (float)(int32_t)(word[i & 3] >> 8) * 0x1p-24f;
    }
}

/* Four numbers from each counter, which is more than the same loop; parts are whole counters. */
static void uniform_fours_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    float *restrict r = args[0];
    uint64_t seed = *(const uint64_t *)args[1];
    (void)n;
    for (int64_t i = first / 4; i < last / 4; i++) {
        uint32_t word[4];
        philox(seed, (uint64_t)i, word);
        for (int k = 0; k < 4; k++)
            r[4 * i + k] = (float)(int32_t)(word[k] >> 8) * 0x1p-24f;
    }
}

static void nbody_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const float *restrict p = args[0];
    float *restrict v = args[1], *restrict q = args[2], dt = *(const float *)args[3];
    for (int64_t i = first; i < last; i++) {
        float x = p[4 * i], y = p[4 * i + 1], z = p[4 * i + 2], ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n[0]; j++) {
            float dx = p[4 * j] - x, dy = p[4 * j + 1] - y, dz = p[4 * j + 2] - z;
            float d = dx * dx + dy * dy + dz * dz + 1e-4f;
            float w = p[4 * j + 3] / (d * sqrtf(d));
            ax += w * dx;
            ay += w * dy;
            az += w * dz;
        }
        v[4 * i] += dt * ax;
        v[4 * i + 1] += dt * ay;
        v[4 * i + 2] += dt * az;
        q[4 * i] = x + dt * v[4 * i];
        q[4 * i + 1] = y + dt * v[4 * i + 1];
        q[4 * i + 2] = z + dt * v[4 * i + 2];
        q[4 * i + 3] = p[4 * i + 3];
    }
}

static void life_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    int64_t m = n[1];
    for (int64_t i = first < 1 ? 1 : first; i < last && i < n[0] - 1; i++) {
        const uint8_t *restrict a = (const uint8_t *)args[0] + i * m;
        uint8_t *restrict b = (uint8_t *)args[1] + i * m;
        for (int64_t j = 1; j < m - 1; j++) {
            int c =
                a[j - m - 1] + a[j - m] + a[j - m + 1] + a[j - 1] + a[j + 1] + a[j + m - 1] + a[j + m] + a[j + m + 1];
            b[j] = c == 3 || (c == 2 && a[j]);
        }
    }
}

static void transpose_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const float *restrict a = args[0];
    float *restrict b = args[1];
    for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < n[1]; j++)
            b[j * n[0] + i] = a[i * n[1] + j];
}

static void gather_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const float *restrict a = args[0];
    const int32_t *restrict place = args[1];
    float *restrict r = args[2];
    (void)n;
    for (int64_t i = first; i < last; i++)
        r[i] = a[place[i]];
}

static void saxpy_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    const float *restrict x = args[0], *restrict y = args[1];
    float *restrict r = args[2], a = *(const float *)args[3];
    (void)n;
    for (int64_t i = first; i < last; i++)
        r[i] = a * x[i] + y[i];
}

static void stencil3_part(void *const *args, const int64_t *n, int64_t first, int64_t last) {
    float k = *(const float *)args[2];
    int64_t m = n[2], plane = n[1] * m;
    for (int64_t h = first < 1 ? 1 : first; h < last && h < n[0] - 1; h++)
        for (int64_t i = 1; i < n[1] - 1; i++) {
            const float *restrict u = (const float *)args[0] + h * plane + i * m;
            float *restrict v = (float *)args[1] + h * plane + i * m;
            for (int64_t j = 1; j < m - 1; j++)
                v[j] = u[j] + k * (u[j - plane] + u[j + plane] + u[j - m] + u[j + m] + u[j - 1] + u[j + 1] - 6 * u[j]);
        }
}

void plain_round_f32(void *const *args, const int64_t *n, int threads) { share(round_part, args, n, threads); }
void plain_round_loop_f32(void *const *args, const int64_t *n, int threads) {
    share(round_loop_part, args, n, threads);
}
void plain_heat_f32(void *const *args, const int64_t *n, int threads) { share(heat_part, args, n, threads); }
void plain_uniform_f32(void *const *args, const int64_t *n, int threads) { share(uniform_part, args, n, threads); }
void plain_uniform_fours(void *const *args, const int64_t *n, int threads) {
    share(uniform_fours_part, args, n, threads);
}
void plain_nbody_f32(void *const *args, const int64_t *n, int threads) { share(nbody_part, args, n, threads); }
void plain_life_u8(void *const *args, const int64_t *n, int threads) { share(life_part, args, n, threads); }
void plain_transpose_f32(void *const *args, const int64_t *n, int threads) { share(transpose_part, args, n, threads); }
void plain_gather_f32(void *const *args, const int64_t *n, int threads) { share(gather_part, args, n, threads); }
void plain_saxpy_f32(void *const *args, const int64_t *n, int threads) { share(saxpy_part, args, n, threads); }
void plain_stencil3_f32(void *const *args, const int64_t *n, int threads) { share(stencil3_part, args, n, threads); }

void plain_histogram_i32(void *const *args, const int64_t *n, int threads) {
    memset(args[1], 0, 256 * sizeof(int32_t));
    share(histogram_i32_part, args, n, threads);
}

void plain_histogram_i32_tables(void *const *args, const int64_t *n, int threads) {
    memset(args[1], 0, 256 * sizeof(int32_t));
    share(histogram_i32_tables_part, args, n, threads);
}

void plain_histogram_i64(void *const *args, const int64_t *n, int threads) {
    memset(args[1], 0, 256 * sizeof(int64_t));
    share(histogram_i64_part, args, n, threads);
}
