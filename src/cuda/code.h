/* code.h - what the files of the CUDA engine share: loaded code, launches, memory. */
#ifndef UF_CUDA_CODE_H
#define UF_CUDA_CODE_H

#include "cuda/driver.h"
#include "engine.h"

enum {
    BLOCK_MAX = 256,      /* threads in a block; the code is generated for at most that many */
    BLOCK_MIN = 64,       /* below that, blocks are not made smaller to spread a small loop over the device */
    WORDS_MAX = 32764 / 8 /* CUDA's limit on a kernel's parameters (4.1 KB before driver 530) */
};

struct code {
    cuda_device *device;
    cu_library library;
    cu_kernel kernel;
    _Atomic(unsigned) block;     /* threads in a block for best occupancy, a power of two; 0: not asked for yet */
    atomic_bool launched;        /* work that uses it may be queued */
    _Atomic(cu_context) foreign; /* a context other than the primary one that it ran in; NULL: none */
    atomic_bool homeless;        /* it ran in several of those */
    struct code *next;           /* among the dead */
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
/* Queued work may still use the code: it is put aside, and unloaded some time later (code_reap). */
void code_release(code *c);
/* Unloads what was released on a device, after waiting for the device; nothing while a stream of it is being captured. */
void code_reap(cuda_device *d);
int code_dead(void); /* how many pieces of code wait for that */

/* ---- launch.c ---- */

/* How a loop is laid out over threads. */
typedef struct grid {
    uint32_t blocks, threads; /* one-dimensional; threads is a power of two */
    uint32_t words;           /* of the parameter block */
} grid;
/* Number of words that launch_layout writes. */
int launch_words(const variant *v);
/* Writes the parameter block (type/variant.h) and chooses the grid; block is the largest number of threads in a block.
 * Errors: ARGUMENT if the loop is too large for a grid. */
uf_status launch_layout(const launch *l, unsigned block, int sms, uint64_t *words, grid *out);
void launch_specialise(variant *v, const nd_loop *loop, const core_layout *layout, const int64_t *core,
                       const code_size *size);
uf_status launch_run(const code *c, const launch *l);

/* ---- memory.c ---- */

uf_status memory_alloc(DLDevice device, size_t size, void **out);
void memory_free(DLDevice device, void *block);
uf_status memory_scratch(int device, size_t size, void *stream, void **out);
void memory_scratch_free(int device, void *block, void *stream);
uf_status memory_copy(int device, void *dst, const void *src, size_t size, void *stream, bool wait);
uf_status memory_sync(int device, void *stream);

#endif
