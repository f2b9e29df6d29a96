/* test_cuda_layout.c - how loops are laid out over blocks, threads and parameter words, against an interpreter of the layout
 * that type/variant.h documents: it reads nothing but the words, the grid and the variant, in the kernel's own 32- and
 * 64-bit arithmetic, and must meet every element of the loop exactly once, at the addresses an odometer finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cuda/code.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

__extension__ typedef unsigned __int128 wide;

/* ---- Cases ---- */

enum {
    MAX_ARRAYS = 6,
    MAX_RANK = 6,
    MAX_ELEMENTS = 20000
};

typedef struct sample {
    variant v;
    nd_loop loop;
    launch l;
    int64_t extent[MAX_RANK], stride[MAX_RANK * MAX_ARRAYS], offset[MAX_ARRAYS];
    char *data[MAX_ARRAYS];
    uint64_t numbers[MAX_ARRAYS][2];
    code_traits size;
    unsigned block;
    int sms;
    grid g;
    uint64_t words[PARAMETERS_MAX];
} sample;

static sample the_sample;

static void sample_begin(sample *s, loop_class loop, int ndim) {
    memset(s, 0, sizeof *s);
    s->v.loop = (uint8_t)loop;
    s->v.nin = (uint8_t)pick(0, 3);
    s->v.nout = (uint8_t)pick(1, 2);
    s->v.masked = chance(20);
    s->loop = (nd_loop){.ndim = ndim,
                        .narrays = variant_operands(&s->v),
                        .count = 1,
                        .extent = s->extent,
                        .stride = s->stride,
                        .offset = s->offset,
                        .loop = loop};
    s->l = (launch){.v = &s->v, .loop = &s->loop, .data = s->data, .numbers = (const uint64_t(*)[2])s->numbers};
    s->size = (code_traits){.nodes = (int)pick(1, chance(20) ? 3000 : 30), .has_loop = chance(10)};
    s->block = 32u << pick(0, 3);
    s->sms = (int)pick(1, chance(50) ? 4 : 200);
}

/* Elements in one access, and vectors, rows or elements that a thread takes, by class. */
static int vector_of(const variant *v) {
    return v->loop == LOOP_FLAT     ? v->flat.vector
           : v->loop == LOOP_ROWS   ? v->rows.vector
           : v->general.vector != 0 ? v->general.vector
                                    : 1;
}
static int repeat_of(const variant *v) {
    return v->loop == LOOP_FLAT   ? v->flat.vectors_per_thread
           : v->loop == LOOP_ROWS ? v->rows.rows_per_thread
                                  : v->general.elements_per_thread / vector_of(v);
}

static bool is_output(const sample *s, int k) { return k >= s->v.nin && k < s->v.nin + s->v.nout; }

/* Dtypes, kinds along dimension 0, and addresses; strides of dimension 0 accordingly. */
static void sample_operands(sample *s, bool strided) {
    int n = s->loop.narrays;
    for (int k = 0; k < n; k++) {
        variant_operand *o = &s->v.operand[k];
        bool mask = k == s->v.nin + s->v.nout;
        o->memory = o->value = (uint8_t)(mask ? DT_BOOL : pick(0, DT_COUNT - 1));
        o->kind = strided && chance(60)                ? OPERAND_STRIDED
                  : is_output(s, k)                    ? OPERAND_CONTIGUOUS
                  : !mask && chance(15)                ? OPERAND_NUMBER
                  : chance(s->loop.ndim > 1 ? 30 : 15) ? OPERAND_CONSTANT
                                                       : OPERAND_CONTIGUOUS;
        s->loop.kind[k] = o->kind;
        s->stride[k] = o->kind == OPERAND_STRIDED ? pick(-9, 9) : o->kind == OPERAND_CONTIGUOUS;
        s->data[k] = NULL;
        if (o->kind == OPERAND_NUMBER)
            for (int i = 0; i < 2; i++)
                s->numbers[k][i] = draw_bits() << 32 | draw_bits();
    }
}

/* Addresses: mostly aligned for vectors, sometimes shifted by a common number of elements, sometimes each by its own. */
static void sample_addresses(sample *s) {
    int64_t common = chance(40) ? pick(0, 20) : 0;
    bool own = chance(20);
    for (int k = 0; k < s->loop.narrays; k++) {
        const dtype_info *t = &dtypes[s->v.operand[k].memory];
        int64_t shift = (own ? pick(0, 20) : common) * t->size;
        if (t->align < t->size && chance(20))
            shift += t->align;
        if (s->v.operand[k].kind != OPERAND_NUMBER)
            s->data[k] = (char *)(uintptr_t)(0x7f0000000000 + 0x100000000 * k + shift);
    }
}

static void sample_finish(sample *s) {
    for (int d = 0; d < s->loop.ndim; d++)
        s->loop.count *= s->extent[d];
    sample_addresses(s);
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->size});
    assert_int_equal(gpu_layout(&s->l, &(occupancy){.block = s->block, .sms = s->sms}, s->words, &s->g), UF_OK);
    assert_int_equal(s->g.parameters, schema_count(&s->v, NULL, true));
    assert_true(s->g.threads >= 32 && s->g.threads <= s->block && !(s->g.threads & (s->g.threads - 1)));
    assert_true(s->g.blocks >= 1 && s->g.blocks <= INT32_MAX);
}

static void sample_flat(sample *s) {
    sample_begin(s, LOOP_FLAT, 1);
    s->extent[0] = chance(20)   ? pick(1, 6)
                   : chance(30) ? pick(1, 40)
                   : chance(50) ? pick(1, MAX_ELEMENTS)
                                : pick(1, 8) * 1024 + pick(-1, 1);
    sample_operands(s, false);
    sample_finish(s);
}

/* Strides of dimensions from 1 on: dense, padded, swapped, constant or backwards for inputs. */
static void sample_strides(sample *s, bool any) {
    int n = s->loop.narrays;
    for (int k = 0; k < n; k++) {
        int64_t dense = s->extent[0] * (s->stride[k] ? llabs(s->stride[k]) : 1), pad = chance(30) ? pick(1, 16) : 0;
        for (int d = 1; d < s->loop.ndim && s->v.operand[k].kind != OPERAND_NUMBER; d++) {
            int64_t *stride = &s->stride[d * n + k];
            *stride = dense + pad;
            if (!is_output(s, k) && chance(35))
                *stride = 0;
            else if (any && chance(30))
                *stride = pick(-100, 100);
            else if (chance(10))
                *stride = -*stride;
            dense = llabs(dense + pad) * s->extent[d];
        }
    }
}

static void sample_rows(sample *s) {
    sample_begin(s, LOOP_ROWS, (int)pick(2, MAX_RANK));
    int64_t left = MAX_ELEMENTS;
    for (int d = 0; d < s->loop.ndim; d++) {
        int64_t most = d == 0 ? (chance(20) ? 3000 : 150) : d == 1 && chance(50) ? 100 : 6;
        s->extent[d] = pick(2, most < left ? most : left);
        left /= s->extent[d];
        if (left < 2)
            s->loop.ndim = d + 1;
    }
    sample_operands(s, false);
    sample_strides(s, false);
    sample_finish(s);
}

static void sample_general(sample *s) {
    sample_begin(s, LOOP_GENERAL, (int)pick(1, MAX_RANK));
    int64_t left = MAX_ELEMENTS;
    for (int d = 0; d < s->loop.ndim; d++) {
        s->extent[d] = pick(2, left < 60 ? left : 60);
        left /= s->extent[d];
        if (left < 2)
            s->loop.ndim = d + 1;
    }
    sample_operands(s, true);
    sample_strides(s, true);
    sample_finish(s);
}

/* ---- The interpreter ---- */

/* Reads the parameters as a kernel would, row by row of the schema. */
typedef struct reader {
    const sample *s;
    parameter_cursor next;
} reader;

static reader reader_begin(const sample *s) { return (reader){s, parameters_begin(&s->v, NULL, true)}; }

static uint64_t parameter(reader *r, parameter_id id) {
    int at = r->next.number;
    assert_true(at < (int)r->s->g.parameters);
    parameter_next(&r->next, id);
    return r->s->words[at];
}

typedef struct divisor {
    uint64_t extent, magic, shift;
} divisor;

static divisor read_divisor(reader *r, parameter_id id) {
    divisor d;
    d.extent = parameter(r, id);
    d.magic = parameter(r, id);
    d.shift = parameter(r, id);
    return d;
}

/* As a kernel computes it: 32 bits wrap. */
static uint64_t divide(const divisor *d, uint64_t x, bool is_wide, uint64_t *rest) {
    uint64_t q;
    if (is_wide) {
        q = ((uint64_t)((wide)x * d->magic >> 64) + x) >> d->shift;
    } else {
        assert_true(x <= UINT32_MAX && d->magic <= UINT32_MAX && d->extent <= UINT32_MAX && d->shift < 32);
        q = (uint32_t)((uint32_t)(x * d->magic >> 32) + (uint32_t)x) >> d->shift;
    }
    assert_true(q == x / d->extent);
    *rest = x - q * d->extent;
    return q;
}

typedef struct machine {
    const sample *s;
    uint64_t base[MAX_ARRAYS];
    int64_t stride[MAX_ARRAYS][MAX_RANK];
    reader after; /* the operands */
    uint8_t *seen;
} machine;

static void read_operands(machine *m, const sample *s, uint8_t *seen) {
    reader r = reader_begin(s);
    *m = (machine){.s = s, .seen = seen};
    for (int k = 0; k < s->loop.narrays; k++) {
        const variant_operand *o = &s->v.operand[k];
        m->base[k] = parameter(&r, PARAMETER_OPERANDS);
        if (o->kind == OPERAND_NUMBER) {
            assert_true(m->base[k] == s->numbers[k][0]);
            if (o->value == DT_COMPLEX128)
                assert_true(parameter(&r, PARAMETER_OPERANDS) == s->numbers[k][1]);
        }
    }
    m->after = r;
}

static void read_strides(machine *m, reader *r, parameter_id id, int first) {
    for (int k = 0; k < m->s->loop.narrays; k++)
        for (int d = first; d < m->s->loop.ndim && m->s->v.operand[k].kind != OPERAND_NUMBER; d++)
            m->stride[k][d] = (int64_t)parameter(r, id);
}

/* Element `which` of the loop (dimension 0 fastest) is met at these addresses. */
static void meet(machine *m, int64_t which, const uint64_t *address) {
    const sample *s = m->s;
    int64_t rest = which;
    uint64_t expected[MAX_ARRAYS];
    assert_true(which >= 0 && which < s->loop.count);
    for (int k = 0; k < s->loop.narrays; k++)
        expected[k] = (uint64_t)(uintptr_t)s->data[k];
    for (int d = 0; d < s->loop.ndim; d++, rest /= s->extent[d - 1])
        for (int k = 0; k < s->loop.narrays; k++)
            expected[k] += (uint64_t)(rest % s->extent[d] * s->stride[d * s->loop.narrays + k] *
                                      dtypes[s->v.operand[k].memory].size);
    for (int k = 0; k < s->loop.narrays; k++)
        if (s->v.operand[k].kind != OPERAND_NUMBER)
            assert_true(address[k] == expected[k]);
    if (m->seen) {
        assert_int_equal(m->seen[which], 0);
        m->seen[which] = 1;
    }
}

static uint64_t size_of(const sample *s, int k) { return dtypes[s->v.operand[k].memory].size; }

/* ---- flat ---- */

static void meet_flat(machine *m, int64_t i) {
    uint64_t address[MAX_ARRAYS];
    for (int k = 0; k < m->s->loop.narrays; k++)
        address[k] = m->base[k] + (m->s->v.operand[k].kind == OPERAND_CONTIGUOUS ? (uint64_t)i * size_of(m->s, k) : 0);
    meet(m, i, address);
}

static void assert_aligned(const sample *s, int64_t i) {
    for (int k = 0; k < s->loop.narrays; k++)
        if (s->v.operand[k].kind == OPERAND_CONTIGUOUS)
            assert_int_equal(((uintptr_t)s->data[k] + (uint64_t)i * size_of(s, k)) % (vector_of(&s->v) * size_of(s, k)),
                             0);
}

/* The head by trying: the first index below `vector` at which all operands are aligned. */
static int64_t search_head(const sample *s) {
    for (int64_t h = 0; h < vector_of(&s->v); h++) {
        bool all = true;
        for (int k = 0; k < s->loop.narrays; k++)
            if (s->v.operand[k].kind == OPERAND_CONTIGUOUS)
                all &= ((uintptr_t)s->data[k] + (uint64_t)h * size_of(s, k)) % (vector_of(&s->v) * size_of(s, k)) == 0;
        if (all)
            return h <= s->loop.count ? h : -1;
    }
    return -1;
}

/* Blocks first .. end - 1. */
static void run_flat(machine *m, int64_t first, int64_t end) {
    const sample *s = m->s;
    reader r = m->after;
    int64_t n = (int64_t)parameter(&r, GPU_FLAT_ELEMENTS), head = (int64_t)parameter(&r, GPU_FLAT_HEAD);
    int64_t from = head < 0 ? 0 : head;
    int64_t tile = (int64_t)s->g.threads * vector_of(&s->v) * repeat_of(&s->v);
    assert_true(parameters_ended(&r.next));
    assert_int_equal(n, s->loop.count);
    assert_int_equal(head, search_head(s));
    assert_true(head < s->g.threads);
    assert_int_equal((int64_t)s->g.blocks, (n + tile - 1) / tile);
    for (int64_t b = first; b < end; b++) {
        if (head >= 0 && from + (b + 1) * tile <= n) /* whole: by vectors */
            assert_aligned(s, from + b * tile);
        for (int64_t i = b * tile; i < (b + 1) * tile && i < n; i++)
            meet_flat(m, (from + i) % n);
    }
}

/* ---- rows ---- */

typedef struct row_tile {
    int64_t columns, rows, column, row; /* the loop's extents; the tile's first */
    int64_t outer;                      /* number of the plane */
    unsigned shift;
    bool vectors;
} row_tile;

static void row_element(machine *m, const row_tile *t, const uint64_t *plane, int64_t row, int64_t column) {
    uint64_t address[MAX_ARRAYS];
    const sample *s = m->s;
    if (row >= t->rows || column >= t->columns)
        return;
    for (int k = 0; k < s->loop.narrays; k++) {
        if (s->v.operand[k].fixed)
            assert_true(m->stride[k][1] == 0);
        int64_t offset = row * m->stride[k][1] + (s->v.operand[k].kind == OPERAND_CONTIGUOUS ? column : 0);
        address[k] = plane[k] + (uint64_t)offset * size_of(s, k);
    }
    meet(m, column + t->columns * (row + t->rows * t->outer), address);
}

static bool row_is_aligned(const sample *s, const uint64_t *plane, const machine *m, int64_t row) {
    for (int k = 0; k < s->loop.narrays; k++)
        if (s->v.operand[k].kind == OPERAND_CONTIGUOUS &&
            (plane[k] + (uint64_t)(row * m->stride[k][1]) * size_of(s, k)) % (vector_of(&s->v) * size_of(s, k)))
            return false;
    return true;
}

/* Every thread of one block. */
static void row_block(machine *m, const row_tile *t, const uint64_t *plane) {
    const sample *s = m->s;
    int64_t lanes = (int64_t)1 << t->shift, across = s->g.threads >> t->shift;
    for (int64_t thread = 0; thread < s->g.threads; thread++)
        for (int64_t g = 0; g < repeat_of(&s->v); g++)
            for (int64_t i = 0; i < vector_of(&s->v); i++) {
                int64_t lane = thread & (lanes - 1), row = t->row + (thread >> t->shift) + g * across;
                int64_t column = t->column + (t->vectors ? lane * vector_of(&s->v) + i : lane + i * lanes);
                if (t->vectors && row < t->rows && i == 0 && column < t->columns)
                    assert_true(row_is_aligned(s, plane, m, row));
                row_element(m, t, plane, row, column);
            }
}

static void run_rows(machine *m, int64_t first, int64_t end) {
    const sample *s = m->s;
    reader r = m->after;
    row_tile t = {.columns = (int64_t)parameter(&r, GPU_ROWS_EXTENTS)};
    t.rows = (int64_t)parameter(&r, GPU_ROWS_EXTENTS);
    t.shift = (unsigned)parameter(&r, GPU_ROWS_SHIFT);
    t.vectors = parameter(&r, GPU_ROWS_VECTORS) != 0;
    assert_true(1u << t.shift <= s->g.threads);
    divisor across = read_divisor(&r, GPU_ROWS_ACROSS), down = read_divisor(&r, GPU_ROWS_DOWN), outer[MAX_RANK];
    for (int d = 2; d < s->v.ndim - 1; d++)
        outer[d] = read_divisor(&r, GPU_ROWS_OUTER);
    read_strides(m, &r, GPU_ROWS_STRIDES, 1);
    assert_true(parameters_ended(&r.next));
    for (int64_t b = first; b < end; b++) {
        uint64_t tile, row_tile_number = 0, index, plane[MAX_ARRAYS];
        uint64_t rest = divide(&across, (uint64_t)b, false, &tile);
        if (s->v.ndim > 2)
            rest = divide(&down, rest, false, &row_tile_number);
        else
            row_tile_number = rest;
        t.column = (int64_t)tile * ((int64_t)vector_of(&s->v) << t.shift);
        t.row = (int64_t)row_tile_number * (s->g.threads >> t.shift) * repeat_of(&s->v);
        t.outer = s->v.ndim > 2 ? (int64_t)rest : 0;
        memcpy(plane, m->base, sizeof plane);
        for (int d = 2; d < s->v.ndim; d++) {
            index = rest;
            if (d < s->v.ndim - 1)
                rest = divide(&outer[d], rest, false, &index);
            for (int k = 0; k < s->loop.narrays; k++)
                plane[k] += (uint64_t)((int64_t)index * m->stride[k][d]) * size_of(s, k);
        }
        assert_true(t.column < t.columns && t.row < t.rows);
        row_block(m, &t, plane);
    }
}

/* Is the flag right? By looking at every row. */
static void check_vectors_flag(machine *m) {
    const sample *s = m->s;
    int64_t rows = s->loop.count / s->extent[0];
    bool all = true;
    for (int64_t row = 0; row < rows; row++)
        for (int k = 0; k < s->loop.narrays; k++) {
            uint64_t at = m->base[k];
            int64_t rest = row;
            for (int d = 1; d < s->loop.ndim; d++, rest /= s->extent[d - 1])
                at += (uint64_t)(rest % s->extent[d] * m->stride[k][d]) * size_of(s, k);
            if (s->v.operand[k].kind == OPERAND_CONTIGUOUS)
                all &= at % (vector_of(&s->v) * size_of(s, k)) == 0;
        }
    assert_int_equal(s->words[schema_place(&s->v, NULL, true, GPU_ROWS_VECTORS)], all);
}

/* ---- general ---- */

/* Of operands that are accessed by vectors. */
static void assert_units_aligned(const sample *s, const uint64_t *address) {
    for (int k = 0; k < s->loop.narrays; k++)
        if (s->v.operand[k].unit)
            assert_int_equal(address[k] % ((uint64_t)s->v.general.vector * size_of(s, k)), 0);
}

/* All outputs, and no element of a row but of two, where the code counts on that. */
static void check_neighbours(const sample *s) {
    const variant *v = &s->v;
    assert_true(v->general.vector > 1 && v->general.elements_per_thread % v->general.vector == 0 &&
                !(v->masked && s->size.has_loop));
    if (v->general.rows)
        assert_true(s->loop.ndim == 1 || s->extent[0] >= v->general.vector);
    for (int k = v->nin; k < v->nin + v->nout; k++)
        assert_true(v->operand[k].unit);
}

static void run_general(machine *m, int64_t first, int64_t end) {
    const sample *s = m->s;
    reader r = m->after;
    int64_t n = (int64_t)parameter(&r, GPU_GENERAL_ELEMENTS);
    divisor extent[MAX_RANK];
    for (int d = 0; d < s->v.ndim - 1; d++)
        extent[d] = read_divisor(&r, GPU_GENERAL_EXTENTS);
    read_strides(m, &r, GPU_GENERAL_STRIDES, 0);
    if (s->v.general.vector)
        check_neighbours(s);
    bool vectors = s->v.general.vector && parameter(&r, GPU_GENERAL_ALIGNED);
    assert_true(parameters_ended(&r.next));
    assert_int_equal(n, s->loop.count);
    for (int64_t b = first; b < end; b++)
        for (int64_t i = 0; i < (int64_t)s->g.threads * s->v.general.elements_per_thread; i++) {
            int64_t which = b * s->g.threads * s->v.general.elements_per_thread + i;
            if (!s->v.wide)
                assert_true(which <= INT32_MAX);
            if (which >= n)
                continue;
            uint64_t rest = (uint64_t)which, index, address[MAX_ARRAYS];
            int64_t offset[MAX_ARRAYS] = {0};
            for (int d = 0; d < s->v.ndim; d++) {
                index = rest;
                if (d < s->v.ndim - 1)
                    rest = divide(&extent[d], rest, s->v.wide, &index);
                for (int k = 0; k < s->loop.narrays; k++)
                    offset[k] += (int64_t)index * m->stride[k][d];
            }
            for (int k = 0; k < s->loop.narrays; k++) {
                if (!s->v.wide)
                    assert_true(offset[k] == (int32_t)offset[k]);
                address[k] = m->base[k] + (uint64_t)offset[k] * size_of(s, k);
                if (s->v.operand[k].unit)
                    assert_true(offset[k] == which);
            }
            meet(m, which, address);
            if (vectors && which % s->v.general.vector == 0)
                assert_units_aligned(s, address);
        }
}

/* ---- Tests ---- */

static void run_all(const sample *s) {
    static uint8_t seen[MAX_ELEMENTS];
    machine m;
    assert_true(s->loop.count <= (int64_t)sizeof seen);
    memset(seen, 0, (size_t)s->loop.count);
    read_operands(&m, s, seen);
    switch ((loop_class)s->v.loop) {
    case LOOP_FLAT:
        run_flat(&m, 0, s->g.blocks);
        break;
    case LOOP_ROWS:
        run_rows(&m, 0, s->g.blocks);
        check_vectors_flag(&m);
        break;
    default:
        run_general(&m, 0, s->g.blocks);
    }
    for (int64_t i = 0; i < s->loop.count; i++)
        assert_int_equal(seen[i], 1);
}

static void repeat(void (*make)(sample *), int times, int *vectors, int *classes) {
    sample *s = &the_sample;
    for (int i = 0; i < times; i++) {
        uint64_t before = draw_state;
        make(s);
        if (getenv("UF_VERBOSE"))
            print_message("state %llu class %d count %lld\n", (unsigned long long)before, s->v.loop,
                          (long long)s->loop.count);
        run_all(s);
        *vectors += vector_of(&s->v) > 1;
        classes[s->v.loop]++;
    }
}

static void test_flat(void **unused) {
    int vectors = 0, classes[LOOP_CLASSES] = {0};
    (void)unused;
    repeat(sample_flat, 300, &vectors, classes);
    assert_true(vectors > 50 && classes[LOOP_FLAT] == 300);
}

static void test_rows(void **unused) {
    int vectors = 0, classes[LOOP_CLASSES] = {0};
    (void)unused;
    repeat(sample_rows, 300, &vectors, classes);
    assert_true(vectors > 50 && classes[LOOP_ROWS] > 150 && classes[LOOP_GENERAL] > 0);
}

static void test_general(void **unused) {
    int vectors = 0, classes[LOOP_CLASSES] = {0};
    (void)unused;
    repeat(sample_general, 1500, &vectors, classes);
    assert_true(classes[LOOP_GENERAL] == 1500 && vectors > 25 && vectors < 1450); /* some 75 */
}

/* Loops too large to walk: some blocks, the first and the last among them. */
static void run_some(const sample *s) {
    machine m;
    read_operands(&m, s, NULL);
    for (int i = 0; i < 20; i++) {
        int64_t b = i == 0 ? 0 : i == 1 ? (int64_t)s->g.blocks - 1 : pick(0, (int64_t)s->g.blocks - 1);
        (s->v.loop == LOOP_FLAT ? run_flat : s->v.loop == LOOP_ROWS ? run_rows : run_general)(&m, b, b + 1);
    }
}

static void test_huge(void **unused) {
    sample *s = &the_sample;
    int wides = 0;
    (void)unused;
    for (int i = 0; i < 60; i++) {
        loop_class loop = (loop_class)(i % 3);
        sample_begin(s, loop, loop == LOOP_FLAT ? 1 : (int)pick(2, 4));
        s->block = 256;
        for (int d = 0; d < s->loop.ndim; d++)
            s->extent[d] = loop == LOOP_FLAT ? pick(1, (int64_t)1 << 36) : pick(2, 1 << (d == 0 ? 16 : 5));
        if (loop != LOOP_FLAT && chance(50))
            s->extent[1] = pick(1 << 8, 1 << 12);
        sample_operands(s, loop == LOOP_GENERAL);
        sample_strides(s, false);
        sample_finish(s);
        run_some(s);
        wides += s->v.wide;
    }
    assert_true(wides > 0);
}

/* The largest loops that 32 bits serve, and the smallest that they do not. */
static void test_narrow(void **unused) {
    static const struct {
        int64_t extent[2], stride[2];
        bool wide;
    } cases[] = {
        {{1 << 15, 1 << 15}, {2, 1 << 16}, false},
        {{1 << 15, (1 << 16) - 4}, {0, 1}, false},
        {{1 << 15, 1 << 16}, {0, 1}, true},
        {{2, 2}, {1, INT32_MAX - 1}, false},
        {{2, 2}, {1, INT32_MAX}, true},
        {{2, 2}, {-1, -(int64_t)INT32_MAX}, true},
        {{2, 2}, {-1, -(int64_t)INT32_MAX + 1}, false},
        {{2, 2}, {INT64_MIN, 1}, true},
        {{1 << 30, 1}, {4, 1}, true},
    };
    sample *s = &the_sample;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        sample_begin(s, LOOP_GENERAL, 2);
        s->v.nin = 0;
        s->v.nout = 1;
        s->v.masked = 0;
        s->loop.narrays = 1;
        s->v.operand[0] = (variant_operand){.memory = DT_FLOAT32, .value = DT_FLOAT32, .kind = OPERAND_STRIDED};
        for (int d = 0; d < 2; d++) {
            s->extent[d] = cases[i].extent[d];
            s->stride[d] = cases[i].stride[d];
        }
        s->loop.count = s->extent[0] * s->extent[1];
        gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->size});
        assert_int_equal(s->v.wide, cases[i].wide);
    }
}

/* clang-format off */
#define FLOATS {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}
/* clang-format on */

/* What is chosen for the bodies and types that matter. */
static void test_choices(void **unused) {
    static const struct {
        loop_class loop;
        int ndim;
        int64_t extent[3], row[3]; /* strides of dimension 1 of the operands */
        dtype type[3];             /* two inputs, one output */
        operand_kind kind[3];
        struct {
            int nodes, has_loop;
        } size;
        loop_class expect;
        int vector, repeat, fixed;
    } cases[] = {
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {0, 0, 0}, {5, 0}, LOOP_FLAT, 4, 1, 0},
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {0, 1, 0}, {5, 0}, LOOP_FLAT, 4, 2, 0},
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {0, OPERAND_NUMBER, 0}, {5, 0}, LOOP_FLAT, 4, 2, 0},
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {1, 1, 0}, {5, 0}, LOOP_FLAT, 4, 1, 0},
        {LOOP_FLAT, 1, {1000}, {0}, {DT_INT8, DT_INT8, DT_INT8}, {0, 0, 0}, {5, 0}, LOOP_FLAT, 16, 1, 0},
        {LOOP_FLAT, 1, {1000}, {0}, {DT_INT8, DT_INT8, DT_FLOAT64}, {0, 0, 0}, {5, 0}, LOOP_FLAT, 2, 4, 0},
        {LOOP_FLAT, 1, {1000}, {0}, {DT_COMPLEX64, DT_COMPLEX64, DT_COMPLEX64}, {0, 0, 0}, {5, 0}, LOOP_FLAT, 2, 1, 0},
        {LOOP_FLAT,
         1,
         {1000},
         {0},
         {DT_COMPLEX128, 0, DT_COMPLEX128},
         {0, OPERAND_NUMBER, 0},
         {5, 0},
         LOOP_FLAT,
         1,
         2,
         0},
        {LOOP_FLAT, 1, {1000}, {0}, {DT_FLOAT32, DT_FLOAT64, DT_FLOAT32}, {0, 1, 0}, {5, 0}, LOOP_FLAT, 4, 2, 0},
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {0, 0, 0}, {5, 1}, LOOP_FLAT, 1, 1, 0},
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {0, 1, 0}, {300, 0}, LOOP_FLAT, 4, 1, 0},
        {LOOP_FLAT, 1, {1000}, {0}, FLOATS, {0, 1, 0}, {2000, 0}, LOOP_FLAT, 1, 1, 0},
        /* (m, 1) op (1, n): the row stays in registers */
        {LOOP_ROWS, 2, {1000, 999}, {1, 0, 1000}, FLOATS, {1, 0, 0}, {5, 0}, LOOP_ROWS, 4, 8, 2},
        /* (m, n) op (n) */
        {LOOP_ROWS, 2, {1000, 999}, {1000, 0, 1000}, FLOATS, {0, 0, 0}, {5, 0}, LOOP_ROWS, 4, 4, 2},
        /* the same of rows that do not all begin where vectors may: neighbours of outputs without gaps */
        {LOOP_ROWS, 2, {999, 999}, {1, 0, 999}, FLOATS, {1, 0, 0}, {5, 0}, LOOP_GENERAL, 4, 2, 0},
        {LOOP_ROWS, 2, {999, 999}, {999, 0, 999}, FLOATS, {0, 0, 0}, {5, 0}, LOOP_GENERAL, 4, 1, 0},
        {LOOP_ROWS, 2, {999, 999}, {999, 0, 1003}, FLOATS, {0, 0, 0}, {5, 0}, LOOP_ROWS, 4, 4, 2},
        /* padded rows */
        {LOOP_ROWS, 2, {999, 999}, {1024, 1024, 1024}, FLOATS, {0, 0, 0}, {5, 0}, LOOP_ROWS, 4, 1, 0},
        {LOOP_ROWS, 2, {1000, 2}, {1, 0, 1000}, FLOATS, {1, 0, 0}, {5, 0}, LOOP_ROWS, 4, 2, 2},
        /* a plane that leaves most of a warp idle */
        {LOOP_ROWS, 3, {16, 2, 999}, {64, 64, 64}, FLOATS, {0, 0, 0}, {5, 0}, LOOP_GENERAL, 1, 4, 0},
        {LOOP_ROWS, 2, {(int64_t)1 << 40, 1 << 20}, {1, 0, 1}, FLOATS, {1, 0, 0}, {5, 0}, LOOP_GENERAL, 1, 4, 0},
        {LOOP_GENERAL, 1, {1000}, {0}, FLOATS, {2, 2, 2}, {5, 0}, LOOP_GENERAL, 1, 4, 0},
        {LOOP_GENERAL, 1, {1000}, {0}, FLOATS, {2, 2, 0}, {5, 0}, LOOP_GENERAL, 4, 2, 0},
        /* a byte beside words: as many as there are words in an access */
        {LOOP_GENERAL, 1, {1000}, {0}, {DT_FLOAT32, DT_FLOAT32, DT_INT8}, {2, 0, 0}, {5, 0}, LOOP_GENERAL, 4, 2, 0},
        /* elements that are near each other, and far */
        {LOOP_GENERAL, 2, {3, 1000}, {50, 3, 3}, FLOATS, {2, 0, 0}, {5, 0}, LOOP_GENERAL, 4, 1, 0},
        {LOOP_GENERAL, 2, {3, 1000}, {65, 3, 3}, FLOATS, {2, 0, 0}, {5, 0}, LOOP_GENERAL, 1, 4, 0},
        {LOOP_GENERAL, 2, {33, 1000}, {65, 33, 33}, FLOATS, {2, 0, 0}, {5, 0}, LOOP_GENERAL, 4, 1, 0},
        {LOOP_GENERAL, 1, {1000}, {0}, FLOATS, {2, 2, 2}, {5, 1}, LOOP_GENERAL, 1, 1, 0},
    };
    sample *s = &the_sample;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        sample_begin(s, cases[i].loop, cases[i].ndim);
        s->v.nin = 2;
        s->v.nout = 1;
        s->v.masked = 0;
        s->loop.narrays = 3;
        for (int k = 0; k < 3; k++) {
            s->v.operand[k] = (variant_operand){.memory = (uint8_t)cases[i].type[k],
                                                .value = (uint8_t)cases[i].type[k],
                                                .kind = (uint8_t)cases[i].kind[k]};
            s->stride[k] = cases[i].kind[k] == OPERAND_STRIDED ? 2 : cases[i].kind[k] == OPERAND_CONTIGUOUS;
            s->stride[3 + k] = cases[i].row[k];
            s->stride[6 + k] = 4096;
        }
        for (int d = 0; d < cases[i].ndim; d++)
            s->loop.count *= s->extent[d] = cases[i].extent[d];
        gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop,
                                              .traits = &(code_traits){.nodes = cases[i].size.nodes,
                                                                       .has_loop = cases[i].size.has_loop}});
        if (s->v.loop != cases[i].expect || vector_of(&s->v) != cases[i].vector || repeat_of(&s->v) != cases[i].repeat)
            fail_msg("case %zu: class %d, vector %d, repeat %d", i, s->v.loop, vector_of(&s->v), repeat_of(&s->v));
        for (int k = 0; k < 3; k++)
            assert_int_equal(s->v.operand[k].fixed, cases[i].fixed >> k & 1);
    }
}

/* A small loop is spread over the device; a large one has the blocks that occupancy asks for. */
static void test_spread(void **unused) {
    sample *s = &the_sample;
    (void)unused;
    for (int64_t n = 1; n < (int64_t)1 << 30; n = n * 3 + 1) {
        sample_begin(s, LOOP_FLAT, 1);
        s->v = (variant){.loop = LOOP_FLAT,
                         .nout = 1,
                         .operand = {{.memory = DT_FLOAT32, .value = DT_FLOAT32, .kind = OPERAND_CONTIGUOUS}}};
        s->loop.narrays = 1;
        s->extent[0] = n;
        s->stride[0] = 1;
        s->block = 256;
        s->sms = 132;
        s->size = (code_traits){.nodes = 1, .has_loop = true};
        sample_finish(s);
        assert_int_equal(s->g.threads, n > 131 * 256 ? 256 : n > 131 * 128 ? 128 : 64);
        assert_int_equal(s->g.blocks, (n + s->g.threads - 1) / s->g.threads);
    }
}

static void test_too_large(void **unused) {
    sample *s = &the_sample;
    (void)unused;
    sample_begin(s, LOOP_FLAT, 1);
    s->v = (variant){.loop = LOOP_FLAT,
                     .nout = 1,
                     .operand = {{.memory = DT_FLOAT32, .value = DT_FLOAT32, .kind = OPERAND_CONTIGUOUS}}};
    s->loop.narrays = 1;
    s->loop.count = s->extent[0] = INT64_MAX;
    s->stride[0] = 1;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->size});
    assert_int_equal(gpu_layout(&s->l, &(occupancy){.block = 256, .sms = 4}, s->words, &s->g), UF_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat),   cmocka_unit_test(test_rows),      cmocka_unit_test(test_general),
        cmocka_unit_test(test_huge),   cmocka_unit_test(test_narrow),    cmocka_unit_test(test_choices),
        cmocka_unit_test(test_spread), cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
