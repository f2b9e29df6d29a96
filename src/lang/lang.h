/* lang.h - kernel C: from text to a syntax tree (once), and from that to a typed tree (once for each signature).
 * docs/kernel-c.md specifies the language.
 *
 * The typed tree is what code generation takes, and what the interpreter of the tests takes. It is C with everything
 * made explicit: each conversion is a node, weak literals have their types, names are resolved, each helper is an
 * instance for the types of its arguments, short integers have been promoted, and the products and quotients of complex
 * numbers have become calls of helpers of the prelude. */
#ifndef UF_LANG_H
#define UF_LANG_H

#include "lang/math.h"
#include "lang/ops.h"
#include "type/record.h"
#include "type/type.h"

enum {
    LANG_MAX_NODES = 8192,     /* of the functions of a tree, each counted once */
    LANG_MAX_CALLED = 1 << 20, /* of these, each counted as often as it is called */
    LANG_MAX_DEPTH = 256,
    LANG_MAX_LOCAL_BYTES = 16384,
    LANG_MAX_TABLE_BYTES = 65536 /* the tables of a function, together */
};

typedef struct syntax syntax; /* lives in the arena that it was parsed into */

/* A function of the caller or of the catalogue, which texts call by its name. All of it must outlive the syntax trees that see it. */
typedef struct lang_function {
    const char *name;
    int nin, nout;
    const signature_list *signatures; /* NULL: any types, of the one section */
    const int *section_of;            /* by signature: the section that serves it */
    const syntax *const *sections;
} lang_function;

/* What a name behind `use` stands for: one of the two. */
typedef struct lang_import {
    const syntax *module;
    const lang_function *function;
} lang_import;

/* What a text sees beside its own helpers, tables and records. */
typedef struct lang_names {
    int nmodules, nfunctions;
    const syntax *const *modules;
    const lang_function *const *functions;
    /* Finds what `use name;` names. Errors: ARGUMENT (there is none of this name; the message becomes part of an error of the
     * text), and those of reading it. NULL: nothing can be used. */
    uf_status (*use)(void *user, const char *name, lang_import *out);
    void *user;
} lang_names;

/* Parses what may stand at file scope, and a kernel. `source` must outlive the syntax tree, and so must what `names` has (NULL:
 * nothing). Errors: SYNTAX with a caret, MEMORY. */
uf_status lang_parse(arena *a, const char *source, const lang_names *names, const syntax **out);
/* The parameter list of a kernel over indices for which none is given: any dtypes, and the ranks with which the text indexes its
 * parameters. *out is the caller's, also on failure. Errors: TYPE with a caret (a rank does not follow from the text), MEMORY. */
uf_status lang_parameters(const syntax *s, text *out);
/* Parses the text of a module, which has no kernel. title, which must outlive the tree too, is what errors call the text: "module vec",
 * a path. Errors in it, those found later included, have it as their source. */
uf_status lang_parse_module(arena *a, const char *title, const char *source, const lang_names *names,
                            const syntax **out);
/* The record that a text spelled "interval(float32)" names, in what a kernel's or a module's text sees. Errors: TYPE (there is
 * none of this name, it takes another number of arguments), MEMORY; none has a position. */
uf_status lang_record(arena *a, const syntax *s, const char *text, size_t length, const record **out);
/* The i-th record that a module's own text defines: its name, in arena memory, and whether it has a type parameter. NULL behind the
 * last. */
const char *lang_record_name(arena *a, const syntax *s, int i, bool *has_parameter);
/* The i-th helper of a module's own text, as it is declared: "lerp(a, b, float32 t)", in arena memory; NULL behind the last. */
const char *lang_helper_text(arena *a, const syntax *s, int i);
/* Parses a list of expressions, such as "0, -INFINITY", into a kernel without inputs that has a named output for each.
 * `use` may stand before them. Otherwise like lang_parse. */
uf_status lang_parse_values(arena *a, const char *source, const lang_names *names, const syntax **out);
int lang_inputs(const syntax *s); /* parameters that are operands, which are all but the indices */
/* "[i, j](x) .." has 2; they are further parameters behind the operands, of dtype int64 */
int lang_indices(const syntax *s);
/* 1 for a kernel with one unnamed output, and for one over indices, whose outputs lang_check wants to be 0 */
int lang_outputs(const syntax *s);
/* Where the parts of a text are: the offsets at which its kernel begins and at which the body of that does, with its brace; of a list
 * of values, both are the offset of the first. */
typedef struct kernel_text {
    size_t head, body;
} kernel_text;
kernel_text lang_kernel_text(const syntax *s);
/* The name of a kernel's parameter, or behind these of a named output, which is not NUL-terminated. */
const char *lang_operand_name(const syntax *s, int k, int *length);
/* Reports an error at the beginning of the kernel. */
uf_status lang_fail(const syntax *s, uf_status status, const char *format, ...) PRINTF(3, 4);

/* clang-format off */
typedef enum node_kind {
    /* Expressions. `type` is the dtype of the value, and, where nothing else is said, of the kids too. Kids are
     * evaluated in
     *       order. No node has two parents. */
    /* a constant: value, whose type is `type`. Signed integers are sign-extended in as.i, bool and unsigned ones
     * zero-extended in as.u, floating ones rounded to `type` in as.f[0] */
    N_CONST,
    N_LOCAL,    /* reads the scalar variable `local` */
    /* reads an element of `local`, a local array or a core operand, at the indices kid[0] .. kid[rank-1] (in args where
     * rank is above 3), each int64 or uint64. The last index varies fastest in a local array. If an index is outside of
     * its extent, a read gives 0 and a write is dropped */
    N_ELEMENT,
    N_SIZE,     /* the size of the layout's dimension `dim`, int64 and not negative */
    /* kid[0], of any other type, converted to `type`. Kernel C defines that for every value: to bool is != 0, complex
     * to real takes the real part, real to complex has the imaginary part +0 */
    N_CONVERT,
    /* op kid[0]. OP_NEG: int32, int64, uint32, uint64, float32, float64, complex. OP_NOT: the integers of these.
     * OP_LNOT: bool */
    N_UNARY,
    /* kid[0] op kid[1], both of one type: int32, int64, uint32, uint64, float32 or float64; for + - == != complex as
     * well. In a shift kid[1] has any of the four integer types, and its value is read as unsigned. + - * / % << >> & ^
     * | have the type of kid[0], comparisons bool */
    N_BINARY,
    N_AND,      /* kid[0] && kid[1], both bool; kid[1] is evaluated only if kid[0] is true */
    N_OR,
    N_SELECT,   /* kid[0] (bool) ? kid[1] : kid[2]; only one of the two is evaluated */
    /* kid[0] = kid[1]. kid[0] is an N_LOCAL or an N_ELEMENT of the same type. Its indices are evaluated first, then
     * kid[1], which is also the value */
    N_ASSIGN,
    /* kid[0] op= kid[1]. Evaluates the indices of kid[0] once, reads it and converts it to `wide`; evaluates kid[1], of
     * type wide (in shifts as in N_BINARY); computes, converts back to the type of kid[0], and stores. The value is
     * what was to be stored, even if an index out of range dropped it. If callee is set, that helper computes, from a
     * wide and kid[1], which may then be real (complex * and /) */
    N_COMPOUND,
    /* kid[0]++, kid[0]--, ++kid[0] or --kid[0]: adds (OP_ADD) or subtracts (OP_SUB) 1 in `wide` and converts back. The
     * value is the old one if `postfix` is set, else the new one */
    N_UPDATE,
    /* a call of callee. args have the types of its parameters; the value is that of its only result. Where the callee has several,
     * it stands in an N_EVAL; other is a list of N_LOCALs, scalar variables of their types, to which the results are assigned in
     * order, and there is no value (type is DT_NONE) */
    N_CALL,
    /* the function of row `math`. args have type `wide` (float32 or float64; of MATH_BITS any integer type), but for
     * the int32 argument of MATH_FLOATING_INT and MATH_INT_FLOATING. type is wide, or int32 for MATH_TO_INT and
     * MATH_BITS */
    N_MATH,
    N_COMPLEX,  /* kid[0] + i kid[1], both of the component dtype of `type` */
    N_REAL,     /* real part of kid[0], a complex */
    N_IMAG,
    /* a reduction. args: 1 to 8 N_RANGEs. The term kid[0] is evaluated for every combination of their variables, in any
     * order, and the terms are combined: by callee, a helper of two arguments of `type`, if it is set, else by op
     * (OP_ADD, OP_MUL; of any OP_OR and of all OP_AND, on bool). value is the result if there are no terms.
     * is_identity: it is an identity of combining; 1 is none of complex products */
    N_REDUCE,
    /* the atomic_op `op` on kid[0], an N_ELEMENT of an array of a kernel over indices, with kid[1], and of
     * compare_exchange (expected, desired) kid[2], of its type. Evaluates the indices and then these, and does the
     * operation in one step, with relaxed ordering. min and max are those of the language, where NaN propagates;
     * compare_exchange compares bits. The value is the element's old one. If an index is out of range, nothing is done
     * and it is 0 */
    N_ATOMIC,
    /* does body, a list of N_DECLARE, N_EVAL, N_IF, N_BLOCK and N_INLINE, and then evaluates kid[0], which is the value */
    N_SEQUENCE,
    /* Statements. `type` is DT_NONE. */
    N_EVAL,     /* evaluates kid[0] and drops its value */
    /* declares `local`. A scalar is set to kid[0], or to 0 if that is NULL. An array is set to 0 and then initialised
     * by body, a list of N_EVAL of N_ASSIGN. That is done each time the statement is reached */
    N_DECLARE,
    N_BLOCK,    /* body */
    N_IF,       /* if kid[0], a bool, does body, else other; both are lists, and NULL is an empty one */
    /* a loop. kid[0] is the condition, a bool (NULL: true); step is a list of N_EVAL (NULL: none), done after each
     * body. test_last: the condition is tested after the body, as in do .. while. What a for begins with is a statement
     * before the loop, in an N_BLOCK around both */
    N_LOOP,
    /* goes to the N_CASE in body that has the value of kid[0], int64 or uint64. body is a list of N_CASE and other
     * statements, through which control falls as in C. An N_CASE stands in this list only, never deeper */
    N_SWITCH,
    N_CASE,     /* a label of a switch: value has the type of the switch's kid[0]; is_default: the label is `default` */
    N_BREAK,    /* leaves the innermost N_LOOP or N_SWITCH */
    N_CONTINUE, /* goes to the step of the innermost N_LOOP, then to its condition */
    N_RETURN,   /* leaves the function. N_EVAL of N_ASSIGN have assigned the results before. Never inside an N_FORALL */
    /* only in the args of N_FORALL and N_REDUCE: `local`, an int64 scalar that nothing assigns, runs over 0 .. kid[0]-1
     * (kid[0] is int64; if it is 0 or negative there are no iterations). The extents of all ranges are evaluated once,
     * in order, before the variables exist */
    N_RANGE,
    /* an assertion. In a variant with debug, kid[0] (bool) is evaluated, and reported if it is false. value is the
     * offset of "assert(..)" in the source, int64 */
    N_ASSERT,
    /* does body for every combination of the variables of args, 1 to 8 N_RANGEs, in any order and independently. body
     * assigns only locals that are declared in it, elements of outputs and elements of local arrays. N_BREAK and
     * N_CONTINUE do not leave it */
    N_FORALL,
    /* the body of a helper that works on arrays of its caller, in place of the call: does body. N_LEAVE in it leaves the innermost
     * N_INLINE; no N_RETURN, and no N_BREAK or N_CONTINUE that leaves it, is in it */
    N_INLINE,
    N_LEAVE
} node_kind;
/* clang-format on */

typedef struct node node;
typedef struct function function;

struct node {
    uint8_t kind; /* node_kind */
    uint8_t op;   /* op of ops.h, or atomic_op */
    uint8_t type; /* dtype of an expression's value; DT_NONE for statements */
    uint8_t wide; /* N_COMPOUND, N_UPDATE, N_MATH: dtype in which it is computed */
    bool postfix, test_last, is_default, is_identity;
    bool unchecked;   /* N_ELEMENT: every index is proved to be in range, or the kernel is unchecked */
    bool conditional; /* N_ELEMENT: every index is in range if lang_needs_hold is true of the call's sizes */
    /* Used while checking only: the value is weak; it is a record (N_RECORD, check.h). */
    bool weak;
    const record *record;
    /* N_LOOP, N_REDUCE, N_FORALL, and N_MATH of jn and yn: it is not proved short (see trips.c), and its steps are
     * counted. */
    bool counted;
    bool sized; /* the same where loops over sizes of the call count as loops whose trip count is not known */
    int line;   /* in the source, from 1; 0 within helpers of the prelude */
    node *next; /* next statement of a list, or next of args */
    node *kid[3];
    /* N_CALL, N_MATH, N_REDUCE, N_FORALL: a list through next. N_ELEMENT with rank above 3: the indices, and kid is
     * unused */
    node *args;
    node *body, *other, *step; /* lists */
    int local;
    int dim; /* N_SIZE; N_LOOP and N_RANGE use it while checking only (trips.c) */
    function *callee;
    const math_row *math;
    number value;
};

typedef struct local {
    const char *name;
    dtype type;
    int rank; /* 0: a scalar */
    int64_t extent[8];
    /* A parameter or result of the kernel that has core dimensions, and so is an operand in memory. extent[d] is then
     * that of a frozen dimension, or else -1: the extent is the size of the layout's dimension dim[d]. */
    bool core;
    uint8_t dim[8];
    /* A table: an array that nothing writes, whose elements are these constants, in C order, already of its type. It takes no room
     * among the local variables; its N_DECLARE, if it has one, does nothing. Tables of the same elements share them. */
    const number *table;
} local;

/* A kernel, or one instance of a helper, which has at least one result. locals are the parameters, then the results, then all
 * others; each has a slot of its own, and names may occur twice. Results and all other locals are 0 at the beginning of
 * each call. The instances of one helper share its name. */
struct function {
    const char *name;
    bool exact; /* the `fast` bits of the function do not enter it, nor what it calls */
    int nparams, nresults, nlocals;
    local *locals;
    node *body;     /* a list of statements */
    function *next; /* the functions of a tree, callees before callers */
};

typedef struct tree {
    function *functions; /* the instances of helpers that are called, callees first; the kernel is the last */
    function *kernel;
    int nodes; /* of all functions, each as often as it is called: the size after inlining */
    int variables; /* scalar variables, parameters and results included, that exist at a time, those of callees among them */
    bool has_loop;
    bool has_unbounded;        /* a node in it is `counted` */
    bool has_sized;            /* a node in it is `sized` and not `counted` */
    bool has_long_work;        /* what its loops compute is not known (lang_outgrows) */
    int sizes;                 /* else: an element computes at most `work` nodes, */
    int64_t work;              /* times the product of so many sizes of the call, */
    int wide;                  /* of which so many have 1025 added to them */
    const core_layout *layout; /* NULL: elementwise */
    /* kernels over indices: conditions on the sizes, and on numbers among the parameters, under which `conditional` indices are in range */
    const struct need *needs;
    int nneeds;
} tree;

/* Do the sizes of a call (its core parameters), and the numbers among its arguments, by parameter, fulfil all that the tree needs? Then
 * its `conditional` indices are in range. numbers NULL: they are not known, and needs that name one count as `otherwise`. */
bool lang_needs_hold(const tree *t, const int64_t *sizes, const int64_t *numbers, bool otherwise);
/* May an element of a call with these sizes (its core parameters) take more than so many steps of loops? True if that is not known. */
bool lang_outgrows(const tree *t, const int64_t *sizes, int64_t steps);
/* Does the tree need something of a number? */
bool lang_needs_numbers(const tree *t);

/* Types a kernel for the dtypes of its inputs, followed by int64 for each of its indices. out[k] is the dtype of output
 * k; if it is DT_NONE (the function has no signatures), it is set to the type of the returned expression, or, of a
 * named output, to the type that all values assigned to it fit. A value that is still weak has its C type. core: the
 * layout of a generalized ufunc, which the tree refers to, and whose operands are the kernel's; else NULL. unchecked:
 * indices are not checked. Errors: TYPE with a caret, SYNTAX for limits, MEMORY.
 *
 * records: NULL, or by parameter of the text, then by output (the unnamed one is one too, and stands for none of a kernel over
 * indices): the record that it is, or NULL for a scalar or an index. in, nin, out, nout and core then count the leaves: a parameter that is a record stands for as many
 * inputs as it has leaves, in their order. Outputs of such a kernel must have types.
 *
 * If core->nindices is not 0, the kernel is one over so many indices, "[i, j : m](..)". It has no outputs (nout is 0),
 * and `return;` ends a point. Indices are not assigned; `m`, the extent of an index, is an N_SIZE. */
uf_status lang_check(arena *a, const syntax *s, const core_layout *core, const record *const *records, const dtype *in,
                     int nin, dtype *out, int nout, bool unchecked, tree **result);

/* Writes the typed tree as text, one node a line, which is what `ufunc inspect --view tree` shows and golden files
 * hold. */
void lang_print(text *out, const tree *t);

#endif
