/* test_fold_begin.c - what reductions begin with, and what is left where nothing takes part: every combination of order, mask,
 * identity, initial values and emptiness, over axes and strides that reach every form of kernel, against a plain loop. All
 * arithmetic is exact, and compared to the bit: with the sign of zeros. On the CPU; on the GPU where UF_TEST_GPU=1. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"
#include "expect.h"
#include "views.h"

enum {
    RANK = 3,
    VALUES = 2 /* of a state */
};

/* ---- Folds, in kernel C and in C ---- */

typedef union value {
    double f;
    int64_t i;
} value;

enum {
    FREE = 1,
    ORDERED = 2,
    SERIAL = 4,
    ANY_ORDER = 7
};

typedef struct model {
    const char *name, *signature;
    DLDataType in, out;
    const char *kernel;   /* of a binary function; NULL: a reduction by def */
    uf_reduction_def def; /* of a binary function the identity */
    int orders;           /* that it may be folded in */
    const char *state;    /* 'd' or 'l' for each value */
    int64_t low, high;    /* of elements */
    bool zeros;           /* many of them -0.0 */
    value identity[VALUES];
    void (*map)(value x, int64_t k, value *state); /* NULL: the element */
    void (*combine)(const value *a, const value *b, value *out);
    value (*finish)(const value *state, int64_t n); /* NULL: the first value */
} model;

static void add(const value *a, const value *b, value *out) { out->f = a->f + b->f; }
static void add_integers(const value *a, const value *b, value *out) { out->i = a->i + b->i; }
static void multiply(const value *a, const value *b, value *out) { out->f = a->f * b->f; }
static void both_bits(const value *a, const value *b, value *out) { out->i = a->i & b->i; }
static void larger(const value *a, const value *b, value *out) { out->f = b->f > a->f ? b->f : a->f; }
static void subtract(const value *a, const value *b, value *out) { out->i = a->i - b->i; }
static void thrice(const value *a, const value *b, value *out) {
    out->i = (int64_t)(3 * (uint64_t)a->i - (uint64_t)b->i);
}
static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }
static void blocks_walked(const value *a, const value *b, value *out) { out->i = magnitude(a->i) + magnitude(b->i); }
static void divisor(const value *a, const value *b, value *out) {
    int64_t x = magnitude(a->i), y = magnitude(b->i);
    while (y) {
        int64_t r = x % y;
        x = y;
        y = r;
    }
    out->i = x;
}

static void with_position(value x, int64_t k, value *state) {
    state[0] = x;
    state[1].i = k;
}
static void first_largest(const value *a, const value *b, value *out) {
    bool left = b[1].i < 0 || (a[1].i >= 0 && (a[0].f > b[0].f || (a[0].f == b[0].f && a[1].i < b[1].i)));
    memcpy(out, left ? a : b, 2 * sizeof *out);
}
static value place_of(const value *state, int64_t n) {
    (void)n;
    return state[1];
}

static void affine_of(value x, int64_t k, value *state) {
    (void)k;
    state[0].i = 2 * x.i + 1;
    state[1].i = x.i;
}
static void compose(const value *a, const value *b, value *out) {
    uint64_t factor = (uint64_t)a[0].i * (uint64_t)b[0].i,
             term = (uint64_t)a[1].i * (uint64_t)b[0].i + (uint64_t)b[1].i;
    out[0].i = (int64_t)factor;
    out[1].i = (int64_t)term;
}
static value mixed(const value *state, int64_t n) {
    (void)n;
    return (value){.i = (int64_t)(31 * (uint64_t)state[0].i + (uint64_t)state[1].i)};
}

static value with_count(const value *state, int64_t n) { return (value){.f = state->f + 1e6 * (double)n}; }

#define F64 \
    { kDLFloat, 64, 1 }
#define F32 \
    { kDLFloat, 32, 1 }
#define I64 \
    { kDLInt, 64, 1 }
#define I8 \
    { kDLInt, 8, 1 }
#define FIRST                                                                                                        \
    "(a, i, b, j) -> (c, k) { bool left = j < 0 || (i >= 0 && (a > b || (a == b && i < j))); c = left ? a : b; k = " \
    "left ? i : j; }"

/* clang-format off */
static const model models[] = {
    {"add", "float64,float64->float64", F64, F64, "(x, y) { return x + y; }", {.identity = "0"}, ANY_ORDER, "d", -3, 3, true,
     {{.f = 0}}, NULL, add, NULL},
    {"single", "float32,float32->float32", F32, F32, "(x, y) { return x + y; }", {.identity = "0"}, ANY_ORDER, "d", -3, 3,
     true, {{.f = 0}}, NULL, add, NULL},
    {"plus", "float64,float64->float64", F64, F64, "(x, y) { return x + y; }", {0}, ANY_ORDER, "d", -3, 3, true, {{.f = 0}},
     NULL, add, NULL},
    {"times", "float64,float64->float64", F64, F64, "(x, y) { return x * y; }", {.identity = "1"}, ANY_ORDER, "d", -1, 1, true,
     {{.f = 1}}, NULL, multiply, NULL},
    {"bits", "int64,int64->int64", I64, I64, "(x, y) { return x & y; }", {.identity = "-1"}, ANY_ORDER, "l", -9, -1, false,
     {{.i = -1}}, NULL, both_bits, NULL},
    {"largest", "float64,float64->float64", F64, F64, "(x, y) { return y > x ? y : x; }", {0}, ANY_ORDER, "d", -9, 9, false,
     {{.f = 0}}, NULL, larger, NULL},
    {"walk", "int64,int64->int64", I64, I64, "(x, y) { return abs(x) + abs(y); }", {.identity = "0"}, ANY_ORDER, "l", -9, 2,
     false, {{.i = 0}}, NULL, blocks_walked, NULL},
    {"path", "int64,int64->int64", I64, I64, "(x, y) { return abs(x) + abs(y); }", {0}, ANY_ORDER, "l", -9, 2, false,
     {{.i = 0}}, NULL, blocks_walked, NULL},
    {"divisor", "int64,int64->int64", I64, I64,
     "(x, y) { auto a = abs(x), b = abs(y); while (b != 0) { auto r = a % b; a = b; b = r; } return a; }", {.identity = "0"},
     ANY_ORDER, "l", -60, 60, false, {{.i = 0}}, NULL, divisor, NULL},
    {"backwards", "int64,int64->int64", I64, I64, "(x, y) { return x - y; }", {.identity = "0"}, SERIAL, "l", -9, 9, false,
     {{.i = 0}}, NULL, subtract, NULL},
    {"thrice", "int64,int64->int64", I64, I64, "(x, y) { return 3 * x - y; }", {0}, SERIAL, "l", -9, 9, false, {{.i = 0}}, NULL,
     thrice, NULL},
    {"narrow", "int8->int64", I8, I64, NULL, {.combine = "(a, b) { return a + b; }", .identity = "0"}, ANY_ORDER, "l", -100,
     100, false, {{.i = 0}}, NULL, add_integers, NULL},
    {"counted", "float64->float64", F64, F64, NULL,
     {.combine = "(a, b) { return a + b; }", .finish = "(s, n) { return s + 1e6 * n; }", .identity = "0"}, ANY_ORDER, "d", -9, 9,
     false, {{.f = 0}}, NULL, add, with_count},
    {"argmax", "float64->int64", F64, I64, NULL,
     {.map = "[k](x) -> (v, i) { v = x; i = k; }", .combine = FIRST, .finish = "(v, i) -> (r) { r = i; }",
      .state = "float64,int64"}, ANY_ORDER, "dl", -3, 3, false, {{.f = 0}, {.i = 0}}, with_position, first_largest, place_of},
    {"marked", "float64->int64", F64, I64, NULL,
     {.map = "[k](x) -> (v, i) { v = x; i = k; }", .combine = FIRST, .finish = "(v, i) -> (r) { r = i; }",
      .state = "float64,int64", .identity = "0, -1"}, ANY_ORDER, "dl", -9, -5, false, {{.f = 0}, {.i = -1}}, with_position,
     first_largest, place_of},
    {"affine", "int64->int64", I64, I64, NULL,
     {.map = "(x) -> (a, b) { a = 2 * x + 1; b = x; }", .combine = "(a, b, c, d) -> (e, f) { e = a * c; f = b * c + d; }",
      .finish = "(a, b) -> (r) { r = 31 * a + b; }", .state = "int64,int64", .identity = "1, 0"}, ORDERED | SERIAL, "ll", -9, 9,
     false, {{.i = 1}, {.i = 0}}, affine_of, compose, mixed},
};
/* clang-format on */

enum {
    MODELS = sizeof models / sizeof *models
};
static uf_func *funcs[MODELS];

static int make_functions(void **unused) {
    draw_seed(unused);
    for (int i = 0; i < MODELS; i++) {
        const model *m = &models[i];
        uf_reduction_def def = m->def;
        def.size = sizeof def;
        uf_section section = {m->signature, m->kernel};
        uf_definition d = {
            .size = sizeof d, .name = m->name, .nsections = 1, .sections = &section, .identity = m->def.identity};
        OK(m->kernel ? uf_define(&funcs[i], &d) : uf_reduction(&funcs[i], m->name, m->signature, &def));
    }
    return 0;
}

static int free_functions(void **unused) {
    (void)unused;
    for (int i = 0; i < MODELS; i++)
        uf_free(funcs[i]);
    return 0;
}

/* ---- Elements ---- */

static value read_element(DLDataType t, const void *at) {
    value x = {.f = 0};
    if (t.code == kDLFloat && t.bits == 32)
        x.f = *(const float *)at;
    else if (t.bits == 8)
        x.i = *(const int8_t *)at;
    else
        memcpy(&x, at, sizeof x);
    return x;
}

static void write_element(DLDataType t, double x, void *at) {
    if (t.code == kDLFloat && t.bits == 32)
        *(float *)at = (float)x;
    else if (t.code == kDLFloat)
        *(double *)at = x;
    else if (t.bits == 8)
        *(int8_t *)at = (int8_t)x;
    else
        *(int64_t *)at = (int64_t)x;
}

/* ---- Cases ---- */

typedef enum verb {
    REDUCE,
    ACCUMULATE,
    REDUCEAT
} verb;

typedef enum masking {
    UNMASKED,
    ALL_TRUE,
    ALL_FALSE,
    MIXED,
    SOME_RESULTS, /* of some results no element takes part */
    MASKINGS
} masking;

typedef enum amount {
    NOTHING,
    SINGLE,
    SEVERAL,
    MANY /* so many that a result is computed in parts */
} amount;

typedef struct test {
    const model *m;
    verb verb;
    int order;
    masking masking;
    bool has_initial, keepdims;
    amount size;
    int ndim;
    unsigned axes; /* a bit each */
    int64_t shape[RANK];
    view in, out, mask;
    value initial[VALUES];
    int64_t starts[6], nstarts;
} test;

static bool reduced(const test *t, int d) { return t->axes >> d & 1; }

static int64_t draw_kept(const test *t) {
    static const int64_t some[] = {1, 2, 3, 17, 40};
    return t->size == MANY ? pick(1, 3) : chance(3) ? 0 : some[pick(0, 4)];
}

static void draw_shape(test *t) {
    static const int64_t several[] = {2, 3, 7, 16, 17, 40, 130};
    int last = -1;
    t->ndim = (int)pick(t->size == MANY, RANK);
    for (int d = 0; d < t->ndim; d++)
        t->axes |= (unsigned)chance(60) << d;
    if (t->verb != REDUCE || (t->ndim && !t->axes && t->size != SINGLE)) {
        t->ndim += !t->ndim;
        t->axes = 1u << pick(0, t->ndim - 1);
    }
    for (int d = 0; d < t->ndim; d++) {
        t->shape[d] = !reduced(t, d) ? draw_kept(t) : t->size == SINGLE ? 1 : several[pick(0, t->ndim == 3 ? 4 : 6)];
        last = reduced(t, d) ? d : last;
    }
    if (t->size == MANY)
        t->shape[last] = pick(270000, 300000) / (t->axes == 1u << last ? 1 : 16);
    if (t->size == NOTHING && last >= 0)
        t->shape[last] = 0;
}

static int64_t elements_of(const test *t) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++)
        n *= reduced(t, d) ? t->shape[d] : 1;
    return n;
}

static bool is_empty(const int64_t *shape, int ndim) {
    for (int d = 0; d < ndim; d++)
        if (!shape[d])
            return true;
    return false;
}

/* Does a view of extents 1 here broadcast to the shape? */
static void draw_extents(const test *t, int percent, int64_t *shape) {
    for (int d = 0; d < t->ndim; d++)
        shape[d] = chance(percent) ? 1 : t->shape[d];
}

static void draw_input(test *t) {
    const model *m = t->m;
    int64_t shape[RANK], index[RANK] = {0};
    draw_extents(t, t->masking == UNMASKED ? 0 : 12, shape);
    view_make(&t->in, m->in, t->ndim, shape);
    int zeros = !m->zeros ? 0 : chance(50) ? 100 : 60;
    if (!is_empty(shape, t->ndim))
        do
            write_element(m->in, chance(zeros) ? -0.0 : (double)pick(m->low, m->high), view_at(&t->in, t->ndim, index));
        while (index_next(t->ndim, shape, index));
}

static bool drawn_mask(const test *t, const int64_t *index) {
    int64_t kept = 0;
    for (int d = 0; d < t->ndim; d++)
        kept += reduced(t, d) ? 0 : index[d] + 1;
    switch (t->masking) {
    case ALL_FALSE:
        return false;
    case MIXED:
        return chance(50);
    case SOME_RESULTS:
        return kept % 2 && chance(80);
    default:
        return true;
    }
}

/* What the input lacks of the shape the mask has. */
static void draw_mask(test *t) {
    int64_t shape[RANK], index[RANK] = {0};
    draw_extents(t, t->masking == SOME_RESULTS ? 0 : 20, shape);
    for (int d = 0; d < t->ndim; d++)
        shape[d] = t->in.shape[d] == t->shape[d] ? shape[d] : t->shape[d];
    view_make(&t->mask, (DLDataType){UF_BOOL_CODE, 8, 1}, t->ndim, shape);
    if (!is_empty(shape, t->ndim))
        do
            *(uint8_t *)view_at(&t->mask, t->ndim, index) = drawn_mask(t, index) ? (uint8_t)pick(1, 255) : 0;
        while (index_next(t->ndim, shape, index));
}

static void draw_starts(test *t) {
    int64_t n = elements_of(t);
    t->nstarts = n ? pick(1, 6) : 0;
    for (int64_t i = 0; i < t->nstarts; i++)
        t->starts[i] = pick(0, n - 1);
}

static void draw_output(test *t) {
    int64_t shape[RANK];
    int ndim = 0;
    for (int d = 0; d < t->ndim; d++)
        if (!reduced(t, d) || t->verb == ACCUMULATE)
            shape[ndim++] = t->shape[d];
        else if (t->verb == REDUCEAT || t->keepdims)
            shape[ndim++] = t->verb == REDUCEAT ? t->nstarts : 1;
    view_make(&t->out, t->m->out, ndim, shape);
    memset(t->out.block, 0x5A, (size_t)(t->out.elements * t->m->out.bits / 8));
}

static void draw_initial(test *t) {
    for (size_t k = 0; k < strlen(t->m->state); k++)
        if (t->m->state[k] == 'd')
            t->initial[k].f = chance(50) ? -0.0 : (double)pick(-3, 3);
        else
            t->initial[k].i = pick(-5, 5);
}

static void arrays_draw(test *t) {
    t->keepdims = t->verb == REDUCE && chance(30);
    draw_shape(t);
    draw_input(t);
    if (t->masking)
        draw_mask(t);
    if (t->verb == REDUCEAT)
        draw_starts(t);
    draw_output(t);
    draw_initial(t);
}

static void arrays_free(test *t) {
    view_free(&t->in);
    view_free(&t->out);
    if (t->masking)
        view_free(&t->mask);
}

static const char *text_of(const test *t) {
    static char text[512];
    static const char *const sizes[] = {"nothing", "single", "several", "many"};
    int n = snprintf(text, sizeof text, "%s, verb %d, order %d, masking %d, initial %d, %s, keepdims %d:", t->m->name,
                     t->verb, t->order, t->masking, t->has_initial, sizes[t->size], t->keepdims);
    for (int d = 0; d < t->ndim; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %lld%s (strides %lld, %lld)", (long long)t->shape[d],
                      reduced(t, d) ? "*" : "", (long long)t->in.strides[d],
                      t->masking ? (long long)t->mask.strides[d] : 0);
    return text;
}

/* ---- What must come out ---- */

typedef struct running {
    bool any;
    value state[VALUES];
    int64_t n;
} running;

static running begun(const test *t) {
    running r = {.any = t->verb == REDUCE && (t->has_initial || t->m->def.identity)};
    memcpy(r.state, t->has_initial ? t->initial : t->m->identity, sizeof r.state);
    return r;
}

static void take(const test *t, running *r, const int64_t *index, int64_t k) {
    const model *m = t->m;
    value x, state[VALUES] = {{.f = 0}}, both[VALUES];
    if (t->masking && !*(const uint8_t *)view_at(&t->mask, t->ndim, index))
        return;
    x = read_element(m->in, view_at(&t->in, t->ndim, index));
    if (m->map)
        m->map(x, k, state);
    else
        state[0] = x;
    if (r->any)
        m->combine(r->state, state, both);
    memcpy(r->state, r->any ? both : state, sizeof r->state);
    r->any = true;
    r->n++;
}

/* Compares a result and marks it as seen. */
static void check_result(const test *t, const running *r, const int64_t *at) {
    value wanted = t->m->finish ? t->m->finish(r->state, r->n) : r->state[0];
    void *place = view_at(&t->out, t->out.host.ndim, at);
    value got = read_element(t->m->out, place);
    if (memcmp(&got, &wanted, sizeof got) != 0) {
        bool floating = t->m->out.code == kDLFloat;
        fail_msg("%s\n%lld elements take part: %.17g, but must be %.17g", text_of(t), (long long)r->n,
                 floating ? got.f : (double)got.i, floating ? wanted.f : (double)wanted.i);
    }
    memset(place, 0x5A, t->m->out.bits / 8);
}

/* The index of a result from that of an element. */
static void result_index(const test *t, const int64_t *index, int64_t segment, int64_t *at) {
    for (int d = 0, i = 0; d < t->ndim; d++)
        if (!reduced(t, d) || t->verb == ACCUMULATE)
            at[i++] = index[d];
        else if (t->verb == REDUCEAT || t->keepdims)
            at[i++] = t->verb == REDUCEAT ? segment : 0;
}

/* Elements from .. to - 1 of the line at a kept index; index changes in the reduced dimensions. */
static void check_line(const test *t, int64_t *index, int64_t segment, int64_t from, int64_t to) {
    int64_t at[RANK] = {0};
    running r = begun(t);
    for (int64_t k = from; k < to; k++) {
        int64_t rest = k;
        for (int d = t->ndim - 1; d >= 0; d--)
            if (reduced(t, d)) {
                index[d] = rest % t->shape[d];
                rest /= t->shape[d];
            }
        take(t, &r, index, k);
        result_index(t, index, segment, at);
        if (t->verb == ACCUMULATE)
            check_result(t, &r, at);
    }
    result_index(t, index, segment, at);
    if (t->verb != ACCUMULATE)
        check_result(t, &r, at);
}

static void check_results(const test *t) {
    int64_t kept[RANK], index[RANK] = {0}, n = elements_of(t);
    for (int d = 0; d < t->ndim; d++)
        kept[d] = reduced(t, d) ? 1 : t->shape[d];
    bool none = is_empty(kept, t->ndim);
    while (!none) {
        int64_t line[RANK];
        for (int64_t s = 0; s < t->nstarts; s++) {
            int64_t begin = t->starts[s], end = s + 1 < t->nstarts ? t->starts[s + 1] : n;
            memcpy(line, index, sizeof line);
            check_line(t, line, s, begin, end > begin ? end : begin + 1);
        }
        memcpy(line, index, sizeof line);
        if (t->verb != REDUCEAT)
            check_line(t, line, 0, 0, n);
        none = !index_next(t->ndim, kept, index);
    }
    for (int64_t i = 0; i < t->out.elements * t->m->out.bits / 8; i++)
        if (t->out.block[i] != 0x5A)
            fail_msg("%s: written to where it has no result", text_of(t));
}

/* ---- Calling ---- */

static unsigned order_flags(const test *t) {
    return t->order == SERIAL ? UF_SERIAL : t->order == ORDERED ? UF_ORDERED : 0;
}

/* An initial value in one of the dtypes that cast to the state's. */
static DLTensor initial_of(const value *x, char type, void *room) {
    DLTensor t = {.data = room, .device = {kDLCPU, 0}, .dtype = I64};
    bool whole = type == 'l' || (x->f == floor(x->f) && !(x->f == 0 && signbit(x->f)));
    int64_t integer = type == 'l' ? x->i : (int64_t)x->f;
    int how = (int)pick(type == 'l' ? 2 : 0, whole ? 3 : 1);
    t.dtype = (DLDataType[]){F64, F32, I64, I8}[how];
    write_element(t.dtype, type == 'l' ? (double)integer : x->f, room);
    return t;
}

static uf_status call(test *t) {
    const uf_func *f = funcs[t->m - models];
    DLTensor args[] = {t->in.used, t->out.used}, initial[VALUES];
    uf_options o = {.size = sizeof o, .flags = order_flags(t), .threads = (int)pick(0, 2)};
    uf_reduce_options r = {.size = sizeof r, .flags = o.flags, .threads = o.threads, .keepdims = t->keepdims};
    int axes[RANK], axis = 0;
    double room[VALUES];
    for (int d = 0; d < t->ndim; d++)
        if (reduced(t, d))
            axes[r.naxes++] = axis = chance(50) ? d : d - t->ndim;
    if (!r.naxes)
        r.naxes = UF_NO_AXES;
    if (t->verb != REDUCE)
        return t->verb == ACCUMULATE ? uf_accumulate(f, 2, args, axis, &o)
                                     : uf_reduceat(f, 2, args, &UF_ARRAY(t->starts, t->nstarts), axis, &o);
    for (size_t k = 0; k < strlen(t->m->state); k++)
        initial[k] = initial_of(&t->initial[k], t->m->state[k], &room[k]);
    r.axes = r.naxes > 0 ? axes : NULL;
    r.initial = t->has_initial ? initial : NULL;
    r.where = t->masking ? &t->mask.used : NULL;
    return uf_reduce(f, 2, args, &r);
}

static void check(test *t) {
    arrays_draw(t);
    bool begins = t->has_initial || t->m->def.identity || t->verb != REDUCE;
    GOOD(view_send(&t->in));
    GOOD(view_send(&t->out));
    GOOD(t->masking ? view_send(&t->mask) : NULL);
    if (!begins && (t->masking || !elements_of(t))) {
        FAILS(UF_ERR_ARGUMENT, "has no identity; initial values are needed", call(t));
    } else {
        if (call(t))
            fail_msg("%s: %s", text_of(t), uf_last_error()->message);
        GOOD(view_fetch(&t->out));
        check_results(t);
    }
    arrays_free(t);
}

/* ---- The search ---- */

static void each_order(void (*search)(const model *m, int order)) {
    for (int i = 0; i < MODELS; i++)
        for (int order = FREE; order <= SERIAL; order *= 2)
            if (models[i].orders & order)
                search(&models[i], order);
}

static void search_reductions(const model *m, int order) {
    for (int mask = 0; mask < MASKINGS; mask++)
        for (int initial = 0; initial < 2; initial++)
            for (int size = NOTHING; size <= SEVERAL; size++)
                for (int64_t i = trials(4); i > 0; i--)
                    if (chance(10))
                        check(&(test){.m = m, .order = order, .masking = mask, .has_initial = initial, .size = size});
}

static void reductions(void **unused) {
    (void)unused;
    each_order(search_reductions);
}

/* Of so many elements that a result has parts, some of which have no element. */
static void search_parts(const model *m, int order) {
    for (int64_t i = trials(1); i > 0; i--)
        for (int initial = 0; initial < 2; initial++)
            check(&(test){.m = m,
                          .order = order,
                          .masking = (masking)pick(0, MASKINGS - 1),
                          .has_initial = initial,
                          .size = MANY});
}

static void parts(void **unused) {
    (void)unused;
    each_order(search_parts);
}

static void search_lines(const model *m, int order) {
    for (int64_t i = trials(1); i > 0; i--)
        for (int size = NOTHING; size <= SEVERAL; size++) {
            check(&(test){.m = m, .verb = ACCUMULATE, .order = order, .size = size});
            check(&(test){.m = m, .verb = REDUCEAT, .order = order, .size = size});
        }
}

static void scans_and_segments(void **unused) {
    (void)unused;
    each_order(search_lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(parts),
        cmocka_unit_test(scans_and_segments),
    };
    return cmocka_run_group_tests(tests, make_functions, free_functions);
}
