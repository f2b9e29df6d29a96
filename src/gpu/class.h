/* class.h - what the classes of loops share: a loop to be specialised, bits of arithmetic, parameters. */
#ifndef UF_GPU_CLASS_H
#define UF_GPU_CLASS_H

#include "gpu/gpu.h"

/* Elements of a loop are counted with 32 bits up to so many: some way below 2^31, so that those of the threads past the end do not wrap. */
#define NARROW_MAX ((int64_t)INT32_MAX - 65536)

/* What is only counted is counted in shared memory if it takes at most so many bytes, and there are so many points, or updates, for each
 * element, and at all: else what blocks count is not worth adding up. */
enum {
    PRIVATE_BYTES = 32 << 10,
    PRIVATE_POINTS = 32,
    PRIVATE_LEAST = 1 << 15
};

enum {
    ACCESS_WHOLE = 128 /* bytes of an access by all lanes of a warp, a word each */
};

static inline unsigned log2_ceil(uint64_t x) { return x <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(x - 1); }
static inline unsigned log2_floor(uint64_t x) { return 63 - (unsigned)__builtin_clzll(x | 1); }

/* ceil(n / 2^shift) */
static inline int64_t ceil_shift(int64_t n, unsigned shift) {
    return (int64_t)(((uint64_t)n + ((uint64_t)1 << shift) - 1) >> shift);
}

static inline int element_size(const variant *v, int k) { return dtypes[v->operand[k].memory].size; }
static inline int64_t stride_of(const nd_loop *loop, int d, int k) { return loop->stride[d * loop->narrays + k]; }

/* Do neighbours along dimension 0 of a loop lie side by side in array k, and behind them the next ones of `along`? */
static inline bool lies_beside(const nd_loop *loop, const nd_loop *along, int k) {
    return stride_of(loop, 0, k) == 1 && stride_of(along, 0, k) == loop->extent[0];
}

/* The addresses of a launch modulo ACCESS_BYTES, as a problem has them (loop_problem). */
static inline void launch_misalignment(const launch *l, uint8_t *out) {
    for (int k = 0; k < variant_operands(l->v); k++)
        out[k] = (uintptr_t)l->data[k] % ACCESS_BYTES;
}

/* The least power of two, at most `most`, of which so many bytes make the bytes wanted. */
static inline int repeat_for(int64_t bytes, int64_t wanted, int most) {
    int repeat = 1;
    while (repeat < most && bytes * repeat < wanted)
        repeat *= 2;
    return repeat;
}

/* Strides of the arrays in dimensions first .. ndim-1 of a loop. */
static inline void put_strides(parameter_writer *w, parameter_id id, const nd_loop *loop, int first) {
    for (int k = 0; k < variant_operands(w->v); k++)
        for (int d = first; d < loop->ndim && operand_has_strides(w->v, k); d++)
            put_parameter(w, id, stride_of(loop, d, k));
}

/* Divisors by the extents of dimensions first .. end-1 of a loop. */
static inline void put_extents(parameter_writer *w, parameter_id id, const nd_loop *loop, int first, int end) {
    for (int d = first; d < end; d++)
        put_divisor(w, id, loop->extent[d]);
}

/* ---- Rows of a constant length, of folds and scans (short.c). ---- */

/* Sets which operands are staged, and returns how many rows a thread takes; 0: the rows are too long, or there are few. The kinds of the
 * operands are those along a row. blocks: as many are wanted before a thread takes several rows. */
int short_specialise(variant *v, const nd_loop *rows, const nd_loop *along, const code_traits *traits, int64_t blocks);
/* Are the addresses of all staged operands multiples of 16? */
bool short_aligned(const launch *l);
/* Are all operands that have elements along a row planes of rows that lie side by side, few before the next ones? The planes that a block takes, and
 * those are staged; 0: they are not, or too large. */
int short_specialise_planes(variant *v, const nd_loop *rows, const nd_loop *along, const code_traits *traits,
                            int64_t blocks);
/* The blocks of a launch whose threads take `each` rows, or which take so many planes of `plane` rows. */
int64_t short_layout(const launch *l, int each, int plane, grid *g);

/* Sets which outputs are stored so that the second level cache gives them up first (variant_operand.nontemporal; streamed.c). */
void gpu_choose_streamed(variant *v, const loop_problem *p);

/* ---- The rows of the table in layout.c. layout writes the parameters after the operands', but for what all reports have, sets the
 * other members of *g and returns the number of blocks. ---- */

void flat_specialise(variant *v, const loop_problem *s);
int64_t flat_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
void rows_specialise(variant *v, const loop_problem *s);
int64_t rows_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
void tile_specialise(variant *v, const loop_problem *s);
int64_t tile_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
void general_specialise(variant *v, const loop_problem *s);
int64_t general_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
void gufunc_specialise(variant *v, const loop_problem *s);
int64_t gufunc_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
void at_specialise(variant *v, const loop_problem *s);
int64_t at_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
void forall_specialise(variant *v, const loop_problem *s);
int64_t forall_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
int64_t fold_specialise(variant *v, const fold_problem *s, int sms);
int64_t fold_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
int64_t scan_specialise(variant *v, const fold_problem *s, int sms);
int64_t scan_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
size_t scan_scratch(const launch *l);
size_t fold_scratch(const launch *l);
/* Cooperative groups of several blocks wait for each other, so that all their blocks must be resident; blocks with privatised operands
 * loop over more work than there are blocks. */
int gufunc_resident_block(const launch *l);
int gufunc_resident_shared(const launch *l, int shared);
int forall_resident_block(const launch *l);
int at_resident_block(const launch *l);

#endif
