/* test_threads.c - 64 threads registering, compiling and calling at once; one function from many threads; a variant compiled
 * once; fork. Built by `make tsan` as well. */
#include "core/core.h" /* before cmocka.h, which has a `fail` too */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 64
};

static atomic_int wrong;
static pthread_barrier_t gate;

static void expect(bool right) {
    if (!right)
        atomic_fetch_add(&wrong, 1);
}

static void run_threads(void *(*work)(void *), void *(*argument)(int)) {
    pthread_t threads[THREADS];
    atomic_store(&wrong, 0);
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, argument(k)), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&gate);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void *number_of(int k) { return (void *)(intptr_t)k; }

/* Everything on its own: good formulas, bad ones, calls, plans. Eight formulas are shared by content. */
static void *live(void *user) {
    int k = (int)(intptr_t)user;
    float x[50], r[50];
    for (int i = 0; i < 50; i++)
        x[i] = (float)i;
    pthread_barrier_wait(&gate);
    for (int round = 0; round < 3; round++) {
        char source[80];
        uf_func *f;
        snprintf(source, sizeof source, "(x) { return x * %d + %d; }", k % 8 + 2, round);
        expect(uf_vectorize(&f, "f", "float32->float32; float64->float64", source) == UF_OK);
        expect(UF_CALL(f, UF_ARRAY(x, 50), UF_ARRAY(r, 50)) == UF_OK);
        for (int i = 0; i < 50; i++)
            expect(r[i] == (float)(i * (k % 8 + 2) + round));
        uf_plan *p;
        expect(uf_plan_new(&p, f, 2, (DLTensor[]){UF_ARRAY(x, 50), UF_ARRAY(r, 50)}, NULL) == UF_OK);
        uf_free(f);
        expect(uf_plan_run(p, (void *[]){x, r}, NULL) == UF_OK);
        uf_plan_free(p);

        snprintf(source, sizeof source, "(x) { return x + %d + nonsense; }", k);
        expect(uf_vectorize(&f, "f", NULL, source) == UF_OK);
        expect(UF_CALL(f, UF_ARRAY(x, 50), UF_ARRAY(r, 50)) == UF_ERR_TYPE);
        expect(uf_last_error()->status == UF_ERR_TYPE && strstr(uf_last_error()->message, "nonsense"));
        uf_free(f);
    }
    return NULL;
}

static void many_threads(void **state) {
    (void)state;
    run_threads(live, number_of);
}

static uf_func *shared;
static uf_plan *shared_plan;

static void *share(void *user) {
    int k = (int)(intptr_t)user;
    static double x[4000];
    double *r = malloc(sizeof x);
    double scale = k;
    pthread_barrier_wait(&gate);
    for (int round = 0; round < 20; round++) {
        int n = 100 + 50 * ((k + round) % 70);
        expect(UF_CALL(shared, UF_ARRAY(x, n), UF_ARRAY(&scale, 1), UF_ARRAY(r, n)) == UF_OK);
        expect(r[n - 1] == k);
        expect(uf_plan_run(shared_plan, (void *[]){x, &scale, r}, NULL) == UF_OK);
        expect(r[3999] == k);
    }
    free(r);
    return NULL;
}

static void one_function(void **state) {
    (void)state;
    double *any = calloc(4000, sizeof *any);
    assert_int_equal(uf_vectorize(&shared, "shared", "float64,float64->float64", "(x, y) { return exp(x) * y; }"),
                     UF_OK);
    assert_int_equal(uf_plan_new(&shared_plan, shared, 3,
                                 (DLTensor[]){UF_ARRAY(any, 4000), UF_ARRAY(any, 1), UF_ARRAY(any, 4000)}, NULL),
                     UF_OK);
    run_threads(share, number_of);
    uf_plan_free(shared_plan);
    uf_free(shared);
    free(any);
}

/* One generalized ufunc, its variants compiled as they are met, with core sizes of all kinds. */
static void *share_calls(void *user) {
    int k = (int)(intptr_t)user;
    static double A[40 * 50];
    double x[50], y[40];
    for (int j = 0; j < 50; j++)
        x[j] = k;
    pthread_barrier_wait(&gate);
    for (int round = 0; round < 20; round++) {
        int m = 1 + (k + 7 * round) % 40, n = 1 + (3 * k + round) % 50;
        DLTensor a = UF_ARRAY(A, m, n), columns = a;
        columns.strides = (int64_t[]){1, m};
        expect(UF_CALL(shared, round % 2 ? a : columns, UF_ARRAY(x, n), UF_ARRAY(y, m)) == UF_OK);
        expect(y[0] == k * n && y[m - 1] == k * n);
        expect(UF_CALL(shared, a, UF_ARRAY(x, n + 1), UF_ARRAY(y, m)) == UF_ERR_SHAPE);
    }
    return NULL;
}

static void one_gufunc(void **state) {
    (void)state;
    assert_int_equal(uf_guvectorize(&shared, "shared", "(m,n),(n)->(m)", "float64,float64->float64",
                                    "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, (A[i][j] + 1) * x[j]); }"),
                     UF_OK);
    run_threads(share_calls, number_of);
    uf_free(shared);
}

/* Equal jobs meet in one entry: compiled once while others wait. */
static compile_job the_job;
static code_entry *entries[THREADS];

static void *compile_same(void *user) {
    int k = (int)(intptr_t)user;
    pthread_barrier_wait(&gate);
    expect(code_get(&the_job, 1, &entries[k]) == UF_OK);
    return NULL;
}

/* Compiles a kernel from int32 to int32, a loop over arrays, on the CPU. */
static compile_job job_of(arena *a, const char *source, variant *v) {
    const syntax *s;
    tree *t;
    dtype types[] = {DT_INT32, DT_INT32};
    assert_int_equal(lang_parse(a, source, NULL, &s), UF_OK);
    assert_int_equal(lang_check(a, s, NULL, NULL, types, 1, types + 1, 1, false, &t), UF_OK);
    memset(v, 0, sizeof *v);
    v->loop = LOOP_FLAT;
    v->ndim = v->nin = v->nout = 1;
    v->operand[0] = v->operand[1] =
        (variant_operand){.memory = DT_INT32, .value = DT_INT32, .kind = OPERAND_CONTIGUOUS};
    compile_job job = {.name = "job", .source = source, .layout = "", .tree = t, .v = v, .engine = ENGINE_CPU};
    assert_int_equal(cpu_engine.target(0, &job.target), UF_OK);
    return job;
}

static void compiled_once(void **state) {
    (void)state;
    arena a = {0};
    variant v;
    the_job = job_of(&a, "(x) { return x * 12345 - 54321; }", &v);
    run_threads(compile_same, number_of);
    for (int k = 0; k < THREADS; k++) {
        assert_ptr_equal(entries[k], entries[0]);
        code_drop(entries[k]);
    }
    arena_free(&a);
}

/* Two jobs at once. Where one fails, as there is no such device, neither is held. */
static void compiled_together(void **state) {
    (void)state;
    arena a = {0};
    variant v, w;
    compile_job jobs[2];
    code_entry *got[2], *again[2], *same[2];
    jobs[0] = jobs[1] = job_of(&a, "(x) { return x * 1234 - 4321; }", &v);
    w = v;
    w.operand[0].kind = OPERAND_CONSTANT;
    jobs[1].v = &w;
    assert_int_equal(code_get(jobs, 2, got), UF_OK);
    assert_ptr_not_equal(got[0], got[1]);
    assert_non_null(code_of(got[0]));
    assert_non_null(code_of(got[1]));
    assert_int_equal(code_get(jobs, 2, again), UF_OK); /* nothing is compiled again */
    assert_memory_equal(again, got, sizeof got);
    compile_job alike[] = {jobs[1], jobs[1]};
    alike[0].name = alike[1].name = "alike";
    alike[0].source = alike[1].source = "(x) { return x * 1234  - 4321; }"; /* of another key */
    assert_int_equal(code_get(alike, 2, same), UF_OK);
    assert_ptr_equal(same[0], same[1]);
    for (int i = 0; i < 2; i++) {
        code_drop(got[i]);
        code_drop(again[i]);
        code_drop(same[i]);
    }

    alike[1].engine = ENGINE_CUDA;
    alike[1].device = 12345;
    for (int i = 0; i < 2; i++) { /* the one that can be compiled is not held, and the error is that of the other one */
        compile_job turned[] = {alike[!i], alike[i]};
        fail(UF_ERR_IO, "before");
        uf_status failed = code_get(turned, 2, got);
        assert_int_not_equal(failed, UF_OK);
        assert_int_equal(uf_last_error()->status, failed);
        assert_string_not_equal(uf_last_error()->message, "before");
    }
    assert_int_equal(code_get(alike, 1, got), UF_OK);
    assert_ptr_equal(got[0], same[0]);
    code_drop(got[0]);
    arena_free(&a);
}

/* The threads but the caller's that have asked for memory. Each waits until there are two of them, or for ten seconds. */
static pthread_t caller;
static atomic_int compilers;
static atomic_bool waited_in_vain;

static bool count_compilers(size_t size) {
    static _Thread_local bool known;
    (void)size;
    if (known || pthread_equal(pthread_self(), caller))
        return true;
    known = true;
    atomic_fetch_add(&compilers, 1);
    for (int i = 0; i < 100000 && atomic_load(&compilers) < 2; i++)
        usleep(100);
    if (atomic_load(&compilers) < 2)
        atomic_store(&waited_in_vain, true);
    return true;
}

static void parts_compiled_together(void **state) {
    (void)state;
    enum {
        N = 1 << 20
    };
    double *x = calloc(N, sizeof *x), r = 1;
    const uf_reduction_def def = {
        .size = sizeof def, .map = "(x) { return x + 3; }", .combine = "(a, b) { return a + b; }", .identity = "0"};
    uf_func *f;
    assert_int_equal(uf_reduction(&f, "sum_of_more", "d->d", &def), UF_OK);
    DLTensor total = UF_ARRAY(&r, 1);
    total.ndim = 0;
    assert_int_equal(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x, 10), total}, NULL), UF_OK);
    assert_true(r == 30);
    caller = pthread_self();
    mem_may_alloc = count_compilers;
    uf_plan *p;
    uf_status made = uf_reduce_plan(&p, f, 2, (DLTensor[]){UF_ARRAY(x, N), total}, NULL);
    mem_may_alloc = NULL;
    assert_int_equal(made, UF_OK);
    assert_int_equal(compilers, 2);
    assert_false(waited_in_vain);
    assert_int_equal(uf_plan_run(p, (void *[]){x, &r}, NULL), UF_OK);
    assert_true(r == 3.0 * N);
    uf_plan_free(p);
    uf_free(f);
    free(x);
}

static void works_after_fork(void **state) {
    (void)state;
    float x[3] = {1, 2, 3}, r[3] = {0};
    uf_func *f;
    assert_int_equal(uf_vectorize(&f, "f", "float32->float32", "(x) { return x + 7; }"), UF_OK);
    assert_int_equal(UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)), UF_OK);
    pid_t child = fork();
    if (child == 0) {
        uf_func *g;
        bool right = uf_vectorize(&g, "g", "float32->float32", "(x) { return x + 8; }") == UF_OK &&
                     UF_CALL(g, UF_ARRAY(x, 3), UF_ARRAY(r, 3)) == UF_OK && r[2] == 11 &&
                     UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)) == UF_OK && r[2] == 10;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uf_free(f);
}

/* More functions than the cache keeps idle: old code goes, nothing breaks. */
static void eviction(void **state) {
    (void)state;
    float x[3] = {1, 2, 3}, r[3];
    for (int k = 0; k < 300; k++) {
        char source[64];
        uf_func *f;
        snprintf(source, sizeof source, "(x) { return x + %d; }", 1000 + k % 290);
        assert_int_equal(uf_vectorize(&f, "f", "float32->float32", source), UF_OK);
        assert_int_equal(UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)), UF_OK);
        assert_true(r[0] == (float)(1001 + k % 290));
        uf_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads),      cmocka_unit_test(one_function),
        cmocka_unit_test(one_gufunc),        cmocka_unit_test(compiled_once),
        cmocka_unit_test(compiled_together), cmocka_unit_test(parts_compiled_together),
        cmocka_unit_test(works_after_fork),  cmocka_unit_test(eviction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
