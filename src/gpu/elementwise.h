/* elementwise.h - what the classes flat, rows and general share. */
#ifndef UF_GPU_ELEMENTWISE_H
#define UF_GPU_ELEMENTWISE_H

#include "gpu/class.h"

enum {
    IN_FLIGHT = 32 /* bytes a thread should load before it computes: 48 KiB a multiprocessor and more */
};

/* Do threads of the general class take neighbours in the order of the loop (variant.general.vector)? All outputs lie in that order without gaps,
 * what inputs have for neighbours is near enough, and with a mask all elements may be computed, and are less than a word. */
bool general_has_neighbours(const variant *v, const loop_problem *s);
bool elementwise_is_output(const variant *v, int k);
/* Elements that a thread takes side by side: those in one access of the widest operand that is accessed by vectors; where there are
 * interleaved groups, as many records as make whole accesses. */
int elementwise_vector(const variant *v);
/* Bytes of the inputs of one element that lie side by side with their neighbours'; the mask is one, `fixed` operands are not. */
int elementwise_input_bytes(const variant *v);
/* Operand k is accessed by vectors, for itself and those that follow it: the bytes from an element to the next, and how many bytes the
 * first of `vector` elements must be aligned to; 0 and 1: it is not. */
int elementwise_step(const variant *v, int k);
int elementwise_align(const variant *v, int k, int vector);
/* The alignment of groups is found in each launch, and is not of the variant. */
void elementwise_forget_alignment(variant *v);
/* Makes less of them where the kernel is large. */
void elementwise_lighten(const code_traits *traits, uint8_t *vector, uint8_t *repeat);
/* The grid of n elements in a line, of which a thread takes so many (a power of two): sets the threads of a block and returns the number
 * of blocks. Small loops get smaller blocks, so that every multiprocessor has work. */
int64_t elementwise_line(int64_t n, unsigned elements, const occupancy *r, grid *g);

#endif
