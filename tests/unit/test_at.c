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

#include "type/type.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "views.h"

#define OK(...)                                                              \
    do {                                                                     \
        uf_status ok_status = (__VA_ARGS__);                                 \
        if (ok_status)                                                       \
            print_error("%s: %s\n", #__VA_ARGS__, uf_last_error()->message); \
        assert_int_equal(ok_status, UF_OK);                                  \
    } while (0)

#define FAILS(expected, part, ...)                                  \
    do {                                                            \
        assert_int_equal((__VA_ARGS__), expected);                  \
        assert_int_equal(uf_last_error()->status, expected);        \
        if (!strstr(uf_last_error()->message, part))                \
            print_error("message: %s\n", uf_last_error()->message); \
        assert_non_null(strstr(uf_last_error()->message, part));    \
    } while (0)

#define GOOD(expression)                \
    do {                                \
        const char *wrong = expression; \
        if (wrong)                      \
            print_error("%s\n", wrong); \
        assert_null(wrong);             \
    } while (0)

static uf_func *make(const char *signatures, const char *source) {
    uf_func *f;
    OK(uf_vectorize(&f, "f", signatures, source));
    return f;
}

/* ---- Random problems ---- */

enum {
    INDICES = 4,
    FUNCTIONS = 5
};

/* What is computed, in int64 where both dtypes are integers, else in double: small integers that are exact in all dtypes. */
typedef struct rule {
    const char *source;
    bool unary, ordered; /* do results depend on the order of updates? */
    bool complex;        /* does it take complex numbers? */
} rule;
static const rule rules[FUNCTIONS] = {{"(x, y) { return x + y; }", false, false, true},
                                      {"(x, y) { return y; }", false, true, true},
                                      {"(x, y) { return x > 10 ? x - 7 : x + 2 * y; }", false, true, false},
                                      {"(x, y) { return max(x, y); }", false, false, false},
                                      {"(x) { return x > 12 ? 1 : x + 3; }", true, false, false}};

static double apply(int f, double x, double y) {
    switch (f) {
    case 0:
        return x + y;
    case 1:
        return y;
    case 2:
        return x > 10 ? x - 7 : x + 2 * y;
    case 3:
        return x > y ? x : y;
    default:
        return x > 12 ? 1 : x + 3;
    }
}

typedef struct problem {
    int f, nindices, rest, ndim; /* ndim: of the updates */
    dtype type, operand_type;
    int64_t shape[VIEW_RANK]; /* of the updates */
    view target, expected, index[INDICES], operand;
    bool number, deterministic;
    _Alignas(16) char value[16]; /* of a number */
} problem;

static double real_of(number n) {
    if (n.type == DT_BOOL || (dtype_is_integer(n.type) && !dtypes[n.type].is_signed))
        return (double)n.as.u;
    return dtype_is_integer(n.type) ? (double)n.as.i : n.as.f[0];
}

static number number_of(double x, dtype like) {
    if (dtype_is_integer(like) || like == DT_BOOL)
        return (number){.type = DT_INT64, .as.i = (int64_t)x};
    return (number){.type = DT_FLOAT64, .as.f = {x, 0}};
}

static void fill(view *v, dtype type, int64_t low, int64_t high) {
    int size = dtypes[type].size;
    for (int64_t i = 0; i < v->elements; i++)
        number_write(number_of((double)pick(low, high), DT_INT64), type, v->block + i * size);
}

/* A shape that broadcasts to one. */
static int narrower(int ndim, const int64_t *shape, int64_t *out) {
    int drop = chance(70) ? 0 : (int)pick(0, ndim);
    for (int d = drop; d < ndim; d++)
        out[d - drop] = chance(80) ? shape[d] : 1;
    return ndim - drop;
}

static void draw_index(problem *p, int i, int ndim, const int64_t *shape, int64_t extent) {
    dtype type = (dtype)pick(DT_INT8, DT_UINT64);
    int64_t own[VIEW_RANK];
    int own_ndim = ndim;
    memcpy(own, shape, sizeof own);
    if (i)
        own_ndim = narrower(ndim, shape, own);
    view_make(&p->index[i], dtypes[type].dl, own_ndim, own);
    fill(&p->index[i], type, dtypes[type].is_signed ? -extent : 0, extent - 1);
}

static void draw_operand(problem *p) {
    int64_t own[VIEW_RANK];
    dtype most = rules[p->f].complex ? DT_COMPLEX128 : DT_FLOAT64;
    p->operand_type = (dtype)pick(DT_BOOL, most);
    if (dtype_is_complex(p->operand_type) && !dtype_is_complex(p->type))
        p->operand_type = DT_FLOAT32;
    p->number = chance(25);
    int ndim = narrower(p->ndim, p->shape, own);
    if (p->number || rules[p->f].unary)
        ndim = 0;
    view_make(&p->operand, dtypes[p->operand_type].dl, ndim, own);
    fill(&p->operand, p->operand_type, 0, p->operand_type == DT_BOOL ? 1 : 3);
    memcpy(p->value, p->operand.host.data, dtypes[p->operand_type].size);
}

static void draw_problem(problem *p) {
    int64_t whole[VIEW_RANK], shape[VIEW_RANK];
    memset(p, 0, sizeof *p);
    p->f = (int)pick(0, FUNCTIONS - 1);
    p->type = (dtype)pick(DT_INT8, rules[p->f].complex ? DT_COMPLEX128 : DT_FLOAT64);
    p->nindices = (int)pick(1, 3);
    p->rest = (int)pick(0, 2);
    for (int d = 0; d < p->nindices + p->rest; d++)
        whole[d] = pick(1, 6);
    if (p->rest && chance(20))
        whole[p->nindices + p->rest - 1] = pick(40, 300);
    view_make(&p->target, dtypes[p->type].dl, p->nindices + p->rest, whole);
    fill(&p->target, p->type, 0, 20);
    p->ndim = (int)pick(0, 2);
    for (int d = 0; d < p->ndim; d++)
        shape[d] = chance(3) ? 0 : pick(1, 6);
    if (p->ndim == 1 && !p->rest && chance(20))
        shape[0] = pick(30, 60);
    for (int i = 0; i < p->nindices; i++)
        draw_index(p, i, p->ndim, shape, whole[i]);
    memcpy(p->shape, shape, sizeof shape);
    memcpy(p->shape + p->ndim, whole + p->nindices, (size_t)p->rest * sizeof *whole);
    p->ndim += p->rest;
    draw_operand(p);
    view_copy(&p->expected, &p->target);
    p->deterministic = rules[p->f].ordered || chance(20);
}

static number operand_at(const problem *p, const int64_t *index) {
    return number_read(p->operand_type, p->number ? p->value : view_at(&p->operand, p->ndim, index));
}

/* One update of the expected target. */
static void expect_update(problem *p, const int64_t *index) {
    int64_t at[VIEW_RANK];
    for (int i = 0; i < p->nindices; i++) {
        dtype type = dtype_of_dl(p->index[i].host.dtype);
        number n = number_read(type, view_at(&p->index[i], p->ndim - p->rest, index));
        at[i] = n.as.i < 0 ? n.as.i + p->target.shape[i] : n.as.i;
    }
    memcpy(at + p->nindices, index + p->ndim - p->rest, (size_t)p->rest * sizeof *at);
    void *element = view_at(&p->expected, p->nindices + p->rest, at);
    double x = real_of(number_read(p->type, element)), y = real_of(operand_at(p, index));
    bool integers = p->operand_type <= DT_UINT64 || rules[p->f].unary;
    number_write(number_of(apply(p->f, x, y), integers ? p->type : DT_FLOAT64), p->type, element);
}

static void expect(problem *p) {
    int64_t index[VIEW_RANK] = {0}, n = 1;
    for (int d = 0; d < p->ndim; d++)
        n *= p->shape[d];
    for (int64_t i = 0; i < n; i++, index_next(p->ndim, p->shape, index))
        expect_update(p, index);
}

static void send(problem *p) {
    GOOD(view_send(&p->target));
    GOOD(view_send(&p->operand));
    for (int i = 0; i < p->nindices; i++)
        GOOD(view_send(&p->index[i]));
}

static void release(problem *p) {
    view_free(&p->target);
    view_free(&p->expected);
    view_free(&p->operand);
    for (int i = 0; i < p->nindices; i++)
        view_free(&p->index[i]);
}

static void random_problems(void **state) {
    (void)state;
    uf_func *f[FUNCTIONS];
    for (int i = 0; i < FUNCTIONS; i++)
        f[i] = make(NULL, rules[i].source);
    for (int64_t i = trials(views_on_gpu() ? 150 : 300); i > 0; i--) {
        problem p;
        DLTensor indices[INDICES];
        draw_problem(&p);
        send(&p);
        for (int k = 0; k < p.nindices; k++)
            indices[k] = p.index[k].used;
        DLTensor operand = p.operand.used,
                 value = {.data = p.value, .device = {kDLCPU, 0}, .dtype = p.operand.host.dtype};
        OK(uf_at(f[p.f], &p.target.used, p.nindices, indices,
                 rules[p.f].unary ? NULL
                 : p.number       ? &value
                                  : &operand,
                 &(uf_options){.size = sizeof(uf_options),
                               .casting = UF_CAST_UNSAFE,
                               .flags = p.deterministic ? UF_DETERMINISTIC : 0}));
        GOOD(view_fetch(&p.target));
        expect(&p);
        assert_memory_equal(p.target.block, p.expected.block, (size_t)p.target.elements * (size_t)dtypes[p.type].size);
        release(&p);
    }
    for (int i = 0; i < FUNCTIONS; i++)
        uf_free(f[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(random_problems, draw_seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
