/* ref.c - interpreter of the typed tree. Input: a tree as lang.h defines it and the parameters' values, or where its operands
 * lie. Invariant: every value is normalised: integers wrapped to their type, floating ones rounded to it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "ref.h"

typedef struct machine {
    int64_t steps;     /* left; negative: stop */
    const char *wrong; /* with the tree, or NULL */
    ref_core *core;    /* of an elementwise kernel only its order counts */
    const core_layout *layout;
    bool proved;    /* what the tree needs of the sizes holds */
    int reductions; /* around what is evaluated */
    double inner;   /* doubt of the reductions that were evaluated inside the one under way */
} machine;

/* An activation of a function. */
typedef struct frame {
    machine *m;
    const function *f;
    number **slots; /* per local: its elements */
} frame;

typedef enum flow {
    FLOW_NEXT,
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_RETURN,
    FLOW_LEAVE
} flow;

/* ---- Values ---- */

static int bits_of(dtype t) { return 8 * dtypes[t].size; }
static bool is_signed(dtype t) { return t >= DT_INT8 && t <= DT_INT64; }
static bool is_real_floating(dtype t) { return t >= DT_FLOAT16 && t <= DT_FLOAT64; }
static bool is_complex(dtype t) { return t == DT_COMPLEX64 || t == DT_COMPLEX128; }
static bool is_float(dtype t) { return is_real_floating(t) || is_complex(t); }

/* The low bits of an integer as a value of an integer type. */
static number integer(dtype t, uint64_t bits) {
    int unused = 64 - bits_of(t);
    number n = {.type = t};
    if (is_signed(t))
        n.as.i = (int64_t)(bits << unused) >> unused;
    else
        n.as.u = bits << unused >> unused;
    return n;
}

static number truth(bool b) { return (number){.type = DT_BOOL, .as.u = b}; }

/* Rounds an exact x to a binary format with `digits` digits whose smallest normal number is 2^least. */
static double round_to(long double x, int digits, int least, double largest) {
    if (x == 0 || isnan(x) || isinf(x))
        return (double)x;
    int exponent = ilogbl(x) < least ? least : ilogbl(x);
    long double unit = ldexpl(1, exponent - (digits - 1)), rounded = rintl(x / unit) * unit;
    return fabsl(rounded) > (long double)largest ? copysign(HUGE_VAL, (double)x) : (double)rounded;
}

/* An exact value rounded once to a floating type. */
static double rounded(dtype t, long double x) {
    switch (t) {
    case DT_FLOAT16:
        return round_to(x, 11, -14, 65504);
    case DT_BFLOAT16:
        return round_to(x, 8, -126, 0x1.FEp127);
    case DT_FLOAT32:
    case DT_COMPLEX64:
        return (float)x;
    default:
        return (double)x;
    }
}

static number real(dtype t, long double x) { return (number){.type = t, .as.f = {rounded(t, x), 0}}; }

static number pair(dtype t, double re, double im) {
    return (number){.type = t, .as.f = {rounded(t, re), rounded(t, im)}};
}

static uint64_t saturated(dtype t, double x) {
    int bits = bits_of(t);
    if (isnan(x))
        return 0;
    x = trunc(x);
    if (!is_signed(t))
        return x <= 0 ? 0 : x >= ldexp(1, bits) ? UINT64_MAX : (uint64_t)x;
    if (x >= ldexp(1, bits - 1))
        return ((uint64_t)1 << (bits - 1)) - 1;
    return x < -ldexp(1, bits - 1) ? (uint64_t)1 << (bits - 1) : (uint64_t)(int64_t)x;
}

number ref_convert(number v, dtype to) {
    bool from_float = is_float(v.type);
    if (v.type == to)
        return v;
    if (to == DT_BOOL)
        return truth(from_float ? v.as.f[0] != 0 || (is_complex(v.type) && v.as.f[1] != 0) : v.as.u != 0);
    if (is_complex(to))
        return pair(to, ref_convert(v, to == DT_COMPLEX64 ? DT_FLOAT32 : DT_FLOAT64).as.f[0],
                    is_complex(v.type) ? v.as.f[1] : 0);
    if (is_real_floating(to))
        return real(to, from_float ? (long double)v.as.f[0] : is_signed(v.type) ? (long double)v.as.i : v.as.u);
    return integer(to, from_float ? saturated(to, v.as.f[0]) : v.as.u);
}

static bool same_double(double a, double b) {
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return (isnan(a) && isnan(b)) || x == y;
}

bool ref_same(number a, number b) {
    if (!is_float(a.type))
        return a.as.u == b.as.u;
    return same_double(a.as.f[0], b.as.f[0]) && (!is_complex(a.type) || same_double(a.as.f[1], b.as.f[1]));
}

/* ---- Operators ---- */

static uint64_t divide(dtype t, uint64_t a, uint64_t b, bool want_remainder) {
    if (b == 0)
        return 0;
    if (!is_signed(t))
        return want_remainder ? a % b : a / b;
    int64_t x = (int64_t)a, y = (int64_t)b;
    if (y == -1)
        return want_remainder ? 0 : 0 - a;
    return (uint64_t)(want_remainder ? x % y : x / y);
}

/* Rounded down: of the two quotients between which the exact one lies the lower one. */
static uint64_t floor_divide(dtype t, uint64_t a, uint64_t b, bool want_remainder) {
    uint64_t rest = divide(t, a, b, true), whole = divide(t, a, b, false);
    if (is_signed(t) && rest && (int64_t)(rest ^ b) < 0) {
        rest += b;
        whole--;
    }
    return want_remainder ? rest : whole;
}

/* count is a value of an integer type; its bits are read as unsigned. */
static uint64_t shift(op o, number a, number count) {
    int unused = 64 - bits_of(count.type);
    uint64_t n = count.as.u << unused >> unused;
    bool all = n >= (uint64_t)bits_of(a.type);
    if (o == OP_SHL)
        return all ? 0 : a.as.u << n;
    if (is_signed(a.type))
        return (uint64_t)(a.as.i >> (all ? 63 : n));
    return all ? 0 : a.as.u >> n;
}

static int sign_of_difference(number a, number b) {
    if (is_signed(a.type))
        return (a.as.i > b.as.i) - (a.as.i < b.as.i);
    return (a.as.u > b.as.u) - (a.as.u < b.as.u);
}

static number integer_binary(op o, number a, number b) {
    dtype t = a.type;
    int sign = o >= OP_LT && o <= OP_NE ? sign_of_difference(a, b) : 0;
    switch (o) {
    case OP_MUL:
        return integer(t, a.as.u * b.as.u);
    case OP_DIV:
    case OP_REM:
        return integer(t, divide(t, a.as.u, b.as.u, o == OP_REM));
    case OP_FLOOR_DIV:
    case OP_FLOOR_MOD:
        return integer(t, floor_divide(t, a.as.u, b.as.u, o == OP_FLOOR_MOD));
    case OP_ADD:
        return integer(t, a.as.u + b.as.u);
    case OP_SUB:
        return integer(t, a.as.u - b.as.u);
    case OP_SHL:
    case OP_SHR:
        return integer(t, shift(o, a, b));
    case OP_LT:
        return truth(sign < 0);
    case OP_LE:
        return truth(sign <= 0);
    case OP_GT:
        return truth(sign > 0);
    case OP_GE:
        return truth(sign >= 0);
    case OP_EQ:
        return truth(sign == 0);
    case OP_NE:
        return truth(sign != 0);
    case OP_AND:
        return integer(t, a.as.u & b.as.u);
    case OP_XOR:
        return integer(t, a.as.u ^ b.as.u);
    case OP_OR:
        return integer(t, a.as.u | b.as.u);
    default:
        abort(); /* not a binary operator of integers: the tree is malformed */
    }
}

/* In double; for float32 operands a single rounding to float follows, which is then that of the float operation: a double
 * has more than twice its digits. */
static double arithmetic(op o, double a, double b) {
    switch (o) {
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    default:
        abort();
    }
}

static number real_binary(op o, number a, number b) {
    double x = a.as.f[0], y = b.as.f[0];
    switch (o) {
    case OP_LT:
        return truth(x < y);
    case OP_LE:
        return truth(x <= y);
    case OP_GT:
        return truth(x > y);
    case OP_GE:
        return truth(x >= y);
    case OP_EQ:
        return truth(x == y);
    case OP_NE:
        return truth(x != y);
    default:
        return real(a.type, arithmetic(o, x, y));
    }
}

static number complex_binary(op o, number a, number b) {
    bool equal = a.as.f[0] == b.as.f[0] && a.as.f[1] == b.as.f[1];
    if (o == OP_EQ || o == OP_NE)
        return truth(equal == (o == OP_EQ));
    if (o != OP_ADD && o != OP_SUB)
        abort(); /* products and quotients are calls */
    return pair(a.type, arithmetic(o, a.as.f[0], b.as.f[0]), arithmetic(o, a.as.f[1], b.as.f[1]));
}

static number binary(op o, number a, number b) {
    if (a.type != b.type && o != OP_SHL && o != OP_SHR)
        abort();
    return is_complex(a.type) ? complex_binary(o, a, b)
           : is_float(a.type) ? real_binary(o, a, b)
                              : integer_binary(o, a, b);
}

static number unary(op o, number a) {
    if (o == OP_LNOT)
        return truth(!a.as.u);
    if (o == OP_NOT)
        return integer(a.type, ~a.as.u);
    return is_complex(a.type) ? pair(a.type, -a.as.f[0], -a.as.f[1])
           : is_float(a.type) ? real(a.type, -a.as.f[0])
                              : integer(a.type, 0 - a.as.u);
}

/* ---- Expressions ---- */

static number evaluate(frame *f, const node *n);
static void call(machine *m, const function *callee, const number *arguments, number *results);

/* Where an N_LOCAL or N_ELEMENT lives: a slot, or memory; neither if an index is out of range. */
typedef struct place {
    number *slot;
    char *memory;
    dtype type; /* in memory */
} place;

static int64_t extent_of(const frame *f, const local *l, int d) {
    return l->core ? f->m->core->words[l->dim[d]] : l->extent[d];
}

/* Evaluates the indices, all of them. */
static place find(frame *f, const node *n) {
    const local *l = &f->f->locals[n->local];
    const node *index = n->args;
    const int64_t *strides = l->core ? &f->m->core->words[f->m->layout->operands[n->local].strides] : NULL;
    int64_t at = 0;
    bool inside = true;
    if (n->kind == N_LOCAL)
        return (place){.slot = f->slots[n->local]};
    for (int d = 0; d < l->rank; d++) {
        number i = evaluate(f, l->rank > 3 ? index : n->kid[d]);
        inside &= i.as.u < (uint64_t)extent_of(f, l, d);
        if (inside)
            at = strides ? at + i.as.i * strides[d] : at * l->extent[d] + i.as.i;
        index = index ? index->next : NULL;
    }
    if ((n->unchecked || (n->conditional && f->m->proved)) && !inside)
        f->m->wrong = "an index that the front end took for proved is out of range";
    if (!inside)
        return (place){.slot = NULL};
    if (!l->core)
        return (place){.slot = &f->slots[n->local][at]};
    dtype type = f->m->core->types[n->local];
    return (place){.memory = f->m->core->data[n->local] + at * dtypes[type].size, .type = type};
}

static number read(const frame *f, const node *n, place at) {
    dtype type = f->f->locals[n->local].type;
    if (at.memory)
        return ref_convert(number_read(at.type, at.memory), type);
    return at.slot ? *at.slot : (number){.type = type};
}

static void write(place at, number value) {
    if (at.memory)
        number_write(ref_convert(value, at.type), at.type, at.memory);
    else if (at.slot)
        *at.slot = value;
}

static void *new_array(size_t count, size_t size) {
    void *all = malloc((count + 1) * size);
    if (!all)
        abort(); /* the tests' own memory */
    return all;
}

/* Of a helper with one result. */
static number call_with(frame *f, const function *callee, const number *arguments) {
    number result;
    if (callee->nresults != 1)
        abort();
    call(f->m, callee, arguments, &result);
    return result;
}

static number compound(frame *f, const node *n) {
    place at = find(f, n->kid[0]);
    number old = read(f, n->kid[0], at);
    number operands[2] = {ref_convert(old, n->wide)};
    operands[1] = evaluate(f, n->kid[1]);
    number result = n->callee ? call_with(f, n->callee, operands) : binary(n->op, operands[0], operands[1]);
    result = ref_convert(result, old.type);
    write(at, result);
    return result;
}

static number update(frame *f, const node *n) {
    place at = find(f, n->kid[0]);
    number old = read(f, n->kid[0], at), one = {.type = DT_INT32, .as.i = 1};
    number result = ref_convert(binary(n->op, ref_convert(old, n->wide), ref_convert(one, n->wide)), old.type);
    write(at, result);
    return n->postfix ? old : result;
}

static number assign(frame *f, const node *n) {
    place at = find(f, n->kid[0]);
    number value = evaluate(f, n->kid[1]);
    write(at, value);
    return value;
}

/* What of an old value and an operand is the new one. */
static number atomic_value(atomic_op o, number old, number value) {
    static const op arithmetic_of[] = {
        [ATOMIC_ADD] = OP_ADD, [ATOMIC_SUB] = OP_SUB, [ATOMIC_AND] = OP_AND, [ATOMIC_OR] = OP_OR,
        [ATOMIC_XOR] = OP_XOR, [ATOMIC_MIN] = OP_LT,  [ATOMIC_MAX] = OP_GT};
    dtype wide = old.type == DT_FLOAT16 || old.type == DT_BFLOAT16 ? DT_FLOAT32
                 : !is_float(old.type) && bits_of(old.type) < 32   ? DT_INT32
                                                                   : old.type;
    bool nan = is_float(old.type) && isnan(old.as.f[0]);
    if (o == ATOMIC_EXCHANGE)
        return value;
    number result = binary(arithmetic_of[o], ref_convert(old, wide), ref_convert(value, wide));
    if (o == ATOMIC_MIN || o == ATOMIC_MAX)
        return result.as.u || nan ? old : value;
    return ref_convert(result, old.type);
}

static bool same_bits(number a, number b) {
    char x[16] = {0}, y[16] = {0};
    number_write(a, a.type, x);
    number_write(b, b.type, y);
    return memcmp(x, y, sizeof x) == 0;
}

static number atomic(frame *f, const node *n) {
    place at = find(f, n->kid[0]);
    number first = evaluate(f, n->kid[1]), second = n->kid[2] ? evaluate(f, n->kid[2]) : first;
    number old = read(f, n->kid[0], at);
    if (n->op != ATOMIC_COMPARE_EXCHANGE)
        write(at, atomic_value(n->op, old, first));
    else if (same_bits(old, first))
        write(at, second);
    return old;
}

static int evaluate_list(frame *f, const node *list, number *values) {
    int count = 0;
    for (const node *n = list; n; n = n->next)
        values[count++] = evaluate(f, n);
    return count;
}

/* One result is the value; several are assigned to the variables of n->other, and the value is of no type. */
static number evaluate_call(frame *f, const node *n) {
    const function *callee = n->callee;
    number *arguments = new_array((size_t)callee->nparams, sizeof *arguments);
    number *results = new_array((size_t)callee->nresults, sizeof *results), value = {.type = DT_NONE};
    if (evaluate_list(f, n->args, arguments) != callee->nparams)
        abort();
    call(f->m, callee, arguments, results);
    if (!n->other)
        value = results[0];
    int k = 0;
    for (const node *to = n->other; to; to = to->next) {
        if (k == callee->nresults || results[k].type != to->type)
            abort(); /* the call is malformed */
        *f->slots[to->local] = results[k++];
    }
    if (k != (n->other ? callee->nresults : 0))
        abort();
    free(arguments);
    free(results);
    return value;
}

static number evaluate_math(frame *f, const node *n) {
    number arguments[4];
    if (evaluate_list(f, n->args, arguments) != n->math->arity)
        abort();
    return ref_math(n->math, n->wide, arguments);
}

static number evaluate_parts(frame *f, const node *n) {
    number re = evaluate(f, n->kid[0]), im = evaluate(f, n->kid[1]);
    return pair(n->type, re.as.f[0], im.as.f[0]);
}

static number evaluate_part(frame *f, const node *n) {
    number z = evaluate(f, n->kid[0]);
    return real(n->type, z.as.f[n->kind == N_IMAG]);
}

static number evaluate_binary(frame *f, const node *n) {
    number a = evaluate(f, n->kid[0]), b = evaluate(f, n->kid[1]);
    return binary(n->op, a, b);
}

/* ---- Ranges ---- */

enum {
    MAX_RANGES = 16
};

/* All combinations of some ranges' variables, in the order that the caller wants. */
typedef struct ranges {
    int n, local[MAX_RANGES];
    int64_t extent[MAX_RANGES], count;
    int64_t step; /* of the scattered order; no divisor but 1 in common with count */
} ranges;

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

static ranges evaluate_ranges(frame *f, const node *list) {
    ranges r = {.count = 1, .step = 5};
    for (const node *n = list; n; n = n->next) {
        if (n->kind != N_RANGE || r.n == MAX_RANGES)
            abort();
        number extent = evaluate(f, n->kid[0]);
        r.local[r.n] = n->local;
        r.extent[r.n] = extent.as.i > 0 ? extent.as.i : 0;
        if (__builtin_mul_overflow(r.count, r.extent[r.n++], &r.count))
            r.count = INT64_MAX; /* stopped by the steps */
    }
    while (r.count > 0 && common_divisor(r.count, r.step) > 1)
        r.step += 2;
    return r;
}

/* Sets the variables for the i-th combination; false: stop. */
static bool set_ranges(frame *f, const ranges *r, int64_t i) {
    ref_order order = f->m->core->order;
    if (order == REF_BACKWARD)
        i = r->count - 1 - i;
    else if (order == REF_SCATTERED)
        i = (int64_t)((__extension__(unsigned __int128) i * (uint64_t)r->step + 3) % (uint64_t)r->count);
    for (int d = r->n - 1; d >= 0; d--) {
        *f->slots[r->local[d]] = (number){.type = DT_INT64, .as.i = i % r->extent[d]};
        i /= r->extent[d];
    }
    return --f->m->steps >= 0;
}

/* ---- Reductions ---- */

/* What has been combined. Scattered: pairwise, partial[i] of 2^i terms where bit i of terms is set; else all in
 * partial[0]. Exactly: sums of floating values, whatever the order. */
typedef struct fold {
    number partial[64];
    uint64_t terms;
    long double exact[2], magnitude;
} fold;

static number combine(frame *f, const node *n, number a, number b) {
    number both[2] = {a, b};
    return n->callee ? call_with(f, n->callee, both) : binary(n->op, a, b);
}

static void fold_term(frame *f, const node *n, fold *s, number term) {
    int i = 0;
    uint64_t terms = s->terms++;
    if (is_float(n->type))
        for (int part = 0; part < 1 + is_complex(n->type); part++) {
            s->exact[part] += term.as.f[part];
            s->magnitude += fabs(term.as.f[part]);
        }
    if (f->m->core->order == REF_SCATTERED)
        for (; terms & 1; terms >>= 1)
            term = combine(f, n, s->partial[i++], term);
    else if (terms)
        term = combine(f, n, s->partial[0], term);
    s->partial[i] = term;
}

static number fold_result(frame *f, const node *n, const fold *s) {
    bool some = false;
    number result = n->value;
    if (!s->terms)
        return result;
    if (f->m->core->order == REF_EXACT && !n->callee && n->op == OP_ADD && is_float(n->type))
        return (number){.type = n->type, .as.f = {rounded(n->type, s->exact[0]), rounded(n->type, s->exact[1])}};
    if (f->m->core->order != REF_SCATTERED)
        return s->partial[0];
    for (int i = 0; i < 64; i++)
        if (s->terms >> i & 1) {
            result = some ? combine(f, n, s->partial[i], result) : s->partial[i];
            some = true;
        }
    return result;
}

/* How far a sum may be from the exact one in any order, beside what its terms contribute. */
static double doubt_of(const node *n, const fold *s) {
    bool narrow = n->type == DT_FLOAT32 || n->type == DT_COMPLEX64;
    if (!is_float(n->type) || n->callee || n->op != OP_ADD || s->terms == 0)
        return 0;
    return (double)s->terms * (narrow ? FLT_EPSILON : DBL_EPSILON) * (double)s->magnitude;
}

static number reduce(frame *f, const node *n) {
    machine *m = f->m;
    fold s = {.terms = 0};
    ranges r = evaluate_ranges(f, n->args);
    double outside = m->inner;
    m->inner = 0;
    m->reductions++;
    for (int64_t i = 0; i < r.count && set_ranges(f, &r, i); i++)
        fold_term(f, n, &s, evaluate(f, n->kid[0]));
    number result = fold_result(f, n, &s);
    double doubt = doubt_of(n, &s) + m->inner;
    m->inner = outside + doubt;
    if (--m->reductions == 0) {
        m->inner = 0;
        m->core->doubt = fmax(m->core->doubt, doubt);
    }
    return result;
}

static flow run_list(frame *f, const node *list);

static number sequence(frame *f, const node *n) {
    if (run_list(f, n->body) != FLOW_NEXT && f->m->steps >= 0)
        abort(); /* nothing leaves an expression */
    return evaluate(f, n->kid[0]);
}

static number evaluate_any(frame *f, const node *n) {
    switch ((node_kind)n->kind) {
    case N_CONST:
        return n->value;
    case N_LOCAL:
    case N_ELEMENT:
        return read(f, n, find(f, n));
    case N_SIZE:
        return (number){.type = DT_INT64, .as.i = f->m->core->words[n->dim]};
    case N_CONVERT:
        return ref_convert(evaluate(f, n->kid[0]), n->type);
    case N_UNARY:
        return unary(n->op, evaluate(f, n->kid[0]));
    case N_BINARY:
        return evaluate_binary(f, n);
    case N_AND:
        return truth(evaluate(f, n->kid[0]).as.u && evaluate(f, n->kid[1]).as.u);
    case N_OR:
        return truth(evaluate(f, n->kid[0]).as.u || evaluate(f, n->kid[1]).as.u);
    case N_SELECT:
        return evaluate(f, n->kid[evaluate(f, n->kid[0]).as.u ? 1 : 2]);
    case N_ASSIGN:
        return assign(f, n);
    case N_COMPOUND:
        return compound(f, n);
    case N_UPDATE:
        return update(f, n);
    case N_ATOMIC:
        return atomic(f, n);
    case N_CALL:
        return evaluate_call(f, n);
    case N_MATH:
        return evaluate_math(f, n);
    case N_COMPLEX:
        return evaluate_parts(f, n);
    case N_REAL:
    case N_IMAG:
        return evaluate_part(f, n);
    case N_REDUCE:
        return reduce(f, n);
    case N_SEQUENCE:
        return sequence(f, n);
    default:
        abort(); /* a statement where an expression belongs */
    }
}

/* Every value has the type that its node says: a check of the tree. */
static number evaluate(frame *f, const node *n) {
    f->m->steps--;
    number value = evaluate_any(f, n);
    if (value.type != n->type)
        abort();
    return value;
}

/* ---- Statements ---- */

/* In slots: what lies in memory has none. */
static int64_t elements(const local *l) {
    int64_t count = !l->core;
    for (int d = 0; d < l->rank && !l->core; d++)
        count *= l->extent[d];
    return count;
}

static flow declare(frame *f, const node *n) {
    const local *l = &f->f->locals[n->local];
    number value = n->kid[0] ? evaluate(f, n->kid[0]) : (number){.type = l->type};
    if (l->table)
        return FLOW_NEXT;
    for (int64_t i = 0; i < elements(l); i++)
        f->slots[n->local][i] = value;
    return run_list(f, n->body);
}

static flow loop(frame *f, const node *n) {
    for (bool first = n->test_last;; first = false) {
        if (!first && n->kid[0] && !evaluate(f, n->kid[0]).as.u)
            return FLOW_NEXT;
        flow went = run_list(f, n->body);
        if (went == FLOW_BREAK)
            return FLOW_NEXT;
        if (went == FLOW_RETURN || went == FLOW_LEAVE)
            return went;
        run_list(f, n->step);
        if (--f->m->steps < 0)
            return FLOW_RETURN;
    }
}

static flow switch_to(frame *f, const node *n) {
    number value = evaluate(f, n->kid[0]);
    const node *target = NULL; /* the case, wherever the default stands */
    for (const node *c = n->body; c; c = c->next)
        if (c->kind == N_CASE && (c->is_default ? !target : c->value.as.u == value.as.u))
            target = c;
    flow went = run_list(f, target);
    return went == FLOW_BREAK ? FLOW_NEXT : went;
}

static flow forall(frame *f, const node *n) {
    ranges r = evaluate_ranges(f, n->args);
    for (int64_t i = 0; i < r.count && set_ranges(f, &r, i); i++) {
        flow went = run_list(f, n->body);
        if (went != FLOW_NEXT && f->m->steps >= 0)
            abort(); /* nothing leaves the statement */
    }
    return f->m->steps < 0 ? FLOW_RETURN : FLOW_NEXT;
}

static flow in_place(frame *f, const node *n) {
    flow went = run_list(f, n->body);
    if (went != FLOW_NEXT && went != FLOW_LEAVE && f->m->steps >= 0)
        abort(); /* only N_LEAVE leaves it */
    return f->m->steps < 0 ? FLOW_RETURN : FLOW_NEXT;
}

static flow run(frame *f, const node *n) {
    f->m->steps--;
    switch ((node_kind)n->kind) {
    case N_EVAL:
        evaluate(f, n->kid[0]);
        return FLOW_NEXT;
    case N_DECLARE:
        return declare(f, n);
    case N_BLOCK:
        return run_list(f, n->body);
    case N_IF:
        return run_list(f, evaluate(f, n->kid[0]).as.u ? n->body : n->other);
    case N_LOOP:
        return loop(f, n);
    case N_SWITCH:
        return switch_to(f, n);
    case N_FORALL:
        return forall(f, n);
    case N_INLINE:
        return in_place(f, n);
    case N_CASE:
    case N_ASSERT: /* no debug here */
        return FLOW_NEXT;
    case N_BREAK:
        return FLOW_BREAK;
    case N_CONTINUE:
        return FLOW_CONTINUE;
    case N_RETURN:
        return FLOW_RETURN;
    case N_LEAVE:
        return FLOW_LEAVE;
    default:
        abort(); /* an expression where a statement belongs */
    }
}

static flow run_list(frame *f, const node *list) {
    for (const node *n = list; n; n = n->next) {
        flow went = run(f, n);
        if (went != FLOW_NEXT)
            return went;
    }
    return FLOW_NEXT;
}

/* ---- Functions ---- */

/* One block: the pointers, then every local's elements; parameters at their arguments, the others at 0. */
static number **new_slots(const function *f, const number *arguments) {
    size_t count = 0, n = (size_t)f->nlocals;
    for (int i = 0; i < f->nlocals; i++)
        count += (size_t)elements(&f->locals[i]);
    number **slots = malloc((n + 1) * sizeof *slots + count * sizeof **slots);
    if (!slots)
        abort(); /* the tests' own memory */
    number *next = (number *)(slots + n + (n & 1));
    for (int i = 0; i < f->nlocals; i++) {
        slots[i] = next;
        const local *l = &f->locals[i];
        for (int64_t k = 0; k < elements(l); k++)
            *next++ = l->table ? l->table[k] : (number){.type = l->type};
        if (i >= f->nparams || f->locals[i].core)
            continue;
        if (arguments[i].type != f->locals[i].type)
            abort(); /* the call is malformed */
        *slots[i] = arguments[i];
    }
    return slots;
}

static void call(machine *m, const function *callee, const number *arguments, number *results) {
    frame f = {m, callee, new_slots(callee, arguments)};
    if (m->steps >= 0)
        run_list(&f, callee->body);
    for (int i = callee->nparams; i < callee->nlocals && i < callee->nparams + callee->nresults; i++)
        if (!callee->locals[i].core)
            results[i - callee->nparams] = *f.slots[i];
    free(f.slots);
}

const char ref_endless[] = "does not end";

const char *ref_run(const tree *t, const number *in, number *out, int64_t steps) {
    ref_core forward = {.order = REF_FORWARD};
    machine m = {.steps = steps, .core = &forward};
    call(&m, t->kernel, in, out);
    return m.steps < 0 ? ref_endless : m.wrong;
}

const char *ref_run_core(const tree *t, ref_core *core) {
    const function *k = t->kernel;
    machine m = {.steps = core->steps, .core = core, .layout = t->layout};
    m.proved = t->needs && lang_needs_hold(t, core->words, NULL, false);
    number in[UF_MAX_OPERANDS], out[UF_MAX_OPERANDS];
    for (int i = 0; i < k->nparams; i++)
        if (!k->locals[i].core)
            in[i] = ref_convert(number_read(core->types[i], core->data[i]), k->locals[i].type);
    call(&m, k, in, out);
    core->steps = m.steps;
    for (int i = 0, o = k->nparams; i < k->nresults; i++, o++)
        if (!k->locals[o].core)
            number_write(ref_convert(out[i], core->types[o]), core->types[o], core->data[o]);
    return m.steps < 0 ? ref_endless : m.wrong;
}
