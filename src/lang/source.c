/* source.c - file scope: what a text uses, its constants, records, helpers and operators, and the kernel; and the entries of the
 * parser. */
#include <assert.h>
#include <stdio.h>

#include "lang/parse.h"

/* ---- Names ---- */

int name_find(const syntax *s, const char *word, size_t length) {
    if (!s->names_size)
        return NO_NAME;
    uint64_t mask = 2 * (uint64_t)s->names_size - 1, slot = hash_bytes(word, length);
    for (; s->slots[slot & mask] >= 0; slot++) {
        const name *n = &s->names[s->slots[slot & mask]];
        if ((size_t)n->length == length && memcmp(n->text, word, length) == 0)
            return s->slots[slot & mask];
    }
    return NO_NAME;
}

/* "3:8" or "3:8 of module vec": where something stands. */
static const char *place_text(const parser *p, const syntax *in, size_t at, char *buffer, size_t size) {
    int line, column;
    kernel_position(in->source, at, &line, &column);
    bool own = in == p->out;
    snprintf(buffer, size, "%d:%d%s%s", line, column, own || !in->title ? "" : " of ",
             own || !in->title ? "" : in->title);
    return buffer;
}

_Noreturn static void fail_twice(const parser *p, const token *t, const char *what, const syntax *in, size_t before) {
    char place[1200];
    lex_fail(&p->lex, t->at, "%s '%.*s' is defined twice, here and at %s", what, (int)t->length, p->lex.source + t->at,
             place_text(p, in, before, place, sizeof place));
}

/* Fails if the text defines something else of this name. */
static void name_take(const parser *p, const token *t, const char *what) {
    const name *n = &p->lex.names[t->name];
    if (n->record)
        fail_twice(p, t, what, n->record->in, n->record->at);
    if (n->constant)
        fail_twice(p, t, what, n->constant->in, n->constant->declaration->at);
    if (n->helper)
        fail_twice(p, t, what, n->helper->in, n->helper->at);
}

/* ---- Helpers that take the same ---- */

static bool type_same(const type_syn *a, const type_syn *b) {
    if (!a || !b)
        return a == b;
    return a->type == b->type && a->record == b->record && (a->variable == NO_NAME) == (b->variable == NO_NAME) &&
           a->of == b->of && type_same(a->argument, b->argument);
}

/* Do two helpers of one name take the same? Then a call could not tell them apart. */
static bool parameters_same(const definition *a, const definition *b) {
    bool same = a->nparams == b->nparams;
    for (int k = 0; same && k < a->nparams; k++)
        same = a->params[k].rank == b->params[k].rank && type_same(a->params[k].to, b->params[k].to);
    return same;
}

/* The one of a text's helpers of this name that takes the same; NULL: none. */
static const definition *helper_like(const syntax *in, const syntax *of, const definition *d) {
    int id = name_find(in, of->names[d->name].text, (size_t)of->names[d->name].length);
    const definition *like = id == NO_NAME ? NULL : in->names[id].helper;
    while (like && !parameters_same(like, d))
        like = like->overload;
    return like;
}

/* ---- What a text uses ---- */

/* Fails if a module that the text uses already has a helper of the new one, so that no call could tell them apart. */
static void helpers_apart(const parser *p, const syntax *m, const token *at) {
    char first[1200], second[1200];
    for (const definition *d = m->helpers; d; d = d->next)
        for (int i = 0; i < p->out->nmodules; i++) {
            const syntax *other = p->out->modules[i];
            const definition *like = helper_like(other, m, d);
            if (like)
                lex_fail(&p->lex, at->at, "two modules define '%.*s' for the same parameters: at %s and at %s",
                         m->names[d->name].length, m->names[d->name].text,
                         place_text(p, other, like->at, first, sizeof first),
                         place_text(p, m, d->at, second, sizeof second));
        }
}

static void module_import(parser *p, const syntax *m, const token *at) {
    syntax *out = p->out;
    for (int i = 0; i < out->nmodules; i++)
        if (out->modules[i] == m)
            return;
    if (out->nmodules == LANG_MAX_IMPORTS)
        lex_fail(&p->lex, at->at, "the text uses more than %d modules", LANG_MAX_IMPORTS);
    helpers_apart(p, m, at);
    out->modules[out->nmodules++] = m;
    for (const record_syn *r = m->records; r; r = r->next) {
        int id = lex_intern(&p->lex, m->names[r->name].text, (size_t)m->names[r->name].length);
        name *n = &p->lex.names[id];
        char first[1200], second[1200];
        if (n->record)
            lex_fail(&p->lex, at->at, "two modules define the record '%.*s': at %s and at %s", n->length, n->text,
                     place_text(p, n->record->in, n->record->at, first, sizeof first),
                     place_text(p, m, r->at, second, sizeof second));
        n->record = r;
    }
}

static void function_import(parser *p, const lang_function *f, const token *at) {
    syntax *out = p->out;
    for (int i = 0; i < out->nfunctions; i++) {
        if (out->functions[i] == f)
            return;
        if (strcmp(out->functions[i]->name, f->name) == 0)
            lex_fail(&p->lex, at->at, "two functions that the text uses are called '%s'", f->name);
    }
    if (out->nfunctions == LANG_MAX_IMPORTS)
        lex_fail(&p->lex, at->at, "the text uses more than %d functions", LANG_MAX_IMPORTS);
    out->functions[out->nfunctions++] = f;
}

static void visible_import(parser *p) {
    const lang_names *v = p->visible;
    size_t size = LANG_MAX_IMPORTS * sizeof(void *);
    if (!v)
        return;
    p->out->modules = arena_alloc(p->lex.a, size);
    p->out->functions = arena_alloc(p->lex.a, size);
    for (int i = 0; i < v->nmodules; i++)
        module_import(p, v->modules[i], &p->now);
    for (int i = 0; i < v->nfunctions; i++)
        function_import(p, v->functions[i], &p->now);
}

/* use := "use" name { "," name } ";" */
static void use_read(parser *p) {
    parse_next(p);
    do {
        const token t = p->now;
        char word[LANG_MAX_NAME + 1], message[sizeof uf_last_error()->message];
        lang_import found = {NULL, NULL};
        parse_expect(p, T_NAME, "the name of a module or of a function");
        snprintf(word, sizeof word, "%.*s", (int)t.length, p->lex.source + t.at);
        if (!p->visible || !p->visible->use)
            lex_fail(&p->lex, t.at, "'%s' cannot be used here", word);
        uf_status status = p->visible->use(p->visible->user, word, &found);
        if (status == UF_ERR_ARGUMENT) {
            memcpy(message, uf_last_error()->message, sizeof message);
            lex_fail(&p->lex, t.at, "%.900s", message);
        }
        if (status)
            longjmp(*p->lex.escape, (int)status);
        if (found.module)
            module_import(p, found.module, &t);
        else
            function_import(p, found.function, &t);
    } while (parse_accept(p, T_COMMA));
    parse_expect(p, T_SEMICOLON, "',' or ';' after what is used");
}

static bool at_word(const parser *p, const char *word, token_kind ahead) {
    return p->now.kind == T_NAME && p->ahead.kind == ahead && parse_word_is(p, &p->now, word);
}

/* ---- Records ---- */

/* The names of the records of a text are types wherever they stand, and so they are known before it is read. */
static void records_collect(parser *p) {
    lexer probe;
    record_syn **end = &p->out->records;
    int depth = 0;
    if (!strstr(p->lex.source, "struct"))
        return;
    lex_begin(&probe, p->lex.a, p->lex.source, p->lex.escape);
    for (token t = lex_next(&probe); t.kind != T_END; t = lex_next(&probe)) {
        depth += t.kind == T_OPEN_BLOCK ? 1 : t.kind == T_CLOSE_BLOCK ? -1 : 0;
        if (t.kind != T_STRUCT || depth)
            continue;
        t = lex_next(&probe);
        if (t.kind != T_NAME)
            continue; /* the error is found when the text is read */
        t.name = lex_intern(&p->lex, p->lex.source + t.at, t.length);
        name_take(p, &t, "the record");
        record_syn *r = *end = arena_alloc(p->lex.a, sizeof *r);
        end = &r->next;
        *r = (record_syn){.name = t.name, .parameter = NO_NAME, .at = t.at, .in = p->out};
        p->lex.names[t.name].record = r;
    }
}

static void field_extents_read(parser *p, field_syn *f) {
    while (parse_accept(p, T_OPEN_INDEX)) {
        if (f->rank == RECORD_MAX_RANK)
            lex_fail(&p->lex, p->now.at, "an array in a record has at most %d dimensions", RECORD_MAX_RANK);
        f->extent[f->rank++] = parse_expression(p);
        parse_expect(p, T_CLOSE_INDEX, "']'");
    }
}

/* fields := type name extents { "," name extents } ";" */
static void fields_read(parser *p, record_syn *r) {
    const type_syn *to = parse_type(p, NULL);
    do {
        if (r->nfields == LANG_MAX_FIELDS)
            lex_fail(&p->lex, p->now.at, "a record has at most %d fields", LANG_MAX_FIELDS);
        field_syn *f = &r->fields[r->nfields];
        *f = (field_syn){.name = p->now.name, .at = p->now.at, .to = to};
        for (int i = 0; i < r->nfields && p->now.kind == T_NAME; i++)
            if (r->fields[i].name == f->name)
                lex_fail(&p->lex, f->at, "the record has two fields called '%.*s'", (int)p->now.length,
                         p->lex.source + f->at);
        parse_expect(p, T_NAME, "the name of a field");
        field_extents_read(p, f);
        r->nfields++;
    } while (parse_accept(p, T_COMMA));
    parse_expect(p, T_SEMICOLON, "',' or ';' after a field");
}

/* record := "struct" name [ "(" name ")" ] "{" fields { fields } "}" ";" */
static void struct_read(parser *p) {
    definition scope = {.name = NO_NAME};
    int parameter;
    syn_new(p, S_EMPTY, &p->now);
    parse_next(p);
    if (p->now.kind != T_NAME)
        parse_fail_expected(p, "the name of the record");
    record_syn *r = (record_syn *)(uintptr_t)p->lex.names[p->now.name].record;
    parse_next(p);
    r->fields = arena_alloc(p->lex.a, LANG_MAX_FIELDS * sizeof *r->fields);
    if (parse_accept(p, T_OPEN)) {
        if (starts_type(p, &p->now))
            lex_fail(&p->lex, p->now.at, "the type parameter of a record is a name that is not a type");
        parameter = r->parameter = p->now.name;
        parse_expect(p, T_NAME, "the name of the type parameter");
        parse_expect(p, T_CLOSE, "')': a record has one type parameter or none");
        scope.nvariables = 1;
        scope.variables = &parameter;
    }
    p->reading = &scope;
    parse_expect(p, T_OPEN_BLOCK, "'{' and the fields of the record");
    do
        fields_read(p, r);
    while (p->now.kind != T_CLOSE_BLOCK);
    p->reading = NULL;
    parse_next(p);
    parse_expect(p, T_SEMICOLON, "';' after the record");
}

/* ---- Constants ---- */

/* constants := "const" [ "auto" | type ] declarator { "," declarator } ";" */
static void constants_read(parser *p) {
    const type_syn *to = NULL;
    bool typed = starts_type_behind_const(p);
    if (!typed || p->ahead.kind == T_AUTO)
        parse_next(p);
    if (!parse_accept(p, T_AUTO) && typed)
        to = parse_type(p, NULL);
    do {
        const token t = p->now;
        constant_syn *k = arena_alloc(p->lex.a, sizeof *k);
        *k = (constant_syn){.declaration = parse_declarator(p, to, true), .in = p->out};
        if (!k->declaration->kid[0])
            parse_fail_expected(p, "'=' and the value of the constant");
        name_take(p, &t, "the constant");
        p->lex.names[t.name].constant = *p->constants_end = k;
        p->constants_end = &k->next;
    } while (parse_accept(p, T_COMMA));
    parse_expect(p, T_SEMICOLON, "',' or ';' after a constant");
}

/* ---- Parameters ---- */

_Noreturn static void fail_operands(const parser *p, size_t at) {
    lex_fail(&p->lex, at, "more than %d parameters and outputs", UF_MAX_OPERANDS);
}

/* The parameters, outputs and indices of a function as they are read. Their names differ. */
typedef struct parameter_list {
    int count;
    parameter_syn of[2 * UF_MAX_OPERANDS];
} parameter_list;

/* Adds a parameter with the current token as its name, which `what` describes. */
static parameter_syn *parameter_add(parser *p, parameter_list *list, const char *what) {
    const token t = p->now;
    if (starts_type(p, &t) || t.kind == T_AUTO)
        lex_fail(&p->lex, t.at, "parameters are names without types, and '%.*s' is a type", (int)t.length,
                 p->lex.source + t.at);
    parse_expect(p, T_NAME, what);
    for (int i = 0; i < list->count; i++)
        if (t.name == list->of[i].name)
            lex_fail(&p->lex, t.at, "'%.*s' is named twice", (int)t.length, p->lex.source + t.at);
    if (list->count == UF_MAX_OPERANDS)
        fail_operands(p, t.at);
    parameter_syn *one = &list->of[list->count++];
    *one = (parameter_syn){.name = t.name, .at = t.at};
    return one;
}

static parameter_syn *parameters_copy(parser *p, const parameter_syn *from, int count) {
    parameter_syn *copy = arena_alloc(p->lex.a, ((size_t)count + 1) * sizeof *copy);
    if (count)
        memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

/* names := [ name { "," name } [ "," ] ] ")" */
static void names_read(parser *p, parameter_list *list) {
    while (p->now.kind != T_CLOSE) {
        parameter_add(p, list, "a name or ')'");
        if (p->now.kind == T_OPEN_INDEX)
            lex_fail(&p->lex, p->now.at, "parameters are names that stand alone; a layout says which are arrays");
        if (p->now.kind == T_COLON || p->now.kind == T_ASSIGN)
            lex_fail(&p->lex, p->now.at, "parameters are names that stand alone, without types and values");
        if (!parse_accept(p, T_COMMA))
            break;
    }
    parse_expect(p, T_CLOSE, "',' or ')'");
}

void type_variable_add(parser *p, int id) {
    definition *d = p->reading;
    for (int i = 0; i < d->nvariables; i++)
        if (d->variables[i] == id)
            return;
    d->variables[d->nvariables++] = id; /* there are at most as many as parameters */
}

/* Reads the type before a parameter, if there is one: a name with another name behind it is a type variable. */
static const type_syn *parameter_type(parser *p) {
    if (p->now.kind == T_NAME && p->ahead.kind == T_NAME && !record_find(p, &p->now))
        type_variable_add(p, p->now.name);
    return starts_type(p, &p->now) ? parse_type(p, NULL) : NULL;
}

/* Each extent is the name by which the helper knows it. */
static void parameter_extents_read(parser *p, parameter_list *list, int which, parameter_list *extents) {
    while (parse_accept(p, T_OPEN_INDEX)) {
        parameter_syn *one = &list->of[which];
        if (one->rank == LANG_MAX_RANK)
            lex_fail(&p->lex, p->now.at, "an array has at most %d dimensions", LANG_MAX_RANK);
        int extent = p->now.name;
        for (int i = 0; i < list->count && p->now.kind == T_NAME; i++)
            if (list->of[i].name == extent)
                lex_fail(&p->lex, p->now.at, "'%.*s' is named twice", (int)p->now.length, p->lex.source + p->now.at);
        parse_expect(p, T_NAME, "the name of an extent of the array");
        bool known = false;
        for (int i = 0; i < extents->count; i++)
            known |= extents->of[i].name == extent;
        if (!known && extents->count < UF_MAX_OPERANDS)
            extents->of[extents->count++].name = extent;
        one->extent[one->rank++] = extent;
        parse_expect(p, T_CLOSE_INDEX, "']'");
    }
}

/* parameters := [ [ type ] name { "[" name "]" } { "," .. } [ "," ] ] ")" */
static void typed_parameters_read(parser *p, parameter_list *list, parameter_list *extents) {
    while (p->now.kind != T_CLOSE) {
        const type_syn *to = parameter_type(p);
        int which = list->count;
        parameter_add(p, list, to ? "the name of a parameter" : "a name or ')'")->to = to;
        for (int i = 0; i < extents->count; i++)
            if (extents->of[i].name == list->of[which].name)
                lex_fail(&p->lex, list->of[which].at, "the name of this parameter is also that of an extent");
        parameter_extents_read(p, list, which, extents);
        if (!parse_accept(p, T_COMMA))
            break;
    }
    parse_expect(p, T_CLOSE, "',' or ')'");
}

/* ---- Helpers ---- */

static definition *definition_new(parser *p) {
    definition *d = arena_alloc(p->lex.a, sizeof *d);
    syn_new(p, S_EMPTY, &p->now); /* counts as a node, so that the number of functions is limited too */
    d->name = NO_NAME;
    d->at = p->now.at;
    d->index = p->out->ndefinitions++;
    d->in = p->out;
    return d;
}

/* Puts a helper behind those of its name. */
static void overload_add(parser *p, definition *d, const token *at) {
    const name *n = &p->lex.names[d->name];
    if (n->record || n->constant)
        name_take(p, at, "the helper");
    const definition **end = &p->lex.names[d->name].helper;
    for (; *end; end = (const definition **)(uintptr_t) & (*end)->overload)
        if (parameters_same(*end, d))
            fail_twice(p, at, "the helper", p->out, (*end)->at);
    *end = d;
}

/* An operator's or conversion's name, which no text can spell. */
static int word_intern(parser *p, const char *format, const char *word, size_t length) {
    char buffer[LANG_MAX_NAME + 16];
    int n = snprintf(buffer, sizeof buffer, format, (int)length, word);
    return lex_intern(&p->lex, arena_text(p->lex.a, buffer, (size_t)n), (size_t)n);
}

/* operator := "operator" (sign | type); a type is that of a conversion to it. Returns the name. */
static int operator_read(parser *p) {
    parse_next(p);
    const token t = p->now;
    if (t.kind == T_OPERATOR) {
        parse_next(p);
        return word_intern(p, "operator %.*s", p->lex.source + t.at, t.length);
    }
    if (record_find(p, &t)) {
        parse_next(p);
        return word_intern(p, "operator %.*s", p->lex.source + t.at, t.length);
    }
    if (!starts_type(p, &t))
        parse_fail_expected(p, "an operator, or the type that is converted to");
    const type_syn *to = parse_type(p, NULL);
    if (to->type == DT_NONE)
        lex_fail(&p->lex, t.at, "a conversion is to a dtype or to a record");
    return word_intern(p, "operator %.*s", dtypes[to->type].name, strlen(dtypes[to->type].name));
}

/* Is the name, which is that of an operator, one of a sign that takes so many operands? */
static bool operands_fit(const parser *p, const definition *d) {
    const name *n = &p->lex.names[d->name];
    bool binary = false, unary = false, sign = false;
    for (int o = 0; o < OP_COUNT; o++)
        if (ops[o].kind != 'F' && (size_t)n->length == strlen(ops[o].helper) &&
            !memcmp(n->text, ops[o].helper, (size_t)n->length)) {
            sign = true;
            *(ops[o].precedence ? &binary : &unary) = true;
            unary |= o == OP_ADD; /* unary plus has no row of its own */
        }
    return sign ? (binary && d->nparams == 2) || (unary && d->nparams == 1) : d->nparams == 1;
}

/* May an operand be a record, or is it what a conversion gives? */
static bool takes_record(const parser *p, const definition *d) {
    const name *n = &p->lex.names[d->name];
    const int blank = (int)strlen("operator ");
    bool takes = d->nparams == 0; /* has another number of operands than any */
    for (int k = 0; k < d->nparams; k++) {
        const type_syn *to = d->params[k].to;
        takes |= !to || to->record || to->variable != NO_NAME;
    }
    int id = name_find(&(syntax){.names = p->lex.names, .slots = p->lex.slots, .names_size = p->lex.names_size},
                       n->text + blank, (size_t)(n->length - blank));
    return takes || (id != NO_NAME && p->lex.names[id].record);
}

static const char kernel_form[] = "; a kernel is written (x) { return ..; }, without a type or a name";

/* helper := [ "exact" ] (name | operator) "(" parameters [ "->" "(" parameters ] block */
static definition *helper_read(parser *p) {
    parameter_list list = {0}, extents = {0};
    definition *d = definition_new(p);
    p->advice = p->with_kernel ? kernel_form : NULL;
    d->variables = arena_alloc(p->lex.a, 2 * UF_MAX_OPERANDS * sizeof *d->variables);
    d->exact = at_word(p, "exact", T_NAME);
    if (d->exact)
        parse_next(p);
    const token t = p->now;
    bool is_operator = parse_word_is(p, &t, "operator") && p->ahead.kind != T_OPEN;
    if (is_operator) {
        d->name = operator_read(p);
    } else {
        d->name = t.name;
        parse_expect(p, T_NAME, "the name of a helper");
    }
    parse_expect(p, T_OPEN, "'(' after the name of a helper");
    p->reading = d;
    p->binds_variables = true;
    typed_parameters_read(p, &list, &extents);
    p->binds_variables = false;
    d->nparams = list.count;
    d->params = parameters_copy(p, list.of, list.count);
    if (is_operator && !takes_record(p, d))
        lex_fail(&p->lex, t.at, "'%.*s' of numbers is built in; an operator has a record among its operands or results",
                 p->lex.names[d->name].length, p->lex.names[d->name].text);
    if (is_operator && !operands_fit(p, d))
        lex_fail(&p->lex, t.at, "'%.*s' with %d parameters: it has another number of operands",
                 p->lex.names[d->name].length, p->lex.names[d->name].text, d->nparams);
    if (parse_accept(p, T_ARROW)) {
        parse_expect(p, T_OPEN, "'(' and the names of the outputs");
        if (p->now.kind == T_CLOSE)
            parse_fail_expected(p, "the name of an output");
        typed_parameters_read(p, &list, &extents);
        d->noutputs = list.count - d->nparams;
        d->outputs = parameters_copy(p, list.of + d->nparams, d->noutputs);
        for (int k = 0; k < d->noutputs; k++)
            if (d->outputs[k].rank)
                lex_fail(&p->lex, d->outputs[k].at,
                         "a helper has no arrays among its results; it writes to an array "
                         "among its parameters");
    }
    overload_add(p, d, &t);
    d->body = parse_block(p, false, &d->end);
    p->reading = NULL;
    return d;
}

/* ---- The kernel ---- */

/* indices := [ "[" index { "," index } [ "," ] "]" ]
 * index := name [ ":" name ] */
static void indices_read(parser *p, parameter_list *list, int *extents) {
    parameter_list taken = {0};
    if (!parse_accept(p, T_OPEN_INDEX))
        return;
    do {
        if (list->count == UF_MAX_OPERANDS)
            fail_operands(p, p->now.at);
        parameter_syn *one = parameter_add(p, &taken, "the name of an index");
        extents[list->count] = NO_NAME;
        list->of[list->count] = *one;
        if (parse_accept(p, T_COLON)) {
            taken.count--;
            parameter_list both = taken;
            both.count++;
            extents[list->count] = parameter_add(p, &both, "the name of the extent of an index")->name;
            taken = both;
        }
        list->count++;
        if (p->now.kind == T_OPERATOR)
            lex_fail(&p->lex, p->now.at, "an index and the name of its extent are written [i : n]");
    } while (parse_accept(p, T_COMMA) && p->now.kind != T_CLOSE_INDEX);
    parse_expect(p, T_CLOSE_INDEX, "',' or ']'");
}

/* parameters := indices "(" [ names ] ")"; the indices become the last ones */
static void parameters_read(parser *p, definition *d) {
    parameter_list list = {0}, all = {0};
    int extents[2 * UF_MAX_OPERANDS];
    indices_read(p, &list, extents);
    d->nindices = list.count;
    parse_expect(p, T_OPEN, "a helper 'name(..) { .. }' or the kernel '(..) { .. }'");
    names_read(p, &list);
    all.count = list.count;
    memcpy(all.of, list.of + d->nindices, (size_t)(list.count - d->nindices) * sizeof *all.of);
    memcpy(all.of + list.count - d->nindices, list.of, (size_t)d->nindices * sizeof *all.of);
    d->nparams = list.count;
    d->params = parameters_copy(p, all.of, all.count);
    d->extents = arena_alloc(p->lex.a, (size_t)d->nindices * sizeof *extents + 1);
    memcpy(d->extents, extents, (size_t)d->nindices * sizeof *extents);
}

/* kernel := parameters [ "->" "(" names ")" ] block */
static definition *kernel_read(parser *p) {
    definition *d = definition_new(p);
    p->advice = kernel_form;
    parameters_read(p, d);
    if (parse_accept(p, T_ARROW)) {
        parameter_list list = {.count = d->nparams};
        parse_expect(p, T_OPEN, "'(' and the names of the outputs");
        if (p->now.kind == T_CLOSE)
            parse_fail_expected(p, "the name of an output");
        memcpy(list.of, d->params, (size_t)d->nparams * sizeof *list.of);
        names_read(p, &list);
        d->noutputs = list.count - d->nparams;
        d->outputs = parameters_copy(p, list.of + d->nparams, d->noutputs);
    } else if (d->nparams == UF_MAX_OPERANDS) {
        fail_operands(p, d->at);
    }
    d->body_at = p->now.at;
    d->body = parse_block(p, false, &d->end);
    if (p->now.kind == T_NAME || p->now.kind == T_OPEN)
        lex_fail(&p->lex, p->now.at,
                 "the kernel is the last function; nothing follows it, and helpers stand before it");
    if (p->now.kind != T_END)
        parse_fail_expected(p, "the end of the text after the kernel");
    return d;
}

/* ---- Texts ---- */

static void names_keep(parser *p) {
    p->out->names = p->lex.names;
    p->out->nnames = p->lex.nnames;
    p->out->slots = p->lex.slots;
    p->out->names_size = p->lex.names_size;
}

/* top := { constants | record | helper } */
static void top_read(parser *p) {
    definition **end = &p->out->helpers;
    for (;;) {
        if (p->now.kind == T_STRUCT) {
            struct_read(p);
        } else if (p->now.kind == T_CONST) {
            constants_read(p);
        } else if (at_word(p, "use", T_NAME)) {
            lex_fail(&p->lex, p->now.at, "what a text uses stands at its head");
        } else if (p->now.kind == T_NAME) {
            *end = helper_read(p);
            end = &(*end)->next;
        } else {
            return;
        }
    }
}

/* ---- Records in records ---- */

static void record_walk(const parser *p, record_syn *r);

/* How deep records are nested in the type of a field. */
static int type_depth(const parser *p, const type_syn *to, const field_syn *f) {
    int depth = 0;
    for (; to; to = to->argument) {
        record_syn *r = (record_syn *)(uintptr_t)to->record;
        if (!r)
            continue;
        if (r->depth < 0)
            lex_fail(&p->lex, f->at, "the record '%.*s' contains itself", p->lex.names[r->name].length,
                     p->lex.names[r->name].text);
        if (!r->depth)
            record_walk(p, r);
        depth += r->depth;
    }
    return depth;
}

/* Finds how deep records are nested in one. */
static void record_walk(const parser *p, record_syn *r) {
    int depth = 1;
    r->depth = -1;
    for (int i = 0; i < r->nfields; i++) {
        int inside = 1 + type_depth(p, r->fields[i].to, &r->fields[i]);
        depth = inside > depth ? inside : depth;
        if (depth > LANG_MAX_DEPTH)
            lex_fail(&p->lex, r->fields[i].at, "nested too deeply: more than %d levels", LANG_MAX_DEPTH);
    }
    r->depth = depth;
}

/* source := { use } { top } kernel */
static void source_read(parser *p, const char *source, bool with_kernel) {
    p->out->source = source;
    p->with_kernel = with_kernel;
    p->constants_end = &p->out->constants;
    parse_next(p);
    parse_next(p);
    visible_import(p);
    while (at_word(p, "use", T_NAME))
        use_read(p);
    records_collect(p);
    top_read(p);
    for (record_syn *r = p->out->records; r; r = r->next)
        if (!r->depth)
            record_walk(p, r);
    if (with_kernel)
        p->out->kernel = kernel_read(p);
    else if (p->now.kind != T_END)
        parse_fail_expected(p, "a constant, a record or a helper; a module has no kernel");
    names_keep(p);
}

static void parser_begin(parser *p, arena *a, const char *source, const lang_names *visible) {
    *p = (parser){.out = arena_alloc(a, sizeof(syntax)), .visible = visible};
    lex_begin(&p->lex, a, source, a->escape);
}

const syntax *parse_helpers(arena *a, const char *source) {
    parser p;
    parser_begin(&p, a, source, NULL);
    source_read(&p, source, false);
    return p.out;
}

/* ---- Lists of values ---- */

/* An output's name that no text can contain, and that is not similar to any: "[0]". */
static int value_name(parser *p, int k) {
    char words[32];
    size_t length = (size_t)snprintf(words, sizeof words, "[%d]", k);
    return lex_intern(&p->lex, arena_text(p->lex.a, words, length), length);
}

/* values := { use } expr { "," expr }: the kernel `() -> (..) { .. }` that assigns each to an output. */
static void values_read(parser *p, const char *source) {
    p->out->source = source;
    parse_next(p);
    parse_next(p);
    visible_import(p);
    while (at_word(p, "use", T_NAME))
        use_read(p);
    definition *d = p->out->kernel = definition_new(p);
    syn **end = &d->body;
    d->body_at = d->at;
    d->params = arena_alloc(p->lex.a, sizeof *d->params);
    d->outputs = arena_alloc(p->lex.a, UF_MAX_OPERANDS * sizeof *d->outputs);
    do {
        if (d->noutputs == UF_MAX_OPERANDS)
            lex_fail(&p->lex, p->now.at, "more than %d values", UF_MAX_OPERANDS);
        syn *s = *end = syn_new(p, S_EVALUATE, &p->now), *assign = s->kid[0] = syn_new(p, S_ASSIGN, &p->now);
        assign->kid[0] = syn_new(p, S_NAME, &p->now);
        assign->kid[0]->name = value_name(p, d->noutputs);
        d->outputs[d->noutputs] = (parameter_syn){.name = assign->kid[0]->name, .at = p->now.at};
        d->noutputs++;
        assign->kid[1] = parse_expression(p);
        end = &s->next;
    } while (parse_accept(p, T_COMMA));
    if (p->now.kind != T_END)
        parse_fail_expected(p, "',' or the end of the text");
    d->end = p->now.at;
    names_keep(p);
}

/* ---- Entries ---- */

static void kernel_source_read(parser *p, const char *source) { source_read(p, source, true); }
static void module_source_read(parser *p, const char *source) { source_read(p, source, false); }

/* Calls `read`, whose errors come back here by longjmp. */
static uf_status parse(arena *a, const char *title, const char *source, const lang_names *visible,
                       void (*read)(parser *p, const char *source), const syntax **out) {
    jmp_buf escape, *before = a->escape;
    *out = NULL;
    a->escape = &escape;
    if (setjmp(escape)) {
        a->escape = before;
        return title ? fail_named(uf_last_error()->status, "%s", title) : uf_last_error()->status;
    }
    parser p;
    parser_begin(&p, a, source, visible);
    p.out->title = title;
    read(&p, source);
    *out = p.out;
    a->escape = before;
    return UF_OK;
}

uf_status lang_parse(arena *a, const char *source, const lang_names *names, const syntax **out) {
    return parse(a, NULL, source, names, kernel_source_read, out);
}

uf_status lang_parse_module(arena *a, const char *title, const char *source, const lang_names *names,
                            const syntax **out) {
    return parse(a, title, source, names, module_source_read, out);
}

uf_status lang_parse_values(arena *a, const char *source, const lang_names *names, const syntax **out) {
    return parse(a, NULL, source, names, values_read, out);
}

int lang_inputs(const syntax *s) { return s->kernel->nparams - s->kernel->nindices; }
int lang_indices(const syntax *s) { return s->kernel->nindices; }
int lang_outputs(const syntax *s) { return s->kernel->noutputs ? s->kernel->noutputs : 1; }

kernel_text lang_kernel_text(const syntax *s) {
    return (kernel_text){.head = s->kernel->at, .body = s->kernel->body_at};
}

const char *lang_operand_name(const syntax *s, int k, int *length) {
    const definition *d = s->kernel;
    const name *n = &s->names[k < d->nparams ? d->params[k].name : d->outputs[k - d->nparams].name];
    *length = n->length;
    return n->text;
}

uf_status lang_fail(const syntax *s, uf_status status, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_kernel(status, s->source, s->kernel->at, "%s", message);
}

/* ---- What a module has, for those who look ---- */

const char *lang_record_name(arena *a, const syntax *s, int i, bool *has_parameter) {
    const record_syn *r = s->records;
    while (r && i-- > 0)
        r = r->next;
    *has_parameter = r && r->parameter != NO_NAME;
    return r ? arena_text(a, s->names[r->name].text, (size_t)s->names[r->name].length) : NULL;
}

const char *lang_helper_text(arena *a, const syntax *s, int i) {
    const definition *d = s->helpers;
    while (d && i-- > 0)
        d = d->next;
    if (!d)
        return NULL;
    const char *from = s->source + d->at;
    size_t length = strcspn(from, "{");
    while (length && strchr(" \t\r\n", from[length - 1]))
        length--;
    return arena_text(a, from, length);
}
