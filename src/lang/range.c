/* range.c - which indices are proved to lie within an extent: constants, counters of canonical loops, and simple arithmetic
 * on these. Works on int64; whatever could leave it is not proved. */
#include "lang/check.h"

typedef struct range {
    int64_t low, high;
} range;

static bool range_within(range r, dtype type) {
    number low = {.type = DT_INT64, .as.i = r.low}, high = {.type = DT_INT64, .as.i = r.high};
    return number_fits(low, type) && number_fits(high, type);
}

/* What a type alone says. */
static bool type_range(dtype type, range *out) {
    int bits = 8 * dtypes[type].size;
    if (type == DT_BOOL) {
        *out = (range){0, 1};
        return true;
    }
    if (!dtype_is_integer(type) || type == DT_UINT64)
        return false;
    *out = dtypes[type].is_signed ? (range){-(INT64_MAX >> (64 - bits)) - 1, INT64_MAX >> (64 - bits)}
                                  : (range){0, (INT64_C(1) << bits) - 1};
    return true;
}

static const variable *counter_of(const check *c, const node *n) {
    for (const variable *v = c->scope; v; v = v->scope_next)
        if (v->bounded && v->owner == c->now && v->local == n->local)
            return v;
    return NULL;
}

static bool node_range(const check *c, const node *n, range *out);

static bool sum_range(op o, range a, range b, range *out) {
    if (o == OP_ADD)
        return !__builtin_add_overflow(a.low, b.low, &out->low) && !__builtin_add_overflow(a.high, b.high, &out->high);
    return !__builtin_sub_overflow(a.low, b.high, &out->low) && !__builtin_sub_overflow(a.high, b.low, &out->high);
}

static bool product_range(range a, range b, range *out) {
    if (a.low < 0 || b.low < 0)
        return false;
    return !__builtin_mul_overflow(a.low, b.low, &out->low) && !__builtin_mul_overflow(a.high, b.high, &out->high);
}

static bool binary_range(const check *c, const node *n, range *out) {
    range a = {0, 0}, b;
    bool known = node_range(c, n->kid[0], &a);
    if (!node_range(c, n->kid[1], &b))
        return false;
    switch (n->op) {
    case OP_ADD:
    case OP_SUB:
        return known && sum_range(n->op, a, b, out) && range_within(*out, n->type);
    case OP_MUL:
        return known && product_range(a, b, out) && range_within(*out, n->type);
    case OP_DIV: /* of what is not negative by a positive constant */
        *out = (range){0, b.high > 0 ? a.high / b.high : 0};
        return known && a.low >= 0 && n->kid[1]->kind == N_CONST && b.high > 0;
    case OP_REM: /* by a positive constant, of what is not negative */
        *out = (range){0, b.high - 1};
        return n->kid[1]->kind == N_CONST && b.high > 0 && ((known && a.low >= 0) || !dtypes[n->type].is_signed);
    case OP_AND: /* with a constant that is not negative */
        *out = (range){0, b.high};
        return n->kid[1]->kind == N_CONST && b.high >= 0;
    default:
        return false;
    }
}

static bool node_range(const check *c, const node *n, range *out) {
    const variable *v;
    switch (n->kind) {
    case N_CONST:
        *out = (range){n->value.as.i, n->value.as.i};
        return dtype_is_integer(n->type) && (n->type != DT_UINT64 || n->value.as.i >= 0);
    case N_LOCAL:
        v = counter_of(c, n);
        if (v)
            *out = (range){v->low, v->high};
        return v || type_range(n->type, out);
    case N_CONVERT:
        if (dtypes[n->kid[0]->type].kind <= DK_INTEGER && node_range(c, n->kid[0], out) && range_within(*out, n->type))
            return true;
        return type_range(n->type, out);
    case N_BINARY:
        return binary_range(c, n, out) || type_range(n->type, out);
    default:
        return type_range(n->type, out);
    }
}

bool index_proved(const check *c, const node *index, int64_t extent) {
    range r;
    return node_range(c, index, &r) && r.low >= 0 && r.high < extent;
}

/* ---- Loops ---- */

/* True if a name is assigned anywhere below; every variable of that name counts. */
static bool assigns(const syn *s, int id) {
    for (; s; s = s->next) {
        bool writes = s->kind == S_ASSIGN || s->kind == S_COMPOUND || s->kind == S_UPDATE;
        if (writes && s->kid[0]->kind == S_NAME && s->kid[0]->name == id)
            return true;
        if (assigns(s->kid[0], id) || assigns(s->kid[1], id) || assigns(s->kid[2], id))
            return true;
        if (assigns(s->list, id) || assigns(s->body, id) || assigns(s->other, id))
            return true;
    }
    return false;
}

/* By how much the steps of a for count a name up; 0: they do something else. */
static int64_t counts_up(const syn *steps, int id) {
    if (!steps || steps->next)
        return 0;
    const syn *s = steps->kid[0];
    bool place = (s->kind == S_UPDATE || s->kind == S_COMPOUND) && s->kid[0]->kind == S_NAME && s->kid[0]->name == id;
    if (!place || s->op != OP_ADD)
        return 0;
    if (s->kind == S_UPDATE)
        return 1;
    return s->kid[1]->kind == S_NUMBER && dtype_is_integer(s->kid[1]->type) ? s->kid[1]->value.as.i : 0;
}

/* Without conversions that keep the value of what is not negative. */
static const node *unconverted(const node *n) {
    while (n->kind == N_CONVERT && dtype_is_integer(n->type) && dtype_is_integer(n->kid[0]->type) &&
           dtypes[n->type].size >= dtypes[n->kid[0]->type].size)
        n = n->kid[0];
    return n;
}

/* True if the first part of a for gives the name its value. */
static bool starts_with(const syn *init, int id) {
    if (init->kind == S_DECLARE)
        return init->name == id;
    const syn *place = init->kid[0]->kid[0]; /* of an assignment: the loop has a start */
    return place->kind == S_NAME && place->name == id;
}

variable *loop_variable(check *c, const syn *loop, const node *condition, const node *start) {
    if (!condition || condition->kind != N_BINARY || (condition->op != OP_LT && condition->op != OP_LE))
        return NULL;
    const node *counted = unconverted(condition->kid[0]), *limit = condition->kid[1];
    if (counted->kind != N_LOCAL || !dtype_is_integer(counted->type) || limit->kind != N_CONST ||
        !dtype_is_integer(limit->type) || !start || start->kind != N_CONST)
        return NULL;
    variable *v = c->scope;
    while (v && !(v->owner == c->now && v->local == counted->local))
        v = v->scope_next;
    if (!v || !starts_with(loop->list, v->name) || assigns(loop->body, v->name) || assigns(loop->kid[0], v->name))
        return NULL;
    int64_t step = counts_up(loop->kid[1], v->name), after;
    v->low = start->value.as.i;
    v->high = condition->op == OP_LT ? limit->value.as.i - 1 : limit->value.as.i;
    if (step <= 0 || v->low < 0 || limit->value.as.i < 0 || v->high < v->low)
        return NULL;
    /* A counter that steps past the end of its type would come back below low. */
    v->bounded = !__builtin_add_overflow(v->high, step, &after) && range_within((range){v->low, after}, counted->type);
    return v->bounded ? v : NULL;
}
