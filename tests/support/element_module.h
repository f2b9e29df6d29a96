/* element_module.h - a module that calls a kernel, and does nothing else of what the kernel classes do. */
#ifndef UF_ELEMENT_MODULE_H
#define UF_ELEMENT_MODULE_H

#include "ir/common/emit.h"

/* The kernel over elements of contiguous arrays, which are its parameters, then its results. CPU: entry(char **arrays, int64_t n);
 * GPU: entry(arrays ..), one thread an element of one block. fast, flags: those of the definition. The text is the caller's. Aborts if
 * there is no memory. */
code_module element_module(arena *a, const tree *t, const code_target *target, unsigned fast, unsigned flags);

#endif
