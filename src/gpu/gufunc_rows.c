/* gufunc_rows.c - inner calls of which a group of threads has one, whose operands lie along rows: rows that begin anywhere, that threads have in
 * registers, or blocks, clusters of them, and groups of blocks in shared memory. The numbers to tune are the constants. */
#include "gpu/calls.h"

enum {
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

    /* Rows in registers. */
    HELD_ROOM = 8,         /* part of a row's registers that may be empty, or is worth other vectors */
    HELD_COOP_QUARTER = 8, /* log2 of the threads up to which half as many may have a quarter more than they should */
    HELD_CHOICES = 3,
};

/* How many threads may have a row in registers, and how many of its elements each of them. */
typedef struct held_limits {
    int coop, elements; /* coop: log2; 0: no limits */
} held_limits;

/* ---- Pieces of a range ---- */

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
 * which pays for long rows, and for elements of less than a word; but not outputs of a forall that is all there is, which are written one by one
 * then. */
void choose_head(const cores *c, variant *v, const code_traits *traits) {
    int d = one_range(traits), widest = widest_by_vectors(c, traits), narrow = v->gufunc.vector;
    int vector = widest ? ACCESS_BYTES / widest : 1, lead = d < 0 ? -1 : find_lead(c, traits, d, vector);
    if (lead < 0 || narrow * widest > HEAD_ACCESS)
        return;
    bool mixed = false, singly = false;
    v->gufunc.vector = (uint8_t)vector;
    for (int k = 0; k < variant_operands(v); k++) {
        bool other = is_by_vectors(v, traits, k) && !moves_alike(c, k, lead);
        mixed |= other;
        singly |= other && k >= v->nin && traits->nconstructs == 1;
    }
    if (!singly && c->core[d] >= vector * (mixed && widest >= HEAD_ACCESS ? HEAD_VECTORS_MIXED : HEAD_VECTORS))
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

/* Would more than a sixth of the vectors that threads take together lie beyond the row's end? */
static bool wasted(const work *w, const variant *v, int steps) {
    int64_t vectors = w->all / v->gufunc.vector, round = (int64_t)steps << v->gufunc.coop;
    int64_t taken = (vectors + round - 1) / round * round;
    return taken - vectors > vectors / 6;
}

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

/* log2 of the threads for a row, where each has up to `most` vectors, or, of few threads, a quarter more if then fewer of these lie beyond the
 * end. */
static int held_coop(int64_t vectors, int most) {
    int coop = log2_ceil((uint64_t)((vectors + most - 1) / most));
    bool loose = ceil_shift(vectors, coop) << coop > vectors + vectors / 8;
    bool fewer = loose && coop > 1 && coop <= HELD_COOP_QUARTER && ceil_shift(vectors, coop - 1) <= most + most / 4;
    return fewer ? coop - 1 : coop;
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

/* By what was measured, in the order in which they are tried. Elements of 16 bits take half a register. Few threads with many elements lose less
 * at the ends of rows that begin anywhere, but take longer to compile. Where others are read beside them, each of which takes registers,
 * too, blocks are small, so that some of them fit a multiprocessor. Functions of elements of two words take more registers themselves. */
static const held_limits *limits_of(const variant *v, int size, bool others) {
    static const held_limits limits[][2][HELD_CHOICES] = {
        /* alone, and with others beside */
        {{{9, 32}}, {{COOP_WARP, 32}}},                   /* bytes */
        {{{7, 32}, {8, 48}}, {{6, 32}, {8, 64}}},         /* 16 bits, */
        {{{COOP_WARP, 32}, {7, 64}, {8, 48}}, {{6, 32}}}, /* of rows that begin anywhere */
        {{{9, 32}}, {{COOP_WARP, 32}, {8, 48}}},          /* a word */
        {{{7, 20}}, {{COOP_WARP, 20}}},                   /* two */
    };
    int row = size > 4 ? 4 : size == 4 ? 3 : size == 1 ? 0 : v->gufunc.pieces ? 2 : 1;
    return limits[row][others];
}

/* Each thread has its vectors of a row in registers, so that what two constructs compute of an element is computed once, and nothing goes
 * through shared memory. */
bool choose_rows_held(const cores *c, variant *v, const loop_problem *s, const work *w, int copies) {
    int d = s->traits->nconstructs > 1 ? one_range(s->traits) : -1, words = held_words(c, s->traits, d),
        size = smallest(c);
    bool others = false;
    if (d < 0 || !words || v->gufunc.vector == 1 || size > 8 ||
        (v->gufunc.coop == COOP_GRID && c->loop->count < GRID_CALLS) || !can_hold(c, s->traits, d, &others))
        return false;
    const held_limits *limits = limits_of(v, size, others);
    variant held;
    bool holds = false;
    for (int i = 0; i < HELD_CHOICES && limits[i].coop && !holds; i++) {
        held = *v;
        holds = hold_tightly(&held, size, c->core[d], w, least(limits[i].elements / words, copies), limits[i].coop);
    }
    if (!holds)
        return false;
    for (int k = 0; k < v->nin; k++)
        held.operand[k].held = may_hold(c, s->traits, k, d);
    *v = held;
    set_repeat(v, 1, copies);
    return true;
}

/* ---- Rows in shared memory ---- */

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
void choose_whole(const cores *c, variant *v, const loop_problem *s, const work *w, int copies) {
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
