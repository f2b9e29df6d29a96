/* form.c - proofs that a linear form is not negative: the newest atom in it is replaced by a bound, which is a form
 * over older atoms, until only a number is left. Before that a fact may be subtracted, which makes the form smaller.
 * What exceeds the numbers used here, or takes too many steps, is not proved. If a form over sizes is left, it may
 * become a need that it is not negative. */
#include "lang/form.h"

#include <assert.h>

enum {
    PROOF_STEPS = 64,  /* steps of one attempt */
    PROOF_DEPTH = 4,   /* proofs nested in each other */
    FACTS_TRIED = 16,  /* only the last facts are tried */
    PRODUCT_DEPTH = 4, /* products nested in the bounds of products */
    ATTEMPTS = 256,    /* that are remembered */
    LOWER_BOUND_STEPS = 32,
    LOWER_BOUNDS = 24,
    /* The largest factor or constant of a need. Larger ones come from the range of a 32-bit type, and no call fulfils
     * those. */
    NEED_NUMBER = 1 << 20
};

/* ---- Forms ---- */

form form_constant(int128 value) { return (form){.constant = value}; }

form form_atom(int at) { return (form){.count = 1, .atom = {at}, .factor = {1}}; }

/* a * b of which one is mostly small: a product of 64 bits each needs no check. */
static bool multiply_overflows(int128 a, int64_t b, int128 *out) {
    if (a == (int64_t)a) {
        *out = a * b;
        return false;
    }
    return __builtin_mul_overflow(a, b, out);
}

bool form_add(form *a, const form *b, int64_t times) {
    form sum;
    int128 product;
    sum.count = 0;
    if (multiply_overflows(b->constant, times, &product) || __builtin_add_overflow(a->constant, product, &sum.constant))
        return false;
    for (int i = 0, j = 0; i < a->count || j < b->count;) {
        bool of_a = j == b->count || (i < a->count && a->atom[i] <= b->atom[j]);
        bool of_b = i == a->count || (j < b->count && b->atom[j] <= a->atom[i]);
        int at = of_a ? a->atom[i] : b->atom[j];
        int64_t factor = 0;
        if (of_b && __builtin_mul_overflow(b->factor[j], times, &factor))
            return false;
        if (of_a && __builtin_add_overflow(factor, a->factor[i], &factor))
            return false;
        i += of_a;
        j += of_b;
        if (!factor)
            continue;
        if (sum.count == FORM_TERMS)
            return false;
        assert(!sum.count || sum.atom[sum.count - 1] < at);
        sum.atom[sum.count] = at;
        sum.factor[sum.count++] = factor;
    }
    a->constant = sum.constant;
    a->count = sum.count;
    for (int i = 0; i < sum.count; i++) { /* the terms that are there: fewer than a copy of all */
        a->atom[i] = sum.atom[i];
        a->factor[i] = sum.factor[i];
    }
    return true;
}

/* f without one of its terms, in *out. */
static void form_rest(const form *f, int term, form *out) {
    out->constant = f->constant;
    out->count = 0;
    for (int i = 0; i < f->count; i++)
        if (i != term) {
            out->atom[out->count] = f->atom[i];
            out->factor[out->count++] = f->factor[i];
        }
}

/* ---- Atoms and facts ---- */

/* Makes sure that an array has capacity for one more item. The old array stays in the arena. */
static void *grown(arena *a, void *items, int count, int *size, size_t each) {
    if (count < *size)
        return items;
    *size = *size ? 2 * *size : 16;
    void *more = arena_alloc(a, (size_t)*size * each);
    if (count)
        memcpy(more, items, (size_t)count * each);
    return more;
}

int atom_new(knowledge *k) {
    k->atoms = grown(k->a, k->atoms, k->natoms, &k->atoms_size, sizeof *k->atoms);
    k->atoms[k->natoms] = (atom){.product = {-1, -1}};
    return k->natoms++;
}

/* Proofs end because a bound has older atoms only: each step replaces an atom by these. */
static void assert_older(const knowledge *k, int at, const form *f, int64_t divisor) {
    assert(at < k->natoms && divisor >= 1 && (!f->count || f->atom[f->count - 1] < at));
    (void)k, (void)at, (void)f, (void)divisor; /* NDEBUG */
}

void atom_low(knowledge *k, int at, const form *f, int64_t divisor) {
    atom *a = &k->atoms[at];
    assert_older(k, at, f, divisor);
    if (a->nlow < 2)
        a->low[a->nlow++] = (bound){*f, divisor};
}

void atom_high(knowledge *k, int at, const form *f, int64_t divisor) {
    atom *a = &k->atoms[at];
    assert_older(k, at, f, divisor);
    if (a->nhigh < 2)
        a->high[a->nhigh++] = (bound){*f, divisor};
}

static bool form_equal(const form *a, const form *b) {
    bool equal = a->count == b->count && a->constant == b->constant;
    for (int i = 0; i < a->count && equal; i++)
        equal = a->atom[i] == b->atom[i] && a->factor[i] == b->factor[i];
    return equal;
}

int atom_quotient(const knowledge *k, const form *x, int64_t divisor) {
    for (int i = 0; i < k->natoms; i++) {
        const bound *b = &k->atoms[i].high[0];
        if (k->atoms[i].nhigh && b->divisor == divisor && divisor > 1 && form_equal(&b->f, x))
            return i;
    }
    return -1;
}

void fact_add(knowledge *k, const form *f) {
    k->facts = grown(k->a, k->facts, k->nfacts, &k->facts_size, sizeof *k->facts);
    k->facts[k->nfacts++] = *f;
}

/* ---- Proofs ---- */

static bool follows(knowledge *k, const form *f, int *left);

/* Replaces a term of f, a * x, by a bound b of x with divisor d. d * f = d * rest + a * (d * x) is at least d * rest +
 * a * b. f is an integer, so that f >= 0 if d * f > -d: d - 1 may be added. */
static bool bound_replace(const form *f, int term, const bound *b, form *out) {
    form_rest(f, term, out);
    if (b->divisor > 1) {
        const form rest = *out;
        *out = form_constant(b->divisor - 1);
        if (!form_add(out, &rest, b->divisor))
            return false;
    }
    return form_add(out, &b->f, f->factor[term]);
}

/* Proves f >= 0 by bounds. Where only one of several bounds holds, each of them must prove it, and each may use a fact
 * of its own. */
static bool follows(knowledge *k, const form *f, int *left) {
    form goal;
    if (!f->count)
        return f->constant >= 0;
    if (--*left < 0 || --k->steps < 0)
        return false;
    const atom *a = &k->atoms[f->atom[f->count - 1]];
    bool high = f->factor[f->count - 1] < 0, every = high ? a->every_high : a->every_low;
    int n = high ? a->nhigh : a->nlow;
    for (int i = 0; i < n; i++) {
        bool holds = bound_replace(f, f->count - 1, high ? &a->high[i] : &a->low[i], &goal) &&
                     (every ? not_negative(k, &goal) : follows(k, &goal, left));
        if (holds != every)
            return holds;
    }
    return every && n > 0;
}

static bool follows_by_fact(knowledge *k, const form *f) {
    for (int i = k->nfacts - 1; i >= 0 && i >= k->nfacts - FACTS_TRIED; i--) {
        form rest = *f;
        int left = PROOF_STEPS;
        if (form_add(&rest, &k->facts[i], -1) && follows(k, &rest, &left))
            return true;
    }
    return false;
}

/* Where what came of the form is remembered. */
static attempt *attempt_of(knowledge *k, const form *f) {
    uint64_t hash = (uint64_t)f->constant * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < f->count; i++)
        hash = ((hash ^ (uint64_t)f->atom[i]) * 0x9E3779B97F4A7C15u + (uint64_t)f->factor[i]) ^ hash >> 29;
    if (!k->attempts)
        k->attempts = arena_alloc(k->a, ATTEMPTS * sizeof *k->attempts);
    return &k->attempts[(hash ^ hash >> 32) % ATTEMPTS];
}

/* Several bounds and facts lead to the same forms, again and again. What is known does not change before the outermost proof ends, and what
 * was not proved with fewer proofs around it is not with more. */
bool not_negative(knowledge *k, const form *f) {
    int left = PROOF_STEPS;
    if (k->depth == PROOF_DEPTH)
        return false;
    if (!k->depth)
        k->proof++;
    attempt *a = attempt_of(k, f);
    if (a->proof == k->proof && (a->proved || a->depth <= k->depth) && form_equal(&a->f, f))
        return a->proved;
    k->depth++;
    bool proved = follows(k, f, &left) || follows_by_fact(k, f);
    k->depth--;
    *a = (attempt){*f, k->proof, k->depth, proved};
    return proved;
}

bool at_most(knowledge *k, const form *a, const form *b, int128 difference) {
    form rest = form_constant(difference);
    return form_add(&rest, b, 1) && form_add(&rest, a, -1) && not_negative(k, &rest);
}

/* ---- Products ---- */

static bool multiply(knowledge *k, const form *a, const form *b, form *out, int depth);

typedef struct bounds {
    bound of[2];
    int n;
} bounds;

/* Bounds of x * y, neither of which is negative: the products of y and the bounds of x. */
static void product_bounds(knowledge *k, int x, int y, bool high, bounds *out, int depth) {
    form other = form_atom(y), product;
    const atom of = k->atoms[x]; /* a copy, since new atoms may move the stack */
    const bound *from = high ? of.high : of.low;
    if (high ? of.every_high : of.every_low)
        return;
    for (int i = 0; i < (high ? of.nhigh : of.nlow); i++)
        if (out->n < 2 && from[i].divisor == 1 && multiply(k, &from[i].f, &other, &product, depth + 1))
            out->of[out->n++] = (bound){product, 1};
}

/* The atom that stands for x * y. */
static int product_atom(knowledge *k, int x, int y, int depth) {
    int older = x < y ? x : y, newer = x < y ? y : x;
    for (int i = 0; i < k->natoms; i++)
        if (k->atoms[i].product[0] == older && k->atoms[i].product[1] == newer)
            return i;
    form forms[] = {form_atom(x), form_atom(y)};
    bounds low = {.n = 0}, high = {.n = 0};
    if (not_negative(k, &forms[0]) && not_negative(k, &forms[1])) {
        product_bounds(k, newer, older, false, &low, depth);
        product_bounds(k, older, newer, false, &low, depth);
        product_bounds(k, newer, older, true, &high, depth);
        product_bounds(k, older, newer, true, &high, depth);
    }
    int at = atom_new(k);
    for (int i = 0; i < low.n; i++)
        atom_low(k, at, &low.of[i].f, 1);
    for (int i = 0; i < high.n; i++)
        atom_high(k, at, &high.of[i].f, 1);
    k->atoms[at].product[0] = older;
    k->atoms[at].product[1] = newer;
    return at;
}

static bool multiply(knowledge *k, const form *a, const form *b, form *out, int depth) {
    if (depth > PRODUCT_DEPTH || a->constant != (int64_t)a->constant || b->constant != (int64_t)b->constant)
        return false;
    form sum = form_constant(0), product;
    if (!form_add(&sum, b, (int64_t)a->constant))
        return false;
    for (int i = 0; i < a->count; i++) {
        product = form_atom(a->atom[i]);
        if (__builtin_mul_overflow(a->factor[i], (int64_t)b->constant, &product.factor[0]))
            return false;
        if (product.factor[0] && !form_add(&sum, &product, 1))
            return false;
        for (int j = 0; j < b->count; j++) {
            int64_t factor;
            product = form_atom(product_atom(k, a->atom[i], b->atom[j], depth));
            if (__builtin_mul_overflow(a->factor[i], b->factor[j], &factor) || !form_add(&sum, &product, factor))
                return false;
        }
    }
    *out = sum;
    return true;
}

bool form_multiply(knowledge *k, const form *a, const form *b, form *out) { return multiply(k, a, b, out, 0); }

/* ---- Needs ---- */

static bool is_of_sizes(const knowledge *k, int at) {
    const int *product = k->atoms[at].product;
    return at < k->nsizes || (product[0] >= 0 && is_of_sizes(k, product[0]) && is_of_sizes(k, product[1]));
}

typedef struct lower_bounds {
    form of[LOWER_BOUNDS];
    int count, left; /* left: steps that may still be taken */
} lower_bounds;

/* Finds forms over sizes that are lower bounds of f, by replacing all other atoms by their bounds. */
static void lower_bounds_find(knowledge *k, const form *f, lower_bounds *out) {
    int term = f->count - 1;
    while (term >= 0 && is_of_sizes(k, f->atom[term]))
        term--;
    if (out->count == LOWER_BOUNDS || --out->left < 0 || --k->steps < 0)
        return;
    if (term < 0) {
        out->of[out->count++] = *f;
        return;
    }
    const atom a = k->atoms[f->atom[term]];
    bool high = f->factor[term] < 0;
    for (int i = 0; i < (high ? a.nhigh : a.nlow) && !(high ? a.every_high : a.every_low); i++) {
        form less = {.count = 0};
        if (bound_replace(f, term, high ? &a.high[i] : &a.low[i], &less))
            lower_bounds_find(k, &less, out);
    }
}

static bool shares_atom(const form *a, const form *b) {
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++)
            if (a->atom[i] == b->atom[j])
                return true;
    return false;
}

/* Writes the sizes whose product an atom is behind the first n. Returns how many there are then; 0: too many. */
static int sizes_of(const knowledge *k, int at, uint8_t *out, int n) {
    if (at >= k->nsizes) {
        n = sizes_of(k, k->atoms[at].product[0], out, n);
        return n ? sizes_of(k, k->atoms[at].product[1], out, n) : 0;
    }
    if (n == NEED_SIZES)
        return 0;
    out[n] = (uint8_t)at;
    return n + 1;
}

static void sort_sizes(uint8_t *sizes, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && sizes[j - 1] > sizes[j]; j--) {
            uint8_t swap = sizes[j];
            sizes[j] = sizes[j - 1];
            sizes[j - 1] = swap;
        }
}

/* Makes a need of a form over sizes. False: no sizes fulfil it, or only larger ones than occur. */
static bool need_make(const knowledge *k, const form *f, need *out) {
    bool possible = false;
    memset(out, 0, sizeof *out);
    out->constant = (int64_t)f->constant;
    out->count = f->count;
    if (f->constant < -NEED_NUMBER || f->constant > NEED_NUMBER)
        return false;
    for (int i = 0; i < f->count; i++) {
        possible |= f->factor[i] > 0;
        out->factor[i] = f->factor[i];
        out->nsizes[i] = (uint8_t)sizes_of(k, f->atom[i], out->size[i], 0);
        sort_sizes(out->size[i], out->nsizes[i]);
        if (!out->nsizes[i] || f->factor[i] < -NEED_NUMBER || f->factor[i] > NEED_NUMBER)
            return false;
    }
    return possible;
}

static bool need_equal(const need *a, const need *b) {
    return a->constant == b->constant && a->count == b->count && memcmp(a->factor, b->factor, sizeof a->factor) == 0 &&
           memcmp(a->nsizes, b->nsizes, sizeof a->nsizes) == 0 && memcmp(a->size, b->size, sizeof a->size) == 0;
}

/* Makes a form of a need that has no products. */
static bool need_form(const need *n, form *out) {
    *out = form_constant(n->constant);
    for (int i = 0; i < n->count; i++) {
        form size = form_atom(n->size[i][0]);
        if (n->nsizes[i] > 1 || !form_add(out, &size, n->factor[i]))
            return false;
    }
    return true;
}

/* Does f >= 0 follow from one of the needs? */
static bool follows_by_need(knowledge *k, const form *f) {
    for (int i = 0; i < k->nneeds; i++) {
        form rest = *f, known;
        if (need_form(&k->needs[i], &known) && form_add(&rest, &known, -1) && not_negative(k, &rest))
            return true;
    }
    return false;
}

/* Is the form x - y + c with c >= 0, a comparison of two sizes? */
static bool is_comparison(const form *f) {
    bool one_each =
        f->count == 2 && ((f->factor[0] == 1 && f->factor[1] == -1) || (f->factor[0] == -1 && f->factor[1] == 1));
    return one_each && f->constant >= 0;
}

bool need_add(knowledge *k, const form *f) {
    need wanted;
    form plain = *f;
    if (is_comparison(f))
        plain.constant = 0;
    if (!need_make(k, &plain, &wanted))
        return false;
    for (int i = 0; i < k->nneeds; i++)
        if (need_equal(&k->needs[i], &wanted))
            return true;
    if (follows_by_need(k, &plain))
        return true;
    if (k->nneeds == NEEDS_MAX)
        return false;
    k->needs[k->nneeds++] = wanted;
    return true;
}

/* Is a the better need of the two? The weaker one is better, which follows from the other; then a comparison of two
 * sizes, preferably of sizes that a condition in the kernel can compare. */
static bool is_better(knowledge *k, const form *a, const form *b, int preferred) {
    form more = *a;
    if (form_add(&more, b, -1) && not_negative(k, &more))
        return true;
    if (is_comparison(a) != is_comparison(b))
        return is_comparison(a);
    return is_comparison(a) && a->atom[0] >= preferred && b->atom[0] < preferred;
}

bool need_met(knowledge *k, const form *f, int preferred) {
    lower_bounds found = {.left = LOWER_BOUND_STEPS};
    need makes;
    const form *best = NULL;
    if (not_negative(k, f) || follows_by_need(k, f))
        return true;
    lower_bounds_find(k, f, &found);
    for (int i = k->nfacts - 1; i >= 0 && i >= k->nfacts - FACTS_TRIED; i--) {
        form rest = *f;
        found.left = LOWER_BOUND_STEPS;
        if (shares_atom(f, &k->facts[i]) && form_add(&rest, &k->facts[i], -1))
            lower_bounds_find(k, &rest, &found);
    }
    for (int i = 0; i < found.count; i++)
        if (need_make(k, &found.of[i], &makes) && (!best || is_better(k, &found.of[i], best, preferred)))
            best = &found.of[i];
    return best && need_add(k, best);
}

bool need_names_number(const need *n, int nsizes) {
    for (int i = 0; i < n->count; i++)
        for (int j = 0; j < n->nsizes[i]; j++)
            if (n->size[i][j] >= nsizes)
                return true;
    return false;
}

bool need_holds(const need *n, const int64_t *sizes, int nsizes, const int64_t *numbers) {
    int128 sum = n->constant, product;
    for (int i = 0; i < n->count; i++) {
        product = n->factor[i];
        for (int j = 0; j < n->nsizes[i]; j++) {
            int at = n->size[i][j];
            int64_t size = at < nsizes ? sizes[at] : numbers[at - nsizes];
            if (__builtin_mul_overflow(product, (int128)size, &product))
                return false;
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return false;
    }
    return sum >= 0;
}
