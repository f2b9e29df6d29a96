/* parse.c - makes the syntax tree from tokens, by recursive descent, with precedence climbing over the table of
 * operators. The grammar rule that a function reads stands above it. Errors, running out of memory included, leave by
 * longjmp to a frame that owns nothing but the arena. Nodes, nesting and lists have limits, so that the time is linear
 * in the length of the text. */
#include <assert.h>
#include <stdio.h>

#include "lang/syntax.h"

typedef struct parser {
    lexer lex;
    token now, ahead;
    int nodes, depth;
    syntax *out;
} parser;

/* ---- Tokens and nodes ---- */

static void next(parser *p) {
    p->now = p->ahead;
    p->ahead = lex_next(&p->lex);
}

static bool accept(parser *p, token_kind kind) {
    if (p->now.kind != kind)
        return false;
    next(p);
    return true;
}

/* The current token as errors name it. */
static const char *got(const parser *p, char *buffer, size_t size) {
    const token *t = &p->now;
    if (t->kind == T_END)
        return "the end of the text";
    snprintf(buffer, size, "'%.*s'%s", (int)(t->length < 40 ? t->length : 40), p->lex.source + t->at,
             t->length > 40 ? ".." : "");
    return buffer;
}

_Noreturn static void fail_expected(const parser *p, const char *what) {
    char buffer[64];
    if (p->now.kind == T_FOREIGN)
        lex_fail(&p->lex, p->now.at, "%s is not part of kernel C", got(p, buffer, sizeof buffer));
    lex_fail(&p->lex, p->now.at, "expected %s, got %s", what, got(p, buffer, sizeof buffer));
}

static void expect(parser *p, token_kind kind, const char *what) {
    if (p->now.kind != kind)
        fail_expected(p, what);
    next(p);
}

static syn *syn_new(parser *p, syn_kind kind, const token *at) {
    if (++p->nodes > LANG_MAX_NODES)
        lex_fail(&p->lex, at->at, "the kernel is too large: more than %d nodes", LANG_MAX_NODES);
    syn *s = arena_alloc(p->lex.a, sizeof *s);
    s->kind = (uint8_t)kind;
    s->op = at->op;
    s->at = at->at;
    s->line = at->line;
    s->type = DT_NONE;
    s->name = NO_NAME;
    return s;
}

static void enter(parser *p) {
    if (++p->depth > LANG_MAX_DEPTH)
        lex_fail(&p->lex, p->now.at, "nested too deeply: more than %d levels", LANG_MAX_DEPTH);
}

static void leave(parser *p) {
    assert(p->depth > 0);
    p->depth--;
}

/* ---- Types ---- */

/* A type as it is written: a dtype; DT_NONE with `of`: typeof(of); DT_NONE without: auto. */
typedef struct type_name {
    uint8_t type;
    bool is_const;
    const syn *of;
} type_name;

static syn *expression(parser *p);

static const struct {
    int words;
    dtype type;
} word_types[] = {
    {WORD_BOOL, DT_BOOL},
    {WORD_CHAR, DT_INT8},
    {WORD_SIGNED | WORD_CHAR, DT_INT8},
    {WORD_UNSIGNED | WORD_CHAR, DT_UINT8},
    {WORD_SHORT, DT_INT16},
    {WORD_UNSIGNED | WORD_SHORT, DT_UINT16},
    {WORD_INT, DT_INT32},
    {WORD_SIGNED, DT_INT32},
    {WORD_UNSIGNED, DT_UINT32},
    {WORD_LONG, DT_INT64},
    {WORD_UNSIGNED | WORD_LONG, DT_UINT64},
    {WORD_LONG | WORD_LONG_LONG, DT_INT64},
    {WORD_UNSIGNED | WORD_LONG | WORD_LONG_LONG, DT_UINT64},
    {WORD_FLOAT, DT_FLOAT32},
    {WORD_DOUBLE, DT_FLOAT64},
    {WORD_FLOAT | WORD_COMPLEX, DT_COMPLEX64},
    {WORD_DOUBLE | WORD_COMPLEX, DT_COMPLEX128},
};

/* Beside another word for an integer type, `int` and `signed` make no difference. */
static dtype type_of_words(int words) {
    if (words & (WORD_SHORT | WORD_LONG | WORD_UNSIGNED) && !(words & WORD_CHAR))
        words &= ~WORD_INT;
    if (words & (WORD_SHORT | WORD_LONG | WORD_INT) && !(words & WORD_UNSIGNED))
        words &= ~WORD_SIGNED;
    for (size_t i = 0; i < COUNT(word_types); i++)
        if (word_types[i].words == words)
            return word_types[i].type;
    return DT_NONE;
}

/* words := word { word | "const" }, in any order, as in C */
static dtype type_words(parser *p, bool *is_const) {
    token first = p->now;
    int words = 0;
    bool twice = false;
    size_t end = first.at;
    for (; p->now.kind == T_TYPE_WORD || p->now.kind == T_CONST; next(p)) {
        end = p->now.at + p->now.length;
        int word = p->now.word;
        if (p->now.kind == T_CONST)
            *is_const = true;
        else if (word == WORD_LONG && (words & WORD_LONG) && !(words & WORD_LONG_LONG))
            words |= WORD_LONG_LONG;
        else if (words & word)
            twice = true;
        words |= word;
    }
    dtype type = twice ? DT_NONE : type_of_words(words);
    if (type == DT_NONE)
        lex_fail(&p->lex, first.at, "'%.*s' is not a type of kernel C",
                 (int)(end - first.at < 80 ? end - first.at : 80), p->lex.source + first.at);
    return type;
}

static bool starts_type(const token *t) {
    return t->kind == T_DTYPE || t->kind == T_TYPE_WORD || t->kind == T_TYPEOF || t->kind == T_CONST;
}

/* type := dtype | words | "typeof" "(" (type | expr) ")", with "const" before or after */
static type_name type_read(parser *p) {
    type_name t = {.type = DT_NONE};
    while (accept(p, T_CONST))
        t.is_const = true;
    if (p->now.kind == T_DTYPE) {
        t.type = p->now.type;
        next(p);
    } else if (p->now.kind == T_TYPE_WORD) {
        t.type = (uint8_t)type_words(p, &t.is_const);
    } else if (accept(p, T_TYPEOF)) {
        expect(p, T_OPEN, "'(' after typeof");
        enter(p);
        if (starts_type(&p->now))
            t = type_read(p);
        else
            t.of = expression(p);
        leave(p);
        expect(p, T_CLOSE, "')'");
    } else {
        fail_expected(p, "a type");
    }
    while (accept(p, T_CONST))
        t.is_const = true;
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
    } while (accept(p, T_COMMA));
    return first;
}

static bool word_is(const parser *p, const token *t, const char *word) {
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
            if (word_is(p, &p->now, choice_words[i].word))
                s->choice = (uint8_t)choice_words[i].kind;
    if (s->choice == CHOICE_TYPE) {
        type_name t = type_read(p);
        s->type = t.type;
        s->of = t.of;
    } else {
        next(p);
    }
    expect(p, T_COLON, "':' after what the association is for");
    s->kid[0] = expression(p);
    return s;
}

/* generic := "_Generic" "(" expr { "," choice } ")" */
static syn *generic(parser *p) {
    syn *s = syn_new(p, S_GENERIC, &p->now);
    next(p);
    expect(p, T_OPEN, "'(' after _Generic");
    s->kid[0] = expression(p);
    expect(p, T_COMMA, "',' and the associations of _Generic");
    s->list = list_read(p, T_CLOSE, choice);
    if (!s->list)
        fail_expected(p, "an association of _Generic");
    expect(p, T_CLOSE, "',' or ')'");
    return s;
}

static bool starts_range(const token *first, const token *second) {
    return first->kind == T_NAME && second->kind == T_COLON;
}

/* Fails for a range of a construct whose index has a type before it. Any other mistake is left to the functions that
 * read on. */
static void fail_typed_index(const parser *p, const token *first, const token *second) {
    if (starts_type(first) && second->kind == T_NAME)
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
        syn *s = *end = syn_new(p, S_RANGE, &t);
        end = &s->next;
        s->name = t.name;
        expect(p, T_NAME, "the index of a range: name : extent");
        expect(p, T_COLON, "':' and the extent of the range");
        s->kid[0] = expression(p);
        if (reduction)
            expect(p, T_COMMA, "',' and the term to combine");
        else if (!accept(p, T_COMMA))
            return first;
        fail_typed_index(p, &p->now, &p->ahead);
        if (reduction && !starts_range(&p->now, &p->ahead))
            return first;
    }
}

static int construct_find(const parser *p, const token *called) {
    int which = 0;
    while (which < REDUCE_COUNT && !word_is(p, called, construct_names[which]))
        which++;
    return which;
}

/* reduction := ("sum" | "prod" | "min" | "max" | "any" | "all") "(" ranges "," expr ")" | "reduce" "(" name "," ranges
 * "," expr ")"; `helper` is that name, or NULL */
static syn *reduction(parser *p, const token *called, syn *helper) {
    int which = construct_find(p, called);
    if (which == REDUCE_HELPER && !helper)
        lex_fail(&p->lex, p->now.at, "reduce combines by a helper, which stands first: reduce(f, i : n, ..)");
    if (which == REDUCE_COUNT && word_is(p, called, "forall"))
        lex_fail(&p->lex, called->at, "forall is a statement and has no value");
    if (which == REDUCE_COUNT)
        lex_fail(&p->lex, called->at, "'%.*s' does not take a range; sum, prod, min, max, any, all and reduce do",
                 (int)called->length, p->lex.source + called->at);
    syn *s = syn_new(p, S_REDUCE, called);
    s->construct = (uint8_t)which;
    s->kid[1] = helper;
    s->list = ranges(p, true);
    s->kid[0] = expression(p);
    expect(p, T_CLOSE, "')'");
    return s;
}

static syn *name_read(parser *p) {
    syn *s = syn_new(p, S_NAME, &p->now);
    s->name = p->now.name;
    next(p);
    return s;
}

/* call := name "(" [ expr { "," expr } ] ")", or a reduction */
static syn *call(parser *p, const token *called) {
    syn *first = NULL;
    next(p);
    if (construct_find(p, called) < REDUCE_COUNT)
        fail_typed_index(p, &p->now, &p->ahead);
    if (construct_find(p, called) == REDUCE_HELPER && p->now.kind == T_NAME && p->ahead.kind == T_COMMA) {
        first = name_read(p);
        next(p);
    }
    if (starts_range(&p->now, &p->ahead))
        return reduction(p, called, first);
    syn *s = syn_new(p, S_CALL, called), *rest = list_read(p, first ? T_END : T_CLOSE, expression);
    s->name = called->name;
    s->list = first ? first : rest;
    if (first)
        first->next = rest;
    expect(p, T_CLOSE, "',' or ')'");
    return s;
}

/* primary := number | name | call | generic | "(" expr ")" */
static syn *primary(parser *p) {
    token t = p->now;
    syn *s;
    switch (t.kind) {
    case T_NUMBER:
        next(p);
        s = syn_new(p, S_NUMBER, &t);
        s->type = t.type;
        s->weak = t.weak;
        s->value = t.value;
        s->single = t.single;
        return s;
    case T_NAME:
        if (p->ahead.kind != T_OPEN)
            return name_read(p);
        next(p);
        return call(p, &t);
    case T_GENERIC:
        return generic(p);
    case T_OPEN:
        next(p);
        s = expression(p);
        if (p->now.kind == T_COMMA)
            lex_fail(&p->lex, p->now.at, "there is no comma operator in kernel C, except in the header of a for");
        expect(p, T_CLOSE, "')'");
        return s;
    default:
        fail_expected(p, "an expression");
    }
}

static bool is_lvalue(const syn *s) { return s->kind == S_NAME || s->kind == S_INDEX; }

static syn *update(parser *p, const token *t, syn *lvalue, bool postfix) {
    if (!is_lvalue(lvalue))
        lex_fail(&p->lex, t->at, "'%s' needs a variable or an element", t->op == OP_ADD ? "++" : "--");
    syn *s = syn_new(p, S_UPDATE, t);
    s->kid[0] = lvalue;
    s->postfix = postfix;
    return s;
}

/* indices := { "[" expr "]" } */
static syn *indices(parser *p, syn *array) {
    syn *s = syn_new(p, S_INDEX, &p->now), **end = &s->list;
    s->kid[0] = array;
    s->at = array->at;
    for (int rank = 0; p->now.kind == T_OPEN_INDEX; rank++) {
        if (rank == LANG_MAX_RANK)
            lex_fail(&p->lex, p->now.at, "more than %d indices", LANG_MAX_RANK);
        next(p);
        *end = expression(p);
        end = &(*end)->next;
        expect(p, T_CLOSE_INDEX, "']'");
    }
    return s;
}

/* postfix := primary [ indices ] [ "++" | "--" ] */
static syn *postfix(parser *p) {
    syn *s = primary(p);
    if (p->now.kind == T_OPEN_INDEX) {
        if (s->kind != S_NAME)
            lex_fail(&p->lex, p->now.at, "only the name of an array can be indexed");
        s = indices(p, s);
    }
    if (p->now.kind == T_OPEN)
        lex_fail(&p->lex, p->now.at, "only a name can be called");
    if (p->now.kind == T_UPDATE) {
        token t = p->now;
        next(p);
        s = update(p, &t, s, true);
        if (p->now.kind == T_UPDATE)
            lex_fail(&p->lex, p->now.at, "'%s' needs a variable or an element", p->now.op == OP_ADD ? "++" : "--");
    }
    return s;
}

static syn *unary(parser *p);

/* cast := "(" type ")" unary */
static syn *cast(parser *p) {
    syn *s = syn_new(p, S_CAST, &p->now);
    next(p);
    type_name t = type_read(p);
    s->type = t.type;
    s->of = t.of;
    expect(p, T_CLOSE, "')' after the type");
    if (p->now.kind == T_OPEN_BLOCK)
        lex_fail(&p->lex, p->now.at, "there are no compound literals in kernel C");
    s->kid[0] = unary(p);
    return s;
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
    if (t.kind == T_OPERATOR && (t.op == OP_AND || t.op == OP_MUL))
        lex_fail(&p->lex, t.at, "there are no pointers in kernel C: '%s' needs a left operand", ops[t.op].spelling);
    bool is_cast = t.kind == T_OPEN && starts_type(&p->ahead);
    if (!is_cast && t.kind != T_UPDATE && !prefix_operator(&t, &prefix))
        return postfix(p);
    enter(p);
    if (is_cast) {
        s = cast(p);
    } else if (t.kind == T_UPDATE) {
        next(p);
        s = update(p, &t, unary(p), false);
    } else {
        next(p);
        s = syn_new(p, S_UNARY, &t);
        s->op = (uint8_t)prefix;
        s->kid[0] = unary(p);
    }
    leave(p);
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
        next(p);
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
    next(p);
    enter(p);
    s->kid[0] = condition;
    s->kid[1] = expression(p);
    expect(p, T_COLON, "':'");
    s->kid[2] = conditional(p);
    leave(p);
    return s;
}

/* expr := conditional | lvalue ("=" | "+=" ..) expr */
static syn *expression(parser *p) {
    enter(p);
    syn *s = conditional(p);
    token t = p->now;
    if (t.kind == T_ASSIGN || t.kind == T_COMPOUND) {
        if (!is_lvalue(s))
            lex_fail(&p->lex, t.at, "only a variable or an element can be assigned");
        next(p);
        syn *assignment = syn_new(p, t.kind == T_ASSIGN ? S_ASSIGN : S_COMPOUND, &t);
        assignment->kid[0] = s;
        assignment->kid[1] = expression(p);
        s = assignment;
    }
    leave(p);
    return s;
}

/* ---- Declarations ---- */

/* initialiser := expr | "{" [ initialiser { "," initialiser } [","] ] "}" */
static syn *initialiser(parser *p) {
    if (p->now.kind != T_OPEN_BLOCK)
        return expression(p);
    syn *s = syn_new(p, S_BRACES, &p->now), **end = &s->list;
    enter(p);
    next(p);
    while (p->now.kind != T_CLOSE_BLOCK) {
        *end = initialiser(p);
        end = &(*end)->next;
        if (!accept(p, T_COMMA))
            break;
    }
    expect(p, T_CLOSE_BLOCK, "',' or '}'");
    leave(p);
    return s;
}

/* extents := { "[" [ expr ] "]" }, only the first may be empty */
static syn *extents(parser *p) {
    syn *first = NULL, **end = &first;
    for (int rank = 0; p->now.kind == T_OPEN_INDEX; rank++) {
        if (rank == LANG_MAX_RANK)
            lex_fail(&p->lex, p->now.at, "an array has at most %d dimensions", LANG_MAX_RANK);
        next(p);
        if (p->now.kind == T_CLOSE_INDEX && rank > 0)
            lex_fail(&p->lex, p->now.at, "only the first extent can be left out");
        *end = p->now.kind == T_CLOSE_INDEX ? syn_new(p, S_EMPTY, &p->now) : expression(p);
        end = &(*end)->next;
        expect(p, T_CLOSE_INDEX, "']'");
    }
    return first;
}

/* declarator := name [ extents ] [ "=" initialiser ] */
static syn *declarator(parser *p, const type_name *t) {
    syn *s = syn_new(p, S_DECLARE, &p->now);
    bool is_auto = t->type == DT_NONE && !t->of;
    s->name = p->now.name;
    s->type = t->type;
    s->of = t->of;
    s->is_const = t->is_const;
    if (p->now.kind == T_DTYPE)
        lex_fail(&p->lex, p->now.at, "'%.*s' is a type and cannot be the name of a variable", (int)p->now.length,
                 p->lex.source + p->now.at);
    expect(p, T_NAME, "the name of a variable");
    if (p->now.kind == T_OPEN)
        lex_fail(&p->lex, s->at, "functions stand before the kernel, without types: %.*s(x) { .. }",
                 p->lex.names[s->name].length, p->lex.names[s->name].text);
    s->list = extents(p);
    if (s->list && is_auto)
        lex_fail(&p->lex, s->at, "an array needs the type of its elements in place of auto");
    if (accept(p, T_ASSIGN)) {
        s->kid[0] = initialiser(p);
        if (s->list && s->kid[0]->kind != S_BRACES)
            lex_fail(&p->lex, s->kid[0]->at, "an array is initialised with { .. }");
        if (!s->list && s->kid[0]->kind == S_BRACES)
            lex_fail(&p->lex, s->kid[0]->at, "{ .. } initialises arrays; this is a scalar");
    } else if (is_auto) {
        fail_expected(p, "'=': auto takes its type from an initialiser");
    } else if (s->list && s->list->kind == S_EMPTY) {
        fail_expected(p, "'=': an array without extent takes it from an initialiser");
    }
    return s;
}

static bool starts_declaration(const token *t) { return t->kind == T_AUTO || starts_type(t); }

/* declaration := ("auto" | type) declarator { "," declarator } */
static syn *declaration(parser *p) {
    syn *first = NULL, **end = &first;
    type_name t = {.type = DT_NONE};
    if (p->now.kind == T_CONST && p->ahead.kind == T_AUTO) {
        t.is_const = true;
        next(p);
    }
    if (accept(p, T_AUTO))
        t.is_const |= accept(p, T_CONST);
    else
        t = type_read(p);
    do {
        *end = declarator(p, &t);
        end = &(*end)->next;
    } while (accept(p, T_COMMA));
    return first;
}

/* ---- Statements ---- */

static syn *statement(parser *p);

/* block := "{" { statement } "}"; `labels`: the block of a switch, with "case" expr ":" and "default" ":" */
static syn *block(parser *p, bool labels, size_t *close) {
    syn *first = NULL, **end = &first;
    expect(p, T_OPEN_BLOCK, "'{'");
    while (p->now.kind != T_CLOSE_BLOCK) {
        if (labels && (p->now.kind == T_CASE || p->now.kind == T_DEFAULT)) {
            *end = syn_new(p, S_CASE, &p->now);
            bool is_case = p->now.kind == T_CASE;
            next(p);
            if (is_case)
                (*end)->kid[0] = conditional(p);
            expect(p, T_COLON, "':'");
        } else {
            *end = statement(p);
        }
        while (*end)
            end = &(*end)->next;
    }
    if (close)
        *close = p->now.at;
    next(p);
    return first;
}

/* condition := "(" expr ")", after if, while and switch */
static syn *condition(parser *p, const char *after) {
    expect(p, T_OPEN, after);
    syn *s = expression(p);
    expect(p, T_CLOSE, "')'");
    return s;
}

/* body := statement, but not a declaration, which nothing could use */
static syn *body(parser *p) {
    if (starts_declaration(&p->now))
        lex_fail(&p->lex, p->now.at, "a declaration must stand in a block: { .. }");
    return statement(p);
}

/* if := "if" "(" expr ")" body [ "else" body ]; a chain of else if is read in a loop */
static syn *if_statement(parser *p) {
    syn *first = NULL, **end = &first;
    for (;;) {
        syn *s = *end = syn_new(p, S_IF, &p->now);
        next(p);
        s->kid[0] = condition(p, "'(' after if");
        s->body = body(p);
        if (!accept(p, T_ELSE))
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
    } while (accept(p, T_COMMA));
    return first;
}

/* for := "for" "(" [ declaration | expressions ] ";" [ expr ] ";" [ expressions ] ")" body */
static syn *for_statement(parser *p) {
    syn *s = syn_new(p, S_FOR, &p->now);
    next(p);
    expect(p, T_OPEN, "'(' after for");
    if (starts_declaration(&p->now))
        s->list = declaration(p);
    else if (p->now.kind != T_SEMICOLON)
        s->list = expressions(p);
    expect(p, T_SEMICOLON, "';'");
    if (p->now.kind != T_SEMICOLON)
        s->kid[0] = expression(p);
    expect(p, T_SEMICOLON, "';'");
    if (p->now.kind != T_CLOSE)
        s->kid[1] = expressions(p);
    expect(p, T_CLOSE, "')'");
    s->body = body(p);
    return s;
}

/* while := "while" "(" expr ")" body
 * do := "do" body "while" "(" expr ")" ";" */
static syn *while_statement(parser *p) {
    bool is_do = p->now.kind == T_DO;
    syn *s = syn_new(p, is_do ? S_DO : S_WHILE, &p->now);
    next(p);
    if (is_do) {
        s->body = body(p);
        expect(p, T_WHILE, "'while' after the body of do");
    }
    s->kid[0] = condition(p, "'(' after while");
    if (is_do)
        expect(p, T_SEMICOLON, "';'");
    else
        s->body = body(p);
    return s;
}

/* switch := "switch" "(" expr ")" block */
static syn *switch_statement(parser *p) {
    syn *s = syn_new(p, S_SWITCH, &p->now);
    next(p);
    s->kid[0] = condition(p, "'(' after switch");
    s->list = block(p, true, NULL);
    return s;
}

/* jump := ("break" | "continue" | "return" [ expr ]) ";" */
static syn *jump(parser *p, syn_kind kind) {
    syn *s = syn_new(p, kind, &p->now);
    next(p);
    if (kind == S_RETURN && p->now.kind != T_SEMICOLON)
        s->kid[0] = expression(p);
    expect(p, T_SEMICOLON, "';'");
    return s;
}

/* simple := declaration ";" | [ expr ] ";" */
static syn *simple_statement(parser *p) {
    syn *s;
    if (starts_declaration(&p->now)) {
        s = declaration(p);
    } else {
        s = syn_new(p, S_EVALUATE, &p->now);
        if (p->now.kind != T_SEMICOLON)
            s->kid[0] = expression(p);
    }
    expect(p, T_SEMICOLON, "';'");
    return s;
}

static syn *block_statement(parser *p) {
    syn *s = syn_new(p, S_BLOCK, &p->now);
    s->list = block(p, false, NULL);
    return s;
}

/* "forall" "(" name ":" begins a forall; elsewhere that word is a name like any other. */
static bool starts_forall(parser *p) {
    if (p->now.kind != T_NAME || p->ahead.kind != T_OPEN || !word_is(p, &p->now, "forall"))
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
    next(p);
    next(p);
    s->list = ranges(p, false);
    expect(p, T_CLOSE, "',' or ')'");
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
    enter(p);
    syn *s = statement_inside(p);
    leave(p);
    return s;
}

/* ---- Functions ---- */

/* Reads a name, which `what` describes and which must differ from the first n of `taken`. */
static int new_name(parser *p, const char *what, const int *taken, int n) {
    const token t = p->now;
    if (starts_type(&t) || t.kind == T_AUTO)
        lex_fail(&p->lex, t.at, "parameters are names without types, and '%.*s' is a type", (int)t.length,
                 p->lex.source + t.at);
    expect(p, T_NAME, what);
    for (int i = 0; i < n; i++)
        if (t.name == taken[i])
            lex_fail(&p->lex, t.at, "'%.*s' is named twice", (int)t.length, p->lex.source + t.at);
    return t.name;
}

_Noreturn static void fail_operands(const parser *p, size_t at) {
    lex_fail(&p->lex, at, "more than %d parameters and outputs", UF_MAX_OPERANDS);
}

/* names := name { "," name } ")"; all differ from each other and from the first nbefore of `before`. offsets: where
 * they stand. */
static int names_read(parser *p, int **out, const int *before, int nbefore, size_t *offsets) {
    int names[UF_MAX_OPERANDS], count = nbefore;
    if (nbefore)
        memcpy(names, before, (size_t)nbefore * sizeof *names);
    while (p->now.kind != T_CLOSE) {
        size_t at = p->now.at;
        int id = new_name(p, "a name or ')'", names, count);
        if (count == UF_MAX_OPERANDS)
            fail_operands(p, at);
        if (offsets)
            offsets[count - nbefore] = at;
        names[count++] = id;
        if (p->now.kind == T_OPEN_INDEX)
            lex_fail(&p->lex, p->now.at, "parameters are names that stand alone; a layout says which are arrays");
        if (!accept(p, T_COMMA))
            break;
    }
    expect(p, T_CLOSE, "',' or ')'");
    count -= nbefore;
    *out = arena_alloc(p->lex.a, ((size_t)count + 1) * sizeof **out);
    memcpy(*out, names + nbefore, (size_t)count * sizeof **out);
    return count;
}

static definition *definition_new(parser *p) {
    definition *d = arena_alloc(p->lex.a, sizeof *d);
    syn_new(p, S_EMPTY, &p->now); /* counts as a node, so that the number of functions is limited too */
    d->name = NO_NAME;
    d->at = p->now.at;
    d->index = p->out->ndefinitions++;
    return d;
}

/* function := name "(" [ names ] ")" block */
static definition *function_read(parser *p) {
    definition *d = definition_new(p);
    d->name = p->now.name;
    for (const definition *other = p->out->helpers; other; other = other->next)
        if (other->name == d->name)
            lex_fail(&p->lex, d->at, "the helper '%.*s' is defined twice", (int)p->now.length, p->lex.source + d->at);
    next(p);
    expect(p, T_OPEN, "'(' after the name of a helper");
    d->nparams = names_read(p, &d->params, NULL, 0, NULL);
    if (p->now.kind == T_ARROW)
        lex_fail(&p->lex, p->now.at, "a helper returns one value; only a kernel names its outputs");
    d->body = block(p, false, &d->end);
    return d;
}

/* indices := [ "[" index { "," index } [ "," ] "]" ]
 * index := name [ ":" name ]
 * offsets: where the indices stand. */
static int indices_read(parser *p, int *names, int *extents, size_t *offsets) {
    int taken[2 * UF_MAX_OPERANDS], ntaken = 0, count = 0;
    if (!accept(p, T_OPEN_INDEX))
        return 0;
    do {
        if (count == UF_MAX_OPERANDS)
            fail_operands(p, p->now.at);
        offsets[count] = p->now.at;
        names[count] = taken[ntaken] = new_name(p, "the name of an index", taken, ntaken);
        ntaken++;
        extents[count] = NO_NAME;
        if (accept(p, T_COLON)) {
            extents[count] = taken[ntaken] = new_name(p, "the name of the extent of an index", taken, ntaken);
            ntaken++;
        }
        count++;
    } while (accept(p, T_COMMA) && p->now.kind != T_CLOSE_INDEX);
    expect(p, T_CLOSE_INDEX, "',' or ']'");
    return count;
}

/* parameters := indices "(" [ names ] ")"; the indices become the last ones */
static void parameters_read(parser *p, definition *d) {
    size_t offsets[UF_MAX_OPERANDS] = {0}, size;
    int indices[UF_MAX_OPERANDS], extents[UF_MAX_OPERANDS], *names, count;
    d->nindices = indices_read(p, indices, extents, offsets);
    size = (size_t)d->nindices * sizeof *indices;
    expect(p, T_OPEN, "a helper 'name(..) { .. }' or the kernel '(..) { .. }'");
    count = names_read(p, &names, indices, d->nindices, d->offsets);
    d->nparams = count + d->nindices;
    d->params = arena_alloc(p->lex.a, ((size_t)d->nparams + 1) * sizeof *d->params);
    d->extents = arena_alloc(p->lex.a, size + 1);
    memcpy(d->params, names, (size_t)count * sizeof *names);
    memcpy(d->params + count, indices, size);
    memcpy(d->extents, extents, size);
    memcpy(d->offsets + count, offsets, (size_t)d->nindices * sizeof *offsets);
}

/* kernel := parameters [ "->" "(" names ")" ] block */
static definition *kernel_read(parser *p) {
    definition *d = definition_new(p);
    d->offsets = arena_alloc(p->lex.a, UF_MAX_OPERANDS * sizeof *d->offsets);
    parameters_read(p, d);
    if (accept(p, T_ARROW)) {
        expect(p, T_OPEN, "'(' and the names of the outputs");
        if (p->now.kind == T_CLOSE)
            fail_expected(p, "the name of an output");
        d->noutputs = names_read(p, &d->outputs, d->params, d->nparams, d->offsets + d->nparams);
    } else if (d->nparams == UF_MAX_OPERANDS) {
        fail_operands(p, d->at);
    }
    d->body = block(p, false, &d->end);
    if (p->now.kind == T_NAME || p->now.kind == T_OPEN)
        lex_fail(&p->lex, p->now.at, "the kernel is the last function; nothing follows it");
    if (p->now.kind != T_END)
        fail_expected(p, "the end of the text after the kernel");
    return d;
}

/* source := { function } kernel */
static void source_read(parser *p, const char *source, bool with_kernel) {
    syntax *out = p->out;
    definition **end = &out->helpers;
    out->source = source;
    next(p);
    next(p);
    while (p->now.kind == T_NAME) {
        *end = function_read(p);
        end = &(*end)->next;
    }
    if (with_kernel)
        out->kernel = kernel_read(p);
    out->names = p->lex.names;
    out->nnames = p->lex.nnames;
    for (const definition *d = out->helpers; d; d = d->next)
        out->names[d->name].helper = d;
}

static void parser_begin(parser *p, arena *a, const char *source) {
    *p = (parser){.out = arena_alloc(a, sizeof(syntax))};
    lex_begin(&p->lex, a, source, a->escape);
}

const syntax *parse_helpers(arena *a, const char *source) {
    parser p;
    parser_begin(&p, a, source);
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

/* values := expr { "," expr }: the kernel `() -> (..) { .. }` that assigns each to an output. */
static void values_read(parser *p, const char *source) {
    p->out->source = source;
    next(p);
    next(p);
    definition *d = p->out->kernel = definition_new(p);
    syn **end = &d->body;
    d->params = arena_alloc(p->lex.a, sizeof *d->params);
    d->outputs = arena_alloc(p->lex.a, UF_MAX_OPERANDS * sizeof *d->outputs);
    d->offsets = arena_alloc(p->lex.a, UF_MAX_OPERANDS * sizeof *d->offsets);
    do {
        if (d->noutputs == UF_MAX_OPERANDS)
            lex_fail(&p->lex, p->now.at, "more than %d values", UF_MAX_OPERANDS);
        syn *s = *end = syn_new(p, S_EVALUATE, &p->now), *assign = s->kid[0] = syn_new(p, S_ASSIGN, &p->now);
        assign->kid[0] = syn_new(p, S_NAME, &p->now);
        d->offsets[d->noutputs] = p->now.at;
        d->outputs[d->noutputs] = assign->kid[0]->name = value_name(p, d->noutputs);
        d->noutputs++;
        assign->kid[1] = expression(p);
        end = &s->next;
    } while (accept(p, T_COMMA));
    if (p->now.kind != T_END)
        fail_expected(p, "',' or the end of the text");
    d->end = p->now.at;
    p->out->names = p->lex.names;
    p->out->nnames = p->lex.nnames;
}

/* ---- Entries ---- */

/* Calls `read`, whose errors come back here by longjmp. */
static uf_status parse(arena *a, const char *source, void (*read)(parser *p, const char *source), const syntax **out) {
    jmp_buf escape, *before = a->escape;
    *out = NULL;
    a->escape = &escape;
    if (setjmp(escape)) {
        a->escape = before;
        return uf_last_error()->status;
    }
    parser p;
    parser_begin(&p, a, source);
    read(&p, source);
    *out = p.out;
    a->escape = before;
    return UF_OK;
}

static void kernel_source_read(parser *p, const char *source) { source_read(p, source, true); }

uf_status lang_parse(arena *a, const char *source, const lang_names *names, const syntax **out) {
    (void)names;
    return parse(a, source, kernel_source_read, out);
}

uf_status lang_parse_values(arena *a, const char *source, const syntax **out) {
    return parse(a, source, values_read, out);
}

int lang_inputs(const syntax *s) { return s->kernel->nparams - s->kernel->nindices; }
int lang_indices(const syntax *s) { return s->kernel->nindices; }
int lang_outputs(const syntax *s) { return s->kernel->noutputs ? s->kernel->noutputs : 1; }

uf_status lang_fail(const syntax *s, uf_status status, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_source(status, s->source, s->kernel->at, "%s", message);
}
