/* test_math.c - functions, applied by the library to random bit patterns and hard values. Every row of the math table, in
 * float32 and float64 (bit counts: every integer type), against MPFR: rows whose bound is 0 to the bit, the others within
 * it, Bessel functions of orders below 0 too. The prelude's real functions against their definitions, its complex ones against <complex.h> in long double. An
 * element's result must not depend on where it stands. On the CPU and, with UF_TEST_GPU=1, on the GPU. Prints the largest
 * errors seen. Takes about 5 s times PROP_N. */
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#undef I

#include "ref/random.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    ELEMENTS = 4096,
    AT_LEAST = 150, /* elements compared, however slow the reference is */
    MAX_ARGUMENTS = 3,
    ELEMENT = 16
};

typedef long double _Complex wide_complex;

/* A function under test: its arguments, results, and what is wanted of them. */
typedef struct sweep sweep;
struct sweep {
    const char *name;
    int arity;
    dtype types[MAX_ARGUMENTS + 1]; /* the last in use: the result's */
    number (*argument)(const sweep *s, int k);
    /* An element's error in units of what is allowed (above 1 fails); *shown: as it is reported. */
    double (*judge)(const sweep *s, const number *args, number got, double *shown);
    number (*wanted)(const sweep *s, const number *args);
    double bound;
    const math_row *row; /* of the math table, computed in `wide` */
    dtype wide;
    wide_complex (*function)(wide_complex, wide_complex);
    double (*plain)(const number *);
    _Alignas(64) char in[MAX_ARGUMENTS][ELEMENTS * ELEMENT];
    _Alignas(64) char out[ELEMENTS * ELEMENT];
    _Alignas(64) char again[ELEMENTS * ELEMENT];
    uf_func *f;
};

static source random_source;
static double seconds_per_sweep;
static int failures;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(uf_status status) {
    if (status != UF_OK)
        fail_msg("%s", uf_last_error()->message);
}

/* ---- Calls ---- */

static int size_of(const sweep *s, int k) { return dtypes[s->types[k]].size; }

/* Applies the function to elements first, first + step .. of the inputs; device_type says where. */
static uf_status apply(sweep *s, char *out, DLDeviceType device_type, int64_t first, int64_t step, int64_t count) {
    DLTensor args[MAX_ARGUMENTS + 1];
    uf_options options = {.size = sizeof options, .device = {device_type, 0}, .flags = UF_STAGE};
    for (int k = 0; k <= s->arity; k++)
        args[k] = (DLTensor){.data = (k < s->arity ? s->in[k] : out) + first * size_of(s, k),
                             .device = {kDLCPU, 0},
                             .ndim = 1,
                             .dtype = dtypes[s->types[k]].dl,
                             .shape = &count,
                             .strides = &step};
    return uf_call(s->f, s->arity + 1, args, device_type == kDLCPU ? NULL : &options);
}

static number result_at(const sweep *s, const char *out, int64_t i) {
    return number_read(s->types[s->arity], out + i * size_of(s, s->arity));
}

/* The same elements elsewhere in a loop: in a short one, off its beginning, with a stride. */
static void check_places(sweep *s, DLDeviceType device_type) {
    static const int64_t ways[][3] = {{5, 1, 37}, {1, 1, ELEMENTS - 1}, {3, 3, ELEMENTS / 4}, {77, 1, 1}};
    for (size_t w = 0; w < COUNT(ways); w++) {
        must(apply(s, s->again, device_type, ways[w][0], ways[w][1], ways[w][2]));
        for (int64_t i = 0, at = ways[w][0]; i < ways[w][2]; i++, at += ways[w][1])
            if (!ref_same(result_at(s, s->out, at), result_at(s, s->again, at)))
                fail_msg("%s: element %lld depends on its place (loop from %lld by %lld)", s->name, (long long)at,
                         (long long)ways[w][0], (long long)ways[w][1]);
    }
}

/* ---- Reports ---- */

static void print_value(const char *before, number n) {
    if (dtype_is_complex(n.type))
        print_message("%s(%a, %a)", before, n.as.f[0], n.as.f[1]);
    else if (dtype_is_floating(n.type))
        print_message("%s%a", before, n.as.f[0]);
    else
        print_message("%s%lld", before, (long long)n.as.i);
}

static void print_case(const sweep *s, const number *args, number got) {
    for (int k = 0; k < s->arity; k++)
        print_value(k ? ", " : "    of ", args[k]);
    print_value(": is ", got);
    print_value(", should be ", s->wanted(s, args));
    print_message("\n");
}

/* Judges results until the time for the sweep is over. */
static void judge_all(const sweep *s, const char *engine) {
    double end = now() + seconds_per_sweep, worst = -1, worst_shown = 0, shown;
    number worst_args[MAX_ARGUMENTS] = {{0}}, worst_got = {0};
    int i = 0;
    for (; i < ELEMENTS && (i < AT_LEAST || now() < end); i++) {
        number args[MAX_ARGUMENTS], got = result_at(s, s->out, i);
        for (int k = 0; k < s->arity; k++)
            args[k] = number_read(s->types[k], s->in[k] + i * size_of(s, k));
        double error = s->judge(s, args, got, &shown);
        if (error > 1 && getenv("UF_VERBOSE"))
            print_case(s, args, got);
        if (error <= worst)
            continue;
        worst = error;
        worst_shown = shown;
        worst_got = got;
        memcpy(worst_args, args, sizeof args);
    }
    print_message("%-10s %-10s %s %9.3g (bound %g, %d values)\n", s->name, dtypes[s->wide].name, engine, worst_shown,
                  s->bound, i);
    if (worst > 1) {
        failures++;
        print_case(s, worst_args, worst_got);
    }
}

/* On a machine that is there for its GPU, libLLVM may be missing. */
static void run_on(sweep *s, DLDeviceType device_type, const char *engine) {
    static bool said;
    uf_status status = apply(s, s->out, device_type, 0, 1, ELEMENTS);
    if (status == UF_ERR_LIBRARY && device_type == kDLCPU && getenv("UF_TEST_GPU")) {
        if (!said)
            print_message("CPU left out: %s\n", uf_last_error()->message);
        said = true;
        return;
    }
    must(status);
    check_places(s, device_type);
    judge_all(s, engine);
}

static void run(sweep *s) {
    static const char *const parameters[] = {"", "x", "x, y", "x, y, z"};
    text signature = {0}, kernel = {0};
    signature_print(&signature, s->types, s->arity, 1);
    text_printf(&kernel, "(%s) { return %s(%s); }", parameters[s->arity], s->name, parameters[s->arity]);
    must(uf_vectorize(&s->f, s->name, signature.data, kernel.data));
    text_free(&signature);
    text_free(&kernel);
    for (int k = 0; k < s->arity; k++)
        for (int i = 0; i < ELEMENTS; i++)
            number_write(s->argument(s, k), s->types[k], s->in[k] + i * size_of(s, k));
    run_on(s, kDLCPU, "CPU");
    if (getenv("UF_TEST_GPU"))
        run_on(s, kDLCUDA, "GPU");
    uf_free(s->f);
}

/* ---- The math table ---- */

/* A third each: hard values and any bits; around 1; evenly spread over what most functions are made for. */
static number floating_argument(dtype t) {
    number n = random_number(&random_source, t);
    if (random_chance(&random_source, 33))
        n = ref_convert((number){.type = DT_FLOAT64,
                                 .as.f = {(double)random_between(&random_source, -(1 << 30), 1 << 30) * 0x1p-30 *
                                          (random_chance(&random_source, 50) ? 10 : 100)}},
                        t);
    for (int i = 0; i < 2; i++)
        if (isnan(n.as.f[i]))
            n.as.f[i] = NAN; /* quiet: what functions make of a signalling one is not our business */
    return n;
}

static number row_argument(const sweep *s, int k) {
    if (s->row->rule == MATH_INT_FLOATING && k == 0) /* an order */
        return (number){.type = DT_INT32, .as.i = random_between(&random_source, -4, 12)};
    if (dtype_is_floating(s->types[k]))
        return floating_argument(s->types[k]);
    if (s->row->rule == MATH_FLOATING_INT && random_chance(&random_source, 70))
        return (number){.type = DT_INT32, .as.i = random_between(&random_source, -1100, 1100)};
    return random_number(&random_source, s->types[k]);
}

static number row_wanted(const sweep *s, const number *args) { return ref_math(s->row, s->wide, args); }

static double row_judge_exact(const sweep *s, const number *args, number got, double *shown) {
    *shown = !ref_same(got, row_wanted(s, args));
    return *shown ? HUGE_VAL : 0;
}

static double row_judge_ulps(const sweep *s, const number *args, number got, double *shown) {
    *shown = ref_ulps(s->row, s->wide, args, got.as.f[0], NULL);
    return *shown / s->bound;
}

/* Rows that are bounded absolutely, near zeros of theirs: 16 ULP will do as well. Relative to results above 1. */
static double row_judge_distance(const sweep *s, const number *args, number got, double *shown) {
    double exact, ulps = ref_ulps(s->row, s->wide, args, got.as.f[0], &exact);
    *shown = ulps == 0 ? 0 : ulps == HUGE_VAL ? HUGE_VAL : fabs(got.as.f[0] - exact) / fmax(1, fabs(exact));
    return ulps <= 16 ? fmin(1, *shown / s->bound) : *shown / s->bound;
}

/* A row as kernel C has it: the prelude's function of its name, if there is one. */
static void row_sweep(sweep *s, const math_row *row, dtype wide) {
    double ulps = wide == DT_FLOAT32 ? row->ulp32 : row->ulp64;
    *s = (sweep){.name = row->name, .arity = row->arity, .row = row, .wide = wide};
    for (int k = 0; k <= row->arity; k++)
        s->types[k] = wide;
    if (row->rule == MATH_TO_INT || row->rule == MATH_BITS)
        s->types[row->arity] = DT_INT32;
    if (row->rule == MATH_FLOATING_INT)
        s->types[row->arity - 1] = DT_INT32;
    if (row->rule == MATH_INT_FLOATING)
        s->types[0] = DT_INT32;
    s->argument = row_argument;
    s->wanted = row_wanted;
    s->judge = ulps == 0 || s->types[row->arity] != wide ? row_judge_exact
               : isinf(ulps)                             ? row_judge_distance
                                                         : row_judge_ulps;
    /* Absolutely: CUDA documents 2.2e-6, and 5e-12 (4.2e-9 for jn, yn). */
    s->bound = !isinf(ulps) ? ulps : wide == DT_FLOAT32 ? 3e-6 : row->rule == MATH_INT_FLOATING ? 5e-9 : 1e-11;
}

static void run_row(const math_row *row, dtype wide) {
    static sweep s;
    row_sweep(&s, row, wide);
    run(&s);
}

static void rows_are_within_bounds(void **unused) {
    (void)unused;
    failures = 0;
    for (int i = 0; i < math_row_count; i++)
        if (math_rows[i].rule == MATH_BITS) {
            for (dtype t = DT_INT8; t <= DT_UINT64; t++)
                run_row(&math_rows[i], t);
        } else {
            run_row(&math_rows[i], DT_FLOAT32);
            run_row(&math_rows[i], DT_FLOAT64);
        }
    assert_int_equal(failures, 0);
}

/* ---- Bessel functions where engines differ: orders below 0 and far out, zeros and infinities ---- */

/* All pairs of an order and a hard value, in turn. */
static number order_argument(const sweep *s, int k) {
    static const double hard[] = {0, -0.0, INFINITY, -INFINITY, NAN, -2.5, 30, -0x1p-20};
    static int calls[2];
    int i = calls[k]++ % ELEMENTS;
    if (k == 0)
        return (number){.type = DT_INT32, .as.i = i / (int)COUNT(hard) % 17 - 4};
    return (number){.type = s->wide, .as.f = {hard[i % (int)COUNT(hard)]}};
}

/* The sign counts where a zero is exact. */
static double order_judge(const sweep *s, const number *args, number got, double *shown) {
    double wanted, error = row_judge_distance(s, args, got, shown);
    ref_ulps(s->row, s->wide, args, got.as.f[0], &wanted);
    bool wrong = args[1].as.f[0] == 0 && wanted == 0 && signbit(got.as.f[0]) != signbit(wanted);
    return wrong ? *shown = HUGE_VAL : error;
}

/* By turns for jn and for yn. */
static const struct {
    int32_t order;
    double x, wanted;
} extremes[] = {
    {INT_MIN, 0, 0},        {INT_MIN, 0, -HUGE_VAL},   {INT_MIN, -0.0, 0},  {INT_MIN, 0.5, -HUGE_VAL},
    {INT_MIN, INFINITY, 0}, {INT_MIN, -0.5, NAN},      {INT_MIN, NAN, NAN}, {INT_MIN, NAN, NAN},
    {3001, -400, -0.0},     {-3001, 400, HUGE_VAL},    {INT_MAX, 1e9, 0},   {INT_MAX, 1e9, -HUGE_VAL},
    {INT_MAX, -0.0, -0.0},  {-INT_MAX, 0.5, HUGE_VAL}, {-INT_MAX, 0, -0.0}, {INT_MAX, 0.5, -HUGE_VAL},
};

static number extreme_argument(const sweep *s, int k) {
    static int calls[2];
    int i = calls[k]++ % ELEMENTS % (int)(COUNT(extremes) / 2) * 2 + (s->name[0] == 'y');
    if (k == 0)
        return (number){.type = DT_INT32, .as.i = extremes[i].order};
    return (number){.type = s->wide, .as.f = {extremes[i].x}};
}

static number extreme_wanted(const sweep *s, const number *args) {
    size_t i = s->name[0] == 'y';
    for (; i + 2 < COUNT(extremes); i += 2)
        if (extremes[i].order == args[0].as.i && ref_same((number){.type = s->wide, .as.f = {extremes[i].x}}, args[1]))
            break;
    return (number){.type = s->wide, .as.f = {extremes[i].wanted}};
}

static double extreme_judge(const sweep *s, const number *args, number got, double *shown) {
    *shown = !ref_same(got, extreme_wanted(s, args));
    return *shown ? HUGE_VAL : 0;
}

static void orders_are_reflected(void **unused) {
    static sweep s;
    (void)unused;
    failures = 0;
    for (int i = 0; i < 4; i++) {
        row_sweep(&s, math_find(i % 2 ? "yn" : "jn", 2), i / 2 ? DT_FLOAT64 : DT_FLOAT32);
        s.argument = order_argument;
        s.judge = order_judge;
        run(&s);
        s.argument = extreme_argument;
        s.wanted = extreme_wanted;
        s.judge = extreme_judge;
        run(&s);
    }
    assert_int_equal(failures, 0);
}

/* libm's lgamma would write it, from every thread. */
static void signgam_is_left_alone(void **unused) {
    (void)unused;
    failures = 0;
    signgam = 77;
    run_row(math_find("lgamma", 6), DT_FLOAT32);
    run_row(math_find("lgamma", 6), DT_FLOAT64);
    assert_int_equal(signgam, 77);
    assert_int_equal(failures, 0);
}

/* ---- The prelude's real functions that are not exact ---- */

static const math_row inexact_rows[] = {
    {.name = "digamma", .arity = 1, .ulp32 = 1, .ulp64 = 6},
};

/* At a zero of 1.46 and above, near it, near poles and zeros below 0, or anywhere. */
static number inexact_argument(const sweep *s, int k) {
    double steps = (double)random_between(&random_source, -100, 100), x = 1.4616321449683623;
    (void)k;
    switch (random_between(&random_source, 0, 3)) {
    case 0:
        x += steps * (s->wide == DT_FLOAT32 ? 0x1p-23 : 0x1p-52);
        break;
    case 1:
        x = (double)random_between(&random_source, -12, 12) + ldexp(steps, -(int)random_between(&random_source, 6, 60));
        break;
    case 2:
        x = (double)random_between(&random_source, 0, 1 << 30) * 0x1p-30 * 24 - 4;
        break;
    default:
        return floating_argument(s->types[0]);
    }
    return ref_convert((number){.type = DT_FLOAT64, .as.f = {x}}, s->types[0]);
}

/* Below 0, where digamma has a zero between any two poles, the bound holds relative to the largest of 1, the result, and
 * log(1 - x), of which the reflection takes away a cotangent. */
static double inexact_judge(const sweep *s, const number *args, number got, double *shown) {
    double exact, x = args[0].as.f[0];
    *shown = ref_ulps(s->row, s->wide, args, got.as.f[0], &exact);
    if (x < 0 && s->wide == DT_FLOAT64 && *shown > 0 && isfinite(got.as.f[0]))
        *shown = fabs(got.as.f[0] - exact) / fmax(fmax(1, log(1 - x)), fabs(exact)) / DBL_EPSILON;
    return *shown / s->bound;
}

/* An infinity at a zero has the sign of the limit. */
static double inexact_judge_poles(const sweep *s, const number *args, number got, double *shown) {
    double error = inexact_judge(s, args, got, shown), x = args[0].as.f[0];
    bool pole =
        x == 0 && !(isinf(got.as.f[0]) && signbit(got.as.f[0]) == (s->name[0] == 'd' ? !signbit(x) : signbit(x)));
    return pole ? *shown = HUGE_VAL : error;
}

static void prelude_is_within_bounds(void **unused) {
    static sweep s;
    (void)unused;
    failures = 0;
    for (size_t i = 0; i < 2 * COUNT(inexact_rows); i++) {
        row_sweep(&s, &inexact_rows[i / 2], i % 2 ? DT_FLOAT64 : DT_FLOAT32);
        s.argument = inexact_argument;
        s.judge = inexact_judge_poles;
        run(&s);
    }
    assert_int_equal(failures, 0);
}

/* ---- The prelude's real functions, from their definitions ---- */

#define PLAIN(name, expression)                                      \
    static double plain_##name(const number *n) {                    \
        double x = n[0].as.f[0], y = n[1].as.f[0], z = n[2].as.f[0]; \
        return (void)y, (void)z, expression;                         \
    }
static double least_of(double x, double y) { return isnan(x) || isnan(y) ? NAN : x < y ? x : y; }
static double most_of(double x, double y) { return -least_of(-x, -y); }
PLAIN(min, least_of(x, y))
PLAIN(max, most_of(x, y))
PLAIN(fmin, isnan(x) ? y : isnan(y) ? x : least_of(x, y))
PLAIN(fmax, isnan(x) ? y : isnan(y) ? x : most_of(x, y))
PLAIN(fdim, isnan(x) || isnan(y) ? NAN : x > y ? x - y : 0)
PLAIN(rcp, 1 / x)
PLAIN(abs, fabs(x))
PLAIN(sign, isnan(x) ? NAN : (x > 0) - (x < 0))
PLAIN(clamp, least_of(most_of(x, y), z))
PLAIN(isnan, isnan(x))
PLAIN(isinf, x == HUGE_VAL || x == -HUGE_VAL)
PLAIN(isfinite, fabs(x) < HUGE_VAL)
PLAIN(signbit, copysign(1, x) < 0)
PLAIN(lrint, rint(x))
PLAIN(lround, round(x))

static const struct {
    const char *name;
    int arity;
    double (*function)(const number *);
    dtype result; /* DT_NONE: that of the arguments */
} plain_rows[] = {
    {"min", 2, plain_min, DT_NONE},           {"max", 2, plain_max, DT_NONE},
    {"fmin", 2, plain_fmin, DT_NONE},         {"fmax", 2, plain_fmax, DT_NONE},
    {"fdim", 2, plain_fdim, DT_NONE},         {"abs", 1, plain_abs, DT_NONE},
    {"sign", 1, plain_sign, DT_NONE},         {"clamp", 3, plain_clamp, DT_NONE},
    {"isnan", 1, plain_isnan, DT_BOOL},       {"isinf", 1, plain_isinf, DT_BOOL},
    {"isfinite", 1, plain_isfinite, DT_BOOL}, {"signbit", 1, plain_signbit, DT_BOOL},
    {"lrint", 1, plain_lrint, DT_INT64},      {"llrint", 1, plain_lrint, DT_INT64},
    {"lround", 1, plain_lround, DT_INT64},    {"llround", 1, plain_lround, DT_INT64},
    {"rcp", 1, plain_rcp, DT_NONE},
};

static number plain_argument(const sweep *s, int k) {
    number n = floating_argument(s->types[k]);
    if (isnan(n.as.f[0]))
        n.as.f[0] = copysign(NAN, 1); /* for signbit: number_read and number_write keep it */
    return n;
}

static number plain_wanted(const sweep *s, const number *args) {
    return ref_convert((number){.type = DT_FLOAT64, .as.f = {s->plain(args)}}, s->types[s->arity]);
}

/* A zero may have either sign: which of two equal values a selection takes is not promised. */
static double plain_judge(const sweep *s, const number *args, number got, double *shown) {
    number wanted = plain_wanted(s, args);
    bool zeros = dtype_is_floating(got.type) && got.as.f[0] == 0 && wanted.as.f[0] == 0;
    *shown = !zeros && !ref_same(got, wanted);
    return *shown ? HUGE_VAL : 0;
}

static void selections_are_exact(void **unused) {
    (void)unused;
    static sweep s;
    failures = 0;
    for (size_t i = 0; i < 2 * COUNT(plain_rows); i++) {
        dtype t = i % 2 ? DT_FLOAT64 : DT_FLOAT32;
        s = (sweep){.name = plain_rows[i / 2].name, .arity = plain_rows[i / 2].arity, .wide = t};
        for (int k = 0; k <= s.arity; k++)
            s.types[k] = t;
        if (plain_rows[i / 2].result != DT_NONE)
            s.types[s.arity] = plain_rows[i / 2].result;
        s.plain = plain_rows[i / 2].function;
        s.argument = plain_argument;
        s.wanted = plain_wanted;
        s.judge = plain_judge;
        run(&s);
    }
    assert_int_equal(failures, 0);
}

/* ---- Complex functions ---- */

#define UNARY(name) \
    static wide_complex wide_##name(wide_complex z, wide_complex unused) { return (void)unused, name##l(z); }
UNARY(cexp)
UNARY(clog)
UNARY(csqrt)
UNARY(csinh)
UNARY(ccosh)
UNARY(ctanh)
UNARY(csin)
UNARY(ccos)
UNARY(ctan)
UNARY(casin)
UNARY(cacos)
UNARY(casinh)
UNARY(cacosh)
UNARY(catanh)
UNARY(catan)
UNARY(cabs)
UNARY(carg)
static wide_complex wide_cpow(wide_complex z, wide_complex w) { return cpowl(z, w); }

/* Bounds: error over magnitude of the result (not part by part), in units of the type's epsilon. */
static const struct {
    const char *name;
    int arity;
    wide_complex (*function)(wide_complex, wide_complex);
    double bound;
    bool is_real;
} complex_rows[] = {
    {"cexp", 1, wide_cexp, 8, false},     {"clog", 1, wide_clog, 8, false},     {"csqrt", 1, wide_csqrt, 8, false},
    {"csinh", 1, wide_csinh, 8, false},   {"ccosh", 1, wide_ccosh, 8, false},   {"ctanh", 1, wide_ctanh, 16, false},
    {"csin", 1, wide_csin, 8, false},     {"ccos", 1, wide_ccos, 8, false},     {"ctan", 1, wide_ctan, 16, false},
    {"casin", 1, wide_casin, 8, false},   {"cacos", 1, wide_cacos, 8, false},   {"casinh", 1, wide_casinh, 8, false},
    {"cacosh", 1, wide_cacosh, 8, false}, {"catanh", 1, wide_catanh, 8, false}, {"catan", 1, wide_catan, 8, false},
    {"cabs", 1, wide_cabs, 4, true},      {"carg", 1, wide_carg, 4, true},      {"cpow", 2, wide_cpow, 16, false},
};

/* Powers: moderate, as only those say something. */
static number complex_argument(const sweep *s, int k) {
    number n = floating_argument(s->types[k]), other;
    if (s->arity == 2 && random_chance(&random_source, 80)) {
        for (int i = 0; i < 2; i++)
            n.as.f[i] = (double)random_between(&random_source, -1024, 1024) / 256;
    } else if (random_chance(&random_source, 50)) {
        other = floating_argument((dtype)dtypes[s->types[k]].component);
        n.as.f[random_between(&random_source, 0, 1)] = other.as.f[0];
    }
    return n;
}

/* CMPLXL, which clang's headers lack. */
static long double complex complex_of(long double re, long double im) {
    long double parts[2] = {re, im};
    long double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

static wide_complex wide_of(number n) { return complex_of(n.as.f[0], n.as.f[1]); }

static wide_complex complex_reference(const sweep *s, const number *args) {
    return s->function(wide_of(args[0]), wide_of(args[s->arity - 1]));
}

static number complex_wanted(const sweep *s, const number *args) {
    wide_complex w = complex_reference(s, args);
    return ref_convert((number){.type = DT_COMPLEX128, .as.f = {(double)creall(w), (double)cimagl(w)}},
                       s->types[s->arity]);
}

static bool is_special(number n) { return !isfinite(n.as.f[0]) || !isfinite(n.as.f[1]); }

static bool same_special(double got, double wanted, bool any_sign) {
    if (isnan(wanted) || isnan(got))
        return isnan(wanted) && isnan(got);
    return !(isinf(wanted) || isinf(got)) || got == wanted || (any_sign && got == -wanted);
}

/* Parts that are not finite, as Annex G of C says: beside a NaN the sign of an infinity is not specified; where an argument
 * is NaN, both parts may be. */
static bool specials_agree(const sweep *s, const number *args, number got, number wanted) {
    for (int k = 0; k < s->arity; k++)
        if ((isnan(args[k].as.f[0]) || isnan(args[k].as.f[1])) && isnan(got.as.f[0]) && isnan(got.as.f[1]))
            return true;
    bool any_sign = isnan(wanted.as.f[0]) || isnan(wanted.as.f[1]);
    return same_special(got.as.f[0], wanted.as.f[0], any_sign) && same_special(got.as.f[1], wanted.as.f[1], any_sign);
}

/* A power's error grows with the logarithm that is raised; nothing is known where it eats all digits, or of special values,
 * on which Annex G is silent. */
static double power_condition(const number *args) {
    if (is_special(args[0]) || is_special(args[1]) || (args[0].as.f[0] == 0 && args[0].as.f[1] == 0))
        return HUGE_VAL;
    return 1 + (double)cabsl(wide_of(args[1]) * clogl(wide_of(args[0])));
}

static double complex_judge(const sweep *s, const number *args, number got, double *shown) {
    bool narrow = dtypes[s->wide].component == DT_FLOAT32;
    double epsilon = narrow ? FLT_EPSILON : DBL_EPSILON, condition = s->arity == 2 ? power_condition(args) : 1;
    long double least = narrow ? FLT_MIN : DBL_MIN, most = narrow ? FLT_MAX : DBL_MAX;
    wide_complex exact = complex_reference(s, args);
    number wanted = complex_wanted(s, args);
    *shown = 0;
    if (!dtype_is_complex(got.type))
        got.as.f[1] = 0;
    if (cabsl(exact) > most / 4 && (isfinite(cabsl(exact)) || s->arity == 2))
        return 0; /* may overflow on the way */
    if (condition * s->bound * epsilon > 1)
        return 0; /* no digit is known */
    if (is_special(wanted) || is_special(got))
        return *shown = specials_agree(s, args, got, wanted) ? 0 : HUGE_VAL;
    *shown = (double)(cabsl(wide_of(got) - exact) / fmaxl(cabsl(exact), least) / epsilon);
    return *shown / condition / s->bound;
}

static void complex_functions_are_within_bounds(void **unused) {
    (void)unused;
    static sweep s;
    failures = 0;
    for (size_t i = 0; i < 2 * COUNT(complex_rows); i++) {
        dtype t = i % 2 ? DT_COMPLEX128 : DT_COMPLEX64;
        s = (sweep){.name = complex_rows[i / 2].name, .arity = complex_rows[i / 2].arity, .wide = t};
        for (int k = 0; k <= s.arity; k++)
            s.types[k] = t;
        if (complex_rows[i / 2].is_real)
            s.types[s.arity] = (dtype)dtypes[t].component;
        s.function = complex_rows[i / 2].function;
        s.argument = complex_argument;
        s.wanted = complex_wanted;
        s.judge = complex_judge;
        s.bound = complex_rows[i / 2].bound;
        run(&s);
    }
    assert_int_equal(failures, 0);
}

/* ---- Powers at the ends of the range, where what comes in between overflows or underflows ---- */

/* Exact enough: long double has more digits, and the exponents of 15 factors. */
static wide_complex wide_power(wide_complex z, wide_complex w) {
    wide_complex power = 1;
    for (int k = abs((int)creall(w)); k > 0; k--)
        power *= z;
    return creall(w) < 0 ? 1 / power : power;
}

/* Any exponents, those of the two parts often near each other; then an integer power. */
static number end_argument(const sweep *s, int k) {
    number n = {.type = s->types[k]};
    int most = dtypes[s->wide].component == DT_FLOAT32 ? 127 : 1023;
    if (k) {
        n.as.f[0] = (double)random_between(&random_source, -15, 15);
        n.as.f[0] += n.as.f[0] == 0;
        return n;
    }
    int64_t at = random_between(&random_source, -most, most - 1);
    for (int i = 0; i < 2; i++) {
        int64_t e = random_chance(&random_source, 60) ? at : random_between(&random_source, -most, most - 1);
        double m = 1 + (double)random_between(&random_source, 0, (1 << 23) - 1) * 0x1p-23;
        n.as.f[i] = ldexp(random_chance(&random_source, 50) ? m : -m, (int)e);
    }
    return n;
}

/* A part that is beyond the range and none of the other's rounding is an infinity of its sign. No part is NaN. */
static double power_judge(const sweep *s, const number *args, number got, double *shown) {
    bool narrow = dtypes[s->wide].component == DT_FLOAT32;
    long double least = narrow ? FLT_MIN : DBL_MIN, most = narrow ? FLT_MAX : DBL_MAX;
    long double epsilon = narrow ? FLT_EPSILON : DBL_EPSILON;
    wide_complex exact = complex_reference(s, args);
    const long double parts[2] = {creall(exact), cimagl(exact)};
    bool over = false;
    *shown = 0;
    for (int i = 0; i < 2; i++) {
        bool infinite = fabsl(parts[i]) > most * 1.01L && fabsl(parts[i]) > cabsl(exact) * 0x1p-10L;
        over |= fabsl(parts[i]) > most * 0.99L;
        if (isnan(got.as.f[i]) || (infinite && got.as.f[i] != copysign(INFINITY, (double)parts[i])))
            return *shown = HUGE_VAL;
    }
    if (over)
        return 0;
    *shown = (double)(cabsl(wide_of(got) - exact) / fmaxl(cabsl(exact), least) / epsilon);
    return *shown / s->bound / (1 + fabs(args[1].as.f[0]));
}

static number far_argument(const sweep *s, int k) {
    number n = end_argument(s, 0);
    for (int i = 0; i < 2 && k; i++)
        n.as.f[i] = ldexp(n.as.f[i] < 0 ? -1.5 : 1.25, dtypes[s->wide].component == DT_FLOAT32 ? 126 : 1022);
    return n;
}

/* Of an exponent so large that only 0 and what is no number remain. */
static double far_judge(const sweep *s, const number *args, number got, double *shown) {
    wide_complex t = wide_of(args[1]) * clogl(wide_of(args[0]));
    (void)s;
    bool zero = creall(t) < -0x1p30L, is_zero = got.as.f[0] == 0 && got.as.f[1] == 0;
    *shown = zero != is_zero ? HUGE_VAL : 0;
    return *shown;
}

static void powers_at_the_ends_of_the_range(void **unused) {
    (void)unused;
    static sweep s;
    failures = 0;
    for (int i = 0; i < 4; i++) {
        dtype t = i % 2 ? DT_COMPLEX128 : DT_COMPLEX64;
        s = (sweep){.name = "cpow", .arity = 2, .types = {t, t, t}, .wide = t, .bound = 4, .function = wide_power};
        s.argument = i < 2 ? end_argument : far_argument;
        s.judge = i < 2 ? power_judge : far_judge;
        s.wanted = complex_wanted;
        run(&s);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    const char *given = getenv("UF_SEED"), *scale = getenv("PROP_N");
    random_source.state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u ^ (uint64_t)getpid() << 20;
    seconds_per_sweep = 0.012 * (scale ? atof(scale) : 1);
    print_message("UF_SEED=%llu\n", (unsigned long long)random_source.state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_within_bounds),         cmocka_unit_test(orders_are_reflected),
        cmocka_unit_test(signgam_is_left_alone),          cmocka_unit_test(prelude_is_within_bounds),
        cmocka_unit_test(selections_are_exact),           cmocka_unit_test(complex_functions_are_within_bounds),
        cmocka_unit_test(powers_at_the_ends_of_the_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
