/* elementwise.c - what the classes flat, rows and general share: the width of accesses, how much a thread takes, and grids of a line of
 * elements. */
#include "gpu/elementwise.h"

bool elementwise_is_output(const variant *v, int k) { return k >= v->nin && k < v->nin + v->nout; }

/* Elements in one access of the widest operand that is accessed by vectors. */
int elementwise_vector(const variant *v) {
    int largest = 1;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > largest)
            largest = element_size(v, k);
    return ACCESS_BYTES / largest;
}

/* Bytes of the contiguous inputs of one element; the mask is one, `fixed` operands are not. */
int elementwise_input_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (!elementwise_is_output(v, k) && v->operand[k].kind == OPERAND_CONTIGUOUS && !v->operand[k].fixed)
            bytes += element_size(v, k);
    return bytes;
}

/* Large bodies are not multiplied: they are bound by computation, and cost registers and compile time. */
void elementwise_lighten(const code_traits *traits, uint8_t *vector, uint8_t *repeat) {
    int most = traits->has_loop ? 1 : BODY_NODES_MAX / (traits->nodes > 0 ? traits->nodes : 1);
    while (*repeat > 1 && *vector * *repeat > most)
        *repeat /= 2;
    while (*vector > 1 && *vector * *repeat > most)
        *vector /= 2;
}

int64_t elementwise_line(int64_t n, unsigned elements, const occupancy *r, grid *g) {
    unsigned per = log2_floor(elements), shift = log2_floor(r->block);
    int64_t blocks = ceil_shift(n, per + shift);
    g->threads = r->block;
    while (blocks < r->sms && g->threads > BLOCK_MIN) {
        g->threads /= 2;
        blocks = ceil_shift(n, per + --shift);
    }
    return blocks ? blocks : 1;
}
