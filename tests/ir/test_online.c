/* test_online.c - which pairs of reductions a cooperative group computes in one pass (ir/construct/online.h): those exchange what they have once,
 * others twice. What is computed is compared by test_pieces and test_gu_ir, which draw such kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "gu_kernel.h"
#include "ir_check.h"

static int count(const char *in, const char *what) {
    int n = 0;
    for (in = strstr(in, what); in; in = strstr(in + 1, what))
        n++;
    return n;
}

/* Barriers of a block in the code of a kernel of one input and one output. held: its elements are in registers. */
static int barriers_of(const char *source, int held) {
    arena a = {0};
    gu_kernel k = {"online", "(n)->(n)", source, "float32->float32"};
    const tree *t = gu_tree(&a, &k);
    variant v = gu_variant(t, 7, 0, 4, 1);
    v.gufunc.held = (uint8_t)held;
    v.operand[0].held = held > 0;
    code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
    int n = count(m.ir.data, "call void @llvm.nvvm.barrier0()");
    text_free(&m.ir);
    arena_free(&a);
    return n;
}

#define EACH "forall (i : n) y[i] = exp(x[i] - top) * s; }"
#define TWO "(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, x[i]); " EACH

static void test_pairs(void **state) {
    static const struct {
        const char *source;
        bool together;
    } cases[] = {
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = 1 / sum(j : n, exp(x[j] - top)); " EACH, true},
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = log(3 + sum(i : n, exp2(x[i] - top))); " EACH, true},
        {"(x) -> (y) { auto k = x[0] > 0 ? 2.f : 3.f; auto top = max(i : n, x[i] * k); auto s = sum(i : n, exp(x[i] * "
         "k - top)); " EACH,
         true},
        {"(x) -> (y) { { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - top)); " EACH " }", true},
#define SCALE "auto s = 1 / sqrt(v); forall (i : n) y[i] = (x[i] - m) * s; }"
        {"(x) -> (y) { auto m = sum(i : n, x[i]) / n; auto v = sum(i : n, (x[i] - m) * (x[i] - m)) / n; " SCALE, true},
        {"sq(x) { return x * x; } (x) -> (y) { auto m = sum(i : n, x[i]) / n; auto v = sum(i : n, sq(x[i] - "
         "m)); " SCALE,
         true},
        {"(x) -> (y) { auto m = sum(i : n, log(x[i])) / n; auto v = sum(j : n, (log(x[j]) - m) * (log(x[j]) - "
         "m)); " SCALE,
         true},
        {"(x) -> (y) { auto m = sum(i : n, x[i]) / (n + 1); auto v = sum(i : n, (x[i] - m) * (x[i] - m)) / n; " SCALE,
         false},
        {"(x) -> (y) { auto m = sum(i : n, x[i]); auto v = sum(i : n, (x[i] - m) * (x[i] - m)) / n; " SCALE, false},
        {"(x) -> (y) { auto m = sum(i : n, x[i]) / n; auto v = sum(i : n, (x[i] - m) * (x[i] + m)) / n; " SCALE, false},
        {"cube(x) { return x * x * x; } (x) -> (y) { auto m = sum(i : n, x[i]) / n; auto v = sum(i : n, cube(x[i] - "
         "m)); " SCALE,
         false},
        {"(x) -> (y) { auto m = prod(i : n, x[i]) / n; auto v = sum(i : n, (x[i] - m) * (x[i] - m)) / n; " SCALE,
         false},
        /* The first is none, or the variable is not always that; */
        {"(x) -> (y) { auto top = min(i : n, x[i]); auto s = sum(i : n, exp(x[i] - top)); " EACH, false},
        {"(x) -> (y) { auto top = max(i : n, x[i]) + 1; auto s = sum(i : n, exp(x[i] - top)); " EACH, false},
        {"(x) -> (y) { auto top = max(i : n, x[i]); if (top < 0) top = 0; auto s = sum(i : n, exp(x[i] - top)); " EACH,
         false},
        /* the terms differ; */
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] * 2 - top)); " EACH, false},
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[n - 1 - i] - top)); " EACH, false},
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, expm1(x[i] - top)); " EACH, false},
        {"(x) -> (y) { auto k = 2.f; auto top = max(i : n, x[i] * k); k = 3; auto s = sum(i : n, exp(x[i] * k - "
         "top)); " EACH,
         false},
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n / 2, exp(x[i] - top)); " EACH, false},
        /* the second is computed sometimes. */
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = top > 0 ? sum(i : n, exp(x[i] - top)) : 1; " EACH, false},
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto s = 1.f; if (top > 0) s = sum(i : n, exp(x[i] - top)); " EACH,
         false},
    };
    int two = barriers_of(TWO, 0);
    (void)state;
    assert_true(two > 0 && two % 2 == 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        if (barriers_of(cases[i].source, 0) != (cases[i].together ? two / 2 : two))
            fail_msg("%s: %d barriers, %d of two reductions", cases[i].source, barriers_of(cases[i].source, 0), two);
}

/* In registers the elements are passed over at no cost, and their exponentials computed once. */
static void test_held(void **state) {
    (void)state;
    assert_int_equal(
        barriers_of("(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - top)); " EACH, 4),
        barriers_of(TWO, 4));
}

/* The code of a kernel over columns, of which 2^across lie side by side, and 2^coop threads in clusters of 8 blocks have one. */
static void check_columns(const gu_kernel *k, int across, int coop, int held) {
    arena a = {0};
    const tree *t = gu_tree(&a, k);
    variant v = gu_variant(t, coop, 0, 1, 1);
    const char *wrong = NULL;
    v.gufunc.across = (uint8_t)across;
    v.gufunc.cluster = 3;
    v.gufunc.held = (uint8_t)held;
    v.gufunc.calls = held > 0;
    for (int i = 0; i < v.nin + v.nout; i++)
        v.operand[i].unit = 0;
    v.operand[0].held = held > 0;
    code_module m = gu_generate(&a, k, t, &v, &gu_gpu);
    assert_in_range(shared_bytes(m.ir.data), 1, SHARED_FREE);
    if (nvvm_found())
        wrong = nvvm_judge(&m, 90, true, NULL);
    if (wrong)
        fail_msg("%s", wrong);
    text_free(&m.ir);
    arena_free(&a);
}

/* Columns of float64 with partials of one, two and three numbers; and pairs of columns whose partials have two numbers each and whether they are
 * there: entries for all that threads tell each other at once would not fit a block. */
static void test_shared_memory(void **state) {
    static const gu_kernel numbers = {
        "columns", "(n)->(n)",
        "(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - top)); auto m = sum(i : n, "
        "x[i]) / n; auto v = sum(i : n, (x[i] - m) * (x[i] - m)); auto least = min(i : n, x[i]); forall (i "
        ": n) y[i] = (x[i] - m) / v + exp(x[i] - top) / s - least; }",
        "float64->float64"};
    static const gu_kernel pairs = {
        "pairs", "(n)->(n)",
        "both(complex128 a, complex128 b) { return a * b + a + b; } (x) -> (y) { auto z = reduce(both, i : n, "
        "(complex128)x[i]); auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] * real(z) + s; }",
        "int8->int8"};
    (void)state;
    check_columns(&numbers, 5, 8, 0);
    check_columns(&pairs, 4, 9, 10);
    check_columns(&pairs, 3, 10, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
