/* passes.c - which loops are proved short. How often each goes round at most is found where it is checked (range.c); here those
 * that stand in each other, in helpers too, are multiplied. A loop is short where all that it stands in and all that stands in
 * it together go round PASSES_MOST times at most, or as many times as the product of a few sizes of the call is. All others are
 * counted when the kernel runs (uf_definition.max_steps). */
#include "lang/check.h"

enum {
    SIZES_MOST = 4,
    /* What stands in a loop that is counted is done for each step of it: it is to be short by itself. */
    AROUND_COUNTED = PASSES_MOST / 64
};

static const passes once = {1, 0}, counted = {AROUND_COUNTED, SIZES_MOST};

static passes product(passes a, passes b) {
    int64_t factor = a.factor * b.factor; /* both are at most PASSES_MOST + 1 */
    return (passes){factor > PASSES_MOST ? PASSES_MOST + 1 : factor, a.sizes + b.sizes};
}

static passes greater(passes a, passes b) {
    return (passes){a.factor > b.factor ? a.factor : b.factor, a.sizes > b.sizes ? a.sizes : b.sizes};
}

static bool is_short(passes p) { return p.factor <= PASSES_MOST && p.sizes <= SIZES_MOST; }

void passes_note(node *n, passes most) {
    n->value.as.i = most.factor;
    n->dim = most.sizes;
}

static passes noted(const node *n) { return n->value.as.i ? (passes){n->value.as.i, n->dim} : counted; }

/* How often a loop goes round by itself; *known: that is proved. */
static passes own(const node *n, bool *known) {
    passes p = once;
    *known = true;
    if (n->kind == N_LOOP) {
        *known = n->value.as.i != 0;
        return noted(n);
    }
    for (const node *r = n->args; r; r = r->next) {
        *known &= r->value.as.i != 0;
        p = product(p, noted(r));
    }
    return *known ? p : counted;
}

/* A pass over functions; mark: of those that call before those that are called, to mark what is not short. */
typedef struct walk {
    tree *t;
    bool mark;
} walk;

static void mark(walk *w, node *n, bool is_counted) {
    if (w->mark && is_counted)
        n->counted = w->t->has_unbounded = true;
}

static passes list_walk(walk *w, node *list, passes around);

/* The loops of what is called, for `around`. */
static passes call_walk(const walk *w, const node *n, passes around) {
    instance *callee = (instance *)n->callee;
    if (w->mark)
        callee->around = greater(callee->around, around);
    return callee->inside;
}

/* jn and yn go on up to their order. */
static bool has_long_order(const node *n) {
    if (n->kind != N_MATH || n->math->rule != MATH_INT_FLOATING)
        return false;
    const node *order = n->args;
    return order->kind != N_CONST || order->value.as.i > 64 || order->value.as.i < -64;
}

/* The most that the loops in a node go round, in each other. */
static passes node_walk(walk *w, node *n, passes around) {
    passes inside = once, loop = once;
    bool known = true, loops = n->kind == N_LOOP || n->kind == N_REDUCE || n->kind == N_FORALL;
    if (loops)
        loop = own(n, &known);
    passes here = product(around, loop);
    if (n->callee)
        inside = call_walk(w, n, here);
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            inside = greater(inside, node_walk(w, n->kid[k], here));
    node *const lists[] = {n->args, n->body, n->other, n->step};
    for (size_t i = 0; i < COUNT(lists); i++)
        inside = greater(inside, list_walk(w, lists[i], here));
    mark(w, n, (loops && (!known || !is_short(product(here, inside)))) || has_long_order(n));
    return product(loop, inside);
}

static passes list_walk(walk *w, node *list, passes around) {
    passes most = once;
    for (; list; list = list->next)
        most = greater(most, node_walk(w, list, around));
    return most;
}

/* `functions`: called before callers. */
void passes_mark(tree *t, instance *kernel, instance *first) {
    walk w = {.t = t};
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
