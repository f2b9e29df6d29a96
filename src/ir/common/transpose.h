/* transpose.h - CPU: squares of elements in vectors are transposed. */
#ifndef UF_TRANSPOSE_H
#define UF_TRANSPOSE_H

#include "ir/common/emit.h"

enum {
    SQUARE_MAX = 16 /* rows of a square, which are vectors of ACCESS_BYTES at least */
};

/* Rows of the squares that elements of so many bytes are copied by: vectors of 16 bytes; where there are longer ones, of 32 bytes of those of
 * 8, of which half as many shuffles move as much: 0.7 to 0.5 of the time. */
int copy_square_elements(const code_target *target, int size);

/* Transposes n vectors of n * parts elements, n a power of two: for each of the parts, the square of elements part * n .. part * n + n - 1 of
 * all vectors. type: of a vector. */
void emit_transpose(emit *e, const char *type, int n, int parts, ssa *vectors);

#endif
