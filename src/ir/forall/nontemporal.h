/* nontemporal.h - CPU, kernels over indices: arrays that are written and never read, and are larger than the caches. They go out by
 * non-temporal stores, which do not read the cache line first (variant_operand.nontemporal): strip by strip by way of a buffer; or, where
 * there is one such array of wide elements and no operand must be fetched ahead, line by line (whole_line.h). */
#ifndef UF_NONTEMPORAL_H
#define UF_NONTEMPORAL_H

#include "ir/forall/forall.h"

/* Does every point of a row along index number `last` (but those that guards leave out) write operand k once, its points one element
 * after the other, and is there no other access to it? */
bool nontemporal_fills(const tree *t, int last, int k);
/* Finds the operands, and makes their buffers. */
void nontemporal_begin(forall_writer *w);
/* Is any operand written so? */
bool nontemporal_any(const forall_writer *w);
/* Writes the points first .. limit-1 of a row (i64); `run` does so for some of them, in the array or a buffer. */
void nontemporal_row(forall_writer *w, ssa *index, ssa first, ssa limit,
                     void (*run)(forall_writer *w, ssa *index, ssa first, ssa limit));

#endif
