/* hint.c - the errors about tokens that stand where something else must: what was expected, what was got, and what was probably meant.
 * All of it is guessed from the few tokens around the place, after the parser could not go on, so that correct texts pay nothing. */
#include <stdio.h>

#include "lang/parse.h"

enum {
    GOT = 64 /* a token, as errors name it */
};

static const char *word_at(const parser *p, const mark *m) { return p->lex.source + m->at; }

/* The current token as errors name it. */
static const char *got(const parser *p, char buffer[GOT]) {
    const token *t = &p->now;
    if (t->kind == T_END)
        return "the end of the text";
    snprintf(buffer, GOT, "'%.*s'%s", (int)(t->length < 40 ? t->length : 40), p->lex.source + t->at,
             t->length > 40 ? ".." : "");
    return buffer;
}

/* ---- Words ---- */

static int word_name(const parser *p, const mark *m) {
    const syntax names = {.names = p->lex.names, .slots = p->lex.slots, .names_size = p->lex.names_size};
    return name_find(&names, word_at(p, m), m->length);
}

/* The keyword, type or record that is most like a word. */
static nearest_word word_nearest(const parser *p, const mark *m, bool types_only) {
    nearest_word n = nearest_begin(word_at(p, m), m->length);
    for (int i = 0; lex_keyword(i) && !types_only; i++)
        nearest_try_text(&n, lex_keyword(i));
    if (!types_only)
        nearest_try_text(&n, "forall");
    dtype_names_try(&n);
    for (const record_syn *r = p->out->records; r; r = r->next)
        nearest_try(&n, p->lex.names[r->name].text, (size_t)p->lex.names[r->name].length);
    return n;
}

_Noreturn static void fail_misspelt(const parser *p, const mark *m, const nearest_word *n) {
    lex_fail(&p->lex, m->at, "'%.*s' is not known; did you mean '%.*s'?", (int)m->length, word_at(p, m),
             (int)n->best_length, n->best);
}

/* Fails if a word is one that other languages have in such a place. */
static void foreign_check(const parser *p, const mark *m) {
    const char *advice = m->kind == T_NAME ? foreign_find(word_at(p, m), m->length, FOREIGN_WORD) : NULL;
    if (advice)
        lex_fail(&p->lex, m->at, "'%.*s' is not part of kernel C: %s", (int)m->length, word_at(p, m), advice);
}

/* Does the word that the statement begins with stand where a keyword or a type would, since it is neither called, assigned nor
 * computed with? */
static bool begins_like_keyword(const parser *p) {
    const token first = {.kind = p->statement.kind, .name = word_name(p, &p->statement)};
    if (first.kind != T_NAME || (first.name != NO_NAME && starts_type(p, &first)))
        return false;
    switch (p->behind.kind) {
    case T_OPEN:
        return first.name == NO_NAME || !p->lex.names[first.name].helper;
    case T_NAME:
    case T_NUMBER:
    case T_OPEN_BLOCK:
        return true;
    default:
        return p->behind.kind >= T_DTYPE && p->behind.kind != T_DOT;
    }
}

static void statement_check(const parser *p) {
    static const char forall[] = "forall";
    const mark *first = &p->statement;
    foreign_check(p, first);
    if (!begins_like_keyword(p))
        return;
    if (first->length == strlen(forall) && !memcmp(word_at(p, first), forall, strlen(forall)))
        lex_fail(&p->lex, p->behind.at, "a forall has ranges with colons: forall (i : n) ..");
    nearest_word n = word_nearest(p, first, false);
    if (n.best)
        fail_misspelt(p, first, &n);
    if (p->behind.kind == T_NAME && p->past[1].at <= first->at)
        lex_fail(&p->lex, first->at, "'%.*s' is no type that is known, and no keyword", (int)first->length,
                 word_at(p, first));
}

/* Behind "(word)" stands what can only be the operand of a cast. */
static void cast_check(const parser *p) {
    const mark *word = &p->past[1];
    bool operand = p->now.kind == T_NAME || p->now.kind == T_NUMBER;
    if (!operand || p->statement.kind == T_END || p->past[0].kind != T_CLOSE || word->kind != T_NAME ||
        p->past[2].kind != T_OPEN)
        return;
    nearest_word n = word_nearest(p, word, true);
    if (n.best)
        fail_misspelt(p, word, &n);
    lex_fail(&p->lex, word->at, "'%.*s' is no type that is known", (int)word->length, word_at(p, word));
}

/* ---- Signs ---- */

/* What is wrong at the place, if that can be told from the sign that stands there; else "". */
static const char *sign_advice(const parser *p) {
    const token *t = &p->now, *next = &p->ahead;
    bool together = next->at == t->at + t->length;
    if (t->kind == T_COLON && together && next->kind == T_COLON)
        return "; there are no namespaces in kernel C, and names stand alone: sqrt(x)";
    if (t->kind == T_COLON && p->statement.kind == T_FOR)
        return "; a loop counts: for (int i = 0; i < n; i++)";
    if (t->kind == T_OPEN_BLOCK && p->past[0].kind == T_CLOSE && p->statement.kind == T_NAME)
        return "; helpers stand before the kernel";
    if (t->kind == T_ARROW && !p->advice)
        return "; there are no pointers in kernel C, and fields are reached by '.'";
    if (p->statement.kind == T_RETURN && (t->kind == T_COMMA || t->kind == T_OPEN_BLOCK))
        return "; several results are outputs with names: (x) -> (y, z) { y = ..; z = ..; }";
    if (t->kind == T_STRUCT)
        return "; records stand before the kernel: struct point { float x, y; }; (x) { .. }";
    if (parse_word_is(p, t, "operator"))
        return "; operators have no type in front: operator + (point a, point b) { .. }";
    return p->advice ? p->advice : "";
}

void sign_check(const parser *p) {
    static const struct {
        const char *sign, *instead;
    } signs[] = {{"**", "a power is written pow(x, y)"},
                 {"<>", "write !="},
                 {"===", "write =="},
                 {"!==", "write !="},
                 {"=<", "write <="},
                 {"=>", "write >="}};
    const mark *last = &p->past[0];
    if (last->at + last->length != p->now.at || !last->length)
        return;
    for (size_t i = 0; i < COUNT(signs); i++) {
        size_t n = strlen(signs[i].sign);
        if (last->length < n && p->now.at + p->now.length >= last->at + n &&
            !strncmp(word_at(p, last), signs[i].sign, n))
            lex_fail(&p->lex, last->at, "'%s' is not part of kernel C: %s", signs[i].sign, signs[i].instead);
    }
}

/* Is the end of the text in a comment that goes to the end of its line? */
static bool ends_in_comment(const parser *p) {
    const char *from = p->lex.source + p->past[0].at + p->past[0].length;
    return p->now.kind == T_END && strstr(from, "//") != NULL;
}

/* ---- What was expected ---- */

_Noreturn static void fail_foreign_keyword(const parser *p, const mark *now) {
    const char *instead = foreign_find(word_at(p, now), now->length, FOREIGN_WORD);
    lex_fail(&p->lex, now->at, "'%.*s' is not part of kernel C%s%s", (int)now->length, word_at(p, now),
             instead ? ": " : "", instead ? instead : "");
}

/* Fails if a word is misspelt, or one of another language. */
static void words_check(const parser *p, const mark *now, const char *what) {
    foreign_check(p, now);
    foreign_check(p, &p->past[0]);
    statement_check(p);
    cast_check(p);
    if (now->kind != T_NAME || strcmp(what, "a type"))
        return;
    nearest_word n = word_nearest(p, now, true);
    if (n.best)
        fail_misspelt(p, now, &n);
}

_Noreturn void parse_fail_expected(const parser *p, const char *what) {
    char buffer[GOT];
    const mark now = {p->now.kind, p->now.line, p->now.at, p->now.length};
    const char *word = got(p, buffer), *advice = sign_advice(p);
    if (now.kind == T_FOREIGN)
        fail_foreign_keyword(p, &now);
    if (!*advice || advice == p->advice)
        words_check(p, &now, what);
    if (starts_type(p, &p->now) && p->ahead.kind == T_OPEN && !strcmp(what, "an expression"))
        lex_fail(&p->lex, now.at, "expected %s, got %s; a value is converted by a cast: (%.*s)x", what, word,
                 (int)now.length, word_at(p, &now));
    lex_fail(&p->lex, now.at, "expected %s, got %s%s%s", what, word, advice,
             ends_in_comment(p) ? "; what stands behind // is a comment" : "");
}

/* ---- Semicolons ---- */

/* Can the current token begin a statement, or end a block, and so cannot go on with the one before? */
static bool begins_statement(const parser *p) {
    const token *t = &p->now;
    switch (t->kind) {
    case T_NAME:
        return t->line > p->past[0].line || p->ahead.kind == T_ASSIGN || p->ahead.kind == T_COMPOUND ||
               p->ahead.kind == T_UPDATE;
    case T_CLOSE_BLOCK:
    case T_OPEN_BLOCK:
    case T_FOR:
    case T_WHILE:
    case T_DO:
    case T_SWITCH:
    case T_CASE:
    case T_DEFAULT:
    case T_BREAK:
    case T_CONTINUE:
    case T_RETURN:
    case T_AUTO:
    case T_CONST:
    case T_ELSE:
        return true;
    default:
        return starts_type(p, t);
    }
}

/* "a if c else b", as Python writes a choice. */
static void choice_check(const parser *p) {
    if (p->now.kind == T_IF && p->now.line == p->past[0].line)
        lex_fail(&p->lex, p->now.at, "expected ';', got 'if'; a choice between two values is written x > 0 ? x : 0");
}

void parse_expect_semicolon(parser *p) {
    char buffer[GOT];
    if (p->now.kind == T_SEMICOLON) {
        parse_next(p);
        return;
    }
    choice_check(p);
    if (p->now.kind != T_END && !begins_statement(p) && p->now.kind != T_IF)
        parse_fail_expected(p, "';'");
    statement_check(p);
    lex_fail(&p->lex, p->past[0].at + p->past[0].length, "expected ';' behind '%.*s', got %s%s%s",
             (int)(p->past[0].length < 40 ? p->past[0].length : 40), word_at(p, &p->past[0]), got(p, buffer),
             sign_advice(p), ends_in_comment(p) ? "; what stands behind // is a comment" : "");
}
