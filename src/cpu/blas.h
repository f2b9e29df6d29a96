/* blas.h - OpenBLAS, which may compute a launch in place of generated code. */
#ifndef UF_CPU_BLAS_H
#define UF_CPU_BLAS_H

#include "engine.h"

/* Does OpenBLAS compute a whole launch of LOOP_GUFUNC? Not if the function names no BLAS form, its dtypes or strides are not
 * what BLAS takes, generated code has better forms (which report, or go by columns of small sizes), the sizes are too small for
 * it to be faster, or there is no OpenBLAS. The answer does not depend on threads or addresses. Thread-safe. */
bool blas_takes(const launch *l);
/* Computes such a launch. The result does not depend on threads, but for an OpenBLAS that has threads of its own (blas.c). False, with
 * nothing written: blas_takes would not. Thread-safe; fork waits for calls in progress. */
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
