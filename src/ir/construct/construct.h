/* construct.h - what the files of constructs share: the combinations of ranges, combining terms, accumulators. */
#ifndef UF_IR_CONSTRUCT_H
#define UF_IR_CONSTRUCT_H

#include "ir/common/internal.h"

/* The extents of a construct's ranges, none negative; *count is their number. In arena memory. */
ssa *ranges_read(body *b, const node *ranges, int *count);
const node *range_at(const node *ranges, int k);
/* a and b combined as a reduction combines; and the next value of an accumulator after one more term, whose product fuses. */
ssa combine(body *b, const node *reduce, ssa x, ssa y);
ssa accumulate(body *b, const node *reduce, ssa so_far);

/* An accumulator of a reduction: its value and, where there is no identity, whether it has one. */
typedef struct accumulator {
    ssa slot, present;
} accumulator;
accumulator accumulator_new(body *b, const node *reduce); /* a variable; accumulator_clear gives it its value */
void accumulator_clear(body *b, const node *reduce, const accumulator *a);
void accumulator_term(body *b, const node *reduce, const accumulator *a, ssa counts); /* takes in the term, if the i1
                                                                                        is true or empty */
void accumulator_join(body *b, const node *reduce, const accumulator *a, ssa value,
                      ssa present);        /* and what another has */
bool combines_by_loop(const node *reduce); /* by a helper that might not end for what are no terms */
ssa accumulator_read(body *b, const node *reduce, const accumulator *a);
ssa accumulator_present(body *b, const accumulator *a); /* i1; empty text with an identity */

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

#endif
