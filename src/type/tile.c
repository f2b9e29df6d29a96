/* tile.c - the shapes of tiles: large ones, which read shared memory least; smaller ones, for few results; and thin ones. */
#include "type/tile.h"

const tile_shape tile_shapes[TILE_SHAPES] = {
    {8, 8, 4, 4, 8},  /* 128 x 128, 256 threads */
    {8, 8, 3, 3, 8},  /* 64 x 64, 64 threads */
    {4, 8, 4, 3, 8},  /* 64 x 64, 128 threads */
    {4, 4, 4, 4, 16}, /* 64 x 64, 256 threads */
    {4, 4, 3, 3, 16}, /* 32 x 32, 64 threads */
    {4, 8, 2, 4, 16}, /* 16 x 128, 64 threads */
    {8, 4, 4, 2, 16}, /* 128 x 16 */
    {4, 1, 0, 7, 16}, /* 4 x 128, 128 threads */
    {1, 4, 7, 0, 16}, /* 128 x 4 */
};
