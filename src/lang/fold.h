/* fold.h - a reduction whose texts are typed: how elements become a state, how states combine, what results of them. The
 * contract between core, which makes it of a definition or a binary function, and code generation. */
#ifndef UF_FOLD_H
#define UF_FOLD_H

#include "lang/lang.h"
#include "type/variant.h"

/* Every tree is a kernel that names or returns as many results as are wanted; a result whose type is not the one wanted is
 * converted as an assignment would. */
typedef struct fold {
    int nin, nstate, nout;
    dtype in[UF_MAX_OPERANDS], state[UF_MAX_STATE], out[UF_MAX_OPERANDS];
    const tree *map;      /* in (then int64 position) -> state; NULL: nin is nstate, and inputs are converted */
    const tree *combine;  /* state, state -> state */
    const tree *finish;   /* state (then int64 count) -> out; NULL: nout is nstate, and states are converted */
    const tree *identity; /* () -> state; NULL: there is none */
    bool takes_position, takes_count;
    fold_order order;
} fold;

#endif
