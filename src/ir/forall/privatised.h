/* counters.h - operands of kernels over indices that only count: variant_operand.privatised. A block of the GPU, or a run of the
 * CPU's code, counts in elements of its own, in C order without gaps, which it clears at its beginning and which go to the array
 * at its end. */
#ifndef UF_IR_COUNTERS_H
#define UF_IR_COUNTERS_H

#include "ir/forall/forall.h"

/* Tells the frame of them, and makes them parameters of @kernel. Before the functions are written. */
void private_declare(forall_writer *w);
/* ", i32* %r7": what @kernel is called with, w->counts being set. */
void private_arguments(const forall_writer *w, text *out);
/* The elements of one (i64), the core words being read. */
ssa private_size(const forall_writer *w, int k);
/* Clears element i (i64), and takes it into the array. Begin blocks. */
void private_clear(forall_writer *w, int k, ssa i);
void private_merge(forall_writer *w, int k, ssa i);

#endif
