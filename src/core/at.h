/* at.h - what of uf_at is in two files: the verb (at.c) and the indices that the host reads (indices.c). */
#ifndef UF_CORE_AT_H
#define UF_CORE_AT_H

#include "core/core.h"

/* Fills p->at.index for nindices arrays of these dtypes, each of which counts elements of a dimension of the target. */
uf_status indices_lay(uf_plan *p, const nd_array *arrays, const dtype *types, const int64_t *extents);
/* Looks at all of them; data: their addresses. Errors: ARGUMENT (one that is outside, with its place; index array i counts as
 * argument 1 + i). */
uf_status indices_check(const at_part *part, void *const *data);

#endif
