/* test_named.c - the macros with arguments in place and options by name: each does what its function does, refuses what that refuses,
 * and says so; arrays of C of all ranks and types; outputs that are made by inference; outputs that are numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expect.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "define.h"

static bool same_shape(const DLTensor *t, int ndim, const int64_t *shape) {
    return t->ndim == ndim && !memcmp(t->shape, shape, (size_t)ndim * sizeof *shape);
}

static bool is_type(DLDataType t, int code, int bits, int lanes) {
    return t.code == code && t.bits == bits && t.lanes == lanes;
}

static uf_func *loaded(const char *name) {
    uf_func *f;
    OK(uf_load(&f, name));
    return f;
}

/* ---- Arrays of C ---- */

#define WHOLE(array, code, bits, ...)                                                                           \
    do {                                                                                                        \
        const DLTensor whole = UF_ARRAY(array);                                                                 \
        assert_true(same_shape(&whole, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})); \
        assert_true(is_type(whole.dtype, code, bits, 1) && whole.data == (const void *)(array));                \
        assert_true(!whole.strides && !whole.byte_offset && whole.device.device_type == kDLCPU);                \
    } while (0)

static void arrays_of_c(void **state) {
    (void)state;
    float one[5] = {0}, two[3][4] = {{0}};
    const int16_t three[2][3][4] = {{{0}}};
    _Bool four[1][2][3][4] = {{{{0}}}};
    double _Complex five[2][1][3][1][2] = {{{{{0}}}}};
    static uint8_t six[2][3][4][5][6][7];
    WHOLE(one, kDLFloat, 32, 5);
    WHOLE(two, kDLFloat, 32, 3, 4);
    WHOLE(two[1], kDLFloat, 32, 4);
    WHOLE(three, kDLInt, 16, 2, 3, 4);
    WHOLE(four, UF_BOOL_CODE, 8, 1, 2, 3, 4);
    WHOLE(five, kDLComplex, 128, 2, 1, 3, 1, 2);
    WHOLE(six, kDLUInt, 8, 2, 3, 4, 5, 6, 7);
    WHOLE(six[1][2], kDLUInt, 8, 4, 5, 6, 7);
    assert_true(same_shape(&UF_ARRAY(((long[]){1, 2, 3})), 1, (int64_t[]){3}));
}

static void arrays_of_variable_size(void **state) {
    (void)state;
    volatile int rows = 3, columns = 4;
    float line[rows], plane[rows][columns], fixed[rows][5];
    line[0] = plane[0][0] = fixed[0][0] = 1;
    WHOLE(line, kDLFloat, 32, rows);
    WHOLE(plane, kDLFloat, 32, rows, columns);
    WHOLE(fixed, kDLFloat, 32, rows, 5);
}

static void arrays_behind_pointers(void **state) {
    (void)state;
    double x[24] = {0}, *p = x;
    const DLTensor t = UF_ARRAY(p, 2, 3, 4);
    assert_true(same_shape(&t, 3, (int64_t[]){2, 3, 4}) && t.data == x && is_type(t.dtype, kDLFloat, 64, 1));
    const DLTensor deep =
        UF_ARRAY(p, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 24);
    assert_int_equal(deep.ndim, UF_MAX_NDIM);
    assert_int_equal(deep.shape[63], 24);
}

#ifdef UF_HAS_FLOAT16_
static void half_floats(void **state) {
    (void)state;
    uf_float16_ x[2][2] = {{1, 2}, {3, 4}}, r[2][2];
    uf_func *add = loaded("add");
    WHOLE(x, kDLFloat, 16, 2, 2);
    OK(UF_CALL(add, UF_ARRAY(x), UF_SCALAR((uf_float16_)0.5), UF_ARRAY(r)));
    assert_true((float)r[1][1] == 4.5f);
    uf_free(add);
}
#endif

#ifdef UF_HAS_BFLOAT16_
static void brain_floats(void **state) {
    (void)state;
    uf_bfloat16_ x[3] = {0};
    WHOLE(x, kDLBfloat, 16, 3);
    assert_true(is_type(UF_SCALAR(x[0]).dtype, kDLBfloat, 16, 1));
}
#endif

static void arrays_of_structs(void **state) {
    (void)state;
    struct particle {
        float mass, x[2];
    } swarm[2][3] = {{{1, {2, 3}}}}, *first = &swarm[0][0];
    const DLTensor whole = UF_RECORDS(swarm), line = UF_RECORDS(first, 6);
    assert_true(same_shape(&whole, 2, (int64_t[]){2, 3}) && is_type(whole.dtype, kDLUInt, 8, 12) &&
                whole.data == swarm);
    assert_true(same_shape(&line, 1, (int64_t[]){6}) && is_type(line.dtype, kDLUInt, 8, 12));
}

static void strided(void **state) {
    (void)state;
    int32_t x[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, r[4][3], total = 0;
    uf_func *add = loaded("add"), *sum = loaded("sum");
    OK(UF_CALL(add, UF_STRIDED(&x[0][0], (4, 3), (1, 4)), UF_SCALAR(100), UF_ARRAY(r)));
    for (int i = 0; i < 12; i++)
        assert_int_equal(r[i % 4][i / 4], 100 + i);
    OK(UF_REDUCE(sum, UF_STRIDED(&x[2][3], (2), (-4)), UF_OUT(total)));
    assert_int_equal(total, 11 + 7);
    assert_int_equal(UF_STRIDED(&total, (), ()).ndim, 0);
    OK(UF_CALL(add, UF_SCALAR(1), UF_SCALAR(2), UF_STRIDED(&total, (), ())));
    assert_int_equal(total, 3);
    uf_free(add);
    uf_free(sum);
}

/* ---- Calls ---- */

static void calls(void **state) {
    (void)state;
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[2][3] = {{0}};
    int32_t whole[2][3] = {{7, 7, 7}, {7, 7, 7}};
    _Bool mask[3] = {1, 0, 1};
    double same[2][3];
    uf_func *add = loaded("add");
    OK(UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x[1]), UF_ARRAY(r)));
    assert_true(r[0][0] == 5 && r[1][2] == 12);
    OK(UF_CALL(add, UF_ARRAY(x), UF_SCALAR(1), UF_ARRAY(r), .where = &UF_ARRAY(mask), .threads = 1));
    assert_true(r[0][0] == 2 && r[0][1] == 7 && r[1][2] == 7 && r[1][1] == 10);
    FAILS(UF_ERR_CAST, "int32", UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(whole)));
    OK(UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(whole), .casting = UF_CAST_UNSAFE));
    assert_int_equal(whole[1][2], 12);
    OK(UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(same), .signature = "float64,float64->float64"));
    assert_true(same[1][2] == 12);
    FAILS(UF_ERR_ARGUMENT, "takes 2 inputs and 1 output, but got 2", UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x)));
    FAILS(UF_ERR_ARGUMENT, "threads is -1", UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r), .threads = -1));
    FAILS(UF_ERR_ARGUMENT, "bits 0x80000 are unknown",
          UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r), .flags = 0x80000));
    FAILS(UF_ERR_ARGUMENT, "func is NULL", UF_CALL(NULL, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r)));
    FAILS(UF_ERR_ARGUMENT, "no core dimensions", UF_CALL(add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r), .axis = 0));
    FAILS(UF_ERR_ARGUMENT, "but got 0", UF_CALL(add, (DLTensor){0}, UF_ARRAY(x), UF_ARRAY(r)));
    uf_free(add);
}

/* As many as there is room for. */
static void sixteen(void **state) {
    (void)state;
    int32_t x[2] = {1, 2}, r[2];
    uf_func *f =
        make("iiiiiiiiiiiiiii->i", "(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) { return a + b + c + d + e + f + "
                                   "g + h + i + j + k + l + m + n + 10 * o; }");
    const DLTensor a = UF_ARRAY(x);
    OK(UF_CALL(f, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, UF_ARRAY(r)));
    assert_int_equal(r[1], 48);
    OK(UF_CALL(f, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, UF_ARRAY(r), .threads = 1));
    FAILS(UF_ERR_ARGUMENT, "takes 15 inputs and 1 output, but got 65",
          UF_CALL(f, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a,
                  a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a));
    uf_free(f);
}

static void axes_of_calls(void **state) {
    (void)state;
    float a[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[3] = {0}, kept[1][3];
    uf_func *f;
    OK(uf_guvectorize(&f, "total", "(n)->()", "f->f", "(x) -> (r) { r = sum(i : n, x[i]); }"));
    OK(UF_CALL(f, UF_ARRAY(a), UF_ARRAY(r), .axis = 0));
    assert_true(r[0] == 5 && r[2] == 9);
    OK(UF_CALL(f, UF_ARRAY(a), UF_ARRAY(kept), .axis = 0, .keepdims = true));
    assert_true(kept[0][1] == 7);
    OK(UF_CALL(f, UF_ARRAY(a), UF_ARRAY(r, 2), .keepdims = false));
    assert_true(r[0] == 6 && r[1] == 15);
    OK(UF_CALL(f, UF_ARRAY(a), UF_ARRAY(r, 3), .axes = UF_AXES_EACH(UF_AXES(-2))));
    assert_true(r[1] == 7);
    OK(UF_CALL(f, UF_ARRAY(a), UF_ARRAY(kept), .axes = UF_AXES_EACH(UF_AXES(-2), UF_AXES(0)), .keepdims = true));
    FAILS(UF_ERR_ARGUMENT, "both .axis and .axes are given",
          UF_CALL(f, UF_ARRAY(a), UF_ARRAY(r), .axis = 0, .axes = UF_AXES_EACH(UF_AXES(0))));
    FAILS(UF_ERR_ARGUMENT, "uf_axes.size is 0", UF_CALL(f, UF_ARRAY(a), UF_ARRAY(r), .axes = &(uf_axes){0}));
    FAILS(UF_ERR_ARGUMENT, "axis", UF_CALL(f, UF_ARRAY(a), UF_ARRAY(r), .axis = 2));
    uf_free(f);
}

static void reductions(void **state) {
    (void)state;
    float x[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}}, r[2][3] = {{0}}, kept[2][1][2],
          total = 0;
    float same[2][3][2];
    _Bool mask[2][3][2] = {{{1}}};
    uf_func *sum = loaded("sum"), *add = loaded("add");
    OK(UF_REDUCE(sum, UF_ARRAY(x), UF_OUT(total)));
    assert_true(total == 78);
    OK(UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(r), .axis = -1));
    assert_true(r[0][0] == 3 && r[1][2] == 23);
    OK(UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(r), .axis = 2));
    OK(UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(r[0]), .axes = UF_AXES(0, 2)));
    assert_true(r[0][0] == 18 && r[0][2] == 34);
    OK(UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(kept), .axis = 1, .keepdims = true));
    assert_true(kept[1][0][1] == 30);
    OK(UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(same), .axes = UF_AXES_NONE));
    assert_memory_equal(same, x, sizeof x);
    OK(UF_REDUCE(add, UF_ARRAY(x), UF_OUT(total), .initial = &UF_SCALAR(100), .where = &UF_ARRAY(mask)));
    assert_true(total == 101);
    FAILS(UF_ERR_ARGUMENT, "both .axis and .axes are given",
          UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(r[0]), .axis = 0, .axes = UF_AXES(0, 2)));
    FAILS(UF_ERR_ARGUMENT, "axis 3", UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(r), .axis = 3));
    FAILS(UF_ERR_SHAPE, "", UF_REDUCE(sum, UF_ARRAY(x), UF_ARRAY(r), .axis = 0));
    uf_free(sum);
    uf_free(add);
}

static void scans(void **state) {
    (void)state;
    int64_t x[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[2][3];
    uf_func *add = loaded("add");
    OK(UF_ACCUMULATE(add, UF_ARRAY(x), UF_ARRAY(r)));
    assert_true(r[0][2] == 3 && r[1][2] == 9);
    OK(UF_ACCUMULATE(add, UF_ARRAY(x), UF_ARRAY(r), .axis = -1, .flags = UF_SERIAL));
    assert_true(r[0][2] == 6 && r[1][2] == 15);
    FAILS(UF_ERR_ARGUMENT, "axis 2 is out of range", UF_ACCUMULATE(add, UF_ARRAY(x), UF_ARRAY(r), .axis = 2));
    uf_free(add);
}

static void kernels(void **state) {
    (void)state;
    float u[3][3] = {{0}, {0, 8, 0}}, v[3][3] = {{0}};
    uf_func *step;
    OK(uf_kernel(&step, "step", "float32[,], float32[,], float32", UF_SOURCE([i : n, j : m](u, v, k) {
        if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
            v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
    })));
    OK(UF_FORALL(step, (3, 3), UF_ARRAY(u), UF_ARRAY(v), UF_SCALAR(0.125f)));
    assert_true(v[1][1] == 4);
    OK(UF_FORALL(step, (3, 3), UF_ARRAY(u), UF_ARRAY(v), UF_SCALAR(0.25f), .threads = 1));
    assert_true(v[1][1] == 0);
    FAILS(UF_ERR_ARGUMENT, "uf_options.block is 7",
          UF_FORALL(step, (3, 3), UF_ARRAY(u), UF_ARRAY(v), UF_SCALAR(1), .block = 7));
    FAILS(UF_ERR_ARGUMENT, "ndim is 1", UF_FORALL(step, (3), UF_ARRAY(u), UF_ARRAY(v), UF_SCALAR(0.25f)));
    uf_free(step);
}

static void plans(void **state) {
    (void)state;
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, r[2][3] = {{0}}, total = 0;
    uf_func *add = loaded("add"), *twice;
    uf_plan *plan;
    OK(uf_kernel(&twice, "twice", "float32[], float32[]", "[i](a, b) { b[i] = 2 * a[i]; }"));
    OK(UF_PLAN(&plan, add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r), .threads = 1));
    OK(uf_plan_run(plan, (void *[]){x, x, r}, NULL));
    assert_true(r[1][2] == 12);
    uf_plan_free(plan);
    OK(UF_REDUCE_PLAN(&plan, add, UF_ARRAY(x), UF_ARRAY(r[0]), .axis = 0));
    OK(uf_plan_run(plan, (void *[]){x, r}, NULL));
    assert_true(r[0][2] == 9);
    uf_plan_free(plan);
    OK(UF_ACCUMULATE_PLAN(&plan, add, UF_ARRAY(x), UF_ARRAY(r), .axis = 1));
    OK(uf_plan_run(plan, (void *[]){x, r}, NULL));
    assert_true(r[1][2] == 15);
    uf_plan_free(plan);
    OK(UF_FORALL_PLAN(&plan, twice, (6), UF_ARRAY(&x[0][0], 6), UF_ARRAY(&r[0][0], 6)));
    OK(uf_plan_run(plan, (void *[]){x, r}, NULL));
    assert_true(r[1][2] == 12);
    uf_plan_free(plan);
    FAILS(UF_ERR_ARGUMENT, "out is NULL", UF_PLAN(NULL, add, UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r)));
    FAILS(UF_ERR_ARGUMENT, "but got 1", UF_REDUCE_PLAN(&plan, add, UF_OUT(total)));
    assert_null(plan);
    plan = (void *)x;
    FAILS(UF_ERR_ARGUMENT, "uf_call_args are NULL", uf_plan_with(&plan, add, NULL));
    assert_null(plan);
    plan = (void *)x;
    FAILS(UF_ERR_ARGUMENT, "both .axis and .axes",
          UF_REDUCE_PLAN(&plan, add, UF_ARRAY(x), UF_OUT(total), .axis = 0, .axes = UF_AXES(1)));
    assert_null(plan);
    plan = (void *)x;
    FAILS(UF_ERR_ARGUMENT, "uf_accumulate_args are NULL", uf_accumulate_plan_with(&plan, add, NULL));
    assert_null(plan);
    plan = (void *)x;
    FAILS(UF_ERR_ARGUMENT, "uf_forall_args are NULL", uf_forall_plan_with(&plan, twice, 0, NULL, NULL));
    assert_null(plan);
    uf_free(add);
    uf_free(twice);
}

/* What a program compiled with another version of the header hands over. */
static void versions(void **state) {
    (void)state;
    float x[3] = {1, 2, 3}, r[3];
    struct {
        size_t size;
        char known[offsetof(uf_call_args, args) - sizeof(size_t)]; /* what this header has */
        uint64_t more;
        DLTensor args[3];
    } later = {.size = offsetof(__typeof__(later), args), .args = {UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r)}};
    const uf_call_args known = {.room = 3, .axis = UF_NO_AXIS};
    memcpy(later.known, (const char *)&known + sizeof known.size, sizeof later.known);
    uf_func *add = loaded("add");
    OK(uf_call_with(add, (const void *)&later));
    assert_true(r[2] == 6);
    later.more = 1;
    FAILS(UF_ERR_ARGUMENT, "is not zero", uf_call_with(add, (const void *)&later));
    FAILS(UF_ERR_ARGUMENT, "uf_reduce_args.size is 0", uf_reduce_with(add, &(uf_reduce_args){0}));
    FAILS(UF_ERR_ARGUMENT, "uf_accumulate_args.size is 0", uf_accumulate_with(add, &(uf_accumulate_args){0}));
    FAILS(UF_ERR_ARGUMENT, "uf_forall_args.size is 0", uf_forall_with(add, 0, NULL, &(uf_forall_args){0}));
    FAILS(UF_ERR_ARGUMENT, "uf_call_args are NULL", uf_call_with(add, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_reduce_args are NULL", uf_reduce_with(add, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_accumulate_args are NULL", uf_accumulate_with(add, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_forall_args are NULL", uf_forall_with(add, 0, NULL, NULL));
    uf_free(add);
}

/* ---- Outputs that are made ---- */

static void made(void **state) {
    (void)state;
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    double y[3] = {1, 2, 3};
    DLManagedTensor *r, *two[2];
    uf_func *add = loaded("add"), *divmod = loaded("divmod"), *pairs;
    OK(UF_NEW(&r, add, UF_ARRAY(x), UF_ARRAY(y)));
    assert_true(same_shape(&r->dl_tensor, 2, (int64_t[]){2, 3}) && is_type(r->dl_tensor.dtype, kDLFloat, 64, 1));
    assert_int_equal(r->dl_tensor.device.device_type, kDLCPU);
    OK(UF_CALL(add, UF_ARRAY(x), UF_ARRAY(y), r->dl_tensor));
    assert_true(((double *)r->dl_tensor.data)[5] == 9);
    r->deleter(r);
    OK(UF_NEW(&r, add, UF_SCALAR(1), UF_SCALAR(2)));
    assert_true(r->dl_tensor.ndim == 0 && is_type(r->dl_tensor.dtype, kDLInt, 32, 1));
    r->deleter(r);
    OK(UF_NEW(two, divmod, UF_ARRAY(x), UF_SCALAR(2)));
    OK(UF_CALL(divmod, UF_ARRAY(x), UF_SCALAR(2), two[0]->dl_tensor, two[1]->dl_tensor));
    assert_true(((float *)two[0]->dl_tensor.data)[4] == 2 && ((float *)two[1]->dl_tensor.data)[4] == 1);
    two[0]->deleter(two[0]);
    two[1]->deleter(two[1]);
    OK(UF_REDUCE_NEW(&r, add, UF_ARRAY(x), .axis = 0, .keepdims = true));
    assert_true(same_shape(&r->dl_tensor, 2, (int64_t[]){1, 3}));
    r->deleter(r);
    OK(UF_ACCUMULATE_NEW(&r, add, UF_ARRAY(x), .axis = 1));
    assert_true(same_shape(&r->dl_tensor, 2, (int64_t[]){2, 3}));
    r->deleter(r);
    OK(uf_vectorize(&pairs, "pairs", "float32->pair",
                    "struct pair { float a, b; }; (x) -> (r) { pair p = {x, 2 * x}; r = p; }"));
    OK(UF_NEW(&r, pairs, UF_ARRAY(x)));
    assert_true(same_shape(&r->dl_tensor, 2, (int64_t[]){2, 3}) && r->dl_tensor.dtype.lanes > 1);
    OK(UF_CALL(pairs, UF_ARRAY(x), r->dl_tensor));
    assert_true(((float *)r->dl_tensor.data)[11] == 12);
    r->deleter(r);
    uf_free(add);
    uf_free(divmod);
    uf_free(pairs);
}

static void not_made(void **state) {
    (void)state;
    float x[2][3] = {{0}}, y[4] = {0};
    DLManagedTensor *two[2] = {(void *)x, (void *)x}, *r = (void *)x;
    uf_func *add = loaded("add"), *divmod = loaded("divmod"), *kernel;
    OK(uf_kernel(&kernel, "kernel", "float32[]", "[i](a) { a[i] = 1; }"));
    FAILS(UF_ERR_SHAPE, "", UF_NEW(two, divmod, UF_ARRAY(x), UF_ARRAY(y)));
    assert_true(!two[0] && !two[1]);
    FAILS(UF_ERR_ARGUMENT, "takes 2 inputs and 1 output, but got 2", UF_NEW(&r, add, UF_ARRAY(x)));
    assert_null(r);
    two[0] = two[1] = r = (void *)x;
    FAILS(UF_ERR_ARGUMENT, "both .axis and .axes",
          UF_NEW(two, divmod, UF_ARRAY(x), UF_ARRAY(y), .axis = 0, .axes = UF_AXES_EACH(UF_AXES(0))));
    assert_true(!two[0] && !two[1]);
    FAILS(UF_ERR_ARGUMENT, "both .axis and .axes", UF_REDUCE_NEW(&r, add, UF_ARRAY(x), .axis = 0, .axes = UF_AXES(1)));
    assert_null(r);
    r = (void *)x;
    FAILS(UF_ERR_ARGUMENT, "uf_accumulate_args are NULL", uf_accumulate_new_with(&r, add, NULL));
    assert_null(r);
    FAILS(UF_ERR_ARGUMENT, "out is NULL", UF_NEW(NULL, add, UF_ARRAY(x), UF_ARRAY(x)));
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_new(&r, NULL, 0, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "nin is -1", uf_new(&r, add, -1, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "nin is 65", uf_new(&r, add, 65, &UF_ARRAY(x), NULL));
    FAILS(UF_ERR_ARGUMENT, "inputs is NULL", uf_new(&r, add, 2, NULL, NULL));
    FAILS(UF_ERR_ARGUMENT, "uf_forall runs it", uf_new(&r, kernel, 1, &UF_ARRAY(x), NULL));
    FAILS(UF_ERR_ARGUMENT, "axis", uf_accumulate_new(&r, add, 1, &UF_ARRAY(x), 2, NULL));
    FAILS(UF_ERR_ARGUMENT, "2^63 bytes",
          uf_new(&r, add, 2,
                 (DLTensor[]){UF_STRIDED(&y[0], (INT64_C(1) << 31, INT64_C(1) << 31), (0, 0)), UF_SCALAR(1)}, NULL));
    uf_free(add);
    uf_free(divmod);
    uf_free(kernel);
}

/* ---- Numbers are no outputs ---- */

static void numbers(void **state) {
    (void)state;
    float x[3] = {1, 2, 3}, total = 0;
    uf_func *add = loaded("add"), *sum = loaded("sum"), *dot;
    const char *why = "UF_OUT(variable) is an output";
    OK(uf_guvectorize(&dot, "dot_", "(n),(n)->()", "ff->f", "(x, y) -> (r) { r = sum(i : n, x[i] * y[i]); }"));
    OK(UF_CALL(add, UF_SCALAR(1), UF_SCALAR(0.5f), UF_OUT(total)));
    assert_true(total == 1.5f);
    OK(UF_CALL(dot, UF_ARRAY(x), UF_ARRAY(x), UF_OUT(total)));
    assert_true(total == 14);
    FAILS(UF_ERR_ARGUMENT, why, UF_CALL(add, UF_SCALAR(1), UF_SCALAR(0.5f), UF_SCALAR(0.0f)));
    assert_int_equal(uf_last_error()->argument, 2);
    FAILS(UF_ERR_ARGUMENT, why, UF_CALL(dot, UF_ARRAY(x), UF_ARRAY(x), UF_SCALAR(0.0f)));
    FAILS(UF_ERR_ARGUMENT, why, UF_REDUCE(sum, UF_ARRAY(x), UF_SCALAR(0.0f)));
    FAILS(UF_ERR_ARGUMENT, why, uf_outer(add, 3, (DLTensor[]){UF_SCALAR(1), UF_SCALAR(2), UF_SCALAR(0)}, NULL));
    FAILS(UF_ERR_ARGUMENT, "dst: is a number", uf_copy(&UF_SCALAR(1), &UF_SCALAR(2), NULL));
    OK(uf_copy(&UF_OUT(total), &UF_SCALAR(2), NULL));
    assert_true(total == 2);
    uf_free(add);
    uf_free(sum);
    uf_free(dot);
}

/* ---- UF_CHECK ---- */

static void checks(void **state) {
    (void)state;
    int ends[2], status;
    char said[8192] = "", wanted[64];
    UF_CHECK(UF_OK);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 2);
        snprintf(wanted, sizeof wanted, "no such function");
        uf_func *f;
        uf_check(uf_load(&f, "no_such"), "program.c", 17);
        _exit(0);
    }
    close(ends[1]);
    for (size_t used = 0; used < sizeof said - 1;) {
        ssize_t n = read(ends[0], said + used, sizeof said - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_int_equal(strncmp(said, "program.c:17: ", 14), 0);
    assert_non_null(strstr(said, "no_such"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_c),
        cmocka_unit_test(arrays_of_variable_size),
        cmocka_unit_test(arrays_behind_pointers),
#ifdef UF_HAS_FLOAT16_
        cmocka_unit_test(half_floats),
#endif
#ifdef UF_HAS_BFLOAT16_
        cmocka_unit_test(brain_floats),
#endif
        cmocka_unit_test(arrays_of_structs),
        cmocka_unit_test(strided),
        cmocka_unit_test(calls),
        cmocka_unit_test(sixteen),
        cmocka_unit_test(axes_of_calls),
        cmocka_unit_test(reductions),
        cmocka_unit_test(scans),
        cmocka_unit_test(kernels),
        cmocka_unit_test(plans),
        cmocka_unit_test(versions),
        cmocka_unit_test(made),
        cmocka_unit_test(not_made),
        cmocka_unit_test(numbers),
        cmocka_unit_test(checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
