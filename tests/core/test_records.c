/* test_records.c - arrays of C structs through every verb, compared with plain loops over the structs; how records lie in memory, compared
 * with offsetof; which signature is chosen; views; bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "define.h"
#include "draw.h"
#include "expect.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct interval {
    double lo, hi;
} interval;
typedef struct sample { /* with gaps between and behind its fields */
    int8_t tag;
    float value;
    int64_t when;
    uint16_t kinds[3];
} sample;
typedef struct weight {
    double mass;
    int8_t kinds[2];
} weight;
typedef struct pixel {
    float r, g, b;
} pixel;

static const char text[] =
    "struct interval(T) { T lo, hi; };\n"
    "struct sample { int8 tag; float32 value; int64 when; uint16 kinds[3]; };\n"
    "struct weight { float64 mass; int8 kinds[2]; };\n"
    "struct pixel { float32 r, g, b; };\n"
    "struct level { float64 height; };\n"
    "struct pair { interval(float64) a; pixel p; };\n"
    "struct point { float64 x, y; };\n"
    "operator + (interval(T) a, interval(T) b) { return (interval(T)){a.lo + b.lo, a.hi + b.hi}; }\n"
    "operator * (interval(T) a, T k) { return k < 0 ? (interval(T)){a.hi * k, a.lo * k} : (interval(T)){a.lo * k, a.hi "
    "* k}; }\n"
    "hull(interval(T) a, interval(T) b) { return (interval(T)){min(a.lo, b.lo), max(a.hi, b.hi)}; }\n"
    "width(interval(T) a) { return a.hi - a.lo; }\n";
#define IV "interval(float64)"

static uf_module *geometry;

/* The same bytes as other elements, of which UF_ARRAY and UF_RECORDS take the type. */
static double *doubles(void *of) { return of; }
static float *floats_of(void *of) { return of; }
static pixel *pixels(void *of) { return of; }
static sample *samples(void *of) { return of; }

static uf_func *function(const char *signatures, const char *source, const char *layout, const char *identity,
                         unsigned flags) {
    return define_with(
        &(uf_definition){.layout = layout, .identity = identity, .flags = flags, .nmodules = 1, .modules = &geometry},
        signatures, source);
}

static double draw(void) { return (double)pick(-1000, 1000); }

static void fill(interval *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        x[i] = (interval){draw(), draw()};
}

static bool same(const interval *a, const interval *b, int64_t n) { return !memcmp(a, b, (size_t)n * sizeof *a); }

/* ---- Layouts ---- */

static void layouts(void **state) {
    (void)state;
    uf_record r = {.size = sizeof r};
    static const struct {
        const char *name, *type;
        size_t offset;
        int ndim;
    } fields[] = {{"tag", "int8", offsetof(sample, tag), 0},
                  {"value", "float32", offsetof(sample, value), 0},
                  {"when", "int64", offsetof(sample, when), 0},
                  {"kinds", "uint16", offsetof(sample, kinds), 1}};
    OK(uf_record_layout(geometry, "sample", &r));
    assert_string_equal(r.name, "sample");
    assert_int_equal(r.bytes, sizeof(sample));
    assert_int_equal(r.align, _Alignof(sample));
    assert_int_equal(r.nfields, COUNT(fields));
    assert_int_equal(r.nscalars, 6);
    assert_int_equal(r.dtype.lanes, sizeof(sample));
    for (size_t i = 0; i < COUNT(fields); i++) {
        const uf_field *f = r.fields[i];
        assert_int_equal(f->size, sizeof *f);
        assert_string_equal(f->name, fields[i].name);
        assert_string_equal(f->type, fields[i].type);
        assert_int_equal(f->offset, fields[i].offset);
        assert_int_equal(f->ndim, fields[i].ndim);
    }
    assert_int_equal(r.fields[3]->shape[0], 3);
    OK(uf_record_layout(geometry, "pair", &r));
    assert_string_equal(r.fields[0]->type, IV);
    assert_int_equal(r.fields[1]->offset, 16);
    assert_int_equal(r.bytes, 32);
    OK(uf_record_layout(geometry, "interval(float32)", &r));
    assert_int_equal(r.dtype.code, kDLFloat);
    assert_int_equal(r.dtype.bits, 32);
    assert_int_equal(r.dtype.lanes, 2);
    const uf_field *const *first = r.fields;
    OK(uf_record_layout(geometry, "interval(float32)", &r));
    assert_ptr_equal(first, r.fields);
    uf_func *f = function("pixel->float32", "(p) { return p.r; }", NULL, NULL, 0);
    OK(uf_function_record(f, "pixel", &r));
    assert_int_equal(r.bytes, 12);
    uf_free(f);
    FAILS(UF_ERR_TYPE, "nothing", uf_record_layout(geometry, "nothing", &r));
    FAILS(UF_ERR_TYPE, "interval", uf_record_layout(geometry, "interval", &r));
    FAILS(UF_ERR_ARGUMENT, "module is NULL", uf_record_layout(NULL, "pixel", &r));
    FAILS(UF_ERR_ARGUMENT, "record is NULL", uf_record_layout(geometry, NULL, &r));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_record_layout(geometry, "pixel", NULL));
    FAILS(UF_ERR_ARGUMENT, "func is NULL", uf_function_record(NULL, "pixel", &r));
    r.size = 0;
    FAILS(UF_ERR_ARGUMENT, "size is 0", uf_record_layout(geometry, "pixel", &r));
}

/* ---- Calls ---- */

enum {
    N = 1000
};
static interval x[N], y[N], z[N], want[N];

static void elementwise(void **state) {
    (void)state;
    uf_func *add = function(IV "," IV "->" IV "; interval(float32),interval(float32)->interval(float32); dd->d",
                            "(a, b) { return a + b; }", NULL, NULL, 0);
    static const int64_t sizes[] = {0, 1, 3, 17, N};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        int64_t n = sizes[s];
        fill(x, n);
        fill(y, n);
        for (int64_t i = 0; i < n; i++)
            want[i] = (interval){x[i].lo + y[i].lo, x[i].hi + y[i].hi};
        OK(UF_CALL(add, UF_RECORDS(x, n), UF_RECORDS(y, n), UF_RECORDS(z, n)));
        assert_true(same(z, want, n));
        DLTensor lanes = UF_RECORDS(z, n); /* the other form of the same array */
        lanes.dtype = (DLDataType){kDLFloat, 64, 2};
        memset(z, 0, sizeof z);
        OK(UF_CALL(add, UF_RECORDS(x, n), lanes, lanes));
        assert_true(same(z, x, n));
        OK(UF_CALL(add, UF_RECORDS(x, n), UF_RECORDS(y, n), UF_RECORDS(x, n))); /* in place */
        assert_true(same(x, want, n));
    }
    /* Strides of both signs, broadcasting, and an input that overlaps the output one element on. */
    fill(x, N);
    memcpy(y, x, sizeof x);
    DLTensor back = UF_RECORDS(x + 98, 50), first = UF_RECORDS(y, 1);
    back.strides = (int64_t[]){-2};
    OK(UF_CALL(add, back, first, UF_RECORDS(z, 50)));
    for (int i = 0; i < 50; i++)
        assert_true(z[i].lo == y[98 - 2 * i].lo + y[0].lo && z[i].hi == y[98 - 2 * i].hi + y[0].hi);
    OK(UF_CALL(add, UF_RECORDS(x, 99), first, UF_RECORDS(x + 1, 99)));
    for (int i = 0; i < 99; i++)
        assert_true(x[1 + i].lo == y[i].lo + y[0].lo && x[1 + i].hi == y[i].hi + y[0].hi);
    interval one = {1, 2}, sum;
    OK(UF_CALL(add, UF_RECORDS(y, 5), ((DLTensor){.data = &one, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, 16}}),
               UF_RECORDS(z, 5)));
    assert_true(z[4].lo == y[4].lo + 1 && z[4].hi == y[4].hi + 2);
    const DLTensor a = {.data = &one, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, 16}},
                   b = {.data = &sum, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, 16}};
    OK(UF_CALL(add, a, a, b));
    assert_true(sum.lo == 2 && sum.hi == 4);
    double p[2] = {1, 2}, q[2];
    OK(UF_CALL(add, UF_ARRAY(p, 2), UF_SCALAR(1), UF_ARRAY(q, 2)));
    assert_true(q[0] == 2 && q[1] == 3);
    uf_description d = {.size = sizeof d};
    OK(uf_describe(add, &d));
    assert_string_equal(d.signatures, IV "," IV "->" IV "; interval(float32),interval(float32)->interval(float32); "
                                         "float64,float64->float64");
    assert_int_equal(d.nin, 2);
    uf_free(add);
}

/* Fields of several sizes with gaps, arrays in records, several outputs, scalars beside records, a mask. */
static void mixed(void **state) {
    (void)state;
    uf_func *f = function("sample,float64->sample,float64",
                          "(s, k) -> (t, v) { t = s; t.value = s.value * k; t.when += 1; t.kinds[1] = s.kinds[0] + "
                          "s.kinds[2]; v = s.tag; }",
                          NULL, NULL, 0);
    sample in[37], out[37];
    double v[37];
    for (int i = 0; i < 37; i++)
        in[i] = (sample){(int8_t)i, (float)draw(), (int64_t)draw(), {(uint16_t)i, 7, 9}};
    memset(out, 0x5A, sizeof out);
    OK(UF_CALL(f, UF_RECORDS(in, 37), UF_SCALAR(0.5), UF_RECORDS(out, 37), UF_ARRAY(v, 37)));
    for (int i = 0; i < 37; i++) {
        assert_true(out[i].tag == in[i].tag && out[i].value == in[i].value * 0.5f && out[i].when == in[i].when + 1);
        assert_true(out[i].kinds[0] == i && out[i].kinds[1] == i + 9 && out[i].kinds[2] == 9 && v[i] == i);
    }
    bool mask[37];
    sample before = out[1];
    for (int i = 0; i < 37; i++)
        mask[i] = i != 1;
    DLTensor where = UF_ARRAY(mask, 37);
    OK(uf_call(f, 4, (DLTensor[]){UF_RECORDS(in, 37), UF_SCALAR(2), UF_RECORDS(out, 37), UF_ARRAY(v, 37)},
               &(uf_options){.size = sizeof(uf_options), .where = &where}));
    assert_true(out[1].value == before.value && out[2].value == in[2].value * 2);
    uf_free(f);
}

static void plans(void **state) {
    (void)state;
    uf_func *f = function(IV ",float64->" IV, "(a, k) { return a * k; }", NULL, NULL, 0);
    double k = 2;
    uf_plan *plan;
    DLTensor in = UF_RECORDS((interval *)NULL, 20), out = in;
    OK(uf_plan_new(&plan, f, 3, (DLTensor[]){in, UF_SCALAR(2.0), out}, NULL));
    fill(x, 20);
    for (int round = 0; round < 3; round++, k -= 2.5) {
        OK(uf_plan_run(plan, (void *[]){x, &k, z}, NULL));
        for (int i = 0; i < 20; i++)
            assert_true(z[i].lo == (k < 0 ? x[i].hi : x[i].lo) * k && z[i].hi == (k < 0 ? x[i].lo : x[i].hi) * k);
    }
    FAILS(UF_ERR_ARGUMENT, "argument 2: its data is at", uf_plan_run(plan, (void *[]){x, &k, (char *)z + 4}, NULL));
    assert_int_equal(uf_last_error()->argument, 2);
    FAILS(UF_ERR_ARGUMENT, "argument 2: its data is NULL", uf_plan_run(plan, (void *[]){x, &k, NULL}, NULL));
    uf_free(f);
    OK(uf_plan_run(plan, (void *[]){x, &k, z}, NULL)); /* the plan keeps the function */
    uf_plan_free(plan);
}

static void inference(void **state) {
    (void)state;
    uf_func *f = function(IV "," IV "->" IV "; sample,sample->sample", "(a, b) { return a; }", NULL, NULL, 0);
    int64_t shape[UF_MAX_NDIM];
    DLTensor args[3] = {UF_RECORDS(x, 5, 1), UF_RECORDS(y, 4), {.shape = shape}};
    OK(uf_infer(f, 3, args, NULL));
    assert_int_equal(args[2].ndim, 2);
    assert_true(shape[0] == 5 && shape[1] == 4);
    assert_true(args[2].dtype.code == kDLFloat && args[2].dtype.bits == 64 && args[2].dtype.lanes == 2);
    sample s[2];
    DLTensor others[3] = {UF_RECORDS(s, 2), UF_RECORDS(s, 2), {.shape = shape}};
    OK(uf_infer(f, 3, others, NULL));
    assert_true(others[2].dtype.code == kDLUInt && others[2].dtype.lanes == sizeof(sample) && shape[0] == 2);
    DLTensor folded[2] = {UF_RECORDS(x, 5, 3), {.shape = shape}};
    OK(uf_reduce_infer(f, 2, folded,
                       &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = 1, .axes = (int[]){0}}));
    assert_true(folded[1].ndim == 1 && shape[0] == 3 && folded[1].dtype.lanes == 2);
    uf_free(f);
}

static void outer(void **state) {
    (void)state;
    uf_func *f = function(IV ",float64->" IV, "(a, k) { return a * k; }", NULL, NULL, 0);
    double k[3] = {1, -2, 3};
    fill(x, 4);
    OK(uf_outer(f, 3, (DLTensor[]){UF_RECORDS(x, 4), UF_ARRAY(k, 3), UF_RECORDS(z, 4, 3)}, NULL));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            assert_true(z[3 * i + j].lo == (k[j] < 0 ? x[i].hi : x[i].lo) * k[j]);
    uf_free(f);
}

static void gufuncs(void **state) {
    (void)state;
    uf_func *f = function(IV ","
                             "float64->" IV,
                          "(a, w) -> (r) { r = a[0] * w[0]; for (int i = 1; i < n; i++) r = r + a[i] * w[i]; }",
                          "(n),(n)->()", NULL, 0);
    double w[4] = {1, 2, -1, 0.5};
    fill(x, 12);
    OK(UF_CALL(f, UF_RECORDS(x, 3, 4), UF_ARRAY(w, 4), UF_RECORDS(z, 3)));
    for (int c = 0; c < 3; c++) {
        interval sum = {0, 0};
        for (int i = 0; i < 4; i++) {
            interval e = x[4 * c + i];
            sum.lo += (w[i] < 0 ? e.hi : e.lo) * w[i];
            sum.hi += (w[i] < 0 ? e.lo : e.hi) * w[i];
        }
        assert_true(z[c].lo == sum.lo && z[c].hi == sum.hi);
    }
    /* The core dimension first, by axes, in both records and numbers. */
    interval t[12];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 4; i++)
            t[3 * i + c] = x[4 * c + i];
    const uf_axis_list lists[3] = {{1, (int[]){0}}, {1, (int[]){0}}, {0, NULL}};
    const uf_axes axes = {.size = sizeof axes, .count = 3, .lists = lists};
    memcpy(want, z, sizeof z);
    memset(z, 0, sizeof z);
    OK(uf_call(f, 3, (DLTensor[]){UF_RECORDS(t, 4, 3), UF_ARRAY(w, 4), UF_RECORDS(z, 3)},
               &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
    assert_true(same(z, want, 3));
    FAILS(UF_ERR_SHAPE, "argument 1: dimension 0", UF_CALL(f, UF_RECORDS(x, 3, 4), UF_ARRAY(w, 3), UF_RECORDS(z, 3)));
    uf_free(f);
}

/* ---- Reductions ---- */

static void folds(void **state) {
    (void)state;
    uf_func *hull = function(IV "," IV "->" IV, "(a, b) { return hull(a, b); }", NULL, NULL, 0);
    const uf_reduce_options rows = {.size = sizeof rows, .naxes = 1, .axes = (int[]){1}};
    fill(x, N);
    OK(uf_reduce(hull, 2, (DLTensor[]){UF_RECORDS(x, 10, 100), UF_RECORDS(z, 10)}, &rows));
    for (int r = 0; r < 10; r++) {
        interval all = x[100 * r];
        for (int i = 1; i < 100; i++) {
            interval e = x[100 * r + i];
            all = (interval){e.lo < all.lo ? e.lo : all.lo, e.hi > all.hi ? e.hi : all.hi};
        }
        assert_true(same(&z[r], &all, 1));
    }
    interval whole, begin = {-1e9, 0};
    const DLTensor result = {.data = &whole, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, 16}},
                   initial = {.data = &begin, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 2}};
    OK(uf_reduce(hull, 2, (DLTensor[]){UF_RECORDS(x, N), result},
                 &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &initial}));
    assert_true(whole.lo == -1e9 && whole.hi > 900);
    const DLTensor wrong = UF_SCALAR(1.0);
    FAILS(UF_ERR_ARGUMENT, "initial value 0: it is no " IV,
          uf_reduce(hull, 2, (DLTensor[]){UF_RECORDS(x, N), result},
                    &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &wrong}));
    FAILS(UF_ERR_ARGUMENT, "identity", uf_reduce(hull, 2, (DLTensor[]){UF_RECORDS(x, 0), result}, NULL));
    uf_plan *plan;
    OK(uf_reduce_plan(&plan, hull, 2, (DLTensor[]){UF_RECORDS(x, N), result},
                      &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &initial}));
    begin.hi = 5000;
    OK(uf_plan_run(plan, (void *[]){x, &whole, &begin}, NULL));
    assert_true(whole.lo == -1e9 && whole.hi == 5000);
    uf_plan_free(plan);
    OK(uf_accumulate(hull, 2, (DLTensor[]){UF_RECORDS(x, N), UF_RECORDS(z, N)}, 0, NULL));
    interval so_far = x[0];
    for (int i = 0; i < N; i++) {
        so_far = (interval){x[i].lo < so_far.lo ? x[i].lo : so_far.lo, x[i].hi > so_far.hi ? x[i].hi : so_far.hi};
        assert_true(same(&z[i], &so_far, 1));
    }
    int32_t starts[3] = {0, 10, 500};
    OK(uf_reduceat(hull, 2, (DLTensor[]){UF_RECORDS(x, N), UF_RECORDS(z, 3)}, &UF_ARRAY(starts, 3), 0, NULL));
    so_far = x[10];
    for (int i = 10; i < 500; i++)
        so_far = (interval){x[i].lo < so_far.lo ? x[i].lo : so_far.lo, x[i].hi > so_far.hi ? x[i].hi : so_far.hi};
    assert_true(same(&z[1], &so_far, 1));
    OK(uf_reduceat_plan(&plan, hull, 2, (DLTensor[]){UF_RECORDS(x, N), UF_RECORDS(z, 3)}, &UF_ARRAY(starts, 3), 0,
                        NULL));
    memset(&z[1], 0, sizeof *z);
    OK(uf_plan_run(plan, (void *[]){x, z, starts}, NULL));
    assert_true(same(&z[1], &so_far, 1));
    uf_plan_free(plan);
    size_t bytes = 1;
    OK(uf_reduce_scratch_size(&bytes, hull, 2, (DLTensor[]){UF_RECORDS(x, N), result}, NULL));
    assert_int_equal(bytes, 0);
    uf_free(hull);
}

/* What reducing nothing gives, of a binary function and of a reduction. */
static void identities(void **state) {
    (void)state;
    static const char begin[] = "(" IV "){0, -1}";
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    uf_func *add = function(IV "," IV "->" IV "; sample,sample->sample", "(a, b) { return a; }", NULL, NULL, 0),
            *own = NULL;
    uf_free(add);
    add = function(IV "," IV "->" IV, "(a, b) { return a + b; }", NULL, begin, 0);
    memset(z, 0x5A, sizeof z);
    OK(uf_reduce(add, 2, (DLTensor[]){UF_RECORDS(x, 0), UF_RECORDS(z, 1)}, &keep));
    assert_true(z[0].lo == 0 && z[0].hi == -1);
    fill(x, 3);
    OK(uf_reduce(add, 2, (DLTensor[]){UF_RECORDS(x, 3), UF_RECORDS(z, 1)}, &keep));
    assert_true(z[0].lo == x[0].lo + x[1].lo + x[2].lo && z[0].hi == x[0].hi + x[1].hi + x[2].hi - 1);
    uf_free(add);
    const uf_reduction_def def = {.size = sizeof def,
                                  .combine = "(a, b) { return a + b; }",
                                  .identity = begin,
                                  .nmodules = 1,
                                  .modules = &geometry};
    OK(uf_reduction(&own, "total", IV "->" IV, &def));
    OK(uf_reduce(own, 2, (DLTensor[]){UF_RECORDS(x, 0), UF_RECORDS(z, 1)}, &keep));
    assert_true(z[0].lo == 0 && z[0].hi == -1);
    uf_free(own);
    const uf_section only = {.signatures = IV "," IV "->" IV, .source = "(a, b) { return a + b; }"};
    FAILS(UF_ERR_TYPE, "identity",
          uf_define(&own, &(uf_definition){.size = sizeof(uf_definition),
                                           .name = "f",
                                           .nsections = 1,
                                           .sections = &only,
                                           .identity = "0",
                                           .nmodules = 1,
                                           .modules = &geometry}));
    assert_string_equal(uf_last_error()->source, "identity of f");
}

/* A reduction whose state is a record, of inputs that are numbers, and one of records to numbers. */
static void states(void **state) {
    (void)state;
    uf_func *range, *widest;
    uf_reduction_def def = {.size = sizeof def,
                            .map = "(v) { return (" IV "){v, v}; }",
                            .combine = "(a, b) { return hull(a, b); }",
                            .finish = "(r, n) -> (low, wide, count) { low = r.lo; wide = width(r); count = n; }",
                            .state = IV,
                            .nmodules = 1,
                            .modules = &geometry};
    OK(uf_reduction(&range, "range", "float64->float64,float64,int64", &def));
    double v[5] = {3, -1, 4, 1, 5}, low, width;
    int64_t count;
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    OK(uf_reduce(range, 4, (DLTensor[]){UF_ARRAY(v, 5), UF_ARRAY(&low, 1), UF_ARRAY(&width, 1), UF_ARRAY(&count, 1)},
                 &keep));
    assert_true(low == -1 && width == 6 && count == 5);
    uf_free(range);
    def.map = NULL;
    def.finish = "(r) { return width(r); }";
    OK(uf_reduction(&widest, "widest", IV "->float64", &def));
    fill(x, 50);
    interval all = x[0];
    for (int i = 1; i < 50; i++)
        all = (interval){x[i].lo < all.lo ? x[i].lo : all.lo, x[i].hi > all.hi ? x[i].hi : all.hi};
    OK(uf_reduce(widest, 2, (DLTensor[]){UF_RECORDS(x, 50), UF_ARRAY(&width, 1)}, &keep));
    assert_true(width == all.hi - all.lo);
    uf_free(widest);
    def.finish = NULL;
    FAILS(UF_ERR_TYPE, "output 0", uf_reduction(&widest, "widest", IV "->point", &def));
    def.state = "nothing";
    FAILS(UF_ERR_SYNTAX, "nothing", uf_reduction(&widest, "widest", IV "->" IV, &def));
}

/* Records that only one of the texts sees, or defines, are named in signatures and described. */
static void records_of_texts(void **state) {
    (void)state;
    static const struct {
        const char *signatures, *state, *map, *combine, *finish;
    } rows[] = {
        {"interval(float64)->float64", NULL, "use interval; (x) { return mid(x); }", "(a, b) { return a + b; }", NULL},
        {"float64->interval(float64)", "float64", NULL, "(a, b) { return a + b; }",
         "use interval; (s) { return (interval(float64)){s, s}; }"},
        {"float64->float64", "interval(float64)", "use interval; (x) { return (interval(float64)){x, x}; }",
         "(a, b) { return a + b; }", "use interval; (s) { return s.hi; }"},
        {"own->float64", NULL, "struct own { float64 x; float32 y; }; (x) { return x.x * x.y; }",
         "use interval; (a, b) { return a + b; }", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uf_reduction_def def = {.size = sizeof def,
                                      .map = rows[i].map,
                                      .combine = rows[i].combine,
                                      .finish = rows[i].finish,
                                      .state = rows[i].state};
        uf_record r = {.size = sizeof r};
        uf_func *f;
        OK(uf_reduction(&f, "f", rows[i].signatures, &def));
        OK(uf_function_record(f, i == 3 ? "own" : "interval(float64)", &r));
        assert_int_equal(r.bytes, 16);
        FAILS(UF_ERR_TYPE, "nothing", uf_function_record(f, "nothing", &r));
        uf_free(f);
    }
    const uf_reduction_def mids = {.size = sizeof mids, .map = rows[0].map, .combine = rows[0].combine};
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    interval in[3] = {{0, 2}, {1, 5}, {-4, 0}};
    double sum;
    uf_func *f;
    OK(uf_reduction(&f, "mids", rows[0].signatures, &mids));
    OK(uf_reduce(f, 2, (DLTensor[]){UF_RECORDS(in, 3), UF_ARRAY(&sum, 1)}, &keep));
    assert_true(sum == 2);
    uf_free(f);
}

/* ---- Updates in place ---- */

static void updates(void **state) {
    (void)state;
    uf_func *hull = function(IV "," IV "->" IV, "(a, b) { return hull(a, b); }", NULL, NULL, 0);
    int32_t at[300];
    interval begin[20];
    fill(begin, 20);
    fill(y, 300);
    for (int i = 0; i < 300; i++)
        at[i] = i * 7 % 20 - (i % 3 ? 0 : 20); /* repeated ones, and from the end */
    memcpy(z, begin, sizeof begin);
    memcpy(want, begin, sizeof begin);
    for (int i = 0; i < 300; i++) {
        interval *t = &want[at[i] < 0 ? at[i] + 20 : at[i]];
        *t = (interval){y[i].lo < t->lo ? y[i].lo : t->lo, y[i].hi > t->hi ? y[i].hi : t->hi};
    }
    DLTensor indices = UF_ARRAY(at, 300), target = UF_RECORDS(z, 20), operand = UF_RECORDS(y, 300);
    OK(uf_at(hull, &target, 1, &indices, &operand, NULL));
    assert_true(same(z, want, 20));
    memcpy(z, begin, sizeof begin);
    uf_plan *plan;
    OK(uf_at_plan(&plan, hull, &target, 1, &indices, &operand, NULL));
    OK(uf_plan_run(plan, (void *[]){z, at, y}, NULL));
    assert_true(same(z, want, 20));
    FAILS(UF_ERR_ARGUMENT, "argument 2: its data is at", uf_plan_run(plan, (void *[]){z, at, (char *)y + 4}, NULL));
    uf_plan_free(plan);
    /* One record for all; the last axis is not indexed, and the elements of a row are updated together. */
    interval one = {-5, 5};
    const DLTensor by = {.data = &one, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, 16}};
    int64_t rows[2] = {1, 3};
    memcpy(z, begin, sizeof begin);
    OK(uf_at(hull, &UF_RECORDS(z, 4, 5), 1, &UF_ARRAY(rows, 2), &by, NULL));
    for (int i = 0; i < 20; i++) {
        bool touched = i / 5 == 1 || i / 5 == 3;
        assert_true(z[i].lo == (touched && begin[i].lo > -5 ? -5 : begin[i].lo));
        assert_true(z[i].hi == (touched && begin[i].hi < 5 ? 5 : begin[i].hi));
    }
    FAILS(UF_ERR_ARGUMENT, "indices[0]: element (1) is 20",
          uf_at(hull, &target, 1, &UF_ARRAY(((int64_t[]){0, 20}), 2), &by, NULL));
    FAILS(UF_ERR_SIGNATURE, "operand is float64", uf_at(hull, &target, 1, &indices, &UF_ARRAY(doubles(y), 300), NULL));
    FAILS(UF_ERR_SHAPE, "operand: dimension 0 is 7", uf_at(hull, &target, 1, &indices, &UF_RECORDS(y, 7), NULL));
    uf_func *sum = function("level,level->level", "(a, b) { return (level){a.height + b.height}; }", NULL, NULL, 0);
    double heights[3] = {1, 2, 4}, more[4] = {8, 16, 32, 64};
    OK(uf_at(sum, &UF_ARRAY(heights, 3), 1, &UF_ARRAY(((int64_t[]){0, 2, 0, -1}), 4), &UF_ARRAY(more, 4), NULL));
    assert_true(heights[0] == 41 && heights[1] == 2 && heights[2] == 84);
    uf_free(sum);
    uf_free(hull);
    /* Scalars of several sizes, every second record, without an operand, and by a number. */
    uf_func *count = function("sample->sample", "(s) { s.when += s.tag; s.kinds[2]++; s.tag = 2; return s; }", NULL,
                              NULL, 0),
            *scale = function(IV ",float64->" IV, "(a, k) { return a * k; }", NULL, NULL, 0);
    sample s[8];
    for (int i = 0; i < 8; i++)
        s[i] = (sample){1, (float)i, i, {0, 0, (uint16_t)(10 * i)}};
    DLTensor half = UF_RECORDS(s, 4);
    half.strides = (int64_t[]){2};
    int8_t few[3] = {3, 1, 3};
    OK(uf_at(count, &half, 1, &UF_ARRAY(few, 3), NULL, NULL));
    assert_true(s[6].when == 6 + 1 + 2 && s[6].kinds[2] == 62 && s[6].tag == 2 && s[6].value == 6);
    assert_true(s[2].when == 3 && s[2].kinds[2] == 21 && s[3].when == 3 && s[3].tag == 1 && s[0].kinds[2] == 0);
    fill(z, 4);
    memcpy(want, z, sizeof *z * 4);
    OK(uf_at(scale, &UF_RECORDS(z, 4), 1, &UF_ARRAY(few, 3), &UF_SCALAR(2), NULL));
    assert_true(z[3].lo == want[3].lo * 4 && z[1].hi == want[1].hi * 2 && same(&z[2], &want[2], 1));
    /* The operands lie behind the first scalar of the last record. They are read as they were before. */
    uf_func *weigh = function("weight,int8->weight", "(w, b) { w.kinds[0] += b; return w; }", NULL, NULL, 0);
    weight w[100] = {[0] = {1, {1, 1}}, [99] = {4, {4, 3}}};
    DLTensor back = UF_ARRAY(w[99].kinds + 1, 2);
    back.strides = (int64_t[]){-1};
    OK(uf_at(weigh, &UF_RECORDS(w, 100), 1, &UF_ARRAY(((int8_t[]){99, 0}), 2), &back, NULL));
    assert_true(w[99].kinds[0] == 4 + 3 && w[99].kinds[1] == 3 && w[0].kinds[0] == 1 + 4);
    uf_free(weigh);
    uf_free(count);
    uf_free(scale);
}

/* ---- Kernels over indices ---- */

static void kernels(void **state) {
    (void)state;
    uf_func *f =
        function("pixel[,], float32, pixel, float32[]",
                 "[i, j](image, k, shift, rows) { image[i][j].r = image[i][j].r * k + shift.r; image[i][j].b = "
                 "shift.b; if (j == 0) "
                 "rows[i] = image[i][1].g; }",
                 NULL, NULL, UF_KERNEL);
    pixel image[3][4], before[3][4], shift = {1, 2, 3};
    float rows[3];
    for (int i = 0; i < 12; i++)
        before[i / 4][i % 4] = image[i / 4][i % 4] = (pixel){(float)draw(), (float)draw(), (float)draw()};
    const DLTensor by = {.data = &shift, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 32, 3}};
    const DLTensor args[4] = {UF_RECORDS(&image[0][0], 3, 4), UF_SCALAR(2.0f), by, UF_ARRAY(rows, 3)};
    const int64_t extents[2] = {3, 4};
    OK(uf_forall(f, 2, extents, 4, args, NULL));
    for (int i = 0; i < 3; i++) {
        assert_true(rows[i] == before[i][1].g);
        for (int j = 0; j < 4; j++)
            assert_true(image[i][j].r == before[i][j].r * 2 + 1 && image[i][j].g == before[i][j].g &&
                        image[i][j].b == 3);
    }
    uf_plan *plan;
    float k = 3;
    OK(uf_forall_plan(&plan, f, 2, extents, 4, args, NULL));
    memcpy(image, before, sizeof image);
    OK(uf_plan_run(plan, (void *[]){image, &k, &shift, rows}, NULL));
    assert_true(image[2][3].r == before[2][3].r * 3 + 1);
    uf_plan_free(plan);
    uf_launch launch = {.size = sizeof launch};
    OK(uf_launch_info(f, 2, extents, 4, args, NULL, &launch));
    assert_true(launch.threads > 0);
    FAILS(UF_ERR_SIGNATURE, "of rank 1",
          uf_forall(f, 2, extents, 4, (DLTensor[]){UF_RECORDS(&image[0][0], 12), UF_SCALAR(2), by, UF_ARRAY(rows, 3)},
                    NULL));
    uf_free(f);
}

/* ---- Memory ---- */

static void copies(void **state) {
    (void)state;
    DLManagedTensor *t;
    sample in[6], out[6];
    memset(out, 0, sizeof out);
    for (size_t i = 0; i < sizeof in; i++)
        ((char *)in)[i] = (char)(i * 7);
    OK(uf_empty(&t, (DLDevice){kDLCPU, 0}, (DLDataType){kDLUInt, 8, sizeof(sample)}, 1, (int64_t[]){6}));
    OK(uf_copy(&t->dl_tensor, &UF_RECORDS(in, 6), NULL));
    DLTensor back = UF_RECORDS(out + 5, 6);
    back.strides = (int64_t[]){-1};
    OK(uf_copy(&back, &t->dl_tensor, NULL));
    for (int i = 0; i < 6; i++)
        assert_memory_equal(&out[i], &in[5 - i], sizeof *in);
    t->deleter(t);
    pixel p[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, q[3];
    DLTensor bytes = UF_RECORDS(p, 3), floats = UF_RECORDS(q, 3);
    floats.dtype = (DLDataType){kDLFloat, 32, 3};
    OK(uf_copy(&floats, &bytes, NULL));
    assert_memory_equal(p, q, sizeof p);
    FAILS(UF_ERR_CAST, "elements of 12 bytes", uf_copy(&UF_RECORDS(out, 3), &bytes, NULL));
    FAILS(UF_ERR_ARGUMENT, "src: its dtype has 12 lanes", uf_copy(&UF_ARRAY(floats_of(q), 3), &bytes, NULL));
}

/* A record with more scalars than a state has: a function of two of them is called, and does not reduce. */
static void larger_than_states(void **state) {
    (void)state;
    struct big {
        float a[20];
    } one[3], two[3], sum[3];
    uf_func *f;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 20; k++) {
            one[i].a[k] = (float)(i + k);
            two[i].a[k] = (float)(100 * i);
        }
    OK(uf_vectorize(&f, "f", "big,big->big",
                    "struct big { float32 a[20]; };\n"
                    "(p, q) { auto r = p; for (int i = 0; i < 20; i++) r.a[i] += q.a[i]; return r; }"));
    OK(UF_CALL(f, UF_RECORDS(one, 3), UF_RECORDS(two, 3), UF_RECORDS(sum, 3)));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 20; k++)
            assert_true(sum[i].a[k] == one[i].a[k] + two[i].a[k]);
    FAILS(UF_ERR_SIGNATURE, "it does not reduce",
          uf_reduce(f, 2, (DLTensor[]){UF_RECORDS(one, 3), UF_RECORDS(sum, 1)}, NULL));
    uf_free(f);
}

static void views(void **state) {
    (void)state;
    uf_record r = {.size = sizeof r}, s = {.size = sizeof s};
    float rows[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    int64_t shape[UF_MAX_NDIM], strides[UF_MAX_NDIM], more[UF_MAX_NDIM], steps[UF_MAX_NDIM];
    DLTensor view = {.shape = shape, .strides = strides}, back = {.shape = more, .strides = steps};
    OK(uf_record_layout(geometry, "pixel", &r));
    OK(uf_record_layout(geometry, "sample", &s));
    OK(uf_as_records(&view, &UF_ARRAY(&rows[0][0], 4, 3), &r));
    assert_true(view.ndim == 1 && shape[0] == 4 && strides[0] == 1 && view.dtype.lanes == 3 && view.data == rows);
    uf_func *f = function("pixel->float32", "(p) { return p.r + p.g * 100; }", NULL, NULL, 0);
    float out[4];
    OK(UF_CALL(f, view, UF_ARRAY(out, 4)));
    assert_true(out[0] == 201 && out[3] == 1110);
    uf_free(f);
    OK(uf_as_fields(&back, &view, &r));
    assert_true(back.ndim == 2 && more[0] == 4 && more[1] == 3 && steps[0] == 3 && steps[1] == 1 &&
                back.dtype.lanes == 1);
    OK(uf_as_fields(&back, &UF_RECORDS(pixels(rows), 2, 2), &r));
    assert_true(back.ndim == 3 && more[2] == 3 && steps[0] == 6 && back.dtype.code == kDLFloat);
    DLTensor strided = UF_ARRAY(&rows[0][0], 2, 3);
    strided.strides = (int64_t[]){6, 1};
    OK(uf_as_records(&view, &strided, &r));
    assert_true(strides[0] == 2);
    unsigned char raw[2 * sizeof(sample)];
    DLTensor of_bytes = UF_ARRAY(raw, 2, sizeof(sample));
    of_bytes.data = &x[0]; /* aligned */
    OK(uf_as_records(&view, &of_bytes, &s));
    assert_true(view.dtype.lanes == sizeof(sample) && shape[0] == 2);
    strided.strides = (int64_t[]){4, 1};
    FAILS(UF_ERR_ARGUMENT, "stride of dimension 0 is 4", uf_as_records(&view, &strided, &r));
    strided.strides = (int64_t[]){1, 2};
    FAILS(UF_ERR_ARGUMENT, "contiguous", uf_as_records(&view, &strided, &r));
    FAILS(UF_ERR_ARGUMENT, "3 elements", uf_as_records(&view, &UF_ARRAY(&rows[0][0], 6, 2), &r));
    FAILS(UF_ERR_ARGUMENT, "its dtype", uf_as_records(&view, &UF_ARRAY(doubles(x), 2, 3), &r));
    of_bytes.data = (char *)&x[0] + 4;
    FAILS(UF_ERR_ARGUMENT, "aligned to 8", uf_as_records(&view, &of_bytes, &s));
    FAILS(UF_ERR_ARGUMENT, "several dtypes", uf_as_fields(&back, &UF_RECORDS(samples(x), 2), &s));
    FAILS(UF_ERR_ARGUMENT, "no array of pixel", uf_as_fields(&back, &UF_RECORDS(x, 2), &r));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_as_records(NULL, &strided, &r));
    FAILS(UF_ERR_ARGUMENT, "array is NULL", uf_as_records(&view, NULL, &r));
    FAILS(UF_ERR_ARGUMENT, "record is NULL", uf_as_fields(&back, &strided, NULL));
    view.strides = NULL;
    FAILS(UF_ERR_ARGUMENT, "strides is NULL", uf_as_records(&view, &strided, &r));
    FAILS(UF_ERR_ARGUMENT, "none that uf_record_layout described",
          uf_as_fields(&back, &strided, &(uf_record){.size = sizeof(uf_record)}));
}

/* ---- Which signature ---- */

static void choices(void **state) {
    (void)state;
    uf_func *f = function(IV "->float64; point->float64", "(p) { return 1; }", NULL, NULL, 0);
    double r[2];
    FAILS(UF_ERR_SIGNATURE, IV "->float64", UF_CALL(f, UF_RECORDS(x, 2), UF_ARRAY(r, 2)));
    assert_non_null(strstr(uf_last_error()->message, "point->float64"));
    OK(uf_call(f, 2, (DLTensor[]){UF_RECORDS(x, 2), UF_ARRAY(r, 2)},
               &(uf_options){.size = sizeof(uf_options), .signature = " point -> float64 "}));
    FAILS(UF_ERR_SIGNATURE, "no signature matches", UF_CALL(f, UF_RECORDS(pixels(x), 2), UF_ARRAY(r, 2)));
    FAILS(UF_ERR_SIGNATURE, "no signature matches",
          uf_call(f, 2, (DLTensor[]){UF_RECORDS(x, 2), UF_ARRAY(r, 2)},
                  &(uf_options){.size = sizeof(uf_options), .signature = "pixel->float64"}));
    FAILS(UF_ERR_CAST, "argument 0: is uint8 of 12 lanes, but the signature asked for (point->float64) of f has point",
          uf_call(f, 2, (DLTensor[]){UF_RECORDS(pixels(x), 2), UF_ARRAY(r, 2)},
                  &(uf_options){.size = sizeof(uf_options), .signature = "point->float64"}));
    uf_free(f);
    /* Scalars beside records: the narrowest; a number by its kind; a strong dtype that does not cast is an error. */
    f = function("interval(float32),float32->float32; interval(float32),float64->float64",
                 "(a, k) { return a.lo * k; }", NULL, NULL, 0);
    float a[2] = {0.1f, 0.2f}, k[1] = {3};
    double wide[1], d[1];
    DLTensor one = UF_ARRAY(a, 1);
    one.dtype = (DLDataType){kDLFloat, 32, 2};
    OK(UF_CALL(f, one, UF_ARRAY(k, 1), UF_ARRAY(wide, 1)));
    assert_true(wide[0] == (double)(0.1f * 3));
    wide[0] = 3;
    OK(UF_CALL(f, one, UF_ARRAY(wide, 1), UF_ARRAY(d, 1)));
    assert_true(d[0] == (double)0.1f * 3);
    OK(UF_CALL(f, one, UF_SCALAR(3.0), UF_ARRAY(d, 1)));
    assert_true(d[0] == (double)(0.1f * 3));
    uf_free(f);
    f = function("interval(float32),float32->float32", "(a, k) { return a.lo * k; }", NULL, NULL, 0);
    FAILS(UF_ERR_SIGNATURE, "argument 1 is float64, which does not fit float32",
          UF_CALL(f, one, UF_ARRAY(wide, 1), UF_ARRAY(d, 1)));
    uf_free(f);
    /* Without signatures. */
    f = function(NULL, "(a, b) { return a + b; }", NULL, NULL, 0);
    FAILS(UF_ERR_ARGUMENT, "16 lanes; 1 is needed, but where the signature",
          UF_CALL(f, UF_RECORDS(x, 2), UF_RECORDS(y, 2), UF_RECORDS(z, 2)));
    fill(x, 2);
    fill(y, 2);
    for (int round = 0; round < 2; round++)
        OK(uf_call(f, 3, (DLTensor[]){UF_RECORDS(x, 2), UF_RECORDS(y, 2), UF_RECORDS(z, 2)},
                   &(uf_options){.size = sizeof(uf_options), .signature = IV "," IV "->" IV}));
    assert_true(z[1].hi == x[1].hi + y[1].hi);
    FAILS(UF_ERR_TYPE, "",
          uf_call(f, 3, (DLTensor[]){UF_RECORDS(x, 2), UF_RECORDS(y, 2), UF_RECORDS(z, 2)},
                  &(uf_options){.size = sizeof(uf_options), .signature = "point,point->point"}));
    uf_free(f);
}

static void bad_signatures(void **state) {
    (void)state;
    static const struct {
        const char *signatures, *message;
    } rows[] = {{"nothing->float64", "unknown dtype \"nothing\""}, {"interval->float64", "interval"},
                {"interval(nothing)->float64", "nothing"},         {"pixel(float32)->float64", "pixel"},
                {"interval(float64->float64", "interval"},         {IV "->float64; " IV " -> float64", "repeats"}};
    uf_func *f;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uf_section only = {.signatures = rows[i].signatures, .source = "(a) { return 1; }"};
        FAILS(UF_ERR_SYNTAX, rows[i].message,
              uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                             .name = "f",
                                             .nsections = 1,
                                             .sections = &only,
                                             .nmodules = 1,
                                             .modules = &geometry}));
        assert_null(f);
        assert_string_equal(uf_last_error()->source, "signatures of f");
    }
    const uf_section wrong = {.signatures = IV "->float64", .source = "(a) { return a.middle; }"};
    FAILS(UF_ERR_TYPE, "middle",
          uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                         .name = "f",
                                         .nsections = 1,
                                         .sections = &wrong,
                                         .nmodules = 1,
                                         .modules = &geometry}));
    assert_string_equal(uf_last_error()->source, "f");
    const uf_section sections[2] = {{.signatures = IV "->float64", .source = "(a) { return 1; }"},
                                    {.signatures = IV "->float64", .source = "(a) { return 2; }"}};
    FAILS(UF_ERR_SYNTAX, "sections 0 and 1 both have",
          uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                         .name = "f",
                                         .nsections = 2,
                                         .sections = sections,
                                         .nmodules = 1,
                                         .modules = &geometry}));
}

static void bad_arrays(void **state) {
    (void)state;
    uf_func *f = function(IV "," IV "->" IV, "(a, b) { return a + b; }", NULL, NULL, 0);
    DLTensor a = UF_RECORDS(x, 4), bad = a, still = UF_RECORDS(z, 4);
    bad.data = (char *)x + 4;
    FAILS(UF_ERR_ARGUMENT, "argument 1: its element 0 is at", UF_CALL(f, a, bad, UF_RECORDS(z, 4)));
    assert_int_equal(uf_last_error()->argument, 1);
    bad = a;
    bad.data = NULL;
    FAILS(UF_ERR_ARGUMENT, "argument 0: its data is NULL", UF_CALL(f, bad, a, UF_RECORDS(z, 4)));
    bad = a;
    bad.dtype.lanes = 12;
    FAILS(UF_ERR_SIGNATURE, "argument 0 is uint8 of 12 lanes", UF_CALL(f, bad, a, UF_RECORDS(z, 4)));
    FAILS(UF_ERR_SIGNATURE, "argument 2 is float64", UF_CALL(f, a, a, UF_ARRAY(doubles(z), 8)));
    still.strides = (int64_t[]){0};
    FAILS(UF_ERR_ARGUMENT, "argument 2: is an output with two elements", UF_CALL(f, a, a, still));
    assert_int_equal(uf_last_error()->argument, 2);
    FAILS(UF_ERR_ARGUMENT, "takes 2 inputs and 1 output", UF_CALL(f, a, a));
    DLTensor device = a;
    device.device = (DLDevice){kDLCUDA, 0};
    FAILS(UF_ERR_DEVICE, "argument 1: is in host memory, but argument 0 is on CUDA", UF_CALL(f, device, a, device));
    uf_free(f);
    double r[4];
    uf_func *plain;
    OK(uf_vectorize(&plain, "plain", "d->d", "(x) { return x; }"));
    FAILS(UF_ERR_ARGUMENT, "16 lanes", UF_CALL(plain, a, UF_ARRAY(r, 4)));
    uf_free(plain);
}

/* What a form's code is, for a device that need not be there. */
static void inspection(void **state) {
    (void)state;
    uf_func *f = function("dd->d; " IV "," IV "->" IV, "(a, b) { return a + b; }", NULL, NULL, 0);
    const DLDevice devices[2] = {{kDLCPU, 0}, {kDLCUDA, -90}};
    char *ir, *plain;
    for (size_t i = 0; i < COUNT(devices); i++) {
        OK(uf_inspect(f, IV ", " IV, devices[i], UF_VIEW_IR, &ir));
        OK(uf_inspect(f, NULL, devices[i], UF_VIEW_IR, &plain));
        assert_true(strlen(ir) > strlen(plain));
        free(ir);
        free(plain);
    }
    OK(uf_inspect(f, IV "," IV, devices[0], UF_VIEW_TREE, &ir));
    free(ir);
    FAILS(UF_ERR_SYNTAX, "pixel", uf_inspect(f, "pixel,pixel", devices[0], UF_VIEW_TREE, &ir));
    uf_free(f);
}

static int module_make(void **state) {
    draw_seed(state);
    return (int)uf_module_new(
        &geometry, &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "geometry", .source = text});
}

static int module_free(void **state) {
    (void)state;
    uf_module_free(geometry);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),    cmocka_unit_test(elementwise),     cmocka_unit_test(mixed),
        cmocka_unit_test(plans),      cmocka_unit_test(inference),       cmocka_unit_test(outer),
        cmocka_unit_test(gufuncs),    cmocka_unit_test(folds),           cmocka_unit_test(identities),
        cmocka_unit_test(states),     cmocka_unit_test(updates),         cmocka_unit_test(kernels),
        cmocka_unit_test(copies),     cmocka_unit_test(views),           cmocka_unit_test(larger_than_states),
        cmocka_unit_test(choices),    cmocka_unit_test(bad_signatures),  cmocka_unit_test(bad_arrays),
        cmocka_unit_test(inspection), cmocka_unit_test(records_of_texts)};
    return cmocka_run_group_tests_name("records", tests, module_make, module_free);
}
