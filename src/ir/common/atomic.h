/* atomic.h - atomic updates of an element in array memory. They are relaxed: other accesses are not ordered by them. The pointer is
 * one to ir_memory_type(t), with ir_global_pointer(e); values are of the value type. A complex64 must be aligned to 8 bytes. */
#ifndef UF_IR_ATOMIC_H
#define UF_IR_ATOMIC_H

#include "ir/common/emit.h"

/* Does the operation, and returns the old value. `expected` is for compare_exchange alone, which compares bits. t is any dtype
 * that the kernel C function takes. May begin blocks. */
ssa emit_atomic(emit *e, atomic_op o, dtype t, ssa pointer, ssa value, ssa expected);
/* Does the GPU add numbers of a floating dtype by an instruction? */
bool atomic_adds(const code_target *target, dtype t);

/* Adds to a 64-bit integer in shared memory, or subtracts from it, by two atomic additions of 32 bits, which are faster there than
 * one of 64: to the low half, and then to the high half with the carry. Between the two the number is wrong, so that it may be read
 * only after a barrier behind all updates. Begins blocks. */
void emit_add_halves(emit *e, atomic_op o, ssa pointer, ssa value);

/* Replaces an element, of a dtype of at most 8 bytes, by what `compute` makes of the old value: compares and swaps, and computes again
 * as long as another thread has changed the element meanwhile. Begins blocks; what `compute` writes must not. Returns the old value. */
ssa emit_exchange(emit *e, dtype t, ssa pointer, ssa (*compute)(emit *e, void *user, ssa old), void *user);

/* A scalar of a record that lies in one word. */
typedef struct packed_leaf {
    dtype type;
    int offset; /* bytes from the record's beginning */
} packed_leaf;
/* The same for a record of 4 or 8 bytes, aligned to as many, whose first leaf is at `pointer`: `compute` makes new leaves of the old
 * ones. Bytes between the leaves stay as they are. GPU. */
void emit_exchange_record(emit *e, int bytes, int n, const packed_leaf *leaves, ssa pointer,
                          void (*compute)(emit *e, void *user, const ssa *old, ssa *new), void *user);

/* What an operation makes of the old value and the operand, without access to memory; not for the exchanges. No new blocks. */
ssa atomic_combine(emit *e, atomic_op o, dtype t, ssa old, ssa value);
/* The identity of an operation: a value which, combined with any other, gives the other one. And the operation that combines what
 * two copies, which began with the identity, have become. Not for bool. */
ssa atomic_identity(atomic_op o, dtype t);
atomic_op atomic_merge(atomic_op o);

#endif
