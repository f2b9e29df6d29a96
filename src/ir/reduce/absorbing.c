/* absorbing.c - finds the value of a state of one bool that no further element changes, as true does not change under "or". The text
 * of the combine function is evaluated on all pairs of values: it must be one expression of bools and integers, which is "or" or "and". Where the position of an
 * extremum is looked for no element beats the last value of its type; among numbers with NaN there is none such. */
#include "ir/common/nodes.h"
#include "ir/reduce/fold.h"

typedef struct evaluation {
    bool failed; /* the expression has something whose value is not known here */
} evaluation;

static int64_t value_of(evaluation *v, const function *f, const node *n, const int64_t *in);

static int64_t unknown(evaluation *v) {
    v->failed = true;
    return 0;
}

static int64_t binary(evaluation *v, op o, int64_t a, int64_t b) {
    switch (o) {
    case OP_AND:
        return a & b;
    case OP_OR:
        return a | b;
    case OP_XOR:
        return a ^ b;
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    default:
        return unknown(v);
    }
}

static int64_t of_call(evaluation *v, const function *f, const node *n, const int64_t *in) {
    const node *returned = function_returned(n->callee);
    int64_t values[2] = {0};
    if (!returned || n->callee->nparams > 2)
        return unknown(v);
    const node *arg = n->args;
    for (int i = 0; i < n->callee->nparams; i++, arg = arg->next)
        values[i] = value_of(v, f, arg, in);
    return value_of(v, n->callee, returned, values);
}

/* The value of an expression of function f for these inputs, each 0 or 1. */
static int64_t value_of(evaluation *v, const function *f, const node *n, const int64_t *in) {
    if (dtypes[n->type].kind > DK_INTEGER || v->failed)
        return unknown(v);
    switch (n->kind) {
    case N_LOCAL:
        return n->local < f->nparams ? in[n->local] : unknown(v);
    case N_CONST:
        return n->value.type == DT_BOOL ? n->value.as.u != 0 : n->value.as.i;
    case N_CONVERT: {
        int64_t x = value_of(v, f, n->kid[0], in);
        return n->type == DT_BOOL ? x != 0 : x == (x != 0) ? x : unknown(v);
    }
    case N_UNARY:
        return n->op == OP_LNOT ? !value_of(v, f, n->kid[0], in) : unknown(v);
    case N_BINARY:
        return binary(v, (op)n->op, value_of(v, f, n->kid[0], in), value_of(v, f, n->kid[1], in));
    case N_AND:
        return value_of(v, f, n->kid[0], in) & value_of(v, f, n->kid[1], in);
    case N_OR:
        return value_of(v, f, n->kid[0], in) | value_of(v, f, n->kid[1], in);
    case N_SELECT:
        return value_of(v, f, n->kid[value_of(v, f, n->kid[0], in) ? 1 : 2], in);
    case N_CALL:
        return of_call(v, f, n, in);
    default:
        return unknown(v);
    }
}

/* Does `value` decide, and is the result the other one where it is not there? */
static bool absorbs(const function *f, const node *n, bool value) {
    evaluation v = {0};
    for (int i = 0; i < 4; i++) {
        int64_t in[2] = {i & 1, i >> 1};
        bool is_value = value_of(&v, f, n, in) == value, has_value = in[0] == value || in[1] == value;
        if (v.failed || is_value != has_value)
            return false;
    }
    return true;
}

static absorbing_value of_extremum(const fold *f) {
    static const absorbing_value values[] = {[EXTREMUM_NONE] = ABSORBING_NONE,
                                             [EXTREMUM_LARGEST] = ABSORBING_MOST,
                                             [EXTREMUM_SMALLEST] = ABSORBING_LEAST,
                                             [EXTREMUM_LARGEST_NUMBER] = ABSORBING_MOST,
                                             [EXTREMUM_SMALLEST_NUMBER] = ABSORBING_LEAST};
    return dtypes[f->state[0]].kind <= DK_INTEGER ? values[fold_extremum(f)] : ABSORBING_NONE;
}

static absorbing_value of_bool(const fold *f) {
    if (f->order != FOLD_FREE || f->nstate != 1 || f->state[0] != DT_BOOL)
        return ABSORBING_NONE;
    const function *combine = f->combine->kernel;
    const node *n = function_returned(combine);
    if (!n || n->type != DT_BOOL || combine->nparams != 2)
        return ABSORBING_NONE;
    return absorbs(combine, n, false) ? ABSORBING_FALSE : absorbs(combine, n, true) ? ABSORBING_TRUE : ABSORBING_NONE;
}

absorbing_value fold_absorbing(const fold *f) {
    absorbing_value a = of_bool(f);
    return a ? a : of_extremum(f);
}
