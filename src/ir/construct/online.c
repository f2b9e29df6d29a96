/* online.c - see online.h. */
#include "ir/construct/online.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/common/nodes.h"

/* ---- Finding a pair ---- */

/* Is every value in an expression the same whenever it is computed, but for the variable of a range? */
static bool is_steady(body *b, const node *n, int variable) {
    for (; n; n = n->next) {
        switch (n->kind) {
        case N_LOCAL:
            if (n->local != variable && variable_changes(b, n->local))
                return false;
            break;
        case N_ELEMENT:
            if (n->local >= b->f->nparams)
                return false;
            break;
        case N_CONST:
        case N_SIZE:
        case N_CONVERT:
        case N_UNARY:
        case N_BINARY:
        case N_SELECT:
        case N_MATH:
        case N_CALL:
            break;
        default:
            return false;
        }
        for (int k = 0; k < 3; k++)
            if (n->kid[k] && !is_steady(b, n->kid[k], variable))
                return false;
        if (n->args && !is_steady(b, n->args, variable))
            return false;
    }
    return true;
}

static bool is_maximum(const node *n) {
    const function *f = n->callee; /* the language's own */
    return n->kind == N_REDUCE && f && f->body && !f->body->line && !strcmp(f->name, "max") && n->is_identity &&
           (n->type == DT_FLOAT32 || n->type == DT_FLOAT64) && n->args && !n->args->next &&
           n->args->kid[0]->kind == N_SIZE;
}

typedef struct search {
    online pair;
    bool found;
} search;

/* Is it exp or exp2 of u - variable, where u is the first one's term at the index that is local `index`? */
static bool is_term(const online *o, const node *n, int index) {
    if (n->kind != N_MATH || n->type != o->first->type || n->wide != n->type ||
        (strcmp(n->math->name, "exp") && strcmp(n->math->name, "exp2")))
        return false;
    const node *less = n->args;
    return less->kind == N_BINARY && less->op == OP_SUB && less->kid[1]->kind == N_LOCAL &&
           less->kid[1]->local == o->variable &&
           node_same(less->kid[0], o->first->kid[0], index, o->first->args->local);
}

/* Is it a sum of such terms? */
static bool is_second(const online *o, const node *n) {
    const node *range = n->args;
    return !n->callee && n->op == OP_ADD && range && !range->next && range->kid[0]->kind == N_SIZE &&
           range->kid[0]->dim == o->first->args->kid[0]->dim && is_term(o, n->kid[0], range->local);
}

/* Looks for it in what is evaluated whatever values there are. */
static void find_second(const node *n, search *s) {
    if (!n || s->found)
        return;
    if (n->kind == N_REDUCE) {
        s->found = is_second(&s->pair, n);
        s->pair.second = n;
        return;
    }
    bool some = n->kind == N_SELECT || n->kind == N_AND || n->kind == N_OR;
    for (int k = 0; k < (some ? 1 : 3); k++)
        find_second(n->kid[k], s);
    for (const node *a = n->args; a && n->kind != N_FORALL; a = a->next)
        find_second(a, s);
}

/* Looks for the declaration of the first one's variable, and then for the second, in statements that are done one after the other. */
static void search_list(const node *list, search *s) {
    for (const node *n = list; n && !s->found; n = n->next) {
        if (node_is_block(n))
            search_list(n->body, s);
        else if (n->kind == N_DECLARE && n->kid[0] == s->pair.first)
            s->pair.variable = n->local;
        else if (s->pair.variable >= 0 && (n->kind == N_DECLARE || n->kind == N_EVAL))
            find_second(n->kid[0], s);
    }
}

const online *online_first(body *b, const node *reduce) {
    search s = {.pair = {.first = reduce, .variable = -1}};
    if (b->e->frame->v->gufunc.held || !is_maximum(reduce) || !is_steady(b, reduce->kid[0], reduce->args->local))
        return NULL;
    search_list(b->f->body, &s);
    if (!s.found || variable_changes(b, s.pair.variable))
        return NULL;
    s.pair.next = b->online;
    b->online = arena_alloc(b->e->a, sizeof *b->online);
    *b->online = s.pair;
    return b->online;
}

void online_found(body *b, ssa second) { b->online->found = second; }

bool online_recall(const body *b, const node *reduce, ssa *value) {
    const online *o = b->online;
    while (o && o->second != reduce)
        o = o->next;
    if (o)
        *value = o->found;
    return o != NULL;
}

/* ---- Computing it ---- */

static ssa real_constant(dtype type, double x) { return emit_constant((number){.type = type, .as.f = {x}}, type); }

/* What is subtracted while the first is this. Where all terms so far are -infinity, it is the least finite number, so that their
 * exponentials are 0: beside finite terms these count nothing. */
static ssa subtracted(body *b, const online *o, ssa first) {
    dtype type = (dtype)o->first->type;
    ssa none =
        emit_value(b->e, "fcmp oeq %s %s, %s", ir_value_type(type), first.text, real_constant(type, -HUGE_VAL).text);
    return emit_select(b->e, type, none, real_constant(type, type == DT_FLOAT32 ? -(double)FLT_MAX : -DBL_MAX), first);
}

void online_suppose(body *b, const online *o, ssa first) {
    const char *type = ir_value_type((dtype)o->first->type);
    emit_line(b->e, "store %s %s, %s* %s", type, subtracted(b, o, first).text, type,
              emit_local_slot(b, o->variable).text);
}

ssa online_correct(body *b, const online *o, ssa second, ssa before, ssa now) {
    dtype type = (dtype)o->first->type;
    const char *t = ir_value_type(type);
    ssa gap = emit_value(b->e, "fsub %s %s, %s", t, subtracted(b, o, before).text, subtracted(b, o, now).text);
    ssa ratio = emit_math(b->e, o->second->kid[0]->math, type, &gap);
    return emit_value(b->e, "fmul %s %s, %s", t, second.text, ratio.text);
}

/* If all terms, of which there are some, are -infinity, they are that less itself, NaN. */
ssa online_finish(body *b, const online *o, ssa second, ssa first) {
    dtype type = (dtype)o->first->type;
    const char *t = ir_value_type(type);
    ssa all = emit_value(b->e, "fcmp oeq %s %s, %s", t, first.text, real_constant(type, -HUGE_VAL).text);
    ssa n = emit_expression(b, o->first->args->kid[0]);
    ssa some = emit_value(b->e, "icmp sgt i64 %s, 0", n.text);
    return emit_select(b->e, type, emit_op(b->e, "and i1", all, some), real_constant(type, NAN), second);
}
