/* parse.h - what the files of the parser share. It makes the syntax tree from tokens, by recursive descent, with precedence
 * climbing over the table of operators; the grammar rule that a function reads stands above it.
 *
 *      parse.c      types, expressions, statements
 *      source.c     file scope: what a text uses, constants, records, helpers, the kernel
 *      hint.c       errors: what stands where something else must, and what was probably meant
 *
 * Errors, running out of memory included, leave by longjmp to a frame that owns nothing but the arena. Nodes, nesting and lists have
 * limits, so that the time is linear in the length of the text. */
#ifndef UF_PARSE_H
#define UF_PARSE_H

#include "lang/syntax.h"

/* Where a token stood that has been read. */
typedef struct mark {
    uint8_t kind;
    int line;
    size_t at, length;
} mark;

enum {
    PARSE_PAST = 3 /* how many tokens are remembered */
};

typedef struct parser {
    lexer lex;
    token now, ahead;
    mark past[PARSE_PAST];  /* the tokens before `now`, the last one first; of kind T_END where there are none */
    bool with_kernel;       /* the text has a kernel */
    const char *advice;     /* while the head of a function is read: what such heads look like, for errors; else NULL */
    mark statement, behind; /* the first two tokens of the statement that is being read; of kind T_END outside of any */
    int nodes, depth;
    syntax *out;
    const lang_names *visible;    /* what the text sees; NULL: nothing */
    constant_syn **constants_end; /* of the list of the text's constants */
    definition *reading;          /* the helper that is being read, whose type variables are types; NULL: none */
    /* In its list of parameters, where an unknown name in the place of a type is a type variable. */
    bool binds_variables;
} parser;

void parse_next(parser *p);
bool parse_accept(parser *p, token_kind kind);
void parse_expect(parser *p, token_kind kind, const char *what);
/* The error that `what` must stand where the current token stands. It says what was probably meant, where that can be told (hint.c). */
_Noreturn void parse_fail_expected(const parser *p, const char *what);
/* Fails if the current token makes up a sign of another language with those before it: "x ** 2". */
void sign_check(const parser *p);
/* The same of the ";" that ends a statement. */
void parse_expect_semicolon(parser *p);
bool parse_word_is(const parser *p, const token *t, const char *word);
syn *syn_new(parser *p, syn_kind kind, const token *at);

/* is_const: set if the type has a "const"; NULL: that makes no difference. */
const type_syn *parse_type(parser *p, bool *is_const);
bool starts_type(const parser *p, const token *t);
bool starts_type_behind_const(const parser *p);                 /* the current token is "const" */
const record_syn *record_find(const parser *p, const token *t); /* the record that a token names, or NULL */
syn *parse_expression(parser *p);
/* to: the type before it, NULL for auto. */
syn *parse_declarator(parser *p, const type_syn *to, bool is_const);
/* "{" statements "}"; `labels`: it is the block of a switch. close: set to the offset of the brace that ends it, unless NULL. */
syn *parse_block(parser *p, bool labels, size_t *close);
void type_variable_add(parser *p, int id); /* source.c */

#endif
