/* gpu.h - policy of GPU engines: how many threads, tiles and blocks a loop gets, from its sizes and the kernel's traits, and the
 * kernel's parameters. Pure functions of what they are given: no driver, no memory, no waiting. */
#ifndef UF_GPU_GPU_H
#define UF_GPU_GPU_H

#include "engine.h"
#include "type/schema.h"

enum {
    BLOCK_MIN = 64,    /* below that, blocks are not made smaller to spread a small loop over the device */
    GPU_NARROW_MAX = 8 /* engine.tile_narrow, of any kernel */
};
#define GRID_MAX ((int64_t)INT32_MAX) /* blocks of a grid */

/* What a launch may use of a device. */
typedef struct occupancy {
    unsigned block; /* threads in a block for best occupancy; classes whose blocks have a fixed size go by that */
    int sms;
    int resident;     /* COOP_GRID, forall whose blocks loop: blocks that run at once */
    bool cooperative; /* COOP_GRID: blocks can be made to do so */
    int shared;       /* bytes of shared memory that a block may have; 0: those that every device has */
} occupancy;

/* How a loop is laid out over threads. */
typedef struct grid {
    uint32_t blocks, threads;    /* one-dimensional; threads is a power of two */
    uint32_t shared;             /* bytes of dynamic shared memory in a block */
    uint32_t parameters;         /* how many were written */
    uint32_t call_blocks;        /* gufunc.tile: that take the tiles of a call */
    uint32_t coops, coop_blocks; /* COOP_GRID: in flight, and blocks of each; else 0 */
    uint64_t *slots; /* the parameter that takes an address in memory of the launch's own; NULL: there is none */
    size_t slots_bytes, slots_zeroed; /* of that memory: all, and those at its beginning that are 0 */
    size_t slots_at;                  /* the address's offset in it */
    uint64_t *second; /* the parameter that is 1 in a second launch, which follows; NULL: there is none */
    uint32_t second_blocks;
} grid;

/* engine.specialise; and engine.specialise_fold for a device of so many multiprocessors. */
void gpu_specialise(variant *v, const loop_problem *p);
int64_t gpu_specialise_fold(variant *v, const fold_problem *p, int sms);
/* engine.fold_scratch. */
size_t gpu_scratch(const launch *l);
/* Threads of a block of a fold whose results are divided; and the elements of a part (engine.fold_chunk), where so many such blocks
 * run at once. */
int gpu_fold_block(const launch *l);
int64_t gpu_fold_chunk(const launch *l, int resident);
/* Threads of the blocks of which occupancy.resident must say how many run at once; 0: of none. */
int gpu_resident_block(const launch *l);
/* Bytes of dynamic shared memory that these blocks have at most, on a device whose blocks may have so many. */
int gpu_resident_shared(const launch *l, int shared);

/* Writes the kernel's parameters, as many as schema_count says, and chooses the grid. Errors: ARGUMENT if the loop is too large for a
 * grid. */
uf_status gpu_layout(const launch *l, const occupancy *r, uint64_t *parameters, grid *out);

/* ---- Singular values (gufunc_lanes.c) ---- */

/* Has a matrix of m rows and n columns room in a block, on a device whose blocks may have so many bytes of shared memory (0: as all have)? Then
 * the singular value decomposition has code of its own. */
bool gpu_rotates(dtype type, int64_t m, int64_t n, int shared);

/* ---- Products of matrices that a library computes (product.c) ---- */

/* Calls of a strided batched product of matrices that are stored by columns, as BLAS has it: C is m x p with columns ldc apart. */
typedef struct gpu_gemm {
    nd_product p;
    nd_stored left, right;
    int64_t ldc;
    int64_t batch;         /* products in a call, .. */
    int64_t step[3];       /* .. and elements from one to the next of each operand */
    nd_product_loop calls; /* the first elements of each call */
} gpu_gemm;

/* Brings a launch to products for a library. False if the function names no BLAS form, its dtypes or strides are not what a library
 * takes, or generated code is as fast at these sizes: it looks at nothing else, not at addresses either. */
bool gpu_gemm_plan(const launch *l, gpu_gemm *out);

#endif
