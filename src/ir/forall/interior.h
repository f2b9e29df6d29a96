/* interior.h - kernels over indices: the form of a kernel for the points of the interior, that is, those so far from every border that
 * each index which is the point's plus a constant is in range, and each comparison of such an index with 0 or with a size comes out as it
 * does in the middle. No check of such an index remains in it, and what is done at borders alone (clamps, branches) is gone. */
#ifndef UF_INTERIOR_H
#define UF_INTERIOR_H

#include "ir/common/rewrite.h"

enum {
    INTERIOR_REACH = 64, /* greatest constant: borders are that wide at most */
    INTERIOR_LIMITS = 48 /* that interior_find notes, */
};

/* The points of the interior: those for which index[d] + low[d] >= 0, and for each limit index + constant < size. */
typedef struct interior {
    int nindices;
    int64_t low[LAYOUT_MAX_RANK]; /* at most 0 */
    struct {
        int index, size; /* numbers of the index (-1: the constant alone) and of the layout's dimension */
        int64_t constant;
    } limit[INTERIOR_LIMITS + LAYOUT_MAX_RANK + 2 * UF_MAX_OPERANDS]; /* and an engine, for the space and its arrays */
    int nlimits, room;
    function *kernel; /* the form; NULL: none */
} interior;

/* Notes that index + constant is to be at least 0, or below a size. False: there is no room for it, or it is too far. */
bool interior_low(interior *in, int index, int64_t constant);
bool interior_limit(interior *in, int index, int size, int64_t constant);

/* Makes the form of a tree's kernel. False: no memory. */
bool interior_find(arena *a, const tree *t, interior *out);

#endif
