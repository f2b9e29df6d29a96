/* reciprocal.c - division of integers by a number that all elements share, as in x / 7: by a product and shifts.
 *
 * With a multiplier for the divisor d, the high half of a product of N-bit integers is the quotient but for shifts: Granlund and
 * Montgomery, "Division by Invariant Integers using Multiplication" (1994), figures 4.1 and 5.1. Of 8 bits the product has room for a
 * simpler form: (n * (2^16 / d + 1)) >> 16, whose error, n / 2^16 at most, takes no quotient across an integer. The multiplier is the
 * value of a function that may be computed at any time, so that the compiler calls it once before the loop. Of 64 bits it is made of
 * the reciprocal of Moeller and Granlund, "Improved division by invariant integers" (2011), algorithm 3. */
#include "ir/common/internal.h"
#include "ir/common/target.h"

/* What one division is of: integers of `bits` bits, in a type T that has as many or more. */
typedef struct shared_division {
    emit *e;
    int bits;
    bool is_signed;
    const char *t, *n; /* T, and the integers' own */
} shared_division;

/* ---- Multipliers, from the divisor's absolute value d (i64) ---- */

static ssa leading_zeros(emit *e, ssa x) {
    emit_declare(e, "declare i64 @llvm.ctlz.i64(i64, i1)");
    return emit_value(e, "call i64 @llvm.ctlz.i64(i64 %s, i1 false)", x.text);
}

ssa emit_log(emit *e, ssa d) {
    ssa zeros = leading_zeros(e, emit_value(e, "sub i64 %s, 1", d.text));
    return emit_value(e, "sub i64 64, %s", zeros.text);
}

/* The same, at least 1 */
static ssa log_from_1(emit *e, ssa d) {
    ssa one = emit_value(e, "zext i1 %s to i64", emit_value(e, "icmp eq i64 %s, 1", d.text).text);
    return emit_op(e, "add i64", emit_log(e, d), one);
}

/* The high 64 bits of x * y + z. */
static ssa high_of(emit *e, ssa x, ssa y, ssa z) {
    ssa wide[] = {x, y, z};
    for (int i = 0; i < 3; i++)
        wide[i] = emit_value(e, "zext i64 %s to i128", wide[i].text);
    ssa sum = emit_op(e, "add i128", emit_op(e, "mul i128", wide[0], wide[1]), wide[2]);
    return emit_value(e, "trunc i128 %s to i64", emit_value(e, "lshr i128 %s, 64", sum.text).text);
}

/* The comments say how many bits are right so far. */
ssa emit_reciprocal_word(emit *e, ssa d) {
    d = emit_op(e, "shl i64", d, leading_zeros(e, d));
    ssa odd = emit_value(e, "and i64 %s, 1", d.text), d9 = emit_value(e, "lshr i64 %s, 55", d.text);
    ssa d40 = emit_value(e, "add i64 %s, 1", emit_value(e, "lshr i64 %s, 24", d.text).text);
    ssa d63 = emit_op(e, "add i64", emit_value(e, "lshr i64 %s, 1", d.text), odd);
    ssa v = emit_value(e, "udiv i64 523520, %s", d9.text); /* 11; the number is 2^19 - 3 * 2^8 */
    ssa square = emit_op(e, "mul i64", emit_op(e, "mul i64", v, v), d40);
    v = emit_op(e, "sub i64", emit_value(e, "shl i64 %s, 11", v.text), emit_value(e, "lshr i64 %s, 40", square.text));
    v = emit_value(e, "sub i64 %s, 1", v.text); /* 21 */
    ssa left = emit_value(e, "sub i64 %lld, %s", 1LL << 60, emit_op(e, "mul i64", v, d40).text);
    ssa more = emit_value(e, "lshr i64 %s, 47", emit_op(e, "mul i64", v, left).text);
    v = emit_op(e, "add i64", emit_value(e, "shl i64 %s, 13", v.text), more); /* 34 */
    ssa half = emit_op(e, "mul i64", emit_value(e, "lshr i64 %s, 1", v.text), odd);
    ssa error = emit_op(e, "sub i64", half, emit_op(e, "mul i64", v, d63));
    more = emit_value(e, "lshr i64 %s, 1", high_of(e, v, error, ssa_constant(0)).text);
    v = emit_op(e, "add i64", emit_value(e, "shl i64 %s, 31", v.text), more); /* 65 but for 1 */
    return emit_op(e, "sub i64", v, emit_op(e, "add i64", high_of(e, v, d, d), d));
}

ssa emit_is_power_of_2(emit *e, ssa d) {
    ssa less = emit_value(e, "sub i64 %s, 1", d.text);
    return emit_value(e, "icmp eq i64 %s, 0", emit_op(e, "and i64", d, less).text);
}

static ssa quotient_and_1(emit *e, ssa numerator, ssa d) {
    return emit_value(e, "add i64 %s, 1", emit_op(e, "udiv i64", numerator, d).text);
}

static ssa power_of_2(emit *e, ssa exponent) { return emit_value(e, "shl i64 1, %s", exponent.text); }

/* 2^N (2^l - d) / d + 1, for l = ceil(log2(d)) */
static ssa multiplier_unsigned(emit *e, ssa d, int bits) {
    if (bits == 64)
        return emit_value(e, "select i1 %s, i64 1, i64 %s", emit_is_power_of_2(e, d).text,
                          emit_value(e, "add i64 %s, 1", emit_reciprocal_word(e, d).text).text);
    ssa left = emit_op(e, "sub i64", power_of_2(e, emit_log(e, d)), d);
    return quotient_and_1(e, emit_value(e, "shl i64 %s, %d", left.text, bits), d);
}

/* 2^(N+l-1) / d + 1, of which the lower N bits are used, for l = ceil(log2(d)), at least 1 */
static ssa multiplier_signed(emit *e, ssa d, int bits) {
    if (bits < 64)
        return quotient_and_1(e, power_of_2(e, emit_value(e, "add i64 %s, %d", log_from_1(e, d).text, bits - 1)), d);
    const long long top = INT64_MIN + 1; /* 2^63 + 1 */
    ssa one = emit_value(e, "icmp eq i64 %s, 1", d.text);
    ssa power = emit_value(e, "select i1 %s, i64 1, i64 %lld", one.text, top);
    ssa other =
        emit_value(e, "add i64 %s, %lld", emit_value(e, "lshr i64 %s, 1", emit_reciprocal_word(e, d).text).text, top);
    return emit_value(e, "select i1 %s, i64 %s, i64 %s", emit_is_power_of_2(e, d).text, power.text, other.text);
}

/* 2^16 / d + 1 */
static ssa multiplier_of_bytes(emit *e, ssa d, int bits) {
    (void)bits;
    return quotient_and_1(e, ssa_constant(65536), d);
}

ssa emit_not_zero(emit *e, ssa d) {
    ssa hidden = emit_value(e, "call i64 asm \"\", \"=r,0\"(i64 %s)", d.text);
    return emit_select_as(e, "i64", emit_value(e, "icmp eq i64 %s, 0", hidden.text), ssa_constant(1), hidden);
}

/* The multiplier for d, which is not 0. */
static ssa multiplier(const shared_division *s, ssa d) {
    static ssa (*const kinds[])(emit * e, ssa d, int bits) = {multiplier_unsigned, multiplier_signed};
    emit *e = s->e;
    definition f;
    const char *kind = s->bits == 8 ? "bytes" : s->is_signed ? "signed" : "unsigned";
    if (emit_define(e, &f, "define internal i64 @multiplier_%s_%d(i64 %%d) noinline nounwind readnone speculatable",
                    kind, s->bits)) {
        ssa divisor = emit_not_zero(e, ssa_named("%%d"));
        ssa value = (s->bits == 8 ? multiplier_of_bytes : kinds[s->is_signed])(e, divisor, s->bits);
        emit_line(e, "ret i64 %s", value.text);
        emit_define_end(e, &f);
    }
    return emit_value(e, "call i64 @multiplier_%s_%d(i64 %s)", kind, s->bits, d.text);
}

/* ---- Quotients of x and d, which is not 0, in the integers' own type n ---- */

static ssa extend(const shared_division *s, ssa x, const char *to) {
    return strcmp(s->n, to) ? emit_value(s->e, "%s %s %s to %s", s->is_signed ? "sext" : "zext", s->n, x.text, to) : x;
}

static ssa truncate(const shared_division *s, const char *from, ssa x) {
    return strcmp(s->n, from) ? emit_value(s->e, "trunc %s %s to %s", from, x.text, s->n) : x;
}

static ssa in_n(const shared_division *s, const char *operator, ssa x, ssa y) {
    return emit_value(s->e, "%s %s %s, %s", operator, s->n, x.text, y.text);
}

/* The high half of a product of integers of 64 bits without signs: from products of halves, for which there are vectors. */
static ssa high_word(const shared_division *s, ssa x, ssa y) {
    const ssa low = ssa_constant(UINT32_MAX), half = ssa_constant(32);
    ssa a[] = {in_n(s, "and", x, low), in_n(s, "lshr", x, half)},
        b[] = {in_n(s, "and", y, low), in_n(s, "lshr", y, half)};
    ssa first = in_n(s, "lshr", in_n(s, "mul", a[0], b[0]), half);
    ssa middle = in_n(s, "add", in_n(s, "mul", a[1], b[0]), first);
    ssa other = in_n(s, "add", in_n(s, "mul", a[0], b[1]), in_n(s, "and", middle, low));
    ssa sum = in_n(s, "add", in_n(s, "mul", a[1], b[1]), in_n(s, "lshr", middle, half));
    return in_n(s, "add", sum, in_n(s, "lshr", other, half));
}

/* The same of `bits` bits, from a product that is twice as wide. */
static ssa high_of_wide(const shared_division *s, int bits, ssa x, ssa y) {
    emit *e = s->e;
    const char *wide = bits == 16 ? "i32" : "i64";
    ssa product = emit_value(e, "mul %s %s, %s", wide, extend(s, x, wide).text, extend(s, y, wide).text);
    ssa high = emit_value(e, "lshr %s %s, %d", wide, product.text, bits);
    return truncate(s, wide, high);
}

/* The same, of the bits of the type. As the fixed-point product that it is LLVM finds the instructions of vectors for it, which it does
 * not where a factor that all lanes share is extended before it is copied to them. */
static ssa high_half(const shared_division *s, int bits, ssa x, ssa y) {
    emit *e = s->e;
    if (bits == 64)
        return high_word(s, x, y);
    const shared_division magnitudes = {.e = e, .bits = bits, .n = s->n};
    if (!target_has_fixed_products())
        return high_of_wide(&magnitudes, bits, x, y);
    emit_declare(e, "declare %s @llvm.umul.fix.%s(%s, %s, i32)", s->n, s->n, s->n, s->n);
    return emit_value(e, "call %s @llvm.umul.fix.%s(%s %s, %s %s, i32 %d)", s->n, s->n, s->n, x.text, s->n, y.text,
                      bits);
}

/* -1 where x is negative, else 0. */
static ssa sign_of(const shared_division *s, int bits, ssa x) { return in_n(s, "ashr", x, ssa_constant(bits - 1)); }

/* x, or -x where the sign is -1. */
static ssa turned(const shared_division *s, ssa x, ssa sign) { return in_n(s, "sub", in_n(s, "xor", x, sign), sign); }

static ssa unsigned_quotient(const shared_division *s, ssa x, ssa d) {
    emit *e = s->e;
    ssa whole = extend(s, d, "i64"), log = log_from_1(e, whole);
    ssa first = emit_value(e, "zext i1 %s to %s", emit_value(e, "icmp ne i64 %s, 1", whole.text).text, s->n);
    ssa second = truncate(s, "i64", emit_value(e, "sub i64 %s, 1", log.text));
    ssa high = high_half(s, s->bits, truncate(s, "i64", multiplier(s, whole)), x);
    ssa rest = in_n(s, "lshr", in_n(s, "sub", x, high), first);
    return in_n(s, "lshr", in_n(s, "add", high, rest), second);
}

/* x plus the high half of a product of x and the multiplier, both with signs. Of 16 bits LLVM finds the instruction for it; else it is the
 * one without signs, less the other factor for each that is negative, as the multiplier is but for d = 1. */
static ssa signed_sum(const shared_division *s, ssa m, ssa x, ssa x_minus) {
    if (s->bits == 16)
        return in_n(s, "add", x, high_of_wide(s, 16, m, x));
    ssa rest = in_n(s, "and", x, in_n(s, "xor", sign_of(s, s->bits, m), ssa_constant(-1)));
    return in_n(s, "add", in_n(s, "sub", high_half(s, s->bits, m, x), in_n(s, "and", m, x_minus)), rest);
}

static ssa signed_quotient(const shared_division *s, ssa x, ssa d) {
    emit *e = s->e;
    ssa minus = sign_of(s, s->bits, d), magnitude = turned(s, d, minus), x_minus = sign_of(s, s->bits, x);
    if (s->bits < 64)
        magnitude = emit_value(e, "zext %s %s to i64", s->n, magnitude.text);
    ssa shift = truncate(s, "i64", emit_value(e, "sub i64 %s, 1", log_from_1(e, magnitude).text));
    ssa sum = signed_sum(s, truncate(s, "i64", multiplier(s, magnitude)), x, x_minus);
    return turned(s, in_n(s, "sub", in_n(s, "ashr", sum, shift), x_minus), minus);
}

/* Of bytes, as integers of 16 bits. */
static ssa byte_quotient(const shared_division *s, ssa x, ssa d) {
    emit *e = s->e;
    const shared_division magnitudes = {.e = e, .bits = 8, .n = s->n};
    ssa sign = ssa_constant(0);
    if (s->is_signed) {
        ssa x_minus = sign_of(s, 16, x), d_minus = sign_of(s, 16, d);
        x = turned(s, x, x_minus);
        d = turned(s, d, d_minus);
        sign = in_n(s, "xor", x_minus, d_minus);
    }
    ssa m = truncate(s, "i64", multiplier(&magnitudes, extend(&magnitudes, d, "i64")));
    ssa one = emit_value(e, "icmp eq i16 %s, 1", d.text), high = high_half(&magnitudes, 16, x, m);
    ssa value = emit_value(e, "select i1 %s, i16 %s, i16 %s", one.text, x.text, high.text);
    return s->is_signed ? turned(s, value, sign) : value;
}

/* ---- The function ---- */

/* The quotient of x and d, extended to T. What -2^(N-1) / -1 wraps to in N bits, it does not where T has more. */
static ssa whole_quotient(const shared_division *s, ssa value, ssa d) {
    value = extend(s, value, s->t);
    if (!s->is_signed || s->bits == 8 || !strcmp(s->n, s->t))
        return value;
    ssa turns = emit_value(s->e, "icmp eq %s %s, -1", s->n, d.text);
    ssa negative = emit_value(s->e, "sub %s 0, %%a", s->t);
    return emit_value(s->e, "select i1 %s, %s %s, %s %s", turns.text, s->t, negative.text, s->t, value.text);
}

static ssa total(const shared_division *s, op o) {
    emit *e = s->e;
    ssa x = truncate(s, s->t, ssa_named("%%a")), d = truncate(s, s->t, ssa_named("%%b"));
    ssa zero = emit_value(e, "icmp eq %s %s, 0", s->n, d.text);
    d = emit_value(e, "select i1 %s, %s 1, %s %s", zero.text, s->n, s->n, d.text);
    ssa value = s->bits == 8   ? byte_quotient(s, x, d)
                : s->is_signed ? signed_quotient(s, x, d)
                               : unsigned_quotient(s, x, d);
    if (o == OP_REM)
        return extend(s, in_n(s, "sub", x, in_n(s, "mul", value, d)), s->t);
    return emit_value(e, "select i1 %s, %s 0, %s %s", zero.text, s->t, s->t, whole_quotient(s, value, d).text);
}

ssa emit_divide_shared(emit *e, op o, dtype type, integer_range range, ssa a, ssa b) {
    static const char *const names[] = {[8] = "i16", [16] = "i16", [32] = "i32", [64] = "i64"};
    const shared_division s = {
        .e = e, .bits = range.bits, .is_signed = range.is_signed, .t = ir_value_type(type), .n = names[range.bits]};
    const char *name = o == OP_DIV ? "quotient" : "remainder", *kind = s.is_signed ? "signed" : "unsigned";
    definition f;
    if (emit_define(e, &f, "define internal %s @%s_%s_%d_%s(%s %%a, %s %%b) nounwind readnone alwaysinline", s.t, name,
                    kind, s.bits, s.t, s.t, s.t)) {
        emit_line(e, "ret %s %s", s.t, total(&s, o).text);
        emit_define_end(e, &f);
    }
    return emit_value(e, "call %s @%s_%s_%d_%s(%s %s, %s %s)", s.t, name, kind, s.bits, s.t, s.t, a.text, s.t, b.text);
}
