/* test_columns_device.c - on a real GPU, with UF_TEST_GPU=1: generalized ufuncs along the first axis of matrices, of heights for which one
 * thread, a block or a cluster of blocks has a column, of widths that fill no block, at addresses that are not aligned, beside rows and
 * columns of a larger matrix. All is exact in integers. UF_SEED repeats a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "draw.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    HEIGHT_MOST = 70000,
    ELEMENTS_MOST = 1 << 20,
    TRIALS = 100,
    FLOATS_MOST = 1 << 22,
    LONG_LEAST = 16000,
    FLOAT_TRIALS = 12
};

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType int32 = {kDLInt, 32, 1}, int16 = {kDLInt, 16, 1}, float32 = {kDLFloat, 32, 1};

/* A matrix within a larger one, from element `first` on, and factors of its rows. */
typedef struct sample {
    int64_t n, count, pitch, first, all;
    bool narrow;
    int32_t *x, *y, *factor;
} sample;

static DLManagedTensor *on_device(DLDataType type, const int32_t *from, int64_t n) {
    DLManagedTensor *m;
    OK(uf_empty(&m, gpu, type, 1, &n));
    OK(uf_copy(&m->dl_tensor, &UF_ARRAY((int32_t *)(uintptr_t)from, n), NULL));
    return m;
}

static int64_t height(void) { return (int64_t)exp((double)pick(0, 10000) / 10000 * log(HEIGHT_MOST)); }

static sample draw(void) {
    sample s = {.n = height(),
                .count = chance(10) ? 2 : pick(1, chance(50) ? 70 : 2000),
                .first = pick(0, 9),
                .narrow = chance(50)};
    if (s.count > ELEMENTS_MOST / s.n)
        s.count = ELEMENTS_MOST / s.n;
    s.pitch = s.count + (chance(50) ? pick(0, 40) : 0);
    if (chance(40)) { /* rows of whole lines, for which narrow blocks are */
        s.first = 64 * pick(0, 1);
        s.pitch = (s.pitch + 63) / 64 * 64;
    }
    s.all = s.first + s.n * s.pitch;
    s.x = malloc((size_t)s.all * sizeof *s.x);
    s.y = malloc((size_t)s.all * sizeof *s.y);
    s.factor = malloc((size_t)s.n * sizeof *s.factor);
    for (int64_t i = 0; i < s.all; i++) {
        s.x[i] = (int32_t)pick(-3000, 3000);
        s.y[i] = 7;
    }
    for (int64_t i = 0; i < s.n; i++)
        s.factor[i] = (int32_t)pick(-9, 9);
    return s;
}

static void check_columns(const sample *s) {
    for (int64_t c = 0; c < s->pitch; c++) {
        const int32_t *x = s->x + s->first + c, *y = s->y + s->first + c;
        int32_t top = INT32_MIN, sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            top = x[i * s->pitch] > top ? x[i * s->pitch] : top;
        for (int64_t i = 0; i < s->n; i++)
            sum = (int32_t)((uint32_t)sum + (uint32_t)(top - x[i * s->pitch]) * (uint32_t)(i % 5));
        for (int64_t i = 0; i < s->n; i++) {
            int32_t want = (int32_t)((uint32_t)(x[i * s->pitch] * s->factor[i]) - (uint32_t)sum);
            if (y[i * s->pitch] != (c < s->count ? want : 7))
                fail_msg("%lld x %lld, pitch %lld, from %lld, narrow %d: element %lld of column %lld is %d, not %d",
                         (long long)s->n, (long long)s->count, (long long)s->pitch, (long long)s->first, s->narrow,
                         (long long)i, (long long)c, y[i * s->pitch], want);
        }
    }
}

static void try_columns(const uf_func *f) {
    sample s = draw();
    const int axis = 0;
    int64_t shape[] = {s.n, s.count}, strides[] = {s.pitch, 1};
    DLManagedTensor *x = on_device(s.narrow ? int16 : int32, s.x, s.all), *y = on_device(int32, s.y, s.all),
                    *factor = on_device(int32, s.factor, s.n);
    DLTensor args[] = {x->dl_tensor, factor->dl_tensor, y->dl_tensor};
    for (int k = 0; k < 3; k += 2) {
        args[k].ndim = 2;
        args[k].shape = shape;
        args[k].strides = strides;
        args[k].byte_offset += (uint64_t)(s.first * args[k].dtype.bits / 8);
    }
    const uf_options options = {.size = sizeof options, .axes = &(uf_axes){.size = sizeof(uf_axes), .axis = &axis}};
    device_call(f, 3, args, &options, chance(30));
    OK(uf_copy(&UF_ARRAY(s.y, s.all), &y->dl_tensor, NULL));
    check_columns(&s);
    x->deleter(x);
    y->deleter(y);
    factor->deleter(factor);
    free(s.x);
    free(s.y);
    free(s.factor);
}

static void test_columns(void **unused) {
    uf_func *f;
    (void)unused;
    OK(uf_guvectorize(
        &f, "columns", "(n),(n)->(n)", "int16,int32->int32; int32,int32->int32",
        "(x, factor) -> (y) { int32 top = max(i : n, x[i]);"
        " int32 s = sum(i : n, (top - x[i]) * (int32)(i % 5)); forall (i : n) y[i] = x[i] * factor[i] - s; }"));
    for (int i = 0; i < TRIALS; i++)
        try_columns(f);
    uf_free(f);
}

/* Softmax, or layer_norm with weights and biases of 1, of a line whose elements are `step` apart. */
static void expect_line(const float *x, double *want, int64_t n, int64_t step, bool norm) {
    double top = -INFINITY, mean = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        top = fmax(top, (double)x[i * step]);
        mean += (double)x[i * step] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        double apart = (double)x[i * step] - (norm ? mean : top);
        sum += norm ? apart * apart / (double)n : exp(apart);
    }
    for (int64_t i = 0; i < n; i++) {
        double apart = (double)x[i * step] - (norm ? mean : top);
        want[i * step] = norm ? apart / sqrt(sum + 1e-5) + 1 : exp(apart) / sum;
    }
}

/* The same by the device, of a matrix of one dtype, along one axis. */
static void lines_of_device(const uf_func *f, bool norm, DLDataType type, const int64_t *shape, int axis, float *x,
                            float *got) {
    const float epsilon = 1e-5F, one = 1;
    const uf_options options = {.size = sizeof options, .axes = &(uf_axes){.size = sizeof(uf_axes), .axis = &axis}};
    DLManagedTensor *from, *to, *weight;
    OK(uf_empty(&from, gpu, type, 2, shape));
    OK(uf_empty(&to, gpu, type, 2, shape));
    OK(uf_empty(&weight, gpu, type, 1, &shape[axis ? 1 : 0]));
    OK(uf_copy(&from->dl_tensor, &UF_ARRAY(x, shape[0], shape[1]), NULL));
    OK(uf_copy(&weight->dl_tensor, &UF_SCALAR(one), NULL));
    DLTensor args[] = {from->dl_tensor, weight->dl_tensor, weight->dl_tensor, UF_SCALAR(epsilon), to->dl_tensor};
    if (!norm)
        args[1] = to->dl_tensor;
    device_call(f, norm ? 5 : 2, args, &options, false);
    OK(uf_copy(&UF_ARRAY(got, shape[0], shape[1]), &to->dl_tensor, NULL));
    from->deleter(from);
    to->deleter(to);
    weight->deleter(weight);
}

/* Long lines of floats, along either axis, far from 0 and near each other or far apart, with an infinity here and there. */
static void try_lines(const uf_func *f, bool norm) {
    const int axis = -(int)pick(0, 1);
    int64_t n = (int64_t)(exp((double)pick(0, 10000) / 10000 * log(FLOATS_MOST / LONG_LEAST)) * LONG_LEAST),
            count = pick(1, FLOATS_MOST / n < 70 ? FLOATS_MOST / n : 70), all = n * count;
    int64_t shape[] = {axis ? count : n, axis ? n : count};
    float *x = malloc((size_t)all * sizeof *x), *got = malloc((size_t)all * sizeof *got);
    double *want = malloc((size_t)all * sizeof *want);
    double middle = norm ? (double)pick(-100, 100) : 0, apart = chance(50) ? 0.01 : 20;
    double near = norm ? 1e-4 + 4 * fabs(middle) * 0x1p-23 / apart : 2e-5; /* the mean is rounded */
    for (int64_t i = 0; i < all; i++)
        x[i] = (float)(middle + apart * (double)pick(-1000, 1000) / 1000);
    if (chance(50))
        x[pick(0, all - 1)] = chance(50) ? -INFINITY : INFINITY;
    for (int64_t c = 0; c < count; c++)
        expect_line(x + (axis ? c * n : c), want + (axis ? c * n : c), n, axis ? 1 : count, norm);
    lines_of_device(f, norm, float32, shape, axis, x, got);
    for (int64_t i = 0; i < all; i++)
        if (isnan(want[i]) ? !isnan(got[i]) : !(fabs((double)got[i] - want[i]) <= near * (norm ? 1 : want[i]) + 1e-30))
            fail_msg("%s of %lld x %lld along %d: element %lld is %g, not %g", norm ? "layer_norm" : "softmax",
                     (long long)shape[0], (long long)shape[1], axis, (long long)i, (double)got[i], want[i]);
    free(x);
    free(want);
    free(got);
}

/* Partials of one, two and three numbers of two words in one kernel of the largest blocks. */
static void test_wide_partials(void **unused) {
    enum {
        N = 30000,
        COLUMNS = 40
    };
    const DLDataType float64 = {kDLFloat, 64, 1};
    const int axis = 0;
    const uf_options options = {.size = sizeof options, .axes = &(uf_axes){.size = sizeof(uf_axes), .axis = &axis}};
    double *x = malloc(N * COLUMNS * sizeof *x), *got = malloc(N * COLUMNS * sizeof *got);
    DLManagedTensor *from, *to;
    uf_func *f;
    (void)unused;
    OK(uf_guvectorize(&f, "wide", "(n)->(n)", "float64->float64",
                      "(x) -> (y) { auto top = max(i : n, x[i]); auto mean = sum(i : n, x[i]) / n; auto v = sum(i : n, "
                      "(x[i] - mean) * (x[i] - mean)) / n; auto low = min(i : n, x[i]); auto s = sum(i : n, exp(x[i] - "
                      "top)); forall (i : n) y[i] = mean + 10 * v + 1000 * (top - low) + s; }"));
    for (int i = 0; i < N * COLUMNS; i++)
        x[i] = (double)pick(-1000, 1000) / 100;
    OK(uf_empty(&from, gpu, float64, 2, (int64_t[]){N, COLUMNS}));
    OK(uf_empty(&to, gpu, float64, 2, (int64_t[]){N, COLUMNS}));
    OK(uf_copy(&from->dl_tensor, &UF_ARRAY(x, N, COLUMNS), NULL));
    device_call(f, 2, (DLTensor[]){from->dl_tensor, to->dl_tensor}, &options, false);
    OK(uf_copy(&UF_ARRAY(got, N, COLUMNS), &to->dl_tensor, NULL));
    for (int c = 0; c < COLUMNS; c++) {
        double top = -INFINITY, low = INFINITY, mean = 0, v = 0, sum = 0;
        for (int i = c; i < N * COLUMNS; i += COLUMNS) {
            top = fmax(top, x[i]);
            low = fmin(low, x[i]);
            mean += x[i] / N;
        }
        for (int i = c; i < N * COLUMNS; i += COLUMNS) {
            v += (x[i] - mean) * (x[i] - mean) / N;
            sum += exp(x[i] - top);
        }
        double want = mean + 10 * v + 1000 * (top - low) + sum;
        for (int i = c; i < N * COLUMNS; i += COLUMNS)
            if (!(fabs(got[i] - want) <= 1e-11 * want))
                fail_msg("element %d of column %d is %.17g, not %.17g", i / COLUMNS, c, got[i], want);
    }
    from->deleter(from);
    to->deleter(to);
    uf_free(f);
    free(x);
    free(got);
}

/* Rows of float16, which a block holds in registers up to some length: around those where it has other threads, or other elements a thread. */
static void try_rows_of_halves(const uf_func *f, bool norm) {
    static const int64_t ends[] = {1280, 2048, 4096, 6144, 8192, 10240, 12288, 16384};
    enum {
        ROWS = 130 /* fewer have several blocks each */
    };
    int64_t n = ends[pick(0, COUNT(ends) - 1)] + (chance(50) ? pick(-9, 9) : pick(-1000, 1000)), all = n * ROWS;
    const int64_t shape[] = {ROWS, n};
    float *x = malloc((size_t)all * sizeof *x), *got = malloc((size_t)all * sizeof *got);
    double *want = malloc((size_t)all * sizeof *want);
    for (int64_t i = 0; i < all; i++)
        x[i] = (float)pick(-640, 640) / 64;
    if (chance(30))
        x[pick(0, all - 1)] = chance(50) ? -INFINITY : INFINITY;
    for (int64_t r = 0; r < ROWS; r++)
        expect_line(x + r * n, want + r * n, n, 1, norm);
    lines_of_device(f, norm, (DLDataType){kDLFloat, 16, 1}, shape, -1, x, got);
    for (int64_t i = 0; i < all; i++)
        if (isnan(want[i]) ? !isnan(got[i])
                           : !(fabs((double)got[i] - want[i]) <= 0x1p-10 * fabs(want[i]) + 1e-3 * norm + 0x1p-24))
            fail_msg("%s of rows of %lld halves: element %lld is %g, not %g", norm ? "layer_norm" : "softmax",
                     (long long)n, (long long)i, (double)got[i], want[i]);
    free(x);
    free(want);
    free(got);
}

static void try_both(void (*try_one)(const uf_func *f, bool norm)) {
    uf_func *soft, *norm;
    OK(uf_load(&soft, "softmax"));
    OK(uf_load(&norm, "layer_norm"));
    for (int i = 0; i < FLOAT_TRIALS; i++)
        try_one(i % 2 ? norm : soft, i % 2);
    uf_free(soft);
    uf_free(norm);
}

static void test_rows_of_halves(void **unused) {
    (void)unused;
    try_both(try_rows_of_halves);
}

static void test_long_lines(void **unused) {
    (void)unused;
    try_both(try_lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_long_lines),
                                       cmocka_unit_test(test_rows_of_halves), cmocka_unit_test(test_wide_partials)};
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
