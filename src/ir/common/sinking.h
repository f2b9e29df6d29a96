/* sinking.h - a GPU's module, as text: what is computed long before it is used. */
#ifndef UF_SINKING_H
#define UF_SINKING_H

#include "base/base.h"

/* Moves instructions of a module's functions to the block that uses them: see sinking.c. Out of memory: module->failed. */
void sink_values(text *module);

#endif
