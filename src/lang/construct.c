/* construct.c - checks ranges, those of forall and of reductions, and the reductions themselves: the construct's name
 * and the type of its term say how the values are combined. */
#include <assert.h>
#include <math.h>

#include "lang/check.h"

/* In the order of syntax.h's enum: ORDER construct. */
const char *const construct_names[REDUCE_COUNT] = {"sum", "prod", "min", "max", "any", "all", "reduce"};

/* ---- Ranges ---- */

static node *extent_check(check *c, const syn *s) {
    node *n = expression_check(c, s->kid[0]);
    if (n->type != DT_BOOL && !dtype_is_integer(n->type)) {
        char words[32];
        check_fail(c, s->kid[0]->at, "the extent of a range must be an integer, got %s", type_text(n, words));
    }
    return convert(c, n, DT_INT64, s);
}

void ranges_check(check *c, const syn *list, node **out) {
    const syn *outer = c->ranges;
    node **end = out, *n;
    c->ranges = list;
    for (const syn *s = list; s; s = s->next) {
        *end = n = node_new(c, N_RANGE, DT_NONE, s);
        n->kid[0] = extent_check(c, s);
        end = &n->next;
    }
    c->ranges = outer;
    n = *out;
    for (const syn *s = list; s; s = s->next, n = n->next) {
        n->local = local_new(c, name_text(c, s->name), DT_INT64, 0, NULL, s->at);
        variable *v = variable_bind(c, s->name, n->local);
        v->read_only = "the index of a range";
        trips_note(n, range_bounds(c, v, n->kid[0]));
    }
}

/* ---- How values are combined ---- */

static number extreme(dtype type, bool highest) {
    int bits = 8 * dtypes[type].size;
    number n = {.type = type};
    if (dtype_is_floating(type))
        n.as.f[0] = highest ? (double)INFINITY : -(double)INFINITY;
    else if (dtypes[type].is_signed)
        n.as.i = highest ? INT64_MAX >> (64 - bits) : -(INT64_MAX >> (64 - bits)) - 1;
    else
        n.as.u = highest ? UINT64_MAX >> (64 - bits) : 0;
    return n;
}

static number small_number(dtype type, int value) {
    number n = {.type = type};
    if (dtypes[type].kind >= DK_FLOATING)
        n.as.f[0] = value;
    else
        n.as.i = value;
    return n;
}

/* The type in which a sum or a product of values of a type is accumulated. */
static dtype accumulator(dtype t) {
    if (t == DT_BOOL || dtype_is_integer(t))
        return t == DT_BOOL || dtypes[t].is_signed ? DT_INT64 : DT_UINT64;
    return dtype_promoted(t);
}

/* A sum or a product. Multiplying by 1 changes complex numbers with infinite or zero parts, so that 1 is no identity of
 * complex products. */
static void combine_arithmetic(check *c, const syn *s, node *n, dtype type) {
    bool product = s->construct == REDUCE_PROD, by_helper = product && dtype_is_complex(type);
    n->op = product ? OP_MUL : OP_ADD;
    if (by_helper)
        n->callee = &prelude_instance(c, "complex_mul", type, type, s)->f;
    n->value = small_number(type, product);
    n->is_identity = !by_helper;
}

static void combine_order(check *c, const syn *s, node *n, dtype type) {
    const char *word = construct_names[s->construct];
    if (dtype_is_complex(type))
        check_fail(c, s->at, "'%s' is not defined for %s", word, dtypes[type].name);
    n->callee = &prelude_instance(c, word, type, type, s)->f;
    n->value = extreme(type, s->construct == REDUCE_MIN);
    n->is_identity = true;
}

static void require_helper(check *c, const syn *s) {
    const name *n = &c->frame->u->s->names[s->name];
    const char *word = name_text(c, s->name);
    bool known = overload_known(c, n->text, n->length);
    if (variable_find(c, s->name))
        check_fail(c, s->at, "'%s' is a variable here; reduce needs a helper", word);
    if (!known && name_is_function(c, s->name))
        check_fail(c, s->at, "'%s' is built in; reduce needs a helper: f(a, b) { return %s(a, b); }", word, word);
    if (!known)
        check_fail(c, s->at, "the helper '%s' is not known", word);
}

/* The type that a helper returns for two arguments of one type; sets n->callee to that instance. */
static dtype helper_result(check *c, const syn *s, dtype type, node *n) {
    const instance *i = overload_instance(c, s, value_scalar(type));
    if (i->f.nresults != 1)
        check_fail(c, s->at, "reduce needs a helper of one result, and '%s' has %d", i->f.name, i->f.nresults);
    n->callee = (function *)(uintptr_t)&i->f;
    return n->callee->locals[2].type;
}

/* Combines by a helper. If its result is wider than its arguments, as the sum of two int8 is, values of the wider type
 * are combined. */
static dtype combine_helper(check *c, const syn *s, node *n, dtype type) {
    require_helper(c, s->kid[1]);
    dtype result = helper_result(c, s->kid[1], type, n);
    if (result != type) {
        dtype again = helper_result(c, s->kid[1], result, n);
        if (again != result)
            check_fail(c, s->kid[1]->at,
                       "'%s' of two %s is %s, and of two of these %s; reduce needs the type of its arguments",
                       n->callee->name, dtypes[type].name, dtypes[result].name, dtypes[again].name);
    }
    for (int k = 0; k < 2; k++)
        if (n->callee->locals[k].type != result)
            check_fail(c, s->kid[1]->at, "'%s' takes %s and gives %s; reduce needs the type of its arguments",
                       n->callee->name, dtypes[n->callee->locals[k].type].name, dtypes[result].name);
    n->value = small_number(result, 0);
    return result;
}

/* The type in which values of type t are combined. Sets n up to combine them. */
static dtype combine(check *c, const syn *s, node *n, dtype t) {
    switch (s->construct) {
    case REDUCE_SUM:
    case REDUCE_PROD:
        combine_arithmetic(c, s, n, accumulator(t));
        return accumulator(t);
    case REDUCE_MIN:
    case REDUCE_MAX:
        combine_order(c, s, n, dtype_promoted(t));
        return dtype_promoted(t);
    case REDUCE_HELPER:
        return combine_helper(c, s, n, t);
    default:
        n->op = s->construct == REDUCE_ANY ? OP_OR : OP_AND;
        n->value = small_number(DT_BOOL, s->construct == REDUCE_ALL);
        n->is_identity = true;
        return DT_BOOL;
    }
}

/* ---- Records ---- */

static node *declare(check *c, int slot, node *value, const syn *at) {
    node *n = node_new(c, N_DECLARE, DT_NONE, at);
    n->local = slot;
    n->kid[0] = value;
    return n;
}

/* The loops over ranges, in order, around a body. Extents are evaluated before the loops. */
static void loops_make(check *c, node *ranges, node *body, appender *to, const syn *at) {
    node *extents[LANG_MAX_RANGES], **inner = NULL, *outermost = NULL;
    int k = 0;
    for (node *r = ranges; r; r = r->next)
        extents[k++] = temporary_declare(c, r->kid[0], at, to);
    k = 0;
    for (node *r = ranges; r; r = r->next) {
        node *block = node_new(c, N_BLOCK, DT_NONE, at), *loop = node_new(c, N_LOOP, DT_NONE, at);
        node *step = node_new(c, N_UPDATE, DT_INT64, at);
        loop->kid[0] = binary_node(c, OP_LT, local_node(c, r->local, at), extents[k++], DT_BOOL, false, at);
        step->kid[0] = local_node(c, r->local, at);
        step->op = OP_ADD;
        step->wide = DT_INT64;
        loop->step = evaluate(c, step, at);
        loop->value.as.i = r->value.as.i; /* what trips_note has noted of the range */
        loop->dim = r->dim;
        block->body = declare(c, r->local, NULL, at);
        block->body->next = loop;
        *(inner ? inner : &outermost) = block;
        inner = &loop->body;
    }
    assert(inner); /* there is a range at least */
    *inner = body;
    append(to, outermost);
}

/* Two values combined: by the operator, the function or the helper that the construct stands for. */
static node *records_combine(check *c, const syn *s, node *a, node *b) {
    static const char *const operators[] = {[REDUCE_SUM] = "operator +", [REDUCE_PROD] = "operator *"};
    syn named = s->construct == REDUCE_HELPER ? *s->kid[1] : *s;
    a->next = b;
    call_arguments args = {.call = &named, .list = a, .count = 2};
    if (s->construct == REDUCE_HELPER)
        args.callee = name_text(c, s->kid[1]->name);
    else
        args.callee = s->construct <= REDUCE_PROD ? operators[s->construct] : construct_names[s->construct];
    return overload_call(c, &args, args.callee, (int)strlen(args.callee), false, true);
}

/* The value of no terms: of a sum or product the record that 0 or 1 converts to, if it does; else zeros. */
static node *record_of_no_terms(check *c, const syn *s, const record *r) {
    node *neutral = integer_node(c, s->construct == REDUCE_PROD, DT_INT32, s), *n = NULL;
    neutral->weak = true;
    if (s->construct <= REDUCE_PROD)
        n = conversion_call(c, neutral, (value_type){DT_NONE, r}, false, s);
    if (n)
        return n;
    syn nothing = {.kind = S_BRACES, .at = s->at, .line = s->line};
    return braces_check(c, &nothing, r);
}

/* A reduction over records is a loop in order: the first term, with which the others are combined. */
static node *record_reduce(check *c, const syn *s, node *ranges, node *term) {
    const record *r = term->record;
    node *body = NULL, *all = NULL, *choice = node_new(c, N_IF, DT_NONE, s);
    node *none = record_of_no_terms(c, s, r);
    appender to = {&all}, each = {&body}, then = {&choice->body}, other = {&choice->other};
    append(&to, none->body);
    int seen = temporary_new(c, DT_BOOL), first = c->now->f.nlocals;
    append(&to, declare(c, seen, NULL, s));
    for (int i = 0; i < r->nleaves; i++) {
        int slot = temporary_new(c, r->leaves[i].type);
        append(&to, declare(c, slot, record_leaf_node(c, none, i), s));
    }
    append(&each, term->body);
    term->body = NULL;
    node *both = records_combine(c, s, record_of_locals(c, r, first, NULL, s), term);
    if (!value_same(node_type(both), node_type(term)))
        check_fail(c, s->at, "'%s' of records needs %s of two %s, got %s", construct_names[s->construct], r->name,
                   r->name, value_text(node_type(both)));
    record_assign(c, &then, first, both, s);
    record_assign(c, &other, first, term, s);
    number yes = {.type = DT_BOOL, .as.u = 1};
    append(&other, evaluate(c, assign_node(c, local_node(c, seen, s), constant_node(c, yes, s), s), s));
    choice->kid[0] = local_node(c, seen, s);
    append(&each, choice);
    loops_make(c, ranges, body, &to, s);
    return record_of_locals(c, r, first, all, s);
}

node *reduction_check(check *c, const syn *s) {
    variable *outer = c->scope;
    known_mark before = known_here(c);
    node *n = node_new(c, N_REDUCE, DT_NONE, s);
    c->scope_depth++;
    ranges_check(c, s->list, &n->args);
    node *term = pure_check(c, s->kid[0], "the term of a construct");
    c->scope_depth--;
    scope_leave(c, outer);
    known_drop(c, before);
    if (term->record && s->construct != REDUCE_ANY && s->construct != REDUCE_ALL)
        return record_reduce(c, s, n->args, term);
    if (term->kind == N_RECORD)
        fail_record(c, term, s->kid[0]->at);
    dtype type = combine(c, s, n, term->type);
    n->type = (uint8_t)type;
    n->kid[0] = convert(c, term, type, s->kid[0]);
    return n;
}
