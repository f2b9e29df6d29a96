/* coalesced.h - GPU, kernels over indices: accesses that move with the last index, so that what neighbouring points access lies side by
 * side in memory, or with the one before it, where the array lies across the space. A thread takes a tile of points, some rows along the
 * last index but one and some columns along the last. In the interior of the space it loads what they read together, by vectors, before
 * the first point is computed, and stores what they write together after the last. In @interior a variable stands for such an element,
 * whose address is a parameter.
 *
 * This is right where the array overlaps nothing that is written: an array that is only read may be read early, and in one that is
 * written each point has one place, the same in all its accesses. */
#ifndef UF_IR_COALESCED_H
#define UF_IR_COALESCED_H

#include "ir/common/internal.h"

enum {
    COALESCED_MOST = 96, /* different elements of a point that are accessed so */
    ACCESSES_MOST = 256, /* accesses to them in the text of the kernel */
    COALESCED_REACH = 8  /* their greatest distance from the point, along the last two indices */
};

/* An element relative to the point. */
typedef struct coalesced_access {
    int array;
    const node *element; /* one of the accesses */
    int row, column;     /* its distance along the last index but one (0 if it does not move with it), and the last */
    int row_dim;         /* the array's dimension that moves with the last index but one; -1: none */
    bool turned; /* the two indices are exchanged: the array's last dimension moves with the last index but one */
    int family;  /* elements of one array that differ in row and column alone have the same number */
    bool read, written;
    bool checked; /* some access is not proved to be in range */
    bool guarded; /* some access stands behind a condition; where that does not hold it may be out of range */
} coalesced_access;

typedef struct coalesced {
    coalesced_access of[COALESCED_MOST];
    int count, naccesses;
    struct {
        const node *element;
        int number;
    } access[ACCESSES_MOST];
} coalesced;

/* Finds them in the arrays k with eligible[k]. proved: variant.proved. */
void coalesced_find(const tree *t, const bool *eligible, bool proved, coalesced *out);
/* How many rows of elements n points read that follow each other along the last index but one: n * *rows + *more. */
void coalesced_rows(const coalesced *s, int *rows, int *more);
/* ", float* %q0, i1* %f0, ..": the addresses of the variables, and of flags for those that are written. */
void coalesced_parameters(text *out, const tree *t, const coalesced *s);
/* The number of the coalesced access that an element is, or -1. */
int coalesced_of(const coalesced *s, const node *element);

#endif
