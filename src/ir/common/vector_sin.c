/* vector_sin.c - sin and cos of float32 in vectors. From |x| the nearest multiple of pi is taken away in three parts; up to LARGE the first
 * difference is exact, the second is rounded once, and the third product, which is small beside what is left, is added at the end. A polynomial
 * of least relative error (Remez) makes the sine of that. For cos the multiples are those of n - 1/2. Larger numbers, which are rare,
 * go to libm, one by one, as those from 10,000 on do in libmvec. */
#include <stdio.h>

#include "ir/common/skeleton.h"
#include "ir/common/vector_forms.h"

static const double LARGE = 0x1p17;

/* The function `name` of a vector x and one of results, in which those of lanes above LARGE come from libm. */
static void define_far(const vec *v, const char *name, const math_row *row) {
    emit *e = v->e;
    definition s;
    if (!emit_define(e, &s, "define internal %s @%s(%s %%x, %s %%r) noinline cold nounwind", v->real, name, v->real,
                     v->real))
        return;
    const char *type = ir_value_type(v->type);
    emit_line(e, "%%p = alloca %s", v->real);
    emit_line(e, "store %s %%r, %s* %%p", v->real, v->real);
    counted_loop l = counted_loop_begin_some(e, "i64", ssa_constant(0), ssa_constant(v->lanes));
    int near = emit_label_new(e), far = emit_label_new(e);
    ssa x = emit_value(e, "extractelement %s %%x, i64 %s", v->real, l.i.text);
    emit_declare(e, "declare %s @llvm.fabs.f32(%s)", type, type);
    ssa size = emit_value(e, "call %s @llvm.fabs.f32(%s %s)", type, type, x.text);
    ssa limit = emit_constant((number){.type = DT_FLOAT64, .as.f = {LARGE}}, v->type);
    emit_branch_if(e, emit_value(e, "fcmp ule %s %s, %s", type, size.text, limit.text), near, far);
    emit_label(e, far);
    ssa r = emit_libm(e, row, v->type, &x);
    ssa at = emit_value(e, "getelementptr %s, %s* %%p, i64 0, i64 %s", v->real, v->real, l.i.text);
    emit_line(e, "store %s %s, %s* %s", type, r.text, type, at.text);
    emit_branch(e, near);
    emit_label(e, near);
    const int hints[] = {loop_no_vectors(e), loop_no_unroll(e)};
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
    emit_line(e, "ret %s %s", v->real, emit_value(e, "load %s, %s* %%p", v->real, v->real).text);
    emit_define_end(e, &s);
}

/* a = (n - shift) pi + r + low, |r| hardly above pi / 2; the last bit of `count` is that of n. */
typedef struct angle {
    ssa count, r, low;
} angle;

static angle reduce(const vec *v, ssa a, double shift) {
    ssa to_integer = vec_constant(v, 0x1.8p23), inverse = vec_constant(v, 0x1.45f306p-2), by = vec_constant(v, shift);
    ssa t = shift == 0 ? vec_fma(v, a, inverse, to_integer) : vec_add(v, vec_fma(v, a, inverse, by), to_integer);
    ssa n = vec_sub(v, t, to_integer);
    if (shift != 0)
        n = vec_sub(v, n, by);
    ssa r = vec_fma(v, n, vec_constant(v, -0x1.921fb6p+1), a); /* exact */
    r = vec_fma(v, n, vec_constant(v, 0x1.777a5cp-24), r);
    return (angle){vec_bits(v, t), r, vec_mul(v, n, vec_constant(v, 0x1.ee59dap-49))};
}

/* sin(r + low), where the cosine counts as 1 for `low`. Coefficients one after the other: that is nearer than pairs of them. */
static ssa sine(const vec *v, angle x) {
    /* (sin(r) / r - 1) / r^2, of r^2, |r| up to 1.008 pi / 2, the best of float32 numbers */
    static const double c[] = {-0x1.55554cp-3, 0x1.110ed2p-7, -0x1.9f6e82p-13, 0x1.5d9c8ep-19};
    ssa square = vec_mul(v, x.r, x.r), q = vec_constant(v, c[COUNT(c) - 1]);
    for (int i = COUNT(c) - 2; i >= 0; i--)
        q = vec_fma(v, q, square, vec_constant(v, c[i]));
    return vec_add(v, x.r, vec_fma(v, vec_mul(v, x.r, square), q, x.low));
}

/* `value`, of the other sign where the highest bit of `turn` is 1; its other bits are 0. */
static ssa turned(const vec *v, ssa value, ssa turn) {
    return vec_of_bits(v, vec_integers(v, "xor", vec_bits(v, value), turn));
}

/* Returns the value, in which lanes of large |x| are mended. a: |x|. */
static void return_mended(const vec *v, const math_row *row, ssa x, ssa a, ssa value) {
    emit *e = v->e;
    char far[32];
    snprintf(far, sizeof far, "v_%s_far", row->name);
    define_far(v, far, row);
    int begin = emit_label_new(e), rare = emit_label_new(e), end = emit_label_new(e);
    ssa near = vec_compare(v, "ule", a, vec_constant(v, LARGE));
    emit_branch(e, begin);
    emit_label(e, begin);
    emit_branch_if(e, vec_any_false(v, near), rare, end);
    emit_label(e, rare);
    ssa mended = emit_value(e, "call %s @%s(%s %s, %s %s)", v->real, far, v->real, x.text, v->real, value.text);
    emit_branch(e, end);
    emit_label(e, end);
    ssa result = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", v->real, value.text, begin, mended.text, rare);
    emit_line(e, "ret %s %s", v->real, result.text);
}

void vec_sin(const vec *v, const ssa *x) {
    ssa a = vec_abs(v, x[0]), sign = vec_integer(v, "and", vec_bits(v, x[0]), INT32_MIN);
    angle d = reduce(v, a, 0);
    ssa turn = vec_integers(v, "xor", vec_integer(v, "shl", d.count, 31), sign);
    return_mended(v, math_find("sin", 3), x[0], a, turned(v, sine(v, d), turn));
}

void vec_cos(const vec *v, const ssa *x) {
    ssa a = vec_abs(v, x[0]);
    angle d = reduce(v, a, 0.5);
    return_mended(v, math_find("cos", 3), x[0], a, turned(v, sine(v, d), vec_integer(v, "shl", d.count, 31)));
}
