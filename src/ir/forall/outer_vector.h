/* outer_vector.h - CPU, kernels over indices: outer-loop vectorisation. LLVM makes vectors of innermost loops alone; if a kernel has a loop
 * in its text, the loop over points around it is not innermost. Where such a loop is the same for all points of a row, the kernel is
 * written a second time, as @points, for a run of neighbouring points: what they share is done once, and all other statements stand
 * in loops over the points of the run, of which LLVM makes vectors. A variable that lives longer than one of these loops is expanded
 * to an array (scalar expansion), which in the end is a vector in a register. The points at the end of a row, fewer than a run, are
 * computed by @kernel. */
#ifndef UF_OUTER_VECTOR_H
#define UF_OUTER_VECTOR_H

#include "ir/common/internal.h"
#include "ir/forall/guards.h"

enum {
    OUTER_VECTOR_LOOPS = 32
};

typedef struct outer_vector {
    const function *f;
    const frame *frame;
    const guards *guards;
    int width;    /* points of a run */
    int index;    /* local number of the last index */
    bool *varies; /* by local: its value is not the same for all points of a run */
    int *used_in; /* by local: the number of the loop over points that uses it, from 1; 0: none; EXPANDED: several do */
    const node *own_loops[OUTER_VECTOR_LOOPS]; /* loops of the text that each point must run through by itself */
    int nown_loops;
    bool changed, settled; /* of the search for varies and own_loops: the last pass found more; varies is complete */
    bool fits;
    int shared;                      /* number of loops of the text that points share */
    int runs;                        /* number of loops over points */
    int variables;                   /* access group of the arrays of expanded variables */
    struct outer_vector_read *reads; /* elements that were read before the loop over points that is being written */
    ssa point;                       /* i64: the point of the run, within a loop over points; else none */
} outer_vector;

/* Looks at a kernel whose rows go along index number `last`. NULL: it has no loops that points share, or does not fit. In arena memory. */
outer_vector *outer_vector_find(emit *e, const tree *t, int last, const guards *decided);
/* Writes @points; the functions that it calls must have been written. */
void outer_vector_function(emit *e, const tree *t, outer_vector *p);

#endif
