/* call.c - checks calls, of the user's helpers, of math functions and of helpers of the prelude; and knows the
 * constants by their names. */
#include <assert.h>
#include <math.h>

#include "lang/check.h"

/* ---- Built-in names ---- */

static const struct {
    const char *name;
    dtype type;
    bool weak;
    double re, im;
} constants[] = {
    {"NAN", DT_FLOAT64, true, NAN, 0},         {"INFINITY", DT_FLOAT64, true, INFINITY, 0},
    {"I", DT_COMPLEX128, true, 0, 1},          {"true", DT_BOOL, false, 1, 0},
    {"false", DT_BOOL, false, 0, 0},           {"M_E", DT_FLOAT64, true, M_E, 0},
    {"M_LOG2E", DT_FLOAT64, true, M_LOG2E, 0}, {"M_LOG10E", DT_FLOAT64, true, M_LOG10E, 0},
    {"M_LN2", DT_FLOAT64, true, M_LN2, 0},     {"M_LN10", DT_FLOAT64, true, M_LN10, 0},
    {"M_PI", DT_FLOAT64, true, M_PI, 0},       {"M_PI_2", DT_FLOAT64, true, M_PI_2, 0},
    {"M_PI_4", DT_FLOAT64, true, M_PI_4, 0},   {"M_1_PI", DT_FLOAT64, true, M_1_PI, 0},
    {"M_2_PI", DT_FLOAT64, true, M_2_PI, 0},   {"M_2_SQRTPI", DT_FLOAT64, true, M_2_SQRTPI, 0},
    {"M_SQRT2", DT_FLOAT64, true, M_SQRT2, 0}, {"M_SQRT1_2", DT_FLOAT64, true, M_SQRT1_2, 0},
};

/* Functions that become nodes of their own. */
static const struct {
    const char *name;
    int arity;
    node_kind kind;
    op o; /* of N_BINARY */
} parts[] = {{"real", 1, N_REAL, 0},
             {"creal", 1, N_REAL, 0},
             {"imag", 1, N_IMAG, 0},
             {"cimag", 1, N_IMAG, 0},
             {"CMPLX", 2, N_COMPLEX, 0},
             {"floor_div", 2, N_BINARY, OP_FLOOR_DIV},
             {"floor_mod", 2, N_BINARY, OP_FLOOR_MOD}};

static bool same(const char *known, const char *word, int length) {
    return strncmp(known, word, (size_t)length) == 0 && !known[length];
}

node *constant_find(check *c, const char *word, int length, const syn *at) {
    for (size_t i = 0; i < COUNT(constants); i++) {
        if (!same(constants[i].name, word, length))
            continue;
        number value = {.type = constants[i].type};
        if (value.type == DT_BOOL)
            value.as.u = constants[i].re != 0;
        else
            value.as.f[0] = constants[i].re;
        if (value.type == DT_COMPLEX128)
            value.as.f[1] = constants[i].im;
        else if (value.type == DT_FLOAT64)
            value.as.f[1] = (double)(float)constants[i].re;
        node *n = constant_node(c, value, at);
        n->weak = constants[i].weak;
        return n;
    }
    return NULL;
}

static int part_find(const char *word, int length) {
    for (int i = 0; i < (int)COUNT(parts); i++)
        if (same(parts[i].name, word, length))
            return i;
    return -1;
}

static int prelude_find(const char *word, int length) {
    for (int i = 0; i < prelude_row_count; i++)
        if (same(prelude_rows[i].name, word, length))
            return i;
    return -1;
}

bool name_is_function(const check *c, int id) {
    const name *n = &c->frame->u->s->names[id];
    return overload_known(c, n->text, n->length) || part_find(n->text, n->length) >= 0 ||
           prelude_find(n->text, n->length) >= 0 || builtin_find(n->text, n->length) >= 0 ||
           math_find(n->text, (size_t)n->length);
}

const char *constant_title(int i) { return i >= 0 && (size_t)i < COUNT(constants) ? constants[i].name : NULL; }
const char *part_title(int i) { return i >= 0 && (size_t)i < COUNT(parts) ? parts[i].name : NULL; }

/* ---- Arguments ---- */

/* A table of file scope as a variable; NULL: the name is of something else. */
static const variable *table_variable(check *c, const syn *s) {
    const file_constant *k = size_find(c, s->name) < 0 ? constant_named(c, s->name, s) : NULL;
    if (!k || k->value)
        return NULL;
    variable *v = arena_alloc(c->a, sizeof *v);
    *v = (variable){.name = s->name, .local = constant_table(c, k, s), .read_only = "const", .owner = c->frame};
    return v;
}

/* The array that an argument names, if a helper of this name takes one there; else NULL. */
static const variable *array_argument(check *c, const name *called, const syn *s, int k) {
    if (s->kind != S_NAME || !takes_array(c, called->text, called->length, k))
        return NULL;
    const variable *v = variable_find(c, s->name);
    if (!v)
        return table_variable(c, s);
    return v->incomplete || v->stands_for || !c->now->f.locals[v->local].rank ? NULL : v;
}

void arguments_check(check *c, call_arguments *a) {
    const name *called = &c->frame->u->s->names[a->call->name];
    node **end = &a->list;
    for (const syn *s = a->call->list; s; s = s->next, a->count++) {
        if (a->count == UF_MAX_OPERANDS)
            check_fail(c, s->at, "more than %d arguments", UF_MAX_OPERANDS);
        a->arrays[a->count] = array_argument(c, called, s, a->count);
        *end = a->arrays[a->count] ? local_node(c, a->arrays[a->count]->local, s) : value_check(c, s);
        end = &(*end)->next;
    }
    *end = NULL;
}

static void arity_check(check *c, const call_arguments *a, int arity) {
    if (a->count != arity)
        check_fail(c, a->call->at, "'%s' takes %d argument%s, got %d", a->callee, arity, arity == 1 ? "" : "s",
                   a->count);
}

_Noreturn static void fail_complex(check *c, const call_arguments *a) {
    for (const node *n = a->list; n; n = n->next)
        if (dtype_is_complex(n->type))
            check_fail(c, a->call->at, "'%s' is not defined for %s", a->callee, dtypes[n->type].name);
    check_fail(c, a->call->at, "'%s' is not defined for complex numbers", a->callee);
}

/* The common type of all arguments but the one at `except`. */
static dtype arguments_common(const call_arguments *a, int except, bool *weak) {
    dtype type = DT_NONE;
    int k = 0;
    for (const node *n = a->list; n; n = n->next, k++) {
        if (k == except)
            continue;
        if (type == DT_NONE) {
            type = dtype_promoted(n->type);
            *weak = n->weak;
        } else {
            type = common_type(type, *weak, n->type, n->weak, weak);
        }
    }
    return type;
}

/* Replaces an argument in its list by the adapted one, and returns where the next one is. */
static node **argument_adapt(check *c, node **at, dtype type, bool weak, const syn *call) {
    node *following = (*at)->next;
    (*at)->next = NULL;
    *at = adapt(c, *at, type, weak, call);
    (*at)->next = following;
    return &(*at)->next;
}

/* Adapts all arguments: the one at `integer_index` to an integer type, the others to `type`. */
static void arguments_adapt_but(check *c, call_arguments *a, dtype type, bool weak, int integer_index, dtype integer) {
    int k = 0;
    for (node **at = &a->list; *at; k++) {
        if (k == integer_index && dtype_is_complex((*at)->type))
            fail_complex(c, a);
        at = argument_adapt(c, at, k == integer_index ? integer : type, k != integer_index && weak, a->call);
    }
}

static void arguments_adapt(check *c, call_arguments *a, dtype type, bool weak) {
    arguments_adapt_but(c, a, type, weak, -1, DT_NONE);
}

/* ---- Helpers ---- */

static node *call_node(check *c, const call_arguments *a, instance *callee, bool weak) {
    dtype type = callee->f.locals[callee->f.nparams].type;
    node *n = node_new(c, N_CALL, type, a->call);
    n->callee = &callee->f;
    n->args = a->list;
    n->weak = weak && type != DT_BOOL;
    return n;
}

static instance *arguments_instance(check *c, const call_arguments *a, unit *u, const definition *def) {
    dtype types[UF_MAX_OPERANDS];
    int k = 0;
    for (const node *n = a->list; n; n = n->next)
        types[k++] = n->type;
    return instance_of_dtypes(c, u, def, types, a->call);
}

/* ---- The prelude ---- */

static unit *prelude_unit(check *c, int row) {
    unit **u = &c->prelude[row];
    if (!*u) {
        *u = unit_new(c, parse_helpers(c->a, prelude_rows[row].source));
        (*u)->prelude = true;
        (*u)->row = prelude_rows[row].name;
    }
    return *u;
}

static instance *prelude_arguments_instance(check *c, const call_arguments *a, int row) {
    unit *u = prelude_unit(c, row);
    return arguments_instance(c, a, u, u->s->helpers);
}

instance *prelude_instance(check *c, const char *helper, dtype first, dtype second, const syn *at) {
    unit *u = prelude_unit(c, prelude_find(helper, (int)strlen(helper)));
    dtype types[] = {first, second};
    return instance_of_dtypes(c, u, u->s->helpers, types, at);
}

/* Evaluates a product of constants, or a quotient by a real constant, by the formulas of the prelude. NULL: it is
 * neither. */
static node *complex_fold(check *c, const char *helper, node *a, node *b, const syn *at) {
    bool divide = strcmp(helper, "complex_div_real") == 0;
    if (a->kind != N_CONST || b->kind != N_CONST || strcmp(helper, "complex_div") == 0)
        return NULL;
    double x = a->value.as.f[0], y = dtype_is_complex(a->type) ? a->value.as.f[1] : 0;
    double u = b->value.as.f[0], v = dtype_is_complex(b->type) ? b->value.as.f[1] : 0;
    dtype type = dtype_is_complex(a->type) ? a->type : b->type;
    bool single = type == DT_COMPLEX64;
    number value = {.type = type};
    if (divide) {
        value.as.f[0] = x / u;
        value.as.f[1] = y / u;
    } else if (!dtype_is_complex(a->type)) {
        value.as.f[0] = x * u;
        value.as.f[1] = x * v;
    } else if (!dtype_is_complex(b->type)) {
        value.as.f[0] = x * u;
        value.as.f[1] = y * u;
    } else if (single) {
        value.as.f[0] = rounded_to_single(x * u) - rounded_to_single(y * v);
        value.as.f[1] = rounded_to_single(x * v) + rounded_to_single(y * u);
    } else {
        value.as.f[0] = x * u - y * v;
        value.as.f[1] = x * v + y * u;
    }
    for (int i = 0; i < 2 && single; i++)
        value.as.f[i] = rounded_to_single(value.as.f[i]);
    node *n = constant_node(c, value, at);
    n->weak = a->weak && b->weak;
    return n;
}

node *prelude_call(check *c, const char *helper, node *first, node *second, const syn *at) {
    node *constant = complex_fold(c, helper, first, second, at);
    if (constant)
        return constant;
    bool weak = first->weak && second->weak;
    node *n = node_new(c, N_CALL, DT_NONE, at);
    n->callee = &prelude_instance(c, helper, first->type, second->type, at)->f;
    n->type = (uint8_t)n->callee->locals[n->callee->nparams].type;
    n->args = first;
    first->next = second;
    n->weak = weak;
    return n;
}

bool call_retype(check *c, node *n, dtype floating) {
    const instance *before = (const instance *)n->callee;
    syn at = {.line = n->line};
    if (!before->frame.u->prelude)
        return false;
    call_arguments a = {.call = &at, .list = n->args};
    for (node **arg = &a.list; *arg;) {
        dtype type = (*arg)->type;
        if (dtypes[type].kind >= DK_FLOATING) /* an integer is the order of jn, which stays */
            type = dtype_is_complex(type) ? complex_of(floating) : floating;
        arg = argument_adapt(c, arg, type, false, &at);
    }
    instance *callee = arguments_instance(c, &a, before->frame.u, before->frame.def);
    n->args = a.list;
    n->callee = &callee->f;
    n->type = (uint8_t)callee->f.locals[callee->f.nparams].type;
    return true;
}

/* ---- Overloaded functions ---- */

/* The row of the complex function for the name of a real one, "cexp" for "exp"; -1: there is none. */
static int complex_row(const char *word, int length) {
    char complex[LANG_MAX_NAME + 2];
    complex[0] = 'c';
    memcpy(complex + 1, word, (size_t)length);
    return prelude_find(complex, length + 1);
}

static dtype floating_of(dtype type) { return dtype_is_integer(type) ? DT_FLOAT64 : type; }

static void words_adapt(check *c, call_arguments *a) {
    for (node **at = &a->list; *at;) {
        if ((*at)->type != DT_BOOL && !dtype_is_integer((*at)->type)) {
            char words[32];
            check_fail(c, a->call->at, "'%s' needs integers, got %s", a->callee, type_text(*at, words));
        }
        at = argument_adapt(c, at, DT_UINT64, false, a->call);
    }
}

static node *prelude_function(check *c, call_arguments *a, int row) {
    const prelude_row *r = &prelude_rows[row];
    bool weak = false;
    arity_check(c, a, r->arity);
    if (r->rule == RULE_WORDS)
        words_adapt(c, a);
    if (r->rule == RULE_EXACT || r->rule == RULE_WORDS)
        return call_node(c, a, prelude_arguments_instance(c, a, row), false);
    int integer_index = r->rule == RULE_ORDER ? 0 : r->rule == RULE_EXPONENT ? r->arity - 1 : -1;
    dtype type = arguments_common(a, integer_index, &weak);
    if (dtype_is_complex(type) && r->rule != RULE_COMPLEX && r->rule != RULE_INEXACT) {
        int other = complex_row(r->name, (int)strlen(r->name));
        if (other < 0)
            fail_complex(c, a);
        return prelude_function(c, a, other);
    }
    if (r->rule != RULE_ARITHMETIC)
        type = floating_of(type);
    if (r->rule == RULE_COMPLEX && !dtype_is_complex(type))
        type = complex_of(type);
    arguments_adapt_but(c, a, type, weak, integer_index, r->rule == RULE_ORDER ? DT_INT32 : DT_INT64);
    return call_node(c, a, prelude_arguments_instance(c, a, row), weak);
}

static node *math_bits(check *c, call_arguments *a, const math_row *row) {
    assert(a->list); /* the row has one argument */
    node *n = node_new(c, N_MATH, DT_INT32, a->call);
    dtype type = a->list->type;
    if (type != DT_BOOL && !dtype_is_integer(type)) {
        char words[32];
        check_fail(c, a->call->at, "'%s' needs an integer, got %s", a->callee, type_text(a->list, words));
    }
    type = type == DT_BOOL ? DT_INT32 : type;
    arguments_adapt(c, a, type, false);
    n->args = a->list;
    n->math = row;
    n->wide = (uint8_t)type;
    return n;
}

static node *math_function(check *c, call_arguments *a, const math_row *row) {
    bool weak = false;
    arity_check(c, a, row->arity);
    if (row->rule == MATH_BITS)
        return math_bits(c, a, row);
    int integer_index = row->rule == MATH_FLOATING_INT ? row->arity - 1 : row->rule == MATH_INT_FLOATING ? 0 : -1;
    dtype type = floating_of(arguments_common(a, integer_index, &weak));
    if (dtype_is_complex(type)) {
        int other = complex_row(row->name, (int)strlen(row->name));
        if (other < 0 || integer_index >= 0)
            fail_complex(c, a);
        return prelude_function(c, a, other);
    }
    arguments_adapt_but(c, a, type, weak, integer_index, DT_INT32);
    node *n = node_new(c, N_MATH, row->rule == MATH_TO_INT ? DT_INT32 : type, a->call);
    n->args = a->list;
    n->math = row;
    n->wide = (uint8_t)type;
    n->weak = weak && row->rule != MATH_TO_INT;
    return n;
}

/* An operator that is written like a call. */
static node *operator_function(check *c, const call_arguments *a, op o) {
    syn as_operator = *a->call;
    node *x = a->list, *y = x->next;
    as_operator.op = (uint8_t)o;
    x->next = NULL;
    return operate(c, &as_operator, x, y);
}

static node *part(check *c, call_arguments *a, int row) {
    bool weak = false, builds = parts[row].kind == N_COMPLEX;
    arity_check(c, a, parts[row].arity);
    if (parts[row].kind == N_BINARY)
        return operator_function(c, a, parts[row].o);
    dtype type = floating_of(arguments_common(a, -1, &weak));
    if (builds && dtype_is_complex(type))
        fail_complex(c, a);
    dtype complex = dtype_is_complex(type) ? type : complex_of(type);
    arguments_adapt(c, a, builds ? type : complex, weak);
    node *n = node_new(c, parts[row].kind, builds ? complex : dtypes[complex].component, a->call);
    n->kid[0] = a->list;
    n->kid[1] = a->list->next;
    for (int i = 0; i < 2 && n->kid[i]; i++)
        n->kid[i]->next = NULL;
    n->weak = weak;
    return fold(n);
}

static node *builtin_call(check *c, call_arguments *a, const name *called) {
    int what = part_find(called->text, called->length), row = prelude_find(called->text, called->length);
    const math_row *math = math_find(called->text, (size_t)called->length);
    if (what >= 0)
        return part(c, a, what);
    if (row >= 0 && (prelude_rows[row].rule != RULE_EXACT || c->frame->u->prelude))
        return prelude_function(c, a, row);
    if (math)
        return math_function(c, a, math);
    fail_unknown_function(c, a->call);
}

/* Is there a built-in function of this name that takes so many values? */
static bool builtin_takes(const check *c, const name *called, int count) {
    int what = part_find(called->text, called->length), row = prelude_find(called->text, called->length);
    const math_row *math = math_find(called->text, (size_t)called->length);
    if (what >= 0)
        return count == parts[what].arity;
    if (row >= 0 && (prelude_rows[row].rule != RULE_EXACT || c->frame->u->prelude))
        return count == prelude_rows[row].arity;
    return math && count == math->arity;
}

/* Fails if an argument is no number, as a built-in function needs them. */
static void require_numbers(check *c, const call_arguments *a, const name *called) {
    int k = 0;
    for (const node *n = a->list; n; n = n->next, k++) {
        if (n->kind == N_RECORD && n->record)
            fail_operator(c, arena_text(c->a, called->text, (size_t)called->length), a->list, a->list->next, a->call);
        if (n->kind == N_RECORD)
            fail_record(c, n, a->call->at);
    }
}

node *call_check(check *c, const syn *s) {
    const name *called = &c->frame->u->s->names[s->name];
    call_arguments a = {.call = s, .callee = name_text(c, s->name)};
    bool known = overload_known(c, called->text, called->length);
    if (variable_find(c, s->name))
        check_fail(c, s->at, "'%s' is a variable here and cannot be called", a.callee);
    if (!known && builtin_find(called->text, called->length) >= 0)
        return builtin_check(c, s, builtin_find(called->text, called->length));
    range_require(c, s);
    bool reaches = c->frame->u->s->nmodules > 0; /* records of modules bring the helpers of their texts */
    if (!known && !reaches && !name_is_function(c, s->name))
        fail_unknown_function(c, s);
    arguments_check(c, &a);
    const math_row *math = math_find(called->text, (size_t)called->length);
    /* in the prelude's own row of that name this is libm's function, not a call of itself */
    if (math && c->frame->u->prelude)
        return math_function(c, &a, math);
    if (known || has_record(&a)) {
        bool builtin = builtin_takes(c, called, a.count) && !has_record(&a);
        node *n = overload_call(c, &a, called->text, called->length, builtin, known && !builtin);
        if (n)
            return n;
    }
    if (!name_is_function(c, s->name) && !has_record(&a))
        fail_unknown_function(c, s);
    require_numbers(c, &a, called);
    return builtin_call(c, &a, called);
}
