/* fold.h - a reduction, typed for some dtypes: how elements become a state, how states are combined, and what results
 * from a state. core makes it of a definition or of a binary function; code generation reads it. */
#ifndef UF_FOLD_H
#define UF_FOLD_H

#include "lang/lang.h"
#include "type/variant.h"

/* Each tree is a kernel that has as many results as are wanted. A result of another type than the wanted one is
 * converted as an assignment would. */
typedef struct fold {
    int nin, nstate, nout;
    dtype in[UF_MAX_OPERANDS], state[UF_MAX_STATE], out[UF_MAX_OPERANDS];
    /* in (and the position, int64) -> state; NULL: nin is nstate, and inputs are only converted */
    const tree *map;
    const tree *combine; /* state, state -> state */
    /* state (and the count of elements, int64) -> out; NULL: nout is nstate, and states are only converted */
    const tree *finish;
    const tree *identity; /* () -> state; NULL: the reduction has no identity */
    bool takes_position, takes_count;
    fold_order order;
} fold;

/* Has what computes or combines a state loops? */
static inline bool fold_has_loops(const fold *f) { return f->combine->has_loop || (f->map && f->map->has_loop); }

#endif
