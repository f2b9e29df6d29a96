/* test_pieces.c - generalized ufuncs whose constructs go along one range that begins anywhere and is cut in pieces (gufunc.pieces), on a
 * simulated GPU: rows of random lengths at random places, by groups of a warp, a block and several blocks, staged or not, give what
 * plain loops give, and nothing is written outside. Which operands are reached by more than the range's index. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/ir.h"
#include "ir_check.h"
#include "lang_try.h"
#include "type/schema.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "gpu_sim.h"
#include "gu_kernel.h"

enum {
    LONGEST = 1500,
    CALLS = 5,
    ROOM = (LONGEST + 20) * CALLS + 64, /* elements of an array */
    GAP = 24,                           /* elements before and behind, that no one may touch */
    WORDS = 64
};

typedef enum which {
    EACH,
    SUMS,
    SPREAD,
    MOMENTS,
    VAST,
    SOFT,
    KERNELS
} which;

static const gu_kernel kernels[KERNELS] = {
    [EACH] = {"each", "(n),(n)->(n)", "(x, w) -> (y) { forall (i : n) y[i] = x[i] * 3 + w[i]; }", NULL},
    [SUMS] = {"sums", "(n),(n)->(n)",
              "(x, w) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, x[i] - top); forall "
              "(i : n) y[i] = (x[i] - top) * w[i] + s; }",
              NULL},
    [SPREAD] =
        {"spread", "(n),(n)->(n)",
         "square(x) { return x * x; } (x, w) -> (y) { auto mean = sum(i : n, x[i]) / (n + 1); auto v = sum(i : n, "
         "square(x[i] - mean)); forall (i : n) y[i] = (x[i] - mean) * w[i] + v; }",
         NULL},
    [MOMENTS] = {"moments", "(n),(n)->(n)",
                 "square(x) { return x * x; } (x, w) -> (y) { auto mean = sum(i : n, x[i]) / n; auto v = sum(i : n, "
                 "square(x[i] - mean)); forall (i : n) y[i] = (x[i] - mean) * w[i] + v; }",
                 NULL},
    [VAST] = {"vast", "(n),(n)->(n)",
              "square(x) { return x * x; } (x, w) -> (y) { auto mean = sum(i : n, x[i]) / n; auto v = sum(i : n, "
              "square(x[i] - mean)); forall (i : n) y[i] = v + w[i]; }",
              NULL},
    [SOFT] = {"soft", "(n),(n)->(n)",
              "(x, w) -> (y) { auto top = max(i : n, x[i]); auto s = 1 / sum(i : n, exp(x[i] - top)); forall (i : n) "
              "y[i] = (x[i] - x[i] == 0 ? exp(x[i] - top) : 1) * s * w[i]; }",
              NULL}};

/* One call of a kernel over rows of x and y, which lie `stride` elements apart, and one row w for all. */
typedef struct trial {
    which kernel;
    dtype type;
    int64_t n, stride, at[3]; /* at: the element where each operand begins */
    int coop, cluster, vector, blocks, coops;
    variant v;
    bool aligned;
    _Alignas(16) uint64_t memory[3][ROOM]; /* elements of `type` */
    uint64_t slots[COOP_SLOT / 8 * CALLS];
} trial;

static int64_t count_held, count_parts, count_even[EVEN_ROUNDS + 1];

static double get(dtype type, const void *p, int64_t i) {
    return type == DT_INT32     ? ((const int32_t *)p)[i]
           : type == DT_INT16   ? ((const int16_t *)p)[i]
           : type == DT_INT64   ? (double)((const int64_t *)p)[i]
           : type == DT_FLOAT32 ? (double)((const float *)p)[i]
                                : ((const double *)p)[i];
}

static void set(dtype type, void *p, int64_t i, double value) {
    if (type == DT_INT32)
        ((int32_t *)p)[i] = (int32_t)value;
    else if (type == DT_INT16)
        ((int16_t *)p)[i] = (int16_t)value;
    else if (type == DT_INT64)
        ((int64_t *)p)[i] = (int64_t)value;
    else if (type == DT_FLOAT32)
        ((float *)p)[i] = (float)value;
    else
        ((double *)p)[i] = value;
}

/* Rows with what has no finite exponential: here and there, in long runs, and everywhere. VAST: the largest number, so that sums of two
 * are infinite. */
static double drawn(const trial *x, int64_t i) {
    static const double special[] = {-INFINITY, -INFINITY, INFINITY, NAN, 0};
    int64_t row = i / (LONGEST / 4);
    if (x->kernel == VAST)
        return x->type == DT_FLOAT32 ? FLT_MAX : DBL_MAX;
    if (x->kernel == SOFT && row % 3 == 1)
        return chance(row % 2 ? 100 : 60) ? -INFINITY : (double)pick(-9, 9);
    if (x->kernel >= SPREAD && row % 3 == 2 && chance(1))
        return special[pick(0, COUNT(special) - 1)];
    return x->kernel == SOFT ? (double)pick(-30, 30) : (double)pick(-100, 100);
}

static void draw_arrays(trial *x) {
    static const dtype whole[] = {DT_INT32, DT_INT16, DT_INT64}, real[] = {DT_FLOAT32, DT_FLOAT64};
    x->type = x->kernel < SPREAD ? whole[pick(0, 2)] : real[pick(0, 1)];
    x->n = chance(30) ? pick(0, 20) : pick(1, LONGEST);
    x->stride = x->n + pick(0, 9);
    bool even = chance(40);
    int64_t first = GAP + (even ? 8 : pick(0, 15));
    if (even) {
        x->n = pick(1, 2) << pick(4, 9);
        x->stride = x->n + 16 * pick(0, 1);
    }
    for (int k = 0; k < 3; k++) {
        x->at[k] = even || chance(70) ? first : GAP + pick(0, 15);
        for (int64_t i = 0; i < ROOM; i++)
            set(x->type, x->memory[k], i, k ? (double)pick(-100, 100) : drawn(x, i));
    }
}

/* What is staged of x is held in registers instead, now and then, where its length allows it. */
static void draw_held(trial *x) {
    int ends = (2 + x->v.operand[1].shifted) * (x->vector - 1);
    int64_t held = x->n < x->vector ? 0 : ((x->n / x->vector - 1) >> x->coop) + 1;
    held = held && held <= HELD_LOOSE ? HELD_LOOSE + 1 : held;
    if (!held || x->vector == 1 || x->coop > COOP_BLOCK || x->cluster || 1 << x->coop < ends ||
        held * x->vector > HELD_MOST || (x->n - ends) / x->vector < (held - HELD_LOOSE) << x->coop || chance(20))
        return;
    x->v.gufunc.held = (uint8_t)held;
    x->v.operand[0].held = 1;
    x->v.operand[0].staged = 0;
    count_held++;
}

/* The first vectors of each piece of x are held in registers instead, now and then, where each piece has more. */
static void draw_part(trial *x) {
    int64_t most = (x->n / x->vector / x->blocks - x->blocks - 2) >> variant_grid_block(&x->v);
    if (x->coop != COOP_GRID || !x->v.operand[0].staged || x->vector == 1 || x->n < x->vector || most < 1 || chance(20))
        return;
    x->v.gufunc.held = (uint8_t)pick(1, most * x->vector < HELD_MOST ? most : HELD_MOST / x->vector);
    x->v.operand[0].held = 1;
    count_parts++;
}

/* Rows that are whole vectors, of aligned arrays, whose code then has no accesses one by one. */
static void draw_even(trial *x) {
    bool even = !x->v.operand[1].shifted && x->n % x->vector == 0 && x->stride % x->vector == 0;
    int64_t vectors = x->n / x->vector;
    for (int k = 0; k < 3; k++)
        even &= x->at[k] % x->vector == 0;
    bool rounds = x->v.gufunc.held ? vectors == (int64_t)x->v.gufunc.held << x->coop
                                   : vectors % ((int64_t)x->v.gufunc.steps << (x->coop + x->cluster)) == 0;
    if (even && chance(80)) {
        x->v.gufunc.aligned = x->vector > 1;
        x->v.gufunc.even = rounds && x->coop != COOP_GRID ? EVEN_ROUNDS : EVEN_VECTORS;
    }
    count_even[x->v.gufunc.even]++;
}

/* The variant, whose operands have units where rows move as x's do; the row w, which moves with no call, may be shifted instead. */
static void draw_variant(trial *x, const tree *t) {
    int size = dtypes[x->type].size;
    x->coop = chance(x->kernel == EACH ? 50 : 25) ? COOP_GRID : chance(30) ? (int)pick(6, 7) : (int)pick(1, 7);
    x->vector = 1 << pick(0, __builtin_ctz(16u / (unsigned)size));
    x->v = gu_variant(t, x->coop, 0, x->vector, 1 << pick(0, 3));
    x->v.gufunc.pieces = 1;
    x->cluster = x->coop > COOP_WARP && x->coop != COOP_GRID && chance(50) ? (int)pick(1, 3) : 0;
    x->v.gufunc.cluster = (uint8_t)x->cluster;
    x->v.operand[1].shifted = size * x->vector >= 4 && chance(50);
    x->v.operand[1].unit = x->v.operand[1].shifted || x->stride % x->vector == 0;
    x->v.operand[0].staged = x->coop > COOP_WARP && chance(70);
    draw_held(x);
    x->v.gufunc.fine = x->coop == COOP_GRID && chance(50);
    x->blocks = x->coop == COOP_GRID && x->kernel == EACH ? (int)pick(1, 6) : 1; /* blocks are simulated one by one */
    x->coops = (int)pick(1, CALLS);
    draw_part(x);
    draw_even(x);
    x->aligned = true;
    for (int k = 0; k < 3; k++)
        x->aligned &= !x->v.operand[k].unit || x->v.operand[k].shifted || (x->at[k] - x->at[0]) % x->vector == 0;
}

static int write_words(const trial *x, const tree *t, uint64_t *words) {
    static const uint64_t numbers[3][2];
    const int64_t core[] = {x->n, 1, 1, 1};
    parameter_writer w = parameters_write(words, &x->v, t->layout, true);
    for (int k = 0; k < 3; k++)
        put_operand(&w, k, (uintptr_t)((const char *)x->memory[k] + x->at[k] * dtypes[x->type].size), numbers);
    put_parameter(&w, GPU_GUFUNC_CALLS, CALLS);
    put_parameter(&w, GPU_GUFUNC_ALIGNED, x->aligned);
    for (int k = 0; k < 3; k++)
        put_parameter(&w, GPU_GUFUNC_STRIDES, k == 1 ? 0 : x->stride);
    for (int i = 0; i < 3 && x->v.operand[0].staged; i++)
        put_parameter(&w, GPU_GUFUNC_STAGED, i ? 0 : x->n);
    if (x->coop == COOP_GRID) {
        put_parameter(&w, GPU_GUFUNC_BLOCKS, x->blocks);
        put_address(&w, GPU_GUFUNC_SLOTS, (void *)(uintptr_t)x->slots);
    }
    put_core(&w, t->layout, core);
    parameters_finish(&w);
    return (int)(w.next - words);
}

static bool has_mean(const trial *x) { return x->kernel == SPREAD || x->kernel == MOMENTS; }

/* The maximum, or the mean, or what is nearly that of `spread`; no number, if one is none. */
static double shift_of(const trial *x, const double *row) {
    double top = -INFINITY, mean = 0;
    for (int64_t i = 0; i < x->n; i++) {
        top = row[i] > top || isnan(row[i]) ? row[i] : top;
        mean += row[i] / (double)(x->n + (x->kernel == SPREAD));
        if (isnan(top))
            break;
    }
    return has_mean(x) ? mean : top;
}

static double value_of(const trial *x, double one, double w, double shift, double sum) {
    switch (x->kernel) {
    case EACH:
        return one * 3 + w;
    case VAST:
        return w + (x->n < 2 ? 0 : INFINITY);
    case SOFT:
        return (isfinite(one) ? exp(one - shift) : 1) * (1 / sum) * w;
    default:
        return (one - shift) * w + sum;
    }
}

/* What y must hold, element by element of its memory. */
static void expect(const trial *x, double *y) {
    static double row[LONGEST];
    for (int64_t i = 0; i < ROOM; i++)
        y[i] = get(x->type, x->memory[2], i);
    for (int c = 0; c < CALLS; c++) {
        double sum = 0;
        for (int64_t i = 0; i < x->n; i++)
            row[i] = get(x->type, x->memory[0], x->at[0] + c * x->stride + i);
        const double shift = shift_of(x, row);
        for (int64_t i = 0; i < x->n; i++)
            sum += x->kernel == SOFT ? exp(row[i] - shift)
                   : has_mean(x)     ? (row[i] - shift) * (row[i] - shift)
                                     : row[i] - shift;
        for (int64_t i = 0; i < x->n; i++) {
            double value = value_of(x, row[i], get(x->type, x->memory[1], x->at[1] + i), shift, sum);
            y[x->at[2] + c * x->stride + i] = x->type == DT_INT16 ? (int16_t)(int64_t)value : value;
        }
    }
}

/* Exact, or of floats as near as sums of so many terms are. */
static bool is_near(const trial *x, double got, double want) {
    double near = x->type == DT_FLOAT32 ? 1e-5 : x->type == DT_FLOAT64 ? 1e-12 : 0;
    if (isnan(want) || isinf(want) || near == 0)
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= near * (fabs(want) + (has_mean(x) ? 1e4 : 0));
}

static void run(trial *x) {
    static double y[ROOM];
    arena a = {0};
    gu_kernel k = kernels[x->kernel];
    char types[64];
    const char *type = dtypes[x->type].name;
    uint64_t words[WORDS];
    snprintf(types, sizeof types, "%s,%s->%s", type, type, type);
    k.types = types;
    const tree *t = gu_tree(&a, &k);
    draw_variant(x, t);
    expect(x, y);
    int count = write_words(x, t, words);
    code_module m = gu_generate(&a, &k, t, &x->v, &gu_gpu);
    int threads = x->coop == COOP_GRID ? 1 << variant_grid_block(&x->v) : x->coop <= COOP_WARP ? 64 : 1 << x->coop;
    int blocks = x->coop == COOP_GRID ? x->blocks * x->coops : x->cluster ? CALLS << x->cluster : x->coops;
    const char *wrong = sim_run(&m, words, count, blocks, threads);
    for (int64_t i = 0; i < ROOM && !wrong; i++)
        if (!is_near(x, get(x->type, x->memory[2], i), y[i])) {
            fprintf(stderr, "element %lld is %g, not %g\n", (long long)i, get(x->type, x->memory[2], i), y[i]);
            wrong = "another element than expected";
        }
    if (wrong) {
        gu_describe(&k, &x->v);
        fail_msg("%s: n %lld, %lld apart, at %lld, %lld and %lld, %d blocks of %d groups, clusters of %d: %s", k.name,
                 (long long)x->n, (long long)x->stride, (long long)x->at[0], (long long)x->at[1], (long long)x->at[2],
                 x->blocks, x->coops, 1 << x->cluster, wrong);
    }
    text_free(&m.ir);
    arena_free(&a);
}

static void test_rows(void **state) {
    static trial x;
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    if (!sim_there())
        skip();
    count_held = count_parts = 0;
    memset(count_even, 0, sizeof count_even);
    for (int64_t i = 0;
         i < trials(40) || !count_held || !count_parts || !count_even[EVEN_VECTORS] || !count_even[EVEN_ROUNDS]; i++) {
        x.kernel = (which)pick(EACH, SOFT);
        draw_arrays(&x);
        run(&x);
    }
}

/* The code of pieces in the blocks of a cluster, which is simulated above: libNVVM and ptxas take it. */
static void test_clusters(void **state) {
    static const gu_kernel compiled[] = {
        {"soft", "(n)->(n)",
         "(x) -> (y) { auto top = max(i : n, x[i]); auto s = 1 / sum(i : n, exp(x[i] - top)); forall (i : n) y[i] = "
         "exp(x[i] - top) * s; }",
         "float32->float32"},
        {"wide", "(n)->(n)",
         "(x) -> (y) { auto top = max(i : n, x[i]); auto s = sum(i : n, x[i] * x[i]); forall (i : n) y[i] = x[i] * s + "
         "top; }",
         "float64->float64"},
        {"short", "(n)->(n)",
         "(x) -> (y) { auto top = min(i : n, x[i]); auto s = sum(i : n, x[i] - top); forall (i : n) y[i] = x[i] / s; }",
         "bfloat16->bfloat16"},
    };
    (void)state;
    if (!nvvm_found())
        skip();
    for (int64_t i = 0; i < trials(6); i++) {
        arena a = {0};
        gu_kernel k = compiled[pick(0, COUNT(compiled) - 1)];
        const tree *t = gu_tree(&a, &k);
        int size = dtypes[t->kernel->locals[0].type].size;
        variant v = gu_variant(t, (int)pick(COOP_WARP + 1, COOP_BLOCK), 0,
                               1 << pick(0, __builtin_ctz(16u / (unsigned)size)), 1 << pick(0, 3));
        v.gufunc.pieces = 1;
        v.gufunc.cluster = (uint8_t)pick(1, 3);
        v.operand[0].staged = chance(80);
        code_module m = gu_generate(&a, &k, t, &v, &gu_gpu);
        const char *ptx, *wrong = nvvm_judge(&m, 90, true, &ptx);
        if (wrong) {
            gu_describe(&k, &v);
            fail_msg("%s", wrong);
        }
        if (getenv("SHOW_IR"))
            puts(ptx);
        assert_non_null(strstr(ptx, "st.async"));
        assert_non_null(strstr(ptx, "mbarrier.try_wait"));
        text_free(&m.ir);
        arena_free(&a);
    }
}

static void test_elsewhere(void **state) {
    static const struct {
        const char *source;
        uint64_t elsewhere;
    } cases[] = {
        {"(x, w) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] / s * w[i]; }", 0},
        {"(x, w) -> (y) { forall (i : n) y[i] = x[i] - w[0]; }", 2},
        {"(x, w) -> (y) { auto s = x[0]; forall (i : n) y[i] = x[i] - s + w[i]; }", 1},
        {"(x, w) -> (y) { forall (i : n) y[i] = x[n - 1 - i] * w[i]; }", 1},
        {"(x, w) -> (y) { auto s = sum(i : n, x[i] * max(j : n, w[j])); forall (i : n) y[i] = w[i] + s; }", 2},
        {"(x, w) -> (y) { auto s = sum(i : n, j : n, x[i] * w[j]); forall (i : n) y[i] = s; }", 3},
        {"(x, w) -> (y) { forall (i : n) y[n - 1 - i] = x[i] * w[i]; }", 4},
        {"total(a[n]) { return sum(i : n, a[i]); } (x, w) -> (y) { auto s = total(x); forall (i : n) y[i] = w[i] + s; "
         "}",
         0},
        {"last(a[n]) { return a[n - 1]; } (x, w) -> (y) { auto s = last(x); forall (i : n) y[i] = w[i] + s; }", 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"elsewhere", "(n),(n)->(n)", cases[i].source, "float32,float32->float32"};
        code_traits traits;
        ir_traits(gu_tree(&a, &k), &traits);
        if (traits.elsewhere != cases[i].elsewhere)
            fail_msg("%s: %llu", k.source, (unsigned long long)traits.elsewhere);
        arena_free(&a);
    }
}

static void test_simple(void **state) {
    static const struct {
        const char *source;
        bool simple;
    } cases[] = {
        {"(x, w) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] / s * w[i]; }", true},
        {"(x, w) -> (y) { forall (i : n) { auto z = x[i]; y[i] = z * w[i]; } }", true},
        {"(x, w) -> (y) { forall (i : n) { auto z = x[i]; while (z > 3) z = z / 2; y[i] = z * w[i]; } }", false},
        {"(x, w) -> (y) { forall (i : n) if (x[i] > 0) y[i] = w[i]; }", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        gu_kernel k = {"simple", "(n),(n)->(n)", cases[i].source, "float32,float32->float32"};
        code_traits traits;
        ir_traits(gu_tree(&a, &k), &traits);
        if (traits.simple != cases[i].simple)
            fail_msg("%s", k.source);
        arena_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_simple),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
