/* ir.h - typed tree + variant -> LLVM IR text. One file a kernel skeletons; emit.h below them. */
#ifndef UF_IR_H
#define UF_IR_H

#include "engine.h"
#include "lang/fold.h"

/* Generates the elementwise kernel of a variant: module->ir, entry, symbols (in arena a), math. name and source are for
 * comments and debug information. fast, flags and max_registers of module are read. Errors: MEMORY, COMPILE. */
uf_status ir_elementwise(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                         code_module *module);

/* The same for a variant of the class LOOP_GUFUNC, whose tree has a layout. */
uf_status ir_gufunc(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module);

/* The kernels of a reduction, of an accumulation (LOOP_FOLD, LOOP_SCAN), and of updates in place by an operator (LOOP_AT). */
uf_status ir_fold(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                  code_module *module);
uf_status ir_scan(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                  code_module *module);
uf_status ir_at(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                code_module *module);

/* A kernel over indices (LOOP_FORALL), whose tree has a layout with indices. */
uf_status ir_forall(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module);

/* How a GPU can apply a kernel to an element of an array that others may be at work on, for a variant of LOOP_AT whose operands
 * have their dtypes (at.c). */
typedef enum at_way {
    AT_EXACT,    /* by an instruction, with the same result in any order */
    AT_ATOMIC,   /* by instructions, with results that depend on the order */
    AT_EXCHANGE, /* by comparing and swapping 32 or 64 bits around it */
    AT_OWNED     /* only if the element is one warp's: variant.deterministic */
} at_way;
at_way ir_at_way(const tree *t, const variant *v, const code_target *target);

/* What the engines choose threads by. */
void ir_traits(const tree *t, code_traits *out);
void ir_fold_traits(const fold *f, code_traits *out);

#endif
