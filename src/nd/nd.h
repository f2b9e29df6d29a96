/* nd.h - from the shapes and strides of a call's arrays to loops: broadcasting, coalescing, classification, overlap. It
 * knows nothing of code generation and engines. */
#ifndef UF_ND_H
#define UF_ND_H

#include "type/variant.h"

/* One array of a call: the inputs come first, then the outputs, then the mask. Strides are in elements. */
typedef struct nd_array {
    char *data; /* address of element 0, byte_offset included; may be NULL where loops are made without addresses */
    const int64_t *shape, *strides; /* strides NULL: C-contiguous */
    int ndim;
    uint8_t size; /* bytes an element */
    bool output;
    bool number;  /* a number: takes no part in the loop */
    bool mask;    /* the where mask, which errors call "where" */
    uint8_t role; /* of reductions: nd_role */
    /* bits of the core dimensions, which shape and strides leave out; errors count dimensions with them */
    uint64_t core;
} nd_array;

/* A loop over one to UF_MAX_NDIM dimensions, of which dimension 0 is the innermost. Each dimension has an extent,
 * extent[d], and a stride for every array, stride[d * narrays + k], in elements. No dimension has extent 1, unless it
 * is the only one: then every array counts as contiguous. A loop without elements has one dimension, of extent 0.
 * offset[k], in elements, leads from element 0 of array k to the loop's first element, which is another one where a
 * dimension was flipped, because it runs backwards, for all arrays together. Numbers have stride 0 and offset 0. */
typedef struct nd_loop {
    int ndim, narrays;
    int64_t count; /* product of the extents */
    int64_t *extent;
    int64_t *stride;
    int64_t *offset;
    loop_class loop;
    uint8_t kind[VARIANT_OPERANDS]; /* operand_kind of each array, by its stride in dimension 0 */
} nd_loop;

/* Bytes of memory that nd_plan needs as its `space`, 8-byte aligned, for so many arrays of at most this rank. */
size_t nd_space(int ndim, int narrays);

/* fail_argument for arrays of a call. Three of them are no arguments and are called by name: "where" (ND_MASK), "starts"
 * (ND_STARTS), and the value that a reduction over core dimensions begins with (ND_INITIAL). */
enum {
    ND_MASK = -1,
    ND_STARTS = -2,
    ND_INITIAL = -3
};
uf_status nd_fail(uf_status status, int argument, int dimension, const char *format, ...) PRINTF(4, 5);
/* What nd_fail is to call arrays[k]. */
static inline int nd_argument(const nd_array *arrays, int k) { return arrays[k].mask ? ND_MASK : k; }
/* Dimension d of an array, and its rank, as messages name them: core dimensions, which the array's shape leaves out,
 * are counted in the first, and the second says that they are not. */
int nd_dimension(const nd_array *array, int d);
const char *nd_rank(const nd_array *array);

/* Checks one DLTensor: its rank is in range, its shape is there, no extent is negative, its elements are fewer than
 * 2^63 and span fewer than 2^63 bytes, and its data are there and aligned to `align` bytes, unless there are no
 * elements or with_data is false. All functions below rely on that. argument is as nd_fail takes it. Errors:
 * ARGUMENT. */
uf_status nd_check(const DLTensor *array, int argument, int size, int align, bool with_data);

/* The shape that arrays[0 .. n-1] broadcast to by NumPy's rule; numbers and arrays that are not ND_ELEMENTS take no
 * part. shape has room for UF_MAX_NDIM extents. Errors: SHAPE (two extents disagree: names both arguments and
 * dimensions; 2^63 elements or more). */
uf_status nd_broadcast(const nd_array *arrays, int n, int *ndim, int64_t *shape);

/* Makes the loop of a call. arrays: nin inputs, then the outputs, then perhaps the mask.
 *
 * Inputs and mask broadcast to the shape that the outputs have in common, which is the one that the inputs broadcast
 * to, or a larger one; without outputs the loop has the shape that all arrays broadcast to. Dimensions of extent 1 are
 * dropped. The others are ordered by the strides of the outputs (ties by those of the inputs, then in C order), flipped
 * where the first output runs backwards (without outputs: where an array does and none runs forwards), and neighbours are merged where
 * every array allows it. The result is classified.
 *
 * flags: ND_KEEP_ORDER leaves the dimensions in C order, neither flipped nor reordered; they are still merged.
 * Contiguous arrays of one shape are recognised first, which is fast. Errors: SHAPE. */
enum {
    ND_KEEP_ORDER = 1
};
uf_status nd_plan(const nd_array *arrays, int narrays, int nin, unsigned flags, void *space, nd_loop *out);

/* The least inner extent for which the class rows pays; loops with shorter rows are general. */
enum {
    ND_ROW_MIN = 16
};

/* ---- Loops across memory order (tile.c) ---- */

enum {
    ND_TILE_MIN = 16 /* one of the two dimensions is at least so long; else the loop stays general */
};

/* Makes a general loop, whose order is free, one of the class tile if an input (or the mask, and with `outputs` an output) is across: it has a
 * stride of 1 or -1 along another dimension than dimension 0, along which it is strided. That dimension (the one of the most bytes, if there
 * are several) becomes dimension 1. Where an output is among those, and they have more bytes than the arrays that are across the other way round,
 * the two dimensions change places, so that fewer bytes are across. If one of the two has at most `narrow` elements, the longer one becomes
 * dimension 0, and then it may be the outputs that are strided along it. Other loops stay as they are. */
void nd_tile(const nd_array *arrays, bool outputs, int narrow, nd_loop *loop);
/* Is array k of a loop of that class across, with dimension 1 its own? */
bool nd_is_across(const nd_loop *loop, int k);
/* Does array k lie side by side along dimension 1, and from there on along dimension 0? */
bool nd_is_dense(const nd_loop *loop, int k);

/* ---- Loops of inner calls across memory order (square.c) ---- */

enum {
    ND_SQUARE_RANK = 8, /* loops of more dimensions stay as they are, */
    ND_SQUARE_MORE = 2  /* and so many more a loop of squares has */
};

/* How a loop is cut into squares: along two of its dimensions, the first of which becomes the innermost. */
typedef struct nd_square {
    int dimension[2];
    int64_t side[2]; /* divisors of their extents; one may be a whole extent, however long */
} nd_square;

/* Does a loop of inner calls, whose order is free, have an array across: cores that lie far apart along dimension 0 and near to each
 * other along another dimension? If so, and if the extents have a divisor that will do, *out says how to cut it. Where neither of the
 * two has one, squares would leave something over, and the loop stays as it is; so do short rows that are squares already. */
bool nd_square_find(const nd_array *arrays, const nd_loop *loop, nd_square *out);
/* Makes it a loop over the squares, whose two innermost dimensions are those of a square. It is made in `space`, nd_space of
 * ND_SQUARE_MORE more dimensions, and must not be merged again. */
void nd_square_cut(const nd_square *q, void *space, nd_loop *loop);

/* ---- Arrays that lie interleaved (interleave.c) ---- */

enum {
    ND_RECORD_MAX = 128 /* bytes of a record */
};

/* Where array k of a loop lies. */
typedef struct nd_place {
    uintptr_t address; /* of the loop's first element; 0: not known, or a number */
    uint8_t size;      /* bytes of an element */
    uint8_t align;     /* of which its address is a multiple */
} nd_place;

/* Its place in a group of arrays; all 0: it is in none. */
typedef struct nd_member {
    uint8_t group;  /* 1 + the array of the group that has the lowest address */
    uint8_t offset; /* bytes from that address, a multiple of `align` of the array's place */
    uint8_t record; /* the stride in dimension 0 in bytes if it is that of a record, from 1 to ND_RECORD_MAX; else 0 */
    uint8_t align;  /* log2, at most 4, of the bytes of which that address and all strides are multiples */
} nd_member;

/* Finds the arrays that lie interleaved, as the fields of an array of records do: inputs among each other, and outputs
 * among each other, that are strided along dimension 0, have the same strides in bytes in all dimensions, and addresses
 * that differ by less than the smallest stride and by less than ND_RECORD_MAX. A group covers more bytes than its first
 * array does, and at least half of what it reaches, so that it pays to move it as a whole. Returns the class of the loop
 * for code that moves records: arrays with a `record`, at least half of which their group covers, then count as
 * contiguous. Inputs may overlap; the mask is in no group. */
loop_class nd_interleave(const nd_loop *loop, const nd_place *place, int nin, int nout, nd_member *out);

/* Do two elements of array k have the same address? The answer is exact if at most four dimensions are in doubt: those
 * that do not step over everything that the dimensions of smaller stride reach. With more, it is true when in doubt. */
bool nd_self_overlap(const nd_loop *loop, int k);

/* Is there an integer vector x other than 0, with |x[i]| <= bound[i], for which the sum of stride[i] * x[i] is 0? The
 * answer is exact. n is at most 4; strides and bounds are at least 1; the sum of stride[i] * bound[i] is less than
 * 2^63. */
bool nd_has_relation(int n, const int64_t *stride, const int64_t *bound);

/* How the elements of array a lie in memory compared with those of array b. */
typedef enum nd_overlap {
    ND_DISJOINT,
    ND_SAME /* same address, strides, size: element for element */,
    ND_OVERLAP
} nd_overlap;
/* data_a and data_b are the addresses of the arrays' elements 0; the loop's offsets are added here. Interleaved views,
 * such as x[::2] and x[1::2] or the left and the right columns of a matrix, are found to be disjoint by a search of
 * bounded length; if it is not done by then, the answer is ND_OVERLAP. Numbers and empty loops are disjoint from
 * everything. Most arrays lie in separate ranges of memory (nd_bounds), which takes less time to see. */
nd_overlap nd_compare(const nd_loop *loop, int a, const char *data_a, int size_a, int b, const char *data_b,
                      int size_b);

/* The smallest and the largest offset, in elements, that array k reaches from the loop's first element (its element 0
 * plus `offset`). 0 and 0 for an empty loop. */
void nd_bounds(const nd_loop *loop, int k, int64_t *lowest, int64_t *highest);

/* ---- Steps of making a loop (loop.c), for nd_plan and nd_fold_plan ---- */

/* Points a loop's arrays into `space`, for at most this rank, and sets narrays. Returns the end of what they take of
 * it. */
void *nd_loop_init(void *space, int ndim, int narrays, nd_loop *out);
/* The product of the extents. Errors: SHAPE (2^63 or more). */
uf_status nd_count(const int64_t *shape, int ndim, int64_t *count);
/* The strides of an array in a shape of this rank that it broadcasts to; 0 in dimensions that are broadcast. */
void nd_loop_strides(const nd_array *array, int ndim, int64_t *stride);
/* A loop's dimensions, from the dimensions of a shape that are not of extent 1, the last one becoming the innermost.
 * First the extents, then, for each array k, its strides. */
void nd_loop_extents(const int64_t *shape, int ndim, nd_loop *out);
void nd_loop_record(const int64_t *shape, int ndim, const int64_t *stride, int k, nd_loop *out);
/* Orders the dimensions by their strides, the smallest innermost and 0 outermost: by those of array `first`, where
 * these are equal by those of the arrays after it, then by those before it. Dimensions that are equal in all stay in
 * order. */
void nd_loop_order(nd_loop *loop, int first);
void nd_loop_flip(nd_loop *loop, int d);
/* Merges neighbouring dimensions where every array can run through them as through one. */
void nd_loop_merge(nd_loop *loop);
/* Fills `kind`. True if an array is strided. */
bool nd_loop_kinds(const nd_array *arrays, nd_loop *loop);
/* The class of an elementwise loop. strided: an array is neither contiguous nor constant along dimension 0. */
loop_class nd_loop_class(const nd_loop *loop, bool strided);

/* ---- Reductions (fold.c) ---- */

typedef enum nd_role {
    ND_ELEMENTS, /* an input or the mask: broadcasts to the shape of the elements */
    /* an output: has the shape of the results (of a scan: of the elements). An input: broadcasts to that shape */
    ND_RESULTS,
    /* the position: no memory and no shape; numbers the elements of a result, in C order of the reduced axes */
    ND_POSITION,
    ND_BOUNDS /* the bounds of reduceat's segments: one-dimensional, with an element for each segment */
} nd_role;

/* The two loops of a reduction, over the same arrays: `kept` runs over the results (of a scan: over the lines), and
 * `reduced` over the elements of one result. In the latter outputs and bounds have stride 0; in a scan outputs move in
 * both.
 *
 * Each is a loop as nd_plan makes them. If all axes are reduced, or none is, one of the loops has no dimension; it then
 * has one of extent 1, in which every array that would move in that loop has stride 1. A loop without elements has one
 * dimension, of extent 0. kept.offset holds the offsets of both loops, and those of `reduced` are 0. In both, `loop` is
 * LOOP_FOLD or LOOP_SCAN, and `kind` is by the strides in that loop's dimension 0 (CONTIGUOUS 1, CONSTANT 0, else
 * STRIDED). The position has strides and an offset like the arrays; they are differences of the element's number. */
typedef struct nd_fold {
    nd_loop kept, reduced;
} nd_fold;

/* nd_space for nd_fold_plan and nd_fold_regroup. */
size_t nd_fold_space(int ndim, int narrays);

/* The axes of a call as a set of bits; negative ones count from the end. naxes 0 with axes NULL: all; UF_NO_AXES: none.
 * Errors: ARGUMENT (a number of axes that does not go with axes or the rank; an axis that is out of range or there
 * twice). */
uf_status nd_axes(int naxes, const int *axes, int ndim, uint64_t *out);

/* Makes the two loops of a reduction. arrays: the inputs first, in any roles. axes: axes of the shape of the elements,
 * which is the one that the inputs broadcast to (the mask may extend it, as in NumPy). Outputs must have the shape of
 * the results, which is what is left; with ND_KEEPDIMS it has an extent of 1 in place of each reduced one.
 *
 * flags: by default both loops are ordered by the inputs' strides, those of the first input first, with the smallest
 * innermost, and flipped where the first array that moves runs backwards. With ND_KEEP_ORDER the reduced loop stays in
 * C order, neither flipped nor reordered; dimensions are merged where that keeps the order. With ND_SCAN there is one
 * axis, which is the reduced loop and is not flipped, and outputs have the shape of the elements.
 *
 * If one of the arrays has the role ND_BOUNDS (all that do have one extent), there is one axis, too. It is the reduced
 * loop, which is not flipped; the segments are a dimension of the kept loop, in which inputs have stride 0. With
 * ND_SEGMENTS_INSIDE that dimension is ordered by the strides along the axis, which is how far apart the elements of
 * neighbouring segments lie, or some times as far. Outputs have the shape of the elements, with the number of segments
 * as the extent of the axis. Errors: SHAPE, naming argument and dimension. */
enum {
    ND_KEEPDIMS = 2,
    ND_SCAN = 4,
    ND_SEGMENTS_INSIDE = 8
};
uf_status nd_fold_plan(const nd_array *arrays, int narrays, uint64_t axes, unsigned flags, void *space, nd_fold *out);
/* The shape of the elements, for axes to be checked against and for uf_reduce_infer. Errors: SHAPE. */
uf_status nd_fold_shape(const nd_array *arrays, int narrays, int *ndim, int64_t *shape);
/* The shape of the results. */
void nd_fold_results(int ndim, const int64_t *shape, uint64_t axes, unsigned flags, int *out_ndim, int64_t *out_shape);
/* The same loops over other arrays: array k is array of[k] of `from`. If of[k] is negative it is a new one, which is
 * dense over the kept loop in that loop's own order, with `step` elements from one to the next, and does not move in
 * the reduced loop. */
void nd_fold_regroup(const nd_fold *from, int n, const int *of, int64_t step, void *space, nd_fold *out);

/* nd_interleave over both loops together, for the inputs: those whose elements do not lie side by side in any dimension.
 * `record` is always 0. */
void nd_fold_interleave(const nd_fold *f, const nd_place *place, int nin, nd_member *out);

/* nd_bounds, nd_self_overlap and nd_compare over both loops together. Arrays are ND_SAME only if they are in both. */
void nd_fold_bounds(const nd_fold *f, int k, int64_t *lowest, int64_t *highest);
bool nd_fold_self_overlap(const nd_fold *f, int k);
nd_overlap nd_fold_compare(const nd_fold *f, int a, const char *data_a, int size_a, int b, const char *data_b,
                           int size_b);

/* ---- Core dimensions of generalized ufuncs (core.c) ---- */

/* What a call makes of a layout. loops[k] is array k without its core dimensions, as nd_plan and nd_broadcast take it;
 * an array that has none, and a number, stays as it is. words are the layout's core parameters (see core_layout). */
typedef struct nd_core {
    nd_array *loops;
    int64_t *words;
    uint64_t missing; /* bit d: the optional dimension d is missing */
} nd_core;

/* Bytes that nd_core_resolve needs as its `space`, 8-byte aligned, for so many arrays of at most this rank. */
size_t nd_core_space(const core_layout *l, int ndim, int narrays);

/* Finds the size of each core dimension, and takes the core dimensions out of the arrays (inputs, then outputs; for
 * uf_infer the inputs only, narrays being nin, and then a size that only outputs have is an error that says so). axes
 * may be NULL; it is checked here, its size member included. Sizes are bound by the arguments in order, those of inputs
 * first. Errors: SHAPE (too few dimensions, sizes that disagree, a computed size that is negative or overflows),
 * ARGUMENT (axes). A message names the argument, its dimension, and what bound the name: "argument 1: dimension 0 is 5,
 * but n is 4 (from argument 0)". */
uf_status nd_core_resolve(const core_layout *l, const nd_array *arrays, int narrays, const uf_axes *axes, void *space,
                          nd_core *out);

/* The full shape of output k over a loop of the given shape, with the core dimensions where `axes` puts them. Errors:
 * SHAPE (a rank beyond UF_MAX_NDIM). */
uf_status nd_core_shape(const core_layout *l, const nd_core *core, const uf_axes *axes, int k, int loop_ndim,
                        const int64_t *loop_shape, int *ndim, int64_t *shape);

/* nd_self_overlap, nd_bounds and nd_compare, with the operand's core dimensions as further dimensions. nd_core_compare
 * never answers ND_SAME. An operand with an extent of 0 anywhere is disjoint from everything, and its bounds are 0 and
 * 0. */
bool nd_core_self_overlap(const nd_loop *loop, const core_layout *l, const int64_t *words, int k);
void nd_core_bounds(const nd_loop *loop, const core_layout *l, const int64_t *words, int k, int64_t *lowest,
                    int64_t *highest);
nd_overlap nd_core_compare(const nd_loop *loop, const core_layout *l, const int64_t *words, int a, const char *data_a,
                           int size_a, int b, const char *data_b, int size_b);

/* ---- Products of matrices (product.c) ---- */

/* The BLAS routine that computes the same as a function (uf_definition.blas). */
typedef enum blas_form {
    BLAS_NONE,
    BLAS_GEMM,
    BLAS_GEMV,
    BLAS_GEVM,
    BLAS_DOT,
    BLAS_DOTC,
    BLAS_GER,
    BLAS_GEVMC
} blas_form;

enum {
    ND_RESULT = 2 /* the number of the output among the operands of a product */
};

/* One side of a product: its strides, in elements, along m (of the right side: p) and along n. */
typedef struct nd_side {
    int64_t outer, inner;
    int operand;
    bool conjugate;
} nd_side;

/* C[m][p] = sum over n of left[m][n] * right[n][p]; vectors are the case m = 1 or p = 1. */
typedef struct nd_product {
    int64_t m, n, p;
    nd_side left, right;
    int64_t row, column; /* C's strides along m and p */
} nd_product;

/* The loop dimensions that are not part of the product. Strides are in elements. */
typedef struct nd_product_loop {
    int ndim;
    int64_t count; /* product of the extents */
    int64_t extent[UF_MAX_NDIM];
    int64_t step[UF_MAX_NDIM][3];
} nd_product_loop;

/* A matrix of a side as BLAS takes it: columns of unit stride, which lie ld apart. */
typedef struct nd_stored {
    bool along_n; /* the unit stride is the one along n */
    int64_t ld;
} nd_stored;

/* Reads the product of one inner call. False if the layout is not one of the form. */
bool nd_product_read(blas_form form, const core_layout *l, const int64_t *core, nd_product *out);
/* The dtype of both operands and the result, floating or complex, of calls that BLAS could compute; else DT_NONE. */
dtype nd_product_type(const variant *v);
/* The same product as C^T = right^T left^T. */
nd_product nd_product_transposed(const nd_product *p);
/* How a side lies whose other extent is `extent`. False: it has no unit stride, or its columns overlap. */
bool nd_product_stored(const nd_side *s, int64_t extent, int64_t n, nd_stored *out);
/* Takes as many dimensions of the loop as possible into the product: those in which one side does not move, so that one matrix times
 * many vectors is a product of two matrices. `fits` says whether a product can be computed. The others are left in `out`. */
void nd_product_merge(const nd_loop *loop, bool (*fits)(const nd_product *), nd_product *p, nd_product_loop *out);
/* Moves an index of the loop, and the operands' offsets, to the next one, dimension 0 first. */
void nd_product_next(const nd_product_loop *loop, int64_t *index, int64_t offset[3]);

#endif
