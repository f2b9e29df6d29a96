/* calls.h - what the files of generalized ufuncs share: the kernel's frame, the inner calls, and how a GPU's threads find
 * theirs. */
#ifndef UF_CALLS_H
#define UF_CALLS_H

#include "ir/common/internal.h"
#include "ir/common/skeleton.h"

/* A kernel over inner calls. */
typedef struct calls {
    skeleton s;
    const core_layout *layout;
    frame frame;
    text parameters; /* of @kernel after its operands, and what it is called with */
    text arguments;
    ssa *core; /* the core words, once they are read */
    /* Arrays: address of the inner call's first element, staged ones in shared memory; the mask's element. */
    ssa at[UF_MAX_OPERANDS + 1];
    ssa report, element; /* with debug: the address of the report; the number of the inner call or point (i64) */
    /* Kernels over indices: what privatised operands count in (counters.h), and where that is for the caller of @kernel. */
    own_copy own[UF_MAX_OPERANDS];
    ssa counts[UF_MAX_OPERANDS];
    const struct guards *guards; /* CPU: see guards.h */
    struct outer_vector *outer;  /* CPU: see points.h; NULL: there is no @points */
    struct {
        const node *write; /* that fills operand k; NULL: none */
        ssa buffer;
    } bypass[UF_MAX_OPERANDS]; /* CPU: see bypass.h */
    ssa copy;                  /* CPU, with operands that are nontemporal: void (i8 *to, i8 *from, i64 bytes) */
    int group;                 /* CPU: the access group of @kernel's accesses to arrays */
} calls;

static inline bool calls_is_core(const calls *c, int k) { return c->layout->operands[k].rank > 0; }

/* One inner call: reads the scalars at c->at, calls @kernel, and stores the scalar results; only where `stores` (i1) is
 * true, if it is given. With debug: of the number c->element, and not where the mask is false. */
void calls_run(calls *c, ssa stores);
/* Reads the core words, which come last, and makes them arguments; before them, with debug, c->report. */
void gufunc_core_words(calls *c);
/* What @kernel is called with behind its operands: the arguments, and c->report and c->element. */
void calls_more_arguments(calls *c, text *out);

/* Staged operands (stage.c). */
typedef struct staging {
    bool any;
    struct staged *of; /* by operand */
} staging;
staging *staging_words(calls *c); /* reads their words */
/* The inner calls first, first + step .. of a block (i64; one a thread, so `first` is its first thread's), between copies of
 * its operands. find sets c->at for a call's other operands. */
void staging_run(calls *c, const staging *st, ssa n, ssa first, ssa step, void (*find)(calls *c, void *user, ssa call),
                 void *user);

void cpu_gufunc(calls *c);
int cpu_gufunc_words(const calls *c);
void gpu_gufunc(calls *c);
int gpu_gufunc_words(const calls *c);

#endif
