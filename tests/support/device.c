/* device.c - see device.h. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

driver_more more;

int device_begin(void **unused) {
    (void)unused;
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
    return 0;
}

void device_enter_primary(void) {
    cuda_device *d;
    cu_context primary;
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
}
