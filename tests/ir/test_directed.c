/* test_directed.c - arithmetic that is rounded toward -infinity or +infinity. Each row of the math table that has a direction, in
 * float32 and float64, on hard values and on operands that are made for one another (sums that cancel, products and quotients at
 * either end of the range), gives MPFR's bits: compiled by every libLLVM, with and without FMA and optimisation, and on the
 * simulated GPU. Also: what libNVVM makes of it, and that loops of it are vectors. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/toolkit.h"
#include "draw.h"
#include "element_module.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "lang_try.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    ELEMENTS = 1 << 12,
    BLOCK = 1024, /* threads of the simulated GPU */
    MAX_ARGUMENTS = 3
};

static arena memory;
static code_target host, narrow; /* and without AVX-512 */

/* ---- Operands ---- */

static int digits(dtype t) { return t == DT_FLOAT32 ? 24 : 53; }
static int most(dtype t) { return t == DT_FLOAT32 ? 127 : 1023; }

static double rounded(dtype t, double x) { return ref_convert((number){.type = DT_FLOAT64, .as.f = {x}}, t).as.f[0]; }

/* A number with a random mantissa, often a short one, and this exponent, which may be out of range. */
static double with_exponent(dtype t, int64_t exponent) {
    int cut = chance(50) ? 0 : (int)pick(1, 52);
    double mantissa = 1 + (double)(draw_bits() >> cut << cut) * 0x1p-53;
    mantissa = chance(10) ? 1 : mantissa;
    return rounded(t, ldexp(chance(50) ? mantissa : -mantissa, (int)exponent));
}

/* One of a number's neighbours, or itself. */
static double near_to(dtype t, double x) {
    double unit = ldexp(1, (x == 0 || !isfinite(x) ? 0 : ilogb(x)) - digits(t) + 1);
    return rounded(t, x + unit * (double)pick(-2, 2));
}

static double any_number(dtype t) {
    double largest = ldexp(2 - ldexp(1, 1 - digits(t)), most(t)), least = ldexp(1, -most(t) - digits(t) + 2);
    const double normal = ldexp(1, 1 - most(t));
    const double hard[] = {0,        -0.0,      1,   -1, least, -least,  3 * least, normal, least - normal,
                           INFINITY, -INFINITY, NAN, 3,  -7,    largest, -largest,  0.1,    normal - least};
    return chance(30) ? rounded(t, hard[pick(0, COUNT(hard) - 1)])
                      : with_exponent(t, pick(-most(t) - digits(t), most(t)));
}

/* The exponent that the other factor needs for a product near an end of the range, or around where its last bits underflow. */
static int64_t partner(dtype t, double x) {
    int64_t ends[] = {most(t), -most(t), -most(t) - digits(t), -most(t) + digits(t), 0};
    int64_t own = x == 0 || !isfinite(x) ? 0 : ilogb(x);
    return ends[pick(0, COUNT(ends) - 1)] - own + pick(-3, 3);
}

static double second(dtype t, double x) {
    switch (pick(0, 4)) {
    case 0:
        return any_number(t);
    case 1:
        return near_to(t, chance(50) ? x : -x);
    case 2:
        return with_exponent(t, partner(t, x));
    case 3: /* for a quotient */
        return with_exponent(t, -partner(t, 1 / x));
    default:
        return rounded(t, x * ldexp(chance(50) ? 1 : -1, (int)pick(-2 * digits(t), 60)));
    }
}

/* What is added to a product. */
static double third(dtype t, double x, double y) {
    double product = rounded(t, x * y);
    int64_t exponent = ilogb(x == 0 ? 1 : x) + ilogb(y == 0 ? 1 : y);
    switch (pick(0, 3)) {
    case 0:
        return any_number(t);
    case 1:
        return near_to(t, -product);
    case 2:
        return rounded(t, fma(-x, y, product));
    default:
        return with_exponent(t, isfinite(x) && isfinite(y) ? exponent + pick(-130, 130) : 0);
    }
}

/* ---- A row ---- */

typedef struct subject {
    const math_row *row;
    dtype t;
    tree *tree;
    number in[ELEMENTS][MAX_ARGUMENTS], wanted[ELEMENTS];
    _Alignas(64) char arrays[MAX_ARGUMENTS + 1][ELEMENTS * 8];
} subject;

static tree *row_tree(const math_row *row, dtype t) {
    static const char *const parameters[] = {"", "x", "x, y", "x, y, z"};
    static const char *const types[][2] = {{"", ""},
                                           {"float32->float32", "float64->float64"},
                                           {"float32,float32->float32", "float64,float64->float64"},
                                           {"float32,float32,float32->float32", "float64,float64,float64->float64"}};
    char *kernel = arena_alloc(&memory, 96);
    tree *result;
    snprintf(kernel, 96, "(%s) { return %s(%s); }", parameters[row->arity], row->name, parameters[row->arity]);
    assert_int_equal(lang_try(&memory, kernel, types[row->arity][t == DT_FLOAT64], &result), UF_OK);
    return result;
}

static void subject_fill(subject *s) {
    for (int i = 0; i < ELEMENTS; i++) {
        double x = any_number(s->t), y = second(s->t, x), z = third(s->t, x, y);
        const double in[MAX_ARGUMENTS] = {x, y, z};
        for (int k = 0; k < s->row->arity; k++) {
            s->in[i][k] = (number){.type = s->t, .as.f = {in[k]}};
            number_write(s->in[i][k], s->t, s->arrays[k] + i * dtypes[s->t].size);
        }
        s->wanted[i] = ref_math(s->row, s->t, s->in[i]);
    }
}

static void judge(const subject *s, const char *where) {
    const char *out = s->arrays[s->row->arity];
    for (int i = 0; i < ELEMENTS; i++) {
        number got = number_read(s->t, out + i * dtypes[s->t].size);
        const number *x = s->in[i];
        if (!ref_same(got, s->wanted[i]))
            fail_msg("%s in %s, %s: of %a, %a, %a is %a, not %a", s->row->name, dtypes[s->t].name, where, x[0].as.f[0],
                     x[1].as.f[0], x[2].as.f[0], got.as.f[0], s->wanted[i].as.f[0]);
    }
}

/* What is rounded down is at most what is rounded to nearest, and the next number at least; in the other direction alike. */
static void contain(const subject *s) {
    for (int i = 0; i < ELEMENTS; i++) {
        const number *n = s->in[i];
        volatile float x = (float)n[0].as.f[0], y = (float)n[1].as.f[0], z = (float)n[2].as.f[0], r = 0;
        switch (s->row->name[0]) {
        case 'a':
            r = x + y;
            break;
        case 'd':
            r = x / y;
            break;
        case 'f':
            r = fmaf(x, y, z);
            break;
        case 'm':
            r = x * y;
            break;
        default:
            r = s->row->arity == 1 ? sqrtf(x) : x - y;
        }
        float got = (float)s->wanted[i].as.f[0], beyond = nextafterf(got, s->row->direction < 0 ? INFINITY : -INFINITY);
        bool fits = isnan(r) ? isnan(got) : r == got || r == beyond;
        if (!fits)
            fail_msg("%s of %a, %a, %a: %a, to nearest %a", s->row->name, (double)x, (double)y, (double)z, (double)got,
                     (double)r);
    }
}

static void run_cpu(subject *s, int i, const code_target *target, int level) {
    char *arrays[MAX_ARGUMENTS + 1], where[80];
    code_module m = element_module(&memory, s->tree, target, UF_FAST_ALL, 0);
    judged *result = judge_compile(i, &m, level);
    for (int k = 0; k <= s->row->arity; k++)
        arrays[k] = s->arrays[k];
    memset(s->arrays[s->row->arity], 0x55, sizeof s->arrays[0]);
    ((void (*)(char **, int64_t))judge_address(result, "entry"))(arrays, ELEMENTS);
    snprintf(where, sizeof where, "%s, level %d", judge_name(i), level);
    judge(s, where);
    judge_free(result);
    text_free(&m.ir);
}

static void run_gpu(subject *s) {
    static const code_target gpu = {.gpu = true, .arch = 90};
    memset(s->arrays[s->row->arity], 0x55, sizeof s->arrays[0]);
    for (int64_t from = 0; from < ELEMENTS; from += BLOCK) {
        code_module m = element_module(&memory, s->tree, &gpu, UF_FAST_ALL, 0);
        uint64_t words[MAX_ARGUMENTS + 1];
        for (int k = 0; k <= s->row->arity; k++)
            words[k] = (uint64_t)(uintptr_t)(s->arrays[k] + from * dtypes[s->t].size);
        assert_true(sim_can(&m));
        const char *wrong = sim_run(&m, words, s->row->arity + 1, 1, BLOCK);
        assert_null(wrong);
        text_free(&m.ir);
    }
    judge(s, "simulated GPU");
}

/* Does something with each row and type. */
static void each_row(void (*run)(subject *)) {
    static subject s;
    for (int k = 0; k < math_row_count; k++)
        for (dtype t = DT_FLOAT32; t <= DT_FLOAT64 && math_rows[k].direction; t++) {
            s.row = &math_rows[k];
            s.t = t;
            s.tree = row_tree(s.row, t);
            run(&s);
        }
}

static void same_bits_everywhere(subject *s) {
    for (int64_t round = 0; round < trials(1); round++) {
        subject_fill(s);
        if (s->t == DT_FLOAT32)
            contain(s);
        for (int i = 0; i < judge_count(); i++)
            for (int level = 0; level <= 3; level += 3) {
                run_cpu(s, i, &host, level);
                run_cpu(s, i, &narrow, level);
            }
        if (sim_there())
            run_gpu(s);
    }
}

static void test_bits(void **unused) {
    (void)unused;
    each_row(same_bits_everywhere);
}

/* ---- What compilers make of it ---- */

/* Rounded by the instruction, without flushing subnormals, whatever the options are. */
static void check_ptx(subject *s) {
    static const int archs[] = {75, 90, 100, 120};
    char instruction[32];
    snprintf(instruction, sizeof instruction, "%s.%s.%s", s->row->gpu + strlen("llvm.nvvm."),
             s->row->direction < 0 ? "rm" : "rp", s->t == DT_FLOAT32 ? "f32" : "f64");
    for (size_t k = 0; k < COUNT(archs); k++) {
        const code_target gpu = {.gpu = true, .arch = archs[k]};
        text ptx = {0};
        code_module m = element_module(&memory, s->tree, &gpu, UF_FAST_ALL, 0);
        assert_int_equal(nvvm_compile(&m, gpu.arch, &ptx), UF_OK);
        if (!strstr(ptx.data, instruction) || strstr(ptx.data, ".ftz"))
            fail_msg("%s: no %s alone in\n%s", s->row->name, instruction, ptx.data);
        text_free(&m.ir);
        text_free(&ptx);
    }
}

static void test_ptx(void **unused) {
    (void)unused;
    if (!nvvm_found())
        skip();
    each_row(check_ptx);
}

static void expect_vectors(const subject *s, int i, const code_target *target, const char *cpu,
                           const char *const *either) {
    code_module m = element_module(&memory, s->tree, target, 0, 0);
    const char *ir = judge_optimised(i, m.ir.data, cpu, "");
    if (!strstr(ir, either[0]) && !strstr(ir, either[1]))
        fail_msg("%s, %s in %s: no vectors in\n%s", judge_name(i), s->row->name, dtypes[s->t].name, ir);
    text_free(&m.ir);
}

/* The comparison that decides on a step is one of vectors; with AVX-512 there is an instruction. */
static void check_vectors(subject *s) {
    static const code_target wide = {.vector_bits = 512, .f16c = true};
    static const char *const steps[] = {"fcmp olt <", "fcmp ogt <"};
    char call[64], twice[64];
    snprintf(call, sizeof call, "= tail call %s @v_%s_%s(", s->t == DT_FLOAT32 ? "<16 x float>" : "<8 x double>",
             s->row->name, s->t == DT_FLOAT32 ? "f32" : "f64");
    snprintf(twice, sizeof twice, "= call%s", call + strlen("= tail call"));
    for (int i = 0; i < judge_count(); i++) {
        expect_vectors(s, i, &narrow, "x86-64-v3", steps);
        expect_vectors(s, i, &wide, "x86-64-v4", (const char *const[]){call, twice});
    }
}

static void test_vectors(void **unused) {
    (void)unused;
    each_row(check_vectors);
}

/* ---- */

static int set_up(void **state) {
    host = narrow = judge_host();
    narrow.vector_bits = host.vector_bits < 256 ? host.vector_bits : 256;
    return draw_seed(state);
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&memory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_ptx),
                                       cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
