/* test_scan.c - accumulations: random folds, shapes, strides, dtypes, in place or not, against a plain left fold: on the CPU
 * engine, with any number of threads; and the GPU's kernels, which libNVVM and ptxas must accept, on a simulated GPU. With
 * UF_TEST_GPU=1 on a real one. UF_SEED repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/code.h"
#include "gpu_sim.h"
#include "ir/ir.h"
#include "ir_check.h"
#include "scan_case.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "expect.h"

static const dtype any_dtype[] = {DT_INT8,   DT_INT16,  DT_INT32,   DT_INT64,    DT_UINT8,   DT_UINT16,
                                  DT_UINT32, DT_UINT64, DT_FLOAT16, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64};
static const int64_t lengths[] = {1,  2,  15,  16,  17,  31,  32,  33,  34,   64,   96,  97,
                                  98, 99, 100, 127, 128, 129, 511, 513, 1023, 1024, 1025};

static void specialise(scan_case *x, const engine *e) {
    fold_problem s = {.loops = &x->loops, .traits = &x->size};
    assert_int_equal(e->specialise_fold(&x->v, &s), 0);
}

/* ---- CPU ---- */

static void run_cpu(scan_case *x, int threads) {
    code_target target;
    code_module module = {0};
    code *c;
    OK(cpu_engine.target(0, &target));
    specialise(x, &cpu_engine);
    OK(ir_scan(&x->a, "scan", &x->f, &x->v, &target, &module));
    OK(cpu_engine.compile(&module, &target, 0, &c));
    x->l.threads = threads;
    OK(cpu_engine.launch(c, &x->l));
    text_free(&module.ir);
    cpu_engine.release(c);
}

static void draw_extents(scan_case *x, int64_t most) {
    x->ndim = (int)pick(1, 3);
    for (int d = 0; d < x->ndim; d++)
        x->extent[d] = chance(30) ? 1 : pick(1, d ? 4 : 40);
    int64_t length = lengths[pick(0, COUNT(lengths) - 1)];
    if (chance(20))
        x->extent[0] = pick(100, 1300);
    for (int64_t lines = x->extent[0] * (x->ndim > 1 ? x->extent[1] : 1); length > 2 && lines * length > most;)
        length /= 2;
    x->extent[x->ndim] = length;
}

static void test_cpu(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(60); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        draw_extents(x, 100000);
        const scan_operator *which = &scan_operators[i % scan_operator_count];
        scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], (int)pick(0, 2), chance(30));
        run_cpu(x, (int)pick(0, 3));
        const char *wrong = scan_fault(x);
        if (wrong)
            fail_msg("UF_SEED=%llu: %s", (unsigned long long)seed, wrong);
        scan_free(x);
        free(x);
    }
}

static void keep_first(int64_t *state, const int64_t *in, int64_t i) { state[0] = i ? state[0] : in[0]; }

/* Long lines are cut into pieces: beside exact results, floating ones that do not depend on threads. */
static void run_floats(const float *in, float *out, int64_t n, int times, int threads) {
    scan_case *x = calloc(1, sizeof *x);
    x->ndim = 1;
    x->extent[0] = x->extent[1] = 1;
    static const scan_operator sum = {
        .name = "sum", .combine = "(a, b) { return a + b; }", .types = "T->T->T", .step = keep_first};
    scan_make(x, &sum, DT_FLOAT32, SCAN_ROWS, false);
    x->v.operand[0].memory = DT_FLOAT32;
    x->extent[1] = x->loops.reduced.count = n;
    x->data[0] = (char *)(uintptr_t)in;
    x->data[1] = (char *)out;
    code_target target;
    code_module module = {0};
    code *c;
    OK(cpu_engine.target(0, &target));
    specialise(x, &cpu_engine);
    x->v.operand[0].kind = x->v.operand[1].kind = OPERAND_CONTIGUOUS;
    x->along_stride[0] = x->along_stride[1] = 1;
    OK(ir_scan(&x->a, "scan", &x->f, &x->v, &target, &module));
    OK(cpu_engine.compile(&module, &target, 0, &c));
    x->l.threads = threads;
    for (int i = 0; i < times; i++) /* the first run learns what it costs */
        OK(cpu_engine.launch(c, &x->l));
    text_free(&module.ir);
    cpu_engine.release(c);
    scan_free(x);
    free(x);
}

static void test_cpu_pieces(void **unused) {
    (void)unused;
    int64_t n = 700001;
    float *in = malloc((size_t)n * sizeof *in), *one = malloc((size_t)n * sizeof *one),
          *more = malloc((size_t)n * sizeof *more);
    for (int64_t i = 0; i < n; i++)
        in[i] = (float)pick(-1000, 1000) / 7;
    run_floats(in, one, n, 1, 1);
    run_floats(in, more, n, 3, 4);
    assert_memory_equal(one, more, (size_t)n * sizeof *one);
    double exact = 0, magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        exact += in[i];
        magnitude += in[i] < 0 ? -in[i] : in[i];
        if ((double)one[i] - exact > magnitude * 1e-5 || exact - (double)one[i] > magnitude * 1e-5)
            fail_msg("element %lld: %g, not %g", (long long)i, (double)one[i], exact);
    }
    free(in);
    free(one);
    free(more);
}

/* Which accumulations go by vectors: of integers in C order along the line, that one operation combines, which there is for vectors. */
static void test_cpu_vectors(void **unused) {
    static const scan_operator sum = {.name = "sum",
                                      .combine = "(a, b) { return a + b; }",
                                      .types = "T->T->T",
                                      .high = 9,
                                      .step = keep_first},
                               largest = {.name = "largest",
                                          .combine = "(a, b) { return a < b ? b : a; }",
                                          .types = "T->T->T",
                                          .high = 9,
                                          .step = keep_first},
                               product = {.name = "product",
                                          .combine = "(a, b) { return a * b; }",
                                          .types = "T->T->T",
                                          .high = 9,
                                          .step = keep_first};
    static const struct {
        const scan_operator *op;
        dtype type;
        int layout, bits;
        const char *vector; /* NULL: none */
    } cases[] = {{&sum, DT_INT64, SCAN_ROWS, 256, "add <4 x i64>"},
                 {&sum, DT_UINT32, SCAN_ROWS, 256, "add <8 x i32>"},
                 {&sum, DT_INT8, SCAN_ROWS, 512, "add <64 x i8>"},
                 {&sum, DT_INT16, SCAN_ROWS, 128, "add <8 x i16>"},
                 {&largest, DT_INT32, SCAN_ROWS, 256, "@llvm.smax.v8i32"},
                 {&largest, DT_UINT64, SCAN_ROWS, 512, "@llvm.umax.v8i64"},
                 {&largest, DT_INT64, SCAN_ROWS, 256, NULL},
                 {&product, DT_INT32, SCAN_ROWS, 256, NULL},
                 {&sum, DT_FLOAT32, SCAN_ROWS, 256, NULL},
                 {&sum, DT_INT32, SCAN_COLUMNS, 256, NULL},
                 {&sum, DT_INT32, SCAN_ROWS, 0, NULL}};
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        scan_case *x = calloc(1, sizeof *x);
        code_module m = {0};
        const code_target target = {.vector_bits = cases[i].bits};
        x->ndim = 1;
        x->extent[0] = 3;
        x->extent[1] = 1000;
        scan_make(x, cases[i].op, cases[i].type, cases[i].layout, false);
        x->v.operand[0].memory = x->v.operand[0].value;
        specialise(x, &cpu_engine);
        OK(ir_scan(&x->a, "scan", &x->f, &x->v, &target, &m));
        const char *shuffle = strstr(m.ir.data, "shufflevector");
        if (!shuffle != !cases[i].vector || (shuffle && !strstr(m.ir.data, cases[i].vector)))
            fail_msg("%d: %s", (int)i, m.ir.data);
        text_free(&m.ir);
        scan_free(x);
        free(x);
    }
}

/* ---- The GPU's code, on the host ---- */

static const code_target gpu = {.gpu = true, .arch = 90};

/* Runs the variant that the case has. */
static void run_simulated(scan_case *x, uint64_t seed, unsigned judge) {
    static const volatile int never;
    code_module module = {.max_steps = 100};
    occupancy r = {.block = 32u << pick(0, 3), .sms = (int)pick(1, 132)};
    grid g;
    report said = {.cancel = (uintptr_t)&never};
    x->v.reports = (uint8_t)(chance(30) ? pick(1, 3) * REPORTS_STEPS : 0);
    x->l.report = &said;
    size_t size = cuda_engine.fold_scratch(&x->l);
    OK(ir_scan(&x->a, "scan", &x->f, &x->v, &gpu, &module));
    if (judge && !judge_accept(&module, &gpu, judge, seed))
        fail_msg("UF_SEED=%llu: %s", (unsigned long long)seed, x->op->name);
    if (!sim_can(&module)) {
        text_free(&module.ir);
        return;
    }
    x->l.scratch = aligned_alloc(256, size / 256 * 256 + 256);
    memset(x->l.scratch, 0, size);
    uint64_t *words = malloc((size_t)schema_count(&x->v, NULL, true) * sizeof *words);
    OK(gpu_layout(&x->l, &r, words, &g));
    const char *wrong = sim_run(&module, words, (int)g.parameters, (int)g.blocks, (int)g.threads);
    if (!wrong)
        wrong = said.state ? "it reports" : scan_fault(x);
    if (wrong)
        fail_msg("UF_SEED=%llu: columns %d coop %d vector %d repeat %d: %s", (unsigned long long)seed,
                 x->v.reduction.columns, x->v.scan.coop, x->v.scan.vector, x->v.scan.accesses, wrong);
    free(words);
    free(x->l.scratch);
    text_free(&module.ir);
}

/* A thread for each line, which the engine has for more of them. */
static int together, apart; /* cases whose threads have several lines, or one */

static void leave_alone(scan_case *x) {
    const nd_loop *along = x->l.reduced;
    x->v.reduction.columns = x->v.scan.coop = 0;
    x->v.scan.alone = x->v.scan.vector = 1;
    x->v.scan.accesses = (uint8_t)(1 << pick(0, 4));
    int side = 1 << pick(1, 3);
    bool beside = x->extent[0] % side == 0;
    for (int k = 0; k < x->v.nin + x->v.nout; k++)
        beside &= x->stride[k][0] == 1 && x->v.operand[k].kind < OPERAND_NUMBER;
    if (beside) {
        x->v.scan.vector = (uint8_t)side;
        x->v.scan.accesses = 4;
    }
    *(beside ? &together : &apart) += 1;
    for (int k = 0; k < variant_operands(&x->v); k++) {
        int64_t stride = along->stride[k];
        if (x->v.operand[k].kind < OPERAND_NUMBER)
            x->v.operand[k].kind = (uint8_t)(stride == 1 ? OPERAND_CONTIGUOUS
                                             : stride    ? OPERAND_STRIDED
                                                         : OPERAND_CONSTANT);
    }
}

/* Smaller tiles than the engine would take, so that there are several of them, spread over blocks or taken in turn. */
static void shrink(scan_case *x) {
    if (variant_interleaved_lines(&x->v)) {
        x->v.scan.lines = (uint8_t)pick(1, x->v.scan.lines);
    } else if (!x->v.scan.length && chance(20)) {
        leave_alone(x);
    } else if (x->f.order != FOLD_SERIAL && !x->v.reduction.columns && !x->v.scan.length && chance(50)) {
        x->v.scan.in_turn = 1;
        x->v.scan.accesses = (uint8_t)(1 << pick(0, 2));
        x->v.scan.coop = (uint8_t)pick(0, COOP_WARP);
    } else if (x->f.order != FOLD_SERIAL && (x->v.reduction.columns || x->v.scan.coop > COOP_WARP)) {
        x->v.scan.accesses = (uint8_t)(1 << pick(0, 1));
        x->v.scan.coop = (uint8_t)(x->v.reduction.columns ? pick(3, 5) : pick(6, 7));
        while (x->v.reduction.columns && x->v.scan.coop > 3 &&
               (16 * x->v.scan.vector << x->v.scan.coop) * x->v.scan.state_words > 8192)
            x->v.scan.coop--;
    }
}

static void test_gpu(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(48); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        draw_extents(x, 8000);
        const scan_operator *which = &scan_operators[i % scan_operator_count];
        scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], (int)pick(0, 2), chance(30));
        specialise(x, &cuda_engine);
        if (chance(70))
            shrink(x);
        run_simulated(x, seed, i % 12 ? 0 : JUDGE_ONE_ARCH | JUDGE_ASSEMBLE);
        scan_free(x);
        free(x);
    }
}

/* Threads that have lines alone, several side by side where memory allows it. */
static void test_gpu_alone(void **unused) {
    (void)unused;
    together = apart = 0;
    for (int64_t i = 0; i < trials(15) || (i < 1000 && !(together && apart)); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        draw_extents(x, 8000);
        if (chance(70))
            x->extent[0] = 8 * pick(1, 20);
        const scan_operator *which = &scan_operators[i % scan_operator_count];
        scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], chance(80) ? SCAN_COLUMNS : SCAN_ANY, chance(30));
        specialise(x, &cuda_engine);
        x->v.scan.length = x->v.scan.plane = x->v.scan.in_turn = 0;
        for (int k = 0; k < variant_operands(&x->v); k++)
            x->v.operand[k].staged = 0;
        leave_alone(x);
        run_simulated(x, seed, i % 12 ? 0 : JUDGE_ONE_ARCH | JUDGE_ASSEMBLE);
        scan_free(x);
        free(x);
    }
    assert_true(together && apart);
}

/* Lines of every length around the bound up to which code is generated for it. */
static void test_gpu_short(void **unused) {
    int constant = 0, staged = 0, direct = 0;
    (void)unused;
    for (int64_t i = 0; i < trials(80); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        const scan_operator *which = &scan_operators[pick(0, scan_operator_count - 1)];
        x->ndim = chance(70) ? 1 : 2;
        x->extent[0] = x->ndim == 1 ? 128 * pick(1, 2) + (chance(50) ? pick(0, 60) : 0) : pick(40, 60);
        x->extent[1] = 4;
        x->extent[x->ndim] = i % 40 + 1;
        scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], chance(80) ? SCAN_ROWS : SCAN_ANY, chance(30));
        specialise(x, &cuda_engine);
        assert_true(!x->v.scan.length || x->v.scan.length == x->extent[x->ndim]);
        constant += x->v.scan.length > 0;
        for (int k = 0; k < x->v.nin + x->v.nout && x->v.scan.length; k++)
            *(x->v.operand[k].staged ? &staged : &direct) += 1;
        run_simulated(x, seed, i % 20 ? 0 : JUDGE_ONE_ARCH | JUDGE_ASSEMBLE);
        scan_free(x);
        free(x);
    }
    assert_true(constant && staged && direct);
}

/* Lines side by side, few before the next ones, that a block has as whole planes in shared memory. */
static void test_gpu_planes(void **unused) {
    int planes = 0, parts = 0, loops = 0;
    (void)unused;
    for (int64_t i = 0; i < trials(15) || (i < 1000 && !(planes && parts && loops)); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        const scan_operator *which = &scan_operators[i % scan_operator_count];
        x->ndim = 2;
        x->extent[0] = chance(20) ? pick(100, 260) : pick(2, 50);
        x->extent[1] = 4096 / x->extent[0] + pick(0, 9);
        x->extent[2] = chance(15) ? pick(65, 80) : chance(20) ? pick(20, 40) : pick(2, 12);
        scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], SCAN_COLUMNS, chance(30));
        specialise(x, &cuda_engine);
        bool whole = x->v.scan.plane && x->v.scan.length;
        assert_true(!whole || (x->v.scan.plane == x->extent[0] && x->v.scan.length == x->extent[2]));
        planes += whole;
        loops += whole && x->v.scan.length > ROW_STRAIGHT;
        parts += whole && x->extent[1] % x->v.scan.lines; /* the last block has fewer */
        run_simulated(x, seed, i % 15 ? 0 : JUDGE_ONE_ARCH | JUDGE_ASSEMBLE);
        scan_free(x);
        free(x);
    }
    assert_true(planes && parts && loops);
}

/* Few long lines side by side: tiles of all of them, which are spread over blocks, the last of a line in part. */
static void test_gpu_interleaved(void **unused) {
    int spread = 0, parts = 0, trees = 0;
    (void)unused;
    for (int64_t i = 0; i < trials(15) || (i < 1000 && !(spread && parts && trees)); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        const scan_operator *which = &scan_operators[i % scan_operator_count];
        x->ndim = chance(70) ? 1 : 2;
        x->extent[0] = chance(30) ? pick(30, 64) : pick(2, 12);
        x->extent[1] = 3;
        x->extent[x->ndim] = pick(1, 4000 / x->extent[0]) * (x->ndim == 1 ? 4 : 1);
        scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], SCAN_COLUMNS, chance(30));
        specialise(x, &cuda_engine);
        if (variant_interleaved_lines(&x->v)) {
            if (chance(70))
                shrink(x);
            int64_t tile = x->v.scan.lines * x->v.scan.accesses, m = x->extent[x->ndim];
            assert_int_equal(x->v.scan.plane, x->extent[0]);
            spread += m > tile;
            parts += m % tile != 0;
            trees += m > tile * 20;
            assert_int_equal(cuda_engine.fold_scratch(&x->l) > 0, m > tile);
        }
        run_simulated(x, seed, i % 15 ? 0 : JUDGE_ONE_ARCH | JUDGE_ASSEMBLE);
        scan_free(x);
        free(x);
    }
    assert_true(spread && parts && trees);
}

static const scan_operator *operator_of(const char *name) {
    for (int k = 0; k < scan_operator_count; k++)
        if (!strcmp(scan_operators[k].name, name))
            return &scan_operators[k];
    fail_msg("no operator %s", name);
    return NULL;
}

/* More tiles than the first two levels of the tree have room for, and blocks that go from tile to tile by themselves. */
static void test_gpu_trees(void **unused) {
    static const struct {
        int64_t lines, length;
        int layout, coop, vector;
        bool spread;
    } shapes[] = {{2, 64 * 1100 + 5, SCAN_ROWS, 6, 1, true},
                  {3, 32 * 4 * 40, SCAN_ROWS, 6, 2, true},
                  {90, 8 * 300 + 3, SCAN_COLUMNS, 5, 1, true},
                  {8600, 40, SCAN_COLUMNS, 3, 1, false}};
    (void)unused;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        scan_case *x = calloc(1, sizeof *x);
        uint64_t seed = draw_state;
        x->ndim = 1;
        x->extent[0] = shapes[i].lines;
        x->extent[1] = shapes[i].length;
        scan_make(x, operator_of(i % 2 ? "matrix" : "argmax"), DT_INT32, shapes[i].layout, false);
        specialise(x, &cuda_engine);
        assert_int_equal(x->v.reduction.columns, shapes[i].layout == SCAN_COLUMNS);
        x->v.scan.coop = (uint8_t)shapes[i].coop;
        x->v.scan.vector = (uint8_t)shapes[i].vector;
        x->v.scan.accesses = 1;
        assert_int_equal(cuda_engine.fold_scratch(&x->l) > 0, shapes[i].spread);
        run_simulated(x, seed, 0);
        scan_free(x);
        free(x);
    }
}

/* The kernel reads as many words as a launch lays out; blocks cover the lines. */
static void test_words(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(300); i++) {
        scan_case *x = calloc(1, sizeof *x);
        code_module module = {0};
        char last[32];
        draw_extents(x, 3000);
        scan_make(x, &scan_operators[i % scan_operator_count], DT_FLOAT32, (int)pick(0, 2), false);
        specialise(x, &cuda_engine);
        OK(ir_scan(&x->a, "scan", &x->f, &x->v, &gpu, &module));
        int words = schema_count(&x->v, NULL, true);
        snprintf(last, sizeof last, " %%w%d) nounwind", words - 1);
        assert_non_null(strstr(module.ir.data, last));
        occupancy r = {.block = 256, .sms = 132};
        grid g;
        uint64_t *w = malloc((size_t)words * sizeof *w);
        OK(gpu_layout(&x->l, &r, w, &g));
        assert_int_equal(g.parameters, words);
        assert_true(g.threads >= 32 && g.threads <= 1024);
        if (!x->v.reduction.columns && x->v.scan.coop <= COOP_WARP)
            assert_true((int64_t)g.blocks * (g.threads >> x->v.scan.coop) >= x->loops.kept.count);
        free(w);
        text_free(&module.ir);
        scan_free(x);
        free(x);
    }
}

/* Whole accesses: of 16 bytes, or of as many as 16 lanes make 128 of. */
static void test_accesses(void **unused) {
    static const struct {
        int64_t lines, length;
        int layout;
        const char *load, *store;
    } shapes[] = {{1, 1 << 20, SCAN_ROWS, "ld.global.v4.f32", "st.global.v4.f32"},
                  {100, 64, SCAN_ROWS, "ld.global.v4.f32", "st.global.v4.f32"},
                  {40000, 16, SCAN_COLUMNS, "ld.global.v2.f32", "st.global.v2.f32"},
                  {1024, 1024, SCAN_COLUMNS, "ld.global.v2.f32", "st.global.v2.f32"}};
    (void)unused;
    for (size_t i = 0; i < COUNT(shapes) && nvvm_found(); i++) {
        scan_case *x = calloc(1, sizeof *x);
        code_module module = {0};
        const char *ptx;
        x->ndim = 1;
        x->extent[0] = shapes[i].lines;
        x->extent[1] = shapes[i].length;
        static const scan_operator sum = {
            .name = "sum", .combine = "(a, b) { return a + b; }", .types = "T->T->T", .high = 1000, .step = keep_first};
        scan_make(x, &sum, DT_FLOAT32, shapes[i].layout, false);
        specialise(x, &cuda_engine);
        OK(ir_scan(&x->a, "scan", &x->f, &x->v, &gpu, &module));
        const char *wrong = nvvm_judge(&module, 90, true, &ptx);
        if (wrong)
            fail_msg("%s", wrong);
        assert_non_null(strstr(ptx, shapes[i].load));
        assert_non_null(strstr(ptx, shapes[i].store));
        text_free(&module.ir);
        scan_free(x);
        free(x);
    }
}

static void check_golden(const char *file, const char *name, const code_target *target, const engine *e) {
    scan_case *x = calloc(1, sizeof *x);
    code_module m = {0};
    x->ndim = 1;
    x->extent[0] = 1;
    x->extent[1] = 1 << 14;
    scan_make(x, operator_of(name), DT_INT32, SCAN_ROWS, false);
    x->v.operand[0].memory = x->v.operand[0].value;
    specialise(x, e);
    x->v.scan.accesses = 1;
    OK(ir_scan(&x->a, name, &x->f, &x->v, target, &m));
    judge_golden(file, &m);
    scan_free(x);
    free(x);
}

static void test_goldens(void **unused) {
    static const code_target cpu = {.vector_bits = 256, .f16c = true};
    (void)unused;
    check_golden("scan_cpu", "gcd", &cpu, &cpu_engine);
    check_golden("scan_gpu", "minus", &gpu, &cuda_engine);
}

/* ---- A real GPU ---- */

static const DLDevice device = {kDLCUDA, 0};

/* The arrays of a case on the device while it runs. */
static void run_on_device(scan_case *x, uint64_t seed) {
    code_target target;
    code_module module = {0};
    code *c;
    void *copy[SCAN_OPERANDS] = {NULL};
    char *host[SCAN_OPERANDS];
    size_t size = cuda_engine.fold_scratch(&x->l);
    memcpy(host, x->data, sizeof host);
    for (int k = 0; k < x->f.nin + x->f.nout; k++) {
        int owner = x->block[k] ? k : 0;
        if (owner == k) {
            OK(cuda_engine.alloc(device, x->bytes[k] + 64, &copy[k]));
            OK(cuda_engine.copy(0, copy[k], x->block[k], x->bytes[k], NULL, true));
        }
        x->data[k] = (char *)copy[owner] + (host[k] - x->block[owner]);
    }
    OK(cuda_engine.target(0, &target));
    OK(ir_scan(&x->a, "scan", &x->f, &x->v, &target, &module));
    OK(cuda_engine.compile(&module, &target, 0, &c));
    if (size)
        OK(cuda_engine.scratch(0, size, NULL, &x->l.scratch));
    OK(cuda_engine.launch(c, &x->l));
    OK(cuda_engine.sync(0, NULL));
    for (int k = x->f.nin; k < x->f.nin + x->f.nout; k++) {
        int owner = x->block[k] ? k : 0;
        OK(cuda_engine.copy(0, x->block[owner], copy[owner], x->bytes[owner], NULL, true));
    }
    memcpy(x->data, host, sizeof host);
    const char *wrong = scan_fault(x);
    if (wrong)
        fail_msg("UF_SEED=%llu: %lld lines of %lld, columns %d coop %d vector %d repeat %d: %s",
                 (unsigned long long)seed, (long long)x->l.loop->count, (long long)x->l.elements,
                 x->v.reduction.columns, x->v.scan.coop, x->v.scan.vector, x->v.scan.accesses, wrong);
    for (int k = 0; k < SCAN_OPERANDS; k++)
        cuda_engine.free(device, copy[k]);
    cuda_engine.scratch_free(0, x->l.scratch, NULL);
    cuda_engine.release(c);
    text_free(&module.ir);
}

static void device_case(const scan_operator *which, int64_t lines, int64_t length, int layout) {
    scan_case *x = calloc(1, sizeof *x);
    uint64_t seed = draw_state;
    x->ndim = 1;
    x->extent[0] = lines;
    x->extent[1] = length;
    scan_make(x, which, any_dtype[pick(0, COUNT(any_dtype) - 1)], layout, chance(30));
    specialise(x, &cuda_engine);
    run_on_device(x, seed);
    scan_free(x);
    free(x);
}

/* Lines of each length: one, some, some that lie side by side. */
static void test_device(void **unused) {
    static const int64_t sizes[] = {1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 4097, 34567, 1048577};
    (void)unused;
    for (int64_t i = 0; i < (int64_t)COUNT(sizes) * trials(4); i++) {
        int64_t size = sizes[i % (int64_t)COUNT(sizes)], most = 60000 / size + 2;
        const scan_operator *which = &scan_operators[pick(0, scan_operator_count - 1)];
        if (size > 100000 && which->order == FOLD_SERIAL)
            continue;
        if (i % 3 == 0)
            device_case(which, 1, size, SCAN_ANY);
        else if (i % 3 == 1)
            device_case(which, pick(2, most), size, (int)pick(0, 2));
        else
            device_case(which, pick(8, 20), size > 100000 ? 34567 : size, SCAN_COLUMNS);
    }
    device_case(operator_of("sum"), 9000, 300, SCAN_COLUMNS);
    device_case(operator_of("matrix"), 2, 500001, SCAN_ROWS);
    for (int k = 0; k < scan_operator_count; k++) /* tiles that lanes of a warp take in turn */
        device_case(&scan_operators[k], 4096 + pick(0, 9), pick(600, 1100), SCAN_ROWS);
}

int main(void) {
    if (getenv("UF_TEST_GPU")) {
        const struct CMUnitTest on_device[] = {cmocka_unit_test(test_device)};
        return cmocka_run_group_tests(on_device, draw_seed, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),        cmocka_unit_test(test_cpu_pieces),      cmocka_unit_test(test_cpu_vectors),
        cmocka_unit_test(test_gpu),        cmocka_unit_test(test_gpu_alone),       cmocka_unit_test(test_gpu_short),
        cmocka_unit_test(test_gpu_planes), cmocka_unit_test(test_gpu_interleaved), cmocka_unit_test(test_gpu_trees),
        cmocka_unit_test(test_words),      cmocka_unit_test(test_accesses),        cmocka_unit_test(test_goldens),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
