/* unrolled.h - kernels whose core sizes are constants (variant.gufunc.unrolled), written without loops. Every iteration of a loop or
 * construct is written by itself, with its variables as constants, so that all that follows from them is known: conditions,
 * extents, and which element of an array an index names. Each element of a local array and of a core operand has a variable of its
 * own, of which compilers make a register. An index that is no constant is found among the elements that it may name by selects.
 *
 * What integer variables hold is known as an interval, which is carried along the control flow: all jumps go forward. A loop whose
 * end cannot be told while it is written cannot be unrolled; then unrolled_refuse ends the writing, which happens where the form
 * is tried (ir_unrolled) and not where code is made. */
#ifndef UF_UNROLLED_H
#define UF_UNROLLED_H

#include "ir/common/internal.h"

/* Prepares the kernel, if it is one that is unrolled. */
void unrolled_begin(body *b);
/* Leaves through the arena's escape with UF_ERR_COMPILE. */
void unrolled_refuse(const body *b);

/* ---- What is known. All of these do nothing, or know nothing, in a kernel that is not unrolled. ---- */

/* An integer or boolean variable (rank 0) has been assigned this value, that of an expression; NULL: it is not told which. */
void unrolled_note(body *b, int variable, ssa value, const node *from);
/* The same for a value that is that of x or of y. */
void unrolled_note_either(body *b, int variable, ssa value, const node *x, const node *y);
/* The value of a variable of any dtype has been loaded. */
void unrolled_loaded(body *b, int variable, ssa value);
/* Is its value known, as a constant or because it has been stored or loaded in this block? */
bool unrolled_knows(const body *b, int variable, ssa *value);
/* There is a jump to a label from here; and this is the label, where what is known is what all jumps to it agree on. */
void unrolled_jump(body *b, int label);
void unrolled_land(body *b, int label);
bool unrolled_arrives(const body *b, int label); /* has there been a jump to the label? */

/* ---- Elements ---- */

/* An element whose indices have been evaluated. */
typedef struct unrolled_place {
    int local;
    ssa index[LAYOUT_MAX_RANK];
    struct {
        int64_t low, high;
    } range[LAYOUT_MAX_RANK]; /* within the array; empty (low > high): the index is out of range */
    bool proved;              /* every index is in range */
} unrolled_place;
unrolled_place *unrolled_find(body *b, const node *element);
/* Out of range it is 0, and a store does nothing. */
ssa unrolled_load(body *b, const unrolled_place *p);
void unrolled_store(body *b, const unrolled_place *p, ssa value, const node *from); /* from: as for unrolled_note */
/* A local array becomes 0. */
void unrolled_clear(body *b, int k);

/* ---- Core operands: their elements, by number in C order ---- */

int unrolled_count(const body *b, int operand);
/* Where inputs are read at the head; where it is done by body_hooks.input, the value is known in this block alone. */
void unrolled_set_input(body *b, int operand, int i, ssa value);
/* Begins an output: the value that element i has at the beginning. */
void unrolled_set_output(body *b, int operand, int i, ssa value);
ssa unrolled_output(body *b, int operand, int i);
/* Are there elements of an output that may be read before they are assigned, or may not be assigned at all? Ask at the end. */
bool unrolled_needs_content(const body *b, int operand);

#endif
