/* test_cuda_launched_calls.c - calls on the GPU, the whole way from uf_call, plans and reductions to the launch of real PTX on the mock
 * driver, which refuses blocks of parameters of another size than the PTX declares, and blocks of more threads than it was compiled for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/code.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "mock_child.h"

typedef struct function {
    const char *layout, *signatures, *source;
    const char *dims[3]; /* of each argument, by letter; NULL: no more */
} function;

static const function functions[] = {
    {"(n)->()", "float32->float32", "(x) -> (y) { y = sum(i : n, x[i]); }", {"a", ""}},
    {"(n),(n)->()", "float64,float32->float64", "(x, z) -> (y) { y = sum(i : n, x[i] * z[i]); }", {"a", "a", ""}},
    {"(m,n),(n)->(m)",
     "float32,float32->float32",
     "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }",
     {"ab", "b", "a"}},
    {"(m,n),(n,p)->(m,p)",
     "complex64,complex64->complex64",
     "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }",
     {"ab", "bc", "ac"}},
    {"(n)->(n)",
     "float32->float32",
     "(x) -> (y) { auto m = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - m)); forall (i : n) y[i] = exp(x[i] - m) "
     "/ "
     "s; }",
     {"a", "a"}},
    {"(n)->(n)",
     "int16->int64",
     "(x) -> (y) { int64_t s = 0; for (int64_t i = 0; i < n; i++) { s += x[i]; y[i] = s; } }",
     {"a", "a"}},
};

/* Arguments with extents 4, 40, .. and some loop dimensions; nothing looks at the memory. Every other argument is packed, or
 * all of them. */
static void call_function(const uf_func *f, const function *what, const int64_t *sizes, int64_t calls, bool padded) {
    DLTensor args[3];
    int64_t shape[3][4], strides[3][4];
    dtype types[UF_MAX_OPERANDS];
    int nin, nout, n = 0;
    CHECK(!signature_parse(what->signatures, types, &nin, &nout));
    for (; n < nin + nout; n++) {
        int rank = 0;
        shape[n][rank++] = calls;
        for (const char *p = what->dims[n]; *p; p++)
            shape[n][rank++] = sizes[*p - 'a'];
        int64_t stride = 1;
        for (int d = rank - 1; d >= 0; d--) {
            strides[n][d] = stride;
            stride *= shape[n][d] + (padded && n % 2 == 0 ? 3 : 0);
        }
        args[n] = (DLTensor){.data = (void *)(uintptr_t)(0x100000000000 * (n + 1)),
                             .device = {kDLCUDA, 0},
                             .ndim = rank,
                             .dtype = dtypes[types[n]].dl,
                             .shape = shape[n],
                             .strides = strides[n]};
    }
    int before, after, allocated[2];
    mock->launch(&before);
    for (int again = 0; again < 2; again++) {
        CHECK(!uf_call(f, n, args, &(uf_options){.size = sizeof(uf_options), .stream = (void *)0x99}));
        allocated[again] = mock->count("cuMemAllocAsync");
    }
    CHECK(mock->launch(&after)->stream == (void *)0x99 && after == before + 2);
    CHECK(allocated[1] == allocated[0] && mock->live().allocations <= 1); /* the stream's piece, kept for slots */
    CHECK(mock->live().depth == 0 && mock->mode() == 0);
}

static void call_body(void *unused) {
    static const struct {
        int64_t sizes[3], calls;
    } cases[] = {{{3, 3, 3}, 10000},
                 {{64, 32, 16}, 5000},
                 {{5000, 1000, 1000}, 700},
                 {{1 << 19, 1 << 10, 1 << 10}, 2},
                 {{12288, 4, 4}, 300}}; /* the last: 48 KiB staged */
    int staged = 0, cooperative = 0;
    unsigned sizes_seen = 0;
    code_target target;
    (void)unused;
    if (cuda_engine.target(0, &target))
        _exit(77); /* no libnvvm */
    for (size_t i = 0; i < COUNT(functions); i++) {
        uf_func *f;
        CHECK(!uf_guvectorize(&f, "f", functions[i].layout, functions[i].signatures, functions[i].source));
        for (size_t j = 0; j < 2 * COUNT(cases); j++) {
            call_function(f, &functions[i], cases[j / 2].sizes, cases[j / 2].calls, j % 2);
            const mock_launch *m = mock->launch(&(int){0});
            staged += m->shared != 0;
            cooperative += m->cooperative;
            sizes_seen |= m->threads;
        }
        uf_free(f);
    }
    CHECK(staged && cooperative && (sizes_seen & 512) && (sizes_seen & 128) && (sizes_seen & 32));
}

static void test_calls(void **unused) {
    (void)unused;
    int status = child_status(call_body, NULL);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- Loops that go by squares ---- */

/* How many parameters the last launch had. */
static int launched(void) {
    int count;
    return (int)(mock->launch(&count)->bytes / sizeof(uint64_t));
}

/* Dot products over a loop of 64 by `columns`, the first input with a gap behind each row, the second across if so. By a call or a plan.
 * Returns the parameters of the launch. */
static int dots(const uf_func *f, int64_t columns, bool across, bool planned) {
    int64_t shape[3] = {64, columns, 4}, first[3] = {4 * columns + 4, 4, 1}, second[3] = {4 * columns, 4, 1};
    void *data[3];
    uf_plan *p;
    if (across) {
        second[0] = 4;
        second[1] = 4 * 64;
    }
    DLTensor args[3];
    for (int k = 0; k < 3; k++) {
        data[k] = (void *)(uintptr_t)(0x100000000000 * (k + 1));
        args[k] = (DLTensor){.data = data[k],
                             .device = {kDLCUDA, 0},
                             .ndim = k < 2 ? 3 : 2,
                             .dtype = dtypes[DT_FLOAT32].dl,
                             .shape = shape,
                             .strides = k == 0   ? first
                                        : k == 1 ? second
                                                 : NULL};
    }
    if (!planned) {
        CHECK(!uf_call(f, 3, args, NULL));
        return launched();
    }
    CHECK(!uf_plan_new(&p, f, 3, args, NULL));
    CHECK(!uf_plan_run(p, data, NULL));
    uf_plan_free(p);
    return launched();
}

static void squares_body(void *unused) {
    code_target target;
    uf_func *f;
    (void)unused;
    if (cuda_engine.target(0, &target))
        _exit(77); /* no libnvvm */
    CHECK(!uf_load(&f, "vecdot"));
    int plain = dots(f, 128, false, false), squares = dots(f, 128, true, false);
    CHECK(squares > plain && dots(f, 128, true, true) == squares && dots(f, 128, false, true) == plain);
    /* one dimension more for whole rows, and none where nothing divides */
    int rows = dots(f, 101, true, false);
    CHECK(rows > plain && rows < squares);
    CHECK(dots(f, 5, true, false) == plain);
    /* calls that are too few for unrolled code do not go by squares */
    CHECK(dots(f, 3, true, false) < squares);
    uf_free(f);
}

static void test_squares(void **unused) {
    (void)unused;
    int status = child_status(squares_body, NULL);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- Records: one address a group, for calls, plans at other addresses, and reductions ---- */

enum {
    RECORDS = 1000
};

static DLTensor field_of(uintptr_t at, int64_t *stride) {
    static int64_t shape = RECORDS;
    return (DLTensor){.data = (char *)at,
                      .device = {kDLCUDA, 0},
                      .ndim = 1,
                      .dtype = dtypes[DT_FLOAT32].dl,
                      .shape = &shape,
                      .strides = stride};
}

static void record_body(void *user) {
    static const uintptr_t a = 0x100000000000, b = 0x200000000000, r = 0x300000000000;
    int64_t two = 2;
    uf_func *f, *g;
    uf_plan *p;
    code_target target;
    (void)user;
    if (cuda_engine.target(0, &target))
        _exit(77); /* no libnvvm */
    CHECK(!uf_vectorize(&f, "f", "ffff->ff", "(a, b, c, d) -> (r, s) { r = a + c; s = b + d; }"));
    DLTensor args[] = {field_of(a, &two),     field_of(a + 4, &two), field_of(b, &two),
                       field_of(b + 4, &two), field_of(r, &two),     field_of(r + 4, &two)};
    CHECK(!uf_call(f, 6, args, NULL));
    CHECK(launched() == 3 + 2); /* addresses; elements and head */
    CHECK(!uf_plan_new(&p, f, 6, args, NULL));
    void *data[6];
    for (int k = 0; k < 6; k++)
        data[k] = args[k].data;
    CHECK(!uf_plan_run(p, data, NULL) && launched() == 3 + 2);
    data[1] = (char *)(a + 0x1000000);                             /* now fields of other records than those of a */
    CHECK(!uf_plan_run(p, data, NULL) && launched() == 4 + 1 + 4); /* one dimension of any strides */
    data[1] = args[1].data;
    CHECK(!uf_plan_run(p, data, NULL) && launched() == 3 + 2);
    uf_plan_free(p);

    CHECK(!uf_define(&g, &(uf_definition){.size = sizeof(uf_definition),
                                          .name = "g",
                                          .nsections = 1,
                                          .sections = &(uf_section){"ff->f", NULL},
                                          .reduction = &(uf_reduction_def){.size = sizeof(uf_reduction_def),
                                                                           .state = "f",
                                                                           .map = "(x, y) { return x * y; }",
                                                                           .combine = "(a, b) { return a + b; }",
                                                                           .identity = "0"}}));
    DLTensor one = field_of(r, NULL), both[] = {args[0], args[1], one}, apart[] = {args[0], args[2], one};
    one.ndim = both[2].ndim = apart[2].ndim = 0;
    CHECK(!uf_reduce(g, 3, both, NULL));
    int together = launched();
    CHECK(!uf_reduce(g, 3, apart, NULL));
    CHECK(launched() == together + 3); /* an address more, and its strides in two loops */
    uf_free(f);
    uf_free(g);
}

static void test_records(void **unused) {
    (void)unused;
    int status = child_status(record_body, NULL);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- main ---- */

static int begin(void **unused) {
    (void)unused;
    assert_true(mock_find());
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_squares),
                                       cmocka_unit_test(test_records)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
