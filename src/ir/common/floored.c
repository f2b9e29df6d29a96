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
 * Of 8 and 16 bits m has the sign of d. Of 32 and 64 bits it has none, as have instructions for products of halves of lanes of 64 bits. So n +
 * 2^(N-1), that is x ^ 2^(N-1), or its complement and 1 if d < 0, is multiplied, and the sum is another one. Of 32 bits the lanes in even and
 * those in odd places are multiplied; of 64 bits the product is made of four. There k is N at least, so that the upper half has the quotient: for D = 1
 * m is 2^N - 1, and the sum 2^(N-1) - 1, or 2^(N-1) if n is -x. */
#include "ir/common/internal.h"

typedef struct floored {
    emit *e;
    int bits;              /* N */
    int type, lane;        /* bits of the operands, N or more, and of what quotients are computed in */
    ssa d, minus;          /* the divisor and -1 or 0, its sign; i64, as all that follow: */
    ssa magnitude, one;    /* D, or 1 where d is 0; 1 where that is 1, else 0 */
    ssa multiplier, shift; /* m, and k */
} floored;

/* ---- Multipliers ---- */

static ssa is_one(emit *e, ssa d) {
    return emit_value(e, "zext i1 %s to i64", emit_value(e, "icmp eq i64 %s, 1", d.text).text);
}

/* k, from D and is_one of it */
static ssa shift_of(emit *e, int bits, ssa d, ssa one) {
    ssa log = emit_log(e, d);
    return emit_value(e, "add i64 %s, %d", (bits < 32 ? log : emit_op(e, "add i64", log, one)).text, bits - 1);
}

static ssa multiplier_of(emit *e, int bits, ssa d) {
    ssa one = is_one(e, d);
    if (bits < 64) {
        ssa power = emit_value(e, "shl i64 1, %s", shift_of(e, bits, d, one).text);
        ssa half = emit_value(e, "lshr i64 %s, 1", d.text);
        ssa m = emit_op(e, "udiv i64", emit_op(e, "add i64", power, half), d);
        return bits < 32 ? m : emit_op(e, "sub i64", m, one);
    }
    ssa word = emit_reciprocal_word(e, d);
    ssa half = emit_value(e, "lshr i64 %s, 1", word.text), odd = emit_value(e, "and i64 %s, 1", word.text);
    ssa other = emit_value(e, "xor i64 %s, %lld", emit_op(e, "add i64", half, odd).text, (long long)INT64_MIN);
    ssa power = emit_value(e, "or i64 %s, %lld", emit_value(e, "sub i64 0, %s", one.text).text, (long long)INT64_MIN);
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
    floored s = {.e = e, .bits = bits, .type = type, .lane = bits <= 16 ? 2 * bits : bits};
    s.d = fit(e, ssa_named("%%b"), type, 64);
    s.minus = emit_value(e, "ashr i64 %s, 63", s.d.text);
    ssa zero = emit_value(e, "icmp eq i64 %s, 0", s.d.text);
    s.magnitude = emit_select_as(e, "i64", zero, ssa_constant(1), turned(e, s.d, s.minus));
    s.multiplier = emit_select_as(e, "i64", zero, ssa_constant(0), multiplier(e, bits, s.magnitude));
    s.one = is_one(e, s.magnitude);
    s.shift = shift_of(e, bits, s.magnitude, s.one);
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
static ssa natural(const floored *s) {
    emit *e = s->e;
    ssa turns = emit_value(e, "xor i64 %s, %lld", s->minus.text, (long long)(INT64_MIN >> (64 - s->bits)));
    ssa x = fit(e, ssa_named("%%a"), s->type, s->lane);
    return emit_value(e, "xor i%d %s, %s", s->lane, x.text, fit(e, turns, 64, s->lane).text);
}

/* What is added to the product, in two halves: as is said above, less what its factor has too much. */
static void find_sum(const floored *s, ssa *low, ssa *high) {
    emit *e = s->e;
    int n = s->bits;
    ssa positive = emit_value(e, "lshr i64 %s, 63", emit_value(e, "sub i64 0, %s", s->d.text).text);
    ssa of_one = emit_value(e, "sub i64 %lld, %s", (long long)(1ULL << (n - 1)), positive.text);
    ssa one = emit_value(e, "trunc i64 %s to i1", s->one.text);
    ssa wide[] = {emit_select_as(e, "i64", one, of_one, ssa_constant(1LL << (n - 2))),
                  emit_op(e, "and i64", s->multiplier, s->minus), s->multiplier};
    for (int i = 0; i < 3; i++)
        wide[i] = emit_value(e, "zext i64 %s to i128", wide[i].text);
    ssa less = emit_value(e, "shl i128 %s, %d", wide[2].text, n - 1);
    ssa sum = emit_op(e, "sub i128", emit_op(e, "add i128", wide[0], wide[1]), less);
    *low = emit_value(e, "trunc i128 %s to i%d", sum.text, n);
    *high = emit_value(e, "trunc i128 %s to i%d", emit_value(e, "lshr i128 %s, %d", sum.text, n).text, n);
}

static ssa long_quotient(const floored *s) {
    emit *e = s->e;
    ssa low, high;
    find_sum(s, &low, &high);
    ssa sum = emit_high_sum(e, s->bits, natural(s), fit(e, s->multiplier, 64, s->lane), low, high);
    ssa left = fit(e, emit_value(e, "sub i64 %s, %d", s->shift.text, s->bits), 64, s->lane);
    return emit_value(e, "ashr i%d %s, %s", s->lane, sum.text, left.text);
}

/* ---- The function ---- */

/* In the type of the operands. The one quotient that needs a bit more than N is that of the smallest integer by -1. */
static ssa whole_quotient(const floored *s, ssa quotient) {
    emit *e = s->e;
    ssa value = fit(e, quotient, s->lane, s->type);
    if (s->type <= s->bits || s->lane > s->bits)
        return value;
    ssa turns = emit_value(e, "icmp eq i%d %%b, -1", s->type);
    ssa negative = emit_value(e, "sub i%d 0, %%a", s->type);
    return emit_value(e, "select i1 %s, i%d %s, i%d %s", turns.text, s->type, negative.text, s->type, value.text);
}

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
        ssa value = range.bits <= 16 ? short_quotient(&s) : long_quotient(&s);
        value = o == OP_FLOOR_DIV ? whole_quotient(&s, value) : remainder_of(&s, value);
        emit_line(e, "ret %s %s", t, value.text);
        emit_define_end(e, &f);
    }
    return emit_value(e, "call %s @%s_shared_%d_%s(%s %s, %s %s)", t, ops[o].spelling, range.bits, t, t, a.text, t,
                      b.text);
}
