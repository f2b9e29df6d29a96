/* settled.h - which code for the GPU needs none of libNVVM's passes. */
#ifndef UF_SETTLED_H
#define UF_SETTLED_H

#include "ir/common/emit.h"
#include "type/variant.h"

/* Does numbering (numbering.h) find what libNVVM's passes would, or is what they find besides of no use, as threads wait for memory? What
 * code_module.settled of a whole module is, before emit_finish. Contraction is one of those passes. */
bool code_is_settled(const emit *e, const variant *v);

#endif
