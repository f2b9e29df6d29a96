/* gu_case.h - one call of a generalized ufunc on random arrays, run by the library and inner call by inner call by the
 * interpreter. */
#ifndef UF_TEST_GU_CASE_H
#define UF_TEST_GU_CASE_H

#include "ref/random.h"
#include "ref/ref.h"

enum {
    GU_LOOP = 3,
    GU_NDIM = GU_LOOP + CORE_RANK,
    GU_WORDS = 256
};

/* Memory with everything around the elements that a view has: canaries. */
typedef struct gu_buffer {
    size_t size;
    char *before, *expected, *used; /* content: at first, by the interpreter, by the library */
    double *slack;                  /* how far each element may be off; NULL: not at all */
    DLManagedTensor *device;
} gu_buffer;

typedef struct gu_array {
    dtype type; /* in memory */
    int buffer;
    size_t at; /* bytes from the beginning of the buffer to element 0 */
    int64_t low, high;
    int loops, cores;                                     /* dimensions in this call */
    int64_t loop_stride[GU_LOOP], core_stride[CORE_RANK]; /* of the common loop, of the layout's dimensions */
    int64_t extent[GU_NDIM], stride[GU_NDIM];             /* loop dimensions, then core dimensions */
    int64_t shape[GU_NDIM], strides[GU_NDIM];             /* as the caller gives them */
    int axes[CORE_RANK];
    DLTensor tensor;
} gu_array;

typedef struct gu_case {
    uint64_t seed;
    source s;
    core_program c;
    arena a;
    const tree *tree;
    bool tolerant; /* sums are compared with exact ones, within their bound */
    int64_t steps; /* that the interpreter may take */
    bool
        planes; /* two loop dimensions: the last one is the innermost of all arrays that have it, and then come those of cores */
    int64_t sizes[CORE_NAMES];
    bool missing[CORE_NAMES];
    int ndim;
    int64_t extent[GU_LOOP];
    gu_array args[PROGRAM_TYPES];
    gu_buffer buffers[PROGRAM_TYPES];
    int64_t words[GU_WORDS];
    uf_axis_list lists[PROGRAM_TYPES];
    int axis;
    uf_axes axes;
    uf_options options;
    bool planned;
} gu_case;

/* The front end's run for the oracle. False: the program does not type-check. */
bool gu_check(gu_case *x);
/* Random sizes of a class (0: up to 8 .. 3: beyond 100000), shapes, strides, options, content. */
void gu_draw(gu_case *x, int class);
/* Fills the expected content. False: it takes too long, or the result depends on the order. */
typedef enum gu_verdict {
    GU_FINE,
    GU_LONG,
    GU_AMBIGUOUS
} gu_verdict;
gu_verdict gu_interpret(gu_case *x);
/* Calls f and compares. */
void gu_run_cpu(gu_case *x, const uf_func *f);
void gu_run_gpu(gu_case *x, const uf_func *f);
/* uf_infer gives the shapes of the outputs, or says why it cannot. */
void gu_run_infer(gu_case *x, const uf_func *f);
void gu_release(gu_case *x); /* the buffers */
/* Fails the test. */
void gu_must(const gu_case *x, const char *where, uf_status status);

#endif
