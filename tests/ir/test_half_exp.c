/* test_half_exp.c - exponentials in GPU kernels whose results are all halves (ir/common/half_exp.c): of every half, on the simulated GPU; and
 * which kernels have that form. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu_sim.h"
#include "ir/ir.h"
#include "lang_try.h"
#include "type/schema.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    HALVES = 1 << 16,
    WORDS = 64
};

static const code_target gpu = {.gpu = true, .arch = 90};

/* The kernel of one input and one output, for arrays of these dtypes, and what a call over n elements without gaps needs. */
typedef struct element_kernel {
    arena memory;
    code_module m;
    uint64_t words[WORDS];
    grid g;
} element_kernel;

static void generate(element_kernel *k, const char *source, const char *types, dtype in, dtype out, char **data,
                     int64_t n) {
    int64_t extent[1] = {n}, stride[2] = {1, 1}, offset[2] = {0};
    nd_loop loop = {.ndim = 1,
                    .narrays = 2,
                    .count = n,
                    .extent = extent,
                    .stride = stride,
                    .offset = offset,
                    .loop = LOOP_FLAT,
                    .kind = {OPERAND_CONTIGUOUS, OPERAND_CONTIGUOUS}};
    variant v = {.loop = LOOP_FLAT, .ndim = 1, .nin = 1, .nout = 1};
    tree *t;
    memset(k, 0, sizeof *k);
    if (lang_try(&k->memory, source, types, &t))
        fail_msg("%s", uf_last_error()->message);
    for (int i = 0; i < 2; i++)
        v.operand[i] = (variant_operand){.memory = (uint8_t)(i ? out : in),
                                         .value = (uint8_t)(i ? t->kernel->locals[1].type : t->kernel->locals[0].type),
                                         .kind = OPERAND_CONTIGUOUS};
    gpu_specialise(&v, &(loop_problem){.loop = &loop, .traits = &(code_traits){.nodes = 8}});
    assert_int_equal(ir_elementwise(&k->memory, "f", t, &v, &gpu, &k->m), UF_OK);
    launch l = {.v = &v, .loop = &loop, .data = data};
    assert_int_equal(gpu_layout(&l, &(occupancy){.block = 256, .sms = 8}, k->words, &k->g), UF_OK);
}

static void discard(element_kernel *k) {
    text_free(&k->m.ir);
    arena_free(&k->memory);
}

static double value_of(dtype t, uint16_t bits) { return number_read(t, &bits).as.f[0]; }

/* The distance between a half's neighbours. */
static double unit_of(dtype t, double x) {
    int digits = t == DT_FLOAT16 ? 11 : 8, least = t == DT_FLOAT16 ? -14 : -126, e;
    frexp(x, &e);
    return ldexp(1, (e - 1 < least ? least : e - 1) - digits + 1);
}

static void check_all(const char *name, double base, dtype t) {
    static uint16_t in[HALVES], out[HALVES];
    char source[64], types[64], *data[] = {(char *)in, (char *)out};
    element_kernel k;
    for (int i = 0; i < HALVES; i++)
        in[i] = (uint16_t)i;
    snprintf(source, sizeof source, "(x) { return %s(x); }", name);
    snprintf(types, sizeof types, "%s->%s", dtypes[t].name, dtypes[t].name);
    generate(&k, source, types, t, t, data, HALVES);
    assert_non_null(strstr(k.m.ir.data, "llvm.nvvm.ex2.approx.ftz.f"));
    const char *wrong = sim_run(&k.m, k.words, (int)k.g.parameters, (int)k.g.blocks, (int)k.g.threads);
    if (wrong)
        fail_msg("%s", wrong);
    for (int i = 0; i < HALVES; i++) {
        double x = value_of(t, in[i]), got = value_of(t, out[i]), exact = pow(base, x),
               most = value_of(t, t == DT_FLOAT16 ? 0x7bff : 0x7f7f);
        double unit = unit_of(t, exact > most ? most : exact);
        if (isnan(x)     ? !isnan(got)
            : isinf(got) ? exact < most + unit * 0.4
                         : !(fabs(got - exact) <= unit * (0.5 + 1. / 32)))
            fail_msg("%s of %s %.9g: %.9g, not %.9g", name, dtypes[t].name, x, got, exact);
    }
    discard(&k);
}

static void test_every_half(void **state) {
    (void)state;
    if (!sim_there())
        skip();
    for (int i = 0; i < 2; i++) {
        dtype t = i ? DT_BFLOAT16 : DT_FLOAT16;
        check_all("exp", 2.71828182845904523536, t);
        check_all("exp2", 2, t);
        check_all("exp10", 10, t);
    }
}

/* Not where the signature's result has more bits than a half, whatever is stored; nor in a helper that keeps its bits. */
static void test_which(void **state) {
    static const struct {
        const char *source, *types;
        dtype in, out;
        bool has;
    } cases[] = {
        {"(x) { return exp(x); }", "float16->float16", DT_FLOAT16, DT_FLOAT16, true},
        {"(x) { return exp(x); }", "float32->float16", DT_FLOAT32, DT_FLOAT16, true},
        {"(x) { return exp(x); }", "float32->float32", DT_FLOAT16, DT_FLOAT16, false},
        {"(x) { return exp(x); }", "float16->float32", DT_FLOAT16, DT_FLOAT32, false},
        {"(x) { return exp((double)x); }", "float16->float16", DT_FLOAT16, DT_FLOAT16, false},
        {"(x) { return exp(x) > 2; }", "float16->bool", DT_FLOAT16, DT_BOOL, false},
        {"(x) { return expm1(x); }", "float16->float16", DT_FLOAT16, DT_FLOAT16, false},
        {"exact f(x) { return exp(x); } (x) { return f(x); }", "float16->float16", DT_FLOAT16, DT_FLOAT16, false},
    };
    static uint16_t bytes[16];
    char *data[] = {(char *)bytes, (char *)bytes};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        element_kernel k;
        generate(&k, cases[i].source, cases[i].types, cases[i].in, cases[i].out, data, 4);
        if (cases[i].has != (strstr(k.m.ir.data, "llvm.nvvm.ex2") != NULL))
            fail_msg("%s, %s", cases[i].source, cases[i].types);
        discard(&k);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_half), cmocka_unit_test(test_which)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
