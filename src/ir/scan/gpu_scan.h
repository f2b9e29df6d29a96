/* gpu_scan.h - what the skeletons of accumulations on the GPU share: parameters, lines, and the look-back between the tiles of a line. A line
 * is what is accumulated along: the elements whose indices differ in the accumulated dimension alone.
 *
 * A line that is too long for one block is cut into tiles, one a block; blocks take tiles in the order of their tickets. Each tile
 * publishes the state of its own elements. The state of what comes before it is combined from a tree of a fixed form (a number of tiles
 * make a group, the same number of groups a part, and parts are a chain), so that results are the same in every run, whichever tile
 * is computed first. Every 32 bits of a state lie in the low half of a 64-bit word of scratch memory, with a mark in the high half:
 * a reader waits until the marks are set. The memory must be zero before the launch. */
#ifndef UF_GPU_SCAN_H
#define UF_GPU_SCAN_H

#include "ir/scan/scan.h"

enum {
    PARTIAL_WORDS = 4 * UF_MAX_STATE
};

typedef struct gpu_scan_kernel {
    fold_writer *w;
    ssa lines, length, aligned;      /* i64, i64, i1 */
    divisor order, columns;          /* see gpu_scan_begin */
    ssa tiles;                       /* i32: of a line */
    ssa counter, level[SCAN_LEVELS]; /* i64: addresses; 0: no line has more than one tile */
    divisor *kept;
    ssa *kept_stride[VARIANT_OPERANDS]; /* by dimension */
    ssa along[VARIANT_OPERANDS];        /* strides along the line */
    ssa at[VARIANT_OPERANDS];           /* arrays: address of a line's first element; the position: its value there */
    int words;                          /* of a state */
    int shared;                         /* words of shared memory */
} gpu_scan_kernel;

/* Blocks. rows: coop <= COOP_WARP: blockDim.x >> coop lines; else 1 << coop threads and a tile of a line, which has `vector *
 * accesses << coop` elements. columns: 256 threads, `vector << coop` lines; a tile has `accesses * 256 >> coop` elements of each.
 * alone: vector * blockDim.x lines. Of a constant length: see row_tile.h. interleaved: `lines * plane` threads, `plane` lines; a tile has
 * `accesses * lines` elements of each. */

/* Finds where a line begins, and sets g->at. line: i64, counted over the dimensions from `first` on. */
void gpu_scan_line(gpu_scan_kernel *g, ssa line, int first);
ssa gpu_scan_position(gpu_scan_kernel *g, ssa index);

/* Partials in shared memory, by index (i32). */
void scan_shared_put(gpu_scan_kernel *g, ssa index, const partial *x);
partial scan_shared_get(gpu_scan_kernel *g, ssa index);

/* This block's number (i32, the same for all threads): that of its ticket where lines have several tiles. slot: a word of shared memory
 * that nothing else uses. */
ssa gpu_scan_ticket(gpu_scan_kernel *g, int slot);
/* The address (i64) of entry `index` (i64) of a level. Publishes a state there; waits for one. */
ssa scan_entry(gpu_scan_kernel *g, int level, ssa index);
void scan_publish(gpu_scan_kernel *g, ssa entry, const partial *x);
partial scan_await(gpu_scan_kernel *g, ssa entry);
/* Waits for those of n entries that there are (i1), all at once; the states of others are zeros. words: variables for n of them, which are made before
 * the first branch of the kernel. */
ssa *scan_await_variables(gpu_scan_kernel *g, int n);
void scan_await_some(gpu_scan_kernel *g, const ssa *words, const ssa *entries, const ssa *there, int n, partial *x);

/* A tile of lines side by side, which is a block's: rows of threads, each with some elements of all of the group's lines. */
typedef struct scan_group {
    gpu_scan_kernel *g;
    int width;       /* lines of the group; a thread has `vector` of them */
    int vector;      /* .. from `line` on */
    int rows;        /* of threads */
    int together;    /* entries that a thread awaits at once, of each of its lines: these take registers */
    ssa group, tile; /* i32: of lines; of the line */
    ssa row, line;   /* i32: of the thread; of the group, the thread's first */
    partial *total;  /* [i]: the state of the tile alone, of line i of the thread */
    /* [i]: the state of what comes before the tile; gpu_scan_look_back joins what it finds to what is there. */
    partial_slot *before;
    ssa *awaited; /* variables for what is looked back to */
} scan_group;

/* Makes the variables, before the first branch of the kernel: of a group with its sizes. */
void gpu_scan_group_begin(scan_group *b);

/* Where in shared memory line i of the thread's stands in a row (i32, or a number). */
ssa scan_group_place(const scan_group *b, ssa row, int i);
/* Publishes the tile's state, and finds what comes before the tile. Shared memory has places for SCAN_LOOK_BACK rows. */
void gpu_scan_look_back(const scan_group *b);

void gpu_scan_rows(gpu_scan_kernel *g);
void gpu_scan_columns(gpu_scan_kernel *g);
void gpu_scan_interleaved(gpu_scan_kernel *g);
void gpu_scan_serial(gpu_scan_kernel *g);
void gpu_scan_short(gpu_scan_kernel *g);

#endif
