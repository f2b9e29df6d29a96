/* compose.c - uf_compose: a function from an expression over functions. The expression becomes the kernel of an elementwise function, in
 * which these are called by name, or, where a reduction stands outermost, the map of a reduction that is otherwise that one. */
#include <stdio.h>

#include "core/core.h"

enum {
    INPUTS_MOST = UF_MAX_OPERANDS - 1
};

typedef struct composing {
    const char *name, *inputs, *expression;
    int nfunctions;
    uf_func *const *functions;
    arena arena;
    text use;                   /* the names that the catalogue has: "use add, multiply;" */
    const uf_func *outermost;   /* a reduction, or NULL */
    imported held;              /* it, if the catalogue has it */
    size_t inner_at, inner_end; /* where the arguments of the outermost call are */
} composing;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static size_t word_length(const char *s) {
    size_t n = 0;
    while (is_letter(s[n]) || is_digit(s[n]))
        n++;
    return n;
}

static size_t blanks(const char *s) {
    size_t n = 0;
    while (is_blank(s[n]))
        n++;
    return n;
}

/* ---- Reading ---- */

/* inputs := name { "," name } */
static uf_status inputs_check(const char *s) {
    int n = 0;
    size_t at = 0;
    do {
        at += blanks(s + at);
        if (!is_letter(s[at]))
            return fail_named(fail_source(UF_ERR_SYNTAX, s, at, "the name of an input is needed"), "inputs");
        at += word_length(s + at);
        at += blanks(s + at);
        if (++n > INPUTS_MOST)
            return fail_named(fail_source(UF_ERR_SYNTAX, s, at, "more than %d inputs", (int)INPUTS_MOST), "inputs");
    } while (s[at++] == ',');
    if (s[at - 1])
        return fail_named(fail_source(UF_ERR_SYNTAX, s, at - 1, "names with commas between them are needed"), "inputs");
    return UF_OK;
}

/* Checks that the expression has calls, names and numbers alone, and that its parentheses match. */
static uf_status expression_check(const char *s) {
    int depth = 0;
    for (size_t i = 0; s[i]; i++) {
        if (!is_letter(s[i]) && !is_digit(s[i]) && !is_blank(s[i]) && !strchr("(),.+-", s[i]))
            return fail_source(UF_ERR_SYNTAX, s, i, "an expression of calls, names and numbers is needed");
        depth += (s[i] == '(') - (s[i] == ')');
        if (depth < 0)
            return fail_source(UF_ERR_SYNTAX, s, i, "a \")\" without a \"(\"");
    }
    if (depth)
        return fail_source(UF_ERR_SYNTAX, s, strlen(s), "a \")\" is missing");
    return s[blanks(s)] ? UF_OK : fail_source(UF_ERR_SYNTAX, s, 0, "an expression is needed, got none");
}

static const uf_func *listed(const composing *x, const char *name, size_t length) {
    for (int i = 0; i < x->nfunctions; i++)
        if (x->functions[i] && strlen(x->functions[i]->name) == length &&
            memcmp(x->functions[i]->name, name, length) == 0)
            return x->functions[i];
    return NULL;
}

static uf_status function_find(composing *x, size_t at, size_t length, const uf_func **out, imported *held) {
    const char *name = arena_text(&x->arena, x->expression + at, length);
    if (!name)
        return fail_memory();
    *out = listed(x, name, length);
    if (*out)
        return UF_OK;
    const catalogue_entry *entry = catalogue_find(&catalogue, name);
    if (!entry) {
        const char *near = catalogue_nearest(&catalogue, name);
        return fail_source(UF_ERR_SYNTAX, x->expression, at,
                           "there is no function %.127s among those given, nor in the catalogue%s%s%s", name,
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    TRY(catalogue_import(name, entry, false, NULL, held));
    *out = held->func;
    return UF_OK;
}

/* Is a name one of the words of a list? */
static bool is_among(const char *list, const char *name, size_t length) {
    for (const char *s = list; s && *s;) {
        size_t n = word_length(s);
        if (n == length && memcmp(s, name, n) == 0)
            return true;
        s += n ? n : 1;
    }
    return false;
}

/* Does the call whose "(" is at `open` span the rest of the expression? Then *end is where its ")" is. */
static bool is_outermost(const char *s, size_t open, size_t *end) {
    int depth = 0;
    for (size_t i = open; s[i]; i++) {
        depth += (s[i] == '(') - (s[i] == ')');
        if (!depth) {
            *end = i;
            return s[i + 1 + blanks(s + i + 1)] == 0;
        }
    }
    return false;
}

/* Looks at the call of a name. */
static uf_status call_read(composing *x, size_t at, size_t length, size_t open) {
    const uf_func *f;
    imported held = {0};
    size_t end;
    TRY(function_find(x, at, length, &f, &held));
    if (f->reduction && at == blanks(x->expression) && is_outermost(x->expression, open, &end)) {
        x->outermost = f;
        x->held = held;
        x->inner_at = open + 1;
        x->inner_end = end;
        return UF_OK;
    }
    if (held.func)
        func_drop(held.func);
    if (f->reduction)
        return fail_source(UF_ERR_SYNTAX, x->expression, at, "%s is a reduction, which may only stand outermost",
                           f->name);
    if (!held.func || is_among(x->use.data, f->name, length))
        return UF_OK;
    text_printf(&x->use, "%s %s", x->use.length ? "," : "use", f->name);
    return UF_OK;
}

static uf_status calls_read(composing *x) {
    const char *s = x->expression;
    for (size_t i = 0; s[i];) {
        size_t n = word_length(s + i), next = i + n;
        if (!n) {
            i++;
            continue;
        }
        next += blanks(s + next);
        if (is_letter(s[i]) && s[next] == '(')
            TRY(call_read(x, i, n, next));
        else if (is_letter(s[i]) && !is_among(x->inputs, s + i, n))
            return fail_source(UF_ERR_SYNTAX, s, i, "%.*s is none of the inputs, %s", (int)(n < 127 ? n : 127), s + i,
                               x->inputs);
        i += n;
    }
    return x->use.failed ? fail_memory() : UF_OK;
}

/* ---- Making ---- */

/* An error about the text that was made of the expression becomes one about the expression, which begins in line `first`. */
static uf_status restate(const composing *x, uf_status status, const char *owner, int first, size_t column_at) {
    uf_error *e = error_slot();
    if (!status || !e->line || strcmp(e->source, owner) != 0 || e->line < first)
        return status;
    char message[sizeof e->message];
    memcpy(message, e->message, sizeof message);
    const char *bare = message_bare(message, e->line, e->column);
    size_t at = column_at + offset_of(x->expression + column_at, e->line - first + 1, e->column);
    return fail_named(fail_source(status, x->expression, at, "%s", bare), "expression of %s", x->name);
}

/* The text of the kernel or map: the expression begins in a line of its own. */
static uf_status source_make(composing *x, const char *before, size_t from, size_t to, const char *after,
                             const char **out) {
    text t = {0};
    text_printf(&t, "%s%s\n", x->use.length ? x->use.data : "", x->use.length ? ";" : "");
    text_puts(&t, before);
    text_puts(&t, "\n");
    text_add(&t, x->expression + from, to - from);
    text_puts(&t, "\n");
    text_puts(&t, after);
    *out = t.failed ? NULL : arena_text(&x->arena, t.data, t.length);
    text_free(&t);
    return *out ? UF_OK : fail_memory();
}

enum {
    FIRST_LINE = 3 /* of the expression in what source_make makes */
};

static uf_status elementwise_make(composing *x, uf_func **out) {
    text before = {0};
    const char *source;
    text_printf(&before, "(%s) { return", x->inputs);
    uf_status s = before.failed ? fail_memory() : source_make(x, before.data, 0, strlen(x->expression), "; }", &source);
    text_free(&before);
    TRY(s);
    const uf_section only = {.source = source};
    s = uf_define(out, &(uf_definition){.size = sizeof(uf_definition),
                                        .name = x->name,
                                        .nsections = 1,
                                        .sections = &only,
                                        .nfunctions = x->nfunctions,
                                        .functions = x->functions});
    return restate(x, s, x->name, FIRST_LINE, 0);
}

/* ---- A reduction of the expression ---- */

/* The signatures of the map as a function: from the inputs to the state. *out is NULL for any types. */
static uf_status map_signatures(composing *x, const char **out) {
    const uf_func *f = x->outermost;
    const reduction *r = f->reduction;
    text t = {0};
    *out = NULL;
    if (f->any_types)
        return UF_OK;
    for (int s = 0; s < f->signatures.count; s++) {
        dtype types[UF_MAX_OPERANDS + UF_MAX_STATE];
        memcpy(types, f->signatures.types + (size_t)s * (size_t)(f->nin + f->nout), (size_t)f->nin * sizeof *types);
        memcpy(types + f->nin, r->state + (size_t)s * (size_t)r->nstate, (size_t)r->nstate * sizeof *types);
        bool known = false;
        for (int k = 0; k < s && !known; k++)
            known = !memcmp(f->signatures.types + (size_t)k * (size_t)(f->nin + f->nout), types,
                            (size_t)f->nin * sizeof *types);
        if (known)
            continue; /* two that differ in outputs alone: the first is taken, as by calls */
        text_puts(&t, t.length ? "; " : "");
        signature_print(&t, types, f->nin, r->nstate);
    }
    *out = t.failed ? NULL : arena_text(&x->arena, t.data ? t.data : "", t.length);
    text_free(&t);
    return *out ? UF_OK : fail_memory();
}

static void names_print(text *t, const char *prefix, int n) {
    for (int k = 0; k < n; k++)
        text_printf(t, "%s%s%d", k ? ", " : "", prefix, k);
}

/* The map of a reduction without one: the inputs are the state. */
static uf_status map_source(composing *x, const char **out) {
    const reduction *r = x->outermost->reduction;
    text t = {0};
    *out = r->map.source;
    if (*out)
        return UF_OK;
    text_puts(&t, "(");
    names_print(&t, "x", r->nstate);
    text_puts(&t, ") -> (");
    names_print(&t, "s", r->nstate);
    text_puts(&t, ") {");
    for (int k = 0; k < r->nstate; k++)
        text_printf(&t, " s%d = x%d;", k, k);
    text_puts(&t, " }");
    *out = t.failed ? NULL : arena_text(&x->arena, t.data, t.length);
    text_free(&t);
    return *out ? UF_OK : fail_memory();
}

/* Makes the map of the reduction a function, which the composed map calls. */
static uf_status map_make(composing *x, uf_func **out) {
    const uf_func *f = x->outermost;
    const scope *seen = &f->scope;
    const text_origin like = {.title = f->name, .like = seen};
    uf_section only;
    char name[128];
    definition_place place;
    if (f->reduction->map.syntax && lang_indices(f->reduction->map.syntax))
        return fail(UF_ERR_ARGUMENT, "%s: the map of %s takes the position of an element, which no expression has",
                    x->name, f->name);
    if (!f->any_types && !f->signatures.count)
        return fail(UF_ERR_ARGUMENT, "%s: the signatures of %s are all of records", x->name, f->name);
    snprintf(name, sizeof name, "%.110s_of_element", f->name);
    TRY(map_source(x, &only.source));
    TRY(map_signatures(x, &only.signatures));
    return func_define(out,
                       &(uf_definition){.size = sizeof(uf_definition),
                                        .name = name,
                                        .nsections = 1,
                                        .sections = &only,
                                        .nmodules = seen->names.nmodules,
                                        .modules = seen->modules,
                                        .nfunctions = seen->names.nfunctions,
                                        .functions = seen->functions},
                       &like, &place);
}

/* "(x, y) -> (s0, s1) { auto (t0, t1) = f_of_element(" and what stands behind the arguments. */
static uf_status map_frame(composing *x, const uf_func *element, const char **before, const char **after) {
    int n = x->outermost->reduction->nstate;
    text head = {0}, tail = {0};
    text_printf(&head, "(%s)", x->inputs);
    if (n == 1) {
        text_printf(&head, " { return %s(", element->name);
        text_puts(&tail, "); }");
    } else {
        text_puts(&head, " -> (");
        names_print(&head, "uf_state_", n);
        text_puts(&head, ") { auto (");
        names_print(&head, "uf_value_", n);
        text_printf(&head, ") = %s(", element->name);
        text_puts(&tail, ");");
        for (int k = 0; k < n; k++)
            text_printf(&tail, " uf_state_%d = uf_value_%d;", k, k);
        text_puts(&tail, " }");
    }
    *before = head.failed ? NULL : arena_text(&x->arena, head.data, head.length);
    *after = tail.failed ? NULL : arena_text(&x->arena, tail.data, tail.length);
    text_free(&head);
    text_free(&tail);
    return *before && *after ? UF_OK : fail_memory();
}

/* The state's dtypes as a text, where a reduction of any types names them. */
static uf_status state_text(composing *x, const char **out) {
    const reduction *r = x->outermost->reduction;
    text t = {0};
    *out = NULL;
    if (!x->outermost->any_types || !r->state)
        return UF_OK;
    signature_print(&t, r->state, r->nstate, 0);
    *out = t.failed ? NULL : arena_text(&x->arena, t.data, t.length);
    text_free(&t);
    return *out ? UF_OK : fail_memory();
}

/* The functions that the composed texts see: the caller's, those of the reduction, and its map. */
static uf_status functions_join(composing *x, uf_func *element, uf_func ***out, int *n) {
    const scope *seen = &x->outermost->scope;
    *n = 0;
    *out = arena_alloc(&x->arena, (size_t)(x->nfunctions + seen->names.nfunctions + 1) * sizeof **out);
    if (!*out)
        return fail_memory();
    for (int i = 0; i < x->nfunctions; i++)
        (*out)[(*n)++] = x->functions[i];
    for (int i = 0; i < seen->names.nfunctions; i++)
        if (!listed(x, seen->functions[i]->name, strlen(seen->functions[i]->name)))
            (*out)[(*n)++] = seen->functions[i];
    (*out)[(*n)++] = element;
    return UF_OK;
}

static uf_status reduction_of_map(composing *x, uf_func *element, uf_func **out) {
    static const unsigned flags[] = {[FOLD_FREE] = 0, [FOLD_ORDERED] = UF_ORDERED, [FOLD_SERIAL] = UF_SERIAL};
    const uf_func *f = x->outermost;
    const reduction *r = f->reduction;
    const text_origin like = {.title = f->name, .like = &f->scope};
    const char *before, *after;
    uf_func **functions;
    definition_place place;
    uf_reduction_def def = {.size = sizeof def,
                            .combine = r->combine.source,
                            .finish = r->finish.source,
                            .identity = f->identity.source,
                            .flags = flags[f->order]};
    const uf_section only = {0};
    uf_definition d = {.size = sizeof d,
                       .name = x->name,
                       .nsections = 1,
                       .sections = &only,
                       .fast = f->fast,
                       .flags = f->flags,
                       .max_registers = f->max_registers,
                       .max_steps = f->max_steps,
                       .reduction = &def,
                       .nmodules = f->scope.names.nmodules,
                       .modules = f->scope.modules};
    TRY(map_frame(x, element, &before, &after));
    TRY(source_make(x, before, x->inner_at, x->inner_end, after, &def.map));
    TRY(state_text(x, &def.state));
    TRY(functions_join(x, element, &functions, &d.nfunctions));
    d.functions = functions;
    char owner[160];
    snprintf(owner, sizeof owner, "map of %s", x->name);
    return restate(x, func_define(out, &d, &like, &place), owner, FIRST_LINE, x->inner_at);
}

static uf_status reduction_make(composing *x, uf_func **out) {
    uf_func *element;
    TRY(map_make(x, &element));
    uf_status s = reduction_of_map(x, element, out);
    uf_free(element);
    return s;
}

static uf_status compose(void *user) {
    void **both = user;
    composing *x = both[0];
    TRY(inputs_check(x->inputs));
    TRY(fail_named(expression_check(x->expression), "expression of %s", x->name));
    TRY(fail_named(calls_read(x), "expression of %s", x->name));
    return (x->outermost ? reduction_make : elementwise_make)(x, both[1]);
}

static uf_status arguments_check(const composing *x) {
    TRY(name_check(x->name));
    if (!x->inputs || !x->expression)
        return fail(UF_ERR_ARGUMENT, "%s: %s is NULL", x->name, x->inputs ? "expression" : "inputs");
    if (x->nfunctions < 0 || (x->nfunctions && !x->functions))
        return fail(UF_ERR_ARGUMENT, "%s: nfunctions is %d, but functions is %s", x->name, x->nfunctions,
                    x->functions ? "there" : "NULL");
    return UF_OK;
}

uf_status uf_compose(uf_func **out, const char *name, const char *inputs, const char *expression, int nfunctions,
                     uf_func *const *functions) {
    composing x = {
        .name = name, .inputs = inputs, .expression = expression, .nfunctions = nfunctions, .functions = functions};
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    TRY(arguments_check(&x));
    uf_status s = on_big_stack(compose, (void *[]){&x, out});
    if (x.held.func)
        func_drop(x.held.func);
    text_free(&x.use);
    arena_free(&x.arena);
    return s;
}
