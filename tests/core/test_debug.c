/* test_debug.c - UF_DEBUG through the public interface: what is reported, with which line, argument and indices; that an element
 * which fails ends there and keeps its results, and that all others are as without UF_DEBUG. On the CPU, or the GPU with
 * UF_TEST_GPU=1, where the call that waits says it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "define.h"
#include "draw.h"
#include "expect.h"
#include "views.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const DLDataType int64 = {kDLInt, 64, 1}, int32 = {kDLInt, 32, 1}, int16 = {kDLInt, 16, 1},
                        boolean = {UF_BOOL_CODE, 8, 1};

/* What a call on the views' arrays says, or on CUDA the waiting for it. The last view is the mask with `masked`. */
static uf_status settle(uf_status s) { return s || !views_on_gpu() ? s : uf_sync((DLDevice){kDLCUDA, 0}, NULL); }

static uf_status call(const uf_func *f, int n, view *views, bool masked, int threads) {
    DLTensor args[4] = {0};
    for (int k = 0; k < n; k++) {
        GOOD(view_send(&views[k]));
        args[k] = views[k].used;
    }
    uf_status s = settle(
        uf_call(f, n - masked, args,
                &(uf_options){.size = sizeof(uf_options), .where = masked ? &args[n - 1] : NULL, .threads = threads}));
    for (int k = 0; k < n; k++)
        GOOD(view_fetch(&views[k]));
    return s;
}

static void check_error(const char *message, int line, int argument, int dimension) {
    const uf_error *e = uf_last_error();
    assert_string_equal(e->message, message);
    assert_int_equal(e->status, UF_ERR_KERNEL);
    assert_int_equal(e->line, line);
    assert_int_equal(e->column, 0);
    assert_int_equal(e->argument, argument);
    assert_int_equal(e->dimension, dimension);
}

/* ---- What is reported: the element of value 0 fails, or the one given ---- */

typedef struct row {
    const char *source, *what; /* NULL: nothing fails */
    int line;
    int64_t fails;
} row;

enum {
    ELEMENTS = 12,
    KEPT = -77
};

static const row rows[] = {
    {"(x) { return 12 / x; }", "integer division by 0", 1, 0},
    {"(x) {\n  return 7 %\n    x;\n}", "integer division by 0", 2, 0},
    {"(x) {\n  auto t = 100;\n  t /= x;\n  return t;\n}", "integer division by 0", 3, 0},
    {"(x) {\n  auto t = 100;\n\n  t %= x;\n  return t;\n}", "integer division by 0", 4, 0},
    {"(x) {\n  int8_t t = 100;\n  uint8_t n = x;\n  t /= n;\n  return t;\n}", "integer division by 0", 4, 0},
    {"(x) {\n  float t = 100;\n  int32_t n = 3;\n  return n / (int64_t)x + t / x;\n}", "integer division by 0", 4, 0},
    {"(x) { return 12.0 / x < 3 ? 1 : 2; }", NULL, 0, 0},
    {"(x) { return x != 0 && 12 / x > 3; }", NULL, 0, 0},
    {"(x) { return x == 0 ? 5 : 12 % x; }", NULL, 0, 0},
    {"(x) { return x == 0 || 12 / x; }", NULL, 0, 0},
    {"(x) { return (int32_t)(-2147483647 - 1) / (x ? -1 : 1); }", NULL, 0, 0},
    {"(x) {\n  int t[4] = {1, 2, 3, 4};\n  return t[x ? 1 : -1];\n}",
     "index -1 is outside of dimension 0 of a local array, which is 4", 3, 0},
    {"(x) {\n  int t[2][3];\n  t[1][x == 0 ? 3 : 2] = x;\n  return t[1][2];\n}",
     "index 3 is outside of dimension 1 of a local array, which is 3", 3, 0},
    {"(x) {\n  int t[2][3];\n  t[1 + (x == 0)][1]++;\n  return t[1][1];\n}",
     "index 2 is outside of dimension 0 of a local array, which is 2", 3, 0},
    {"(x) {\n  int t[4];\n  for (int i = 0; i < 4 + (x == 0); i++)\n    t[i] = x;\n  return t[3];\n}",
     "index 4 is outside of dimension 0 of a local array, which is 4", 4, 0},
    {"(x) {\n  bool t[4];\n  int i = 0;\n  while (i < 4 + 3 * (x == 0)) {\n    t[i] = true;\n    i += 3;\n  }\n  "
     "return t[3];\n}",
     "index 6 is outside of dimension 0 of a local array, which is 4", 5, 0},
    {"(x) {\n  switch (x) {\n  case 0: return 1 / x;\n  default: return 4;\n  }\n}", "integer division by 0", 3, 0},
    /* helpers: theirs is the line, and their callers end too */
    {"half(n) {\n  return 10 / n;\n}\n(x) -> (a) {\n  a = half(x);\n  a = a + 1;\n}", "integer division by 0", 2, 0},
    {"inner(n) {\n  return 10 % n;\n}\nouter(n) {\n  auto r = 3 + inner(n);\n  return r;\n}\n(x) {\n  return outer(x) "
     "+ "
     "outer(x + 100);\n}",
     "integer division by 0", 2, 0},
    {"none() {\n  return 0;\n}\n(x) {\n  return 5 / (x + none());\n}", "integer division by 0", 5, 0},
    {"at(i) {\n  int t[3] = {4, 5, 6};\n  return t[i];\n}\n(x) {\n  return at(x ? 2 : 7);\n}",
     "index 7 is outside of dimension 0 of a local array, which is 3", 3, 0},
    /* constructs */
    {"(x) {\n  int t[3] = {1, 2, 3};\n  return sum(j : 3,\n    t[x ? j : j + 1]);\n}",
     "index 3 is outside of dimension 0 of a local array, which is 3", 4, 0},
    {"(x) {\n  return prod(i : 2, j : 3, 60 / (x + i + j ? x + i + j : 1 + i) + 6 / x);\n}", "integer division by 0", 2,
     0},
    {"(x) -> (y) {\n  int t[4];\n  forall (j : x ? 4 : 5)\n    t[j] = j + x;\n  y = t[3];\n}",
     "index 4 is outside of dimension 0 of a local array, which is 4", 4, 0},
    {"quot(a, b) {\n  return b / a;\n}\n(x) {\n  return reduce(quot, j : 3, x ? 64 : j);\n}", "integer division by 0",
     2, 0},
    {"(x) { return max(j : 3, any(k : 2, 8 / (x * x + k) > j) ? j : 0); }", "integer division by 0", 1, 0},
    /* assertions */
    {"(x) {\n  assert(x != 0);\n  return 12 / x;\n}", "assertion failed: x != 0", 2, 0},
    {"(x) {\n  assert(x < 100); assert((x ||\n\t  false) && x + (1) < 99);\n  return x;\n}",
     "assertion failed: (x || false) && x + (1) < 99", 2, 0},
    {"check(n) {\n  assert(n > -3 && n);\n  return n;\n}\n(x) { return check(x); }", "assertion failed: n > -3 && n", 2,
     0},
    {"(x) {\n  assert(x > -3);\n  return x;\n}", NULL, 0, 0},
    {"(x) {\n  if (x < 50)\n    return x;\n  assert(x < 50);\n  return 1;\n}", "assertion failed: x < 50", 4, 99},
};

/* Twelve different numbers with `fails` at *at, as the input of a row, and what its results are without UF_DEBUG. */
static void row_arrays(const row *r, view *x, view *y, view *plain, int *at) {
    const int64_t shape[] = {3, 4};
    int64_t index[2] = {0, 0};
    int i = 0;
    *at = (int)pick(0, ELEMENTS - 1);
    view_make(x, int32, 2, shape);
    view_make(y, int32, 2, shape);
    do {
        *(int32_t *)view_at(x, 2, index) = i == *at ? (int32_t)r->fails : i + 1;
        *(int32_t *)view_at(y, 2, index) = KEPT;
        i++;
    } while (index_next(2, shape, index));
    uf_func *f = define("plain", NULL, "int32->int32", r->source, 0, 0);
    view_copy(plain, y);
    OK(call(f, 2, (view[]){*x, *plain}, false, 0));
    uf_free(f);
}

static void check_results(const view *y, const view *plain, int failed) {
    const int64_t shape[] = {3, 4};
    int64_t index[2] = {0, 0};
    int i = 0;
    do {
        int32_t expected = i == failed ? KEPT : *(int32_t *)view_at(plain, 2, index);
        assert_int_equal(*(int32_t *)view_at(y, 2, index), expected);
        i++;
    } while (index_next(2, shape, index));
}

static void test_rows(void **unused) {
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        view v[2], plain;
        int at;
        char message[512];
        print_message("%s\n", r->source);
        row_arrays(r, &v[0], &v[1], &plain, &at);
        uf_func *f = define("row", NULL, "int32->int32", r->source, UF_DEBUG, 0);
        uf_status s = call(f, 2, v, false, 0);
        assert_int_equal(s, r->what ? UF_ERR_KERNEL : UF_OK);
        snprintf(message, sizeof message, "row: line %d: %s, at (%d, %d)", r->line, r->what ? r->what : "", at / 4,
                 at % 4);
        if (s)
            check_error(message, r->line, -1, -1);
        check_results(&v[1], &plain, r->what ? at : -1);
        OK(settle(UF_OK)); /* said once */
        uf_free(f);
        view_free(&v[0]);
        view_free(&v[1]);
        view_free(&plain);
    }
}

/* ---- Elementwise: any shapes, strides, dtypes, masks; several may fail ---- */

enum {
    RANK = 4,
    SIDE = 5
};

/* Of the same rank or less, with some extents of 1. */
static int draw_shape(int ndim, const int64_t *shape, bool whole, int64_t *out) {
    int rank = whole ? ndim : (int)pick(0, ndim);
    for (int d = 0; d < rank; d++)
        out[d] = !whole && chance(25) ? 1 : shape[ndim - rank + d];
    return rank;
}

static int64_t read_at(const view *v, int ndim, const int64_t *index) {
    const void *at = view_at(v, ndim, index);
    switch (v->host.dtype.bits) {
    case 8:
        return *(const int8_t *)at;
    case 16:
        return *(const int16_t *)at;
    case 32:
        return *(const int32_t *)at;
    default:
        return *(const int64_t *)at;
    }
}

static void write_at(const view *v, int ndim, const int64_t *index, int64_t value) {
    void *at = view_at(v, ndim, index);
    switch (v->host.dtype.bits) {
    case 8:
        *(int8_t *)at = (int8_t)value;
        break;
    case 16:
        *(int16_t *)at = (int16_t)value;
        break;
    case 32:
        *(int32_t *)at = (int32_t)value;
        break;
    default:
        *(int64_t *)at = value;
    }
}

static void fill(const view *v, int64_t low, int64_t high, int percent_zero) {
    int64_t index[VIEW_RANK] = {0};
    do
        write_at(v, v->host.ndim, index, chance(percent_zero) ? 0 : pick(low, high));
    while (index_next(v->host.ndim, v->shape, index));
}

/* The indices in the last parentheses of the error. */
static void read_point(int ndim, int64_t *index) {
    const char *at = strrchr(uf_last_error()->message, '(');
    if (!ndim) { /* a number has no place */
        assert_null(strstr(uf_last_error()->message, ", at"));
        return;
    }
    assert_non_null(at);
    for (int d = 0; d < ndim; d++) {
        long long i;
        int used = 0;
        assert_int_equal(sscanf(at, d ? ", %lld%n" : "(%lld%n", &i, &used), 1);
        index[d] = i;
        at += used;
    }
    assert_string_equal(at, ")");
}

static void one_elementwise(const uf_func *f) {
    int ndim = (int)pick(0, RANK), failed = 0;
    int64_t shape[RANK], part[RANK], index[RANK] = {0};
    bool masked = chance(40);
    view v[4];
    for (int d = 0; d < ndim; d++)
        shape[d] = pick(1, SIDE);
    view_make(&v[0], chance(50) ? int32 : int16, draw_shape(ndim, shape, false, part), part);
    view_make(&v[1], chance(50) ? int32 : int16, draw_shape(ndim, shape, false, part), part);
    view_make(&v[2], chance(50) ? int32 : int64, ndim, shape);
    view_make(&v[3], boolean, draw_shape(ndim, shape, false, part), part);
    fill(&v[0], -100, 100, 5);
    fill(&v[1], 1, 9, chance(50) ? 0 : (int)pick(1, 30));
    fill(&v[2], KEPT, KEPT, 0);
    fill(&v[3], 1, 1, 40);
    uf_status s = call(f, 3 + masked, v, masked, (int)pick(0, 3));
    do {
        bool wanted = !masked || read_at(&v[3], ndim, index);
        int64_t x = read_at(&v[0], ndim, index), y = read_at(&v[1], ndim, index);
        failed += wanted && y == 0;
        assert_int_equal(read_at(&v[2], ndim, index), wanted && y ? x / y : KEPT);
    } while (index_next(ndim, shape, index));
    assert_int_equal(s, failed ? UF_ERR_KERNEL : UF_OK);
    if (failed) {
        memset(index, 0, sizeof index);
        read_point(ndim, index);
        for (int d = 0; d < ndim; d++)
            assert_true(index[d] >= 0 && index[d] < shape[d]);
        assert_int_equal(read_at(&v[1], ndim, index), 0);
        assert_true(!masked || read_at(&v[3], ndim, index));
    }
    for (int k = 0; k < 4; k++)
        view_free(&v[k]);
}

static void test_elementwise(void **unused) {
    (void)unused;
    uf_func *f = define("quotient", NULL, "int32,int32->int32", "(x, y) { return x / y; }", UF_DEBUG, 0);
    for (int64_t i = trials(400); i > 0; i--)
        one_elementwise(f);
    uf_free(f);
}

/* In place, and with an input that overlaps the output otherwise. */
static void test_overlap(void **unused) {
    (void)unused;
    int32_t x[8] = {1, 2, 3, 0, 5, 6, 7, 8};
    if (views_on_gpu())
        skip();
    uf_func *f = define("inverse", NULL, "int32->int32", "(x) { return 840 / x; }", UF_DEBUG, 0);
    FAILS(UF_ERR_KERNEL, "at (3)", uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, 8), UF_ARRAY(x, 8)}, NULL));
    assert_memory_equal(x, ((int32_t[]){840, 420, 280, 0, 168, 140, 120, 105}), sizeof x);
    FAILS(UF_ERR_KERNEL, "at (2)", uf_call(f, 2, (DLTensor[]){UF_ARRAY(x + 1, 7), UF_ARRAY(x, 7)}, NULL));
    assert_memory_equal(x, ((int32_t[]){2, 3, 280, 5, 6, 7, 8, 105}), sizeof x);
    uf_free(f);
}

/* ---- Gufuncs ---- */

/* y[i] = x[k[i]] */
static void one_gather(const uf_func *f) {
    int ndim = (int)pick(0, 2), failed = 0;
    int64_t shape[3], index[3] = {0}, n = pick(1, 4), m = pick(1, 6);
    view v[3];
    for (int d = 0; d < ndim; d++)
        shape[d] = pick(1, 4);
    shape[ndim] = n;
    view_make(&v[0], int32, ndim + 1, shape);
    shape[ndim] = m;
    view_make(&v[1], chance(50) ? int64 : int32, ndim + 1, shape);
    view_make(&v[2], chance(50) ? int64 : int32, ndim + 1, shape);
    fill(&v[0], 0, 99, 0);
    fill(&v[1], 0, n - 1, 0);
    fill(&v[2], KEPT, KEPT, 0);
    for (int64_t i = chance(50) ? 0 : pick(1, 3); i > 0; i--) {
        for (int d = 0; d <= ndim; d++)
            index[d] = pick(0, shape[d] - 1);
        write_at(&v[1], ndim + 1, index, chance(50) ? n + pick(0, 5) : pick(-9, -1));
    }
    uf_status s = call(f, 3, v, false, (int)pick(0, 3));
    memset(index, 0, sizeof index);
    bool ended = false;
    do {
        ended &= index[ndim] != 0;
        int64_t at[3], k = read_at(&v[1], ndim + 1, index);
        memcpy(at, index, sizeof at);
        at[ndim] = k;
        failed += k < 0 || k >= n;
        ended |= k < 0 || k >= n;
        assert_int_equal(read_at(&v[2], ndim + 1, index), ended ? KEPT : read_at(&v[0], ndim + 1, at));
    } while (index_next(ndim + 1, shape, index));
    assert_int_equal(s, failed ? UF_ERR_KERNEL : UF_OK);
    if (failed) {
        long long bad;
        bool found = false;
        read_point(ndim, index);
        assert_int_equal(uf_last_error()->argument, 0);
        assert_int_equal(uf_last_error()->dimension, 0);
        assert_int_equal(uf_last_error()->line, 3);
        assert_int_equal(
            sscanf(uf_last_error()->message, "gather: line 3: index %lld is outside of core dimension 0", &bad), 1);
        for (index[ndim] = 0; index[ndim] < m; index[ndim]++)
            found |= read_at(&v[1], ndim + 1, index) == bad;
        assert_true(found && (bad < 0 || bad >= n));
    }
    for (int k = 0; k < 3; k++)
        view_free(&v[k]);
}

static void test_gather(void **unused) {
    (void)unused;
    uf_func *f = define("gather", "(n),(m)->(m)", "int32,int64->int32",
                        "(x, k) -> (y) {\n  for (int64_t i = 0; i < m; i++)\n    y[i] = x[k[i]];\n}", UF_DEBUG, 0);
    for (int64_t i = trials(300); i > 0; i--)
        one_gather(f);
    uf_free(f);
}

/* Outputs, scalars beside core operands, a matrix, and the exact text. */
static void test_gufunc(void **unused) {
    (void)unused;
    const int64_t matrix[] = {2, 3, 4}, line[] = {2};
    const char *source = "(A, i, j) -> (B, s) {\n  B[i][j] = A[i][j] + 1;\n  s = A[i][j] + i;\n}";
    uf_func *f = define("pick", "(m,n),(),()->(m,n),()", "int32,int64,int64->int32,int32", source, UF_DEBUG, 0);
    int64_t rows_of[] = {1, 2}, columns_of[] = {3, 4};
    view v[5];
    DLTensor args[5];
    for (int k = 0; k < 5; k++) {
        bool core = k == 0 || k == 3;
        view_make(&v[k], k == 1 || k == 2 ? int64 : int32, core ? 3 : 1, core ? matrix : line);
        fill(&v[k], KEPT, KEPT, 0);
    }
    for (int64_t c = 0; c < 2; c++) {
        write_at(&v[1], 1, &c, rows_of[c]);
        write_at(&v[2], 1, &c, columns_of[c]);
    }
    for (int k = 0; k < 5; k++) {
        GOOD(view_send(&v[k]));
        args[k] = v[k].used;
    }
    assert_int_equal(settle(uf_call(f, 5, args, NULL)), UF_ERR_KERNEL);
    check_error("pick: line 2: index 4 is outside of core dimension 1 of argument 3, which is 4, in the inner call (1)",
                2, 3, 1);
    for (int k = 0; k < 5; k++)
        GOOD(view_fetch(&v[k]));
    assert_int_equal(read_at(&v[3], 3, (int64_t[]){0, 1, 3}), KEPT + 1);
    assert_int_equal(read_at(&v[4], 1, (int64_t[]){0}), KEPT + 1);
    assert_int_equal(read_at(&v[4], 1, (int64_t[]){1}), KEPT);
    for (int k = 0; k < 5; k++)
        view_free(&v[k]);
    uf_free(f);
}

/* ---- Kernels over indices ---- */

static void test_forall(void **unused) {
    (void)unused;
    static const struct {
        const char *source, *message;
        int line, argument, dimension;
    } kernels[] = {
        {"[i, j](u, v, s) {\n  v[i][j] = u[i][j + (i == 2 && j == 5 && s == 3)];\n}",
         "k: line 2: index 6 is outside of dimension 1 of argument 0, which is 6, at (2, 5)", 2, 0, 1},
        {"[i, j](u, v, s) {\n  v[i - (i + j == 0)][j] = u[i][j];\n}",
         "k: line 2: index -1 is outside of dimension 0 of argument 1, which is 4, at (0, 0)", 2, 1, 0},
        {"[i, j : m](u, v, s) {\n  v[i][j] = u[i][j];\n  if (i == 3 && j == m - 1)\n    v[0][0] = 4 / (s - 3);\n}",
         "k: line 4: integer division by 0, at (3, 5)", 4, -1, -1},
        {"[i, j](u, v, s) {\n  assert(i != 1 || j != s);\n  v[i][j] = u[i][j];\n}",
         "k: line 2: assertion failed: i != 1 || j != s, at (1, 3)", 2, -1, -1},
        {"[i, j](u, v, s) {\n  atomic_add(v[s - 3][i == 3 && j == 0 ? 77 : j], 1);\n}",
         "k: line 2: index 77 is outside of dimension 1 of argument 1, which is 6, at (3, 0)", 2, 1, 1},
        {"[i, j](u, v, s) {\n  auto at = i * 6 + j == 17 ? -5 : j;\n  v[i][at] = u[i][j];\n}",
         "k: line 3: index -5 is outside of dimension 1 of argument 1, which is 6, at (2, 5)", 3, 1, 1},
    };
    const int64_t shape[] = {4, 6};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        view v[2];
        print_message("%s\n", kernels[i].source);
        uf_func *f = define("k", NULL, "int32[,], int32[,], int32", kernels[i].source, UF_DEBUG | UF_KERNEL, 0);
        for (int k = 0; k < 2; k++) {
            view_make(&v[k], int32, 2, shape);
            GOOD(view_send(&v[k]));
        }
        DLTensor args[] = {v[0].used, v[1].used, UF_SCALAR(3)};
        assert_int_equal(settle(uf_forall(f, 2, shape, 3, args, NULL)), UF_ERR_KERNEL);
        check_error(kernels[i].message, kernels[i].line, kernels[i].argument, kernels[i].dimension);
        int32_t other = i == 2 ? 4 : 3;
        args[2] = UF_SCALAR(other);
        OK(settle(uf_forall(f, 2, (int64_t[]){2, i == 1 ? 0 : 2}, 3, args, NULL)));
        view_free(&v[0]);
        view_free(&v[1]);
        uf_free(f);
    }
}

/* Every point but those that fail does its work, in spaces of any rank. */
static void one_space(const uf_func *f, int ndim) {
    int64_t shape[4], index[4] = {0}, failing[4], n = 0;
    view v[2];
    bool fails = chance(60);
    for (int d = 0; d < ndim; d++) {
        shape[d] = pick(1, 7);
        failing[d] = pick(0, shape[d] - 1);
    }
    view_make(&v[0], int32, ndim, shape);
    view_make(&v[1], int32, ndim, shape);
    fill(&v[0], 1, 50, 0);
    fill(&v[1], KEPT, KEPT, 0);
    if (fails)
        write_at(&v[0], ndim, failing, 0);
    GOOD(view_send(&v[0]));
    GOOD(view_send(&v[1]));
    uf_status s = settle(uf_forall(f, ndim, shape, 2, (DLTensor[]){v[0].used, v[1].used},
                                   &(uf_options){.size = sizeof(uf_options), .threads = (int)pick(0, 3)}));
    assert_int_equal(s, fails ? UF_ERR_KERNEL : UF_OK);
    int64_t said[4] = {0};
    if (fails)
        read_point(ndim, said);
    GOOD(view_fetch(&v[1]));
    do {
        int64_t x = read_at(&v[0], ndim, index);
        n += x == 0;
        assert_int_equal(read_at(&v[1], ndim, index), x ? 600 / x : KEPT);
    } while (index_next(ndim, shape, index));
    for (int d = 0; d < ndim && fails; d++)
        assert_int_equal(said[d], failing[d]);
    assert_int_equal(n, fails);
    view_free(&v[0]);
    view_free(&v[1]);
}

static void test_spaces(void **unused) {
    (void)unused;
    static const struct {
        const char *parameters, *source;
    } kernels[] = {
        {"int32[], int32[]", "[i](x, y) { y[i] = 600 / x[i]; }"},
        {"int32[,], int32[,]", "[i, j](x, y) { y[i][j] = 600 / x[i][j]; }"},
        {"int32[,,], int32[,,]", "[i, j, k](x, y) { y[i][j][k] = 600 / x[i][j][k]; }"},
        {"int32[,,,], int32[,,,]", "[i, j, k, l](x, y) { y[i][j][k][l] = 600 / x[i][j][k][l]; }"},
    };
    for (size_t i = 0; i < COUNT(kernels); i++) {
        uf_func *f = define("space", NULL, kernels[i].parameters, kernels[i].source, UF_DEBUG | UF_KERNEL, 0);
        for (int64_t n = trials(60); n > 0; n--)
            one_space(f, (int)i + 1);
        uf_free(f);
    }
}

/* ---- Everything else ---- */

/* Many elements fail, on all threads: one of them is told of. */
static void test_many(void **unused) {
    enum {
        N = 1 << 20
    };
    (void)unused;
    const int64_t shape[] = {1 << 10, 1 << 10};
    view v[2];
    int64_t index[2];
    uf_func *f = define("many", NULL, "int32->int32", "(x) { return 100 / x; }", UF_DEBUG, 0);
    view_make_plain(&v[0], int32, 2, shape);
    view_make_plain(&v[1], int32, 2, shape);
    for (int64_t i = 0; i < N; i++)
        ((int32_t *)v[0].host.data)[i] = i % 3 == 1 ? 0 : (int32_t)(i % 7 + 1);
    for (int threads = 0; threads < 5; threads++) {
        assert_int_equal(call(f, 2, v, false, threads), UF_ERR_KERNEL);
        read_point(2, index);
        assert_int_equal((index[0] * shape[1] + index[1]) % 3, 1);
    }
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(((int32_t *)v[1].host.data)[i], i % 3 == 1 ? 0 : 100 / (i % 7 + 1));
    view_free(&v[0]);
    view_free(&v[1]);
    uf_free(f);
}

static void test_plans(void **unused) {
    (void)unused;
    const int64_t shape[] = {6};
    uf_plan *plan, *space;
    view v[2];
    uf_func *f = define("planned", NULL, "int32->int32", "(x) { return 100 / x; }", UF_DEBUG, 0);
    uf_func *k = define("over", NULL, "int32[], int32[]", "[i](x, y) { y[i] = 100 / x[i]; }", UF_DEBUG | UF_KERNEL, 0);
    view_make_plain(&v[0], int32, 1, shape);
    view_make_plain(&v[1], int32, 1, shape);
    fill(&v[0], 1, 9, 0);
    write_at(&v[0], 1, (int64_t[]){4}, 0);
    GOOD(view_send(&v[0]));
    GOOD(view_send(&v[1]));
    DLTensor args[] = {v[0].used, v[1].used};
    void *data[] = {(char *)args[0].data + args[0].byte_offset, (char *)args[1].data + args[1].byte_offset};
    OK(uf_plan_new(&plan, f, 2, args, NULL));
    OK(uf_forall_plan(&space, k, 1, shape, 2, args, NULL));
    uf_free(f); /* plans keep what they need */
    uf_free(k);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(settle(uf_plan_run(plan, data, NULL)), UF_ERR_KERNEL);
        check_error("planned: line 1: integer division by 0, at (4)", 1, -1, -1);
        assert_int_equal(settle(uf_plan_run(space, data, NULL)), UF_ERR_KERNEL);
        check_error("over: line 1: integer division by 0, at (4)", 1, -1, -1);
    }
    write_at(&v[0], 1, (int64_t[]){4}, 5);
    GOOD(view_send(&v[0]));
    if (!views_on_gpu()) {
        OK(uf_plan_run(plan, data, NULL));
        OK(uf_plan_run(space, data, NULL));
    }
    uf_plan_free(plan);
    uf_plan_free(space);
    view_free(&v[0]);
    view_free(&v[1]);
}

/* Numbers, no inputs, outer, and what does not report: reductions, scans, uf_at. */
static void test_verbs(void **unused) {
    (void)unused;
    int32_t x[3] = {4, 0, 2}, y[3] = {8, 6, 1}, r[9], one = KEPT;
    const int64_t at[2] = {1, 2};
    if (views_on_gpu())
        skip();
    uf_func *f = define("over", NULL, "int32,int32->int32", "(x, y) { return y / x; }", UF_DEBUG | UF_SERIAL, 0);
    FAILS(UF_ERR_KERNEL, "over: line 1: integer division by 0, at (1, 0)",
          uf_outer(f, 3, (DLTensor[]){UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3, 3)}, NULL));
    assert_int_equal(uf_call(f, 3, (DLTensor[]){UF_SCALAR(0), UF_SCALAR(3), UF_ARRAY(&one, 1)}, NULL), UF_ERR_KERNEL);
    check_error("over: line 1: integer division by 0, at (0)", 1, -1, -1);
    DLTensor result = UF_ARRAY(&one, 1);
    result.ndim = 0;
    assert_int_equal(uf_call(f, 3, (DLTensor[]){UF_SCALAR(0), UF_SCALAR(3), result}, NULL), UF_ERR_KERNEL);
    check_error("over: line 1: integer division by 0", 1, -1, -1);
    assert_int_equal(one, KEPT);
    OK(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x, 3), result}, NULL));
    OK(uf_accumulate(f, 2, (DLTensor[]){UF_ARRAY(x, 3), UF_ARRAY(r, 3)}, 0, NULL));
    OK(uf_at(f, &UF_ARRAY(x, 3), 1, &UF_ARRAY(at, 2), &UF_ARRAY(y, 2), NULL));
    uf_free(f);
    f = define("alone", NULL, "->int32", "() -> (y) { int t = 3; y = t / (t - 3); }", UF_DEBUG, 0);
    FAILS(UF_ERR_KERNEL, "at (0)", uf_call(f, 1, (DLTensor[]){UF_ARRAY(r, 1)}, NULL));
    uf_free(f);
}

/* Nothing is known of indices then; of divisors it is. */
static void test_unchecked(void **unused) {
    (void)unused;
    int32_t x[4] = {1, 2, 0, 4}, y = KEPT;
    if (views_on_gpu())
        skip();
    uf_func *f = define("next", "(n)->()", "int32->int32", "(x) -> (y) { y = 8 / x[n]; }", UF_DEBUG | UF_UNCHECKED, 0);
    DLTensor result = UF_ARRAY(&y, 1);
    result.ndim = 0;
    OK(uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, 3), result}, NULL));
    assert_int_equal(y, 2);
    FAILS(UF_ERR_KERNEL, "division by 0", uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, 2), result}, NULL));
    assert_int_equal(y, 2);
    uf_free(f);
}

/* The code that is shown is the code that runs. */
static void test_inspect(void **unused) {
    (void)unused;
    char *text;
    uf_func *f = define("seen", NULL, "int32->int32", "(x) {\n  return 3 / x;\n}", UF_DEBUG, 0);
    OK(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    assert_non_null(strstr(text, "@report("));
    assert_non_null(strstr(text, "!DILocation(line: 2"));
    free(text);
    uf_free(f);
    f = define("seen", NULL, "int32->int32", "(x) {\n  return 3 / x;\n}", UF_LINES, 0);
    OK(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    assert_null(strstr(text, "report"));
    assert_non_null(strstr(text, "!DILocation(line: 2"));
    free(text);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_elementwise), cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_gather), cmocka_unit_test(test_gufunc),      cmocka_unit_test(test_forall),
        cmocka_unit_test(test_spaces), cmocka_unit_test(test_many),        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_verbs),  cmocka_unit_test(test_inspect),     cmocka_unit_test(test_unchecked),
    };
    return cmocka_run_group_tests_name("debug", tests, draw_seed, NULL);
}
