/* test_interleave.c - which arrays nd_interleave finds to lie interleaved: a table of layouts, and random ones, where what it says is
 * compared with what nd.h promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "nd/nd.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

enum {
    ARRAYS = 6,
    DIMS = 3
};

typedef struct layout {
    int64_t extent[DIMS], stride[DIMS * ARRAYS], offset[ARRAYS];
    nd_loop loop;
    nd_place place[ARRAYS];
    nd_member member[ARRAYS];
} layout;

/* From strides in bytes, dimension 0 first; extents up to the first 0. */
static loop_class find(layout *l, int n, int nin, int nout, const int64_t *extents, int64_t (*steps)[DIMS]) {
    l->loop = (nd_loop){
        .narrays = n, .count = 1, .extent = l->extent, .stride = l->stride, .offset = l->offset, .loop = LOOP_GENERAL};
    while (l->loop.ndim < DIMS && extents[l->loop.ndim]) {
        l->extent[l->loop.ndim] = extents[l->loop.ndim];
        for (int k = 0; k < n; k++)
            l->stride[l->loop.ndim * n + k] = steps[k][l->loop.ndim] / l->place[k].size;
        l->loop.count *= extents[l->loop.ndim++];
    }
    for (int k = 0; k < n; k++) {
        int64_t s = l->stride[k];
        l->loop.kind[k] = s == 1 ? OPERAND_CONTIGUOUS : s == 0 ? OPERAND_CONSTANT : OPERAND_STRIDED;
    }
    return nd_interleave(&l->loop, l->place, nin, nout, l->member);
}

/* ---- Layouts, and what is found: for each array its group and offset ("a0": that of array 0), and the record; "-": none ---- */

#define AT(address, size, ...)         \
    {                                  \
        address, size, { __VA_ARGS__ } \
    }

static const struct {
    int64_t extents[DIMS];
    int nin, nout;
    struct {
        uintptr_t address;
        int size;
        int64_t steps[DIMS];
    } arrays[ARRAYS];
    const char *found; /* class, then the arrays */
} cases[] = {
    /* Two records in, one out; the order of fields is any. */
    {{100},
     4,
     2,
     {AT(4096, 4, 8), AT(4100, 4, 8), AT(8196, 4, 8), AT(8192, 4, 8), AT(0x4000, 4, 8), AT(0x4004, 4, 8)},
     "flat a0/8 a4/8 d4/8 d0/8 e0/8 e4/8"},
    /* Beside them contiguous and constant arrays. */
    {{100}, 4, 0, {AT(4096, 8, 16), AT(4104, 4, 16), AT(4108, 1, 16), AT(8192, 8, 8)}, "flat a0/16 a8/16 a12/16 -"},
    {{100}, 3, 0, {AT(4096, 8, 16), AT(4104, 8, 16), AT(4104, 8, 0)}, "flat a0/16 a8/16 -"},
    /* One strided array makes the loop general; groups stay. */
    {{100}, 3, 0, {AT(4096, 8, 16), AT(4104, 8, 16), AT(8192, 8, 24)}, "general a0/16 a8/16 -"},
    /* Inputs and outputs do not mix, and are not one group in place either. */
    {{100}, 1, 1, {AT(4096, 4, 8), AT(4100, 4, 8)}, "general - -"},
    {{100}, 2, 2, {AT(4096, 4, 8), AT(4100, 4, 8), AT(4096, 4, 8), AT(4100, 4, 8)}, "flat a0/8 a4/8 c0/8 c4/8"},
    /* A field alone, and the same one twice. */
    {{100}, 1, 0, {AT(4096, 4, 8)}, "general -"},
    {{100}, 2, 0, {AT(4096, 4, 8), AT(4096, 4, 8)}, "general - -"},
    /* Less than half of a record, and less than half of what it reaches. */
    {{100}, 2, 0, {AT(4096, 4, 24), AT(4104, 4, 24)}, "general a0/0 a8/0"},
    {{100}, 2, 0, {AT(4096, 4, 24), AT(4112, 4, 24)}, "general - -"},
    {{100}, 2, 0, {AT(4096, 4, 16), AT(4104, 4, 16)}, "flat a0/16 a8/16"},
    /* Views with gaps: not records, but moved as pieces. */
    {{100}, 2, 0, {AT(4096, 8, 48), AT(4104, 8, 48)}, "general a0/0 a8/0"},
    /* Transposed: the record is the other dimension's stride. */
    {{100, 3}, 2, 0, {AT(4096, 8, 48, 16), AT(4104, 8, 48, 16)}, "general a0/0 a8/0"},
    {{100, 3}, 2, 0, {AT(4096, 8, 4800, 8), AT(4104, 8, 4800, 8)}, "general - -"},
    /* A record is no longer than 128 bytes; a field of a longer stride is found by strides, if near enough. */
    {{100}, 2, 0, {AT(4096, 8, 136), AT(4104, 8, 136)}, "general a0/0 a8/0"},
    {{100}, 2, 0, {AT(4096, 8, 1024), AT(4096 + 512, 8, 1024)}, "general - -"},
    {{100}, 2, 0, {AT(4096, 8, -16), AT(4104, 8, -16)}, "general a0/0 a8/0"},
    /* Other strides are another record, in any dimension. */
    {{100}, 2, 0, {AT(4096, 4, 8), AT(4100, 4, 12)}, "general - -"},
    {{100, 3}, 2, 0, {AT(4096, 4, 8, 800), AT(4100, 4, 8, 1600)}, "general - -"},
    {{100, 3}, 2, 0, {AT(4096, 4, 8, 1600), AT(4100, 4, 8, 1600)}, "rows a0/8 a4/8"},
    {{4, 3}, 2, 0, {AT(4096, 4, 8, 1600), AT(4100, 4, 8, 1600)}, "general a0/8 a4/8"},
    /* A field that is not at a multiple of its size from the first. */
    {{100}, 3, 0, {AT(4098, 2, 8), AT(4100, 4, 8), AT(4096, 2, 8)}, "flat c2/8 c4/8 c0/8"},
    {{100}, 2, 0, {AT(4098, 2, 8), AT(4100, 4, 8)}, "general - -"},
    /* Addresses that are not known. */
    {{100}, 2, 0, {AT(0, 4, 8), AT(0, 4, 8)}, "general - -"},
    {{100}, 3, 0, {AT(0, 4, 12), AT(4100, 4, 12), AT(4104, 4, 12)}, "general - b0/12 b4/12"},
    /* The end of one record and the beginning of the next are a record too. */
    {{100}, 2, 0, {AT(4100, 4, 8), AT(4096 + 8, 4, 8)}, "flat a0/8 a4/8"},
};

static void describe(const layout *l, loop_class loop, char *out) {
    static const char *const names[] = {[LOOP_FLAT] = "flat", [LOOP_ROWS] = "rows", [LOOP_GENERAL] = "general"};
    out += sprintf(out, "%s", names[loop]);
    for (int k = 0; k < l->loop.narrays; k++)
        if (l->member[k].group)
            out += sprintf(out, " %c%d/%d", 'a' + l->member[k].group - 1, l->member[k].offset, l->member[k].record);
        else
            out += sprintf(out, " -");
}

static void test_table(void **unused) {
    (void)unused;
    for (size_t c = 0; c < COUNT(cases); c++) {
        layout l = {.loop = {0}};
        char got[256];
        int64_t steps[ARRAYS][DIMS];
        int n = cases[c].nin + cases[c].nout;
        for (int k = 0; k < n; k++) {
            memcpy(steps[k], cases[c].arrays[k].steps, sizeof steps[k]);
            l.place[k] = (nd_place){cases[c].arrays[k].address, (uint8_t)cases[c].arrays[k].size,
                                    (uint8_t)cases[c].arrays[k].size};
        }
        describe(&l, find(&l, n, cases[c].nin, cases[c].nout, cases[c].extents, steps), got);
        if (strcmp(got, cases[c].found))
            fail_msg("case %zu: \"%s\", not \"%s\"", c, got, cases[c].found);
    }
}

static void test_alignment(void **unused) {
    static const struct {
        uintptr_t address;
        int64_t steps[DIMS];
        int align;
    } rows[] = {
        {4096, {16, 1600}, 4}, {4104, {16, 1600}, 3}, {4100, {16, 1600}, 2},  {4096, {12, 1200}, 2},
        {4096, {24, 2400}, 3}, {4096, {16, 1608}, 3}, {4096, {32, -6400}, 4},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        layout l = {.place = {{rows[i].address, 4, 4}, {rows[i].address + 4, 4, 4}, {rows[i].address + 8, 4, 4}}};
        l.place[3] = (nd_place){rows[i].address + (rows[i].steps[0] > 12 ? 12 : 0), 4, 4};
        int64_t steps[ARRAYS][DIMS];
        for (int k = 0; k < 4; k++)
            memcpy(steps[k], rows[i].steps, sizeof steps[k]);
        find(&l, 4, 4, 0, (int64_t[]){100, 5, 0}, steps);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(l.member[k].group, 1);
            assert_int_equal(l.member[k].align, rows[i].align);
        }
    }
}

/* What nd.h promises, for any places and strides. */
static void test_promises(void **unused) {
    static const int64_t some[] = {4, 8, 8, 12, 16, 16, 24, 48, 160, -16};
    int grouped = 0;
    (void)unused;
    for (int64_t i = 0; i < trials(20000); i++) {
        layout l = {.loop = {0}};
        int n = (int)pick(1, ARRAYS), nin = (int)pick(0, n), nout = n - nin - (n > nin && chance(20));
        int64_t steps[ARRAYS][DIMS], extents[DIMS] = {pick(2, 40), chance(50) ? pick(2, 9) : 0, 0};
        for (int k = 0; k < n; k++) {
            int size = 1 << pick(0, 3);
            for (int d = 0; d < DIMS; d++)
                steps[k][d] = some[pick(0, (int64_t)COUNT(some) - 1)] / size * size;
            if (k && chance(60))
                memcpy(steps[k], steps[k - 1], sizeof steps[k]);
            for (int d = 0; d < DIMS; d++)
                while (steps[k][d] % size)
                    size /= 2;
            l.place[k] = (nd_place){0x10000 + (uintptr_t)(pick(0, 6) * 8 + pick(0, 1) * 4096) / (uintptr_t)size *
                                                  (uintptr_t)size,
                                    (uint8_t)size, (uint8_t)size};
        }
        loop_class found = find(&l, n, nin, nout, extents, steps);
        bool strided = false;
        for (int k = 0; k < n; k++) {
            const nd_member *m = &l.member[k];
            strided |= l.loop.kind[k] == OPERAND_STRIDED && !m->record;
            if (!m->group)
                continue;
            int first = m->group - 1;
            bool covered[ND_RECORD_MAX] = {false};
            assert_true(k < nin + nout && (k < nin) == (first < nin) && l.loop.kind[k] == OPERAND_STRIDED);
            assert_int_equal(l.member[first].group, first + 1);
            assert_int_equal(l.member[first].offset, 0);
            assert_int_equal(l.place[first].address + m->offset, l.place[k].address);
            assert_int_equal(m->offset % l.place[k].align, 0);
            assert_memory_equal(steps[k], steps[first], (size_t)l.loop.ndim * sizeof steps[k][0]);
            int64_t most = INT64_MAX;
            for (int d = 0; d < l.loop.ndim; d++)
                most = steps[k][d] && llabs(steps[k][d]) < most ? llabs(steps[k][d]) : most;
            assert_true(m->offset + l.place[k].size <= (most < ND_RECORD_MAX ? most : ND_RECORD_MAX));
            int reach = 0;
            for (int j = 0; j < n; j++)
                for (int b = 0; l.member[j].group == m->group && b < l.place[j].size; b++)
                    covered[l.member[j].offset + b] = true;
            for (int j = 0; j < n; j++)
                if (l.member[j].group == m->group && l.member[j].offset + l.place[j].size > reach)
                    reach = l.member[j].offset + l.place[j].size;
            int bytes = 0;
            for (int b = 0; b < ND_RECORD_MAX; b++)
                bytes += covered[b];
            int64_t inner = steps[k][0];
            assert_true(bytes > l.place[first].size && 2 * bytes >= reach);
            assert_int_equal(m->record, inner > 0 && inner <= ND_RECORD_MAX && 2 * bytes >= inner ? inner : 0);
            grouped++;
        }
        assert_int_equal(found, nd_loop_class(&l.loop, strided));
    }
    assert_true(trials(1) < 1 || grouped > 1000);
}

/* Views of one array of records do not overlap, whatever the rows, and are told to be so without a search. */
static void test_fields_are_apart(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(2000); i++) {
        layout l = {.loop = {0}};
        int size[2] = {1 << pick(0, 3), 1 << pick(0, 3)}, record = 8 * (int)pick(2, 6);
        int64_t steps[ARRAYS][DIMS];
        char *at[2];
        for (int k = 0; k < 2; k++) {
            l.place[k] = (nd_place){0, (uint8_t)size[k], 1};
            steps[k][0] = record;
            steps[k][1] = record * pick(-9, 9);
            at[k] = (char *)(uintptr_t)(0x100000 + pick(0, record / size[k] - 1) * size[k]);
        }
        memset(l.offset, 0, sizeof l.offset);
        find(&l, 2, 2, 0, (int64_t[]){pick(2, 30), pick(2, 6), 0}, steps);
        bool apart = at[0] + size[0] <= at[1] || at[1] + size[1] <= at[0];
        nd_overlap how = nd_compare(&l.loop, 0, at[0], size[0], 1, at[1], size[1]);
        if (apart)
            assert_int_equal(how, ND_DISJOINT);
        else
            assert_int_not_equal(how, ND_DISJOINT); /* their first elements share a byte */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_fields_are_apart),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
