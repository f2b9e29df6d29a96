/* scan.c - accumulations: which way a kernel goes through memory, how many threads take a line and how much each of them,
 * whether the tiles of a line are spread over blocks, and the words and scratch memory of a launch. ir/scan/gpu_scan.h has their
 * layout. Nothing depends on the device: results are the same on all of one kind. */
#include "gpu/class.h"

enum {
    SECTOR = 32,          /* bytes that an access costs at least */
    COLUMNS_MIN = 8,      /* neighbouring lines that are worth going together */
    WORDS_A_THREAD = 64,  /* 32-bit words of states that a thread holds .. */
    ELEMENTS_MIN = 4,     /* .. but so many elements at least, */
    ELEMENTS_MAX = 64,    /* and at most; */
    ELEMENTS_FEW = 16,    /* of short lines */
    WORDS_LARGE = 3,      /* states of so many words and more take smaller blocks: registers */
    SERIAL_AHEAD = 4,     /* elements that a thread loads before it combines them, one after the other */
    COOP_TILE = 9,        /* log2 of the threads of a tile: a large one waits less often, */
    COOP_TILE_FEW = 8,    /* but there must be some */
    TILES_ENOUGH = 264,   /* for all multiprocessors */
    COLUMN_THREADS = 256, /* of a block; see ir/scan/gpu_scan.h */
    ACROSS_MIN = 3,       /* log2 of the threads across neighbouring lines: sectors are whole, */
    ACROSS_MAX = 5,       /* and a warp's accesses */
    ACROSS_SPREAD = 4,    /* the least where tiles of a line are spread over blocks */
    BLOCKS_ENOUGH = 1056, /* columns: blocks that keep a device busy, each going along its lines by itself */
    SHARED_WORDS = 8192,  /* columns: of shared memory */
    FAN_ROWS = 5,         /* log2 of the entries of a level that make one of the next */
    FAN_COLUMNS = 4,
    COUNTER_BYTES = 128,
    LEVELS = 3
};

/* Lines are counted with 32 bits below this. */
static const int64_t narrow_max = INT32_MAX - 65536;

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
        o->fixed = 0;
        if (o->kind < OPERAND_NUMBER)
            o->kind = (uint8_t)(stride == 1 ? OPERAND_CONTIGUOUS : stride ? OPERAND_STRIDED : OPERAND_CONSTANT);
    }
}

/* Elements of a thread: as its registers have room for, and fewer of a heavy kernel. */
static int elements_of(const variant *v, const code_traits *traits) {
    int most = traits->has_loop ? ELEMENTS_MIN : BODY_MAX / (traits->nodes > 0 ? traits->nodes : 1), n = ELEMENTS_MAX;
    while (n > ELEMENTS_MIN && n * v->lanes > WORDS_A_THREAD)
        n /= 2;
    while (n > 1 && n > most)
        n /= 2;
    return n;
}

static int vector_of(const variant *v) {
    int largest = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > largest)
            largest = element_size(v, k);
    return largest ? ACCESS / largest : 1;
}

static int64_t length_of(const nd_loop *along) { return along->extent[0]; }

static unsigned slots_of(const variant *v, int elements) {
    return log2_floor((uint64_t)(elements > v->vector ? elements / v->vector : 1));
}

static void specialise_rows(variant *v, const nd_loop *lines, const nd_loop *along, int elements) {
    /* short lines: lanes rather than vectors of a lane, for whole accesses, but two to have something in flight */
    unsigned all = log2_ceil((uint64_t)ceil_shift(length_of(along), log2_floor(v->vector)));
    unsigned few = slots_of(v, elements < ELEMENTS_FEW ? elements : ELEMENTS_FEW), most = slots_of(v, elements);
    unsigned lanes = all > 0 ? all - 1 : 0, slots;
    lanes = lanes < COOP_WARP ? lanes : COOP_WARP;
    slots = all - lanes < few ? all - lanes : few;
    while (lanes < COOP_TILE_FEW && lanes + slots < all)
        lanes++;
    unsigned tile = v->lanes < WORDS_LARGE ? COOP_TILE : COOP_TILE_FEW, vector = log2_floor(v->vector);
    int64_t count = lines->count * length_of(along);
    while (most > few && ceil_shift(count, tile + most + vector) < TILES_ENOUGH)
        most--;
    if (lanes + slots < all && most > few) {
        lanes = tile;
        slots = most < all - tile ? most : all - tile;
    }
    v->coop = (uint8_t)lanes;
    v->repeat = (uint8_t)(1 << slots);
}

static int64_t groups_across(const variant *v, const nd_loop *lines) {
    return ceil_shift(lines->extent[0], log2_floor(v->vector) + v->coop);
}

/* Words of shared memory: of what each row of threads comes to, or of what is looked back to. */
static int shared_words(const variant *v) {
    int rows = COLUMN_THREADS >> v->coop,
        entries = v->coop <= ACROSS_MAX && rows < 1 << FAN_COLUMNS ? 1 << FAN_COLUMNS : rows;
    return (entries * v->vector << v->coop) * v->lanes;
}

/* A thread has half of what it has of a line by itself. Where tiles are to be spread over blocks, half of that is across:
 * twice as many elements of each line make half as many tiles. */
static void specialise_columns(variant *v, const nd_loop *lines, int64_t m, int elements) {
    int64_t planes = lines->count / lines->extent[0];
    unsigned rows, most = ACROSS_MAX;
    bool spread = ceil_shift(lines->extent[0], log2_floor(v->vector) + ACROSS_MIN) * planes < BLOCKS_ENOUGH;
    if (spread && v->vector > 1)
        v->vector /= 2;
    v->repeat = (uint8_t)(elements > 2 * v->vector ? elements / 2 / v->vector : 1);
    while (v->repeat > 1 && v->repeat / 2 >= m)
        v->repeat /= 2;
    rows = log2_ceil((uint64_t)ceil_shift(m, log2_floor(v->repeat)));
    if (rows < COOP_TILE_FEW - ACROSS_MAX) /* short lines: all threads across rather than idle */
        most = COOP_TILE_FEW - rows;
    v->coop = ACROSS_MIN;
    while (v->coop < most && lines->extent[0] > (int64_t)v->vector << v->coop &&
           (v->coop + rows < COOP_TILE_FEW || (spread && v->coop < ACROSS_SPREAD) ||
            groups_across(v, lines) * planes > 2 * BLOCKS_ENOUGH))
        v->coop++;
    while (v->vector > 1 && shared_words(v) > SHARED_WORDS)
        v->vector /= 2;
    while (v->coop > ACROSS_MIN && shared_words(v) > SHARED_WORDS)
        v->coop--;
}

static void specialise_serial(variant *v, const nd_loop *along) {
    v->columns = v->coop = 0;
    v->vector = 1;
    v->repeat = SERIAL_AHEAD;
    set_kinds(v, along);
}

int64_t scan_specialise(variant *v, const fold_problem *s, int sms) {
    (void)sms;
    const nd_loop *lines = &s->loops->kept, *along = &s->loops->reduced;
    v->ndim = (uint8_t)lines->ndim;
    v->reduced = 1;
    v->lanes = (uint8_t)(s->traits->state_bytes / 4);
    v->wide = lines->count > narrow_max;
    v->columns = lines->extent[0] >= COLUMNS_MIN && step_bytes(v, lines) < step_bytes(v, along);
    set_kinds(v, v->columns ? lines : along);
    if (s->traits->order == FOLD_SERIAL) {
        specialise_serial(v, along);
        return 0;
    }
    int elements = elements_of(v, s->traits), vector = vector_of(v);
    v->vector = (uint8_t)(vector < elements ? vector : elements);
    if (v->columns)
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
    unsigned vector = log2_floor(v->vector), repeat = log2_floor(v->repeat);
    int64_t m = length_of(l->reduced);
    cut c = {.across = 1, .groups = lines->count, .entries = 1, .fan = FAN_ROWS};
    if (!v->columns) {
        c.tiles = ceil_shift(m, v->coop + vector + repeat);
        c.spread = c.tiles > 1 && v->coop > COOP_WARP;
        return c;
    }
    c.across = groups_across(v, lines);
    c.groups = c.across * (lines->count / lines->extent[0]);
    c.tiles = ceil_shift(m, log2_floor(COLUMN_THREADS) - v->coop + repeat);
    c.entries = (int64_t)v->vector << v->coop;
    c.spread = c.tiles > 1 && v->coop <= ACROSS_MAX && c.groups < BLOCKS_ENOUGH;
    c.fan = FAN_COLUMNS;
    return c;
}

/* Bytes of a level: those of all groups of lines. */
static int64_t level_bytes(const cut *c, const variant *v, int level) {
    return ceil_shift(c->tiles, c->fan * (unsigned)level) * c->groups * c->entries * 8 * v->lanes;
}

size_t scan_scratch(const launch *l) {
    cut c = cut_of(l);
    int64_t bytes = COUNTER_BYTES;
    for (int level = 0; level < LEVELS; level++)
        bytes += level_bytes(&c, l->v, level);
    return c.spread ? (size_t)bytes : 0;
}

/* Are vectors of neighbours aligned in every operand? */
static bool is_aligned(const launch *l) {
    const variant *v = l->v;
    uintptr_t wrong = 0;
    for (int k = 0; k < v->nin + v->nout; k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t width = (uintptr_t)element_size(v, k) * v->vector;
        wrong |= (uintptr_t)l->data[k] & ((width < ACCESS ? width : ACCESS) - 1);
        for (int d = v->columns; d < l->loop->ndim; d++)
            wrong |= l->loop->extent[d] > 1 ? (uintptr_t)stride_of(l->loop, d, k) & (v->vector - 1u) : 0;
        if (v->columns)
            wrong |= (uintptr_t)stride_of(l->reduced, 0, k) & (v->vector - 1u);
    }
    return !wrong;
}

int scan_words(const variant *v, const core_layout *layout, int arrays) {
    (void)layout;
    return 14 + 3 * (v->ndim - 1) + arrays * (v->ndim + 1);
}

/* Lines of a block where a warp or less takes each. */
static int64_t layout_lines(const launch *l, const occupancy *r, grid *g) {
    g->threads = r->block;
    while (g->threads > BLOCK_MIN && ceil_shift(l->loop->count, log2_floor(g->threads) - l->v->coop) < r->sms)
        g->threads /= 2;
    return ceil_shift(l->loop->count, log2_floor(g->threads) - l->v->coop);
}

int64_t scan_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    const variant *v = l->v;
    cut c = cut_of(l);
    uint64_t at = (uint64_t)(uintptr_t)l->scratch;
    *w++ = (uint64_t)l->loop->count;
    *w++ = (uint64_t)length_of(l->reduced);
    *w++ = is_aligned(l);
    *w++ = (uint64_t)c.tiles;
    w = put_divisor(w, v->columns ? c.groups : c.tiles, false);
    w = put_divisor(w, c.across, false);
    *w++ = c.spread ? at : 0;
    at += COUNTER_BYTES;
    for (int level = 0; level < LEVELS; level++) {
        *w++ = c.spread ? at : 0;
        at += (uint64_t)level_bytes(&c, v, level);
    }
    for (int d = 0; d < l->loop->ndim - 1; d++)
        w = put_divisor(w, l->loop->extent[d], v->wide);
    w = put_strides(w, l, 0);
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind != OPERAND_NUMBER)
            *w++ = (uint64_t)stride_of(l->reduced, 0, k);
    if (!v->columns && v->coop <= COOP_WARP)
        return layout_lines(l, r, g);
    g->threads = v->columns ? COLUMN_THREADS : 1u << v->coop;
    int64_t blocks;
    if (__builtin_mul_overflow(c.groups, v->columns && !c.spread ? 1 : c.tiles, &blocks))
        return INT64_MAX;
    return blocks;
}
