/* product_case.c - see product_case.h. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "product_case.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

/* clang-format off */
const product_form product_forms[PRODUCT_FORMS] = {
    [BLAS_GEMM]  = {"gemm", {"mn", "np", "mp"}, "(m?,n),(n,p?)->(m?,p?)",
                    "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }"},
    [BLAS_GEMV]  = {"gemv", {"mn", "n", "m"}, "(m,n),(n)->(m)",
                    "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }"},
    [BLAS_GEVM]  = {"gevm", {"n", "np", "p"}, "(n),(n,p)->(p)",
                    "(x, A) -> (y) { forall (i : p) y[i] = sum(j : n, x[j] * A[j][i]); }"},
    [BLAS_DOT]   = {"dot", {"n", "n", ""}, "(n),(n)->()", "(x, y) -> (r) { r = sum(i : n, x[i] * y[i]); }"},
    [BLAS_DOTC]  = {"dotc", {"n", "n", ""}, "(n),(n)->()", "(x, y) -> (r) { r = sum(i : n, conj(x[i]) * y[i]); }"},
    [BLAS_GER]   = {"ger", {"m", "p", "mp"}, "(m),(p)->(m,p)",
                    "(x, y) -> (r) { forall (i : m, j : p) r[i][j] = x[i] * y[j]; }"},
    [BLAS_GEVMC] = {"gevmc", {"n", "np", "p"}, "(n),(n,p)->(p)",
                    "(x, A) -> (y) { forall (i : p) y[i] = sum(j : n, conj(x[j]) * A[j][i]); }"},
};
/* clang-format on */

static bool conjugates(blas_form form) { return form == BLAS_DOTC || form == BLAS_GEVMC; }

/* ---- Operands ---- */

int product_letter(char c) { return c == 'm' ? 0 : c == 'n' ? 1 : 2; }

static double complex get(dtype t, const char *at) {
    switch (t) {
    case DT_FLOAT16:
        return half_to_double(*(const uint16_t *)at);
    case DT_BFLOAT16:
        return bfloat16_to_double(*(const uint16_t *)at);
    case DT_FLOAT32:
        return *(const float *)at;
    case DT_FLOAT64:
        return *(const double *)at;
    case DT_COMPLEX64:
        return *(const float complex *)at;
    default:
        return *(const double complex *)at;
    }
}

static void put(dtype t, char *at, double complex v) {
    switch (t) {
    case DT_FLOAT16:
        *(uint16_t *)at = half_of_double(creal(v));
        break;
    case DT_BFLOAT16:
        *(uint16_t *)at = bfloat16_of_double(creal(v));
        break;
    case DT_FLOAT32:
        *(float *)at = (float)creal(v);
        break;
    case DT_FLOAT64:
        *(double *)at = creal(v);
        break;
    case DT_COMPLEX64:
        *(float complex *)at = (float complex)v;
        break;
    default:
        *(double complex *)at = v;
        break;
    }
}

/* Strides for dimensions in a random order, the core ones innermost more often than not. wild: gaps, negative and zero
 * strides too. */
static void draw_strides(product_case *q, int k, bool wild) {
    product_operand *o = &q->operand[k];
    int64_t *stride[PRODUCT_LOOPS + 3], extent[PRODUCT_LOOPS + 3], next = wild && chance(20) ? pick(2, 3) : 1;
    int n = 0, ncore;
    const char *dims = product_forms[q->form].dims[k];
    memset(o, 0, sizeof *o);
    for (; *dims; dims++) {
        stride[n] = &o->core[product_letter(*dims)];
        extent[n++] = q->extent[product_letter(*dims)];
    }
    ncore = n;
    for (int d = 0; d < q->ndim; d++)
        if (k == 2 || !wild || !chance(30)) {
            stride[n] = &o->loop[d];
            extent[n++] = q->loop[d];
        }
    bool mixed = wild && chance(30);
    for (int i = n - 1; wild && i > 0; i--) {
        int j = (int)(mixed || i < ncore ? pick(0, i) : pick(ncore, i)); /* shuffle each kind, or all */
        int64_t *s = stride[i], e = extent[i];
        stride[i] = stride[j], extent[i] = extent[j];
        stride[j] = s, extent[j] = e;
    }
    if (!wild && ncore == 2) { /* C order */
        int64_t *s = stride[0], e = extent[0];
        stride[0] = stride[1], extent[0] = extent[1];
        stride[1] = s, extent[1] = e;
    }
    o->span = 1;
    for (int i = 0; i < n; i++) {
        bool core = stride[i] >= o->core && stride[i] < o->core + 3;
        *stride[i] = extent[i] == 1 ? 0 : next;
        if (wild && k < 2 && core && chance(2))
            *stride[i] = 0;
        if (wild && chance(core ? 4 : 15)) {
            *stride[i] = -*stride[i];
            o->first -= *stride[i] * (extent[i] - 1);
        }
        o->span += (*stride[i] < 0 ? -*stride[i] : *stride[i]) * (extent[i] - 1);
        next = next * extent[i] + (wild && chance(20) ? pick(1, 5) : 0);
    }
}

static void make_operand(product_case *q, int k, bool wild) {
    product_operand *o = &q->operand[k];
    size_t size = dtypes[q->type].size;
    draw_strides(q, k, wild);
    size_t bytes = (size_t)(o->span + 2 * PRODUCT_EDGE) * size;
    o->buffer = malloc(bytes);
    assert_non_null(o->buffer);
    o->data = o->buffer + (size_t)(PRODUCT_EDGE + o->first) * size;
    memset(o->buffer, 0xff, bytes); /* NaN */
    for (int64_t i = 0; k < 2 && i < o->span; i++)
        put(q->type, o->buffer + (size_t)(PRODUCT_EDGE + i) * size, (double)pick(-8, 8) + (double)pick(-8, 8) * I);
}

void product_case_free(product_case *q) {
    for (int k = 0; k < 3; k++)
        free(q->operand[k].buffer);
}

static char *at(const product_case *q, int k, const int64_t *loop, int64_t m, int64_t n, int64_t p) {
    const product_operand *o = &q->operand[k];
    int64_t offset = m * o->core[0] + n * o->core[1] + p * o->core[2];
    for (int d = 0; d < q->ndim; d++)
        offset += loop[d] * o->loop[d];
    return o->data + offset * (int64_t)dtypes[q->type].size;
}

static void naive_inner(const product_case *q, const int64_t *loop, char *shift_to, const char *shift_from) {
    for (int64_t i = 0; i < q->extent[0]; i++)
        for (int64_t j = 0; j < q->extent[2]; j++) {
            double complex sum = 0;
            for (int64_t n = 0; n < q->extent[1]; n++) {
                double complex x = get(q->type, at(q, 0, loop, i, n, j)), y = get(q->type, at(q, 1, loop, i, n, j));
                double re = creal(x), im = conjugates(q->form) ? -cimag(x) : cimag(x);
                sum += re * creal(y) - im * cimag(y) + (re * cimag(y) + im * creal(y)) * I;
            }
            put(q->type, shift_to + (at(q, 2, loop, i, 0, j) - shift_from), sum);
        }
}

/* What the whole buffer of the output must be. */
char *product_case_expected(const product_case *q) {
    const product_operand *o = &q->operand[2];
    size_t bytes = (size_t)(o->span + 2 * PRODUCT_EDGE) * dtypes[q->type].size;
    char *want = malloc(bytes);
    assert_non_null(want);
    memset(want, 0xff, bytes);
    int64_t index[PRODUCT_LOOPS] = {0};
    for (int d = 0; d < q->ndim;) {
        if (d == 0)
            naive_inner(q, index, want, o->buffer);
        if (++index[d] < q->loop[d])
            d = 0;
        else
            index[d++] = 0;
    }
    if (!q->ndim)
        naive_inner(q, index, want, o->buffer);
    return want;
}

int64_t product_case_difference(const product_case *q, const char *got, const char *want) {
    dtype t = dtypes[q->type].component;
    size_t size = dtypes[t].size, n = product_case_bytes(q, 2) / size;
    for (size_t i = 0; i < n; i++)
        if (memcmp(got + i * size, want + i * size, size) &&
            !(creal(get(t, got + i * size)) == creal(get(t, want + i * size))))
            return (int64_t)i;
    return -1;
}

void product_case_compare(const product_case *q, const char *got, const char *want) {
    dtype t = dtypes[q->type].component;
    int64_t i = product_case_difference(q, got, want);
    if (i >= 0)
        fail_msg("%s of %s, m n p %lld %lld %lld, %d loops: component %lld is %g, not %g", product_forms[q->form].name,
                 dtypes[q->type].name, (long long)q->extent[0], (long long)q->extent[1], (long long)q->extent[2],
                 q->ndim, (long long)i, creal(get(t, got + i * dtypes[t].size)),
                 creal(get(t, want + i * dtypes[t].size)));
}

size_t product_case_bytes(const product_case *q, int k) {
    return (size_t)(q->operand[k].span + 2 * PRODUCT_EDGE) * dtypes[q->type].size;
}

static bool has(blas_form form, char c) {
    return strchr(product_forms[form].dims[0], c) || strchr(product_forms[form].dims[1], c) ||
           strchr(product_forms[form].dims[2], c);
}

product_case product_case_of(blas_form form, dtype type, int64_t m, int64_t n, int64_t p) {
    product_case q = {.form = form, .type = type};
    q.extent[0] = has(form, 'm') ? m : 1;
    q.extent[1] = has(form, 'n') ? n : 1;
    q.extent[2] = has(form, 'p') ? p : 1;
    return q;
}

void product_case_fill(product_case *q, bool wild) {
    for (int k = 0; k < 3; k++)
        make_operand(q, k, wild);
}

void product_case_reals(product_case *q) {
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < q->operand[k].span; i++)
            put(q->type, q->operand[k].buffer + (size_t)(PRODUCT_EDGE + i) * dtypes[q->type].size,
                (double)draw_bits() / 0x1p53 + (double)draw_bits() / 0x1p53 * I);
}

/* ---- Launches ---- */

launch product_case_launch(const product_case *q, product_launch *s) {
    static const layout_dim dims[3] = {{.name = "m"}, {.name = "n"}, {.name = "p"}};
    memset(s, 0, sizeof *s);
    s->layout = (core_layout){.nin = 2, .nout = 1, .ndims = 3, .nparameters = 3, .dims = dims, .operands = s->operands};
    s->v = (variant){.loop = LOOP_GUFUNC, .nin = 2, .nout = 1};
    memcpy(s->words, q->extent, sizeof q->extent);
    for (int k = 0; k < 3; k++) {
        s->v.operand[k] =
            (variant_operand){.memory = (uint8_t)q->type, .value = (uint8_t)q->type, .kind = OPERAND_STRIDED};
        s->operands[k].strides = s->layout.nparameters;
        for (const char *c = product_forms[q->form].dims[k]; *c; c++) {
            s->operands[k].dim[s->operands[k].rank++] = (uint8_t)product_letter(*c);
            s->words[s->layout.nparameters++] = q->operand[k].core[product_letter(*c)];
        }
        for (int d = 0; d < q->ndim; d++)
            s->stride[d * 3 + k] = q->operand[k].loop[d];
        s->data[k] = q->operand[k].data;
    }
    s->extent[0] = 1;
    s->loop = (nd_loop){.ndim = q->ndim ? q->ndim : 1,
                        .narrays = 3,
                        .count = 1,
                        .extent = s->extent,
                        .stride = s->stride,
                        .offset = s->offset,
                        .loop = LOOP_GUFUNC};
    for (int d = 0; d < q->ndim; d++) {
        s->extent[d] = q->loop[d];
        s->loop.count *= q->loop[d];
    }
    return (launch){
        .v = &s->v, .loop = &s->loop, .data = s->data, .layout = &s->layout, .core = s->words, .blas = q->form};
}

/* ---- Calls ---- */

DLTensor product_case_array(const product_case *q, int k, bool no_m, bool no_p, int64_t *shape, int64_t *strides) {
    const product_operand *o = &q->operand[k];
    int n = 0;
    for (int d = q->ndim - 1; d >= 0; d--) {
        shape[n] = o->loop[d] || k == 2 ? q->loop[d] : 1;
        strides[n++] = o->loop[d];
    }
    for (const char *c = product_forms[q->form].dims[k]; *c; c++)
        if (!((no_m && *c == 'm') || (no_p && *c == 'p'))) {
            shape[n] = q->extent[product_letter(*c)];
            strides[n++] = o->core[product_letter(*c)];
        }
    return (DLTensor){.data = o->data,
                      .device = {kDLCPU, 0},
                      .ndim = n,
                      .dtype = dtypes[q->type].dl,
                      .shape = shape,
                      .strides = strides};
}

uf_func *product_case_define(blas_form form) {
    uf_func *f;
    const uf_section section = {"float16,float16->float16; bfloat16,bfloat16->bfloat16; float32,float32->float32; "
                                "float64,float64->float64; complex64,complex64->complex64; "
                                "complex128,complex128->complex128",
                                product_forms[form].source};
    if (uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                       .name = product_forms[form].name,
                                       .nsections = 1,
                                       .sections = &section,
                                       .layout = product_forms[form].layout,
                                       .blas = product_forms[form].name}))
        fail_msg("%s", uf_last_error()->message);
    return f;
}
