/* test_outer.c - uf_outer against loops over all combinations: any number of inputs, ranks and strides, numbers, masks, casts;
 * and what it refuses. On the CPU; the GPU where UF_TEST_GPU=1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "define.h"
#include "draw.h"
#include "views.h"

static const DLDataType I32 = {kDLInt, 32, 1}, F64 = {kDLFloat, 64, 1}, BOOL = {UF_BOOL_CODE, 8, 1};

static void known(void **state) {
    (void)state;
    int32_t a[] = {1, 2, 3}, b[] = {10, 20};
    double r[6];
    uf_func *f = make("int32,int32->int32", "(x, y) { return 3 * x - y; }");
    if (!views_on_gpu()) {
        OK(uf_outer(f, 3, (DLTensor[]){UF_ARRAY(a, 3), UF_ARRAY(b, 2), UF_ARRAY(r, 3, 2)}, NULL));
        for (int i = 0; i < 6; i++)
            assert_true(r[i] == 3 * a[i / 2] - b[i % 2]);
        OK(uf_outer(f, 3, (DLTensor[]){UF_ARRAY(a, 3), UF_SCALAR(7), UF_ARRAY(r, 3)}, NULL));
        for (int i = 0; i < 3; i++)
            assert_true(r[i] == 3 * a[i] - 7);
        /* the output may be larger, as in a call */
        OK(uf_outer(f, 3, (DLTensor[]){UF_ARRAY(a, 3), UF_SCALAR(7), UF_ARRAY(r, 2, 3)}, NULL));
        for (int i = 0; i < 6; i++)
            assert_true(r[i] == 3 * a[i % 3] - 7);
    }
    uf_free(f);
}

/* One random problem: inputs of random ranks, some of them numbers, and perhaps a mask. */
typedef struct problem {
    int nin, ndim;
    int64_t shape[VIEW_RANK];
    view in[3], out, before, mask;
    bool masked;
    int32_t number[3];
    bool is_number[3];
} problem;

static void fill(view *v) {
    int32_t *x = (int32_t *)(void *)v->block;
    for (int64_t i = 0; i < v->elements; i++)
        x[i] = (int32_t)pick(-1000, 1000);
}

static void draw_problem(problem *p) {
    memset(p, 0, sizeof *p);
    p->nin = (int)pick(1, 3);
    for (int k = 0; k < p->nin; k++) {
        int ndim = (int)pick(0, VIEW_RANK / 3);
        int64_t shape[VIEW_RANK];
        for (int d = 0; d < ndim; d++)
            p->shape[p->ndim++] = shape[d] = chance(4) ? 0 : pick(1, 5);
        view_make(&p->in[k], I32, ndim, shape);
        fill(&p->in[k]);
        GOOD(view_send(&p->in[k]));
        p->is_number[k] = ndim == 0 && chance(50);
        p->number[k] = (int32_t)pick(-1000, 1000);
    }
    view_make(&p->out, I32, p->ndim, p->shape);
    fill(&p->out);
    view_copy(&p->before, &p->out);
    GOOD(view_send(&p->out));
    p->masked = chance(30);
    view_make(&p->mask, BOOL, p->ndim, p->shape);
    for (int64_t i = 0; i < p->mask.elements; i++)
        p->mask.block[i] = (char)pick(0, 1);
    GOOD(view_send(&p->mask));
}

static int32_t value(const problem *p, int k, const int64_t *index) {
    return p->is_number[k] ? p->number[k] : *(int32_t *)view_at(&p->in[k], p->in[k].host.ndim, index);
}

/* Elements outside of the view must be what they were: the expected block is compared as a whole. */
static void expect(problem *p) {
    int64_t index[VIEW_RANK] = {0}, n = 1;
    for (int d = 0; d < p->ndim; d++)
        n *= p->shape[d];
    for (int64_t i = 0; i < n; i++, index_next(p->ndim, p->shape, index)) {
        int32_t x = 0;
        const int64_t *own = index;
        for (int k = 0; k < p->nin; k++) {
            x = 3 * x + value(p, k, own);
            own += p->in[k].host.ndim;
        }
        if (!p->masked || *(char *)view_at(&p->mask, p->ndim, index))
            *(int32_t *)view_at(&p->before, p->ndim, index) = x;
    }
}

static void random_problems(void **state) {
    (void)state;
    uf_func *f[] = {make(NULL, "(x) { return x; }"), make("int32,int32->int32", "(x, y) { return 3 * x + y; }"),
                    make("int32,int32,int32->int32", "(x, y, z) { return 3 * (3 * x + y) + z; }")};
    for (int64_t i = trials(400); i > 0; i--) {
        problem p;
        DLTensor args[4];
        draw_problem(&p);
        for (int k = 0; k < p.nin; k++) {
            args[k] = p.in[k].used;
            if (p.is_number[k])
                args[k] = (DLTensor){.data = &p.number[k], .device = {kDLCPU, 0}, .dtype = I32};
        }
        args[p.nin] = p.out.used;
        OK(uf_outer(f[p.nin - 1], p.nin + 1, args,
                    &(uf_options){.size = sizeof(uf_options), .where = p.masked ? &p.mask.used : NULL}));
        GOOD(view_fetch(&p.out));
        expect(&p);
        assert_memory_equal(p.out.block, p.before.block, (size_t)p.out.elements * sizeof(int32_t));
        view *all[] = {&p.in[0], &p.in[1], &p.in[2], &p.out, &p.before, &p.mask};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            view_free(all[k]);
    }
    for (int k = 0; k < 3; k++)
        uf_free(f[k]);
}

static void bad_input(void **state) {
    (void)state;
    enum {
        HALF = UF_MAX_NDIM / 2 + 1
    };
    double a[6] = {0}, r[36] = {0};
    int64_t ones[UF_MAX_NDIM + 1];
    for (int d = 0; d < UF_MAX_NDIM + 1; d++)
        ones[d] = 1;
    uf_func *f = make("float64,float64->float64", "(x, y) { return x * y; }"), *g;
    OK(uf_guvectorize(&g, "g", "(n),()->()", "float64,float64->float64",
                      "(x, y) -> (r) { r = sum(i : n, x[i]) * y; }"));
    DLTensor x = UF_ARRAY(a, 2), y = UF_ARRAY(a, 3), out = UF_ARRAY(r, 2, 3);
    DLTensor deep = {.data = a, .device = {kDLCPU, 0}, .ndim = HALF, .dtype = F64, .shape = ones};
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_outer(NULL, 3, (DLTensor[]){x, y, out}, NULL));
    FAILS(UF_ERR_ARGUMENT, "args is NULL", uf_outer(f, 3, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "takes 2 inputs", uf_outer(f, 2, (DLTensor[]){x, y}, NULL));
    FAILS(UF_ERR_ARGUMENT, "core dimensions", uf_outer(g, 3, (DLTensor[]){x, y, out}, NULL));
    FAILS(UF_ERR_ARGUMENT, "size", uf_outer(f, 3, (DLTensor[]){x, y, out}, &(uf_options){.size = 0}));
    FAILS(UF_ERR_SHAPE, "argument 1: its rank is 33, which makes that of the outputs 66",
          uf_outer(f, 3, (DLTensor[]){deep, deep, out}, NULL));
    FAILS(UF_ERR_SHAPE, "argument 2: its rank is 1, but those of the inputs add up to 2",
          uf_outer(f, 3, (DLTensor[]){x, y, UF_ARRAY(r, 3)}, NULL));
    FAILS(UF_ERR_SHAPE, "argument 0: dimension 0 is 2, but dimension 0 of argument 2, an output, is 3",
          uf_outer(f, 3, (DLTensor[]){x, y, UF_ARRAY(r, 3, 2)}, NULL));
    FAILS(UF_ERR_SHAPE, "argument 1: dimension 0 is 3, but dimension 1 of argument 2, an output, is 2",
          uf_outer(f, 3, (DLTensor[]){x, y, UF_ARRAY(r, 2, 2)}, NULL));
    deep.ndim = UF_MAX_NDIM + 1;
    FAILS(UF_ERR_ARGUMENT, "argument 0: its rank is 65", uf_outer(f, 3, (DLTensor[]){deep, y, out}, NULL));
    deep.ndim = -1;
    FAILS(UF_ERR_ARGUMENT, "argument 1: its rank is -1", uf_outer(f, 3, (DLTensor[]){x, deep, out}, NULL));
    deep.ndim = 2;
    deep.shape = NULL;
    FAILS(UF_ERR_ARGUMENT, "argument 1: its shape is NULL", uf_outer(f, 3, (DLTensor[]){x, deep, out}, NULL));
    x.dtype.bits = 7;
    FAILS(UF_ERR_ARGUMENT, "argument 0", uf_outer(f, 3, (DLTensor[]){x, y, out}, NULL));
    uf_free(f);
    uf_free(g);
}

/* All of the ranks that are possible, and views that do not fit the stack. */
static void large_ranks(void **state) {
    (void)state;
    enum {
        HALF = UF_MAX_NDIM / 2
    };
    int64_t shape[2][HALF], whole[UF_MAX_NDIM];
    int32_t a[2] = {5, 7}, b[3] = {2, 3, 4}, r[6];
    for (int d = 0; d < HALF; d++)
        shape[0][d] = shape[1][d] = 1;
    shape[0][3] = 2;
    shape[1][30] = 3;
    memcpy(whole, shape, sizeof whole);
    if (views_on_gpu())
        skip();
    uf_func *f = make("int32,int32->int32", "(x, y) { return 10 * x + y; }");
    DLTensor args[] = {UF_ARRAY(a, 2), UF_ARRAY(b, 3), UF_ARRAY(r, 6)};
    for (int k = 0; k < 3; k++) {
        args[k].ndim = k < 2 ? HALF : UF_MAX_NDIM;
        args[k].shape = k < 2 ? shape[k] : whole;
    }
    OK(uf_outer(f, 3, args, NULL));
    for (int i = 0; i < 6; i++)
        assert_int_equal(r[i], 10 * a[i / 3] + b[i % 3]);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known), cmocka_unit_test_setup(random_problems, draw_seed),
                                       cmocka_unit_test(bad_input), cmocka_unit_test(large_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
