/* test_sizes_known.c - for how many lines a generalized ufunc is unrolled: a binding remembers that for all sizes that count
 * (core/sizes.c). */
#include "core/core.h" /* before cmocka.h, which has a `fail` too */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

#include <limits.h>
#include <pthread.h>

enum {
    CALLS = 256, /* from so many on sizes are constants */
    FEW = 50,
    SMALL = 4,  /* the largest size that is a constant for few calls */
    ASKING = 4, /* threads */
    OWN = 3     /* dimensions: with so many, most combinations count */
};

typedef struct asking {
    const uf_func *f;
    const binding *b;
    int first; /* where a thread begins */
    int lines[8 * 8 * 8 + GUFUNC_SIZE_MAX];
    int wrong;
} asking;

/* Combination number i of those that count: up to 8 that differ, or larger ones that are the same. */
static void combination(int i, int64_t *sizes) {
    for (int d = 0; d < OWN; d++)
        sizes[d] = i < 512 ? 1 + (i >> 3 * d & 7) : i - 512 + 1;
}

static void *ask(void *user) {
    asking *a = user;
    const int all = 512 + GUFUNC_SIZE_MAX;
    for (int i = 0; i < all; i++) {
        int64_t core[LAYOUT_MAX_DIMS + 8] = {0};
        int at = (i + a->first) % all;
        combination(at, core);
        a->wrong += sizes_unrolled(a->b, a->f->layout, core, CALLS, 0, &a->lines[at]) != UF_OK || a->lines[at] < 1;
    }
    return NULL;
}

/* All sizes that count are remembered, also those that several threads ask for at once: once all have been measured, none is
 * measured again, for which the tree would be needed. */
static void sizes_remembered(void **state) {
    (void)state;
    static float x[CALLS], y[CALLS];
    static asking threads[ASKING + 1];
    pthread_t thread[ASKING];
    uf_func *f;
    DLTensor in = UF_ARRAY(x, CALLS, 1), args[] = {in, in, in, UF_ARRAY(y, CALLS)};
    assert_false(uf_guvectorize(&f, "f", "(m),(n),(p)->()", "float32,float32,float32->float32",
                                "(x, y, z) -> (s) { for (int64 i = 0; i < m + n; i++) s += p; }"));
    assert_false(uf_call(f, 4, args, NULL));
    binding *b = atomic_load(&f->bindings);
    for (int i = 0; i < ASKING; i++) {
        threads[i] = (asking){.f = f, .b = b, .first = i * 140};
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &threads[i]), 0);
    }
    for (int i = 0; i < ASKING; i++)
        pthread_join(thread[i], NULL);
    tree *t = b->tree;
    b->tree = NULL;
    threads[ASKING] = (asking){.f = f, .b = b};
    ask(&threads[ASKING]);
    b->tree = t;
    for (int i = 0; i <= ASKING; i++) {
        assert_int_equal(threads[i].wrong, 0);
        assert_memory_equal(threads[i].lines, threads[ASKING].lines, sizeof threads[i].lines);
    }
    assert_true(threads[0].lines[0] < threads[0].lines[7]); /* m = 1 and m = 8 */
    uf_free(f);
}

static int lines_of(const uf_func *f, int64_t m, int64_t n, int64_t p, int64_t calls, int few_lines) {
    int64_t core[LAYOUT_MAX_DIMS + 8] = {m, n, p};
    int lines;
    assert_int_equal(sizes_unrolled(atomic_load(&f->bindings), f->layout, core, calls, few_lines, &lines), UF_OK);
    return lines;
}

/* A product of matrices of whole numbers, by few calls. */
static void check_product(const uf_func *f, int64_t n, int64_t calls) {
    float a[FEW][SMALL * SMALL], c[FEW * SMALL * SMALL], *x = a[0];
    for (int64_t i = 0; i < calls * n * n; i++)
        x[i] = (float)(i * 7 % 11) - 5;
    assert_false(uf_call(
        f, 3, (DLTensor[]){UF_ARRAY(x, calls, n, n), UF_ARRAY(x, calls, n, n), UF_ARRAY(c, calls, n, n)}, NULL));
    for (int64_t k = 0; k < calls; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                float want = 0;
                for (int64_t l = 0; l < n; l++)
                    want += x[(k * n + i) * n + l] * x[(k * n + l) * n + j];
                assert_true(c[(k * n + i) * n + j] == want);
            }
}

/* Small cores whose sizes are all the same are constants for few calls, too, on an engine that says so, if they are short enough. */
static void small_cores(void **state) {
    uf_func *f;
    int64_t calls[] = {1, 2, FEW};
    (void)state;
    assert_false(uf_load(&f, "matmul"));
    for (int i = 0; i < (int)COUNT(calls); i++)
        for (int64_t n = 1; n <= SMALL; n++)
            check_product(f, n, calls[i]);
    int lines = lines_of(f, 3, 3, 3, CALLS, 0);
    assert_true(lines > 0);
    assert_int_equal(lines_of(f, 3, 3, 3, 1, lines), lines);
    assert_int_equal(lines_of(f, 3, 3, 3, CALLS - 1, lines), lines);
    assert_int_equal(lines_of(f, 3, 3, 3, 1, lines - 1), 0);
    assert_int_equal(lines_of(f, 3, 3, 3, CALLS - 1, 0), 0);
    assert_int_equal(lines_of(f, 3, 3, 3, 0, lines), 0);
    assert_int_equal(lines_of(f, 3, 3, 2, 1, lines), 0);
    assert_int_equal(lines_of(f, SMALL + 1, SMALL + 1, SMALL + 1, 1, INT_MAX), 0);
    assert_true(engines[ENGINE_CPU]->few_lines > lines);
    uf_free(f);
    assert_false(uf_guvectorize(&f, "f", "(3),(n)->()", "float32,float32->float32",
                                "(x, y) -> (s) { for (int64 i = 0; i < n; i++) s += x[i % 3] * y[i]; }"));
    float x[3] = {1, 2, 3}, y[2] = {10, 1}, s[1];
    assert_false(uf_call(f, 3, (DLTensor[]){UF_ARRAY(x, 1, 3), UF_ARRAY(y, 1, 2), UF_ARRAY(s, 1)}, NULL));
    assert_true(s[0] == 12);
    assert_true(lines_of(f, 3, 2, 0, 1, INT_MAX) > 0); /* beside a size that is frozen */
    assert_int_equal(engines[ENGINE_CUDA]->few_lines, 0);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_remembered), cmocka_unit_test(small_cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
