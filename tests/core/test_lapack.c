/* test_lapack.c - calls that forms of LAPACK compute, through the public interface: which definitions may name them, which sizes go
 * where, what is said where the library is missing, reports of singular matrices, plans, arrays that overlap. What is computed is
 * compared with NumPy in tests/oracle/linalg.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ufunc.h"

enum {
    MOST = 300 /* rows */
};

/* A kernel that can be told from LAPACK: its results are all 7. */
static const char sevens[] = "(a) -> (y) { forall (i : n, j : n) y[i][j] = 0 * a[i][j] + 7; }";

static uf_status define(uf_func **out, const char *layout, const char *blas, int64_t max_extent, unsigned flags,
                        const char *source) {
    const uf_section section = {.source = source};
    return uf_define(out, &(uf_definition){.size = sizeof(uf_definition),
                                           .name = "f",
                                           .nsections = 1,
                                           .sections = &section,
                                           .flags = flags,
                                           .layout = layout,
                                           .blas = blas,
                                           .max_extent = max_extent});
}

static uf_func *defined(const char *layout, const char *blas, int64_t max_extent, unsigned flags, const char *source) {
    uf_func *f;
    if (define(&f, layout, blas, max_extent, flags, source))
        fail_msg("%s", uf_last_error()->message);
    return f;
}

static uf_func *loaded(const char *name) {
    uf_func *f;
    if (uf_load(&f, name))
        fail_msg("%s", uf_last_error()->message);
    return f;
}

static void expect(uf_status got, uf_status wanted, const char *part) {
    if (got != wanted || (wanted && !strstr(uf_last_error()->message, part)))
        fail_msg("status %d, not %d, or it does not say \"%s\": %s", got, wanted, part, uf_last_error()->message);
}

/* Arrays of float64: so many matrices, or vectors. */
static DLTensor array(double *data, int ndim, int64_t *shape) {
    return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = {kDLFloat, 64, 1}, .shape = shape};
}

static double matrix[3 * MOST * MOST], result[3 * MOST * MOST];

/* count matrices: the unit matrix times 2, 4, ..; matrix `singular` is 0. */
static void fill(int64_t count, int64_t n, int64_t singular) {
    memset(matrix, 0, sizeof matrix);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < n; i++)
            matrix[(k * n + i) * n + i] = k == singular ? 0 : 2.0 * (double)(k + 1);
}

/* Calls a function of the layout (n,n)->(n,n). */
static uf_status square_call(const uf_func *f, int64_t count, int64_t n, const uf_options *options) {
    int64_t shape[] = {count, n, n};
    DLTensor args[] = {array(matrix, 3, shape), array(result, 3, shape)};
    for (int64_t i = 0; i < count * n * n; i++)
        result[i] = -1;
    return uf_call(f, 2, args, options);
}

/* ---- Definitions ---- */

static void definitions(void **unused) {
    uf_func *f;
    (void)unused;
    expect(define(&f, "(n,n)->(n,n)", "inv", -1, 0, sevens), UF_ERR_ARGUMENT,
           "f: max_extent is -1; it must not be negative, and 0 allows any extent");
    assert_null(f);
    expect(define(&f, NULL, NULL, 4, 0, "(x) { return x; }"), UF_ERR_ARGUMENT,
           "f: max_extent is 4; it is of core dimensions, which a function without a layout does not have");
    expect(define(&f, "(m,n)->(m,n)", "inv", 4, 0, "(a) -> (y) { forall (i : m, j : n) y[i][j] = 7; }"),
           UF_ERR_ARGUMENT, "f: blas is \"inv\", which is for the layout (n,n)->(n,n)");
    expect(define(&f, "(n,n),(n)->(n,n)", "solve", 4, 0, "(a, b) -> (y) { }"), UF_ERR_ARGUMENT,
           "f: blas is \"solve\", which is for the layout (n,n),(n)->(n)");
    expect(define(&f, "(m,n)->(m,max(m,n)),(min(m,n),n)", "qr", 4, 0, "(a) -> (q, r) { }"), UF_ERR_ARGUMENT,
           "which is for the layout (m,n)->(m,min(m,n)),(min(m,n),n)");
    expect(define(&f, "(n,n)->(n,n)", "lu", 4, 0, sevens), UF_ERR_ARGUMENT,
           "f: blas is \"lu\"; known are: gemm gemv gevm gevmc dot dotc ger solve inv det cholesky qr eigh svd lstsq");
    uf_free(defined("(p,q)->(p,min(p,q)),(min(p,q),q)", "qr", 0, 0, "(a) -> (q1, r1) { }"));
    uf_free(defined("(k,k),(k,t)->(k,t)", "solve", 0, 0, "(a, b) -> (x) { }"));
}

/* ---- Which sizes go where ---- */

static void sizes(void **unused) {
    uf_func *f = defined("(n,n)->(n,n)", "inv", 9, 0, sevens), *alone = defined("(n,n)->(n,n)", NULL, 9, 0, sevens),
            *any = defined("(n,n)->(n,n)", NULL, 0, 0, sevens);
    (void)unused;
    fill(2, 9, -1);
    expect(square_call(f, 2, 9, NULL), UF_OK, "");
    assert_true(result[0] == 7 && result[161] == 7);
    fill(2, 10, -1);
    expect(square_call(f, 2, 10, NULL), UF_OK, "");
    assert_true(result[0] == 0.5 && result[1] == 0 && result[199] == 0.25);
    expect(square_call(alone, 2, 9, NULL), UF_OK, "");
    expect(square_call(alone, 2, 10, NULL), UF_ERR_SHAPE,
           "f: n is 10, but its kernel takes core dimensions of at most 9");
    assert_true(result[0] == -1);
    expect(square_call(any, 2, 100, NULL), UF_OK, "");
    assert_true(result[0] == 7);
    uf_free(f);
    uf_free(alone);
    uf_free(any);
}

/* No matrix, or one without elements, is nothing to compute, whatever the other sizes are. */
static void nothing(void **unused) {
    uf_func *f = loaded("qr"), *inv = loaded("inv");
    int64_t a[] = {100, 0}, r[] = {0, 0}, none[] = {0, 100, 100};
    DLTensor args[] = {array(matrix, 2, a), array(result, 2, a), array(result, 2, r)};
    DLTensor two[] = {array(matrix, 3, none), array(result, 3, none)};
    (void)unused;
    expect(uf_call(f, 3, args, NULL), UF_OK, "");
    expect(uf_call(inv, 2, two, NULL), UF_OK, "");
    uf_free(f);
    uf_free(inv);
}

/* Integers are not what a form takes: the kernel computes them, or nobody. */
static void other_dtypes(void **unused) {
    uf_func *f = defined("(n,n)->(n,n)", "inv", 4, 0, sevens);
    int32_t x[25] = {0}, y[25] = {0};
    int64_t shape[] = {4, 4}, large[] = {5, 5};
    DLTensor args[] = {array((double *)(void *)x, 2, shape), array((double *)(void *)y, 2, shape)};
    args[0].dtype = args[1].dtype = (DLDataType){kDLInt, 32, 1};
    (void)unused;
    expect(uf_call(f, 2, args, NULL), UF_OK, "");
    assert_int_equal(y[15], 7);
    args[0].shape = args[1].shape = large;
    expect(uf_call(f, 2, args, NULL), UF_ERR_SHAPE, "f: n is 5, but its kernel takes core dimensions of at most 4");
    uf_free(f);
}

/* ---- Errors ---- */

static void bad_arguments(void **unused) {
    uf_func *f = loaded("solve"), *qr = loaded("qr");
    int64_t a[] = {20, 20}, b[] = {19}, x[] = {20}, wide[] = {20, 21}, flat[] = {20, 20, 20};
    DLTensor args[] = {array(matrix, 2, a), array(matrix, 1, b), array(result, 1, x)};
    (void)unused;
    fill(1, 20, -1);
    expect(uf_call(f, 3, args, NULL), UF_ERR_SHAPE, "argument 1: dimension 0 is 19, but n is 20 (from argument 0)");
    args[0].shape = wide;
    expect(uf_call(f, 3, args, NULL), UF_ERR_SHAPE, "argument 0: dimension 1 is 21, but n is 20");
    args[0] = array(matrix, 1, x);
    expect(uf_call(f, 3, args, NULL), UF_ERR_SHAPE, "argument 0");
    args[0] = array(NULL, 2, a);
    args[1] = array(matrix, 1, x);
    expect(uf_call(f, 3, args, NULL), UF_ERR_ARGUMENT, "argument 0: its data is NULL");
    DLTensor three[] = {array(matrix, 2, a), array(result, 2, a), array(result + 1, 2, a)};
    expect(uf_call(qr, 3, three, NULL), UF_ERR_ARGUMENT, "argument 2: is an output that overlaps output argument 1");
    three[2] = array(result + 400, 2, wide);
    expect(uf_call(qr, 3, three, NULL), UF_ERR_SHAPE, "argument 2: dimension 1 is 21, but n is 20");
    three[2] = array(result + 400, 3, flat);
    expect(uf_call(qr, 3, three, NULL), UF_ERR_SHAPE, "");
    uf_free(f);
    uf_free(qr);
}

/* Under UF_DEBUG the matrix without a result is named; the others are computed. */
static void reports(void **unused) {
    uf_func *f = defined("(n,n)->(n,n)", "inv", 4, UF_DEBUG, sevens), *g = defined("(n,n)->(n,n)", "inv", 4, 0, sevens);
    (void)unused;
    fill(3, 20, 1);
    expect(square_call(f, 3, 20, NULL), UF_ERR_KERNEL,
           "inv: line 2: assertion failed: info == 0, in the inner call (1)");
    assert_true(result[0] == 0.5 && result[400] == -1 && result[800] == 1.0 / 6);
    expect(square_call(g, 3, 20, NULL), UF_OK, "");
    assert_true(result[0] == 0.5 && isnan(result[400]) && result[800] == 1.0 / 6);
    uf_free(f);
    uf_free(g);
}

/* ---- Plans, overlap ---- */

static void plans(void **unused) {
    uf_func *f = loaded("inv");
    uf_plan *plan;
    int64_t shape[] = {2, 30, 30};
    double *other = matrix + 2 * 900;
    DLTensor args[] = {array(matrix, 3, shape), array(result, 3, shape)};
    (void)unused;
    expect(uf_plan_new(&plan, f, 2, args, NULL), UF_OK, "");
    for (int again = 0; again < 2; again++) {
        fill(2, 30, -1);
        memset(result, 0, sizeof result);
        expect(uf_plan_run(plan, (void *[]){matrix, result}, NULL), UF_OK, "");
        assert_true(result[0] == 0.5 && result[1799] == 0.25 && result[1800] == 0);
    }
    memcpy(other, matrix, 1800 * sizeof *other);
    other[0] = 8;
    expect(uf_plan_run(plan, (void *[]){other, result + 900}, NULL), UF_OK, "");
    assert_true(result[900] == 0.125 && result[0] == 0.5);
    uf_plan_free(plan);
    uf_free(f);
}

static void in_place(void **unused) {
    uf_func *inv = loaded("inv"), *solve = loaded("solve");
    int64_t shape[] = {2, 300, 300}, vector[] = {2, 300};
    DLTensor both[] = {array(matrix, 3, shape), array(matrix, 3, shape)};
    DLTensor three[] = {array(matrix, 3, shape), array(result, 2, vector), array(result, 2, vector)};
    (void)unused;
    fill(2, 300, -1);
    expect(uf_call(inv, 2, both, NULL), UF_OK, "");
    assert_true(matrix[0] == 0.5 && matrix[1] == 0 && matrix[179999] == 0.25);
    for (int i = 0; i < 600; i++)
        result[i] = i;
    expect(uf_call(solve, 3, three, NULL), UF_OK, "");
    for (int i = 0; i < 600; i++)
        assert_true(result[i] == (i < 300 ? 2 : 4) * i);
    uf_free(inv);
    uf_free(solve);
}

/* The form for several right sides at once, which a definition can name. */
static void right_sides(void **unused) {
    uf_func *f =
        defined("(n,n),(n,r)->(n,r)", "solve", 1, 0, "(a, b) -> (x) { forall (i : n, j : r) x[i][j] = b[i][j]; }");
    int64_t shape[] = {2, 20, 20}, sides[] = {20, 3}, outputs[] = {2, 20, 3};
    static double b[60], x[120];
    DLTensor args[] = {array(matrix, 3, shape), array(b, 2, sides), array(x, 3, outputs)};
    (void)unused;
    fill(2, 20, -1);
    for (int i = 0; i < 60; i++)
        b[i] = 4 * i;
    expect(uf_call(f, 3, args, NULL), UF_OK, "");
    for (int i = 0; i < 120; i++)
        assert_true(x[i] == (i < 60 ? 2 * i : i - 60));
    uf_free(f);
}

/* ---- The library is missing ---- */

static void missing_body(void) {
    uf_func *f = loaded("solve"), *inv = loaded("inv");
    int64_t a[] = {17, 17}, b[] = {17};
    DLTensor args[] = {array(matrix, 2, a), array(matrix, 1, b), array(result, 1, b)};
    fill(1, 17, -1);
    expect(uf_call(f, 3, args, NULL), UF_ERR_LIBRARY,
           "solve: n is 17, but its kernel takes core dimensions of at most 16; larger ones need a library that is "
           "missing: "
           "/nowhere/libopenblas.so: ");
    expect(uf_call(f, 3, args, NULL), UF_ERR_LIBRARY, "UFUNC_OPENBLAS names an OpenBLAS with LAPACK");
    uf_plan *plan;
    expect(uf_plan_new(&plan, f, 3, args, NULL), UF_ERR_LIBRARY, "a library that is missing");
    a[0] = a[1] = b[0] = 16;
    fill(1, 16, -1);
    expect(uf_call(f, 3, args, NULL), UF_OK, "");
    assert_true(result[0] == 1);
    fill(1, 100, -1);
    expect(square_call(inv, 1, 100, NULL), UF_OK, ""); /* slower than LAPACK, but the kernel takes it */
    assert_true(result[0] == 0.5);
    expect(square_call(inv, 1, 257, NULL), UF_ERR_LIBRARY, "inv: n is 257");
    uf_free(f);
    uf_free(inv);
}

static void missing(void **unused) {
    (void)unused;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv("UFUNC_OPENBLAS", "/nowhere/libopenblas.so", 1);
        execl("/proc/self/exe", "test_lapack", "missing", (char *)NULL);
        _exit(126);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void missing_here(void **unused) {
    (void)unused;
    missing_body();
}

int main(int argc, char **argv) {
    const struct CMUnitTest alone[] = {cmocka_unit_test(missing_here)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions),  cmocka_unit_test(sizes),         cmocka_unit_test(nothing),
        cmocka_unit_test(other_dtypes), cmocka_unit_test(bad_arguments), cmocka_unit_test(reports),
        cmocka_unit_test(plans),        cmocka_unit_test(in_place),      cmocka_unit_test(right_sides),
        cmocka_unit_test(missing),
    };
    (void)argv;
    return argc > 1 ? cmocka_run_group_tests(alone, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
