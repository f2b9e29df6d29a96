/* calls.h - what the files of generalized ufuncs share: the kernel's frame, the inner calls, and how a GPU's threads find
 * theirs. */
#ifndef UF_CALLS_H
#define UF_CALLS_H

#include "ir/internal.h"
#include "ir/shape.h"

/* A kernel over inner calls. */
typedef struct calls {
    shape s;
    const core_layout *layout;
    frame frame;
    text parameters; /* of @kernel after its operands, and what it is called with */
    text arguments;
    ssa at[UF_MAX_OPERANDS]; /* arrays: address of the inner call's first element, staged ones in shared memory */
} calls;

static inline bool calls_is_core(const calls *c, int k) { return c->layout->operands[k].rank > 0; }

/* One inner call: reads the scalars at c->at, calls @kernel, and stores the scalar results; only where `stores` (i1) is
 * true, if it is given. */
void calls_run(calls *c, ssa stores);
/* Reads the core words, which come last, into the arguments. */
void calls_core_words(calls *c);

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

void cpu_calls(calls *c);
int cpu_calls_words(const calls *c);
void gpu_calls(calls *c);
int gpu_calls_words(const calls *c);

#endif
