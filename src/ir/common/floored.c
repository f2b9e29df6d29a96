/* floored.c - quotients of integers with signs, rounded down, by a number d that all elements share: by one product, one sum and one shift.
 *
 * Let D = |d|, l = ceil(log2(D)), k = N - 1 + l, and m the integer that is nearest to 2^k / D, which has N bits at most. The quotient of n and D is
 *
 *     (n m + 2^(N-2)) >> k,
 *
 * in integers of 2 N bits, with the shift that keeps the sign. For if n = q D + r with 0 <= r < D, and m D = 2^k + E with |E| <= D / 2, then D
 * times what is shifted is (q D + r) 2^k + n E + 2^(N-2) D. Since |n| <= 2^(N-1), what is behind r 2^k is at least 0 and at most
 * 2^(N-1) D <= 2^k, and less than that also where D = 2^l, for then E = 0. So the quotient by D 2^k, rounded down, is q. If d < 0, n is -x,
 * which is at most 2^(N-1): of the smallest integer by -1 the quotient is that, and N bits of it are the smallest one again. With m = 0 all
 * quotients are 0, as those by 0 are.
 *
 * Of 8 and 16 bits m has the sign of d. Of 32 bits a product of lanes of 64 bits is one instruction if its factors are two halves without
 * signs. So n + 2^31, that is x ^ 2^31, or its complement and 1 if d < 0, is multiplied, and the sum is another one, which also makes all of it
 * positive: there are vectors of a shift that drops the sign for all processors. Of 64 bits the product is made of four. There k is 64 at
 * least, so that the quotient lies in the upper word: for D = 1 m is 2^64 - 1, and the sum 2^63 - 1, or 2^63 if n is -x. */
#include "ir/common/internal.h"

typedef struct floored {
    emit *e;
    int bits;              /* N */
    int type, lane;        /* bits of the operands, N or more, and of what quotients are computed in */
    ssa d, minus;          /* the divisor and -1 or 0, its sign; i64, as all that follow: */
    ssa magnitude;         /* D, or 1 where d is 0 */
    ssa multiplier, shift; /* m, and k */
} floored;

/* ---- Multipliers ---- */

static ssa multiplier_of(emit *e, int bits, ssa d) {
    const long long top = INT64_MIN;
    if (bits < 64) {
        ssa k = emit_value(e, "add i64 %s, %d", emit_log(e, d).text, bits - 1);
        ssa power = emit_value(e, "shl i64 1, %s", k.text), half = emit_value(e, "lshr i64 %s, 1", d.text);
        return emit_op(e, "udiv i64", emit_op(e, "add i64", power, half), d);
    }
    ssa word = emit_reciprocal_word(e, d), one = emit_value(e, "icmp eq i64 %s, 1", d.text);
    ssa half = emit_value(e, "lshr i64 %s, 1", word.text), odd = emit_value(e, "and i64 %s, 1", word.text);
    ssa other = emit_value(e, "add i64 %s, %lld", emit_op(e, "add i64", half, odd).text, top);
    ssa power = emit_value(e, "select i1 %s, i64 -1, i64 %lld", one.text, top);
    return emit_select_as(e, "i64", emit_is_power_of_2(e, d), power, other);
}

/* A function that may be computed at any time, so that the compiler calls it once before the loop. */
static ssa multiplier(emit *e, int bits, ssa d) {
    definition f;
    if (emit_define(e, &f, "define internal i64 @floor_multiplier_%d(i64 %%d) noinline nounwind readnone speculatable",
                    bits)) {
        ssa value = multiplier_of(e, bits, emit_not_zero(e, ssa_named("%%d")));
        emit_line(e, "ret i64 %s", value.text);
        emit_define_end(e, &f);
    }
    return emit_value(e, "call i64 @floor_multiplier_%d(i64 %s)", bits, d.text);
}

/* ---- What all widths share ---- */

/* An integer with sign, of which this many bits are known to suffice, in another type. */
static ssa fit(emit *e, ssa x, int from, int to) {
    return from == to ? x : emit_value(e, "%s i%d %s to i%d", from < to ? "sext" : "trunc", from, x.text, to);
}

static ssa turned(emit *e, ssa x, ssa sign) { return emit_op(e, "sub i64", emit_op(e, "xor i64", x, sign), sign); }

static floored prepare(emit *e, int type, int bits) {
    floored s = {.e = e, .bits = bits, .type = type, .lane = bits <= 16 ? 2 * bits : type};
    s.d = fit(e, ssa_named("%%b"), type, 64);
    s.minus = emit_value(e, "ashr i64 %s, 63", s.d.text);
    ssa zero = emit_value(e, "icmp eq i64 %s, 0", s.d.text);
    s.magnitude = emit_select_as(e, "i64", zero, ssa_constant(1), turned(e, s.d, s.minus));
    s.multiplier = emit_select_as(e, "i64", zero, ssa_constant(0), multiplier(e, bits, s.magnitude));
    s.shift = emit_value(e, "add i64 %s, %d", emit_log(e, s.magnitude).text, bits - 1);
    return s;
}

/* ---- Quotients, in lanes ---- */

/* Of 8 and 16 bits. */
static ssa short_quotient(const floored *s) {
    emit *e = s->e;
    ssa x = fit(e, ssa_named("%%a"), s->type, s->lane);
    ssa m = fit(e, turned(e, s->multiplier, s->minus), 64, s->lane), k = fit(e, s->shift, 64, s->lane);
    ssa product = emit_value(e, "mul i%d %s, %s", s->lane, x.text, m.text);
    ssa sum = emit_value(e, "add i%d %s, %d", s->lane, product.text, 1 << (s->bits - 2));
    return emit_value(e, "ashr i%d %s, %s", s->lane, sum.text, k.text);
}

/* x ^ 2^(N-1), or its complement where d is negative */
static ssa natural(const floored *s, ssa x) {
    ssa mask = emit_value(s->e, "lshr i64 -1, %d", 64 - s->bits);
    ssa turns = emit_value(s->e, "and i64 %s, %s", s->minus.text, mask.text);
    return emit_op(s->e, "xor i64", x, emit_value(s->e, "xor i64 %s, %llu", turns.text, 1ULL << (s->bits - 1)));
}

static ssa middle_quotient(const floored *s) {
    emit *e = s->e;
    ssa x = fit(e, ssa_named("%%a"), s->type, 32), m = s->multiplier;
    ssa n = natural(s, emit_value(e, "zext i32 %s to i64", x.text));
    /* 2^63, 2^30 and what n has too much */
    ssa sum = emit_value(e, "add i64 %s, %lld", emit_op(e, "and i64", m, s->minus).text, INT64_MIN + (1LL << 30));
    sum = emit_op(e, "sub i64", sum, emit_value(e, "shl i64 %s, 31", m.text));
    m = emit_value(e, "and i64 %s, %llu", m.text, (unsigned long long)UINT32_MAX);
    ssa shifted = emit_op(e, "lshr i64", emit_op(e, "add i64", emit_op(e, "mul i64", n, m), sum), s->shift);
    ssa more = emit_value(e, "lshr i64 %lld, %s", (long long)INT64_MIN, s->shift.text);
    return emit_value(e, "sub i%d %s, %s", s->lane, fit(e, shifted, 64, s->lane).text, fit(e, more, 64, s->lane).text);
}

/* The 128 bits that are added to the product of words: 2^127, and what is said above. */
static void long_sum(const floored *s, ssa *low, ssa *high) {
    emit *e = s->e;
    ssa m = s->multiplier, one = emit_value(e, "icmp eq i64 %s, 1", s->magnitude.text);
    ssa odd = emit_value(e, "lshr i64 %s, 63", emit_value(e, "sub i64 0, %s", s->d.text).text);
    ssa a = emit_select_as(e, "i64", one, emit_value(e, "sub i64 %lld, %s", (long long)INT64_MIN, odd.text),
                           ssa_constant(1LL << 62));
    ssa wide[] = {a, emit_op(e, "and i64", m, s->minus), m};
    for (int i = 0; i < 3; i++)
        wide[i] = emit_value(e, "zext i64 %s to i128", wide[i].text);
    ssa sum = emit_op(e, "sub i128", emit_op(e, "add i128", wide[0], wide[1]),
                      emit_value(e, "shl i128 %s, 63", wide[2].text));
    *low = emit_value(e, "trunc i128 %s to i64", sum.text);
    *high = emit_value(e, "trunc i128 %s to i64", emit_value(e, "lshr i128 %s, 64", sum.text).text);
    *high = emit_value(e, "xor i64 %s, %lld", high->text, (long long)INT64_MIN);
}

/* The high word of x y + (high, low): from products of halves, for which there are vectors. */
static ssa high_word(emit *e, ssa x, ssa y, ssa low, ssa high) {
    ssa words[] = {x, y, low}, lower[3], upper[3];
    for (int i = 0; i < 3; i++) {
        lower[i] = emit_value(e, "and i64 %s, %llu", words[i].text, (unsigned long long)UINT32_MAX);
        upper[i] = emit_value(e, "lshr i64 %s, 32", words[i].text);
    }
    ssa first = emit_op(e, "add i64", emit_op(e, "mul i64", lower[0], lower[1]), lower[2]);
    ssa second = emit_op(e, "add i64", emit_op(e, "mul i64", upper[0], lower[1]), upper[2]);
    second = emit_op(e, "add i64", second, emit_value(e, "lshr i64 %s, 32", first.text));
    ssa third = emit_value(e, "and i64 %s, %llu", second.text, (unsigned long long)UINT32_MAX);
    third = emit_op(e, "add i64", emit_op(e, "mul i64", lower[0], upper[1]), third);
    ssa sum = emit_op(e, "add i64", emit_op(e, "mul i64", upper[0], upper[1]), high);
    sum = emit_op(e, "add i64", sum, emit_value(e, "lshr i64 %s, 32", second.text));
    return emit_op(e, "add i64", sum, emit_value(e, "lshr i64 %s, 32", third.text));
}

static ssa long_quotient(const floored *s) {
    emit *e = s->e;
    ssa low, high;
    long_sum(s, &low, &high);
    ssa sum = high_word(e, natural(s, ssa_named("%%a")), s->multiplier, low, high);
    ssa one = emit_value(e, "zext i1 %s to i64", emit_value(e, "icmp eq i64 %s, 1", s->magnitude.text).text);
    ssa left = emit_value(e, "sub i64 %s, 64", emit_op(e, "add i64", s->shift, one).text);
    return emit_op(e, "sub i64", emit_op(e, "lshr i64", sum, left),
                   emit_value(e, "lshr i64 %lld, %s", (long long)INT64_MIN, left.text));
}

/* ---- The function ---- */

/* x - q d, in lanes that have no more bits than they must; by 0 it is 0 */
static ssa remainder_of(const floored *s, ssa quotient) {
    emit *e = s->e;
    int n = s->bits <= 16 ? 16 : s->bits;
    ssa some = emit_value(e, "sext i1 %s to i%d", emit_value(e, "icmp ne i64 %s, 0", s->d.text).text, n);
    ssa x = emit_value(e, "and i%d %s, %s", n, fit(e, ssa_named("%%a"), s->type, n).text, some.text);
    ssa product = emit_value(e, "mul i%d %s, %s", n, fit(e, quotient, s->lane, n).text, fit(e, s->d, 64, n).text);
    return fit(e, emit_value(e, "sub i%d %s, %s", n, x.text, product.text), n, s->type);
}

ssa emit_floor_shared(emit *e, op o, dtype type, integer_range range, ssa a, ssa b) {
    const char *t = ir_value_type(type);
    definition f;
    if (emit_define(e, &f, "define internal %s @%s_shared_%d_%s(%s %%a, %s %%b) nounwind readnone alwaysinline", t,
                    ops[o].spelling, range.bits, t, t, t)) {
        const floored s = prepare(e, 8 * dtypes[type].size, range.bits);
        ssa value = range.bits <= 16 ? short_quotient(&s) : range.bits == 32 ? middle_quotient(&s) : long_quotient(&s);
        value = o == OP_FLOOR_DIV ? fit(e, value, s.lane, s.type) : remainder_of(&s, value);
        emit_line(e, "ret %s %s", t, value.text);
        emit_define_end(e, &f);
    }
    return emit_value(e, "call %s @%s_shared_%d_%s(%s %s, %s %s)", t, ops[o].spelling, range.bits, t, t, a.text, t,
                      b.text);
}
