/* parse.c - makes the syntax tree of types, expressions and statements. */
#include <assert.h>
#include <stdio.h>

#include "lang/parse.h"

/* ---- Tokens and nodes ---- */

static mark mark_of(const token *t) { return (mark){t->kind, t->line, t->at, t->length}; }

void parse_next(parser *p) {
    memmove(p->past + 1, p->past, (PARSE_PAST - 1) * sizeof *p->past);
    p->past[0] = mark_of(&p->now);
    p->now = p->ahead;
    p->ahead = lex_next(&p->lex);
}

bool parse_accept(parser *p, token_kind kind) {
    if (p->now.kind != kind)
        return false;
    parse_next(p);
    return true;
}

void parse_expect(parser *p, token_kind kind, const char *what) {
    if (p->now.kind != kind)
        parse_fail_expected(p, what);
    parse_next(p);
}

syn *syn_new(parser *p, syn_kind kind, const token *at) {
    if (++p->nodes > LANG_MAX_NODES)
        lex_fail(&p->lex, at->at, "the kernel is too large: more than %d nodes", LANG_MAX_NODES);
    syn *s = arena_alloc(p->lex.a, sizeof *s);
    s->kind = (uint8_t)kind;
    s->op = at->op;
    s->at = at->at;
    s->line = at->line;
    s->name = NO_NAME;
    return s;
}

static void parse_enter(parser *p) {
    if (++p->depth > LANG_MAX_DEPTH)
        lex_fail(&p->lex, p->now.at, "nested too deeply: more than %d levels", LANG_MAX_DEPTH);
}

static void parse_leave(parser *p) {
    assert(p->depth > 0);
    p->depth--;
}

/* ---- Types ---- */

static syn *expression(parser *p);
syn *parse_expression(parser *p) { return expression(p); }

/* words := word { word | "const" }, in any order, as in C */
static dtype type_words(parser *p, bool *is_const) {
    token first = p->now;
    int words = 0;
    bool once = true;
    size_t end = first.at;
    for (; p->now.kind == T_TYPE_WORD || p->now.kind == T_CONST; parse_next(p)) {
        end = p->now.at + p->now.length;
        if (p->now.kind == T_CONST)
            *is_const = true;
        else
            once &= type_words_add(&words, p->now.word);
    }
    dtype type = once ? dtype_of_words(words) : DT_NONE;
    if (type == DT_NONE)
        lex_fail(&p->lex, first.at, "'%.*s' is not a type of kernel C",
                 (int)(end - first.at < 80 ? end - first.at : 80), p->lex.source + first.at);
    return type;
}

const record_syn *record_find(const parser *p, const token *t) {
    return t->kind == T_NAME ? p->lex.names[t->name].record : NULL;
}

static bool is_type_variable(const parser *p, const token *t) {
    for (int i = 0; t->kind == T_NAME && p->reading && i < p->reading->nvariables; i++)
        if (p->reading->variables[i] == t->name)
            return true;
    return false;
}

bool starts_type(const parser *p, const token *t) {
    return t->kind == T_DTYPE || t->kind == T_TYPE_WORD || t->kind == T_TYPEOF || t->kind == T_CONST ||
           record_find(p, t) || is_type_variable(p, t);
}

/* record := name [ "(" type ")" ]. In a list of parameters the type may be one of its type variables. */
static void record_read(parser *p, type_syn *t) {
    token first = p->now;
    t->record = record_find(p, &first);
    parse_next(p);
    if (p->now.kind != T_OPEN)
        return;
    parse_next(p);
    if (t->record->parameter == NO_NAME)
        lex_fail(&p->lex, p->now.at, "'%.*s' has no type parameter", (int)first.length, p->lex.source + first.at);
    if (p->binds_variables && p->now.kind == T_NAME && !record_find(p, &p->now))
        type_variable_add(p, p->now.name);
    parse_enter(p);
    t->argument = parse_type(p, NULL);
    parse_leave(p);
    parse_expect(p, T_CLOSE, "')' after the argument of a record");
}

/* type := dtype | words | "typeof" "(" (type | expr) ")" | record | type variable, with "const" before or after */
const type_syn *parse_type(parser *p, bool *is_const) {
    type_syn *t = arena_alloc(p->lex.a, sizeof *t);
    bool ignored = false;
    is_const = is_const ? is_const : &ignored;
    *t = (type_syn){.type = DT_NONE, .variable = NO_NAME};
    while (parse_accept(p, T_CONST))
        *is_const = true;
    if (p->now.kind == T_DTYPE) {
        t->type = p->now.type;
        parse_next(p);
    } else if (p->now.kind == T_TYPE_WORD) {
        t->type = (uint8_t)type_words(p, is_const);
    } else if (parse_accept(p, T_TYPEOF)) {
        parse_expect(p, T_OPEN, "'(' after typeof");
        parse_enter(p);
        if (starts_type(p, &p->now))
            *t = *parse_type(p, is_const);
        else
            t->of = expression(p);
        parse_leave(p);
        parse_expect(p, T_CLOSE, "')'");
    } else if (record_find(p, &p->now)) {
        record_read(p, t);
    } else if (is_type_variable(p, &p->now)) {
        t->variable = p->now.name;
        parse_next(p);
    } else {
        parse_fail_expected(p, "a type");
    }
    while (parse_accept(p, T_CONST))
        *is_const = true;
    if (p->now.kind == T_OPERATOR && p->now.op == OP_MUL)
        lex_fail(&p->lex, p->now.at, "there are no pointers in kernel C");
    return t;
}

/* ---- Expressions ---- */

/* list := [ item { "," item } ], up to but not including the closing token */
static syn *list_read(parser *p, token_kind close, syn *(*item)(parser *p)) {
    syn *first = NULL, **end = &first;
    if (p->now.kind == close)
        return NULL;
    do {
        *end = item(p);
        end = &(*end)->next;
    } while (parse_accept(p, T_COMMA));
    return first;
}

bool parse_word_is(const parser *p, const token *t, const char *word) {
    return t->length == strlen(word) && memcmp(p->lex.source + t->at, word, t->length) == 0;
}

static const struct {
    const char *word;
    choice_kind kind;
} choice_words[] = {{"integer", CHOICE_INTEGER},
                    {"floating", CHOICE_FLOATING},
                    {"complex", CHOICE_COMPLEX},
                    {"default", CHOICE_DEFAULT}};

/* choice := ("integer" | "floating" | "complex" | "default" | type) ":" expr */
static syn *choice(parser *p) {
    syn *s = syn_new(p, S_CHOICE, &p->now);
    s->choice = CHOICE_TYPE;
    if (p->ahead.kind == T_COLON)
        for (size_t i = 0; i < COUNT(choice_words); i++)
            if (parse_word_is(p, &p->now, choice_words[i].word))
                s->choice = (uint8_t)choice_words[i].kind;
    if (s->choice == CHOICE_TYPE) {
        s->to = parse_type(p, NULL);
    } else {
        parse_next(p);
    }
    parse_expect(p, T_COLON, "':' after what the association is for");
    s->kid[0] = expression(p);
    return s;
}

/* generic := "_Generic" "(" expr { "," choice } ")" */
static syn *generic(parser *p) {
    syn *s = syn_new(p, S_GENERIC, &p->now);
    parse_next(p);
    parse_expect(p, T_OPEN, "'(' after _Generic");
    s->kid[0] = expression(p);
    parse_expect(p, T_COMMA, "',' and the associations of _Generic");
    s->list = list_read(p, T_CLOSE, choice);
    if (!s->list)
        parse_fail_expected(p, "an association of _Generic");
    parse_expect(p, T_CLOSE, "',' or ')'");
    return s;
}

/* Nothing may hide the name of a record or a type variable. */
static void name_check(const parser *p, const token *t) {
    if (t->kind == T_DTYPE || record_find(p, t) || is_type_variable(p, t))
        lex_fail(&p->lex, t->at, "'%.*s' is a type and cannot be the name of a variable", (int)t->length,
                 p->lex.source + t->at);
}

static bool starts_range(const token *first, const token *second) {
    return first->kind == T_NAME && second->kind == T_COLON;
}

/* Fails for a range of a construct whose index has a type before it. Any other mistake is left to the functions that
 * read on. */
static void fail_typed_index(const parser *p, const token *first, const token *second) {
    if (starts_type(p, first) && second->kind == T_NAME)
        lex_fail(&p->lex, first->at, "the index of a range is a name without a type; it is an int64");
}

/* ranges := range { "," range }
 * range := name ":" expr
 * After the ranges of a reduction stands a comma, which is read, and its term. */
static syn *ranges(parser *p, bool reduction) {
    syn *first = NULL, **end = &first;
    for (int count = 0;; count++) {
        const token t = p->now;
        if (count == LANG_MAX_RANGES)
            lex_fail(&p->lex, t.at, "more than %d ranges", LANG_MAX_RANGES);
        for (const syn *other = first; other; other = other->next)
            if (other->name == t.name)
                lex_fail(&p->lex, t.at, "'%.*s' is named twice", (int)t.length, p->lex.source + t.at);
        name_check(p, &t);
        syn *s = *end = syn_new(p, S_RANGE, &t);
        end = &s->next;
        s->name = t.name;
        parse_expect(p, T_NAME, "the index of a range: name : extent");
        parse_expect(p, T_COLON, "':' and the extent of the range");
        s->kid[0] = expression(p);
        if (reduction)
            parse_expect(p, T_COMMA, "',' and the term to combine");
        else if (!parse_accept(p, T_COMMA))
            return first;
        fail_typed_index(p, &p->now, &p->ahead);
        if (reduction && !starts_range(&p->now, &p->ahead))
            return first;
    }
}

static int construct_find(const parser *p, const token *called) {
    int which = 0;
    while (which < REDUCE_COUNT && !parse_word_is(p, called, construct_names[which]))
        which++;
    return which;
}

/* reduction := ("sum" | "prod" | "min" | "max" | "any" | "all") "(" ranges "," expr ")" | "reduce" "(" name "," ranges
 * "," expr ")"; `helper` is that name, or NULL */
static syn *reduction(parser *p, const token *called, syn *helper) {
    int which = construct_find(p, called);
    if (which == REDUCE_HELPER && !helper)
        lex_fail(&p->lex, p->now.at, "reduce combines by a helper, which stands first: reduce(f, i : n, ..)");
    if (which == REDUCE_COUNT && parse_word_is(p, called, "forall"))
        lex_fail(&p->lex, called->at, "forall is a statement and has no value");
    if (which == REDUCE_COUNT)
        lex_fail(&p->lex, called->at, "'%.*s' does not take a range; sum, prod, min, max, any, all and reduce do",
                 (int)called->length, p->lex.source + called->at);
    syn *s = syn_new(p, S_REDUCE, called);
    s->construct = (uint8_t)which;
    s->kid[1] = helper;
    s->list = ranges(p, true);
    s->kid[0] = expression(p);
    parse_expect(p, T_CLOSE, "')'");
    return s;
}

static syn *name_read(parser *p) {
    syn *s = syn_new(p, S_NAME, &p->now);
    s->name = p->now.name;
    parse_next(p);
    return s;
}

/* call := name "(" [ expr { "," expr } ] ")", or a reduction */
static syn *call(parser *p, const token *called) {
    syn *first = NULL;
    parse_next(p);
    if (construct_find(p, called) < REDUCE_COUNT)
        fail_typed_index(p, &p->now, &p->ahead);
    if (construct_find(p, called) == REDUCE_HELPER && p->now.kind == T_NAME && p->ahead.kind == T_COMMA) {
        first = name_read(p);
        parse_next(p);
    }
    if (starts_range(&p->now, &p->ahead))
        return reduction(p, called, first);
    syn *s = syn_new(p, S_CALL, called), *rest = list_read(p, first ? T_END : T_CLOSE, expression);
    s->name = called->name;
    s->list = first ? first : rest;
    if (first)
        first->next = rest;
    parse_expect(p, T_CLOSE, "',' or ')'");
    return s;
}

/* primary := number | name | call | generic | "(" expr ")" */
static syn *primary(parser *p) {
    token t = p->now;
    syn *s;
    switch (t.kind) {
    case T_NUMBER:
        parse_next(p);
        s = syn_new(p, S_NUMBER, &t);
        s->weak = t.weak;
        s->value = t.value;
        s->single = t.single;
        return s;
    case T_NAME:
        if (p->ahead.kind != T_OPEN)
            return name_read(p);
        parse_next(p);
        return call(p, &t);
    case T_GENERIC:
        return generic(p);
    case T_OPEN:
        parse_next(p);
        s = expression(p);
        if (p->now.kind == T_COMMA)
            lex_fail(&p->lex, p->now.at, "there is no comma operator in kernel C, except in the header of a for");
        parse_expect(p, T_CLOSE, "')'");
        return s;
    default:
        parse_fail_expected(p, "an expression");
    }
}

/* A variable, or an element or a field of an lvalue. */
static bool is_lvalue(const syn *s) {
    while (s->kind == S_INDEX || s->kind == S_MEMBER)
        s = s->kid[0];
    return s->kind == S_NAME;
}

static syn *update(parser *p, const token *t, syn *lvalue, bool postfix) {
    if (!is_lvalue(lvalue))
        lex_fail(&p->lex, t->at, "'%s' needs a variable or an element", t->op == OP_ADD ? "++" : "--");
    syn *s = syn_new(p, S_UPDATE, t);
    s->kid[0] = lvalue;
    s->postfix = postfix;
    return s;
}

/* The bracket behind an index or an extent. */
static void index_close(parser *p) {
    if (p->now.kind == T_COMMA)
        lex_fail(&p->lex, p->now.at, "expected ']', got ','; each index stands in brackets of its own: a[i][j]");
    parse_expect(p, T_CLOSE_INDEX, "']'");
}

/* indices := { "[" expr "]" } */
static syn *indices(parser *p, syn *array) {
    syn *s = syn_new(p, S_INDEX, &p->now), **end = &s->list;
    s->kid[0] = array;
    s->at = array->at;
    for (int rank = 0; p->now.kind == T_OPEN_INDEX; rank++) {
        if (rank == LANG_MAX_RANK)
            lex_fail(&p->lex, p->now.at, "more than %d indices", LANG_MAX_RANK);
        parse_next(p);
        *end = expression(p);
        end = &(*end)->next;
        index_close(p);
    }
    return s;
}

static syn *member(parser *p, syn *of) {
    syn *s = syn_new(p, S_MEMBER, &p->now);
    s->kid[0] = of;
    parse_next(p);
    s->name = p->now.name;
    s->at = p->now.at;
    parse_expect(p, T_NAME, "the name of a field");
    return s;
}

/* postfix := primary { indices | "." name } [ "++" | "--" ] */
static syn *postfix_of(parser *p, syn *s) {
    for (int level = 0; p->now.kind == T_OPEN_INDEX || p->now.kind == T_DOT; level++) {
        if (level == LANG_MAX_DEPTH)
            lex_fail(&p->lex, p->now.at, "nested too deeply: more than %d levels", LANG_MAX_DEPTH);
        if (p->now.kind == T_OPEN_INDEX && s->kind != S_NAME && s->kind != S_MEMBER)
            lex_fail(&p->lex, p->now.at, "only the name of an array can be indexed");
        s = p->now.kind == T_DOT ? member(p, s) : indices(p, s);
    }
    if (p->now.kind == T_OPEN)
        lex_fail(&p->lex, p->now.at, "only a name can be called%s",
                 s->kind == S_MEMBER ? "; functions stand alone: sqrt(x), len(a)"
                                     : "; is an operator missing, or a ';'?");
    if (p->now.kind == T_UPDATE) {
        token t = p->now;
        parse_next(p);
        s = update(p, &t, s, true);
        if (p->now.kind == T_UPDATE)
            lex_fail(&p->lex, p->now.at, "'%s' needs a variable or an element", p->now.op == OP_ADD ? "++" : "--");
    }
    return s;
}

static syn *postfix(parser *p) { return postfix_of(p, primary(p)); }

static syn *unary(parser *p);

static syn *initialiser(parser *p);

/* cast := "(" type ")" unary | "(" record ")" braces */
static syn *cast(parser *p) {
    syn *s = syn_new(p, S_CAST, &p->now);
    parse_next(p);
    s->to = parse_type(p, NULL);
    parse_expect(p, T_CLOSE, "')' after the type");
    if (p->now.kind != T_OPEN_BLOCK) {
        s->kid[0] = unary(p);
        return s;
    }
    if (s->to->type != DT_NONE)
        lex_fail(&p->lex, p->now.at, "{ .. } behind a type makes a record, and this is none");
    s->kind = S_LITERAL;
    s->kid[0] = initialiser(p);
    return postfix_of(p, s);
}

static bool prefix_operator(const token *t, op *out) {
    static const op prefixes[][2] = {{OP_SUB, OP_NEG}, {OP_ADD, OP_ADD}, {OP_NOT, OP_NOT}, {OP_LNOT, OP_LNOT}};
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (t->kind == T_OPERATOR && t->op == prefixes[i][0]) {
            *out = prefixes[i][1];
            return true;
        }
    return false;
}

/* unary := ("-" | "+" | "~" | "!" | "++" | "--") unary | cast | postfix */
static syn *unary(parser *p) {
    token t = p->now;
    op prefix = OP_COUNT;
    syn *s;
    sign_check(p);
    if (t.kind == T_OPERATOR && (t.op == OP_AND || t.op == OP_MUL))
        lex_fail(&p->lex, t.at, "there are no pointers in kernel C: '%s' needs a left operand", ops[t.op].spelling);
    bool is_cast = t.kind == T_OPEN && starts_type(p, &p->ahead);
    if (!is_cast && t.kind != T_UPDATE && !prefix_operator(&t, &prefix))
        return postfix(p);
    parse_enter(p);
    if (is_cast) {
        s = cast(p);
    } else if (t.kind == T_UPDATE) {
        parse_next(p);
        s = update(p, &t, unary(p), false);
    } else {
        parse_next(p);
        s = syn_new(p, S_UNARY, &t);
        s->op = (uint8_t)prefix;
        s->kid[0] = unary(p);
    }
    parse_leave(p);
    return s;
}

enum {
    PRECEDENCE_OR = 1,
    PRECEDENCE_AND = 2
};

/* The precedence of a token as a binary operator, 0 if it is none. */
static int precedence(const token *t) {
    switch (t->kind) {
    case T_OR:
        return PRECEDENCE_OR;
    case T_AND:
        return PRECEDENCE_AND;
    case T_OPERATOR:
        return ops[t->op].precedence;
    default:
        return 0;
    }
}

/* binary := unary { operator binary }, the operators of at least this precedence, all associating to the left */
static syn *binary(parser *p, int lowest) {
    syn *left = unary(p);
    for (int level; (level = precedence(&p->now)) >= lowest;) {
        token t = p->now;
        parse_next(p);
        syn *s = syn_new(p, t.kind == T_OR ? S_OR : t.kind == T_AND ? S_AND : S_BINARY, &t);
        s->kid[0] = left;
        s->kid[1] = binary(p, level + 1);
        left = s;
    }
    return left;
}

/* conditional := binary [ "?" expr ":" conditional ] */
static syn *conditional(parser *p) {
    syn *condition = binary(p, PRECEDENCE_OR);
    if (p->now.kind != T_QUESTION)
        return condition;
    syn *s = syn_new(p, S_SELECT, &p->now);
    parse_next(p);
    parse_enter(p);
    s->kid[0] = condition;
    s->kid[1] = expression(p);
    parse_expect(p, T_COLON, "':'");
    s->kid[2] = conditional(p);
    parse_leave(p);
    return s;
}

/* expr := conditional | lvalue ("=" | "+=" ..) expr */
static syn *expression(parser *p) {
    parse_enter(p);
    syn *s = conditional(p);
    token t = p->now;
    if (t.kind == T_ASSIGN || t.kind == T_COMPOUND) {
        if (!is_lvalue(s))
            lex_fail(&p->lex, t.at, "only a variable or an element can be assigned%s",
                     s->kind == S_CALL ? "; an element is written a[i]" : "");
        parse_next(p);
        syn *assignment = syn_new(p, t.kind == T_ASSIGN ? S_ASSIGN : S_COMPOUND, &t);
        assignment->kid[0] = s;
        assignment->kid[1] = expression(p);
        s = assignment;
    }
    parse_leave(p);
    return s;
}

/* ---- Declarations ---- */

/* item := [ "." name "=" ] initialiser */
static syn *item(parser *p) {
    if (p->now.kind != T_DOT)
        return initialiser(p);
    syn *s = syn_new(p, S_FIELD, &p->now);
    parse_next(p);
    s->name = p->now.name;
    parse_expect(p, T_NAME, "the name of a field");
    parse_expect(p, T_ASSIGN, "'=' and the value of the field");
    s->kid[0] = initialiser(p);
    return s;
}

/* initialiser := expr | "{" [ item { "," item } [","] ] "}" */
static syn *initialiser(parser *p) {
    if (p->now.kind != T_OPEN_BLOCK)
        return expression(p);
    syn *s = syn_new(p, S_BRACES, &p->now), **end = &s->list;
    parse_enter(p);
    parse_next(p);
    while (p->now.kind != T_CLOSE_BLOCK) {
        *end = item(p);
        end = &(*end)->next;
        if (!parse_accept(p, T_COMMA))
            break;
    }
    parse_expect(p, T_CLOSE_BLOCK, "',' or '}'");
    parse_leave(p);
    return s;
}

/* extents := { "[" [ expr ] "]" }, only the first may be empty */
static syn *extents(parser *p) {
    syn *first = NULL, **end = &first;
    for (int rank = 0; p->now.kind == T_OPEN_INDEX; rank++) {
        if (rank == LANG_MAX_RANK)
            lex_fail(&p->lex, p->now.at, "an array has at most %d dimensions", LANG_MAX_RANK);
        parse_next(p);
        if (p->now.kind == T_CLOSE_INDEX && rank > 0)
            lex_fail(&p->lex, p->now.at, "only the first extent can be left out");
        *end = p->now.kind == T_CLOSE_INDEX ? syn_new(p, S_EMPTY, &p->now) : expression(p);
        end = &(*end)->next;
        index_close(p);
    }
    return first;
}

/* declarator := name [ extents ] [ "=" initialiser ] */
syn *parse_declarator(parser *p, const type_syn *to, bool is_const) {
    syn *s = syn_new(p, S_DECLARE, &p->now);
    bool is_scalar = !to || to->type != DT_NONE;
    s->name = p->now.name;
    s->to = to;
    s->is_const = is_const;
    name_check(p, &p->now);
    parse_expect(p, T_NAME, "the name of a variable");
    if (p->now.kind == T_OPEN)
        lex_fail(&p->lex, s->at, "functions stand before the kernel, without types: %.*s(x) { .. }",
                 p->lex.names[s->name].length, p->lex.names[s->name].text);
    s->list = extents(p);
    if (s->list && !to && !is_const)
        lex_fail(&p->lex, s->at, "an array needs the type of its elements in place of auto, unless it is const");
    if (parse_accept(p, T_ASSIGN)) {
        s->kid[0] = initialiser(p);
        if (s->list && s->kid[0]->kind != S_BRACES)
            lex_fail(&p->lex, s->kid[0]->at, "an array is initialised with { .. }");
        if (!s->list && s->kid[0]->kind == S_BRACES && is_scalar)
            lex_fail(&p->lex, s->kid[0]->at, "{ .. } initialises arrays and records; this is a scalar");
    } else if (!to) {
        parse_fail_expected(p, is_const ? "'=' and the value of the constant"
                                        : "'=': auto takes its type from an initialiser");
    } else if (s->list && s->list->kind == S_EMPTY) {
        parse_fail_expected(p, "'=': an array without extent takes it from an initialiser");
    }
    return s;
}

static bool starts_declaration(const parser *p, const token *t) { return t->kind == T_AUTO || starts_type(p, t); }

/* unpack := "auto" "(" name { "," name } ")" "=" expr, behind "auto" */
static syn *unpack(parser *p, bool is_const) {
    syn *s = syn_new(p, S_UNPACK, &p->now), **end = &s->list;
    s->is_const = is_const;
    parse_next(p);
    do {
        name_check(p, &p->now);
        for (const syn *other = s->list; other; other = other->next)
            if (other->name == p->now.name && p->now.kind == T_NAME)
                lex_fail(&p->lex, p->now.at, "'%.*s' is named twice", (int)p->now.length, p->lex.source + p->now.at);
        *end = syn_new(p, S_NAME, &p->now);
        (*end)->name = p->now.name;
        end = &(*end)->next;
        parse_expect(p, T_NAME, "the name of a variable");
    } while (parse_accept(p, T_COMMA));
    parse_expect(p, T_CLOSE, "',' or ')'");
    parse_expect(p, T_ASSIGN, "'=' and the call of a helper with several results");
    s->kid[0] = expression(p);
    if (s->kid[0]->kind != S_CALL)
        lex_fail(&p->lex, s->kid[0]->at, "several names take the results of a call of a helper");
    return s;
}

bool starts_type_behind_const(const parser *p) {
    return p->ahead.kind != T_NAME || record_find(p, &p->ahead) || is_type_variable(p, &p->ahead);
}

/* declaration := ("auto" | "const" | type) declarator { "," declarator } | unpack */
static syn *declaration(parser *p) {
    syn *first = NULL, **end = &first;
    const type_syn *to = NULL;
    bool is_const = false;
    if (p->now.kind == T_CONST && p->ahead.kind == T_AUTO) {
        is_const = true;
        parse_next(p);
    }
    if (parse_accept(p, T_AUTO)) {
        is_const |= parse_accept(p, T_CONST);
        if (p->now.kind == T_OPEN)
            return unpack(p, is_const);
    } else if (p->now.kind == T_CONST && !starts_type_behind_const(p)) {
        is_const = true;
        parse_next(p);
    } else {
        to = parse_type(p, &is_const);
    }
    do {
        *end = parse_declarator(p, to, is_const);
        end = &(*end)->next;
    } while (parse_accept(p, T_COMMA));
    return first;
}

/* ---- Statements ---- */

static syn *statement(parser *p);

_Noreturn static void fail_open(const parser *p, size_t open) {
    int line, column;
    source_position(p->lex.source, open, &line, &column);
    lex_fail(&p->lex, p->now.at, "expected '}', got the end of the text: the '{' at %d:%d has no end", line, column);
}

/* block := "{" { statement } "}"; `labels`: the block of a switch, with "case" expr ":" and "default" ":" */
syn *parse_block(parser *p, bool labels, size_t *close) {
    syn *first = NULL, **end = &first;
    const size_t open = p->now.at;
    parse_expect(p, T_OPEN_BLOCK, "'{'");
    p->advice = NULL;
    while (p->now.kind != T_CLOSE_BLOCK) {
        if (p->now.kind == T_END)
            fail_open(p, open);
        if (labels && (p->now.kind == T_CASE || p->now.kind == T_DEFAULT)) {
            *end = syn_new(p, S_CASE, &p->now);
            bool is_case = p->now.kind == T_CASE;
            parse_next(p);
            if (is_case)
                (*end)->kid[0] = conditional(p);
            parse_expect(p, T_COLON, "':'");
        } else {
            *end = statement(p);
        }
        while (*end)
            end = &(*end)->next;
    }
    if (close)
        *close = p->now.at;
    parse_next(p);
    return first;
}

/* condition := "(" expr ")", after if, while and switch */
static syn *condition(parser *p, const char *after) {
    parse_expect(p, T_OPEN, after);
    syn *s = expression(p);
    parse_expect(p, T_CLOSE, "')'");
    return s;
}

/* body := statement, but not a declaration, which nothing could use */
static syn *body(parser *p) {
    if (starts_declaration(p, &p->now))
        lex_fail(&p->lex, p->now.at, "a declaration must stand in a block: { .. }");
    return statement(p);
}

/* if := "if" "(" expr ")" body [ "else" body ]; a chain of else if is read in a loop */
static syn *if_statement(parser *p) {
    syn *first = NULL, **end = &first;
    for (;;) {
        syn *s = *end = syn_new(p, S_IF, &p->now);
        parse_next(p);
        s->kid[0] = condition(p, "'(' after if");
        s->body = body(p);
        if (!parse_accept(p, T_ELSE))
            return first;
        end = &s->other;
        if (p->now.kind != T_IF) {
            s->other = body(p);
            return first;
        }
    }
}

/* expressions := expr { "," expr } */
static syn *expressions(parser *p) {
    syn *first = NULL, **end = &first;
    do {
        syn *s = *end = syn_new(p, S_EVALUATE, &p->now);
        s->kid[0] = expression(p);
        end = &s->next;
    } while (parse_accept(p, T_COMMA));
    return first;
}

/* for := "for" "(" [ declaration | expressions ] ";" [ expr ] ";" [ expressions ] ")" body */
static syn *for_statement(parser *p) {
    syn *s = syn_new(p, S_FOR, &p->now);
    parse_next(p);
    parse_expect(p, T_OPEN, "'(' after for, as in for (int i = 0; i < n; i++)");
    if (starts_declaration(p, &p->now))
        s->list = declaration(p);
    else if (p->now.kind != T_SEMICOLON)
        s->list = expressions(p);
    parse_expect(p, T_SEMICOLON, "';' in the header of the for");
    if (p->now.kind != T_SEMICOLON)
        s->kid[0] = expression(p);
    parse_expect(p, T_SEMICOLON, "';' in the header of the for");
    if (p->now.kind != T_CLOSE)
        s->kid[1] = expressions(p);
    parse_expect(p, T_CLOSE, "')'");
    s->body = body(p);
    return s;
}

/* while := "while" "(" expr ")" body
 * do := "do" body "while" "(" expr ")" ";" */
static syn *while_statement(parser *p) {
    bool is_do = p->now.kind == T_DO;
    syn *s = syn_new(p, is_do ? S_DO : S_WHILE, &p->now);
    parse_next(p);
    if (is_do) {
        s->body = body(p);
        parse_expect(p, T_WHILE, "'while' after the body of do");
    }
    s->kid[0] = condition(p, "'(' after while");
    if (is_do)
        parse_expect_semicolon(p);
    else
        s->body = body(p);
    return s;
}

/* switch := "switch" "(" expr ")" block */
static syn *switch_statement(parser *p) {
    syn *s = syn_new(p, S_SWITCH, &p->now);
    parse_next(p);
    s->kid[0] = condition(p, "'(' after switch");
    s->list = parse_block(p, true, NULL);
    return s;
}

/* jump := ("break" | "continue" | "return" [ expr ]) ";" */
static syn *jump(parser *p, syn_kind kind) {
    syn *s = syn_new(p, kind, &p->now);
    parse_next(p);
    if (kind == S_RETURN && p->now.kind != T_SEMICOLON)
        s->kid[0] = expression(p);
    parse_expect_semicolon(p);
    return s;
}

/* simple := declaration ";" | [ expr ] ";" */
static syn *simple_statement(parser *p) {
    syn *s;
    if (starts_declaration(p, &p->now)) {
        s = declaration(p);
    } else {
        s = syn_new(p, S_EVALUATE, &p->now);
        if (p->now.kind != T_SEMICOLON)
            s->kid[0] = expression(p);
    }
    parse_expect_semicolon(p);
    return s;
}

static syn *block_statement(parser *p) {
    syn *s = syn_new(p, S_BLOCK, &p->now);
    s->list = parse_block(p, false, NULL);
    return s;
}

/* "forall" "(" name ":" begins a forall; elsewhere that word is a name like any other. */
static bool starts_forall(parser *p) {
    if (p->now.kind != T_NAME || p->ahead.kind != T_OPEN || !parse_word_is(p, &p->now, "forall"))
        return false;
    size_t at = p->lex.at;
    int line = p->lex.line;
    token first = lex_next(&p->lex), second = lex_next(&p->lex);
    p->lex.at = at;
    p->lex.line = line;
    fail_typed_index(p, &first, &second);
    return starts_range(&first, &second);
}

/* forall := "forall" "(" ranges ")" body */
static syn *forall_statement(parser *p) {
    syn *s = syn_new(p, S_FORALL, &p->now);
    p->statement.kind = T_FOR; /* here the word is a keyword */
    parse_next(p);
    parse_next(p);
    s->list = ranges(p, false);
    parse_expect(p, T_CLOSE, "',' or ')'");
    s->body = body(p);
    return s;
}

/* A case stands directly in the block of its switch, which is checked here, where nesting is known. */
static syn *statement_inside(parser *p) {
    if (starts_forall(p))
        return forall_statement(p);
    switch (p->now.kind) {
    case T_OPEN_BLOCK:
        return block_statement(p);
    case T_IF:
        return if_statement(p);
    case T_FOR:
        return for_statement(p);
    case T_WHILE:
    case T_DO:
        return while_statement(p);
    case T_SWITCH:
        return switch_statement(p);
    case T_BREAK:
        return jump(p, S_BREAK);
    case T_CONTINUE:
        return jump(p, S_CONTINUE);
    case T_RETURN:
        return jump(p, S_RETURN);
    case T_CASE:
    case T_DEFAULT:
        lex_fail(&p->lex, p->now.at, "'%s' must stand directly in the block of a switch",
                 p->now.kind == T_CASE ? "case" : "default");
    case T_ELSE:
        lex_fail(&p->lex, p->now.at, "'else' without 'if'");
    default:
        return simple_statement(p);
    }
}

/* statement := block | if | for | while | do | switch | jump | simple. A declaration of several variables is several
 * statements, linked through next. */
static syn *statement(parser *p) {
    mark outer = p->statement, behind = p->behind;
    parse_enter(p);
    p->statement = mark_of(&p->now);
    p->behind = mark_of(&p->ahead);
    syn *s = statement_inside(p);
    p->statement = outer;
    p->behind = behind;
    parse_leave(p);
    return s;
}
