/* extents.c - which extents of arrays are constants of a variant of a kernel over indices: those of windows, tables and points that loops of
 * its text go over, if they are small. Unrolling, guards, vectors and proofs then find what they would find if the text said the numbers. The
 * sizes alone decide, so that a result never depends on earlier calls, and there are few combinations: of FORALL_KNOWN extents, each up to
 * FORALL_KNOWN_EXTENT or too large to count, and their product up to FORALL_KNOWN_MOST, at most 1444; 280 of two extents, 32 of one. */
#include "core/core.h"

enum {
    POINTS_LEAST = 4096 /* of the space: fewer are not worth the compilation */
};

static void choose(const binding *b, const int64_t *core, known_extents *known) {
    int count = 0;
    int64_t product = 1;
    for (uint64_t left = b->traits.extents; left; left &= left - 1) {
        int dim = __builtin_ctzll(left);
        if (core[dim] < 1 || core[dim] > FORALL_KNOWN_EXTENT)
            continue;
        known->dim[count] = (uint8_t)(dim + 1);
        known->size[count++] = (uint8_t)core[dim];
        product *= core[dim];
    }
    if (product > FORALL_KNOWN_MOST)
        *known = (known_extents){0};
}

/* ---- What a binding remembers ---- */

static known_kernel *find(const binding *b, const known_extents *known) {
    known_kernel *x = atomic_load_explicit(&((binding *)(uintptr_t)b)->known, memory_order_acquire);
    while (x && memcmp(&x->known, known, sizeof *known) != 0)
        x = x->next;
    return x;
}

typedef struct looking {
    const tree *tree;
    known_kernel *at;
} looking;

static uf_status look(void *user) {
    const looking *l = user;
    return ir_known_traits(l->tree, &l->at->known, &l->at->traits);
}

/* Adds what find does not find; two threads may do so at once, and add the same. */
static uf_status add(binding *b, const known_extents *known, known_kernel **out) {
    known_kernel *x = mem_zero(1, sizeof *x);
    if (!x)
        return fail_memory();
    x->known = *known;
    uf_status s = on_big_stack(look, &(looking){b->tree, x});
    if (s) {
        mem_free(x);
        return s;
    }
    x->next = atomic_load(&b->known);
    while (!atomic_compare_exchange_weak(&b->known, &x->next, x))
        ;
    *out = x;
    return UF_OK;
}

uf_status extents_know(const binding *b, const int64_t *core, int64_t points, known_extents *known,
                       const code_traits **traits) {
    *known = (known_extents){0};
    *traits = &b->traits;
    if (points >= POINTS_LEAST)
        choose(b, core, known);
    if (!known->dim[0])
        return UF_OK;
    known_kernel *x = find(b, known);
    if (!x)
        TRY(add((binding *)(uintptr_t)b, known, &x));
    *traits = &x->traits;
    return UF_OK;
}

void extents_free(binding *b) {
    for (known_kernel *x = atomic_load(&b->known), *next; x; x = next) {
        next = x->next;
        mem_free(x);
    }
}
