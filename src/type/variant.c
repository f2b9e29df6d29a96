/* variant.c - the form that a variant has outside of a process. */
#include "type/variant.h"

enum {
    HEAD_BYTES = offsetof(variant, flat) /* what all classes have */
};

#define PART_BYTES(last) (sizeof((variant *)0)->last + offsetof(variant, last) - HEAD_BYTES)

/* What one class has, from the end of the head on. */
static const size_t part_bytes[LOOP_CLASSES] = {
    [LOOP_FLAT] = PART_BYTES(flat),     [LOOP_ROWS] = PART_BYTES(rows),     [LOOP_GENERAL] = PART_BYTES(general),
    [LOOP_GUFUNC] = PART_BYTES(gufunc), [LOOP_FOLD] = PART_BYTES(fold),     [LOOP_SCAN] = PART_BYTES(scan),
    [LOOP_AT] = PART_BYTES(at),         [LOOP_FORALL] = PART_BYTES(forall), [LOOP_TILE] = PART_BYTES(tile),
};

/* Whoever gets here by changing these has changed the form: raise VARIANT_VERSION, and the golden in the tests with it. */
_Static_assert(VARIANT_VERSION == 25 && HEAD_BYTES == 11 && sizeof(variant_operand) == 16, "form of variant_bytes");

size_t variant_bytes(const variant *v, uint8_t out[VARIANT_BYTES]) {
    size_t head = HEAD_BYTES + part_bytes[v->loop], operands = variant_size(v) - offsetof(variant, operand);
    out[0] = VARIANT_VERSION;
    memcpy(out + 1, v, head);
    memcpy(out + 1 + head, v->operand, operands);
    return 1 + head + operands;
}

bool variant_parse(const uint8_t *bytes, size_t size, variant *out) {
    memset(out, 0, sizeof *out);
    if (size < 1 + HEAD_BYTES || bytes[0] != VARIANT_VERSION || bytes[1] >= LOOP_CLASSES)
        return false;
    size_t head = HEAD_BYTES + part_bytes[bytes[1]];
    if (size < 1 + head)
        return false;
    memcpy(out, bytes + 1, head);
    if (variant_operands(out) > VARIANT_OPERANDS ||
        size != 1 + head + (size_t)variant_operands(out) * sizeof *out->operand)
        return false;
    memcpy(out->operand, bytes + 1 + head, size - 1 - head);
    return true;
}
