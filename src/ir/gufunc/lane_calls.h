/* lane_calls.h - CPU: inner calls whose operands are copied: unrolled ones (gufunc.calls), several at a time, each in a lane of vectors, and
 * those along columns (gufunc.columns), which are computed one at a time. */
#ifndef UF_LANE_CALLS_H
#define UF_LANE_CALLS_H

#include "ir/gufunc/gufunc.h"

enum {
    LANE_CALLS_MOST = 8
};

typedef struct lane_calls {
    gufunc_writer *w;
    int lanes;
    int group; /* calls that are copied together, and then computed one by one, each in its part of the array; lanes is 1 then */
    const ssa *stride; /* of neighbouring calls, by operand, in elements (i64) */
    ssa array
        [VARIANT_OPERANDS]; /* element number i of the call in lane l is number i * lanes + l; elements of a core count from the outermost dimension on */
    int inner[VARIANT_OPERANDS]; /* the core's innermost dimension in the array; the others are in C order */
    /* The calls that have a turn: which one of the row each lane has (i64), and whether no two have the same (i1). */
    ssa call[LANE_CALLS_MOST];
    ssa full;
    /* Where element 0 of the first lane's call is that the kernel computes with: in the array, or, of operands whose calls lie side by side,
     * where it was. Those have no elements of a core side by side. */
    ssa base[VARIANT_OPERANDS];
    ssa beside[VARIANT_OPERANDS]; /* i1: the latter; none: it never is */
} lane_calls;

/* Are there such calls? */
bool lane_calls_needed(gufunc_writer *w);
/* To be called before the first branch of the kernel. */
lane_calls lane_calls_begin(gufunc_writer *w, const ssa *stride);
/* Writes `extent` (i64) calls, of the first of which the operands are at `row`. */
void lane_calls_row(lane_calls *c, const ssa *row, ssa extent);

#endif
