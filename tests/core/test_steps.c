/* test_steps.c - kernels that take long: max_steps and cancel through the public interface, in all verbs, on the CPU, or with
 * UF_TEST_GPU=1 on the GPU, where the call that waits says it. What ends, what is reported and what is left; that all else is computed
 * to the same bits as without; which loops are proved short, and that kernels which have no others are the same code. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "define.h"
#include "draw.h"
#include "expect.h"
#include "ufunc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    N = 40,
    HOSTILE = 7, /* the value of an element whose kernel does not end, and its place */
    KEPT = -77,
    STEPS = 1000
};

static const DLDataType int64 = {kDLInt, 64, 1};

static bool on_gpu(void) { return getenv("UF_TEST_GPU") != NULL; }

static uf_status settle(uf_status s) { return s || !on_gpu() ? s : uf_sync((DLDevice){kDLCUDA, 0}, NULL); }

/* Memory that both the host and the device of the calls use. */
static DLManagedTensor *array(int ndim, const int64_t *shape) {
    DLManagedTensor *m;
    OK(uf_empty(&m, (DLDevice){on_gpu() ? kDLCUDAManaged : kDLCPU, 0}, int64, ndim, shape));
    return m;
}

static int64_t *data_of(const DLManagedTensor *m) { return m->dl_tensor.data; }
static void drop(DLManagedTensor *m) { m->deleter(m); }

/* 0, 1, 2, .. but for the value HOSTILE, which becomes another one unless it is wanted. */
static DLManagedTensor *line(int64_t n, bool hostile) {
    DLManagedTensor *m = array(1, &n);
    for (int64_t i = 0; i < n; i++)
        data_of(m)[i] = i == HOSTILE && !hostile ? HOSTILE + 1 : i;
    return m;
}

static DLManagedTensor *kept(int64_t n) {
    DLManagedTensor *m = array(1, &n);
    for (int64_t i = 0; i < n; i++)
        data_of(m)[i] = KEPT;
    return m;
}

static DLManagedTensor *flag_new(void) {
    DLManagedTensor *m;
    OK(uf_empty(&m, (DLDevice){on_gpu() ? kDLCUDAHost : kDLCPU, 0}, (DLDataType){kDLInt, 32, 1}, 0, NULL));
    *(int *)m->dl_tensor.data = 0;
    return m;
}

static void *set_soon(void *flag) {
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void says(uf_status s, const char *message) {
    assert_int_equal(s, UF_ERR_KERNEL);
    assert_string_equal(uf_last_error()->message, message);
}

/* ---- What ends ---- */

typedef struct row {
    int line;
    const char *source;
} row;

static const row rows[] = {
    {1, "(x) { while (x == 7) ; return x + 1; }"},
    {2, "(x) {\n  do ; while (x == 7);\n  return x + 1; }"},
    {3, "(x) {\n  int k = 0;\n  for (;;) { k++; if (x != 7) break; }\n  return k; }"},
    {1, "(x) { int k = 0; while (k < 10 || x == 7) { k++; if (k & 1) continue; k++; } return k; }"},
    {1, "(x) { int k = 0; do { if (++k & 1) continue; } while (k < 10 || x == 7); return k; }"},
    {2, "spin(n) {\n  while (n == 7) ;\n  return n; }\n(x) { return spin(x) + spin(x + 1000); }"},
    {2, "spin(n) {\n  while (n == 7) ;\n  return n; }\nmore(n) { return spin(n) * 2; }\n(x) { return more(x); }"},
    {1, "(x) { return (int64_t)(1e3 * jn(2000000000, x == 7 ? 1e9 : (double)x)); }"},
    {1, "(x) { return (int64_t)(1e3 * jn(x == 7 ? 2000000000 : 3, x == 7 ? 1e9f : 2.5f)); }"},
    {1, "(x) { return (int64_t)(1e3 * yn(x == 7 ? 2000000000 : 3, x == 7 ? 1e9 : 2.5)); }"},
    {2, "(x) {\n  return sum(i : x == 7 ? 4611686018427387904 : x, i); }"},
    {2, "(x) {\n  return max(i : x == 7 ? 4611686018427387904 : 3, j : 2, i + j); }"},
    {1, "(x) { return sum(i : x == 7 ? 4611686018427387904 : 3, j : x == 7 ? 0 : 2, i + j); }"},
    {1, "(x) { int64_t t[4]; forall (i : x == 7 ? 4611686018427387904 : 4) t[i & 3] = i; return t[2]; }"},
    {1, "add(a, b) { while (b == 8) ; return a + b; } (x) { return reduce(add, i : 3, x + i == 8 && x != 7 ? 9 : x + "
        "i); }"},
    {1, "(x) { int64_t s = 0; for (int i = 0; i < (x == 7 ? 2000000 : 5); i++) s += i; return s; }"},
    {1, "f(n) { int64_t s = 0; for (int64_t i = 0; i < n; i++) s += i; return s; } (x) { return f(x == 7 ? 1 << 30 : "
        "x); }"},
    {1, "(x) { int64_t s = 0; switch (x) { case 7: for (;;) s++; default: s = 3; } return s; }"},
};

static void test_elements(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        char message[128];
        const row *r = &rows[i / 2];
        uf_func *f = define("long", NULL, "int64->int64", r->source, i % 2 ? UF_DEBUG : 0, STEPS);
        uf_func *free = define("long", NULL, "int64->int64", r->source, 0, 0);
        DLManagedTensor *x = line(N, true), *y = kept(N), *tame = line(N, false), *reference = kept(N),
                        *again = kept(N);
        snprintf(message, sizeof message, "long: line %d: the kernel took more than %d steps, at (%d)", r->line, STEPS,
                 HOSTILE);
        uf_status s = settle(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL));
        if (s != UF_ERR_KERNEL)
            print_message("%s\n", r->source);
        says(s, message);
        assert_int_equal(uf_last_error()->line, r->line);
        OK(settle(uf_call(free, 2, (DLTensor[]){tame->dl_tensor, reference->dl_tensor}, NULL)));
        OK(settle(uf_call(f, 2, (DLTensor[]){tame->dl_tensor, again->dl_tensor}, NULL)));
        assert_memory_equal(data_of(again), data_of(reference), N * sizeof(int64_t));
        for (int k = 0; k < N; k++)
            if (data_of(y)[k] != (k == HOSTILE ? KEPT : data_of(reference)[k]))
                fail_msg("%s: element %d is %lld", r->source, k, (long long)data_of(y)[k]);
        DLManagedTensor *all[] = {x, y, tame, reference, again};
        for (size_t k = 0; k < COUNT(all); k++)
            drop(all[k]);
        uf_free(f);
        uf_free(free);
    }
}

/* Exactly so many steps are allowed, and each of the ways to take them counts one. */
static void test_exactly(void **unused) {
    static const char *const sources[] = {
        "(x) { int64_t k = 0; while (k < x) k++; return k; }",
        "(x) { int64_t k = 0; do k++; while (k < x); return k; }",
        "(x) { int64_t k; for (k = 0; k < x; k += 1) if (k == -1) k = 5; return k; }",
        "(x) { return sum(i : x, 1); }",
        "f(n) { int64_t k = 0; while (k < n) k++; return k; } (x) { return f(x / 2) + f(x - x / 2); }",
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(sources); i++) {
        uf_func *f = define("exact", NULL, "int64->int64", sources[i], 0, STEPS);
        int64_t three = 3;
        DLManagedTensor *x = array(1, &three), *y = kept(3);
        for (int k = 0; k < 3; k++)
            data_of(x)[k] = STEPS - 1 + k;
        says(settle(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL)),
             "exact: line 1: the kernel took more than 1000 steps, at (2)");
        assert_true(data_of(y)[0] == STEPS - 1 && data_of(y)[1] == STEPS && data_of(y)[2] == KEPT);
        drop(x);
        drop(y);
        uf_free(f);
    }
}

/* ---- Verbs ---- */

static void test_call_verbs(void **unused) {
    (void)unused;
    uf_func *f =
        define("spin", NULL, "int64,int64->int64", "(x, y) { while (x == 7 && y == 3) ; return x + y; }", 0, STEPS);
    const int64_t across[] = {1, 12}, column[] = {5, 1}, both[] = {5, 12}, twelve[] = {12}, five[] = {5};
    DLManagedTensor *x = array(2, across), *y = array(2, column), *r = array(2, both), *flat = array(1, twelve),
                    *upright = array(1, five);
    for (int i = 0; i < 12; i++)
        data_of(x)[i] = data_of(flat)[i] = i;
    for (int i = 0; i < 5; i++)
        data_of(y)[i] = data_of(upright)[i] = i;
    memset(data_of(r), 0, 60 * sizeof(int64_t));
    static const char message[] = "spin: line 1: the kernel took more than 1000 steps, at (3, 7)";
    DLTensor args[] = {x->dl_tensor, y->dl_tensor, r->dl_tensor};
    says(settle(uf_call(f, 3, args, NULL)), message);
    for (int i = 0; i < 60; i++)
        assert_int_equal(data_of(r)[i], i == 3 * 12 + 7 ? 0 : i % 12 + i / 12);
    DLManagedTensor *where;
    OK(uf_empty(&where, x->dl_tensor.device, (DLDataType){UF_BOOL_CODE, 8, 1}, 2, both));
    memset(where->dl_tensor.data, 1, 60);
    ((int8_t *)where->dl_tensor.data)[3 * 12 + 7] = 0; /* what does not count is not begun */
    OK(settle(uf_call(f, 3, args, &(uf_options){.size = sizeof(uf_options), .where = &where->dl_tensor})));
    drop(where);
    uf_plan *plan;
    OK(uf_plan_new(&plan, f, 3, args, NULL));
    says(settle(uf_plan_run(plan, (void *[]){data_of(x), data_of(y), data_of(r)}, NULL)), message);
    uf_plan_free(plan);
    OK(settle(uf_outer(f, 3, (DLTensor[]){upright->dl_tensor, flat->dl_tensor, r->dl_tensor}, NULL))); /* nobody is 7 */
    data_of(upright)[2] = 7;
    says(settle(uf_outer(f, 3, (DLTensor[]){upright->dl_tensor, flat->dl_tensor, r->dl_tensor}, NULL)),
         "spin: line 1: the kernel took more than 1000 steps, at (2, 3)");
    DLManagedTensor *all[] = {x, y, r, flat, upright};
    for (size_t k = 0; k < COUNT(all); k++)
        drop(all[k]);
    uf_free(f);
}

static void test_gufunc(void **unused) {
    (void)unused;
    uf_func *f =
        define("gu", "(n)->(n)", "int64->int64",
               "(x) -> (y) {\n  forall (i : n) {\n    while (x[i] == 7) ;\n    y[i] = sum(j : i + 1, x[j]);\n  }\n}", 0,
               STEPS);
    const int64_t shape[] = {4, 6};
    DLManagedTensor *x = array(2, shape), *y = array(2, shape);
    for (int i = 0; i < 24; i++) {
        data_of(x)[i] = i;
        data_of(y)[i] = KEPT;
    }
    says(settle(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL)),
         "gu: line 3: the kernel took more than 1000 steps, in the inner call (1)");
    for (int i = 0; i < 24; i++) {
        int64_t all = 0;
        for (int j = i / 6 * 6; j <= i; j++)
            all += j;
        if (i / 6 != 1)
            assert_int_equal(data_of(y)[i], all);
    }
    assert_true(data_of(y)[7] == KEPT);
    drop(x);
    drop(y);
    uf_free(f);
}

/* ---- Loops over sizes: counted where the sizes allow more steps than there may be ---- */

typedef struct sized {
    int64_t steps; /* for n = 100 */
    const char *source;
} sized;

static const sized over_sizes[] = {
    {100, "(x) -> (y) { y = sum(i : n, x[i]); }"},
    {100, "(x) -> (y) { int64_t s = 0; for (int64_t i = 0; i < n; i++) s += x[i]; y = s; }"},
    {100, "(x) -> (y) { y = max(i : n, x[i] + min(j : 3, j)); }"}, /* what is short by itself does not count */
    {100 + 100 * 100, "(x) -> (y) { y = sum(i : n, j : n, x[j] - i); }"},
    {100 + 100 * 99 / 2, "(x) -> (y) { y = sum(i : n, sum(j : i, x[j])); }"},
    {1100, "(x) -> (y) { y = sum(i : n + 1000, x[i % n]); }"},
    {200, "(x) -> (y) { int64_t t[3]; forall (i : 2 * len(x)) t[i % 3] = x[0]; y = t[1]; }"},
    {100 + 100 * 70, "f(v) { int64_t s = 0; for (int i = 0; i < 70; i++) s += v; return s; } "
                     "(x) -> (y) { y = sum(i : n, f(x[i])); }"},
    {101 + 13, "(x) -> (y) { int64_t k = x[1]; while (k < 14) k++; y = k + sum(i : n + 1, i < n ? x[i] : 0); }"},
};

static void test_sizes(void **unused) {
    enum {
        SIZE = 100,
        CALLS = 3
    };
    const int64_t shape[] = {CALLS, SIZE}, calls[] = {CALLS};
    (void)unused;
    for (size_t i = 0; i < COUNT(over_sizes); i++) {
        const sized *s = &over_sizes[i];
        uf_func *free = define("sized", "(n)->()", "int64->int64", s->source, 0, 0),
                *enough = define("sized", "(n)->()", "int64->int64", s->source, 0, s->steps),
                *few = define("sized", "(n)->()", "int64->int64", s->source, 0, s->steps - 1);
        DLManagedTensor *x = array(2, shape), *y = array(1, calls), *want = array(1, calls);
        for (int k = 0; k < CALLS * SIZE; k++)
            data_of(x)[k] = k % SIZE;
        DLTensor args[] = {x->dl_tensor, y->dl_tensor};
        OK(settle(uf_call(free, 2, (DLTensor[]){x->dl_tensor, want->dl_tensor}, NULL)));
        OK(settle(uf_call(enough, 2, args, NULL)));
        assert_memory_equal(data_of(y), data_of(want), sizeof calls * CALLS);
        uf_status status = settle(uf_call(few, 2, args, NULL));
        if (status != UF_ERR_KERNEL || !strstr(uf_last_error()->message, "sized: line 1: the kernel took more than"))
            fail_msg("%s: %s", s->source, status ? uf_last_error()->message : "no error");
        uf_plan *plan;
        OK(uf_plan_new(&plan, few, 2, args, NULL));
        assert_int_equal(settle(uf_plan_run(plan, (void *[]){data_of(x), data_of(y)}, NULL)), UF_ERR_KERNEL);
        uf_plan_free(plan);
        DLManagedTensor *all[] = {x, y, want};
        for (size_t k = 0; k < COUNT(all); k++)
            drop(all[k]);
        uf_free(free);
        uf_free(enough);
        uf_free(few);
    }
}

/* Points alike; a call whose elements would take for ever by its sizes ends by a limit, however large that is, or by the flag. */
static void test_size_points(void **unused) {
    static const char sum[] = "[i](x, y) { y[i] = sum(j : len(x), x[j]); }",
                      for_ever[] =
                          "[i](x, y) { y[i] = sum(j : len(x), k : len(x), l : len(x), m : len(x), x[m] ^ l); }";
    const int64_t n = 1 << 16, few = 5;
    (void)unused;
    DLManagedTensor *x = line(n, true), *y = kept(few), *flag = flag_new();
    DLTensor args[] = {x->dl_tensor, y->dl_tensor};
    uf_func *f = define("points", NULL, "int64[], int64[]", sum, UF_KERNEL, n),
            *g = define("points", NULL, "int64[], int64[]", sum, UF_KERNEL, n - 1),
            *h[] = {define("points", NULL, "int64[], int64[]", for_ever, UF_KERNEL, INT64_C(1) << 62),
                    define("points", NULL, "int64[], int64[]", for_ever, UF_KERNEL, 0)};
    OK(settle(uf_forall(f, 1, &few, 2, args, NULL)));
    assert_true(data_of(y)[4] == n * (n - 1) / 2);
    uf_status s = settle(uf_forall(g, 1, &few, 2, args, NULL));
    assert_int_equal(s, UF_ERR_KERNEL);
    assert_non_null(strstr(uf_last_error()->message, "points: line 1: the kernel took more than 65535 steps, at ("));
    for (size_t k = 0; k < COUNT(h); k++) {
        pthread_t other;
        *(int *)flag->dl_tensor.data = 0;
        assert_int_equal(pthread_create(&other, NULL, set_soon, flag->dl_tensor.data), 0);
        s = settle(uf_forall(h[k], 1, &few, 2, args,
                             &(uf_options){.size = sizeof(uf_options), .cancel = flag->dl_tensor.data}));
        pthread_join(other, NULL);
        says(s, "points: the call was cancelled");
        uf_free(h[k]);
    }
    DLManagedTensor *all[] = {x, y, flag};
    for (size_t k = 0; k < COUNT(all); k++)
        drop(all[k]);
    uf_free(f);
    uf_free(g);
}

static void test_forall(void **unused) {
    (void)unused;
    uf_func *f = define("points", NULL, "int64[,]",
                        "[i, j](x) {\n  x[i][j] = -1;\n  while (i == 3 && j == 7) ;\n  x[i][j] = 100 * i + j;\n}",
                        UF_KERNEL, STEPS);
    const int64_t shape[] = {5, 12};
    DLManagedTensor *x = array(2, shape);
    says(settle(uf_forall(f, 2, shape, 1, &x->dl_tensor, NULL)),
         "points: line 3: the kernel took more than 1000 steps, at (3, 7)");
    for (int i = 0; i < 60; i++)
        assert_int_equal(data_of(x)[i], i == 43 ? -1 : 100 * (i / 12) + i % 12);
    uf_plan *plan;
    OK(uf_forall_plan(&plan, f, 2, shape, 1, &x->dl_tensor, NULL));
    says(settle(uf_plan_run(plan, (void *[]){data_of(x)}, NULL)),
         "points: line 3: the kernel took more than 1000 steps, at (3, 7)");
    uf_plan_free(plan);
    drop(x);
    uf_free(f);
}

/* ---- Folds ---- */

enum {
    ROWS = 70,
    COLUMNS = 900
};

static const char fold_says[] = "add: line 1: the kernel took more than 1000 steps";

/* 1, 2 or 3, and one that is hostile if it is not 0. */
static DLManagedTensor *matrix(int64_t hostile) {
    DLManagedTensor *m = array(2, (const int64_t[]){ROWS, COLUMNS});
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data_of(m)[i] = 1 + i % 3;
    data_of(m)[13 * COLUMNS + 400] = hostile ? hostile : 2;
    return m;
}

/* All three with and without the hostile element; sums must be right where there is none. */
static void fold_with(const uf_func *f, int64_t value) {
    static const int64_t starts[] = {0, 100, 401};
    for (int hostile = 0; hostile < 2; hostile++) {
        DLManagedTensor *x = matrix(hostile ? value : 0);
        for (int axis = 0; axis < 2; axis++) {
            int64_t n = axis ? ROWS : COLUMNS, segments[] = {axis ? ROWS : 3, axis ? 3 : COLUMNS};
            int64_t from[] = {starts[0], axis ? 100 : 20, axis ? 401 : 50};
            DLManagedTensor *y = kept(n), *z = array(2, (const int64_t[]){ROWS, COLUMNS}), *w = array(2, segments);
            uf_status s =
                settle(uf_reduce(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor},
                                 &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = 1, .axes = &axis}));
            uf_status t = settle(uf_accumulate(f, 2, (DLTensor[]){x->dl_tensor, z->dl_tensor}, axis, NULL));
            uf_status u =
                settle(uf_reduceat(f, 2, (DLTensor[]){x->dl_tensor, w->dl_tensor}, &UF_ARRAY(from, 3), axis, NULL));
            assert_int_equal(s, hostile ? UF_ERR_KERNEL : UF_OK);
            assert_int_equal(t, hostile ? UF_ERR_KERNEL : UF_OK);
            assert_int_equal(u, hostile ? UF_ERR_KERNEL : UF_OK);
            if (hostile)
                assert_string_equal(uf_last_error()->message, fold_says);
            for (int64_t i = 0; i < n && !hostile; i++) {
                int64_t all = 0, step = axis ? 1 : COLUMNS, *line = data_of(x) + i * (axis ? COLUMNS : 1);
                for (int64_t j = 0; j < (axis ? COLUMNS : ROWS); j++) {
                    all += line[j * step];
                    assert_int_equal(data_of(z)[i * (axis ? COLUMNS : 1) + j * step], all);
                }
                assert_int_equal(data_of(y)[i], all);
                int64_t first = 0, *part = data_of(w) + i * (axis ? 3 : 1);
                for (int64_t j = 0; j < from[1]; j++)
                    first += line[j * step];
                assert_int_equal(part[0], first);
            }
            drop(y);
            drop(z);
            drop(w);
        }
        drop(x);
    }
}

/* A binary function's operands are sums too: none is negative but where it is hostile. */
static void test_binary_folds(void **unused) {
    (void)unused;
    for (unsigned flags = 0; flags <= UF_SERIAL; flags += UF_ORDERED) {
        uf_func *f = define("add", NULL, "int64,int64->int64", "(x, y) { while (x < 0 || y < 0) ; return x + y; }",
                            flags, STEPS);
        fold_with(f, -HOSTILE);
        uf_free(f);
    }
}

/* The map, and what finishes, of a reduction. */
static void test_reductions(void **unused) {
    const uf_reduction_def map = {.size = sizeof map,
                                  .map = "(x) { while (x == 7) ; return x; }",
                                  .combine = "(a, b) { return a + b; }",
                                  .identity = "0"};
    const uf_reduction_def no_identity = {.size = sizeof map,
                                          .map = "[k](x) { while (x == 7 && k >= 0) ; return x; }",
                                          .combine = "(a, b) { int i = 0; while (i < 3) i++; return a + b + i - 3; }",
                                          .flags = UF_ORDERED};
    const uf_reduction_def finish = {.size = sizeof map,
                                     .combine = "(a, b) { return a + b; }",
                                     .finish = "(s) { while (s > 2000) ; return s; }",
                                     .identity = "0"};
    const uf_reduction_def *const defs[] = {&map, &no_identity};
    uf_section only = {.signatures = "int64->int64"};
    uf_definition d = {.size = sizeof d, .name = "add", .nsections = 1, .sections = &only, .max_steps = STEPS};
    uf_func *f;
    (void)unused;
    for (size_t i = 0; i < COUNT(defs); i++) {
        d.reduction = defs[i];
        OK(uf_define(&f, &d));
        fold_with(f, HOSTILE);
        uf_free(f);
    }
    d.reduction = &finish;
    OK(uf_define(&f, &d));
    int64_t n = 2001;
    DLManagedTensor *x = array(1, &n), *y = array(0, NULL);
    for (int64_t i = 0; i < n; i++)
        data_of(x)[i] = 1;
    says(settle(uf_reduce(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL)), fold_says);
    data_of(x)[0] = 0;
    OK(settle(uf_reduce(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL)));
    assert_int_equal(*data_of(y), 2000);
    drop(x);
    drop(y);
    uf_free(f);
}

/* An element whose update does not end keeps what it has. Whoever comes later in the same thread does too. */
static void test_updates(void **unused) {
    (void)unused;
    uf_func *f = define("add", NULL, "int64,int64->int64", "(x, y) { while (y == 7) ; return x + y; }", 0, STEPS);
    const int64_t places = 30, updates = 7;
    DLManagedTensor *target = array(1, &places), *index = array(1, &updates), *operand = array(1, &updates);
    for (int i = 0; i < places; i++)
        data_of(target)[i] = 100;
    for (int i = 0; i < updates; i++) {
        data_of(index)[i] = i == 6 ? 2 : i;
        data_of(operand)[i] = 1 + i;
    }
    OK(settle(uf_at(f, &target->dl_tensor, 1, (DLTensor[]){index->dl_tensor},
                    &(DLTensor){.data = data_of(operand),
                                .device = operand->dl_tensor.device,
                                .ndim = 1,
                                .dtype = int64,
                                .shape = (int64_t[]){updates}},
                    NULL)) == UF_ERR_KERNEL
           ? UF_OK
           : UF_ERR_ARGUMENT);
    assert_string_equal(uf_last_error()->message, fold_says);
    for (int i = 0; i < places; i++)
        assert_int_equal(data_of(target)[i], 100 + (i < 6 ? 1 + i : 0));
    data_of(operand)[6] = 50;
    OK(settle(uf_at(f, &target->dl_tensor, 1, &index->dl_tensor, &operand->dl_tensor, NULL)));
    assert_int_equal(data_of(target)[2], 100 + 3 + 3 + 50);
    drop(target);
    drop(index);
    drop(operand);
    uf_free(f);
}

/* So much code that helpers are called, not copied: the steps left go with the calls. */
static void test_much_code(void **unused) {
    enum {
        LOOPS = 15,
        CALLS = 9
    };
    char source[4096], *at = source, *ir;
    (void)unused;
    at += sprintf(at, "f(n) {\n  int64_t s = n;\n");
    for (int i = 0; i < LOOPS; i++)
        at += sprintf(at, "  for (int i = 0; i < 3 + (s == %d); i++) s += i;\n", 1000000 + i);
    at += sprintf(
        at, "  while (n == 11) ;\n  for (int64_t i = 0; i < n; i++) s += 1;\n  return s - n;\n}\n(x) { return f(x)");
    for (int i = 1; i < CALLS; i++)
        at += sprintf(at, " + f(x + %d)", i);
    strcpy(at, "; }");
    uf_func *f = define("large", NULL, "int64->int64", source, 0, 400);
    OK(uf_inspect(f, NULL, (DLDevice){on_gpu() ? kDLCUDA : kDLCPU, 0}, UF_VIEW_IR, &ir));
    assert_non_null(strstr(ir, "i64* %steps) nounwind noinline"));
    free(ir);
    DLManagedTensor *x = line(N, true), *y = kept(N);
    data_of(x)[HOSTILE] = 5; /* the seventh call is endless */
    for (int k = 0; k < N; k++)
        if (k != HOSTILE)
            data_of(x)[k] = k % 2 ? 1 : 30;
    char message[128];
    snprintf(message, sizeof message, "large: line %d: the kernel took more than 400 steps, at (7)", 3 + LOOPS);
    says(settle(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL)), message);
    for (int k = 0; k < N; k++) { /* a call adds 3 in each loop, and n */
        int64_t n = data_of(x)[k];
        assert_int_equal(data_of(y)[k], k == HOSTILE ? KEPT : CALLS * (3 * LOOPS + n) + CALLS * (CALLS - 1) / 2);
    }
    for (int k = 0; k < N; k++)
        data_of(x)[k] = k == 3 ? 45 : 1; /* 9 calls of up to 53 steps are more than 400 together */
    snprintf(message, sizeof message, "large: line %d: the kernel took more than 400 steps, at (3)", 4 + LOOPS);
    says(settle(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL)), message);
    drop(x);
    drop(y);
    uf_free(f);
}

/* ---- Cancelling ---- */

/* Every element is endless, and all threads are at it. */
static void test_cancel(void **unused) {
    static const char cancelled[] = "endless: the call was cancelled";
    (void)unused;
    for (int steps = 0; steps < 2; steps++) {
        uf_func *f =
            define("endless", NULL, "int64->int64", "(x) { while (x >= 0) ; return x; }", 0, steps ? INT64_MAX : 0);
        uf_func *points = define("endless", NULL, "int64[]", "[i](x) { while (x[i] >= 0) ; x[i] = 5; }", UF_KERNEL,
                                 steps ? INT64_MAX : 0);
        uf_func *add = define("endless", NULL, "int64,int64->int64", "(x, y) { while (x >= 0) ; return x + y; }", 0,
                              steps ? INT64_MAX : 0);
        DLManagedTensor *flag = flag_new(), *x = line(5000, true), *y = kept(5000), *r = array(0, NULL);
        const uf_options options = {.size = sizeof options, .cancel = flag->dl_tensor.data};
        const uf_reduce_options reduce = {.size = sizeof reduce, .cancel = options.cancel};
        uf_plan *plan;
        int64_t n = 5000;
        OK(uf_plan_new(&plan, f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, &options));
        for (int verb = 0; verb < 6; verb++) {
            pthread_t other;
            *(int *)flag->dl_tensor.data = 0;
            assert_int_equal(pthread_create(&other, NULL, set_soon, flag->dl_tensor.data), 0);
            DLTensor args[] = {x->dl_tensor, y->dl_tensor}, whole[] = {x->dl_tensor, r->dl_tensor};
            uf_status s = settle(verb == 0   ? uf_call(f, 2, args, &options)
                                 : verb == 1 ? uf_plan_run(plan, (void *[]){data_of(x), data_of(y)}, NULL)
                                 : verb == 2 ? uf_forall(points, 1, &n, 1, args, &options)
                                 : verb == 3 ? uf_reduce(add, 2, whole, &reduce)
                                 : verb == 4 ? uf_accumulate(add, 2, args, 0, &options)
                                             : uf_at(add, args, 1, &x->dl_tensor, &y->dl_tensor, &options));
            pthread_join(other, NULL);
            says(s, cancelled);
            assert_true(verb >= 4 || data_of(y)[3] == KEPT);
            for (int i = 0; verb == 4 && i < n; i++)
                data_of(y)[i] = KEPT;
            assert_int_equal(data_of(x)[4999], 4999);
        }
        *(int *)flag->dl_tensor.data = 0;
        for (int i = 0; i < n; i++)
            data_of(x)[i] = -1 - i;
        OK(settle(uf_plan_run(plan, (void *[]){data_of(x), data_of(y)}, NULL)));
        assert_int_equal(data_of(y)[4999], -5000);
        uf_plan_free(plan);
        DLManagedTensor *all[] = {flag, x, y, r};
        for (size_t k = 0; k < COUNT(all); k++)
            drop(all[k]);
        uf_free(f);
        uf_free(points);
        uf_free(add);
    }
}

/* Loops that are proved short do not look at the flag; a call does so between its parts, of which one thread has many, too. */
static void test_cancel_short(void **unused) {
    (void)unused;
    if (on_gpu())
        skip();
    uf_func *f = define("short", NULL, "int64->int64",
                        "(x) { float64 y = x; for (int i = 0; i < 30000; i++) y = sin(y); return y > 2; }", 0, 0);
    DLManagedTensor *flag = flag_new(), *x = line(5000, true), *y = kept(5000);
    pthread_t other;
    uf_plan *compiled; /* so that the call computes at once */
    OK(uf_plan_new(&compiled, f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, NULL));
    uf_plan_free(compiled);
    assert_int_equal(pthread_create(&other, NULL, set_soon, flag->dl_tensor.data), 0);
    uf_status s = uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor},
                          &(uf_options){.size = sizeof(uf_options), .threads = 1, .cancel = flag->dl_tensor.data});
    pthread_join(other, NULL);
    says(s, "short: the call was cancelled");
    assert_int_equal(data_of(y)[0], 0);
    assert_int_equal(data_of(y)[4999], KEPT);
    DLManagedTensor *all[] = {flag, x, y};
    for (size_t k = 0; k < COUNT(all); k++)
        drop(all[k]);
    uf_free(f);
}

/* The flag that is not set, and steps that are not spent, change nothing. */
static void test_unspent(void **unused) {
    static const char source[] =
        "(x) { int64_t k = 0; while (x > 1) { x = x & 1 ? 3 * x + 1 : x >> 1; k++; } return k; }";
    (void)unused;
    uf_func *f = define("collatz", NULL, "int64->int64", source, 0, 0),
            *g = define("collatz", NULL, "int64->int64", source, 0, 100000);
    DLManagedTensor *flag = flag_new(), *x = line(100000, true), *y[3] = {kept(100000), kept(100000), kept(100000)};
    const uf_options options = {.size = sizeof options, .cancel = flag->dl_tensor.data};
    OK(settle(uf_call(f, 2, (DLTensor[]){x->dl_tensor, y[0]->dl_tensor}, NULL)));
    OK(settle(uf_call(g, 2, (DLTensor[]){x->dl_tensor, y[1]->dl_tensor}, NULL)));
    OK(settle(uf_call(g, 2, (DLTensor[]){x->dl_tensor, y[2]->dl_tensor}, &options)));
    for (int k = 1; k < 3; k++)
        assert_memory_equal(data_of(y[0]), data_of(y[k]), 100000 * sizeof(int64_t));
    DLManagedTensor *all[] = {flag, x, y[0], y[1], y[2]};
    for (size_t k = 0; k < COUNT(all); k++)
        drop(all[k]);
    uf_free(f);
    uf_free(g);
}

/* On the CPU any call ends between parts of its work; on CUDA the flag must be where the device can read it. */
static void test_flags(void **unused) {
    (void)unused;
    int on_stack = 1;
    uf_func *f = define("plain", NULL, "int64->int64", "(x) { return x + 41; }", 0, 0);
    int64_t n = 1 << 22;
    DLManagedTensor *x = line(n, true), *y = kept(n);
    uf_status s = uf_call(f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor},
                          &(uf_options){.size = sizeof(uf_options), .cancel = &on_stack});
    if (on_gpu()) {
        assert_int_equal(s, UF_ERR_ARGUMENT);
        assert_non_null(strstr(uf_last_error()->message, "not host memory that the device can read"));
    } else {
        says(s, "plain: the call was cancelled");
        assert_int_equal(data_of(y)[n - 1], KEPT);
    }
    drop(x);
    drop(y);
    uf_free(f);
}

/* ---- Definitions ---- */

static void test_definitions(void **unused) {
    uf_func *f;
    uf_section only = {"int64->int64", "(x) { while (x > 1000) x -= 1; return x; }"};
    uf_definition d = {.size = sizeof d, .name = "f", .nsections = 1, .sections = &only, .max_steps = -1};
    struct {
        uf_definition d;
        int64_t more;
    } longer = {d, 0};
    (void)unused;
    assert_int_equal(uf_define(&f, &d), UF_ERR_ARGUMENT);
    assert_null(f);
    assert_string_equal(uf_last_error()->message,
                        "f: max_steps is -1; it must not be negative, and 0 allows any number");
    d.size = offsetof(uf_definition, max_steps); /* a program that does not know it */
    OK(uf_define(&f, &d));
    uf_free(f);
    longer.d.size = sizeof longer;
    longer.d.max_steps = 5;
    OK(uf_define(&f, &longer.d));
    uf_free(f);
    longer.more = 1;
    assert_int_equal(uf_define(&f, &longer.d), UF_ERR_ARGUMENT);
}

/* ---- Proofs ---- */

typedef struct proof {
    int counted; /* loops, constructs and calls that are */
    const char *layout, *signatures, *source;
} proof;

#define EIGHT(text) text text text text text text text text
#define VECTOR "(n)->(n)", "float64->float64"
#define SCALAR NULL, "int64->int64"

static const proof proofs[] = {
    {0, VECTOR, "(x) -> (y) { forall (i : n) y[i] = sum(j : i, x[j]); }"},
    {0, VECTOR, "(x) -> (y) { for (int64_t i = 0; i < n; i++) for (int64_t j = i; j > 0; j--) y[i] += x[j]; }"},
    {0, VECTOR, "(x) -> (y) { for (int64_t i = n - 1; i >= 0; i -= 2) y[i] = 1; }"},
    {0, VECTOR, "(x) -> (y) { forall (i : 2 * n + 5) y[i % n] = 1; }"},
    {0, VECTOR, "(x) -> (y) { forall (i : n / 2, j : n, k : n) y[i] = max(l : n - 1, x[l]); }"},
    {2, VECTOR, "(x) -> (y) { forall (i : n, j : n, k : n) y[i] = max(l : n, m : n, x[l]); }"},
    {1, VECTOR, "(x) -> (y) { int64_t m = n; m = m * 5; forall (i : m) y[i % n] = 1; }"},
    {1, VECTOR, "(x) -> (y) { forall (i : (int64_t)x[0]) y[i % n] = 1; }"},
    {0, VECTOR, "(x) -> (y) { forall (i : min((int64_t)x[0], n)) y[i] = 1; }"},
    {0, VECTOR, "(x) -> (y) { auto m = min((int64_t)x[0], 4000); forall (i : m) y[i % n] = 1; }"},
    {0, SCALAR,
     "(x) { int64_t s = 0; for (int i = 0; i < 1000; i++) for (int j = 0; j < 1000; j++) s += j; return s; }"},
    {2, SCALAR,
     "(x) { int64_t s = 0; for (int i = 0; i < 9000; i++) for (int j = 0; j < 9000; j++) s += j; return s; }"},
    {1, SCALAR, "(x) { int64_t s = 0; for (int i = 0; i < 2000000; i++) s += i; return s; }"},
    {0, SCALAR, "(x) { int64_t s = 0; for (uint8_t i = 0; i < (uint8_t)x; i++) s += i; return s; }"},
    {1, SCALAR, "(x) { int64_t s = 0; for (int i = 0; i < 10; i++) { s += i; i -= x > 5; } return s; }"},
    {1, SCALAR, "(x) { int64_t s = 0, m = 10; for (int i = 0; i < m; i++) { s += i; m += x; } return s; }"},
    {1, SCALAR, "(x) { while (x > 5) x -= 3; return x; }"},
    {0, SCALAR, "(x) { do { if (x > 3) break; x++; } while (0); return x; }"},
    {1, SCALAR, "(x) { while (x > 5) { for (int i = 0; i < 30; i++) x -= i; } return x; }"},
    {2, SCALAR, "(x) { while (x > 5) { for (int i = 0; i < 3000; i++) x -= i; } return x; }"},
    {0, SCALAR, "(x) { int64_t s = 0; for (int64_t k = x; k > 0; k >>= 1) s += k & 1; return s; }"},
    {1, SCALAR, "(x) { int64_t s = 0; for (int64_t k = x; k > -1; k >>= 1) s += k & 1; return s; }"},
    {1, SCALAR, "(x) { int64_t s = 0; for (int64_t k = x; k > 0; k >>= 1) { s += k & 1; k += s; } return s; }"},
    {1, SCALAR, "f(n) { int64_t s = 0; for (int64_t i = 0; i < n; i++) s += i; return s; } (x) { return f(3); }"},
    {0, SCALAR,
     "f(n) { int64_t s = n; for (int i = 0; i < 1000; i++) s += i; return s; } "
     "(x) { int64_t s = 0; for (int i = 0; i < 1000; i++) s += f(x); return s; }"},
    {2, SCALAR,
     "f(n) { int64_t s = n; for (int i = 0; i < 4000; i++) s += i; return s; } "
     "(x) { int64_t s = 0; for (int i = 0; i < 4000; i++) s += f(x); return s; }"},
    {0, NULL, "float64->float64",
     "(x) { for (int i = 0; i < 100000; i++) x = sin(x); return x; }"}, /* what a pass costs counts */
    {1, NULL, "float64->float64",
     "(x) { for (int i = 0; i < 100000; i++) x = " EIGHT("sin(") EIGHT("cos(") EIGHT("tan(") "x" EIGHT(")") EIGHT(")")
         EIGHT(")") "; return x; }"},
    {2, NULL, "float64->float64",
     "f(x) { for (int i = 0; i < 1000; i++) x = " EIGHT("sin(") EIGHT("cos(") EIGHT("tan(") "x" EIGHT(")") EIGHT(")")
         EIGHT(")") "; return x; } "
                    "(x) { for (int i = 0; i < 1000; i++) x = f(x); return x; }"},
    {0, NULL, "complex128,complex128->complex128", "(z, w) { return pow(z, w); }"},
    {2, NULL, "float64->float64", "(x) { return jn(3, x); }"}, /* its series, and its order */
};

static int count_of(const char *text, const char *word) {
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static char *shown(const proof *p, int64_t max_steps, DLDevice device, uf_view view) {
    char *text;
    uf_func *f = define("proof", p->layout, p->signatures, p->source, 0, max_steps);
    uf_status s = uf_inspect(f, NULL, device, view, &text);
    if (s != UF_ERR_LIBRARY) /* libNVVM may be missing */
        OK(s);
    uf_free(f);
    return text;
}

static void test_proofs(void **unused) {
    (void)unused;
    for (size_t i = 0; i < COUNT(proofs); i++) {
        const proof *p = &proofs[i];
        char *tree = shown(p, 0, (DLDevice){kDLCPU, 0}, UF_VIEW_TREE);
        if (count_of(tree, " counted") != p->counted)
            fail_msg("%d are counted in %s", count_of(tree, " counted"), p->source);
        free(tree);
        for (int gpu = 0; gpu < 2; gpu++) {
            DLDevice device = gpu ? (DLDevice){kDLCUDA, -90} : (DLDevice){kDLCPU, 0};
            char *without = shown(p, 0, device, UF_VIEW_IR), *with = shown(p, INT64_C(1) << 60, device, UF_VIEW_IR);
            assert_true(!with == !without && (gpu || with));
            assert_true(!with || !strcmp(with, without) == !p->counted);
            free(with);
            free(without);
        }
    }
}

/* ---- Random loops, which count their passes: those that are not counted make few ---- */

static const char *one_of(const char *const *words, size_t n) { return words[pick(0, (int64_t)n - 1)]; }

/* A bound, with what is in x, which can be any number. */
static const char *draw_bound(void) {
    static const char *const bounds[] = {"0",
                                         "n",
                                         "7",
                                         "-3",
                                         "x[0]",
                                         "x[1]",
                                         "n - 1",
                                         "2 * n",
                                         "n - x[0]",
                                         "n / 3",
                                         "min(x[0], n)",
                                         "max(x[0], n)",
                                         "x[0] % 9",
                                         "x[0] & 63",
                                         "(int8_t)x[1]",
                                         "(uint8_t)x[0]",
                                         "x[0] + x[1]",
                                         "clamp(x[1], 0, 40)",
                                         "x[0] < 5 ? n : 3",
                                         "n * 3 + x[0]"};
    return one_of(bounds, COUNT(bounds));
}

static void draw_loop(char *source, size_t size) {
    static const char *const types[] = {"int8_t", "uint8_t", "int16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"};
    static const char *const relations[] = {"<", "<=", ">", ">=", "!="};
    static const char *const steps[] = {"i++", "i--", "i += 3", "i -= 3", "i += 100", "i >>= 1", "i *= 2"};
    static const char *const changes[] = {"", "", "", "i += x[0] == 3;", "if (c == 4) continue;", "m += 2;", "m = 3;"};
    if (chance(20))
        snprintf(source, size, "(x) -> (y) { int64_t m = %s, c = 0; y = sum(i : %s, j : %s, (i + j) * 0 + 1); }",
                 draw_bound(), draw_bound(), draw_bound());
    else
        snprintf(source, size,
                 "(x) -> (y) { int64_t m = %s, c = 0; for (%s i = %s; i %s %s; %s) { %s if (++c > 2000000) break; } y "
                 "= c; }",
                 draw_bound(), one_of(types, COUNT(types)), draw_bound(), one_of(relations, COUNT(relations)),
                 chance(30) ? "m" : draw_bound(), one_of(steps, COUNT(steps)), one_of(changes, COUNT(changes)));
}

static void test_random_loops(void **unused) {
    static const int64_t values[] = {0,       1,         -1,        3,         5,         127,
                                     128,     255,       -128,      64,        300,       -70,
                                     1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_C(1) << 40};
    (void)unused;
    int proved = 0;
    for (int i = 0; i < 400; i++) {
        char source[512];
        draw_loop(source, sizeof source);
        const proof p = {0, "(n)->()", "int64->int64", source};
        char *tree = shown(&p, 0, (DLDevice){kDLCPU, 0}, UF_VIEW_TREE);
        bool counted = strstr(tree, " counted");
        free(tree);
        if (counted)
            continue;
        uf_func *f = define("loop", p.layout, p.signatures, source, 0, 0);
        proved++;
        for (int k = 0; k < 30; k++) {
            int64_t x[50], y = 0, n = pick(2, COUNT(x));
            for (int j = 0; j < n; j++)
                x[j] = values[pick(0, COUNT(values) - 1)];
            DLTensor result = {.data = &y, .device = {kDLCPU, 0}, .dtype = int64};
            OK(uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, n), result}, NULL));
            if (y > 1 << 20)
                fail_msg("%lld passes for n %lld, x %lld, %lld: %s", (long long)y, (long long)n, (long long)x[0],
                         (long long)x[1], source);
        }
        uf_free(f);
    }
    print_message("%d of 400 loops are proved short\n", proved);
    assert_true(proved > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),     cmocka_unit_test(test_exactly),     cmocka_unit_test(test_call_verbs),
        cmocka_unit_test(test_gufunc),       cmocka_unit_test(test_forall),      cmocka_unit_test(test_binary_folds),
        cmocka_unit_test(test_reductions),   cmocka_unit_test(test_updates),     cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_short), cmocka_unit_test(test_much_code),   cmocka_unit_test(test_unspent),
        cmocka_unit_test(test_flags),        cmocka_unit_test(test_definitions), cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_random_loops), cmocka_unit_test(test_sizes),       cmocka_unit_test(test_size_points),
    };
    return cmocka_run_group_tests_name("steps", tests, draw_seed, NULL);
}
