/* half_exp.c - GPU: exponentials in kernels whose results are all halves. Of float32's 24 bits a half keeps 11 or 8, so that two multiplications
 * and the hardware's power of two do where libdevice's exp takes eight instructions: e^x = (2^(x log2(e) / 2))^2. The argument of the power
 * is a rounded product, at most 64 where the result is a normal number, which makes a relative error below 2^-17, a 64th of a unit
 * in the last place of float16. The hardware takes subnormal powers for 0; the square of the root is subnormal only as a product. */
#include "ir/common/internal.h"

static const struct {
    const char *function; /* in the table of math functions */
    double factor;        /* half the binary logarithm of its base */
} bases[] = {{"exp", 0.72134752044448170368}, {"exp10", 1.66096404744368117394}, {"exp2", 0.5}};

bool emit_half_exp(emit *e, const math_row *row, dtype wide, ssa x, ssa *result) {
    if (!e->target->gpu || !e->half_results || e->exact || wide != DT_FLOAT32)
        return false;
    for (size_t i = 0; i < COUNT(bases); i++) {
        if (strcmp(bases[i].function, row->name) != 0)
            continue;
        number factor = {.type = DT_FLOAT32, .as.f = {bases[i].factor}};
        emit_declare(e, "declare float @llvm.nvvm.ex2.approx.ftz.f(float)");
        ssa half = emit_value(e, "fmul float %s, %s", x.text, emit_constant(factor, DT_FLOAT32).text);
        ssa root = emit_value(e, "call float @llvm.nvvm.ex2.approx.ftz.f(float %s)", half.text);
        *result = emit_value(e, "fmul contract float %s, %s", root.text, root.text);
        return true;
    }
    return false;
}
