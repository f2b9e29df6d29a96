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
#include "type/tile.h"

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
        int words;
    } cases[] = {
        {product, floats, 1},
        {product, "int32,int32->int32", 1},
        {product, "int8,int8->int8", 1},
        {product, "uint16,uint16->int64", 2},
        {product, "float64,float64->float64", 2},
        {product, "float16,float16->float16", 1},
        {product, "complex64,complex64->complex64", 2},
        {product, "complex128,complex128->complex128", 4},
        {product, "bool,bool->bool", 2},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, (A[i][k] - B[k][j]) * (A[i][k] - B[k][j])); }",
         floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j] * k); }", floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = max(k : n, A[i][k] + B[k][j]); }", floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = exp(-sum(k : n, A[i][k] * B[k][j]) / 2); }", floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, k > 2 ? A[i][k] * B[k][j] : 0); }", floats, 1},
        /* no identity; an operand that is read once; another reduction; two; an order of its own; a helper that is long; more than
         * the forall */
        {"f(a, b) { return a + b; } (A, B) -> (C) { forall (i : m, j : p) C[i][j] = reduce(f, k : n, A[i][k] * "
         "B[k][j]); }",
         floats, 0},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k]); }", floats, 0},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : i, A[i][k] * B[k][j]); }", floats, 0},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]) + sum(k : n, B[k][j]); }",
         floats, 0},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n - 1, A[i][k + 1] * B[k][j]); }", floats, 0},
        {"f(a) { for (int i = 0; i < 9; i++) a = a * a + 1; return a; }"
         "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, f(A[i][k] * B[k][j])); }",
         floats, 0},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); C[0][0] = 1; }", floats, 0},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_traits traits;
        ir_traits(tree_of(&a, cases[i].source, cases[i].types), &traits);
        if (traits.construct[0].tiles != cases[i].words)
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

/* Elements of an access along the units: a power of two that divides all extents along these and all other strides. */
static int draw_vector(const product_case *q) {
    int vector = 1 << pick(0, 2);
    for (int k = 0; k < 3; k++) {
        const char *dims = product_forms[q->form].dims[k];
        int unit = -1;
        for (int d = 0; d < 2; d++)
            if (q->operand[k].core[product_letter(dims[d])] == 1)
                unit = d;
        for (int d = 0; d < 2 && unit >= 0; d++) {
            int letter = product_letter(dims[d]);
            int64_t all = d == unit ? q->extent[letter] : q->operand[k].core[letter];
            while (vector > 1 && (all & (vector - 1)))
                vector /= 2;
        }
        for (int d = 0; d < q->ndim && unit >= 0; d++)
            while (vector > 1 && (q->operand[k].loop[d] & (vector - 1)))
                vector /= 2;
    }
    while (vector * dtypes[q->type].size > ACCESS_BYTES)
        vector /= 2;
    return vector;
}

/* Fewer blocks than there are tiles and calls do all the same. */
static void draw_blocks(const product_launch *s, const core_layout *sizes, uint64_t *words, grid *g) {
    uint64_t *blocks = words + schema_place(&s->v, sizes, true, GPU_GUFUNC_BLOCKS);
    int64_t groups = g->blocks / g->call_blocks;
    if (chance(50))
        *blocks = (uint64_t)pick(1, (int64_t)*blocks);
    g->blocks = (uint32_t)(*blocks * (uint64_t)pick(1, groups));
}

/* Runs a kernel over a case, by tiles of a shape or not (0), with their reductions in 2^split parts; the output's buffer, which the case gets back unwritten. */
static char *run(const product_case *q, tree *t, int shape, int split) {
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
    s.v.gufunc.coop = 6;
    s.v.gufunc.along = 1;
    s.v.gufunc.lanes = 0;
    s.v.gufunc.vector = s.v.gufunc.steps = 1;
    s.v.gufunc.tile = (uint8_t)shape;
    s.v.gufunc.split = (uint8_t)split;
    if (shape) {
        s.v.gufunc.vector = (uint8_t)draw_vector(q);
        s.v.gufunc.coop = (uint8_t)(tile_shapes[shape - 1].down + tile_shapes[shape - 1].across);
    }
    for (int k = 0; k < 3; k++)
        s.v.operand[k].staged = s.v.operand[k].unit = 0;
    find_units(q, &s.v);
    l.layout = t->layout;
    assert_int_equal(gpu_layout(&l, &r, words, &g), UF_OK);
    char *slots = split ? malloc(g.slots_bytes) : NULL;
    if (slots) {
        memset(slots, 0xff, g.slots_bytes);
        memset(slots, 0, g.slots_zeroed);
        *g.slots = (uintptr_t)slots + g.slots_at;
    } else if (shape)
        draw_blocks(&s, t->layout, words, &g);
    assert_int_equal(ir_gufunc(&a, "product", t, &s.v, &gpu, &m), UF_OK);
    assert_true(!strstr(m.ir.data, "@slices_0") == !shape);
    const char *wrong = sim_run(&m, words, (int)g.parameters, (int)g.blocks, (int)g.threads);
    if (wrong)
        fail_msg("%s", wrong);
    char *result = malloc(size);
    assert_non_null(result);
    free(slots);
    memcpy(result, q->operand[2].buffer, size);
    memset(q->operand[2].buffer, 0xff, size);
    text_free(&m.ir);
    arena_free(&a);
    return result;
}

static int draw_shape(int words) {
    int i;
    do
        i = (int)pick(0, TILE_SHAPES - 1);
    while (tile_shapes[i].rows * tile_shapes[i].columns * words > TILE_WORDS);
    return i + 1;
}

/* Sizes around those of the tile and of its slices, and any others. */
static int64_t draw_extent(int64_t around) {
    int64_t n = chance(50) ? around * pick(1, 2) + pick(-1, 1) : pick(1, 140);
    return n < 1 ? 1 : chance(40) ? (n + 3) & ~(int64_t)3 : n;
}

static product_case draw_case(dtype type, int shape) {
    const tile_shape *t = &tile_shapes[shape - 1];
    int64_t m = draw_extent(tile_rows(t)), n = draw_extent(chance(50) ? t->depth : 3 * t->depth),
            p = draw_extent(tile_columns(t));
    product_case q = product_case_of(BLAS_GEMM, type, m, n, p);
    q.ndim = (int)pick(0, 1);
    q.loop[0] = pick(1, 3);
    product_case_fill(&q, chance(50));
    return q;
}

static void test_products(void **unused) {
    static const struct {
        dtype type;
        const char *types;
        int words;
    } kinds[] = {{DT_FLOAT32, floats, 1},
                 {DT_FLOAT64, "float64,float64->float64", 2},
                 {DT_FLOAT16, "float16,float16->float16", 1},
                 {DT_BFLOAT16, "bfloat16,bfloat16->bfloat16", 1},
                 {DT_COMPLEX64, "complex64,complex64->complex64", 2},
                 {DT_COMPLEX128, "complex128,complex128->complex128", 4}};
    (void)unused;
    if (!sim_there())
        skip();
    for (int64_t k = trials(24); k; k--) {
        arena a = {0};
        int split = chance(60) ? 0 : chance(75) ? (int)pick(1, 4) : (int)pick(5, 6);
        size_t kind = chance(40) ? 0 : (size_t)pick(0, COUNT(kinds) - 1);
        int shape = draw_shape(kinds[kind].words);
        product_case q = draw_case(kinds[kind].type, shape);
        char *got = run(&q, tree_of(&a, product, kinds[kind].types), shape, split), *want = product_case_expected(&q);
        product_case_compare(&q, got, want);
        free(got);
        free(want);
        product_case_free(&q);
        arena_free(&a);
    }
}

/* Without tiles the sums have the same order. */
static void test_alike(void **unused) {
    static const struct {
        const char *source, *types;
        int words;
    } cases[] = {
        {product, floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, (A[i][k] - B[k][j]) * (A[i][k] - B[k][j])); }",
         floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = prod(k : n, 1 + A[i][k] * B[k][j] * k); }", floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j] - B[k][j]) / (i + j + 1); }",
         floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = max(k : n, A[i][k] + B[k][j]); }", floats, 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, (double)A[i][k] * B[k][j]); }", floats, 2},
        /* the bits of floats as integers */
        {product, "int32,int32->int32", 1},
        {"(A, B) -> (C) { forall (i : m, j : p) C[i][j] = min(k : n, A[i][k] + B[k][j]); }", "int32,int32->int32", 1},
    };
    (void)unused;
    if (!sim_there())
        skip();
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int64_t k = trials(3); k; k--) {
            arena a = {0};
            tree *t = tree_of(&a, cases[i].source, cases[i].types);
            int shape = draw_shape(cases[i].words);
            product_case q = draw_case(DT_FLOAT32, shape);
            product_case_reals(&q);
            char *got = run(&q, t, shape, 0), *want = run(&q, t, 0, 0);
            assert_memory_equal(got, want, product_case_bytes(&q, 2));
            free(got);
            free(want);
            product_case_free(&q);
            arena_free(&a);
        }
}

/* ---- The policy ---- */

/* The tile that a call gets, as rows and columns; 0, 0: none. */
static void test_policy(void **unused) {
    static const struct {
        int64_t m, n, p, calls;
        int rows, columns;
    } cases[] = {
        {64, 64, 64, 8192, 64, 64},    {128, 128, 128, 2048, 64, 64},   {32, 32, 32, 32768, 32, 32},
        {512, 512, 512, 16, 128, 128}, {2048, 2048, 2048, 1, 128, 128}, {256, 256, 256, 1, 4, 128},
        {64, 31, 64, 8192, 0, 0},      {16, 4096, 4096, 1, 16, 128},    {4096, 4096, 8, 1, 128, 4},
        {8, 8, 8, 100000, 0, 0},       {48, 48, 48, 1, 4, 128},         {48, 48, 48, 132, 32, 32},
        {48, 48, 48, 133, 0, 0},       {16, 16, 16, 1, 4, 128},         {15, 16, 16, 1, 0, 0},
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
        gpu_specialise(
            &s.v,
            &(loop_problem){
                .loop = &s.loop, .layout = t->layout, .core = s.words, .traits = &traits, .unrolled = 1, .sms = 132});
        const tile_shape *shape = &tile_shapes[s.v.gufunc.tile - !!s.v.gufunc.tile];
        int rows = s.v.gufunc.tile ? tile_rows(shape) : 0, columns = s.v.gufunc.tile ? tile_columns(shape) : 0;
        if (rows != cases[i].rows || columns != cases[i].columns)
            fail_msg("%d: %d x %d", (int)i, rows, columns);
        assert_true(!rows || (s.v.gufunc.coop == shape->down + shape->across && s.v.gufunc.vector == 4));
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
    s.v.gufunc.coop = 8;
    s.v.gufunc.along = s.v.gufunc.tile = s.v.gufunc.steps = 1;
    s.v.gufunc.vector = 4;
    s.v.operand[0].unit = s.v.operand[1].unit = s.v.operand[2].unit = 2;
    assert_int_equal(ir_gufunc(&a, "product", t, &s.v, &gpu, &m), UF_OK);
    const char *wrong = nvvm_judge(&m, 90, false, &ptx);
    if (wrong)
        fail_msg("%s", wrong);
    if (getenv("SHOW_IR"))
        puts(ptx);
    assert_non_null(strstr(ptx, "ld.shared.v4.f32"));
    assert_non_null(strstr(ptx, "st.global.v4.f32"));
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
