/* mockcuda.h - what tests ask of the mock driver. The functions are found with dlsym in the library that
 * UFUNC_CUDA_DRIVER names; a test never links it. */
#ifndef MOCKCUDA_H
#define MOCKCUDA_H

#include <stddef.h>
#include <stdint.h>

typedef struct mock_launch {
    char kernel[64];
    const char *ptx; /* what was loaded as its code; it lives as long as the kernel */
    unsigned blocks, threads, shared;
    int cooperative;
    uint64_t words[4096];
    size_t bytes;
    void *stream, *context;
} mock_launch;

/* What is alive. */
typedef struct mock_live {
    int allocations, libraries, retained,
        depth; /* retained: references to primary contexts; depth: of the thread's stack */
} mock_live;

typedef struct mock_functions {
    /* The nth driver call from now on (1: the next) reports `error`; 0: none. Looking up an error's text is not counted. */
    void (*fail_at)(int nth, int error);
    /* Every call of one function reports `error` from now on; NULL: none. */
    void (*fail_name)(const char *function, int error);
    int (*calls)(void);                 /* driver calls since fail_at */
    int (*count)(const char *function); /* calls of one function since the process began */
    const char *(*failed)(void);        /* name of the last function that was made to fail; NULL: none */
    mock_live (*live)(void);
    const mock_launch *(*launch)(int *count); /* the last one, and how many there were */
    void (*on_launch)(
        void (*look)(const mock_launch *)); /* called within each launch, with nothing locked; NULL: none */
    void (*capture)(int status);            /* what cuStreamIsCapturing says of every stream */
    int (*mode)(void);                      /* the thread's capture mode */
    void *(*context_new)(int device);       /* a context as cuCtxCreate makes */
    void (*context_set)(void *context);     /* cuCtxSetCurrent */
    void *(*context_get)(void);
    const int *(*jit)(int *count);      /* the options of the last cuLibraryLoadData */
    int (*synchronised)(void *context); /* how often cuCtxSynchronize was called in a context */
    void (*hold)(int on);               /* memory is set only when its stream, or the context, is waited for */
    void (*renew_streams)(void);        /* every stream is destroyed, and another one made that has its address */
} mock_functions;

/* The library exports one: const mock_functions *mock_control(void). MOCK_DEVICES (default 2) and MOCK_ARCH (default 90)
 * are read by cuInit; MOCK_POOLS=0 takes stream-ordered allocation away, MOCK_COOPERATIVE=0 cooperative launches, MOCK_VERSION is
 * the version of CUDA (default 13000). A device has 4 multiprocessors (MOCK_SMS: so many) of 1536 threads. */

#endif
