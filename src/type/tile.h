/* tile.h - tiles of results that a block of a GPU computes together (variant.gufunc.tile): what generated code and those who launch it agree
 * on. */
#ifndef UF_TILE_H
#define UF_TILE_H

#include <stdint.h>

/* A thread has `rows` x `columns` results; a block has 2^down threads along a column of its tile and 2^across along a row. */
typedef struct tile_shape {
    uint8_t rows, columns;
    uint8_t down, across;
    uint8_t depth; /* places of a slice of the reduction, fewer where shared memory does not hold them */
} tile_shape;

enum {
    TILE_SHAPES = 9,
    TILE_PAIRS = 1,  /* the one of variant.forall.pairs */
    TILE_WORDS = 64, /* registers of a thread that hold results, at most */
    /* Where several blocks have parts of a tile's reductions (variant.gufunc.split; ir/construct/tile_parts.h), there is memory at
     * GPU_GUFUNC_SLOTS: for tile number t, which is call * tiles + tile, and n parts the places from t * n * PARTS_PLACES on, each of a
     * block's results; and before that address zeroed counters, PARTS_COUNTERS of 32 bits for each tile. */
    PARTS_JOINED = 16, /* that are combined by one block */
    PARTS_MOST = 8,    /* log2 */
    PARTS_PLACES = 2,
    PARTS_COUNTERS = 2 * PARTS_JOINED,
    PARTS_VALUE = 16 /* bytes of a result there, at most */
};
/* Shape number variant.gufunc.tile - 1. */
extern const tile_shape tile_shapes[TILE_SHAPES];

static inline int tile_rows(const tile_shape *t) { return t->rows << t->down; }
static inline int tile_columns(const tile_shape *t) { return t->columns << t->across; }

#endif
