/* trips.c - finds the loops that are not proved short, whose steps are counted when the kernel runs
 * (uf_definition.max_steps). range.c finds the trip count of each loop where it is checked; here the trip counts of
 * loops nested in each other, in helpers too, are multiplied. A loop is short if all loops around it, itself and all
 * loops inside it together have at most TRIPS_MAX iterations, or that many times the product of a few sizes of the
 * call, and if what these compute together is at most WORK_MAX nodes. That is found twice: as said, and without sizes, for
 * calls whose sizes are such that loops over them must be counted, too. */
#include <assert.h>

#include "lang/check.h"

enum {
    SIZES_MOST = 4,
    WORK_MAX = 1 << 26, /* some 50 ms of one processor */
    MATH_WORK = 32,     /* of a math function, in nodes */
    /* What stands in a counted loop is done in each step of it. To be short it may have 64 iterations of its own, and
     * no sizes. */
    AROUND_COUNTED = TRIPS_MAX / 64
};

static const trips once = {1, 0, 0, 0};

static int64_t capped(int64_t n, int64_t limit) { return n > limit ? limit + 1 : n; }

/* Of loops around a part. The products cannot overflow: factors are at most TRIPS_MAX + 1, work at most WORK_MAX + 1. */
static trips product(trips loops, trips part) {
    assert(loops.factor <= TRIPS_MAX + 1 && part.factor <= TRIPS_MAX + 1 && part.work <= WORK_MAX + 1);
    return (trips){capped(loops.factor * part.factor, TRIPS_MAX), loops.sizes + part.sizes,
                   capped(loops.factor * part.work, WORK_MAX), loops.wide + part.wide};
}

/* Of two parts beside each other. */
static trips both(trips a, trips b) {
    return (trips){a.factor > b.factor ? a.factor : b.factor, a.sizes > b.sizes ? a.sizes : b.sizes,
                   capped(a.work + b.work, WORK_MAX), a.wide > b.wide ? a.wide : b.wide};
}

void trips_note(node *n, trips most) {
    assert(most.sizes <= 1);
    n->value.as.i = most.factor;
    n->dim = most.sizes + most.wide;
}

static trips noted(const node *n) { return (trips){n->value.as.i, n->dim > 0, 0, n->dim > 1}; }

/* A walk over the functions of a tree. With `mark`, callers come before callees, and loops that are not short are
 * marked. */
typedef struct walk {
    tree *t;
    int sizes; /* that the trip count of short loops may have as factors: SIZES_MOST or 0 */
    bool mark;
} walk;

static bool is_short(const walk *w, trips p) {
    return p.factor <= TRIPS_MAX && p.sizes <= w->sizes && p.work <= WORK_MAX;
}

/* The trip count of a loop by itself; *known: it is proved. Of loops that are counted in any case it is what keeps others around and
 * inside from being short. */
static trips own(const walk *w, const node *n, bool *known) {
    const trips counted = {AROUND_COUNTED, w->sizes, 0, 0};
    trips p = once;
    *known = true;
    for (const node *r = n->kind == N_LOOP ? n : n->args; r; r = n->kind == N_LOOP ? NULL : r->next) {
        *known &= r->value.as.i != 0 && (w->sizes || !r->dim);
        p = *known ? product(p, noted(r)) : counted;
    }
    return p;
}

static void mark(walk *w, node *n, bool is_counted) {
    if (!w->mark)
        return;
    if (!w->sizes) {
        n->sized |= is_counted;
    } else if (is_counted) {
        n->counted = w->t->has_unbounded = true;
    } else if (n->sized) {
        w->t->has_sized = true;
    }
}

static trips list_walk(walk *w, node *list, trips around);

/* Of the body of a callee. While marking, the loops around the call are noted in it. */
static trips call_walk(const walk *w, const node *n, trips around) {
    instance *callee = (instance *)n->callee;
    assert(callee->inside.factor); /* callees are walked before their callers */
    if (w->mark)
        callee->around = both(callee->around, around);
    return callee->inside;
}

/* jn and yn take a number of steps that grows with their order. */
static bool has_long_order(const node *n) {
    if (n->kind != N_MATH || n->math->rule != MATH_INT_FLOATING)
        return false;
    const node *order = n->args;
    return order->kind != N_CONST || order->value.as.i > 64 || order->value.as.i < -64;
}

static trips node_walk(walk *w, node *n, trips around) {
    trips inside = once, loop = once;
    bool known = true, loops = n->kind == N_LOOP || n->kind == N_REDUCE || n->kind == N_FORALL;
    if (loops)
        loop = own(w, n, &known);
    trips here = product(around, loop);
    inside.work = n->kind == N_MATH ? MATH_WORK : 1;
    if (n->callee)
        inside = both(inside, call_walk(w, n, here));
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            inside = both(inside, node_walk(w, n->kid[k], here));
    node *const lists[] = {n->args, n->body, n->other, n->step};
    for (size_t i = 0; i < COUNT(lists); i++)
        inside = both(inside, list_walk(w, lists[i], here));
    mark(w, n, (loops && (!known || !is_short(w, product(here, inside)))) || has_long_order(n));
    return product(loop, inside);
}

static trips list_walk(walk *w, node *list, trips around) {
    trips all = once;
    for (; list; list = list->next)
        all = both(all, node_walk(w, list, around));
    return all;
}

/* In tree.functions callees come before callers; in the list of instances, callers come before callees. */
static void tree_walk(tree *t, instance *kernel, instance *first, int sizes) {
    walk w = {.t = t, .sizes = sizes};
    for (function *f = t->functions; f; f = f->next) {
        instance *i = (instance *)f;
        i->around = once;
        i->inside = list_walk(&w, f->body, once);
    }
    w.mark = true;
    list_walk(&w, kernel->f.body, kernel->around);
    for (instance *i = first; i; i = i->done_next)
        if (i->used)
            list_walk(&w, i->f.body, i->around);
}

void trips_mark(tree *t, instance *kernel, instance *first) {
    tree_walk(t, kernel, first, 0);
    tree_walk(t, kernel, first, SIZES_MOST);
    t->work = kernel->inside.work;
    t->sizes = kernel->inside.sizes;
    t->wide = kernel->inside.wide;
    t->has_long_work = t->has_unbounded || t->work > WORK_MAX;
}

/* A pass through a loop computes at least one node. */
bool lang_outgrows(const tree *t, const int64_t *sizes, int64_t steps) {
    int64_t largest = 1, most = t->work;
    bool more = t->has_long_work;
    for (int d = 0; t->layout && d < t->layout->ndims; d++)
        largest = sizes[d] > largest ? sizes[d] : largest;
    for (int k = 0; k < t->sizes && !more; k++)
        more = __builtin_mul_overflow(most, k < t->wide ? largest + TRIPS_OFFSET + 1 : largest, &most);
    return more || most > steps;
}
