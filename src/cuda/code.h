/* code.h - what the files of the CUDA engine share: loaded code, launches, memory. */
#ifndef UF_CUDA_CODE_H
#define UF_CUDA_CODE_H

#include "cuda/driver.h"
#include "gpu/gpu.h"

enum {
    PARAMETERS_MAX = 32764 / 8 /* CUDA's limit on a kernel's parameters (4.1 KB before driver 530) */
};

struct code {
    cuda_device *device;
    cu_library library;
    cu_kernel kernel;
    bool plain;              /* it is of the plain form: code_module.plain */
    _Atomic(unsigned) block; /* threads in a block for best occupancy, a power of two; 0: not asked for yet */
    _Atomic uint64_t
        resident; /* blocks that a multiprocessor holds, of so many threads and bytes of shared memory (high half); 0: not asked for yet */
    atomic_bool shares;          /* its blocks may have all the shared memory that the device gives on demand */
    atomic_int parameters;       /* that the kernel takes; 0: not counted yet */
    atomic_bool launched;        /* work that uses it may be queued */
    _Atomic(cu_context) foreign; /* a context other than the primary one that it ran in; NULL: none */
    atomic_bool many_contexts;   /* it ran in several of those */
    struct code *next;           /* in the list of released code */
    /* The driver may compile at the first use in a context, and report it here then: as long-lived as the library. */
    int option[4];
    void *value[4];
    char log[2048];
};

/* ---- code.c ---- */

uf_status code_compile(const code_module *module, const code_target *target, int device, code **out);
/* Loads PTX, and makes it ready for launches at once where a context exists to do it in. */
uf_status code_load(const char *ptx, const char *entry, int max_registers, unsigned flags, cuda_device *d, code **out);
/* Asks for the best block size in the current context, which loads the code there. Sets c->block. */
uf_status code_prepare(code *c);
/* Blocks of so many threads with so many bytes of dynamic shared memory that the device holds at once; the driver is asked once, as long
 * as it is for the same. Errors:
 * DEVICE. */
uf_status code_resident(code *c, int threads, int shared, int *out);
/* Lets the kernel's blocks have `bytes` of dynamic shared memory, if that takes the driver's permission; once for all. Errors: DEVICE. */
uf_status code_share(code *c, uint32_t bytes);
/* What a kernel takes; asks the driver each time. block: threads, 0: as launched; shared: bytes of dynamic shared memory. Errors:
 * DEVICE. */
typedef struct resources {
    int registers, shared, local, threads; /* shared: of the kernel itself; threads: in the largest block */
    int block, blocks;                     /* threads of a block; blocks resident on a multiprocessor */
} resources;
uf_status code_resources(code *c, int block, int shared, resources *out);
/* Queued work may still use the code: it is put aside, and unloaded some time later (code_reap). */
void code_release(code *c);
/* Unloads what was released on a device, after waiting for the device; nothing while a stream of it is being captured. */
void code_reap(cuda_device *d);
int code_dead(void); /* how many pieces of code wait for that */
/* Waits for everything in the current context; false if that is not possible now. A lost context has nothing queued. */
bool context_drain(void);

/* ---- launch.c ---- */

void launch_specialise(variant *v, const loop_problem *p);
int64_t launch_specialise_fold(variant *v, const fold_problem *s);
uf_status launch_fold_chunk(const code *c, const launch *l, int64_t *out);
uf_status launch_run(const code *c, const launch *l);
uf_status launch_info(const code *c, const launch *l, uf_launch *out); /* LOOP_FORALL */

/* ---- report.c ---- */

/* Where the device finds the flag that cancels the launch; 0: it has none. Errors: ARGUMENT (it cannot read it), DEVICE. */
uf_status report_flag(const launch *l, uint64_t *out);
/* What a launch that reports, on the device, in the current context, is to report to. Errors: ARGUMENT (the stream is being
 * captured), DEVICE, MEMORY. */
uf_status report_begin(cuda_device *d, cu_context context, const launch *l, report **out);
/* Behind the launch, whose status is passed on. */
uf_status report_end(report *r, void *stream, uf_status launched);
/* Forgets what the device's launches that are done have reported; if one has failed, that is the error (KERNEL). */
uf_status report_collect(const cuda_device *d);

/* ---- memory.c ---- */

uf_status memory_alloc(DLDevice device, size_t size, void **out);
void memory_free(DLDevice device, void *block);
uf_status memory_copy(int device, void *dst, const void *src, size_t size, void *stream, bool wait);
uf_status memory_sync(int device, void *stream);

/* ---- scratch.c ---- */

/* A piece of the library's memory for the stream and the context, held until memory_scratch_free: 1 MiB or more, kept and grown
 * up to 64 MiB. Memory in stream order where that is too small, other calls hold the stream's two pieces, or the stream is being captured. */
uf_status memory_scratch(int device, size_t size, void *stream, void **out);
void memory_scratch_free(int device, void *block, void *stream);
/* The same within a scope that was entered. scratch_release cannot fail. */
typedef struct stream_memory {
    cu_pointer block;
    uint64_t stream;     /* the id of the stream; 0: it was not asked for */
    struct piece *piece; /* NULL: the block is memory in stream order */
} stream_memory;
uf_status scratch_hold(cuda_device *d, const cuda_scope *scope, size_t size, cu_stream stream, stream_memory *out);
void scratch_release(const cuda_device *d, const stream_memory *m, cu_stream stream);

#endif
