/* test_variant.c - the form that a variant has outside of a process: what its bytes are, that nothing of it is lost or taken in, and
 * that what is no variant is refused. A change of these bytes is a change of the form: VARIANT_VERSION must then be another. */
#include "type/variant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

/* clang-format off */
#define OPERANDS .operand = {{.memory = DT_FLOAT32, .value = DT_FLOAT64, .kind = OPERAND_STRIDED, .fixed = 1, .unit = 2, .shifted = 1, .group = 1, .offset = 9, .record = 16, .align = 3}, \
                             {.memory = DT_INT8, .value = DT_INT8, .kind = OPERAND_NUMBER, .staged = 1, .held = 1, .broadcast = 1, .coalesced = 1, .nontemporal = 1, .privatised = 1}}

static const struct {
    variant v;
    const char *bytes; /* version; loop ndim nin nout masked segmented ninitial position nindices wide reports; the class; operands */
} golden[LOOP_CLASSES] = {
    [LOOP_FLAT] = {{.loop = LOOP_FLAT, .ndim = 1, .nin = 1, .nout = 1, .flat = {.vector = 4, .vectors_per_thread = 2}, OPERANDS},
        "19 00 01 01 01 00 00 00 00 00 00 00 04 02 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_ROWS] = {{.loop = LOOP_ROWS, .ndim = 3, .nin = 0, .nout = 1, .masked = 1, .rows = {.vector = 8, .rows_per_thread = 3}, OPERANDS},
        "19 01 03 00 01 01 00 00 00 00 00 00 08 03 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_GENERAL] = {{.loop = LOOP_GENERAL, .ndim = 2, .nin = 1, .nout = 1, .wide = 1, .general = {.elements_per_thread = 4, .vector = 2, .rows = 1}, OPERANDS},
        "19 02 02 01 01 00 00 00 00 00 01 00 04 02 01 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_GUFUNC] = {{.loop = LOOP_GUFUNC, .ndim = 1, .nin = 1, .nout = 1, .reports = 5,
                      .gufunc = {.along = 1, .coop = 2, .lanes = 3, .vector = 4, .steps = 5, .tile = 6, .split = 7, .unrolled = 1, .columns = 2, .strips = 1, .size = {7, 8}, .plane = 6, .part = {4}, .across = 9, .pieces = 10, .held = 11, .calls = 1, .cluster = 12, .fine = 1, .aligned = 1, .even = 2, .form = 3}, OPERANDS},
         "19 03 01 01 01 00 00 00 00 00 00 05 01 02 03 04 05 06 07 01 02 01 07 08 00 00 00 00 00 00 06 04 00 00 00 00 00 00 00 09 0a 0b 01 0c 01 01 02 03 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_FOLD] = {{.loop = LOOP_FOLD, .ndim = 1, .nin = 1, .nout = 1,
                    .reduction = {.from_states = 1, .to_states = 2, .sparse = 3, .counted = 4, .empty = 5, .reduced = 6, .columns = 7},
                    .fold = {.vector = 8, .accesses = 9, .coop = 10, .results = 11, .length = 12, .plane = 13, .aligned = 1, .once = 1, .split = 1}, OPERANDS},
        "19 04 01 01 01 00 00 00 00 00 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 01 01 01 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_SCAN] = {{.loop = LOOP_SCAN, .ndim = 1, .nout = 1, .position = 1, .reduction = {.reduced = 1},
                    .scan = {.vector = 1, .accesses = 2, .coop = 3, .state_words = 4, .length = 5, .lines = 6, .plane = 7, .in_turn = 1, .alone = 1}, OPERANDS},
        "19 05 01 00 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 01 02 03 04 05 06 07 01 01 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_AT] = {{.loop = LOOP_AT, .ndim = 1, .nout = 1, .nindices = 1, .general = {.elements_per_thread = 4}, .at = {.deterministic = 1, .record = 8}, OPERANDS},
        "19 06 01 00 01 00 00 00 00 01 00 00 04 00 00 01 08 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_FORALL] = {{.loop = LOOP_FORALL, .ndim = 2, .nin = 2, .forall = {.proved = 1, .noalias = 1, .vector = 4, .vectors_per_thread = 2, .block = 9, .lanes = 3, .across = 4, .shared_rows = 1, .pairs = 5, .known = {{6, 7, 8}, {9, 10, 11}}}, OPERANDS},
        "19 07 02 02 00 00 00 00 00 00 00 00 01 01 04 02 09 03 04 01 05 06 07 08 09 0a 0b 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
    [LOOP_TILE] = {{.loop = LOOP_TILE, .ndim = 2, .nin = 1, .nout = 1, .tile = {.narrow = 3, .vector = 4, .rows = 2, .columns = 5, .across = 1, .halo = 8}, OPERANDS},
        "19 08 02 01 01 00 00 00 00 00 00 00 03 04 02 05 01 08 0b 0c 02 01 02 00 00 01 00 00 00 00 01 09 10 03 01 01 04 00 00 01 01 00 01 01 01 01 00 00 00 00"},
};
/* clang-format on */

static void test_golden(void **unused) {
    (void)unused;
    for (int c = 0; c < LOOP_CLASSES; c++) {
        uint8_t bytes[VARIANT_BYTES];
        text got = {0};
        size_t n = variant_bytes(&golden[c].v, bytes);
        for (size_t i = 0; i < n; i++)
            text_printf(&got, "%s%02x", i ? " " : "", bytes[i]);
        if (strcmp(got.data, golden[c].bytes))
            fail_msg("class %d:\n%s\nnot\n%s", c, got.data, golden[c].bytes);
        text_free(&got);
    }
}

/* Any bytes at all in the head, the class and the operands, as many as there may be. */
static variant any_variant(loop_class loop) {
    variant v = golden[loop].v;
    uint8_t *at = (uint8_t *)v.operand;
    for (int k = 0; k < variant_operands(&v); k++)
        for (size_t i = 0; i < sizeof *v.operand; i++)
            *at++ = (uint8_t)pick(0, 256 - 1);
    v.ndim = (uint8_t)pick(0, 256 - 1);
    v.wide = (uint8_t)pick(0, 2 - 1);
    v.reports = (uint8_t)pick(0, 8 - 1);
    return v;
}

static void test_round_trip(void **unused) {
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        variant v = any_variant((loop_class)(i % LOOP_CLASSES)), back, other;
        uint8_t bytes[VARIANT_BYTES], others[VARIANT_BYTES];
        size_t n = variant_bytes(&v, bytes);
        assert_true(variant_parse(bytes, n, &back));
        assert_true(variant_same(&v, &back) && variant_same(&back, &v));
        for (size_t less = 0; less < n; less++)
            assert_false(variant_parse(bytes, less, &back));
        assert_false(variant_parse(bytes, n + 1, &back));
        /* One member is another: so is the form. */
        other = v;
        size_t at = (size_t)pick(0, offsetof(variant, flat));
        if (at >= offsetof(variant, flat))
            other.operand[1].unit ^= 1;
        else if (at == offsetof(variant, loop))
            other.loop = (uint8_t)((v.loop + 1) % LOOP_CLASSES);
        else
            ((uint8_t *)&other)[at] ^= 1;
        assert_false(variant_same(&v, &other));
        assert_true(variant_bytes(&other, others) != n || memcmp(bytes, others, n));
    }
}

static void test_refused(void **unused) {
    uint8_t bytes[VARIANT_BYTES];
    variant v;
    (void)unused;
    size_t n = variant_bytes(&golden[LOOP_FLAT].v, bytes);
    bytes[0]++;
    assert_false(variant_parse(bytes, n, &v)); /* another version */
    bytes[0]--;
    bytes[1] = LOOP_CLASSES;
    assert_false(variant_parse(bytes, n, &v));
    bytes[1] = LOOP_FLAT;
    bytes[3] = 255; /* inputs */
    assert_false(variant_parse(bytes, n, &v));
}

/* What a class says means something else in another. */
static void test_reclass(void **unused) {
    variant v = golden[LOOP_ROWS].v, expected = golden[LOOP_ROWS].v;
    (void)unused;
    expected.loop = LOOP_GENERAL;
    expected.rows.vector = expected.rows.rows_per_thread = 0;
    variant_reclass(&v, LOOP_GENERAL);
    assert_memory_equal(&v, &expected, sizeof v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_reclass),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
