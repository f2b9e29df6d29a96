/* test_numbers.c - numbers beside arrays on every way in: calls, inference, plans, outer calls, updates, generalized ufuncs,
 * reductions, kernels over indices, kernels of any types. Which signature is chosen is test_dispatch's subject; here each way must
 * follow that choice, in the first call with its dtypes as in later ones, and with each value for itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expect.h"

#include <string.h>

static uf_func *loaded(const char *name) {
    uf_func *f;
    OK(uf_load(&f, name));
    return f;
}

static uf_func *made(const char *signatures, const char *source) {
    uf_func *f;
    OK(uf_vectorize(&f, "f", signatures, source));
    return f;
}

#define LIST(...) \
    (int)(sizeof((DLTensor[]){__VA_ARGS__}) / sizeof(DLTensor)), (DLTensor[]) { __VA_ARGS__ }
static const uf_options strong = {.size = sizeof strong, .flags = UF_STRONG_NUMBERS};

/* ---- Calls ---- */

/* Whatever values came before, the first one for these dtypes included. */
static void calls(void **state) {
    uint8_t x[3] = {0, 7, 255};
    bool r[3];
    (void)state;
#define COMPARES(f, number, a, b, c)                                         \
    do {                                                                     \
        OK(UF_CALL(f, UF_ARRAY(x, 3), number, UF_ARRAY(r, 3)));              \
        assert_true(r[0] == (a) && r[1] == (b) && r[2] == (c));              \
        OK(uf_outer(f, LIST(UF_ARRAY(x, 3), number, UF_ARRAY(r, 3)), NULL)); \
        assert_true(r[0] == (a) && r[1] == (b) && r[2] == (c));              \
    } while (0)
    for (int first = 0; first < 3; first++) {
        uf_func *less = loaded("less"), *equal = loaded("equal");
        for (int i = 0; i < 6; i++)
            switch ((first + i) % 3) {
            case 0:
                COMPARES(less, UF_SCALAR(7), true, false, false);
                COMPARES(equal, UF_SCALAR(255), false, false, true);
                break;
            case 1:
                COMPARES(less, UF_SCALAR(300), true, true, true);
                COMPARES(less, UF_SCALAR(UINT64_MAX), true, true, true);
                COMPARES(equal, UF_SCALAR(256 + 7), false, false, false);
                break;
            default:
                COMPARES(less, UF_SCALAR(-1), false, false, false);
                COMPARES(less, UF_SCALAR(INT64_MIN), false, false, false);
                COMPARES(equal, UF_SCALAR((int8_t)-1), false, false, false);
            }
        uf_free(less);
        uf_free(equal);
    }
}

static void sums(void **state) {
    int8_t x[2] = {1, -2};
    bool b[2] = {false, true};
    double r[2];
    int64_t n[2], shape[UF_MAX_NDIM];
    uint8_t u[2] = {1, 2}, v[2] = {9, 9};
    (void)state;
    uf_func *add = loaded("add"), *divide = loaded("divide");
    for (int round = 0; round < 2; round++) {
        OK(UF_CALL(add, UF_ARRAY(x, 2), UF_SCALAR(1e6), UF_ARRAY(r, 2)));
        assert_true(r[0] == 1000001 && r[1] == 999998);
        OK(UF_CALL(add, UF_ARRAY(x, 2), UF_SCALAR(1e6f), UF_ARRAY(r, 2)));
        assert_true(r[0] == 1000001 && r[1] == 999998);
        OK(UF_CALL(add, UF_SCALAR((uint8_t)200), UF_ARRAY(b, 2), UF_ARRAY(n, 2)));
        assert_true(n[0] == 200 && n[1] == 201);
        OK(UF_CALL(divide, UF_ARRAY(u, 2), UF_SCALAR(-500), UF_ARRAY(r, 2)));
        assert_true(r[0] == 1.0 / -500 && r[1] == 2.0 / -500);
        FAILS(UF_ERR_CAST, "argument 1: 300 does not fit uint8",
              UF_CALL(add, UF_ARRAY(u, 2), UF_SCALAR(300), UF_ARRAY(v, 2)));
        FAILS(UF_ERR_CAST, "argument 0: -1 does not fit uint8",
              UF_CALL(add, UF_SCALAR(-1), UF_ARRAY(u, 2), UF_ARRAY(v, 2)));
        FAILS(UF_ERR_CAST, "argument 1: 300 does not fit uint8", /* of no elements, too */
              UF_CALL(add, UF_ARRAY(u, 0), UF_SCALAR(300), UF_ARRAY(v, 0)));
        assert_true(v[0] == 9 && v[1] == 9);
        FAILS(UF_ERR_CAST, "argument 1: 300 does not fit uint8",
              uf_infer(add, 3, (DLTensor[]){UF_ARRAY(u, 2), UF_SCALAR(300), {.shape = shape}}, NULL));
    }
    uf_free(add);
    uf_free(divide);
}

/* The dtypes of results never depend on values. */
static void inference(void **state) {
    static const char *const names[] = {"less", "divide", "not_equal"};
    uint16_t x[2] = {1, 2};
    int64_t shape[UF_MAX_NDIM];
    (void)state;
    for (int i = 0; i < 3; i++) {
        uf_func *f = loaded(names[i]);
        DLDataType was = {0};
        for (int64_t value = -70000; value <= 70000; value += 70000) {
            DLTensor args[] = {UF_ARRAY(x, 2), UF_SCALAR(value), {.shape = shape}};
            OK(uf_infer(f, 3, args, NULL));
            assert_true(value == -70000 || !memcmp(&was, &args[2].dtype, sizeof was));
            was = args[2].dtype;
        }
        uf_free(f);
    }
}

/* The signature of a plan is chosen by dtypes alone: numbers that it has no room for are errors of a run, unless they count by
 * their dtype. */
static void plans(void **state) {
    uint8_t x[2] = {0, 255};
    bool r[2];
    int fits = 200, wide = 300;
    void *data[][3] = {{x, &fits, r}, {x, &wide, r}};
    uf_plan *plan;
    (void)state;
    uf_func *less = loaded("less");
    OK(UF_CALL(less, UF_ARRAY(x, 2), UF_SCALAR(300), UF_ARRAY(r, 2))); /* what calls found is not the plan's */
    for (int given = 0; given < 2; given++) {
        OK(uf_plan_new(&plan, less, LIST(UF_ARRAY(x, 2), UF_SCALAR(given ? wide : fits), UF_ARRAY(r, 2)), NULL));
        for (int round = 0; round < 2; round++) {
            OK(uf_plan_run(plan, data[0], NULL));
            assert_true(r[0] && !r[1]);
            FAILS(UF_ERR_CAST, "argument 1: 300 does not fit uint8", uf_plan_run(plan, data[1], NULL));
            assert_int_equal(uf_last_error()->argument, 1);
        }
        uf_plan_free(plan);
    }
    OK(uf_plan_new(&plan, less, LIST(UF_ARRAY(x, 2), UF_SCALAR(fits), UF_ARRAY(r, 2)), &strong));
    OK(uf_plan_run(plan, data[0], NULL));
    assert_true(r[0] && !r[1]);
    OK(uf_plan_run(plan, data[1], NULL));
    assert_true(r[0] && r[1]);
    uf_plan_free(plan);
    uf_free(less);
}

/* ---- Other verbs ---- */

static void updates(void **state) {
    uint8_t x[3] = {0, 7, 255};
    int8_t index[2] = {1, 2};
    (void)state;
    uf_func *less = loaded("less"), *add = loaded("add");
    OK(uf_at(less, &UF_ARRAY(x, 3), 1, &UF_ARRAY(index, 2), &UF_SCALAR(8), NULL));
    assert_true(x[0] == 0 && x[1] == 1 && x[2] == 0);
    x[1] = 7;
    OK(uf_at(less, &UF_ARRAY(x, 3), 1, &UF_ARRAY(index, 2), &UF_SCALAR(300), NULL));
    assert_true(x[0] == 0 && x[1] == 1 && x[2] == 1);
    OK(uf_at(less, &UF_ARRAY(x, 3), 1, &UF_ARRAY(index, 2), &UF_SCALAR(-1), NULL));
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
    for (int round = 0; round < 2; round++)
        FAILS(UF_ERR_CAST, "operand: 300 does not fit uint8",
              uf_at(add, &UF_ARRAY(x, 3), 1, &UF_ARRAY(index, 2), &UF_SCALAR(300), NULL));
    FAILS(UF_ERR_CAST, "gives float64", uf_at(add, &UF_ARRAY(x, 3), 1, &UF_ARRAY(index, 2), &UF_SCALAR(0.5), NULL));
    uf_free(less);
    uf_free(add);
}

static void generalized(void **state) {
    int8_t p[2] = {3, 1};
    double y;
    int64_t shape[UF_MAX_NDIM];
    (void)state;
    uf_func *polyval = loaded("polyval");
    DLTensor args[] = {UF_ARRAY(p, 2), UF_SCALAR(0.1), {.shape = shape}};
    OK(uf_infer(polyval, 3, args, NULL));
    assert_true(args[2].dtype.code == kDLFloat && args[2].dtype.bits == 64);
    args[2] = (DLTensor){.data = &y, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}};
    OK(uf_call(polyval, 3, args, NULL));
    assert_true(y == 3 * 0.1 + 1);
    FAILS(UF_ERR_CAST, "argument 1: 128 does not fit int8", UF_CALL(polyval, args[0], UF_SCALAR(128), args[2]));
    uf_free(polyval);
}

static void reductions(void **state) {
    static const uf_reduction_def below = {.size = sizeof below,
                                           .map = "(x, limit) { return x < limit; }",
                                           .combine = "(a, b) { return a + b; }",
                                           .state = "int64",
                                           .identity = "0"};
    uint8_t x[3] = {0, 7, 255};
    int64_t n;
    uf_func *f;
    (void)state;
    OK(uf_reduction(&f, "below", "uint8,uint8->int64; int16,int16->int64; float64,float64->int64", &below));
    for (int round = 0; round < 2; round++) {
        OK(uf_reduce(f,
                     LIST(UF_ARRAY(x, 3), UF_SCALAR(8), {.data = &n, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}}),
                     NULL));
        assert_int_equal(n, 2);
        OK(uf_reduce(
            f, LIST(UF_ARRAY(x, 3), UF_SCALAR(300), {.data = &n, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}}),
            NULL));
        assert_int_equal(n, 3);
        OK(uf_reduce(
            f, LIST(UF_ARRAY(x, 3), UF_SCALAR(0.5), {.data = &n, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}}),
            NULL));
        assert_int_equal(n, 1);
    }
    uf_free(f);
    OK(uf_reduction(&f, "below", "uint8,uint8->int64", &below));
    for (int round = 0; round < 2; round++)
        FAILS(UF_ERR_CAST, "argument 1: 300 does not fit uint8",
              uf_reduce(
                  f,
                  LIST(UF_ARRAY(x, 3), UF_SCALAR(300), {.data = &n, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}}),
                  NULL));
    uf_free(f);
}

/* Lists leave marks in the array. */
static void kernels(void **state) {
    static const uf_section sections[] = {
        {"i[], b", "[i](a, s) { a[i] = 1000 + s; }"},
        {"i[], h", "[i](a, s) { a[i] = 2000 + s; }"},
        {"i[], f", "[i](a, s) { a[i] = 3000 + (int)s; }"},
        {"?[], B", "[i](a, s) { a[i] = s == 200; }"},
    };
    const uf_definition d = {.size = sizeof d, .name = "k", .nsections = 4, .sections = sections, .flags = UF_KERNEL};
    const int64_t one[] = {1};
    int32_t a[1];
    bool b[1] = {false};
    int wide = 300;
    uf_plan *plan;
    uf_func *f;
    (void)state;
    OK(uf_define(&f, &d));
    for (int round = 0; round < 2; round++) {
        OK(uf_forall(f, 1, one, LIST(UF_ARRAY(a, 1), UF_SCALAR(5)), NULL));
        assert_int_equal(a[0], 1005);
        OK(uf_forall(f, 1, one, LIST(UF_ARRAY(a, 1), UF_SCALAR(300)), NULL));
        assert_int_equal(a[0], 2300);
        FAILS(UF_ERR_CAST, "argument 1: 40000 does not fit int8, its dtype in the parameter list int32[], int8",
              uf_forall(f, 1, one, LIST(UF_ARRAY(a, 1), UF_SCALAR(40000)), NULL));
        FAILS(UF_ERR_CAST, "argument 1: 300 does not fit int8",
              uf_forall(f, 1, one, LIST(UF_ARRAY(a, 1), UF_SCALAR(300)),
                        &(uf_options){.size = sizeof(uf_options), .signature = "i[], b"}));
        OK(uf_forall(f, 1, one, LIST(UF_ARRAY(a, 1), UF_SCALAR(7.5)), NULL)); /* no list has float64 */
        assert_int_equal(a[0], 3007);
        OK(uf_forall(f, 1, one, LIST(UF_ARRAY(b, 1), UF_SCALAR(200)), NULL)); /* nor int64 beside bools */
        assert_true(b[0]);
        b[0] = false;
    }
    OK(uf_forall_plan(&plan, f, 1, one, LIST(UF_ARRAY(a, 1), UF_SCALAR(5)), NULL));
    FAILS(UF_ERR_CAST, "argument 1: 300 does not fit int8", uf_plan_run(plan, (void *[]){a, &wide}, NULL));
    uf_plan_free(plan);
    uf_free(f);
}

/* ---- Kernels of any types ---- */

enum {
    OF_BOOL,
    OF_INTEGER,
    OF_FLOATING,
    OF_COMPLEX
};

/* The dtype that a number has in a kernel of any types: as uf_vectorize says it. */
static DLDataType documented(DLDataType array, int array_kind, DLDataType number, int kind) {
    if (kind == OF_BOOL)
        return number;
    if (kind <= array_kind)
        return array;
    if (kind == OF_INTEGER)
        return (DLDataType){kDLInt, 64, 1};
    if (kind == OF_FLOATING)
        return (DLDataType){kDLFloat, 64, 1};
    return (DLDataType){kDLComplex, array_kind == OF_FLOATING && array.bits < 64 ? 64 : 128, 1};
}

static void any_types(void **state) {
    static const struct {
        DLDataType type;
        int kind;
    } types[] = {
        {{UF_BOOL_CODE, 8, 1}, OF_BOOL},  {{kDLInt, 8, 1}, OF_INTEGER},      {{kDLInt, 16, 1}, OF_INTEGER},
        {{kDLInt, 32, 1}, OF_INTEGER},    {{kDLInt, 64, 1}, OF_INTEGER},     {{kDLUInt, 8, 1}, OF_INTEGER},
        {{kDLUInt, 16, 1}, OF_INTEGER},   {{kDLUInt, 32, 1}, OF_INTEGER},    {{kDLUInt, 64, 1}, OF_INTEGER},
        {{kDLFloat, 16, 1}, OF_FLOATING}, {{kDLBfloat, 16, 1}, OF_FLOATING}, {{kDLFloat, 32, 1}, OF_FLOATING},
        {{kDLFloat, 64, 1}, OF_FLOATING}, {{kDLComplex, 64, 1}, OF_COMPLEX}, {{kDLComplex, 128, 1}, OF_COMPLEX},
    };
    enum {
        TYPES = sizeof types / sizeof *types
    };
    int64_t n = 3, shape[UF_MAX_NDIM];
    (void)state;
    uf_func *f = made(NULL, "(x, y) { return y; }");
    for (int i = 0; i < TYPES; i++)
        for (int k = 0; k < TYPES; k++) {
            DLDataType want = documented(types[i].type, types[i].kind, types[k].type, types[k].kind);
            DLTensor args[] = {{.device = {kDLCPU, 0}, .ndim = 1, .dtype = types[i].type, .shape = &n},
                               {.device = {kDLCPU, 0}, .dtype = types[k].type},
                               {.shape = shape}};
            OK(uf_infer(f, 3, args, NULL));
            assert_memory_equal(&args[2].dtype, &want, sizeof want);
            OK(uf_infer(f, 3, args, &strong));
            assert_memory_equal(&args[2].dtype, &types[k].type, sizeof want);
        }
    uint8_t x[1] = {1}, y[1];
    for (int round = 0; round < 2; round++) {
        FAILS(UF_ERR_CAST, "argument 1: 300 does not fit uint8",
              UF_CALL(f, UF_ARRAY(x, 1), UF_SCALAR(300), UF_ARRAY(y, 1)));
        OK(UF_CALL(f, UF_ARRAY(x, 1), UF_SCALAR(200), UF_ARRAY(y, 1)));
        assert_int_equal(y[0], 200);
    }
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),      cmocka_unit_test(sums),    cmocka_unit_test(inference),
        cmocka_unit_test(plans),      cmocka_unit_test(updates), cmocka_unit_test(generalized),
        cmocka_unit_test(reductions), cmocka_unit_test(kernels), cmocka_unit_test(any_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
