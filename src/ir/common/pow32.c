/* pow32.c - pow of float32 where vectors have 512 bits, in operations that any vectoriser takes: 1.4 units in the last place at most, as seen
 * on 10^8 pairs. libmvec has a function that takes half as long again. x^y is 2^(y log2 |x|); so that 24 bits are left of the power, the
 * logarithm and the product are sums of two floats. Exact cases and special values are those of C's pow. */
#include "ir/common/internal.h"

#include <math.h>

/* ---- Operations ---- */

static ssa constant(double x) { return emit_constant((number){.type = DT_FLOAT64, .as.f = {x}}, DT_FLOAT32); }

static ssa add(emit *e, ssa a, ssa b) { return emit_op(e, "fadd float", a, b); }
static ssa sub(emit *e, ssa a, ssa b) { return emit_op(e, "fsub float", a, b); }
static ssa mul(emit *e, ssa a, ssa b) { return emit_op(e, "fmul float", a, b); }
static ssa negated(emit *e, ssa a) { return emit_value(e, "fsub float -0.0, %s", a.text); }

static ssa intrinsic(emit *e, const char *name, ssa a) {
    emit_declare(e, "declare float @llvm.%s.f32(float)", name);
    return emit_value(e, "call float @llvm.%s.f32(float %s)", name, a.text);
}

/* a * b + c, rounded once. */
static ssa fused(emit *e, ssa a, ssa b, ssa c) {
    emit_declare(e, "declare float @llvm.fma.f32(float, float, float)");
    return emit_value(e, "call float @llvm.fma.f32(float %s, float %s, float %s)", a.text, b.text, c.text);
}

static ssa compare(emit *e, const char *how, ssa a, ssa b) {
    return emit_value(e, "fcmp %s float %s, %s", how, a.text, b.text);
}

static ssa choose(emit *e, ssa condition, ssa yes, ssa no) { return emit_select_as(e, "float", condition, yes, no); }
static ssa bits_of(emit *e, ssa a) { return emit_value(e, "bitcast float %s to i32", a.text); }
static ssa float_of(emit *e, ssa bits) { return emit_value(e, "bitcast i32 %s to float", bits.text); }

/* c[0] + c[1] x + .., of at most 6 coefficients: pairs of them first, so that fewer operations wait for each other. */
static ssa polynomial(emit *e, const double *c, int n, ssa x) {
    ssa square = mul(e, x, x), value = ssa_none();
    for (int i = (n - 1) / 2 * 2; i >= 0; i -= 2) {
        ssa pair = i + 1 < n ? fused(e, x, constant(c[i + 1]), constant(c[i])) : constant(c[i]);
        value = ssa_is_set(value) ? fused(e, value, square, pair) : pair;
    }
    return value;
}

/* A sum of two floats, of which the second is what the first has no room for. */
typedef struct two {
    ssa high, low;
} two;

/* a + b + c, where a is 0 or b is no larger. */
static two sum_of(emit *e, ssa a, ssa b, ssa c) {
    ssa first = add(e, a, b), rest = add(e, add(e, sub(e, a, first), b), c), high = add(e, first, rest);
    return (two){high, add(e, sub(e, first, high), rest)};
}

/* ---- The logarithm ---- */

/* a = m 2^e, m from the root of 1/2 to that of 2. Returns m; *exponent is e. */
static ssa split(emit *e, ssa a, ssa *exponent) {
    const int root = 0x3F3504F3; /* bits of the root of 1/2 */
    ssa is_small = compare(e, "olt", a, constant(0x1p-126));
    ssa scaled = choose(e, is_small, mul(e, a, constant(0x1p24)), a);
    ssa b = emit_value(e, "sub i32 %s, %d", bits_of(e, scaled).text, root);
    ssa shift = emit_value(e, "select i1 %s, i32 -24, i32 0", is_small.text);
    ssa power = emit_op(e, "add i32", emit_value(e, "ashr i32 %s, 23", b.text), shift);
    *exponent = emit_value(e, "sitofp i32 %s to float", power.text);
    ssa fraction = emit_value(e, "and i32 %s, 8388607", b.text);
    return float_of(e, emit_value(e, "add i32 %s, %d", fraction.text, root));
}

/* (m - 1) / (m + 1) */
static two ratio(emit *e, ssa m) {
    ssa one = constant(1), over = sub(e, m, one), under = add(e, m, one), rest = sub(e, m, sub(e, under, one));
    ssa inverse = emit_op(e, "fdiv float", one, under), high = mul(e, over, inverse), minus = negated(e, high);
    ssa left = fused(e, minus, rest, fused(e, minus, under, over));
    return (two){high, mul(e, left, inverse)};
}

/* log2(m 2^e) = e + s (2 / ln 2 + z q(z)), s = (m - 1) / (m + 1), z = s^2; q is a polynomial of least error. */
static two log2_of(emit *e, ssa a) {
    static const double q[] = {0x1.ec709ep-1, 0x1.2776c4p-1, 0x1.a618aap-2, 0x1.47d3b8p-2, 0x1.1e4182p-2};
    ssa exponent, m = split(e, a, &exponent), high = constant(0x1.715476p+1), low = constant(0x1.4ae0cp-25);
    two s = ratio(e, m);
    ssa z = mul(e, s.high, s.high), z_rest = fused(e, s.high, s.high, negated(e, z));
    ssa p = polynomial(e, q, COUNT(q), z), zp = mul(e, z, p);
    ssa zp_rest = fused(e, z_rest, p, fused(e, z, p, negated(e, zp)));
    ssa first = mul(e, s.high, high), rest = fused(e, s.high, low, fused(e, s.high, high, negated(e, first)));
    rest = fused(e, s.low, fused(e, constant(3), zp, high), rest); /* the derivative, as s^3 counts thrice */
    rest = fused(e, s.high, zp, fused(e, s.high, zp_rest, rest));
    return sum_of(e, exponent, first, rest);
}

/* ---- The power ---- */

/* v 2^n, by two factors, since one may be out of range. */
static ssa scaled(emit *e, ssa v, ssa n) {
    ssa half = emit_value(e, "ashr i32 %s, 1", n.text), parts[] = {half, emit_op(e, "sub i32", n, half)};
    for (int i = 0; i < 2; i++) {
        ssa biased = emit_value(e, "add i32 %s, 127", parts[i].text);
        v = mul(e, v, float_of(e, emit_value(e, "shl i32 %s, 23", biased.text)));
    }
    return v;
}

/* 2^(t.high + t.low); NaN if t.high is. */
static ssa exp2_of(emit *e, two t) {
    /* (2^x - 1) / x, of least error from -1/2 to 1/2 */
    static const double q[] = {0x1.62e43p-1,  0x1.ebfbe0p-3,  0x1.c6aedcp-5,
                               0x1.3b29b2p-7, 0x1.5f4362p-10, 0x1.448b52p-13};
    ssa most = constant(160), least = constant(-160); /* beyond the range of powers */
    ssa inside = compare(e, "ole", intrinsic(e, "fabs", t.high), most);
    ssa low = choose(e, inside, t.low, constant(0)), high = choose(e, compare(e, "olt", t.high, least), least, t.high);
    high = choose(e, compare(e, "ogt", high, most), most, high);
    ssa nan = compare(e, "uno", high, high), whole = intrinsic(e, "rint", high);
    ssa x = add(e, sub(e, high, whole), low), power = fused(e, polynomial(e, q, COUNT(q), x), x, constant(1));
    ssa n = emit_value(e, "fptosi float %s to i32", choose(e, nan, constant(0), whole).text);
    return choose(e, nan, high, scaled(e, power, n));
}

/* The power of a negative number: minus it where the exponent is odd, NaN where it is no integer. */
static ssa with_sign(emit *e, ssa power, ssa x, ssa y, ssa finite) {
    ssa whole = compare(e, "oeq", intrinsic(e, "rint", y), y), half = mul(e, y, constant(0.5));
    ssa odd = emit_op(e, "and i1", whole, compare(e, "une", intrinsic(e, "rint", half), half));
    ssa sign = emit_value(e, "and i32 %s, -2147483648", bits_of(e, x).text);
    sign = emit_value(e, "select i1 %s, i32 %s, i32 0", odd.text, sign.text);
    ssa turned = float_of(e, emit_op(e, "or i32", bits_of(e, power), sign));
    ssa none = emit_op(e, "and i1", compare(e, "olt", x, constant(0)), finite);
    none = emit_op(e, "and i1", none, emit_value(e, "xor i1 %s, true", whole.text));
    return choose(e, none, constant(NAN), turned);
}

/* Is the power 1 whatever else the operands are? */
static ssa is_one(emit *e, ssa x, ssa y, ssa a) {
    ssa one = constant(1), endless = compare(e, "oeq", intrinsic(e, "fabs", y), constant(INFINITY));
    ssa unit = emit_op(e, "and i1", compare(e, "oeq", a, one), endless);
    ssa plain = emit_op(e, "or i1", compare(e, "oeq", x, one), compare(e, "oeq", y, constant(0)));
    return emit_op(e, "or i1", plain, unit);
}

static ssa power(emit *e, ssa x, ssa y) {
    ssa a = intrinsic(e, "fabs", x), zero = compare(e, "oeq", a, constant(0));
    ssa finite = compare(e, "olt", a, constant(INFINITY));
    ssa plain = emit_op(e, "and i1", finite, emit_value(e, "xor i1 %s, true", zero.text));
    two l = log2_of(e, a);
    l.high = choose(e, plain, l.high, choose(e, zero, constant(-INFINITY), a));
    l.low = choose(e, plain, l.low, constant(0));
    ssa high = mul(e, y, l.high), low = fused(e, y, l.low, fused(e, y, l.high, negated(e, high)));
    ssa value = with_sign(e, exp2_of(e, (two){high, low}), x, y, finite);
    return choose(e, is_one(e, x, y, a), constant(1), value);
}

bool emit_pow32_suits(const emit *e, const math_row *row, dtype wide) {
    return !e->target->gpu && e->target->vector_bits == 512 && wide == DT_FLOAT32 && !strcmp(row->name, "pow");
}

ssa emit_pow32(emit *e, const ssa *args) {
    definition s;
    e->chained = true;
    if (emit_define(e, &s, "define internal float @pow32(float %%x, float %%y) nounwind readnone alwaysinline")) {
        emit_line(e, "ret float %s", power(e, ssa_named("%%x"), ssa_named("%%y")).text);
        emit_define_end(e, &s);
    }
    return emit_value(e, "call float @pow32(float %s, float %s)", args[0].text, args[1].text);
}
