/* test_compose.c - functions made of expressions over functions: compared with the calls one after the other, and with plain C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "expect.h"

enum {
    N = 257
};
static double x[N], y[N], z[N], r[N];

static uf_func *composed(const char *inputs, const char *expression, int n, uf_func *const *functions) {
    uf_func *f = NULL;
    OK(uf_compose(&f, "formula", inputs, expression, n, functions));
    return f;
}

static void elementwise(void **state) {
    (void)state;
    uf_func *f = composed(" x,y , z", "multiply(add(x, y), z)", 0, NULL);
    OK(UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(y, N), UF_ARRAY(z, N), UF_ARRAY(r, N)));
    for (int i = 0; i < N; i++)
        assert_true(r[i] == (x[i] + y[i]) * z[i]);
    /* The dtypes of each call decide, and each function's own signatures. */
    int8_t a[2] = {100, 3}, b[2] = {27, 4}, c[2] = {2, 1}, out[2];
    OK(UF_CALL(f, UF_ARRAY(a, 2), UF_ARRAY(b, 2), UF_ARRAY(c, 2), UF_ARRAY(out, 2)));
    assert_true(out[0] == (int8_t)254 && out[1] == 7);
    uf_description d = {.size = sizeof d};
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "elementwise");
    assert_true(d.nin == 3 && !d.signatures);
    uf_free(f);
    f = composed("x", "add(multiply(x, 2), -1.5)", 0, NULL);
    OK(UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(r, N)));
    for (int i = 0; i < N; i++)
        assert_true(r[i] == x[i] * 2 - 1.5);
    uf_free(f);
}

/* The caller's functions go before the catalogue's, which go before what kernel C has. */
static void names(void **state) {
    (void)state;
    uf_func *own[2], *f;
    OK(uf_vectorize(&own[0], "add", "dd->d", "(a, b) { return a - b; }"));
    OK(uf_vectorize(&own[1], "half", NULL, "(a) { return a / 2; }"));
    f = composed("x, y", "half(add(x, y))", 2, own);
    uf_free(own[0]);
    uf_free(own[1]);
    OK(UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(y, N), UF_ARRAY(r, N)));
    for (int i = 0; i < N; i++)
        assert_true(r[i] == (x[i] - y[i]) / 2);
    uf_free(f);
    /* The remainder of the catalogue has the sign of the divisor. */
    f = composed("x, y", "remainder(x, y)", 0, NULL);
    double a[1] = {-3}, b[1] = {5}, out[1];
    OK(UF_CALL(f, UF_ARRAY(a, 1), UF_ARRAY(b, 1), UF_ARRAY(out, 1)));
    assert_true(out[0] == 2);
    uf_free(f);
}

static double reduced(const char *expression, int inputs) {
    uf_func *f = composed(inputs == 2 ? "x, y" : "x", expression, 0, NULL);
    double result[1] = {-1};
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    const DLTensor all[3] = {UF_ARRAY(x, N), UF_ARRAY(y, N), UF_ARRAY(result, 1)},
                   one[2] = {UF_ARRAY(x, N), UF_ARRAY(result, 1)};
    OK(uf_reduce(f, inputs + 1, inputs == 2 ? all : one, &keep));
    uf_free(f);
    return result[0];
}

static void reductions(void **state) {
    (void)state;
    double sum = 0, squares = 0, most = -INFINITY, mean = 0, deviation = 0;
    for (int i = 0; i < N; i++) {
        sum += hypot(x[i] + y[i], 2);
        squares += x[i] * x[i];
        most = fmax(most, x[i] - y[i]);
        mean += x[i] * y[i] / N;
    }
    for (int i = 0; i < N; i++)
        deviation += (x[i] * y[i] - mean) * (x[i] * y[i] - mean) / N;
    assert_true(fabs(reduced("sum(hypot(add(x, y), 2))", 2) - sum) <= 1e-12 * sum);
    assert_true(fabs(reduced(" sum( multiply(x, x) )", 1) - squares) <= 1e-12 * squares);
    assert_true(reduced("max(subtract(x, y))", 2) == most);
    assert_true(fabs(reduced("mean(multiply(x, y))", 2) - mean) <= 1e-12 * (fabs(mean) + 1));
    assert_true(fabs(reduced("var(multiply(x, y))", 2) - deviation) <=
                1e-9 * deviation); /* a state of several values */
    /* Integers are added in the dtype that the reduction has for them. */
    uf_func *f = composed("x, y", "sum(add(x, y))", 0, NULL);
    int8_t a[3] = {50, 50, 50}, b[3] = {10, 20, 30};
    int64_t total[1];
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    OK(uf_reduce(f, 3, (DLTensor[]){UF_ARRAY(a, 3), UF_ARRAY(b, 3), UF_ARRAY(total, 1)}, &keep));
    assert_int_equal(total[0], 210);
    uf_description d = {.size = sizeof d};
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "reduction");
    assert_string_equal(d.identity, "0");
    uf_free(f);
}

static void bad(void **state) {
    (void)state;
    uf_func *f = (uf_func *)&f, *kernel;
    static const struct {
        uf_status status;
        const char *inputs, *expression, *message;
        int line, column;
    } rows[] = {{UF_ERR_SYNTAX, "x", "", "got none", 1, 1},
                {UF_ERR_SYNTAX, "x", "  ", "got none", 1, 1},
                {UF_ERR_SYNTAX, "x", "add(x, 1", "\")\" is missing", 1, 9},
                {UF_ERR_SYNTAX, "x", "x) + (x", "without a \"(\"", 1, 2},
                {UF_ERR_SYNTAX, "x", "x; }", "calls, names and numbers", 1, 2},
                {UF_ERR_SYNTAX, "x", "add(x,\n  multipl(x, x))", "did you mean multiply", 2, 3},
                {UF_ERR_SYNTAX, "x", "add(sum(x), x)", "may only stand outermost", 1, 5},
                {UF_ERR_SYNTAX, "", "1", "the name of an input", 1, 1},
                {UF_ERR_SYNTAX, "x y", "x", "commas", 1, 3},
                {UF_ERR_SYNTAX, "x,", "x", "the name of an input", 1, 3},
                {UF_ERR_ARGUMENT, "x", "argmax(x)", "takes the position", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FAILS(rows[i].status, rows[i].message, uf_compose(&f, "formula", rows[i].inputs, rows[i].expression, 0, NULL));
        assert_null(f);
        assert_int_equal(uf_last_error()->line, rows[i].line);
        assert_int_equal(uf_last_error()->column, rows[i].column);
        assert_true(!rows[i].line ||
                    strstr(uf_last_error()->source, rows[i].column && *rows[i].inputs ? "" : "inputs"));
    }
    uf_status s = uf_compose(&f, "formula", "x", "add(\n x, unknown_name)", 0, NULL);
    assert_int_equal(s, UF_ERR_SYNTAX);
    assert_string_equal(uf_last_error()->source, "expression of formula");
    assert_true(uf_last_error()->line == 2 && uf_last_error()->column == 5);
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_compose(NULL, "f", "x", "x", 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "name is NULL", uf_compose(&f, NULL, "x", "x", 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "inputs is NULL", uf_compose(&f, "f", NULL, "x", 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "expression is NULL", uf_compose(&f, "f", "x", NULL, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "nfunctions is 1", uf_compose(&f, "f", "x", "x", 1, NULL));
    FAILS(UF_ERR_ARGUMENT, "functions[0] is NULL", uf_compose(&f, "f", "x", "x", 1, (uf_func *[]){NULL}));
    OK(uf_kernel(&kernel, "k", "float64[]", "[i](a) { a[i] = i; }"));
    FAILS(UF_ERR_ARGUMENT, "kernel over indices", uf_compose(&f, "f", "x", "x", 1, &kernel));
    uf_free(kernel);
}

static int fill(void **state) {
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = (i * 37 % 101) - 50 + i / 256.0;
        y[i] = (i * 53 % 97) / 8.0 - 3;
        z[i] = i - 100;
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elementwise), cmocka_unit_test(names),
                                       cmocka_unit_test(reductions), cmocka_unit_test(bad)};
    return cmocka_run_group_tests_name("compositions", tests, fill, NULL);
}
