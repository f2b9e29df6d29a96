/* flat.c - one dimension, every operand contiguous, in contiguous records, or constant: vectors of a thread, and where the arrays are aligned for them. */
#include "gpu/elementwise.h"

enum {
    FLAT_REPEAT_MAX = 4
};

void flat_specialise(variant *v, const loop_problem *s) {
    int vector = elementwise_vector(v), bytes = vector * elementwise_input_bytes(v);
    v->flat.vector = (uint8_t)vector;
    v->flat.vectors_per_thread = (uint8_t)(bytes ? repeat_for(bytes, IN_FLIGHT, FLAT_REPEAT_MAX) : 1);
    elementwise_forget_alignment(v);
    elementwise_lighten(s->traits, &v->flat.vector, &v->flat.vectors_per_thread);
}

/* Is every operand aligned for vectors from element `first` on? */
static bool is_aligned(const launch *l, int first) {
    const variant *v = l->v;
    uintptr_t misaligned = 0;
    for (int k = 0; k < variant_operands(v); k++)
        misaligned |= ((uintptr_t)l->data[k] + (uintptr_t)(first * elementwise_step(v, k))) &
                      ((uintptr_t)elementwise_align(v, k, v->flat.vector) - 1);
    return !misaligned;
}

/* Elements before the first index at which every operand is aligned for vectors; -1: none, or beyond the end. */
static int64_t find_head(const launch *l) {
    for (int head = 0; head < l->v->flat.vector && head <= l->loop->count; head++)
        if (is_aligned(l, head))
            return head;
    return -1;
}

int64_t flat_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    int64_t n = l->loop->count, head = find_head(l);
    put_parameter(w, GPU_FLAT_ELEMENTS, n);
    put_parameter(w, GPU_FLAT_HEAD, head);
    return elementwise_line(n, (unsigned)l->v->flat.vector * l->v->flat.vectors_per_thread, r, g);
}
