/* kept_terms.c - CPU: a reduction whose terms call math functions and are computed again by the forall behind it, as those of
 *
 *   auto scale = 1 / sum(i : n, exp(x[i] - top));
 *   forall (i : n) y[i] = exp(x[i] - top) * scale;
 *
 * They are kept where the results will be, if an element of the output holds a term as it is: sum(i : n, y[i] = exp(x[i] - top)), and then
 * y[i] = y[i] * scale. The output may be an input at the same addresses, so that behind the reduction nothing may read an input. In strips of
 * calls (gufunc.strips) the statement is a forall over the calls, which the one behind it has as its last range. */
#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/construct/construct.h"
#include "ir/construct/unroll_jam.h"

typedef struct kept_terms {
    const node *reduce, *forall, *assign;
    const node *term; /* in the forall */
    int set;          /* the local variable that the statement with the reduction sets */
} kept_terms;

static bool in_strips(const body *b) { return frame_has_strips(b->e->frame); }

/* ---- Finding them ---- */

static bool is_term(const kept_terms *k, const node *n) {
    return n->type == k->reduce->type &&
           (n == k->term || node_same(n, k->reduce->kid[0], k->forall->args->local, k->reduce->args->local));
}

/* Is an element of a core operand read in an expression, but in the terms? */
static bool reads_others(const kept_terms *k, const function *f, const node *n) {
    if (n == k->reduce || is_term(k, n))
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
    const node *found = is_term(k, n) ? n : NULL;
    for (int i = 0; i < 3 && !found; i++)
        found = n->kid[i] ? find_term(k, n->kid[i]) : NULL;
    for (const node *a = n->args; a && !found; a = a->next)
        found = find_term(k, a);
    return found;
}

/* The value of a declared variable, or of an assignment that stands alone, and the variable, or output; NULL: it is something else. */
static const node *value_of(const body *b, const node *n, int *set) {
    if (in_strips(b))
        n = n->kind == N_FORALL && !n->args->next && !n->body->next ? n->body : NULL;
    if (n && n->kind == N_DECLARE) {
        *set = n->local;
        return n->kid[0];
    }
    const node *assign = n && n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN ? n->kid[0] : NULL;
    if (!assign || (assign->kid[0]->kind != N_LOCAL && !in_strips(b)))
        return NULL;
    *set = assign->kid[0]->local;
    return assign->kid[1];
}

/* The assignment of y[i] that is all that a forall over i does; NULL: it does something else. */
static const node *assignment_of(const body *b, const node *forall) {
    const node *s = forall->body, *range = forall->args, *calls = range->next;
    bool alone = in_strips(b) ? calls && !calls->next : !calls;
    if (!alone || !s || s->next || s->kind != N_EVAL || s->kid[0]->kind != N_ASSIGN)
        return NULL;
    const node *to = s->kid[0]->kid[0];
    const local *l = to->kind == N_ELEMENT ? &b->f->locals[to->local] : NULL;
    if (!l || !l->core || l->rank != 1 + in_strips(b) || to->local < b->f->nparams || !to->unchecked)
        return NULL;
    return to->kid[0]->kind == N_LOCAL && to->kid[0]->local == range->local ? s->kid[0] : NULL;
}

/* Do elements of the output hold terms as they are, side by side? */
static bool holds_terms(const body *b, const kept_terms *k) {
    const node *to = k->assign->kid[0];
    const variant_operand *o = &b->e->frame->v->operand[to->local];
    dtype type = (dtype)k->reduce->type;
    return (type == DT_FLOAT32 || type == DT_FLOAT64) && to->type == type && o->memory == type &&
           o->unit == b->f->locals[to->local].rank;
}

/* Has it the same value behind the statement with the reduction as in front of it, whatever terms are kept? variable: of the reduction's range.
 * Expressions of strips assign nothing. */
static bool stays(body *b, const kept_terms *k, const node *n, int variable) {
    if (!in_strips(b))
        return expression_stays(b, n, variable);
    bool reads = jam_depends(n, k->set);
    for (int o = 0; o < b->f->nresults; o++)
        reads |= jam_depends(n, b->f->nparams + o);
    return !reads;
}

static bool find(body *b, const node *n, kept_terms *k) {
    int count = 0;
    *k = (kept_terms){.forall = n->next};
    if (!n->next || n->next->kind != N_FORALL || b->depth || b->e->plain || reports(b->e))
        return false;
    const node *value = value_of(b, n, &k->set);
    k->reduce = value ? find_reduce(value, &count) : NULL;
    k->assign = assignment_of(b, k->forall);
    if (!k->reduce || count > 1 || !k->assign || !k->reduce->args || k->reduce->args->next || !holds_terms(b, k))
        return false;
    const node *range = k->reduce->args;
    if (!node_same(range->kid[0], k->forall->args->kid[0], -1, -1) || !stays(b, k, range->kid[0], -1) ||
        !stays(b, k, k->reduce->kid[0], range->local) || !math_loop_of(b, k->reduce).lanes)
        return false;
    k->term = find_term(k, k->assign->kid[1]);
    return k->term && !reads_others(k, b->f, value) && !reads_others(k, b->f, k->assign->kid[1]);
}

/* ---- Writing ---- */

/* A copy of a list with another reduction in place of the one found or, where that is NULL, with elements of the output in place of terms. */
static node *replaced(const body *b, const kept_terms *k, const node *list, node *reduce);

static node *copy(const body *b, const kept_terms *k, const node *n, node *reduce) {
    node *to = arena_alloc(b->e->a, sizeof *to);
    *to = *n;
    to->next = NULL;
    for (int i = 0; i < 3; i++)
        to->kid[i] = replaced(b, k, n->kid[i], reduce);
    to->args = replaced(b, k, n->args, reduce);
    to->body = replaced(b, k, n->body, reduce);
    return to;
}

static node *replaced(const body *b, const kept_terms *k, const node *list, node *reduce) {
    node *first = NULL, **end = &first;
    for (const node *n = list; n; n = n->next, end = &(*end)->next) {
        if (n == k->reduce && reduce)
            *end = reduce;
        else
            *end = copy(b, k, !reduce && is_term(k, n) ? k->assign->kid[0] : n, reduce);
    }
    return first;
}

static const node *write(body *b, const node *n) {
    kept_terms k;
    if (!find(b, n, &k))
        return NULL;
    node *keep = copy(b, &k, k.assign, NULL), *reduce = copy(b, &k, k.reduce, NULL);
    reduce->args->local = k.forall->args->local;
    keep->kid[1] = copy(b, &k, k.term, NULL);
    reduce->kid[0] = keep;
    emit_statement(b, copy(b, &k, n, reduce));
    emit_statement(b, copy(b, &k, k.forall, NULL));
    return k.forall;
}

const body_hooks keeping_hooks = {.statements = write};
