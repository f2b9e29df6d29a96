/* cores.h - what the files of reductions over core dimensions share: cores.c, core_texts.c and chain.c. */
#ifndef UF_CORE_CORES_H
#define UF_CORE_CORES_H

#include "core/record.h"

/* What a call combines. */
typedef struct core {
    int rank;
    int64_t size[LAYOUT_MAX_RANK];
    int64_t count;      /* of its scalars */
    dtype type, result; /* the accumulator's, and what the kernel gives before it is converted to that */
    int section;        /* that serves it */
    const int64_t *strides[2], *initial; /* of the cores of input and output, and of the initial value */
} core;

/* Which hidden function a core_form has. */
typedef enum core_purpose {
    CORE_COMBINES = 0, /* a reduction over the scalars of a core; the others do not depend on the sizes */
    CORE_LOOPS,        /* a reduction over the first scalars alone, for its checks and its loops */
    CORE_FILLS,        /* (m) -> c: the identity */
    CORE_SELECTS       /* (x, m) -> c: x, or where m is false the identity */
} core_purpose;

/* The form of a function for a purpose; made when it is first asked for. */
uf_status core_form_find(const uf_func *f, const core *x, core_purpose purpose, const uf_func **out);
/* The text of a form, in the arena of h; *identity is that of the identity, or NULL. Errors: MEMORY. */
uf_status core_texts(uf_func *h, const uf_func *f, const core *x, core_purpose purpose, const char **text,
                     const char **identity);
extern const plan_verb chain_verb;

/* Elements from the first scalar of a core, whose strides these are, to scalar `at` in C order. */
static inline int64_t core_offset(const core *x, const int64_t *strides, int64_t at) {
    int64_t offset = 0;
    for (int i = x->rank - 1; i >= 0 && at; at /= x->size[i--])
        offset += at % x->size[i] * strides[i];
    return offset;
}

#endif
