/* variant.h - what a piece of compiled code was compiled for, beside its source: what code generation (ir), the loop planner (nd) and the
 * engines agree on. type/schema.h has the parameters of the code. */
#ifndef UF_VARIANT_H
#define UF_VARIANT_H

#include "type/kernel.h"
#include "type/type.h"

enum {
    VARIANT_OPERANDS = UF_MAX_OPERANDS + 1 /* mask */ + 2 /* bounds */ + UF_MAX_STATE /* initial */ + 1 /* position */
};

enum {
    GUFUNC_SIZES = 8,       /* core dimensions of a layout whose sizes may be constants of a variant */
    GUFUNC_SIZE_MAX = 64,   /* and how large those may be */
    REFLECT_M = 64,         /* GPU: rows of a matrix whose columns lanes reflect, at most */
    JACOBI_N = 32,          /* GPU: columns (or rows, if these are fewer) of a matrix that lanes rotate, at most */
    ELIMINATION_N = 64,     /* GPU: rows of a matrix that lanes eliminate in, and right sides, at most (gufunc.form) */
    FORALL_KNOWN = 3,       /* extents of a kernel over indices that may be constants of a variant, */
    FORALL_KNOWN_MOST = 64, /* their product at most: as many iterations as are unrolled, */
    FORALL_KNOWN_EXTENT = 32,   /* and each of them */
    STAGED_IN_PLACE = 2,        /* variant_operand.staged */
    UNROLLED_THREADS = 128,     /* GPU: threads of a block of such a variant, at most; */
    SHARED_CALL_THREADS = 256,  /* and about as many where some of them share a call */
    UNROLLED_SHARED = 48 * 1024 /* bytes that it stages: what needs no permission of the driver's */
};

/* The class of a loop. HACKING.md says what a class touches. */
typedef enum loop_class {
    LOOP_FLAT,
    LOOP_ROWS,
    LOOP_GENERAL,
    LOOP_GUFUNC, /* a generalized ufunc: inner calls over the loop dimensions */
    LOOP_FOLD,   /* a reduction: a loop over the results, and within it one over the elements of a result */
    LOOP_SCAN,   /* an accumulation: a loop over lines, and within it one along the line */
    LOOP_AT,     /* in-place updates of elements found by indices */
    LOOP_FORALL, /* a kernel over indices: for every point of a space */
    LOOP_TILE,   /* elementwise, with operands that lie side by side along dimension 1, and not along dimension 0 */
    LOOP_CLASSES
} loop_class;

/* What may be done with the order in which a reduction combines. */
typedef enum fold_order {
    FOLD_FREE,    /* associative and commutative */
    FOLD_ORDERED, /* associative: any grouping, in order */
    FOLD_SERIAL   /* neither: from the first to the last */
} fold_order;

/* The value that stays whatever it is combined with, so that no more elements need be looked at: of a state of one bool; or of a state that
 * is an integer or bool and its position, which stays whatever is combined behind it. */
typedef enum absorbing_value {
    ABSORBING_NONE,
    ABSORBING_FALSE,
    ABSORBING_TRUE,
    ABSORBING_LEAST, /* with a position: the least value of the type, */
    ABSORBING_MOST   /* or the largest */
} absorbing_value;
/* Is it one of a state of one bool, whose elements may be taken in any order? */
static inline bool absorbing_anywhere(absorbing_value a) { return a == ABSORBING_FALSE || a == ABSORBING_TRUE; }

/* GPU calls: what a dimension has that all constructs go along, and none is within another. */
typedef enum gufunc_even {
    EVEN_NOT,     /* maybe elements behind the vectors, or rows that do not begin at one */
    EVEN_VECTORS, /* whole vectors, all of them aligned; pieces: so is where each row begins */
    EVEN_ROUNDS   /* of these every thread has as many, in whole rounds of `steps`; held: as many as it holds */
} gufunc_even;

/* What ends an element, bits. The second and third only where the kernel has loops that are not proved short, or the last one is set. */
enum {
    REPORTS_ERRORS = 1, /* UF_DEBUG: indices, divisors, assertions */
    REPORTS_STEPS = 2,  /* more steps than code_module.max_steps */
    REPORTS_CANCEL = 4, /* report.cancel */
    REPORTS_SIZES = 8   /* beside one of these two: loops over sizes of the call are counted, too */
};

/* How an operand moves along the inner dimension. */
typedef enum operand_kind {
    OPERAND_CONTIGUOUS,  /* inner stride 1 */
    OPERAND_CONSTANT,    /* inner stride 0; flat: the one element at its address */
    OPERAND_STRIDED,     /* any other (general only); every array of a generalized ufunc */
    OPERAND_INTERLEAVED, /* a field of contiguous records: the inner stride is `record` bytes. Flat, rows, CPU general,
                             CPU fold along rows */
    OPERAND_NUMBER,      /* passed by value, already converted to `value` */
    OPERAND_POSITION     /* folds: no memory; see variant.position */
} operand_kind;

/* CPU fold, !columns. */
typedef enum row_lengths {
    ROWS_ANY,
    ROWS_SHORT, /* at most code_traits.short_rows */
    ROWS_LONG   /* more */
} row_lengths;

enum {
    PRIVATE_TALLY = 2 /* privatised: GPU: the copy counts in 32 bits */
};

typedef struct variant_operand {
    uint8_t memory; /* dtype in memory; for a number, same as value */
    uint8_t value;  /* dtype of the signature: loads and stores convert between the two */
    uint8_t kind;   /* operand_kind */
    /* Rows: the stride of the second dimension is 0, so the row is loaded once for several rows. gufunc.calls: the calls of a thread have
     * the same core, or number. gufunc.form: see there. */
    uint8_t fixed;
    uint8_t unit; /* calls: 1 + the core dimension of the operand that has stride 1 (the last such one); 0: none.
                       Tile: 1 if its stride along dimension 1 is 1.
                       GPU general.vector: 1 if its elements lie in the order of the loop without gaps.
                       CPU fold, the position: it changes by 1 along dimension 0 of the reduced loop. The first bounds: both
                       move by 1 along dimension 0 of the loop, along which nothing that is read for each element moves. CPU at,
                       an index array: the target has stride 1 along the dimension that it indexes */
    /* GPU calls: the operand's elements are staged in shared memory (coop 0: staging.c; else: whole_core.c); folds and scans of a constant
     * length: so are its rows, which lie one behind the other without gaps; flat: so are the records of an output's group, without gaps,
     * whose accesses of 16 bytes neighbouring threads then make side by side. Tile: an input across, which is read along dimension 1 into a
     * tile (GPU: in shared memory; CPU: in the cache), where it counts as contiguous along dimension 0; GPU, without a mask: an output
     * across, which is written from such a tile. CPU, calls that are neither unrolled nor go along columns: neighbours lie side by side, and
     * their cores are copied to arrays in C order, whose last dimension is the `unit` (ir/gufunc/call_groups.h). */
    uint8_t staged; /* 0, 1, or, of an output of unrolled calls, STAGED_IN_PLACE: see staged_place */
    uint8_t held; /* gufunc.held: what a thread has of this input, which constructs read, it loads first, all at once */
    /* gufunc.pieces: an input with that dimension alone, and a unit, whose rows do not begin where those of variant_lead do. Its
     * elements are cut out of two vectors, which reach beyond them by less than a vector. */
    uint8_t shifted;
    /* gufunc.held and across: an input that is the same for all calls, and has the dimension of those that are held; what the threads of a
     * block need of it they load at the head of the kernel, into shared memory (ir/construct/broadcast.h). */
    uint8_t broadcast;
    /* Forall; see code_traits.use. */
    uint8_t coalesced; /* GPU: what neighbours along the last index read and write is accessed by vectors */
    /* CPU forall: what is written to it goes past the caches; flat, an output: the code can do so, too, line by line. GPU elementwise and
     * forall, all outputs: the second level cache gives up first what is written to it. */
    uint8_t nontemporal;
    /* And of at, GPU, the target: blocks (CPU: runs of the code) update a copy of their own, which then goes to the array; see
     * PRIVATE_TALLY. */
    uint8_t privatised;
    /* Elementwise, fold: operands that lie interleaved, as the fields of an array of records do, are a group; see nd_interleave. The
     * group has one address and one set of strides, those of the operand with the lowest address. */
    uint8_t group;  /* 1 + that operand; 0: in no group */
    uint8_t offset; /* bytes from its address; at: see at.record */
    /* Kind interleaved: bytes from a record to the next. GPU forall, with `align`: bytes from an element to the next along the last
     * dimension but one; 0: a parameter. */
    uint8_t record;
    /* GPU general: log2, at most 4, of the bytes of which the group's address and strides are multiples. GPU forall: log2 of the bytes of
     * one access by which elements at constant last indices are read; 0: each is read by itself. */
    uint8_t align;
} variant_operand;

/* What a fold and a scan have alike. */
typedef struct variant_reduction {
    uint8_t from_states; /* the inputs are states (a count too if `counted`), already mapped */
    /* The outputs are states (a count too if `counted`), not finished; initial values are not taken in. */
    uint8_t to_states;
    /* Fold: what has no element yet is told apart, since no value may stand for it: the results must not show the identity, which may
     * change what it is combined with (the sign of a zero). */
    uint8_t sparse;
    uint8_t
        counted;   /* a state has the count of elements that took part (int64) as one more, last value. Set where a mask
                            decides, and the count is used or tells apart (sparse): 0 then means that there is none */
    uint8_t empty; /* nothing is reduced: the results are those of no elements, and inputs are not looked at */
    uint8_t reduced; /* dimensions of the reduced loop (fold), at least 1; scan: 1 */
    uint8_t columns; /* neighbouring lanes take neighbouring results (scan: lines), along dimension 0 of the loop; else
                            neighbouring elements of one, along dimension 0 of the reduced loop. `kind` of each operand is how
                            it moves along that dimension */
} variant_reduction;

/* Extents of small arrays that a kernel over indices knows as constants. */
typedef struct known_extents {
    uint8_t dim[FORALL_KNOWN]; /* 1 + the layout's dimension; 0: this one and those behind it are not used */
    uint8_t size[FORALL_KNOWN];
} known_extents;

/* Everything that generated code depends on beside the kernel itself: what all classes have, what one class has, and the operands. Zero it
 * before filling. All members are bytes, so that the bytes of two variants are equal where they are the same (variant_same); what is to
 * last longer than a process takes the form of variant_bytes. */
typedef struct variant {
    uint8_t loop; /* loop_class */
    uint8_t ndim; /* dimensions of the loop, dimension 0 innermost; flat 1, rows >= 2, general >= 1. CPU: 1 or 2, the
                          engine walks the others; forall: those up to the last one that is longer than 1 */
    uint8_t nin, nout;
    uint8_t masked; /* operand[nin + nout] is the where mask (bool, never a number) */
    uint8_t
        segmented;    /* fold: two int64 operands behind the mask say where the elements of each result begin and end */
    uint8_t ninitial; /* fold, scan: numbers behind those, the state's initial values, each of its dtype; all or none */
    uint8_t position; /* fold, scan: the last operand is the position: its "address" is the position of the loop's first
                          element, and its strides (in both loops) say how it changes; it has no memory */
    uint8_t nindices; /* at: index arrays, behind the outputs; the target is operand 0 and the output. See ir/at/at.c */
    uint8_t wide;     /* GPU: indices and numbers of elements have 64 bits; CPU fold: positions of 2^31 and above */
    /* What ends an element and is reported: REPORTS_, see ir/common/report.h. Calls and forall; calls then also stand for elementwise
     * functions, with layout_scalars, and may be masked. A thread a call (point), nothing in parallel within it, the loop in C order. Fold,
     * scan, at: not REPORTS_ERRORS. */
    uint8_t reports;
    union {
        /* LOOP_FLAT, GPU. `vector` of this and the others: elements in one access, a power of two <= 16. */
        struct {
            uint8_t vector;
            uint8_t vectors_per_thread; /* a block's width apart */
        } flat;
        /* LOOP_ROWS, GPU. */
        struct {
            uint8_t vector;
            uint8_t rows_per_thread;
        } rows;
        /* LOOP_TILE. CPU: `narrow` alone. */
        struct {
            /* The extent of dimension 1, all of which is taken together; 0: any, in tiles. Operands that are `interleaved` then lie side by
             * side along dimension 1 and from there on along dimension 0. */
            uint8_t narrow;
            uint8_t vector;  /* of a thread along dimension 0 */
            uint8_t rows;    /* of a thread along dimension 1, side by side; a power of two, at most ACCESS_BYTES */
            uint8_t columns; /* log2 of the threads along dimension 0 */
            uint8_t across;  /* log2 of those along dimension 1 */
            /* GPU: rows before the tile, as many as the elements of a sector of an output across. What lies in the sector in which a line
             * of such an output begins is written by this block, and what lies in the one in which it ends by the next. All staged operands
             * are outputs then, with that unit, and no access is by vectors. 0: there is none. */
            uint8_t halo;
        } tile;
        /* LOOP_GENERAL and LOOP_AT, GPU. */
        struct {
            struct {
                uint8_t elements_per_thread;
                /* A thread takes so many neighbours in the order of the loop, which are one access of the operands with a `unit`, all outputs
                 * among them; elements_per_thread is a multiple. 0: elements are a block's width apart. */
                uint8_t vector;
                uint8_t rows; /* vector: the elements of one lie in one row of dimension 0, or in two */
            } general;
            struct {
                /* Each element is one warp's, which does its updates in the order of the indices. */
                uint8_t deterministic;
                /* GPU: the target's records have so many bytes, 4 or 8, and are exchanged as one word, in which leaf k lies at
                 * operand[k].offset; 0: they are not, or the target has none. */
                uint8_t record;
            } at;
        };
        /* LOOP_GUFUNC; CPU: `along`, `lanes`, `unrolled`, `columns`, `strips`, `size` and `calls` alone. */
        struct {
            /* A reduction inside a forall runs within one thread (CPU: in an inner loop), and lanes go along the last range of the forall,
             * because that is where memory is contiguous. */
            uint8_t along;
            uint8_t coop; /* log2 of the threads of a call's cooperative group, see COOP_GRID */
            /* !along: log2 of the lanes (<= coop, <= COOP_WARP) that compute one reduction inside a forall; its rows are spread over the
             * groups of so many lanes in the cooperative group. form: see there. CPU: log2 of the lanes of the vectors that loops along rows
             * of few elements take; 0: LLVM chooses. */
            uint8_t lanes;
            uint8_t vector;
            uint8_t steps; /* steps, or rows, of a construct that a thread takes together */
            /* Its one construct goes by tiles of this shape through shared memory (type/tile.h, ir/construct/shared_tile.h), which the
             * blocks of a call take in turn; 2^coop are the threads of a block. 0: it does not. */
            uint8_t tile;
            /* Tile: log2 of the parts of each tile's reductions, which different blocks have; a block has one part of one tile. 0: none are
             * divided. */
            uint8_t split;
            uint8_t unrolled; /* a thread computes a call with its operands in registers, and all loops are unrolled for
                                 the core sizes; then coop is 0, and an operand that is `staged` has its core in C
                                 order without gaps (on the CPU it only says that; but see `calls`) */
            /* CPU: every construct is a forall, one range of which is a vector (ir/construct/columns.c): 1: the last one, 2: the one before it;
             * sizes are constants. Cores that are `staged` are copied for each call to arrays with the columns innermost; vectors of others lie along
             * their units, and those that are `fixed` have no gaps and, but for the unit dimension, which is the innermost, C order. 0: none. */
            uint8_t columns;
            /* CPU: calls are computed by strips, each construct for all calls of one (ir/gufunc/call_strips.h), of which operands whose calls
             * lie side by side have a `unit` of 1 + their rank, and the others have the same for all calls. Those that are `staged` have rows,
             * along the last dimension of their cores, and are copied so that calls lie side by side. */
            uint8_t strips;
            uint8_t size[GUFUNC_SIZES]; /* unrolled, columns, form: of each core dimension of the layout */
            /* GPU, unrolled: so many calls lie side by side, and behind the last elements of their cores the next ones begin. Elements of
             * the core of an operand that is `staged` are so many elements apart, but have no other gaps. 0: each core is a piece of memory. */
            uint8_t plane;
            /* GPU, unrolled: several threads share a call (ir/gufunc/separable.c): how many indices of each core dimension one of
             * them takes; 0: all. */
            uint8_t part[GUFUNC_SIZES];
            /* log2 of the neighbouring calls that a block takes side by side; neighbouring threads are then threads of neighbouring calls,
             * and a group's are 2^across apart. COOP_GRID: the calls of the whole launch, which all blocks take, are as many or
             * fewer, but more than half. 0: each group's threads are neighbours. */
            uint8_t across;
            /* All constructs go along the one range that variant_lead's unit dimension is, whose accesses by vectors may begin anywhere; of
             * a COOP_GRID group, and of a cluster, each block has a piece of the range, and staged operands are read at the range's index
             * alone (ir/gufunc/piece.c). */
            uint8_t pieces;
            /* Each thread has so many elements, 2^coop apart, of every operand that is `held`, in registers; !across: so many vectors, of
             * `vector` elements, which divides the extent; with pieces one of the elements, too, that are in no vector, of which there are
             * at most 1 << coop, and none where rows come out even. All of these operands have one core dimension, the same; its extent, in elements or vectors, is at most
             * held << coop, and at least (held - HELD_LOOSE) << coop. COOP_GRID: the operands are staged, too; a piece has more than held <<
             * variant_grid_block vectors, of which the threads hold the first, and what is behind them is staged. 0: no operand is held. */
            uint8_t held;
            /* Held, across: log2 of the neighbouring calls that a thread computes, each statement for all of them; what it loads first, and
             * most of what it stores, are then neighbours of all (ir/construct/held.h). Their number divides the extent of dimension 0,
             * along which operands that are not `fixed` have stride 1; every operand is a number or has a core, and there is no mask.
             * CPU, unrolled: log2 of the calls that are computed together, each in a lane of vectors (ir/gufunc/lane_calls.c). Operands with a
             * unit are then `staged`; of those that are `fixed`, cores are in C order without gaps. */
            uint8_t calls;
            /* log2 of the blocks of a thread block cluster that compute these calls together. across: coop counts the threads of all of
             * them. pieces: a call for each cluster; coop counts those of one block, more than a warp. 0: a block alone. */
            uint8_t cluster;
            uint8_t fine; /* COOP_GRID: blocks have half as many threads, and there are twice as many */
            /* GPU: every access by vectors is aligned, as GPU_GUFUNC_ALIGNED says, so that the code has no others beside them. 0: the launch
             * says whether they are. */
            uint8_t aligned;
            uint8_t even; /* a gufunc_even: how the dimension comes out that every construct goes along */
            /* GPU: a lapack_form (engine.h) that stands for the kernel's text: a block of 2^coop threads, more than a warp, has the matrix
             * in shared memory, 2^lanes of them two columns at a time, and rotates (ir/gufunc/block_jacobi.c; type/rotated.h); or the
             * 2^coop lanes of a group have the matrix in registers, and eliminate (ir/gufunc/elimination.c; variant_slots vectors a lane), rotate (jacobi.c, least_squares.c) or reflect
             * (reflectors.c; a column a lane); `size` as for unrolled. An operand that is `fixed` has its core in C order without gaps; `vector`: elements of a row that are loaded together. 0: it is the
             * text. */
            uint8_t form;
        } gufunc;
        struct {
            variant_reduction reduction;
            union {
                /* LOOP_FOLD, GPU. */
                struct {
                    uint8_t vector;
                    uint8_t accesses; /* of a thread in one visit */
                    uint8_t coop;     /* log2 of the threads that have a result together; columns: of those across */
                    /* !columns: that a group takes together, each in one visit; 0: one result, in as many visits as it takes. */
                    uint8_t results;
                    /* The elements of a result, where code is generated for that number: !columns: a thread takes whole results, `results`
                     * of them, out of shared memory; columns: in one visit; 0: any number. */
                    uint8_t length;
                    /* Of a constant length: as of scans; `results` are then the planes of a block. Of any other, columns: so many results,
                     * whose elements lie side by side without gaps, are a block's (ir/reduce/gpu_reduce_interleaved.c). */
                    uint8_t plane;
                    /* Every access by vectors is aligned, as GPU_FOLD_ALIGNED says, so that the code has no others beside them, but for what
                     * is left over. 0: the launch says whether they are. */
                    uint8_t aligned;
                    /* !columns, one result: a visit of the group has all accesses by vectors of it. */
                    uint8_t once;
                    /* Segments, !columns, coop <= COOP_SEGMENTS: long ones have several blocks, in a second launch (type/segments.h). */
                    uint8_t split;
                } fold;
                /* LOOP_FOLD, CPU. */
                struct {
                    uint8_t absorbing; /* absorbing_value: results that have it need no more elements */
                    /* !columns: the elements of a result along the reduced dimension 0 lie side by side with those of the next result, so
                     * that lanes go over both dimensions. */
                    uint8_t merged;
                    /* row_lengths: how many elements each result has (ROWS_ANY where that differs), if they lie along one dimension. The
                     * code for the others is left out. */
                    uint8_t rows;
                } cpu_fold;
                /* LOOP_SCAN, GPU. */
                struct {
                    uint8_t vector;
                    uint8_t accesses;    /* of a thread along a line */
                    uint8_t coop;        /* log2 of the threads along a line; columns: across lines */
                    uint8_t state_words; /* words of 32 bits of a state */
                    uint8_t length;      /* !columns: the elements of a line, as in folds; 0: any number */
                    /* Whole lines that a thread takes then; of planes, those of a block, or its rows of threads. */
                    uint8_t lines;
                    /* So many lines lie side by side without gaps. Of a constant length: behind their last elements the next ones begin. Of any
                     * other: a block has a tile of them all in shared memory, `lines` rows of as many threads, with `accesses` elements
                     * each. 0: lines lie one behind the other, or elsewhere. */
                    uint8_t plane;
                    /* !columns, coop <= COOP_WARP: lines have several tiles, which their lanes take one after the other. */
                    uint8_t in_turn;
                    /* A thread has `vector` lines side by side, from their first elements to their last, and loads `accesses` of each ahead. */
                    uint8_t alone;
                } scan;
                /* LOOP_SCAN, CPU. */
                struct {
                    uint8_t divisible; /* lines may be cut; else they are one piece */
                } cpu_scan;
            };
        };
        /* LOOP_FORALL, whose operands are the kernel's parameters, all inputs; ndim is that of the space. */
        struct {
            uint8_t proved;  /* what the tree needs of the sizes holds: accesses that are `conditional` need no check */
            uint8_t noalias; /* an array that is written to (atomically or not) overlaps no other parameter */
            uint8_t vector;  /* GPU: points along the last index that a thread takes together */
            uint8_t vectors_per_thread; /* GPU: of neighbouring rows; in a space of one index, a block's width apart */
            uint8_t block;              /* GPU: log2 of the threads of a block of a fixed size, else 0 */
            /* GPU: log2 of the lanes that compute a point together, and share its reductions; they take one point. */
            uint8_t lanes;
            /* GPU: log2 of the threads of a block that stand side by side along the last index; the block's others stand behind them
             * along the one before it. 0: all threads of the grid follow each other in C order. Not if wide or privatised. */
            uint8_t across;
            /* GPU: 1 + the array whose rows blocks stage through shared memory in a loop; 0: none. */
            uint8_t shared_rows;
            /* GPU: blocks of 2^COOP_SHARED_TILE threads take tiles of SHARED_TILE_SIDE x SHARED_TILE_SIDE points, whose reduction goes
             * through shared memory (ir/forall/pair_tile.h). 4: what points access beside that goes by vectors of so many neighbours, 1:
             * one by one; 0: they do not. */
            uint8_t pairs;
            known_extents known;
        } forall;
    };
    variant_operand
        operand[VARIANT_OPERANDS]; /* inputs, outputs, mask or index arrays; fold: bounds, initial values, position */
} variant;
_Static_assert(_Alignof(variant) == 1, "there is no padding, whose bytes could differ");

static inline int variant_operands(const variant *v) {
    return v->nin + v->nout + v->masked + 2 * v->segmented + v->ninitial + v->position + v->nindices;
}
/* Where they stand among the operands. */
static inline int variant_mask(const variant *v) { return v->nin + v->nout; }
/* Gufunc, COOP_GRID: log2 of the threads of a block. */
static inline int variant_grid_block(const variant *v) { return COOP_GRID_BLOCK - v->gufunc.fine; }
/* Gufunc: do blocks of a grid take several calls side by side? */
static inline bool variant_grid_across(const variant *v) { return v->gufunc.coop == COOP_GRID && v->gufunc.across; }
/* Gufunc, across, no grid: log2 of the threads of a block that compute each of its calls. */
static inline int variant_block_coop(const variant *v) { return v->gufunc.coop - v->gufunc.cluster; }
/* Gufunc, across: log2 of the threads of a block. */
static inline int variant_block_across(const variant *v) {
    return v->gufunc.coop == COOP_GRID ? variant_grid_block(v) : variant_block_coop(v) + v->gufunc.across;
}
/* Gufunc, across: what the threads of a block tell each other of a reduction is an entry of shared memory for each of them, those of a rank
 * in a row, which has one entry more than there are calls; and behind all rows some sets of results, one for each call and block of the
 * cluster. Rows of a grid are no longer than 1 << across, and have more than half of that. */
static inline int variant_row_entries(const variant *v) { return (1 << v->gufunc.across) + 1; }
static inline int variant_result_sets(const variant *v) { return v->gufunc.cluster ? 2 : 1; }
static inline int variant_across_entries(const variant *v) {
    int results = variant_result_sets(v) << (v->gufunc.across + v->gufunc.cluster);
    return variant_grid_across(v)
               ? (1 << variant_grid_block(v)) + (2 << variant_grid_block(v) >> v->gufunc.across) + results
               : (variant_row_entries(v) << variant_block_coop(v)) + results;
}
/* Gufunc, COOP_GRID: bytes of memory in which the blocks of a group meet. With calls side by side there are entries of each, one for each block
 * and one for all. */
static inline int variant_slot_bytes(const variant *v) {
    return v->gufunc.across ? COOP_SLOT_HEAD + (8 * COOP_ENTRY * (COOP_BLOCKS_MAX + 1) << v->gufunc.across) : COOP_SLOT;
}
/* Elements of two columns for which a thread has registers, each in one of its own: fewer in large blocks. */
static inline int held_loosely(int threads) { return threads > BLOCK_MAX ? HELD_COLUMNS / 2 : HELD_COLUMNS * 3 / 4; }
/* Gufunc: do threads keep the elements of two columns in words, and take them out of these for each construct anew? */
static inline bool variant_packs_calls(const variant *v) {
    int threads = 1 << variant_block_across(v);
    bool halves = v->gufunc.calls && v->gufunc.held << v->gufunc.calls > held_loosely(threads);
    for (int k = 0; k < v->nin && halves; k++) {
        const variant_operand *o = &v->operand[k];
        halves = !o->held || (dtypes[o->memory].size == 2 && o->memory == o->value);
    }
    return halves;
}
/* Rows of a broadcast operand that a thread loads: of those that its rank has, which all threads of the rank share, a power of two. */
static inline int variant_broadcast_loads(const variant *v) {
    int loads = 1;
    while (loads << v->gufunc.across < v->gufunc.held)
        loads *= 2;
    return loads;
}
/* Bytes of shared memory from what one rank needs of it to the next: as all begin at multiples of ACCESS_BYTES, the threads of a warp, which
 * write for neighbouring ranks, meet fewer banks twice if these are an odd number. */
static inline int variant_broadcast_pitch(const variant *v, int k) {
    int bytes = (dtypes[v->operand[k].memory].size * variant_broadcast_loads(v)) << v->gufunc.across;
    return ((bytes + ACCESS_BYTES - 1) / ACCESS_BYTES | 1) * ACCESS_BYTES;
}
static inline int variant_broadcast_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < v->nin; k++)
        bytes += v->operand[k].broadcast ? variant_broadcast_pitch(v, k) << variant_block_coop(v) : 0;
    return bytes;
}
static inline int variant_index(const variant *v) { return v->nin + v->nout; }
/* LOOP_AT: do the indices stay the same along the rows of the loop, which then go over a dimension of the target that is not indexed? */
static inline bool variant_at_rows(const variant *v) {
    for (int j = 0; j < v->nindices; j++)
        if (v->operand[variant_index(v) + j].kind != OPERAND_CONSTANT)
            return false;
    return v->operand[0].kind != OPERAND_CONSTANT;
}
/* LOOP_AT, GPU: does a thread take updates of a column, whose rows follow each other? Neighbouring threads have neighbours in a row. */
static inline bool variant_at_columns(const variant *v) {
    return v->ndim > 1 && v->general.elements_per_thread > 1 && !v->at.deterministic && variant_at_rows(v);
}
/* LOOP_AT, GPU: may updates of halves be additions of a pair of them, of which one is -0? */
static inline bool variant_adds_halves(const variant *v) {
    return v->loop == LOOP_AT && v->nout == 1 && dtype_is_half((dtype)v->operand[0].memory) &&
           !v->operand[0].privatised && !v->at.deterministic;
}
static inline int variant_bounds(const variant *v) { return v->nin + v->nout + v->masked; }
/* Fold: do segments say which elements are read? States of their parts are all read. */
static inline bool variant_reads_segments(const variant *v) { return v->segmented && !v->reduction.from_states; }
/* GPU: do groups of fewer threads leave segments that are too long for them to the block, of 2^COOP_SEGMENTS threads? */
static inline bool variant_defers_segments(const variant *v) {
    return variant_reads_segments(v) && !v->reduction.to_states && !v->reduction.columns &&
           v->fold.coop < COOP_SEGMENTS;
}
static inline int variant_initial(const variant *v) { return variant_bounds(v) + 2 * v->segmented; }
static inline int variant_position(const variant *v) { return variant_initial(v) + v->ninitial; }
/* Gufunc, form: the rows or columns of a matrix of n that a lane has. */
static inline int variant_slots(const variant *v, int n) { return (n + (1 << v->gufunc.coop) - 1) >> v->gufunc.coop; }
/* Gufunc, pieces: the first operand with a unit that is not shifted, which says where accesses by vectors are aligned; -1: none has one. */
static inline int variant_lead(const variant *v) {
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].unit && !v->operand[k].shifted)
            return k;
    return -1;
}
/* Gufunc: is there a shifted operand? */
static inline bool variant_shifts(const variant *v) {
    bool any = false;
    for (int k = 0; k < v->nin; k++)
        any |= v->operand[k].shifted;
    return any;
}
/* Gufunc: is there a staged input? */
static inline bool variant_stages(const variant *v) {
    bool any = false;
    for (int k = 0; k < v->nin; k++)
        any |= v->operand[k].staged;
    return any;
}
/* Gufunc: do threads hold the first vectors of a block's piece, whose other elements are staged? */
static inline bool variant_holds_part(const variant *v) { return v->gufunc.held && v->gufunc.coop == COOP_GRID; }
/* Gufunc, variant_holds_part: elements of a piece that the threads of its block hold. */
static inline int variant_held_part(const variant *v) {
    return variant_holds_part(v) ? (v->gufunc.held << variant_grid_block(v)) * v->gufunc.vector : 0;
}
/* Is operand k a member of an interleaved group, found by the address of another one? */
static inline bool variant_follows(const variant *v, int k) {
    return v->operand[k].group && v->operand[k].group != k + 1;
}
/* Operands that are privatised. */
static inline int variant_privatised(const variant *v) {
    int n = 0;
    for (int k = 0; k < v->nin; k++)
        n += v->operand[k].privatised != 0;
    return n;
}
/* Tile, GPU: elements of dimension 1 in an access to a staged operand with that unit, where it is aligned: at least tile.rows. */
static inline int variant_tile_access(const variant *v, int k) {
    int vector = ACCESS_BYTES / dtypes[v->operand[k].memory].size, rows = v->tile.rows << v->tile.across,
        most = v->tile.vector * v->tile.rows;
    vector = vector < rows ? vector : rows;
    return vector < most ? vector : most;
}
/* Elements of operand k in a sector of memory. */
static inline int variant_tile_sector(const variant *v, int k) {
    return SECTOR_BYTES / dtypes[v->operand[k].memory].size;
}
/* Is any operand nontemporal? */
static inline bool variant_has_nontemporal(const variant *v) {
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].nontemporal)
            return true;
    return false;
}
/* Bytes of a variant with its operands, and no others. */
static inline size_t variant_size(const variant *v) {
    return offsetof(variant, operand) + (size_t)variant_operands(v) * sizeof(variant_operand);
}
static inline bool variant_same(const variant *a, const variant *b) { return !memcmp(a, b, variant_size(a)); }

/* The class is another: what the former one says is forgotten. */
static inline void variant_reclass(variant *v, loop_class loop) {
    memset((char *)v + offsetof(variant, flat), 0, offsetof(variant, operand) - offsetof(variant, flat));
    v->loop = (uint8_t)loop;
}

/* The form that a variant has outside of a process: VARIANT_VERSION, the members that all classes have, those of its class, and its
 * operands, each in the order of their declaration, each one byte. Whoever changes what stands there raises the version. */
enum {
    VARIANT_VERSION = 25,
    VARIANT_BYTES = 1 + sizeof(variant) /* at most */
};
/* Writes it and returns how many bytes it has. */
size_t variant_bytes(const variant *v, uint8_t out[VARIANT_BYTES]);
/* Reads it; false if these are not the bytes of a variant of this version. */
bool variant_parse(const uint8_t *bytes, size_t size, variant *out);

/* What the GPU's kernels take of a loop, which emitters and src/gpu agree on. Grids are one-dimensional, of at most 2^31-1 blocks, whose
 * threads (blockDim.x) are a power of two, 32 to BLOCK_MAX unless said otherwise. "group" is a cooperative group.
 *   flat      A block covers blockDim.x * vector * vectors_per_thread elements, counted from the head (0 if that is -1); the elements of
 *             the head are counted last. The grid covers all elements. Staged: dynamic shared memory of what a block's threads have of
 *             the largest such group in one access each of `vector` records.
 *   rows      A tile has vector << shift columns and (blockDim.x >> shift) * rows_per_thread rows; block b is column tile b % across, then
 *             row tile (b / across) % down, then the dimensions from 2 on.
 *   general   A block covers blockDim.x * elements_per_thread elements. Unless the variant is wide, every offset fits 32 bits, signed, and
 *             there are less than 2^31 elements.
 *   tile      A tile has vector << columns elements along dimension 0 and rows << across along dimension 1; a block has a thread for each
 *             vector * rows of them, 1 << (columns + across). Block b is tile b % across along dimension 0, then (b / across) % down along
 *             dimension 1, then the dimensions from 2 on; with a halo `down` are the tiles of the extent and halo - 1 more rows. Dynamic
 *             shared memory for a tile of each staged operand, in order.
 *   gufunc    coop <= COOP_WARP: blockDim.x >> coop calls a block; to COOP_BLOCK: 1 << coop threads; COOP_GRID: 1 << variant_grid_block threads,
 *             all blocks resident at once (a cooperative launch), their number a multiple of GPU_GUFUNC_BLOCKS. The grid may have fewer
 *             groups than there are calls: groups loop; with across it is one group, whose blocks have GPU_GUFUNC_RANKS threads for each
 *             call. Other across: 1 << (coop - cluster + across) threads, at most 1024, for 1 << across calls; with clusters the grid has one for all calls, and block b is of cluster b >> cluster. pieces with clusters:
 *             1 << coop threads, and a cluster for each call, in order. Staged:
 *             dynamic shared memory of what the operands' parts need. Where coop is 0, ndim is 1,
 *             and every staged operand's core is in C order without gaps, one call's behind the other's, so that a block's cores are one
 *             piece of memory. Else coop is above COOP_WARP, and no COOP_GRID without pieces, or there is across; staged operands are inputs
 *             with one core dimension, which is its unit dimension if there is no across, else none is. form: coop <= COOP_WARP: the lanes
 *             of a warp stay together; above it: a block of 1 << coop threads for each call, and dynamic shared memory up to
 *             rotated.end. Unless the variant is wide, there are less than 2^31 calls.
 *   fold      Rows: groups of 1 << coop threads, at most 1024. A group has one result, or with to_states a part of one (parts of a result
 *             are neighbours), or `results` of them: group t of the T in block b has those numbered b * T * results + t + T * i.
 *             Of a constant length: blocks of ROW_TILE_THREADS threads, which take `results` each, or `results` planes together.
 *             Columns: blocks of at most 256 threads: tiles of vector << shift columns, then the kept dimensions from 1 on, then the parts.
 *             Of a plane and any length: FOLD_INTERLEAVED_THREADS threads, all results, then the parts.
 *   scan      Rows: coop <= COOP_WARP: blockDim.x >> coop lines a block, which have one tile if they are not in_turn; else 1 << coop threads and
 *             a tile of a line, which has vector * accesses << coop elements. Columns: SCAN_COLUMN_THREADS threads, vector << coop lines; a tile has accesses *
 *             SCAN_COLUMN_THREADS >> coop elements of each. Of a constant length: blocks of ROW_TILE_THREADS threads, which take
 *             `lines` lines each, or `lines` planes together. Alone: vector * blockDim.x lines. Of a plane and any length: lines * plane
 *             threads, `plane` lines; a tile has lines * accesses elements of each. */

/* How cores whose sizes are constants lie in shared memory: by accesses of core_width bytes, each call's core_pitch bytes behind
 * the one before, so that neighbouring threads which make the same access in their own cores do not meet in a bank. */
static inline int core_bytes(const variant *v, const core_layout *layout, int k) {
    int bytes = dtypes[v->operand[k].memory].size;
    for (int d = 0; d < layout->operands[k].rank; d++)
        bytes *= v->gufunc.size[layout->operands[k].dim[d]];
    return bytes;
}
static inline int core_width(int bytes) {
    int lowest = bytes & -bytes;
    return lowest < ACCESS_BYTES ? lowest : ACCESS_BYTES;
}
static inline int core_pitch(int bytes) {
    int width = core_width(bytes);
    return (bytes / width) & 1 ? bytes : bytes + width;
}
/* Are outputs converted as they are stored? Then an unrolled kernel, which holds what they contain in registers and writes it back,
 * could change what it does not assign. */
static inline bool cores_convert(const variant *v) {
    bool converts = false;
    for (int k = v->nin; k < v->nin + v->nout; k++)
        converts |= v->operand[k].memory != v->operand[k].value;
    return converts;
}
/* Bytes of the cores of a call. */
static inline int cores_bytes(const variant *v, const core_layout *layout) {
    int bytes = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        bytes += core_bytes(v, layout, k);
    return bytes;
}
/* How many threads share a call along one of its core dimensions, and in all. */
static inline int core_shares(const variant *v, int dimension) {
    int part = v->gufunc.part[dimension];
    return part ? (v->gufunc.size[dimension] + part - 1) / part : 1;
}
static inline int core_sharers(const variant *v) {
    int threads = 1;
    for (int d = 0; d < GUFUNC_SIZES; d++)
        threads *= core_shares(v, d);
    return threads;
}
static inline bool core_has_parts(const variant *v) {
    bool any = false;
    for (int d = 0; d < GUFUNC_SIZES; d++)
        any |= v->gufunc.part[d] > 0;
    return any;
}
/* Calls whose cores are one piece of memory, and lie so in shared memory, and its bytes. */
static inline int core_side(const variant *v) { return v->gufunc.plane ? v->gufunc.plane : 1; }
static inline int core_piece(const variant *v, const core_layout *layout, int k) {
    return core_side(v) * core_bytes(v, layout, k);
}
/* Have operands i and k as many elements of the same size in their cores? */
static inline bool cores_alike(const variant *v, const core_layout *layout, int i, int k) {
    return core_bytes(v, layout, i) == core_bytes(v, layout, k) &&
           dtypes[v->operand[i].memory].size == dtypes[v->operand[k].memory].size;
}
/* The operand in whose shared memory operand k is staged: an output that is STAGED_IN_PLACE takes that of an input like it, a different one for
 * each. k: there is none, or it has a place of its own. */
static inline int staged_place(const variant *v, const core_layout *layout, int k) {
    int before = 0;
    if (v->operand[k].staged != STAGED_IN_PLACE)
        return k;
    for (int i = v->nin; i < k; i++)
        before += v->operand[i].staged == STAGED_IN_PLACE && cores_alike(v, layout, i, k);
    for (int i = 0; i < v->nin; i++)
        if (v->operand[i].staged && cores_alike(v, layout, i, k) && !before--)
            return i;
    return k;
}
/* Bytes of the pieces of all staged operands with a place of their own. */
static inline int cores_pitch(const variant *v, const core_layout *layout) {
    int bytes = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        bytes += v->operand[k].staged && staged_place(v, layout, k) == k ? core_pitch(core_piece(v, layout, k)) : 0;
    return bytes;
}
/* Elements from one index of dimension d of operand k's core to the next, in memory without gaps in which dimension `inner` is the innermost
 * one, and the others are in C order. */
static inline int core_apart(const variant *v, const core_layout *layout, int k, int inner, int d) {
    const layout_operand *o = &layout->operands[k];
    int stride = 1;
    for (int i = 0; i < o->rank; i++)
        stride *= d != inner && (i > d || i == inner) ? v->gufunc.size[o->dim[i]] : 1;
    return stride;
}
/* CPU: bytes from the copy of a core to that of the next call's: an odd number of lines. */
static inline int64_t call_group_pitch(int64_t core) { return ((core + LINE_BYTES - 1) / LINE_BYTES | 1) * LINE_BYTES; }
/* The least number of pieces whose staged operands are whole accesses of ACCESS_BYTES. */
static inline int core_calls_step(const variant *v, const core_layout *layout) {
    int step = 1;
    for (int k = 0; k < v->nin + v->nout; k++) {
        int one = v->operand[k].staged ? ACCESS_BYTES / core_width(core_piece(v, layout, k)) : 1;
        step = one > step ? one : step;
    }
    return step;
}
/* The calls of a block, and its threads. */
static inline int core_calls(const variant *v, const core_layout *layout) {
    int calls = UNROLLED_THREADS, bytes = cores_pitch(v, layout), sharers = core_sharers(v), side = core_side(v);
    if (sharers == 1 && side == 1) {
        while (calls * bytes > UNROLLED_SHARED)
            calls /= 2;
        return calls;
    }
    int step = core_calls_step(v, layout), threads = side > 1 ? UNROLLED_THREADS : SHARED_CALL_THREADS,
        most = (threads / side + sharers / 2) / sharers, pieces = most > step ? most / step * step : step;
    while (pieces > step && pieces * bytes > UNROLLED_SHARED)
        pieces -= step;
    return pieces * side;
}
static inline int core_threads(const variant *v, const core_layout *layout) {
    return core_calls(v, layout) * core_sharers(v);
}

/* Is operand k of a fold read for each element, or the position? And has it a place in the loop over the results? */
static inline bool variant_moves(const variant *v, int k) {
    const variant_operand *o = &v->operand[k];
    return o->kind == OPERAND_POSITION ||
           ((k < v->nin || (v->masked && k == variant_mask(v))) && o->kind < OPERAND_NUMBER && !variant_follows(v, k));
}
static inline bool variant_places(const variant *v, int k) {
    return v->operand[k].kind < OPERAND_NUMBER && !variant_follows(v, k) &&
           (!v->reduction.empty || (k >= v->nin && k < v->nin + v->nout));
}

/* Rows of a constant length: the operand in whose shared memory operand k is staged. An output takes the place of an input with elements
 * of the same size, a different one for each output, or has a place of its own. */
static inline int variant_tile(const variant *v, int k) {
    int size = dtypes[v->operand[k].memory].size, before = 0;
    if (k < v->nin || k >= v->nin + v->nout)
        return k;
    for (int i = v->nin; i < k; i++)
        before += v->operand[i].staged && dtypes[v->operand[i].memory].size == size;
    for (int i = 0; i < v->nin; i++)
        if (v->operand[i].staged && dtypes[v->operand[i].memory].size == size && !before--)
            return i;
    return k;
}

/* A reduction to few results whose elements lie side by side, of any number; elements of each result that a row of a block's threads has: a
 * multiple of what makes rows whole accesses. */
static inline bool variant_interleaved_results(const variant *v) { return v->fold.plane && !v->fold.length; }
static inline int variant_wrapped(const variant *v) {
    int vector = v->fold.vector, whole = vector, side = v->fold.plane;
    while (whole > 1 && side % 2 == 0) {
        whole /= 2;
        side /= 2;
    }
    return FOLD_INTERLEAVED_THREADS * vector / v->fold.plane / whole * whole;
}
/* A scan of few lines side by side of any length. */
static inline bool variant_interleaved_lines(const variant *v) { return v->scan.plane && !v->scan.length; }
/* Its places of states in shared memory: two for each thread, or for the entries that are looked back to. */
static inline int variant_scan_places(const variant *v) {
    int rows = 2 * v->scan.lines;
    return v->scan.plane * (rows > SCAN_LOOK_BACK ? rows : SCAN_LOOK_BACK);
}

/* Bytes of the widest access that so many records in a row can be divided into, so many bytes apart. */
static inline int record_width(int count, int step) {
    int lowest = count * step & -(count * step);
    return lowest < ACCESS_BYTES ? lowest : ACCESS_BYTES;
}

/* Kernel parameters of operand k. */
static inline int operand_parameters(const variant *v, int k) {
    const variant_operand *o = &v->operand[k];
    return variant_follows(v, k) ? 0 : o->kind == OPERAND_NUMBER && o->value == DT_COMPLEX128 ? 2 : 1;
}
/* Has it an address (or is the position), and strides, among the parameters? */
static inline bool operand_has_strides(const variant *v, int k) {
    return v->operand[k].kind != OPERAND_NUMBER && !variant_follows(v, k);
}

/* Division by magic (32-bit, or 64-bit where the variant is wide): q = (mulhi(x, multiplier) + x) >> shift, for x < 2^31 (2^63). */
typedef struct magic {
    uint64_t multiplier;
    unsigned shift;
} magic;
/* For division of x < 2^(bits-1) by 1 <= d < 2^(bits-1); bits is 32 or 64. Granlund and Montgomery 1994, with the
 * multiplier less its leading one: shift = ceil(log2 d), multiplier = floor(2^bits (2^shift - d) / d) + 1. */
magic magic_of(uint64_t d, int bits);

#endif
