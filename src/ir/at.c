/* at.c - updates in place: which operators have an atomic instruction, what indices say, and the kernel's frame. */
#include "ir/at.h"

#include "ir/target.h"

/* ---- The operator of a kernel, if it is one: "x + y", "max(x, y)", "x > y ? x : y" and their like ---- */

/* Which of the kernel's two inputs stands for a parameter of the function that is looked at. */
typedef struct view_of {
    const function *f;
    int input[2];
} view_of;

/* What a function returns, if that is all it does. */
static const node *returned(const function *f) {
    const node *n = f->body;
    if (!n || n->kind != N_EVAL || n->kid[0]->kind != N_ASSIGN || (n->next && n->next->kind != N_RETURN))
        return NULL;
    const node *to = n->kid[0]->kid[0];
    return to->kind == N_LOCAL && to->local == f->nparams ? n->kid[0]->kid[1] : NULL;
}

/* The input that an expression is, or -1. */
static int input_of(const view_of *w, const node *n) {
    return n->kind == N_LOCAL && n->local < 2 && n->local < w->f->nparams ? w->input[n->local] : -1;
}

/* Through helpers to the expression that computes; *w is then that of its function. */
static const node *innermost(view_of *w) {
    const node *n = returned(w->f);
    while (n && n->kind == N_CALL && n->callee->nparams == 2) {
        int a = input_of(w, n->args), b = input_of(w, n->args->next);
        if (a < 0 || b < 0)
            return NULL;
        *w = (view_of){n->callee, {a, b}};
        n = returned(w->f);
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
    } rows[] = {{OP_ADD, true, "add"},
                {OP_SUB, false, "sub"},
                {OP_AND, true, "and"},
                {OP_OR, true, "or"},
                {OP_XOR, true, "xor"}};
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

/* "a > b ? a : b" of integers. */
static const char *of_select(const view_of *w, const node *n) {
    const node *test = n->kid[0];
    if (test->kind == N_OR && is_nan_test(w, test->kid[1]))
        test = test->kid[0];
    bool greater = test->op == OP_GT || test->op == OP_GE, less = test->op == OP_LT || test->op == OP_LE;
    if (!dtype_is_integer((dtype)n->type) || test->kind != N_BINARY || !(greater || less) ||
        !both(w, test->kid[0], test->kid[1], true) || !both(w, n->kid[1], n->kid[2], true))
        return NULL;
    bool larger = greater == (input_of(w, test->kid[0]) == input_of(w, n->kid[1]));
    bool is_signed = dtypes[n->type].is_signed;
    return larger ? (is_signed ? "max" : "umax") : is_signed ? "min" : "umin";
}

const char *at_instruction(const tree *t, const variant *v) {
    const variant_operand *o = v->operand;
    uint8_t type = o[0].memory;
    view_of w = {t->kernel, {0, 1}};
    const node *n = v->nin == 2 ? innermost(&w) : NULL;
    if (!n || n->type != type || o[0].value != type || o[1].value != type || o[v->nin].value != type)
        return NULL;
    return n->kind == N_BINARY ? of_binary(&w, n) : n->kind == N_SELECT ? of_select(&w, n) : NULL;
}

at_way ir_at_way(const tree *t, const variant *v, const code_target *target) {
    enum {
        FLOAT64_ADDS = 60 /* the first architecture that adds float64 atomically */
    };
    dtype type = (dtype)v->operand[0].memory;
    int size = dtypes[type].size;
    at_way otherwise = size <= 8 ? AT_EXCHANGE : AT_OWNED;
    if (!at_instruction(t, v) || size < 4)
        return otherwise;
    if (dtype_is_integer(type))
        return AT_EXACT;
    return dtypes[type].component == DT_FLOAT64 && target->arch < FLOAT64_ADDS ? otherwise : AT_ATOMIC;
}

/* ---- Indices ---- */

indexed *indexed_read(shape *s) {
    indexed *x = arena_alloc(s->e->a, sizeof *x);
    for (int j = 0; j < s->v->nindices; j++) {
        x->extent[j] = shape_word(s);
        x->stride[j] = shape_word(s);
    }
    return x;
}

/* Counted from the front; an int64 that an unsigned one does not fit is negative, and stays so. */
static ssa from_front(shape *s, int k, ssa index, ssa extent) {
    emit *e = s->e;
    if (!dtypes[s->v->operand[k].memory].is_signed)
        return index;
    ssa negative = emit_value(e, "icmp slt i64 %s, 0", index.text);
    return shape_op(e, "add i64", index, shape_select(e, "i64", negative, extent, ssa_text("0")));
}

ssa indexed_offset(shape *s, const indexed *x, const ssa *at, ssa *inside) {
    emit *e = s->e;
    ssa offset = ssa_text("0");
    for (int j = 0; j < s->v->nindices; j++) {
        int k = variant_index(s->v) + j;
        ssa index = s->known[k]
                        ? s->value[k]
                        : emit_convert(e, emit_load(e, shape_memory(s, k), at[k]), shape_memory(s, k), DT_INT64);
        index = from_front(s, k, index, x->extent[j]);
        ssa part = shape_op(e, "mul i64", index, x->stride[j]);
        offset = j ? shape_op(e, "add i64", offset, part) : part;
        if (!inside)
            continue;
        ssa fits = shape_op(e, "icmp ult i64", index, x->extent[j]);
        *inside = j ? shape_op(e, "and i1", *inside, fits) : fits;
    }
    return offset;
}

/* ---- The module ---- */

/* Writes the functions. Running out of arena memory comes back here. */
static uf_status write_kernel(emit *e, shape *s, const tree *t, const variant *v) {
    jmp_buf *outer = e->a->escape, escape;
    if (setjmp(escape)) {
        e->a->escape = outer;
        return UF_ERR_MEMORY;
    }
    e->a->escape = &escape;
    bool gpu = e->target->gpu;
    int words = (gpu ? gpu_general_words : cpu_strided_words)(v) + 2 * v->nindices;
    for (int k = 0; k < variant_operands(v); k++)
        words += operand_words(&v->operand[k]);
    emit_functions(e, t, "kernel");
    shape_begin(s, e, t, v, words);
    (gpu ? gpu_at : cpu_at)(s);
    shape_end(s);
    e->a->escape = outer;
    return UF_OK;
}

uf_status ir_at(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                code_module *module) {
    emit e;
    emit_name(module, name);
    shape *s = arena_alloc(a, sizeof *s);
    if (!s)
        return fail_memory();
    emit_begin(&e, a, module, target, name);
    uf_status status = write_kernel(&e, s, t, v), finished = emit_finish(&e);
    return status ? status : finished;
}
