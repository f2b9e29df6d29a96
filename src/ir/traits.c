/* traits.c - what the engines choose threads by, by class of kernel. */
#include "ir/common/halves.h"
#include "ir/forall/forall.h"

uf_status ir_traits(const tree *t, code_traits *out) {
    arena a = {0};
    bool done = true;
    *out = (code_traits){.nodes = halves_chain(t) ? t->nodes / HALVES_NODES + 1 : t->nodes,
                         .has_loop = t->has_loop,
                         .unbounded = t->has_unbounded};
    if (t->layout && t->layout->nindices)
        done = forall_traits(&a, t, out);
    else if (t->layout)
        gufunc_traits(t, out);
    arena_free(&a);
    return done ? UF_OK : fail_memory();
}
