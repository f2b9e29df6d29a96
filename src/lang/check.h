/* check.h - the checker's own: from the syntax tree and input dtypes to the typed tree.
 *
 *   check.c      the kernel, instances of helpers, results, limits
 *   statement.c  statements, declarations, which paths end
 *   expression.c names, operators, assignments, casts, _Generic
 *   construct.c  ranges, and the reductions over them
 *   call.c       helpers, math functions, the prelude
 *   builtin.c    what is called with no values: len, extent, atomic functions, assert
 *   convert.c    types: promotion, common types, weak values, constants evaluated
 *   range.c      which indices need no check, and how often a loop goes round, by form.c
 *   passes.c     which loops are proved short
 *
 * Errors leave through longjmp to lang_check's frame, which owns nothing but the arena. */
#ifndef UF_CHECK_H
#define UF_CHECK_H

#include "lang/syntax.h"

typedef struct instance instance;
typedef struct unit unit;

/* A name bound to a variable, while its scope lasts. */
typedef struct variable {
    int name, local;           /* local: its slot */
    int depth;                 /* of the scope it was declared in */
    bool incomplete;           /* its own initialiser is being checked */
    const char *fixed;         /* why it cannot be assigned: "const"; or NULL */
    int known;                 /* its atom + 1, while nothing assigns it and something is known of its value; else 0 */
    const instance *owner;     /* the function it belongs to */
    struct variable *shadowed; /* what the name was bound to before */
    struct variable *scope_next; /* the variables of its scope, last first */
} variable;

/* A syntax tree in use: the user's, or that of one row of the prelude. */
struct unit {
    const syntax *s;
    variable **bound;     /* by name: the innermost variable */
    instance **instances; /* by definition: its instances */
    bool prelude;
    const char *row; /* prelude: the name of its row */
};

enum {
    PASSES_MOST = 1 << 20 /* of loops that are short by their constants */
};

/* How often something is done at most: `factor` times the product of so many sizes. factor 0: nothing is known. */
typedef struct passes {
    int64_t factor;
    int sizes;
} passes;

/* A value on its way into the result whose type is not known yet. */
typedef struct pending {
    node *assign;
    size_t at;
    struct pending *next;
} pending;

/* A helper for some argument types, or the kernel. */
struct instance {
    function f; /* first: N_CALL's callee is one */
    const definition *def;
    unit *u;
    dtype *types; /* of the arguments */
    bool busy;    /* being checked: a call of it is recursive */
    bool weak;    /* every value returned is weak, so the call is */
    bool used;
    bool has_loop;
    int64_t nodes, bytes, variables; /* with everything it calls, inlined */
    size_t locals_size;              /* room in f.locals */
    pending *returns;
    bool returned;         /* a value, somewhere */
    passes inside, around; /* the most of its loops in each other; the same of the loops around its calls */
    instance *same_next;   /* of the same definition */
    instance *done_next;   /* finished before this one */
};

/* A named output whose type is to be found: what it was assumed to be, and what was assigned to it. */
typedef struct output_guess {
    dtype assumed, found;
    bool assumed_weak, found_weak;
} output_guess;

typedef struct check {
    arena *a;
    const dtype *out; /* of the kernel; DT_NONE: to be found */
    int nout;
    output_guess *guesses; /* by output, or NULL */
    bool unchecked;
    const core_layout *core; /* of the kernel's operands; NULL: all are scalars */
    unit *user;
    unit **prelude;  /* by row: parsed, or NULL */
    instance *now;   /* the function being checked */
    variable *scope; /* variables of the innermost scope, last first */
    instance *done;  /* last finished first */
    const syn *call; /* the user's call that led into the prelude, or NULL */
    const unit *call_unit;
    const char *call_name;
    int made;  /* nodes made so far, those dropped included */
    int depth; /* of instances being checked */
    int scope_depth;
    int loops, breakables; /* around the statement being checked, in this function */
    bool broke, continued; /* a break, a continue was seen that leaves the innermost of these */
    bool parallel;         /* within a forall of this function */
    int forall_first;      /* locals from this slot on were declared within the innermost forall */
    const char *pure;      /* what the expression being checked stands in that has no effects, or NULL */
    const syn *ranges;     /* those whose extents are being checked, or NULL */
    struct knowledge *known;
} check;

/* ---- check.c ---- */

/* Reports a type error at an offset of the unit being checked, or at the user's call that led into the prelude. */
_Noreturn void check_fail(check *c, size_t at, const char *format, ...) PRINTF(3, 4);
node *node_new(check *c, node_kind kind, dtype type, const syn *at);
/* A new local of the function being checked; its slot. */
int local_new(check *c, const char *title, dtype type, int rank, const int64_t *extent, size_t at);
node *local_node(check *c, int slot, const syn *at);
const char *name_text(check *c, int id); /* terminated, in the arena */
variable *variable_bind(check *c, int id, int slot);
void scope_leave(check *c, variable *outer);
unit *unit_new(check *c, const syntax *s);
/* Indices of a kernel over indices; 0: it is none. */
int kernel_indices(const check *c);
/* The layout's dimension that a name means in the kernel; -1: none. Variables come first. */
int size_find(const check *c, int id);
/* The instance of a helper for argument types, checked if it is new. */
instance *instance_of(check *c, unit *u, const definition *def, const dtype *types, const syn *call);

/* ---- statement.c ---- */

/* Checks a list of statements, a scope, into *out; true if control can reach its end. */
bool statements_check(check *c, const syn *list, node **out);

/* ---- expression.c ---- */

node *expression_check(check *c, const syn *s);
node *condition_check(check *c, const syn *s); /* as bool */
/* The type a declaration, cast or association names; DT_NONE: auto. */
dtype named_type(check *c, uint8_t type, const syn *of);
node *assign_node(check *c, node *place, node *value, const syn *at);
/* The array that an argument of a built-in function names: its slot. */
int array_named(check *c, const syn *s, const char *callee);

/* ---- construct.c ---- */

/* Checks the extents of ranges, then binds their indices in the scope around: a list of N_RANGE. */
void ranges_check(check *c, const syn *list, node **out);
node *reduction_check(check *c, const syn *s);

/* ---- call.c ---- */

node *call_check(check *c, const syn *s);
/* A helper of the prelude called by the checker itself: complex * and /. */
node *prelude_call(check *c, const char *helper, node *first, node *second, const syn *at);
instance *prelude_instance(check *c, const char *helper, dtype first, dtype second, const syn *at);
/* A weak call of the prelude computed in another floating type. */
bool call_retype(check *c, node *n, dtype floating);
/* A constant: NAN, M_PI .. NULL: no such name. */
node *constant_find(check *c, const char *word, int length, const syn *at);
/* The known name most like this one, or NULL. */
const char *nearest_name(check *c, int id, bool functions);
bool name_is_function(const check *c, int id);

/* ---- builtin.c ---- */

/* The name of the i-th built-in function that takes no values; NULL: past the last one. */
const char *builtin_name(int i);
int builtin_find(const char *word, int length); /* -1: there is none */
node *builtin_check(check *c, const syn *s, int which);
/* True if a statement is a call of assert. */
bool is_assert(const check *c, const syn *s);
node *assert_check(check *c, const syn *s);

/* ---- convert.c ---- */

/* C's name with ours for types as they appear in messages: "int32". */
const char *type_text(const node *n, char *buffer); /* marks weak values; buffer of 32 */
dtype dtype_promoted(dtype t);
dtype complex_of(dtype floating);
/* The type in which two values meet under the usual arithmetic conversions and the rules for weak values. */
dtype common_type(dtype a, bool a_weak, dtype b, bool b_weak, bool *weak);
node *constant_node(check *c, number value, const syn *at);
node *integer_node(check *c, int64_t value, dtype type, const syn *at);
/* As C converts on assignment: the value is computed in its own type, then converted. Ends weakness. */
node *convert(check *c, node *n, dtype to, const syn *at);
/* As an operand beside others: a weak value takes the type, down to its literals. weak: the result stays weak. */
node *adapt(check *c, node *n, dtype to, bool weak, const syn *at);
node *to_bool(check *c, node *n, const syn *at);
/* n, with operators on constants evaluated; n's kids are final. */
node *fold(node *n);

/* ---- range.c ---- */

/* What was known at some place; what is learned later is dropped at the end of its scope. */
typedef struct known_mark {
    int atoms, facts;
} known_mark;

void known_begin(check *c);
known_mark known_here(const check *c);
void known_drop(check *c, known_mark to);
typedef enum proof {
    PROOF_NONE,
    PROOF_NEEDS, /* of sizes for which the tree's needs hold, which now have what it takes */
    PROOF_FULL
} proof;

/* Whether an index, the k-th, is proved to lie within the extent of an array. */
proof index_proof(check *c, const node *index, const local *l, int k);
/* How much is needed of the sizes so far; back to that. */
int needs_here(const check *c);
void needs_drop(check *c, int to);
/* What is needed, for the tree. */
void needs_take(const check *c, tree *t);
/* From here on the condition is known to hold, or not to. */
void condition_assume(check *c, const node *condition, bool truth);
/* v is index d of a kernel over indices. */
void index_bounds(check *c, variable *v, int d);
/* v runs over a range, which takes so many values. */
passes range_bounds(check *c, variable *v, const node *extent);
/* v is not assigned after this. value: what it has, or NULL: anything of its type. */
void value_known(check *c, variable *v, const node *value);
/* The variable that a checked `for` counts, with its bounds known, or NULL. start: what it begins with, or NULL. *most: how often
 * the loop goes round. */
variable *loop_counter(check *c, const syn *loop, const node *condition, const node *start, passes *most);
/* True if a name is assigned in a list or below; every variable of that name counts. */
bool name_assigned(const syn *s, int id);

/* ---- passes.c ---- */

/* Notes how often a node N_LOOP or N_RANGE goes round, until the tree is there. */
void passes_note(node *n, passes most);
/* Marks what is not proved short in a tree, whose functions are instances. first: the last finished, the others by done_next. */
void passes_mark(tree *t, instance *kernel, instance *first);

/* ---- prelude.c ---- */

/* How a row's arguments are brought to types. */
typedef enum prelude_rule {
    RULE_ARITHMETIC, /* the common real type, integers below int promoted */
    RULE_FLOATING,   /* the common floating type; integers: float64, halves: float32 */
    RULE_INEXACT,    /* the same, or the common complex type */
    RULE_COMPLEX,    /* the common type made complex */
    RULE_ORDER,      /* int32, then as RULE_FLOATING: jn */
    RULE_EXPONENT,   /* as RULE_FLOATING, but the last is int64: scalbln */
    RULE_WORDS,      /* integers, each converted to uint64 */
    RULE_EXACT       /* each as it is: called by the checker */
} prelude_rule;

typedef struct prelude_row {
    const char *name;
    uint8_t arity, rule;
    const char *source;
} prelude_row;

extern const prelude_row prelude_rows[];
extern const int prelude_row_count;

#endif
