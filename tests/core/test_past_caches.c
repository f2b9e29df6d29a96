/* test_past_caches.c - elementwise calls over more than the caches hold, whose results are written past them: the same as those of short
 * calls, which stay in the caches, wherever arrays begin, and nothing else is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "define.h"
#include "draw.h"
#include "expect.h"

enum {
    BYTES = 13 << 20, /* of an array: three are more than 32 MiB */
    SLACK = 256,
    CHUNK = 3000, /* elements */
    MOST = 4
};

typedef struct large_case {
    const char *signature, *source;
    int bits, code, nin, nout;
    bool number; /* the last input */
} large_case;

static const large_case cases[] = {
    {"ff->f", "(x, y) { return x + y; }", 32, kDLFloat, 2, 1, false},
    {"dd->d", "(x, y) { return x * y + 1; }", 64, kDLFloat, 2, 1, false},
    {"bb->b", "(x, y) { return x - y; }", 8, kDLInt, 2, 1, false},
    {"HH->H", "(x, y) { return x > y ? x : y / 3; }", 16, kDLUInt, 2, 1, false},
    {"ll->l", "(x, y) { return x / 7 + y; }", 64, kDLInt, 2, 1, false},
    {"ff->f", "(x, y) { return exp(-(x * x)) * (float)((double)y + 0.1); }", 32, kDLFloat, 2, 1, false},
    {"iii->i", "(x, y, z) { return x * y + z; }", 32, kDLInt, 3, 1, true},
    {"ff->ff", "(x, y) -> (r, s) { r = x + y; s = x - y; }", 32, kDLFloat, 2, 2, false},
    {"ff->f", "(x, y) { auto s = x; for (int i = 0; i < 3; i++) s += y; return s; }", 32, kDLFloat, 2, 1, false},
    {"ff->d", "(x, y) { return x + y; }", 32, kDLFloat, 2, 1, false},
};

static char *block[2 * MOST + 1];

static void blocks_make(void) {
    for (int k = 0; k < 2 * MOST + 1; k++) {
        block[k] = malloc(2 * BYTES + SLACK);
        assert_non_null(block[k]);
        for (size_t i = 0; i < (2 * BYTES + SLACK) / sizeof(uint32_t); i++)
            ((uint32_t *)(void *)block[k])[i] = 0x3f000000 + (uint32_t)(draw_bits() & 0xffffff); /* 0.5 to 2 */
    }
}

/* Elements first .. first + n - 1. Outputs are in the blocks from `to` on. */
static void call_part(uf_func *f, const large_case *c, const int64_t *shift, int to, int64_t first, int64_t n,
                      int threads, bool in_place) {
    static int32_t number = 5;
    const uf_options o = {.size = sizeof o, .threads = threads};
    DLTensor args[MOST];
    for (int k = 0; k < c->nin + c->nout; k++) {
        int size =
            c->bits / 8 * (k >= c->nin && c->signature[strlen(c->signature) - 1] == 'd' && c->bits == 32 ? 2 : 1);
        char *at = k < c->nin ? block[k] : in_place ? block[0] : block[to + k - c->nin];
        args[k] = (DLTensor){.data = at + (in_place && k == c->nin ? shift[0] : shift[k]) * size + first * size,
                             .device = {kDLCPU, 0},
                             .ndim = 1,
                             .dtype = {(uint8_t)c->code, (uint8_t)(8 * size), 1},
                             .shape = &n};
    }
    if (c->number)
        args[c->nin - 1] = (DLTensor){.data = &number, .device = {kDLCPU, 0}, .dtype = {kDLInt, 32, 1}};
    OK(uf_call(f, c->nin + c->nout, args, &o));
}

static void try_case(const large_case *c, bool in_place) {
    uf_func *f = make(c->signature, c->source);
    int64_t shift[MOST], n = BYTES / (c->bits / 8) - pick(0, 200);
    int first = MOST, second = 2 * MOST - c->nout + 1;
    for (int k = 0; k < MOST; k++)
        shift[k] = chance(30) ? 0 : pick(0, 16);
    if (c->nout == 2 && chance(70))
        shift[3] = shift[2]; /* lines begin at the same elements */
    for (int k = 0; k < c->nout; k++)
        memcpy(block[second + k], block[first + k], 2 * BYTES + SLACK);
    for (int64_t i = 0; i < n; i += CHUNK)
        call_part(f, c, shift, second, i, i + CHUNK < n ? CHUNK : n - i, 1, false);
    call_part(f, c, shift, first, 0, n, (int)pick(1, 3), in_place);
    for (int k = 0; k < c->nout && !in_place; k++)
        assert_memory_equal(block[first + k], block[second + k], 2 * BYTES + SLACK);
    if (in_place) {
        int size = c->bits / 8;
        assert_memory_equal(block[0] + shift[0] * size, block[second] + shift[2] * size, (size_t)(n * size));
    }
    uf_free(f);
}

static void large(void **state) {
    (void)state;
    blocks_make();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s %s\n", cases[i].signature, cases[i].source);
        try_case(&cases[i], false);
    }
    try_case(&cases[0], true);
    for (int k = 0; k < 2 * MOST + 1; k++)
        free(block[k]);
}

/* ---- Records ---- */

typedef struct record_case {
    const char *signature, *source;
    int bits, code, fields;
} record_case;

static const record_case record_cases[] = {
    {"ffff->ff", "(a, b, c, d) -> (r, s) { r = a + c; s = b + d; }", 32, kDLFloat, 2},
    {"ffffff->fff", "(a, b, c, d, e, f) -> (r, s, t) { r = a - d; s = b - e; t = c - f; }", 32, kDLFloat, 3},
    {"BBBBBB->BBB", "(a, b, c, d, e, f) -> (r, s, t) { r = a + d; s = b + e; t = c + f; }", 8, kDLUInt, 3},
    {"dddd->dd", "(a, b, c, d) -> (r, s) { r = a * c; s = b * d; }", 64, kDLFloat, 2},
    {"dddd->dd", "(a, b, c, d) -> (r, s) { r = a + d; s = b - c; }", 64, kDLFloat, 2},
};

/* Records first .. first + n - 1; those of the result are in block `to`. */
static void records_part(uf_func *f, const record_case *c, const int64_t *shift, const int *blocks, int64_t first,
                         int64_t n, int threads) {
    const uf_options o = {.size = sizeof o, .threads = threads};
    int size = c->bits / 8;
    int64_t stride = c->fields;
    DLTensor args[9];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < c->fields; k++)
            args[i * c->fields + k] =
                (DLTensor){.data = block[blocks[i]] + shift[i] * size + (first * c->fields + k) * size,
                           .device = {kDLCPU, 0},
                           .ndim = 1,
                           .dtype = {(uint8_t)c->code, (uint8_t)c->bits, 1},
                           .shape = &n,
                           .strides = &stride};
    OK(uf_call(f, 3 * c->fields, args, &o));
}

static void try_records(const record_case *c, bool in_place) {
    uf_func *f = make(c->signature, c->source);
    const int size = c->bits / 8, large[] = {0, 1, in_place ? 0 : 2}, small[] = {0, 1, 3};
    int64_t n = BYTES / size / c->fields - pick(0, 200), shift[3];
    for (int i = 0; i < 3; i++)
        shift[i] = chance(30) ? 0 : pick(0, 70);
    if (in_place)
        shift[2] = shift[0];
    memcpy(block[3], block[2], 2 * BYTES + SLACK);
    for (int64_t i = 0; i < n; i += CHUNK)
        records_part(f, c, shift, small, i, i + CHUNK < n ? CHUNK : n - i, 1);
    records_part(f, c, shift, large, 0, n, (int)pick(1, 3));
    if (in_place)
        assert_memory_equal(block[0] + shift[0] * size, block[3] + shift[2] * size, (size_t)(n * c->fields * size));
    else
        assert_memory_equal(block[2], block[3], 2 * BYTES + SLACK);
    uf_free(f);
}

static void records(void **state) {
    (void)state;
    blocks_make();
    for (size_t i = 0; i < sizeof record_cases / sizeof *record_cases; i++)
        for (int times = 0; times < 3; times++) {
            print_message("%s %s\n", record_cases[i].signature, record_cases[i].source);
            try_records(&record_cases[i], false);
        }
    try_records(&record_cases[0], true);
    for (int k = 0; k < 2 * MOST + 1; k++)
        free(block[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(large, draw_seed),
                                       cmocka_unit_test_setup(records, draw_seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
