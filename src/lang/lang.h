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
/* Parses a list of expressions, "0, -INFINITY", into a kernel without inputs and with an output by name for each. Otherwise as
 * lang_parse. */
uf_status lang_parse_values(arena *a, const char *source, const syntax **out);
int lang_inputs(const syntax *s);  /* parameters that are operands */
int lang_indices(const syntax *s); /* "[i, j](x) .." has 2: more parameters behind the operands, int64 */
int lang_outputs(const syntax *s); /* 1 for a kernel with one unnamed output; see lang_check for kernels over indices */
/* Reports an error at the beginning of the kernel. */
uf_status lang_fail(const syntax *s, uf_status status, const char *format, ...) PRINTF(3, 4);

/* clang-format off */
typedef enum node_kind {
    /* Expressions. `type` is the dtype of the value, and is that of the kids where nothing else is said. Kids are evaluated
     * in order. No node has two parents. */
    N_CONST,    /* value; value.type == type. Signed integers sign-extended in as.i, bool and unsigned zero-extended in
                   as.u, floating rounded to type in as.f[0] */
    N_LOCAL,    /* local: reads a scalar variable */
    N_ELEMENT,  /* local, kid[0] .. kid[rank-1] (args where rank > 3) int64 or uint64 indices: reads an element of a local
                   array, the last index varying fastest, or of a core operand. If any index is outside its extent: reads 0,
                   drops a write */
    N_SIZE,     /* the size (int64, not negative) of the layout's dimension `dim` */
    N_CONVERT,  /* kid[0] of any other type converted to type, with kernel C's total semantics: to bool is != 0, complex to
                   real takes the real part, real to complex has imaginary part +0 */
    N_UNARY,    /* op, kid[0]: OP_NEG on int32 int64 uint32 uint64 float32 float64 complex; OP_NOT on the integers of these;
                   OP_LNOT on bool */
    N_BINARY,   /* op, kid[0], kid[1], both of one type out of int32 int64 uint32 uint64 float32 float64, for + - == !=
                   complex as well; shifts: kid[1] is any of the four integer types and its value read as unsigned.
                   + - * / % and << >> & ^ | give the type of kid[0], comparisons bool */
    N_AND,      /* kid[0] && kid[1], both bool; short circuit */
    N_OR,
    N_SELECT,   /* kid[0] (bool) ? kid[1] : kid[2]; only one branch is evaluated */
    N_ASSIGN,   /* kid[0] (N_LOCAL or N_ELEMENT) = kid[1], of the same type: kid[0]'s indices are evaluated, then kid[1]; the
                   value is that of kid[1] */
    N_COMPOUND, /* kid[0] op= kid[1]: evaluates kid[0]'s indices once, reads it, converts it to `wide`, evaluates kid[1] (of
                   type wide; shifts: as for N_BINARY), computes, converts back to kid[0]'s type, stores; the value is what
                   was stored, also where an index out of range dropped it. callee, if set, is the helper that computes it
                   from a wide and kid[1], which may then be real (complex * and /) */
    N_UPDATE,   /* kid[0] ++ or --: op is OP_ADD or OP_SUB of 1, computed in `wide` and converted back; postfix: the value is
                   the old one, else the new */
    N_CALL,     /* callee, arguments in args, of the parameters' types; the value is the callee's first (only) result */
    N_MATH,     /* math row, args: of type `wide` (float32, float64; MATH_BITS: any integer type), but for the int32 argument
                   of MATH_FLOATING_INT and MATH_INT_FLOATING; type: wide, or int32 for MATH_TO_INT and MATH_BITS */
    N_COMPLEX,  /* kid[0] + i kid[1], both of type's component dtype */
    N_REAL,     /* real part of kid[0], a complex */
    N_IMAG,
    N_REDUCE,   /* args: 1 to 8 N_RANGEs. kid[0], the term, is evaluated for every combination of their variables, in no order,
                   and combined: by callee, a helper of two arguments of `type`, if it is set, else by op (OP_ADD, OP_MUL; any:
                   OP_OR, all: OP_AND on bool). value is the result of no terms and, where is_identity, an identity of
                   combining (of complex products 1 is none) */
    N_ATOMIC,   /* op is an atomic_op; kid[0] N_ELEMENT of an array of a kernel over indices; kid[1], of compare_exchange kid[2]
                   too (expected, desired), of its type: evaluates the indices, then these, and does the operation in one
                   step, relaxed. min and max are the language's (NaN propagates); compare_exchange compares bits. The value
                   is the old one; where the index is out of range nothing happens and it is 0 */
    /* Statements; type is DT_NONE. */
    N_EVAL,     /* kid[0], value dropped */
    N_DECLARE,  /* local; a scalar: set to kid[0], or to 0 if NULL; an array: set to 0, then body, its initialiser, a list of
                   N_EVAL of N_ASSIGN. Done each time it is reached */
    N_BLOCK,    /* body */
    N_IF,       /* kid[0] bool, body, other (lists; NULL: empty) */
    N_LOOP,     /* kid[0] condition (bool; NULL: true), body, step (list of N_EVAL, NULL: none); test_last: do .. while. The
                   init of a for is a statement before it in an enclosing N_BLOCK */
    N_SWITCH,   /* kid[0] int64 or uint64 value, body: a list of N_CASE and other statements, falling through as in C; an
                   N_CASE stands in this list only, never deeper */
    N_CASE,     /* case value (value.type is the type of the switch's kid[0]); is_default: default */
    N_BREAK,    /* leaves the innermost N_LOOP or N_SWITCH */
    N_CONTINUE, /* goes to the step of the innermost N_LOOP, then to its condition */
    N_RETURN,   /* leaves the function; results were assigned before by N_EVAL of N_ASSIGN. Never inside N_FORALL */
    N_RANGE,    /* in args of N_FORALL and N_REDUCE only: local, an int64 scalar nobody assigns, runs over 0 .. kid[0]-1
                   (int64; not above 0: not at all). All kid[0] are evaluated once, in order, before the variables exist */
    N_ASSERT,   /* kid[0] bool: reported where it is false, in a variant with debug; else not evaluated. value is the offset
                   of "assert(..)" in the source, int64 */
    N_FORALL    /* args: 1 to 8 N_RANGEs; body, for every combination of their variables, in no order and independently: it
                   assigns only locals declared in it, and elements of outputs and of local arrays. N_BREAK and N_CONTINUE do
                   not leave it */
} node_kind;
/* clang-format on */

typedef struct node node;
typedef struct function function;

struct node {
    uint8_t kind; /* node_kind */
    uint8_t op;   /* ops.h: operator */
    uint8_t type; /* dtype of an expression; DT_NONE for statements */
    uint8_t wide; /* N_COMPOUND, N_UPDATE, N_MATH: dtype of the computation */
    bool postfix, test_last, is_default, is_identity;
    bool unchecked;   /* N_ELEMENT: every index is proved in range, or the kernel is unchecked */
    bool conditional; /* N_ELEMENT: it is, for sizes of which lang_needs_hold is true */
    bool weak;        /* the checker's own: false for all that matters in a finished tree */
    bool
        counted; /* N_LOOP, N_REDUCE, N_FORALL: it is not proved short; N_MATH of an order (jn, yn): nor is that. See passes.c */
    int line;   /* in the source, from 1; 0 within helpers of the prelude */
    node *next; /* next statement of a list, or next of args */
    node *kid[3];
    node *args; /* N_CALL, N_MATH: list through next. N_ELEMENT with rank > 3: the indices (then kid is unused) */
    node *body, *other, *step; /* lists */
    int local;
    int dim; /* N_SIZE; the checker's own of N_LOOP and N_RANGE */
    function *callee;
    const math_row *math;
    number value;
};

typedef struct local {
    const char *name;
    dtype type;
    int rank; /* 0: a scalar */
    int64_t extent[8];
    bool core; /* a parameter or result of the kernel of rank > 0: an operand with core dimensions, in memory; extent is
                        that of a frozen dimension, else -1: the size of dimension dim[d] */
    uint8_t dim[8]; /* core: the layout's dimensions */
} local;

/* A kernel or one instance of a helper. locals: parameters, then results, then all others (each its own slot; names may
 * repeat). Results and all other locals start at 0 at each call. A helper has one result. Names are not unique: instances of
 * one helper share one. */
struct function {
    const char *name;
    int nparams, nresults, nlocals;
    local *locals;
    node *body;     /* a list of statements */
    function *next; /* in definition order: callees before callers */
};

typedef struct tree {
    function *functions; /* the helper instances that are called, callees first; the kernel is the last */
    function *kernel;
    int nodes;     /* of all functions, instances counted as often as they are called: the inlined size */
    int variables; /* scalar ones, parameters and results included, counted so */
    bool has_loop;
    bool has_unbounded;        /* something in it is `counted` */
    const core_layout *layout; /* NULL: elementwise */
    const struct need *needs;  /* kernels over indices: what is to hold of the sizes; see `conditional` */
    int nneeds;
} tree;

/* Is what the tree needs true of a call's sizes (its core words)? */
bool lang_needs_hold(const tree *t, const int64_t *sizes);

/* Types a kernel for input dtypes, those of its indices (int64) included. out[k] is the dtype of output k; where DT_NONE comes
 * in (signatures == NULL) it is set to the type of the returned expression. A value that is still weak at the end has its C type.
 * core: the layout of a generalized ufunc (kept by the tree; its operands are the kernel's), else NULL. unchecked: leave all
 * index checks out. Errors: TYPE with caret, SYNTAX for limits, MEMORY.
 *
 * With core->nindices the kernel is one over indices: it has that many, "[i, j : m](..)", and no outputs (nout is 0); in has the
 * dtypes of its parameters, then int64 for each index; `return;` ends a point. Indices are not assigned; `m` is an N_SIZE. */
uf_status lang_check(arena *a, const syntax *s, const core_layout *core, const dtype *in, int nin, dtype *out, int nout,
                     bool unchecked, tree **result);

/* The typed tree as text, one node a line: the goldens' form. */
void lang_print(text *out, const tree *t);

#endif
