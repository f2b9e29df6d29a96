/* fold.h - what the skeletons of reductions and accumulations share: partial results, how they come about, combine, and become results.
 * The skeletons know loops, addresses and threads. "Partial" stands for a partial result throughout. */
#ifndef UF_IR_FOLD_H
#define UF_IR_FOLD_H

#include "ir/common/skeleton.h"

enum {
    PARTIAL_VALUES = UF_MAX_STATE + 1
};

typedef struct fold_writer {
    skeleton s;
    const fold *f;
    int nstate;                  /* values of a partial: the state's, then the count if the variant has it */
    dtype state[PARTIAL_VALUES]; /* their types in a partial */
    bool hold_positions;         /* GPU, not wide: positions are held in 32 bits */
    bool narrow;                 /* fold_narrow is on */
    bool begun;                  /* the partials that results are made of have the beginning in front already */
} fold_writer;

/* A partial result: the state of some elements. present (i1): are there any? none: there are, or the values are an identity. The
 * values of a partial without elements are those of some elements, or of an identity, all the same, so that combining them ends. */
typedef struct partial {
    ssa v[PARTIAL_VALUES];
    ssa present;
} partial;

/* A variable for a partial: allocas, so it is made before the first branch of a kernel. sparse: with `has`. */
typedef struct partial_slot {
    ssa v[PARTIAL_VALUES];
    ssa present;
} partial_slot;
partial_slot partial_variable(fold_writer *w, bool sparse);
void partial_put(fold_writer *w, const partial_slot *slot, const partial *x);
partial partial_get(fold_writer *w, const partial_slot *slot);

/* Must partials have `present`, because elements may be missing and there is no identity? */
bool fold_sparse(const fold_writer *w);
/* The operands that are read for each element: inputs and mask. */
static inline bool fold_reads(const fold_writer *w, int k) {
    return (k < w->s.nin || (w->s.v->masked && k == variant_mask(w->s.v))) && skeleton_is_array(&w->s, k) &&
           !variant_follows(w->s.v, k);
}
/* Would it do harm to compute with what lies in the room that a tile has for rows that do not exist (row_tiles_row)? Loops might not end, and
 * elements that are read where they are have no such room. */
bool fold_needs_rows(const fold_writer *w);
/* CPU: loads an element of all that is read, from the addresses of operands. Of operands that lie interleaved one has an address, and LLVM,
 * which is to see that they do, is told those of the others as places beside it. */
void fold_load(fold_writer *w, const ssa *at, ssa *in);
/* The partial of one element: in[k] is input k as loaded (not looked at if it is uniform), in[mask] the mask. position: i64, or none where
 * the variant has none. If the inputs are states (reduction.from_states), the state as loaded. */
partial fold_element(fold_writer *w, const ssa *in, ssa position);
/* The partial of no elements: a value that changes nothing at all when it is combined, if one is known; else the fold's identity, if
 * partials without elements hold that; else zeros that are not present. */
partial fold_none(fold_writer *w);
/* What is combined in front of all elements, and is the result of no elements: the initial values, or else the identity. Is there such a
 * beginning? Segments begin with their first elements, and states that are stored (to_states) get it later. */
bool fold_begins(const fold_writer *w);
partial fold_beginning(fold_writer *w);
/* a and b, in this order. */
partial fold_join(fold_writer *w, const partial *a, const partial *b);
/* Does combining take so many instructions that code should rather loop than have them in many places? */
bool fold_is_long(const fold_writer *w);
/* partials[0 .. n-1] combined in order, as a balanced tree. The array is overwritten. */
partial fold_tree(fold_writer *w, partial *partials, int n);
partial fold_choose(fold_writer *w, ssa condition, const partial *yes, const partial *no);
/* x, or no elements where the i1 is false (none: x). */
partial fold_if(fold_writer *w, ssa counts, const partial *x);
/* While this is on, sums of integers of at most 16 bits, whose result has 64, are computed in 32 bits, of at most NARROW_MOST elements;
 * other folds are not changed. Partials and variables made while it is on are narrow; fold_widened, when it is off, widens them. */
enum {
    NARROW_MOST = 1 << 14
};
void fold_narrow(fold_writer *w, bool on);
partial fold_widened(fold_writer *w, const partial *x);
/* Is it a sum in 64 bits of values that are 0 or 1, so that few of them need few bits? */
bool fold_counts(const fold_writer *w);
/* The results of a partial, in the outputs' memory dtypes: by the fold's finish function, or the states themselves (to_states). count
 * (i64): how many elements took part; not used where partials count. */
void fold_results(fold_writer *w, const partial *x, ssa count, ssa *results);
/* The same with the beginning in front, unless the partial has it already (begun) or is the beginning (variant.empty). */
void fold_outcome(fold_writer *w, const partial *x, ssa count, ssa *results);

/* Do partials without elements hold the fold's identity? */
bool fold_fills(const fold_writer *w);
/* Is value k of the state always the position of one of the elements, or 0 (position.c)? */
bool fold_is_position(fold_writer *w, int k);

/* Does the fold give the position of the first largest or smallest element (extremum.c)? Its state is then an element and its position.
 * NaN goes before all others, or, of the numbers, behind them: then its position is -1. */
typedef enum extremum {
    EXTREMUM_NONE,
    EXTREMUM_LARGEST,
    EXTREMUM_SMALLEST,
    EXTREMUM_LARGEST_NUMBER,
    EXTREMUM_SMALLEST_NUMBER
} extremum;
extremum fold_extremum(const fold *f);

/* The value of the state that stays whatever it is combined with, if that is one bool and the order is free; or, if it is an integer or
 * bool and its position, whatever is combined behind it (absorbing.c). */
absorbing_value fold_absorbing(const fold *f);

/* The value of the state, one number, that changes nothing it is combined with (neutral.c): of operators; and also of max and min, and of
 * "or" and "and" of bools. false: there is none, or it is not known. */
bool fold_neutral(const fold *f, number *out);
bool fold_neutral_or_last(const fold *f, number *out);

/* Writes the module of a reduction or an accumulation: the trees' functions, then the kernel by `write`. */
typedef void fold_skeleton(fold_writer *w);
uf_status fold_module(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                      code_module *module, fold_skeleton *write);

/* ---- GPU: partials between threads (shuffle.c) ---- */

/* For all lanes of a group of 2^lanes: the partial of the lane that is `by` before. */
partial partial_up(fold_writer *w, const partial *x, int by, int lanes);
/* For all lanes: the partial of lane `lane` of the group. */
partial partial_from(fold_writer *w, const partial *x, int lane, int lanes);
/* The partials of a group of 2^lanes lanes combined in order of the lanes; lane 0 of the group has the result. */
partial partial_fold_lanes(fold_writer *w, const partial *x, int lanes);
/* The same in a loop, whose code combines once. slot: a variable for it. */
partial partial_fold_lanes_in_loop(fold_writer *w, const partial *x, const partial_slot *slot, int lanes);

/* ---- The skeletons. Each reads its parameters after the operands', in the order of type/schema.h. ---- */

void cpu_fold(fold_writer *w);
void gpu_fold_rows(fold_writer *w);
void gpu_fold_columns(fold_writer *w);
void gpu_fold_short(fold_writer *w);
void gpu_fold_interleaved_results(fold_writer *w);

#endif
