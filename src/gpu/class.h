/* class.h - what the classes of loops share: a loop to be specialised, bits of arithmetic, parameters. */
#ifndef UF_GPU_CLASS_H
#define UF_GPU_CLASS_H

#include "gpu/gpu.h"

enum {
    ACCESS = 16,     /* bytes of the widest access */
    BODY_MAX = 1500, /* nodes of all elements of a thread together: beyond, code grows and registers spill */
    WARP = 32
};

/* What a variant is specialised for; layout and core with LOOP_GUFUNC only. */
typedef struct problem {
    const nd_loop *loop;
    const core_layout *layout;
    const int64_t *core;
    const code_traits *traits;
} problem;

static inline unsigned log2_ceil(uint64_t x) { return x <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(x - 1); }
static inline unsigned log2_floor(uint64_t x) { return 63 - (unsigned)__builtin_clzll(x | 1); }

/* ceil(n / 2^shift) */
static inline int64_t ceil_shift(int64_t n, unsigned shift) {
    return (int64_t)(((uint64_t)n + ((uint64_t)1 << shift) - 1) >> shift);
}

static inline int element_size(const variant *v, int k) { return dtypes[v->operand[k].memory].size; }
static inline int64_t stride_of(const nd_loop *loop, int d, int k) { return loop->stride[d * loop->narrays + k]; }

/* The least power of two, at most `most`, of which so many bytes make the bytes wanted. */
static inline int repeat_for(int64_t bytes, int64_t wanted, int most) {
    int repeat = 1;
    while (repeat < most && bytes * repeat < wanted)
        repeat *= 2;
    return repeat;
}

/* ---- Words: each returns the one after those it wrote. ---- */

static inline uint64_t *put_divisor(uint64_t *w, int64_t d, bool wide) {
    magic m = magic_of((uint64_t)d, wide ? 64 : 32);
    *w++ = (uint64_t)d;
    *w++ = m.multiplier;
    *w++ = m.shift;
    return w;
}

/* Of dimensions first .. ndim-1. */
static inline uint64_t *put_strides(uint64_t *w, const launch *l, int first) {
    for (int k = 0; k < variant_operands(l->v); k++)
        for (int d = first; d < l->loop->ndim && l->v->operand[k].kind != OPERAND_NUMBER; d++)
            *w++ = (uint64_t)stride_of(l->loop, d, k);
    return w;
}

/* ---- The rows of the table in layout.c. words: how many parameters come after the operands'; layout writes them, sets the other
 * members of *g and returns the number of blocks. ---- */

void flat_specialise(variant *v, const problem *s);
int flat_words(const variant *v, const core_layout *layout, int arrays);
int64_t flat_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
void rows_specialise(variant *v, const problem *s);
int rows_words(const variant *v, const core_layout *layout, int arrays);
int64_t rows_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
void general_specialise(variant *v, const problem *s);
int general_words(const variant *v, const core_layout *layout, int arrays);
int64_t general_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
void gufunc_specialise(variant *v, const problem *s);
int gufunc_words(const variant *v, const core_layout *layout, int arrays);
int64_t gufunc_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
void at_specialise(variant *v, const problem *s);
int at_words(const variant *v, const core_layout *layout, int arrays);
int64_t at_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
void forall_specialise(variant *v, const problem *s);
int forall_words(const variant *v, const core_layout *layout, int arrays);
int64_t forall_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
int64_t fold_specialise(variant *v, const fold_problem *s, int sms);
int fold_words(const variant *v, const core_layout *layout, int arrays);
int64_t fold_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
int64_t scan_specialise(variant *v, const fold_problem *s, int sms);
int scan_words(const variant *v, const core_layout *layout, int arrays);
int64_t scan_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g);
size_t scan_scratch(const launch *l);
/* Threads of a block that the variant or the caller asks for; 0: those of best occupancy. */
int forall_block(const launch *l);

#endif
