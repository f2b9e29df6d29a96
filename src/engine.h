/* engine.h - what an engine offers: compiling, launching, memory. The CPU and CUDA are the two there are, and core
 * knows them through this only. */
#ifndef UF_ENGINE_H
#define UF_ENGINE_H

#include "nd/nd.h"
#include "type/report.h"

/* What code is generated for. It is part of the key of compiled code, which is compared as bytes: zero it before
 * filling. */
typedef struct code_target {
    bool gpu;
    int arch; /* GPU: ten times the compute capability, 90 */
    /* CPU: bits of the host's widest vectors, 512, 256 or 128, for which there are libmvec functions too; 0: none */
    int vector_bits;
    bool f16c; /* CPU: the host's instructions convert between float16 and float32, */
    bool vbmi; /* and look bytes up in registers of 512 bits */
    /* CPU: what is not in the caches of one processor is read faster by vectors of 256 bits than of 512 */
    bool narrow_reads;
    /* CPU: where lines are written past the caches, what is read across the ends of lines is read faster so, too */
    bool narrow_lines;
} code_target;

/* A symbol that generated code refers to, and its address. */
typedef struct code_symbol {
    const char *name;
    const void *address;
} code_symbol;

/* Generated code on its way to a compiler. */
typedef struct code_module {
    text ir;              /* LLVM IR, in the one spelling that all compilers read (docs/code-generation.md) */
    char entry[64];       /* name of the kernel in it */
    code_symbol *symbols; /* CPU: all external functions that the text calls; in an arena of the caller's */
    int nsymbols;
    bool math; /* GPU: it calls libdevice */
    /* It is large and written in the plain form, without copies of loops; passes of linear cost compile it. */
    bool plain;
    /* GPU: its code is as fast as libNVVM's passes would make it, so that these are left out (ir/common/settled.h). */
    bool settled;
    bool streamed; /* GPU: all that it stores is marked to be evicted first (variant_operand.nontemporal) */
    /* CPU: it does several points at once, in local arrays that the compiler is to turn into vectors. */
    bool outer_vectors;
    /* CPU: its loops are those over calls, which are written out without conditions and functions: products of small matrices. */
    bool straight;
    unsigned fast;     /* UF_FAST_* */
    unsigned flags;    /* UF_DEBUG, UF_LINES */
    int max_registers; /* 0: no limit */
    int64_t max_steps; /* steps that an element may take, in variants with REPORTS_STEPS */
} code_module;

typedef struct code code; /* compiled and loaded code; each engine has a struct of its own */

/* An access to a core operand in the innermost part of a construct. outer and inner say which core dimension of the
 * operand a variable moves through: 1 + that dimension, if it is indexed by this variable alone; else 0. */
typedef struct code_access {
    uint8_t operand;
    uint8_t outer; /* by the last range of the forall; of a reduction that stands in no forall, by its own */
    uint8_t inner; /* by the last range of the reduction inside the forall */
} code_access;

enum {
    CODE_ACCESSES = 16,
    CODE_RANGES = 4,
    CODE_CONSTRUCTS = 8
};

/* A construct of a kernel that stands in no other one. Its ranges are given by the dimension of the layout that is
 * their extent; -1: the extent is another expression. */
typedef struct code_construct {
    bool reduces; /* a reduction (sum, prod ..); else a forall */
    bool nested;  /* a forall with one reduction among its statements: variant.lanes and variant.along apply */
    /* It uses its operands again, and may go by tiles (variant.tile): 32-bit words of an accumulated result; 0: not. */
    uint8_t tiles;
    uint8_t nodes; /* nodes of its body, at most 255 */
    uint8_t nouter, ninner, naccesses;
    int8_t outer[CODE_RANGES], inner[CODE_RANGES];
    code_access access[CODE_ACCESSES];
} code_construct;

/* What a kernel over indices does with an array among its parameters, as bits (ir/forall/uses.c). */
enum {
    USE_READ = 1,
    USE_WRITE = 2,
    USE_ATOMIC = 4,
    /* Points that are neighbours along the last index access neighbouring elements, in some access: it pays to use
     * vectors. */
    USE_COALESCED = 8,
    /* It is only the target of one commutative atomic function, whose results are not used. */
    USE_COUNTER = 16,
    /* It is never read, and written by one statement, which all points of a row execute but those that a guard leaves
     * out; along a row the elements are neighbours. */
    USE_FILLED = 32,
    /* USE_COUNTER of a 64-bit integer, to which a point adds 1 at most once: a count in 32 bits is exact up to as many points. */
    USE_TALLY = 64,
    /* Points that are neighbours along the last index but one access neighbouring elements, in some access, and those along the last
     * do not: the array lies across the space. */
    USE_TURNED = 128,
    /* Elements at several constant last indices are read, as of points with few coordinates. */
    USE_SHORT_ROWS = 256
};

enum {
    PAIRS_CONSTANT = UINT8_MAX,
    COLUMN_RANGES = 2 /* of a forall that may be its columns: the last one, and the one before it */
};

/* What an engine chooses a variant by: the size of a kernel, and how it walks through memory. */
typedef struct code_traits {
    int nodes;
    bool has_loop;
    bool unbounded; /* as tree.has_unbounded: it may run for long */
    bool sums;      /* elements: neither math functions nor divisions are in it */
    /* Calls: the threads of a cooperative group may share its constructs, since nothing else writes or reads outputs
     * that are arrays. */
    bool maps_to_threads;
    bool plain_loops; /* calls: there are loops in the kernel that are no constructs */
    bool windows;     /* calls: all that the kernel does is one forall over windows of its inputs (ir_points) */
    /* Calls: bit r: all that the kernel does is foralls of which the range with r others behind it may be the columns (ir/construct/columns.c). */
    uint8_t columns;
    /* .. : 1 + the core dimension of an operand that the columns go along, where vectors are loaded or stored; 0: elements alone are. */
    uint8_t column_of[COLUMN_RANGES][UF_MAX_OPERANDS];
    bool strips;   /* calls: call_strips_fit (ir/gufunc/call_strips.h), */
    bool vectored; /* .. and the terms of its reductions call functions that libmvec has for vectors */
    /* Calls: every call comes to the same constructs in the same order, whatever its values, and ends soon. */
    bool uniform;
    /* Calls: the statements of each forall can be written for many elements, each for all of them before the next. */
    bool simple;
    /* Calls: core dimensions, as bits, along which threads may share a call (ir/gufunc/separable.c). */
    uint8_t separable;
    /* Calls: bit k: operand k is reached in another way too than by the index of the one range of a construct that stands in no other. */
    uint64_t elsewhere;
    /* Calls: bit k: all of output k is assigned, whatever the inputs are, and nothing of it is read. */
    uint64_t assigned;
    int nconstructs;
    code_construct construct[CODE_CONSTRUCTS];
    /* Folds and scans; `nodes` are those of mapping and combining one element. */
    fold_order order;
    int nstate;       /* values of the state */
    int state_bytes;  /* bytes of all values together; each counts at least 4 */
    bool identity;    /* the reduction has an identity */
    bool neutral;     /* there is a value with which combining changes nothing, not even the sign of a zero */
    bool takes_count; /* the results depend on the number of elements that took part */
    absorbing_value absorbing;
    int short_rows; /* CPU: rows of so many elements, at most, go another way than longer ones, if neither counts nor positions belong to them */
    bool extremum;  /* they give the position of the first largest or smallest element */
    /* Forall. */
    uint16_t use[UF_MAX_OPERANDS]; /* bits of USE_, by parameter */
    /* n points that follow each other along the second to last index read n * rows + more_rows rows of the arrays with
     * USE_COALESCED. */
    uint8_t rows, more_rows;
    /* 1 + the array of one dimension that a reduction goes through whose extent is data, as a row of a sparse matrix: the lanes of a
     * warp may share the reductions of a point, since no array is both read and written. 0: none. */
    uint8_t ragged;
    /* The points are pairs, of which tiles may go through shared memory: 1 + the layout's dimension that says how long the reduction is,
     * or PAIRS_CONSTANT, and it is pair_terms. 0: they are not. */
    uint8_t pairs;
    int64_t pair_terms;
    /* The layout's dimensions, as bits, whose extents may be constants of the variant: what loops and ranges of the text go over, of
     * arrays that are only read. No more than FORALL_KNOWN. */
    uint64_t extents;
    uint8_t shared_rows; /* forall: 1 + an array over whose rows a loop goes, the same for all points; 0: none */
    /* Points that follow each other along the second to last index read the same elements of some array, not by vectors. */
    bool shares_rows;
    bool shares_points; /* four neighbours along the last index share much of their work, as random numbers do */
    bool calls_math;    /* it calls functions of libdevice or libm, whose code is large */
} code_traits;

/* Should lanes go along the last range of the foralls, rather than along the reductions inside? That is variant.along,
 * which follows from the units. It is true if neighbouring lanes then reach neighbouring elements in more accesses: an
 * access costs where the range moves through another core dimension than the one with stride 1, while an access that
 * the range does not move is shared by the lanes. */
static inline bool code_prefers_outer(const variant *v, const code_traits *traits) {
    int outer = 0, inner = 0;
    for (int c = 0; c < traits->nconstructs; c++) {
        const code_construct *x = &traits->construct[c];
        for (int i = 0; x->nested && i < x->naccesses; i++) {
            int unit = v->operand[x->access[i].operand].unit;
            outer += x->access[i].outer && x->access[i].outer != unit;
            inner += x->access[i].inner && x->access[i].inner != unit;
        }
    }
    return outer < inner;
}

/* Sets `sparse` and `counted` of a fold's variant, which follow from its other members and the traits. */
static inline void code_items(variant *v, const code_traits *traits) {
    v->reduction.sparse = !traits->neutral && (!traits->identity || v->ninitial || v->segmented);
    v->reduction.counted = v->masked && (traits->takes_count || (v->reduction.sparse && traits->order != FOLD_SERIAL));
}

/* The form of LAPACK that computes the same as a function (uf_definition.blas). Core takes it apart into routines (core/lapack.c). */
typedef enum lapack_form {
    LAPACK_NONE,
    LAPACK_SOLVE,
    LAPACK_SOLVE_MATRIX,
    LAPACK_INV,
    LAPACK_DET,
    LAPACK_CHOLESKY,
    LAPACK_QR,
    LAPACK_EIGH,
    LAPACK_SVD,
    LAPACK_LSTSQ,
    LAPACK_FORMS
} lapack_form;

/* What an engine chooses between generated code and a library by. */
typedef struct lapack_problem {
    lapack_form form;
    dtype type;
    int64_t m, n;  /* rows and columns of the matrix */
    int64_t nrhs;  /* right sides of one matrix, in all of its inner calls together */
    int64_t batch; /* matrices */
} lapack_problem;

/* A routine of LAPACK or cuSOLVER. Matrices are in column-major order without gaps, and behind each other. */
typedef enum lapack_routine {
    ROUTINE_LU,         /* a (n,n) becomes its factors L and U; pivots (n), int32 from 1 on; info */
    ROUTINE_LU_SOLVE,   /* factors, pivots, b (n,nrhs), which becomes x with a^T x = b */
    ROUTINE_LU_INVERSE, /* factors, which it may destroy, pivots, inverse (n,n) */
    ROUTINE_CHOLESKY,   /* the upper triangle of a (n,n) becomes U with U^H U = a; info */
    ROUTINE_QR,         /* the upper triangle of a (m,n) becomes R; Q (m, min(m,n)) */
    ROUTINE_EIGH, /* a (n,n), given by its upper triangle, becomes its eigenvectors; values (n) in real numbers; info */
    ROUTINE_SVD,  /* a (m,n) with m >= n, which it destroys; U (m,n), values (n) in real numbers, V^H (n,n); info */
    /* The same, but for V (n,n) in place of V^H, and for U (m,m), whose first n columns are those above */
    ROUTINE_SVD_SQUARE,
    ROUTINE_REFLECTORS, /* the upper triangle of a (m,n) becomes R, below it are reflectors; -; their scalars (min(m,n)) */
    LAPACK_ROUTINES,
    ROUTINE_SVD_FUNCTION = LAPACK_ROUTINES /* none: the function svd of this library has code for such a matrix */
} lapack_routine;

enum {
    ROUTINE_ARRAYS = 4,
    LAPACK_TYPES = 4 /* dtypes: float32, float64, complex64, complex128 */
};

/* The place of one of these dtypes in tables of routines. */
static inline size_t lapack_type(dtype type) {
    return type == DT_FLOAT32 ? 0 : type == DT_FLOAT64 ? 1 : type == DT_COMPLEX64 ? 2 : 3;
}

typedef struct lapack_call {
    lapack_routine routine;
    dtype type;
    int64_t m, n, nrhs, batch;
    void *array[ROUTINE_ARRAYS]; /* in the order above */
    /* int32, one a matrix, where the routine has it: 0, or that there is no result. */
    int32_t *info;
    /* int32, one a matrix: not 0 where the matrix has elements that are not finite, of which the routine need make nothing; NULL:
     * it takes them all. */
    const int32_t *skip;
    int device;
    void *stream;
    int threads; /* as in launch */
    /* Engines with lapack_points: the addresses of arrays 0 and 2 of each matrix, where the routine has them; NULL: not given. */
    void *const *first, *const *third;
} lapack_call;

/* How many bytes one matrix has of array i of a routine; 0: the routine does not have it. */
static inline size_t lapack_bytes(const lapack_call *c, int i) {
    /* A m * n elements, Q m * min(m, n), K min(m, n), M m * m, N n * n, B n * nrhs; P n pivots; W n real numbers; - nothing */
    static const char arrays[LAPACK_ROUTINES][ROUTINE_ARRAYS + 1] = {
        [ROUTINE_LU] = "NP",      [ROUTINE_LU_SOLVE] = "NPB",    [ROUTINE_LU_INVERSE] = "NPN",
        [ROUTINE_CHOLESKY] = "N", [ROUTINE_QR] = "AQ",           [ROUTINE_EIGH] = "NW",
        [ROUTINE_SVD] = "AQWN",   [ROUTINE_SVD_SQUARE] = "AMWN", [ROUTINE_REFLECTORS] = "A-K"};
    size_t m = (size_t)c->m, n = (size_t)c->n, size = dtypes[c->type].size;
    switch (arrays[c->routine][i]) {
    case 'A':
        return m * n * size;
    case 'Q':
        return m * (m < n ? m : n) * size;
    case 'K':
        return (m < n ? m : n) * size;
    case 'M':
        return m * m * size;
    case 'N':
        return n * n * size;
    case 'B':
        return n * (size_t)c->nrhs * size;
    case 'P':
        return n * sizeof(int32_t);
    case 'W':
        return n * dtypes[dtypes[c->type].component].size;
    default:
        return 0;
    }
}

/* What updates in place are. */
typedef enum at_counters {
    COUNTERS_NONE, /* anything */
    COUNTERS_COMBINED, /* an operator does them, by an instruction on a copy of the target as well, which begins with its identity */
    COUNTERS_ADDED /* so, and it adds or subtracts integers */
} at_counters;

/* What a variant is specialised for: the sizes and traits of a call, and what the caller asks for. */
typedef struct loop_problem {
    const nd_loop *loop;
    const core_layout *layout; /* LOOP_GUFUNC and LOOP_FORALL, else NULL; so are the core parameters */
    const int64_t *core;
    const code_traits *traits;
    /* LOOP_GUFUNC: how many lines of IR an inner call has whose loops are unrolled for its core sizes (ir_unrolled); INT_MAX: very many, or
     * there are loops that cannot be; 0: the sizes are not to be constants of the variant. */
    int unrolled;
    /* LOOP_GUFUNC: a lapack_form that computes the same as the function, of which the operands have the dtypes; 0: there is none. */
    int form;
    int device; /* LOOP_GUFUNC, GPU; below 0: an architecture, as for engine.target */
    int shared; /* set by the engine. GPU: bytes of shared memory that a block may have; 0: those that every device has */
    int sms; /* set by the engine. GPU: multiprocessors whose blocks may wait for each other; 0: such launches are not there */
    int clusters; /* set by the engine. GPU: log2 of the blocks of the largest cluster; 0: there are none */
    /* LOOP_GUFUNC, GPU, by operand: the address of its first element modulo ACCESS_BYTES; NULL: it may be any. */
    const uint8_t *misalignment;
    /* LOOP_AT: extent and stride of each dimension of the target that is indexed, and what the updates are. */
    const int64_t *indexed;
    at_counters counters;
    /* LOOP_FORALL, GPU. */
    int elements; /* that a thread is to take; 0: the engine's choice */
    int block;    /* threads that a block is to have; 0: the engine's choice */
    const uint8_t
        *align; /* per operand: log2, at most 4, of the bytes of which the address and all strides but that of the unit
                             dimension are multiples */
} loop_problem;

/* What the variant of a fold or a scan is chosen for. */
typedef struct fold_problem {
    const nd_fold *loops; /* operands are in the order of the variant's */
    const code_traits *traits;
    int device;
    bool whole;  /* fold: the elements of a result must not be divided, as in reduceat, and when states are combined */
    bool uneven; /* segments: some may be much longer than most (UF_UNEVEN) */
    const uint8_t *misalignment; /* fold, GPU: as in loop_problem */
} fold_problem;

/* One launch of compiled code. */
typedef struct launch {
    const variant *v;
    const nd_loop *loop; /* its narrays is variant_operands(v) */
    /* by operand: the address of its first element in the order of the loop (with the loop's offset) */
    char *const *data;
    const uint64_t (*numbers)[2]; /* by operand: the bytes of a number, already converted to the signature's dtype */
    int device;                   /* device_id of the arrays */
    void *stream;
    int threads; /* CPU: threads to be used; 0: all */
    /* LOOP_GUFUNC */
    const core_layout *layout;
    const int64_t *core; /* the core parameters (see core_layout) */
    blas_form blas;
    unsigned fast; /* UF_FAST_* of the function */
    /* LOOP_AT: extent and stride, in elements, of each dimension of the target that is indexed; the loop does not
     * contain these. */
    const int64_t *indexed;
    /* CPU: becomes 1 if an index is out of range; it is then left open which updates were made. NULL: all are in range. */
    int64_t *outside;
    /* LOOP_FOLD, LOOP_SCAN: `loop` is the kept loop (of a scan, over the lines) */
    const nd_loop *reduced;
    /* Fold: each part of a result has so many elements, in the order of the reduced loop; the last part may be shorter.
     * 0: results are not divided into parts. */
    int64_t chunk;
    int64_t chunk_stride; /* of the outputs, in elements, from one part to the next */
    /* How many parts decide the results, if the engine finds that those behind change nothing: their states are then left as they were. NULL:
     * all states are needed. */
    int64_t *deciding;
    int64_t elements; /* elements of each result; from_states: those that the states were made of */
    void *scratch;    /* the memory that fold_scratch asks for, aligned to 256 bytes; its content is undefined */
    /* LOOP_FORALL: `loop` is the space. Its dimension 0 is the last index, no operand moves in it, and data are the
     * addresses of elements 0. */
    int block;                  /* GPU: threads in a block; 0: the engine's choice */
    const volatile int *cancel; /* the call ends once it is not 0; NULL: it cannot be cancelled */
    /* CPU: what grows by the share of the launch that is done, to 1; NULL: nothing */
    volatile double *progress;
    /* Variants that report: how errors name the function and its elements. The engine copies what it needs for
     * later. */
    const char *name, *source;
    int npoints;           /* dimensions of the space, or of the loop shape, in which errors say where an element is */
    const int64_t *points; /* its extents; the loop then has its dimensions in C order */
    report *report;        /* set by the engine */
} launch;

/* Where the end of the last segment would be among the bounds, which lie one behind the other, and along at most one dimension of the
 * loop, forwards or backwards. */
static inline const char *launch_bounds_stop(const launch *l) {
    int k = variant_bounds(l->v);
    int64_t behind = 1;
    for (int d = 0; d < l->loop->ndim; d++)
        if (l->loop->stride[d * l->loop->narrays + k] > 0)
            behind = l->loop->extent[d];
    return l->data[k] + behind * (int64_t)sizeof(int64_t);
}

/* The kernel that the report of a launch is about. */
static inline report_kernel launch_report_kernel(const launch *l) {
    bool inner = l->v->loop == LOOP_GUFUNC && l->layout != &layout_scalars;
    return (report_kernel){l->name, l->source, inner, l->npoints, l->points};
}

enum {
    KEPT_WORDS = 24
};

/* A launch that is made again with the same addresses: the parameters of its kernel are those of before. */
typedef struct kept_launch {
    const code *c;
    int64_t elements;
    bool alone;  /* on one thread, whatever it takes */
    bool headed; /* the kernel runs twice, for elements of the head first */
    uint64_t head[KEPT_WORDS], parameters[KEPT_WORDS];
} kept_launch;

typedef struct engine {
    const char *name;
    /* The target of a device. Opens the libraries that compiling for it needs; cheap after the first time. On a GPU
     * device < 0 is the architecture -device, without a device. Errors: LIBRARY, DEVICE. */
    uf_status (*target)(int device, code_target *out);
    /* Fills the members of a variant that the engine chooses (ndim, wide, those of its class, and of its operands fixed, unit,
     * staged ..), and may turn rows into general. For LOOP_FORALL core has set noalias, proved, known, reports, and each operand's unit. */
    void (*specialise)(variant *v, const loop_problem *p);
    /* The same for LOOP_FOLD and LOOP_SCAN; fills `kind` and `columns` too. Of a fold it returns the number of elements
     * in a part of a result: a first launch reduces each part to a state, and a second fold combines the states. 0: one
     * launch computes the results. Parts depend on shapes and the device alone, never on threads. On the CPU they are a
     * multiple of the elements inside the outermost reduced dimension. */
    int64_t (*specialise_fold)(variant *v, const fold_problem *s);
    /* The number of elements in a part, chosen again when the code that computes parts exists, so that the parts keep
     * the device busy to the end. l->chunk is what specialise_fold returned. NULL: that stays. c: NULL before there is
     * code; about as many as there will be then. Errors: DEVICE. */
    uf_status (*fold_chunk)(const code *c, const launch *l, int64_t *out);
    /* Bytes of device memory that a launch of a fold or a scan needs as its `scratch`; its data and numbers are not
     * looked at. NULL: never any. */
    size_t (*fold_scratch)(const launch *l);
    /* Compiles and loads code; device must not be negative. Called on a thread with a large stack. */
    uf_status (*compile)(const code_module *module, const code_target *target, int device, code **out);
    void (*release)(code *c); /* waits for enqueued work that uses the code, where that is necessary */
    /* Does a library compute the launch? Then nothing is compiled for it. Addresses and numbers are not looked at; the library is opened,
     * if it may be the one. NULL: `launch` always has code, and asks itself. */
    bool (*takes)(const launch *l);
    uf_status (*launch)(const code *c, const launch *l); /* c is NULL where `takes` said so */
    /* Keeps a launch that cannot fail and has no numbers, which are read anew each time. False: not one like this. NULL: none. */
    bool (*keep)(const code *c, const launch *l, kept_launch *out);
    /* Makes it again; false: it is not made, and has to be launched. */
    bool (*repeat)(const kept_launch *k);
    /* Is a routine of the library faster than generated code? A pure function of the problem. */
    bool (*lapack_pays)(const lapack_problem *p);
    /* Opens the library, once. Errors: LIBRARY (what was tried, with the reason). */
    uf_status (*lapack_open)(int device);
    /* Runs a routine over a batch; on a GPU it is enqueued. Errors: MEMORY, DEVICE, ARGUMENT (sizes that the library does not take; a
     * routine that cannot be captured, in a capture). */
    uf_status (*lapack_run)(const lapack_call *c);
    /* By what a form of a matrix computes its singular value decomposition: one of the three, for svd itself one of the first two. NULL:
     * ROUTINE_SVD. */
    lapack_routine (*lapack_svd)(int device, const lapack_problem *p);
    /* Does it have QR's reflectors only, which a kernel then makes Q of? NULL: never; it has ROUTINE_QR. */
    bool (*lapack_reflects)(const lapack_problem *p);
    bool tiles_outputs; /* LOOP_TILE: unmasked outputs may be across as inputs may */
    /* LOOP_TILE: of how many elements, at most, does a dimension count as narrow (nd/tile.c)? */
    int (*tile_narrow)(const code_traits *traits);
    /* Segments of a line, from which on neighbouring ones are inside of the loop over results; else lines beside each other are. */
    int segments_inside;
    int few_lines; /* LOOP_GUFUNC: of how many lines (loop_problem.unrolled) small cores are unrolled for few calls, too; 0: none are */
    bool squares; /* LOOP_GUFUNC: calls that are unrolled go by squares where an operand is across (nd/square.c) */
    /* May routines work in memory at an address that the caller gave? NULL: in any. */
    bool (*lapack_lands)(const void *address);
    bool lapack_generates; /* its code may compute a form itself: specialise says so (variant.gufunc.form) */
    bool lapack_points;    /* it wants lists of addresses, in memory that its device reads */
    size_t lapack_most;    /* bytes of scratch memory for a call, which is cut in parts where it would take more */
    /* LOOP_FORALL: describes what a launch would be, in the members of *out that the engine knows; all others are 0. */
    uf_status (*launch_info)(const code *c, const launch *l, uf_launch *out);
    /* UF_VIEW_PTX, UF_VIEW_ASSEMBLY, UF_VIEW_RESOURCES. */
    uf_status (*inspect)(const code_module *module, const code_target *target, int device, uf_view view, text *out);
    /* Memory on the engine's device; managed or pinned memory by device_type. */
    uf_status (*alloc)(DLDevice device, size_t size, void **out);
    void (*free)(DLDevice device, void *block);
    /* Memory for a call's own use, in the order of a stream: work that is enqueued between the two calls may use it.
     * The same thread makes both, one soon after the other, since CUDA's engine holds the stream's memory locked in
     * between. */
    uf_status (*scratch)(int device, size_t size, void *stream, void **out);
    void (*scratch_free)(int device, void *block, void *stream);
    /* Copies bytes between host and device or within a device, enqueued on the stream; wait: the copy is complete on
     * return. */
    uf_status (*copy)(int device, void *dst, const void *src, size_t size, void *stream, bool wait);
    uf_status (*sync)(int device, void *stream);
    /* its part of uf_system_info: what was found, where, in which version, and what is missing */
    void (*info)(text *out);
} engine;

extern const engine cpu_engine, cuda_engine;

#endif
