/* test_cpu_forall.c - kernels over indices on the CPU: every point once, whatever the space, the strides and the threads; counting
 * in copies; stencils; and that loops over neighbours, and over runs of points, become vectors; results that go past the
 * caches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/cpu.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "forall_case.h"
#include "ir_check.h"
#include "lang_try.h"
#include "rewrite.h"
#include "views.h"

static const DLDataType int32_type = {kDLInt, 32, 1};

/* The engine believes that work costs nothing, so that one thread does it, or so much that it is cut as far as it goes. */
static void believe(forall_case *f, bool heavy) {
    for (int i = 0; i < COST_SIZES; i++)
        atomic_store(&f->code->cost[i], heavy ? 4000000000u : 1);
}

/* ---- Every point once ---- */

/* "[i0, i1](a, k) { a[i0][i1] += 1 + k * i0 + 7 * k * i1; }" */
static void write_kernel(text *out, int ndim) {
    for (int d = 0; d < ndim; d++)
        text_printf(out, "%si%d", d ? ", " : "[", d);
    text_puts(out, "](a, k) { a");
    for (int d = 0; d < ndim; d++)
        text_printf(out, "[i%d]", d);
    text_puts(out, " += 1");
    for (int64_t d = 0, factor = 1; d < ndim; d++, factor *= 7)
        text_printf(out, " + k * i%d * %lld", (int)d, (long long)factor);
    text_puts(out, "; }");
}

static int32_t once_expected(int ndim, const int64_t *index, int32_t k) {
    int64_t sum = 1;
    for (int64_t d = 0, factor = 1; d < ndim; d++, factor *= 7)
        sum += k * index[d] * factor;
    return (int32_t)sum;
}

/* Short, long and 1 anywhere, about 5000 points at most. */
static void draw_extents(int ndim, int64_t *extents) {
    int64_t room = 5000;
    for (int d = 0; d < ndim; d++) {
        int64_t most = chance(30) ? 1 : chance(50) ? 4 : room;
        extents[d] = pick(1, most < room ? most : room);
        room /= extents[d];
    }
    for (int d = 0; d < ndim; d++) {
        int other = (int)pick(0, d);
        int64_t swap = extents[d];
        extents[d] = extents[other];
        extents[other] = swap;
    }
}

static void once_try(int ndim) {
    int64_t extents[VIEW_RANK], index[VIEW_RANK] = {0};
    int32_t k = (int32_t)pick(-5, 5);
    forall_case f;
    view a;
    text source = {0}, parameters = {0};
    draw_extents(ndim, extents);
    write_kernel(&source, ndim);
    text_printf(&parameters, "int32[%.*s], int32", ndim - 1, ",,,,,,,");
    view_make(&a, int32_type, ndim, extents);
    DLTensor args[] = {a.host, {.data = &k, .dtype = int32_type, .device = {kDLCPU, 0}}};
    forall_open(&f, parameters.data, source.data, ndim, extents, args, chance(50));
    forall_compile(&f);
    believe(&f, chance(70));
    forall_launch(&f, (int)(pick(0, 2) * pick(1, 4)));
    int64_t total = 0, sum = 0;
    do {
        int32_t seen, wanted = once_expected(ndim, index, k);
        memcpy(&seen, view_at(&a, ndim, index), sizeof seen);
        if (seen != wanted)
            fail_msg("%s: %d in place of %d", source.data, seen, wanted);
        total += wanted;
    } while (index_next(ndim, extents, index));
    for (int64_t i = 0; i < a.elements; i++)
        sum += ((int32_t *)(void *)a.block)[i];
    assert_true(sum == total); /* and nothing elsewhere */
    forall_close(&f);
    view_free(&a);
    text_free(&source);
    text_free(&parameters);
}

static void once(void **state) {
    (void)state;
    for (int64_t i = 0, n = trials(12); i < n; i++)
        for (int ndim = 1; ndim <= VIEW_RANK; ndim++)
            once_try(ndim);
}

/* ---- Counting ---- */

typedef struct count_row {
    const char *function;
    const char *types; /* that it is tried with, by NumPy's names */
} count_row;

static const count_row count_rows[] = {
    {"atomic_add", "int32 uint8 int16 uint64 float32 float64 float16 bfloat16"},
    {"atomic_sub", "int64 uint16 float32 float64"},
    {"atomic_min", "int8 uint32 int64 float64 float16"},
    {"atomic_max", "int16 uint8 float32 bfloat16"},
    {"atomic_and", "int32 uint8 int64"},
    {"atomic_or", "uint16 int8"},
    {"atomic_xor", "uint64 int32"},
};

/* What a function makes of small integers that any of the dtypes holds; wrapping comes at the end. */
static int64_t folded(const char *name, int64_t a, int64_t b) {
    switch (name[7]) {
    case 'a':
        return name[8] == 'd' ? a + b : a & b;
    case 's':
        return a - b;
    case 'o':
        return a | b;
    case 'x':
        return a ^ b;
    default:
        return name[8] == 'i' ? (a < b ? a : b) : (a > b ? a : b);
    }
}

static void put(dtype t, int64_t value, void *to) {
    number n = {.type = DT_INT64, .as.i = value};
    number_write(n, t, to);
}

static void counting_try(const char *name, dtype t) {
    enum {
        POINTS = 40000
    };
    static uint8_t bins[POINTS];
    static int8_t values[POINTS];
    int64_t points = POINTS, shape[] = {pick(3, 9), pick(1, 12)}, wanted[9 * 12];
    bool exact = !dtype_is_half(t) || name[7] == 'm'; /* halves have few digits for sums */
    char parameters[64], source[128];
    view h;
    forall_case f;
    view_make(&h, dtypes[t].dl, 2, shape);
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
        wanted[i] = pick(0, 100);
        put(t, wanted[i], view_at(&h, 2, (int64_t[]){i / shape[1], i % shape[1]}));
    }
    for (int i = 0; i < POINTS; i++) {
        bins[i] = (uint8_t)pick(0, 120); /* also beyond the end */
        values[i] = (int8_t)(exact ? pick(0, 100) : chance(2));
        if (bins[i] < shape[0] * shape[1])
            wanted[bins[i]] = folded(name, wanted[bins[i]], values[i]);
    }
    snprintf(parameters, sizeof parameters, "uint8[], int8[], %s[,]", dtypes[t].name);
    snprintf(source, sizeof source, "[i](b, x, h) { auto m = extent(h, 1); %s(h[b[i] / m][b[i] %% m], x[i]); }", name);
    DLTensor args[] = {{.data = bins, .ndim = 1, .shape = &points, .dtype = {kDLUInt, 8, 1}, .device = {kDLCPU, 0}},
                       {.data = values, .ndim = 1, .shape = &points, .dtype = {kDLInt, 8, 1}, .device = {kDLCPU, 0}},
                       h.host};
    forall_open(&f, parameters, source, 1, &points, args, true);
    assert_true(f.v.operand[2].privatised);
    if (chance(30))
        f.v.operand[2].privatised = 0;
    forall_compile(&f);
    believe(&f, chance(70));
    forall_launch(&f, (int)pick(0, 8));
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
        char bytes[16];
        put(t, wanted[i], bytes);
        const void *seen = view_at(&h, 2, (int64_t[]){i / shape[1], i % shape[1]});
        if (memcmp(seen, bytes, dtypes[t].size) != 0)
            fail_msg("%s of %s: element %d", name, dtypes[t].name, (int)i);
    }
    forall_close(&f);
    view_free(&h);
}

static void counting(void **state) {
    (void)state;
    for (size_t r = 0; r < COUNT(count_rows); r++)
        for (const char *t = count_rows[r].types; *t; t += strspn(t, " ")) {
            size_t length = strcspn(t, " ");
            for (int64_t i = 0, n = trials(2); i < n; i++)
                counting_try(count_rows[r].function, dtype_of_name(t, length));
            t += length;
        }
}

/* A bin that nothing is added to stays as it is, to the bit; NaN reaches the extremes. */
static void counting_specials(void **state) {
    (void)state;
    int64_t points = 4096, bins = 3;
    static float values[4096];
    float h[3] = {-0.0f, -0.0f, 1};
    values[7] = NAN;
    DLTensor args[] = {{.data = values, .ndim = 1, .shape = &points, .dtype = {kDLFloat, 32, 1}},
                       {.data = h, .ndim = 1, .shape = &bins, .dtype = {kDLFloat, 32, 1}}};
    forall_case f;
    forall_open(&f, "float32[], float32[]", "[i](x, h) { atomic_add(h[1], x[i] != x[i] ? 0 : x[i]); }", 1, &points,
                args, true);
    assert_true(f.v.operand[1].privatised);
    forall_compile(&f);
    forall_launch(&f, 2);
    assert_true(h[0] == 0 && __builtin_signbit(h[0]) && h[1] == 0 && !__builtin_signbit(h[1]) && h[2] == 1);
    forall_close(&f);
    forall_open(&f, "float32[], float32[]", "[i](x, h) { atomic_max(h[2], x[i]); }", 1, &points, args, true);
    forall_compile(&f);
    forall_launch(&f, 2);
    assert_true(h[2] != h[2]);
    forall_close(&f);
}

static bool counts(const char *source, int64_t points, int64_t bins) {
    static int32_t x[1], h[1];
    DLTensor args[] = {{.data = x, .ndim = 1, .shape = &points, .dtype = int32_type},
                       {.data = h, .ndim = 1, .shape = &bins, .dtype = int32_type}};
    forall_case f;
    forall_open(&f, "int32[], int32[]", source, 1, &points, args, true);
    bool privatised = f.v.operand[1].privatised;
    forall_close(&f);
    return privatised;
}

static void what_counts(void **state) {
    (void)state;
    static const char plain[] = "[i](x, h) { atomic_add(h[x[i]], 1); }";
    assert_true(counts(plain, 1 << 22, 256));
    assert_true(counts(plain, 1 << 22, 4096));
    assert_false(counts(plain, 1 << 30, 4097));
    assert_false(counts(plain, 1000, 256));
    assert_false(counts("[i](x, h) { x[i] = atomic_add(h[x[i]], 1); }", 1 << 22, 256));
    assert_false(counts("[i](x, h) { atomic_exchange(h[x[i]], 1); }", 1 << 22, 256));
    assert_false(counts("[i](x, h) { atomic_add(h[x[i]], 1); atomic_max(h[0], 1); }", 1 << 22, 256));
    assert_false(counts("[i](x, h) { atomic_add(h[x[i]], 1); x[i] = h[0]; }", 1 << 22, 256));
}

/* ---- Stencils ---- */

static const char heat_source[] =
    "[i : n, j : m](u, v, k) { if (i > 0 && i < n - 1 && j > 0 && j < m - 1) "
    "v[i][j] = u[i][j] + k * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]); }";

static float element(const view *v, int64_t i, int64_t j) {
    float x;
    memcpy(&x, view_at(v, 2, (int64_t[]){i, j}), sizeof x);
    return x;
}

static void stencil_try(void) {
    int64_t shape[] = {pick(1, 40), pick(1, 70)};
    float k = 0.25f;
    view u, v;
    forall_case f;
    view_make(&u, (DLDataType){kDLFloat, 32, 1}, 2, shape);
    view_make(&v, (DLDataType){kDLFloat, 32, 1}, 2, shape);
    for (int64_t i = 0; i < shape[0] * shape[1]; i++)
        *(float *)view_at(&u, 2, (int64_t[]){i / shape[1], i % shape[1]}) = (float)pick(-9, 9);
    DLTensor args[] = {u.host, v.host, {.data = &k, .dtype = {kDLFloat, 32, 1}}};
    forall_open(&f, "float32[,], float32[,], float32", heat_source, 2, shape, args, true);
    forall_compile(&f);
    believe(&f, chance(50));
    forall_launch(&f, (int)pick(1, 4));
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++) {
            float wanted = 0;
            if (i > 0 && i < shape[0] - 1 && j > 0 && j < shape[1] - 1)
                wanted =
                    element(&u, i, j) + k * (element(&u, i - 1, j) + element(&u, i + 1, j) + element(&u, i, j - 1) +
                                             element(&u, i, j + 1) - 4 * element(&u, i, j));
            assert_true(element(&v, i, j) == wanted);
        }
    forall_close(&f);
    view_free(&u);
    view_free(&v);
}

static void stencils(void **state) {
    (void)state;
    for (int64_t i = 0, n = trials(10); i < n; i++)
        stencil_try();
}

/* ---- Conditions around a kernel, which narrow its rows ---- */

#define CONDITIONS(X)                        \
    X(c0, j > p)                             \
    X(c1, j >= p && j < q)                   \
    X(c2, p <= j && q >= j && i > 0)         \
    X(c3, i < p || j == q)                   \
    X(c4, j == p)                            \
    X(c5, j != p && q > j)                   \
    X(c6, j < 1 || j >= m - 1 || i == n - 1) \
    X(c7, p > q)                             \
    X(c8, j <= p || i != q || (j > 3 && j < 7))

typedef bool condition(int64_t i, int64_t j, int64_t n, int64_t m, int64_t p, int64_t q);

#define DEFINE(name, c)                                                                  \
    static bool name(int64_t i, int64_t j, int64_t n, int64_t m, int64_t p, int64_t q) { \
        (void)i, (void)j, (void)n, (void)m, (void)p, (void)q;                            \
        return c;                                                                        \
    }
CONDITIONS(DEFINE)

static int64_t draw_bound(int64_t extent) {
    return chance(10) ? INT64_MIN : chance(10) ? INT64_MAX : pick(-2, extent + 2);
}

static void condition_try(const char *text_of, condition *holds) {
    int64_t shape[] = {pick(1, 9), pick(1, 30)}, p = draw_bound(shape[1]), q = draw_bound(shape[1]);
    static const DLDataType int64_type = {kDLInt, 64, 1};
    bool returns = chance(50);
    char source[200];
    view a;
    forall_case f;
    snprintf(source, sizeof source, "[i : n, j : m](a, p, q) { if (%s) %s a[i][j] += 1; }", text_of,
             returns ? "return;" : "");
    view_make(&a, int32_type, 2, shape);
    DLTensor args[] = {a.host, {.data = &p, .dtype = int64_type}, {.data = &q, .dtype = int64_type}};
    forall_open(&f, "int32[,], int64, int64", source, 2, shape, args, true);
    forall_compile(&f);
    believe(&f, chance(50));
    forall_launch(&f, (int)pick(1, 3));
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++) {
            int32_t seen;
            memcpy(&seen, view_at(&a, 2, (int64_t[]){i, j}), sizeof seen);
            if (seen != (holds(i, j, shape[0], shape[1], p, q) != returns))
                fail_msg("%s: %d at %d, %d", source, seen, (int)i, (int)j);
        }
    forall_close(&f);
    view_free(&a);
}

static void conditions(void **state) {
    (void)state;
#define TRY_IT(name, c) condition_try(#c, name);
    for (int64_t k = 0, n = trials(4); k < n; k++) {
        CONDITIONS(TRY_IT)
    }
}

/* ---- Vectors ---- */

typedef struct vector_row {
    const char *parameters, *source;
    int ndim;
    const char *wanted; /* in what LLVM makes of it for AVX2 */
} vector_row;

static void vectors(void **state) {
    (void)state;
    static const vector_row rows[] = {
        {"float32[], float32[]", "[i](x, y) { y[i] = 2 * x[i]; }", 1, "fmul <8 x float>"},
        {"float64[], float64[]", "[i](x, y) { y[i] = rint(x[i] * 100) / 100; }", 1, "fdiv <4 x double>"},
        {"int32[], int32[]", "[i : n](x, y) { if (i > 0) y[i] = x[i - 1] * 3; }", 1, "mul <8 x i32>"},
        {"float32[,], float32[,], float32", heat_source, 2, "fmul <8 x float>"},
        {"uint8[,], uint8[,]",
         "[i : n, j : m](a, b) { if (j < 1 || j >= m - 1 || i == 0) return; b[i][j] = a[i - 1][j] + a[i][j + 1]; }", 2,
         "add <32 x i8>"},
        {"uint32[], uint32[]", "[i](x, y) { y[i] = y[i] ^ x[i]; x[i] += y[i]; }", 1, "xor <8 x i32>"},
        {"float32[], float32[]",
         "[i](x, y) { auto s = 0.0f; for (int64 k = 0; k < len(x); k++) s += 1 / (x[k] - x[i]); y[i] = s; }", 1,
         "fdiv <16 x float>"},
        {"float64[], float64[]",
         "[i](x, y) { auto s = 0.0, t = 1.0, u = 2.0, v = 3.0; for (int64 k = 0; k < len(x); k++) { if (k == i) "
         "continue; s += u / (x[k] - x[i]); t *= s; u -= t; v += u * t; } y[i] = s + t + u + v; }",
         1, "fdiv <8 x double>"},
        {"float64[], float64[]", /* more than registers hold twice */
         "[i](x, y) { auto s = 0.0, t = 1.0, u = 2.0, v = 3.0, w = 4.0; for (int64 k = 0; k < len(x); k++) { "
         "s += u / (x[k] - x[i]); t *= s; u -= t; v += u * t; w += v; } y[i] = s + t + u + v + w; }",
         1, "fdiv <4 x double>"},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        static float data[64 * 64];
        int64_t shape[] = {64, 64};
        float k = 1;
        DLTensor array = {.data = data, .ndim = rows[r].ndim, .shape = shape, .dtype = {kDLFloat, 32, 1}};
        DLTensor args[] = {array, array, {.data = &k, .dtype = {kDLFloat, 32, 1}}};
        code_module m = {.nsymbols = 0};
        forall_case f;
        forall_open(&f, rows[r].parameters, rows[r].source, rows[r].ndim, shape, args, true);
        assert_int_equal(ir_forall(&f.memory, "kernel", f.t, &f.v, &(code_target){.vector_bits = 256}, &m), UF_OK);
        for (int i = 0; i < judge_count(); i++) {
            const char *made = judge_optimised(i, m.ir.data, "haswell", "");
            if (!strstr(made, rows[r].wanted))
                fail_msg("%s, %s: no %s in\n%s", judge_name(i), rows[r].source, rows[r].wanted, made);
        }
        text_free(&m.ir);
        forall_close(&f);
    }
}

/* ---- Runs of points ---- */

typedef struct run_row {
    const char *parameters, *source;
    bool runs;
} run_row;

#define LOOP "for (int k = 0; k < n; k++) "

static void runs(void **state) {
    (void)state;
    static const run_row rows[] = {
        {"float32[], float32[], int32", "[i](x, y, n) { " LOOP "y[i] += x[i + k]; }", true},
        {"float32[], float32[], int32", "[i](x, y, n) { auto s = x[i]; " LOOP "s += x[3 * i + 1]; y[i] = s; }", true},
        {"float32[,], float32[,], int32", "[i, j](x, y, n) { " LOOP "y[i][j] += x[k][j] * x[i][k]; }", true},
        {"float32[,], float32[,], int32", "[i, j](x, y, n) { for (int k = 0; k < i; k++) y[i][j] += x[k][j]; }", true},
        {"float32[], float32[], int32",
         "[i](x, y, n) { " LOOP "{ if (x[i] < k) continue; y[i] += x[i + k]; } if (y[i] > 3) return; y[i] = 1; }",
         true},
        {"float32[], float32[], int32", "[i](x, y, n) { " LOOP "{ if (n == 3) break; y[i] += x[i + k]; } }", true},
        {"float32[], float32[], int32", "[i](x, y, n) { y[i] = x[i] * n; }", false}, /* no loop */
        {"float32[], float32[], int32", "[i](x, y, n) { for (int k = 0; k < i; k++) y[i] += x[k]; }", false},
        {"float32[], float32[], int32", "[i](x, y, n) { " LOOP "{ if (x[i] < k) break; y[i] += x[i + k]; } }", false},
        {"float32[], float32[], int32", "[i](x, y, n) { " LOOP "{ if (x[i] < k) return; y[i] += x[i + k]; } }", false},
        {"float32[], float32[], int32", "[i](x, y, n) { " LOOP "{ if (x[i] < k) continue; y[i] += 1; n -= 0; } }",
         false}, /* a number is assigned */
        {"float32[,], float32[], int32", "[i](x, y, n) { " LOOP "y[i] += x[i][k]; }",
         false}, /* along a row of memory */
        {"float32[], float32[], int32", "[i](x, y, n) { " LOOP "y[i] += x[i * n + k]; }", false},
        {"float32[], float32[], int32", "[i](x, y, n) { float32 t[2] = {1, 2}; " LOOP "y[i] += x[i + k] * t[k & 1]; }",
         false},
        {"float32[], float32[], int32",
         "[i](x, y, n) { const float32 t[2] = {1, 2}; " LOOP "y[i] += x[i + k] * t[k & 1]; }", true},
        {"float32[], int32[], int32", "[i](x, y, n) { " LOOP "atomic_add(y[0], k); }", false},
        {"float32[], float32[], int32",
         "half(a) { if (a < 0) return a; return a / 2; } [i](x, y, n) { " LOOP "y[i] += half(x[i] - k); }", true},
        {"float32[], float32[], int32",
         "pick(a) { float32 t[9] = {1, 2}; return t[(int)a & 7]; } [i](x, y, n) { " LOOP "y[i] += pick(x[i] - k); }",
         false},
        {"float32[], float32[], int32",
         "root(a) { auto b = a; while (b * b > a) b = (b + a / b) / 2; return b; } deep(a) { return root(a + 1); } "
         "[i](x, y, n) { " LOOP "y[i] += deep(x[i] + k); }",
         false},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        static float data[64 * 64];
        int64_t shape[] = {64, 64};
        int32_t n = 5;
        const char *second = strchr(rows[r].parameters, ' ');
        bool two = second[-2] == ',' || second[-3] == ',';
        DLTensor args[] = {
            {.data = data, .ndim = two ? 2 : 1, .shape = shape, .dtype = {kDLFloat, 32, 1}},
            {.data = data, .ndim = strstr(second, "[,]") ? 2 : 1, .shape = shape, .dtype = {kDLFloat, 32, 1}},
            {.data = &n, .dtype = int32_type}};
        code_module m = {.nsymbols = 0};
        forall_case f;
        forall_open(&f, rows[r].parameters, rows[r].source, strstr(rows[r].source, "[i, j]") ? 2 : 1, shape, args,
                    true);
        assert_int_equal(ir_forall(&f.memory, "kernel", f.t, &f.v, &(code_target){.vector_bits = 256}, &m), UF_OK);
        if (m.outer_vectors != rows[r].runs)
            fail_msg("%s: %s", rows[r].source, m.outer_vectors ? "is written for runs of points" : "is not");
        for (int i = 0; i < judge_count(); i++)
            judge_optimised(i, m.ir.data, "haswell", "");
        text_free(&m.ir);
        forall_close(&f);
    }
}

/* Values that are sequences, which only declare variables, change nothing of that. */
static void runs_of_sequences(void **state) {
    tree_rewrites = 100;
    tree_rewrites_plainly = true;
    vectors(state);
    runs(state);
    tree_rewrites = 0;
    tree_rewrites_plainly = false;
}

/* Variables that live on from one loop over points to the next have arrays on the stack: so many, and no more. */
static void runs_and_the_stack(void **state) {
    (void)state;
    static float data[64];
    int64_t shape[] = {64};
    DLTensor array = {.data = data, .ndim = 1, .shape = shape, .dtype = {kDLFloat, 32, 1}}, args[] = {array, array};
    for (int n = 64; n <= 65; n++) {
        text source = {0};
        code_module m = {.nsymbols = 0};
        forall_case f;
        text_puts(&source, "[i](x, y) { ");
        for (int k = 0; k < n; k++)
            text_printf(&source, "auto v%d = x[i + %d]; ", k, k);
        text_puts(&source, "for (int64 k = 0; k < len(x); k++) { ");
        for (int k = 0; k < n; k++)
            text_printf(&source, "v%d += x[k]; ", k);
        text_puts(&source, "} y[i] = 0");
        for (int k = 0; k < n; k++)
            text_printf(&source, " + v%d", k);
        text_puts(&source, "; }");
        assert_false(source.failed);
        forall_open(&f, "float32[], float32[]", source.data, 1, shape, args, true);
        assert_int_equal(ir_forall(&f.memory, "kernel", f.t, &f.v, &(code_target){.vector_bits = 256}, &m), UF_OK);
        assert_int_equal(m.outer_vectors, n <= 64);
        text_free(&m.ir);
        text_free(&source);
        forall_close(&f);
    }
}

/* ---- Past the caches ---- */

typedef struct nontemporal_row {
    const char *parameters, *source;
    bool fills; /* parameter 1 */
} nontemporal_row;

static void what_is_filled(void **state) {
    (void)state;
    static const nontemporal_row rows[] = {
        {"float32[], float32[]", "[i](x, y) { y[i] = x[i]; }", true},
        {"float32[], float32[]", "[i](x, y) { if (x[i] > 0) x[i] = 1; y[i + 3] = x[i]; }", true},
        {"float32[,], float32[,]",
         "[i, j : m](x, y) { if (i > 0 && j < m - 1) { auto t = x[i][j]; y[2 * i][j - 1] = t; } }", true},
        {"float32[,], float32[,]", "[i, j : m](x, y) { if (j >= m - 1 || i == 3) return; y[3][m - 1 + j] = x[i][j]; }",
         true},
        {"float32[,], float32[,]", "[i, j](x, y) { y[j][i] = x[i][j]; }", true}, /* the array may be laid out so */
        {"float32[], float32[]", "[i](x, y) { y[i] += x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { y[i] = x[i] + y[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { y[i] = x[i]; x[i] = y[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { y[i] = x[i]; y[i + 1] = 0; }", false},
        {"float32[], float32[]", "[i](x, y) { y[2 * i] = x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { y[i & 7] = x[i]; }", false},
        {"float32[], float32[]", "[i : n](x, y) { y[n - i] = x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { y[3] = x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { if (x[i] > 0) y[i] = x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { if (i > 3 && x[i] > 0) y[i] = x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { if (x[i] > 0) return; y[i] = x[i]; }", false},
        {"float32[], float32[]", "[i](x, y) { for (int k = 0; k < 2; k++) y[i] = x[i]; }", false},
        {"float32[], float32[], int32", "[i](x, y, k) { k = i; y[i + k] = x[i]; }", false},
        {"float32[,], float32[,]", "[i, j](x, y) { y[j][j] = x[i][j]; }", false},
        {"float32[], float32[]", "[i](x, y) { atomic_exchange(y[i], x[i]); }", false},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        arena memory = {0};
        tree *t;
        code_traits size = {0};
        assert_int_equal(lang_try_kernel(&memory, rows[r].parameters, rows[r].source, &t), UF_OK);
        ir_traits(t, &size);
        if (((size.use[1] & USE_FILLED) != 0) != rows[r].fills)
            fail_msg("%s: %s", rows[r].source, rows[r].fills ? "does not fill" : "fills");
        arena_free(&memory);
    }
}

/* By strips and by lines, at every alignment of rows that end anywhere: the same results, and nothing else is written. */
static void bypass_try(const char *parameters, const char *source, int ndim, const DLDataType *types) {
    int64_t space[] = {pick(1, 3), pick(1, 3), pick(1, 3000)}, shape[] = {4, 4, space[2] + pick(-1, 5)};
    const int64_t *extents = space + 3 - ndim;
    view x, y[2], z[2];
    int32_t k = (int32_t)pick(0, 3);
    int alone = (int)pick(0, 2); /* the one that goes past the caches; 0: both */
    view_make_plain(&x, types[0], ndim, shape + 3 - ndim);
    for (int64_t i = 0, n = x.elements * (types[0].bits / 8); i < n; i++)
        x.block[i] = (char)pick(0, 60);
    view_make_plain(&y[0], types[1], ndim, shape + 3 - ndim);
    view_make_plain(&y[1], types[2], ndim, shape + 3 - ndim);
    for (int i = 0; i < 2; i++)
        view_copy(&z[i], &y[i]);
    for (int past = 0; past < 2; past++) {
        view *out = past ? z : y;
        DLTensor args[] = {x.host, out[0].host, out[1].host, {.data = &k, .dtype = int32_type}};
        forall_case f;
        forall_open(&f, parameters, source, ndim, extents, args, true);
        for (int p = 1; p < 3 && past; p++) {
            assert_true(f.size.use[p] & USE_FILLED);
            f.v.operand[p].nontemporal = !alone || p == alone;
        }
        forall_compile(&f);
        believe(&f, chance(50));
        forall_launch(&f, (int)pick(1, 3));
        forall_close(&f);
    }
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(y[i].block, z[i].block, (size_t)y[i].elements * (types[1 + i].bits / 8));
        view_free(&y[i]);
        view_free(&z[i]);
    }
    view_free(&x);
}

static void nontemporal(void **state) {
    (void)state;
    static const DLDataType f32 = {kDLFloat, 32, 1}, f16 = {kDLFloat, 16, 1}, f64 = {kDLFloat, 64, 1},
                            c64 = {kDLComplex, 64, 1}, u8 = {kDLUInt, 8, 1};
    for (int64_t i = 0, n = trials(8); i < n; i++) {
        bypass_try("float32[], float32[], float64[], int32", "[i](x, y, z, k) { y[i] = x[i] + 1; z[i + k] = x[i]; }", 1,
                   (DLDataType[]){f32, f32, f64});
        bypass_try("uint8[], uint8[], complex64[], int32", "[i](x, y, z, k) { z[i + 1] = x[i]; y[i - k] = x[i] + k; }",
                   1, (DLDataType[]){u8, u8, c64});
        bypass_try("float32[,], float16[,], float32[,], int32",
                   "[i : n, j : m](x, y, z, k) { if (j < k || j >= m - 2 || i == 1) return; y[i][j + 1] = x[i][j]; "
                   "auto s = 0.0f; for (int q = 0; q < k; q++) s += x[i][j + q]; z[i + k][j] = s; }",
                   2, (DLDataType[]){f32, f16, f32});
        bypass_try("float32[,], float32[,], uint8[,], int32",
                   "[i, j : m](x, y, z, k) { if (j < 1) return; y[i][j] = x[i][j - 1] + x[i + 1][j] + x[3 - i][j]; "
                   "z[i][j - 1] = x[k][j]; }",
                   2, (DLDataType[]){f32, f32, u8});
        bypass_try("float32[,,], float32[,,], uint8[,,], int32",
                   "[i, j, l](x, y, z, k) { y[j][i][l] = x[i][j][l] * k; z[3][3 - i][l + i] = l; }", 3,
                   (DLDataType[]){f32, f32, u8});
    }
}

/* Inputs of which several rows are read are fetched ahead, once each. */
static void what_is_fetched(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int fetched;
    } rows[] = {
        {"[i, j](x, y, z) { z[i][j] = x[i][j] + y[i][j]; }", 0},
        {"[i, j](x, y, z) { z[i][j] = x[i][j] + x[i][j + 1] + y[i][j - 1] + y[i][j]; }", 0},
        {"[i, j](x, y, z) { z[i][j] = x[i - 1][j] + x[i][j] + x[i + 1][j]; }", 1},
        {"[i, j](x, y, z) { z[i][j] = x[i][j] + x[i + 1][j] + y[i][j] + y[3 - i][j + 2]; }", 2},
        {"[i, j](x, y, z) { z[i][j] = x[j][i] + x[j + 1][i] + y[i][2 * j] + y[i + 1][2 * j]; }", 0},
        {"[i, j](x, y, z) { auto s = 0.0f; for (int k = 0; k < 3; k++) s += x[i + k][j]; z[i][j] = s; }", 1},
        {"[i : n, j](x, y, z) { z[i][j] = sum(k : n, x[k][j]) + y[i][j]; }", 0},
    };
    static float data[1];
    for (size_t r = 0; r < COUNT(rows); r++) {
        int64_t space[] = {4096, 4096}, shape[] = {4100, 4100};
        DLTensor array = {.data = data, .ndim = 2, .shape = shape, .dtype = {kDLFloat, 32, 1}},
                 args[] = {array, array, array};
        forall_case f;
        code_target target;
        code_module m = {.nsymbols = 0};
        int fetched = 0;
        forall_open(&f, "float32[,], float32[,], float32[,]", rows[r].source, 2, space, args, true);
        f.v.operand[2].nontemporal = 1;
        assert_int_equal(cpu_engine.target(0, &target), UF_OK);
        assert_int_equal(ir_forall(&f.memory, "kernel", f.t, &f.v, &target, &m), UF_OK);
        for (const char *at = m.ir.data; (at = strstr(at, "call void @llvm.prefetch")); at++)
            fetched++;
        if (fetched != rows[r].fetched)
            fail_msg("%s: %d operands are fetched, not %d", rows[r].source, fetched, rows[r].fetched);
        text_free(&m.ir);
        forall_close(&f);
    }
}

/* The engine does it for large arrays alone. */
static void what_is_bypassed(void **state) {
    (void)state;
    static float data[1];
    static const struct {
        int64_t shape[2];
        bool apart, past;
    } rows[] = {{{4096, 4096}, true, true},
                {{4096, 4096}, false, false},
                {{16, 4096}, true, false},
                {{1 << 20, 16}, true, false},
                {{1 << 24, 1}, true, false}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        DLTensor array = {
            .data = data, .ndim = 2, .shape = (int64_t *)(uintptr_t)rows[r].shape, .dtype = {kDLFloat, 32, 1}};
        DLTensor args[] = {array, array};
        forall_case f;
        forall_open(&f, "float32[,], float32[,]", "[i, j](x, y) { y[i][j] = x[i][j]; }", 2, rows[r].shape, args,
                    rows[r].apart);
#if defined(__x86_64__)
        assert_int_equal(f.v.operand[1].nontemporal, rows[r].past);
#endif
        assert_int_equal(f.v.operand[0].nontemporal, 0);
        forall_close(&f);
    }
    DLTensor array = {.data = data,
                      .ndim = 2,
                      .shape = (int64_t *)(uintptr_t)rows[0].shape,
                      .dtype = {kDLFloat, 32, 1}},
             args[] = {array, array, array, array, array};
    forall_case f;
    forall_open(&f, "float32[,], float32[,], float32[,], float32[,], float32[,]",
                "[i, j](a, b, c, d, e) { a[i][j] = i; b[i][j] = i; c[i][j] = i; d[i][j] = i; e[i][j] = i; }", 2,
                rows[0].shape, args, true);
#if defined(__x86_64__)
    for (int k = 0; k < 5; k++)
        assert_int_equal(f.v.operand[k].nontemporal, k < 4); /* strips lie on the stack */
#endif
    forall_close(&f);
}

/* ---- What is said of launches ---- */

static void information(void **state) {
    (void)state;
    static const char source[] = "[i, j](a) { a[i][j] += 1; }";
    static int32_t data[1000];
    int64_t shape[] = {10, 100};
    DLTensor a = {.data = data, .ndim = 2, .shape = shape, .dtype = int32_type};
    uf_launch out = {.size = sizeof out};
    forall_case f;
    forall_open(&f, "int32[,]", source, 2, shape, &a, true);
    forall_compile(&f);
    f.l.threads = 4;
    assert_int_equal(cpu_engine.launch_info(f.code, &f.l, &out), UF_OK);
    assert_int_equal(out.threads, 4);
    f.l.threads = 0;
    assert_int_equal(cpu_engine.launch_info(f.code, &f.l, &out), UF_OK);
    assert_int_equal(out.threads, cpu_count() < 10 ? cpu_count() : 10);
    forall_close(&f);
    shape[0] = shape[1] = 1;
    forall_open(&f, "int32[,]", source, 2, shape, &a, true);
    forall_compile(&f);
    f.l.threads = 4;
    assert_int_equal(cpu_engine.launch_info(f.code, &f.l, &out), UF_OK);
    assert_int_equal(out.threads, 1);
    forall_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(once, draw_seed),
                                       cmocka_unit_test_setup(counting, draw_seed),
                                       cmocka_unit_test(counting_specials),
                                       cmocka_unit_test(what_counts),
                                       cmocka_unit_test_setup(stencils, draw_seed),
                                       cmocka_unit_test_setup(conditions, draw_seed),
                                       cmocka_unit_test(vectors),
                                       cmocka_unit_test(runs),
                                       cmocka_unit_test(runs_of_sequences),
                                       cmocka_unit_test(runs_and_the_stack),
                                       cmocka_unit_test(what_is_filled),
                                       cmocka_unit_test_setup(nontemporal, draw_seed),
                                       cmocka_unit_test(what_is_fetched),
                                       cmocka_unit_test(what_is_bypassed),
                                       cmocka_unit_test(information)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
