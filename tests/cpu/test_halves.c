/* test_halves.c - comparisons of float16 on the CPU: that they are made on vectors, and what they give for every value. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cpu/cpu.h"
#include "draw.h"
#include "type/type.h"
#include "ufunc.h"

#undef fail /* base.h's */
#include <cmocka.h>

enum {
    VALUES = 1 << 16
};

static const DLDataType half = {kDLFloat, 16, 1};

/* ---- Vectors ---- */

static uf_func *function(const char *name) {
    uf_func *f;
    if (uf_load(&f, name) != UF_OK)
        fail_msg("%s", uf_last_error()->message);
    return f;
}

/* Does a line of the text hold both? */
static bool line_has(const char *shown, const char *a, const char *b) {
    for (const char *line = shown, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *x = strstr(line, a), *y = strstr(line, b);
        if (x && x < end && y && y < end)
            return true;
    }
    return false;
}

/* Compiled for float16, they convert whole vectors, which come from memory or fill a register of more than 128 bits. A single element would
 * come from a register of 128. */
static void on_vectors(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *types;
    } rows[] = {{"max", "e"},      {"min", "e"},           {"argmax", "e"},   {"argmin", "e"},
                {"minmax", "e"},   {"count_nonzero", "e"}, {"maximum", "ee"}, {"fmin", "ee"},
                {"greater", "ee"}, {"equal", "ee"},        {"add", "ee"}};
    code_target host;
    assert_int_equal(cpu_engine.target(0, &host), UF_OK);
    if (!host.f16c || host.vector_bits < 256)
        skip();
    for (size_t i = 0; i < COUNT(rows); i++) {
        uf_func *f = function(rows[i].name);
        char *shown;
        assert_int_equal(uf_inspect(f, rows[i].types, (DLDevice){kDLCPU, 0}, UF_VIEW_ASSEMBLY, &shown), UF_OK);
        if (!line_has(shown, "vcvtph2ps", "(") && !line_has(shown, "vcvtph2ps", "%ymm") &&
            !line_has(shown, "vcvtph2ps", "%zmm"))
            fail_msg("%s:\n%s", rows[i].name, shown);
        free(shown);
        uf_free(f);
    }
}

/* What a wider type would compute is an operation on the narrow one: signs of halves, and sums and extremes of bools, which C computes with
 * float32 and int32. */
static void without_wider_types(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *types, *operation, *conversion;
    } rows[] = {{"abs", "e", "and i16", "fpext"},           {"negative", "e", "xor i16", "fpext"},
                {"fabs", "e", "and i16", "fpext"},          {"abs", "E", "and i16", "to float"},
                {"negative", "E", "xor i16", "float"},      {"add", "??", "or i1", "to i32"},
                {"maximum", "??", "or i1", "to i32"},       {"minimum", "??", "and i1", "to i32"},
                {"maximum", "BB", "icmp ugt i8", "to i32"}, {"minimum", "HH", "icmp ult i16", "to i32"},
                {"minimum", "bb", "icmp slt i8", "to i32"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        uf_func *f = function(rows[i].name);
        char *shown;
        assert_int_equal(uf_inspect(f, rows[i].types, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &shown), UF_OK);
        const char *kernel = strstr(shown, "@kernel");
        if (!kernel || !strstr(kernel, rows[i].operation) || strstr(kernel, rows[i].conversion))
            fail_msg("%s of %s:\n%s", rows[i].name, rows[i].types, shown);
        free(shown);
        uf_free(f);
    }
}

/* ---- Values ---- */

static float value_of(uint16_t bits) {
    number x = number_read(DT_FLOAT16, &bits);
    return (float)x.as.f[0];
}

static void check_all(const char *name, const uint16_t *x, const uint16_t *y) {
    static uint16_t out[VALUES];
    static bool truth[VALUES];
    bool compares = !strcmp(name, "greater") || !strcmp(name, "equal");
    int64_t shape = VALUES;
    DLTensor arrays[] = {{.data = (void *)x, .ndim = 1, .dtype = half, .shape = &shape, .device = {kDLCPU, 0}},
                         {.data = (void *)y, .ndim = 1, .dtype = half, .shape = &shape, .device = {kDLCPU, 0}},
                         {.data = out, .ndim = 1, .dtype = half, .shape = &shape, .device = {kDLCPU, 0}}};
    if (compares) {
        arrays[2].data = truth;
        arrays[2].dtype = (DLDataType){UF_BOOL_CODE, 8, 1};
    }
    uf_func *f = function(name);
    assert_int_equal(uf_call(f, 3, arrays, NULL), UF_OK);
    for (int i = 0; i < VALUES; i++) {
        float a = value_of(x[i]), b = value_of(y[i]);
        bool good = !strcmp(name, "greater")   ? truth[i] == (a > b)
                    : !strcmp(name, "equal")   ? truth[i] == (a == b)
                    : isnan(a) || isnan(b)     ? isnan(value_of(out[i]))
                    : a == b                   ? out[i] == x[i] || out[i] == y[i]
                    : !strcmp(name, "maximum") ? out[i] == (a > b ? x[i] : y[i])
                                               : out[i] == (a < b ? x[i] : y[i]);
        if (!good)
            fail_msg("%s of %04x and %04x is %04x", name, x[i], y[i], compares ? truth[i] : out[i]);
    }
    uf_free(f);
}

/* Every float16 with itself, its negation, and any other one. */
static void of_every_value(void **unused) {
    (void)unused;
    static const char *const names[] = {"maximum", "minimum", "greater", "equal"};
    static uint16_t x[VALUES], y[VALUES];
    for (int how = 0; how < 3; how++) {
        for (int i = 0; i < VALUES; i++) {
            x[i] = (uint16_t)i;
            y[i] = (uint16_t)(how == 0 ? i : how == 1 ? i ^ 0x8000 : pick(0, VALUES - 1));
        }
        for (size_t k = 0; k < COUNT(names); k++)
            check_all(names[k], x, y);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_vectors), cmocka_unit_test(without_wider_types),
                                       cmocka_unit_test(of_every_value)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
