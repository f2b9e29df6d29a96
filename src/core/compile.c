/* compile.c - the pass list: typed tree + variant -> IR text -> machine code. (Text -> typed tree happens in func.c and
 * bind.c, once per signature.) */
#include "core/core.h"

uf_status compile_ir(arena *a, const compile_job *job, code_module *module) {
    *module = (code_module){.fast = job->fast, .flags = job->flags, .max_registers = job->max_registers};
    return (job->v->loop == LOOP_CALLS ? ir_calls : ir_elementwise)(a, job->name, job->tree, job->v, &job->target,
                                                                    module);
}

uf_status compile_code(const compile_job *job, code **out) {
    arena a = {0};
    code_module module;
    uf_status s = compile_ir(&a, job, &module);
    if (!s)
        s = engines[job->engine]->compile(&module, &job->target, job->device, out);
    text_free(&module.ir);
    arena_free(&a);
    return s;
}
