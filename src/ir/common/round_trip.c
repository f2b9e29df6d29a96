/* round_trip.c - values that are converted to a wider type, changed by one operation, and converted back, where the narrow type gives the same
 * at once: signs of halves are a bit of them, sums and extremes of bools are `or` and `and`, and extremes of short integers are such. LLVM finds that a sign needs no conversion,
 * but then has an operation on halves, of which it makes no vectors (1.5 ns an element for 0.04), and computes bools and unsigned bytes in vectors of 32 bits. */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"

#include <string.h>

/* What was converted from a type, if this is such a conversion; NULL: it is none. */
static const node *widened(const node *n, dtype from) {
    return n && n->kind == N_CONVERT && n->kid[0]->type == from ? n->kid[0] : NULL;
}

static bool is_magnitude(const node *n) {
    if (n->kind == N_MATH)
        return !strcmp(n->math->name, "fabs");
    return n->kind == N_CALL && (function_is_own(n->callee, "abs") || function_is_own(n->callee, "fabs"));
}

/* -x and |x| of a half. */
static bool half_sign(body *b, const node *n, dtype half, ssa *value) {
    bool negation = n->kind == N_UNARY && n->op == OP_NEG;
    if (!negation && !is_magnitude(n))
        return false;
    const node *x = widened(negation ? n->kid[0] : n->args, half);
    if (!x)
        return false;
    ssa bits = emit_expression(b, x);
    *value = emit_value(b->e, "%s i16 %s, %d", negation ? "xor" : "and", bits.text, negation ? -32768 : 32767);
    return true;
}

/* The larger and the smaller of two; and x + y of bools, which is true if it is not 0. */
static bool short_result(body *b, const node *n, dtype type, ssa *value) {
    bool sum = type == DT_BOOL && n->kind == N_BINARY && n->op == OP_ADD, call = n->kind == N_CALL;
    bool least = call && function_is_own(n->callee, "min"), most = call && function_is_own(n->callee, "max");
    bool preserved =
        dtypes[n->type].size >= 4 && (!dtypes[type].is_signed || dtypes[n->type].is_signed); /* its values */
    if ((!sum && !least && !most) || !preserved)
        return false;
    const node *x = widened(call ? n->args : n->kid[0], type), *y = widened(call ? n->args->next : n->kid[1], type);
    if (!x || !y)
        return false;
    ssa left = emit_expression(b, x), right = emit_expression(b, y);
    if (type == DT_BOOL)
        *value = emit_op(b->e, least ? "and i1" : "or i1", left, right);
    else
        *value =
            emit_select(b->e, type, emit_binary(b->e, least ? OP_LT : OP_GT, type, left, right, type), left, right);
    return true;
}

bool emit_round_trip(body *b, const node *n, ssa *value) {
    if (dtype_is_half((dtype)n->type) && n->kid[0]->type == DT_FLOAT32)
        return half_sign(b, n->kid[0], (dtype)n->type, value);
    bool is_short = n->type == DT_BOOL || (dtype_is_integer((dtype)n->type) && dtypes[n->type].size < 4);
    return is_short && dtype_is_integer((dtype)n->kid[0]->type) && short_result(b, n->kid[0], (dtype)n->type, value);
}
