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
 * of that leaves less than 2 |b|, and a comparison does the rest. */
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
    op o;
    const char *t; /* of the integers */
    bool is_signed;
    ssa zero;    /* i1: the denominator is 0 */
    ssa wraps;   /* i1, signed: the least integer by -1 */
    ssa divisor; /* the denominator, or 1 where that is 0 */
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

/* Without an undefined case: the divisor is 1 where the instruction would trap. MIN / 1 is what MIN / -1 wraps to, and x % 1 is 0. */
static ssa by_instruction(const quotient *q, const char *instruction) {
    emit *e = q->e;
    ssa bad = q->is_signed ? emit_op(e, "or i1", q->zero, q->wraps) : q->zero;
    ssa divisor = emit_value(e, "select i1 %s, %s 1, %s %%b", bad.text, q->t, q->t);
    ssa value = emit_value(e, "%s %s %%a, %s", instruction, q->t, divisor.text);
    return q->o == OP_DIV ? emit_value(e, "select i1 %s, %s 0, %s %s", q->zero.text, q->t, q->t, value.text) : value;
}

/* ---- By floating arithmetic ---- */

static ssa to_float(const quotient *q, const division *d, ssa a) {
    return emit_value(q->e, "%s %s %s to %s", q->is_signed ? "sitofp" : "uitofp", q->t, a.text, d->type);
}

static ssa to_integer(const quotient *q, const division *d, ssa x) {
    return emit_value(q->e, "%s %s %s to %s", q->is_signed ? "fptosi" : "fptoui", d->type, x.text, q->t);
}

static ssa reciprocal(const quotient *q, const division *d) {
    return emit_value(q->e, "fdiv %s 1.0, %s", d->type, to_float(q, d, q->divisor).text);
}

/* (a + 1/2) * (1 / b), rounded towards 0. Where it wraps, the conversion's value is undefined, and is not used. */
static ssa quotient_once(const quotient *q, const division *d) {
    emit *e = q->e;
    ssa x = to_float(q, d, ssa_named("%%a"));
    if (q->is_signed) {
        emit_declare(e, "declare %s @llvm.copysign.%s(%s, %s)", d->type, d->suffix, d->type, d->type);
        ssa half =
            emit_value(e, "call %s @llvm.copysign.%s(%s 0.5, %s %s)", d->type, d->suffix, d->type, d->type, x.text);
        x = emit_value(e, "fadd %s %s, %s", d->type, x.text, half.text);
    } else {
        x = emit_value(e, "fadd %s %s, 0.5", d->type, x.text);
    }
    ssa value = to_integer(q, d, emit_value(e, "fmul %s %s, %s", d->type, x.text, reciprocal(q, d).text));
    return q->is_signed ? emit_value(e, "select i1 %s, %s %%a, %s %s", q->wraps.text, q->t, q->t, value.text) : value;
}

static ssa left_of(const quotient *q, ssa a, ssa value) {
    ssa product = emit_value(q->e, "mul %s %s, %s", q->t, value.text, q->divisor.text);
    return emit_value(q->e, "sub %s %s, %s", q->t, a.text, product.text);
}

/* x, or -x where `minus` is true. */
static ssa turned(const quotient *q, ssa minus, ssa x) {
    ssa negative = emit_value(q->e, "sub %s 0, %s", q->t, x.text);
    return emit_select_as(q->e, q->t, minus, negative, x);
}

/* The quotient of what two steps leave, `left`, which has the sign of a: 0, 1 or -1. */
static ssa quotient_last(const quotient *q, ssa left) {
    emit *e = q->e;
    ssa divisor = q->divisor, one = ssa_constant(1);
    if (q->is_signed) {
        ssa a_minus = emit_value(e, "icmp slt %s %%a, 0", q->t);
        ssa b_minus = emit_value(e, "icmp slt %s %s, 0", q->t, divisor.text);
        left = turned(q, a_minus, left);
        divisor = turned(q, b_minus, divisor);
        one = emit_value(e, "select i1 %s, %s -1, %s 1", emit_op(e, "xor i1", a_minus, b_minus).text, q->t, q->t);
    }
    ssa more = emit_value(e, "icmp uge %s %s, %s", q->t, left.text, divisor.text);
    return emit_value(e, "select i1 %s, %s %s, %s 0", more.text, q->t, one.text, q->t);
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

static ssa by_floating(quotient *q, const division *d) {
    emit *e = q->e;
    q->divisor = emit_value(e, "select i1 %s, %s 1, %s %%b", q->zero.text, q->t, q->t);
    ssa value = d->twice ? quotient_twice(q, d) : quotient_once(q, d);
    return q->o == OP_DIV ? emit_value(e, "select i1 %s, %s 0, %s %s", q->zero.text, q->t, q->t, value.text)
                          : left_of(q, ssa_named("%%a"), value);
}

/* ---- The function ---- */

static ssa divide(emit *e, op o, dtype type, const division *d, ssa a, ssa b) {
    static const char *const instructions[2][2] = {{"udiv", "urem"}, {"sdiv", "srem"}};
    const char *t = ir_value_type(type), *instruction = instructions[dtypes[type].is_signed][o == OP_REM];
    const char *how = d ? d->name : "total";
    definition s;
    if (emit_define(e, &s, "define internal %s @%s_%s_%s(%s %%a, %s %%b) nounwind readnone alwaysinline", t,
                    instruction, how, t, t, t)) {
        quotient q = {.e = e, .o = o, .t = t, .is_signed = dtypes[type].is_signed};
        operands_check(&q, type);
        ssa value = d ? by_floating(&q, d) : by_instruction(&q, instruction);
        emit_line(e, "ret %s %s", t, value.text);
        emit_define_end(e, &s);
    }
    return emit_value(e, "call %s @%s_%s_%s(%s %s, %s %s)", t, instruction, how, t, t, a.text, t, b.text);
}

ssa emit_divide(emit *e, op o, dtype type, ssa a, ssa b) { return divide(e, o, type, NULL, a, b); }

/* The values of an integer expression: where a narrower one is converted, and keeps its value, the values of that. */
static integer_range range_of(const node *n) {
    const dtype_info *to = &dtypes[n->type], *from = n->kind == N_CONVERT ? &dtypes[n->kid[0]->type] : to;
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

ssa emit_integer_quotient(body *b, op o, dtype type, const node *numerator, const node *denominator, ssa x, ssa y) {
    integer_range range = range_of(numerator), other = range_of(denominator);
    if (!b->e->divides_by_products || denominator->kind == N_CONST)
        return emit_divide(b->e, o, type, x, y);
    if (is_uniform(b, denominator))
        return emit_divide_shared(b->e, o, type, range_of_both(range, other), x, y);
    int bits = range.bits > other.bits ? range.bits : other.bits;
    return divide(b->e, o, type, floating_form(b->e, bits), x, y);
}
