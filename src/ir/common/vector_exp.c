/* vector_exp.c - e^x and 2^x in vectors. x is a multiple of 1/16 of log 2 and a rest, of which a short polynomial makes the power; the
 * sixteen powers 2^(j/16) are in registers, and the whole exponent goes into the result by an instruction that rounds once, also where
 * results are subnormal. Polynomials are of least relative error (Remez). */
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

/* 2^(j/16) (1 + p) 2^floor(n), of any size. */
static ssa assemble(const vec *v, ssa index, ssa p, ssa n) {
    ssa base = vec_lookup(v, exp2_high, 16, index);
    return vec_scale(v, vec_fma(v, base, p, base), n);
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
