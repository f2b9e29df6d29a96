/* row_tile.h - GPU: the part of an array that a block works on, in shared memory, where each thread takes whole rows. Rows have a constant
 * length and lie one behind the other in global memory, so that a block's threads copy them together, by accesses of 16 bytes side by side.
 * A thread then goes through a row of its own by accesses as wide as the rows' length allows; rows are laid out so that the threads of a
 * warp meet in few banks. Rows may also lie side by side in planes, which lie one behind the other: element i of all rows of a plane, and then element
 * i + 1. A block has whole planes, and threads access elements one by one. */
#ifndef UF_ROW_TILE_H
#define UF_ROW_TILE_H

#include "ir/common/skeleton.h"

/* The rows of one operand that a block has. */
typedef struct row_tile {
    emit *e;
    dtype type;    /* in memory */
    int length;    /* elements of a row */
    int rows;      /* of a whole tile: bytes of these are a multiple of 16 */
    int plane;     /* rows that lie side by side; 0: they lie one behind the other */
    int threads;   /* that copy them */
    bool filled;   /* a part of a tile has its last elements again in the place of what it lacks */
    bool constant; /* nobody writes to the array while the kernel runs */
    ssa base;      /* the tile's first element, a pointer to the memory type in shared memory */
} row_tile;

/* A row of a tile: `behind` rows, a multiple of ROW_TILE_THREADS, behind row `of` (i32), so that a thread's rows are constants apart. */
typedef struct tile_row {
    ssa of;
    int behind;
} tile_row;

/* The elements of a row of a tile. */
void row_tile_get(const row_tile *t, const tile_row *row, ssa *values);
void row_tile_put(const row_tile *t, const tile_row *row, const ssa *values);
/* n of them from one on (i32), of planes. */
void row_tile_get_some(const row_tile *t, const tile_row *row, ssa from, int n, ssa *values);
void row_tile_put_some(const row_tile *t, const tile_row *row, ssa from, int n, const ssa *values);

/* The rows of all operands that are staged. A block has ROW_TILE_THREADS threads, or those of row_tiles_load_part. */
typedef struct row_tiles {
    skeleton *s;
    int length;
    int each;           /* rows that a thread takes; of planes any number */
    int plane, threads; /* as of a tile */
    bool filled;
    ssa first; /* i64: number of the block's first row */
    ssa some;  /* i64: the rows that the block has */
    ssa aligned;
    ssa count; /* i32: the elements that it has of an operand, .. */
    ssa all;   /* i1: .. which are all of a whole tile */
    row_tile tile[VARIANT_OPERANDS];
    ssa at[VARIANT_OPERANDS]; /* where they begin */
} row_tiles;

/* Copies the block's rows of the staged inputs and mask to shared memory, of `rows` (i64) rows in all. aligned (i1): the addresses of all
 * staged operands are multiples of 16. constant: nobody writes to the inputs while the kernel runs. */
row_tiles *row_tiles_load(skeleton *s, int length, int each, ssa rows, ssa aligned, bool constant);
/* The same of rows that lie side by side, `plane` of them: a block has so many planes. */
row_tiles *row_tiles_load_planes(skeleton *s, int length, int plane, int planes, ssa rows, ssa aligned, bool constant);
/* Of few rows that lie side by side, and are too long for a block, a part, which is as `planes` planes of rows of `length`: a row of it for each thread,
 * of which a block has planes * plane. at: where it begins, by operand; count (i32): the elements that there are. Rows go on behind them
 * with elements that there are. */
row_tiles *row_tiles_load_part(skeleton *s, int length, int plane, int planes, const ssa *at, ssa count, ssa aligned);
/* The thread's row i of `each` in the tile, in *index its number in all rows (i64), and in *there whether it exists (i1). If it does not,
 * the tile has room for it all the same, in which anything may lie; or, if `within` is set, it is the tile's first row, which exists. */
tile_row row_tiles_row(const row_tiles *t, int i, bool within, ssa *index, ssa *there);
/* A loop over all rows of a thread, of planes: the row, and in *index its number in all rows (i64). */
tile_row row_tiles_rows_begin(const row_tiles *t, counted_loop *l, ssa *index);
void row_tiles_rows_end(const row_tiles *t, counted_loop *l);
/* Copies the rows of the staged outputs to global memory, when all threads have put theirs. */
void row_tiles_store(const row_tiles *t);

#endif
