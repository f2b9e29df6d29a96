/* internal.h - what the emitter's own files share. */
#ifndef UF_IR_INTERNAL_H
#define UF_IR_INTERNAL_H

#include "ir/common/emit.h"

/* A function of the module written while another one is being written: defined once, placed at the end. */
typedef struct aside {
    text body;
    text *out; /* what was being written */
    int scope, block;
} aside;

/* Begins the function with this head ("define .. nounwind", without the brace); false if it is there already. They nest. */
bool emit_aside(emit *e, aside *s, const char *head, ...) PRINTF(3, 4);
void emit_aside_end(emit *e, aside *s);
/* True the first time it is asked for a key in a module. */
bool emit_once(emit *e, const char *key);

typedef struct jam jam;

/* The function that is being written. */
typedef struct body {
    emit *e;
    const function *f;
    int leave, next; /* labels of break and continue */
    int finish;      /* label of the one exit */
    int case_label;  /* label of the next case of the innermost switch */
    bool open;       /* the current block is not terminated */
    bool is_kernel;  /* of a generalized ufunc: the emitter has a frame */
    text slots;      /* the allocas, which stand at the head of the function */
    int nslots;      /* made so far beside the locals' */
    ssa *bound;      /* by local: the value of a range's variable; empty: the local has a slot */
    int constructs;  /* GPU, spread: written so far at the top */
    int depth;       /* constructs around the place that is being written */
    jam *jam;        /* GPU: several instances of it that are written together, or NULL */
    ssa keep;        /* i1: stores to core operands happen only where it is true; empty: always */
    bool by_lanes;   /* GPU: the reductions of this place are spread over the lanes of a row */
    int ended;       /* label of the way out of an element that has ended (report.h); 0: none so far */

    struct outer_vector *outer; /* CPU: it is written for a run of points (points.h), or NULL */
    ssa point;                  /* i64: that of the run which is being written; empty: what they share */
} body;

ssa emit_expression(body *b, const node *n); /* expr.c */
/* expr.c; its first result. line: of the call, 0: of none of its own. */
ssa emit_call(body *b, const function *f, const ssa *values, int line);
/* Elements of core operands (expr.c): one, or so many neighbours along the unit dimension by aligned accesses. */
void emit_core_store(body *b, const node *element, ssa value);
void emit_core_store_vector(body *b, const node *element, const ssa *values, int n);
ssa *emit_core_vector(body *b, const node *element, int n);
fragment emit_function_name(emit *e, const function *f); /* stmt.c; "kernel", "f3_square" */
/* "{ float, i32 }": the scalar ones, and an i1 that report.h is about. */
void emit_result_type(const emit *e, text *out, const function *f);
void emit_statement(body *b, const node *n); /* stmt.c */
void emit_statements(body *b, const node *list);
ssa emit_slot(body *b, const char *type); /* stmt.c; address of a variable of its own */
ssa emit_local_slot(body *b, int k);      /* stmt.c; address of a local */

/* Does nobody write to operand k of a kernel while it runs? expr.c */
bool operand_stays(const frame *f, const function *kernel, int k);
void emit_invariant(emit *e, bool is_input); /* expr.c; loads from here on are of an input; false: of something else */

/* ---- Constructs (construct.c): loops of one thread ---- */

ssa emit_reduce(body *b, const node *n);
void emit_forall(body *b, const node *n);

/* The extents of a construct's ranges, none negative; *count is their number. In arena memory. */
ssa *ranges_read(body *b, const node *ranges, int *count);
const node *range_at(const node *ranges, int k);
/* a and b combined as a reduction combines; and the next value of an accumulator after one more term, whose product fuses. */
ssa combine(body *b, const node *reduce, ssa x, ssa y);
ssa accumulate(body *b, const node *reduce, ssa so_far);

/* An accumulator of a reduction: its value and, where there is no identity, whether it has one. */
typedef struct accumulator {
    ssa slot, has;
} accumulator;
accumulator accumulator_new(body *b, const node *reduce); /* a variable; accumulator_clear gives it its value */
void accumulator_clear(body *b, const node *reduce, const accumulator *a);
void accumulator_term(body *b, const node *reduce, const accumulator *a, ssa counts); /* takes in the term, if the i1
                                                                                        is true or empty */
void accumulator_join(body *b, const node *reduce, const accumulator *a, ssa value, ssa has); /* and what another has */
bool combines_by_loop(const node *reduce); /* by a helper that might not end for what are no terms */
ssa accumulator_read(body *b, const node *reduce, const accumulator *a);
ssa accumulator_has(body *b, const accumulator *a); /* i1; empty text with an identity */

/* ---- Strips (strip.c): CPU, a forall whose reductions run along memory only in its own last range ---- */

bool interchange_fits(const body *b, const node *n);
void interchange_forall(body *b, const node *n);
void forall_alone(body *b, const node *n, const ssa *limits, int count); /* construct.c; the plain loop */
/* CPU, min, max and reduce over one range: takes as many terms as go by vectors into an accumulator, and returns how many
 * (i64) that were. */
bool vector_reduce_fits(const body *b, const node *n);
ssa vector_reduce(body *b, const node *n, ssa limit, const accumulator *into);

/* ---- The same spread over a cooperative group (spread.c) ---- */

ssa mapped_reduce(body *b, const node *n);
void mapped_forall(body *b, const node *n);
/* What a bundle already knows of an expression for the instance that is being written (bundle.c): false if nothing. */
bool jam_recall(const body *b, const node *n, ssa *value);
/* The slot suffix of a local declared in a bundle: "" or "_3". */
fragment jam_suffix(const body *b, int variable);

#endif
