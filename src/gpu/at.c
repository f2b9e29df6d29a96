/* at.c - updates in place: a thread for some of them; or blocks that loop over them, each with a copy of a small target of its own; or warps
 * that each look at all. */
#include "gpu/elementwise.h"

enum {
    COPY_BLOCK = 8,    /* log2 of the threads of a block that has a copy of the target */
    OWNER_BLOCK = 256, /* threads: 8 warps */
    OWNER_UPDATES = 64 /* that a block has at least: fewer do not pay for looking at them in one more block */
};

_Static_assert(1 << COPY_BLOCK <= BLOCK_MAX, "code is generated for blocks of that size");

/* Of an element of a copy: a word at least. */
static int copy_size(const variant *v) {
    int size = element_size(v, 0), word = (int)sizeof(uint32_t);
    return v->operand[0].privatised == PRIVATE_TALLY || size < word ? word : size;
}

/* Elements of the target, if indices reach them all; 0: they do not, or there are too many for a copy. */
static int64_t copied_elements(const variant *v, const loop_problem *s) {
    int64_t n = 1;
    for (int d = 0; d < s->loop->ndim; d++)
        if (s->loop->extent[d] > 1 && stride_of(s->loop, d, 0))
            return 0;
    for (int j = 0; j < v->nindices && n <= PRIVATE_BYTES; j++)
        n = s->indexed[2 * j] <= PRIVATE_BYTES ? n * s->indexed[2 * j] : 0;
    return n;
}

/* Counts are enough where the same number is added to, or taken from, whatever an index says. */
static void choose_private(variant *v, const loop_problem *s) {
    int64_t updates = s->loop->count, n;
    v->operand[0].privatised = 0;
    if (!s->counters || v->at.deterministic || v->reports)
        return;
    bool tally = s->counters == COUNTERS_ADDED && v->operand[1].kind == OPERAND_NUMBER && updates <= UINT32_MAX;
    v->operand[0].privatised = tally ? PRIVATE_TALLY : 1;
    n = copied_elements(v, s);
    if (!n || n * copy_size(v) > PRIVATE_BYTES || updates < PRIVATE_LEAST || updates / PRIVATE_POINTS < n)
        v->operand[0].privatised = 0;
    else if (updates >= INT64_C(1) << 30) /* a block's step beyond the end has to be a number, too */
        v->wide = 1;
}

int at_resident_block(const launch *l) { return l->v->operand[0].privatised ? 1 << COPY_BLOCK : 0; }

void at_specialise(variant *v, const loop_problem *s) {
    general_specialise(v, s);
    choose_private(v, s);
    if (v->at.deterministic)
        v->general.elements_per_thread = 1;
}

/* As many blocks as there can be at a time: a copy costs each of them something, and more where elements are no words, which blocks compare
 * and swap when they merge their copies: then there is one for each multiprocessor. */
static int64_t private_layout(const launch *l, const occupancy *r, grid *g) {
    int64_t bytes = copy_size(l->v), blocks;
    for (int j = 0; j < l->v->nindices; j++)
        bytes *= l->indexed[2 * j];
    g->threads = 1U << COPY_BLOCK;
    g->shared = (uint32_t)(bytes + 15) / 16 * 16;
    blocks = ceil_shift(l->loop->count, COPY_BLOCK + log2_floor(l->v->general.elements_per_thread));
    int64_t most = element_size(l->v, 0) < (int)sizeof(uint32_t) ? r->sms : r->resident;
    return blocks < most ? blocks : most;
}

/* Where the target is, if it is one piece of memory: it has as many elements as lie between its first and its last. */
static void put_target(const launch *l, parameter_writer *w) {
    int64_t size = element_size(l->v, 0), count = 1, lowest = 0, highest = 0;
    int dims = l->loop->ndim + l->v->nindices;
    for (int d = 0; d < dims; d++) {
        int j = d - l->loop->ndim;
        int64_t stride = j < 0 ? stride_of(l->loop, d, 0) : l->indexed[2 * j + 1],
                extent = j < 0 ? l->loop->extent[d] : l->indexed[2 * j];
        if (!stride)
            continue;
        count *= extent;
        *(stride < 0 ? &lowest : &highest) += (extent - 1) * stride;
    }
    bool whole = highest - lowest + 1 == count;
    put_address(w, GPU_AT_FIRST, whole ? l->data[0] + lowest * size : NULL);
    put_address(w, GPU_AT_BEHIND, whole ? l->data[0] + (highest + 1) * size : NULL);
}

/* A thread for each column of so many rows as a thread has updates. */
static int64_t columns_layout(const launch *l, const occupancy *r, grid *g) {
    int64_t some = l->v->general.elements_per_thread, across = l->loop->extent[0], rows = l->loop->count / across;
    return elementwise_line((rows + some - 1) / some * some * across, (int)some, r, g);
}

int64_t at_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    for (int i = 0; i < 2 * l->v->nindices; i++)
        put_parameter(w, PARAMETER_INDEXED, l->indexed[i]);
    int64_t blocks = general_layout(l, r, w, g);
    if (variant_at_columns(l->v))
        blocks = columns_layout(l, r, g);
    if (variant_adds_halves(l->v))
        put_target(l, w);
    if (l->v->operand[0].privatised)
        return private_layout(l, r, g);
    if (!l->v->at.deterministic)
        return blocks;
    g->threads = r->block < OWNER_BLOCK ? r->block : OWNER_BLOCK;
    blocks = (l->loop->count + OWNER_UPDATES - 1) / OWNER_UPDATES;
    return blocks < r->sms ? blocks : r->sms;
}
