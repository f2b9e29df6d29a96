/* test_division.c - quotients and remainders of integers, of every dtype and of two different ones, by arrays and by numbers, against C's:
 * in elementwise loops, which divide by floating arithmetic, and in a kernel with a loop, which uses the instruction. The operands are hard
 * ones, and random ones of every length, each with multiples and their neighbours. A division by zero gives 0, and what is too large wraps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "draw.h"
#include "type/type.h"
#include "ufunc.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    ELEMENTS = 4096,
    DENOMINATORS = 64 /* that are numbers */
};

static const char operators[] = "/%";

/* ---- Operands ---- */

static int64_t wrapped(dtype t, int64_t x) {
    int unused = 64 - 8 * dtypes[t].size;
    return dtypes[t].is_signed ? (int64_t)((uint64_t)x << unused) >> unused
                               : (int64_t)((uint64_t)x << unused >> unused);
}

static int64_t operand(dtype t) {
    int bits = 8 * dtypes[t].size;
    const int64_t least = INT64_MIN >> (64 - bits), hard[] = {0, 1, -1, 2, 3, 7, 10, least, least + 1, -(least + 1)};
    int64_t any = (int64_t)(draw_bits() << 11 ^ draw_bits());
    return wrapped(t, chance(30) ? hard[pick(0, COUNT(hard) - 1)] : (int64_t)((uint64_t)any >> pick(64 - bits, 63)));
}

/* A numerator for a denominator: often a multiple, or the one before it. */
static int64_t numerator(dtype t, int64_t denominator) {
    int64_t any = operand(t);
    return wrapped(t, chance(50) ? any : (int64_t)((uint64_t)any * (uint64_t)denominator - (uint64_t)pick(0, 1)));
}

static void put(dtype t, char *array, int i, int64_t x) {
    memcpy(array + (size_t)i * (size_t)dtypes[t].size, &x, (size_t)dtypes[t].size);
}

static int64_t get(dtype t, const char *array, int i) {
    int64_t x = 0;
    memcpy(&x, array + (size_t)i * (size_t)dtypes[t].size, (size_t)dtypes[t].size);
    return wrapped(t, x);
}

/* ---- What C gives, of the common type of both ---- */

static dtype promoted(dtype t) { return dtypes[t].size < 4 ? DT_INT32 : t; }

static dtype common(dtype a, dtype b) {
    a = promoted(a);
    b = promoted(b);
    if (dtypes[a].size != dtypes[b].size)
        return dtypes[a].size > dtypes[b].size ? a : b;
    return dtypes[a].is_signed ? b : a;
}

static int64_t wanted(dtype t, char op, int64_t a, int64_t b) {
    a = wrapped(t, a);
    b = wrapped(t, b);
    if (b == 0)
        return 0;
    if (!dtypes[t].is_signed)
        return (int64_t)(op == '/' ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
    if (b == -1)
        return op == '/' ? wrapped(t, (int64_t)(0 - (uint64_t)a)) : 0;
    return op == '/' ? a / b : a % b;
}

/* ---- One kernel ---- */

typedef struct trial {
    dtype a, b, out;
    char op;
    uf_func *f;
    _Alignas(64) char x[8 * ELEMENTS], y[8 * ELEMENTS], z[8 * ELEMENTS];
} trial;

static void make(trial *t, const char *form) {
    char signature[64], source[256];
    snprintf(signature, sizeof signature, "%s,%s->%s", dtypes[t->a].name, dtypes[t->b].name, dtypes[t->out].name);
    snprintf(source, sizeof source, form, t->op);
    if (uf_vectorize(&t->f, "divide", signature, source))
        fail_msg("%s", uf_last_error()->message);
}

/* `count` denominators: ELEMENTS, or 1, which is a number. */
static void run(trial *t, int64_t count) {
    int64_t n = ELEMENTS;
    DLTensor args[] = {{.data = t->x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = dtypes[t->a].dl, .shape = &n},
                       {.data = t->y, .device = {kDLCPU, 0}, .ndim = count > 1, .dtype = dtypes[t->b].dl, .shape = &n},
                       {.data = t->z, .device = {kDLCPU, 0}, .ndim = 1, .dtype = dtypes[t->out].dl, .shape = &n}};
    for (int i = 0; i < ELEMENTS; i++) {
        if (i < count)
            put(t->b, t->y, i, operand(t->b));
        put(t->a, t->x, i, numerator(t->a, get(t->b, t->y, count > 1 ? i : 0)));
    }
    if (uf_call(t->f, 3, args, NULL))
        fail_msg("%s", uf_last_error()->message);
    for (int i = 0; i < ELEMENTS; i++) {
        int64_t a = get(t->a, t->x, i), b = get(t->b, t->y, count > 1 ? i : 0), got = get(t->out, t->z, i);
        if (got != wanted(t->out, t->op, a, b))
            fail_msg("%s %lld %c %s %lld is %lld, not %lld", dtypes[t->a].name, (long long)a, t->op, dtypes[t->b].name,
                     (long long)b, (long long)got, (long long)wanted(t->out, t->op, a, b));
    }
}

static void check(dtype a, dtype b, char op, const char *form) {
    trial t = {.a = a, .b = b, .out = common(a, b), .op = op};
    make(&t, form);
    run(&t, ELEMENTS);
    for (int k = 0; k < DENOMINATORS; k++)
        run(&t, 1);
    uf_free(t.f);
}

static void test_same(void **unused) {
    (void)unused;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++)
        for (int o = 0; o < 2; o++)
            check(t, t, operators[o], "(x, y) { return x %c y; }");
}

static void test_mixed(void **unused) {
    (void)unused;
    for (int64_t n = trials(24); n > 0; n--)
        check((dtype)pick(DT_INT8, DT_UINT64), (dtype)pick(DT_INT8, DT_UINT64), operators[pick(0, 1)],
              "(x, y) { return x %c y; }");
}

static void test_instruction(void **unused) {
    (void)unused;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++)
        check(t, t, operators[pick(0, 1)],
              "(x, y) { auto q = x + y; for (auto i = 0; i < 1; i++) q = x %c y; return q; }");
}

/* A test of the divisor, above which LLVM may move what the division takes of a divisor alone. */
static void test_tested(void **unused) {
    (void)unused;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++)
        for (int o = 0; o < 2; o++)
            check(t, t, operators[o], "(x, y) { return y == 0 ? 0 : x %c y; }");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_mixed),
                                       cmocka_unit_test(test_instruction), cmocka_unit_test(test_tested)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
