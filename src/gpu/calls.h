/* calls.h - the inner calls of a generalized ufunc in memory: what the choice of a variant (gufunc.c and its parts gufunc_*.c) and the
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
/* The same of a core whose elements are so many elements apart, but have no other gaps. */
int64_t packed_apart(const cores *c, int k, int64_t apart);
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

/* ---- What calls do and read (gufunc_work.c) ---- */

enum {
    /* Vectors that a thread takes at a time: of lines of many vectors that are passed over more than once, more; of a cooperative group of several
     * blocks, fewer: registers cost it company. But LINE_STEPS where the blocks have elements of a word and more in shared memory. */
    LINE_STEPS = 4,
    LINE_STEPS_LONG = 8,
    LINE_STEPS_GRID = 2,
    GRID_CALLS = 128,           /* fewer calls than this do not fill a large device with a block each */
    BLOCK_CORE = 1 << 16,       /* elements that a block keeps near itself from one construct to the next */
    WHOLE_RESERVED = 22 * 1024, /* bytes of shared memory for what reductions leave there, and the driver's own */
    HELD_WORDS = 32,            /* registers of a thread for elements that it holds */
    SECTOR = 32 /* bytes that memory is read by: the calls of a block should have as much next to each other */
};

/* What one call does in its largest construct. */
typedef struct work {
    const code_construct *construct;
    int64_t rows, last; /* iterations of a sum or forall: along its last range, and along all others */
    int64_t length;     /* iterations of the reduction inside, or 1 */
    int64_t all;
} work;

work find_work(const cores *c, const code_traits *traits);
/* Copies of the body that a thread may have. */
int copies_most(const code_traits *traits, const work *w);
/* How many vectors a thread takes at a time: as many, or fewer for want of copies. */
void set_repeat(variant *v, int repeat, int copies);
/* Should a call have several blocks: where it is much work and calls are few, or where a block would read its core from far away for each
 * construct again? */
bool wants_grid(const cores *c, const code_traits *traits, const work *w);
/* Do the traits tell of every construct? Of so many there may be more. */
bool knows_all(const code_traits *traits);
/* The core dimension that all constructs go along, and along nothing else; -1: there is none. */
int one_range(const code_traits *traits);
/* Is operand k moved along its unit dimension by the range that goes by vectors? */
bool is_by_vectors(const variant *v, const code_traits *traits, int k);
/* Bytes of the widest element that is moved by vectors (0: none is), of the widest array in one vector, and of the smallest element. */
int widest_by_vectors(const cores *c, const code_traits *traits);
int vector_bytes(const variant *v);
int smallest(const cores *c);
/* Constructs that read operand k; is there an array that one reads, as weights are; is k an input that several read? */
int readers(const code_traits *traits, int k);
bool reads_once(const cores *c, const code_traits *traits);
bool reads_often(const cores *c, const code_traits *traits, int k);
/* Inputs that are staged whole: their bytes, how to stage them, and the bytes that a block may have for them. */
int64_t whole_bytes(const cores *c, const code_traits *traits);
void stage_whole(const cores *c, variant *v, const code_traits *traits);
int64_t shared_most(const loop_problem *s);
/* May threads hold parts of operand k, where all constructs go over that dimension? It has no other one, whose elements that index might not
 * reach, or not only. */
bool may_hold(const cores *c, const code_traits *traits, int k, int dimension);
/* Registers that the elements of index i in all operands that threads may hold take. */
int held_words(const cores *c, const code_traits *traits, int dimension);

/* ---- Parts of the choice: those that return false leave the variant as it is ---- */

/* Rows (gufunc_rows.c): whether they begin anywhere; those that threads have in registers; those in shared memory. */
void choose_head(const cores *c, variant *v, const code_traits *traits);
bool choose_rows_held(const cores *c, variant *v, const loop_problem *s, const work *w, int copies);
void choose_whole(const cores *c, variant *v, const loop_problem *s, const work *w, int copies);
/* Neighbouring calls side by side (gufunc_columns.c): columns in registers, and others. */
bool choose_held(const cores *c, variant *v, const loop_problem *s);
bool choose_across(const cores *c, variant *v, const loop_problem *s);

/* Do the lanes of a warp compute the form, in place of the text? The variant says so then (gufunc_lanes.c). */
bool choose_lanes(const cores *c, variant *v, const loop_problem *s);

#endif
