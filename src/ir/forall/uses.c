/* uses.c - what a kernel over indices does with its parameters. Arrays are at hand in the kernel alone: helpers take values. */
#include "ir/common/nodes.h"
#include "ir/forall/coalesced.h"
#include "ir/forall/forms.h"
#include "ir/forall/lanes.h"
#include "ir/forall/nontemporal.h"
#include "ir/forall/pair_tile.h"
#include "ir/forall/shared_rows.h"

typedef struct uses {
    const function *f;
    uint16_t *use;
    bool atomic[UF_MAX_OPERANDS]; /* the target of an atomic function: */
    uint8_t op[UF_MAX_OPERANDS];  /* the first of them */
    bool mixed[UF_MAX_OPERANDS];  /* there are others, or it does not commute, or a result is used */
    int ones
        [UF_MAX_OPERANDS]; /* places where 1 is added to it; more than that where something else is, or repeatedly */
    int repeats;           /* loops and constructs around the place that is looked at */
} uses;

static bool is_array(const uses *u, const node *n) { return n->kind == N_ELEMENT && u->f->locals[n->local].core; }

static bool is_one(const node *n) {
    while (n->kind == N_CONVERT)
        n = n->kid[0];
    return n->kind == N_CONST && dtype_is_integer(n->value.type) && n->value.as.i == 1;
}

static void note_atomic(uses *u, const node *n, bool used) {
    int k = n->kid[0]->local;
    bool commutes = n->op != ATOMIC_EXCHANGE && n->op != ATOMIC_COMPARE_EXCHANGE;
    if (!u->atomic[k])
        u->op[k] = n->op;
    u->mixed[k] |= used || !commutes || u->op[k] != n->op;
    u->atomic[k] = true;
    u->ones[k] += n->op == ATOMIC_ADD && is_one(n->kid[1]) && !u->repeats ? 1 : 2;
}

/* What a node does to the place that it writes to. */
static int use_of_place(const node *n) {
    switch (n->kind) {
    case N_ASSIGN:
        return USE_WRITE;
    case N_COMPOUND:
    case N_UPDATE:
        return USE_READ | USE_WRITE;
    case N_ATOMIC:
        return USE_ATOMIC;
    default:
        return 0;
    }
}

static void visit(uses *u, const node *n, bool used);

static void visit_all(uses *u, const node *n, int first_kid) {
    const node *lists[] = {n->args, n->body, n->other, n->step};
    for (int k = first_kid; k < 3; k++)
        if (n->kid[k])
            visit(u, n->kid[k], n->kind != N_EVAL);
    for (size_t i = 0; i < COUNT(lists); i++)
        for (const node *item = lists[i]; item; item = item->next)
            visit(u, item, true);
}

static void visit(uses *u, const node *n, bool used) {
    int use = use_of_place(n);
    if (is_array(u, n))
        u->use[n->local] |= USE_READ;
    if (n->kind == N_ATOMIC)
        note_atomic(u, n, used);
    if (!use) {
        bool repeats = n->kind == N_LOOP || n->kind == N_FORALL || n->kind == N_REDUCE;
        u->repeats += repeats;
        visit_all(u, n, 0);
        u->repeats -= repeats;
        return;
    }
    if (is_array(u, n->kid[0]))
        u->use[n->kid[0]->local] |= (uint16_t)use;
    visit_all(u, n->kid[0], 0);
    visit_all(u, n, 1);
}

static bool is_wide_integer(dtype t) { return t == DT_INT64 || t == DT_UINT64; }

void forall_uses(const tree *t, uint16_t *use) {
    uses u = {.f = t->kernel, .use = use};
    memset(use, 0, UF_MAX_OPERANDS * sizeof *use);
    for (const node *n = t->kernel->body; n; n = n->next)
        visit(&u, n, true);
    for (int k = 0; k < t->kernel->nparams; k++)
        if (use[k] == USE_ATOMIC && !u.mixed[k])
            use[k] |= USE_COUNTER | (u.ones[k] == 1 && is_wide_integer(t->kernel->locals[k].type) ? USE_TALLY : 0);
}

typedef struct search {
    int k;
    const node *found;
} search;

static void find_atomic(const node *n, void *user) {
    search *s = user;
    if (n->kind == N_ATOMIC && n->kid[0]->local == s->k)
        s->found = n;
}

atomic_op forall_counted(const tree *t, int k) {
    search s = {.k = k};
    node_each(t->kernel->body, find_atomic, &s);
    return (atomic_op)s.found->op;
}

static void find_math(const node *n, void *user) {
    bool *found = user;
    *found |= n->kind == N_MATH;
}

/* ---- Elements that are read again ---- */

typedef struct rereading {
    const function *f;
    const coalesced *s;
    int row, column;               /* local numbers of the last index but one, -1: there is none, and of the last */
    int64_t last[UF_MAX_OPERANDS]; /* 1 + the first constant last index seen; 0: none */
    code_traits *out;
} rereading;

typedef struct mention {
    int local;
    bool found;
} mention;

static void find_mention(const node *n, void *user) {
    mention *m = user;
    m->found |= n->kind == N_LOCAL && n->local == m->local;
}

static bool mentions(const node *n, int k) {
    mention m = {.local = k};
    node_visit(n, find_mention, &m);
    return m.found;
}

static void note_reread(const node *n, void *user) {
    rereading *r = user;
    if (n->kind != N_ELEMENT || !r->f->locals[n->local].core)
        return;
    int rank = r->f->locals[n->local].rank, k = n->local;
    const node *last = element_index(n, rank, rank - 1);
    if (rank > 1 && last->kind == N_CONST && r->last[k] && r->last[k] != 1 + last->value.as.i)
        r->out->use[k] |= USE_SHORT_ROWS;
    if (last->kind == N_CONST && !r->last[k])
        r->last[k] = 1 + last->value.as.i;
    r->out->shares_rows |= r->row >= 0 && mentions(n, r->column) && !mentions(n, r->row) && coalesced_of(r->s, n) < 0;
}

static void note_rereads(const tree *t, const coalesced *s, code_traits *out) {
    rereading r = {.f = t->kernel, .s = s, .column = t->kernel->nparams - 1, .row = -1, .out = out};
    if (t->layout->nindices > 1)
        r.row = r.column - 1;
    node_each(t->kernel->body, note_reread, &r);
}

/* Arrays that are coalesced, and how many rows of them points read. */
static void note_coalesced(const forall_forms *forms, code_traits *out) {
    bool eligible[UF_MAX_OPERANDS] = {false};
    coalesced s = {.count = 0};
    int rows, more;
    for (int k = 0; k < forms->general->layout->nin; k++)
        eligible[k] = forms->general->layout->operands[k].rank && !(out->use[k] & USE_ATOMIC);
    coalesced_find(&forms->in_interior, eligible, true, &s);
    for (int k = 0; k < s.count; k++)
        out->use[s.of[k].array] |= s.of[k].turned ? USE_TURNED : USE_COALESCED;
    coalesced_rows(&s, &rows, &more);
    out->rows = (uint8_t)rows;
    out->more_rows = (uint8_t)more;
    note_rereads(&forms->in_interior, &s, out);
}

static bool note_pairs(arena *a, const tree *as_written, code_traits *out) {
    const tree *form;
    uint16_t use[UF_MAX_OPERANDS];
    forall_uses(as_written, use);
    if (!pair_tile_form(a, as_written, use, &form))
        return false;
    const node *extent = form ? pair_tile_reduction(form)->args->kid[0] : NULL;
    if (extent && extent->kind == N_SIZE)
        out->pairs = (uint8_t)(extent->dim + 1);
    else if (extent) {
        out->pairs = PAIRS_CONSTANT;
        out->pair_terms = extent->value.as.i;
    }
    return true;
}

/* ---- Extents that may be constants ---- */

static void note_size(const node *n, void *user) {
    uint64_t *sizes = user;
    if (n->kind == N_SIZE)
        *sizes |= UINT64_C(1) << n->dim;
}

static void note_range(const node *n, void *user) {
    if ((n->kind == N_RANGE || n->kind == N_LOOP || n->kind == N_DECLARE) && n->kid[0])
        node_visit(n->kid[0], note_size, user);
}

/* Where there are many of them, they would have too many combinations. */
static uint64_t extents_of(const tree *t, const uint16_t *use) {
    uint64_t gone_over = 0, found = 0;
    int count = 0;
    node_each(t->kernel->body, note_range, &gone_over);
    for (int k = 0; k < t->layout->nin; k++)
        for (int d = 0; d < t->layout->operands[k].rank && !(use[k] & (USE_WRITE | USE_ATOMIC)); d++) {
            uint64_t bit = UINT64_C(1) << t->layout->operands[k].dim[d] & gone_over & ~found;
            found |= bit;
            count += bit != 0;
        }
    return count <= FORALL_KNOWN ? found : 0;
}

bool forall_traits(arena *a, const tree *source, const known_extents *known, code_traits *out) {
    forall_forms forms;
    const tree *as_written = forall_known(a, source, known);
    if (!as_written || !forall_forms_make(a, as_written, known, &forms))
        return false;
    const tree *t = forms.general;
    out->nodes = t->nodes;
    out->has_loop = t->has_loop;
    forall_uses(t, out->use);
    out->extents = extents_of(as_written, out->use);
    note_coalesced(&forms, out);
    for (int k = 0; k < t->layout->nin; k++)
        if ((out->use[k] & (USE_READ | USE_WRITE | USE_ATOMIC)) == USE_WRITE &&
            nontemporal_fills(t, t->layout->nindices - 1, k))
            out->use[k] |= USE_FILLED;
    out->shared_rows = shared_rows_array(t, out->use);
    out->ragged = point_lanes_array(t, out->use);
    if (!note_pairs(a, as_written, out))
        return false;
    for (const function *f = t->functions; f; f = f->next) { /* those of the prelude have this name */
        out->shares_points |= f != t->kernel && !strncmp(f->name, "random_", sizeof "random_" - 1);
        node_each(f->body, find_math, &out->calls_math);
    }
    return true;
}
