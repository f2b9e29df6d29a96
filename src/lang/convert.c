/* convert.c - types in expressions: promotion, the common type of operands, weak values, and operators on constants.
 *
 * A value is weak if it is a literal, a constant such as M_PI, or an expression of weak values (or of integers and a
 * weak floating value). It has its C type until it meets a value that is not weak. A weak floating expression then
 * takes the floating type of that value, down to its literals, as if these had been written with a suffix. So that a
 * literal is rounded only once, a weak floating constant keeps its rounding to float32 in value.as.f[1]. */
#include <math.h>
#include <stdio.h>

#include "lang/check.h"

/* ---- Types ---- */

const char *type_text(const node *n, char *buffer) {
    snprintf(buffer, 32, "%s%s", dtypes[n->type].name, n->weak ? " (weak)" : "");
    return buffer;
}

static bool is_short(dtype t) {
    return t == DT_BOOL || t == DT_INT8 || t == DT_INT16 || t == DT_UINT8 || t == DT_UINT16;
}

dtype dtype_promoted(dtype t) { return is_short(t) ? DT_INT32 : dtype_is_half(t) ? DT_FLOAT32 : t; }

dtype complex_of(dtype floating) { return floating == DT_FLOAT64 ? DT_COMPLEX128 : DT_COMPLEX64; }

static dtype common_integer(dtype a, dtype b) {
    if (dtypes[a].size != dtypes[b].size)
        return dtypes[a].size > dtypes[b].size ? a : b;
    return dtypes[a].is_signed ? b : a;
}

/* C's usual arithmetic conversions, of promoted types. */
static dtype usual(dtype a, dtype b) {
    bool complex = dtype_is_complex(a) || dtype_is_complex(b);
    dtype x = dtypes[a].component, y = dtypes[b].component;
    if (dtype_is_integer(x) && dtype_is_integer(y))
        return common_integer(x, y);
    dtype t = x == DT_FLOAT64 || y == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32;
    return complex ? complex_of(t) : t;
}

/* The type of a weak value beside one that is not weak. *weak: it stays weak, because the other is an integer. */
static dtype weak_beside(dtype weak_type, dtype strong, bool *weak) {
    *weak = false;
    if (dtype_is_integer(weak_type))
        return dtype_is_integer(strong) ? common_integer(weak_type, strong) : strong;
    *weak = dtype_is_integer(strong);
    if (*weak)
        return weak_type;
    return dtype_is_complex(weak_type) ? complex_of(dtypes[strong].component) : strong;
}

dtype common_type(dtype a, bool a_weak, dtype b, bool b_weak, bool *weak) {
    a = dtype_promoted(a);
    b = dtype_promoted(b);
    *weak = a_weak && b_weak;
    if (a_weak == b_weak)
        return usual(a, b);
    return a_weak ? weak_beside(a, b, weak) : weak_beside(b, a, weak);
}

/* ---- Constants ---- */

static number number_as(number value, dtype to) {
    char bytes[16];
    number_write(value, to, bytes);
    return number_read(to, bytes);
}

node *constant_node(check *c, number value, const syn *at) {
    node *n = node_new(c, N_CONST, value.type, at);
    n->value = value;
    return n;
}

node *integer_node(check *c, int64_t value, dtype type, const syn *at) {
    return constant_node(c, number_as((number){.type = DT_INT64, .as.i = value}, type), at);
}

static node *constant_set(node *n, number value) {
    bool weak = n->weak;
    int line = n->line;
    node *following = n->next;
    *n = (node){
        .kind = N_CONST, .type = (uint8_t)value.type, .value = value, .weak = weak, .line = line, .next = following};
    if (value.type == DT_FLOAT64 && weak)
        n->value.as.f[1] = (double)(float)value.as.f[0];
    return n;
}

static bool is_constant(const node *n) { return n && n->kind == N_CONST; }

/* Converts a constant in its node. A weak literal uses its own rounding to float32. */
static node *constant_convert(node *n, dtype to) {
    number from = n->value;
    if (n->weak && from.type == DT_FLOAT64) {
        if (to == DT_FLOAT32 || to == DT_COMPLEX64)
            from.as.f[0] = from.as.f[1];
        from.as.f[1] = 0;
    }
    return constant_set(n, number_as(from, to));
}

/* ---- Conversion ---- */

/* n converted to `to` after being computed in its own type. It is weak if it was. */
static node *converted(check *c, node *n, dtype to, const syn *at) {
    if (n->type == to)
        return n;
    if (n->kind == N_CONST)
        return constant_convert(n, to);
    node *result = node_new(c, N_CONVERT, to, at);
    result->kid[0] = n;
    result->weak = n->weak;
    return result;
}

static node *strong(node *n) {
    n->weak = false;
    if (n->kind == N_CONST && n->type == DT_FLOAT64)
        n->value.as.f[1] = 0;
    return n;
}

node *convert(check *c, node *n, dtype to, const syn *at) { return strong(converted(c, n, to, at)); }

/* Makes a weak floating or complex expression compute in another floating type, down to its literals. */
static node *retype(check *c, node *n, dtype floating, const syn *at) {
    dtype to = dtype_is_complex(n->type) ? complex_of(floating) : floating;
    if (n->type == to)
        return n;
    switch (n->kind) {
    case N_CONST:
        return constant_convert(n, to);
    case N_CONVERT: /* a conversion of an integer, or of a weak real value to complex */
        if (dtypes[n->kid[0]->type].kind >= DK_FLOATING)
            n->kid[0] = retype(c, n->kid[0], floating, at);
        break;
    case N_SELECT:
        n->kid[1] = retype(c, n->kid[1], floating, at);
        n->kid[2] = retype(c, n->kid[2], floating, at);
        break;
    case N_UNARY:
    case N_BINARY:
    case N_COMPLEX:
    case N_REAL:
    case N_IMAG:
        for (int i = 0; i < 2 && n->kid[i]; i++)
            n->kid[i] = retype(c, n->kid[i], floating, at);
        break;
    case N_MATH:
        for (node **arg = &n->args; *arg; arg = &(*arg)->next)
            if ((*arg)->type == n->wide) {
                node *following = (*arg)->next;
                *arg = retype(c, *arg, floating, at);
                (*arg)->next = following;
            }
        n->wide = (uint8_t)floating;
        break;
    case N_CALL:
        if (call_retype(c, n, floating))
            return n;
        return converted(c, n, to, at);
    default:
        return converted(c, n, to, at);
    }
    n->type = (uint8_t)to;
    return n;
}

node *adapt(check *c, node *n, dtype to, bool weak, const syn *at) {
    if (n->weak && !weak && n->type != to) {
        if (dtypes[n->type].kind >= DK_FLOATING) {
            n = retype(c, n, dtypes[to].component, at);
        } else if (n->kind == N_SELECT) {
            n->kid[1] = adapt(c, n->kid[1], to, false, at);
            n->kid[2] = adapt(c, n->kid[2], to, false, at);
            n->type = (uint8_t)to;
        }
    }
    bool weaker = weak && !n->weak;
    n = converted(c, n, to, at);
    if (!weak)
        return strong(n);
    n->weak = true;
    if (weaker && n->kind == N_CONST && n->type == DT_FLOAT64)
        n->value.as.f[1] = (double)(float)n->value.as.f[0];
    return n;
}

node *to_bool(check *c, node *n, const syn *at) { return convert(c, n, DT_BOOL, at); }

/* ---- Operators on constants ---- */

static uint64_t integer_wrap(dtype t, uint64_t value) {
    return number_as((number){.type = DT_UINT64, .as.u = value}, t).as.u;
}

static uint64_t integer_divide(dtype t, uint64_t a, uint64_t b, op o) {
    bool remainder = op_of_naturals(o) == OP_REM;
    if (b == 0)
        return 0;
    if (!dtypes[t].is_signed)
        return remainder ? a % b : a / b;
    if ((int64_t)b == -1)
        return remainder ? 0 : 0 - a;
    int64_t x = (int64_t)a, y = (int64_t)b, quotient = x / y, rest = x % y;
    bool apart = ops[o].kind == 'F' && rest && (rest < 0) != (y < 0); /* the quotient lies 1 further down */
    return (uint64_t)(remainder ? rest + (apart ? y : 0) : quotient - apart);
}

static uint64_t integer_shift(dtype t, uint64_t a, uint64_t count, bool left) {
    unsigned width = 8u * dtypes[t].size;
    bool negative = dtypes[t].is_signed && (int64_t)a < 0;
    if (count >= width)
        return left || !negative ? 0 : UINT64_MAX;
    if (left)
        return a << count;
    return negative ? ~(~a >> count) : a >> count;
}

static uint64_t integer_operate(op o, dtype t, uint64_t a, uint64_t b) {
    switch (o) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
    case OP_REM:
    case OP_FLOOR_DIV:
    case OP_FLOOR_MOD:
        return integer_divide(t, a, b, o);
    case OP_SHL:
    case OP_SHR:
        return integer_shift(t, a, b, o == OP_SHL);
    case OP_AND:
        return a & b;
    case OP_XOR:
        return a ^ b;
    default:
        return a | b;
    }
}

static double floating_operate(op o, double a, double b) {
    switch (o) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    default:
        return a / b;
    }
}

/* -1, 0 or 1; 2 if a NaN is among them */
static int number_compare(number a, number b) {
    if (dtype_is_floating(a.type))
        return a.as.f[0] < b.as.f[0] ? -1 : a.as.f[0] > b.as.f[0] ? 1 : a.as.f[0] == b.as.f[0] ? 0 : 2;
    if (dtypes[a.type].is_signed)
        return a.as.i < b.as.i ? -1 : a.as.i > b.as.i;
    return a.as.u < b.as.u ? -1 : a.as.u > b.as.u;
}

static bool number_relation(op o, number a, number b) {
    if (dtype_is_complex(a.type)) {
        bool equal = a.as.f[0] == b.as.f[0] && a.as.f[1] == b.as.f[1];
        return o == OP_EQ ? equal : !equal;
    }
    int order = number_compare(a, b);
    switch (o) {
    case OP_LT:
        return order == -1;
    case OP_LE:
        return order == -1 || order == 0;
    case OP_GT:
        return order == 1;
    case OP_GE:
        return order == 1 || order == 0;
    case OP_EQ:
        return order == 0;
    default:
        return order != 0;
    }
}

static number number_operate(op o, number a, number b) {
    number result = {.type = a.type};
    if (ops[o].kind == 'R' || ops[o].kind == 'E')
        return (number){.type = DT_BOOL, .as.u = number_relation(o, a, b)};
    if (dtype_is_integer(a.type)) {
        uint64_t count_mask =
            dtypes[b.type].size == 4 ? UINT32_MAX : UINT64_MAX; /* the count of a shift is read as unsigned */
        bool shift = ops[o].kind == 'S';
        result.as.u = integer_wrap(a.type, integer_operate(o, a.type, a.as.u, shift ? b.as.u & count_mask : b.as.u));
        return result;
    }
    /* Computed in double and then rounded to float32, which for a single operation gives the same as computing in
     * float32. */
    bool complex = dtype_is_complex(a.type), wide = dtypes[a.type].component == DT_FLOAT64;
    for (int i = 0; i < 1 + complex; i++) {
        double value = floating_operate(o, a.as.f[i], b.as.f[i]);
        result.as.f[i] = wide ? value : rounded_to_single(value);
    }
    return result;
}

static number number_unary(op o, number a) {
    switch (o) {
    case OP_LNOT:
        return (number){.type = DT_BOOL, .as.u = !a.as.u};
    case OP_NOT:
        a.as.u = integer_wrap(a.type, ~a.as.u);
        return a;
    default:
        if (dtype_is_integer(a.type)) {
            a.as.u = integer_wrap(a.type, 0 - a.as.u);
        } else {
            a.as.f[0] = -a.as.f[0];
            a.as.f[1] = -a.as.f[1]; /* in a weak literal, its rounding to float32 */
        }
        return a;
    }
}

static node *fold_unary(node *n) {
    number value = number_unary(n->op, n->kid[0]->value);
    double single = value.as.f[1];
    bool weak_literal = n->weak && value.type == DT_FLOAT64;
    if (dtype_is_floating(value.type))
        value.as.f[1] = 0;
    constant_set(n, value);
    if (weak_literal)
        n->value.as.f[1] = single;
    return n;
}

static node *fold_logical(node *n) {
    if (!is_constant(n->kid[0]))
        return n;
    bool decided = (n->kid[0]->value.as.u != 0) == (n->kind == N_OR);
    return decided ? n->kid[0] : n->kid[1];
}

static node *fold_parts(node *n) {
    const number *z = &n->kid[0]->value;
    if (n->kind == N_COMPLEX && !is_constant(n->kid[1]))
        return n;
    number value = {.type = n->type};
    if (n->kind == N_COMPLEX) {
        value.as.f[0] = z->as.f[0];
        value.as.f[1] = n->kid[1]->value.as.f[0];
    } else {
        value.as.f[0] = z->as.f[n->kind == N_IMAG];
    }
    return constant_set(n, value);
}

node *fold(node *n) {
    switch (n->kind) {
    case N_UNARY:
        return is_constant(n->kid[0]) ? fold_unary(n) : n;
    case N_BINARY:
        if (is_constant(n->kid[0]) && is_constant(n->kid[1]))
            return constant_set(n, number_operate(n->op, n->kid[0]->value, n->kid[1]->value));
        return n;
    case N_AND:
    case N_OR:
        return fold_logical(n);
    case N_SELECT:
        return is_constant(n->kid[0]) ? n->kid[n->kid[0]->value.as.u ? 1 : 2] : n;
    case N_COMPLEX:
    case N_REAL:
    case N_IMAG:
        return is_constant(n->kid[0]) ? fold_parts(n) : n;
    default:
        return n;
    }
}
