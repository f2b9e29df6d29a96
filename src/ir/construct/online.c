/* online.c - see online.h. */
#include "ir/construct/online.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/common/nodes.h"

/* ---- Forms ---- */

struct online_form {
    bool counted;
    /* Is a value that is declared what this form makes of the first? Is an expression a term of its second? index: the local that is the
     * index in it. */
    bool (*declares)(const online *o, const node *value);
    bool (*is_term)(const online *o, const node *n, int index);
    /* What the variable is while the first is this; and see online_correct, online_finish. */
    ssa (*provisional)(body *b, const online *o, online_state now);
    ssa (*correct)(body *b, const online *o, ssa second, online_state before, online_state now);
    ssa (*finish)(body *b, const online *o, ssa second, online_state all);
};

static ssa real_constant(dtype type, double x) { return emit_constant((number){.type = type, .as.f = {x}}, type); }

static dtype type_of(const online *o) { return (dtype)o->first->type; }

static ssa compute(body *b, const online *o, const char *operation, ssa x, ssa y) {
    return emit_value(b->e, "%s %s %s, %s", operation, ir_value_type(type_of(o)), x.text, y.text);
}

/* Is it u - variable? */
static bool is_difference(const online *o, const node *n, int index) {
    return n->kind == N_BINARY && n->op == OP_SUB && n->type == o->first->type && n->kid[1]->kind == N_LOCAL &&
           n->kid[1]->local == o->variable && node_same(n->kid[0], o->first->kid[0], index, o->first->args->local);
}

/* ---- Exponentials below the maximum ---- */

static bool declares_maximum(const online *o, const node *value) {
    return value == o->first && function_is_own(o->first->callee, "max") && o->first->is_identity;
}

static bool is_exponential(const online *o, const node *n, int index) {
    return n->kind == N_MATH && (!strcmp(n->math->name, "exp") || !strcmp(n->math->name, "exp2")) &&
           n->wide == n->type && is_difference(o, n->args, index);
}

static ssa is_bottom(body *b, const online *o, ssa top) {
    return compute(b, o, "fcmp oeq", top, real_constant(type_of(o), -HUGE_VAL));
}

/* Where all terms so far are -infinity, the least finite number is subtracted, so that their exponentials are 0: beside finite terms these
 * count nothing. */
static ssa subtracted(body *b, const online *o, online_state now) {
    double least = type_of(o) == DT_FLOAT32 ? -(double)FLT_MAX : -DBL_MAX;
    return emit_select(b->e, type_of(o), is_bottom(b, o, now.first), real_constant(type_of(o), least), now.first);
}

static ssa scale(body *b, const online *o, ssa second, online_state before, online_state now) {
    ssa gap = compute(b, o, "fsub", subtracted(b, o, before), subtracted(b, o, now));
    return compute(b, o, "fmul", second, emit_math(b->e, o->second->kid[0]->math, type_of(o), &gap));
}

/* If all terms, of which there are some, are -infinity, they are that less itself, NaN. */
static ssa finish_exponentials(body *b, const online *o, ssa second, online_state all) {
    ssa some = emit_value(b->e, "icmp sgt i64 %s, 0", emit_expression(b, o->first->args->kid[0]).text);
    ssa none_finite = emit_op(b->e, "and i1", is_bottom(b, o, all.first), some);
    return emit_select(b->e, type_of(o), none_finite, real_constant(type_of(o), NAN), second);
}

/* ---- Squares of the distances from the mean ---- */

static bool declares_mean(const online *o, const node *value) {
    const node *n = value->kind == N_BINARY && value->op == OP_DIV ? value->kid[1] : NULL;
    return n && value->kid[0] == o->first && !o->first->callee && o->first->op == OP_ADD && n->kind == N_CONVERT &&
           n->kid[0]->kind == N_SIZE && n->kid[0]->dim == o->first->args->kid[0]->dim;
}

/* Is it the helper's parameter times itself? */
static bool is_square(const function *f) {
    const node *n = f->nparams == 1 ? function_returned(f) : NULL;
    return n && n->kind == N_BINARY && n->op == OP_MUL && n->kid[0]->kind == N_LOCAL && n->kid[1]->kind == N_LOCAL &&
           !n->kid[0]->local && !n->kid[1]->local && n->type == f->locals[0].type;
}

static bool is_squared(const online *o, const node *n, int index) {
    if (n->kind == N_CALL)
        return is_square(n->callee) && is_difference(o, n->args, index);
    return n->kind == N_BINARY && n->op == OP_MUL && is_difference(o, n->kid[0], index) &&
           is_difference(o, n->kid[1], index);
}

static ssa mean(body *b, const online *o, online_state now) { return compute(b, o, "fdiv", now.first, now.count); }

/* Where there were no terms, or sums have become infinite, the gap is no number: nothing is added. */
static ssa move(body *b, const online *o, ssa second, online_state before, online_state now) {
    ssa none = real_constant(type_of(o), 0), gap = compute(b, o, "fsub", mean(b, o, before), mean(b, o, now));
    ssa more = compute(b, o, "fmul", before.count, compute(b, o, "fmul", gap, gap));
    ssa some = compute(b, o, "fcmp ord", gap, gap);
    return compute(b, o, "fadd", second, emit_select(b->e, type_of(o), some, more, none));
}

/* Where the mean is no number, no distance from it is. */
static ssa finish_squares(body *b, const online *o, ssa second, online_state all) {
    return emit_select(b->e, type_of(o), compute(b, o, "fcmp uno", all.first, all.first), all.first, second);
}

static const struct online_form forms[] = {
    {false, declares_maximum, is_exponential, subtracted, scale, finish_exponentials},
    {true, declares_mean, is_squared, mean, move, finish_squares},
};

/* ---- Finding a pair ---- */

typedef struct search {
    online pair;
    bool found;
} search;

/* Is it a sum of such terms? */
static bool is_second(const online *o, const node *n) {
    const node *range = n->args;
    return !n->callee && n->op == OP_ADD && n->type == o->first->type && range && !range->next &&
           range->kid[0]->kind == N_SIZE && range->kid[0]->dim == o->first->args->kid[0]->dim &&
           n->kid[0]->type == n->type && o->form->is_term(o, n->kid[0], range->local);
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

/* Looks for the declaration of the variable, and then for the second, in statements that are done one after the other. */
static void search_list(const node *list, search *s) {
    for (const node *n = list; n && !s->found; n = n->next) {
        if (node_is_block(n))
            search_list(n->body, s);
        else if (n->kind == N_DECLARE && n->kid[0] && s->pair.form->declares(&s->pair, n->kid[0]))
            s->pair.variable = n->local;
        else if (s->pair.variable >= 0 && (n->kind == N_DECLARE || n->kind == N_EVAL))
            find_second(n->kid[0], s);
    }
}

/* Would another pass be one over memory? Corrections that divide cost more than one over shared memory. */
static bool reads_memory(const body *b) {
    bool staged = false;
    for (int k = 0; k < b->f->nparams; k++)
        staged |= b->e->frame->v->operand[k].staged;
    return !staged;
}

static bool can_be_first(body *b, const node *n) {
    const variant *v = b->e->frame->v;
    return (!v->gufunc.held || variant_holds_part(v)) && (n->type == DT_FLOAT32 || n->type == DT_FLOAT64) &&
           !n->args->next && n->args->kid[0]->kind == N_SIZE && expression_stays(b, n->kid[0], n->args->local);
}

const online *online_first(body *b, const node *reduce) {
    for (size_t i = 0; i < COUNT(forms) && can_be_first(b, reduce); i++) {
        search s = {.pair = {.form = &forms[i], .first = reduce, .counted = forms[i].counted, .variable = -1}};
        if (!forms[i].counted || reads_memory(b))
            search_list(b->f->body, &s);
        if (!s.found || variable_changes(b, s.pair.variable))
            continue;
        s.pair.next = b->online;
        b->online = arena_alloc(b->e->a, sizeof *b->online);
        *b->online = s.pair;
        return b->online;
    }
    return NULL;
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

void online_suppose(body *b, const online *o, online_state now) {
    const char *type = ir_value_type(type_of(o));
    emit_line(b->e, "store %s %s, %s* %s", type, o->form->provisional(b, o, now).text, type,
              emit_local_slot(b, o->variable).text);
}

ssa online_correct(body *b, const online *o, ssa second, online_state before, online_state now) {
    return o->form->correct(b, o, second, before, now);
}

ssa online_finish(body *b, const online *o, ssa second, online_state all) { return o->form->finish(b, o, second, all); }

ssa online_add(body *b, const online *o, ssa x, ssa y) { return compute(b, o, "fadd", x, y); }
