/* lanes.h - kernels over indices on the GPU, where the lanes of a warp compute a point together (variant.forall.lanes): each takes some terms
 * of the reductions whose extent is data, as of a row of a sparse matrix, so that neighbouring lanes read neighbouring elements. All
 * lanes do everything else alike, but the first one alone stores. */
#ifndef UF_IR_LANES_OF_POINTS_H
#define UF_IR_LANES_OF_POINTS_H

#include "ir/forall/forall.h"

/* code_traits.ragged */
uint8_t point_lanes_array(const tree *t, const uint16_t *use);
/* Hooks of the kernel's body. */
void point_lanes_begin(body *b);
bool point_lanes_reduce(body *b, const node *n, ssa *value);

#endif
