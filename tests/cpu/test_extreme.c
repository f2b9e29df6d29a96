/* test_extreme.c - min and max of floating numbers within each other: what they give for all combinations of numbers, infinities, zeros and
 * NaN, which vectors and what is left behind them compute, is what section 12 of docs/kernel-c.md says; and NaN is asked for once for two
 * numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "ufunc.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    KINDS = 9,
    N = KINDS * KINDS * KINDS * KINDS
};

static const double kinds[KINDS] = {-INFINITY, -2, -0.0, 0, 1, 3, INFINITY, NAN, -NAN};

static double least(double a, double b) { return a < b || isnan(a) ? a : b; }
static double most(double a, double b) { return a > b || isnan(a) ? a : b; }
static double nested(const double *x) { return least(least(x[0], x[1]), most(x[2], x[3])); }
static double leaning(const double *x) { return most(most(most(x[3], x[2]), x[1]), x[0]); }
static double odd(const double *x) { return most(x[0], least(x[1], x[2])); }
static double clamped(const double *x) { return least(most(x[0], x[1]), x[2]); }
static double between(const double *x) { return least(most(x[0], -1), 2); }

static const struct {
    const char *source;
    double (*want)(const double *x);
    int asked; /* how often whether two numbers, or one, are NaN */
} cases[] = {
    {"(a, b, c, d) { return min(min(a, b), max(c, d)); }", nested, 2},
    {"(a, b, c, d) { return max(max(max(d, c), b), a); }", leaning, 2},
    {"(a, b, c, d) { return max(a, min(b, c)); }", odd, 2},
    {"(a, b, c, d) { return clamp(a, b, c); }", clamped, 2},
    {"(a, b, c, d) { return clamp(a, -1, 2); }", between, 2}, /* of which LLVM drops one */
};

static int occurrences(const char *where, const char *what) {
    int n = 0;
    for (const char *at = where; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void same(double got, double want, const char *source, int i) {
    if (isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want))
        fail_msg("%s, combination %d: %g, not %g", source, i, got, want);
}

static void check(const char *source, double (*want)(const double *x), int asked) {
    static double x[4][N], r[N];
    static float y[4][N], s[N];
    uf_func *f;
    char *ir;
    for (int i = 0; i < N; i++)
        for (int k = 0, at = i; k < 4; k++, at /= KINDS)
            y[k][i] = (float)(x[k][i] = kinds[at % KINDS]);
    assert_int_equal(uf_vectorize(&f, "f", "dddd->d; ffff->f", source), UF_OK);
    assert_int_equal(
        UF_CALL(f, UF_ARRAY(x[0], N), UF_ARRAY(x[1], N), UF_ARRAY(x[2], N), UF_ARRAY(x[3], N), UF_ARRAY(r, N)), UF_OK);
    assert_int_equal(
        UF_CALL(f, UF_ARRAY(y[0], N), UF_ARRAY(y[1], N), UF_ARRAY(y[2], N), UF_ARRAY(y[3], N), UF_ARRAY(s, N)), UF_OK);
    for (int i = 0; i < N; i++) {
        double of[4] = {x[0][i], x[1][i], x[2][i], x[3][i]};
        same(r[i], want(of), source, i);
        same((double)s[i], want(of), source, i);
    }
    assert_int_equal(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &ir), UF_OK);
    assert_int_equal(occurrences(ir, "fcmp uno double"), asked);
    free(ir);
    uf_free(f);
}

static void extremes(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check(cases[i].source, cases[i].want, cases[i].asked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
