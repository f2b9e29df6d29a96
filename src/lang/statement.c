/* statement.c - checks statements and declarations. Checking a statement says whether control can reach its end, by
 * which a missing return is found. */
#include <assert.h>

#include "lang/check.h"

/* The end of a list, to which nodes are appended. */
typedef struct appender {
    node **end;
} appender;

static void append(appender *a, node *n) {
    *a->end = n;
    while (*a->end)
        a->end = &(*a->end)->next;
}

static node *evaluate(check *c, node *value, const syn *at) {
    node *n = node_new(c, N_EVAL, DT_NONE, at);
    n->kid[0] = value;
    return n;
}

static bool statement_check(check *c, const syn *s, node **out);

/* ---- Declarations ---- */

/* The items of an initialiser in braces that are not used yet. Braces within it begin a list of their own. */
typedef struct items {
    const syn *next;
} items;

/* The value of an element. */
typedef struct filled {
    node *value;
    const syn *at;
    int64_t element; /* its number, in C order */
    struct filled *next;
} filled;

typedef struct array_fill {
    check *c;
    int slot, rank;
    int64_t extent[LANG_MAX_RANK], index[LANG_MAX_RANK];
    filled *first, **end;
    bool constant; /* every value so far is */
} array_fill;

static void fill_element(array_fill *f, const syn *value) {
    check *c = f->c;
    int made = c->made;
    if (value->kind == S_BRACES)
        check_fail(c, value->at, "{ .. } where one element is initialised");
    filled *e = *f->end = arena_alloc(c->a, sizeof *e);
    *e = (filled){.value = expression_check(c, value), .at = value};
    f->end = &e->next;
    for (int k = 0; k < f->rank; k++)
        e->element = e->element * f->extent[k] + f->index[k];
    f->constant &= e->value->kind == N_CONST;
    if (f->constant)
        c->made = made; /* tables have a limit of their own */
}

/* The statement that initialises an element. */
static node *element_set(array_fill *f, const filled *e) {
    check *c = f->c;
    node *element = node_new(c, N_ELEMENT, c->now->f.locals[f->slot].type, e->at), **end = &element->args;
    int64_t below = 1, index_of[LANG_MAX_RANK];
    element->local = f->slot;
    element->unchecked = true;
    for (int k = f->rank - 1; k >= 0; below *= f->extent[k--])
        index_of[k] = e->element / below % f->extent[k];
    for (int k = 0; k < f->rank; k++) {
        node *index = integer_node(c, index_of[k], DT_INT64, e->at);
        if (f->rank <= 3) {
            element->kid[k] = index;
        } else {
            *end = index;
            end = &index->next;
        }
    }
    return evaluate(c, assign_node(c, element, e->value, e->at), e->at);
}

/* The elements of a table; those without a value are 0. */
static const number *elements_of(array_fill *f, dtype type, size_t at) {
    check *c = f->c;
    int64_t size = table_size(c, type, f->rank, f->extent, at);
    number *values = arena_alloc(c->a, (size_t)size * sizeof *values);
    for (int64_t i = 0; i < size; i++)
        values[i] = (number){.type = type};
    for (const filled *e = f->first; e; e = e->next)
        values[e->element] = convert(c, e->value, type, e->at)->value;
    return values;
}

/* Initialises dimension k and those below it from the items, as C does: an item in braces is one row, and values
 * without braces run on from row to row. */
static void fill(array_fill *f, int k, items *from) {
    for (f->index[k] = 0; f->index[k] < f->extent[k] && from->next; f->index[k]++) {
        const syn *item = from->next;
        if (k == f->rank - 1) {
            from->next = item->next;
            fill_element(f, item);
        } else if (item->kind == S_BRACES) {
            items row = {item->list};
            from->next = item->next;
            fill(f, k + 1, &row);
            if (row.next)
                check_fail(f->c, row.next->at, "more values than the row has elements (%lld)",
                           (long long)f->extent[k + 1]);
        } else {
            fill(f, k + 1, from);
        }
    }
    for (int i = k + 1; i < f->rank; i++)
        f->index[i] = 0;
}

static int64_t extent_check(check *c, const syn *s) {
    node *n = expression_check(c, s);
    if (n->kind != N_CONST || !dtype_is_integer(n->type))
        check_fail(c, s->at, "the extent of an array must be a constant integer");
    if (n->value.as.i <= 0)
        check_fail(c, s->at, "the extent of an array must be at least 1");
    return n->value.as.i;
}

/* The first extent, where the declaration leaves it out: as many rows as the initialiser has values for. */
static int64_t extent_count(check *c, const syn *s, const int64_t *extent, int rank) {
    int64_t below = 1, count = 0, loose = 0;
    for (int k = 1; k < rank; k++)
        below = extent[k] > LANG_MAX_TABLE_BYTES || below > LANG_MAX_TABLE_BYTES ? LANG_MAX_TABLE_BYTES + 1
                                                                                 : below * extent[k];
    for (const syn *item = s->kid[0]->list; item; item = item->next) {
        if (item->kind == S_BRACES && rank > 1) {
            count += 1 + (loose > 0);
            loose = 0;
        } else if (++loose == below) {
            count++;
            loose = 0;
        }
    }
    count += loose > 0;
    if (count == 0)
        check_fail(c, s->kid[0]->at, "an empty initialiser gives the array no extent");
    return count;
}

static void array_declare(check *c, const syn *s, dtype type, node *n) {
    array_fill f = {.c = c, .constant = s->is_const};
    f.end = &f.first;
    for (const syn *e = s->list; e; e = e->next, f.rank++)
        f.extent[f.rank] = e->kind == S_EMPTY ? 0 : extent_check(c, e);
    if (s->list->kind == S_EMPTY)
        f.extent[0] = extent_count(c, s, f.extent, f.rank);
    f.slot = n->local = local_add(c, name_text(c, s->name), type, f.rank, f.extent);
    variable_bind(c, s->name, f.slot)->read_only = s->is_const ? "const" : NULL;
    items from = {s->kid[0] ? s->kid[0]->list : NULL};
    fill(&f, 0, &from);
    if (from.next)
        check_fail(c, from.next->at, "more values than the array has elements");
    if (f.constant) {
        table_make(c, f.slot, elements_of(&f, type, s->at), s->at);
        return;
    }
    appender to = {&n->body};
    local_count(c, f.slot, s->at);
    for (const filled *e = f.first; e; e = e->next)
        append(&to, element_set(&f, e));
}

static void scalar_declare(check *c, const syn *s, dtype type, node *n) {
    variable *v = variable_bind(c, s->name, -1);
    node *value = NULL;
    v->incomplete = true;
    if (s->kid[0]) {
        value = expression_check(c, s->kid[0]);
        if (type == DT_NONE)
            type = value->type;
        n->kid[0] = convert(c, value, type, s->kid[0]);
    }
    v->incomplete = false;
    v->read_only = s->is_const ? "const" : NULL;
    v->local = n->local = local_new(c, name_text(c, s->name), type, 0, NULL, s->at);
}

static void declaration_check(check *c, const syn *s, node **out) {
    const variable *before = c->now->u->bound[s->name];
    if (before && before->owner == c->now && before->depth == c->scope_depth)
        check_fail(c, s->at, "'%s' is declared twice in one block", name_text(c, s->name));
    node *n = *out = node_new(c, N_DECLARE, DT_NONE, s);
    dtype type = named_type(c, s->type, s->of);
    if (s->list)
        array_declare(c, s, type, n);
    else
        scalar_declare(c, s, type, n);
}

/* ---- Branches and loops ---- */

/* Checks a body as a scope of its own. */
static bool body_check(check *c, const syn *s, node **out) {
    variable *outer = c->scope;
    bool ends = statements_check(c, s, out);
    scope_leave(c, outer);
    return ends;
}

static bool is_true(const node *n) { return n && n->kind == N_CONST && n->value.as.u != 0; }
static bool is_false(const node *n) { return n && n->kind == N_CONST && n->value.as.u == 0; }

/* Checks a body that is entered only where a condition is true. */
static bool body_check_if(check *c, const node *condition, const syn *s, node **out) {
    known_mark before = known_here(c);
    condition_assume(c, condition, true);
    bool ends = body_check(c, s, out);
    known_drop(c, before);
    return ends;
}

/* A chain of else if is walked in a loop, so that it does not recurse. If control reaches the end of none of the
 * branches, the conditions are known to be false after the statement. */
static bool if_check(check *c, const syn *s, node **out) {
    known_mark before = known_here(c);
    bool ends = false, decided = false, passed = false;
    for (;;) {
        node *n = *out = node_new(c, N_IF, DT_NONE, s);
        n->kid[0] = condition_check(c, s->kid[0]);
        bool yes = body_check_if(c, n->kid[0], s->body, &n->body), no = true;
        condition_assume(c, n->kid[0], false);
        if (!decided && !is_false(n->kid[0]))
            ends |= yes;
        passed |= yes;
        decided |= is_true(n->kid[0]);
        out = &n->other;
        if (s->other && s->other->kind == S_IF && !s->other->next) {
            s = s->other;
            continue;
        }
        if (s->other)
            no = body_check(c, s->other, out);
        if (passed)
            known_drop(c, before);
        return ends || (!decided && no);
    }
}

/* What is noted about the loop or switch around, kept while an inner one is checked. */
typedef struct nesting {
    int loops, breakables;
    bool broke, continued;
} nesting;

static nesting nesting_enter(check *c, bool loop) {
    nesting outer = {c->loops, c->breakables, c->broke, c->continued};
    c->loops += loop;
    c->breakables++;
    c->broke = false;
    if (loop)
        c->continued = false;
    return outer;
}

static void nesting_leave(check *c, nesting outer, bool loop) {
    c->loops = outer.loops;
    c->breakables = outer.breakables;
    c->broke = outer.broke;
    if (loop)
        c->continued = outer.continued;
}

static bool loop_ends(const check *c, const node *n, bool body_ends) {
    bool forever = !n->kid[0] || is_true(n->kid[0]);
    bool reaches_condition = !n->test_last || body_ends || c->continued;
    return c->broke || (reaches_condition && !forever);
}

static bool while_check(check *c, const syn *s, node **out) {
    node *n = *out = node_new(c, N_LOOP, DT_NONE, s);
    n->test_last = s->kind == S_DO;
    if (!n->test_last)
        n->kid[0] = condition_check(c, s->kid[0]);
    nesting outer = nesting_enter(c, true);
    bool body_ends = n->test_last ? body_check(c, s->body, &n->body) : body_check_if(c, n->kid[0], s->body, &n->body);
    if (n->test_last)
        n->kid[0] = condition_check(c, s->kid[0]);
    if (is_false(n->kid[0]))
        trips_note(n, (trips){1, 0});
    bool ends = loop_ends(c, n, body_ends);
    nesting_leave(c, outer, true);
    return ends;
}

/* The value that the first part of a for gives to the variable that it declares or assigns; NULL: it does something
 * else. */
static const node *loop_start(const node *init) {
    if (!init || init->next)
        return NULL;
    if (init->kind == N_DECLARE)
        return init->kid[0];
    return init->kind == N_EVAL && init->kid[0]->kind == N_ASSIGN ? init->kid[0]->kid[1] : NULL;
}

static bool for_check(check *c, const syn *s, node **out) {
    variable *outer_scope = c->scope;
    known_mark before = known_here(c);
    node *block = *out = node_new(c, N_BLOCK, DT_NONE, s), *n;
    appender to = {&block->body};
    c->scope_depth++;
    for (const syn *init = s->list; init; init = init->next) {
        node *first = NULL;
        statement_check(c, init, &first);
        append(&to, first);
    }
    const node *start = loop_start(block->body);
    append(&to, n = node_new(c, N_LOOP, DT_NONE, s));
    if (s->kid[0])
        n->kid[0] = condition_check(c, s->kid[0]);
    nesting outer = nesting_enter(c, true);
    trips most = {0};
    variable *counter = loop_counter(c, s, n->kid[0], start, &most);
    trips_note(n, most);
    bool body_ends = n->kid[0] ? body_check_if(c, n->kid[0], s->body, &n->body) : body_check(c, s->body, &n->body);
    bool ends = loop_ends(c, n, body_ends);
    if (counter)
        counter->known = 0;
    known_drop(c, before);
    nesting_leave(c, outer, true);
    appender steps = {&n->step};
    for (const syn *step = s->kid[1]; step; step = step->next)
        append(&steps, evaluate(c, expression_check(c, step->kid[0]), step));
    c->scope_depth--;
    scope_leave(c, outer_scope);
    if (!s->list)
        *out = n;
    return ends;
}

/* A forall: no jump in its body may leave it, and it may assign only variables that were declared in it. */
static void forall_check(check *c, const syn *s, node **out) {
    variable *outer_scope = c->scope;
    const check around = *c;
    known_mark before = known_here(c);
    node *n = *out = node_new(c, N_FORALL, DT_NONE, s);
    c->scope_depth++;
    ranges_check(c, s->list, &n->args);
    nesting outer = nesting_enter(c, true);
    c->loops = c->breakables = 0;
    c->parallel = true;
    c->forall_first = c->now->f.nlocals;
    body_check(c, s->body, &n->body);
    c->parallel = around.parallel;
    c->forall_first = around.forall_first;
    known_drop(c, before);
    nesting_leave(c, outer, true);
    c->scope_depth--;
    scope_leave(c, outer_scope);
}

/* ---- switch ---- */

static void case_check(check *c, const syn *s, node *n, dtype promoted, const node *body) {
    n->is_default = !s->kid[0];
    n->value.type = promoted == DT_UINT64 ? DT_UINT64 : DT_INT64;
    if (s->kid[0]) {
        node *value = expression_check(c, s->kid[0]);
        if (value->kind != N_CONST || (value->type != DT_BOOL && !dtype_is_integer(value->type)))
            check_fail(c, s->kid[0]->at, "the value of a case must be a constant integer");
        value = convert(c, value, promoted, s);
        n->value = convert(c, value, (dtype)n->value.type, s)->value;
    }
    for (const node *other = body; other != n; other = other->next) {
        if (other->kind != N_CASE || other->is_default != n->is_default)
            continue;
        if (n->is_default)
            check_fail(c, s->at, "the switch has two defaults");
        if (other->value.as.u == n->value.as.u)
            check_fail(c, s->at, "the switch has two cases for %lld", (long long)n->value.as.i);
    }
}

static bool switch_check(check *c, const syn *s, node **out) {
    node *n = *out = node_new(c, N_SWITCH, DT_NONE, s), *value = expression_check(c, s->kid[0]);
    if (value->type != DT_BOOL && !dtype_is_integer(value->type)) {
        char words[32];
        check_fail(c, s->kid[0]->at, "switch needs an integer, got %s", type_text(value, words));
    }
    dtype promoted = dtype_promoted(value->type);
    n->kid[0] = convert(c, value, promoted == DT_UINT64 ? DT_UINT64 : DT_INT64, s);
    variable *outer_scope = c->scope;
    nesting outer = nesting_enter(c, false);
    appender to = {&n->body};
    bool has_default = false, ends = false;
    c->scope_depth++;
    for (const syn *part = s->list; part; part = part->next) {
        node *first = NULL;
        known_mark before = known_here(c); /* control may reach the next part by a label, where this is not known */
        if (part->kind == S_CASE) {
            append(&to, first = node_new(c, N_CASE, DT_NONE, part));
            case_check(c, part, first, promoted, n->body);
            has_default |= first->is_default;
            ends = true;
        } else {
            ends &= statement_check(c, part, &first);
            append(&to, first);
        }
        known_drop(c, before);
    }
    c->scope_depth--;
    scope_leave(c, outer_scope);
    ends |= c->broke || !has_default;
    nesting_leave(c, outer, false);
    return ends;
}

/* ---- Jumps ---- */

static void return_check(check *c, const syn *s, node **out) {
    instance *i = c->now;
    if (c->parallel)
        check_fail(c, s->at, "return cannot leave a forall");
    node *n = node_new(c, N_RETURN, DT_NONE, s);
    bool is_kernel = i->def->name == NO_NAME;
    if (!i->f.nresults && s->kid[0])
        check_fail(c, s->kid[0]->at, "a kernel over indices has no result: assign elements, then 'return;'");
    if (i->def->noutputs || !i->f.nresults) {
        if (s->kid[0])
            check_fail(c, s->kid[0]->at, "the outputs have names: assign them, then 'return;'");
        *out = n;
        return;
    }
    if (!s->kid[0])
        check_fail(c, s->at, "return needs a value: %s",
                   is_kernel ? "the kernel has one unnamed output" : "helpers have one");
    node *lvalue = local_node(c, i->f.nparams, s), *value = expression_check(c, s->kid[0]), *assign;
    if (lvalue->type != DT_NONE) {
        assign = assign_node(c, lvalue, value, s);
    } else {
        assign = node_new(c, N_ASSIGN, DT_NONE, s);
        assign->kid[0] = lvalue;
        assign->kid[1] = value;
        pending *p = arena_alloc(c->a, sizeof *p);
        *p = (pending){assign, s->at, i->returns};
        i->returns = p;
    }
    i->returned = true;
    *out = evaluate(c, assign, s);
    (*out)->next = n;
}

static void leave_check(check *c, const syn *s, node **out) {
    bool is_break = s->kind == S_BREAK;
    bool outside = is_break ? !c->breakables : !c->loops;
    if (outside && c->parallel)
        check_fail(c, s->at, "%s cannot leave a forall; each of its iterations runs to its end",
                   is_break ? "break" : "continue");
    if (outside)
        check_fail(c, s->at,
                   is_break ? "break stands outside of every loop and switch"
                            : "continue stands outside of every loop");
    if (is_break)
        c->broke = true;
    else
        c->continued = true;
    *out = node_new(c, is_break ? N_BREAK : N_CONTINUE, DT_NONE, s);
}

/* ---- */

static bool statement_check(check *c, const syn *s, node **out) {
    switch (s->kind) {
    case S_EVALUATE:
        if (is_assert(c, s->kid[0]))
            *out = assert_check(c, s->kid[0]);
        else if (s->kid[0])
            *out = evaluate(c, expression_check(c, s->kid[0]), s);
        return true;
    case S_DECLARE:
        declaration_check(c, s, out);
        return true;
    case S_BLOCK:
        *out = node_new(c, N_BLOCK, DT_NONE, s);
        return body_check(c, s->list, &(*out)->body);
    case S_IF:
        return if_check(c, s, out);
    case S_FOR:
        return for_check(c, s, out);
    case S_WHILE:
    case S_DO:
        return while_check(c, s, out);
    case S_SWITCH:
        return switch_check(c, s, out);
    case S_FORALL:
        forall_check(c, s, out);
        return true;
    case S_RETURN:
        return_check(c, s, out);
        return false;
    default:
        assert(s->kind == S_BREAK || s->kind == S_CONTINUE);
        leave_check(c, s, out);
        return false;
    }
}

bool statements_check(check *c, const syn *list, node **out) {
    appender to = {out};
    known_mark before = known_here(c);
    bool ends = true;
    c->scope_depth++;
    for (const syn *s = list; s; s = s->next) {
        node *first = NULL;
        ends &= statement_check(c, s, &first);
        append(&to, first);
        if (s->kind == S_DECLARE && first->kid[0] && !name_assigned(s->next, s->name))
            value_known(c, c->now->u->bound[s->name], first->kid[0]);
    }
    c->scope_depth--;
    known_drop(c, before);
    return ends;
}
