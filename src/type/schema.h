/* schema.h - the parameters of compiled kernels, declared once: who emits a kernel reads them in the order of these rows, and who launches
 * it writes them in that order.
 *
 * Every kernel takes 64-bit parameters. On the GPU each is one parameter of the kernel, so that the packed block is the launch's
 * parameter buffer; on the CPU the kernel takes one pointer to them:
 *     void kernel(const uint64_t *parameters)
 * A row X(id, kind, repeat, what) stands for `repeat` values of its kind (see below), one after the other; a kernel class of an engine has
 * the rows of some of the lists (schema.c). A new parameter is one row here, a line where it is emitted, and a line where it is
 * written. In builds with assertions, reading and writing stop at the first parameter that is not the one the schema has next. */
#ifndef UF_SCHEMA_H
#define UF_SCHEMA_H

#include <assert.h>

#include "type/variant.h"

/* clang-format off */

/* All kernels. */
#define OPERAND_ROWS(X) \
    X(PARAMETER_OPERANDS, OPERAND, operands, \
      "of each operand in order: an array's address (of an interleaved group: that of its first member alone); the position of the " \
      "loop's first element; or a number's bytes, in the low end of one parameter, complex128 in two")

/* Kernels that report failures, are limited in steps or can be cancelled. */
#define REPORT_ROWS(X) \
    X(PARAMETER_REPORT, ADDRESS, reporting, "address of the report")

/* Generalized ufuncs and kernels over indices. */
#define CORE_ROWS(X) \
    X(PARAMETER_CORE, INT64, core, "core parameters: the size of each core dimension, then the core strides of each operand, in elements")

/* Updates in place. */
#define INDEXED_ROWS(X) \
    X(PARAMETER_INDEXED, INDEXED, indices, "of each index array: extent and stride, in elements, of the dimension of the target that it indexes")

#define CPU_AT_ROWS(X) \
    X(CPU_AT_OUTSIDE, ADDRESS, at_elements, "an int64 that becomes 1 if an index is out of range, where the kernel ends; NULL: all are in range")

#define CPU_FLAT_ROWS(X) \
    X(CPU_FLAT_ELEMENTS, INT64, once,        "elements") \
    X(CPU_FLAT_LINES,    INT64, nontemporal, "1: these are whole lines of each output, which go past the caches; else 0")

/* Dimensions 0 and 1 of a loop; the engine walks the others. Elementwise loops, updates in place and inner calls. */
#define CPU_LOOP_ROWS(X) \
    X(CPU_LOOP_EXTENTS, INT64,  two,       "extents of dimensions 0 and 1; 1 where the loop has no dimension 1") \
    X(CPU_LOOP_STRIDES, STRIDE, two_array, "of each array: strides of dimensions 0 and 1, in elements")

#define CPU_GUFUNC_ROWS(X) \
    X(CPU_GUFUNC_FIRST, INT64, reporting, "number of the first inner call")

#define CPU_FORALL_ROWS(X) \
    X(CPU_FORALL_FIRST, INT64,   once,        "first point of each row, by the last index") \
    X(CPU_FORALL_LAST,  INT64,   once,        "the point behind the last one of each row") \
    X(CPU_FORALL_ROWS,  INT64,   once,        "how many rows, one after the other in C order") \
    X(CPU_FORALL_INDEX, INT64,   inner,       "the other indices of the first row, the outermost first; dimensions from ndim on have extent 1") \
    X(CPU_FORALL_COPY,  ADDRESS, nontemporal, "address of a function (to, from, bytes) that copies past the caches")

#define CPU_FOLD_ROWS(X) \
    X(CPU_FOLD_RESULTS,         INT64,  once,          "results along dimension 0 of the loop; the engine walks the others") \
    X(CPU_FOLD_KEPT_STRIDES,    STRIDE, array,         "of each array, and the position (0): stride along that dimension") \
    X(CPU_FOLD_ELEMENTS,        INT64,  once,          "elements of each result, as the launch says") \
    X(CPU_FOLD_FIRST,           INT64,  once,          "first index of the outermost dimension of the reduced loop that is combined; segmented: 0") \
    X(CPU_FOLD_LAST,            INT64,  once,          "the index behind the last one; segmented: the length of the axis, and each result has its own part, " \
                                                       "from what its first bound holds to what the second does, or one element if that is not above the first; " \
                                                       "a result whose first bound is outside of the axis is left alone") \
    X(CPU_FOLD_STOP,            ADDRESS, segmented,    "behind the first bounds: a second bound there is the length of the axis, and is not read") \
    X(CPU_FOLD_EXTENTS,         INT64,  reduced_inner, "extents of the reduced loop's other dimensions, from 0 on") \
    X(CPU_FOLD_REDUCED_STRIDES, STRIDE, moving,        "of each array that is read for each element, and the position: strides in the reduced loop")

#define CPU_SCAN_ROWS(X) \
    X(CPU_SCAN_LINES,         INT64,   once,  "lines along dimension 0 of the loop") \
    X(CPU_SCAN_KEPT_STRIDES,  STRIDE,  array, "of each array, and the position: stride along that dimension") \
    X(CPU_SCAN_ELEMENTS,      INT64,   once,  "elements of each line to be done") \
    X(CPU_SCAN_FIRST,         INT64,   once,  "index in the line of the first of them") \
    X(CPU_SCAN_ALONG_STRIDES, STRIDE,  array, "of each array, and the position: stride along the line") \
    X(CPU_SCAN_CARRY,         ADDRESS, once,  "not columns, one line: address of a state, value k in its bytes from 16 * k on, which becomes the " \
                                              "state of what was done; 0: none is wanted") \
    X(CPU_SCAN_RESUMES,       FLAG,    once,  "the carry holds the state of the elements before the first; else these are the line's first") \
    X(CPU_SCAN_WHAT,          INT64,   once,  "0: results; 1: none, but the carry; 2: the carry is joined to another one, which follows it (at 16 * " \
                                              "UF_MAX_STATE) and becomes both together")

#define GPU_FLAT_ROWS(X) \
    X(GPU_FLAT_ELEMENTS, INT64, once, "elements") \
    X(GPU_FLAT_HEAD,     INT64, once, "elements before the first index at which `vector` elements of every contiguous operand, and as many records of every group, " \
                                      "are aligned for accesses as wide as emit.h says; -1 if there is none or it is beyond the end. With vector 1 only " \
                                      "complex operands and groups can make it -1")

#define GPU_ROWS_ROWS(X) \
    X(GPU_ROWS_EXTENTS, INT64,     two,             "extents of dimensions 0 and 1") \
    X(GPU_ROWS_SHIFT,   INT32,     once,            "log2 of the threads along a row; the block has blockDim.x >> shift threads across rows") \
    X(GPU_ROWS_VECTORS, FLAG,      once,            "every row of every contiguous operand and of every group is aligned likewise") \
    X(GPU_ROWS_ACROSS,  DIVISOR32, once,            "tiles along dimension 0") \
    X(GPU_ROWS_DOWN,    DIVISOR32, once,            "tiles along dimension 1") \
    X(GPU_ROWS_OUTER,   DIVISOR32, between,         "extents of dimensions 2 .. ndim-2; the outermost needs no division") \
    X(GPU_ROWS_STRIDES, STRIDE,    array_row_inner, "of each array: strides of dimensions 1 .. ndim-1, in elements")

#define GPU_TILE_ROWS(X) \
    X(GPU_TILE_EXTENTS, INT64,     two,       "extents of dimensions 0 and 1") \
    X(GPU_TILE_ALIGNED, FLAG,      once,      "every access by vectors in a tile that is whole is aligned: of staged operands with " \
                                              "a unit along dimension 1, and of contiguous ones along dimension 0") \
    X(GPU_TILE_APART,   FLAG,      halo,      "no output is in the memory of an input; else there are no halos") \
    X(GPU_TILE_ACROSS,  DIVISOR32, once,      "tiles along dimension 0") \
    X(GPU_TILE_DOWN,    DIVISOR32, once,      "tiles along dimension 1") \
    X(GPU_TILE_OUTER,   DIVISOR32, between,   "extents of dimensions 2 .. ndim-2; the outermost needs no division") \
    X(GPU_TILE_STRIDES, STRIDE,    array_row, "of each array: strides of dimensions 0 .. ndim-1, in elements")

/* Elements by number. Elementwise loops and updates in place. */
#define GPU_GENERAL_ROWS(X) \
    X(GPU_GENERAL_ELEMENTS, INDEX,   once,      "elements") \
    X(GPU_GENERAL_EXTENTS,  DIVISOR, inner,     "extents of dimensions 0 .. ndim-2") \
    X(GPU_GENERAL_STRIDES,  INDEX,   array_row, "of each array: strides of dimensions 0 .. ndim-1, in elements") \
    X(GPU_GENERAL_ALIGNED,  FLAG,    by_vectors, "the address of every operand with a unit is a multiple of `vector` elements")

#define GPU_AT_ROWS(X) \
    X(GPU_AT_FIRST,  ADDRESS, halves_target, "of the target, if it is in one piece of memory of which each byte is its own; else 0") \
    X(GPU_AT_BEHIND, ADDRESS, halves_target, "the address behind it; else 0")

#define GPU_GUFUNC_ROWS(X) \
    X(GPU_GUFUNC_CALLS,   INT64,   once,      "inner calls") \
    X(GPU_GUFUNC_ALIGNED, FLAG,    once,      "every access by vectors is aligned: of each operand with a unit dimension whose extent is at least " \
                                              "`vector`, the address, and every other stride (core and loop), are multiples of vector elements, the " \
                                              "address of ACCESS_BYTES, if that is less; with " \
                                              "gufunc.calls, of each that is not `fixed`, of as many elements as a thread has calls") \
    X(GPU_GUFUNC_EXTENTS, DIVISOR, inner,     "extents of dimensions 0 .. ndim-2 of the loop") \
    X(GPU_GUFUNC_STRIDES, STRIDE,  array_row, "of each array: strides of dimensions 0 .. ndim-1 of the loop, in elements") \
    X(GPU_GUFUNC_STAGED,  STAGED,  staged,    "of each staged operand, unless the sizes are constants: elements of a core; elements " \
                                              "from one call's core to the next in shared memory; byte offset of the operand's " \
                                              "part of shared memory") \
    X(GPU_GUFUNC_BLOCKS,  INT32,   coop_blocks, "blocks of a cooperative group, or that take the tiles of a call") \
    X(GPU_GUFUNC_SIDE,    DIVISOR32, grid_across, "inner calls") \
    X(GPU_GUFUNC_RANKS,   INT32,   grid_across, "threads of a block for each of them") \
    X(GPU_GUFUNC_SLOTS,   ADDRESS, coop_slots, "split: see type/tile.h. Else the address of zeroed memory, variant_slot_bytes for each cooperative group in flight " \
                                               "(there are grid / blocks; group t has slot t)")

#define GPU_FORALL_ROWS(X) \
    X(GPU_FORALL_TILES,   INDEX,   once,       "tiles, which the threads take; with `across` blocks") \
    X(GPU_FORALL_EXTENTS, DIVISOR, inner,      "extents in tiles of all indices but the first, from the last on; with `across` the " \
                                               "last two in blocks") \
    X(GPU_FORALL_PRIVATE, INT64,   privatised, "of each privatised operand: the offset of its elements in shared memory, in bytes")

#define GPU_FOLD_ROWS(X) \
    X(GPU_FOLD_RESULTS,         INT64,   once,          "results") \
    X(GPU_FOLD_TOTAL,           INT64,   once,          "elements of the reduced loop") \
    X(GPU_FOLD_ELEMENTS,        INT64,   once,          "elements of each result, as the launch says") \
    X(GPU_FOLD_ALIGNED,         FLAG,    once,          "every access by vectors is aligned") \
    X(GPU_FOLD_STOP,            ADDRESS, segmented,     "behind the first bounds: a second bound there is the length of the axis, and is not read") \
    X(GPU_FOLD_LONG,            INT64,   deferring,     "elements of a segment, beyond which it is left to the block") \
    X(GPU_FOLD_SPLIT,           DIVISOR, splitting,     "elements of a part of a segment that several blocks have: of any segment that has more") \
    X(GPU_FOLD_SECOND,          FLAG,    splitting,     "it is the launch of blocks that have parts of segments") \
    X(GPU_FOLD_LIST,            ADDRESS, splitting,     "of the list of these segments (type/segments.h)") \
    X(GPU_FOLD_CHUNK,           INT64,   parts,         "elements of a part") \
    X(GPU_FOLD_CHUNK_STRIDE,    STRIDE,  parts,         "of the outputs, from one part to the next") \
    X(GPU_FOLD_PARTS,           DIVISOR, parts,         "parts of each result") \
    X(GPU_FOLD_COLUMNS,         INT64,   columns,       "extent of dimension 0 of the loop") \
    X(GPU_FOLD_SHIFT,           INT32,   columns,       "log2 of the threads of a tile along that dimension") \
    X(GPU_FOLD_ACROSS,          DIVISOR, columns,       "tiles along that dimension") \
    X(GPU_FOLD_KEPT,            DIVISOR, inner,         "extents of the loop's dimensions 0 .. ndim-2; columns: 1 .. ndim-1") \
    X(GPU_FOLD_UNIT,            DIVISOR, reduced_many,  "accesses of `vector` elements along dimension 0 of the reduced loop") \
    X(GPU_FOLD_REDUCED,         DIVISOR, reduced_most,  "extents of the reduced loop's dimensions but the outermost") \
    X(GPU_FOLD_KEPT_STRIDES,    STRIDE,  placed,        "of each array (of no elements: output): strides in the loop") \
    X(GPU_FOLD_REDUCED_STRIDES, STRIDE,  reading,       "of each array that is read for each element, and the position: strides in the reduced loop")

/* Entries are of one state, 8 bytes for each 32 bits of it; a level has one for each tile, group of tiles, and part, of a line, line by line
 * (columns: of all `vector << coop` lines of a group of lines, group by group). */
#define GPU_SCAN_ROWS(X) \
    X(GPU_SCAN_LINES,         INT64,     once,      "lines") \
    X(GPU_SCAN_LENGTH,        INT64,     once,      "elements of a line") \
    X(GPU_SCAN_ALIGNED,       FLAG,      once,      "vectors of neighbours are aligned") \
    X(GPU_SCAN_TILES,         INT32,     once,      "tiles of a line") \
    X(GPU_SCAN_ORDER,         DIVISOR32, once,      "what a block's number is divided by: rows: the tiles; columns: groups of lines in all") \
    X(GPU_SCAN_COLUMNS,       DIVISOR32, once,      "groups of neighbouring lines along dimension 0; rows: 1") \
    X(GPU_SCAN_COUNTER,       ADDRESS,   once,      "address of the tickets; 0: the tiles of a line are not spread over blocks") \
    X(GPU_SCAN_LEVEL,         ADDRESS,   levels,    "addresses of the entries of the tree's levels; 0 likewise") \
    X(GPU_SCAN_KEPT,          DIVISOR,   inner,     "extents of dimensions 0 .. ndim-2 of the loop") \
    X(GPU_SCAN_KEPT_STRIDES,  STRIDE,    array_row, "of each array, and the position: strides of all dimensions of the loop") \
    X(GPU_SCAN_ALONG_STRIDES, STRIDE,    array,     "of each array, and the position: stride along the line")

#define ALL_ROWS(X) \
    OPERAND_ROWS(X) REPORT_ROWS(X) CORE_ROWS(X) INDEXED_ROWS(X) CPU_AT_ROWS(X) \
    CPU_FLAT_ROWS(X) CPU_LOOP_ROWS(X) CPU_GUFUNC_ROWS(X) CPU_FORALL_ROWS(X) CPU_FOLD_ROWS(X) CPU_SCAN_ROWS(X) \
    GPU_FLAT_ROWS(X) GPU_ROWS_ROWS(X) GPU_TILE_ROWS(X) GPU_GENERAL_ROWS(X) GPU_AT_ROWS(X) GPU_GUFUNC_ROWS(X) GPU_FORALL_ROWS(X) GPU_FOLD_ROWS(X) GPU_SCAN_ROWS(X)

typedef enum parameter_id {
#define PARAMETER_ID(id, kind, repeat, what) id,
    ALL_ROWS(PARAMETER_ID)
    PARAMETER_IDS
} parameter_id;

/* clang-format on */

/* What the emitter makes of a parameter. */
typedef enum parameter_type {
    TYPE_I64,
    TYPE_I32, /* its low half */
    TYPE_I1   /* is it not 0? */
} parameter_type;

/* The kinds of values, some of which are several parameters. INDEX and DIVISOR have 64 bits where the variant is wide, else 32.
 * A divisor is what generated code divides by: extent, multiplier and shift; see magic_of. */
typedef enum parameter_kind {
    KIND_OPERAND,
    KIND_INT64,
    KIND_INT32,
    KIND_INDEX,
    KIND_FLAG,
    KIND_ADDRESS,
    KIND_STRIDE, /* in elements */
    KIND_DIVISOR,
    KIND_DIVISOR32,
    KIND_STAGED,  /* count, pitch, offset */
    KIND_INDEXED, /* extent, stride */
    PARAMETER_KINDS
} parameter_kind;

enum {
    KIND_PARTS = 3 /* parameters that a value is, at most */
};

typedef struct parameter_row {
    const char *name, *what;
    parameter_kind kind;
    int (*repeat)(const variant *v, const core_layout *layout);
} parameter_row;
extern const parameter_row parameter_rows[PARAMETER_IDS];

/* The rows of a kernel class of an engine, in order. */
typedef struct schema {
    const uint8_t *ids; /* parameter_id */
    int rows;
} schema;
const schema *schema_of(const variant *v, bool gpu);

/* How many parameters a kernel takes. layout: LOOP_GUFUNC and LOOP_FORALL. */
int schema_count(const variant *v, const core_layout *layout, bool gpu);
/* The number of the first one of a row, counted from 0. */
int schema_place(const variant *v, const core_layout *layout, bool gpu, parameter_id id);

/* ---- Going through the parameters ---- */

typedef struct parameter_cursor {
    const variant *v;
    const core_layout *layout;
    const schema *s;
    int row;    /* of s */
    int left;   /* parameters of that row still to come */
    int number; /* of the parameter to come */
} parameter_cursor;

parameter_cursor parameters_begin(const variant *v, const core_layout *layout, bool gpu);
/* The next parameter, which must be of this row: its type. */
parameter_type parameter_next(parameter_cursor *c, parameter_id id);
bool parameters_ended(const parameter_cursor *c);

/* ---- Writing them ---- */

typedef struct parameter_writer {
    uint64_t *next;
    const variant *v;
#ifndef NDEBUG
    parameter_cursor at;
#endif
} parameter_writer;

static inline parameter_writer parameters_write(uint64_t *to, const variant *v, const core_layout *layout, bool gpu) {
    parameter_writer w = {.next = to, .v = v};
#ifndef NDEBUG
    w.at = parameters_begin(v, layout, gpu);
#else
    (void)layout, (void)gpu;
#endif
    return w;
}

/* Each returns where the parameter stands, for what changes from run to run. */
static inline uint64_t *put_parameter(parameter_writer *w, parameter_id id, int64_t value) {
#ifndef NDEBUG
    parameter_next(&w->at, id);
#else
    (void)id;
#endif
    *w->next = (uint64_t)value;
    return w->next++;
}

static inline uint64_t *put_address(parameter_writer *w, parameter_id id, const volatile void *address) {
    return put_parameter(w, id, (int64_t)(uintptr_t)address);
}

/* d is at least 1, and less than 2^63, or 2^31 where the row is not wide. */
static inline void put_divisor(parameter_writer *w, parameter_id id, int64_t d) {
    bool wide = w->v->wide && parameter_rows[id].kind == KIND_DIVISOR;
    magic m = magic_of((uint64_t)d, wide ? 64 : 32);
    put_parameter(w, id, d);
    put_parameter(w, id, (int64_t)m.multiplier);
    put_parameter(w, id, m.shift);
}

/* Operand k: its address, or if it is a number numbers[k]. NULL: it follows another one, and has no parameter. */
static inline uint64_t *put_operand(parameter_writer *w, int k, uint64_t address, const uint64_t (*numbers)[2]) {
    if (variant_follows(w->v, k))
        return NULL;
    if (w->v->operand[k].kind != OPERAND_NUMBER)
        return put_parameter(w, PARAMETER_OPERANDS, (int64_t)address);
    uint64_t *at = put_parameter(w, PARAMETER_OPERANDS, (int64_t)numbers[k][0]);
    if (operand_parameters(w->v, k) == 2)
        put_parameter(w, PARAMETER_OPERANDS, (int64_t)numbers[k][1]);
    return at;
}

static inline void put_core(parameter_writer *w, const core_layout *layout, const int64_t *core) {
    for (int i = 0; i < layout->nparameters; i++)
        put_parameter(w, PARAMETER_CORE, core[i]);
}

/* All of them are written. */
static inline void parameters_finish(const parameter_writer *w) {
#ifndef NDEBUG
    assert(parameters_ended(&w->at));
#else
    (void)w;
#endif
}

#endif
