/* test_record_complex.c - complex numbers in records, also in those whose size is no multiple of theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "define.h"
#include "draw.h"
#include "expect.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

typedef struct wave { /* 24 bytes, and its complex number has 16 */
    double re, im, k;
} wave;
typedef struct ring { /* 28 bytes, and its complex numbers have 8 */
    float z[3][2], r;
} ring;

static const char module_text[] = "struct wave { complex128 z; float64 k; };\n"
                                  "operator + (wave a, wave b) { return (wave){a.z + b.z, a.k + b.k}; }\n"
                                  "operator wave (float64 x) { return (wave){x, x}; }\n"
                                  "struct spinor { complex64 up, down; };\n"
                                  "struct ring { complex64 z[3]; float32 r; };\n"
                                  "struct nest { ring a[2]; bool flag; complex64 z; };\n";

static uf_module *module;

static int make_module(void **state) {
    draw_seed(state);
    return uf_module_new(&module, &(uf_module_definition){.size = sizeof(uf_module_definition),
                                                          .name = "waves",
                                                          .source = module_text}) != UF_OK;
}

static int free_module(void **state) {
    (void)state;
    uf_module_free(module);
    return 0;
}

static uf_func *function(const char *signatures, const char *source, const char *layout, const char *identity,
                         unsigned flags) {
    return define_with(
        &(uf_definition){.layout = layout, .identity = identity, .flags = flags, .nmodules = 1, .modules = &module},
        signatures, source);
}

static double draw(void) { return (double)pick(-100, 100); }

enum {
    N = 1031
};
static wave w[N], v[N], out[N];
static ring rings[N], turned[N];

static void waves_fill(wave *to, int n) {
    for (int i = 0; i < n; i++)
        to[i] = (wave){draw(), draw(), draw()};
}

static void rings_fill(void) {
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 6; k++)
            (&rings[i].z[0][0])[k] = (float)draw();
        rings[i].r = (float)draw();
    }
}

static void layouts(void **state) {
    (void)state;
    uf_record r = {.size = sizeof r};
    OK(uf_record_layout(module, "wave", &r));
    assert_int_equal(r.bytes, sizeof(wave));
    assert_int_equal(r.align, _Alignof(wave));
    assert_int_equal(r.nfields, 2);
    assert_int_equal(r.nscalars, 2);
    assert_int_equal(r.dtype.code, kDLUInt);
    assert_int_equal(r.dtype.lanes, sizeof(wave));
    assert_int_equal(r.fields[0]->dtype.code, kDLComplex);
    assert_string_equal(r.fields[0]->type, "complex128");
    assert_int_equal(r.fields[1]->offset, offsetof(wave, k));
    OK(uf_record_layout(module, "ring", &r));
    assert_int_equal(r.bytes, sizeof(ring));
    assert_int_equal(r.align, _Alignof(ring));
    assert_int_equal(r.nscalars, 4);
    assert_int_equal(r.fields[0]->shape[0], 3);
    OK(uf_record_layout(module, "spinor", &r));
    assert_int_equal(r.align, 4);
    assert_int_equal(r.nscalars, 2);
    assert_int_equal(r.dtype.code, kDLComplex);
    assert_int_equal(r.dtype.bits, 64);
    assert_int_equal(r.dtype.lanes, 2);
    OK(uf_record_layout(module, "nest", &r));
    assert_int_equal(r.bytes, 2 * sizeof(ring) + 12);
    assert_int_equal(r.nscalars, 10);
}

/* An array of complex numbers is one of records whose scalars they are; lanes of real numbers are no complex ones. */
static void views(void **state) {
    (void)state;
    uf_record r = {.size = sizeof r};
    float x[5][2][2], y[5][2][2];
    int64_t shape[UF_MAX_NDIM], strides[UF_MAX_NDIM];
    const DLTensor in = {
        .data = x, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLComplex, 64, 1}, .shape = (int64_t[]){5, 2}};
    DLTensor spinors = {.shape = shape, .strides = strides}, to, real;
    for (int i = 0; i < 20; i++)
        (&x[0][0][0])[i] = (float)draw();
    OK(uf_record_layout(module, "spinor", &r));
    OK(uf_as_records(&spinors, &in, &r));
    assert_int_equal(spinors.dtype.lanes, 2);
    to = spinors;
    to.data = y;
    uf_func *f = function("spinor->spinor", "(s) { s.up *= 2 * I; return (spinor){s.down, s.up}; }", NULL, NULL, 0);
    OK(UF_CALL(f, spinors, to));
    for (int i = 0; i < 5; i++) {
        const float expected[2][2] = {{x[i][1][0], x[i][1][1]}, {-2 * x[i][0][1], 2 * x[i][0][0]}};
        for (int k = 0; k < 4; k++)
            assert_true(y[i][k / 2][k % 2] == expected[k / 2][k % 2]);
    }
    real = spinors;
    real.dtype = (DLDataType){kDLFloat, 32, 4};
    FAILS(UF_ERR_SIGNATURE, "float32 of 4 lanes", UF_CALL(f, real, to));
    uf_free(f);
}

/* Fields, compound assignment, literals, equality, choice. */
static void elementwise(void **state) {
    (void)state;
    bool same[N];
    uf_func *f =
        function("wave,wave,float64->wave,bool",
                 "(a, b, x) -> (r, same) { r = a.k > b.k ? a : b; r.z *= x * I; r.z += conj(a.z); same = a == b; }",
                 NULL, NULL, 0);
    waves_fill(w, N);
    waves_fill(v, N);
    v[5] = w[5];
    const double x = 3;
    OK(UF_CALL(f, UF_RECORDS(w, N), UF_RECORDS(v, N), UF_SCALAR(x), UF_RECORDS(out, N), UF_ARRAY(same, N)));
    for (int i = 0; i < N; i++) {
        const wave *r = w[i].k > v[i].k ? &w[i] : &v[i];
        assert_true(out[i].re == -3 * r->im + w[i].re && out[i].im == 3 * r->re - w[i].im && out[i].k == r->k);
        assert_int_equal(same[i], i == 5);
    }
    /* Every third record, backwards. */
    DLTensor third = UF_RECORDS(w, N / 3), to = UF_RECORDS(out, N / 3);
    third.data = &w[N - 1];
    third.strides = (int64_t[]){-3};
    OK(UF_CALL(f, third, third, UF_SCALAR(x), to, UF_ARRAY(same, N / 3)));
    for (int i = 0; i < N / 3; i++)
        assert_true(same[i] && out[i].re == -3 * w[N - 1 - 3 * i].im + w[N - 1 - 3 * i].re);
    uf_free(f);
}

/* An index chooses among complex fields, read and assigned; one out of range gives 0 and is dropped. */
static void chosen_fields(void **state) {
    (void)state;
    int32_t j[N];
    float got[N][2];
    uf_func *f = function("ring,int32->ring,complex64", "(a, j) -> (r, z) { r = a; z = a.z[j]; r.z[j] = (z + 1) * I; }",
                          NULL, NULL, 0);
    rings_fill();
    for (int i = 0; i < N; i++)
        j[i] = i % 5 - 1;
    const DLTensor z = {
        .data = got, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLComplex, 64, 1}, .shape = (int64_t[]){N}};
    OK(UF_CALL(f, UF_RECORDS(rings, N), UF_ARRAY(j, N), UF_RECORDS(turned, N), z));
    for (int i = 0; i < N; i++) {
        ring expected = rings[i];
        float re = 0, im = 0;
        if (j[i] >= 0 && j[i] < 3) {
            re = rings[i].z[j[i]][0];
            im = rings[i].z[j[i]][1];
            expected.z[j[i]][0] = -im;
            expected.z[j[i]][1] = re + 1;
        }
        assert_true(got[i][0] == re && got[i][1] == im);
        for (int k = 0; k < 7; k++)
            assert_true((&turned[i].z[0][0])[k] == (&expected.z[0][0])[k]);
    }
    uf_free(f);
}

static void folds(void **state) {
    (void)state;
    uf_func *add = function("wave,wave->wave", "(a, b) { return a + b; }", NULL, "0", 0);
    wave sum, want = {0, 0, 0};
    waves_fill(w, N);
    const uf_reduce_options keep = {.size = sizeof keep, .keepdims = true};
    OK(uf_reduce(add, 2, (DLTensor[]){UF_RECORDS(w, N), UF_RECORDS(&sum, 1)}, &keep));
    OK(uf_accumulate(add, 2, (DLTensor[]){UF_RECORDS(w, N), UF_RECORDS(out, N)}, 0, NULL));
    for (int i = 0; i < N; i++) {
        want = (wave){want.re + w[i].re, want.im + w[i].im, want.k + w[i].k};
        assert_memory_equal(&out[i], &want, sizeof want);
    }
    assert_memory_equal(&sum, &want, sizeof want);
    int32_t at[N];
    wave target[7] = {{0, 0, 0}}, hit[7] = {{0, 0, 0}};
    for (int i = 0; i < N; i++) {
        at[i] = i * 3 % 7;
        hit[at[i]] = (wave){hit[at[i]].re + w[i].re, hit[at[i]].im + w[i].im, hit[at[i]].k + w[i].k};
    }
    OK(uf_at(add, &UF_RECORDS(target, 7), 1, &UF_ARRAY(at, N), &UF_RECORDS(w, N), NULL));
    assert_memory_equal(target, hit, sizeof hit);
    uf_free(add);
}

/* Arrays of records with core dimensions, and of a kernel over indices. */
static void arrays(void **state) {
    (void)state;
    uf_func *f = function("wave->complex128", "(x) -> (s) { s = sum(i : n, x[i].z * x[i].k); }", "(n)->()", NULL, 0);
    double s[2], want[2] = {0, 0};
    waves_fill(w, N);
    const DLTensor to = {.data = s, .device = {kDLCPU, 0}, .dtype = {kDLComplex, 128, 1}};
    OK(uf_call(f, 2, (DLTensor[]){UF_RECORDS(w, N), to}, NULL));
    for (int i = 0; i < N; i++) {
        want[0] += w[i].re * w[i].k;
        want[1] += w[i].im * w[i].k;
    }
    assert_true(s[0] == want[0] && s[1] == want[1]);
    uf_free(f);
    uf_func *kernel = function("ring[], wave[]", "[i](r, w) { r[i].z[2] += w[i].z; w[i].z = r[i].z[0] * I; w[i].k++; }",
                               NULL, NULL, UF_KERNEL);
    rings_fill();
    memcpy(turned, rings, sizeof rings);
    memcpy(out, w, sizeof w);
    const int64_t extents[1] = {N};
    OK(uf_forall(kernel, 1, extents, 2, (DLTensor[]){UF_RECORDS(rings, N), UF_RECORDS(w, N)}, NULL));
    for (int i = 0; i < N; i++) {
        assert_true(rings[i].z[2][0] == turned[i].z[2][0] + (float)out[i].re);
        assert_true(rings[i].z[2][1] == turned[i].z[2][1] + (float)out[i].im);
        assert_true(rings[i].z[1][1] == turned[i].z[1][1] && rings[i].r == turned[i].r);
        assert_true(w[i].re == -turned[i].z[0][1] && w[i].im == turned[i].z[0][0] && w[i].k == out[i].k + 1);
    }
    uf_free(kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts),     cmocka_unit_test(views),
                                       cmocka_unit_test(elementwise), cmocka_unit_test(chosen_fields),
                                       cmocka_unit_test(folds),       cmocka_unit_test(arrays)};
    return cmocka_run_group_tests(tests, make_module, free_module);
}
