/* symbols.c - see symbols.h. */
#include "ir/elementwise/symbols.h"

#include <string.h>

#include "ir/common/nodes.h"

enum {
    CALLS_MOST = 16,   /* within each other */
    LOOKED_MOST = 2000 /* expressions, those of functions as often as these are called */
};

/* ---- Symbols ---- */

static bool same_symbol(const symbol *a, const symbol *b) {
    return a->kind == b->kind && a->op == b->op && a->type == b->type && a->wide == b->wide && a->local == b->local &&
           a->exact == b->exact && a->math == b->math && numbers_same(&a->value, &b->value) &&
           !memcmp(a->kid, b->kid, sizeof a->kid);
}

static int give_up(symbols *x) {
    x->failed = true;
    return -1;
}

int symbol_intern(symbols *x, const symbol *new) {
    for (int i = 0; i < x->count; i++)
        if (same_symbol(&x->of[i], new))
            return i;
    if (x->failed || x->count == SYMBOLS_MOST)
        return give_up(x);
    x->of[x->count] = *new;
    return x->count++;
}

/* ---- What a function makes of its arguments ---- */

/* A call that is followed: the symbols of its locals. */
typedef struct call {
    const function *f;
    int *local;
} call;

static int value_of(symbols *x, call *c, const node *n);
static void run(symbols *x, const function *f, const int *arguments, int *results);

static int zero_of(symbols *x, dtype t) {
    return symbol_intern(x, &(symbol){.kind = N_CONST, .type = t, .value = {.type = t}, .kid = {-1, -1, -1}});
}

/* Results of a call, at most as many as there are. */
static void call_results(symbols *x, call *c, const node *n, int *results) {
    const function *f = n->callee;
    int *arguments = arena_alloc(x->a, (size_t)(f->nparams + 1) * sizeof *arguments), count = 0;
    for (const node *a = n->args; a; a = a->next)
        arguments[count++] = value_of(x, c, a);
    if (!x->failed)
        run(x, f, arguments, results);
}

static int call_value(symbols *x, call *c, const node *n) {
    int result = -1;
    if (n->other || n->callee->nresults != 1)
        return give_up(x);
    call_results(x, c, n, &result);
    return result;
}

/* An operator, or a function of math.h, of the values of its parts. */
static int operation(symbols *x, call *c, const node *n) {
    symbol new = {.kind = (node_kind)n->kind,
                  .op = n->op,
                  .type = n->type,
                  .wide = n->wide,
                  .exact = c->f->exact,
                  .math = n->math,
                  .kid = {-1, -1, -1}};
    int count = 0;
    for (int k = 0; k < 3 && n->kid[k]; k++)
        new.kid[count++] = value_of(x, c, n->kid[k]);
    for (const node *a = n->args; a && count < 3; a = a->next)
        new.kid[count++] = value_of(x, c, a);
    return x->failed ? -1 : symbol_intern(x, &new);
}

static int value_of(symbols *x, call *c, const node *n) {
    if (x->failed || ++x->looked > LOOKED_MOST)
        return give_up(x);
    switch (n->kind) {
    case N_CONST:
        return symbol_intern(x, &(symbol){.kind = N_CONST, .type = n->type, .value = n->value, .kid = {-1, -1, -1}});
    case N_LOCAL:
        return c->f->locals[n->local].rank ? give_up(x) : c->local[n->local];
    case N_CONVERT:
    case N_UNARY:
    case N_BINARY:
    case N_AND:
    case N_OR:
    case N_SELECT:
    case N_COMPLEX:
    case N_REAL:
    case N_IMAG:
    case N_MATH:
        return operation(x, c, n);
    case N_CALL:
        return call_value(x, c, n);
    default:
        return give_up(x);
    }
}

static void assign_results(symbols *x, call *c, const node *n) {
    int *results = arena_alloc(x->a, (size_t)(n->callee->nresults + 1) * sizeof *results), i = 0;
    call_results(x, c, n, results);
    for (const node *to = n->other; to && !x->failed; to = to->next)
        c->local[to->local] = results[i++];
}

static void evaluate(symbols *x, call *c, const node *n) {
    if (n->kind == N_ASSIGN && n->kid[0]->kind == N_LOCAL)
        c->local[n->kid[0]->local] = value_of(x, c, n->kid[1]);
    else if (n->kind == N_CALL && n->other)
        assign_results(x, c, n);
    else
        give_up(x);
}

/* Statements that are all done, one after the other; a function may return behind the last of its own. */
static void follow(symbols *x, call *c, const node *list, bool last) {
    for (const node *n = list; n && !x->failed; n = n->next) {
        if (n->kind == N_EVAL)
            evaluate(x, c, n->kid[0]);
        else if (n->kind == N_DECLARE && !c->f->locals[n->local].rank)
            c->local[n->local] = n->kid[0] ? value_of(x, c, n->kid[0]) : zero_of(x, c->f->locals[n->local].type);
        else if (n->kind == N_BLOCK)
            follow(x, c, n->body, false);
        else if (n->kind != N_RETURN || n->next || !last)
            give_up(x);
    }
}

static void run(symbols *x, const function *f, const int *arguments, int *results) {
    call c = {f, arena_alloc(x->a, (size_t)(f->nlocals + 1) * sizeof *c.local)};
    if (!f->body || x->depth == CALLS_MOST) {
        give_up(x);
        return;
    }
    x->depth++;
    for (int k = 0; k < f->nlocals; k++)
        c.local[k] = k < f->nparams ? arguments[k] : f->locals[k].rank ? -1 : zero_of(x, f->locals[k].type);
    follow(x, &c, f->body, true);
    x->depth--;
    for (int k = 0; k < f->nresults; k++)
        results[k] = c.local[f->nparams + k];
}

/* ---- The kernel ---- */

symbols *symbols_new(arena *a) {
    symbols *x = arena_alloc(a, sizeof *x);
    x->a = a;
    return x;
}

int symbol_of_parameter(symbols *x, int k, int type) {
    return symbol_intern(x, &(symbol){.kind = N_LOCAL, .type = type, .local = k, .kid = {-1, -1, -1}});
}

bool symbols_of_results(symbols *x, const function *kernel, const int *arguments, int *results) {
    run(x, kernel, arguments, results);
    return !x->failed;
}
