/* gu_call.h - what the directed tests of generalized ufuncs share. Include after cmocka.h. */
#ifndef UF_TEST_GU_CALL_H
#define UF_TEST_GU_CALL_H

#include <stdio.h>
#include <string.h>

#include "ufunc.h"

#include "expect.h"
#include "gu_tests.h"

/* A function. */
static inline uf_func *gu_make(const char *layout, const char *signatures, const char *text) {
    uf_func *f;
    OK(uf_guvectorize(&f, "f", layout, signatures, text));
    return f;
}

/* uf_call on host arrays, or, in the GPU's run, on device copies of all but numbers; outputs are copied back. */
static inline uf_status gu_call(const uf_func *f, int n, const DLTensor *args, const uf_options *options) {
    DLTensor used[8];
    DLManagedTensor *memory[8] = {NULL};
    uf_description d = {.size = sizeof d};
    OK(uf_describe(f, &d));
    for (int k = 0; k < n && gu_gpu; k++) {
        used[k] = args[k];
        if (k < d.nin && args[k].ndim == 0)
            continue;
        OK(uf_empty(&memory[k], (DLDevice){kDLCUDA, 0}, args[k].dtype, args[k].ndim, args[k].shape));
        OK(uf_copy(&memory[k]->dl_tensor, &args[k], NULL));
        used[k] = memory[k]->dl_tensor;
    }
    uf_status status = uf_call(f, n, gu_gpu ? used : args, options);
    for (int k = 0; k < n && gu_gpu; k++) {
        if (memory[k] && k >= d.nin)
            OK(uf_copy(&args[k], &memory[k]->dl_tensor, NULL));
        if (memory[k])
            memory[k]->deleter(memory[k]);
    }
    return status;
}

#define GU_CALL(f, ...) \
    gu_call((f), (int)(sizeof((DLTensor[]){__VA_ARGS__}) / sizeof(DLTensor)), (DLTensor[]){__VA_ARGS__}, NULL)

#endif
