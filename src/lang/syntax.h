/* syntax.h - the syntax tree, which parse.c makes of the tokens of lex.c, and which the checker reads. Nothing changes
 * it once it is made, so that several threads may check one tree at once. Names are interned and referred to by
 * number. */
#ifndef UF_SYNTAX_H
#define UF_SYNTAX_H

#include "lang/lang.h"
#include "type/words.h"

enum {
    LANG_MAX_RANK = 8,     /* of local arrays */
    LANG_MAX_NAME = 127,   /* characters of a name */
    LANG_MAX_RANGES = 8,   /* of one construct */
    LANG_MAX_IMPORTS = 64, /* modules, and functions, that a text sees */
    LANG_MAX_FIELDS = 64,  /* of a record */
    NO_NAME = -1
};

typedef struct syn syn;
typedef struct definition definition;
typedef struct record_syn record_syn;
typedef struct constant_syn constant_syn;

/* What the text itself defines under a name; what it imports is found by import_.. below. */
typedef struct name {
    const char *text; /* in the source, not NUL-terminated */
    int length;
    const definition *helper;     /* the first helper of this name, or NULL; `overload` of each leads to the next */
    const record_syn *record;     /* the record, the text's own or an imported one, or NULL */
    const constant_syn *constant; /* the constant or table, or NULL */
} name;

/* A type as a text writes it. */
typedef struct type_syn type_syn;
struct type_syn {
    uint8_t type;             /* a dtype; DT_NONE: what the others say */
    const syn *of;            /* typeof(of) */
    const record_syn *record; /* a record .. */
    const type_syn *argument; /* .. with this in place of its type parameter; NULL: without one */
    int variable;             /* a type variable's name, or NO_NAME */
};

typedef enum syn_kind {
    /* Expressions. */
    S_NUMBER,   /* value, weak, single */
    S_NAME,     /* name */
    S_UNARY,    /* op, kid[0]; OP_ADD is unary plus */
    S_BINARY,   /* op, kid[0], kid[1] */
    S_AND,      /* kid[0] && kid[1] */
    S_OR,       /* kid[0] || kid[1] */
    S_SELECT,   /* kid[0] ? kid[1] : kid[2] */
    S_ASSIGN,   /* kid[0] = kid[1] */
    S_COMPOUND, /* kid[0] op= kid[1] */
    S_UPDATE,   /* op is OP_ADD or OP_SUB, kid[0], postfix */
    S_CALL,     /* name, list: the arguments */
    S_INDEX,    /* kid[0]: the array, an S_NAME or S_MEMBER; list: the indices, from the first to the last */
    S_CAST,     /* to, kid[0] */
    S_LITERAL,  /* to; kid[0]: S_BRACES. A record */
    S_MEMBER,   /* kid[0], name: a field */
    S_GENERIC,  /* kid[0]: the expression whose type decides; list of S_CHOICE */
    S_CHOICE,   /* choice; of CHOICE_TYPE to; kid[0]: the value */
    S_REDUCE,   /* construct; list of S_RANGE; kid[0]: the term; kid[1]: the helper of reduce, an S_NAME */
    S_RANGE,    /* name; kid[0]: the extent */
    S_BRACES,   /* list: what an array or a record is initialised with */
    S_FIELD,    /* in S_BRACES: name, the field that kid[0] initialises */
    /* Statements. */
    S_EVALUATE, /* kid[0]; NULL: an empty statement */
    S_DECLARE,  /* name, to (NULL: auto), is_const; list: extents (S_EMPTY for []); kid[0]: the initialiser, or NULL */
    S_UNPACK,   /* list of S_NAMEs, which it declares; kid[0]: an S_CALL whose results they get; is_const */
    S_EMPTY,
    S_BLOCK,  /* list */
    S_IF,     /* kid[0], body, other */
    S_FOR,    /* list: what the loop begins with; kid[0]: the condition, or NULL; kid[1]: a list, the steps; body */
    S_WHILE,  /* kid[0], body */
    S_DO,     /* kid[0], body */
    S_SWITCH, /* kid[0], list */
    S_CASE,   /* kid[0], or NULL: default */
    S_BREAK,
    S_CONTINUE,
    S_RETURN, /* kid[0] or NULL */
    S_FORALL  /* list of S_RANGE; body */
} syn_kind;

/* The table in construct.c follows this order: ORDER construct. */
typedef enum construct {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_ANY,
    REDUCE_ALL,
    REDUCE_HELPER,
    REDUCE_COUNT
} construct;
extern const char *const construct_names[REDUCE_COUNT]; /* construct.c */

/* What an association of _Generic is for. */
typedef enum choice_kind {
    CHOICE_TYPE,
    CHOICE_INTEGER,
    CHOICE_FLOATING,
    CHOICE_COMPLEX,
    CHOICE_DEFAULT
} choice_kind;

struct syn {
    uint8_t kind, op, choice, construct;
    bool weak, postfix, is_const;
    int name;
    int line;
    size_t at; /* offset in the source: of an operator's sign, else of the first character */
    const type_syn *to;
    syn *next;
    syn *kid[3];
    syn *list, *body, *other;
    number value;
    float single; /* S_NUMBER, weak and floating: the literal, rounded to float32 directly */
};

/* A parameter or a named output of a helper. */
typedef struct parameter_syn {
    int name;
    size_t at;
    const type_syn *to; /* NULL: any type */
    int rank;           /* 0: no array */
    int extent[LANG_MAX_RANK];
} parameter_syn;

/* A helper, an operator or a conversion, which are helpers whose names no text can spell, or the kernel. */
struct definition {
    int name;              /* NO_NAME: it is the kernel */
    int index;             /* its number among the definitions of the syntax */
    bool exact;            /* marked so: the `fast` bits do not enter */
    size_t at, end;        /* offsets of its first character and of its closing brace */
    size_t body_at;        /* of a kernel: of its opening brace; of a list of values as at */
    int nparams, noutputs; /* noutputs 0: a single one without a name */
    int nindices;          /* how many of the parameters, the last ones, are indices */
    parameter_syn *params, *outputs;
    int *extents; /* names of the extents of the indices, or NO_NAME */
    int nvariables;
    int *variables; /* names of the type variables */
    syn *body;      /* list */
    definition *next;
    const definition *overload; /* the next one of the same name */
    const syntax *in;
};

typedef struct field_syn {
    int name;
    size_t at;
    const type_syn *to;
    int rank;
    const syn *extent[RECORD_MAX_RANK];
} field_syn;

/* A record: "struct interval(T) { T lo, hi; };" */
struct record_syn {
    int name;      /* in its own text */
    int parameter; /* the name of its type parameter, or NO_NAME */
    size_t at;
    int depth; /* 1 + that of the records in it; -1: it is being found, 0: it is not known yet */
    int nfields;
    field_syn *fields;
    record_syn *next;
    const syntax *in;
};

/* A constant or a table of file scope: "const half = 0.5, int32 days[12] = {..};" */
struct constant_syn {
    const syn *declaration; /* S_DECLARE */
    constant_syn *next;
    const syntax *in;
};

struct syntax {
    const char *source;
    const char *title; /* what errors call the text; NULL: who registers it names it */
    name *names;
    int nnames;
    const int *slots; /* of the lexer, which find a name by its text */
    int names_size;
    definition *helpers;
    record_syn *records;
    constant_syn *constants;
    definition *kernel; /* NULL: it has none */
    int ndefinitions;
    int nmodules, nfunctions; /* what it imports */
    const syntax **modules;
    const lang_function **functions;
};

/* The number of the name that a text has for these characters, NO_NAME if it has none (source.c). */
int name_find(const syntax *s, const char *word, size_t length);

/* ---- Words of other languages (foreign.c) ---- */

/* Where a word stands. */
typedef enum foreign_use {
    FOREIGN_NAME,  /* anywhere; it has another name here */
    FOREIGN_WORD,  /* as a keyword or an operator */
    FOREIGN_VALUE, /* as the name of a value */
    FOREIGN_CALL   /* as a function that is called */
} foreign_use;

/* What to write in place of a word: of FOREIGN_NAME the name that it has here, else a sentence for the error. NULL: it is no such
 * word. */
const char *foreign_find(const char *word, size_t length, foreign_use use);

/* ---- Tokens (lex.c) ---- */

typedef enum token_kind {
    T_END,
    T_NAME,     /* name */
    T_NUMBER,   /* value, weak, single */
    T_OPERATOR, /* op, binary or unary; '-' is OP_SUB, '~' OP_NOT, '!' OP_LNOT */
    T_COMPOUND, /* op, of "+=" */
    T_UPDATE,   /* OP_ADD for "++", OP_SUB for "--" */
    T_AND,
    T_OR,
    T_ASSIGN,
    T_QUESTION,
    T_COLON,
    T_SEMICOLON,
    T_COMMA,
    T_ARROW,
    T_OPEN,
    T_CLOSE,
    T_OPEN_INDEX,
    T_CLOSE_INDEX,
    T_OPEN_BLOCK,
    T_CLOSE_BLOCK,
    T_DTYPE,     /* type: a word that is a type by itself, "float32", "int8_t" */
    T_TYPE_WORD, /* word: one of C's words of which types are made up */
    T_AUTO,
    T_TYPEOF,
    T_CONST,
    T_STRUCT,
    T_DOT,
    T_GENERIC,
    T_IF,
    T_ELSE,
    T_FOR,
    T_WHILE,
    T_DO,
    T_SWITCH,
    T_CASE,
    T_DEFAULT,
    T_BREAK,
    T_CONTINUE,
    T_RETURN,
    T_FOREIGN /* a keyword of C that is not one of kernel C */
} token_kind;

typedef struct token {
    uint8_t kind, op, type;
    bool weak;
    int name, word, line;
    size_t at, length;
    number value;
    float single;
} token;

typedef struct lexer {
    arena *a;
    const char *source;
    size_t at; /* offset of the next character */
    int line;  /* its line */
    jmp_buf *escape;
    name *names;
    int nnames, names_size;
    int *slots; /* a hash table of the numbers of names, where -1 is free; it has twice names_size slots */
} lexer;

/* The i-th keyword of kernel C, for errors; NULL after the last one. */
const char *lex_keyword(int i);
void lex_begin(lexer *l, arena *a, const char *source, jmp_buf *escape);
token lex_next(lexer *l);
/* The number of a name. text must outlive the syntax tree. */
int lex_intern(lexer *l, const char *text, size_t length);
/* Sets an error at an offset of the source, and leaves through escape. */
_Noreturn void lex_fail(const lexer *l, size_t at, const char *format, ...) PRINTF(3, 4);

/* Parses a text of the prelude, which has helpers only. Errors leave through a->escape, which must be set. */
const syntax *parse_helpers(arena *a, const char *source);

#endif
