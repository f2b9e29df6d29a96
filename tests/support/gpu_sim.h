/* gpu_sim.h - a GPU on the host: the module of a kernel is compiled for the CPU with what is the
 * GPU's own replaced, and every thread of a block runs as a coroutine. Threads meet at barriers and in shuffles, in a random
 * order in between; a meeting that not all come to, and a shuffle from a lane that is not there, are faults. */
#ifndef UF_GPU_SIM_H
#define UF_GPU_SIM_H

#include "engine.h"

enum {
    SIM_SHARED = 1 << 18 /* bytes of a block's dynamic shared memory */
};

/* NULL; or what went wrong (static storage). */
const char *sim_run(code_module *m, const uint64_t *words, int nparameters, int blocks, int threads);
/* Can anything be run: is there an LLVM, and no thread sanitizer? */
bool sim_there(void);
/* Is there all that a module needs? Libdevice is not. */
bool sim_can(const code_module *m);

#endif
