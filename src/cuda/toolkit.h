/* toolkit.h - libnvvm and libdevice: where they are, and how IR text becomes PTX with them. */
#ifndef UF_CUDA_TOOLKIT_H
#define UF_CUDA_TOOLKIT_H

#include "engine.h"

typedef struct nvvm_program *nvvm_program;

enum {
    NVVM_OUT_OF_MEMORY = 1,
    NVVM_INVALID_OPTION = 7
};

/* X(name, parameters): libnvvm's functions, all of type int. */
/* clang-format off */
#define NVVM_FUNCTIONS(X)                                                                \
    X(nvvmVersion, (int *, int *))                                                       \
    X(nvvmIRVersion, (int *, int *, int *, int *))                                       \
    X(nvvmCreateProgram, (nvvm_program *))                                               \
    X(nvvmDestroyProgram, (nvvm_program *))                                              \
    X(nvvmAddModuleToProgram, (nvvm_program, const char *, size_t, const char *))        \
    X(nvvmLazyAddModuleToProgram, (nvvm_program, const char *, size_t, const char *))    \
    X(nvvmVerifyProgram, (nvvm_program, int, const char **))                             \
    X(nvvmCompileProgram, (nvvm_program, int, const char **))                            \
    X(nvvmGetCompiledResultSize, (nvvm_program, size_t *))                               \
    X(nvvmGetCompiledResult, (nvvm_program, char *))                                     \
    X(nvvmGetProgramLogSize, (nvvm_program, size_t *))                                   \
    X(nvvmGetProgramLog, (nvvm_program, char *))
/* clang-format on */

/* What the search found. It is kept until the process ends; libdevice is read when it is first needed. */
typedef struct toolkit {
#define X(name, parameters) int(*name) parameters;
    NVVM_FUNCTIONS(X)
#undef X
    const char *(*nvvmGetErrorString)(int);
    char *nvvm_path;
    /* NULL: libdevice was not found beside libnvvm, and libdevice_missing says where it was looked for. */
    char *libdevice_path;
    char *libdevice_missing;
} toolkit;

/* Finds libnvvm, and the path of libdevice, once. After a failure the next call tries again. Errors: LIBRARY. */
uf_status toolkit_find(const toolkit **out);
/* The bitcode of libdevice, which is read once and kept. Errors: LIBRARY. */
uf_status toolkit_libdevice(const char **data, size_t *size);
/* The path of libdevice once it was read; "" before. */
const char *toolkit_libdevice_path(void);

/* The newest architecture that libnvvm knows and whose code a device of architecture `arch` can run: arch itself or
 * one below it; 0: there is none. Errors: LIBRARY, MEMORY. */
uf_status nvvm_arch(int arch, int *best);
/* Compiles a module to PTX, which ends with a NUL. Only text of our own generators may come here, as libnvvm ends
 * the process on some IR that is invalid. Errors: LIBRARY, COMPILE, MEMORY. */
uf_status nvvm_compile(const code_module *module, int arch, text *ptx);
/* libnvvm of CUDA 12.0 says of its PTX that it is of version 8.0, which lacks the st.async that modules may have. A later version takes
 * all that an earlier one has: raises it, in place, to 8.1, if that is needed. */
void ptx_raise_version(char *ptx);
/* Appends PTX whose stores to global memory are marked to be evicted first, which libNVVM has no word for in its IR: it drops !nontemporal. */
void ptx_stream_stores(text *out, const char *ptx);
/* Runs nvvmVerifyProgram on a module. It is for tests, as it takes time and only finds mistakes of our own. */
uf_status nvvm_verify(const code_module *module, int arch);

#endif
