/* variant.h - the key of a piece of compiled code, and the layout of its parameters: what code generation (ir), the loop
 * planner (nd) and the engines agree on. */
#ifndef UF_VARIANT_H
#define UF_VARIANT_H

#include "type/type.h"

enum {
    VARIANT_OPERANDS = UF_MAX_OPERANDS + 1 /* mask */ + 2 /* bounds */ + UF_MAX_STATE /* initial */ + 1 /* position */
};

/* The class of a loop; see DESIGN section 7. A new class is a row here, a file in ir, a row in each engine's launch. */
typedef enum loop_class {
    LOOP_FLAT,
    LOOP_ROWS,
    LOOP_GENERAL,
    LOOP_GUFUNC, /* a generalized ufunc: inner calls over the loop dimensions */
    LOOP_FOLD,   /* a reduction: a loop over the results, and within it one over the elements of a result */
    LOOP_SCAN,   /* an accumulation: a loop over lines, and within it one along the line */
    LOOP_AT,     /* in-place updates of elements found by indices */
    LOOP_FORALL, /* a kernel over indices: for every point of a space */
    LOOP_CLASSES
} loop_class;

/* What may be done with the order in which a reduction combines. */
typedef enum fold_order {
    FOLD_FREE,    /* associative and commutative */
    FOLD_ORDERED, /* associative: any grouping, in order */
    FOLD_SERIAL   /* neither: from the first to the last */
} fold_order;

/* What ends an element, bits. The last two only where the kernel has loops that are not proved short. */
enum {
    REPORTS_ERRORS = 1, /* UF_DEBUG: indices, divisors, assertions */
    REPORTS_STEPS = 2,  /* more steps than code_module.max_steps */
    REPORTS_CANCEL = 4  /* report.cancel */
};

/* How an operand moves along the inner dimension. */
typedef enum operand_kind {
    OPERAND_CONTIGUOUS, /* inner stride 1 */
    OPERAND_CONSTANT,   /* inner stride 0; flat: the one element at its address */
    OPERAND_STRIDED,    /* any other (general only); every array of a generalized ufunc */
    OPERAND_NUMBER,     /* passed by value, already converted to `value` */
    OPERAND_POSITION    /* folds: no memory; see variant.position */
} operand_kind;

typedef struct variant_operand {
    uint8_t memory; /* dtype in memory; for a number, same as value */
    uint8_t value;  /* dtype of the signature: loads and stores convert between the two */
    uint8_t kind;   /* operand_kind */
    uint8_t fixed;  /* rows: the stride of the second dimension is 0, so the row is loaded once for several rows */
    uint8_t unit;   /* calls: 1 + the core dimension of the operand that has stride 1 (the last such one); 0: none.
                       CPU fold, the position: it changes by 1 along dimension 0 of the reduced loop */
    uint8_t staged; /* GPU calls, coop 0: the operand's elements are staged in shared memory */
    /* Forall; see code_traits.use. */
    uint8_t coalesced;   /* GPU: what neighbours along the last index read and write is accessed by vectors */
    uint8_t nontemporal; /* CPU: what is written to it goes past the caches, strip by strip */
    uint8_t privatised;  /* blocks (CPU: runs of the code) update a copy of their own, which then goes to the array */
    uint8_t
        align; /* core tells specialise, which clears it: log2, at most 4, of the bytes of which the address and all strides
                           but that of the unit dimension are multiples */
} variant_operand;

/* GPU calls: log2 of the threads that compute one inner call together, its cooperative group. 0: a thread; to 5: lanes of a warp; to 10:
 * a block; COOP_GRID: several blocks of 2^COOP_GRID_BLOCK threads. */
enum {
    COOP_WARP = 5,
    COOP_BLOCK = 10,
    COOP_GRID = 11,
    COOP_GRID_BLOCK = 9
};

/* Everything that generated code depends on beside the kernel itself. Zero it before filling: keys are compared as bytes. */
typedef struct variant {
    uint8_t loop; /* loop_class */
    uint8_t ndim; /* dimensions of the loop, dimension 0 innermost; flat 1, rows >= 2, general >= 1. CPU: 1 or 2: the
                         engine walks the others; forall: those up to the last one that is longer than 1 */
    uint8_t nin, nout;
    uint8_t masked; /* operand[nin + nout] is the where mask (bool, never a number) */
    uint8_t wide;   /* GPU general: 64-bit indices and offsets; CPU fold: positions of 2^31 and above */
    uint8_t vector; /* GPU flat, rows: elements in one vector access, a power of two <= 16; 1 elsewhere */
    uint8_t repeat; /* GPU: flat: vectors a thread; rows: rows a thread; general: elements a thread; calls: steps (or
                         rows) of a construct that a thread takes together; scan: see ir/scan/gpu_scan.h. CPU scan: 1: lines may
                         be cut; 0: they are one piece */
    uint8_t coop;   /* GPU calls: see COOP_; scan: log2 of the threads along a line, or across lines */
    uint8_t
        lanes; /* GPU scan: 32-bit words of a state; calls, !along: log2 of the lanes (<= cooperative group, <= 5) that compute one reduction inside a forall; the
                         rows of the forall are spread over the groups of so many lanes in the cooperative group */
    /* Fold and scan. */
    uint8_t
        segmented;    /* fold: two int64 operands behind the mask say where the elements of each result begin and end */
    uint8_t ninitial; /* numbers behind those: the state's initial values, each of its dtype; all or none */
    uint8_t
        position; /* the last operand is the position: its "address" word is the position of the loop's first element,
                            and its strides (in both loops) say how it changes; it has no memory */
    uint8_t from_states; /* the inputs are states (a count too if `counted`), already mapped */
    uint8_t to_states;   /* the outputs are states (a count too if `counted`), not finished; the initial values are not
                            taken in */
    uint8_t
        sparse; /* fold: what has no element yet is told apart, since no value may stand for it: the results must not show
                            the identity, which may change what it is combined with (the sign of a zero) */
    uint8_t counted; /* a state has the count of elements that took part (int64) as one more, last value. Set where a
                            mask decides, and the count is used or tells apart (sparse): 0 then means that there is none */
    uint8_t empty;   /* nothing is reduced: the results are those of no elements, and inputs are not looked at */
    uint8_t reduced; /* dimensions of the reduced loop (fold), at least 1; scan: 1. CPU and GPU alike */
    uint8_t columns; /* neighbouring lanes take neighbouring results (scan: lines), along dimension 0 of the loop;
                            else neighbouring elements of one, along dimension 0 of the reduced loop. `kind` of each operand
                            is how it moves along that dimension */
    /* GPU at: each element is one warp's, which does its updates in the order of the indices. */
    uint8_t deterministic;
    uint8_t
        results; /* GPU fold, !columns: results that a cooperative group takes together, each in one visit of `repeat` accesses a
                        thread; 0: one result, in as many visits as it takes */
    uint8_t along;    /* calls: a reduction inside a forall runs within one thread (CPU: in an inner loop), and lanes go
                         along the last range of the forall, because that is where memory is contiguous */
    uint8_t nindices; /* at: index arrays, behind the outputs; the target is operand 0 and the output. See ir/at/at.c */
    /* Forall, whose operands are the kernel's parameters, all inputs; ndim is that of the space. */
    uint8_t proved;  /* what the tree needs of the sizes holds: accesses that are `conditional` need no check */
    uint8_t noalias; /* an array that is written to (atomically or not) overlaps no other parameter */
    uint8_t
        reports; /* what ends an element and is reported: REPORTS_, see ir/common/report.h. Calls and forall; calls then also stand
                       for elementwise functions, with layout_scalars, and may be masked. A thread a call (point), nothing
                       in parallel within it, the loop in C order. Fold, scan, at: not REPORTS_ERRORS */
    variant_operand
        operand[VARIANT_OPERANDS]; /* inputs, outputs, mask or index arrays; fold: bounds, initial values, position */
} variant;

static inline int variant_operands(const variant *v) {
    return v->nin + v->nout + v->masked + 2 * v->segmented + v->ninitial + v->position + v->nindices;
}
/* Where they stand among the operands. */
static inline int variant_mask(const variant *v) { return v->nin + v->nout; }
static inline int variant_index(const variant *v) { return v->nin + v->nout; }
static inline int variant_bounds(const variant *v) { return v->nin + v->nout + v->masked; }
static inline int variant_initial(const variant *v) { return variant_bounds(v) + 2 * v->segmented; }
static inline int variant_position(const variant *v) { return variant_initial(v) + v->ninitial; }
/* Operands that are privatised. */
static inline int variant_privatised(const variant *v) {
    int n = 0;
    for (int k = 0; k < v->nin; k++)
        n += v->operand[k].privatised;
    return n;
}
/* CPU: is any operand nontemporal? */
static inline bool variant_has_nontemporal(const variant *v) {
    for (int k = 0; k < v->nin; k++)
        if (v->operand[k].nontemporal)
            return true;
    return false;
}
static inline size_t variant_key_size(const variant *v) {
    return offsetof(variant, operand) + (size_t)variant_operands(v) * sizeof(variant_operand);
}

/* Parameters. Every compiled kernel takes 64-bit words, in this order; on the GPU each word is one parameter of the kernel,
 * so that the packed block is the launch's parameter buffer; on the CPU the kernel takes one pointer to them:
 *     void kernel(const uint64_t *words)
 *
 *   operands, in order:   an array: its address, one word
 *                         the position: that of the loop's first element, one word
 *                         a number: its bytes in the low end of one word; complex128: two words
 *   then by class:
 *   GPU flat      n        elements
 *                 head     elements before the first index at which every contiguous operand is aligned to vector * size;
 *                          -1 if there is none or it is beyond n. With vector 1 only complex operands can make it -1
 *   GPU rows      columns, rows   extents of dimensions 0 and 1
 *                 shift    log2 of threads along a row; the block has blockDim.x >> shift threads across rows
 *                 vectors  1 if every row of every contiguous operand is aligned to vector * size, else 0
 *                 tiles across columns, tiles across rows: each as (count, magic, shift) for division
 *                 then for dimensions 2 .. ndim-2: (extent, magic, shift)    [the outermost needs no division]
 *                 then for every array operand: strides of dimensions 1 .. ndim-1, in elements
 *   GPU general   n
 *                 for dimensions 0 .. ndim-2: (extent, magic, shift)
 *                 then for every array operand: strides of dimensions 0 .. ndim-1, in elements
 *   CPU flat      n
 *   CPU rows, general  n, m   extents of dimensions 0 and 1 (m = 1 if ndim is 1)
 *                 then for every array operand: strides of dimensions 0 and 1, in elements
 *
 *   GPU calls     n        inner calls
 *                 aligned  1 if every access by vectors is aligned: of each operand with a unit dimension whose extent is
 *                          at least `vector`, the address, and every other stride (core and loop), in elements, are
 *                          multiples of vector * size and of vector
 *                 for dimensions 0 .. ndim-2 of the loop: (extent, magic, shift), 64-bit where `wide`
 *                 then for every array operand: strides of dimensions 0 .. ndim-1, in elements
 *                 then for every staged operand: (count, pitch, offset): elements of a core; elements from one call's core
 *                 to the next in shared memory; byte offset of the operand's part of shared memory
 *                 COOP_GRID: (blocks, slots): blocks a cooperative group; address of zeroed memory, COOP_SLOT bytes for each cooperative group in
 *                 flight (grid / blocks cooperative groups; cooperative group t has the slot t)
 *                 reports: address of the report
 *                 then the core words
 *   CPU calls     n, m     extents of dimensions 0 and 1 (m = 1 if ndim is 1)
 *                 then for every array operand: strides of dimensions 0 and 1, in elements
 *                 reports: the number of the first call; address of the report
 *                 then the core words
 *   Core words: layout.nwords words; see type.h.
 *
 *   CPU fold      n        results along dimension 0 of the loop (the engine walks the others)
 *                 for every array operand, and the position: its stride along that dimension (position: 0)
 *                 elements       of each result, as the launch says
 *                 first, last    the part of the outermost dimension (reduced - 1) of the reduced loop to be combined
 *                 for the other dimensions of the reduced loop, from 0 on: their extents
 *                 then for every array operand that is no output and no bound, and the position: strides of dimensions 0 ..
 *                 reduced-1 of the reduced loop
 *                 segmented (reduced is 1): first is 0, last the length of the axis; each result has its own part, within
 *                 them: from what the first bound holds to what the second does, to one element if that is not above the
 *                 first; a result whose first bound is outside of 0 .. last - 1 is left alone
 *   CPU scan      n        lines along dimension 0 of the loop
 *                 for every array operand, and the position: its stride along that dimension
 *                 m, first   elements of each line to be done; the index of the first of them in the line
 *                 for every array operand, and the position: its stride along the line
 *                 carry    not columns, n = 1: address of a state, value k in its bytes from 16 * k on, which becomes the
 *                 state of what was done; 0: none is wanted
 *                 resumes  1: the carry holds the state of the elements before `first`; 0: these are the line's first
 *                 what     0: results; 1: none, but the carry; 2: the carry joined to another, which follows it (at 16 *
 *                 UF_MAX_STATE) and becomes both together
 *   GPU fold      see ir/reduce/gpu_reduce.c and cuda/fold.c;  GPU scan: ir/scan/gpu_scan.h and cuda/scan.c
 *   at            see ir/at/at.c
 *   CPU forall    first, last    of the last index
 *                 rows           how many, one after the other in C order
 *                 the other indices of the first of them, the outermost first. Dimensions from ndim on have extent 1
 *                 any operand nontemporal: address of a function (to, from, bytes) that copies past the caches
 *                 reports: address of the report
 *                 then the core words
 *   GPU forall    see ir/forall/gpu_forall.c and cuda/forall.c
 *
 *   reports, fold, scan and at: address of the report, behind all
 *
 * Division by magic (32-bit, or 64-bit where `wide`): q = (mulhi(x, magic) + x) >> shift, for x < 2^31 (2^63); see
 * magic_of.
 *
 * Blocks (blockDim.x a power of two, 32 to 256), one-dimensional grids of at most 2^31-1:
 *   flat      covers blockDim.x * vector * repeat elements, counted from head (0 if that is -1); the elements of the head
 *             are counted last. Grid: what covers n elements.
 *   rows      columns per tile = vector << shift, rows per tile = (blockDim.x >> shift) * repeat; block b is column tile
 *             b % tc, then row tile (b / tc) % tr, then the dimensions from 2 on.
 *   general   covers blockDim.x * repeat elements; without `wide`, every offset fits 32 bits, signed, and n < 2^31.
 *   calls     blockDim.x is a power of two up to 1024: coop <= COOP_WARP: 32 to 256, with blockDim.x >> cooperative group calls a block;
 *             to COOP_BLOCK: 1 << coop; COOP_GRID: 1 << COOP_GRID_BLOCK, all blocks resident at once (a cooperative launch),
 *             their number a multiple of `blocks`. The grid may have fewer cooperative groups than there are calls: cooperative groups loop. Staged:
 *             dynamic shared memory of what the operands' parts need; coop 0, ndim 1, and every staged operand has loop
 *             stride `count` and its core in C order without gaps, so that a block's cores lie in one piece of memory.
 *             Without `wide`, n < 2^31.
 *   fold      !columns: cooperative groups of 1 << coop threads (at most 1024; coop <= COOP_WARP: blocks of 32 to 256). A cooperative group has one
 *             result, or with to_states a part of one (parts of a result are neighbours), or `results` of them: cooperative group t of the
 *             T in block b those numbered b * T * results + t + T * i.
 *             columns: blocks of at most 256 threads: tiles of vector << shift columns, then the kept dimensions from 1 on,
 *             then the parts. */
enum {
    COPY_BYTES = 16 << 10 /* CPU forall: of a privatised operand, at most */
};
enum {
    COOP_BLOCKS_MAX = 256, /* blocks of a COOP_GRID cooperative group */
    COOP_SLOT = 128 + 2 * 64 * COOP_BLOCKS_MAX
};
/* The kernel's parameters after the operands' in LOOP_GUFUNC, for the launch and for code generation to agree on. */
static inline int operand_words(const variant_operand *o) {
    return o->kind == OPERAND_NUMBER && o->value == DT_COMPLEX128 ? 2 : 1;
}

typedef struct magic {
    uint64_t multiplier;
    unsigned shift;
} magic;
/* For division of x < 2^(bits-1) by 1 <= d < 2^(bits-1); bits is 32 or 64. Granlund and Montgomery 1994, with the
 * multiplier less its leading one: shift = ceil(log2 d), multiplier = floor(2^bits (2^shift - d) / d) + 1. */
magic magic_of(uint64_t d, int bits);

#endif
