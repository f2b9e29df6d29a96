/* flat.c - one dimension, every operand contiguous or constant: vectors of a thread, and where the arrays are aligned for them. */
#include "gpu/elementwise.h"

enum {
    FLAT_REPEAT_MAX = 4
};

void flat_specialise(variant *v, const loop_problem *s) {
    int vector = elementwise_vector(v), bytes = vector * elementwise_input_bytes(v);
    v->flat.vector = (uint8_t)vector;
    v->flat.vectors_per_thread = (uint8_t)(bytes ? repeat_for(bytes, IN_FLIGHT, FLAT_REPEAT_MAX) : 1);
    elementwise_lighten(s->traits, &v->flat.vector, &v->flat.vectors_per_thread);
}

/* Elements before the first index at which every contiguous operand is aligned for vectors; -1: none, or beyond the end. */
static int64_t find_head(const launch *l) {
    const variant *v = l->v;
    int64_t head = -1;
    for (int k = 0; k < variant_operands(v); k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t size = (uintptr_t)element_size(v, k), width = size * v->flat.vector; /* powers of two */
        uintptr_t before = (0 - (uintptr_t)l->data[k]) & (width - 1);
        int64_t here = (int64_t)(before >> log2_floor(size));
        if (before & (size - 1) || (head >= 0 && head != here))
            return -1;
        head = here;
    }
    return head > l->loop->count ? -1 : head;
}

int64_t flat_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    int64_t n = l->loop->count, head = find_head(l);
    put_parameter(w, GPU_FLAT_ELEMENTS, n);
    put_parameter(w, GPU_FLAT_HEAD, head);
    return elementwise_line(n, (unsigned)l->v->flat.vector * l->v->flat.vectors_per_thread, r, g);
}
