/* gufunc.c - inner calls of a generalized ufunc. Specialising chooses how many threads compute one call together, and what a
 * thread takes at a time: part of the variant, so of the code. The numbers to tune are the constants; what they are used for is in the few
 * functions under "The choice". Launches are laid out in gufunc_layout.c. */
#include "gpu/calls.h"
#include "gpu/shared_tile.h"
#include "type/tile.h"

enum {
    /* One level: a sum, or a forall without reductions. Vectors that a thread takes at a time: of lines of LINE_LONG vectors
     * that are passed over more than once, more; of a cooperative group of several blocks, fewer: registers cost it company. */
    LINE_STEPS = 4,
    LINE_STEPS_LONG = 8,
    LINE_STEPS_GRID = 2, /* but LINE_STEPS where the blocks have elements of a word and more in shared memory */
    LINE_LONG = 128,
    LINE_COOP = 9,      /* log2 of its largest cooperative group, */
    LINE_COOP_MANY = 7, /* and where there are LINE_CALLS calls, so many that smaller ones fill the device */
    LINE_CALLS = 2048,
    /* Reductions inside a forall, each by some lanes of a warp. */
    SHORT_VECTORS = 4, /* up to so many vectors, a lane takes two; beyond, one, until the warp is full */
    ROW_BYTES = 64,    /* that a thread should load before it computes: rows taken at a time */
    ROW_REPEAT_MAX = 8,
    ROW_GROUPS = 16, /* a call must have rows for one in so many of the groups of lanes in a warp */
    ROW_COOP = 8,    /* log2 of the largest cooperative group */
    /* Reductions inside a forall, each in a thread. */
    TILE_ROWS = 4,
    TILE_COOP = 7,         /* log2 of the largest cooperative group */
    UNROLLED_BYTES = 1152, /* of the operands of an inner call, for which the registers of a thread suffice */
    UNROLLED_MOST = 10000, /* lines of IR of an inner call without loops, of which about half become instructions */

    /* Calls that threads share, a part each. */
    PART_CALL = 216,   /* iterations of a call that one thread does */
    PART_SIDE = 4,     /* indices of a dimension that a thread takes where rows are read by 16 bytes, */
    PART_SIDE_ODD = 6, /* where they are not, so that each element that is read serves more sums */
    PART_WORK = 6144,  /* nodes of all iterations of a part */
    PART_THREADS = 64, /* that share a call, at most */

    TINY = 32, /* iterations of a call that are not worth a second thread if they do not go by vectors */

    GRID_WORK = 1 << 18,  /* iterations of a call that are worth several blocks, if there are */
    GRID_CALLS = 128,     /* fewer calls than this do not fill a large device with a block each */
    BLOCK_CORE = 1 << 16, /* elements that a block keeps near itself from one construct to the next */

    STAGE_BYTES = SHARED_FREE,       /* of shared memory in a block */
    STAGE_COUNT = 1024,              /* elements of a core */
    STAGE_CALL = STAGE_BYTES / WARP, /* bytes of a call: the smallest block must do */

    /* Inputs that several constructs read, staged whole for a cooperative group. */
    WHOLE_ROW = 2 * 1024, /* bytes of a call from which it pays; before, the first-level cache does as well */
    WHOLE_STEPS =
        2, /* vectors that a thread takes together: shared memory is near, and registers cost blocks; but .. */
    WHOLE_ELEMENTS = 32,   /* .. so many elements, .. */
    WHOLE_COOP_MANY = 8,   /* .. where a cooperative group has no more than this, log2 */
    WHOLE_STEPS_WIDE = 4,  /* of elements of more than a word that are accessed one by one */
    WHOLE_ROUNDS = 10,     /* vectors of halves that a thread has of a row at least, if it takes two together, .. */
    WHOLE_ROUNDS_EVEN = 8, /* .. and where all threads have as many */
    WHOLE_COOP = 6,        /* log2 of the smallest cooperative group; larger ones where few fit a multiprocessor */
    WHOLE_THREADS = 1024,  /* that a multiprocessor should have */
    WHOLE_RESERVED = 22 * 1024, /* of shared memory, for what reductions leave there and the driver's own */

    /* Rows that a cluster holds. */
    CLUSTER_ROW = 96 * 1024,   /* bytes of a row above which it pays; up to there two rows fit a multiprocessor */
    CLUSTER_PIECE = 52 * 1024, /* bytes that a block should have at most, so that four fit a multiprocessor, */
    CLUSTER_COOP = 8,          /* and log2 of its threads; twice as many where the largest cluster leaves it more, .. */
    CLUSTER_SINGLE = 64,       /* .. and where so many elements that go one by one would be a thread's */

    /* Pieces of a range. */
    HEAD_ACCESS =
        4, /* bytes of an access by vectors up to which rows that are passed over several times should rather begin anywhere, .. */
    HEAD_VECTORS = 8, /* .. if they have so many vectors, .. */
    HEAD_VECTORS_MIXED =
        1024, /* .. or so many of whole words, where some operands then go by vectors that are shifted, or by none */
    SHIFTED_LEAST = 4,    /* bytes of a vector from which they are loaded shifted */
    PIECE_ROW = 1 << 19,  /* bytes of a row from which they pay */
    PART_WORDS = 24,      /* registers for a part of a piece, .. */
    PART_WORDS_HALF = 16, /* .. of 16-bit elements, two in each; their functions take more beside them */
    PART_ROWS = 16,       /* calls that there should be: a row has fewer blocks then */

    /* Neighbouring calls side by side. */
    ACROSS = 5,         /* log2 of the calls of a block, .. */
    ACROSS_THREADS = 9, /* .. of the threads of a block, */
    ACROSS_STEPS = 8,   /* elements that a thread takes together, and .. */
    ACROSS_STAGED = 4,  /* .. where they are in shared memory, */
    ACROSS_FEW = 3,     /* one of so many multiprocessors should have a block, */
    ACROSS_LEAST = 12,  /* and must, */
    ACROSS_TILES = 4,   /* staged blocks that a multiprocessor should have, */
    EXCHANGED_WORDS =
        5,           /* that a thread tells others of a reduction, at most: a complex number, and whether it is one, */
    HELD_LEAST = 33, /* the least height of columns of which threads hold parts, */
    HELD_WORDS = 32, /* registers of a thread for that, .. */
    HELD_WORDS_WIDE = 20, /* .. of rows of two-word elements, whose functions take more beside them */
    HELD_FEW = 16,        /* elements of one height up to which there is a variant for each number of them, and */
    HELD_TOGETHER = 8,    /* those that a thread computes together */
    HELD_ROOM = 8,        /* part of a row's registers that may be empty, or is worth other vectors */
    HELD_COOP = 9,        /* log2 of the threads that have a row in registers, at most, .. */
    HELD_COOP_WORDS = 7,  /* .. of elements of a word and more */
    /* Inputs that all columns have in common go through shared memory where a block has so many columns, log2: in narrower ones a thread
     * would load too many of their elements. Bytes that they may take there. */
    BROADCAST_ACROSS = 4,
    BROADCAST_BYTES = 12 << 10,
    SECTOR = 32, /* bytes that memory is read by: the calls of a block should have as much next to each other */
};

/* ---- Cores ---- */

/* The dimension of stride 1, see variant_operand; an extent of 1 is no use if there is another. */
static int find_unit(const cores *c, int k) {
    int unit = 0;
    for (int i = 0; i < rank_of(c, k); i++)
        if (stride_at(c, k, i) == 1 && (!unit || extent_at(c, k, i) > 1 || extent_at(c, k, unit - 1) <= 1))
            unit = i + 1;
    return unit;
}

/* ---- Vectors ---- */

/* Is operand k moved along its unit dimension by the range that goes by vectors? */
static bool is_by_vectors(const variant *v, const code_traits *traits, int k) {
    int unit = v->operand[k].unit;
    for (int i = 0; i < traits->nconstructs && unit; i++) {
        const code_construct *x = &traits->construct[i];
        for (int j = 0; j < x->naccesses; j++) {
            const code_access *a = &x->access[j];
            if (a->operand == k && (x->nested && !v->gufunc.along ? a->inner : a->outer) == unit)
                return true;
        }
    }
    return false;
}

/* Bytes of the widest element that is moved by vectors; 0: none is. */
static int widest_by_vectors(const cores *c, const code_traits *traits) {
    int widest = 0;
    for (int k = 0; k < variant_operands(c->v); k++)
        if (is_by_vectors(c->v, traits, k) && element_size(c->v, k) > widest)
            widest = element_size(c->v, k);
    return widest;
}

/* As many elements as the widest operand allows, and fewer where extents or strides do not. */
static int vector_width(const cores *c, const code_traits *traits) {
    int widest = widest_by_vectors(c, traits), vector = widest ? ACCESS_BYTES / widest : 1;
    for (int k = 0; k < variant_operands(c->v); k++)
        while (vector > 1 && is_by_vectors(c->v, traits, k) &&
               (unit_extent(c, k) < vector || other_strides(c, k) & (unsigned)(vector - 1)))
            vector /= 2;
    return vector;
}

/* An operand whose strides do not allow vectors is none that is accessed by them, but would make every launch count as not
 * aligned. */
static void drop_units(const cores *c, variant *v) {
    for (int k = 0; k < variant_operands(v); k++)
        if (must_align(c, k) && other_strides(c, k) & (v->gufunc.vector - 1u))
            v->operand[k].unit = 0;
}

/* ---- Work ---- */

/* What one call does in its largest construct. */
typedef struct work {
    const code_construct *construct;
    int64_t rows, last; /* iterations of a sum or forall: along its last range, and along all others */
    int64_t length;     /* iterations of the reduction inside, or 1 */
    int64_t all;
} work;

/* Have all calls the same core in every operand with this dimension, which has no other one? */
static bool is_shared(const cores *c, int dimension) {
    for (int k = 0; k < c->layout->nin + c->layout->nout; k++)
        for (int i = 0; i < rank_of(c, k); i++) {
            bool has = c->layout->operands[k].dim[i] == dimension;
            if (has && rank_of(c, k) > 1)
                return false;
            for (int d = 0; d < c->loop->ndim && has; d++)
                if (c->loop->extent[d] > 1 && stride_of(c->loop, d, k))
                    return false;
        }
    return c->loop->count > 0;
}

/* Ranges over something else than a dimension, whose extents are data, count as much as the largest dimension; or, if all calls share
 * that, as the rows of a sparse matrix share its elements, as much as each call has of it in the mean. */
static int64_t range_extent(const cores *c, int dimension) {
    int largest = 0;
    if (dimension >= 0)
        return c->core[dimension];
    for (int d = 1; d < c->layout->ndims; d++)
        if (c->core[d] > c->core[largest])
            largest = d;
    if (!c->layout->ndims || c->core[largest] < 1)
        return 1;
    return is_shared(c, largest) ? (c->core[largest] - 1) / c->loop->count + 1 : c->core[largest];
}

static work measure(const cores *c, const code_construct *x) {
    work w = {.construct = x, .rows = 1, .last = 1, .length = 1};
    for (int i = 0; i + 1 < x->nouter; i++)
        w.rows = times(w.rows, range_extent(c, x->outer[i]));
    if (x->nouter)
        w.last = range_extent(c, x->outer[x->nouter - 1]);
    for (int i = 0; i < x->ninner && x->nested; i++)
        w.length = times(w.length, range_extent(c, x->inner[i]));
    w.all = times(times(w.rows, w.last), w.length);
    return w;
}

static work find_work(const cores *c, const code_traits *traits) {
    work most = measure(c, &traits->construct[0]);
    for (int i = 1; i < traits->nconstructs; i++) {
        work w = measure(c, &traits->construct[i]);
        if (w.all > most.all)
            most = w;
    }
    return most;
}

/* ---- The choice ---- */

/* Copies of the body that a thread may have. */
static int copies_most(const code_traits *traits, const work *w) {
    int nodes = w->construct->nodes;
    if (nodes == UINT8_MAX && traits->nodes > nodes)
        nodes = traits->nodes;
    return nodes < BODY_NODES_MAX ? BODY_NODES_MAX / (nodes > 0 ? nodes : 1) : 1;
}

static void set_repeat(variant *v, int repeat, int copies) {
    while (repeat > 1 && repeat * v->gufunc.vector > copies)
        repeat /= 2;
    v->gufunc.steps = (uint8_t)repeat;
}

/* Lanes along the range, some vectors each. */
static void choose_line(variant *v, const work *w, int64_t calls, int copies, bool again) {
    int64_t vectors = ceil_shift(times(w->rows, w->last), log2_floor(v->gufunc.vector));
    bool many = again && vectors >= LINE_LONG;
    int steps = many ? LINE_STEPS_LONG : LINE_STEPS;
    while (steps > 1 && vectors < 2 * steps)
        steps /= 2;
    set_repeat(v, steps, copies);
    v->gufunc.coop = (uint8_t)least(log2_floor((uint64_t)(vectors / v->gufunc.steps)),
                                    calls < LINE_CALLS ? LINE_COOP : LINE_COOP_MANY);
}

/* Bytes of the widest array in one vector. */
static int vector_bytes(const variant *v) {
    int widest = 1;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind != OPERAND_NUMBER && element_size(v, k) > widest)
            widest = element_size(v, k);
    return widest * v->gufunc.vector;
}

/* A group of lanes along each reduction, rows of the forall over groups, and several rows at a time in each. Rows at a time
 * do not cost lanes as long as these make less than a warp. */
static void choose_rows(variant *v, const work *w, int copies) {
    int64_t vectors = ceil_shift(w->length, log2_floor(v->gufunc.vector)), rows = times(w->rows, w->last);
    unsigned lanes = vectors <= SHORT_VECTORS ? log2_ceil((uint64_t)(vectors + 1) / 2)
                                              : log2_floor((uint64_t)vectors + (uint64_t)vectors / 2);
    v->gufunc.lanes = (uint8_t)least(lanes, COOP_WARP);
    int repeat = repeat_for(vector_bytes(v), ROW_BYTES, ROW_REPEAT_MAX),
        groups = (WARP >> v->gufunc.lanes) / ROW_GROUPS;
    while (repeat > 1 && rows < (int64_t)repeat * (groups ? groups : 1))
        repeat /= 2;
    set_repeat(v, repeat, copies);
    v->gufunc.coop =
        (uint8_t)least(log2_ceil((uint64_t)ceil_shift(rows, log2_floor(v->gufunc.steps))) + v->gufunc.lanes, ROW_COOP);
}

/* A thread computes whole reductions, of a tile of rows by a vector along the last range. */
static void choose_tiles(variant *v, const work *w, int copies) {
    int repeat = TILE_ROWS;
    while (repeat > 1 && repeat / 2 >= w->rows)
        repeat /= 2;
    set_repeat(v, repeat, copies);
    int64_t threads =
        times(ceil_shift(w->rows, log2_floor(v->gufunc.steps)), ceil_shift(w->last, log2_floor(v->gufunc.vector)));
    v->gufunc.coop = (uint8_t)least(log2_ceil((uint64_t)threads), TILE_COOP);
}

/* Several blocks a call: where it is much work and calls are few, or where a block would read its core from far away for
 * each construct again. */
static bool wants_grid(const cores *c, const code_traits *traits, const work *w) {
    return (w->all >= GRID_WORK && c->loop->count < GRID_CALLS) ||
           (traits->nconstructs > 1 && core_total(c, false) > BLOCK_CORE);
}

/* As many elements in an access as 16 bytes hold of the widest, and fewer until the extents and strides of all arrays are multiples. */
static int tile_vector(const cores *c) {
    int widest = 1, vector;
    for (int k = 0; k < variant_operands(c->v); k++)
        if (rank_of(c, k) && element_size(c->v, k) > widest)
            widest = element_size(c->v, k);
    vector = ACCESS_BYTES / widest;
    for (int k = 0; k < variant_operands(c->v); k++)
        while (vector > 1 && rank_of(c, k) && c->v->operand[k].unit &&
               ((uint64_t)unit_extent(c, k) | other_strides(c, k)) & (unsigned)(vector - 1))
            vector /= 2;
    return vector;
}

/* Are the ranges of a forall the dimensions of the output that its grid is made for? */
static bool fills_output(const cores *c, const code_construct *x) {
    int k = tiled_output(c);
    for (int d = 0; d < 2 && k >= 0; d++)
        if (x->outer[d] < 0 || c->layout->operands[k].dim[d] != x->outer[d])
            return false;
    return k >= 0;
}

/* Tiles through shared memory; alone: the other way would be several blocks a call. */
static bool choose_tile(const cores *c, variant *v, const loop_problem *s, const work *w, bool alone) {
    if (s->traits->nconstructs != 1 || !w->construct->tiles)
        return false;
    tile_problem p = {.side = {w->rows, w->last},
                      .depth = w->length,
                      .calls = c->loop->count,
                      .words = w->construct->tiles,
                      .sms = s->sms,
                      .alone = alone,
                      .along = v->gufunc.along,
                      .divides = fills_output(c, w->construct)};
    int split = 0, shape = tile_choose(&p, &split);
    if (!shape)
        return false;
    v->gufunc.split = (uint8_t)split;
    v->gufunc.tile = (uint8_t)shape;
    v->gufunc.vector = (uint8_t)tile_vector(c);
    v->gufunc.steps = 1;
    v->gufunc.coop = (uint8_t)(tile_shapes[shape - 1].down + tile_shapes[shape - 1].across);
    return true;
}

/* ---- Inputs that are staged whole ---- */

/* Constructs that read operand k. */
static int readers(const code_traits *traits, int k) {
    int n = 0;
    for (int i = 0; i < traits->nconstructs; i++) {
        bool reads = false;
        for (int j = 0; j < traits->construct[i].naccesses; j++)
            reads |= traits->construct[i].access[j].operand == k;
        n += reads;
    }
    return n;
}

static bool reads_often(const cores *c, const code_traits *traits, int k) {
    return k < c->v->nin && rank_of(c, k) == 1 && readers(traits, k) > 1;
}

static bool may_stage(const cores *c, const code_traits *traits, int k) {
    const variant_operand *o = &c->v->operand[k];
    return reads_often(c, traits, k) && (c->v->gufunc.across || (o->unit && !o->shifted));
}

static int64_t whole_bytes(const cores *c, const code_traits *traits) {
    int64_t bytes = 0;
    for (int k = 0; k < c->v->nin; k++)
        if (may_stage(c, traits, k))
            bytes = plus(bytes, whole_part(c, k, 1));
    return bytes;
}

static void stage_whole(const cores *c, variant *v, const code_traits *traits) {
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].staged = may_stage(c, traits, k);
        if (v->operand[k].staged && v->gufunc.across)
            v->operand[k].unit = 0; /* in shared memory neighbours are those of neighbouring calls */
    }
}

static int64_t shared_most(const loop_problem *s) {
    return (s->shared > STAGE_BYTES ? s->shared : STAGE_BYTES) - WHOLE_RESERVED;
}

/* Would more than a sixth of the vectors that threads take together lie beyond the row's end? */
static bool wasted(const work *w, const variant *v, int steps) {
    int64_t vectors = w->all / v->gufunc.vector, round = (int64_t)steps << v->gufunc.coop;
    int64_t taken = (vectors + round - 1) / round * round;
    return taken - vectors > vectors / 6;
}

/* Bytes of the smallest element. */
static int smallest(const cores *c) {
    int bytes = SECTOR;
    for (int k = 0; k < c->layout->nin + c->layout->nout; k++)
        if (rank_of(c, k) && element_size(c->v, k) < bytes)
            bytes = element_size(c->v, k);
    return bytes;
}

/* ---- Pieces of a range ---- */

/* Do the traits tell of every construct? Of so many there may be more. */
static bool knows_all(const code_traits *traits) { return traits->nconstructs < CODE_CONSTRUCTS; }

/* The core dimension that all constructs go along, and along nothing else; -1: there is none. */
static int one_range(const code_traits *traits) {
    int d = knows_all(traits) ? traits->construct[0].outer[0] : -1;
    for (int i = 0; i < traits->nconstructs; i++) {
        const code_construct *x = &traits->construct[i];
        if (x->nested || x->nouter != 1 || x->outer[0] != d)
            return -1;
    }
    return d;
}

static bool goes_along(const cores *c, int k, int dimension) {
    int unit = c->v->operand[k].unit;
    return unit && c->layout->operands[k].dim[unit - 1] == dimension;
}

/* Rows begin where those of `lead` do; inputs' rows that do not are loaded by vectors that are shifted; others are not accessed by vectors. */
static void begin_anywhere(const cores *c, variant *v, int dimension, int lead) {
    v->gufunc.pieces = 1;
    for (int k = 0; k < variant_operands(v); k++) {
        bool along = goes_along(c, k, dimension), alike = along && moves_alike(c, k, lead);
        int bytes = element_size(v, k) * v->gufunc.vector;
        v->operand[k].shifted =
            along && !alike && k < v->nin && rank_of(c, k) == 1 && bytes >= SHIFTED_LEAST && bytes <= ACCESS_BYTES;
        if (!alike && !v->operand[k].shifted)
            v->operand[k].unit = 0;
    }
}

/* The first operand that is accessed by vectors and whose rows do not all begin at whole ones; -1: there is none. */
static int find_lead(const cores *c, const code_traits *traits, int dimension, int vector) {
    for (int k = 0; k < variant_operands(c->v); k++)
        if (is_by_vectors(c->v, traits, k) && goes_along(c, k, dimension) && rank_of(c, k) == 1 &&
            other_strides(c, k) & (vector - 1u))
            return k;
    return -1;
}

/* Where strides would make accesses by vectors narrow, rows may begin anywhere. Operands that do not move as the others do cost more then,
 * which pays for long rows, and for elements of less than a word. */
static void choose_head(const cores *c, variant *v, const code_traits *traits) {
    int d = traits->nconstructs > 1 ? one_range(traits) : -1, widest = widest_by_vectors(c, traits),
        narrow = v->gufunc.vector;
    int vector = widest ? ACCESS_BYTES / widest : 1, lead = d < 0 ? -1 : find_lead(c, traits, d, vector);
    if (lead < 0 || narrow * widest > HEAD_ACCESS)
        return;
    bool mixed = false;
    v->gufunc.vector = (uint8_t)vector;
    for (int k = 0; k < variant_operands(v); k++)
        mixed |= is_by_vectors(v, traits, k) && !moves_alike(c, k, lead);
    if (c->core[d] >= vector * (mixed && widest >= HEAD_ACCESS ? HEAD_VECTORS_MIXED : HEAD_VECTORS))
        begin_anywhere(c, v, d, lead);
    else
        v->gufunc.vector = (uint8_t)narrow;
}

/* The first input that is read often, if all of them are read at the index of the one range alone and may be staged; else -1. */
static int find_staged(const cores *c, const loop_problem *s, int dimension) {
    int lead = -1;
    for (int k = c->v->nin - 1; k >= 0 && dimension >= 0; k--) {
        if (!reads_often(c, s->traits, k) || !c->v->operand[k].unit)
            continue;
        if (s->traits->elsewhere >> k & 1 || c->layout->operands[k].dim[0] != dimension)
            return -1;
        lead = k;
    }
    return lead;
}

/* Do blocks have room for their pieces of a row of so many bytes? As many as there are multiprocessors are resident in any case. */
static bool pieces_fit(const loop_problem *s, int64_t bytes, bool fine) {
    int blocks = s->sms < COOP_BLOCKS_MAX ? s->sms : COOP_BLOCKS_MAX;
    return bytes / blocks <= piece_share(s->shared, fine) - 2 * ACCESS_BYTES * UF_MAX_OPERANDS;
}

/* May threads hold parts of operand k, where all constructs go over that dimension? It has no other one, whose elements that index might not
 * reach, or not only. */
static bool may_hold(const cores *c, const code_traits *traits, int k, int dimension) {
    return reads_often(c, traits, k) && c->layout->operands[k].dim[0] == dimension;
}

/* Registers that the elements of index i in all operands that threads may hold take. */
static int held_words(const cores *c, const code_traits *traits, int dimension) {
    int words = 0;
    for (int k = 0; k < c->v->nin; k++)
        if (may_hold(c, traits, k, dimension))
            words += element_size(c->v, k) > 4 ? element_size(c->v, k) / 4 : 1;
    return words;
}

/* Elements that a thread may hold of a piece, if there is any operand to be held: those of 16 bits two in a register. */
static int part_elements(const cores *c, const code_traits *traits, int dimension) {
    bool halves = true;
    int words = held_words(c, traits, dimension);
    for (int k = 0; k < c->v->nin; k++)
        halves &= !c->v->operand[k].staged ||
                  (element_size(c->v, k) == 2 && c->v->operand[k].memory == c->v->operand[k].value);
    return words ? (halves ? 2 * PART_WORDS_HALF : PART_WORDS) / words : 0;
}

/* Threads hold the first vectors of their block's piece in registers, so that fewer blocks hold a row, and more rows are under way. */
static void hold_part(const cores *c, variant *v, const loop_problem *s, int dimension) {
    int held = part_elements(c, s->traits, dimension) / v->gufunc.vector;
    if (!v->gufunc.fine || !s->traits->simple || c->loop->count < PART_ROWS || v->gufunc.vector == 1 || !held)
        return;
    variant whole = *v;
    for (int k = 0; k < v->nin; k++)
        v->operand[k].held = v->operand[k].staged;
    v->gufunc.held = (uint8_t)held;
    if (pieces_holding(c) < pieces_least(c, piece_share(s->shared, true)))
        *v = whole;
}

/* Rows far longer than a block holds: a cooperative group of several blocks each, which have a piece of it in their shared memory. Small
 * blocks if their pieces fit them, more of which compute while others wait. */
static bool choose_pieces(const cores *c, variant *v, const loop_problem *s, int64_t bytes, int copies) {
    int d = one_range(s->traits), lead = find_staged(c, s, d);
    bool fine = pieces_fit(s, bytes, true);
    if (lead < 0 || bytes < PIECE_ROW || !pieces_fit(s, bytes, fine))
        return false;
    v->gufunc.fine = fine;
    begin_anywhere(c, v, d, lead);
    stage_whole(c, v, s->traits);
    v->gufunc.coop = COOP_GRID;
    set_repeat(v, smallest(c) < 4 ? LINE_STEPS_GRID : LINE_STEPS, copies);
    hold_part(c, v, s, d);
    return true;
}

/* log2 of the threads of a block that has a piece: more where pieces are larger than they should be, and where what does not move as
 * the rows do goes element by element. */
static int cluster_coop(const cores *c, const loop_problem *s, int dimension, int64_t bytes) {
    int cluster = c->v->gufunc.cluster, coop = bytes >> cluster > CLUSTER_PIECE ? CLUSTER_COOP + 1 : CLUSTER_COOP;
    bool singly = false;
    for (int k = 0; k < variant_operands(c->v); k++)
        singly |= rank_of(c, k) && !c->v->operand[k].unit && readers(s->traits, k);
    return singly && c->core[dimension] >> (cluster + coop) >= CLUSTER_SINGLE ? coop + 1 : coop;
}

/* Rows that the blocks of a cluster hold, a piece each: the smallest cluster whose pieces are small enough, or the largest. Rows that are so
 * few that each should have several blocks are left to those. */
static bool choose_cluster(const cores *c, variant *v, const loop_problem *s, int64_t bytes, int copies) {
    int d = one_range(s->traits), lead = find_staged(c, s, d), cluster = 1;
    if (lead < 0 || !s->clusters || !s->traits->uniform || bytes <= CLUSTER_ROW)
        return false;
    while (cluster < least(s->clusters, CLUSTER_PORTABLE) && bytes >> cluster > CLUSTER_PIECE)
        cluster++;
    if (bytes >> cluster > piece_share(s->shared, false) - 2 * ACCESS_BYTES * UF_MAX_OPERANDS ||
        c->loop->count < GRID_CALLS || c->loop->count > GRID_MAX >> cluster)
        return false;
    begin_anywhere(c, v, d, lead);
    stage_whole(c, v, s->traits);
    v->gufunc.cluster = (uint8_t)cluster;
    v->gufunc.coop = (uint8_t)cluster_coop(c, s, d, bytes);
    set_repeat(v, WHOLE_STEPS, copies);
    return true;
}

/* ---- Rows in registers ---- */

/* Is each input that is read along the dimension read often, and are those of a length that whole vectors make, if they do not begin
 * anywhere? *others: is there one that is read once? */
static bool can_hold(const cores *c, const code_traits *traits, int dimension, bool *others) {
    int64_t part = c->v->gufunc.pieces ? 0 : c->v->gufunc.vector - 1;
    for (int k = 0; k < c->v->nin; k++) {
        if (reads_often(c, traits, k) &&
            (!goes_along(c, k, dimension) || c->v->operand[k].shifted || extent_at(c, k, 0) & part))
            return false;
        *others |= rank_of(c, k) && readers(traits, k) == 1;
    }
    return true;
}

/* Elements of a row that may be in no vector: at its two ends, and where the shifted vectors of others would reach beyond it. */
static int held_ends(const variant *v) {
    return v->gufunc.pieces ? (2 + variant_shifts(v)) * (v->gufunc.vector - 1) : 0;
}

/* log2 of the threads for a row, where each has up to `most` vectors, or a quarter more if then fewer of these lie beyond the end. */
static int held_coop(int64_t vectors, int most) {
    int coop = log2_ceil((uint64_t)((vectors + most - 1) / most));
    bool loose = ceil_shift(vectors, coop) << coop > vectors + vectors / 8;
    return loose && coop > 1 && ceil_shift(vectors, coop - 1) <= most + most / 4 ? coop - 1 : coop;
}

/* The threads of a row, and the vectors of each, which have room for `most` elements; false: such a row is not held. */
static bool hold_row(variant *v, int64_t n, const work *w, int most, int coop_most) {
    int64_t vectors = n / v->gufunc.vector;
    most /= v->gufunc.vector;
    int coop = most > HELD_LOOSE ? held_coop(vectors, most) : 0, ends = held_ends(v);
    while (coop && 1 << coop < ends) /* a thread has one of these at most */
        coop++;
    if (coop < 1 || coop > coop_most)
        return false;
    int held = (int)ceil_shift(vectors, coop);
    v->gufunc.coop = (uint8_t)coop;
    v->gufunc.held = (uint8_t)(held > HELD_LOOSE ? held : HELD_LOOSE + 1);
    return !(coop > COOP_WARP && wasted(w, v, v->gufunc.held)) &&
           (!ends || (n - ends) / v->gufunc.vector >= (int64_t)(v->gufunc.held - HELD_LOOSE) << coop);
}

/* Elements for which the threads of a row have registers. */
static int64_t held_room(const variant *v) { return (int64_t)(v->gufunc.held * v->gufunc.vector) << v->gufunc.coop; }

/* The same, of elements of less than a word with narrower vectors: by words where others are shifted, which takes least then; and by halves of
 * an access where that leaves less room empty, as the elements at the ends of a short row that begins anywhere would take as many threads
 * as whole ones. Rows of words were slower so. */
static bool hold_tightly(variant *v, int size, int64_t n, const work *w, int most, int coop_most) {
    variant tried = *v;
    if (size >= HEAD_ACCESS || !v->gufunc.pieces)
        return hold_row(v, n, w, most, coop_most);
    if (variant_shifts(v)) {
        v->gufunc.vector = (uint8_t)least(SHIFTED_LEAST / size, v->gufunc.vector);
        return hold_row(v, n, w, most, coop_most);
    }
    bool holds = hold_row(v, n, w, most, coop_most);
    if ((holds && held_room(v) <= n + n / HELD_ROOM) || tried.gufunc.vector == 2)
        return holds;
    tried.gufunc.vector /= 2;
    if (!hold_row(&tried, n, w, most, coop_most) ||
        (holds && held_room(&tried) > held_room(v) - held_room(v) / HELD_ROOM))
        return holds;
    *v = tried;
    return true;
}

/* Each thread has its vectors of a row in registers, so that what two constructs compute of an element is computed once, and nothing goes
 * through shared memory. A warp at most where something is read beside them that would take as many registers again; else a block, larger for
 * elements of 16 bits and less, of which memory brings more than threads could compute twice. */
static bool choose_rows_held(const cores *c, variant *v, const loop_problem *s, const work *w, int copies) {
    int d = s->traits->nconstructs > 1 ? one_range(s->traits) : -1, words = held_words(c, s->traits, d),
        size = smallest(c);
    bool others = false;
    if (d < 0 || !words || v->gufunc.vector == 1 || size > 8 ||
        (v->gufunc.coop == COOP_GRID && c->loop->count < GRID_CALLS) || !can_hold(c, s->traits, d, &others))
        return false;
    variant held = *v;
    int room = size > 4 ? HELD_WORDS_WIDE : HELD_WORDS;
    if (!hold_tightly(&held, size, c->core[d], w, least(room / words, copies),
                      others      ? COOP_WARP
                      : size >= 4 ? HELD_COOP_WORDS
                                  : HELD_COOP))
        return false;
    for (int k = 0; k < v->nin; k++)
        held.operand[k].held = may_hold(c, s->traits, k, d);
    *v = held;
    set_repeat(v, 1, copies);
    return true;
}

/* Vectors that threads take together, if they had better have many loads under way, and little of that lies beyond the row's end. */
static int many_steps(const variant *v, const work *w) {
    int steps =
        v->gufunc.vector < WHOLE_ELEMENTS / LINE_STEPS_LONG ? LINE_STEPS_LONG : WHOLE_ELEMENTS / v->gufunc.vector;
    while (steps > WHOLE_STEPS && wasted(w, v, steps))
        steps /= 2;
    return steps;
}

/* The same of rows in pieces, by what was measured: as shared memory is near, few steps do, which need few registers, where accesses are by
 * vectors; and one is better than two of which the last lies beyond the row's end. */
static int row_steps(const cores *c, const variant *v, const work *w) {
    int size = smallest(c);
    int64_t vectors = (w->all + v->gufunc.vector - 1) / v->gufunc.vector, rounds = ceil_shift(vectors, v->gufunc.coop);
    int64_t least_rounds = rounds << v->gufunc.coop == vectors ? WHOLE_ROUNDS_EVEN : WHOLE_ROUNDS;
    if (size >= 4 && vector_bytes(v) < ACCESS_BYTES)
        return size > 4 ? WHOLE_STEPS_WIDE : many_steps(v, w);
    bool one = size < 4 ? rounds % WHOLE_STEPS || rounds < least_rounds : size == 4 && rounds % WHOLE_STEPS;
    return one ? 1 : WHOLE_STEPS;
}

/* Long rows, a block each. Where few blocks fit a multiprocessor, they are larger. Rows that are so few that each should have several
 * blocks are left to those. */
static void choose_whole(const cores *c, variant *v, const loop_problem *s, const work *w, int copies) {
    int64_t bytes = whole_bytes(c, s->traits), most = shared_most(s);
    if (choose_cluster(c, v, s, bytes, copies))
        return;
    if (bytes >= WHOLE_ROW && s->sms && choose_pieces(c, v, s, bytes, copies))
        return;
    if (bytes < WHOLE_ROW || bytes > most || (core_total(c, false) > BLOCK_CORE && c->loop->count < GRID_CALLS))
        return;
    int d = one_range(s->traits), lead = find_staged(c, s, d);
    if (lead >= 0)
        begin_anywhere(c, v, d, lead);
    int64_t blocks = most / bytes, least_threads = log2_ceil((uint64_t)(WHOLE_THREADS / (blocks < 32 ? blocks : 32)));
    stage_whole(c, v, s->traits);
    if (least_threads < WHOLE_COOP)
        least_threads = WHOLE_COOP;
    v->gufunc.coop = (uint8_t)(least_threads < COOP_BLOCK ? least_threads : COOP_BLOCK);
    int steps = v->gufunc.coop > WHOLE_COOP_MANY ? WHOLE_STEPS : lead >= 0 ? row_steps(c, v, w) : many_steps(v, w);
    set_repeat(v, steps, copies);
}

/* ---- Neighbouring calls side by side ---- */

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* Bytes of memory that an access touches for each of neighbouring threads that are so many elements apart. */
static int64_t touched(int64_t stride, int size) {
    int64_t apart = magnitude(stride);
    return apart > SECTOR / size ? SECTOR : apart * size;
}

/* Do neighbouring threads reach less memory if they compute neighbouring calls than if they share a call? */
static bool prefers_across(const cores *c, const code_traits *traits) {
    int64_t along = 0, across = 0;
    if (!traits->uniform || !knows_all(traits) || c->loop->ndim < 1)
        return false;
    for (int i = 0; i < traits->nconstructs; i++) {
        const code_construct *x = &traits->construct[i];
        if (x->nested || x->nouter != 1 || x->outer[0] < 0)
            return false;
        for (int j = 0; j < x->naccesses; j++) {
            const code_access *a = &x->access[j];
            if (!a->outer || rank_of(c, a->operand) < a->outer)
                return false;
            along += touched(stride_at(c, a->operand, a->outer - 1), element_size(c->v, a->operand));
            across += touched(stride_of(c->loop, 0, a->operand), element_size(c->v, a->operand));
        }
    }
    return across < along && c->loop->extent[0] > 1;
}

/* The most calls of which a block can stage what is read often so that some blocks fit a multiprocessor, or else fewer blocks. Returns
 * how many fit; 0: not one does. */
static int fit_across(const cores *c, variant *v, const loop_problem *s, int least_calls) {
    for (int blocks = ACROSS_TILES; blocks; blocks /= 2)
        for (int across = v->gufunc.across; across >= least_calls + (blocks > 1); across--) {
            variant tried = *v;
            cores with = *c;
            tried.gufunc.across = (uint8_t)across;
            with.v = &tried;
            if (whole_bytes(&with, s->traits) <= shared_most(s) / blocks) {
                v->gufunc.across = (uint8_t)across;
                return blocks;
            }
        }
    return 0;
}

/* The dimension that every construct goes over; -1: there is none. */
static int only_dimension(const code_traits *traits) {
    int dimension = traits->construct[0].outer[0];
    for (int i = 1; i < traits->nconstructs; i++)
        if (traits->construct[i].outer[0] != dimension)
            dimension = -1;
    return dimension;
}

/* How blocks take columns that are held, log2: columns (or pairs of them) side by side, threads along a column, blocks of a cluster. And how
 * many elements of a column a thread has at most: 16 in a small block are as fast as 32 or faster, and half the code. Rows that begin
 * within a sector gain by more threads, since each access waits for two lines of memory. */
typedef struct held_form {
    uint8_t across, coop, cluster, most;
    enum {
        ANY_ROWS,
        WHOLE_ROWS, /* they begin at whole sectors */
        OTHER_ROWS
    } rows;
} held_form;

/* clang-format off */
static const held_form held_single[] = {
    {5, 3, 0, 16, ANY_ROWS}, {5, 4, 0, 16, ANY_ROWS}, {5, 4, 0, 32, WHOLE_ROWS}, {5, 5, 0, 16, OTHER_ROWS},
    {5, 5, 1, 32, ANY_ROWS}, {5, 5, 0, 32, ANY_ROWS}, {5, 6, 2, 32, ANY_ROWS}, {4, 6, 0, 32, ANY_ROWS}, {5, 7, 3, 32, ANY_ROWS},
    {3, 7, 0, 32, ANY_ROWS}, {5, 8, 4, 32, ANY_ROWS}, {4, 8, 3, 32, ANY_ROWS}, {4, 9, 3, 32, ANY_ROWS}, {0}
}, held_pairs[] = {
    {5, 2, 0, 32, ANY_ROWS}, {5, 3, 0, 32, ANY_ROWS}, {5, 4, 0, 32, ANY_ROWS}, {5, 4, 1, 32, WHOLE_ROWS}, {5, 5, 1, 16, OTHER_ROWS},
    {5, 5, 2, 32, ANY_ROWS}, {5, 6, 2, 32, ANY_ROWS}, {5, 7, 3, 32, ANY_ROWS}, {4, 8, 3, 32, ANY_ROWS}, {4, 9, 4, 32, ANY_ROWS},
    {3, 9, 3, 32, ANY_ROWS}, {3, 10, 3, 32, ANY_ROWS}, {0}
};
/* clang-format on */

/* The strides of the rows of all operands that move from call to call: every bit that one of them has, of elements and of bytes. */
typedef struct strides_of_rows {
    uint64_t elements, bytes;
} strides_of_rows;

static strides_of_rows find_row_strides(const cores *c) {
    strides_of_rows all = {0, 0};
    for (int k = 0; k < c->layout->nin + c->layout->nout; k++) {
        uint64_t bits = rank_of(c, k) && stride_of(c->loop, 0, k) ? row_strides(c, k) : 0;
        all.elements |= bits;
        all.bytes |= bits * (unsigned)element_size(c->v, k);
    }
    return all;
}

/* Pairs of columns take twice the computation for as many bytes. A thread does best to have as many words of them as of single columns, if
 * no row begins within a pair, and clusters have the height. */
static bool takes_words(const cores *c, const loop_problem *s) {
    return c->v->gufunc.calls && s->clusters && !(find_row_strides(c).elements & 1);
}

/* Is operand k the same for all calls? */
static bool is_same(const cores *c, int k) {
    bool same = true;
    for (int d = 0; d < c->loop->ndim; d++)
        same &= c->loop->extent[d] == 1 || !stride_of(c->loop, d, k);
    return same;
}

/* Is input k one that all columns have in common, and that is read along them, but not held? */
static bool may_broadcast(const cores *c, const code_traits *traits, int k, int dimension) {
    return rank_of(c, k) == 1 && c->layout->operands[k].dim[0] == dimension && readers(traits, k) == 1 && is_same(c, k);
}

/* Columns side by side, log2, that a block should have at least. */
static int least_across(const cores *c, const code_traits *traits, int dimension) {
    int across = 0;
    for (int k = 0; k < c->v->nin; k++)
        if (may_broadcast(c, traits, k, dimension))
            across = BROADCAST_ACROSS;
    return across;
}

/* Words of pairs that a thread holds at most: a block alone does best if it need not keep them packed, since what two constructs compute of
 * an element is then computed once. */
static int pairs_most(const held_form *f) {
    return f->cluster ? HELD_WORDS : held_loosely(1 << (f->coop + f->across)) >> 1;
}

/* Elements of a column that a thread has at most. room: for which it has registers and code. Words of pairs are elements of both. */
static int held_most(const held_form *f, int room, int pairs, bool whole) {
    int most = least(room, whole ? f->most << pairs : f->most) >> pairs;
    return most <= HELD_LOOSE ? 0 : whole ? least(most, pairs_most(f)) : most;
}

/* The first form that has the height, if there is one with so many columns side by side; NULL: none has. words: registers that an element
 * takes. Pairs of which a thread has fewer words, and elements of two words, do worse in large clusters than in others. */
static const held_form *find_form(const cores *c, const loop_problem *s, int64_t n, int words, int copies, int across) {
    int pairs = c->v->gufunc.calls, calls = log2_ceil((uint64_t)(c->loop->count >> pairs));
    bool whole = takes_words(c, s);
    int clusters = (pairs && !whole) || words > 1 ? least(s->clusters, CLUSTER_PORTABLE) : s->clusters;
    int room = least((whole ? HELD_WORDS << pairs : HELD_WORDS) / words, copies);
    bool whole_rows = !(find_row_strides(c).bytes & (SECTOR - 1));
    for (const held_form *f = whole ? held_pairs : held_single; calls && f->across; f++) {
        int most = held_most(f, room, pairs, whole);
        if ((f->rows == ANY_ROWS || (f->rows == WHOLE_ROWS) == whole_rows) && n <= (int64_t)most << f->coop &&
            n >= (int64_t)1 << f->coop && f->across >= across &&
            f->coop - f->cluster + least(calls, f->across) >= COOP_WARP && f->cluster <= clusters)
            return f;
    }
    return across ? find_form(c, s, n, words, copies, 0) : NULL;
}

/* May a thread have two neighbouring calls, whose elements of less than a word it then moves together? See variant.gufunc.calls. */
static bool can_pair(const cores *c) {
    if (c->v->masked || smallest(c) >= 4 || c->loop->extent[0] % 2)
        return false;
    for (int k = 0; k < c->v->nin + c->v->nout; k++) {
        int64_t stride = is_array(c, k) ? stride_of(c->loop, 0, k) : 0;
        if ((is_array(c, k) && !rank_of(c, k)) || (stride != 1 && (stride || k >= c->v->nin)))
            return false;
    }
    return true;
}

/* Those that find room. */
static void choose_broadcast(const cores *c, variant *v, const code_traits *traits, int dimension) {
    for (int k = 0; k < v->nin && v->gufunc.across >= BROADCAST_ACROSS; k++) {
        v->operand[k].broadcast = may_broadcast(c, traits, k, dimension);
        if (variant_broadcast_bytes(v) > BROADCAST_BYTES)
            v->operand[k].broadcast = 0;
    }
}

/* Each thread has its elements of 2^calls columns in registers. Where a block does not do, those of a cluster have parts of the same
 * columns. An even number of elements, if it is large, so that there are fewer variants. */
static bool hold_columns(const cores *c, variant *v, const loop_problem *s, int calls) {
    work w = find_work(c, s->traits);
    int dimension = only_dimension(s->traits), words = held_words(c, s->traits, dimension),
        copies = copies_most(s->traits, &w);
    int64_t n = dimension < 0 ? 0 : c->core[dimension];
    v->gufunc.calls = (uint8_t)calls;
    const held_form *form =
        n < HELD_LEAST || !words ? NULL : find_form(c, s, n, words, copies, least_across(c, s->traits, dimension));
    if (!form) {
        v->gufunc.calls = 0;
        return false;
    }
    v->gufunc.vector = 1;
    v->gufunc.across = (uint8_t)least(log2_ceil((uint64_t)(c->loop->count >> calls)), form->across);
    v->gufunc.coop = form->coop;
    v->gufunc.cluster = form->cluster;
    int held = (int)ceil_shift(n, v->gufunc.coop);
    held = held < HELD_LOOSE ? HELD_LOOSE : held;
    v->gufunc.held = (uint8_t)(held > HELD_FEW ? held + (held & 1) : held == HELD_LOOSE ? held + 1 : held);
    for (int k = 0; k < v->nin + v->nout; k++) {
        v->operand[k].held = may_hold(c, s->traits, k, dimension);
        v->operand[k].fixed = calls && (!is_array(c, k) || !stride_of(c->loop, 0, k));
    }
    choose_broadcast(c, v, s->traits, dimension);
    set_repeat(v, HELD_TOGETHER, copies);
    return true;
}

/* Is there an array that is read once, as weights are? */
static bool reads_once(const cores *c, const code_traits *traits) {
    bool any = false;
    for (int k = 0; k < c->v->nin; k++)
        any |= rank_of(c, k) && readers(traits, k) == 1;
    return any;
}

static bool choose_held(const cores *c, variant *v, const loop_problem *s) {
    return prefers_across(c, s->traits) && ((can_pair(c) && hold_columns(c, v, s, 1)) || hold_columns(c, v, s, 0));
}

/* Blocks of a launch of neighbouring calls side by side. */
static int64_t blocks_across(const cores *c, const variant *v) {
    return ceil_shift(c->loop->count, v->gufunc.across) << v->gufunc.cluster;
}

/* Has each thread of a column at least one round of elements, if there are twice as many? */
static bool can_double(const variant *v, int64_t n) {
    return v->gufunc.coop < COOP_BLOCK && n >> (v->gufunc.coop + 1) >= v->gufunc.steps;
}

/* Columns too tall to be kept: as many threads as there can be, in the blocks of clusters, so that few columns are under way. Where these are
 * few for the device, blocks have fewer of them side by side. False: so few that whole grids had better take one after the other. */
static bool spread_columns(const cores *c, variant *v, const loop_problem *s, const work *w, int least_calls) {
    int few = s->sms / ACROSS_FEW;
    while (v->gufunc.coop + v->gufunc.across < COOP_BLOCK && can_double(v, w->all))
        v->gufunc.coop++;
    while (v->gufunc.cluster < least(s->clusters, CLUSTER_PORTABLE) && v->gufunc.coop > 2 * v->gufunc.cluster &&
           can_double(v, w->all)) {
        v->gufunc.cluster++;
        v->gufunc.coop++;
    }
    while (v->gufunc.across > least_calls && blocks_across(c, v) < few && can_double(v, w->all)) {
        v->gufunc.across--;
        v->gufunc.coop++;
    }
    return blocks_across(c, v) >= s->sms / ACROSS_LEAST || !wants_grid(c, s->traits, w);
}

/* Have threads room in shared memory to tell each other what they have of a reduction, beside what is staged? */
static bool exchange_fits(const cores *c, const variant *v, const loop_problem *s) {
    int64_t bytes = (int64_t)variant_across_entries(v) * EXCHANGED_WORDS * 4;
    return whole_bytes(c, s->traits) + bytes <= shared_most(s) + WHOLE_RESERVED;
}

static bool take_across(const cores *c, variant *v, const loop_problem *s) {
    work w = find_work(c, s->traits);
    v->gufunc.vector = 1;
    v->gufunc.across = (uint8_t)least(log2_ceil((uint64_t)c->loop->count), ACROSS);
    int least_calls = least(v->gufunc.across, log2_ceil(SECTOR / (unsigned)smallest(c)));
    set_repeat(v, ACROSS_STEPS, copies_most(s->traits, &w));
    int blocks = whole_bytes(c, s->traits) ? fit_across(c, v, s, least_calls) : 0;
    if (blocks) {
        stage_whole(c, v, s->traits);
        set_repeat(v, ACROSS_STAGED, copies_most(s->traits, &w));
    }
    int64_t rows = w.all / ACROSS_STEPS;
    int coop = least(rows > 1 ? log2_floor((uint64_t)rows) : 1,
                     (blocks == 1 ? COOP_BLOCK : ACROSS_THREADS) - v->gufunc.across);
    v->gufunc.coop = (uint8_t)(coop + v->gufunc.across < COOP_WARP ? COOP_WARP - v->gufunc.across : coop);
    if (!v->gufunc.coop)
        v->gufunc.coop = 1;
    while (blocks && v->gufunc.coop > 1 && !exchange_fits(c, v, s))
        v->gufunc.coop--;
    return blocks || spread_columns(c, v, s, &w, least_calls);
}

static bool choose_across(const cores *c, variant *v, const loop_problem *s) {
    variant across = *v;
    cores with = *c;
    with.v = &across;
    if (!prefers_across(c, s->traits) || !take_across(&with, &across, s))
        return false;
    *v = across;
    return true;
}

static void choose_coop(const cores *c, variant *v, const loop_problem *s) {
    const code_traits *traits = s->traits;
    work w = find_work(c, traits);
    int copies = copies_most(traits, &w);
    v->gufunc.along = code_prefers_outer(v, traits);
    v->gufunc.vector = (uint8_t)vector_width(c, traits);
    choose_head(c, v, traits);
    while (v->gufunc.vector > 1 && v->gufunc.vector > copies)
        v->gufunc.vector /= 2;
    if (v->gufunc.vector == 1 && w.all <= TINY)
        return;
    if (choose_tile(c, v, s, &w, wants_grid(c, traits, &w)))
        return;
    if (!w.construct->nested)
        choose_line(v, &w, c->loop->count, copies, traits->nconstructs > 1);
    else
        (v->gufunc.along ? choose_tiles : choose_rows)(v, &w, copies);
    if (wants_grid(c, traits, &w)) {
        v->gufunc.coop = COOP_GRID;
        if (!w.construct->nested)
            set_repeat(v, LINE_STEPS_GRID, copies);
    }
    if (w.construct->nested || !v->gufunc.coop)
        return;
    if (!choose_rows_held(c, v, s, &w, copies))
        choose_whole(c, v, s, &w, copies);
}

/* A thread a call: the body as it is written. */
static void choose_alone(variant *v) {
    v->gufunc.along = 0;
    v->gufunc.vector = v->gufunc.steps = 1;
    v->gufunc.coop = v->gufunc.lanes = v->gufunc.tile = v->gufunc.split = v->gufunc.across = v->gufunc.unrolled =
        v->gufunc.pieces = v->gufunc.held = v->gufunc.calls = v->gufunc.cluster = v->gufunc.fine = v->gufunc.aligned =
            v->gufunc.even = 0;
    memset(v->gufunc.size, 0, sizeof v->gufunc.size);
    memset(v->gufunc.part, 0, sizeof v->gufunc.part);
    v->gufunc.form = 0;
}

/* ---- Staging ---- */

/* The cores of neighbouring calls must make one piece of memory. */
static bool can_stage(const cores *c, int k) {
    int64_t count = is_array(c, k) ? packed_count(c, k) : 0;
    return count > 1 && count <= STAGE_COUNT && c->loop->ndim == 1 && stride_of(c->loop, 0, k) == count;
}

static void choose_staged(const cores *c, variant *v) {
    int64_t bytes = 0;
    for (int k = 0; k < v->nin + v->nout; k++) {
        int64_t more = can_stage(c, k) ? pitch_of(packed_count(c, k), element_size(v, k)) * element_size(v, k) : 0;
        v->operand[k].staged = more && bytes + more <= STAGE_CALL;
        if (v->operand[k].staged)
            bytes += more;
    }
}

/* ---- Sizes as constants ---- */

/* A thread a call, if all of it may be unrolled. What does not find room in shared memory is read and written by each thread for
 * itself. */
static bool choose_unrolled(const cores *c, variant *v, const loop_problem *s) {
    if (!s->unrolled || s->unrolled > UNROLLED_MOST || v->reports || v->masked || cores_convert(v))
        return false;
    fix_sizes(v, s);
    if (cores_bytes(v, s->layout) > UNROLLED_BYTES) {
        memset(v->gufunc.size, 0, sizeof v->gufunc.size);
        return false;
    }
    v->gufunc.unrolled = 1;
    for (int k = 0; k < v->nin + v->nout; k++) {
        v->operand[k].staged = can_stage(c, k);
        if (v->operand[k].staged && cores_pitch(v, s->layout) * WARP > UNROLLED_SHARED)
            v->operand[k].staged = 0;
    }
    return true;
}

/* Indices of a dimension that a thread takes at most. */
static int side_of(const cores *c, int dimension) {
    int size = 1;
    for (int k = 0; k < c->v->nin + c->v->nout; k++)
        size = element_size(c->v, k) > size ? element_size(c->v, k) : size;
    int side = c->core[dimension] * size % ACCESS_BYTES == 0 ? PART_SIDE : PART_SIDE_ODD;
    return size > 8 && side > 1 ? side / 2 : side;
}

/* How a call is divided: each dimension along which it may be in equal parts, but for the last. */
static void divide(const cores *c, variant *v, const loop_problem *s, bool whole) {
    for (int d = 0; d < s->layout->ndims; d++) {
        int size = (int)c->core[d], side = side_of(c, d), shares = whole ? 1 : (size + side - 1) / side;
        v->gufunc.part[d] = s->traits->separable >> d & 1 ? (uint8_t)((size + shares - 1) / shares) : 0;
    }
}

/* Nodes of what a thread does of the largest construct. */
static int64_t part_work(const cores *c, const loop_problem *s) {
    int64_t sizes[GUFUNC_SIZES];
    cores part = *c;
    for (int d = 0; d < s->layout->ndims; d++)
        sizes[d] = c->v->gufunc.part[d] ? c->v->gufunc.part[d] : c->core[d];
    part.core = sizes;
    work w = find_work(&part, s->traits);
    return times(w.all, w.construct->nodes);
}

static bool parts_fit(const cores *c, const variant *v, const loop_problem *s) {
    bool outputs = true;
    for (int k = v->nin; k < v->nin + v->nout; k++)
        outputs &= v->operand[k].staged;
    return outputs && core_sharers(v) <= PART_THREADS && part_work(c, s) <= PART_WORK &&
           core_calls_step(v, s->layout) * cores_pitch(v, s->layout) <= UNROLLED_SHARED;
}

/* Calls whose constructs fall into parts with nothing in common along two dimensions: some threads a call, each of which reads what it
 * needs when it does, or one thread all parts. */
static bool choose_parts(const cores *c, variant *v, const loop_problem *s) {
    bool two = s->traits->separable & (s->traits->separable - 1);
    if (!s->unrolled || !two || v->reports || v->masked || cores_convert(v))
        return false;
    v->gufunc.unrolled = 1;
    fix_sizes(v, s);
    for (int k = 0; k < v->nin + v->nout; k++)
        v->operand[k].staged = can_stage(c, k);
    work w = find_work(c, s->traits);
    divide(c, v, s, w.all <= PART_CALL);
    if (parts_fit(c, v, s))
        return true;
    choose_alone(v);
    for (int k = 0; k < v->nin + v->nout; k++)
        v->operand[k].staged = 0;
    return false;
}

/* Does code gain by knowing that accesses by vectors are aligned? There are such accesses, and rows that may begin anywhere are in registers
 * as a whole, or come out even: others that are staged have a loop for what is in no vector in any case, and were up to 5 % slower. */
static bool gains_by_alignment(const variant *v) {
    bool whole = v->gufunc.held && v->gufunc.coop != COOP_GRID;
    return (v->gufunc.vector > 1 || v->gufunc.calls) && (!v->gufunc.pieces || whole || v->gufunc.even);
}

/* How the dimension comes out that all constructs go along. How many blocks a group has is not known here where they meet through memory. */
static gufunc_even comes_out(const cores *c, const loop_problem *s) {
    const variant *v = c->v;
    int d = one_range(s->traits), vector = v->gufunc.vector;
    if (d < 0 || !v->gufunc.coop || v->gufunc.tile || variant_shifts(v) || c->core[d] % vector ||
        (vector > 1 && !vectors_aligned(c, s->misalignment)))
        return EVEN_NOT;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].unit && (unit_extent(c, k) % vector || !unit_extent(c, k)))
            return EVEN_NOT;
    int64_t vectors = c->core[d] / vector;
    if (v->gufunc.coop == COOP_GRID)
        return EVEN_VECTORS;
    int blocks = v->gufunc.pieces ? v->gufunc.cluster : 0, threads = v->gufunc.coop + blocks; /* of all of them, log2 */
    bool rounds = v->gufunc.held ? vectors == (int64_t)v->gufunc.held << threads
                                 : vectors % ((int64_t)v->gufunc.steps << threads) == 0;
    return rounds ? EVEN_ROUNDS : EVEN_VECTORS;
}

void gufunc_specialise(variant *v, const loop_problem *s) {
    cores c = {v, s->loop, s->layout, s->core};
    v->wide = s->loop->count > INT32_MAX;
    choose_alone(v);
    for (int k = 0; k < variant_operands(v); k++) {
        v->operand[k].fixed = v->operand[k].staged = v->operand[k].held = v->operand[k].shifted =
            v->operand[k].broadcast = 0;
        v->operand[k].unit = (uint8_t)find_unit(&c, k);
    }
    if (choose_lanes(&c, v, s))
        return;
    bool maps = s->traits->maps_to_threads && s->traits->nconstructs && !v->reports;
    /* Short columns of words are better unrolled, but not with weights beside: as fast within 2 %, or slower, and four times as long to compile. */
    bool held = maps && (smallest(&c) < 4 || reads_once(&c, s->traits)) && choose_held(&c, v, s);
    if (!held && (choose_parts(&c, v, s) || choose_unrolled(&c, v, s)))
        return;
    if (maps && !v->gufunc.held && !choose_held(&c, v, s) && !choose_across(&c, v, s))
        choose_coop(&c, v, s);
    if (!v->gufunc.coop) {
        choose_alone(v);
        if (!v->reports)
            choose_staged(&c, v);
    } else if (!v->gufunc.pieces) { /* with pieces units have been chosen, too */
        drop_units(&c, v);
    }
    v->gufunc.even = maps && s->misalignment ? (uint8_t)comes_out(&c, s) : EVEN_NOT;
    v->gufunc.aligned = s->misalignment && gains_by_alignment(v) && calls_aligned(&c, s->misalignment);
}
