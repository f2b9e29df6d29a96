/* extreme.c - min and max of floating numbers within each other on the CPU, as in clamp, or min(min(a, b), min(c, d)). The result is NaN where
 * any of the numbers is. So none of them looks for NaN by itself: each is one instruction, whatever it gives for NaN, and whether there was
 * one is asked once, of two numbers at a time. */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"

static bool is_extreme(const node *n) {
    return n->kind == N_CALL && (n->type == DT_FLOAT32 || n->type == DT_FLOAT64) &&
           (function_is_own(n->callee, "min") || function_is_own(n->callee, "max"));
}

bool extreme_is_nested(const node *n) { return is_extreme(n) && (is_extreme(n->args) || is_extreme(n->args->next)); }

/* The numbers that were met: whether one was NaN, of those that have their pair (i1), and one that has none so far. */
typedef struct numbers {
    ssa nan, single;
} numbers;

static void ask(body *b, const char *type, numbers *of, ssa x, ssa y) {
    ssa nan = emit_value(b->e, "fcmp uno %s %s, %s", type, x.text, y.text);
    of->nan = ssa_is_set(of->nan) ? emit_op(b->e, "or i1", of->nan, nan) : nan;
}

static ssa extreme_of(body *b, const node *n, numbers *of) {
    const char *type = ir_value_type((dtype)n->type);
    if (is_extreme(n)) {
        ssa x = extreme_of(b, n->args, of), y = extreme_of(b, n->args->next, of);
        op order = function_is_own(n->callee, "min") ? OP_LT : OP_GT;
        return emit_select(b->e, (dtype)n->type, emit_binary(b->e, order, (dtype)n->type, x, y, DT_BOOL), x, y);
    }
    ssa x = emit_expression(b, n);
    if (ssa_is_set(of->single)) {
        ask(b, type, of, of->single, x);
        of->single = ssa_none();
    } else {
        of->single = x;
    }
    return x;
}

ssa emit_extreme(body *b, const node *n) {
    const char *type = ir_value_type((dtype)n->type);
    numbers of = {ssa_none(), ssa_none()};
    ssa value = extreme_of(b, n, &of);
    if (ssa_is_set(of.single))
        ask(b, type, &of, of.single, of.single);
    return emit_value(b->e, "select i1 %s, %s 0x7FF8000000000000, %s %s", of.nan.text, type, type, value.text);
}
