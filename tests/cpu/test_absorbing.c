/* test_absorbing.c - reductions whose result is decided by one element, as those by "or" and "and" are, and the position of the first largest
 * integer: for which functions that is found, that the elements behind are not read, and that the results are those of plain loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "draw.h"
#include "ufunc.h"

#undef fail /* base.h's */
#include <cmocka.h>

enum {
    READABLE = 1 << 16, /* bytes at the beginning of the guarded memory */
    GUARDED = 1 << 22,  /* of all of it */
    ELEMENTS = 300 * 1000
};

static const DLDataType boolean = {UF_BOOL_CODE, 8, 1}, byte = {kDLInt, 8, 1}, floating = {kDLFloat, 64, 1},
                        position = {kDLInt, 64, 1};

#define OK(call)                                      \
    do {                                              \
        if ((call) != UF_OK)                          \
            fail_msg("%s", uf_last_error()->message); \
    } while (0)

/* Binary functions of bools, in one of the ways in which they may be written. */
static const struct {
    const char *text;
    int table[4];  /* of (false, false), (false, true), (true, false), (true, true) */
    int absorbing; /* the value; -1: none */
} rows[] = {{"(a, b) { return a | b; }", {0, 1, 1, 1}, 1},
            {"(a, b) { return a || b; }", {0, 1, 1, 1}, 1},
            {"(a, b) { return a ? a : b; }", {0, 1, 1, 1}, 1},
            {"either(a, b) { return a != 0 || b; } (a, b) { return either(b, a); }", {0, 1, 1, 1}, 1},
            {"(a, b) { return !(!a && !b); }", {0, 1, 1, 1}, 1},
            {"(a, b) { return a & b; }", {0, 0, 0, 1}, 0},
            {"(a, b) { return a && b; }", {0, 0, 0, 1}, 0},
            {"(a, b) { return a > b ? b : a; }", {0, 0, 0, 1}, 0},
            {"(a, b) { return a ^ b; }", {0, 1, 1, 0}, -1},
            {"(a, b) { return a == b; }", {1, 0, 0, 1}, -1},
            {"(a, b) { return true; }", {1, 1, 1, 1}, -1}};

static uf_func *function(size_t row) {
    uf_func *f;
    OK(uf_vectorize(&f, "f", "bool,bool->bool", rows[row].text));
    return f;
}

static DLTensor tensor(void *data, DLDataType type, int ndim, int64_t *shape, int64_t *strides) {
    return (DLTensor){
        .data = data, .dtype = type, .ndim = ndim, .shape = shape, .strides = strides, .device = {kDLCPU, 0}};
}

/* ---- What is behind the deciding element is not read ---- */

/* Memory of which only the beginning may be read: bytes that decide nothing, but for one. */
static unsigned char *guarded(int value) {
    unsigned char *p = mmap(NULL, GUARDED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memset(p, !value, READABLE);
    p[pick(0, 4000)] = (unsigned char)value;
    assert_int_equal(mprotect(p + READABLE, GUARDED - READABLE, PROT_NONE), 0);
    return p;
}

static void check_unread(const uf_func *f, int value, int ndim, int64_t *shape, int64_t *strides) {
    unsigned char *p = guarded(value);
    bool result = !value;
    uf_reduce_options o = {.size = sizeof o, .threads = 1};
    DLTensor args[] = {tensor(p, boolean, ndim, shape, strides), tensor(&result, boolean, 0, NULL, NULL)};
    OK(uf_reduce(f, 2, args, &o));
    assert_int_equal(result, value);
    munmap(p, GUARDED);
}

static void rest_is_not_read(void **unused) {
    (void)unused;
    int64_t one = GUARDED, few = READABLE + 4096, two[] = {GUARDED / 16384, 16000}, strides[] = {16384, 1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].absorbing < 0)
            continue;
        uf_func *f = function(i);
        check_unread(f, rows[i].absorbing, 1, &one, NULL); /* in parts */
        check_unread(f, rows[i].absorbing, 1, &few, NULL); /* in one piece */
        if (rows[i].absorbing == 1) {
            uf_func *any;
            OK(uf_load(&any, "any"));
            check_unread(any, 1, 1, &one, NULL);
            check_unread(any, 1, 2, two, strides); /* of two dimensions */
            uf_free(any);
        }
        uf_free(f);
    }
}

/* The position of the first element that is the last of its type: parts behind it are not read either. */
static void behind_the_last_is_not_read(void **unused) {
    (void)unused;
    static const struct {
        DLDataType type;
        int64_t most; /* 0: the result is that of argmin */
    } types[] = {{{UF_BOOL_CODE, 8, 1}, 1},      {{UF_BOOL_CODE, 8, 1}, 0},    {{kDLInt, 8, 1}, INT8_MAX},
                 {{kDLUInt, 8, 1}, UINT8_MAX},   {{kDLUInt, 8, 1}, 0},         {{kDLInt, 32, 1}, INT32_MAX},
                 {{kDLUInt, 16, 1}, UINT16_MAX}, {{kDLInt, 64, 1}, INT64_MAX}, {{kDLUInt, 64, 1}, -1}};
    for (size_t i = 0; i < COUNT(types); i++) {
        int bytes = types[i].type.bits / 8;
        unsigned char *p = mmap(NULL, GUARDED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(p != MAP_FAILED);
        memset(p, !types[i].most, READABLE);
        int64_t where = pick(0, 4000 / bytes), n = GUARDED / bytes, result = -1;
        memcpy(p + where * bytes, &types[i].most, (size_t)bytes);
        assert_int_equal(mprotect(p + READABLE, GUARDED - READABLE, PROT_NONE), 0);
        uf_func *f;
        OK(uf_load(&f, types[i].most ? "argmax" : "argmin"));
        DLTensor args[] = {tensor(p, types[i].type, 1, &n, NULL), tensor(&result, position, 0, NULL, NULL)};
        uf_reduce_options o = {.size = sizeof o, .threads = 1};
        OK(uf_reduce(f, 2, args, &o));
        assert_int_equal(result, where);
        uf_free(f);
        munmap(p, GUARDED);
    }
}

/* ---- Results ---- */

static bool reduced(size_t row, const unsigned char *x, int64_t n, int64_t stride, const bool *mask,
                    const bool *initial) {
    bool any = initial, value = initial && *initial;
    for (int64_t i = 0; i < n; i++) {
        bool element = x[i * stride];
        if (mask && !mask[i])
            continue;
        value = any ? rows[row].table[2 * value + element] : element;
        any = true;
    }
    return value;
}

static void fill(unsigned char *x, int64_t n, int common, int64_t others) {
    memset(x, common, (size_t)n);
    for (int64_t i = 0; i < others && n; i++)
        x[pick(0, n - 1)] = (unsigned char)!common;
}

/* Rows of some length, of every stride, whose elements are alike but for a few; with masks and initial values. */
static void random_results(void **unused) {
    (void)unused;
    static unsigned char x[ELEMENTS];
    static bool mask[ELEMENTS];
    uf_func *functions[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        functions[i] = function(i);
    for (int64_t t = 0; t < trials(150); t++) {
        size_t row = (size_t)pick(0, COUNT(rows) - 1);
        int64_t stride = pick(1, 3), results = chance(50) ? 1 : pick(1, 5);
        int64_t n = pick(1, chance(30) ? 2000 : ELEMENTS / stride / results);
        fill(x, ELEMENTS, (int)pick(0, 1), chance(30) ? 0 : pick(1, 6));
        fill((unsigned char *)mask, n, 1, chance(50) ? 1 : n / 2);
        bool out[5], initial = chance(50), masked = chance(30), begins = masked || chance(30);
        int64_t shape[] = {results, n}, strides[] = {n * stride, stride};
        DLTensor first = tensor(&initial, boolean, 0, NULL, NULL), where = tensor(mask, boolean, 1, &n, NULL);
        uf_reduce_options o = {.size = sizeof o, .naxes = 1, .axes = (int[]){1}, .threads = (int)pick(0, 2)};
        o.initial = begins ? &first : NULL;
        o.where = masked ? &where : NULL;
        DLTensor args[] = {tensor(x, boolean, 2, shape, strides), tensor(out, boolean, 1, shape, NULL)};
        OK(uf_reduce(functions[row], 2, args, &o));
        for (int64_t r = 0; r < results; r++) {
            bool want = reduced(row, x + r * strides[0], n, stride, masked ? mask : NULL, begins ? &initial : NULL);
            if (out[r] != want)
                fail_msg("%s: result %d of %d elements, stride %d, is %d", rows[row].text, (int)r, (int)n, (int)stride,
                         out[r]);
        }
    }
    for (size_t i = 0; i < COUNT(rows); i++)
        uf_free(functions[i]);
}

/* Elements that are no bools: what decides is what is not zero, NaN included, wherever it is. */
static void other_elements(void **unused) {
    (void)unused;
    static double d[ELEMENTS];
    static int8_t b[ELEMENTS];
    uf_func *any, *all;
    OK(uf_load(&any, "any"));
    OK(uf_load(&all, "all"));
    for (int64_t t = 0; t < trials(100); t++) {
        int64_t n = pick(1, ELEMENTS), at = pick(0, n - 1);
        bool to_all = chance(50), there = chance(70), bytes = chance(50), result;
        for (int64_t i = 0; i < n; i++)
            d[i] = to_all ? -1 : -0.0, b[i] = to_all ? -128 : 0;
        if (there)
            d[at] = to_all ? 0 : NAN, b[at] = to_all ? 0 : 64;
        DLTensor args[] = {bytes ? tensor(b, byte, 1, &n, NULL) : tensor(d, floating, 1, &n, NULL),
                           tensor(&result, boolean, 0, NULL, NULL)};
        uf_reduce_options o = {.size = sizeof o, .threads = (int)pick(0, 2)};
        OK(uf_reduce(to_all ? all : any, 2, args, &o));
        assert_int_equal(result, there != to_all);
    }
    uf_free(any);
    uf_free(all);
}

static uf_func *reduction_of_numbers(size_t row) {
    uf_func *f;
    uf_reduction_def def = {.size = sizeof def, .combine = rows[row].text};
    OK(uf_reduction(&f, "f", "float64->bool; float32->bool; int64->bool; int32->bool; int16->bool; int8->bool", &def));
    return f;
}

/* Rows of numbers side by side, so that the next row's follow, and apart, most of them alike, of every length up to some groups of them, and
 * longer ones. */
static void rows_of_numbers(void **unused) {
    (void)unused;
    static const double d[] = {-0.0, NAN};
    static const float f[] = {-0.0F, NAN};
    static const int64_t l[] = {0, (int64_t)1 << 40};
    static const int32_t i32[] = {0, -5};
    static const int16_t s[] = {0, 1 << 9};
    static const int8_t b[] = {0, -128};
    static const struct {
        DLDataType type;
        const void *values; /* false and true */
    } types[] = {{{kDLFloat, 64, 1}, d}, {{kDLFloat, 32, 1}, f}, {{kDLInt, 64, 1}, l},
                 {{kDLInt, 32, 1}, i32}, {{kDLInt, 16, 1}, s},   {{kDLInt, 8, 1}, b}};
    static char x[ELEMENTS];
    static unsigned char is_one[ELEMENTS / 4];
    uf_func *functions[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        functions[i] = reduction_of_numbers(i);
    for (int64_t t = 0; t < trials(600); t++) {
        size_t row = (size_t)pick(0, COUNT(rows) - 1);
        size_t k = (size_t)pick(0, COUNT(types) - 1), size = types[k].type.bits / 8;
        int64_t results = pick(1, 5), stride = chance(50) ? 1 : pick(2, 11),
                n = chance(80) ? pick(1, 40) : pick(1, 600);
        fill(is_one, results * n * stride, (int)pick(0, 1), chance(30) ? 0 : pick(1, 3));
        for (size_t i = 0; i < (size_t)(results * n * stride); i++)
            memcpy(x + i * size, (const char *)types[k].values + is_one[i] * size, size);
        bool out[5];
        int64_t shape[] = {results, n}, strides[] = {n * stride, stride};
        uf_reduce_options o = {.size = sizeof o, .naxes = 1, .axes = (int[]){1}, .threads = 1};
        DLTensor args[] = {tensor(x, types[k].type, 2, shape, strides), tensor(out, boolean, 1, shape, NULL)};
        OK(uf_reduce(functions[row], 2, args, &o));
        for (int64_t r = 0; r < results; r++)
            if (out[r] != reduced(row, is_one + r * strides[0], n, stride, NULL, NULL))
                fail_msg("%s: result %d of %d elements, stride %d, is %d", rows[row].text, (int)r, (int)n, (int)stride,
                         out[r]);
    }
    for (size_t i = 0; i < COUNT(rows); i++)
        uf_free(functions[i]);
}

/* Which of n elements is the first one of this value; 0 if none is. */
static int64_t first_of(const unsigned char *x, int64_t n, int64_t stride, int value) {
    for (int64_t i = 0; i < n; i++)
        if (x[i * stride] == value)
            return i;
    return 0;
}

/* Positions of the first of few elements that are the last of their type, in rows of every stride, on threads. */
static void positions(void **unused) {
    (void)unused;
    static unsigned char x[4 * ELEMENTS];
    uf_func *functions[2];
    OK(uf_load(&functions[0], "argmin"));
    OK(uf_load(&functions[1], "argmax"));
    for (int64_t t = 0; t < trials(150); t++) {
        bool largest = chance(50), bytes = chance(50);
        int64_t stride = chance(50) ? 1 : pick(1, 3), results = chance(60) ? 1 : pick(1, 3);
        int64_t n = pick(1, (int64_t)sizeof x / stride / results), out[3];
        fill(x, sizeof x, !largest, chance(20) ? 0 : pick(1, 9));
        for (int64_t i = 0; i < (int64_t)sizeof x && bytes; i++)
            x[i] = x[i] == largest ? largest ? 127 : 128 : x[i];
        int64_t shape[] = {results, n}, strides[] = {n * stride, stride};
        uf_reduce_options o = {.size = sizeof o, .naxes = 1, .axes = (int[]){1}, .threads = (int)pick(0, 2)};
        DLTensor args[] = {tensor(x, bytes ? byte : boolean, 2, shape, strides), tensor(out, position, 1, shape, NULL)};
        OK(uf_reduce(functions[largest], 2, args, &o));
        for (int64_t r = 0; r < results; r++) {
            int64_t want = first_of(x + r * strides[0], n, stride, !bytes ? largest : largest ? 127 : 128);
            if (out[r] != want)
                fail_msg("%s: result %d of %d elements, stride %d, is %d, not %d", largest ? "argmax" : "argmin",
                         (int)r, (int)n, (int)stride, (int)out[r], (int)want);
        }
    }
    uf_free(functions[0]);
    uf_free(functions[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rest_is_not_read),
                                       cmocka_unit_test(random_results),
                                       cmocka_unit_test(behind_the_last_is_not_read),
                                       cmocka_unit_test(positions),
                                       cmocka_unit_test(other_elements),
                                       cmocka_unit_test(rows_of_numbers)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
