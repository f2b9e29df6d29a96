/* device.h - tests on a real GPU, with UF_TEST_GPU=1: driver functions that the library does not use. Include before cmocka.h. */
#ifndef UF_TEST_DEVICE_H
#define UF_TEST_DEVICE_H

#include "cuda/driver.h"
#include "expect.h"

typedef struct driver_more {
    cu_result (*cuCtxCreate_v2)(cu_context *, unsigned, cu_device);
    cu_result (*cuCtxDestroy_v2)(cu_context);
    cu_result (*cuCtxSetCurrent)(cu_context);
    cu_result (*cuStreamCreate)(cu_stream *, unsigned);
    cu_result (*cuStreamDestroy_v2)(cu_stream);
    cu_result (*cuStreamBeginCapture_v2)(cu_stream, int);
    cu_result (*cuStreamEndCapture)(cu_stream, void **);
    cu_result (*cuGraphInstantiateWithFlags)(void **, void *, unsigned long long);
    cu_result (*cuGraphLaunch)(void *, cu_stream);
    cu_result (*cuGraphExecDestroy)(void *);
    cu_result (*cuGraphDestroy)(void *);
} driver_more;

extern driver_more more;

enum {
    NON_BLOCKING = 1,
    GLOBAL_CAPTURE = 0
};

/* A group's setup: opens the driver, finds `more`, and begins to draw. */
int device_begin(void **unused);
/* Makes the primary context of device 0 current. */
void device_enter_primary(void);
/* uf_call on arrays of device 0; captured: by way of a graph, which runs twice. The results are there afterwards. */
void device_call(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options, bool captured);

#endif
