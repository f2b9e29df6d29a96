/* guards.c - conditions on the last index that become limits of a row's loop: see guards.h. */
#include "ir/forall/guards.h"

#include "ir/common/nodes.h"
#include "ir/forall/forall.h"

typedef struct finder {
    const tree *t;
    int index; /* local number of the last index */
    guards *out;
} finder;

static bool is_index(const finder *f, const node *n) { return n->kind == N_LOCAL && n->local == f->index; }

/* Parameters that are assigned need no care: guards stand in front of every statement. */
bool guards_fixed(const tree *t, int index, const node *n) {
    if (!dtype_is_integer((dtype)n->type))
        return false;
    switch (n->kind) {
    case N_CONST:
    case N_SIZE:
        return true;
    case N_LOCAL:
        return n->local < t->kernel->nparams && n->local != index;
    case N_CONVERT:
        return guards_fixed(t, index, n->kid[0]);
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL) && guards_fixed(t, index, n->kid[0]) &&
               guards_fixed(t, index, n->kid[1]);
    default:
        return false;
    }
}

static bool is_fixed(const finder *f, const node *n) { return guards_fixed(f->t, f->index, n); }

static bool is_relation(const node *n) {
    return n->kind == N_BINARY && (ops[n->op].kind == 'R' || ops[n->op].kind == 'E');
}

static bool limits_index(const finder *f, const node *n, bool holds) {
    bool left = is_index(f, n->kid[0]) && is_fixed(f, n->kid[1]);
    bool right = is_index(f, n->kid[1]) && is_fixed(f, n->kid[0]);
    return (left || right) && n->op != (holds ? OP_NE : OP_EQ);
}

static void find_change(const node *n, void *user) {
    bool *found = user;
    *found |=
        n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE || n->kind == N_ATOMIC || node_assigned(n);
}

static bool changes_nothing(const node *n) {
    bool found = false;
    node_visit(n, find_change, &found);
    return !found;
}

/* Finds the parts of "a && b && ..", which all hold (holds), or of "a || b || ..", none of which holds. */
static void find_in(const finder *f, const node *n, bool holds) {
    guards *g = f->out;
    if (n->kind == (holds ? N_AND : N_OR)) {
        find_in(f, n->kid[0], holds);
        find_in(f, n->kid[1], holds);
    } else if (is_relation(n) && g->count < GUARDS_MOST) {
        bool fixed = is_fixed(f, n->kid[0]) && is_fixed(f, n->kid[1]);
        if (fixed || limits_index(f, n, holds))
            g->of[g->count++] = (guard){n, holds};
    }
}

void guards_find(const tree *t, int last, guards *out) {
    finder f = {t, t->kernel->nparams - t->layout->nindices + last, out};
    const node *n = t->kernel->body;
    out->count = 0;
    if (!n || n->kind != N_IF || n->other || !changes_nothing(n->kid[0]))
        return;
    if (!n->next || n->next->kind == N_RETURN)
        find_in(&f, n->kid[0], true);
    else if (n->body && n->body->kind == N_RETURN)
        find_in(&f, n->kid[0], false);
}

const guard *guards_get(const guards *g, const node *n) {
    for (int i = 0; i < g->count; i++)
        if (g->of[i].n == n)
            return &g->of[i];
    return NULL;
}

bool guards_recall(const guards *g, const node *n, ssa *value) {
    const guard *found = guards_get(g, n);
    if (found)
        *value = ssa_bool(found->holds);
    return found;
}

/* Are all parts of a condition guards? */
static bool decides(const guards *g, const node *n, bool holds) {
    if (n->kind == (holds ? N_AND : N_OR))
        return decides(g, n->kid[0], holds) && decides(g, n->kid[1], holds);
    return guards_get(g, n) != NULL;
}

bool guards_decide(const guards *g, const node *n) {
    return g->count && n->kind == N_IF && decides(g, n->kid[0], g->of[0].holds);
}

/* ---- Code ---- */

static ssa most(emit *e, ssa a, ssa b) { return emit_select_as(e, "i64", emit_op(e, "icmp sgt i64", a, b), a, b); }

/* Narrows *first .. *limit - 1 to the indices of which "index o value" is true. */
static void limit_by(emit *e, op o, ssa value, ssa *first, ssa *limit) {
    ssa after = ssa_none();
    if (o == OP_LE || o == OP_GT || o == OP_EQ)
        after = emit_value(e, "add i64 %s, 1", emit_min(e, value, emit_value(e, "add i64 %s, -1", limit->text)).text);
    if (o == OP_GT || o == OP_GE || o == OP_EQ)
        *first = most(e, *first, o == OP_GT ? after : value);
    if (o == OP_LT || o == OP_LE || o == OP_EQ)
        *limit = emit_min(e, *limit, o == OP_LT ? value : after);
}

void guards_narrow(const forall_writer *w, const guards *g, const ssa *index, ssa *first, ssa *limit) {
    emit *e = w->g.s.e;
    int last = w->g.s.v->nin + w->g.s.v->ndim - 1;
    for (int i = 0; i < g->count; i++) {
        const node *n = g->of[i].n;
        bool left = n->kid[0]->kind == N_LOCAL && n->kid[0]->local == last;
        bool right = n->kid[1]->kind == N_LOCAL && n->kid[1]->local == last;
        if (left || right) {
            op o = left ? (op)n->op : op_mirrored((op)n->op);
            limit_by(e, g->of[i].holds ? o : op_inverse(o), forall_value(w, index, n->kid[left]), first, limit);
            continue;
        }
        ssa here = forall_value(w, index, n);
        *limit = g->of[i].holds ? emit_select_as(e, "i64", here, *limit, *first)
                                : emit_select_as(e, "i64", here, *first, *limit);
    }
}
