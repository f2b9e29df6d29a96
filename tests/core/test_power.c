/* test_power.c - pow where all elements have one exponent, given as a number or as an array of stride 0: the results at 2, 1/2 and -1 are
 * correctly rounded, that at 3 is within two units, and all specials are those of C's pow. Another exponent gives what an array of it
 * gives. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "draw.h"
#include "ref/ref.h"
#include "type/type.h"
#include "views.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    ELEMENTS = 4096
};

typedef struct trial {
    dtype t;
    uf_func *f;
    view x, y, z;
} trial;

static double get(const trial *t, const view *v, int64_t i) { return number_read(t->t, view_at(v, 1, &i)).as.f[0]; }

static void put(const trial *t, const view *v, int64_t i, double x) {
    number_write((number){.type = t->t, .as.f = {x}}, t->t, view_at(v, 1, &i));
}

static double any_number(dtype t) {
    const double hard[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 5e-324, -2, 0.5, FLT_MAX, DBL_MAX, FLT_MIN};
    int most = t == DT_FLOAT32 ? 127 : 1023;
    if (chance(20))
        return hard[pick(0, COUNT(hard) - 1)];
    return ldexp(chance(20) ? -1 - (double)draw_bits() * 0x1p-53 : 1 + (double)draw_bits() * 0x1p-53,
                 (int)pick(chance(50) ? -2 : -most - 30, chance(50) ? 2 : most));
}

typedef enum shape {
    A_NUMBER, /* the exponent is no array */
    ONE,      /* an array of one element, which is broadcast */
    ALL       /* every element has its own */
} shape;

static void run(trial *t, double exponent, shape how) {
    const int64_t all[] = {ELEMENTS}, one[] = {1};
    float single = (float)exponent;
    view_make(&t->y, dtypes[t->t].dl, 1, how == ALL ? all : one);
    view_make(&t->z, dtypes[t->t].dl, 1, all);
    for (int64_t i = 0; i < t->y.host.shape[0]; i++)
        put(t, &t->y, i, exponent);
    assert_null(view_send(&t->y));
    assert_null(view_send(&t->z));
    DLTensor y = how != A_NUMBER ? t->y.used : t->t == DT_FLOAT32 ? UF_SCALAR(single) : UF_SCALAR(exponent);
    if (uf_call(t->f, 3, (DLTensor[]){t->x.used, y, t->z.used}, NULL))
        fail_msg("%s", uf_last_error()->message);
    assert_null(view_fetch(&t->z));
}

static void check_same(double got, double wanted, double x, double exponent) {
    if (got != wanted && !(isnan(got) && isnan(wanted)))
        fail_msg("%a to the power of %g is %a, not %a", x, exponent, got, wanted);
    if (got == 0 && signbit(got) != signbit(wanted))
        fail_msg("%a to the power of %g is a zero of the wrong sign", x, exponent);
}

/* In one rounding, or for the cube two; pow knows the powers of what is not finite. A float32's square is exact in double, and rounding
 * its root or reciprocal to double first makes no difference. */
static double wanted_of(double exponent, double x) {
    if (!isfinite(x) || x == 0)
        return pow(x, exponent);
    return exponent == 2 ? x * x : exponent == 0.5 ? sqrt(x) : exponent == -1 ? 1 / x : x * x * x;
}

static void check_known(trial *t, double exponent) {
    double unit = t->t == DT_FLOAT32 ? FLT_EPSILON : DBL_EPSILON, least = t->t == DT_FLOAT32 ? 0x1p-149 : 0x1p-1074;
    for (int64_t i = 0; i < ELEMENTS; i++) {
        double x = get(t, &t->x, i), got = get(t, &t->z, i);
        double wanted = ref_convert((number){.type = DT_FLOAT64, .as.f = {wanted_of(exponent, x)}}, t->t).as.f[0];
        if (exponent != 3 || !isfinite(wanted) || got == 0)
            check_same(got, wanted, x, exponent);
        else
            assert_true(fabs(got - wanted) <= 2 * unit * fabs(wanted) + least);
    }
}

static void check(trial *t) {
    static const double known[] = {2, 0.5, -1, 3};
    const int64_t all[] = {ELEMENTS};
    view_make(&t->x, dtypes[t->t].dl, 1, all);
    for (int64_t i = 0; i < ELEMENTS; i++)
        put(t, &t->x, i, any_number(t->t));
    assert_null(view_send(&t->x));
    for (size_t k = 0; k < COUNT(known); k++)
        for (int how = A_NUMBER; how < ALL; how++) {
            run(t, known[k], (shape)how);
            check_known(t, known[k]);
            view_free(&t->y);
            view_free(&t->z);
        }
}

/* Exponents that are not in the table, and an exponent for each element. */
static void check_others(trial *t) {
    const double others[] = {2.5, -3, 0, 1, NAN, INFINITY};
    for (size_t k = 0; k < COUNT(others); k++) {
        run(t, others[k], ALL);
        view y = t->y, each = t->z;
        run(t, others[k], A_NUMBER);
        for (int64_t i = 0; i < ELEMENTS; i++)
            check_same(get(t, &t->z, i), get(t, &each, i), get(t, &t->x, i), others[k]);
        view_free(&y);
        view_free(&each);
        view_free(&t->y);
        view_free(&t->z);
    }
}

static void test_type(dtype type) {
    trial t = {.t = type};
    if (uf_vectorize(&t.f, "power", "ff->f; dd->d", "(x, y) { return pow(x, y); }"))
        fail_msg("%s", uf_last_error()->message);
    check(&t);
    check_others(&t);
    view_free(&t.x);
    uf_free(t.f);
}

static void test_float32(void **unused) {
    (void)unused;
    test_type(DT_FLOAT32);
}

static void test_float64(void **unused) {
    (void)unused;
    test_type(DT_FLOAT64);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_float32), cmocka_unit_test(test_float64)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
