/* traits.c - what the engines choose threads by, by class of kernel. */
#include "ir/forall/forall.h"

void ir_traits(const tree *t, code_traits *out) {
    *out = (code_traits){.nodes = t->nodes, .has_loop = t->has_loop, .unbounded = t->has_unbounded};
    if (t->layout)
        (t->layout->nindices ? forall_traits : gufunc_traits)(t, out);
}
