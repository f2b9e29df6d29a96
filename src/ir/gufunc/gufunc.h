/* gufunc.h - what the files of generalized ufuncs share: the kernel's frame, the inner calls, and staging. An inner call is one call of
 * @kernel, for one index of the loop dimensions; it computes on the core operands at that index. */
#ifndef UF_GUFUNC_H
#define UF_GUFUNC_H

#include "ir/common/internal.h"
#include "ir/common/skeleton.h"

/* The kernel of a generalized ufunc while it is written. */
typedef struct gufunc_writer {
    skeleton s;
    const core_layout *layout; /* of what is written; */
    const core_layout *told;   /* and of the call, which its core parameters are of */
    frame frame;
    text parameters; /* of @kernel behind its operands */
    text arguments;  /* for those of them that are neither core parameters nor in `report` and `element` */
    ssa *
        core; /* the core parameters (of `told`), once they have been read; a caller may then replace some by constants */
    /* The addresses of an inner call's operands (of staged ones in shared memory), and of the mask's element. */
    ssa at[UF_MAX_OPERANDS + 1];
    bool reads_output[UF_MAX_OPERANDS]; /* unrolled: the kernel reads what this output holds before it */
    int accesses;                       /* gufunc.calls on the CPU: the access group of the kernel's loads and stores */
    ssa active;                         /* gufunc.across: i1, is the thread's call one that stores? none: it is */
    ssa memory[UF_MAX_OPERANDS];        /* variant_holds_part: the addresses in global memory of staged operands */
    /* gufunc.pieces: the elements from .. to - 1 of the range are the block's, of which the first `head` go one by one (i64). Where the
     * threads hold a part (variant_holds_part), those are what is behind it, and `before` it lie so many that go one by one. */
    struct piece {
        ssa from, to, head, before;
    } piece;
    ssa report,
        element; /* in variants that report: the address of the report; the number of the inner call or point (i64) */
} gufunc_writer;

static inline bool gufunc_is_core(const gufunc_writer *w, int k) { return w->layout->operands[k].rank > 0; }

/* Writes one inner call: reads the scalar inputs at w->at, calls @kernel, and stores the scalar results, if `stores` (i1) is true or
 * none. Where the mask is false there is no call. In variants that report, the call has the number w->element. */
void gufunc_call(gufunc_writer *w, ssa stores);
/* Reads the core parameters, which come last; before them, in variants that report, w->report. */
void gufunc_core_parameters(gufunc_writer *w);
/* Appends the arguments of @kernel behind its operands, w->report and w->element among them. */
void gufunc_more_arguments(gufunc_writer *w, text *out);

/* Operands that are staged, that is, copied to shared memory for the inner calls of a block (staging.c). */
struct staged {
    ssa count, pitch, offset; /* i32, i32, i64: see type/schema.h */
};
typedef struct staging {
    bool any;
    struct staged *of; /* by operand */
} staging;
staging *staging_read(gufunc_writer *w); /* reads their parameters */
/* Writes the loop over a block's inner calls, one a thread: calls first, first + step .. (i64) are those of its first thread. Around
 * the calls the staged operands are copied in and out. find sets w->at for the other operands of a call. */
void staging_run(gufunc_writer *w, const staging *st, ssa n, ssa first, ssa step,
                 void (*find)(gufunc_writer *w, void *user, ssa call), void *user);

/* The same for unrolled kernels, where sizes are constants (block_copy.c). */
void staged_calls(gufunc_writer *w, ssa n, void (*find)(gufunc_writer *w, void *user, ssa call), void *user);
/* Operands that are staged whole for a cooperative group (whole_core.c): copies those of one call, at w->at, to shared memory, and makes
 * w->at the addresses there. The threads of the block get there together. rank, size (i64): this thread's in the group. again (i1): has the
 * block had a call before? none: it has not, or with gufunc.across it may have. */
void whole_cores(gufunc_writer *w, const staging *st, ssa rank, ssa size, ssa again, ssa aligned);

/* gufunc.form: computes one call whose operands are at w->at, by the lanes of a group; all lanes of the warp get there together. there (i1):
 * its results are stored. */
void elimination(gufunc_writer *w, ssa there);
void jacobi_vectors(gufunc_writer *w, ssa there);
void least_squares(gufunc_writer *w, ssa there);
/* The same by a block, coop > COOP_WARP; all of its threads get there together. */
void block_jacobi_eigenvectors(gufunc_writer *w);
void block_jacobi_singular_vectors(gufunc_writer *w);
void reflectors(gufunc_writer *w, ssa there);

/* gufunc.pieces: sets w->piece for the call whose operands are at w->at, and block number `block` of `blocks` (i64) of its group. */
void piece_find(gufunc_writer *w, ssa aligned, ssa block, ssa blocks);
/* Where element 0 of a staged operand would be, in elements from its part of shared memory on: so that the piece begins in that
 * part, and what is aligned in the array is so there. */
ssa piece_origin(gufunc_writer *w);

/* The constructs of a kernel that stand in no other one, their ranges and accesses, into *out. */
void gufunc_traits(const tree *t, code_traits *out);
/* The core dimensions along which inner calls fall into parts, as bits (separable.c). */
int gufunc_separable(const tree *t);

/* Unrolled kernels: what the kernel does at its head and its end (registers.c); the user's data is the gufunc_writer. */
extern const body_hooks registers_hooks;
extern const body_hooks registers_part_hooks; /* where threads share a call */

void cpu_gufunc(gufunc_writer *w);
void gpu_gufunc(gufunc_writer *w);

#endif
