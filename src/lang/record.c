/* record.c - records in expressions: literals, fields, assignment, equality. A record never becomes part of a tree. It is taken apart
 * into its leaves, which are real scalars and parts of complex ones: its variables are as many locals, and its values N_RECORD nodes (check.h). */
#include <assert.h>
#include <stdio.h>

#include "lang/check.h"

/* ---- Nodes ---- */

value_type node_type(const node *n) {
    return n->kind == N_RECORD ? (value_type){DT_NONE, n->record} : value_scalar((dtype)n->type);
}

node *record_new(check *c, const record *r, const syn *at) {
    node *n = node_new(c, N_EVAL, DT_NONE, at);
    n->kind = N_RECORD;
    n->type = DT_RECORD;
    n->record = r;
    return n;
}

_Noreturn void fail_record(check *c, const node *n, size_t at) {
    if (!n->record)
        check_fail(c, at, "a value is needed here, and the helper gives none");
    check_fail(c, at, "a number is needed here, got %s", n->record->name);
}

/* Do only operators, variables and constants make up the value? Then nothing but an assignment to a variable changes it. */
static bool node_is_steady(const node *n) {
    for (; n; n = n->kid[0]) {
        if (n->kind != N_CONST && n->kind != N_LOCAL && n->kind != N_SIZE && n->kind != N_CONVERT &&
            n->kind != N_UNARY && n->kind != N_BINARY)
            return false;
        if (n->kid[1] && !node_is_steady(n->kid[1]))
            return false;
    }
    return true;
}

node *node_clone(check *c, const node *n) {
    if (!n)
        return NULL;
    syn at = {.line = n->line};
    node *copy = node_new(c, (node_kind)n->kind, (dtype)n->type, &at), **end = &copy->args;
    *copy = *n;
    copy->next = NULL;
    copy->args = NULL;
    for (int i = 0; i < 3; i++)
        copy->kid[i] = node_clone(c, n->kid[i]);
    for (const node *arg = n->args; arg; arg = arg->next) {
        *end = node_clone(c, arg);
        end = &(*end)->next;
    }
    return copy;
}

node *sequence(check *c, node *body, node *value, const syn *at) {
    assert(value);
    if (!body)
        return value;
    node *n = node_new(c, N_SEQUENCE, (dtype)value->type, at);
    n->body = body;
    n->kid[0] = value;
    n->weak = value->weak;
    return n;
}

node *temporary_declare(check *c, node *value, const syn *at, appender *to) {
    if (value->kind == N_CONST)
        return value;
    node *n = node_new(c, N_DECLARE, DT_NONE, at);
    n->local = temporary_new(c, (dtype)value->type);
    n->kid[0] = value;
    append(to, n);
    return local_node(c, n->local, at);
}

static const node *leaf_of(const node *n, int i) {
    const node *leaf = n->args;
    while (i--)
        leaf = leaf->next;
    return leaf;
}

node *record_leaf_node(check *c, const node *n, int i) { return node_clone(c, leaf_of(n, i)); }

/* ---- Scalars and their leaves: a complex number in a record is two, its parts ---- */

/* Leaf i of a scalar that is steady. */
static node *scalar_leaf(check *c, const node *value, int i, const syn *at) {
    if (!dtype_is_complex(value->type))
        return node_clone(c, value);
    node *n = node_new(c, i ? N_IMAG : N_REAL, (dtype)dtypes[value->type].component, at);
    n->kid[0] = node_clone(c, value);
    return fold(n);
}

/* The scalar of a type from its leaves; second is used of a complex one alone. */
static node *scalar_of_leaves(check *c, dtype type, node *first, node *second, const syn *at) {
    if (!dtype_is_complex(type))
        return first;
    node *n = node_new(c, N_COMPLEX, type, at);
    n->kid[0] = first;
    n->kid[1] = second;
    return fold(n);
}

/* ---- Values that what follows would change ---- */

static bool has_effects(const check *c, const node *n);

static bool any_has_effects(const check *c, const node *list) {
    for (; list; list = list->next)
        if (has_effects(c, list))
            return true;
    return false;
}

/* Does it, or anything in it, assign more than values in between, which have no name? Left operands are walked in a loop. */
static bool has_effects(const check *c, const node *n) {
    for (; n; n = n->kid[0]) {
        bool assigns = n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE;
        if (n->kind == N_ATOMIC || (assigns && *c->now->f.locals[n->kid[0]->local].name))
            return true;
        if (has_effects(c, n->kid[1]) || has_effects(c, n->kid[2]) || any_has_effects(c, n->args) ||
            any_has_effects(c, n->body) || any_has_effects(c, n->other) || any_has_effects(c, n->step))
            return true;
    }
    return false;
}

/* Has a value statements or operands with effects, before which all that stands to its left is to be evaluated? */
static bool value_has_effects(const check *c, const node *n) {
    return n->kind == N_RECORD ? any_has_effects(c, n->body) : has_effects(c, n);
}

/* Evaluates the leaves of a record where it stands, so that nothing behind it changes them. */
static void record_settle(check *c, node *n, const syn *at) {
    appender to = {&n->body};
    node **end = &n->args, *leaf = n->args, *following;
    while (*to.end)
        to.end = &(*to.end)->next;
    for (; leaf; leaf = following) {
        following = leaf->next;
        leaf->next = NULL;
        *end = temporary_declare(c, leaf, at, &to);
        end = &(*end)->next;
    }
}

/* Does an expression read one of the locals first .. end-1? */
static bool reads_local(const node *n, int first, int end) {
    for (; n; n = n->kid[0]) {
        if (n->kind == N_LOCAL && n->local >= first && n->local < end)
            return true;
        for (const node *arg = n->args; arg; arg = arg->next)
            if (reads_local(arg, first, end))
                return true;
        if (reads_local(n->kid[1], first, end) || reads_local(n->kid[2], first, end))
            return true;
    }
    return false;
}

/* Adds a leaf to a record that is being made. */
static void leaf_add(node *n, node *leaf) {
    node **end = &n->args;
    while (*end)
        end = &(*end)->next;
    *end = leaf;
}

/* ---- Initialisers ---- */

typedef struct record_fill {
    check *c;
    const record *r;
    node **leaves;
    appender to;
} record_fill;

static void scalar_fill(record_fill *f, int leaf, dtype type, node *value, const syn *at) {
    check *c = f->c;
    if (value->kind == N_RECORD)
        fail_record(c, value, at->at);
    value = temporary_declare(c, convert(c, value, type, at), at, &f->to);
    for (int i = 0; i < scalar_leaves(type); i++)
        f->leaves[leaf + i] = scalar_leaf(c, value, i, at);
}

static void record_fill_value(record_fill *f, int leaf, const record *r, node *value, const syn *at) {
    check *c = f->c;
    value = value_convert(c, value, (value_type){DT_NONE, r}, false, at);
    append(&f->to, value->body);
    for (int i = 0; i < r->nleaves; i++)
        f->leaves[leaf + i] = temporary_declare(c, record_leaf_node(c, value, i), at, &f->to);
}

static void record_fill_braces(record_fill *f, int leaf, const record *r, const syn *braces);

/* One element of a field, or a field that is no array. */
static void element_fill(record_fill *f, int leaf, const record_field *field, const syn *item) {
    if (item->kind == S_BRACES && field->record)
        record_fill_braces(f, leaf, field->record, item);
    else if (item->kind == S_BRACES)
        check_fail(f->c, item->at, "{ .. } where the scalar '%s' is initialised", field->name);
    else if (field->record)
        record_fill_value(f, leaf, field->record, value_check(f->c, item), item);
    else
        scalar_fill(f, leaf, field->type, value_check(f->c, item), item);
}

/* The elements of an array field, or of one of its rows, from a list in braces. */
static void array_fill_braces(record_fill *f, int leaf, const record_field *field, int d, const syn *braces) {
    int below = field->record ? field->record->nleaves : scalar_leaves(field->type);
    int64_t i = 0;
    for (int k = d + 1; k < field->rank; k++)
        below *= (int)field->extent[k];
    for (const syn *item = braces->list; item; item = item->next, i++) {
        if (i == field->extent[d])
            check_fail(f->c, item->at, "more values than '%s' has elements (%lld)", field->name,
                       (long long)field->extent[d]);
        if (d < field->rank - 1 && item->kind != S_BRACES)
            check_fail(f->c, item->at, "a row of '%s' is initialised with { .. }", field->name);
        if (d < field->rank - 1)
            array_fill_braces(f, leaf + (int)i * below, field, d + 1, item);
        else
            element_fill(f, leaf + (int)i * below, field, item);
    }
}

static const record_field *field_find(check *c, const record *r, int id, size_t at) {
    const name *n = &c->frame->u->s->names[id];
    for (int i = 0; i < r->nfields; i++)
        if (strncmp(r->fields[i].name, n->text, (size_t)n->length) == 0 && !r->fields[i].name[n->length])
            return &r->fields[i];
    char known[512];
    size_t length = 0;
    for (int i = 0; i < r->nfields && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", r->fields[i].name);
    check_fail(c, at, "%s has no field '%s'; it has %s", r->name, name_text(c, id), known);
}

static void record_fill_braces(record_fill *f, int leaf, const record *r, const syn *braces) {
    check *c = f->c;
    const record_field *next = r->fields, *end = r->fields + r->nfields;
    for (const syn *item = braces->list; item; item = item->next) {
        const syn *value = item;
        if (item->kind == S_FIELD) {
            next = field_find(c, r, item->name, item->at);
            value = item->kid[0];
        }
        if (next == end)
            check_fail(c, item->at, "more values than %s has fields (%d)", r->name, r->nfields);
        if (next->rank && value->kind != S_BRACES)
            check_fail(c, value->at, "the array '%s' is initialised with { .. }", next->name);
        if (next->rank)
            array_fill_braces(f, leaf + next->leaf, next, 0, value);
        else
            element_fill(f, leaf + next->leaf, next, value);
        next++;
    }
}

node *braces_check(check *c, const syn *braces, const record *r) {
    node *n = record_new(c, r, braces);
    record_fill f = {.c = c, .r = r, .to = {&n->body}};
    f.leaves = arena_alloc(c->a, (size_t)r->nleaves * sizeof *f.leaves + 1);
    record_fill_braces(&f, 0, r, braces);
    for (int i = 0; i < r->nleaves; i++)
        leaf_add(n, f.leaves[i] ? f.leaves[i] : constant_node(c, (number){.type = r->leaves[i].type}, braces));
    return n;
}

node *literal_check(check *c, const syn *s) {
    value_type t = named_type(c, s->to, s);
    if (!t.record)
        check_fail(c, s->at, "{ .. } behind a type makes a record, and %s is none", value_text(t));
    return braces_check(c, s->kid[0], t.record);
}

/* ---- Fields and elements ---- */

/* A variable or a value, or a part of it. */
typedef struct part {
    const variable *v;          /* NULL: `value` */
    int slot;                   /* of the variable's first local */
    const node *value;          /* an N_RECORD */
    node *index[LANG_MAX_RANK]; /* of an element of an array variable, steady */
    bool indexed;
    node *before; /* statements that come first */
    appender to;  /* their end */
    value_type type;
    const record_field *array; /* the part is this array, which is to be indexed; NULL: it is no array */
    int leaf;                  /* its first one among those of the variable or value */
    /* An array in the record is indexed by what is no constant: the part begins `stride` leaves times `choice` (int64, steady, less
     * than 0 outside of the array) further on, and choice is below `count`. NULL: it is not. */
    node *choice;
    int count, stride;
} part;

static void part_begin(part *p) {
    *p = (part){0};
    p->to.end = &p->before;
}

static node *steady(part *p, check *c, node *n, const syn *at) {
    return node_is_steady(n) ? n : temporary_declare(c, n, at, &p->to);
}

static void part_of(check *c, const syn *s, part *p);

static void part_of_name(check *c, const syn *s, part *p) {
    variable *v = variable_find(c, s->name);
    if (!v && size_find(c, s->name) < 0 && constant_named(c, s->name, s))
        check_fail(c, s->at, "'%s' is a constant or a table of numbers, which have no fields", name_text(c, s->name));
    if (!v)
        fail_unknown(c, s, false);
    require_complete(c, v, s);
    p->v = v;
    p->slot = v->local;
    p->type = v->record ? (value_type){DT_NONE, v->record} : value_scalar(c->now->f.locals[v->local].type);
}

static int variable_rank(const check *c, const part *p) { return p->v ? c->now->f.locals[p->slot].rank : 0; }

/* Indexes the array that a variable is. */
static void part_element(check *c, const syn *s, part *p) {
    int rank = variable_rank(c, p), k = 0;
    for (const syn *i = s->list; i; i = i->next, k++)
        if (k < rank)
            p->index[k] = steady(p, c, index_check(c, i), i);
    if (!rank)
        check_fail(c, s->at, "'%s' is no array and cannot be indexed", name_text(c, p->v->name));
    if (k != rank)
        check_fail(c, s->at, "'%s' has %d dimension%s, got %d ind%s", name_text(c, p->v->name), rank,
                   rank > 1 ? "s" : "", k, k > 1 ? "ices" : "ex");
    p->indexed = true;
}

static node *int64_operate(check *c, op o, node *a, node *b, const syn *at) {
    bool relation = ops[o].kind == 'R' || ops[o].kind == 'E';
    return binary_node(c, o, a, b, relation ? DT_BOOL : DT_INT64, false, at);
}

/* The choice with one more index: -1 once any is out of its extent. */
static node *choice_extend(check *c, part *p, node *choice, node *index, int64_t extent, const syn *at) {
    node *inside = node_new(c, N_AND, DT_BOOL, at), *n = node_new(c, N_SELECT, DT_INT64, at);
    index = steady(p, c, index, at);
    inside->kid[0] = int64_operate(c, OP_GE, node_clone(c, index), integer_node(c, 0, DT_INT64, at), at);
    inside->kid[1] = int64_operate(c, OP_LT, node_clone(c, index), integer_node(c, extent, DT_INT64, at), at);
    if (choice) {
        node *both = node_new(c, N_AND, DT_BOOL, at);
        both->kid[0] = int64_operate(c, OP_GE, node_clone(c, choice), integer_node(c, 0, DT_INT64, at), at);
        both->kid[1] = inside;
        inside = both;
        index = int64_operate(c, OP_ADD, int64_operate(c, OP_MUL, choice, integer_node(c, extent, DT_INT64, at), at),
                              index, at);
    }
    n->kid[0] = inside;
    n->kid[1] = index;
    n->kid[2] = integer_node(c, -1, DT_INT64, at);
    return temporary_declare(c, n, at, &p->to);
}

/* Indexes an array in a record. */
static void part_field_element(check *c, const syn *s, part *p) {
    const record_field *f = p->array;
    int given = 0, elements = 1, each = f->record ? f->record->nleaves : scalar_leaves(f->type);
    int64_t place = 0;
    bool fixed = true;
    node *index[LANG_MAX_RANK] = {NULL}, *choice = NULL;
    for (const syn *i = s->list; i; i = i->next, given++) {
        if (given == f->rank)
            check_fail(c, s->at, "'%s' has %d dimension%s, got more indices", f->name, f->rank, f->rank > 1 ? "s" : "");
        index[given] = convert(c, index_check(c, i), DT_INT64, i);
        fixed &= index[given]->kind == N_CONST;
        if (index[given]->kind == N_CONST &&
            (index[given]->value.as.i < 0 || index[given]->value.as.i >= f->extent[given]))
            check_fail(c, i->at, "index %lld of '%s', which has %lld elements", (long long)index[given]->value.as.i,
                       f->name, (long long)f->extent[given]);
    }
    if (given != f->rank)
        check_fail(c, s->at, "'%s' has %d dimensions, got %d ind%s", f->name, f->rank, given,
                   given > 1 ? "ices" : "ex");
    if (!fixed && p->choice)
        check_fail(c, s->at, "only one array on the way to a field can have indices that are no constants");
    for (int d = 0; d < f->rank; d++) {
        elements *= (int)f->extent[d];
        if (fixed)
            place = place * f->extent[d] + index[d]->value.as.i;
        else
            choice = choice_extend(c, p, choice, index[d], f->extent[d], s);
    }
    p->leaf += (int)place * each;
    if (!fixed) {
        p->choice = choice;
        p->count = elements;
        p->stride = each;
    }
    p->type = f->record ? (value_type){DT_NONE, f->record} : value_scalar(f->type);
    p->array = NULL;
}

static void part_member(check *c, const syn *s, part *p) {
    part_of(c, s->kid[0], p);
    if (p->array || variable_rank(c, p) > 0 ? !p->indexed || p->array : false)
        check_fail(c, s->at, "the field of an array; an element of it is meant: [..].%s", name_text(c, s->name));
    if (!p->type.record)
        check_fail(c, s->at, "%s has no fields%s", value_text(p->type),
                   dtype_is_complex(p->type.type) ? "; its parts are real(z) and imag(z)" : "");
    const record_field *f = field_find(c, p->type.record, s->name, s->at);
    p->leaf += f->leaf;
    p->array = f->rank ? f : NULL;
    p->type = f->record ? (value_type){DT_NONE, f->record} : value_scalar(f->type);
}

static void part_of(check *c, const syn *s, part *p) {
    if (s->kind == S_MEMBER) {
        part_member(c, s, p);
    } else if (s->kind == S_INDEX) {
        part_of(c, s->kid[0], p);
        if (p->array)
            part_field_element(c, s, p);
        else if (p->v && !p->indexed && s->kid[0]->kind == S_NAME)
            part_element(c, s, p);
        else
            check_fail(c, s->at, "%s cannot be indexed", value_text(p->type));
    } else if (s->kind == S_NAME) {
        part_of_name(c, s, p);
    } else {
        node *n = value_check(c, s);
        if (n->kind != N_RECORD || !n->record)
            check_fail(c, s->at, "a number has no fields");
        p->value = n;
        append(&p->to, n->body);
        p->type = (value_type){DT_NONE, n->record};
    }
}

/* Leaf i of the part as a place that can be read and written. */
static node *part_place(check *c, const part *p, int i, const syn *at) {
    node *indices[LANG_MAX_RANK] = {NULL};
    if (!p->v)
        return record_leaf_node(c, p->value, p->leaf + i);
    if (!p->indexed)
        return local_node(c, p->slot + p->leaf + i, at);
    for (int k = 0; k < variable_rank(c, p); k++)
        indices[k] = node_clone(c, p->index[k]);
    return element_node(c, p->slot + p->leaf + i, indices, at);
}

static node *choice_is(check *c, const part *p, int k, const syn *at) {
    return int64_operate(c, OP_EQ, node_clone(c, p->choice), integer_node(c, k, DT_INT64, at), at);
}

/* How many leaves the part is, and the dtype of each. */
static int part_leaves(const part *p) { return p->type.record ? p->type.record->nleaves : scalar_leaves(p->type.type); }
static dtype part_leaf_type(const part *p, int i) {
    return p->type.record ? p->type.record->leaves[i].type : (dtype)dtypes[p->type.type].component;
}

/* Leaf i of the part as a value. */
static node *part_leaf(check *c, const part *p, int i, const syn *at) {
    if (!p->choice)
        return part_place(c, p, i, at);
    node *value = constant_node(c, (number){.type = part_leaf_type(p, i)}, at);
    for (int k = p->count - 1; k >= 0; k--) {
        node *n = node_new(c, N_SELECT, (dtype)value->type, at);
        n->kid[0] = choice_is(c, p, k, at);
        n->kid[1] = part_place(c, p, i + k * p->stride, at);
        n->kid[2] = value;
        value = n;
    }
    return value;
}

static void require_whole(check *c, const part *p, const syn *s) {
    if (p->array)
        check_fail(c, s->at, "'%s' is an array; its elements are used one at a time", p->array->name);
    if (variable_rank(c, p) && !p->indexed)
        check_fail(c, s->at, "'%s' is an array; its elements are used one at a time", name_text(c, p->v->name));
}

/* The part, a scalar, as a value without the statements before it. */
static node *part_scalar(check *c, const part *p, const syn *s) {
    node *first = part_leaf(c, p, 0, s), *second = part_leaves(p) > 1 ? part_leaf(c, p, 1, s) : NULL;
    return scalar_of_leaves(c, p->type.type, first, second, s);
}

static node *part_value(check *c, const part *p, const syn *s) {
    if (!p->type.record)
        return sequence(c, p->before, part_scalar(c, p, s), s);
    node *n = record_new(c, p->type.record, s);
    n->body = p->before;
    for (int i = 0; i < p->type.record->nleaves; i++)
        leaf_add(n, part_leaf(c, p, i, s));
    return n;
}

node *member_check(check *c, const syn *s) {
    part p;
    part_begin(&p);
    part_of(c, s, &p);
    require_whole(c, &p, s);
    return part_value(c, &p, s);
}

/* ---- Assignment ---- */

/* Assigns leaf i of the part: where an index chooses among leaves, the one that it chooses. */
static void leaf_assign(check *c, const part *p, int i, node *value, appender *to, const syn *at) {
    if (!p->choice) {
        append(to, evaluate(c, assign_node(c, part_place(c, p, i, at), value, at), at));
        return;
    }
    value = temporary_declare(c, value, at, to);
    for (int k = 0; k < p->count; k++) {
        node *n = node_new(c, N_IF, DT_NONE, at);
        n->kid[0] = choice_is(c, p, k, at);
        n->body = evaluate(c, assign_node(c, part_place(c, p, i + k * p->stride, at), node_clone(c, value), at), at);
        append(to, n);
    }
}

/* Evaluates the indices of the part where it stands, so that nothing behind it changes them. */
static void part_settle(check *c, part *p, const syn *at) {
    for (int k = 0; p->indexed && k < variable_rank(c, p); k++)
        p->index[k] = temporary_declare(c, p->index[k], at, &p->to);
}

/* Is a leaf, as what is assigned, found by an index that is itself in the record that is assigned? */
static bool leaves_depend(const part *p, const node *value) {
    bool depends = false;
    for (const node *leaf = value->args; leaf && p->v && !p->indexed; leaf = leaf->next)
        depends |= leaf->kind != N_LOCAL && reads_local(leaf, p->slot, p->slot + p->v->record->nleaves);
    return depends;
}

static node *part_assign_record(check *c, part *p, node *value, const syn *at) {
    if (leaves_depend(p, value))
        record_settle(c, value, at);
    append(&p->to, value->body);
    for (int i = 0; i < p->type.record->nleaves; i++)
        leaf_assign(c, p, i, record_leaf_node(c, value, i), &p->to, at);
    value->body = p->before;
    return value;
}

/* Assigns a value to the part: the statements, of which those before it are the first. The value of the assignment is what is stored,
 * or would be, where an index is out of range. */
static node *part_assign(check *c, part *p, node *value, const syn *at) {
    value = value_convert(c, value, p->type, false, at);
    if (!p->type.record && !p->choice && part_leaves(p) == 1)
        return sequence(c, p->before, assign_node(c, part_place(c, p, 0, at), value, at), at);
    if (value_has_effects(c, value))
        part_settle(c, p, at);
    if (p->type.record)
        return part_assign_record(c, p, value, at);
    value = temporary_declare(c, value, at, &p->to);
    for (int i = 0; i < part_leaves(p); i++)
        leaf_assign(c, p, i, scalar_leaf(c, value, i, at), &p->to, at);
    return sequence(c, p->before, value, at);
}

/* Finds the part that is to be assigned, and fails if it cannot be. */
static void part_assignable(check *c, const syn *s, part *p) {
    part_begin(p);
    part_of(c, s, p);
    require_whole(c, p, s);
    if (!p->v)
        check_fail(c, s->at, "only a variable or a part of one can be assigned");
    require_assignable(c, p->v, s);
    if (!p->indexed && p->slot < c->forall_first)
        check_fail(
            c, s->at,
            "'%s' is declared outside of this forall, which assigns its own variables and elements of arrays only",
            name_text(c, p->v->name));
}

node *part_assign_check(check *c, const syn *s) {
    part p;
    part_assignable(c, s->kid[0], &p);
    return part_assign(c, &p, value_check(c, s->kid[1]), s);
}

/* The value of a part whose statements are done elsewhere. */
static node *part_old(check *c, const part *p, const syn *s) {
    part bare = *p;
    bare.before = NULL;
    return part_value(c, &bare, s);
}

node *part_compound_check(check *c, const syn *s) {
    part p;
    part_assignable(c, s->kid[0], &p);
    node *value = value_check(c, s->kid[1]);
    bool effects = value_has_effects(c, value);
    if (effects)
        part_settle(c, &p, s);
    node *old = part_old(c, &p, s);
    if (effects && old->kind == N_RECORD)
        record_settle(c, old, s);
    return part_assign(c, &p, operate_values(c, s, old, value), s);
}

/* ++ or -- of what an index chooses among leaves. */
static node *choice_update(check *c, part *p, const syn *s) {
    node *old = temporary_declare(c, part_leaf(c, p, 0, s), s, &p->to), *one = integer_node(c, 1, DT_INT32, s);
    one->weak = true;
    node *n = part_assign(c, p, operate(c, s, node_clone(c, old), one), s);
    if (s->postfix)
        n->kid[0] = old;
    return n;
}

node *part_update_check(check *c, const syn *s) {
    part p;
    part_assignable(c, s->kid[0], &p);
    if (p.type.record)
        check_fail(c, s->at, "'%s' needs a number, got %s", s->op == OP_ADD ? "++" : "--", value_text(p.type));
    if (dtype_is_complex(p.type.type))
        check_fail(c, s->at, "'%s' needs a real variable, got %s", s->op == OP_ADD ? "++" : "--", value_text(p.type));
    if (p.choice)
        return choice_update(c, &p, s);
    return sequence(c, p.before, update_node(c, s, part_place(c, &p, 0, s)), s);
}

bool is_part(const check *c, const syn *s) {
    const syn *root = s;
    bool member = false;
    for (; root->kind == S_MEMBER || root->kind == S_INDEX; root = root->kid[0])
        member |= root->kind == S_MEMBER;
    const variable *v = root->kind == S_NAME ? variable_find(c, root->name) : NULL;
    return member || (v && v->record);
}

void record_assign(check *c, appender *to, int slot, node *value, const syn *at) {
    append(to, value->body);
    for (int i = 0; i < value->record->nleaves; i++)
        append(to, evaluate(c, assign_node(c, local_node(c, slot + i, at), record_leaf_node(c, value, i), at), at));
}

/* ---- Conversions, equality, choice ---- */

node *value_convert(check *c, node *n, value_type to, bool is_cast, const syn *at) {
    value_type from = node_type(n);
    if (n->kind == N_RECORD && !n->record)
        fail_record(c, n, at->at);
    if (!from.record && !to.record)
        return convert(c, n, to.type, at);
    if (value_same(from, to))
        return n;
    if (from.record && !is_cast && to.record)
        check_fail(c, at->at, "%s is needed here, got %s; only a cast converts a record", value_text(to),
                   value_text(from));
    if (from.record && !is_cast)
        fail_record(c, n, at->at);
    node *converted = conversion_call(c, n, to, is_cast, at);
    if (!converted)
        check_fail(c, at->at, "there is no conversion from %s to %s", value_text(from), value_text(to));
    return converted;
}

/* Leaf by leaf. */
node *record_equal(check *c, const syn *s, node *a, node *b) {
    node *all = NULL, *body = NULL;
    appender to = {&body};
    if (value_has_effects(c, b))
        record_settle(c, a, s);
    append(&to, a->body);
    append(&to, b->body);
    for (int i = 0; i < a->record->nleaves; i++) {
        syn at = *s;
        at.op = OP_EQ;
        node *one = operate(c, &at, record_leaf_node(c, a, i), record_leaf_node(c, b, i));
        if (!all) {
            all = one;
            continue;
        }
        node *both = node_new(c, N_AND, DT_BOOL, s);
        both->kid[0] = all;
        both->kid[1] = one;
        all = fold(both);
    }
    if (s->op == OP_NE) {
        node *not = node_new(c, N_UNARY, DT_BOOL, s);
        not ->op = OP_LNOT;
        not ->kid[0] = all;
        all = fold(not );
    }
    return sequence(c, body, all, s);
}

node *record_select(check *c, const syn *s, node *condition, node *yes, node *no) {
    const record *r = yes->kind == N_RECORD && yes->record ? yes->record : no->record;
    value_type to = {DT_NONE, r};
    node *n = record_new(c, r, s), *choice = node_new(c, N_IF, DT_NONE, s);
    appender all = {&n->body}, then = {&choice->body}, other = {&choice->other};
    yes = value_convert(c, yes, to, false, s->kid[1]);
    no = value_convert(c, no, to, false, s->kid[2]);
    int first = c->now->f.nlocals;
    for (int i = 0; i < r->nleaves; i++) {
        node *declared = node_new(c, N_DECLARE, DT_NONE, s);
        declared->local = temporary_new(c, r->leaves[i].type);
        append(&all, declared);
        leaf_add(n, local_node(c, declared->local, s));
    }
    record_assign(c, &then, first, yes, s);
    record_assign(c, &other, first, no, s);
    choice->kid[0] = condition;
    append(&all, choice);
    return n;
}

node *record_of_locals(check *c, const record *r, int slot, node *body, const syn *at) {
    node *n = record_new(c, r, at);
    n->body = body;
    for (int i = 0; i < r->nleaves; i++)
        leaf_add(n, local_node(c, slot + i, at));
    return n;
}
