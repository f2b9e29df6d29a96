/* nd.h - broadcasting, coalescing, classification, overlap: shapes in, loops out. No code generation, no engine. */
#ifndef UF_ND_H
#define UF_ND_H

#include "type/variant.h"

/* One array of a call: inputs, then outputs, then the mask. Strides in elements. */
typedef struct nd_array {
    char *data; /* address of element 0, byte_offset included; may be NULL when planning without addresses */
    const int64_t *shape, *strides; /* strides NULL: C-contiguous */
    int ndim;
    uint8_t size; /* bytes an element */
    bool output;
    bool number;   /* takes no part in the loop */
    bool mask;     /* errors call it "where" */
    uint8_t role;  /* folds: nd_role */
    uint64_t core; /* core dimensions that shape and strides leave out, as bits; errors count with them */
} nd_array;

/* A loop over one to UF_MAX_NDIM dimensions, dimension 0 innermost; each dimension's record holds every operand's stride.
 * extent[d]; stride[d * narrays + k], in elements. No dimension has extent 1 unless the loop has a single one, where every
 * array counts as contiguous; if count is 0, ndim is 1 and extent[0] is 0. offset[k] (elements) is what to add to array k's
 * element 0 to get to the loop's first element: dimensions that run backwards are flipped, for all operands together.
 * Numbers have stride 0 and offset 0. */
typedef struct nd_loop {
    int ndim, narrays;
    int64_t count; /* product of the extents */
    int64_t *extent;
    int64_t *stride;
    int64_t *offset;
    loop_class loop;
    uint8_t kind[VARIANT_OPERANDS]; /* operand_kind; OPERAND_NUMBER for numbers */
} nd_loop;

/* Bytes of memory a loop over arrays of at most this rank and this number needs; nd_plan's `space` has that many, 8-byte
 * aligned. */
size_t nd_space(int ndim, int narrays);

/* Fails as fail_argument does; what is no argument is said by name: "where", "starts". */
enum {
    ND_MASK = -1,
    ND_STARTS = -2
};
uf_status nd_fail(uf_status status, int argument, int dimension, const char *format, ...) PRINTF(4, 5);
/* What nd_fail calls arrays[k]. */
static inline int nd_argument(const nd_array *arrays, int k) { return arrays[k].mask ? ND_MASK : k; }
/* How errors call dimension d of an array, and its rank: core dimensions count, or are said not to. */
int nd_dimension(const nd_array *array, int d);
const char *nd_rank(const nd_array *array);

/* Checks one DLTensor: ndim in range, shape present, extents not negative, number of elements and byte extent less than
 * 2^63, data present and aligned to align bytes unless there are no elements or data is not wanted. Everything below
 * relies on it having passed. argument is for messages, as nd_fail takes it. Errors: ARGUMENT. */
uf_status nd_check(const DLTensor *array, int argument, int size, int align, bool with_data);

/* The shape that arrays[0 .. n-1] (numbers, and what is not ND_ELEMENTS, left out) broadcast to; NumPy's rule. *ndim, shape[UF_MAX_NDIM].
 * Errors: SHAPE, naming the argument, its dimension, and the argument it disagrees with; 2^63 elements or more. */
uf_status nd_broadcast(const nd_array *arrays, int n, int *ndim, int64_t *shape);

/* Makes the loop of a call. arrays: nin inputs, the outputs, perhaps the mask. Inputs and mask broadcast to the outputs'
 * common shape, which is what the inputs broadcast to or larger (without outputs: what they broadcast to); dimensions of
 * extent 1 are dropped, the rest ordered by output strides (ties: by inputs' strides, then C order), flipped where the first
 * output runs backwards (without outputs: where every array does), merged where every operand agrees, classified. flags:
 * ND_KEEP_ORDER leaves the axes in C order, neither flipped nor reordered (merging still happens). Fast path: all arrays
 * contiguous with one shape is recognised first. Errors: SHAPE. */
enum {
    ND_KEEP_ORDER = 1
};
uf_status nd_plan(const nd_array *arrays, int narrays, int nin, unsigned flags, void *space, nd_loop *out);

/* Rows pays from this inner extent on; shorter rows are general. */
enum {
    ND_ROW_MIN = 16
};

/* Does array k of the loop (after coalescing) put two elements at one address? Exact if at most 4 dimensions are left when
 * those whose stride exceeds the reach of all smaller ones are gone; beyond, true when in doubt. */
bool nd_self_overlap(const nd_loop *loop, int k);

/* Is there an integer vector x other than 0, |x[i]| <= bound[i], with sum of stride[i] * x[i] = 0? Exact. n is at most 4,
 * strides and bounds are at least 1, and the sum of their products is less than 2^63. */
bool nd_has_relation(int n, const int64_t *stride, const int64_t *bound);

/* How array a's elements lie against array b's, by address. */
typedef enum nd_overlap {
    ND_DISJOINT,
    ND_SAME /* same address, strides, size: element for element */,
    ND_OVERLAP
} nd_overlap;
/* data are the addresses of element 0 of each (the loop's offset not yet added). Views that interleave (x[::2] and x[1::2],
 * the left and the right columns of a matrix) are told apart by a search of bounded length; when that gives up,
 * ND_OVERLAP. Numbers and empty loops are disjoint from everything. */
nd_overlap nd_compare(const nd_loop *loop, int a, const char *data_a, int size_a, int b, const char *data_b,
                      int size_b);

/* Smallest and largest offset in elements that array k reaches, relative to the loop's first element (its element 0 plus
 * `offset`). An empty loop reaches 0 .. 0. */
void nd_bounds(const nd_loop *loop, int k, int64_t *lowest, int64_t *highest);

/* ---- Loops while they are being made (loop.c): for nd_plan and nd_fold_plan ---- */

/* Lays a loop's arrays out in `space`, for at most this rank; returns what is behind them. */
void *nd_loop_place(void *space, int ndim, int narrays, nd_loop *out);
/* The product of the extents. Errors: SHAPE (2^63 or more). */
uf_status nd_count(const int64_t *shape, int ndim, int64_t *count);
/* An array's strides in the dimensions of a shape of this rank that it broadcasts to. */
void nd_loop_strides(const nd_array *array, int ndim, int64_t *stride);
/* The loop's records, one for each dimension of extent other than 1, the last innermost: first the extents, then array k's
 * strides. */
void nd_loop_extents(const int64_t *shape, int ndim, nd_loop *out);
void nd_loop_record(const int64_t *shape, int ndim, const int64_t *stride, int k, nd_loop *out);
/* Sorts dimensions by stride, smallest innermost, 0 outside: by that of array `first`, then of those after it, then of those
 * before it; else they stay as they are. */
void nd_loop_order(nd_loop *loop, int first);
void nd_loop_flip(nd_loop *loop, int d);
/* Merges neighbours where every array agrees. */
void nd_loop_merge(nd_loop *loop);
/* Fills `kind`. Is an array strided? */
bool nd_loop_kinds(const nd_array *arrays, nd_loop *loop);

/* ---- Reductions (fold.c) ---- */

typedef enum nd_role {
    ND_ELEMENTS, /* an input or the mask: broadcasts to the shape of the elements */
    ND_RESULTS,  /* an output: has the shape of the results (scans: of the elements); an input: broadcasts to that */
    ND_POSITION, /* no memory and no shape: counts the elements of a result, in C order of the reduced axes */
    ND_BOUNDS    /* one-dimensional: moves with the segments of a reduceat, of which it has as many elements */
} nd_role;

/* Two loops over the same arrays. kept: over the results (scans: the lines); reduced: over the elements of one result, in
 * which outputs and bounds have stride 0 (scans: outputs move). Each is a loop as nd_plan makes them, with ndim >= 1;
 * dimensions that are not there (all axes reduced, or none) leave one of extent 1, in which what moves in that loop has
 * stride 1. kept.offset holds the offsets of both; those of reduced are 0. A loop without elements has ndim 1, extent 0.
 * `loop` is LOOP_FOLD or LOOP_SCAN in both; `kind` is by the strides of that loop's dimension 0 (CONTIGUOUS 1, CONSTANT 0,
 * else STRIDED). The position has its strides (elements of the C order) and its offset like the others. */
typedef struct nd_fold {
    nd_loop kept, reduced;
} nd_fold;

/* As nd_space, for nd_fold_plan and nd_fold_regroup. */
size_t nd_fold_space(int ndim, int narrays);

/* The axes of a call as a set: negative ones count from the end. naxes 0 with axes NULL: all; UF_NO_AXES: none.
 * Errors: ARGUMENT (a number that does not go with axes or the rank, an axis out of range or twice), naming what was got. */
uf_status nd_axes(int naxes, const int *axes, int ndim, uint64_t *out);

/* Makes the loops. arrays: the inputs first, in any roles. axes: of the shape that the
 * inputs broadcast to (the mask may broaden it, as in NumPy). Outputs must have the shape that is left, with ND_KEEPDIMS
 * extents of 1 in place of the reduced ones. flags: ND_KEEP_ORDER: the reduced loop goes in C order, neither flipped nor
 * reordered (merged where that keeps the order). Else both loops are ordered by the inputs' strides, what is smallest
 * innermost (first the first input's), and flipped where the first array that moves runs backwards. ND_SCAN: axes is one
 * axis, which is the whole reduced loop, unflipped, and outputs have the shape of the elements. With bounds (ND_BOUNDS, all
 * of one extent) axes is one axis, which is the reduced loop, unflipped, and the segments' in the kept one, where inputs
 * have stride 0; outputs have the shape of the elements but for as many elements there as there are segments.
 * Errors: SHAPE naming argument and dimension. */
enum {
    ND_KEEPDIMS = 2,
    ND_SCAN = 4
};
uf_status nd_fold_plan(const nd_array *arrays, int narrays, uint64_t axes, unsigned flags, void *space, nd_fold *out);
/* The shape of the elements, for axes to be checked against and results to be inferred. Errors: SHAPE. */
uf_status nd_fold_shape(const nd_array *arrays, int narrays, int *ndim, int64_t *shape);
/* The shape of the results. */
void nd_fold_results(int ndim, const int64_t *shape, uint64_t axes, unsigned flags, int *out_ndim, int64_t *out_shape);
/* The same loops over other arrays: array k is from's array of[k]; with of[k] < 0 it is a new one, dense over the kept loop in
 * its own order with `step` elements from one to the next, which stands still in the reduced loop. */
void nd_fold_regroup(const nd_fold *from, int n, const int *of, int64_t step, void *space, nd_fold *out);

/* nd_bounds, nd_self_overlap and nd_compare over both loops; a pair of ND_SAME moves alike in both. */
void nd_fold_bounds(const nd_fold *f, int k, int64_t *lowest, int64_t *highest);
bool nd_fold_self_overlap(const nd_fold *f, int k);
nd_overlap nd_fold_compare(const nd_fold *f, int a, const char *data_a, int size_a, int b, const char *data_b,
                           int size_b);

/* ---- Core dimensions of generalized ufuncs (core.c) ---- */

/* What a call makes of a layout. loops[k] is array k without its core dimensions (numbers and the rank-0 data as they are):
 * what nd_plan and nd_broadcast take. words are the layout's core words. */
typedef struct nd_core {
    nd_array *loops;
    int64_t *words;
    uint64_t missing; /* bit d: optional dimension d is missing */
} nd_core;

/* Bytes that nd_core_resolve needs for arrays of at most this rank; 8-byte aligned. */
size_t nd_core_space(const core_layout *l, int ndim, int narrays);

/* Resolves sizes and splits arrays (inputs, then outputs; only the inputs if narrays == nin, for uf_infer: then an output-only
 * size is an error that says so). axes may be NULL and is checked here, size member included. Sizes of inputs come first, in
 * order; errors name the argument, its dimension, and what the name was bound to and by which argument:
 * "argument 1: dimension 0 is 5, but n is 4 (from argument 0)".
 * Errors: SHAPE (too few dimensions, sizes that disagree, a computed size that is negative or overflows), ARGUMENT (axes). */
uf_status nd_core_resolve(const core_layout *l, const nd_array *arrays, int narrays, const uf_axes *axes, void *space,
                          nd_core *out);

/* The full shape of operand k (an output) over a loop shape, core dimensions where axes put them. Errors: SHAPE (a rank
 * beyond UF_MAX_NDIM). */
uf_status nd_core_shape(const core_layout *l, const nd_core *core, const uf_axes *axes, int k, int loop_ndim,
                        const int64_t *loop_shape, int *ndim, int64_t *shape);

/* nd_self_overlap, nd_bounds and nd_compare (never ND_SAME) with the core dimensions of an operand as further dimensions. An
 * operand with an extent of 0 anywhere is disjoint from everything and reaches 0 .. 0. */
bool nd_core_self_overlap(const nd_loop *loop, const core_layout *l, const int64_t *words, int k);
void nd_core_bounds(const nd_loop *loop, const core_layout *l, const int64_t *words, int k, int64_t *lowest,
                    int64_t *highest);
nd_overlap nd_core_compare(const nd_loop *loop, const core_layout *l, const int64_t *words, int a, const char *data_a,
                           int size_a, int b, const char *data_b, int size_b);

#endif
