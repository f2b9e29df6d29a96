/* core.h - from the arguments of a call to an engine's launch.
 *
 * A call goes one way: args_read (devices, dtypes, numbers) -> binding_find (the signature, the typed tree: once per
 * dtypes) -> plan_lay (core dimensions, the loop, the variant) -> binding_code (compiled once per process) -> the engine's
 * launch. */
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
/* Those of uf_accumulate and uf_reduceat, as if they were uf_reduce's. */
uf_status axis_options_read(const uf_options *options, const char *verb, const int *axis, uf_reduce_options *out);

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
    const struct func_kind *kind;
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
/* One array by itself: dtype, device, form, address. argument: as nd_fail takes it. */
uf_status array_check(const DLTensor *t, int argument);
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
        1,           /* leaves the outputs unread but for the storage for their shapes (uf_infer); out->nargs is nin */
    ARGS_NO_DATA = 2 /* accepts NULL data */
};
uf_status args_read(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options, unsigned how,
                    call_args *out);
/* The same for nin inputs and then outputs of whatever they are arguments of. Of the options it looks at stream, casting,
 * where and flags. */
uf_status args_take(int nin, int nargs, const DLTensor *args, const core_layout *layout, const uf_options *options,
                    unsigned how, call_args *out);

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
/* The code for a variant of a binding, compiled if need be. */
uf_status binding_code(const uf_func *f, const binding *b, const variant *v, const code **out);
/* Types a kernel on a big stack; out dtypes in types are set. */
uf_status type_kernel(const uf_func *f, int section_index, dtype *types, arena *a, tree **out);

/* ---- Plans (plan.c) ---- */

struct uf_plan {
    const uf_func *func;
    const binding *binding;
    const code *code;
    int engine, device, threads;
    const volatile int *cancel;
    int nin, narrays;
    nd_loop loop;
    const int64_t *core; /* the core words; NULL where there is no layout */
    variant v;
    uint8_t reports; /* of the variant */
    int npoints;     /* of one that reports: the loop shape */
    int64_t points[UF_MAX_NDIM];
    uint8_t number_type[UF_MAX_OPERANDS]; /* dtype in memory of each number */
    bool wraps;                           /* integers among them that do not fit */
};

/* What differs between elementwise functions, generalized ufuncs (kind.c) and kernels over indices (forall.c): how arrays become
 * a loop, and what an operand reaches beyond it. */
typedef struct func_kind {
    /* Bytes that `lay` needs for arrays of at most this rank, 8-byte aligned. */
    size_t (*space)(const uf_func *f, int ndim, int narrays);
    /* Fills plan->loop and core; where plan->reports the points, and the loop is in C order. */
    uf_status (*lay)(uf_plan *plan, const call_args *a, const uf_options *options, void *space);
    /* Ranks and extents of the outputs; nothing is written on failure. */
    uf_status (*infer)(const uf_func *f, const call_args *a, const uf_options *options, const dtype *types,
                       DLTensor *args);
    bool (*self_overlap)(const uf_plan *plan, int k);
    void (*bounds)(const uf_plan *plan, int k, int64_t *lowest, int64_t *highest);
    nd_overlap (*compare)(const uf_plan *plan, int a, const char *data_a, int b, const char *data_b);
    bool (*has_elements)(const uf_plan *plan, int k);
    /* Runs a plan that lasts. */
    uf_status (*execute)(const uf_plan *plan, void *const *data, void *stream);
} func_kind;
/* forall_kind (forall.c): kernels over indices, whose plans are laid by verbs of their own. */
extern const func_kind elementwise_kind, gufunc_kind, forall_kind;
/* What a call of the function reports (variant.reports). unbounded: its kernel has loops that are not proved short. */
static inline uint8_t func_reports_steps(const uf_func *f, bool unbounded, const volatile int *cancel) {
    return (uint8_t)((unbounded && f->max_steps ? REPORTS_STEPS : 0) | (unbounded && cancel ? REPORTS_CANCEL : 0));
}
static inline uint8_t func_reports(const uf_func *f, bool unbounded, const volatile int *cancel) {
    return (uint8_t)((f->flags & UF_DEBUG ? REPORTS_ERRORS : 0) | func_reports_steps(f, unbounded, cancel));
}

/* The greatest rank among the arrays of a call. */
int args_rank(const call_args *a);
/* Would a call take an output, argument k, of this shape and dtype? Errors: ARGUMENT (elements or bytes beyond 2^63). */
uf_status output_check(int k, dtype type, int ndim, int64_t *shape);

/* The loop of a call and its variant, as far as arrays and dtypes decide them. */
uf_status plan_lay(uf_plan *plan, const uf_func *f, const call_args *a, const uf_options *options, const dtype *types,
                   const code_traits *traits, void *space);
/* Decides everything for a call into *plan; space (plan_space bytes) must live as long. */
uf_status plan_make(uf_plan *plan, const uf_func *f, const call_args *args, const uf_options *options, void *space);
size_t plan_space(const uf_func *f, const call_args *args);
/* Runs it; data[k]: address of element 0 of each array and number. */
uf_status plan_execute(const uf_plan *plan, void *const *data, void *stream);
/* Do integers that do not fit wrap, as those of arrays do? Under a forced signature (NULL: none) and unsafe casting. */
static inline bool numbers_wrap(const char *signature, uf_casting casting) {
    return signature && casting == UF_CAST_UNSAFE;
}
/* A number's bytes in another dtype. Errors: CAST (an integer that does not fit, unless it wraps; said of `what` index). */
uf_status number_convert(const char *what, int index, dtype from, const void *data, dtype to, bool wraps,
                         uint64_t *words);
uf_status argument_convert(int k, dtype from, const void *data, dtype to, bool wraps, uint64_t *words);
/* Copies the stretch of memory that an operand reaches, from its lowest to its highest element as nd_bounds says it, and moves
 * *address there: strides, alignment and so the compiled code stay as they are. *block is the caller's to free, once set, with
 * the engine's scratch_free. */
uf_status stretch_copy(const engine *e, int device, void *stream, int64_t lowest, int64_t highest, int size,
                       char **address, void **block);

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

/* ---- Kernels over indices (forall.c) ---- */

/* The binding and the variant of a call of a parameter list (NULL: the first one) with contiguous arrays, for *a, of which engine,
 * device and the rest of the key are set. Errors: SYNTAX, SIGNATURE (it is not in the list), TYPE, MEMORY. */
uf_status forall_imagine(const uf_func *f, const char *wanted, call_args *a, const binding **out, variant *v);

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

/* A call under UF_STAGE whose arrays are not all on one device (stage.c). */
uf_status stage_call(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options);

#endif
