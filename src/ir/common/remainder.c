/* remainder.c - CPU: fmod of numbers whose quotient is not large. The C library subtracts bit by bit, which takes 15 ns. The remainder of |x| and
 * |y| is |x| - q |y|, q being the whole part of the quotient, which is one too large where the division rounded up to it: then the
 * difference is below 0, and |y| is added. Both are exact: they are multiples of y's last place, or of that of an x below y, and no
 * larger than y. For float32 all of that is done in float64, where q |y| is exact, too; for float64 a multiplication and subtraction that rounds once
 * makes the difference. Of larger quotients, infinities, zeros and NaN the C library finds the remainder. Numbers that were float16 have no
 * quotients that are too large for float64, so that nothing is asked of them, and there are vectors. */
#include "ir/common/internal.h"

enum {
    FMA_BITS = 256 /* of the vectors of processors that multiply and add with one rounding */
};

static ssa magnitude(emit *e, const char *t, const char *suffix, ssa x) {
    emit_declare(e, "declare %s @llvm.fabs.%s(%s)", t, suffix, t);
    return emit_value(e, "call %s @llvm.fabs.%s(%s %s)", t, suffix, t, x.text);
}

/* The remainder of float64, none of which is negative; and of what quotient that is right (i1). */
static ssa difference(emit *e, bool exact, ssa x, ssa y, ssa *small) {
    ssa quotient = emit_op(e, "fdiv double", x, y);
    ssa few = emit_value(e, "fcmp olt double %s, 0x%s", quotient.text,
                         exact ? "41C0000000000000" /* 2^29 */ : "4340000000000000" /* 2^53 */);
    *small = emit_op(e, "and i1", few, emit_value(e, "fcmp olt double %s, 0x7FF0000000000000", y.text));
    emit_declare(e, "declare double @llvm.trunc.f64(double)");
    emit_declare(e, "declare double @llvm.fma.f64(double, double, double)");
    ssa whole = emit_value(e, "call double @llvm.trunc.f64(double %s)", quotient.text), rest;
    if (exact) {
        rest = emit_op(e, "fsub double", x, emit_op(e, "fmul double", whole, y));
    } else {
        ssa minus = emit_value(e, "fsub double -0.0, %s", whole.text);
        rest = emit_value(e, "call double @llvm.fma.f64(double %s, double %s, double %s)", minus.text, y.text, x.text);
    }
    ssa below = emit_value(e, "fcmp olt double %s, 0.0", rest.text), more = emit_op(e, "fadd double", rest, y);
    return emit_select_as(e, "double", below, more, rest);
}

/* The quotient of two float16 has 41 bits and its product with one 52. The remainder by infinity is x, where the product is NaN. */
static void define_of_float16(emit *e, const char *name) {
    definition s;
    if (!emit_define(e, &s, "define internal float @%s(float %%x, float %%y) nounwind readnone alwaysinline", name))
        return;
    ssa size = magnitude(e, "float", "f32", ssa_named("%%x")), small;
    ssa x = emit_value(e, "fpext float %s to double", size.text);
    ssa y = emit_value(e, "fpext float %s to double", magnitude(e, "float", "f32", ssa_named("%%y")).text);
    ssa rest = emit_value(e, "fptrunc double %s to float", difference(e, true, x, y, &small).text);
    ssa by_infinity = emit_value(e, "fcmp oeq double %s, 0x7FF0000000000000", y.text);
    ssa finite = emit_value(e, "fcmp olt double %s, 0x7FF0000000000000", x.text);
    rest = emit_select_as(e, "float", emit_op(e, "and i1", by_infinity, finite), size, rest);
    emit_declare(e, "declare float @llvm.copysign.f32(float, float)");
    emit_line(e, "ret float %s", emit_value(e, "call float @llvm.copysign.f32(float %s, float %%x)", rest.text).text);
    emit_define_end(e, &s);
}

/* The function of two parameters, once a module. */
static void define(emit *e, const char *name, const math_row *row, dtype type) {
    const char *t = ir_value_type(type), *suffix = type == DT_FLOAT32 ? "f32" : "f64";
    const ssa args[] = {ssa_named("%%x"), ssa_named("%%y")};
    definition s;
    if (!emit_define(e, &s, "define internal %s @%s(%s %%x, %s %%y) nounwind readnone alwaysinline", t, name, t, t))
        return;
    int begin = emit_label_new(e), large = emit_label_new(e), end = emit_label_new(e);
    emit_branch(e, begin);
    emit_label(e, begin);
    ssa x = magnitude(e, t, suffix, args[0]), y = magnitude(e, t, suffix, args[1]), small;
    if (type == DT_FLOAT32) {
        x = emit_value(e, "fpext float %s to double", x.text);
        y = emit_value(e, "fpext float %s to double", y.text);
    }
    ssa rest = difference(e, type == DT_FLOAT32, x, y, &small);
    if (type == DT_FLOAT32)
        rest = emit_value(e, "fptrunc double %s to float", rest.text);
    emit_declare(e, "declare %s @llvm.copysign.%s(%s, %s)", t, suffix, t, t);
    rest = emit_value(e, "call %s @llvm.copysign.%s(%s %s, %s %%x)", t, suffix, t, rest.text, t);
    emit_branch_if(e, small, end, large);
    emit_label(e, large);
    ssa found = emit_libm(e, row, type, args);
    emit_branch(e, end);
    emit_label(e, end);
    ssa r = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", t, rest.text, begin, found.text, large);
    emit_line(e, "ret %s %s", t, r.text);
    emit_define_end(e, &s);
}

ssa emit_remainder(emit *e, const math_row *row, dtype wide, bool of_float16, const ssa *args) {
    const char *t = ir_value_type(wide);
    if (of_float16) {
        define_of_float16(e, "remainder_half");
        return emit_value(e, "call float @remainder_half(float %s, float %s)", args[0].text, args[1].text);
    }
    if (wide == DT_FLOAT64 && e->target->vector_bits < FMA_BITS)
        return emit_libm(e, row, wide, args);
    fragment name = fragment_of("remainder_%s", t);
    define(e, name.text, row, wide);
    return emit_value(e, "call %s @%s(%s %s, %s %s)", t, name.text, t, args[0].text, t, args[1].text);
}
