/* call_copy.h - CPU: copies between cores of which elements lie side by side along one dimension, or calls do, and arrays in which they do so along
 * another. They are part of the library; generated code calls them. */
#ifndef UF_CALL_COPY_H
#define UF_CALL_COPY_H

#include "ir/gufunc/gufunc.h"

/* What is copied, in elements of `size` bytes, up to 16: `extent` of each of `count` lines, between `array` (i8*), where those of a line lie side
 * by side and lines are `pitch` apart, and `memory` (i8*), where lines lie side by side and their elements are `step` apart. The numbers
 * are i64. */
typedef struct call_copy {
    int size;
    ssa array, memory, extent, step, count, pitch;
} call_copy;

/* The address (i8*) of an element of operand k, so many behind the one at `base`. */
ssa call_copy_place(const gufunc_writer *w, int k, ssa base, ssa index);
/* out: from the array. */
void emit_call_copy(emit *e, const call_copy *c, bool out);
/* The same of fewer lines than `lanes`, which lie side by side in the array, too: into it, lines that there are none of become copies of the last
 * one. Elements have up to 8 bytes. c->pitch is not read. */
void emit_few_calls_copy(emit *e, const call_copy *c, int lanes, bool out);

/* Arrays with all elements of an operand's core in C order, neighbours of which are `apart` elements apart: */

/* Elements (i64) from one along dimension d to the next; d = -1: of all. */
ssa core_array_step(const gufunc_writer *w, const layout_operand *o, int d, int apart);
/* Has `line` written for each line along the last dimension, whose first element is `offset` elements behind a place in memory, and number `element` of the
 * array; those of the core's first element are given. */
void core_array_lines(gufunc_writer *w, const layout_operand *o, int apart, ssa offset, ssa element,
                      void (*line)(const void *user, ssa offset, ssa element), const void *user);

#endif
