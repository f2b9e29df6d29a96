/* expr.c - expressions of the typed tree. Every local variable is an alloca in the entry block; LLVM and libNVVM make
 * registers of them. Operands are evaluated from left to right. */
#include <stdio.h>

#include "ir/internal.h"

/* ---- Places: variables, and elements of local arrays. An index out of range reads 0 and is not written: the access goes
 * to element 0, and a select decides. ---- */

typedef struct place {
    dtype type;
    ssa pointer;
    ssa in_range; /* i1; empty: always */
    bool packed;  /* an element, in memory form: bool is a byte */
} place;

static const char *element_type(dtype t) { return t == DT_BOOL ? "i8" : ir_value_type(t); }

/* Evaluates the indices: the number of the element, and whether it is there. */
static ssa flat_index(body *b, const node *n, const local *l, ssa *in_range) {
    emit *e = b->e;
    ssa flat = ssa_text("0");
    const node *index = l->rank > 3 ? n->args : NULL;
    for (int d = 0; d < l->rank; d++) {
        ssa i = emit_expression(b, index ? index : n->kid[d]);
        if (index)
            index = index->next;
        if (!n->unchecked) {
            ssa fits = emit_value(e, "icmp ult i64 %s, %lld", i.text, (long long)l->extent[d]);
            *in_range = d ? emit_value(e, "and i1 %s, %s", in_range->text, fits.text) : fits;
        }
        if (d) {
            flat = emit_value(e, "mul i64 %s, %lld", flat.text, (long long)l->extent[d]);
            i = emit_value(e, "add i64 %s, %s", flat.text, i.text);
        }
        flat = i;
    }
    return n->unchecked ? flat : emit_value(e, "select i1 %s, i64 %s, i64 0", in_range->text, flat.text);
}

static int64_t local_size(const local *l) {
    int64_t size = 1;
    for (int d = 0; d < l->rank; d++)
        size *= l->extent[d];
    return size;
}

static place find_place(body *b, const node *n) {
    const local *l = &b->f->locals[n->local];
    place p = {.type = l->type, .pointer = ssa_text("%%v%d", n->local)};
    if (n->kind == N_ELEMENT && l->rank) {
        const char *t = element_type(l->type);
        long long size = (long long)local_size(l);
        ssa i = flat_index(b, n, l, &p.in_range);
        p.packed = true;
        p.pointer = emit_value(b->e, "getelementptr [%lld x %s], [%lld x %s]* %%v%d, i64 0, i64 %s", size, t, size, t,
                               n->local, i.text);
    }
    return p;
}

/* What is stored there, as a value. */
static ssa load_raw(body *b, const place *p) {
    const char *t = p->packed ? element_type(p->type) : ir_value_type(p->type);
    ssa v = emit_value(b->e, "load %s, %s* %s", t, t, p->pointer.text);
    return p->packed && p->type == DT_BOOL ? emit_value(b->e, "icmp ne i8 %s, 0", v.text) : v;
}

static ssa in_range_or(body *b, const place *p, ssa value, ssa other) {
    return p->in_range.text[0] ? emit_select(b->e, p->type, p->in_range, value, other) : value;
}

static ssa load_place(body *b, const place *p) {
    number zero = {.type = DT_INT64};
    return in_range_or(b, p, load_raw(b, p), emit_constant(zero, p->type));
}

/* Stores where the place exists; the value is what was to be stored, also where it does not. */
static ssa store_place(body *b, const place *p, ssa value) {
    const char *t = p->packed ? element_type(p->type) : ir_value_type(p->type);
    ssa stored = p->in_range.text[0] ? in_range_or(b, p, value, load_raw(b, p)) : value;
    if (p->packed && p->type == DT_BOOL)
        stored = emit_value(b->e, "zext i1 %s to i8", stored.text);
    emit_line(b->e, "store %s %s, %s* %s", t, stored.text, t, p->pointer.text);
    return value;
}

/* ---- Joining two ways ---- */

/* A value of two blocks: parts are taken where they are computed, and joined by one phi each. */
typedef struct way {
    ssa part[2];
    int block;
} way;

static way way_of(emit *e, dtype type, ssa value) {
    way w = {.part = {value}};
    for (int i = 0; dtype_is_complex(type) && i < 2; i++)
        w.part[i] = emit_part(e, type, value, i);
    w.block = e->block;
    return w;
}

static ssa join_ways(emit *e, dtype type, const way *a, const way *b) {
    ssa part[2];
    const char *t = ir_value_type((dtype)dtypes[type].component);
    int parts = dtype_is_complex(type) ? 2 : 1;
    for (int i = 0; i < parts; i++)
        part[i] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", t, a->part[i].text, a->block, b->part[i].text,
                             b->block);
    return parts == 2 ? emit_complex(e, type, part[0], part[1]) : part[0];
}

/* Is it short, and without effects, calls and loops? Then it is computed whether needed or not: every operation is total. */
static bool is_cheap(const node *n, int *budget) {
    if (--*budget < 0)
        return false;
    switch (n->kind) {
    case N_CONST:
    case N_LOCAL:
        return true;
    case N_BINARY:
        if (n->op == OP_DIV || n->op == OP_REM)
            return false;
        break;
    case N_CONVERT:
    case N_UNARY:
    case N_AND:
    case N_OR:
    case N_COMPLEX:
    case N_REAL:
    case N_IMAG:
        break;
    default:
        return false;
    }
    for (int k = 0; k < 3; k++)
        if (n->kid[k] && !is_cheap(n->kid[k], budget))
            return false;
    return true;
}

static bool all_cheap(const node *a, const node *b) {
    int budget = 8;
    return is_cheap(a, &budget) && (!b || is_cheap(b, &budget));
}

/* ---- One function a kind of node ---- */

static ssa constant(body *b, const node *n) {
    (void)b;
    return emit_constant(n->value, (dtype)n->type);
}

static ssa read_place(body *b, const node *n) {
    place p = find_place(b, n);
    return load_place(b, &p);
}

static ssa convert(body *b, const node *n) {
    ssa v = emit_expression(b, n->kid[0]);
    return emit_convert(b->e, v, (dtype)n->kid[0]->type, (dtype)n->type);
}

static ssa unary(body *b, const node *n) {
    ssa v = emit_expression(b, n->kid[0]);
    return emit_unary(b->e, (op)n->op, (dtype)n->kid[0]->type, v);
}

static ssa binary(body *b, const node *n) {
    ssa x = emit_expression(b, n->kid[0]), y = emit_expression(b, n->kid[1]);
    return emit_binary(b->e, (op)n->op, (dtype)n->kid[0]->type, x, y, (dtype)n->kid[1]->type);
}

/* && and ||: the right side is skipped where the left one decides. */
static ssa logical(body *b, const node *n) {
    emit *e = b->e;
    bool is_and = n->kind == N_AND;
    ssa left = emit_expression(b, n->kid[0]);
    if (all_cheap(n->kid[1], NULL)) {
        ssa right = emit_expression(b, n->kid[1]);
        return emit_value(e, "%s i1 %s, %s", is_and ? "and" : "or", left.text, right.text);
    }
    int more = emit_label_new(e), join = emit_label_new(e);
    way decided = way_of(e, DT_BOOL, ssa_text("%s", is_and ? "false" : "true"));
    emit_branch_if(e, left, is_and ? more : join, is_and ? join : more);
    emit_label(e, more);
    way right = way_of(e, DT_BOOL, emit_expression(b, n->kid[1]));
    emit_branch(e, join);
    emit_label(e, join);
    return join_ways(e, DT_BOOL, &decided, &right);
}

static ssa conditional(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->type;
    ssa condition = emit_expression(b, n->kid[0]);
    if (all_cheap(n->kid[1], n->kid[2])) {
        ssa yes = emit_expression(b, n->kid[1]), no = emit_expression(b, n->kid[2]);
        return emit_select(e, type, condition, yes, no);
    }
    int labels[2] = {emit_label_new(e), emit_label_new(e)}, join = emit_label_new(e);
    way ways[2];
    emit_branch_if(e, condition, labels[0], labels[1]);
    for (int i = 0; i < 2; i++) {
        emit_label(e, labels[i]);
        ssa value = emit_expression(b, n->kid[i + 1]);
        ways[i] = way_of(e, type, value);
        emit_branch(e, join);
    }
    emit_label(e, join);
    return join_ways(e, type, &ways[0], &ways[1]);
}

static ssa assign(body *b, const node *n) {
    place p = find_place(b, n->kid[0]);
    return store_place(b, &p, emit_expression(b, n->kid[1]));
}

/* The result of a call whose arguments ("float %r1, i32 4") are evaluated. */
static ssa call_function(body *b, const function *f, const char *arguments) {
    emit *e = b->e;
    ssa name = emit_function_name(e, f);
    text type = {0};
    emit_result_type(&type, f);
    ssa all = emit_value(e, "call %s @%s(%s)", type.failed ? "" : type.data, name.text, arguments);
    ssa first = emit_value(e, "extractvalue %s %s, 0", type.failed ? "" : type.data, all.text);
    e->failed |= type.failed;
    text_free(&type);
    return first;
}

static ssa call(body *b, const node *n) {
    text arguments = {0};
    for (const node *a = n->args; a; a = a->next) {
        ssa v = emit_expression(b, a);
        text_printf(&arguments, "%s%s %s", arguments.length ? ", " : "", ir_value_type((dtype)a->type), v.text);
    }
    ssa r = call_function(b, n->callee, arguments.data && !arguments.failed ? arguments.data : "");
    b->e->failed |= arguments.failed;
    text_free(&arguments);
    return r;
}

static ssa compound(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->kid[0]->type, wide = (dtype)n->wide, right = (dtype)n->kid[1]->type;
    place p = find_place(b, n->kid[0]);
    ssa old = emit_convert(e, load_place(b, &p), type, wide);
    ssa operand = emit_expression(b, n->kid[1]), value;
    if (n->callee) {
        char arguments[160];
        snprintf(arguments, sizeof arguments, "%s %s, %s %s", ir_value_type(wide), old.text, ir_value_type(right),
                 operand.text);
        value = call_function(b, n->callee, arguments);
    } else {
        value = emit_binary(e, (op)n->op, wide, old, operand, right);
    }
    return store_place(b, &p, emit_convert(e, value, wide, type));
}

static ssa update(body *b, const node *n) {
    emit *e = b->e;
    dtype type = (dtype)n->kid[0]->type, wide = (dtype)n->wide;
    number one = {.type = DT_INT64, .as.i = 1};
    place p = find_place(b, n->kid[0]);
    ssa old = load_place(b, &p), converted = emit_convert(e, old, type, wide);
    ssa value = emit_binary(e, (op)n->op, wide, converted, emit_constant(one, wide), wide);
    ssa stored = store_place(b, &p, emit_convert(e, value, wide, type));
    return n->postfix ? old : stored;
}

static ssa math(body *b, const node *n) {
    ssa args[3];
    int count = 0;
    for (const node *a = n->args; a && count < 3; a = a->next)
        args[count++] = emit_expression(b, a);
    return emit_math(b->e, n->math, (dtype)n->wide, args);
}

static ssa make_complex(body *b, const node *n) {
    ssa re = emit_expression(b, n->kid[0]), im = emit_expression(b, n->kid[1]);
    return emit_complex(b->e, (dtype)n->type, re, im);
}

static ssa part(body *b, const node *n) {
    ssa v = emit_expression(b, n->kid[0]);
    return emit_part(b->e, (dtype)n->kid[0]->type, v, n->kind == N_IMAG);
}

ssa emit_expression(body *b, const node *n) {
    static ssa (*const writers[])(body *, const node *) = {
        [N_CONST] = constant,     [N_LOCAL] = read_place, [N_ELEMENT] = read_place,   [N_CONVERT] = convert,
        [N_UNARY] = unary,        [N_BINARY] = binary,    [N_AND] = logical,          [N_OR] = logical,
        [N_SELECT] = conditional, [N_ASSIGN] = assign,    [N_COMPOUND] = compound,    [N_UPDATE] = update,
        [N_CALL] = call,          [N_MATH] = math,        [N_COMPLEX] = make_complex, [N_REAL] = part,
        [N_IMAG] = part,
    };
    if (n->line)
        b->e->line = n->line;
    return writers[n->kind](b, n);
}
