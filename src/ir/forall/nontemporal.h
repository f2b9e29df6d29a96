/* bypass.h - kernels over indices on the CPU: arrays that are written and never read, and are larger than the caches, are written
 * strip by strip into a buffer, which is then copied out by stores that do not read the line first (variant_operand.nontemporal). */
#ifndef UF_BYPASS_H
#define UF_BYPASS_H

#include "ir/forall/forall.h"

/* Does every point that is not left out of a row along index number `last` write operand k once, elements of a row being
 * neighbours, and does nothing else concern it? */
bool nontemporal_fills(const tree *t, int last, int k);
/* Finds the operands, and makes their buffers. */
void nontemporal_begin(forall_writer *w);
/* Is there one? */
bool nontemporal_any(const forall_writer *w);
/* Points first .. limit-1 of a row (i64) by strips, each by `run`. */
void nontemporal_row(forall_writer *w, ssa *index, ssa first, ssa limit,
                     void (*run)(forall_writer *w, ssa *index, ssa first, ssa limit));

#endif
