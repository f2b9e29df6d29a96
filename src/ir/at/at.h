/* at.h - what the files of updates in place share: operands, indices, the operator's instruction.
 *
 * The operands of LOOP_AT: the target (input 0, and again as the output), the other input if there is one, and nindices arrays of
 * indices of any integer dtype, whose `value` is int64. The loop goes over the indices and what is left of the target without
 * its indexed dimensions, in C order; the target's strides in it are those of the dimensions that are left.
 *
 * Words after the operands':
 *   CPU   as CPU rows: n, m, strides; then for every index (extent, stride) of its dimension of the target, the stride in
 *         elements; then, unless rows go over a dimension that is not indexed, the address of what becomes 1 if
 *         an index is out of range, where the kernel ends. The engine walks the dimensions from 2 on.
 *   GPU   for every index (extent, stride); then as GPU general. deterministic: a multiple of 32 threads a block, any blocks. */
#ifndef UF_IR_AT_H
#define UF_IR_AT_H

#include "ir/elementwise/elementwise.h"

typedef struct indexed {
    ssa extent[UF_MAX_NDIM], stride[UF_MAX_NDIM]; /* i64 */
    bool counted;                                 /* all indices are known to count from the front */
    ssa outside;                                  /* CPU: the address of CPU_AT_OUTSIDE, if there is one (i64) */
} indexed;

/* Reads the parameters of the indices. */
indexed *indexed_read(skeleton *s);
/* The offset (i64, in elements) of what index arrays at at[k] say; *inside (i1), if wanted: each is in range. */
ssa indexed_offset(skeleton *s, const indexed *x, const ssa *at, ssa *inside);
/* How many operands the target is: its leaves, if it has records. They are inputs 0 .. n-1, and again the outputs. The strides of
 * indexed dimensions are in elements of the first. */
static inline int at_targets(const skeleton *s) { return s->v->nout; }
/* The address of leaf k of the target, whose place in the dimensions that are not indexed is `at`. */
ssa indexed_address(skeleton *s, int k, ssa at, ssa offset);

/* The instruction that is the operator: "add", "sub", "and", "or", "xor", "max", "min", "umax", "umin", or NULL. */
const char *at_instruction(const tree *t, const variant *v);
/* The operator by which the operands of several updates may be combined before they reach the target: so named, or NULL. */
const char *at_operator(const tree *t, const variant *v);

void cpu_at(skeleton *s);
void gpu_at(skeleton *s);

#endif
