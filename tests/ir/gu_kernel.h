/* gu_kernel.h - generalized ufuncs whose code the programs of this folder look at: directed kernels, their trees, variants and IR. */
#ifndef UF_TEST_GU_KERNEL_H
#define UF_TEST_GU_KERNEL_H

#include "ir/ir.h"

typedef struct gu_kernel {
    const char *name, *layout, *source, *types;
} gu_kernel;
extern const gu_kernel gu_kernels[];
extern const int gu_kernel_count;

extern const code_target gu_gpu, gu_cpu;

/* These fail the test if something is wrong: */
const gu_kernel *gu_kernel_of(const char *name);
tree *gu_tree(arena *a, const gu_kernel *k);
code_module gu_generate(arena *a, const gu_kernel *k, const tree *t, const variant *v, const code_target *target);

/* Arrays in the signature's types, with the last core dimension as the unit. */
variant gu_variant(const tree *t, int coop, int lanes, int vector, int repeat);
/* A kernel whose sizes are constants: all sizes of the layout's dimensions are n. */
variant gu_unrolled(const tree *t, int n);

void gu_describe(const gu_kernel *k, const variant *v); /* on stderr */

#endif
