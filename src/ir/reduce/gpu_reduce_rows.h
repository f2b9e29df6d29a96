/* gpu_reduce_rows.h - what the two files have of each other that reduce rows on the GPU: rows of any kind, and segments that are too long for the
 * few threads of a group (gpu_reduce_segments.c). */
#ifndef UF_GPU_FOLD_ROWS_H
#define UF_GPU_FOLD_ROWS_H

#include "ir/reduce/gpu_reduce.h"

typedef struct rows {
    gpu_fold *g;
    fold_writer *w;
    emit *e;
    int coop, lanes;   /* log2 of the threads of a cooperative group, and of those of them in one warp */
    int vector, steps; /* elements of an access, accesses of a visit */
    bool compact;      /* all visits are accesses that ask whether they exist, so that there is code for one */
    bool ordered;
    ssa lane; /* i64, in the cooperative group; ordered: in the warp */
    partial_slot inner, outer;
    partial_slot across; /* what lanes combine in a loop, where combining is long and results are, too */
    partial_array shared;
} rows;

/* Makes it a cooperative group of 2^coop threads. */
void rows_group(rows *r, int coop);

/* The number of the cooperative group in the whole grid is the number of groups before this block plus that in the block. This is the former,
 * times `results` results a group (i64); and the number of the result of the thread's group, if each has one. */
ssa rows_before(const rows *r, int results);
ssa rows_own(rows *r);
/* there, for the first thread of a group (i1). */
ssa rows_leads(rows *r, ssa there);
/* The place of result `index`, or of the first result if there is none of that number. */
fold_place rows_place(rows *r, ssa index);

/* The elements of a place that a thread takes, into r->outer. */
void rows_line(rows *r, const fold_place *p);
/* A partial of each lane, combined over groups of 2^lanes lanes; of the first lane of each warp, over the group, whose first thread has it; of each
 * thread, likewise. */
partial rows_lanes(rows *r, const partial *x, int lanes);
partial rows_warps(rows *r, const partial *mine);
partial rows_combine(rows *r, const partial *mine);
/* The result of a place, of whose elements the cooperative group takes all. */
void rows_result(rows *r, const fold_place *p);

/* All results that are segments of which a group may have too many elements (variant_defers_segments, fold.split). */
void rows_segments(rows *r);

#endif
