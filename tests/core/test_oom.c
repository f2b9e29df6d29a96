/* test_oom.c - every allocation of registration, compilation, call, plan, copy and inspection fails once: UF_ERR_MEMORY, no
 * output written, nothing leaked (the address sanitizer watches), and the library is usable afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "failing.h"
#include "leaks.h"
#include "ufunc.h"

extern bool (*mem_may_alloc)(size_t size);

static long fresh; /* a number no formula had: the process keeps compiled code */

/* What is tried: true when it succeeded, false when it ran out of memory; anything else fails the test. */
typedef bool attempt(void);

static bool out_of_memory(uf_status s) {
    if (s == UF_OK)
        return false;
    if (s != UF_ERR_MEMORY || uf_last_error()->status != UF_ERR_MEMORY) {
        mem_may_alloc = NULL;
        print_error("%s\n", uf_last_error()->message);
    }
    assert_int_equal(s, UF_ERR_MEMORY);
    return true;
}

/* One in so many allocations fails, from one on that is drawn. */
static void fail_some(attempt *try_it, const char *what, int in) {
    for (int mode = 0; mode < 2; mode++) {
        long n = (long)pick(0, in - 1);
        for (bool done = false; !done; n += in) {
            assert_true(n < 5000);
            fresh++;
            (mode ? allocation_fails_after : allocations_fail_after)(n);
            done = try_it();
            done = !allocations_succeed() && done; /* one that failed without harm does not end the series */
        }
        print_message("%s: %ld allocations\n", what, n - in);
    }
    mem_may_alloc = NULL;
    assert_true(try_it());
}

static void fail_each(attempt *try_it, const char *what) { fail_some(try_it, what, 1); }

static char source[256];
static const char *formula(void) {
    snprintf(source, sizeof source,
             "twice(a) { return 2 * a; } (x, y) { auto z = %ld; for (int i = 0; i < 3; i++) z += i; return twice(x) * "
             "z + exp(y); }",
             fresh);
    return source;
}

static uf_func *registered(void) {
    uf_func *f;
    if (out_of_memory(uf_vectorize(&f, "f", "float32,float32->float32; dd->d", formula()))) {
        assert_null(f);
        return NULL;
    }
    return f;
}

static bool registration(void) {
    uf_func *f = registered();
    uf_free(f);
    return f != NULL;
}

static bool call(void) {
    float x[4] = {1, 2, 3, 4}, r[4] = {-1, -1, -1, -1};
    uf_func *f = registered();
    if (!f)
        return false;
    bool failed = out_of_memory(UF_CALL(f, UF_ARRAY(x, 4), UF_SCALAR(0), UF_ARRAY(r, 4)));
    assert_true(failed ? r[0] == -1 && r[3] == -1 : r[3] == 8 * (float)(fresh + 3) + 1);
    uf_free(f);
    return !failed;
}

static bool high_rank_call(void) {
    float x[4] = {1, 2, 3, 4}, r[4] = {-1, -1, -1, -1};
    int64_t shape[40], strides[40];
    for (int d = 0; d < 40; d++) {
        shape[d] = d == 7 || d == 20 ? 2 : 1;
        strides[d] = d == 7 ? 1 : 2;
    }
    DLTensor tx = {
        .data = x, .device = {kDLCPU, 0}, .ndim = 40, .dtype = {kDLFloat, 32, 1}, .shape = shape, .strides = strides};
    DLTensor tr = tx;
    tr.data = r;
    uf_func *f = registered();
    if (!f)
        return false;
    bool failed = out_of_memory(uf_call(f, 3, (DLTensor[]){tx, tx, tr}, NULL));
    assert_true(failed ? r[0] == -1 : r[0] != -1);
    uf_free(f);
    return !failed;
}

static bool overlapping_call(void) {
    float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    uf_func *f = registered();
    if (!f)
        return false;
    bool failed = out_of_memory(UF_CALL(f, UF_ARRAY(x, 8), UF_SCALAR(0), UF_ARRAY(x + 1, 8)));
    assert_true(failed ? x[1] == 2 : x[8] == 16 * (float)(fresh + 3) + 1);
    uf_free(f);
    return !failed;
}

static bool outputs_by_inference(void) {
    float x[4] = {1, 2, 3, 4};
    uf_func *f = registered();
    DLManagedTensor *r, *total;
    if (!f)
        return false;
    bool failed = out_of_memory(UF_NEW(&r, f, UF_ARRAY(x), UF_SCALAR(0)));
    assert_true(failed == !r);
    if (r)
        r->deleter(r);
    if (!failed) {
        failed = out_of_memory(UF_REDUCE_NEW(&total, f, UF_ARRAY(x)));
        assert_true(failed == !total);
        if (total)
            total->deleter(total);
    }
    uf_free(f);
    return !failed;
}

static bool plan(void) {
    float x[4] = {1, 2, 3, 4}, r[4] = {-1, -1, -1, -1};
    uf_func *f = registered();
    uf_plan *p;
    if (!f)
        return false;
    bool failed =
        out_of_memory(uf_plan_new(&p, f, 3, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(x, 4), UF_ARRAY(r, 4)}, NULL));
    uf_free(f);
    if (failed)
        assert_null(p);
    else
        failed = out_of_memory(uf_plan_run(p, (void *[]){x, x, r}, NULL));
    uf_plan_free(p);
    return !failed;
}

/* A kernel that is ended, in a call and in a reduction: that is said, or memory has run out. */
static bool steps(void) {
    float x[4] = {1, 2, 3, 4}, r[4] = {-1, -1, -1, -1};
    char text[128];
    uf_section only = {"ff->f", text};
    uf_func *f;
    snprintf(text, sizeof text, "(x, y) { while (x == 3 || y == 3) ; return x + y + %ld; }", fresh);
    if (out_of_memory(uf_define(
            &f, &(uf_definition){
                    .size = sizeof(uf_definition), .name = "f", .nsections = 1, .sections = &only, .max_steps = 100})))
        return false;
    uf_status s = UF_CALL(f, UF_ARRAY(x, 4), UF_ARRAY(x, 4), UF_ARRAY(r, 4));
    bool failed = s != UF_ERR_KERNEL && out_of_memory(s);
    assert_true(s && r[2] == -1);
    if (!failed) {
        s = uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x, 1, 4), UF_ARRAY(r, 1)},
                      &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = 1, .axes = (int[]){1}});
        failed = s != UF_ERR_KERNEL && out_of_memory(s);
        assert_true(s);
    }
    uf_free(f);
    return !failed;
}

static bool any_types(void) {
    double x[4] = {1, 2, 3, 4}, r[4];
    uf_func *f;
    if (out_of_memory(uf_vectorize(&f, "f", NULL, formula())))
        return false;
    bool failed = out_of_memory(UF_CALL(f, UF_ARRAY(x, 4), UF_ARRAY(x, 4), UF_ARRAY(r, 4)));
    uf_free(f);
    return !failed;
}

/* A number for which another signature serves than for other values. */
static bool number_without_room(void) {
    uint8_t x[2] = {0, 255};
    bool r[2] = {false, false};
    uf_func *f;
    snprintf(source, sizeof source, "(x, y) { return x < y && x != %ld; }", fresh + 1000);
    if (out_of_memory(uf_vectorize(&f, "f", "uint8,uint8->bool; int16,int16->bool", source)))
        return false;
    bool failed = out_of_memory(UF_CALL(f, UF_ARRAY(x, 2), UF_SCALAR(300), UF_ARRAY(r, 2)));
    assert_true(r[0] == !failed && r[1] == !failed);
    uf_free(f);
    return !failed;
}

static const char *gufunc_formula(void) {
    snprintf(source, sizeof source, "(A, x) -> (y, s) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); s = %ld; }",
             fresh);
    return source;
}

static uf_func *gufunc_registered(void) {
    uf_func *f;
    const uf_section section = {"ff->ff; dd->dd", gufunc_formula()};
    const uf_definition wrong = {.size = sizeof wrong,
                                 .name = "g",
                                 .nsections = 1,
                                 .sections = &section,
                                 .layout = "(m,n),(n)->(m),()",
                                 .blas = "gemv"};
    uf_definition d = wrong;
    d.blas = NULL;
    assert_true(uf_define(&f, &wrong) != UF_OK); /* its error takes memory as well */
    assert_null(f);
    if (out_of_memory(uf_define(&f, &d))) {
        assert_null(f);
        return NULL;
    }
    return f;
}

/* Core dimensions, an input that is copied, a rank beyond what the stack has room for, axes, inference. */
static bool gufunc(void) {
    float A[4] = {1, 2, 3, 4}, x[3] = {1, -1, -7}, s = 0;
    int64_t shape[34], rows[33], out[2][UF_MAX_NDIM];
    for (int d = 0; d < 34; d++)
        shape[d] = d < 32 ? 1 : 2;
    memcpy(rows, shape, sizeof rows);
    const DLTensor high = {.data = A, .device = {kDLCPU, 0}, .ndim = 34, .dtype = {kDLFloat, 32, 1}, .shape = shape};
    DLTensor y = UF_ARRAY(x + 1, 2),
             t = {.data = &s, .device = {kDLCPU, 0}, .ndim = 32, .dtype = y.dtype, .shape = shape};
    y.ndim = 33;
    y.shape = rows;
    uf_func *f = gufunc_registered();
    if (!f)
        return false;
    bool failed = out_of_memory(uf_call(f, 4, (DLTensor[]){high, UF_ARRAY(x, 2), y, t}, NULL));
    assert_true(failed ? x[1] == -1 && x[2] == -7 && s == 0 : x[1] == -1 && x[2] == -1 && s == (float)fresh);
    DLTensor infer[] = {high, UF_ARRAY(x, 2), {.shape = out[0], .ndim = 77}, {.shape = out[1], .ndim = 77}};
    const uf_axes axes = {.size = sizeof axes};
    const uf_options options = {.size = sizeof options, .axes = &axes};
    failed = failed || out_of_memory(uf_infer(f, 4, infer, &options));
    assert_int_equal(infer[2].ndim, failed ? 77 : 33);
    uf_free(f);
    return !failed;
}

/* Equations that LAPACK solves, in the output: what is there after a failure is what was, the right side, or the solution. */
static bool equations(void) {
    static double a[400], b[20], x[20];
    int64_t square[] = {20, 20}, vector[] = {20};
    DLTensor args[] = {{.data = a, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 64, 1}, .shape = square},
                       {.data = b, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 64, 1}, .shape = vector},
                       {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 64, 1}, .shape = vector}};
    uf_func *f;
    uf_plan *plan = NULL;
    for (int i = 0; i < 20; i++) {
        a[21 * i] = 2;
        b[i] = i;
        x[i] = -1;
    }
    if (out_of_memory(uf_load(&f, "solve")))
        return false;
    bool failed = out_of_memory(uf_call(f, 3, args, NULL));
    for (int i = 0; i < 20; i++)
        assert_true(x[i] == 0.5 * i || (failed && (x[i] == -1 || x[i] == i)));
    failed = failed || out_of_memory(uf_plan_new(&plan, f, 3, args, NULL));
    failed = failed || out_of_memory(uf_plan_run(plan, (void *[]){a, b, x}, NULL));
    uf_plan_free(plan);
    uf_free(f);
    return !failed;
}

static bool gufunc_errors(void) {
    float x[3] = {0};
    uf_func *f = gufunc_registered();
    if (!f)
        return false;
    uf_status s = UF_CALL(f, UF_ARRAY(x, 1, 3), UF_ARRAY(x, 2), UF_ARRAY(x, 1), UF_ARRAY(x, 1));
    bool failed = s != UF_ERR_SHAPE && out_of_memory(s);
    assert_true(failed || s == UF_ERR_SHAPE);
    uf_free(f);
    return !failed;
}

static bool gufunc_inspection(void) {
    uf_func *f = gufunc_registered();
    char *text;
    if (!f)
        return false;
    bool failed = out_of_memory(uf_inspect(f, NULL, (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &text));
    assert_true(failed == !text);
    free(text);
    uf_free(f);
    return !failed;
}

static bool arrays(void) {
    float x[6] = {1, 2, 3, 4, 5, 6};
    DLManagedTensor *d;
    if (out_of_memory(uf_empty(&d, (DLDevice){kDLCPU, 0}, (DLDataType){kDLFloat, 64, 1}, 2, (int64_t[]){3, 2}))) {
        assert_null(d);
        return false;
    }
    bool failed = out_of_memory(uf_copy(&d->dl_tensor, &UF_ARRAY(x, 3, 2), NULL));
    assert_true(failed || ((double *)d->dl_tensor.data)[5] == 6);
    d->deleter(d);
    return !failed;
}

static bool inspection(void) {
    static const uf_view views[] = {UF_VIEW_TREE, UF_VIEW_IR, UF_VIEW_ASSEMBLY, UF_VIEW_RESOURCES};
    uf_func *f = registered();
    bool failed = !f;
    for (size_t i = 0; i < sizeof views / sizeof *views && !failed; i++) {
        char *text;
        failed = out_of_memory(uf_inspect(f, "float32,float32", (DLDevice){kDLCPU, 0}, views[i], &text));
        assert_true(failed == !text);
        free(text);
    }
    uf_free(f);
    return !failed;
}

static uf_func *reduction_registered(void) {
    uf_func *f;
    char combine[128];
    snprintf(combine, sizeof combine, "(a, i, b, j) -> (c, k) { c = a + b; k = i > j ? i : %ld + j; }", fresh);
    const uf_reduction_def def = {.size = sizeof def,
                                  .map = "[k](x) -> (v, i) { v = x; i = k; }",
                                  .combine = combine,
                                  .finish = "(v, i, n) { return v / n + i; }",
                                  .state = "float64,int64; dl",
                                  .identity = "0.0, -1"};
    if (out_of_memory(uf_reduction(&f, "r", "float32->float32; d->d", &def))) {
        assert_null(f);
        return NULL;
    }
    return f;
}

static bool reduction(void) {
    static const uf_view views[] = {UF_VIEW_TREE, UF_VIEW_IR, UF_VIEW_ASSEMBLY};
    uf_func *f = reduction_registered();
    bool failed = !f;
    for (size_t i = 0; i < sizeof views / sizeof *views && !failed; i++) {
        char *text;
        failed = out_of_memory(uf_inspect(f, "float32", (DLDevice){kDLCPU, 0}, views[i], &text));
        assert_true(failed == !text);
        free(text);
    }
    uf_free(f);
    return !failed;
}

static uf_func *dot_registered(void) {
    uf_func *f;
    char map[128];
    snprintf(map, sizeof map, "(x, y, z, w) { return x * y * z * w * %ld; }", fresh);
    const uf_reduction_def def = {
        .size = sizeof def, .map = map, .combine = "(a, b) { return a + b; }", .identity = "0"};
    return out_of_memory(uf_reduction(&f, "dot", "dddd->d", &def)) ? NULL : f;
}

static double halves[1 << 19]; /* enough for parts */

static DLTensor scalar_at(double *r) {
    DLTensor t = UF_ARRAY(r, 1);
    t.ndim = 0;
    return t;
}

static bool reduction_in_parts(void) {
    const DLTensor x = UF_ARRAY(halves, 1 << 19);
    double r = -1;
    uf_func *f = dot_registered();
    if (!f)
        return false;
    for (int i = 0; i < 1 << 19; i++)
        halves[i] = 0.5;
    bool failed = out_of_memory(uf_reduce(f, 5, (DLTensor[]){x, x, x, x, scalar_at(&r)}, NULL));
    assert_true(r == (failed ? -1 : (double)fresh * (1 << 15)));
    uf_free(f);
    return !failed;
}

/* Loops that do not fit the stack. */
static bool high_rank_reduction(void) {
    double x[4] = {1, 2, 3, 4}, r = -1;
    int64_t shape[UF_MAX_NDIM];
    for (int d = 0; d < UF_MAX_NDIM; d++)
        shape[d] = d == 7 || d == 40 ? 2 : 1;
    const DLTensor t = {
        .data = x, .device = {kDLCPU, 0}, .ndim = UF_MAX_NDIM, .dtype = {kDLFloat, 64, 1}, .shape = shape};
    uf_func *f = dot_registered();
    if (!f)
        return false;
    bool failed = out_of_memory(uf_reduce(f, 5, (DLTensor[]){t, t, t, t, scalar_at(&r)}, NULL));
    assert_true(r == (failed ? -1 : 354 * (double)fresh));
    uf_free(f);
    return !failed;
}

/* Bounds that do not fit the stack, and an output that needs the input copied. */
static bool reduction_of_segments(void) {
    enum {
        N = 1000
    };
    double x[N];
    int16_t starts[N];
    for (int i = 0; i < N; i++) {
        starts[i] = (int16_t)i;
        x[i] = 1;
    }
    const DLTensor in = UF_ARRAY(x, N), two = UF_SCALAR(2);
    uf_func *f = dot_registered();
    if (!f)
        return false;
    bool failed = out_of_memory(
        uf_reduceat(f, 5, (DLTensor[]){in, two, two, two, UF_ARRAY(x, N)}, &UF_ARRAY(starts, N), 0, NULL));
    assert_true(x[0] == (failed ? 1 : 8 * (double)fresh) && x[N - 1] == x[0]);
    uf_free(f);
    return !failed;
}

/* Reductions over core dimensions: the form of a small core, and the chain of calls of a large one. */
static bool cores_reduced(int64_t n) {
    static double x[5 * 25], r[25];
    static const int64_t kept = 77;
    static const bool taken[5] = {true, true, true, true, true};
    char product[200];
    uf_func *f;
    snprintf(product, sizeof product,
             "(a, b) -> (c) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]) + 0 * %ld; }", fresh);
    const uf_section section = {"dd->d", product};
    if (out_of_memory(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                                     .name = "product",
                                                     .nsections = 1,
                                                     .sections = &section,
                                                     .layout = "(n,n),(n,n)->(n,n)",
                                                     .identity = "[i, j]() { return i == j; }"})))
        return false;
    for (int64_t i = 0; i < 5 * n * n; i++)
        x[i] = i % (n * n) % (n + 1) == 0 ? 2 : 0;
    r[0] = kept;
    const DLTensor where = UF_ARRAY((bool *)(uintptr_t)taken, 5);
    bool failed = out_of_memory(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x, 5, n, n), UF_ARRAY(r, n, n)},
                                          &(uf_reduce_options){.size = sizeof(uf_reduce_options), .where = &where}));
    assert_true(r[0] == (failed ? kept : 32));
    uf_free(f);
    return !failed;
}
static bool small_cores_reduced(void) { return cores_reduced(2); }
static bool large_cores_reduced(void) { return cores_reduced(5); }

/* A plan whose loops do not fit it, and which takes scratch memory when it runs. */
static bool plan_of_reduction(void) {
    const DLTensor x = UF_ARRAY(halves, 1 << 19);
    double r = -1;
    uf_plan *p;
    uf_func *f = dot_registered();
    if (!f)
        return false;
    for (int i = 0; i < 1 << 19; i++)
        halves[i] = 0.5;
    bool failed = out_of_memory(uf_reduce_plan(&p, f, 5, (DLTensor[]){x, x, x, x, scalar_at(&r)}, NULL));
    uf_free(f);
    if (failed) {
        assert_null(p);
        return false;
    }
    failed = out_of_memory(uf_plan_run(p, (void *[]){halves, halves, halves, halves, &r}, NULL));
    assert_true(r == (failed ? -1 : (double)fresh * (1 << 15)));
    uf_plan_free(p);
    return !failed;
}

/* Bounds that do not fit the stack of a run, and an input that it copies. */
static bool plan_of_segments(void) {
    enum {
        N = 1000
    };
    double x[N];
    int number = 2;
    int16_t starts[N];
    uf_plan *p;
    for (int i = 0; i < N; i++) {
        starts[i] = (int16_t)i;
        x[i] = 1;
    }
    const DLTensor in = UF_ARRAY(x, N), two = UF_SCALAR(2);
    uf_func *f = dot_registered();
    if (!f)
        return false;
    bool failed = out_of_memory(
        uf_reduceat_plan(&p, f, 5, (DLTensor[]){in, two, two, two, UF_ARRAY(x, N)}, &UF_ARRAY(starts, N), 0, NULL));
    uf_free(f);
    if (failed) {
        assert_null(p);
        return false;
    }
    failed = out_of_memory(uf_plan_run(p, (void *[]){x, &number, &number, &number, x, starts}, NULL));
    assert_true(x[0] == (failed ? 1 : 8 * (double)fresh) && x[N - 1] == x[0]);
    uf_plan_free(p);
    return !failed;
}

/* Many dimensions, and an operand that overlaps the target in a run. */
static bool plan_of_updates(void) {
    float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    int32_t at[2] = {1, 1}, zero = 0;
    int64_t shape[40];
    void *data[23] = {x};
    uf_plan *p;
    for (int d = 0; d < 40; d++)
        shape[d] = d == 20 ? 9 : 1;
    DLTensor target = {.data = x, .device = {kDLCPU, 0}, .ndim = 40, .dtype = {kDLFloat, 32, 1}, .shape = shape},
             all[21];
    uf_func *f = registered();
    if (!f)
        return false;
    for (int d = 0; d < 20; d++) {
        all[d] = (DLTensor){.data = &zero, .device = {kDLCPU, 0}, .dtype = {kDLInt, 32, 1}};
        data[1 + d] = &zero;
    }
    all[20] = UF_ARRAY(at, 2, 1);
    data[21] = at;
    data[22] = x;
    bool failed = out_of_memory(uf_at_plan(&p, f, &target, 21, all, &UF_ARRAY(x, 1), NULL));
    uf_free(f);
    if (failed) {
        assert_null(p);
        return false;
    }
    failed = out_of_memory(uf_plan_run(p, data, NULL));
    assert_true(failed ? x[1] == 2 : x[1] != 2);
    assert_true(x[0] == 1 && x[2] == 3);
    uf_plan_free(p);
    return !failed;
}

/* Views that do not fit the stack, and copies of what overlaps. */
static bool updates(void) {
    float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    int32_t at[2] = {1, 1}, zero = 0;
    int64_t shape[40];
    for (int d = 0; d < 40; d++)
        shape[d] = d == 20 ? 9 : 1;
    DLTensor target = {.data = x, .device = {kDLCPU, 0}, .ndim = 40, .dtype = {kDLFloat, 32, 1}, .shape = shape},
             all[21];
    uf_func *f = registered();
    if (!f)
        return false;
    for (int d = 0; d < 20; d++)
        all[d] = (DLTensor){.data = &zero, .device = {kDLCPU, 0}, .dtype = {kDLInt, 32, 1}};
    all[20] = UF_ARRAY(at, 2, 1);
    bool failed = out_of_memory(uf_at(f, &target, 21, all, &UF_ARRAY(x, 1), NULL));
    assert_true(failed ? x[1] == 2 : x[1] != 2);
    assert_true(x[0] == 1 && x[2] == 3);
    uf_free(f);
    return !failed;
}

/* An error that is put together on the heap. */
static bool updates_out_of_range(void) {
    float x[2] = {1, 2};
    uf_func *f = registered();
    if (!f)
        return false;
    uf_status s = uf_at(f, &UF_ARRAY(x, 2), 1, &UF_ARRAY(((int64_t[]){0, 2}), 2), &UF_SCALAR(1), NULL);
    assert_true(s == UF_ERR_ARGUMENT || s == UF_ERR_MEMORY);
    assert_true(x[0] == 1 && x[1] == 2);
    uf_free(f);
    return s == UF_ERR_ARGUMENT;
}

static bool combinations(void) {
    float x[2] = {1, 2}, r[4] = {-1, -1, -1, -1};
    int64_t shape[64];
    for (int d = 0; d < 64; d++)
        shape[d] = d == 3 || d == 50 ? 2 : 1;
    DLTensor a = {.data = x, .device = {kDLCPU, 0}, .ndim = 32, .dtype = {kDLFloat, 32, 1}, .shape = shape}, b = a,
             out = a;
    b.shape = shape + 32;
    out.data = r;
    out.ndim = 64;
    uf_func *f = registered();
    if (!f)
        return false;
    bool failed = out_of_memory(uf_outer(f, 3, (DLTensor[]){a, b, out}, NULL));
    assert_true(failed ? r[0] == -1 && r[3] == -1 : r[0] != -1 && r[3] != -1);
    uf_free(f);
    return !failed;
}

static uf_func *kernel_registered(void) {
    uf_func *f;
    char text[128];
    snprintf(text, sizeof text, "[i : n](a, b, s) { if (i < len(a)) b[i] = a[i] * s + %ld; }", fresh);
    const uf_section sections[] = {{"d[], d[], d; f[], f[], f", text}, {"d[,], d[], d", "[i, j](a, b, s) { }"}};
    const uf_definition d = {.size = sizeof d, .name = "k", .nsections = 2, .sections = sections, .flags = UF_KERNEL};
    if (out_of_memory(uf_define(&f, &d))) {
        assert_null(f);
        return NULL;
    }
    return f;
}

static bool kernel_over_indices(void) {
    double x[4] = {1, 2, 3, 4}, r[4] = {-1, -1, -1, -1};
    uf_func *f = kernel_registered();
    if (!f)
        return false;
    bool failed = out_of_memory(
        uf_forall(f, 1, (int64_t[]){4}, 3, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(r, 4), UF_SCALAR(2)}, NULL));
    assert_true(failed ? r[0] == -1 && r[3] == -1 : r[3] == 8 + (double)fresh);
    uf_free(f);
    return !failed;
}

/* One with extents that are constants of its code. */
static bool kernel_with_a_window(void) {
    static float x[64 * 64], y[64 * 64], w[3] = {1, 2, 3};
    char window[160];
    uf_func *f;
    snprintf(window, sizeof window, "[i, j](x, y, w) { y[i][j] = sum(k : len(w), x[i][j + k] * w[k]) + %ld; }", fresh);
    if (out_of_memory(uf_kernel(&f, "k", "f[,], f[,], f[]", window)))
        return false;
    for (int i = 0; i < 64 * 64; i++)
        x[i] = 1, y[i] = -1;
    bool failed = out_of_memory(uf_forall(
        f, 2, (int64_t[]){64, 64}, 3, (DLTensor[]){UF_ARRAY(x, 64, 64), UF_ARRAY(y, 64, 64), UF_ARRAY(w, 3)}, NULL));
    assert_true(y[0] == (failed ? -1 : 6 + (float)fresh));
    uf_free(f);
    return !failed;
}

/* A generalized ufunc that runs as such a kernel. */
static bool call_of_windows(void) {
    static float x[64 * 64], y[64 * 64], w[3] = {1, 2, 3};
    char window[160];
    uf_func *f;
    snprintf(window, sizeof window, "(x, w) -> (y) { forall (i : n) y[i] = sum(a : k, x[i + a] * w[a]) + %ld; }",
             fresh);
    if (out_of_memory(uf_guvectorize(&f, "k", "(n),(k)->(n)", "ff->f", window)))
        return false;
    for (int i = 0; i < 64 * 64; i++)
        x[i] = 1, y[i] = -1;
    bool failed =
        out_of_memory(uf_call(f, 3, (DLTensor[]){UF_ARRAY(x, 64, 64), UF_ARRAY(w, 3), UF_ARRAY(y, 64, 64)}, NULL));
    assert_true(y[0] == (failed ? -1 : 6 + (float)fresh));
    uf_free(f);
    return !failed;
}

/* Calls that lie side by side, and are computed by strips. */
static bool call_of_strips(void) {
    static float x[40 * 64], y[40 * 64];
    int64_t shape[] = {64, 40}, across[] = {1, 64};
    char kernel[160];
    uf_func *f;
    snprintf(kernel, sizeof kernel, "(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] + s + %ld; }",
             fresh);
    if (out_of_memory(uf_guvectorize(&f, "k", "(n)->(n)", "f->f", kernel)))
        return false;
    for (int i = 0; i < 40 * 64; i++)
        x[i] = 1, y[i] = -1;
    DLTensor args[2] = {UF_ARRAY(x, 40, 64), UF_ARRAY(y, 40, 64)};
    for (int k = 0; k < 2; k++) {
        args[k].shape = shape;
        args[k].strides = across;
    }
    bool failed = out_of_memory(uf_call(f, 2, args, NULL));
    assert_true(y[0] == (failed ? -1 : 41 + (float)fresh));
    uf_free(f);
    return !failed;
}

/* One that is made for arrays apart, and compiles once more for others. */
static bool plan_over_indices(void) {
    double x[4] = {1, 2, 3, 4}, r[4], two = 2;
    uf_plan *p;
    uf_func *f = kernel_registered();
    if (!f)
        return false;
    bool failed = out_of_memory(uf_forall_plan(&p, f, 1, (int64_t[]){4}, 3,
                                               (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(r, 4), UF_SCALAR(2.0)}, NULL));
    uf_free(f);
    if (failed) {
        assert_null(p);
        return false;
    }
    failed = out_of_memory(uf_plan_run(p, (void *[]){x, x, &two}, NULL));
    assert_true(failed ? x[3] == 4 : x[3] == 8 + (double)fresh);
    uf_plan_free(p);
    return !failed;
}

static bool inspection_over_indices(void) {
    static const uf_view views[] = {UF_VIEW_TREE, UF_VIEW_IR, UF_VIEW_ASSEMBLY};
    uf_func *f = kernel_registered();
    bool failed = !f;
    for (size_t i = 0; i < sizeof views / sizeof *views && !failed; i++) {
        char *text;
        failed = out_of_memory(uf_inspect(f, "f[], f[], f", (DLDevice){kDLCPU, 0}, views[i], &text));
        assert_true(failed == !text);
        free(text);
    }
    uf_free(f);
    return !failed;
}

/* ---- Modules, records, compositions ---- */

static uf_module *module_made(void) {
    uf_module *m;
    char text[512];
    snprintf(text, sizeof text,
             "use units, hypot;\nconst k = %ld;\nstruct range(T) { T lo, hi; };\n"
             "operator + (range(T) a, range(T) b) { return (range(T)){a.lo + b.lo + k, a.hi + b.hi}; }\n",
             fresh);
    if (out_of_memory(uf_module_new(
            &m, &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "m", .source = text}))) {
        assert_null(m);
        return NULL;
    }
    return m;
}

static bool modules(void) {
    uf_module *m = module_made(), *units;
    uf_record r = {.size = sizeof r};
    if (!m)
        return false;
    bool failed = out_of_memory(uf_module_load(&units, "units"));
    if (!failed)
        uf_module_free(units);
    failed = failed || out_of_memory(uf_record_layout(m, "range(float32)", &r));
    uf_module_free(m);
    return !failed;
}

static uf_func *over_records(const char *signatures, const char *kernel) {
    uf_module *m = module_made();
    uf_func *f = NULL;
    if (!m)
        return NULL;
    const uf_section only = {.signatures = signatures, .source = kernel};
    bool failed = out_of_memory(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                                               .name = "f",
                                                               .nsections = 1,
                                                               .sections = &only,
                                                               .nmodules = 1,
                                                               .modules = &m}));
    assert_true(failed == !f);
    uf_module_free(m);
    return f;
}

#define RANGE "range(float64)"
typedef struct range {
    double lo, hi;
} range;

/* Of a rank whose strides need memory, by a plan too. */
static bool call_of_records(void) {
    range x[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, r[4] = {{-1, -1}};
    int64_t shape[40];
    for (int d = 0; d < 40; d++)
        shape[d] = d == 7 || d == 20 ? 2 : 1;
    DLTensor tx = UF_RECORDS(x, 4), tr = UF_RECORDS(r, 4);
    tx.ndim = tr.ndim = 40;
    tx.shape = tr.shape = shape;
    const DLTensor args[3] = {tx, tx, tr};
    uf_plan *plan = NULL;
    uf_func *f = over_records(RANGE "," RANGE "->" RANGE, "(a, b) { return a + b; }");
    if (!f)
        return false;
    bool failed = out_of_memory(uf_call(f, 3, args, NULL));
    assert_true(failed ? r[0].lo == -1 : r[3].hi == 16 && r[0].lo == 2 + (double)fresh);
    r[3].hi = -1;
    if (!failed)
        failed = out_of_memory(uf_plan_new(&plan, f, 3, args, NULL));
    if (plan)
        failed = out_of_memory(uf_plan_run(plan, (void *[]){x, x, r}, NULL));
    assert_true(failed || r[3].hi == 16);
    uf_plan_free(plan);
    uf_free(f);
    return !failed;
}

static bool forced_records(void) {
    range x[2] = {{1, 2}, {3, 4}}, r[2] = {{-1, -1}};
    const uf_options options = {.size = sizeof options, .signature = RANGE "," RANGE "->" RANGE};
    uf_func *f = over_records(NULL, "(a, b) { return a + b; }");
    if (!f)
        return false;
    bool failed =
        out_of_memory(uf_call(f, 3, (DLTensor[]){UF_RECORDS(x, 2), UF_RECORDS(x, 2), UF_RECORDS(r, 2)}, &options));
    assert_true(failed ? r[0].lo == -1 : r[1].hi == 8);
    uf_free(f);
    return !failed;
}

static bool reduction_of_records(void) {
    range x[5] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}, r[1] = {{-1, -1}};
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    uf_func *f = over_records(RANGE "," RANGE "->" RANGE, "(a, b) { return a + b; }");
    if (!f)
        return false;
    bool failed = out_of_memory(uf_reduce(f, 2, (DLTensor[]){UF_RECORDS(x, 5), UF_RECORDS(r, 1)}, &keep));
    assert_true(failed ? r[0].hi == -1 : r[0].hi == 30);
    uf_free(f);
    return !failed;
}

static bool updates_of_records(void) {
    range x[2] = {{1, 2}, {3, 4}};
    int64_t at[3] = {1, 1, 0};
    uf_plan *plan = NULL;
    uf_func *f = over_records(RANGE "," RANGE "->" RANGE, "(a, b) { return a + b; }");
    if (!f)
        return false;
    const DLTensor target = UF_RECORDS(x, 2), indices = UF_ARRAY(at, 3), operand = UF_RECORDS(((range[]){{5, 6}}), 1);
    bool failed = out_of_memory(uf_at(f, &target, 1, &indices, &operand, NULL));
    assert_true(x[1].hi == (failed ? 4 : 16));
    failed = failed || out_of_memory(uf_at_plan(&plan, f, &target, 1, &indices, &operand, NULL));
    uf_plan_free(plan);
    uf_free(f);
    return !failed;
}

static bool records_refused(void) {
    range x[2] = {{1, 2}, {3, 4}};
    double y[2];
    uf_func *f = over_records(RANGE "," RANGE "->" RANGE, "(a, b) { return a + b; }");
    if (!f)
        return false;
    uf_status s = UF_CALL(f, UF_RECORDS(x, 2), UF_ARRAY(y, 2), UF_RECORDS(x, 2));
    assert_true(s == UF_ERR_SIGNATURE || s == UF_ERR_MEMORY);
    uf_free(f);
    return s != UF_ERR_MEMORY;
}

static bool compositions(void) {
    double x[3] = {3, 4, 5}, r[1] = {-1};
    char expression[96];
    uf_func *f;
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    snprintf(expression, sizeof expression, "sum(add(multiply(x, x), %ld))", fresh);
    if (out_of_memory(uf_compose(&f, "f", "x", expression, 0, NULL))) {
        assert_null(f);
        return false;
    }
    bool failed = out_of_memory(uf_reduce(f, 2, (DLTensor[]){UF_ARRAY(x, 3), UF_ARRAY(r, 1)}, &keep));
    assert_true(failed ? r[0] == -1 : r[0] == 50 + 3 * (double)fresh);
    uf_free(f);
    return !failed;
}

static bool derivatives(void) {
    double x[1] = {3}, r[1] = {-1};
    char kernel[96];
    uf_func *f, *d;
    snprintf(kernel, sizeof kernel, "(x) { return x * x * %ld; }", fresh);
    if (out_of_memory(uf_vectorize(&f, "f", "d->d", kernel)))
        return false;
    bool failed = out_of_memory(uf_derivative(&d, f, 0));
    uf_free(f);
    if (failed) {
        assert_null(d);
        return false;
    }
    failed = out_of_memory(UF_CALL(d, UF_ARRAY(x, 1), UF_ARRAY(r, 1)));
    assert_true(failed ? r[0] == -1 : r[0] == 6 * (double)fresh);
    uf_free(d);
    return !failed;
}

static bool system_info(void) {
    char *text;
    bool failed = out_of_memory(uf_system_info(&text));
    free(text);
    return !failed;
}

/* ---- A thread's room: had at its first reduction, scan or kernel over indices ---- */

static bool no_large_blocks(size_t size) { return size < 1 << 20; }

static uf_status sum_up(uf_func *add, double *result) {
    double x[4] = {1, 2, 3, 4};
    DLTensor r = UF_ARRAY(result, 1);
    r.ndim = 0;
    return uf_reduce(add, 2, (DLTensor[]){UF_ARRAY(x, 4), r}, NULL);
}

static void *on_a_thread(void *user) {
    uf_func *add = user;
    double result = -7;
    mem_may_alloc = no_large_blocks;
    uf_status without = sum_up(add, &result);
    mem_may_alloc = NULL;
    bool kept = result == -7;
    uf_status with = sum_up(add, &result);
    mem_may_alloc = no_large_blocks; /* it has it */
    uf_status again = sum_up(add, &result);
    mem_may_alloc = NULL;
    return without == UF_ERR_MEMORY && kept && !with && !again && result == 10 ? user : NULL;
}

static void test_room_of_a_thread(void **state) {
    (void)state;
    uf_func *add;
    double result;
    pthread_t thread;
    void *good;
    assert_int_equal(uf_load(&add, "add"), UF_OK);
    assert_int_equal(sum_up(add, &result), UF_OK); /* compiles */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, on_a_thread, add), 0);
        assert_int_equal(pthread_join(thread, &good), 0);
        assert_non_null(good);
    }
    uf_free(add);
}

#define TEST(name)                          \
    static void test_##name(void **state) { \
        (void)state;                        \
        fail_each(name, #name);             \
    }
/* Where code is compiled anew for each allocation that fails, which takes long: a fifth of them; all with PROP_N=5. */
#define TEST_FIFTH(name)                               \
    static void test_##name(void **state) {            \
        (void)state;                                   \
        fail_some(name, #name, trials(1) < 5 ? 5 : 1); \
    }
TEST(registration)
TEST(call)
TEST(high_rank_call)
TEST(overlapping_call)
TEST(outputs_by_inference)
TEST(plan)
TEST(steps)
TEST(any_types)
TEST(arrays)
TEST(inspection)
TEST(gufunc)
TEST(equations)
TEST(gufunc_errors)
TEST(gufunc_inspection)
TEST(reduction)
TEST_FIFTH(reduction_in_parts)
TEST(high_rank_reduction)
TEST(reduction_of_segments)
TEST(updates)
TEST(small_cores_reduced)
TEST(large_cores_reduced)
TEST_FIFTH(plan_of_reduction)
TEST(plan_of_segments)
TEST(plan_of_updates)
TEST(updates_out_of_range)
TEST(combinations)
TEST(number_without_room)
TEST(kernel_over_indices)
TEST(kernel_with_a_window)
TEST(call_of_windows)
TEST(call_of_strips)
TEST(plan_over_indices)
TEST(inspection_over_indices)
TEST(modules)
TEST(call_of_records)
TEST(forced_records)
TEST(reduction_of_records)
TEST(updates_of_records)
TEST(records_refused)
TEST(compositions)
TEST(derivatives)
TEST(system_info)

#ifdef __SANITIZE_ADDRESS__
/* Libraries stay loaded here. A libnvvm that is closed, as memory ran out, leaves memory of its own behind, and of a library
 * that is gone the leak sanitizer cannot tell that tests/lsan.supp is about it. */
int dlclose(void *handle) {
    (void)handle;
    return 0;
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registration),
        cmocka_unit_test(test_call),
        cmocka_unit_test(test_high_rank_call),
        cmocka_unit_test(test_overlapping_call),
        cmocka_unit_test(test_outputs_by_inference),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_any_types),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_inspection),
        cmocka_unit_test(test_system_info),
        cmocka_unit_test(test_gufunc),
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_gufunc_errors),
        cmocka_unit_test(test_gufunc_inspection),
        cmocka_unit_test(test_reduction_in_parts),
        cmocka_unit_test(test_high_rank_reduction),
        cmocka_unit_test(test_reduction_of_segments),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_small_cores_reduced),
        cmocka_unit_test(test_large_cores_reduced),
        cmocka_unit_test(test_plan_of_reduction),
        cmocka_unit_test(test_plan_of_segments),
        cmocka_unit_test(test_plan_of_updates),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_number_without_room),
        cmocka_unit_test(test_kernel_over_indices),
        cmocka_unit_test(test_kernel_with_a_window),
        cmocka_unit_test(test_call_of_windows),
        cmocka_unit_test(test_call_of_strips),
        cmocka_unit_test(test_plan_over_indices),
        cmocka_unit_test(test_inspection_over_indices),
        cmocka_unit_test(test_updates_out_of_range),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_call_of_records),
        cmocka_unit_test(test_forced_records),
        cmocka_unit_test(test_reduction_of_records),
        cmocka_unit_test(test_updates_of_records),
        cmocka_unit_test(test_records_refused),
        cmocka_unit_test(test_compositions),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_room_of_a_thread),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
