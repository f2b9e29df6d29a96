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

/* The tree in which extents that are known are constants, as if the text had said the numbers. NULL: no memory. */
const tree *forall_known(arena *a, const tree *t, const known_extents *known);

/* The forms of a tree in which extents are known. False: no memory. */
bool forall_forms_make(arena *a, const tree *t, const known_extents *known, forall_forms *out);

#endif
