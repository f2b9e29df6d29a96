/* ir.h - LLVM IR, as text, of a typed tree and a variant. A folder for each class of kernels (elementwise, at, gufunc, forall, reduce, scan)
 * has its skeletons for both engines; construct has the loops inside a kernel (forall, sum ..), and common what all of them are
 * written with. tools/layers.awk says which folder sees which. Other layers see this header alone. */
#ifndef UF_IR_H
#define UF_IR_H

#include "engine.h"
#include "lang/fold.h"

/* Writes the elementwise kernel of a variant: sets ir, entry, symbols (in arena a) and math of *module, whose fast, flags and max_registers
 * are read. name is for the entry, comments and debug information. Errors: MEMORY, COMPILE. */
uf_status ir_elementwise(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                         code_module *module);

/* The same for a variant of the class LOOP_GUFUNC, whose tree has a layout. */
uf_status ir_gufunc(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module);

/* How many instructions its kernel has where all loops are unrolled for these sizes of its core dimensions, none above GUFUNC_SIZE_MAX.
 * INT_MAX: more than `most`, or there is a loop that cannot be unrolled; -1: out of memory. The same for each device. */
int ir_unrolled(arena *a, const tree *t, const int64_t *sizes, int most);

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

/* How a GPU can update an element of an array that other threads may update at the same time; for a variant of LOOP_AT whose operands'
 * dtypes are set (at/at.c). */
typedef enum at_way {
    AT_EXACT,    /* by an instruction, with the same result in any order */
    AT_ATOMIC,   /* by instructions, with results that depend on the order */
    AT_EXCHANGE, /* by a loop that compares and swaps the 32 or 64 bits around it */
    AT_OWNED     /* only if each element belongs to one warp: variant.deterministic */
} at_way;
at_way ir_at_way(const tree *t, const variant *v, const code_target *target);
at_counters ir_at_counters(const tree *t, const variant *v, const code_target *target);

/* A generalized ufunc with the trait `windows` as a kernel over indices: the loop's dimensions, outermost first, then the ranges of its
 * forall. Operands are arrays with the loop's dimensions before those of their core, but for numbers. */
typedef struct points_form {
    int loops;                      /* dimensions of the loop */
    uint64_t numbers;               /* operands that are numbers, as bits */
    int64_t range[LAYOUT_MAX_RANK]; /* extents: a dimension of the function's layout, or -1 less a constant */
    const tree *tree;               /* NULL: there would be too many dimensions */
} points_form;
/* Fills range and tree. False: no memory. */
bool ir_points(arena *a, const tree *t, points_form *out);

/* What the engines choose threads by. Errors: MEMORY. */
uf_status ir_traits(const tree *t, code_traits *out);
/* Those of a kernel over indices in whose variant these extents are constants. */
uf_status ir_known_traits(const tree *t, const known_extents *known, code_traits *out);
void ir_fold_traits(const fold *f, code_traits *out);

#endif
