/* flat.c - one dimension, every operand contiguous, in contiguous records, or constant: vectors of a thread, and where the arrays are aligned for them. */
#include "gpu/elementwise.h"

enum {
    FLAT_REPEAT_MAX = 4,
    /* Of groups of outputs: from so many accesses of 16 bytes on for a thread's records they are staged, since a thread's own accesses would
     * leave half of each sector of 32 bytes to the next one, and stores, which no cache joins, would be twice as many. */
    STAGED_ACCESSES = 2
};

/* Are the records of this group side by side without gaps in accesses of 16 bytes, of which a thread has several? */
static bool is_staged(const variant *v, int k) {
    int bytes = 0, step = elementwise_step(v, k);
    if (!elementwise_is_output(v, k) || v->operand[k].kind != OPERAND_INTERLEAVED || !step || v->masked)
        return false;
    for (int i = v->nin; i < v->nin + v->nout; i++)
        bytes += v->operand[i].group == k + 1 ? element_size(v, i) : 0;
    return bytes == step && record_width(v->flat.vector, step) == ACCESS_BYTES &&
           v->flat.vector * step >= STAGED_ACCESSES * ACCESS_BYTES;
}

void flat_specialise(variant *v, const loop_problem *s) {
    int vector = elementwise_vector(v), bytes = vector * elementwise_input_bytes(v);
    v->flat.vector = (uint8_t)vector;
    v->flat.vectors_per_thread = (uint8_t)(bytes ? repeat_for(bytes, IN_FLIGHT, FLAT_REPEAT_MAX) : 1);
    elementwise_forget_alignment(v);
    elementwise_lighten(s->traits, &v->flat.vector, &v->flat.vectors_per_thread);
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].staged = is_staged(v, k);
}

/* Bytes of shared memory that a thread needs. */
static unsigned staged_bytes(const variant *v) {
    int most = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].staged && v->flat.vector * elementwise_step(v, k) > most)
            most = v->flat.vector * elementwise_step(v, k);
    return (unsigned)most;
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
    int64_t blocks = elementwise_line(n, (unsigned)l->v->flat.vector * l->v->flat.vectors_per_thread, r, g);
    g->shared = g->threads * staged_bytes(l->v);
    return blocks;
}
