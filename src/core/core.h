/* core.h - from the arguments of a verb to an engine's launch.
 *
 * Every verb goes one way (plan.c): its arguments (args.c: devices, dtypes, numbers) -> the binding for their dtypes (bind.c: the
 * signature, the typed tree, once per dtypes) -> operands, loops and the variant of each launch -> compiled code (code.c: once per
 * process). That is a plan, which run.c runs: addresses, numbers, overlaps, the engine's launches. What a verb has of its own is a row
 * of functions (plan_verb) in its file: call.c, gufunc.c, reduce.c, accumulate.c, reduceat.c, at.c, forall.c. */
#ifndef UF_CORE_H
#define UF_CORE_H

#include <stdatomic.h>

#include "engine.h"
#include "ir/ir.h"
#include "lang/lang.h"

enum {
    ENGINE_CPU,
    ENGINE_CUDA,
    ENGINES
};
extern const engine *const engines[ENGINES];

/* ---- Options (options.c) ---- */

/* A caller's struct of `size` bytes (its first member) read into ours of `known`: shorter is zero-filled, longer must have
 * a zero tail. what names it in errors. NULL input: all zero. */
uf_status struct_read(const void *from, void *to, size_t known, const char *what);
/* And ours written into the caller's, but for its size: as much as there is room for, what we do not know as zero. */
uf_status struct_write(const void *from, size_t known, void *to, const char *what);
/* The same for uf_options, with flags and casting checked. *scratch is only written where the result is not `options`. */
uf_status options_read(const uf_options *options, uf_options *scratch, const uf_options **out);
/* Those of uf_forall, which has others. */
uf_status forall_options_read(const uf_options *options, uf_options *scratch, const uf_options **out);
uf_status reduce_options_read(const uf_reduce_options *options, uf_reduce_options *scratch,
                              const uf_reduce_options **out);
/* Those of uf_accumulate and uf_reduceat. */
uf_status axis_options_read(const uf_options *options, const char *verb, uf_options *scratch, const uf_options **out);

/* ---- Compiled code, process-wide (code.c) ---- */

typedef struct code_entry code_entry;

/* What one compilation needs. Everything in it but `tree` and `name` is the key of its result, `source` and `layout` standing
 * for the tree (with the dtypes in the variant). */
typedef struct compile_job {
    const char *name, *source;
    const char *layout; /* canonical; "" for elementwise kernels */
    const tree *tree;
    const fold *fold; /* folds and scans, in place of the tree; `source` then stands for all its texts */
    const variant *v;
    int engine, device;
    code_target target;
    unsigned fast, flags;
    int max_registers;
    int64_t max_steps;
} compile_job;

/* The compiled code for a job, compiling it now if nobody has; while another thread compiles it, waits. The entry is held
 * until code_drop. Errors: COMPILE, LIBRARY, DEVICE, MEMORY. */
uf_status code_get(const compile_job *job, code_entry **out);
void code_drop(code_entry *entry);
const code *code_of(const code_entry *entry);

/* The pass list (compile.c). Each stage's result can be looked at through uf_inspect. */
uf_status compile_ir(arena *a, const compile_job *job, code_module *module);
uf_status compile_code(const compile_job *job, code **out);

/* ---- Functions (func.c) ---- */

typedef struct section {
    const syntax *syntax;
    const char *source;
    const core_layout
        *layout; /* that the kernel is checked against: the function's; of a kernel over indices its own; or NULL */
    const char *layout_text; /* stands for it in keys; "" */
} section;

/* What uf_reduction registered. */
typedef struct reduction {
    section map, combine, finish; /* syntax NULL: left out */
    int nstate;
    const dtype
        *state; /* nstate of them for each signature (any types: once); NULL: any types, and found for each call */
} reduction;

/* What calls with certain dtypes on a certain device need; made once, never changed but for the list of codes. */
typedef struct binding_key {
    int32_t engine, device, casting, flags;
    int32_t forced;                /* 1 + index of the signature asked for; 0: none */
    int32_t verb;                  /* binding_verb */
    int32_t ndim;                  /* VERB_FORALL: of the space */
    uint8_t type[UF_MAX_OPERANDS]; /* dtype, with BINDING_NUMBER for numbers; VERB_FORALL: and the rank of arrays */
} binding_key;
enum {
    BINDING_NUMBER = 0x80,
    BINDING_HELD = 0x20, /* with it: the dtype is one that holds the number; see binding_get_for */
    BINDING_RANK = 0x10  /* times the rank less 1: arrays of kernels over indices */
};
/* What a binding serves: dtypes of a fold's binding are those of its own inputs and outputs, not of the function's. */
typedef enum binding_verb {
    VERB_CALL,
    VERB_FOLD, /* uf_reduce, uf_accumulate, uf_reduceat */
    VERB_FORALL
} binding_verb;

typedef struct variant_code {
    struct variant_code *next;
    code_entry *entry;
    variant v;
} variant_code;

typedef struct binding {
    struct binding *next;
    binding_key key;
    dtype types[UF_MAX_OPERANDS]; /* of the signature, or what the kernel infers; folds: its inputs, then outputs */
    const char *source;           /* what stands for the tree or the fold in the key of compiled code */
    const char *layout;           /* and for the layout */
    tree *tree;
    fold *fold; /* VERB_FOLD, else NULL */
    code_traits traits;
    arena arena;
    _Atomic(variant_code *) codes;
} binding;

struct uf_func {
    atomic_int references; /* the user's and one for each plan */
    arena arena;           /* texts, syntax trees, signatures */
    const char *name, *doc, *signatures_text;
    int nin, nout;
    const core_layout *layout; /* NULL where no operand has core dimensions: elementwise, however it was registered */
    const char *layout_text;   /* canonical; NULL: registered without one */
    blas_form blas;
    int nsections;
    section *sections;
    bool any_types;
    signature_list signatures;  /* of all sections, in order */
    int *section_of;            /* per signature */
    const reduction *reduction; /* NULL: it is none, and nsections > 0 */
    section identity;           /* of a reduction or binary function; syntax NULL: there is none */
    fold_order order;           /* of reducing */
    bool widen;                 /* UF_WIDEN */
    unsigned fast, flags;
    int max_registers;
    int64_t max_steps;           /* 0: any number */
    _Atomic(binding *) bindings; /* as the codes of a binding: entries are added at the head, and never change or go */
};

static inline bool is_kernel(const uf_func *f) { return f->flags & UF_KERNEL; }

/* The text of a definition that is being read: what an error is about. */
typedef struct definition_place {
    enum {
        IN_OPTIONS, /* none of the texts */
        IN_NAME,
        IN_LAYOUT,
        IN_BLAS,
        IN_SIGNATURES,
        IN_SOURCE,
        IN_MAP,
        IN_COMBINE,
        IN_FINISH,
        IN_STATE,
        IN_IDENTITY,
        IN_ORDER,
        IN_WIDEN
    } part;
    int section; /* of IN_SIGNATURES and IN_SOURCE */
} definition_place;
/* uf_define, which leaves in *place where it failed. */
uf_status func_define(uf_func **out, const uf_definition *definition, definition_place *place);
/* Names the text of a function that the thread's error is about, as uf_error.source has it; returns status. */
uf_status text_named(uf_status status, const char *owner, definition_place place);
/* The typed tree of a section for the function's inputs and outputs, whose dtypes are set where they are DT_NONE. */
uf_status section_type(const uf_func *f, const section *s, dtype *types, arena *a, tree **out);
void func_keep(const uf_func *f);
void func_drop(const uf_func *f);

/* The BLAS form of a name (blas.c), whose layout must be `l`, up to names. name NULL: BLAS_NONE. Errors: ARGUMENT. */
uf_status blas_read(const char *owner, const char *name, const core_layout *l, blas_form *out);

/* ---- Arguments (args.c) ---- */

/* The arrays and options of a call, checked one by one. Arrays: inputs, outputs, mask. */
typedef struct call_args {
    int nin, nargs, narrays;
    int engine, device;
    void *stream;
    nd_array array[VARIANT_OPERANDS];
    binding_key key;
} call_args;
/* One array by itself: dtype, device, form, address (how: ARGS_LASTING: it may be NULL). argument: as nd_fail takes it. */
uf_status array_check(const DLTensor *t, int argument, unsigned how);
/* The function is there, and no kernel over indices: those have a verb of their own. */
uf_status func_check(const uf_func *f);
/* nargs is the number of inputs and outputs, and args are there. verb: "", or what the function is used for. */
uf_status args_count(const char *verb, const char *name, int nin, int nout, int nargs, const DLTensor *args);
/* func and args are there, nargs is right, and the options are some that the function can have. */
uf_status args_match(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options);
/* Is input k a number rather than an array? layout: the function's, or NULL. */
static inline bool is_number_array(const core_layout *layout, int k, const DLTensor *t) {
    int type = (int)t->device.device_type;
    return t->ndim == 0 && (type == kDLCPU || type == kDLCUDAHost) && !(layout && layout->operands[k].rank);
}
/* Is an argument? (k counts inputs and outputs.) */
static inline bool is_number(const uf_func *f, int k, const DLTensor *t) {
    return k < f->nin && is_number_array(f->layout, k, t);
}
enum {
    ARGS_NO_OUTPUTS =
        1,            /* leaves the outputs unread but for the storage for their shapes (uf_infer); out->nargs is nin */
    ARGS_NO_DATA = 2, /* accepts NULL data */
    /* The call is made later, maybe often: accepts NULL data, and what numbers are decides nothing */
    ARGS_LASTING = 4
};
/* nin inputs, then outputs, of whatever they are arguments of. Of the options it looks at stream, casting, where and flags. data: the
 * addresses of all, and of the mask. */
uf_status args_take(int nin, int nargs, const DLTensor *args, const core_layout *layout, const uf_options *options,
                    unsigned how, call_args *out, void **data);

/* What the arrays seen so far say about the device: the first of each sort. args_take does this for its own; a verb with other
 * arrays as well does it once more, for all of them. */
typedef struct placement {
    int cuda, host, managed, pinned;
    int device, managed_device;
} placement;
enum {
    PLACEMENT_NOBODY = -9
};
extern const placement placement_none;
uf_status place(placement *p, const DLTensor *t, int argument);
/* Engine and device of *a and its key. Errors: DEVICE (host and device memory mixed, without UF_STAGE in flags). */
uf_status place_decide(const placement *p, unsigned flags, call_args *a);

/* ---- Bindings (bind.c) ---- */

/* The index of the signature for the inputs; values: those of the numbers, where they are there, take part. Errors: ARGUMENT (a
 * function of any types has none). */
uf_status choose_signature(const uf_func *f, const call_args *args, const uf_options *options, bool values,
                           int *chosen);
/* The dtypes of the signature for the inputs: types[0 .. nin-1], and the outputs' (types[nin] ..), DT_NONE where the kernel
 * is yet to infer them. *section is the kernel that serves it. */
uf_status choose_types(const uf_func *f, const call_args *args, const uf_options *options, bool values, dtype *types,
                       int *section_index);
/* The binding for the arguments' dtypes: outputs must take the signature's dtypes under the casting rule. */
uf_status binding_find(const uf_func *f, const call_args *args, const uf_options *options, const binding **out);
/* The binding of the key of a call, of which `size` bytes count; if there is none, `fill` makes what is in it beyond key and list.
 * Dtypes alone choose the signature (*values false). Where that has no room for integers
 * among the numbers there is another binding, for the dtypes that hold them, which `fill` makes with *values true. */
uf_status binding_get_for(const uf_func *f, const call_args *args, const binding_key *key, size_t size,
                          uf_status (*fill)(binding *b, void *user), void *user, bool *values, const binding **out);
/* Outputs take the dtypes in types (inputs, then outputs) under the casting rule. */
uf_status results_check(const uf_func *f, const call_args *args, const dtype *types, uf_casting casting);
/* What compiling a variant of a binding takes, but for the target. */
compile_job binding_job(const uf_func *f, const binding *b, const variant *v);
/* The code for a variant of a binding, compiled if need be. */
uf_status binding_code(const uf_func *f, const binding *b, const variant *v, const code **out);
/* Types a kernel on a big stack; out dtypes in types are set. */
uf_status type_kernel(const uf_func *f, int section_index, dtype *types, arena *a, tree **out);

/* ---- Plans: the one way from the arguments of a verb to launches (plan.c, run.c) ---- */

/* Memory on the host for a plan's loops: the words that its owner has as far as they go, then blocks of the heap. */
typedef struct workspace {
    int64_t *words;
    size_t left;
    struct workspace_block *blocks;
} workspace;
/* Uninitialised, 8-byte aligned; NULL when out of memory. */
void *workspace_take(workspace *s, size_t size);
void workspace_free(workspace *s); /* the blocks */

typedef struct plan_verb plan_verb;

/* What a verb is asked for. It is read until the plan is made, and not kept. */
typedef struct plan_request {
    const plan_verb *verb;
    const char *name; /* of the public function, for errors */
    const uf_func *func;
    const uf_options *options;
    unsigned how; /* ARGS_ */
    int nargs;
    const DLTensor *args; /* inputs, then outputs; uf_at has its own */
    /* uf_reduce, uf_accumulate, uf_reduceat */
    int naxes;
    const int *axes;
    bool keepdims;
    const DLTensor *initial; /* NULL: none */
    const DLTensor *starts;  /* uf_reduceat */
    /* uf_at */
    const DLTensor *target, *indices, *operand;
    int nindices;
    /* uf_forall */
    int ndim;
    const int64_t *extents;
} plan_request;

enum {
    /* Addresses that a run takes: inputs and outputs, starts, the mask, initial values; uf_at: target, indices, operand. */
    PLAN_ARGUMENTS = UF_MAX_OPERANDS + 2 + UF_MAX_STATE,
    PLAN_WORDS = 320, /* of a plan's own: loops of 8 operands of rank 8, twice */
    /* Where the address of an operand comes from, if it is none of a run's arguments. */
    SOURCE_SCRATCH = 0xFF,  /* the run's scratch memory */
    SOURCE_BOUNDS = 0xFE,   /* the bounds of segments, which the run has read */
    SOURCE_POSITION = 0xFD, /* no memory: what stands for its address is the position of the loop's first element */
    /* plan_argument.says: initial value i is SAYS_INITIAL + i. */
    SAYS_INITIAL = 100
};

/* One of the addresses that a run takes. */
typedef struct plan_argument {
    uint8_t type; /* dtype in memory */
    bool number;  /* read by the host: it must be there whatever is computed */
    bool full;    /* it has elements */
    int8_t says;  /* what errors call it: its number, ND_MASK, ND_STARTS, or an initial value */
} plan_argument;

/* One launch of a plan. */
typedef struct plan_pass {
    const code *code;
    nd_fold loops; /* `reduced` of reductions alone; else `kept` is the loop */
    int64_t chunk, chunk_stride;
    int64_t shift[VARIANT_OPERANDS];  /* bytes from the source's address to element 0 */
    uint8_t source[VARIANT_OPERANDS]; /* of the operands' addresses: an argument, or SOURCE_ */
    variant v;
} plan_pass;

/* What a plan of a reduction has for itself. */
typedef struct fold_part {
    const fold *fold;
    unsigned flags;      /* of nd_fold_plan */
    nd_fold whole;       /* the loops of the call, where its first pass has others */
    variant asked;       /* and its variant */
    int64_t parts;       /* of each result; 0: one pass does it */
    int64_t extent;      /* uf_reduceat: of the axis */
    int64_t nsegments;   /* uf_reduceat */
    int64_t starts_step; /* uf_reduceat: stride of the starts, in elements */
    bool starts_on_device;
    size_t bounds_at;    /* CUDA: in scratch memory */
    int starts, initial; /* which argument of a run they are; the first one of the initial values */
} fold_part;

/* One index array of uf_at. */
typedef struct at_index {
    dtype type;
    int64_t extent; /* of the target's dimension */
    nd_loop loop;   /* over the array alone, in C order */
    int ndim;
    int64_t *shape;
} at_index;

typedef struct at_part {
    int nindices;
    at_index *index;         /* where they are looked at: on the CPU */
    int64_t lowest, highest; /* elements of the target, counted from its element 0 */
    /* GPU: must each element be one warp's, where the target is not aligned to its elements, and where it is; the one of these
     * that the plan's code was made for. */
    bool owned[2], owns;
} at_part;

/* What a parameter that is an array covers, in bytes from its element 0. */
typedef struct forall_stretch {
    int64_t lowest, end;
    uint8_t unit;  /* 1 + the dimension of stride 1; 0: none */
    uint8_t align; /* log2, at most 4, of what all its strides but that of the unit dimension are multiples of */
} forall_stretch;

/* What follows from the addresses that a kernel over indices runs on. */
typedef struct forall_facts {
    bool noalias; /* an array that is written to overlaps no other parameter */
    uint8_t align[UF_MAX_OPERANDS];
} forall_facts;

typedef struct forall_part {
    int elements;     /* of a thread: as the options ask */
    uint64_t written; /* bit k: parameter k is, atomically or not */
    uint64_t whole;   /* bit k: an atomic function takes elements of parameter k whole, which need not be aligned to
                            their size */
    bool proved;      /* as in the variant */
    int64_t reversed[LAYOUT_MAX_RANK]; /* the space, as the loop has it */
    forall_stretch array[UF_MAX_OPERANDS];
    forall_facts facts; /* that the plan's code was made for */
    int64_t core[2 * LAYOUT_MAX_DIMS];
} forall_part;

/* A call with everything decided but its addresses. A call that is made at once is a plan on the stack that runs once. */
struct uf_plan {
    const plan_verb *verb;
    const uf_func *func;
    const binding *binding;
    int engine, device, threads;
    int block; /* of a launch: as the options ask */
    const volatile int *cancel;
    int nargs; /* addresses that a run takes */
    plan_argument argument[PLAN_ARGUMENTS];
    bool lasts;                /* it may run more than once */
    bool wraps;                /* integers among the numbers that do not fit */
    bool idle;                 /* there is nothing to compute: it is never launched, and its passes may be unfinished */
    const core_layout *layout; /* NULL: none */
    const int64_t *core;       /* the core parameters; NULL where there is no layout */
    const int64_t *indexed;    /* uf_at: extent and stride of each indexed dimension */
    const char *source;        /* of the kernel, for reports that tell lines; else "" */
    int npoints;               /* of one that reports: the loop shape */
    int64_t points[UF_MAX_NDIM];
    int64_t elements;               /* of each result of a reduction */
    size_t scratch_size, launch_at; /* bytes of scratch memory that a run takes; where in it that of a launch begins */
    int npasses;
    plan_pass pass[2];
    union {
        fold_part fold;
        at_part at;
        forall_part forall;
    };
    workspace space;
    int64_t words[PLAN_WORDS];
};

/* One run of a plan. */
typedef struct plan_run {
    const uf_plan *plan;
    void *const *data; /* plan->nargs addresses */
    void *stream;
    const uf_options *options; /* of the one call that it is; NULL: the plan lasts */
    const char *name;          /* of that call's public function */
    char *block;               /* scratch memory */
    int64_t *bounds;           /* of segments, where the starts are on the host */
    workspace space;
} plan_run;

/* What a verb has of its own. Everything else is the same for all: plan_make goes through arguments, bind, lay and settle and
 * compiles; plan_execute goes through check, then addresses, numbers, overlaps, prepare and the passes. NULL: nothing. */
struct plan_verb {
    const char *options; /* what errors call its options */
    /* Reads the arguments, and their addresses in the order of a run's. */
    uf_status (*arguments)(const plan_request *r, call_args *a, void **data);
    /* The binding for their dtypes. */
    uf_status (*bind)(const plan_request *r, call_args *a, const binding **out);
    /* Operands, loops and the variant of the first pass; data: addresses, NULL where they are not known. */
    uf_status (*lay)(uf_plan *p, const plan_request *r, call_args *a, void *const *data);
    /* What depends on compiled code: how many passes there are. */
    uf_status (*settle)(uf_plan *p);
    /* For uf_inspect, in place of `arguments` and `bind`: the binding for inputs of these dtypes (NULL: of the first signature);
     * then arrays as a call could have them, contiguous ones. Of *a engine, device and the head of the key are set. */
    uf_status (*imagine)(uf_plan *p, plan_request *r, const char *types, call_args *a);
    uf_status (*imagine_arrays)(uf_plan *p, call_args *a);
    /* Ranks and extents of the outputs (uf_infer); nothing is written on failure. */
    uf_status (*infer)(const plan_request *r, const call_args *a, const dtype *types, DLTensor *args);
    /* How operands lie in memory: two elements at one address; the elements they reach; how two of them lie together. The
     * addresses are those of elements 0. */
    bool (*self_overlap)(const uf_plan *p, const plan_pass *s, int k);
    void (*bounds)(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest);
    nd_overlap (*compare)(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b, const char *data_b);
    /* Looks at what the host reads: indices, starts. */
    uf_status (*check)(plan_run *run);
    /* In a plan that is idle: looks at numbers all the same. */
    uf_status (*check_idle)(const plan_run *run);
    /* Is the first pass's code that for these addresses? If not: the variant for them. */
    bool (*fits)(const uf_plan *p, void *const *data);
    uf_status (*specialise)(const uf_plan *p, void *const *data, variant *v);
    /* Enqueues what has to come before the first pass. */
    uf_status (*prepare)(const plan_run *run);
    /* Puts an error of a run in the caller's words. */
    uf_status (*named)(const uf_plan *p, uf_status status);
};
extern const plan_verb elementwise_verb, gufunc_verb, reduce_verb, accumulate_verb, reduceat_verb, at_verb, forall_verb;

/* What the rows of elementwise functions and generalized ufuncs share (call.c). */
uf_status call_arguments(const plan_request *r, call_args *a, void **data);
uf_status call_bind(const plan_request *r, call_args *a, const binding **out);
void call_inside(plan_pass *s);                                         /* the elements of the loop are inner calls */
void call_points(uf_plan *p, const nd_array *output);                   /* the shape that reports tell indices of */
uf_status call_finish(uf_plan *p, const call_args *a, uint8_t reports); /* operands and variant, the loop being there */
uf_status call_imagine(uf_plan *p, plan_request *r, const char *types, call_args *a);
/* Inputs of these dtypes (NULL: of the first signature); arrays are left to the caller. */
uf_status inputs_imagine(const uf_func *f, const char *types, call_args *a);

/* The row of uf_call. */
static inline const plan_verb *call_verb(const uf_func *f) { return f->layout ? &gufunc_verb : &elementwise_verb; }

/* What a call of the function reports (variant.reports). unbounded: its kernel has loops that are not proved short. */
static inline uint8_t func_reports_steps(const uf_func *f, bool unbounded, const volatile int *cancel) {
    return (uint8_t)((unbounded && f->max_steps ? REPORTS_STEPS : 0) | (unbounded && cancel ? REPORTS_CANCEL : 0));
}
static inline uint8_t func_reports(const uf_func *f, bool unbounded, const volatile int *cancel) {
    return (uint8_t)((f->flags & UF_DEBUG ? REPORTS_ERRORS : 0) | func_reports_steps(f, unbounded, cancel));
}

/* The greatest rank among the arrays of a call. */
int args_rank(const call_args *a);
bool has_elements(const nd_array *array);
/* Would a call take an output, argument k, of this shape and dtype? Errors: ARGUMENT (elements or bytes beyond 2^63). */
uf_status output_check(int k, dtype type, int ndim, int64_t *shape);

/* Decides everything for a request into *p but its code; data gets the addresses of the arguments. Whatever it returns,
 * plan_end follows. */
uf_status plan_decide(uf_plan *p, const plan_request *r, void **data);
/* The same for arguments that there are not, of which only dtypes are known: first the binding, then all up to the variant of the
 * first pass. */
uf_status plan_imagine(uf_plan *p, plan_request *r, const char *types, call_args *a);
uf_status plan_imagine_arrays(uf_plan *p, const plan_request *r, call_args *a);
/* And compiles. */
uf_status plan_make(uf_plan *p, const plan_request *r, void **data);
void plan_end(uf_plan *p);
/* Makes a plan on the stack, and runs it once. */
uf_status plan_once(const plan_request *r);
/* A verb's first check: there is a place for a plan, which becomes NULL. Errors: ARGUMENT. */
uf_status plan_out(uf_plan **out);
/* Makes a plan that lasts. */
uf_status plan_new(uf_plan **out, const plan_request *r);
/* Runs one. The addresses have been looked at. */
uf_status plan_execute(plan_run *run);
/* Does no more than to look at what the host reads. */
uf_status plan_look(const uf_plan *p, void *const *data);

/* Do integers that do not fit wrap, as those of arrays do? Under a forced signature (NULL: none) and unsafe casting. */
static inline bool numbers_wrap(const char *signature, uf_casting casting) {
    return signature && casting == UF_CAST_UNSAFE;
}
/* ---- For verbs: laying a plan ---- */

/* An argument of a run: its dtype, the array it is (NULL: a number), and what errors call it. */
static inline void plan_argument_set(uf_plan *p, int k, int type, const nd_array *array, int says) {
    p->argument[k] = (plan_argument){.type = (uint8_t)type, .number = !array, .says = (int8_t)says};
    if (p->lasts && array)
        p->argument[k].full = has_elements(array);
}
/* Operand k: its dtypes, and where its address comes from; its kind is the kept loop's. */
static inline void plan_operand(plan_pass *s, int k, int source, int memory, int value) {
    s->source[k] = (uint8_t)source;
    s->shift[k] = 0;
    s->v.operand[k] =
        (variant_operand){.memory = (uint8_t)memory, .value = (uint8_t)value, .kind = s->loops.kept.kind[k]};
}
/* The inputs and outputs of *a, and then the mask, as arguments. */
static inline void plan_arguments_set(uf_plan *p, const call_args *a) {
    for (int k = 0; k < a->nargs; k++)
        plan_argument_set(p, k, a->key.type[k] & ~BINDING_NUMBER, a->array[k].number ? NULL : &a->array[k], k);
    if (a->narrays > a->nargs)
        plan_argument_set(p, a->nargs, DT_BOOL, &a->array[a->nargs], ND_MASK);
    p->nargs = a->narrays;
}
/* An empty variant of a class for so many inputs and outputs. */
static inline void plan_variant(plan_pass *s, loop_class loop, int nin, int nout) {
    memset(&s->v, 0, offsetof(variant, operand));
    s->v.loop = (uint8_t)loop;
    s->v.nin = (uint8_t)nin;
    s->v.nout = (uint8_t)nout;
}
/* Operands 0 .. n-1 for the first n arguments of *a, with the dtypes that `types` has for the kernel. */
static inline void plan_operands(plan_pass *s, const call_args *a, int n, const dtype *types) {
    for (int k = 0; k < n; k++)
        plan_operand(s, k, k, a->array[k].number ? types[k] : a->key.type[k], types[k]);
}
/* No output of the first pass may have two elements at one address. Errors: ARGUMENT. */
uf_status plan_outputs_check(const uf_plan *p);
void *plan_space(uf_plan *p, size_t size); /* workspace_take */
/* A launch of a pass, but for addresses, numbers, stream and scratch memory. */
launch plan_launch(const uf_plan *p, const plan_pass *s);
/* The number at data, argument `source` of a run, as operands of dtype `to` have it. Errors: CAST. */
uf_status plan_number(const uf_plan *p, int source, const void *data, dtype to, uint64_t *words);

/* ---- Reductions (reduction.c: from a definition and dtypes to a fold; fold.c: from arrays to launches) ---- */

/* Reads a reduction, or the identity of a binary function, into f (on a big stack). */
uf_status reduction_add(uf_func *f, const uf_definition *d, definition_place *place);
uf_status identity_add(uf_func *f, const char *source, definition_place *place);
/* Values of the state of reducing with f; 0: it does not reduce. */
int fold_states(const uf_func *f);
/* How many inputs and outputs a reduction with f takes: a binary function 1 and 1, a reduction its own. verb: "uf_reduce".
 * Errors: ARGUMENT (a gufunc, a function of another arity). */
uf_status fold_arity(const uf_func *f, const char *verb, int *nin, int *nout);
/* The binding (VERB_FOLD) for arguments read for that arity: b->fold, b->types, b->size are set. args->nargs == args->nin:
 * outputs are not known yet (inference): types[nin ..] then say which dtypes the results have by themselves. flags: UF_ORDERED
 * and UF_SERIAL in place of the function's own order, UF_FIRST_MATCH. Errors: SIGNATURE, CAST, TYPE, MEMORY. */
uf_status fold_find(const uf_func *f, const call_args *args, uf_casting casting, const char *signature, unsigned flags,
                    const binding **out);

/* ---- Function files (load.c, catalogue.c) ---- */

/* Registers what a function file says. path: what errors call it. Errors: SYNTAX and TYPE in the file, MEMORY. */
uf_status func_load(uf_func **out, const char *path, const char *source, size_t length);
/* The function of a name of the catalogue. Errors: ARGUMENT, MEMORY. */
uf_status catalogue_load(uf_func **out, const char *name);

/* The catalogue: layouts/, by name. Generated by tools/catalogue.sh. */
typedef struct catalogue_entry {
    const char *name;
    const unsigned char *source;
    size_t length;
} catalogue_entry;
extern const catalogue_entry catalogue[];
extern const size_t catalogue_count;

/* ---- Ranges for profilers (ranges.c) ---- */

typedef struct range_tool range_tool;
extern _Atomic(range_tool *) range_listener; /* NULL: nobody listens, which costs a call this one look */

/* Begins a range "verb name" on this thread; func may be NULL. False: nobody listens. */
bool range_push(const char *verb, const uf_func *func);
void range_pop(void);

static inline bool range_begin(const char *verb, const uf_func *func) {
    return atomic_load_explicit(&range_listener, memory_order_relaxed) && range_push(verb, func);
}
static inline void range_end(const bool *is_open) {
    if (*is_open)
        range_pop();
}
/* The rest of the block is a range. The first line of a public function that runs something. */
#define RANGE(verb, func) __attribute__((cleanup(range_end))) const bool range_is_open = range_begin(verb, func)

void ranges_info(text *out); /* a line of uf_system_info */

/* ---- The rest ---- */

/* Compiles what uf_copy runs for arrays of these forms within one device; their addresses are not looked at (copy.c). */
uf_status copy_compile(const DLTensor *dst, const DLTensor *src);
/* A call under UF_STAGE whose arrays are not all on one device (stage.c). */
uf_status stage_call(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options);

#endif
