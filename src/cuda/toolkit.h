/* toolkit.h - libnvvm and libdevice: where they are, and IR text -> PTX with them. */
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

/* What the search found; kept for the life of the process. libdevice is read at its first need. */
typedef struct toolkit {
#define X(name, parameters) int(*name) parameters;
    NVVM_FUNCTIONS(X)
#undef X
    const char *(*nvvmGetErrorString)(int);
    char *nvvm_path;
    char *libdevice_path; /* NULL: not found beside libnvvm; libdevice_missing says where it was looked for */
    char *libdevice_missing;
} toolkit;

/* Finds libnvvm (and libdevice's path), once; a failure is tried again by the next call. Errors: LIBRARY. */
uf_status toolkit_find(const toolkit **out);
/* libdevice's bitcode, read once and kept. Errors: LIBRARY. */
uf_status toolkit_libdevice(const char **data, size_t *size);
/* Its path, once it was read; "" before. */
const char *toolkit_libdevice_path(void);

/* The newest architecture libnvvm knows that code for `arch` can be made from: arch itself or one below it; 0: none.
 * Errors: LIBRARY, MEMORY. */
uf_status nvvm_arch(int arch, int *best);
/* Compiles a module to PTX, NUL-terminated. Only text of our own generators may come here: libnvvm ends the process on some
 * invalid IR. Errors: LIBRARY, COMPILE, MEMORY. */
uf_status nvvm_compile(const code_module *module, int arch, text *ptx);
/* nvvmVerifyProgram on a module, for tests; it costs time and finds only our own mistakes. */
uf_status nvvm_verify(const code_module *module, int arch);

#endif
