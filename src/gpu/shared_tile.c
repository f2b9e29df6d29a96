/* shared_tile.c - see shared_tile.h. The shape is the one that would take the fewest cycles by what each was seen to do on an H200, products
 * of float32 whose tiles fill the device. */
#include "gpu/shared_tile.h"

#include "type/tile.h"

enum {
    SMS = 128,   /* multiprocessors of a device that is not known */
    LANES = 128, /* multiplications of a multiprocessor in a cycle, of 32 bits */
    FEW_WARPS =
        3, /* n warps of a multiprocessor that has room for more take 1 + FEW_WARPS / n times as long as they should */
    SLICE_CYCLES = 500, /* that a slice takes a block at least: memory is far */
    BLOCK_PLACES =
        56, /* terms that a multiprocessor loses at a block's begin and end, shared by the blocks that run at once */
    SPLIT_CYCLES = 6000,    /* that it takes to clear memory for parts, and .. */
    JOIN_BYTES = 32,        /* .. bytes that a block takes in a cycle of what others left */
    SPLIT_SLICES = 4,       /* of a part, at least */
    SPLIT_BYTES = 24 << 20, /* of memory for parts: more is not kept from one launch to the next */
    DEPTH_LEAST = 32,       /* terms of a result where there are many calls: fewer do not pay for the copies */
    MANY_PART = 5           /* one in so many of a device's multiplications is what calls without tiles make */
};

/* Of the multiplications of a multiprocessor, how many in a hundred; and the threads that run there at once. */
static const struct {
    int rate, resident;
} seen[TILE_SHAPES] = {{54, 512}, {51, 512}, {45, 512},  {46, 768}, {41, 1024},
                       {46, 512}, {40, 512}, {17, 1024}, {12, 1024}};

static double larger(double a, double b) { return a > b ? a : b; }
static double up(double a, double b) {
    double whole = (double)(int64_t)(a / b);
    return whole * b < a ? whole + 1 : whole;
}

static double least(double a, double b) { return a < b ? a : b; }

static double multiprocessors(const tile_problem *p) { return p->sms ? p->sms : SMS; }
static double threads_of(const tile_shape *t) { return 1 << (t->down + t->across); }

static double tiles_of(const tile_problem *p, const tile_shape *t) {
    return up((double)p->side[0], tile_rows(t)) * up((double)p->side[1], tile_columns(t)) * (double)p->calls;
}

/* Blocks of a shape that a multiprocessor runs at once. */
static double resident_of(int shape) {
    double blocks = seen[shape].resident / threads_of(&tile_shapes[shape]);
    return larger((double)(int64_t)blocks, 1);
}

/* Cycles that it takes to join 2^split parts, in rounds of PARTS_JOINED. */
static double join_cycles(const tile_problem *p, const tile_shape *t, int split) {
    double parts = 1 << split, places = least(parts, PARTS_JOINED) + (parts > PARTS_JOINED ? parts / PARTS_JOINED : 0);
    return split ? SPLIT_CYCLES + places * tile_rows(t) * tile_columns(t) * p->words * 4 / JOIN_BYTES : 0;
}

/* Cycles in which a device computes all calls: a multiprocessor as many blocks as it holds at a time, and then those that are left. */
static double cycles(const tile_problem *p, int shape, int split) {
    const tile_shape *t = &tile_shapes[shape];
    double depth = up((double)p->depth, 1 << split), resident = resident_of(shape);
    double blocks = up(tiles_of(p, t) * (1 << split), multiprocessors(p));
    double rounds = (double)(int64_t)(blocks / resident), left = blocks - rounds * resident;
    double block = (double)tile_rows(t) * tile_columns(t) * p->words * (depth + BLOCK_PLACES / resident) * 100 /
                   seen[shape].rate / LANES;
    double wait = left > 0 ? 1 + FEW_WARPS / (left * threads_of(t) / 32) : 0;
    return larger((rounds * resident + left * wait) * block,
                  up(blocks, resident) * SLICE_CYCLES * up(depth, t->depth)) +
           join_cycles(p, t, split);
}

/* Into how many parts reductions may be divided so that multiprocessors have no more blocks than run at once. */
static int split_most(const tile_problem *p, int shape) {
    const tile_shape *t = &tile_shapes[shape];
    double bytes = tiles_of(p, t) * tile_rows(t) * tile_columns(t) * PARTS_PLACES * PARTS_VALUE;
    int split = 0;
    while (p->divides && split < PARTS_MOST &&
           tiles_of(p, t) * (2 << split) <= resident_of(shape) * multiprocessors(p) &&
           bytes * (2 << split) <= SPLIT_BYTES && (double)p->depth >= (double)(t->depth * SPLIT_SLICES) * (2 << split))
        split++;
    return split;
}

/* The best shape; what it takes, and in how many parts. */
static int best_shape(const tile_problem *p, double *best, int *split) {
    int shape = 0;
    for (int i = 0; i < TILE_SHAPES; i++) {
        int most = tile_shapes[i].rows * tile_shapes[i].columns * p->words <= TILE_WORDS ? split_most(p, i) : -1;
        for (int k = 0; k <= most; k++) {
            double all = cycles(p, i, k);
            if (shape && all >= *best)
                continue;
            *best = all;
            shape = i + 1;
            *split = k;
        }
    }
    return shape;
}

int tile_choose(const tile_problem *p, int *split) {
    double best = 0;
    bool thin = p->side[0] == 1 || p->side[1] == 1;
    if (p->depth < 1 || p->side[0] < 1 || p->side[1] < 1 || (!p->along && thin) ||
        (!p->alone && p->depth < DEPTH_LEAST))
        return 0;
    int shape = best_shape(p, &best, split);
    double work = (double)p->side[0] * (double)p->side[1] * (double)p->depth * (double)p->calls * p->words / LANES;
    return p->alone || work / multiprocessors(p) * MANY_PART >= best ? shape : 0;
}
