/* separable.c - core dimensions along which an inner call falls into parts that have nothing to do with each other, as the rows and the
 * columns of a product of matrices do: some threads may each compute a part, a call with smaller sizes. The kernel is then a list of
 * foralls that assign elements of outputs, and no output is read. Such a dimension is no more than the limit of one range of each
 * forall, whose variable is only an index of that dimension. */
#include "ir/common/nodes.h"
#include "ir/gufunc/gufunc.h"

typedef struct separation {
    const function *f;
    const core_layout *layout;
    const node *ranges; /* of the forall that is being looked at */
    int separable;      /* bits, by dimension */
    bool possible;
} separation;

static const node *range_of(const separation *s, int variable) {
    const node *r = s->ranges;
    while (r && r->local != variable)
        r = r->next;
    return r;
}

static bool is_over(const node *range, int dimension) {
    return range && range->kid[0]->kind == N_SIZE && range->kid[0]->dim == dimension;
}

static void spoil(separation *s, int dimension) { s->separable &= ~(1 << dimension); }

static void look(separation *s, const node *n);

/* The index of a dimension is the variable of a range over it, or else this is not one that separates. */
static void look_at_element(separation *s, const node *n) {
    const local *l = &s->f->locals[n->local];
    for (int d = 0; d < l->rank; d++) {
        const node *i = element_index(n, l->rank, d);
        int dimension = l->core ? s->layout->operands[n->local].dim[d] : -1;
        bool good = i->kind == N_LOCAL && dimension >= 0 && is_over(range_of(s, i->local), dimension);
        if (good)
            continue;
        if (dimension >= 0)
            spoil(s, dimension);
        look(s, i);
    }
}

static void look_at_list(separation *s, const node *list) {
    for (const node *n = list; n; n = n->next)
        look(s, n);
}

/* An expression, which has no effects. */
static void look(separation *s, const node *n) {
    const node *range = n->kind == N_LOCAL ? range_of(s, n->local) : NULL;
    if (range && range->kid[0]->kind == N_SIZE)
        spoil(s, range->kid[0]->dim);
    if (n->kind == N_SIZE)
        spoil(s, n->dim);
    if (n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE || n->kind == N_ATOMIC ||
        n->kind >= N_SEQUENCE)
        s->possible = n->kind == N_RANGE && s->possible;
    if (n->kind == N_ELEMENT) {
        s->possible &= s->f->locals[n->local].core && n->local < s->f->nparams;
        look_at_element(s, n);
        return;
    }
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            look(s, n->kid[k]);
    look_at_list(s, n->args);
}

/* All variables of the ranges are indices of what is assigned, each of one, and all of these are such. */
static bool covers(const separation *s, const node *target) {
    const local *l = &s->f->locals[target->local];
    int ranges = 0;
    if (target->kind != N_ELEMENT || !l->core || target->local < s->f->nparams)
        return false;
    for (const node *r = s->ranges; r; r = r->next) {
        int found = 0;
        for (int d = 0; d < l->rank; d++) {
            const node *i = element_index(target, l->rank, d);
            found +=
                i->kind == N_LOCAL && i->local == r->local && is_over(r, s->layout->operands[target->local].dim[d]);
        }
        if (found != 1)
            return false;
        ranges++;
    }
    return ranges == l->rank;
}

static void look_at_forall(separation *s, const node *n) {
    int over = 0;
    s->ranges = n->args;
    for (const node *r = n->args; r; r = r->next) {
        int dimension = r->kid[0]->kind == N_SIZE && r->kid[0]->dim < GUFUNC_SIZES ? r->kid[0]->dim : -1;
        if (dimension < 0)
            look(s, r->kid[0]);
        else if (over >> dimension & 1)
            spoil(s, dimension);
        else
            over |= 1 << dimension;
    }
    for (const node *x = n->body; x && s->possible; x = x->next) {
        s->possible &= x->kind == N_EVAL && x->kid[0]->kind == N_ASSIGN && covers(s, x->kid[0]->kid[0]);
        if (!s->possible)
            return;
        look_at_element(s, x->kid[0]->kid[0]);
        look(s, x->kid[0]->kid[1]);
    }
}

int gufunc_separable(const tree *t) {
    separation s = {.f = t->kernel, .layout = t->layout, .possible = t->layout && t->layout->ndims};
    for (int d = 0; s.possible && d < t->layout->ndims && d < GUFUNC_SIZES; d++)
        s.separable |= t->layout->dims[d].steps ? 0 : 1 << d;
    for (const node *n = t->kernel->body; n && s.possible; n = n->next) {
        s.possible &= n->kind == N_FORALL;
        if (s.possible)
            look_at_forall(&s, n);
    }
    for (int k = s.f->nparams; k < s.f->nparams + s.f->nresults; k++)
        s.possible &= s.f->locals[k].core;
    return s.possible && t->kernel->body ? s.separable : 0;
}
