/* unknown.c - the errors about names that are not known: what was probably meant, of all names that could stand there. */
#include "lang/check.h"

static void title_try(nearest_word *n, const name *names, int id) {
    if (id != NO_NAME)
        nearest_try(n, names[id].text, (size_t)names[id].length);
}

/* The variables, sizes and extents that a body sees. */
static void values_try(check *c, nearest_word *n) {
    const name *names = c->frame->u->s->names;
    for (const variable *v = c->scope; v; v = v->scope_next)
        if (v->owner == c->frame)
            title_try(n, names, v->name);
    for (int d = 0; c->core && c->frame->is_kernel && d < c->core->ndims; d++)
        if (c->core->dims[d].name)
            nearest_try_text(n, c->core->dims[d].name);
    for (int d = 0; c->frame->is_kernel && d < kernel_indices(c); d++)
        title_try(n, names, c->frame->def->extents[d]);
}

/* The constants that a text sees. */
static void constants_try(check *c, nearest_word *n) {
    const syntax *s = c->frame->u->s;
    for (int i = 0; constant_title(i); i++)
        nearest_try_text(n, constant_title(i));
    for (int i = -1; i < s->nmodules; i++) {
        const syntax *of = i < 0 ? s : s->modules[i];
        for (const constant_syn *k = of->constants; k; k = k->next)
            title_try(n, of->names, k->declaration->name);
    }
}

static void functions_try(check *c, nearest_word *n) {
    const syntax *s = c->frame->u->s;
    for (int i = 0; builtin_name(i); i++)
        nearest_try_text(n, builtin_name(i));
    for (int i = -1; i < s->nmodules; i++) {
        const syntax *of = i < 0 ? s : s->modules[i];
        for (const definition *d = of->helpers; d; d = d->next)
            title_try(n, of->names, d->name);
    }
    for (int i = 0; i < s->nfunctions; i++)
        nearest_try_text(n, s->functions[i]->name);
    for (int i = 0; i < math_row_count; i++)
        nearest_try_text(n, math_rows[i].name);
    for (int i = 0; i < prelude_row_count; i++)
        if (prelude_rows[i].rule != RULE_EXACT)
            nearest_try_text(n, prelude_rows[i].name);
    for (int i = 0; part_title(i); i++)
        nearest_try_text(n, part_title(i));
    for (int i = 0; i < REDUCE_COUNT; i++)
        nearest_try_text(n, construct_names[i]);
}

/* Fails if the name is one that another language has. */
static void foreign_check(check *c, const syn *s, foreign_use use, const char *what) {
    const name *n = &c->frame->u->s->names[s->name];
    const char *word = name_text(c, s->name), *here = foreign_find(n->text, (size_t)n->length, FOREIGN_NAME);
    const char *advice = foreign_find(n->text, (size_t)n->length, use);
    if (here)
        check_fail(c, s->at, "%s'%s' is not known; here it is '%s'", what, word, here);
    if (advice)
        check_fail(c, s->at, "%s'%s' is not known: %s", what, word, advice);
}

static nearest_word begin(check *c, const syn *s) {
    const name *n = &c->frame->u->s->names[s->name];
    return nearest_begin(n->text, (size_t)n->length);
}

_Noreturn static void fail_assigned(check *c, const syn *s) {
    const char *word = name_text(c, s->name);
    nearest_word n = begin(c, s);
    values_try(c, &n);
    if (n.best)
        check_fail(c, s->at,
                   "'%s' is not declared; did you mean '%.*s'? A new variable needs auto or a type: auto %s = ..", word,
                   (int)n.best_length, n.best, word);
    check_fail(c, s->at, "'%s' is not declared; write 'auto %s = ..' or a type in place of auto", word, word);
}

/* In a kernel over indices without named extents, what such a name probably means. */
static const char *extent_advice(const check *c, const char *word) {
    bool named = false;
    for (int d = 0; c->frame->is_kernel && d < kernel_indices(c); d++)
        named |= c->frame->def->extents[d] != NO_NAME;
    bool usual = strcmp(word, "n") == 0 || strcmp(word, "m") == 0 || strcmp(word, "N") == 0;
    return usual && !named && c->frame->is_kernel && kernel_indices(c)
               ? "; the extent of an index is named in front: [i : n](..)"
               : "";
}

_Noreturn void fail_unknown(check *c, const syn *s, bool assigned) {
    const char *word = name_text(c, s->name);
    if (size_find(c, s->name) >= 0)
        check_fail(c, s->at, "'%s' is a size (int64) and cannot be %s", word, assigned ? "assigned" : "indexed");
    for (const syn *r = c->ranges; r; r = r->next)
        if (r->name == s->name)
            check_fail(c, s->at, "'%s' is not known in the ranges beside its own; nest the constructs", word);
    if (assigned)
        fail_assigned(c, s);
    nearest_word n = begin(c, s);
    values_try(c, &n);
    constants_try(c, &n);
    if (!n.best || n.distance)
        foreign_check(c, s, FOREIGN_VALUE, "");
    functions_try(c, &n);
    if (n.best)
        check_fail(c, s->at, "'%s' is not known; did you mean '%.*s'?", word, (int)n.best_length, n.best);
    check_fail(c, s->at, "'%s' is not known%s", word, extent_advice(c, word));
}

static bool is_construct(const name *n) {
    for (int i = 0; i < REDUCE_COUNT; i++)
        if (strlen(construct_names[i]) == (size_t)n->length && !memcmp(construct_names[i], n->text, (size_t)n->length))
            return true;
    return false;
}

void range_require(check *c, const syn *call) {
    const syn *first = call->list;
    bool compares = first && first->kind == S_BINARY && (first->op == OP_LT || first->op == OP_LE);
    if (!compares || first->kid[0]->kind != S_NAME || !is_construct(&c->frame->u->s->names[call->name]))
        return;
    const syn *index = first->kid[0];
    const name *n = &c->frame->u->s->names[index->name];
    if (!variable_find(c, index->name) && size_find(c, index->name) < 0 && !constant_named(c, index->name, index) &&
        !constant_find(c, n->text, n->length, index))
        check_fail(c, index->at, "'%s' is not known; a range is written with a colon: %s(%s : n, ..)",
                   name_text(c, index->name), name_text(c, call->name), name_text(c, index->name));
}

_Noreturn void fail_unknown_function(check *c, const syn *s) {
    const char *word = name_text(c, s->name);
    if (is_construct(&c->frame->u->s->names[s->name]))
        check_fail(c, s->at, "'%s' combines the terms of a range: %s(%si : n, ..)", word, word,
                   strcmp(word, construct_names[REDUCE_HELPER]) == 0 ? "f, " : "");
    nearest_word n = begin(c, s);
    foreign_check(c, s, FOREIGN_CALL, "the function ");
    functions_try(c, &n);
    if (n.best)
        check_fail(c, s->at, "the function '%s' is not known; did you mean '%.*s'?", word, (int)n.best_length, n.best);
    check_fail(c, s->at, "the function '%s' is not known", word);
}
