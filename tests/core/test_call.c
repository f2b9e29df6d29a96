/* test_call.c - calls through the public interface: shapes, casts, numbers, masks, overlap, plans, introspection. On the
 * CPU; the GPU where UF_TEST_GPU=1 (arrays then live in device memory and are copied back to be compared). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "define.h"
#include "expect.h"

static const DLDataType F32 = {kDLFloat, 32, 1}, F64 = {kDLFloat, 64, 1}, I32 = {kDLInt, 32, 1}, U8 = {kDLUInt, 8, 1},
                        BOOL = {UF_BOOL_CODE, 8, 1}, F16 = {kDLFloat, 16, 1};

static bool gpu;

/* A host array as the engine under test wants it: itself, or a device copy of it with the same strides. */
typedef struct twin {
    DLTensor host, used;
    DLManagedTensor *memory;
    int64_t span;
} twin;

static twin twin_of(DLTensor host, void *block, int64_t elements) {
    twin t = {.host = host, .used = host};
    if (!gpu)
        return t;
    DLTensor flat = {.data = block, .device = {kDLCPU, 0}, .ndim = 1, .dtype = host.dtype, .shape = &elements};
    OK(uf_empty(&t.memory, (DLDevice){kDLCUDA, 0}, host.dtype, 1, &elements));
    OK(uf_copy(&t.memory->dl_tensor, &flat, NULL));
    t.used.data = (char *)t.memory->dl_tensor.data + ((char *)host.data - (char *)block);
    t.used.device = (DLDevice){kDLCUDA, 0};
    return t;
}

static void twin_back(twin *t, void *block, int64_t elements) {
    if (!t->memory)
        return;
    DLTensor flat = {.data = block, .device = {kDLCPU, 0}, .ndim = 1, .dtype = t->host.dtype, .shape = &elements};
    OK(uf_copy(&flat, &t->memory->dl_tensor, NULL));
    t->memory->deleter(t->memory);
    t->memory = NULL;
}

/* ---- Shapes ---- */

static void contiguous(void **state) {
    (void)state;
    static float x[1003], y[1003], r[1003 + 2];
    uf_func *f = make("float32,float32->float32; float64,float64->float64", "(x, y) { return 2 * (x - y) / (x + y); }");
    static const int sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 1003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        for (int i = 0; i < 1003; i++) {
            x[i] = (float)i + 0.5f;
            y[i] = (float)(i % 7) + 1;
        }
        for (int i = 0; i < 1005; i++)
            r[i] = -1;
        twin tx = twin_of(UF_ARRAY(x, n), x, 1003), ty = twin_of(UF_ARRAY(y, n), y, 1003),
             tr = twin_of(UF_ARRAY(r + 1, n), r, 1005);
        OK(uf_call(f, 3, (DLTensor[]){tx.used, ty.used, tr.used}, NULL));
        twin_back(&tx, x, 1003);
        twin_back(&ty, y, 1003);
        twin_back(&tr, r, 1005);
        for (int i = 0; i < n; i++)
            assert_true(r[i + 1] == 2 * (x[i] - y[i]) / (x[i] + y[i]));
        assert_true(r[0] == -1 && r[n + 1] == -1);
    }
    uf_free(f);
}

static void broadcast(void **state) {
    (void)state;
    enum {
        M = 37,
        N = 53
    };
    static double a[M], b[N], r[M * N];
    for (int i = 0; i < M; i++)
        a[i] = i;
    for (int j = 0; j < N; j++)
        b[j] = 100 * j;
    uf_func *f = make("float64,float64->float64", "(x, y) { return x + y; }");
    twin ta = twin_of(UF_ARRAY(a, M, 1), a, M), tb = twin_of(UF_ARRAY(b, N), b, N),
         tr = twin_of(UF_ARRAY(r, M, N), r, M * N);
    OK(uf_call(f, 3, (DLTensor[]){ta.used, tb.used, tr.used}, NULL));
    twin_back(&ta, a, M);
    twin_back(&tb, b, N);
    twin_back(&tr, r, M * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            assert_true(r[i * N + j] == i + 100 * j);
    uf_free(f);
}

static void strides(void **state) {
    (void)state;
    enum {
        M = 29,
        N = 31
    };
    static int32_t x[M * N], y[2 * M * N], r[M * N];
    for (int i = 0; i < M * N; i++)
        x[i] = i;
    for (int i = 0; i < 2 * M * N; i++)
        y[i] = 1000 * i;
    uf_func *f = make("int32,int32->int32", "(x, y) { return x + y; }");
    DLTensor hx = UF_ARRAY(x, M, N), hy = UF_ARRAY(y, M, N), hr = UF_ARRAY(r, M, N);
    hx.strides = (int64_t[]){1, M};       /* transposed */
    hy.strides = (int64_t[]){-2 * N, -2}; /* every other element, backwards */
    hy.data = y + 2 * M * N - 2;
    twin tx = twin_of(hx, x, M * N), ty = twin_of(hy, y, 2 * M * N), tr = twin_of(hr, r, M * N);
    OK(uf_call(f, 3, (DLTensor[]){tx.used, ty.used, tr.used}, NULL));
    twin_back(&tx, x, M * N);
    twin_back(&ty, y, 2 * M * N);
    twin_back(&tr, r, M * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            assert_int_equal(r[i * N + j], x[i + M * j] + y[2 * M * N - 2 - 2 * N * i - 2 * j]);
    uf_free(f);
}

static void rank_64(void **state) {
    (void)state;
    static float x[64], r[64];
    int64_t shape[64], stride[64];
    for (int d = 0; d < 64; d++) {
        shape[d] = d % 11 == 3 ? 2 : 1;
        stride[d] = 12345;
    }
    int64_t step = 1;
    for (int d = 0; d < 64; d++)
        if (shape[d] == 2) {
            stride[d] = step; /* the first dimension is the innermost: reversed order */
            step *= 2;
        }
    for (int i = 0; i < 64; i++)
        x[i] = (float)i;
    uf_func *f = make(NULL, "(x) { return x + 1; }");
    DLTensor hx = {.data = x, .device = {kDLCPU, 0}, .ndim = 64, .dtype = F32, .shape = shape, .strides = stride},
             hr = hx;
    hr.data = r;
    twin tx = twin_of(hx, x, 64), tr = twin_of(hr, r, 64);
    OK(uf_call(f, 2, (DLTensor[]){tx.used, tr.used}, NULL));
    twin_back(&tx, x, 64);
    twin_back(&tr, r, 64);
    for (int i = 0; i < 64; i++)
        assert_true(r[i] == (float)i + 1);
    uf_free(f);
}

/* More than 2^31 elements: a flat loop, and one of the general class (64-bit indices on the GPU). */
static void huge(void **state) {
    (void)state;
    const int64_t n = (INT64_C(1) << 31) + 77;
    const DLDevice device = gpu ? (DLDevice){kDLCUDA, 0} : (DLDevice){kDLCPU, 0};
    uf_func *f = make("uint8,uint8->uint8", "(x, y) { return 3 * x + y; }");
    DLManagedTensor *r;
    OK(uf_empty(&r, device, U8, 1, &n));
    static uint8_t ramp[251], got[64], five = 5;
    for (int i = 0; i < 251; i++)
        ramp[i] = (uint8_t)i;
    OK(uf_copy(&r->dl_tensor, &UF_SCALAR(five), NULL));
    OK(uf_call(f, 3, (DLTensor[]){r->dl_tensor, UF_SCALAR(7), r->dl_tensor}, NULL)); /* in place, flat: 22 */

    /* rows of 251, each written with a ramp, transposed: no dimension is contiguous in every operand */
    const int64_t rows = n / 251, shape[] = {251, rows}, strides[] = {1, 251};
    DLManagedTensor *d;
    OK(uf_empty(&d, device, U8, 1, (int64_t[]){251}));
    OK(uf_copy(&d->dl_tensor, &UF_ARRAY(ramp, 251), NULL));
    DLTensor view = r->dl_tensor, column = d->dl_tensor;
    view.ndim = column.ndim = 2;
    view.shape = column.shape = (int64_t *)shape;
    view.strides = (int64_t *)strides;
    column.strides = (int64_t[]){1, 0};
    OK(uf_call(f, 3, (DLTensor[]){view, column, view}, NULL));
    const int64_t places[] = {0, 12345, INT64_C(1) << 30, (INT64_C(1) << 31) - 40, rows * 251 - 64};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        DLTensor part = r->dl_tensor, here = UF_ARRAY(got, 64);
        part.shape = (int64_t[]){64};
        part.byte_offset = (uint64_t)places[k];
        OK(uf_copy(&here, &part, NULL));
        for (int i = 0; i < 64; i++)
            assert_int_equal(got[i], (uint8_t)(66 + (places[k] + i) % 251));
    }
    d->deleter(d);
    r->deleter(r);
    uf_free(f);
}

/* ---- Types ---- */

static void casts_are_fused(void **state) {
    (void)state;
    enum {
        N = 77
    };
    static int8_t x[N];
    static float y[N];
    static uint16_t r[N];
    for (int i = 0; i < N; i++) {
        x[i] = (int8_t)(i - 30);
        y[i] = 0.25f * (float)i;
    }
    uf_func *f = make("float64,float64->float64", "(x, y) { return x * y; }");
    DLTensor hr = {.data = r, .device = {kDLCPU, 0}, .ndim = 1, .dtype = F16, .shape = (int64_t[]){N}};
    twin tx = twin_of(UF_ARRAY(x, N), x, N), ty = twin_of(UF_ARRAY(y, N), y, N), tr = twin_of(hr, r, N);
    OK(uf_call(f, 3, (DLTensor[]){tx.used, ty.used, tr.used}, NULL));
    twin_back(&tx, x, N);
    twin_back(&ty, y, N);
    twin_back(&tr, r, N);
    for (int i = 0; i < N; i++) {
        double want = x[i] * (double)y[i]; /* a multiple of 1/4 below 2^10: exact in float16 */
        int sign = r[i] >> 15, exponent = r[i] >> 10 & 31, fraction = r[i] & 1023;
        double got = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        if (fabs(want) * 4 < 2048)
            assert_true((sign ? -got : got) == want);
    }
    double wide[N];
    uf_func *narrow = make("float32->float32", "(x) { return x; }");
    FAILS(UF_ERR_SIGNATURE, "argument 0 is float64",
          uf_call(narrow, 2, (DLTensor[]){UF_ARRAY(wide, N), UF_ARRAY(y, N)}, NULL));
    FAILS(UF_ERR_CAST, "does not cast", uf_call(narrow, 2, (DLTensor[]){UF_ARRAY(y, N), UF_ARRAY(x, N)}, NULL));
    assert_int_equal(uf_last_error()->argument, 1);
    uf_options unsafe = {.size = sizeof unsafe, .casting = UF_CAST_UNSAFE};
    OK(uf_call(narrow, 2, (DLTensor[]){UF_ARRAY(y, N), UF_ARRAY(x, N)}, &unsafe));
    assert_int_equal(x[9], 2);
    uf_free(f);
    uf_free(narrow);
}

/* A quotient that LLVM takes for one that is not below 0 (src/ir/common/quotient.c) is converted as what it is. */
static void quotients_are_cast(void **state) {
    (void)state;
    enum {
        N = 50
    };
    uf_func *f = make("float32->float32", "(x) { return 1 / sqrt(x); }");
    uf_options unsafe = {.size = sizeof unsafe, .casting = UF_CAST_UNSAFE};
    float x[N];
    int32_t r[N];
    for (int i = 0; i < N; i++)
        x[i] = i % 2 ? -0.0f : 0.25f;
    twin tx = twin_of(UF_ARRAY(x, N), x, N), tr = twin_of(UF_ARRAY(r, N), r, N);
    OK(uf_call(f, 2, (DLTensor[]){tx.used, tr.used}, &unsafe));
    twin_back(&tx, x, N);
    twin_back(&tr, r, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(r[i], i % 2 ? INT32_MIN : 2);
    uf_free(f);
}

static void narrowest(void **state) {
    (void)state;
    uf_func *f = make("float64->float64; float32->float32; int64->int64; int32->int32", "(x) { return x; }");
    static const struct {
        DLDataType in, out;
    } table[] = {{{kDLInt, 8, 1}, {kDLInt, 32, 1}},
                 {{kDLInt, 32, 1}, {kDLInt, 32, 1}},
                 {{kDLUInt, 32, 1}, {kDLInt, 64, 1}},
                 {{kDLUInt, 64, 1}, {kDLFloat, 64, 1}},
                 {{kDLFloat, 16, 1}, {kDLFloat, 32, 1}}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t n = 4, out_shape[UF_MAX_NDIM];
        DLTensor args[] = {{.device = {kDLCPU, 0}, .ndim = 1, .dtype = table[i].in, .shape = &n}, {.shape = out_shape}};
        OK(uf_infer(f, 2, args, NULL));
        assert_int_equal(args[1].dtype.code, table[i].out.code);
        assert_int_equal(args[1].dtype.bits, table[i].out.bits);
        assert_int_equal(args[1].ndim, 1);
        assert_int_equal(out_shape[0], 4);
    }
    int64_t n = 4, out_shape[UF_MAX_NDIM];
    DLTensor args[] = {{.device = {kDLCPU, 0}, .ndim = 1, .dtype = F16, .shape = &n}, {.shape = out_shape}};
    OK(uf_infer(f, 2, args, &(uf_options){.size = sizeof(uf_options), .flags = UF_FIRST_MATCH}));
    assert_int_equal(args[1].dtype.bits, 64);
    uf_free(f);
}

static void numbers(void **state) {
    (void)state;
    static float x[5] = {1, 2, 3, 4, 5}, r[5];
    static uint8_t u[5] = {1, 2, 3, 4, 5}, v[5];
    uf_func *f =
        make("uint8,uint8->uint8; float32,float32->float32; float64,float64->float64", "(x, y) { return x * y; }");
    twin tx = twin_of(UF_ARRAY(x, 5), x, 5), tr = twin_of(UF_ARRAY(r, 5), r, 5);
    OK(uf_call(f, 3, (DLTensor[]){tx.used, UF_SCALAR(2.5), tr.used}, NULL)); /* a double number beside float32: weak */
    twin_back(&tr, r, 5);
    for (int i = 0; i < 5; i++)
        assert_true(r[i] == 2.5f * x[i]);
    twin_back(&tx, x, 5);
    OK(UF_CALL(f, UF_ARRAY(u, 5), UF_SCALAR(3), UF_ARRAY(v, 5)));
    assert_int_equal(v[4], 15);
    FAILS(UF_ERR_CAST, "300 does not fit uint8", UF_CALL(f, UF_ARRAY(u, 5), UF_SCALAR(300), UF_ARRAY(v, 5)));
    FAILS(UF_ERR_CAST, "-1", UF_CALL(f, UF_ARRAY(u, 5), UF_SCALAR(-1), UF_ARRAY(v, 5)));
    FAILS(UF_ERR_CAST, "300", UF_CALL(f, UF_ARRAY(u, 5), UF_SCALAR(300), UF_ARRAY(v, 5)));
    FAILS(UF_ERR_CAST, "does not cast",
          uf_call(f, 3, (DLTensor[]){UF_ARRAY(u, 5), UF_SCALAR(2.5), UF_ARRAY(v, 5)}, NULL));
    double both;
    OK(UF_CALL(f, UF_SCALAR(3.5), UF_SCALAR(2.0f), UF_ARRAY(&both, 1)));
    assert_true(both == 7);
    uf_free(f);
}

/* Under a forced signature and unsafe casting a number is cast as the element of an array is. */
static void unsafe_numbers(void **state) {
    (void)state;
    static const char *const signatures[] = {"int8,int8->int8", "uint16,uint16->uint16", "float32,float32->float32"};
    int64_t large[] = {300, -300, 1ll << 40, -129, INT64_MIN, 77};
    double fractions[] = {300.7, -1e30, 3.5, NAN, 1e300};
    uf_func *f = make("int8,int8->int8; uint16,uint16->uint16; float32,float32->float32", "(x, y) { return x + y; }");
    for (size_t s = 0; s < sizeof signatures / sizeof *signatures; s++)
        for (int k = 0; k < 11; k++) {
            static const DLDataType types[] = {{kDLInt, 8, 1}, {kDLUInt, 16, 1}, {kDLFloat, 32, 1}};
            uf_options o = {.size = sizeof o, .casting = UF_CAST_UNSAFE, .signature = signatures[s]};
            float zero[3] = {0}, by_array[3] = {0}, by_number[3] = {0}, by_plan[3] = {0}, folded = 0, element = 0;
            DLTensor array = k < 6 ? UF_ARRAY(large + k, 1) : UF_ARRAY(fractions + k - 6, 1), number = array;
            DLTensor x = UF_ARRAY(zero, 3), r = UF_ARRAY(by_array, 3);
            number.ndim = 0;
            x.dtype = r.dtype = types[s];
            OK(uf_call(f, 3, (DLTensor[]){x, array, r}, &o));
            r.data = by_number;
            OK(uf_call(f, 3, (DLTensor[]){x, number, r}, &o));
            assert_memory_equal(by_number, by_array, sizeof by_array);
            uf_plan *plan;
            OK(uf_plan_new(&plan, f, 3, (DLTensor[]){x, number, r}, &o));
            OK(uf_plan_run(plan, (void *[]){zero, number.data, by_plan}, NULL));
            uf_plan_free(plan);
            assert_memory_equal(by_plan, by_array, sizeof by_array);
            uf_reduce_options ro = {.size = sizeof ro, .casting = UF_CAST_UNSAFE, .signature = signatures[s]};
            r.ndim = 0;
            r.data = &element;
            OK(uf_reduce(f, 2, (DLTensor[]){array, r}, &ro));
            r.data = &folded;
            OK(uf_reduce(f, 2, (DLTensor[]){number, r}, &ro));
            assert_memory_equal(&folded, &element, sizeof folded);
        }
    uf_free(f);
}

static void any_types(void **state) {
    (void)state;
    uf_func *f = make(NULL, "(x, y) { return x < y ? x : y; }");
    int64_t n = 3, shape[UF_MAX_NDIM];
    DLTensor i32 = {.device = {kDLCPU, 0}, .ndim = 1, .dtype = I32, .shape = &n}, f32 = i32;
    f32.dtype = F32;
    DLTensor args[] = {i32, f32, {.shape = shape}};
    OK(uf_infer(f, 3, args, NULL));
    assert_int_equal(args[2].dtype.code, kDLFloat);
    assert_int_equal(args[2].dtype.bits, 32);
    DLTensor with_number[] = {f32, UF_SCALAR(2), {.shape = shape}};
    OK(uf_infer(f, 3, with_number, NULL));
    assert_int_equal(with_number[2].dtype.bits, 32);
    double x[3] = {1, 5, 3}, r[3];
    OK(UF_CALL(f, UF_ARRAY(x, 3), UF_SCALAR(2), UF_ARRAY(r, 3)));
    assert_true(r[0] == 1 && r[1] == 2 && r[2] == 2);
    uf_free(f);
    f = make(NULL, "(x) { return x % 2; }");
    FAILS(UF_ERR_TYPE, "1:16", UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)));
    uf_free(f);
}

static void several_outputs(void **state) {
    (void)state;
    enum {
        N = 100
    };
    static double x[N], y[N], q[N], r[N];
    for (int i = 0; i < N; i++) {
        x[i] = 3 * i;
        y[i] = i % 9 + 1;
    }
    uf_func *f = make("float64,float64->float64,float64", "(x, y) -> (q, r) { q = floor(x / y); r = x - q * y; }");
    twin tx = twin_of(UF_ARRAY(x, N), x, N), ty = twin_of(UF_ARRAY(y, N), y, N), tq = twin_of(UF_ARRAY(q, N), q, N),
         tr = twin_of(UF_ARRAY(r, N), r, N);
    OK(uf_call(f, 4, (DLTensor[]){tx.used, ty.used, tq.used, tr.used}, NULL));
    twin_back(&tx, x, N);
    twin_back(&ty, y, N);
    twin_back(&tq, q, N);
    twin_back(&tr, r, N);
    for (int i = 0; i < N; i++) {
        assert_true(q[i] == floor(x[i] / y[i]));
        assert_true(r[i] == x[i] - q[i] * y[i]);
    }
    FAILS(UF_ERR_ARGUMENT, "overlaps output",
          UF_CALL(f, UF_ARRAY(x, 10), UF_ARRAY(y, 10), UF_ARRAY(q, 10), UF_ARRAY(q + 3, 10)));
    uf_free(f);
}

/* ---- where ---- */

static void masked(void **state) {
    (void)state;
    enum {
        M = 9,
        N = 70
    };
    static float x[M * N], r[M * N];
    static uint8_t mask[N];
    for (int i = 0; i < M * N; i++) {
        x[i] = (float)i;
        r[i] = -5;
    }
    for (int j = 0; j < N; j++)
        mask[j] = j % 3 == 0 ? 0 : (uint8_t)j; /* any byte that is not zero is true */
    uf_func *f = make("float32->float32", "(x) { return 2 * x; }");
    DLTensor hm = {.data = mask, .device = {kDLCPU, 0}, .ndim = 1, .dtype = BOOL, .shape = (int64_t[]){N}};
    twin tx = twin_of(UF_ARRAY(x, M, N), x, M * N), tr = twin_of(UF_ARRAY(r, M, N), r, M * N),
         tm = twin_of(hm, mask, N);
    OK(uf_call(f, 2, (DLTensor[]){tx.used, tr.used}, &(uf_options){.size = sizeof(uf_options), .where = &tm.used}));
    twin_back(&tx, x, M * N);
    twin_back(&tr, r, M * N);
    twin_back(&tm, mask, N);
    for (int i = 0; i < M * N; i++)
        assert_true(r[i] == (mask[i % N] ? 2 * x[i] : -5));
    FAILS(UF_ERR_ARGUMENT, "where: the dtype is float32",
          uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, N), UF_ARRAY(r, N)},
                  &(uf_options){.size = sizeof(uf_options), .where = &UF_ARRAY(x, N)}));
    uf_free(f);
}

/* Long rows under a contiguous mask go by strips; an input that is the same for all elements does not move with them. */
static void masked_strips(void **state) {
    (void)state;
    enum {
        N = 5000
    };
    static float x[N], r[N], y = 7;
    static uint8_t mask[N];
    uf_func *f = make("float32,float32->float32", "(x, y) { return x + y; }");
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        r[i] = -5;
        mask[i] = i / 1500 % 2 == 0 || i % 11 == 0;
    }
    DLTensor hm = {.data = mask, .device = {kDLCPU, 0}, .ndim = 1, .dtype = BOOL, .shape = (int64_t[]){N}},
             hy = {.data = &y,
                   .device = {kDLCPU, 0},
                   .ndim = 1,
                   .dtype = F32,
                   .shape = (int64_t[]){N},
                   .strides = (int64_t[]){0}};
    twin tx = twin_of(UF_ARRAY(x, N), x, N), ty = twin_of(hy, &y, 1), tr = twin_of(UF_ARRAY(r, N), r, N),
         tm = twin_of(hm, mask, N);
    OK(uf_call(f, 3, (DLTensor[]){tx.used, ty.used, tr.used},
               &(uf_options){.size = sizeof(uf_options), .where = &tm.used}));
    twin_back(&tx, x, N);
    twin_back(&ty, &y, 1);
    twin_back(&tr, r, N);
    twin_back(&tm, mask, N);
    for (int i = 0; i < N; i++)
        assert_true(r[i] == (mask[i] ? x[i] + 7 : -5));
    uf_free(f);
}

/* ---- Overlap ---- */

static void in_place(void **state) {
    (void)state;
    enum {
        N = 1000
    };
    static float x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    uf_func *f = make("float32,float32->float32", "(x, y) { return x + y; }");
    twin tx = twin_of(UF_ARRAY(x, N), x, N), ty = twin_of(UF_ARRAY(y, N), y, N);
    OK(uf_call(f, 3, (DLTensor[]){tx.used, ty.used, tx.used}, NULL));
    twin_back(&tx, x, N);
    twin_back(&ty, y, N);
    for (int i = 0; i < N; i++)
        assert_true(x[i] == (float)i + 1);
    uf_free(f);
}

/* r = f(x) where both are views of one block: as if x had been copied first. */
static void overlapping(void **state) {
    (void)state;
    enum {
        N = 500
    };
    static const struct {
        int in, in_step, out, out_step;
    } table[] = {{0, 1, 1, 1}, {1, 1, 0, 1}, {N - 1, -1, 0, 1}, {0, 2, 0, 1}, {0, 0, 0, 1}, {3, 0, 0, 1}, {5, 1, 0, 2}};
    uf_func *f = make("float32->float32", "(x) { return 3 * x + 1; }");
    for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
        static float block[2 * N + 16], before[2 * N + 16];
        for (int i = 0; i < 2 * N + 16; i++)
            before[i] = block[i] = (float)(i * 7 % 101);
        DLTensor x = UF_ARRAY(block + table[c].in, N), r = UF_ARRAY(block + table[c].out, N);
        x.strides = (int64_t[]){table[c].in_step};
        r.strides = (int64_t[]){table[c].out_step};
        twin whole = twin_of(x, block, 2 * N + 16);
        twin out = whole;
        out.used = whole.used;
        out.used.data = (char *)whole.used.data + 4 * (table[c].out - table[c].in);
        out.used.strides = r.strides;
        OK(uf_call(f, 2, (DLTensor[]){whole.used, out.used}, NULL));
        twin_back(&whole, block, 2 * N + 16);
        for (int i = 0; i < N; i++)
            before[table[c].out + i * table[c].out_step] =
                3 * (float)((table[c].in + i * table[c].in_step) * 7 % 101) + 1;
        assert_memory_equal(block, before, sizeof block);
    }
    uf_free(f);
}

static void bad_outputs(void **state) {
    (void)state;
    float x[6] = {0}, r[6] = {0};
    uf_func *f = make("float32->float32", "(x) { return x; }");
    DLTensor twice = UF_ARRAY(r, 3, 2);
    twice.strides = (int64_t[]){1, 1};
    FAILS(UF_ERR_ARGUMENT, "two elements at one address", uf_call(f, 2, (DLTensor[]){UF_ARRAY(x, 3, 2), twice}, NULL));
    FAILS(UF_ERR_SHAPE, "", UF_CALL(f, UF_ARRAY(x, 6), UF_ARRAY(r, 3)));
    FAILS(UF_ERR_SHAPE, "", UF_CALL(f, UF_ARRAY(x, 3, 2), UF_ARRAY(r, 6)));
    FAILS(UF_ERR_SHAPE, "", UF_CALL(f, UF_ARRAY(x, 6), UF_ARRAY(r, 1)));
    OK(UF_CALL(f, UF_ARRAY(x, 2), UF_ARRAY(r, 3, 2))); /* larger than the inputs is fine */
    uf_free(f);
}

/* ---- Plans ---- */

static void plans(void **state) {
    (void)state;
    enum {
        N = 130
    };
    static float x[2][N + 1], r[2][N + 1];
    int number = 3;
    for (int i = 0; i <= N; i++) {
        x[0][i] = (float)i;
        x[1][i] = (float)-i;
    }
    uf_func *f = make("float32,float32->float32", "(x, k) { return x * k; }");
    int64_t n = N;
    const DLDevice device = gpu ? (DLDevice){kDLCUDA, 0} : (DLDevice){kDLCPU, 0};
    DLTensor args[] = {{.device = device, .ndim = 1, .dtype = F32, .shape = &n},
                       UF_SCALAR(1),
                       {.device = device, .ndim = 1, .dtype = F32, .shape = &n}};
    args[1].data = NULL; /* given at each run */
    uf_plan *plan;
    OK(uf_plan_new(&plan, f, 3, args, NULL));
    uf_free(f); /* the plan keeps it alive */
    for (int k = 0; k < 2; k++) {
        twin tx = twin_of(UF_ARRAY(x[k] + k, N), x[k], N + 1), tr = twin_of(UF_ARRAY(r[k] + k, N), r[k], N + 1);
        number = 3 + k;
        OK(uf_plan_run(plan, (void *[]){tx.used.data, &number, tr.used.data}, NULL));
        twin_back(&tx, x[k], N + 1);
        twin_back(&tr, r[k], N + 1);
        for (int i = 0; i < N; i++)
            assert_true(r[k][i + k] == (float)(3 + k) * x[k][i + k]);
    }
    FAILS(UF_ERR_ARGUMENT, "data is NULL", uf_plan_run(plan, (void *[]){NULL, &number, r[0]}, NULL));
    FAILS(UF_ERR_ARGUMENT, "aligned", uf_plan_run(plan, (void *[]){(char *)x[0] + 1, &number, r[0]}, NULL));
    FAILS(UF_ERR_ARGUMENT, "plan is NULL", uf_plan_run(NULL, (void *[]){x[0], &number, r[0]}, NULL));
    uf_plan_free(plan);
    uf_plan_free(NULL);
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_plan_new(&plan, NULL, 3, args, NULL));
    assert_null(plan);
}

/* ---- Memory and copies ---- */

static void copies(void **state) {
    (void)state;
    const DLDevice device = gpu ? (DLDevice){kDLCUDA, 0} : (DLDevice){kDLCPU, 0};
    enum {
        M = 6,
        N = 40
    };
    static int32_t x[M * N];
    static double r[M * N];
    for (int i = 0; i < M * N; i++)
        x[i] = i;
    DLManagedTensor *d;
    OK(uf_empty(&d, device, F64, 2, (int64_t[]){M, N}));
    assert_int_equal((uintptr_t)d->dl_tensor.data % 64, 0);
    DLTensor transposed = UF_ARRAY(x, M, N), back = UF_ARRAY(r, M, N);
    transposed.strides = (int64_t[]){1, M};
    back.strides = (int64_t[]){1, M};
    OK(uf_copy(&d->dl_tensor, &transposed, NULL)); /* strided, cast */
    OK(uf_copy(&back, &d->dl_tensor, NULL));
    OK(uf_sync(device, NULL));
    for (int i = 0; i < M * N; i++)
        assert_true(r[i] == x[i]);
    OK(uf_copy(&d->dl_tensor, &UF_ARRAY(x, N), NULL)); /* broadcast */
    OK(uf_copy(&UF_ARRAY(r, M, N), &d->dl_tensor, NULL));
    assert_true(r[3 * N + 7] == 7);
    OK(uf_copy(&d->dl_tensor, &UF_SCALAR(2.5f), NULL));
    OK(uf_copy(&UF_ARRAY(r, M, N), &d->dl_tensor, NULL));
    assert_true(r[5] == 2.5);
    FAILS(UF_ERR_CAST, "", uf_copy(&UF_ARRAY(x, M, N), &d->dl_tensor, NULL));
    FAILS(UF_ERR_SHAPE, "", uf_copy(&d->dl_tensor, &UF_ARRAY(x, M), NULL));
    FAILS(UF_ERR_ARGUMENT, "src is NULL", uf_copy(&d->dl_tensor, NULL, NULL));
    d->deleter(d);
    OK(uf_empty(&d, device, U8, 3, (int64_t[]){4, 0, 4}));
    d->deleter(d);
    FAILS(UF_ERR_ARGUMENT, "shape[1] is -1", uf_empty(&d, device, U8, 2, (int64_t[]){4, -1}));
    FAILS(UF_ERR_ARGUMENT, "2^63", uf_empty(&d, device, F64, 2, (int64_t[]){INT64_MAX / 4, 4}));
    FAILS(UF_ERR_ARGUMENT, "ndim", uf_empty(&d, device, U8, 65, (int64_t[]){1}));
    FAILS(UF_ERR_ARGUMENT, "none of the fifteen",
          uf_empty(&d, device, (DLDataType){kDLFloat, 80, 1}, 1, (int64_t[]){1}));
    assert_null(d);
}

static void staging(void **state) {
    (void)state;
    if (!gpu)
        skip();
    enum {
        M = 20,
        N = 33
    };
    static float x[N], y[M * N], r[M * N];
    for (int i = 0; i < M * N; i++)
        y[i] = (float)i;
    for (int j = 0; j < N; j++)
        x[j] = (float)(100 * j);
    uf_func *f = make("float32,float32->float32", "(x, y) { return x + y; }");
    DLTensor args[] = {UF_ARRAY(x, N), UF_ARRAY(y, M, N), UF_ARRAY(r, M, N)};
    args[2].strides = (int64_t[]){1, M};
    FAILS(UF_ERR_ARGUMENT, "UF_STAGE needs",
          uf_call(f, 3, args, &(uf_options){.size = sizeof(uf_options), .flags = UF_STAGE}));
    OK(uf_call(f, 3, args, &(uf_options){.size = sizeof(uf_options), .flags = UF_STAGE, .device = {kDLCUDA, 0}}));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            assert_true(r[i + M * j] == x[j] + y[i * N + j]);
    twin ty = twin_of(UF_ARRAY(y, M, N), y, M * N);
    FAILS(UF_ERR_DEVICE, "UF_STAGE", uf_call(f, 3, (DLTensor[]){args[0], ty.used, args[2]}, NULL));
    memset(r, 0, sizeof r);
    OK(uf_call(f, 3, (DLTensor[]){args[0], ty.used, args[2]},
               &(uf_options){.size = sizeof(uf_options), .flags = UF_STAGE, .device = {kDLCUDA, 0}}));
    assert_true(r[5 + M * 7] == x[7] + y[5 * N + 7]);
    twin_back(&ty, y, M * N);
    uf_free(f);
}

/* ---- Looking at things ---- */

static void introspection(void **state) {
    (void)state;
    uf_func *f;
    const uf_section sections[] = {{"float32->float32", "(x) { return x; }"},
                                   {"int32 -> int32\nl->l", "(x) { return -x; }"}};
    OK(uf_define(
        &f,
        &(uf_definition){
            .size = sizeof(uf_definition), .name = "pair", .doc = "Two texts.", .nsections = 2, .sections = sections}));
    uf_description d = {.size = sizeof d};
    OK(uf_describe(f, &d));
    assert_string_equal(d.name, "pair");
    assert_string_equal(d.doc, "Two texts.");
    assert_string_equal(d.kind, "elementwise");
    assert_string_equal(d.signatures, "float32->float32; int32->int32; int64->int64");
    assert_int_equal(d.nin, 1);
    assert_int_equal(d.nout, 1);
    int32_t x[2] = {5, 6}, r[2];
    OK(UF_CALL(f, UF_ARRAY(x, 2), UF_ARRAY(r, 2)));
    assert_int_equal(r[1], -6);
    static const struct {
        uf_view view;
        const char *fragment;
    } views[] = {{UF_VIEW_TREE, "x"}, {UF_VIEW_IR, "define"}, {UF_VIEW_ASSEMBLY, "ret"}, {UF_VIEW_RESOURCES, "bytes"}};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char *text;
        OK(uf_inspect(f, "float32", (DLDevice){kDLCPU, 0}, views[i].view, &text));
        assert_non_null(strstr(text, views[i].fragment));
        free(text);
    }
    char *text;
    OK(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    free(text);
    FAILS(UF_ERR_SIGNATURE, "complex64", uf_inspect(f, "complex64", (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    FAILS(UF_ERR_ARGUMENT, "takes 1", uf_inspect(f, "float32,float32", (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    assert_null(text);
    OK(uf_system_info(&text));
    assert_non_null(strstr(text, uf_version()));
    free(text);
    uf_free(f);
}

static void results_do_not_depend_on_the_thread(void **state) {
    (void)state;
    if (gpu)
        skip();
    static float x[40], nearest[40], upward[40];
    for (int i = 0; i < 40; i++)
        x[i] = 1 + 1e-3f * (float)i;
    uf_func *f = make("float32->float32", "(x) { return x / 3 + exp(x); }");
    OK(UF_CALL(f, UF_ARRAY(x, 40), UF_ARRAY(nearest, 40)));
    fesetround(FE_UPWARD);
    uf_status s = UF_CALL(f, UF_ARRAY(x, 40), UF_ARRAY(upward, 40));
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    OK(s);
    assert_memory_equal(nearest, upward, sizeof nearest);
    uf_free(f);
}

static void results_do_not_depend_on_position(void **state) {
    (void)state;
    enum {
        N = 200
    };
    static float x[N], whole[N], part[N];
    static const char *functions[] = {"sin", "exp", "log", "tanh", "cbrt", "erf", "atan"};
    for (int i = 0; i < N; i++)
        x[i] = 0.01f + 0.0371f * (float)i;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        char source[64];
        snprintf(source, sizeof source, "(x) { return %s(x); }", functions[k]);
        uf_func *f = make("float32->float32; float64->float64", source);
        twin tx = twin_of(UF_ARRAY(x, N), x, N), tw = twin_of(UF_ARRAY(whole, N), whole, N);
        OK(uf_call(f, 2, (DLTensor[]){tx.used, tw.used}, NULL));
        for (int shift = 1; shift < 40; shift += 3)
            for (int step = 1; step < 4; step++) {
                int n = (N - shift) / step;
                twin tp = twin_of(UF_ARRAY(part, n), part, N);
                DLTensor view = tx.used;
                view.data = (float *)tx.used.data + shift;
                view.shape = (int64_t[]){n};
                view.strides = (int64_t[]){step};
                OK(uf_call(f, 2, (DLTensor[]){view, tp.used}, NULL));
                twin_back(&tp, part, N);
                if (gpu) {
                    DLTensor w = UF_ARRAY(whole, N);
                    OK(uf_copy(&w, &tw.used, NULL));
                }
                for (int i = 0; i < n; i++)
                    assert_memory_equal(&part[i], &whole[shift + i * step], 4);
            }
        twin_back(&tx, x, N);
        twin_back(&tw, whole, N);
        uf_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguous),
        cmocka_unit_test(broadcast),
        cmocka_unit_test(strides),
        cmocka_unit_test(rank_64),
        cmocka_unit_test(huge),
        cmocka_unit_test(casts_are_fused),
        cmocka_unit_test(quotients_are_cast),
        cmocka_unit_test(narrowest),
        cmocka_unit_test(numbers),
        cmocka_unit_test(unsafe_numbers),
        cmocka_unit_test(any_types),
        cmocka_unit_test(several_outputs),
        cmocka_unit_test(masked),
        cmocka_unit_test(masked_strips),
        cmocka_unit_test(in_place),
        cmocka_unit_test(overlapping),
        cmocka_unit_test(bad_outputs),
        cmocka_unit_test(plans),
        cmocka_unit_test(copies),
        cmocka_unit_test(staging),
        cmocka_unit_test(introspection),
        cmocka_unit_test(results_do_not_depend_on_position),
        cmocka_unit_test(results_do_not_depend_on_the_thread),
    };
    int failed = cmocka_run_group_tests_name("calls, CPU", tests, NULL, NULL);
    const char *wanted = getenv("UF_TEST_GPU");
    if (wanted && *wanted == '1') {
        gpu = true;
        failed += cmocka_run_group_tests_name("calls, GPU", tests, NULL, NULL);
    }
    return failed;
}
