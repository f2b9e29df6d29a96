/* example.h - what the examples of kernels over indices share: finding devices, arrays on them, a clock, and stopping
 * at errors. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ufunc.h>

static inline void check(bool right, const char *what) {
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        exit(1);
    }
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void *allocate(int64_t count, size_t size) {
    void *block = count > 0 ? calloc((size_t)count, size) : NULL;
    check(block != NULL, "sizes are positive, and memory suffices");
    return block;
}

/* The program's argument k as a number; `otherwise` if there are fewer arguments. */
static inline int64_t number(int argc, char **argv, int k, int64_t otherwise) {
    return k < argc ? atoll(argv[k]) : otherwise;
}

/* Device 0 is the CPU, and device 1 the first GPU. False: there is no such device; for a missing GPU the reason is
 * printed. */
static inline bool find_device(int k, DLDevice *device) {
    DLManagedTensor *probe;
    *device = (DLDevice){k == 0 ? kDLCPU : kDLCUDA, 0};
    if (k > 1)
        return false;
    if (uf_empty(&probe, *device, (DLDataType){kDLFloat, 32, 1}, 0, NULL)) {
        const char *why = uf_last_error()->message;
        printf("cuda:0    left out: %.*s\n", (int)strcspn(why, "\n"), why);
        return false;
    }
    probe->deleter(probe);
    return true;
}

static inline const char *name_of(DLDevice device) { return device.device_type == kDLCUDA ? "cuda:0" : "cpu"; }

/* An array on a device with the dtype, shape and content of a host array. */
static inline DLManagedTensor *copy_to(DLDevice device, DLTensor host) {
    DLManagedTensor *array;
    UF_CHECK(uf_empty(&array, device, host.dtype, host.ndim, host.shape));
    UF_CHECK(uf_copy(&array->dl_tensor, &host, NULL));
    return array;
}

/* Copies the content of an array back to the host, and releases the array. */
static inline void take_back(DLTensor host, DLManagedTensor *array) {
    UF_CHECK(uf_copy(&host, &array->dl_tensor, NULL));
    array->deleter(array);
}

#endif
