/* cublas.h - cuBLAS, which may compute a launch in place of generated code. */
#ifndef UF_CUDA_CUBLAS_H
#define UF_CUDA_CUBLAS_H

#include "cuda/driver.h"
#include "gpu/gpu.h"

/* Enqueues a whole launch of LOOP_GUFUNC on its stream, if it is one for a library (gpu_gemm_plan) and cuBLAS is there: *done.
 * Otherwise nothing happens, and generated code computes the launch. Errors: DEVICE, MEMORY; ARGUMENT (the flag to cancel it). */
uf_status cublas_launch(cuda_device *d, const launch *l, bool *done);

/* A line of uf_system_info. */
void cublas_info(text *out);

#endif
