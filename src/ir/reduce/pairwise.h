/* cascade.h - how the CPU folds many elements: strips of accumulators, a lane each, and a stack of such strips that blocks of
 * equal size are combined on, so that errors grow with the logarithm of the number of elements. */
#ifndef UF_IR_CASCADE_H
#define UF_IR_CASCADE_H

#include "ir/reduce/fold.h"

/* Where an element lies: for each operand that is read, its address; and its position. */
typedef struct element_place {
    ssa at[VARIANT_OPERANDS];
    ssa position; /* empty where the variant has none */
} element_place;

/* How operands move, in elements. Empty: they do not. */
typedef struct operand_strides {
    ssa by[VARIANT_OPERANDS];
    ssa position;
} operand_strides;

/* `steps` along the pace from a place. */
element_place element_place_moved(fold_writer *w, const element_place *p, const operand_strides *by, ssa steps);

typedef struct pairwise {
    fold_writer *w;
    int lanes;                    /* of a strip, at most */
    int group;                    /* steps whose elements are combined with each other before they are with the strip */
    bool masked;                  /* loops over lanes mask the end of the last vector; AVX-512 can for all types */
    bool sparse;                  /* lanes may have no element yet: then their count is 0 */
    operand_strides lane;         /* from one lane to the next; contiguous operands by 1 */
    operand_strides step;         /* from one step to the next */
    dtype stored[PARTIAL_VALUES]; /* of the values in strips: positions are narrow */
    ssa array[PARTIAL_VALUES];    /* LEVELS strips for each value of the state */
    ssa level, fill,
        blocks;     /* variables: the strip that is filled; what it has been combined with; how many are full */
    ssa done, left; /* variables of loops: steps that are done; lanes that are left */
} pairwise;

/* Makes the variables and arrays, before the first branch of a kernel, for strips of so many bytes; 0: of one lane. Then `lane`
 * is to be filled, and `step` before the first run. */
void pairwise_begin(pairwise *c, fold_writer *w, int bytes);
/* How many lanes make one vector. */
int pairwise_vector(const pairwise *c);

/* Empties the stack; a fold that is begun (fold_writer) by strips puts its beginning into `width` lanes. */
void pairwise_clear(pairwise *c, ssa width);
/* `steps` more steps from p on, of `width` lanes each, then one of `part` (if that is not 0), where there has been a whole one. */
void pairwise_run(pairwise *c, const element_place *p, ssa steps, ssa width, ssa part);
/* Combines what is on the stack. */
void pairwise_end(pairwise *c, ssa width);
/* What lane l has. */
partial pairwise_lane(pairwise *c, ssa l);

/* Without the stack: `steps` (at least 1) steps of `lanes` from p on. */
void pairwise_plain(pairwise *c, const element_place *p, ssa steps, int lanes);
/* One more, of fewer lanes. empty (i1): there was none before. */
void pairwise_part(pairwise *c, const element_place *p, ssa width, ssa empty);
/* Combines `width` (i64) lanes into lane 0. */
void pairwise_halve(pairwise *c, ssa width);

/* A loop over lanes, whose accesses to memory do not depend on each other. */
typedef struct lane_loop {
    counted_loop loop;
    int group;
} lane_loop;
lane_loop lanes_begin(emit *e, ssa width);
/* masked: the end of the last vector is masked, rather than taken lane by lane: half the code. */
void lanes_end(emit *e, lane_loop *l, bool masked);

#endif
