/* test_core.c - core dimensions: random layouts, shapes, strides and axes against a second formulation of the rules (sets
 * of extents, NumPy's own procedure for optional dimensions); overlap against sets of addresses; every error's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "nd/nd.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

enum {
    MAX_ARGS = 6,
    MAX_RANK = 12
};

/* ---- A call ---- */

typedef struct call {
    arena memory;
    char source[512];
    core_layout l;
    int n;
    nd_array arrays[MAX_ARGS];
    int64_t shape[MAX_ARGS][MAX_RANK], strides[MAX_ARGS][MAX_RANK];
    uf_axes axes; /* size 0: none are given */
    uf_axis_list lists[MAX_ARGS];
    int list[MAX_ARGS][LAYOUT_MAX_RANK], axis;
} call;

static const uf_axes *axes_of(const call *c) { return c->axes.size ? &c->axes : NULL; }

static void print_call(const call *c) {
    print_message("%s%s\n", c->source, c->axes.keepdims ? " keepdims" : "");
    if (c->axes.axis)
        print_message("axis %d\n", *c->axes.axis);
    for (int k = 0; k < c->n; k++) {
        print_message("%d: shape", k);
        for (int d = 0; d < c->arrays[k].ndim; d++)
            print_message(" %lld", (long long)c->shape[k][d]);
        print_message(c->arrays[k].strides ? " strides" : " dense");
        for (int d = 0; d < c->arrays[k].ndim && c->arrays[k].strides; d++)
            print_message(" %lld", (long long)c->strides[k][d]);
        if (k < c->axes.count)
            print_message(" axes");
        for (int i = 0; k < c->axes.count && i < c->lists[k].count; i++)
            print_message(" %d", c->list[k][i]);
        print_message("\n");
    }
}

/* ---- What the call should come to ---- */

typedef struct truth {
    uf_status status;
    uint64_t missing;
    int ncore[MAX_ARGS], core[MAX_ARGS][LAYOUT_MAX_RANK]; /* dimensions of the array */
    int nloop[MAX_ARGS], loop[MAX_ARGS][MAX_RANK];
    int at[MAX_ARGS][LAYOUT_MAX_RANK]; /* by core dimension of the layout; -1: missing */
    int64_t size[LAYOUT_MAX_DIMS];
} truth;

static int64_t stride_of(const nd_array *a, int d) {
    int64_t stride = 1;
    if (a->strides)
        return a->strides[d];
    for (int i = d + 1; i < a->ndim; i++)
        stride *= a->shape[i] ? a->shape[i] : 1;
    return stride;
}

/* NumPy's procedure: counts of core dimensions that go down one by one. */
static bool missing_ones(const call *c, truth *t) {
    for (int k = 0; k < c->l.nin + c->l.nout; k++)
        t->ncore[k] = c->axes.keepdims && k >= c->l.nin ? c->l.operands[0].rank : c->l.operands[k].rank;
    for (int k = 0; k < c->n; k++) {
        const layout_operand *o = &c->l.operands[k];
        for (int i = 0; i < o->rank && c->arrays[k].ndim < t->ncore[k]; i++) {
            int d = o->dim[i];
            if (!c->l.dims[d].optional || t->missing >> d & 1)
                continue;
            t->missing |= (uint64_t)1 << d;
            for (int j = 0; j < c->l.nin + c->l.nout; j++)
                for (int m = 0; m < c->l.operands[j].rank; m++)
                    t->ncore[j] -= c->l.operands[j].dim[m] == d;
        }
        if (c->arrays[k].ndim < t->ncore[k])
            return false;
    }
    return true;
}

/* As numpy.moveaxis(a, axes, [-ncore, .., -1]) orders them. */
static bool order_axes(const call *c, int k, truth *t) {
    int ndim = c->arrays[k].ndim, n = t->ncore[k];
    for (int i = 0; i < n; i++) {
        int axis = ndim - n + i;
        if (c->axes.axis)
            axis = *c->axes.axis;
        else if (k < c->axes.count)
            axis = c->list[k][i];
        axis += axis < 0 ? ndim : 0;
        if (axis < 0 || axis >= ndim)
            return false;
        for (int j = 0; j < i; j++)
            if (t->core[k][j] == axis)
                return false;
        t->core[k][i] = axis;
    }
    t->nloop[k] = 0;
    for (int d = 0; d < ndim; d++) {
        bool core = false;
        for (int i = 0; i < n; i++)
            core |= t->core[k][i] == d;
        if (!core)
            t->loop[k][t->nloop[k]++] = d;
    }
    for (int i = 0, next = 0; i < c->l.operands[k].rank; i++)
        t->at[k][i] = t->missing >> c->l.operands[k].dim[i] & 1 ? -1 : t->core[k][next++];
    return k >= c->axes.count || c->lists[k].count == n;
}

enum {
    PLAIN,
    STRETCHED,
    OUTPUT,
    SETS
};

/* The extents that dimension d has in the call, by how it occurs; at most 16 each. */
typedef struct extents {
    int count[SETS];
    int64_t value[SETS][64];
} extents;

static void collect(const call *c, const truth *t, int d, extents *e) {
    memset(e, 0, sizeof *e);
    for (int k = 0; k < c->n; k++) {
        const layout_operand *o = &c->l.operands[k];
        for (int i = 0; i < o->rank; i++) {
            int set = k >= c->l.nin ? OUTPUT : o->stretch[i] ? STRETCHED : PLAIN;
            if (o->dim[i] == d && t->at[k][i] >= 0)
                e->value[set][e->count[set]++] = c->shape[k][t->at[k][i]];
        }
    }
}

static bool all_are(const extents *e, int set, int64_t size, int64_t or_this) {
    for (int i = 0; i < e->count[set]; i++)
        if (e->value[set][i] != size && e->value[set][i] != or_this)
            return false;
    return true;
}

/* The size of a name from its extents; -1 if nothing tells. */
static int64_t from_extents(const extents *e) {
    if (e->count[PLAIN])
        return e->value[PLAIN][0];
    for (int i = 0; i < e->count[STRETCHED]; i++)
        if (e->value[STRETCHED][i] != 1)
            return e->value[STRETCHED][i];
    if (e->count[STRETCHED])
        return 1;
    return e->count[OUTPUT] ? e->value[OUTPUT][0] : -1;
}

static bool sizes_agree(const call *c, truth *t) {
    extents e;
    bool fine = true;
    for (int computed = 0; computed < 2; computed++)
        for (int d = 0; d < c->l.ndims; d++) {
            const layout_dim *dim = &c->l.dims[d];
            if ((dim->steps != NULL) != computed)
                continue;
            collect(c, t, d, &e);
            if (t->missing >> d & 1)
                t->size[d] = 1;
            else if (computed)
                fine = fine && layout_compute(dim, t->size, &t->size[d]);
            else
                t->size[d] = dim->frozen ? dim->frozen : from_extents(&e);
            fine = fine && t->size[d] >= 0 && all_are(&e, PLAIN, t->size[d], t->size[d]) &&
                   all_are(&e, STRETCHED, t->size[d], 1) && all_are(&e, OUTPUT, t->size[d], t->size[d]);
        }
    return fine;
}

static void find_truth(const call *c, truth *t) {
    memset(t, 0, sizeof *t);
    t->status = UF_ERR_SHAPE;
    if (!missing_ones(c, t))
        return;
    for (int k = 0; k < c->n; k++) {
        if (!order_axes(c, k, t)) {
            t->status = UF_ERR_ARGUMENT;
            return;
        }
        for (int i = 0; i < t->ncore[k]; i++)
            if (c->axes.keepdims && k >= c->l.nin && c->shape[k][t->core[k][i]] != 1)
                return;
    }
    if (sizes_agree(c, t))
        t->status = UF_OK;
}

/* ---- Random calls ---- */

static const char *const names[] = {"n", "m", "p"};

/* nin, nout operands; names are optional as their bit in optional says. */
static void draw_layout(call *c) {
    int nin = (int)pick(0, 3), n = nin + (int)pick(1, 2), optional = chance(40) ? (int)pick(0, 7) : 0, plain = 0;
    bool scalars = chance(25), alike = chance(25);
    char *at = c->source;
    for (int k = 0; k < n; k++) {
        int rank = k >= nin && scalars ? 0 : alike ? 1 : (int)pick(0, 3);
        at += sprintf(at, "%s(", k == nin ? "->" : k ? "," : "");
        for (int i = 0; i < rank; i++) {
            static const char *const computed[] = {"%s+%s", "%s*%s-1", "(%s+1)/2*%s", "%s-%s", "%s/(%s-1)", "4-%s"};
            int d = alike ? 0 : (int)pick(0, 2), other = (int)pick(0, 2);
            at += sprintf(at, i ? "," : "");
            if (chance(10) && !alike) {
                at += sprintf(at, k < nin && chance(30) ? "3|1" : "2");
            } else if (chance(10) && (plain >> d & plain >> other & 1)) {
                at += sprintf(at, computed[pick(0, 5)], names[d], names[other]);
            } else {
                at += sprintf(at, "%s%s%s", names[d], optional >> d & 1 ? "?" : "", k < nin && chance(10) ? "|1" : "");
                plain |= 1 << d;
            }
        }
        at += sprintf(at, ")");
    }
}

/* A size for each dimension that the arrays are then drawn to have; wrong ones come in later. */
static void draw_sizes(const core_layout *l, uint64_t missing, int64_t *size) {
    for (int d = 0; d < l->ndims; d++)
        size[d] = missing >> d & 1 ? 1 : l->dims[d].frozen ? l->dims[d].frozen : chance(5) ? 0 : pick(1, 4);
    for (int d = 0; d < l->ndims; d++)
        if (l->dims[d].steps && !layout_compute(&l->dims[d], size, &size[d]))
            size[d] = 1;
}

static void draw_axes(call *c) {
    const core_layout *l = &c->l;
    bool keepdims = l->nin > 0, axis = l->ndims == 1, outputs = false;
    for (int k = 0; k < l->nin + l->nout; k++) {
        keepdims &= l->operands[k].rank == (k < l->nin ? l->operands[0].rank : 0);
        axis &= l->operands[k].rank <= 1;
        outputs |= k >= l->nin && l->operands[k].rank > 0;
    }
    if (chance(40))
        return;
    c->axes.size = sizeof c->axes;
    c->axes.keepdims = keepdims && chance(60);
    if (axis && chance(50)) {
        c->axis = (int)pick(-2, 1);
        c->axes.axis = &c->axis;
    } else if (chance(60)) {
        c->axes.count = outputs || chance(60) ? l->nin + l->nout : l->nin;
        c->axes.lists = c->lists;
    }
}

/* Dimensions in the order of the array: loop dimensions and core dimensions shuffled as the axes say. */
static void draw_array(call *c, int k, int nloop, const int64_t *loop, int ncore, const int64_t *core) {
    nd_array *a = &c->arrays[k];
    int ndim = nloop + ncore, place[MAX_RANK], dims[MAX_RANK];
    *a = (nd_array){.ndim = ndim, .shape = c->shape[k], .strides = c->strides[k], .size = 4, .output = k >= c->l.nin};
    for (int d = 0; d < ndim; d++)
        place[d] = dims[d] = d; /* place[i]: where core dimension i goes, from position nloop on */
    if (k < c->axes.count)
        for (int d = ndim - 1; d > 0; d--) {
            int other = (int)pick(0, d), t = place[d];
            place[d] = place[other];
            place[other] = t;
        }
    if (c->axes.axis && ncore == 1) {
        int axis = c->axis < 0 ? c->axis + ndim : c->axis;
        if (axis >= 0 && axis < ndim)
            place[ndim - 1] = axis;
    }
    bool used[MAX_RANK] = {false};
    for (int i = 0; i < ncore; i++) {
        c->shape[k][place[nloop + i]] = core[i];
        used[place[nloop + i]] = true;
        c->list[k][i] = place[nloop + i] - (chance(50) ? ndim : 0);
    }
    for (int d = 0, next = 0; d < ndim; d++)
        if (!used[d])
            c->shape[k][d] = loop[next++];
    c->lists[k] = (uf_axis_list){ncore, c->list[k]};
    int64_t dense = 1;
    for (int d = ndim - 1; d > 0; d--) {
        int other = chance(30) ? (int)pick(0, d) : d, t = dims[d];
        dims[d] = dims[other];
        dims[other] = t;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        int d = dims[i];
        c->strides[k][d] = dense * (chance(20) ? -1 : 1) * (chance(10) ? 2 : 1);
        dense *= (c->shape[k][d] ? c->shape[k][d] : 1) + (chance(10) ? 1 : 0);
        if (chance(4))
            c->strides[k][d] = pick(-3, 3);
    }
    if (chance(30))
        a->strides = NULL;
}

static void draw_call(call *c, bool small) {
    int64_t size[LAYOUT_MAX_DIMS], loop[4], core[LAYOUT_MAX_RANK];
    uint64_t missing = 0;
    int nloop = (int)pick(0, small ? 2 : 3);
    do {
        memset(c, 0, sizeof *c);
        draw_layout(c);
    } while (layout_parse(&c->memory, c->source, &c->l) && (arena_free(&c->memory), true));
    draw_axes(c);
    for (int d = 0; d < c->l.ndims; d++)
        missing |= (uint64_t)(c->l.dims[d].optional && chance(40)) << d;
    draw_sizes(&c->l, missing, size);
    for (int d = 0; d < nloop; d++)
        loop[d] = chance(3) ? 0 : pick(1, 3);
    c->n = c->l.nin + c->l.nout;
    for (int k = 0; k < c->n; k++) {
        const layout_operand *o = &c->l.operands[k];
        int ncore = 0, skip = k < c->l.nin && chance(30) ? (int)pick(0, nloop) : 0;
        int64_t own[4];
        for (int i = 0; i < o->rank; i++)
            if (!(missing >> o->dim[i] & 1))
                core[ncore++] = o->stretch[i] && chance(40) ? 1 : size[o->dim[i]];
        for (int i = 0; c->axes.keepdims && k >= c->l.nin && i < c->l.operands[0].rank; i++)
            core[ncore++] = 1;
        for (int d = skip; d < nloop; d++)
            own[d - skip] = k < c->l.nin && chance(25) ? 1 : loop[d];
        draw_array(c, k, nloop - skip, own, ncore, core);
    }
}

/* Makes something wrong, or not. */
static void spoil(call *c) {
    int k = (int)pick(0, c->n - 1);
    nd_array *a = &c->arrays[k];
    if (a->ndim > 0 && chance(50))
        c->shape[k][pick(0, a->ndim - 1)] += pick(-1, 1);
    else if (a->ndim > 0 && chance(50))
        a->ndim--;
    else if (k < c->axes.count && c->lists[k].count > 0)
        c->list[k][pick(0, c->lists[k].count - 1)] = (int)pick(-4, 4);
    for (int d = 0; d < a->ndim; d++)
        c->shape[k][d] = c->shape[k][d] < 0 ? 0 : c->shape[k][d];
}

/* ---- Resolving ---- */

static int max_rank(const call *c) {
    int rank = 0;
    for (int k = 0; k < c->n; k++)
        rank = c->arrays[k].ndim > rank ? c->arrays[k].ndim : rank;
    return rank;
}

/* Memory of exactly nd_core_space bytes between guard words. */
static int64_t *guarded_space(const call *c) {
    size_t size = nd_core_space(&c->l, max_rank(c), c->n);
    assert_int_equal(size % 8, 0);
    int64_t *space = malloc(size + 16);
    space[0] = space[1 + size / 8] = 0x5A5A5A5A5A5A5A5A;
    return space + 1;
}

static void free_space(const call *c, int64_t *space) {
    size_t size = nd_core_space(&c->l, max_rank(c), c->n);
    assert_true(space[-1] == 0x5A5A5A5A5A5A5A5A && space[size / 8] == 0x5A5A5A5A5A5A5A5A);
    free(space - 1);
}

#define CHECK(call, condition)                  \
    do {                                        \
        if (!(condition)) {                     \
            print_call(call);                   \
            fail_msg("not so: %s", #condition); \
        }                                       \
    } while (0)

static void compare_array(const call *c, const truth *t, const nd_core *core, int k) {
    const layout_operand *o = &c->l.operands[k];
    const nd_array *a = &c->arrays[k], *loop = &core->loops[k];
    CHECK(c, loop->ndim == t->nloop[k] && loop->size == a->size && loop->output == a->output && !loop->number);
    for (int d = 0; d < loop->ndim; d++) {
        CHECK(c, loop->shape[d] == a->shape[t->loop[k][d]]);
        CHECK(c, nd_dimension(loop, d) == t->loop[k][d]);
        if (a->strides || loop->strides)
            CHECK(c, loop->shape[d] <= 1 || loop->strides[d] == stride_of(a, t->loop[k][d]));
    }
    for (int i = 0; i < o->rank; i++) {
        int at = t->at[k][i];
        int64_t stride = at < 0 || a->shape[at] == 1 ? 0 : stride_of(a, at);
        CHECK(c, core->words[o->strides + i] == stride || a->shape[at] == 0);
    }
}

static void compare(const call *c, const truth *t, const nd_core *core) {
    CHECK(c, core->missing == t->missing);
    for (int d = 0; d < c->l.ndims; d++)
        CHECK(c, core->words[d] == t->size[d]);
    for (int k = 0; k < c->n; k++)
        compare_array(c, t, core, k);
}

static void calls_resolve(void **unused) {
    (void)unused;
    int64_t good = 0, bad = 0;
    for (int64_t i = trials(60000); i > 0; i--) {
        static call c;
        static truth t;
        nd_core core = {0};
        draw_call(&c, false);
        if (chance(40))
            spoil(&c);
        find_truth(&c, &t);
        int64_t *space = guarded_space(&c);
        uf_status status = nd_core_resolve(&c.l, c.arrays, c.n, axes_of(&c), space, &core);
        if (status != t.status) {
            print_call(&c);
            fail_msg("status %d, should be %d: %s", status, t.status, uf_last_error()->message);
        }
        if (status)
            assert_true(core.loops == NULL && core.words == NULL && uf_last_error()->argument < c.n);
        else
            compare(&c, &t, &core);
        *(status ? &bad : &good) += 1;
        free_space(&c, space);
        arena_free(&c.memory);
    }
    print_message("resolved: %lld, refused: %lld\n", (long long)good, (long long)bad);
}

/* ---- Inferring: the outputs' shapes from the inputs alone are those that the call accepts ---- */

static bool output_only(const core_layout *l) {
    bool some = false;
    for (int d = 0; d < l->ndims; d++)
        some |= l->dims[d].output_only;
    return some;
}

static void infer(call *c) {
    static truth t;
    nd_core core;
    int ndim, loop_ndim;
    int64_t shape[UF_MAX_NDIM], loop[UF_MAX_NDIM];
    find_truth(c, &t);
    c->n = c->l.nin;
    int64_t *space = guarded_space(c);
    uf_status status = nd_core_resolve(&c->l, c->arrays, c->n, axes_of(c), space, &core);
    if (t.status == UF_OK && output_only(&c->l)) {
        CHECK(c, status == UF_ERR_SHAPE || (status && t.missing));
    } else if (t.status == UF_OK && !status && !nd_broadcast(core.loops, c->n, &loop_ndim, loop)) {
        c->n += c->l.nout;
        for (int k = c->l.nin; k < c->n; k++) {
            CHECK(c, (core.missing & ~t.missing) == 0);
            if (t.nloop[k] != loop_ndim || core.missing != t.missing)
                continue; /* the outputs are larger; one of them lacked a dimension */
            CHECK(c, !nd_core_shape(&c->l, &core, axes_of(c), k, loop_ndim, loop, &ndim, shape));
            CHECK(c, ndim == c->arrays[k].ndim);
            for (int i = 0; i < t.nloop[k]; i++)
                CHECK(c, shape[t.loop[k][i]] == loop[i]);
            for (int i = 0; i < t.ncore[k]; i++)
                CHECK(c, shape[t.core[k][i]] == c->shape[k][t.core[k][i]]);
        }
        c->n = c->l.nin;
    } else if (t.status == UF_OK && status) {
        CHECK(c, t.missing); /* an output alone lacked a dimension */
    }
    free_space(c, space);
}

static void outputs_are_inferred(void **unused) {
    (void)unused;
    for (int64_t i = trials(30000); i > 0; i--) {
        static call c;
        draw_call(&c, false);
        infer(&c);
        arena_free(&c.memory);
    }
}

/* ---- Overlap ---- */

/* Offsets of the elements that operand k of a call over `loop` dimensions touches. */
typedef struct offsets {
    int64_t count, *at;
} offsets;

static offsets touched(const call *c, const truth *t, int k, int loop_ndim, const int64_t *loop) {
    const layout_operand *o = &c->l.operands[k];
    int64_t extent[MAX_RANK + LAYOUT_MAX_RANK], stride[MAX_RANK + LAYOUT_MAX_RANK], count = 1;
    int n = 0;
    for (int d = 0; d < loop_ndim; d++, n++) {
        int own = d - (loop_ndim - t->nloop[k]), dim = own >= 0 ? t->loop[k][own] : -1;
        extent[n] = loop[d];
        stride[n] = dim >= 0 && c->shape[k][dim] != 1 ? stride_of(&c->arrays[k], dim) : 0;
    }
    for (int i = 0; i < o->rank; i++, n++) {
        int dim = t->at[k][i];
        extent[n] = t->size[o->dim[i]];
        stride[n] = dim >= 0 && c->shape[k][dim] != 1 ? stride_of(&c->arrays[k], dim) : 0;
    }
    for (int d = 0; d < n; d++)
        count *= extent[d];
    offsets r = {count, calloc((size_t)count + 1, sizeof *r.at)};
    for (int64_t i = 0; i < count; i++)
        for (int64_t d = n - 1, rest = i; d >= 0; rest /= extent[d], d--)
            r.at[i] += rest % extent[d] * stride[d];
    return r;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check_one(const call *c, const nd_core *core, const nd_loop *loop, int k, offsets *o) {
    int64_t lowest, highest;
    bool twice = false;
    qsort(o->at, (size_t)o->count, sizeof *o->at, ascending);
    for (int64_t i = 1; i < o->count; i++)
        twice |= o->at[i] == o->at[i - 1];
    nd_core_bounds(loop, &c->l, core->words, k, &lowest, &highest);
    if (o->count == 0)
        CHECK(c, lowest == 0 && highest == 0);
    else
        CHECK(c, lowest + loop->offset[k] == o->at[0] && highest + loop->offset[k] == o->at[o->count - 1]);
    bool found = nd_core_self_overlap(loop, &c->l, core->words, k);
    CHECK(c, found || !twice);
    CHECK(c, twice || !found || loop->ndim + c->l.operands[k].rank > 4);
}

static void check_two(const call *c, const nd_core *core, const nd_loop *loop, int a, const offsets *in_a, int b,
                      const offsets *in_b) {
    static char memory[1 << 13];
    int size_a = 1 << pick(0, 2), size_b = 1 << pick(0, 2);
    char *data_a = memory + sizeof memory / 2, *data_b = data_a + pick(-12, 12) * (chance(70) ? size_a : 1);
    bool overlap = false;
    memset(memory, 0, sizeof memory);
    for (int64_t i = 0; i < in_a->count; i++)
        memset(data_a + in_a->at[i] * size_a, 1, (size_t)size_a);
    for (int64_t i = 0; i < in_b->count; i++)
        for (int byte = 0; byte < size_b; byte++)
            overlap |= data_b[in_b->at[i] * size_b + byte];
    nd_overlap found = nd_core_compare(loop, &c->l, core->words, a, data_a, size_a, b, data_b, size_b);
    CHECK(c, found == (overlap ? ND_OVERLAP : ND_DISJOINT));
}

/* False if the call is one that nd_plan refuses, or too large to mark. */
static bool check_overlap(const call *c, const truth *t, const nd_core *core) {
    int64_t space[512], shape[UF_MAX_NDIM];
    int ndim = t->nloop[c->l.nin];
    nd_loop loop;
    offsets all[MAX_ARGS];
    if (nd_plan(core->loops, c->n, c->l.nin, 0, space, &loop))
        return false;
    for (int d = 0; d < ndim; d++)
        shape[d] = core->loops[c->l.nin].shape[d];
    for (int k = 0; k < c->n; k++)
        all[k] = touched(c, t, k, ndim, shape);
    bool fits = true;
    for (int k = 0; k < c->n; k++) {
        check_one(c, core, &loop, k, &all[k]);
        fits &= all[k].count == 0 || (all[k].at[0] > -900 && all[k].at[all[k].count - 1] < 900);
    }
    for (int a = 0; a < c->n && fits; a++)
        for (int b = 0; b < c->n; b++)
            check_two(c, core, &loop, a, &all[a], b, &all[b]);
    for (int k = 0; k < c->n; k++)
        free(all[k].at);
    return fits;
}

static void overlap_is_that_of_addresses(void **unused) {
    (void)unused;
    int64_t checked = 0;
    for (int64_t i = trials(20000); i > 0; i--) {
        static call c;
        static truth t;
        nd_core core;
        draw_call(&c, true);
        find_truth(&c, &t);
        int64_t *space = guarded_space(&c);
        if (!nd_core_resolve(&c.l, c.arrays, c.n, axes_of(&c), space, &core))
            checked += check_overlap(&c, &t, &core);
        free_space(&c, space);
        arena_free(&c.memory);
    }
    print_message("overlap: %lld calls\n", (long long)checked);
}

/* ---- Chosen cases ---- */

/* A call with dense arrays of the given shapes: "2 3;3" and so on; "#" is a number. */
static void make_call(call *c, const char *layout, const char *shapes) {
    memset(c, 0, sizeof *c);
    strcpy(c->source, layout);
    assert_int_equal(layout_parse(&c->memory, layout, &c->l), UF_OK);
    for (int k = 0; *shapes; k++, c->n++) {
        nd_array *a = &c->arrays[k];
        *a = (nd_array){.shape = c->shape[k], .size = 8, .output = k >= c->l.nin};
        for (; *shapes && *shapes != ';'; shapes++)
            if (*shapes == '#')
                a->number = true;
            else if (*shapes != ' ')
                c->shape[k][a->ndim++] = strtoll(shapes, (char **)&shapes, 10), shapes--;
        shapes += *shapes == ';';
    }
}

static void resolves(const char *layout, const char *shapes, const uf_axes *axes) {
    call c;
    nd_core core;
    int64_t space[1024];
    make_call(&c, layout, shapes);
    assert_true(nd_core_space(&c.l, max_rank(&c), c.n) <= sizeof space);
    if (nd_core_resolve(&c.l, c.arrays, c.n, axes, space, &core))
        fail_msg("%s: %s", layout, uf_last_error()->message);
    arena_free(&c.memory);
}

static void refuse(const char *layout, const char *shapes, const uf_axes *axes, uf_status status, int argument,
                   int dimension, const char *message) {
    call c;
    nd_core core = {0};
    int64_t space[1024];
    make_call(&c, layout, shapes);
    if (!nd_core_resolve(&c.l, c.arrays, c.n, axes, space, &core))
        fail_msg("%s accepted, not: %s", layout, message);
    assert_string_equal(uf_last_error()->message, message);
    assert_int_equal(uf_last_error()->status, status);
    assert_int_equal(uf_last_error()->argument, argument);
    assert_int_equal(uf_last_error()->dimension, dimension);
    assert_null(core.loops);
    arena_free(&c.memory);
}

static void shape_errors(void **unused) {
    (void)unused;
    refuse("(m,n),(n)->(m)", "5 4;3;5", NULL, UF_ERR_SHAPE, 1, 0,
           "argument 1: dimension 0 is 3, but n is 4 (from argument 0)");
    refuse("(m,n),(n)->(m)", "7 5 4;7 4;7 6", NULL, UF_ERR_SHAPE, 2, 1,
           "argument 2: dimension 1 is 6, but m is 5 (from argument 0)");
    refuse("(n,n)->()", "5 4;#", NULL, UF_ERR_SHAPE, 0, 1,
           "argument 0: dimension 1 is 4, but n is 5 (from argument 0)");
    refuse("(3),(3)->(3)", "3;2 4;3", NULL, UF_ERR_SHAPE, 1, 1, "argument 1: dimension 1 is 4, but must be 3");
    refuse("(n|1),(n)->(n)", "3;4;4", NULL, UF_ERR_SHAPE, 0, 0,
           "argument 0: dimension 0 is 3, but n is 4 (from argument 1); it must be that or 1");
    refuse("(n|1),(n|1)->(n)", "3;4;4", NULL, UF_ERR_SHAPE, 1, 0,
           "argument 1: dimension 0 is 4, but n is 3 (from argument 0); it must be that or 1");
    refuse("(n|1),(n|1)->(n)", "1;1;4", NULL, UF_ERR_SHAPE, 2, 0, "argument 2: dimension 0 is 4, but n is 1");
    refuse("(3|1)->()", "4; ", NULL, UF_ERR_SHAPE, 0, 0, "argument 0: dimension 0 is 4, but must be 3 or 1");
    refuse("(m),(n)->(m+n-1)", "3;4;5", NULL, UF_ERR_SHAPE, 2, 0,
           "argument 2: dimension 0 is 5, but m+n-1 is 6; m is 3 (from argument 0), n is 4 (from argument 1)");
    refuse("(n+1),(n)->()", "4;4; ", NULL, UF_ERR_SHAPE, 0, 0,
           "argument 0: dimension 0 is 4, but n+1 is 5; n is 4 (from argument 1)");
    refuse("(n)->(p),(p)", "4;5;6", NULL, UF_ERR_SHAPE, 2, 0,
           "argument 2: dimension 0 is 6, but p is 5 (from argument 1)");
    refuse("(n,d)->(p)", "4 2", NULL, UF_ERR_SHAPE, 1, -1,
           "argument 1: the size of its core dimension p is known from the outputs alone, and they are not given");
}

static void rank_errors(void **unused) {
    (void)unused;
    refuse("(m,n),(n)->(m)", "4;4;1", NULL, UF_ERR_SHAPE, 0, -1,
           "argument 0: its rank is 1, but its core dimensions (m,n) need 2");
    refuse("(m,n),(n)->(m)", "4 4;#;1", NULL, UF_ERR_SHAPE, 1, -1,
           "argument 1: its rank is 0, but its core dimensions (n) need 1");
    refuse("(m?,n),(n,p?)->(m?,p?)", "4 4; ;4 4", NULL, UF_ERR_SHAPE, 1, -1,
           "argument 1: its rank is 0, but its core dimensions (n,p?) need at least 1");
    refuse("(n),(n)->()", "4;4; ", &(uf_axes){.size = sizeof(uf_axes), .keepdims = true}, UF_ERR_SHAPE, 2, -1,
           "argument 2: its rank is 0, but keepdims gives it 1 core dimension");
    refuse("(n),(n)->()", "4;4;2", &(uf_axes){.size = sizeof(uf_axes), .keepdims = true}, UF_ERR_SHAPE, 2, 0,
           "argument 2: dimension 0 is 2, but keepdims makes it 1");
}

static void computed_errors(void **unused) {
    (void)unused;
    refuse("(n)->(n-3)", "2;1", NULL, UF_ERR_SHAPE, 1, 0,
           "argument 1: dimension 0 should be n-3, which is negative, -1; n is 2 (from argument 0)");
    refuse("(n)->(n-3)", "2", NULL, UF_ERR_SHAPE, 1, -1,
           "argument 1: the size of its core dimension n-3 is negative, -1; n is 2 (from argument 0)");
    refuse("(n)->(6/(n-2))", "2;1", NULL, UF_ERR_SHAPE, 1, 0,
           "argument 1: dimension 0 should be 6/(n-2), which divides by zero; n is 2 (from argument 0)");
    refuse(
        "(n)->(n*4611686018427387904)", "2;1", NULL, UF_ERR_SHAPE, 1, 0,
        "argument 1: dimension 0 should be n*4611686018427387904, which overflows 64 bits; n is 2 (from argument 0)");
    refuse(
        "(n*4611686018427387904,n)->()", "2 2", NULL, UF_ERR_SHAPE, 0, 0,
        "argument 0: dimension 0 should be n*4611686018427387904, which overflows 64 bits; n is 2 (from argument 0)");
}

static uf_axes lists_of(int count, const uf_axis_list *lists) {
    return (uf_axes){.size = sizeof(uf_axes), .count = count, .lists = lists};
}

static void axes_lists(void **unused) {
    (void)unused;
    const uf_axis_list one = {1, (const int[]){0}}, last = {1, (const int[]){-1}}, none = {0, NULL},
                       far_one = {1, (const int[]){2}}, near_one = {1, (const int[]){-3}},
                       two = {2, (const int[]){0, -2}}, null = {1, NULL};
    uf_axes a = lists_of(3, (const uf_axis_list[]){one, last, none});
    resolves("(n),(n)->()", "4 5;5 4;5", &a);
    a = lists_of(2, (const uf_axis_list[]){one, last});
    resolves("(n),(n)->()", "4 5;5 4;5", &a);
    refuse("(n),(n)->(n)", "4;4;4", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.count is 2, but must be 3: a list for each argument");
    a.count = 1;
    refuse("(n),(n)->()", "4;4; ", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.count is 1, but must be 3, a list for each argument, or 2, one for each input");
    a.count = -1;
    refuse("(n),(n)->()", "4;4; ", &a, UF_ERR_ARGUMENT, -1, -1, "uf_axes.count is -1; it must not be negative");
    a = lists_of(2, NULL);
    refuse("(n),(n)->()", "4;4; ", &a, UF_ERR_ARGUMENT, -1, -1, "uf_axes.count is 2, but uf_axes.lists is NULL");
    a = lists_of(2, (const uf_axis_list[]){one, far_one});
    refuse("(n),(n)->()", "4 4;4 4;4", &a, UF_ERR_ARGUMENT, 1, -1,
           "argument 1: axis 2 is out of range: its rank is 2, so axes are from -2 to 1");
    a = lists_of(2, (const uf_axis_list[]){near_one, one});
    refuse("(n),(n)->()", "4 4;4 4;4", &a, UF_ERR_ARGUMENT, 0, -1,
           "argument 0: axis -3 is out of range: its rank is 2, so axes are from -2 to 1");
    a = lists_of(1, (const uf_axis_list[]){two});
    refuse("(n,m)->()", "4 4; ", &a, UF_ERR_ARGUMENT, 0, -1, "argument 0: axis 0 occurs twice among its axes");
    refuse("(n)->()", "4 4;4", &a, UF_ERR_ARGUMENT, 0, -1,
           "argument 0: it has 1 core dimension, but uf_axes.lists[0].count is 2");
    a = lists_of(3, (const uf_axis_list[]){one, one, one});
    refuse("(n),(n)->()", "4 4;4 4;4", &a, UF_ERR_ARGUMENT, 2, -1,
           "argument 2: it has 0 core dimensions, but uf_axes.lists[2].count is 1");
    a = lists_of(1, (const uf_axis_list[]){null});
    refuse("(n)->()", "4 4;4", &a, UF_ERR_ARGUMENT, 0, -1,
           "argument 0: uf_axes.lists[0].axes is NULL, but its count is 1");
    a = lists_of(2, (const uf_axis_list[]){two, none}); /* optional dimensions count where they are */
    refuse("(m?,n)->()", "4; ", &a, UF_ERR_ARGUMENT, 0, -1,
           "argument 0: it has 1 core dimension, but uf_axes.lists[0].count is 2");
    a = lists_of(2, (const uf_axis_list[]){one, none});
    resolves("(m?,n)->()", "4; ", &a);
}

static void axis_and_keepdims(void **unused) {
    (void)unused;
    static const int axis = 1;
    uf_axes a = {.size = sizeof a, .axis = &axis};
    resolves("(n),(n)->()", "3 4 5;3 4 5;3 5", &a);
    resolves("(3)->(3)", "5 3;5 3", &a);
    refuse("(n),(n)->()", "3;3; ", &a, UF_ERR_ARGUMENT, 0, -1,
           "argument 0: axis 1 is out of range: its rank is 1, so axes are from -1 to 0");
    refuse("(m,n),(n)->(m)", "3 3;3;3", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.axis needs a single core dimension, which no argument has twice, but the layout is (m,n),(n)->(m)");
    refuse("(n,n)->()", "3 3; ", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.axis needs a single core dimension, which no argument has twice, but the layout is (n,n)->()");
    refuse("()->()", "3;3", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.axis needs a single core dimension, which no argument has twice, but the layout is ()->()");
    uf_axes both = lists_of(1, (const uf_axis_list[]){{1, &axis}});
    both.axis = &axis;
    refuse("(n)->()", "3;3", &both, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes has both lists and axis; at most one of them may be given");
    a.keepdims = true;
    resolves("(n),(n)->()", "3 4 5;3 4 5;3 1 5", &a);
    a.axis = NULL;
    resolves("(n),(m)->()", "3 4;3 5;3 1", &a);
    resolves("(m,n)->(),()", "3 4;1 1;1 1", &a);
    refuse("(n),(n)->(n)", "3;3;3", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.keepdims needs inputs with equally many core dimensions and outputs without any, but the layout is "
           "(n),(n)->(n)");
    refuse("(n),(m,n)->()", "3;3 3; ", &a, UF_ERR_ARGUMENT, -1, -1,
           "uf_axes.keepdims needs inputs with equally many core dimensions and outputs without any, but the layout is "
           "(n),(m,n)->()");
}

static void option_sizes(void **unused) {
    (void)unused;
    struct {
        uf_axes axes;
        char more[8];
    } later = {.axes = {.size = sizeof later, .keepdims = true}};
    uf_axes a = {.size = 0};
    char message[256];
    refuse("(n)->()", "3; ", &a, UF_ERR_ARGUMENT, -1, -1, "uf_axes.size is 0; set it to sizeof(uf_axes)");
    a = (uf_axes){.size = sizeof a.size, .keepdims = true, .count = 7}; /* an older header knew nothing but the size */
    resolves("(n)->()", "3; ", &a);
    resolves("(n)->()", "3;1", &later.axes);
    later.more[3] = 1;
    snprintf(message, sizeof message,
             "uf_axes.size is %zu, but this library (version %s) knows %zu bytes, and byte %zu is not zero",
             sizeof later, uf_version(), sizeof a, sizeof a + 3);
    refuse("(n)->()", "3;1", &later.axes, UF_ERR_ARGUMENT, -1, -1, message);
}

/* Optional dimensions of matmul, NumPy's four cases. */
static void matmul(void **unused) {
    (void)unused;
    static const struct {
        const char *shapes;
        uint64_t missing;
        int loop[3];
    } cases[] = {{"2 3;3 4;2 4", 0, {0, 0, 0}},      {"3;3 4;4", 1, {0, 0, 0}},
                 {"2 3;3;2", 4, {0, 0, 0}},          {"3;3; ", 5, {0, 0, 0}},
                 {"7 2 3;3;7 2", 4, {1, 0, 1}},      {"3;7 3 4;7 4", 1, {0, 1, 1}},
                 {"7 2 3;1 3 4;7 2 4", 0, {1, 1, 1}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        call c;
        nd_core core;
        int64_t space[1024];
        make_call(&c, "(m?,n),(n,p?)->(m?,p?)", cases[i].shapes);
        assert_int_equal(c.n, 3);
        assert_int_equal(nd_core_resolve(&c.l, c.arrays, c.n, NULL, space, &core), UF_OK);
        assert_true(core.missing == cases[i].missing);
        for (int k = 0; k < 3; k++)
            assert_int_equal(core.loops[k].ndim, cases[i].loop[k]);
        assert_int_equal(core.words[1], 3);
        arena_free(&c.memory);
    }
}

/* Loop dimensions that do not broadcast are named by where they are in the array. */
static void loop_errors_count_core_dimensions(void **unused) {
    (void)unused;
    call c;
    nd_core core;
    nd_loop loop;
    int64_t space[1024], loop_space[256];
    uf_axes a = lists_of(2, (const uf_axis_list[]){{1, (const int[]){0}}, {1, (const int[]){1}}});
    make_call(&c, "(n),(n)->()", "4 5;6 4;5");
    assert_int_equal(nd_core_resolve(&c.l, c.arrays, c.n, &a, space, &core), UF_OK);
    assert_int_equal(nd_plan(core.loops, 3, 2, 0, loop_space, &loop), UF_ERR_SHAPE);
    assert_string_equal(uf_last_error()->message,
                        "argument 1: dimension 0 is 6, but dimension 1 of argument 0 is 5: they "
                        "must be equal, or one of them 1");
    arena_free(&c.memory);
    make_call(&c, "(n),(n)->()", "2 3 4;4;3");
    assert_int_equal(nd_core_resolve(&c.l, c.arrays, c.n, NULL, space, &core), UF_OK);
    assert_int_equal(nd_plan(core.loops, 3, 2, 0, loop_space, &loop), UF_ERR_SHAPE);
    assert_string_equal(uf_last_error()->message,
                        "argument 0: its rank without core dimensions is 2, but that of argument 2, an output, is 1");
    arena_free(&c.memory);
}

static void rank_is_limited(void **unused) {
    (void)unused;
    call c;
    nd_core core;
    int ndim;
    int64_t space[1024], loop[UF_MAX_NDIM], shape[UF_MAX_NDIM];
    for (int d = 0; d < UF_MAX_NDIM; d++)
        loop[d] = 1;
    make_call(&c, "(m,n)->(n,m)", "2 3");
    assert_int_equal(nd_core_resolve(&c.l, c.arrays, c.n, NULL, space, &core), UF_OK);
    assert_int_equal(nd_core_shape(&c.l, &core, NULL, 1, 62, loop, &ndim, shape), UF_OK);
    assert_true(ndim == 64 && shape[62] == 3 && shape[63] == 2);
    assert_int_equal(nd_core_shape(&c.l, &core, NULL, 1, 63, loop, &ndim, shape), UF_ERR_SHAPE);
    assert_string_equal(uf_last_error()->message, "argument 1: its rank would be 65, but is at most 64");
    uf_axes a = lists_of(2, (const uf_axis_list[]){{2, (const int[]){0, 1}}, {2, (const int[]){0, 3}}});
    assert_int_equal(nd_core_resolve(&c.l, c.arrays, c.n, &a, space, &core), UF_OK);
    assert_int_equal(nd_core_shape(&c.l, &core, &a, 1, 1, loop, &ndim, shape), UF_ERR_ARGUMENT);
    assert_string_equal(uf_last_error()->message,
                        "argument 1: axis 3 is out of range: its rank is 3, so axes are from -3 to 2");
    arena_free(&c.memory);
}

/* Views as they occur, too large to mark. */
static void large_views(void **unused) {
    (void)unused;
    call c;
    nd_core core;
    nd_loop loop;
    int64_t space[1024], loop_space[256];
    char *base = (char *)(uintptr_t)0x100000;
    make_call(&c, "(n)->(),()", "1000000 5000;1000000;1000000"); /* minmax into the columns of one array */
    c.arrays[1].strides = c.arrays[2].strides = (const int64_t[]){2};
    assert_int_equal(nd_core_resolve(&c.l, c.arrays, 3, NULL, space, &core), UF_OK);
    assert_int_equal(nd_plan(core.loops, 3, 1, 0, loop_space, &loop), UF_OK);
    assert_int_equal(nd_core_compare(&loop, &c.l, core.words, 1, base, 8, 2, base + 8, 8), ND_DISJOINT);
    assert_int_equal(nd_core_compare(&loop, &c.l, core.words, 1, base, 8, 2, base + 4, 8), ND_OVERLAP);
    assert_int_equal(nd_core_compare(&loop, &c.l, core.words, 1, base, 8, 2, base, 8), ND_OVERLAP);
    arena_free(&c.memory);
    make_call(&c, "(n)->(n)", "300000 3 4000;300000 3 4000"); /* interleaved cores and loops */
    c.arrays[0].strides = c.arrays[1].strides = (const int64_t[]){24000, 8000, 2};
    assert_int_equal(nd_core_resolve(&c.l, c.arrays, 2, NULL, space, &core), UF_OK);
    assert_int_equal(nd_plan(core.loops, 2, 1, 0, loop_space, &loop), UF_OK);
    assert_false(nd_core_self_overlap(&loop, &c.l, core.words, 1));
    assert_int_equal(nd_core_compare(&loop, &c.l, core.words, 0, base, 8, 1, base + 8, 8), ND_DISJOINT);
    assert_int_equal(nd_core_compare(&loop, &c.l, core.words, 0, base, 8, 1, base + 16, 8), ND_OVERLAP);
    arena_free(&c.memory);
}

/* Loop and core together may have more dimensions than an array. */
static void widest(void **unused) {
    (void)unused;
    static int64_t ones[2][UF_MAX_NDIM], strides[UF_MAX_NDIM];
    static int64_t space[8192], loop_space[8192];
    arena memory = {0};
    core_layout l;
    nd_core core;
    nd_loop loop;
    int64_t lowest, highest;
    for (int d = 0; d < UF_MAX_NDIM; d++) {
        ones[0][d] = 2;
        ones[1][d] = d < 32 ? 1 : 2;
        strides[d] = 0;
    }
    for (int d = 0; d < 31; d++)
        strides[d * 2 + 1] = (int64_t)1 << d;
    nd_array arrays[2] = {{.shape = ones[0], .strides = strides, .ndim = 8, .size = 1},
                          {.shape = ones[0], .strides = strides, .ndim = 62, .size = 1, .output = true}};
    assert_int_equal(layout_parse(&memory, "(a,b,c,d,e,f,g,h)->()", &l), UF_OK);
    assert_true(nd_core_space(&l, 62, 2) <= sizeof space && nd_space(62, 2) <= sizeof loop_space);
    assert_int_equal(nd_core_resolve(&l, arrays, 2, NULL, space, &core), UF_OK);
    assert_int_equal(nd_plan(core.loops, 2, 1, ND_KEEP_ORDER, loop_space, &loop), UF_OK);
    assert_true(nd_core_self_overlap(&loop, &l, core.words, 0));
    assert_true(nd_core_self_overlap(&loop, &l, core.words, 1));
    nd_core_bounds(&loop, &l, core.words, 0, &lowest, &highest);
    assert_true(lowest == 0 && highest == 15);
    assert_int_equal(nd_core_compare(&loop, &l, core.words, 0, (char *)16, 1, 1, (char *)31, 1), ND_OVERLAP);
    assert_int_equal(nd_core_compare(&loop, &l, core.words, 0, (char *)16, 1, 1, (char *)32, 1), ND_DISJOINT);
    arena_free(&memory);
}

/* ---- Memory: only messages take any ---- */

static bool never(size_t size) {
    (void)size;
    return false;
}

static void out_of_memory(void **unused) {
    (void)unused;
    static const char *const calls[][2] = {
        {"(m,n),(n)->(m)", "5 4;3;5"}, {"(m,n),(n)->(m)", "4;4;1"}, {"(n)->(n-3)", "2;1"}};
    for (size_t i = 0; i <= COUNT(calls); i++) {
        call c;
        nd_core core;
        int64_t space[1024];
        static const uf_axes keepdims = {.size = sizeof keepdims, .keepdims = true};
        make_call(&c, calls[i % COUNT(calls)][0], calls[i % COUNT(calls)][1]);
        mem_may_alloc = never;
        uf_status status = nd_core_resolve(&c.l, c.arrays, c.n, i == COUNT(calls) ? &keepdims : NULL, space, &core);
        mem_may_alloc = NULL;
        assert_int_equal(status, UF_ERR_MEMORY);
        arena_free(&c.memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_resolve),
        cmocka_unit_test(outputs_are_inferred),
        cmocka_unit_test(overlap_is_that_of_addresses),
        cmocka_unit_test(shape_errors),
        cmocka_unit_test(rank_errors),
        cmocka_unit_test(computed_errors),
        cmocka_unit_test(axes_lists),
        cmocka_unit_test(axis_and_keepdims),
        cmocka_unit_test(option_sizes),
        cmocka_unit_test(matmul),
        cmocka_unit_test(loop_errors_count_core_dimensions),
        cmocka_unit_test(rank_is_limited),
        cmocka_unit_test(large_views),
        cmocka_unit_test(widest),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
