/* whole_line.h - CPU: lines of the cache that are written past the caches, by instructions that do not read the line first. The elements of
 * a line are computed into an array by a loop of their own, which becomes one iteration of vectors, and is then removed. */
#ifndef UF_WHOLE_LINE_H
#define UF_WHOLE_LINE_H

#include "ir/common/skeleton.h"

/* The array, made where the function begins: only there does LLVM see that it can be a register. */
ssa whole_line_array(emit *e);
/* Its first element, as a pointer to the dtype in memory. */
ssa whole_line_elements(emit *e, ssa array, dtype type);
enum {
    WHOLE_LINE_HINTS = 3
};
/* Bytes of the pieces that a line of elements of so many bytes is computed and stored by. little: reading and writing is what takes the time. */
int whole_line_piece(const emit *e, int size, bool little);
/* Hints of the loop over the elements, of so many bytes each. */
void whole_line_hints(emit *e, int size, int piece, int hints[WHOLE_LINE_HINTS]);
/* Writes the array to the line that begins at an element of the dtype. */
void whole_line_store(emit *e, ssa array, dtype type, int piece, ssa to);

#endif
