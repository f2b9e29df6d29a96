/* comparison.c - comparisons of floating numbers that libNVVM does not get wrong.
 *
 * An operation on constants whose result is NaN, such as 0.0 / 0.0, stays an expression of constants in libNVVM's dialect for
 * compute_75 to 90. Two such expressions that are one count as equal numbers there, and so `x == x` becomes true and `x != x` false;
 * the constants may come from variables, loops and functions that were resolved before. A comparison with a literal is not decided
 * that way, and x < x and x > x are false anyway. For the others, where an operand might be such an expression, libNVVM is asked
 * whether it is NaN, by comparing it with 0. */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"
#include "ir/common/target.h"

#include <string.h>

/* Is it no expression of constants that is NaN? */
static bool is_no_constant_nan(body *b, const node *n) {
    return n->kind == N_CONST || has_unknown_sign(b, n) ||
           (n->kind == N_CONVERT && dtypes[n->kid[0]->type].kind < DK_FLOATING);
}

/* Of two real numbers. */
static ssa careful_comparison(emit *e, op o, dtype type, ssa x, ssa y) {
    bool differ = o == OP_NE;
    ssa nan = emit_value(e, "fcmp %s %s %s, 0.0", differ ? "uno" : "ord", ir_value_type(type), x.text);
    if (!strcmp(x.text, y.text))
        return nan;
    return emit_op(e, differ ? "or i1" : "and i1", emit_binary(e, o, type, x, y, type), nan);
}

static bool needs_care(body *b, op o, const node *x, const node *y) {
    return b->e->target->gpu && o != OP_LT && o != OP_GT && !is_no_constant_nan(b, x) && !is_no_constant_nan(b, y);
}

ssa emit_comparison(body *b, op o, dtype type, const node *left, const node *right, ssa x, ssa y) {
    emit *e = b->e;
    if (!needs_care(b, o, left, right))
        return emit_binary(e, o, type, x, y, type);
    if (!dtype_is_complex(type))
        return careful_comparison(e, o, type, x, y);
    dtype part = (dtype)dtypes[type].component;
    ssa re = careful_comparison(e, o, part, emit_part(e, type, x, 0), emit_part(e, type, y, 0));
    ssa im = careful_comparison(e, o, part, emit_part(e, type, x, 1), emit_part(e, type, y, 1));
    return emit_op(e, o == OP_NE ? "or i1" : "and i1", re, im);
}
