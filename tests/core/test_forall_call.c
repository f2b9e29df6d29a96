/* test_forall_call.c - kernels over indices by the public interface: registration, the choice of a list, arguments of any strides,
 * numbers, plans, several threads, what is refused; on the CPU, and against the mock driver up to the launch. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "expect.h"
#include "mock_child.h"

#define LIST(...) ((DLTensor[]){__VA_ARGS__})
#define SPACE(...) ((int64_t[]){__VA_ARGS__})
#define OPTIONS(...) (&(uf_options){.size = sizeof(uf_options), __VA_ARGS__})

static uf_func *kernel(const char *parameters, const char *source) {
    uf_func *f;
    OK(uf_kernel(&f, "k", parameters, source));
    return f;
}

static uf_func *scale; /* b[i] = s * a[i] */

static int begin(void **state) {
    scale = kernel("float64[], float64[], float64; float32[], float32[], float32", "[i](a, b, s) { b[i] = s * a[i]; }");
    return draw_seed(state);
}

static int end(void **state) {
    (void)state;
    uf_free(scale);
    return 0;
}

/* ---- What it does ---- */

/* The manual's. */
static void heat(void **state) {
    enum {
        ROWS = 37,
        COLUMNS = 53
    };
    static float u[ROWS][COLUMNS], v[ROWS][COLUMNS], expected[ROWS][COLUMNS];
    (void)state;
    uf_func *step =
        kernel("float32[,], float32[,], float32", UF_SOURCE([i : n, j : m](u, v, k) {
                   if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
                       v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
               }));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            u[i][j] = (float)pick(-8, 8);
    for (int i = 1; i < ROWS - 1; i++)
        for (int j = 1; j < COLUMNS - 1; j++)
            expected[i][j] = u[i][j] + 0.5f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
    OK(uf_forall(step, 2, SPACE(ROWS, COLUMNS), 3,
                 LIST(UF_ARRAY(&u[0][0], ROWS, COLUMNS), UF_ARRAY(&v[0][0], ROWS, COLUMNS), UF_SCALAR(0.5f)), NULL));
    assert_memory_equal(v, expected, sizeof v);
    uf_free(step);
}

/* ---- Windows, whose extents are constants of the code where they are small ---- */

enum {
    WINDOW_SPACE = 120 /* rows and columns, at most */
};

static const char by_sums[] =
    "[i, j](y, x, w) {"
    "    y[i][j] = sum(a : extent(w, 0), b : extent(w, 1), x[i + a - 1][j + b - 1] * w[a][b]);"
    "}",
                  by_loops[] = "[i, j](y, x, w) {"
                               "    auto s = 0.0;"
                               "    for (int64 a = 0; a < extent(w, 0); a++)"
                               "        for (int64 b = 0; b < extent(w, 1); b++) {"
                               "            int64 k = i + a - 1, l = j + b - 1;"
                               "            if (k >= 0 && k < extent(x, 0) && l >= 0 && l < extent(x, 1))"
                               "                s += x[k][l] * w[a][b];"
                               "        }"
                               "    y[i][j] = s;"
                               "}";
static const char window_list[] = "float64[,], float64[,], float64[,]";

static double expected_window(const double *x, const double *w, int rows, int columns, int i, int j, int a, int b) {
    double sum = 0;
    for (int k = 0; k < a; k++)
        for (int l = 0; l < b; l++) {
            int row = i + k - 1, column = j + l - 1;
            bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
            sum += (inside ? x[row * columns + column] : 0) * w[k * b + l];
        }
    return sum;
}

/* The product of the extents that are constants in a call; 0: none is. Data are multiples of `unit`; what comes out is the sum in the order
 * of the text. */
static int known_of(uf_func *f, int rows, int columns, int a, int b, double unit) {
    static double x[WINDOW_SPACE * WINDOW_SPACE], w[WINDOW_SPACE * WINDOW_SPACE], y[WINDOW_SPACE * WINDOW_SPACE],
        expected[WINDOW_SPACE * WINDOW_SPACE];
    uf_plan *p;
    for (int i = 0; i < rows * columns; i++)
        x[i] = (double)pick(-8, 8) * unit;
    for (int i = 0; i < a * b; i++)
        w[i] = (double)pick(-8, 8) * unit;
    for (int i = 0; i < rows * columns; i++)
        expected[i] = expected_window(x, w, rows, columns, i / columns, i % columns, a, b);
    size_t bytes = (size_t)(rows * columns) * sizeof *y;
    DLTensor args[] = {UF_ARRAY(y, rows, columns), UF_ARRAY(x, rows, columns), UF_ARRAY(w, a, b)};
    memset(y, 0, sizeof y);
    OK(uf_forall(f, 2, SPACE(rows, columns), 3, args, NULL));
    assert_memory_equal(y, expected, bytes);
    memset(y, 0, sizeof y);
    OK(uf_forall_plan(&p, f, 2, SPACE(rows, columns), 3, args, NULL));
    const variant *v = &p->pass[0].v;
    int known = 0;
    for (int i = 0; i < FORALL_KNOWN && v->forall.known.dim[i]; i++)
        known = known ? known * v->forall.known.size[i] : v->forall.known.size[i];
    OK(uf_plan_run(p, (void *[]){y, x, w}, NULL));
    assert_memory_equal(y, expected, bytes);
    uf_plan_free(p);
    return known;
}

static int codes_of(const uf_func *f) {
    int n = 0;
    for (binding *b = atomic_load(&((uf_func *)(uintptr_t)f)->bindings); b; b = b->next)
        for (const variant_code *c = atomic_load(&b->codes); c; c = c->next)
            n++;
    return n;
}

/* The extents around each bound: of one extent, of their product, and of the points. */
static void windows(void **state) {
    static const struct {
        int rows, columns, a, b, known;
    } cases[] = {{64, 64, 3, 3, 9},  {64, 64, 1, 1, 1},   {64, 64, 8, 8, 64}, {64, 64, 5, 13, 0}, {64, 64, 2, 32, 64},
                 {64, 64, 2, 33, 2}, {64, 64, 33, 33, 0}, {64, 64, 32, 3, 0}, {63, 65, 3, 3, 0}};
    (void)state;
    uf_func *f = kernel(window_list, by_sums);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(known_of(f, cases[i].rows, cases[i].columns, cases[i].a, cases[i].b, 1), cases[i].known);
    int codes = codes_of(f);
    for (int n = 9; n < 13; n++) /* the one general form */
        assert_int_equal(known_of(f, 64, 64, n, n + 1, 1), 0);
    assert_int_equal(codes_of(f), codes);
    for (int i = 0; i < 6; i++)
        known_of(f, (int)pick(60, 110), (int)pick(60, 110), (int)pick(1, 6), (int)pick(1, 6), 1);
    uf_free(f);
}

/* Loops have the same bits as the text says them, whether they are unrolled or not, and so have kernels that report. */
static void windows_to_the_bit(void **state) {
    const uf_section loops = {window_list, by_loops};
    uf_func *f = kernel(window_list, by_loops), *debug;
    (void)state;
    OK(uf_define(&debug, &(uf_definition){.size = sizeof(uf_definition),
                                          .name = "k",
                                          .nsections = 1,
                                          .sections = &loops,
                                          .flags = UF_KERNEL | UF_DEBUG}));
    for (int i = 0; i < 5; i++) {
        int a = (int)pick(1, 6), b = (int)pick(1, 10);
        assert_int_equal(known_of(f, 70, 80, a, b, 1.0 / 3), a * b);
    }
    assert_int_equal(known_of(f, 70, 80, 9, 8, 0.1), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(known_of(debug, 64, 64, 3, 3 + i, 0.1), 0);
    uf_free(debug);
    uf_free(f);
}

/* What may be a constant: extents that loops go over, of arrays that nobody writes to, if there are few. */
static void extents_that_count(void **state) {
    static const struct {
        const char *parameters, *source;
        int count;
    } rows[] = {
        {"f[,], f[,], f[,]", by_sums, 2},
        {"f[], f[]", "[i](y, c) { for (int64 k = 0; k < len(c); k++) y[i] += c[k]; }", 1},
        {"f[], f[]", "[i](y, c) { auto n = len(c); for (int64 k = n - 1; k >= 0; k--) y[i] += c[k]; }", 1},
        {"f[], f[]", "[i](y, c) { forall (k : len(c)) atomic_add(c[k], y[i]); }", 0},
        {"f[], f[]", "[i](y, c) { y[i] = c[min(i, len(c) - 1)]; }", 0},
        {"f[], f[,,]", "[i](y, c) { y[i] = sum(k : extent(c, 0), l : extent(c, 1), m : extent(c, 2), c[k][l][m]); }",
         3},
        {"f[], f[,,], f[]",
         "[i](y, c, d) { y[i] = sum(k : extent(c, 0), l : extent(c, 1), m : extent(c, 2), c[k][l][m] * d[k]) + "
         "sum(k : len(d), d[k]); }",
         0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uf_func *f = kernel(rows[i].parameters, rows[i].source);
        float a[1] = {0};
        uf_plan *p;
        DLTensor args[3];
        for (int k = 0; k < f->nin; k++) {
            static int64_t one[3] = {1, 1, 1};
            args[k] = (DLTensor){.data = a,
                                 .device = {kDLCPU, 0},
                                 .ndim = f->signatures.ranks[k],
                                 .dtype = UF_DTYPE_OF(a[0]),
                                 .shape = one};
        }
        OK(uf_forall_plan(&p, f, f->signatures.indices[0], SPACE(1, 1), f->nin, args, NULL));
        assert_int_equal(__builtin_popcountll(p->binding->traits.extents), rows[i].count);
        uf_plan_free(p);
        uf_free(f);
    }
}

/* Whatever sizes a program meets, there are so many variants at most. */
static void combinations(void **state) {
    static const int most[] = {32, 280, 1444};
    static const char
        *const lists[] = {"f[], f[]", "f[], f[,]", "f[], f[,,]"},
               *const sources[] = {
                   "[i](y, c) { y[i] = sum(k : extent(c, 0), c[k]); }",
                   "[i](y, c) { y[i] = sum(k : extent(c, 0), l : extent(c, 1), c[k][l]); }",
                   "[i](y, c) { y[i] = sum(k : extent(c, 0), l : extent(c, 1), m : extent(c, 2), c[k][l][m]); }"};
    (void)state;
    for (int rank = 1; rank <= 3; rank++) {
        uf_func *f = kernel(lists[rank - 1], sources[rank - 1]);
        float y[1], c[1] = {0};
        uf_plan *p;
        DLTensor of = UF_ARRAY(c, 1, 1, 1);
        of.ndim = rank;
        OK(uf_forall_plan(&p, f, 1, SPACE(1), 2, LIST(UF_ARRAY(y, 1), of), NULL));
        const core_layout *layout = p->binding->tree->layout;
        int64_t core[2 * LAYOUT_MAX_DIMS] = {4096};
        int n = rank == 1 ? 40 : rank == 2 ? 40 * 40 : 40 * 40 * 40, found = 0;
        for (int i = 0; i < n; i++) {
            known_extents known;
            const code_traits *traits;
            for (int d = 0, rest = i; d < rank; d++, rest /= 40)
                core[layout->operands[1].dim[d]] = rest % 40;
            OK(extents_know(p->binding, core, 4096, &known, &traits));
            assert_true(known.dim[0] ? traits != &p->binding->traits : traits == &p->binding->traits);
        }
        for (const known_kernel *x = atomic_load(&((binding *)(uintptr_t)p->binding)->known); x; x = x->next)
            found++;
        assert_int_equal(found, most[rank - 1]);
        uf_plan_free(p);
        uf_free(f);
    }
}

/* Points beyond an array write nothing and read 0, where the extents are larger than it. */
static void beyond(void **state) {
    double a[4] = {1, 2, 3, 4}, b[6] = {-1, -1, -1, -1, -1, -1};
    (void)state;
    OK(uf_forall(scale, 1, SPACE(100), 3, LIST(UF_ARRAY(a, 4), UF_ARRAY(b, 5), UF_SCALAR(2)), NULL));
    assert_true(b[0] == 2 && b[3] == 8 && b[4] == 0 && b[5] == -1);
    OK(uf_forall(scale, 1, SPACE(2), 3, LIST(UF_ARRAY(a, 4), UF_ARRAY(b, 5), UF_SCALAR(3)), NULL));
    assert_true(b[0] == 3 && b[1] == 6 && b[2] == 6 && b[3] == 8);
}

enum {
    RANK_MOST = 4,
    BLOCK = 1 << 14
};

/* An array of any strides in a block of memory. */
typedef struct strided {
    double block[BLOCK];
    int64_t shape[RANK_MOST], strides[RANK_MOST], first;
    DLTensor t;
} strided;

/* Dimensions in any order, any of them backwards, gaps between; without the strides member where it would be C order. */
static void strided_draw(strided *x, int rank, const int64_t *shape) {
    int order[RANK_MOST];
    int64_t step = 1;
    bool plain = chance(30);
    x->first = 0;
    for (int d = 0; d < rank; d++) {
        order[d] = rank - 1 - d;
        x->shape[d] = shape[d];
    }
    for (int d = rank - 1; d > 0 && !plain && chance(50); d--) {
        int other = (int)pick(0, d), was = order[d];
        order[d] = order[other];
        order[other] = was;
    }
    for (int i = 0; i < rank; i++) {
        int d = order[i];
        x->strides[d] = step;
        step *= shape[d] * (plain || chance(70) ? 1 : pick(1, 3));
        if (!plain && chance(25)) {
            x->first += (shape[d] - 1) * x->strides[d];
            x->strides[d] = -x->strides[d];
        }
    }
    assert_true(step <= BLOCK);
    for (int i = 0; i < BLOCK; i++)
        x->block[i] = (double)pick(-100, 100);
    x->t = (DLTensor){.data = x->block,
                      .device = {kDLCPU, 0},
                      .ndim = rank,
                      .dtype = {kDLFloat, 64, 1},
                      .shape = x->shape,
                      .strides = plain ? NULL : x->strides,
                      .byte_offset = (uint64_t)x->first * sizeof(double)};
}

static double *strided_at(strided *x, const int64_t *index) {
    double *at = x->block + x->first;
    for (int d = 0; d < x->t.ndim; d++)
        at += index[d] * x->strides[d];
    return at;
}

static void any_strides(void **state) {
    static const char *const sources[] = {NULL, "[i](u, v, w) { v[i] = 2 * u[i] + w[0] + i; }",
                                          "[i, j](u, v, w) { v[i][j] = 2 * u[i][j] + w[i] + j; }",
                                          "[i, j, k](u, v, w) { v[i][j][k] = 2 * u[i][j][k] + w[j] + k; }",
                                          "[i, j, k, l](u, v, w) { v[i][j][k][l] = 2 * u[i][j][k][l] + w[k] + l; }"};
    static const char *const parameters[] = {NULL, "d[], d[], d[]", "d[,], d[,], d[]", "d[,,], d[,,], d[]",
                                             "d[,,,], d[,,,], d[]"};
    static strided u, v, w;
    static double expected[BLOCK];
    uf_func *f[RANK_MOST + 1];
    (void)state;
    for (int rank = 1; rank <= RANK_MOST; rank++)
        f[rank] = kernel(parameters[rank], sources[rank]);
    for (int64_t trial = trials(120); trial > 0; trial--) {
        int rank = (int)pick(1, RANK_MOST);
        int64_t shape[RANK_MOST], index[RANK_MOST] = {0}, points = 1;
        for (int d = 0; d < rank; d++)
            points *= shape[d] = chance(15) ? 1 : pick(1, 5);
        strided_draw(&u, rank, shape);
        strided_draw(&v, rank, shape);
        strided_draw(&w, 1, SPACE(rank == 1 ? 1 : shape[rank - 2]));
        memcpy(expected, v.block, sizeof expected);
        for (int64_t p = 0; p < points; p++) {
            int64_t rest = p;
            for (int d = rank - 1; d >= 0; d--) {
                index[d] = rest % shape[d];
                rest /= shape[d];
            }
            int64_t row = rank == 1 ? 0 : index[rank - 2];
            expected[strided_at(&v, index) - v.block] =
                2 * *strided_at(&u, index) + *strided_at(&w, &row) + (double)index[rank - 1];
        }
        OK(uf_forall(f[rank], rank, shape, 3, LIST(u.t, v.t, w.t), OPTIONS(.threads = (int)pick(0, 2))));
        assert_memory_equal(v.block, expected, sizeof expected);
    }
    for (int rank = 1; rank <= RANK_MOST; rank++)
        uf_free(f[rank]);
}

/* Arrays may overlap each other; where they do, no point sees more than chance has it, so points are kept apart here. */
static void overlapping_arrays(void **state) {
    double x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    (void)state;
    OK(uf_forall(scale, 1, SPACE(9), 3, LIST(UF_ARRAY(x, 9), UF_ARRAY(x, 9), UF_SCALAR(2)), NULL));
    assert_true(x[0] == 2 && x[8] == 18);
    OK(uf_forall(scale, 1, SPACE(4), 3, LIST(UF_ARRAY(x, 5), UF_ARRAY(x + 4, 5), UF_SCALAR(1)), NULL));
    assert_true(x[4] == 2 && x[7] == 8 && x[8] == 18);
}

static void eight_dimensions(void **state) {
    int32_t r[2 * 2 * 2 * 2 * 2 * 2 * 2 * 3] = {0};
    (void)state;
    uf_func *f = kernel("i[,,,,,,,]", "[a, b, c, d, e, f, g, h](r) { r[a][b][c][d][e][f][g][h] = "
                                      "((((((a * 2 + b) * 2 + c) * 2 + d) * 2 + e) * 2 + f) * 2 + g) * 3 + h; }");
    OK(uf_forall(f, 8, SPACE(2, 2, 2, 2, 2, 2, 2, 3), 1, LIST(UF_ARRAY(r, 2, 2, 2, 2, 2, 2, 2, 3)), NULL));
    for (int i = 0; i < 384; i++)
        assert_int_equal(r[i], i);
    uf_free(f);
}

/* Nothing is done, but what is wrong is said. */
static void no_points(void **state) {
    double a[1] = {1}, b[2] = {-1, -1};
    uf_launch info = {.size = sizeof info, .block = 9};
    uf_plan *plan;
    (void)state;
    uf_func *f = kernel("d[], h", "[i, j](a, s) { a[i] = s + j; }");
    OK(uf_forall(f, 2, SPACE(0, INT64_MAX), 2, LIST(UF_ARRAY(b, 2), UF_SCALAR(1)), NULL));
    OK(uf_forall(f, 2, SPACE(5, 0), 2, LIST(UF_ARRAY(b, 2), UF_SCALAR(1)), NULL));
    FAILS(UF_ERR_CAST, "argument 1: 40000 does not fit int16",
          uf_forall(f, 2, SPACE(5, 0), 2, LIST(UF_ARRAY(b, 2), UF_SCALAR(40000)), NULL));
    FAILS(UF_ERR_SIGNATURE, "argument 0 is a floating number",
          uf_forall(f, 2, SPACE(5, 0), 2, LIST(UF_SCALAR(1.0), UF_ARRAY(b, 1)), NULL));
    OK(uf_launch_info(f, 2, SPACE(5, 0), 2, LIST(UF_ARRAY(b, 2), UF_SCALAR(1)), NULL, &info));
    assert_true(info.size == sizeof info && info.block == 0 && info.threads == 0);
    OK(uf_forall_plan(&plan, f, 2, SPACE(0, 1), 2, LIST(UF_ARRAY(b, 2), UF_SCALAR(1)), NULL));
    int one = 1;
    OK(uf_plan_run(plan, (void *[]){b, &one}, NULL));
    uf_plan_free(plan);
    assert_true(b[0] == -1 && b[1] == -1 && a[0] == 1);
    /* Arrays without elements have no address. */
    DLTensor none = UF_ARRAY(a, 0);
    none.data = NULL;
    OK(uf_forall(f, 2, SPACE(3, 2), 2, LIST(none, UF_SCALAR(1)), NULL));
    uf_free(f);
    /* Nor bounds to their other extents and their strides. */
    f = kernel("d[,,]", "[i](a) { a[i][0][0] = 1; }");
    int64_t shape[] = {0, INT64_MAX, INT64_MAX}, strides[] = {INT64_MAX, INT64_MIN, INT64_MAX};
    none = (DLTensor){.device = {kDLCPU, 0}, .ndim = 3, .dtype = none.dtype, .shape = shape};
    OK(uf_forall(f, 1, SPACE(3), 1, &none, NULL));
    none.strides = strides;
    OK(uf_forall(f, 1, SPACE(3), 1, &none, NULL));
    uf_free(f);
    uf_func *idle = kernel("", "[i]() { }");
    OK(uf_forall(idle, 1, SPACE(1000), 0, NULL, NULL));
    uf_free(idle);
}

/* ---- Numbers and lists ---- */

static void numbers(void **state) {
    double a[1] = {1}, b[1];
    const uf_options strong = {.size = sizeof strong, .flags = UF_STRONG_NUMBERS};
    (void)state;
#define GIVES(expected, number)                                                                              \
    do {                                                                                                     \
        OK(uf_forall(scale, 1, SPACE(1), 3, LIST(UF_ARRAY(a, 1), UF_ARRAY(b, 1), UF_SCALAR(number)), NULL)); \
        assert_true(b[0] == (expected));                                                                     \
    } while (0)
    GIVES(3, 3);
    GIVES(-3, (int8_t)-3);
    GIVES(255, (uint8_t)255);
    GIVES(18446744073709551615.0, UINT64_MAX);
    GIVES(1, (_Bool)1);
    GIVES(0.5, 0.5f);
    GIVES(0.1, 0.1);
    OK(uf_forall(scale, 1, SPACE(1), 3, LIST(UF_ARRAY(a, 1), UF_ARRAY(b, 1), UF_SCALAR(0.5f)), &strong));
    uf_func *f = kernel("d[], l", "[i](a, s) { a[i] = s; }");
    FAILS(UF_ERR_SIGNATURE, "argument 1 is uint64, which does not cast safely to int64",
          uf_forall(f, 1, SPACE(1), 2, LIST(UF_ARRAY(a, 1), UF_SCALAR((uint64_t)1)), &strong));
    uf_free(f);
    FAILS(UF_ERR_SIGNATURE, "argument 2 is a complex number",
          uf_forall(scale, 1, SPACE(1), 3, LIST(UF_ARRAY(a, 1), UF_ARRAY(b, 1), UF_SCALAR((float _Complex)1)), NULL));
}

/* A number is looked at in each call, whoever chose its list before. */
static void numbers_that_fit(void **state) {
    int16_t a[1] = {0};
    (void)state;
    uf_func *f = kernel("h[], h", "[i](a, s) { a[i] = s; }");
    for (int i = 0; i < 2; i++) {
        OK(uf_forall(f, 1, SPACE(1), 2, LIST(UF_ARRAY(a, 1), UF_SCALAR(-32768)), NULL));
        assert_int_equal(a[0], -32768);
        FAILS(UF_ERR_CAST, "argument 1: 32768 does not fit int16",
              uf_forall(f, 1, SPACE(1), 2, LIST(UF_ARRAY(a, 1), UF_SCALAR(32768)), NULL));
        assert_int_equal(uf_last_error()->argument, 1);
        assert_int_equal(a[0], -32768);
    }
    uf_free(f);
}

/* Which section and list ran: they leave marks. */
static void lists(void **state) {
    static const uf_section sections[] = {
        {"d[], l; d[], d; f[], d", "[i](a, s) { a[i] = 100 + s; }"},
        {"d[,], l", "[i](a, s) { a[i][0] = 200 + s; }"},
        {"d[], l", "[i, j](a, s) { }"},
        {"f[,], f", "[i, j](a, s) { }"},
        {"h[], d", "[i, j](a, s) { a[i] = 300 + (int)s; }"},
    };
    const uf_definition d = {.size = sizeof d, .name = "k", .nsections = 5, .sections = sections, .flags = UF_KERNEL};
    double a[2] = {0};
    float b[2] = {0};
    int16_t c[2] = {0};
    int32_t wrong[2] = {0};
    uf_func *f;
    uf_description about = {.size = sizeof about};
    (void)state;
    OK(uf_define(&f, &d));
    OK(uf_describe(f, &about));
    assert_string_equal(about.kind, "kernel");
    assert_true(about.nin == 2 && about.nout == 0 && !about.layout && !about.identity && !about.nstate && !about.order);
    assert_string_equal(about.signatures,
                        "float64[], int64; float64[], float64; float32[], float64; float64[,], int64; "
                        "float64[], int64; float32[,], float32; int16[], float64");
    OK(uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(1)), NULL));
    assert_true(a[0] == 101 && a[1] == 101);
    OK(uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(0.5)), NULL));
    assert_true(a[0] == 100.5);
    OK(uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(b, 2), UF_SCALAR(0.5f)), NULL));
    assert_true(b[1] == 100.5f);
    OK(uf_forall(f, 1, SPACE(1), 2, LIST(UF_ARRAY(a, 1, 2), UF_SCALAR(3)), NULL));
    assert_true(a[0] == 203 && a[1] == 100.5);
    OK(uf_forall(f, 2, SPACE(1, 1), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(9)), NULL));
    assert_true(a[0] == 203);
    OK(uf_forall(f, 2, SPACE(2, 3), 2, LIST(UF_ARRAY(c, 2), UF_SCALAR(9)), NULL));
    assert_true(c[0] == 309 && c[1] == 309);
    /* Forced: blanks and spellings are free. */
    OK(uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(1)), OPTIONS(.signature = " d[] ,float64 ")));
    assert_true(a[0] == 101);
    OK(uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(2)), OPTIONS(.signature = "d[], l")));
    assert_true(a[0] == 102);
    FAILS(UF_ERR_SIGNATURE, "the parameter list asked for, float64[,], int64, is not in its list",
          uf_forall(f, 2, SPACE(1, 1), 2, LIST(UF_ARRAY(a, 1, 2), UF_SCALAR(3)), OPTIONS(.signature = "d[,], l")));
    FAILS(UF_ERR_CAST, "argument 1: a floating number does not cast under same_kind to int64",
          uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(2.5)), OPTIONS(.signature = "d[], l")));
    FAILS(UF_ERR_SYNTAX, "expected \",\" or \"]\"",
          uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(2)), OPTIONS(.signature = "d[ l")));
    OK(uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(4)), OPTIONS(.flags = UF_FIRST_MATCH)));
    assert_true(a[0] == 104);
    FAILS(UF_ERR_SIGNATURE,
          "k: no parameter list matches the arguments (int32[], an integer number)\n"
          "  float64[], int64: argument 0 is int32[], which is not float64[]\n"
          "  float64[], float64: argument 0 is int32[], which is not float64[]\n"
          "  float32[], float64: argument 0 is int32[], which is not float32[]\n"
          "  float64[,], int64: argument 0 is int32[], which is not float64[,]\n"
          "  float64[], int64: over 2 indices\n"
          "  float32[,], float32: over 2 indices\n"
          "  int16[], float64: over 2 indices",
          uf_forall(f, 1, SPACE(2), 2, LIST(UF_ARRAY(wrong, 2), UF_SCALAR(4)), NULL));
    FAILS(UF_ERR_ARGUMENT, "ndim is 3, but its number of indices is 1 or 2",
          uf_forall(f, 3, SPACE(1, 1, 1), 2, LIST(UF_ARRAY(a, 2), UF_SCALAR(4)), NULL));
    uf_free(f);
}

/* One source with parameters of other ranks is other code. */
static void ranks_in_the_key(void **state) {
    static const char source[] = "[i](a, b) { atomic_add(b[0], len(a)); }";
    double a[6] = {0};
    int64_t b[1] = {0};
    (void)state;
    uf_func *one = kernel("d[], l[]", source), *two = kernel("d[,], l[]", source);
    OK(uf_forall(one, 1, SPACE(1), 2, LIST(UF_ARRAY(a, 6), UF_ARRAY(b, 1)), NULL));
    OK(uf_forall(two, 1, SPACE(1), 2, LIST(UF_ARRAY(a, 2, 3), UF_ARRAY(b, 1)), NULL));
    assert_int_equal(b[0], 8);
    uf_free(one);
    uf_free(two);
}

/* ---- Patterns ---- */

/* Lists with any, kinds and variables take the dtypes of the call, and refuse what does not match. */
static void patterns(void **state) {
    float a[3] = {1, 2, 3}, b[3] = {0};
    double c[3] = {1, 2, 3}, e[3] = {0};
    int n[3] = {1, 2, 3};
    char *shown;
    uf_description about = {.size = sizeof about};
    (void)state;
    uf_func *f = kernel("T[], T[], T; integer[], floating[], any", "[i](x, y, s) { y[i] = s * x[i]; }");
    OK(uf_describe(f, &about));
    assert_string_equal(about.signatures, "T[], T[], T; integer[], floating[], any");
    OK(uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(a, 3), UF_ARRAY(b, 3), UF_SCALAR(2)), NULL));
    assert_true(b[0] == 2 && b[2] == 6);
    OK(uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(c, 3), UF_ARRAY(e, 3), UF_SCALAR(0.5)), NULL));
    assert_true(e[0] == 0.5 && e[2] == 1.5);
    OK(uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(n, 3), UF_ARRAY(e, 3), UF_SCALAR(0.25)), NULL));
    assert_true(e[0] == 0.25 && e[2] == 0.75);
    OK(uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(n, 3), UF_ARRAY(n, 3), UF_SCALAR(3)), NULL));
    assert_true(n[0] == 3 && n[2] == 9);
    OK(uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(c, 3), UF_ARRAY(e, 3), UF_SCALAR(4)),
                 &(uf_options){.size = sizeof(uf_options), .signature = "float64[], float64[], float64"}));
    assert_true(e[2] == 12);
    FAILS(UF_ERR_SIGNATURE,
          "k: no parameter list matches the arguments (float32[], float64[], an integer number)\n"
          "  T[], T[], T: argument 1 is float64[], which is not T[]\n"
          "  integer[], floating[], any: argument 0 is float32[], which is not integer[]",
          uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(a, 3), UF_ARRAY(e, 3), UF_SCALAR(2)), NULL));
    FAILS(UF_ERR_SIGNATURE, "which is not a number: T",
          uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(n, 3), UF_ARRAY(n, 3), UF_SCALAR(0.5)), NULL));
    FAILS(UF_ERR_SIGNATURE, "is not in its list",
          uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(a, 3), UF_ARRAY(b, 3), UF_SCALAR(2)),
                    &(uf_options){.size = sizeof(uf_options), .signature = "float32[], int32[], float32"}));
    FAILS(UF_ERR_ARGUMENT, "name a list of dtypes", uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_TREE, &shown));
    OK(uf_inspect(f, "float32[], float32[], float32", (DLDevice){kDLCPU, 0}, UF_VIEW_TREE, &shown));
    assert_non_null(strstr(shown, "float32"));
    free(shown);
    uf_free(f);

    f = kernel(NULL, "[i : n](x, y, shift) { y[i] = x[i + shift < n ? i + shift : 0]; }");
    OK(uf_describe(f, &about));
    assert_string_equal(about.signatures, "any[], any[], any");
    OK(uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(a, 3), UF_ARRAY(e, 3), UF_SCALAR(1)), NULL));
    assert_true(e[0] == 2 && e[1] == 3 && e[2] == 1);
    FAILS(UF_ERR_TYPE, "an index must be an integer",
          uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(a, 3), UF_ARRAY(e, 3), UF_SCALAR(1.0)), NULL));
    FAILS(UF_ERR_SIGNATURE, "argument 0 is float32[,], which is not any[]",
          uf_forall(f, 1, SPACE(3), 3, LIST(UF_ARRAY(a, 3, 1), UF_ARRAY(e, 3), UF_SCALAR(1)), NULL));
    uf_free(f);
}

/* ---- Registration ---- */

static uf_status define(const char *parameters, const char *source) {
    uf_func *f = (uf_func *)&f;
    uf_status s = uf_kernel(&f, "k", parameters, source);
    assert_true(s ? !f : f != NULL);
    if (!s)
        uf_free(f);
    return s;
}

static void registration(void **state) {
    (void)state;
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_kernel(NULL, "k", "d[]", "[i](a) { }"));
    FAILS(UF_ERR_TYPE, "the rank of 'a' is not known without parameters", define(NULL, "[i](a, b) { b[i] = len(a); }"));
    FAILS(UF_ERR_TYPE, "'a' has another number of indices here", define(NULL, "[i](a) { a[i] = a[i][i]; }"));
    FAILS(UF_ERR_ARGUMENT, "the source is NULL", define("d[]", NULL));
    FAILS(UF_ERR_SYNTAX, "names them before its parameters", define("d[]", "(a) { a[0] = 1; }"));
    FAILS(UF_ERR_TYPE, "has no outputs", define("d[]", "[i](a) -> (b) { b = a[i]; }"));
    FAILS(UF_ERR_TYPE, "has no result", define("d[]", "[i](a) { return a[i]; }"));
    FAILS(UF_ERR_SYNTAX, "has no outputs", define("d[]->d", "[i](a) { }"));
    FAILS(UF_ERR_SYNTAX, "unknown dtype \"doubel\"; did you mean \"double\"?", define("doubel[]", "[i](a) { }"));
    FAILS(UF_ERR_TYPE, "the parameter lists have 2 parameters, but the kernel has 1", define("d[], d", "[i](a) { }"));
    FAILS(UF_ERR_TYPE, "the parameter lists have 0 parameters, but the kernel has 1", define("", "[i](a) { }"));
    FAILS(UF_ERR_SYNTAX, "repeats", define("d[]; float64[]", "[i](a) { }"));
    FAILS(UF_ERR_TYPE, "the lists \"float64[]\" and \"float64[,]\" have other ranks",
          define("d[]; d[,]", "[i](a) { }"));
    FAILS(UF_ERR_TYPE, "", define("d[]; F[]", "[i](a) { a[i] = a[i] % 2; }")); /* each list is checked */
    FAILS(UF_ERR_TYPE, "cannot be indexed", define("d", "[i](a) { a[i] = 1; }"));
    FAILS(UF_ERR_SYNTAX, "63 dimensions of arrays beside 2 indices",
          define("d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,]",
                 "[i, j](a, b, c, d, e, f, g, h) { }"));
    OK(define("d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,,], d[,,,,,,]",
              "[i](a, b, c, d, e, f, g, h) { h[i][0][0][0][0][0][0] = 1; }"));
    FAILS(UF_ERR_SYNTAX, "have indices", uf_vectorize(&(uf_func *){NULL}, "f", "d->d", "[i](a) { return a; }"));
}

static void definitions(void **state) {
    static const uf_section one = {"d[], d", "[i](a, b) { }"};
    const uf_definition base = {.size = sizeof base, .name = "k", .nsections = 1, .sections = &one, .flags = UF_KERNEL};
    (void)state;
#define REFUSED(status, part, ...)              \
    do {                                        \
        uf_definition d = base;                 \
        uf_func *f = (uf_func *)&f;             \
        __VA_ARGS__;                            \
        FAILS(status, part, uf_define(&f, &d)); \
        assert_null(f);                         \
    } while (0)
    REFUSED(UF_ERR_ARGUMENT, "k: a kernel over indices (UF_KERNEL) has no layout", d.layout = "(n),()->()");
    REFUSED(UF_ERR_ARGUMENT, "has no BLAS form", d.blas = "gemm");
    REFUSED(UF_ERR_ARGUMENT, "has no identity", d.identity = "0");
    REFUSED(UF_ERR_ARGUMENT, "has no order", d.flags |= UF_ORDERED);
    REFUSED(UF_ERR_ARGUMENT, "has no order", d.flags |= UF_SERIAL);
    REFUSED(UF_ERR_ARGUMENT, "has no accumulator", d.flags |= UF_WIDEN);
    REFUSED(UF_ERR_ARGUMENT, "has no reduction",
            d.reduction = &((uf_reduction_def){.size = sizeof(uf_reduction_def), .combine = "(a, b) { return a; }"}));
    REFUSED(UF_ERR_SYNTAX, "sections 0 and 1 both have the parameter list float64[], float64",
            d.sections = ((uf_section[]){one, one}), d.nsections = 2);
    REFUSED(UF_ERR_TYPE, "the kernel of a later section has 1 parameter, but that of the first has 2",
            d.sections = ((uf_section[]){one, {"d[]", "[i](a) { }"}}), d.nsections = 2);
    REFUSED(UF_ERR_ARGUMENT, "the parameters of section 1 are NULL",
            d.sections = ((uf_section[]){one, {NULL, "[i](a, b) { }"}}), d.nsections = 2);
    REFUSED(UF_ERR_SYNTAX, "names them before", d.sections = ((uf_section[]){one, {"f[], f", "(a, b) { }"}}),
            d.nsections = 2);
    REFUSED(UF_ERR_ARGUMENT, "fast is 0x", d.fast = 0x100);
    REFUSED(UF_ERR_ARGUMENT, "max_registers is 5", d.max_registers = 5);
    uf_definition d = base;
    uf_func *f;
    d.sections = (uf_section[]){one, {"d[], d", "[i, j](a, b) { a[i] = b; }"}}; /* over other numbers of indices */
    d.nsections = 2;
    d.flags |= UF_UNCHECKED | UF_LINES;
    d.fast = UF_FAST_ALL;
    d.max_registers = 64;
    d.doc = "Says something.";
    OK(uf_define(&f, &d));
    double a[3] = {0};
    OK(uf_forall(f, 2, SPACE(3, 2), 2, LIST(UF_ARRAY(a, 3), UF_SCALAR(7)), NULL));
    assert_true(a[0] == 7 && a[2] == 7);
    uf_free(f);
}

/* ---- What is refused ---- */

static void other_verbs(void **state) {
    double x[4] = {0};
    const DLTensor a = UF_ARRAY(x, 4);
    DLTensor three[] = {a, a, UF_SCALAR(1.0)};
    uf_plan *plan;
    uf_func *add;
    size_t size;
    (void)state;
    static const char said[] = "k is a kernel over indices; uf_forall runs it";
    FAILS(UF_ERR_ARGUMENT, said, uf_call(scale, 3, three, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_call(scale, 3, three, OPTIONS(.flags = UF_STAGE, .device = {kDLCUDA, 0})));
    FAILS(UF_ERR_ARGUMENT, said, uf_infer(scale, 3, three, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_plan_new(&plan, scale, 3, three, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_outer(scale, 3, three, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_at(scale, &a, 1, &a, &a, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_reduce(scale, 2, three, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_reduce_infer(scale, 2, three, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_accumulate(scale, 2, three, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_accumulate_infer(scale, 2, three, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_reduceat(scale, 2, three, &a, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_reduce_scratch_size(&size, scale, 2, three, NULL));
    OK(uf_vectorize(&add, "add", "dd->d", "(x, y) { return x + y; }"));
    static const char none[] = "add is no kernel over indices (uf_kernel)";
    uf_launch info = {.size = sizeof info};
    FAILS(UF_ERR_ARGUMENT, none, uf_forall(add, 1, SPACE(4), 3, three, NULL));
    FAILS(UF_ERR_ARGUMENT, none, uf_forall_plan(&plan, add, 1, SPACE(4), 3, three, NULL));
    assert_null(plan);
    FAILS(UF_ERR_ARGUMENT, none, uf_launch_info(add, 1, SPACE(4), 3, three, NULL, &info));
    FAILS(UF_ERR_ARGUMENT, "uf_options.block is for uf_forall", uf_call(add, 3, LIST(a, a, a), OPTIONS(.block = 256)));
    FAILS(UF_ERR_ARGUMENT, "uf_options.elements is for uf_forall",
          uf_accumulate(add, 2, three, 0, OPTIONS(.elements = 1)));
    uf_free(add);
}

static void arguments(void **state) {
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const DLTensor a = UF_ARRAY(x, 4), b = UF_ARRAY(x + 4, 4), s = UF_SCALAR(2.0);
    DLTensor single = a;
    single.dtype.bits = 32;
    const struct {
        int ndim;
        int64_t *extents;
        int nargs;
        const DLTensor *args;
        uf_status status;
        const char *part;
    } rows[] = {
        {0, SPACE(4), 3, LIST(a, b, s), UF_ERR_ARGUMENT, "ndim is 0; 1 to 8 are possible"},
        {9, SPACE(1, 1, 1, 1, 1, 1, 1, 1, 1), 3, LIST(a, b, s), UF_ERR_ARGUMENT, "ndim is 9"},
        {-1, SPACE(4), 3, LIST(a, b, s), UF_ERR_ARGUMENT, "ndim is -1"},
        {2, SPACE(4, 4), 3, LIST(a, b, s), UF_ERR_ARGUMENT, "ndim is 2, but its number of indices is 1"},
        {1, NULL, 3, LIST(a, b, s), UF_ERR_ARGUMENT, "extents is NULL"},
        {1, SPACE(-4), 3, LIST(a, b, s), UF_ERR_ARGUMENT, "extents[0] is -4; it must not be negative"},
        {1, SPACE(INT64_MIN), 3, LIST(a, b, s), UF_ERR_ARGUMENT, "must not be negative"},
        {1, SPACE(4), 2, LIST(a, b), UF_ERR_ARGUMENT, "2 arguments, but the kernel has 3 parameters"},
        {1, SPACE(4), 4, LIST(a, b, s, s), UF_ERR_ARGUMENT, "4 arguments, but"},
        {1, SPACE(4), -1, LIST(a, b, s), UF_ERR_ARGUMENT, "-1 arguments, but"},
        {1, SPACE(4), 3, NULL, UF_ERR_ARGUMENT, "args is NULL"},
        {1, SPACE(4), 3, LIST(a, b, UF_ARRAY(x, 1)), UF_ERR_SIGNATURE,
         "argument 2 is float64[], which is not a number: float64"},
        {1, SPACE(4), 3, LIST(a, s, s), UF_ERR_SIGNATURE, "argument 1 is a floating number, which is not float64[]"},
        {1, SPACE(4), 3, LIST(UF_ARRAY(x, 2, 2), b, s), UF_ERR_SIGNATURE,
         "argument 0 is float64[,], which is not float64[]"},
        {1, SPACE(4), 3, LIST(single, b, s), UF_ERR_SIGNATURE, "argument 1 is float64[], which is not float32[]"},
        {1, SPACE(4), 3, LIST(UF_CUDA(0, a.dtype, x, 4), b, s), UF_ERR_DEVICE,
         "argument 1: is in host memory, but argument 0 is on CUDA device 0"},
        {1, SPACE(4), 3, LIST(UF_CUDA(0, a.dtype, x, 4), UF_CUDA(1, a.dtype, x, 4), s), UF_ERR_DEVICE, "device 1"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uf_plan *plan;
        uf_launch info = {.size = sizeof info};
        FAILS(rows[i].status, rows[i].part,
              uf_forall(scale, rows[i].ndim, rows[i].extents, rows[i].nargs, rows[i].args, NULL));
        FAILS(rows[i].status, rows[i].part,
              uf_forall_plan(&plan, scale, rows[i].ndim, rows[i].extents, rows[i].nargs, rows[i].args, NULL));
        assert_null(plan);
        FAILS(rows[i].status, rows[i].part,
              uf_launch_info(scale, rows[i].ndim, rows[i].extents, rows[i].nargs, rows[i].args, NULL, &info));
    }
    FAILS(UF_ERR_ARGUMENT, "kernel is NULL", uf_forall(NULL, 1, SPACE(4), 3, LIST(a, b, s), NULL));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_forall_plan(NULL, scale, 1, SPACE(4), 3, LIST(a, b, s), NULL));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_launch_info(scale, 1, SPACE(4), 3, LIST(a, b, s), NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_launch.size is 4; set it to sizeof(uf_launch)",
          uf_launch_info(scale, 1, SPACE(0), 3, LIST(a, b, s), NULL, &(uf_launch){.size = 4}));
    assert_true(x[4] == 5 && x[7] == 8);
}

static void spaces(void **state) {
    double x[1] = {0};
    (void)state;
    uf_func *f = kernel("d[]", "[i, j, k](a) { }");
    const DLTensor a = UF_ARRAY(x, 1);
    FAILS(UF_ERR_SHAPE, "the product of the extents is 2^63 or more",
          uf_forall(f, 3, SPACE((int64_t)1 << 21, (int64_t)1 << 21, (int64_t)1 << 21), 1, &a, NULL));
    FAILS(UF_ERR_SHAPE, "2^63", uf_forall(f, 3, SPACE(INT64_MAX, 2, 1), 1, &a, NULL));
    OK(uf_forall(f, 3, SPACE(INT64_MAX, 2, 0), 1, &a, NULL));
    FAILS(UF_ERR_ARGUMENT, "extents[2] is -1", uf_forall(f, 3, SPACE(0, 0, -1), 1, &a, NULL));
    uf_free(f);
}

/* Each array alone: of its dtype, address, form. */
static void bad_arrays(void **state) {
    double x[8] = {0};
    (void)state;
    DLTensor good = UF_ARRAY(x, 4), bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].dtype.lanes = 2;
    bad[1].dtype.bits = 24;
    bad[2].data = NULL;
    bad[3].byte_offset = 4;
    bad[4].shape = NULL;
    bad[5].ndim = 65;
    static const char *const parts[] = {"2 lanes", "24 bits", "its data is NULL", "must be aligned", "shape", "65"};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++) {
            DLTensor args[] = {good, good, UF_SCALAR(1.0)};
            args[k] = bad[i];
            FAILS(UF_ERR_ARGUMENT, parts[i], uf_forall(scale, 1, SPACE(4), 3, args, NULL));
            assert_int_equal(uf_last_error()->argument, k);
        }
}

/* A complex number that is swapped whole is aligned to its size. */
static void whole_numbers(void **state) {
    (void)state;
    _Alignas(8) float x[7] = {1, 2, 3, 4, 5, 6, 7};
    int64_t shape[] = {3};
    DLTensor a = {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLComplex, 64, 1}, .shape = shape};
    uf_func *f = kernel("complex64[]", "[i](a) { atomic_exchange(a[i], 0); }");
    OK(uf_forall(f, 1, SPACE(3), 1, &a, NULL));
    assert_true(x[0] == 0 && x[5] == 0 && x[6] == 7);
    a.data = x + 1;
    FAILS(UF_ERR_ARGUMENT, "but must be aligned to 8 bytes for atomic functions",
          uf_forall(f, 1, SPACE(3), 1, &a, NULL));
    assert_int_equal(uf_last_error()->argument, 0);
    assert_true(x[6] == 7);
    uf_free(f);
    f = kernel("complex64[]", "[i](a) { a[i] = 0; }");
    OK(uf_forall(f, 1, SPACE(3), 1, &a, NULL));
    assert_true(x[6] == 0);
    uf_free(f);
}

/* What is written to has one address for each element; what is only read need not. */
static void overlap_of_itself(void **state) {
    static const char said[] = "argument 1: is written to and has two elements at one address";
    double x[16] = {3}, y[16] = {0};
    int64_t zero[] = {0}, shape[] = {3, 3}, strides[] = {1, 1}, apart[] = {4, -1}, touching[] = {2, 1};
    (void)state;
    DLTensor a = UF_ARRAY(x, 8), b = UF_ARRAY(y, 8), still = b;
    still.strides = zero;
    FAILS(UF_ERR_ARGUMENT, said, uf_forall(scale, 1, SPACE(8), 3, LIST(a, still, UF_SCALAR(1)), NULL));
    assert_int_equal(uf_last_error()->argument, 1);
    still.data = x;
    OK(uf_forall(scale, 1, SPACE(8), 3, LIST(still, b, UF_SCALAR(2)), NULL));
    assert_true(y[0] == 6 && y[7] == 6);
    uf_func *f = kernel("d[], d[,]", "[i, j](a, b) { b[i][j] = a[i] + j; }"),
            *atomic = kernel("d[], d[,]", "[i, j](a, b) { atomic_add(b[i][j], a[i]); }"),
            *reads = kernel("d[], d[,]", "[i, j](a, b) { a[i] = b[i][i]; }");
    DLTensor square = {.data = y + 2, .device = {kDLCPU, 0}, .ndim = 2, .dtype = a.dtype, .shape = shape};
    square.strides = strides;
    FAILS(UF_ERR_ARGUMENT, said, uf_forall(f, 2, SPACE(3, 3), 2, LIST(a, square), NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_forall(atomic, 2, SPACE(3, 3), 2, LIST(a, square), NULL));
    FAILS(UF_ERR_ARGUMENT, said, uf_forall(atomic, 2, SPACE(0, 3), 2, LIST(a, square), NULL));
    uf_plan *plan;
    FAILS(UF_ERR_ARGUMENT, said, uf_forall_plan(&plan, f, 2, SPACE(3, 3), 2, LIST(a, square), NULL));
    OK(uf_forall(reads, 2, SPACE(3, 3), 2, LIST(a, square), NULL));
    square.strides = touching;
    FAILS(UF_ERR_ARGUMENT, said, uf_forall(f, 2, SPACE(3, 3), 2, LIST(a, square), NULL));
    square.strides = apart;
    OK(uf_forall(f, 2, SPACE(3, 3), 2, LIST(a, square), NULL));
    assert_true(y[2 + 4] == x[1] && y[2 + 4 - 2] == x[1] + 2);
    shape[0] = 1; /* one row: its stride is not looked at */
    strides[0] = 0;
    square.strides = strides;
    OK(uf_forall(f, 2, SPACE(1, 3), 2, LIST(a, square), NULL));
    assert_true(y[4] == x[0] + 2);
    uf_free(f);
    uf_free(atomic);
    uf_free(reads);
}

static void options(void **state) {
    double x[8] = {1, 2, 3, 4};
    const DLTensor a = UF_ARRAY(x, 4), b = UF_ARRAY(x + 4, 4), s = UF_SCALAR(2.0);
    uf_axes axes = {.size = sizeof axes};
    const struct {
        uf_options o;
        const char *part;
    } rows[] = {
        {{.size = 3}, "uf_options.size is 3"},
        {{.size = sizeof(uf_options), .flags = 0x8000}, "bits 0x8000 are unknown"},
        {{.size = sizeof(uf_options), .threads = -1}, "threads is -1"},
        {{.size = sizeof(uf_options), .flags = UF_STAGE}, "uf_forall does not take UF_STAGE"},
        {{.size = sizeof(uf_options), .flags = UF_DETERMINISTIC}, "does not take UF_DETERMINISTIC"},
        {{.size = sizeof(uf_options), .casting = UF_CAST_UNSAFE}, "does not take uf_options.casting"},
        {{.size = sizeof(uf_options), .where = &a}, "does not take uf_options.where"},
        {{.size = sizeof(uf_options), .axes = &axes}, "does not take uf_options.axes"},
        {{.size = sizeof(uf_options), .device = {kDLCUDA, 0}}, "does not take uf_options.device"},
        {{.size = sizeof(uf_options), .scratch = x}, "does not take uf_options.scratch"},
        {{.size = sizeof(uf_options), .block = 33}, "uf_options.block is 33; 32, 64, 128, 256, 512 and 1024"},
        {{.size = sizeof(uf_options), .block = 16}, "block is 16"},
        {{.size = sizeof(uf_options), .block = 2048}, "block is 2048"},
        {{.size = sizeof(uf_options), .block = -32}, "block is -32"},
        {{.size = sizeof(uf_options), .elements = 3}, "uf_options.elements is 3; 1, 2, 4, 8 and 16"},
        {{.size = sizeof(uf_options), .elements = 32}, "elements is 32"},
        {{.size = sizeof(uf_options), .elements = -1}, "elements is -1"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uf_plan *plan;
        FAILS(UF_ERR_ARGUMENT, rows[i].part, uf_forall(scale, 1, SPACE(4), 3, LIST(a, b, s), &rows[i].o));
        FAILS(UF_ERR_ARGUMENT, rows[i].part, uf_forall_plan(&plan, scale, 1, SPACE(4), 3, LIST(a, b, s), &rows[i].o));
        assert_null(plan);
    }
    for (int block = 32; block <= 1024; block *= 2)
        for (int elements = 1; elements <= 16; elements *= 2) {
            x[4] = x[7] = 0;
            OK(uf_forall(scale, 1, SPACE(4), 3, LIST(a, b, s),
                         OPTIONS(.block = block, .elements = elements, .threads = 2, .stream = x)));
            assert_true(x[4] == 2 && x[7] == 8);
        }
    /* Older structs end before block. */
    uf_options old = {.size = offsetof(uf_options, block), .block = 7, .elements = 7};
    OK(uf_forall(scale, 1, SPACE(4), 3, LIST(a, b, s), &old));
}

/* ---- Plans ---- */

static void plans(void **state) {
    double a[5] = {1, 2, 3, 4, 5}, b[6] = {0}, c[5] = {0};
    int two = 2, three = 3;
    uf_plan *plan;
    (void)state;
    uf_func *f = kernel("d[], d[], d", "[i](a, b, s) { b[i] = s * a[i]; }");
    OK(uf_forall_plan(&plan, f, 1, SPACE(5), 3, LIST(UF_ARRAY(a, 5), UF_ARRAY(b, 5), UF_SCALAR(0)), NULL));
    uf_free(f); /* the plan keeps it */
    OK(uf_plan_run(plan, (void *[]){a, b, &two}, NULL));
    assert_true(b[0] == 2 && b[4] == 10 && b[5] == 0);
    OK(uf_plan_run(plan, (void *[]){b, c, &three}, NULL));
    assert_true(c[0] == 6 && c[4] == 30);
    /* Addresses that overlap, where it was made for others. */
    OK(uf_plan_run(plan, (void *[]){c, c, &two}, NULL));
    assert_true(c[0] == 12 && c[4] == 60);
    FAILS(UF_ERR_ARGUMENT, "argument 1: its data is NULL", uf_plan_run(plan, (void *[]){a, NULL, &two}, NULL));
    FAILS(UF_ERR_ARGUMENT, "argument 2: its data is NULL", uf_plan_run(plan, (void *[]){a, b, NULL}, NULL));
    FAILS(UF_ERR_ARGUMENT, "aligned to the 8 bytes of float64",
          uf_plan_run(plan, (void *[]){a, (char *)b + 4, &two}, NULL));
    FAILS(UF_ERR_ARGUMENT, "data is NULL", uf_plan_run(plan, NULL, NULL));
    uf_plan_free(plan);
}

/* Runs a kernel with a number, by a call or a plan, on arrays of 6 elements with others around them. */
static void run_with(const uf_func *f, const uf_plan *plan, int n, double out[12]) {
    double in[12] = {100, 200, 300, 1, 2, 3, 4, 5, 6, 400, 500, 600};
    for (int i = 0; i < 12; i++)
        out[i] = -1 - i;
    if (plan)
        OK(uf_plan_run(plan, (void *[]){out + 3, in + 3, &n}, NULL));
    else
        OK(uf_forall(f, 1, SPACE(6), 3, LIST(UF_ARRAY(out + 3, 6), UF_ARRAY(in + 3, 6), UF_SCALAR(n)), NULL));
}

/* A number proves indices where it fits the arrays, and where it does not they are checked: both as in a kernel in which the number
 * proves nothing, since it is assigned. One plan serves numbers of both sorts. */
static void numbers_that_bound(void **state) {
    static const char *const bodies[] = {
        "double t = 0; for (int k = 0; k < n; k++) t += b[k] * (k + 1); a[i] = t;",
        "double t = 0; for (int k = n; k > 0; k--) t = 3 * t + b[k - 1]; a[i] = t;",
        "a[i] = sum(k : n, b[k]);",
        "a[i + n] = b[i];",
        "a[i] = b[i - n];",
        "if (i < n) a[i] = b[n - 1 - i];",
        "auto j = i + n; if (j >= 0 && j < 6) a[j] = b[n];",
    };
    static const int numbers[] = {0, 1, 5, 6, 7, 40, -1, -6, -40};
    (void)state;
    for (size_t s = 0; s < COUNT(bodies); s++)
        for (int planned = 0; planned < 2; planned++) {
            char proving[256], checking[256];
            double data[6], wanted[12], got[12];
            uf_plan *plan = NULL;
            snprintf(proving, sizeof proving, "[i](a, b, n) { %s }", bodies[s]);
            snprintf(checking, sizeof checking, "[i](a, b, n) { n += 0; %s }", bodies[s]);
            uf_func *f = kernel("d[], d[], i", proving), *g = kernel("d[], d[], i", checking);
            if (planned)
                OK(uf_forall_plan(&plan, f, 1, SPACE(6), 3, LIST(UF_ARRAY(data, 6), UF_ARRAY(data, 6), UF_SCALAR(2)),
                                  NULL));
            for (size_t k = 0; k < COUNT(numbers); k++) {
                run_with(g, NULL, numbers[k], wanted);
                run_with(f, plan, numbers[k], got);
                if (memcmp(wanted, got, sizeof got))
                    fail_msg("%s with %d%s", bodies[s], numbers[k], planned ? ", of a plan" : "");
            }
            uf_plan_free(plan);
            uf_free(f);
            uf_free(g);
        }
}

/* Made for arrays that are not there yet. */
static void plans_without_data(void **state) {
    int16_t a[64] = {0};
    int64_t strides[] = {-2};
    int fits = -5, unfit = 40000;
    uf_plan *plan;
    (void)state;
    uf_func *f = kernel("h[], h", "[i](a, s) { a[i] = s + i; }");
    DLTensor t = UF_ARRAY((int16_t *)NULL, 20), scalar = UF_SCALAR(1);
    t.strides = strides;
    scalar.data = NULL;
    OK(uf_forall_plan(&plan, f, 1, SPACE(20), 2, LIST(t, scalar), NULL));
    OK(uf_plan_run(plan, (void *[]){a + 38, &fits}, NULL));
    for (int i = 0; i < 20; i++)
        assert_true(a[2 * i] == 14 - i && a[2 * i + 1] == 0);
    FAILS(UF_ERR_CAST, "argument 1: 40000 does not fit int16", uf_plan_run(plan, (void *[]){a + 38, &unfit}, NULL));
    assert_int_equal(a[0], 14);
    uf_plan_free(plan);
    uf_free(f);
}

/* Every address of one array and every distance between two: what was proved for some is not used for others. */
static void alignments(void **state) {
    enum {
        N = 67
    };
    static float block[4 * N];
    int one = 1;
    uf_plan *plan;
    (void)state;
    uf_func *f = kernel("f[], f[], f", "[i](a, b, s) { b[i] = a[i] + s; }");
    OK(uf_forall_plan(&plan, f, 1, SPACE(N), 3, LIST(UF_ARRAY(block, N), UF_ARRAY(block, N), UF_SCALAR(1)), NULL));
    for (int from = 0; from < 5; from++)
        for (int to = 2 * N; to < 2 * N + 5; to++)
            for (int way = 0; way < 2; way++) {
                for (int i = 0; i < 4 * N; i++)
                    block[i] = (float)i;
                if (way)
                    OK(uf_plan_run(plan, (void *[]){block + from, block + to, &one}, NULL));
                else
                    OK(uf_forall(f, 1, SPACE(N), 3,
                                 LIST(UF_ARRAY(block + from, N), UF_ARRAY(block + to, N), UF_SCALAR(1)), NULL));
                for (int i = 0; i < 4 * N; i++)
                    assert_true(block[i] == (float)(i >= to && i < to + N ? from + i - to + 1 : i));
            }
    uf_plan_free(plan);
    uf_free(f);
}

/* ---- What a launch would be ---- */

static void launches(void **state) {
    struct {
        uf_launch known;
        char tail[8];
    } longer = {.known = {.size = sizeof longer, .block = 9}, .tail = "tail"};
    static double a[100], b[100];
    const DLTensor args[] = {UF_ARRAY(a, 100), UF_ARRAY(b, 100), UF_SCALAR(2)};
    (void)state;
    OK(uf_launch_info(scale, 1, SPACE(100), 3, args, OPTIONS(.threads = 3), &longer.known));
    assert_true(longer.known.size == sizeof longer && longer.tail[0] == 0); /* what the library does not know is 0 */
    assert_true(longer.known.threads >= 1 && longer.known.threads <= 3);
    assert_true(longer.known.grid == 0 && longer.known.block == 0 && longer.known.registers == 0);
    /* An older struct: no more than it has room for. */
    uf_launch older = {.size = offsetof(uf_launch, elements), .elements = 77, .threads = 77};
    OK(uf_launch_info(scale, 1, SPACE(100), 3, args, NULL, &older));
    assert_true(older.elements == 77 && older.threads == 77 && older.size == offsetof(uf_launch, elements));
    assert_true(b[0] == 0);
    /* The code is there then: the launch that follows is that of the call. */
    OK(uf_forall(scale, 1, SPACE(100), 3, args, NULL));
}

/* ---- Threads ---- */

enum {
    WORKERS = 16
};

static uf_func *shared;
static pthread_barrier_t gate;

/* All call one kernel at once, first while nothing of it is compiled. */
static void *worker(void *unused) {
    double a[200], b[200];
    (void)unused;
    pthread_barrier_wait(&gate);
    for (int n = 1; n <= 200; n++) {
        for (int i = 0; i < n; i++)
            a[i] = i + n;
        if (uf_forall(shared, 1, &(int64_t){n}, 3, LIST(UF_ARRAY(a, n), UF_ARRAY(b, n), UF_SCALAR(n)), NULL))
            return "failed";
        for (int i = 0; i < n; i++)
            if (b[i] != (i + n) * n)
                return "wrong";
    }
    return NULL;
}

static void threads(void **state) {
    pthread_t thread[WORKERS];
    (void)state;
    shared = kernel("d[], d[], d; f[], f[], f", "[i](a, b, s) { auto twice = 2 * a[i]; b[i] = s * (twice - a[i]); }");
    pthread_barrier_init(&gate, NULL, WORKERS);
    for (int k = 0; k < WORKERS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, worker, NULL), 0);
    for (int k = 0; k < WORKERS; k++) {
        void *wrong;
        pthread_join(thread[k], &wrong);
        assert_null(wrong);
    }
    pthread_barrier_destroy(&gate);
    uf_free(shared);
}

/* ---- Looking ---- */

static void inspection(void **state) {
    static const struct {
        DLDevice device;
        uf_view view;
        const char *part;
    } views[] = {
        {{kDLCPU, 0}, UF_VIEW_TREE, "element"}, {{kDLCPU, 0}, UF_VIEW_IR, "define"},
        {{kDLCPU, 0}, UF_VIEW_ASSEMBLY, "ret"}, {{kDLCPU, 0}, UF_VIEW_RESOURCES, "bytes"},
        {{kDLCUDA, -90}, UF_VIEW_IR, "nvptx"},
    };
    char *shown;
    (void)state;
    uf_func *f = kernel("d[,], f[], i; f[,], d[], i", "[i, j](a, b, s) { a[i][j] += b[j] * s; }");
    for (size_t i = 0; i < COUNT(views); i++) {
        OK(uf_inspect(f, NULL, views[i].device, views[i].view, &shown));
        assert_non_null(strstr(shown, views[i].part));
        free(shown);
    }
    OK(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_TREE, &shown));
    assert_non_null(strstr(shown, "a float64[][]"));
    free(shown);
    OK(uf_inspect(f, "float32[,], d[],int32", (DLDevice){kDLCPU, 0}, UF_VIEW_TREE, &shown));
    assert_non_null(strstr(shown, "a float32[][]"));
    free(shown);
    FAILS(UF_ERR_SIGNATURE, "the parameter list asked for, float32[,], is not in its list",
          uf_inspect(f, "f[,]", (DLDevice){kDLCPU, 0}, UF_VIEW_TREE, &shown));
    FAILS(UF_ERR_SYNTAX, "unknown dtype", uf_inspect(f, "g[,]", (DLDevice){kDLCPU, 0}, UF_VIEW_TREE, &shown));
    assert_null(shown);
    uf_free(f);
}

/* ---- The variants that are asked for ---- */

/* A plan of a kernel over arrays that are made up, for a GPU. */
static void imagined(uf_plan *p, const uf_func *f) {
    const uf_options options = {.size = sizeof options};
    plan_request r = {.verb = &forall_verb, .func = f, .options = &options};
    call_args a;
    memset(&a.key, 0, sizeof a.key);
    a.engine = a.key.engine = ENGINE_CUDA;
    a.device = a.key.device = -90;
    OK(plan_imagine(p, &r, NULL, &a));
    OK(plan_imagine_arrays(p, &r, &a));
}

/* An index that is itself read from an array is read along the last index. */
static void uses_of_a_gather(void **state) {
    (void)state;
    uf_func *f = kernel("f[], i[], f[]", "[i](x, k, y) { y[i] = x[k[i]]; }");
    uf_plan p;
    imagined(&p, f);
    const uint16_t *use = p.binding->traits.use;
    assert_int_equal(use[0], USE_READ);
    assert_int_equal(use[1], USE_READ | USE_COALESCED);
    assert_true(use[2] & USE_COALESCED && use[2] & USE_WRITE);
    plan_end(&p);
    uf_free(f);
}

/* How arrays lie decides what code may take for granted. */
static void variants(void **state) {
    (void)state;
    uf_func *f = kernel("f[,], f[,]", "[i, j](a, b) { b[i][j] = a[i][j]; }");
    uf_plan p;
    imagined(&p, f);
    const variant *v = &p.pass[0].v;
    const uint16_t *use = p.binding->traits.use;
    assert_true(v->loop == LOOP_FORALL && v->ndim == 2 && v->nin == 2 && v->nout == 0 && v->forall.noalias &&
                v->forall.proved);
    for (int k = 0; k < 2; k++)
        assert_true(v->operand[k].unit == 2 && v->operand[k].kind == OPERAND_STRIDED &&
                    v->operand[k].memory == DT_FLOAT32 && v->operand[k].value == DT_FLOAT32);
    assert_true(use[0] == (USE_READ | (use[0] & USE_COALESCED)) && use[1] & USE_WRITE);
    plan_end(&p);
    uf_free(f);
}

/* ---- Against the mock driver ---- */

static bool have_toolkit;

static DLTensor on_device(uintptr_t address, dtype type, int ndim, int64_t *shape, int64_t *strides) {
    return (DLTensor){.data = (void *)address,
                      .device = {kDLCUDA, 0},
                      .ndim = ndim,
                      .dtype = dtypes[type].dl,
                      .shape = shape,
                      .strides = strides};
}

/* Does the launch have this word? Where is the engine's. */
static bool has_word(const mock_launch *l, uint64_t word) {
    for (size_t i = 0; i < l->bytes / 8; i++)
        if (l->words[i] == word)
            return true;
    return false;
}

static void launch_body(void *unused) {
    int64_t shape[] = {300, 200}, strides[] = {1003, -1};
    int before, after;
    uf_func *f;
    uf_plan *plan;
    (void)unused;
    CHECK(!uf_kernel(&f, "k", "f[,], d, f[,]", "[i, j](a, s, b) { if (i > 0) b[i][j] = a[i-1][j] * s; }"));
    DLTensor args[] = {on_device(0x100000000, DT_FLOAT32, 2, shape, NULL), UF_SCALAR(2.5),
                       on_device(0x200000000, DT_FLOAT32, 2, shape, strides)};
    mock->launch(&before);
    for (int again = 0; again < 2; again++)
        CHECK(!uf_forall(f, 2, shape, 3, args, OPTIONS(.stream = (void *)0x99)));
    const mock_launch *l = mock->launch(&after);
    double factor = 2.5;
    uint64_t word;
    memcpy(&word, &factor, sizeof word);
    CHECK(after == before + 2 && l->stream == (void *)0x99 && mock->live().depth == 0 && mock->mode() == 0);
    CHECK(l->words[0] == 0x100000000 && l->words[1] == word && l->words[2] == 0x200000000);
    CHECK(has_word(l, 300) && has_word(l, 200) && has_word(l, 1003) && has_word(l, (uint64_t)-1));
    /* Captured: nothing but the launch, from the call and from a plan. */
    CHECK(!uf_forall_plan(&plan, f, 2, shape, 3, args, OPTIONS(.stream = (void *)0x99)));
    mock->capture(1);
    int allocations = mock->live().allocations;
    for (int again = 0; again < 2; again++) {
        CHECK(!uf_forall(f, 2, shape, 3, args, OPTIONS(.stream = (void *)0x99)));
        CHECK(!uf_plan_run(plan, (void *[]){(void *)0x300000000, &factor, (void *)0x400000000}, (void *)0x77));
    }
    mock->capture(0);
    l = mock->launch(&before);
    CHECK(before == after + 4 && l->stream == (void *)0x77 && l->words[0] == 0x300000000);
    CHECK(mock->live().allocations == allocations && mock->count("cuStreamSynchronize") == 0);
    /* Blocks that were asked for, and the widest that there are. */
    for (unsigned block = 32; block <= 1024; block *= 2) {
        CHECK(!uf_forall(f, 2, shape, 3, args, OPTIONS(.block = (int)block)));
        CHECK(mock->launch(&after)->threads == block);
    }
    uf_plan_free(plan);
    uf_free(f);
}

/* A plan runs other code where addresses are not like those it was made for; each is compiled once. */
static void addresses_body(void *unused) {
    int64_t shape[] = {1 << 20};
    uf_func *f;
    uf_plan *plan;
    (void)unused;
    CHECK(!uf_kernel(&f, "k", "f[], f[]", "[i](a, b) { b[i] = 2 * a[i]; }"));
    DLTensor args[] = {on_device(0x100000000, DT_FLOAT32, 1, shape, NULL),
                       on_device(0x200000000, DT_FLOAT32, 1, shape, NULL)};
    void *const aligned[] = {(void *)0x300000000, (void *)0x400000000},
                *const odd[] = {(void *)0x300000004, aligned[1]}, *const near[] = {aligned[0], (void *)0x3003ffffc},
                *const behind[] = {aligned[0], (void *)0x300400000};
    void *const *const data[] = {aligned, odd, near, behind};
    static const int compiled[] = {1, 2, 3, 3};
    args[0].data = args[1].data = NULL;
    CHECK(!uf_forall_plan(&plan, f, 1, shape, 2, args, NULL));
    CHECK(mock->count("cuLibraryLoadData") == 1);
    for (int i = 0; i < 4; i++)
        for (int again = 0; again < 2; again++) {
            int n;
            CHECK(!uf_plan_run(plan, data[i], NULL));
            const mock_launch *l = mock->launch(&n);
            CHECK(l->words[0] == (uintptr_t)data[i][0] && l->words[1] == (uintptr_t)data[i][1]);
            CHECK(mock->count("cuLibraryLoadData") == compiled[i]);
        }
    uf_plan_free(plan);
    uf_free(f);
}

/* What is told is what a launch is; nothing is launched for it. */
static void info_body(void *unused) {
    int64_t shape[] = {700, 900};
    int before, after;
    uf_func *f;
    (void)unused;
    CHECK(!uf_kernel(&f, "k", "f[,], d, f[,]", "[i, j](a, s, b) { b[i][j] = a[i][j] * s; }"));
    DLTensor args[] = {on_device(0x100000000, DT_FLOAT32, 2, shape, NULL), UF_SCALAR(2),
                       on_device(0x200000000, DT_FLOAT32, 2, shape, NULL)};
    for (int block = 0; block <= 1024; block = block ? 2 * block : 32)
        for (int elements = 0; elements <= 16; elements = elements ? 2 * elements : 1) {
            const uf_options *o = OPTIONS(.block = block, .elements = elements);
            uf_launch info = {.size = sizeof info};
            mock->launch(&before);
            CHECK(!uf_launch_info(f, 2, shape, 3, args, o, &info));
            mock->launch(&after);
            CHECK(after == before);
            CHECK(!uf_forall(f, 2, shape, 3, args, o));
            const mock_launch *l = mock->launch(&after);
            CHECK(after == before + 1 && info.grid == l->blocks && info.block == (int)l->threads);
            CHECK(info.vector >= 1 && info.elements % info.vector == 0 && info.threads == 0);
            CHECK(!block || info.block == block);
            CHECK(!elements || info.elements == elements);
            CHECK(info.grid * info.block * info.elements >= shape[0] * shape[1]);
        }
    uf_free(f);
}

/* A window by loops: a thread takes several rows, which share what they read. An array across the space: threads stand in two
 * dimensions. Where it overlaps the other one, or is not aligned, they do not. */
static void info_of_windows_body(void *unused) {
    int64_t shape[] = {512, 1024}, turned[] = {1024, 512}, wide[] = {512, 4096};
    uf_func *window, *turn;
    uf_launch info = {.size = sizeof info};
    (void)unused;
    CHECK(!uf_kernel(&window, "w", "f[,], f[,]",
                     "[i : n, j : m](a, b) { float s = 0; if (i > 1 && i < n - 2 && j > 1 && j < m - 2) for (int y = "
                     "-2; y < 3; y++) "
                     "for (int x = -2; x < 3; x++) s += a[i + y][j + x]; b[i][j] = s; }"));
    CHECK(!uf_kernel(&turn, "t", "f[,], f[,]", "[i, j](a, b) { b[j][i] = a[i][j]; }"));
    DLTensor a = on_device(0x100000000, DT_FLOAT32, 2, shape, NULL),
             b = on_device(0x200000000, DT_FLOAT32, 2, shape, NULL),
             across = on_device(0x200000000, DT_FLOAT32, 2, turned, NULL),
             over = on_device(0x100000000, DT_FLOAT32, 2, turned, NULL),
             wide_a = on_device(0x100000000, DT_FLOAT32, 2, wide, NULL),
             wide_b = on_device(0x200000000, DT_FLOAT32, 2, wide, NULL),
             crooked = on_device(0x200000004, DT_FLOAT32, 2, turned, NULL);
    CHECK(!uf_launch_info(window, 2, shape, 2, (DLTensor[]){a, b}, NULL, &info));
    CHECK(info.vector == 4 && info.elements == 16 && info.across == 8); /* a row is short: few warps have a border */
    CHECK(!uf_launch_info(window, 2, wide, 2, (DLTensor[]){wide_a, wide_b}, NULL, &info));
    CHECK(info.vector == 4 && info.elements == 16 && !info.across);
    CHECK(!uf_launch_info(turn, 2, shape, 2, (DLTensor[]){a, across}, NULL, &info));
    CHECK(info.vector == 4 && info.elements == 16 && info.across == 8);
    CHECK(!uf_launch_info(turn, 2, shape, 2, (DLTensor[]){a, over}, NULL, &info));
    CHECK(!info.across);
    CHECK(!uf_launch_info(turn, 2, shape, 2, (DLTensor[]){a, crooked}, NULL, &info));
    CHECK(!info.across);
    uf_free(window);
    uf_free(turn);
}

/* Numbers never decide where it runs, an array of rank 0 in device memory is no number, managed memory goes along. */
static void places_body(void *unused) {
    int64_t shape[] = {100};
    uf_func *f;
    int before, after;
    (void)unused;
    CHECK(!uf_kernel(&f, "k", "d[], d[], d", "[i](a, b, s) { b[i] = s * a[i]; }"));
    DLTensor device = on_device(0x100000000, DT_FLOAT64, 1, shape, NULL), managed = device, scalar = device;
    managed.device = (DLDevice){kDLCUDAManaged, 0};
    scalar.ndim = 0;
    mock->launch(&before);
    CHECK(!uf_forall(f, 1, shape, 3, LIST(device, managed, UF_SCALAR(1)), NULL));
    CHECK(!uf_forall(f, 1, shape, 3, LIST(managed, managed, UF_SCALAR(1)), NULL));
    mock->launch(&after);
    CHECK(after == before + 2);
    CHECK_FAILS(uf_forall(f, 1, shape, 3, LIST(device, device, scalar), NULL), UF_ERR_SIGNATURE,
                "argument 2 is float64 of rank 0, which is not a number: float64");
    CHECK_FAILS(uf_forall(f, 1, shape, 3, LIST(device, UF_ARRAY((double *)0x1000, 100), UF_SCALAR(1)), NULL),
                UF_ERR_DEVICE, "argument 1: is in host memory");
    device.device.device_id = 99;
    CHECK_FAILS(uf_forall(f, 1, shape, 3, LIST(device, device, UF_SCALAR(1)), NULL), UF_ERR_DEVICE, "99");
    uf_free(f);
}

/* Every driver call of a first launch fails in turn; then it works. */
static void failures_body(void *unused) {
    int64_t shape[] = {100};
    DLTensor args[] = {on_device(0x100000000, DT_FLOAT64, 1, shape, NULL)};
    int n = 0, before, after;
    uf_status s;
    (void)unused;
    do {
        uf_func *f;
        char source[64];
        snprintf(source, sizeof source, "[i](a) { a[i] = %d; }", n); /* compiled anew */
        CHECK(!uf_kernel(&f, "k", "d[]", source));
        mock->launch(&before);
        mock->fail_at(++n, 1);
        s = uf_forall(f, 1, shape, 1, args, NULL);
        bool failed = mock->failed() != NULL;
        mock->fail_at(0, 0);
        mock->launch(&after);
        CHECK(n < 200 && (s || after == before + 1) && (!s || failed) && mock->live().depth == 0);
        CHECK(!s || s == UF_ERR_DEVICE || s == UF_ERR_LIBRARY || s == UF_ERR_COMPILE || s == UF_ERR_MEMORY);
        CHECK(!uf_forall(f, 1, shape, 1, args, NULL));
        uf_free(f);
        if (!failed)
            break;
    } while (true);
    CHECK(n > 3);
}

static void toolkit_body(void *unused) {
    (void)unused;
    int64_t shape[] = {1};
    uf_func *f;
    CHECK(!uf_kernel(&f, "k", "d[]", "[i](a) { a[i] = 1; }"));
    DLTensor a = on_device(0x100000000, DT_FLOAT64, 1, shape, NULL);
    uf_status s = uf_forall(f, 1, shape, 1, &a, NULL);
    uf_free(f);
    if (s == UF_ERR_LIBRARY)
        _exit(77);
    CHECK(!s);
}

static void on_the_mock(void **state) {
    (void)state;
    assert_true(mock_find());
    int status = child_status(toolkit_body, NULL);
    have_toolkit = status == 0;
    assert_true(status == 0 || status == 77);
    if (!have_toolkit)
        skip();
    in_child(launch_body, NULL);
    in_child(addresses_body, NULL);
    in_child(info_body, NULL);
    in_child(info_of_windows_body, NULL);
    in_child(places_body, NULL);
    in_child(failures_body, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat),
        cmocka_unit_test(windows),
        cmocka_unit_test(windows_to_the_bit),
        cmocka_unit_test(extents_that_count),
        cmocka_unit_test(combinations),
        cmocka_unit_test(beyond),
        cmocka_unit_test(any_strides),
        cmocka_unit_test(overlapping_arrays),
        cmocka_unit_test(eight_dimensions),
        cmocka_unit_test(no_points),
        cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_that_fit),
        cmocka_unit_test(lists),
        cmocka_unit_test(ranks_in_the_key),
        cmocka_unit_test(patterns),
        cmocka_unit_test(registration),
        cmocka_unit_test(definitions),
        cmocka_unit_test(other_verbs),
        cmocka_unit_test(arguments),
        cmocka_unit_test(spaces),
        cmocka_unit_test(bad_arrays),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(overlap_of_itself),
        cmocka_unit_test(options),
        cmocka_unit_test(plans),
        cmocka_unit_test(numbers_that_bound),
        cmocka_unit_test(plans_without_data),
        cmocka_unit_test(alignments),
        cmocka_unit_test(launches),
        cmocka_unit_test(threads),
        cmocka_unit_test(inspection),
        cmocka_unit_test(uses_of_a_gather),
        cmocka_unit_test(variants),
        cmocka_unit_test(on_the_mock),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
