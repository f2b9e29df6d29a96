/* test_byte_table.c - bytes looked up in tables of constants: what is found, for tables of all sizes, rows of all lengths, and expressions
 * around the look-up; and that registers are looked up in where the host can and there are no branches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "draw.h"
#include "ufunc.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    MOST = 300 /* elements of a row */
};

static const DLDevice cpu = {kDLCPU, 0};
static uint8_t x[2 * MOST], y[2 * MOST];
static int8_t table[256];
static int extent;

/* Beyond a table there are zeros. */
static int at(int i) { return i < extent ? table[i] : 0; }

static double of_x(int i, int j) { return (void)j, at(i); }
static double of_both(int i, int j) { return (double)(at(i) * 3 + at(j)) / 4; }
static double of_found(int i, int j) { return (void)j, at((uint8_t)at(i)); }
static double of_sum(int i, int j) { return at((uint8_t)(i + j)); }
static double of_some(int i, int j) { return j > 100 ? at(i) : 0; }
static double of_rest(int i, int j) { return at(i % 16 + (j - j)); }

static const struct {
    const char *text, *signature;
    double (*want)(int i, int j);
    bool vectors;
} cases[] = {
    {"return t[x];", "BB->b", of_x, true},
    {"return t[x];", "BB->f", of_x, true},
    {"auto a = t[x], b = t[y]; return (a * 3 + b) * 0.25;", "BB->d", of_both, true},
    {"return t[(uint8)t[x]];", "BB->b", of_found, true},
    {"return t[(uint8)(x + y)];", "BB->h", of_sum, true},
    {"return y > 100 ? t[x] : 0;", "BB->b", of_some, false},
    {"return t[x % 16 + (y - y)];", "BB->i", of_rest, false}, /* the index is no uint8 */
};

static uf_func *make(const char *body, const char *signature) {
    static char source[4096];
    uf_func *f;
    int used = snprintf(source, sizeof source, "(x, y) { const int8 t[] = {");
    for (int i = 0; i < extent; i++)
        used += snprintf(source + used, sizeof source - (size_t)used, "%d,", table[i]);
    snprintf(source + used, sizeof source - (size_t)used, "}; %s }", body);
    assert_int_equal(uf_vectorize(&f, "f", signature, source), UF_OK);
    return f;
}

static double element(DLDataType t, const void *r, int64_t i) {
    if (t.code == kDLFloat)
        return t.bits == 64 ? ((const double *)r)[i] : (double)((const float *)r)[i];
    return t.bits == 8 ? ((const int8_t *)r)[i] : t.bits == 16 ? ((const int16_t *)r)[i] : ((const int32_t *)r)[i];
}

static DLDataType result_of(const char *signature) {
    switch (signature[4]) {
    case 'b':
        return (DLDataType){kDLInt, 8, 1};
    case 'h':
        return (DLDataType){kDLInt, 16, 1};
    case 'i':
        return (DLDataType){kDLInt, 32, 1};
    default:
        return (DLDataType){kDLFloat, signature[4] == 'd' ? 64 : 32, 1};
    }
}

/* A row of n elements, or of every second one. */
static void row(const uf_func *f, size_t k, int64_t n, int64_t stride) {
    static double r[MOST];
    DLDataType type = result_of(cases[k].signature);
    DLTensor of_x = UF_ARRAY(x, n), of_y = UF_ARRAY(y, n), out = UF_ARRAY(r, n);
    of_x.strides = of_y.strides = &stride;
    out.dtype = type;
    memset(r, 0x55, sizeof r);
    assert_int_equal(UF_CALL(f, of_x, of_y, out), UF_OK);
    for (int64_t i = 0; i < n; i++)
        if (element(type, r, i) != cases[k].want(x[i * stride], y[i * stride]))
            fail_msg("%s, a table of %d, element %lld of %lld: %g", cases[k].text, extent, (long long)i, (long long)n,
                     element(type, r, i));
}

static bool looks_in_registers(const uf_func *f) {
    char *assembly;
    assert_int_equal(uf_inspect(f, NULL, cpu, UF_VIEW_ASSEMBLY, &assembly), UF_OK);
    bool found = strstr(assembly, "vpermi2b") || strstr(assembly, "vpermt2b");
    free(assembly);
    return found;
}

static bool host_can(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw");
#else
    return false;
#endif
}

static void lookups(void **state) {
    (void)state;
    static const int extents[] = {1, 63, 64, 65, 128, 129, 200, 256};
    for (size_t e = 0; e < COUNT(extents); e++)
        for (size_t k = 0; k < COUNT(cases); k++) {
            extent = extents[e];
            for (int i = 0; i < 2 * MOST; i++) {
                x[i] = (uint8_t)draw_bits();
                y[i] = (uint8_t)draw_bits();
                table[i % 256] = (int8_t)draw_bits();
            }
            uf_func *f = make(cases[k].text, cases[k].signature);
            for (int64_t n = 1; n < MOST; n += n < 140 ? 1 : 13)
                row(f, k, n, 1);
            row(f, k, MOST, 2);
            assert_int_equal(looks_in_registers(f), cases[k].vectors && host_can());
            uf_free(f);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
