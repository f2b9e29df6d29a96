/* calls.h - what the files of generalized ufuncs share: the kernel's frame, the inner calls, and how a GPU's threads find
 * theirs. */
#ifndef UF_CALLS_H
#define UF_CALLS_H

#include "ir/common/internal.h"
#include "ir/common/skeleton.h"

/* A kernel over inner calls. */
typedef struct gufunc_writer {
    skeleton s;
    const core_layout *layout;
    frame frame;
    text parameters; /* of @kernel after its operands, and what it is called with */
    text arguments;
    ssa *core; /* the core words, once they are read */
    /* Arrays: address of the inner call's first element, staged ones in shared memory; the mask's element. */
    ssa at[UF_MAX_OPERANDS + 1];
    ssa report, element; /* with debug: the address of the report; the number of the inner call or point (i64) */
} gufunc_writer;

static inline bool gufunc_is_core(const gufunc_writer *w, int k) { return w->layout->operands[k].rank > 0; }

/* One inner call: reads the scalars at w->at, calls @kernel, and stores the scalar results; only where `stores` (i1) is
 * true, if it is given. With debug: of the number w->element, and not where the mask is false. */
void gufunc_call(gufunc_writer *w, ssa stores);
/* Reads the core words, which come last, and makes them arguments; before them, with debug, w->report. */
void gufunc_core_words(gufunc_writer *w);
/* What @kernel is called with behind its operands: the arguments, and w->report and w->element. */
void gufunc_more_arguments(gufunc_writer *w, text *out);

/* Staged operands (stage.c). */
typedef struct staging {
    bool any;
    struct staged *of; /* by operand */
} staging;
staging *staging_words(gufunc_writer *w); /* reads their words */
/* The inner calls first, first + step .. of a block (i64; one a thread, so `first` is its first thread's), between copies of
 * its operands. find sets w->at for a call's other operands. */
void staging_run(gufunc_writer *w, const staging *st, ssa n, ssa first, ssa step,
                 void (*find)(gufunc_writer *w, void *user, ssa call), void *user);

/* The constructs of a kernel that stand in no other one, their ranges and accesses, into *out. */
void gufunc_traits(const tree *t, code_traits *out);

void cpu_gufunc(gufunc_writer *w);
int cpu_gufunc_words(const gufunc_writer *w);
void gpu_gufunc(gufunc_writer *w);
int gpu_gufunc_words(const gufunc_writer *w);

#endif
