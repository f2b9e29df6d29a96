/* test_shared_tile.c - constructs that go by tiles through shared memory: which do, what the policy chooses, and, on a simulated GPU, the
 * results for any sizes and strides, against plain loops and against the same kernel without tiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/gpu.h"
#include "ir/ir.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "product_case.h"

static const code_target gpu = {.gpu = true, .arch = 90};
static const char product[] = "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }";
static const char layout[] = "(m,n),(n,p)->(m,p)", floats[] = "float32,float32->float32";

static tree *tree_of(arena *a, const char *source, const char *types) {
    tree *t = NULL;
    if (lang_try_core(a, layout, source, types, &t))
        fail_msg("%s: %s", source, uf_last_error()->message);
    return t;
}

/* ---- Which ---- */

static void test_which(void **unused) {
    static const struct {
        const char *source, *types;
        bool tiles;
    } cases[] = {
        {product, floats, true},
        {product, "int32,int32->int32", true},
        {product, "float64,float64->float64", false},
        {product, "float16,float16->float16", false},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, (A[i][k] - B[k][j]) * (A[i][k] - B[k][j])); }",
         floats, true},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j] * k); }", floats, true},
        /* no identity; an operand that is read once; another reduction; more than the reduction; an order of its own */
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = max(k : n, A[i][k] + B[k][j]); }", floats, false},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k]); }", floats, false},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : i, A[i][k] * B[k][j]); }", floats, false},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]) + 1; }", floats, false},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n - 1, A[i][k + 1] * B[k][j]); }", floats, false},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, k > 2 ? A[i][k] * B[k][j] : 0); }", floats, false},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_traits traits;
        ir_traits(tree_of(&a, cases[i].source, cases[i].types), &traits);
        if (traits.construct[0].tiles != cases[i].tiles)
            fail_msg("%s of %s: %d", cases[i].source, cases[i].types, traits.construct[0].tiles);
        arena_free(&a);
    }
}

/* ---- Runs ---- */

static void find_units(const product_case *q, variant *v) {
    for (int k = 0; k < 3; k++) {
        const char *dims = product_forms[q->form].dims[k];
        for (int d = 0; d < 2; d++)
            if (q->operand[k].core[product_letter(dims[d])] == 1)
                v->operand[k].unit = (uint8_t)(d + 1);
    }
}

/* Runs a kernel over a case, by tiles or not; the output's buffer, which the case gets back unwritten. */
static char *run(const product_case *q, tree *t, bool tile) {
    static uint64_t words[256];
    arena a = {0};
    code_module m = {.flags = 0};
    product_launch s;
    grid g;
    launch l = product_case_launch(q, &s);
    size_t size = product_case_bytes(q, 2);
    const occupancy r = {.block = 256, .sms = 2, .resident = 2, .cooperative = true};
    code_traits traits;
    ir_traits(t, &traits);
    gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .layout = t->layout, .core = s.words, .traits = &traits});
    s.v.gufunc.coop = COOP_SHARED_TILE;
    s.v.gufunc.along = 1;
    s.v.gufunc.tile = tile;
    s.v.gufunc.lanes = 0;
    s.v.gufunc.vector = s.v.gufunc.steps = 1;
    for (int k = 0; k < 3; k++)
        s.v.operand[k].staged = 0;
    find_units(q, &s.v);
    l.layout = t->layout;
    assert_int_equal(gpu_layout(&l, &r, words, &g), UF_OK);
    assert_int_equal(ir_gufunc(&a, "product", t, &s.v, &gpu, &m), UF_OK);
    assert_true(strstr(m.ir.data, "@tile_0") ? tile : !tile);
    const char *wrong = sim_run(&m, words, (int)g.parameters, (int)g.blocks, (int)g.threads);
    if (wrong)
        fail_msg("%s", wrong);
    char *result = malloc(size);
    assert_non_null(result);
    memcpy(result, q->operand[2].buffer, size);
    memset(q->operand[2].buffer, 0xff, size);
    text_free(&m.ir);
    arena_free(&a);
    return result;
}

static product_case draw_case(void) {
    int64_t m = chance(15) ? 64 : pick(1, 140), n = chance(15) ? 32 : pick(1, 50), p = chance(15) ? 128 : pick(1, 140);
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT32, m, n, p);
    q.ndim = (int)pick(0, 1);
    q.loop[0] = pick(1, 3);
    product_case_fill(&q, chance(70));
    return q;
}

static void test_products(void **unused) {
    (void)unused;
    arena a = {0};
    tree *t = tree_of(&a, product, floats);
    if (!sim_there())
        skip();
    for (int64_t k = trials(12); k; k--) {
        product_case q = draw_case();
        char *got = run(&q, t, true), *want = product_case_expected(&q);
        product_case_compare(&q, got, want);
        free(got);
        free(want);
        product_case_free(&q);
    }
    arena_free(&a);
}

/* Without tiles the sums have the same order. */
static void test_alike(void **unused) {
    static const char *const sources[] = {
        product,
        "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, (A[i][k] - B[k][j]) * (A[i][k] - B[k][j])); }",
        "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = prod(k : n, 1 + A[i][k] * B[k][j] * k); }",
        "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j] - B[k][j]); }",
    };
    (void)unused;
    if (!sim_there())
        skip();
    for (size_t i = 0; i < COUNT(sources); i++)
        for (int64_t k = trials(4); k; k--) {
            arena a = {0};
            tree *t = tree_of(&a, sources[i], floats);
            product_case q = draw_case();
            product_case_reals(&q);
            char *got = run(&q, t, true), *want = run(&q, t, false);
            product_case_compare(&q, got, want);
            free(got);
            free(want);
            product_case_free(&q);
            arena_free(&a);
        }
}

/* ---- The policy ---- */

static void test_policy(void **unused) {
    static const struct {
        int64_t m, n, p, calls;
        bool tile;
    } cases[] = {
        {64, 64, 64, 1000, true},     {128, 128, 128, 1000, true}, {63, 64, 64, 1000, false},
        {64, 64, 63, 1000, false},    {64, 31, 64, 1000, false},   {64, 32, 64, 1000, true},
        {100, 100, 100, 1000, false}, {110, 100, 128, 1000, true}, {2048, 2048, 2048, 1, false},
    };
    (void)unused;
    arena a = {0};
    code_traits traits;
    tree *t = tree_of(&a, product, floats);
    ir_traits(t, &traits);
    for (size_t i = 0; i < COUNT(cases); i++) {
        product_case q = product_case_of(BLAS_GEMM, DT_FLOAT32, cases[i].m, cases[i].n, cases[i].p);
        product_launch s;
        for (int k = 0; k < 3; k++) {
            const char *dims = product_forms[BLAS_GEMM].dims[k];
            q.operand[k].core[product_letter(dims[1])] = 1;
            q.operand[k].core[product_letter(dims[0])] = q.extent[product_letter(dims[1])];
        }
        product_case_launch(&q, &s);
        s.extent[0] = s.loop.count = cases[i].calls;
        gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .layout = t->layout, .core = s.words, .traits = &traits});
        if (s.v.gufunc.tile != cases[i].tile || (cases[i].tile && s.v.gufunc.coop != COOP_SHARED_TILE))
            fail_msg("%d: tile %d, coop %d", (int)i, s.v.gufunc.tile, s.v.gufunc.coop);
    }
    arena_free(&a);
}

/* libNVVM takes it, and reads shared memory by vectors. */
static void test_ptx(void **unused) {
    (void)unused;
    if (!nvvm_found())
        skip();
    arena a = {0};
    tree *t = tree_of(&a, product, floats);
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT32, 64, 64, 64);
    product_launch s;
    code_module m = {.flags = 0};
    const char *ptx = "";
    product_case_launch(&q, &s);
    s.v.ndim = 1;
    s.v.gufunc.coop = COOP_SHARED_TILE;
    s.v.gufunc.along = s.v.gufunc.tile = s.v.gufunc.vector = s.v.gufunc.steps = 1;
    assert_int_equal(ir_gufunc(&a, "product", t, &s.v, &gpu, &m), UF_OK);
    const char *wrong = nvvm_judge(&m, 90, false, &ptx);
    if (wrong)
        fail_msg("%s", wrong);
    if (getenv("SHOW_IR"))
        puts(ptx);
    assert_non_null(strstr(ptx, "ld.shared.v4.f32"));
    assert_non_null(strstr(ptx, "fma.rn.f32"));
    assert_null(strstr(ptx, "local"));
    text_free(&m.ir);
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which), cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_alike), cmocka_unit_test(test_policy),
                                       cmocka_unit_test(test_ptx)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
