/* scan_case.c - see scan_case.h. */
#include "scan_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "ir/ir.h"
#include "lang_try.h"

/* ---- Operators ---- */

static void step_sum(int64_t *s, const int64_t *in, int64_t i) { s[0] = i ? s[0] + in[0] : in[0]; }
static void step_max(int64_t *s, const int64_t *in, int64_t i) { s[0] = i && s[0] > in[0] ? s[0] : in[0]; }
static void step_minus(int64_t *s, const int64_t *in, int64_t i) { s[0] = i ? s[0] - in[0] : in[0]; }
static void step_dot(int64_t *s, const int64_t *in, int64_t i) { s[0] = (i ? s[0] : 0) + in[0] * in[1]; }

static void step_argmax(int64_t *s, const int64_t *in, int64_t i) {
    if (i && s[0] >= in[0])
        return;
    s[0] = in[0];
    s[1] = i;
}
static void result_argmax(const int64_t *s, int64_t n, double *out) {
    (void)n;
    out[0] = (double)s[1];
}

static void step_matrix(int64_t *s, const int64_t *in, int64_t i) {
    uint32_t b[4] = {(uint32_t)in[0], (uint32_t)in[1], 1, (uint32_t)(in[0] - in[1])}, c[4];
    const uint32_t a[4] = {(uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], (uint32_t)s[3]};
    c[0] = a[0] * b[0] + a[1] * b[2];
    c[1] = a[0] * b[1] + a[1] * b[3];
    c[2] = a[2] * b[0] + a[3] * b[2];
    c[3] = a[2] * b[1] + a[3] * b[3];
    for (int k = 0; k < 4; k++)
        s[k] = i ? c[k] : b[k];
}

static void step_affine(int64_t *s, const int64_t *in, int64_t i) {
    uint64_t a = (uint64_t)in[0], b = (uint64_t)i;
    uint64_t x = i ? (uint64_t)s[0] * a : a, y = i ? (uint64_t)s[1] * a + b : b;
    s[0] = (int64_t)x;
    s[1] = (int64_t)y;
}
static void result_affine(const int64_t *s, int64_t n, double *out) {
    out[0] = (double)(s[0] & 0xffff);
    out[1] = (double)((s[1] + n) & 0xffff);
}

static void result_mean(const int64_t *s, int64_t n, double *out) { out[0] = (double)s[0] / (double)n; }

static void step_gcd(int64_t *s, const int64_t *in, int64_t i) {
    int64_t a = i ? s[0] : in[0], b = in[0];
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    s[0] = a;
}

static void step_minmax(int64_t *s, const int64_t *in, int64_t i) {
    s[0] = i && s[0] < in[0] ? s[0] : in[0];
    s[1] = i && s[1] > in[0] ? s[1] : in[0];
}

const scan_operator scan_operators[] = {
    {"sum", NULL, "(a, b) { return a + b; }", NULL, "U->U->U", FOLD_FREE, -1, 1, step_sum, NULL, false, false},
    {"max", NULL, "(a, b) { return a > b ? a : b; }", NULL, "T->T->T", FOLD_FREE, 0, 100, step_max, NULL, false, false},
    {"minus", NULL, "(a, b) { return a - b; }", NULL, "U->U->U", FOLD_SERIAL, -1, 1, step_minus, NULL, false, false},
    {"dot", "(x, y) { return x * y; }", "(a, b) { return a + b; }", NULL, "T,T->U->U", FOLD_FREE, 0, 1, step_dot, NULL,
     false, false},
    {"argmax", "(x, k) -> (v, i) { v = x; i = k; }",
     "(a, i, b, j) -> (c, k) { if (b > a) { c = b; k = j; } else { c = a; k = i; } }", "(v, i) -> (r) { r = i; }",
     "T->T,int64->int64", FOLD_ORDERED, 0, 100, step_argmax, result_argmax, true, false},
    {"matrix", "(x, y) -> (a, b, c, d) { a = x; b = y; c = 1; d = x - y; }",
     "(a, b, c, d, p, q, r, s) -> (w, x, y, z) { w = a*p + b*r; x = a*q + b*s; y = c*p + d*r; z = c*q + d*s; }", NULL,
     "uint32,uint32->uint32,uint32,uint32,uint32->uint32,uint32,uint32,uint32", FOLD_ORDERED, 0, 1000, step_matrix,
     NULL, false, false},
    {"affine", "(x, k) -> (a, b) { a = x; b = k; }", "(a, b, c, d) -> (e, f) { e = a * c; f = b * c + d; }",
     "(a, b, n) -> (p, q) { p = a & 0xffff; q = (b + (uint64)n) & 0xffff; }", "uint64->uint64,uint64->uint64,uint64",
     FOLD_ORDERED, 0, 1000, step_affine, result_affine, true, true},
    {"mean", NULL, "(a, b) { return a + b; }", "(s, n) -> (r) { r = s / (float64)n; }", "float64->float64->float64",
     FOLD_FREE, -100, 100, step_sum, result_mean, false, true},
    {"gcd", NULL, "(a, b) { while (b) { auto t = a % b; a = b; b = t; } return a; }", NULL, "int32->int32->int32",
     FOLD_FREE, 1, 1 << 20, step_gcd, NULL, false, false},
    {"minmax", "(x) -> (a, b) { a = x; b = x; }", "(a, b, c, d) -> (e, f) { e = a < c ? a : c; f = b > d ? b : d; }",
     NULL, "T->T,T->T,T", FOLD_FREE, 0, 100, step_minmax, NULL, false, false},
    {"complex", NULL, "(a, b) { return a + b; }", NULL, "complex64->complex128->complex64", FOLD_FREE, -1, 1, step_sum,
     NULL, false, false},
    {"flags", NULL, "(a, b) { return a || b; }", NULL, "bool->bool->bool", FOLD_FREE, 0, 1, step_max, NULL, false,
     false},
};
const int scan_operator_count = COUNT(scan_operators);

/* ---- Folds ---- */

/* What sums of T are exact in. */
static dtype wide(dtype t) {
    if (dtypes[t].kind == DK_COMPLEX)
        return DT_COMPLEX128;
    return dtypes[t].kind == DK_FLOATING ? DT_FLOAT64 : DT_INT64;
}

static int read_types(const char *from, const char *end, dtype t, dtype *out) {
    int n = 0;
    while (from < end) {
        size_t length = strcspn(from, ",-");
        out[n++] = *from == 'T' && length == 1   ? t
                   : *from == 'U' && length == 1 ? wide(t)
                                                 : dtype_of_name(from, length);
        from += length + (from + length < end);
    }
    return n;
}

static void make_fold(scan_case *x, dtype t) {
    const scan_operator *o = x->op;
    fold *f = &x->f;
    const char *arrow = strstr(o->types, "->"), *second = strstr(arrow + 2, "->");
    f->nin = read_types(o->types, arrow, t, f->in);
    f->nstate = read_types(arrow + 2, second, t, f->state);
    f->nout = read_types(second + 2, o->types + strlen(o->types), t, f->out);
    f->takes_position = o->takes_position;
    f->takes_count = o->takes_count;
    f->order = o->order;
    fold_try(&x->a, f, &(fold_texts){o->map, o->combine, o->finish, NULL});
    ir_fold_traits(f, &x->size);
}

/* ---- Arrays ---- */

/* Strides over memory in some order of the dimensions, innermost first, with gaps and directions. */
static void draw_strides(scan_case *x, int k, int layout) {
    int order[SCAN_DIMS + 1], n = x->ndim + 1;
    int64_t stride = layout == SCAN_ANY && chance(30) ? pick(1, 3) : 1;
    for (int d = 0; d < n; d++) /* the line first */
        order[d] = (d + n - 1) % n;
    if (layout == SCAN_COLUMNS)
        for (int d = 0; d < n; d++)
            order[d] = d == 1 || n == 1 ? n - 1 : d > 1 ? d - 1 : 0;
    for (int d = 0; layout == SCAN_ANY && d < n; d++) {
        int other = (int)pick(0, n - 1), t = order[d];
        order[d] = order[other];
        order[other] = t;
    }
    for (int i = 0; i < n; i++) {
        int d = order[i];
        x->stride[k][d] = layout == SCAN_ANY && chance(20) ? -stride : stride;
        stride *= x->extent[d];
        if (layout == SCAN_ANY && chance(20))
            stride += pick(0, 3);
        if (layout == SCAN_ROWS && i == 0 && chance(20))
            stride = (stride + 3) / 4 * 4;
    }
    if (layout == SCAN_ANY && k < x->f.nin && chance(10))
        x->stride[k][pick(0, n - 1)] = 0;
}

static int64_t lowest(const scan_case *x, int k) {
    int64_t at = 0;
    for (int d = 0; d <= x->ndim; d++)
        at += x->stride[k][d] < 0 ? x->stride[k][d] * (x->extent[d] - 1) : 0;
    return at;
}

static int64_t highest(const scan_case *x, int k) {
    int64_t at = 0;
    for (int d = 0; d <= x->ndim; d++)
        at += x->stride[k][d] > 0 ? x->stride[k][d] * (x->extent[d] - 1) : 0;
    return at;
}

static void put_number(int64_t value, dtype t, void *at) {
    number_write((number){.type = DT_INT64, .as.i = value}, t, at);
}

static int64_t get_number(dtype t, const void *at) {
    number n = number_read(t, at);
    switch (dtypes[t].kind) {
    case DK_FLOATING:
    case DK_COMPLEX:
        return (int64_t)n.as.f[0];
    default:
        return n.as.i;
    }
}

enum {
    EDGE = 64
};

static void make_array(scan_case *x, int k, bool in_place) {
    variant_operand *o = &x->v.operand[k];
    bool output = k >= x->f.nin;
    int size = dtypes[o->memory].size;
    if (in_place) {
        memcpy(x->stride[k], x->stride[0], sizeof x->stride[k]);
        x->data[k] = x->data[0];
        x->bytes[k] = x->bytes[0];
        return;
    }
    size_t n = (size_t)(highest(x, k) - lowest(x, k) + 1);
    x->bytes[k] = n * (size_t)size + 2 * EDGE;
    x->block[k] = aligned_alloc(64, (x->bytes[k] + 63) / 64 * 64);
    memset(x->block[k], 0xA5, x->bytes[k]);
    size_t shift = chance(30) ? (size_t)(pick(1, 3) * size) : 0; /* misaligned */
    x->bytes[k] += shift;
    if (shift) {
        free(x->block[k]);
        x->block[k] = aligned_alloc(64, (x->bytes[k] + 63) / 64 * 64);
        memset(x->block[k], 0xA5, x->bytes[k]);
    }
    char *base = x->block[k] + EDGE + shift;
    for (size_t i = 0; i < n && !output; i++)
        put_number(pick(x->op->low, x->op->high), (dtype)o->memory, base + i * (size_t)size);
    x->data[k] = base - lowest(x, k) * size;
}

/* ---- What is expected ---- */

static char *element_of(const scan_case *x, int k, char *data, int64_t line, int64_t i) {
    int64_t at = i * x->stride[k][x->ndim];
    for (int d = 0; d < x->ndim; d++) {
        at += line % x->extent[d] * x->stride[k][d];
        line /= x->extent[d];
    }
    return data + at * dtypes[x->v.operand[k].memory].size;
}

static void expect_line(scan_case *x, int64_t line) {
    int64_t state[UF_MAX_STATE] = {0}, in[UF_MAX_OPERANDS];
    double out[UF_MAX_OPERANDS];
    for (int64_t i = 0; i < x->extent[x->ndim]; i++) {
        for (int k = 0; k < x->f.nin; k++)
            in[k] = get_number((dtype)x->v.operand[k].memory, element_of(x, k, x->data[k], line, i));
        x->op->step(state, in, i);
        if (x->op->result)
            x->op->result(state, i + 1, out);
        for (int j = 0; j < x->f.nout; j++) {
            int k = x->f.nin + j, owner = x->block[k] ? k : 0;
            char *at = element_of(x, k, x->expected[k] + (x->data[k] - x->block[owner]), line, i);
            number n = {.type = DT_FLOAT64, .as.f = {x->op->result ? out[j] : 0}};
            if (!x->op->result)
                n = (number){.type = DT_INT64, .as.i = state[j]};
            number_write(n, (dtype)x->v.operand[k].memory, at);
        }
    }
}

static void expect(scan_case *x) {
    int64_t lines = x->loops.kept.count;
    for (int j = 0; j < x->f.nout; j++) {
        int k = x->f.nin + j;
        x->expected[k] = malloc(x->bytes[k]);
        memcpy(x->expected[k], x->block[x->block[k] ? k : 0], x->bytes[k]);
    }
    for (int64_t line = 0; line < lines; line++)
        expect_line(x, line);
}

const char *scan_fault(scan_case *x) {
    static char why[256];
    for (int j = 0; j < x->f.nout; j++) {
        int k = x->f.nin + j, size = dtypes[x->v.operand[k].memory].size;
        const char *block = x->block[x->block[k] ? k : 0];
        for (size_t i = 0; i < x->bytes[k]; i++)
            if (block[i] != x->expected[k][i]) {
                int64_t element = ((block + i) - x->data[k]) / size;
                snprintf(why, sizeof why, "%s: output %d, element %lld: %lld, not %lld", x->op->name, j,
                         (long long)element,
                         (long long)get_number((dtype)x->v.operand[k].memory, x->data[k] + element * size),
                         (long long)get_number((dtype)x->v.operand[k].memory,
                                               x->expected[k] + (x->data[k] - block) + element * size));
                return why;
            }
    }
    return NULL;
}

/* ---- The whole ---- */

static void make_loops(scan_case *x) {
    int narrays = variant_operands(&x->v);
    int64_t lines = 1;
    for (int d = 0; d < x->ndim; d++) {
        lines *= x->extent[d];
        for (int k = 0; k < narrays; k++)
            x->kept_stride[d * narrays + k] = x->stride[k][d];
    }
    for (int k = 0; k < narrays; k++)
        x->along_stride[k] = x->stride[k][x->ndim];
    x->loops.kept = (nd_loop){.ndim = x->ndim,
                              .narrays = narrays,
                              .count = lines,
                              .extent = x->extent,
                              .stride = x->kept_stride,
                              .offset = x->zero,
                              .loop = LOOP_SCAN};
    x->loops.reduced = (nd_loop){.ndim = 1,
                                 .narrays = narrays,
                                 .count = x->extent[x->ndim],
                                 .extent = x->extent + x->ndim,
                                 .stride = x->along_stride,
                                 .offset = x->zero,
                                 .loop = LOOP_SCAN};
}

/* A dtype in memory for one of the signature that holds what its elements are. */
static dtype memory_for(dtype value, bool output) {
    static const dtype narrow[] = {DT_INT8, DT_FLOAT16, DT_INT16, DT_FLOAT32};
    if (output || dtypes[value].kind == DK_COMPLEX || value == DT_BOOL || chance(70))
        return value;
    dtype t = narrow[pick(0, COUNT(narrow) - 1)];
    return dtype_can_cast(t, value, UF_CAST_SAFE) ? t : value;
}

void scan_make(scan_case *x, const scan_operator *which, dtype t, int layout, bool in_place) {
    x->op = which;
    make_fold(x, t);
    int nin = x->f.nin, n = nin + x->f.nout;
    x->v = (variant){
        .loop = LOOP_SCAN, .nin = (uint8_t)nin, .nout = (uint8_t)x->f.nout, .position = which->takes_position};
    for (int k = 0; k < n; k++) {
        dtype value = k < nin ? x->f.in[k] : x->f.out[k - nin];
        x->v.operand[k].value = (uint8_t)value;
        x->v.operand[k].memory = (uint8_t)(which->high > 100 ? value : memory_for(value, k >= nin));
    }
    in_place &= x->v.operand[0].memory == x->v.operand[nin].memory;
    for (int k = 0; k < n; k++) {
        draw_strides(x, k, layout);
        if (in_place && k == 0)
            for (int d = 0; d <= x->ndim; d++) /* an output has each element once */
                in_place &= x->stride[0][d] != 0;
        make_array(x, k, in_place && k == nin);
    }
    if (which->takes_position) {
        variant_operand *o = &x->v.operand[n];
        *o = (variant_operand){.memory = DT_INT64, .value = DT_INT64, .kind = OPERAND_POSITION};
        x->stride[n][x->ndim] = 1;
    }
    make_loops(x);
    expect(x);
    x->l = (launch){.v = &x->v,
                    .loop = &x->loops.kept,
                    .reduced = &x->loops.reduced,
                    .data = x->data,
                    .numbers = (const uint64_t(*)[2])x->numbers,
                    .elements = x->extent[x->ndim]};
}

void scan_free(scan_case *x) {
    for (int k = 0; k < SCAN_OPERANDS; k++) {
        free(x->block[k]);
        free(x->expected[k]);
    }
    arena_free(&x->a);
}
