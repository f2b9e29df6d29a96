/* pairwise.h - pairwise summation on the CPU, for any operator: how many elements are reduced so that rounding errors grow with the
 * logarithm of their number only. There are arrays of accumulators, one accumulator a lane; a stack of such arrays holds the results
 * of blocks of elements, and two blocks of the same size are combined, as the carries of a binary counter are. */
#ifndef UF_IR_PAIRWISE_H
#define UF_IR_PAIRWISE_H

#include "ir/reduce/fold.h"

/* Where an element lies: for each operand that is read, its address; and its position. */
typedef struct element_place {
    ssa at[VARIANT_OPERANDS];
    ssa position; /* none where the variant has none */
} element_place;

/* Strides of the operands that are read, in elements, and of the position. none: they do not move. */
typedef struct operand_strides {
    ssa by[VARIANT_OPERANDS];
    ssa position;
} operand_strides;

/* The place that is `steps` strides further. */
element_place element_place_moved(fold_writer *w, const element_place *p, const operand_strides *by, ssa steps);

/* The same place, which LLVM cannot relate to what it was computed of: else it looks for ways to compute the addresses in the loops over
 * elements from what changes with the loops around them, too, which takes a tenth of the time to compile. */
element_place element_place_unknown(fold_writer *w, const element_place *p);

/* The strides of steps that are `factor` of these long. */
operand_strides strides_scaled(fold_writer *w, const operand_strides *by, ssa factor);

typedef struct pairwise {
    fold_writer *w;
    int lanes;            /* of an array of accumulators, at most */
    int group;            /* steps whose elements are combined with each other before they go into the accumulators */
    bool masked;          /* loops over lanes mask the last vector, which AVX-512 can do for all types */
    bool sparse;          /* a lane may have no element yet; its count is then 0 */
    operand_strides lane; /* from one lane to the next; 1 in contiguous operands */
    operand_strides step; /* from one step to the next */
    bool dense;  /* elements lie side by side, those of a step behind those of the step before, as many as `lanes` */
    bool apart;  /* elements are taken one by one, in the order of memory (pairwise_by_element) */
    ssa neutral; /* what arrays without an element hold, which changes nothing (fold_neutral): no case is told apart. none: there is no such */
    dtype stored[PARTIAL_VALUES]; /* types of the values in the arrays, where positions are narrow */
    ssa array[PARTIAL_VALUES];    /* for each value of the state LEVELS arrays of accumulators */
    /* Counts: the integer that the elements of a group are counted in, which is as wide as they are; else DT_NONE. */
    dtype few;
    ssa few_array; /* of so many lanes */
    ssa level, fill,
        blocks;     /* variables: the level being filled; the groups or steps it has taken; the number of full blocks */
    ssa done, left; /* variables of loops: steps done; lanes left */
    /* The arrays have the lanes of one vector, all of which each loop goes over, so that LLVM holds them in registers. */
    bool held;
    ssa held_array[PARTIAL_VALUES]; /* for pairwise_held, if there are any */
    ssa absorbed; /* variable (i8), not 0: a lane has the absorbing value, so nothing more is taken. None where there is no such value */
    ssa decided; /* variable (i1): a lane of some vectors has it. None where there is no such value */
} pairwise;

enum {
    PAIRWISE_ROW_BYTES = 512 /* of the accumulators of one level, for rows */
};

/* Makes the variables and arrays, before the first branch of a kernel. bytes: of the accumulators of one level; 0: one lane. The caller
 * then sets `lane`, and `step` before the first run. */
void pairwise_begin(pairwise *c, fold_writer *w, int bytes);
/* How many lanes make one vector. */
int pairwise_vector(const pairwise *c);

/* Rows of at most so many elements need no stack; longer ones make a whole step, so that every lane has an element. */
int pairwise_short(const pairwise *c);
/* The same for a fold, before there is a variant: code_traits.short_rows. */
int pairwise_short_rows(const fold *f);

/* Empties the stack. If the accumulators start with the beginning (fold_writer.begun), puts it into `width` lanes. */
void pairwise_clear(pairwise *c, ssa width);
/* Takes in `steps` steps from p on, of `width` lanes each, and then, if part is not 0, one of `part` lanes; there must have been a whole
 * step before. */
void pairwise_run(pairwise *c, const element_place *p, ssa steps, ssa width, ssa part);
/* Combines the arrays on the stack into the lowest one. */
void pairwise_end(pairwise *c, ssa width);
/* The partial of lane l. */
partial pairwise_lane(pairwise *c, ssa l);

/* Are operands of 4 or 8 bytes read alone, and one of them with gaps between the elements of a row? `lane` is set. A vector of those is
 * gathered, or shuffled out of some, which takes no less time than to read them one by one, and the processor does not foresee memory that
 * is read so. halves: every second one of 4 bytes counts even where it is computed in 4, though such vectors are soon made out of two. */
bool pairwise_has_gaps(const pairwise *c, bool halves);
/* Are rows of one dimension made of elements without conditions, of which so little is computed that there are no loops or math functions? */
bool pairwise_is_simple(const pairwise *c);
/* pairwise_has_gaps but for halves, and is so little computed of an element that it is best done for each by itself? */
bool pairwise_by_element(const pairwise *c);

/* Puts a partial into lane l. */
void pairwise_put(pairwise *c, ssa l, const partial *x);

/* Without the stack: takes in `steps` steps (at least 1) of `lanes` lanes from p on. */
void pairwise_plain(pairwise *c, const element_place *p, ssa steps, int lanes);
/* Takes in one more step, of `width` lanes. empty: there was no step before. */
void pairwise_part(pairwise *c, const element_place *p, ssa width, bool empty);
/* Combines `width` (i64) lanes from `first` on into that one: those from the largest power of two below `width` on into the first lanes,
 * and so on with what is left. */
void pairwise_halve(pairwise *c, ssa first, ssa width);
/* The same for the lanes of one vector, without a loop. */
void pairwise_halve_all(pairwise *c, int lanes);
/* Where the elements from p on are few (m: i64, at least 1), combines them in registers, in the order of pairwise_part and pairwise_halve, puts
 * their partial into lane 0, and branches to `end`. What is written next is for more elements. */
void pairwise_few(pairwise *c, const element_place *p, ssa m, int end);

/* The same in registers, for elements that lie side by side: an array of the lanes of one vector, with which
 * pairwise_plain works, and these. They have a condition for each lane in place of loops over some lanes, whose length is hard to
 * foresee where rows differ in theirs. */
bool pairwise_holds(const pairwise *c);
pairwise pairwise_held(const pairwise *c);
/* Begins a row: what the lanes hold of the one before is no input, so that the processor can work on several rows at once. */
void pairwise_held_clear(pairwise *c);
/* Takes in one more step, of the first `width` lanes (i64). empty (i1): there was no step before. */
void pairwise_held_part(pairwise *c, const element_place *p, ssa width, ssa empty);
/* Combines all lanes of arrays into those of one vector, in the order of pairwise_halve. */
void pairwise_held_gather(const pairwise *c, pairwise *held);
/* Combines the lanes that have one of the m elements (i64) into lane 0. */
void pairwise_held_halve(pairwise *c, ssa m);

/* The partial of the element of lane l at p. */
partial pairwise_element(const pairwise *c, const element_place *p, ssa l);

/* Do elements lie side by side, along one dimension, and can those that are not there be left out of a vector? So many are in one. */
bool pairwise_takes_masked(const pairwise *c);
int pairwise_masked_lanes(const pairwise *c);
/* The element of lane l at p if l is below n (i64), which becomes `there` (i1); else that of operands which are 0. */
partial pairwise_element_below(const pairwise *c, const element_place *p, ssa l, ssa n, ssa *there);

/* any_order.c: does the order of elements change nothing? Then they need no lanes. Of bools one that is the absorbing value decides;
 * integers that are far apart are combined one by one, and those that are near by vectors with what lies between them. What the m
 * elements (i64, at least 1) from p on give goes into lane 0. */
bool pairwise_decides(const pairwise *c);
void pairwise_decide(pairwise *c, const element_place *p, ssa m);
bool pairwise_one_by_one(const pairwise *c);
void pairwise_take_one_by_one(pairwise *c, const element_place *p, ssa m);
bool pairwise_by_masks(const pairwise *c);
void pairwise_take_by_masks(pairwise *c, const element_place *p, ssa m);

/* cpu_extremum.c: the position of an extremum among the m elements (i64, at least 1) from p on; its partial goes into lane 0. extremum_begin
 * makes the variables, before the first branch of a kernel. */
typedef struct extremum_search {
    pairwise *c;
    extremum which;
    dtype key;        /* the values that are compared, */
    int lanes, chunk; /* so many by a vector, and so many together: some vectors */
    ssa keys;         /* an array for those of a block */
    ssa at, done;     /* variables (i64): the element that is looked for; how many have been looked at */
    ssa best;         /* variable: the best key so far */
    ssa tops,
        numbers; /* variables: of each lane of a block the best key, and the number of the chunk that has it (vectors) */
} extremum_search;
void extremum_begin(extremum_search *x, pairwise *c, extremum which);
void extremum_run(extremum_search *x, const element_place *p, ssa m);

/* A loop over lanes, whose accesses to memory do not depend on each other. */
typedef struct lane_loop {
    counted_loop loop;
    int group;
    int interleave; /* vectors that are taken at once; 0: LLVM decides */
    bool scalar;    /* no vectors: some lanes are taken at once */
    int vector;     /* all lanes are to be one vector of so many; 0: LLVM decides */
} lane_loop;
lane_loop lanes_begin(emit *e, ssa width, bool some); /* some: there is a lane */
/* masked: the end of the last vector is masked, rather than taken lane by lane: half the code. */
void lanes_end(emit *e, lane_loop *l, bool masked);

#endif
