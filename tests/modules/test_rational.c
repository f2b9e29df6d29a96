/* test_rational.c - the module `rational` of the catalogue against integers of 128 bits: operators, comparisons, functions and
 * conversions on small, large and undefined operands, on the CPU and to the bit on the simulated GPU; sums in a reduction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "draw.h"
#include "gpu_sim.h"
#include "record_trial.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

enum {
    N = 4000
};

typedef struct rational {
    int64_t num, den;
} rational;
__extension__ typedef __int128 wide;

#define R "rational"

static rational in[2][N], out[N], again[N];

static wide magnitude(wide x) { return x < 0 ? -x : x; }
static wide common(wide a, wide b) { return b ? common(b, a % b) : a; }

/* In lowest terms; 0/0 if it is undefined or does not fit. */
static rational reduced(wide num, wide den) {
    const wide most = INT64_MAX;
    wide by = common(magnitude(num), magnitude(den));
    if (den == 0)
        return (rational){0, 0};
    num = (den < 0 ? -num : num) / by;
    den = magnitude(den) / by;
    return magnitude(num) <= most && den <= most ? (rational){(int64_t)num, (int64_t)den} : (rational){0, 0};
}

/* ---- Operands ---- */

static int64_t any_integer(void) {
    static const int64_t hard[] = {0, 1, -1, 2, INT64_MAX, -INT64_MAX, INT64_MAX - 1, 1LL << 32, 1LL << 62};
    int64_t x = (int64_t)(draw_bits() << 11 ^ draw_bits()) >> pick(1, 62);
    return chance(15) ? hard[pick(0, (int64_t)COUNT(hard) - 1)] : x;
}

static rational any_rational(void) { return chance(3) ? (rational){0, 0} : reduced(any_integer(), any_integer()); }

static void fill(void) {
    for (int i = 0; i < N; i++) {
        in[0][i] = any_rational();
        in[1][i] = chance(10) ? in[0][i] : any_rational();
        if (chance(20)) /* a neighbour */
            in[1][i] = reduced((wide)in[0][i].num + pick(-1, 1), in[0][i].den);
    }
}

/* ---- What is wanted ---- */

/* A product or sum on the way that is too large is an overflow of + and -. */
static bool is_long(wide x) { return magnitude(x) > INT64_MAX; }

static rational plus(rational a, rational b) {
    wide by = common(a.den, b.den);
    if (!a.den || !b.den)
        return (rational){0, 0};
    wide left = a.num * (b.den / by), right = b.num * (a.den / by);
    bool overflow = is_long(left) || is_long(right) || left + right < INT64_MIN || left + right > INT64_MAX;
    return overflow ? (rational){0, 0} : reduced(left + right, a.den / by * b.den);
}
static rational negated(rational a, rational b) {
    (void)b;
    return (rational){-a.num, a.den};
}
static rational minus(rational a, rational b) { return plus(a, negated(b, b)); }
static rational times(rational a, rational b) { return reduced((wide)a.num * b.num, (wide)a.den * b.den); }
static rational divided(rational a, rational b) {
    return b.den ? reduced((wide)a.num * b.den, (wide)a.den * b.num) : (rational){0, 0};
}

static rational truth(bool x) { return (rational){x, 1}; }
static bool both(rational a, rational b) { return a.den && b.den; }
static wide difference(rational a, rational b) { return (wide)a.num * b.den - (wide)b.num * a.den; }
static rational less(rational a, rational b) { return truth(both(a, b) && difference(a, b) < 0); }
static rational less_equal(rational a, rational b) { return truth(both(a, b) && difference(a, b) <= 0); }
static rational greater(rational a, rational b) { return truth(both(a, b) && difference(a, b) > 0); }
static rational greater_equal(rational a, rational b) { return truth(both(a, b) && difference(a, b) >= 0); }
static rational equal(rational a, rational b) { return truth(both(a, b) && difference(a, b) == 0); }
static rational unequal(rational a, rational b) { return truth(!(both(a, b) && difference(a, b) == 0)); }
static rational least(rational a, rational b) { return !both(a, b) ? (rational){0, 0} : difference(a, b) < 0 ? a : b; }
static rational greatest(rational a, rational b) {
    return !both(a, b) ? (rational){0, 0} : difference(a, b) > 0 ? a : b;
}

static rational absolute(rational a, rational b) {
    (void)b;
    return (rational){a.num < 0 ? -a.num : a.num, a.den};
}
static rational below(rational a, rational b) {
    (void)b;
    return a.den ? (rational){a.num / a.den - (a.num < 0 && a.num % a.den), 1} : a;
}
static rational above(rational a, rational b) {
    (void)b;
    return a.den ? (rational){a.num / a.den + (a.num > 0 && a.num % a.den), 1} : a;
}
static rational quotient(rational a, rational b) { return reduced(a.num, b.num); }
static rational itself(rational a, rational b) {
    (void)b;
    return a;
}
static rational next(rational a, rational b) { return plus(a, (rational){b.den != 0, 1}); }

/* ---- ---- */

static void run(const char *expression) {
    char source[160];
    snprintf(source, sizeof source, "(x, y) { return %s; }", expression);
    record_trial trial = {.module = "rational",
                          .source = source,
                          .types = R "," R "->" R,
                          .n = N,
                          .noperands = 3,
                          .operands = {{DT_INT64, 2, in[0]}, {DT_INT64, 2, in[1]}, {DT_INT64, 2, out}}};
    trial_cpu(&trial);
    trial.operands[2].data = again;
    if (!sim_there())
        return;
    assert_true(trial_gpu(&trial));
    assert_memory_equal(out, again, sizeof out);
}

static void operators(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        rational (*wanted)(rational, rational);
    } rows[] = {{"x + y", plus},
                {"x - y", minus},
                {"x * y", times},
                {"x / y", divided},
                {"-x", negated},
                {"+x", itself},
                {"x < y", less},
                {"x <= y", less_equal},
                {"x > y", greater},
                {"x >= y", greater_equal},
                {"x == y", equal},
                {"x != y", unequal},
                {"min(x, y)", least},
                {"max(x, y)", greatest},
                {"fabs(x)", absolute},
                {"floor(x)", below},
                {"ceil(x)", above},
                {"ratio(x.num, y.num)", quotient},
                {"x + is_defined(y)", next}};
    for (int64_t round = 0; round < trials(1); round++)
        for (size_t k = 0; k < COUNT(rows); k++) {
            int defined = 0;
            fill();
            run(rows[k].expression);
            for (int i = 0; i < N; i++) {
                rational a = in[0][i], b = in[1][i], want = rows[k].wanted(a, b);
                defined += want.den != 0;
                if (out[i].num != want.num || out[i].den != want.den)
                    fail_msg("%s of %lld/%lld and %lld/%lld is %lld/%lld, should be %lld/%lld", rows[k].expression,
                             (long long)a.num, (long long)a.den, (long long)b.num, (long long)b.den,
                             (long long)out[i].num, (long long)out[i].den, (long long)want.num, (long long)want.den);
            }
            assert_true(defined > N / 4);
        }
}

static void conversions(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        int64_t num, den;
    } rows[] = {{"(rational)(int8)(-3)", -3, 1},
                {"(rational)0x7FFFFFFFFFFFFFFF", INT64_MAX, 1},
                {"(rational)0x8000000000000000u", 0, 0},
                {"(rational)(-0x7FFFFFFFFFFFFFFF - 1)", 0, 0},
                {"ratio(-0x7FFFFFFFFFFFFFFF - 1, -6)", 0x4000000000000000, 3},
                {"ratio(0, -5)", 0, 1},
                {"ratio(5, 0)", 0, 0},
                {"2 * ratio(1, 6) - 1", -2, 3},
                {"1 / (x - x)", 0, 0}};
    fill();
    in[0][0] = (rational){1, 2};
    for (size_t k = 0; k < COUNT(rows); k++) {
        run(rows[k].expression);
        if (out[0].num != rows[k].num || out[0].den != rows[k].den)
            fail_msg("%s is %lld/%lld", rows[k].expression, (long long)out[0].num, (long long)out[0].den);
    }
}

static uf_func *define(const char *signatures, const char *source, const uf_reduction_def *def, uf_status expected,
                       const char *message) {
    uf_module *m;
    uf_func *f = NULL;
    OK(uf_module_load(&m, "rational"));
    const uf_section only = {.signatures = signatures, .source = source};
    const uf_definition d = {.size = sizeof d,
                             .name = "f",
                             .nsections = 1,
                             .sections = &only,
                             .reduction = def,
                             .nmodules = 1,
                             .modules = &m};
    if (expected)
        FAILS(expected, message, uf_define(&f, &d));
    else
        OK(uf_define(&f, &d));
    uf_module_free(m);
    return f;
}

static void to_numbers(void **state) {
    (void)state;
    static double r[N];
    uf_func *f = define(R "->float64", "(x) { return (float64)x; }", NULL, UF_OK, "");
    fill();
    OK(UF_CALL(f, UF_RECORDS(in[0], N), UF_ARRAY(r, N)));
    for (int i = 0; i < N; i++) {
        rational a = in[0][i];
        long double exact = (long double)a.num / (long double)a.den;
        assert_true(a.den ? fabsl((long double)r[i] - exact) <= 3 * 0x1p-53L * fabsl(exact) : isnan(r[i]));
    }
    uf_free(f);
}

/* 1/1 + 1/2 + .. in any order is the same, and exact. */
static void sums(void **state) {
    (void)state;
    int64_t n[20];
    rational r, want = {0, 1};
    const DLTensor result = {.data = &r, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 2}};
    const uf_reduction_def def = {.size = sizeof def,
                                  .map = "(n) { return ratio(1, n); }",
                                  .combine = "(a, b) { return a + b; }",
                                  .state = R,
                                  .identity = "0"};
    uf_func *f = define("int64->" R, NULL, &def, UF_OK, "");
    for (int i = 0; i < 20; i++) {
        n[i] = i + 1;
        want = plus(want, (rational){1, i + 1});
    }
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(n, 20), result}, NULL));
    assert_true(r.num == want.num && r.den == want.den && r.num == 55835135);
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(n, 0), result}, NULL));
    assert_true(r.num == 0 && r.den == 1);
    n[7] = 0;
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(n, 20), result}, NULL));
    assert_true(r.den == 0);
    uf_free(f);
}

static void refused(void **state) {
    (void)state;
    assert_null(define(R "->" R, "(x) { return 0.5 * x; }", NULL, UF_ERR_TYPE, "float64"));
    assert_null(define(R "->" R, "(x) { return sqrt(x); }", NULL, UF_ERR_TYPE, "sqrt"));
    assert_null(define(R "->" R, "(x) { return x % 2; }", NULL, UF_ERR_TYPE, "operator %"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators), cmocka_unit_test(conversions),
                                       cmocka_unit_test(to_numbers), cmocka_unit_test(sums), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("rational", tests, draw_seed, NULL);
}
