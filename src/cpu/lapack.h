/* lapack.h - the routines of LAPACK in OpenBLAS. */
#ifndef UF_CPU_LAPACK_H
#define UF_CPU_LAPACK_H

#include "engine.h"

/* The members of the engine of that name. A batch is spread over the library's threads; results do not depend on how many there are.
 * All are thread-safe; fork waits for calls in progress. */
bool lapack_pays(const lapack_problem *p);
uf_status lapack_open(int device);
uf_status cpu_lapack_run(const lapack_call *c);

#endif
