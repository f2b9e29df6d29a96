/* test_vector_tables.c - the numbers that vector forms look up, against MPFR: the first of a pair is the nearest one, or the nearest with so
 * many bits; the second is what it lacks, to the last bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <mpfr.h>

#include <cmocka.h>

#include "ir/common/vector_tables.h"

enum {
    BITS = 300
};

/* x less high, in a number; relative to x if that is wanted. */
static double rest_of(mpfr_t x, double high, int relative) {
    mpfr_t rest;
    mpfr_init2(rest, BITS);
    mpfr_sub_d(rest, x, high, MPFR_RNDN);
    if (relative)
        mpfr_div(rest, rest, x, MPFR_RNDN);
    double value = mpfr_get_d(rest, MPFR_RNDN);
    mpfr_clear(rest);
    return value;
}

static void check_exact(double got, double wanted) {
    if (got != wanted)
        fail_msg("%a should be %a", got, wanted);
}

static void test_powers(void **state) {
    (void)state;
    mpfr_t x;
    mpfr_init2(x, BITS);
    for (int j = 0; j < 16; j++) {
        mpfr_set_d(x, j / 16.0, MPFR_RNDN);
        mpfr_exp2(x, x, MPFR_RNDN);
        check_exact(exp2_high[j], mpfr_get_d(x, MPFR_RNDN));
        check_exact(exp2_low[j], rest_of(x, exp2_high[j], 1));
    }
    mpfr_clear(x);
    mpfr_free_cache();
}

static void check_logarithms(const double *high, const double *low, int count, int places,
                             int (*logarithm)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)) {
    mpfr_t x;
    mpfr_init2(x, BITS);
    for (int j = 0; j < count; j++) {
        mpfr_set_d(x, 1 + (double)j / count, MPFR_RNDN);
        logarithm(x, x, MPFR_RNDN);
        mpfr_neg(x, x, MPFR_RNDN);
        check_exact(high[j], ldexp(rint(ldexp(mpfr_get_d(x, MPFR_RNDN), places)), -places));
        check_exact(low[j], rest_of(x, high[j], 0));
    }
    mpfr_clear(x);
    mpfr_free_cache();
}

static void test_logarithms(void **state) {
    (void)state;
    check_logarithms(log_high, log_low, 16, 42, mpfr_log);
    check_logarithms(log2_high, log2_low, 32, 40, mpfr_log2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_powers), cmocka_unit_test(test_logarithms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
