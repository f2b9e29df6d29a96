/* streams.h - accesses of a kernel over indices that move with the last index, so that what neighbouring points read and write
 * lies side by side: a thread can take a tile of points, `rows` along the last index but one and `columns` along the last, and
 * read their elements together, by vectors, before the first point is computed; what they write it stores together after the
 * last. In @kernel such an element is a variable, whose address is a parameter of it.
 *
 * That is right where the array is apart from what is written: one that is only read may be read early, and one that is
 * written has one place for each point, in all its accesses. */
#ifndef UF_IR_STREAMS_H
#define UF_IR_STREAMS_H

#include "ir/common/internal.h"

enum {
    COALESCED_MOST = 24, /* different elements that a point reads and writes so */
    ACCESSES_MOST = 96,  /* accesses to them in its text */
    COALESCED_REACH = 4  /* greatest distance of one from the point, along the last two indices */
};

/* An element relative to the point. */
typedef struct coalesced_access {
    int array;
    const node *element; /* one of the accesses */
    int row, column;     /* its distance along the last index but one (0 if it does not move with it), and the last */
    int row_dim;         /* the array's dimension that moves with the last index but one; -1: none */
    int family;          /* those of one array that differ in row and column alone have one number */
    bool read, written;
    bool checked; /* an access is not proved to be in range */
    bool guarded; /* an access stands behind a condition: it may be out of range where the condition does not hold */
} coalesced_access;

typedef struct coalesced {
    coalesced_access of[COALESCED_MOST];
    int count, naccesses;
    struct {
        const node *element;
        int stream;
    } access[ACCESSES_MOST];
} coalesced;

/* Those of the arrays k with eligible[k]. `proved`: variant.proved. */
void coalesced_find(const tree *t, const bool *eligible, bool proved, coalesced *out);
/* What n points that follow each other along the last index but one read: n * *rows + *more rows. */
void coalesced_rows(const coalesced *s, int *rows, int *more);
/* ", float* %q0, i1* %f0, ..": the variables, and for what is written whether it was. */
void coalesced_parameters(text *out, const tree *t, const coalesced *s);
/* The stream of an access, or -1. */
int coalesced_of(const coalesced *s, const node *element);

#endif
