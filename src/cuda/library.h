/* library.h - CUDA's libraries of mathematics (cuBLAS, cuSOLVER), which are opened when they are first needed and may be missing: where they
 * are looked for, their functions, and the handles through which they are called. The prototypes are our own declarations of the
 * libraries' stable interfaces. A library is a static struct of the file that calls it. */
#ifndef UF_CUDA_LIBRARY_H
#define UF_CUDA_LIBRARY_H

#include "cuda/driver.h"

/* A file of the library, and the major version of CUDA that it is a part of. */
typedef struct library_file {
    const char *name;
    int cuda;
} library_file;

typedef struct cuda_library {
    const char *title;               /* "cuBLAS" */
    const char *variable;            /* the environment variable that names its file */
    const char *wheel;               /* its folder among NVIDIA's wheels for Python, below site-packages/nvidia */
    const char *property;            /* its function that says its version, cublasGetProperty */
    const char *without;             /* what happens where it is missing, for uf_system_info */
    library_file files[3];           /* newest first; the names end with a NULL */
    const char *const *functions;    /* names, .. */
    void *table;                     /* .. and where their addresses go, one pointer for each, in that order */
    size_t count, optional;          /* the last ones may be missing in older versions, and are NULL then */
    uf_status (*create)(void **out); /* makes a handle in the current context, with all settings that last */
    /* Of library.c; written once, before `found`. */
    atomic_int found;
    int version[3];
    char path[512], reason[512];
} cuda_library;

/* Opens a library, once; whether it was found holds until the process ends. The driver must be open. No error is set. It may be
 * called while a stream is being captured. */
bool library_open(cuda_library *l);
/* The same, or the error LIBRARY: why the library is missing, and which environment variable names its file. */
uf_status library_need(cuda_library *l);
/* A line of uf_system_info: version and path, or why the library is missing. Opens it; the driver too must have been tried. */
void library_info(cuda_library *l, text *out);

enum {
    LIBRARY_SETTINGS = 3,
    LIBRARY_WORKSPACES = 16
};

/* The workspace that a library wants for one of its methods, which follows from sizes alone. */
typedef struct library_workspace {
    const void *method;    /* NULL: the row is free */
    int type, m, n, batch; /* what it was asked for */
    int elements;          /* or, of other methods, */
    size_t device, host;   /* bytes */
} library_workspace;

/* A handle, which one call at a time holds. It belongs to a context. */
typedef struct library_handle {
    struct library_handle *next;
    const cuda_library *library;
    const cuda_device *device;
    uint64_t context; /* its id; 0: the device's primary context */
    void *handle;
    /* What the handle was last told and keeps, in the terms of who tells it: the id of the stream, which the driver never uses twice
     * (0: it is to be told again), the workspace, and the mode. Zeros in a new one. */
    uint64_t stream;
    void *workspace;
    int math;
    /* What who calls the library made once, and asked it once: the last answers, of which the oldest one is overwritten. */
    void *settings[LIBRARY_SETTINGS];
    library_workspace asked[LIBRARY_WORKSPACES];
    int oldest;
} library_handle;

/* Takes a handle of an opened library for the scope's context, which is current; makes one if other calls hold all there are.
 * cuda_enter_relaxed must have made the scope, as a new handle allocates. Stream, workspace and mode are as the last call left them. Errors:
 * those of `create`, DEVICE, MEMORY. */
uf_status library_take(cuda_library *l, const cuda_device *d, const cuda_scope *scope, library_handle **out);
void library_give(library_handle *h);

#endif
