/* rotated.h - GPU: a matrix whose columns the threads of a block rotate (gufunc.form, coop > COOP_WARP), and where that lies in the block's
 * shared memory: the policy, the launch and the code agree by this. */
#ifndef UF_ROTATED_H
#define UF_ROTATED_H

#include "type/variant.h"

enum {
    ROTATED_WARPS = 32 /* of a block, at most */
};

/* Of a matrix with more columns than rows it is the adjoint. A group of lanes has a pair of columns at a time: each lane `slots` elements of a
 * column, and `product_slots` of one of the product of the rotations, as many elements apart as there are lanes; what is behind a column's end is 0.
 * Behind the columns is one of zeros. Columns begin so many elements apart that neighbouring groups, which have neighbouring columns, do not
 * meet in a bank. */
typedef struct rotated {
    bool wide;
    int rows, n;              /* n: columns */
    int lanes;                /* log2 */
    int slots, product_slots; /* elements of a lane */
    int pitch, product_pitch; /* elements from a column to the next */
    /* In bytes from the matrix on: the product, two real numbers for each column, or of a Hermitian matrix three for each pair, an element for each
     * pair, an i32 for each warp, one for each column and the one of zeros, and the end. */
    int product, units, sines, words, flags, end;
} rotated;

static inline int rotated_pitch(int slots, int lanes) { return (slots | 1) << lanes; }

/* Of m rows and n columns of elements of so many bytes, by 1 << lanes lanes a pair. */
static inline rotated rotated_sizes(int m, int n, int size, int lanes) {
    rotated r = {.wide = m < n, .rows = m < n ? n : m, .n = m < n ? m : n, .lanes = lanes};
    r.slots = ((r.rows - 1) >> lanes) + 1, r.product_slots = ((r.n - 1) >> lanes) + 1;
    r.pitch = rotated_pitch(r.slots, lanes), r.product_pitch = rotated_pitch(r.product_slots, lanes);
    r.product = (r.n + 1) * r.pitch * size;
    r.units = r.product + r.n * r.product_pitch * size;
    r.sines = r.units + 2 * r.n * size;
    r.words = r.sines + (r.n + 1) / 2 * size;
    r.flags = r.words + ROTATED_WARPS * 4;
    r.end = r.flags + (r.n + 1) * 4;
    return r;
}

static inline rotated rotated_of(const variant *v, const core_layout *layout) {
    const uint8_t *dim = layout->operands[0].dim;
    return rotated_sizes(v->gufunc.size[dim[0]], v->gufunc.size[dim[1]], dtypes[v->operand[0].value].size,
                         v->gufunc.lanes);
}

#endif
