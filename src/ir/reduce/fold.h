/* fold.h - what the shapes of reductions and accumulations share: items, which are the states of some elements, and how they
 * come about, combine and become results. The shapes know loops, addresses and threads. */
#ifndef UF_IR_FOLD_H
#define UF_IR_FOLD_H

#include "ir/common/skeleton.h"

enum {
    PARTIAL_VALUES = UF_MAX_STATE + 1
};

typedef struct fold_writer {
    skeleton s;
    const fold *f;
    int nstate;                  /* values of an item: the state's, then the count if the variant has it */
    dtype state[PARTIAL_VALUES]; /* as which items hold them */
    bool hold_positions;         /* GPU, not wide: in 32 bits */
    bool narrow;                 /* between fold_narrow_begin and _end */
    bool begun;                  /* what results are made of has the beginning in front */
} fold_writer;

/* The state of some elements. has (i1): are there any? Empty text: there are, or combining with the values changes nothing that
 * shows. The values of an item that is not there are those of some elements or of an identity all the same, so that combining
 * them ends. */
typedef struct partial {
    ssa v[PARTIAL_VALUES];
    ssa present;
} partial;

/* A variable for an item: allocas, so it is made before the first branch of a kernel. sparse: with `has`. */
typedef struct partial_slot {
    ssa v[PARTIAL_VALUES];
    ssa present;
} partial_slot;
partial_slot partial_variable(fold_writer *w, bool sparse);
void partial_put(fold_writer *w, const partial_slot *slot, const partial *x);
partial partial_get(fold_writer *w, const partial_slot *slot);

/* Items have `has` where elements may be missing: no value stands for those. */
bool fold_sparse(const fold_writer *w);
/* The operands that are read for each element: inputs and mask. */
static inline bool fold_reads(const fold_writer *w, int k) {
    return (k < w->s.nin || (w->s.v->masked && k == variant_mask(w->s.v))) && skeleton_is_array(&w->s, k);
}
/* One element: in[k] is input k as loaded (not looked at where it is known), in[mask] the mask. position: i64, or empty where
 * the variant has none. From states: the state as loaded. */
partial fold_element(fold_writer *w, const ssa *in, ssa position);
/* No elements: a value that changes nothing when it is combined; where none is known the identity, if it may show; else zeros,
 * which are not there. */
partial fold_none(fold_writer *w);
/* What stands to the left of all elements, and is the result of none: the initial values; without them the identity. Is there
 * such a thing? Not in segments, which begin with their first elements, and not in what is left as a state. */
bool fold_begins(const fold_writer *w);
partial fold_beginning(fold_writer *w);
/* a and b, in this order. */
partial fold_join(fold_writer *w, const partial *a, const partial *b);
/* items[0 .. n-1] in order, by halves. The array is overwritten. */
partial fold_tree(fold_writer *w, partial *partials, int n);
partial fold_choose(fold_writer *w, ssa condition, const partial *yes, const partial *no);
/* An item for elements of which only those count where the i1 is true (empty: all). */
partial fold_if(fold_writer *w, ssa counts, const partial *x);
/* Integers of at most 16 bits that are to be added up in 64 are added in 32 while this is on, at most NARROW_MOST of them; for
 * other folds nothing changes. Items and variables made meanwhile are narrow; fold_widened, when it is off, makes them wide. */
enum {
    NARROW_MOST = 1 << 14
};
void fold_narrow(fold_writer *w, bool on);
partial fold_widened(fold_writer *w, const partial *x);
/* The results of an item, in the outputs' memory dtypes: finished; or the states themselves. count (i64): how many elements
 * took part, where the item does not say. */
void fold_results(fold_writer *w, const partial *x, ssa count, ssa *results);
/* The same, with the beginning in front, unless the item has it (begun), or is it (variant.empty). */
void fold_outcome(fold_writer *w, const partial *x, ssa count, ssa *results);

/* Do items without elements hold the identity? */
bool fold_fills(const fold_writer *w);
/* Is value k of the state always the position of one of the elements, or 0 (position.c)? */
bool fold_is_position(fold_writer *w, int k);

/* Writes the module of a fold or a scan: the trees' functions, then the kernel by `write`, which reads `words` words after
 * the operands'. */
typedef struct fold_kernel {
    void (*write)(fold_writer *w);
    int (*words)(const variant *v);
} fold_kernel;
uf_status fold_module(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                      code_module *module, const fold_kernel *how);

/* ---- GPU: items between threads (shuffle.c) ---- */

/* The item of the lane that is `by` further in the group of 2^lanes lanes, for all (past the last: some other item). */
partial partial_down(fold_writer *w, const partial *x, int by, int lanes);
/* As seen by the lane `by` before. */
partial partial_up(fold_writer *w, const partial *x, int by, int lanes);
/* The first lane's (of the group) or lane k's item, for all. */
partial partial_from(fold_writer *w, const partial *x, int lane, int lanes);
/* All items of a group of 2^lanes lanes combined, in order of the lanes; right in lane 0 of the group. */
partial partial_fold_lanes(fold_writer *w, const partial *x, int lanes);

/* ---- The shapes. Each reads its words after the operands', in the order of variant.h or of its own file. ---- */

void cpu_fold(fold_writer *w);
int cpu_fold_words(const variant *v);
void gpu_fold_rows(fold_writer *w);
void gpu_fold_columns(fold_writer *w);
int gpu_fold_words(const variant *v);

#endif
