/* vector_exp.c - e^x and 2^x in vectors. x is a multiple of 1/16 of log 2 and a rest, of which a short polynomial makes the power; the
 * sixteen powers 2^(j/16) are in registers, and the whole exponent goes into the result by an instruction that rounds once, also where
 * results are subnormal. Polynomials are of least relative error (Remez). Vectors without such tables and such an instruction have a longer
 * polynomial, of a rest of the whole log 2, and multiply by two powers of 2. */
#include "ir/common/vector_forms.h"
#include "ir/common/vector_tables.h"

ssa vec_to_sixteenths(const vec *v) { return vec_constant(v, vec_choose(v, 0x1.8p19, 0x1.8p48)); }

/* 2^(j/16) as a number of the type */
static double power(const vec *v, int j) { return vec_choose(v, (double)(float)exp2_high[j], exp2_high[j]); }

/* What it lacks, divided by it. */
static ssa power_rest(const vec *v, ssa index) {
    double rest[16];
    for (int j = 0; j < 16; j++)
        rest[j] = exp2_low[j] + (exp2_high[j] - power(v, j)) / power(v, j);
    return vec_lookup(v, rest, 16, index);
}

/* 2^(j/16) (1 + p) 2^floor(n), of any size. Where the result is 0 a factor is, as some processors (Intel's) take a hundred cycles for a vector in which
 * something is rounded to 0. */
static ssa assemble(const vec *v, ssa index, ssa p, ssa n) {
    ssa base = vec_lookup(v, exp2_high, 16, index), some = vec_constant(v, vec_choose(v, -150, -1075));
    ssa power = vec_fma(v, base, p, base);
    return vec_scale(v, vec_select(v, vec_compare(v, "uge", n, some), power, vec_constant(v, 0)), n);
}

/* An index that is shifted to the exponent has j in the first bits of the fraction. So the table has the numbers whose bits are less by that:
 * they are below 1, where bits count half. */
ssa vec_power_of(const vec *v, ssa index) {
    double less[16];
    for (int j = 0; j < 16; j++)
        less[j] = 1 + (power(v, j) - 1 - j / 16.0) / 2;
    ssa exponent = vec_integer(v, "shl", index, v->type == DT_FLOAT32 ? 23 - 4 : 52 - 4);
    ssa base = vec_bits(v, vec_lookup(v, less, 16, index));
    return vec_of_bits(v, emit_value(v->e, "add %s %s, %s", v->whole, base.text, exponent.text));
}

vec_reduced vec_reduce(const vec *v, ssa x, double scale) {
    const double high = vec_choose(v, 0x1.62e43p-1, 0x1.62e42fefa39efp-1); /* log 2 */
    ssa to_sixteenths = vec_to_sixteenths(v);
    ssa t = vec_fma(v, x, vec_constant(v, 0x1.71547652b82fep+0 * scale), to_sixteenths);
    ssa n = vec_sub(v, t, to_sixteenths), r = vec_fma(v, n, vec_constant(v, -high / scale), x);
    return (vec_reduced){n, vec_bits(v, t), scale == 2 ? vec_add(v, r, r) : r};
}

vec_two vec_expm1_of(const vec *v, vec_reduced d, bool is_near, const double *c, int count) {
    ssa low = vec_constant(v, vec_choose(v, 0x1.05c61p-29, -0x1.abc9e3b39803fp-56)); /* high - log 2 */
    ssa r = is_near ? d.r : vec_fma(v, d.n, low, d.r), rest = vec_fma(v, d.n, low, power_rest(v, d.index));
    rest = vec_fma(v, vec_mul(v, r, r), vec_polynomial(v, c, count, r), rest);
    ssa p = vec_add(v, d.r, rest);
    return (vec_two){p, vec_add(v, vec_sub(v, d.r, p), rest)};
}

void vec_exp(const vec *v, const ssa *x) {
    /* (e^r - 1 - r) / r^2 */
    static const double single[] = {0x1.00022ap-1, 0x1.55576cp-3};
    static const double wide[] = {0x1.0000000000005p-1, 0x1.555555548779fp-3, 0x1.5555555452fa7p-5,
                                  0x1.111240addbec0p-7, 0x1.6c186731fe2a2p-10};
    double most = vec_choose(v, 160, 800); /* beyond it powers are infinite, or 0 */
    vec_reduced d = vec_reduce(v, vec_clamp(v, x[0], -most, most), 1);
    ssa p = vec_expm1_of(v, d, false, VEC_COEFFICIENTS(v, single, wide)).high;
    emit_line(v->e, "ret %s %s", v->real, assemble(v, d.index, p, d.n).text);
}

ssa vec_exp2_of(const vec *v, vec_two t, ssa shifted, bool is_normal) {
    /* (2^f - 1 - f log 2) / f^2 */
    static const double single[] = {0x1.ec006cp-3, 0x1.c6b4e2p-5};
    static const double wide[] = {0x1.ebfbdff82c59cp-3, 0x1.c6b08d6f02597p-5, 0x1.3b2ab6fa87d5ep-7,
                                  0x1.5d89a74eea88bp-10, 0x1.430aac0c99d44p-13};
    ssa n = vec_sub(v, shifted, vec_to_sixteenths(v)), index = vec_bits(v, shifted);
    ssa f = vec_add(v, vec_sub(v, t.high, n), t.low), q = vec_polynomial(v, VEC_COEFFICIENTS(v, single, wide), f);
    ssa p = vec_fma(v, f, vec_constant(v, vec_choose(v, 0x1.62e43p-1, 0x1.62e42fefa39efp-1)), power_rest(v, index));
    p = vec_fma(v, vec_mul(v, f, f), q, p);
    if (!is_normal)
        return assemble(v, index, p, n);
    ssa base = vec_power_of(v, index);
    return vec_fma(v, base, p, base);
}

void vec_exp2(const vec *v, const ssa *x) {
    double most = vec_choose(v, 160, 1100); /* beyond it powers are infinite, or 0 */
    vec_two t = {vec_clamp(v, x[0], -most, most), vec_constant(v, 0)};
    ssa shifted = vec_add(v, t.high, vec_to_sixteenths(v));
    emit_line(v->e, "ret %s %s", v->real, vec_exp2_of(v, t, shifted, false).text);
}

/* ---- Without tables ---- */

/* Of exponents in their bits. */
static double bias(const vec *v) { return vec_choose(v, 127, 1023); }

/* Added to a number, leaves in the last bits the integer n that is nearest to it, and twice the bias. */
static ssa to_integer(const vec *v) { return vec_constant(v, vec_choose(v, 0x1.8p23, 0x1.8p52) + 2 * bias(v)); }

/* x, kept to exponents of 2^(bits x) that return_power knows: from the highest one on the result is infinite, at the lowest one it is 0, of factors
 * that are 0. Just below the least number there is, where it is rounded to 0, processors take long for the product. */
static ssa limited(const vec *v, ssa x, double bits) {
    return vec_clamp(v, x, -2 * bias(v) / bits, vec_choose(v, 128.5, 1024.5) / bits);
}

/* Returns (1 + first + r^2 (c[0] + c[1] r + ..)) 2^n, also where that is subnormal, with one rounding of the product; shifted: n and to_integer.
 * Halves of n + 2 bias, rounded down and up, are exponents of two powers whose product is 2^n; the other bits of to_integer are shifted out. */
static void return_power(const vec *v, ssa r, ssa first, const double *c, int count, ssa shifted) {
    int fraction = v->type == DT_FLOAT32 ? 23 : 52;
    ssa p = vec_fma(v, vec_mul(v, r, r), vec_polynomial_by_halves(v, c, count, r), first);
    ssa sum = vec_bits(v, shifted), down = vec_integer(v, "lshr", sum, 1), up = vec_integers(v, "sub", sum, down);
    ssa low = vec_of_bits(v, vec_integer(v, "shl", down, fraction));
    ssa value = vec_mul(v, vec_fma(v, p, low, low), vec_of_bits(v, vec_integer(v, "shl", up, fraction)));
    emit_line(v->e, "ret %s %s", v->real, value.text);
}

void vec_exp_without_tables(const vec *v, const ssa *x) {
    /* (e^r - 1 - r) / r^2, |r| up to log(2) / 2 */
    static const double single[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558aap-5, 0x1.123978p-7, 0x1.6a5382p-10};
    static const double wide[] = {0x1.000000000000ap-1,  0x1.55555555554f9p-3,  0x1.555555555083ep-5,
                                  0x1.1111111127ceap-7,  0x1.6c16c18438cccp-10, 0x1.a01a012a1940fp-13,
                                  0x1.a01999e2153d0p-16, 0x1.71df25a0275f4p-19, 0x1.28ad9bd0931e5p-22,
                                  0x1.ad7f58e0585fdp-26};
    const double log2_e = 0x1.71547652b82fep+0;
    ssa a = limited(v, x[0], log2_e), t = vec_fma(v, a, vec_constant(v, log2_e), to_integer(v));
    ssa n = vec_sub(v, t, to_integer(v));
    /* log 2, and what this number is more */
    ssa high = vec_constant(v, vec_choose(v, -0x1.62e43p-1, -0x1.62e42fefa39efp-1));
    ssa low = vec_constant(v, vec_choose(v, 0x1.05c61p-29, -0x1.abc9e3b39803fp-56));
    ssa r = vec_fma(v, n, low, vec_fma(v, n, high, a));
    return_power(v, r, r, VEC_COEFFICIENTS(v, single, wide), t);
}

void vec_exp2_without_tables(const vec *v, const ssa *x) {
    /* (2^r - 1 - r log 2) / r^2, |r| up to 1/2 */
    static const double single[] = {0x1.ebfbdcp-3, 0x1.c6af8ap-5, 0x1.3b2deap-7, 0x1.5f03p-10, 0x1.416038p-13};
    static const double wide[] = {0x1.ebfbdff82c5a1p-3,  0x1.c6b08d704a045p-5,  0x1.3b2ab6fba0757p-7,
                                  0x1.5d87fe78c388dp-10, 0x1.4309130dd2a76p-13, 0x1.ffcbfbc77d252p-17,
                                  0x1.62bfc9d1155c1p-20, 0x1.b5265333f9799p-24, 0x1.e617f84b692f3p-28,
                                  0x1.e7c6c4c4ee54ap-32};
    ssa a = limited(v, x[0], 1), t = vec_add(v, a, to_integer(v)), r = vec_sub(v, a, vec_sub(v, t, to_integer(v)));
    ssa first = vec_mul(v, r, vec_constant(v, 0x1.62e42fefa39efp-1)); /* log 2 */
    return_power(v, r, first, VEC_COEFFICIENTS(v, single, wide), t);
}
