/* check.h - what the files of the checker share. The checker makes the typed tree from the syntax tree and the dtypes
 * of the inputs.
 *
 *      check.c      the kernel, instances of helpers, the types of results, limits
 *      statement.c  statements, declarations, which paths come to an end
 *      expression.c names, operators, assignments, casts, _Generic
 *      construct.c  ranges, and the reductions over them
 *      type.c       types as texts write them, and the records that they make
 *      constant.c   constants and tables of file scope
 *      record.c     records in expressions, which are taken apart into scalars
 *      overload.c   which helper or function a call means, and the call of it
 *      call.c       calls by name: what is built in, and the prelude
 *      builtin.c    what is called but takes no values: len, extent, atomic functions, assert
 *      convert.c    types: promotion, common types, weak values; operators on constants
 *      table.c      constant arrays, which are data of the code
 *      range.c      which indices need no check, and trip counts of loops, by the linear forms of form.c
 *      trips.c      which loops are proved short
 *
 * Errors leave by longjmp to the frame of lang_check, which owns nothing but the arena. */
#ifndef UF_CHECK_H
#define UF_CHECK_H

#include "lang/syntax.h"

typedef struct instance instance;
typedef struct unit unit;
typedef struct frame frame;

/* The type of a value: a dtype; or a record, and DT_NONE. */
typedef struct value_type {
    dtype type;
    const record *record;
} value_type;

static inline value_type value_scalar(dtype t) { return (value_type){t, NULL}; }
static inline bool value_same(value_type a, value_type b) {
    return a.type == b.type && record_same(a.record, b.record);
}
/* How many scalars a value is made of. */
static inline int value_leaves(value_type t) { return t.record ? t.record->nleaves : 1; }
static inline dtype value_leaf(value_type t, int i) { return t.record ? t.record->leaves[i].type : t.type; }

/* While checking, a record is a node N_RECORD: `body` is a list of statements that are done first, and args, a list through next, has
 * an expression for each leaf, without effects, whose value the statements and nothing else decide. It never becomes part of a tree:
 * what uses it takes its statements and leaves (record.c). */
enum {
    N_RECORD = N_LEAVE + 1,
    DT_RECORD = DT_COUNT /* its `type` */
};

/* A variable whose scope has not ended; `bound` of its unit leads to it by name. A record is as many locals as it has leaves, an
 * array of records as many arrays. */
typedef struct variable {
    int name, local;       /* local: its slot among the function's locals, the first of a record's */
    const record *record;  /* NULL: a scalar, or an array of scalars */
    int depth;             /* depth of the scope that it was declared in */
    bool incomplete;       /* its own initialiser is being checked */
    const char *read_only; /* why it cannot be assigned: "const"; or NULL */
    /* 1 + its atom (form.h) while nothing assigns it and something is known of its value; else 0 */
    int known;
    const frame *owner; /* what it belongs to */
    unit *in;           /* whose `bound` has it */
    const node *
        stands_for; /* an N_CONST or N_SIZE whose name it is, of an array parameter's extent or a weak constant; else NULL */
    struct variable *shadowed;   /* the variable that the name was bound to before */
    struct variable *scope_next; /* the variable declared before it in any scope that has not ended */
} variable;

/* A constant of file scope for the types that it has: its value, or, of an array, its elements. */
typedef struct file_constant {
    const constant_syn *of;
    bool busy;   /* it is being evaluated, so that its own name in it is an error */
    node *value; /* NULL: an array */
    dtype type;
    int rank;
    int64_t extent[LANG_MAX_RANK];
    const number *elements;
    struct file_constant *next;
} file_constant;

/* A syntax tree that is being checked: the user's, that of a module or function that it uses, or that of one row of the prelude. */
struct unit {
    const syntax *s;
    variable **bound;         /* by name: its innermost variable, or NULL */
    instance **instances;     /* by definition: the list of its instances */
    file_constant *constants; /* those that have been used */
    bool prelude;
    const char *row; /* of the prelude: the name of the row */
    unit *next;
};

enum {
    TRIPS_MAX = 1 << 20, /* iterations of loops that are proved short by constants alone */
    TRIPS_OFFSET = 1024  /* a trip count may be beyond the multiple of a size by so many, and one */
};

/* The trip count of a loop at most: `factor` times the product of so many sizes of the call, of which `wide` have TRIPS_OFFSET + 1
 * added to them. factor 0: nothing is known. Of a part of a kernel: the greatest trip count of the loops nested in it, and its
 * work: the nodes of its tree, each as many times as the factors of the loops around it within the part say. */
typedef struct trips {
    int64_t factor;
    int sizes;
    int64_t work;
    int wide;
} trips;

/* A named output whose type is being found: the type that it is assumed to have in this round, and the one that
 * everything assigned to it in this round fits. */
typedef struct output_guess {
    bool given; /* the type is known */
    int output; /* its number; of a record several leaves have it */
    dtype assumed, found;
    bool assumed_weak, found_weak;
} output_guess;

/* An assignment to the unnamed result while its type is not known yet. */
typedef struct pending {
    node *assign;
    size_t at;
    struct pending *next;
} pending;

/* The body of a definition that is being checked, as the function of an instance, or in place of a call within one. Variables belong
 * to a frame, and are not seen in others. */
struct frame {
    const frame *outer; /* of a body in place: the one that calls it */
    const definition *def;
    unit *u;
    bool is_kernel, in_place;
    value_type *bindings; /* of the type variables, in the order of the definition; a type of DT_NONE is none yet */
    /* The result of a definition without named outputs: its type, as far as it is known, and its first local. */
    value_type result;
    int result_slot;
    bool weak;        /* every value that it returns is weak, and so a call of it is */
    bool returned;    /* a return with a value was seen */
    const syn *empty; /* a return without a value, in a body in place; NULL: none was seen */
    bool again;       /* the type of the result is known since this round: the body is to be checked once more */
    pending *returns;
    int output_slot;       /* the first local of the named outputs */
    output_guess *guesses; /* by leaf of the named outputs; NULL: all types are given */
    int nguesses;
    const record *
        *found; /* by named output: the record that is assigned to it, where no type is given; NULL: none so far */
};

/* A helper for some argument types, or the kernel. */
struct instance {
    function f; /* must be the first member: the callee of an N_CALL is cast to its instance */
    frame frame;
    value_type *types;    /* of the arguments */
    const dtype *results; /* by leaf, the types that the results must have; NULL: those that they get; or DT_NONE */
    bool busy;            /* it is being checked, so that a call of it would be recursive */
    bool used;
    bool has_loop;
    int64_t nodes;      /* its own */
    int64_t called;     /* with those of its callees, each as often as it is called */
    int64_t arrays;     /* bytes of its local arrays, and in the same way of its callees */
    int64_t bytes;      /* of its scalar variables */
    int64_t deepest;    /* the most bytes of scalar variables that exist at a time in a callee and what that calls */
    int variables;      /* scalar variables that exist at a time, those of callees among them */
    size_t locals_size; /* capacity of f.locals */
    struct table_use *tables; /* tables of file scope that it has locals for (constant.c) */
    trips inside, around;     /* of its body, and the greatest trip count of the loops around its calls */
    instance *same_next;      /* another instance of the same definition */
    instance *done_next;      /* the instance that was finished before this one */
};

typedef struct check {
    arena *a;
    const dtype *out; /* types of the kernel's outputs, by leaf; DT_NONE: to be found */
    int nout;
    const record *const *records; /* of the kernel's parameters and outputs; NULL: all are scalars */
    bool unchecked;
    const core_layout *core;            /* layout of the kernel's operands; NULL: all are scalars */
    unit *units;                        /* of the user's text, and of those that it imports */
    struct known_record *known_records; /* type.c */
    unit **prelude;                     /* by row: the parsed text, or NULL */
    instance *now;                      /* the function that is being checked */
    frame *frame;                       /* the body in it that is being checked */
    variable *scope;                    /* the variables whose scopes have not ended, the last declared first */
    instance *done;                     /* the finished instances, the last finished first */
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
    int pure_first;        /* locals from this slot on were declared in that expression, by bodies in place of calls */
    const syn *ranges;     /* the ranges whose extents are being checked, or NULL */
    struct knowledge *known;
    struct table_counted *tables; /* those made so far, and the bytes of their elements */
    int64_t table_bytes;
} check;

/* The end of a list, to which nodes are appended, each with those behind it. */
typedef struct appender {
    node **end;
} appender;

/* ---- check.c ---- */

/* Sets an error TYPE at an offset of the unit that is being checked, or at the user's call that led into the prelude,
 * and leaves. */
_Noreturn void check_fail(check *c, size_t at, const char *format, ...) PRINTF(3, 4);
/* Sets an error SYNTAX for a limit in the same way. */
_Noreturn void check_limit(check *c, size_t at, const char *format, ...) PRINTF(3, 4);
node *node_new(check *c, node_kind kind, dtype type, const syn *at);
/* Adds a local to the function that is being checked, and returns its slot; local_count counts its bytes. */
int local_add(check *c, const char *title, dtype type, int rank, const int64_t *extent);
void local_count(check *c, int slot, size_t at);
/* Both. */
int local_new(check *c, const char *title, dtype type, int rank, const int64_t *extent, size_t at);
/* A scalar local for a value in between, which does not count among the variables of the text. */
int temporary_new(check *c, dtype type);
node *local_node(check *c, int slot, const syn *at);
const char *name_text(check *c, int id); /* NUL-terminated, in the arena */
variable *variable_bind(check *c, int id, int slot);
/* The variable that a name means here; NULL: none. */
variable *variable_find(const check *c, int id);
void scope_leave(check *c, variable *outer);
/* What a body knows of the place that it stands at, which is nothing where the body begins; and all that is said of the place of
 * the text that is being checked, as it was. */
void surroundings_clear(check *c);
void surroundings_restore(check *c, const check *outer);
unit *unit_new(check *c, const syntax *s);
unit *unit_of(check *c, const syntax *s); /* made at its first use */
/* The number of indices of a kernel over indices; 0 for other kernels. */
int kernel_indices(const check *c);
/* The layout's dimension that a name means in the kernel; -1: none. A variable of that name hides it. */
int size_find(const check *c, int id);
/* The instance of a helper for argument types. It is checked if it does not exist yet. bindings: of its type variables, NULL if
 * it has none. results: NULL, or the dtypes that its results must have. */
instance *instance_of(check *c, unit *u, const definition *def, const value_type *types, const value_type *bindings,
                      const dtype *results, const syn *call);
/* The same for scalars alone. */
instance *instance_of_dtypes(check *c, unit *u, const definition *def, const dtype *types, const syn *call);
/* The type of named output k of a body that has been checked, whose first local has this dtype. */
value_type output_type(check *c, const frame *f, int k, dtype type);
/* Checks the body of a helper in place of a call. Its parameters have been bound in f, as variables whose owner it is. *out is the
 * N_INLINE; the result is in the locals of f->result_slot. */
void in_place_check(check *c, frame *f, const syn *call, variable *outer, node **out);

/* ---- statement.c ---- */

/* Checks a list of statements as a scope, and writes their nodes to *out. True if control can reach its end. */
bool statements_check(check *c, const syn *list, node **out);
/* An N_EVAL. */
node *evaluate(check *c, node *value, const syn *at);
void append(appender *a, node *n);
/* Declares a constant array, whose elements must be constants. It is the last local. */
const local *table_declare(check *c, const syn *s, dtype type);
/* The value of a constant extent. */
int64_t constant_extent(check *c, const syn *s);

/* ---- expression.c ---- */

node *expression_check(check *c, const syn *s); /* a scalar */
/* A value that must not have effects, as it stands in `where`. */
node *pure_check(check *c, const syn *s, const char *where);
node *value_check(check *c, const syn *s);     /* a scalar or an N_RECORD */
node *condition_check(check *c, const syn *s); /* converted to bool */
node *assign_node(check *c, node *lvalue, node *value, const syn *at);
/* The slot of the array that an argument of a built-in function names. */
int array_named(check *c, const syn *s, const char *callee);
/* Fails if a variable is used in its own initialiser. */
void require_complete(check *c, const variable *v, const syn *s);
/* Fails if a variable cannot be assigned here. */
void require_assignable(check *c, const variable *v, const syn *s);
node *index_check(check *c, const syn *s);
/* The N_ELEMENT of an array at given indices, which become part of it. */
node *element_node(check *c, int slot, node *const *indices, const syn *at);
node *binary_node(check *c, op o, node *a, node *b, dtype type, bool weak, const syn *at);
/* What a binary operator makes of two scalars. */
node *operate(check *c, const syn *s, node *a, node *b);
/* The same of scalars and records. */
node *operate_values(check *c, const syn *s, node *a, node *b);
/* ++ or -- of an lvalue. */
node *update_node(check *c, const syn *s, node *lvalue);

/* ---- type.c ---- */

/* The type that is written; NULL (auto): DT_NONE. */
value_type named_type(check *c, const type_syn *to, const syn *at);
/* The dtype that is written, where a record cannot stand: `what`, for the error, is what is wanted. */
dtype named_dtype(check *c, const type_syn *to, const syn *at, const char *what);
/* From here on this is the record of its definition and argument. NULL does nothing. */
void record_know(check *c, const record *r);
const char *value_text(value_type t); /* "float32", "interval(float32)" */

/* ---- constant.c ---- */

/* The constant of file scope that a name means, the text's own or an imported one; NULL: none. */
const file_constant *constant_named(check *c, int id, const syn *at);
/* Its value, weak as it was written. */
node *constant_value(check *c, const file_constant *k, const syn *at);
/* The slot of a table of file scope in the function that is being checked. */
int constant_table(check *c, const file_constant *k, const syn *at);
/* The type of the elements of an array that is declared without one: C's for all its values together. */
dtype elements_type(check *c, const syn *array);

/* ---- record.c ---- */

node *record_new(check *c, const record *r, const syn *at);
/* The record whose leaves are the locals from slot on. body: the statements before it, or NULL. */
node *record_of_locals(check *c, const record *r, int slot, node *body, const syn *at);
/* An expression for leaf i of an N_RECORD, without the statements before it. */
node *record_leaf_node(check *c, const node *n, int i);
value_type node_type(const node *n);
/* Is an expression a part of a record, or of an array of records? */
bool is_part(const check *c, const syn *s);
node *member_check(check *c, const syn *s);
node *part_assign_check(check *c, const syn *s);
node *part_compound_check(check *c, const syn *s);
node *part_update_check(check *c, const syn *s);
node *literal_check(check *c, const syn *s);
/* Converts a value to a type as an assignment does: a record to itself, a number to a record by its conversion, a number to a
 * number; as a cast does: by any conversion that is defined. */
node *value_convert(check *c, node *n, value_type to, bool is_cast, const syn *at);
/* Assigns a record to locals from slot on: appends the statements. */
void record_assign(check *c, appender *to, int slot, node *value, const syn *at);
/* Makes an initialiser in braces a value of the record. */
node *braces_check(check *c, const syn *braces, const record *r);
node *record_equal(check *c, const syn *s, node *a, node *b);
node *record_select(check *c, const syn *s, node *condition, node *yes, node *no);
node *node_clone(check *c, const node *n); /* of an expression without effects */
/* The value in a local that is declared for it, unless it is a constant. */
node *temporary_declare(check *c, node *value, const syn *at, appender *to);
/* The statements, then the value: the value alone if there are none. */
node *sequence(check *c, node *body, node *value, const syn *at);
/* Fails because a record, or nothing, stands where a number must. */
_Noreturn void fail_record(check *c, const node *n, size_t at);

/* ---- overload.c ---- */

/* The arguments of a call, as they have been checked. */
typedef struct call_arguments {
    const syn *call;
    const char *callee;
    node *list;
    int count;
    const variable *arrays[UF_MAX_OPERANDS]; /* an argument that is an array, whose node says nothing; or NULL */
} call_arguments;

/* Is one of them a record? */
bool has_record(const call_arguments *a);
/* Calls the best of the helpers and functions of a name that the text sees, or those of the texts that define the records among the
 * arguments. has_builtin: there is a built-in function of this name, which comes before conversions. NULL: none fits, or the built-in
 * is better. required: if none fits, fail and list them. */
node *overload_call(check *c, call_arguments *a, const char *word, int length, bool has_builtin, bool required);
/* Does the text see a helper or a function of this name? */
bool overload_known(const check *c, const char *word, int length);
/* Does one of them take an array as its k-th argument? */
bool takes_array(const check *c, const char *word, int length, int k);
/* The helper that `named` names, for two arguments of one type. */
instance *overload_instance(check *c, const syn *named, value_type type);
/* The operator for these operands (b may be NULL), of which one is a record; NULL: none is defined. */
node *operator_call(check *c, const char *word, node *a, node *b, const syn *at);
_Noreturn void fail_operator(check *c, const char *word, node *a, node *b, const syn *at);
/* The conversion of a value to a type. NULL: none is defined. */
node *conversion_call(check *c, node *n, value_type to, bool is_cast, const syn *at);
/* Checks a call with several results: *before gets the statements that come first, values (of UF_MAX_OPERANDS) the results. Returns
 * how many there are. */
int unpacked_call(check *c, const syn *call, node **before, node **values);

/* ---- construct.c ---- */

/* Checks the extents of ranges, then binds their indices in the current scope. *out is a list of N_RANGE. */
void ranges_check(check *c, const syn *list, node **out);
node *reduction_check(check *c, const syn *s);

/* ---- call.c ---- */

node *call_check(check *c, const syn *s);
/* Checks the arguments of a.call and sets list, count and arrays. */
void arguments_check(check *c, call_arguments *a);
/* A call of a prelude helper that the checker itself needs, for complex * and /. */
node *prelude_call(check *c, const char *helper, node *first, node *second, const syn *at);
instance *prelude_instance(check *c, const char *helper, dtype first, dtype second, const syn *at);
/* Makes a weak call of the prelude compute in another floating type. False: it is a call of something else. */
bool call_retype(check *c, node *n, dtype floating);
/* A constant by its name, NAN, M_PI ..; NULL: there is none of this name. */
node *constant_find(check *c, const char *word, int length, const syn *at);
bool name_is_function(const check *c, int id);
/* The i-th constant, and the i-th function of the parts of complex numbers, by their names; NULL after the last one. */
const char *constant_title(int i);
const char *part_title(int i);

/* ---- unknown.c ---- */

/* Fails about a name that is not known, and says what was probably meant. */
_Noreturn void fail_unknown(check *c, const syn *s, bool assigned);
_Noreturn void fail_unknown_function(check *c, const syn *s);
/* Fails if a call is a construct whose range was written as a comparison, "sum(i < n, ..)". */
void range_require(check *c, const syn *call);

/* ---- builtin.c ---- */

/* The extent of dimension d of the array in a slot. */
node *extent_node(check *c, int slot, int d, const syn *at);
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

/* Facts that do not hold for a while. */
typedef struct known_facts {
    struct form *facts;
    int count, size;
} known_facts;

void known_begin(check *c);
/* Sets all facts aside: a helper is checked once for all of its calls, and what is known at the first of them does not hold at others. */
known_facts facts_set_aside(check *c);
void facts_restore(check *c, known_facts aside);
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
/* v is a parameter of a kernel over indices, operand k, that nothing assigns: a number, which each call gives as it gives sizes. */
void number_known(check *c, variable *v, int k);
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
