/* rewrite.c - see rewrite.h. Invariant: the tree stays one that tree_fault finds no fault with. */
#include "rewrite.h"

#include <stdio.h>
#include <stdlib.h>

#include "lang_try.h"

int tree_rewrites;
bool tree_rewrites_plainly;
rewrite_counts tree_rewritten;

typedef struct rewriter {
    arena *a;
    tree *t;
    function *f;
    uint64_t state;
    int percent;
    function *twins[DT_COUNT];
} rewriter;

static uint64_t bits(rewriter *r) {
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545F4914F6CDD1Du;
}

static bool chance(rewriter *r) { return (int)(bits(r) >> 33) % 100 < r->percent; }

/* ---- Parts ---- */

static node *make(rewriter *r, node_kind kind, dtype type, int line) {
    node *n = arena_alloc(r->a, sizeof *n);
    n->kind = (uint8_t)kind;
    n->type = (uint8_t)type;
    n->wide = DT_NONE;
    n->line = line;
    r->t->nodes++;
    return n;
}

static node *make_kid(rewriter *r, node_kind kind, dtype type, node *kid) {
    node *n = make(r, kind, type, kid->line);
    n->kid[0] = kid;
    return n;
}

static int new_local(rewriter *r, function *f, dtype type) {
    local *more = arena_alloc(r->a, (size_t)(f->nlocals + 1) * sizeof *more);
    if (f->nlocals)
        memcpy(more, f->locals, (size_t)f->nlocals * sizeof *more);
    more[f->nlocals] = (local){.name = "rewritten", .type = type};
    f->locals = more;
    r->t->variables++;
    return f->nlocals++;
}

static node *variable(rewriter *r, dtype type, int k, int line) {
    node *n = make(r, N_LOCAL, type, line);
    n->local = k;
    return n;
}

static node *declaration(rewriter *r, int k, node *value, int line) {
    node *n = make(r, N_DECLARE, DT_NONE, line);
    n->local = k;
    n->kid[0] = value;
    return n;
}

static node *assignment(rewriter *r, int k, node *value) {
    node *n = make(r, N_ASSIGN, (dtype)value->type, value->line);
    n->kid[0] = variable(r, (dtype)value->type, k, value->line);
    n->kid[1] = value;
    return make_kid(r, N_EVAL, DT_NONE, n);
}

static node *zero(rewriter *r, dtype type, int line) {
    node *n = make(r, N_CONST, type, line);
    n->value = (number){.type = type};
    return n;
}

static node *always(rewriter *r, int line) {
    node *n = zero(r, DT_BOOL, line);
    n->value.as.u = 1;
    return n;
}

/* twin(T x) -> (T, T): both are x. */
static function *twin_of(rewriter *r, dtype type) {
    function *f = r->twins[type];
    if (f)
        return f;
    f = r->twins[type] = arena_alloc(r->a, sizeof *f);
    f->name = "twin";
    f->nparams = 1;
    f->nresults = 2;
    for (int k = 0; k < 3; k++)
        new_local(r, f, type);
    f->body = assignment(r, 1, variable(r, type, 0, 1));
    f->body->next = assignment(r, 2, variable(r, type, 0, 1));
    f->body->next->next = make(r, N_RETURN, DT_NONE, 1);
    f->next = r->t->functions;
    r->t->functions = f;
    return f;
}

static node *twin_call(rewriter *r, node *value, int k, int other) {
    dtype type = (dtype)value->type;
    node *n = make(r, N_CALL, DT_NONE, value->line);
    n->callee = twin_of(r, type);
    n->args = value;
    n->other = variable(r, type, k, value->line);
    n->other->next = variable(r, type, other, value->line);
    tree_rewritten.calls++;
    return make_kid(r, N_EVAL, DT_NONE, n);
}

/* `first`, and then leaves the body in place; what follows, which is `last`, is not done. */
static node *in_place(rewriter *r, node *condition, node *first, node *last) {
    node *n = make(r, N_INLINE, DT_NONE, condition->line), *branch = make_kid(r, N_IF, DT_NONE, condition),
         *end = first;
    node *leave = make(r, N_LEAVE, DT_NONE, condition->line);
    while (end && end->next)
        end = end->next;
    *(end ? &end->next : &first) = leave;
    branch->body = first;
    branch->next = last;
    n->body = branch;
    tree_rewritten.inlines++;
    return n;
}

/* ---- Expressions ---- */

/* A sequence in place of an expression. */
static node *sequence(rewriter *r, node *e) {
    dtype type = (dtype)e->type;
    int k = new_local(r, r->f, type), other, line = e->line;
    node *n = make_kid(r, N_SEQUENCE, type, variable(r, type, k, line));
    tree_rewritten.sequences++;
    n->next = e->next;
    e->next = NULL;
    switch (tree_rewrites_plainly ? 0 : bits(r) >> 33 & 3) {
    case 0:
        n->body = declaration(r, k, e, line);
        break;
    case 1:
        n->body = declaration(r, k, NULL, line);
        n->body->next = assignment(r, k, e);
        break;
    case 2:
        other = new_local(r, r->f, type);
        n->body = declaration(r, k, NULL, line);
        n->body->next = declaration(r, other, NULL, line);
        n->body->next->next = twin_call(r, e, other, k);
        break;
    default:
        n->body = declaration(r, k, NULL, line);
        n->body->next = in_place(r, always(r, line), assignment(r, k, e), assignment(r, k, zero(r, type, line)));
        break;
    }
    return n;
}

static void rewrite_expression(rewriter *r, node **at);

static void rewrite_each(rewriter *r, node **list) {
    for (; *list; list = &(*list)->next)
        rewrite_expression(r, list);
}

static void rewrite_extents(rewriter *r, node *construct) {
    for (node *range = construct->args; range && !tree_rewrites_plainly; range = range->next)
        rewrite_expression(r, &range->kid[0]);
}

/* The kids of an expression; of a place that is written to, its indices. */
static void rewrite_kids(rewriter *r, node *n) {
    if (tree_rewrites_plainly && n->kind == N_ELEMENT)
        return;
    bool writes = n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE || n->kind == N_ATOMIC;
    if (n->kind == N_REDUCE)
        rewrite_extents(r, n);
    else
        rewrite_each(r, &n->args);
    if (writes)
        rewrite_kids(r, n->kid[0]);
    for (int k = writes; k < 3; k++)
        if (n->kid[k])
            rewrite_expression(r, &n->kid[k]);
}

static void rewrite_expression(rewriter *r, node **at) {
    rewrite_kids(r, *at);
    if (chance(r))
        *at = sequence(r, *at);
}

/* ---- Statements ---- */

/* Does a list have a jump that leaves it? */
static bool jumps(const node *list, bool in_loop, bool in_switch) {
    for (const node *n = list; n; n = n->next) {
        bool loop = in_loop || n->kind == N_LOOP || n->kind == N_FORALL, leaves = in_switch || n->kind == N_SWITCH;
        if (n->kind == N_RETURN || (n->kind == N_BREAK && !in_loop && !in_switch) ||
            (n->kind == N_CONTINUE && !in_loop))
            return true;
        if (n->kind > N_EVAL && (jumps(n->body, loop, leaves) || jumps(n->other, loop, leaves)))
            return true;
    }
    return false;
}

/* The branches of a condition, or a block, in place; a variable that a call assigns. */
static void rewrite_statement(rewriter *r, node **at) {
    node *n = *at, *next = n->next;
    bool assigns = n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN && n->kid[0]->kid[0]->kind == N_LOCAL;
    if (n->kind == N_IF && !jumps(n->body, false, false) && !jumps(n->other, false, false)) {
        *at = in_place(r, n->kid[0], n->body, n->other);
    } else if (n->kind == N_BLOCK && !jumps(n->body, false, false)) {
        n->kind = N_INLINE;
        tree_rewritten.inlines++;
    } else if (assigns) {
        const node *assign = n->kid[0];
        int other = new_local(r, r->f, (dtype)assign->type);
        *at = make(r, N_BLOCK, DT_NONE, n->line);
        (*at)->body = declaration(r, other, NULL, n->line);
        (*at)->body->next = twin_call(r, assign->kid[1], assign->kid[0]->local, other);
    }
    (*at)->next = next;
}

/* whole: other statements than N_EVAL may stand in the list. */
static void rewrite_list(rewriter *r, node **list, bool whole) {
    for (; *list; list = &(*list)->next) {
        node *n = *list;
        if (n->kind == N_FORALL) {
            rewrite_extents(r, n);
        } else if (n->kind == N_EVAL) {
            rewrite_kids(r, n->kid[0]);
        } else if (n->kid[0] && !(tree_rewrites_plainly && n->kind != N_DECLARE)) {
            rewrite_expression(r, &n->kid[0]);
        }
        rewrite_list(r, &n->body, n->kind != N_DECLARE);
        rewrite_list(r, &n->other, true);
        rewrite_list(r, &n->step, false);
        if (whole && !tree_rewrites_plainly && chance(r))
            rewrite_statement(r, list);
    }
}

void tree_rewrite(arena *a, tree *t, int percent, uint64_t seed) {
    rewriter r = {.a = a, .t = t, .state = seed | 1, .percent = percent};
    for (function *f = t->functions; f; f = f->next) {
        r.f = f;
        rewrite_list(&r, &f->body, true);
    }
}

/* ---- In place of lang_check ---- */

uf_status __real_lang_check(arena *a, const syntax *s, const core_layout *core, const record *const *records,
                            const dtype *in, int nin, dtype *out, int nout, bool unchecked, tree **result);
uf_status __wrap_lang_check(arena *a, const syntax *s, const core_layout *core, const record *const *records,
                            const dtype *in, int nin, dtype *out, int nout, bool unchecked, tree **result);

/* Before there are threads, which all read it. */
__attribute__((constructor)) static void plainly_read(void) {
    tree_rewrites_plainly = getenv("UF_REWRITES_PLAINLY") != NULL;
}

uf_status __wrap_lang_check(arena *a, const syntax *s, const core_layout *core, const record *const *records,
                            const dtype *in, int nin, dtype *out, int nout, bool unchecked, tree **result) {
    static uint64_t seed = 88172645463325252u;
    uf_status status = __real_lang_check(a, s, core, records, in, nin, out, nout, unchecked, result);
    const char *given = getenv("UF_REWRITES");
    int percent = given ? atoi(given) : tree_rewrites;
    if (status != UF_OK || !percent)
        return status;
    tree_rewrite(a, *result, percent, seed += 0x9E3779B97F4A7C15u);
    const char *fault = tree_fault(*result);
    if (fault) {
        fprintf(stderr, "a rewritten tree has a fault: %s\n", fault);
        abort();
    }
    return status;
}
