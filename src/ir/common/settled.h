/* settled.h - which code for the GPU needs none of libNVVM's passes. */
#ifndef UF_SETTLED_H
#define UF_SETTLED_H

#include "ir/common/emit.h"
#include "type/variant.h"

/* Does numbering (numbering.h) find what libNVVM's passes would, or is what they find besides of no use, as threads wait for memory? Asked of
 * what has been written of a whole module, before emit_finish forgets it. Contraction is one of those passes. */
bool code_is_settled(const emit *e, const variant *v);
/* Of a module whose values are numbered: has it, once its functions are inlined, chains of so many products of 64 bits by constants, one of the
 * other, with sums between them, that the driver's assembler had better not see them as they are? It computes them wrongly from some 33 on. Also
 * true if there is no memory to tell. */
bool code_multiplies_often(const text *module);

#endif
