/* test_narrow.c - which expressions of integers are computed in 16 bits on the CPU, and that none is on the GPU. That results are the same is
 * what tests/oracle/small_integers.py tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "element_module.h"
#include "ir_check.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const code_target cpu = {.vector_bits = 512, .f16c = true}, gpu = {.gpu = true, .arch = 90};

static int occurrences(const char *where, const char *what) {
    int n = 0;
    for (const char *at = where; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

typedef struct narrow_case {
    const char *source, *types, *what;
    int count; /* of `what` in the IR for the CPU */
} narrow_case;

static const narrow_case cases[] = {
    {"(x, y) { return (x + y + 1) >> 1; }", "uint8,uint8->uint8", "lshr i16", 1},
    {"(x, y) { return (x - y + 1) >> 1; }", "uint8,uint8->uint8", "ashr i16", 1},
    {"(x, y) { return (x + y) * 64 + y; }", "uint8,uint8->int32", "mul i16", 1}, /* 32895 is a uint16 */
    {"(x, y) { return (x + y) * 128 + y; }", "uint8,uint8->int32", "mul i16", 1},
    {"(x, y) { return (x + y) * 129 + y; }", "uint8,uint8->int32", " i16 ", 0}, /* 66045 is not */
    {"(x, y) { return (x - y) * 128 - 128; }", "uint8,uint8->int32", "sub i16", 2},
    {"(x, y) { return (x - y) * 128 - 129; }", "uint8,uint8->int32", "mul i16", 0},
    {"(x, y) { auto d = x - y, s = x + y; return abs(d) + s * 2; }", "uint8,uint8->int32", "mul i16", 1},
    {"(x, y) { auto d = x - y; d += 1; return abs(d) + d * 2; }", "uint8,uint8->int32", " i16 ", 0}, /* assigned */
    {"(x, y) { return x + y * 2; }", "int32,uint8->int32", " i16 ", 0},            /* x may be anything */
    {"(x, y) { return x + y; }", "uint8,uint8->int32", " i16 ", 0},                /* one operation alone */
    {"(x, y) { return (uint32)x - y + 1; }", "uint8,uint8->uint32", "sub i16", 0}, /* wraps at 2^32 */
};

static code_module generate(arena *a, const narrow_case *c, const code_target *target) {
    tree *t;
    if (lang_try(a, c->source, c->types, &t))
        fail_msg("%s", uf_last_error()->message);
    return element_module(a, t, target, 0, 0);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        code_module m = generate(&a, &cases[i], &cpu), other = generate(&a, &cases[i], &gpu);
        for (int j = 0; j < judge_count(); j++)
            assert_null(judge_ir(j, m.ir.data));
        int n = occurrences(m.ir.data, cases[i].what);
        if (n != cases[i].count)
            fail_msg("%s: %d times %s, not %d", cases[i].source, n, cases[i].what, cases[i].count);
        assert_int_equal(occurrences(other.ir.data, " i16 "), 0);
        text_free(&m.ir);
        text_free(&other.ir);
        arena_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
