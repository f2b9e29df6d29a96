/* test_policy.c - what src/gpu chooses for a loop: tables of sizes and what they come to, and what holds for any sizes: that grids cover
 * their loops, keep to the limits, and do not take less for more. No driver, no device: occupancy is said here. */
#include "gpu/gpu.h"
#include "type/segments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

enum {
    H200 = 227 << 10 /* shared memory of a block; there are clusters then */
};

enum {
    MAX_DIMS = 4,
    MAX_OPERANDS = 5,
    MAX_PARAMETERS = 256,
    SMS = 132 /* multiprocessors of the device that the tables are for */
};

/* A loop over dense arrays, or with the strides that are given. */
typedef struct sample {
    variant v;
    nd_loop loop;
    int64_t extent[MAX_DIMS], stride[MAX_DIMS * MAX_OPERANDS], offset[MAX_OPERANDS];
    char *data[MAX_OPERANDS];
    code_traits traits;
    uint64_t parameters[MAX_PARAMETERS];
    grid g;
} sample;

/* Extents up to the first 0, dimension 0 first. */
static nd_loop loop_over(int64_t *extent, int64_t *stride, int64_t *offset, const int64_t *extents, int narrays) {
    nd_loop loop = {.narrays = narrays, .count = 1, .extent = extent, .stride = stride, .offset = offset};
    while (loop.ndim < MAX_DIMS && extents[loop.ndim]) {
        for (int k = 0; k < narrays; k++)
            stride[loop.ndim * narrays + k] = loop.count;
        extent[loop.ndim] = extents[loop.ndim];
        loop.count *= extents[loop.ndim++];
    }
    return loop;
}

static void operands_set(variant *v, dtype type, operand_kind kind) {
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k] = (variant_operand){.memory = (uint8_t)type, .value = (uint8_t)type, .kind = (uint8_t)kind};
}

static launch launch_of(sample *s) {
    for (int k = 0; k < MAX_OPERANDS; k++)
        s->data[k] = (char *)(uintptr_t)(0x10000000 * (k + 1));
    return (launch){.v = &s->v, .loop = &s->loop, .data = s->data};
}

static void lay_out_any(sample *s, const launch *l, unsigned block, int sms) {
    assert_true(schema_count(l->v, l->layout, true) <= MAX_PARAMETERS);
    assert_int_equal(
        gpu_layout(l,
                   &(occupancy){.block = block, .sms = sms, .resident = 2 * sms, .cooperative = true, .shared = H200},
                   s->parameters, &s->g),
        UF_OK);
    assert_int_equal(s->g.parameters, schema_count(l->v, l->layout, true));
    assert_true(s->g.blocks >= 1 && s->g.blocks <= GRID_MAX);
}

static void lay_out(sample *s, const launch *l, unsigned block, int sms) {
    lay_out_any(s, l, block, sms);
    int least = l->v->loop == LOOP_FOLD && l->v->reduction.columns ? 1 : WARP; /* columns: no more than there are */
    bool tiles = l->v->loop == LOOP_SCAN && variant_interleaved_lines(l->v);   /* a thread for each line in each row */
    if (tiles)
        assert_true(s->g.threads == (unsigned)l->v->scan.lines * l->v->scan.plane && s->g.threads <= BLOCK_MAX);
    assert_true((int)s->g.threads >= least && s->g.threads <= 1024);
    assert_true(tiles || !(s->g.threads & (s->g.threads - 1)));
}

/* ---- Which outputs are written past what is read again ---- */

/* float32 sums of n by m: which dimensions each input has (bit 0: the inner one), and which the output. */
static const struct {
    int64_t n, m;
    int input[2], output;
    bool streamed;
} sum_cases[] = {
    {4096, 4096, {1, 2}, 3, true}, /* 64 MiB */
    {4095, 4096, {1, 2}, 3, false}, {4096, 4096, {0, 1}, 3, true},
    {8192, 8192, {1, 3}, 3, false},                                 /* as much is read as is written */
    {8192, 8192, {3, 3}, 3, false}, {8192, 8192, {3, 2}, 1, false}, /* the output is small */
};

static void test_streamed(void **unused) {
    (void)unused;
    for (size_t i = 0; i < COUNT(sum_cases); i++)
        for (loop_class class = LOOP_ROWS; class <= LOOP_GENERAL; class += LOOP_GENERAL - LOOP_ROWS) {
            sample s = {.v = {.loop = (uint8_t) class, .nin = 2, .nout = 1}};
            operands_set(&s.v, DT_FLOAT32, class == LOOP_ROWS ? OPERAND_CONTIGUOUS : OPERAND_STRIDED);
            s.loop = loop_over(s.extent, s.stride, s.offset, (int64_t[MAX_DIMS]){sum_cases[i].m, sum_cases[i].n}, 3);
            for (int d = 0; d < 2; d++)
                for (int k = 0; k < 3; k++)
                    s.stride[d * 3 + k] *= (k < 2 ? sum_cases[i].input[k] : sum_cases[i].output) >> d & 1;
            gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .traits = &s.traits});
            assert_int_equal(s.v.operand[2].nontemporal, sum_cases[i].streamed);
            assert_false(s.v.operand[0].nontemporal || s.v.operand[1].nontemporal);
        }
}

/* Kernels over indices: float32 x[n], y[n, n], and what they do with them. */
static const struct {
    int64_t n;
    int use[2];
    bool streamed[2];
} use_cases[] = {
    {4096, {USE_READ, USE_WRITE}, {false, true}},
    {4095, {USE_READ, USE_WRITE}, {false, false}},
    {4096, {USE_READ, USE_ATOMIC}, {false, false}},
    {4096, {USE_READ, USE_READ | USE_WRITE}, {false, false}},
    {4096, {USE_WRITE, USE_READ}, {false, false}},
    {4096, {USE_WRITE, USE_WRITE}, {false, false}},
    {4096, {USE_READ, USE_READ}, {false, false}},
    {8192, {USE_READ | USE_WRITE, USE_WRITE}, {false, false}},
    {4096, {USE_READ | USE_COALESCED, USE_WRITE | USE_COALESCED}, {false, true}},
};

static void test_streamed_points(void **unused) {
    (void)unused;
    for (size_t i = 0; i < COUNT(use_cases); i++) {
        int64_t n = use_cases[i].n, core[] = {n, n, n, n, n, 1, n, 1};
        layout_operand operands[] = {{.rank = 1, .dim = {2}, .strides = 5}, {.rank = 2, .dim = {3, 4}, .strides = 6}};
        core_layout layout = {.nin = 2, .nindices = 2, .ndims = 5, .nparameters = 8, .operands = operands};
        sample s = {.v = {.loop = LOOP_FORALL, .nin = 2},
                    .traits = {.nodes = 3, .use = {(uint16_t)use_cases[i].use[0], (uint16_t)use_cases[i].use[1]}}};
        operands_set(&s.v, DT_FLOAT32, OPERAND_STRIDED);
        s.loop = loop_over(s.extent, s.stride, s.offset, (int64_t[MAX_DIMS]){n, n}, 2);
        gpu_specialise(
            &s.v,
            &(loop_problem){
                .loop = &s.loop, .layout = &layout, .core = core, .traits = &s.traits, .align = (uint8_t[]){2, 2}});
        for (int k = 0; k < 2; k++)
            assert_int_equal(s.v.operand[k].nontemporal, use_cases[i].streamed[k]);
    }
}

/* ---- Elementwise loops ---- */

static void body_make(sample *s, loop_class loop, const int64_t *extents, dtype type, int nodes, bool has_loop) {
    memset(s, 0, sizeof *s);
    s->v.loop = (uint8_t)loop;
    s->v.nin = 2;
    s->v.nout = 1;
    operands_set(&s->v, type, loop == LOOP_GENERAL ? OPERAND_STRIDED : OPERAND_CONTIGUOUS);
    s->loop = loop_over(s->extent, s->stride, s->offset, extents, 3);
    for (int i = 0; i < s->loop.ndim * 3 && loop == LOOP_GENERAL; i++)
        s->stride[i] *= 2;
    s->traits.nodes = nodes;
    s->traits.has_loop = has_loop;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->traits});
    launch l = launch_of(s);
    lay_out(s, &l, 256, SMS);
}

static void elementwise_make(sample *s, loop_class loop, const int64_t *extents, dtype type, int nodes) {
    body_make(s, loop, extents, type, nodes, false);
}

/* Elements in one access; vectors, rows or elements that a thread takes. */
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

/* What was chosen, in words. */
static void check(size_t i, const char *got, const char *expected) {
    if (strcmp(got, expected))
        fail_msg("case %zu: \"%s\", not \"%s\"", i, got, expected);
}

static const struct {
    loop_class loop;
    int64_t extents[MAX_DIMS];
    dtype type;
    int nodes;
    const char *chosen; /* class, elements in an access x accesses, rows or elements a thread; the grid */
} elementwise_cases[] = {
    /* Small loops get small blocks, one for each multiprocessor if there is work for that. */
    {LOOP_FLAT, {1}, DT_FLOAT32, 3, "flat 4 x 1, 1 blocks of 64"},
    {LOOP_FLAT, {1000}, DT_FLOAT32, 3, "flat 4 x 1, 4 blocks of 64"},
    {LOOP_FLAT, {100000}, DT_FLOAT32, 3, "flat 4 x 1, 196 blocks of 128"},
    {LOOP_FLAT, {1 << 20}, DT_FLOAT32, 3, "flat 4 x 1, 1024 blocks of 256"},
    /* An access is 16 bytes. */
    {LOOP_FLAT, {1 << 20}, DT_INT8, 3, "flat 16 x 1, 256 blocks of 256"},
    {LOOP_FLAT, {1 << 20}, DT_COMPLEX128, 3, "flat 1 x 1, 4096 blocks of 256"},
    /* Large bodies are not multiplied. */
    {LOOP_FLAT, {1 << 20}, DT_FLOAT32, 500, "flat 2 x 1, 2048 blocks of 256"},
    {LOOP_FLAT, {1 << 20}, DT_FLOAT32, 3000, "flat 1 x 1, 4096 blocks of 256"},
    {LOOP_ROWS, {1000, 1000}, DT_FLOAT32, 3, "rows 4 x 1, 1000 blocks of 256"},
    {LOOP_ROWS, {100, 3}, DT_FLOAT32, 3, "rows 4 x 1, 2 blocks of 64"},
    {LOOP_ROWS, {18, 1000}, DT_FLOAT64, 3, "rows 2 x 1, 250 blocks of 64"},
    {LOOP_ROWS, {4000, 30, 5}, DT_INT16, 3, "rows 8 x 1, 300 blocks of 256"},
    /* Planes that leave a warp idle. */
    {LOOP_ROWS, {20, 3, 5}, DT_FLOAT32, 3, "general 4 x 1, 2 blocks of 64"},
    /* Rows that do not all begin where vectors may. */
    {LOOP_ROWS, {17, 1000}, DT_FLOAT64, 3, "general 2 x 1, 133 blocks of 64"},
    {LOOP_ROWS, {1001, 1000}, DT_INT8, 3, "general 16 x 1, 245 blocks of 256"},
    {LOOP_ROWS, {1001, 1000}, DT_INT8, 3000, "rows 1 x 1, 4000 blocks of 256"},
    {LOOP_GENERAL, {1000}, DT_FLOAT32, 3, "general 1 x 4, 4 blocks of 64"},
    {LOOP_GENERAL, {1000, 1000}, DT_FLOAT32, 3, "general 1 x 4, 977 blocks of 256"},
    {LOOP_GENERAL, {1000, 1000}, DT_FLOAT32, 1000, "general 1 x 1, 3907 blocks of 256"},
    /* More elements than 32 bits number. */
    {LOOP_GENERAL, {1 << 16, 1 << 16}, DT_FLOAT32, 3, "wide general 1 x 4, 4194304 blocks of 256"},
};

static void test_elementwise_table(void **unused) {
    static const char *const names[] = {[LOOP_FLAT] = "flat", [LOOP_ROWS] = "rows", [LOOP_GENERAL] = "general"};
    static sample s;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(elementwise_cases); i++) {
        elementwise_make(&s, elementwise_cases[i].loop, elementwise_cases[i].extents, elementwise_cases[i].type,
                         elementwise_cases[i].nodes);
        snprintf(got, sizeof got, "%s%s %d x %d, %u blocks of %u", s.v.wide ? "wide " : "", names[s.v.loop],
                 vector_of(&s.v), repeat_of(&s.v), s.g.blocks, s.g.threads);
        check(i, got, elementwise_cases[i].chosen);
    }
}

/* A thread takes four rows of a body with a loop, one after the other, where there is work for all threads then. */
static void test_bodies_with_loops(void **unused) {
    static const struct {
        int64_t extents[MAX_DIMS];
        int rows;
    } cases[] = {{{2048, 2048}, 4}, {{2048, 2047}, 1}, {{1 << 20, 4}, 4}};
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        body_make(&s, LOOP_ROWS, cases[i].extents, DT_FLOAT32, 30, true);
        assert_int_equal(s.v.loop, LOOP_ROWS);
        assert_int_equal(s.v.rows.rows_per_thread, cases[i].rows);
    }
}

/* ---- Tiles ---- */

static const struct {
    int64_t extents[MAX_DIMS];
    dtype type[3];    /* of the first input, which is across, the second, and the output */
    int nodes, shift; /* shift: elements by which the first input's address is off */
    const char *
        chosen; /* a thread's elements along both dimensions; threads; blocks and shared memory; are accesses aligned? */
} tile_cases[] = {
    {{16384, 16384},
     {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32},
     3,
     0,
     "tile 4 x 4, 16 x 16, 65536 blocks, 16384 bytes, aligned"},
    {{16384, 16384}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 1, "tile 4 x 4, 16 x 16, 65536 blocks, 16384 bytes"},
    {{16383, 16384}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 0, "tile 4 x 4, 16 x 16, 65536 blocks, 16384 bytes"},
    {{1000, 1000}, {DT_FLOAT64, DT_FLOAT64, DT_FLOAT64}, 3, 0, "tile 2 x 2, 16 x 16, 1024 blocks, 8192 bytes, aligned"},
    /* of bytes more, if the strides are those of aligned accesses */
    {{1024, 1024}, {DT_INT8, DT_INT8, DT_INT8}, 3, 0, "tile 8 x 16, 16 x 16, 32 blocks, 32768 bytes, aligned"},
    {{1024, 1032}, {DT_INT8, DT_INT8, DT_INT8}, 3, 0, "tile 8 x 8, 16 x 16, 72 blocks, 16384 bytes"},
    {{1023, 1024}, {DT_INT8, DT_INT8, DT_INT8}, 3, 0, "tile 8 x 8, 16 x 16, 64 blocks, 16384 bytes"},
    {{1024, 1024},
     {DT_COMPLEX128, DT_COMPLEX128, DT_COMPLEX128},
     3,
     0,
     "tile 1 x 1, 16 x 16, 4096 blocks, 4096 bytes, aligned"},
    {{1024, 1024}, {DT_FLOAT64, DT_INT8, DT_INT8}, 3, 0, "tile 8 x 2, 16 x 16, 256 blocks, 32768 bytes, aligned"},
    {{1024, 1024}, {DT_INT8, DT_FLOAT64, DT_FLOAT64}, 3, 0, "tile 2 x 8, 16 x 16, 256 blocks, 4096 bytes, aligned"},
    /* many small matrices; one dimension that is short */
    {{32, 32, 1000}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 0, "tile 4 x 4, 8 x 8, 1000 blocks, 4096 bytes, aligned"},
    {{16, 16, 1000}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 0, "general"},
    {{1 << 20, 12},
     {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32},
     3,
     0,
     "tile 4 x 4, 64 x 4, 4096 blocks, 16384 bytes, aligned"},
    {{12, 1 << 20},
     {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32},
     3,
     0,
     "tile 4 x 4, 4 x 64, 4096 blocks, 16384 bytes, aligned"},
    {{1 << 20, 3}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 0, "tile 4 x 3, 256 x 1, 1024 blocks, 0 bytes, aligned"},
    {{1 << 20, 3}, {DT_UINT8, DT_UINT8, DT_UINT8}, 3, 0, "tile 16 x 3, 256 x 1, 256 blocks, 0 bytes, aligned"},
    {{1 << 20, 3}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 1, "tile 4 x 3, 256 x 1, 1024 blocks, 0 bytes"},
    /* large bodies */
    {{1024, 1024},
     {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32},
     500,
     0,
     "tile 2 x 1, 16 x 16, 2048 blocks, 2048 bytes, aligned"},
    {{1 << 20, 3}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 1000, 0, "general"},
    /* more tiles than a grid has blocks */
    {{1 << 20, 1 << 20, 1 << 16}, {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, 3, 0, "general"},
};

/* The first input is dense with dimension 1 first. */
static void tile_make(sample *s, size_t i) {
    memset(s, 0, sizeof *s);
    s->v.loop = LOOP_TILE;
    s->v.nin = 2;
    s->v.nout = 1;
    s->loop = loop_over(s->extent, s->stride, s->offset, tile_cases[i].extents, 3);
    s->loop.stride[0] = s->loop.extent[1];
    s->loop.stride[3] = 1;
    for (int k = 0; k < 3; k++) {
        dtype t = tile_cases[i].type[k];
        s->loop.kind[k] = k ? OPERAND_CONTIGUOUS : OPERAND_STRIDED;
        s->v.operand[k] = (variant_operand){.memory = (uint8_t)t, .value = (uint8_t)t, .kind = s->loop.kind[k]};
    }
    s->traits.nodes = tile_cases[i].nodes;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->traits});
}

static void test_tile_table(void **unused) {
    static sample s;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(tile_cases); i++) {
        tile_make(&s, i);
        if (s.v.loop == LOOP_GENERAL) {
            check(i, "general", tile_cases[i].chosen);
            assert_true(s.v.operand[0].kind == OPERAND_STRIDED && !s.v.operand[0].staged && !s.v.operand[0].record);
            continue;
        }
        launch l = launch_of(&s);
        s.data[0] += tile_cases[i].shift * dtypes[tile_cases[i].type[0]].size;
        lay_out(&s, &l, 256, SMS);
        bool aligned = s.parameters[schema_place(&s.v, NULL, true, GPU_TILE_ALIGNED)];
        assert_int_equal(s.g.threads, 1 << (s.v.tile.columns + s.v.tile.across));
        snprintf(got, sizeof got, "tile %d x %d, %d x %d, %u blocks, %u bytes%s", s.v.tile.vector, s.v.tile.rows,
                 1 << s.v.tile.columns, 1 << s.v.tile.across, s.g.blocks, s.g.shared, aligned ? ", aligned" : "");
        check(i, got, tile_cases[i].chosen);
    }
}

/* Outputs of records of few elements: written by threads as a whole, or through tiles where that takes many accesses, or lines are short. */
static void test_tile_records(void **unused) {
    static const struct {
        int64_t long_side, n;
        dtype in, out;
        bool masked;
        int narrow;
    } cases[] = {{1 << 20, 2, DT_FLOAT32, DT_FLOAT32, false, 2}, {1 << 20, 3, DT_FLOAT32, DT_FLOAT32, false, 0},
                 {1 << 20, 3, DT_FLOAT32, DT_FLOAT32, true, 3},  {1 << 20, 3, DT_UINT8, DT_FLOAT32, false, 0},
                 {1 << 20, 3, DT_FLOAT32, DT_UINT8, false, 3},   {1 << 20, 3, DT_INT8, DT_INT8, false, 3},
                 {1 << 20, 4, DT_INT8, DT_INT8, false, 0},       {1 << 20, 7, DT_INT8, DT_INT8, false, 0},
                 {1 << 20, 8, DT_FLOAT64, DT_FLOAT64, false, 0}, {100, 2, DT_FLOAT32, DT_FLOAT32, false, 0}};
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        memset(&s, 0, sizeof s);
        s.v.loop = LOOP_TILE;
        s.v.nin = s.v.nout = 1;
        s.v.masked = cases[i].masked;
        int narrays = 2 + cases[i].masked;
        s.loop = loop_over(s.extent, s.stride, s.offset, (int64_t[]){cases[i].long_side, cases[i].n, 1000, 0}, narrays);
        s.stride[1] = cases[i].n;
        s.stride[narrays + 1] = 1;
        for (int k = 0; k < narrays; k++) {
            dtype t = k == 0 ? cases[i].in : k == 1 ? cases[i].out : DT_BOOL;
            s.loop.kind[k] = k == 1 ? OPERAND_STRIDED : OPERAND_CONTIGUOUS;
            s.v.operand[k] = (variant_operand){.memory = (uint8_t)t, .value = (uint8_t)t, .kind = s.loop.kind[k]};
        }
        s.traits.nodes = 3;
        gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .traits = &s.traits});
        if (s.v.loop != LOOP_TILE || s.v.tile.narrow != cases[i].narrow)
            fail_msg("case %zu: class %d, narrow %d", i, s.v.loop, s.v.tile.narrow);
    }
}

/* An output across whose lines do not begin at a sector has a halo, if that is cheap: as many rows as a sector has elements. */
static const struct {
    int64_t extents[MAX_DIMS];
    dtype type;
    operand_kind input; /* strided: across, as the second output is */
    int nodes;
    bool has_loop;
    int halo;
    unsigned blocks;
} halo_cases[] = {
    {{1001, 1001}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, false, 8, 256},
    {{1001, 1017}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, false, 8, 256}, /* 1017 + 7 rows fit, .. */
    {{1001, 1018}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, false, 8, 272}, /* .. one more does not */
    {{1001, 1004}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, false, 0, 256}, /* accesses by vectors are aligned */
    {{1001, 1001}, DT_FLOAT64, OPERAND_CONTIGUOUS, 3, false, 4, 1024},
    {{1001, 1001}, DT_UINT8, OPERAND_CONTIGUOUS, 3, false, 32, 72},
    {{1001, 17}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, false, 8, 8},
    {{1001, 15}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, false, 0, 4}, /* too much would be computed twice */
    {{1001, 1001}, DT_FLOAT32, OPERAND_STRIDED, 3, false, 0, 256},
    {{1001, 1001}, DT_FLOAT32, OPERAND_CONTIGUOUS, 33, false, 0, 256},
    {{1001, 1001}, DT_FLOAT32, OPERAND_CONTIGUOUS, 3, true, 0, 3969},
};

static void halo_make(sample *s, size_t i) {
    memset(s, 0, sizeof *s);
    s->v.loop = LOOP_TILE;
    s->v.nin = 1;
    s->v.nout = 2;
    s->loop = loop_over(s->extent, s->stride, s->offset, halo_cases[i].extents, 3);
    for (int k = 0; k < 3; k++) {
        bool across = k == 2 || (k == 0 && halo_cases[i].input == OPERAND_STRIDED);
        if (across) {
            s->loop.stride[k] = s->loop.extent[1];
            s->loop.stride[3 + k] = 1;
        }
        s->loop.kind[k] = across ? OPERAND_STRIDED : OPERAND_CONTIGUOUS;
        uint8_t t = (uint8_t)halo_cases[i].type;
        s->v.operand[k] = (variant_operand){.memory = t, .value = t, .kind = s->loop.kind[k]};
    }
    s->traits.nodes = halo_cases[i].nodes;
    s->traits.has_loop = halo_cases[i].has_loop;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->traits});
}

static void test_tile_halos(void **unused) {
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(halo_cases); i++)
        for (int in_place = 0; in_place < 2; in_place++) {
            halo_make(&s, i);
            launch l = launch_of(&s);
            if (in_place)
                s.data[1] = s.data[0];
            lay_out(&s, &l, 256, SMS);
            if (s.v.loop != LOOP_TILE || s.v.tile.halo != halo_cases[i].halo || s.g.blocks != halo_cases[i].blocks)
                fail_msg("case %zu: halo %d, %u blocks", i, s.v.tile.halo, s.g.blocks);
            if (s.v.tile.halo)
                assert_int_equal(s.parameters[schema_place(&s.v, NULL, true, GPU_TILE_APART)], !in_place);
        }
}

/* ---- Records: operands that lie interleaved ---- */

/* Two operands of a group, or of several, in a row: the bytes of a record, the sizes of its fields. */
typedef struct record_case {
    int64_t extents[MAX_DIMS];
    int bytes;
    dtype type[2]; /* of fields; the input and the output have two each */
    int beside;    /* dtype of a contiguous input beside them; -1: there is none */
    int shift;     /* bytes by which addresses are off from a multiple of 256 */
    int nodes;
    const char *chosen; /* class, records side by side x times; the head, or whether rows are aligned */
} record_case;

static const record_case record_cases[] = {
    /* As many records as make accesses of 16 bytes. */
    {{1 << 20}, 8, {DT_FLOAT32, DT_FLOAT32}, -1, 0, 5, "flat 2 x 2, head 0"},
    {{1 << 20}, 16, {DT_FLOAT64, DT_FLOAT64}, -1, 0, 5, "flat 1 x 2, head 0"},
    {{1 << 20}, 12, {DT_COMPLEX64, DT_FLOAT32}, -1, 0, 5, "flat 4 x 1, head 0"},
    {{1 << 20}, 24, {DT_COMPLEX128, DT_FLOAT64}, -1, 0, 5, "flat 2 x 1, head 0"},
    {{1 << 20}, 32, {DT_COMPLEX128, DT_COMPLEX128}, -1, 0, 5, "flat 1 x 1, head 0"},
    {{1 << 20}, 20, {DT_COMPLEX128, DT_FLOAT32}, -1, 0, 5, "flat 4 x 1, head 0"},
    {{1 << 20}, 3, {DT_INT8, DT_INT8}, -1, 0, 5, "flat 16 x 1, head 0"},
    /* Records before the first at which they are aligned for that; some never are. */
    {{1 << 20}, 12, {DT_COMPLEX64, DT_FLOAT32}, -1, 4, 5, "flat 4 x 1, head 1"},
    {{1 << 20}, 12, {DT_COMPLEX64, DT_FLOAT32}, -1, 8, 5, "flat 4 x 1, head 2"},
    {{1 << 20}, 24, {DT_COMPLEX128, DT_FLOAT64}, -1, 8, 5, "flat 2 x 1, head 1"},
    {{1 << 20}, 16, {DT_FLOAT64, DT_FLOAT64}, -1, 8, 5, "flat 1 x 2, head -1"},
    {{1 << 20}, 24, {DT_COMPLEX128, DT_FLOAT64}, -1, 4, 5, "flat 2 x 1, head -1"},
    /* A wide array beside them takes two accesses, not more. */
    {{1 << 20}, 12, {DT_COMPLEX64, DT_FLOAT32}, DT_FLOAT64, 0, 5, "flat 4 x 1, head 0"},
    {{1 << 20}, 3, {DT_INT8, DT_INT8}, DT_FLOAT64, 0, 5, "flat 4 x 1, head 0"},
    {{1 << 20}, 16, {DT_FLOAT64, DT_FLOAT64}, DT_INT8, 0, 5, "flat 1 x 2, head 0"},
    /* Large bodies are not multiplied. */
    {{1 << 20}, 12, {DT_COMPLEX64, DT_FLOAT32}, -1, 0, 3000, "flat 1 x 1, head 0"},
    {{1000, 1000}, 16, {DT_FLOAT64, DT_FLOAT64}, -1, 0, 5, "rows 1 x 2, aligned 1"},
    {{1000, 1000}, 12, {DT_COMPLEX64, DT_FLOAT32}, -1, 0, 5, "rows 4 x 1, aligned 1"},
    {{1001, 1000}, 12, {DT_COMPLEX64, DT_FLOAT32}, -1, 0, 5, "rows 4 x 1, aligned 0"},
    {{1001, 1000}, 16, {DT_FLOAT64, DT_FLOAT64}, -1, 8, 5, "rows 1 x 2, aligned 0"},
};

static int64_t parameter_of(const sample *s, parameter_id id) {
    return (int64_t)s->parameters[schema_place(&s->v, NULL, true, id)];
}

static void record_make(sample *s, const record_case *c) {
    int nin = 2 + (c->beside >= 0), n = nin + 2;
    memset(s, 0, sizeof *s);
    s->v.nin = (uint8_t)nin;
    s->v.nout = 2;
    s->v.loop = c->extents[1] ? LOOP_ROWS : LOOP_FLAT;
    s->loop = loop_over(s->extent, s->stride, s->offset, c->extents, n);
    for (int k = 0; k < n; k++) {
        int field = k < nin ? k : k - nin, leader = k < nin ? 0 : nin;
        bool beside = field == 2;
        dtype type = beside ? (dtype)c->beside : c->type[field];
        s->v.operand[k] = (variant_operand){.memory = (uint8_t)type,
                                            .value = (uint8_t)type,
                                            .kind = beside ? OPERAND_CONTIGUOUS : OPERAND_INTERLEAVED,
                                            .align = 4};
        if (beside)
            continue;
        s->v.operand[k].group = (uint8_t)(leader + 1);
        s->v.operand[k].record = (uint8_t)c->bytes;
        s->v.operand[k].offset = field ? dtypes[c->type[0]].size : 0;
        for (int d = 0; d < s->loop.ndim; d++)
            s->stride[d * n + k] = s->stride[d * n + k] * c->bytes / dtypes[type].size;
    }
    s->traits.nodes = c->nodes;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->traits});
    launch l = launch_of(s);
    for (int k = 0; k < n; k++)
        if (s->v.operand[k].group)
            s->data[k] += c->shift;
    lay_out(s, &l, 256, SMS);
}

static void test_records(void **unused) {
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(record_cases); i++) {
        char got[128];
        record_make(&s, &record_cases[i]);
        bool flat = s.v.loop == LOOP_FLAT;
        snprintf(got, sizeof got, "%s %d x %d, %s %lld", flat ? "flat" : "rows", vector_of(&s.v), repeat_of(&s.v),
                 flat ? "head" : "aligned", (long long)parameter_of(&s, flat ? GPU_FLAT_HEAD : GPU_ROWS_VECTORS));
        check(i, got, record_cases[i].chosen);
        for (int k = 0; k < variant_operands(&s.v); k++)
            assert_int_equal(s.v.operand[k].align, 0); /* found at each launch: not of the variant */
        /* Records without gaps of which a thread has two accesses or more go through shared memory. */
        int bytes = vector_of(&s.v) * record_cases[i].bytes;
        bool staged =
            flat && bytes >= 32 && bytes % 16 == 0 &&
            dtypes[record_cases[i].type[0]].size + dtypes[record_cases[i].type[1]].size == record_cases[i].bytes;
        assert_int_equal(s.v.operand[s.v.nin].staged, staged);
        assert_int_equal(s.v.operand[0].staged, 0);
        assert_int_equal(s.g.shared, staged ? s.g.threads * (unsigned)bytes : 0);
    }
}

/* In the general class strides are parameters, and the alignment is of the variant. */
static void test_records_general(void **unused) {
    static sample s;
    record_case c = {{8, 1000}, 16, {DT_FLOAT64, DT_FLOAT64}, -1, 0, 5, ""};
    (void)unused;
    record_make(&s, &c);
    s.v.loop = LOOP_GENERAL;
    for (int k = 0; k < 4; k++)
        s.v.operand[k].align = 4;
    gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .traits = &s.traits});
    for (int k = 0; k < 4; k++) {
        const variant_operand *o = &s.v.operand[k];
        assert_true(o->kind == OPERAND_STRIDED && !o->record && o->align == 4 && o->group == 1 + k / 2 * 2);
    }
    /* One address and one set of strides a group. */
    assert_int_equal(schema_count(&s.v, NULL, true), 2 + 1 + 3 + 2 * 2);
}

/* Blocks times what a block takes. */
static int64_t covered(const sample *s) {
    return (int64_t)s->g.blocks * s->g.threads * vector_of(&s->v) * repeat_of(&s->v);
}

static void test_elementwise_covers(void **unused) {
    static sample s;
    (void)unused;
    for (int64_t i = 0; i < trials(2000); i++) {
        loop_class loop = (loop_class)pick(LOOP_FLAT, LOOP_GENERAL);
        int64_t extents[MAX_DIMS] = {pick(1, 1 << pick(0, 20))};
        for (int d = 1; d < (loop == LOOP_FLAT ? 1 : loop == LOOP_ROWS ? pick(2, MAX_DIMS) : pick(1, MAX_DIMS)); d++)
            extents[d] = pick(2, 60);
        if (loop == LOOP_ROWS && !extents[1])
            extents[1] = 2;
        elementwise_make(&s, loop, extents, (dtype)pick(DT_INT8, DT_COMPLEX128), (int)pick(1, 2000));
        assert_true(s.g.threads <= 256 && vector_of(&s.v) <= 16);
        assert_true(covered(&s) >= s.loop.count);
        if (s.v.loop != LOOP_ROWS) /* no block is idle but for want of elements in the last */
            assert_true(covered(&s) - covered(&s) / s.g.blocks < s.loop.count);
    }
}

/* More elements never get smaller blocks, and the same blocks never fewer. */
static void test_elementwise_grows(void **unused) {
    static sample s;
    (void)unused;
    for (int loop = 0; loop < 2; loop++) {
        uint32_t threads = 0, blocks = 0;
        for (int64_t n = 1; n < 1 << 22; n += 1 + n / 7) {
            elementwise_make(&s, loop ? LOOP_GENERAL : LOOP_FLAT, (int64_t[MAX_DIMS]){n}, DT_FLOAT32, 5);
            assert_true(s.g.threads > threads || (s.g.threads == threads && s.g.blocks >= blocks));
            threads = s.g.threads;
            blocks = s.g.blocks;
        }
    }
}

/* ---- Reductions and accumulations ---- */

/* An array of lines by length, and results, or an array, of the same lines; along: a line is contiguous, else what lies side by side is. */
typedef struct reduced {
    sample s;
    nd_fold loops;
    int64_t extents[2], strides[4], offsets[4];
    int64_t chunk;
} reduced;

static nd_loop one_dimension(reduced *r, int which, int64_t extent, int64_t in, int64_t out) {
    nd_loop loop = {.ndim = 1, .narrays = 2, .count = extent};
    loop.extent = &r->extents[which];
    loop.stride = &r->strides[2 * which];
    loop.offset = &r->offsets[2 * which];
    *loop.extent = extent;
    loop.stride[0] = in;
    loop.stride[1] = out;
    for (int k = 0; k < 2; k++)
        loop.kind[k] = (uint8_t)(loop.stride[k] == 1 ? OPERAND_CONTIGUOUS
                                 : loop.stride[k]    ? OPERAND_STRIDED
                                                     : OPERAND_CONSTANT);
    return loop;
}

static void reduced_begin(reduced *r, loop_class loop, dtype type) {
    memset(r, 0, sizeof *r);
    variant *v = &r->s.v;
    v->loop = (uint8_t)loop;
    v->nin = v->nout = 1;
    operands_set(v, type, OPERAND_STRIDED);
}

/* Asks for the policy of the loops. nodes: of mapping and combining an element. */
static void reduced_end(reduced *r, fold_order order, int nodes, int64_t chunk_stride) {
    variant *v = &r->s.v;
    r->s.traits =
        (code_traits){.nodes = nodes, .order = order, .nstate = 1, .state_bytes = 4, .identity = true, .neutral = true};
    const fold_problem p = {.loops = &r->loops, .traits = &r->s.traits};
    r->chunk = gpu_specialise_fold(v, &p, SMS);
    v->reduction.to_states = r->chunk > 0;
    launch l = launch_of(&r->s);
    l.loop = &r->loops.kept;
    l.reduced = &r->loops.reduced;
    l.chunk = r->chunk;
    l.chunk_stride = chunk_stride;
    l.elements = r->loops.reduced.count;
    r->s.loop = r->loops.kept;
    l.scratch = gpu_scratch(&l) ? (void *)0x40000000 : NULL;
    lay_out(&r->s, &l, 256, SMS);
}

static void reduced_of(reduced *r, loop_class loop, int64_t lines, int64_t length, bool along, fold_order order,
                       dtype type, int nodes) {
    bool scan = loop == LOOP_SCAN;
    int64_t across = along ? length : 1, step = along ? 1 : lines;
    reduced_begin(r, loop, type);
    r->loops.kept = one_dimension(r, 0, lines, across, scan ? across : 1);
    r->loops.reduced = one_dimension(r, 1, length, step, scan ? step : 0);
    reduced_end(r, order, nodes, along ? 1 : lines);
}

static void reduced_make(reduced *r, loop_class loop, int64_t lines, int64_t length, bool along, fold_order order) {
    reduced_of(r, loop, lines, length, along, order, DT_FLOAT32, 2);
}

static const struct {
    int64_t lines, length;
    bool along;
    fold_order order;
    const char *chosen;
} fold_cases[] = {
    {1, 1000, true, FOLD_FREE, "rows 4 x 4 once, 2^6 threads, 0 results, parts of 0, 1 blocks of 64"},
    {1, 1024, true, FOLD_FREE, "rows 4 x 4 once, 2^6 threads, 0 results, parts of 0, 1 blocks of 64"},
    {1, 1025, true, FOLD_FREE, "rows 4 x 4, 2^6 threads, 0 results, parts of 0, 1 blocks of 64"},
    {300, 5000, true, FOLD_FREE, "rows 4 x 4 once, 2^9 threads, 0 results, parts of 0, 300 blocks of 512"},
    {1, 1 << 20, true, FOLD_FREE, "rows 4 x 4, 2^8 threads, 0 results, parts of 8192, 128 blocks of 256"},
    {1, 1 << 28, true, FOLD_FREE, "rows 4 x 4, 2^8 threads, 0 results, parts of 131072, 2048 blocks of 256"},
    {1, 1 << 28, true, FOLD_SERIAL, "columns 1 x 8, 2^0 threads, 0 results, parts of 0, 1 blocks of 1"},
    {1000, 1000, true, FOLD_FREE, "rows 4 x 8, 2^5 threads, 1 results, parts of 0, 250 blocks of 128"},
    {1 << 20, 16, true, FOLD_FREE, "rows 4 x 1, 2^2 threads, 4 results, parts of 0, 4096 blocks of 256"},
    {1 << 20, 10, true, FOLD_FREE, "rows of 10, 2 results, 4096 blocks of 128"},
    {1 << 20, 3, true, FOLD_FREE, "rows of 3, 4 results, 2048 blocks of 128"},
    {1 << 20, 3, true, FOLD_SERIAL, "rows of 3, 4 results, 2048 blocks of 128"},
    {1 << 20, 32, true, FOLD_ORDERED, "rows 4 x 1, 2^3 threads, 4 results, parts of 0, 8192 blocks of 256"},
    {1 << 20, 33, true, FOLD_FREE, "rows of 33, 1 results, 8192 blocks of 128"},
    {1 << 20, 65, true, FOLD_FREE, "rows 4 x 4, 2^2 threads, 0 results, parts of 0, 16384 blocks of 256"},
    {100, 16, true, FOLD_FREE, "rows 4 x 1, 2^2 threads, 1 results, parts of 0, 13 blocks of 32"},
    {1000, 1000, false, FOLD_FREE, "columns 4 x 8, 2^3 threads, 0 results, parts of 128, 64 blocks of 256"},
    {1 << 20, 100, false, FOLD_ORDERED, "columns 4 x 8, 2^3 threads, 0 results, parts of 0, 8192 blocks of 256"},
    {1 << 24, 3, false, FOLD_FREE, "columns of 3, 0 results, 16384 blocks of 256"},
    {1 << 24, 17, false, FOLD_FREE, "columns 4 x 8, 2^0 threads, 0 results, parts of 0, 16384 blocks of 256"},
    {16, 1 << 20, false, FOLD_FREE, "columns 4 x 8, 2^6 threads, 0 results, parts of 1024, 1024 blocks of 256"},
    {1000, 1000, true, FOLD_SERIAL, "columns 1 x 8, 2^0 threads, 0 results, parts of 0, 4 blocks of 256"},
};

static void test_fold_table(void **unused) {
    static reduced r;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(fold_cases); i++) {
        reduced_make(&r, LOOP_FOLD, fold_cases[i].lines, fold_cases[i].length, fold_cases[i].along,
                     fold_cases[i].order);
        const variant *v = &r.s.v;
        if (v->fold.length)
            snprintf(got, sizeof got, "%s of %d, %d results, %u blocks of %u",
                     v->reduction.columns ? "columns" : "rows", v->fold.length, v->fold.results, r.s.g.blocks,
                     r.s.g.threads);
        else
            snprintf(got, sizeof got, "%s %d x %d%s, 2^%d threads, %d results, parts of %lld, %u blocks of %u",
                     v->reduction.columns ? "columns" : "rows", v->fold.vector, v->fold.accesses,
                     v->fold.once ? " once" : "", v->fold.coop, v->fold.results, (long long)r.chunk, r.s.g.blocks,
                     r.s.g.threads);
        check(i, got, fold_cases[i].chosen);
    }
}

/* Lanes of many rows: fewer where elements are narrow or combining is long, as far as rows fill the device. */
static void test_row_lanes(void **unused) {
    enum {
        SUM = 7,
        MAXIMUM = 24,
        VARIANCE = 88
    };
    static const struct {
        int64_t lines, length;
        dtype type;
        int nodes;
        fold_order order;
        const char *chosen;
    } cases[] = {
        {1 << 21, 100, DT_FLOAT32, SUM, FOLD_FREE, "4 x 1, 2^5 lanes, 4 results"},
        {1 << 21, 64, DT_BFLOAT16, SUM, FOLD_FREE, "8 x 1, 2^3 lanes, 4 results"},
        {1 << 21, 100, DT_INT8, SUM, FOLD_FREE, "4 x 7, 2^2 lanes, 2 results"},
        {1 << 21, 100, DT_INT8, SUM, FOLD_ORDERED, "4 x 1, 2^5 lanes, 4 results"},
        {1 << 21, 48, DT_FLOAT32, VARIANCE, FOLD_FREE, "4 x 3, 2^2 lanes, 1 results"},
        {1 << 12, 48, DT_FLOAT32, VARIANCE, FOLD_FREE, "4 x 1, 2^4 lanes, 1 results"},
        {1 << 21, 128, DT_BFLOAT16, MAXIMUM, FOLD_FREE, "8 x 4, 2^2 lanes, 1 results"},
        {1 << 20, 101, DT_BFLOAT16, MAXIMUM, FOLD_FREE, "8 x 4, 2^2 lanes, 0 results"},
        {1 << 20, 250, DT_INT8, SUM, FOLD_FREE, "16 x 4, 2^2 lanes, 0 results"},
        {1 << 20, 150, DT_INT8, SUM, FOLD_FREE, "2 x 5, 2^4 lanes, 4 results"},
        {1 << 16, 2000, DT_FLOAT32, MAXIMUM, FOLD_FREE, "4 x 4, 2^7 lanes, 0 results"},
        {1 << 16, 3001, DT_FLOAT32, MAXIMUM, FOLD_FREE, "4 x 4, 2^5 lanes, 0 results"},
        {1 << 16, 4096, DT_BFLOAT16, MAXIMUM, FOLD_FREE, "8 x 4, 2^4 lanes, 0 results"},
        {1 << 16, 5000, DT_INT8, MAXIMUM, FOLD_FREE, "16 x 2, 2^3 lanes, 0 results"},
        {1 << 14, 20000, DT_INT8, SUM, FOLD_FREE, "16 x 4, 2^6 lanes, 0 results"},
        {1 << 11, 20000, DT_INT8, SUM, FOLD_FREE, "16 x 4, 2^8 lanes, 0 results"},
        {1 << 16, 5000, DT_FLOAT32, SUM, FOLD_FREE, "4 x 4, 2^8 lanes, 0 results"},
        {1 << 16, 1000, DT_FLOAT64, SUM, FOLD_FREE, "2 x 4, 2^7 lanes, 0 results"},
        {1 << 16, 4096, DT_FLOAT64, SUM, FOLD_FREE, "2 x 8, 2^8 lanes, 0 results"},
    };
    static reduced r;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        reduced_of(&r, LOOP_FOLD, cases[i].lines, cases[i].length, true, cases[i].order, cases[i].type, cases[i].nodes);
        const variant *v = &r.s.v;
        assert_int_equal(v->fold.length, 0);
        snprintf(got, sizeof got, "%d x %d, 2^%d lanes, %d results", v->fold.vector, v->fold.accesses, v->fold.coop,
                 v->fold.results);
        check(i, got, cases[i].chosen);
    }
}

/* Columns of many planes: planes in shared memory, a thread a column, or blocks of columns. */
static void test_columns_alone(void **unused) {
    enum {
        SUM = 7,
        VARIANCE = 88,
        ELEMENTS = 1 << 28
    };
    static const struct {
        int64_t length, across;
        dtype type;
        int nodes;
        const char *chosen;
    } cases[] = {
        {17, 33, DT_FLOAT32, SUM, "planes 4"},      {64, 64, DT_FLOAT32, SUM, "alone 8"},
        {9, 5, DT_FLOAT32, SUM, "planes 44"},       {9, 100, DT_FLOAT32, SUM, "planes 2"},
        {5, 1000, DT_FLOAT32, SUM, "columns"},      {5, 3, DT_FLOAT32, SUM, "planes 136"},
        {300, 100, DT_FLOAT32, SUM, "columns"},     {1001, 7, DT_FLOAT32, SUM, "columns"},
        {1001, 7, DT_FLOAT32, VARIANCE, "alone 8"}, {17, 33, DT_FLOAT64, SUM, "planes 2"},
        {100, 3, DT_FLOAT64, SUM, "planes 3"},      {64, 64, DT_BFLOAT16, SUM, "planes 1"},
        {64, 60, DT_BFLOAT16, SUM, "planes 1"},     {9, 100, DT_FLOAT32, VARIANCE, "planes 2"},
        {7, 100, DT_FLOAT32, VARIANCE, "planes 2"}, {9, 100, DT_INT8, VARIANCE, "planes 8"},
        {50, 256, DT_FLOAT32, VARIANCE, "alone 8"}, {100, 256, DT_FLOAT32, VARIANCE, "columns"},
        {31, 33, DT_FLOAT32, SUM, "alone 8"},       {31, 33, DT_INT16, SUM, "planes 8"},
        {70, 33, DT_FLOAT32, SUM, "alone 8"},       {70, 5, DT_FLOAT32, SUM, "planes 4"},
        {70, 60, DT_BFLOAT16, SUM, "planes 1"},     {9, 300, DT_FLOAT32, VARIANCE, "alone 8"},
        {7, 300, DT_FLOAT32, VARIANCE, "columns"},  {9, 300, DT_INT8, VARIANCE, "columns"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t n = cases[i].length, across = cases[i].across, planes = ELEMENTS / (n * across);
        int64_t extent[3] = {across, planes, n}, stride[6] = {1, 1, n * across, across, across, 0}, offset[2] = {0};
        variant v = {.loop = LOOP_FOLD, .nin = 1, .nout = 1};
        operands_set(&v, cases[i].type, OPERAND_STRIDED);
        nd_fold loops = {.kept = {.ndim = 2,
                                  .narrays = 2,
                                  .count = across * planes,
                                  .extent = extent,
                                  .stride = stride,
                                  .offset = offset,
                                  .kind = {OPERAND_CONTIGUOUS, OPERAND_CONTIGUOUS}},
                         .reduced = {.ndim = 1,
                                     .narrays = 2,
                                     .count = n,
                                     .extent = extent + 2,
                                     .stride = stride + 4,
                                     .offset = offset,
                                     .kind = {OPERAND_STRIDED, OPERAND_CONSTANT}}};
        code_traits traits = {.nodes = cases[i].nodes, .order = FOLD_FREE, .nstate = 1, .state_bytes = 4};
        char got[32];
        assert_int_equal(gpu_specialise_fold(&v, &(fold_problem){.loops = &loops, .traits = &traits}, SMS), 0);
        if (v.fold.plane)
            snprintf(got, sizeof got, "planes %d", v.fold.results);
        else if (v.reduction.columns)
            snprintf(got, sizeof got, "columns");
        else
            snprintf(got, sizeof got, "alone %d", v.fold.accesses);
        check(i, got, cases[i].chosen);
        assert_true(v.reduction.columns || (!v.fold.coop && v.fold.vector == 1 && !v.fold.results) ||
                    v.fold.plane == across);
    }
}

/* Elements of a part of a segment that is split. */
static long long split_by(const variant *v, const nd_fold *loops) {
    static char arrays[VARIANT_OPERANDS], *data[VARIANT_OPERANDS];
    static const uint64_t numbers[VARIANT_OPERANDS][2];
    for (int k = 0; k < VARIANT_OPERANDS; k++)
        data[k] = arrays;
    launch l = {.v = v, .loop = &loops->kept, .reduced = &loops->reduced, .data = data, .numbers = numbers};
    uint64_t parameters[200];
    grid g;
    assert_int_equal(gpu_layout(&l, &(occupancy){.sms = SMS}, parameters, &g), UF_OK);
    assert_int_equal(gpu_scratch(&l), SPLIT_BYTES);
    assert_true(g.second_blocks == 2 * SPLIT_PARTS && g.threads == SPLIT_PARTS && *g.second == 0);
    return (long long)g.second[-3];
}

/* Segments, by their mean length: parts of few long ones; lanes and vectors of many; a thread for each column, or blocks of columns. */
static void test_segments(void **unused) {
    static const struct {
        int64_t length, across, segments; /* of the axis, of a row of columns */
        dtype type;
        const char *chosen;
        bool uneven;
    } cases[] = {
        {1 << 28, 1, 1, DT_FLOAT32, "rows 4 x 4, 2^8 lanes, 2048 parts", false},
        {1 << 28, 1, 100, DT_FLOAT32, "rows 4 x 4, 2^8 lanes, 22 parts", false},
        {1 << 28, 1, 10000, DT_FLOAT32, "rows 4 x 4, 2^8 lanes, 0 parts", false},
        {1 << 28, 1, 1 << 18, DT_FLOAT32, "rows 4 x 4, 2^5 lanes, 0 parts", false},
        {1 << 28, 1, 1 << 22, DT_FLOAT32, "rows 4 x 4, 2^1 lanes, 0 parts", false},
        {1 << 28, 1, 1 << 24, DT_FLOAT32, "rows 4 x 4, 2^0 lanes, 0 parts", false},
        {1 << 28, 1, 1 << 26, DT_FLOAT32, "rows 1 x 4, 2^0 lanes, 0 parts", false},
        {1 << 28, 1, 1 << 24, DT_INT8, "rows 4 x 4, 2^0 lanes, 0 parts", false},
        {1 << 28, 1, 1 << 18, DT_INT8, "rows 16 x 4, 2^3 lanes, 0 parts", false},
        {1 << 26, 3, 2, DT_FLOAT32, "columns 1 x 8, 2^6 lanes, 1049 parts", false},
        {1 << 26, 3, 1 << 24, DT_FLOAT32, "rows 1 x 4, 2^0 lanes, 0 parts", false},
        {1 << 22, 64, 1 << 20, DT_FLOAT32, "rows 1 x 4, 2^0 lanes, 0 parts", false},
        {1 << 22, 64, 1 << 18, DT_FLOAT32, "columns 4 x 8, 2^1 lanes, 0 parts", false},
        {1 << 20, 1024, 1 << 19, DT_BFLOAT16, "columns 8 x 2, 2^0 lanes, 0 parts", false},
        /* Segments that may be much longer than most: a second launch, but for few, of little, and where each row of columns is a block's. */
        {1 << 28, 1, 10, DT_FLOAT32, "rows 4 x 4, 2^8 lanes, 212 parts", true},
        {1 << 28, 1, 100, DT_FLOAT32, "rows 4 x 4, 2^8 lanes, 0 parts, split by 1048577", true},
        {1 << 28, 1, 1000, DT_FLOAT32, "rows 4 x 4, 2^8 lanes, 0 parts, split by 1048577", true},
        {1 << 28, 1, 1 << 18, DT_FLOAT32, "rows 4 x 4, 2^5 lanes, 0 parts, split by 1048577", true},
        {1 << 28, 1, 1 << 26, DT_INT8, "rows 1 x 4, 2^0 lanes, 0 parts, split by 1048577", true},
        {1 << 18, 1, 1 << 14, DT_INT8, "rows 4 x 4, 2^0 lanes, 0 parts", true},
        {1 << 18, 1, 1 << 14, DT_INT64, "rows 2 x 4, 2^0 lanes, 0 parts, split by 1025", true},
        {1 << 26, 3, 1 << 24, DT_FLOAT32, "rows 1 x 4, 2^0 lanes, 0 parts, split by 786433", true},
        {1 << 22, 64, 1 << 18, DT_FLOAT32, "columns 4 x 8, 2^1 lanes, 0 parts", true},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t n = cases[i].length, across = cases[i].across, segments = cases[i].segments;
        int64_t shape[2] = {n, across}, results[2] = {segments, across};
        nd_array arrays[] = {{.shape = shape, .ndim = 2, .size = dtypes[cases[i].type].size, .role = ND_ELEMENTS},
                             {.shape = results, .ndim = 2, .size = 8, .output = true, .role = ND_RESULTS},
                             {.shape = &segments, .ndim = 1, .size = 8, .role = ND_BOUNDS},
                             {.shape = &segments, .ndim = 1, .size = 8, .role = ND_BOUNDS}};
        variant v = {.loop = LOOP_FOLD, .nin = 1, .nout = 1, .segmented = 1};
        operands_set(&v, cases[i].type, OPERAND_STRIDED);
        v.operand[2].memory = v.operand[3].memory = DT_INT64;
        nd_fold loops;
        void *space = malloc(nd_fold_space(2, 4));
        assert_int_equal(nd_fold_plan(arrays, 4, 1, ND_SEGMENTS_INSIDE, space, &loops), UF_OK);
        code_traits traits = {.nodes = 7, .order = FOLD_FREE, .nstate = 1, .state_bytes = 4};
        char got[96];
        fold_problem problem = {.loops = &loops, .traits = &traits, .uneven = cases[i].uneven};
        int64_t chunk = gpu_specialise_fold(&v, &problem, SMS);
        int end =
            snprintf(got, sizeof got, "%s %d x %d, 2^%d lanes, %lld parts", v.reduction.columns ? "columns" : "rows",
                     v.fold.vector, v.fold.accesses, v.fold.coop, (long long)(chunk ? (n + chunk - 1) / chunk : 0));
        if (v.fold.split)
            snprintf(got + end, sizeof got - (size_t)end, ", split by %lld", split_by(&v, &loops));
        check(i, got, cases[i].chosen);
        free(space);
    }
}

/* Tiles that the lanes of a warp take in turn: of many lines, but for words whose line fills the tile of a block. */
static void test_scan_in_turn(void **unused) {
    static const struct {
        int64_t lines, length;
        dtype type;
        const char *chosen;
    } cases[] = {
        {1 << 16, 5000, DT_FLOAT32, "4 x 8, 2^5 lanes, in turn"},
        {1 << 16, 600, DT_FLOAT32, "4 x 4, 2^5 lanes, in turn"},
        {1 << 16, 4096, DT_FLOAT32, "4 x 4, 2^8 lanes"},
        {1 << 11, 5000, DT_FLOAT32, "4 x 4, 2^9 lanes"},
        {1 << 16, 1002, DT_FLOAT32, "2 x 8, 2^6 lanes"},
        {1 << 16, 10001, DT_FLOAT32, "1 x 8, 2^5 lanes, in turn"},
        {1 << 16, 4096, DT_BFLOAT16, "8 x 4, 2^5 lanes, in turn"},
        {1 << 16, 600, DT_BFLOAT16, "8 x 2, 2^5 lanes, in turn"},
        {1 << 16, 512, DT_BFLOAT16, "8 x 2, 2^5 lanes"},
        {1 << 16, 10000, DT_INT8, "16 x 2, 2^5 lanes, in turn"},
    };
    static reduced r;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        reduced_of(&r, LOOP_SCAN, cases[i].lines, cases[i].length, true, FOLD_FREE, cases[i].type, 2);
        const variant *v = &r.s.v;
        snprintf(got, sizeof got, "%d x %d, 2^%d lanes%s", v->scan.vector, v->scan.accesses, v->scan.coop,
                 v->scan.in_turn ? ", in turn" : "");
        check(i, got, cases[i].chosen);
    }
}

static const struct {
    int64_t lines, length;
    bool along;
    fold_order order;
    const char *chosen;
} scan_cases[] = {
    {1, 1000, true, FOLD_FREE, "rows 4 x 4, 2^6 threads, 1 blocks of 64"},
    {1, 1 << 24, true, FOLD_FREE, "rows 4 x 16, 2^9 threads, 512 blocks of 512, spread"},
    {1, 1 << 24, true, FOLD_SERIAL, "alone 1 x 4, 2^0 threads, 1 blocks of 64"},
    {1000, 1000, true, FOLD_FREE, "rows 4 x 4, 2^6 threads, 1000 blocks of 64"},
    {1 << 16, 10, true, FOLD_FREE, "rows of 10, 1 a thread, 512 blocks of 128"},
    {1 << 20, 3, true, FOLD_SERIAL, "rows of 3, 4 a thread, 2048 blocks of 128"},
    {1 << 16, 33, true, FOLD_FREE, "rows of 33, 1 a thread, 512 blocks of 128"},
    {1 << 16, 65, true, FOLD_FREE, "rows 1 x 4, 2^5 threads, 8192 blocks of 256"},
    {1000, 1000, false, FOLD_FREE, "columns 2 x 16, 2^4 threads, 128 blocks of 256, spread"},
    {1 << 16, 1000, false, FOLD_ORDERED, "columns 2 x 16, 2^4 threads, 2048 blocks of 256"},
    {1 << 16, 100, false, FOLD_ORDERED, "columns 2 x 8, 2^4 threads, 2048 blocks of 256"},
    {1 << 20, 100, false, FOLD_FREE, "columns 2 x 8, 2^5 threads, 16384 blocks of 256"},
    {1 << 20, 20, false, FOLD_FREE, "alone 1 x 8, 2^0 threads, 4096 blocks of 256"},
    {1 << 20, 7, false, FOLD_FREE, "alone 4 x 8, 2^0 threads, 1024 blocks of 256"},
    {1 << 20, 33, false, FOLD_FREE, "alone 4 x 8, 2^0 threads, 1024 blocks of 256"},
    {1 << 20, 49, false, FOLD_FREE, "columns 2 x 8, 2^5 threads, 16384 blocks of 256"},
    {1 << 20, 17, false, FOLD_FREE, "alone 1 x 16, 2^0 threads, 4096 blocks of 256"},
    {(1 << 20) + 1, 17, false, FOLD_FREE, "alone 1 x 16, 2^0 threads, 4097 blocks of 256"},
    {1 << 16, 20, false, FOLD_FREE, "columns 2 x 8, 2^6 threads, 512 blocks of 256"},
    {20, 1 << 20, false, FOLD_FREE, "tiles of 20 lines, 12 x 32, 2731 blocks of 240, spread"},
    {3, 1 << 20, false, FOLD_ORDERED, "tiles of 3 lines, 85 x 32, 386 blocks of 255, spread"},
    {80, 1 << 20, false, FOLD_FREE, "tiles of 80 lines, 3 x 32, 10923 blocks of 240, spread"},
    {81, 1 << 20, false, FOLD_FREE, "columns 2 x 16, 2^4 threads, 12288 blocks of 256, spread"},
    {3, 1000, false, FOLD_FREE, "tiles of 3 lines, 63 x 16, 1 blocks of 189"},
    {3, 1 << 20, false, FOLD_SERIAL, "alone 1 x 4, 2^0 threads, 1 blocks of 64"},
    {4, 1000, false, FOLD_FREE, "tiles of 4 lines, 63 x 16, 1 blocks of 252"},
};

static void test_scan_table(void **unused) {
    static reduced r;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(scan_cases); i++) {
        reduced_make(&r, LOOP_SCAN, scan_cases[i].lines, scan_cases[i].length, scan_cases[i].along,
                     scan_cases[i].order);
        const variant *v = &r.s.v;
        bool spread = r.s.parameters[schema_place(v, NULL, true, GPU_SCAN_COUNTER)];
        if (v->scan.length)
            snprintf(got, sizeof got, "rows of %d, %d a thread, %u blocks of %u", v->scan.length, v->scan.lines,
                     r.s.g.blocks, r.s.g.threads);
        else if (v->scan.plane)
            snprintf(got, sizeof got, "tiles of %d lines, %d x %d, %u blocks of %u%s", v->scan.plane, v->scan.lines,
                     v->scan.accesses, r.s.g.blocks, r.s.g.threads, spread ? ", spread" : "");
        else
            snprintf(got, sizeof got, "%s %d x %d, 2^%d threads, %u blocks of %u%s",
                     v->reduction.columns ? "columns"
                     : v->scan.alone      ? "alone"
                                          : "rows",
                     v->scan.vector, v->scan.accesses, v->scan.coop, r.s.g.blocks, r.s.g.threads,
                     spread ? ", spread" : "");
        check(i, got, scan_cases[i].chosen);
    }
}

/* Neighbouring lines that a thread has, so that it accesses words and more. */
static void test_scan_side(void **unused) {
    static const struct {
        int64_t lines, length;
        dtype type;
        int nodes;
        const char *chosen;
    } cases[] = {
        {1 << 20, 33, DT_INT8, 2, "8 x 4"},         {1 << 20, 1000, DT_BFLOAT16, 2, "8 x 4"},
        {1 << 18, 33, DT_INT8, 2, "4 x 8"},         {(1 << 20) + 2, 33, DT_INT8, 2, "2 x 16"},
        {1 << 20, 7, DT_FLOAT64, 2, "2 x 8"},       {1 << 20, 20, DT_INT8, 200, "2 x 4"},
        {(1 << 20) + 1, 33, DT_INT8, 2, "columns"}, {1 << 14, 33, DT_INT8, 2, "columns"},
        {1 << 20, 33, DT_FLOAT32, 2, "4 x 8"},      {1 << 20, 49, DT_FLOAT32, 2, "columns"},
        {1 << 20, 1000, DT_FLOAT64, 2, "columns"},
    };
    static reduced r;
    char got[32];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        reduced_of(&r, LOOP_SCAN, cases[i].lines, cases[i].length, false, FOLD_FREE, cases[i].type, cases[i].nodes);
        const variant *v = &r.s.v;
        snprintf(got, sizeof got, v->scan.alone ? "%d x %d" : "columns", v->scan.vector, v->scan.accesses);
        check(i, got, cases[i].chosen);
        if (v->scan.alone)
            assert_true((int64_t)r.s.g.blocks * r.s.g.threads * v->scan.vector >= cases[i].lines);
    }
}

/* `planes` times `side` lines side by side, whose planes lie `gap` elements apart. */
static void planes_make(reduced *r, int64_t side, int64_t planes, int64_t length, int64_t gap, dtype type, int nodes) {
    static int64_t extents[2], strides[4], offsets[4];
    reduced_begin(r, LOOP_SCAN, type);
    extents[0] = side;
    extents[1] = planes;
    strides[0] = strides[1] = 1;
    strides[2] = strides[3] = side * length + gap;
    r->loops.kept = (nd_loop){.ndim = 2, .narrays = 2, .count = side * planes};
    r->loops.kept.extent = extents;
    r->loops.kept.stride = strides;
    r->loops.kept.offset = offsets;
    r->loops.reduced = one_dimension(r, 1, length, side, side);
    reduced_end(r, FOLD_FREE, nodes, 0);
}

/* Long lines side by side: tiles of all of them, or each by itself, or blocks of columns. */
static void test_scan_tiles(void **unused) {
    static const struct {
        int64_t side, planes, length, gap;
        dtype type;
        int nodes;
        const char *chosen;
    } cases[] = {
        {3, 1, 1 << 20, 0, DT_FLOAT32, 2, "85 x 32"},
        {3, 1, 1 << 20, 0, DT_FLOAT64, 2, "85 x 16"},
        {3, 1, 1 << 20, 0, DT_INT8, 2, "85 x 128"},
        {3, 1, 1 << 20, 1, DT_FLOAT32, 2, "85 x 32"}, /* planes lie apart: there is one */
        {200, 1, 1 << 20, 0, DT_INT8, 2, "1 x 64"},
        {201, 1, 1 << 20, 0, DT_INT8, 2, "columns"},
        {160, 1, 1 << 20, 0, DT_BFLOAT16, 2, "1 x 64"},
        {161, 1, 1 << 20, 0, DT_BFLOAT16, 2, "columns"},
        {40, 1, 1 << 20, 0, DT_FLOAT64, 2, "6 x 16"},
        {41, 1, 1 << 20, 0, DT_FLOAT64, 2, "columns"},
        {3, 1, 1 << 20, 0, DT_FLOAT32, 91, "rows"}, /* much code */
        {9, 1, 1 << 20, 0, DT_FLOAT32, 91, "columns"},
        {3, 10, 300, 0, DT_FLOAT32, 2, "75 x 4"},      /* short lines: fewer elements for more threads, .. */
        {3, 10, 300, 0, DT_INT8, 2, "19 x 16"},        /* .. but whole accesses */
        {2, 10, 240, 0, DT_INT8, 2, "rows"},           /* .. and a warp */
        {64, 1000, 1000, 0, DT_FLOAT32, 2, "columns"}, /* whole accesses, enough of them */
        {64, 100, 1000, 0, DT_FLOAT32, 2, "4 x 32"},   /* not enough */
        {32, 2000, 1000, 0, DT_FLOAT64, 2, "8 x 16"},  /* wider elements */
        {8, 20000, 1000, 0, DT_FLOAT32, 2, "alone"},   /* whole sectors, lines enough */
        {2, 1 << 17, 304, 0, DT_INT8, 2, "19 x 16"},   /* lines together, but not close */
        {7, 20000, 1000, 0, DT_FLOAT32, 2, "32 x 32"},
        {33, 20000, 304, 0, DT_INT8, 2, "5 x 64"},    /* lines begin within sectors */
        {33, 20000, 300, 0, DT_INT8, 2, "alone"},     /* and planes within accesses */
        {33, 20000, 300, 0, DT_FLOAT32, 2, "7 x 32"}, /* where words are copied one by one */
    };
    static reduced r;
    char got[32];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        planes_make(&r, cases[i].side, cases[i].planes, cases[i].length, cases[i].gap, cases[i].type, cases[i].nodes);
        const variant *v = &r.s.v;
        if (variant_interleaved_lines(v))
            snprintf(got, sizeof got, "%d x %d", v->scan.lines, v->scan.accesses);
        else
            snprintf(got, sizeof got, "%s", v->scan.alone ? "alone" : v->reduction.columns ? "columns" : "rows");
        check(i, got, cases[i].chosen);
        if (!variant_interleaved_lines(v))
            continue;
        int64_t tile = (int64_t)v->scan.lines * v->scan.accesses, tiles = (cases[i].length + tile - 1) / tile;
        assert_int_equal(r.s.g.blocks, tiles * cases[i].planes);
        assert_true(v->operand[0].staged && v->operand[1].staged && !v->reduction.columns);
        assert_int_equal(r.s.parameters[schema_place(v, NULL, true, GPU_SCAN_COUNTER)] != 0, tiles > 1);
    }
}

/* Planes of lines that would begin within accesses of memory's go through shared memory. */
static void test_scan_planes(void **unused) {
    static const struct {
        int64_t side, planes, length, gap;
        dtype type;
        int nodes, each; /* each: planes of a block; 0: the lines are accessed where they are */
    } cases[] = {
        {33, 100000, 17, 0, DT_FLOAT32, 2, 4}, /* of 2,244 bytes, so that only four of them end at a whole access */
        {100, 100000, 20, 0, DT_BFLOAT16, 2, 1},
        {4, 1025, 17, 0, DT_FLOAT32, 2, 30}, /* of no more than 8 KiB */
        {2, 4000, 8, 0, DT_FLOAT32, 2, 64},
        {10, 100000, 3, 0, DT_INT8, 2, 200}, /* as many lines as bring some bytes for each thread */
        {64, 100000, 63, 0, DT_FLOAT32, 2, 1},
        {64, 100000, 64, 0, DT_FLOAT32, 2, 0}, /* whole lines of memory, long ones */
        {64, 100000, 64, 0, DT_INT16, 2, 1},
        {60, 100000, 64, 0, DT_FLOAT32, 2, 1},
        {130, 100000, 40, 0, DT_FLOAT32, 2, 1},
        {33, 100000, 17, 1, DT_FLOAT32, 2, 0},  /* gaps */
        {256, 100000, 20, 0, DT_INT8, 2, 0},    /* many lines of a plane */
        {33, 100, 17, 0, DT_FLOAT32, 2, 0},     /* few lines */
        {33, 100000, 65, 0, DT_FLOAT32, 2, 4},  /* long ones, by loops */
        {3, 100000, 256, 0, DT_FLOAT32, 2, 0},  /* longer ones */
        {250, 100000, 30, 0, DT_FLOAT64, 2, 0}, /* more than shared memory has room for */
        {33, 100000, 17, 0, DT_FLOAT32, 200, 0} /* much code */
    };
    static reduced r;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        planes_make(&r, cases[i].side, cases[i].planes, cases[i].length, cases[i].gap, cases[i].type, cases[i].nodes);
        const variant *v = &r.s.v;
        if ((v->scan.length ? v->scan.plane : 0) != (cases[i].each ? cases[i].side : 0))
            fail_msg("case %zu: planes of %d lines", i, v->scan.plane);
        if (!cases[i].each)
            continue;
        assert_int_equal(v->scan.lines, cases[i].each);
        assert_int_equal(v->scan.length, cases[i].length);
        assert_true(v->operand[0].staged && v->operand[1].staged && !v->reduction.columns);
        assert_int_equal(r.s.g.threads, ROW_TILE_THREADS);
        assert_int_equal(r.s.g.blocks, (cases[i].planes + cases[i].each - 1) / cases[i].each);
    }
}

/* Vectors along rows are as wide as the rows' distance lets them be, but for wide elements. And the threads of a tile. */
static void test_scan_vectors(void **unused) {
    static const struct {
        dtype type;
        int64_t length;
        int vector;
    } cases[] = {{DT_INT8, 1024, 16},    {DT_INT8, 1000, 8},     {DT_INT8, 1002, 2},    {DT_INT8, 1001, 1},
                 {DT_BFLOAT16, 1000, 8}, {DT_BFLOAT16, 1002, 2}, {DT_FLOAT32, 1002, 2}, {DT_FLOAT32, 1001, 1},
                 {DT_FLOAT64, 1000, 2},  {DT_FLOAT64, 1001, 2}};
    static reduced r;
    (void)unused;
    static const struct {
        dtype type;
        int64_t lines, length;
        int coop;
    } tiles[] = {{DT_FLOAT32, 1, 1 << 24, 9}, {DT_FLOAT64, 1, 1 << 24, 7},   {DT_FLOAT64, 1, 1 << 21, 8},
                 {DT_INT8, 1, 1 << 24, 7},    {DT_FLOAT32, 1000, 100001, 8}, {DT_BFLOAT16, 1000, 100000, 9}};
    for (size_t i = 0; i < COUNT(tiles); i++) {
        reduced_of(&r, LOOP_SCAN, tiles[i].lines, tiles[i].length, true, FOLD_FREE, tiles[i].type, 2);
        if (r.s.v.scan.coop != tiles[i].coop)
            fail_msg("tile %zu: %d", i, r.s.v.scan.coop);
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        reduced_of(&r, LOOP_SCAN, 1 << 16, cases[i].length, true, FOLD_FREE, cases[i].type, 2);
        if (r.s.v.scan.vector != cases[i].vector)
            fail_msg("case %zu: %d", i, r.s.v.scan.vector);
    }
    reduced_of(&r, LOOP_SCAN, 1, 1001, true, FOLD_FREE, DT_INT8, 2); /* a single one begins where it begins */
    assert_int_equal(r.s.v.scan.vector, 16);
}

/* Few results whose elements lie side by side: rows of memory, where columns have no vectors, or leave threads idle. */
static void test_fold_interleaved(void **unused) {
    static const struct {
        int64_t lines, length;
        dtype type;
        int nodes;
        fold_order order;
        const char *chosen;
    } cases[] = {
        {3, 1 << 24, DT_FLOAT32, 2, FOLD_FREE, "3 x 340, 4 x 8, parts of 8160"},
        {3, 1 << 24, DT_INT8, 2, FOLD_FREE, "3 x 1360, 16 x 4, parts of 10880"},
        {7, 1 << 24, DT_BFLOAT16, 2, FOLD_FREE, "7 x 288, 8 x 4, parts of 8064"},
        {255, 1 << 20, DT_FLOAT32, 2, FOLD_FREE, "255 x 4, 4 x 8, parts of 512"},
        {257, 1 << 20, DT_FLOAT32, 2, FOLD_FREE, "columns"}, /* too many */
        {10, 1 << 24, DT_INT8, 2, FOLD_FREE,
         "10 x 408, 16 x 4, parts of 8160"},               /* vectors of two; three of eight threads idle */
        {6, 1 << 24, DT_INT8, 2, FOLD_FREE, "columns"},    /* a quarter of them */
        {4, 1 << 24, DT_FLOAT32, 2, FOLD_FREE, "columns"}, /* whole vectors */
        {3, 1 << 24, DT_FLOAT32, 2, FOLD_ORDERED, "columns"},
        {3, 1 << 20, DT_FLOAT32, 2, FOLD_FREE, "columns"},                         /* few elements */
        {3, 1 << 24, DT_FLOAT32, 100, FOLD_FREE, "3 x 340, 4 x 2, parts of 8160"}, /* much code */
    };
    static reduced r;
    char got[96];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        reduced_of(&r, LOOP_FOLD, cases[i].lines, cases[i].length, false, cases[i].order, cases[i].type,
                   cases[i].nodes);
        const variant *v = &r.s.v;
        snprintf(got, sizeof got, "columns");
        if (variant_interleaved_results(v))
            snprintf(got, sizeof got, "%d x %d, %d x %d, parts of %lld", v->fold.plane, variant_wrapped(v),
                     v->fold.vector, v->fold.accesses, (long long)r.chunk);
        check(i, got, cases[i].chosen);
        if (!variant_interleaved_results(v))
            continue;
        assert_int_equal(r.s.g.threads, FOLD_INTERLEAVED_THREADS);
        assert_int_equal(r.s.g.blocks, (cases[i].length + r.chunk - 1) / r.chunk);
        assert_int_equal(r.chunk % (variant_wrapped(v) * v->fold.accesses), 0);
        assert_int_equal(variant_wrapped(v) * v->fold.plane % v->fold.vector, 0);
    }
}

/* Every result, or every part of one, is some group's; parts are whole visits; what may not be grouped is not divided. */
static void test_fold_covers(void **unused) {
    static reduced r;
    (void)unused;
    for (int64_t i = 0; i < trials(2000); i++) {
        int64_t lines = pick(1, 1 << pick(0, 20)), length = pick(1, 1 << pick(0, 24));
        fold_order order = (fold_order)pick(FOLD_FREE, FOLD_SERIAL);
        reduced_make(&r, LOOP_FOLD, lines, length, chance(50), order);
        const variant *v = &r.s.v;
        const grid *g = &r.s.g;
        int64_t parts = r.chunk ? (length + r.chunk - 1) / r.chunk : 1, results = v->fold.results ? v->fold.results : 1;
        assert_true(r.chunk >= 0 && r.chunk < length && (order != FOLD_SERIAL || !r.chunk));
        if (v->reduction.columns)
            assert_true((int64_t)g->blocks * (g->threads >> v->fold.coop) * v->fold.vector >= lines * parts);
        else
            assert_true((int64_t)g->blocks * (g->threads >> v->fold.coop) * results >= lines * parts);
        if (r.chunk && !v->reduction.columns)
            assert_int_equal(r.chunk % (((int64_t)v->fold.vector * v->fold.accesses) << v->fold.coop), 0);
        assert_true(order != FOLD_SERIAL || v->fold.coop == 0);
    }
}

static void test_scan_covers(void **unused) {
    static reduced r;
    (void)unused;
    for (int64_t i = 0; i < trials(2000); i++) {
        int64_t lines = pick(1, 1 << pick(0, 16)), length = pick(1, 1 << pick(0, 24));
        reduced_make(&r, LOOP_SCAN, lines, length, chance(50), (fold_order)pick(FOLD_FREE, FOLD_SERIAL));
        const variant *v = &r.s.v;
        const grid *g = &r.s.g;
        if (v->reduction.columns) {
            assert_int_equal(g->threads, SCAN_COLUMN_THREADS);
            assert_true((int64_t)g->blocks * (v->scan.vector << v->scan.coop) >= lines);
        } else if (variant_interleaved_lines(v)) {
            int64_t tile = (int64_t)v->scan.lines * v->scan.accesses;
            assert_true(v->scan.plane == lines && g->blocks == (length + tile - 1) / tile);
        } else if (v->scan.length) {
            assert_true((int64_t)g->blocks * g->threads * v->scan.lines >= lines && v->scan.length == length);
        } else if (v->scan.coop <= COOP_WARP) {
            assert_true((int64_t)g->blocks * (g->threads >> v->scan.coop) >= lines);
        } else {
            int64_t tile = ((int64_t)v->scan.vector * v->scan.accesses) << v->scan.coop;
            assert_int_equal(g->threads, 1 << v->scan.coop);
            assert_int_equal(g->blocks, lines * ((length + tile - 1) / tile));
        }
    }
}

/* ---- Updates in place ---- */

static void at_make(sample *s, int64_t updates, bool deterministic) {
    memset(s, 0, sizeof *s);
    s->v.loop = LOOP_AT;
    s->v.nin = 2;
    s->v.nout = s->v.nindices = 1;
    s->v.at.deterministic = deterministic;
    operands_set(&s->v, DT_FLOAT32, OPERAND_STRIDED);
    s->loop = loop_over(s->extent, s->stride, s->offset, (int64_t[MAX_DIMS]){updates}, 4);
    s->traits.nodes = 2;
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop, .traits = &s->traits});
    launch l = launch_of(s);
    l.indexed = (int64_t[]){100, 1};
    lay_out(s, &l, 256, SMS);
}

/* Small targets that instructions update are privatised. */
static void test_at_copies(void **unused) {
    static const struct {
        int64_t updates, elements;
        dtype type;
        bool number, left; /* left: dimensions of the target that are not indexed */
        at_counters counters;
        int privatised;
        unsigned shared;
    } rows[] = {
        {1 << 20, 256, DT_INT64, true, false, COUNTERS_ADDED, PRIVATE_TALLY, 1024},
        {1 << 20, 256, DT_INT64, false, false, COUNTERS_ADDED, 1, 2048},
        {1 << 20, 255, DT_INT32, true, false, COUNTERS_ADDED, PRIVATE_TALLY, 1024},
        {1 << 20, 256, DT_FLOAT64, true, false, COUNTERS_COMBINED, 1, 2048},
        {1 << 20, 256, DT_INT64, true, false, COUNTERS_NONE, 0, 0},
        {1 << 20, 256, DT_INT64, true, true, COUNTERS_ADDED, 0, 0},
        {1 << 20, 8192, DT_INT64, true, false, COUNTERS_ADDED, PRIVATE_TALLY, 32768},
        {1 << 20, 8193, DT_INT64, true, false, COUNTERS_ADDED, 0, 0},
        {1 << 20, 4096, DT_INT64, false, false, COUNTERS_ADDED, 1, 32768},
        {1 << 20, 4097, DT_INT64, false, false, COUNTERS_ADDED, 0, 0},
        {1 << 15, 1024, DT_INT64, true, false, COUNTERS_ADDED, PRIVATE_TALLY, 4096},
        {1 << 15, 1025, DT_INT64, true, false, COUNTERS_ADDED, 0, 0},
        {(1 << 15) - 1, 16, DT_INT64, true, false, COUNTERS_ADDED, 0, 0},
        {INT64_C(1) << 32, 16, DT_INT64, true, false, COUNTERS_ADDED, 1, 128},
        {1 << 20, 256, DT_FLOAT16, false, false, COUNTERS_COMBINED, 1, 1024},
        {1 << 20, 8192, DT_INT8, false, false, COUNTERS_ADDED, 1, 32768},
        {1 << 20, 8193, DT_INT8, false, false, COUNTERS_ADDED, 0, 0},
    };
    static const uint64_t numbers[MAX_OPERANDS][2];
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t indexed[2] = {rows[i].elements, 1};
        at_make(&s, rows[i].updates, false);
        s.v.operand[0].memory = s.v.operand[1].memory = s.v.operand[2].memory = (uint8_t)rows[i].type;
        s.v.operand[1].kind = rows[i].number ? OPERAND_NUMBER : OPERAND_CONTIGUOUS;
        s.loop.stride[0] = rows[i].left;
        gpu_specialise(
            &s.v,
            &(loop_problem){.loop = &s.loop, .traits = &s.traits, .indexed = indexed, .counters = rows[i].counters});
        launch l = launch_of(&s);
        l.indexed = indexed;
        l.numbers = numbers;
        lay_out(&s, &l, 256, SMS);
        if (s.v.operand[0].privatised != rows[i].privatised || s.g.shared != rows[i].shared)
            fail_msg("row %zu: privatised %d, %u bytes", i, s.v.operand[0].privatised, s.g.shared);
        assert_true(!rows[i].privatised ||
                    (s.g.threads == 256 && s.g.blocks <= (dtypes[rows[i].type].size < 4 ? 1 : 2) * SMS));
        assert_true(rows[i].updates < INT64_C(1) << 30 || s.v.wide);
    }
}

/* Rows of a target: a thread has a column of some of them, and there are threads for all. */
static void test_at_columns(void **unused) {
    static sample s;
    (void)unused;
    for (int i = 0; i < 200; i++) {
        int64_t across = 2 + (int64_t)(draw_bits() % 3000), rows = 2 + (int64_t)(draw_bits() % 5000);
        at_make(&s, 1, false);
        s.loop = loop_over(s.extent, s.stride, s.offset, (int64_t[MAX_DIMS]){across, rows}, 4);
        s.stride[3] = s.stride[4] = s.stride[6] = 0; /* the index along a row; the target along rows */
        for (int k = 0; k < 4; k++)
            s.v.operand[k].kind = s.loop.kind[k] = k == 3 ? OPERAND_CONSTANT : OPERAND_CONTIGUOUS;
        gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .traits = &s.traits});
        launch l = launch_of(&s);
        l.indexed = (int64_t[]){100, across};
        lay_out(&s, &l, 256, SMS);
        int64_t some = s.v.general.elements_per_thread;
        assert_true(variant_at_columns(&s.v) == (some > 1));
        assert_true((int64_t)s.g.blocks * s.g.threads >= (rows + some - 1) / some * across);
    }
}

static void test_at(void **unused) {
    static sample s;
    (void)unused;
    for (int64_t n = 1; n < 1 << 24; n = 3 * n + 1) {
        at_make(&s, n, false);
        assert_true((int64_t)s.g.blocks * s.g.threads * s.v.general.elements_per_thread >= n);
        assert_int_equal(s.v.loop, LOOP_AT);
        at_make(&s, n, true); /* every warp looks at all updates: no more blocks than run at once */
        assert_true(s.v.at.deterministic && s.v.general.elements_per_thread == 1);
        assert_true(s.g.threads == 256 && s.g.blocks <= SMS && (s.g.blocks == SMS || s.g.blocks == (n + 63) / 64));
    }
}

/* ---- Kernels over indices ---- */

/* b[i][j] = a[i][j], over dense arrays of the space's extents; alignment: log2 of their addresses'. */
static int64_t ragged_elements; /* of the first array, where a reduction goes through it; 0: none does */

static void forall_make(sample *s, const int64_t *extents, int nodes, int alignment, int elements, int block) {
    static layout_operand operands[2];
    static int64_t all[5 * MAX_DIMS]; /* core parameters */
    static core_layout layout;
    uint8_t align[2] = {(uint8_t)alignment, (uint8_t)alignment};
    memset(s, 0, sizeof *s);
    s->loop = loop_over(s->extent, s->stride, s->offset, extents, 2);
    int n = s->loop.ndim;
    memset(s->stride, 0, sizeof s->stride); /* nothing moves in the loop */
    layout = (core_layout){.nin = 2, .nindices = n, .ndims = 3 * n, .nparameters = 5 * n, .operands = operands};
    for (int d = 0; d < n; d++)
        for (int k = 0; k < 3; k++)
            all[k * n + d] = extents[n - 1 - d];
    for (int k = 0; k < 2; k++) {
        operands[k] = (layout_operand){.rank = (uint8_t)n, .strides = (3 + k) * n};
        int64_t stride = 1;
        for (int d = n - 1; d >= 0; stride *= extents[n - 1 - d--]) {
            operands[k].dim[d] = (uint8_t)((k + 1) * n + d);
            all[(3 + k) * n + d] = stride;
        }
    }
    if (ragged_elements)
        all[n] = ragged_elements;
    s->v.loop = LOOP_FORALL;
    s->v.nin = 2;
    s->v.forall.noalias = s->v.forall.proved = 1;
    operands_set(&s->v, DT_FLOAT32, OPERAND_STRIDED);
    s->v.operand[0].unit = s->v.operand[1].unit = (uint8_t)n;
    s->traits = (code_traits){
        .nodes = nodes, .use = {USE_READ | USE_COALESCED, USE_WRITE | USE_COALESCED}, .ragged = ragged_elements > 0};
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop,
                                          .layout = &layout,
                                          .core = all,
                                          .traits = &s->traits,
                                          .elements = elements,
                                          .block = block,
                                          .align = align});
    launch l = launch_of(s);
    l.layout = &layout;
    l.core = all;
    l.block = block;
    lay_out(s, &l, 256, SMS);
}

static const struct {
    int64_t extents[MAX_DIMS];
    int nodes, align, elements, block;
    const char *chosen; /* points along the last index x vectors; the grid */
} forall_cases[] = {
    {{1000}, 3, 4, 0, 0, "4 x 1, 4 blocks of 64"},           {{1 << 20}, 3, 4, 0, 0, "4 x 1, 1024 blocks of 256"},
    {{1 << 20}, 3, 3, 0, 0, "1 x 1, 4096 blocks of 256"},    {{1 << 20}, 3000, 4, 0, 0, "1 x 1, 4096 blocks of 256"},
    {{1000, 1000}, 3, 4, 0, 0, "4 x 1, 977 blocks of 256"},  {{1000, 1000}, 3, 4, 16, 512, "4 x 4, 123 blocks of 512"},
    {{1000, 1000}, 3, 4, 8, 64, "4 x 2, 1954 blocks of 64"}, {{3, 7}, 3, 4, 0, 0, "2 x 1, 1 blocks of 64"},
};

static void test_forall_table(void **unused) {
    static sample s;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(forall_cases); i++) {
        forall_make(&s, forall_cases[i].extents, forall_cases[i].nodes, forall_cases[i].align, forall_cases[i].elements,
                    forall_cases[i].block);
        snprintf(got, sizeof got, "%s%d x %d, %u blocks of %u", s.v.wide ? "wide " : "", s.v.forall.vector,
                 s.v.forall.vectors_per_thread, s.g.blocks, s.g.threads);
        check(i, got, forall_cases[i].chosen);
    }
}

/* Lanes for a point whose reductions go through an array of so many elements. */
static void test_forall_lanes(void **unused) {
    static sample s;
    static const struct {
        int64_t points, elements;
        int lanes;
    } cases[] = {{1000, 3999, 0},    {1000, 4000, 1},         {1000, 16000, 3},  {1000, 63999, 4},
                 {1000, 1 << 20, 5}, {1 << 29, 1LL << 34, 4}, {1 << 20, 1000, 0}};
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        ragged_elements = cases[i].elements;
        forall_make(&s, (int64_t[MAX_DIMS]){cases[i].points}, 3, 4, 0, 0);
        ragged_elements = 0;
        assert_int_equal(s.v.forall.lanes, cases[i].lanes);
        assert_true(!cases[i].lanes || s.v.wide ||
                    (int64_t)s.g.blocks * s.g.threads >= cases[i].points << cases[i].lanes);
        assert_true(!cases[i].lanes || (!s.v.operand[0].coalesced && s.v.forall.vector == 1));
    }
}

static void test_forall_covers(void **unused) {
    static sample s;
    (void)unused;
    for (int64_t i = 0; i < trials(2000); i++) {
        int64_t extents[MAX_DIMS] = {pick(1, 5000), chance(60) ? pick(1, 300) : 0};
        int elements = chance(50) ? 1 << pick(0, 4) : 0, block = chance(50) ? 32 << pick(0, 5) : 0;
        forall_make(&s, extents, (int)pick(1, 3000), (int)pick(2, 4), elements, block);
        int64_t tiles = s.parameters[schema_place(&s.v, NULL, true, GPU_FORALL_TILES)];
        int each = s.loop.ndim == 1 ? s.v.forall.vectors_per_thread : 1;
        assert_true(tiles * s.v.forall.vector * (s.loop.ndim == 1 ? 1 : s.v.forall.vectors_per_thread) >= s.loop.count);
        assert_true((int64_t)s.g.blocks * s.g.threads * each >= tiles);
        assert_true(!block || (int)s.g.threads == block);
        assert_true(!elements || s.v.forall.vector * s.v.forall.vectors_per_thread == elements);
    }
}

/* ---- Generalized ufuncs ---- */

static bool with_loops; /* the foralls of lines are not simple */

/* (n)->(n), max, sum and forall over one range, as in softmax, along the last axis of (count, n) or the first of (n, count). */
static const uint8_t *misalignment; /* of lines_make */

static layout_operand line_operands[2] = {{.rank = 1, .strides = 1}, {.rank = 1, .strides = 2}};
static const core_layout line_layout = {.nin = 1, .nout = 1, .ndims = 1, .nparameters = 3, .operands = line_operands};

static void lines_make(sample *s, int64_t n, int64_t count, bool first_axis, dtype type, int shared, int sms) {
    static int64_t core[3];
    memset(s, 0, sizeof *s);
    s->loop = loop_over(s->extent, s->stride, s->offset, (int64_t[]){count, 0}, 2);
    core[0] = n;
    core[1] = core[2] = first_axis ? count : 1;
    s->stride[0] = s->stride[1] = first_axis ? 1 : n;
    s->v.loop = LOOP_GUFUNC;
    s->v.nin = s->v.nout = 1;
    operands_set(&s->v, type, OPERAND_STRIDED);
    s->traits =
        (code_traits){.nodes = 60, .maps_to_threads = true, .uniform = true, .simple = !with_loops, .nconstructs = 3};
    for (int i = 0; i < 3; i++)
        s->traits.construct[i] = (code_construct){.reduces = i < 2,
                                                  .nodes = 12,
                                                  .nouter = 1,
                                                  .naccesses = (uint8_t)(1 + (i == 2)),
                                                  .access = {{.operand = 0, .outer = 1}, {.operand = 1, .outer = 1}}};
    loop_problem problem = {.loop = &s->loop,
                            .layout = &line_layout,
                            .core = core,
                            .traits = &s->traits,
                            .misalignment = misalignment,
                            .shared = shared,
                            .sms = sms,
                            .clusters = shared ? 4 : 0};
    gpu_specialise(&s->v, &problem);
    launch l = launch_of(s);
    l.layout = &line_layout;
    l.core = core;
    lay_out(s, &l, 256, SMS);
}

static const struct {
    int64_t n, count;
    bool first_axis;
    dtype type;
    int shared;
    const char
        *chosen; /* vector x steps, calls side by side x threads of each; bytes that are staged; the grid; elements
                            that a thread holds, and blocks of a cluster */
} line_cases[] = {
    {64, 1048576, false, DT_FLOAT32, H200, "4 x 1, 1 x 2, 0 bytes, 8192 blocks of 256, 8 held, clusters of 1"},
    {64, 1048576, false, DT_BFLOAT16, H200, "8 x 1, 1 x 2, 0 bytes, 8192 blocks of 256, 4 held, clusters of 1"},
    {256, 524288, false, DT_BFLOAT16, H200, "8 x 1, 1 x 8, 0 bytes, 16384 blocks of 256, 4 held, clusters of 1"},
    {264, 524288, false, DT_BFLOAT16, H200, "8 x 1, 1 x 8, 0 bytes, 16384 blocks of 256, 5 held, clusters of 1"},
    {127, 131072, false, DT_COMPLEX128, H200, "1 x 4, 1 x 16, 0 bytes, 8192 blocks of 256"},
    {129, 131072, false, DT_COMPLEX128, H200, "1 x 2, 1 x 64, 2080 bytes, 131072 blocks of 64"},
    {254, 131072, false, DT_FLOAT64, H200, "2 x 1, 1 x 32, 0 bytes, 16384 blocks of 256, 4 held, clusters of 1"},
    {258, 131072, false, DT_FLOAT64, H200, "2 x 1, 1 x 32, 0 bytes, 16384 blocks of 256, 5 held, clusters of 1"},
    {1000, 131072, false, DT_FLOAT32, H200, "4 x 1, 1 x 32, 0 bytes, 16384 blocks of 256, 8 held, clusters of 1"},
    {1025, 131072, false, DT_FLOAT32, H200, "4 x 1, 1 x 32, 0 bytes, 16384 blocks of 256, 8 held, clusters of 1"},
    {1028, 131072, false, DT_FLOAT32, H200, "4 x 1, 1 x 32, 0 bytes, 16384 blocks of 256, 9 held, clusters of 1"},
    {4096, 32768, false, DT_FLOAT32, H200, "4 x 1, 1 x 128, 0 bytes, 32768 blocks of 128, 8 held, clusters of 1"},
    {4096, 32768, false, DT_BFLOAT16, H200, "8 x 1, 1 x 128, 0 bytes, 32768 blocks of 128, 4 held, clusters of 1"},
    {5000, 32768, false, DT_BFLOAT16, H200, "8 x 1, 1 x 128, 0 bytes, 32768 blocks of 128, 5 held, clusters of 1"},
    {6000, 32768, false, DT_BFLOAT16, H200, "8 x 1, 1 x 128, 0 bytes, 32768 blocks of 128, 6 held, clusters of 1"},
    {9001, 16384, false, DT_BFLOAT16, H200, "8 x 1, 1 x 128, 0 bytes, 16384 blocks of 128, 9 held, clusters of 1"},
    {12001, 16384, false, DT_BFLOAT16, H200, "8 x 1, 1 x 256, 0 bytes, 16384 blocks of 256, 6 held, clusters of 1"},
    {13001, 16384, false, DT_BFLOAT16, H200, "8 x 1, 1 x 128, 26032 bytes, 16384 blocks of 128"},
    {9001, 16384, false, DT_FLOAT32, H200, "4 x 1, 1 x 512, 0 bytes, 16384 blocks of 512, 5 held, clusters of 1"},
    {131072, 1024, false, DT_BFLOAT16, H200, "8 x 2, 1 x 256, 32784 bytes, 8192 blocks of 256, clusters of 8"},
    {131072, 100, false, DT_BFLOAT16, H200, "8 x 2, 1 x 2048, 0 bytes, 264 blocks of 512"},
    {16384, 8192, false, DT_BFLOAT16, H200, "8 x 2, 1 x 256, 32784 bytes, 8192 blocks of 256"},
    {32768, 4096, false, DT_BFLOAT16, H200, "8 x 2, 1 x 512, 65552 bytes, 4096 blocks of 512"},
    {24576, 4096, false, DT_FLOAT32, H200, "4 x 2, 1 x 512, 98320 bytes, 4096 blocks of 512"},
    {28001, 4096, false, DT_FLOAT32, H200, "4 x 2, 1 x 256, 28032 bytes, 16384 blocks of 256, clusters of 4"},
    {32768, 4096, false, DT_FLOAT32, H200, "4 x 2, 1 x 256, 32784 bytes, 16384 blocks of 256, clusters of 4"},
    {32768, 127, false, DT_FLOAT32, H200, "4 x 2, 1 x 1024, 131088 bytes, 127 blocks of 1024"},
    {32768, 4096, false, DT_FLOAT32, 0, "4 x 8, 1 x 128, 0 bytes, 4096 blocks of 128"},
    {50257, 4096, false, DT_FLOAT32, H200, "4 x 2, 1 x 256, 50288 bytes, 16384 blocks of 256, clusters of 4"},
    {50257, 4096, false, DT_BFLOAT16, H200, "8 x 2, 1 x 256, 50288 bytes, 8192 blocks of 256, clusters of 2"},
    {131072, 4096, false, DT_FLOAT32, H200, "4 x 2, 1 x 512, 65552 bytes, 32768 blocks of 512, clusters of 8"},
    {131072, 4096, false, DT_BFLOAT16, H200, "8 x 2, 1 x 256, 32784 bytes, 32768 blocks of 256, clusters of 8"},
    {262144, 4096, false, DT_FLOAT32, H200, "4 x 4, 1 x 2048, 50352 bytes, 252 blocks of 256, 6 held, clusters of 1"},
    {400000, 4096, false, DT_FLOAT32, H200, "4 x 4, 1 x 2048, 48176 bytes, 264 blocks of 256, 6 held, clusters of 1"},
    {500000, 4096, false, DT_FLOAT32, H200, "4 x 4, 1 x 2048, 52368 bytes, 260 blocks of 256, 6 held, clusters of 1"},
    {50257, 4, false, DT_FLOAT32, H200, "4 x 2, 1 x 2048, 0 bytes, 100 blocks of 512"},
    {1048576, 256, false, DT_FLOAT32, H200, "4 x 4, 1 x 2048, 38992 bytes, 264 blocks of 256, 6 held, clusters of 1"},
    {1048576, 256, false, DT_BFLOAT16, H200, "8 x 2, 1 x 2048, 47184 bytes, 264 blocks of 256, 4 held, clusters of 1"},
    {1 << 22, 64, false, DT_BFLOAT16, H200, "8 x 2, 1 x 2048, 95344 bytes, 264 blocks of 512"},
    {100000, 1024, false, DT_FLOAT32, H200, "4 x 2, 1 x 256, 50016 bytes, 8192 blocks of 256, clusters of 8"},
    {100001, 1024, false, DT_FLOAT32, H200, "4 x 2, 1 x 256, 50032 bytes, 8192 blocks of 256, clusters of 8"},
    {100001, 2, false, DT_FLOAT32, H200, "4 x 2, 1 x 2048, 0 bytes, 98 blocks of 512"},
    {5001, 4096, false, DT_BFLOAT16, H200, "8 x 1, 1 x 128, 0 bytes, 4096 blocks of 128, 5 held, clusters of 1"},
    {300001, 400, false, DT_FLOAT32, H200, "4 x 4, 1 x 2048, 50448 bytes, 256 blocks of 256, 6 held, clusters of 1"},
    {10000000, 4, false, DT_FLOAT32, H200, "4 x 2, 1 x 2048, 0 bytes, 256 blocks of 512"},
    {2, 1048576, true, DT_FLOAT32, H200, "1 x 4, 32 x 2, 256 bytes, 32768 blocks of 64"},
    {32, 1048576, true, DT_FLOAT32, H200, "1 x 4, 32 x 4, 4096 bytes, 32768 blocks of 128"},
    {64, 1048576, true, DT_FLOAT32, H200, "1 x 8, 32 x 8, 0 bytes, 32768 blocks of 256, 8 held, clusters of 1"},
    {256, 131072, true, DT_FLOAT32, H200, "1 x 8, 32 x 16, 0 bytes, 4096 blocks of 512, 16 held, clusters of 1"},
    {256, 131076, true, DT_FLOAT32, H200, "1 x 8, 32 x 16, 0 bytes, 4097 blocks of 512, 16 held, clusters of 1"},
    {257, 131072, true, DT_FLOAT32, H200, "1 x 8, 32 x 16, 0 bytes, 4096 blocks of 512, 18 held, clusters of 1"},
    {257, 131076, true, DT_FLOAT32, H200, "1 x 8, 32 x 32, 0 bytes, 4097 blocks of 1024, 9 held, clusters of 1"},
    {512, 131076, true, DT_FLOAT32, H200, "1 x 8, 32 x 32, 0 bytes, 4097 blocks of 1024, 16 held, clusters of 1"},
    {513, 131076, true, DT_FLOAT32, H200, "1 x 8, 32 x 32, 0 bytes, 8194 blocks of 512, 18 held, clusters of 2"},
    {200, 131072, true, DT_FLOAT64, H200, "1 x 8, 32 x 16, 0 bytes, 4096 blocks of 512, 13 held, clusters of 1"},
    {257, 131072, true, DT_BFLOAT16, H200,
     "1 x 8, 32 x 16, 0 bytes, 4096 blocks of 256, 18 held of 2 columns, clusters of 2"},
    {257, 131076, true, DT_BFLOAT16, H200,
     "1 x 8, 32 x 32, 0 bytes, 4098 blocks of 512, 9 held of 2 columns, clusters of 2"},
    {512, 131076, true, DT_BFLOAT16, H200,
     "1 x 8, 32 x 32, 0 bytes, 4098 blocks of 512, 16 held of 2 columns, clusters of 2"},
    {513, 131076, true, DT_BFLOAT16, H200,
     "1 x 8, 32 x 32, 0 bytes, 8196 blocks of 256, 18 held of 2 columns, clusters of 4"},
    {100, 131073, true, DT_BFLOAT16, H200, "1 x 8, 32 x 8, 0 bytes, 4097 blocks of 256, 13 held, clusters of 1"},
    {256, 524288, true, DT_BFLOAT16, H200,
     "1 x 8, 32 x 16, 0 bytes, 8192 blocks of 512, 16 held of 2 columns, clusters of 1"},
    {1000, 131072, true, DT_FLOAT32, H200, "1 x 8, 32 x 32, 0 bytes, 8192 blocks of 512, 32 held, clusters of 2"},
    {4096, 32768, true, DT_FLOAT32, H200, "1 x 8, 32 x 128, 0 bytes, 8192 blocks of 512, 32 held, clusters of 8"},
    {4096, 32768, true, DT_BFLOAT16, H200,
     "1 x 8, 32 x 128, 0 bytes, 4096 blocks of 512, 32 held of 2 columns, clusters of 8"},
    {16384, 8192, true, DT_FLOAT32, H200, "1 x 8, 16 x 512, 0 bytes, 8192 blocks of 512, 32 held, clusters of 16"},
    {16385, 8192, true, DT_FLOAT32, H200, "1 x 8, 32 x 256, 0 bytes, 2048 blocks of 1024, clusters of 8"},
    {16385, 8192, true, DT_FLOAT32, 0, "1 x 8, 32 x 32, 0 bytes, 256 blocks of 1024"},
    {1 << 20, 64, true, DT_FLOAT32, H200, "1 x 8, 64 x 2048, 0 bytes, 256 blocks of 512"},
    {1 << 20, 64, true, DT_BFLOAT16, H200, "1 x 8, 64 x 2048, 0 bytes, 256 blocks of 512"},
    {1 << 24, 4, true, DT_FLOAT32, H200, "1 x 8, 4 x 2048, 0 bytes, 256 blocks of 512"},
    {1 << 20, 33, true, DT_FLOAT64, H200, "1 x 4, 64 x 2048, 0 bytes, 256 blocks of 512"},
    {1 << 20, 65, true, DT_FLOAT32, H200, "1 x 8, 128 x 2048, 0 bytes, 256 blocks of 512"},
    {1 << 20, 256, true, DT_FLOAT32, H200, "1 x 8, 256 x 2048, 0 bytes, 256 blocks of 512"},
    {1 << 20, 257, true, DT_FLOAT32, H200, "1 x 8, 32 x 256, 0 bytes, 72 blocks of 1024, clusters of 8"},
    {1 << 20, 544, true, DT_FLOAT32, H200, "1 x 8, 32 x 256, 0 bytes, 136 blocks of 1024, clusters of 8"},
    {20000, 4, true, DT_FLOAT32, H200, "1 x 8, 4 x 1024, 0 bytes, 4 blocks of 1024, clusters of 4"},
    {4096, 8192, true, DT_FLOAT64, H200, "1 x 8, 16 x 256, 0 bytes, 4096 blocks of 512, 16 held, clusters of 8"},
    {1000, 3, true, DT_FLOAT32, H200, "1 x 8, 4 x 32, 0 bytes, 2 blocks of 64, 32 held, clusters of 2"},
    {1024, 131072, true, DT_FLOAT32, 0, "1 x 8, 32 x 32, 0 bytes, 4096 blocks of 1024, 32 held, clusters of 1"},
    {8192, 32768, true, DT_BFLOAT16, H200,
     "1 x 8, 16 x 256, 0 bytes, 8192 blocks of 512, 32 held of 2 columns, clusters of 8"},
    {8192, 32760, true, DT_BFLOAT16, H200,
     "1 x 8, 16 x 256, 0 bytes, 8192 blocks of 512, 32 held of 2 columns, clusters of 8"},
    {8192, 16384, true, DT_FLOAT32, H200, "1 x 8, 32 x 256, 0 bytes, 8192 blocks of 512, 32 held, clusters of 16"},
    {16384, 16384, true, DT_BFLOAT16, H200,
     "1 x 8, 8 x 512, 0 bytes, 8192 blocks of 512, 32 held of 2 columns, clusters of 8"},
    {32768, 8192, true, DT_BFLOAT16, H200,
     "1 x 8, 8 x 1024, 0 bytes, 4096 blocks of 1024, 32 held of 2 columns, clusters of 8"},
    {4096, 32768, true, DT_FLOAT32, 0, "1 x 8, 8 x 128, 0 bytes, 4096 blocks of 1024, 32 held, clusters of 1"},
};

static void test_line_table(void **unused) {
    static sample s;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(line_cases); i++) {
        lines_make(&s, line_cases[i].n, line_cases[i].count, line_cases[i].first_axis, line_cases[i].type,
                   line_cases[i].shared, line_cases[i].shared ? SMS : 0);
        snprintf(got, sizeof got, "%d x %d, %d x %d, %u bytes, %u blocks of %u", s.v.gufunc.vector, s.v.gufunc.steps,
                 1 << s.v.gufunc.across, 1 << s.v.gufunc.coop, s.g.shared, s.g.blocks, s.g.threads);
        if (s.v.gufunc.held)
            snprintf(got + strlen(got), sizeof got - strlen(got), ", %d held", s.v.gufunc.held);
        if (s.v.gufunc.calls)
            snprintf(got + strlen(got), sizeof got - strlen(got), " of %d columns", 1 << s.v.gufunc.calls);
        if (s.v.gufunc.held || s.v.gufunc.cluster)
            snprintf(got + strlen(got), sizeof got - strlen(got), ", clusters of %d", 1 << s.v.gufunc.cluster);
        check(i, got, line_cases[i].chosen);
    }
}

/* Threads of a block for each of the columns that all blocks have side by side: those of a block begin where a line of memory does, or a sector, if
 * that leaves few threads over. */
static void test_ranks(void **unused) {
    static const struct {
        int64_t count;
        dtype type;
        uint64_t ranks;
    } cases[] = {{2, DT_BFLOAT16, 256}, {3, DT_FLOAT32, 160}, {4, DT_FLOAT32, 128},  {10, DT_FLOAT32, 48},
                 {20, DT_FLOAT32, 24},  {33, DT_FLOAT32, 15}, {33, DT_FLOAT64, 15},  {100, DT_FLOAT32, 5},
                 {96, DT_FLOAT32, 5},   {10, DT_FLOAT64, 48}, {256, DT_BFLOAT16, 2}, {255, DT_FLOAT64, 2}};
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lines_make(&s, 1 << 20, cases[i].count, true, cases[i].type, H200, SMS);
        assert_true(variant_grid_across(&s.v));
        const uint64_t *side = s.parameters + schema_place(&s.v, &line_layout, true, GPU_GUFUNC_SIDE),
                       ranks = s.parameters[schema_place(&s.v, &line_layout, true, GPU_GUFUNC_RANKS)];
        if (*side != (uint64_t)cases[i].count || ranks != cases[i].ranks)
            fail_msg("case %zu: %d side by side, %d threads each", i, (int)*side, (int)ranks);
    }
}

/* One sum or one forall over rows, as in vecdot and norm, of `inputs` arrays; the second is shared by all calls, or the output of the forall lies
 * closer than they do. */
static void once_make(sample *s, int64_t n, int64_t count, dtype type, int inputs, bool reduces, bool apart) {
    static layout_operand operands[3];
    static core_layout layout = {.nout = 1, .ndims = 1, .nparameters = 4, .operands = operands};
    static int64_t core[4] = {0, 1, 1, 1};
    int noperands = inputs + 1;
    memset(s, 0, sizeof *s);
    s->loop = loop_over(s->extent, s->stride, s->offset, (int64_t[]){count, 0}, noperands);
    core[0] = n;
    layout.nin = inputs;
    s->traits = (code_traits){.nodes = 4, .maps_to_threads = true, .uniform = true, .simple = true, .nconstructs = 1};
    code_construct *x = &s->traits.construct[0];
    *x = (code_construct){
        .reduces = reduces, .nodes = 4, .nouter = 1, .naccesses = (uint8_t)(reduces ? inputs : noperands)};
    for (int k = 0; k < noperands; k++) {
        operands[k] = (layout_operand){.rank = k < inputs || !reduces, .strides = 1 + k};
        s->stride[k] = operands[k].rank ? n : 1;
        x->access[k] = (code_access){.operand = (uint8_t)k, .outer = 1};
    }
    if (apart)
        s->stride[1] = reduces ? 0 : n - 1;
    s->v.loop = LOOP_GUFUNC;
    s->v.nin = (uint8_t)inputs;
    s->v.nout = 1;
    operands_set(&s->v, type, OPERAND_STRIDED);
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop,
                                          .layout = &layout,
                                          .core = core,
                                          .traits = &s->traits,
                                          .shared = H200,
                                          .sms = SMS,
                                          .clusters = 4});
}

/* Lanes of calls that are one sum or one forall: what a visit takes, and rows that begin anywhere. */
static void test_lines_once(void **unused) {
    enum {
        MANY = 1 << 16
    };
    static const struct {
        int64_t n, count;
        dtype type;
        int inputs;
        bool reduces, apart;
        const char *chosen; /* vector x steps, threads */
    } cases[] = {
        {1000, MANY, DT_FLOAT32, 1, true, false, "4 x 4, 32"},
        {1000, MANY, DT_FLOAT32, 2, true, false, "4 x 2, 32"},
        {1000, 1000, DT_FLOAT32, 2, true, false, "4 x 4, 32"},
        /* a barrier for one visit; half a visit behind a whole one */
        {1024, MANY, DT_FLOAT32, 1, true, false, "4 x 4, 32"},
        {150, MANY, DT_FLOAT32, 1, true, false, "2 x 4, 8"},
        {150, MANY, DT_FLOAT32, 2, true, false, "2 x 4, 16"},
        {150, MANY, DT_BFLOAT16, 2, true, false, "8 x 2, 4, anywhere"},
        {5000, MANY, DT_BFLOAT16, 2, true, false, "8 x 2, 128"},
        {5000, MANY, DT_BFLOAT16, 1, true, false, "8 x 4, 32"},
        {5000, MANY, DT_INT8, 2, true, false, "8 x 2, 64"},
        {1024, MANY, DT_INT8, 2, true, false, "16 x 1, 16"},
        /* rows that begin anywhere; with a vector that all calls share, only long ones, and of halves */
        {1001, MANY, DT_FLOAT32, 1, true, false, "4 x 4, 32, anywhere"},
        {1001, 1000, DT_FLOAT32, 1, true, false, "4 x 4, 32, anywhere"},
        {1001, MANY, DT_FLOAT64, 1, true, false, "1 x 4, 32"},
        {63, MANY, DT_BFLOAT16, 1, true, false, "1 x 4, 8"},
        {1001, MANY, DT_BFLOAT16, 2, true, true, "8 x 2, 32, anywhere"},
        {1001, MANY, DT_FLOAT32, 2, true, true, "1 x 4, 32"},
        {10001, MANY, DT_FLOAT32, 2, true, true, "4 x 2, 128, anywhere"},
        /* foralls: all of a row in one visit of a warp at most; outputs that lie otherwise go one by one */
        {100, MANY, DT_FLOAT32, 1, false, false, "4 x 2, 16"},
        {100, MANY, DT_BFLOAT16, 2, false, false, "4 x 2, 16"},
        {500, MANY, DT_FLOAT32, 2, false, false, "4 x 1, 64"},
        {101, MANY, DT_INT8, 1, false, false, "1 x 4, 16"},
        {1001, MANY, DT_BFLOAT16, 2, false, false, "8 x 1, 64, anywhere"},
        {1001, MANY, DT_BFLOAT16, 1, false, true, "1 x 4, 128"},
    };
    static sample s;
    char got[64];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        once_make(&s, cases[i].n, cases[i].count, cases[i].type, cases[i].inputs, cases[i].reduces, cases[i].apart);
        snprintf(got, sizeof got, "%d x %d, %d%s", s.v.gufunc.vector, s.v.gufunc.steps, 1 << s.v.gufunc.coop,
                 s.v.gufunc.pieces ? ", anywhere" : "");
        check(i, got, cases[i].chosen);
    }
}

/* Three constructs over columns: two reductions and a forall. An input beside them moves by so many elements from one call to the next.
 * accesses: bits, by operand, of what each construct reads or writes. */
static void columns_make(sample *s, const core_layout *layout, const int64_t *core, dtype type, int64_t calls,
                         int64_t moves, const unsigned accesses[3], int unrolled) {
    memset(s, 0, sizeof *s);
    s->loop = loop_over(s->extent, s->stride, s->offset, (int64_t[]){calls, 0}, 3);
    s->stride[0] = s->stride[2] = 1;
    s->stride[1] = moves;
    s->v.loop = LOOP_GUFUNC;
    s->v.nin = 2;
    s->v.nout = 1;
    operands_set(&s->v, type, OPERAND_STRIDED);
    s->traits = (code_traits){.nodes = 40, .maps_to_threads = true, .uniform = true, .simple = true, .nconstructs = 3};
    for (int j = 0; j < 3; j++) {
        code_construct *x = &s->traits.construct[j];
        *x = (code_construct){.reduces = j < 2, .nodes = 10, .nouter = 1};
        for (int k = 0; k < 3; k++)
            if (accesses[j] >> k & 1)
                x->access[x->naccesses++] = (code_access){.operand = (uint8_t)k, .outer = 1};
    }
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop,
                                          .layout = layout,
                                          .core = core,
                                          .traits = &s->traits,
                                          .shared = H200,
                                          .sms = SMS,
                                          .clusters = 4,
                                          .unrolled = unrolled});
}

/* (n)->(n) */
static layout_operand row_operands[2] = {{.rank = 1, .strides = 1}, {.rank = 1, .strides = 2}};
static const core_layout row_of = {.nin = 1, .nout = 1, .ndims = 1, .nparameters = 3, .operands = row_operands};

/* (n),(n)->(n) */
static layout_operand weighted_operands[3] = {
    {.rank = 1, .strides = 1}, {.rank = 1, .strides = 2}, {.rank = 1, .strides = 3}};
static const core_layout weighted = {.nin = 2, .nout = 1, .ndims = 1, .nparameters = 4, .operands = weighted_operands};

/* What is read beside columns goes through shared memory where all have it in common, and blocks are then as wide as that needs. */
static void test_broadcast(void **unused) {
    static const struct {
        int64_t n, calls, moves; /* moves: by how many elements from one call to the next */
        dtype type;
        int readers; /* constructs that read it */
        const char *chosen;
    } cases[] = {{256, 4096, 0, DT_FLOAT32, 1, "32 x 16, broadcast, 512 threads"},
                 {256, 4096, 256, DT_FLOAT32, 1, "32 x 16, 512 threads"},
                 {256, 4096, 0, DT_FLOAT32, 2, "32 x 16, 512 threads"},
                 {16384, 4096, 0, DT_BFLOAT16, 1, "16 x 512, broadcast, 512 threads"},
                 {16384, 4096, 16384, DT_BFLOAT16, 1, "16 x 512, 1024 threads"},
                 {16384, 4096, 0, DT_BFLOAT16, 0, "8 x 512, 512 threads"},
                 {16384, 8, 0, DT_FLOAT32, 1, "8 x 512, 256 threads"}};
    static sample s;
    char got[128];
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t core[] = {cases[i].n, cases[i].calls, 1, cases[i].calls};
        const unsigned accesses[] = {1, cases[i].readers == 2 ? 3 : 1, cases[i].readers ? 7 : 5};
        columns_make(&s, &weighted, core, cases[i].type, cases[i].calls, cases[i].moves, accesses, 0);
        snprintf(got, sizeof got, "%d x %d%s, %d threads", 1 << s.v.gufunc.across, 1 << s.v.gufunc.coop,
                 s.v.operand[1].broadcast ? ", broadcast" : "",
                 1 << (s.v.gufunc.across + s.v.gufunc.coop - s.v.gufunc.cluster));
        assert_true(s.v.gufunc.held && s.v.operand[0].held);
        assert_true(20 * variant_across_entries(&s.v) + variant_broadcast_bytes(&s.v) <= SHARED_FREE);
        check(i, got, cases[i].chosen);
    }
}

/* Short columns that a thread could have as a whole: of words it has, but not with weights beside; of halves threads share them. */
static void test_short_columns(void **unused) {
    enum {
        LINES = 2000
    };
    static const struct {
        dtype type;
        bool weights, unrolled;
    } cases[] = {{DT_FLOAT32, false, true}, {DT_FLOAT32, true, false}, {DT_BFLOAT16, false, false}};
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const unsigned accesses[] = {1, 1, cases[i].weights ? 7 : 5};
        columns_make(&s, &weighted, (int64_t[]){48, 4096, 1, 4096}, cases[i].type, 4096, 0, accesses, LINES);
        assert_int_equal(s.v.gufunc.unrolled, cases[i].unrolled);
        assert_int_equal(s.v.gufunc.held > 0, !cases[i].unrolled);
        assert_true(s.v.gufunc.unrolled || s.v.gufunc.coop == 3 - (cases[i].type == DT_BFLOAT16));
    }
}

/* Short calls side by side, few before the next ones: planes of which a block has whole ones, and an output in the place of an input. */
static void test_planes_of_calls(void **unused) {
    enum {
        LINES = 2000
    };
    static const struct {
        int64_t side, n;
        int64_t gap; /* elements between planes */
        dtype type;
        int lines, calls; /* of IR; of a block, 0: no planes */
        unsigned shared;
    } cases[] = {
        {3, 17, 0, DT_FLOAT32, LINES, 120, 40 * 204}, /* four planes of 204 bytes are whole accesses */
        {2, 8, 0, DT_BFLOAT16, LINES, 128, 64 * 48},  /* the next plane is in other banks */
        {7, 33, 0, DT_FLOAT32, LINES, 112, 16 * 924},
        {33, 64, 0, DT_BFLOAT16, LINES, 99, 3 * 4240},
        {128, 7, 0, DT_BFLOAT16, LINES, 128, 1808},
        {129, 7, 0, DT_BFLOAT16, LINES, 0, 0}, /* many side by side */
        {3, 5, 0, DT_FLOAT32, LINES, 0, 0},    /* few elements */
        {8, 31, 0, DT_FLOAT32, LINES, 128, 16 * 1008},
        {16, 31, 0, DT_FLOAT32, LINES, 0, 0}, /* neighbours fill whole sectors, .. */
        {17, 31, 0, DT_FLOAT32, LINES, 68, 4 * 2108},
        {16, 31, 0, DT_BFLOAT16, LINES, 128, 8 * 1008}, /* .. but by narrow elements */
        {4, 16, 0, DT_FLOAT64, LINES, 128, 32 * 528},
        {5, 16, 0, DT_FLOAT64, LINES, 0, 0},  /* wide ones */
        {3, 17, 1, DT_FLOAT32, LINES, 0, 0},  /* gaps */
        {3, 17, 0, DT_FLOAT32, 0, 0, 0},      /* what is not unrolled */
        {3, 145, 0, DT_FLOAT32, LINES, 0, 0}, /* more than registers hold */
        {33, 7, 0, DT_INT8, LINES, 0, 0},     /* see below */
    };
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t side = cases[i].side, n = cases[i].n;
        const int64_t core[] = {n, side, side};
        memset(&s, 0, sizeof s);
        s.loop = loop_over(s.extent, s.stride, s.offset, (int64_t[]){side, 100000, 0}, 2);
        s.stride[0] = s.stride[1] = 1;
        s.stride[2] = s.stride[3] = n * side + cases[i].gap;
        s.v.loop = LOOP_GUFUNC;
        s.v.ndim = 2;
        s.v.nin = s.v.nout = 1;
        operands_set(&s.v, cases[i].type, OPERAND_STRIDED);
        s.traits = (code_traits){.nodes = 40, .uniform = true, .simple = true, .assigned = i == 2 ? 0 : 2};
        gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop,
                                             .layout = &row_of,
                                             .core = core,
                                             .traits = &s.traits,
                                             .shared = H200,
                                             .sms = SMS,
                                             .unrolled = cases[i].lines});
        if (s.v.gufunc.plane != (cases[i].calls ? side : 0))
            fail_msg("case %zu: planes of %d", i, s.v.gufunc.plane);
        if (!cases[i].calls)
            continue;
        launch l = launch_of(&s);
        l.layout = &row_of;
        l.core = core;
        lay_out_any(&s, &l, 256, SMS);
        assert_true(s.v.gufunc.unrolled && s.v.operand[0].staged == 1);
        assert_int_equal(s.v.operand[1].staged, i == 2 ? 1 : STAGED_IN_PLACE);
        assert_int_equal(s.g.threads, cases[i].calls);
        assert_int_equal(s.g.shared, (i == 2 ? 2 : 1) * cases[i].shared);
        assert_int_equal(s.g.blocks, (side * 100000 + cases[i].calls - 1) / cases[i].calls);
    }
}

/* Staged columns leave room for what threads tell each other of a reduction, whatever they fill. */
static void test_staged_columns(void **unused) {
    static const int shared[] = {0, 64 << 10, 163 << 10, H200};
    static const dtype types[] = {DT_COMPLEX128, DT_FLOAT64, DT_FLOAT32, DT_INT16};
    static sample s;
    int staged = 0;
    (void)unused;
    for (size_t i = 0; i < COUNT(shared) * COUNT(types); i++)
        for (int64_t n = 40; n < 30000; n += 1 + n / 100) {
            int most = shared[i % COUNT(shared)];
            lines_make(&s, n, 65536, true, types[i / COUNT(shared)], most, SMS);
            staged += s.g.shared > 0;
            if (s.g.shared)
                assert_in_range(s.g.shared + 20u * (unsigned)variant_across_entries(&s.v), 1,
                                most ? most : SHARED_FREE);
        }
    assert_true(staged);
}

/* Columns of n beside others of m, which a kernel reads at the same index, checked: threads hold parts of those of n alone. */
static void test_columns_of_two_heights(void **unused) {
    static layout_operand operands[3] = {
        {.rank = 1, .dim = {1}, .strides = 2}, {.rank = 1, .strides = 3}, {.rank = 1, .strides = 4}};
    static const core_layout layout = {.nin = 2, .nout = 1, .ndims = 2, .nparameters = 5, .operands = operands};
    static const int64_t heights[] = {7, 63, 64, 1000};
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(heights); i++) {
        const int64_t core[] = {64, heights[i], 4096, 4096, 4096};
        columns_make(&s, &layout, core, DT_FLOAT32, 4096, 1, (const unsigned[]){3, 3, 7}, 0);
        assert_true(s.v.gufunc.held && s.v.operand[1].held && !s.v.operand[0].held);
    }
}

/* The same along the last axis, beside weights of n that are the same for all calls and read where the forall is. */
static void weighted_make(sample *s, int64_t n, int64_t count, dtype type) {
    static int64_t core[4];
    memset(s, 0, sizeof *s);
    s->loop = loop_over(s->extent, s->stride, s->offset, (int64_t[]){count, 0}, 3);
    core[0] = n;
    core[1] = core[2] = core[3] = 1;
    s->stride[0] = s->stride[2] = n;
    s->stride[1] = 0;
    s->v.loop = LOOP_GUFUNC;
    s->v.nin = 2;
    s->v.nout = 1;
    operands_set(&s->v, type, OPERAND_STRIDED);
    s->traits = (code_traits){.nodes = 60, .maps_to_threads = true, .uniform = true, .simple = true, .nconstructs = 3};
    for (int i = 0; i < 3; i++)
        s->traits.construct[i] = (code_construct){
            .reduces = i < 2,
            .nodes = 12,
            .nouter = 1,
            .naccesses = (uint8_t)(i < 2 ? 1 : 3),
            .access = {{.operand = 0, .outer = 1}, {.operand = 1, .outer = 1}, {.operand = 2, .outer = 1}}};
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop,
                                          .layout = &weighted,
                                          .core = core,
                                          .traits = &s->traits,
                                          .shared = H200,
                                          .sms = SMS,
                                          .clusters = 3});
}

/* Rows in shared memory are pieces. Where rows begin anywhere, inputs that do not move as they do are loaded shifted, and neither staged nor
 * held. Of whole words that pays in long rows alone. */
static void test_weighted(void **unused) {
    static const struct {
        int64_t n;
        dtype type;
        bool pieces, shifted, held;
    } cases[] = {
        {2000, DT_BFLOAT16, false, false, true},  {2001, DT_BFLOAT16, true, true, true},
        {1001, DT_BFLOAT16, true, true, true},    {63, DT_BFLOAT16, false, false, false},
        {20000, DT_BFLOAT16, true, false, false}, {5001, DT_BFLOAT16, true, true, false},
        {2001, DT_FLOAT32, true, false, false},   {5001, DT_FLOAT32, true, true, true},
        {20001, DT_FLOAT32, true, true, false},   {2001, DT_FLOAT64, true, false, false},
        {1001, DT_INT8, true, true, true},
    };
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        weighted_make(&s, cases[i].n, 4096, cases[i].type);
        const variant_operand *o = s.v.operand;
        if (s.v.gufunc.pieces != cases[i].pieces || o[1].shifted != cases[i].shifted ||
            (s.v.gufunc.held > 0) != cases[i].held)
            fail_msg("case %zu: pieces %d, shifted %d, held %d", i, s.v.gufunc.pieces, o[1].shifted, s.v.gufunc.held);
        assert_true(!o[0].shifted && !o[2].shifted && !o[1].staged && !o[1].held);
        assert_true(!o[1].shifted || (o[0].unit && o[1].unit && o[2].unit && variant_lead(&s.v) == 0));
        if (s.v.gufunc.held && o[1].shifted)
            assert_true(3 * (s.v.gufunc.vector - 1) <= 1 << s.v.gufunc.coop);
    }
}

/* Vectors that threads take together of a row in shared memory: halves two if they have many, and none lies beyond the row's end; where single
 * elements are accessed, several. */
static void test_row_steps(void **unused) {
    static const struct {
        int64_t n;
        dtype type;
        int vector, steps;
    } cases[] = {
        {20480, DT_BFLOAT16, 8, 2}, {18000, DT_BFLOAT16, 8, 1}, {9001, DT_BFLOAT16, 8, 1}, {12001, DT_BFLOAT16, 8, 2},
        {32768, DT_BFLOAT16, 8, 2}, {14000, DT_FLOAT32, 4, 2},  {13000, DT_FLOAT32, 4, 1}, {14001, DT_FLOAT32, 4, 2},
        {2001, DT_FLOAT32, 1, 8},   {4096, DT_FLOAT64, 2, 2},   {3001, DT_FLOAT64, 1, 4},
    };
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        weighted_make(&s, cases[i].n, 4096, cases[i].type);
        assert_true(s.v.gufunc.pieces && !s.v.gufunc.held && !s.v.gufunc.cluster);
        if (s.v.gufunc.vector != cases[i].vector || s.v.gufunc.steps != cases[i].steps)
            fail_msg("case %zu: %d vectors of %d", i, s.v.gufunc.steps, s.v.gufunc.vector);
    }
}

/* Whether rows and columns are whole vectors, and whole rounds of all threads; arrays that are not aligned are no whole vectors, but where
 * single elements are accessed. */
static void test_even(void **unused) {
    static const uint8_t aligned[VARIANT_OPERANDS], apart[VARIANT_OPERANDS] = {4, 4};
    static const struct {
        int64_t n, count;
        bool first_axis;
        dtype type;
        const uint8_t *misalignment;
        gufunc_even even;
    } cases[] = {
        {4096, 4096, false, DT_FLOAT32, aligned, EVEN_ROUNDS},
        {4096, 4096, false, DT_FLOAT32, apart, EVEN_NOT},
        {4096, 4096, false, DT_FLOAT32, NULL, EVEN_NOT},
        {4100, 4096, false, DT_FLOAT32, aligned, EVEN_VECTORS},
        {4099, 4096, false, DT_FLOAT32, aligned, EVEN_NOT},
        {64, 1 << 20, false, DT_FLOAT32, aligned, EVEN_ROUNDS},
        {60, 1 << 20, false, DT_FLOAT32, aligned, EVEN_VECTORS},
        {65536, 1024, false, DT_BFLOAT16, aligned, EVEN_ROUNDS},
        {65544, 1024, false, DT_BFLOAT16, aligned, EVEN_VECTORS},
        {1 << 20, 128, false, DT_FLOAT32, aligned, EVEN_VECTORS},
        {1024, 65536, true, DT_FLOAT32, aligned, EVEN_ROUNDS},
        {1024, 65536, true, DT_FLOAT32, apart, EVEN_ROUNDS},
        {1000, 65536, true, DT_FLOAT32, aligned, EVEN_VECTORS},
        {1024, 65536, true, DT_BFLOAT16, aligned, EVEN_ROUNDS},
    };
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        misalignment = cases[i].misalignment;
        lines_make(&s, cases[i].n, cases[i].count, cases[i].first_axis, cases[i].type, H200, SMS);
        misalignment = NULL;
        if (s.v.gufunc.even != cases[i].even)
            fail_msg("case %zu: %d, not %d", i, s.v.gufunc.even, cases[i].even);
        assert_true(s.v.gufunc.aligned || !s.v.gufunc.even || s.v.gufunc.vector == 1);
    }
}

/* ---- Elimination ---- */

/* A matrix in C order, one behind the other, or `shared` by all calls, and right sides. */
static void matrices_make(sample *s, lapack_form form, dtype type, int64_t count, int64_t n, int64_t r, bool shared,
                          const uint8_t *at) {
    static const char *const layouts[LAPACK_FORMS] = {[LAPACK_SOLVE] = "(n,n),(n)->(n)",
                                                      [LAPACK_SOLVE_MATRIX] = "(n,n),(n,r)->(n,r)",
                                                      [LAPACK_INV] = "(n,n)->(n,n)",
                                                      [LAPACK_DET] = "(n,n)->()",
                                                      [LAPACK_CHOLESKY] = "(n,n)->(n,n)",
                                                      [LAPACK_EIGH] = "(n,n)->(n),(n,n)",
                                                      [LAPACK_QR] = "(m,n)->(m,k),(k,n)",
                                                      [LAPACK_SVD] = "(m,n)->(m,k),(k),(k,n)",
                                                      [LAPACK_LSTSQ] = "(m,n),(m,k),()->(n,k),(k),(),(k)"};
    arena memory = {0};
    core_layout layout;
    int64_t core[16] = {n, r, n < r ? n : r};
    assert_int_equal(layout_parse(&memory, layouts[form], &layout), UF_OK);
    memset(s, 0, sizeof *s);
    s->loop = loop_over(s->extent, s->stride, s->offset, (int64_t[]){count, 0}, layout.nin + layout.nout);
    s->v = (variant){.loop = LOOP_GUFUNC, .ndim = 1, .nin = (uint8_t)layout.nin, .nout = (uint8_t)layout.nout};
    operands_set(&s->v, type, OPERAND_STRIDED);
    for (int k = 0; k < layout.nin + layout.nout; k++) {
        int64_t elements = 1;
        for (int d = layout.operands[k].rank - 1; d >= 0; d--) {
            core[layout.operands[k].strides + d] = elements;
            elements *= core[layout.operands[k].dim[d]];
        }
        s->stride[k] = k || !shared ? elements : 0;
    }
    gpu_specialise(&s->v, &(loop_problem){.loop = &s->loop,
                                          .layout = &layout,
                                          .core = core,
                                          .traits = &s->traits,
                                          .form = (int)form,
                                          .misalignment = at});
    launch l = launch_of(s);
    l.layout = &layout;
    l.core = core;
    lay_out(s, &l, 256, SMS);
    arena_free(&memory);
}

/* Of which matrices the lanes of a warp take care, how many of them, and by how many elements they load a row. */
static void test_lane_matrices(void **unused) {
    static const uint8_t aligned[VARIANT_OPERANDS], apart[VARIANT_OPERANDS] = {8};
    static const struct {
        lapack_form form;
        dtype type;
        int64_t n, r;
        int coop, vector; /* 0: others do */
        bool shared;
        const uint8_t *at;
    } cases[] = {
        {LAPACK_INV, DT_FLOAT32, 7, 0, 0, 0, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 8, 0, 2, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 12, 0, 2, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 16, 0, 3, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 20, 0, 3, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 21, 0, 4, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 32, 0, 5, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 33, 0, 5, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 64, 0, 5, 1, false, aligned},
        {LAPACK_INV, DT_FLOAT32, 65, 0, 0, 0, false, aligned},
        {LAPACK_INV, DT_COMPLEX64, 34, 0, 5, 1, false, aligned},
        {LAPACK_INV, DT_COMPLEX64, 35, 0, 0, 0, false, aligned},
        {LAPACK_SOLVE, DT_FLOAT32, 64, 0, 5, 4, false, aligned},
        {LAPACK_INV, DT_COMPLEX128, 4, 0, 2, 1, false, aligned},
        {LAPACK_INV, DT_COMPLEX128, 32, 0, 5, 1, false, aligned},
        {LAPACK_SOLVE, DT_FLOAT32, 7, 0, 0, 0, false, aligned},
        {LAPACK_SOLVE, DT_FLOAT32, 8, 0, 2, 4, false, aligned},
        {LAPACK_SOLVE, DT_FLOAT32, 8, 0, 2, 1, false, apart},
        {LAPACK_SOLVE, DT_FLOAT32, 8, 0, 2, 1, false, NULL},
        {LAPACK_SOLVE, DT_FLOAT32, 8, 0, 0, 0, true, aligned},
        {LAPACK_SOLVE, DT_FLOAT32, 9, 0, 2, 1, false, aligned},
        {LAPACK_SOLVE, DT_FLOAT32, 10, 0, 2, 2, false, apart},
        {LAPACK_SOLVE, DT_COMPLEX128, 32, 0, 5, 1, false, aligned},
        {LAPACK_SOLVE_MATRIX, DT_FLOAT32, 8, 32, 3, 4, false, aligned},
        {LAPACK_SOLVE_MATRIX, DT_FLOAT32, 8, 65, 0, 0, false, aligned},
        {LAPACK_SOLVE_MATRIX, DT_COMPLEX128, 32, 2, 5, 1, false, aligned},
        {LAPACK_SOLVE_MATRIX, DT_COMPLEX128, 32, 3, 0, 0, false, aligned},
        {LAPACK_DET, DT_FLOAT32, 9, 0, 0, 0, false, aligned},
        {LAPACK_DET, DT_FLOAT32, 10, 0, 2, 1, false, aligned},
        {LAPACK_DET, DT_FLOAT64, 16, 0, 4, 1, false, aligned},
        {LAPACK_DET, DT_FLOAT32, 64, 0, 5, 1, false, aligned},
        {LAPACK_DET, DT_FLOAT32, 65, 0, 0, 0, false, aligned},
        {LAPACK_CHOLESKY, DT_FLOAT64, 6, 0, 0, 0, false, aligned},
        {LAPACK_CHOLESKY, DT_FLOAT64, 7, 0, 2, 1, false, aligned},
        {LAPACK_EIGH, DT_FLOAT32, 1, 0, 0, 0, false, aligned},
        {LAPACK_EIGH, DT_FLOAT32, 2, 0, 1, 1, false, aligned},
        {LAPACK_EIGH, DT_FLOAT64, 16, 0, 4, 1, false, apart},
        {LAPACK_EIGH, DT_FLOAT64, 16, 0, 0, 0, true, aligned},
        {LAPACK_EIGH, DT_FLOAT32, 32, 0, 5, 1, false, NULL},
        {LAPACK_EIGH, DT_FLOAT32, 33, 0, 8, 1, false, aligned},
        {LAPACK_EIGH, DT_FLOAT32, 33, 0, 0, 0, true, aligned},
        {LAPACK_EIGH, DT_FLOAT32, 64, 0, 8, 1, false, aligned},
        {LAPACK_EIGH, DT_FLOAT64, 56, 0, 0, 0, false, aligned}, /* of 48 KiB, which every device has */
        {LAPACK_EIGH, DT_FLOAT32, 73, 0, 0, 0, false, aligned},
        {LAPACK_EIGH, DT_COMPLEX128, 17, 0, 5, 1, false, aligned},
        {LAPACK_EIGH, DT_COMPLEX128, 18, 0, 7, 1, false, aligned},
        {LAPACK_QR, DT_FLOAT32, 7, 7, 0, 0, false, aligned},
        {LAPACK_QR, DT_FLOAT32, 8, 8, 3, 1, false, aligned},
        {LAPACK_QR, DT_FLOAT32, 5, 32, 5, 1, false, aligned},
        {LAPACK_QR, DT_FLOAT32, 64, 32, 5, 1, false, aligned},
        {LAPACK_QR, DT_FLOAT32, 8, 33, 0, 0, false, aligned},
        {LAPACK_QR, DT_FLOAT32, 65, 4, 0, 0, false, aligned},
        {LAPACK_QR, DT_COMPLEX64, 5, 5, 3, 1, false, aligned},
        {LAPACK_QR, DT_COMPLEX128, 17, 5, 3, 1, false, aligned},
        {LAPACK_QR, DT_COMPLEX128, 18, 5, 0, 0, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 4, 40, 2, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 40, 4, 2, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 64, 32, 5, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 64, 33, 8, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 65, 2, 6, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 255, 20, 8, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 256, 20, 0, 0, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 2, 65, 6, 1, false, aligned},
        {LAPACK_SVD, DT_FLOAT32, 1, 65, 0, 0, false, aligned},
        {LAPACK_SVD, DT_COMPLEX128, 10, 24, 4, 1, false, aligned},
        {LAPACK_SVD, DT_COMPLEX128, 10, 25, 6, 1, false, aligned},
        {LAPACK_LSTSQ, DT_FLOAT32, 2, 2, 1, 1, false, aligned},
        {LAPACK_LSTSQ, DT_FLOAT64, 20, 9, 4, 1, false, aligned},
        {LAPACK_LSTSQ, DT_FLOAT64, 20, 9, 0, 0, true, aligned},
        {LAPACK_LSTSQ, DT_FLOAT64, 9, 60, 0, 0, false, aligned},
    };
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        matrices_make(&s, cases[i].form, cases[i].type, 1000, cases[i].n, cases[i].r, cases[i].shared, cases[i].at);
        int form = s.v.gufunc.form;
        if (form != (cases[i].coop ? (int)cases[i].form : 0))
            fail_msg("case %zu: form %d", i, form);
        if (form && (s.v.gufunc.coop != cases[i].coop || s.v.gufunc.vector != cases[i].vector))
            fail_msg("case %zu: %d lanes, vectors of %d", i, 1 << s.v.gufunc.coop, s.v.gufunc.vector);
        if (form == LAPACK_LSTSQ)
            assert_true(!s.v.gufunc.size[2] && !s.v.operand[1].fixed && s.v.operand[0].fixed);
        if (form)
            assert_true((int64_t)s.g.blocks * (s.g.threads >> s.v.gufunc.coop) >= 1000);
        if (form)
            assert_true(s.v.gufunc.coop > COOP_WARP ? s.g.threads == 1U << s.v.gufunc.coop : s.g.threads <= 64);
    }
}

/* Of how many Hermitian matrices a block has one, and the threads of each. */
static void test_hermitian_matrices(void **unused) {
    static const uint8_t aligned[VARIANT_OPERANDS];
    static const struct {
        dtype type;
        int64_t count, n;
        int coop; /* 0: cuSOLVER's */
    } cases[] = {
        {DT_FLOAT32, 1, 64, 9},   {DT_FLOAT32, 1, 65, 0},   {DT_FLOAT32, 2, 40, 9},    {DT_FLOAT32, 2, 41, 0},
        {DT_FLOAT32, 99, 41, 0},  {DT_FLOAT32, 100, 48, 9}, {DT_FLOAT32, 128, 48, 9},  {DT_FLOAT32, 129, 48, 8},
        {DT_FLOAT32, 255, 49, 0}, {DT_FLOAT32, 256, 49, 8}, {DT_COMPLEX64, 16, 34, 9}, {DT_COMPLEX64, 16, 35, 0},
        {DT_FLOAT64, 1, 48, 9},   {DT_FLOAT64, 1, 49, 0},   {DT_COMPLEX128, 1, 24, 8}, {DT_COMPLEX128, 99, 25, 0}};
    static sample s;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        matrices_make(&s, LAPACK_EIGH, cases[i].type, cases[i].count, cases[i].n, cases[i].n, false, aligned);
        if ((s.v.gufunc.form ? s.v.gufunc.coop : 0) != cases[i].coop)
            fail_msg("case %zu: form %d, coop %d", i, s.v.gufunc.form, s.v.gufunc.coop);
    }
}

/* Threads hold parts of rows only where each forall can be written for what they hold. */
static void test_parts(void **unused) {
    static sample s;
    (void)unused;
    for (int loops = 0; loops < 2; loops++) {
        with_loops = loops;
        lines_make(&s, 1 << 20, 128, false, DT_FLOAT32, H200, SMS);
        with_loops = false;
        assert_true(s.v.gufunc.coop == COOP_GRID && s.v.operand[0].staged);
        assert_true(variant_holds_part(&s.v) == !loops);
    }
}

/* Shared memory suffices, for all that is staged and for what reductions take, and the calls are covered. */
static void test_lines_cover(void **unused) {
    static sample s;
    int pieces = 0, clusters = 0, rows = 0, anywhere = 0, parts = 0, grids = 0;
    (void)unused;
    for (int64_t i = 0; i < trials(4000); i++) {
        static const dtype types[] = {DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX128, DT_INT8};
        bool first_axis = chance(50);
        int64_t n = chance(10) ? pick(0, 3) : pick(1, chance(50) ? 300 : chance(20) ? 2000000 : 100000);
        lines_make(&s, n, pick(1, chance(50) ? 100 : 100000), first_axis, types[pick(0, 4)], chance(70) ? H200 : 0,
                   chance(50) ? SMS : 0);
        int64_t across = 1 << s.v.gufunc.across, calls = across << s.v.gufunc.calls, blocks = 1 << s.v.gufunc.cluster;
        bool by_grid = s.v.gufunc.coop == COOP_GRID;
        assert_true(s.g.shared + (s.v.gufunc.across ? 20 << 10 : 2 << 10) <= H200);
        assert_true(across == 1 ||
                    ((first_axis || !n) && s.v.gufunc.vector == 1 && s.g.threads == 1u << variant_block_across(&s.v)));
        assert_true(across == 1 || by_grid || (int64_t)s.g.blocks / blocks * calls >= s.loop.count);
        if (across > 1 && by_grid) {
            assert_true(!s.g.shared && s.g.blocks == s.g.coops * s.g.coop_blocks && s.g.coop_blocks <= COOP_BLOCKS_MAX);
            assert_true(s.g.coops == 1 && s.loop.count <= across && s.loop.count > across / 2 &&
                        s.g.slots_zeroed == s.g.coops * (size_t)variant_slot_bytes(&s.v));
            grids++;
        }
        assert_true(s.g.threads <= 1 << COOP_BLOCK && s.g.blocks % blocks == 0);
        assert_true((s.v.gufunc.held > 0) == (s.v.operand[0].held > 0));
        const bool part = variant_holds_part(&s.v);
        const int64_t held = part ? 0 : s.v.gufunc.held;
        assert_true(!held || !s.g.shared);
        int64_t width = across > 1 ? 1 : s.v.gufunc.vector, tiles = n / width;
        int64_t ends = s.v.gufunc.pieces ? (2 + variant_shifts(&s.v)) * (width - 1) : 0;
        assert_true(!held ||
                    (held << s.v.gufunc.coop >= tiles && (held - HELD_LOOSE) << s.v.gufunc.coop <= (n - ends) / width));
        assert_true(!held || ((ends || n % width == 0) && held > HELD_LOOSE && held * width <= HELD_MOST));
        assert_true(!held || 1 << s.v.gufunc.coop >= ends);
        rows += held && across == 1;
        anywhere += held && ends;
        if (s.v.gufunc.coop && s.v.operand[0].staged)
            assert_true(!s.v.operand[1].staged && (s.v.operand[0].unit == 0) == (across > 1) &&
                        (s.v.gufunc.coop < COOP_GRID || s.v.gufunc.pieces));
        if (s.v.gufunc.pieces && s.v.gufunc.coop == COOP_GRID && s.v.operand[0].staged) {
            int64_t vector = s.v.gufunc.vector, kept = variant_held_part(&s.v),
                    piece = s.g.shared / dtypes[s.v.operand[0].memory].size - vector + kept;
            assert_true(s.g.shared <= H200 / 2 && piece * s.g.coop_blocks >= n);
            assert_true(s.g.coops * s.g.coop_blocks <= 2 * SMS && s.g.coops >= 1);
            /* The last piece lacks what rounding gave the others. */
            int64_t each = (n / vector + s.g.coop_blocks - 1) / s.g.coop_blocks,
                    last = n / vector - 1 - each * (s.g.coop_blocks - 1);
            assert_true(!part || (s.loop.count >= 16 && s.v.gufunc.fine && last * vector > kept));
            parts += part;
        }
        if (s.v.gufunc.pieces && s.v.gufunc.cluster) {
            int64_t vector = s.v.gufunc.vector, piece = s.g.shared / dtypes[s.v.operand[0].memory].size - vector;
            assert_true(s.v.operand[0].staged && piece * blocks >= n && s.g.blocks == s.loop.count * blocks);
            assert_true(s.g.threads == 1u << s.v.gufunc.coop && s.v.gufunc.coop > COOP_WARP);
            clusters++;
        }
        pieces += s.v.gufunc.pieces;
    }
    assert_true(pieces > 100 && clusters > 10 && rows > 10 && anywhere > 10 && parts > 10 && grids > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_streamed_points),
        cmocka_unit_test(test_tile_table),
        cmocka_unit_test(test_tile_halos),
        cmocka_unit_test(test_tile_records),
        cmocka_unit_test(test_elementwise_table),
        cmocka_unit_test(test_bodies_with_loops),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_records_general),
        cmocka_unit_test(test_elementwise_covers),
        cmocka_unit_test(test_elementwise_grows),
        cmocka_unit_test(test_fold_table),
        cmocka_unit_test(test_row_lanes),
        cmocka_unit_test(test_columns_alone),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_fold_interleaved),
        cmocka_unit_test(test_fold_covers),
        cmocka_unit_test(test_scan_table),
        cmocka_unit_test(test_scan_side),
        cmocka_unit_test(test_scan_planes),
        cmocka_unit_test(test_scan_tiles),
        cmocka_unit_test(test_scan_vectors),
        cmocka_unit_test(test_scan_in_turn),
        cmocka_unit_test(test_scan_covers),
        cmocka_unit_test(test_at),
        cmocka_unit_test(test_at_copies),
        cmocka_unit_test(test_at_columns),
        cmocka_unit_test(test_forall_table),
        cmocka_unit_test(test_forall_lanes),
        cmocka_unit_test(test_forall_covers),
        cmocka_unit_test(test_line_table),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_lines_once),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_short_columns),
        cmocka_unit_test(test_planes_of_calls),
        cmocka_unit_test(test_staged_columns),
        cmocka_unit_test(test_columns_of_two_heights),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_lines_cover),
        cmocka_unit_test(test_weighted),
        cmocka_unit_test(test_row_steps),
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_lane_matrices),
        cmocka_unit_test(test_hermitian_matrices),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
