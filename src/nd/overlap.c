/* overlap.c - do the elements of one array, or of two, share memory? The answer comes from the extents and strides of a
 * loop. It is exact, but where nd.h says otherwise; there it errs towards an overlap. */
#include <assert.h>

#include "nd/nd.h"

void nd_bounds(const nd_loop *loop, int k, int64_t *lowest, int64_t *highest) {
    *lowest = *highest = 0;
    if (loop->count == 0)
        return;
    for (int d = 0; d < loop->ndim; d++) {
        int64_t reach = (loop->extent[d] - 1) * loop->stride[d * loop->narrays + k];
        *(reach < 0 ? lowest : highest) += reach;
    }
}

/* ---- One array ---- */

enum {
    EXACT_DIMENSIONS = 4,
    MAX_DIMENSIONS = UF_MAX_NDIM + LAYOUT_MAX_RANK /* a loop to which an operand's core dimensions were added */
};

/* The dimensions in which array k has more than one element, ordered by the magnitude of their strides. bound is the
 * extent less 1. */
static int sorted_dimensions(const nd_loop *loop, int k, int64_t *stride, int64_t *bound) {
    int n = 0;
    for (int d = 0; d < loop->ndim; d++) {
        int64_t s = loop->stride[d * loop->narrays + k];
        if (loop->extent[d] <= 1)
            continue;
        s = s < 0 ? -s : s;
        assert(n < MAX_DIMENSIONS);
        int i = n++;
        for (; i > 0 && stride[i - 1] > s; i--) {
            stride[i] = stride[i - 1];
            bound[i] = bound[i - 1];
        }
        stride[i] = s;
        bound[i] = loop->extent[d] - 1;
    }
    return n;
}

bool nd_self_overlap(const nd_loop *loop, int k) {
    int64_t stride[MAX_DIMENSIONS], bound[MAX_DIMENSIONS], reach = 0;
    if (loop->count <= 1 || loop->kind[k] == OPERAND_NUMBER)
        return false;
    if (loop->ndim == 1 && loop->extent[0] > 1) /* this settles most calls */
        return loop->stride[k] == 0;
    int n = sorted_dimensions(loop, k, stride, bound), doubtful = 0;
    if (n > 0 && stride[0] == 0)
        return true;
    /* A dimension whose stride is larger than everything that the smaller strides reach cannot bring two elements
     * together. So only the dimensions up to the last one for which that is not so are in doubt. */
    for (int i = 0; i < n; i++) {
        if (stride[i] <= reach)
            doubtful = i + 1;
        reach += stride[i] * bound[i];
    }
    return doubtful > 0 && (doubtful > EXACT_DIMENSIONS || nd_has_relation(doubtful, stride, bound));
}

/* ---- Two arrays ---- */

__extension__ typedef __int128 int128;

/* The multiples low .. high of a stride. The distance of two elements in memory is a sum of one value of each term. In
 * bytes. */
typedef struct term {
    int128 stride, low, high;
} term;

typedef struct search {
    term terms[2 * UF_MAX_NDIM]; /* ordered by stride, no stride twice */
    /* the values that the terms before the i-th can sum to lie between */
    int128 lowest[2 * UF_MAX_NDIM + 1], highest[2 * UF_MAX_NDIM + 1];
    /* greatest common divisor of the strides of the terms before the i-th */
    int128 divisor[2 * UF_MAX_NDIM + 1];
    int nterms, budget;
} search;

enum {
    SEARCH_BUDGET = 4096 /* steps of the search; a pair of nested views needs a few */
};

static void add_term(search *s, int128 stride, int64_t low, int64_t high) {
    int i = 0;
    while (i < s->nterms && s->terms[i].stride < stride)
        i++;
    if (i == s->nterms || s->terms[i].stride != stride) {
        assert(s->nterms < (int)COUNT(s->terms)); /* an array moves in at most UF_MAX_NDIM dimensions */
        memmove(&s->terms[i + 1], &s->terms[i], (size_t)(s->nterms - i) * sizeof *s->terms);
        s->terms[i] = (term){.stride = stride};
        s->nterms++;
    }
    s->terms[i].low += low;
    s->terms[i].high += high;
}

/* Adds a term for each dimension of array k, with sign +1 or -1. */
static void add_array(search *s, const nd_loop *loop, int k, int size, int sign) {
    for (int d = 0; d < loop->ndim; d++) {
        int64_t stride = sign * loop->stride[d * loop->narrays + k], last = loop->extent[d] - 1;
        if (stride > 0)
            add_term(s, (int128)stride * size, 0, last);
        else if (stride < 0)
            add_term(s, -(int128)stride * size, -last, 0);
    }
}

static int128 gcd(int128 a, int128 b) {
    while (b) {
        int128 r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static void sum_up(search *s) {
    s->lowest[0] = s->highest[0] = s->divisor[0] = 0;
    for (int i = 0; i < s->nterms; i++) {
        s->lowest[i + 1] = s->lowest[i] + s->terms[i].stride * s->terms[i].low;
        s->highest[i + 1] = s->highest[i] + s->terms[i].stride * s->terms[i].high;
        s->divisor[i + 1] = gcd(s->divisor[i], s->terms[i].stride);
    }
}

static int128 divide_down(int128 a, int128 b) { return a / b - (a % b < 0); }

/* Can the terms before the n-th sum to a value in first .. last? True also when the budget is used up. */
static bool can_reach(search *s, int n, int128 first, int128 last) {
    first = first < s->lowest[n] ? s->lowest[n] : first;
    last = last > s->highest[n] ? s->highest[n] : last;
    if (first > last || --s->budget < 0)
        return first <= last;
    if (s->divisor[n] == 0)
        return true; /* there are no terms, and 0 is in first .. last */
    if (divide_down(last, s->divisor[n]) == divide_down(first - 1, s->divisor[n]))
        return false; /* no multiple of the divisor is in first .. last */
    const term *t = &s->terms[n - 1];
    int128 low = divide_down(first - s->highest[n - 1] + t->stride - 1, t->stride);
    int128 high = divide_down(last - s->lowest[n - 1], t->stride);
    low = low < t->low ? t->low : low;
    high = high > t->high ? t->high : high;
    for (int128 x = low; x <= high; x++)
        if (can_reach(s, n - 1, first - x * t->stride, last - x * t->stride))
            return true;
    return false;
}

static bool same_strides(const nd_loop *loop, int a, int b) {
    for (int d = 0; d < loop->ndim; d++)
        if (loop->stride[d * loop->narrays + a] != loop->stride[d * loop->narrays + b])
            return false;
    return true;
}

/* Compares two arrays that the quick tests could not, by the addresses of their first elements. Not inlined: it needs
 * much of the stack, and most calls end before it. */
static __attribute__((noinline)) nd_overlap search_overlap(const nd_loop *loop, int a, uintptr_t start_a, int size_a,
                                                           int b, uintptr_t start_b, int size_b) {
    /* The elements at start_a + p and start_b + q share a byte if -size_a < start_a + p - (start_b + q) < size_b. */
    search s; /* 12 KiB, which it is not worth clearing */
    s.nterms = 0;
    s.budget = SEARCH_BUDGET;
    add_array(&s, loop, a, size_a, 1);
    add_array(&s, loop, b, size_b, -1);
    sum_up(&s);
    int128 distance = (int128)start_b - (int128)start_a;
    return can_reach(&s, s.nterms, distance - size_a + 1, distance + size_b - 1) ? ND_OVERLAP : ND_DISJOINT;
}

/* Fields of records: where all strides are multiples of the one in dimension 0, elements are apart if within that stride
 * they are. */
static bool fields_apart(const nd_loop *loop, int a, uintptr_t start_a, int size_a, int b, uintptr_t start_b,
                         int size_b) {
    int64_t record = loop->stride[a] * size_a;
    if (record <= 0)
        return false;
    for (int d = 0; d < loop->ndim; d++) {
        int64_t step_a = loop->stride[d * loop->narrays + a] * size_a,
                step_b = loop->stride[d * loop->narrays + b] * size_b;
        if ((step_a != record && step_a % record) || (step_b != step_a && step_b % record))
            return false;
    }
    int64_t offset = (int64_t)(start_b - start_a);
    if (offset < -record || offset >= record)
        offset %= record; /* mostly they are of one record, and nothing is divided */
    offset += offset < 0 ? record : 0;
    return offset >= size_a && offset + size_b <= record;
}

nd_overlap nd_compare(const nd_loop *loop, int a, const char *data_a, int size_a, int b, const char *data_b,
                      int size_b) {
    if (loop->count == 0 || loop->kind[a] == OPERAND_NUMBER || loop->kind[b] == OPERAND_NUMBER)
        return ND_DISJOINT;
    uintptr_t start_a = (uintptr_t)data_a + (uintptr_t)loop->offset[a] * (uintptr_t)size_a;
    uintptr_t start_b = (uintptr_t)data_b + (uintptr_t)loop->offset[b] * (uintptr_t)size_b;
    if (start_a == start_b && size_a == size_b && same_strides(loop, a, b))
        return ND_SAME;
    if (fields_apart(loop, a, start_a, size_a, b, start_b, size_b))
        return ND_DISJOINT;
    return search_overlap(loop, a, start_a, size_a, b, start_b, size_b);
}

/* ---- Loops with more dimensions ---- */

/* One or two operands of a loop, with the loop's dimensions and further ones. */
typedef struct joined {
    nd_loop loop;
    int64_t extent[UF_MAX_NDIM + 2 * LAYOUT_MAX_RANK], stride[2 * (UF_MAX_NDIM + 2 * LAYOUT_MAX_RANK)], offset[2];
} joined;

static int64_t *add_dimension(joined *j, int64_t extent) {
    nd_loop *loop = &j->loop;
    assert(loop->ndim < (int)COUNT(j->extent));
    if (extent == 0)
        loop->count = 0;
    loop->extent[loop->ndim] = extent;
    return loop->stride + loop->ndim++ * loop->narrays;
}

/* Adds the dimensions of a loop. */
static void add_loop(joined *j, const nd_loop *from, const int *k) {
    for (int d = 0; d < from->ndim; d++) {
        if (from->extent[d] == 1)
            continue;
        int64_t *stride = add_dimension(j, from->extent[d]);
        for (int i = 0; i < j->loop.narrays; i++)
            stride[i] = from->stride[d * from->narrays + k[i]];
    }
}

/* Makes the loop of operands k[0 .. n-1]; n is 1 or 2. Its count only says whether there are elements. */
static void join(joined *j, const nd_loop *from, int n, const int *k) {
    assert(n > 0 && n <= 2);
    j->loop = (nd_loop){.narrays = n, .count = from->count ? INT64_MAX : 0, .loop = LOOP_GENERAL};
    j->loop.extent = j->extent;
    j->loop.stride = j->stride;
    j->loop.offset = j->offset;
    for (int i = 0; i < n; i++) {
        j->loop.offset[i] = from->offset[k[i]];
        j->loop.kind[i] = from->kind[k[i]] == OPERAND_NUMBER ? OPERAND_NUMBER : OPERAND_STRIDED;
    }
    add_loop(j, from, k);
}

/* ---- Core dimensions: each moves only the operand that has it ---- */

static void join_core(joined *j, const nd_loop *from, const core_layout *l, const int64_t *words, int n, const int *k) {
    join(j, from, n, k);
    for (int i = 0; i < n; i++) {
        const layout_operand *o = &l->operands[k[i]];
        for (int d = 0; d < o->rank; d++) {
            int64_t *stride = add_dimension(j, words[o->dim[d]]);
            for (int other = 0; other < n; other++)
                stride[other] = other == i ? words[o->strides + d] : 0;
        }
    }
}

bool nd_core_self_overlap(const nd_loop *loop, const core_layout *l, const int64_t *words, int k) {
    joined j;
    join_core(&j, loop, l, words, 1, &k);
    return nd_self_overlap(&j.loop, 0);
}

void nd_core_bounds(const nd_loop *loop, const core_layout *l, const int64_t *words, int k, int64_t *lowest,
                    int64_t *highest) {
    joined j;
    join_core(&j, loop, l, words, 1, &k);
    nd_bounds(&j.loop, 0, lowest, highest);
}

nd_overlap nd_core_compare(const nd_loop *loop, const core_layout *l, const int64_t *words, int a, const char *data_a,
                           int size_a, int b, const char *data_b, int size_b) {
    joined j;
    join_core(&j, loop, l, words, 2, (const int[]){a, b});
    return nd_compare(&j.loop, 0, data_a, size_a, 1, data_b, size_b) == ND_DISJOINT ? ND_DISJOINT : ND_OVERLAP;
}

/* ---- Reductions: both loops ---- */

/* Adds the dimensions of the reduced loop if an operand moves in it. Outputs that do not move there exist even if the
 * reduced loop has no elements; but a scan has a result for each element. */
static void join_fold(joined *j, const nd_fold *f, int n, const int *k) {
    const nd_loop *reduced = &f->reduced;
    bool move = f->kept.loop == LOOP_SCAN;
    for (int d = 0; d < reduced->ndim; d++)
        for (int i = 0; i < n; i++)
            move |= reduced->stride[d * reduced->narrays + k[i]] != 0;
    join(j, &f->kept, n, k);
    if (move)
        add_loop(j, reduced, k);
}

void nd_fold_bounds(const nd_fold *f, int k, int64_t *lowest, int64_t *highest) {
    int64_t low, high;
    nd_bounds(&f->kept, k, lowest, highest);
    nd_bounds(&f->reduced, k, &low, &high);
    *lowest += low;
    *highest += high;
}

bool nd_fold_self_overlap(const nd_fold *f, int k) {
    joined j;
    if (f->kept.loop == LOOP_FOLD && f->kept.ndim == 1) /* this settles most calls */
        return f->kept.count > 1 && f->kept.stride[k] == 0;
    join_fold(&j, f, 1, &k);
    return nd_self_overlap(&j.loop, 0);
}

nd_overlap nd_fold_compare(const nd_fold *f, int a, const char *data_a, int size_a, int b, const char *data_b,
                           int size_b) {
    joined j;
    join_fold(&j, f, 2, (const int[]){a, b});
    return nd_compare(&j.loop, 0, data_a, size_a, 1, data_b, size_b);
}
