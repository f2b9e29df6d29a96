/* shared_tile.h - GPU: a forall of two ranges around one reduction whose operands are used again, as in a product of matrices. A block
 * computes a tile of the forall at a time, and passes over the reduction in slices (slices.h), of which each thread reads what its
 * outputs need. The blocks of a call take the tiles in turn. */
#ifndef UF_SHARED_TILE_H
#define UF_SHARED_TILE_H

#include "ir/construct/unroll_jam.h"

/* Writes such a forall. `write` writes its body for all instances of a jam, which are a thread's outputs; the reduction's values are
 * known then. All threads of the block must get here. */
void shared_tile_forall(body *b, const node *forall, void (*write)(body *b, const node *list));

typedef struct shared_tile shared_tile;

/* The same for one tile, in a kernel whose blocks have a tile each: of the values of a reduction for all combinations of two variables. */
typedef struct shared_tile_place {
    int row, column; /* the variables, locals */
    const node *reduce;
    ssa thread;                  /* its number in the block */
    ssa rows, columns;           /* how many values the variables have; all i64 */
    ssa first_row, first_column; /* of the tile */
} shared_tile_place;

/* Does the reduction use its operands again so that it can go by tiles? */
bool shared_tile_takes(const function *f, int row, int column, const node *reduce);
/* The reduction's values by instance. All threads of the block must get here. */
shared_tile *shared_tile_at(body *b, const shared_tile_place *at, ssa **value);
/* Opens a jam of the thread's outputs, which jam_end closes. whole: no row or column of the tile lies past the last, and neighbours along
 * a row may be accessed by vectors; else what lies there repeats it. */
void shared_tile_instances(body *b, const shared_tile *t, bool whole);

#endif
