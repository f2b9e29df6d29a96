/* test_at.c - uf_at against plain loops: random ranks, index arrays, strides, dtypes, numbers, functions of one input; the order
 * of updates; overlap; what it refuses. On the CPU; the GPU where UF_TEST_GPU=1, where updates whose order matters are asked for
 * with UF_DETERMINISTIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "at_case.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "expect.h"

#include "define.h"
#include "draw.h"

/* ---- Random problems ---- */

static void send(at_case *p) {
    GOOD(view_send(&p->target));
    GOOD(view_send(&p->operand));
    for (int i = 0; i < p->nindices; i++)
        GOOD(view_send(&p->index[i]));
}

static void random_problems(void **state) {
    (void)state;
    uf_func *f[AT_RULES];
    for (int i = 0; i < AT_RULES; i++)
        f[i] = make(NULL, at_rules[i].source);
    for (int64_t i = trials(150); i > 0; i--) {
        at_case p;
        DLTensor indices[AT_INDICES];
        at_draw(&p, views_on_gpu());
        send(&p);
        for (int k = 0; k < p.nindices; k++)
            indices[k] = p.index[k].used;
        DLTensor operand = p.operand.used,
                 value = {.data = p.value, .device = {kDLCPU, 0}, .dtype = p.operand.host.dtype};
        OK(uf_at(f[p.rule], &p.target.used, p.nindices, indices,
                 at_rules[p.rule].unary ? NULL
                 : p.number             ? &value
                                        : &operand,
                 &(uf_options){.size = sizeof(uf_options),
                               .casting = UF_CAST_UNSAFE,
                               .flags = p.deterministic ? UF_DETERMINISTIC : 0}));
        GOOD(view_fetch(&p.target));
        at_expect(&p);
        assert_memory_equal(p.target.block, p.expected.block, (size_t)p.target.elements * (size_t)dtypes[p.type].size);
        at_release(&p);
    }
    for (int i = 0; i < AT_RULES; i++)
        uf_free(f[i]);
}

/* ---- Directed ---- */

/* The last of repeated indices wins; sums count each of them. */
static void repeated(void **state) {
    (void)state;
    int64_t index[] = {3, -1, 3, 0, -4, 3};
    double x[] = {10, 20, 30, 40}, y[] = {1, 2, 3, 4, 5, 6};
    if (views_on_gpu())
        skip();
    uf_func *last = make("float64,float64->float64", "(x, y) { return y; }"),
            *sum = make("float64,float64->float64", "(x, y) { return x + y; }"),
            *negate = make("float64->float64", "(x) { return -x; }");
    OK(uf_at(sum, &UF_ARRAY(x, 4), 1, &UF_ARRAY(index, 6), &UF_ARRAY(y, 6), NULL));
    assert_true(x[0] == 10 + 4 + 5 && x[1] == 20 && x[2] == 30 && x[3] == 40 + 1 + 2 + 3 + 6);
    OK(uf_at(last, &UF_ARRAY(x, 4), 1, &UF_ARRAY(index, 5), &UF_ARRAY(y, 5), NULL));
    assert_true(x[0] == 5 && x[1] == 20 && x[2] == 30 && x[3] == 3);
    OK(uf_at(negate, &UF_ARRAY(x, 4), 1, &UF_ARRAY(index, 5), NULL, NULL));
    assert_true(x[0] == 5 && x[1] == 20 && x[2] == 30 && x[3] == -3);
    /* rows of a matrix, by one index for all columns */
    OK(uf_at(sum, &UF_ARRAY(x, 2, 2), 1, &UF_ARRAY(index + 1, 1), &UF_SCALAR(100), NULL));
    assert_true(x[0] == 5 && x[1] == 20 && x[2] == 130 && x[3] == 97);
    uf_free(last);
    uf_free(sum);
    uf_free(negate);
}

/* What is read is what was there before the call. */
static void overlapping(void **state) {
    (void)state;
    int64_t x[] = {1, 2, 3, 0, 1, 2};
    int32_t y[8] = {0};
    if (views_on_gpu())
        skip();
    uf_func *sum = make("int64,int64->int64; int32,int32->int32", "(x, y) { return x + y; }");
    OK(uf_at(sum, &UF_ARRAY(x, 4), 1, &UF_ARRAY(x + 2, 4), &UF_ARRAY(x + 1, 4), NULL)); /* 3 0 1 2; 2 3 0 1 */
    assert_true(x[0] == 1 + 3 && x[1] == 2 + 0 && x[2] == 3 + 1 && x[3] == 0 + 2 && x[4] == 1 && x[5] == 2);
    /* the operand is the target, and a view of it backwards */
    for (int i = 0; i < 8; i++)
        y[i] = i;
    int32_t index[] = {0, 0, 0, 1, 1, 2, 7, 7};
    DLTensor back = UF_ARRAY(y, 8);
    back.data = y + 7;
    back.strides = (int64_t[]){-1};
    OK(uf_at(sum, &UF_ARRAY(y, 8), 1, &UF_ARRAY(index, 8), &back, NULL));
    assert_true(y[0] == 7 + 6 + 5 && y[1] == 1 + 4 + 3 && y[2] == 2 + 2 && y[3] == 3 && y[7] == 7 + 1 + 0);
    uf_free(sum);
}

/* Rows so long that threads share them keep their order. */
static void long_rows(void **state) {
    (void)state;
    enum {
        ROWS = 7,
        N = 100003,
        UPDATES = 40
    };
    static float x[ROWS * N], expected[ROWS * N], y[UPDATES];
    int16_t index[UPDATES];
    if (views_on_gpu())
        skip();
    uf_func *f = make("float32,float32->float32", "(x, y) { return 0.75 * x + y; }");
    for (int64_t i = 0; i < ROWS * N; i++)
        x[i] = expected[i] = (float)pick(0, 1000);
    for (int u = 0; u < UPDATES; u++) {
        index[u] = (int16_t)pick(-ROWS, ROWS - 1);
        y[u] = (float)pick(0, 1000);
        for (int64_t i = 0, row = (index[u] + ROWS) % ROWS; i < N; i++)
            expected[row * N + i] = 0.75f * expected[row * N + i] + y[u];
    }
    OK(uf_at(f, &UF_ARRAY(x, ROWS, N), 1, &UF_ARRAY(index, UPDATES), &UF_ARRAY(y, UPDATES, 1), NULL));
    assert_memory_equal(x, expected, sizeof x);
    uf_free(f);
}

/* More index arrays, ranks and words than the stack has room for. */
static void large_ranks(void **state) {
    (void)state;
    int64_t ones[UF_MAX_NDIM], zero = 0, two = 2;
    int32_t x[3] = {1, 2, 3};
    DLTensor indices[UF_MAX_NDIM];
    if (views_on_gpu())
        skip();
    uf_func *f = make("int32,int32->int32", "(x, y) { return 10 * x + y; }");
    for (int d = 0; d < UF_MAX_NDIM; d++) {
        ones[d] = 1;
        indices[d] = (DLTensor){.data = d == 40 ? &two : &zero, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}};
    }
    ones[40] = 3;
    DLTensor target = UF_ARRAY(x, 3);
    target.ndim = UF_MAX_NDIM;
    target.shape = ones;
    OK(uf_at(f, &target, UF_MAX_NDIM, indices, &UF_SCALAR(7), NULL));
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 37);
    OK(uf_at(f, &target, 20, indices, &UF_SCALAR(5), NULL));
    assert_true(x[0] == 15 && x[1] == 25 && x[2] == 375);
    int64_t shape[] = {1, 1, 2}, pair[] = {2, 2};
    indices[40] = (DLTensor){.data = pair, .device = {kDLCPU, 0}, .ndim = 3, .dtype = {kDLInt, 64, 1}, .shape = shape};
    OK(uf_at(f, &target, 41, indices, &UF_SCALAR(0), NULL));
    assert_true(x[0] == 15 && x[1] == 25 && x[2] == 37500);
    uf_free(f);
}

/* Nothing to do is done, and looked at all the same. */
static void nothing(void **state) {
    (void)state;
    double x[2] = {1, 2};
    int32_t index[] = {5};
    if (views_on_gpu())
        skip();
    uf_func *f = make("float64,float64->float64", "(x, y) { return x + y; }");
    OK(uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(index, 0), &UF_SCALAR(1.0), NULL));
    OK(uf_at(f, &UF_ARRAY(x, 0), 1, &UF_ARRAY(index, 0), &UF_SCALAR(1.0), NULL));
    FAILS(UF_ERR_ARGUMENT, "indices[0]: element (0) is 5, but dimension 0 of target is 2: -2 to 1 are possible",
          uf_at(f, &UF_ARRAY(x, 2, 0), 1, &UF_ARRAY(index, 1), &UF_SCALAR(1.0), NULL));
    FAILS(UF_ERR_ARGUMENT, "indices[0]: element (0) is 5, but dimension 0 of target is 0: there is no index",
          uf_at(f, &UF_ARRAY(x, 0), 1, &UF_ARRAY(index, 1), &UF_SCALAR(1.0), NULL));
    FAILS(UF_ERR_SHAPE, "operand: dimension 0 is 3, but dimension 0 of the updates",
          uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(index, 0), &UF_ARRAY(x, 3), NULL));
    assert_true(x[0] == 1 && x[1] == 2);
    uf_free(f);
}

/* Memory that the host and a device share is the host's where something else is there. */
static void shared_memory(void **state) {
    (void)state;
    int32_t x[3] = {1, 2, 3}, i[] = {2, 2}, y[] = {10, 20};
    if (views_on_gpu())
        skip();
    uf_func *f = make("int32,int32->int32", "(x, y) { return x + y; }");
    DLTensor target = UF_ARRAY(x, 3), index = UF_ARRAY(i, 2), operand = UF_ARRAY(y, 2);
    target.device.device_type = kDLCUDAManaged;
    OK(uf_at(f, &target, 1, &index, &operand, NULL));
    operand.device.device_type = kDLCUDAManaged;
    OK(uf_at(f, &target, 1, &index, &operand, NULL));
    target.device.device_type = index.device.device_type = operand.device.device_type = kDLCUDAHost;
    OK(uf_at(f, &target, 1, &index, &operand, NULL));
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 93);
    uf_free(f);
}

/* ---- Bad input ---- */

/* One index out of range, anywhere, of any dtype, leaves the target as it was. */
static void out_of_range(void **state) {
    (void)state;
    if (views_on_gpu())
        skip();
    uf_func *f = make(NULL, "(x, y) { return x + y; }");
    for (int64_t i = trials(300); i > 0; i--) {
        int64_t shape[] = {pick(1, 5), pick(1, 7), chance(20) ? pick(1000, 3000) : pick(1, 3)}, index[3], whole[2];
        dtype type = (dtype)pick(DT_INT8, DT_UINT64);
        view x, bad, good;
        for (int d = 0; d < 2; d++)
            whole[d] = pick(1, 50);
        int64_t extent = whole[1];
        view_make(&x, dtypes[DT_INT64].dl, 2, whole);
        view_make(&bad, dtypes[type].dl, 3, shape);
        view_make(&good, dtypes[DT_INT32].dl, 0, NULL);
        for (int d = 0; d < 3; d++)
            index[d] = pick(0, shape[d] - 1);
        bool below = dtypes[type].is_signed && chance(50);
        int64_t value = below ? -extent - pick(1, 20) : extent + pick(0, 20);
        number_write((number){.type = DT_INT64, .as.i = value}, type, view_at(&bad, 3, index));
        if (type == DT_UINT64 && chance(50)) {
            value = -1;
            memset(view_at(&bad, 3, index), 255, 8);
        }
        char part[256];
        snprintf(part, sizeof part,
                 value == -1 && !below
                     ? "indices[1]: element (%lld, %lld, %lld) is %llu, but dimension 1 of target is %lld"
                     : "indices[1]: element (%lld, %lld, %lld) is %lld, but dimension 1 of target is %lld",
                 (long long)index[0], (long long)index[1], (long long)index[2], (long long)value, (long long)extent);
        FAILS(UF_ERR_ARGUMENT, part, uf_at(f, &x.host, 2, (DLTensor[]){good.host, bad.host}, &UF_SCALAR(1), NULL));
        assert_int_equal(uf_last_error()->argument, 2);
        for (int64_t k = 0; k < x.elements * 8; k++)
            assert_true(!x.block[k]);
        view_free(&x);
        view_free(&bad);
        view_free(&good);
    }
    uf_free(f);
}

/* Every value of the types of 8 bits, and so many of the others, against extents around those that all of the former are within: what is
 * said to be out of range is the first value that is, and if none is each value counts. */
static void ranges(void **state) {
    (void)state;
    enum {
        INDICES = 1 << 12
    };
    static const int64_t extents[] = {1, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 300};
    if (views_on_gpu())
        skip();
    uf_func *f = make(NULL, "(x, y) { return x + y; }");
    for (dtype type = DT_INT8; type <= DT_UINT64; type++)
        for (size_t e = 0; e < COUNT(extents); e++) {
            int64_t first = INDICES, counts[300] = {0}, want[300] = {0}, n = extents[e];
            char values[8 * INDICES], part[80];
            int64_t range = dtypes[type].size > 1 ? 1024 : 256, low = dtypes[type].is_signed ? -range / 2 : 0;
            for (int64_t i = INDICES - 1; i >= 0; i--) {
                int64_t value = low + i % range;
                number_write((number){.type = DT_INT64, .as.i = value}, type, values + i * dtypes[type].size);
                first = value < (low ? -n : 0) || value >= n ? i : first;
                if (value >= -n && value < n)
                    want[value < 0 ? value + n : value]++;
            }
            DLTensor target = UF_ARRAY(counts, n), index = UF_ARRAY(values, INDICES);
            index.dtype = dtypes[type].dl;
            snprintf(part, sizeof part, "indices[0]: element (%lld) is ", (long long)first);
            if (first == INDICES)
                OK(uf_at(f, &target, 1, &index, &UF_SCALAR(1), NULL));
            else
                FAILS(UF_ERR_ARGUMENT, part, uf_at(f, &target, 1, &index, &UF_SCALAR(1), NULL));
            for (int64_t k = 0; k < n; k++)
                assert_true(counts[k] == (first == INDICES ? want[k] : 0));
        }
    uf_free(f);
}

/* Neighbouring indices of all dtypes, in groups of which none, some or all count from the end, by an operator whose order shows. */
static void neighbours(void **state) {
    (void)state;
    enum {
        INDICES = 64 * 5 + 17,
        ROWS = 9,
        COLUMNS = 100
    };
    static const int below[] = {0, 1, 50, 100};
    if (views_on_gpu())
        skip();
    uf_func *f = make(NULL, "(x, y) { return 3 * x + y; }");
    for (int64_t i = trials(200); i > 0; i--) {
        int64_t got[ROWS][COLUMNS] = {0}, want[ROWS][COLUMNS] = {0}, y[INDICES], share = below[pick(0, 3)];
        char place[2][8 * INDICES];
        dtype type[2] = {(dtype)pick(DT_INT8, DT_UINT64), (dtype)pick(DT_INT8, DT_UINT64)};
        bool one = chance(50); /* index: of the columns of a row */
        for (int64_t k = 0; k < INDICES; k++) {
            const int64_t extent[2] = {ROWS, COLUMNS};
            int64_t at[2];
            y[k] = pick(-9, 9);
            for (int d = 0; d < 2; d++) {
                at[d] = one && d == 0 ? 0 : pick(0, extent[d] - 1);
                bool negative = dtypes[type[d]].is_signed && chance((int)share);
                number_write((number){.type = DT_INT64, .as.i = at[d] - (negative ? extent[d] : 0)}, type[d],
                             place[d] + k * dtypes[type[d]].size);
            }
            want[at[0]][at[1]] = 3 * want[at[0]][at[1]] + y[k];
        }
        DLTensor row = UF_ARRAY(got[0], COLUMNS), all = UF_ARRAY(got[0], ROWS, COLUMNS);
        DLTensor index[2] = {UF_ARRAY(place[0], INDICES), UF_ARRAY(place[1], INDICES)};
        for (int d = 0; d < 2; d++)
            index[d].dtype = dtypes[type[d]].dl;
        OK(uf_at(f, one ? &row : &all, one ? 1 : 2, index + one, &UF_ARRAY(y, INDICES), NULL));
        assert_memory_equal(got, want, sizeof got);
    }
    uf_free(f);
}

/* Many indices of a small target, which are not looked at beforehand: a bad one among them leaves all memory as it was, between the
 * elements of the target too. */
static void undone(void **state) {
    (void)state;
    enum {
        INDICES = 1 << 14,
        EXTENT = 200
    };
    if (views_on_gpu())
        skip();
    static int32_t at[INDICES];
    uf_func *f = make(NULL, "(x, y) { return 3 * x + y; }");
    for (int64_t i = trials(40); i > 0; i--) {
        int64_t memory[2 * EXTENT], before[2 * EXTENT], want[2 * EXTENT], bad = chance(30) ? -1 : pick(0, INDICES - 1);
        int64_t step = pick(1, 2); /* where it is 2, they are looked at */
        bool backwards = chance(50);
        for (int64_t k = 0; k < 2 * EXTENT; k++)
            memory[k] = before[k] = want[k] = pick(-9, 9);
        for (int64_t k = 0; k < INDICES; k++) {
            int64_t index = pick(0, EXTENT - 1);
            int64_t *w = &want[step * (backwards ? EXTENT - 1 - index : index)];
            *w = (int64_t)(3 * (uint64_t)*w + 5);
            at[k] = (int32_t)(index - (chance(1) ? EXTENT : 0));
        }
        if (bad >= 0)
            at[bad] = chance(50) ? EXTENT : -EXTENT - 1;
        DLTensor target = UF_ARRAY(memory, EXTENT);
        target.strides = (int64_t[]){backwards ? -step : step};
        target.byte_offset = backwards ? (uint64_t)step * (EXTENT - 1) * sizeof *memory : 0;
        uf_status s = uf_at(f, &target, 1, &UF_ARRAY(at, INDICES), &UF_SCALAR(5), NULL);
        assert_int_equal(s, bad < 0 ? UF_OK : UF_ERR_ARGUMENT);
        assert_memory_equal(memory, bad < 0 ? want : before, sizeof memory);
    }
    uf_free(f);
}

/* So many indices of a target in which there is nothing that they could say, at an address that must not be touched. */
static void undone_without_elements(void **state) {
    (void)state;
    enum {
        INDICES = 1 << 15
    };
    if (views_on_gpu())
        skip();
    static char at[8 * INDICES];
    uf_func *f = make(NULL, "(x, y) { return x + y; }");
    for (dtype type = DT_INT8; type <= DT_UINT64; type++) {
        int64_t none = 7;
        DLTensor target = UF_ARRAY(&none, 0), index = UF_ARRAY(at, INDICES), both[2] = {index, index};
        index.dtype = both[0].dtype = both[1].dtype = dtypes[type].dl;
        const char *part = "element (0) is 0, but dimension 0 of target is 0";
        FAILS(UF_ERR_ARGUMENT, part, uf_at(f, &target, 1, &index, &UF_SCALAR(1), NULL));
        FAILS(UF_ERR_ARGUMENT, part, uf_at(f, &UF_ARRAY(&none, 0, 1), 2, both, &UF_SCALAR(1), NULL));
        target.data = NULL;
        FAILS(UF_ERR_ARGUMENT, part, uf_at(f, &target, 1, &index, &UF_SCALAR(1), NULL));
        assert_int_equal(none, 7);
    }
    uf_free(f);
}

/* So many indices of a target between whose elements there is memory that cannot be read. */
static void apart(void **state) {
    (void)state;
    enum {
        INDICES = 1 << 15
    };
    if (views_on_gpu())
        skip();
    static int64_t at[INDICES];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED && !mprotect(memory + page, page, PROT_NONE));
    int64_t *first = (int64_t *)memory, *second = (int64_t *)(memory + 2 * page);
    for (int64_t k = 0; k < INDICES; k++)
        at[k] = k % 4 == 0;
    DLTensor target = UF_ARRAY(first, 2);
    target.strides = (int64_t[]){second - first};
    uf_func *f = make(NULL, "(x, y) { return x + y; }");
    OK(uf_at(f, &target, 1, &UF_ARRAY(at, INDICES), &UF_SCALAR(1), NULL));
    assert_int_equal(*first, INDICES / 4 * 3);
    assert_int_equal(*second, INDICES / 4);
    uf_free(f);
    munmap(memory, 3 * page);
}

/* Many indices of a small target, which is a part of them: they are as they were at the beginning, also where one is bad. */
static void target_among_indices(void **state) {
    (void)state;
    enum {
        INDICES = 1 << 14,
        EXTENT = 64
    };
    if (views_on_gpu())
        skip();
    static int64_t at[INDICES], before[INDICES];
    uf_func *f = make(NULL, "(x, y) { return 3 * x + y; }");
    for (int bad = 0; bad < 2; bad++) {
        int64_t want[EXTENT];
        for (int64_t k = 0; k < INDICES; k++)
            at[k] = before[k] = k < EXTENT ? k : 0; /* each of the others but once, by itself */
        memcpy(want, at, sizeof want);
        for (int64_t k = 0; k < INDICES; k++)
            want[before[k]] = (int64_t)(3 * (uint64_t)want[before[k]] + 1);
        if (bad)
            at[INDICES - 1] = before[INDICES - 1] = EXTENT;
        uf_status s = uf_at(f, &UF_ARRAY(at, EXTENT), 1, &UF_ARRAY(at, INDICES), &UF_SCALAR((int64_t){1}), NULL);
        assert_int_equal(s, bad ? UF_ERR_ARGUMENT : UF_OK);
        assert_memory_equal(at, bad ? before : want, sizeof want);
    }
    uf_free(f);
}

static void bad_input(void **state) {
    (void)state;
    float x[6] = {0}, y[6] = {0};
    int32_t i[6] = {0};
    _Bool b[2] = {0};
    uf_func *f = make("float32,float32->float32", "(x, y) { return x + y; }"),
            *one = make("float32->float32", "(x) { return -x; }"),
            *three = make("float32,float32,float32->float32", "(x, y, z) { return x + y * z; }"),
            *two = make("float32,float32->float32,float32", "(x, y) -> (p, q) { p = x; q = y; }"),
            *wide = make("float64,float64->complex128", "(x, y) { return x + y * I; }"), *inner, *reduction;
    OK(uf_guvectorize(&inner, "inner", "(n),()->()", "float32,float32->float32",
                      "(x, y) -> (r) { r = sum(i : n, x[i]) * y; }"));
    OK(uf_reduction(&reduction, "total", "float32->float32",
                    &(uf_reduction_def){.size = sizeof(uf_reduction_def), .combine = "(a, b) { return a + b; }"}));
    DLTensor t = UF_ARRAY(x, 6), m = UF_ARRAY(x, 2, 3), n = UF_ARRAY(i, 6), v = UF_ARRAY(y, 6), s = UF_OUT(x[0]);

    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_at(NULL, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_at of f: target is NULL", uf_at(f, NULL, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_at of f: indices is NULL", uf_at(f, &t, 1, NULL, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "operand is NULL", uf_at(f, &t, 1, &n, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "operand must be NULL", uf_at(one, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "must be elementwise", uf_at(three, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "must be elementwise", uf_at(two, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "must be elementwise", uf_at(inner, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "must be elementwise", uf_at(reduction, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "nindices is 0", uf_at(f, &t, 0, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "nindices is -1", uf_at(f, &t, -1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "nindices is 2, but the rank of target is 1", uf_at(f, &t, 2, (DLTensor[]){n, n}, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "nindices is 1, but the rank of target is 0", uf_at(f, &s, 1, &n, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "is a number (UF_SCALAR)", uf_at(f, &UF_SCALAR(1.0f), 1, &n, &v, NULL));

    FAILS(UF_ERR_ARGUMENT, "indices[0]: its dtype is float32; indices are integers", uf_at(f, &t, 1, &v, &v, NULL));
    FAILS(UF_ERR_ARGUMENT, "indices[1]: its dtype is bool", uf_at(f, &m, 2, (DLTensor[]){n, UF_ARRAY(b, 2)}, &v, NULL));
    FAILS(UF_ERR_SHAPE, "indices[1]: dimension 0 is 4, but dimension 0 of indices[0] is 6",
          uf_at(f, &m, 2, (DLTensor[]){n, UF_ARRAY(i, 4)}, &v, NULL));
    assert_int_equal(uf_last_error()->argument, 2);
    FAILS(UF_ERR_SHAPE, "operand: dimension 0 is 5, but dimension 0 of the updates",
          uf_at(f, &t, 1, &n, &UF_ARRAY(y, 5), NULL));
    assert_int_equal(uf_last_error()->argument, 2);
    FAILS(UF_ERR_SHAPE, "operand: its rank is 2, but that of the updates is 1",
          uf_at(f, &t, 1, &n, &UF_ARRAY(y, 1, 6), NULL));
    FAILS(UF_ERR_SHAPE, "operand: dimension 1 is 2, but dimension 1 of the updates",
          uf_at(f, &m, 1, &n, &UF_ARRAY(y, 1, 2), NULL));

    FAILS(UF_ERR_CAST, "target: is float32, but f gives complex128", uf_at(wide, &t, 1, &n, &v, NULL));
    FAILS(UF_ERR_SIGNATURE, "operand", uf_at(f, &t, 1, &n, &UF_ARRAY(((double[6]){0}), 6), NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_at does not take uf_options.where",
          uf_at(f, &t, 1, &n, &v, &(uf_options){.size = sizeof(uf_options), .where = &n}));
    FAILS(UF_ERR_ARGUMENT, "uf_at does not take uf_options.axes",
          uf_at(f, &t, 1, &n, &v,
                &(uf_options){.size = sizeof(uf_options), .axes = &(uf_axes){.size = sizeof(uf_axes)}}));
    FAILS(UF_ERR_ARGUMENT, "uf_at does not take UF_STAGE",
          uf_at(f, &t, 1, &n, &v, &(uf_options){.size = sizeof(uf_options), .flags = UF_STAGE}));
    FAILS(UF_ERR_ARGUMENT, "flags is 0x10000",
          uf_at(f, &t, 1, &n, &v, &(uf_options){.size = sizeof(uf_options), .flags = 0x10000}));
    FAILS(UF_ERR_ARGUMENT, "size", uf_at(f, &t, 1, &n, &v, &(uf_options){.size = 0}));

    DLTensor broken = t;
    broken.strides = (int64_t[]){0};
    FAILS(UF_ERR_ARGUMENT, "target: has two elements at one address", uf_at(f, &broken, 1, &n, &v, NULL));
    broken = t;
    broken.ndim = 65;
    FAILS(UF_ERR_ARGUMENT, "target: its rank is 65", uf_at(f, &broken, 1, &n, &v, NULL));
    broken = n;
    broken.data = NULL;
    FAILS(UF_ERR_ARGUMENT, "indices[0]: its data is NULL", uf_at(f, &t, 1, &broken, &v, NULL));
    assert_int_equal(uf_last_error()->argument, 1);
    broken.data = (char *)i + 1;
    FAILS(UF_ERR_ARGUMENT, "indices[0]: its element 0 is at", uf_at(f, &t, 1, &broken, &v, NULL));
    broken = v;
    broken.dtype.lanes = 2;
    FAILS(UF_ERR_ARGUMENT, "operand: its dtype has 2 lanes", uf_at(f, &t, 1, &n, &broken, NULL));
    broken = n;
    broken.device.device_type = kDLCUDA;
    FAILS(UF_ERR_DEVICE, "target: is in host memory, but indices[0] is on CUDA device 0",
          uf_at(f, &t, 1, &broken, &v, NULL));
    broken = v;
    broken.device.device_type = kDLCUDA;
    FAILS(UF_ERR_DEVICE, "target: is in host memory, but operand is on CUDA device 0",
          uf_at(f, &t, 1, &n, &broken, NULL));
    broken = t;
    broken.device.device_type = kDLCUDA;
    FAILS(UF_ERR_DEVICE, "indices[0]: is in host memory, but target is on CUDA device 0",
          uf_at(f, &broken, 1, &n, &s, NULL));
    broken.device.device_type = kDLOpenCL;
    FAILS(UF_ERR_DEVICE, "target: has DLPack device type", uf_at(f, &broken, 1, &n, &s, NULL));

    int64_t ones[UF_MAX_NDIM];
    for (int d = 0; d < UF_MAX_NDIM; d++)
        ones[d] = 1;
    DLTensor deep = {.data = i, .device = {kDLCPU, 0}, .ndim = UF_MAX_NDIM, .dtype = n.dtype, .shape = ones};
    FAILS(UF_ERR_SHAPE, "the indices' rank, 64, and the dimensions of target that are left, 1, exceed 64",
          uf_at(f, &m, 1, &deep, &s, NULL));
    uf_func *all[] = {f, one, two, three, wide, inner, reduction};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        uf_free(all[k]);
}

/* A number must fit the dtype that the function computes in. */
static void numbers(void **state) {
    (void)state;
    int8_t x[2] = {1, 2};
    int32_t i[] = {1, 1};
    if (views_on_gpu())
        skip();
    uf_func *f = make("int8,int8->int8; float64,float64->float64", "(x, y) { return x + y; }");
    OK(uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(i, 2), &UF_SCALAR(20), NULL));
    assert_true(x[0] == 1 && x[1] == 42);
    FAILS(UF_ERR_CAST, "operand", uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(i, 2), &UF_SCALAR(300), NULL));
    FAILS(UF_ERR_CAST, "target: is int8", uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(i, 2), &UF_SCALAR(0.5), NULL));
    OK(uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(i, 2), &UF_SCALAR(0.5),
             &(uf_options){.size = sizeof(uf_options), .casting = UF_CAST_UNSAFE}));
    assert_true(x[1] == 42); /* 42.5 is cut off, twice */
    OK(uf_at(
        f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(i, 2), &UF_SCALAR(2),
        &(uf_options){.size = sizeof(uf_options), .signature = "float64,float64->float64", .casting = UF_CAST_UNSAFE}));
    assert_true(x[1] == 46);
    OK(uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(i, 1), &UF_SCALAR(300),
             &(uf_options){.size = sizeof(uf_options), .signature = "int8,int8->int8", .casting = UF_CAST_UNSAFE}));
    assert_true(x[1] == 90); /* 300 wraps to 44 */
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_problems, draw_seed),
        cmocka_unit_test(repeated),
        cmocka_unit_test(overlapping),
        cmocka_unit_test_setup(long_rows, draw_seed),
        cmocka_unit_test(large_ranks),
        cmocka_unit_test(nothing),
        cmocka_unit_test_setup(out_of_range, draw_seed),
        cmocka_unit_test(ranges),
        cmocka_unit_test_setup(undone, draw_seed),
        cmocka_unit_test(undone_without_elements),
        cmocka_unit_test(apart),
        cmocka_unit_test(target_among_indices),
        cmocka_unit_test_setup(neighbours, draw_seed),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(numbers),
        cmocka_unit_test(shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
