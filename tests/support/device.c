/* device.c - see device.h. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "draw.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

driver_more more;

int device_begin(void **unused) {
    OK(cuda_open());
    void *handle = dlopen(cuda_driver_path(), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
#define FIND(name)                               \
    *(void **)&more.name = dlsym(handle, #name); \
    assert_non_null(*(void **)&more.name)
    FIND(cuCtxCreate_v2);
    FIND(cuCtxDestroy_v2);
    FIND(cuCtxSetCurrent);
    FIND(cuStreamCreate);
    FIND(cuStreamDestroy_v2);
    FIND(cuStreamBeginCapture_v2);
    FIND(cuStreamEndCapture);
    FIND(cuGraphInstantiateWithFlags);
    FIND(cuGraphLaunch);
    FIND(cuGraphExecDestroy);
    FIND(cuGraphDestroy);
    return draw_seed(unused);
}

void device_enter_primary(void) {
    cuda_device *d;
    cu_context primary;
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
}

void device_call(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options, bool captured) {
    static const DLDevice gpu = {kDLCUDA, 0};
    uf_options own = options ? *options : (uf_options){.size = sizeof own};
    cu_stream stream;
    void *graph, *exec;
    if (!captured) {
        OK(uf_call(f, nargs, args, &own));
        OK(uf_sync(gpu, own.stream));
        return;
    }
    device_enter_primary();
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    own.stream = stream;
    OK(uf_sync(gpu, NULL));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    OK(uf_call(f, nargs, args, &own));
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        OK(more.cuGraphLaunch(exec, stream));
    OK(uf_sync(gpu, stream));
    OK(more.cuGraphExecDestroy(exec));
    OK(more.cuGraphDestroy(graph));
    OK(more.cuStreamDestroy_v2(stream));
}
