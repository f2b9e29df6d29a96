/* kept_terms.c - CPU: a reduction whose terms call math functions and are computed again by the forall behind it, as those of
 *
 *   auto scale = 1 / sum(i : n, exp(x[i] - top));
 *   forall (i : n) y[i] = exp(x[i] - top) * scale;
 *
 * They are kept where the results will be, if an element of the output holds a term as it is: sum(i : n, y[i] = exp(x[i] - top)), and then
 * y[i] = y[i] * scale. The output may be an input at the same addresses, so that behind the reduction nothing may read an input. */
#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/construct/construct.h"

typedef struct kept_terms {
    const node *reduce, *forall, *assign;
    const node *term; /* in the forall */
} kept_terms;

/* ---- Finding them ---- */

static bool is_term(const kept_terms *k, const node *n) {
    return n == k->term || node_same(n, k->reduce->kid[0], k->forall->args->local, k->reduce->args->local);
}

/* Is an element of a core operand read in an expression, but in the terms? */
static bool reads_others(const kept_terms *k, const function *f, const node *n) {
    if (n == k->reduce || (n->type == k->reduce->type && is_term(k, n)))
        return false;
    if (n->kind == N_ELEMENT && f->locals[n->local].core)
        return true;
    for (int i = 0; i < 3; i++)
        if (n->kid[i] && reads_others(k, f, n->kid[i]))
            return true;
    for (const node *a = n->args; a; a = a->next)
        if (reads_others(k, f, a))
            return true;
    return n->body; /* statements of a sequence: who knows */
}

/* The reduction in what is evaluated whatever values there are, if it is the only one; *count of them, others included. */
static const node *find_reduce(const node *n, int *count) {
    const node *found = NULL;
    if (n->kind == N_REDUCE) {
        ++*count;
        return n;
    }
    bool some = n->kind == N_SELECT || n->kind == N_AND || n->kind == N_OR;
    for (int k = 0; k < 3; k++) {
        const node *r = n->kid[k] ? find_reduce(n->kid[k], count) : NULL;
        found = r && !(some && k) ? r : found;
    }
    for (const node *a = n->args; a; a = a->next) {
        const node *r = find_reduce(a, count);
        found = r ? r : found;
    }
    return found;
}

static const node *find_term(const kept_terms *k, const node *n) {
    const node *found = n->type == k->reduce->type && is_term(k, n) ? n : NULL;
    for (int i = 0; i < 3 && !found; i++)
        found = n->kid[i] ? find_term(k, n->kid[i]) : NULL;
    for (const node *a = n->args; a && !found; a = a->next)
        found = find_term(k, a);
    return found;
}

/* Is it a declaration of a variable, or an assignment to one, whose value is an expression? */
static const node *value_of(const node *n) {
    if (n->kind == N_DECLARE)
        return n->kid[0];
    bool sets = n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN && n->kid[0]->kid[0]->kind == N_LOCAL;
    return sets ? n->kid[0]->kid[1] : NULL;
}

/* The assignment of y[i] that is all that a forall over i does; NULL: it does something else. */
static const node *assignment_of(const body *b, const node *forall) {
    const node *s = forall->body, *range = forall->args;
    if (!s || s->next || s->kind != N_EVAL || s->kid[0]->kind != N_ASSIGN || range->next)
        return NULL;
    const node *to = s->kid[0]->kid[0];
    const local *l = to->kind == N_ELEMENT ? &b->f->locals[to->local] : NULL;
    if (!l || !l->core || l->rank != 1 || to->local < b->f->nparams || !to->unchecked)
        return NULL;
    return to->kid[0]->kind == N_LOCAL && to->kid[0]->local == range->local ? s->kid[0] : NULL;
}

/* Do elements of the output hold terms as they are, side by side? */
static bool holds_terms(const body *b, const kept_terms *k) {
    const node *to = k->assign->kid[0];
    const variant_operand *o = &b->e->frame->v->operand[to->local];
    dtype type = (dtype)k->reduce->type;
    return (type == DT_FLOAT32 || type == DT_FLOAT64) && to->type == type && o->memory == type && o->unit == 1;
}

static bool find(body *b, const node *n, kept_terms *k) {
    const node *value = value_of(n);
    int count = 0;
    *k = (kept_terms){.forall = n->next};
    if (!value || !n->next || n->next->kind != N_FORALL || b->depth || b->e->plain || reports(b->e))
        return false;
    k->reduce = find_reduce(value, &count);
    k->assign = assignment_of(b, k->forall);
    if (!k->reduce || count > 1 || !k->assign || !k->reduce->args || k->reduce->args->next || !holds_terms(b, k))
        return false;
    const node *range = k->reduce->args;
    if (!node_same(range->kid[0], k->forall->args->kid[0], -1, -1) || !expression_stays(b, range->kid[0], -1) ||
        !expression_stays(b, k->reduce->kid[0], range->local) || !math_loop_of(b, k->reduce).lanes)
        return false;
    k->term = find_term(k, k->assign->kid[1]);
    return k->term && !reads_others(k, b->f, value) && !reads_others(k, b->f, k->assign->kid[1]);
}

/* ---- Writing ---- */

static node *copy(body *b, const node *n) {
    node *to = arena_alloc(b->e->a, sizeof *to);
    *to = *n;
    to->next = NULL;
    return to;
}

static node *element(body *b, const kept_terms *k) {
    node *to = copy(b, k->assign->kid[0]);
    to->kid[0] = copy(b, to->kid[0]);
    return to;
}

static node *ranges(body *b, const kept_terms *k) {
    node *range = copy(b, k->forall->args);
    range->kid[0] = copy(b, range->kid[0]);
    return range;
}

/* An expression of the forall with elements of the output in place of terms. */
static node *recalled(body *b, const kept_terms *k, const node *n) {
    if (n->type == k->reduce->type && is_term(k, n))
        return element(b, k);
    node *to = copy(b, n), **end = &to->args;
    for (int i = 0; i < 3; i++)
        to->kid[i] = n->kid[i] ? recalled(b, k, n->kid[i]) : NULL;
    for (const node *a = n->args; a; a = a->next, end = &(*end)->next)
        *end = recalled(b, k, a);
    return to;
}

static node *assignment(body *b, const kept_terms *k, node *value) {
    node *assign = copy(b, k->assign);
    assign->kid[0] = element(b, k);
    assign->kid[1] = value;
    return assign;
}

static const node *write(body *b, const node *n) {
    kept_terms k;
    if (!find(b, n, &k))
        return NULL;
    node *reduce = copy(b, k.reduce), *forall = copy(b, k.forall);
    reduce->args = ranges(b, &k);
    reduce->kid[0] = assignment(b, &k, copy(b, k.term));
    b->sum = emit_reduce(b, reduce);
    b->summed = k.reduce;
    emit_statement(b, n);
    b->summed = NULL;
    forall->args = ranges(b, &k);
    forall->body = copy(b, k.forall->body);
    forall->body->kid[0] = assignment(b, &k, recalled(b, &k, k.assign->kid[1]));
    emit_statement(b, forall);
    return k.forall;
}

const body_hooks keeping_hooks = {.statements = write};
