/* test_sizes_known.c - for how many lines a generalized ufunc is unrolled: a binding remembers that for all sizes that count
 * (core/sizes.c). */
#include "core/core.h" /* before cmocka.h, which has a `fail` too */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

#include <pthread.h>

enum {
    CALLS = 256, /* from so many on sizes are constants */
    ASKING = 4,  /* threads */
    OWN = 3      /* dimensions: with so many, most combinations count */
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
        a->wrong += sizes_unrolled(a->b, a->f->layout, core, CALLS, &a->lines[at]) != UF_OK || a->lines[at] < 1;
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_remembered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
