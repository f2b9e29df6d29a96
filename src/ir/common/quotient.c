/* quotient.c - floating division that the compilers do not get wrong.
 *
 * LLVM before 15.0.2, and libNVVM, conclude that a quotient is not below 0 from the same of both operands, and so decide comparisons
 * of it with 0 and with constants below 0. A divisor of -0 is not below 0 either: 1 / sqrt(x) < 0 becomes false, though the
 * quotient is -infinity for an x of -0 (https://github.com/llvm/llvm-project/issues/58046). Where that may happen, a / b is written as
 * -(-a / b) with the outer sign changed in the bits of the quotient: the value is the same, and they conclude nothing of a value made
 * of bits. Where nothing is compared, and where the sign of an operand is not known, a division stays one instruction. */
#include "ir/common/internal.h"
#include "ir/common/nodes.h"
#include "ir/common/target.h"

/* ---- Is anything compared? ---- */

bool compares_numbers(const node *n) {
    return (ops[n->op].kind == 'R' || ops[n->op].kind == 'E') && dtypes[n->kid[0]->type].kind >= DK_FLOATING;
}

/* Comparisons of floating values; atomic minima; on a GPU libdevice's code, which is inlined. Conversions to integers are none: what
 * they compare with `oge` and `ole` is decided for numbers only that are known not to be NaN, as quotients are not. */
static bool compares(const emit *e, const node *n) {
    switch (n->kind) {
    case N_BINARY:
        return compares_numbers(n);
    case N_ATOMIC:
        return true;
    case N_MATH:
        return n->math->direction || (e->target->gpu && strncmp(target_math_name(e->target, n->math), "llvm.", 5) != 0);
    default:
        return false;
    }
}

static void note_comparison(const node *n, void *user) {
    emit *e = user;
    e->compares = e->compares || compares(e, n);
}

/* Of several trees of a module one may compare what another one computes. */
void find_comparisons(emit *e, const tree *t) {
    e->compares = strcmp(e->entry, "kernel") != 0;
    for (const function *f = t->functions; f && !e->compares; f = f->next)
        node_each(f->body, note_comparison, e);
}

/* ---- What is known of operands? ---- */

static void note_assigned(const node *n, void *user) {
    bool *assigned = user;
    if (n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE || n->kind == N_ATOMIC)
        assigned[n->kid[0]->local] = true;
    for (const node *to = n->kind == N_CALL ? node_assigned(n) : NULL; to; to = to->next)
        assigned[to->local] = true;
}

bool variable_changes(body *b, int variable) {
    if (!b->assigned) {
        b->assigned = arena_alloc(b->e->a, (size_t)b->f->nlocals * sizeof *b->assigned);
        node_each(b->f->body, note_assigned, b->assigned);
    }
    return b->assigned[variable];
}

bool expression_stays(body *b, const node *n, int variable) {
    for (; n; n = n->next) {
        switch (n->kind) {
        case N_LOCAL:
            if (n->local != variable && variable_changes(b, n->local))
                return false;
            break;
        case N_ELEMENT:
            if (n->local >= b->f->nparams)
                return false;
            break;
        case N_CONST:
        case N_SIZE:
        case N_CONVERT:
        case N_UNARY:
        case N_BINARY:
        case N_SELECT:
        case N_MATH:
        case N_CALL:
            break;
        default:
            return false;
        }
        for (int k = 0; k < 3; k++)
            if (n->kid[k] && !expression_stays(b, n->kid[k], variable))
                return false;
        if (n->args && !expression_stays(b, n->args, variable))
            return false;
    }
    return true;
}

bool is_input(body *b, const node *n) {
    return b->f == b->e->kernel && n->local < b->f->nparams && !variable_changes(b, n->local);
}

/* They do not know that of inputs. Of a sum they know it if they know it of both operands; of a product and a quotient too, or if
 * both operands are one value. */
bool has_unknown_sign(body *b, const node *n) {
    const node *x = n->kid[0], *y = n->kid[1];
    switch (n->kind) {
    case N_LOCAL:
    case N_ELEMENT:
        return is_input(b, n);
    case N_CONVERT:
        return dtypes[x->type].kind >= DK_FLOATING && has_unknown_sign(b, x);
    case N_REAL:
    case N_IMAG:
    case N_UNARY:
        return has_unknown_sign(b, x);
    case N_BINARY:
        if (n->op == OP_ADD || n->op == OP_SUB)
            return has_unknown_sign(b, x) || has_unknown_sign(b, y);
        return x->kind == N_CONST ? has_unknown_sign(b, y) : y->kind == N_CONST && has_unknown_sign(b, x);
    default:
        return false;
    }
}

/* Is it never -0 where the compilers know that it is not below 0? A sum is -0 only if both operands are. */
static bool is_not_minus_zero(const node *n) {
    switch (n->kind) {
    case N_CONST:
        return n->value.as.f[0] != 0;
    case N_CONVERT:
        return dtypes[n->kid[0]->type].kind < DK_FLOATING || is_not_minus_zero(n->kid[0]);
    case N_BINARY:
        return n->op == OP_ADD && (is_not_minus_zero(n->kid[0]) || is_not_minus_zero(n->kid[1]));
    default:
        return false;
    }
}

/* Might a compiler conclude something false from the signs of these operands? */
static bool needs_care(body *b, const node *numerator, const node *denominator) {
    return b->e->compares && !is_not_minus_zero(denominator) && !has_unknown_sign(b, numerator) &&
           !has_unknown_sign(b, denominator);
}

/* a / b in a form that compilers conclude nothing from. */
static ssa careful_quotient(emit *e, dtype type, ssa a, ssa b) {
    const char *t = ir_value_type(type), *bits = ir_value_type(dtypes[type].size == 4 ? DT_INT32 : DT_INT64);
    long long sign = INT64_MIN >> (64 - 8 * dtypes[type].size);
    definition s;
    if (emit_define(e, &s, "define internal %s @fdiv_%s(%s %%a, %s %%b) nounwind readnone alwaysinline", t, t, t, t)) {
        ssa negated = emit_value(e, "fsub %s -0.0, %%a", t);
        ssa quotient = emit_value(e, "fdiv %s %s, %%b", t, negated.text);
        ssa word = emit_value(e, "bitcast %s %s to %s", t, quotient.text, bits);
        ssa changed = emit_value(e, "xor %s %s, %lld", bits, word.text, sign);
        ssa value = emit_value(e, "bitcast %s %s to %s", bits, changed.text, t);
        emit_line(e, "ret %s %s", t, value.text);
        emit_define_end(e, &s);
    }
    return emit_value(e, "call %s @fdiv_%s(%s %s, %s %s)", t, t, t, a.text, t, b.text);
}

ssa emit_quotient(body *b, dtype type, const node *numerator, const node *denominator, ssa x, ssa y) {
    bool named = b->e->exact && b->e->target->gpu; /* an intrinsic, of which nothing is known */
    return !named && needs_care(b, numerator, denominator) ? careful_quotient(b->e, type, x, y)
                                                           : emit_binary(b->e, OP_DIV, type, x, y, type);
}
