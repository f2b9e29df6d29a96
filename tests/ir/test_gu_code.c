/* test_gu_code.c - what the code of generalized ufuncs has: the loads, shuffles and meetings that it must have, and no others; staged
 * outputs are read only if need be; with sizes as constants all is in registers; the CPU's inner loops are vector loops;
 * traits say how constructs walk through memory; sequences and bodies in place change nothing.
 * UF_BLESS=1 rewrites the goldens in tests/ir. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gu_kernel.h"
#include "ir_check.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "rewrite.h"

static int occurrences(const char *where, const char *what) {
    int n = 0;
    for (const char *at = where; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* How many branches ask whether two integers of 64 bits are equal. */
static int branches_on_equal(const char *ir) {
    int n = 0;
    for (const char *at = ir; (at = strstr(at, "  br i1 %")); at++) {
        char name[32], is[64];
        sscanf(at, "  br i1 %31[^,]", name);
        snprintf(is, sizeof is, "  %s = icmp eq i64 ", name);
        n += strstr(ir, is) != NULL;
    }
    return n;
}

/* ---- What the PTX says ---- */

typedef struct fact {
    const char *kernel;
    int coop, lanes, along, vector, repeat;
    const char *what; /* of which there must be .. */
    int least, most;
} fact;

enum {
    ANY = 1 << 20
};

static const fact facts[] = {
    /* 16 bytes of read-only data at a time */
    {"matvec", 5, 3, 0, 4, 1, "ld.global.nc.v4.f32", 2, ANY},
    {"matvec", 5, 3, 0, 4, 4, "ld.global.nc.v4.f32", 5, ANY},
    {"matmul", 7, 0, 1, 2, 1, "ld.global.nc.v2.f64", 1, ANY},
    {"matmul", 7, 0, 1, 2, 1, "st.global.v2.f64", 1, ANY},
    {"norm", 8, 0, 0, 4, 4, "ld.global.nc.v4.f32", 4, ANY},
    {"outer", 8, 0, 0, 8, 1, "st.global.v4", 1, ANY},
    {"read_back", 8, 0, 0, 2, 1, "ld.global.v2.f64", 1, ANY}, /* an output: not by the read-only path */
    /* a look-up is a read of constant memory, and nothing lies on the stack */
    {"table", 0, 0, 0, 1, 1, "ld.global.nc.f32", 2, ANY},
    {"table", 0, 0, 0, 1, 1, "local", 0, 0},
    /* helpers that are called too often to be inlined are called */
    {"call_chain", 0, 0, 0, 1, 1, "call.uni", 2, 40},
    /* a body in place reads by vectors, and its constructs are mapped to threads */
    {"at", 5, 3, 0, 4, 1, "ld.global.nc.v4.f32", 2, ANY},
    {"fill", 5, 3, 0, 4, 1, "ld.global.nc.v4.f32", 2, ANY},
    {"fill", 8, 5, 0, 4, 1, "shfl.sync", 5, ANY},
    /* meetings: only where something could be read or overwritten */
    {"matvec", 8, 5, 0, 4, 1, "bar", 0, 0},
    {"matvec", 8, 5, 0, 4, 1, "shfl.sync", 5, ANY},
    {"matvec", 8, 0, 1, 4, 2, "shfl.sync", 0, 0},
    {"matvec", 3, 0, 0, 1, 1, "shfl.sync", 0, 0},
    {"matvec", 0, 0, 0, 1, 1, "shfl", 0, 0},
    {"matvec", 0, 0, 0, 1, 1, "bar", 0, 0},
    {"outer", 10, 0, 0, 8, 2, "bar", 0, 0},
    {"norm", 5, 0, 0, 1, 1, "shfl.sync.bfly", 5, ANY},
    {"norm", 5, 0, 0, 1, 1, "bar.sync", 0, 0},
    {"softmax", 8, 0, 0, 4, 1, "bar.sync", 2, ANY},
    {"read_back", 8, 0, 0, 2, 1, "bar.sync", 3, ANY},
    {"read_back", 4, 0, 0, 2, 1, "bar.warp.sync", 2, ANY},
    {"scatter", 8, 0, 0, 1, 1, "bar.sync", 1, ANY},
    {"scatter", 5, 0, 0, 1, 1, "bar.warp.sync", 1, ANY},
    {"rounds", 8, 0, 0, 1, 1, "bar.sync", 1, ANY},
    {"read_back", 11, 0, 0, 2, 1, "membar.gl", 1, ANY},
    {"matvec", 11, 5, 0, 4, 1, "membar.gl", 0, 0},
    /* of a row that reads what it has stored no two threads know */
    {"own_store", 5, 5, 0, 1, 1, "shfl.sync", 0, 0},
    {"update", 5, 5, 0, 1, 1, "shfl.sync", 5, ANY},
};

static void test_ptx(void **state) {
    (void)state;
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(facts); i++) {
        const fact *f = &facts[i];
        const gu_kernel *k = gu_kernel_of(f->kernel);
        arena a = {0};
        const tree *t = gu_tree(&a, k);
        variant v = gu_variant(t, f->coop, f->lanes, f->vector, f->repeat);
        v.gufunc.along = (uint8_t)f->along;
        code_module m = gu_generate(&a, k, t, &v, &gu_gpu);
        const char *ptx = "", *wrong = nvvm_judge(&m, 90, false, &ptx);
        int n = wrong ? 0 : occurrences(ptx, f->what);
        if (wrong || n < f->least || n > f->most) {
            if (getenv("SHOW_IR"))
                puts(wrong ? m.ir.data : ptx);
            gu_describe(k, &v);
            fail_msg("fact %zu: %s is there %d times; %s", i, f->what, n, wrong ? wrong : "");
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- Staged outputs: copied in unless all is assigned and nothing read ---- */

static void test_staged(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int copies; /* of x in, of y out, of y in */
    } cases[] = {
        {"(x) -> (y) { forall (i : n) y[i] = x[i]; }", 2},
        {"(x) -> (y) { { forall (i : n) { y[i] = x[i]; } } }", 2},
        {"(x) -> (y) { forall (i : n) y[i] = y[i] + x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) y[i] += x[i]; }", 3},
        {"(x) -> (y) { forall (i : n - 1) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) y[n - 1 - i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : -1) y[i] = x[i]; }", 3},
        {"(x) -> (y) { if (x[0] > 0) return; forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { { if (x[0] > 0) { return; } } forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { if (x[0] > 0) forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) if (x[i] > 0) y[i] = x[i]; }", 3},
        {"(x) -> (y) { for (int64 t = 0; t < n; t++) forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { auto s = sum(i : n, y[i]); forall (i : n) y[i] = s; }", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"staged", "(n)->(n)", cases[i].source, "float32->float32"};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        v.operand[0].staged = v.operand[1].staged = 1;
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        int n = branches_on_equal(m.ir.data); /* of each copy, on its alignment */
        if (n != cases[i].copies)
            fail_msg("%s: %d copies, not %d", k.source, n, cases[i].copies);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* An input that is staged whole is copied by vectors if it has a unit dimension, of which alone `aligned` speaks: coefficients beside a row,
 * five to a call, lie anywhere. */
static void test_staged_whole(void **state) {
    (void)state;
    const gu_kernel k = {"coefficients", "(n),(k)->(n)",
                         "(x, c) -> (y) { auto s = sum(i : n, x[i] * c[0]); forall (i : n) y[i] = x[i] * c[1] + s; }",
                         "float32,float32->float32"};
    for (int unit = 0; unit < 2; unit++) {
        arena a = {0};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 7, 0, 4, 1);
        v.operand[0].unit = v.operand[2].unit = 1;
        v.operand[1].unit = (uint8_t)unit;
        v.operand[0].staged = v.operand[1].staged = 1;
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        int by_vectors = occurrences(m.ir.data, "cp.async.cg.shared.global");
        v.operand[1].staged = 0;
        code_module one = gu_generate(&a, &k, t, &v, &gu_gpu);
        int of_x = occurrences(one.ir.data, "cp.async.cg.shared.global");
        assert_true(of_x > 0 && by_vectors == (unit ? 2 * of_x : of_x));
        text_free(&m.ir);
        text_free(&one.ir);
        arena_free(&a);
    }
}

/* ---- Instructions ---- */

/* Halves go by pairs, and a maximum is one instruction; where an architecture has neither, and of other types, they are spelled out. */
static void test_instructions(void **state) {
    static const code_target older = {.gpu = true, .arch = 75};
    static const struct {
        const char *types;
        const code_target *target;
        int extremes, pairs; /* is there an instruction for the maximum; conversions of pairs in one access */
    } cases[] = {{"bfloat16->bfloat16", &gu_gpu, 1, 4},
                 {"bfloat16->bfloat16", &older, 0, 0},
                 {"float32->float32", &gu_gpu, 1, 0},
                 {"float64->float64", &gu_gpu, 0, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"instructions", "(n)->(n)",
                       "(x) -> (y) { auto top = max(i : n, x[i]); forall (i : n) y[i] = x[i] - top; }", cases[i].types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 6, 0, 8, 1);
        code_module m = gu_generate(&a, &k, t, &v, cases[i].target);
        int pairs = occurrences(m.ir.data, "cvt.rn.bf16x2.f32");
        if ((occurrences(m.ir.data, "max.NaN.f32") > 0) != cases[i].extremes || pairs != cases[i].pairs)
            fail_msg("%s: %d pairs", k.types, pairs);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* How many blocks should fit a multiprocessor is said where threads hold columns, and rows of two-word elements, and where a grid has columns side by side, and nowhere
 * else. */
static void test_resident(void **state) {
    static const struct {
        const char *types;
        int across, held, calls, coop;
        const char *says;
        int words; /* of elements of two calls: the reduction of each takes them apart, and the forall of both */
    } cases[] = {{"float64->float64", 0, 4, 0, 3, "!\"minctasm\", i32 3", 0},
                 {"float32->float32", 0, 4, 0, 3, NULL, 0},
                 {"float64->float64", 0, 0, 0, 3, NULL, 0},
                 {"float32->float32", 5, 4, 0, 3, "!\"minctasm\", i32 4", 0},
                 {"bfloat16->bfloat16", 5, 32, 1, 3, "!\"minctasm\", i32 3", 32},
                 {"bfloat16->bfloat16", 5, 24, 1, 3, "!\"minctasm\", i32 3", 0},
                 {"bfloat16->bfloat16", 5, 24, 1, 4, "!\"minctasm\", i32 2", 24},
                 {"bfloat16->bfloat16", 5, 16, 1, 4, "!\"minctasm\", i32 2", 0},
                 {"uint8->uint8", 5, 32, 1, 3, "!\"minctasm\", i32 3", 0},
                 {"float32->float32", 5, 0, 0, COOP_GRID, "!\"minctasm\", i32 2", 0},
                 {"float32->float32", 0, 0, 0, COOP_GRID, NULL, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"resident", "(n)->(n)",
                       "(x) -> (y) { auto top = max(i : n, x[i]); forall (i : n) y[i] = x[i] - top; }", cases[i].types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, cases[i].coop, 0, cases[i].across ? 1 : 2, 1);
        v.gufunc.across = (uint8_t)cases[i].across;
        v.gufunc.held = (uint8_t)cases[i].held;
        v.gufunc.calls = (uint8_t)cases[i].calls;
        v.operand[0].held = cases[i].held > 0;
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        const char *found = strstr(m.ir.data, "!\"minctasm\"");
        if (cases[i].says ? !found || !strstr(found, cases[i].says) : found != NULL)
            fail_msg("case %zu: %.40s", i, found ? found : "nothing is said");
        assert_int_equal(occurrences(m.ir.data, "asm sideeffect \"\", \"=r,0\""), 3 * cases[i].words);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Rows in shared memory, of a kernel with weights beside them. */
typedef struct staged_rows {
    bool pieces, fine, shifted, apart; /* shifted, apart: the weights are loaded shifted; they do not go by vectors */
    int coop, cluster;
} staged_rows;

static code_module generate_rows(arena *a, staged_rows r) {
    gu_kernel k = {"rows", "(n),(n)->(n)",
                   "(x, w) -> (y) { auto top = max(i : n, x[i]); forall (i : n) y[i] = (x[i] - top) * w[i]; }",
                   "float32,float32->float32"};
    const tree *t = gu_tree(a, &k);
    variant v = gu_variant(t, r.coop, 0, 4, 1);
    v.operand[0].staged = 1;
    v.gufunc.pieces = r.pieces;
    v.gufunc.fine = r.fine;
    v.gufunc.cluster = (uint8_t)r.cluster;
    v.operand[1].shifted = r.shifted;
    v.operand[1].unit = !r.apart;
    return gu_generate(a, &k, t, &v, &gu_gpu);
}

/* In shared memory there is room for some blocks, which may then have the registers that there are. */
static void test_resident_rows(void **state) {
    static const struct {
        staged_rows rows;
        const char *says;
    } cases[] = {{{.pieces = true, .coop = 8}, "!\"minctasm\", i32 2"},
                 {{.pieces = true, .coop = COOP_GRID}, "!\"minctasm\", i32 2"},
                 {{.pieces = true, .coop = COOP_GRID, .fine = true}, NULL},
                 {{.pieces = true, .coop = 8, .cluster = 2}, NULL},
                 {{.pieces = true, .coop = 8, .cluster = 2, .shifted = true}, "!\"minctasm\", i32 4"},
                 {{.coop = 8}, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_module m = generate_rows(&a, cases[i].rows);
        const char *found = strstr(m.ir.data, "!\"minctasm\"");
        if (cases[i].says ? !found || !strstr(found, cases[i].says) : found != NULL)
            fail_msg("case %zu: %.40s", i, found ? found : "nothing is said");
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Threads that read what they copied themselves do not wait for each other: of the four barriers around the copy and in the reduction two
 * are left, and one that only later calls of a block get to. A forall whose threads take other elements than they copied needs them, and
 * one of its own. In a cluster there are no later calls. */
static void test_own_copies(void **state) {
    static const struct {
        staged_rows rows;
        int barriers;
    } cases[] = {{{.coop = 8}, 4},
                 {{.pieces = true, .coop = 8}, 3},
                 {{.pieces = true, .coop = 8, .shifted = true}, 3},
                 {{.pieces = true, .coop = 8, .cluster = 1}, 0},
                 {{.pieces = true, .coop = 8, .apart = true}, 5}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_module m = generate_rows(&a, cases[i].rows);
        int barriers = 0;
        for (const char *at = m.ir.data; (at = strstr(at, "call void @llvm.nvvm.barrier0()")); at++)
            barriers++;
        if (barriers != cases[i].barriers)
            fail_msg("case %zu: %d barriers", i, barriers);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- Sizes as constants ---- */

/* Unrolled kernels have no array in memory, whatever their indices are, and no loop; staged cores move by 16 bytes. */
static void test_registers(void **state) {
    (void)state;
    static const char *const names[] = {"matmul",  "matvec", "scatter",      "rounds",         "local_array",
                                        "checked", "early",  "shared_array", "complex_matmul", "plain_loop"};
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(names); i++) {
        arena a = {0};
        const gu_kernel *k = gu_kernel_of(names[i]);
        const tree *t = gu_tree(&a, k);
        variant v = gu_unrolled(t, 4);
        code_module m = gu_generate(&a, k, t, &v, &gu_gpu);
        const char *ptx = "", *wrong = nvvm_judge(&m, 90, true, &ptx);
        if (wrong || strstr(ptx, ".local") || !strstr(ptx, "ld.global.nc.v4.u32"))
            fail_msg("%s: %s\n%s", k->name, wrong ? wrong : "", ptx);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* An output is read only if the kernel might read an element, or leave it out, before it assigns it. */
static void test_content(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int copies; /* of x in, of y out, of y in */
    } cases[] = {
        {"(x) -> (y) { forall (i : n) y[n - 1 - i] = x[i]; }", 2},
        {"(x) -> (y) { for (int64 i = 0; i < n; i++) { y[i] = x[i]; y[i] += y[0]; } }", 2},
        {"(x) -> (y) { if (x[0] > 0) { y[0] = 1; y[1] = 2; y[2] = 3; } else forall (i : n) y[i] = x[i]; }", 2},
        {"(x) -> (y) { if (x[0] > 0) { y[0] = 1; y[2] = 3; } else forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n - 1) y[i] = x[i]; }", 3},
        {"(x) -> (y) { if (x[0] > 0) return; forall (i : n) y[i] = x[i]; }", 3},
        {"(x) -> (y) { forall (i : n) if (x[i] > 0) y[i] = x[i]; }", 3},
        {"(x) -> (y) { y[0] = 1; y[1] = y[2]; y[2] = 1; }", 3},
        {"(x) -> (y) { forall (i : n) y[(int64)x[i]] = x[i]; }", 3},
        {"(x) -> (y) { switch ((int64)x[0]) { case 1: y[0] = 1; default: y[1] = 2; } y[2] = y[0] = 0; }", 2},
        {"(x) -> (y) { for (int64 i = 0; i < n; i++) { if (x[i] > 1) break; y[i] = 0; } }", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"content", "(n)->(n)", cases[i].source, "float32->float32"};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_unrolled(t, 3);
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        int n =
            occurrences(m.ir.data, "load <4 x i32>, <4 x i32> addrspace(1)*") + 1; /* of each copy in, and one out */
        if (n != cases[i].copies)
            fail_msg("%s: %d copies, not %d", k.source, n, cases[i].copies);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* What is measured is the same each time; loops that data ends, or nothing, are refused, and so is what is long. */
static void test_unrolled(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int least, most;
    } cases[] = {
        {"(x) -> (y) { forall (i : n) y[i] = x[i] + 1; }", 8, 200},
        {"(x) -> (y) { int64 i = 0; do { y[i] = x[i]; i += 2; } while (i < n); }", 8, 200},
        {"(x) -> (y) { for (int64 i = n - 1; i >= 0; i--) for (int64 j = i; j; j--) y[i] += x[j]; }", 30, 800},
        {"(x) -> (y) { int64 i = 0; while (x[i] > 0) i++; y[0] = i; }", INT32_MAX, INT32_MAX},
        {"(x) -> (y) { forall (i : (int64)x[0]) y[i] = 1; }", INT32_MAX, INT32_MAX},
        {"(x) -> (y) { for (;;) if (x[0] > 1) { y[0] = 1; break; } }", INT32_MAX, INT32_MAX},
        {"(x) -> (y) { for (int64 i = 0; i < 100000; i++) for (int64 j = 0; j < 100000; j++) y[0] += 1; }", INT32_MAX,
         INT32_MAX},
        {"(x) -> (y) { y[0] = sum(i : 100, j : 100, x[i % n] * j); }", INT32_MAX, INT32_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"unrolled", "(n)->(n)", cases[i].source, "float32->float32"};
        const tree *t = gu_tree(&a, &k);
        const int64_t sizes[] = {8};
        int lines = ir_unrolled(&a, t, sizes, 4000);
        assert_int_equal(lines, ir_unrolled(&a, t, sizes, 4000));
        if (lines < cases[i].least || lines > cases[i].most)
            fail_msg("%s: %d lines", k.source, lines);
        arena_free(&a);
    }
}

/* Dimensions along which threads may share a call: ranges of all foralls, whose variables are their indices and nothing else, of a kernel
 * that assigns each element of its outputs once and reads none. Bits, in the order m, n, p. */
static void test_separable(void **state) {
    (void)state;
    static const struct {
        const char *layout, *source;
        int separable;
    } cases[] = {
        {"(m,n),(n,p)->(m,p)", "(a, b) -> (c) { forall (i : m, j : p) c[i][j] = sum(k : n, a[i][k] * b[k][j]); }", 5},
        {"(m,n),(p,n)->(m,p)", "(a, b) -> (c) { forall (j : p, i : m) c[i][j] = sum(k : n, a[i][k] * b[j][k]); }", 5},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) c[i][j] = a[i] * b[j]; }", 3},
        {"(m,n)->(m,n)", "(a) -> (c) { forall (i : m, j : n) c[i][j] = a[i][j] / sum(k : n, a[i][k]); }", 1},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) c[i][j] = a[i] * j; }", 1},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) c[i][j] = a[i] * n; }", 1},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) c[i][j] = a[i] * b[0]; }", 1},
        {"(m),(m)->(m,m)", "(a, b) -> (c) { forall (i : m, j : m) c[i][j] = a[i] * b[j]; }", 0},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) c[i][j] += a[i] * b[j]; }", 0},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) c[i][n - 1 - j] = a[i] * b[j]; }", 0},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m, j : n) if (a[i] > 0) c[i][j] = a[i] * b[j]; }", 0},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { forall (i : m) c[i][0] = a[i] * b[0]; }", 0},
        {"(m),(n)->(m,n)", "(a, b) -> (c) { auto t = b[0]; forall (i : m, j : n) c[i][j] = a[i] * t; }", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"separable", cases[i].layout, cases[i].source,
                       strstr(cases[i].layout, "),(") ? "float32,float32->float32" : "float32->float32"};
        code_traits traits;
        ir_traits(gu_tree(&a, &k), &traits);
        if (traits.separable != cases[i].separable)
            fail_msg("%s: %d, not %d", k.source, traits.separable, cases[i].separable);
        arena_free(&a);
    }
}

/* Products along vectors: whole ones, and a shorter last one; rows share them. The vectors go along either range, by strides that are known if there
 * are no gaps. */
static void test_columns(void **state) {
    (void)state;
    arena a = {0};
    const gu_kernel *k = gu_kernel_of("matmul");
    const tree *t = gu_tree(&a, k);
    code_traits traits;
    ir_traits(t, &traits);
    assert_int_equal(traits.columns, 3);
    for (int columns = 1; columns <= 2; columns++)
        for (int fixed = 0; fixed < 2; fixed++) {
            variant v = gu_unrolled(t, 7);
            v.gufunc.unrolled = 0;
            v.gufunc.columns = (uint8_t)columns;
            for (int o = 0; o < 3; o++) {
                v.operand[o].unit = (uint8_t)(3 - columns);
                v.operand[o].staged = 0;
                v.operand[o].fixed = (uint8_t)fixed;
            }
            code_module m = gu_generate(&a, k, t, &v, &gu_cpu);
            for (int i = 0; i < judge_count(); i++)
                assert_null(judge_ir(i, m.ir.data));
            assert_int_equal(occurrences(m.ir.data, "alloca <4 x double>"), 6);
            assert_int_equal(occurrences(m.ir.data, "alloca <3 x double>"), 6);
            assert_null(strstr(m.ir.data, "llvm.vector"));
            assert_int_equal(strstr(m.ir.data, ", %s") == NULL, fixed); /* strides */
            text_free(&m.ir);
        }
    static const struct {
        const char *name;
        int columns,
            along
                [3]; /* which ranges can be the columns: bits; along which dimension of each operand the last one goes then */
    } known[] = {{"matmul", 3, {0, 2, 2}}, {"vecmat", 1, {0, 2, 1}}, {"matvec", 1, {1, 0, 1}}};
    for (size_t i = 0; i < COUNT(known); i++) {
        ir_traits(gu_tree(&a, gu_kernel_of(known[i].name)), &traits);
        assert_int_equal(traits.columns, known[i].columns);
        for (int o = 0; o < 3; o++)
            assert_int_equal(traits.column_of[0][o], known[i].along[o]);
    }
    static const char *const others[] = {"complex_matmul", "conditional", "plain_loop", "layer"};
    for (size_t i = 0; i < COUNT(others); i++) {
        ir_traits(gu_tree(&a, gu_kernel_of(others[i])), &traits);
        assert_false(traits.columns);
    }
    arena_free(&a);
}

/* Where processors have masks, a vector whose length would take several accesses is accessed by one; two halves of a long one are not. */
static void test_masked_columns(void **state) {
    (void)state;
    static const struct {
        int n;
        const char *masked; /* lanes of the masked vector; NULL: there is none */
    } cases[] = {{3, "v4f64"}, {4, NULL}, {5, NULL}, {6, NULL}, {7, "v8f64"}, {8, NULL}, {11, "v4f64"}, {23, "v8f64"}};
    static const code_target wide = {.vector_bits = 512, .f16c = true};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const gu_kernel *k = gu_kernel_of("matmul");
        const tree *t = gu_tree(&a, k);
        variant v = gu_unrolled(t, cases[i].n);
        v.gufunc.unrolled = 0;
        v.gufunc.columns = 1;
        code_module m = gu_generate(&a, k, t, &v, &wide);
        for (int j = 0; j < judge_count(); j++)
            assert_null(judge_ir(j, m.ir.data));
        const char *load = strstr(m.ir.data, "llvm.masked.load."), *store = strstr(m.ir.data, "llvm.masked.store.");
        if (cases[i].masked) {
            assert_non_null(load);
            assert_non_null(store);
            assert_memory_equal(load + strlen("llvm.masked.load."), cases[i].masked, strlen(cases[i].masked));
        } else {
            assert_null(load);
            assert_null(store);
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Loops that call math functions: by vectors of 512 bits there are two, one of several vectors at a time and one with conditions for lanes; else
 * halves say how many lanes the functions have. The stack has room for vectors in one piece. Not where a loop is inside, a local array is read, or nothing is called. */
static void test_math_loops(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        gu_kernel k;
        int bits, lanes, at_once; /* 0: nothing is said */
        bool two;
    } cases[] = {
        {{"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float16->float16"}, 512, 16, 4, true},
        {{"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float16->float16"}, 256, 8, 0, false},
        {{"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float32->float32"}, 512, 16, 4, true},
        {{"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float32->float32"}, 256, 8, 4, true},
        {{"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float32->float32"}, 128, 0, 0, false},
        {{"exps", "(n)->()", "(x) -> (y) { y = sum(i : n, exp(x[i])); }", "float64->float64"}, 512, 8, 4, true},
        {{"both", "(n)->()", "(x) -> (y) { y = sum(i : n, exp(x[i]) * log(x[i])); }", "float64->float64"},
         512,
         8,
         2,
         true},
        {{"inside", "(m,n)->(m)", "(A) -> (y) { forall (i : m) y[i] = exp(sum(j : n, A[i][j])); }", "float32->float32"},
         512,
         0,
         0,
         false},
        {{"twice", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = 2 * x[i]; }", "float16->float16"},
         512,
         0,
         0,
         false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const code_target target = {.vector_bits = cases[i].bits, .f16c = true};
        const tree *t = gu_tree(&a, &cases[i].k);
        variant v = gu_variant(t, 1, 0, 1, 1);
        code_module m = gu_generate(&a, &cases[i].k, t, &v, &target);
        char lanes[64], at_once[64], aligned[32];
        snprintf(aligned, sizeof aligned, "alignstack(%d)", cases[i].bits / 8);
        snprintf(lanes, sizeof lanes, "llvm.loop.vectorize.width\", i32 %d}", cases[i].lanes ? cases[i].lanes : 16);
        snprintf(at_once, sizeof at_once, "llvm.loop.interleave.count\", i32 %d}",
                 cases[i].at_once ? cases[i].at_once : 4);
        if (occurrences(m.ir.data, lanes) != (cases[i].lanes ? 1 + cases[i].two : 0) ||
            occurrences(m.ir.data, at_once) != (cases[i].at_once > 0) ||
            occurrences(m.ir.data, "interleave.count\", i32 1}") != cases[i].two ||
            occurrences(m.ir.data, aligned) != (strcmp(cases[i].k.name, "twice") != 0))
            fail_msg("%s of %s\n%s", cases[i].k.name, cases[i].k.types, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Loops along short rows take vectors of so many lanes, unless LLVM would reorder what must not be, or there is no row. */
static void test_short_rows(void **state) {
    (void)state;
    static const struct {
        gu_kernel k;
        bool said;
    } cases[] = {
        {{"sums", "(n)->()", "(x) -> (y) { y = sum(i : n, x[i]); }", "float64->float64"}, true},
        {{"both", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = 2 * x[i]; }", "float32->float32"}, true},
        {{"ints", "(n)->()", "(x) -> (y) { y = prod(i : n, x[i]); }", "int32->int32"}, true},
        {{"prods", "(n)->()", "(x) -> (y) { y = prod(i : n, x[i]); }", "float64->float64"}, false},
        {{"down", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = 2 * x[n - 1 - i]; }", "float32->float32"}, false},
        {{"trace", "(n,n)->()", "(x) -> (y) { y = sum(i : n, x[i][i]); }", "float64->float64"}, false},
        {{"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float32->float32"}, false}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int lanes = 0; lanes < 3; lanes++) {
            arena a = {0};
            const code_target target = {.vector_bits = 256, .f16c = true};
            const tree *t = gu_tree(&a, &cases[i].k);
            variant v = gu_variant(t, 0, lanes, 1, 1);
            code_module m = gu_generate(&a, &cases[i].k, t, &v, &target);
            char hint[64];
            snprintf(hint, sizeof hint, "llvm.loop.vectorize.width\", i32 %d}", 1 << lanes);
            if ((strstr(m.ir.data, hint) != NULL) != (lanes && cases[i].said))
                fail_msg("%s, %d lanes\n%s", cases[i].k.name, 1 << lanes, m.ir.data);
            text_free(&m.ir);
            arena_free(&a);
        }
}

/* Loops with functions of vectors take four vectors at once, but of short rows one, where conditions for the lanes of what is left take long. */
static void test_short_rows_of_math(void **state) {
    (void)state;
    gu_kernel k = {"exps", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = exp(x[i]); }", "float32->float32"};
    for (int i = 0; i < 4; i++) {
        arena a = {0};
        bool wide = i % 2, is_short = i / 2;
        const code_target target = {.vector_bits = wide ? 512 : 256, .f16c = true};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 0, is_short ? 2 : 0, 1, 1);
        code_module m = gu_generate(&a, &k, t, &v, &target);
        if ((strstr(m.ir.data, "interleave.count\", i32 4}") != NULL) != (wide || !is_short))
            fail_msg("%d bits, %s rows\n%s", target.vector_bits, is_short ? "short" : "long", m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Sums of no terms fetch nothing. */
static void test_no_terms(void **state) {
    (void)state;
    arena a = {0};
    gu_kernel k = {"none", "(m,n),(n,p)->(m,p)",
                   "(a, b) -> (c) { forall (i : m, j : p) c[i][j] = sum(k : 0, a[i][k] * b[k][j]); }",
                   "float64,float64->float64"};
    const tree *t = gu_tree(&a, &k);
    variant v = gu_unrolled(t, 64);
    v.gufunc.unrolled = 0;
    v.gufunc.columns = 1;
    code_module m = gu_generate(&a, &k, t, &v, &gu_cpu);
    for (int j = 0; j < judge_count(); j++)
        assert_null(judge_ir(j, m.ir.data));
    assert_null(strstr(m.ir.data, "llvm.prefetch"));
    text_free(&m.ir);
    arena_free(&a);
}

/* What lies behind operands that the nearest cache does not hold is fetched: three of 37 x 37 float64 are more than 32 KiB. */
static void test_fetched_columns(void **state) {
    (void)state;
    for (int n = 36; n <= 37; n++) {
        arena a = {0};
        const gu_kernel *k = gu_kernel_of("matmul");
        const tree *t = gu_tree(&a, k);
        variant v = gu_unrolled(t, n);
        v.gufunc.unrolled = 0;
        v.gufunc.columns = 1;
        code_module m = gu_generate(&a, k, t, &v, &gu_cpu);
        for (int j = 0; j < judge_count(); j++)
            assert_null(judge_ir(j, m.ir.data));
        assert_int_equal(occurrences(m.ir.data, "call void @llvm.prefetch"), n == 37 ? 3 : 0); /* of each operand */
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* ---- The CPU's inner loops ---- */

static void test_cpu_vectors(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        gu_kernel k;
        int along;
        const char *packed[2];
    } loops[] = {
        {{"matvec", "(m,n),(n)->(m)", "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }",
          "float32,float32->float32"},
         0,
         {"vfmadd231ps", "%ymm"}},
        {{"vecmat", "(m),(m,n)->(n)", "(x, A) -> (y) { forall (j : n) y[j] = sum(i : m, x[i] * A[i][j]); }",
          "float64,float64->float64"},
         1,
         {"vfmadd", "pd"}},
        {{"matmul", "(m,n),(n,p)->(m,p)",
          "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]) + 1; }",
          "float32,float32->float32"},
         1,
         {"vfmadd", "ps"}},
        {{"total", "(n)->()", "(x) -> (s) { s = sum(i : n, x[i]); }", "float32->float32"}, 0, {"vaddps", "%ymm"}},
        {{"largest", "(n)->()", "(x) -> (s) { s = max(i : n, x[i]); }", "float32->float32"}, 0, {"vblendvps", "%ymm"}},
        {{"integers", "(n)->()", "(x) -> (s) { s = sum(i : n, x[i]); }", "int32->int64"}, 0, {"vpaddq", "%ymm"}},
        {{"columns", "(m,n)->(n)", "(A) -> (y) { forall (j : n) y[j] = max(i : m, A[i][j]); }", "float32->float32"},
         1,
         {"vblendvps", "%ymm"}},
        {{"scale", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = x[i] * 2; }", "float32->float32"},
         0,
         {"vaddps", "%ymm"}},
    };
    for (size_t i = 0; i < COUNT(loops); i++) {
        if (loops[i].along && tree_rewrites_plainly)
            continue; /* loops are not interchanged around a reduction in a sequence */
        arena a = {0};
        const tree *t = gu_tree(&a, &loops[i].k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        v.gufunc.along = (uint8_t)loops[i].along;
        code_module m = gu_generate(&a, &loops[i].k, t, &v, &gu_cpu);
        for (int j = 0; j<judge_count(); j += judge_count()> 1 ? judge_count() - 1 : 1) {
            const char *assembly = judge_assembly(j, m.ir.data, "haswell", "");
            const char *packed = loops[i].packed[0];
            bool found = false;
            bool apart = tree_rewrites_plainly && !strncmp(packed, "vfmadd", strlen("vfmadd"));
            packed = apart ? "vmulp" : packed; /* only a product that is itself the term is rounded with the sum */
            for (const char *at = assembly; !found && (at = strstr(at, packed)); at++) {
                const char *end = strchr(at, '\n'), *other = strstr(at, loops[i].packed[1]);
                found = other && other < end && memchr(at, '%', (size_t)(end - at)) && strstr(at, "%ymm") < end;
            }
            if (!found) {
                if (getenv("SHOW_IR"))
                    puts(assembly);
                fail_msg("%s, %s: no %s .. %s", judge_name(j), loops[i].k.name, packed, loops[i].packed[1]);
            }
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Terms of a reduction that the forall behind it computes again are kept in the output, if that holds them as they are, and nothing behind the
 * reduction reads an input, which may be the output. Of a maximum the term is written three times. */
static void test_kept_terms(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        const char *source, *types;
        int unit; /* of the output: calls are in strips if it is 2 */
        int calls;
    } cases[] = {
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", "float32->float32", 1,
         1},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", "float64->float64", 1,
         1},
        {"(x) -> (y) { float t; t = 1 / max(k : n, exp(x[k])); forall (i : n) y[i] = exp(x[i]) * t; }",
         "float32->float32", 1, 3},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", "float16->float16", 1,
         2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", "float32->float32", 0,
         2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) * x[i] / t; }",
         "float32->float32", 1, 2},
        {"(x) -> (y) { auto t = x[0] * sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }",
         "float32->float32", 1, 2},
        {"(x) -> (y) { auto t = x[0] > 0 ? sum(i : n, exp(x[i])) : 1; forall (i : n) y[i] = exp(x[i]) / t; }",
         "float32->float32", 1, 2},
        {"(x) -> (y) { float u = 1; auto t = sum(i : n, exp(x[i] - u)) * (u = 2); forall (i : n) y[i] = exp(x[i] - u) "
         "/ t; }",
         "float32->float32", 1, 2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); t += 1; forall (i : n) y[i] = exp(x[i]) / t; }",
         "float32->float32", 1, 2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[n - 1 - i] = exp(x[i]) / t; }",
         "float32->float32", 1, 2},
        {"(x) -> (y) { auto t = sum(i : n / 2, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", "float32->float32",
         1, 2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", "float32->float32", 2,
         1},
        {"(x) -> (y) { auto top = max(i : n, x[i]); auto t = 1 / sum(j : n, exp(x[j] - top)); forall (i : n) y[i] = "
         "exp(x[i] - top) * t; }",
         "float64->float64", 2, 1},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); t = t + 1; forall (i : n) y[i] = exp(x[i]) / t; }",
         "float32->float32", 2, 2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) * x[i] / t; }",
         "float32->float32", 2, 2},
        {"(x) -> (y) { float t = 1; t = sum(i : n, exp(x[i] - t)); forall (i : n) y[i] = exp(x[i] - t); }",
         "float32->float32", 2, 2},
        {"(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n, j : 1) y[i] = exp(x[i]) / t; }",
         "float32->float32", 2, 2},
        {"(x) -> (y) { float t = 1; t = sum(i : n, exp(x[i] - t)); forall (i : n) y[i] = exp(x[i] - t); }",
         "float32->float32", 1, 2},
    };
    const code_target target = {.vector_bits = 128,
                                .f16c = true}; /* of wider vectors loops are in two parts, each with a call */
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const gu_kernel k = {"kept", "(n)->(n)", cases[i].source, cases[i].types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        v.operand[1].unit = (uint8_t)cases[i].unit;
        v.gufunc.strips = cases[i].unit == 2;
        v.operand[0].unit = v.gufunc.strips ? 2 : v.operand[0].unit;
        code_module m = gu_generate(&a, &k, t, &v, &target);
        if (occurrences(m.ir.data, " @m_exp_f32(float %r") + occurrences(m.ir.data, " @m_exp_f64(double %r") !=
            cases[i].calls)
            fail_msg("%s of %s\n%s", cases[i].source, cases[i].types, m.ir.data);
        for (int j = 0; j < judge_count(); j++)
            assert_null(judge_ir(j, m.ir.data));
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Lanes of a maximum are combined by one loop and then without one: LLVM takes its time for every loop. Where vectors have conditions they take what is
 * left, too, and the last lanes are combined by vectors; not of a helper of the program's. */
static void test_lanes_combined(void **state) {
    (void)state;
    enum {
        FIRST_TERMS = 1,
        OTHER_TERMS = 1,
        LANES = 1,
        HALVES = 2 /* of the last 16 lanes, down to four */
    };
    static const struct {
        gu_kernel k;
        int bits, loops;
    } cases[] = {
        {{"largest", "(n)->()", "(x) -> (s) { s = max(i : n, x[i]); }", "float32->float32"},
         128,
         FIRST_TERMS + OTHER_TERMS + LANES},
        {{"largest", "(n)->()", "(x) -> (s) { s = max(i : n, x[i]); }", "int32->int32"},
         256,
         FIRST_TERMS + OTHER_TERMS + LANES},
        {{"largest", "(n)->()", "(x) -> (s) { s = max(i : n, x[i]); }", "float32->float32"},
         256,
         FIRST_TERMS + 2 * OTHER_TERMS + LANES + HALVES},
        {{"largest", "(n)->()", "(x) -> (s) { s = max(i : n, x[i]); }", "float32->float32"},
         512,
         FIRST_TERMS + 2 * OTHER_TERMS + LANES + HALVES},
        {{"own", "(n)->()", "own(a, b) { return a > b ? a : b; } (x) -> (s) { s = reduce(own, i : n, x[i]); }",
          "float32->float32"},
         512,
         FIRST_TERMS + OTHER_TERMS + LANES},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const code_target target = {.vector_bits = cases[i].bits};
        const tree *t = gu_tree(&a, &cases[i].k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        code_module m = gu_generate(&a, &cases[i].k, t, &v, &target);
        if (occurrences(m.ir.data, "llvm.loop.parallel_accesses") != cases[i].loops)
            fail_msg("%s by %d bits\n%s", cases[i].k.name, cases[i].bits, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Loops along a dimension whose stride is a parameter, and so not 1, are no vector loops, those over lanes neither, and there are no lanes
 * for an extremum of what a loop leaves of a column. Nor are loops in which an element stays that moves along the loop around them, unless it can
 * be read before, and loops over calls in which a `for` or `forall` is as long as sizes say. Where an element is not the one next to the last, LLVM does not ask for its
 * stride. */
static void test_walks_apart(void **state) {
    (void)state;
    enum {
        CALLS = 1,
        LANES = 2,
        LAST = 1, /* lanes that are combined */
        ALONE = 1
    };
    static const struct {
        gu_kernel k;
        int apart, vectors; /* loops that are, and are not, told to be none of vectors */
    } cases[] = {
        {{"along", "(m,n)->(m)", "(A) -> (y) { forall (i : m) y[i] = max(j : n, A[i][j]); }", "float32->float32"},
         ALONE + CALLS,
         LANES + LAST},
        {{"across", "(m,n)->()", "(A) -> (s) { s = max(i : m, A[i][0]); }", "float32->float32"}, LANES + ALONE, LAST},
        {{"shifted", "(m,n)->()", "(A) -> (s) { for (int64 k = 1; k < n; k++) s += min(i : m - 1, A[1 + i][k]); }",
          "float32->float32"},
         ALONE + CALLS,
         0},
        {{"copy", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m) B[i][0] = A[i][0]; }", "float32->float32"},
         ALONE + CALLS,
         0},
        {{"outer", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m, j : n) B[i][j] = B[i][0] * A[0][j]; }",
          "float32->float32"},
         ALONE + CALLS,
         0},
        {{"steady", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m, j : n) B[i][j] += B[i][0] * A[0][j]; }",
          "float32->float32"},
         CALLS,
         1},
        {{"two", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m, j : n) B[i][j] += B[i][0] * A[i][0]; }",
          "float32->float32"},
         ALONE + CALLS,
         0},
        {{"both", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m, j : n) { B[i][j] += B[i][0]; B[i][j] += A[0][j]; } }",
          "float32->float32"},
         ALONE + CALLS,
         0},
        {{"onto", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m, j : n) B[i][0] += A[i][j]; }", "float32->float32"},
         ALONE + CALLS,
         0},
        {{"steep", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m / 2) B[2 * i][0] = A[2 * i][0]; }", "float32->float32"},
         CALLS,
         1},
        {{"diagonal", "(n,n)->(n,n)", "(A) -> (B) { forall (i : n) B[i][i] = A[i][i]; }", "float32->float32"},
         CALLS,
         1},
        {{"gather", "(m,n),(m)->(m)", "(A, at) -> (y) { forall (i : m) { int64 k = at[i]; y[i] = A[i + k][0]; } }",
          "float32,int64->float32"},
         CALLS,
         1},
    };
    const code_target target = {.vector_bits = 128}; /* wider vectors take what is left by lanes, too */
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const tree *t = gu_tree(&a, &cases[i].k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        code_module m = gu_generate(&a, &cases[i].k, t, &v, &target);
        assert_int_equal(occurrences(m.ir.data, "!{!\"llvm.loop.vectorize.enable\", i1 false}"), cases[i].apart);
        assert_int_equal(occurrences(m.ir.data, "llvm.loop.parallel_accesses"), cases[i].vectors);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* The log2 of lanes that the CPU engine takes for the rows of a matrix of m by n times a vector. */
static int lanes_of_traits(const char *types, int64_t m, int64_t n, bool unit, code_traits traits) {
    arena a = {0};
    const gu_kernel k = {"times", "(m,n),(n)->(m)",
                         "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }", types};
    const tree *t = gu_tree(&a, &k);
    const core_layout *l = t->layout;
    variant v = gu_variant(t, 0, 1, 1, 1);
    int64_t core[8] = {0}, extent[1] = {100}, stride[3] = {0}, offset[3] = {0};
    nd_loop loop = {.ndim = 1,
                    .narrays = 3,
                    .count = 100,
                    .loop = LOOP_GUFUNC,
                    .extent = extent,
                    .stride = stride,
                    .offset = offset};
    assert_true(l->nparameters <= (int)COUNT(core));
    for (int o = 0; o < 3; o++)
        for (int d = 0; d < l->operands[o].rank; d++) {
            core[l->operands[o].dim[d]] = l->operands[o].dim[d] ? n : m;
            core[l->operands[o].strides + d] = o == 0 && d == 0 ? n : unit ? 1 : 2;
        }
    cpu_engine.specialise(&v, &(loop_problem){.loop = &loop, .layout = l, .core = core, .traits = &traits});
    arena_free(&a);
    return v.gufunc.lanes;
}

static int lanes_of(const char *types, int64_t m, int64_t n, bool unit) {
    return lanes_of_traits(types, m, n, unit, (code_traits){.nconstructs = 2});
}

static void test_lanes_of_rows(void **state) {
    (void)state;
    code_target host;
    assert_int_equal(cpu_engine.target(0, &host), UF_OK);
    const int most32 = host.vector_bits == 512   ? 4
                       : host.vector_bits == 256 ? 3
                                                 : 2,
              most64 = host.vector_bits == 128 ? 0 : most32 - 1;
    const char *f32 = "float32,float32->float32", *f64 = "float64,float64->float64";
    assert_int_equal(lanes_of(f32, 5, 48, true), most32);
    assert_int_equal(lanes_of(f32, 5, 12, true), 2);
    assert_int_equal(lanes_of(f32, 5, 15, true), 2);
    assert_int_equal(lanes_of(f32, 5, 24, true), most32 < 3 ? most32 : 3);
    assert_int_equal(lanes_of(f64, 5, 48, true), most64);
    assert_int_equal(lanes_of(f64, 5, 12, true), most64 ? 2 : 0);
    assert_int_equal(lanes_of(f64, 5, 3, true), 0);
    assert_int_equal(lanes_of(f64, 5, 64, true), 0);
    assert_int_equal(lanes_of(f64, 5, 48, false), 0);
    assert_int_equal(lanes_of("float16,float16->float16", 5, 48, true), 0);
    assert_int_equal(lanes_of("float32,float64->float64", 5, 48, true), most64);
    assert_int_equal(lanes_of_traits(f32, 5, 48, true, (code_traits){.nconstructs = 2, .plain_loops = true}), 0);
    assert_int_equal(lanes_of_traits(f32, 5, 48, true, (code_traits){.nodes = 5}), 0);
}

/* A width is asked for in loops along rows of a small array alone: it allows LLVM to change the order of a sum, which an element that stays may be, too.
 * All foralls beside one with a steady element have it. */
static void test_few_lanes(void **state) {
    (void)state;
    static const struct {
        gu_kernel k;
        int loops; /* that have it */
    } cases[] = {
        {{"row", "(n)->()", "(x) -> (s) { float32 u[16]; for (int64 j = 0; j < n; j++) u[j] = x[j] + 1; s = u[0]; }",
          "float32->float32"},
         1},
        {{"large", "(n)->()", "(x) -> (s) { float32 u[99]; for (int64 j = 0; j < n; j++) u[j] = x[j] + 1; s = u[0]; }",
          "float32->float32"},
         0},
        {{"stays", "(n)->()", "(x) -> (s) { float32 u[16]; for (int64 j = 0; j < n; j++) u[3] += x[j]; s = u[3]; }",
          "float32->float32"},
         0},
        {{"sum", "(n)->()",
          "(x) -> (s) { float32 u[16]; float32 t = 0; for (int64 j = 0; j < n; j++) { u[j] = x[j]; t += x[j]; } s = t; "
          "}",
          "float32->float32"},
         0},
        {{"steady", "(m,n)->(m,n)",
          "(A) -> (B) { forall (i : m, j : n) B[i][j] = A[i][j]; forall (i : m, j : n) B[i][j] += B[i][0] * A[0][j]; }",
          "float32->float32"},
         2},
        {{"plain", "(m,n)->(m,n)", "(A) -> (B) { forall (i : m, j : n) B[i][j] = A[i][j]; }", "float32->float32"}, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const tree *t = gu_tree(&a, &cases[i].k);
        variant v = gu_variant(t, 0, 0, 1, 1);
        code_module m = gu_generate(&a, &cases[i].k, t, &v, &gu_cpu);
        assert_int_equal(occurrences(m.ir.data, "llvm.loop.vectorize.width"), cases[i].loops);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Of a product by strips the loops of the text ask whether they have an iteration, and so do those over calls; those over a strip, which is
 * not empty, do not. */
static void test_strips_ask_nothing(void **state) {
    (void)state;
    enum {
        BY_STRIPS = 3,
        ALONE = 3, /* where rows are short */
        CALLS = 2
    };
    arena a = {0};
    const gu_kernel *k = gu_kernel_of("matmul");
    const tree *t = gu_tree(&a, k);
    variant v = gu_variant(t, 0, 0, 1, 1);
    v.gufunc.along = 1;
    code_module m = gu_generate(&a, k, t, &v, &gu_cpu);
    assert_int_equal(occurrences(m.ir.data, "icmp slt i64 0, "), BY_STRIPS + ALONE + CALLS);
    text_free(&m.ir);
    arena_free(&a);
}

/* ---- Traits ---- */

static void size_of(const char *name, code_traits *size) {
    arena a = {0};
    ir_traits(gu_tree(&a, gu_kernel_of(name)), size);
    arena_free(&a);
}

static void test_spreads(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        bool maps_to_threads;
        int constructs;
    } cases[] = {
        {"matvec", true, 1},           {"softmax", true, 3},       {"rows", true, 1},
        {"helper", true, 2},           {"bools", true, 2},         {"read_back", true, 3},
        {"scatter", true, 2},          {"rounds", true, 1},        {"early", true, 2},
        {"local_array", true, 1},      {"four_ranges", true, 1},   {"scaled", true, 2},
        {"range_of_sum", true, 2}, /* the sum in the range is spread as well */
        {"many_ranges", false, 1}, /* more than CODE_RANGES */
        {"plain_loop", false, 0},  /* nothing to spread, and an output is assigned outside */
        {"frozen", false, 0},          {"shared_array", false, 2}, /* a local array of all is assigned in the forall */
        {"range_of_output", false, 2},                             /* each thread would read it at another time */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        code_traits size;
        size_of(cases[i].kernel, &size);
        if (size.maps_to_threads != cases[i].maps_to_threads || size.nconstructs != cases[i].constructs)
            fail_msg("%s: maps_to_threads %d, %d constructs", cases[i].kernel, size.maps_to_threads, size.nconstructs);
    }
}

static void expect_construct(const code_construct *c, bool reduces, bool nested, const char *outer, const char *inner) {
    char list[2][CODE_RANGES * 4 + 1] = {"", ""};
    for (int i = 0; i < c->nouter; i++)
        sprintf(list[0] + strlen(list[0]), "%d ", c->outer[i]);
    for (int i = 0; i < c->ninner; i++)
        sprintf(list[1] + strlen(list[1]), "%d ", c->inner[i]);
    assert_int_equal(c->reduces, reduces);
    assert_int_equal(c->nested, nested);
    assert_string_equal(list[0], outer);
    assert_string_equal(list[1], inner);
}

static void expect_access(const code_access *a, int operand, int outer, int inner) {
    assert_int_equal(a->operand, operand);
    assert_int_equal(a->outer, outer);
    assert_int_equal(a->inner, inner);
}

static void test_constructs(void **state) {
    (void)state;
    code_traits s;
    size_of("matmul", &s); /* m 0, n 1, p 2 */
    expect_construct(&s.construct[0], false, true, "0 2 ", "1 ");
    assert_int_equal(s.construct[0].naccesses, 2);
    expect_access(&s.construct[0].access[0], 0, 0, 2);
    expect_access(&s.construct[0].access[1], 1, 2, 1);
    size_of("norm", &s);
    expect_construct(&s.construct[0], true, false, "0 ", "");
    assert_int_equal(s.construct[0].naccesses, 2);
    expect_access(&s.construct[0].access[0], 0, 1, 0);
    size_of("four_ranges", &s);
    expect_construct(&s.construct[0], false, true, "0 -1 -1 1 ", "1 -1 ");
    size_of("vecmat", &s); /* m 0, n 1: along j, which is A's second dimension */
    expect_construct(&s.construct[0], false, true, "1 ", "0 ");
    expect_access(&s.construct[0].access[0], 0, 0, 1);
    expect_access(&s.construct[0].access[1], 1, 2, 1);
    size_of("outer", &s);
    expect_construct(&s.construct[0], false, false, "0 1 ", "");
    assert_int_equal(s.construct[0].naccesses, 3);
}

/* ---- The same code ---- */

/* Values that are sequences, which only declare variables, keep nothing from being written for lanes or made vectors. */
static void test_sequences(void **state) {
    tree_rewrites = 100;
    tree_rewrites_plainly = true;
    test_ptx(state);
    test_cpu_vectors(state);
    test_spreads(state);
    tree_rewrites = 0;
    tree_rewrites_plainly = false;
}

/* A body in place that nothing leaves early is the same code as its statements, constructs that are mapped to threads included. */
static void test_in_place(void **state) {
    (void)state;
    for (int k = 0; k < gu_kernel_count; k++)
        for (int way = 0; way < 3; way++) {
            arena a = {0};
            tree *t = gu_tree(&a, &gu_kernels[k]);
            node *all = arena_alloc(&a, sizeof *all);
            code_traits size;
            ir_traits(t, &size);
            variant v = gu_variant(t, way && size.maps_to_threads ? COOP_WARP : 0, 0, way ? 2 : 1, 1);
            if (way == 2)
                for (int i = 0; i < v.nin + v.nout && !v.gufunc.coop; i++)
                    v.operand[i].staged = t->layout->operands[i].rank > 0;
            code_module plain = gu_generate(&a, &gu_kernels[k], t, &v, way ? &gu_gpu : &gu_cpu);
            *all = (node){.kind = N_INLINE, .type = DT_NONE, .wide = DT_NONE, .body = t->kernel->body};
            if (strstr(gu_kernels[k].source, "return;"))
                all->kind = N_BLOCK; /* a body in place has none */
            t->kernel->body = all;
            t->nodes++;
            assert_null(tree_fault(t));
            code_traits again;
            ir_traits(t, &again);
            assert_int_equal(again.maps_to_threads, size.maps_to_threads);
            assert_int_equal(again.nconstructs, size.nconstructs);
            code_module inside = gu_generate(&a, &gu_kernels[k], t, &v, way ? &gu_gpu : &gu_cpu);
            assert_string_equal(plain.ir.data, inside.ir.data);
            text_free(&plain.ir);
            text_free(&inside.ir);
            arena_free(&a);
        }
}

/* ---- Goldens ---- */

static void check_golden(const char *file, const char *name, const code_target *target, int coop, int lanes) {
    arena a = {0};
    const tree *t = gu_tree(&a, gu_kernel_of(name));
    variant v = gu_variant(t, coop, lanes, 1, 1);
    code_module m = gu_generate(&a, gu_kernel_of(name), t, &v, target);
    judge_golden(file, &m);
    arena_free(&a);
}

static void check_unrolled_golden(const char *file, const char *name) {
    arena a = {0};
    const tree *t = gu_tree(&a, gu_kernel_of(name));
    variant v = gu_unrolled(t, 3);
    code_module m = gu_generate(&a, gu_kernel_of(name), t, &v, &gu_gpu);
    judge_golden(file, &m);
    arena_free(&a);
}

static void test_goldens(void **state) {
    (void)state;
    check_golden("gufunc_cpu", "matvec", &gu_cpu, 0, 0);
    check_golden("gufunc_gpu", "matvec", &gu_gpu, 5, 3);
    check_unrolled_golden("gufunc_unrolled_gpu", "frozen");
}

/* Single elements are copied to shared memory by themselves only if these lie at multiples of their size. */
static void test_single_copies(void **state) {
    static const struct {
        const char *types;
        bool async;
    } cases[] = {{"float32->float32", true},
                 {"float64->float64", true},
                 {"complex64->complex64", false},
                 {"complex128->complex128", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {
            "copied", "(n)->(n)",
            "(x) -> (y) { auto s = sum(i : n, x[i]); auto t = sum(i : n, x[i] * x[i]); forall (i : n) y[i] = "
            "x[i] * s + t; }",
            cases[i].types};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_variant(t, 9, 0, 1, 1);
        v.operand[0].staged = 1;
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        if ((strstr(m.ir.data, "cp.async.c") != NULL) != cases[i].async)
            fail_msg("%s", cases[i].types);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Cores of so many accesses that the call which one belongs to is found by another multiplication, of 64 bits: 196 accesses of 14 x 14 and
 * 1,000 of 10 x 10 x 10 complex128. */
static void test_large_cores(void **state) {
    static const struct {
        const char *layout, *source, *product;
        int n;
    } cases[] = {
        {"(m,n),(n)->(m)", "(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); }", "mul i32 %", 14},
        {"(l,m,n),(n)->(l,m)", "(a, x) -> (y) { forall (k : l, i : m) y[k][i] = sum(j : n, a[k][i][j] * x[j]); }",
         "mul i64 %", 10}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"large", cases[i].layout, cases[i].source, "complex128,complex128->complex128"};
        const tree *t = gu_tree(&a, &k);
        variant v = gu_unrolled(t, cases[i].n);
        v.gufunc.part[0] = 2;
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        const char *factor = cases[i].n == 14 ? ", 5350\n" : ", 103079216\n";
        const char *product = strstr(m.ir.data, factor);
        assert_non_null(product);
        while (strncmp(product, "mul", 3) != 0)
            product--;
        assert_memory_equal(product, cases[i].product, strlen(cases[i].product));
        assert_null(strstr(m.ir.data, "udiv i32"));
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Which modules go without the passes that find nothing to do in straight-line code. */
static void test_straight(void **state) {
    static const struct {
        const char *source;
        bool straight;
    } cases[] = {
        {"(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); }", true},
        {"(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] - x[j]) / 3.0f; }", true},
        {"(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] > 0 ? x[j] : 1.0f); }", false},
        {"(a, x) -> (y) { forall (i : m) { auto s = sum(j : n, a[i][j] * x[j]); if (s > 2) s = 2; y[i] = s; } }",
         false},
        {"(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, exp(a[i][j]) * x[j]); }", false},
        {"(a, x) -> (y) { for (int i = 0; i < m; i++) y[i] = sum(j : n, a[i][j] * x[j]); }", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int unrolled = 0; unrolled < 2; unrolled++) {
            arena a = {0};
            gu_kernel k = {"straight", "(m,n),(n)->(m)", cases[i].source, "float32,float32->float32"};
            const tree *t = gu_tree(&a, &k);
            variant v = gu_unrolled(t, 3);
            v.gufunc.unrolled = (uint8_t)unrolled;
            code_module m = gu_generate(&a, &k, t, &v, &gu_cpu);
            if (m.straight != (unrolled && cases[i].straight))
                fail_msg("%s, unrolled %d: straight %d", cases[i].source, unrolled, m.straight);
            text_free(&m.ir);
            arena_free(&a);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight),
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_staged_whole),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_content),
        cmocka_unit_test(test_unrolled),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_masked_columns),
        cmocka_unit_test(test_fetched_columns),
        cmocka_unit_test(test_math_loops),
        cmocka_unit_test(test_short_rows),
        cmocka_unit_test(test_short_rows_of_math),
        cmocka_unit_test(test_lanes_of_rows),
        cmocka_unit_test(test_no_terms),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_cpu_vectors),
        cmocka_unit_test(test_kept_terms),
        cmocka_unit_test(test_lanes_combined),
        cmocka_unit_test(test_walks_apart),
        cmocka_unit_test(test_few_lanes),
        cmocka_unit_test(test_strips_ask_nothing),
        cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_constructs),
        cmocka_unit_test(test_resident),
        cmocka_unit_test(test_resident_rows),
        cmocka_unit_test(test_own_copies),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_single_copies),
        cmocka_unit_test(test_large_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
