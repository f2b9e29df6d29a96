/* test_nd.c - the nd layer against naive oracles: an odometer over the broadcast shape for loops, marked bytes for overlap,
 * exhaustive search for relations; and every error with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "nd/nd.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"

/* ---- Random calls ---- */

enum {
    MAX_ARRAYS = 6,
    MAX_RANK = 6
};

typedef struct call {
    int n, nin;
    nd_array arrays[MAX_ARRAYS];
    int64_t shape[MAX_ARRAYS][UF_MAX_NDIM], strides[MAX_ARRAYS][UF_MAX_NDIM];
} call;

/* Strides of a view: a permuted, stepped, perhaps reversed box; or anything at all. */
static void random_strides(nd_array *a, int64_t *strides) {
    int permutation[UF_MAX_NDIM];
    int64_t dense = 1;
    for (int d = 0; d < a->ndim; d++) {
        permutation[d] = d;
        int other = chance(40) ? (int)pick(0, d) : d, t = permutation[other];
        permutation[other] = d;
        permutation[d] = t;
    }
    bool plain = chance(50), wild = chance(10);
    for (int i = a->ndim - 1; i >= 0; i--) {
        int d = permutation[i];
        int64_t step = !plain && chance(30) ? pick(2, 3) : 1, pad = !plain && chance(30) ? pick(1, 3) : 0;
        strides[d] = dense * step * (!plain && chance(30) ? -1 : 1);
        dense *= a->shape[d] > 0 ? (a->shape[d] + pad) * step : 1;
        if (wild)
            strides[d] = pick(-5, 5);
        if (!a->output && chance(5))
            strides[d] = 0;
    }
}

/* An array whose shape broadcasts to `shape`; outputs have it. */
static void random_array(call *c, int k, bool output, int ndim, const int64_t *shape) {
    nd_array *a = &c->arrays[k];
    int rank = output ? ndim : chance(70) ? ndim : (int)pick(0, ndim);
    *a = (nd_array){.ndim = rank, .shape = c->shape[k], .size = 4, .output = output};
    for (int d = 0; d < rank; d++)
        c->shape[k][d] = !output && chance(25) ? 1 : shape[ndim - rank + d];
    random_strides(a, c->strides[k]);
    a->strides = chance(40) ? NULL : c->strides[k];
    a->number = !output && chance(8);
}

static void random_call(call *c) {
    int64_t shape[MAX_RANK];
    int ndim = (int)pick(0, MAX_RANK), nout = chance(5) ? 0 : (int)pick(1, 2);
    for (int d = 0; d < ndim; d++)
        shape[d] = chance(3) ? 0 : chance(20) ? 1 : pick(1, ndim > 4 ? 3 : ndim > 2 ? 5 : 20);
    c->nin = (int)pick(nout == 0, 3);
    c->n = 0;
    for (int k = 0; k < c->nin; k++)
        random_array(c, c->n++, false, ndim, shape);
    for (int k = 0; k < nout; k++)
        random_array(c, c->n++, true, ndim, shape);
    if (nout > 0 && chance(15)) {
        random_array(c, c->n++, false, ndim, shape);
        c->arrays[c->n - 1].number = false;
    }
}

/* ---- Visits: the tuples of element offsets, one per array, in loop order ---- */

typedef struct visits {
    int64_t count;
    int64_t *tuples; /* count x n */
} visits;

static int64_t dense_stride(const nd_array *a, int d) {
    int64_t stride = 1;
    if (a->strides)
        return a->strides[d];
    for (int i = d + 1; i < a->ndim; i++)
        stride *= a->shape[i];
    return stride;
}

static void shape_of(const call *c, int *ndim, int64_t *shape) {
    int n = 0;
    for (int k = 0; k < c->n; k++)
        if (!c->arrays[k].number && c->arrays[k].ndim > n)
            n = c->arrays[k].ndim;
    *ndim = n;
    for (int d = 0; d < n; d++)
        shape[d] = 1;
    for (int k = 0; k < c->n; k++)
        for (int d = 0; d < c->arrays[k].ndim && !c->arrays[k].number; d++)
            if (c->arrays[k].shape[d] != 1)
                shape[n - c->arrays[k].ndim + d] = c->arrays[k].shape[d];
}

/* The oracle: indices in C order over the broadcast shape. */
static visits naive(const call *c) {
    int64_t shape[UF_MAX_NDIM], count = 1;
    int ndim;
    shape_of(c, &ndim, shape);
    for (int d = 0; d < ndim; d++)
        count *= shape[d];
    visits v = {count, calloc((size_t)count * (size_t)c->n + 1, sizeof *v.tuples)};
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < c->n; k++) {
            const nd_array *a = &c->arrays[k];
            int64_t rest = i, at = 0;
            for (int d = ndim - 1; d >= 0; rest /= shape[d], d--) {
                int own = d - (ndim - a->ndim);
                if (own >= 0 && a->shape[own] != 1)
                    at += rest % shape[d] * dense_stride(a, own);
            }
            v.tuples[i * c->n + k] = a->number ? 0 : at;
        }
    return v;
}

static visits walk(const nd_loop *loop) {
    int n = loop->narrays;
    visits v = {loop->count, calloc((size_t)loop->count * (size_t)n + 1, sizeof *v.tuples)};
    for (int64_t i = 0; i < loop->count; i++)
        for (int k = 0; k < n; k++) {
            int64_t rest = i, at = loop->offset[k];
            for (int d = 0; d < loop->ndim; rest /= loop->extent[d], d++)
                at += rest % loop->extent[d] * loop->stride[d * n + k];
            v.tuples[i * n + k] = at;
        }
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

static bool same_visits(const visits *a, const visits *b, int n) {
    return a->count == b->count && memcmp(a->tuples, b->tuples, (size_t)a->count * (size_t)n * sizeof *a->tuples) == 0;
}

static void print_call(const call *c) {
    for (int k = 0; k < c->n; k++) {
        const nd_array *a = &c->arrays[k];
        print_message("%d: %s%s shape", k,
                      a->output    ? "output"
                      : k < c->nin ? "input"
                                   : "mask",
                      a->number ? " number" : "");
        for (int d = 0; d < a->ndim; d++)
            print_message(" %lld", (long long)a->shape[d]);
        print_message(a->strides ? " strides" : " dense");
        for (int d = 0; d < a->ndim && a->strides; d++)
            print_message(" %lld", (long long)a->strides[d]);
        print_message("\n");
    }
}

static void print_loop(const nd_loop *loop) {
    for (int d = 0; d < loop->ndim; d++) {
        print_message("extent %lld strides", (long long)loop->extent[d]);
        for (int k = 0; k < loop->narrays; k++)
            print_message(" %lld", (long long)loop->stride[d * loop->narrays + k]);
        print_message("\n");
    }
}

/* Memory of exactly nd_space bytes between guard words. */
static int64_t *guarded_space(int ndim, int narrays) {
    size_t size = nd_space(ndim, narrays);
    int64_t *space = malloc(size + 16);
    space[0] = space[1 + size / 8] = 0x5A5A5A5A5A5A5A5A;
    return space + 1;
}

static void free_space(int64_t *space, int ndim, int narrays) {
    assert_true(space[-1] == 0x5A5A5A5A5A5A5A5A && space[nd_space(ndim, narrays) / 8] == 0x5A5A5A5A5A5A5A5A);
    free(space - 1);
}

static int max_rank(const call *c) {
    int rank = 0;
    for (int k = 0; k < c->n; k++)
        if (c->arrays[k].ndim > rank)
            rank = c->arrays[k].ndim;
    return rank;
}

/* ---- What every loop must satisfy ---- */

static void check_kinds(const call *c, const nd_loop *loop) {
    bool strided = false, dense_inner = loop->extent[0] >= ND_ROW_MIN;
    for (int k = 0; k < c->n; k++) {
        int64_t inner = loop->stride[k];
        int kind = c->arrays[k].number ? OPERAND_NUMBER
                   : inner == 1        ? OPERAND_CONTIGUOUS
                   : inner == 0        ? OPERAND_CONSTANT
                                       : OPERAND_STRIDED;
        assert_int_equal(loop->kind[k], kind);
        strided |= kind == OPERAND_STRIDED;
    }
    int expected = strided ? LOOP_GENERAL : loop->ndim == 1 ? LOOP_FLAT : dense_inner ? LOOP_ROWS : LOOP_GENERAL;
    assert_int_equal(loop->loop, expected);
}

/* Dimensions are canonical: no extent 1, neighbours do not merge. */
static void check_canonical(const nd_loop *loop) {
    int n = loop->narrays;
    if (loop->count <= 1) {
        assert_int_equal(loop->ndim, 1);
        assert_int_equal(loop->extent[0], loop->count);
        assert_int_equal(loop->loop, LOOP_FLAT);
        return;
    }
    for (int d = 0; d < loop->ndim; d++) {
        bool merges = d > 0;
        assert_true(loop->extent[d] > 1);
        for (int k = 0; k < n && merges; k++)
            merges = loop->stride[d * n + k] == loop->extent[d - 1] * loop->stride[(d - 1) * n + k];
        assert_false(merges);
    }
}

static void check_bounds(const nd_loop *loop, const visits *v) {
    for (int k = 0; k < loop->narrays; k++) {
        int64_t lowest, highest, low = INT64_MAX, high = INT64_MIN;
        nd_bounds(loop, k, &lowest, &highest);
        for (int64_t i = 0; i < v->count; i++) {
            int64_t at = v->tuples[i * loop->narrays + k];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (v->count == 0)
            low = high = loop->offset[k];
        assert_int_equal(lowest + loop->offset[k], low);
        assert_int_equal(highest + loop->offset[k], high);
    }
}

static void check_self_overlap(const nd_loop *loop, const visits *v, int k) {
    int64_t *at = malloc((size_t)v->count * sizeof *at + 1);
    bool twice = false;
    for (int64_t i = 0; i < v->count; i++)
        at[i] = v->tuples[i * loop->narrays + k];
    width = 1;
    if (v->count > 0)
        qsort(at, (size_t)v->count, sizeof *at, compare);
    for (int64_t i = 1; i < v->count; i++)
        twice |= at[i] == at[i - 1];
    free(at);
    if (loop->kind[k] == OPERAND_NUMBER)
        assert_false(nd_self_overlap(loop, k));
    else if (loop->ndim <= 4)
        assert_int_equal(nd_self_overlap(loop, k), twice);
    else if (twice)
        assert_true(nd_self_overlap(loop, k));
}

/* A loop that is made one of the class tile visits the same elements, and has the kinds of its dimension 0. */
static void check_tile(const call *c, bool outputs, nd_loop *loop, const visits *expected) {
    bool general = loop->loop == LOOP_GENERAL;
    int narrow = chance(50) ? 8 : 15;
    nd_tile(c->arrays, outputs, narrow, loop);
    visits got = walk(loop);
    sort_visits(&got, c->n);
    assert_true(same_visits(expected, &got, c->n));
    free(got.tuples);
    if (loop->loop != LOOP_TILE)
        return;
    bool across = false;
    assert_true(general && loop->ndim > 1);
    for (int k = 0; k < c->n; k++) {
        across |= nd_is_across(loop, k) || loop->extent[1] <= narrow;
        if (!c->arrays[k].number)
            assert_int_equal(loop->kind[k], loop->stride[k] == 1 ? OPERAND_CONTIGUOUS
                                            : loop->stride[k]    ? OPERAND_STRIDED
                                                                 : OPERAND_CONSTANT);
    }
    assert_true(across);
}

static int64_t loops_cut;

/* A loop that is cut into squares visits the same elements, and no dimension of its two has a part left over. The loop of inner calls
 * is the one whose strides are the arrays' times the elements of a core. */
static void check_squares(const call *c, nd_loop *loop, const visits *expected) {
    int64_t core = chance(50) ? 1 : pick(2, 5), ndim = loop->ndim;
    nd_square q;
    for (int i = 0; i < loop->ndim * loop->narrays; i++)
        loop->stride[i] *= core;
    bool found = nd_square_find(c->arrays, loop, &q);
    if (found) {
        int64_t *space = guarded_space(loop->ndim + ND_SQUARE_MORE, loop->narrays);
        nd_loop cut = *loop;
        assert_true(q.dimension[0] != q.dimension[1] && (!q.dimension[0] || !q.dimension[1]));
        for (int i = 0; i < 2; i++)
            assert_true(q.dimension[i] < loop->ndim && q.side[i] > 1 && loop->extent[q.dimension[i]] % q.side[i] == 0);
        nd_square_cut(&q, space, &cut);
        assert_in_range(cut.ndim, 2, loop->ndim + ND_SQUARE_MORE);
        assert_int_equal(cut.extent[0] * cut.extent[1], q.side[0] * q.side[1]);
        visits got = walk(&cut);
        for (int64_t i = 0; i < got.count * c->n; i++)
            got.tuples[i] = (got.tuples[i] - cut.offset[i % c->n]) / core + cut.offset[i % c->n];
        sort_visits(&got, c->n);
        assert_true(same_visits(expected, &got, c->n));
        free(got.tuples);
        free_space(space, (int)ndim + ND_SQUARE_MORE, loop->narrays);
        loops_cut++;
    }
    for (int i = 0; i < loop->ndim * loop->narrays; i++)
        loop->stride[i] /= core;
}

static void check_loop(const call *c, unsigned flags) {
    nd_loop loop;
    int rank = max_rank(c);
    int64_t *space = guarded_space(rank, c->n);
    visits expected = naive(c);
    assert_int_equal(nd_plan(c->arrays, c->n, c->nin, flags, space, &loop), UF_OK);
    assert_int_equal(loop.count, expected.count);
    assert_int_equal(loop.narrays, c->n);
    visits got = walk(&loop);
    check_kinds(c, &loop);
    check_canonical(&loop);
    if (!(flags & ND_KEEP_ORDER)) {
        sort_visits(&expected, c->n);
        sort_visits(&got, c->n);
    }
    if (!same_visits(&expected, &got, c->n)) {
        print_call(c);
        print_loop(&loop);
        fail_msg("the loop visits other elements (flags %u)", flags);
    }
    check_bounds(&loop, &got);
    for (int k = 0; k < c->n; k++)
        check_self_overlap(&loop, &got, k);
    if (!(flags & ND_KEEP_ORDER)) {
        check_squares(c, &loop, &expected);
        check_tile(c, chance(50), &loop, &expected);
    }
    free(expected.tuples);
    free(got.tuples);
    free_space(space, rank, c->n);
}

static void loops_visit_what_shapes_say(void **unused) {
    (void)unused;
    for (int64_t t = trials(20000); t > 0; t--) {
        call c;
        random_call(&c);
        check_loop(&c, 0);
        check_loop(&c, ND_KEEP_ORDER);
    }
    assert_true(loops_cut * 100 > trials(20000) - 2000); /* some 3 % are; of few trials it may be none */
}

/* ---- Permuting and splitting axes ---- */

static bool same_loop(const nd_loop *a, const nd_loop *b) {
    size_t n = (size_t)a->narrays;
    return a->ndim == b->ndim && a->count == b->count && a->loop == b->loop &&
           memcmp(a->extent, b->extent, (size_t)a->ndim * sizeof *a->extent) == 0 &&
           memcmp(a->stride, b->stride, (size_t)a->ndim * n * sizeof *a->stride) == 0 &&
           memcmp(a->offset, b->offset, n * sizeof *a->offset) == 0 && memcmp(a->kind, b->kind, n) == 0;
}

/* Does every stride step over all that the smaller ones reach? Only then can a split axis be put together again: strides
 * 4, 5 of extents 16, 2 split into 4, 5, 16. */
static bool is_nested(const int64_t *shape, const int64_t *strides, int ndim) {
    int64_t reach = 0;
    for (int64_t seen = 0;;) {
        int least = -1;
        for (int d = 0; d < ndim; d++)
            if (shape[d] > 1 && !(seen >> d & 1) && (least < 0 || llabs(strides[d]) < llabs(strides[least])))
                least = d;
        if (least < 0)
            return true;
        if (llabs(strides[least]) <= reach)
            return false;
        reach += llabs(strides[least]) * (shape[least] - 1);
        seen |= (int64_t)1 << least;
    }
}

/* A call whose arrays all have the full shape and explicit strides, with a proper first output. */
static bool full_call(call *c) {
    random_call(c);
    int64_t shape[UF_MAX_NDIM];
    int ndim;
    shape_of(c, &ndim, shape);
    if (c->n == c->nin || ndim == 0)
        return false;
    for (int k = 0; k < c->n; k++) {
        nd_array *a = &c->arrays[k];
        int64_t strides[UF_MAX_NDIM] = {0};
        for (int d = 0; d < a->ndim && !a->number; d++)
            if (a->shape[d] != 1)
                strides[ndim - a->ndim + d] = dense_stride(a, d);
        memcpy(c->shape[k], shape, sizeof shape);
        memcpy(c->strides[k], strides, sizeof strides);
        a->ndim = ndim;
        a->strides = c->strides[k];
    }
    return is_nested(shape, c->strides[c->nin], ndim);
}

static void permute_axes(call *c) {
    int ndim = c->arrays[0].ndim;
    for (int d = ndim - 1; d > 0; d--) {
        int other = (int)pick(0, d);
        for (int k = 0; k < c->n; k++) {
            int64_t e = c->shape[k][d], s = c->strides[k][d];
            c->shape[k][d] = c->shape[k][other];
            c->strides[k][d] = c->strides[k][other];
            c->shape[k][other] = e;
            c->strides[k][other] = s;
        }
    }
}

/* Splits an axis of extent e into e / f and f where f divides it. */
static void split_axis(call *c) {
    int ndim = c->arrays[0].ndim, d = (int)pick(0, ndim - 1);
    int64_t e = c->shape[0][d], f = e > 0 ? pick(1, e) : 1;
    while (e > 0 && e % f)
        f--;
    for (int k = 0; k < c->n; k++) {
        memmove(&c->shape[k][d + 1], &c->shape[k][d], (size_t)(ndim - d) * sizeof(int64_t));
        memmove(&c->strides[k][d + 1], &c->strides[k][d], (size_t)(ndim - d) * sizeof(int64_t));
        c->shape[k][d] = e / f;
        c->shape[k][d + 1] = f;
        c->strides[k][d] *= f;
        c->arrays[k].ndim = ndim + 1;
    }
}

static void axes_do_not_matter(void **unused) {
    (void)unused;
    for (int64_t t = trials(20000); t > 0; t--) {
        call c;
        nd_loop a, b;
        int64_t space_a[1024], space_b[1024];
        if (!full_call(&c))
            continue;
        assert_int_equal(nd_plan(c.arrays, c.n, c.nin, 0, space_a, &a), UF_OK);
        permute_axes(&c);
        if (chance(50))
            split_axis(&c);
        permute_axes(&c);
        assert_true(nd_space(max_rank(&c), c.n) <= sizeof space_b);
        assert_int_equal(nd_plan(c.arrays, c.n, c.nin, 0, space_b, &b), UF_OK);
        if (!same_loop(&a, &b)) {
            print_call(&c);
            print_loop(&a);
            print_loop(&b);
            fail_msg("permuting or splitting axes changed the loop");
        }
    }
}

/* ---- Overlap of two arrays ---- */

/* Bytes from element 0 to the farthest one, at most. */
static int64_t reach_of(const nd_array *a, int size) {
    int64_t reach = 0, dense = 1;
    for (int d = a->ndim - 1; d >= 0; d--) {
        int64_t stride = a->strides ? a->strides[d] : dense;
        reach += (a->shape[d] - 1) * (stride < 0 ? -stride : stride) * size;
        dense *= a->shape[d];
    }
    return reach;
}

/* Two views with a common shape somewhere in a small buffer, by brute force over bytes. */
static void check_pair(void) {
    call c = {.n = 2, .nin = 1};
    static unsigned char marks[1 << 16];
    const int64_t room = sizeof marks / 2 - 256; /* on either side, distance and last element aside */
    int64_t space[64], shape[4];
    int ndim = (int)pick(0, 3), size[2];
    nd_loop loop;
    for (int d = 0; d < ndim; d++)
        shape[d] = pick(1, 6);
    bool common = chance(50);
    for (int k = 0; k < 2; k++) {
        size[k] = 1 << pick(0, 2);
        random_array(&c, k, true, ndim, shape);
        c.arrays[k].strides = c.strides[k];
        if (common && k)
            memcpy(c.strides[1], c.strides[0], sizeof c.strides[0]);
        if (common)
            size[k] = size[0];
        c.arrays[k].output = k == 1;
    }
    if (reach_of(&c.arrays[0], size[0]) > room || reach_of(&c.arrays[1], size[1]) > room)
        return;
    assert_int_equal(nd_plan(c.arrays, 2, 1, 0, space, &loop), UF_OK);
    char *data[2];
    data[0] = (char *)marks + sizeof marks / 2;
    data[1] = data[0] + pick(-40, 40) * (chance(70) ? size[0] : 1);
    memset(marks, 0, sizeof marks);
    visits v = naive(&c);
    bool overlap = false, same = data[0] == data[1] && size[0] == size[1];
    for (int64_t i = 0; i < v.count; i++)
        memset(data[0] + v.tuples[2 * i] * size[0], 1, (size_t)size[0]);
    for (int64_t i = 0; i < v.count; i++) {
        same &= v.tuples[2 * i] == v.tuples[2 * i + 1];
        for (int b = 0; b < size[1]; b++)
            overlap |= data[1][v.tuples[2 * i + 1] * size[1] + b];
    }
    nd_overlap expected = !overlap ? ND_DISJOINT : same ? ND_SAME : ND_OVERLAP;
    nd_overlap got = nd_compare(&loop, 0, data[0], size[0], 1, data[1], size[1]);
    if (got != expected) {
        print_call(&c);
        print_message("sizes %d %d, distance %lld\n", size[0], size[1], (long long)(data[1] - data[0]));
        fail_msg("overlap is %d, should be %d", got, expected);
    }
    free(v.tuples);
}

static void pairs_overlap_as_bytes_do(void **unused) {
    (void)unused;
    for (int64_t t = trials(200000); t > 0; t--)
        check_pair();
}

/* Large views, where bytes cannot be marked. */
static void large_views_are_told_apart(void **unused) {
    (void)unused;
    int64_t n = 1 << 20, shape[2] = {n, n / 2}, strides[2] = {n, 1}, space[32];
    nd_array arrays[2] = {{.shape = shape, .strides = strides, .ndim = 2, .size = 8},
                          {.shape = shape, .strides = strides, .ndim = 2, .size = 8, .output = true}};
    nd_loop loop;
    char *base = (char *)(uintptr_t)0x100000;
    assert_int_equal(nd_plan(arrays, 2, 1, 0, space, &loop), UF_OK);
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base, 8), ND_SAME);
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base + n / 2 * 8, 8), ND_DISJOINT); /* left and right columns */
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base + (n / 2 - 1) * 8, 8), ND_OVERLAP);
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base + n * (n - 1) * 8, 8), ND_OVERLAP);
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base + n * n * 8, 8), ND_DISJOINT);
    int64_t odd[2] = {3 * n, 2}; /* even elements against odd ones */
    arrays[0].strides = arrays[1].strides = odd;
    assert_int_equal(nd_plan(arrays, 2, 1, 0, space, &loop), UF_OK);
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base + 8, 8), ND_DISJOINT);
    assert_int_equal(nd_compare(&loop, 0, base, 8, 1, base + 4, 8), ND_OVERLAP); /* half an element into both */
}

/* ---- Relations ---- */

static bool brute_relation(int n, const int64_t *stride, const int64_t *bound, int i, int64_t sum, bool zero) {
    if (i == n)
        return sum == 0 && !zero;
    for (int64_t x = -bound[i]; x <= bound[i]; x++)
        if (brute_relation(n, stride, bound, i + 1, sum + x * stride[i], zero && x == 0))
            return true;
    return false;
}

static void relations_are_exact(void **unused) {
    (void)unused;
    static const int64_t widest[] = {60, 60, 30, 12, 6};
    int64_t found = 0;
    for (int64_t t = trials(40000); t > 0; t--) {
        int64_t stride[4], bound[4];
        int n = (int)pick(1, 4);
        int64_t top = chance(50) ? 60 : chance(50) ? 400 : 4000;
        for (int i = 0; i < n; i++) {
            stride[i] = pick(1, top);
            bound[i] = pick(1, widest[n]);
        }
        bool expected = brute_relation(n, stride, bound, 0, 0, true);
        found += expected;
        if (nd_has_relation(n, stride, bound) != expected) {
            for (int i = 0; i < n; i++)
                print_message("stride %lld bound %lld\n", (long long)stride[i], (long long)bound[i]);
            fail_msg("a relation %s", expected ? "exists" : "does not exist");
        }
    }
    print_message("relations: %lld found\n", (long long)found);
}

/* Sizes where only a construction tells: strides around a hidden relation; primes for which none can exist. */
static void large_relations(void **unused) {
    (void)unused;
    int64_t stride[4] = {1000000007, 1000000009, 1000000021, 1000000033}, bound[4] = {1, 1, 1, 1};
    assert_false(nd_has_relation(4, stride, bound));
    bound[0] = bound[1] = bound[2] = bound[3] = 1000;
    /* 2 and 12 apart: 7 x0 + 9 x1 + 21 x2 + 33 x3 = 0 with x0 + x1 + x2 + x3 = 0, e.g. 6, -7, 1, 0 */
    assert_true(nd_has_relation(4, stride, bound));
    bound[0] = 5;
    bound[1] = bound[2] = bound[3] = 6;
    assert_int_equal(nd_has_relation(4, stride, bound), brute_relation(4, stride, bound, 0, 0, true));
    int64_t two_strides[2] = {1000000007, 998244353}, two_bounds[2] = {998244352, 1000000007};
    assert_false(nd_has_relation(2, two_strides, two_bounds));
    two_bounds[0]++;
    assert_true(nd_has_relation(2, two_strides, two_bounds));
    for (int64_t t = trials(20000); t > 0; t--) { /* plant x, solve for the last stride */
        int64_t sum = 0;
        int n = (int)pick(2, 4);
        for (int i = 0; i < n; i++) {
            stride[i] = pick(1, (int64_t)1 << 30);
            bound[i] = pick(1, 1 << 20);
        }
        for (int i = 0; i + 1 < n; i++)
            sum += stride[i] * pick(-bound[i], bound[i]);
        if (sum == 0 || sum == INT64_MIN)
            continue;
        stride[n - 1] = sum < 0 ? -sum : sum;
        bound[n - 1] = 1;
        assert_true(nd_has_relation(n, stride, bound));
    }
}

/* ---- Extremes ---- */

static void rank_64(void **unused) {
    (void)unused;
    enum {
        N = VARIANT_OPERANDS
    };
    static nd_array arrays[N];
    static int64_t shape[UF_MAX_NDIM], strides[UF_MAX_NDIM];
    nd_loop loop;
    for (int d = 0; d < UF_MAX_NDIM; d++) {
        shape[d] = d < 62 ? 2 : 1;
        strides[d] = d < 62 ? (int64_t)1 << d : 7; /* Fortran order */
    }
    for (int k = 0; k < N; k++)
        arrays[k] =
            (nd_array){.shape = shape, .strides = strides, .ndim = UF_MAX_NDIM, .size = 1, .output = k == N - 1};
    int64_t *space = guarded_space(UF_MAX_NDIM, N);
    assert_int_equal(nd_plan(arrays, N, N - 1, 0, space, &loop), UF_OK);
    assert_int_equal(loop.ndim, 1);
    assert_true(loop.count == (int64_t)1 << 62);
    assert_int_equal(loop.loop, LOOP_FLAT);
    assert_int_equal(nd_plan(arrays, N, N - 1, ND_KEEP_ORDER, space, &loop), UF_OK);
    assert_int_equal(loop.ndim, 62);
    assert_false(nd_self_overlap(&loop, 0));
    int64_t zero[UF_MAX_NDIM] = {0}; /* nothing merges with an operand that stands still in every other dimension */
    for (int d = 0; d < 62; d += 2)
        zero[d] = strides[d];
    arrays[3].strides = zero;
    assert_int_equal(nd_plan(arrays, N, N - 1, 0, space, &loop), UF_OK);
    assert_int_equal(loop.ndim, 62);
    assert_true(nd_self_overlap(&loop, 3));
    free_space(space, UF_MAX_NDIM, N);
}

static void more_than_31_bits(void **unused) {
    (void)unused;
    int64_t n = (int64_t)1 << 40, shape[2] = {n, 3}, transposed[2] = {-1, n}, still[2] = {0, 0}, space[32];
    nd_array arrays[3] = {{.shape = shape, .strides = still, .ndim = 2, .size = 4},
                          {.shape = shape, .strides = transposed, .ndim = 2, .size = 4},
                          {.shape = shape, .strides = transposed, .ndim = 2, .size = 4, .output = true}};
    nd_loop loop;
    int64_t lowest, highest;
    assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
    assert_int_equal(loop.ndim, 1);
    assert_int_equal(loop.loop, LOOP_FLAT);
    assert_true(loop.count == 3 * n);
    assert_int_equal(loop.kind[0], OPERAND_CONSTANT);
    assert_int_equal(loop.offset[2], -(n - 1));
    nd_bounds(&loop, 2, &lowest, &highest);
    assert_true(lowest == 0 && highest == 3 * n - 1);
    assert_false(nd_self_overlap(&loop, 2));
    assert_true(nd_self_overlap(&loop, 0));
}

static void rows_and_general(void **unused) {
    (void)unused;
    int64_t shape[2] = {5, 16}, row[1] = {16}, column[2] = {5, 1}, step[2] = {20, 1}, space[32];
    nd_array arrays[3] = {{.shape = row, .ndim = 1, .size = 4},
                          {.shape = column, .ndim = 2, .size = 4},
                          {.shape = shape, .strides = step, .ndim = 2, .size = 4, .output = true}};
    nd_loop loop;
    assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
    assert_int_equal(loop.loop, LOOP_ROWS);
    assert_int_equal(loop.kind[0], OPERAND_CONTIGUOUS);
    assert_int_equal(loop.kind[1], OPERAND_CONSTANT);
    row[0] = shape[1] = ND_ROW_MIN - 1;
    assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
    assert_int_equal(loop.loop, LOOP_GENERAL);
}

/* ---- Loops across memory order ---- */

/* A copy, or a sum, of arrays of the shape whose dimensions lie in memory in these orders, the outermost first. `loop`: the class, the loop's
 * extents, dimension 0 first, and for each array how it lies: "=" along dimension 0, "x" across, "-" else. */
static const struct {
    int64_t shape[4];
    const char *order[3]; /* inputs, then the outputs; NULL: there is none */
    uint8_t size[3];
    const char *loop;
    int outputs; /* so many arrays are; they may be across. 0: the last one is, and may not */
} across_cases[] = {
    {{100, 200}, {"10", "01"}, {4, 4}, "tile 200 100 x=", 0},
    {{100, 200}, {"01", "10", "01"}, {4, 4, 4}, "tile 200 100 =x=", 0},
    {{100, 200}, {"10", "10", "01"}, {4, 4, 4}, "tile 200 100 xx=", 0},
    {{100, 200}, {"10", "10", "10"}, {4, 4, 4}, "flat 20000 ===", 0},
    {{100, 200}, {"10", "01", "10"}, {4, 4, 4}, "tile 100 200 =x=", 0},
    {{100, 200}, {"01", "10"}, {4, 4}, "tile 100 200 x=", 0},
    /* the dimension of the most bytes is dimension 1 */
    {{30, 40, 50}, {"021", "012"}, {4, 4}, "tile 50 40 30 x=", 0},
    {{30, 40, 50}, {"210", "012"}, {4, 4}, "tile 50 30 40 x=", 0},
    {{30, 40, 50}, {"210", "021", "012"}, {4, 8, 4}, "tile 50 40 30 -x=", 0},
    {{30, 40, 50}, {"210", "021", "012"}, {4, 2, 4}, "tile 50 30 40 x-=", 0},
    /* channels: dimensions that merge, and those that are narrow */
    {{2, 64, 20, 30}, {"0231", "0123"}, {1, 1}, "tile 600 64 2 x=", 0},
    {{2, 3, 20, 30}, {"0231", "0123"}, {1, 1}, "tile 600 3 2 x=", 0},
    {{2, 20, 30, 3}, {"0312", "0123"}, {1, 1}, "tile 600 3 2 =x", 0},
    {{20000, 8}, {"10", "01"}, {1, 1}, "tile 20000 8 =x", 0},
    {{20000, 9}, {"10", "01"}, {1, 1}, "tile 9 20000 x=", 0},
    /* too small */
    {{1000, 4, 15}, {"021", "012"}, {4, 4}, "general 15 4 1000 x=", 0},
    {{1000, 16, 16}, {"021", "012"}, {4, 4}, "tile 16 16 1000 x=", 0},
    /* outputs across; those of the most bytes lie along dimension 0, if an output is across */
    {{100, 200}, {"01", "01", "10"}, {4, 4, 4}, "tile 200 100 ==x", 2},
    {{100, 200}, {"01", "10", "01"}, {4, 4, 4}, "tile 200 100 =x=", 2},
    {{100, 200}, {"10", "01", "10"}, {4, 4, 4}, "tile 100 200 =x=", 2},
    {{100, 200}, {"10", "01", "10"}, {1, 2, 1}, "tile 200 100 x=x", 2},
    {{100, 200}, {"10", "10", "01"}, {4, 4, 4}, "tile 200 100 xx=", 1},
    {{20000, 8}, {"01", "01", "10"}, {4, 4, 4}, "tile 20000 8 xx=", 2},
    {{8, 20000}, {"01", "01", "10"}, {4, 4, 4}, "tile 20000 8 ==x", 2},
};

static void describe_loop(const nd_loop *loop, text *out) {
    static const char *const names[LOOP_CLASSES] = {
        [LOOP_FLAT] = "flat", [LOOP_ROWS] = "rows", [LOOP_GENERAL] = "general", [LOOP_TILE] = "tile"};
    text_puts(out, names[loop->loop]);
    for (int d = 0; d < loop->ndim; d++)
        text_printf(out, " %lld", (long long)loop->extent[d]);
    text_puts(out, " ");
    for (int k = 0; k < loop->narrays; k++)
        text_puts(out, loop->stride[k] == 1 ? "=" : loop->ndim > 1 && nd_is_across(loop, k) ? "x" : "-");
}

static void tiles_are_across(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof across_cases / sizeof *across_cases; i++) {
        int64_t strides[3][4], space[64];
        nd_array arrays[3];
        int n = 0, ndim = (int)strlen(across_cases[i].order[0]);
        for (; n < 3 && across_cases[i].order[n]; n++) {
            int64_t step = 1;
            for (int d = ndim; d-- > 0;) {
                int dimension = across_cases[i].order[n][d] - '0';
                strides[n][dimension] = step;
                step *= across_cases[i].shape[dimension];
            }
            arrays[n] = (nd_array){
                .shape = across_cases[i].shape, .strides = strides[n], .ndim = ndim, .size = across_cases[i].size[n]};
        }
        int outputs = across_cases[i].outputs > 1 ? across_cases[i].outputs : 1;
        for (int k = n - outputs; k < n; k++)
            arrays[k].output = true;
        nd_loop loop;
        text got = {0};
        assert_int_equal(nd_plan(arrays, n, n - outputs, 0, space, &loop), UF_OK);
        nd_tile(arrays, across_cases[i].outputs > 0, 8, &loop);
        describe_loop(&loop, &got);
        if (strcmp(got.data, across_cases[i].loop))
            fail_msg("case %zu: \"%s\", not \"%s\"", i, got.data, across_cases[i].loop);
        text_free(&got);
    }
}

/* ---- Loops of inner calls across memory order ---- */

/* Calls on arrays of float32 whose loop dimensions lie in memory in these orders, before cores of `core` elements. `loop`: the extents of the
 * loop that it is cut to, dimension 0 first, or that it stays whole. */
static const struct {
    int64_t shape[3];
    const char *order[3];
    int core[3];
    const char *loop;
} square_cases[] = {
    {{64, 128}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 16 16 4"},
    {{128, 64}, {"01", "01", "10"}, {3, 3, 3}, "cut 8 16 16 4"},
    {{64, 128}, {"10", "10", "10"}, {3, 3, 3}, "whole"},
    {{64, 128}, {"01", "10", "01"}, {1, 1, 4}, "cut 8 16 16 4"},
    {{48, 40}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 24 5 2"},
    {{13, 1024}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 13 128"},
    {{3, 1024}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 3 128"},
    {{101, 64}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 101 8"},
    /* rows that eight does not divide: some of them, or all */
    {{64, 101}, {"01", "10", "01"}, {3, 3, 3}, "cut 4 101 16"},
    {{30, 125}, {"01", "10", "01"}, {3, 3, 3}, "cut 3 125 10"},
    {{4, 125}, {"01", "10", "01"}, {3, 3, 3}, "cut 4 125"},
    {{7, 125}, {"01", "10", "01"}, {3, 3, 3}, "cut 7 125"},
    {{25, 125}, {"01", "10", "01"}, {3, 3, 3}, "cut 25 25 5"},
    {{101, 103}, {"01", "10", "01"}, {3, 3, 3}, "whole"},
    /* short ones */
    {{1024, 8}, {"01", "10", "01"}, {3, 3, 3}, "whole"},
    {{1024, 13}, {"01", "10", "01"}, {3, 3, 3}, "whole"},
    {{1024, 16}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 16 2 64"},
    /* the dimension along which most arrays are nearest; those left over follow */
    {{20, 32, 48}, {"210", "021", "012"}, {1, 1, 1}, "cut 8 16 6 2 20"},
    {{20, 32, 48}, {"210", "210", "012"}, {1, 1, 1}, "cut 8 20 6 32"},
    {{20, 32, 7}, {"210", "210", "012"}, {1, 1, 1}, "cut 4 7 5 32"},
    {{20, 32, 48}, {"012", "012", "102"}, {1, 1, 1}, "whole"},
    /* cores of a line of memory and more are whole lines, wherever they lie; so are those that neighbours share along dimension 0 */
    {{64, 128}, {"01", "10", "01"}, {31, 31, 31}, "cut 8 16 16 4"},
    {{64, 128}, {"01", "10", "01"}, {32, 32, 32}, "whole"},
    {{3, 64}, {"01", "10", "01"}, {3, 2, 3}, "whole"},
    {{3, 64}, {"01", "10", "01"}, {3, 3, 3}, "cut 8 3 8"},
};

static void squares_are_cut(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof square_cases / sizeof *square_cases; i++) {
        int64_t strides[3][3], space[64], more[64];
        nd_array arrays[3];
        int ndim = (int)strlen(square_cases[i].order[0]);
        for (int k = 0; k < 3; k++) {
            int64_t step = square_cases[i].core[k];
            for (int d = ndim; d-- > 0;) {
                int dimension = square_cases[i].order[k][d] - '0';
                strides[k][dimension] = step;
                step *= square_cases[i].shape[dimension];
            }
            arrays[k] = (nd_array){.shape = square_cases[i].shape,
                                   .strides = strides[k],
                                   .ndim = ndim,
                                   .size = sizeof(float),
                                   .output = k == 2};
        }
        nd_loop loop;
        nd_square q;
        text got = {0};
        assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
        bool found = nd_square_find(arrays, &loop, &q);
        if (found)
            nd_square_cut(&q, more, &loop);
        text_puts(&got, found ? "cut" : "whole");
        for (int d = 0; d < loop.ndim && found; d++)
            text_printf(&got, " %lld", (long long)loop.extent[d]);
        if (strcmp(got.data, square_cases[i].loop))
            fail_msg("case %zu: \"%s\", not \"%s\"", i, got.data, square_cases[i].loop);
        text_free(&got);
    }
}

/* ---- Errors ---- */

static void expect(uf_status got, uf_status status, int argument, int dimension, const char *message) {
    assert_int_equal(got, status);
    assert_string_equal(uf_last_error()->message, message);
    assert_int_equal(uf_last_error()->status, status);
    assert_int_equal(uf_last_error()->argument, argument);
    assert_int_equal(uf_last_error()->dimension, dimension);
}

static void malformed_arrays(void **unused) {
    (void)unused;
    static double data[16];
    int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
    const DLTensor good = {.data = data, .ndim = 2, .shape = shape, .strides = strides};
    DLTensor t = good;
    assert_int_equal(nd_check(&t, 0, 8, 8, true), UF_OK);
    t.ndim = -1;
    expect(nd_check(&t, 1, 8, 8, true), UF_ERR_ARGUMENT, 1, -1, "argument 1: its rank is -1, but must be from 0 to 64");
    t.ndim = 65;
    expect(nd_check(&t, -1, 1, 1, true), UF_ERR_ARGUMENT, -1, -1, "where: its rank is 65, but must be from 0 to 64");
    t = good;
    t.shape = NULL;
    expect(nd_check(&t, 2, 8, 8, true), UF_ERR_ARGUMENT, 2, -1, "argument 2: its shape is NULL, but its rank is 2");
    t.ndim = 0;
    assert_int_equal(nd_check(&t, 2, 8, 8, true), UF_OK);
    t = good;
    shape[1] = -3;
    expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, 1,
           "argument 0: dimension 1 is -3, but an extent is 0 or more");
    expect(nd_check(&t, -1, 8, 8, true), UF_ERR_ARGUMENT, -1, 1,
           "where: dimension 1 is -3, but an extent is 0 or more");
    shape[0] = 0; /* a negative extent is one beside a 0 too */
    expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, 1,
           "argument 0: dimension 1 is -3, but an extent is 0 or more");
    shape[0] = shape[1] = (int64_t)1 << 32;
    expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, -1,
           "argument 0: its extents multiply to 2^63 elements or more");
    shape[0] = (int64_t)1 << 28;
    t.strides = NULL;
    expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, -1, "argument 0: its elements span 2^63 bytes or more");
    assert_int_equal(nd_check(&t, 0, 4, 4, false), UF_OK);
}

static void malformed_strides_and_data(void **unused) {
    (void)unused;
    static double data[16];
    int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
    const DLTensor good = {.data = data, .ndim = 2, .shape = shape, .strides = strides};
    DLTensor t = good;
    static const int64_t bad[][2] = {{INT64_MAX, 1},
                                     {INT64_MIN, 1},
                                     {1, INT64_MIN},
                                     {1, INT64_MAX / 2},
                                     {-INT64_MAX / 2 - 9, INT64_MAX / 4 + 9},
                                     {INT64_MAX / 8 + 1, 0}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        memcpy(strides, bad[i], sizeof strides);
        expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, -1, "argument 0: its elements span 2^63 bytes or more");
    }
    shape[0] = shape[1] = 1; /* strides of extents 1 and 0 do not count */
    assert_int_equal(nd_check(&t, 0, 8, 8, true), UF_OK);
    shape[0] = 0;
    shape[1] = INT64_MAX;
    t.data = NULL;
    assert_int_equal(nd_check(&t, 0, 8, 8, true), UF_OK);
    shape[0] = 2, shape[1] = 3, strides[0] = 3, strides[1] = 1;
    expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, -1, "argument 0: its data is NULL, but it has 6 elements");
    assert_int_equal(nd_check(&t, 0, 8, 8, false), UF_OK);
    t.data = (char *)(uintptr_t)0x1004;
    expect(nd_check(&t, 0, 8, 8, true), UF_ERR_ARGUMENT, 0, -1,
           "argument 0: its element 0 is at 0x1004, but must be aligned to 8 bytes");
    t.byte_offset = 4;
    assert_int_equal(nd_check(&t, 0, 8, 8, true), UF_OK);
    t.byte_offset = UINT64_MAX;
    expect(nd_check(&t, 0, 1, 1, true), UF_ERR_ARGUMENT, 0, -1, "argument 0: its elements leave the address space");
    t.byte_offset = 0;
    strides[0] = -0x2000;
    expect(nd_check(&t, 0, 4, 4, true), UF_ERR_ARGUMENT, 0, -1, "argument 0: its elements leave the address space");
    DLTensor scalar = {.ndim = 0};
    expect(nd_check(&scalar, 3, 8, 8, true), UF_ERR_ARGUMENT, 3, -1,
           "argument 3: its data is NULL, but it has 1 element");
}

static void shapes_that_do_not_fit(void **unused) {
    (void)unused;
    int64_t a[3] = {2, 3, 4}, b[2] = {3, 4}, c[2] = {2, 4}, space[64], shape[UF_MAX_NDIM];
    nd_array arrays[3] = {{.shape = a, .ndim = 3}, {.shape = b, .ndim = 2}, {.shape = a, .ndim = 3, .output = true}};
    nd_loop loop;
    int ndim;
    assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
    assert_int_equal(nd_broadcast(arrays, 2, &ndim, shape), UF_OK);
    assert_true(ndim == 3 && shape[0] == 2 && shape[1] == 3 && shape[2] == 4);
    arrays[1].shape = c;
    expect(nd_plan(arrays, 3, 2, 0, space, &loop), UF_ERR_SHAPE, 1, 0,
           "argument 1: dimension 0 is 2, but dimension 1 of argument 0 is 3: they must be equal, or one of them 1");
    arrays[1].number = true;
    assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
    assert_int_equal(loop.kind[1], OPERAND_NUMBER);
    arrays[1].number = false;
    arrays[1].shape = b;
    arrays[2] = (nd_array){.shape = b, .ndim = 2, .output = true}; /* output too small */
    expect(nd_plan(arrays, 3, 2, 0, space, &loop), UF_ERR_SHAPE, 0, -1,
           "argument 0: its rank is 3, but that of argument 2, an output, is 2");
    int64_t one[3] = {2, 1, 4};
    arrays[2] = (nd_array){.shape = one, .ndim = 3, .output = true};
    expect(nd_plan(arrays, 3, 2, 0, space, &loop), UF_ERR_SHAPE, 0, 1,
           "argument 0: dimension 1 is 3, but dimension 1 of argument 2, an output, is 1: it must be that or 1");
    arrays[1] = (nd_array){.shape = a, .ndim = 3, .output = true};
    expect(nd_plan(arrays, 3, 1, 0, space, &loop), UF_ERR_SHAPE, 2, 1,
           "argument 2: dimension 1 is 1, but that of argument 1, an output too, is 3");
    arrays[2] = (nd_array){.shape = b, .ndim = 2, .output = true};
    expect(nd_plan(arrays, 3, 1, 0, space, &loop), UF_ERR_SHAPE, 2, -1,
           "argument 2: its rank is 2, but that of argument 1, an output too, is 3");
    arrays[2] = (nd_array){.shape = c, .ndim = 2, .mask = true};
    expect(nd_plan(arrays, 3, 1, 0, space, &loop), UF_ERR_SHAPE, -1, 0,
           "where: dimension 0 is 2, but dimension 1 of argument 1, an output, is 3: it must be that or 1");
    int64_t n = (int64_t)1 << 32, down[2] = {n, 1}, across[2] = {1, n}, both[2] = {n, n}, still[2] = {0, 0};
    arrays[0] = (nd_array){.shape = down, .ndim = 2};
    arrays[1] = (nd_array){.shape = across, .ndim = 2};
    arrays[2] = (nd_array){.shape = both, .strides = still, .ndim = 2, .output = true};
    expect(nd_plan(arrays, 3, 2, 0, space, &loop), UF_ERR_SHAPE, -1, -1,
           "the arguments broadcast to 2^63 elements or more");
    down[0] = 0; /* size 0 is the output's to agree with too */
    both[0] = 0;
    assert_int_equal(nd_plan(arrays, 3, 2, 0, space, &loop), UF_OK);
    assert_int_equal(loop.count, 0);
}

/* The loop of a 16-element call must cost next to nothing. Printed, and bounded far above what is seen. */
static void fast_path_is_fast(void **unused) {
    (void)unused;
    if (getenv("UF_TEST_VALGRIND"))
        skip();
    int64_t shape[1] = {16}, strides[1] = {1}, space[64];
    nd_array arrays[3] = {{.shape = shape, .ndim = 1},
                          {.shape = shape, .strides = strides, .ndim = 1},
                          {.shape = shape, .ndim = 1, .output = true}};
    nd_loop loop;
    struct timespec begin, end;
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        for (int i = 0; i < 10000; i++) {
            __asm__ volatile("" : : "r"(arrays) : "memory");
            nd_plan(arrays, 3, 2, 0, space, &loop);
            __asm__ volatile("" : : "r"(&loop), "r"(space) : "memory");
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / 10000;
        best = ns < best ? ns : best;
    }
    print_message("nd_plan, 3 arrays of 16: %.1f ns\n", best);
    assert_true(best < 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_visit_what_shapes_say),
        cmocka_unit_test(axes_do_not_matter),
        cmocka_unit_test(pairs_overlap_as_bytes_do),
        cmocka_unit_test(large_views_are_told_apart),
        cmocka_unit_test(relations_are_exact),
        cmocka_unit_test(large_relations),
        cmocka_unit_test(rank_64),
        cmocka_unit_test(more_than_31_bits),
        cmocka_unit_test(rows_and_general),
        cmocka_unit_test(tiles_are_across),
        cmocka_unit_test(squares_are_cut),
        cmocka_unit_test(malformed_arrays),
        cmocka_unit_test(malformed_strides_and_data),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(fast_path_is_fast),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
