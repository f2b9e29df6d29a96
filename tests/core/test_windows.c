/* test_windows.c - generalized ufuncs whose inner calls go over windows of their inputs, which run as kernels over indices in large arrays:
 * random shapes, strides, broadcasts and window sizes against plain loops, to the bit where the text has loops; overlaps, plans on
 * other addresses, and which kernels are such. On the CPU, and with UF_TEST_GPU=1 in managed memory on a GPU. */
#include <math.h>
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

enum {
    RANK = 4,
    ROOM = 1 << 18 /* elements of an array, at most */
};

static DLDevice device = {kDLCPU, 0};

typedef struct window_kernel {
    const char *name, *layout, *source;
    int core;    /* dimensions of a window */
    int from;    /* the window begins at the point less this, */
    int edge;    /* and an index out of range stands for 0, or for the nearest element */
    bool turned; /* results lie the other way round */
    bool scaled; /* a third input, a number a call */
} window_kernel;

enum {
    ZERO,
    NEAREST
};

#define TERM "x[i + a - 1] * w[a]"
static const window_kernel kernels[] = {
    {"rows", "(n),(k)->(n)", "(x, w) -> (y) { forall (i : n) y[i] = sum(a : k, " TERM "); }", 1, 1, ZERO, false, false},
    {"loops", "(n),(k)->(n)",
     "(x, w) -> (y) { forall (i : n) { auto s = 0.0; for (int64 a = 0; a < k; a++) s += " TERM "; y[i] = s; } }", 1, 1,
     ZERO, false, false},
    {"scaled", "(n),(k),()->(n)", "(x, w, c) -> (y) { forall (i : n) y[i] = c * sum(a : k, " TERM "); }", 1, 1, ZERO,
     false, true},
    {"clamped", "(n),(k)->(n)",
     "(x, w) -> (y) { forall (i : n) y[i] = sum(a : k, x[clamp(i + a - 1, 0, n - 1)] * w[a]); }", 1, 1, NEAREST, false,
     false},
    {"images", "(m,n),(k,l)->(m,n)",
     "(x, w) -> (y) { forall (i : m, j : n) y[i][j] = sum(a : k, b : l, x[i + a - 2][j + b - 2] * w[a][b]); }", 2, 2,
     ZERO, false, false},
    {"turned_images", "(m,n),(k,l)->(n,m)",
     "(x, w) -> (y) { forall (i : m, j : n) y[j][i] = sum(a : k, b : l, x[i + a - 1][j + b - 1] * w[a][b]); }", 2, 1,
     ZERO, true, false},
};

/* ---- Arrays in memory of the device ---- */

typedef struct field {
    DLManagedTensor *memory;
    DLTensor array;
    int64_t shape[RANK + 2], strides[RANK + 2];
    double *at; /* element 0 */
} field;

static void field_make(field *x, int ndim, const int64_t *shape, bool plain) {
    int64_t step = 1, lowest = 0, room = ROOM;
    OK(uf_empty(&x->memory, device.device_type == kDLCPU ? device : (DLDevice){kDLCUDAManaged, 0},
                (DLDataType){kDLFloat, 64, 1}, 1, &room));
    for (int d = ndim - 1; d >= 0; d--) {
        bool back = !plain && chance(15);
        x->shape[d] = shape[d];
        x->strides[d] = back ? -step : step;
        lowest += back ? step * (shape[d] - 1) : 0;
        step = step * shape[d] + (plain ? 0 : pick(0, 2));
    }
    assert_true(step + 2 < ROOM); /* the elements span no more, whichever way they go */
    double *base = x->memory->dl_tensor.data;
    for (int64_t i = 0; i < ROOM; i++)
        base[i] = (double)pick(-50, 50) / 7;
    x->at = base + lowest + (plain ? 0 : pick(0, 1));
    x->array = (DLTensor){.data = x->at,
                          .device = x->memory->dl_tensor.device,
                          .ndim = ndim,
                          .dtype = {kDLFloat, 64, 1},
                          .shape = x->shape,
                          .strides = x->strides};
}

static void field_free(field *x) { x->memory->deleter(x->memory); }

static double value(const field *x, const int64_t *index) {
    const double *at = x->at;
    for (int d = 0; d < x->array.ndim; d++)
        at += (x->shape[d] == 1 ? 0 : index[d]) * x->strides[d];
    return *at;
}

/* ---- What should come out ---- */

/* The element of x at loop index `loop` and core index `at`, with the borders that the kernel has. */
static double input(const window_kernel *k, const field *x, int loops, const int64_t *loop, const int64_t *at) {
    int64_t index[RANK + 2];
    memcpy(index, loop, (size_t)loops * sizeof *index);
    for (int d = 0; d < k->core; d++) {
        int64_t n = x->shape[loops + d], i = at[d];
        if (k->edge == ZERO && (i < 0 || i >= n))
            return 0;
        index[loops + d] = i < 0 ? 0 : i >= n ? n - 1 : i;
    }
    return value(x, index);
}

static double expected(const window_kernel *k, const field *x, const field *w, int loops, const int64_t *loop,
                       const int64_t *point) {
    double sum = 0;
    int64_t rows = w->shape[loops], columns = k->core > 1 ? w->shape[loops + 1] : 1;
    for (int64_t a = 0; a < rows; a++)
        for (int64_t b = 0; b < columns; b++) {
            int64_t index[RANK + 2], at[2] = {point[0] + a - k->from, k->core > 1 ? point[1] + b - k->from : 0};
            memcpy(index, loop, (size_t)loops * sizeof *index);
            index[loops] = a;
            index[loops + 1] = b;
            sum += input(k, x, loops, loop, at) * value(w, index);
        }
    return sum;
}

typedef struct window_call {
    const window_kernel *k;
    field x, w, c, y;
    int loops, narrays;
    int64_t extent[RANK];
} window_call;

static void compare(const window_call *s) {
    int64_t count = 1, inner[2] = {s->x.shape[s->loops], s->k->core > 1 ? s->x.shape[s->loops + 1] : 1};
    for (int d = 0; d < s->loops; d++)
        count *= s->extent[d];
    for (int64_t p = 0; p < count; p++) {
        int64_t loop[RANK], rest = p;
        for (int d = s->loops - 1; d >= 0; d--, rest /= s->extent[d + 1])
            loop[d] = rest % s->extent[d];
        for (int64_t q = 0; q < inner[0] * inner[1]; q++) {
            int64_t point[2] = {q / inner[1], q % inner[1]}, index[RANK + 2];
            memcpy(index, loop, (size_t)s->loops * sizeof *index);
            index[s->loops] = point[s->k->turned];
            index[s->loops + 1] = point[!s->k->turned];
            double want = expected(s->k, &s->x, &s->w, s->loops, loop, point), got = value(&s->y, index);
            want *= s->k->scaled ? value(&s->c, loop) : 1;
            if (fabs(got - want) > 1e-12 * (1 + fabs(want)) || (!strcmp(s->k->name, "loops") && got != want))
                fail_msg("%s, call %lld, point %lld: %.17g, not %.17g", s->k->name, (long long)p, (long long)q, got,
                         want);
        }
    }
}

/* ---- Random calls ---- */

static int extents_of(int64_t *shape, int loops, const int64_t *loop, bool broadcast, int core, int64_t least,
                      int64_t most) {
    for (int d = 0; d < loops; d++)
        shape[d] = broadcast && chance(50) ? 1 : loop[d];
    for (int d = 0; d < core; d++)
        shape[loops + d] = pick(least, most);
    return loops + core;
}

static void call_draw(window_call *s, const window_kernel *k) {
    int64_t shape[RANK + 2];
    bool plain = chance(40), rows = k->core == 1;
    *s = (window_call){.k = k, .loops = (int)pick(0, rows ? 3 : 2), .narrays = 3 + k->scaled};
    for (int d = 0; d < s->loops; d++)
        s->extent[d] = pick(1, rows ? 9 : 3);
    int ndim = extents_of(shape, s->loops, s->extent, false, k->core, rows ? 20 : 30, rows ? 300 : 90);
    field_make(&s->x, ndim, shape, plain);
    for (int d = 0; d < k->core && k->turned; d++)
        shape[s->loops + d] = s->x.shape[s->loops + 1 - d];
    field_make(&s->y, ndim, shape, plain);
    ndim = extents_of(shape, s->loops, s->extent, true, k->core, 1, rows ? 40 : 9);
    field_make(&s->w, ndim, shape, plain);
    ndim = extents_of(shape, s->loops, s->extent, true, 0, 0, 0);
    field_make(&s->c, ndim, shape, plain);
}

static void arguments_of(const window_call *s, DLTensor *args) {
    args[0] = s->x.array;
    args[1] = s->w.array;
    args[2] = s->k->scaled ? s->c.array : s->y.array;
    args[3] = s->y.array;
}

static void call_free(window_call *s) {
    field_free(&s->x);
    field_free(&s->w);
    field_free(&s->c);
    field_free(&s->y);
}

static uf_func *function_of(const window_kernel *k) {
    uf_func *f;
    OK(uf_guvectorize(&f, k->name, k->layout, k->scaled ? "ddd->d" : "dd->d", k->source));
    return f;
}

static void random_calls(void **state) {
    int as_points = 0;
    uf_func *f[COUNT(kernels)];
    (void)state;
    for (size_t i = 0; i < COUNT(kernels); i++)
        f[i] = function_of(&kernels[i]);
    for (int64_t i = 0, n = trials(4 * COUNT(kernels)); i < n; i++) {
        window_call s;
        DLTensor args[4];
        uf_plan *p;
        call_draw(&s, &kernels[i % (int64_t)COUNT(kernels)]);
        arguments_of(&s, args);
        OK(uf_call(f[i % (int64_t)COUNT(kernels)], s.narrays, args, NULL));
        OK(uf_sync(args[0].device, NULL));
        compare(&s);
        OK(uf_plan_new(&p, f[i % (int64_t)COUNT(kernels)], s.narrays, args, NULL));
        as_points += p->windows != NULL;
        uf_plan_free(p);
        call_free(&s);
    }
    for (size_t i = 0; i < COUNT(kernels); i++)
        uf_free(f[i]);
    print_message("%d as kernels over indices\n", as_points);
    assert_true(as_points);
}

/* ---- Addresses ---- */

/* Results in place of what is read, and behind it: what overlaps is copied. A plan runs on addresses that are not aligned as its own. */
static void addresses(void **state) {
    enum {
        ROWS = 40,
        N = 128,
        K = 5
    };
    const window_kernel *k = &kernels[1];
    uf_func *f = function_of(k);
    int64_t shape[] = {ROWS, N};
    window_call s = {.k = k, .loops = 1, .extent = {ROWS}};
    uf_plan *p;
    (void)state;
    field_make(&s.x, 2, shape, true);
    field_make(&s.y, 2, shape, true);
    field_make(&s.w, 2, (int64_t[]){ROWS, K}, true);
    s.w.strides[0] = 0;
    DLTensor args[] = {s.x.array, s.w.array, s.y.array};
    DLTensor unknown[] = {args[0], args[1], args[2]};
    for (int a = 0; a < 3; a++)
        unknown[a].data = NULL;
    OK(uf_plan_new(&p, f, 3, unknown, NULL));
    assert_non_null(p->windows);
    for (int shift = 0; shift < 3; shift++) {
        s.x.at += shift;
        s.y.at += 2 * shift;
        OK(uf_plan_run(p, (void *[]){s.x.at, s.w.at, s.y.at}, NULL));
        OK(uf_sync(args[0].device, NULL));
        compare(&s);
    }
    for (int ahead = 0; ahead < 2 * N; ahead += N - 3) {
        double *copy = malloc(ROOM * sizeof *copy);
        field before = s.x;
        memcpy(copy, s.x.memory->dl_tensor.data, ROOM * sizeof *copy);
        before.at = copy + (s.x.at - (double *)s.x.memory->dl_tensor.data);
        DLTensor in_place[] = {args[0], args[1], args[0]};
        in_place[0].data = s.x.at;
        in_place[2].data = s.x.at + ahead;
        OK(uf_call(f, 3, in_place, NULL));
        OK(uf_sync(args[0].device, NULL));
        window_call r = {.k = k, .loops = 1, .extent = {ROWS}, .x = before, .w = s.w, .y = s.x};
        r.y.at = s.x.at + ahead;
        compare(&r);
        free(copy);
    }
    uf_plan_free(p);
    field_free(&s.x);
    field_free(&s.y);
    field_free(&s.w);
    uf_free(f);
}

/* ---- Which ---- */

static void which(void **state) {
    static const struct {
        const char *layout, *signature, *source;
        int64_t rows, n;
        bool points;
    } cases[] = {
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[i] = x[i] - x[i - 1]; }", 64, 64, true},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[i] = x[i] - x[i - 1]; }", 1, 63, false},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[i] = x[n - 1 - i]; }", 8, 1024, true},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[i] = 2 * x[i]; }", 64, 1024, false},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[n - 1 - i] = x[i - 1]; }", 64, 1024, false},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[i] = i ? x[i] + y[i - 1] : x[0]; }", 64, 1024, false},
        {"(n)->(n)", "d->d", "(x) -> (y) { auto m = max(k : n, x[k]); forall (i : n) y[i] = x[i - 1] - m; }", 64, 1024,
         false},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) y[i] = sum(k : i, x[i - k]); }", 64, 1024, false},
        {"(n)->(n),()", "d->dd", "(x) -> (y, z) { forall (i : n) y[i] = x[i - 1]; z = x[0]; }", 64, 1024, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uf_func *f;
        uf_plan *p;
        double x[1] = {0};
        DLTensor a = UF_ARRAY(x, cases[i].rows, cases[i].n), z = UF_ARRAY(x, cases[i].rows);
        a.data = z.data = NULL;
        OK(uf_guvectorize(&f, "k", cases[i].layout, cases[i].signature, cases[i].source));
        OK(uf_plan_new(&p, f, f->nin + f->nout, (DLTensor[]){a, a, z}, NULL));
        if ((p->windows != NULL) != cases[i].points)
            fail_msg("%s", cases[i].source);
        uf_plan_free(p);
        uf_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls),
        cmocka_unit_test(addresses),
        cmocka_unit_test(which),
    };
    int failed = cmocka_run_group_tests_name("cpu", tests, draw_seed, NULL);
    if (getenv("UF_TEST_GPU") && !failed) {
        device.device_type = kDLCUDA;
        failed = cmocka_run_group_tests_name("gpu", tests, draw_seed, NULL);
    }
    return failed;
}
