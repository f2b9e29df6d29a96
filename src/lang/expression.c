/* expression.c - checks names, operators, assignments, casts and _Generic. */
#include <assert.h>

#include "lang/check.h"

/* ---- Names and lvalues ---- */

/* Fails if a variable is used in its own initialiser. */
void require_complete(check *c, const variable *v, const syn *s) {
    if (v->incomplete)
        check_fail(c, s->at, "'%s' is used in its own initialiser", name_text(c, v->name));
}

/* The guess about an output whose type is being found; NULL for any other local. */
static output_guess *output_guessed(const check *c, int slot) {
    const frame *f = c->frame;
    int k = slot - f->output_slot;
    if (!f->guesses || k < 0 || k >= f->nguesses || f->guesses[k].given)
        return NULL;
    return &f->guesses[k];
}

static node *size_node(check *c, int d, const syn *s) {
    node *n = node_new(c, N_SIZE, DT_INT64, s);
    n->dim = d;
    return n;
}

/* A name that is no variable: a size, a constant of the text, or a built-in one. */
static node *name_check_constant(check *c, const syn *s) {
    const name *n = &c->frame->u->s->names[s->name];
    int size = size_find(c, s->name);
    if (size >= 0)
        return size_node(c, size, s);
    const file_constant *k = constant_named(c, s->name, s);
    if (k && !k->value)
        check_fail(c, s->at, "'%s' is a table; its elements are used one at a time", name_text(c, s->name));
    if (k)
        return constant_value(c, k, s);
    node *known = constant_find(c, n->text, n->length, s);
    if (known)
        return known;
    if (name_is_function(c, s->name))
        check_fail(c, s->at, "'%s' is a function; it can only be called", name_text(c, s->name));
    fail_unknown(c, s, false);
}

static node *name_check(check *c, const syn *s) {
    const variable *v = variable_find(c, s->name);
    if (!v)
        return name_check_constant(c, s);
    require_complete(c, v, s);
    if (v->stands_for)
        return node_clone(c, v->stands_for);
    if (c->now->f.locals[v->local].rank)
        check_fail(c, s->at, "'%s' is an array; its elements are used one at a time: %s[i]%s", name_text(c, s->name),
                   name_text(c, s->name), c->now->f.locals[v->local].rank > 1 ? "[j] .." : "");
    node *result = local_node(c, v->local, s);
    const output_guess *g = output_guessed(c, v->local);
    result->weak = g && g->assumed_weak;
    return result;
}

node *index_check(check *c, const syn *s) {
    node *n = expression_check(c, s);
    if (n->type != DT_BOOL && !dtype_is_integer(n->type)) {
        char text1[32];
        check_fail(c, s->at, "an index must be an integer, got %s", type_text(n, text1));
    }
    return convert(c, n, n->type == DT_UINT64 ? DT_UINT64 : DT_INT64, s);
}

/* Finds out whether an element needs to check its indices. The indices were checked before: if the proof fails, what it
 * needed of the sizes is dropped, but not what they needed. */
static void element_prove(check *c, node *n) {
    const local *l = &c->now->f.locals[n->local];
    const node *next = n->args;
    int before = needs_here(c);
    proof all = PROOF_FULL;
    for (int k = 0; k < l->rank && all != PROOF_NONE && !c->unchecked; k++) {
        proof one = index_proof(c, l->rank > 3 ? next : n->kid[k], l, k);
        all = one < all ? one : all;
        next = next ? next->next : NULL;
    }
    n->unchecked = all == PROOF_FULL;
    n->conditional = all == PROOF_NEEDS;
    if (all == PROOF_NONE)
        needs_drop(c, before);
}

/* The local that the name of an array means: that of a variable, or of a table of file scope. */
static int array_slot(check *c, const syn *array) {
    const variable *v = variable_find(c, array->name);
    if (!v) {
        const file_constant *k = size_find(c, array->name) < 0 ? constant_named(c, array->name, array) : NULL;
        if (k && k->value)
            check_fail(c, array->at, "'%s' is a constant and cannot be indexed", name_text(c, array->name));
        if (k)
            return constant_table(c, k, array);
        fail_unknown(c, array, false);
    }
    require_complete(c, v, array);
    if (v->stands_for)
        check_fail(c, array->at, "'%s' is a number and cannot be indexed", name_text(c, array->name));
    return v->local;
}

node *element_node(check *c, int slot, node *const *indices, const syn *at) {
    const local *l = &c->now->f.locals[slot];
    node *n = node_new(c, N_ELEMENT, l->type, at), **end = &n->args;
    const output_guess *g = output_guessed(c, slot);
    n->weak = g && g->assumed_weak;
    n->local = slot;
    for (int k = 0; k < l->rank; k++) {
        assert(indices[k]);
        if (l->rank <= 3) {
            n->kid[k] = indices[k];
        } else {
            *end = indices[k];
            end = &indices[k]->next;
        }
    }
    element_prove(c, n);
    return n;
}

static node *element_check(check *c, const syn *s) {
    node *indices[LANG_MAX_RANK] = {NULL};
    int slot = array_slot(c, s->kid[0]), given = 0, rank = c->now->f.locals[slot].rank;
    const char *word = c->now->f.locals[slot].name;
    for (const syn *i = s->list; i; i = i->next)
        given++;
    if (!rank)
        check_fail(c, s->at, "'%s' is a scalar (%s) and cannot be indexed", word,
                   dtypes[c->now->f.locals[slot].type].name);
    if (given != rank)
        check_fail(c, s->at, "'%s' has %d dimension%s, got %d ind%s", word, rank, rank > 1 ? "s" : "", given,
                   given > 1 ? "ices" : "ex");
    given = 0;
    for (const syn *i = s->list; i; i = i->next)
        indices[given++] = index_check(c, i);
    return element_node(c, slot, indices, s);
}

int array_named(check *c, const syn *s, const char *callee) {
    if (s->kind != S_NAME)
        check_fail(c, s->at, "'%s' needs the name of an array", callee);
    int slot = array_slot(c, s);
    const local *l = &c->now->f.locals[slot];
    if (!l->rank)
        check_fail(c, s->at, "'%s' needs an array; '%s' is a scalar (%s)", callee, l->name, dtypes[l->type].name);
    return slot;
}

void require_assignable(check *c, const variable *v, const syn *s) {
    require_complete(c, v, s);
    if (v->read_only)
        check_fail(c, s->at, "'%s' is %s and cannot be assigned", name_text(c, v->name), v->read_only);
    if (c->pure && v->local < c->pure_first)
        check_fail(c, s->at, "'%s' cannot be assigned here: %s has no effects", name_text(c, v->name), c->pure);
}

/* Checks an lvalue: a variable or an element that may be assigned here. */
static node *lvalue_check(check *c, const syn *s) {
    int id = s->kind == S_NAME ? s->name : s->kid[0]->name;
    const variable *v = variable_find(c, id);
    if (!v && size_find(c, id) < 0 && constant_named(c, id, s))
        check_fail(c, s->at, "'%s' is a constant and cannot be assigned", name_text(c, id));
    if (!v)
        fail_unknown(c, s->kind == S_NAME ? s : s->kid[0], true);
    require_assignable(c, v, s);
    if (s->kind == S_NAME && v->local < c->forall_first)
        check_fail(c, s->at,
                   "'%s' is declared outside of this forall, which assigns its own variables and elements of "
                   "arrays only",
                   name_text(c, id));
    return s->kind == S_NAME ? name_check(c, s) : element_check(c, s);
}

/* ---- Assignment ---- */

/* A value of this type is assigned to an lvalue: if that is an output whose type is being found, its type must fit the
 * value. */
static void guess_join(check *c, const node *lvalue, dtype type, bool weak) {
    output_guess *g = output_guessed(c, lvalue->local);
    if (!g)
        return;
    if (g->found == DT_NONE) {
        g->found = type;
        g->found_weak = weak;
    } else if (g->found != type || g->found_weak != weak) {
        g->found = common_type(g->found, g->found_weak, type, weak, &g->found_weak);
    }
}

/* A record is assigned to an lvalue: a named output without a type becomes one, and the body is checked once more. */
static void record_join(check *c, const node *lvalue, const node *value, const syn *at) {
    output_guess *g = lvalue->kind == N_LOCAL ? output_guessed(c, lvalue->local) : NULL;
    if (!g || !value->record || !c->frame->found)
        fail_record(c, value, at->at);
    c->frame->found[g->output] = value->record;
    c->frame->again = true;
}

node *assign_node(check *c, node *lvalue, node *value, const syn *at) {
    node *n = node_new(c, N_ASSIGN, lvalue->type, at);
    n->kid[0] = lvalue;
    n->kid[1] = convert(c, value, lvalue->type, at);
    return n;
}

static node *assign_check(check *c, const syn *s) {
    if (is_part(c, s->kid[0]))
        return part_assign_check(c, s);
    node *lvalue = lvalue_check(c, s->kid[0]), *value = value_check(c, s->kid[1]);
    if (value->kind == N_RECORD) {
        record_join(c, lvalue, value, s->kid[1]);
        return value;
    }
    guess_join(c, lvalue, value->type, value->weak);
    return assign_node(c, lvalue, value, s);
}

node *update_node(check *c, const syn *s, node *lvalue) {
    if (dtype_is_complex(lvalue->type))
        check_fail(c, s->at, "'%s' needs a real variable, got %s", s->op == OP_ADD ? "++" : "--",
                   dtypes[lvalue->type].name);
    guess_join(c, lvalue, lvalue->type, lvalue->weak);
    node *n = node_new(c, N_UPDATE, lvalue->type, s);
    n->kid[0] = lvalue;
    n->op = s->op;
    n->wide = (uint8_t)dtype_promoted(lvalue->type);
    n->postfix = s->postfix;
    return n;
}

static node *update_check(check *c, const syn *s) {
    return is_part(c, s->kid[0]) ? part_update_check(c, s) : update_node(c, s, lvalue_check(c, s->kid[0]));
}

/* ---- Operators ---- */

_Noreturn static void fail_operands(check *c, const syn *s, const char *sign, const char *needs, const node *a,
                                    const node *b, const char *hint) {
    char text1[32], text2[32];
    if (!b)
        check_fail(c, s->at, "'%s' needs %s, got %s%s", sign, needs, type_text(a, text1), hint);
    check_fail(c, s->at, "'%s' needs %s, got %s and %s%s", sign, needs, type_text(a, text1), type_text(b, text2), hint);
}

static bool is_integral(const node *n) { return n->type == DT_BOOL || dtype_is_integer(n->type); }

/* Fails unless the operator is defined on operands of these types. */
static void operands_allow(check *c, const syn *s, const char *sign, const node *a, const node *b) {
    switch (ops[s->op].kind) {
    case 'M':
    case 'S':
    case 'B':
    case 'F':
        if (!is_integral(a) || !is_integral(b))
            fail_operands(c, s, sign, "integers", a, b,
                          dtype_is_complex(a->type) || dtype_is_complex(b->type) ? ""
                          : s->op == OP_REM       ? "; the remainder of floating numbers is fmod(x, y)"
                          : s->op == OP_FLOOR_DIV ? "; of floating numbers it is floor(x / y)"
                          : s->op == OP_XOR       ? "; a power is written pow(x, y)"
                                                  : "");
        return;
    case 'R':
        if (dtype_is_complex(a->type) || dtype_is_complex(b->type))
            fail_operands(c, s, sign, "real operands", a, b, "; complex numbers have no order");
        return;
    default:
        return;
    }
}

node *binary_node(check *c, op o, node *a, node *b, dtype type, bool weak, const syn *at) {
    node *n = node_new(c, N_BINARY, type, at);
    n->op = (uint8_t)o;
    n->kid[0] = a;
    n->kid[1] = b;
    n->weak = weak;
    return fold(n);
}

/* A real operand of + or - beside a complex one, made complex with an imaginary zero of the sign that changes
 * nothing. */
static node *complex_beside(check *c, node *real, double zero, const syn *at) {
    dtype type = real->type;
    node *n = node_new(c, N_COMPLEX, complex_of(type), at);
    n->kid[0] = real;
    n->kid[1] = constant_node(c, (number){.type = type, .as.f[0] = zero}, at);
    n->kid[1]->weak = n->weak = real->weak;
    return fold(n);
}

/* Complex arithmetic as in C. A real factor or divisor stays real, and a real operand of + or - gets an imaginary zero;
 * a real dividend, and a real operand of a comparison, is converted. a and b have the complex type or its component
 * type. */
static node *complex_operate(check *c, op o, node *a, node *b, dtype type, bool weak, const syn *at) {
    bool a_real = !dtype_is_complex(a->type), b_real = !dtype_is_complex(b->type);
    switch (o) {
    case OP_MUL:
        return prelude_call(c, a_real ? "real_mul" : b_real ? "complex_mul_real" : "complex_mul", a, b, at);
    case OP_DIV:
        if (a_real)
            a = adapt(c, a, type, weak, at);
        return prelude_call(c, b_real ? "complex_div_real" : "complex_div", a, b, at);
    case OP_ADD:
    case OP_SUB:
        if (a_real)
            a = complex_beside(c, a, -0.0, at);
        if (b_real)
            b = complex_beside(c, b, o == OP_ADD ? -0.0 : 0.0, at);
        return binary_node(c, o, a, b, type, weak, at);
    default:
        a = adapt(c, a, type, weak, at);
        b = adapt(c, b, type, weak, at);
        return binary_node(c, o, a, b, DT_BOOL, false, at);
    }
}

/* An operand converted to the common type; a real one beside a complex one to its component type. */
static node *operand_adapt(check *c, node *n, dtype type, bool weak, const syn *at) {
    bool stays_real = dtype_is_complex(type) && !dtype_is_complex(n->type);
    return adapt(c, n, stays_real ? dtypes[type].component : type, weak, at);
}

node *operate(check *c, const syn *s, node *a, node *b) {
    op o = s->op;
    bool weak, relation = ops[o].kind == 'R' || ops[o].kind == 'E';
    operands_allow(c, s, ops[o].spelling, a, b);
    if (ops[o].kind == 'S') {
        weak = a->weak && b->weak;
        dtype type = dtype_promoted(a->type);
        a = adapt(c, a, type, weak, s);
        b = adapt(c, b, dtype_promoted(b->type), weak, s);
        return binary_node(c, o, a, b, type, weak, s);
    }
    dtype type = common_type(a->type, a->weak, b->type, b->weak, &weak);
    a = operand_adapt(c, a, type, weak, s);
    b = operand_adapt(c, b, type, weak, s);
    if (dtype_is_complex(type))
        return complex_operate(c, o, a, b, type, weak, s);
    return binary_node(c, o, a, b, relation ? DT_BOOL : type, weak && !relation, s);
}

node *operate_values(check *c, const syn *s, node *a, node *b) {
    const char *word = ops[s->op].helper;
    bool both = a->kind == N_RECORD && b->kind == N_RECORD && record_same(a->record, b->record);
    if (a->kind != N_RECORD && b->kind != N_RECORD)
        return operate(c, s, a, b);
    node *n = operator_call(c, word, a, b, s);
    if (!n && s->op == OP_NE && (n = operator_call(c, ops[OP_EQ].helper, a, b, s))) {
        node *not = node_new(c, N_UNARY, DT_BOOL, s);
        not ->op = OP_LNOT;
        not ->kid[0] = to_bool(c, n, s);
        return fold(not );
    }
    if (!n && both && ops[s->op].kind == 'E')
        return record_equal(c, s, a, b);
    if (!n)
        fail_operator(c, word, a, b, s);
    return n;
}

/* Checks an operand that is evaluated only where a condition is true, or false. */
static node *branch_check(check *c, const node *condition, bool truth, const syn *s) {
    known_mark before = known_here(c);
    condition_assume(c, condition, truth);
    node *n = value_check(c, s);
    known_drop(c, before);
    return n;
}

static node *logical(check *c, const syn *s, node *a) {
    node *n = node_new(c, s->kind == S_AND ? N_AND : N_OR, DT_BOOL, s);
    if (a->kind == N_RECORD)
        fail_record(c, a, s->kid[0]->at);
    n->kid[0] = to_bool(c, a, s->kid[0]);
    node *second = branch_check(c, n->kid[0], s->kind == S_AND, s->kid[1]);
    if (second->kind == N_RECORD)
        fail_record(c, second, s->kid[1]->at);
    n->kid[1] = to_bool(c, second, s->kid[1]);
    return fold(n);
}

static bool is_binary(const syn *s) { return s->kind == S_BINARY || s->kind == S_AND || s->kind == S_OR; }

/* Operators associate to the left. The left operands are walked in a loop, so that a long sum does not recurse. */
static node *binary_check(check *c, const syn *s) {
    size_t depth = 0;
    for (const syn *left = s; is_binary(left); left = left->kid[0])
        depth++;
    const syn **spine = arena_alloc(c->a, depth * sizeof *spine), *leaf = s;
    for (size_t i = depth; i-- > 0; leaf = leaf->kid[0])
        spine[i] = leaf;
    node *value = value_check(c, leaf);
    for (size_t i = 0; i < depth; i++) {
        if (spine[i]->kind == S_BINARY)
            value = operate_values(c, spine[i], value, value_check(c, spine[i]->kid[1]));
        else
            value = logical(c, spine[i], value);
    }
    return value;
}

static node *unary_record(check *c, const syn *s, node *a) {
    node *n = operator_call(c, ops[s->op].helper, a, NULL, s);
    if (!n)
        fail_operator(c, ops[s->op].helper, a, NULL, s);
    return n;
}

static node *unary_check(check *c, const syn *s) {
    node *a = value_check(c, s->kid[0]);
    if (a->kind == N_RECORD)
        return unary_record(c, s, a);
    bool weak = a->weak;
    if (s->op == OP_LNOT)
        a = to_bool(c, a, s);
    else if (s->op == OP_NOT && !is_integral(a))
        fail_operands(c, s, "~", "an integer", a, NULL, "");
    else
        a = adapt(c, a, dtype_promoted(a->type), weak, s);
    if (s->op == OP_ADD)
        return a;
    node *n = node_new(c, N_UNARY, a->type, s);
    n->op = s->op;
    n->kid[0] = a;
    n->weak = weak && s->op != OP_LNOT;
    return fold(n);
}

static node *select_check(check *c, const syn *s) {
    node *condition = condition_check(c, s->kid[0]);
    node *yes = branch_check(c, condition, true, s->kid[1]), *no = branch_check(c, condition, false, s->kid[2]);
    bool weak;
    if (yes->kind == N_RECORD || no->kind == N_RECORD)
        return record_select(c, s, condition, yes, no);
    dtype type = common_type(yes->type, yes->weak, no->type, no->weak, &weak);
    node *n = node_new(c, N_SELECT, type, s);
    n->kid[0] = condition;
    n->kid[1] = adapt(c, yes, type, weak, s->kid[1]);
    n->kid[2] = adapt(c, no, type, weak, s->kid[2]);
    n->weak = weak;
    return fold(n);
}

/* The right operand of a compound assignment, in the type in which that is computed; sets n->callee for complex * and
 * /. */
static node *compound_operand(check *c, const syn *s, node *n, node *value) {
    dtype type = n->wide;
    if (!dtype_is_complex(type))
        return adapt(c, value, ops[s->op].kind == 'S' ? dtype_promoted(value->type) : type, false, s);
    value = operand_adapt(c, value, type, false, s);
    bool is_real = !dtype_is_complex(value->type);
    if (s->op == OP_ADD || s->op == OP_SUB)
        return is_real ? complex_beside(c, value, s->op == OP_ADD ? -0.0 : 0.0, s) : value;
    const char *helper = s->op == OP_MUL ? (is_real ? "complex_mul_real" : "complex_mul")
                                         : (is_real ? "complex_div_real" : "complex_div");
    n->callee = &prelude_instance(c, helper, type, value->type, s)->f;
    return value;
}

static node *compound_check(check *c, const syn *s) {
    char sign[4];
    if (is_part(c, s->kid[0]))
        return part_compound_check(c, s);
    node *lvalue = lvalue_check(c, s->kid[0]), *value = value_check(c, s->kid[1]);
    if (value->kind == N_RECORD) {
        record_join(c, lvalue, value, s->kid[1]);
        return value;
    }
    bool weak, shift = ops[s->op].kind == 'S';
    strcpy(sign, ops[s->op].spelling);
    operands_allow(c, s, strcat(sign, "="), lvalue, value);
    dtype type =
        shift ? dtype_promoted(lvalue->type) : common_type(lvalue->type, lvalue->weak, value->type, value->weak, &weak);
    guess_join(c, lvalue, type, shift ? lvalue->weak : weak);
    node *n = node_new(c, N_COMPOUND, lvalue->type, s);
    n->op = s->op;
    n->wide = (uint8_t)type;
    n->kid[0] = lvalue;
    n->kid[1] = compound_operand(c, s, n, value);
    return n;
}

/* ---- Types as operands ---- */

static node *cast_check(check *c, const syn *s) {
    value_type to = named_type(c, s->to, s);
    return value_convert(c, value_check(c, s->kid[0]), to, true, s);
}

static bool choice_matches(choice_kind kind, dtype type) {
    switch (kind) {
    case CHOICE_INTEGER:
        return type == DT_BOOL || dtype_is_integer(type);
    case CHOICE_FLOATING:
        return dtype_is_floating(type);
    case CHOICE_COMPLEX:
        return dtype_is_complex(type);
    default:
        return kind == CHOICE_DEFAULT;
    }
}

static const char *choice_text(choice_kind kind, dtype type) {
    static const char *const kinds[] = {[CHOICE_INTEGER] = "integer",
                                        [CHOICE_FLOATING] = "floating",
                                        [CHOICE_COMPLEX] = "complex",
                                        [CHOICE_DEFAULT] = "default"};
    return kind == CHOICE_TYPE ? dtypes[type].name : kinds[kind];
}

/* An association for the type itself goes before one for its kind, which goes before default. Those that are not taken
 * are not checked. */
static node *generic_check(check *c, const syn *s) {
    enum {
        RANKS = CHOICE_DEFAULT + 1
    };
    value_type controlling = node_type(value_check(c, s->kid[0])); /* its nodes do not become part of the tree */
    dtype control = controlling.type;
    const syn *taken = NULL;
    bool seen[RANKS + DT_COUNT] = {false};
    for (const syn *choice = s->list; choice; choice = choice->next) {
        choice_kind kind = choice->choice;
        value_type named = kind == CHOICE_TYPE ? named_type(c, choice->to, choice) : value_scalar(DT_NONE);
        dtype type = named.type;
        bool *twice = named.record ? NULL : &seen[kind == CHOICE_TYPE ? RANKS + (int)type : (int)kind];
        if (twice && *twice)
            check_fail(c, choice->at, "two associations of _Generic are for %s", choice_text(kind, type));
        if (twice)
            *twice = true;
        bool matches = kind == CHOICE_TYPE
                           ? value_same(named, controlling)
                           : kind == CHOICE_DEFAULT || (!controlling.record && choice_matches(kind, control));
        bool better = !taken || kind == CHOICE_TYPE || taken->choice == CHOICE_DEFAULT;
        if (matches && better)
            taken = choice;
    }
    if (!taken)
        check_fail(c, s->at, "no association of _Generic is for %s", value_text(controlling));
    return value_check(c, taken->kid[0]);
}

/* ---- */

node *condition_check(check *c, const syn *s) { return to_bool(c, expression_check(c, s), s); }

static node *number_check(check *c, const syn *s) {
    node *n = constant_node(c, s->value, s);
    n->weak = s->weak;
    if (n->weak && n->type == DT_FLOAT64)
        n->value.as.f[1] = (double)s->single;
    return n;
}

node *pure_check(check *c, const syn *s, const char *where) {
    const char *around = c->pure;
    int first = c->pure_first;
    c->pure = where;
    c->pure_first = c->now->f.nlocals;
    node *n = value_check(c, s);
    c->pure = around;
    c->pure_first = first;
    return n;
}

node *expression_check(check *c, const syn *s) {
    node *n = value_check(c, s);
    if (n->kind == N_RECORD)
        fail_record(c, n, s->at);
    return n;
}

node *value_check(check *c, const syn *s) {
    switch (s->kind) {
    case S_NUMBER:
        return number_check(c, s);
    case S_NAME:
    case S_MEMBER:
        return is_part(c, s) ? member_check(c, s) : name_check(c, s);
    case S_LITERAL:
        return literal_check(c, s);
    case S_UNARY:
        return unary_check(c, s);
    case S_BINARY:
    case S_AND:
    case S_OR:
        return binary_check(c, s);
    case S_SELECT:
        return select_check(c, s);
    case S_ASSIGN:
        return assign_check(c, s);
    case S_COMPOUND:
        return compound_check(c, s);
    case S_UPDATE:
        return update_check(c, s);
    case S_CALL:
        return call_check(c, s);
    case S_INDEX:
        return is_part(c, s) ? member_check(c, s) : element_check(c, s);
    case S_CAST:
        return cast_check(c, s);
    case S_REDUCE:
        return reduction_check(c, s);
    case S_BRACES:
        check_fail(c, s->at, "{ .. } where a value is needed");
    case S_FIELD:
        check_fail(c, s->at, "'.%s =' where there is no record to initialise", name_text(c, s->name));
    default:
        assert(s->kind == S_GENERIC);
        return generic_check(c, s);
    }
}
