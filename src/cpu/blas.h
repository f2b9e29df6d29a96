/* blas.h - OpenBLAS, which may compute a launch in place of generated code. */
#ifndef UF_CPU_BLAS_H
#define UF_CPU_BLAS_H

#include "engine.h"

/* Computes a whole launch of LOOP_GUFUNC by OpenBLAS, and returns true. It returns false, with nothing written, if
 * the function names no BLAS form, its dtypes or strides are not what BLAS takes, the sizes are too small for it to
 * be faster, or there is no OpenBLAS; generated code then computes the launch. The answer does not depend on threads or
 * addresses, and neither does the result (but for an OpenBLAS that has threads of its own, see blas.c). Thread-safe; fork waits
 * for calls in progress. */
bool blas_launch(const launch *l);

/* For other files that call OpenBLAS. Opens it, once; false: blas_missing is the reason. */
bool blas_open(void);
const char *blas_missing(void);
void *blas_symbol(const char *name); /* NULL: it has none */
/* To be called before and after each use; a thread waits if the library has no memory for another caller, or in a fork. */
void blas_enter(void);
void blas_leave(void);
/* May several of our threads use it at the same time? Not if it uses threads of its own. */
bool blas_shared(void);

/* Writes a line of uf_system_info: which OpenBLAS is used, or why there is none. */
void blas_info(text *out);

#endif
