/* num.c - see num.h. */
#include "ir/gufunc/num.h"

ssa num_constant(const num_kind *of, double x) {
    return emit_constant((number){.type = DT_FLOAT64, .as.f = {x}}, of->real);
}

num num_real(const num_kind *of, double x) { return (num){{num_constant(of, x), num_constant(of, 0)}}; }

ssa num_value(const num_kind *of, num x) {
    return of->parts == 1 ? x.part[0] : emit_complex(of->e, of->type, x.part[0], x.part[1]);
}

num num_of_value(const num_kind *of, ssa value) {
    num x = {{value}};
    for (int i = 0; i < of->parts && of->parts > 1; i++)
        x.part[i] = emit_part(of->e, of->type, value, i);
    return x;
}

ssa part_negated(const num_kind *of, ssa x) { return emit_unary(of->e, OP_NEG, of->real, x); }
static ssa part_product(const num_kind *of, ssa a, ssa b) { return part_binary(of, OP_MUL, a, b); }

ssa part_quotient(const num_kind *of, ssa a, ssa b) { return part_binary(of, OP_DIV, a, b); }

ssa part_fused(const num_kind *of, ssa a, ssa b, ssa c) {
    const char *t = ir_value_type(of->real);
    int bits = 8 * dtypes[of->real].size;
    emit_declare(of->e, "declare %s @llvm.fma.f%d(%s, %s, %s)", t, bits, t, t, t);
    return emit_value(of->e, "call %s @llvm.fma.f%d(%s %s, %s %s, %s %s)", t, bits, t, a.text, t, b.text, t, c.text);
}

num num_fused(const num_kind *of, num a, num b, num c) {
    num r = {{part_fused(of, a.part[0], b.part[0], c.part[0])}};
    if (of->parts > 1) {
        r.part[0] = part_fused(of, part_negated(of, a.part[1]), b.part[1], r.part[0]);
        r.part[1] = part_fused(of, a.part[1], b.part[0], part_fused(of, a.part[0], b.part[1], c.part[1]));
    }
    return r;
}

num num_product(const num_kind *of, num a, num b) {
    num r = {{part_product(of, a.part[0], b.part[0])}};
    if (of->parts > 1) {
        r.part[0] = part_fused(of, part_negated(of, a.part[1]), b.part[1], r.part[0]);
        r.part[1] = part_fused(of, a.part[1], b.part[0], part_product(of, a.part[0], b.part[1]));
    }
    return r;
}

num num_scaled(const num_kind *of, num x, ssa factor) {
    for (int i = 0; i < of->parts; i++)
        x.part[i] = part_product(of, x.part[i], factor);
    return x;
}

num num_select(const num_kind *of, ssa condition, num yes, num no) {
    num r;
    for (int i = 0; i < of->parts; i++)
        r.part[i] = emit_select(of->e, of->real, condition, yes.part[i], no.part[i]);
    return r;
}

num num_negated(const num_kind *of, num x) {
    for (int i = 0; i < of->parts; i++)
        x.part[i] = part_negated(of, x.part[i]);
    return x;
}

ssa part_magnitude(const num_kind *of, ssa x) {
    const char *t = ir_value_type(of->real);
    int bits = 8 * dtypes[of->real].size;
    emit_declare(of->e, "declare %s @llvm.fabs.f%d(%s)", t, bits, t);
    return emit_value(of->e, "call %s @llvm.fabs.f%d(%s %s)", t, bits, t, x.text);
}

num num_conjugate(const num_kind *of, num x) {
    if (of->parts > 1)
        x.part[1] = part_negated(of, x.part[1]);
    return x;
}

ssa num_square(const num_kind *of, num x, ssa more) {
    for (int i = 0; i < of->parts; i++)
        more = part_fused(of, x.part[i], x.part[i], more);
    return more;
}

ssa num_is_zero(const num_kind *of, num x) {
    ssa zero = emit_binary(of->e, OP_EQ, of->real, x.part[0], num_constant(of, 0), of->real);
    if (of->parts == 1)
        return zero;
    return emit_op(of->e, "and i1", zero,
                   emit_binary(of->e, OP_EQ, of->real, x.part[1], num_constant(of, 0), of->real));
}

/* As R. L. Smith (1962) divides: with the quotient of the smaller part by the larger one, so that nothing overflows before the result. */
static num inverse_of(const num_kind *of, num x) {
    emit *e = of->e;
    ssa one = num_constant(of, 1);
    if (of->parts == 1)
        return (num){{part_quotient(of, one, x.part[0])}};
    ssa real = emit_binary(e, OP_GE, of->real, part_magnitude(of, x.part[0]), part_magnitude(of, x.part[1]), of->real);
    ssa large = emit_select(e, of->real, real, x.part[0], x.part[1]),
        small = emit_select(e, of->real, real, x.part[1], x.part[0]);
    ssa ratio = part_quotient(of, small, large), inverse = part_quotient(of, one, part_fused(of, small, ratio, large));
    ssa other = part_product(of, ratio, inverse);
    return (num){{emit_select(e, of->real, real, inverse, other),
                  part_negated(of, emit_select(e, of->real, real, other, inverse))}};
}

num_divisor num_divide_by(const num_kind *of, num x) {
    bool wide = of->real == DT_FLOAT64;
    ssa size = part_magnitude(of, x.part[0]);
    if (of->parts > 1)
        size = emit_binary(of->e, OP_ADD, of->real, size, part_magnitude(of, x.part[1]), of->real);
    ssa small = emit_binary(of->e, OP_LT, of->real, size, num_constant(of, wide ? 0x1p-900 : 0x1p-100), of->real);
    num_divisor d = {.x = x};
    d.by = emit_select(of->e, of->real, small, num_constant(of, wide ? 0x1p512 : 0x1p64), num_constant(of, 1));
    d.inverse = inverse_of(of, num_scaled(of, x, d.by));
    return d;
}

num num_quotient(const num_kind *of, num a, const num_divisor *d) {
    return num_product(of, num_scaled(of, a, d->by), d->inverse);
}

ssa num_absolute(const num_kind *of, num x) {
    emit *e = of->e;
    ssa a = part_magnitude(of, x.part[0]);
    if (of->parts == 1)
        return a;
    ssa b = part_magnitude(of, x.part[1]), one = num_constant(of, 1);
    ssa more = emit_binary(e, OP_GE, of->real, a, b, of->real);
    ssa large = emit_select(e, of->real, more, a, b), small = emit_select(e, of->real, more, b, a);
    ssa none = emit_binary(e, OP_EQ, of->real, large, num_constant(of, 0), of->real);
    ssa ratio = part_quotient(of, small, emit_select(e, of->real, none, one, large));
    ssa square = part_fused(of, ratio, ratio, one);
    return part_product(of, large, emit_math(e, math_find("sqrt", 4), of->real, &square));
}

ssa part_size(const num_kind *of, ssa x) {
    emit *e = of->e;
    int bits = 8 * dtypes[of->real].size;
    x = emit_value(e, "bitcast %s %s to i%d", ir_value_type(of->real), x.text, bits);
    if (bits == 32)
        return emit_value(e, "and i32 %s, %d", x.text, INT32_MAX);
    ssa high = emit_value(e, "trunc i64 %s to i32", emit_value(e, "lshr i64 %s, 32", x.text).text);
    ssa low = emit_value(e, "icmp ne i32 %s, 0", emit_value(e, "trunc i64 %s to i32", x.text).text);
    high = emit_value(e, "and i32 %s, %d", high.text, INT32_MAX);
    return emit_op(e, "or i32", high, emit_value(e, "zext i1 %s to i32", low.text));
}

ssa num_size(const num_kind *of, num x) {
    ssa size = x.part[0];
    if (of->parts > 1)
        size = emit_binary(of->e, OP_ADD, of->real, part_magnitude(of, size), part_magnitude(of, x.part[1]), of->real);
    return part_size(of, size);
}

ssa part_signed_as(const num_kind *of, ssa x, ssa sign) {
    const char *t = ir_value_type(of->real);
    int bits = 8 * dtypes[of->real].size;
    emit_declare(of->e, "declare %s @llvm.copysign.f%d(%s, %s)", t, bits, t, t);
    return emit_value(of->e, "call %s @llvm.copysign.f%d(%s %s, %s %s)", t, bits, t, x.text, t, sign.text);
}

ssa part_negated_by(const num_kind *of, ssa x, ssa bits) {
    const char *t = ir_value_type(of->real);
    int width = 8 * dtypes[of->real].size;
    bits = emit_value(of->e, "and i32 %s, %d", bits.text, INT32_MIN);
    if (width == 64)
        bits = emit_value(of->e, "shl i64 %s, 32", emit_value(of->e, "zext i32 %s to i64", bits.text).text);
    x = emit_value(of->e, "bitcast %s %s to i%d", t, x.text, width);
    x = emit_value(of->e, "xor i%d %s, %s", width, x.text, bits.text);
    return emit_value(of->e, "bitcast i%d %s to %s", width, x.text, t);
}

/* ---- Of GPUs ---- */

const num_precision *num_precision_of(const num_kind *of) {
    static const num_precision narrow = {23, 127, 55, 0, 1, 0x1p-24, 0x1p-120},
                               wide = {52, 1023, 400, 2, 2, 0x1p-53, 0x1p-1000};
    return of->real == DT_FLOAT64 ? &wide : &narrow;
}

static ssa approximate_inverse_root(const num_kind *of, ssa x) {
    const char *t = ir_value_type(of->real);
    char c = of->real == DT_FLOAT64 ? 'd' : 'f';
    emit_declare(of->e, "declare %s @llvm.nvvm.rsqrt.approx.%c(%s)", t, c, t);
    return emit_value(of->e, "call %s @llvm.nvvm.rsqrt.approx.%c(%s %s)", t, c, t, x.text);
}

ssa part_inverse(const num_kind *of, ssa x) {
    ssa y = approximate_inverse_root(of, x), negative = part_negated(of, x), one = num_constant(of, 1);
    y = part_product(of, y, y);
    for (int i = 0; i < num_precision_of(of)->inverse_steps; i++)
        y = part_fused(of, y, part_fused(of, negative, y, one), y);
    return y;
}

ssa part_inverse_root(const num_kind *of, ssa x) {
    ssa y = approximate_inverse_root(of, x), negative = part_negated(of, x), one = num_constant(of, 1);
    for (int i = 0; i < num_precision_of(of)->root_steps; i++) {
        ssa rest = part_fused(of, part_product(of, negative, y), y, one);
        y = part_fused(of, part_product(of, y, num_constant(of, .5)), rest, y);
    }
    return y;
}

static ssa power_of_two(const num_kind *of, ssa exponent) {
    const num_precision *p = num_precision_of(of);
    int bits = 8 * dtypes[of->real].size;
    ssa x = emit_value(of->e, "add i32 %s, %d", exponent.text, p->bias);
    x = bits == 64 ? emit_value(of->e, "zext i32 %s to i64", x.text) : x;
    x = emit_value(of->e, "shl i%d %s, %d", bits, x.text, p->mantissa);
    return emit_value(of->e, "bitcast i%d %s to %s", bits, x.text, ir_value_type(of->real));
}

num_factors num_power_of_two(const num_kind *of, ssa exponent) {
    ssa half = emit_value(of->e, "ashr i32 %s, 1", exponent.text), rest = emit_op(of->e, "sub i32", exponent, half);
    return (num_factors){{power_of_two(of, half), power_of_two(of, rest)}};
}

ssa part_times(const num_kind *of, ssa x, const num_factors *f) {
    return part_product(of, part_product(of, x, f->by[0]), f->by[1]);
}
