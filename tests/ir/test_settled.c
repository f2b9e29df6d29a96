/* Which code for the GPU needs none of libNVVM's passes: by form, and by what combines states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "ir/common/settled.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* A module of which so much has been written. */
typedef struct written {
    int loops, combine; /* lines of the function that combines states; 0: there is none */
    int kernel_loops;   /* of the kernel, of that function, and of the one that makes states of elements */
    bool halves;
    unsigned fast;
} written;

static bool settles(const variant *v, const written *w) {
    code_module module = {.fast = w->fast};
    emit e = {.module = &module, .half_results = w->halves, .written = {.loops = w->loops}};
    ir_size combine = {.lines = w->combine, .loops = w->kernel_loops}, kernel = {.loops = w->kernel_loops};
    assert_true(map_put(&e.sizes, "kernel", strlen("kernel"), &kernel));
    assert_true(map_put(&e.sizes, "map", strlen("map"), &kernel));
    if (w->combine)
        assert_true(map_put(&e.sizes, "combine", strlen("combine"), &combine));
    bool settled = code_is_settled(&e, v);
    map_free(&e.sizes);
    return settled;
}

static variant of_type(loop_class loop, dtype type) {
    variant v = {.loop = (uint8_t)loop, .nin = 1, .nout = 1};
    for (int k = 0; k < 2; k++)
        v.operand[k] = (variant_operand){
            .memory = (uint8_t)type, .value = (uint8_t)type, .kind = OPERAND_CONTIGUOUS, .held = k == 0};
    return v;
}

/* ---- Calls ---- */

static void test_columns(void **state) {
    static const struct {
        dtype type;
        uint8_t calls, held, coop, cluster, across;
        bool weights, settles;
        uint8_t even;
    } cases[] = {{DT_FLOAT32, 0, 32, 3, 0, 5, false, true, EVEN_ROUNDS},
                 {DT_FLOAT64, 0, 16, 5, 1, 5, false, true, EVEN_ROUNDS},
                 {DT_FLOAT32, 0, 32, 3, 0, 5, true, false, EVEN_ROUNDS},
                 {DT_FLOAT32, 0, 32, 9, 3, 4, false, false, EVEN_ROUNDS},
                 {DT_FLOAT32, 0, 32, 5, 0, 5, false, false, EVEN_VECTORS},
                 {DT_FLOAT32, 0, 32, 5, 1, 5, true, true, EVEN_NOT},
                 {DT_FLOAT32, 0, 32, 4, 0, 5, false, true, EVEN_NOT},
                 {DT_FLOAT32, 0, 16, 4, 0, 5, true, true, EVEN_NOT},
                 {DT_FLOAT32, 0, 9, 4, 0, 5, true, true, EVEN_NOT},
                 {DT_FLOAT32, 0, 8, 4, 0, 5, true, false, EVEN_NOT},
                 {DT_FLOAT32, 0, 16, 5, 0, 5, true, false, EVEN_NOT},
                 {DT_FLOAT64, 0, 16, 4, 0, 5, false, false, EVEN_NOT},
                 {DT_FLOAT32, 0, 32, 9, 3, 4, false, false, EVEN_NOT},
                 {DT_FLOAT64, 0, 16, 5, 1, 5, false, false, EVEN_NOT},
                 {DT_FLOAT32, 0, 0, 5, 1, 5, false, false, EVEN_NOT},
                 {DT_BFLOAT16, 1, 16, 4, 0, 5, false, true, EVEN_NOT},
                 {DT_BFLOAT16, 1, 16, 4, 0, 5, true, false, EVEN_NOT},
                 {DT_BFLOAT16, 1, 32, 5, 2, 5, true, true, EVEN_NOT},
                 {DT_BFLOAT16, 1, 32, 10, 3, 3, true, false, EVEN_NOT}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        variant v = of_type(LOOP_GUFUNC, cases[i].type);
        v.gufunc.calls = cases[i].calls;
        v.gufunc.held = cases[i].held;
        v.gufunc.coop = cases[i].coop;
        v.gufunc.cluster = cases[i].cluster;
        v.gufunc.across = cases[i].across;
        v.gufunc.even = cases[i].even;
        if (cases[i].weights) {
            v.operand[2] = v.operand[1];
            v.operand[v.nin++].held = 0;
        }
        if (settles(&v, &(written){.halves = cases[i].type == DT_BFLOAT16}) != cases[i].settles)
            fail_msg("columns, case %zu", i);
    }
}

static void test_rows(void **state) {
    (void)state;
    variant v = of_type(LOOP_GUFUNC, DT_FLOAT32);
    v.gufunc.coop = 8;
    v.gufunc.held = 4;
    assert_true(settles(&v, &(written){.loops = 1}));
    assert_false(settles(&v, &(written){.loops = 2}));
    assert_false(settles(&v, &(written){.loops = 1, .fast = UF_FAST_CONTRACT}));
    v.gufunc.held = 0;
    v.operand[0].held = 0;
    assert_false(settles(&v, &(written){0}));
    /* in shared memory: all that is read, or a cluster's */
    v.gufunc.pieces = v.operand[0].staged = 1;
    assert_true(settles(&v, &(written){.loops = 9}));
    assert_false(settles(&v, &(written){.loops = 9, .halves = true}));
    v.gufunc.vector =
        8; /* halves, if they are whole vectors, but not of blocks that hold parts of them and read weights beside */
    v.gufunc.even = EVEN_VECTORS;
    assert_true(settles(&v, &(written){.loops = 9, .halves = true}));
    v.gufunc.coop = COOP_GRID;
    assert_true(settles(&v, &(written){.loops = 9}));
    v.gufunc.held = v.operand[0].held = 1;
    assert_true(settles(&v, &(written){.loops = 9, .halves = true}));
    v.operand[2] = v.operand[1];
    v.nin = 2;
    assert_false(settles(&v, &(written){.loops = 9, .halves = true}));
    assert_true(settles(&v, &(written){.loops = 9}));
    v.gufunc.even = EVEN_NOT;
    assert_false(settles(&v, &(written){.loops = 9}));
    v.gufunc.held = v.operand[0].held = 0;
    v.gufunc.coop = 8;
    v.nin = 1;
    v.operand[2] = v.operand[1];
    v.nin = 2;
    v.gufunc.vector = 4;
    assert_true(settles(&v, &(written){.loops = 9}));
    v.operand[1].shifted = 1;
    assert_false(settles(&v, &(written){.loops = 9}));
    v.operand[1].shifted = 0;
    v.gufunc.vector = 1;
    assert_false(settles(&v, &(written){.loops = 9}));
    v.gufunc.cluster = 2;
    assert_true(settles(&v, &(written){.loops = 9}));
    v.operand[1].memory = DT_FLOAT64;
    assert_false(settles(&v, &(written){.loops = 9}));
}

static void test_unrolled(void **state) {
    (void)state;
    variant v = of_type(LOOP_GUFUNC, DT_FLOAT32);
    v.gufunc.unrolled = 1;
    assert_false(settles(&v, &(written){0}));
    v.operand[0].staged = 1;
    assert_true(settles(&v, &(written){.loops = 3}));
    /* where they are, one row of words */
    v.operand[0].staged = 0;
    v.gufunc.size[0] = 16;
    assert_true(settles(&v, &(written){.loops = 3}));
    v.gufunc.size[1] = 16;
    assert_false(settles(&v, &(written){.loops = 3}));
    v.gufunc.size[1] = 0;
    v.operand[0].memory = DT_FLOAT64;
    assert_false(settles(&v, &(written){.loops = 3}));
    v.operand[0].memory = DT_FLOAT32;
    v.operand[2] = v.operand[1];
    v.nin = 2;
    assert_false(settles(&v, &(written){.loops = 3}));
}

static void test_tiles(void **state) {
    static const struct {
        dtype type;
        uint8_t nout, halo;
        bool settles;
    } cases[] = {{DT_FLOAT32, 1, 0, false}, {DT_FLOAT32, 2, 8, true},  {DT_INT8, 1, 0, true},   {DT_INT8, 2, 0, false},
                 {DT_INT8, 2, 16, false},   {DT_BFLOAT16, 2, 0, true}, {DT_FLOAT64, 1, 0, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        variant v = of_type(LOOP_TILE, cases[i].type);
        v.operand[2] = v.operand[1];
        v.nout = cases[i].nout;
        v.tile.halo = cases[i].halo;
        if (settles(&v, &(written){.loops = 2}) != cases[i].settles)
            fail_msg("tiles, case %zu", i);
    }
}

/* ---- Reductions, scans, and what has no loop ---- */

static void test_folds(void **state) {
    enum {
        SUM = 11,
        VARIANCE = 102
    };
    (void)state;
    variant v = of_type(LOOP_FOLD, DT_FLOAT32);
    v.fold.results = 1;
    assert_true(settles(&v, &(written){.combine = SUM}));
    assert_false(settles(&v, &(written){.combine = VARIANCE}));
    assert_true(settles(&v, &(written){.combine = SUM, .loops = 4}));
    assert_false(settles(&v, &(written){.combine = SUM, .kernel_loops = 1}));
    v.operand[1].memory = DT_BOOL;
    assert_true(settles(&v, &(written){.combine = SUM}));
    assert_false(settles(&v, &(written){.combine = SUM, .loops = 4}));
    v.fold.results = 4;
    assert_false(settles(&v, &(written){.combine = SUM}));
    v.reduction.columns = 1;
    assert_true(settles(&v, &(written){.combine = SUM, .loops = 4}));
    v.operand[0].memory = DT_INT8;
    assert_false(settles(&v, &(written){.combine = SUM, .loops = 4}));
    /* halves as words, but columns by less than whole accesses, and loops over rows that leave halves */
    v.operand[0].memory = v.operand[1].memory = DT_BFLOAT16;
    v.fold.vector = 2;
    assert_false(settles(&v, &(written){.combine = SUM, .loops = 4}));
    v.fold.vector = 8;
    assert_true(settles(&v, &(written){.combine = SUM, .loops = 4}));
    assert_true(settles(&v, &(written){.combine = 37, .loops = 4}));
    v.reduction.columns = v.fold.results = 0;
    assert_true(settles(&v, &(written){.combine = SUM}));
    assert_false(settles(&v, &(written){.combine = SUM, .loops = 4}));
    v.operand[1].memory = DT_FLOAT32;
    assert_true(settles(&v, &(written){.combine = SUM, .loops = 4}));
    v.reduction.from_states = 1;
    assert_true(settles(&v, &(written){.combine = VARIANCE, .loops = 4}));
}

/* Positions of bytes are settled whatever combines them; of others, and where elements are made by loops, they are not. */
static void test_positions(void **state) {
    (void)state;
    variant v = of_type(LOOP_FOLD, DT_INT8);
    v.position = 1;
    v.fold.results = 4;
    assert_true(settles(&v, &(written){.combine = 100, .loops = 4}));
    v.position = 0;
    assert_false(settles(&v, &(written){.combine = 100, .loops = 4}));
    v.position = 1;
    assert_false(settles(&v, &(written){.combine = 100, .kernel_loops = 1}));
    v.operand[0].memory = v.operand[0].value = DT_INT16;
    assert_false(settles(&v, &(written){.combine = 100, .loops = 4}));
}

static void test_others(void **state) {
    (void)state;
    variant v = of_type(LOOP_SCAN, DT_INT8);
    assert_true(settles(&v, &(written){.combine = 11, .loops = 3}));
    assert_false(settles(&v, &(written){.combine = 100, .loops = 3}));
    assert_true(settles(&v, &(written){.combine = 100}));
    assert_false(settles(&v, &(written){.combine = 37, .loops = 3}));
    v = of_type(LOOP_SCAN, DT_BFLOAT16);
    assert_true(settles(&v, &(written){.combine = 37, .loops = 3}));
    assert_false(settles(&v, &(written){.combine = 41, .loops = 3}));
    v.reduction.columns = 1;
    assert_false(settles(&v, &(written){.combine = 37, .loops = 3}));
    v = of_type(LOOP_FLAT, DT_FLOAT32);
    assert_true(settles(&v, &(written){0}));
    assert_false(settles(&v, &(written){.loops = 1}));
    v = of_type(LOOP_ROWS, DT_FLOAT64);
    assert_true(settles(&v, &(written){.loops = 3}));
    v = of_type(LOOP_GENERAL, DT_INT8);
    assert_true(settles(&v, &(written){.loops = 1}));
    assert_false(settles(&v, &(written){.loops = 1, .kernel_loops = 1}));
    v = of_type(LOOP_FORALL, DT_FLOAT32);
    assert_false(settles(&v, &(written){0}));
}

/* ---- Products ---- */

/* `count` products one of the other, in as many functions, of operands in a type. */
static bool multiplies(int functions, int count, const char *type, const char *sum) {
    text t = {0};
    for (int f = 0; f < functions; f++) {
        text_printf(&t, "define internal { %s } @f%d(%s %%r0) nounwind alwaysinline {\n", type, f, type);
        for (int k = 0; k < count; k++)
            text_printf(&t, "  %%r%d = mul %s %%r%d, %d\n  %%r%d = %s\n", 2 * k + 1, type, 2 * k, k + 2, 2 * k + 2,
                        sum);
        text_puts(&t, "  ret void\n}\n");
    }
    bool often = code_multiplies_often(&t);
    text_free(&t);
    return often;
}

static void test_products(void **state) {
    text t = {0};
    (void)state;
    assert_false(multiplies(16, 1, "i64", "add i64 %r1, 1"));
    assert_true(multiplies(17, 1, "i64", "add i64 %r1, 1"));
    assert_true(multiplies(17, 3, "i64", "add i64 %r1, 1")); /* of which the second is of no product */
    assert_false(multiplies(99, 1, "i32", "add i32 %r1, 1"));
    for (int k = 0; k < 17; k++)
        text_printf(&t, "  %%r%d = mul i64 %%r%d, -3\n  %%r%d = sub i64 %%r%d, 7\n", 2 * k + 1, 2 * k, 2 * k + 2,
                    2 * k + 1);
    assert_true(code_multiplies_often(&t));
    text_free(&t);
    for (int k = 0; k < 99; k++) /* side by side, as addresses are */
        text_printf(&t, "  %%r%d = mul i64 %%s1, %d\n", k, k);
    assert_false(code_multiplies_often(&t));
    text_free(&t);
    for (int k = 0; k < 99; k++) /* by values */
        text_printf(&t, "  %%r%d = mul i64 %%r%d, %%x\n", k + 1, k);
    assert_false(code_multiplies_often(&t));
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns),  cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_unrolled), cmocka_unit_test(test_tiles),
                                       cmocka_unit_test(test_folds),    cmocka_unit_test(test_positions),
                                       cmocka_unit_test(test_others),   cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
