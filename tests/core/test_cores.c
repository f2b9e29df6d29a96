/* test_cores.c - reductions over core dimensions: what a call gives exactly, with each option, in plans and in place, and what it
 * refuses. tests/oracle/core_reductions.py compares random calls with NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "expect.h"

#define LAYOUT "(n,n),(n,n)->(n,n)"
#define PRODUCT "(a, b) -> (c) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]); }"
#define UNIT "[i, j]() { return i == j; }"

enum {
    N = 2 /* of the matrices */
};

typedef int32_t matrix[N][N];

static uf_func *defined(const char *layout, const char *signatures, const char *source, const char *identity,
                        unsigned flags) {
    uf_func *f = NULL;
    const uf_section section = {signatures, source};
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "product",
                                      .nsections = 1,
                                      .sections = &section,
                                      .layout = layout,
                                      .identity = identity,
                                      .flags = flags}));
    return f;
}

static uf_func *product(const char *identity) { return defined(LAYOUT, "ii->i; ll->l", PRODUCT, identity, 0); }

static void multiply(int n, const int32_t *a, const int32_t *b, int32_t *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            uint32_t sum = 0;
            for (int k = 0; k < n; k++)
                sum += (uint32_t)a[i * n + k] * (uint32_t)b[k * n + j];
            c[i * n + j] = (int32_t)sum;
        }
}

/* Products of several matrices in order. */
static void folded(int n, const int32_t *x, int count, int32_t *out) {
    int32_t next[64];
    size_t size = (size_t)(n * n) * sizeof *x;
    memcpy(out, x, size);
    for (int e = 1; e < count; e++) {
        multiply(n, out, x + e * n * n, next);
        memcpy(out, next, size);
    }
}

static void filled(int32_t *x, int count) {
    static uint32_t state = 7;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (int32_t)(state >> 28) - 7;
    }
}

static uf_reduce_options over(int naxes, const int *axes) {
    return (uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = naxes, .axes = axes};
}

/* ---- Results ---- */

static void order_is_kept(void **state) {
    static matrix x[1001], got, want;
    static const unsigned orders[] = {0, UF_ORDERED, UF_SERIAL};
    (void)state;
    uf_func *f = product(NULL);
    for (int n = 1; n <= 1001; n += 125)
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
            filled(&x[0][0][0], n * N * N);
            folded(N, &x[0][0][0], n, &want[0][0]);
            uf_reduce_options options = over(0, NULL);
            options.flags = orders[k];
            OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], n, N, N), UF_ARRAY(&got[0][0], N, N)}, &options));
            assert_memory_equal(got, want, sizeof want);
        }
    uf_free(f);
}

/* Axes count among the loop dimensions, from either end; several are taken in C order. */
static void axes_are_loop_dimensions(void **state) {
    matrix x[3][4], got[4], want, first[4][3];
    (void)state;
    uf_func *f = product(NULL);
    filled(&x[0][0][0][0], 3 * 4 * N * N);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 3; i++)
            memcpy(first[j][i], x[i][j], sizeof(matrix));
    static const int axes[] = {0, -2};
    for (size_t k = 0; k < 2; k++) {
        const uf_reduce_options options = over(1, &axes[k]);
        memset(got, 0, sizeof got);
        OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0][0], 3, 4, N, N), UF_ARRAY(&got[0][0][0], 4, N, N)},
                     &options));
        for (int j = 0; j < 4; j++) {
            folded(N, &first[j][0][0][0], 3, &want[0][0]);
            assert_memory_equal(got[j], want, sizeof want);
        }
    }
    const uf_reduce_options both = over(2, (int[]){1, 0});
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0][0], 3, 4, N, N), UF_ARRAY(&got[0][0][0], N, N)}, &both));
    folded(N, &x[0][0][0][0], 12, &want[0][0]);
    assert_memory_equal(got[0], want, sizeof want);
    uf_free(f);
}

static void begins(void **state) {
    matrix x[3] = {{{1, 2}, {3, 4}}, {{0, 1}, {1, 0}}, {{2, 0}, {0, 3}}}, got, want, first = {{5, 6}, {7, 8}};
    const matrix unit = {{1, 0}, {0, 1}};
    const bool mask[3] = {true, false, true}, none[3] = {false};
    (void)state;
    uf_func *f = product(UNIT),
            *sum = defined("(n),(n)->(n)", "ii->i", "(a, b) -> (c) { forall (i : n) c[i] = a[i] + b[i]; }", "7 - 7", 0);
    const DLTensor args[] = {UF_ARRAY(&x[0][0][0], 3, N, N), UF_ARRAY(&got[0][0], N, N)};
    uf_reduce_options options = over(0, NULL);

    DLTensor where = {
        .data = (void *)(uintptr_t)mask, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {6, 8, 1}, .shape = (int64_t[]){3}};
    options.where = &where;
    OK(uf_reduce(f, 2, args, &options));
    multiply(N, &x[0][0][0], &x[2][0][0], &want[0][0]);
    assert_memory_equal(got, want, sizeof want);
    where.data = (void *)(uintptr_t)none;
    OK(uf_reduce(f, 2, args, &options));
    assert_memory_equal(got, unit, sizeof unit);

    const DLTensor initial = UF_ARRAY(&first[0][0], N, N);
    options.initial = &initial;
    OK(uf_reduce(f, 2, args, &options));
    assert_memory_equal(got, first, sizeof first);
    options.where = NULL;
    OK(uf_reduce(f, 2, args, &options));
    matrix all[4] = {{{5, 6}, {7, 8}}};
    memcpy(all[1], x, sizeof x);
    folded(N, &all[0][0][0], 4, &want[0][0]);
    assert_memory_equal(got, want, sizeof want);

    const DLTensor empty[] = {UF_ARRAY(&x[0][0][0], 0, N, N), args[1]};
    OK(uf_reduce(f, 2, empty, NULL));
    assert_memory_equal(got, unit, sizeof unit);
    OK(uf_reduce(sum, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 0, 3), UF_ARRAY(&got[0][0], 3)}, NULL));
    assert_true(got[0][0] == 0 && got[0][1] == 0 && got[1][0] == 0 && got[1][1] == 1);
    uf_free(sum);
    uf_free(f);
}

/* The matrix product of the catalogue, whose layout has other names for each operand. */
static void sizes_meet(void **state) {
    static matrix x[5];
    matrix got, want;
    uf_func *f;
    (void)state;
    filled(&x[0][0][0], 5 * N * N);
    folded(N, &x[0][0][0], 5, &want[0][0]);
    OK(uf_load(&f, "matmul"));
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 5, N, N), UF_ARRAY(&got[0][0], N, N)}, NULL));
    assert_memory_equal(got, want, sizeof want);
    FAILS(UF_ERR_SHAPE, "core dimension 1 of matmul, (m?,n),(n,p?)->(m?,p?), has size 1, and core dimension 0 has 2",
          uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 5, 2, 1), UF_ARRAY(&got[0][0], 2, 1)}, NULL));
    uf_free(f);
}

/* Helpers, tables, modules and parameters whose names look like those of the generated text. */
static void texts_are_taken_whole(void **state) {
    static const char source[] = "use vec;\n"
                                 "const table[] = {1, 1};\n"
                                 "scaled(x) { return x * table[0]; }\n"
                                 "// the head of a kernel may have a comment\n"
                                 "(core_a, core_)\n -> (core_b) {\n"
                                 "    for (int64 i = 0; i < n; i++) {\n"
                                 "        if (i >= n) return;\n"
                                 "        core_b[i] = scaled(core_a[i]) + core_[i] * len(core_) / n;\n"
                                 "    }\n"
                                 "}";
    int32_t x[3][3] = {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}, got[3];
    (void)state;
    uf_func *f = defined("(n),(n)->(n)", "ii->i", source, "use vec; 0 // nothing", 0);
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0], 3, 3), UF_ARRAY(got, 3)}, NULL));
    assert_true(got[0] == 111 && got[1] == 222 && got[2] == 333);
    uf_free(f);
}

static void scans(void **state) {
    static matrix x[300], got[300], want[300];
    int64_t starts[] = {0, 7, 3, 250};
    (void)state;
    uf_func *f = product(NULL);
    filled(&x[0][0][0], 300 * N * N);
    for (int i = 0; i < 300; i++)
        folded(N, &x[0][0][0], i + 1, &want[i][0][0]);
    const DLTensor in = UF_ARRAY(&x[0][0][0], 300, N, N);
    OK(uf_accumulate(f, 2, (DLTensor[]){in, UF_ARRAY(&got[0][0][0], 300, N, N)}, 0, NULL));
    assert_memory_equal(got, want, sizeof want);
    OK(uf_reduceat(f, 2, (DLTensor[]){in, UF_ARRAY(&got[0][0][0], 4, N, N)}, &UF_ARRAY(starts, 4), -1, NULL));
    folded(N, &x[0][0][0], 7, &want[0][0][0]);
    memcpy(want[1], x[7], sizeof *want);
    folded(N, &x[3][0][0], 247, &want[2][0][0]);
    folded(N, &x[250][0][0], 50, &want[3][0][0]);
    assert_memory_equal(got, want, 4 * sizeof *want);
    OK(uf_accumulate(f, 2, (DLTensor[]){in, in}, 0, NULL)); /* in place */
    folded(N, &x[0][0][0], 1, &want[0][0][0]);
    assert_memory_equal(x[0], want[0], sizeof *want);
    uf_free(f);
}

/* An output that lies among the inputs is written after they are read. */
static void overlaps(void **state) {
    matrix x[5], want;
    (void)state;
    uf_func *f = product(NULL);
    filled(&x[0][0][0], 5 * N * N);
    folded(N, &x[0][0][0], 5, &want[0][0]);
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 5, N, N), UF_ARRAY(&x[1][0][1], N, N)}, NULL));
    assert_memory_equal(&x[1][0][1], want, sizeof want);
    DLTensor twice = UF_ARRAY(&x[0][0][0], N, N);
    twice.strides = (int64_t[]){0, 1};
    FAILS(UF_ERR_ARGUMENT, "argument 1", uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 5, N, N), twice}, NULL));
    uf_free(f);
}

static void plans(void **state) {
    matrix x[2][6], got[2], want[2], first[2] = {{{1, 1}, {0, 1}}, {{2, 0}, {1, 1}}};
    const int64_t starts[] = {0, 3};
    uf_plan *p;
    (void)state;
    uf_func *f = product(UNIT);
    filled(&x[0][0][0][0], 2 * 6 * N * N);
    uf_reduce_options options = over(0, NULL);
    DLTensor initial = UF_ARRAY(&first[0][0][0], N, N), in = UF_ARRAY(&x[0][0][0][0], 6, N, N),
             out = UF_ARRAY(&got[0][0][0], N, N);
    initial.data = in.data = out.data = NULL;
    options.initial = &initial;
    OK(uf_reduce_plan(&p, f, 2, (DLTensor[]){in, out}, &options));
    for (int k = 0; k < 2; k++) {
        matrix all[7];
        OK(uf_plan_run(p, (void *[]){x[k], got[k], first[k]}, NULL));
        memcpy(all[0], first[k], sizeof(matrix));
        memcpy(all[1], x[k], sizeof x[k]);
        folded(N, &all[0][0][0], 7, &want[k][0][0]);
    }
    assert_memory_equal(got, want, sizeof want);
    FAILS(UF_ERR_ARGUMENT, "argument 1: its data is NULL", uf_plan_run(p, (void *[]){x, NULL, first}, NULL));
    uf_plan_free(p);

    OK(uf_accumulate_plan(&p, f, 2, (DLTensor[]){in, in}, 0, NULL));
    matrix lines[6];
    for (int k = 0; k < 2; k++) {
        OK(uf_plan_run(p, (void *[]){x[k], lines}, NULL));
        folded(N, &x[k][0][0][0], 6, &want[k][0][0]);
        assert_memory_equal(lines[5], want[k], sizeof *want);
    }
    uf_plan_free(p);

    DLTensor pair = UF_ARRAY(&got[0][0][0], 2, N, N);
    OK(uf_reduceat_plan(&p, f, 2, (DLTensor[]){in, pair}, &UF_ARRAY((int64_t *)(uintptr_t)starts, 2), 0, NULL));
    uf_free(f); /* the plan keeps it */
    OK(uf_plan_run(p, (void *[]){x[1], got, (void *)(uintptr_t)starts}, NULL));
    folded(N, &x[1][0][0][0], 3, &want[0][0][0]);
    folded(N, &x[1][3][0][0], 3, &want[1][0][0]);
    assert_memory_equal(got, want, sizeof want);
    uf_plan_free(p);
}

static void is_inferred(void **state) {
    matrix x[3][4];
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(&x[0][0][0][0], 3, 4, N, N), {.shape = shape}};
    (void)state;
    uf_func *f = product(NULL);
    uf_reduce_options options = over(1, (int[]){0});
    OK(uf_reduce_infer(f, 2, args, &options));
    assert_true(args[1].ndim == 3 && shape[0] == 4 && shape[1] == N && shape[2] == N && args[1].dtype.bits == 32);
    options.keepdims = true;
    OK(uf_reduce_infer(f, 2, args, &options));
    assert_true(args[1].ndim == 4 && shape[0] == 1 && shape[1] == 4 && shape[2] == N && shape[3] == N);
    OK(uf_accumulate_infer(f, 2, args, 1, NULL));
    assert_true(args[1].ndim == 4 && shape[0] == 3 && shape[1] == 4 && shape[2] == N && shape[3] == N);
    size_t bytes = 1;
    args[1] = UF_ARRAY(&x[0][0][0][0], N, N);
    OK(uf_reduce_scratch_size(&bytes, f, 2, args, NULL));
    assert_int_equal(bytes, 0);
    uf_free(f);
}

/* The accumulator's dtype is chosen as for elementwise functions: by the output and the input. */
static void dtypes_are_chosen(void **state) {
    int8_t x[2][N][N] = {{{100, 0}, {0, 1}}, {{100, 0}, {0, 1}}};
    int64_t got[N][N];
    float wrong[N][N];
    double sum[N][N];
    (void)state;
    uf_func *f = product(NULL), *any = defined(LAYOUT, NULL, PRODUCT, NULL, 0),
            *mixed = defined("(n),(n)->(n)", "di->d", "(a, b) -> (c) { forall (i : n) c[i] = a[i] + b[i]; }", NULL, 0);
    const DLTensor in = UF_ARRAY(&x[0][0][0], 2, N, N), out = UF_ARRAY(&got[0][0], N, N);
    OK(uf_reduce(f, 2, (DLTensor[]){in, out}, NULL));
    assert_true(got[0][0] == 10000 && got[1][1] == 1);
    OK(uf_reduce(any, 2, (DLTensor[]){in, out}, NULL));
    assert_true(got[0][0] == 10000 && got[1][1] == 1);
    uf_reduce_options options = over(0, NULL);
    options.signature = "int32,int32->int32";
    OK(uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    assert_true(got[0][0] == 10000);
    FAILS(UF_ERR_SIGNATURE, "float32", uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&wrong[0][0], N, N)}, NULL));
    FAILS(UF_ERR_SIGNATURE, "operands of one dtype",
          uf_reduce(mixed, 2, (DLTensor[]){in, UF_ARRAY(&sum[0][0], N, N)}, NULL));
    uf_free(mixed);
    uf_free(any);
    uf_free(f);
}

/* ---- Cores of more scalars than a state can have: 5 x 5 ---- */

enum {
    L = 5
};
typedef int32_t large[L][L];

static void large_order_is_kept(void **state) {
    static large x[70], got, want;
    static const unsigned orders[] = {0, UF_SERIAL};
    (void)state;
    uf_func *f = product(NULL), *g = product(UNIT);
    filled(&x[0][0][0], 70 * L * L);
    for (int n = 1; n <= 70; n++)
        for (size_t k = 0; k < 2; k++) {
            uf_reduce_options options = over(0, NULL);
            options.flags = orders[k];
            folded(L, &x[0][0][0], n, &want[0][0]);
            const DLTensor args[] = {UF_ARRAY(&x[0][0][0], n, L, L), UF_ARRAY(&got[0][0], L, L)};
            memset(got, 0, sizeof got);
            OK(uf_reduce(f, 2, args, &options));
            assert_memory_equal(got, want, sizeof want);
            memset(got, 0, sizeof got);
            OK(uf_reduce(g, 2, args, &options));
            assert_memory_equal(got, want, sizeof want);
        }
    uf_free(g);
    uf_free(f);
}

static void large_begins(void **state) {
    static large x[4], got, want, first;
    const bool mask[4] = {false, true, true, false};
    (void)state;
    uf_func *f = product(UNIT), *bare = product(NULL);
    filled(&x[0][0][0], 4 * L * L);
    filled(&first[0][0], L * L);
    const DLTensor in = UF_ARRAY(&x[0][0][0], 4, L, L), out = UF_ARRAY(&got[0][0], L, L),
                   initial = UF_ARRAY(&first[0][0], L, L);
    DLTensor where = UF_ARRAY((bool *)(uintptr_t)mask, 4);
    uf_reduce_options options = over(0, NULL);
    options.where = &where;
    OK(uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    multiply(L, &x[1][0][0], &x[2][0][0], &want[0][0]);
    assert_memory_equal(got, want, sizeof want);
    options.initial = &initial;
    OK(uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    large all[3];
    memcpy(all[0], first, sizeof first);
    memcpy(all[1], x[1], 2 * sizeof *x);
    folded(L, &all[0][0][0], 3, &want[0][0]);
    assert_memory_equal(got, want, sizeof want);
    FAILS(UF_ERR_ARGUMENT, "a mask (where) over cores of more than 16 scalars needs an identity, and product has none",
          uf_reduce(bare, 2, (DLTensor[]){in, out}, &options));
    /* Under a forced signature and unsafe casting inputs and outputs of any dtype. */
    static double wide[4][L][L], result[L][L];
    for (int i = 0; i < 4 * L * L; i++)
        wide[i / (L * L)][i / L % L][i % L] =
            x[i / (L * L)][i / L % L][i % L] + .25 * (x[i / (L * L)][i / L % L][i % L] > 0);
    options.signature = "int32,int32->int32";
    options.casting = UF_CAST_UNSAFE;
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&wide[0][0][0], 4, L, L), UF_ARRAY(&result[0][0], L, L)}, &options));
    for (int i = 0; i < L * L; i++)
        assert_true(result[i / L][i % L] == want[i / L][i % L]);
    options.signature = NULL;
    options.where = NULL;
    const DLTensor none = UF_ARRAY(&x[0][0][0], 0, L, L);
    OK(uf_reduce(bare, 2, (DLTensor[]){none, out}, &options));
    assert_memory_equal(got, first, sizeof first);
    OK(uf_reduce(f, 2, (DLTensor[]){none, out}, NULL));
    for (int i = 0; i < L * L; i++)
        assert_int_equal(got[i / L][i % L], i / L == i % L);
    FAILS(UF_ERR_ARGUMENT, "no elements to reduce", uf_reduce(bare, 2, (DLTensor[]){none, out}, NULL));
    uf_free(bare);
    uf_free(f);
}

/* The output lies among the inputs; then a plan, whose addresses change, and scans, which are refused. */
static void large_calls(void **state) {
    static large x[2][3], got[2], want[2], first;
    uf_plan *p;
    size_t bytes;
    (void)state;
    uf_func *f = product(NULL);
    filled(&x[0][0][0][0], 2 * 3 * L * L);
    filled(&first[0][0], L * L);
    DLTensor in = UF_ARRAY(&x[0][0][0][0], 3, L, L), out = UF_ARRAY(&got[0][0][0], L, L),
             initial = UF_ARRAY(&first[0][0], L, L);
    uf_reduce_options options = over(0, NULL);
    options.initial = &initial;
    OK(uf_reduce_plan(&p, f, 2, (DLTensor[]){in, out}, &options));
    OK(uf_reduce_scratch_size(&bytes, f, 2, (DLTensor[]){in, out}, NULL));
    for (int k = 0; k < 2; k++) {
        large all[4];
        OK(uf_plan_run(p, (void *[]){x[k], got[k], first}, NULL));
        memcpy(all[0], first, sizeof first);
        memcpy(all[1], x[k], sizeof x[k]);
        folded(L, &all[0][0][0], 4, &want[k][0][0]);
    }
    assert_memory_equal(got, want, sizeof want);
    FAILS(UF_ERR_ARGUMENT, "its data is NULL", uf_plan_run(p, (void *[]){x, got, NULL}, NULL));
    uf_plan_free(p);
    folded(L, &x[0][0][0][0], 3, &want[0][0][0]);
    OK(uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&x[0][1][0][1], L, L)}, NULL));
    assert_memory_equal(&x[0][1][0][1], want[0], sizeof *want);
    FAILS(UF_ERR_SHAPE, "has cores of 25 scalars, but uf_accumulate takes 1 to 16; uf_reduce any number",
          uf_accumulate(f, 2, (DLTensor[]){in, in}, 0, NULL));
    FAILS(UF_ERR_SHAPE, "uf_reduceat takes 1 to 16",
          uf_reduceat(f, 2, (DLTensor[]){in, in}, &UF_ARRAY(((int[]){0, 1, 2}), 3), 0, NULL));
    out.strides = (int64_t[]){0, 1};
    FAILS(UF_ERR_ARGUMENT, "argument 1", uf_reduce(f, 2, (DLTensor[]){in, out}, NULL));
    out = UF_ARRAY(&got[0][0][0], 2, L, L);
    FAILS(UF_ERR_SHAPE, "argument 1", uf_reduce(f, 2, (DLTensor[]){in, out}, NULL));
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0][0], 3, 0, 0), UF_ARRAY(&got[0][0][0], 0, 0)}, NULL));
    uf_free(f);
}

/* ---- Cores without scalars, and scalars that are no numbers ---- */

/* Reduces cores of 0 x 0 scalars, over the axis `loops` if there is one, which lie at that address, in a call and a plan. */
static void empty_reduce(const uf_func *f, int64_t loops, bool begins, void *at) {
    int64_t shape[] = {loops, 0, 0};
    const int front = loops ? 0 : 1; /* the first dimension of the shape that arrays have */
    DLTensor in = {.data = at,
                   .device = {kDLCPU, 0},
                   .ndim = 3 - front,
                   .dtype = {kDLInt, 32, 1},
                   .shape = shape + front},
             out = in, initial;
    out.ndim = 2;
    out.shape = shape + 1;
    initial = out;
    uf_reduce_options options = over(0, NULL);
    options.initial = begins ? &initial : NULL;
    size_t bytes;
    uf_plan *p;
    OK(uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    OK(uf_reduce_scratch_size(&bytes, f, 2, (DLTensor[]){in, out}, &options));
    OK(uf_reduce_plan(&p, f, 2, (DLTensor[]){in, out}, &options));
    OK(uf_plan_run(p, (void *[]){at, at, at}, NULL));
    OK(uf_plan_run(p, (void *[]){NULL, NULL, NULL}, NULL));
    uf_plan_free(p);
}

/* They may lie at the end of memory, and nowhere. */
static void empty_cores_are_not_read(void **state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    uf_func *f = product(UNIT);
    for (int k = 0; k < 8; k++)
        empty_reduce(f, k & 1 ? 3 : 0, k & 2, k & 4 ? memory + page : NULL);
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY((int32_t *)(void *)(memory + page), 0, 0), {.shape = shape}};
    OK(uf_reduce_infer(f, 2, args, NULL));
    assert_true(args[1].ndim == 2 && shape[0] == 0 && shape[1] == 0);
    uf_free(f);
    munmap(memory, 2 * page);
}

/* What a core holds are elements of an array, also where there is no loop dimension: they are cast as elements are, and a plan has
 * their dtypes. */
static void scalars_are_no_numbers(void **state) {
    const int64_t x[1][N][N] = {{{300, 1}, {0, 1}}}, y[1][L][L] = {{{300, 1}}};
    int8_t got[N][N], all[L][L];
    (void)state;
    uf_func *f = defined(LAYOUT, "bb->b", PRODUCT, NULL, 0);
    uf_reduce_options options = over(0, NULL);
    options.signature = "bb->b";
    for (int loops = 0; loops < 2; loops++) {
        int64_t shape[] = {1, N, N}, wide[] = {1, L, L};
        DLTensor in = UF_ARRAY((int64_t *)(uintptr_t)&x[0][0][0], N, N);
        in.ndim += loops;
        in.shape = shape + 1 - loops;
        memset(got, 0, sizeof got);
        OK(uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&got[0][0], N, N)}, &options));
        assert_true(got[0][0] == 44 && got[0][1] == 1 && got[1][0] == 0 && got[1][1] == 1);
        in.data = (void *)(uintptr_t)y;
        in.shape = wide + 1 - loops;
        memset(all, 7, sizeof all);
        OK(uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&all[0][0], L, L)}, &options));
        assert_true(all[0][0] == 44 && all[0][1] == 1 && all[4][4] == 0);
    }
    uf_free(f);
}

/* ---- What is refused ---- */

static void bad_calls(void **state) {
    matrix x[5], got;
    const DLTensor in = UF_ARRAY(&x[0][0][0], 5, N, N), out = UF_ARRAY(&got[0][0], N, N);
    const bool mask[5] = {true};
    DLTensor where = {
        .data = (void *)(uintptr_t)mask, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {6, 8, 1}, .shape = (int64_t[]){5}};
    (void)state;
    memset(x, 0, sizeof x);
    uf_func *f = product(NULL),
            *misfit = defined("(m,n),(n)->(m)", "ii->i",
                              "(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); }", NULL, 0);
    FAILS(UF_ERR_ARGUMENT, "takes 1 input and 1 output, but got 3", uf_reduce(f, 3, (DLTensor[]){in, in, out}, NULL));
    FAILS(UF_ERR_ARGUMENT, "args is NULL", uf_reduce(f, 2, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_reduce(NULL, 2, (DLTensor[]){in, out}, NULL));
    FAILS(UF_ERR_ARGUMENT,
          "with core dimensions, (m,n),(n)->(m); a reduction, or a function of two inputs and one output, whose "
          "operands can have cores of one shape",
          uf_reduce(misfit, 2, (DLTensor[]){in, out}, NULL));
    FAILS(UF_ERR_SHAPE, "argument 0", uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 5), out}, NULL));
    FAILS(UF_ERR_SHAPE, "its rank is 1, but the last 2 dimensions are the core dimensions of product, " LAYOUT,
          uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&x[0][0][0], 2)}, NULL));
    FAILS(UF_ERR_SHAPE, "core dimension 1 of product, " LAYOUT ", has size 1, but that of the input has 2",
          uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&x[0][0][0], 2, 1)}, NULL));
    FAILS(UF_ERR_SHAPE, "argument 1", uf_reduce(f, 2, (DLTensor[]){in, UF_ARRAY(&x[0][0][0], 3, N, N)}, NULL));
    FAILS(UF_ERR_ARGUMENT, "no elements to reduce, and product has no identity",
          uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(&x[0][0][0], 0, N, N), out}, NULL));
    uf_reduce_options options = over(1, (int[]){1});
    FAILS(UF_ERR_ARGUMENT, "axis 1", uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    options = over(0, NULL);
    options.where = &where;
    FAILS(UF_ERR_ARGUMENT, "a mask (where) may leave no elements", uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    options.where = NULL;
    DLTensor initial = UF_ARRAY(&got[0][0], 4);
    options.initial = &initial;
    FAILS(UF_ERR_ARGUMENT, "initial value 0: its rank is 1, but must be 2",
          uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    initial = UF_ARRAY(&got[0][0], 2, 1);
    FAILS(UF_ERR_ARGUMENT, "initial value 0: dimension 1 has size 1, but that of the core has 2",
          uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    initial = UF_ARRAY(&got[0][0], 2, 2);
    initial.data = NULL;
    FAILS(UF_ERR_ARGUMENT, "initial value 0", uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    initial.dtype.bits = 7;
    FAILS(UF_ERR_ARGUMENT, "initial value 0: its dtype is none of the fifteen",
          uf_reduce(f, 2, (DLTensor[]){in, out}, &options));
    DLTensor lanes = in;
    lanes.dtype.lanes = 2;
    FAILS(UF_ERR_ARGUMENT, "2 lanes", uf_reduce(f, 2, (DLTensor[]){lanes, out}, NULL));
    uf_free(misfit);
    uf_free(f);
}

static void bad_definitions(void **state) {
    static const struct {
        const char *layout, *source, *identity;
        unsigned flags;
        uf_status status;
        const char *says;
    } cases[] = {
        {LAYOUT, PRODUCT, "[i]() { return i == 0; }", 0, UF_ERR_TYPE,
         "1 indices, 0 parameters and 1 outputs; 2 indices"},
        {LAYOUT, PRODUCT, "[i, j](x) { return i == j; }", 0, UF_ERR_TYPE, "2 indices, 1 parameters"},
        {LAYOUT, PRODUCT, "[i, j]() { return k; }", 0, UF_ERR_TYPE, "'k'"},
        {LAYOUT, PRODUCT, "[i : n, j]() { return n; }", 0, UF_ERR_TYPE, "extent with a name"},
        {LAYOUT, PRODUCT, "[i, j]() {", 0, UF_ERR_SYNTAX, "identity"},
        {LAYOUT, PRODUCT, "1, 2", 0, UF_ERR_TYPE, "2 values"},
        {LAYOUT, PRODUCT, NULL, UF_WIDEN, UF_ERR_ARGUMENT, "wide accumulator"},
        {"(m,n),(n)->(m)", "(a, x) -> (y) { }", "0", 0, UF_ERR_ARGUMENT,
         "an identity, but only functions of two inputs"},
        {"(m,n),(n)->(m)", "(a, x) -> (y) { }", NULL, UF_SERIAL, UF_ERR_ARGUMENT, "an order"},
        {"(3),(4)->(4)", "(a, x) -> (y) { }", NULL, UF_ORDERED, UF_ERR_ARGUMENT, "an order"},
        {"(n),(n)->(n+1)", "(a, x) -> (y) { }", NULL, UF_ORDERED, UF_ERR_ARGUMENT, "an order"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const uf_section section = {"ii->i", cases[k].source};
        const uf_definition d = {.size = sizeof d,
                                 .name = "product",
                                 .nsections = 1,
                                 .sections = &section,
                                 .layout = cases[k].layout,
                                 .identity = cases[k].identity,
                                 .flags = cases[k].flags};
        uf_func *f = NULL;
        FAILS(cases[k].status, cases[k].says, uf_define(&f, &d));
        assert_null(f);
    }
}

static void is_described(void **state) {
    uf_description d = {.size = sizeof d};
    uf_func *f = product(UNIT), *serial = defined(LAYOUT, "ii->i", PRODUCT, NULL, UF_SERIAL);
    (void)state;
    OK(uf_describe(f, &d));
    assert_true(d.nstate == 1 && d.order == UF_ORDERED && !strcmp(d.identity, UNIT) && !strcmp(d.kind, "gufunc"));
    OK(uf_describe(serial, &d));
    assert_true(d.nstate == 1 && d.order == UF_SERIAL && !d.identity);
    uf_free(serial);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_is_kept),
                                       cmocka_unit_test(axes_are_loop_dimensions),
                                       cmocka_unit_test(begins),
                                       cmocka_unit_test(sizes_meet),
                                       cmocka_unit_test(texts_are_taken_whole),
                                       cmocka_unit_test(scans),
                                       cmocka_unit_test(overlaps),
                                       cmocka_unit_test(plans),
                                       cmocka_unit_test(is_inferred),
                                       cmocka_unit_test(dtypes_are_chosen),
                                       cmocka_unit_test(large_order_is_kept),
                                       cmocka_unit_test(large_begins),
                                       cmocka_unit_test(large_calls),
                                       cmocka_unit_test(empty_cores_are_not_read),
                                       cmocka_unit_test(scalars_are_no_numbers),
                                       cmocka_unit_test(bad_calls),
                                       cmocka_unit_test(bad_definitions),
                                       cmocka_unit_test(is_described)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
