/* slices.h - GPU: what the threads of a block need of operands that they share, slice by slice in shared memory. A slice is so many places
 * along one variable, the depth, by the length of the block's tile along another one, a side. Of each source a slice is an array
 * [depth][pitch] with neighbours along the side next to each other. There are two buffers: while one slice is read, the threads hold
 * what they have loaded for the next one in registers, and then store it to the other. */
#ifndef UF_SLICES_H
#define UF_SLICES_H

#include "ir/construct/construct.h"

enum {
    SLICE_SOURCES = 4
};

/* An operand's elements, whose indices are the depth and a side. */
typedef struct slice_source {
    const node *element; /* N_ELEMENT of a core operand of rank 2, proved to be in range */
    const node *value;   /* it, or the conversion of it that is stored, of 4, 8 or 16 bytes */
    int side;            /* of slices.side */
    bool depth_0;        /* the depth is the first index */
} slice_source;

typedef struct slice_side {
    int variable;      /* local */
    int length;        /* of the block's tile, a power of two */
    ssa first, extent; /* i64: of the tile; of the variable's range */
} slice_side;

typedef struct slices {
    int count;
    slice_source of[SLICE_SOURCES];
    slice_side side[2];
    int variable, depth; /* the depth: its local; places of a slice, a power of two */
    ssa end;             /* i64: of the places that are passed over */
    int threads;         /* of the block, a power of two */
    int vector; /* elements of an access along a unit dimension, at most, where %aligned says so; 1: by themselves */
    ssa thread; /* i64 */
    ssa *held[SLICE_SOURCES];
} slices;

/* Sets `depth`, at most what is wanted, and makes room for what a thread holds. count, of, side.length, threads and vector are set. */
void slices_begin(body *b, slices *s, int depth);
/* Loads the thread's part of the slice from place `first` (i64) on. What is past an end is some of what is before it. */
void slices_load(body *b, slices *s, ssa first);
/* Stores it to a buffer (i64, 0 or 1). */
void slices_store(body *b, const slices *s, ssa buffer);
/* The address of source k's position (i64) along its side at the first place of a buffer's slice; and n values from `position` on behind
 * that, at a place (i64). */
ssa slices_address(body *b, const slices *s, int k, ssa buffer, ssa position);
void slices_read(body *b, const slices *s, int k, ssa address, ssa place, int position, int n, ssa *out);
/* Elements of source k that 16 bytes hold. */
int slices_vector(const slices *s, int k);

#endif
