/* scan.c - the module of an accumulation. */
#include "ir/scan/scan.h"

uf_status ir_scan(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                  code_module *module) {
    return fold_module(a, name, f, v, target, module, target->gpu ? gpu_scan : cpu_scan);
}
