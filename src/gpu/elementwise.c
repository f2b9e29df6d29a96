/* elementwise.c - what the classes flat, rows and general share: the width of accesses, how much a thread takes, and grids of a line of
 * elements. */
#include "gpu/elementwise.h"

bool elementwise_is_output(const variant *v, int k) { return k >= v->nin && k < v->nin + v->nout; }

int elementwise_step(const variant *v, int k) {
    const variant_operand *o = &v->operand[k];
    if (variant_follows(v, k))
        return 0;
    return o->kind == OPERAND_CONTIGUOUS ? element_size(v, k) : o->kind == OPERAND_INTERLEAVED ? o->record : 0;
}

int elementwise_align(const variant *v, int k, int vector) {
    int bytes = elementwise_step(v, k);
    return bytes ? record_width(vector, bytes) : 1;
}

/* Where there are groups, their neighbours' records together make accesses of 16 bytes: of 12 bytes four, of 24 two, of 16 one, since an
 * access that more than the records' own threads share would only leave gaps between those of neighbouring threads. A wide
 * contiguous operand beside them takes as many accesses as it must, within bounds. */
enum {
    BESIDE_BYTES = 32
};

int elementwise_vector(const variant *v) {
    int largest = 1, records = 0;
    for (int k = 0; k < variant_operands(v); k++) {
        int bytes = elementwise_step(v, k);
        if (v->operand[k].kind == OPERAND_INTERLEAVED && bytes && ACCESS_BYTES / record_width(1, bytes) > records)
            records = ACCESS_BYTES / record_width(1, bytes);
        else if (v->operand[k].kind == OPERAND_CONTIGUOUS && bytes > largest)
            largest = bytes;
    }
    while (records > 1 && records * largest > BESIDE_BYTES)
        records /= 2;
    return records ? records : ACCESS_BYTES / largest;
}

/* Fields of groups count by themselves. */
int elementwise_input_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++) {
        const variant_operand *o = &v->operand[k];
        if (!elementwise_is_output(v, k) && !o->fixed &&
            (o->kind == OPERAND_CONTIGUOUS || o->kind == OPERAND_INTERLEAVED))
            bytes += element_size(v, k);
    }
    return bytes;
}

void elementwise_forget_alignment(variant *v) {
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].align = 0;
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
