/* points.h - kernels over indices on the CPU: runs of neighbouring points. LLVM makes vectors of innermost loops alone: of a
 * kernel that has a loop in its text the loop over points is none. Where such a loop is the same for all points of a row, the
 * kernel is written a second time, as @points, for a run of them: what they share is done once, and all else stands in loops over
 * the run, of which LLVM makes vectors. A variable that lives longer than one of these loops has an array, and so in the end a
 * vector. The points at the end of a row, fewer than a run, are @kernel's. */
#ifndef UF_POINTS_H
#define UF_POINTS_H

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
    bool *varies; /* by local: a point has a value of its own */
    int *used_in; /* by local: the loop over points that uses it, from 1; 0: none, KEPT: there are several */
    const node *own_loops[OUTER_VECTOR_LOOPS]; /* loops of the text that each point goes through by itself */
    int nown_loops;
    bool changed, settled; /* while varies and apart are found: by the last look; all that varies is known */
    bool fits;
    int shared;                      /* loops of the text that are */
    int runs;                        /* loops over points */
    int variables;                   /* access group of the arrays of variables */
    struct outer_vector_read *reads; /* what was read before the loop over points that is written */
    ssa point;                       /* i64: the point of the run that is being written; none: what all points share */
} outer_vector;

/* For rows along index number `last`; arena memory. NULL: there is nothing to gain. */
outer_vector *outer_vector_find(emit *e, const tree *t, int last, const guards *decided);
/* Writes @points; what it calls is there. */
void outer_vector_function(emit *e, const tree *t, outer_vector *p);

#endif
