/* internal.h - what the emitter's own files share. */
#ifndef UF_IR_INTERNAL_H
#define UF_IR_INTERNAL_H

#include "ir/common/emit.h"

/* A function of the module that is defined once, while another one is being written; its text goes to the module's end. */
typedef struct definition {
    text body;
    text *out; /* where the text went before, and the scope and block it had */
    int scope, block;
} definition;

/* Begins the function with this head ("define .. nounwind", without the brace), and sends what is written to it until
 * emit_define_end. Returns false, and does nothing, if it has been defined already. Definitions nest. */
bool emit_define(emit *e, definition *s, const char *head, ...) PRINTF(3, 4);
void emit_define_end(emit *e, definition *s);
/* True the first time it is asked for a key in a module. */
bool emit_once(emit *e, const char *key);

typedef struct jam jam;
typedef struct unrolled unrolled;

/* The function that is being written. */
typedef struct body {
    emit *e;
    const function *f;
    int leave, next; /* labels that break and continue jump to */
    int inline_end;  /* label of the end of the innermost N_INLINE */
    int finish;      /* label of the one exit */
    int case_label;  /* label of the next case of the innermost switch */
    bool open;       /* the current block has no terminator yet */
    bool is_kernel;  /* it is the kernel of a tree with core dimensions: the emitter has a frame */
    text slots;      /* allocas, which are placed at the head of the function */
    int nslots;      /* allocas made so far for what is no local */
    ssa *bound;      /* by local: the value of a range's variable; none: the local has a slot */
    int constructs;  /* GPU, mapped to threads: constructs written so far that stand in no other one */
    int reductions;  /* those of groups side by side */
    int depth;       /* constructs around the place that is being written */
    jam *jam;        /* GPU: the instances that are written together (construct/unroll_jam.h); NULL: none */
    ssa store_mask;  /* i1: stores to core operands happen only where it is true; none: always */
    ssa staged_row;  /* GPU, kernels over indices: in a loop over staged rows, which of them (i64; shared_rows.h) */
    bool by_lanes;   /* GPU: reductions at this place are shared by the lanes of a row */
    int ended;       /* label of the way out for an element that has ended (report.h); 0: none yet */

    struct online *online; /* GPU: reductions that are found together (construct/online.h) */
    struct held *held;     /* GPU: what the thread has of operands in registers (construct/held.h); NULL: nothing */
    int call;              /* GPU: which of the thread's calls is being written; each has its own locals */
    const ssa *core;       /* by operand: where that call's core is; NULL: at %p0, %p1 .. */
    bool if_aligned; /* and accesses to neighbours go by vectors only where %aligned is true; else it is known to be */

    const node *summed; /* a reduction whose value is known, and that */
    ssa sum;
    const node *steady; /* an element whose value is known (apart.c), and that */
    ssa steady_value;
    ssa chosen; /* i1: the compound assignment being written changes its element only where it is true; none: always */
    /* i1: elements of core operands along the range of local `along` are read only where `there` is true, and give 1 elsewhere, and are written only
     * where `there_too` is, which is the same, but not to LLVM: it would write what is computed in between, functions of vectors, for either
     * case. None: always. */
    ssa there, there_too;
    int along;

    struct narrow *narrow; /* what locals can be (narrow.c); NULL: not looked for so far */
    bool wide;             /* the expression around this one has been found not to be narrow */

    unrolled *unrolled; /* what is known while all loops are unrolled (unrolled.h); NULL: they are not */

    bool *assigned; /* by local: is anything assigned to it, or to an element of it? NULL: not looked for so far */

    const struct body_hooks *hooks; /* NULL: there are none */
    void *user;                     /* the hooks' own */
} body;

/* What a class of kernels knows of the nodes of its kernel, and does in a way of its own. Members may be NULL. */
typedef struct body_hooks {
    /* Is the value of an expression known before it is written? */
    bool (*recall)(body *b, const node *n, ssa *value);
    /* The number k of the variable that stands for an element of a core operand: @kernel has its address as %q<k>, and, where it is
     * *written, as %f<k> that of an i1 which tells that. -1: it is an element. */
    int (*variable)(const body *b, const node *element, bool *written);
    /* At the head of the function: adds allocas to b->slots, or says which thread stores. At its end, before its results are returned. */
    void (*begin)(body *b);
    void (*end)(body *b);
    /* Writes a reduction in a way of its own; false: it is to be written as usual. */
    bool (*reduce)(body *b, const node *n, ssa *value);
    /* Writes a statement, and perhaps those behind it; returns the last of them, or NULL: it is to be written as usual. */
    const node *(*statements)(body *b, const node *n);
    /* Unrolled kernels: reads element i of a core input by unrolled_set_input; NULL: that is done at the head. */
    void (*input)(body *b, int operand, int i);
} body_hooks;

/* Defines a function of the tree; hooks and user: those of the body. */
void emit_function(emit *e, const function *f, const body_hooks *hooks, void *user); /* statement.c */

/* A row of the math table that has a direction (directed.c). */
ssa emit_directed(emit *e, const math_row *row, dtype type, const ssa *args);

/* math.c: what a function of whole vectors of the processor, which the module has under the name `form`, makes of numbers; loops of it are loops of
 * vectors. scalar: the name of the function of numbers, which is made of it unless the module has it. */
ssa emit_form_call(emit *e, const char *scalar, const char *form, dtype type, int arity, const ssa *args);

/* pow where all elements have one exponent (power.c). */
ssa emit_power(emit *e, const math_row *row, dtype wide, const ssa *args);

/* vector_calls.c: the functions of vectors that a list of statements or of expressions calls, in helpers, too. */
typedef struct vector_calls {
    int count, own; /* how many, and how many of them are our own (vector_forms.h) */
    int lanes;      /* the fewest that one has; 0: nothing is called */
    bool loops;     /* there are loops */
} vector_calls;
vector_calls emit_vector_calls(const emit *e, const node *list);

/* math.c: CPU: a call of libm. */
ssa emit_libm(emit *e, const math_row *row, dtype wide, const ssa *args);
/* remainder.c: fmod by a division; where the quotient is large, by libm. of_float16: the arguments are float16 that were converted. */
ssa emit_remainder(emit *e, const math_row *row, dtype wide, bool of_float16, const ssa *args);

/* exponent.c: CPU: functions of the exponent, and the next number, by the bits; false: it is none of them. */
bool emit_exponent(emit *e, const math_row *row, dtype wide, const ssa *args, ssa *result);

/* half_exp.c: the shorter form of an exponential, for results that are halves; false: there is none, or they are not. */
bool emit_half_exp(emit *e, const math_row *row, dtype wide, ssa x, ssa *result);

/* ---- Floating division (quotient.c) ---- */

/* Is anything assigned to a variable, or to an element of it, after its declaration? */
bool variable_changes(body *b, int variable);
/* Is every value in an expression, and in those behind it in its list, the same whenever it is computed, but for the variable of a range? */
bool expression_stays(body *b, const node *n, int variable);
/* Is it a parameter of the kernel, or an element of one, and nothing is assigned to that? */
bool is_input(body *b, const node *n);
/* Can the compilers not know that it is not below 0? */
bool has_unknown_sign(body *b, const node *n);
/* Of an operator of two operands: does it compare floating numbers? */
bool compares_numbers(const node *n);

/* Before the functions of a tree are written. */
void find_comparisons(emit *e, const tree *t);
/* x / y, which are the values of two expressions. */
ssa emit_quotient(body *b, dtype type, const node *numerator, const node *denominator, ssa x, ssa y);

/* round_trip.c: a conversion back to the type of what was converted before, if that type gives the same at once; false: it does not. */
bool emit_round_trip(body *b, const node *n, ssa *value);

/* ---- Comparisons of floating numbers (comparison.c) ---- */

/* x o y, which are the values of two expressions. */
ssa emit_comparison(body *b, op o, dtype type, const node *left, const node *right, ssa x, ssa y);

/* ---- Division of integers (division.c): o is an operator that divides ---- */

ssa emit_divide(emit *e, op o, dtype type, ssa a, ssa b);
/* The values that an integer has: those of a type of so many bits. */
typedef struct integer_range {
    int bits;
    bool is_signed;
} integer_range;
/* reciprocal.c: the same of integers in a range, where b is the same in all elements of the innermost loop. */
ssa emit_divide_shared(emit *e, op o, dtype type, integer_range range, ssa a, ssa b);
/* high_sum.c: the upper half of x y + (high, low), of integers of 32 or 64 bits without signs. */
ssa emit_high_sum(emit *e, int bits, ssa x, ssa y, ssa low, ssa high);
/* floored.c: the same of quotients that are rounded down, of integers with signs. */
ssa emit_floor_shared(emit *e, op o, dtype type, integer_range range, ssa a, ssa b);
/* reciprocal.c, of a number d without sign (i64) that is not 0: ceil(log2(d)); (2^128 - 1) / D - 2^64, where D is d without its leading zeros; whether it
 * is a power of 2; and d in a form from which LLVM concludes nothing, or 1 for 0: a call that it has moved above a test of the divisor may be with 0. */
ssa emit_log(emit *e, ssa d);
ssa emit_reciprocal_word(emit *e, ssa d);
ssa emit_is_power_of_2(emit *e, ssa d);
ssa emit_not_zero(emit *e, ssa d);
/* The same for x and y, which are the values of two expressions, in the form that is faster for these. */
ssa emit_integer_quotient(body *b, op o, dtype type, const node *numerator, const node *denominator, ssa x, ssa y);

/* narrow.c: an expression of integers, by operations of 16 bits, if its value and those of all its parts are known to fit these; false:
 * they are not. Is it an operation that may be part of one? */
bool emit_narrow(body *b, const node *n, ssa *value);
bool narrow_is_operation(const node *n);

/* extreme.c, CPU: is it min or max of floating numbers, one of which is so itself? Its value. */
bool extreme_is_nested(const node *n);
ssa emit_extreme(body *b, const node *n);

ssa emit_expression(body *b, const node *n); /* expression.c */
/* expression.c; is it an input, converted or not, that is the same in all elements of the innermost loop? */
bool is_uniform(body *b, const node *n);
/* expression.c; calls f and returns its only result. line: the call's line in the source; 0: it has none of its own. */
ssa emit_call(body *b, const function *f, const ssa *values, int line);
/* Stores and loads elements of core operands (expression.c): one, or n neighbours along the unit dimension by aligned accesses. */
void emit_core_store(body *b, const node *element, ssa value);
void emit_core_store_vector(body *b, const node *element, const ssa *values, int n);
ssa *emit_core_vector(body *b, const node *element, int n);
/* n neighbours in array memory as values of a type, by vectors or one by one. */
void emit_neighbours(emit *e, dtype memory, dtype type, ssa pointer, int n, bool by_vectors, ssa *values);
/* And into array memory, of its type. */
void emit_store_neighbours(emit *e, dtype memory, const ssa *values, ssa pointer, int n, bool by_vectors);
/* Values of a type that a loader loads by vectors where %aligned is true, and one by one where it is not: it is called for both, unless the
 * variant says that it is (variant.gufunc.aligned). The same for what is stored. */
typedef void neighbours_loader(body *b, void *user, bool by_vectors, ssa *values);
typedef void neighbours_storer(body *b, void *user, bool by_vectors);
void emit_if_aligned(body *b, dtype type, int n, ssa *values, neighbours_loader *load, void *user);
void emit_store_if_aligned(body *b, neighbours_storer *store, void *user);
fragment emit_function_name(emit *e, const function *f); /* statement.c; "kernel", "f3_square" */
/* "{ float, i32 }": the types of the results that are no core operands, and in a variant that reports the i1 of report.h. */
void emit_result_type(const emit *e, text *out, const function *f);
void emit_statement(body *b, const node *n); /* statement.c */
void emit_statements(body *b, const node *list);
ssa emit_slot(body *b, const char *type); /* statement.c; address of a variable of its own */
ssa emit_local_slot(body *b, int k);      /* statement.c; address of a local */
void emit_locals(body *b); /* statement.c; makes the slots of a call's locals, at the head of the function */

enum {
    TABLE_ALIGN = 16
};
ssa emit_table(emit *e, const local *l); /* table.c; address of the first element of a table */

/* byte_table.c: looks a byte up in a table, where emit.byte_tables says that this pays; false: n is no such look-up. */
bool emit_byte_lookup(body *b, const node *n, ssa *value);

/* Is operand k of a kernel not written by anybody while it runs? expression.c */
bool operand_stays(const frame *f, const function *kernel, int k);
void emit_invariant(emit *e, bool is_input); /* expression.c; are loads from here on of memory that nobody writes? */

/* memory.c: an access to array memory of any IR type, aligned to so many bytes; a pointer to one type as one to another; what lies in
 * memory for a value (of complex two parts), and back. emit_parts_of returns how many parts there are. */
ssa emit_load_as(emit *e, const char *type, ssa pointer, int align);
void emit_store_as(emit *e, const char *type, ssa value, ssa pointer, int align);
ssa emit_pointer_as(emit *e, const char *from, ssa pointer, const char *to);
ssa emit_value_of_parts(emit *e, dtype t, const ssa *parts);
int emit_parts_of(emit *e, dtype t, ssa value, ssa *parts);
/* memory.c, CPU: has a line of the cache fetched, so many bytes from a pointer to a type. Fetching changes nothing, whatever lies there. */
typedef enum prefetch {
    PREFETCH_READ,
    PREFETCH_READ_L2,
    PREFETCH_WRITE_L2
} prefetch;
void emit_prefetch(emit *e, const char *type, ssa pointer, ssa bytes, prefetch how);

/* ---- Constructs: forall and the reductions. The folder construct/ writes them, out of the expressions and statements in them ---- */

ssa emit_reduce(body *b, const node *n); /* construct.c */
void emit_forall(body *b, const node *n);
/* What is known already of an expression for the instance that is being written (unroll_jam.c); false: nothing. */
bool jam_recall(const body *b, const node *n, ssa *value);
/* What follows the name of the slot of a local of which each instance has its own: "" or "_3". */
fragment jam_suffix(const body *b, int variable);

#endif
