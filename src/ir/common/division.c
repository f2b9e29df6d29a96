/* division.c - division of integers: by the instruction, or in elementwise loops of the CPU by floating arithmetic.
 *
 * No CPU divides vectors of integers, and its scalar instruction takes as long as ten to twenty others. In floating numbers the quotient is
 * the product of the numerator and the reciprocal of the denominator, which are vector instructions. Where all elements have one
 * denominator, as in x / 7, reciprocal.c has a faster way. Where a loop must wait for each quotient, as in Euclid's
 * algorithm, the instruction is faster.
 *
 * Why the result is exact. With integers of w bits in a format of p bits of precision, the computed (a + 1/2) * (1 / b) is off by a factor of
 * less than 1 + 2^(2-p). If a = k b + r, 0 <= r < b, the exact one lies between k + 1/2b and k + 1 - 1/2b, and is at most 2^w / b, so that the error,
 * 2^(w+2-p) / b, does not take it across an integer if w + 3 < p: 16 bits in float, 32 bits in double. Negative numbers are the same with
 * the signs changed. Of 64 bits a first quotient that is made a little too small leaves a remainder of less than |a| 2^-49 + |b|, a second one
 * of that leaves less than 2 |b|, and a comparison does the rest.
 *
 * Quotients that are rounded down, as floor_div's are: (a + 1/2) / b with b > 0, and (a - 1/2) / b with b < 0, lie as far from an integer for any
 * a, and above a / b. So the half has the sign of b, and the product is rounded down. */
#include "ir/common/internal.h"

/* How integers of a width are divided by floating arithmetic. */
typedef struct division {
    const char *type, *suffix; /* the format, and what the names of intrinsics on it end in */
    const char *name;          /* of the function */
    bool twice;                /* quotient and remainder, and then those of the remainder */
} division;

static const division by_float = {"float", "f32", "narrow", false}, by_double = {"double", "f64", "double", false},
                      by_double_twice = {"double", "f64", "twice", true};

/* The operands of one division, and what both forms take of them. */
typedef struct quotient {
    emit *e;
    op o;          /* OP_DIV or OP_REM; floors: of a quotient that is rounded down */
    const char *t; /* of the integers */
    bool is_signed, floors;
    ssa zero;  /* i1: the denominator is 0 */
    ssa wraps; /* i1, signed: the least integer by -1 */
} quotient;

static void operands_check(quotient *q, dtype type) {
    emit *e = q->e;
    q->zero = emit_value(e, "icmp eq %s %%b, 0", q->t);
    if (q->is_signed) {
        ssa least = emit_value(e, "icmp eq %s %%a, %lld", q->t, (long long)(INT64_MIN >> (64 - 8 * dtypes[type].size)));
        ssa minus = emit_value(e, "icmp eq %s %%b, -1", q->t);
        q->wraps = emit_value(e, "and i1 %s, %s", least.text, minus.text);
    }
}

/* ---- By the instruction ---- */

/* Rounded down, from what is rounded towards 0: that is 1 too large where what is left of a, `rest`, has another sign than b. */
static ssa floored(const quotient *q, ssa a, ssa value, ssa divisor) {
    emit *e = q->e;
    ssa rest = e->target->gpu ? emit_value(e, "sub %s %s, %s", q->t, a.text,
                                           emit_value(e, "mul %s %s, %s", q->t, value.text, divisor.text).text)
                              : emit_value(e, "srem %s %s, %s", q->t, a.text, divisor.text);
    ssa signs = emit_value(e, "xor %s %s, %s", q->t, rest.text, divisor.text);
    ssa differ = emit_value(e, "icmp slt %s %s, 0", q->t, signs.text);
    ssa too_large = emit_op(e, "and i1", differ, emit_value(e, "icmp ne %s %s, 0", q->t, rest.text));
    ssa by = emit_select_as(e, q->t, too_large, q->o == OP_REM ? divisor : ssa_constant(-1), ssa_constant(0));
    return emit_value(e, "add %s %s, %s", q->t, (q->o == OP_REM ? rest : value).text, by.text);
}

/* Without an undefined case: the divisor is 1 where the instruction would trap. MIN / 1 is what MIN / -1 wraps to, x % 1 is 0, and 0 is divided
 * in place of what would be by 0. The CPU's instruction gives the remainder, too, so that quotient and remainder are of the same
 * operands there. */
static ssa by_instruction(const quotient *q) {
    static const char *const instructions[2][2] = {{"udiv", "urem"}, {"sdiv", "srem"}};
    emit *e = q->e;
    bool remainder = q->o == OP_REM && !q->floors;
    ssa bad = q->is_signed ? emit_op(e, "or i1", q->zero, q->wraps) : q->zero;
    ssa divisor = emit_value(e, "select i1 %s, %s 1, %s %%b", bad.text, q->t, q->t);
    bool alone = remainder && e->target->gpu;
    ssa a = alone ? ssa_named("%%a") : emit_value(e, "select i1 %s, %s 0, %s %%a", q->zero.text, q->t, q->t);
    ssa value = emit_value(e, "%s %s %s, %s", instructions[q->is_signed][remainder], q->t, a.text, divisor.text);
    return q->floors ? floored(q, a, value, divisor) : value;
}

/* ---- By floating arithmetic ---- */

static ssa to_float(const quotient *q, const division *d, ssa a) {
    return emit_value(q->e, "%s %s %s to %s", q->is_signed ? "sitofp" : "uitofp", q->t, a.text, d->type);
}

static ssa to_integer(const quotient *q, const division *d, ssa x) {
    return emit_value(q->e, "%s %s %s to %s", q->is_signed ? "fptosi" : "fptoui", d->type, x.text, q->t);
}

static ssa reciprocal(const quotient *q, const division *d) {
    return emit_value(q->e, "fdiv %s 1.0, %s", d->type, to_float(q, d, ssa_named("%%b")).text);
}

/* (a + 1/2) * (1 / b), rounded towards 0 or down. Where it wraps, the conversion's value is undefined, and is not used. */
static ssa quotient_once(const quotient *q, const division *d) {
    emit *e = q->e;
    ssa x = to_float(q, d, ssa_named("%%a"));
    if (q->is_signed) {
        ssa like = q->floors ? to_float(q, d, ssa_named("%%b")) : x;
        emit_declare(e, "declare %s @llvm.copysign.%s(%s, %s)", d->type, d->suffix, d->type, d->type);
        ssa half =
            emit_value(e, "call %s @llvm.copysign.%s(%s 0.5, %s %s)", d->type, d->suffix, d->type, d->type, like.text);
        x = emit_value(e, "fadd %s %s, %s", d->type, x.text, half.text);
    } else {
        x = emit_value(e, "fadd %s %s, 0.5", d->type, x.text);
    }
    ssa product = emit_value(e, "fmul %s %s, %s", d->type, x.text, reciprocal(q, d).text);
    if (q->floors) {
        emit_declare(e, "declare %s @llvm.floor.%s(%s)", d->type, d->suffix, d->type);
        product = emit_value(e, "call %s @llvm.floor.%s(%s %s)", d->type, d->suffix, d->type, product.text);
    }
    ssa value = to_integer(q, d, product);
    return q->is_signed ? emit_value(e, "select i1 %s, %s %%a, %s %s", q->wraps.text, q->t, q->t, value.text) : value;
}

static ssa left_of(const quotient *q, ssa a, ssa value) {
    ssa product = emit_value(q->e, "mul %s %s, %%b", q->t, value.text);
    return emit_value(q->e, "sub %s %s, %s", q->t, a.text, product.text);
}

/* x, or -x where `minus` is true. */
static ssa turned(const quotient *q, ssa minus, ssa x) {
    ssa negative = emit_value(q->e, "sub %s 0, %s", q->t, x.text);
    return emit_select_as(q->e, q->t, minus, negative, x);
}

/* Is it the other one's magnitude, or more? */
static ssa at_least(const quotient *q, ssa left, ssa divisor) {
    return emit_value(q->e, "icmp uge %s %s, %s", q->t, left.text, divisor.text);
}

/* The quotient of what two steps leave, `left`, which has the sign of a and is less than 2 b: 0, 1, -1, or rounded down -2. */
static ssa quotient_last(const quotient *q, ssa left) {
    emit *e = q->e;
    ssa divisor = ssa_named("%%b");
    if (!q->is_signed)
        return emit_value(e, "zext i1 %s to %s", at_least(q, left, divisor).text, q->t);
    ssa a_minus = emit_value(e, "icmp slt %s %%a, 0", q->t);
    ssa b_minus = emit_value(e, "icmp slt %s %s, 0", q->t, divisor.text);
    ssa differ = emit_op(e, "xor i1", a_minus, b_minus);
    left = turned(q, a_minus, left);
    divisor = turned(q, b_minus, divisor);
    ssa up = emit_value(e, "zext i1 %s to %s", at_least(q, left, divisor).text, q->t);
    ssa down = emit_value(e, "sub %s 0, %s", q->t, up.text);
    if (q->floors) {
        ssa one = emit_value(e, "icmp ne %s %s, 0", q->t, left.text);
        ssa two = emit_value(e, "icmp ugt %s %s, %s", q->t, left.text, divisor.text);
        down = emit_value(e, "add %s %s, %s", q->t, emit_value(e, "sext i1 %s to %s", one.text, q->t).text,
                          emit_value(e, "sext i1 %s to %s", two.text, q->t).text);
    }
    return emit_select_as(e, q->t, differ, down, up);
}

/* Products by 1 / b * (1 - 2^-50), which are never too large. */
static ssa quotient_twice(const quotient *q, const division *d) {
    emit *e = q->e;
    ssa less = emit_value(e, "fmul %s %s, 0x3FEFFFFFFFFFFFF8", d->type, reciprocal(q, d).text);
    ssa left = ssa_named("%%a"), sum = ssa_constant(0);
    for (int step = 0; step < 2; step++) {
        ssa part = to_integer(q, d, emit_value(e, "fmul %s %s, %s", d->type, to_float(q, d, left).text, less.text));
        sum = emit_value(e, "add %s %s, %s", q->t, sum.text, part.text);
        left = left_of(q, left, part);
    }
    return emit_value(e, "add %s %s, %s", q->t, sum.text, quotient_last(q, left).text);
}

/* By 0 all of it but the result is undefined. */
static ssa by_floating(quotient *q, const division *d) {
    ssa value = d->twice ? quotient_twice(q, d) : quotient_once(q, d);
    if (q->o == OP_REM)
        value = left_of(q, ssa_named("%%a"), value);
    return emit_select_as(q->e, q->t, q->zero, ssa_constant(0), value);
}

/* ---- The function ---- */

static ssa divide(emit *e, op o, dtype type, const division *d, ssa a, ssa b) {
    static const char *const names[OP_COUNT] = {
        [OP_DIV] = "div", [OP_REM] = "rem", [OP_FLOOR_DIV] = "floor_div", [OP_FLOOR_MOD] = "floor_mod"};
    const char *t = ir_value_type(type), *kind = dtypes[type].is_signed ? "s" : "u", *how = d ? d->name : "total";
    definition s;
    if (emit_define(e, &s, "define internal %s @%s%s_%s_%s(%s %%a, %s %%b) nounwind readnone alwaysinline", t, kind,
                    names[o], how, t, t, t)) {
        quotient q = {.e = e, .o = op_of_naturals(o), .t = t, .is_signed = dtypes[type].is_signed};
        q.floors = q.is_signed && ops[o].kind == 'F';
        operands_check(&q, type);
        emit_line(e, "ret %s %s", t, (d ? by_floating(&q, d) : by_instruction(&q)).text);
        emit_define_end(e, &s);
    }
    return emit_value(e, "call %s @%s%s_%s_%s(%s %s, %s %s)", t, kind, names[o], how, t, t, a.text, t, b.text);
}

/* ---- Rounded down, by a constant ---- */

/* Of d > 0: (u / d) ^ s, where s is the sign of a, -1 or 0, and u = a ^ s is not negative. Of d < 0 the quotient is ~((a - 1) / -d). */
static ssa floor_quotient(emit *e, const char *t, ssa a, int64_t d) {
    uint64_t magnitude = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
    if (d > 0 && !(magnitude & (magnitude - 1)))
        return emit_value(e, "ashr %s %s, %d", t, a.text, __builtin_ctzll(magnitude));
    ssa moved = d < 0 ? emit_value(e, "sub %s %s, 1", t, a.text) : a;
    ssa sign = emit_value(e, "sext i1 %s to %s", emit_value(e, "icmp slt %s %s, %d", t, a.text, d < 0).text, t);
    ssa natural = emit_value(e, "xor %s %s, %s", t, moved.text, sign.text);
    ssa value = emit_value(e, "udiv %s %s, %llu", t, natural.text, (unsigned long long)magnitude);
    value = emit_value(e, "xor %s %s, %s", t, value.text, sign.text);
    return d < 0 ? emit_value(e, "xor %s %s, -1", t, value.text) : value;
}

static ssa floor_by_constant(emit *e, op o, const char *t, ssa a, int64_t d) {
    if (!d)
        return ssa_constant(0);
    ssa value = floor_quotient(e, t, a, d);
    return o == OP_FLOOR_DIV ? value
                             : emit_value(e, "sub %s %s, %s", t, a.text,
                                          emit_value(e, "mul %s %s, %lld", t, value.text, (long long)d).text);
}

ssa emit_divide(emit *e, op o, dtype type, ssa a, ssa b) {
    int64_t d;
    if (ops[o].kind == 'F' && dtypes[type].is_signed && ssa_is_constant(b, &d))
        return floor_by_constant(e, o, ir_value_type(type), a, d);
    return divide(e, o, type, NULL, a, b);
}

/* The values of an integer expression in a type: where a narrower one is converted, and keeps its value, the values of that. The target of
 * x /= y is converted without a node that says so. */
static integer_range range_of(const node *n, dtype type) {
    bool says = n->kind == N_CONVERT && n->type == (int)type;
    const dtype_info *to = &dtypes[type], *from = &dtypes[says ? n->kid[0]->type : n->type];
    if (from->kind < DK_FLOATING && from->size < to->size && (to->is_signed || !from->is_signed))
        to = from;
    return (integer_range){8 * to->size, to->is_signed};
}

/* The range that has both; twice the bits of one without sign, if the other one has one. */
static integer_range range_of_both(integer_range a, integer_range b) {
    bool is_signed = a.is_signed || b.is_signed;
    int a_bits = a.bits << (is_signed && !a.is_signed), b_bits = b.bits << (is_signed && !b.is_signed);
    return (integer_range){a_bits > b_bits ? a_bits : b_bits, is_signed};
}

/* Vectors of 64-bit integers are converted to double, and multiplied, by instructions of AVX-512 alone. */
static const division *floating_form(const emit *e, int bits) {
    return bits <= 16 ? &by_float : bits <= 32 ? &by_double : e->target->vector_bits == 512 ? &by_double_twice : NULL;
}

/* Is a constant divisor one for which a product by a multiplier is faster than what the compiler makes of it? It rounds towards 0 itself. */
static bool is_multiplier(op o, const node *n) {
    uint64_t d = n->value.as.u;
    return ops[o].kind == 'F' && dtypes[n->type].is_signed && (d & (d - 1));
}

/* The range of a constant divisor is that of what it divides, if it has that. */
static integer_range range_of_divisor(const node *n, dtype type, integer_range other) {
    int64_t limit = (int64_t)(UINT64_MAX >> (65 - other.bits)), value = n->value.as.i;
    return n->kind == N_CONST && value <= limit && value >= (other.is_signed ? -limit - 1 : 0) ? other
                                                                                               : range_of(n, type);
}

/* 1 / b: b itself where that is 1, -1, or 0, by which the quotient is 0, too. */
static ssa one_divided(emit *e, dtype type, ssa b) {
    const char *t = ir_value_type(type);
    int from = dtypes[type].is_signed ? -1 : 0;
    ssa above = from ? emit_value(e, "sub %s %s, %d", t, b.text, from) : b;
    return emit_select_as(e, t, emit_value(e, "icmp ult %s %s, %d", t, above.text, 2 - from), b, ssa_constant(0));
}

ssa emit_integer_quotient(body *b, op o, dtype type, const node *numerator, const node *denominator, ssa x, ssa y) {
    integer_range range = range_of(numerator, type), other = range_of_divisor(denominator, type, range);
    bool constant = denominator->kind == N_CONST;
    if (o == OP_DIV && ssa_is(x, 1))
        return one_divided(b->e, type, y);
    if (!b->e->divides_by_products || (constant && !is_multiplier(o, denominator)))
        return emit_divide(b->e, o, type, x, y);
    if (constant || is_uniform(b, denominator)) {
        integer_range both = range_of_both(range, other);
        return both.is_signed && ops[o].kind == 'F' ? emit_floor_shared(b->e, o, type, both, x, y)
                                                    : emit_divide_shared(b->e, op_of_naturals(o), type, both, x, y);
    }
    int bits = range.bits > other.bits ? range.bits : other.bits;
    return divide(b->e, o, type, floating_form(b->e, bits), x, y);
}
