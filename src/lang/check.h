/* check.h - what the files of the checker share. The checker makes the typed tree from the syntax tree and the dtypes
 * of the inputs.
 *
 *      check.c      the kernel, instances of helpers, the types of results, limits
 *      statement.c  statements, declarations, which paths come to an end
 *      expression.c names, operators, assignments, casts, _Generic
 *      construct.c  ranges, and the reductions over them
 *      call.c       calls of helpers, of math functions and of the prelude
 *      builtin.c    what is called but takes no values: len, extent, atomic functions, assert
 *      convert.c    types: promotion, common types, weak values; operators on constants
 *      range.c      which indices need no check, and trip counts of loops, by the linear forms of form.c
 *      trips.c      which loops are proved short
 *
 * Errors leave by longjmp to the frame of lang_check, which owns nothing but the arena. */
#ifndef UF_CHECK_H
#define UF_CHECK_H

#include "lang/syntax.h"

typedef struct instance instance;
typedef struct unit unit;

/* A variable whose scope has not ended; `bound` of its unit leads to it by name. */
typedef struct variable {
    int name, local;       /* local: its slot among the function's locals */
    int depth;             /* depth of the scope that it was declared in */
    bool incomplete;       /* its own initialiser is being checked */
    const char *read_only; /* why it cannot be assigned: "const"; or NULL */
    /* 1 + its atom (form.h) while nothing assigns it and something is known of its value; else 0 */
    int known;
    const instance *owner;       /* the function it belongs to */
    struct variable *shadowed;   /* the variable that the name was bound to before */
    struct variable *scope_next; /* the variable declared before it in any scope that has not ended */
} variable;

/* A syntax tree that is being checked: the user's, or that of one row of the prelude. */
struct unit {
    const syntax *s;
    variable **bound;     /* by name: its innermost variable, or NULL */
    instance **instances; /* by definition: the list of its instances */
    bool prelude;
    const char *row; /* of the prelude: the name of the row */
};

enum {
    TRIPS_MAX = 1 << 20 /* iterations of loops that are proved short by constants alone */
};

/* The trip count of a loop at most: `factor` times the product of so many sizes of the call. factor 0: nothing is
 * known. */
typedef struct trips {
    int64_t factor;
    int sizes;
} trips;

/* An assignment to the unnamed result while its type is not known yet. */
typedef struct pending {
    node *assign;
    size_t at;
    struct pending *next;
} pending;

/* A helper for some argument types, or the kernel. */
struct instance {
    function f; /* must be the first member: the callee of an N_CALL is cast to its instance */
    const definition *def;
    unit *u;
    dtype *types; /* of the arguments */
    bool busy;    /* it is being checked, so that a call of it would be recursive */
    bool weak;    /* every value that it returns is weak, and so a call of it is */
    bool used;
    bool has_loop;
    int64_t nodes, bytes, variables; /* with everything that it calls inlined */
    size_t locals_size;              /* capacity of f.locals */
    pending *returns;
    bool returned;        /* a return with a value was seen */
    trips inside, around; /* the greatest trip count of loops nested in it, and of the loops around its calls */
    instance *same_next;  /* another instance of the same definition */
    instance *done_next;  /* the instance that was finished before this one */
};

/* A named output whose type is being found: the type that it is assumed to have in this round, and the one that
 * everything assigned to it in this round fits. */
typedef struct output_guess {
    dtype assumed, found;
    bool assumed_weak, found_weak;
} output_guess;

typedef struct check {
    arena *a;
    const dtype *out; /* types of the kernel's outputs; DT_NONE: to be found */
    int nout;
    output_guess *guesses; /* by output; NULL: all types are known */
    bool unchecked;
    const core_layout *core; /* layout of the kernel's operands; NULL: all are scalars */
    unit *user;
    unit **prelude;  /* by row: the parsed text, or NULL */
    instance *now;   /* the function that is being checked */
    variable *scope; /* the variables whose scopes have not ended, the last declared first */
    instance *done;  /* the finished instances, the last finished first */
    const syn *call; /* the user's call that led into the prelude, where errors are reported, or NULL */
    const unit *call_unit;
    const char *call_name;
    int made;  /* nodes made so far, also those that were dropped again */
    int depth; /* how deep calls of helpers are nested */
    int scope_depth;
    /* loops, and loops and switches, around the statement that is being checked, within its function */
    int loops, breakables;
    bool broke, continued; /* a break, or a continue, that leaves the innermost of these was seen */
    bool parallel;         /* the statement stands in a forall of this function */
    int forall_first;      /* locals from this slot on were declared in the innermost forall */
    const char *pure;      /* what the expression stands in that must not have effects, for messages, or NULL */
    const syn *ranges;     /* the ranges whose extents are being checked, or NULL */
    struct knowledge *known;
    struct table_counted *tables; /* those made so far, and the bytes of their elements */
    int64_t table_bytes;
} check;

/* ---- check.c ---- */

/* Sets an error TYPE at an offset of the unit that is being checked, or at the user's call that led into the prelude,
 * and leaves. */
_Noreturn void check_fail(check *c, size_t at, const char *format, ...) PRINTF(3, 4);
node *node_new(check *c, node_kind kind, dtype type, const syn *at);
/* Sets an error SYNTAX for a limit in the same way. */
_Noreturn void check_limit(check *c, size_t at, const char *format, ...) PRINTF(3, 4);
/* Adds a local to the function that is being checked, and returns its slot; local_count counts its bytes. */
int local_add(check *c, const char *title, dtype type, int rank, const int64_t *extent);
void local_count(check *c, int slot, size_t at);
/* Both. */
int local_new(check *c, const char *title, dtype type, int rank, const int64_t *extent, size_t at);
node *local_node(check *c, int slot, const syn *at);
const char *name_text(check *c, int id); /* NUL-terminated, in the arena */
variable *variable_bind(check *c, int id, int slot);
void scope_leave(check *c, variable *outer);
unit *unit_new(check *c, const syntax *s);
/* The number of indices of a kernel over indices; 0 for other kernels. */
int kernel_indices(const check *c);
/* The layout's dimension that a name means in the kernel; -1: none. A variable of that name hides it. */
int size_find(const check *c, int id);
/* The instance of a helper for argument types. It is checked if it does not exist yet. */
instance *instance_of(check *c, unit *u, const definition *def, const dtype *types, const syn *call);

/* ---- statement.c ---- */

/* Checks a list of statements as a scope, and writes their nodes to *out. True if control can reach its end. */
bool statements_check(check *c, const syn *list, node **out);

/* ---- expression.c ---- */

node *expression_check(check *c, const syn *s);
node *condition_check(check *c, const syn *s); /* converted to bool */
/* The type that a declaration, a cast or an association of _Generic names; DT_NONE: auto. */
dtype named_type(check *c, uint8_t type, const syn *of);
node *assign_node(check *c, node *lvalue, node *value, const syn *at);
/* The slot of the array that an argument of a built-in function names. */
int array_named(check *c, const syn *s, const char *callee);

/* ---- construct.c ---- */

/* Checks the extents of ranges, then binds their indices in the current scope. *out is a list of N_RANGE. */
void ranges_check(check *c, const syn *list, node **out);
node *reduction_check(check *c, const syn *s);

/* ---- call.c ---- */

node *call_check(check *c, const syn *s);
/* A call of a prelude helper that the checker itself needs, for complex * and /. */
node *prelude_call(check *c, const char *helper, node *first, node *second, const syn *at);
instance *prelude_instance(check *c, const char *helper, dtype first, dtype second, const syn *at);
/* Makes a weak call of the prelude compute in another floating type. False: it is a call of something else. */
bool call_retype(check *c, node *n, dtype floating);
/* A constant by its name, NAN, M_PI ..; NULL: there is none of this name. */
node *constant_find(check *c, const char *word, int length, const syn *at);
/* The known name that is most like this one; NULL: none is like it. */
const char *nearest_name(check *c, int id, bool functions);
bool name_is_function(const check *c, int id);

/* ---- builtin.c ---- */

/* The name of the i-th built-in function that takes no values; NULL after the last one. */
const char *builtin_name(int i);
int builtin_find(const char *word, int length); /* -1: there is none */
node *builtin_check(check *c, const syn *s, int which);
/* Is a statement a call of assert? */
bool is_assert(const check *c, const syn *s);
node *assert_check(check *c, const syn *s);

/* ---- convert.c ---- */

/* The type of a node as messages name it, "int32", with a mark on weak values. buffer has 32 bytes. */
const char *type_text(const node *n, char *buffer); /* marks weak values; buffer of 32 */
dtype dtype_promoted(dtype t);
dtype complex_of(dtype floating);
/* The type to which two operands are converted, by C's usual arithmetic conversions and the rules for weak values. */
dtype common_type(dtype a, bool a_weak, dtype b, bool b_weak, bool *weak);
node *constant_node(check *c, number value, const syn *at);
node *integer_node(check *c, int64_t value, dtype type, const syn *at);
/* Converts as an assignment in C does: the value is computed in its own type, and then converted. It is no longer
 * weak. */
node *convert(check *c, node *n, dtype to, const syn *at);
/* Converts an operand to the type that it meets others in. A weak value takes that type down to its literals. weak: the
 * result stays weak. */
node *adapt(check *c, node *n, dtype to, bool weak, const syn *at);
node *to_bool(check *c, node *n, const syn *at);
/* n, or what an operator on constants evaluates to. The kids of n must be final. */
node *fold(node *n);

/* ---- range.c ---- */

/* How much was known at some point of the text. What is learned in a scope is dropped at its end. */
typedef struct known_mark {
    int atoms, facts;
} known_mark;

void known_begin(check *c);
known_mark known_here(const check *c);
void known_drop(check *c, known_mark to);
typedef enum proof {
    PROOF_NONE,
    PROOF_NEEDS, /* for sizes that fulfil the tree's needs, among which those of this proof are now */
    PROOF_FULL
} proof;

/* Is the k-th index of an array proved to be within the array's extent? */
proof index_proof(check *c, const node *index, const local *l, int k);
/* The number of needs so far, and going back to it. */
int needs_here(const check *c);
void needs_drop(check *c, int to);
/* Gives the needs to the tree. */
void needs_take(const check *c, tree *t);
/* From here on the condition is known to be true, or false. */
void condition_assume(check *c, const node *condition, bool truth);
/* Notes the bounds of v, which is index d of a kernel over indices. */
void index_bounds(check *c, variable *v, int d);
/* Notes the bounds of v, which runs over a range, and returns the range's trip count. */
trips range_bounds(check *c, variable *v, const node *extent);
/* Notes the value of v, which nothing assigns after this; NULL: only its type is known. */
void value_known(check *c, variable *v, const node *value);
/* The counter of a `for` whose parts are checked, with its bounds noted; NULL: it has none. start: the value that the
 * counter begins with, or NULL. *most: the loop's trip count, if it is known. */
variable *loop_counter(check *c, const syn *loop, const node *condition, const node *start, trips *most);
/* Is a name assigned in a list of statements, or in them? Every variable of that name counts. */
bool name_assigned(const syn *s, int id);

/* ---- table.c ---- */

/* How many elements a constant array has; that it has too many is an error at `at`. */
int64_t table_size(check *c, dtype type, int rank, const int64_t *extent, size_t at);
/* Makes a local array whose bytes are not counted a table of these elements, in C order, already of its type, in memory that lives as
 * long as the tree. Limits are errors at `at`. Tables of the same `values`, in any functions, count once. */
void table_make(check *c, int slot, const number *values, size_t at);
/* Adds such a local to the function that is being checked, and returns its slot. */
int table_local(check *c, const char *title, dtype type, int rank, const int64_t *extent, const number *values,
                size_t at);

/* ---- trips.c ---- */

/* Notes the trip count of an N_LOOP or N_RANGE in the node, until the tree is finished. */
void trips_note(node *n, trips most);
/* Marks the loops of a tree that are not proved short. All its functions are instances; first is the last finished one,
 * from which done_next leads to the others. */
void trips_mark(tree *t, instance *kernel, instance *first);

/* ---- prelude.c ---- */

/* Which types the arguments of a row are converted to. */
typedef enum prelude_rule {
    RULE_ARITHMETIC, /* the common real type; integers shorter than int are promoted */
    RULE_FLOATING,   /* the common floating type (integers: float64; 16-bit ones: float32) */
    RULE_INEXACT,    /* the same, or the common complex type */
    RULE_COMPLEX,    /* the common type, made complex */
    RULE_ORDER,      /* the first is int32, the others as RULE_FLOATING: jn */
    RULE_EXPONENT,   /* as RULE_FLOATING, but the last one is int64: scalbln */
    RULE_WORDS,      /* all are integers and are converted to uint64 */
    RULE_EXACT       /* each stays as it is; only the checker and the prelude call it */
} prelude_rule;

typedef struct prelude_row {
    const char *name;
    uint8_t arity, rule;
    const char *source;
} prelude_row;

extern const prelude_row prelude_rows[];
extern const int prelude_row_count;

#endif
