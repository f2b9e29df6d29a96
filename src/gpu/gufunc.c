/* gufunc.c - inner calls of a generalized ufunc. Specialising chooses how many threads compute one call together, and what a
 * thread takes at a time: part of the variant, so of the code. The numbers to tune are the constants; what they are used for is in the few
 * functions under "The choice". Launches are laid out in gufunc_layout.c. */
#include "gpu/calls.h"
#include "gpu/shared_tile.h"
#include "type/tile.h"

enum {
    /* One level: a sum, or a forall without reductions: LINE_STEPS vectors that a thread takes at a time. */
    LINE_LONG = 128,
    LINE_COOP = 9,      /* log2 of its largest cooperative group, */
    LINE_COOP_MANY = 7, /* and where there are LINE_CALLS calls, so many that smaller ones fill the device */
    LINE_CALLS = 2048,
    /* Of so many calls, where all there is is one sum or forall: bytes of inputs that a thread loads together for a sum, for a sum of elements of
     * a byte, whose operations need more registers, and for a forall, whose lanes have nothing to combine; elements of a byte that a lane has
     * of a sum, at least; and bytes of a vector from which a forall takes lanes enough for one visit. */
    ONCE_FLIGHT = 64,
    ONCE_FLIGHT_BYTES = 32,
    ONCE_FLIGHT_FORALL = 32,
    ONCE_ELEMENTS = 64,
    ONCE_VECTOR = 4,
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

    TILE_WORK = 1 << 12, /* iterations of a call from which tiles are faster, if no multiprocessor has several calls */

    /* Calls that threads share, a part each. */
    PART_CALL = 216,   /* iterations of a call that one thread does */
    PART_SIDE = 4,     /* indices of a dimension that a thread takes where rows are read by 16 bytes, */
    PART_SIDE_ODD = 6, /* where they are not, so that each element that is read serves more sums */
    PART_WORK = 6144,  /* nodes of all iterations of a part */
    PART_THREADS = 64, /* that share a call, at most */

    TINY = 32, /* iterations of a call that are not worth a second thread if they do not go by vectors */

    PLANE_SIDE = 128, /* calls side by side, a plane of which a block has in shared memory, .. */
    PLANE_COUNT = 6,  /* .. and elements of a core; fewer are as well off where they are */
    WORD = 4,

    STAGE_COUNT = 1024,             /* elements of a core */
    STAGE_CALL = SHARED_FREE / WARP /* bytes of a call in shared memory: the smallest block must do */
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

/* ---- The choice ---- */

static int64_t vectors_of(const variant *v, const work *w) {
    return ceil_shift(times(w->rows, w->last), log2_floor(v->gufunc.vector));
}

/* Lanes along the range, some vectors each. */
static void choose_line(variant *v, const work *w, int64_t calls, int copies, bool again) {
    int64_t vectors = vectors_of(v, w);
    bool many = again && vectors >= LINE_LONG;
    int steps = many ? LINE_STEPS_LONG : LINE_STEPS;
    while (steps > 1 && vectors < 2 * steps)
        steps /= 2;
    set_repeat(v, steps, copies);
    v->gufunc.coop = (uint8_t)least(log2_floor((uint64_t)(vectors / v->gufunc.steps)),
                                    calls < LINE_CALLS ? LINE_COOP : LINE_COOP_MANY);
}

/* log2 of the lanes of a sum. More than a warp of them meet at a barrier, which does not pay where one visit takes most of the row. A second visit
 * that is at most half full takes as long as the first: half as many lanes then need three, most of which are full, and fewer instructions.
 * Not where two inputs of words or more are read, since there the lanes wait for memory. */
static int sum_coop(const cores *c, const variant *v, int64_t vectors, int inputs) {
    int coop = least(log2_floor((uint64_t)(vectors / v->gufunc.steps)), LINE_COOP_MANY);
    while (coop > 1 && smallest(c) == 1 && times(vectors, v->gufunc.vector) >> coop < ONCE_ELEMENTS)
        coop--;
    int64_t visit = (int64_t)v->gufunc.steps << coop;
    if (coop > COOP_WARP && vectors < 2 * visit)
        return COOP_WARP;
    bool half = vectors > visit && vectors <= visit + visit / 2;
    return half && coop > 1 && (inputs == 1 || smallest(c) < 4) ? coop - 1 : coop;
}

/* log2 of the lanes of a forall: of a warp as many as take all vectors in one visit. */
static int forall_coop(const variant *v, int64_t vectors) {
    int64_t each = ceil_shift(vectors, log2_floor(v->gufunc.steps));
    int whole = least(log2_floor((uint64_t)(vectors / v->gufunc.steps)), LINE_COOP_MANY),
        all = least(log2_ceil((uint64_t)each), COOP_WARP);
    return all > whole && vector_bytes(v) >= ONCE_VECTOR ? all : whole;
}

/* The same of many calls that are one sum or forall. */
static void choose_line_once(const cores *c, variant *v, const code_traits *traits, const work *w, int copies) {
    int64_t vectors = vectors_of(v, w);
    int steps = LINE_STEPS, inputs = 0, bytes = 0;
    for (int k = 0; k < v->nin; k++)
        if (is_by_vectors(v, traits, k)) {
            inputs++;
            bytes += element_size(v, k) * v->gufunc.vector;
        }
    int flight = !w->construct->reduces ? ONCE_FLIGHT_FORALL : smallest(c) == 1 ? ONCE_FLIGHT_BYTES : ONCE_FLIGHT;
    while (steps > 1 && (steps * bytes > flight || vectors < 2 * steps))
        steps /= 2;
    set_repeat(v, steps, copies);
    v->gufunc.coop = (uint8_t)(w->construct->reduces ? sum_coop(c, v, vectors, inputs) : forall_coop(v, vectors));
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

/* The same of calls that are no more than multiprocessors, most of which wait where threads of one block have parts of a call: products of 48 x 48
 * matrices take 3.0 microseconds by tiles and 8.1 by parts in float32, 4.1 and 14.5 in float64, 3.5 and 24 in complex64 (H200). */
static bool choose_tile_of_few(const cores *c, variant *v, const loop_problem *s) {
    work w = find_work(c, s->traits);
    v->gufunc.along = code_prefers_outer(v, s->traits);
    return w.all >= TILE_WORK && c->loop->count <= s->sms && choose_tile(c, v, s, &w, true);
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
    if (w.construct->nested)
        (v->gufunc.along ? choose_tiles : choose_rows)(v, &w, copies);
    else if (traits->nconstructs == 1 && c->loop->count >= LINE_CALLS)
        choose_line_once(c, v, traits, &w, copies);
    else
        choose_line(v, &w, c->loop->count, copies, traits->nconstructs > 1);
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
            v->gufunc.even = v->gufunc.plane = 0;
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

/* Staged outputs that nothing is read of take the places of inputs, which are in registers by then. */
static void stage_in_place(variant *v, const loop_problem *s) {
    for (int k = v->nin; k < v->nin + v->nout; k++) {
        if (!v->operand[k].staged || !(s->traits->assigned >> k & 1))
            continue;
        v->operand[k].staged = STAGED_IN_PLACE;
        if (staged_place(v, s->layout, k) == k)
            v->operand[k].staged = 1;
    }
}

/* Are the cores of operand k planes: elements of neighbouring calls side by side, and nothing else between those of one? */
static bool is_plane(const cores *c, int k) {
    int64_t side = c->loop->extent[0], count = is_array(c, k) ? packed_apart(c, k, side) : 0;
    return count > 1 && stride_of(c->loop, 0, k) == 1 && stride_of(c->loop, 1, k) == times(count, side);
}

/* Is it one element of each call, or an input that all neighbours have in common, or a number? Then it is accessed where it is. */
static bool is_beside(const cores *c, int k) {
    return (k < c->v->nin && stride_of(c->loop, 0, k) == 0) || !is_array(c, k) || packed_count(c, k) == 1;
}

/* Are planes better than reading and writing elements where they are? Calls have some elements; and neighbours do not fill whole sectors, or do so by
 * elements that are narrow. Wide ones take much of shared memory. */
static bool gains_by_planes(const cores *c) {
    int64_t side = c->loop->extent[0], count = 0;
    int widest = 1;
    for (int k = 0; k < c->v->nin + c->v->nout; k++)
        if (c->v->operand[k].staged) {
            widest = element_size(c->v, k) > widest ? element_size(c->v, k) : widest;
            count = packed_apart(c, k, side) > count ? packed_apart(c, k, side) : count;
        }
    bool few = side * widest <= SECTOR_BYTES;
    return count >= PLANE_COUNT && (few || (widest <= WORD && (widest < WORD || side * widest % SECTOR_BYTES)));
}

/* Short calls side by side, few before the next ones: a thread a call, and whole planes in the shared memory of a block. */
static bool choose_planes(const cores *c, variant *v, const loop_problem *s) {
    int64_t side = c->loop->ndim == 2 ? c->loop->extent[0] : 0;
    bool all = side > 1 && side <= PLANE_SIDE && s->unrolled && s->unrolled <= UNROLLED_MOST && !v->reports &&
               !v->masked && !cores_convert(v);
    for (int k = 0; k < v->nin + v->nout && all; k++) {
        v->operand[k].staged = is_plane(c, k);
        all = v->operand[k].staged || is_beside(c, k);
    }
    if (all && gains_by_planes(c)) {
        fix_sizes(v, s);
        v->gufunc.plane = (uint8_t)side;
        v->gufunc.unrolled = 1;
        stage_in_place(v, s);
        int calls = core_calls(v, s->layout);
        if (cores_bytes(v, s->layout) <= UNROLLED_BYTES && calls >= WARP && calls <= BLOCK_MAX &&
            calls / side * cores_pitch(v, s->layout) <= UNROLLED_SHARED)
            return true;
    }
    choose_alone(v);
    for (int k = 0; k < v->nin + v->nout; k++)
        v->operand[k].staged = 0;
    return false;
}

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
    stage_in_place(v, s);
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
    if (choose_lanes(&c, v, s) || choose_planes(&c, v, s))
        return;
    bool maps = s->traits->maps_to_threads && s->traits->nconstructs && !v->reports;
    /* Short columns of words are better unrolled, but not with weights beside: as fast within 2 %, or slower, and four times as long to compile. */
    bool held = maps && (smallest(&c) < 4 || reads_once(&c, s->traits)) && choose_held(&c, v, s);
    bool tiled = maps && !held && choose_tile_of_few(&c, v, s);
    if (!held && !tiled) {
        choose_alone(v);
        if (choose_parts(&c, v, s) || choose_unrolled(&c, v, s))
            return;
    }
    if (maps && !tiled && !v->gufunc.held && !choose_held(&c, v, s) && !choose_across(&c, v, s))
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
