/* lang.h - kernel C: text -> syntax tree (once) -> typed tree (once per signature). docs/kernel-c.md is the specification.
 *
 * The typed tree is the contract with code generation and with the tests' interpreter. It is C made explicit: every
 * conversion is a node, weak literals have their types, names are resolved, helpers are instances for argument types,
 * short integers have been promoted, complex * and / have become calls of prelude helpers. */
#ifndef UF_LANG_H
#define UF_LANG_H

#include "lang/math.h"
#include "lang/ops.h"
#include "type/type.h"

enum {
    LANG_MAX_NODES = 8192,
    LANG_MAX_DEPTH = 256,
    LANG_MAX_LOCAL_BYTES = 16384
};

typedef struct syntax syntax; /* lives in the arena it was parsed into */

/* Parses helpers and a kernel. `source` must outlive the syntax tree. Errors: SYNTAX with caret, MEMORY. */
uf_status lang_parse(arena *a, const char *source, const syntax **out);
int lang_inputs(const syntax *s);
int lang_outputs(const syntax *s); /* 1 for a kernel with one unnamed output */

typedef enum node_kind {
    /* Expressions. `type` is the dtype of the value. Kids are evaluated in order. */
    N_CONST, /* value */
    N_LOCAL, /* local: reads a scalar variable */
    N_ELEMENT, /* local, kid[0] .. kid[rank-1] int64 or uint64 indices: reads an element of a local array (out of range: 0) */
    N_CONVERT, /* kid[0] converted to type, with kernel C's total semantics */
    N_UNARY,   /* op, kid[0] */
    N_BINARY,  /* op, kid[0], kid[1]; both of one type, but for shifts (right operand any integer type after promotion);
                  comparisons give bool. Operand types: int32 int64 uint32 uint64 float32 float64; complex for + - == !=;
                  bool for == != & | ^ never (promoted) */
    N_AND,     /* kid[0] && kid[1], both bool; short circuit */
    N_OR,
    N_SELECT,   /* kid[0] (bool) ? kid[1] : kid[2]; only one branch is evaluated */
    N_ASSIGN,   /* kid[0] (N_LOCAL or N_ELEMENT) = kid[1], of the same type; the value is that of kid[0] afterwards */
    N_COMPOUND, /* kid[0] op= kid[1]: reads kid[0] once (its indices are evaluated once), converts it to `wide`, computes
                  wide op kid[1] (op's operand type is wide), converts back to kid[0]'s type, stores; value is what was stored.
                  callee, if set, is the helper that computes it (complex * and /) */
    N_UPDATE, /* kid[0] ++ or --: op is OP_ADD or OP_SUB, computed in `wide`; postfix: value is the old one, else the new */
    N_CALL, /* callee, kid list in args: a helper instance */
    N_MATH, /* math row, args: all of type `wide` (the type it is computed in) but where the row's rule says otherwise */
    N_COMPLEX, /* kid[0] + i kid[1], components of type's component dtype */
    N_REAL,    /* real part of kid[0] */
    N_IMAG,
    /* Statements. */
    N_EVAL, /* kid[0], value dropped */
    N_DECLARE, /* local (scalar): set to kid[0], or to 0 if NULL; an array: set to 0, then its initialiser assignments follow
                  in body */
    N_BLOCK, /* body */
    N_IF,    /* kid[0] bool, body, other (NULL: none) */
    N_LOOP, /* kid[0] condition (NULL: true), body, step (list of N_EVAL, NULL: none); test_last: do .. while. The init of a
                  for is a statement before it in an enclosing N_BLOCK */
    N_SWITCH,   /* kid[0] int64 or uint64 value, body: a list of N_CASE and other statements, falling through as in C */
    N_CASE,     /* case value.as.i .. ; is_default: default */
    N_BREAK,    /* leaves the innermost N_LOOP or N_SWITCH */
    N_CONTINUE, /* goes to the step of the innermost N_LOOP */
    N_RETURN    /* leaves the function; the result was assigned before */
} node_kind;

typedef struct node node;
typedef struct function function;

struct node {
    uint8_t kind; /* node_kind */
    uint8_t op;   /* ops.h: operator */
    uint8_t type; /* dtype of an expression; DT_NONE for statements */
    uint8_t wide; /* N_COMPOUND, N_UPDATE, N_MATH: dtype of the computation */
    bool postfix, test_last, is_default;
    bool unchecked; /* N_ELEMENT: every index is proved in range */
    int line;
    node *next; /* next statement of a list, or next of args */
    node *kid[3];
    node *args; /* N_CALL, N_MATH: list through next. N_ELEMENT with rank > 3: the indices (then kid is unused) */
    node *body, *other, *step;
    int local;
    function *callee;
    const math_row *math;
    number value;
};

typedef struct local {
    const char *name;
    dtype type;
    int rank; /* 0: a scalar */
    int64_t extent[8];
} local;

/* A kernel or one instance of a helper. locals: parameters, then results, then all others (each its own slot; names may
 * repeat). Results and all other locals start at 0. */
struct function {
    const char *name;
    int nparams, nresults, nlocals;
    local *locals;
    node *body;
    function *next; /* in definition order: callees before callers */
};

typedef struct tree {
    function *functions; /* helper instances, callees first; the kernel is the last */
    function *kernel;
    int nodes; /* of all functions, instances counted as often as they are called: the inlined size */
    bool has_loop;
} tree;

/* Types a kernel for input dtypes. out[k] is the dtype of output k; where DT_NONE comes in (signatures == NULL) it is set to
 * the type of the returned expression. A value that is still weak at the end has its C type. Errors: TYPE with caret,
 * SYNTAX for limits, MEMORY. unchecked: leave all index checks out. */
uf_status lang_check(arena *a, const syntax *s, const dtype *in, int nin, dtype *out, int nout, bool unchecked,
                     tree **result);

/* The typed tree as text, one node a line: the goldens' form. */
void lang_print(text *out, const tree *t);

#endif
