/* core.h - what the files of core share: everything from the arguments of a verb to an engine's launch.
 *
 * Every verb goes one way (plan.c). Its arguments are read (args.c: devices, dtypes, numbers). The binding for their
 * dtypes is looked up or made (bind.c: the signature and the typed tree, once for each combination of dtypes).
 * Operands, loops and the variant of each launch are decided, and the code for them is compiled (code.c: once in the
 * process). The result is a plan, which run.c runs: it reads addresses and numbers, finds overlaps, and makes the
 * engine's launches. What a verb has of its own is a row of functions (plan_verb) in its file: call.c, gufunc.c,
 * reduce.c, accumulate.c, reduceat.c, at.c, forall.c. */
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

/* Reads a caller's struct, whose first member is its size in bytes, into ours of `known` bytes, so that programs
 * compiled with an older or a later header work. A shorter struct is filled up with zeros. What a longer one has
 * beyond ours must be zero, since it asks for something that this library does not know. what: its name in errors.
 * from NULL: all members are zero. */
uf_status struct_read(const void *from, void *to, size_t known, const char *what);
/* Writes our struct into the caller's, all but the size: as much as there is room for. What the caller's has beyond
 * ours becomes zero. */
uf_status struct_write(const void *from, size_t known, void *to, const char *what);
/* struct_read for uf_options, which also checks the flags, the casting rule and the number of threads. *out is
 * `options` itself where it can be used as it is; *scratch is only written where it cannot. */
uf_status options_read(const uf_options *options, uf_options *scratch, const uf_options **out);
/* The same for uf_forall, which takes other flags and members. */
uf_status forall_options_read(const uf_options *options, uf_options *scratch, const uf_options **out);
uf_status reduce_options_read(const uf_reduce_options *options, uf_reduce_options *scratch,
                              const uf_reduce_options **out);
/* The same for uf_accumulate and uf_reduceat; verb is the function's name, for errors. */
uf_status axis_options_read(const uf_options *options, const char *verb, unsigned more, uf_options *scratch,
                            const uf_options **out);

/* ---- Compiled code, process-wide (code.c) ---- */

typedef struct code_entry code_entry;

/* What one compilation needs. All of it is the key of the result but `name`, `tree` and `fold`: in the key, `source`
 * and `layout` stand for the last two, together with the dtypes in the variant. */
typedef struct compile_job {
    const char *name, *source;
    const char *layout; /* canonical form; "" for elementwise kernels */
    const tree *tree;
    /* Of reductions and scans, in place of the tree; `source` then has all the texts of the reduction. */
    const fold *fold;
    const variant *v;
    int engine, device;
    code_target target;
    unsigned fast, flags;
    int max_registers;
    int64_t max_steps;
} compile_job;

enum {
    CODE_TOGETHER = BIG_TOGETHER
};
/* The compiled code for up to CODE_TOGETHER jobs, which are compiled at the same time. The first thread that asks compiles
 * one, others wait for it. The entries are held, and so their code stays loaded, until code_drop. Where one fails none is
 * held. Errors: those of the first that fails: COMPILE, LIBRARY, DEVICE, MEMORY. */
uf_status code_get(const compile_job *jobs, int n, code_entry **out);
void code_drop(code_entry *entry);
const code *code_of(const code_entry *entry);

/* The passes of compilation (compile.c): to IR, and on to machine code. uf_inspect shows the result of each. */
uf_status compile_ir(arena *a, const compile_job *job, code_module *module);
uf_status compile_code(const compile_job *job, code **out);

/* ---- Modules, and what texts see (module.c, scope.c) ---- */

/* A text that is being read, and whose wish that is. */
typedef struct text_origin {
    const char *title;              /* as errors call it: a path, or "module interval" */
    const char *path;               /* of its file, beside which others are looked for; NULL: it is in none */
    const struct text_origin *from; /* the text that uses it; NULL: the caller wants it */
    const struct scope *like;       /* what `use` found there it finds here, too; or NULL */
    bool built_in;                  /* it is of the catalogue */
    struct imported **loaded;       /* files that were read for the same caller, by their paths; NULL without a path */
} text_origin;

/* A module or a function that a text uses; the other one is NULL. It is held. */
typedef struct imported {
    struct imported *next;
    const char *name;
    uf_module *module;
    uf_func *func;
} imported;
void imports_free(imported *list);

/* What the texts of one definition see. It must stay where it is, as the syntax trees refer to it. */
typedef struct scope {
    lang_names names;
    arena arena;
    uf_module **modules; /* those of names, held */
    uf_func **functions;
    imported *imports;         /* what the texts use by name */
    const text_origin *origin; /* while they are read */
    char key[DIGEST_TEXT];     /* stands for all of it, with its texts; "": there is nothing */
} scope;
/* Takes what a definition lists. owner: who it is, for errors. from: the file that the texts are in, or NULL. Errors: ARGUMENT,
 * MEMORY; then, too, scope_free releases it. */
uf_status scope_open(scope *x, const char *owner, int nmodules, uf_module *const *modules, int nfunctions,
                     uf_func *const *functions, const text_origin *from);
/* The texts have been read: sets the key. */
uf_status scope_close(scope *x);
void scope_free(scope *x);
/* What stands for a text, and all that it sees, in the key of compiled code: the text itself where it sees nothing. */
uf_status scope_text_key(const scope *x, arena *a, const char *source, const char **out);

uf_status module_make(uf_module **out, const uf_module_definition *d, const text_origin *from);
void module_keep(uf_module *m);
void module_drop(uf_module *m);
const char *module_name(const uf_module *m);
const syntax *module_syntax(const uf_module *m);
const char *module_key(const uf_module *m); /* as scope.key */
/* Where the records are kept whose layouts were asked for (fields.c). */
struct layout_kept;
_Atomic(struct layout_kept *) *module_layouts(const uf_module *m);
void layouts_free(struct layout_kept *list);

/* ---- Functions (func.c) ---- */

typedef struct section {
    const syntax *syntax;
    const char *source;
    const char *key; /* stands for the source in keys: scope_text_key */
    int index;       /* among the sections of its function */
    /* What the kernel is checked against: the function's layout; of a kernel over indices its section's own; or
     * NULL. */
    const core_layout *layout;
    const char *layout_text; /* stands for the layout in keys; "" if there is none */
    /* Of a form: which parameters, and then which named outputs, of the text are records, as lang_check takes it; else NULL. */
    const record *const *records;
} section;

/* What uf_reduction registered. */
typedef struct reduction {
    section map, combine, finish; /* syntax NULL: the text was left out */
    int nvalues;                  /* values of the state in the texts; of a form some may be records */
    int nstate;                   /* scalars of the state */
    /* The dtypes of the state, nstate for each signature. Of a reduction of any types: nstate, if the definition
     * names them, else NULL, and each call finds them. */
    const dtype *state;
} reduction;

/* Identifies what calls with certain dtypes on a certain device need. */
typedef struct binding_key {
    int32_t engine, device, casting, flags;
    int32_t forced; /* 1 + index of the signature asked for; 0: none */
    int32_t verb;   /* binding_verb */
    int32_t ndim;   /* VERB_FORALL: of the space */
    /* The dtype of each argument, with BINDING_NUMBER if it is a number; VERB_FORALL: and with the rank of an array. */
    uint8_t type[UF_MAX_OPERANDS];
} binding_key;
enum {
    BINDING_NUMBER = 0x80,
    /* With BINDING_NUMBER: the dtype is the one that the number's value needs; see binding_get_for. */
    BINDING_HELD = 0x20,
    BINDING_RANK = 0x10 /* VERB_FORALL: times the array's rank less 1 */
};
/* What a binding serves. The dtypes of a fold's binding are those of the fold's inputs and outputs, which for a
 * binary function are one and one, and not those of the function. */
typedef enum binding_verb {
    VERB_CALL,
    VERB_FOLD, /* uf_reduce, uf_accumulate, uf_reduceat */
    VERB_FORALL
} binding_verb;

/* A kernel over indices in whose variant some extents are constants, and what is known of it then. */
typedef struct known_kernel {
    struct known_kernel *next;
    known_extents known;
    code_traits traits;
} known_kernel;

typedef struct variant_code {
    struct variant_code *next;
    code_entry *entry;
    variant v;
} variant_code;

/* What a binding_key leads to. It is made once and then never changes, but that codes are added to its list. */
typedef struct binding {
    struct binding *next;
    binding_key key;
    /* Of inputs and outputs: those of the signature, or what the kernel infers. */
    dtype types[UF_MAX_OPERANDS];
    const char *source; /* stands for the tree or the fold in the key of compiled code */
    const char *layout; /* stands for the layout there */
    tree *tree;
    fold *fold; /* VERB_FOLD, else NULL */
    /* VERB_FOLD of a generalized ufunc, which has neither tree nor fold, but one dtype: the section that serves it. */
    int section;
    code_traits traits;
    arena arena;
    _Atomic(variant_code *) codes;
    /* VERB_CALL of a generalized ufunc: itself as kernels over indices (points.c), bindings of their own, which are freed with it. */
    _Atomic(struct binding *) points;
    points_form form; /* of such a binding */
    /* VERB_FORALL: those that calls have met (extents.c); they are freed with the binding. */
    _Atomic(known_kernel *) known;
    _Atomic(uint64_t) *unrolled; /* VERB_CALL of a generalized ufunc: what sizes_unrolled remembers, in the arena */
} binding;

/* What serves a signature that names records: a function whose operands are their leaves. */
typedef struct record_form {
    struct record_form *next;
    const char *signature, *state_text; /* in canonical spelling; the state's is "" but for reductions */
    int nin, nout, section, nindices;   /* of the function that it is a form of */
    const record **records;             /* by operand of that: NULL for a scalar, which has a dtype */
    const dtype *types;
    const uint8_t *ranks; /* kernels over indices */
    uf_func *func;        /* for calls; of a reduction for folds */
    uf_func *fold;        /* by which uf_reduce and its like combine; NULL: they do not */
    const record **state; /* of fold: by value of the state */
    arena names;          /* of a form made for a call: its records */
} record_form;

/* A hidden function of a generalized ufunc that reduces: of one whose cores have few scalars a reduction over these (cores.c). */
typedef struct core_form {
    struct core_form *next;
    uf_func *func;
    int purpose; /* core_purpose */
    dtype type;  /* of all operands */
    int section;
    int64_t size[LAYOUT_MAX_RANK]; /* of the core dimensions */
} core_form;

/* What a library may compute in place of a function's kernel (uf_definition.blas): one of the two, or neither. */
typedef struct library_form {
    blas_form blas;
    lapack_form lapack;
} library_form;

struct uf_func {
    uint64_t number;      /* no other function or plan of the process has or had it */
    const uf_func *owner; /* of a form: the function that keeps it; else NULL */
    _Atomic(record_form *) forms;
    _Atomic(core_form *) core_forms;
    _Atomic(struct layout_kept *) layouts;
    text spelled;          /* while it is registered: its signatures */
    atomic_int references; /* one for the user, and one for each plan, and each function and module made with it */
    arena arena;           /* texts, syntax trees, signatures */
    scope scope;           /* what its texts see */
    char key[DIGEST_TEXT]; /* stands for what a call of it in another text means */
    const lang_function *callable; /* what texts see of it; NULL: they do not call it */
    const char *name, *doc, *signatures_text;
    int nin, nout;
    /* NULL where no operand has core dimensions: such a function is elementwise, however it was registered. */
    const core_layout *layout;
    const char *layout_text; /* canonical form; NULL: registered without a layout */
    library_form form;
    int nsections;
    section *sections;
    bool any_types;
    signature_list signatures; /* of all sections, in order */
    /* For each signature, the index of the section that serves it. */
    int *section_of;
    /* NULL: the function is no reduction, and nsections > 0 */
    const reduction *reduction;
    /* Of a reduction or a binary function; its syntax is NULL where there is none. */
    section identity;
    fold_order order; /* in which reducing may combine */
    bool built_in;    /* of the catalogue */
    bool widen;       /* UF_WIDEN */
    unsigned fast, flags;
    int max_registers;
    int64_t max_steps;  /* 0: no limit */
    int64_t max_extent; /* of core dimensions; 0: no limit */
    /* Read without a lock, as the codes of a binding: entries are added at the head, and neither change nor go away
     * before the function does. */
    _Atomic(binding *) bindings;
};

/* May its arguments be arrays of records? */
static inline bool func_takes_records(const uf_func *f) {
    return f->any_types || atomic_load(&((uf_func *)(uintptr_t)f)->forms);
}

static inline bool is_kernel(const uf_func *f) { return f->flags & UF_KERNEL; }

/* Which text of a definition is being read: what an error is about. */
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
    int section; /* which one: only for IN_SIGNATURES and IN_SOURCE */
} definition_place;
/* uf_define; *place says where in the definition it failed. from: the file that the definition is in, or NULL. */
uf_status func_define(uf_func **out, const uf_definition *definition, const text_origin *from, definition_place *place);
/* Is the thread's error about this text of the function `owner`, rather than about one of another that it uses? */
bool text_is_own(const char *owner, definition_place place);
uf_status name_check(const char *name);  /* of functions and modules */
const char *func_kind(const uf_func *f); /* "elementwise function", for errors */
static inline const lang_function *func_callable(const uf_func *f) { return f->callable; }
/* Writes into the thread's error which text of the function `owner` it is about (uf_error.source); returns status. */
uf_status text_named(uf_status status, const char *owner, definition_place place);
/* Makes the typed tree of a section for the dtypes of the function's inputs and outputs. Outputs of DT_NONE get the
 * dtype that the kernel gives them. */
uf_status section_type(const uf_func *f, const section *s, dtype *types, arena *a, tree **out);
/* Checks that a section's kernel types for every signature. */
uf_status section_check(const uf_func *f, const section *s, const signature_list *list);
/* Lets all threads find a function of the library's own, until the process ends. Returns it, or the one that another thread has made
 * meanwhile, and frees this one. */
const uf_func *func_publish(_Atomic(uf_func *) *made, uf_func *mine);
uint64_t func_number(void); /* a new one */
void func_keep(const uf_func *f);
void func_drop(const uf_func *f);
void func_destroy(uf_func *f);

/* ---- Forms (form.c makes them; record.c chooses that of a call, and takes arrays of records apart for it) ---- */

/* Writes the dtypes of the leaves of n operands. Returns how many there are; of more than UF_MAX_OPERANDS one more than that. */
int leaves_write(const record *const *records, const dtype *types, int n, dtype *out);
/* Make the form of row s of a list, for a section's kernel, and for the texts of a reduction with the row `state` of its states. */
uf_status kernel_form_make(const uf_func *f, int section_index, const signature_list *list, int s, record_form **out);
uf_status reduction_form_make(const uf_func *f, const signature_list *list, int s, const signature_list *states,
                              int state, definition_place *place, record_form **out);
/* Makes of a form of a function f(r, r) -> r what reductions combine by, once the identity of the function is there. */
uf_status form_fold(const uf_func *f, record_form *x, definition_place *place);
void form_append(uf_func *f, record_form *x);
/* A function that `f` keeps, without operands and texts, and with the settings of f. NULL: out of memory. */
uf_func *hidden_new(const uf_func *f);
/* Sets the only signature of such a function, n dtypes of which the first h->nin are inputs. */
uf_status hidden_sign(uf_func *h, const dtype *types, int n);
uf_status form_keys(const uf_func *f,
                    record_form *x); /* sets the keys of its texts, once those of the function are set */
void forms_free(record_form *list);
/* Adds signature s of a list to what descriptions show. */
uf_status signature_spell(uf_func *f, const signature_list *list, int s);
/* The form of a signature in canonical spelling without blanks; of a function of any types it is made if need be. *out is NULL if the
 * signature is none of the function, or has no records. */
uf_status form_ask(const uf_func *f, const char *signature, record_form **out);
/* The texts of a definition whose records its signatures name. What a name means in the first that knows it, it means in signatures. */
typedef struct record_texts {
    int n;
    const syntax *of[3];
} record_texts;
record_texts reduction_texts(const reduction *r);
record_texts texts_of(const uf_func *f);
/* As lang_record, of several texts; the error is that of the first. */
uf_status texts_record(arena *a, const record_texts *t, const char *name, size_t length, const record **out);
/* Read a list of signatures, or of the types of a state. */
typedef uf_status signature_reader(arena *a, const char *text, const record_lookup *records, signature_list *out);
uf_status lists_read(uf_func *f, const record_texts *t, const char *source, signature_reader *read,
                     signature_list *out);
uf_status states_read(uf_func *f, const record_texts *t, const char *source, int width, signature_list *out);
/* Make the reduction that a form is (reduction.c): of a function of two records, and of a reduction. */
uf_status combine_form(uf_func *h, const uf_func *f, record_form *x, definition_place *place);
uf_status reduction_form(uf_func *h, const uf_func *f, record_form *x, const signature_list *states, int state,
                         definition_place *place);

/* The form of BLAS or LAPACK of a name (blas.c). The function's layout `l` must be that form's, but for the names of dimensions.
 * name NULL: there is none. Errors: ARGUMENT. */
uf_status blas_read(const char *owner, const char *name, const core_layout *l, library_form *out);

/* The form of LAPACK that a function stands for, if the operands of a call have its dtypes (lapack.c). */
lapack_form lapack_form_of(const uf_plan *p);
/* Specialises the plan if its function stands for a form: does the engine's code compute that itself, whatever the kernel's text? */
bool lapack_generated(uf_plan *p);
/* The settle of generalized ufuncs (lapack.c): checks the core sizes against those that the function's kernel takes, and sets p->lapack
 * if a library is to compute the call. Errors: SHAPE (a size that the kernel does not take), LIBRARY (so is it, and the library that
 * would take it is missing). */
uf_status lapack_settle(uf_plan *p);
/* Runs a launch of a plan whose `lapack` is set. */
uf_status lapack_launch(const uf_plan *p, const launch *l);

/* ---- Arguments (args.c) ---- */

/* The arrays and options of a call, checked one by one. The arrays are the inputs, the outputs, then the mask. */
typedef struct call_args {
    int nin, nargs, narrays;
    int engine, device;
    void *stream;
    nd_array array[VARIANT_OPERANDS];
    binding_key key;
} call_args;
/* Checks one array by itself: dtype, device, shape, strides and address, which under ARGS_LASTING in `how` may be
 * NULL. argument: its number for errors, as nd_fail takes it. */
uf_status array_check(const DLTensor *t, int argument, unsigned how);
/* Checks that an output is none of the numbers that UF_SCALAR makes. */
uf_status output_writable(const DLTensor *t, int argument);
/* Checks that the function is there and is no kernel over indices: uf_forall runs those. */
uf_status func_check(const uf_func *f);
/* Checks that nargs is the number of inputs and outputs, and that args is not NULL. verb, for errors: what the
 * function is used for, or "". */
uf_status args_count(const char *verb, const char *name, int nin, int nout, int nargs, const DLTensor *args);
/* Checks that uf_call can run the function, that the number of arguments is right, and that the options fit the
 * function. */
uf_status args_match(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options);
/* Is input k a number rather than an array? It is if it is a 0-d array in host memory whose operand has no core
 * dimensions. layout: the function's, or NULL. */
static inline bool is_number_array(const core_layout *layout, int k, const DLTensor *t) {
    int type = (int)t->device.device_type;
    return t->ndim == 0 && (type == kDLCPU || type == kDLCUDAHost) && !(layout && layout->operands[k].rank);
}
/* The same of argument k, which counts inputs and outputs. */
static inline bool is_number(const uf_func *f, int k, const DLTensor *t) {
    return k < f->nin && is_number_array(f->layout, k, t);
}
enum {
    /* Outputs are not read: only their storage for shapes is checked (uf_infer), and out->nargs becomes nin. */
    ARGS_NO_OUTPUTS = 1,
    ARGS_NO_DATA = 2, /* NULL data is accepted */
    /* The call is made later, perhaps more than once: NULL data is accepted, and the values of numbers decide
     * nothing. */
    ARGS_LASTING = 4,
    ARGS_LANES = 8,   /* array_check: elements may have several lanes, as records do */
    ARGS_ARRAYS = 16, /* no argument is a number: 0-d ones are scalars of cores, which are arrays */
    ARGS_EMPTY = 32 /* no argument, nor initial value, has an element, and so none is read and NULL data is accepted */
};
/* Reads arguments: nin inputs, then outputs. Of the options it looks at stream, casting, where and flags. data gets
 * the addresses of all, then that of the mask. */
uf_status args_take(int nin, int nargs, const DLTensor *args, const core_layout *layout, const uf_options *options,
                    unsigned how, call_args *out, void **data);

/* Where the arrays seen so far are: for each sort of memory the number of the first such argument, or
 * PLACEMENT_NOBODY. args_take keeps one for its own arguments; a verb that has other arrays besides does it once
 * more, for all of them. */
typedef struct placement {
    int cuda, host, managed, pinned;
    int device, managed_device;
} placement;
enum {
    PLACEMENT_NOBODY = -9
};
extern const placement placement_none;
uf_status place(placement *p, const DLTensor *t, int argument);
/* Sets engine and device of *a and of its key. Errors: DEVICE (arrays in host and in device memory, without UF_STAGE
 * in flags). */
uf_status place_decide(const placement *p, unsigned flags, call_args *a);

/* ---- Bindings (bind.c) ---- */

/* Chooses the signature for the inputs; *chosen is its index. values: the values of the numbers, as far as they are
 * there, take part in the choice. Errors: ARGUMENT (a function of any types has no signatures), SIGNATURE. */
uf_status choose_signature(const uf_func *f, const call_args *args, const uf_options *options, bool values,
                           int *chosen);
/* The dtypes that the inputs lead to: types[0 .. nin - 1] of the inputs, types[nin ..] of the outputs, which are
 * DT_NONE where the kernel is yet to infer them. *section_index is the section whose kernel serves them. */
uf_status choose_types(const uf_func *f, const call_args *args, const uf_options *options, bool values, dtype *types,
                       int *section_index);
/* The binding for the dtypes of the arguments. The signature's dtypes must cast to those of the outputs under the
 * casting rule. */
void binding_free(binding *b); /* with its codes, and the bindings that belong to it */
uf_status binding_find(const uf_func *f, const call_args *args, const uf_options *options, const binding **out);
/* The binding of a call's key, of which the first `size` bytes count. If there is none, `fill` makes its content;
 * key and place in the list are set here. The choice of a signature looks at dtypes only (*values is false), so that
 * the key is enough to find it again. Where an integer among the numbers does not fit the dtype so chosen, a second
 * key is used, with the dtypes that hold those numbers, and `fill` runs with *values true. */
uf_status binding_get_for(const uf_func *f, const call_args *args, const binding_key *key, size_t size,
                          uf_status (*fill)(binding *b, void *user), void *user, bool *values, const binding **out);
/* Checks that the dtypes in `types` of the results (after those of the inputs) cast to those of the outputs under
 * the rule. */
uf_status results_check(const uf_func *f, const call_args *args, const dtype *types, uf_casting casting);
/* The job that compiles a variant of a binding; the caller sets its target. */
compile_job binding_job(const uf_func *f, const binding *b, const variant *v);
/* The code for a variant of a binding; NULL: it has not been compiled. */
const code *binding_has(const binding *b, const variant *v);
/* The same, compiled if it is not there yet. */
uf_status binding_code(const uf_func *f, const binding *b, const variant *v, const code **out);
/* The same for up to CODE_TOGETHER variants, which are compiled at the same time. */
uf_status binding_codes(const uf_func *f, const binding *b, const variant *const *v, int n, const code **out);
/* section_type for a section of the function, on a thread with a big stack. */
uf_status type_kernel(const uf_func *f, int section_index, dtype *types, arena *a, tree **out);

/* ---- Plans: the one way from the arguments of a verb to launches (plan.c, run.c) ---- */

/* Memory on the host for a plan's loops: first the words that the owner has, then blocks of the heap. */
typedef struct workspace {
    int64_t *words;
    size_t left;
    struct workspace_block *blocks;
} workspace;
/* The memory is uninitialised and 8-byte aligned. NULL: out of memory. */
void *workspace_take(workspace *s, size_t size);
void workspace_free(workspace *s); /* frees the blocks */

typedef struct plan_verb plan_verb;

/* What a verb is asked to do. It is read while the plan is made, and not kept. */
typedef struct plan_request {
    const plan_verb *verb;
    const char *name; /* of the public function, for errors */
    const uf_func *func;
    const struct expansion *expanded; /* record.c took arrays of records apart; else NULL */
    const struct core *core;          /* cores.c took the arguments apart, or their first scalars; else NULL */
    const uf_options *options;
    unsigned how; /* ARGS_ flags */
    int nargs;
    const DLTensor *args; /* inputs, then outputs; uf_at has arguments of its own below */
    /* Of uf_reduce, uf_accumulate and uf_reduceat. */
    int naxes;
    const int *axes;
    bool keepdims;
    const DLTensor *initial; /* NULL: none */
    const DLTensor *starts;  /* uf_reduceat */
    /* Of uf_at. */
    const DLTensor *target, *indices, *operand;
    int nindices;
    /* Of uf_forall. */
    int ndim;
    const int64_t *extents;
} plan_request;

enum {
    /* The most addresses that a run takes: inputs and outputs, starts, the mask, initial values. Those of uf_at
     * (target, indices, operand) are fewer. */
    PLAN_ARGUMENTS = UF_MAX_OPERANDS + 2 + UF_MAX_STATE,
    /* Words that are part of a plan: enough for the loops of 8 operands of rank 8, twice. */
    PLAN_WORDS = 320,
    /* Where the address of an operand comes from if it is not one of the run's arguments. */
    SOURCE_SCRATCH = 0xFF,
    SOURCE_BOUNDS = 0xFE,   /* the bounds of segments: the starts, or what the run has made of them */
    SOURCE_POSITION = 0xFD, /* no memory: what stands for its address is the position of the loop's first element */
    /* plan_argument.says of initial value i is SAYS_INITIAL + i. */
    SAYS_INITIAL = 100
};

/* One of the addresses that a run takes. */
typedef struct plan_argument {
    uint8_t type; /* the dtype in memory */
    /* The host reads it, so that its address must be there even if nothing is computed. */
    bool number;
    bool full; /* it has elements */
    /* What errors call it: its number, ND_MASK, ND_STARTS, or an initial value. */
    int8_t says;
} plan_argument;

/* One launch of a plan. */
typedef struct plan_pass {
    const code *code; /* NULL: a library computes it */
    /* `kept` is the loop; `reduced`, of reductions and scans alone, is the one within it. */
    nd_fold loops;
    int64_t chunk, chunk_stride;
    int64_t shift[VARIANT_OPERANDS]; /* bytes from the source's address to the operand's element 0 */
    /* Where each operand's address comes from: the number of an argument, or SOURCE_. */
    uint8_t source[VARIANT_OPERANDS];
    variant v;
} plan_pass;

/* What a plan of a reduction or scan has of its own. */
typedef struct fold_part {
    const fold *fold;
    unsigned flags;      /* for nd_fold_plan */
    nd_fold whole;       /* the loops of the call, where the first pass has others: those over parts */
    variant asked;       /* the variant of the call, before it was divided in parts */
    int64_t parts;       /* of each result; 0: they are not divided, and there is one pass */
    int64_t extent;      /* uf_reduceat: of the axis */
    int64_t nsegments;   /* uf_reduceat */
    int64_t starts_step; /* uf_reduceat: stride of the starts, in elements */
    bool starts_on_device;
    bool uneven;      /* uf_reduceat: UF_UNEVEN */
    size_t bounds_at; /* CUDA: where in scratch memory the bounds are */
    /* The number of the run's argument that is the starts, and of the first one that is an initial value. */
    int starts, initial;
} fold_part;

/* One index array of uf_at. */
typedef struct at_index {
    dtype type;
    int64_t extent; /* of the target's dimension that it counts in */
    nd_loop loop;   /* over the array alone, in C order */
    int ndim;
    int64_t *shape;
} at_index;

typedef struct call_chain call_chain;

typedef struct at_part {
    int nindices;
    /* Where the host checks the indices, that is on the CPU. */
    at_index *index;
    /* Between them are the elements of the target, counted from its element 0. */
    int64_t lowest, highest;
    bool dense; /* there are no others between them */
    /* CPU: does the kernel check the indices, and update a copy of the target, since that is small beside them? */
    bool copies;
    /* GPU: must each element of the target be updated by one warp alone? [0]: where the target is not aligned to its
     * elements; [1]: where it is. owns: which of the two answers the plan's code was made for. */
    bool owned[2], owns;
    uint8_t counters; /* what updates are, see loop_problem */
} at_part;

/* What an array parameter covers, in bytes from its element 0. */
typedef struct forall_stretch {
    int64_t lowest, end;
    uint8_t unit; /* 1 + the dimension of stride 1; 0: there is none */
    /* Log2, at most 4, of what all the strides in bytes are multiples of, without that of the unit dimension. */
    uint8_t align;
} forall_stretch;

/* What follows from the addresses that a kernel over indices runs with. */
typedef struct forall_facts {
    bool noalias; /* an array that is written to overlaps no other parameter */
    bool proved;  /* as in the variant */
    uint8_t align[UF_MAX_OPERANDS];
} forall_facts;

/* A call of a generalized ufunc that runs as a kernel over indices (points.c). */
typedef struct plan_points {
    const binding *binding;
    variant v;
    nd_loop loop;
    int64_t reversed[LAYOUT_MAX_RANK], core[2 * LAYOUT_MAX_DIMS];
    forall_stretch array[UF_MAX_OPERANDS];
    uint8_t align[UF_MAX_OPERANDS]; /* that v was made for */
    known_extents known;
    const code_traits *traits;
} plan_points;

typedef struct forall_part {
    int elements;     /* of a thread, as the options ask */
    uint64_t written; /* bit k: parameter k is written to, atomically or not */
    /* Bit k: an atomic function swaps elements of parameter k as one piece, though they need not be aligned to their
     * size (complex numbers). */
    uint64_t whole;
    bool numbers;                      /* what is proved depends on numbers, too, which each run reads */
    known_extents known;               /* as in the variant, */
    const code_traits *traits;         /* with which the kernel has these traits */
    int64_t reversed[LAYOUT_MAX_RANK]; /* the extents of the space, innermost first */
    forall_stretch array[UF_MAX_OPERANDS];
    forall_facts facts; /* that the plan's code was made for */
    int64_t core[2 * LAYOUT_MAX_DIMS];
} forall_part;

/* A call with everything decided but the addresses. A call that is made at once is a plan on the stack, which runs
 * once. */
struct uf_plan {
    uint64_t number; /* as of functions, where it lasts */
    const plan_verb *verb;
    const uf_func *func;
    const struct expansion_map *expanded; /* how the addresses of a run become those of leaves; NULL: they are */
    const binding *binding;
    int engine, device, threads;
    int block; /* threads of a block, as the options ask */
    const volatile int *cancel;
    volatile double *progress; /* where runs say how much is done; NULL: nowhere */
    int nargs;                 /* the number of addresses that a run takes */
    plan_argument argument[PLAN_ARGUMENTS];
    bool lasts; /* it may run more than once */
    /* Integers among the numbers that do not fit their dtype wrap around; see numbers_wrap. */
    bool wraps;
    /* There is nothing to compute: the plan is never launched, and its passes may be unfinished. */
    bool idle;
    const core_layout *layout; /* NULL: the operands have no core dimensions */
    /* The core parameters (type.h): sizes and strides of core dimensions; NULL where there is no layout. */
    const int64_t *core;
    int unrolled;           /* of a generalized ufunc: see sizes_unrolled */
    plan_points *windows;   /* what runs in place of the pass's variant; NULL: that does */
    const int64_t *indexed; /* uf_at: extent and stride of each indexed dimension of the target */
    const char *source;     /* of the kernel, for reports that name lines; else "" */
    /* Of a plan that reports: the rank and shape in which reports give indices. */
    int npoints;
    int64_t points[UF_MAX_NDIM];
    /* Reductions: how many elements a result has. */
    int64_t elements;
    /* Bytes of scratch memory that a run takes, and where in it the part of the launches begins. */
    size_t scratch_size, launch_at;
    int npasses; /* 0: a chain, which is in place of passes */
    call_chain *chain;
    plan_pass pass[2];
    const struct lapack_program *lapack; /* a library computes the call (lapack.c); NULL: the code of the passes does */
    /* Elementwise functions and reductions: the groups of operands that the code of the first pass was made for. */
    nd_member member[VARIANT_OPERANDS];
    /* Generalized ufuncs and reductions: the addresses of operands that the code of the first pass was made for, modulo ACCESS_BYTES. */
    uint8_t misalignment[VARIANT_OPERANDS];
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
    /* Of the call that this run is; NULL: the run is one of a plan that lasts. */
    const uf_options *options;
    const char *name; /* of that call's public function */
    char *block;      /* scratch memory */
    /* Of segments: starts, or what was read from those in host memory. NULL: on a GPU kernels take a copy in scratch memory, .. */
    const int64_t *bounds;
    const int64_t *sent; /* .. which comes from here; NULL: from starts on the device */
    int64_t *parts;      /* fold: those that decide the results (launch.deciding) */
    int64_t *outside;    /* of uf_at, as in launch */
    /* No operand must be copied for an output's sake: known before the run, or seen in it. Calls alone. */
    bool apart;
    workspace space;
} plan_run;

/* What a verb has of its own. Everything else is the same for all verbs: plan_make calls arguments, bind, lay and
 * settle, and compiles; plan_execute calls check, reads addresses and numbers, finds overlaps, calls prepare, and
 * launches the passes. A function that is NULL does nothing. */
struct plan_verb {
    const char *options; /* what errors call its options */
    bool folds;
    /* Checks that the function is one for the verb, and that there are as many arguments as it needs: inputs, then outputs. */
    uf_status (*arity)(const plan_request *r, int *nin, int *nout);
    /* Reads the arguments, and their addresses into data in the order in which a run takes them. */
    uf_status (*arguments)(const plan_request *r, call_args *a, void **data);
    /* Finds the binding for their dtypes. */
    uf_status (*bind)(const plan_request *r, call_args *a, const binding **out);
    /* Decides the operands, the loops and the variant of the first pass. data: the addresses, NULL where they are
     * not known. */
    uf_status (*lay)(uf_plan *p, const plan_request *r, call_args *a, void *const *data);
    /* Decides what depends on the code of the first pass: into how many parts results are divided, and with that the
     * second pass and scratch memory. It is not called in a plan that is idle. */
    uf_status (*settle)(uf_plan *p);
    /* For uf_inspect. `imagine`, in place of `arguments` and `bind`, finds the binding for inputs of the dtypes that
     * `types` names (NULL: of the first signature); of *a, engine, device and the head of the key are set before.
     * `imagine_arrays` then makes up contiguous arrays that a call could have. */
    uf_status (*imagine)(uf_plan *p, plan_request *r, const char *types, call_args *a);
    uf_status (*imagine_arrays)(uf_plan *p, call_args *a);
    /* Sets ranks and extents of the outputs (uf_infer). Nothing is written on failure. */
    uf_status (*infer)(const plan_request *r, const call_args *a, const dtype *types, DLTensor *args);
    /* How operands lie in memory. self_overlap: does operand k have two elements at one address? bounds: its lowest
     * and highest element. compare: how operands a and b overlap. Addresses are those of the operands' elements 0. */
    bool (*self_overlap)(const uf_plan *p, const plan_pass *s, int k);
    void (*bounds)(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest);
    nd_overlap (*compare)(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b, const char *data_b);
    /* Checks, in each run, what the host reads (indices, starts) and whether addresses are aligned as atomic
     * functions need. */
    uf_status (*check)(plan_run *run);
    /* Checks numbers and initial values in a run of a plan that is idle; other runs check them as they convert them. */
    uf_status (*check_idle)(const plan_run *run);
    /* fits: was the first pass's code made for addresses like these? If not, specialise makes the variant for them. */
    bool (*fits)(const uf_plan *p, void *const *data);
    uf_status (*specialise)(const uf_plan *p, void *const *data, variant *v);
    /* Enqueues what must come before the first pass. */
    uf_status (*prepare)(const plan_run *run);
    /* Runs what is in place of passes. */
    uf_status (*run)(plan_run *run);
    /* Keeps in a plan how the addresses of its runs become those of leaves; NULL: as expansion_keep does. */
    uf_status (*keep)(uf_plan *p, const plan_request *r);
    /* Restates an error of a run in terms of the caller's arguments. */
    uf_status (*named)(const uf_plan *p, uf_status status);
};
extern const plan_verb elementwise_verb, gufunc_verb, reduce_verb, forall_verb;

/* Calls `run` with the request, or, if its function has forms and its arguments are arrays of records, with that of a form: its
 * arguments are then the leaves. Outputs that were inferred are handed back, and errors restated (record.c). */
uf_status records_do(const plan_request *r, uf_status (*run)(const plan_request *r, void *user), void *user);
static inline bool records_possible(const plan_request *r) {
    const uf_func *f = r->func;
    return f && r->verb->arity &&
           (atomic_load_explicit(&((uf_func *)(uintptr_t)f)->forms, memory_order_acquire) ||
            (f->any_types && r->options->signature));
}
/* The same with a generalized ufunc that reduces: its arguments are then the scalars of its cores (cores.c). */
uf_status cores_do(const plan_request *r, uf_status (*run)(const plan_request *r, void *user), void *user);
static inline bool cores_possible(const plan_request *r) { return r->verb->folds && r->func && r->func->layout; }
static inline uf_status with_records(const plan_request *r, uf_status (*run)(const plan_request *r, void *user),
                                     void *user) {
    uf_status s = cores_possible(r)     ? cores_do(r, run, user)
                  : records_possible(r) ? records_do(r, run, user)
                                        : run(r, user);
    return s && r->func ? fail_about(s, r->func->name) : s;
}
/* The function whose code uf_inspect shows for the input types that *types names (NULL: the first signature): a form, where it names
 * records, and *types then becomes NULL, or the function itself. */
uf_status form_of_types(const uf_func *f, const char **types, const uf_func **out);
/* Keeps in a plan how the addresses of its runs become those of leaves, and runs a plan that has that. */
uf_status expansion_keep(uf_plan *p, const plan_request *r);
uf_status expanded_run(const uf_plan *p, void *const *data, void *stream);
uf_status plan_run_addresses(const uf_plan *plan, void *const *data, void *stream);

/* What the rows of elementwise functions and generalized ufuncs share (call.c). */
uf_status call_arity(const plan_request *r, int *nin, int *nout);
uf_status call_arguments(const plan_request *r, call_args *a, void **data);
uf_status call_bind(const plan_request *r, call_args *a, const binding **out);
void call_inside(plan_pass *s);                       /* makes the elements of the loop inner calls */
void call_points(uf_plan *p, const nd_array *output); /* sets the shape in which reports give indices */
/* Set the operands and the variant, after the loop, but for what the engine chooses; and that. misalignment: as in loop_problem. */
uf_status call_operands(uf_plan *p, const call_args *a, uint8_t reports);
void call_specialise(const uf_plan *p, const uint8_t *misalignment, variant *v);
/* Prepares the binding of a generalized ufunc for the following. Errors: MEMORY. */
/* Which extents are constants of the variant of a kernel over indices in a space of so many points (extents.c), and the traits that the
 * kernel then has, which live as long as the binding. Errors: MEMORY. */
uf_status extents_know(const binding *b, const int64_t *core, int64_t points, known_extents *known,
                       const code_traits **traits);
void extents_free(binding *b);

/* Kernels over indices (forall.c): how an array with these core parameters lies in memory, and log2 of what its address and strides are
 * multiples of. */
void forall_stretch_find(const layout_operand *o, const int64_t *core, int64_t size, forall_stretch *out);
uint8_t forall_alignment(const forall_stretch *array, const void *data);

/* Decides whether a call of a generalized ufunc runs as a kernel over indices, and sets p->windows; data as in plan_verb.lay. Errors:
 * MEMORY. */
uf_status points_choose(uf_plan *p, void *const *data);
/* For a call that does. */
bool points_fit(const uf_plan *p, void *const *data);
uf_status points_specialise(const uf_plan *p, void *const *data, variant *v);
/* What a pass runs, and in which binding its code is. */
static inline const variant *plan_variant_of(const uf_plan *p, const plan_pass *s) {
    return p->windows ? &p->windows->v : &s->v;
}
static inline const binding *plan_binding_of(const uf_plan *p) { return p->windows ? p->windows->binding : p->binding; }

uf_status sizes_begin(binding *b);
/* How many instructions an inner call has whose loops are unrolled for its core sizes (the core parameters); INT_MAX:
 * very many, or there are loops that cannot be; 0: the sizes are not to be constants at all. few_lines: the engine's. Errors:
 * MEMORY. */
uf_status sizes_unrolled(const binding *b, const core_layout *l, const int64_t *core, int64_t calls, int few_lines,
                         int *lines);
uf_status call_imagine(uf_plan *p, plan_request *r, const char *types, call_args *a);
/* Sets in *a the dtypes of inputs that `types` names (NULL: those of the first signature). The arrays are left to
 * the caller. */
uf_status inputs_imagine(const uf_func *f, const char *types, call_args *a);

/* The row that uf_call takes for a function. */
static inline const plan_verb *call_verb(const uf_func *f) { return f->layout ? &gufunc_verb : &elementwise_verb; }

/* What a call of the function reports (variant.reports). unbounded: its kernel has loops that are not proved short.
 * Only such a kernel counts steps, and looks at the flag that cancels. */
static inline uint8_t func_reports_steps(const uf_func *f, bool unbounded, const volatile int *cancel) {
    return (uint8_t)((unbounded && f->max_steps ? REPORTS_STEPS : 0) | (unbounded && cancel ? REPORTS_CANCEL : 0));
}
static inline uint8_t func_reports(const uf_func *f, bool unbounded, const volatile int *cancel) {
    return (uint8_t)((f->flags & UF_DEBUG ? REPORTS_ERRORS : 0) | func_reports_steps(f, unbounded, cancel));
}

#define CANCEL_STEPS (INT64_C(1) << 36)
/* The same of a call with sizes (its core parameters): loops over them are counted, too, if an element may take more steps than max_steps,
 * or, to see the flag that cancels, more than CANCEL_STEPS; but not where a library may compute what the kernel does. */
static inline uint8_t func_reports_sized(const uf_func *f, const binding *b, const int64_t *sizes,
                                         const volatile int *cancel) {
    int64_t most = f->max_steps ? f->max_steps : INT64_MAX;
    most = cancel && most > CANCEL_STEPS ? CANCEL_STEPS : most;
    bool unbounded = b->traits.unbounded, long_sizes = (f->max_steps || cancel) && b->tree->has_sized &&
                                                       !f->form.blas && !f->form.lapack &&
                                                       lang_outgrows(b->tree, sizes, most);
    return (uint8_t)(func_reports(f, unbounded || long_sizes, cancel) | (long_sizes ? REPORTS_SIZES : 0));
}

/* The greatest rank among the arrays of a call. */
int args_rank(const call_args *a);
bool has_elements(const nd_array *array);
/* Checks the shape and dtype that output k would have. Errors: ARGUMENT (elements or bytes beyond 2^63). */
uf_status output_check(int k, dtype type, int ndim, int64_t *shape);

/* Makes all decisions of a plan, but does not compile. data gets the addresses of the arguments. The caller calls
 * plan_end afterwards, whatever the status is. */
uf_status plan_decide(uf_plan *p, const plan_request *r, void **data);
/* The same for uf_inspect, where only the dtypes of arguments are known: plan_imagine finds the binding, then
 * plan_imagine_arrays decides everything up to the variant of the first pass. */
uf_status plan_imagine(uf_plan *p, plan_request *r, const char *types, call_args *a);
uf_status plan_imagine_arrays(uf_plan *p, const plan_request *r, call_args *a);
/* plan_decide, which then compiles. */
uf_status plan_make(uf_plan *p, const plan_request *r, void **data);
void plan_end(uf_plan *p);
/* Makes a plan on the stack and runs it once, or runs the one that was kept of such a call. */
uf_status plan_once(const plan_request *r);
/* repeat.c: runs a call by the plan that its thread keeps of it. False: there is none. */
bool repeat_run(const plan_request *r, uf_status *status);
/* Repeats the launch that its thread keeps of a run of a plan with these addresses. False: there is none. */
bool repeat_plan(const uf_plan *p, void *const *data);
/* A run was executed: keeps its launch if it was the second one like this in succession. */
void repeat_plan_keep(const plan_run *r);
/* The first check of a function that makes a plan: `out` is not NULL. *out becomes NULL. Errors: ARGUMENT. */
uf_status plan_out(uf_plan **out);
/* The same of a function that makes outputs: one for each of the function's, which become NULL (new.c). */
uf_status outputs_out(DLManagedTensor **out, const uf_func *func);
/* Makes a plan that lasts, on the heap. */
uf_status plan_new(uf_plan **out, const plan_request *r);
/* Runs a plan, whose addresses have been checked. */
uf_status plan_execute(plan_run *run);
/* Keeps the launch of a run that was executed, for runs of the same plan with the same addresses: a repetition of it is all that they do.
 * False: there is more to them. */
bool plan_keep(const plan_run *run, kept_launch *out);
/* Runs its one pass, for plan_verb.run. */
uf_status plan_pass_run(plan_run *run);
/* Makes the checks of a run, and does not launch: what the host reads, and the numbers. */
uf_status plan_look(const uf_plan *p, void *const *data);

/* Does an integer that does not fit its dtype wrap around, as an array's would, rather than being an error? It does
 * under a forced signature (NULL: none) and unsafe casting, since the caller then asked for that dtype. */
static inline bool numbers_wrap(const char *signature, uf_casting casting) {
    return signature && casting == UF_CAST_UNSAFE;
}
/* ---- For verbs: laying a plan ---- */

/* Sets argument k of a run: its dtype, the array that it is (NULL: a number), and what errors call it. */
static inline void plan_argument_set(uf_plan *p, int k, int type, const nd_array *array, int says) {
    p->argument[k] = (plan_argument){.type = (uint8_t)type, .number = !array, .says = (int8_t)says};
    if (p->lasts && array)
        p->argument[k].full = has_elements(array);
}
/* Sets operand k of a pass: its dtypes in memory and in the kernel, and where its address comes from. Its kind is
 * the loop's. */
static inline void plan_operand(plan_pass *s, int k, int source, int memory, int value) {
    s->source[k] = (uint8_t)source;
    s->shift[k] = 0;
    s->v.operand[k] =
        (variant_operand){.memory = (uint8_t)memory, .value = (uint8_t)value, .kind = s->loops.kept.kind[k]};
}
/* Sets the arguments of a run for the inputs and outputs of *a, and then the mask. */
static inline void plan_arguments_set(uf_plan *p, const call_args *a) {
    for (int k = 0; k < a->nargs; k++)
        plan_argument_set(p, k, a->key.type[k] & ~BINDING_NUMBER, a->array[k].number ? NULL : &a->array[k], k);
    if (a->narrays > a->nargs)
        plan_argument_set(p, a->nargs, DT_BOOL, &a->array[a->nargs], ND_MASK);
    p->nargs = a->narrays;
}
/* Sets an empty variant of a class, for so many inputs and outputs. */
static inline void plan_variant(plan_pass *s, loop_class loop, int nin, int nout) {
    memset(&s->v, 0, offsetof(variant, operand));
    s->v.loop = (uint8_t)loop;
    s->v.nin = (uint8_t)nin;
    s->v.nout = (uint8_t)nout;
}
/* Sets operands 0 .. n-1 for the first n arguments of *a. types: their dtypes in the kernel. */
static inline void plan_operands(plan_pass *s, const call_args *a, int n, const dtype *types) {
    for (int k = 0; k < n; k++)
        plan_operand(s, k, k, a->array[k].number ? types[k] : a->key.type[k], types[k]);
}
/* Checks that no output of the first pass has two elements at one address. Errors: ARGUMENT. */
uf_status plan_outputs_check(const uf_plan *p);
void *plan_space(uf_plan *p, size_t size); /* workspace_take */
/* The launch of a pass, without addresses, numbers, stream and scratch memory, which the run adds. */
launch plan_launch(const uf_plan *p, const plan_pass *s);
/* The code of a variant of a pass, compiled if it is new; NULL where the engine's library takes the launch. */
uf_status plan_code(const uf_plan *p, const plan_pass *s, const variant *v, const code **out);
/* Where the operands of a pass lie whose first elements in loop order are at these addresses (data: those of the arguments, NULL where they
 * are not known); and the groups that operands are in put into a variant. */
void plan_places(const plan_pass *s, void *const *data, nd_place *out);
void plan_groups(variant *v, const nd_member *member, int n);
/* Those addresses modulo ACCESS_BYTES, for the engine's choice of a variant; 0 of numbers, and of arrays of which nothing is known, as most
 * are aligned. */
void plan_misalignment(const plan_pass *s, void *const *data, uint8_t *out);
/* Converts the number at data, which is argument `source` of a run, to dtype `to`. Errors: CAST (it does not fit). */
uf_status plan_number(const uf_plan *p, int source, const void *data, dtype to, uint64_t *words);

/* ---- Reductions (reduction.c: from a definition and dtypes to a fold; fold.c: from arrays to launches) ---- */

/* Read the texts of a reduction, or the identity of a binary function, into f. They run on a big stack. */
uf_status reduction_add(uf_func *f, const uf_definition *d, definition_place *place);
uf_status identity_add(uf_func *f, const char *source, definition_place *place);
uf_status reduction_keys(uf_func *f); /* sets the keys of its texts, once all have been read */
/* Reads the identity of a generalized ufunc: a value, or a kernel over the core's indices. */
uf_status core_identity_add(uf_func *f, const char *source, definition_place *place);
/* Makes of h, whose operands are set, the reduction that combines its values by a text, and begins with those of another (NULL: there is
 * no identity). */
uf_status values_form(uf_func *h, const uf_func *f, const char *combine, const char *identity);
/* The number of values in the state of a reduction with f, where each core counts as one; 0: f does not reduce. */
int fold_states(const uf_func *f);
/* Does a generalized ufunc reduce: can all its operands have cores of one shape? */
bool core_folds(const uf_func *f);
void core_forms_free(core_form *list);
/* How many inputs and outputs a reduction with f takes: with a binary function 1 and 1, with a reduction its own.
 * verb: "uf_reduce" or another, for errors. Errors: ARGUMENT (a gufunc, a function of another arity). */
uf_status fold_arity(const uf_func *f, const char *verb, int *nin, int *nout);
/* The binding (VERB_FOLD) for arguments that were read for that arity, with its fold and types. If args->nargs is
 * args->nin, the outputs are not known yet (inference), and types[nin ..] of the binding are the dtypes that the
 * results have by themselves. flags: UF_ORDERED and UF_SERIAL in place of the function's own order, and
 * UF_FIRST_MATCH. Errors: SIGNATURE, CAST, TYPE, MEMORY. */
uf_status fold_find(const uf_func *f, const call_args *args, uf_casting casting, const char *signature, unsigned flags,
                    const binding **out);

/* ---- Function files (load.c, catalogue.c) ---- */

/* Makes the function or module that a file defines. title: what errors call it; path NULL: it is in the catalogue; from: the text that
 * uses it, or NULL. Errors: SYNTAX and TYPE in the file, MEMORY. */
uf_status source_load(imported *out, const char *title, const char *path, const char *source, size_t length,
                      const text_origin *from);
/* The same for a file that is yet to be read. Errors: IO, too. */
/* For errors about a text that was made of another: the offset in a text that a line and column are at; and a message without what
 * fail_source puts around it, "line:column: " before it, and the lines with the text and the caret after it. */
size_t offset_of(const char *s, int line, int column);
char *message_bare(char *message, int line, int column);
uf_status path_load(imported *out, const char *path, const text_origin *from);
bool is_path(const char *what); /* rather than a name of the catalogue */

/* A part of the catalogue: the files of layouts/ or modules/, sorted by name. Generated by tools/catalogue.sh. */
typedef struct catalogue_entry {
    const char *name;
    const unsigned char *source;
    size_t length;
} catalogue_entry;
typedef struct catalogue_list {
    const char *what, *lister; /* what errors call it, and the public function that lists it */
    const catalogue_entry *entries;
    size_t count;
} catalogue_list;
extern const catalogue_list catalogue, catalogue_modules;
const catalogue_entry *catalogue_find(const catalogue_list *list, const char *name); /* NULL: there is none */
const char *catalogue_nearest(const catalogue_list *list, const char *name);         /* NULL: none is alike */
uf_status catalogue_unknown(const catalogue_list *list, const char *name); /* ARGUMENT, with the nearest name */
/* Registers the function of that name in the catalogue. Errors: ARGUMENT, MEMORY. */
uf_status catalogue_load(uf_func **out, const char *name);
/* The module or function that an entry defines, which is made once in the process. */
uf_status catalogue_import(const char *name, const catalogue_entry *entry, bool is_module, const text_origin *from,
                           imported *out);

/* ---- Ranges for profilers (ranges.c) ---- */

typedef struct range_tool range_tool;
/* NULL: no profiler listens, and a call spends one load on finding that out. */
extern _Atomic(range_tool *) range_listener;

/* Begins a range called "verb name" on this thread; func may be NULL. False: no profiler listens. */
bool range_push(const char *verb, const uf_func *func);
void range_pop(void);

static inline bool range_begin(const char *verb, const uf_func *func) {
    return atomic_load_explicit(&range_listener, memory_order_relaxed) && range_push(verb, func);
}
static inline void range_end(const bool *is_open) {
    if (*is_open)
        range_pop();
}
/* Makes the rest of the block a range. It is the first line of a public function that runs something. */
#define RANGE(verb, func) __attribute__((cleanup(range_end), unused)) const bool range_is_open = range_begin(verb, func)

void ranges_info(text *out); /* writes a line of uf_system_info */

/* ---- The rest ---- */

/* Compiles what uf_copy runs for arrays of these shapes, strides and dtypes on one device. Addresses are not looked
 * at (copy.c). */
uf_status copy_compile(const DLTensor *dst, const DLTensor *src);
uf_status copy_function(const uf_func **out); /* the identity function, by which uf_copy copies */
/* Releases the calls of a chain, whose memory is the plan's (chain.c). */
void chain_free(call_chain *c);
/* A call under UF_STAGE: host arrays are copied to the device and back (stage.c). */
uf_status stage_call(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options);

#endif
