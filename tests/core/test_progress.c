/* test_progress.c - uf_options.progress on the CPU: in every verb the share that is done grows while the call computes and is 1 at its end,
 * the results are those of a call without it, and a call that fails or is cancelled does not say that all is done. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
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
    ROWS = 12,
    COLUMNS = 700,
    SEEN = 3, /* values between 0 and 1 that must be seen */
    LEAST = 1 << 8,
    MOST = 1 << 16 /* steps of an element, which are doubled until so many are */
};

static double x[ROWS][COLUMNS], y[ROWS][COLUMNS], out[ROWS * COLUMNS * 4], again[ROWS * COLUMNS * 4];

/* ---- The verbs ---- */

typedef uf_status verb_call(const uf_func *f, double *to, const uf_options *options);

static uf_reduce_options reducing(const uf_options *options) {
    return (uf_reduce_options){.size = sizeof(uf_reduce_options),
                               .threads = options->threads,
                               .cancel = options->cancel,
                               .progress = options->progress};
}

static uf_status call(const uf_func *f, double *to, const uf_options *options) {
    return uf_call(f, 3, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(y), UF_ARRAY(to, ROWS, COLUMNS)}, options);
}

static uf_status planned(const uf_func *f, double *to, const uf_options *options) {
    uf_plan *plan;
    uf_status s =
        uf_plan_new(&plan, f, 3, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(y), UF_ARRAY(to, ROWS, COLUMNS)}, options);
    s = s ? s : uf_plan_run(plan, (void *[]){x, y, to}, NULL);
    uf_plan_free(plan);
    return s;
}

static uf_status outer(const uf_func *f, double *to, const uf_options *options) {
    return uf_outer(f, 3, (DLTensor[]){UF_ARRAY(x[0], ROWS), UF_ARRAY(y[0], COLUMNS), UF_ARRAY(to, ROWS, COLUMNS)},
                    options);
}

static uf_status rows(const uf_func *f, double *to, const uf_options *options) {
    return uf_call(f, 2, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(to, ROWS, COLUMNS)}, options);
}

static uf_status reduce_rows(const uf_func *f, double *to, const uf_options *options) {
    uf_reduce_options o = reducing(options);
    o.naxes = 1;
    o.axes = (int[]){1};
    return uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(to, ROWS)}, &o);
}

static uf_status reduce_columns(const uf_func *f, double *to, const uf_options *options) {
    uf_reduce_options o = reducing(options);
    o.naxes = 1;
    o.axes = (int[]){0};
    return uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(to, COLUMNS)}, &o);
}

static uf_status accumulate(const uf_func *f, double *to, const uf_options *options) {
    return uf_accumulate(f, 2, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(to, ROWS, COLUMNS)}, 1, options);
}

static uf_status reduceat(const uf_func *f, double *to, const uf_options *options) {
    const int64_t starts[] = {0, 10, 17};
    return uf_reduceat(f, 2, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(to, ROWS, 3)}, &UF_ARRAY(starts, 3), 1, options);
}

static uf_status forall(const uf_func *f, double *to, const uf_options *options) {
    return uf_forall(f, 2, (int64_t[]){ROWS, COLUMNS}, 2, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(to, ROWS, COLUMNS)},
                     options);
}

/* LOOP takes %d steps at each element. */
#define LOOP "for (int k = 0; k < %d; k++) s = sin(s * k + y);"
#define BINARY "(x, y) { auto s = x; " LOOP " return s + y; }"

static const struct row {
    const char *name;
    verb_call *call;
    const char *layout, *signatures, *source;
    unsigned flags;
} verbs[] = {
    {"call", call, NULL, "dd->d", BINARY, 0},
    {"plan", planned, NULL, "dd->d", BINARY, 0},
    {"outer", outer, NULL, "dd->d", BINARY, 0},
    {"gufunc", rows, "(n)->(n)", "d->d",
     "(x) -> (z) { forall (i : n) { float64 s = x[i], y = x[0]; " LOOP " z[i] = s; } }", 0},
    {"reduce along rows", reduce_rows, NULL, "dd->d", BINARY, 0},
    {"reduce along columns", reduce_columns, NULL, "dd->d", BINARY, 0},
    {"accumulate", accumulate, NULL, "dd->d", BINARY, 0},
    {"reduceat", reduceat, NULL, "dd->d", BINARY, 0},
    {"forall", forall, NULL, "float64[,], float64[,]",
     "[i, j](x, z) { float64 s = x[i][j], y = 2; " LOOP " z[i][j] = s; }", UF_KERNEL},
};

static uf_func *slow(const struct row *r, int steps) {
    char source[512];
    snprintf(source, sizeof source, r->source, steps);
    return define("slow", r->layout, r->signatures, source, r->flags, 0);
}

static void fill(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            x[i][j] = (double)pick(-1000, 1000) / 7;
            y[i][j] = (double)pick(-1000, 1000) / 7;
        }
    memset(out, 0, sizeof out);
    memset(again, 0, sizeof again);
}

/* ---- Who looks ---- */

typedef struct watch {
    volatile double share;
    atomic_bool ended;
    int seen; /* values between 0 and 1 */
    bool falls;
    double last;
} watch;

static void *look(void *user) {
    watch *w = user;
    while (!atomic_load(&w->ended)) {
        double share;
        __atomic_load(&w->share, &share, __ATOMIC_RELAXED);
        w->falls |= share < w->last;
        w->seen += share > w->last && share < 1;
        w->last = share;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

static void watch_call(watch *w, const struct row *r, const uf_func *f, int threads) {
    pthread_t other;
    *w = (watch){0};
    assert_int_equal(pthread_create(&other, NULL, look, w), 0);
    OK(r->call(f, out, &(uf_options){.size = sizeof(uf_options), .threads = threads, .progress = &w->share}));
    atomic_store(&w->ended, true);
    pthread_join(other, NULL);
    assert_true(w->share == 1);
    assert_false(w->falls);
}

static void test_verbs(void **unused) {
    (void)unused;
    for (size_t k = 0; k < COUNT(verbs); k++) {
        int steps = LEAST;
        for (watch w = {0}; w.seen < SEEN; steps *= 2) {
            if (steps > MOST)
                fail_msg("%s: %d values seen", verbs[k].name, w.seen);
            fill();
            uf_func *f = slow(&verbs[k], steps);
            watch_call(&w, &verbs[k], f, k % 2 ? 1 : 0);
            if (w.seen >= SEEN) {
                OK(verbs[k].call(f, again, &(uf_options){.size = sizeof(uf_options)}));
                assert_memory_equal(out, again, sizeof out);
            }
            uf_free(f);
        }
    }
}

/* Calls that are over at once, and that have nothing to do. */
static void test_short(void **unused) {
    volatile double share = 0.5;
    double one = 1, none;
    const uf_options options = {.size = sizeof options, .progress = &share};
    uf_func *f = define("twice", NULL, "d->d", "(x) { return 2 * x; }", 0, 0);
    (void)unused;
    OK(uf_call(f, 2, (DLTensor[]){UF_SCALAR(2.0), UF_OUT(one)}, &options));
    assert_true(share == 1 && one == 4);
    share = 0.5;
    OK(uf_call(f, 2, (DLTensor[]){UF_ARRAY(&none, 0), UF_ARRAY(&none, 0)}, &options));
    assert_true(share == 1);
    share = 0.5;
    OK(UF_CALL(f, UF_SCALAR(3.0), UF_OUT(one), .progress = &share));
    assert_true(share == 1 && one == 6);
    uf_free(f);
}

/* A call that is cancelled has not done all, nor has one that is refused. */
static void test_failures(void **unused) {
    volatile double share = 0.5;
    int flag = 1;
    const uf_options options = {.size = sizeof options, .cancel = &flag, .progress = &share};
    uf_func *f = slow(&verbs[0], 100);
    (void)unused;
    fill();
    assert_int_equal(call(f, out, &options), UF_ERR_KERNEL);
    assert_true(share == 0);
    share = 0.5;
    assert_int_equal(uf_call(f, 3, (DLTensor[]){UF_ARRAY(x), UF_ARRAY(y), UF_ARRAY(out, ROWS)},
                             &(uf_options){.size = sizeof options, .progress = &share}),
                     UF_ERR_SHAPE);
    assert_true(share == 0.5);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verbs), cmocka_unit_test(test_short),
                                       cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests_name("progress", tests, draw_seed, NULL);
}
