/* numbering.h - value numbering of a GPU's module, as text. */
#ifndef UF_NUMBERING_H
#define UF_NUMBERING_H

#include "base/base.h"

/* Removes from a module's functions what is computed or loaded again: see numbering.c. `settled`: no compiler will look for what is
 * cheaper, so that divisions by constants become multiplications, and constants that are added to an index go to the end of its
 * address. Out of memory: module->failed. */
void number_values(text *module, bool settled);

/* constant_division.c: appends what computes `name` without a division, if the instruction is one of unsigned integers by a constant:
 * "udiv i32 %r1, 24". */
bool write_constant_division(text *out, const char *name, const char *instruction, size_t length);

#endif
