/* privatised.h - kernels over indices: operands that are only updated by one atomic operation (variant_operand.privatised). A block of the
 * GPU, or a call of the kernel on the CPU, updates a private copy of the array, in C order without gaps. It sets the copy to the
 * operation's identity at its beginning, and merges it into the array at its end. */
#ifndef UF_IR_PRIVATISED_H
#define UF_IR_PRIVATISED_H

#include "ir/forall/forall.h"

/* The type of the elements of operand k's copy in memory. */
dtype private_type(const forall_writer *w, int k);
/* Notes the copies in the frame, and makes them parameters of @kernel. To be called before functions are written. */
void private_declare(forall_writer *w);
/* ", i32* %r7": the arguments for these parameters; w->private_base must be set. */
void private_arguments(const forall_writer *w, text *out);
/* The number of elements of operand k's copy (i64); the core parameters must have been read. */
ssa private_size(const forall_writer *w, int k);
/* Sets element i (i64) of the copy to the identity; merges it into the array. Both may begin blocks. */
void private_clear(forall_writer *w, int k, ssa i);
void private_merge(forall_writer *w, int k, ssa i);

#endif
