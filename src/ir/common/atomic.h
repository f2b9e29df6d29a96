/* atomic.h - updates of an element in array memory in one step, which are relaxed: they order nothing but themselves. The pointer
 * is one to ir_memory_type(t), with ir_global_pointer(e); values are of the value type. Complex64 lies at a multiple of 8. */
#ifndef UF_IR_ATOMIC_H
#define UF_IR_ATOMIC_H

#include "ir/common/emit.h"

/* Does the operation, and returns the old value; `expected` is of compare_exchange, which compares bits. Of any dtype that the
 * function takes. May begin blocks. */
ssa emit_atomic(emit *e, atomic_op o, dtype t, ssa pointer, ssa value, ssa expected);
/* Does the GPU add numbers of a floating dtype by an instruction? */
bool atomic_adds(const code_target *target, dtype t);

/* Adds to a 64-bit integer, or subtracts from it, in shared memory, where the GPU adds 32 bits at a time: to the low half, and
 * to the high one what the number has there and what is carried over. Right once nobody adds any more. Begins blocks. */
void emit_add_halves(emit *e, atomic_op o, ssa pointer, ssa value);

/* What an element of a dtype of at most 8 bytes becomes is computed from what it was, as often as it takes. Begins blocks; what
 * `compute` writes must not. Returns the old value. */
ssa emit_exchange(emit *e, dtype t, ssa pointer, ssa (*compute)(emit *e, void *user, ssa old), void *user);

/* The value that a function but the exchanges makes of the old one, without a step in memory; no new blocks. */
ssa atomic_combine(emit *e, atomic_op o, dtype t, ssa old, ssa value);
/* A value that it makes of any other just that other one, and the function that takes in what several such values became. Not for
 * bool. */
ssa atomic_identity(atomic_op o, dtype t);
atomic_op atomic_merge(atomic_op o);

#endif
