/* forms.h - the trees that a kernel over indices is compiled from: its text with short loops unrolled, and what remains of that in the
 * interior of the space (interior.h). */
#ifndef UF_FORALL_FORMS_H
#define UF_FORALL_FORMS_H

#include "ir/forall/interior.h"
#include "type/variant.h"

typedef struct forall_forms {
    const tree *general;
    interior interior;
    tree in_interior; /* the general tree, with the kernel of the interior */
} forall_forms;

/* The tree in which the extents that a variant knows (variant.forall.known_dim) are constants, with the loops over them unrolled, if it
 * stays small. NULL: no memory. */
const tree *forall_known(arena *a, const tree *t, const variant *v);

/* False: no memory. */
bool forall_forms_make(arena *a, const tree *t, forall_forms *out);

#endif
