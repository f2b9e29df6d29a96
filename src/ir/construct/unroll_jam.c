/* unroll_jam.c - see unroll_jam.h. Two instances share a load if everything that its address depends on is the same in both. */
#include "ir/construct/unroll_jam.h"

#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/common/skeleton.h"

/* The outer instance that instance i is of. */
static int outer_of(const jam *t, int i) { return t->fixed >= 0 ? t->fixed : i / (t->count / t->outer->count); }

jam *jam_begin(body *b, int count, bool of_each) {
    assert(count > 0 && (!of_each || !b->jam || count % b->jam->count == 0)); /* each outer instance has as many */
    arena *a = b->e->a;
    jam *t = arena_alloc(a, sizeof *t);
    t->outer = b->jam;
    t->count = count;
    t->fixed = t->outer && !of_each ? t->outer->now : -1;
    t->own = t->outer ? t->outer->own : arena_alloc(a, (size_t)b->f->nlocals);
    t->within = t->outer ? t->outer->within : arena_alloc(a, (size_t)b->f->nlocals);
    b->jam = t;
    return t;
}

void jam_end(body *b) {
    jam *t = b->jam;
    for (int v = 0; v < t->nvariables; v++)
        b->bound[t->variable[v].local] = ssa_none();
    b->jam = t->outer;
}

jam_variable *jam_add(body *b, jam *t, int variable, int width) {
    arena *a = b->e->a;
    size_t n = (size_t)t->count;
    assert(t->nvariables < JAM_VARIABLES); /* the traits do not map constructs with more ranges to threads */
    jam_variable *v = &t->variable[t->nvariables++];
    *v = (jam_variable){.local = variable,
                        .width = width,
                        .value = arena_alloc(a, n * sizeof *v->value),
                        .base = arena_alloc(a, n * sizeof *v->base),
                        .lane = arena_alloc(a, n * sizeof *v->lane)};
    return v;
}

static void bind(body *b, jam *t, int i) {
    t->now = i;
    for (int v = 0; v < t->nvariables; v++)
        b->bound[t->variable[v].local] = t->variable[v].value[i];
    if (t->outer)
        bind(b, t->outer, outer_of(t, i));
}

void jam_now(body *b, int i) {
    assert(i >= 0 && i < b->jam->count);
    bind(b, b->jam, i);
}

fragment jam_suffix(const body *b, int variable) {
    const jam *t = b->jam;
    while (t && t->outer)
        t = t->outer;
    return t && t->own[variable] && t->now ? fragment_of("_%d", t->now) : fragment_none();
}

/* ---- What is known ---- */

void jam_know(body *b, const node *n, ssa *value) {
    known_values *k = arena_alloc(b->e->a, sizeof *k);
    *k = (known_values){n, value, b->jam->known};
    b->jam->known = k;
}

void jam_forget(body *b) { b->jam->known = NULL; }

bool jam_recall(const body *b, const node *n, ssa *value) {
    for (const jam *t = b->jam; t; t = t->outer)
        for (const known_values *k = t->known; k; k = k->next)
            if (k->of == n && ssa_is_set(k->value[t->now])) {
                *value = k->value[t->now];
                return true;
            }
    return false;
}

/* ---- What depends on what ---- */

static bool depends_list(const node *list, int variable);

bool jam_depends(const node *n, int variable) {
    if (!n)
        return false;
    if ((n->kind == N_LOCAL || n->kind == N_ELEMENT) && n->local == variable)
        return true;
    for (int k = 0; k < 3; k++)
        if (jam_depends(n->kid[k], variable))
            return true;
    return depends_list(n->args, variable) || depends_list(n->body, variable) || depends_list(n->other, variable) ||
           depends_list(n->step, variable);
}

static bool depends_list(const node *list, int variable) {
    for (; list; list = list->next)
        if (jam_depends(list, variable))
            return true;
    return false;
}

/* Does n depend on a variable of the body, of which each outermost instance has its own? */
static bool depends_on_own(const body *b, const jam *t, const node *n) {
    for (int k = 0; k < b->f->nlocals; k++)
        if (t->own[k] && jam_depends(n, k))
            return true;
    return false;
}

bool jam_varies(const body *b, const node *n) {
    for (const jam *t = b->jam; t; t = t->outer)
        for (int v = 0; v < t->nvariables; v++)
            if (jam_depends(n, t->variable[v].local))
                return true;
    return b->jam && depends_on_own(b, b->jam, n);
}

/* Has n the same value in instances i and j? Of the variable `but`, if it is not NULL, only the base must be the same. */
static bool same(const body *b, const jam *t, const node *n, int i, int j, const jam_variable *but) {
    for (int v = 0; v < t->nvariables; v++) {
        const jam_variable *var = &t->variable[v];
        const ssa *what = var == but ? var->base : var->value;
        if (jam_depends(n, var->local) && !ssa_same(&what[i], &what[j]))
            return false;
    }
    if (t->outer)
        return same(b, t->outer, n, outer_of(t, i), outer_of(t, j), but);
    return i == j || !depends_on_own(b, t, n);
}

/* ---- Elements of core operands ---- */

const jam_variable *jam_along(const body *b, const node *n) {
    const local *l = &b->f->locals[n->local];
    const variant *chosen = b->e->frame->v;
    int unit = chosen->operand[n->local].unit;
    if (!unit || !n->unchecked || (chosen->operand[n->local].staged && !chosen->gufunc.coop))
        return NULL;
    const node *last = element_index(n, l->rank, unit - 1);
    for (const jam *t = b->jam; t; t = t->outer)
        for (int v = 0; v < t->nvariables; v++) {
            const jam_variable *var = &t->variable[v];
            if (var->width == 1 || last->kind != N_LOCAL || last->local != var->local)
                continue;
            for (int d = 0; d < l->rank; d++)
                if (d != unit - 1 && jam_depends(element_index(n, l->rank, d), var->local))
                    return NULL;
            return var;
        }
    return NULL;
}

static int lane_of(const jam *t, const jam_variable *var, int i) {
    for (; t; i = t->outer ? outer_of(t, i) : 0, t = t->outer)
        for (int v = 0; v < t->nvariables; v++)
            if (&t->variable[v] == var)
                return var->lane[i];
    return 0;
}

/* Loads an element for all instances: once for those that share it, and by a vector where instances are neighbours. */
static void load_element(body *b, const node *n) {
    jam *t = b->jam;
    const jam_variable *along = jam_along(b, n);
    ssa *value = arena_alloc(b->e->a, (size_t)t->count * sizeof *value);
    ssa **vector = arena_alloc(b->e->a, (size_t)t->count * sizeof *vector);
    for (int i = 0; i < t->count; i++) {
        int j = 0;
        while (j < i && !same(b, t, n, j, i, NULL))
            j++;
        if (j < i) {
            value[i] = value[j];
            continue;
        }
        int lane = along ? lane_of(t, along, i) : 0;
        for (j = 0; along && j < i && !(vector[j] && same(b, t, n, j, i, along));)
            j++;
        jam_now(b, i);
        if (along && j < i) {
            value[i] = vector[j][lane];
        } else if (along && lane == 0) {
            vector[i] = emit_core_vector(b, n, along->width);
            value[i] = vector[i][0];
        } else {
            value[i] = emit_expression(b, n);
        }
    }
    jam_know(b, n, value);
}

static bool is_plain(const node *n) {
    if (!n)
        return true;
    if (n->kind != N_CONST && n->kind != N_LOCAL && n->kind != N_SIZE && n->kind != N_BINARY && n->kind != N_CONVERT)
        return false;
    return is_plain(n->kid[0]) && is_plain(n->kid[1]) && is_plain(n->kid[2]);
}

static bool has_plain_indices(const body *b, const node *n) {
    int rank = b->f->locals[n->local].rank;
    for (int d = 0; d < rank; d++)
        if (!is_plain(element_index(n, rank, d)))
            return false;
    return true;
}

bool jam_is_early(const body *b, const node *n) {
    for (int k = 0; k < b->f->nlocals; k++)
        if (b->jam->within[k] && jam_depends(n, k))
            return false;
    return true;
}

void jam_enter(body *b, const node *list) {
    for (const node *s = list; s; s = s->next)
        if (s->kind == N_DECLARE)
            b->jam->within[s->local] = true;
        else if (s->kind == N_BLOCK || s->kind == N_INLINE)
            jam_enter(b, s->body);
}

/* What the statements of a sequence assign to its variables, unless only some instances get there. */
static void load_statements(body *b, const node *list) {
    for (const node *s = list; s; s = s->next)
        if (node_is_block(s))
            load_statements(b, s->body);
        else if (s->kind == N_DECLARE)
            jam_load(b, s->kid[0]);
        else if (s->kind == N_EVAL && node_assigned(s->kid[0]))
            jam_load(b, s->kid[0]->kind == N_CALL ? s->kid[0] : s->kid[0]->kid[1]);
}

static void load_sequence(body *b, const node *n) {
    jam_enter(b, n->body);
    load_statements(b, n->body);
    jam_load(b, n->kid[0]);
}

void jam_load(body *b, const node *n) {
    if (!n || n->kind == N_REDUCE)
        return;
    if (n->kind == N_SEQUENCE) {
        load_sequence(b, n);
        return;
    }
    if (n->kind == N_ELEMENT) {
        ssa held;
        if (b->f->locals[n->local].core && n->unchecked && has_plain_indices(b, n) && jam_is_early(b, n) &&
            !(b->hooks && b->hooks->recall && b->hooks->recall(b, n, &held)))
            load_element(b, n);
        return;
    }
    jam_load(b, n->kid[0]);
    if (n->kind != N_AND && n->kind != N_OR && n->kind != N_SELECT)
        for (int k = 1; k < 3; k++)
            jam_load(b, n->kid[k]);
    for (const node *a = n->args; a; a = a->next)
        jam_load(b, a);
}
