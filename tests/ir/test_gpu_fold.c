/* test_gpu_fold.c - reductions on the GPU, without one: random calls are specialised and laid out by the CUDA engine, their
 * kernels run in the simulator and are compared with loops over the elements; libNVVM and ptxas compile what comes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/code.h"
#include "draw.h"
#include "gpu/class.h"
#include "gpu_sim.h"
#include "ir/ir.h"
#include "ir_check.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const code_target gpu = {.gpu = true, .arch = 90};

enum {
    AXES = 4,
    VALUES = 4,
    ARRAYS = 14, /* inputs, outputs, mask, initial values, position */
    ELEMENTS = 20000
};

/* ---- Folds, in kernel C and in C. Values are small integers in every dtype, so that results are exact. ---- */

typedef struct sample {
    const char *name, *map, *combine, *finish, *identity;
    int nin, nstate, nout;
    dtype in[VALUES], state[VALUES], out[VALUES];
    bool position, count;
    fold_order order;
    bool zeros; /* values are floating zeros, 1 stands for -0.0 */
    void (*to_state)(const int64_t *in, int64_t position, int64_t *state);
    const int64_t *begin; /* the identity; NULL: zeros */
    void (*join)(const int64_t *a, const int64_t *b, int64_t *both);
    void (*result)(const int64_t *state, int64_t n, int64_t *out);
} sample;

static void join_sum(const int64_t *a, const int64_t *b, int64_t *c) { c[0] = a[0] + b[0]; }
static void join_max(const int64_t *a, const int64_t *b, int64_t *c) { c[0] = a[0] > b[0] ? a[0] : b[0]; }
static void join_minus(const int64_t *a, const int64_t *b, int64_t *c) { c[0] = a[0] - b[0]; }
static void join_any(const int64_t *a, const int64_t *b, int64_t *c) { c[0] = a[0] || b[0]; }
static void map_product(const int64_t *in, int64_t k, int64_t *s) { (void)k, s[0] = in[0] * in[1]; }
static void map_place(const int64_t *in, int64_t k, int64_t *s) { s[0] = in[0], s[1] = k; }
static void finish_both(const int64_t *s, int64_t n, int64_t *r) { r[0] = s[0] * 3 + n; }

static void join_argmax(const int64_t *a, const int64_t *b, int64_t *c) {
    bool first = a[0] > b[0] || (a[0] == b[0] && a[1] < b[1]);
    memcpy(c, first ? a : b, 2 * sizeof *c);
}

static void join_affine(const int64_t *a, const int64_t *b, int64_t *c) {
    uint32_t m = (uint32_t)a[0] * (uint32_t)b[0], add = (uint32_t)a[1] * (uint32_t)b[0] + (uint32_t)b[1];
    c[0] = m, c[1] = add;
}

/* Matrices of 2 x 2. */
static void join_matrices(const int64_t *a, const int64_t *b, int64_t *c) {
    for (int k = 0; k < 4; k++)
        c[k] = (uint32_t)a[k & 2] * (uint32_t)b[k & 1] + (uint32_t)a[(k & 2) + 1] * (uint32_t)b[(k & 1) + 2];
}

static void join_gcd(const int64_t *a, const int64_t *b, int64_t *c) {
    int64_t x = a[0], y = b[0];
    while (y) {
        int64_t t = x % y;
        x = y, y = t;
    }
    c[0] = x;
}

/* Whose identity changes what it is combined with. */
static void join_walk(const int64_t *a, const int64_t *b, int64_t *c) { c[0] = llabs(a[0]) + llabs(b[0]); }
static void join_zeros(const int64_t *a, const int64_t *b, int64_t *c) { c[0] = a[0] && b[0]; }
static void map_sign(const int64_t *in, int64_t k, int64_t *s) { (void)k, s[0] = in[0] < 0; }

/* Whose identity is told by a negative position. */
static void join_marked(const int64_t *a, const int64_t *b, int64_t *c) {
    bool first = b[1] < 0 || (a[1] >= 0 && (a[0] > b[0] || (a[0] == b[0] && a[1] < b[1])));
    memcpy(c, first ? a : b, 2 * sizeof *c);
}
static void map_below(const int64_t *in, int64_t k, int64_t *s) { s[0] = in[0] - 20, s[1] = k; }

static const int64_t unit[VALUES] = {1, 0, 0, 1}, no_map[VALUES] = {1}, marked[VALUES] = {0, -1};

/* clang-format off */
static const sample samples[] = {
    {"sum", NULL, "(a, b) { return a + b; }", NULL, "() -> (a) { a = 0; }", 1, 1, 1, {DT_INT32}, {DT_INT64},
     {DT_INT64}, .join = join_sum},
    {"sum of small ones", NULL, "(a, b) { return a + b; }", NULL, "() -> (a) { a = 0; }", 1, 1, 1, {DT_INT16}, {DT_INT64},
     {DT_INT64}, .join = join_sum}, /* partial sums are of 32 bits */
    {"largest", NULL, "(a, b) { return max(a, b); }", NULL, NULL, 1, 1, 1, {DT_FLOAT32}, {DT_FLOAT32}, {DT_FLOAT32},
     .join = join_max},
    {"argmax", "(x, k) -> (v, i) { v = x; i = k; }",
     "(a, i, b, j) -> (c, k) { if (a > b || (a == b && i < j)) { c = a; k = i; } else { c = b; k = j; } }", NULL, NULL,
     1, 2, 2, {DT_FLOAT32}, {DT_FLOAT32, DT_INT64}, {DT_FLOAT32, DT_INT64}, .position = true, .to_state = map_place,
     .join = join_argmax},
    {"affine", NULL, "(a, b, c, d) -> (e, f) { e = a * c; f = b * c + d; }", NULL, "() -> (a, b) { a = 1; b = 0; }", 2,
     2, 2, {DT_UINT32, DT_UINT32}, {DT_UINT32, DT_UINT32}, {DT_UINT32, DT_UINT32}, .order = FOLD_ORDERED,
     .begin = no_map, .join = join_affine},
    {"cores", NULL, /* as the form of a generalized ufunc that reduces has it */
     "product(a[n][n], b[n][n], c[n][n]) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]); } "
     "(a0, a1, a2, a3, b0, b1, b2, b3) -> (c0, c1, c2, c3) { "
     "uint32 a[2][2] = {a0, a1, a2, a3}; uint32 b[2][2] = {b0, b1, b2, b3}; uint32 c[2][2]; product(a, b, c); "
     "c0 = c[0][0]; c1 = c[0][1]; c2 = c[1][0]; c3 = c[1][1]; }",
     NULL, "() -> (a, b, c, d) { a = d = 1; b = c = 0; }", 4, 4, 4, {DT_UINT32, DT_UINT32, DT_UINT32, DT_UINT32},
     {DT_UINT32, DT_UINT32, DT_UINT32, DT_UINT32}, {DT_UINT32, DT_UINT32, DT_UINT32, DT_UINT32}, .order = FOLD_ORDERED,
     .begin = unit, .join = join_matrices},
    {"minus", NULL, "(a, b) { return a - b; }", NULL, NULL, 1, 1, 1, {DT_INT64}, {DT_INT64}, {DT_INT64},
     .order = FOLD_SERIAL, .join = join_minus},
    {"dot", "(x, y) { return (int64)x * y; }", "(a, b) { return a + b; }", NULL, "() -> (a) { a = 0; }", 2, 1, 1,
     {DT_INT16, DT_INT16}, {DT_INT64}, {DT_INT32}, .to_state = map_product, .join = join_sum},
    {"counted", NULL, "(a, b) { return a + b; }", "(s, n) { return s * 3 + n; }", "() -> (a) { a = 0; }", 1, 1, 1,
     {DT_FLOAT64}, {DT_FLOAT64}, {DT_INT64}, .count = true, .join = join_sum, .result = finish_both},
    {"gcd", NULL, "(a, b) { while (b) { auto t = a % b; a = b; b = t; } return a; }", NULL, NULL, 1, 1, 1, {DT_UINT32},
     {DT_UINT32}, {DT_UINT32}, .join = join_gcd},
    {"any", NULL, "(a, b) { return a || b; }", NULL, "() -> (a) { a = 0; }", 1, 1, 1, {DT_BOOL}, {DT_BOOL}, {DT_BOOL},
     .join = join_any},
    {"walk", NULL, "(a, b) { return abs(a) + abs(b); }", NULL, "() -> (a) { a = 0; }", 1, 1, 1, {DT_INT64}, {DT_INT64},
     {DT_INT64}, .join = join_walk},
    {"walk in order", NULL, "(a, b) { return abs(a) + abs(b); }", NULL, NULL, 1, 1, 1, {DT_INT64}, {DT_INT64},
     {DT_INT64}, .order = FOLD_ORDERED, .join = join_walk},
    {"walk serially", NULL, "(a, b) { return abs(a) + abs(b); }", NULL, "() -> (a) { a = 0; }", 1, 1, 1, {DT_INT64},
     {DT_INT64}, {DT_INT64}, .order = FOLD_SERIAL, .join = join_walk},
    {"zeros", "(x) { return x < 0 ? -0.0 : 0.0; }", "(a, b) { return a + b; }", "(s) -> (r) { r = 1 / s < 0; }",
     "() -> (a) { a = 0; }", 1, 1, 1, {DT_FLOAT32}, {DT_FLOAT64}, {DT_INT32}, .zeros = true, .to_state = map_sign,
     .join = join_zeros},
    {"marked", "(x, k) -> (v, i) { v = x - 20; i = k; }",
     "(a, i, b, j) -> (c, k) { bool left = j < 0 || (i >= 0 && (a > b || (a == b && i < j))); c = left ? a : b; k = left ? i : j; }",
     NULL, "() -> (v, i) { v = 0; i = -1; }", 1, 2, 2, {DT_FLOAT32}, {DT_FLOAT32, DT_INT64}, {DT_FLOAT32, DT_INT64},
     .position = true, .to_state = map_below, .begin = marked, .join = join_marked},
    {"pairs", NULL, "(a, b) { return a + b; }", NULL, "() -> (a) { a = 0; }", 1, 1, 1, {DT_COMPLEX64}, {DT_COMPLEX128},
     {DT_COMPLEX64}, .join = join_sum},
};
/* clang-format on */

static fold fold_of(arena *a, const sample *x) {
    fold f = {.nin = x->nin,
              .nstate = x->nstate,
              .nout = x->nout,
              .order = x->order,
              .takes_position = x->position,
              .takes_count = x->count};
    memcpy(f.in, x->in, sizeof x->in);
    memcpy(f.state, x->state, sizeof x->state);
    memcpy(f.out, x->out, sizeof x->out);
    fold_try(a, &f, &(fold_texts){x->map, x->combine, x->finish, x->identity});
    return f;
}

/* ---- Arrays ---- */

static int64_t value_at(dtype t, const void *p) {
    number n = number_read(t, p);
    return dtypes[t].kind >= DK_FLOATING ? (int64_t)n.as.f[0] : n.as.i;
}

static void put_value(dtype t, void *p, int64_t x) {
    int64_t bits = x;
    number_write(number_read(DT_INT64, &bits), t, p);
}

/* A dtype that casts to t, of which all values drawn are exact. */
static dtype memory_for(dtype t) {
    static const dtype narrow[] = {DT_INT8, DT_INT16, DT_FLOAT16, DT_UINT8};
    dtype d = narrow[pick(0, 3)];
    return chance(30) && dtype_can_cast(d, t, UF_CAST_SAFE) ? d : t;
}

typedef struct view {
    dtype type;
    char *block;
    nd_array a;
    int64_t shape[AXES + 1], strides[AXES + 1];
} view;

/* Dimensions from the last to the first, or in some other order; gaps, backwards, broadcast where it may be. */
static void view_make(view *x, dtype t, int ndim, const int64_t *shape, bool output) {
    int order[AXES + 1];
    int64_t step = chance(15) ? 2 : 1, lowest = 0, highest = 0;
    x->type = t;
    for (int d = 0; d < ndim; d++)
        order[d] = ndim - 1 - d;
    if (chance(40))
        for (int d = ndim - 1; d > 0; d--) {
            int other = (int)pick(0, d), swap = order[d];
            order[d] = order[other], order[other] = swap;
        }
    for (int i = 0; i < ndim; i++) {
        int d = order[i];
        x->shape[d] = shape[d];
        bool still = !output && chance(8);
        x->strides[d] = still ? 0 : chance(10) ? -step : step;
        if (!still)
            step = step * (shape[d] > 1 ? shape[d] : 1) + (chance(10) ? pick(0, 3) : 0);
        int64_t reach = x->strides[d] * (shape[d] - 1);
        *(reach < 0 ? &lowest : &highest) += reach;
    }
    int64_t size = dtypes[t].size, before = chance(25) ? pick(0, 5) : 0;
    size_t bytes = (size_t)((highest - lowest + 1 + before) * size) + 64;
    x->block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(x->block, 0x55, bytes);
    x->a = (nd_array){.data = x->block + (before - lowest) * size,
                      .shape = x->shape,
                      .strides = x->strides,
                      .ndim = ndim,
                      .size = (uint8_t)size,
                      .output = output,
                      .role = output ? ND_RESULTS : ND_ELEMENTS};
}

static char *element(const view *x, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < x->a.ndim; d++)
        at += index[d] * x->strides[d];
    return x->a.data + at * dtypes[x->type].size;
}

static bool next_index(int ndim, const int64_t *shape, int64_t *index) {
    for (int d = ndim - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static void view_fill(view *x) {
    int64_t index[AXES + 1] = {0};
    int64_t low = x->type == DT_BOOL || dtypes[x->type].kind == DK_INTEGER ? !dtypes[x->type].is_signed ? 0 : -9 : -9;
    int64_t high = low < 0 && chance(20) ? -1 : 9;
    bool rare = x->type == DT_BOOL, none = false;
    for (int d = 0; d < x->a.ndim; d++)
        none |= x->shape[d] == 0;
    if (none)
        return;
    do
        put_value(x->type, element(x, index), rare ? chance(2) : pick(low, high));
    while (next_index(x->a.ndim, x->shape, index));
}

/* ---- One call ---- */

typedef struct call {
    const sample *x;
    fold f;
    arena arena;
    int ndim;
    int64_t shape[AXES];
    uint64_t axes;
    view in[VALUES], out[VALUES], mask;
    bool masked, initial;
    int some; /* percent of the elements that take part */
    int64_t first[VALUES];
    nd_array arrays[ARRAYS];
    int narrays;
    int64_t expected[VALUES][ELEMENTS];
    bool left_alone[ELEMENTS];
} call;

static void draw_shape(call *c) {
    c->ndim = (int)pick(1, AXES);
    for (bool fits = false; !fits;) {
        int64_t n = 1;
        for (int d = 0; d < c->ndim; d++) {
            static const int64_t some[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 64, 100, 128, 257, 1000, 4100};
            c->shape[d] = some[pick(0, COUNT(some) - 1)];
            n *= c->shape[d];
        }
        fits = n <= ELEMENTS;
    }
    c->axes = (uint64_t)pick(0, (1 << c->ndim) - 1);
    if (chance(30))
        c->axes = (1u << c->ndim) - 1;
}

/* Makes the two inputs fields of records, in one block. */
static void interleave_inputs(call *c) {
    view *x = &c->in[0], *y = &c->in[1];
    int64_t lowest = 0, highest = 0, size = dtypes[x->type].size, apart = chance(80) ? 2 : pick(3, 4);
    free(x->block);
    free(y->block);
    for (int d = 0; d < x->a.ndim; d++) {
        x->strides[d] *= apart;
        int64_t reach = x->strides[d] * (x->shape[d] - 1);
        *(reach < 0 ? &lowest : &highest) += reach;
    }
    int64_t shift = chance(30) ? pick(1, 3) : 0;
    x->block = aligned_alloc(64, (size_t)((highest - lowest + 2 + shift) * size + 127) / 64 * 64);
    y->block = NULL;
    memcpy(y->strides, x->strides, sizeof y->strides);
    memcpy(y->shape, x->shape, sizeof y->shape);
    y->type = x->type;
    y->a = x->a;
    y->a.shape = y->shape;
    y->a.strides = y->strides;
    char *first = x->block + (shift - lowest) * size;
    bool swapped = chance(30);
    x->a.data = first + (swapped ? size : 0);
    y->a.data = first + (swapped ? 0 : size);
    view_fill(x);
    view_fill(y);
}

static void draw_arrays(call *c) {
    int64_t shape[AXES];
    int ndim;
    nd_fold_results(c->ndim, c->shape, c->axes, 0, &ndim, shape);
    c->narrays = 0;
    for (int k = 0; k < c->x->nin; k++) {
        view_make(&c->in[k], memory_for(c->x->in[k]), c->ndim, c->shape, false);
        view_fill(&c->in[k]);
    }
    if (c->x->nin == 2 && c->x->in[0] == c->x->in[1] && chance(50))
        interleave_inputs(c);
    for (int k = 0; k < c->x->nin; k++)
        c->arrays[c->narrays++] = c->in[k].a;
    for (int k = 0; k < c->x->nout; k++) {
        view_make(&c->out[k], c->x->out[k], ndim, shape, true);
        c->arrays[c->narrays++] = c->out[k].a;
    }
    if (c->masked) {
        view_make(&c->mask, DT_BOOL, c->ndim, c->shape, false);
        int64_t index[AXES] = {0};
        do
            *element(&c->mask, index) = chance(c->some);
        while (next_index(c->ndim, c->shape, index));
        c->arrays[c->narrays++] = c->mask.a;
    }
}

static void expect(call *c) {
    const sample *x = c->x;
    int64_t index[AXES] = {0}, results = 1;
    static int64_t state[ELEMENTS][VALUES], count[ELEMENTS], place[ELEMENTS];
    static bool any[ELEMENTS];
    for (int d = 0; d < c->ndim; d++)
        results *= c->axes >> d & 1 ? 1 : c->shape[d];
    for (int64_t r = 0; r < results; r++) {
        any[r] = c->initial || x->identity;
        count[r] = place[r] = 0;
        memset(state[r], 0, sizeof state[r]);
        if (x->begin)
            memcpy(state[r], x->begin, sizeof state[r]);
        if (c->initial)
            memcpy(state[r], c->first, sizeof c->first);
    }
    bool nothing = c->ndim && c->shape[c->ndim - 1] == 0;
    if (!nothing)
        do {
            int64_t r = 0, in[VALUES], mapped[VALUES] = {0}, both[VALUES];
            for (int d = 0; d < c->ndim; d++)
                if (!(c->axes >> d & 1))
                    r = r * c->shape[d] + index[d];
            int64_t position = place[r]++;
            if (c->masked && !*element(&c->mask, index))
                continue;
            for (int k = 0; k < x->nin; k++)
                in[k] = value_at(c->in[k].type, element(&c->in[k], index));
            if (x->to_state)
                x->to_state(in, position, mapped);
            else
                memcpy(mapped, in, sizeof in);
            x->join(state[r], mapped, both);
            memcpy(state[r], any[r] ? both : mapped, sizeof both);
            any[r] = true;
            count[r]++;
        } while (next_index(c->ndim, c->shape, index));
    for (int64_t r = 0; r < results; r++) {
        int64_t out[VALUES];
        memcpy(out, state[r], sizeof out);
        if (x->result)
            x->result(state[r], count[r], out);
        c->left_alone[r] = !any[r];
        for (int k = 0; k < x->nout; k++)
            c->expected[k][r] = out[k];
    }
}

/* ---- Running it ---- */

static code_module generate(arena *a, const fold *f, const variant *v) {
    code_module m = {.max_steps = 100};
    if (ir_fold(a, "simulated", f, v, &gpu, &m))
        fail_msg("%s", uf_last_error()->message);
    return m;
}

static void describe(const call *c, const variant *v, const grid *g) {
    fprintf(stderr, "%s over", c->x->name);
    for (int d = 0; d < c->ndim; d++)
        fprintf(stderr, " %lld%s", (long long)c->shape[d], c->axes >> d & 1 ? "*" : "");
    fprintf(stderr,
            "%s%s: ndim %d reduced %d columns %d wide %d vector %d repeat %d coop %d results %d length %d from %d to "
            "%d counted "
            "%d, %u "
            "blocks of %u\n",
            c->masked ? " masked" : "", c->initial ? " initial" : "", v->ndim, v->reduction.reduced,
            v->reduction.columns, v->wide, v->fold.vector, v->fold.accesses, v->fold.coop, v->fold.results,
            v->fold.length, v->reduction.from_states, v->reduction.to_states, v->reduction.counted, g->blocks,
            g->threads);
    for (int k = 0; k < variant_operands(v); k++)
        fprintf(stderr, "  operand %d: %s as %s, kind %d\n", k, dtypes[v->operand[k].memory].name,
                dtypes[v->operand[k].value].name, v->operand[k].kind);
    if (getenv("SHOW_IR")) {
        arena a = {0};
        code_module m = generate(&a, &c->f, v);
        puts(m.ir.data);
        text_free(&m.ir);
        arena_free(&a);
    }
}

static variant last_variant;
static grid last_grid;
static const volatile int never; /* a call is not cancelled */
static bool simulated;           /* all launches of the call: there are results */

static void run(const call *c, launch *l) {
    arena a = {0};
    uint64_t words[512];
    grid g;
    occupancy r = {.block = 256, .sms = 1};
    report said = {.cancel = (uintptr_t)&never};
    l->report = &said;
    int nparameters = schema_count(l->v, NULL, true);
    assert_true(nparameters <= (int)COUNT(words));
    assert_int_equal(gpu_layout(l, &r, words, &g), UF_OK);
    last_variant = *l->v;
    last_grid = g;
    code_module m = generate(&a, &c->f, l->v);
    if (shared_bytes(m.ir.data) > SHARED_FREE) {
        describe(c, l->v, &g);
        fail_msg("%d bytes of shared memory", shared_bytes(m.ir.data));
    }
    if (nvvm_found() && chance(15)) {
        const char *complaint = nvvm_judge(&m, 90, chance(50), NULL);
        if (complaint) {
            describe(c, l->v, &g);
            fail_msg("%s", complaint);
        }
    }
    simulated = simulated && sim_can(&m);
    if (simulated) {
        const char *wrong = sim_run(&m, words, nparameters, (int)g.blocks, (int)g.threads);
        if (wrong) {
            describe(c, l->v, &g);
            fail_msg("%s", wrong);
        }
        assert_int_equal(said.state, 0);
    }
    text_free(&m.ir);
    arena_free(&a);
}

static void addresses(const nd_fold *loops, const variant *v, const nd_array *arrays, char **data) {
    for (int k = 0; k < variant_operands(v); k++)
        data[k] = arrays[k].data + loops->kept.offset[k] * (arrays[k].role == ND_POSITION ? 1 : arrays[k].size);
}

static void states_into(const call *c, variant *v, int first) {
    for (int k = 0; k < c->x->nstate; k++)
        v->operand[first + k].memory = v->operand[first + k].value = (uint8_t)c->x->state[k];
    if (v->reduction.counted)
        v->operand[first + c->x->nstate].memory = v->operand[first + c->x->nstate].value = DT_INT64;
}

static void initial_into(const call *c, variant *v, uint64_t (*numbers)[2]) {
    v->ninitial = (uint8_t)(c->initial ? c->x->nstate : 0);
    for (int k = 0; k < v->ninitial; k++) {
        int at = variant_initial(v) + k;
        v->operand[at].memory = v->operand[at].value = (uint8_t)c->x->state[k];
        memset(numbers[at], 0, sizeof numbers[at]);
        put_value(c->x->state[k], numbers[at], c->first[k]);
        if (c->x->zeros)
            memcpy(numbers[at], &(double){c->first[k] ? -0.0 : 0.0}, sizeof(double));
    }
}

/* Operands after the bounds: initial values, position. */
static void others_into(const variant *v, nd_array *arrays) {
    for (int k = variant_initial(v); k < variant_position(v); k++)
        arrays[k] = (nd_array){.number = true, .size = 1};
    if (v->position)
        arrays[variant_position(v)] = (nd_array){.role = ND_POSITION, .size = 8};
}

static void plan(const call *c, const nd_array *arrays, const variant *v, uint64_t axes, nd_fold *loops) {
    static int64_t space[4096];
    assert_true(nd_fold_space(AXES + 1, ARRAYS) <= sizeof space / 2);
    void *at = v->reduction.from_states ? space + COUNT(space) / 2 : space;
    if (nd_fold_plan(arrays, variant_operands(v), axes, c->x->order ? ND_KEEP_ORDER : 0, at, loops))
        fail_msg("%s", uf_last_error()->message);
}

static int grouped; /* inputs that were found to lie interleaved */

static void groups_find(const nd_fold *loops, const nd_array *arrays, variant *v) {
    nd_place place[VARIANT_OPERANDS] = {{0}};
    nd_member member[VARIANT_OPERANDS];
    if (v->reduction.empty)
        return;
    for (int k = 0; k < v->nin; k++) {
        const dtype_info *type = &dtypes[v->operand[k].memory];
        place[k] = (nd_place){(uintptr_t)arrays[k].data + (uintptr_t)(loops->kept.offset[k] * type->size), type->size,
                              type->align};
    }
    nd_fold_interleave(loops, place, v->nin, member);
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].group = member[k].group;
        v->operand[k].offset = member[k].offset;
        v->operand[k].align = member[k].align;
        assert_int_equal(member[k].record, 0);
        grouped += member[k].group != 0;
    }
}

/* So that small results have parts: log2 of the threads along them. */
static int few_threads(const variant *v) { return v->reduction.columns ? 1 : COOP_WARP; }

static bool small_device; /* so that few columns are enough for one visit of each */
static int in_parts;      /* calls whose results several blocks have parts of */

/* The parts' states, and the fold over them. */
static void run_parts(const call *c, variant *v, launch *l, const code_traits *size, int64_t chunk) {
    int64_t parts = (l->reduced->count + chunk - 1) / chunk, results = l->loop->count, shape[AXES + 1];
    int ndim, nstates = c->x->nstate + v->reduction.counted, nin = v->nin;
    nd_array arrays[ARRAYS] = {{0}}, second[ARRAYS] = {{0}};
    int64_t dense[AXES + 1], apart[AXES + 1];
    nd_fold loops, after;
    char *data[VARIANT_OPERANDS];
    uint64_t numbers[VARIANT_OPERANDS][2] = {{0}};
    memcpy(arrays, c->arrays, sizeof *arrays * (size_t)nin);
    nd_fold_results(c->ndim, c->shape, c->axes, 0, &ndim, shape);
    int64_t step = v->reduction.columns ? 1 : parts, parts_stride = v->reduction.columns ? results : 1;
    for (int d = ndim - 1; d >= 0; d--) {
        dense[d] = step;
        step *= shape[d];
    }
    char *block[VALUES + 1];
    for (int k = 0; k < nstates; k++) {
        dtype t = k < c->x->nstate ? c->x->state[k] : DT_INT64;
        block[k] = calloc((size_t)(results * parts + 1), dtypes[t].size);
        arrays[nin + k] = (nd_array){.data = block[k],
                                     .shape = shape,
                                     .strides = dense,
                                     .ndim = ndim,
                                     .size = dtypes[t].size,
                                     .output = true,
                                     .role = ND_RESULTS};
    }
    variant one = *v;
    one.reduction.to_states = 1;
    one.ninitial = 0;
    one.nout = (uint8_t)nstates;
    states_into(c, &one, nin);
    if (one.masked) {
        arrays[variant_mask(&one)] = c->mask.a;
        one.operand[variant_mask(&one)] = (variant_operand){.memory = DT_BOOL, .value = DT_BOOL};
    }
    others_into(&one, arrays);
    plan(c, arrays, &one, c->axes, &loops);
    const fold_problem problem = {.loops = &loops, .traits = size};
    int64_t own = small_device ? gpu_specialise_fold(&one, &problem, 0) : launch_specialise_fold(&one, &problem);
    bool fits = own == chunk || variant_interleaved_results(&one); /* whose parts take visits in turn */
    addresses(&loops, &one, arrays, data);
    launch first = {.v = &one,
                    .loop = &loops.kept,
                    .reduced = &loops.reduced,
                    .data = data,
                    .numbers = (const uint64_t(*)[2])numbers,
                    .chunk = chunk,
                    .chunk_stride = parts_stride,
                    .elements = loops.reduced.count};
    one.fold.results = 0; /* several results a cooperative group are for whole ones */
    if (!fits)
        one.fold.coop = (uint8_t)few_threads(&one);
    run(c, &first);
    in_parts += variant_interleaved_results(&one) && parts > 1;

    variant two = *v;
    two.reduction.from_states = 1;
    two.masked = two.position = 0;
    two.nin = (uint8_t)nstates;
    for (int k = 0; k < VARIANT_OPERANDS; k++)
        two.operand[k].group = two.operand[k].offset = two.operand[k].align = 0;
    shape[ndim] = parts;
    memcpy(apart, dense, sizeof apart);
    apart[ndim] = parts_stride;
    states_into(c, &two, 0);
    for (int k = 0; k < nstates; k++) {
        second[k] = arrays[nin + k];
        second[k].ndim = ndim + 1;
        second[k].strides = apart;
        second[k].output = false;
        second[k].role = ND_ELEMENTS;
    }
    for (int k = 0; k < c->x->nout; k++) {
        second[nstates + k] = c->out[k].a;
        two.operand[nstates + k] = (variant_operand){.memory = (uint8_t)c->x->out[k], .value = (uint8_t)c->x->out[k]};
    }
    initial_into(c, &two, numbers);
    others_into(&two, second);
    plan(c, second, &two, (uint64_t)1 << ndim, &after);
    assert_int_equal(launch_specialise_fold(&two, &(fold_problem){.loops = &after, .traits = size, .whole = true}), 0);
    addresses(&after, &two, second, data);
    launch last = {.v = &two,
                   .loop = &after.kept,
                   .reduced = &after.reduced,
                   .data = data,
                   .numbers = (const uint64_t(*)[2])numbers,
                   .elements = loops.reduced.count};
    run(c, &last);
    for (int k = 0; k < nstates; k++)
        free(block[k]);
}

static void run_call(call *c) {
    const sample *x = c->x;
    code_traits size;
    nd_fold loops;
    variant v;
    char *data[VARIANT_OPERANDS];
    uint64_t numbers[VARIANT_OPERANDS][2] = {{0}};
    memset(&v, 0, sizeof v);
    ir_fold_traits(&c->f, &size);
    v.loop = LOOP_FOLD;
    v.reports = (uint8_t)(chance(30) ? pick(1, 3) * REPORTS_STEPS : 0);
    v.nin = (uint8_t)x->nin;
    v.nout = (uint8_t)x->nout;
    v.masked = c->masked;
    v.position = x->position;
    for (int k = 0; k < x->nin; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)c->in[k].type, .value = (uint8_t)x->in[k]};
    for (int k = 0; k < x->nout; k++)
        v.operand[x->nin + k] = (variant_operand){.memory = (uint8_t)x->out[k], .value = (uint8_t)x->out[k]};
    if (v.masked)
        v.operand[variant_mask(&v)] = (variant_operand){.memory = DT_BOOL, .value = DT_BOOL};
    initial_into(c, &v, numbers);
    code_items(&v, &size);
    others_into(&v, c->arrays);
    plan(c, c->arrays, &v, c->axes, &loops);
    v.reduction.empty = loops.reduced.count == 0;
    groups_find(&loops, c->arrays, &v);
    const fold_problem problem = {.loops = &loops, .traits = &size};
    int64_t chunk = small_device ? gpu_specialise_fold(&v, &problem, 0) : launch_specialise_fold(&v, &problem);
    if (chance(20))
        v.wide = 1;
    addresses(&loops, &v, c->arrays, data);
    launch l = {.v = &v,
                .loop = &loops.kept,
                .reduced = &loops.reduced,
                .data = data,
                .numbers = (const uint64_t(*)[2])numbers,
                .elements = loops.reduced.count};
    if (!chunk && !v.reduction.empty && x->order != FOLD_SERIAL && chance(25))
        chunk = variant_interleaved_results(&v)
                    ? pick(1, 2) * variant_wrapped(&v) * v.fold.accesses /* whole visits: no part is without elements */
                    : pick(2, 4) * v.fold.vector * v.fold.accesses << few_threads(&v);
    if (chunk && chunk < loops.reduced.count)
        run_parts(c, &v, &l, &size, chunk);
    else
        run(c, &l);
}

static void compare(const call *c) {
    for (int k = 0; k < c->x->nout; k++) {
        int64_t index[AXES] = {0}, r = 0;
        do {
            int64_t got = value_at(c->out[k].type, element(&c->out[k], index));
            if (!c->left_alone[r] && got != c->expected[k][r]) {
                describe(c, &last_variant, &last_grid);
                fail_msg("%s, result %lld of output %d is %lld, expected %lld", c->x->name, (long long)r, k,
                         (long long)got, (long long)c->expected[k][r]);
            }
            r++;
        } while (next_index(c->out[k].a.ndim, c->out[k].shape, index));
    }
}

/* The shape is drawn already. */
static void check_call(call *c) {
    draw_arrays(c);
    expect(c);
    simulated = true;
    run_call(c);
    if (simulated)
        compare(c);
    for (int k = 0; k < c->x->nin; k++)
        free(c->in[k].block);
    for (int k = 0; k < c->x->nout; k++)
        free(c->out[k].block);
    if (c->masked)
        free(c->mask.block);
    arena_free(&c->arena);
}

static void call_begin(call *c, const sample *x, bool initial) {
    memset(c, 0, sizeof *c);
    c->x = x;
    c->f = fold_of(&c->arena, x);
    c->initial = initial;
    for (int k = 0; k < VALUES; k++)
        c->first[k] = pick(x->in[0] == DT_INT64 ? -3 : 0, 1);
}

static void test_simulated(void **state) {
    static call c;
    (void)state;
    int64_t n = trials(110);
    grouped = 0;
    for (int64_t i = 0; i < n; i++) {
        call_begin(&c, &samples[i % (int64_t)COUNT(samples)], chance(40));
        c.masked = chance(35);
        c.some = chance(25) ? 0 : chance(30) ? 5 : 60;
        draw_shape(&c);
        check_call(&c);
    }
    assert_true(n < 110 || grouped);
}

/* Results of every number of elements around the bound up to which code is generated for that number. */
static void test_short(void **state) {
    static call c;
    int constant = 0, staged = 0;
    (void)state;
    for (int64_t i = 0; i < trials(198); i++) {
        int64_t n = i % 66 + 1;
        call_begin(&c, &samples[pick(0, COUNT(samples) - 1)], chance(40));
        c.masked = chance(30);
        c.some = chance(25) ? 0 : chance(30) ? 5 : 60;
        c.ndim = chance(70) ? 2 : 3;
        c.shape[0] = c.ndim == 2 ? 128 * pick(1, 2) + (chance(50) ? pick(0, 60) : 0) : pick(2, 9);
        c.shape[c.ndim - 2] = c.ndim == 2 ? c.shape[0] : pick(30, 40);
        c.shape[c.ndim - 1] = n;
        c.axes = (uint64_t)1 << (c.ndim - 1);
        check_call(&c);
        constant += last_variant.fold.length > 0;
        for (int k = 0; k < c.x->nin; k++)
            staged += last_variant.fold.length && last_variant.operand[k].staged;
        assert_true(!last_variant.fold.length || last_variant.fold.length == n);
    }
    assert_true(constant && staged);
}

/* Results side by side, few before the next ones, whose inputs are planes in shared memory. */
static void test_short_planes(void **state) {
    static call c;
    int planes = 0, parts = 0, loops = 0;
    (void)state;
    for (int64_t i = 0; i < trials(20) || (i < 1000 && !(planes && parts && loops)); i++) {
        int64_t side = chance(20) ? pick(100, 260) : pick(2, 40), n = chance(40) ? pick(65, 75) : pick(2, 8);
        call_begin(&c, &samples[pick(0, COUNT(samples) - 1)], chance(40));
        c.ndim = 3;
        c.shape[0] = 4096 / side + pick(1, 9);
        c.shape[1] = n;
        c.shape[2] = side;
        c.axes = 2;
        check_call(&c);
        planes += last_variant.fold.plane > 0;
        loops += last_variant.fold.plane && last_variant.fold.length > ROW_STRAIGHT;
        parts += last_variant.fold.plane && c.shape[0] % last_variant.fold.results; /* the last block has fewer */
        assert_true(!last_variant.fold.plane || last_variant.fold.length == n);
    }
    assert_true(planes && parts && loops);
}

/* Few results whose elements lie side by side without gaps: whole visits, rows that are left over, and the last row in part. */
static void test_interleaved_results(void **state) {
    static call c;
    int whole = 0, rest = 0;
    (void)state;
    small_device = true;
    in_parts = 0;
    for (int64_t i = 0; i < trials(20) || (i < 2000 && !(whole > 2 && rest > 2 && in_parts > 2)); i++) {
        int64_t side = chance(20) ? pick(60, 255) : pick(2, 40);
        call_begin(&c, &samples[pick(0, COUNT(samples) - 1)], chance(40));
        c.ndim = 2;
        c.shape[0] = pick(256, 19000 / side < 260 ? 260 : 19000 / side);
        c.shape[1] = side;
        c.axes = 1;
        if (c.shape[0] * side > ELEMENTS)
            continue;
        check_call(&c);
        if (last_variant.reduction.from_states || !variant_interleaved_results(&last_variant))
            continue;
        int64_t visit = (int64_t)variant_wrapped(&last_variant) * last_variant.fold.accesses;
        assert_true(variant_wrapped(&last_variant) * side % last_variant.fold.vector == 0);
        assert_true(variant_wrapped(&last_variant) * side <= FOLD_INTERLEAVED_THREADS * last_variant.fold.vector);
        assert_int_equal(last_grid.threads, FOLD_INTERLEAVED_THREADS);
        whole += c.shape[0] >= visit;
        rest += c.shape[0] % visit != 0;
    }
    small_device = false;
    assert_true(whole > 2 && rest > 2 && in_parts > 2);
}

/* Columns of every number of elements around the bound up to which they are one visit. */
static void test_short_columns(void **state) {
    static call c;
    int constant = 0, vectors = 0;
    (void)state;
    small_device = true;
    for (int64_t i = 0; i < trials(54); i++) {
        int64_t n = i % 18 + 1;
        call_begin(&c, &samples[pick(0, COUNT(samples) - 1)], chance(40));
        c.masked = chance(30);
        c.some = chance(25) ? 0 : chance(30) ? 5 : 60;
        c.ndim = chance(70) ? 2 : 3;
        c.shape[c.ndim - 2] = n;
        c.shape[c.ndim - 1] = chance(50) ? 1024 : 1024 + pick(0, 100);
        if (c.ndim == 3)
            c.shape[0] = 2;
        c.axes = (uint64_t)1 << (c.ndim - 2);
        if (n * c.shape[c.ndim - 1] * (c.ndim == 3 ? 2 : 1) > ELEMENTS)
            c.shape[c.ndim - 1] = 1024 / (c.ndim - 1);
        check_call(&c);
        if (last_variant.reduction.columns && last_variant.fold.length) {
            assert_int_equal(last_variant.fold.length, n);
            constant++;
            vectors +=
                last_variant.fold.vector > 1 && last_variant.operand[last_variant.nin].kind == OPERAND_CONTIGUOUS;
        }
    }
    small_device = false;
    assert_true(constant && vectors);
}

static void test_nothing(void **state) {
    static call c;
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(samples); i++) {
        call_begin(&c, &samples[i / 2], i % 2);
        c.ndim = (int)pick(1, 3);
        for (int d = 0; d < c.ndim - 1; d++)
            c.shape[d] = pick(1, 70);
        c.axes = (uint64_t)pick(0, (1 << c.ndim) - 1) | (uint64_t)1 << (c.ndim - 1);
        if (c.initial || c.x->identity)
            check_call(&c);
        else
            arena_free(&c.arena);
    }
}

/* A row of one input, and one output. */
static variant strided_variant(dtype type) {
    variant v = {.loop = LOOP_FOLD,
                 .ndim = 1,
                 .nin = 1,
                 .nout = 1,
                 .reduction = {.reduced = 1},
                 .fold = {.vector = 1, .accesses = 1}};
    for (int k = 0; k < 2; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)type, .value = (uint8_t)type, .kind = OPERAND_STRIDED};
    return v;
}

static void test_golden(void **state) {
    (void)state;
    arena a = {0};
    const sample *x = samples;
    while (strcmp(x->name, "minus") != 0)
        x++;
    fold f = fold_of(&a, x);
    variant v = strided_variant(DT_INT64);
    code_module m = generate(&a, &f, &v);
    judge_golden("fold_gpu", &m);
    arena_free(&a);
}

/* Is the first row taken in place of one that does not exist? */
static bool takes_first_row(const sample *x, bool staged) {
    arena a = {0};
    fold f = fold_of(&a, x);
    variant v = strided_variant(x->in[0]);
    v.fold.results = 2;
    v.fold.length = 3;
    v.operand[0].staged = staged;
    code_module m = generate(&a, &f, &v);
    bool takes = strstr(m.ir.data, ", i32 0\n");
    text_free(&m.ir);
    arena_free(&a);
    return takes;
}

/* Threads compute with what lies in the room of rows that do not exist, but not by loops, which might not end, and not out of an array. */
static void test_rows_that_do_not_exist(void **state) {
    static const sample
        straight = {"straight", NULL,       "(a, b) { return a + b; }",
                    NULL,       NULL,       1,
                    1,          1,          {DT_INT64},
                    {DT_INT64}, {DT_INT64}, .join = join_sum},
        loops = {"loops",    NULL,       "(a, b) { long s = a; for (long i = 0; i != b; i++) s++; return s; }",
                 NULL,       NULL,       1,
                 1,          1,          {DT_INT64},
                 {DT_INT64}, {DT_INT64}, .join = join_sum};
    (void)state;
    assert_false(takes_first_row(&straight, true));
    assert_true(takes_first_row(&loops, true));
    assert_true(takes_first_row(&straight, false));
}

static int count_text(const char *in, const char *what) {
    int n = 0;
    for (; (in = strstr(in, what)) != NULL; in++)
        n++;
    return n;
}

/* In how many places the kernel of rows, by two warps whose threads have 4 accesses of 4 at a time, combines. */
static int copies(const char *name, bool once) {
    arena a = {0};
    const sample *x = samples;
    while (strcmp(x->name, name) != 0)
        x++;
    fold f = fold_of(&a, x);
    variant v = strided_variant(DT_FLOAT32);
    v.position = x->position;
    v.nout = (uint8_t)x->nout;
    v.operand[0].kind = OPERAND_CONTIGUOUS;
    for (int k = 1; k <= x->nout; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)x->out[k - 1], .value = (uint8_t)x->out[k - 1]};
    v.operand[x->nout + 1] = (variant_operand){.memory = DT_INT64, .value = DT_INT64, .kind = OPERAND_POSITION};
    v.fold.vector = v.fold.accesses = 4;
    v.fold.coop = 6;
    v.fold.once = once;
    code_module m = generate(&a, &f, &v);
    int n = count_text(m.ir.data, " @combine(") - 1; /* where it is defined */
    text_free(&m.ir);
    arena_free(&a);
    return n;
}

/* What is no whole visit is a second visit; where there is none but that, the first one is not there. Where combining is long, the second one
 * takes half as many accesses at a time, and lanes combine in a loop, but for results that are one visit. The elements at the ends of a line
 * go one at a time. */
static void test_copies(void **state) {
    enum {
        VISIT = 16,
        HALF = 8,
        LEVEL = 1, /* what the inner level found, into the outer one */
        ENDS = 1,
        LANES = 5 + 1,
        LOOPS = 1 + 1
    };
    (void)state;
    assert_int_equal(copies("largest", false), VISIT + LEVEL + VISIT + ENDS + LANES);
    assert_int_equal(copies("largest", true), VISIT + ENDS + LANES);
    assert_int_equal(copies("argmax", true), VISIT + ENDS + LANES);
    assert_int_equal(copies("argmax", false), VISIT + LEVEL + HALF + ENDS + LOOPS);
}

/* ---- Segments ---- */

/* Results of segments of lines of a matrix; those that begin outside are left alone. */
static void expect_segments(call *c, const int64_t *bounds, int64_t segments) {
    const sample *x = c->x;
    int64_t n = c->shape[1];
    for (int64_t r = 0; r < c->shape[0] * segments; r++) {
        int64_t i = r % segments, begin = bounds[i], end = bounds[i + 1] > begin ? bounds[i + 1] : begin + 1;
        int64_t state[VALUES], in[VALUES], mapped[VALUES] = {0}, out[VALUES];
        c->left_alone[r] = begin < 0 || begin >= n;
        for (int64_t k = begin; !c->left_alone[r] && k < end && k < n; k++) {
            for (int j = 0; j < x->nin; j++)
                in[j] = value_at(c->in[j].type, element(&c->in[j], (int64_t[]){r / segments, k}));
            if (x->to_state)
                x->to_state(in, k, mapped);
            else
                memcpy(mapped, in, sizeof in);
            memcpy(out, mapped, sizeof out);
            if (k > begin)
                x->join(state, mapped, out);
            memcpy(state, out, sizeof state);
        }
        if (x->result && !c->left_alone[r])
            x->result(state, (end < n ? end : n) - begin, out);
        for (int k = 0; k < x->nout && !c->left_alone[r]; k++)
            c->expected[k][r] = out[k];
    }
}

static void run_segments(call *c, int64_t *bounds, int64_t segments) {
    const sample *x = c->x;
    code_traits size;
    nd_fold loops;
    variant v;
    char *data[VARIANT_OPERANDS];
    memset(&v, 0, sizeof v);
    ir_fold_traits(&c->f, &size);
    v.loop = LOOP_FOLD;
    v.nin = (uint8_t)x->nin;
    v.nout = (uint8_t)x->nout;
    v.segmented = 1;
    v.position = x->position;
    code_items(&v, &size);
    for (int k = 0; k < x->nin; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)c->in[k].type, .value = (uint8_t)x->in[k]};
    for (int k = 0; k < x->nout; k++)
        v.operand[x->nin + k] = (variant_operand){.memory = (uint8_t)x->out[k], .value = (uint8_t)x->out[k]};
    for (int k = 0; k < 2; k++) {
        v.operand[variant_bounds(&v) + k] = (variant_operand){.memory = DT_INT64, .value = DT_INT64};
        c->arrays[variant_bounds(&v) + k] = (nd_array){
            .data = (char *)(bounds + k), .shape = &segments, .ndim = 1, .size = sizeof *bounds, .role = ND_BOUNDS};
    }
    others_into(&v, c->arrays);
    plan(c, c->arrays, &v, 2, &loops);
    launch_specialise_fold(&v, &(fold_problem){.loops = &loops, .traits = &size, .whole = true});
    addresses(&loops, &v, c->arrays, data);
    const uint64_t numbers[VARIANT_OPERANDS][2] = {{0}};
    launch l = {.v = &v,
                .loop = &loops.kept,
                .reduced = &loops.reduced,
                .data = data,
                .numbers = numbers,
                .elements = loops.reduced.count};
    run(c, &l);
}

static void test_segments(void **state) {
    static call c;
    (void)state;
    int64_t n = trials(40), bounds[24];
    for (int64_t i = 0; i < n; i++) {
        memset(&c, 0, sizeof c);
        c.x = &samples[i % (int64_t)COUNT(samples)];
        c.f = fold_of(&c.arena, c.x);
        c.ndim = 2;
        c.shape[0] = pick(1, 3) * pick(1, 20);
        c.shape[1] = pick(1, 300);
        int64_t segments = pick(1, 20), shape[] = {c.shape[0], segments};
        for (int64_t k = 0; k < segments; k++)
            bounds[k] = chance(5) ? c.shape[1] : pick(0, c.shape[1] - 1);
        bounds[segments] = c.shape[1];
        for (int k = 0; k < c.x->nin; k++) {
            view_make(&c.in[k], memory_for(c.x->in[k]), 2, c.shape, false);
            view_fill(&c.in[k]);
            c.arrays[k] = c.in[k].a;
        }
        for (int k = 0; k < c.x->nout; k++) {
            view_make(&c.out[k], c.x->out[k], 2, shape, true);
            c.arrays[c.x->nin + k] = c.out[k].a;
        }
        expect_segments(&c, bounds, segments);
        simulated = true;
        run_segments(&c, bounds, segments);
        if (simulated)
            compare(&c);
        for (int k = 0; k < c.x->nin; k++)
            free(c.in[k].block);
        for (int k = 0; k < c.x->nout; k++)
            free(c.out[k].block);
        arena_free(&c.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_simulated),
                                       cmocka_unit_test(test_short),
                                       cmocka_unit_test(test_short_planes),
                                       cmocka_unit_test(test_interleaved_results),
                                       cmocka_unit_test(test_short_columns),
                                       cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_golden),
                                       cmocka_unit_test(test_segments),
                                       cmocka_unit_test(test_rows_that_do_not_exist),
                                       cmocka_unit_test(test_copies)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
