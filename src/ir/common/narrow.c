/* narrow.c - CPU: integers that are known to be small are computed in 16 bits. The language computes with bytes in 32 bits, as C does, and
 * sums them in 64, and so does LLVM, although a vector has twice or four times as many lanes of 16 bits. From what bytes, constants and
 * variables of these can be follows what each part of an expression can be; where all of them fit an int16 or a uint16, 16 bits give
 * what more bits give. An expression is looked at first, and then written, both by the same functions. */
#include "ir/common/nodes.h"
#include "ir/common/report.h"

enum {
    OPERATIONS_LEAST = 2, /* from which it pays: one alone LLVM narrows where it can */
    SHIFT_MOST = 15
};

/* What a value can be, and itself, an i16, once it is written; known: it fits. */
typedef struct small {
    bool known;
    int64_t low, high;
    ssa value;
} small;

/* Of a local: what declares it, and what follows for its values. */
typedef struct narrow_local {
    const node *declared[2]; /* the first, and another one */
    bool assigned, begun;
    small values;
} narrow_local;

struct narrow {
    body *b;
    narrow_local *locals;
    bool write;
    int operations; /* of the expression that is being looked at */
};

typedef struct narrow narrow;

static const small unknown = {false, 0, 0, {0}};

static small small_of(int64_t low, int64_t high) {
    bool fits = low >= 0 ? high <= UINT16_MAX : low >= INT16_MIN && high <= INT16_MAX;
    return (small){.known = fits, .low = low, .high = high};
}

/* Of the types in which the language computes integers. */
static bool is_whole(dtype t) { return dtype_is_integer(t) && dtypes[t].size >= 4; }

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

/* Can both be told apart as unsigned numbers, or as signed ones? */
static bool both_unsigned(const small *x, const small *y) { return x->low >= 0 && y->low >= 0; }
static bool both_signed(const small *x, const small *y) { return x->high <= INT16_MAX && y->high <= INT16_MAX; }

/* ---- Operators: what the result can be; if it is not known, there is none ---- */

static small product_of(const small *x, const small *y) {
    int64_t p[] = {x->low * y->low, x->low * y->high, x->high * y->low, x->high * y->high};
    return small_of(least(least(p[0], p[1]), least(p[2], p[3])), most(most(p[0], p[1]), most(p[2], p[3])));
}

/* The bits of a sign are all alike, so that 16 of them say what all say. */
static small bits_of(op o, const small *x, const small *y) {
    int64_t ones = 1;
    while (ones <= most(x->high, y->high))
        ones *= 2;
    if (both_unsigned(x, y))
        return small_of(0, o == OP_AND ? least(x->high, y->high) : ones - 1);
    return both_signed(x, y) ? small_of(INT16_MIN, INT16_MAX) : unknown;
}

/* By a constant. */
static small quotient_of(op o, const small *x, const small *y) {
    int64_t by = y->low;
    if (by != y->high || by < 1 || by > INT16_MAX)
        return unknown;
    if (o == OP_DIV)
        return small_of(x->low / by, x->high / by);
    return small_of(x->low < 0 ? most(x->low, 1 - by) : 0, x->high > 0 ? least(x->high, by - 1) : 0);
}

static small shifted_of(op o, const small *x, const small *y) {
    int64_t by = y->low, power = (int64_t)1 << by;
    return o == OP_SHL ? small_of(x->low * power, x->high * power) : small_of(x->low >> by, x->high >> by);
}

static small binary_of(op o, const small *x, const small *y) {
    switch (o) {
    case OP_ADD:
        return small_of(x->low + y->low, x->high + y->high);
    case OP_SUB:
        return small_of(x->low - y->high, x->high - y->low);
    case OP_MUL:
        return product_of(x, y);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return bits_of(o, x, y);
    case OP_DIV:
    case OP_REM:
        return quotient_of(o, x, y);
    case OP_SHL:
    case OP_SHR:
        return shifted_of(o, x, y);
    default:
        return unknown;
    }
}

/* ---- Expressions ---- */

static small expression(narrow *k, const node *n);

static ssa written(const narrow *k, const char *what, ssa x, ssa y) {
    return k->write ? emit_value(k->b->e, "%s i16 %s, %s", what, x.text, y.text) : ssa_none();
}

/* By how much a shift goes. */
static small distance(const node *n) {
    bool fits = n->kind == N_CONST && n->value.as.u <= SHIFT_MOST;
    int64_t by = fits ? n->value.as.i : 0;
    return (small){fits, by, by, ssa_constant(by)};
}

static small binary(narrow *k, const node *n) {
    static const struct {
        const char *natural, *whole; /* of signed numbers, and of unsigned ones */
    } names[OP_COUNT] = {
        [OP_ADD] = {"add", "add"},   [OP_SUB] = {"sub", "sub"},  [OP_MUL] = {"mul", "mul"}, [OP_DIV] = {"sdiv", "udiv"},
        [OP_REM] = {"srem", "urem"}, [OP_AND] = {"and", "and"},  [OP_OR] = {"or", "or"},    [OP_XOR] = {"xor", "xor"},
        [OP_SHL] = {"shl", "shl"},   [OP_SHR] = {"ashr", "lshr"}};
    bool shift = n->op == OP_SHL || n->op == OP_SHR;
    small x = expression(k, n->kid[0]);
    small y = !x.known ? unknown : shift ? distance(n->kid[1]) : expression(k, n->kid[1]);
    small r = x.known && y.known ? binary_of((op)n->op, &x, &y) : unknown;
    if (r.known)
        r.value = written(k, both_unsigned(&x, &y) ? names[n->op].whole : names[n->op].natural, x.value, y.value);
    return r;
}

static small unary(narrow *k, const node *n) {
    small x = expression(k, n->kid[0]);
    small r = !x.known ? unknown : n->op == OP_NEG ? small_of(-x.high, -x.low) : small_of(-x.high - 1, -x.low - 1);
    if (r.known && n->op == OP_NEG)
        r.value = written(k, "sub", ssa_constant(0), x.value);
    else if (r.known)
        r.value = written(k, "xor", x.value, ssa_constant(-1));
    return r;
}

/* x if the relation holds ("gt", "lt"), else y. */
static ssa chosen(const narrow *k, const char *relation, const small *x, const small *y) {
    const char *kind = both_unsigned(x, y) ? "icmp u" : "icmp s";
    ssa first = written(k, fragment_of("%s%s", kind, relation).text, x->value, y->value);
    return k->write ? emit_select_as(k->b->e, "i16", first, x->value, y->value) : ssa_none();
}

static small magnitude(narrow *k, const node *n) {
    small x = expression(k, n->args), minus = x;
    if (!x.known || x.low >= 0)
        return x;
    minus.value = written(k, "sub", ssa_constant(0), x.value);
    small r = small_of(most(0, -x.high), most(x.high, -x.low));
    r.value = chosen(k, "gt", &x, &minus);
    return r;
}

static small extreme(narrow *k, const node *left, const node *right, bool upper) {
    small x = expression(k, left), y = x.known ? expression(k, right) : unknown;
    if (!x.known || !y.known || !(both_unsigned(&x, &y) || both_signed(&x, &y)))
        return unknown;
    small r = upper ? small_of(most(x.low, y.low), most(x.high, y.high))
                    : small_of(least(x.low, y.low), least(x.high, y.high));
    r.value = chosen(k, upper ? "gt" : "lt", &x, &y);
    return r;
}

static bool is_call_of(const node *n, const char *name) {
    return n->kind == N_CALL && !n->other && function_is_own(n->callee, name) && n->args->type == n->type;
}

static small call(narrow *k, const node *n) {
    if (is_call_of(n, "abs"))
        return magnitude(k, n);
    bool upper = is_call_of(n, "max");
    return upper || is_call_of(n, "min") ? extreme(k, n->args, n->args->next, upper) : unknown;
}

/* One step of a reduction whose terms have been written out: a term, and the result so far, which comes first. */
static bool is_step(const node *n) { return n->kind == N_REDUCE && !n->args; }

/* The first one has the identity, which may be too large. */
static bool is_first_step(const node *n) {
    const node *before = n->kid[1];
    return n->is_identity && before->kind == N_CONST && before->value.as.i == n->value.as.i;
}

static small step(narrow *k, const node *n) {
    bool upper = function_is_own(n->callee, "max");
    if (is_first_step(n))
        return expression(k, n->kid[0]);
    if (upper || function_is_own(n->callee, "min"))
        return extreme(k, n->kid[1], n->kid[0], upper);
    if (n->callee || (n->op != OP_ADD && n->op != OP_MUL))
        return unknown;
    node both = *n;
    both.kid[0] = n->kid[1];
    both.kid[1] = n->kid[0];
    return binary(k, &both);
}

static small short_integer(dtype t) {
    switch (t) {
    case DT_BOOL:
        return small_of(0, 1);
    case DT_INT8:
        return small_of(INT8_MIN, INT8_MAX);
    case DT_UINT8:
        return small_of(0, UINT8_MAX);
    case DT_INT16:
        return small_of(INT16_MIN, INT16_MAX);
    case DT_UINT16:
        return small_of(0, UINT16_MAX);
    default:
        return unknown;
    }
}

/* What another part of the compiler writes. */
static ssa value_from_outside(const narrow *k, const node *n) {
    body *b = k->b;
    return k->write ? emit_convert(b->e, emit_expression(b, n), (dtype)n->type, DT_INT16) : ssa_none();
}

static small conversion(narrow *k, const node *n) {
    dtype from = (dtype)n->kid[0]->type;
    if (is_whole(from))
        return expression(k, n->kid[0]);
    small r = short_integer(from);
    if (r.known)
        r.value = value_from_outside(k, n->kid[0]);
    return r;
}

/* A variable that is declared at one place, and that nothing assigns but its declaration. It is 0 where a switch goes past that. LLVM joins
 * the conversion to 16 bits with that of what it was set to. */
static small variable(narrow *k, const node *n) {
    const function *f = k->b->f;
    narrow_local *l = &k->locals[n->local];
    bool single = l->declared[0] && !l->declared[1] && !l->assigned && n->local >= f->nparams + f->nresults;
    if (!l->begun && single) {
        narrow within = {.b = k->b, .locals = k->locals};
        const node *value = l->declared[0]->kid[0];
        l->begun = true;
        small x = value ? expression(&within, value) : small_of(0, 0);
        l->values = x.known ? small_of(least(x.low, 0), most(x.high, 0)) : unknown;
    }
    small r = l->values;
    if (r.known)
        r.value = value_from_outside(k, n);
    return r;
}

/* Unsigned numbers are never below 0: a difference that would be wraps. */
static small expression(narrow *k, const node *n) {
    small r = unknown;
    if (!is_whole((dtype)n->type))
        return r;
    k->operations += narrow_is_operation(n);
    if (n->kind == N_CONST) {
        r = small_of(n->value.as.i, n->value.as.i);
        r.value = ssa_constant((int16_t)(uint16_t)(uint64_t)n->value.as.i);
    } else if (n->kind == N_LOCAL)
        r = variable(k, n);
    else if (n->kind == N_CONVERT)
        r = conversion(k, n);
    else if (n->kind == N_UNARY)
        r = unary(k, n);
    else if (n->kind == N_BINARY)
        r = binary(k, n);
    else if (n->kind == N_CALL)
        r = call(k, n);
    else if (is_step(n))
        r = step(k, n);
    return dtypes[n->type].is_signed || r.low >= 0 ? r : unknown;
}

/* ---- What is narrow ---- */

static void note_local(const node *n, void *user) {
    narrow_local *locals = user;
    if (n->kind == N_DECLARE) {
        const node **declared = locals[n->local].declared;
        declared[declared[0] ? 1 : 0] = n;
    }
    for (const node *to = node_assigned(n); to; to = to->next)
        locals[to->local].assigned = true;
}

static narrow *begin(body *b) {
    if (!b->narrow) {
        b->narrow = arena_alloc(b->e->a, sizeof *b->narrow);
        *b->narrow = (narrow){b, arena_alloc(b->e->a, (size_t)(b->f->nlocals + 1) * sizeof(narrow_local)), false, 0};
        node_each(b->f->body, note_local, b->narrow->locals);
    }
    b->narrow->operations = 0;
    return b->narrow;
}

bool narrow_is_operation(const node *n) {
    bool call = is_call_of(n, "min") || is_call_of(n, "max") || is_call_of(n, "abs");
    return is_whole((dtype)n->type) && (n->kind == N_BINARY || n->kind == N_UNARY || is_step(n) || call);
}

bool emit_narrow(body *b, const node *n, ssa *value) {
    emit *e = b->e;
    if (e->target->gpu || e->plain || reports(e) || b->unrolled)
        return false;
    narrow *k = begin(b);
    small x = expression(k, n);
    if (!x.known || x.low == x.high || k->operations < OPERATIONS_LEAST) /* constants stay such */
        return false;
    narrow writing = {.b = b, .locals = k->locals, .write = true};
    *value = emit_convert(e, expression(&writing, n).value, x.low < 0 ? DT_INT16 : DT_UINT16, (dtype)n->type);
    return true;
}
