/* vector_ops.c - see vector_ops.h. What has no instruction of LLVM's is an intrinsic of AVX-512, under the name and with the operands that
 * LLVM 14 and later have: a value for lanes that are masked out, a mask (none are), and the rounding (4: the current one). */
#include "ir/common/vector_ops.h"

#include <assert.h>
#include <stdio.h>

vec vec_of(emit *e, dtype type) {
    static const vec kinds[] = {
        {NULL, DT_FLOAT32, 16, 32, "<16 x float>", "<16 x i32>", "<16 x i1>", "i16", "ps", "v16f32"},
        {NULL, DT_FLOAT64, 8, 64, "<8 x double>", "<8 x i64>", "<8 x i1>", "i8", "pd", "v8f64"},
        {NULL, DT_FLOAT32, 8, 32, "<8 x float>", "<8 x i32>", "<8 x i1>", "i8", "ps", "v8f32"},
        {NULL, DT_FLOAT64, 4, 64, "<4 x double>", "<4 x i64>", "<4 x i1>", "i4", "pd", "v4f64"},
    };
    const vec *v = kinds;
    while (v->type != type || v->lanes * v->bits != e->target->vector_bits)
        v++;
    vec found = *v;
    found.e = e;
    return found;
}

/* ---- Constants ---- */

static ssa scalar(const vec *v, double x) {
    double rounded = vec_choose(v, (double)(float)x, x);
    return emit_constant((number){.type = DT_FLOAT64, .as.f = {rounded}}, v->type);
}

/* The same element in all lanes, from a vector of one. */
static ssa spread(const vec *v, const char *type, const char *element) {
    return emit_value(v->e, "shufflevector <1 x %s> <%s %s>, <1 x %s> undef, <%d x i32> zeroinitializer", type, type,
                      element, type, v->lanes);
}

ssa vec_constant(const vec *v, double x) { return spread(v, ir_value_type(v->type), scalar(v, x).text); }

static ssa integer_constant(const vec *v, int64_t x) {
    return spread(v, v->bits == 32 ? "i32" : "i64", ssa_constant(x).text);
}

/* A vector of as many elements as there are lanes. */
static ssa elements(const vec *v, const double *x) {
    text list = {0};
    for (int i = 0; i < v->lanes; i++)
        text_printf(&list, "%s%s %s", i ? ", " : "", ir_value_type(v->type), scalar(v, x[i]).text);
    v->e->failed |= list.failed;
    ssa r = emit_value(v->e, "bitcast %s <%s> to %s", v->real, list.failed ? "" : list.data, v->real);
    text_free(&list);
    return r;
}

/* ---- Arithmetic ---- */

static ssa arithmetic(const vec *v, const char *what, ssa a, ssa b) {
    return emit_value(v->e, "%s %s %s, %s", what, v->real, a.text, b.text);
}

ssa vec_add(const vec *v, ssa a, ssa b) { return arithmetic(v, "fadd", a, b); }
ssa vec_sub(const vec *v, ssa a, ssa b) { return arithmetic(v, "fsub", a, b); }
ssa vec_mul(const vec *v, ssa a, ssa b) { return arithmetic(v, "fmul", a, b); }
ssa vec_divide(const vec *v, ssa a, ssa b) { return arithmetic(v, "fdiv", a, b); }
ssa vec_negate(const vec *v, ssa a) { return emit_value(v->e, "fneg %s %s", v->real, a.text); }

ssa vec_fma(const vec *v, ssa a, ssa b, ssa c) {
    emit_declare(v->e, "declare %s @llvm.fma.%s(%s, %s, %s)", v->real, v->overload, v->real, v->real, v->real);
    return emit_value(v->e, "call %s @llvm.fma.%s(%s %s, %s %s, %s %s)", v->real, v->overload, v->real, a.text, v->real,
                      b.text, v->real, c.text);
}

static ssa unary(const vec *v, const char *name, ssa a) {
    emit_declare(v->e, "declare %s @llvm.%s.%s(%s)", v->real, name, v->overload, v->real);
    return emit_value(v->e, "call %s @llvm.%s.%s(%s %s)", v->real, name, v->overload, v->real, a.text);
}

ssa vec_abs(const vec *v, ssa a) { return unary(v, "fabs", a); }
ssa vec_rint(const vec *v, ssa a) { return unary(v, "rint", a); }

ssa vec_polynomial(const vec *v, const double *c, int n, ssa x) {
    ssa square = n > 2 ? vec_mul(v, x, x) : ssa_none(), value = ssa_none();
    for (int i = (n - 1) / 2 * 2; i >= 0; i -= 2) {
        ssa low = vec_constant(v, c[i]), pair = i + 1 < n ? vec_fma(v, x, vec_constant(v, c[i + 1]), low) : low;
        value = ssa_is_set(value) ? vec_fma(v, value, square, pair) : pair;
    }
    return value;
}

ssa vec_polynomial_by_halves(const vec *v, const double *c, int n, ssa x) {
    int half = n / 4 * 2; /* even, so that pairs remain pairs */
    ssa square = vec_mul(v, x, x), power = square;
    for (int i = 2; i < half; i += 2)
        power = vec_mul(v, power, square);
    return vec_fma(v, power, vec_polynomial(v, c + half, n - half, x), vec_polynomial(v, c, half, x));
}

/* ---- Flags ---- */

ssa vec_compare(const vec *v, const char *how, ssa a, ssa b) {
    return emit_value(v->e, "fcmp %s %s %s, %s", how, v->real, a.text, b.text);
}

ssa vec_and(const vec *v, ssa a, ssa b) { return emit_value(v->e, "and %s %s, %s", v->flags, a.text, b.text); }
ssa vec_or(const vec *v, ssa a, ssa b) { return emit_value(v->e, "or %s %s, %s", v->flags, a.text, b.text); }

ssa vec_not(const vec *v, ssa a) {
    return emit_value(v->e, "xor %s %s, %s", v->flags, a.text, spread(v, "i1", "true").text);
}

ssa vec_select(const vec *v, ssa flags, ssa yes, ssa no) {
    return emit_value(v->e, "select %s %s, %s %s, %s %s", v->flags, flags.text, v->real, yes.text, v->real, no.text);
}

ssa vec_any_false(const vec *v, ssa flags) {
    ssa all = emit_value(v->e, "bitcast %s %s to %s", v->flags, flags.text, v->mask);
    return emit_value(v->e, "icmp ne %s %s, -1", v->mask, all.text);
}

ssa vec_at_most(const vec *v, ssa a, double high) {
    ssa limit = vec_constant(v, high);
    return vec_select(v, vec_compare(v, "olt", limit, a), limit, a);
}

ssa vec_clamp(const vec *v, ssa a, double low, double high) {
    ssa limit = vec_constant(v, low);
    return vec_at_most(v, vec_select(v, vec_compare(v, "ogt", limit, a), limit, a), high);
}

/* ---- Bits ---- */

ssa vec_bits(const vec *v, ssa a) { return emit_value(v->e, "bitcast %s %s to %s", v->real, a.text, v->whole); }
ssa vec_of_bits(const vec *v, ssa bits) {
    return emit_value(v->e, "bitcast %s %s to %s", v->whole, bits.text, v->real);
}

ssa vec_integer(const vec *v, const char *what, ssa a, int64_t b) {
    return emit_value(v->e, "%s %s %s, %s", what, v->whole, a.text, integer_constant(v, b).text);
}

ssa vec_integers(const vec *v, const char *what, ssa a, ssa b) {
    return emit_value(v->e, "%s %s %s, %s", what, v->whole, a.text, b.text);
}

/* Not by copysign: where the result is rounded to halves LLVM takes the signs of these, one after the other. */
ssa vec_with_sign(const vec *v, ssa a, ssa b) {
    int64_t sign = v->type == DT_FLOAT32 ? INT32_MIN : INT64_MIN;
    ssa magnitude = vec_integer(v, "and", vec_bits(v, a), ~sign), of = vec_integer(v, "and", vec_bits(v, b), sign);
    return vec_of_bits(v, emit_value(v->e, "or %s %s, %s", v->whole, magnitude.text, of.text));
}

/* ---- Tables in registers ---- */

static ssa lookup_one(const vec *v, const double *table, ssa index) {
    const char *name = "llvm.x86.avx512.permvar.sf.512"; /* float32 alone has 16 elements in a register */
    emit_declare(v->e, "declare %s @%s(%s, %s)", v->real, name, v->real, v->whole);
    return emit_value(v->e, "call %s @%s(%s %s, %s %s)", v->real, name, v->real, elements(v, table).text, v->whole,
                      index.text);
}

static ssa lookup_two(const vec *v, const double *table, ssa index) {
    char name[48];
    snprintf(name, sizeof name, "llvm.x86.avx512.vpermi2var.%s.512", v->suffix);
    ssa low = elements(v, table), high = elements(v, table + v->lanes);
    emit_declare(v->e, "declare %s @%s(%s, %s, %s)", v->real, name, v->real, v->whole, v->real);
    return emit_value(v->e, "call %s @%s(%s %s, %s %s, %s %s)", v->real, name, v->real, low.text, v->whole, index.text,
                      v->real, high.text);
}

ssa vec_lookup(const vec *v, const double *table, int count, ssa index) {
    assert(count == v->lanes || count == 2 * v->lanes);
    return (count == v->lanes ? lookup_one : lookup_two)(v, table, index);
}

/* ---- Exponents and mantissas ---- */

/* An instruction with an operand of integers, or without one (-1). */
static ssa masked(const vec *v, const char *name, ssa a, int immediate) {
    char full[64], operand[24] = "";
    snprintf(full, sizeof full, "llvm.x86.avx512.mask.%s.%s.512", name, v->suffix);
    if (immediate >= 0)
        snprintf(operand, sizeof operand, "i32 %d, ", immediate);
    emit_declare(v->e, "declare %s @%s(%s, %s%s, %s, i32)", v->real, full, v->real, immediate < 0 ? "" : "i32, ",
                 v->real, v->mask);
    return emit_value(v->e, "call %s @%s(%s %s, %s%s undef, %s -1, i32 4)", v->real, full, v->real, a.text, operand,
                      v->real, v->mask);
}

ssa vec_exponent(const vec *v, ssa x) { return masked(v, "getexp", x, -1); }

ssa vec_mantissa(const vec *v, ssa x, bool nan_below_zero) {
    return masked(v, "getmant", x,
                  nan_below_zero ? 8 : 4); /* bits 0, 1: from 1 to 2; bit 2: of |x|; bit 3: NaN if the sign is set */
}

ssa vec_rough_inverse(const vec *v, ssa x) {
    char name[48];
    snprintf(name, sizeof name, "llvm.x86.avx512.rcp14.%s.512", v->suffix);
    emit_declare(v->e, "declare %s @%s(%s, %s, %s)", v->real, name, v->real, v->real, v->mask);
    return emit_value(v->e, "call %s @%s(%s %s, %s undef, %s -1)", v->real, name, v->real, x.text, v->real, v->mask);
}

ssa vec_round(const vec *v, ssa x, int places) {
    return masked(v, "rndscale", x, places << 4); /* bits 0 to 3: to nearest */
}

ssa vec_scale(const vec *v, ssa x, ssa n) {
    char name[48];
    snprintf(name, sizeof name, "llvm.x86.avx512.mask.scalef.%s.512", v->suffix);
    emit_declare(v->e, "declare %s @%s(%s, %s, %s, %s, i32)", v->real, name, v->real, v->real, v->real, v->mask);
    return emit_value(v->e, "call %s @%s(%s %s, %s %s, %s undef, %s -1, i32 4)", v->real, name, v->real, x.text,
                      v->real, n.text, v->real, v->mask);
}
