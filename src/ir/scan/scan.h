/* scan.h - accumulations: the kernels of the two engines. Elements, states and results are those of reductions (reduce/fold.h). */
#ifndef UF_IR_SCAN_H
#define UF_IR_SCAN_H

#include "ir/reduce/fold.h"

/* Each reads its parameters after the operands', in the order of type/schema.h. */
void cpu_scan(fold_writer *w);
void gpu_scan(fold_writer *w);

/* ---- CPU: integers that one operation combines, by vectors (prefix.c) ---- */

enum {
    PREFIX_LANES = 64
};

typedef struct prefix {
    emit *e;
    dtype from, in, state,
        to;          /* of the input in memory and in the kernel, of what is combined, and of the output in memory */
    int lanes, bits; /* of a vector of `state` */
    int row;         /* of the table of operations */
    fragment type;   /* of the vector */
    ssa neutral;     /* a vector */
} prefix;

/* false: it is another accumulation, or there are no vectors. */
bool prefix_begin(fold_writer *w, prefix *p);
/* A vector of x in all lanes; of the last lane of x. */
ssa prefix_splat(const prefix *p, ssa x);
ssa prefix_last(const prefix *p, ssa x);
ssa prefix_lane(const prefix *p, ssa x, int lane);
ssa prefix_join(const prefix *p, ssa a, ssa b);
/* Each lane combined with all before it. */
ssa prefix_lanes(const prefix *p, ssa x);
/* The vectors of the input and of the output from the elements at these addresses on. */
ssa prefix_load(const prefix *p, ssa at);
void prefix_store(const prefix *p, ssa x, ssa at);

#endif
