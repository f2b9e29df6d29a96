/* settled.h - which code for the GPU needs none of libNVVM's passes. */
#ifndef UF_SETTLED_H
#define UF_SETTLED_H

#include "ir/common/emit.h"
#include "type/variant.h"

/* Does numbering (numbering.h) find what libNVVM's passes would, or is what they find besides of no use, as threads wait for memory? What
 * code_module.settled of a whole module is, before emit_finish. Contraction is one of those passes. */
bool code_is_settled(const emit *e, const variant *v);
/* Do the functions of a module, but for its kernel, have so many products of 64 bits by constants that the driver's assembler had better not see
 * them as they are? It computes a chain of them and of sums, as in Horner's scheme, wrongly from some 33 on. */
bool code_multiplies_often(const text *module);

#endif
