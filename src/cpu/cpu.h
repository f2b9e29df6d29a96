/* cpu.h - what the files of the CPU engine share. */
#ifndef UF_CPU_CPU_H
#define UF_CPU_CPU_H

#include <stdatomic.h>

#include "engine.h"

/* A compiled kernel; variant.h has the layout of its words. */
typedef void cpu_kernel(const uint64_t *words);

enum {
    COST_SIZES = 48
};

struct code {
    cpu_kernel *run;
    void *tracker; /* ORC's, owns the memory of the code */
    /* What an element costs, in ticks / 1024; 0: not known yet. Learned from runs, to choose the number of threads. Of a
     * generalized ufunc, what one step of an inner call costs, by log2 of its steps; see call_steps. */
    _Atomic uint32_t cost[COST_SIZES];
};

/* jit.c */
uf_status cpu_compile(const code_module *module, const code_target *target, int device, code **out);
void cpu_release(code *c);
uf_status cpu_inspect(const code_module *module, const code_target *target, int device, uf_view view, text *out);

/* elf.c: what is asked of an object file that LLVM just made. */
/* Calls visit(user, name) for each symbol it needs from elsewhere; stops at the first error. */
uf_status elf_needs(const char *object, size_t size, uf_status (*visit)(void *user, const char *name), void *user);
/* Bytes of code and of read-only data. */
void elf_sizes(const char *object, size_t size, size_t *code_bytes, size_t *data_bytes);

/* launch.c */
uf_status cpu_launch(const code *c, const launch *l);

/* The words of a flat loop's operands from element `first` on; returns their number. */
static inline size_t flat_words(const launch *l, int64_t first, uint64_t *words) {
    const variant *v = l->v;
    size_t used = 0;
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        const variant_operand *o = &v->operand[k];
        if (o->kind == OPERAND_NUMBER) {
            words[used++] = l->numbers[k][0];
            if (o->value == DT_COMPLEX128)
                words[used++] = l->numbers[k][1];
        } else {
            int64_t skip = o->kind == OPERAND_CONTIGUOUS ? first * dtypes[o->memory].size : 0;
            words[used++] = (uintptr_t)l->data[k] + (uint64_t)skip;
        }
    }
    return used;
}

/* stream.c: flat loops whose outputs are too large for the caches. */
bool stream_wanted(const launch *l, int64_t n);
/* Runs elements first .. first + n - 1 of a loop for which that was true. */
void stream_run(const code *c, const launch *l, int64_t first, int64_t n);

#endif
