/* kernel.h - numbers that generated code and those who launch it agree on. */
#ifndef UF_KERNEL_H
#define UF_KERNEL_H

enum {
    /* GPU. */
    WARP = 32,
    ACCESS_BYTES = 16, /* of the widest access to memory */
    SECTOR_BYTES = 32, /* of what a GPU's memory is written by at least */
    SHARED_ROWS = 256, /* short rows that a block of a kernel over indices stages at a time */
    BLOCK_MAX =
        256, /* threads in a block, unless a cooperative group or the caller wants more: code is generated for at most that many */
    SHARED_FREE = 48 << 10, /* bytes of shared memory in a block: what needs no permission of the driver's */
    BODY_NODES_MAX = 1500,  /* nodes of all elements of a thread together: beyond, code grows and registers spill */
    /* GPU, accumulations: levels of the tree of tiles; log2 of the entries of a level that make one of the next; threads of a
     * block of columns. */
    SCAN_LEVELS = 3,
    SCAN_FAN_ROWS = 5,
    SCAN_FAN_COLUMNS = 4,
    /* Entries that a tile of columns looks back to for each line: of two levels, and of the part before. */
    SCAN_LOOK_BACK = (2 << SCAN_FAN_COLUMNS) + 1,
    SCAN_COLUMN_THREADS = 256,
    FOLD_INTERLEAVED_THREADS = 256, /* of a block that reduces interleaved results */
    ROW_TILE_THREADS = 128,         /* of a block that has rows of a constant length in shared memory */
    ROW_STRAIGHT = 64,   /* elements of such a row that are all in registers; of planes those of more go by .. */
    ROW_TOGETHER = 8,    /* .. so many */
    SCAN_ACROSS_MAX = 5, /* log2 of the threads across, beyond which the tiles of a line are not spread over blocks */
    COOP_SEGMENTS = 8,   /* log2 of the threads of a block that takes long segments together */
    /* GPU, generalized ufuncs: log2 of the threads that compute one inner call together, a cooperative group. 0: a thread; to COOP_WARP: lanes of
     * a warp; to COOP_BLOCK: a block; COOP_GRID: several blocks of 2^COOP_GRID_BLOCK threads, or half as many. */
    COOP_WARP = 5,
    COOP_SHARED_TILE = 6,  /* with variant.forall.pairs */
    SHARED_TILE_SIDE = 64, /* rows and columns of their tiles */
    COOP_BLOCK = 10,
    COOP_GRID = 11,
    COOP_GRID_BLOCK = 9,
    CLUSTER_PORTABLE = 3,    /* log2 of the blocks of a cluster that every device with clusters takes */
    HELD_LOOSE = 2,          /* the last elements that a thread holds, which may lie behind the end */
    HELD_MOST = 80,          /* elements that a thread holds, .. */
    HELD_COLUMNS = 64,       /* .. of columns */
    HELD_THREADS = 1024,     /* of columns: that should fit a multiprocessor, .. */
    HELD_THREADS_WIDE = 768, /* .. and of rows of two-word elements */
    PIECE_FIT =
        2, /* blocks with rows in shared memory that should fit a multiprocessor, twice as many if they are fine */
    COOP_BLOCKS_MAX = 256, /* blocks of a COOP_GRID group */
    COOP_ENTRY = 8,        /* words of what one tells the others: of 32 bits in shared memory, of 64 in a slot */
    COOP_SLOT_HEAD = 128,  /* bytes before the entries of a slot: the counter */
    COOP_SLOT = COOP_SLOT_HEAD +
                2 * 8 * COOP_ENTRY * COOP_BLOCKS_MAX, /* bytes of memory of such a group: two entries for each block */
    /* CPU. */
    COPY_BYTES = 16 << 10,        /* of a privatised operand, at most */
    LINE_BYTES = 64,              /* of the cache */
    CALL_GROUP_BYTES = 512 << 10, /* of the cores of calls that are copied together (ir/gufunc/call_groups.h), .. */
    CALL_GROUP_LEAST = 4,         /* .. which are so many, at least */
    CALL_STRIP = 128,             /* calls that are computed side by side (ir/gufunc/call_strips.h), .. */
    STAGED_STRIP = 64,            /* .. or so many, if they are copied to lie so */
    RECORD_SHUFFLED = 8, /* numbers of a record that LLVM takes apart by shuffles (max-interleave-group-factor) */
    TILE_COLUMNS = 128   /* elements along dimension 0 that a kernel of the class tile takes at once */
};

_Static_assert(1 << COOP_WARP == WARP, "lanes of a warp are a group of 2^COOP_WARP");
_Static_assert(1 << SCAN_FAN_ROWS == WARP, "a warp looks at the entries that make one of the next level");
_Static_assert(SCAN_COLUMN_THREADS <= BLOCK_MAX, "code is generated for blocks of that size");

#endif
