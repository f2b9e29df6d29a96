/* halves.c - chains of additions, subtractions and multiplications of halves, of which each result is rounded: `add.rn.f16x2` and
 * its like do one such operation for two elements, in place of two conversions to float32, an operation and a conversion back for
 * each. The bits are the same, NaN included: float32 has room for every product of halves, and from 2p + 2 bits on rounding a sum
 * twice is rounding it once (Figueroa, "When is double rounding innocuous?", 1995), which 24 bits are for both formats.
 *
 * The kernel and its helpers are walked through here once for two elements, as straight code: every value is an i32 that holds both.
 * Anything but such operations, variables, constants and calls makes the kernel an ordinary one. */
#include "ir/common/halves.h"

enum {
    ARCH_BFLOAT16_PAIRS = 90, /* the first with add.bf16x2 and mul.bf16x2 */
    NODES_MOST = 4096,        /* of a tree whose helpers are written out at each call */
    NEGATIVE_ZERO = 0x8000
};

/* ---- What suits ---- */

static bool is_value(const node *n, dtype half);

static bool all_values(const node *list, dtype half) {
    for (const node *n = list; n; n = n->next)
        if (!is_value(n, half))
            return false;
    return true;
}

/* A constant of float32 that is one of the halves, too. */
static bool half_constant(const node *n, dtype half, number *out) {
    if (n->kind != N_CONST || n->type != DT_FLOAT32)
        return false;
    double x = n->value.as.f[0];
    uint16_t bits;
    *out = (number){.type = half, .as.f = {x}};
    number_write(*out, half, &bits);
    number back = number_read(half, &bits);
    return back.as.f[0] == x;
}

/* A half, or a constant, that an operation of float32 reads. */
static bool is_operand(const node *n, dtype half) {
    number unused;
    return half_constant(n, half, &unused) ||
           (n->kind == N_CONVERT && n->type == DT_FLOAT32 && is_value(n->kid[0], half));
}

static bool is_operator(uint8_t o) { return o == OP_ADD || o == OP_SUB || o == OP_MUL; }

/* An operation of float32 whose result is rounded to a half at once. */
static bool is_operation(const node *n, dtype half) {
    if (n->type != DT_FLOAT32)
        return false;
    if (n->kind == N_UNARY)
        return n->op == OP_NEG && is_operand(n->kid[0], half);
    return n->kind == N_BINARY && is_operator(n->op) && is_operand(n->kid[0], half) && is_operand(n->kid[1], half);
}

static bool suits(const function *f, dtype half);

static bool is_value(const node *n, dtype half) {
    if (n->type != half)
        return false;
    switch (n->kind) {
    case N_CONST:
    case N_LOCAL:
        return true;
    case N_CONVERT:
        return is_operation(n->kid[0], half);
    case N_CALL:
        return n->callee->nresults == 1 && all_values(n->args, half) && suits(n->callee, half);
    default:
        return false;
    }
}

/* x = value, or x op= value. */
static bool is_assignment(const node *n, dtype half) {
    if (n->kind == N_ASSIGN)
        return n->kid[0]->kind == N_LOCAL && is_value(n->kid[1], half);
    return n->kind == N_COMPOUND && n->kid[0]->kind == N_LOCAL && n->type == half && n->wide == DT_FLOAT32 &&
           !n->callee && is_operator(n->op) && is_operand(n->kid[1], half);
}

static bool is_statement(const node *n, dtype half) {
    switch (n->kind) {
    case N_DECLARE:
        return !n->kid[0] || is_value(n->kid[0], half);
    case N_EVAL:
        return is_assignment(n->kid[0], half);
    case N_RETURN:
        return !n->next;
    default:
        return false;
    }
}

static bool suits(const function *f, dtype half) {
    for (int i = 0; i < f->nlocals; i++)
        if (f->locals[i].type != half || f->locals[i].rank || f->locals[i].table)
            return false;
    for (const node *n = f->body; n; n = n->next)
        if (!is_statement(n, half))
            return false;
    return true;
}

bool halves_chain(const tree *t) {
    const function *f = t->kernel;
    return f->nparams && dtype_is_half(f->locals[0].type) && t->nodes <= NODES_MOST && suits(f, f->locals[0].type);
}

bool halves_suit(const emit *e, const tree *t, const variant *v) {
    dtype half = (dtype)v->operand[0].value;
    if (!e->target->gpu || !dtype_is_half(half) || v->reports ||
        (half == DT_BFLOAT16 && e->target->arch < ARCH_BFLOAT16_PAIRS))
        return false;
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].memory != half && v->operand[k].kind != OPERAND_NUMBER)
            return false;
    return halves_chain(t);
}

/* ---- Code ---- */

ssa halves_pack(emit *e, ssa low, ssa high) {
    int64_t a, b;
    if (ssa_is_constant(low, &a) && ssa_is_constant(high, &b))
        return ssa_constant((int32_t)((uint32_t)(uint16_t)b << 16 | (uint16_t)a));
    ssa pair = emit_value(e, "insertelement <2 x i16> undef, i16 %s, i32 0", low.text);
    pair = emit_value(e, "insertelement <2 x i16> %s, i16 %s, i32 1", pair.text, high.text);
    return emit_value(e, "bitcast <2 x i16> %s to i32", pair.text);
}

void halves_unpack(emit *e, ssa pair, ssa *low, ssa *high) {
    ssa both = emit_value(e, "bitcast i32 %s to <2 x i16>", pair.text);
    *low = emit_value(e, "extractelement <2 x i16> %s, i32 0", both.text);
    *high = emit_value(e, "extractelement <2 x i16> %s, i32 1", both.text);
}

/* A call of a function: the pairs that its variables hold. */
typedef struct frame_of_pairs {
    emit *e;
    dtype half;
    ssa *local;
} frame_of_pairs;

static void run(emit *e, dtype half, const function *f, const ssa *in, ssa *results);
static ssa value_of(const frame_of_pairs *w, const node *n);

static ssa constant_of(const frame_of_pairs *w, number x) {
    ssa one = emit_constant(x, w->half);
    return halves_pack(w->e, one, one);
}

static ssa operand_of(const frame_of_pairs *w, const node *n) {
    number x;
    return half_constant(n, w->half, &x) ? constant_of(w, x) : value_of(w, n->kid[0]);
}

static ssa operate(const frame_of_pairs *w, op o, ssa a, ssa b) {
    const char *name = o == OP_ADD   ? "add"
                       : o == OP_SUB ? "sub"
                                     : "mul",
               *type = w->half == DT_FLOAT16 ? "f16x2" : "bf16x2";
    return emit_value(w->e, "call i32 asm \"%s.rn.%s $0, $1, $2;\", \"=r,r,r\"(i32 %s, i32 %s)", name, type, a.text,
                      b.text);
}

static ssa operation(const frame_of_pairs *w, const node *n) {
    ssa a = operand_of(w, n->kid[0]);
    if (n->kind == N_BINARY)
        return operate(w, (op)n->op, a, operand_of(w, n->kid[1]));
    /* -0.0 - x is -x, also of zeros, and makes NaN what the conversion to a half makes it. */
    ssa zero = ssa_constant((int16_t)NEGATIVE_ZERO);
    return operate(w, OP_SUB, halves_pack(w->e, zero, zero), a);
}

static ssa call_of(const frame_of_pairs *w, const node *n) {
    ssa in[UF_MAX_OPERANDS], result;
    int count = 0;
    for (const node *a = n->args; a; a = a->next)
        in[count++] = value_of(w, a);
    run(w->e, w->half, n->callee, in, &result);
    return result;
}

static ssa value_of(const frame_of_pairs *w, const node *n) {
    switch (n->kind) {
    case N_CONST:
        return constant_of(w, n->value);
    case N_LOCAL:
        return w->local[n->local];
    case N_CONVERT:
        return operation(w, n->kid[0]);
    default:
        return call_of(w, n);
    }
}

static void assign(const frame_of_pairs *w, const node *n) {
    ssa *to = &w->local[n->kid[0]->local];
    *to = n->kind == N_ASSIGN ? value_of(w, n->kid[1]) : operate(w, (op)n->op, *to, operand_of(w, n->kid[1]));
}

static void run(emit *e, dtype half, const function *f, const ssa *in, ssa *results) {
    frame_of_pairs w = {e, half, arena_alloc(e->a, (size_t)f->nlocals * sizeof(ssa))};
    for (int i = 0; i < f->nlocals; i++)
        w.local[i] = i < f->nparams ? in[i] : ssa_constant(0);
    for (const node *n = f->body; n; n = n->next) {
        if (n->kind == N_EVAL)
            assign(&w, n->kid[0]);
        else if (n->kind == N_DECLARE)
            w.local[n->local] = n->kid[0] ? value_of(&w, n->kid[0]) : ssa_constant(0);
    }
    for (int k = 0; k < f->nresults; k++)
        results[k] = w.local[f->nparams + k];
}

void halves_compute(emit *e, const tree *t, const ssa *in, ssa *results) {
    run(e, (dtype)t->kernel->locals[0].type, t->kernel, in, results);
}
