/* test_gu_calls.c - generalized ufuncs through the public interface, by hand: registration, core dimensions and loops, axes,
 * optional, frozen, stretched, computed and output-only sizes, numbers, casts, overlap, plans, inference, introspection, and
 * what a caller can get wrong. On the CPU; where UF_TEST_GPU=1 again with staged arrays on the GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static bool gpu;

/* FAILS, naming an argument and its dimension. */
#define FAILS_AT(expected, k, d, part, ...)                \
    do {                                                   \
        FAILS(expected, part, __VA_ARGS__);                \
        assert_int_equal(uf_last_error()->argument, (k));  \
        assert_int_equal(uf_last_error()->dimension, (d)); \
    } while (0)

#define LIST(...) ((DLTensor[]){__VA_ARGS__})
#define STRIDES(...) ((int64_t[]){__VA_ARGS__})
#define NARGS(list) (int)(sizeof(list) / sizeof *(list))
#define ZERO_D(pointer) \
    ((DLTensor){.data = (pointer), .device = {kDLCPU, 0}, .ndim = 0, .dtype = UF_DTYPE_OF(*(pointer))})

static const char MATVEC[] = "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }";
static const char INNER[] = "(a, b) -> (c) { c = sum(i : n, a[i] * b[i]); }";
static const char MATMUL[] = "(A, B) -> (C) { forall (i : m, k : p) C[i][k] = sum(j : n, A[i][j] * B[j][k]); }";
static const char CUMSUM[] = "(x) -> (y) { float64 t = 0; for (int64 i = 0; i < n; i++) { t += x[i]; y[i] = t; } }";
static const char SCALE[] = "(x, s) -> (y) { forall (i : n) y[i] = x[i] * s; }";

static uf_func *make(const char *layout, const char *signatures, const char *source) {
    uf_func *f;
    OK(uf_guvectorize(&f, "f", layout, signatures, source));
    assert_non_null(f);
    return f;
}

/* A call on the engine under test. */
static uf_status call_with(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options) {
    uf_options own = options ? *options : (uf_options){.size = sizeof own};
    if (gpu) {
        own.flags |= UF_STAGE;
        own.device = (DLDevice){kDLCUDA, 0};
    }
    return uf_call(f, nargs, args, &own);
}
#define CALL(f, ...) call_with((f), NARGS(LIST(__VA_ARGS__)), LIST(__VA_ARGS__), NULL)

static DLTensor strided(DLTensor t, int64_t *strides) {
    t.strides = strides;
    return t;
}

static uf_options with_axes(const uf_axes *axes) { return (uf_options){.size = sizeof(uf_options), .axes = axes}; }

/* ---- Registration ---- */

static void described(void **state) {
    (void)state;
    uf_description d = {.size = sizeof d};
    uf_func *f = make(" ( m , n ),(n )->( m)", "ff->f; dd->d", MATVEC);
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "gufunc");
    assert_string_equal(d.layout, "(m,n),(n)->(m)");
    assert_string_equal(d.signatures, "float32,float32->float32; float64,float64->float64");
    assert_int_equal(d.nin, 2);
    assert_int_equal(d.nout, 1);
    uf_free(f);
    OK(uf_vectorize(&f, "f", "f->f", "(x) { return x; }"));
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "elementwise");
    assert_null(d.layout);
    uf_free(f);
}

static void inspected(void **state) {
    (void)state;
    static const struct {
        const char *layout, *signatures, *source;
    } rows[] = {{"(m,n),(n)->(m)", "ff->f", MATVEC},
                {"(m?,n),(n,p?)->(m?,p?)", "dd->d", MATMUL},
                {"(),(n)->()", "ff->f", "(s, x) -> (r) { r = s + sum(i : n, x[i]); }"},
                {"(3),(100000000,1000000)->(3)", "ff->f", "(a, b) -> (c) { c[0] = a[0] + b[5][5]; }"},
                {"(n)->(n*(n-1)/2)", "f->f", "(x) -> (y) { y[0] = x[0]; }"},
                {"(a,b,c,d,e,f,g,h)->(a*b*c*d*e*f*g*h)", "f->f", "(x) -> (y) { y[0] = x[0][0][0][0][0][0][0][0]; }"},
                {"()->()", "f->f", "(x) -> (y) { y = x; }"}};
    static const uf_view views[] = {UF_VIEW_TREE, UF_VIEW_IR, UF_VIEW_ASSEMBLY, UF_VIEW_RESOURCES};
    char *text;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uf_func *f = make(rows[i].layout, rows[i].signatures, rows[i].source);
        for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
            OK(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, views[k], &text));
            assert_non_null(text);
            free(text);
        }
        uf_free(f);
    }
    uf_func *f = make("(1000000000000000,1000000000000000)->()", "f->f", "(x) -> (y) { y = x[0][0]; }");
    FAILS(UF_ERR_SHAPE, "frozen", uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    assert_null(text);
    uf_free(f);
    f = make("(n)->(n-1000)", "f->f", "(x) -> (y) { y[0] = x[0]; }");
    FAILS(UF_ERR_SHAPE, "n-1000", uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    uf_free(f);
}

/* One source with two layouts is two kernels. */
static void layouts_are_told_apart(void **state) {
    (void)state;
    static const char source[] = "(x) -> (y) { forall (i : n) y[i] = x[i] + n; }";
    float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, y[9];
    uf_func *rows = make("(m,n)->(n)", "f->f", "(x) -> (y) { forall (i : n) y[i] = x[0][i] + n; }");
    uf_func *columns = make("(n,m)->(n)", "f->f", "(x) -> (y) { forall (i : n) y[i] = x[0][i] + n; }");
    uf_func *plain = make("(n)->(n)", "f->f", source), *stretched = make("(n|1)->(n)", "f->f", source);
    OK(CALL(rows, UF_ARRAY(x, 3, 2), UF_ARRAY(y, 2)));
    assert_true(y[0] == 3 && y[1] == 4);
    OK(CALL(columns, UF_ARRAY(x, 2, 3), UF_ARRAY(y, 2)));
    assert_true(y[0] == 3 && y[1] == 4);
    OK(CALL(columns, UF_ARRAY(x, 3, 2), UF_ARRAY(y, 3)));
    assert_true(y[0] == 4 && y[1] == 5 && y[2] == 3);
    OK(CALL(plain, UF_ARRAY(x, 9), UF_ARRAY(y, 9)));
    assert_true(y[8] == 18);
    OK(CALL(stretched, UF_ARRAY(x, 1), UF_ARRAY(y, 1)));
    assert_true(y[0] == 2);
    OK(CALL(plain, UF_ARRAY(x, 3, 3), UF_ARRAY(y, 3, 3)));
    assert_true(y[8] == 12);
    uf_free(rows);
    uf_free(columns);
    uf_free(plain);
    uf_free(stretched);
}

/* A caller's structs may be longer than the library's, and shorter. */
static void structs_of_any_age(void **state) {
    (void)state;
    const uf_section section = {"ff->f", INNER}, elementwise = {"f->f", "(x) { return x + 1; }"};
    uf_definition d = {.size = sizeof d, .name = "f", .nsections = 1, .sections = &section, .layout = "(n),(n)->()"};
    uf_func *f;
    float x[3] = {1, 2, 3}, r[3];
    struct {
        uf_definition d;
        void *later;
    } longer = {.d = d};
    longer.d.size = sizeof longer;
    OK(uf_define(&f, &longer.d));
    OK(CALL(f, UF_ARRAY(x, 3), UF_ARRAY(x, 3), ZERO_D(r)));
    assert_true(r[0] == 14);
    /* options that end before axes */
    uf_options o = {.size = offsetof(uf_options, axes), .axes = (const uf_axes *)1};
    OK(uf_call(f, 3, LIST(UF_ARRAY(x, 2), UF_ARRAY(x, 2), ZERO_D(r)), &o));
    assert_true(r[0] == 5);
    uf_free(f);
    longer.later = &longer;
    FAILS(UF_ERR_ARGUMENT, "not zero", uf_define(&f, &longer.d));
    assert_null(f);
    /* a definition that ends before the layout: what lies there is not looked at */
    d.size = offsetof(uf_definition, layout);
    d.sections = &elementwise;
    d.layout = d.blas = (const char *)1;
    OK(uf_define(&f, &d));
    OK(CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)));
    assert_true(r[2] == 4);
    uf_free(f);
}

/* A layout without a core dimension is elementwise: it may be computed in place, and masked. */
static void scalar_layouts(void **state) {
    (void)state;
    float x[20], y[20];
    uint8_t mask[20];
    for (int i = 0; i < 20; i++) {
        x[i] = (float)i;
        y[i] = -1;
        mask[i] = i % 3 == 0;
    }
    uf_func *f = make("(),()->()", "ff->f", "(a, b) -> (c) { c = a + b; }");
    uf_description d = {.size = sizeof d};
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "gufunc");
    assert_string_equal(d.layout, "(),()->()");
    DLTensor where = {
        .data = mask, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {UF_BOOL_CODE, 8, 1}, .shape = (int64_t[]){20}};
    OK(call_with(f, 3, LIST(UF_ARRAY(x, 20), UF_SCALAR(1.0f), UF_ARRAY(y, 20)),
                 &(uf_options){.size = sizeof(uf_options), .where = &where}));
    for (int i = 0; i < 20; i++)
        assert_true(y[i] == (i % 3 ? -1 : x[i] + 1));
    OK(CALL(f, UF_ARRAY(x, 20), UF_SCALAR(1.0f), UF_ARRAY(x, 20)));
    assert_true(x[7] == 8);
    const uf_axes axes = {.size = sizeof axes};
    const uf_options options = with_axes(&axes);
    FAILS(UF_ERR_ARGUMENT, "f has no core dimensions",
          uf_call(f, 3, LIST(UF_ARRAY(x, 20), UF_ARRAY(x, 20), UF_ARRAY(y, 20)), &options));
    uf_free(f);
}

static uf_status guvectorize(const char *layout, const char *signatures, const char *source) {
    uf_func *f = (uf_func *)&gpu;
    uf_status s = uf_guvectorize(&f, "f", layout, signatures, source);
    assert_null(f);
    return s;
}

static void bad_registration(void **state) {
    (void)state;
    uf_func *f;
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_guvectorize(NULL, "f", "(n)->()", "f->f", "(x) -> (y) { y = x[0]; }"));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_guvectorize(NULL, "f", NULL, "f->f", "(x) -> (y) { y = x[0]; }"));
    FAILS(UF_ERR_ARGUMENT, "layout is NULL", guvectorize(NULL, "f->f", "(x) -> (y) { y = 0; }"));
    FAILS(UF_ERR_ARGUMENT, "the name is NULL", uf_guvectorize(&f, NULL, "(n)->()", "f->f", "(x) -> (y) { y = x[0]; }"));
    FAILS(UF_ERR_ARGUMENT, "source is NULL", guvectorize("(n)->()", "f->f", NULL));
    FAILS(UF_ERR_SYNTAX, "^", guvectorize("", "f->f", "(x) -> (y) { y = x[0]; }"));
    FAILS(UF_ERR_SYNTAX, "^", guvectorize("(n", "f->f", "(x) -> (y) { y = x[0]; }"));
    assert_int_equal(uf_last_error()->line, 1);
    assert_int_equal(uf_last_error()->column, 3);
    FAILS(UF_ERR_SYNTAX, "^", guvectorize("(n)->(m+)", "f->f", "(x) -> (y) { y[0] = x[0]; }"));
    FAILS(UF_ERR_TYPE, "the kernel has 1 input and 1 output, but the layout has 2 and 1",
          guvectorize("(n),(n)->()", "ff->f", "(x) -> (y) { y = x[0]; }"));
    FAILS(UF_ERR_TYPE, "the kernel has 2 inputs and 1 output, but the layout has 2 and 2",
          guvectorize("(n),(n)->(),()", "ff->f", INNER));
    FAILS(UF_ERR_TYPE, "the signatures have 1 input and 1 output", guvectorize("(n),(n)->()", "f->f", INNER));
    FAILS(UF_ERR_TYPE, "^", guvectorize("(n),(n)->()", "ff->f", "(a, b) -> (c) { c = a + b; }"));
    FAILS(UF_ERR_TYPE, "^", guvectorize("(n),(n)->()", "ff->f", "(a, b) -> (c) { c = a[0][0]; }"));
    FAILS(UF_ERR_TYPE, "^", guvectorize("(n),(n)->()", "ff->f", "(a, b) -> (c) { c[0] = 1; }"));
    FAILS(UF_ERR_TYPE, "^", guvectorize("(n),(n)->()", "ff->f", "(a, b) -> (c) { c = q; }"));
    FAILS(UF_ERR_TYPE, "^", guvectorize("(n),(n)->()", "ff->f", "(a, b) -> (c) { a[0] = 1; c = 2; }"));
}

static uf_status with_blas(const char *layout, const char *blas) {
    const uf_section section = {"ff->f", "(x, y) -> (z) { }"};
    const uf_definition d = {
        .size = sizeof d, .name = "f", .nsections = 1, .sections = &section, .layout = layout, .blas = blas};
    uf_func *f = (uf_func *)&gpu;
    uf_status s = uf_define(&f, &d);
    assert_true((s == UF_OK) == (f != NULL));
    uf_free(f);
    return s;
}

static void blas_forms(void **state) {
    (void)state;
    static const struct {
        const char *name, *layout;
        bool fits;
    } rows[] = {
        {"gemm", "(m?,n),(n,p?)->(m?,p?)", true},
        {"gemm", "(a?,b),(b,c?)->(a?,c?)", true},
        {"gemm", "(m,n),(n,p)->(m,p)", true},
        {"gemm", "(m?,n),(n,p)->(m?,p)", false},
        {"gemm", "(m,n),(n,n)->(m,n)", false},
        {"gemm", "(m,m),(m,m)->(m,m)", false},
        {"gemm", "(n,m),(n,p)->(m,p)", false},
        {"gemm", "(m,3),(3,p)->(m,p)", false},
        {"gemv", "(m,n),(n)->(m)", true},
        {"gemv", "(r,c),(c)->(r)", true},
        {"gemv", "(m,n),(m)->(n)", false},
        {"gemv", "(m,n),(n|1)->(m)", false},
        {"gevm", "(n),(n,p)->(p)", true},
        {"gevm", "(m,n),(n)->(m)", false},
        {"gevmc", "(n),(n,p)->(p)", true},
        {"dot", "(n),(n)->()", true},
        {"dotc", "(k),(k)->()", true},
        {"dot", "(n),(m)->()", false},
        {"ger", "(m),(n)->(m,n)", true},
        {"ger", "(m),(n)->(n,m)", false},
        {"ger", "(m),(m)->(m,m)", false},
        {"ger", "(m),(n)->(m,n+0)", false},
        {"dot", "(),()->()", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uf_describe(NULL, NULL);
        uf_status s = with_blas(rows[i].layout, rows[i].name);
        if (s != (rows[i].fits ? UF_OK : UF_ERR_ARGUMENT))
            print_error("%s %s: %s\n", rows[i].name, rows[i].layout, uf_last_error()->message);
        assert_int_equal(s, rows[i].fits ? UF_OK : UF_ERR_ARGUMENT);
        if (s)
            assert_non_null(strstr(uf_last_error()->message, "which is for the layout"));
    }
    FAILS(UF_ERR_ARGUMENT, "blas is \"gem\"; known are: gemm gemv gevm gevmc dot dotc ger",
          with_blas("(m,n),(n)->(m)", "gem"));
    FAILS(UF_ERR_ARGUMENT, "which is for the layout (n),(n)->()", with_blas(NULL, "dot"));
}

/* ---- Calls ---- */

static void matvecs(void **state) {
    (void)state;
    enum {
        B = 5,
        M = 7,
        N = 19
    };
    static double A[B * M * N], x[N], y[B * M + 2];
    for (int i = 0; i < B * M * N; i++)
        A[i] = i % 23 - 11;
    for (int j = 0; j < N; j++)
        x[j] = j % 5 - 2;
    uf_func *f = make("(m,n),(n)->(m)", "ff->f; dd->d", MATVEC);
    for (int form = 0; form < 4; form++) {
        DLTensor a = UF_ARRAY(A, B, M, N), r = UF_ARRAY(y + 1, B, M);
        int64_t s[3] = {M * N, N, 1}, t[2] = {M, 1};
        if (form & 1) { /* every matrix transposed in memory */
            s[1] = 1;
            s[2] = M;
        }
        if (form & 2) { /* results transposed, the calls backwards */
            t[0] = -1;
            t[1] = B;
            r.data = y + B;
        }
        a.strides = s;
        r.strides = t;
        for (int i = 0; i < B * M + 2; i++)
            y[i] = 99;
        OK(CALL(f, a, UF_ARRAY(x, N), r));
        for (int b = 0; b < B; b++)
            for (int i = 0; i < M; i++) {
                double want = 0;
                for (int j = 0; j < N; j++)
                    want += A[b * s[0] + i * s[1] + j * s[2]] * x[j];
                assert_true(((double *)r.data)[b * t[0] + i * t[1]] == want);
            }
        assert_true(y[0] == 99 && y[B * M + 1] == 99);
    }
    uf_free(f);
}

/* Loop dimensions broadcast on both sides, also to an output that is larger than the inputs. */
static void loops_broadcast(void **state) {
    (void)state;
    enum {
        P = 3,
        Q = 4,
        R = 2,
        N = 6
    };
    static int32_t a[P * N], b[Q * N], r[R * P * Q];
    for (int i = 0; i < P * N; i++)
        a[i] = i + 1;
    for (int i = 0; i < Q * N; i++)
        b[i] = i % 7 - 3;
    uf_func *f = make("(n),(n)->()", "ii->i", INNER);
    OK(CALL(f, UF_ARRAY(a, P, 1, N), UF_ARRAY(b, Q, N), UF_ARRAY(r, R, P, Q)));
    for (int k = 0; k < R * P * Q; k++) {
        int32_t want = 0;
        for (int i = 0; i < N; i++)
            want += a[k / Q % P * N + i] * b[k % Q * N + i];
        assert_int_equal(r[k], want);
    }
    FAILS_AT(UF_ERR_SHAPE, 1, 0, "is 4, but dimension 0 of argument 0 is 3",
             CALL(f, UF_ARRAY(a, P, N), UF_ARRAY(b, Q, N), UF_ARRAY(r, P)));
    FAILS_AT(UF_ERR_SHAPE, 1, 1, "is 5, but n is 6 (from argument 0)",
             CALL(f, UF_ARRAY(a, P, N), UF_ARRAY(b, P, 5), UF_ARRAY(r, P)));
    FAILS_AT(UF_ERR_SHAPE, 0, 0, "dimension 0 of argument 2, an output, is 4",
             CALL(f, UF_ARRAY(a, P, N), UF_ARRAY(b, P, N), UF_ARRAY(r, P + 1)));
    FAILS_AT(UF_ERR_SHAPE, 1, -1, "its rank is 0", CALL(f, UF_ARRAY(a, P, N), UF_SCALAR(3), UF_ARRAY(r, P)));
    FAILS_AT(UF_ERR_SHAPE, 0, -1, "without core dimensions", CALL(f, UF_ARRAY(a, P, N), UF_ARRAY(b, N), ZERO_D(r)));
    uf_free(f);
}

/* Many calls on many threads: each result in its place. */
static void many_calls(void **state) {
    (void)state;
    enum {
        B = 20011,
        N = 24
    };
    float *a = malloc(B * N * sizeof *a), *r = malloc(B * sizeof *r), b[N];
    assert_true(a && r);
    for (int i = 0; i < B * N; i++)
        a[i] = (float)(i % 31 - 15);
    for (int i = 0; i < N; i++)
        b[i] = (float)(i % 4);
    uf_func *f = make("(n),(n)->()", "ff->f", INNER);
    for (int threads = 0; threads < 4; threads++) {
        memset(r, 0xff, B * sizeof *r);
        OK(call_with(f, 3, LIST(UF_ARRAY(a, B, N), UF_ARRAY(b, N), UF_ARRAY(r, B)),
                     &(uf_options){.size = sizeof(uf_options), .threads = threads}));
        for (int k = 0; k < B; k++) {
            float want = 0;
            for (int i = 0; i < N; i++)
                want += a[k * N + i] * b[i];
            assert_true(r[k] == want);
        }
    }
    uf_free(f);
    free(a);
    free(r);
}

static void casts(void **state) {
    (void)state;
    int8_t A[6] = {1, 2, 3, -4, 5, -6};
    float x[3] = {0.5f, 1, -1}, y32[2];
    int32_t y[2];
    uf_func *f = make("(m,n),(n)->(m)", "dd->d", MATVEC);
    OK(CALL(f, UF_ARRAY(A, 2, 3), UF_ARRAY(x, 3), UF_ARRAY(y32, 2)));
    assert_true(y32[0] == -0.5f && y32[1] == 9);
    FAILS_AT(UF_ERR_CAST, 2, -1, "does not cast", CALL(f, UF_ARRAY(A, 2, 3), UF_ARRAY(x, 3), UF_ARRAY(y, 2)));
    OK(call_with(f, 3, LIST(UF_ARRAY(A, 2, 3), UF_ARRAY(x, 3), UF_ARRAY(y, 2)),
                 &(uf_options){.size = sizeof(uf_options), .casting = UF_CAST_UNSAFE}));
    assert_true(y[0] == 0 && y[1] == 9);
    uf_free(f);
    /* one signature of several is chosen, and one can be forced */
    f = make("(n),(n)->()", "ii->i; dd->d", INNER);
    double r;
    int32_t a[2] = {3, 4}, i;
    OK(CALL(f, UF_ARRAY(a, 2), UF_ARRAY(a, 2), ZERO_D(&r)));
    assert_true(r == 25);
    OK(CALL(f, UF_ARRAY(a, 2), UF_ARRAY(a, 2), ZERO_D(&i)));
    assert_int_equal(i, 25);
    FAILS_AT(UF_ERR_CAST, 2, -1, "does not cast",
             call_with(f, 3, LIST(UF_ARRAY(a, 2), UF_ARRAY(a, 2), ZERO_D(&i)),
                       &(uf_options){.size = sizeof(uf_options), .signature = "dd->d"}));
    FAILS(UF_ERR_SIGNATURE, "int32,int32->int32",
          CALL(f, UF_ARRAY((float _Complex *)(void *)x, 1), UF_ARRAY(a, 1), ZERO_D(&r)));
    uf_free(f);
}

/* A () operand takes numbers, arrays that loop, and 0-d arrays. */
static void numbers(void **state) {
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, s[2] = {10, -1}, y[6];
    uf_func *f = make("(n),()->(n)", "ff->f; dd->d", SCALE);
    OK(CALL(f, UF_ARRAY(x, 2, 3), UF_SCALAR(2), UF_ARRAY(y, 2, 3)));
    assert_true(y[0] == 2 && y[5] == 12);
    OK(CALL(f, UF_ARRAY(x, 2, 3), UF_ARRAY(s, 2), UF_ARRAY(y, 2, 3)));
    assert_true(y[2] == 30 && y[3] == -4);
    OK(CALL(f, UF_ARRAY(x, 3), UF_ARRAY(s, 2), UF_ARRAY(y, 2, 3)));
    assert_true(y[2] == 30 && y[5] == -3);
    OK(CALL(f, UF_ARRAY(x, 2, 3), UF_ARRAY(s, 1), UF_ARRAY(y, 2, 3)));
    assert_true(y[5] == 60);
    FAILS_AT(UF_ERR_SHAPE, 1, 0, "is 2", CALL(f, UF_ARRAY(x, 3, 2), UF_ARRAY(s, 2), UF_ARRAY(y, 3, 2)));
    uf_free(f);
    f = make("(n),()->(n)", "BB->B", SCALE);
    uint8_t u[2] = {1, 2}, v[2];
    FAILS_AT(UF_ERR_CAST, 1, -1, "300 does not fit uint8", CALL(f, UF_ARRAY(u, 2), UF_SCALAR(300), UF_ARRAY(v, 2)));
    uf_free(f);
}

static void optional_dimensions(void **state) {
    (void)state;
    double A[6] = {1, 2, 3, 4, 5, 6}, B[6] = {1, 0, 0, 1, 1, 1}, v[3] = {1, -1, 2}, w[2] = {3, 5}, r[4];
    uf_func *f = make("(m?,n),(n,p?)->(m?,p?)", "dd->d", MATMUL);
    OK(CALL(f, UF_ARRAY(A, 2, 3), UF_ARRAY(B, 3, 2), UF_ARRAY(r, 2, 2)));
    assert_true(r[0] == 4 && r[1] == 5 && r[2] == 10 && r[3] == 11);
    OK(CALL(f, UF_ARRAY(A, 2, 3), UF_ARRAY(v, 3), UF_ARRAY(r, 2)));
    assert_true(r[0] == 5 && r[1] == 11);
    OK(CALL(f, UF_ARRAY(w, 2), UF_ARRAY(A, 2, 3), UF_ARRAY(r, 3)));
    assert_true(r[0] == 23 && r[1] == 31 && r[2] == 39);
    OK(CALL(f, UF_ARRAY(v, 3), UF_ARRAY(v, 3), ZERO_D(r)));
    assert_true(r[0] == 6);
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(A, 2, 3), UF_ARRAY(v, 3), {.shape = shape}};
    OK(uf_infer(f, 3, args, NULL));
    assert_int_equal(args[2].ndim, 1);
    assert_int_equal(shape[0], 2);
    uf_free(f);
}

static void frozen_and_stretched(void **state) {
    (void)state;
    float a[6] = {1, 0, 0, 0, 1, 0}, b[3] = {0, 0, 1}, c[9], s[2] = {7, 9};
    uf_func *f = make("(3),(3)->(3)", "ff->f",
                      "(a, b) -> (c) { c[0] = a[1] * b[2] - a[2] * b[1]; c[1] = a[2] * b[0] - a[0] * b[2]; "
                      "c[2] = a[0] * b[1] - a[1] * b[0]; }");
    OK(CALL(f, UF_ARRAY(a, 2, 3), UF_ARRAY(b, 3), UF_ARRAY(c, 2, 3)));
    assert_true(c[1] == -1 && c[3] == 1 && c[0] == 0 && c[5] == 0);
    FAILS_AT(UF_ERR_SHAPE, 0, 1, "is 2, but must be 3", CALL(f, UF_ARRAY(a, 3, 2), UF_ARRAY(b, 3), UF_ARRAY(c, 3, 3)));
    uf_free(f);
    f = make("(n),(n|1)->(n)", "ff->f", "(x, y) -> (z) { forall (i : n) z[i] = x[i] - y[i]; }");
    OK(CALL(f, UF_ARRAY(a, 2, 3), UF_ARRAY(s, 2, 1), UF_ARRAY(c, 2, 3)));
    assert_true(c[0] == -6 && c[1] == -7 && c[3] == -9 && c[4] == -8);
    OK(CALL(f, UF_ARRAY(a, 2, 3), UF_ARRAY(b, 3), UF_ARRAY(c, 2, 3)));
    assert_true(c[2] == -1);
    FAILS_AT(UF_ERR_SHAPE, 1, 0, "is 2, but n is 3 (from argument 0)",
             CALL(f, UF_ARRAY(a, 2, 3), UF_ARRAY(s, 2), UF_ARRAY(c, 2, 3)));
    uf_free(f);
}

static void computed_and_output_only(void **state) {
    (void)state;
    double x[3] = {1, 2, 3}, y[2] = {1, 10}, r[8], p[3], points[6] = {0, 0, 3, 4, 0, 4};
    int64_t shape[UF_MAX_NDIM];
    uf_func *conv = make("(m),(n)->(m+n-1)", "dd->d",
                         "(a, b) -> (c) { for (int64 k = 0; k < m + n - 1; k++) c[k] = 0; "
                         "for (int64 i = 0; i < m; i++) for (int64 j = 0; j < n; j++) c[i + j] += a[i] * b[j]; }");
    OK(CALL(conv, UF_ARRAY(x, 3), UF_ARRAY(y, 2), UF_ARRAY(r, 4)));
    assert_true(r[0] == 1 && r[1] == 12 && r[2] == 23 && r[3] == 30);
    FAILS_AT(UF_ERR_SHAPE, 2, 0, "is 5, but m+n-1 is 4", CALL(conv, UF_ARRAY(x, 3), UF_ARRAY(y, 2), UF_ARRAY(r, 5)));
    FAILS_AT(UF_ERR_SHAPE, 2, 0, "negative", CALL(conv, UF_ARRAY(x, 0), UF_ARRAY(y, 0), UF_ARRAY(r, 0)));
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 2), {.shape = shape}};
    OK(uf_infer(conv, 3, args, NULL));
    assert_int_equal(args[2].ndim, 1);
    assert_int_equal(args[2].dtype.bits, 64);
    assert_int_equal(shape[0], 4);
    uf_free(conv);

    uf_func *pdist = make("(n,d)->(p)", "d->d",
                          "(x) -> (r) { int64 k = 0; for (int64 i = 0; i < n; i++) for (int64 j = i + 1; j < n; j++) "
                          "{ r[k] = sqrt(sum(c : d, (x[i][c] - x[j][c]) * (x[i][c] - x[j][c]))); k++; } }");
    OK(CALL(pdist, UF_ARRAY(points, 3, 2), UF_ARRAY(p, 3)));
    assert_true(p[0] == 5 && p[1] == 4 && p[2] == 3);
    DLTensor infer[] = {UF_ARRAY(points, 3, 2), {.shape = shape, .ndim = 77}};
    FAILS_AT(UF_ERR_SHAPE, 1, -1, "outputs alone", uf_infer(pdist, 2, infer, NULL));
    assert_int_equal(infer[1].ndim, 77);
    uf_free(pdist);
}

/* An inferred rank beyond 64 is refused, and no output is written. */
static void inferred_rank(void **state) {
    (void)state;
    int64_t ones[UF_MAX_NDIM], shape[2][UF_MAX_NDIM];
    for (int d = 0; d < UF_MAX_NDIM; d++)
        ones[d] = 1;
    uf_func *f = make("(n)->(),(n,n)", "d->dd", "(x) -> (a, b) { a = x[0]; }");
    DLTensor args[] = {{.device = {kDLCPU, 0}, .ndim = 64, .dtype = {kDLFloat, 64, 1}, .shape = ones},
                       {.shape = shape[0], .ndim = 77},
                       {.shape = shape[1], .ndim = 77}};
    FAILS_AT(UF_ERR_SHAPE, 2, -1, "65", uf_infer(f, 3, args, NULL));
    assert_int_equal(args[1].ndim, 77);
    args[0].ndim = 63;
    OK(uf_infer(f, 3, args, NULL));
    assert_int_equal(args[1].ndim, 62);
    assert_int_equal(args[2].ndim, 64);
    uf_free(f);
}

static void axes_and_keepdims(void **state) {
    (void)state;
    enum {
        M = 3,
        N = 4,
        B = 2
    };
    double A[M * B * N], x[N], y[M * (B + 1)], r[B * N];
    for (int i = 0; i < M * B * N; i++)
        A[i] = i % 7;
    for (int j = 0; j < N; j++)
        x[j] = j - 1;
    uf_func *f = make("(m,n),(n)->(m)", "dd->d", MATVEC);
    /* A is (m, batch, n), y is (m, batch) */
    const int a_axes[] = {0, -1}, x_axes[] = {0}, y_axes[] = {0};
    const uf_axis_list lists[] = {{2, a_axes}, {1, x_axes}, {1, y_axes}};
    const uf_axes axes = {.size = sizeof axes, .count = 3, .lists = lists};
    const uf_options options = with_axes(&axes);
    OK(call_with(f, 3, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(x, N), UF_ARRAY(y, M, B)), &options));
    for (int i = 0; i < M; i++)
        for (int b = 0; b < B; b++) {
            double want = 0;
            for (int j = 0; j < N; j++)
                want += A[(i * B + b) * N + j] * x[j];
            assert_true(y[i * B + b] == want);
        }
    FAILS_AT(UF_ERR_SHAPE, 0, 1, "dimension 1 of argument 2, an output, is 3",
             call_with(f, 3, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(x, N), UF_ARRAY(y, M, B + 1)), &options));
    uf_free(f);

    f = make("(n)->()", "d->d", "(x) -> (y) { y = sum(i : n, x[i]); }");
    const int axis = 0;
    const uf_axes first = {.size = sizeof first, .axis = &axis},
                  kept = {.size = sizeof kept, .axis = &axis, .keepdims = true};
    uf_options o = with_axes(&first);
    OK(call_with(f, 2, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(r, B, N)), &o));
    for (int k = 0; k < B * N; k++)
        assert_true(r[k] == A[k] + A[B * N + k] + A[2 * B * N + k]);
    memset(r, 0, sizeof r);
    o = with_axes(&kept);
    OK(call_with(f, 2, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(r, 1, B, N)), &o));
    assert_true(r[5] == A[5] + A[B * N + 5] + A[2 * B * N + 5]);
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(A, M, B, N), {.shape = shape}};
    OK(uf_infer(f, 2, args, &o));
    assert_int_equal(args[1].ndim, 3);
    assert_true(shape[0] == 1 && shape[1] == B && shape[2] == N);
    FAILS(UF_ERR_SHAPE, "", call_with(f, 2, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(r, B, N)), &o));
    const uf_axes bad = {.size = sizeof bad, .axis = (const int[]){3}};
    o = with_axes(&bad);
    FAILS_AT(UF_ERR_ARGUMENT, 0, -1, "axis 3", call_with(f, 2, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(r, B, N)), &o));
    const uf_axes unset = {.axis = &axis};
    o = with_axes(&unset);
    FAILS(UF_ERR_ARGUMENT, "uf_axes.size is 0", call_with(f, 2, LIST(UF_ARRAY(A, M, B, N), UF_ARRAY(r, B, N)), &o));
    uf_free(f);
}

/* Core dimensions of size 0 are computed; loops of 0 are not. */
static void empty(void **state) {
    (void)state;
    double r[3] = {7, 7, 7};
    uf_func *f = make("(n),(n)->()", "dd->d", INNER);
    DLTensor none = UF_ARRAY((double *)NULL, 3, 0);
    OK(CALL(f, none, none, UF_ARRAY(r, 3)));
    assert_true(r[0] == 0 && r[1] == 0 && r[2] == 0);
    none.strides = STRIDES(-5, 1);
    r[2] = 7;
    OK(CALL(f, none, none, UF_ARRAY(r, 3)));
    assert_true(r[2] == 0);
    r[0] = 7;
    OK(CALL(f, UF_ARRAY(r, 0, 3), UF_ARRAY(r, 0, 3), UF_ARRAY(r, 0)));
    assert_true(r[0] == 7);
    FAILS(UF_ERR_ARGUMENT, "data", CALL(f, UF_ARRAY((double *)NULL, 3), UF_ARRAY(r, 3), ZERO_D(r)));
    uf_free(f);
    f = make("(n)->(m)", "d->d", "(x) -> (y) { forall (i : m) y[i] = sum(j : n, x[j]); }");
    OK(CALL(f, UF_ARRAY(r, 3), UF_ARRAY((double *)NULL, 0)));
    uf_free(f);
}

/* What a kernel does not assign stays; a () output starts at 0. */
static void unassigned(void **state) {
    (void)state;
    float x[4] = {1, -2, 3, -4}, y[4] = {9, 9, 9, 9}, s = 5;
    uf_func *f =
        make("(n)->(n),()", "f->ff", "(x) -> (y, s) { for (int i = 0; i < n; i++) if (x[i] > 0) y[i] = x[i]; }");
    OK(CALL(f, UF_ARRAY(x, 4), UF_ARRAY(y, 4), ZERO_D(&s)));
    assert_true(y[0] == 1 && y[1] == 9 && y[2] == 3 && y[3] == 9 && s == 0);
    uf_free(f);
}

/* ---- Overlap ---- */

/* x = A x, y inside A, and a running sum onto its input: as if the inputs had been copied. */
static void overlapping(void **state) {
    (void)state;
    if (gpu)
        skip(); /* staging copies */
    double A[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, x[3] = {1, -1, 2}, v[3] = {1, 1, 1};
    uf_func *f = make("(m,n),(n)->(m)", "dd->d", MATVEC);
    OK(CALL(f, UF_ARRAY(A, 3, 3), UF_ARRAY(x, 3), UF_ARRAY(x, 3)));
    assert_true(x[0] == 5 && x[1] == 11 && x[2] == 17);
    OK(CALL(f, UF_ARRAY(A, 4, 3), UF_ARRAY(v, 3), UF_ARRAY(A + 2, 4)));
    assert_true(A[1] == 2 && A[2] == 6 && A[3] == 15 && A[4] == 24 && A[5] == 33 && A[6] == 7);
    uf_free(f);
    f = make("(n)->(n)", "d->d", CUMSUM);
    double s[6] = {1, 1, 1, 1, 1, 1}, t[6] = {1, 2, 3, 4, 5, 6};
    OK(CALL(f, UF_ARRAY(s, 5), UF_ARRAY(s + 1, 5)));
    for (int i = 1; i < 6; i++)
        assert_true(s[i] == i);
    OK(CALL(f, strided(UF_ARRAY(t + 5, 6), STRIDES(-1)), UF_ARRAY(t, 6)));
    assert_true(t[0] == 6 && t[1] == 11 && t[5] == 21);
    FAILS_AT(UF_ERR_ARGUMENT, 1, -1, "two elements at one address",
             CALL(f, UF_ARRAY(s, 5), strided(UF_ARRAY(t, 5), STRIDES(0))));
    FAILS_AT(UF_ERR_ARGUMENT, 1, -1, "two elements at one address",
             CALL(f, UF_ARRAY(s, 2, 3), strided(UF_ARRAY(t, 2, 3), STRIDES(1, 1))));
    uf_free(f);
    f = make("(n)->(n),(n)", "d->dd", "(x) -> (y, z) { forall (i : n) { y[i] = x[i]; z[i] = -x[i]; } }");
    FAILS_AT(UF_ERR_ARGUMENT, 2, -1, "overlaps output argument 1",
             CALL(f, UF_ARRAY(s, 3), UF_ARRAY(t, 3), UF_ARRAY(t + 2, 3)));
    OK(CALL(f, UF_ARRAY(s, 3), strided(UF_ARRAY(t, 3), STRIDES(2)), strided(UF_ARRAY(t + 1, 3), STRIDES(2))));
    assert_true(t[4] == 2 && t[5] == -2);
    uf_free(f);
}

/* ---- Plans ---- */

static void plans(void **state) {
    (void)state;
    if (gpu)
        skip(); /* plans do not stage */
    double x[2][7] = {{1, 2, 3, 4, 5, 6}, {-1, -2, -3, -4, -5, -6}}, y[2][7];
    uf_func *f = make("(n),()->(n)", "dd->d", SCALE);
    uf_plan *p;
    DLTensor args[] = {UF_ARRAY((double *)NULL, 2, 3), UF_SCALAR(1), UF_ARRAY((double *)NULL, 2, 3)};
    args[1].data = NULL;
    OK(uf_plan_new(&p, f, 3, args, NULL));
    uf_free(f);
    for (int k = 0; k < 2; k++) {
        int factor = 3 + k;
        OK(uf_plan_run(p, (void *[]){x[k], &factor, y[k]}, NULL));
        for (int i = 0; i < 6; i++)
            assert_true(y[k][i] == x[k][i] * factor);
    }
    int one = 1, two = 2;
    OK(uf_plan_run(p, (void *[]){x[0], &two, x[0] + 1}, NULL)); /* overlap is seen at each run */
    for (int i = 0; i < 6; i++)
        assert_true(x[0][i + 1] == 2 * (i + 1));
    FAILS_AT(UF_ERR_ARGUMENT, 0, -1, "data is NULL", uf_plan_run(p, (void *[]){NULL, &one, y[0]}, NULL));
    FAILS_AT(UF_ERR_ARGUMENT, 2, -1, "aligned", uf_plan_run(p, (void *[]){x[0], &one, (char *)y[0] + 4}, NULL));
    uf_plan_free(p);

    f = make("(n),(n)->()", "dd->d", INNER); /* no core elements: data may be NULL */
    double r[3] = {5, 5, 5};
    OK(uf_plan_new(&p, f, 3, LIST(UF_ARRAY(r, 3, 0), UF_ARRAY(r, 0), UF_ARRAY(r, 3)), NULL));
    OK(uf_plan_run(p, (void *[]){NULL, NULL, r}, NULL));
    assert_true(r[0] == 0 && r[2] == 0);
    FAILS_AT(UF_ERR_ARGUMENT, 2, -1, "data is NULL", uf_plan_run(p, (void *[]){r, r, NULL}, NULL));
    uf_plan_free(p);
    FAILS_AT(UF_ERR_SHAPE, 1, 0, "n is 3",
             uf_plan_new(&p, f, 3, LIST(UF_ARRAY(r, 3), UF_ARRAY(r, 2), ZERO_D(r)), NULL));
    assert_null(p);
    uf_free(f);
}

/* ---- Options that do not go together; staging ---- */

static void bad_options(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 4}, r[4] = {0};
    _Bool mask = true;
    const DLTensor where = UF_SCALAR(mask);
    const uf_axes axes = {.size = sizeof axes};
    const uf_options masked = {.size = sizeof masked, .where = &where}, placed = with_axes(&axes);
    uf_func *f = make("(n)->(n)", "d->d", CUMSUM), *g;
    FAILS(UF_ERR_ARGUMENT, "(n)->(n); a mask (where)", call_with(f, 2, LIST(UF_ARRAY(x, 4), UF_ARRAY(r, 4)), &masked));
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(x, 4), {.shape = shape}};
    FAILS(UF_ERR_ARGUMENT, "a mask (where)", uf_infer(f, 2, args, &masked));
    OK(call_with(f, 2, LIST(UF_ARRAY(x, 4), UF_ARRAY(r, 4)), &placed)); /* axes that say nothing */
    assert_true(r[3] == 10);
    OK(uf_vectorize(&g, "g", "d->d", "(x) { return x; }"));
    FAILS(UF_ERR_ARGUMENT, "g has no core dimensions", call_with(g, 2, LIST(UF_ARRAY(x, 4), UF_ARRAY(r, 4)), &placed));
    FAILS(UF_ERR_ARGUMENT, "g has no core dimensions", uf_infer(g, 2, args, &placed));
    uf_free(f);
    uf_free(g);
}

/* An array that repeats itself in a core dimension has its size all the same where it is staged once; a 0-d host array is an
 * array where the operand has (missing) core dimensions. */
static void repeating(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 4}, one = 2, r;
    uf_func *f = make("(n),(n)->()", "dd->d", INNER);
    OK(CALL(f, UF_ARRAY(x, 4), strided(UF_ARRAY(&one, 4), STRIDES(0)), ZERO_D(&r)));
    assert_true(r == 20);
    uf_free(f);
    f = make("(n?)->()", "d->d", "(x) -> (y) { y = sum(i : n, x[i]); }");
    OK(CALL(f, ZERO_D(&one), ZERO_D(&r)));
    assert_true(r == 2);
    OK(CALL(f, UF_ARRAY(x, 4), ZERO_D(&r)));
    assert_true(r == 10);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(described),
        cmocka_unit_test(inspected),
        cmocka_unit_test(layouts_are_told_apart),
        cmocka_unit_test(structs_of_any_age),
        cmocka_unit_test(scalar_layouts),
        cmocka_unit_test(bad_registration),
        cmocka_unit_test(blas_forms),
        cmocka_unit_test(matvecs),
        cmocka_unit_test(loops_broadcast),
        cmocka_unit_test(many_calls),
        cmocka_unit_test(casts),
        cmocka_unit_test(numbers),
        cmocka_unit_test(optional_dimensions),
        cmocka_unit_test(frozen_and_stretched),
        cmocka_unit_test(computed_and_output_only),
        cmocka_unit_test(inferred_rank),
        cmocka_unit_test(axes_and_keepdims),
        cmocka_unit_test(empty),
        cmocka_unit_test(unassigned),
        cmocka_unit_test(overlapping),
        cmocka_unit_test(plans),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(repeating),
    };
    int failed = cmocka_run_group_tests_name("gufuncs, CPU", tests, NULL, NULL);
    const char *wanted = getenv("UF_TEST_GPU");
    if (wanted && *wanted == '1') {
        gpu = true;
        failed += cmocka_run_group_tests_name("gufuncs, GPU", tests, NULL, NULL);
    }
    return failed;
}
