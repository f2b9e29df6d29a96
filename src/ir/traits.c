/* traits.c - what the engines choose threads by, by class of kernel. */
#include "ir/common/halves.h"
#include "ir/common/nodes.h"
#include "ir/forall/forall.h"

uf_status ir_known_traits(const tree *t, const known_extents *known, code_traits *out) {
    arena a = {0};
    *out = (code_traits){.unbounded = t->has_unbounded};
    bool done = forall_traits(&a, t, known, out);
    arena_free(&a);
    return done ? UF_OK : fail_memory();
}

uf_status ir_traits(const tree *t, code_traits *out) {
    static const known_extents none;
    if (t->layout && t->layout->nindices)
        return ir_known_traits(t, &none, out);
    *out = (code_traits){.nodes = halves_chain(t) ? t->nodes / HALVES_NODES + 1 : t->nodes,
                         .has_loop = t->has_loop,
                         .sums = !tree_has_math(t) && !tree_divides(t),
                         .unbounded = t->has_unbounded};
    if (t->layout)
        gufunc_traits(t, out);
    out->windows = t->layout && calls_are_windows(t);
    return UF_OK;
}
