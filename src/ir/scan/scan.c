/* scan.c - the module of an accumulation. */
#include "ir/scan/scan.h"

uf_status ir_scan(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                  code_module *module) {
    static const fold_kernel kernels[2] = {{cpu_scan, cpu_scan_words}, {gpu_scan, gpu_scan_words}};
    return fold_module(a, name, f, v, target, module, &kernels[target->gpu]);
}
