/* type.c - types as texts write them: dtypes, typeof, records with their arguments, type variables. */
#include <assert.h>
#include <stdio.h>

#include "lang/check.h"

/* The records that a check has made or was given. */
typedef struct known_record {
    const record *record; /* NULL: it is being made */
    const record_syn *of;
    value_type argument;
    struct known_record *next;
} known_record;

const char *value_text(value_type t) { return t.record ? t.record->name : dtypes[t.type].name; }

static known_record *known_add(check *c, const record *r, const record_syn *of, value_type argument) {
    known_record *k = arena_alloc(c->a, sizeof *k);
    *k = (known_record){r, of, argument, c->known_records};
    return c->known_records = k;
}

static known_record *known_find(const check *c, const record_syn *of, value_type argument) {
    known_record *k = c->known_records;
    while (k && !(k->of == of && value_same(k->argument, argument)))
        k = k->next;
    return k;
}

void record_know(check *c, const record *r) {
    if (!r)
        return;
    record_know(c, r->argument_record);
    for (int i = 0; i < r->nfields; i++)
        record_know(c, r->fields[i].record);
    value_type argument = {r->argument, r->argument_record};
    if (!known_find(c, r->definition, argument))
        known_add(c, r, r->definition, argument);
}

static const char *record_title(check *c, const record_syn *of, value_type argument) {
    const name *n = &of->in->names[of->name];
    char buffer[1200];
    bool has = of->parameter != NO_NAME;
    int size = snprintf(buffer, sizeof buffer, "%.*s%s%s%s", n->length, n->text, has ? "(" : "",
                        has ? value_text(argument) : "", has ? ")" : "");
    return arena_text(c->a, buffer, (size_t)size < sizeof buffer ? (size_t)size : sizeof buffer - 1);
}

static void field_make(check *c, record_field *out, const field_syn *f) {
    const name *n = &c->frame->u->s->names[f->name];
    syn at = {.at = f->at};
    value_type type = named_type(c, f->to, &at);
    *out = (record_field){.name = arena_text(c->a, n->text, (size_t)n->length),
                          .type = type.type,
                          .record = type.record,
                          .rank = f->rank};
    for (int d = 0; d < f->rank; d++)
        out->extent[d] = constant_extent(c, f->extent[d]);
}

/* Makes the fields where the record is defined: its text is the unit, and its parameter is a type variable. */
static const record *record_make(check *c, const record_syn *of, value_type argument) {
    int variables[] = {of->parameter};
    definition def = {.name = NO_NAME, .nvariables = of->parameter != NO_NAME, .variables = variables, .at = of->at};
    frame inside = {.def = &def, .u = unit_of(c, of->in), .bindings = &argument}, *outer = c->frame;
    record *r = arena_alloc(c->a, sizeof *r);
    *r = (record){.name = record_title(c, of, argument),
                  .nfields = of->nfields,
                  .definition = of,
                  .argument = argument.type,
                  .argument_record = argument.record};
    c->frame = &inside;
    r->fields = arena_alloc(c->a, (size_t)of->nfields * sizeof *r->fields);
    for (int i = 0; i < of->nfields; i++)
        field_make(c, &r->fields[i], &of->fields[i]);
    if (!record_lay(c->a, r))
        check_fail(c, of->at, "the record has more than %d scalars, a complex number counted as two",
                   RECORD_MAX_LEAVES);
    c->frame = outer;
    return r;
}

/* The record of a definition for an argument, made at its first use. at: where it is needed. */
static const record *record_of(check *c, const record_syn *of, value_type argument, size_t at) {
    known_record *k = known_find(c, of, argument);
    const name *n = &of->in->names[of->name];
    bool has = argument.record || argument.type != DT_NONE;
    if (!k && (of->parameter != NO_NAME) != has)
        check_fail(c, at, has ? "'%.*s' has no type parameter" : "'%.*s' needs a type: %.*s(float32)", n->length,
                   n->text, n->length, n->text);
    assert(!k || k->record); /* no record contains itself */
    if (!k) {
        k = known_add(c, NULL, of, argument);
        k->record = record_make(c, of, argument);
    }
    return k->record;
}

/* What a type variable is bound to in the body that is being checked. */
static value_type variable_type(check *c, int id, const syn *at) {
    const frame *f = c->frame;
    for (int i = 0; i < f->def->nvariables; i++)
        if (f->def->variables[i] == id && (f->bindings[i].record || f->bindings[i].type != DT_NONE))
            return f->bindings[i];
    check_fail(c, at->at, "nothing says what type '%s' is", name_text(c, id));
}

value_type named_type(check *c, const type_syn *to, const syn *at) {
    value_type none = value_scalar(DT_NONE);
    if (!to)
        return none;
    if (to->of)
        return node_type(value_check(c, to->of));
    if (to->variable != NO_NAME)
        return variable_type(c, to->variable, at);
    if (to->record)
        return (value_type){DT_NONE,
                            record_of(c, to->record, to->argument ? named_type(c, to->argument, at) : none, at->at)};
    return value_scalar((dtype)to->type);
}

dtype named_dtype(check *c, const type_syn *to, const syn *at, const char *what) {
    value_type t = named_type(c, to, at);
    if (t.record)
        check_fail(c, at->at, "%s is needed here, and '%s' is a record", what, t.record->name);
    return t.type;
}

/* ---- For the core ---- */

static void records_try(const syntax *s, nearest_word *n) {
    for (const record_syn *r = s->records; r; r = r->next)
        nearest_try(n, s->names[r->name].text, (size_t)s->names[r->name].length);
}

_Noreturn static void fail_no_record(check *c, const char *word, size_t length) {
    const syntax *s = c->frame->u->s;
    nearest_word n = nearest_begin(word, length);
    dtype_names_try(&n);
    records_try(s, &n);
    for (int i = 0; i < s->nmodules; i++)
        records_try(s->modules[i], &n);
    longjmp(*c->a->escape, n.best ? fail(UF_ERR_TYPE, "there is no dtype and no record '%.*s'; did you mean '%.*s'?",
                                         (int)length, word, (int)n.best_length, n.best)
                                  : fail(UF_ERR_TYPE, "there is no dtype and no record '%.*s'", (int)length, word));
}

/* Reads a name of a text, of which a type may follow in parentheses. *end: what follows. */
static const record *record_parse(check *c, const char **from, const char *end) {
    const char *first = *from, *p = first;
    value_type argument = value_scalar(DT_NONE);
    while (p < end && *p != '(' && *p != ')')
        p++;
    const char *last = p;
    while (last > first && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    int id = name_find(c->frame->u->s, first, (size_t)(last - first));
    const record_syn *of = id == NO_NAME ? NULL : c->frame->u->s->names[id].record;
    if (!of)
        fail_no_record(c, first, (size_t)(last - first));
    if (p < end && *p == '(') {
        const char *inner = ++p;
        while (p < end && *p != '(' && *p != ')')
            p++;
        argument.type = dtype_of_name(inner, (size_t)(p - inner));
        if (argument.type == DT_NONE) {
            p = inner;
            argument.record = record_parse(c, &p, end);
        }
        if (p == end || *p != ')')
            longjmp(*c->a->escape, fail(UF_ERR_TYPE, "'%.*s' lacks a ')'", (int)(end - first), first));
        p++;
    }
    if ((of->parameter != NO_NAME) != (argument.record || argument.type != DT_NONE))
        longjmp(*c->a->escape,
                fail(UF_ERR_TYPE, "the record '%.*s' %s", (int)(last - first), first,
                     of->parameter != NO_NAME ? "needs a type in parentheses" : "has no type parameter"));
    *from = p;
    return record_of(c, of, argument, of->at);
}

uf_status lang_record(arena *a, const syntax *s, const char *words, size_t length, const record **out) {
    jmp_buf escape, *before = a->escape;
    definition def = {.name = NO_NAME};
    *out = NULL;
    a->escape = &escape;
    if (setjmp(escape)) {
        a->escape = before;
        return uf_last_error()->status;
    }
    check c = {.a = a};
    frame at = {.def = &def};
    instance nothing = {.frame = at};
    nothing.frame.u = unit_of(&c, s);
    c.now = &nothing;
    c.frame = &nothing.frame;
    c.prelude = arena_alloc(a, (size_t)prelude_row_count * sizeof *c.prelude);
    known_begin(&c);
    const char *p = words;
    *out = record_parse(&c, &p, words + length);
    a->escape = before;
    return UF_OK;
}
