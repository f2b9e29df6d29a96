/* blas.h - OpenBLAS beside generated code. */
#ifndef UF_CPU_BLAS_H
#define UF_CPU_BLAS_H

#include "engine.h"

/* Computes a whole launch of LOOP_GUFUNC by OpenBLAS: true if it did. False, with nothing written, if the function names
 * no BLAS form, its dtypes are not BLAS's, the strides are not what BLAS takes, the sizes do not pay, or there is no
 * OpenBLAS; the generated code then computes the launch. Neither answer nor result depends on the number of threads or
 * on the addresses (but see blas.c on an OpenBLAS with threads of its own). Thread-safe; fork waits for calls in
 * progress. */
bool blas_launch(const launch *l);

/* The line of `ufunc info`: which OpenBLAS, or why there is none. */
void blas_info(text *out);

#endif
