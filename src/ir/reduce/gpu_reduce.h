/* gpu_reduce.h - what rows and columns, the two skeletons of reductions on the GPU, share: parameters, places, elements, partials in shared
 * memory. A result with many elements may be reduced in parts by several blocks, which store states (reduction.to_states); a second
 * kernel combines these. */
#ifndef UF_GPU_FOLD_H
#define UF_GPU_FOLD_H

#include "ir/reduce/fold.h"

typedef struct gpu_fold {
    fold_writer *w;
    ssa results, total, elements; /* i64 */
    ssa aligned;                  /* i1 */
    ssa stop;                     /* i64: segmented, the address behind the first bounds */
    ssa longest;             /* i64: elements of a segment that is not left to the block; variant_defers_segments */
    ssa second, list;        /* i1, i64; fold.split */
    ssa chunk, chunk_stride; /* i64; to_states */
    ssa columns, shift;      /* i64, i32 */
    divisor split, parts, across, unit, *kept, *reduced;
    ssa *kept_stride[VARIANT_OPERANDS];    /* by dimension; of arrays */
    ssa *reduced_stride[VARIANT_OPERANDS]; /* by dimension; of what is read for each element, and the position */
} gpu_fold;

/* A result (or a thread's first one): the addresses of its first element in each operand that is read, of its outputs and its bounds; and
 * which of its elements are taken. */
typedef struct fold_place {
    ssa at[VARIANT_OPERANDS]; /* typed addresses; arrays */
    ssa begin, end;           /* i64 */
    ssa count;                /* i64: the elements of a segment; none: those that the launch says */
    ssa part;                 /* i64; to_states */
    ssa there;                /* i1: the result is to be written */
} fold_place;

/* Reads the parameters. */
gpu_fold *gpu_fold_begin(fold_writer *w);

/* x / d and x % d, i64. */
void gpu_fold_divide(gpu_fold *g, const divisor *d, ssa x, ssa *quotient, ssa *remainder);
/* Finds the addresses of the result with this number, counted over the kept dimensions from `first` on. */
void gpu_fold_place(gpu_fold *g, fold_place *p, ssa index, int first);
/* Does part p of n consist of visits p, p + n, p + 2n .. of the elements, rather than of a run of them? The number of parts (i64); is it
 * the last one (i1)? */
bool gpu_fold_interleaved(const gpu_fold *g);
ssa gpu_fold_parts(gpu_fold *g);
ssa gpu_fold_last_part(gpu_fold *g, const fold_place *p);
/* Sets p->begin and p->end: to all elements, to a segment, whose bounds are read, or to a part that is a run of these. p->there becomes
 * false where a segment begins outside of the elements. */
void gpu_fold_range(gpu_fold *g, fold_place *p);

/* Where an element is in the reduced loop: its index in each dimension (i64). units: index counts accesses of `vector`
 * neighbours. */
typedef struct fold_index {
    ssa *part;
} fold_index;
fold_index gpu_fold_index(gpu_fold *g, ssa index, bool units);
/* The offset of that element in operand k, or its position if k is the position. */
ssa gpu_fold_offset(gpu_fold *g, const fold_index *x, int k);

/* Elements as loaded: `lanes` neighbours, lane i's operand k is in[i * noperands + k]. */
typedef struct fold_access {
    ssa *in, *position;
    int lanes;
} fold_access;
fold_access fold_access_new(gpu_fold *g, int lanes);
/* start + times * stride (i64), computed in as many bits as positions are held in. */
ssa gpu_fold_position(gpu_fold *g, ssa start, ssa stride, int times);
partial fold_access_partial(gpu_fold *g, const fold_access *a, int lane);

/* Stores the results of x if `where` (i1) is true. offset: by output, in elements beyond its address (i64); NULL: 0. */
void gpu_fold_store(gpu_fold *g, const fold_place *p, const partial *x, const ssa *offset, ssa where);
/* Stores the results of n neighbours, the first of which is so many elements (i64) beyond the address of each output, by vectors: every
 * output is contiguous there, and aligned. */
void gpu_fold_store_vector(gpu_fold *g, const fold_place *p, const partial *x, int n, ssa first);
/* Stores the results of no elements, one a thread (variant.empty). */
void gpu_fold_empty(gpu_fold *g);

/* ---- Partials of a thread, by lane, in two levels ---- */

enum {
    INNER_VISITS = 32 /* visits that are combined in the inner level, before that is combined into the outer one */
};

/* In two levels rounding errors grow slowly; in the inner one values take no more bits than some visits need (fold_narrow). */
typedef struct fold_levels {
    fold_writer *w;
    int lanes;
    partial_slot *inner, *outer;
} fold_levels;
/* Makes the variables, before the first branch of the kernel. */
fold_levels fold_levels_new(fold_writer *w, int lanes);
/* Leaves none in the inner level, and begins to be narrow; combines what is there into the outer one, and ends that. */
void fold_levels_begin(const fold_levels *l);
void fold_levels_end(const fold_levels *l);
void fold_slot_add(fold_writer *w, const partial_slot *slot, const partial *x);

/* ---- Partials in memory, by index (i64) ---- */

typedef struct partial_array {
    ssa base[PARTIAL_VALUES], present; /* typed addresses */
    bool shared;
} partial_array;
/* In shared memory. */
partial_array partial_array_new(fold_writer *w, const char *name, int count, bool sparse);
/* In global memory, from an address (i64) on that is aligned to 16 bytes: value by value, and then what is present. */
partial_array partial_array_at(fold_writer *w, ssa address, int count, bool sparse);
void partial_array_put(fold_writer *w, const partial_array *a, ssa index, const partial *x);
partial partial_array_get(fold_writer *w, const partial_array *a, ssa index);

#endif
