/* constant.c - constants and tables of file scope. Each is evaluated at its first use in a check, as if it stood in a function of its
 * own text. A scalar stays as weak as it was written; a table is one array of the module for all functions that look into it. */
#include <stdio.h>

#include "lang/check.h"

/* A function that has a local for a table. */
struct table_use {
    const file_constant *of;
    int slot;
    struct table_use *next;
};

/* "3:7 of module vec" */
static const char *place_of(check *c, const syntax *s, const constant_syn *k) {
    char buffer[1200];
    int line, column;
    kernel_position(s->source, k->declaration->at, &line, &column);
    int n = snprintf(buffer, sizeof buffer, "%d:%d of %s", line, column, s->title ? s->title : "this text");
    return arena_text(c->a, buffer, (size_t)n < sizeof buffer ? (size_t)n : sizeof buffer - 1);
}

/* The definition that a name has in the text itself or in a module that it uses. */
static const constant_syn *definition_find(check *c, int id, const syn *at) {
    const syntax *s = c->frame->u->s;
    const name *n = &s->names[id];
    const constant_syn *found = n->constant;
    const syntax *where = s;
    for (int i = 0; i < s->nmodules && !n->constant; i++) {
        const syntax *m = s->modules[i];
        int other = name_find(m, n->text, (size_t)n->length);
        if (other == NO_NAME || !m->names[other].constant)
            continue;
        if (found)
            check_fail(c, at->at, "'%s' is defined twice, at %s and at %s", name_text(c, id), place_of(c, where, found),
                       place_of(c, m, m->names[other].constant));
        found = m->names[other].constant;
        where = m;
    }
    return found;
}

static dtype braces_type(check *c, const syn *braces, dtype so_far) {
    for (const syn *item = braces->list; item; item = item->next) {
        if (item->kind == S_BRACES) {
            so_far = braces_type(c, item, so_far);
            continue;
        }
        const node *n = expression_check(c, item);
        bool weak;
        so_far = so_far == DT_NONE          ? (dtype)n->type
                 : so_far == (dtype)n->type ? so_far
                                            : common_type(so_far, false, n->type, false, &weak);
    }
    return so_far;
}

dtype elements_type(check *c, const syn *array) {
    dtype type = braces_type(c, array->kid[0], DT_NONE);
    if (type == DT_NONE)
        check_fail(c, array->at, "an empty table has no type");
    return type;
}

static void array_evaluate(check *c, file_constant *k, const syn *s) {
    dtype type = named_dtype(c, s->to, s, "the dtype of the elements of a table");
    if (type == DT_NONE)
        type = elements_type(c, s);
    const local *l = table_declare(c, s, type);
    k->type = type;
    k->rank = l->rank;
    memcpy(k->extent, l->extent, sizeof k->extent);
    k->elements = l->table;
}

static void scalar_evaluate(check *c, file_constant *k, const syn *s) {
    dtype type = named_dtype(c, s->to, s, "the dtype of a constant");
    node *n = expression_check(c, s->kid[0]);
    k->value = type == DT_NONE ? n : convert(c, n, type, s);
    if (k->value->kind != N_CONST)
        check_fail(c, s->kid[0]->at, "the value of a constant of file scope must be constant");
    k->type = k->value->type;
}

/* Evaluates where the constant is defined: nothing of the place that uses it is seen. */
static void evaluate_there(check *c, file_constant *k) {
    definition def = {.name = NO_NAME, .at = k->of->declaration->at};
    instance *nothing = arena_alloc(c->a, sizeof *nothing);
    check outer = *c;
    nothing->frame = (frame){.def = &def, .u = unit_of(c, k->of->in)};
    c->now = nothing;
    c->frame = &nothing->frame;
    variable *scope = c->scope;
    surroundings_clear(c);
    k->busy = true;
    if (k->of->declaration->list)
        array_evaluate(c, k, k->of->declaration);
    else
        scalar_evaluate(c, k, k->of->declaration);
    k->busy = false;
    scope_leave(c, scope);
    surroundings_restore(c, &outer);
}

const file_constant *constant_named(check *c, int id, const syn *at) {
    const constant_syn *of = definition_find(c, id, at);
    if (!of)
        return NULL;
    unit *u = unit_of(c, of->in);
    for (file_constant *k = u->constants; k; k = k->next) {
        if (k->of == of && k->busy)
            check_fail(c, at->at, "'%s' is used in its own value", name_text(c, id));
        if (k->of == of)
            return k;
    }
    file_constant *k = arena_alloc(c->a, sizeof *k);
    *k = (file_constant){.of = of, .next = u->constants};
    u->constants = k;
    evaluate_there(c, k);
    return k;
}

node *constant_value(check *c, const file_constant *k, const syn *at) {
    node *n = constant_node(c, k->value->value, at);
    n->weak = k->value->weak;
    return n;
}

int constant_table(check *c, const file_constant *k, const syn *at) {
    for (const struct table_use *t = c->now->tables; t; t = t->next)
        if (t->of == k)
            return t->slot;
    const name *n = &k->of->in->names[k->of->declaration->name];
    struct table_use *t = arena_alloc(c->a, sizeof *t);
    *t = (struct table_use){
        k,
        table_local(c, arena_text(c->a, n->text, (size_t)n->length), k->type, k->rank, k->extent, k->elements, at->at),
        c->now->tables};
    c->now->tables = t;
    return t->slot;
}
