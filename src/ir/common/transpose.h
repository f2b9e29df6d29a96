/* transpose.h - CPU: squares of elements in vectors are transposed. */
#ifndef UF_TRANSPOSE_H
#define UF_TRANSPOSE_H

#include "ir/common/emit.h"

enum {
    SQUARE_MAX = 16 /* rows of a square, which are vectors of ACCESS_BYTES at least */
};

/* Transposes n vectors of n * parts elements, n a power of two: for each of the parts, the square of elements part * n .. part * n + n - 1 of
 * all vectors. type: of a vector. */
void emit_transpose(emit *e, const char *type, int n, int parts, ssa *vectors);

#endif
