/* test_schema.c - the parameters of kernels: what each class and engine has, in which order; and that who reads or writes another one than
 * the next, or not all of them, is stopped. */
#include "type/schema.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* ---- The rows ---- */

typedef struct sample {
    const char *name;
    variant v;
    bool gpu;
    const char *parameters; /* row, times how many parameters */
} sample;

static const core_layout two_sizes = {.nparameters = 5};

#define ARRAY \
    { .memory = DT_FLOAT32, .value = DT_FLOAT32 }
#define NUMBER(t) \
    { .memory = (t), .value = (t), .kind = OPERAND_NUMBER }
#define POSITION \
    { .memory = DT_INT64, .value = DT_INT64, .kind = OPERAND_POSITION }

static const sample samples[] = {
    {"flat",
     {.loop = LOOP_FLAT, .ndim = 1, .nin = 2, .nout = 1, .operand = {ARRAY, NUMBER(DT_COMPLEX128), ARRAY}},
     false,
     "PARAMETER_OPERANDS 4, CPU_FLAT_ELEMENTS 1, "},
    {"flat",
     {.loop = LOOP_FLAT, .ndim = 1, .nin = 2, .nout = 1, .operand = {ARRAY, NUMBER(DT_COMPLEX64), ARRAY}},
     true,
     "PARAMETER_OPERANDS 3, GPU_FLAT_ELEMENTS 1, GPU_FLAT_HEAD 1, "},
    {"rows",
     {.loop = LOOP_ROWS, .ndim = 2, .nin = 1, .nout = 1, .masked = 1, .operand = {NUMBER(DT_INT8), ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 3, CPU_LOOP_EXTENTS 2, CPU_LOOP_STRIDES 4, "},
    {"rows",
     {.loop = LOOP_ROWS, .ndim = 2, .nin = 1, .nout = 1, .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_ROWS_EXTENTS 2, GPU_ROWS_SHIFT 1, GPU_ROWS_VECTORS 1, GPU_ROWS_ACROSS 3, GPU_ROWS_DOWN "
     "3, "
     "GPU_ROWS_STRIDES 2, "},
    {"rows of five dimensions",
     {.loop = LOOP_ROWS, .ndim = 5, .nin = 1, .nout = 1, .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_ROWS_EXTENTS 2, GPU_ROWS_SHIFT 1, GPU_ROWS_VECTORS 1, GPU_ROWS_ACROSS 3, GPU_ROWS_DOWN "
     "3, "
     "GPU_ROWS_OUTER 6, GPU_ROWS_STRIDES 8, "},
    {"general",
     {.loop = LOOP_GENERAL, .ndim = 3, .nin = 1, .nout = 1, .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_GENERAL_ELEMENTS 1, GPU_GENERAL_EXTENTS 6, GPU_GENERAL_STRIDES 6, "},
    {"tiles",
     {.loop = LOOP_TILE, .ndim = 4, .nin = 1, .nout = 1, .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_TILE_EXTENTS 2, GPU_TILE_ALIGNED 1, GPU_TILE_ACROSS 3, GPU_TILE_DOWN 3, GPU_TILE_OUTER "
     "3, "
     "GPU_TILE_STRIDES 8, "},
    {"tiles",
     {.loop = LOOP_TILE, .ndim = 2, .nin = 1, .nout = 1, .operand = {ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 2, CPU_LOOP_EXTENTS 2, CPU_LOOP_STRIDES 4, "},
    {"inner calls",
     {.loop = LOOP_GUFUNC, .ndim = 2, .nin = 1, .nout = 1, .operand = {ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 2, CPU_LOOP_EXTENTS 2, CPU_LOOP_STRIDES 4, PARAMETER_CORE 5, "},
    {"inner calls that report",
     {.loop = LOOP_GUFUNC, .ndim = 1, .nin = 1, .nout = 1, .reports = REPORTS_ERRORS, .operand = {ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 2, CPU_LOOP_EXTENTS 2, CPU_LOOP_STRIDES 4, CPU_GUFUNC_FIRST 1, PARAMETER_REPORT 1, "
     "PARAMETER_CORE 5, "},
    {"inner calls of a grid",
     {.loop = LOOP_GUFUNC, .ndim = 2, .nin = 1, .nout = 1, .gufunc.coop = COOP_GRID, .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_GUFUNC_CALLS 1, GPU_GUFUNC_ALIGNED 1, GPU_GUFUNC_EXTENTS 3, GPU_GUFUNC_STRIDES 4, "
     "GPU_GUFUNC_BLOCKS 1, "
     "GPU_GUFUNC_SLOTS 1, PARAMETER_CORE 5, "},
    {"inner calls of a grid, side by side",
     {.loop = LOOP_GUFUNC,
      .ndim = 1,
      .nin = 1,
      .nout = 1,
      .gufunc.coop = COOP_GRID,
      .gufunc.across = 3,
      .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_GUFUNC_CALLS 1, GPU_GUFUNC_ALIGNED 1, GPU_GUFUNC_STRIDES 2, GPU_GUFUNC_BLOCKS 1, "
     "GPU_GUFUNC_SIDE 3, GPU_GUFUNC_RANKS 1, "
     "GPU_GUFUNC_SLOTS 1, PARAMETER_CORE 5, "},
    {"staged inner calls",
     {.loop = LOOP_GUFUNC, .ndim = 1, .nin = 1, .nout = 1, .reports = REPORTS_STEPS, .operand = {{.staged = 1}, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_GUFUNC_CALLS 1, GPU_GUFUNC_ALIGNED 1, GPU_GUFUNC_STRIDES 2, GPU_GUFUNC_STAGED 3, "
     "PARAMETER_REPORT 1, "
     "PARAMETER_CORE 5, "},
    {"fold",
     {.loop = LOOP_FOLD,
      .ndim = 1,
      .nin = 1,
      .nout = 1,
      .reduction.reduced = 2,
      .position = 1,
      .operand = {ARRAY, ARRAY, POSITION}},
     false,
     "PARAMETER_OPERANDS 3, CPU_FOLD_RESULTS 1, CPU_FOLD_KEPT_STRIDES 3, CPU_FOLD_ELEMENTS 1, CPU_FOLD_FIRST 1, "
     "CPU_FOLD_LAST 1, "
     "CPU_FOLD_EXTENTS 1, CPU_FOLD_REDUCED_STRIDES 4, "},
    {"fold",
     {.loop = LOOP_FOLD,
      .ndim = 1,
      .nin = 1,
      .nout = 1,
      .segmented = 1,
      .reduction.reduced = 1,
      .operand = {ARRAY, ARRAY, ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 4, CPU_FOLD_RESULTS 1, CPU_FOLD_KEPT_STRIDES 4, CPU_FOLD_ELEMENTS 1, CPU_FOLD_FIRST 1, "
     "CPU_FOLD_LAST 1, CPU_FOLD_STOP 1, CPU_FOLD_REDUCED_STRIDES 1, "},
    {"fold",
     {.loop = LOOP_FOLD,
      .ndim = 2,
      .nin = 1,
      .nout = 1,
      .reduction.reduced = 1,
      .reports = REPORTS_CANCEL,
      .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_FOLD_RESULTS 1, GPU_FOLD_TOTAL 1, GPU_FOLD_ELEMENTS 1, GPU_FOLD_ALIGNED 1, "
     "GPU_FOLD_KEPT 3, "
     "GPU_FOLD_KEPT_STRIDES 4, GPU_FOLD_REDUCED_STRIDES 1, PARAMETER_REPORT 1, "},
    {"fold by columns into states",
     {.loop = LOOP_FOLD,
      .ndim = 1,
      .nin = 1,
      .nout = 1,
      .masked = 1,
      .reduction.reduced = 2,
      .reduction.columns = 1,
      .reduction.to_states = 1,
      .operand = {ARRAY, ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 3, GPU_FOLD_RESULTS 1, GPU_FOLD_TOTAL 1, GPU_FOLD_ELEMENTS 1, GPU_FOLD_ALIGNED 1, "
     "GPU_FOLD_CHUNK 1, "
     "GPU_FOLD_CHUNK_STRIDE 1, GPU_FOLD_PARTS 3, GPU_FOLD_COLUMNS 1, GPU_FOLD_SHIFT 1, GPU_FOLD_ACROSS 3, "
     "GPU_FOLD_UNIT 3, "
     "GPU_FOLD_REDUCED 3, GPU_FOLD_KEPT_STRIDES 3, GPU_FOLD_REDUCED_STRIDES 4, "},
    {"fold of nothing",
     {.loop = LOOP_FOLD,
      .ndim = 1,
      .nin = 1,
      .nout = 1,
      .reduction.reduced = 2,
      .reduction.empty = 1,
      .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_FOLD_RESULTS 1, GPU_FOLD_TOTAL 1, GPU_FOLD_ELEMENTS 1, GPU_FOLD_ALIGNED 1, "
     "GPU_FOLD_KEPT_STRIDES 1, "},
    {"scan",
     {.loop = LOOP_SCAN, .ndim = 1, .nin = 1, .nout = 1, .reduction.reduced = 1, .operand = {ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 2, CPU_SCAN_LINES 1, CPU_SCAN_KEPT_STRIDES 2, CPU_SCAN_ELEMENTS 1, CPU_SCAN_FIRST 1, "
     "CPU_SCAN_ALONG_STRIDES 2, "
     "CPU_SCAN_CARRY 1, CPU_SCAN_RESUMES 1, CPU_SCAN_WHAT 1, "},
    {"scan",
     {.loop = LOOP_SCAN, .ndim = 2, .nin = 1, .nout = 1, .reduction.reduced = 1, .operand = {ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_SCAN_LINES 1, GPU_SCAN_LENGTH 1, GPU_SCAN_ALIGNED 1, GPU_SCAN_TILES 1, GPU_SCAN_ORDER "
     "3, GPU_SCAN_COLUMNS 3, "
     "GPU_SCAN_COUNTER 1, GPU_SCAN_LEVEL 3, GPU_SCAN_KEPT 3, GPU_SCAN_KEPT_STRIDES 4, GPU_SCAN_ALONG_STRIDES 2, "},
    {"updates in place",
     {.loop = LOOP_AT,
      .ndim = 1,
      .nin = 2,
      .nout = 1,
      .nindices = 2,
      .reports = REPORTS_STEPS,
      .operand = {ARRAY, NUMBER(DT_FLOAT32), ARRAY, ARRAY, ARRAY}},
     false,
     "PARAMETER_OPERANDS 5, CPU_LOOP_EXTENTS 2, CPU_LOOP_STRIDES 8, PARAMETER_INDEXED 4, CPU_AT_OUTSIDE 1, "
     "PARAMETER_REPORT 1, "},
    {"updates in place",
     {.loop = LOOP_AT, .ndim = 2, .nin = 1, .nout = 1, .nindices = 1, .operand = {ARRAY, ARRAY, ARRAY}},
     true,
     "PARAMETER_OPERANDS 3, PARAMETER_INDEXED 2, GPU_GENERAL_ELEMENTS 1, GPU_GENERAL_EXTENTS 3, GPU_GENERAL_STRIDES "
     "6, "},
    {"indices",
     {.loop = LOOP_FORALL, .ndim = 3, .nin = 1, .operand = {{.nontemporal = 1}}},
     false,
     "PARAMETER_OPERANDS 1, CPU_FORALL_FIRST 1, CPU_FORALL_LAST 1, CPU_FORALL_ROWS 1, CPU_FORALL_INDEX 2, "
     "CPU_FORALL_COPY 1, PARAMETER_CORE 5, "},
    {"indices",
     {.loop = LOOP_FORALL, .ndim = 2, .nin = 2, .operand = {{.privatised = 1}, ARRAY}},
     true,
     "PARAMETER_OPERANDS 2, GPU_FORALL_TILES 1, GPU_FORALL_EXTENTS 3, GPU_FORALL_PRIVATE 1, PARAMETER_CORE 5, "},
};

static void walk(const sample *s, text *out) {
    parameter_cursor c = parameters_begin(&s->v, &two_sizes, s->gpu);
    int n = schema_count(&s->v, &two_sizes, s->gpu);
    while (!parameters_ended(&c)) {
        parameter_id id = c.s->ids[c.row];
        int count = c.left;
        assert_int_equal(schema_place(&s->v, &two_sizes, s->gpu, id), c.number);
        text_printf(out, "%s %d, ", parameter_rows[id].name, count);
        for (int i = 0; i < count; i++)
            parameter_next(&c, id);
    }
    assert_int_equal(c.number, n);
}

static void test_rows(void **unused) {
    (void)unused;
    for (size_t i = 0; i < COUNT(samples); i++) {
        text got = {0};
        walk(&samples[i], &got);
        if (strcmp(got.data, samples[i].parameters))
            fail_msg("%s, %s:\n%s\nnot\n%s", samples[i].name, samples[i].gpu ? "GPU" : "CPU", got.data,
                     samples[i].parameters);
        text_free(&got);
    }
}

/* Every row is some kernel's, and says what it is. */
static void test_all_used(void **unused) {
    bool used[PARAMETER_IDS] = {false};
    (void)unused;
    for (int loop = 0; loop < LOOP_CLASSES; loop++)
        for (int gpu = 0; gpu < 2; gpu++) {
            const schema *s = schema_of(&(variant){.loop = (uint8_t)loop}, gpu);
            assert_true(s->rows > 1);
            for (int i = 0; i < s->rows; i++)
                used[s->ids[i]] = true;
        }
    for (int id = 0; id < PARAMETER_IDS; id++)
        if (!used[id] || strlen(parameter_rows[id].what) < 5)
            fail_msg("%s is nobody's, or does not say what it is", parameter_rows[id].name);
}

/* ---- Values ---- */

static void test_values(void **unused) {
    static const uint64_t bytes[2][2] = {{0}, {7, 8}};
    variant v = {
        .loop = LOOP_GENERAL, .ndim = 2, .nin = 2, .nout = 1, .operand = {ARRAY, NUMBER(DT_COMPLEX128), ARRAY}};
    (void)unused;
    for (int wide = 0; wide < 2; wide++) {
        uint64_t p[16];
        v.wide = (uint8_t)wide;
        parameter_writer w = parameters_write(p, &v, NULL, true);
        for (int k = 0; k < 3; k++)
            put_operand(&w, k, 0x1000 + (uint64_t)k, bytes);
        uint64_t *at = put_parameter(&w, GPU_GENERAL_ELEMENTS, 30);
        put_divisor(&w, GPU_GENERAL_EXTENTS, 10);
        for (int i = -2; i < 2; i++)
            put_parameter(&w, GPU_GENERAL_STRIDES, i);
        parameters_finish(&w);
        magic m = magic_of(10, wide ? 64 : 32);
        const uint64_t expected[] = {0x1000,       7, 8, 0x1002, 30, 10, m.multiplier, m.shift, (uint64_t)-2,
                                     (uint64_t)-1, 0, 1};
        assert_int_equal(w.next - p, COUNT(expected));
        assert_memory_equal(p, expected, sizeof expected);
        assert_ptr_equal(at, p + 4);
    }
}

static void test_types(void **unused) {
    variant v = {.loop = LOOP_GENERAL, .ndim = 2, .nin = 0, .nout = 1, .operand = {ARRAY}};
    (void)unused;
    for (int wide = 0; wide < 2; wide++) {
        v.wide = (uint8_t)wide;
        parameter_type index = wide ? TYPE_I64 : TYPE_I32;
        parameter_cursor c = parameters_begin(&v, NULL, true);
        assert_int_equal(parameter_next(&c, PARAMETER_OPERANDS), TYPE_I64);
        assert_int_equal(parameter_next(&c, GPU_GENERAL_ELEMENTS), index);
        for (int i = 0; i < 3; i++)
            assert_int_equal(parameter_next(&c, GPU_GENERAL_EXTENTS), index);
        assert_int_equal(parameter_next(&c, GPU_GENERAL_STRIDES), index);
    }
    v = (variant){.loop = LOOP_GUFUNC, .ndim = 1, .nout = 1, .operand = {{.staged = 1}}};
    parameter_cursor c = parameters_begin(&v, &two_sizes, true);
    parameter_next(&c, PARAMETER_OPERANDS);
    assert_int_equal(parameter_next(&c, GPU_GUFUNC_CALLS), TYPE_I64);
    assert_int_equal(parameter_next(&c, GPU_GUFUNC_ALIGNED), TYPE_I1);
    parameter_next(&c, GPU_GUFUNC_STRIDES);
    assert_int_equal(parameter_next(&c, GPU_GUFUNC_STAGED), TYPE_I32);
    assert_int_equal(parameter_next(&c, GPU_GUFUNC_STAGED), TYPE_I32);
    assert_int_equal(parameter_next(&c, GPU_GUFUNC_STAGED), TYPE_I64);
}

/* ---- What stops ---- */

#ifndef NDEBUG
static const variant flat = {.loop = LOOP_FLAT, .ndim = 1, .nout = 1, .operand = {ARRAY}};

static void write_other(void) {
    uint64_t p[4];
    parameter_writer w = parameters_write(p, &flat, NULL, true);
    put_operand(&w, 0, 0, NULL);
    put_parameter(&w, GPU_FLAT_HEAD, 0); /* the elements come first */
}

static void write_few(void) {
    uint64_t p[4];
    parameter_writer w = parameters_write(p, &flat, NULL, true);
    put_operand(&w, 0, 0, NULL);
    put_parameter(&w, GPU_FLAT_ELEMENTS, 1);
    parameters_finish(&w);
}

static void write_many(void) {
    uint64_t p[4];
    parameter_writer w = parameters_write(p, &flat, NULL, true);
    put_operand(&w, 0, 0, NULL);
    put_parameter(&w, GPU_FLAT_ELEMENTS, 1);
    put_parameter(&w, GPU_FLAT_HEAD, 0);
    put_parameter(&w, GPU_FLAT_HEAD, 0);
}

static void read_other(void) {
    parameter_cursor c = parameters_begin(&flat, NULL, false);
    parameter_next(&c, PARAMETER_OPERANDS);
    parameter_next(&c, GPU_FLAT_ELEMENTS); /* another engine's */
}

static void test_stops(void **unused) {
    static void (*const wrong[])(void) = {write_other, write_few, write_many, read_other};
    (void)unused;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            signal(SIGABRT, SIG_DFL); /* cmocka's own handler would go on with the tests */
            if (!freopen("/dev/null", "w", stderr))
                _exit(1);
            wrong[i]();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_all_used),
        cmocka_unit_test(test_values), cmocka_unit_test(test_types),
#ifndef NDEBUG
        cmocka_unit_test(test_stops),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
