/* test_cpu_fold.c - reductions on the CPU: kernels compiled from folds, launched over random loops, against plain loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "draw.h"
#include "failing.h"
#include "ir/ir.h"
#include "ir/reduce/fold.h"
#include "ir_check.h"
#include "lang_try.h"

#undef fail /* base.h's */
#include <cmocka.h>

enum {
    DIMS = 3,
    CANARY = 0x5a
};

/* ---- Folds ---- */

/* The elements of a result in order, as the oracle sees them. */
typedef struct line {
    int64_t n;
    const double *x[2];
    const int64_t *position;
    const double *initial; /* NULL: none */
} line;

typedef struct recipe {
    const char *name, *map, *combine, *finish, *identity;
    int nin, nstate, nout;
    dtype memory[2], in[2], state[UF_MAX_STATE], out[UF_MAX_STATE];
    fold_order order;
    bool position, takes_count;
    int64_t low, high; /* what elements are drawn from */
    double bound;      /* relative error; 0: exact */
    void (*naive)(const line *l, double *out);
} recipe;

static void naive_sum(const line *l, double *out) {
    out[0] = l->initial ? l->initial[0] : 0;
    for (int64_t i = 0; i < l->n; i++)
        out[0] += l->x[0][i];
}

static void naive_max(const line *l, double *out) {
    out[0] = l->initial ? l->initial[0] : -INFINITY;
    for (int64_t i = 0; i < l->n; i++)
        out[0] = l->x[0][i] > out[0] ? l->x[0][i] : out[0];
}

/* The first of the largest; what is at a negative position counts as none, or not. */
static void first_largest(const line *l, double *out, bool negative_counts) {
    out[0] = l->initial ? l->initial[0] : -INFINITY;
    out[1] = l->initial ? l->initial[1] : -1;
    bool some = l->initial && (negative_counts || out[1] >= 0);
    for (int64_t i = 0; i < l->n; i++, some = true) {
        bool better = l->x[0][i] > out[0] || (l->x[0][i] == out[0] && (double)l->position[i] < out[1]);
        if (better || !some) {
            out[0] = l->x[0][i];
            out[1] = (double)l->position[i];
        }
    }
}

static void naive_argmax(const line *l, double *out) { first_largest(l, out, false); }

static void naive_first_largest(const line *l, double *out) { first_largest(l, out, true); }

static void naive_variance(const line *l, double *out) {
    long double sum = 0, squares = 0;
    for (int64_t i = 0; i < l->n; i++)
        sum += l->x[0][i];
    for (int64_t i = 0; i < l->n; i++)
        squares += (l->x[0][i] - sum / l->n) * (l->x[0][i] - sum / l->n);
    out[0] = l->n ? (double)(sum / l->n) : 0;
    out[1] = (double)squares;
}

enum {
    PRIME = 65521
};

/* Compositions of maps t -> a t + b modulo a prime. */
static void naive_affine(const line *l, double *out) {
    int64_t a = l->initial ? (int64_t)l->initial[0] : 1, b = l->initial ? (int64_t)l->initial[1] : 0;
    for (int64_t i = 0; i < l->n; i++) {
        b = ((int64_t)l->x[0][i] * b + (int64_t)l->x[1][i]) % PRIME;
        a = a * (int64_t)l->x[0][i] % PRIME;
    }
    out[0] = (double)a;
    out[1] = (double)b;
}

/* The first of the elements that there are is the left end. */
static void naive_last(const line *l, double *out) {
    out[0] = l->initial ? l->initial[0] : -1;
    for (int64_t i = 0; i < l->n; i++)
        out[0] = l->x[0][i];
}

static void naive_subtract(const line *l, double *out) {
    int64_t i = !l->initial;
    out[0] = l->initial ? l->initial[0] : l->n ? l->x[0][0] : 0;
    for (; i < l->n; i++)
        out[0] = 3 * out[0] - l->x[0][i] - 1e6 * floor((3 * out[0] - l->x[0][i]) / 1e6);
}

static void naive_dot(const line *l, double *out) {
    out[0] = l->initial ? l->initial[0] : 0;
    for (int64_t i = 0; i < l->n; i++)
        out[0] += l->x[0][i] * l->x[1][i];
}

static void naive_mean(const line *l, double *out) {
    naive_sum(l, out);
    out[0] = l->n ? out[0] / (double)l->n : 0;
}

static void naive_all(const line *l, double *out) {
    out[0] = l->initial ? l->initial[0] != 0 : 1;
    for (int64_t i = 0; i < l->n; i++)
        out[0] = out[0] != 0 && l->x[0][i] != 0;
}

static void naive_collatz(const line *l, double *out) {
    out[0] = l->initial ? l->initial[0] : 0;
    for (int64_t i = 0; i < l->n; i++) {
        int64_t x = (int64_t)l->x[0][i], steps = 0;
        for (; x > 1; steps++)
            x = x % 2 ? 3 * x + 1 : x / 2;
        out[0] += (double)steps;
    }
}

/* clang-format off */
#define SUM(name, memory, type, state) \
    {name, NULL, "(a, b) { return a + b; }", NULL, "() { return 0; }", 1, 1, 1, {memory}, {type}, {state}, {state}, \
     FOLD_FREE, false, false, -5, 5, 0, naive_sum}

static const recipe recipes[] = {
    SUM("sum", DT_FLOAT32, DT_FLOAT32, DT_FLOAT32),
    SUM("sum f64", DT_FLOAT64, DT_FLOAT64, DT_FLOAT64),
    SUM("sum i8", DT_INT8, DT_INT8, DT_INT64),
    SUM("sum f16", DT_FLOAT16, DT_FLOAT16, DT_FLOAT32),
    SUM("sum bf16", DT_BFLOAT16, DT_BFLOAT16, DT_FLOAT32),
    SUM("sum u16", DT_INT16, DT_INT32, DT_INT32),
    SUM("sum c64", DT_COMPLEX64, DT_COMPLEX64, DT_COMPLEX64),
    SUM("sum c128", DT_COMPLEX64, DT_COMPLEX128, DT_COMPLEX128),
    {"max", NULL, "(a, b) { return a > b ? a : b; }", NULL, NULL, 1, 1, 1, {DT_FLOAT32}, {DT_FLOAT32}, {DT_FLOAT32},
     {DT_FLOAT32}, FOLD_FREE, false, false, -1000, 1000, 0, naive_max},
    {"argmax", "[k](x) -> (v, i) { v = x; i = k; }",
     "(a, i, b, j) -> (c, k) { bool left = j < 0 || (i >= 0 && (a > b || (a == b && i < j))); c = left ? a : b; k = left ? i : j; }",
     NULL, NULL, 1, 2, 2, {DT_FLOAT32}, {DT_FLOAT32}, {DT_FLOAT32, DT_INT64}, {DT_FLOAT32, DT_INT64}, FOLD_FREE, true,
     false, -50, 50, 0, naive_argmax},
    {"first largest", "[k](x) -> (v, i) { v = x; i = k; }",
     "(a, i, b, j) -> (c, k) { bool left = i < j ? a >= b || a != a : !(b >= a || b != b); c = left ? a : b; k = left ? i : j; }",
     NULL, NULL, 1, 2, 2, {DT_FLOAT32}, {DT_FLOAT32}, {DT_FLOAT32, DT_INT64}, {DT_FLOAT32, DT_INT64}, FOLD_FREE, true,
     false, -50, 50, 0, naive_first_largest},
    {"first largest i8", "[k](x) -> (v, i) { v = x; i = k; }",
     "(a, i, b, j) -> (c, k) { bool left = i < j ? a >= b : !(b >= a); c = left ? a : b; k = left ? i : j; }",
     NULL, NULL, 1, 2, 2, {DT_INT8}, {DT_INT8}, {DT_INT8, DT_INT64}, {DT_INT8, DT_INT64}, FOLD_FREE, true, false, -128,
     127, 0, naive_first_largest},
    {"variance", "(x) -> (m, s, n) { m = x; s = 0; n = 1; }",
     "(a, s, n, b, t, m) -> (c, u, k) { k = n + m; auto d = b - a; auto w = k > 0 ? m / k : 0; c = a + d * w; u = s + t + d * d * n * w; }",
     "(m, s, n) -> (r, q) { r = m; q = s; }", "() -> (m, s, n) { m = 0; s = 0; n = 0; }", 1, 3, 2, {DT_FLOAT32},
     {DT_FLOAT64}, {DT_FLOAT64, DT_FLOAT64, DT_FLOAT64}, {DT_FLOAT64, DT_FLOAT64}, FOLD_FREE, false, false, -100, 100,
     1e-12, naive_variance},
    {"affine", NULL, "(a, b, c, d) -> (e, f) { e = a * c % 65521; f = (c * b + d) % 65521; }", NULL,
     "() -> (a, b) { a = 1; b = 0; }", 2, 2, 2, {DT_INT32, DT_INT32}, {DT_INT64, DT_INT64}, {DT_INT64, DT_INT64},
     {DT_INT64, DT_INT64}, FOLD_ORDERED, false, false, 1, 65520, 0, naive_affine},
    {"last", NULL, "(a, b) { return b; }", NULL, NULL, 1, 1, 1, {DT_INT64}, {DT_INT64}, {DT_INT64}, {DT_INT64},
     FOLD_ORDERED, false, false, 0, 1000000, 0, naive_last},
    {"subtract", NULL, "(a, b) { return 3 * a - b - 1e6 * floor((3 * a - b) / 1e6); }", NULL, NULL, 1, 1, 1,
     {DT_FLOAT64}, {DT_FLOAT64}, {DT_FLOAT64}, {DT_FLOAT64}, FOLD_SERIAL, false, false, 0, 999999, 0, naive_subtract},
    {"dot", "(x, y) { return (double)x * y; }", "(a, b) { return a + b; }", NULL, "() { return 0; }", 2, 1, 1,
     {DT_INT16, DT_FLOAT32}, {DT_FLOAT32, DT_FLOAT32}, {DT_FLOAT64}, {DT_FLOAT64}, FOLD_FREE, false, false, -100, 100, 0,
     naive_dot},
    {"mean", NULL, "(a, b) { return a + b; }", "(s, n) { return n > 0 ? s / n : 0; }", "() { return 0; }", 1, 1, 1,
     {DT_FLOAT32}, {DT_FLOAT64}, {DT_FLOAT64}, {DT_FLOAT64}, FOLD_FREE, false, true, -100, 100, 0, naive_mean},
    {"all", NULL, "(a, b) { return a && b; }", NULL, "() { return true; }", 1, 1, 1, {DT_INT8}, {DT_BOOL}, {DT_BOOL},
     {DT_BOOL}, FOLD_FREE, false, false, 0, 40, 0, naive_all},
    {"collatz", "(x) { int64_t n = 0; while (x > 1) { x = x % 2 ? 3 * x + 1 : x / 2; n++; } return n; }",
     "(a, b) { return a + b; }", NULL, "() { return 0; }", 1, 1, 1, {DT_INT64}, {DT_INT64}, {DT_INT64}, {DT_INT64},
     FOLD_FREE, false, false, 1, 30, 0, naive_collatz},
};
/* clang-format on */

static const recipe *recipe_of(const char *name) {
    const recipe *r = recipes;
    while (strcmp(r->name, name) != 0)
        r++;
    return r;
}

static fold fold_of(arena *a, const recipe *r) {
    fold f = {.nin = r->nin,
              .nstate = r->nstate,
              .nout = r->nout,
              .order = r->order,
              .takes_position = r->position,
              .takes_count = r->takes_count};
    memcpy(f.in, r->in, (size_t)r->nin * sizeof *r->in);
    memcpy(f.state, r->state, (size_t)r->nstate * sizeof *r->state);
    memcpy(f.out, r->out, (size_t)r->nout * sizeof *r->out);
    fold_try(a, &f, &(fold_texts){r->map, r->combine, r->finish, r->identity});
    return f;
}

/* ---- Cases ---- */

/* An operand: its buffer, and how it moves in both loops. */
typedef struct operand {
    dtype type;
    int64_t stride[2][DIMS]; /* kept, reduced */
    char *buffer, *data;     /* data: the loop's first element */
    size_t size;
} operand;

typedef struct test {
    const recipe *r;
    fold f;
    arena a;
    int ndim[2]; /* kept, reduced */
    int64_t extent[2][DIMS];
    operand op[VARIANT_OPERANDS];
    variant v;
    uint64_t numbers[VARIANT_OPERANDS][2];
    double initial[UF_MAX_STATE];
    bool masked, segmented, has_initial;
    int threads;
    int64_t *deciding; /* launch.deciding */
} test;

static int64_t total(const test *t, int loop) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim[loop]; d++)
        n *= t->extent[loop][d];
    return n;
}

/* Dimensions are laid out in a random order, with gaps; some backwards, and some, if `broadcast`, not at all. loops: a bit for
 * each that it moves in. */
static void draw_operand(test *t, operand *o, dtype type, unsigned loops, bool broadcast) {
    int order[2 * DIMS], n = 0, size = dtypes[type].size;
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < t->ndim[i]; d++)
            if (loops >> i & 1)
                order[n++] = i * DIMS + d;
    for (int i = n - 1; i > 0 && chance(60); i--) {
        int j = (int)pick(0, i), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    int64_t pitch = chance(80) ? 1 : pick(2, 3), first = 0;
    memset(o, 0, sizeof *o);
    o->type = type;
    for (int i = 0; i < n; i++) {
        int loop = order[i] / DIMS, d = order[i] % DIMS;
        int64_t extent = t->extent[loop][d];
        if (broadcast && chance(15))
            continue;
        bool back = chance(15);
        o->stride[loop][d] = back ? -pitch : pitch;
        first += back ? (extent - 1) * pitch : 0;
        pitch *= extent + (chance(80) ? 0 : pick(1, 3));
    }
    o->size = (size_t)(pitch + 1) * (size_t)size;
    o->buffer = malloc(o->size);
    memset(o->buffer, CANARY, o->size);
    o->data = o->buffer + first * size;
}

static int64_t offset(const test *t, const operand *o, int loop, int64_t index) {
    int64_t at = 0;
    for (int d = 0; d < t->ndim[loop]; d++) {
        at += index % t->extent[loop][d] * o->stride[loop][d];
        index /= t->extent[loop][d];
    }
    return at;
}

static char *element(const test *t, const operand *o, int64_t result, int64_t i) {
    return o->data + (offset(t, o, 0, result) + offset(t, o, 1, i)) * dtypes[o->type].size;
}

/* Complex ones have twice the real part as their imaginary part. */
static void put(dtype type, double value, char *at) {
    dtype from = dtype_is_complex(type) ? DT_COMPLEX128 : DT_FLOAT64;
    number_write((number){.type = from, .as.f = {value, 2 * value}}, type, at);
}

static double as_double(dtype type, const char *at) {
    number n = number_read(type, at);
    if (type == DT_BOOL || !dtypes[type].size)
        return n.as.u != 0;
    if (type == DT_FLOAT16 || type == DT_BFLOAT16 || type == DT_FLOAT32 || type == DT_FLOAT64)
        return n.as.f[0];
    if (dtype_is_complex(type)) {
        assert_true(n.as.f[1] == 2 * n.as.f[0]);
        return n.as.f[0];
    }
    return (double)n.as.i;
}

static void draw_extents(test *t, int64_t most) {
    for (int i = 0; i < 2; i++) {
        t->ndim[i] = (int)(chance(60) ? 1 : pick(1, DIMS));
        if (t->segmented && i)
            t->ndim[i] = 1;
        int64_t left = i ? most / total(t, 0) : chance(50) ? 8 : most;
        for (int d = 0; d < t->ndim[i]; d++) {
            int64_t extent = chance(30) ? pick(1, 20) : chance(50) ? pick(1, 300) : pick(1, left > 1 ? left : 1);
            t->extent[i][d] = extent < left ? extent : left > 1 ? left : 1;
            left /= t->extent[i][d];
        }
    }
}

/* Few results, of so many elements each that they are divided. */
static void draw_long(test *t) {
    t->ndim[0] = 1;
    t->extent[0][0] = chance(50) ? 1 : pick(2, 4);
    t->ndim[1] = (int)pick(1, DIMS);
    int64_t inner = 1;
    for (int d = 0; d < t->ndim[1] - 1; d++)
        inner *= t->extent[1][d] = chance(50) ? pick(1, 9) : pick(1, 300);
    t->extent[1][t->ndim[1] - 1] = pick(280000, 500000) / inner + 1;
}

static void draw_elements(test *t) {
    const recipe *r = t->r;
    for (int k = 0; k < r->nin; k++) {
        operand *o = &t->op[k];
        draw_operand(t, o, r->memory[k], 3, true);
        for (size_t at = 0; at < o->size; at += (size_t)dtypes[o->type].size)
            put(o->type, (double)pick(r->low, r->high), o->buffer + at);
    }
    for (int k = 0; k < r->nout; k++)
        draw_operand(t, &t->op[r->nin + k], r->out[k], 1, false);
    int next = r->nin + r->nout;
    if (t->masked) {
        operand *o = &t->op[next++];
        draw_operand(t, o, DT_BOOL, 3, true);
        for (size_t at = 0; at < o->size; at++)
            o->buffer[at] = chance(60) ? (char)pick(1, 255) : 0;
    }
    for (int i = 0; i < 2 * t->segmented; i++) {
        operand *o = &t->op[next++];
        draw_operand(t, o, DT_INT64, 1, true);
        int64_t length = t->extent[1][0];
        for (size_t at = 0; at < o->size / 8; at++)
            ((int64_t *)o->buffer)[at] = pick(i || chance(10) ? -1 : 0, length + (i || chance(10)));
    }
    for (int k = 0; k < r->nstate && t->has_initial; k++)
        t->initial[k] = (double)pick(r->low, r->high);
}

/* ---- What must come out ---- */

static void naive(const test *t, int64_t result, double *out) {
    const recipe *r = t->r;
    int64_t all = total(t, 1), first = 0, last = all;
    double *x[2] = {malloc(8 * (size_t)all), malloc(8 * (size_t)all)};
    int64_t *position = malloc(8 * (size_t)all);
    line l = {.x = {x[0], x[1]}, .position = position, .initial = t->has_initial ? t->initial : NULL};
    if (t->segmented) {
        int at = variant_bounds(&t->v);
        first = (int64_t)as_double(DT_INT64, element(t, &t->op[at], result, 0));
        last = (int64_t)as_double(DT_INT64, element(t, &t->op[at + 1], result, 0));
        last = last > all ? all : last <= first ? first + 1 : last;
    }
    for (int64_t i = first; i < last; i++) {
        if (t->masked && !*element(t, &t->op[r->nin + r->nout], result, i))
            continue;
        for (int k = 0; k < r->nin; k++)
            x[k][l.n] = as_double(t->op[k].type, element(t, &t->op[k], result, i));
        position[l.n++] = i;
    }
    r->naive(&l, out);
    free(x[0]), free(x[1]), free(position);
}

/* Is the result of these elements something that may be looked at? */
static bool known(const test *t, int64_t result) {
    const recipe *r = t->r;
    int64_t all = total(t, 1);
    if (t->segmented) {
        int64_t first = (int64_t)as_double(DT_INT64, element(t, &t->op[variant_bounds(&t->v)], result, 0));
        if (first < 0 || first >= all)
            return false;
    }
    if ((r->identity && !t->segmented) || !t->masked || t->has_initial)
        return true;
    for (int64_t i = 0; i < all && !t->segmented; i++)
        if (*element(t, &t->op[r->nin + r->nout], result, i))
            return true;
    return false;
}

static void compare(const test *t, const char *how) {
    const recipe *r = t->r;
    double wanted[UF_MAX_STATE];
    for (int64_t i = 0; i < total(t, 0); i++) {
        if (!known(t, i))
            continue;
        naive(t, i, wanted);
        for (int k = 0; k < r->nout; k++) {
            const operand *o = &t->op[r->nin + k];
            double got = as_double(o->type, element(t, o, i, 0));
            if (fabs(got - wanted[k]) > r->bound * (fabs(wanted[k]) + (double)r->high))
                fail_msg(
                    "%s, %s: result %lld, output %d is %.17g, not %.17g; %lld x %lld x %lld, reduced %lld x %lld x "
                    "%lld; masked %d, segmented %d, initial %d, columns %d",
                    r->name, how, (long long)i, k, got, wanted[k], (long long)t->extent[0][0],
                    (long long)t->extent[0][1], (long long)t->extent[0][2], (long long)t->extent[1][0],
                    (long long)t->extent[1][1], (long long)t->extent[1][2], t->masked, t->segmented, t->has_initial,
                    t->v.reduction.columns);
        }
    }
}

/* ---- Launches ---- */

static void make_loop(const test *t, int loop, int n, nd_loop *out) {
    arena *a = (arena *)(uintptr_t)&t->a;
    int ndim = t->ndim[loop];
    *out = (nd_loop){.ndim = ndim, .narrays = n, .count = total(t, loop), .loop = LOOP_FOLD};
    out->extent = arena_alloc(a, DIMS * 8);
    out->stride = arena_alloc(a, (size_t)(DIMS * n) * 8);
    out->offset = arena_alloc(a, (size_t)n * 8);
    memset(out->stride, 0, (size_t)(DIMS * n) * 8);
    memset(out->offset, 0, (size_t)n * 8);
    memcpy(out->extent, t->extent[loop], sizeof t->extent[loop]);
    for (int k = 0; k < n; k++) {
        for (int d = 0; d < ndim; d++)
            out->stride[d * n + k] = t->op[k].stride[loop][d];
        int64_t s = t->op[k].stride[loop][0];
        out->kind[k] = s == 1 ? OPERAND_CONTIGUOUS : s ? OPERAND_STRIDED : OPERAND_CONSTANT;
        if (k >= variant_initial(&t->v) && k < variant_position(&t->v))
            out->kind[k] = OPERAND_NUMBER;
    }
}

static code *compile_fold(test *t, const variant *v) {
    code_target target = judge_host();
    code_module module = {.fast = 0};
    arena a = {0};
    code *c = NULL;
    if (cpu_engine.target(0, &target) || ir_fold(&a, "test", &t->f, v, &target, &module) ||
        cpu_engine.compile(&module, &target, 0, &c))
        fail_msg("%s: %s", t->r->name, uf_last_error()->message);
    text_free(&module.ir);
    arena_free(&a);
    return c;
}

static void run_variant(test *t, const variant *v, nd_fold *loops, int64_t chunk, int64_t chunk_stride,
                        int64_t elements) {
    code *c = compile_fold(t, v);
    char *data[VARIANT_OPERANDS];
    int n = variant_operands(v);
    for (int k = 0; k < n; k++)
        data[k] = t->op[k].data;
    launch l = {.v = v,
                .loop = &loops->kept,
                .reduced = &loops->reduced,
                .data = data,
                .chunk = chunk,
                .chunk_stride = chunk_stride,
                .deciding = t->deciding,
                .elements = elements,
                .threads = t->threads,
                .numbers = (const uint64_t(*)[2])t->numbers};
    assert_int_equal(cpu_engine.launch(c, &l), UF_OK);
    cpu_engine.release(c);
}

static void fill_types(test *t, variant *v) {
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        v->operand[k].memory = v->operand[k].value = (uint8_t)t->op[k].type;
        if (k < v->nin && !v->reduction.from_states)
            v->operand[k].value = (uint8_t)t->r->in[k];
    }
}

/* Numbers and position, behind the arrays. */
static void put_numbers(test *t, variant *v) {
    const recipe *r = t->r;
    for (int k = 0; k < v->ninitial; k++) {
        t->op[variant_initial(v) + k] = (operand){.type = r->state[k]};
        put(r->state[k], t->initial[k], (char *)t->numbers[variant_initial(v) + k]);
    }
    if (!v->position)
        return;
    operand *o = &t->op[variant_position(v)];
    *o = (operand){.type = DT_INT64};
    int64_t step = 1;
    for (int d = 0; d < t->ndim[1]; d++) {
        o->stride[1][d] = step;
        step *= t->extent[1][d];
    }
}

static void mark_items(variant *v, const fold *f) {
    code_traits size;
    ir_fold_traits(f, &size);
    code_items(v, &size);
}

static variant variant_for(test *t) {
    const recipe *r = t->r;
    variant v = {.loop = LOOP_FOLD,
                 .nin = (uint8_t)r->nin,
                 .nout = (uint8_t)r->nout,
                 .masked = t->masked,
                 .segmented = t->segmented,
                 .position = r->position,
                 .ninitial = t->has_initial ? (uint8_t)r->nstate : 0};
    mark_items(&v, &t->f);
    return v;
}

/* Both directions, whatever the engine prefers. */
static void turn(variant *v, const nd_fold *loops, bool columns) {
    const nd_loop *lanes = columns ? &loops->kept : &loops->reduced;
    if (v->reduction.columns == columns)
        return;
    v->reduction.columns = columns;
    v->cpu_fold.absorbing = ABSORBING_NONE;
    v->cpu_fold.merged = 0;
    for (int k = 0, n = variant_operands(v); k < n; k++)
        if (v->operand[k].kind < OPERAND_NUMBER)
            v->operand[k].kind = lanes->kind[k];
}

static bool may_turn(const test *t, bool columns) {
    for (int i = 0; i < 2 * t->segmented && columns; i++)
        if (t->op[variant_bounds(&t->v) + i].stride[0][0])
            return false;
    return true;
}

static void run_whole(test *t, bool columns) {
    code_traits size;
    nd_fold loops;
    t->v = variant_for(t);
    put_numbers(t, &t->v);
    fill_types(t, &t->v);
    int n = variant_operands(&t->v);
    make_loop(t, 0, n, &loops.kept);
    make_loop(t, 1, n, &loops.reduced);
    ir_fold_traits(&t->f, &size);
    fold_problem s = {.loops = &loops, .traits = &size, .whole = true};
    assert_int_equal(cpu_engine.specialise_fold(&t->v, &s), 0);
    if (may_turn(t, columns))
        turn(&t->v, &loops, columns);
    run_variant(t, &t->v, &loops, 0, 0, loops.reduced.count);
}

static void test_end(test *t) {
    for (int k = 0; k < VARIANT_OPERANDS; k++)
        free(t->op[k].buffer);
    arena_free(&t->a);
}

/* most: elements; 0: few results of many. */
static void test_begin(test *t, const recipe *r, int64_t most) {
    memset(t, 0, sizeof *t);
    t->r = r;
    t->f = fold_of(&t->a, r);
    t->masked = chance(30);
    t->has_initial = chance(30) && strcmp(r->name, "variance") && !r->takes_count;
    t->segmented = most && chance(20);
    /* A serial fold under a mask has a beginning: uf_reduce sees to that. */
    t->has_initial |= t->masked && r->order == FOLD_SERIAL;
    t->threads = chance(50) ? 1 : (int)pick(2, 7);
    if (most)
        draw_extents(t, most);
    else
        draw_long(t);
    t->v = variant_for(t);
    draw_elements(t);
}

static void random_folds(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(6); i++)
        for (size_t k = 0; k < COUNT(recipes); k++) {
            test t;
            test_begin(&t, &recipes[k], chance(80) ? 3000 : 60000);
            run_whole(&t, chance(50));
            compare(&t, "whole");
            test_end(&t);
        }
}

/* ---- Parts ---- */

/* The operands of a launch whose outputs are states, and of the one that combines them: v and t->op are changed. */
typedef struct states {
    test t;
    char *buffer;
    int64_t parts, results;
    int n;
} states;

/* A state's value k: an operand along the results, and along the parts by `along`. */
static operand state_operand(const states *s, const test *t, int k, int64_t by_result, int64_t by_part) {
    operand o = {.type = k < t->r->nstate ? t->r->state[k] : DT_INT64};
    o.data = s->buffer + (int64_t)k * 16 * s->parts * s->results;
    for (int d = 0; d < t->ndim[0]; d++) {
        o.stride[0][d] = by_result;
        by_result *= t->extent[0][d];
    }
    o.stride[1][0] = by_part;
    return o;
}

static void states_first(states *s, test *t, const variant *whole, int64_t chunk) {
    variant v = *whole;
    operand inputs[VARIANT_OPERANDS];
    nd_fold loops;
    int64_t by_result = v.reduction.columns ? 1 : s->parts, by_part = v.reduction.columns ? s->results : 1;
    memcpy(inputs, t->op, sizeof inputs);
    s->n = t->r->nstate + v.reduction.counted;
    v.reduction.to_states = 1;
    v.ninitial = 0;
    v.nout = (uint8_t)s->n;
    for (int k = 0; k < s->n; k++) {
        t->op[v.nin + k] = state_operand(s, t, k, by_result, 0);
        v.operand[v.nin + k] = (variant_operand){.memory = (uint8_t)t->op[v.nin + k].type};
        v.operand[v.nin + k].value = v.operand[v.nin + k].memory;
    }
    for (int k = 0; k < v.masked + v.position; k++) {
        int from = k < v.masked ? variant_mask(whole) : variant_position(whole);
        t->op[v.nin + s->n + k] = inputs[from];
        v.operand[v.nin + s->n + k] = whole->operand[from];
    }
    t->v = v;
    make_loop(t, 0, variant_operands(&v), &loops.kept);
    make_loop(t, 1, variant_operands(&v), &loops.reduced);
    turn(&v, &loops, v.reduction.columns);
    run_variant(t, &v, &loops, chunk, by_part, loops.reduced.count);
    memcpy(t->op, inputs, sizeof inputs);
}

static void states_second(states *s, test *t, const variant *whole, int64_t elements) {
    test u = *t;
    code_traits size;
    nd_fold loops;
    variant v = {.loop = LOOP_FOLD,
                 .nin = (uint8_t)s->n,
                 .nout = whole->nout,
                 .ninitial = whole->ninitial,
                 .reduction.sparse = whole->reduction.sparse,
                 .reduction.counted = whole->reduction.counted,
                 .reduction.from_states = 1};
    int64_t by_result = whole->reduction.columns ? 1 : s->parts, by_part = whole->reduction.columns ? s->results : 1;
    for (int k = 0; k < s->n; k++)
        u.op[k] = state_operand(s, t, k, by_result, by_part);
    for (int k = 0; k < v.nout; k++)
        u.op[v.nin + k] = t->op[whole->nin + k];
    u.ndim[1] = 1;
    u.extent[1][0] = s->parts;
    put_numbers(&u, &v);
    fill_types(&u, &v);
    u.v = v;
    make_loop(&u, 0, variant_operands(&v), &loops.kept);
    make_loop(&u, 1, variant_operands(&v), &loops.reduced);
    ir_fold_traits(&t->f, &size);
    fold_problem problem = {.loops = &loops, .traits = &size, .whole = true};
    assert_int_equal(cpu_engine.specialise_fold(&v, &problem), 0);
    run_variant(&u, &v, &loops, 0, 0, elements);
    t->a = u.a;
}

/* Decides on a variant for the whole, and returns the elements of a part, of which there are then so many. */
static int64_t parts_of(test *t, variant *whole, states *s) {
    code_traits size;
    nd_fold loops;
    t->v = variant_for(t);
    put_numbers(t, &t->v);
    fill_types(t, &t->v);
    make_loop(t, 0, variant_operands(&t->v), &loops.kept);
    make_loop(t, 1, variant_operands(&t->v), &loops.reduced);
    ir_fold_traits(&t->f, &size);
    fold_problem problem = {.loops = &loops, .traits = &size};
    *whole = t->v;
    int64_t chunk = cpu_engine.specialise_fold(whole, &problem);
    *s = (states){.parts = chunk ? (loops.reduced.count + chunk - 1) / chunk : 1, .results = loops.kept.count};
    return chunk;
}

/* As core does it: true if the engine wants parts. */
static bool run_parts(test *t) {
    variant whole;
    states s;
    int64_t chunk = parts_of(t, &whole, &s);
    if (!chunk)
        return false;
    s.buffer = malloc(16 * (size_t)(s.parts * s.results) * (UF_MAX_STATE + 1));
    states_first(&s, t, &whole, chunk);
    states_second(&s, t, &whole, total(t, 1));
    free(s.buffer);
    t->v = whole;
    return true;
}

/* The parts behind one that has the largest number of its type are not computed, and nothing is written in their place. */
static void parts_behind_are_left(void **unused) {
    (void)unused;
    enum {
        PARTS = 4,
        ELEMENTS = PARTS << 17
    };
    for (int threads = 0; threads < 2; threads++) {
        const recipe *r = recipe_of("first largest i8");
        int64_t deciding = -1, at = (1 << 17) + pick(0, 1 << 16);
        test t = {.r = r, .threads = threads, .ndim = {1, 1}, .extent = {{1}, {ELEMENTS}}, .deciding = &deciding};
        variant whole;
        states s;
        t.f = fold_of(&t.a, r);
        t.op[0] = (operand){.type = DT_INT8, .data = calloc(ELEMENTS, 1), .stride = {{0}, {1}}};
        t.op[0].data[at] = 127;
        assert_int_equal(parts_of(&t, &whole, &s), ELEMENTS / PARTS);
        s.buffer = malloc(16 * PARTS * 2);
        memset(s.buffer, 0x55, 16 * PARTS * 2);
        states_first(&s, &t, &whole, ELEMENTS / PARTS);
        assert_int_equal(deciding, 2);
        /* Another thread may have begun with those behind. */
        assert_memory_equal(s.buffer, ((char[]){0, 127, 0x55, 0x55}), threads == 1 ? PARTS : 2);
        assert_true(((const int64_t *)(const void *)(s.buffer + 16 * PARTS))[1] == at);
        free(s.buffer);
        free(t.op[0].data);
        arena_free(&t.a);
    }
}

static void random_parts(void **unused) {
    (void)unused;
    int64_t divided = 0;
    for (int64_t i = 0; i < trials(1); i++)
        for (size_t k = 0; k < COUNT(recipes); k++) {
            test t;
            test_begin(&t, &recipes[k], 0);
            if (run_parts(&t)) {
                compare(&t, "in parts");
                divided++;
            }
            test_end(&t);
        }
    assert_true(2 * divided >= trials(1) * (int64_t)COUNT(recipes));
}

/* ---- Threads ---- */

static void threads_change_nothing(void **unused) {
    (void)unused;
    static const char *const names[] = {"sum", "variance", "sum f64", "max"};
    for (size_t i = 0; i < COUNT(recipes); i++) {
        bool wanted = false;
        for (size_t k = 0; k < COUNT(names); k++)
            wanted |= !strcmp(recipes[i].name, names[k]);
        if (!wanted)
            continue;
        test t;
        test_begin(&t, &recipes[i], 0);
        for (size_t at = 0; at < t.op[0].size; at += (size_t)dtypes[t.op[0].type].size)
            put(t.op[0].type, (double)pick(-1000000, 1000000) / 7, t.op[0].buffer + at);
        operand *o = &t.op[recipes[i].nin];
        char *first = malloc(o->size);
        for (t.threads = 1; t.threads < 9; t.threads += t.threads < 3 ? 1 : 5) {
            if (!run_parts(&t))
                run_whole(&t, t.v.reduction.columns);
            if (t.threads == 1)
                memcpy(first, o->buffer, o->size);
            else
                assert_memory_equal(first, o->buffer, o->size);
        }
        free(first);
        test_end(&t);
    }
}

/* ---- Accuracy ---- */

static double hard_value(int kind, int64_t i) {
    switch (kind) {
    case 0:
        return 0.1;
    case 1:
        return (i % 2 ? -1 : 1) * (1e4 + (double)pick(0, 1000) / 1000);
    case 2:
        return (double)pick(0, 1 << 20) / (1 << 20);
    case 3:
        return i == 0 ? 16777216 : 1;
    default:
        return pow(2, (double)pick(-20, 20)) * (double)pick(-1000, 1000) / 999;
    }
}

/* Sums of floats within 2 eps log2(n) sum|x|. */
static void check_sums(const test *t) {
    int64_t n = total(t, 1);
    for (int64_t r = 0; r < total(t, 0); r++) {
        long double sum = 0, size = 0;
        for (int64_t i = 0; i < n; i++) {
            long double x = as_double(DT_FLOAT32, element(t, &t->op[0], r, i));
            sum += x;
            size += fabsl(x);
        }
        double got = as_double(DT_FLOAT32, element(t, &t->op[1], r, 0));
        long double bound = 2 * 0x1p-23L * log2l((long double)n) * size;
        if (fabsl(got - sum) > bound)
            fail_msg("%lld elements, result %lld: %.9g, not %.9Lg: off by %Lg, allowed %Lg; columns %d", (long long)n,
                     (long long)r, got, sum, got - sum, bound, t->v.reduction.columns);
    }
}

static void sums_are_accurate(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(40); i++) {
        test t = {.r = &recipes[0], .threads = 1};
        int kind = (int)pick(0, 4);
        t.f = fold_of(&t.a, t.r);
        if (chance(10))
            draw_long(&t);
        else
            draw_extents(&t, chance(50) ? 1000 : 30000);
        t.v = variant_for(&t);
        draw_elements(&t);
        for (size_t at = 0; at < t.op[0].size / 4; at++)
            put(DT_FLOAT32, hard_value(kind, (int64_t)at), t.op[0].buffer + 4 * at);
        if (chance(50) || !run_parts(&t))
            run_whole(&t, chance(50));
        check_sums(&t);
        test_end(&t);
    }
}

/* One number many times, in every direction. */
static void long_sums_are_accurate(void **unused) {
    (void)unused;
    static const int64_t lengths[] = {1 << 20, 1 << 24, 1 << 28};
    for (size_t i = 0; i < 2 * COUNT(lengths); i++) {
        float x = 0.1f, r = 0;
        test t = {.r = &recipes[0], .threads = 1, .ndim = {1, 1}, .extent = {{1}, {lengths[i / 2]}}};
        t.f = fold_of(&t.a, t.r);
        t.op[0] = (operand){.type = DT_FLOAT32, .data = (char *)&x};
        t.op[1] = (operand){.type = DT_FLOAT32, .data = (char *)&r};
        if (i % 2)
            run_whole(&t, true);
        else
            assert_true(run_parts(&t));
        double n = (double)lengths[i / 2], exact = n * (double)x;
        assert_true(fabs(r - exact) <= 2 * 0x1p-23 * log2(n) * exact);
        arena_free(&t.a);
    }
}

/* ---- Rows or columns ---- */

/* The engine's choice for a fold, its operands and their loops; returns the elements of a part. */
static int64_t specialise(test *t, nd_fold *loops) {
    code_traits size;
    put_numbers(t, &t->v);
    fill_types(t, &t->v);
    make_loop(t, 0, variant_operands(&t->v), &loops->kept);
    make_loop(t, 1, variant_operands(&t->v), &loops->reduced);
    ir_fold_traits(&t->f, &size);
    fold_problem s = {.loops = loops, .traits = &size};
    return cpu_engine.specialise_fold(&t->v, &s);
}

/* The engine's choice for results of so many neighbouring elements, or states. */
static variant chosen(const char *name, int64_t results, int64_t elements, bool of_states) {
    const recipe *r = recipe_of(name);
    test t = {.r = r, .ndim = {1, 1}, .extent = {{results}, {elements}}};
    nd_fold loops;
    t.f = fold_of(&t.a, r);
    for (int k = 0; k < r->nin + r->nout; k++)
        t.op[k] = (operand){.type = k < r->nin ? r->in[k] : r->out[k - r->nin], .stride = {{1}}};
    t.op[0].stride[0][0] = elements;
    t.op[0].stride[1][0] = 1;
    t.v = variant_for(&t);
    t.v.reduction.from_states = of_states;
    specialise(&t, &loops);
    arena_free(&t.a);
    return t.v;
}

/* Does the engine let lanes go over 32 results of so many neighbouring elements, rather than over the elements? */
static bool takes_columns(const char *name, int64_t elements) {
    return chosen(name, 32, elements, false).reduction.columns;
}

/* Does it for so many results side by side, whose elements are as far apart, 100 times? */
static bool goes_by_columns(const char *name, int64_t results, int64_t elements) {
    const recipe *r = recipe_of(name);
    test t = {.r = r, .ndim = {2, 1}, .extent = {{results, 100}, {elements}}};
    nd_fold loops;
    t.f = fold_of(&t.a, r);
    for (int k = 0; k < r->nin + r->nout; k++)
        t.op[k] = (operand){.type = k < r->nin ? r->in[k] : r->out[k - r->nin], .stride = {{1, results}}};
    t.op[0].stride[0][1] = results * elements;
    t.op[0].stride[1][0] = results;
    if (r->position)
        t.op[r->nin + r->nout].stride[1][0] = 1;
    t.v = variant_for(&t);
    specialise(&t, &loops);
    arena_free(&t.a);
    return t.v.reduction.columns;
}

/* Few columns that are long are rows of elements that lie a few apart. */
static void few_columns_are_rows(void **unused) {
    (void)unused;
    assert_true(goes_by_columns("sum", 2, 63) && !goes_by_columns("sum", 2, 64));
    assert_true(goes_by_columns("sum", 3, 255) && !goes_by_columns("sum", 3, 256));
    assert_true(goes_by_columns("sum", 4, 1000));
    assert_true(goes_by_columns("first largest", 8, 47) && !goes_by_columns("first largest", 8, 48));
    assert_true(goes_by_columns("first largest", 9, 1000));
}

static void few_elements_are_columns(void **unused) {
    (void)unused;
    assert_true(takes_columns("sum", 8));
    assert_false(takes_columns("sum", 100));
    assert_true(takes_columns("first largest", 2));
    assert_false(takes_columns("first largest", 8)); /* which are searched by vectors */
}

/* ---- Short rows and long ones ---- */

/* A variant for arrays of the signature's dtypes that lie one after the other along the lanes. */
static variant plain_variant(const recipe *r, bool columns) {
    variant v = {.loop = LOOP_FOLD,
                 .ndim = 1,
                 .nin = (uint8_t)r->nin,
                 .nout = (uint8_t)r->nout,
                 .position = r->position,
                 .reduction.reduced = 1,
                 .reduction.columns = columns};
    for (int k = 0; k < variant_operands(&v); k++) {
        bool input = k < v.nin, last = v.position && k == variant_position(&v);
        dtype type = last ? DT_INT64 : input ? r->in[k] : r->out[k - r->nin];
        v.operand[k] = (variant_operand){.memory = (uint8_t)type, .value = (uint8_t)type, .unit = last};
        v.operand[k].kind = last ? OPERAND_POSITION : input || columns ? OPERAND_CONTIGUOUS : OPERAND_CONSTANT;
    }
    return v;
}

/* Lines of the code for rows of contiguous elements. `limit`: whether it tells them apart by that length. */
static int lines_for(const fold *f, const recipe *r, row_lengths rows, int limit, bool *asks) {
    arena a = {0};
    code_module m = {0};
    code_target target = {.vector_bits = 512, .f16c = true};
    variant v = plain_variant(r, false);
    char condition[64];
    int lines = 0;
    mark_items(&v, f);
    v.cpu_fold.rows = (uint8_t)rows;
    assert_int_equal(ir_fold(&a, "f", f, &v, &target, &m), UF_OK);
    snprintf(condition, sizeof condition, ", %d\n  br i1", limit);
    *asks = false;
    for (const char *at = m.ir.data; (at = strstr(at, "icmp sle i64")) != NULL; at++)
        *asks |= !strncmp(at + strcspn(at, ","), condition, strlen(condition));
    for (const char *at = m.ir.data; *at; at++)
        lines += *at == '\n';
    text_free(&m.ir);
    arena_free(&a);
    return lines;
}

/* A kernel has the code of one of both alone, where the elements of all results are as many. */
static void lengths_of_rows_are_told_apart(void **unused) {
    (void)unused;
    static const char *const names[] = {"sum", "sum f64", "max", "variance", "all"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const recipe *r = recipe_of(names[i]);
        arena a = {0};
        code_traits traits;
        bool asks;
        fold f = fold_of(&a, r);
        ir_fold_traits(&f, &traits);
        int limit = traits.short_rows, any = lines_for(&f, r, ROWS_ANY, limit, &asks);
        assert_true(asks);
        assert_int_equal(chosen(names[i], 32, limit, false).cpu_fold.rows, ROWS_SHORT);
        assert_int_equal(chosen(names[i], 32, limit + 1, false).cpu_fold.rows, ROWS_LONG);
        assert_true(lines_for(&f, r, ROWS_SHORT, limit, &asks) < any - 100 && !asks);
        assert_true(lines_for(&f, r, ROWS_LONG, limit, &asks) < any - 100 && !asks);
        arena_free(&a);
    }
    /* One result in parts, of which the last one may be short. */
    assert_int_equal(chosen("sum", 1, 4 << 17, false).cpu_fold.rows, ROWS_LONG);
    assert_int_equal(chosen("sum", 1, (4 << 17) + 1, false).cpu_fold.rows, ROWS_ANY);
    assert_int_equal(chosen("sum", 1, 100, true).cpu_fold.rows, ROWS_SHORT);
    assert_int_equal(chosen("sum", 1, 5000, true).cpu_fold.rows, ROWS_ANY);
}

/* ---- Columns ---- */

static int occurrences(const char *where, const char *what) {
    int n = 0;
    for (const char *at = where; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

/* What LLVM would make copies of loops for is not asked, or not to be known, in columns: whether there is a lane, and a step. Nor are lanes
 * left over that need a loop of their own. */
static void columns_are_one_copy(void **unused) {
    (void)unused;
    arena a = {0};
    const recipe *r = recipe_of("sum");
    fold f = fold_of(&a, r);
    code_module m = {0};
    code_target target = {.vector_bits = 512, .f16c = true};
    variant v = plain_variant(r, true);
    mark_items(&v, &f);
    assert_int_equal(ir_fold(&a, "f", &f, &v, &target, &m), UF_OK);
    assert_int_equal(occurrences(m.ir.data, "icmp slt i64 0, "), 1); /* is there a result? */
    assert_int_equal(occurrences(m.ir.data, "asm sideeffect"), 1);
    assert_int_equal(occurrences(m.ir.data, "llvm.loop.vectorize.predicate.enable"), 3); /* groups, steps, arrays */
    assert_int_equal(occurrences(m.ir.data, "call float* asm \"\""),
                     7); /* of a group of 8 rows, the places behind the first */
    text_free(&m.ir);
    arena_free(&a);
}

/* ---- Extrema ---- */

/* Which texts give the position of an extremum: NaN before all or behind all, and what is nearly so. */
static void extrema_are_recognised(void **unused) {
    static const char plain[] = "[k](x) -> (v, i) { v = x; i = k; }",
                      passing[] = "[k](x) -> (v, i) { v = x; i = x == x ? k : -1; }";
    static const struct {
        const char *map, *left; /* is the first of two chosen? */
        dtype type;
        extremum which;
    } cases[] = {
        {plain, "i < j ? a >= b || a != a : !(b >= a || b != b)", DT_FLOAT32, EXTREMUM_LARGEST},
        {plain, "i < j ? a <= b || a != a : !(b <= a || b != b)", DT_FLOAT64, EXTREMUM_SMALLEST},
        {plain, "i < j ? a >= b : !(b >= a)", DT_UINT16, EXTREMUM_LARGEST},
        {plain, "i < j ? a >= b : !(b >= a)", DT_FLOAT32, EXTREMUM_NONE}, /* NaN by where it stands */
        {passing, "j < 0 | (!(i < 0) & (i < j ? a >= b : !(b >= a)))", DT_FLOAT32, EXTREMUM_LARGEST_NUMBER},
        {passing, "!(j >= 0) | ((i >= 0) & (i < j ? a <= b : !(b <= a)))", DT_FLOAT16, EXTREMUM_SMALLEST_NUMBER},
        {passing, "i < j ? a >= b : !(b >= a)", DT_FLOAT32, EXTREMUM_LARGEST_NUMBER},
        {passing, "i < j ? a >= b : b < a", DT_FLOAT32, EXTREMUM_NONE}, /* NaN behind a number is kept */
        {passing, "j <= 0 | (!(i < 0) & (i < j ? a >= b : !(b >= a)))", DT_FLOAT32,
         EXTREMUM_NONE}, /* position 0 is one */
        {passing, "i < j ? a >= b || a != a : !(b >= a || b != b)", DT_FLOAT32, EXTREMUM_NONE},
        {plain, "j < 0 | (!(i < 0) & (i < j ? a >= b : !(b >= a)))", DT_FLOAT32, EXTREMUM_NONE},
        {"[k](x) -> (v, i) { v = x; i = x == x ? k : -2; }", "j < 0 | (!(i < 0) & (i < j ? a >= b : !(b >= a)))",
         DT_FLOAT32, EXTREMUM_NONE},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        char combine[200];
        snprintf(combine, sizeof combine,
                 "(a, i, b, j) -> (c, k) { bool left = %s; c = left ? a : b; k = left ? i : j; }", cases[i].left);
        dtype t = cases[i].type;
        const recipe r = {.map = cases[i].map,
                          .combine = combine,
                          .nin = 1,
                          .nstate = 2,
                          .nout = 2,
                          .in = {t},
                          .state = {t, DT_INT64},
                          .out = {t, DT_INT64},
                          .order = FOLD_FREE,
                          .position = true};
        fold f = fold_of(&a, &r);
        if (fold_extremum(&f) != cases[i].which)
            fail_msg("%s, %s: %d", combine, cases[i].map, fold_extremum(&f));
        arena_free(&a);
    }
}

/* ---- Nothing to reduce ---- */

static void nothing_gives_the_identity(void **unused) {
    (void)unused;
    for (int initial = 0; initial < 2; initial++) {
        float r[3] = {-1, -1, -1};
        test t = {.r = &recipes[0], .threads = 1, .ndim = {1, 1}, .extent = {{3}, {0}}, .has_initial = initial};
        nd_fold loops;
        t.f = fold_of(&t.a, t.r);
        t.initial[0] = 42;
        t.op[0] = (operand){.type = DT_FLOAT32};
        t.op[1] = (operand){.type = DT_FLOAT32, .data = (char *)r, .stride = {{1}}};
        t.v = variant_for(&t);
        t.v.reduction.empty = 1;
        assert_int_equal(specialise(&t, &loops), 0);
        run_variant(&t, &t.v, &loops, 0, 0, 0);
        for (int i = 0; i < 3; i++)
            assert_true(r[i] == (initial ? 42 : 0));
        arena_free(&t.a);
    }
}

/* ---- The text itself ---- */

static variant drawn_variant(const recipe *r, const fold *f) {
    variant v = plain_variant(r, chance(50));
    v.masked = chance(40);
    v.ninitial = chance(40) ? (uint8_t)r->nstate : 0;
    mark_items(&v, f);
    v.reduction.reduced = (uint8_t)pick(1, 4);
    v.wide = chance(20);
    for (int k = 0; k < variant_operands(&v); k++) {
        variant_operand *o = &v.operand[k];
        bool initial = k >= variant_initial(&v) && k < variant_initial(&v) + v.ninitial;
        bool last = v.position && k == variant_position(&v);
        if (k >= v.nin + v.nout)
            o->memory = o->value = (uint8_t)(initial ? r->state[k - variant_initial(&v)] : last ? DT_INT64 : DT_BOOL);
        else if (chance(30))
            o->memory = DT_INT8;
        o->kind = initial ? OPERAND_NUMBER : last ? OPERAND_POSITION : (uint8_t)pick(0, OPERAND_STRIDED);
    }
    return v;
}

static void every_compiler_accepts(void **unused) {
    (void)unused;
    for (int64_t i = 0; i < trials(1); i++)
        for (size_t k = 0; k < COUNT(recipes); k++) {
            arena a = {0};
            fold f = fold_of(&a, &recipes[k]);
            variant v = drawn_variant(&recipes[k], &f);
            code_target target = {.vector_bits = chance(50) ? 512 : 256, .f16c = true};
            code_module m = {.flags = chance(50) ? UF_DEBUG : 0};
            assert_int_equal(ir_fold(&a, "f", &f, &v, &target, &m), UF_OK);
            if (!judge_accept(&m, &target, 0, draw_bits())) {
                fputs(m.ir.data, stderr);
                fail_msg("%s", recipes[k].name);
            }
            text_free(&m.ir);
            arena_free(&a);
        }
}

static void memory_may_run_out(void **unused) {
    (void)unused;
    code_target target = {.vector_bits = 512, .f16c = true};
    for (size_t k = 0; k < COUNT(recipes); k += 3) {
        arena trees = {0};
        fold f = fold_of(&trees, &recipes[k]);
        variant v = drawn_variant(&recipes[k], &f);
        uf_status status = UF_ERR_MEMORY;
        int failures = 0;
        for (int64_t n = 0; status; n += 1 + n / 16, failures++) {
            arena a = {0};
            code_module m = {.flags = UF_DEBUG};
            allocations_fail_after(n);
            status = ir_fold(&a, "f", &f, &v, &target, &m);
            allocations_succeed();
            assert_true(status == UF_OK || status == UF_ERR_MEMORY);
            assert_null(a.escape);
            text_free(&m.ir);
            arena_free(&a);
        }
        assert_true(failures > 10);
        arena_free(&trees);
    }
}

/* Vectors of elements that are apart would be gathered, which is slow, and so is memory that is read so. But not where a vector saves
 * more than that costs: math functions, long folds, small elements. */
static void elements_with_gaps_are_read_one_by_one(void **unused) {
    (void)unused;
    recipe exps = *recipe_of("sum f64");
    exps.name = "sum of exps", exps.map = "(x) { return exp(x); }";
    const struct {
        const recipe *r;
        int kind, record;
        bool alone;
    } cases[] = {{recipe_of("sum"), OPERAND_STRIDED, 0, true},
                 {recipe_of("sum"), OPERAND_INTERLEAVED, 12, true},
                 {recipe_of("sum"), OPERAND_INTERLEAVED, 8, false},
                 {recipe_of("sum"), OPERAND_CONTIGUOUS, 0, false},
                 {recipe_of("sum f64"), OPERAND_INTERLEAVED, 16, true},
                 {recipe_of("sum u16"), OPERAND_STRIDED, 0, true},
                 {recipe_of("sum f16"), OPERAND_STRIDED, 0, false},
                 {recipe_of("sum c64"), OPERAND_STRIDED, 0, false},
                 {recipe_of("first largest"), OPERAND_INTERLEAVED, 8, true},
                 {recipe_of("first largest"), OPERAND_CONTIGUOUS, 0, false},
                 {recipe_of("variance"), OPERAND_STRIDED, 0, false},
                 {recipe_of("collatz"), OPERAND_STRIDED, 0, false},
                 {&exps, OPERAND_STRIDED, 0, false}};
    static const code_target target = {.vector_bits = 512, .f16c = true};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        fold f = fold_of(&a, cases[i].r);
        variant v = plain_variant(cases[i].r, false);
        code_module m = {.flags = 0};
        mark_items(&v, &f);
        v.operand[0].kind = (uint8_t)cases[i].kind;
        v.operand[0].record = (uint8_t)cases[i].record;
        assert_int_equal(ir_fold(&a, "f", &f, &v, &target, &m), UF_OK);
        bool alone = strstr(m.ir.data, "!{!\"llvm.loop.vectorize.enable\", i1 false}");
        if (alone != cases[i].alone)
            fail_msg("%s, case %d", cases[i].r->name, (int)i);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Loops over the lanes of 64 bytes say how many vectors these are: as many as the bits of a vector go into 512, of complex numbers half of them, since
 * the parts of so many are a vector each. If they were more than there are, all lanes would be left to single elements. */
static void lanes_are_whole_vectors(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        int bits, at_once; /* 0: nothing is said */
    } cases[] = {{"sum", 128, 4}, {"sum c64", 128, 2}, {"sum c64", 256, 1}, {"sum c64", 512, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena a = {0};
        const code_target target = {.vector_bits = cases[i].bits};
        const recipe *r = recipe_of(cases[i].name);
        fold f = fold_of(&a, r);
        variant v = plain_variant(r, false);
        code_module m = {.flags = 0};
        char hint[64];
        mark_items(&v, &f);
        assert_int_equal(ir_fold(&a, "f", &f, &v, &target, &m), UF_OK);
        for (int n = 1; n <= 4; n++) {
            snprintf(hint, sizeof hint, "interleave.count\", i32 %d}", n);
            bool said = strstr(m.ir.data, hint) != NULL;
            if (said != (n == cases[i].at_once))
                fail_msg("%s, %d bits: %d", r->name, cases[i].bits, n);
        }
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* Integers a few apart are read by vectors, with what lies between them, of which there are as many as elements are apart; not where sums
 * are wider and the elements further apart, nor floats, whose order counts. Vectors are narrow where these read faster, those of elements
 * of 64 bits, too. With AVX-512 no load is part of an instruction that selects by a mask. */
static void integers_that_are_near_are_read_by_vectors(void **unused) {
    (void)unused;
    const recipe *max = recipe_of("max");
    recipe whole = *max, halves = *max, wide = *max, large = *max;
    whole.in[0] = whole.state[0] = whole.out[0] = DT_INT32;
    halves.in[0] = halves.state[0] = halves.out[0] = DT_INT16;
    large.in[0] = large.state[0] = large.out[0] = DT_INT64;
    wide.in[0] = DT_INT32, wide.state[0] = wide.out[0] = DT_INT64;
    const struct {
        const recipe *r;
        int apart, vectors;
    } cases[] = {{&whole, 2, 2}, {&whole, 3, 3}, {&whole, 8, 8}, {&whole, 9, 0},  {&whole, 1, 0},
                 {&wide, 3, 3},  {&wide, 4, 0},  {&large, 3, 3}, {&halves, 3, 0}, {max, 3, 0}};
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        arena a = {0};
        const code_target target = {.vector_bits = i % 2 ? 256 : 512, .f16c = true, .narrow_reads = i % 2};
        const recipe *r = cases[i / 2].r;
        fold f = fold_of(&a, r);
        variant v = plain_variant(r, false);
        code_module m = {.flags = 0};
        char hint[64];
        int apart = cases[i / 2].apart, size = dtypes[r->in[0]].size, vectors = 0;
        mark_items(&v, &f);
        if (apart > 8) {
            v.operand[0].kind = OPERAND_STRIDED;
        } else if (apart > 1) {
            v.operand[0].kind = OPERAND_INTERLEAVED;
            v.operand[0].record = (uint8_t)(apart * size);
        }
        assert_int_equal(ir_fold(&a, "f", &f, &v, &target, &m), UF_OK);
        snprintf(hint, sizeof hint, "urem i64 %%r");
        for (const char *at = m.ir.data; (at = strstr(at, hint)) != NULL; at++)
            vectors += strtol(at + strcspn(at, ",") + 1, NULL, 10) == apart;
        if (vectors != cases[i / 2].vectors)
            fail_msg("%s of %s, %d apart: %d vectors", r->name, dtypes[r->in[0]].name, apart, vectors);
        snprintf(hint, sizeof hint, "vectorize.width\", i32 %d}", (i % 2 ? 32 : 64) / size);
        if (vectors && !strstr(m.ir.data, hint))
            fail_msg("%s is missing", hint);
        if ((strstr(m.ir.data, "ashr i64") != NULL) != (vectors && target.vector_bits == 512))
            fail_msg("%s of %s, %d apart, %d bits", r->name, dtypes[r->in[0]].name, apart, target.vector_bits);
        text_free(&m.ir);
        arena_free(&a);
    }
}

/* With AVX-512 integers that are far apart are combined with their neighbours first, but not where that is an addition. */
static void integers_that_are_far_are_combined_together(void **unused) {
    (void)unused;
    recipe max = *recipe_of("max"), sum = *recipe_of("sum i8");
    max.in[0] = max.state[0] = max.out[0] = sum.in[0] = DT_INT64;
    for (int i = 0; i < 4; i++) {
        arena a = {0};
        const code_target target = {.vector_bits = i % 2 ? 256 : 512};
        const recipe *r = i / 2 ? &sum : &max;
        fold f = fold_of(&a, r);
        variant v = plain_variant(r, false);
        code_module m = {.flags = 0};
        mark_items(&v, &f);
        v.operand[0].kind = OPERAND_STRIDED;
        assert_int_equal(ir_fold(&a, "f", &f, &v, &target, &m), UF_OK);
        const char *fours = strstr(m.ir.data, "and i64 ");
        while (fours && strncmp(fours + strcspn(fours, ",\n"), ", -4\n", 5) != 0)
            fours = strstr(fours + 1, "and i64 ");
        if ((fours != NULL) != (i == 0))
            fail_msg("%s, %d bits\n%s", r->name, target.vector_bits, m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

static void golden(void **unused) {
    (void)unused;
    static const code_target target = {.vector_bits = 256, .f16c = true};
    arena a = {0};
    const recipe *r = recipe_of("subtract");
    fold f = fold_of(&a, r);
    variant v = plain_variant(r, false);
    code_module m = {.flags = 0};
    mark_items(&v, &f);
    assert_int_equal(ir_fold(&a, r->name, &f, &v, &target, &m), UF_OK);
    judge_golden("fold_cpu", &m);
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_folds),
        cmocka_unit_test(random_parts),
        cmocka_unit_test(parts_behind_are_left),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(sums_are_accurate),
        cmocka_unit_test(long_sums_are_accurate),
        cmocka_unit_test(few_elements_are_columns),
        cmocka_unit_test(few_columns_are_rows),
        cmocka_unit_test(lengths_of_rows_are_told_apart),
        cmocka_unit_test(columns_are_one_copy),
        cmocka_unit_test(extrema_are_recognised),
        cmocka_unit_test(nothing_gives_the_identity),
        cmocka_unit_test(every_compiler_accepts),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(elements_with_gaps_are_read_one_by_one),
        cmocka_unit_test(lanes_are_whole_vectors),
        cmocka_unit_test(integers_that_are_near_are_read_by_vectors),
        cmocka_unit_test(integers_that_are_far_are_combined_together),
        cmocka_unit_test(golden),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
