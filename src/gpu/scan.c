/* scan.c - accumulations: which way a kernel goes through memory, how many threads take a line and how much each of them,
 * whether the tiles of a line are spread over blocks, and the parameters and scratch memory of a launch (type/schema.h). Nothing depends on the device: results are the same on all of one kind. */
#include "gpu/class.h"

enum {
    SECTOR = 32, /* bytes that an access costs at least */
    WORD = 4,
    WIDE = 8,            /* bytes of an element of which few fill a sector */
    COLUMNS_MIN = 8,     /* neighbouring lines that are worth going together */
    WORDS_A_THREAD = 64, /* 32-bit words of states that a thread holds .. */
    ELEMENTS_MIN = 4,    /* .. but so many elements at least, */
    ELEMENTS_MAX = 64,   /* and at most; */
    ELEMENTS_FEW = 16,   /* of short lines */
    WORDS_LARGE = 3,     /* states of so many words and more take smaller blocks: registers */
    SERIAL_AHEAD = 4,    /* elements that a thread loads before it combines them, one after the other */
    /* Lines side by side, a thread each. */
    ALONE_LINES = 1 << 17,   /* so many are enough, if .. */
    ALONE_LENGTH = 32,       /* .. they have no more elements, .. */
    ALONE_ACROSS = 64,       /* .. or fewer of them are next to each other; */
    ALONE_AHEAD = 8,         /* elements ahead, */
    ALONE_AHEAD_MOST = 16,   /* or so many; */
    ALONE_SIDE = 8,          /* neighbouring lines that a thread has at most, and .. */
    ALONE_ELEMENTS = 32,     /* .. elements of all of them together, .. */
    ALONE_THREADS = 1 << 16, /* .. where there are so many threads then; */
    ALONE_WORDS = 48,        /* elements of lines of words up to which these go so, that are too long otherwise */
    /* And groups of them, a block each. */
    COLUMNS_SPREAD =
        4, /* lines of a thread at most, by which it is told whether their tiles should be spread over blocks, .. */
    COLUMNS_VECTOR = 2,  /* .. and then; more take registers */
    COLUMNS_SHORT = 128, /* elements of a line up to which a thread has half as many */
    LINES_ENOUGH = 4096, /* warps that keep a device busy, a line each */
    WORDS_IN_TURN = 32,  /* words of states that a lane holds of a tile then, */
    IN_TURN_SLOTS = 3,   /* and log2 of its vectors, at most */
    COOP_TILE = 9,       /* log2 of the threads of a tile: a large one waits less often, .. */
    COOP_TILE_FEW = 8,   /* .. but there must be some; and single accesses take as long as waiting, .. */
    COOP_TILE_LEAST =
        7, /* .. as what WIDE elements and bytes, of so many elements in all, take of registers and instructions does */
    TILE_ELEMENTS = 1 << 22,
    TILES_ENOUGH = 264,   /* for all multiprocessors */
    ACROSS_MIN = 3,       /* log2 of the threads across neighbouring lines, at least: sectors are whole */
    ACROSS_SPREAD = 4,    /* the least where tiles of a line are spread over blocks */
    BLOCKS_ENOUGH = 1056, /* columns: blocks that keep a device busy, each going along its lines by itself */
    SHARED_WORDS = 8192,  /* columns: of shared memory */
    /* Few of them without gaps: tiles of all. */
    PLANE_MOST = 200,        /* lines, */
    PLANE_SIDE = 320,        /* bytes of all of them, */
    PLANE_NODES = 90,        /* of an element, some of which are written out twice; */
    PLANE_THREADS = 256,     /* threads at most, and .. */
    PLANE_THREADS_FEW = 160, /* .. for which they have fewer elements each, */
    PLANE_ELEMENTS = 128,    /* elements of a thread, */
    PLANE_TILE = 32 << 10,   /* and bytes of a tile, */
    PLANE_SHARED = 44 << 10, /* with the states: what is left free is less than 48 KiB */
    COUNTER_BYTES = 128      /* of the tickets */
};

/* ---- Specialising ---- */

/* Bytes of memory that a step along dimension 0 costs. */
static int64_t step_bytes(const variant *v, const nd_loop *loop) {
    int64_t bytes = 0;
    for (int k = 0; k < v->nin + v->nout; k++) {
        int64_t stride = v->operand[k].kind == OPERAND_NUMBER ? 0 : stride_of(loop, 0, k);
        bool near = stride > -SECTOR && stride < SECTOR;
        int64_t reach = near ? (stride < 0 ? -stride : stride) * element_size(v, k) : SECTOR;
        bytes += reach < SECTOR ? reach : SECTOR;
    }
    return bytes;
}

static void set_kinds(variant *v, const nd_loop *loop) {
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        int64_t stride = stride_of(loop, 0, k);
        o->fixed = o->staged = 0;
        if (o->kind < OPERAND_NUMBER)
            o->kind = (uint8_t)(stride == 1 ? OPERAND_CONTIGUOUS : stride ? OPERAND_STRIDED : OPERAND_CONSTANT);
    }
}

/* Elements of a thread: as its registers have room for, and fewer of a heavy kernel. */
static int elements_of(const variant *v, const code_traits *traits) {
    int most = traits->has_loop ? ELEMENTS_MIN : BODY_NODES_MAX / (traits->nodes > 0 ? traits->nodes : 1),
        n = ELEMENTS_MAX;
    while (n > ELEMENTS_MIN && n * v->scan.state_words > WORDS_A_THREAD)
        n /= 2;
    while (n > 1 && n > most)
        n /= 2;
    return n;
}

/* Bytes of an element of the widest contiguous operand; 0: there is none. */
static int widest_element(const variant *v) {
    int widest = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > widest)
            widest = element_size(v, k);
    return widest;
}

static int vector_of(const variant *v) {
    int widest = widest_element(v);
    return widest ? ACCESS_BYTES / widest : 1;
}

static int64_t length_of(const nd_loop *along) { return along->extent[0]; }

/* As many elements as vectors of all rows may have, if the first is aligned: those of vectors that are not aligned are accessed one by one. Wide
 * elements are as well off so. */
static int fit_rows(const variant *v, const nd_loop *lines, int vector) {
    uint64_t off = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        for (int d = 0; d < lines->ndim && v->operand[k].kind == OPERAND_CONTIGUOUS; d++)
            off |= lines->extent[d] > 1 ? (uint64_t)stride_of(lines, d, k) : 0;
    while (vector > 1 && widest_element(v) < WIDE && off & ((unsigned)vector - 1))
        vector /= 2;
    return vector;
}

static unsigned slots_of(const variant *v, int elements) {
    return log2_floor((uint64_t)(elements > v->scan.vector ? elements / v->scan.vector : 1));
}

/* Should the lanes of a warp go over the tiles of each line? That leaves next to nothing of them empty, and waits for no other block. Of words and
 * wider elements one tile of a block is as good if it is full. shift: log2 of the vectors of that tile. */
static bool goes_in_turn(const variant *v, const nd_loop *lines, int64_t length, unsigned shift) {
    int64_t tile = (int64_t)v->scan.vector << shift;
    bool full = widest_element(v) >= WORD && length <= tile && length > tile - tile / 8;
    return lines->count >= LINES_ENOUGH && !full && length > (int64_t)v->scan.vector << (COOP_WARP + 1);
}

/* log2 of the vectors of a lane then: no more than a line has, but two, to have something in flight. */
static unsigned slots_in_turn(const variant *v, int64_t length, unsigned most) {
    unsigned slots = most > 1 ? 1 : most;
    while (slots < IN_TURN_SLOTS && slots < most &&
           v->scan.state_words * v->scan.vector << (slots + 1) <= WORDS_IN_TURN &&
           (int64_t)v->scan.vector << (COOP_WARP + slots + 1) < length)
        slots++;
    return slots;
}

/* log2 of the threads of a tile, if there are several of a line. */
static unsigned tile_of(const variant *v, int64_t count) {
    int widest = widest_element(v);
    if (v->scan.state_words >= WORDS_LARGE)
        return COOP_TILE_FEW;
    if (count < TILE_ELEMENTS)
        return COOP_TILE;
    return widest >= WIDE || widest == 1 ? COOP_TILE_LEAST : v->scan.vector == 1 ? COOP_TILE_FEW : COOP_TILE;
}

static void specialise_rows(variant *v, const nd_loop *lines, const nd_loop *along, int elements) {
    /* short lines: lanes rather than vectors of a lane, for whole accesses, but two to have something in flight */
    unsigned all = log2_ceil((uint64_t)ceil_shift(length_of(along), log2_floor(v->scan.vector)));
    unsigned few = slots_of(v, elements < ELEMENTS_FEW ? elements : ELEMENTS_FEW), most = slots_of(v, elements);
    unsigned lanes = all > 0 ? all - 1 : 0, slots;
    lanes = lanes < COOP_WARP ? lanes : COOP_WARP;
    slots = all - lanes < few ? all - lanes : few;
    while (lanes < COOP_TILE_FEW && lanes + slots < all)
        lanes++;
    int64_t count = lines->count * length_of(along);
    unsigned tile = tile_of(v, count), vector = log2_floor(v->scan.vector);
    while (most > few && ceil_shift(count, tile + most + vector) < TILES_ENOUGH)
        most--;
    if (lanes + slots < all && most > few) {
        lanes = tile;
        slots = most < all - tile ? most : all - tile;
    }
    if (lanes > COOP_WARP && goes_in_turn(v, lines, length_of(along), lanes + slots)) {
        v->scan.in_turn = 1;
        lanes = COOP_WARP;
        slots = slots_in_turn(v, length_of(along), slots_of(v, elements));
    }
    v->scan.coop = (uint8_t)lanes;
    v->scan.accesses = (uint8_t)(1 << slots);
}

static int64_t groups_across(const variant *v, const nd_loop *lines) {
    return ceil_shift(lines->extent[0], log2_floor(v->scan.vector) + v->scan.coop);
}

/* Words of shared memory: of what each row of threads comes to, or of what is looked back to. */
static int shared_words(const variant *v) {
    int rows = SCAN_COLUMN_THREADS >> v->scan.coop,
        entries = v->scan.coop <= SCAN_ACROSS_MAX && rows < SCAN_LOOK_BACK ? SCAN_LOOK_BACK : rows;
    return (entries * v->scan.vector << v->scan.coop) * v->scan.state_words;
}

static void cap_vector(variant *v, int most) {
    if (v->scan.vector > most)
        v->scan.vector = (uint8_t)most;
}

/* A thread has half of what it has of a line by itself. Where tiles are to be spread over blocks, half of that is across:
 * twice as many elements of each line make half as many tiles. */
static void specialise_columns(variant *v, const nd_loop *lines, int64_t m, int elements) {
    int64_t planes = lines->count / lines->extent[0];
    unsigned rows, most = SCAN_ACROSS_MAX;
    cap_vector(v, COLUMNS_SPREAD);
    bool spread = ceil_shift(lines->extent[0], log2_floor(v->scan.vector) + ACROSS_MIN) * planes < BLOCKS_ENOUGH;
    if (spread && v->scan.vector > 1)
        v->scan.vector /= 2;
    cap_vector(v, COLUMNS_VECTOR);
    if (m <= COLUMNS_SHORT && widest_element(v) < WIDE && elements > ELEMENTS_MIN)
        elements /= 2;
    v->scan.accesses = (uint8_t)(elements > 2 * v->scan.vector ? elements / 2 / v->scan.vector : 1);
    while (v->scan.accesses > 1 && v->scan.accesses / 2 >= m)
        v->scan.accesses /= 2;
    rows = log2_ceil((uint64_t)ceil_shift(m, log2_floor(v->scan.accesses)));
    if (rows < COOP_TILE_FEW - SCAN_ACROSS_MAX) /* short lines: all threads across rather than idle */
        most = COOP_TILE_FEW - rows;
    v->scan.coop = ACROSS_MIN;
    while (v->scan.coop < most && lines->extent[0] > (int64_t)v->scan.vector << v->scan.coop &&
           (v->scan.coop + rows < COOP_TILE_FEW || (spread && v->scan.coop < ACROSS_SPREAD) ||
            groups_across(v, lines) * planes > 2 * BLOCKS_ENOUGH))
        v->scan.coop++;
    while (v->scan.vector > 1 && shared_words(v) > SHARED_WORDS)
        v->scan.vector /= 2;
    while (v->scan.coop > ACROSS_MIN && shared_words(v) > SHARED_WORDS)
        v->scan.coop--;
}

/* Bytes of an element of the widest operand. */
static int widest_array(const variant *v) {
    int widest = 1;
    for (int k = 0; k < v->nin + v->nout; k++)
        widest = element_size(v, k) > widest ? element_size(v, k) : widest;
    return widest;
}

/* Do so many lines begin next to each other that lanes side by side read whole sectors, at once or from the cache? */
static bool are_close(const variant *v, const nd_loop *lines) {
    return lines->extent[0] >= COLUMNS_MIN || lines->extent[0] * widest_array(v) >= SECTOR;
}

/* Is each of lines side by side best left to one thread? There are enough of them, and they are short, or few lie next to each other before the next
 * ones begin elsewhere, so that blocks would be empty for the most part. */
static bool goes_alone(const variant *v, const nd_loop *lines, int64_t length) {
    return lines->count >= ALONE_LINES && are_close(v, lines) &&
           (length <= ALONE_LENGTH || lines->extent[0] < ALONE_ACROSS);
}

/* Is a thread with several lines of such a length faster than one that has a line, or blocks of columns? Those of words and more are as fast by themselves
 * if a thread has many of their elements under way, and in columns if they are long. */
static bool gains_side_by_side(const variant *v, int64_t length) {
    return widest_array(v) < WORD || length <= ALONE_AHEAD_MOST || (length > ALONE_LENGTH && length <= ALONE_WORDS);
}

/* How many neighbouring lines should a thread have, whose elements are then accessed together? */
static int lines_together(const variant *v, const nd_loop *lines, const nd_loop *along, int most) {
    int widest = widest_array(v);
    uint64_t off = (uint64_t)lines->extent[0];
    bool beside = gains_side_by_side(v, length_of(along));
    for (int k = 0; k < v->nin + v->nout; k++) {
        beside &= v->operand[k].kind < OPERAND_NUMBER && stride_of(lines, 0, k) == 1;
        off |= (uint64_t)stride_of(along, 0, k);
        for (int d = 1; d < lines->ndim; d++)
            off |= lines->extent[d] > 1 ? (uint64_t)stride_of(lines, d, k) : 0;
    }
    int side = beside && widest < ACCESS_BYTES ? ACCESS_BYTES / widest : 1;
    side = side < ALONE_SIDE ? side : ALONE_SIDE;
    while (side > 1 && (side > most || off & ((unsigned)side - 1) || lines->count / side < ALONE_THREADS))
        side /= 2;
    return side;
}

static void specialise_alone(variant *v, const nd_loop *along, int ahead, int side) {
    v->reduction.columns = v->scan.coop = 0;
    v->scan.alone = 1;
    v->scan.vector = (uint8_t)side;
    while (ahead > 2 && ahead * side > ALONE_ELEMENTS)
        ahead /= 2;
    v->scan.accesses = (uint8_t)ahead;
    set_kinds(v, along);
}

/* Elements that a thread loads ahead of its line: so many that few or none are left over. */
static int ahead_of(const variant *v, const code_traits *traits, int64_t length) {
    int most = elements_of(v, traits), ahead = length % ALONE_AHEAD_MOST <= 1 ? ALONE_AHEAD_MOST : ALONE_AHEAD;
    return ahead < most ? ahead : most;
}

/* Lines side by side, few before the next ones, whose operands are planes of these. */
static void take_planes(variant *v, const nd_loop *lines, const nd_loop *along, const code_traits *traits) {
    uint8_t columns = v->reduction.columns;
    v->reduction.columns = 0;
    set_kinds(v, along);
    v->scan.lines = (uint8_t)short_specialise_planes(v, lines, along, traits, TILES_ENOUGH);
    if (v->scan.lines) {
        v->scan.plane = (uint8_t)lines->extent[0];
        return;
    }
    v->reduction.columns = columns;
    set_kinds(v, columns ? lines : along);
}

/* Do the lines of a plane lie side by side without gaps in all operands? */
static bool is_interleaved(const variant *v, const nd_loop *lines, const nd_loop *along) {
    bool all = !v->masked;
    for (int k = 0; k < v->nin + v->nout; k++)
        all &= v->operand[k].kind < OPERAND_NUMBER && lies_beside(lines, along, k);
    return all;
}

/* Bytes of shared memory of a tile, and of the states of its rows of threads. */
static int64_t tile_shared(const variant *v) {
    int64_t elements = (int64_t)v->scan.lines * v->scan.plane * v->scan.accesses, bytes = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        bytes += variant_tile(v, k) == k ? elements * element_size(v, k) : 0;
    return bytes + (int64_t)variant_scan_places(v) * v->scan.state_words * WORD;
}

/* Rows of threads with so many elements each, but no more than there are. */
static void set_rows(variant *v, int64_t length, int elements) {
    int64_t rows = ceil_shift(length, log2_floor((uint64_t)elements)), most = PLANE_THREADS / v->scan.plane;
    v->scan.lines = (uint8_t)(rows < most ? rows : most);
    v->scan.accesses = (uint8_t)elements;
}

/* The tile: as many elements of a thread as there is room for, and fewer of short lines, for more threads. Rows of threads begin at whole accesses. Is
 * it worth a block? */
static bool fit_tile(variant *v, int64_t length) {
    int elements = PLANE_ELEMENTS, least = 1;
    for (int k = 0; k < v->nin + v->nout; k++)
        while (least * element_size(v, k) < ACCESS_BYTES)
            least *= 2;
    set_rows(v, length, elements);
    while (elements > least && (elements * widest_array(v) * PLANE_THREADS > PLANE_TILE ||
                                tile_shared(v) > PLANE_SHARED || v->scan.lines * v->scan.plane < PLANE_THREADS_FEW))
        set_rows(v, length, elements /= 2);
    return tile_shared(v) <= PLANE_SHARED && v->scan.lines * v->scan.plane >= WARP;
}

/* Are tiles better than a thread for each line, or blocks of neighbouring ones? These are as good if they read whole sectors, or accesses, and are
 * enough; and narrow elements are copied one by one where a plane begins within an access. */
static bool prefers_tiles(const variant *v, const nd_loop *lines, int64_t length) {
    int64_t side = lines->extent[0], bytes = side * widest_array(v);
    bool narrow = widest_array(v) < WORD, alone = goes_alone(v, lines, length);
    if (bytes % SECTOR)
        return !alone || !narrow || length * bytes % ACCESS_BYTES == 0;
    bool whole = bytes % ACCESS_WHOLE == 0 && widest_array(v) <= WORD;
    return !alone && !(whole && lines->count / side * bytes / ACCESS_WHOLE >= BLOCKS_ENOUGH);
}

/* Few long lines side by side: a block has a tile of them all. */
static bool take_interleaved(variant *v, const nd_loop *lines, const nd_loop *along, const code_traits *traits) {
    int64_t side = lines->extent[0];
    if (side < 2 || side > PLANE_MOST || side * widest_array(v) > PLANE_SIDE || traits->has_loop ||
        traits->nodes > PLANE_NODES || !is_interleaved(v, lines, along))
        return false;
    variant t = *v;
    t.reduction.columns = t.scan.coop = 0;
    set_kinds(&t, along);
    for (int k = 0; k < t.nin + t.nout; k++)
        t.operand[k].staged = 1;
    t.scan.plane = (uint8_t)side;
    bool fits = fit_tile(&t, length_of(along));
    if (fits)
        *v = t;
    return fits;
}

int64_t scan_specialise(variant *v, const fold_problem *s, int sms) {
    (void)sms;
    const nd_loop *lines = &s->loops->kept, *along = &s->loops->reduced;
    v->ndim = (uint8_t)lines->ndim;
    v->reduction.reduced = 1;
    v->scan.state_words = (uint8_t)(s->traits->state_bytes / 4);
    v->wide = lines->count > NARROW_MAX;
    bool beside = step_bytes(v, lines) < step_bytes(v, along);
    v->reduction.columns = lines->extent[0] >= COLUMNS_MIN && beside;
    set_kinds(v, v->reduction.columns ? lines : along);
    v->scan.in_turn = v->scan.alone = 0;
    v->scan.lines = v->scan.plane = 0;
    if (beside)
        take_planes(v, lines, along, s->traits);
    if (!v->scan.lines && !v->reduction.columns)
        v->scan.lines = (uint8_t)short_specialise(v, lines, along, s->traits, TILES_ENOUGH);
    v->scan.length = (uint8_t)(v->scan.lines ? length_of(along) : 0);
    if (v->scan.length)
        return 0;
    if (s->traits->order == FOLD_SERIAL) {
        specialise_alone(v, along, SERIAL_AHEAD, 1);
        return 0;
    }
    int side = beside ? lines_together(v, lines, along, elements_of(v, s->traits) / 2) : 1;
    bool tiles = beside && (side == 1 || !are_close(v, lines)) && prefers_tiles(v, lines, length_of(along));
    if (tiles && take_interleaved(v, lines, along, s->traits))
        return 0;
    if (beside && (goes_alone(v, lines, length_of(along)) || side > 1)) {
        specialise_alone(v, along, ahead_of(v, s->traits, length_of(along)), side);
        return 0;
    }
    int elements = elements_of(v, s->traits), vector = vector_of(v);
    if (!v->reduction.columns)
        vector = fit_rows(v, lines, vector);
    v->scan.vector = (uint8_t)(vector < elements ? vector : elements);
    if (v->reduction.columns)
        specialise_columns(v, lines, length_of(along), elements);
    else
        specialise_rows(v, lines, along, elements);
    return 0;
}

/* ---- Layout ---- */

/* How the lines of a launch are cut. */
typedef struct cut {
    int64_t tiles;   /* of a line */
    int64_t groups;  /* columns: groups of lines side by side; rows: lines */
    int64_t across;  /* columns: of them along dimension 0; rows: 1 */
    int64_t entries; /* of one group at one place of a level */
    bool spread;     /* over blocks */
    unsigned fan;
} cut;

static cut cut_of(const launch *l) {
    const variant *v = l->v;
    const nd_loop *lines = l->loop;
    unsigned vector = log2_floor(v->scan.vector), repeat = log2_floor(v->scan.accesses);
    int64_t m = length_of(l->reduced);
    cut c = {.across = 1, .groups = lines->count, .entries = 1, .fan = SCAN_FAN_ROWS};
    if (variant_interleaved_lines(v)) {
        int64_t tile = (int64_t)v->scan.lines * v->scan.accesses;
        c.tiles = (m - 1) / tile + 1;
        c.groups /= v->scan.plane;
        c.entries = v->scan.plane;
        c.spread = c.tiles > 1;
        c.fan = SCAN_FAN_COLUMNS;
        return c;
    }
    if (!v->reduction.columns) {
        c.tiles = ceil_shift(m, v->scan.coop + vector + repeat);
        c.spread = c.tiles > 1 && v->scan.coop > COOP_WARP;
        return c;
    }
    c.across = groups_across(v, lines);
    c.groups = c.across * (lines->count / lines->extent[0]);
    c.tiles = ceil_shift(m, log2_floor(SCAN_COLUMN_THREADS) - v->scan.coop + repeat);
    c.entries = (int64_t)v->scan.vector << v->scan.coop;
    c.spread = c.tiles > 1 && v->scan.coop <= SCAN_ACROSS_MAX && c.groups < BLOCKS_ENOUGH;
    c.fan = SCAN_FAN_COLUMNS;
    return c;
}

/* Bytes of a level: those of all groups of lines. */
static int64_t level_bytes(const cut *c, const variant *v, int level) {
    return ceil_shift(c->tiles, c->fan * (unsigned)level) * c->groups * c->entries * 8 * v->scan.state_words;
}

size_t scan_scratch(const launch *l) {
    cut c = cut_of(l);
    int64_t bytes = COUNTER_BYTES;
    for (int level = 0; level < SCAN_LEVELS; level++)
        bytes += level_bytes(&c, l->v, level);
    return c.spread ? (size_t)bytes : 0;
}

/* Does every plane begin at a whole access? */
static bool planes_aligned(const launch *l) {
    uintptr_t wrong = 0;
    for (int k = 0; k < l->v->nin + l->v->nout; k++) {
        wrong |= (uintptr_t)l->data[k];
        for (int d = 1; d < l->loop->ndim; d++)
            wrong |= l->loop->extent[d] > 1 ? (uintptr_t)(stride_of(l->loop, d, k) * element_size(l->v, k)) : 0;
    }
    return !(wrong & (ACCESS_BYTES - 1));
}

/* Are vectors of neighbours aligned in every operand? */
static bool is_aligned(const launch *l) {
    const variant *v = l->v;
    uintptr_t wrong = 0;
    bool across = v->reduction.columns || v->scan.alone;
    if (v->scan.length)
        return short_aligned(l);
    if (variant_interleaved_lines(v))
        return planes_aligned(l);
    for (int k = 0; k < v->nin + v->nout; k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS && !v->scan.alone)
            continue;
        uintptr_t width = (uintptr_t)element_size(v, k) * v->scan.vector;
        wrong |= (uintptr_t)l->data[k] & ((width < ACCESS_BYTES ? width : ACCESS_BYTES) - 1);
        for (int d = across; d < l->loop->ndim; d++)
            wrong |= l->loop->extent[d] > 1 ? (uintptr_t)stride_of(l->loop, d, k) & (v->scan.vector - 1u) : 0;
        if (across)
            wrong |= (uintptr_t)stride_of(l->reduced, 0, k) & (v->scan.vector - 1u);
    }
    return !wrong;
}

/* Lines of a block where a warp or less takes each, or a thread some. */
static int64_t layout_lines(const launch *l, const occupancy *r, grid *g) {
    int64_t groups = l->v->scan.alone ? l->loop->count / l->v->scan.vector : l->loop->count;
    g->threads = r->block;
    while (g->threads > BLOCK_MIN && ceil_shift(groups, log2_floor(g->threads) - l->v->scan.coop) < r->sms)
        g->threads /= 2;
    return ceil_shift(groups, log2_floor(g->threads) - l->v->scan.coop);
}

/* Where the tickets and the entries of the levels are; see scan_scratch. */
static void put_scratch(parameter_writer *w, const launch *l, const cut *c) {
    const char *at = l->scratch;
    put_address(w, GPU_SCAN_COUNTER, c->spread ? at : NULL);
    at += c->spread ? COUNTER_BYTES : 0;
    for (int level = 0; level < SCAN_LEVELS; level++) {
        put_address(w, GPU_SCAN_LEVEL, c->spread ? at : NULL);
        at += c->spread ? level_bytes(c, l->v, level) : 0;
    }
}

int64_t scan_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    const variant *v = l->v;
    cut c = cut_of(l);
    put_parameter(w, GPU_SCAN_LINES, l->loop->count);
    put_parameter(w, GPU_SCAN_LENGTH, length_of(l->reduced));
    put_parameter(w, GPU_SCAN_ALIGNED, is_aligned(l));
    put_parameter(w, GPU_SCAN_TILES, c.tiles);
    put_divisor(w, GPU_SCAN_ORDER, v->reduction.columns || variant_interleaved_lines(v) ? c.groups : c.tiles);
    put_divisor(w, GPU_SCAN_COLUMNS, c.across);
    put_scratch(w, l, &c);
    put_extents(w, GPU_SCAN_KEPT, l->loop, 0, l->loop->ndim - 1);
    put_strides(w, GPU_SCAN_KEPT_STRIDES, l->loop, 0);
    put_strides(w, GPU_SCAN_ALONG_STRIDES, l->reduced, 0);
    if (v->scan.length)
        return short_layout(l, v->scan.lines, v->scan.plane, g);
    bool interleaved = variant_interleaved_lines(v);
    if (!v->reduction.columns && v->scan.coop <= COOP_WARP && !interleaved)
        return layout_lines(l, r, g);
    g->threads = interleaved            ? (unsigned)v->scan.lines * v->scan.plane
                 : v->reduction.columns ? SCAN_COLUMN_THREADS
                                        : 1u << v->scan.coop;
    int64_t blocks;
    if (__builtin_mul_overflow(c.groups, v->reduction.columns && !c.spread ? 1 : c.tiles, &blocks))
        return INT64_MAX;
    return blocks;
}
