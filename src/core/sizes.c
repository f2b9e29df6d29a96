/* sizes.c - for which core sizes a generalized ufunc gets code of its own, in which they are constants and all loops are unrolled. That
 * is decided by the tree, the sizes and the number of inner calls alone, so that a result never depends on earlier calls. There
 * are few such codes, whatever a program does: of the combinations of sizes only some hundreds count, and of these only those whose
 * unrolled kernel is short. For few calls there is one only where it is compiled sooner than loops are. */
#include "core/core.h"

#include <limits.h>

enum {
    CALLS_LEAST = 256,     /* inner calls: fewer are not worth the compilation, but for small cores */
    FEW_SIZE_MOST = 4,     /* what a small core's sizes are at most, and all the same: a function has few such cores */
    LINES_MOST = 10000,    /* instructions beyond which no engine wants the form */
    LINES_NONE = (1 << 15) /* the form does not exist, or is longer */
};

/* The largest size, by the number of dimensions that have a size of their own, if the sizes differ. Sizes that are all the same go up to
 * GUFUNC_SIZE_MAX. At most 568 combinations, with three dimensions. */
static const uint8_t size_most[GUFUNC_SIZES + 1] = {0, GUFUNC_SIZE_MAX, 16, 8, 4, 3, 2, 2, 2};

static bool sizes_count(const core_layout *l, const int64_t *sizes) {
    int64_t least = GUFUNC_SIZE_MAX, most = 1;
    int own = 0;
    if (!l->ndims || l->ndims > GUFUNC_SIZES)
        return false;
    for (int d = 0; d < l->ndims; d++) {
        if (sizes[d] < 1 || sizes[d] > GUFUNC_SIZE_MAX)
            return false;
        if (l->dims[d].frozen || l->dims[d].steps)
            continue;
        own++;
        least = sizes[d] < least ? sizes[d] : least;
        most = sizes[d] > most ? sizes[d] : most;
    }
    return !own || least == most || most <= size_most[own];
}

/* Are all sizes that are not frozen the same, and small? */
static bool sizes_small(const core_layout *l, const int64_t *sizes) {
    int64_t same = 0;
    for (int d = 0; d < l->ndims; d++) {
        if (l->dims[d].frozen || l->dims[d].steps)
            continue;
        if (sizes[d] > FEW_SIZE_MOST || (same && sizes[d] != same))
            return false;
        same = sizes[d];
    }
    return true;
}

/* All sizes in one word. */
static uint64_t sizes_word(const core_layout *l, const int64_t *sizes) {
    uint64_t word = 0;
    for (int d = 0; d < l->ndims; d++)
        word = word << 6 | (uint64_t)(sizes[d] - 1);
    return word;
}
_Static_assert(GUFUNC_SIZES * 6 <= 48 && GUFUNC_SIZE_MAX <= 1 << 6, "sizes and a number of lines fill a word");

typedef struct measuring {
    const binding *b;
    const int64_t *sizes;
    int lines;
} measuring;

static uf_status measure(void *user) {
    measuring *m = user;
    arena a = {0};
    m->lines = ir_unrolled(&a, m->b->tree, m->sizes, LINES_MOST);
    arena_free(&a);
    return m->lines < 0 ? fail_memory() : UF_OK;
}

/* ---- What a binding remembers ---- */

/* A slot holds sizes_word above 16 bits, and in these the lines and one more, or LINES_NONE, so that 0 is an empty slot. Slots are
 * filled once and never change. There are more of them than combinations that count, so that none is ever measured twice,
 * but by threads that meet it at once, which find the same. */
enum {
    SLOTS_LOG = 10
};

uf_status sizes_begin(binding *b) {
    b->unrolled = arena_alloc(&b->arena, sizeof *b->unrolled << SLOTS_LOG);
    return b->unrolled ? UF_OK : fail_memory();
}

/* The slot of a combination, or the empty one where it belongs. */
static _Atomic(uint64_t) *slot_find(const binding *b, uint64_t word, uint64_t *found) {
    uint64_t i = word * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOTS_LOG);
    for (;; i = (i + 1) & ((1 << SLOTS_LOG) - 1)) {
        *found = atomic_load_explicit(&b->unrolled[i], memory_order_relaxed);
        if (!*found || *found >> 16 == word)
            return &b->unrolled[i];
    }
}

static void slot_fill(const binding *b, uint64_t word, uint64_t value) {
    uint64_t found = 0;
    _Atomic(uint64_t) *slot = slot_find(b, word, &found);
    while (!found &&
           !atomic_compare_exchange_weak_explicit(slot, &found, value, memory_order_relaxed, memory_order_relaxed))
        slot = slot_find(b, word, &found); /* another thread has filled it, perhaps with another combination */
}

uf_status sizes_unrolled(const binding *b, const core_layout *l, const int64_t *core, int64_t calls, int few_lines,
                         int *lines) {
    bool few = calls < CALLS_LEAST;
    *lines = 0;
    if (!calls || !sizes_count(l, core) || (few && !(few_lines && sizes_small(l, core))))
        return UF_OK;
    uint64_t word = sizes_word(l, core), found;
    slot_find(b, word, &found);
    if (!found) {
        measuring m = {b, core, 0};
        TRY(on_big_stack(measure, &m));
        found = word << 16 | (uint64_t)(m.lines > LINES_MOST ? LINES_NONE : m.lines + 1);
        slot_fill(b, word, found);
    }
    *lines = (found & UINT16_MAX) == LINES_NONE ? INT_MAX : (int)(found & UINT16_MAX);
    if (few && *lines > few_lines)
        *lines = 0;
    return UF_OK;
}
