/* gufunc_layout.c - launches of generalized ufuncs: the parameters after the operands' (type/schema.h), blocks, shared memory, and slots for
 * cooperative groups of several blocks. */
#include <assert.h>

#include "gpu/calls.h"
#include "type/rotated.h"
#include "type/tile.h"

enum {
    STAGE_THREADS = 128,    /* the largest block that stages, */
    ELIMINATE_THREADS = 64, /* and that eliminates: of small ones some load or store while others compute */

    /* Bytes of a call for one block of its cooperative group: at most PIECE_MAX, and no less than PIECE_MIN to fill the device. */
    PIECE_MIN = 14, /* log2 */
    PIECE_MAX = 17,

    /* Of calls side by side, one in so many of a block's threads may be left over for lines of memory that are whole. */
    LINE = 128, /* bytes */
    RANKS_LESS = 8,
};

/* ---- Parameters ---- */

static bool is_aligned(const cores *c, const launch *l) {
    uint8_t misalignment[VARIANT_OPERANDS];
    launch_misalignment(l, misalignment);
    return calls_aligned(c, misalignment);
}

/* Bytes of one call in shared memory. */
static int64_t stage_bytes(const cores *c) {
    int64_t bytes = 0;
    for (int k = 0; k < variant_operands(c->v); k++)
        if (c->v->operand[k].staged)
            bytes += pitch_of(packed_count(c, k), element_size(c->v, k)) * element_size(c->v, k);
    return bytes;
}

/* The parts lie one after the other; as threads are a multiple of a warp, each is aligned. */
static void put_whole(parameter_writer *w, const cores *c, grid *g) {
    int64_t offset = 0;
    for (int k = 0; k < c->v->nin; k++) {
        if (!c->v->operand[k].staged)
            continue;
        put_parameter(w, GPU_GUFUNC_STAGED, extent_at(c, k, 0));
        put_parameter(w, GPU_GUFUNC_STAGED, 0);
        put_parameter(w, GPU_GUFUNC_STAGED, offset);
        offset += whole_part(c, k, g->coop_blocks ? g->coop_blocks : 1u << c->v->gufunc.cluster);
    }
    g->shared = (uint32_t)offset;
}

static void put_staged(parameter_writer *w, const cores *c, unsigned threads) {
    int64_t offset = 0;
    for (int k = 0; k < variant_operands(c->v); k++) {
        if (!c->v->operand[k].staged || c->v->gufunc.unrolled)
            continue;
        int64_t count = packed_count(c, k), pitch = pitch_of(count, element_size(c->v, k));
        put_parameter(w, GPU_GUFUNC_STAGED, count);
        put_parameter(w, GPU_GUFUNC_STAGED, pitch);
        put_parameter(w, GPU_GUFUNC_STAGED, offset);
        offset += threads * pitch * element_size(c->v, k);
    }
}

/* ---- Grids: each returns the number of blocks. ---- */

/* Several calls a block. Few calls get smaller blocks, so that every multiprocessor has some. */
static int64_t grid_of_calls(const cores *c, const occupancy *r, grid *g) {
    unsigned threads = c->v->gufunc.form ? ELIMINATE_THREADS : r->block;
    int64_t bytes = stage_bytes(c);
    while (threads > WARP && bytes && (threads > STAGE_THREADS || threads * bytes > SHARED_FREE))
        threads /= 2;
    while (threads > WARP && ceil_shift(c->loop->count, log2_floor(threads >> c->v->gufunc.coop)) < r->sms)
        threads /= 2;
    g->threads = threads;
    g->shared = (uint32_t)(threads * bytes);
    return ceil_shift(c->loop->count, log2_floor(threads >> c->v->gufunc.coop));
}

/* A thread a call, in blocks that the code knows. */
static int64_t grid_of_threads(const cores *c, const occupancy *r, grid *g) {
    (void)r;
    g->threads = (uint32_t)core_threads(c->v, c->layout);
    int calls = core_calls(c->v, c->layout);
    g->shared = (uint32_t)(calls / core_side(c->v) * cores_pitch(c->v, c->layout));
    return (c->loop->count - 1) / calls + 1;
}

static int64_t grid_of_blocks(const cores *c, const occupancy *r, grid *g) {
    (void)r;
    g->threads = 1u << c->v->gufunc.coop;
    return c->loop->count << c->v->gufunc.cluster;
}

/* A matrix in the shared memory of each. */
static int64_t grid_of_rotations(const cores *c, const occupancy *r, grid *g) {
    (void)r;
    g->threads = 1u << c->v->gufunc.coop;
    g->shared = (uint32_t)rotated_of(c->v, c->layout).end;
    return c->loop->count;
}

/* A block for each part of each tile of that output. Where reductions are divided, choose_tile has seen that these are all. */
static int64_t grid_of_tiles(const cores *c, const occupancy *r, grid *g) {
    const tile_shape *t = &tile_shapes[c->v->gufunc.tile - 1];
    int k = tiled_output(c), split = c->v->gufunc.split;
    int64_t tiles = k < 0 ? 1
                          : times(ceil_shift(extent_at(c, k, 0), log2_floor((unsigned)tile_rows(t))),
                                  ceil_shift(extent_at(c, k, 1), log2_floor((unsigned)tile_columns(t))));
    int64_t calls = c->loop->count, most = GRID_MAX >> split;
    int64_t blocks = tiles < 1 ? 1 : tiles < most ? tiles : most, groups = most / blocks;
    (void)r;
    g->threads = 1u << c->v->gufunc.coop;
    g->call_blocks = (uint32_t)(blocks << split);
    if (split) {
        size_t place = (size_t)(t->rows * t->columns) * g->threads * PARTS_VALUE;
        g->slots_at = g->slots_zeroed = (size_t)(blocks * calls) * PARTS_COUNTERS * sizeof(uint32_t);
        g->slots_bytes = g->slots_at + ((size_t)(blocks * calls) << split) * PARTS_PLACES * place;
    }
    return (blocks << split) * (calls < groups ? calls : groups);
}

static int64_t grid_across(const cores *c, const occupancy *r, grid *g) {
    (void)r;
    g->threads = 1u << variant_block_across(c->v);
    return ceil_shift(c->loop->count, c->v->gufunc.across + c->v->gufunc.calls) << c->v->gufunc.cluster;
}

/* Blocks of a cooperative group: as many as the pieces that fit their shared memory, more where calls are few, and where others would be
 * left over. */
static int64_t blocks_of_pieces(const cores *c, const occupancy *r) {
    int64_t least_blocks = pieces_least(c, piece_share(r->shared, c->v->gufunc.fine));
    int64_t finest = ceil_shift(core_total(c, true), PIECE_MIN), groups = r->resident / least_blocks;
    if (groups > c->loop->count)
        groups = c->loop->count;
    if (groups > 1) { /* as many as their last calls need, too */
        int64_t rounds = (c->loop->count + groups - 1) / groups;
        groups = (c->loop->count + rounds - 1) / rounds;
    }
    int64_t blocks = r->resident / (groups > 0 ? groups : 1);
    if (blocks > finest)
        blocks = finest;
    if (blocks > pieces_holding(c))
        blocks = pieces_holding(c);
    return blocks > least_blocks ? blocks : least_blocks;
}

/* Several blocks a call, and no more cooperative groups than run at once. A device that cannot hold blocks until all are there runs
 * cooperative groups of one. */
static int64_t grid_of_coops(const cores *c, const occupancy *r, grid *g) {
    int64_t bytes = core_total(c, true), most = r->resident < COOP_BLOCKS_MAX ? r->resident : COOP_BLOCKS_MAX;
    int64_t blocks = ceil_shift(bytes, PIECE_MAX), finest = ceil_shift(bytes, PIECE_MIN),
            share = r->resident / c->loop->count;
    if (blocks < share)
        blocks = share < finest ? share : finest;
    if (blocks > most)
        blocks = most;
    if (c->v->gufunc.pieces && pieces_bytes(c, 1))
        blocks = blocks_of_pieces(c, r);
    if (blocks < 1 || !r->cooperative)
        blocks = 1;
    g->threads = 1u << variant_grid_block(c->v);
    g->coop_blocks = (uint32_t)blocks;
    g->coops = (uint32_t)least(r->resident / blocks, c->loop->count);
    return g->coops * blocks;
}

/* Threads of a block for each of its calls: as many as there are, or a few less so that those of a block begin where a line of memory does, or a
 * sector. */
static int ranks_across(const cores *c) {
    int all = (1 << variant_grid_block(c->v)) / (int)c->loop->count;
    int64_t row = times(c->loop->count, smallest(c)), lowest = row & -row; /* bytes */
    for (int whole = LINE; whole >= SECTOR; whole /= LINE / SECTOR) {
        int step = lowest < whole ? whole / (int)lowest : 1, ranks = all / step * step;
        if (ranks >= all - all / RANKS_LESS)
            return ranks;
    }
    return all;
}

/* All blocks that run at once take all calls, some, side by side. */
static int64_t grid_of_all(const cores *c, const occupancy *r, grid *g) {
    int64_t finest = ceil_shift(times(core_total(c, true), c->loop->count), PIECE_MIN);
    int blocks = least(least(r->resident, COOP_BLOCKS_MAX), finest);
    g->threads = 1u << variant_grid_block(c->v);
    g->coop_blocks = r->cooperative && blocks > 0 ? (uint32_t)blocks : 1;
    g->coops = 1;
    return g->coop_blocks;
}

int64_t gufunc_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    const variant *v = l->v;
    cores c = {v, l->loop, l->layout, l->core};
    int64_t blocks = (v->gufunc.unrolled            ? grid_of_threads
                      : variant_grid_across(v)      ? grid_of_all
                      : v->gufunc.coop == COOP_GRID ? grid_of_coops
                      : v->gufunc.tile              ? grid_of_tiles
                      : v->gufunc.across            ? grid_across
                      : v->gufunc.coop <= COOP_WARP ? grid_of_calls
                      : v->gufunc.form              ? grid_of_rotations
                                                    : grid_of_blocks)(&c, r, g);
    put_parameter(w, GPU_GUFUNC_CALLS, l->loop->count);
    bool aligned = is_aligned(&c, l);
    assert(aligned || !v->gufunc.aligned);
    put_parameter(w, GPU_GUFUNC_ALIGNED, aligned);
    put_extents(w, GPU_GUFUNC_EXTENTS, l->loop, 0, l->loop->ndim - 1);
    put_strides(w, GPU_GUFUNC_STRIDES, l->loop, 0);
    if (v->gufunc.coop && !v->gufunc.form)
        put_whole(w, &c, g);
    else if (!v->gufunc.form)
        put_staged(w, &c, g->threads);
    if (v->gufunc.tile)
        put_parameter(w, GPU_GUFUNC_BLOCKS, g->call_blocks);
    if (v->gufunc.coop == COOP_GRID) {
        put_parameter(w, GPU_GUFUNC_BLOCKS, g->coop_blocks);
        g->slots_bytes = g->slots_zeroed = (size_t)g->coops * (size_t)variant_slot_bytes(v);
    }
    if (variant_grid_across(v)) {
        put_divisor(w, GPU_GUFUNC_SIDE, c.loop->count);
        put_parameter(w, GPU_GUFUNC_RANKS, ranks_across(&c));
    }
    if (v->gufunc.coop == COOP_GRID || v->gufunc.split)
        g->slots = put_parameter(w, GPU_GUFUNC_SLOTS, 0);
    return blocks < GRID_MAX ? blocks : GRID_MAX;
}

int gufunc_resident_block(const launch *l) {
    return l->v->gufunc.coop == COOP_GRID ? 1 << variant_grid_block(l->v) : 0;
}

int gufunc_resident_shared(const launch *l, int shared) {
    cores c = {l->v, l->loop, l->layout, l->core};
    if (l->v->gufunc.coop != COOP_GRID || !l->v->gufunc.pieces || !pieces_bytes(&c, 1))
        return 0;
    return (int)piece_share(shared, l->v->gufunc.fine);
}
