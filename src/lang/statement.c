/* statement.c - checks statements and declarations. Checking a statement says whether control can reach its end, by
 * which a missing return is found. */
#include <assert.h>

#include "lang/check.h"

void append(appender *a, node *n) {
    *a->end = n;
    while (*a->end)
        a->end = &(*a->end)->next;
}

node *evaluate(check *c, node *value, const syn *at) {
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
    const record *record; /* of the elements, which then have an array for each leaf from slot on; NULL: scalars */
    int64_t extent[LANG_MAX_RANK], index[LANG_MAX_RANK];
    filled *first, **end;
    bool constant; /* every value so far is */
} array_fill;

static node *element_value(array_fill *f, const syn *value) {
    check *c = f->c;
    if (f->record && value->kind == S_BRACES)
        return braces_check(c, value, f->record);
    if (value->kind == S_BRACES)
        check_fail(c, value->at, "{ .. } where one element is initialised");
    if (f->record)
        return value_convert(c, value_check(c, value), (value_type){DT_NONE, f->record}, false, value);
    return expression_check(c, value);
}

static bool is_constant(const node *n) {
    bool all = n->kind == N_CONST || (n->kind == N_RECORD && !n->body);
    for (const node *leaf = n->kind == N_RECORD ? n->args : NULL; leaf; leaf = leaf->next)
        all &= leaf->kind == N_CONST;
    return all;
}

static void fill_element(array_fill *f, const syn *value) {
    check *c = f->c;
    int made = c->made;
    filled *e = *f->end = arena_alloc(c->a, sizeof *e);
    *e = (filled){.value = element_value(f, value), .at = value};
    f->end = &e->next;
    for (int k = 0; k < f->rank; k++)
        e->element = e->element * f->extent[k] + f->index[k];
    f->constant &= is_constant(e->value);
    if (f->constant)
        c->made = made; /* tables have a limit of their own */
}

/* The value of leaf i of an element. */
static node *leaf_value(array_fill *f, const filled *e, int i) {
    return f->record ? record_leaf_node(f->c, e->value, i) : e->value;
}

/* The statement that initialises leaf i of an element. */
static node *element_set(array_fill *f, const filled *e, int i) {
    check *c = f->c;
    node *element = node_new(c, N_ELEMENT, c->now->f.locals[f->slot + i].type, e->at), **end = &element->args;
    int64_t below = 1, index_of[LANG_MAX_RANK];
    element->local = f->slot + i;
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
    return evaluate(c, assign_node(c, element, leaf_value(f, e, i), e->at), e->at);
}

/* The elements of a table; those without a value are 0. */
static const number *elements_of(array_fill *f, int leaf, size_t at) {
    check *c = f->c;
    dtype type = c->now->f.locals[f->slot + leaf].type;
    int64_t size = table_size(c, type, f->rank, f->extent, at);
    number *values = arena_alloc(c->a, (size_t)size * sizeof *values);
    for (int64_t i = 0; i < size; i++)
        values[i] = (number){.type = type};
    for (const filled *e = f->first; e; e = e->next)
        values[e->element] = convert(c, leaf_value(f, e, leaf), type, e->at)->value;
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

int64_t constant_extent(check *c, const syn *s) {
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

/* Declares the locals of an array, one for each leaf of a record, and finds its elements. */
static void array_begin(array_fill *f, const syn *s, value_type type) {
    check *c = f->c;
    f->end = &f->first;
    f->constant = s->is_const;
    f->record = type.record;
    for (const syn *e = s->list; e; e = e->next, f->rank++)
        f->extent[f->rank] = e->kind == S_EMPTY ? 0 : constant_extent(c, e);
    if (s->list->kind == S_EMPTY)
        f->extent[0] = extent_count(c, s, f->extent, f->rank);
    f->slot = c->now->f.nlocals;
    for (int i = 0; i < value_leaves(type); i++)
        local_add(c, name_text(c, s->name), value_leaf(type, i), f->rank, f->extent);
    variable *v = variable_bind(c, s->name, f->slot);
    v->read_only = s->is_const ? "const" : NULL;
    v->record = type.record;
    items from = {s->kid[0] ? s->kid[0]->list : NULL};
    fill(f, 0, &from);
    if (from.next)
        check_fail(c, from.next->at, "more values than the array has elements");
}

static void tables_make(array_fill *f, value_type type, size_t at) {
    for (int i = 0; i < value_leaves(type); i++)
        table_make(f->c, f->slot + i, elements_of(f, i, at), at);
}

static void array_declare(check *c, const syn *s, value_type type, node *n) {
    array_fill f = {.c = c};
    array_begin(&f, s, type);
    appender to = {&n->body}, all = {&n->next};
    n->local = f.slot;
    for (int i = 1; i < value_leaves(type); i++) {
        node *leaf = node_new(c, N_DECLARE, DT_NONE, s);
        leaf->local = f.slot + i;
        append(&all, leaf);
    }
    if (f.constant) {
        tables_make(&f, type, s->at);
        return;
    }
    for (int i = 0; i < value_leaves(type); i++)
        local_count(c, f.slot + i, s->at);
    for (const filled *e = f.first; e; e = e->next) {
        append(f.record ? &all : &to, f.record ? e->value->body : NULL);
        for (int i = 0; i < value_leaves(type); i++)
            append(f.record ? &all : &to, element_set(&f, e, i));
    }
}

const local *table_declare(check *c, const syn *s, dtype type) {
    array_fill f = {.c = c};
    array_begin(&f, s, value_scalar(type));
    for (const filled *e = f.first; e; e = e->next)
        if (!is_constant(e->value))
            check_fail(c, e->at->at, "the elements of a table of file scope must be constant");
    tables_make(&f, value_scalar(type), s->at);
    return &c->now->f.locals[f.slot];
}

/* A scalar or a record. */
static void value_declare(check *c, const syn *s, value_type type, node **out) {
    variable *v = variable_bind(c, s->name, -1);
    appender to = {out};
    node *value = NULL;
    v->incomplete = true;
    if (s->kid[0] && s->kid[0]->kind == S_BRACES) {
        if (!type.record)
            check_fail(c, s->kid[0]->at, "{ .. } initialises arrays and records; this is %s", value_text(type));
        value = braces_check(c, s->kid[0], type.record);
    } else if (s->kid[0]) {
        value = value_check(c, s->kid[0]);
        if (s->is_const && !s->to && value->kind == N_CONST && value->weak)
            v->stands_for = value;
        type = type.record || type.type != DT_NONE ? type : node_type(value);
        value = v->stands_for ? value : value_convert(c, value, type, false, s->kid[0]);
    }
    v->incomplete = false;
    v->read_only = s->is_const ? "const" : NULL;
    if (v->stands_for)
        return;
    v->record = type.record;
    v->local = c->now->f.nlocals;
    for (int i = 0; i < value_leaves(type); i++)
        local_new(c, name_text(c, s->name), value_leaf(type, i), 0, NULL, s->at);
    if (value && type.record)
        append(&to, value->body);
    for (int i = 0; i < value_leaves(type); i++) {
        node *n = node_new(c, N_DECLARE, DT_NONE, s);
        n->local = v->local + i;
        n->kid[0] = value && type.record ? record_leaf_node(c, value, i) : value;
        append(&to, n);
    }
}

static void require_new(check *c, int id, size_t at) {
    const variable *before = variable_find(c, id);
    if (before && before->depth == c->scope_depth)
        check_fail(c, at, "'%s' is declared twice in one block", name_text(c, id));
}

static void declaration_check(check *c, const syn *s, node **out) {
    require_new(c, s->name, s->at);
    value_type type = named_type(c, s->to, s);
    if (s->list && !s->to)
        type.type = elements_type(c, s);
    if (s->list)
        array_declare(c, s, type, *out = node_new(c, N_DECLARE, DT_NONE, s));
    else
        value_declare(c, s, type, out);
}

/* "auto (q, r) = divide(x, y);" */
static void unpack_check(check *c, const syn *s, node **out) {
    node *values[UF_MAX_OPERANDS];
    appender to = {out};
    node *before = NULL;
    int count = unpacked_call(c, s->kid[0], &before, values), names = 0;
    for (const syn *n = s->list; n; n = n->next)
        names++;
    if (names != count)
        check_fail(c, s->at, "%d name%s for %d result%s", names, names == 1 ? "" : "s", count, count == 1 ? "" : "s");
    append(&to, before);
    int k = 0;
    for (const syn *n = s->list; n; n = n->next, k++) {
        value_type type = node_type(values[k]);
        require_new(c, n->name, n->at);
        variable *v = variable_bind(c, n->name, c->now->f.nlocals);
        v->read_only = s->is_const ? "const" : NULL;
        v->record = type.record;
        for (int i = 0; i < value_leaves(type); i++)
            local_new(c, name_text(c, n->name), value_leaf(type, i), 0, NULL, n->at);
        for (int i = 0; i < value_leaves(type); i++) {
            node *declared = node_new(c, N_DECLARE, DT_NONE, n);
            declared->local = v->local + i;
            declared->kid[0] = type.record ? record_leaf_node(c, values[k], i) : values[k];
            append(&to, declared);
        }
    }
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
        trips_note(n, (trips){1, 0, 0, 0});
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

static void value_evaluate(check *c, const syn *s, node **out);

/* A step is one N_EVAL: of a record, of the last thing that is done for it. */
static void append_step(check *c, const syn *step, appender *steps) {
    node *list = NULL;
    value_evaluate(c, step, &list);
    if (list && (list->kind != N_EVAL || list->next)) {
        node *zero = integer_node(c, 0, DT_INT32, step);
        list = evaluate(c, sequence(c, list, zero, step), step);
    }
    append(steps, list);
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
        append_step(c, step, &steps);
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

/* The value of a return: assigned to the result, whose type may be found by that. */
static void result_assign(check *c, const syn *s, node *value, appender *to) {
    frame *f = c->frame;
    node *lvalue, *assign;
    if (value->kind == N_RECORD && !f->result.record && f->result.type == DT_NONE) {
        if (!value->record)
            fail_record(c, value, s->kid[0]->at);
        if (f->is_kernel)
            check_fail(c, s->kid[0]->at, "the kernel returns %s, and no signature says so", value->record->name);
        f->result.record = value->record;
        f->again = true; /* the results are then as many locals as it has leaves */
    }
    if (f->again)
        return;
    if (f->result.record) {
        value = value_convert(c, value, f->result, false, s->kid[0]);
        record_assign(c, to, f->result_slot, value, s);
        return;
    }
    if (value->kind == N_RECORD)
        fail_record(c, value, s->kid[0]->at);
    lvalue = local_node(c, f->result_slot, s);
    if (lvalue->type != DT_NONE) {
        assign = assign_node(c, lvalue, value, s);
    } else {
        assign = node_new(c, N_ASSIGN, DT_NONE, s);
        assign->kid[0] = lvalue;
        assign->kid[1] = value;
        pending *p = arena_alloc(c->a, sizeof *p);
        *p = (pending){assign, s->at, f->returns};
        f->returns = p;
    }
    append(to, evaluate(c, assign, s));
}

static void return_check(check *c, const syn *s, node **out) {
    const frame *f = c->frame;
    bool indexed = f->is_kernel && !c->nout, named = f->def->noutputs > 0;
    appender to = {out};
    if (c->parallel)
        check_fail(c, s->at, "return cannot leave a forall");
    if (indexed && s->kid[0])
        check_fail(c, s->kid[0]->at, "a kernel over indices has no result: assign elements, then 'return;'");
    if (named && s->kid[0])
        check_fail(c, s->kid[0]->at, "the outputs have names: assign them, then 'return;'");
    if (!named && !indexed && !f->in_place && !s->kid[0])
        check_fail(c, s->at, "return needs a value: %s",
                   f->is_kernel ? "the kernel has one unnamed output" : "helpers have one");
    if (s->kid[0]) {
        result_assign(c, s, value_check(c, s->kid[0]), &to);
        c->frame->returned = true;
    } else {
        c->frame->empty = s;
    }
    append(&to, node_new(c, f->in_place ? N_LEAVE : N_RETURN, DT_NONE, s));
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

/* Evaluates an expression and drops its value: of a record, the statements that make it are what is left. */
static void value_evaluate(check *c, const syn *s, node **out) {
    node *value = value_check(c, s->kid[0]);
    *out = value->kind == N_RECORD ? value->body : evaluate(c, value, s);
}

static bool statement_check(check *c, const syn *s, node **out) {
    switch (s->kind) {
    case S_EVALUATE:
        if (is_assert(c, s->kid[0]))
            *out = assert_check(c, s->kid[0]);
        else if (s->kid[0])
            value_evaluate(c, s, out);
        return true;
    case S_UNPACK:
        unpack_check(c, s, out);
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
        if (s->kind == S_DECLARE && first && first->kind == N_DECLARE && first->kid[0] &&
            !variable_find(c, s->name)->record && !name_assigned(s->next, s->name))
            value_known(c, variable_find(c, s->name), first->kid[0]);
    }
    c->scope_depth--;
    known_drop(c, before);
    return ends;
}
