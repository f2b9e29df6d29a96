/* power.c - pow where all elements have one exponent, as in power(x, 2.0): at exponents that take an operation or two, these in its
 * place. They are chosen by the value of the exponent, so that code serves all exponents. The CPU's loop over the elements is made for
 * each of the exponents, by the compiler, which takes conditions that are the same for all elements out of loops. On the GPU a branch that
 * all threads take costs next to nothing. The results are nearer to the powers than those of the general function: all but the cube
 * are correctly rounded. */
#include "ir/common/internal.h"

typedef struct power {
    double exponent;
    ssa (*value)(emit *e, const char *type, const char *suffix);
} power;

static ssa square(emit *e, const char *type, const char *suffix) {
    (void)suffix;
    return emit_value(e, "fmul %s %%x, %%x", type);
}

static ssa cube(emit *e, const char *type, const char *suffix) {
    return emit_value(e, "fmul %s %s, %%x", type, square(e, type, suffix).text);
}

static ssa reciprocal(emit *e, const char *type, const char *suffix) {
    (void)suffix;
    return emit_value(e, "fdiv %s 1.0, %%x", type);
}

/* Unlike the root, the power of -0 is 0, and that of -infinity infinity. */
static ssa root(emit *e, const char *type, const char *suffix) {
    emit_declare(e, "declare %s @llvm.sqrt.%s(%s)", type, suffix, type);
    ssa value = emit_value(e, "call %s @llvm.sqrt.%s(%s %%x)", type, suffix, type);
    value = emit_value(e, "fadd %s %s, 0.0", type, value.text);
    ssa lowest = emit_value(e, "fcmp oeq %s %%x, 0xFFF0000000000000", type);
    return emit_value(e, "select i1 %s, %s 0x7FF0000000000000, %s %s", lowest.text, type, type, value.text);
}

static const power powers[] = {{2, square}, {0.5, root}, {-1, reciprocal}, {3, cube}};

static void choose(emit *e, const math_row *row, dtype wide) {
    const char *t = ir_value_type(wide), *suffix = wide == DT_FLOAT32 ? "f32" : "f64";
    const ssa args[] = {ssa_named("%%x"), ssa_named("%%y")};
    for (size_t i = 0; i < COUNT(powers); i++) {
        int here = emit_label_new(e), next = emit_label_new(e);
        number exponent = {.type = wide, .as.f = {powers[i].exponent}};
        ssa is = emit_value(e, "fcmp oeq %s %%y, %s", t, emit_constant(exponent, wide).text);
        emit_branch_if(e, is, here, next);
        emit_label(e, here);
        emit_line(e, "ret %s %s", t, powers[i].value(e, t, suffix).text);
        emit_label(e, next);
    }
    emit_line(e, "ret %s %s", t, emit_math(e, row, wide, args).text);
}

ssa emit_power(emit *e, const math_row *row, dtype wide, const ssa *args) {
    const char *t = ir_value_type(wide);
    definition s;
    if (emit_define(e, &s, "define internal %s @power_%s(%s %%x, %s %%y) nounwind readnone alwaysinline", t, t, t, t)) {
        choose(e, row, wide);
        emit_define_end(e, &s);
    }
    return emit_value(e, "call %s @power_%s(%s %s, %s %s)", t, t, t, args[0].text, t, args[1].text);
}
