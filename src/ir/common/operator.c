/* operator.c - which operator a kernel of two inputs is, if it is one: "x + y", "max(x, y)", "x > y ? x : y" and their like. */
#include "ir/common/nodes.h"

/* Which of the kernel's two inputs stands for a parameter of the function that is looked at. */
typedef struct view_of {
    const function *f;
    int input[2];
} view_of;

const node *function_returned(const function *f) {
    const node *n = f->body;
    if (!n || n->kind != N_EVAL || n->kid[0]->kind != N_ASSIGN || (n->next && n->next->kind != N_RETURN))
        return NULL;
    const node *to = n->kid[0]->kid[0];
    return to->kind == N_LOCAL && to->local == f->nparams ? n->kid[0]->kid[1] : NULL;
}

/* Does a conversion of integers, or of a half, keep every value? */
static bool widens(const node *n) {
    const dtype_info *to = &dtypes[n->type], *from = &dtypes[n->kid[0]->type];
    if (dtype_is_half((dtype)n->kid[0]->type))
        return n->type == DT_FLOAT32;
    return dtype_is_integer((dtype)n->type) && dtype_is_integer((dtype)n->kid[0]->type) && to->size > from->size &&
           (to->is_signed || !from->is_signed);
}

/* The input that an expression is, or that a conversion makes wider; or -1. */
static int input_of(const view_of *w, const node *n) {
    while (n->kind == N_CONVERT && widens(n))
        n = n->kid[0];
    return n->kind == N_LOCAL && n->local < 2 && n->local < w->f->nparams ? w->input[n->local] : -1;
}

/* Through helpers to the expression that computes; *w is then that of its function. Integers of less than 32 bits are computed in 32, and
 * what that gives is cut off, which these operators do not notice. */
static const node *innermost(view_of *w) {
    const node *n = function_returned(w->f);
    if (n && n->kind == N_CONVERT && dtypes[n->type].size < 4 && dtype_is_integer((dtype)n->type) &&
        dtype_is_integer((dtype)n->kid[0]->type))
        n = n->kid[0];
    while (n && n->kind == N_CALL && n->callee->nparams == 2) {
        int a = input_of(w, n->args), b = input_of(w, n->args->next);
        if (a < 0 || b < 0)
            return NULL;
        *w = (view_of){n->callee, {a, b}};
        n = function_returned(w->f);
    }
    return n;
}

/* Are a and b the two inputs, in this order or either? */
static bool both(const view_of *w, const node *a, const node *b, bool either) {
    int x = input_of(w, a), y = input_of(w, b);
    return (x == 0 && y == 1) || (either && x == 1 && y == 0);
}

static const char *of_binary(const view_of *w, const node *n) {
    static const struct {
        uint8_t op;
        bool either;
        const char *name;
    } rows[] = {{OP_ADD, true, "add"}, {OP_SUB, false, "sub"}, {OP_MUL, true, "mul"},
                {OP_AND, true, "and"}, {OP_OR, true, "or"},    {OP_XOR, true, "xor"}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (n->op == rows[i].op && both(w, n->kid[0], n->kid[1], rows[i].either))
            return rows[i].name;
    return NULL;
}

/* Is n "x != x", which no integer is? */
static bool is_nan_test(const view_of *w, const node *n) {
    return n->kind == N_BINARY && n->op == OP_NE && input_of(w, n->kid[0]) >= 0 &&
           input_of(w, n->kid[0]) == input_of(w, n->kid[1]);
}

/* "a > b ? a : b" of integers, which have the values of a dtype. */
static const char *of_select(const view_of *w, const node *n, dtype type) {
    const node *test = n->kid[0];
    if (test->kind == N_OR && is_nan_test(w, test->kid[1]))
        test = test->kid[0];
    bool greater = test->op == OP_GT || test->op == OP_GE, less = test->op == OP_LT || test->op == OP_LE;
    if (!dtype_is_integer((dtype)n->type) || test->kind != N_BINARY || !(greater || less) ||
        !both(w, test->kid[0], test->kid[1], true) || !both(w, n->kid[1], n->kid[2], true))
        return NULL;
    bool larger = greater == (input_of(w, test->kid[0]) == input_of(w, n->kid[1]));
    bool is_signed = dtypes[type].is_signed;
    return larger ? (is_signed ? "max" : "umax") : is_signed ? "min" : "umin";
}

const char *tree_operator(const tree *t, dtype type) {
    view_of w = {t->kernel, {0, 1}};
    const node *n = t->kernel->nparams == 2 && t->kernel->nresults == 1 ? innermost(&w) : NULL;
    bool narrow = dtype_is_integer(type) && dtypes[type].size < 4;
    if (!n || (n->type != type && !(narrow && dtype_is_integer((dtype)n->type))))
        return NULL;
    return n->kind == N_BINARY ? of_binary(&w, n) : n->kind == N_SELECT ? of_select(&w, n, type) : NULL;
}

const char *tree_operator_of_halves(const tree *t, dtype type) {
    const view_of w = {t->kernel, {0, 1}};
    const node *n = t->kernel->nparams == 2 && t->kernel->nresults == 1 ? function_returned(t->kernel) : NULL;
    if (!n || n->kind != N_CONVERT || n->type != type || n->kid[0]->kind != N_BINARY || n->kid[0]->type != DT_FLOAT32)
        return NULL;
    return of_binary(&w, n->kid[0]);
}
