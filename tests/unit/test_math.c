/* test_math.c - every row of the math table, in float32 and float64 (bit counts: every integer type), applied by the
 * library to random bit patterns and hard values, against MPFR: rows whose bound is 0 to the bit, the others within it. On
 * the CPU and, with UF_TEST_GPU=1, on the GPU. Prints the largest error seen per row. Takes about 4 s times PROP_N. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../ref/random.h"
#include "../ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    ELEMENTS = 4096,
    AT_LEAST = 150, /* elements compared, however slow the reference is */
    MAX_ARGUMENTS = 3,
    ELEMENT = 8
};

typedef struct sweep {
    const math_row *row;
    dtype wide, result;
    dtype types[MAX_ARGUMENTS]; /* of the arguments */
    _Alignas(64) char in[MAX_ARGUMENTS][ELEMENTS * ELEMENT];
    _Alignas(64) char out[ELEMENTS * ELEMENT];
    uf_func *f;
} sweep;

static source random_source;
static uint64_t seed;
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

/* ---- Inputs ---- */

/* A third each: hard values and any bits; around 1; evenly spread over what most functions are made for. */
static number floating_argument(dtype t) {
    number n = random_number(&random_source, t);
    if (random_chance(&random_source, 33))
        n = ref_convert((number){.type = DT_FLOAT64,
                                 .as.f = {(double)random_between(&random_source, -(1 << 30), 1 << 30) * 0x1p-30 *
                                          (random_chance(&random_source, 50) ? 10 : 100)}},
                        t);
    if (isnan(n.as.f[0]))
        n.as.f[0] = NAN; /* quiet: what functions make of a signalling one is not our business */
    return n;
}

static number argument(const sweep *s, int k) {
    if (s->row->rule == MATH_INT_FLOATING) /* an order */
        return k ? floating_argument(s->types[k])
                 : (number){.type = DT_INT32, .as.i = random_between(&random_source, 0, 12)};
    if (dtype_is_floating(s->types[k]))
        return floating_argument(s->types[k]);
    if (s->row->rule == MATH_FLOATING_INT && random_chance(&random_source, 70))
        return (number){.type = DT_INT32, .as.i = random_between(&random_source, -1100, 1100)};
    return random_number(&random_source, s->types[k]);
}

static void fill(sweep *s) {
    for (int k = 0; k < s->row->arity; k++)
        for (int i = 0; i < ELEMENTS; i++)
            number_write(argument(s, k), s->types[k], s->in[k] + i * dtypes[s->types[k]].size);
}

/* ---- Calls ---- */

static DLTensor tensor(void *data, dtype t) {
    static int64_t shape[1] = {ELEMENTS};
    return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = dtypes[t].dl, .shape = shape};
}

static void define(sweep *s) {
    static const char *const kernels[] = {"(x) { return %s(x); }", "(x, y) { return %s(x, y); }",
                                          "(x, y, z) { return %s(x, y, z); }"};
    char kernel[64];
    text signature = {0};
    dtype types[MAX_ARGUMENTS + 1];
    memcpy(types, s->types, sizeof s->types);
    types[s->row->arity] = s->result;
    signature_print(&signature, types, s->row->arity, 1);
    snprintf(kernel, sizeof kernel, kernels[s->row->arity - 1], s->row->name);
    must(uf_vectorize(&s->f, s->row->name, signature.data, kernel));
    text_free(&signature);
}

static void call_cpu(sweep *s) {
    DLTensor args[MAX_ARGUMENTS + 1];
    for (int k = 0; k < s->row->arity; k++)
        args[k] = tensor(s->in[k], s->types[k]);
    args[s->row->arity] = tensor(s->out, s->result);
    must(uf_call(s->f, s->row->arity + 1, args, NULL));
}

static void call_gpu(sweep *s) {
    DLTensor args[MAX_ARGUMENTS + 1];
    uf_options options = {.size = sizeof options, .device = {kDLCUDA, 0}, .flags = UF_STAGE};
    for (int k = 0; k < s->row->arity; k++)
        args[k] = tensor(s->in[k], s->types[k]);
    args[s->row->arity] = tensor(s->out, s->result);
    must(uf_call(s->f, s->row->arity + 1, args, &options));
}

/* ---- Comparison ---- */

static double bound_of(const sweep *s) { return s->wide == DT_FLOAT32 ? s->row->ulp32 : s->row->ulp64; }

/* For rows bounded absolutely (relative to results above 1). CUDA documents 2.2e-6, and 5e-12 (4.2e-9 for jn, yn). */
static double absolute_bound(const sweep *s) {
    return s->wide == DT_FLOAT32 ? 3e-6 : s->row->rule == MATH_INT_FLOATING ? 5e-9 : 1e-11;
}

/* The error of an element in units of what is allowed; above 1 fails. *shown: as it is reported. */
static double error_of(const sweep *s, const number *args, number got, double *shown) {
    double exact, bound = bound_of(s);
    if (bound == 0 || !dtype_is_floating(s->result)) {
        *shown = !ref_same(got, ref_math(s->row, s->wide, args));
        return *shown ? HUGE_VAL : 0;
    }
    *shown = ref_ulps(s->row, s->wide, args, got.as.f[0], &exact);
    if (!isinf(bound))
        return *shown / bound;
    if (*shown == HUGE_VAL || *shown <= 16)
        return *shown == HUGE_VAL ? HUGE_VAL : 0;
    *shown = fabs(got.as.f[0] - exact) / fmax(1, fabs(exact));
    return *shown / absolute_bound(s);
}

static void print_case(const sweep *s, const number *args, number got) {
    number wanted = ref_math(s->row, s->wide, args);
    print_error("  %s(", s->row->name);
    for (int k = 0; k < s->row->arity; k++)
        if (dtype_is_floating(args[k].type))
            print_error("%s%a", k ? ", " : "", args[k].as.f[0]);
        else
            print_error("%s%lld", k ? ", " : "", (long long)args[k].as.i);
    if (dtype_is_floating(got.type))
        print_error(") is %a, should be %a\n", got.as.f[0], wanted.as.f[0]);
    else
        print_error(") is %lld, should be %lld\n", (long long)got.as.i, (long long)wanted.as.i);
}

/* Compares results until the time for the row is over. */
static void compare(const sweep *s, const char *engine) {
    double end = now() + seconds_per_sweep, worst = 0, worst_shown = 0, shown;
    number worst_args[MAX_ARGUMENTS] = {{0}}, worst_got = {0};
    int i = 0;
    for (; i < ELEMENTS && (i < AT_LEAST || now() < end); i++) {
        number args[MAX_ARGUMENTS], got = number_read(s->result, s->out + i * dtypes[s->result].size);
        for (int k = 0; k < s->row->arity; k++)
            args[k] = number_read(s->types[k], s->in[k] + i * dtypes[s->types[k]].size);
        double error = error_of(s, args, got, &shown);
        if (error <= worst)
            continue;
        worst = error;
        worst_shown = shown;
        worst_got = got;
        memcpy(worst_args, args, sizeof args);
    }
    print_message("%-10s %-8s %s %9.3g (bound %g%s, %d values)\n", s->row->name, dtypes[s->wide].name, engine,
                  worst_shown, isinf(bound_of(s)) ? absolute_bound(s) : bound_of(s),
                  isinf(bound_of(s)) ? " absolutely" : "", i);
    if (worst > 1) {
        failures++;
        print_case(s, worst_args, worst_got);
    }
}

/* ---- Rows ---- */

static void run_row(const math_row *row, dtype wide) {
    static sweep s;
    s = (sweep){.row = row, .wide = wide, .result = wide};
    for (int k = 0; k < row->arity; k++)
        s.types[k] = wide;
    if (row->rule == MATH_TO_INT || row->rule == MATH_BITS)
        s.result = DT_INT32;
    if (row->rule == MATH_FLOATING_INT)
        s.types[row->arity - 1] = DT_INT32;
    if (row->rule == MATH_INT_FLOATING)
        s.types[0] = DT_INT32;
    define(&s);
    fill(&s);
    call_cpu(&s);
    compare(&s, "CPU");
    if (getenv("UF_TEST_GPU")) {
        memset(s.out, 0xA5, sizeof s.out);
        call_gpu(&s);
        compare(&s, "GPU");
    }
    uf_free(s.f);
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

int main(void) {
    const char *given = getenv("UF_SEED"), *scale = getenv("PROP_N");
    seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u ^ (uint64_t)getpid() << 20;
    random_source.state = seed;
    seconds_per_sweep = 0.025 * (scale ? atof(scale) : 1);
    print_message("UF_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_within_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
