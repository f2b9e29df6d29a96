/* test_rows_device.c - on a real GPU, with UF_TEST_GPU=1: generalized ufuncs along rows, of lengths for which a warp, a block, a cluster of
 * blocks or blocks that meet otherwise have a row, which lie anywhere and have gaps between them. Integers are
 * exact. Of floats there are rows with infinities and with what is no number, here and there and in long runs; the sum of exponentials
 * and the variance are compared with plain loops in float64. UF_SEED repeats a run. */
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
    ELEMENTS_MOST = 1 << 21,
    TRIALS = 60,
    ARRAYS = 3,
    RUN = 4096 /* elements of a run of -infinity, at most */
};

#define FLOATS "float32,float32->float32; float64,float64->float64; bfloat16,bfloat16->bfloat16"

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType types[] = {
    {kDLInt, 32, 1}, {kDLInt, 16, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLBfloat, 16, 1}};

/* Rows of x and y within larger arrays, from element `first` on, and one row of factors. All are float64 on the host. */
typedef struct sample {
    int64_t n, count, pitch, first, all;
    DLDataType type;
    double *x, *y, *factor;
} sample;

/* Numbers in an array of a type on the device. Integers go by way of int32, which casts to shorter ones. */
static DLManagedTensor *on_device(DLDataType type, const double *from, int64_t n) {
    DLManagedTensor *m;
    int32_t *whole = calloc((size_t)n, sizeof *whole);
    for (int64_t i = 0; i < n && type.code == kDLInt; i++)
        whole[i] = (int32_t)from[i];
    OK(uf_empty(&m, gpu, type, 1, &n));
    OK(uf_copy(&m->dl_tensor, type.code == kDLInt ? &UF_ARRAY(whole, n) : &UF_ARRAY((double *)(uintptr_t)from, n),
               NULL));
    free(whole);
    return m;
}

/* Around the bounds between the forms, and anywhere. */
static int64_t length(void) {
    static const int64_t bounds[] = {256,   1024,  2048,  4096,  8192,   16384,  24576,
                                     32768, 50257, 65536, 98304, 131072, 262144, 1 << 20};
    if (chance(50))
        return bounds[pick(0, COUNT(bounds) - 1)] + pick(-3, 3);
    return (int64_t)exp((double)pick(0, 10000) / 10000 * log(400000));
}

static sample draw(DLDataType type) {
    sample s = {.n = length(), .first = pick(0, 9), .type = type};
    int64_t most = ELEMENTS_MOST / s.n;
    s.count = chance(40) ? most : pick(1, most < 300 ? most : 300);
    s.pitch = s.n + (chance(50) ? pick(0, 9) : 0);
    if (chance(40)) { /* accesses by vectors are aligned */
        s.n += -s.n & 15;
        s.first = 16 * pick(0, 1);
        s.pitch = s.n + 16 * pick(0, 1);
    }
    s.all = s.first + s.count * s.pitch;
    s.x = calloc((size_t)s.all, sizeof *s.x);
    s.y = calloc((size_t)s.all, sizeof *s.y);
    s.factor = calloc((size_t)s.n, sizeof *s.factor);
    for (int64_t i = 0; i < s.all; i++) {
        s.x[i] = (double)(type.code == kDLInt ? pick(-3000, 3000) : pick(-40, 40));
        s.y[i] = 7;
    }
    for (int64_t i = 0; i < s.n; i++)
        s.factor[i] = (double)pick(-9, 9);
    return s;
}

/* Of some rows: runs of -infinity, which may be all of it, and single special values. */
static void add_special(sample *s) {
    static const double special[] = {-INFINITY, INFINITY, NAN};
    for (int64_t c = 0; c < s->count; c++) {
        double *row = s->x + s->first + c * s->pitch;
        bool runs = chance(30);
        for (int64_t i = 0; i < s->n && runs; i++)
            if (s->n < RUN ? chance(90) : i / RUN % 3 != 1)
                row[i] = -INFINITY;
        for (int64_t i = 0; i < s->n && runs && chance(30); i++)
            row[i] = -INFINITY;
        if (chance(15))
            row[pick(0, s->n - 1)] = special[pick(0, 2)];
    }
}

static void release(sample *s) {
    free(s->x);
    free(s->y);
    free(s->factor);
}

/* y = f(x, factor) along the last axis, into s->y. */
static void call(const uf_func *f, sample *s) {
    int64_t shape[] = {s->count, s->n}, strides[] = {s->pitch, 1};
    DLManagedTensor *x = on_device(s->type, s->x, s->all), *y = on_device(s->type, s->y, s->all),
                    *factor = on_device(s->type, s->factor, s->n);
    DLTensor args[ARRAYS] = {x->dl_tensor, factor->dl_tensor, y->dl_tensor};
    for (int k = 0; k < ARRAYS; k += 2) {
        args[k].ndim = 2;
        args[k].shape = shape;
        args[k].strides = strides;
        args[k].byte_offset += (uint64_t)(s->first * s->type.bits / 8);
    }
    device_call(f, ARRAYS, args, NULL, chance(30));
    OK(uf_copy(&UF_ARRAY(s->y, s->all), &y->dl_tensor, NULL));
    x->deleter(x);
    y->deleter(y);
    factor->deleter(factor);
}

/* What a kernel computes of a row: a shift, a sum, and the element's value. */
typedef struct rule {
    const char *source;
    double (*shift)(double so_far, double x, int64_t n), first;
    double (*term)(double x, double shift);
    double (*value)(double x, double shift, double sum, double factor);
} rule;

static double larger(double a, double x, int64_t n) {
    (void)n;
    return isnan(a) || x <= a ? a : x;
}
static double mean_term(double a, double x, int64_t n) { return a + x / (double)n; }
static double below(double x, double shift) { return shift - x; }
static double exponential(double x, double shift) { return exp(x - shift); }
static double square(double x, double shift) { return (x - shift) * (x - shift); }
static double scaled(double x, double shift, double sum, double factor) {
    (void)shift;
    return x * factor - sum;
}
static double logarithm(double x, double shift, double sum, double factor) {
    return (isfinite(x) ? x - shift : 1) * factor - log(sum);
}
static double unscaled(double x, double shift, double sum, double factor) {
    (void)shift;
    (void)factor;
    return x - sum;
}
static double unscaled_logarithm(double x, double shift, double sum, double factor) {
    (void)factor;
    return (isfinite(x) ? x - shift : 1) - log(sum);
}
static double spread(double x, double shift, double sum, double factor) { return (x - shift) * factor + sum; }

static const rule
    exact = {"(x, factor) -> (y) { int32 top = max(i : n, x[i]); int32 s = sum(i : n, (int32)(top - x[i])); "
             "forall (i : n) y[i] = x[i] * factor[i] - s; }",
             larger, -INFINITY, below, scaled},
    soft = {"(x, factor) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - top)); forall "
            "(i : n) y[i] = (x[i] - x[i] == 0 ? x[i] - top : 1) * factor[i] - log(s); }",
            larger, -INFINITY, exponential, logarithm},
    /* Without an operand that is read once. */
    exact_alone = {"(x, factor) -> (y) { int32 top = max(i : n, x[i]); int32 s = sum(i : n, (int32)(top - x[i])); "
                   "forall (i : n) y[i] = x[i] - s; }",
                   larger, -INFINITY, below, unscaled},
    soft_alone = {"(x, factor) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - top)); forall "
                  "(i : n) y[i] = (x[i] - x[i] == 0 ? x[i] - top : 1) - log(s); }",
                  larger, -INFINITY, exponential, unscaled_logarithm},
    variance = {"square(x) { return x * x; } (x, factor) -> (y) { auto mean = sum(i : n, x[i]) / n; auto s = "
                "sum(i : n, square(x[i] - mean)); forall (i : n) y[i] = (x[i] - mean) * factor[i] + s; }",
                mean_term, 0, square, spread};

static double as_type(DLDataType type, double x) {
    return type.code != kDLInt ? x : type.bits == 16 ? (double)(int16_t)(int64_t)x : (double)(int32_t)(int64_t)x;
}

/* near: relative to what the value is made of. */
static bool is_near(double got, double want, double near, double scale) {
    if (!isfinite(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= near * (fabs(want) + scale);
}

static void check(const sample *s, const rule *r) {
    double near = s->type.code == kDLInt ? 0 : s->type.code == kDLBfloat ? 1e-2 : s->type.bits == 32 ? 4e-6 : 1e-11;
    for (int64_t c = 0; c < s->count; c++) {
        const double *x = s->x + s->first + c * s->pitch, *y = s->y + s->first + c * s->pitch;
        double shift = r->first;
        long double sum =
            0; /* of a million terms of few values the roundings of a double may all be in one direction */
        for (int64_t i = 0; i < s->n; i++)
            shift = r->shift(shift, x[i], s->n);
        for (int64_t i = 0; i < s->n; i++)
            sum += r->term(x[i], shift);
        for (int64_t i = 0; i < s->pitch && c * s->pitch + i + s->first < s->all; i++) {
            bool there = i < s->n;
            double want = there ? as_type(s->type, r->value(x[i], shift, (double)sum, s->factor[i])) : 7;
            if (!is_near(y[i], want, there ? near : 0, 500 + (r == &variance ? (double)sum : 0)))
                fail_msg("%lld x %lld, pitch %lld, from %lld, %c%d: element %lld of row %lld is %.9g, not %.9g",
                         (long long)s->count, (long long)s->n, (long long)s->pitch, (long long)s->first,
                         "iufxb"[s->type.code], s -> type.bits, (long long)i, (long long)c, y[i], want);
        }
    }
}

static void try_rows(const uf_func *f, const rule *r, DLDataType type, bool special) {
    sample s = draw(type);
    if (special)
        add_special(&s);
    call(f, &s);
    check(&s, r);
    release(&s);
}

static void run(const rule *r, const char *signatures, const DLDataType *with, int count, bool special) {
    uf_func *f;
    OK(uf_guvectorize(&f, "rows", "(n),(n)->(n)", signatures, r->source));
    for (int i = 0; i < TRIALS; i++)
        try_rows(f, r, with[i % count], special);
    uf_free(f);
}

static void test_exact(void **unused) {
    (void)unused;
    run(&exact, "int16,int16->int16; int32,int32->int32", types, 2, false);
}

static void test_exponentials(void **unused) {
    (void)unused;
    run(&soft, FLOATS, types + 2, 3, true);
}

static void test_alone(void **unused) {
    (void)unused;
    run(&exact_alone, "int16,int16->int16; int32,int32->int32", types, 2, false);
    run(&soft_alone, FLOATS, types + 2, 3, true);
}

static void test_variance(void **unused) {
    (void)unused;
    run(&variance, FLOATS, types + 2, 3, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exponentials),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_variance),
    };
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
