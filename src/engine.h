/* engine.h - what an engine must offer. The CPU and CUDA are two rows; core knows them only through this. */
#ifndef UF_ENGINE_H
#define UF_ENGINE_H

#include "nd/nd.h"
#include "type/report.h"

/* What code is generated for. Plain data, part of the key of compiled code: zero it before filling. */
typedef struct code_target {
    bool gpu;
    int arch;        /* GPU: compute capability times ten, 90 */
    int vector_bits; /* CPU: widest vectors of the host, 512, 256 or 128; also the libmvec variants to use; 0: none */
    bool f16c;       /* CPU: the host converts float16 <-> float32 in hardware */
} code_target;

/* A symbol that generated code refers to, by address. */
typedef struct code_symbol {
    const char *name;
    const void *address;
} code_symbol;

/* Generated code on its way to a compiler. */
typedef struct code_module {
    text ir;              /* LLVM IR, one spelling for all (CODEGEN facts) */
    char entry[64];       /* name of the kernel in it */
    code_symbol *symbols; /* CPU: everything external the text calls; in an arena of the caller's */
    int nsymbols;
    bool math;          /* GPU: calls libdevice */
    bool plain;         /* there is much of it: it is compiled in a time in proportion, without copies of loops */
    bool outer_vectors; /* CPU: written for runs of points, with arrays that are to become vectors */
    unsigned fast;      /* UF_FAST_* */
    unsigned flags;     /* UF_DEBUG, UF_LINES */
    int max_registers;  /* 0: no limit */
    int64_t max_steps;  /* of an element, in variants with REPORTS_STEPS */
} code_module;

typedef struct code code; /* compiled code, loaded; each engine has its own struct */

/* One access to a core operand in the innermost part of a construct, by the core dimension that is indexed by exactly one
 * variable: 1 + that dimension, 0: none. */
typedef struct code_access {
    uint8_t operand;
    uint8_t outer; /* the last range of the forall (of a reduction at the top: of itself) */
    uint8_t inner; /* the last range of the reduction inside */
} code_access;

enum {
    CODE_ACCESSES = 16,
    CODE_RANGES = 4,
    CODE_CONSTRUCTS = 8
};

/* A construct of a kernel that stands in no other one. Ranges by the dimension of the layout that they run over, -1 where
 * that is some other expression. */
typedef struct code_construct {
    bool reduces;  /* a sum, prod ..; else a forall */
    bool nested;   /* a forall with a reduction inside its statements, once: the code for `lanes` and `along` */
    uint8_t nodes; /* of its body, at most 255 */
    uint8_t nouter, ninner, naccesses;
    int8_t outer[CODE_RANGES], inner[CODE_RANGES];
    code_access access[CODE_ACCESSES];
} code_construct;

/* What a kernel over indices does with a parameter (ir/forall/uses.c). */
enum {
    USE_READ = 1,
    USE_WRITE = 2,
    USE_ATOMIC = 4,
    USE_COALESCED =
        8, /* some accesses of it are at neighbours for neighbours along the last index: it pays to use vectors */
    USE_COUNTER = 16, /* only the target of one commutative atomic function, whose results are not used */
    USE_FILLED = 32 /* never read, and written in one place, which all points get to that are not left out of their row;
                         along a row the elements are neighbours */
};

/* What the choice of threads and elements in flight goes by. */
typedef struct code_traits {
    int nodes;
    bool has_loop;
    bool unbounded; /* tree.has_unbounded */
    bool
        maps_to_threads; /* calls: constructs may be spread over a cooperative group: nothing else writes or reads array outputs */
    int nconstructs;
    code_construct construct[CODE_CONSTRUCTS];
    /* Folds and scans. `nodes` are those of mapping and combining one element. */
    fold_order order;
    int nstate;       /* values of the state */
    int state_bytes;  /* of all of them together, each at least 4 */
    bool identity;    /* there is one */
    bool neutral;     /* combining with some value changes nothing, not even the sign of a zero */
    bool takes_count; /* the results depend on how many elements took part */
    /* Forall. */
    uint8_t use[UF_MAX_OPERANDS]; /* of each parameter */
    /* n points that follow each other along the last index but one read n * rows + more_rows rows of the streams' elements. */
    uint8_t rows, more_rows;
    bool shares_points; /* four neighbours along the last index compute much in common: random numbers */
    bool calls_math;    /* functions of libdevice or libm, whose code is large */
} code_traits;

/* What `along` of a variant is, its units being filled: neighbours in memory are better taken along the last range of the
 * foralls than along the reductions inside. An access costs where the range that is taken along moves it by something else
 * than its unit dimension; one that the range does not move is shared. */
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

/* Sets `sparse` and `counted` of a fold's variant, which follow from its other members and the fold's traits. */
static inline void code_items(variant *v, const code_traits *traits) {
    v->sparse = !traits->neutral && (!traits->identity || v->ninitial || v->segmented);
    v->counted = v->masked && (traits->takes_count || (v->sparse && traits->order != FOLD_SERIAL));
}

/* What BLAS calls the function: see uf_definition.blas. */
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

/* What a variant of a fold or a scan is specialised for. */
typedef struct fold_problem {
    const nd_fold *loops; /* operands in the order of the variant's */
    const code_traits *traits;
    int device;
    bool whole; /* fold: the elements of one result are not to be divided (reduceat, and what combines states) */
} fold_problem;

/* One run of a piece of code. */
typedef struct launch {
    const variant *v;
    const nd_loop *loop; /* narrays = variant_operands(v) */
    char *const *data;   /* per operand: address of its first element in loop order (nd_loop's offset included) */
    const uint64_t (*numbers)[2]; /* per operand: a number's bytes, already of the signature's dtype */
    int device;                   /* device_id */
    void *stream;
    int threads; /* CPU; 0: all */
    /* LOOP_GUFUNC */
    const core_layout *layout;
    const int64_t *core; /* the core words */
    blas_form blas;
    /* LOOP_AT: extent and stride (in elements) of each indexed dimension of the target, which the loop goes without */
    const int64_t *indexed;
    /* LOOP_FOLD, LOOP_SCAN: `loop` is what is kept (scan: the lines) */
    const nd_loop *reduced;
    int64_t chunk; /* fold: the elements of each result are divided into parts of so many, in the order of the reduced
                             loop; the last may be shorter. 0: they are not */
    int64_t chunk_stride; /* of the outputs, in elements, from one part to the next */
    int64_t elements;     /* of each result; from_states: of those that the states are of */
    void *scratch;        /* what fold_scratch asks for; aligned to 256 bytes, content undefined */
    /* LOOP_FORALL: `loop` is the space, its dimension 0 the last index, in which no operand moves; data are elements 0. */
    int block;                  /* GPU: threads in a block; 0: the engine's choice */
    const volatile int *cancel; /* not 0: the call ends; NULL: it cannot be told to */
    /* Variants that report: what errors call the function and its elements; all are copied. */
    const char *name, *source;
    int npoints;           /* dimensions of the shape that indices are told of: the space, or the loop shape */
    const int64_t *points; /* its extents, C order; the loop then keeps that order */
    report *report;        /* the engine's own */
} launch;

/* What the report of a launch is about. */
static inline report_kernel launch_report_kernel(const launch *l) {
    bool inner = l->v->loop == LOOP_GUFUNC && l->layout != &layout_scalars;
    return (report_kernel){l->name, l->source, inner, l->npoints, l->points};
}

typedef struct engine {
    const char *name;
    /* The target of a device; opens the libraries that are needed to compile for it. device < 0 (GPU): architecture -device
     * without a device. Errors: LIBRARY, DEVICE. Cheap after the first time. */
    uf_status (*target)(int device, code_target *out);
    /* Fills the engine's fields of a variant (ndim, wide, vector, repeat, fixed, unit ..; may turn rows into general). layout
     * and core words: LOOP_GUFUNC and LOOP_FORALL, else NULL. Forall: core has set apart, proved, reports, the operands' unit and
     * align, repeat to the elements a thread that the caller wants (0: the engine's choice), and cooperative group to log2 of a block of more
     * than 256 threads that the caller wants (else 0). */
    void (*specialise)(variant *v, const nd_loop *loop, const core_layout *layout, const int64_t *core,
                       const code_traits *traits);
    /* The same for LOOP_FOLD and LOOP_SCAN; fills `kind` and `columns` too. Fold: returns how many elements of each result a
     * part has that is combined by itself, by a launch whose outputs are states, for a second fold to combine; 0: one launch
     * does it all. The parts depend on shapes and the device alone, never on threads. On the CPU a multiple of what lies
     * inside the outermost reduced dimension. */
    int64_t (*specialise_fold)(variant *v, const fold_problem *s);
    /* The elements of a part, once the code is there that computes parts: so many that the parts keep the device busy to the
     * end. What specialise_fold said is l->chunk. NULL: that it is. Errors: DEVICE. */
    uf_status (*fold_chunk)(const code *c, const launch *l, int64_t *out);
    /* Bytes of device memory that a launch of a fold or a scan takes as its `scratch`, data and numbers not being looked at; 0:
     * none. NULL: never any. */
    size_t (*fold_scratch)(const launch *l);
    /* Compiles and loads. Runs on a big stack. device < 0 is an error. */
    uf_status (*compile)(const code_module *module, const code_target *target, int device, code **out);
    void (*release)(code *c); /* waits for queued work that uses it where it must */
    uf_status (*launch)(const code *c, const launch *l);
    /* LOOP_FORALL: what a launch would be, in the members of *out that the engine knows (all others are 0). */
    uf_status (*launch_info)(const code *c, const launch *l, uf_launch *out);
    /* UF_VIEW_PTX, UF_VIEW_ASSEMBLY, UF_VIEW_RESOURCES. */
    uf_status (*inspect)(const code_module *module, const code_target *target, int device, uf_view view, text *out);
    /* Memory of the engine's device (managed or pinned by device_type). */
    uf_status (*alloc)(DLDevice device, size_t size, void **out);
    void (*free)(DLDevice device, void *block);
    /* Memory for a call's own use, ordered on a stream: usable by work enqueued between the two, which the same thread calls
     * in one go (CUDA: the library's piece for the stream is held meanwhile). */
    uf_status (*scratch)(int device, size_t size, void *stream, void **out);
    void (*scratch_free)(int device, void *block, void *stream);
    /* Copies bytes between host and device or within a device, enqueued on stream; `wait`: done on return. */
    uf_status (*copy)(int device, void *dst, const void *src, size_t size, void *stream, bool wait);
    uf_status (*sync)(int device, void *stream);
    void (*info)(text *out); /* its part of uf_system_info: what was found, where, version, what is missing */
} engine;

extern const engine cpu_engine, cuda_engine;

#endif
