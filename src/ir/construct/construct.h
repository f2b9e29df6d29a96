/* construct.h - what the files of constructs share: the combinations of ranges, combining terms, accumulators. */
#ifndef UF_IR_CONSTRUCT_H
#define UF_IR_CONSTRUCT_H

#include "ir/common/internal.h"

/* The extents of a construct's ranges, which may be negative; *count is their number. In arena memory. */
ssa *ranges_read(body *b, const node *ranges, int *count);
ssa natural_extent(emit *e, ssa extent); /* 0 in place of a negative one */
const node *range_at(const node *ranges, int k);
/* x and y combined by the reduction's operator; and what an accumulator's value becomes with one more term. If the term is a product
 * of floats, it is added without being rounded first. */
ssa combine(body *b, const node *reduce, ssa x, ssa y);
ssa accumulate(body *b, const node *reduce, ssa so_far);

/* An accumulator of a reduction: variables for its value and, where the reduction has no identity, for whether there is one yet. */
typedef struct accumulator {
    ssa slot, present;
} accumulator;
/* Makes the variables; accumulator_clear gives them their values. */
accumulator accumulator_new(body *b, const node *reduce);
void accumulator_clear(body *b, const node *reduce, const accumulator *a);
void accumulator_set(body *b, const node *reduce, const accumulator *a, ssa value);
/* Takes in the reduction's term, if `counts` (i1) is true or none. */
void accumulator_term(body *b, const node *reduce, const accumulator *a, ssa counts);
/* Takes in a value, such as that of another accumulator; present (i1): there is one. It is not looked at where the reduction has an
 * identity. */
void accumulator_join(body *b, const node *reduce, const accumulator *a, ssa value, ssa present);
ssa accumulator_read(body *b, const node *reduce, const accumulator *a);
ssa accumulator_present(body *b, const accumulator *a); /* i1; none where the reduction has an identity */
/* Does a helper with a loop combine? On values that are no terms it might not end. */
bool combines_by_loop(const node *reduce);

/* ---- interchange.c: CPU, a forall around reductions, in whose last range elements are neighbours in memory ---- */

bool interchange_fits(const body *b, const node *n);
void interchange_forall(body *b, const node *n);
void forall_of_calls(body *b, const node *n); /* gufunc.strips: the last range is one strip, of calls */
void forall_alone(body *b, const node *n, const ssa *limits, int count); /* construct.c; the plain loop */
/* ---- columns.c: CPU, a forall around sums whose sizes are constants, as vectors along one of its last two ranges ---- */

/* Is all that the kernel does foralls of which the range with so many others behind it may be the columns? column_of: see code_traits (engine.h). */
bool columns_fit(const function *kernel, int behind, uint8_t column_of[UF_MAX_OPERANDS]);
void columns_forall(body *b, const node *n);
/* ---- vector_reduce.c: CPU, min, max and reduce over one range ---- */

/* Takes terms into an accumulator: all of them (true), or as many as whole vectors take, which *taken (i64) is. apart: by lanes that are no
 * vectors (walks_apart). */
bool vector_reduce_fits(const body *b, const node *n);
bool vector_reduce(body *b, const node *n, ssa limit, bool apart, const accumulator *into, ssa *taken);

/* ---- math_loop.c: CPU, innermost loops whose elements call functions of vectors ---- */

typedef struct math_loop {
    int lanes;   /* of the functions; 0: there are none */
    bool halves; /* the kernel reads or writes some */
    bool split;  /* there are two loops: of whole vectors, at_once at a time, and of what is left */
    int at_once;
} math_loop;

enum {
    MATH_LOOP_HINTS = 2
};

/* May a construct be written for lanes without an element (body.there)? Begins and ends that: there are elements for i (i64) below the limit;
 * limit_too: an unknown_value of it. */
bool lanes_fit(const body *b, const node *construct);
void lanes_guard(body *b, ssa i, ssa limit, ssa limit_too);
void lanes_unguard(body *b);
math_loop math_loop_of(const body *b, const node *construct);
/* Where the first loop ends (i64), of `limit` elements, and where the second one does, with lanes beyond the limit. */
ssa math_loop_whole(emit *e, const math_loop *m, ssa limit);
ssa math_loop_end(emit *e, const math_loop *m, ssa limit);
/* Returns how many hints there are. rest: for the second loop of two. */
int math_loop_hints(emit *e, const math_loop *m, bool rest, int hints[MATH_LOOP_HINTS]);

/* ---- kept_terms.c: CPU, a reduction whose terms the forall behind it wants again ---- */

extern const body_hooks keeping_hooks; /* of kernels over calls */

/* ---- apart.c: CPU ---- */

/* Are elements of core operands a stride apart along the construct's last range, which LLVM would make two loops for? *steady: an element of a
 * forall that is to be read before its innermost loop, so that none are; NULL: there is none. */
bool walks_apart(const body *b, const node *construct, const node **steady);
/* CPU, generalized ufuncs: do all elements that move along the innermost loop move by a stride of 1? */
bool walks_rows(const body *b, const node *construct);

/* ---- thread_mapping.c: GPU, constructs whose iterations are shared by the threads of a cooperative group ---- */

ssa mapped_reduce(body *b, const node *n);
void mapped_forall(body *b, const node *n);

/* Can a list of statements be written for many instances (unroll_jam.h), each statement for all of them before the next? And that: the
 * instances are those of b->jam. */
bool instances_simple(const function *f, const node *list);
void instances_write(body *b, const node *list);

/* Can it go by tiles through shared memory (shared_tile.c)? If so, the 32-bit words in which a result is accumulated, else 0. */
int shared_tile_words(const function *f, const node *forall);

#endif
