/* test_lane_calls.c - unrolled inner calls that have lanes of vectors (ir/gufunc/lane_calls.c): which have them, that LLVM makes vectors of them,
 * and what they compute, for any number of calls and any order of memory. */
#include "cpu/cpu.h"
#include "ir/ir.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "failing.h"
#include "gu_kernel.h"
#include "ir_check.h"

#undef fail
#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

static int occurrences(const char *in, const char *what) {
    int n = 0;
    for (; (in = strstr(in, what)); in++)
        n++;
    return n;
}

/* ---- Which ---- */

typedef struct choice {
    bool unrolled;
    int lanes; /* 0: calls have none */
} choice;

typedef struct batch {
    int64_t calls;
    bool beside; /* each other, in place of the elements of a core */
} batch;

static choice choose_of(const char *source, const char *types, bool converts, int64_t n, int lines, batch b) {
    arena a = {0};
    gu_kernel k = {"chosen", "(n,n)->(n)", source, types};
    const tree *t = gu_tree(&a, &k);
    variant v = gu_variant(t, 0, 0, 1, 1);
    const int64_t unit = b.beside ? b.calls : 1, core[] = {n, n * unit, unit, unit};
    int64_t strides[] = {b.beside ? 1 : n * n, b.beside ? 1 : n};
    code_traits traits;
    nd_loop loop = {.ndim = 1, .narrays = 2, .count = b.calls, .extent = &b.calls, .stride = strides};
    ir_traits(t, &traits);
    if (converts)
        v.operand[1].memory = DT_FLOAT64;
    cpu_engine.specialise(
        &v, &(loop_problem){.loop = &loop, .layout = t->layout, .core = core, .traits = &traits, .unrolled = lines});
    for (int i = 0; i < 2; i++) {
        assert_int_equal(v.operand[i].staged,
                         v.gufunc.unrolled ? !b.beside : b.beside && !v.gufunc.strips); /* in groups */
        assert_int_equal(v.operand[i].fixed, v.gufunc.calls && !b.beside);
    }
    assert_int_equal(v.gufunc.size[0], v.gufunc.unrolled ? n : 0);
    arena_free(&a);
    return (choice){v.gufunc.unrolled, v.gufunc.calls ? 1 << v.gufunc.calls : 0};
}

static choice choose(const char *source, const char *types, bool converts, int64_t n, int lines) {
    return choose_of(source, types, converts, n, lines, (batch){.calls = 1000});
}

static const char text_loop[] = "(a) -> (y) { for (int64 i = 0; i < n; i++) y[i] = a[i][i]; }",
                  construct[] = "(a) -> (y) { forall (i : n) y[i] = a[i][i]; }";

static int words_of_vectors(void) {
    code_target host;
    OK(cpu_engine.target(0, &host));
    return host.vector_bits > 128 ? 8 : 4;
}

/* Calls have lanes where much is computed of each element that is copied, 20 of them here; none are where calls lie side by side. */
static void lanes_chosen(void **state) {
    int words = words_of_vectors(), least = 44 * 20 / words;
    const struct {
        const char *types;
        bool converts;
        int lines, lanes;
    } cases[] = {{"float32->float32", false, least, words},
                 {"float32->float32", false, least - 1, 0},
                 {"float32->float32", true, least, 0},
                 {"float64->float64", false, 2 * least, words / 2},
                 {"float64->float64", false, 2 * least - 1, 0},
                 {"int32->int32", false, least, words},
                 {"uint64->uint64", false, 2 * least, words / 2},
                 {"int16->int16", false, 1900, 0},
                 {"float16->float16", false, least, words},
                 {"complex64->complex64", false, 1900, 0},
                 {"float32->float32", false, 2001, 0},
                 {"float32->float64", false, 1900, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        choice c = choose(text_loop, cases[i].types, cases[i].converts, 4, cases[i].lines);
        if (c.lanes != cases[i].lanes)
            fail_msg("%s, %d lines: %d lanes", cases[i].types, cases[i].lines, c.lanes);
    }
    assert_int_equal(choose(text_loop, "float32->float32", false, 1, 69).lanes, 0);
    assert_int_equal(choose(text_loop, "float32->float32", false, 1, 70).lanes, words);
    assert_int_equal(choose_of(text_loop, "float32->float32", false, 4, 70, (batch){1000, true}).lanes, words);
    assert_int_equal(choose_of(text_loop, "float32->float32", false, 4, 69, (batch){1000, true}).lanes, 0);
}

/* Constructs are unrolled for rows that are too short for LLVM's loops over them, and for calls in lanes that lie side by side, of which it has
 * none; the text's loops always. */
static void rows_unrolled(void **state) {
    code_target host;
    OK(cpu_engine.target(0, &host));
    const struct {
        const char *types;
        int n; /* the longest row */
    } cases[] = {{"float32->float32", host.vector_bits < 512 ? 31 : 15},
                 {"float64->float64", 15},
                 {"float16->float16", 31},
                 {"int8->int8", 15},
                 {"complex64->complex64", 15},
                 {"complex128->complex128", 7},
                 {"uint16->uint16", 15}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!choose(construct, cases[i].types, false, cases[i].n, 100).unrolled ||
            choose(construct, cases[i].types, false, cases[i].n + 1, 100).unrolled)
            fail_msg("%s", cases[i].types);
    assert_true(choose(construct, "float64->float64", false, 4, 1500).unrolled); /* in lanes */
    assert_false(choose(construct, "float64->float64", false, 4, 1501).unrolled);
    assert_true(choose(construct, "complex64->complex64", false, 4, 700).unrolled);
    assert_false(choose(construct, "complex64->complex64", false, 4, 701).unrolled);
    assert_true(choose_of(construct, "float32->float32", false, 40, 1500, (batch){1000, true}).unrolled);
    assert_false(choose_of(construct, "float32->float32", false, 40, 1501, (batch){1000, true}).unrolled);
    assert_false(choose_of(construct, "float32->float32", false, 40, 69, (batch){1000, true}).unrolled); /* no lanes */
    assert_false(choose(construct, "float32->float32", false, 40, 1500).unrolled);
    assert_true(choose(text_loop, "complex64->complex64", false, 4, 2000).unrolled);
    assert_true(choose(text_loop, "float32->float32", false, 40, 100).unrolled);
    assert_false(choose(text_loop, "float32->float32", false, 4, 0).unrolled);
    assert_true(choose_of(text_loop, "float32->float32", false, 4, 4000, (batch){.calls = 1 << 16}).unrolled);
    assert_false(choose_of(text_loop, "float32->float32", false, 4, 4001, (batch){.calls = 1 << 16}).unrolled);
    assert_false(choose_of(text_loop, "float32->float32", false, 4, 4000, (batch){.calls = (1 << 16) - 1}).unrolled);
    assert_false(choose_of(text_loop, "complex64->complex64", false, 4, 2001, (batch){.calls = 1 << 16}).unrolled);
}

/* Products go by vectors of columns. Of the first matrix they take single elements, in any order; the second one and the product are copied, by
 * squares if it can be, where they are in another order than C's; of those that are short enough, calls have lanes then. Nothing is copied where
 * rows have gaps, or where vectors go along the rows' range. */
static void products_chosen(void **state) {
    enum {
        CALLS = 1000,
        A = 1,
        B = 2,
        C = 4,
        ALL = A | B | C,
        GAPS = 8,
        BESIDE = 16 /* all calls lie side by side: some are copied together */
    };
    static const struct {
        int n, lines, how, columns; /* how: the operands that are transposed, and more */
        bool unrolled;
        int fixed, copied; /* operands, and how many */
        bool squares;
    } cases[] = {{16, 100000, 0, 1, false, ALL, 0, false},
                 {16, 100000, A, 1, false, ALL, 0, false},
                 {16, 100000, B, 1, false, A | C, 1, true},
                 {16, 100000, BESIDE, 1, false, 0, 2, true},
                 {40, 100000, B, 1, false, A | C, 1, true},
                 {40, 100000, BESIDE, 1, false, 0, 2, true},
                 {4, 300, 0, 1, false, ALL, 0, false},
                 {4, 300, A, 1, false, ALL, 0, false},
                 {4, 300, B, 0, true, 0, 0, false},
                 {1, 100000, B, 1, false, ALL, 0, false},
                 {16, 100000, ALL, 2, false, ALL, 0, false},
                 {16, 100000, A | C, 2, false, ALL, 0, false},
                 {4, 300, ALL, 2, false, ALL, 0, false},
                 {16, 100000, C, 1, false, A | B, 1, false},
                 {16, 100000, B | C, 2, false, B | C, 1, true},
                 {16, 100000, GAPS, 1, false, 0, 0, false},
                 {16, 100000, GAPS | ALL, 2, false, 0, 0, false},
                 {16, 100000, GAPS | B, 1, false, 0, 1, true},
                 {4, 300, GAPS, 1, false, 0, 0, false}};
    const gu_kernel *k = gu_kernel_of("matmul");
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const tree *t = gu_tree(&a, k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        bool beside = cases[i].how & BESIDE;
        int64_t n = cases[i].n, unit = beside ? CALLS : 1, row = unit * (cases[i].how & GAPS ? n + 1 : n),
                calls = CALLS, core[] = {n, n, n, row, unit, row, unit, row, unit},
                strides[] = {n * row, n * row, n * row};
        code_traits traits;
        nd_loop loop = {.ndim = 1, .narrays = 3, .count = calls, .extent = &calls, .stride = strides};
        for (int o = 0; o < 3; o++)
            if (cases[i].how >> o & 1) {
                core[3 + 2 * o] = unit;
                core[4 + 2 * o] = row;
            }
        ir_traits(t, &traits);
        cpu_engine.specialise(
            &v, &(loop_problem){
                    .loop = &loop, .layout = t->layout, .core = core, .traits = &traits, .unrolled = cases[i].lines});
        if (v.gufunc.columns != cases[i].columns || v.gufunc.unrolled != cases[i].unrolled)
            fail_msg("case %zu: columns %d, unrolled %d", i, v.gufunc.columns, v.gufunc.unrolled);
        for (int o = 0; o < 3; o++)
            if (v.operand[o].fixed != (cases[i].fixed >> o & 1))
                fail_msg("case %zu: operand %d is %sfixed", i, o, v.operand[o].fixed ? "" : "not ");
        code_module m = gu_generate(&a, k, t, &v, &gu_cpu);
        char array[64];
        snprintf(array, sizeof array, "alloca [%d x double]", (int)(n * n));
        int copied = occurrences(m.ir.data, array) + occurrences(m.ir.data, "call noalias align 64");
        if (copied != cases[i].copied)
            fail_msg("case %zu: %d copied\n%s", i, copied, m.ir.data);
        if ((strstr(m.ir.data, "call void @uf_copy_in_64(") != NULL) != cases[i].squares)
            fail_msg("case %zu\n%s", i, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- The code ---- */

static const char text_of_chain[] =
    "(a, s) -> (y) { for (int64 i = 0; i < n; i++) { auto t = s; for (int64 k = 0; k < n; k++) "
    "t = a[i][k] > t ? a[i][k] / t : t - a[k][i]; y[i] = t; } }";

/* Cores are copied by squares where elements lie side by side, and all calls are divided together. */
static void vectors(void **state) {
    static const struct {
        const char *types, *divides, *square;
        int n, lanes;    /* log2 */
        int fixed, unit; /* of the matrix */
        int shuffles; /* of a vector of all lanes: 8 to transpose a square of words, 2 of others; parts of the result are as many */
    } cases[] = {{"float32,float32->float32", "fdiv <8 x float>", "shufflevector <8 x i32>", 3, 3, 1, 2, 8},
                 {"float32,float32->float32", "fdiv <8 x float>", "shufflevector <8 x i32>", 4, 3, 1, 2, 8 + 16},
                 {"float32,float32->float32", "fdiv <8 x float>", "shufflevector <8 x i32>", 5, 3, 0, 2, 8 + 16},
                 {"float32,float32->float32", "fdiv <8 x float>", "shufflevector <8 x i32>", 5, 3, 0, 1, 8 + 16},
                 {"float32,float32->float32", "fdiv <8 x float>", "shufflevector <8 x i32>", 5, 3, 0, 0, 16},
                 {"float64,float64->float64", "fdiv <4 x double>", "shufflevector <4 x i64>", 3, 2, 1, 2, 2 + 6},
                 {"float32,float32->float32", "fdiv <4 x float>", "shufflevector <4 x i32>", 4, 2, 1, 2, 8 + 8}};
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"lanes", "(n,n),()->(n)", text_of_chain, cases[i].types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_unrolled(t, cases[i].n);
        v.gufunc.calls = (uint8_t)cases[i].lanes;
        for (int j = 0; j < 3; j++) {
            v.operand[j].staged = 1;
            v.operand[j].fixed = (uint8_t)(j || cases[i].fixed);
        }
        v.operand[0].unit = (uint8_t)cases[i].unit;
        code_module m = gu_generate(&a, &k, t, &v, &gu_cpu);
        int shuffles = occurrences(m.ir.data, cases[i].square);
        if (shuffles != cases[i].shuffles)
            fail_msg("case %zu: %d shuffles\n%s", i, shuffles, m.ir.data);
        for (int j = 0; j < judge_count(); j++) {
            assert_null(judge_ir(j, m.ir.data));
            const char *optimised = judge_optimised(j, m.ir.data, "haswell", "");
            if (!strstr(optimised, cases[i].divides) || strstr(optimised, "fdiv float") ||
                strstr(optimised, "fdiv double"))
                fail_msg("case %zu, %s\n%s", i, judge_name(j), optimised);
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- What they compute ---- */

enum {
    RANK = 4, /* of the matrices: two dimensions of the loop, and those of the core */
    N_MOST = 6,
    ARGS = 4
};

typedef struct operand {
    int rank;
    int64_t extent[RANK], stride[RANK], size; /* size: elements of the block */
    double *block;                            /* as float64 */
    char *data;                               /* as the dtype */
    int64_t first;                            /* where element 0 is in the block */
} operand;

/* Any order of the dimensions in memory, gaps between them or not, and backwards or not. */
static void draw_operand(operand *o, int rank, const int64_t *extent, bool broadcast) {
    int order[RANK] = {0, 1, 2, 3};
    int64_t reach = 1;
    o->rank = rank;
    o->first = 0;
    for (int i = rank - 1; i > 0; i--) {
        int j = chance(40) ? i : (int)pick(0, i), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = rank - 1; i >= 0; i--) {
        int d = order[i];
        bool back = chance(15);
        o->extent[d] = extent[d];
        if (broadcast && d < 2) {
            o->stride[d] = 0;
            continue;
        }
        reach += chance(25) ? pick(1, 3) : 0;
        o->stride[d] = back ? -reach : reach;
        o->first += back ? reach * (extent[d] - 1) : 0;
        reach *= extent[d];
    }
    o->size = reach;
    o->block = malloc((size_t)reach * sizeof *o->block);
    for (int64_t i = 0; i < reach; i++)
        o->block[i] = (double)pick(-3, 4);
}

static int64_t place(const operand *o, int64_t r, int64_t c, int64_t i, int64_t j) {
    const int64_t at[RANK] = {r, c, i, j};
    int64_t p = o->first;
    for (int d = 0; d < o->rank; d++)
        p += at[d] * o->stride[d];
    return p;
}

static const struct type {
    const char *name;
    DLDataType is;
} kinds[] = {{"float32", {kDLFloat, 32, 1}},
             {"float64", {kDLFloat, 64, 1}},
             {"int32", {kDLInt, 32, 1}},
             {"int64", {kDLInt, 64, 1}},
             {"float16", {kDLFloat, 16, 1}}};

static void put(DLDataType t, char *to, double x) {
    if (t.code == kDLInt && t.bits == 32)
        *(int32_t *)(void *)to = (int32_t)x;
    else if (t.code == kDLInt)
        *(int64_t *)(void *)to = (int64_t)x;
    else if (t.bits == 16)
        *(uint16_t *)(void *)to = half_of_double(x);
    else if (t.bits == 32)
        *(float *)(void *)to = (float)x;
    else
        *(double *)(void *)to = x;
}

static double get(DLDataType t, const char *from) {
    if (t.code == kDLInt)
        return t.bits == 32 ? *(const int32_t *)(const void *)from : (double)*(const int64_t *)(const void *)from;
    return t.bits == 16   ? half_to_double(*(const uint16_t *)(const void *)from)
           : t.bits == 32 ? *(const float *)(const void *)from
                          : *(const double *)(const void *)from;
}

/* Each row of the result by what the text below says; where the scalar is odd it stays as it was, but for its first element. */
static const char computing[] = "(a, s) -> (y, z) { auto odd = s != 2 * (s > 0 ? s > 2 ? 2 : s > 1 ? 1 : 0 : s < -2 ? "
                                "-2 : s < -1 ? -1 : 0); y[0] = s;"
                                "for (int64 i = 0; i < n; i++) { auto t = s; for (int64 k = 0; k < n; k++) { t = t > "
                                "a[i][k] ? a[i][k] - t : t + a[k][i]; "
                                "t = t > 100 ? 50 - t : t; t = t < 0 - 100 ? t + 70 : t; t = t == a[k][k] ? t - 1 : t; "
                                "} if (!odd) y[i] = t; z += t; } }";

static double one_step(double t, double ik, double ki, double kk) {
    t = t > ik ? ik - t : t + ki;
    t = t > 100 ? 50 - t : t;
    t = t < -100 ? t + 70 : t;
    return t == kk ? t - 1 : t;
}

static bool is_odd(double s) { return s != 2 * (s > 0 ? s > 2 ? 2 : s > 1 ? 1 : 0 : s < -2 ? -2 : s < -1 ? -1 : 0); }

/* What the blocks of the outputs are to hold. */
static void compute(operand *const o, int64_t rows, int64_t columns, int64_t n) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double s = o[1].block[place(&o[1], r, c, 0, 0)], total = 0;
            o[2].block[place(&o[2], r, c, 0, 0)] = s;
            for (int64_t i = 0; i < n; i++) {
                double t = s;
                for (int64_t k = 0; k < n; k++)
                    t = one_step(t, o[0].block[place(&o[0], r, c, i, k)], o[0].block[place(&o[0], r, c, k, i)],
                                 o[0].block[place(&o[0], r, c, k, k)]);
                if (!is_odd(s))
                    o[2].block[place(&o[2], r, c, i, 0)] = t;
                total += t;
            }
            o[3].block[place(&o[3], r, c, 0, 0)] = total;
        }
}

static void try_one(uf_func *const *functions) {
    int type = (int)pick(0, COUNT(kinds) - 1);
    DLDataType t = kinds[type].is;
    int64_t columns = pick(1, 20), rows = 256 / columns + pick(1, 5), n = pick(1, N_MOST);
    operand o[ARGS];
    DLTensor args[ARGS];
    static const int rank[ARGS] = {4, 2, 3, 2};
    for (int k = 0; k < ARGS; k++) {
        const int64_t extent[RANK] = {rows, columns, n, n};
        draw_operand(&o[k], rank[k], extent, k < 2 && chance(15));
        o[k].data = malloc((size_t)o[k].size * t.bits / 8);
        for (int64_t i = 0; i < o[k].size; i++)
            put(t, o[k].data + i * t.bits / 8, o[k].block[i]);
        args[k] = (DLTensor){.data = o[k].data,
                             .device = {kDLCPU, 0},
                             .ndim = rank[k],
                             .dtype = t,
                             .shape = o[k].extent,
                             .strides = o[k].stride,
                             .byte_offset = (uint64_t)o[k].first * t.bits / 8};
    }
    compute(o, rows, columns, n);
    OK(uf_call(functions[type], ARGS, args, NULL));
    for (int k = 0; k < ARGS; k++) {
        for (int64_t i = 0; i < o[k].size; i++)
            if (get(t, o[k].data + i * t.bits / 8) != o[k].block[i])
                fail_msg("operand %d of %s, n %lld, %lld x %lld calls, place %lld of %lld: %g, not %g", k,
                         kinds[type].name, (long long)n, (long long)rows, (long long)columns, (long long)i,
                         (long long)o[k].size, get(t, o[k].data + i * t.bits / 8), o[k].block[i]);
        free(o[k].block);
        free(o[k].data);
    }
}

static void any_order(void **state) {
    uf_func *functions[COUNT(kinds)];
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char signature[64];
        snprintf(signature, sizeof signature, "%s,%s->%s,%s", kinds[i].name, kinds[i].name, kinds[i].name,
                 kinds[i].name);
        OK(uf_guvectorize(&functions[i], "f", "(n,n),()->(n),()", signature, computing));
    }
    for (int64_t i = 0; i < trials(150); i++)
        try_one(functions);
    for (size_t i = 0; i < COUNT(kinds); i++)
        uf_free(functions[i]);
}

/* ---- Without memory ---- */

typedef struct last_products {
    uf_plan *p;
    void *data[3];
    int64_t good;     /* allocations that succeed before one fails */
    bool reached;     /* that one */
    uf_status status; /* of the run */
} last_products;

static void *without_memory(void *user) {
    last_products *x = user;
    allocation_fails_after(x->good);
    x->status = uf_plan_run(x->p, x->data, NULL);
    x->reached = allocations_succeed();
    return NULL;
}

/* A thread that has had no scratch memory yet, where the copies of large cores lie. */
static void scratch_memory_fails(void **state) {
    enum {
        CALLS = 300,
        N = 40
    };
    (void)state;
    last_products x = {.reached = true};
    uf_func *f;
    uf_options o = {.size = sizeof o, .threads = 1};
    int64_t shape[] = {CALLS, N, N}, strides[] = {1, N * CALLS, CALLS};
    DLTensor t[3];
    OK(uf_load(&f, "matmul"));
    for (int k = 0; k < 3; k++) {
        x.data[k] = calloc(CALLS * N * N, sizeof(double));
        assert_non_null(x.data[k]);
        t[k] = (DLTensor){.data = x.data[k],
                          .dtype = {kDLFloat, 64, 1},
                          .ndim = 3,
                          .shape = shape,
                          .strides = strides,
                          .device = {kDLCPU, 0}};
        for (int i = 0; i < CALLS * N * N && k < 2; i++)
            ((double *)x.data[k])[i] = 1;
    }
    OK(uf_plan_new(&x.p, f, 3, t, &o));
    for (x.good = 0; x.reached; x.good++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, without_memory, &x), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(x.status, x.reached ? UF_ERR_MEMORY : UF_OK);
    }
    assert_true(x.good > 1);
    assert_true(*(double *)x.data[2] == N);
    for (int k = 0; k < 3; k++)
        free(x.data[k]);
    uf_plan_free(x.p);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_chosen),    cmocka_unit_test(rows_unrolled),
                                       cmocka_unit_test(products_chosen), cmocka_unit_test(vectors),
                                       cmocka_unit_test(any_order),       cmocka_unit_test(scratch_memory_fails)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
