/* shared_tile.h - which shape of tile (type/tile.h) a product-like construct goes by. */
#ifndef UF_GPU_SHARED_TILE_H
#define UF_GPU_SHARED_TILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tile_problem {
    int64_t side[2], depth, calls; /* results down and across, terms of each; calls of the kernel */
    int words;                     /* of 32 bits in an accumulated result */
    int sms;                       /* multiprocessors; 0: not known */
    bool alone;                    /* a call is much work, and there are few */
    bool divides;                  /* different blocks may have parts of a tile's reductions */
    bool along;                    /* without tiles, neighbouring threads would have neighbouring columns */
} tile_problem;

/* 1 + the shape's number; 0: tiles do not pay. *split: variant.gufunc.split. */
int tile_choose(const tile_problem *p, int *split);

#endif
