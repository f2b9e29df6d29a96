/* emit.h - from typed trees to scalar IR functions, and the pieces that kernel shapes are written with. The shapes know
 * loops and memory; this knows expressions, statements, conversions and math. What differs between CPU and NVPTX is in
 * target.c. Typed-pointer, LLVM-7 syntax throughout. */
#ifndef UF_EMIT_H
#define UF_EMIT_H

#include "ir/ir.h"

/* The text of an operand: a constant or a register, without its type. Registers are %1, %2 .. named %r1 %r2 .. */
typedef struct ssa {
    char text[56];
} ssa;

typedef struct emit {
    arena *a;
    text *out; /* the module */
    const code_target *target;
    code_module *module;
    int registers, labels; /* last numbers used; unique in the module */
    map declared;          /* declarations written or to be written at the end */
    text declarations;     /* `declare` lines, helper functions and attributes, appended by emit_finish */
    text used;             /* CPU: entries of @llvm.compiler.used */
    int nused;
    int line;  /* source line for debug locations; 0: none */
    int scope; /* debug scope metadata number, 0: none */
} emit;

/* Module head (triple, data layout) and tail (declarations, attributes, metadata). */
void emit_begin(emit *e, arena *a, code_module *module, const code_target *target, const char *name);
uf_status emit_finish(emit *e);

/* Appends one line, indented, newline added; emit_value prefixes "%rN = " and returns the register. */
void emit_line(emit *e, const char *format, ...) PRINTF(2, 3);
ssa emit_value(emit *e, const char *format, ...) PRINTF(2, 3);
ssa ssa_text(const char *format, ...) PRINTF(1, 2); /* a constant or a named register */
int emit_label_new(emit *e);                        /* a number for label L<n> */
void emit_label(emit *e, int label);                /* writes "L<n>:"; the previous block must have been terminated */
void emit_branch(emit *e, int label);               /* br label %L<n> */
void emit_branch_if(emit *e, ssa condition, int yes, int no);
void emit_declare(emit *e, const char *format, ...) PRINTF(2, 3); /* a `declare` line, once a module */

/* The IR type of a value of a dtype in registers: i1, i8.., i16 for both halves (their bits), float, double,
 * { float, float }; and of what lies in memory: i8 for bool, the value type for the others but complex, which lies as two
 * components ("float"; address arithmetic is in components then). */
const char *ir_value_type(dtype t);
const char *ir_memory_type(dtype t);
/* " addrspace(1)*" on the GPU, "*" on the CPU: what follows a type to make it a pointer to array data. Pointer spelling
 * lives in this function alone. */
const char *ir_global_pointer(const emit *e);

/* A value converted between any two dtypes, with kernel C's total semantics. */
ssa emit_convert(emit *e, ssa value, dtype from, dtype to);
ssa emit_constant(number value, dtype type);

/* Defines the tree's functions as internal, always-inlined; the kernel is @kernel(params) and returns { result types }
 * (a structure even for one result) of the signature's value types. */
void emit_functions(emit *e, const tree *t);
/* Calls @kernel with in[0..nin-1] of value types; out[k] are the results. */
void emit_kernel_call(emit *e, const tree *t, const ssa *in, ssa *out);

/* ---- Memory (access.c) ---- */

/* The address of element `index` (i64 register or constant) of an array whose base is a memory-typed pointer. */
ssa emit_element(emit *e, dtype t, ssa base, ssa index);
/* One element: from memory dtype to its value (bool: i8 != 0), and back. */
ssa emit_load(emit *e, dtype t, ssa pointer);
void emit_store(emit *e, dtype t, ssa value, ssa pointer);
/* n consecutive elements by one access of n * size <= 16 bytes, aligned to that (GPU). */
void emit_load_vector(emit *e, dtype t, ssa pointer, int n, ssa *values);
void emit_store_vector(emit *e, dtype t, const ssa *values, ssa pointer, int n);

#endif
