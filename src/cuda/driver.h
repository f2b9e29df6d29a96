/* driver.h - the CUDA driver, opened when it is first needed: its functions, devices, contexts and errors. The
 * prototypes are our own declarations of the driver's stable interface; none of CUDA's headers is used. */
#ifndef UF_CUDA_DRIVER_H
#define UF_CUDA_DRIVER_H

#include <stdatomic.h>

#include "base/base.h"

typedef int cu_result;
typedef int cu_device;
typedef struct cu_context *cu_context;
typedef struct cu_library *cu_library;
/* It may be passed where the driver wants a function. */
typedef struct cu_kernel *cu_kernel;
typedef struct cu_function *cu_function;
typedef struct cu_stream *cu_stream;
typedef uint64_t cu_pointer;

/* The values of the driver's enumerations that are used. */
enum {
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_INITIALIZED = 3,
    CU_STUB_LIBRARY = 34,
    CU_NO_DEVICE = 100,
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_INVALID_PTX = 218,
    CU_JIT_COMPILER_NOT_FOUND = 221,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_INVALID_SOURCE = 300,
    CU_CAPTURE_UNSUPPORTED = 900, /* to 908: what a capture in progress forbids */
    CU_CAPTURE_LAST = 908,

    CU_ATTRIBUTE_SM_COUNT = 16,
    CU_ATTRIBUTE_SM_THREADS = 39,
    CU_ATTRIBUTE_MAJOR = 75,
    CU_ATTRIBUTE_MINOR = 76,
    CU_ATTRIBUTE_COOPERATIVE = 95,
    CU_ATTRIBUTE_SHARED_OPTIN = 97,
    CU_ATTRIBUTE_MEMORY_POOLS = 115,

    CU_KERNEL_MAX_THREADS = 0,
    CU_KERNEL_SHARED_BYTES = 1,
    CU_KERNEL_LOCAL_BYTES = 3,
    CU_KERNEL_REGISTERS = 4,
    CU_KERNEL_DYNAMIC_SHARED_BYTES = 8,
    CU_KERNEL_LARGE_CLUSTERS = 14, /* are clusters allowed that not every device with clusters takes? */

    CU_OPTION_MAX_REGISTERS = 0,
    CU_OPTION_ERROR_LOG = 5,
    CU_OPTION_ERROR_LOG_SIZE = 6,
    CU_OPTION_LINE_INFO = 13,

    CU_HOST_PORTABLE = 1,
    CU_MANAGED_GLOBAL = 1,
    CU_POINTER_MEMORY_TYPE = 2, /* CU_MEMORY_HOST, .. */
    CU_POINTER_DEVICE_POINTER = 3,
    CU_POINTER_IS_MANAGED = 8,
    CU_MEMORY_HOST = 1,
    CU_MODE_RELAXED = 2,
    CU_LAUNCH_COOPERATIVE = 2
};

/* The driver's CUlaunchAttribute and CUlaunchConfig. */
typedef struct cu_launch_attribute {
    int id;
    char padding[4];
    int value[16];
} cu_launch_attribute;
typedef struct cu_launch_config {
    unsigned grid[3], block[3];
    unsigned shared; /* bytes */
    cu_stream stream;
    const cu_launch_attribute *attributes;
    unsigned count; /* the number of attributes */
} cu_launch_config;

/* X(name in the documentation, symbol, parameters). */
/* clang-format off */
#define CUDA_FUNCTIONS(X)                                                                                             \
    X(cuGetErrorName, "cuGetErrorName", (cu_result, const char **))                                                   \
    X(cuGetErrorString, "cuGetErrorString", (cu_result, const char **))                                               \
    X(cuInit, "cuInit", (unsigned))                                                                                   \
    X(cuDriverGetVersion, "cuDriverGetVersion", (int *))                                                              \
    X(cuDeviceGetCount, "cuDeviceGetCount", (int *))                                                                  \
    X(cuDeviceGet, "cuDeviceGet", (cu_device *, int))                                                                 \
    X(cuDeviceGetName, "cuDeviceGetName", (char *, int, cu_device))                                                   \
    X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, cu_device))                                                 \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, cu_device))                                          \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (cu_context *, cu_device))                                \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (cu_device))                                         \
    X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", (cu_device, unsigned *, int *))                       \
    X(cuCtxGetCurrent, "cuCtxGetCurrent", (cu_context *))                                                             \
    X(cuCtxGetDevice, "cuCtxGetDevice", (cu_device *))                                                                \
    X(cuCtxGetId, "cuCtxGetId", (cu_context, uint64_t *))                                                             \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (cu_context))                                                          \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (cu_context *))                                                          \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                                   \
    X(cuLibraryLoadData, "cuLibraryLoadData",                                                                         \
      (cu_library *, const void *, const int *, void **, unsigned, const int *, void **, unsigned))                   \
    X(cuLibraryUnload, "cuLibraryUnload", (cu_library))                                                               \
    X(cuLibraryGetKernel, "cuLibraryGetKernel", (cu_kernel *, cu_library, const char *))                              \
    X(cuKernelGetFunction, "cuKernelGetFunction", (cu_function *, cu_kernel))                                         \
    X(cuKernelGetAttribute, "cuKernelGetAttribute", (int *, int, cu_kernel, cu_device))                               \
    X(cuKernelSetAttribute, "cuKernelSetAttribute", (int, int, cu_kernel, cu_device))                                 \
    X(cuOccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize",                                           \
      (int *, int *, cu_kernel, size_t (*)(int), size_t, int))                                                        \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                     \
      (int *, cu_kernel, int, size_t))                                                                                \
    X(cuLaunchKernel, "cuLaunchKernel",                                                                               \
      (cu_kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu_stream, void **, void **)) \
    X(cuLaunchKernelEx, "cuLaunchKernelEx", (const cu_launch_config *, cu_kernel, void **, void **))                  \
    X(cuMemAlloc, "cuMemAlloc_v2", (cu_pointer *, size_t))                                                            \
    X(cuMemFree, "cuMemFree_v2", (cu_pointer))                                                                        \
    X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                                  \
    X(cuMemFreeHost, "cuMemFreeHost", (void *))                                                                       \
    X(cuMemAllocManaged, "cuMemAllocManaged", (cu_pointer *, size_t, unsigned))                                       \
    X(cuPointerGetAttribute, "cuPointerGetAttribute", (void *, int, cu_pointer))                                      \
    X(cuMemAllocAsync, "cuMemAllocAsync", (cu_pointer *, size_t, cu_stream))                                          \
    X(cuMemFreeAsync, "cuMemFreeAsync", (cu_pointer, cu_stream))                                                      \
    X(cuMemcpyAsync, "cuMemcpyAsync", (cu_pointer, cu_pointer, size_t, cu_stream))                                    \
    X(cuMemsetD8Async, "cuMemsetD8Async", (cu_pointer, unsigned char, size_t, cu_stream))                             \
    X(cuMemsetD2D32Async, "cuMemsetD2D32Async", (cu_pointer, size_t, unsigned, size_t, size_t, cu_stream))            \
    X(cuStreamSynchronize, "cuStreamSynchronize", (cu_stream))                                                        \
    X(cuStreamIsCapturing, "cuStreamIsCapturing", (cu_stream, int *))                                                 \
    X(cuStreamGetId, "cuStreamGetId", (cu_stream, uint64_t *))                                                        \
    X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))
/* clang-format on */

typedef struct cuda_functions {
#define X(name, symbol, parameters) cu_result(*name) parameters;
    CUDA_FUNCTIONS(X)
#undef X
} cuda_functions;

typedef struct cuda_device {
    cu_device handle;
    int ordinal;
    int arch;         /* compute capability times ten */
    int sms;          /* multiprocessors */
    int threads;      /* that a multiprocessor holds at the same time */
    int shared;       /* bytes of shared memory that a block may have, where a kernel asks for them */
    int clusters;     /* log2 of the blocks of the largest cluster that it takes; 0: there are none */
    bool pools;       /* it has stream-ordered allocation */
    bool cooperative; /* it can launch grids whose blocks all run at the same time */
    size_t memory;    /* bytes */
    char name[128];
    /* The architecture that code is generated for: arch, or the nearest below it that libnvvm knows; 0: not known
     * yet. */
    atomic_int target;
    /* Retained when it is first needed, and kept; NULL before that. */
    _Atomic(cu_context) primary;
    /* Of scratch.c, which holds its lock to change them; NULL before the first. */
    struct cuda_pieces *pieces;
} cuda_device;

/* The functions. They are valid once cuda_open or cuda_device_get has succeeded. */
extern cuda_functions cuda;

/* Opens and initialises libcuda, once. After a failure the next call tries again. Errors: LIBRARY (every path that
 * was tried, with the reason), DEVICE. */
uf_status cuda_open(void);
/* What was found: "" and 0 before cuda_open. The version is 1000 * major + 10 * minor. */
const char *cuda_driver_path(void);
int cuda_driver_version(void);
int cuda_device_count(void);
/* Opens the driver if need be, and finds a device. Errors: LIBRARY, DEVICE. */
uf_status cuda_device_get(int ordinal, cuda_device **out);

/* Sets the error of a call of the driver's that failed: MEMORY if memory ran out, LIBRARY if the version of a file
 * (the driver or libnvvm) is at fault, else DEVICE. */
uf_status cuda_fail(cu_result result, const char *call);

#define CU(name, ...)                                 \
    do {                                              \
        cu_result cu_status = cuda.name(__VA_ARGS__); \
        if (cu_status)                                \
            return cuda_fail(cu_status, #name);       \
    } while (0)

/* A scope in which a context of the device is current: the caller's if it belongs to the device, else the primary
 * one. cuda_enter_relaxed also allows what the capture of a stream elsewhere would forbid (loading code,
 * allocating); it is for what is done rarely. A scope that was entered must be left, which makes the caller's
 * context current again. */
typedef struct cuda_scope {
    cu_context context;
    bool pushed, relaxed;
    int mode; /* the thread's capture mode before */
} cuda_scope;
uf_status cuda_enter(cuda_device *d, cuda_scope *scope);
uf_status cuda_enter_relaxed(cuda_device *d, cuda_scope *scope);
/* The same as cuda_enter_relaxed, but in the primary context whatever the caller's is. */
uf_status cuda_enter_primary(cuda_device *d, cuda_scope *scope);
void cuda_leave(const cuda_scope *scope);
/* The primary context, retained, if a runtime or this library has made it; else *out is NULL. */
uf_status cuda_primary_if_active(cuda_device *d, cu_context *out);

#endif
