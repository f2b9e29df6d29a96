/* arithmetic.c - operators with kernel C's total semantics: integers wrap, division by zero gives 0, shifts by the width or more
 * give 0 or the sign. No operation here begins a block. */
#include "ir/common/internal.h"

#include <assert.h>

/* The instruction for an operator on each class of operands; comparisons are predicates. */
typedef struct op_code {
    const char *is_signed, *is_unsigned, *is_float;
} op_code;

static const op_code op_codes[OP_COUNT] = {
    [OP_MUL] = {"mul", "mul", "fmul"}, [OP_DIV] = {"sdiv", "udiv", "fdiv"}, [OP_REM] = {"srem", "urem", NULL},
    [OP_ADD] = {"add", "add", "fadd"}, [OP_SUB] = {"sub", "sub", "fsub"},   [OP_SHL] = {"shl", "shl", NULL},
    [OP_SHR] = {"ashr", "lshr", NULL}, [OP_LT] = {"slt", "ult", "olt"},     [OP_LE] = {"sle", "ule", "ole"},
    [OP_GT] = {"sgt", "ugt", "ogt"},   [OP_GE] = {"sge", "uge", "oge"},     [OP_EQ] = {"eq", "eq", "oeq"},
    [OP_NE] = {"ne", "ne", "une"},     [OP_AND] = {"and", "and", NULL},     [OP_XOR] = {"xor", "xor", NULL},
    [OP_OR] = {"or", "or", NULL},
};

static const char *code_of(op o, dtype type) {
    const op_code *c = &op_codes[o];
    return dtype_is_floating(type) ? c->is_float : dtypes[type].is_signed ? c->is_signed : c->is_unsigned;
}

static ssa shift(emit *e, op o, dtype type, ssa a, ssa b, dtype count_type) {
    const char *t = ir_value_type(type), *c = ir_value_type(count_type), *instruction = code_of(o, type);
    int width = 8 * dtypes[type].size;
    bool sign = o == OP_SHR && dtypes[type].is_signed;
    ssa fits = emit_value(e, "icmp ult %s %s, %d", c, b.text, width);
    ssa count = emit_value(e, "select i1 %s, %s %s, %s %d", fits.text, c, b.text, c, sign ? width - 1 : 0);
    if (dtypes[count_type].size != dtypes[type].size)
        count = emit_value(e, "%s %s %s to %s", dtypes[count_type].size > dtypes[type].size ? "trunc" : "zext", c,
                           count.text, t);
    ssa shifted = emit_value(e, "%s %s %s, %s", instruction, t, a.text, count.text);
    return sign ? shifted : emit_value(e, "select i1 %s, %s %s, %s 0", fits.text, t, shifted.text, t);
}

static ssa compare(emit *e, op o, dtype type, ssa a, ssa b) {
    return emit_value(e, "%s %s %s %s, %s", dtype_is_floating(type) ? "fcmp" : "icmp", code_of(o, type),
                      ir_value_type(type), a.text, b.text);
}

/* GPU: libNVVM's options for contraction and division are those of the whole module. Intrinsics that name their rounding are left
 * alone. */
static ssa exact(emit *e, op o, dtype type, ssa a, ssa b) {
    static const char *const names[OP_COUNT] = {[OP_ADD] = "add", [OP_SUB] = "add", [OP_MUL] = "mul", [OP_DIV] = "div"};
    const char *t = ir_value_type(type), *kind = type == DT_FLOAT32 ? "f" : "d";
    if (o == OP_SUB)
        b = emit_unary(e, OP_NEG, type, b);
    emit_declare(e, "declare %s @llvm.nvvm.%s.rn.%s(%s, %s)", t, names[o], kind, t, t);
    return emit_value(e, "call %s @llvm.nvvm.%s.rn.%s(%s %s, %s %s)", t, names[o], kind, t, a.text, t, b.text);
}

static ssa plain(emit *e, op o, dtype type, ssa a, ssa b) {
    if (e->exact && e->target->gpu && dtype_is_floating(type))
        return exact(e, o, type, a, b);
    bool contract = dtype_is_floating(type) && o != OP_DIV && (e->module->fast & UF_FAST_CONTRACT) && !e->exact;
    return emit_value(e, "%s%s %s %s, %s", code_of(o, type), contract ? " contract" : "", ir_value_type(type), a.text,
                      b.text);
}

static ssa binary_complex(emit *e, op o, dtype type, ssa a, ssa b) {
    dtype part = (dtype)dtypes[type].component;
    ssa parts[2];
    for (int i = 0; i < 2; i++) {
        ssa x = emit_part(e, type, a, i), y = emit_part(e, type, b, i);
        parts[i] = emit_binary(e, o, part, x, y, part);
    }
    if (o == OP_EQ || o == OP_NE)
        return emit_value(e, "%s i1 %s, %s", o == OP_EQ ? "and" : "or", parts[0].text, parts[1].text);
    return emit_complex(e, type, parts[0], parts[1]);
}

/* ---- Integer constants. They are held as signed numbers of their width, whatever their dtype. ---- */

/* The low bits of a number as a constant of a dtype. */
static int64_t wrapped(int64_t x, dtype type) {
    int unused = 64 - 8 * dtypes[type].size;
    return (int64_t)((uint64_t)x << unused) >> unused;
}

/* -1, 0 or 1 */
static int order(int64_t x, int64_t y, dtype type) {
    bool below = dtypes[type].is_signed ? x < y : (uint64_t)x < (uint64_t)y;
    return x == y ? 0 : below ? -1 : 1;
}

/* False: it is left to the compiler. */
static bool constant_of(op o, dtype type, int64_t x, int64_t y, int64_t *out) {
    int sign = order(x, y, type);
    switch (o) {
    case OP_MUL:
        *out = wrapped((int64_t)((uint64_t)x * (uint64_t)y), type);
        return true;
    case OP_ADD:
        *out = wrapped((int64_t)((uint64_t)x + (uint64_t)y), type);
        return true;
    case OP_SUB:
        *out = wrapped((int64_t)((uint64_t)x - (uint64_t)y), type);
        return true;
    case OP_DIV:
    case OP_REM:
    case OP_FLOOR_DIV:
    case OP_FLOOR_MOD:
        *out = x >= 0 && y > 0 ? op_of_naturals(o) == OP_DIV ? x / y : x % y : 0;
        return x >= 0 && y > 0;
    case OP_LT:
    case OP_LE:
        *out = sign < 0 || (o == OP_LE && !sign);
        return true;
    case OP_GT:
    case OP_GE:
        *out = sign > 0 || (o == OP_GE && !sign);
        return true;
    case OP_EQ:
    case OP_NE:
        *out = (o == OP_EQ) == !sign;
        return true;
    default:
        return false;
    }
}

static bool fold_binary(op o, dtype type, ssa a, ssa b, ssa *out) {
    int64_t x, y, value;
    if (!dtype_is_integer(type) || !ssa_is_constant(a, &x) || !ssa_is_constant(b, &y) ||
        !constant_of(o, type, x, y, &value))
        return false;
    *out = ops[o].kind == 'R' || ops[o].kind == 'E' ? ssa_bool(value) : ssa_constant(value);
    return true;
}

ssa emit_binary(emit *e, op o, dtype type, ssa a, ssa b, dtype count_type) {
    ssa known;
    assert(ssa_is_set(a) && ssa_is_set(b) &&
           !dtype_is_half(type)); /* halves are converted before they are computed with */
    if (dtype_is_complex(type))
        return binary_complex(e, o, type, a, b);
    if (fold_binary(o, type, a, b, &known))
        return known;
    switch (ops[o].kind) {
    case 'R':
    case 'E':
        return compare(e, o, type, a, b);
    case 'S':
        return shift(e, o, type, a, b, count_type);
    default:
        return op_divides(o) && !dtype_is_floating(type) ? emit_divide(e, o, type, a, b) : plain(e, o, type, a, b);
    }
}

ssa emit_unary(emit *e, op o, dtype type, ssa a) {
    const char *t = ir_value_type(type);
    int64_t x;
    if (dtype_is_integer(type) && ssa_is_constant(a, &x))
        return ssa_constant(o == OP_NOT ? ~x : wrapped((int64_t)(0 - (uint64_t)x), type));
    if (o == OP_LNOT && ssa_is_constant(a, &x))
        return ssa_bool(!x);
    if (o == OP_NOT)
        return emit_value(e, "xor %s %s, -1", t, a.text);
    if (o == OP_LNOT)
        return emit_value(e, "xor i1 %s, true", a.text);
    if (dtype_is_complex(type)) {
        dtype part = (dtype)dtypes[type].component;
        ssa re = emit_unary(e, o, part, emit_part(e, type, a, 0));
        return emit_complex(e, type, re, emit_unary(e, o, part, emit_part(e, type, a, 1)));
    }
    return dtype_is_floating(type) ? emit_value(e, "fsub %s -0.0, %s", t, a.text)
                                   : emit_value(e, "sub %s 0, %s", t, a.text);
}

ssa emit_select(emit *e, dtype type, ssa condition, ssa yes, ssa no) {
    int64_t known;
    if (ssa_is_constant(condition, &known))
        return known ? yes : no;
    if (dtype_is_complex(type)) {
        dtype part = (dtype)dtypes[type].component;
        ssa parts[2];
        for (int i = 0; i < 2; i++) {
            ssa x = emit_part(e, type, yes, i), y = emit_part(e, type, no, i);
            parts[i] = emit_select(e, part, condition, x, y);
        }
        return emit_complex(e, type, parts[0], parts[1]);
    }
    const char *t = ir_value_type(type);
    return emit_value(e, "select i1 %s, %s %s, %s %s", condition.text, t, yes.text, t, no.text);
}

/* ---- Operations by their IR names ---- */

ssa emit_op(emit *e, const char *operation, ssa a, ssa b) {
    assert(ssa_is_set(a) && ssa_is_set(b)); /* "none" means something to those who pass it on, and nothing here */
    return emit_value(e, "%s %s, %s", operation, a.text, b.text);
}

ssa emit_select_as(emit *e, const char *type, ssa condition, ssa yes, ssa no) {
    assert(ssa_is_set(condition) && ssa_is_set(yes) && ssa_is_set(no));
    return emit_value(e, "select i1 %s, %s %s, %s %s", condition.text, type, yes.text, type, no.text);
}

ssa emit_min(emit *e, ssa a, ssa b) { return emit_select_as(e, "i64", emit_op(e, "icmp slt i64", a, b), a, b); }

ssa emit_widen(emit *e, ssa i) { return emit_value(e, "zext i32 %s to i64", i.text); }
