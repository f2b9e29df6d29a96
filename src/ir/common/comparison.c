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

/* A parameter of what combines states, or of a function that this calls: states come from memory and registers. */
static bool is_of_states(body *b, const node *n) {
    while (n->kind == N_CONVERT)
        n = n->kid[0];
    return !strcmp(b->e->entry, "combine") && n->kind == N_LOCAL && n->local < b->f->nparams &&
           !variable_changes(b, n->local);
}

/* Is it no expression of constants that is NaN? */
static bool is_no_constant_nan(body *b, const node *n) {
    return n->kind == N_CONST || has_unknown_sign(b, n) || is_of_states(b, n) ||
           (n->kind == N_CONVERT && dtypes[n->kid[0]->type].kind < DK_FLOATING);
}

/* Are both one variable, as in x != x? */
static bool is_one(const node *x, const node *y) {
    return x->kind == N_LOCAL && y->kind == N_LOCAL && x->local == y->local && !x->kid[0] && !x->args;
}

/* Of two real numbers. */
static ssa careful_comparison(emit *e, op o, dtype type, bool one, ssa x, ssa y) {
    bool differ = o == OP_NE;
    ssa nan = emit_value(e, "fcmp %s %s %s, 0.0", differ ? "uno" : "ord", ir_value_type(type), x.text);
    if (one)
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
    bool one = is_one(left, right);
    if (!dtype_is_complex(type))
        return careful_comparison(e, o, type, one, x, y);
    dtype part = (dtype)dtypes[type].component;
    ssa re = careful_comparison(e, o, part, one, emit_part(e, type, x, 0), emit_part(e, type, y, 0));
    ssa im = careful_comparison(e, o, part, one, emit_part(e, type, x, 1), emit_part(e, type, y, 1));
    return emit_op(e, o == OP_NE ? "or i1" : "and i1", re, im);
}
