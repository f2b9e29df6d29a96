/* traits.c - what the engines choose threads by: the constructs of a kernel that stand in no other one, their ranges, and along which
 * dimensions of their operands they go. */
#include "ir/common/nodes.h"
#include "ir/construct/construct.h"
#include "ir/gufunc/call_strips.h"
#include "ir/gufunc/gufunc.h"

typedef struct survey {
    const function *f;
    code_traits *out;
    bool *inside; /* by local: declared in the forall that is being looked at */
    int depth;    /* constructs around */
    int maybe; /* statements and expressions around, outside of constructs, whose parts are done or not as values say */
    int count; /* constructs so far */
} survey;

/* ---- Ranges and accesses of a construct ---- */

static int range_list(const node *ranges, int8_t *dims) {
    int n = 0;
    for (const node *r = ranges; r && n < CODE_RANGES; r = r->next) {
        const node *limit = r->kid[0];
        dims[n++] = limit->kind == N_SIZE ? (int8_t)limit->dim : (int8_t)-1;
    }
    return n;
}

static const node *last_range(const node *ranges) {
    while (ranges && ranges->next)
        ranges = ranges->next;
    return ranges;
}

typedef struct reading {
    const function *f;
    code_construct *c;
    int outer, inner; /* the variables of the last ranges; -1: none */
} reading;

/* 1 + the dimension whose index is just the variable, 0: none. */
static uint8_t walked(const node *n, const local *l, int variable) {
    for (int d = l->rank - 1; d >= 0; d--) {
        const node *i = element_index(n, l->rank, d);
        if (i->kind == N_LOCAL && i->local == variable)
            return (uint8_t)(d + 1);
    }
    return 0;
}

static void note_access(const node *n, void *user) {
    reading *r = user;
    const local *l = n->kind == N_ELEMENT ? &r->f->locals[n->local] : NULL;
    if (!l || !l->core || r->c->naccesses == CODE_ACCESSES)
        return;
    r->c->access[r->c->naccesses++] =
        (code_access){(uint8_t)n->local, walked(n, l, r->outer), r->inner < 0 ? 0 : walked(n, l, r->inner)};
}

static void find_reduction(const node *n, void *user) {
    const node **found = user;
    if (n->kind == N_REDUCE && (!*found || node_cost(n->kid[0]) > node_cost((*found)->kid[0])))
        *found = n;
}

static void note_construct(survey *s, const node *n) {
    code_construct *c = &s->out->construct[s->out->nconstructs];
    if (s->out->nconstructs == CODE_CONSTRUCTS)
        return;
    s->out->nconstructs++;
    *c = (code_construct){.reduces = n->kind == N_REDUCE};
    c->nouter = (uint8_t)range_list(n->args, c->outer);
    reading r = {s->f, c, last_range(n->args)->local, -1};
    const node *statements = c->reduces ? n->kid[0] : n->body, *inner = NULL;
    int cost = node_cost(statements);
    c->nodes = cost > UINT8_MAX ? UINT8_MAX : (uint8_t)cost;
    if (!c->reduces)
        node_each(statements, find_reduction, &inner);
    if (inner) {
        c->nested = true;
        c->tiles = (uint8_t)shared_tile_words(s->f, n);
        c->ninner = (uint8_t)range_list(inner->args, c->inner);
        r.inner = last_range(inner->args)->local;
        node_each(inner->kid[0], note_access, &r);
    } else {
        node_each(statements, note_access, &r);
    }
}

/* ---- May constructs be mapped to the threads of a cooperative group? ---- */

static void note_declaration(const node *n, void *user) {
    survey *s = user;
    if (n->kind == N_DECLARE)
        s->inside[n->local] = true;
}

static void forbid_shared(const node *n, void *user) {
    survey *s = user;
    if (n->kind != N_ASSIGN && n->kind != N_COMPOUND && n->kind != N_UPDATE)
        return;
    const local *l = &s->f->locals[n->kid[0]->local];
    if (l->rank && !l->core && !s->inside[n->kid[0]->local])
        s->out->maps_to_threads = false;
}

/* Does n decide which of its parts are done, or how often? Kid 0 of the expressions is always evaluated, but no one is the worse for
 * its being counted. */
static bool decides(const node *n) {
    return n->kind == N_IF || n->kind == N_LOOP || n->kind == N_SWITCH || n->kind == N_SELECT || n->kind == N_AND ||
           n->kind == N_OR;
}

static void visit(survey *s, const node *n);

static void visit_list(survey *s, const node *n) {
    for (; n; n = n->next)
        visit(s, n);
}

static void visit(survey *s, const node *n) {
    bool construct = n->kind == N_REDUCE || n->kind == N_FORALL;
    int ranges = 0;
    for (const node *r = construct ? n->args : NULL; r; r = r->next)
        ranges++;
    if (ranges > CODE_RANGES)
        s->out->maps_to_threads = false;
    if (construct && !s->depth)
        note_construct(s, n);
    if (n->kind == N_FORALL && !s->depth) {
        s->out->simple &= instances_simple(s->f, n->body);
        node_each(n->body, note_declaration, s);
        node_each(n->body, forbid_shared, s);
    }
    if (n->kind == N_ELEMENT && !s->depth && s->f->locals[n->local].core && n->local >= s->f->nparams)
        s->out->maps_to_threads = false;
    bool maybe = !s->depth && decides(n);
    if ((construct && s->maybe) || (!s->depth && (n->kind == N_RETURN || n->kind == N_LEAVE)))
        s->out->uniform = false;
    s->maybe += maybe;
    visit_list(s, n->args); /* ranges are evaluated outside */
    s->count += construct;
    s->depth += construct;
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            visit(s, n->kid[k]);
    visit_list(s, n->body);
    visit_list(s, n->other);
    visit_list(s, n->step);
    s->depth -= construct;
    s->maybe -= maybe;
}

/* ---- Which operands are reached by more than the index of a range? ---- */

static bool is_at(const node *element, const local *l, int variable) {
    const node *i = l->rank == 1 ? element_index(element, 1, 0) : NULL;
    return i && i->kind == N_LOCAL && i->local == variable;
}

/* variable: of the one range of the construct around; -1: there is no construct, -2: it has several. */
static void find_elsewhere(const function *f, const node *list, int variable, uint64_t *elsewhere) {
    for (const node *n = list; n; n = n->next) {
        bool array = (n->kind == N_ELEMENT || n->kind == N_LOCAL) && f->locals[n->local].core;
        if (array && !(n->kind == N_ELEMENT && is_at(n, &f->locals[n->local], variable)))
            *elsewhere |= UINT64_C(1) << n->local;
        int inside = variable;
        if ((n->kind == N_REDUCE || n->kind == N_FORALL) && variable == -1)
            inside = n->args->next ? -2 : n->args->local;
        for (int k = 0; k < 3; k++)
            find_elsewhere(f, n->kid[k], inside, elsewhere);
        find_elsewhere(f, n->args, inside, elsewhere);
        find_elsewhere(f, n->body, inside, elsewhere);
        find_elsewhere(f, n->other, inside, elsewhere);
        find_elsewhere(f, n->step, inside, elsewhere);
    }
}

static void note_loop(const node *n, void *user) { *(bool *)user |= n->kind == N_LOOP; }

void gufunc_traits(const tree *t, code_traits *out) {
    enum {
        LOCALS_MOST = 1024,
        MAPPED_MOST = 32 /* constructs: mapped to threads each takes some hundreds of instructions */
    };
    bool inside[LOCALS_MOST] = {false};
    survey s = {.f = t->kernel, .out = out, .inside = inside};
    if (t->kernel->nlocals > LOCALS_MOST)
        return;
    node_each(t->kernel->body, note_loop, &out->plain_loops);
    for (int r = 0; r < COLUMN_RANGES; r++)
        out->columns |= (uint8_t)(columns_fit(t->kernel, r, out->column_of[r]) << r);
    out->strips = call_strips_fit(t);
    out->vectored = call_strips_vectored(t);
    out->separable = (uint8_t)gufunc_separable(t);
    out->maps_to_threads = true;
    out->uniform = !out->unbounded;
    out->simple = true;
    visit_list(&s, t->kernel->body);
    find_elsewhere(t->kernel, t->kernel->body, -1, &out->elsewhere);
    for (int k = t->kernel->nparams; k < t->kernel->nparams + t->kernel->nresults; k++)
        out->assigned |= needs_content(t->kernel, k) ? 0 : UINT64_C(1) << k;
    out->maps_to_threads &= s.count > 0 && s.count <= MAPPED_MOST;
}
