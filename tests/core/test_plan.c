/* test_plan.c - plans of reductions, accumulations, segments and updates on the CPU: on random arrays each gives what the call gives,
 * for one set of addresses after the other; what a run reads again, what it refuses, and threads that share a plan. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "at_case.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "expect.h"

static const DLDataType types[] = {{kDLFloat, 64, 1}, {kDLFloat, 32, 1}, {kDLInt, 32, 1}, {kDLInt, 8, 1}};

static void *address(const view *v) { return (char *)v->host.data + v->host.byte_offset; }

static void element_set(void *at, DLDataType type, int64_t value) {
    if (type.code == UF_BOOL_CODE)
        *(uint8_t *)at = value & 1;
    else if (type.code == kDLFloat && type.bits == 64)
        *(double *)at = (double)value;
    else if (type.code == kDLFloat)
        *(float *)at = (float)value;
    else if (type.bits == 64)
        *(int64_t *)at = value;
    else if (type.bits == 32)
        *(int32_t *)at = (int32_t)value;
    else
        *(int8_t *)at = (int8_t)value;
}

static void fill(view *v, int64_t low, int64_t high) {
    int64_t index[VIEW_RANK] = {0};
    if (!v->block)
        return;
    for (int d = 0; d < v->host.ndim; d++)
        if (v->shape[d] == 0)
            return;
    do
        element_set(view_at(v, v->host.ndim, index), v->host.dtype, pick(low, high));
    while (index_next(v->host.ndim, v->shape, index));
}

static void same(const view *a, const view *b) {
    assert_memory_equal(a->block, b->block, (size_t)a->elements * (a->host.dtype.bits / 8));
}

/* What of an argument a plan is to look at: not its address. */
static DLTensor without_address(const view *v) {
    DLTensor t = v->host;
    if (chance(70)) {
        t.data = NULL;
        t.byte_offset = 0;
    }
    return t;
}

/* ---- Reductions, accumulations, segments ---- */

enum {
    FUNCTIONS = 5,
    REDUCE = 0,
    ACCUMULATE,
    REDUCEAT,
    VERBS
};

static uf_func *functions[FUNCTIONS];

static int functions_load(void **state) {
    static const char *const names[FUNCTIONS] = {"add", "maximum", "mean", "var", "argmax"};
    draw_seed(state);
    for (int i = 0; i < FUNCTIONS; i++)
        if (uf_load(&functions[i], names[i]))
            return 1;
    return 0;
}

static int functions_free(void **state) {
    (void)state;
    for (int i = 0; i < FUNCTIONS; i++)
        uf_free(functions[i]);
    return 0;
}

typedef struct problem {
    int verb, axis;
    const uf_func *func;
    view x, where, starts, out;
    int64_t initial_value;
    DLTensor initial;
    int axes[VIEW_RANK];
    uf_reduce_options reduce;
} problem;

/* The shape and dtype of the result are as the library infers them. */
static bool output_make(problem *p) {
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[2] = {p->x.host, {.shape = shape}};
    uf_status s = p->verb == REDUCE ? uf_reduce_infer(p->func, 2, args, &p->reduce)
                                    : uf_accumulate_infer(p->func, 2, args, p->axis, NULL);
    if (s)
        return false;
    if (p->verb == REDUCEAT)
        shape[p->axis] = p->starts.shape[0];
    view_make(&p->out, args[1].dtype, args[1].ndim, shape);
    return true;
}

static void starts_draw(problem *p) {
    static const DLDataType kinds[] = {{kDLInt, 64, 1}, {kDLInt, 32, 1}, {kDLInt, 8, 1}};
    int64_t n = p->x.shape[p->axis] ? pick(0, 6) : 0;
    view_make(&p->starts, kinds[pick(0, 2)], 1, &n);
    fill(&p->starts, 0, p->x.shape[p->axis] - 1);
}

static bool problem_draw(problem *p) {
    int64_t shape[4];
    *p = (problem){.verb = (int)pick(0, VERBS - 1), .func = functions[pick(0, FUNCTIONS - 1)]};
    int rank = (int)pick(p->verb != REDUCE, 4);
    for (int d = 0; d < rank; d++)
        shape[d] = chance(4) ? 0 : pick(1, 9);
    view_make(&p->x, types[pick(0, 3)], rank, shape);
    fill(&p->x, -20, 20);
    p->reduce = (uf_reduce_options){.size = sizeof p->reduce, .threads = (int)pick(0, 3), .keepdims = chance(30)};
    p->axis = rank ? (int)pick(0, rank - 1) : 0;
    for (int d = 0; d < rank; d++)
        if (chance(50))
            p->axes[p->reduce.naxes++] = d;
    p->reduce.axes = p->axes;
    if (!p->reduce.naxes)
        p->reduce.naxes = UF_NO_AXES;
    p->initial_value = pick(-5, 5);
    p->initial = UF_SCALAR(p->initial_value);
    p->initial.data = &p->initial_value;
    if (p->verb == REDUCE && chance(40) && (p->func == functions[0] || p->func == functions[1]))
        p->reduce.initial = &p->initial;
    if (p->verb == REDUCE && chance(30)) {
        view_make(&p->where, (DLDataType){UF_BOOL_CODE, 8, 1}, rank, shape);
        fill(&p->where, 0, 1);
        p->reduce.where = &p->where.host;
    }
    if (p->verb == REDUCEAT)
        starts_draw(p);
    return output_make(p);
}

static uf_status call(const problem *p, const view *x, const view *out) {
    DLTensor args[2] = {x->host, out->host};
    const uf_options o = {.size = sizeof o, .threads = p->reduce.threads};
    return p->verb == REDUCE       ? uf_reduce(p->func, 2, args, &p->reduce)
           : p->verb == ACCUMULATE ? uf_accumulate(p->func, 2, args, p->axis, &o)
                                   : uf_reduceat(p->func, 2, args, &p->starts.host, p->axis, &o);
}

static uf_status plan_make(const problem *p, uf_plan **plan) {
    DLTensor args[2] = {without_address(&p->x), without_address(&p->out)}, starts = without_address(&p->starts),
             where = without_address(&p->where), initial = p->initial;
    const uf_options o = {.size = sizeof o, .threads = p->reduce.threads};
    uf_reduce_options r = p->reduce;
    r.where = r.where ? &where : NULL;
    r.initial = r.initial ? &initial : NULL;
    initial.data = chance(50) ? NULL : initial.data;
    return p->verb == REDUCE       ? uf_reduce_plan(plan, p->func, 2, args, &r)
           : p->verb == ACCUMULATE ? uf_accumulate_plan(plan, p->func, 2, args, p->axis, &o)
                                   : uf_reduceat_plan(plan, p->func, 2, args, &starts, p->axis, &o);
}

static uf_status run(const problem *p, const uf_plan *plan, const view *x, const view *out) {
    void *data[5] = {address(x), address(out)};
    int n = 2;
    if (p->verb == REDUCEAT)
        data[n++] = address(&p->starts);
    if (p->reduce.where)
        data[n++] = address(&p->where);
    if (p->reduce.initial)
        data[n++] = (void *)(uintptr_t)&p->initial_value;
    return uf_plan_run(plan, data, NULL);
}

/* The same plan for the arrays it was made with, for others, and once more in place where that is possible. */
static void problem_compare(problem *p, const uf_plan *plan) {
    view x, expected, got;
    view_copy(&x, &p->x);
    for (int again = 0; again < 3; again++) {
        view_copy(&expected, &p->out);
        view_copy(&got, &p->out);
        OK(call(p, again ? &x : &p->x, &expected));
        OK(run(p, plan, again ? &x : &p->x, &got));
        same(&expected, &got);
        view_free(&expected);
        view_free(&got);
        fill(&x, -9, 9);
        fill(&p->where, 0, 1);
        if (p->verb == REDUCEAT)
            fill(&p->starts, 0, p->x.shape[p->axis] - 1);
        p->initial_value++;
    }
    view_free(&x);
}

static void random_problems(void **state) {
    int made = 0, refused = 0;
    (void)state;
    for (int64_t i = trials(400); i > 0; i--) {
        problem p;
        uf_plan *plan = (uf_plan *)&p;
        if (problem_draw(&p)) {
            view first;
            view_copy(&first, &p.out);
            uf_status s = call(&p, &p.x, &first);
            view_free(&first);
            assert_int_equal(plan_make(&p, &plan), s);
            made += !s;
            refused += s != UF_OK;
            if (s)
                assert_null(plan);
            else
                problem_compare(&p, plan);
            uf_plan_free(s ? NULL : plan);
            view_free(&p.out);
        }
        view_free(&p.x);
        view_free(&p.where);
        view_free(&p.starts);
    }
    print_message("%d plans, %d refused\n", made, refused);
    assert_true(made > 50);
}

/* So many elements that they are divided in parts: two launches, and states between them. The output may overlap the input. */
static void parts(void **state) {
    enum {
        N = 1 << 20
    };
    (void)state;
    float *x = malloc(N * sizeof *x), expected = 0, got = 0, start = 7;
    uf_plan *plan;
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 1000);
    DLTensor args[2] = {UF_ARRAY(x, N), UF_ARRAY(&expected, 1)}, initial = UF_SCALAR(start);
    args[1].ndim = 0;
    const uf_reduce_options o = {.size = sizeof o, .initial = &initial};
    OK(uf_reduce_plan(&plan, functions[0], 2, args, &o));
    for (int i = 0; i < 3; i++) {
        start = (float)i;
        initial.data = &start;
        OK(uf_reduce(functions[0], 2, args, &o));
        OK(uf_plan_run(plan, (void *[]){x, &got, &start}, NULL));
        assert_true(got == expected && got > N);
        x[i] = 1e6f;
    }
    OK(uf_plan_run(plan, (void *[]){x, x + 5, &start}, NULL));
    args[1].data = &expected;
    x[5] = 5;
    OK(uf_reduce(functions[0], 2, args, &o));
    x[5] = 5;
    OK(uf_plan_run(plan, (void *[]){x, x + 5, &start}, NULL));
    assert_true(x[5] == expected);
    uf_plan_free(plan);
    free(x);
}

/* A scan runs in place, and what else overlaps is as if it had been copied. */
static void overlaps(void **state) {
    int32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uf_plan *plan;
    (void)state;
    OK(uf_accumulate_plan(&plan, functions[0], 2, (DLTensor[]){UF_ARRAY(x, 6), UF_ARRAY(x, 6)}, 0, NULL));
    OK(uf_plan_run(plan, (void *[]){x, x}, NULL));
    assert_true(x[0] == 1 && x[5] == 21 && x[6] == 7);
    OK(uf_plan_run(plan, (void *[]){x, x + 1}, NULL));
    assert_true(x[0] == 1 && x[1] == 1 && x[2] == 4 && x[6] == 1 + 3 + 6 + 10 + 15 + 21);
    uf_plan_free(plan);
}

/* ---- Updates ---- */

static void random_updates(void **state) {
    uf_func *f[AT_RULES];
    (void)state;
    for (int i = 0; i < AT_RULES; i++)
        OK(uf_vectorize(&f[i], "f", NULL, at_rules[i].source));
    for (int64_t i = trials(150); i > 0; i--) {
        at_case p;
        view other;
        DLTensor indices[AT_INDICES];
        void *data[AT_INDICES + 2];
        uf_plan *plan;
        at_draw(&p, false);
        view_copy(&other, &p.target);
        for (int k = 0; k < p.nindices; k++)
            indices[k] = without_address(&p.index[k]);
        DLTensor target = without_address(&p.target), operand = without_address(&p.operand),
                 value = {.device = {kDLCPU, 0}, .dtype = p.operand.host.dtype};
        const DLTensor *given = at_rules[p.rule].unary ? NULL : p.number ? &value : &operand;
        OK(uf_at_plan(&plan, f[p.rule], &target, p.nindices, indices, given,
                      &(uf_options){.size = sizeof(uf_options), .casting = UF_CAST_UNSAFE}));
        at_expect(&p);
        for (int k = 0; k < p.nindices; k++)
            data[1 + k] = address(&p.index[k]);
        data[1 + p.nindices] = p.number ? (void *)p.value : given ? address(&p.operand) : NULL;
        for (int again = 0; again < 2; again++) {
            data[0] = address(again ? &other : &p.target);
            OK(uf_plan_run(plan, data, NULL));
            same(again ? &other : &p.target, &p.expected);
        }
        uf_plan_free(plan);
        view_free(&other);
        at_release(&p);
    }
    for (int i = 0; i < AT_RULES; i++)
        uf_free(f[i]);
}

/* Operand and indices that overlap the target at some addresses and not at others. */
static void updates_that_overlap(void **state) {
    int64_t x[] = {1, 2, 3, 0, 1, 2}, y[] = {3, 0, 1, 2};
    uf_plan *plan;
    (void)state;
    OK(uf_at_plan(&plan, functions[0], &UF_ARRAY(x, 4), 1, &UF_ARRAY(y, 4), &UF_ARRAY(y, 4), NULL));
    OK(uf_plan_run(plan, (void *[]){x, x + 2, x + 1}, NULL));
    assert_true(x[0] == 1 + 3 && x[1] == 2 + 0 && x[2] == 3 + 1 && x[3] == 0 + 2 && x[4] == 1 && x[5] == 2);
    OK(uf_plan_run(plan, (void *[]){x, y, y}, NULL));
    assert_true(x[3] == 2 + 3 && x[0] == 4 + 0 && x[1] == 2 + 1 && x[2] == 4 + 2);
    uf_plan_free(plan);
}

/* ---- Bad input ---- */

static void made_of_nonsense(void **state) {
    double x[4] = {1, 2, 3, 4}, r[4], word = 0;
    int64_t starts[] = {0, 2};
    uf_func *kernel, *product;
    uf_plan *plan = (uf_plan *)x;
    const DLTensor a[2] = {UF_ARRAY(x, 4), UF_ARRAY(r, 4)};
    const DLTensor floating = {.data = &word, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}};
    (void)state;
    OK(uf_kernel(&kernel, "kernel", "float64[]", "[i](a) { a[i] = 1; }"));
    OK(uf_load(&product, "matvec"));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_reduce_plan(NULL, functions[0], 2, a, NULL));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_accumulate_plan(NULL, functions[0], 2, a, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_reduceat_plan(NULL, functions[0], 2, a, &a[0], 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_at_plan(NULL, functions[0], a, 1, a, a, NULL));
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_reduce_plan(&plan, NULL, 2, a, NULL));
    assert_null(plan);
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_at_plan(&plan, NULL, a, 1, a, a, NULL));
    FAILS(UF_ERR_ARGUMENT, "kernel is a kernel over indices", uf_reduce_plan(&plan, kernel, 2, a, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_accumulate_plan: matvec has 2 inputs",
          uf_accumulate_plan(&plan, product, 2, a, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "must be elementwise", uf_at_plan(&plan, product, a, 1, a, a, NULL));
    FAILS(UF_ERR_ARGUMENT, "no kernel over indices",
          uf_forall_plan(&plan, functions[0], 1, (int64_t[]){4}, 3, (DLTensor[]){a[0], a[0], a[1]}, NULL));
    FAILS(UF_ERR_ARGUMENT, "is a reduction", uf_plan_new(&plan, functions[2], 2, a, NULL));
    FAILS(UF_ERR_ARGUMENT, "args is NULL", uf_reduce_plan(&plan, functions[0], 2, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "starts is NULL", uf_reduceat_plan(&plan, functions[0], 2, a, NULL, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "starts: its dtype is float64", uf_reduceat_plan(&plan, functions[0], 2, a, a, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_reduceat_plan does not take UF_STAGE",
          uf_reduceat_plan(&plan, functions[0], 2, a, &UF_ARRAY(starts, 2), 0,
                           &(uf_options){.size = sizeof(uf_options), .flags = UF_STAGE}));
    FAILS(UF_ERR_ARGUMENT, "indices is NULL", uf_at_plan(&plan, functions[0], a, 1, NULL, a, NULL));
    FAILS(UF_ERR_SHAPE, "its rank is 1, but that of the results is 0", uf_reduce_plan(&plan, functions[0], 2, a, NULL));
    FAILS(UF_ERR_CAST, "initial value 0: is float64, which does not cast to int64",
          uf_reduce_plan(&plan, functions[0], 2, (DLTensor[]){UF_ARRAY(starts, 2), UF_OUT(starts[0])},
                         &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &floating}));
    assert_null(plan);
    uf_free(kernel);
    uf_free(product);
}

static void run_on_nonsense(void **state) {
    double x[4] = {1, 2, 3, 4}, r[4] = {9, 9, 9, 9};
    int64_t at[] = {0, 2}, large = 300;
    int8_t small[4] = {1, 2, 3, 4}, result;
    uf_plan *plan;
    DLTensor zero_d = {.data = &result, .device = {kDLCPU, 0}, .dtype = {kDLInt, 8, 1}};
    DLTensor initial = UF_SCALAR(large);
    (void)state;
    OK(uf_reduceat_plan(&plan, functions[0], 2, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(r, 2)}, &UF_ARRAY(at, 2), 0,
                        NULL));
    FAILS(UF_ERR_ARGUMENT, "data is NULL", uf_plan_run(plan, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "argument 0: its data is NULL", uf_plan_run(plan, (void *[]){NULL, r, at}, NULL));
    FAILS(UF_ERR_ARGUMENT, "argument 1: its data is at", uf_plan_run(plan, (void *[]){x, (char *)r + 4, at}, NULL));
    FAILS(UF_ERR_ARGUMENT, "starts: its data is NULL", uf_plan_run(plan, (void *[]){x, r, NULL}, NULL));
    FAILS(UF_ERR_ARGUMENT, "starts: its data is at", uf_plan_run(plan, (void *[]){x, r, (char *)at + 1}, NULL));
    at[1] = 4;
    FAILS(UF_ERR_ARGUMENT, "starts: element 1 is 4, but must be from 0 to 3",
          uf_plan_run(plan, (void *[]){x, r, at}, NULL));
    at[1] = 1;
    assert_true(r[0] == 9 && r[1] == 9);
    OK(uf_plan_run(plan, (void *[]){x, r, at}, NULL));
    assert_true(r[0] == 1 && r[1] == 9);
    uf_plan_free(plan);

    OK(uf_at_plan(&plan, functions[0], &UF_ARRAY(x, 4), 1, &UF_ARRAY(at, 2), &UF_ARRAY(r, 2), NULL));
    FAILS(UF_ERR_ARGUMENT, "target: its data is NULL", uf_plan_run(plan, (void *[]){NULL, at, r}, NULL));
    FAILS(UF_ERR_ARGUMENT, "indices[0]: its data is NULL", uf_plan_run(plan, (void *[]){x, NULL, r}, NULL));
    FAILS(UF_ERR_ARGUMENT, "operand: its data is at", uf_plan_run(plan, (void *[]){x, at, (char *)r + 1}, NULL));
    at[0] = -5;
    FAILS(UF_ERR_ARGUMENT, "indices[0]: element (0) is -5, but dimension 0 of target is 4",
          uf_plan_run(plan, (void *[]){x, at, r}, NULL));
    assert_true(uf_last_error()->argument == 1 && x[0] == 1 && x[1] == 2);
    uf_plan_free(plan);

    uf_func *narrow;
    OK(uf_vectorize(&narrow, "narrow", "int8,int8->int8", "(a, b) { return a + b; }"));
    OK(uf_reduce_plan(&plan, narrow, 2, (DLTensor[]){UF_ARRAY(small, 4), zero_d},
                      &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &initial}));
    FAILS(UF_ERR_CAST, "initial value 0: 300 does not fit int8",
          uf_plan_run(plan, (void *[]){small, &result, &large}, NULL));
    FAILS(UF_ERR_ARGUMENT, "initial value 0: its data is NULL",
          uf_plan_run(plan, (void *[]){small, &result, NULL}, NULL));
    large = 100;
    OK(uf_plan_run(plan, (void *[]){small, &result, &large}, NULL));
    assert_int_equal(result, 110);
    uf_plan_free(plan);

    OK(uf_at_plan(&plan, narrow, &UF_ARRAY(small, 4), 1, &UF_ARRAY(at, 2), &UF_SCALAR((int64_t)1), NULL));
    large = 1000;
    at[0] = 0;
    FAILS(UF_ERR_CAST, "operand: 1000 does not fit int8", uf_plan_run(plan, (void *[]){small, at, &large}, NULL));
    uf_plan_free(plan);
    uf_free(narrow);
}

/* Nothing to compute: addresses may be NULL, numbers are there all the same. */
static void idle(void **state) {
    double x[4] = {1, 2, 3, 4}, initial = 5;
    int64_t bad = 7;
    uf_plan *plan;
    DLTensor start = UF_SCALAR(initial);
    (void)state;
    OK(uf_reduce_plan(
        &plan, functions[0], 2, (DLTensor[]){UF_ARRAY(x, 3, 0), UF_ARRAY(x, 0)},
        &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = 1, .axes = (int[]){0}, .initial = &start}));
    OK(uf_plan_run(plan, (void *[]){NULL, NULL, &initial}, NULL));
    FAILS(UF_ERR_ARGUMENT, "initial value 0: its data is NULL", uf_plan_run(plan, (void *[]){NULL, NULL, NULL}, NULL));
    uf_plan_free(plan);
    OK(uf_at_plan(&plan, functions[0], &UF_ARRAY(x, 4, 0), 1, &UF_ARRAY(&bad, 1), &UF_SCALAR(1.0), NULL));
    FAILS(UF_ERR_ARGUMENT, "is 7, but dimension 0 of target is 4",
          uf_plan_run(plan, (void *[]){NULL, &bad, &initial}, NULL));
    uf_plan_free(plan);
}

/* ---- Threads ---- */

enum {
    THREADS = 4,
    LENGTH = 5000
};

static uf_plan *shared_sum, *shared_segments, *shared_updates;

/* A sum with an initial value of its own, segments, and updates, each of its own arrays. */
static void *share(void *user) {
    intptr_t k = (intptr_t)user;
    double *x = malloc(LENGTH * sizeof *x), sums[2], initial = (double)k, sum = -1;
    int64_t starts[2] = {0, 100 + k}, indices[3] = {0, 1, k};
    for (int i = 0; i < LENGTH; i++)
        x[i] = (double)k;
    for (int round = 0; round < 200; round++) {
        if (uf_plan_run(shared_sum, (void *[]){x, &sum, &initial}, NULL) || sum != (double)(k * (LENGTH + 1)))
            return user;
        if (uf_plan_run(shared_segments, (void *[]){x, sums, starts}, NULL) || sums[0] != (double)(k * (100 + k)))
            return user;
    }
    double one = 1;
    for (int round = 0; round < 200; round++)
        if (uf_plan_run(shared_updates, (void *[]){x, indices, &one}, NULL))
            return user;
    bool right = x[k] == (double)(k + (k < 2 ? 400 : 200));
    free(x);
    return right ? NULL : user;
}

static void threads(void **state) {
    double any[LENGTH], sums[2] = {0};
    int64_t at[3] = {0, 1, 2};
    pthread_t thread[THREADS];
    (void)state;
    DLTensor x = UF_ARRAY(any, LENGTH), sum = UF_OUT(sums[0]), one = UF_SCALAR(1.0);
    OK(uf_reduce_plan(&shared_sum, functions[0], 2, (DLTensor[]){x, sum},
                      &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &one}));
    OK(uf_reduceat_plan(&shared_segments, functions[0], 2, (DLTensor[]){x, UF_ARRAY(sums, 2)}, &UF_ARRAY(at, 2), 0,
                        NULL));
    OK(uf_at_plan(&shared_updates, functions[0], &x, 1, &UF_ARRAY(at, 3), &one, NULL));
    for (intptr_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, share, (void *)(k + 1)), 0);
    for (int k = 0; k < THREADS; k++) {
        void *wrong;
        pthread_join(thread[k], &wrong);
        assert_null(wrong);
    }
    uf_plan_free(shared_sum);
    uf_plan_free(shared_segments);
    uf_plan_free(shared_updates);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(parts),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(random_updates),
        cmocka_unit_test(updates_that_overlap),
        cmocka_unit_test(made_of_nonsense),
        cmocka_unit_test(run_on_nonsense),
        cmocka_unit_test(idle),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, functions_load, functions_free);
}
