/* forall.c - kernels over indices: which arrays are accessed by vectors, how many points a thread takes, and the grid. See
 * ir/forall/gpu_forall.c. */
#include "gpu/class.h"

enum {
    ROWS = 4,         /* that a thread takes where neighbouring rows read the same elements */
    PAIR_ROWS = 8,    /* the same, where the elements are few, as those of points and their distances */
    ROWS_VALUES = 32, /* elements that it reads for them at most: more registers cost more than sharing saves */
    SHARERS = 4,      /* neighbours that a thread takes where they compute much in common, */
    SHARED_MOST =
        7000, /* and so many nodes of such points, which have less in common with those of the next rows or vectors */
    VECTORS = 2,       /* that it loads before it computes where blocks loop */
    LOOP_MOST = 4,     /* points of a kernel with a loop, which may be bound by computing: more of them lose threads */
    PRIVATE_BLOCK = 9, /* log2 of a block's threads where an array is privatised */
    LANES_LEAST = 4,   /* terms of a point, in the mean, that are worth several lanes */
    PAIR_NODES =
        10000, /* nodes of all points of a thread together where neighbouring rows read the same elements of points, */
    WINDOW_NODES = 5000, /* and of a window */
    PAIR_TERMS = 16,     /* of a reduction that are worth shared memory */
    PAIR_VECTOR = 4,     /* points that are accessed together then, */
    PAIR_ACROSS = 3,     /* and log2 of the threads that stand side by side */
    TURNED_MOST = 8,     /* rows and columns that a thread takes where an array lies across the space */
    ACROSS = 3,          /* log2 of a block's threads along the last index where they stand in two dimensions, */
    ACROSS_TILES = 512   /* as they do for windows if a row of the space has fewer tiles */
};

/* Tiles are numbered with 32 bits below this. */
static const int64_t narrow_max = INT64_C(1) << 30;

/* ---- Specialising ---- */

/* Can what neighbouring points access of operand k be accessed together? There are elements, and rows of it are at least as long
 * as those of the space. */
static bool can_stream(const variant *v, const loop_problem *s, int k) {
    const layout_operand *o = &s->layout->operands[k];
    int64_t last = o->rank ? s->core[o->dim[o->rank - 1]] : 0;
    int use = s->traits->use[k];
    if (!(use & (USE_COALESCED | USE_TURNED)) || v->operand[k].unit != o->rank || !v->forall.noalias || v->reports)
        return false;
    for (int d = 0; d < o->rank; d++)
        if (s->core[o->dim[d]] < 1)
            return false;
    return (!(use & USE_COALESCED) || last >= s->loop->extent[0]) &&
           (!(use & USE_TURNED) || last >= s->loop->extent[1]);
}

/* Does a thread take as many rows as columns, because an array lies across the space? */
static bool is_turned(const variant *v, const loop_problem *s) {
    for (int k = 0; k < v->nin; k++)
        if (v->operand[k].coalesced && s->traits->use[k] & USE_TURNED)
            return true;
    return false;
}

/* Points along the last index that a thread takes together: as many as one access of the widest stream holds; what is not aligned
 * for that is no stream after all. */
static int choose_vector(variant *v, const loop_problem *s, int most) {
    int largest = ACCESS_BYTES, vector, streams = 0, least = s->traits->shares_points ? SHARERS : 1;
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].coalesced = can_stream(v, s, k);
        if (v->operand[k].coalesced && (!streams++ || element_size(v, k) > largest))
            largest = element_size(v, k);
    }
    bool turned = is_turned(v, s);
    for (vector = ACCESS_BYTES / largest > least ? ACCESS_BYTES / largest : least;
         vector > 1 && (vector > most || vector > s->loop->extent[0] || (turned && vector > TURNED_MOST));)
        vector /= 2;
    for (int k = 0; k < v->nin; k++) {
        int bytes = s->traits->use[k] & USE_TURNED ? ACCESS_BYTES : element_size(v, k) * vector;
        if (!v->operand[k].coalesced || 1 << s->align[k] >= (bytes < ACCESS_BYTES ? bytes : ACCESS_BYTES))
            continue; /* of a number there is no alignment */
        v->operand[k].coalesced = 0;
        streams--;
    }
    return streams || vector < least ? vector : least;
}

/* By accesses of how many bytes (log2) a short row is read; 0: element by element. The extent is a multiple of their elements, and each row
 * is aligned for them. */
static int choose_row_access(const variant *v, const loop_problem *s, int k) {
    const layout_operand *o = &s->layout->operands[k];
    int use = s->traits->use[k], group = ACCESS_BYTES / element_size(v, k);
    if (!(use & USE_SHORT_ROWS) || use & (USE_WRITE | USE_ATOMIC) || !v->forall.noalias || v->reports ||
        v->operand[k].unit != o->rank)
        return 0;
    while (group > 1 && (s->core[o->dim[o->rank - 1]] % group || 1 << s->align[k] < group * element_size(v, k)))
        group /= 2;
    return group > 1 ? (int)log2_floor((uint64_t)(group * element_size(v, k))) : 0;
}

/* Bytes from one short row to the next where they are a constant of the code; 0: a parameter. */
static int choose_row_stride(const variant *v, const loop_problem *s, int k) {
    const layout_operand *o = &s->layout->operands[k];
    if (!v->operand[k].align || o->rank < 2 || !s->traits->has_loop)
        return 0;
    int64_t elements = s->core[o->strides + o->rank - 2];
    return elements > 0 && elements <= UINT8_MAX / element_size(v, k) ? (int)elements * element_size(v, k) : 0;
}

/* May a thread take so many rows, or vectors? */
static bool can_repeat(const variant *v, const loop_problem *s, int repeat, int most) {
    bool rows = v->ndim > 1;
    if (repeat * v->forall.vector > most || (rows && repeat > s->loop->extent[1]))
        return false;
    return !rows || !s->traits->more_rows ||
           (repeat * s->traits->rows + s->traits->more_rows) * v->forall.vector <= ROWS_VALUES;
}

static int choose_repeat(const variant *v, const loop_problem *s, int most) {
    if (is_turned(v, s)) { /* as many rows as columns, so that both ways there are vectors */
        int rows = v->forall.vector;
        while (rows > 1 && rows > s->loop->extent[1])
            rows /= 2;
        return rows;
    }
    bool rows = v->ndim > 1 && (s->traits->more_rows || s->traits->shares_rows),
         sharers = s->traits->shares_points && !s->traits->calls_math;
    bool pairs = rows && !s->traits->more_rows && !s->traits->has_loop;
    int repeat = pairs ? PAIR_ROWS : rows || sharers ? ROWS : v->ndim == 1 && variant_privatised(v) ? VECTORS : 1;
    while (repeat > 1 && !can_repeat(v, s, repeat, most))
        repeat /= 2;
    return repeat;
}

/* The extent of the loop's dimension d in tiles. */
static int64_t tiles_along(const variant *v, const nd_loop *loop, int d) {
    int each = d == 0 ? v->forall.vector : d == 1 ? v->forall.vectors_per_thread : 1;
    return ceil_shift(loop->extent[d], log2_floor((uint64_t)each));
}

static int64_t tiles_of(const variant *v, const nd_loop *loop) {
    int64_t n = 1;
    for (int d = 0; d < loop->ndim; d++)
        n *= tiles_along(v, loop, d);
    return n;
}

/* Bytes of shared memory that operand k is counted in, a multiple of 16. */
static int64_t private_bytes(const variant *v, const core_layout *l, const int64_t *core, int k) {
    int size = v->operand[k].privatised == PRIVATE_TALLY ? (int)sizeof(uint32_t) : element_size(v, k);
    return (core_elements(l, core, k) * size + 15) / 16 * 16;
}

static void choose_private(variant *v, const loop_problem *s) {
    int64_t left = PRIVATE_BYTES, points = s->loop->count;
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].privatised = s->traits->use[k] & USE_TALLY && points <= UINT32_MAX ? PRIVATE_TALLY : 1;
        int64_t n = core_elements(s->layout, s->core, k), bytes = private_bytes(v, s->layout, s->core, k);
        if (!(s->traits->use[k] & USE_COUNTER) || v->reports || element_size(v, k) < 4 || !n || bytes > left ||
            points < PRIVATE_LEAST || points / PRIVATE_POINTS < n) {
            v->operand[k].privatised = 0;
            continue;
        }
        left -= bytes;
        v->forall.block = v->forall.block ? v->forall.block : PRIVATE_BLOCK;
    }
}

/* Lanes for a point whose reductions' extents are data: half the terms that they have in the mean, which is what sizes tell of them. */
static unsigned choose_lanes(const variant *v, const loop_problem *s) {
    int k = s->traits->ragged - 1;
    if (k < 0 || v->reports || !v->forall.noalias || s->elements || variant_privatised(v) || s->loop->count < 1)
        return 0;
    int64_t mean = core_elements(s->layout, s->core, k) / s->loop->count;
    unsigned lanes = mean >= LANES_LEAST ? log2_floor((uint64_t)mean) - 1 : 0;
    return lanes < COOP_WARP ? lanes : COOP_WARP;
}

/* Do blocks stage the rows that a loop reads? They are staged as they lie, by accesses of whole rows. */
static uint8_t choose_shared_rows(const variant *v, const loop_problem *s) {
    int k = s->traits->shared_rows - 1;
    if (k < 0 || !v->forall.proved || v->wide || v->reports || variant_privatised(v) || v->forall.vector > 1 ||
        v->forall.vectors_per_thread > 1 || !v->operand[k].record || v->operand[k].record != 1 << v->operand[k].align)
        return 0;
    return s->traits->shared_rows;
}

/* Do a block's threads stand in two dimensions? They do where an array lies across the space. Where windows go over short rows, a warp
 * that is as long as a part of a row would often have a tile at a border, for which all its threads wait. */
static bool stands_across(const variant *v, const loop_problem *s) {
    return is_turned(v, s) || (v->ndim > 1 && s->traits->more_rows && tiles_along(v, s->loop, 0) < ACROSS_TILES &&
                               tiles_along(v, s->loop, 1) >= 1 << ACROSS);
}

/* Would most tiles be full? */
static bool fills_tiles(int64_t extent) {
    int64_t tiles = ceil_shift(extent, log2_floor(SHARED_TILE_SIDE));
    return extent >= SHARED_TILE_SIDE && tiles * SHARED_TILE_SIDE <= extent + extent / 4;
}

static int64_t pair_tiles(const nd_loop *loop, int d) {
    return ceil_shift(loop->extent[d], log2_floor(SHARED_TILE_SIDE));
}

/* Are all arrays aligned for accesses to PAIR_VECTOR neighbours? */
static bool pairs_are_aligned(const variant *v, const loop_problem *s) {
    for (int k = 0; k < v->nin; k++) {
        int bytes = element_size(v, k) * PAIR_VECTOR;
        if (s->layout->operands[k].rank && v->operand[k].unit &&
            1 << s->align[k] < (bytes < ACCESS_BYTES ? bytes : ACCESS_BYTES))
            return false;
    }
    return true;
}

/* Do blocks take tiles of pairs of points? */
static bool choose_pairs(variant *v, const loop_problem *s) {
    int which = s->traits->pairs;
    if (!which || v->ndim != 2 || s->elements || s->block || v->reports || !v->forall.proved || !v->forall.noalias)
        return false;
    int64_t terms = which == PAIRS_CONSTANT ? s->traits->pair_terms : s->core[which - 1];
    if (terms < PAIR_TERMS || !fills_tiles(s->loop->extent[0]) || !fills_tiles(s->loop->extent[1]) ||
        pair_tiles(s->loop, 0) > narrow_max / pair_tiles(s->loop, 1))
        return false;
    v->forall.pairs = pairs_are_aligned(v, s) ? PAIR_VECTOR : 1;
    v->forall.vector = v->forall.pairs;
    v->forall.vectors_per_thread =
        (uint8_t)(SHARED_TILE_SIDE * SHARED_TILE_SIDE >> COOP_SHARED_TILE) / v->forall.vector;
    v->forall.block = COOP_SHARED_TILE;
    v->forall.across = PAIR_ACROSS;
    return true;
}

static int rows_nodes(const loop_problem *s) { return s->traits->more_rows ? WINDOW_NODES : PAIR_NODES; }

void forall_specialise(variant *v, const loop_problem *s) {
    if (choose_pairs(v, s))
        return;
    int wanted = s->elements, nodes = s->traits->nodes > 0 ? s->traits->nodes : 1;
    int most = wanted ? wanted : BODY_NODES_MAX / nodes;
    if (s->traits->has_loop && !wanted && most > LOOP_MOST)
        most = LOOP_MOST;
    if (s->traits->shares_points && !wanted && !s->traits->has_loop)
        most = SHARED_MOST / nodes > SHARERS ? SHARED_MOST / nodes : SHARERS;
    if ((s->traits->more_rows || s->traits->shares_rows) && !wanted && !s->traits->has_loop)
        most = rows_nodes(s) / nodes > LOOP_MOST ? rows_nodes(s) / nodes : LOOP_MOST;
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].align = (uint8_t)(s->layout->operands[k].rank ? choose_row_access(v, s, k) : 0);
        v->operand[k].record = (uint8_t)choose_row_stride(v, s, k);
    }
    v->forall.block = s->block > BLOCK_MAX ? (uint8_t)log2_floor((uint64_t)s->block) : 0;
    choose_private(v, s);
    v->forall.lanes = (uint8_t)choose_lanes(v, s);
    for (int k = 0; k < v->nin && v->forall.lanes; k++)
        v->operand[k].coalesced = 0;
    if (v->forall.lanes) {
        v->forall.vector = v->forall.vectors_per_thread = 1;
        v->wide = tiles_of(v, s->loop) >= narrow_max >> v->forall.lanes;
        return;
    }
    v->forall.vector = (uint8_t)choose_vector(v, s, most);
    v->forall.vectors_per_thread = (uint8_t)(wanted ? wanted / v->forall.vector : choose_repeat(v, s, most));
    v->wide = tiles_of(v, s->loop) >= narrow_max;
    v->forall.shared_rows = choose_shared_rows(v, s);
    if (!v->wide && !variant_privatised(v) && stands_across(v, s))
        v->forall.across = ACROSS;
}

/* ---- Launching ---- */

/* Threads of a block that the variant or the caller asks for; 0: those of best occupancy. */
static int fixed_block(const launch *l) {
    return l->block ? l->block : l->v->forall.block ? 1 << l->v->forall.block : 0;
}

int forall_resident_block(const launch *l) { return variant_privatised(l->v) ? fixed_block(l) : 0; }

/* Blocks of the space become smaller where there are few. */
static int64_t blocks_of(const launch *l, const occupancy *r, int64_t tiles, grid *g) {
    const variant *v = l->v;
    unsigned each = v->ndim == 1 ? log2_floor(v->forall.vectors_per_thread) : 0;
    tiles <<= v->forall.lanes; /* threads, or as many vectors */
    int fixed = fixed_block(l);
    g->threads = fixed ? (unsigned)fixed : r->block;
    while (!fixed && g->threads > BLOCK_MIN && ceil_shift(tiles, each + log2_floor(g->threads)) < r->sms)
        g->threads /= 2;
    int64_t blocks = ceil_shift(tiles, each + log2_floor(g->threads)),
            most = variant_privatised(v) ? r->resident : GRID_MAX;
    return blocks < most ? blocks : most; /* then they loop */
}

/* The extent of dimension d in what the grid counts: tiles, or blocks of them. */
static int64_t extent_along(const variant *v, const nd_loop *loop, int d, unsigned threads) {
    unsigned across = v->forall.across, shift = !across || d > 1 ? 0 : d == 0 ? across : log2_floor(threads) - across;
    return ceil_shift(tiles_along(v, loop, d), shift);
}

/* Blocks that have threads in two dimensions: one for each part of the space. */
static int64_t layout_across(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    int64_t blocks = 1;
    g->threads = fixed_block(l) ? (unsigned)fixed_block(l) : r->block;
    for (int d = 0; d < l->loop->ndim; d++)
        blocks *= extent_along(l->v, l->loop, d, g->threads);
    put_parameter(w, GPU_FORALL_TILES, blocks);
    for (int d = 0; d < l->loop->ndim - 1; d++)
        put_divisor(w, GPU_FORALL_EXTENTS, extent_along(l->v, l->loop, d, g->threads));
    return blocks;
}

static int64_t layout_pairs(const launch *l, parameter_writer *w, grid *g) {
    int64_t across = pair_tiles(l->loop, 0), blocks = across * pair_tiles(l->loop, 1);
    g->threads = 1u << COOP_SHARED_TILE;
    put_parameter(w, GPU_FORALL_TILES, blocks);
    put_divisor(w, GPU_FORALL_EXTENTS, across);
    return blocks;
}

int64_t forall_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    if (l->v->forall.pairs)
        return layout_pairs(l, w, g);
    if (l->v->forall.across)
        return layout_across(l, r, w, g);
    int64_t tiles = tiles_of(l->v, l->loop);
    put_parameter(w, GPU_FORALL_TILES, tiles);
    for (int d = 0; d < l->loop->ndim - 1; d++)
        put_divisor(w, GPU_FORALL_EXTENTS, tiles_along(l->v, l->loop, d));
    for (int k = 0; k < l->v->nin; k++)
        if (l->v->operand[k].privatised) {
            put_parameter(w, GPU_FORALL_PRIVATE, g->shared);
            g->shared += (uint32_t)private_bytes(l->v, l->layout, l->core, k);
        }
    if (l->v->forall.shared_rows)
        g->shared += (uint32_t)(SHARED_ROWS * l->v->operand[l->v->forall.shared_rows - 1].record);
    return blocks_of(l, r, tiles, g);
}
