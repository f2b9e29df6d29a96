/* test_fold_call.c - uf_reduce, uf_accumulate and uf_reduceat on the CPU: results against loops in C, one element after the
 * other, over random shapes, strides, axes, masks and initial values; then what is worth knowing exactly. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "draw.h"
#include "expect.h"

enum {
    MAX_RANK = 4,
    VALUES = 4 /* of a state, and operands on one side */
};

/* ---- Folds, and what they are in C ---- */

typedef union value {
    double f;
    int64_t i;
} value;

typedef struct model {
    const char *name, *signature;
    const char *types; /* of inputs, outputs, state: 'd' or 'l' */
    int nin, nout, nstate;
    uf_reduction_def def;
    const char *binary; /* in place of the definition: a binary function's source */
    unsigned flags;
    void (*map)(const value *in, int64_t k, value *state);
    void (*combine)(const value *a, const value *b, value *out);
    void (*finish)(const value *state, int64_t n, value *out);
    const value *identity;
    double tolerance;
    int spread; /* elements are from -spread to spread */
} model;

static void first_in(const value *in, int64_t k, value *state) {
    (void)k;
    state[0] = in[0];
}
static void all_out(const value *state, int64_t n, value *out) {
    (void)n;
    memcpy(out, state, VALUES * sizeof *out);
}

static void add(const value *a, const value *b, value *out) { out[0].f = a[0].f + b[0].f; }
static void subtract(const value *a, const value *b, value *out) { out[0].f = a[0].f - b[0].f; }
static void multiply_in(const value *in, int64_t k, value *state) {
    (void)k;
    state[0].f = in[0].f * in[1].f;
}

static void with_position(const value *in, int64_t k, value *state) {
    state[0] = in[0];
    state[1].i = k;
}
static void larger(const value *a, const value *b, value *out) {
    bool second = b[0].f > a[0].f || (b[0].f == a[0].f && b[1].i < a[1].i);
    memcpy(out, second ? b : a, 2 * sizeof *out);
}
static void place_out(const value *state, int64_t n, value *out) {
    (void)n;
    out[0] = state[1];
}

static void one_sample(const value *in, int64_t k, value *state) {
    (void)k;
    state[0].f = 1;
    state[1] = in[0];
    state[2].f = 0;
}
static void pool(const value *a, const value *b, value *out) {
    double n = a[0].f + b[0].f, d = b[1].f - a[1].f, share = n != 0 ? b[0].f / n : 0;
    out[0].f = n;
    out[1].f = a[1].f + d * share;
    out[2].f = a[2].f + b[2].f + d * d * a[0].f * share;
}
static void mean_and_variance(const value *state, int64_t n, value *out) {
    out[0] = state[1];
    out[1].f = state[2].f / (double)n;
}

static void twice_in(const value *in, int64_t k, value *state) {
    (void)k;
    state[0] = state[1] = in[0];
}
static void least_and_most(const value *a, const value *b, value *out) {
    out[0].f = b[0].f < a[0].f ? b[0].f : a[0].f;
    out[1].f = b[1].f > a[1].f ? b[1].f : a[1].f;
}

static void four_in(const value *in, int64_t k, value *state) {
    (void)k;
    memcpy(state, in, VALUES * sizeof *in);
}
static void matrix_product(const value *a, const value *b, value *out) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            out[2 * i + j].i =
                (int64_t)((uint64_t)a[2 * i].i * (uint64_t)b[j].i + (uint64_t)a[2 * i + 1].i * (uint64_t)b[2 + j].i);
}

static const value zero[VALUES], unit[VALUES] = {{.i = 1}, {.i = 0}, {.i = 0}, {.i = 1}};

static const model models[] = {
    {.name = "sum",
     .signature = "float64->float64",
     .types = "ddd",
     .nin = 1,
     .nout = 1,
     .nstate = 1,
     .def = {.combine = "(a, b) { return a + b; }", .identity = "0"},
     .map = first_in,
     .combine = add,
     .finish = all_out,
     .identity = zero,
     .spread = 1000},
    {.name = "dot",
     .signature = "float64,float64->float64",
     .types = "dddd",
     .nin = 2,
     .nout = 1,
     .nstate = 1,
     .def = {.map = "(x, y) { return x * y; }", .combine = "(a, b) { return a + b; }", .identity = "0"},
     .map = multiply_in,
     .combine = add,
     .finish = all_out,
     .identity = zero,
     .spread = 1000},
    {.name = "argmax",
     .signature = "float64->int64",
     .types = "dldl",
     .nin = 1,
     .nout = 1,
     .nstate = 2,
     .def = {.map = "[k](x) -> (v, i) { v = x; i = k; }",
             .combine = "(a, i, b, j) -> (c, k) { if (b > a || (b == a && j < i)) { c = b; k = j; } else { c = a; k = "
                        "i; } }",
             .finish = "(v, i) -> (r) { r = i; }",
             .state = "float64,int64"},
     .map = with_position,
     .combine = larger,
     .finish = place_out,
     .spread = 3},
    {.name = "spread",
     .signature = "float64->float64,float64",
     .types = "dddddd",
     .nin = 1,
     .nout = 2,
     .nstate = 3,
     .def = {.map = "(x) -> (c, m, s) { c = 1; m = x; s = 0; }",
             .combine = "(n, m, s, k, l, t) -> (c, o, u) { auto d = l - m; c = n + k; auto p = c != 0 ? k / c : 0; "
                        "o = m + d * p; u = s + t + d * d * n * p; }",
             .finish = "(c, m, s, n) -> (mean, var) { mean = m; var = s / n; }",
             .state = "float64,float64,float64",
             .identity = "0, 0, 0"},
     .map = one_sample,
     .combine = pool,
     .finish = mean_and_variance,
     .identity = zero,
     .tolerance = 1e-9,
     .spread = 50},
    {.name = "minmax",
     .signature = "float64->float64,float64",
     .types = "ddddd",
     .nin = 1,
     .nout = 2,
     .nstate = 2,
     .def = {.map = "(x) -> (a, b) { a = x; b = x; }",
             .combine = "(a, b, c, d) -> (e, f) { e = c < a ? c : a; f = d > b ? d : b; }"},
     .map = twice_in,
     .combine = least_and_most,
     .finish = all_out,
     .spread = 1000},
    {.name = "matrices",
     .signature = "int64,int64,int64,int64->int64,int64,int64,int64",
     .types = "llllllllllll",
     .nin = 4,
     .nout = 4,
     .nstate = 4,
     .def = {.combine = "(a, b, c, d, e, f, g, h) -> (p, q, r, s) { p = a * e + b * g; q = a * f + b * h; r = c * e + "
                        "d * g; s = c * f + d * h; }",
             .identity = "1, 0, 0, 1",
             .flags = UF_ORDERED},
     .map = four_in,
     .combine = matrix_product,
     .finish = all_out,
     .identity = unit,
     .spread = 3},
    {.name = "difference",
     .signature = "float64,float64->float64",
     .types = "ddd",
     .nin = 1,
     .nout = 1,
     .nstate = 1,
     .binary = "(a, b) { return a - b; }",
     .flags = UF_SERIAL,
     .map = first_in,
     .combine = subtract,
     .finish = all_out,
     .spread = 1000},
};
enum {
    MODELS = sizeof models / sizeof *models
};
static uf_func *funcs[MODELS];

static uf_func *model_make(const model *m) {
    uf_func *f = NULL;
    uf_reduction_def def = m->def;
    def.size = sizeof def;
    uf_section section = {m->signature, m->binary};
    uf_definition d = {
        .size = sizeof d, .name = m->name, .nsections = 1, .sections = &section, .flags = m->binary ? m->flags : 0};
    uf_status s = m->binary ? uf_define(&f, &d) : uf_reduction(&f, m->name, m->signature, &def);
    if (s)
        fail_msg("%s: %s", m->name, uf_last_error()->message);
    return f;
}

static int make_models(void **unused) {
    draw_seed(unused);
    for (int i = 0; i < MODELS; i++)
        funcs[i] = model_make(&models[i]);
    return 0;
}

static int free_models(void **unused) {
    (void)unused;
    for (int i = 0; i < MODELS; i++)
        uf_free(funcs[i]);
    return 0;
}

/* ---- Random arrays ---- */

typedef struct array {
    DLTensor t;
    int64_t shape[MAX_RANK], strides[MAX_RANK];
    value *block;
    int64_t first, size; /* element 0 in the block, its elements */
} array;

static const value canary = {.i = 0x5A5A5A5A5A5A5A5A};

static int64_t count_of(int ndim, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= shape[d];
    return n;
}

/* A permuted, stepped, perhaps reversed box with a margin; content is the caller's. */
static void array_make(array *a, char type, int ndim, const int64_t *shape, bool plain) {
    int order[MAX_RANK];
    int64_t dense = 1, low = 0;
    memset(a, 0, sizeof *a);
    a->t = (DLTensor){.device = {kDLCPU, 0},
                      .ndim = ndim,
                      .dtype = {type == 'd' ? kDLFloat : kDLInt, 64, 1},
                      .shape = a->shape,
                      .strides = a->strides};
    for (int d = 0; d < ndim; d++) {
        int other = !plain && chance(40) ? (int)pick(0, d) : d;
        order[d] = other == d ? d : order[other];
        order[other] = d;
        a->shape[d] = shape[d];
    }
    for (int i = ndim - 1; i >= 0; i--) {
        int d = order[i];
        int64_t step = plain || chance(70) ? 1 : pick(2, 3);
        a->strides[d] = dense * step * (!plain && chance(30) ? -1 : 1);
        dense *= shape[d] > 0 ? shape[d] * step : 1;
        if (a->strides[d] < 0 && shape[d] > 0)
            low += (shape[d] - 1) * a->strides[d];
    }
    a->first = 2 - low;
    a->size = dense + 4;
    a->block = malloc((size_t)a->size * sizeof *a->block);
    for (int64_t i = 0; i < a->size; i++)
        a->block[i] = canary;
    a->t.data = a->block;
    a->t.byte_offset = (uint64_t)a->first * sizeof *a->block;
    if (plain)
        a->t.strides = NULL;
}

/* Where the element at an index is; broadcasts. */
static value *element(const array *a, int ndim, const int64_t *index) {
    int64_t at = a->first;
    for (int d = 0; d < a->t.ndim; d++)
        at += a->shape[d] == 1 ? 0 : index[ndim - a->t.ndim + d] * a->strides[d];
    return &a->block[at];
}

static bool next_index(int ndim, const int64_t *shape, int64_t *index) {
    for (int d = ndim - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static void array_fill(array *a, char type, int spread) {
    int64_t index[MAX_RANK] = {0};
    if (count_of(a->t.ndim, a->shape))
        do {
            int64_t x = pick(-spread, spread);
            if (type == 'd')
                element(a, a->t.ndim, index)->f = (double)x;
            else
                element(a, a->t.ndim, index)->i = x;
        } while (next_index(a->t.ndim, a->shape, index));
}

/* ---- A random call ---- */

typedef enum verb {
    REDUCE,
    ACCUMULATE,
    REDUCEAT
} verb;

typedef struct call {
    const model *m;
    verb verb;
    int ndim, naxes, axes[MAX_RANK], results_ndim;
    bool reduced[MAX_RANK], keepdims;
    int64_t shape[MAX_RANK], results[MAX_RANK];
    array in[VALUES], out[VALUES];
    uint8_t *mask; /* C-contiguous over the shape's last mask_ndim dimensions; NULL: none */
    int mask_ndim;
    value initial[VALUES];
    bool has_initial;
    int64_t starts[8], nstarts;
} call;

static void draw_shape(call *c, bool large) {
    c->ndim = (int)pick(c->verb != REDUCE, MAX_RANK);
    for (int d = 0; d < c->ndim; d++)
        c->shape[d] = chance(4) ? 0 : chance(15) ? 1 : pick(1, c->ndim > 2 ? 6 : 40);
    if (large) {
        c->ndim = (int)pick(1, 2);
        c->shape[0] = c->ndim == 1 ? pick(250000, 400000) : pick(1, 5);
        c->shape[1] = pick(60000, 140000);
        if (c->ndim == 2 && chance(50)) {
            c->shape[0] = c->shape[1];
            c->shape[1] = pick(1, 5);
        }
    }
}

static void draw_axes(call *c) {
    int one = c->ndim ? (int)pick(0, c->ndim - 1) : 0;
    for (int d = 0; d < c->ndim; d++)
        if (c->verb == REDUCE ? chance(60) : d == one) {
            c->reduced[d] = true;
            c->axes[c->naxes++] = chance(50) ? d : d - c->ndim;
        }
    c->keepdims = c->verb == REDUCE && chance(30);
}

static void draw_starts(call *c) {
    int64_t extent = 0;
    for (int d = 0; d < c->ndim; d++)
        extent = c->reduced[d] ? c->shape[d] : extent;
    c->nstarts = extent > 0 ? pick(0, 7) : 0;
    for (int64_t i = 0; i < c->nstarts; i++)
        c->starts[i] = pick(0, extent - 1);
}

static void find_results(call *c) {
    for (int d = 0; d < c->ndim; d++)
        if (!c->reduced[d] || c->verb == ACCUMULATE)
            c->results[c->results_ndim++] = c->shape[d];
        else if (c->verb == REDUCEAT)
            c->results[c->results_ndim++] = c->nstarts;
        else if (c->keepdims)
            c->results[c->results_ndim++] = 1;
}

static void draw_inputs(call *c, bool plain) {
    for (int k = 0; k < c->m->nin; k++) {
        int64_t shape[MAX_RANK];
        int ndim = k && chance(20) ? (int)pick(0, c->ndim) : c->ndim;
        for (int d = 0; d < ndim; d++)
            shape[d] = k && chance(10) ? 1 : c->shape[c->ndim - ndim + d];
        array_make(&c->in[k], c->m->types[k], ndim, shape, plain || chance(40));
        array_fill(&c->in[k], c->m->types[k], c->m->spread);
    }
}

static void draw_initial(call *c) {
    c->has_initial = true;
    for (int k = 0; k < c->m->nstate; k++)
        if (c->m->types[c->m->nin + c->m->nout + k] == 'd')
            c->initial[k].f = (double)pick(0, 4);
        else
            c->initial[k].i = pick(0, 4);
}

static void draw_mask(call *c) {
    c->mask_ndim = (int)pick(0, c->ndim);
    int64_t n = count_of(c->mask_ndim, c->shape + c->ndim - c->mask_ndim);
    int percent = chance(20) ? 0 : 60;
    c->mask = malloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        c->mask[i] = chance(percent) ? (uint8_t)pick(1, 255) : 0;
}

static void call_draw(call *c, const model *m, verb what, bool large) {
    memset(c, 0, sizeof *c);
    c->m = m;
    c->verb = what;
    draw_shape(c, large);
    draw_axes(c);
    if (what == REDUCEAT)
        draw_starts(c);
    find_results(c);
    draw_inputs(c, large && chance(50));
    for (int k = 0; k < m->nout; k++)
        array_make(&c->out[k], m->types[m->nin + k], c->results_ndim, c->results, chance(40));
    if (what == REDUCE && chance(30))
        draw_initial(c);
    if (what == REDUCE && chance(30) && (m->identity || c->has_initial))
        draw_mask(c);
}

static void call_free(call *c) {
    for (int k = 0; k < VALUES; k++) {
        free(c->in[k].block);
        free(c->out[k].block);
    }
    free(c->mask);
}

/* ---- The oracle ---- */

typedef struct running {
    bool any; /* is there a state yet? */
    value state[VALUES];
    int64_t n;
} running;

static void running_begin(const call *c, running *r) {
    memset(r, 0, sizeof *r);
    r->any = c->has_initial;
    if (c->has_initial)
        memcpy(r->state, c->initial, sizeof r->state);
}

static void running_add(const call *c, running *r, const int64_t *index, int64_t k) {
    value in[VALUES], state[VALUES], both[VALUES];
    if (c->mask) {
        int64_t at = 0;
        for (int d = c->ndim - c->mask_ndim; d < c->ndim; d++)
            at = at * c->shape[d] + index[d];
        if (!c->mask[at])
            return;
    }
    for (int i = 0; i < c->m->nin; i++)
        in[i] = *element(&c->in[i], c->ndim, index);
    c->m->map(in, k, state);
    r->n++;
    if (r->any)
        c->m->combine(r->state, state, both);
    memcpy(r->state, r->any ? both : state, sizeof r->state);
    r->any = true;
}

static bool near(const model *m, char type, value got, value expected) {
    if (type == 'l')
        return got.i == expected.i;
    if (isnan(expected.f))
        return isnan(got.f);
    return got.f == expected.f || fabs(got.f - expected.f) <= m->tolerance * (1 + fabs(expected.f));
}

/* A result, which is then marked as seen. */
static void check_result(const call *c, const running *r, const int64_t *at) {
    value out[VALUES];
    c->m->finish(r->any ? r->state : c->m->identity, r->n, out);
    for (int k = 0; k < c->m->nout; k++) {
        value *got = element(&c->out[k], c->results_ndim, at);
        if (!near(c->m, c->m->types[c->m->nin + k], *got, out[k]))
            fail_msg("%s, verb %d, output %d: %.17g (%lld), but %.17g (%lld) expected; rank %d, %lld elements, "
                     "initial %d, mask %d",
                     c->m->name, c->verb, k, got->f, (long long)got->i, out[k].f, (long long)out[k].i, c->ndim,
                     (long long)r->n, c->has_initial, c->mask != NULL);
        *got = canary;
    }
}

/* The index of a result from that of an element. */
static void result_index(const call *c, const int64_t *index, int64_t segment, int64_t *at) {
    for (int d = 0, i = 0; d < c->ndim; d++)
        if (!c->reduced[d] || c->verb == ACCUMULATE)
            at[i++] = index[d];
        else if (c->verb == REDUCEAT)
            at[i++] = segment;
        else if (c->keepdims)
            at[i++] = 0;
}

/* Elements from..to of what is reduced at the kept index; index is changed in the reduced dimensions. */
static void check_line(const call *c, int64_t *index, int64_t segment, int64_t from, int64_t to) {
    int64_t at[MAX_RANK];
    running r;
    running_begin(c, &r);
    for (int64_t k = from; k < to; k++) {
        int64_t rest = k;
        for (int d = c->ndim - 1; d >= 0; d--)
            if (c->reduced[d]) {
                index[d] = rest % c->shape[d];
                rest /= c->shape[d];
            }
        running_add(c, &r, index, k);
        result_index(c, index, segment, at);
        if (c->verb == ACCUMULATE)
            check_result(c, &r, at);
    }
    result_index(c, index, segment, at);
    if (c->verb != ACCUMULATE)
        check_result(c, &r, at);
}

static void check_results(const call *c) {
    int64_t kept[MAX_RANK], index[MAX_RANK] = {0}, elements = 1;
    for (int d = 0; d < c->ndim; d++) {
        kept[d] = c->reduced[d] ? 1 : c->shape[d];
        elements *= c->reduced[d] ? c->shape[d] : 1;
    }
    if (count_of(c->ndim, kept))
        do {
            int64_t i[MAX_RANK];
            for (int64_t s = 0; s < c->nstarts; s++) {
                int64_t end = s + 1 < c->nstarts ? c->starts[s + 1] : elements;
                memcpy(i, index, sizeof i);
                check_line(c, i, s, c->starts[s], end > c->starts[s] ? end : c->starts[s] + 1);
            }
            memcpy(i, index, sizeof i);
            if (c->verb != REDUCEAT)
                check_line(c, i, 0, 0, elements);
        } while (next_index(c->ndim, kept, index));
    for (int k = 0; k < c->m->nout; k++)
        for (int64_t i = 0; i < c->out[k].size; i++)
            if (c->out[k].block[i].i != canary.i)
                fail_msg("%s: output %d was written where it has no element", c->m->name, k);
}

/* ---- Calling ---- */

static DLTensor scalar_of(value *v, char type) {
    return (DLTensor){.data = v, .device = {kDLCPU, 0}, .dtype = {type == 'd' ? kDLFloat : kDLInt, 64, 1}};
}

static uf_status call_it(call *c) {
    const model *m = c->m;
    const uf_func *f = funcs[m - models];
    DLTensor args[2 * VALUES], initial[VALUES],
        mask = {.data = c->mask,
                .device = {kDLCPU, 0},
                .ndim = c->mask_ndim,
                .dtype = {UF_BOOL_CODE, 8, 1},
                .shape = c->shape + c->ndim - c->mask_ndim};
    for (int k = 0; k < m->nin; k++)
        args[k] = c->in[k].t;
    for (int k = 0; k < m->nout; k++)
        args[m->nin + k] = c->out[k].t;
    for (int k = 0; k < m->nstate; k++)
        initial[k] = scalar_of(&c->initial[k], m->types[m->nin + m->nout + k]);
    int n = m->nin + m->nout;
    if (c->verb == ACCUMULATE)
        return uf_accumulate(f, n, args, c->axes[0], NULL);
    if (c->verb == REDUCEAT)
        return uf_reduceat(f, n, args, &UF_ARRAY(c->starts, c->nstarts), c->axes[0], NULL);
    bool all = c->naxes == c->ndim && chance(50);
    uf_reduce_options o = {.size = sizeof o,
                           .naxes = all        ? 0
                                    : c->naxes ? c->naxes
                                               : UF_NO_AXES,
                           .axes = all ? NULL : c->axes,
                           .keepdims = c->keepdims,
                           .initial = c->has_initial ? initial : NULL,
                           .where = c->mask ? &mask : NULL,
                           .threads = (int)pick(0, 2)};
    return uf_reduce(f, n, args, &o);
}

/* No elements and neither identity nor initial values, even if there are no results either. */
static bool reduces_nothing(const call *c) {
    int64_t elements = 1;
    for (int d = 0; d < c->ndim; d++)
        elements *= c->reduced[d] ? c->shape[d] : 1;
    return c->verb == REDUCE && elements == 0 && !c->m->identity && !c->has_initial;
}

static void check_random(const model *m, verb what, bool large) {
    call c;
    call_draw(&c, m, what, large);
    uf_status s = call_it(&c);
    if (reduces_nothing(&c)) {
        assert_int_equal(s, UF_ERR_ARGUMENT);
        assert_non_null(strstr(uf_last_error()->message, "no elements to reduce"));
    } else {
        if (s)
            fail_msg("%s, verb %d: %s", m->name, what, uf_last_error()->message);
        check_results(&c);
    }
    call_free(&c);
}

static void reductions(void **unused) {
    (void)unused;
    for (int64_t t = trials(250); t > 0; t--)
        check_random(&models[pick(0, MODELS - 1)], REDUCE, false);
}

static void reductions_in_parts(void **unused) {
    (void)unused;
    for (int i = 0; i < MODELS; i++)
        for (int64_t t = trials(2); t > 0; t--)
            check_random(&models[i], REDUCE, true);
}

static void accumulations(void **unused) {
    (void)unused;
    for (int64_t t = trials(125); t > 0; t--)
        check_random(&models[pick(0, MODELS - 1)], ACCUMULATE, false);
}

static void segments(void **unused) {
    (void)unused;
    for (int64_t t = trials(125); t > 0; t--)
        check_random(&models[pick(0, MODELS - 1)], REDUCEAT, false);
}

/* ---- What is worth knowing exactly ---- */

static uf_func *func(const char *name) {
    for (int i = 0; i < MODELS; i++)
        if (strcmp(models[i].name, name) == 0)
            return funcs[i];
    return NULL;
}

static const uf_reduce_options *along(int axis) {
    static int axes[1];
    static uf_reduce_options o = {.size = sizeof o, .naxes = 1, .axes = axes};
    axes[0] = axis;
    return &o;
}

static void no_axes_map_and_finish(void **unused) {
    (void)unused;
    double x[3] = {2, 3, 4}, mean[3], var[3];
    OK(uf_reduce(func("spread"), 3, (DLTensor[]){UF_ARRAY(x, 3), UF_ARRAY(mean, 3), UF_ARRAY(var, 3)},
                 &(uf_reduce_options){.size = sizeof(uf_reduce_options), .naxes = UF_NO_AXES}));
    assert_true(mean[0] == 2 && mean[2] == 4 && var[1] == 0);
}

static void numbers_reduce_to_themselves(void **unused) {
    (void)unused;
    double r = 0;
    const DLTensor to = UF_OUT(r);
    OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_SCALAR(5.0), to}, NULL));
    assert_true(r == 5);
    double x[4] = {1, 2, 3, 4};
    OK(uf_reduce(func("dot"), 3, (DLTensor[]){UF_ARRAY(x, 4), UF_SCALAR(3), to}, NULL));
    assert_true(r == 30);
}

static void a_mask_broadens(void **unused) {
    (void)unused;
    double x[2] = {1, 10}, r[1];
    bool mask[3][2] = {{true, true}, {true, false}, {true, true}};
    DLTensor where = UF_ARRAY(&mask[0][0], 3, 2), to = UF_ARRAY(r, 1);
    to.ndim = 0;
    OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_ARRAY(x, 2), to},
                 &(uf_reduce_options){.size = sizeof(uf_reduce_options), .where = &where}));
    assert_true(r[0] == 23);
}

static void initial_values_are_converted(void **unused) {
    (void)unused;
    double x[2] = {1, 10}, r[1];
    DLTensor to = UF_ARRAY(r, 1);
    to.ndim = 0;
    OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_ARRAY(x, 2), to},
                 &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &UF_SCALAR((short)-3)}));
    assert_true(r[0] == 8);
}

/* x[0] - x[1] - ..; the initial value is the left operand of all. */
static void serial_folds_go_left_to_right(void **unused) {
    (void)unused;
    double x[4] = {100, 1, 2, 3}, r[4], first = 1000;
    DLTensor to = UF_ARRAY(r, 1), initial = UF_SCALAR(0.0);
    to.ndim = 0;
    initial.data = &first;
    OK(uf_reduce(func("difference"), 2, (DLTensor[]){UF_ARRAY(x, 4), to}, NULL));
    assert_true(r[0] == 94);
    OK(uf_reduce(func("difference"), 2, (DLTensor[]){UF_ARRAY(x, 4), to},
                 &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &initial}));
    assert_true(r[0] == 894);
    OK(uf_accumulate(func("difference"), 2, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(r, 4)}, -1, NULL));
    assert_true(r[0] == 100 && r[1] == 99 && r[2] == 97 && r[3] == 94);
}

static void starts_of_any_integer_dtype(void **unused) {
    (void)unused;
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, r[4];
    int8_t narrow[4] = {0, 4, 1, 5};
    uint64_t backwards[4] = {5, 1, 4, 0};
    int64_t minus = -1;
    DLTensor reversed = UF_ARRAY(backwards, 4);
    reversed.strides = &minus;
    reversed.byte_offset = 24;
    const DLTensor starts[2] = {UF_ARRAY(narrow, 4), reversed};
    for (int i = 0; i < 2; i++) {
        OK(uf_reduceat(func("sum"), 2, (DLTensor[]){UF_ARRAY(x, 8), UF_ARRAY(r, 4)}, &starts[i], 0, NULL));
        assert_true(r[0] == 10 && r[1] == 5 && r[2] == 14 && r[3] == 21);
    }
}

/* Elements are combined in the same order whether they lie side by side, where few are held in registers, or apart. */
static void strides_change_no_bits(void **unused) {
    (void)unused;
    enum {
        N = 2100
    };
    static float dense[N], apart[2 * N];
    for (int64_t i = 0; i < N; i++)
        dense[i] = apart[2 * i] = (float)(pick(1, 1 << 20) * (chance(50) ? 1e-6 : 1e6));
    for (int64_t n = 1; n <= N; n += n < 140 ? 1 : pick(1, 97)) {
        float sums[2];
        DLTensor x = UF_ARRAY(apart, n);
        x.strides = (int64_t[]){2};
        OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_ARRAY(dense, n), UF_OUT(sums[0])}, NULL));
        OK(uf_reduce(func("sum"), 2, (DLTensor[]){x, UF_OUT(sums[1])}, NULL));
        assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
    }
}

/* Results are written over starts that are not used yet; the starts are those of the beginning. */
static void outputs_may_overlap_starts(void **unused) {
    (void)unused;
    enum {
        N = 12
    };
    int64_t x[N], both[2 * N];
    for (int shift = -N / 2; shift <= N / 2; shift++) {
        int64_t *starts = both + N / 2, *sums = starts + shift;
        for (int64_t i = 0; i < N; i++) {
            x[i] = i + 1;
            starts[i] = i;
        }
        OK(uf_reduceat(func("sum"), 2, (DLTensor[]){UF_ARRAY(x, N), UF_ARRAY(sums, N)}, &UF_ARRAY(starts, N), 0,
                       &(uf_options){.size = sizeof(uf_options), .casting = UF_CAST_UNSAFE}));
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(sums[i], i + 1);
    }
}

/* Positions count along the whole axis. */
static void positions_in_segments(void **unused) {
    (void)unused;
    double x[6] = {1, 9, 2, 3, 7, 3};
    int64_t r[2], starts[2] = {0, 3};
    OK(uf_reduceat(func("argmax"), 2, (DLTensor[]){UF_ARRAY(x, 6), UF_ARRAY(r, 2)}, &UF_ARRAY(starts, 2), 0, NULL));
    assert_true(r[0] == 1 && r[1] == 4);
}

static void outputs_may_overlap_inputs(void **unused) {
    (void)unused;
    double x[12], y[12], sums[4];
    for (int i = 0; i < 12; i++)
        x[i] = i + 1;
    memcpy(y, x, sizeof x);
    OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_ARRAY(y, 3, 4), UF_ARRAY(sums, 4)}, along(0)));
    OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_ARRAY(y, 3, 4), UF_ARRAY(y, 4)}, along(0)));
    assert_memory_equal(y, sums, sizeof sums);
    memcpy(y, x, sizeof x);
    OK(uf_accumulate(func("sum"), 2, (DLTensor[]){UF_ARRAY(y, 12), UF_ARRAY(y, 12)}, 0, NULL));
    assert_true(y[0] == 1 && y[11] == 78);
    memcpy(y, x, sizeof x);
    OK(uf_accumulate(func("sum"), 2, (DLTensor[]){UF_ARRAY(y, 11), UF_ARRAY(y + 1, 11)}, 0, NULL));
    assert_true(y[0] == 1 && y[1] == 1 && y[2] == 3 && y[11] == 66);
}

/* Columns of one matrix as two outputs: their ranges overlap, their elements do not. */
static void outputs_may_interleave(void **unused) {
    (void)unused;
    double x[6] = {3, 1, 2, 6, 4, 5}, r[4];
    int64_t two = 2;
    DLTensor least = UF_ARRAY(r, 2), most = UF_ARRAY(r + 1, 2);
    least.strides = most.strides = &two;
    OK(uf_reduce(func("minmax"), 3, (DLTensor[]){UF_ARRAY(x, 2, 3), least, most}, along(1)));
    assert_true(r[0] == 1 && r[1] == 3 && r[2] == 4 && r[3] == 6);
}

/* Inputs that lie interleaved have one address in the code, which those of another run of the plan may not. */
static void inputs_may_interleave(void **unused) {
    enum {
        N = 301
    };
    static const uf_reduction_def def = {.size = sizeof def,
                                         .map = "(x, y) { return x * y + x; }",
                                         .combine = "(a, b) { return a + b; }",
                                         .identity = "0"};
    static double both[2 * N], x[2 * N], y[2 * N];
    int64_t two = 2;
    double sum = 0, together = 0, turned = 0, apart = 0, r;
    uf_func *f;
    uf_plan *plan;
    (void)unused;
    for (int i = 0; i < 2 * N; i++) {
        both[i] = (double)pick(-1000, 1000);
        x[i] = (double)pick(-1000, 1000);
        y[i] = (double)pick(-1000, 1000);
    }
    for (int i = 0; i < 2 * N; i += 2) {
        together += both[i] * both[i + 1] + both[i];
        turned += both[i + 1] * both[i] + both[i + 1];
        apart += x[i] * y[i] + x[i];
    }
    assert_int_equal(uf_reduction(&f, "dot", "float64,float64->float64", &def), UF_OK);
    DLTensor args[] = {
        UF_ARRAY(both, N), UF_ARRAY(both + 1, N), {.data = &r, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}}};
    args[0].strides = args[1].strides = &two;
    args[2].data = &sum;
    assert_int_equal(uf_reduce(f, 3, args, NULL), UF_OK);
    assert_true(sum == together);
    assert_int_equal(uf_reduce_plan(&plan, f, 3, args, NULL), UF_OK);
    assert_int_equal(uf_plan_run(plan, (void *[]){both, both + 1, &r}, NULL), UF_OK);
    assert_true(r == together);
    assert_int_equal(uf_plan_run(plan, (void *[]){both + 1, both, &r}, NULL), UF_OK);
    assert_true(r == turned);
    assert_int_equal(uf_plan_run(plan, (void *[]){x, y, &r}, NULL), UF_OK);
    assert_true(r == apart);
    uf_plan_free(plan);
    uf_free(f);
}

/* The same of one element, whose stride says nothing: inputs count as contiguous then, and are still beside each other. */
static void one_element_may_interleave(void **unused) {
    static const uf_reduction_def def = {.size = sizeof def,
                                         .map = "(x, y) { return x * y + x; }",
                                         .combine = "(a, b) { return a + b; }",
                                         .identity = "0"};
    double both[2] = {3, 5}, sum = 0;
    int64_t one = 1, two = 2;
    uf_func *f;
    (void)unused;
    assert_int_equal(uf_reduction(&f, "dot", "float64,float64->float64", &def), UF_OK);
    DLTensor args[] = {
        UF_ARRAY(both, 1), UF_ARRAY(both + 1, 1), {.data = &sum, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}}};
    args[0].shape = args[1].shape = &one;
    args[0].strides = args[1].strides = &two;
    assert_int_equal(uf_reduce(f, 3, args, NULL), UF_OK);
    assert_true(sum == 18);
    uf_free(f);
}

static void inference(void **unused) {
    (void)unused;
    int64_t shape[2][UF_MAX_NDIM];
    double x[24] = {0};
    DLTensor args[3] = {UF_ARRAY(x, 2, 3, 4), {.shape = shape[0]}, {.shape = shape[1]}};
    OK(uf_reduce_infer(func("minmax"), 3, args, along(1)));
    assert_true(args[1].ndim == 2 && shape[0][0] == 2 && shape[0][1] == 4 && args[2].ndim == 2 && shape[1][1] == 4);
    assert_true(args[1].dtype.code == kDLFloat && args[1].dtype.bits == 64);
    OK(uf_reduce_infer(func("argmax"), 2, args, NULL));
    assert_true(args[1].ndim == 0 && args[1].dtype.code == kDLInt);
    uf_reduce_options o = {.size = sizeof o, .keepdims = true};
    OK(uf_reduce_infer(func("argmax"), 2, args, &o));
    assert_true(args[1].ndim == 3 && shape[0][0] == 1 && shape[0][2] == 1);
    OK(uf_accumulate_infer(func("sum"), 2, args, 0, NULL));
    assert_true(args[1].ndim == 3 && shape[0][0] == 2 && shape[0][2] == 4);
}

static void the_cpu_takes_no_scratch(void **unused) {
    (void)unused;
    static double x[1 << 19];
    double r;
    int64_t starts[1] = {0};
    size_t bytes = 1;
    DLTensor args[2] = {UF_ARRAY(x), UF_OUT(r)};
    OK(uf_reduce_scratch_size(&bytes, func("sum"), 2, args, NULL));
    assert_int_equal(bytes, 0);
    args[0].data = NULL; /* not looked at */
    OK(uf_reduce_scratch_size(&bytes, func("sum"), 2, args, NULL));
    args[1] = args[0];
    OK(uf_accumulate_scratch_size(&bytes, func("sum"), 2, args, 0, NULL));
    args[1] = UF_ARRAY(&r, 1);
    OK(uf_reduceat_scratch_size(&bytes, func("sum"), 2, args, &UF_ARRAY(starts, 1), 0, NULL));
    assert_int_equal(bytes, 0);
}

/* The same bits however many threads take part. */
static void threads_change_nothing(void **unused) {
    (void)unused;
    enum {
        N = 3000017
    };
    double *x = malloc(N * sizeof *x), r[3];
    for (int i = 0; i < N; i++)
        x[i] = (double)pick(-1000000, 1000000) / 3;
    for (int t = 0; t < 3; t++) {
        DLTensor to = UF_ARRAY(&r[t], 1);
        to.ndim = 0;
        OK(uf_reduce(func("sum"), 2, (DLTensor[]){UF_ARRAY(x, N), to},
                     &(uf_reduce_options){.size = sizeof(uf_reduce_options), .threads = t}));
    }
    assert_memory_equal(&r[0], &r[1], sizeof *r);
    assert_memory_equal(&r[0], &r[2], sizeof *r);
    free(x);
}

static void small_calls_are_fast(void **unused) {
    (void)unused;
    enum {
        CALLS = 100000
    };
    double x[16] = {1, 2, 3}, r[4];
    const DLTensor args[2] = {UF_ARRAY(x, 4, 4), UF_ARRAY(r, 4)};
    struct timespec from, to;
    OK(uf_reduce(func("sum"), 2, args, along(1)));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < CALLS; i++)
        assert_true(uf_reduce(func("sum"), 2, args, along(1)) == UF_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / CALLS;
    print_message("uf_reduce, 4 x 4: %.0f ns\n", ns);
    assert_true(ns < 50000); /* sanitizers and busy machines too */
}

/* ---- Bad input ---- */

static void expect(uf_status got, uf_status status, const char *words) {
    if (got != status || !strstr(uf_last_error()->message, words))
        fail_msg("status %d: %s; but %d: %s", got, got ? uf_last_error()->message : "", status, words);
}

static double x12[12], r4[4];

static uf_status reduce_with(const char *name, DLTensor in, DLTensor out, const uf_reduce_options *o) {
    return uf_reduce(func(name), 2, (DLTensor[]){in, out}, o);
}

static void bad_functions_and_counts(void **unused) {
    (void)unused;
    DLTensor args[3] = {UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 4), UF_ARRAY(r4, 4)};
    int64_t starts[1] = {0};
    size_t bytes;
    uf_func *unary;
    OK(uf_vectorize(&unary, "negated", NULL, "(x) { return -x; }"));
    expect(uf_reduce(NULL, 2, args, NULL), UF_ERR_ARGUMENT, "func is NULL");
    expect(uf_accumulate(NULL, 2, args, 0, NULL), UF_ERR_ARGUMENT, "func is NULL");
    expect(uf_reduce(unary, 2, args, NULL), UF_ERR_ARGUMENT, "uf_reduce: negated has 1 input and 1 output");
    expect(uf_reduceat(unary, 2, args, &UF_ARRAY(starts, 1), 0, NULL), UF_ERR_ARGUMENT, "uf_reduceat: negated has");
    expect(uf_reduce(func("sum"), 3, args, NULL), UF_ERR_ARGUMENT,
           "uf_reduce of sum takes 1 input and 1 output, but got 3 arguments");
    expect(uf_accumulate(func("dot"), 2, args, 0, NULL), UF_ERR_ARGUMENT,
           "uf_accumulate of dot takes 2 inputs and 1 output, but got 2 arguments");
    expect(uf_reduce(func("sum"), 2, NULL, NULL), UF_ERR_ARGUMENT, "uf_reduce of sum: args is NULL");
    expect(uf_reduce_scratch_size(NULL, func("sum"), 2, args, NULL), UF_ERR_ARGUMENT, "bytes is NULL");
    expect(uf_accumulate_scratch_size(NULL, func("sum"), 2, args, 0, NULL), UF_ERR_ARGUMENT, "bytes is NULL");
    expect(uf_reduceat_scratch_size(NULL, func("sum"), 2, args, NULL, 0, NULL), UF_ERR_ARGUMENT, "bytes is NULL");
    expect(uf_reduce_scratch_size(&bytes, func("sum"), 2, args, along(2)), UF_ERR_ARGUMENT, "axis 2 is out of range");
    assert_int_equal(bytes, 0);
    args[1].shape = NULL;
    expect(uf_reduce_infer(func("sum"), 2, args, NULL), UF_ERR_ARGUMENT,
           "argument 1: shape is NULL; storage for UF_MAX_NDIM extents is needed");
    expect(uf_accumulate_infer(func("sum"), 2, args, 0, NULL), UF_ERR_ARGUMENT, "argument 1: shape is NULL");
    uf_free(unary);
}

static void bad_options(void **unused) {
    (void)unused;
    const struct {
        uf_reduce_options o;
        const char *words;
    } bad[] = {
        {{.size = 0}, "uf_reduce_options.size is 0"},
        {{.size = sizeof(uf_reduce_options), .flags = UF_STAGE},
         "uf_reduce_options.flags has UF_STAGE, which is no flag of this call"},
        {{.size = sizeof(uf_reduce_options), .flags = UF_ORDERED | UF_SERIAL}, "has both UF_ORDERED and UF_SERIAL"},
        {{.size = sizeof(uf_reduce_options), .casting = (uf_casting)9}, "uf_reduce_options.casting is 9"},
        {{.size = sizeof(uf_reduce_options), .threads = -1}, "uf_reduce_options.threads is -1"},
        {{.size = sizeof(uf_reduce_options), .naxes = 1}, "naxes is 1, but axes, which names them, is NULL"},
        {{.size = sizeof(uf_reduce_options), .axes = (int[]){0}}, "axes is given without naxes"},
        {{.size = sizeof(uf_reduce_options), .naxes = -2, .axes = (int[]){0}},
         "naxes is -2; it must be a number of axes"},
        {{.size = sizeof(uf_reduce_options), .naxes = INT_MIN}, "naxes is -2147483648"},
        {{.size = sizeof(uf_reduce_options), .naxes = 3, .axes = (int[]){0}},
         "naxes is 3, but the rank of what is reduced is 2"},
        {{.size = sizeof(uf_reduce_options), .naxes = INT_MAX, .axes = (int[]){0}},
         "naxes is 2147483647, but the rank"},
        {{.size = sizeof(uf_reduce_options), .naxes = 1, .axes = (int[]){2}}, "axis 2 is out of range"},
        {{.size = sizeof(uf_reduce_options), .naxes = 1, .axes = (int[]){-3}}, "axis -3 is out of range"},
        {{.size = sizeof(uf_reduce_options), .naxes = 2, .axes = (int[]){1, -1}}, "axis 1 occurs twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(reduce_with("sum", UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 4), &bad[i].o), UF_ERR_ARGUMENT, bad[i].words);
    /* A struct of a later version, whose new member is set. */
    struct {
        uf_reduce_options o;
        int64_t more;
    } later = {{.size = sizeof later, .naxes = 1, .axes = (int[]){0}}, 1};
    expect(reduce_with("sum", UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 4), &later.o), UF_ERR_ARGUMENT, "is not zero");
    later.more = 0;
    OK(reduce_with("sum", UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 4), &later.o));
}

static void options_that_accumulate_does_not_take(void **unused) {
    (void)unused;
    bool mask[12] = {false};
    DLTensor args[2] = {UF_ARRAY(x12, 12), UF_ARRAY(x12, 12)}, where = UF_ARRAY(mask, 12);
    int64_t starts[12] = {0};
    const struct {
        uf_options o;
        const char *words;
    } bad[] = {
        {{.size = sizeof(uf_options), .where = &where}, "does not take uf_options.where"},
        {{.size = sizeof(uf_options), .axes = &(uf_axes){.size = sizeof(uf_axes)}}, "does not take uf_options.axes"},
        {{.size = sizeof(uf_options), .device = {kDLCUDA, 0}}, "does not take uf_options.device"},
        {{.size = sizeof(uf_options), .flags = UF_STAGE}, "does not take UF_STAGE"},
        {{.size = sizeof(uf_options), .flags = UF_STRONG_NUMBERS},
         "uf_options.flags has UF_STRONG_NUMBERS, which is no flag of this call"},
        {{.size = 4}, "uf_options.size is 4"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect(uf_accumulate(func("sum"), 2, args, 0, &bad[i].o), UF_ERR_ARGUMENT, bad[i].words);
        expect(uf_reduceat(func("sum"), 2, args, &UF_ARRAY(starts, 12), 0, &bad[i].o), UF_ERR_ARGUMENT, bad[i].words);
    }
    expect(uf_accumulate(func("sum"), 2, args, 0, &(uf_options){.size = sizeof(uf_options), .flags = UF_UNEVEN}),
           UF_ERR_ARGUMENT, "uf_options.flags has UF_UNEVEN, which is no flag of this call");
    expect(uf_accumulate(func("sum"), 2, args, 1, NULL), UF_ERR_ARGUMENT, "axis 1 is out of range");
    expect(uf_accumulate(func("sum"), 2, args, -2, NULL), UF_ERR_ARGUMENT, "axis -2 is out of range");
    expect(uf_accumulate(func("sum"), 2, (DLTensor[]){UF_SCALAR(1.0), UF_ARRAY(r4, 1)}, 0, NULL), UF_ERR_ARGUMENT,
           "axis 0 is out of range: the rank of what is reduced is 0");
}

static void bad_outputs(void **unused) {
    (void)unused;
    int64_t wrong[4], zero_stride = 0;
    DLTensor same = UF_ARRAY(r4, 4), in = UF_ARRAY(x12, 3, 4);
    same.strides = &zero_stride;
    expect(reduce_with("sum", in, UF_ARRAY(r4, 3), along(0)), UF_ERR_SHAPE,
           "argument 1: dimension 0 is 3, but that of the results is 4");
    expect(reduce_with("sum", in, UF_ARRAY(r4, 1, 4), along(0)), UF_ERR_SHAPE,
           "argument 1: its rank is 2, but that of the results is 1");
    expect(reduce_with("sum", in, UF_ARRAY(wrong, 4), along(0)), UF_ERR_CAST, "argument 1");
    expect(reduce_with("sum", in, same, along(0)), UF_ERR_ARGUMENT,
           "argument 1: is an output with two elements at one address");
    expect(uf_reduce(func("minmax"), 3, (DLTensor[]){in, UF_ARRAY(r4, 4), UF_ARRAY(r4, 4)}, along(0)), UF_ERR_ARGUMENT,
           "argument 2: is an output that overlaps output argument 1");
    expect(uf_accumulate(func("sum"), 2, (DLTensor[]){in, UF_ARRAY(r4, 4)}, 0, NULL), UF_ERR_SHAPE,
           "argument 1: its rank is 1, but that of the results is 2");
    /* In parts, too. */
    static double large[1 << 19];
    DLTensor one = UF_ARRAY(r4, 1);
    one.ndim = 0;
    expect(uf_reduce(func("minmax"), 3, (DLTensor[]){UF_ARRAY(large, 1 << 19), one, one}, NULL), UF_ERR_ARGUMENT,
           "argument 2: is an output that overlaps output argument 1");
}

static void bad_inputs(void **unused) {
    (void)unused;
    float _Complex z[4] = {0};
    expect(uf_reduce(func("dot"), 3, (DLTensor[]){UF_ARRAY(x12, 12), UF_ARRAY(r4, 4), UF_ARRAY(r4, 1)}, NULL),
           UF_ERR_SHAPE, "argument 1: dimension 0 is 4, but dimension 0 of argument 0 is 12");
    expect(reduce_with("sum", UF_ARRAY(z, 4), UF_ARRAY(r4, 1), NULL), UF_ERR_SIGNATURE, "complex64");
    expect(reduce_with("sum", UF_CUDA(0, ((DLDataType){kDLFloat, 64, 1}), x12, 4), UF_ARRAY(r4, 1), NULL),
           UF_ERR_DEVICE, "argument 1: is in host memory, but argument 0 is on CUDA device 0");
    DLTensor nowhere = UF_ARRAY(x12, 12);
    nowhere.data = NULL;
    expect(reduce_with("sum", nowhere, UF_ARRAY(r4, 1), NULL), UF_ERR_ARGUMENT, "argument 0: its data is NULL");
}

static void nothing_to_reduce(void **unused) {
    (void)unused;
    double none[1] = {0}, r[3] = {1, 2, 3};
    int64_t places[3];
    bool mask[12] = {false};
    DLTensor where = UF_ARRAY(mask, 3, 4);
    uf_reduce_options masked = {.size = sizeof masked, .where = &where, .naxes = 1, .axes = (int[]){0}};
    OK(reduce_with("sum", UF_ARRAY(none, 3, 0), UF_ARRAY(r, 3), along(1)));
    assert_true(r[0] == 0 && r[2] == 0);
    expect(reduce_with("argmax", UF_ARRAY(none, 3, 0), UF_ARRAY(places, 3), along(1)), UF_ERR_ARGUMENT,
           "uf_reduce: no elements to reduce, and argmax has no identity; initial values are needed");
    OK(reduce_with("argmax", UF_ARRAY(none, 3, 0), UF_ARRAY(places, 0), along(0)));
    expect(reduce_with("difference", UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 4), &masked), UF_ERR_ARGUMENT,
           "uf_reduce: a mask (where) may leave no elements, and difference has no identity");
    OK(uf_accumulate(func("argmax"), 2, (DLTensor[]){UF_ARRAY(none, 3, 0), UF_ARRAY(places, 3, 0)}, 1, NULL));
}

static void bad_masks(void **unused) {
    (void)unused;
    int8_t bytes[12] = {0};
    bool mask[12] = {false};
    DLTensor wrong = UF_ARRAY(bytes, 3, 4), narrow = UF_ARRAY(mask, 3);
    uf_reduce_options o = {.size = sizeof o, .where = &wrong};
    expect(reduce_with("sum", UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 1), &o), UF_ERR_ARGUMENT,
           "where: the dtype is int8; bool is needed");
    o.where = &narrow;
    expect(reduce_with("sum", UF_ARRAY(x12, 3, 4), UF_ARRAY(r4, 1), &o), UF_ERR_SHAPE,
           "where: dimension 0 is 3, but dimension 1 of argument 0 is 4");
}

static void bad_initial_values(void **unused) {
    (void)unused;
    int8_t x[4] = {1, 2, 3, 4};
    int64_t r[1], big = (int64_t)1 << 40;
    uf_func *narrow;
    OK(uf_reduction(&narrow, "narrow", "int8->int64",
                    &(uf_reduction_def){.size = sizeof(uf_reduction_def),
                                        .combine = "(a, b) { return a + b; }",
                                        .state = "int32",
                                        .identity = "0"}));
    DLTensor args[2] = {UF_ARRAY(x, 4), UF_ARRAY(r, 1)}, fraction = UF_SCALAR(0.5), large = UF_SCALAR((int64_t)0);
    DLTensor odd = fraction, missing = UF_SCALAR(1), far = UF_SCALAR(1);
    args[1].ndim = 0;
    large.data = &big;
    odd.dtype.bits = 7;
    missing.data = NULL;
    far.device = (DLDevice){kDLCUDA, 0};
    const struct {
        DLTensor initial;
        uf_status status;
        const char *words;
    } bad[] = {
        {fraction, UF_ERR_CAST, "initial value 0: is float64, which does not cast to int32"},
        {UF_SCALAR(3000000000u), UF_ERR_CAST, "initial value 0: 3000000000 does not fit int32"},
        {large, UF_ERR_CAST, "initial value 0: 1099511627776 does not fit int32"},
        {odd, UF_ERR_ARGUMENT, "initial value 0: its dtype is none of the fifteen"},
        {missing, UF_ERR_ARGUMENT, "initial value 0: its data is NULL"},
        {far, UF_ERR_DEVICE, "initial value 0: it is not in host memory"},
        {UF_ARRAY(x, 1), UF_ERR_ARGUMENT, "initial value 0: its rank is 1, but must be 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(uf_reduce(narrow, 2, args,
                         &(uf_reduce_options){.size = sizeof(uf_reduce_options), .initial = &bad[i].initial}),
               bad[i].status, bad[i].words);
    uf_free(narrow);
}

static void bad_starts(void **unused) {
    (void)unused;
    DLTensor args[2] = {UF_ARRAY(x12, 12), UF_ARRAY(r4, 2)};
    int64_t beyond[2] = {0, 12}, before[2] = {-1, 0};
    uint64_t huge[2] = {0, UINT64_MAX};
    double real[2] = {0, 1};
    bool flags[2] = {false, true};
    const struct {
        DLTensor starts;
        uf_status status;
        const char *words;
    } bad[] = {
        {UF_ARRAY(beyond, 2), UF_ERR_ARGUMENT, "starts: element 1 is 12, but must be from 0 to 11"},
        {UF_ARRAY(before, 2), UF_ERR_ARGUMENT, "starts: element 0 is -1, but must be from 0 to 11"},
        {UF_ARRAY(huge, 2), UF_ERR_ARGUMENT, "starts: element 1 is beyond int64, but the axis has 12 elements"},
        {UF_ARRAY(real, 2), UF_ERR_ARGUMENT, "starts: its dtype is float64; an integer is needed"},
        {UF_ARRAY(flags, 2), UF_ERR_ARGUMENT, "starts: its dtype is bool; an integer is needed"},
        {UF_ARRAY(before, 2, 1), UF_ERR_SHAPE, "starts: its rank is 2, but must be 1"},
        {UF_CUDA(0, ((DLDataType){kDLInt, 64, 1}), before, 2), UF_ERR_DEVICE,
         "starts: is on CUDA device 0, but the arrays are in host memory"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(uf_reduceat(func("sum"), 2, args, &bad[i].starts, 0, NULL), bad[i].status, bad[i].words);
    expect(uf_reduceat(func("sum"), 2, args, NULL, 0, NULL), UF_ERR_ARGUMENT, "starts is NULL");
    int64_t three[3] = {0};
    expect(uf_reduceat(func("sum"), 2, args, &UF_ARRAY(three, 3), 0, NULL), UF_ERR_SHAPE,
           "argument 1: dimension 0 is 2, but that of the results is 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(reductions_in_parts),
        cmocka_unit_test(accumulations),
        cmocka_unit_test(segments),
        cmocka_unit_test(no_axes_map_and_finish),
        cmocka_unit_test(numbers_reduce_to_themselves),
        cmocka_unit_test(a_mask_broadens),
        cmocka_unit_test(initial_values_are_converted),
        cmocka_unit_test(serial_folds_go_left_to_right),
        cmocka_unit_test(starts_of_any_integer_dtype),
        cmocka_unit_test(strides_change_no_bits),
        cmocka_unit_test(outputs_may_overlap_starts),
        cmocka_unit_test(positions_in_segments),
        cmocka_unit_test(outputs_may_overlap_inputs),
        cmocka_unit_test(outputs_may_interleave),
        cmocka_unit_test(inputs_may_interleave),
        cmocka_unit_test(one_element_may_interleave),
        cmocka_unit_test(inference),
        cmocka_unit_test(the_cpu_takes_no_scratch),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(small_calls_are_fast),
        cmocka_unit_test(bad_functions_and_counts),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(options_that_accumulate_does_not_take),
        cmocka_unit_test(bad_outputs),
        cmocka_unit_test(bad_inputs),
        cmocka_unit_test(nothing_to_reduce),
        cmocka_unit_test(bad_masks),
        cmocka_unit_test(bad_initial_values),
        cmocka_unit_test(bad_starts),
    };
    return cmocka_run_group_tests(tests, make_models, free_models);
}
