/* cusolver.h - the routines of linear algebra of cuSOLVER. */
#ifndef UF_CUDA_CUSOLVER_H
#define UF_CUDA_CUSOLVER_H

#include "cuda/driver.h"
#include "engine.h"

/* The members of the engine of that name. Everything is enqueued on the call's stream; the handle is held while it is, and workspace is
 * memory in the stream's order. lapack_run fails with ARGUMENT in a capture, for routines that cannot be captured. */
bool cusolver_pays(const lapack_problem *p);
lapack_routine cusolver_svd(int64_t m, int64_t n);
uf_status cusolver_open(int device);
uf_status cusolver_run(const lapack_call *c);
bool cusolver_lands(const void *address);
/* Makes so many unit matrices of the call's size and type, one behind the other in device memory, on its stream. */
uf_status cusolver_units(const lapack_call *c, char *at, int64_t count);

/* batched.c: batches of small matrices by cuBLAS. batched_reflects is the engine's lapack_reflects. */
bool batched_reflects(const lapack_problem *p);
bool batched_fits(const lapack_call *c);
uf_status batched_run(cuda_device *d, const cuda_scope *scope, const lapack_call *c);

/* A line of uf_system_info. */
void cusolver_info(text *out);

#endif
