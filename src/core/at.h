/* at.h - what the two files of uf_at share: at.c, the verb, and indices.c, which checks indices on the host. */
#ifndef UF_CORE_AT_H
#define UF_CORE_AT_H

#include "core/core.h"

/* Fills p->at.index for nindices arrays of these dtypes, each of which counts elements of a dimension of the target. */
uf_status indices_lay(uf_plan *p, const nd_array *arrays, const dtype *types, const int64_t *extents);
/* Checks all indices; data: the addresses of the index arrays. Errors: ARGUMENT (an index out of range, with its
 * position; index array i counts as argument 1 + i). */
uf_status indices_check(const at_part *part, void *const *data);

#endif
