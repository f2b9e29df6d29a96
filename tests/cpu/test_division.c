/* test_division.c - quotients and remainders of integers, of every dtype and of two different ones, by arrays, by numbers and by
 * constants, against C's, rounded towards 0 and rounded down: in elementwise loops, which divide by floating arithmetic and by
 * multipliers, and in a kernel with a loop, which uses the instruction. The operands are hard ones, and random ones of every length, each
 * with multiples and their neighbours. A division by zero gives 0, and what is too large wraps. */
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

typedef enum kind {
    QUOTIENT,
    REMAINDER,
    FLOOR_QUOTIENT,
    FLOOR_REMAINDER,
    KINDS
} kind;

static const char *const operators[KINDS] = {"x / y", "x % y", "floor_div(x, y)", "floor_mod(x, y)"};

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

static int64_t wanted(dtype t, kind op, int64_t a, int64_t b) {
    bool quotient = op == QUOTIENT || op == FLOOR_QUOTIENT;
    a = wrapped(t, a);
    b = wrapped(t, b);
    if (b == 0)
        return 0;
    if (!dtypes[t].is_signed)
        return (int64_t)(quotient ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
    if (b == -1)
        return quotient ? wrapped(t, (int64_t)(0 - (uint64_t)a)) : 0;
    bool apart = op >= FLOOR_QUOTIENT && a % b && (a < 0) != (b < 0);
    return quotient ? a / b - apart : a % b + (apart ? b : 0);
}

/* ---- One kernel ---- */

typedef struct trial {
    dtype a, b, out;
    kind op;
    uf_func *f;
    _Alignas(64) char x[8 * ELEMENTS], y[8 * ELEMENTS], z[8 * ELEMENTS];
} trial;

/* form: of a text, in which the division takes the place of %s. */
static void make(trial *t, const char *form) {
    char signature[64], source[256];
    snprintf(signature, sizeof signature, "%s,%s->%s", dtypes[t->a].name, dtypes[t->b].name, dtypes[t->out].name);
    snprintf(source, sizeof source, form, operators[t->op]);
    if (uf_vectorize(&t->f, "divide", signature, source))
        fail_msg("%s", uf_last_error()->message);
}

/* By the denominators in t->y: ELEMENTS, or 1, which is a number. */
static void compare(trial *t, int64_t count) {
    int64_t n = ELEMENTS;
    DLTensor args[] = {{.data = t->x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = dtypes[t->a].dl, .shape = &n},
                       {.data = t->y, .device = {kDLCPU, 0}, .ndim = count > 1, .dtype = dtypes[t->b].dl, .shape = &n},
                       {.data = t->z, .device = {kDLCPU, 0}, .ndim = 1, .dtype = dtypes[t->out].dl, .shape = &n}};
    for (int i = 0; i < ELEMENTS; i++)
        put(t->a, t->x, i, numerator(t->a, get(t->b, t->y, count > 1 ? i : 0)));
    if (uf_call(t->f, 3, args, NULL))
        fail_msg("%s", uf_last_error()->message);
    for (int i = 0; i < ELEMENTS; i++) {
        int64_t a = get(t->a, t->x, i), b = get(t->b, t->y, count > 1 ? i : 0), got = get(t->out, t->z, i);
        if (got != wanted(t->out, t->op, a, b))
            fail_msg("%s: of %s %lld and %s %lld it is %lld, not %lld", operators[t->op], dtypes[t->a].name,
                     (long long)a, dtypes[t->b].name, (long long)b, (long long)got,
                     (long long)wanted(t->out, t->op, a, b));
    }
}

static void run(trial *t, int64_t count) {
    for (int i = 0; i < count; i++)
        put(t->b, t->y, i, operand(t->b));
    compare(t, count);
}

static void check(dtype a, dtype b, kind op, const char *form) {
    trial t = {.a = a, .b = b, .out = common(a, b), .op = op};
    make(&t, form);
    run(&t, ELEMENTS);
    for (int k = 0; k < DENOMINATORS; k++)
        run(&t, 1);
    uf_free(t.f);
}

/* Of integers in a wider type, which their quotients fit. */
static void test_widened(void **unused) {
    (void)unused;
    for (dtype type = DT_INT8; type <= DT_INT64; type++)
        for (kind op = 0; op < KINDS; op++) {
            static const char *const forms[KINDS] = {
                [QUOTIENT] = "(x, y) { return (int64)x / (int64)y; }",
                [REMAINDER] = "(x, y) { return (int64)x %% (int64)y; }",
                [FLOOR_QUOTIENT] = "(x, y) { return floor_div((int64)x, (int64)y); }",
                [FLOOR_REMAINDER] = "(x, y) { return floor_mod((int64)x, (int64)y); }"};
            trial t = {.a = type, .b = type, .out = DT_INT64, .op = op};
            make(&t, forms[op]);
            for (int k = 0; k < DENOMINATORS; k++)
                run(&t, 1);
            uf_free(t.f);
        }
}

static void test_same(void **unused) {
    (void)unused;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++)
        for (kind op = 0; op < KINDS; op++)
            check(t, t, op, "(x, y) { return %s; }");
}

/* By every number that a byte and a short integer have. */
static void test_all(void **unused) {
    (void)unused;
    for (dtype type = DT_INT8; type <= DT_INT16; type++)
        for (kind op = FLOOR_QUOTIENT; op < KINDS; op++) {
            trial t = {.a = type, .b = type, .out = DT_INT32, .op = op};
            make(&t, "(x, y) { return %s; }");
            for (int d = type == DT_INT8 ? INT8_MIN : INT16_MIN, end = -d; d < end;
                 d += type == DT_INT8 ? 1 : pick(1, 127)) {
                put(type, t.y, 0, d);
                compare(&t, 1);
            }
            uf_free(t.f);
        }
}

/* By a number of the text; in a kernel with a loop, too, where there are no multipliers. */
static void test_constant(void **unused) {
    (void)unused;
    static const char *const loops[] = {"", "for (auto i = 0; i < 1; i++) x += 0; "};
    for (int64_t n = trials(64); n > 0; n--) {
        dtype type = (dtype)pick(DT_INT8, DT_UINT64);
        trial t = {.a = type, .b = type, .out = promoted(type), .op = (kind)pick(0, KINDS - 1)};
        char form[256];
        int64_t d = operand(type);
        snprintf(form, sizeof form, "(x, any) { const %s y = %lld%s%s; %sreturn %%s; }", dtypes[type].name,
                 (long long)(d == INT64_MIN ? d + 1 : d), d == INT64_MIN ? " - 1" : "", type == DT_UINT64 ? "ul" : "",
                 loops[pick(0, 1)]);
        put(type, t.y, 0, d);
        make(&t, form);
        compare(&t, 1);
        uf_free(t.f);
    }
}

static void test_mixed(void **unused) {
    (void)unused;
    for (int64_t n = trials(24); n > 0; n--)
        check((dtype)pick(DT_INT8, DT_UINT64), (dtype)pick(DT_INT8, DT_UINT64), (kind)pick(0, KINDS - 1),
              "(x, y) { return %s; }");
}

static void test_instruction(void **unused) {
    (void)unused;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++)
        check(t, t, (kind)pick(0, KINDS - 1),
              "(x, y) { auto q = x + y; for (auto i = 0; i < 1; i++) q = %s; return q; }");
}

/* A test of the divisor, above which LLVM may move what the division takes of a divisor alone. */
static void test_tested(void **unused) {
    (void)unused;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++)
        for (kind op = 0; op < KINDS; op++)
            check(t, t, op, "(x, y) { return y == 0 ? 0 : %s; }");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same),  cmocka_unit_test(test_widened),
                                       cmocka_unit_test(test_all),   cmocka_unit_test(test_constant),
                                       cmocka_unit_test(test_mixed), cmocka_unit_test(test_instruction),
                                       cmocka_unit_test(test_tested)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
