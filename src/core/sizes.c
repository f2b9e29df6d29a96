/* sizes.c - for which core sizes a generalized ufunc gets code of its own, in which they are constants and all loops are unrolled. That
 * is decided by the tree, the sizes and the number of inner calls alone, so that a result never depends on earlier calls. There
 * are few such codes, whatever a program does: of the combinations of sizes only some hundreds count, and of these only those whose
 * unrolled kernel is short. */
#include "core/core.h"

#include <limits.h>

enum {
    CALLS_LEAST = 256,     /* inner calls: fewer are not worth the compilation */
    LINES_MOST = 10000,    /* instructions beyond which no engine wants the form */
    LINES_NONE = (1 << 15) /* the form does not exist, or is longer */
};

/* The largest size, by the number of dimensions that have a size of their own, if the sizes differ: some 500 combinations. Sizes that are
 * all the same go up to GUFUNC_SIZE_MAX. */
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

/* The lines of the unrolled kernel. The binding remembers them, for the sizes that it met last, as one more than there are, so that 0
 * is no answer. */
uf_status sizes_unrolled(const binding *b, const core_layout *l, const int64_t *core, int64_t calls, int *lines) {
    *lines = 0;
    if (calls < CALLS_LEAST || !sizes_count(l, core))
        return UF_OK;
    uint64_t word = sizes_word(l, core), hash = word * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    _Atomic(uint64_t) *known = &((binding *)(uintptr_t)b)->unrolled[hash % BINDING_SIZES];
    uint64_t found = atomic_load_explicit(known, memory_order_relaxed);
    if (!found || found >> 16 != word) {
        measuring m = {b, core, 0};
        TRY(on_big_stack(measure, &m));
        found = word << 16 | (uint64_t)(m.lines > LINES_MOST ? LINES_NONE : m.lines + 1);
        atomic_store_explicit(known, found, memory_order_relaxed);
    }
    *lines = (found & UINT16_MAX) == LINES_NONE ? INT_MAX : (int)(found & UINT16_MAX);
    return UF_OK;
}
