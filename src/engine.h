/* engine.h - what an engine must offer. The CPU and CUDA are two rows; core knows them only through this. */
#ifndef UF_ENGINE_H
#define UF_ENGINE_H

#include "nd/nd.h"

/* What code is generated for. Plain data, part of the key of compiled code: zero it before filling. */
typedef struct code_target {
    bool gpu;
    int arch;        /* GPU: compute capability times ten, 90 */
    int vector_bits; /* CPU: widest vectors of the host, 512, 256 or 128; also the libmvec variants to use; 0: none */
    bool f16c;       /* CPU: the host converts float16 <-> float32 in hardware */
} code_target;

/* A symbol that generated code refers to, by address. */
typedef struct code_symbol {
    const char *name;
    const void *address;
} code_symbol;

/* Generated code on its way to a compiler. */
typedef struct code_module {
    text ir;              /* LLVM IR, one spelling for all (CODEGEN facts) */
    char entry[64];       /* name of the kernel in it */
    code_symbol *symbols; /* CPU: everything external the text calls; in an arena of the caller's */
    int nsymbols;
    bool math;         /* GPU: calls libdevice */
    unsigned fast;     /* UF_FAST_* */
    unsigned flags;    /* UF_DEBUG */
    int max_registers; /* 0: no limit */
} code_module;

typedef struct code code; /* compiled code, loaded; each engine has its own struct */

/* How large a kernel's body is, for the choice of elements in flight. */
typedef struct code_size {
    int nodes;
    bool has_loop;
} code_size;

/* One run of a piece of code. */
typedef struct launch {
    const variant *v;
    const nd_loop *loop; /* narrays = variant_operands(v) */
    char *const *data;   /* per operand: address of its first element in loop order (nd_loop's offset included) */
    const uint64_t (*numbers)[2]; /* per operand: a number's bytes, already of the signature's dtype */
    int device;                   /* device_id */
    void *stream;
    int threads; /* CPU; 0: all */
} launch;

typedef struct engine {
    const char *name;
    /* The target of a device; opens the libraries that are needed to compile for it. device < 0 (GPU): architecture -device
     * without a device. Errors: LIBRARY, DEVICE. Cheap after the first time. */
    uf_status (*target)(int device, code_target *out);
    /* Fills the engine's fields of a variant (ndim, wide, vector, repeat, fixed; may turn rows into general). */
    void (*specialise)(variant *v, const nd_loop *loop, const code_size *size);
    /* Compiles and loads. Runs on a big stack. device < 0 is an error. */
    uf_status (*compile)(const code_module *module, const code_target *target, int device, code **out);
    void (*release)(code *c); /* waits for queued work that uses it where it must */
    uf_status (*launch)(const code *c, const launch *l);
    /* UF_VIEW_PTX, UF_VIEW_ASSEMBLY, UF_VIEW_RESOURCES. */
    uf_status (*inspect)(const code_module *module, const code_target *target, int device, uf_view view, text *out);
    /* Memory of the engine's device (managed or pinned by device_type). */
    uf_status (*alloc)(DLDevice device, size_t size, void **out);
    void (*free)(DLDevice device, void *block);
    /* Memory for a call's own use, ordered on a stream: usable by work enqueued between the two. */
    uf_status (*scratch)(int device, size_t size, void *stream, void **out);
    void (*scratch_free)(int device, void *block, void *stream);
    /* Copies bytes between host and device or within a device, enqueued on stream; `wait`: done on return. */
    uf_status (*copy)(int device, void *dst, const void *src, size_t size, void *stream, bool wait);
    uf_status (*sync)(int device, void *stream);
    void (*info)(text *out); /* its part of uf_system_info: what was found, where, version, what is missing */
} engine;

extern const engine cpu_engine, cuda_engine;

#endif
