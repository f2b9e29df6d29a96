/* test_blas.c - OpenBLAS beside generated code. Operands hold small integers, so that every sum is exact in any order
 * and results must be equal to the bit: to a plain loop here, and so to each other. Outputs are NaN before, and what
 * lies between their elements must stay. A process opens the library once; other ways to find it, or not, get processes
 * of their own (this program again, steered by the variables CHILD and UFUNC_OPENBLAS). */
#include <complex.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/blas.h"

#include <cmocka.h> /* last: its macro fail() is not ours */

#include "draw.h"
#include "product_case.h"

static const dtype types[] = {DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};

/* ---- Launches ---- */

static bool launch_problem(const product_case *q, int threads) {
    product_launch space;
    launch l = product_case_launch(q, &space);
    l.threads = threads;
    return blas_launch(&l);
}

/* OpenBLAS computes it and the result is right, or it declines and leaves the output alone. */
static bool try_problem(const product_case *q, int threads) {
    bool ran = launch_problem(q, threads);
    char *want = product_case_expected(q);
    if (!ran)
        memset(want, 0xff, product_case_bytes(q, 2));
    product_case_compare(q, q->operand[2].buffer, want);
    free(want);
    return ran;
}

static bool present(void) {
    static int known = -1;
    if (known < 0) {
        void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (!lib && !getenv("UFUNC_OPENBLAS")) {
            pid_t child = fork(); /* so that this process does not count as having had it */
            if (!child)
                _exit(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) ? 0 : 1);
            int status = 1;
            waitpid(child, &status, 0);
            known = status == 0;
        } else {
            known = 1;
        }
    }
    if (!known)
        print_message("no libopenblas.so.0 here (Debian: libopenblas0-pthread)\n");
    return known;
}

/* ---- Tests ---- */

static void every_form(void **unused) {
    (void)unused;
    if (!present())
        skip();
    for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (int round = 0; round < 3; round++) {
                product_case q = product_case_of((blas_form)form, types[t], round == 1 ? 1 : 130, round ? 700 : 90, 75);
                if (form == BLAS_DOT || form == BLAS_DOTC)
                    q.extent[1] = 3000;
                q.ndim = round;
                q.loop[0] = 2, q.loop[1] = 3;
                product_case_fill(&q, false);
                bool dot = form == BLAS_DOT || form == BLAS_DOTC || (form == BLAS_GEMV && round == 1);
                bool want = form != BLAS_GER && !(dot && !dtype_is_complex(types[t]));
                if (try_problem(&q, round) != want)
                    fail_msg("%s of %s, round %d: OpenBLAS %s it", product_forms[form].name, dtypes[types[t]].name,
                             round, want ? "declined" : "computed");
                product_case_free(&q);
            }
}

static void random_problems(void **unused) {
    (void)unused;
    if (!present())
        skip();
    int ran[PRODUCT_FORMS] = {0}, tried[PRODUCT_FORMS] = {0};
    for (int64_t k = trials(600); k; k--) {
        blas_form form = (blas_form)pick(BLAS_GEMM, PRODUCT_FORMS - 1);
        int64_t most = form == BLAS_GEMM                       ? 48
                       : form == BLAS_GER                      ? 60
                       : form == BLAS_DOT || form == BLAS_DOTC ? 2000
                                                               : 200;
        product_case q = product_case_of(form, types[pick(0, 3)], chance(10) ? 1 : pick(2, most),
                                         chance(10) ? 1 : pick(most / 4, most), chance(10) ? 1 : pick(2, most));
        q.ndim = (int)pick(0, PRODUCT_LOOPS);
        for (int d = 0; d < q.ndim; d++)
            q.loop[d] = pick(1, 3);
        product_case_fill(&q, true);
        tried[form]++;
        ran[form] += try_problem(&q, (int)pick(0, 4));
        product_case_free(&q);
    }
    for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++) {
        print_message("%s: OpenBLAS computed %d of %d\n", product_forms[form].name, ran[form], tried[form]);
        if (form != BLAS_GER && tried[form] > 50)
            assert_true(ran[form] > 5);
    }
}

/* Nothing to add up, nothing to write, an inner call or no loop at all: generated code's. */
static void empty(void **unused) {
    (void)unused;
    for (int which = 0; which < 3; which++) {
        product_case q = product_case_of(BLAS_GEMM, DT_FLOAT64, 100, 100, 100);
        product_case_fill(&q, false);
        q.extent[which] = 0;
        assert_false(launch_problem(&q, 1));
        product_case_free(&q);
    }
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT64, 100, 100, 100);
    product_case_fill(&q, false);
    q.ndim = 1;
    q.loop[0] = 0;
    assert_false(launch_problem(&q, 1));
    product_case_free(&q);
}

/* Operands whose loop stands still make a matrix of vectors. */
static void folding(void **unused) {
    (void)unused;
    if (!present())
        skip();
    for (size_t t = 0; t < COUNT(types); t++)
        for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++)
            for (int still = 0; still < 2; still++) {
                product_case q = product_case_of((blas_form)form, types[t], 6, 10, 6);
                q.ndim = 1;
                q.loop[0] = 150;
                product_case_fill(&q, false);
                q.operand[still].loop[0] = 0;
                bool lines_up = !(still == 0 && strcmp(product_forms[form].dims[1], "np") == 0); /* columns of C */
                bool want = form != BLAS_GER && lines_up;
                if (try_problem(&q, 0) != want)
                    fail_msg("%s of %s, operand %d: %s", product_forms[form].name, dtypes[types[t]].name, still,
                             want ? "declined" : "computed");
                product_case_free(&q);
            }
}

/* Large products are cut; the cut depends on sizes alone, and so do the results. */
static void large(void **unused) {
    (void)unused;
    if (!present())
        skip();
    static const struct {
        blas_form form;
        int64_t m, n, p;
    } cases[] = {{BLAS_GEMM, 1100, 24, 600}, {BLAS_GEMV, 3000, 300, 1}, {BLAS_GEVM, 1, 300, 3000},
                 {BLAS_GEVMC, 1, 300, 3000}, {BLAS_DOT, 1, 1 << 20, 1}, {BLAS_GEMM, 513, 30, 1}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t t = 0; t < COUNT(types); t++) {
            product_case q = product_case_of(cases[i].form, types[t], cases[i].m, cases[i].n, cases[i].p);
            product_case_fill(&q, false);
            bool ran = q.form != BLAS_DOT || dtype_is_complex(q.type);
            if (q.extent[1] < 1 << 18)
                assert_true(try_problem(&q, 3));
            product_case_reals(&q);
            size_t bytes = product_case_bytes(&q, 2);
            char *first = malloc(bytes);
            for (int threads = 0; threads < 5; threads++) {
                memset(q.operand[2].buffer, 0xff, bytes);
                assert_true(launch_problem(&q, threads) == ran);
                if (threads == 0)
                    memcpy(first, q.operand[2].buffer, bytes);
                assert_memory_equal(first, q.operand[2].buffer, bytes);
            }
            free(first);
            product_case_free(&q);
        }
}

/* What is not BLAS's: other dtypes, casts, numbers. */
static void not_ours(void **unused) {
    (void)unused;
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT64, 64, 64, 64);
    product_case_fill(&q, false);
    q.type = DT_INT64;
    assert_false(launch_problem(&q, 1));
    const variant one_number = {.loop = LOOP_GUFUNC,
                                .nin = 2,
                                .nout = 1,
                                .operand = {{.memory = DT_FLOAT64, .value = DT_FLOAT64, .kind = OPERAND_NUMBER},
                                            {.memory = DT_FLOAT64, .value = DT_FLOAT64, .kind = OPERAND_STRIDED},
                                            {.memory = DT_FLOAT64, .value = DT_FLOAT64, .kind = OPERAND_STRIDED}}};
    variant cast = one_number;
    cast.operand[0] = (variant_operand){.memory = DT_FLOAT32, .value = DT_FLOAT64, .kind = OPERAND_STRIDED};
    assert_false(blas_launch(&(launch){.v = &one_number, .blas = BLAS_DOT}));
    assert_false(blas_launch(&(launch){.v = &cast, .blas = BLAS_GEMM}));
    assert_false(blas_launch(&(launch){.v = &cast}));
    product_case_free(&q);
}

/* ---- Calls ---- */

static void call_problem(const uf_func *f, const product_case *q, bool no_m, bool no_p) {
    int64_t shape[3][PRODUCT_LOOPS + 2], strides[3][PRODUCT_LOOPS + 2];
    DLTensor args[3];
    const uf_options options = {.size = sizeof options, .threads = (int)pick(0, 3)};
    for (int k = 0; k < 3; k++)
        args[k] = product_case_array(q, k, no_m, no_p, shape[k], strides[k]);
    if (uf_call(f, 3, args, &options))
        fail_msg("%s of %s: %s", product_forms[q->form].name, dtypes[q->type].name, uf_last_error()->message);
    char *want = product_case_expected(q);
    product_case_compare(q, q->operand[2].buffer, want);
    free(want);
}

/* From registration to result, sizes on both sides of those that pay. Without OpenBLAS (in a process of its own) the
 * same problems go through generated code alone. */
static void calls(void **unused) {
    (void)unused;
    for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++) {
        uf_func *f = product_case_define((blas_form)form);
        for (int64_t k = trials(12); k; k--) { /* most of them are a variant to compile */
            int64_t most = form == BLAS_GEMM ? 24 : form == BLAS_DOT || form == BLAS_DOTC ? 400 : 60;
            product_case q = product_case_of((blas_form)form, types[k % 4], chance(15) ? 1 : pick(1, most),
                                             pick(1, most), chance(15) ? 1 : pick(1, most));
            q.ndim = (int)pick(0, PRODUCT_LOOPS);
            for (int d = 0; d < q.ndim; d++)
                q.loop[d] = pick(1, 3);
            product_case_fill(&q, true);
            bool optional = form == BLAS_GEMM && !q.ndim; /* else the last loop dimension would be taken for it */
            call_problem(f, &q, optional && q.extent[0] == 1 && chance(50), optional && q.extent[2] == 1 && chance(50));
            product_case_free(&q);
        }
        uf_free(f);
    }
}

static atomic_bool stop;
static void *multiply_on_and_on(void *user) {
    while (!atomic_load(&stop))
        launch_problem(user, 1);
    return NULL;
}

static void forks(void **unused) {
    (void)unused;
    if (!present())
        skip();
    product_case a = product_case_of(BLAS_GEMM, DT_FLOAT32, 96, 96, 96),
                 b = product_case_of(BLAS_GEMM, DT_COMPLEX128, 40, 40, 40);
    product_case_fill(&a, false);
    product_case_fill(&b, false);
    pthread_t thread;
    int status = 0;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, multiply_on_and_on, &a), 0);
    for (int k = 0; k < 30 && !status; k++) {
        usleep(1000);
        pid_t child = fork();
        if (!child) {
            alarm(30);
            _exit(launch_problem(&b, 2) ? 0 : 1);
        }
        if (waitpid(child, &status, 0) != child)
            status = -1;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    product_case_free(&a);
    product_case_free(&b);
}

typedef struct caller {
    pthread_t thread;
    product_case q;
    char *want;
    bool right;
} caller;

static void *check_on_and_on(void *user) {
    caller *c = user;
    const product_operand *out = &c->q.operand[2];
    size_t bytes = (size_t)(out->span + 2 * PRODUCT_EDGE) * sizeof(float);
    c->right = true;
    for (int k = 0; k < 100; k++) {
        memset(out->buffer, 0xff, bytes);
        c->right &= launch_problem(&c->q, k % 3) && !memcmp(out->buffer, c->want, bytes);
    }
    return NULL;
}

static void many_callers(void **unused) {
    (void)unused;
    if (!present())
        skip();
    enum {
        CALLERS = 8
    };
    caller callers[CALLERS];
    for (int k = 0; k < CALLERS; k++) {
        callers[k].q = product_case_of(BLAS_GEMM, DT_FLOAT32, 70, 50, 60);
        product_case_fill(&callers[k].q, false);
        callers[k].want = product_case_expected(&callers[k].q);
    }
    for (int k = 0; k < CALLERS; k++)
        assert_int_equal(pthread_create(&callers[k].thread, NULL, check_on_and_on, &callers[k]), 0);
    for (int k = 0; k < CALLERS; k++)
        pthread_join(callers[k].thread, NULL);
    for (int k = 0; k < CALLERS; k++) {
        assert_true(callers[k].right);
        free(callers[k].want);
        product_case_free(&callers[k].q);
    }
}

static int library_threads(void) {
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    int (*get_threads)(void);
    assert_non_null(lib);
    *(void **)&get_threads = dlsym(lib, "openblas_get_num_threads");
    assert_non_null(*(void **)&get_threads);
    int n = get_threads();
    dlclose(lib);
    return n;
}

static void information(void **unused) {
    (void)unused;
    if (!present())
        skip();
    text info = {0};
    blas_info(&info);
    assert_non_null(strstr(info.data, "libopenblas"));
    assert_null(strstr(info.data, "missing"));
    if (!getenv("CHILD"))
        assert_int_equal(library_threads(), 1);
    text_free(&info);
}

/* ---- Processes of their own ---- */

static int run_child(const char *role, const char *library) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        setenv("CHILD", role, 1);
        if (library)
            setenv("UFUNC_OPENBLAS", library, 1);
        if (strcmp(role, "old") == 0)
            setenv("OPENBLAS_CORETYPE", "Prescott", 1);
        execl("/proc/self/exe", "test_blas", (char *)NULL);
        _exit(126);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* No library, or one of another kind: products are declined, and the information says why. */
static int child_missing(void) {
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT64, 64, 64, 64);
    text info = {0};
    product_case_fill(&q, false);
    bool declined = !try_problem(&q, 1) && !try_problem(&q, 1);
    product_case_free(&q);
    blas_info(&info);
    const char *file = getenv("UFUNC_OPENBLAS");
    bool said = strstr(info.data, "missing: ") && strstr(info.data, file) &&
                (strstr(file, "libm") == NULL || strstr(info.data, "it has no function cblas_sgemm"));
    if (!said)
        print_message("%s", info.data);
    text_free(&info);
    return declined && said ? 0 : 1;
}

/* The host has OpenBLAS already, with two threads: so it stays, and it computes the same products, whatever threads a call may use. */
static int child_host(void) {
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*set_threads)(int);
    *(void **)&set_threads = lib ? dlsym(lib, "openblas_set_num_threads") : NULL;
    if (!set_threads)
        return 2;
    set_threads(2);
    product_case small = product_case_of(BLAS_GEMM, DT_FLOAT32, 40, 40, 40),
                 big = product_case_of(BLAS_GEMM, DT_FLOAT32, 150, 150, 150);
    product_case_fill(&small, false);
    product_case_fill(&big, false);
    bool right = try_problem(&big, 1) && try_problem(&big, 2) && try_problem(&small, 1) && library_threads() == 2;
    product_case_free(&small);
    product_case_free(&big);
    return right ? 0 : 1;
}

/* A library that takes this for an old processor computes matrices only, and the information says how to do better. */
static int child_old(void) {
    product_case matrix = product_case_of(BLAS_GEMM, DT_FLOAT32, 40, 40, 40),
                 vector = product_case_of(BLAS_GEMV, DT_FLOAT32, 90, 90, 1);
    text info = {0};
    product_case_fill(&matrix, false);
    product_case_fill(&vector, false);
    bool right = try_problem(&matrix, 1) && !try_problem(&vector, 1);
    blas_info(&info);
    right &= strstr(info.data, "OPENBLAS_CORETYPE=") != NULL;
    text_free(&info);
    product_case_free(&matrix);
    product_case_free(&vector);
    return right ? 0 : 1;
}

static int child_calls(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls)};
    return cmocka_run_group_tests_name("calls without OpenBLAS", tests, draw_seed, NULL);
}

static void other_libraries(void **unused) {
    (void)unused;
    assert_int_equal(run_child("missing", "/nowhere/libopenblas.so.0"), 0);
    assert_int_equal(run_child("missing", "libm.so.6"), 0);
    assert_int_equal(run_child("calls", "/nowhere/libopenblas.so.0"), 0);
#ifndef __SANITIZE_THREAD__ /* it does not see how OpenBLAS's own threads wait for each other */
    if (present())
        assert_int_equal(run_child("host", NULL), 0);
#endif
#if defined(__x86_64__)
    if (present() && __builtin_cpu_supports("avx2"))
        assert_int_equal(run_child("old", NULL), 0);
#endif
}

int main(void) {
    const char *role = getenv("CHILD");
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        setenv("OPENBLAS_CORETYPE", "Haswell", 0); /* it may not know this processor */
#endif
    static const struct {
        const char *role;
        int (*run)(void);
    } children[] = {{"missing", child_missing}, {"old", child_old}, {"host", child_host}, {"calls", child_calls}};
    for (size_t k = 0; role && k < COUNT(children); k++)
        if (strcmp(role, children[k].role) == 0)
            return children[k].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information), cmocka_unit_test(every_form),      cmocka_unit_test(random_problems),
        cmocka_unit_test(folding),     cmocka_unit_test(empty),           cmocka_unit_test(large),
        cmocka_unit_test(not_ours),    cmocka_unit_test(forks),           cmocka_unit_test(many_callers),
        cmocka_unit_test(calls),       cmocka_unit_test(other_libraries),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
