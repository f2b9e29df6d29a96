/* gufunc_columns.c - inner calls of which neighbours lie side by side: neighbouring threads take neighbouring calls, and some threads of a block, or of a
 * cluster of blocks, share each. The numbers to tune are the constants, and the tables of forms. */
#include "gpu/calls.h"

enum {
    ACROSS = 5,         /* log2 of the calls of a block, .. */
    ACROSS_THREADS = 9, /* .. of the threads of a block, */
    ACROSS_STEPS = 8,   /* elements that a thread takes together, and .. */
    ACROSS_STAGED = 4,  /* .. where they are in shared memory, */
    ACROSS_FEW = 3,     /* one of so many multiprocessors should have a block, */
    ACROSS_TILES = 4,   /* staged blocks that a multiprocessor should have, */
    ACROSS_GRID = 8,    /* log2 of the calls that the whole device takes side by side, at most, .. */
    ACROSS_FLIGHT = 32, /* .. and bytes that a thread then loads together */
    EXCHANGED_WORDS =
        5, /* that a thread tells others of a reduction, at most: a complex number, and whether it is one */

    /* Columns in registers. */
    HELD_LEAST = 33,   /* the least height of columns of which threads hold parts */
    HELD_FEW = 16,     /* elements of one height up to which there is a variant for each number of them, and */
    HELD_TOGETHER = 8, /* those that a thread computes together */

    /* Inputs that all columns have in common go through shared memory where a block has so many columns, log2: in narrower ones a thread
     * would load too many of their elements. Bytes that they may take there. */
    BROADCAST_ACROSS = 4,
    BROADCAST_BYTES = 12 << 10,
};

/* ---- Where neighbouring calls lie ---- */

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

/* ---- Columns in registers ---- */

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
    {3, 7, 0, 32, ANY_ROWS}, {5, 8, 4, 32, ANY_ROWS}, {4, 8, 3, 32, ANY_ROWS}, {4, 9, 4, 32, WHOLE_ROWS},
    {4, 9, 4, 24, OTHER_ROWS}, {4, 9, 3, 32, ANY_ROWS}, {0}
}, held_pairs[] = {
    {5, 2, 0, 32, ANY_ROWS}, {5, 3, 0, 32, ANY_ROWS}, {5, 4, 0, 32, ANY_ROWS}, {5, 4, 1, 32, WHOLE_ROWS}, {5, 5, 1, 16, OTHER_ROWS},
    {5, 5, 2, 32, ANY_ROWS}, {5, 6, 2, 32, ANY_ROWS}, {5, 7, 3, 32, ANY_ROWS}, {4, 8, 3, 32, ANY_ROWS}, {3, 9, 3, 32, WHOLE_ROWS},
    {4, 9, 4, 32, ANY_ROWS}, {3, 9, 3, 32, ANY_ROWS}, {3, 10, 3, 32, ANY_ROWS}, {0}
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
    int dimension = one_range(s->traits), words = held_words(c, s->traits, dimension),
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

bool choose_held(const cores *c, variant *v, const loop_problem *s) {
    return prefers_across(c, s->traits) && ((can_pair(c) && hold_columns(c, v, s, 1)) || hold_columns(c, v, s, 0));
}

/* ---- Columns in shared memory, or read again ---- */

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

/* Blocks of a launch of neighbouring calls side by side. */
static int64_t blocks_across(const cores *c, const variant *v) {
    return ceil_shift(c->loop->count, v->gufunc.across) << v->gufunc.cluster;
}

/* Has each thread of a column at least one round of elements, if there are twice as many? */
static bool can_double(const variant *v, int64_t n) {
    return v->gufunc.coop < COOP_BLOCK && n >> (v->gufunc.coop + 1) >= v->gufunc.steps;
}

/* Columns too tall to be kept: as many threads as there can be, in the blocks of clusters, so that few columns are under way. Where these are
 * few for the device, blocks have fewer of them side by side. */
static void spread_columns(const cores *c, variant *v, const loop_problem *s, const work *w, int least_calls) {
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
}

/* Few tall columns, of which clusters would leave multiprocessors without work: all blocks take them side by side. False: they are no such columns. */
static bool spread_over_grid(const cores *c, variant *v, const loop_problem *s, const work *w) {
    int64_t groups = ceil_shift(c->loop->count, v->gufunc.across);
    if (groups << least(s->clusters, CLUSTER_PORTABLE) >= s->sms || c->loop->count > 1 << ACROSS_GRID ||
        !wants_grid(c, s->traits, w))
        return false;
    v->gufunc.coop = COOP_GRID;
    v->gufunc.across = (uint8_t)log2_ceil((uint64_t)c->loop->count);
    v->gufunc.steps = (uint8_t)least(v->gufunc.steps, ACROSS_FLIGHT / smallest(c));
    return true;
}

/* Have threads room in shared memory to tell each other what they have of a reduction, beside what is staged? */
static bool exchange_fits(const cores *c, const variant *v, const loop_problem *s) {
    int64_t bytes = (int64_t)variant_across_entries(v) * EXCHANGED_WORDS * 4;
    return whole_bytes(c, s->traits) + bytes <= shared_most(s) + WHOLE_RESERVED;
}

static void take_across(const cores *c, variant *v, const loop_problem *s) {
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
    if (!blocks && !spread_over_grid(c, v, s, &w))
        spread_columns(c, v, s, &w, least_calls);
}

bool choose_across(const cores *c, variant *v, const loop_problem *s) {
    if (!prefers_across(c, s->traits))
        return false;
    take_across(c, v, s);
    return true;
}
