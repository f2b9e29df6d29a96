/* test_nd_fold.c - the two loops of a reduction against an enumeration of results and elements, index by index; axes; overlap
 * against brute force; and every error with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nd/nd.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

enum {
    MAX_ARRAYS = 8,
    MAX_RANK = 6
};

/* ---- Random calls ---- */

typedef struct call {
    int n, nin, ndim;
    uint64_t axes;
    unsigned flags;
    int64_t shape[UF_MAX_NDIM], results[UF_MAX_NDIM], segments; /* segments: -1: none */
    int results_ndim;
    nd_array arrays[MAX_ARRAYS];
    int64_t shapes[MAX_ARRAYS][UF_MAX_NDIM], strides[MAX_ARRAYS][UF_MAX_NDIM];
} call;

/* Strides of a permuted, stepped, perhaps reversed box; inputs may repeat. */
static void random_strides(nd_array *a, int64_t *strides) {
    int order[UF_MAX_NDIM];
    int64_t dense = 1;
    for (int d = 0; d < a->ndim; d++) {
        int other = chance(40) ? (int)pick(0, d) : d;
        order[d] = other == d ? d : order[other];
        order[other] = d;
    }
    bool plain = chance(50);
    for (int i = a->ndim - 1; i >= 0; i--) {
        int d = order[i];
        int64_t step = !plain && chance(30) ? pick(2, 3) : 1;
        strides[d] = dense * step * (!plain && chance(30) ? -1 : 1);
        dense *= a->shape[d] > 0 ? a->shape[d] * step : 1;
        if (!a->output && chance(5))
            strides[d] = 0;
    }
    a->strides = chance(40) ? NULL : strides;
}

static nd_array *add_array(call *c, nd_role role, int ndim) {
    nd_array *a = &c->arrays[c->n];
    *a = (nd_array){.ndim = ndim, .shape = c->shapes[c->n], .size = 8, .role = (uint8_t)role};
    c->n++;
    return a;
}

static void add_elements(call *c, bool mask) {
    int rank = chance(70) ? c->ndim : (int)pick(0, c->ndim), k = c->n;
    nd_array *a = add_array(c, ND_ELEMENTS, rank);
    a->mask = mask;
    for (int d = 0; d < rank; d++)
        c->shapes[k][d] = k > 0 && chance(25) ? 1 : c->shape[c->ndim - rank + d];
    random_strides(a, c->strides[k]);
    a->number = !mask && k > 0 && chance(8);
}

static void add_results(call *c) {
    int k = c->n;
    nd_array *a = add_array(c, ND_RESULTS, c->results_ndim);
    a->output = true;
    memcpy(c->shapes[k], c->results, sizeof c->results);
    random_strides(a, c->strides[k]);
}

/* Array 0 has it all, so that nothing is left to broadcasting. */
static void fill_first(call *c) {
    c->arrays[0].ndim = c->ndim;
    memcpy(c->shapes[0], c->shape, sizeof c->shape);
}

static void random_results(call *c) {
    c->results_ndim = 0;
    for (int d = 0; d < c->ndim; d++) {
        bool axis = c->axes >> d & 1;
        if (axis && c->segments >= 0)
            c->results[c->results_ndim++] = c->segments;
        else if (!axis || c->flags & ND_SCAN)
            c->results[c->results_ndim++] = c->shape[d];
        else if (c->flags & ND_KEEPDIMS)
            c->results[c->results_ndim++] = 1;
    }
}

/* Array 0 is an input of the full shape, the first output dense, so that its offset is the number of the result, and the last
 * array the position. */
static void random_call(call *c) {
    memset(c, 0, sizeof *c);
    c->segments = -1;
    c->ndim = (int)pick(0, MAX_RANK);
    for (int d = 0; d < c->ndim; d++)
        c->shape[d] = chance(3) ? 0 : chance(20) ? 1 : pick(1, c->ndim > 4 ? 3 : c->ndim > 2 ? 5 : 20);
    bool scan = c->ndim > 0 && chance(20), segments = c->ndim > 0 && !scan && chance(20);
    for (int d = 0; d < c->ndim; d++)
        c->axes |= (uint64_t)chance(50) << d;
    if (scan || segments)
        c->axes = (uint64_t)1 << pick(0, c->ndim - 1);
    c->flags = (chance(50) ? ND_KEEP_ORDER : 0) |
               (scan                      ? ND_SCAN
                : !segments && chance(30) ? ND_KEEPDIMS
                                          : 0) |
               (segments && chance(50) ? ND_SEGMENTS_INSIDE : 0);
    c->segments = segments ? pick(0, 4) : -1;
    random_results(c);
    c->nin = (int)pick(1, 3);
    for (int k = 0; k < c->nin; k++)
        add_elements(c, false);
    fill_first(c);
    random_strides(&c->arrays[0], c->strides[0]);
    add_results(c);
    c->arrays[c->nin].strides = NULL;
    if (chance(40))
        add_results(c);
    if (chance(30))
        add_elements(c, true);
    if (segments) {
        c->shapes[c->n][0] = c->segments;
        add_array(c, ND_BOUNDS, 1);
    }
    add_array(c, ND_POSITION, 0);
}

/* ---- Visits: for each result and element the offset of every array, results in C order and elements within ---- */

typedef struct visits {
    int64_t count;
    int64_t *tuples; /* count x n */
} visits;

static int64_t own_stride(const nd_array *a, int d) {
    int64_t stride = 1;
    if (a->shape[d] == 1)
        return 0;
    if (a->strides)
        return a->strides[d];
    for (int i = d + 1; i < a->ndim; i++)
        stride *= a->shape[i];
    return stride;
}

/* Where array k is at an index of the elements; segment: which one, in place of the index of the axis. */
static int64_t offset_at(const call *c, int k, const int64_t *index, int64_t segment, int64_t position) {
    const nd_array *a = &c->arrays[k];
    int64_t at = 0;
    if (a->number)
        return 0;
    if (a->role == ND_POSITION)
        return position;
    if (a->role == ND_BOUNDS)
        return a->shape[0] == 1 ? 0 : segment;
    if (a->role == ND_ELEMENTS) {
        for (int d = 0; d < a->ndim; d++)
            at += index[c->ndim - a->ndim + d] * own_stride(a, d);
        return at;
    }
    for (int d = 0, own = 0; d < c->ndim; d++) {
        bool axis = c->axes >> d & 1;
        if (axis && c->segments < 0 && !(c->flags & (ND_SCAN | ND_KEEPDIMS)))
            continue;
        int64_t i = !axis || c->flags & ND_SCAN ? index[d] : c->segments >= 0 ? segment : 0;
        at += i * own_stride(a, own++);
    }
    return at;
}

static int64_t product(const call *c, bool axes) {
    int64_t n = 1;
    for (int d = 0; d < c->ndim; d++)
        if ((c->axes >> d & 1) == axes)
            n *= c->shape[d];
    return n;
}

static void set_index(const call *c, bool axes, int64_t i, int64_t *index) {
    for (int d = c->ndim - 1; d >= 0; d--)
        if ((c->axes >> d & 1) == axes) {
            index[d] = i % c->shape[d];
            i /= c->shape[d];
        }
}

static visits naive(const call *c) {
    int64_t kept = product(c, false), reduced = product(c, true), segments = c->segments < 0 ? 1 : c->segments;
    visits v = {kept * segments * reduced, calloc((size_t)(kept * segments * reduced * c->n) + 1, 8)};
    int64_t index[UF_MAX_NDIM] = {0}, *to = v.tuples;
    for (int64_t i = 0; i < kept; i++)
        for (int64_t s = 0; s < segments; s++)
            for (int64_t j = 0; j < reduced; j++) {
                set_index(c, false, i, index);
                set_index(c, true, j, index);
                for (int k = 0; k < c->n; k++)
                    *to++ = offset_at(c, k, index, s, j);
            }
    return v;
}

static int64_t loop_offset(const nd_loop *loop, int k, int64_t i) {
    int64_t at = loop->offset[k];
    for (int d = 0; d < loop->ndim; i /= loop->extent[d], d++)
        at += i % loop->extent[d] * loop->stride[d * loop->narrays + k];
    return at;
}

static visits walk(const nd_fold *f) {
    int n = f->kept.narrays;
    int64_t count = f->kept.count * f->reduced.count;
    visits v = {count, calloc((size_t)(count * n) + 1, 8)};
    int64_t *to = v.tuples;
    for (int64_t i = 0; i < f->kept.count; i++)
        for (int64_t j = 0; j < f->reduced.count; j++)
            for (int k = 0; k < n; k++)
                *to++ = loop_offset(&f->kept, k, i) + loop_offset(&f->reduced, k, j);
    return v;
}

static int width; /* of the tuples that compare() sees */

static int compare(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    for (int k = 0; k < width; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

static void sort_visits(visits *v, int n) {
    width = n;
    if (v->count > 0)
        qsort(v->tuples, (size_t)v->count, (size_t)n * sizeof *v->tuples, compare);
}

/* ---- What the loops must satisfy ---- */

static int64_t *guarded_space(int ndim, int narrays) {
    size_t size = nd_fold_space(ndim, narrays);
    int64_t *space = malloc(size + 16);
    space[0] = space[1 + size / 8] = 0x5A5A5A5A5A5A5A5A;
    return space + 1;
}

static void free_space(int64_t *space, int ndim, int narrays) {
    assert_true(space[-1] == 0x5A5A5A5A5A5A5A5A && space[nd_fold_space(ndim, narrays) / 8] == 0x5A5A5A5A5A5A5A5A);
    free(space - 1);
}

static void check_form(const call *c, const nd_loop *loop) {
    assert_int_equal(loop->narrays, c->n);
    assert_int_equal(loop->loop, c->flags & ND_SCAN ? LOOP_SCAN : LOOP_FOLD);
    int64_t count = 1;
    for (int d = 0; d < loop->ndim; d++) {
        bool merges = d > 0;
        count *= loop->extent[d];
        assert_true(loop->extent[d] > 1 || loop->ndim == 1);
        for (int k = 0; k < c->n && merges; k++)
            merges = loop->stride[d * c->n + k] == loop->extent[d - 1] * loop->stride[(d - 1) * c->n + k];
        assert_false(merges);
    }
    assert_true(loop->ndim >= 1);
    assert_int_equal(loop->count, count);
    for (int k = 0; k < c->n; k++) {
        int kind = c->arrays[k].number                ? OPERAND_NUMBER
                   : c->arrays[k].role == ND_POSITION ? OPERAND_POSITION
                   : loop->stride[k] == 1             ? OPERAND_CONTIGUOUS
                   : loop->stride[k] == 0             ? OPERAND_CONSTANT
                                                      : OPERAND_STRIDED;
        assert_int_equal(loop->kind[k], kind);
    }
}

/* The absolute strides of array 0 go up, zeros last; it stands still from one segment to the next, but their elements lie as far apart as
 * those of the axis, which `along` says, or counts as 0. bounds: the array of segments; -1: there is none. */
static void check_order(const nd_loop *loop, int bounds, int64_t along) {
    uint64_t last = 0;
    for (int d = 0; d < loop->ndim; d++) {
        int64_t stride = loop->stride[d * loop->narrays];
        assert_true(stride >= 0);
        if (bounds >= 0 && loop->stride[d * loop->narrays + bounds]) {
            assert_int_equal(stride, 0);
            stride = along;
        }
        uint64_t key = stride ? (uint64_t)llabs(stride) : UINT64_MAX;
        assert_true(key >= last);
        last = key;
    }
}

/* Results stand still while elements are reduced; the position counts on where the order is kept. */
static void check_roles(const call *c, const nd_fold *f) {
    bool keeps = c->flags & (ND_KEEP_ORDER | ND_SCAN) || c->segments >= 0;
    for (int k = 0; k < c->n; k++)
        for (int d = 0; d < f->reduced.ndim; d++) {
            int64_t stride = f->reduced.stride[d * c->n + k];
            if (c->arrays[k].role == ND_BOUNDS || (c->arrays[k].role == ND_RESULTS && !(c->flags & ND_SCAN)))
                assert_int_equal(stride, 0);
            assert_int_equal(f->reduced.offset[k], 0);
        }
    for (int64_t j = 0; keeps && j < f->reduced.count; j++)
        assert_int_equal(f->kept.offset[c->n - 1] + loop_offset(&f->reduced, c->n - 1, j), j);
    int bounds = c->n - 1;
    while (bounds >= 0 && c->arrays[bounds].role != ND_BOUNDS)
        bounds--;
    if (f->kept.count > 1 && (bounds < 0 || f->reduced.count > 1))
        check_order(&f->kept, bounds, c->flags & ND_SEGMENTS_INSIDE ? f->reduced.stride[0] : 0);
    if (f->reduced.count > 1 && !keeps)
        check_order(&f->reduced, -1, 0);
}

static void check_bounds(const nd_fold *f, const visits *v) {
    int n = f->kept.narrays;
    for (int k = 0; k < n && v->count > 0; k++) {
        int64_t lowest, highest, low = INT64_MAX, high = INT64_MIN;
        nd_fold_bounds(f, k, &lowest, &highest);
        for (int64_t i = 0; i < v->count; i++) {
            int64_t at = v->tuples[i * n + k];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        assert_int_equal(lowest + f->kept.offset[k], low);
        assert_int_equal(highest + f->kept.offset[k], high);
    }
}

static void print_call(const call *c) {
    print_message("rank %d axes %llx flags %u segments %lld, shape", c->ndim, (unsigned long long)c->axes, c->flags,
                  (long long)c->segments);
    for (int d = 0; d < c->ndim; d++)
        print_message(" %lld", (long long)c->shape[d]);
    for (int k = 0; k < c->n; k++) {
        const nd_array *a = &c->arrays[k];
        print_message("\n%d: role %d%s shape", k, a->role, a->number ? " number" : "");
        for (int d = 0; d < a->ndim; d++)
            print_message(" %lld/%lld", (long long)a->shape[d], (long long)own_stride(a, d));
    }
    print_message("\n");
}

static void check_call(const call *c) {
    nd_fold f;
    int64_t *space = guarded_space(c->ndim, c->n);
    assert_int_equal(nd_fold_plan(c->arrays, c->n, c->axes, c->flags, space, &f), UF_OK);
    visits expected = naive(c), got = walk(&f);
    check_form(c, &f.kept);
    check_form(c, &f.reduced);
    check_roles(c, &f);
    check_bounds(&f, &got);
    sort_visits(&expected, c->n);
    sort_visits(&got, c->n);
    if (expected.count != got.count ||
        memcmp(expected.tuples, got.tuples, (size_t)(got.count * c->n) * sizeof *got.tuples)) {
        print_call(c);
        fail_msg("the loops visit other elements");
    }
    free(expected.tuples);
    free(got.tuples);
    free_space(space, c->ndim, c->n);
}

static void loops_visit_what_is_reduced(void **unused) {
    (void)unused;
    for (int64_t t = trials(20000); t > 0; t--) {
        call c;
        random_call(&c);
        check_call(&c);
    }
}

/* ---- Regrouping ---- */

/* New arrays are dense over the kept loop; the others stay. */
static void regrouped_loops_are_the_same(void **unused) {
    (void)unused;
    for (int64_t t = trials(3000); t > 0; t--) {
        call c;
        nd_fold f, g;
        random_call(&c);
        int64_t *space = guarded_space(c.ndim, c.n), *other = guarded_space(c.ndim, c.n + 1), step = pick(1, 5);
        assert_int_equal(nd_fold_plan(c.arrays, c.n, c.axes, c.flags, space, &f), UF_OK);
        int of[MAX_ARRAYS + 1];
        for (int k = 0; k < c.n + 1; k++)
            of[k] = k == c.nin ? -1 : k - (k > c.nin);
        nd_fold_regroup(&f, c.n + 1, of, step, other, &g);
        assert_int_equal(g.kept.count, f.kept.count);
        assert_int_equal(g.reduced.count, f.reduced.count);
        for (int64_t i = 0; i < f.kept.count; i++)
            for (int k = 0; k < c.n + 1; k++)
                assert_int_equal(loop_offset(&g.kept, k, i), of[k] < 0 ? i * step : loop_offset(&f.kept, of[k], i));
        for (int64_t j = 0; j < f.reduced.count; j++)
            for (int k = 0; k < c.n + 1; k++)
                assert_int_equal(loop_offset(&g.reduced, k, j), of[k] < 0 ? 0 : loop_offset(&f.reduced, of[k], j));
        free_space(space, c.ndim, c.n);
        free_space(other, c.ndim, c.n + 1);
    }
}

/* ---- Overlap ---- */

enum {
    REACH = 4096 /* elements before and after element 0 that small calls may touch */
};

/* Marks the bytes of what array k touches, the bytes counted from `start`. False: too far to be marked. */
static bool mark(const visits *v, int n, int k, int64_t start, uint8_t *marks) {
    for (int64_t i = 0; i < v->count; i++) {
        int64_t at = v->tuples[i * n + k] * 8 + start;
        if (at < 0 || at + 8 > 16 * REACH)
            return false;
        memset(marks + at, 1, 8);
    }
    return true;
}

static void overlap_is_found(void **unused) {
    (void)unused;
    static uint8_t a[16 * REACH], b[16 * REACH];
    int64_t disjoint = 0, overlapping = 0;
    for (int64_t t = trials(5000); t > 0; t--) {
        call c;
        nd_fold f;
        random_call(&c);
        int64_t *space = guarded_space(c.ndim, c.n);
        assert_int_equal(nd_fold_plan(c.arrays, c.n, c.axes, c.flags, space, &f), UF_OK);
        visits v = naive(&c);
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        int64_t start_a = 8 * REACH, start_b = start_a + 8 * pick(-60, 60);
        if (mark(&v, c.n, 0, start_a, a) && mark(&v, c.n, c.nin, start_b, b)) {
            bool meet = false;
            for (size_t i = 0; i < sizeof a; i++)
                meet |= a[i] && b[i];
            nd_overlap how = nd_fold_compare(&f, 0, (char *)(uintptr_t)(1 << 20), 8, c.nin,
                                             (char *)(uintptr_t)((1 << 20) + start_b - start_a), 8);
            if (meet != (how != ND_DISJOINT))
                print_call(&c);
            assert_int_equal(how != ND_DISJOINT, meet);
            disjoint += !meet;
            overlapping += meet;
        }
        free(v.tuples);
        free_space(space, c.ndim, c.n);
    }
    assert_true(disjoint > 0 && overlapping > 0);
}

/* A scan in place is element for element; a reduction into its input is not. */
static void scans_in_place_are_the_same(void **unused) {
    (void)unused;
    int64_t shape[2] = {4, 6}, space[64];
    nd_array arrays[2] = {{.ndim = 2, .shape = shape, .size = 4},
                          {.ndim = 2, .shape = shape, .size = 4, .output = true, .role = ND_RESULTS}};
    char *data = (char *)(uintptr_t)4096;
    nd_fold f;
    assert_int_equal(nd_fold_plan(arrays, 2, 2, ND_SCAN, space, &f), UF_OK);
    assert_int_equal(nd_fold_compare(&f, 0, data, 4, 1, data, 4), ND_SAME);
    assert_int_equal(nd_fold_compare(&f, 0, data, 4, 1, data + 4, 4), ND_OVERLAP);
    assert_int_equal(nd_fold_compare(&f, 0, data, 4, 1, data + 96, 4), ND_DISJOINT);
    arrays[1].ndim = 1;
    assert_int_equal(nd_fold_plan(arrays, 2, 2, 0, space, &f), UF_OK);
    assert_int_equal(nd_fold_compare(&f, 0, data, 4, 1, data, 4), ND_OVERLAP);
}

static void outputs_that_meet_themselves(void **unused) {
    (void)unused;
    int64_t shape[2] = {4, 6}, once[2] = {6, 1}, shared[2] = {1, 1}, zero[1] = {0}, space[64];
    nd_array arrays[2] = {{.ndim = 2, .shape = shape, .size = 4},
                          {.ndim = 2, .shape = shape, .strides = once, .output = true, .role = ND_RESULTS}};
    nd_fold f;
    assert_int_equal(nd_fold_plan(arrays, 2, 1, ND_SCAN, space, &f), UF_OK);
    assert_false(nd_fold_self_overlap(&f, 1));
    arrays[1].strides = shared;
    assert_int_equal(nd_fold_plan(arrays, 2, 1, ND_SCAN, space, &f), UF_OK);
    assert_true(nd_fold_self_overlap(&f, 1));
    arrays[1] = (nd_array){.ndim = 1, .shape = shape, .strides = zero, .output = true, .role = ND_RESULTS};
    assert_int_equal(nd_fold_plan(arrays, 2, 2, 0, space, &f), UF_OK);
    assert_true(nd_fold_self_overlap(&f, 1));
    arrays[1].strides = once;
    assert_int_equal(nd_fold_plan(arrays, 2, 2, 0, space, &f), UF_OK);
    assert_false(nd_fold_self_overlap(&f, 1));
}

/* ---- What is worth knowing exactly ---- */

static void expect_loop(const nd_loop *loop, int ndim, const int64_t *extent, const int64_t *stride) {
    assert_int_equal(loop->ndim, ndim);
    assert_memory_equal(loop->extent, extent, (size_t)ndim * sizeof *extent);
    assert_memory_equal(loop->stride, stride, (size_t)(ndim * loop->narrays) * sizeof *stride);
}

/* A C-contiguous array reduced over all axes is one dimension, also with the position; over neighbours too. */
static void neighbours_merge(void **unused) {
    (void)unused;
    int64_t shape[4] = {2, 3, 4, 5}, space[128];
    nd_array arrays[3] = {
        {.ndim = 4, .shape = shape, .size = 4}, {.output = true, .size = 4, .role = ND_RESULTS}, {.role = ND_POSITION}};
    nd_fold f;
    assert_int_equal(nd_fold_plan(arrays, 3, 15, 0, space, &f), UF_OK);
    expect_loop(&f.reduced, 1, (int64_t[]){120}, (int64_t[]){1, 0, 1});
    expect_loop(&f.kept, 1, (int64_t[]){1}, (int64_t[]){1, 1, 0});
    arrays[1].ndim = 2;
    arrays[1].shape = (int64_t[]){2, 5};
    assert_int_equal(nd_fold_plan(arrays, 3, 6, 0, space, &f), UF_OK);
    expect_loop(&f.reduced, 1, (int64_t[]){12}, (int64_t[]){5, 0, 1});
    expect_loop(&f.kept, 2, (int64_t[]){5, 2}, (int64_t[]){1, 1, 0, 60, 5, 0});
}

/* Rows and columns of more than 2^31 elements, of which none is touched. */
static void large_extents(void **unused) {
    (void)unused;
    int64_t shape[2] = {(int64_t)1 << 33, (int64_t)1 << 20}, space[64];
    nd_array arrays[2] = {{.ndim = 2, .shape = shape, .size = 1},
                          {.ndim = 1, .shape = shape, .size = 1, .output = true, .role = ND_RESULTS}};
    nd_fold f;
    assert_int_equal(nd_fold_plan(arrays, 2, 2, 0, space, &f), UF_OK);
    expect_loop(&f.kept, 1, shape, (int64_t[]){(int64_t)1 << 20, 1});
    expect_loop(&f.reduced, 1, shape + 1, (int64_t[]){1, 0});
    int64_t lowest, highest;
    nd_fold_bounds(&f, 0, &lowest, &highest);
    assert_true(lowest == 0 && highest == ((int64_t)1 << 53) - 1);
}

/* Rank 64, of which every second axis is reduced. */
static void the_greatest_rank(void **unused) {
    (void)unused;
    int64_t shape[UF_MAX_NDIM], results[UF_MAX_NDIM];
    for (int d = 0; d < UF_MAX_NDIM; d++) {
        shape[d] = d % 16 == 0 || d % 16 == 1 ? 2 : 1;
        results[d] = d % 16 == 1 ? 2 : 1;
    }
    nd_array arrays[3] = {{.ndim = UF_MAX_NDIM, .shape = shape, .size = 8},
                          {.ndim = UF_MAX_NDIM, .shape = results, .size = 8, .output = true, .role = ND_RESULTS},
                          {.role = ND_POSITION}};
    uint64_t axes = 0x5555555555555555;
    int64_t *space = guarded_space(UF_MAX_NDIM, 3);
    nd_fold f;
    assert_int_equal(nd_fold_plan(arrays, 3, axes, ND_KEEPDIMS, space, &f), UF_OK);
    assert_int_equal(f.kept.ndim, 4);
    assert_int_equal(f.reduced.ndim, 4);
    assert_int_equal(nd_axes(0, NULL, UF_MAX_NDIM, &axes), UF_OK);
    assert_true(axes == UINT64_MAX);
    arrays[1].ndim = 0;
    assert_int_equal(nd_fold_plan(arrays, 3, axes, 0, space, &f), UF_OK);
    expect_loop(&f.reduced, 1, (int64_t[]){256}, (int64_t[]){1, 0, 1});
    free_space(space, UF_MAX_NDIM, 3);
}

/* ---- Axes and errors ---- */

static void expect(uf_status got, uf_status status, int argument, int dimension, const char *message) {
    const uf_error *e = uf_last_error();
    assert_int_equal(got, status);
    assert_string_equal(e->message, message);
    assert_int_equal(e->argument, argument);
    assert_int_equal(e->dimension, dimension);
}

static void axes_are_a_set(void **unused) {
    (void)unused;
    uint64_t set;
    assert_int_equal(nd_axes(2, (int[]){-1, 0}, 3, &set), UF_OK);
    assert_true(set == 5);
    assert_int_equal(nd_axes(UF_NO_AXES, NULL, 3, &set), UF_OK);
    assert_true(set == 0);
    assert_int_equal(nd_axes(UF_NO_AXES, (int[]){7}, 3, &set), UF_OK);
    assert_true(set == 0);
    assert_int_equal(nd_axes(0, NULL, 3, &set), UF_OK);
    assert_true(set == 7);
    assert_int_equal(nd_axes(0, NULL, 0, &set), UF_OK);
    assert_true(set == 0);
    expect(nd_axes(1, NULL, 3, &set), UF_ERR_ARGUMENT, -1, -1, "naxes is 1, but axes, which names them, is NULL");
    expect(nd_axes(-2, (int[]){0}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "naxes is -2; it must be a number of axes, or UF_NO_AXES (-1)");
    expect(nd_axes(4, (int[]){0}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "naxes is 4, but the rank of what is reduced is 3");
    expect(nd_axes(2, (int[]){0}, 0, &set), UF_ERR_ARGUMENT, -1, -1,
           "naxes is 2, but the rank of what is reduced is 0");
    expect(nd_axes(0, (int[]){0}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "axes is given without naxes: naxes, which is 0, is how many axes it has (UF_NO_AXES reduces none)");
    expect(nd_axes(1, (int[]){3}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "axis 3 is out of range: the rank of what is reduced is 3");
    expect(nd_axes(1, (int[]){-4}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "axis -4 is out of range: the rank of what is reduced is 3");
    expect(nd_axes(1, (int[]){INT32_MIN}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "axis -2147483648 is out of range: the rank of what is reduced is 3");
    expect(nd_axes(1, (int[]){0}, 0, &set), UF_ERR_ARGUMENT, -1, -1,
           "axis 0 is out of range: the rank of what is reduced is 0");
    expect(nd_axes(2, (int[]){2, -1}, 3, &set), UF_ERR_ARGUMENT, -1, -1,
           "axis 2 occurs twice (axes[1] is -1, the rank 3)");
}

static void shapes_that_do_not_fit(void **unused) {
    (void)unused;
    int64_t shape[2] = {3, 4}, other[2] = {3, 5}, huge[2] = {(int64_t)1 << 40, 1}, wide[1] = {(int64_t)1 << 40};
    int64_t space[128];
    nd_array arrays[3] = {{.ndim = 2, .shape = shape},
                          {.ndim = 1, .shape = other, .output = true, .role = ND_RESULTS},
                          {.ndim = 2, .shape = other, .mask = true}};
    nd_fold f;
    expect(nd_fold_plan(arrays, 2, 1, 0, space, &f), UF_ERR_SHAPE, 1, 0,
           "argument 1: dimension 0 is 3, but that of the results is 4");
    expect(nd_fold_plan(arrays, 2, 3, 0, space, &f), UF_ERR_SHAPE, 1, -1,
           "argument 1: its rank is 1, but that of the results is 0, since all axes are reduced");
    expect(nd_fold_plan(arrays, 2, 1, ND_KEEPDIMS, space, &f), UF_ERR_SHAPE, 1, -1,
           "argument 1: its rank is 1, but that of the results is 2");
    expect(nd_fold_plan(arrays, 3, 2, 0, space, &f), UF_ERR_SHAPE, -1, 1,
           "where: dimension 1 is 5, but dimension 1 of argument 0 is 4: they must be equal, or one of them 1");
    arrays[0] = (nd_array){.ndim = 2, .shape = huge};
    arrays[1] = (nd_array){.ndim = 1, .shape = wide};
    arrays[2] = (nd_array){.ndim = 1, .shape = wide, .output = true, .role = ND_RESULTS};
    expect(nd_fold_plan(arrays, 3, 1, 0, space, &f), UF_ERR_SHAPE, -1, -1,
           "the arguments broadcast to 2^63 elements or more");
}

static void small_plans_are_fast(void **unused) {
    (void)unused;
    enum {
        CALLS = 200000
    };
    int64_t shape[2] = {4, 4}, space[64];
    nd_array arrays[2] = {{.ndim = 2, .shape = shape, .size = 4},
                          {.ndim = 1, .shape = shape, .size = 4, .output = true, .role = ND_RESULTS}};
    nd_fold f;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < CALLS; i++)
        assert_true(nd_fold_plan(arrays, 2, 1 + i % 2, 0, space, &f) == UF_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / CALLS;
    print_message("nd_fold_plan, 4 x 4: %.1f ns\n", ns);
    assert_true(ns < 20000); /* sanitizers and busy machines too */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_visit_what_is_reduced),
        cmocka_unit_test(regrouped_loops_are_the_same),
        cmocka_unit_test(overlap_is_found),
        cmocka_unit_test(scans_in_place_are_the_same),
        cmocka_unit_test(outputs_that_meet_themselves),
        cmocka_unit_test(neighbours_merge),
        cmocka_unit_test(large_extents),
        cmocka_unit_test(the_greatest_rank),
        cmocka_unit_test(axes_are_a_set),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(small_plans_are_fast),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
