/* print.c - writes the typed tree as text, one node a line, indented by two blanks a level. A local is %slot and its
 * name; a helper is its name and its number in the tree, since the instances of a helper share its name. */
#include "lang/form.h"
#include "lang/lang.h"

typedef struct printer {
    text *out;
    const tree *t;
    const function *f;
} printer;

static const char *const kind_names[] = {
    [N_CONST] = "const",   [N_LOCAL] = "local",       [N_ELEMENT] = "element",   [N_CONVERT] = "convert",
    [N_UNARY] = "unary",   [N_BINARY] = "binary",     [N_AND] = "and",           [N_OR] = "or",
    [N_SELECT] = "select", [N_ASSIGN] = "assign",     [N_COMPOUND] = "compound", [N_UPDATE] = "update",
    [N_CALL] = "call",     [N_MATH] = "math",         [N_COMPLEX] = "complex",   [N_REAL] = "real",
    [N_IMAG] = "imag",     [N_EVAL] = "eval",         [N_DECLARE] = "declare",   [N_BLOCK] = "block",
    [N_IF] = "if",         [N_LOOP] = "loop",         [N_SWITCH] = "switch",     [N_CASE] = "case",
    [N_BREAK] = "break",   [N_CONTINUE] = "continue", [N_RETURN] = "return",     [N_SIZE] = "size",
    [N_REDUCE] = "reduce", [N_RANGE] = "range",       [N_FORALL] = "forall",     [N_ATOMIC] = "atomic",
    [N_ASSERT] = "assert", [N_SEQUENCE] = "sequence", [N_INLINE] = "inline",     [N_LEAVE] = "leave"};

static void print_number(text *out, number n) {
    dtype component = dtypes[n.type].component;
    int digits = component == DT_FLOAT64 ? 17 : 9;
    if (dtype_is_complex(n.type))
        text_printf(out, "%.*g %.*g", digits, n.as.f[0], digits, n.as.f[1]);
    else if (dtype_is_floating(n.type))
        text_printf(out, "%.*g", digits, n.as.f[0]);
    else if (dtypes[n.type].is_signed)
        text_printf(out, "%lld", (long long)n.as.i);
    else
        text_printf(out, "%llu", (unsigned long long)n.as.u);
}

static void print_local(printer *p, int slot) {
    const local *l = &p->f->locals[slot];
    text_printf(p->out, " %%%d %s", slot, l->name);
}

/* A size. The dimensions of a kernel over indices have no names, and are written "|i|" or "|a.1|". */
static void print_size(printer *p, int d) {
    const core_layout *l = p->t->layout;
    if (!l->nindices) {
        layout_dim_print(p->out, l, d);
        return;
    }
    if (d >= l->ndims)
        text_puts(p->out, p->f->locals[d - l->ndims].name); /* a number among the parameters */
    if (d < l->nindices)
        text_printf(p->out, "|%s|", p->f->locals[l->nin - l->nindices + d].name);
    for (int k = 0; k < l->nin - l->nindices; k++)
        for (int i = 0; i < l->operands[k].rank; i++)
            if (l->operands[k].dim[i] == d)
                text_printf(p->out, "|%s.%d|", p->f->locals[k].name, i);
}

static void print_declared(printer *p, int slot) {
    const local *l = &p->f->locals[slot];
    print_local(p, slot);
    text_printf(p->out, " %s", dtypes[l->type].name);
    for (int k = 0; k < l->rank; k++)
        if (l->core && l->extent[k] < 0) {
            text_puts(p->out, "[");
            if (!p->t->layout->nindices)
                layout_dim_print(p->out, p->t->layout, l->dim[k]);
            text_puts(p->out, "]");
        } else {
            text_printf(p->out, "[%lld]", (long long)l->extent[k]);
        }
}

static void print_table(printer *p, const local *l) {
    int64_t count = 1;
    for (int d = 0; d < l->rank; d++)
        count *= l->extent[d];
    for (int64_t i = 0; i < count; i++) {
        text_puts(p->out, i ? ", " : " = ");
        print_number(p->out, l->table[i]);
    }
}

static void print_callee(printer *p, const function *callee) {
    int index = 0;
    for (const function *f = p->t->functions; f && f != callee; f = f->next)
        index++;
    text_printf(p->out, " %s#%d", callee->name, index);
}

/* Writes what a node has beside its type and its kids. */
static void print_details(printer *p, const node *n) {
    switch (n->kind) {
    case N_CONST:
        text_puts(p->out, " ");
        print_number(p->out, n->value);
        break;
    case N_LOCAL:
    case N_ELEMENT:
        print_local(p, n->local);
        text_puts(p->out, n->kind == N_ELEMENT && n->unchecked ? " unchecked" : "");
        text_puts(p->out, n->kind == N_ELEMENT && n->conditional ? " conditional" : "");
        break;
    case N_DECLARE:
        print_declared(p, n->local);
        if (p->f->locals[n->local].table)
            print_table(p, &p->f->locals[n->local]);
        break;
    case N_SIZE:
        text_puts(p->out, " ");
        print_size(p, n->dim);
        break;
    case N_ATOMIC:
        text_printf(p->out, " %s", atomics[n->op].name + strlen("atomic_"));
        break;
    case N_RANGE:
        print_local(p, n->local);
        break;
    case N_REDUCE:
        text_printf(p->out, "%s%s empty ", n->callee ? "" : " ", n->callee ? "" : ops[n->op].spelling);
        print_number(p->out, n->value);
        text_puts(p->out, n->is_identity ? " identity" : "");
        break;
    case N_UNARY:
    case N_BINARY:
        text_printf(p->out, " %s", ops[n->op].spelling);
        break;
    case N_COMPOUND:
        text_printf(p->out, " %s= in %s", ops[n->op].spelling, dtypes[n->wide].name);
        break;
    case N_UPDATE:
        text_printf(p->out, " %s%s%s in %s", n->postfix ? "postfix " : "", ops[n->op].spelling, ops[n->op].spelling,
                    dtypes[n->wide].name);
        break;
    case N_MATH:
        text_printf(p->out, " %s in %s", n->math->name, dtypes[n->wide].name);
        break;
    case N_CASE:
        text_puts(p->out, " ");
        if (n->is_default)
            text_puts(p->out, "default");
        else
            print_number(p->out, n->value);
        break;
    case N_LOOP:
        text_puts(p->out, n->test_last ? " test last" : "");
        break;
    default:
        break;
    }
    text_puts(p->out, n->counted ? " counted" : "");
    if (n->callee)
        print_callee(p, n->callee);
}

static void print_list(printer *p, const char *label, const node *list, int depth);

static void print_node(printer *p, const node *n, int depth) {
    text_printf(p->out, "%*s%s", 2 * depth, "", kind_names[n->kind]);
    if (n->type != DT_NONE)
        text_printf(p->out, " %s", dtypes[n->type].name);
    print_details(p, n);
    text_puts(p->out, "\n");
    if (n->kind == N_REDUCE)
        print_list(p, NULL, n->args, depth + 1);
    for (int i = 0; i < 3; i++)
        if (n->kid[i])
            print_node(p, n->kid[i], depth + 1);
    if (n->kind != N_REDUCE)
        print_list(p, NULL, n->args, depth + 1);
    print_list(p, n->kind == N_IF ? "then" : n->kind == N_SEQUENCE ? "do" : NULL, n->body, depth + 1);
    print_list(p, n->kind == N_CALL ? "to" : "else", n->other, depth + 1);
    print_list(p, "step", n->step, depth + 1);
}

static void print_list(printer *p, const char *label, const node *list, int depth) {
    if (list && label)
        text_printf(p->out, "%*s%s\n", 2 * depth++, "", label);
    for (; list; list = list->next)
        print_node(p, list, depth);
}

static void print_function(printer *p, const function *f, int index) {
    p->f = f;
    text_printf(p->out, "%s#%d (", f->name, index);
    for (int i = 0; i < f->nparams; i++) {
        text_puts(p->out, i ? "," : "");
        print_declared(p, i);
    }
    text_puts(p->out, ") ->");
    for (int i = 0; i < f->nresults; i++) {
        text_puts(p->out, i ? "," : "");
        print_declared(p, f->nparams + i);
    }
    text_puts(p->out, "\n");
    print_list(p, NULL, f->body, 1);
}

/* Writes the terms of one sign; some: other terms stand before them. */
static void print_terms(printer *p, const need *n, bool negative, bool some) {
    for (int i = 0; i < n->count; i++) {
        int64_t factor = negative ? -n->factor[i] : n->factor[i];
        if (factor < 0)
            continue;
        text_puts(p->out, negative ? " - " : some ? " + " : " ");
        some = true;
        if (factor != 1)
            text_printf(p->out, "%lld ", (long long)factor);
        for (int j = 0; j < n->nsizes[i]; j++)
            print_size(p, n->size[i][j]);
    }
}

/* Writes "needs |a.0| - |i| - 1 >= 0". A need has a positive term, which comes first. */
static void print_need(printer *p, const need *n) {
    text_puts(p->out, "needs");
    print_terms(p, n, false, false);
    print_terms(p, n, true, true);
    if (n->constant)
        text_printf(p->out, " %c %lld", n->constant < 0 ? '-' : '+',
                    (long long)(n->constant < 0 ? -n->constant : n->constant));
    text_puts(p->out, " >= 0\n");
}

void lang_print(text *out, const tree *t) {
    printer p = {.out = out, .t = t};
    int index = 0;
    for (const function *f = t->functions; f; f = f->next)
        print_function(&p, f, index++);
    p.f = t->kernel;
    for (int i = 0; i < t->nneeds; i++)
        print_need(&p, &t->needs[i]);
}
