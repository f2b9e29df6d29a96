/* row_tile.h - GPU: the part of an array that a block works on, in shared memory, where each thread takes whole rows. Rows have a constant
 * length and lie one behind the other in global memory, so that a block's threads copy them together, by accesses of 16 bytes side by side.
 * A thread then goes through a row of its own by accesses as wide as the rows' length allows; rows are laid out so that the threads of a
 * warp meet in few banks. */
#ifndef UF_ROW_TILE_H
#define UF_ROW_TILE_H

#include "ir/common/skeleton.h"

typedef struct row_tile {
    emit *e;
    dtype type;    /* in memory */
    int length;    /* elements of a row */
    int rows;      /* of a whole tile: bytes of these are a multiple of 16 */
    int threads;   /* of a block */
    bool constant; /* nobody writes to the array while the kernel runs */
    ssa base;      /* the tile's first element, a pointer to the memory type in shared memory */
} row_tile;

/* Bytes of shared memory that a tile takes. */
int row_tile_bytes(dtype type, int length, int rows);
/* A tile in memory of its own, named so in the module. */
row_tile row_tile_new(emit *e, const char *name, dtype type, int length, int rows, int threads);

/* Copies the rows 0 .. some-1 (i64, at least 1, at most `rows`) from global memory, where the first one lies at `from`. aligned (i1), the
 * same for the whole block: that address is a multiple of 16. Each thread writes a part of the tile; a barrier must follow. */
void row_tile_load(const row_tile *t, ssa from, ssa some, ssa aligned);
/* Copies the rows to global memory. A barrier must stand before. */
void row_tile_store(const row_tile *t, ssa to, ssa some, ssa aligned);
/* The elements of row `row` (i32). */
void row_tile_get(const row_tile *t, ssa row, ssa *values);
void row_tile_put(const row_tile *t, ssa row, const ssa *values);

#endif
