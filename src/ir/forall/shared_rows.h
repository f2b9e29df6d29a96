/* shared_rows.h - kernels over indices on the GPU in whose text a loop goes over all short rows of an array, the same rows for every point,
 * as that of a body over all bodies (`for (int64_t j = 0; j < n; j++)` with `p[j][0] .. p[j][3]`). A block stages the rows through
 * shared memory, SHARED_ROWS at a time, where its points all lie in the interior of the space. A load from there takes half the time of
 * one from the cache, even where all threads read the same address. */
#ifndef UF_IR_SHARED_ROWS_H
#define UF_IR_SHARED_ROWS_H

#include "ir/forall/forall.h"

/* code_traits.shared_rows: 1 + the array, or 0. t: the general form. */
uint8_t shared_rows_array(const tree *t, const uint16_t *use);
/* Hooks of the body of @interior, if the variant has variant.forall.shared_rows: the loop, and the elements in it. */
const node *shared_rows_loop(body *b, const node *n);
bool shared_rows_recall(body *b, const node *n, ssa *value);

#endif
