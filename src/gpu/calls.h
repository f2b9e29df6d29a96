/* calls.h - the inner calls of a generalized ufunc in memory: what the choice of a variant (gufunc.c, gufunc_lanes.c) and the
 * layout of a launch (gufunc_layout.c) ask of them. */
#ifndef UF_GPU_CALLS_H
#define UF_GPU_CALLS_H

#include "gpu/class.h"

/* The arrays of all inner calls. */
typedef struct cores {
    const variant *v;
    const nd_loop *loop;
    const core_layout *layout;
    const int64_t *core;
} cores;

static inline bool is_array(const cores *c, int k) { return c->v->operand[k].kind != OPERAND_NUMBER; }
static inline int rank_of(const cores *c, int k) {
    return is_array(c, k) && k < c->layout->nin + c->layout->nout ? c->layout->operands[k].rank : 0;
}

static inline int64_t extent_at(const cores *c, int k, int i) { return c->core[c->layout->operands[k].dim[i]]; }
static inline int64_t stride_at(const cores *c, int k, int i) { return c->core[c->layout->operands[k].strides + i]; }
static inline int64_t unit_extent(const cores *c, int k) { return extent_at(c, k, c->v->operand[k].unit - 1); }
static inline int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t plus(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }
static inline int least(int64_t a, int64_t b) { return (int)(a < b ? a : b); }
/* Does operand k take part in what `aligned` says: see GPU_GUFUNC_ALIGNED. */
static inline bool must_align(const cores *c, int k) {
    return c->v->operand[k].unit && unit_extent(c, k) >= c->v->gufunc.vector;
}

/* Elements from one core to the next in shared memory: threads that read one element each, of neighbouring cores, meet
 * different banks. */
static inline int64_t pitch_of(int64_t count, int size) {
    return size >= 4 ? count | 1 : (((count * size + 3) / 4) | 1) * 4 / size;
}

/* Elements of all operands of one call, or their bytes. */
int64_t core_total(const cores *c, bool bytes);
/* All strides but that of the unit dimension, in one word: a power of two divides all of them if it divides that. */
uint64_t other_strides(const cores *c, int k);
/* All strides of operand k but that of neighbouring calls, in one word. */
uint64_t row_strides(const cores *c, int k);
/* Elements of operand k's core if it is in C order without gaps, else 0. */
int64_t packed_count(const cores *c, int k);
/* Are the rows of operands k and `lead` at places that differ by whole vectors in all calls, if they are in one? */
bool moves_alike(const cores *c, int k, int lead);
/* The first output that the forall of a tile may fill; -1: there is none. */
int tiled_output(const cores *c);
/* Bytes of shared memory that a staged input takes: its part for the calls of a block, or for one of the pieces of a call. */
int64_t whole_part(const cores *c, int k, int64_t pieces);
/* The same of all staged inputs. */
int64_t pieces_bytes(const cores *c, int64_t pieces);
/* The least number of pieces that take no more bytes. */
int64_t pieces_least(const cores *c, int64_t most);
/* variant_holds_part: the most pieces of a row all of which have more vectors than their threads hold. */
int64_t pieces_holding(const cores *c);
/* Bytes of shared memory that a block which has a piece of a range may take, of so many that a multiprocessor gives one block. fine: see
 * variant.gufunc. */
int64_t piece_share(int shared, bool fine);
/* Is every access by vectors aligned, as GPU_GUFUNC_ALIGNED says, where the operands' addresses are these modulo ACCESS_BYTES? */
bool calls_aligned(const cores *c, const uint8_t *misalignment);
/* The same of operands whose rows all begin at whole vectors. */
bool vectors_aligned(const cores *c, const uint8_t *misalignment);
/* Makes the core sizes constants of the variant. */
static inline void fix_sizes(variant *v, const loop_problem *s) {
    for (int d = 0; d < s->layout->ndims; d++)
        v->gufunc.size[d] = (uint8_t)s->core[d];
}

/* Do the lanes of a warp compute the form, in place of the text? The variant says so then (gufunc_lanes.c). */
bool choose_lanes(const cores *c, variant *v, const loop_problem *s);

#endif
