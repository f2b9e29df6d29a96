/* test_philox.c - random numbers of kernels: their bits against Random123's own headers and its published answers, uniform and
 * normal numbers against their definitions, and statistics of both. On the CPU and, with UF_TEST_GPU=1, on the GPU. Bounds of
 * statistics are those of 6 standard deviations: one run in 10^9 breaks one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Random123/philox.h>

#include "draw.h"
#include "ufunc.h"

#include <cmocka.h>

enum {
    N = 1 << 12, /* numbers compared at once */
    MANY = 1 << 20,
    BINS = 256
};

static const double sigmas = 6;
static const long double pi_long = 3.14159265358979323846264338327950288L;
static bool on_gpu;

typedef struct points {
    uint64_t seed[N];
    int64_t i[N], k[N];
} points;

static points at;

static void must(uf_status status) {
    if (status != UF_OK)
        fail_msg("%s", uf_last_error()->message);
}

static uf_func *function_of(const char *name, const char *type) {
    char signature[64], text[96];
    uf_func *f;
    snprintf(signature, sizeof signature, "uint64,int64,int64->%s", type);
    snprintf(text, sizeof text, "(seed, i, k) { return %s(seed, i, k); }", name);
    must(uf_vectorize(&f, "f", signature, text));
    return f;
}

/* out[j] = name(at.seed[j], at.i[j], at.k[j]) */
static void apply(const char *name, const char *type, DLTensor out) {
    uf_func *f = function_of(name, type);
    uf_options options = {
        .size = sizeof options, .device = {on_gpu ? kDLCUDA : kDLCPU, 0}, .flags = on_gpu ? UF_STAGE : 0};
    DLTensor args[] = {UF_ARRAY(at.seed, N), UF_ARRAY(at.i, N), UF_ARRAY(at.k, N), out};
    must(uf_call(f, 4, args, &options));
    uf_free(f);
}

/* Some of all sizes, neighbours of each other, the ends of the range. */
static void draw_points(void) {
    static const int64_t ends[] = {
        0, 1, 2, 3, 4, 5, 7, INT32_MAX, (int64_t)INT32_MAX + 1, UINT32_MAX, (int64_t)1 << 34, INT64_MAX};
    for (int j = 0; j < N; j++) {
        at.seed[j] = chance(20) ? (uint64_t)ends[pick(0, 11)] : draw_bits() << 12 ^ draw_bits() >> pick(0, 40);
        at.i[j] = chance(20) ? ends[pick(0, 11)] : (int64_t)(draw_bits() >> pick(0, 52)) << pick(0, 10);
        at.k[j] = chance(20) ? ends[pick(0, 11)] : (int64_t)(draw_bits() >> pick(0, 52));
        if (j && chance(50)) {
            at.seed[j] = at.seed[j - 1];
            at.k[j] = at.k[j - 1];
            at.i[j] = at.i[j - 1] < INT64_MAX ? at.i[j - 1] + 1 : 0;
        }
    }
}

static philox4x32_ctr_t block_of(uint64_t counter, int64_t k, uint64_t seed) {
    philox4x32_ctr_t c = {{(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)k, (uint32_t)((uint64_t)k >> 32)}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    return philox4x32(c, key);
}

/* ---- Definitions ---- */

static uint32_t bits_wanted(int j) { return block_of((uint64_t)at.i[j] >> 2, at.k[j], at.seed[j]).v[at.i[j] & 3]; }

static double uniform_of(uint32_t high, uint32_t low) { return ((high >> 5) * 67108864.0 + (low >> 6)) * 0x1p-53; }
static float uniformf_of(uint32_t bits) { return (float)(bits >> 8) * 0x1p-24f; }

static double uniform_wanted(int j) {
    philox4x32_ctr_t b = block_of((uint64_t)at.i[j] >> 1, at.k[j], at.seed[j]);
    int first = 2 * (int)(at.i[j] & 1);
    return uniform_of(b.v[first], b.v[first + 1]);
}

/* cos or sin of 2 pi u, by a turn that is reduced exactly. */
static long double turned(long double u, bool sine) {
    long double quarter = 4 * u - (sine ? 1 : 0); /* sin x = cos(x - pi / 2) */
    quarter = fabsl(quarter);
    if (quarter > 2)
        quarter = 4 - quarter;
    return quarter <= 0.5L ? cosl(quarter * pi_long / 2) : sinl((1 - quarter) * pi_long / 2);
}

static long double normal_of(long double u1, long double u2, bool sine) {
    return sqrtl(-2 * logl(1 - u1)) * turned(u2, sine);
}

static long double normalf_wanted(int j) {
    philox4x32_ctr_t b = block_of((uint64_t)at.i[j] >> 2, at.k[j], at.seed[j]);
    int w = (int)(at.i[j] & 3);
    return normal_of(uniformf_of(b.v[w & ~1]), uniformf_of(b.v[w | 1]), w & 1);
}

static long double normal_wanted(int j) {
    philox4x32_ctr_t b = block_of((uint64_t)at.i[j] >> 1, at.k[j], at.seed[j]);
    return normal_of(uniform_of(b.v[0], b.v[1]), uniform_of(b.v[2], b.v[3]), at.i[j] & 1);
}

/* ---- Against Random123 ---- */

/* What its authors publish (kat_vectors, philox4x32 10): counter, key, answer. */
static void test_known_answers(void **unused) {
    static const uint32_t known[][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                         {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
                                          0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
                                          0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    (void)unused;
    for (size_t v = 0; v < sizeof known / sizeof *known; v++) {
        const uint32_t *x = known[v];
        philox4x32_ctr_t b =
            block_of((uint64_t)x[1] << 32 | x[0], (int64_t)((uint64_t)x[3] << 32 | x[2]), (uint64_t)x[5] << 32 | x[4]);
        assert_memory_equal(b.v, x + 6, 16);
    }
    static uint32_t got[N];
    draw_points();
    for (int64_t w = 0; w < 4; w++) {
        at.i[w] = w;
        at.k[w] = 0;
        at.seed[w] = 0;
    }
    apply("random_bits", "uint32", UF_ARRAY(got, N));
    assert_memory_equal(got, known[0] + 6, 16);
}

static void test_bits(void **unused) {
    static uint32_t got[N];
    (void)unused;
    for (int64_t round = 0; round < trials(10); round++) {
        draw_points();
        apply("random_bits", "uint32", UF_ARRAY(got, N));
        for (int j = 0; j < N; j++)
            if (got[j] != bits_wanted(j))
                fail_msg("random_bits(%llu, %lld, %lld) is %x, not %x", (unsigned long long)at.seed[j],
                         (long long)at.i[j], (long long)at.k[j], got[j], bits_wanted(j));
    }
}

static void test_uniform(void **unused) {
    static double got[N];
    static float gotf[N];
    (void)unused;
    for (int64_t round = 0; round < trials(10); round++) {
        draw_points();
        apply("random_uniform", "float64", UF_ARRAY(got, N));
        apply("random_uniformf", "float32", UF_ARRAY(gotf, N));
        for (int j = 0; j < N; j++) {
            if (got[j] != uniform_wanted(j) || gotf[j] != uniformf_of(bits_wanted(j)))
                fail_msg("at (%llu, %lld, %lld): %a and %a, not %a and %a", (unsigned long long)at.seed[j],
                         (long long)at.i[j], (long long)at.k[j], got[j], (double)gotf[j], uniform_wanted(j),
                         (double)uniformf_of(bits_wanted(j)));
            assert_true(got[j] >= 0 && got[j] < 1 && gotf[j] >= 0 && gotf[j] < 1);
        }
    }
}

/* Of a value in units of the last place of the wanted one's. */
static double distance(double got, long double wanted, int digits) {
    int exponent;
    frexpl(wanted, &exponent);
    return wanted == 0 ? got == 0 ? 0 : HUGE_VAL : (double)(fabsl(got - wanted) / ldexpl(1, exponent - digits));
}

/* The logarithm's 4 ULP are halved by the root; the sine's are 4, and each of three steps rounds. */
static void test_normal(void **unused) {
    static double got[N];
    static float gotf[N];
    double worst = 0, worstf = 0;
    (void)unused;
    for (int64_t round = 0; round < trials(10); round++) {
        draw_points();
        apply("random_normal", "float64", UF_ARRAY(got, N));
        apply("random_normalf", "float32", UF_ARRAY(gotf, N));
        for (int j = 0; j < N; j++) {
            worst = fmax(worst, distance(got[j], normal_wanted(j), 53));
            worstf = fmax(worstf, distance(gotf[j], normalf_wanted(j), 24));
            if (!(worst <= 8 && worstf <= 8))
                fail_msg("at (%llu, %lld, %lld): %a, not %a (%g ULP); %a, not %a (%g ULP)",
                         (unsigned long long)at.seed[j], (long long)at.i[j], (long long)at.k[j], got[j],
                         (double)normal_wanted(j), worst, (double)gotf[j], (double)normalf_wanted(j), worstf);
        }
    }
    print_message("errors up to %.2f ULP in float64, %.2f in float32\n", worst, worstf);
}

/* ---- Statistics ---- */

/* MANY numbers of a seed and a stream, of consecutive i from first on. */
static void fill(const char *name, uint64_t seed, int64_t first, int64_t k, double *out) {
    bool narrow = name[strlen(name) - 1] == 'f';
    static float narrow_out[N];
    uf_func *f = function_of(name, narrow ? "float32" : "float64");
    uf_options options = {
        .size = sizeof options, .device = {on_gpu ? kDLCUDA : kDLCPU, 0}, .flags = on_gpu ? UF_STAGE : 0};
    for (int64_t from = 0; from < MANY; from += N) {
        for (int64_t j = 0; j < N; j++)
            at.i[j] = first + from + j;
        DLTensor args[] = {UF_SCALAR(seed), UF_ARRAY(at.i, N), UF_SCALAR(k),
                           narrow ? UF_ARRAY(narrow_out, N) : UF_ARRAY(out + from, N)};
        must(uf_call(f, 4, args, &options));
        for (int64_t j = 0; narrow && j < N; j++)
            out[from + j] = (double)narrow_out[j];
    }
    uf_free(f);
}

static double x[MANY], y[MANY];

/* |value - mean| in standard deviations. */
static void judge(const char *what, double value, double mean, double deviation) {
    double off = fabs(value - mean) / deviation;
    if (!(off <= sigmas))
        fail_msg("%s is %g, %.1f standard deviations off %g", what, value, off, mean);
}

static void check_moments(const char *name, double mean, double variance, double fourth) {
    double sum = 0, squares = 0;
    for (int j = 0; j < MANY; j++)
        sum += x[j];
    for (int j = 0; j < MANY; j++)
        squares += (x[j] - mean) * (x[j] - mean);
    print_message("# %s: mean %g, variance %g\n", name, sum / MANY, squares / MANY);
    judge("the mean", sum / MANY, mean, sqrt(variance / MANY));
    judge("the variance", squares / MANY, variance, sqrt((fourth - variance * variance) / MANY));
}

/* Its cube root is nearly normal (Wilson and Hilferty). */
static void check_bins(void) {
    double count[BINS] = {0}, square = 0, expected = (double)MANY / BINS, spread = 2.0 / (9 * (BINS - 1));
    for (int j = 0; j < MANY; j++)
        count[(int)(x[j] * BINS)]++;
    for (int b = 0; b < BINS; b++)
        square += (count[b] - expected) * (count[b] - expected) / expected;
    judge("the cube root of chi-square", cbrt(square / (BINS - 1)), 1 - spread, sqrt(spread));
}

static int by_value(const void *a, const void *b) {
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Kolmogorov and Smirnov: beyond 3.3 with probability 2 exp(-2 * 3.3^2) < 10^-9. Leaves x in order. */
static void check_normal_shape(void) {
    double largest = 0;
    qsort(x, MANY, sizeof *x, by_value);
    for (int j = 0; j < MANY; j++) {
        double p = 0.5 * erfc(-x[j] / sqrt(2));
        largest = fmax(largest, fmax(p - (double)j / MANY, (double)(j + 1) / MANY - p));
    }
    if (largest * sqrt(MANY) > 3.3)
        fail_msg("Kolmogorov and Smirnov: %g", largest * sqrt(MANY));
}

static void check_correlation(const char *what, const double *a, const double *b, int n, double mean, double variance) {
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += (a[j] - mean) * (b[j] - mean);
    judge(what, sum / n / variance, 0, 1 / sqrt(n));
}

static void check_seed(const char *name, uint64_t seed, int64_t first, int64_t k, bool normal) {
    double mean = normal ? 0 : 0.5, variance = normal ? 1 : 1 / 12.0, fourth = normal ? 3 : 1 / 80.0;
    fill(name, seed, first, k, x);
    check_moments(name, mean, variance, fourth);
    check_correlation("the correlation of neighbours", x, x + 1, MANY - 1, mean, variance);
    check_correlation("the correlation of every other", x, x + 2, MANY - 2, mean, variance);
    check_correlation("the correlation of those of two blocks", x, x + 4, MANY - 4, mean, variance);
    fill(name, seed, first, k + 1, y);
    check_correlation("the correlation of two streams", x, y, MANY, mean, variance);
    fill(name, seed + 1, first, k, y);
    check_correlation("the correlation of two seeds", x, y, MANY, mean, variance);
    if (normal)
        check_normal_shape();
    else
        check_bins();
}

static void test_statistics(void **unused) {
    static const char *const names[] = {"random_uniform", "random_uniformf", "random_normal", "random_normalf"};
    (void)unused;
    for (size_t n = 0; n < 4; n++) {
        check_seed(names[n], 0, 0, 0, n > 1);
        check_seed(names[n], draw_bits() << 11 ^ draw_bits(), (int64_t)(draw_bits() >> pick(0, 50)), pick(0, INT32_MAX),
                   n > 1);
    }
}

/* ---- In kernels over indices ---- */

/* The same numbers, whatever a thread takes at a time. */
static void test_kernel(void **unused) {
    enum {
        ROWS = 37,
        COLUMNS = 1001
    };
    static uint32_t got[ROWS][COLUMNS];
    (void)unused;
    int64_t shape[] = {ROWS, COLUMNS};
    uf_func *f;
    must(uf_kernel(&f, "fill", "uint32[,], uint64",
                   UF_SOURCE([i, j : m](out, seed) { out[i][j] = random_bits(seed, i * m + j, 5); })));
    for (int way = 0; way < 4; way++) {
        uint64_t seed = draw_bits() << 11;
        uf_options options = {.size = sizeof options, .elements = on_gpu ? 1 << way : 0, .threads = on_gpu ? 0 : way};
        DLTensor args[] = {{.data = got, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLUInt, 32, 1}, .shape = shape},
                           UF_SCALAR(seed)};
        DLManagedTensor *there = NULL;
        if (on_gpu) {
            must(uf_empty(&there, (DLDevice){kDLCUDA, 0}, args[0].dtype, 2, shape));
            DLTensor host = args[0];
            args[0] = there->dl_tensor;
            must(uf_forall(f, 2, shape, 2, args, &options));
            must(uf_copy(&host, &there->dl_tensor, NULL));
            there->deleter(there);
        } else {
            must(uf_forall(f, 2, shape, 2, args, &options));
        }
        for (int j = 0; j < ROWS * COLUMNS; j++)
            if (got[j / COLUMNS][j % COLUMNS] != block_of((uint64_t)j >> 2, 5, seed).v[j & 3])
                fail_msg("number %d of seed %llu", j, (unsigned long long)seed);
    }
    uf_free(f);
}

static int begin_gpu(void **state) {
    on_gpu = true;
    return draw_seed(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_answers), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_uniform),       cmocka_unit_test(test_normal),
                                       cmocka_unit_test(test_statistics),    cmocka_unit_test(test_kernel)};
    const char *gpu = getenv("UF_TEST_GPU");
    int failed = cmocka_run_group_tests_name("philox", tests, draw_seed, NULL);
    if (gpu && !strcmp(gpu, "1"))
        failed += cmocka_run_group_tests_name("philox on the GPU", tests, begin_gpu, NULL);
    return failed;
}
