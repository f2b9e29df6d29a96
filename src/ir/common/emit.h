/* emit.h - from typed trees to scalar IR functions. Skeletons (skeleton.h) know loops and memory; this knows expressions,
 * statements, conversions and math. What differs between the CPU and NVPTX is in target.c. The text is in the typed-pointer syntax
 * of LLVM 7, which every compiler that is used reads (docs/code-generation.md, "Spelling of IR").
 *
 * No function here reports an error: running out of memory is remembered, and emit_finish returns it. emit_finish must be called
 * once after emit_begin, whatever happened in between. */
#ifndef UF_EMIT_H
#define UF_EMIT_H

#include "ir/common/ssa.h"
#include "ir/ir.h"

/* A kernel over indices: the private copy of an operand that is only updated atomically (variant_operand.privatised). A block (GPU,
 * in shared memory) or a call of the kernel (CPU, on the stack) updates its copy, and merges it into the array at its end. The
 * copy has all elements of the array, in C order without gaps. */
typedef struct private_copy {
    bool on;    /* the operand has a copy */
    dtype type; /* of its elements in memory: the array's, or uint32 (PRIVATE_TALLY) */
    ssa base;   /* the copy's address as @kernel knows it: a pointer to that type */
} private_copy;

/* What @kernel is called with, where operands have core dimensions (generalized ufuncs, kernels over indices). %p<k> is the value of
 * scalar input k, or the address of core operand k (k counts inputs, then outputs); %s<i> is word i of the core layout, an
 * extent or a stride; behind these comes what tells a thread its place in a cooperative group, or, as %t<d>, which part of dimension d
 * of a call is its own (variant.gufunc.part). */
typedef struct frame {
    const variant *v;
    const core_layout *layout;
    const char *parameters; /* ", i64 %s0, .. ": what follows the operands in the head of the function */
    int strip_lanes;        /* gufunc.strips: of vectors that strips are whole numbers of; 0: they end anywhere */
    bool mapped;            /* over a cooperative group: i64 %rank of %size, i1 %aligned; see construct/cooperative.h */
    /* Kernels over indices: */
    const struct body_hooks *hooks;     /* of its kernel, see internal.h; NULL: none */
    void *user;                         /* of its hooks */
    const uint16_t *operand_uses;       /* code_traits.use */
    const private_copy *private_copies; /* by operand; NULL: none has one */
} frame;

/* Is the size of this core dimension a constant of the variant? Where threads share a call, it is that of a thread's part. */
static inline bool frame_size(const frame *f, int dimension, int64_t *size) {
    bool known = f->v->loop == LOOP_GUFUNC && (f->v->gufunc.unrolled || f->v->gufunc.columns);
    int part = known && dimension < GUFUNC_SIZES ? f->v->gufunc.part[dimension] : 0;
    *size = !known ? 0 : part ? part : f->v->gufunc.size[dimension];
    return known;
}
/* Is the kernel written for strips of calls (ir/gufunc/call_strips.c)? */
static inline bool frame_has_strips(const frame *f) { return f && f->v->loop == LOOP_GUFUNC && f->v->gufunc.strips; }
/* Is this the kernel of calls that threads share? Then it has no branches of its own but those of expressions. */
static inline bool frame_has_parts(const frame *f) {
    return f && f->v->loop == LOOP_GUFUNC && f->v->gufunc.unrolled && core_has_parts(f->v);
}

/* How large a piece of IR is, once the functions that it calls are inlined. */
typedef struct ir_size {
    int lines; /* instructions */
    int loops;
    int variables; /* local variables of the tree that has the most: as vectors, many of them are spilled to the stack */
    int depth;     /* of nested loops */
} ir_size;

typedef struct emit {
    arena *a;
    text *out; /* what is being written: the module, or a definition (internal.h) */
    const code_target *target;
    code_module *module;
    int registers, labels; /* last numbers used; unique in the module */
    map declared;          /* declarations and functions written or to be written at the end */
    text declarations;     /* `declare` lines, helper functions and attributes, appended by emit_finish */
    text used;             /* CPU: entries of @llvm.compiler.used */
    int nused;
    int line;               /* source line for debug locations; 0: none */
    int scope;              /* debug scope metadata number, 0: none */
    int block;              /* label of the block that is being written, for phi */
    const char *entry;      /* the IR name of the kernel of the tree whose functions are being written */
    const function *kernel; /* and that kernel */
    map functions;          /* address of a function of a tree -> its number, from 1 */
    int nfunctions;
    map exact_functions; /* addresses of those functions of trees which the `fast` bits do not enter */
    bool exact;          /* the function that is being written is one of them */
    bool compares;       /* something is compared in the tree that is being written, or in another one of the module */
    bool divides_by_products; /* integers: in floating arithmetic or with a multiplier, see division.c */
    uint64_t uniform;         /* bit k: parameter k of the kernel is the same in all elements of the innermost loop */
    int *calls;               /* in the plain form, by that number: how many nodes of the tree call it */
    int inlined;              /* lines that calls have been given or will be given by inlining */
    map sizes;                /* name of a function of a tree -> its ir_size */
    ir_size written;          /* of the module so far */
    int nesting;              /* loops around the place that is being written, in its function */
    int most_lines;           /* beyond this number emit_bound ends the writing */
    bool half_results;        /* all results of the kernel are halves */
    bool plain;               /* choose the short form where there is a longer and faster one; see skeleton_module */
    map tables;               /* address of a table's elements -> its number, from 1 */
    int ntables;
    map attributes;   /* text -> attribute group */
    int groups;       /* last attribute group */
    map locations;    /* (line, scope) -> metadata number */
    text metadata;    /* numbered metadata */
    int nmetadata;    /* last metadata number */
    int access_group; /* metadata number of the access group that loads and stores get (memory.c); 0: none */
    int invariant; /* metadata number that marks loads of memory which is not written while the kernel runs; 0: none */
    int invariant_node; /* the metadata node for that, once it has been made */
    int byte_range;     /* the one that says that a number is from 0 to 255, once it has been made */
    bool shared;        /* array addresses are in the GPU's shared memory */
    bool crosses;       /* GPU, gufunc.pieces: a construct reads of staged operands what other threads have copied */
    /* CPU: a function of whole vectors was written, or one of libmvec's is called. Loops do well to compute one vector at a time: the former
     * are long, and several vectors would lie on the stack over calls of the latter. The lanes of the shortest of these vectors; 0: none. */
    int vector_lanes;
    /* CPU: tables of bytes are looked up by functions that have forms for vectors; see byte_table.c. */
    bool byte_tables;
    int stack_bytes, scratch_bytes; /* CPU: bytes of the kernel's arrays; see emit_array */
    uint8_t reports;                /* that of the variant */
    int unit;                       /* debug: the file; the compile unit is the next; 0: no debug information */
    text kernels;                   /* GPU: entries of !nvvm.annotations */
    text *writing[3];               /* of the function that is being written, in the arena; NULL: none */
    int symbol_capacity;
    bool failed;        /* out of memory outside of the texts */
    const frame *frame; /* of a generalized ufunc's kernel, else NULL */
} emit;

/* Names the kernel, for debuggers and profilers to tell its variants apart: "uf_", the function's name with what libNVVM does not
 * take in names replaced, the class of the loop and the dtypes in memory of inputs and outputs, one if they are all the same:
 * uf_add_flat_f32, uf_argmax_reduce_f32_i64. A long name of a function is cut. */
void emit_name(code_module *module, const char *name, const variant *v);
/* Module head (triple, data layout) and tail (declarations, attributes, metadata). */
void emit_begin(emit *e, arena *a, code_module *module, const code_target *target, const char *name);
uf_status emit_finish(emit *e);

/* byte_table.c, of an elementwise kernel: for emit.byte_tables. */
bool byte_tables_pay(const emit *e, const tree *t, const variant *v);

/* If more lines than e->most_lines have been written, leaves through the arena's escape with UF_ERR_COMPILE. Call it only where no
 * memory but the arena's is owned, since nothing else is freed: before each statement and expression. */
void emit_bound(const emit *e);
/* Around each loop that is written: they count loops, and how they nest, for the ir_size of the module. */
void emit_loop_begin(emit *e);
void emit_loop_end(emit *e);

/* Appends one line, indented, with a newline; emit_value puts "%rN = " in front and returns that register. */
void emit_line(emit *e, const char *format, ...) PRINTF(2, 3);
ssa emit_value(emit *e, const char *format, ...) PRINTF(2, 3);
int emit_label_new(emit *e);          /* a new label L<n>, not yet placed */
void emit_label(emit *e, int label);  /* writes "L<n>:"; the previous block must have been terminated */
void emit_branch(emit *e, int label); /* br label %L<n> */
void emit_branch_if(emit *e, ssa condition, int yes, int no);
void emit_declare(emit *e, const char *format, ...) PRINTF(2, 3); /* a `declare` line, once a module */
/* CPU: the function of that name, whose parameters and result have the type, is used, whoever calls it: the vectoriser may want it later. */
void emit_used(emit *e, const char *name, const char *type, int arity);
/* The number of the attribute group with this content: "nounwind \"prefer-vector-width\"=\"512\"" -> 1, to be used as #1. */
int emit_attributes(emit *e, const char *format, ...) PRINTF(2, 3);
/* Appends "!N = <text>" to the module's metadata and returns N (from 1). Self-reference: use the number before the last
 * call's plus one, e->nmetadata + 1. */
int emit_metadata(emit *e, const char *format, ...) PRINTF(2, 3);
/* CPU: makes an external name known to the linker; once a name. */
void emit_symbol(emit *e, const char *name, const void *address);

/* Debug information. Begins the scope of a function named so in tools, and returns what its `define` line needs before "{":
 * " !dbg !N", or "" without debug information. Lines written from then on have the location e->line in it. */
fragment emit_scope(emit *e, const char *name, int line);
void emit_scope_end(emit *e);

/* GPU: marks @<module->entry> as a kernel. function_type is its type without the pointer, "void (i64, i64)"; max_threads the
 * largest block it is launched with, 0: any; resident how many of these should fit a multiprocessor, which bounds the registers of a
 * thread, 0: any; module->max_registers is obeyed. Does nothing on the CPU. */
void emit_kernel_annotation(emit *e, const char *function_type, int max_threads, int resident, int cluster);

/* The IR type of a value of a dtype in registers: i1, i8.., i16 for both halves (their bits), float, double,
 * { float, float }; and of what lies in memory: i8 for bool, the value type for the others but complex, which lies as two
 * components ("float"; address arithmetic is in components then). */
const char *ir_value_type(dtype t);
const char *ir_memory_type(dtype t);
/* " addrspace(1)*" on the GPU, "*" on the CPU: what follows a type to make it a pointer to array data. Pointer spelling
 * lives in this function alone. */
const char *ir_global_pointer(const emit *e);

/* A value converted between any two dtypes, with kernel C's total semantics. No new blocks: usable anywhere. */
ssa emit_convert(emit *e, ssa value, dtype from, dtype to);
/* The same of n values that become neighbours in memory, in place: by pairs where the GPU has instructions for these. */
void emit_convert_all(emit *e, ssa *values, int n, dtype from, dtype to);
ssa emit_constant(number value, dtype type);

/* Operators with kernel C's total semantics; no new blocks. type is that of the operands (of a for shifts, where count_type
 * is that of b); comparisons give bool. Complex: + - == != and unary -. */
ssa emit_binary(emit *e, op o, dtype type, ssa a, ssa b, dtype count_type);
ssa emit_unary(emit *e, op o, dtype type, ssa a);
/* condition ? yes : no, both evaluated. */
ssa emit_select(emit *e, dtype type, ssa condition, ssa yes, ssa no);
/* The same by the instruction's own name and type: emit_op(e, "add i64", a, b) writes "add i64 a, b". */
ssa emit_op(emit *e, const char *operation, ssa a, ssa b);
ssa emit_select_as(emit *e, const char *type, ssa condition, ssa yes, ssa no);
ssa emit_min(emit *e, ssa a, ssa b); /* i64, signed */
ssa emit_widen(emit *e, ssa i);      /* i32, not negative, to i64 */
/* A math function of arguments of types as the row's rule says, computed in `wide`. No new blocks. */
ssa emit_math(emit *e, const math_row *row, dtype wide, const ssa *args);
/* CPU: do loops of it become vectors, by instructions or a routine of libmvec's? */
bool emit_math_has_vectors(const emit *e, const math_row *row, dtype wide);
/* A complex value from its parts, and back. */
ssa emit_complex(emit *e, dtype type, ssa re, ssa im);
ssa emit_part(emit *e, dtype type, ssa value, int part);

/* Defines the tree's functions as internal, always-inlined (in the plain form: where they are short); the kernel is
 * @<entry>(params) and returns { result types } (a structure even for one result) of the signature's value types. entry: static
 * text; "kernel" where there is one tree. */
void emit_functions(emit *e, const tree *t, const char *entry);
enum {
    SIMPLE_LINES = 32 /* a sum has 11, a maximum 30; positions, variances and logarithms of sums 100 and more */
};

/* Has this function of a tree, once it is inlined, so few lines, and no loops? Of SIMPLE_LINES code may have it in many places. */
bool emit_is_short(const emit *e, const char *name, int lines);
/* Calls a function of the tree by its name. result: its type; arguments: "float %r1, i32 4"; more: others behind these, each
 * with ", " in front. NULL is "". */
ssa emit_invoke(emit *e, const char *result, const char *name, const char *arguments, const char *more);
/* Calls @<entry> with in[0..nin-1] of value types; out[k] are the results. In a variant that reports (report.h) it returns whether
 * the call ended its element (i1), and the results are then 0; else it returns no value. */
ssa emit_kernel_call(emit *e, const tree *t, const char *entry, const ssa *in, ssa *out);

/* ---- Memory (memory.c): arrays of the caller, and local ones ---- */

/* The address of element `index` (i64 register or constant) of an array whose base is a memory-typed pointer. */
ssa emit_element(emit *e, dtype t, ssa base, ssa index);
/* CPU: the same where the base or that address is beyond the array. */
ssa emit_element_beyond(emit *e, dtype t, ssa base, ssa index);
/* CPU: a local array of the kernel, aligned to 64 bytes: the address of its element 0. To be called before the first branch of the
 * kernel. Beyond a few KiB in all, arrays lie in the thread's scratch memory (thread_scratch in base.h), because calls must run on
 * 64 KiB of stack. */
ssa emit_array(emit *e, dtype t, int count);
/* Bytes at an address (i8*) become 0. */
void emit_clear(emit *e, ssa at, int64_t bytes);
/* CPU: the address (i8*) of that byte of the thread's scratch memory, a multiple of 64. */
ssa emit_scratch(emit *e, int offset);
/* One element: from memory dtype to its value (bool: i8 != 0), and back. */
ssa emit_load(emit *e, dtype t, ssa pointer);
void emit_store(emit *e, dtype t, ssa value, ssa pointer);
/* n consecutive elements by one access of n * size <= 16 bytes, aligned to that (GPU). */
void emit_load_vector(emit *e, dtype t, ssa pointer, int n, ssa *values);
void emit_store_vector(emit *e, dtype t, const ssa *values, ssa pointer, int n);
/* One value to n elements of an LLVM type, by one store. */
void emit_fill(emit *e, const char *type, ssa value, ssa pointer, int n, int align);
/* The same elements at any multiple of their size, of n * size bytes in whole words, at most 16 (shifted.c, GPU). What is read beside
 * them lies in the same aligned n * size bytes as one of them. alike: an address that differs from theirs by whole vectors; where that
 * is the same for many, what depends on it is computed once. */
void emit_load_shifted(emit *e, dtype t, ssa pointer, ssa alike, int n, ssa *values);
/* How many vectors of gufunc.vector elements (i64) are taken of a row that has `count` elements from the first of them on: the whole ones.
 * Where an input is shifted, what is read beside a vector of it must lie in the row, too. */
ssa emit_whole_vectors(emit *e, ssa count);

/* ---- Records (interleaved.c): fields of neighbouring records, by accesses that are wider than a field (GPU) ---- */

typedef struct interleaved_field {
    dtype type;
    int offset; /* bytes from the record's address, a multiple of the size of the dtype's component */
} interleaved_field;

typedef struct interleaved {
    int count; /* records */
    int step;  /* bytes from one to the next */
    int width; /* bytes of the widest access, a power of two of at most ACCESS_BYTES: the first record is aligned to it */
    int nfields;
    interleaved_field field[UF_MAX_OPERANDS];
} interleaved;

/* The address of what lies `offset` bytes behind a pointer to memory of dtype `from`, as a pointer to memory of dtype `to`. */
ssa emit_field(emit *e, dtype from, ssa pointer, int offset, dtype to);
/* values[field * count + i] is that field of record i; pointer: to the first record, typed as memory of dtype t. What lies behind the
 * last field of the last record is not read, and what no field covers is not written. */
void emit_load_interleaved(emit *e, const interleaved *r, dtype t, ssa pointer, ssa *values);
void emit_store_interleaved(emit *e, const interleaved *r, dtype t, ssa pointer, const ssa *values);

#endif
