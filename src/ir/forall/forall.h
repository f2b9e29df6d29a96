/* forall.h - what the files of kernels over indices share. The kernel is that of a generalized ufunc whose arrays are core operands
 * altogether (calls.h), called once for each point of the space. */
#ifndef UF_IR_FORALL_H
#define UF_IR_FORALL_H

#include "ir/gufunc/gufunc.h"

/* Calls @<entry>, which is "kernel", or "points" for the first point of a run; index[d] (i64) of dimension d, 0 the outermost. */
void forall_point(calls *c, const char *entry, const ssa *index);
/* The value of an integer expression of constants, sizes, indices and numbers that nobody assigns, outside of @kernel. */
ssa forall_value(const calls *c, const ssa *index, const node *n);
/* USE_ of each parameter, but for USE_COALESCED; and all that is known of a kernel (uses.c). */
void forall_uses(const tree *t, uint8_t *use);
void forall_traits(const tree *t, code_traits *out);

/* What is done to an operand with USE_COUNTER. */
atomic_op forall_counted(const tree *t, int k);

void cpu_forall(calls *c);
int cpu_forall_words(const calls *c);
void gpu_forall(calls *c);
int gpu_forall_words(const calls *c);

#endif
