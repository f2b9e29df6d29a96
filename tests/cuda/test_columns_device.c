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
    HEIGHT_MOST = 20000,
    ELEMENTS_MOST = 1 << 20,
    TRIALS = 100
};

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType int32 = {kDLInt, 32, 1}, int16 = {kDLInt, 16, 1};

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns)};
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
