/* pair_tile.h - kernels over two indices on the GPU whose points are pairs: a reduction reads elements at [i][k] and [j][k], as that of the
 * distances of all points of one set to those of another does, or at [k][j], as in a product of matrices. A block takes a tile of points,
 * and what the reduction reads goes through shared memory (construct/shared_tile.h). */
#ifndef UF_IR_PAIR_TILE_H
#define UF_IR_PAIR_TILE_H

#include "ir/forall/forall.h"

/* The form of the kernel that goes by tiles, of a text whose sizes fulfil all that it needs; *out is NULL if the text is no such kernel. use:
 * as forall_uses has it. False: no memory. */
bool pair_tile_form(arena *a, const tree *t, const uint16_t *use, const tree **out);
/* The reduction of such a form; its one range's extent is a constant or a size. */
const node *pair_tile_reduction(const tree *form);

/* Hook of the body of @kernel, made of such a form: all of its statements, for a tile whose first point @kernel is called with. */
const node *pair_tile_statements(body *b, const node *n);
/* The kernel around it. plain: @kernel is that of a text, and computes a point. */
void pair_tile_kernel(forall_writer *w, bool plain);

#endif
