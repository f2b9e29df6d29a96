/* compile.c - the passes of compilation: typed tree (or fold) and variant -> IR text -> machine code. Source text
 * becomes a typed tree before that, once for each signature, in bind.c and reduction.c. */
#include "core/core.h"

typedef uf_status from_tree(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                            code_module *module);
typedef uf_status from_fold(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                            code_module *module);

static const struct {
    from_tree *tree;
    from_fold *fold;
} shapes[LOOP_CLASSES] = {
    [LOOP_FLAT] = {.tree = ir_elementwise},
    [LOOP_ROWS] = {.tree = ir_elementwise},
    [LOOP_GENERAL] = {.tree = ir_elementwise},
    [LOOP_GUFUNC] = {.tree = ir_gufunc},
    [LOOP_FOLD] = {.fold = ir_fold},
    [LOOP_SCAN] = {.fold = ir_scan},
    [LOOP_AT] = {.tree = ir_at},
    [LOOP_FORALL] = {.tree = ir_forall},
    [LOOP_TILE] = {.tree = ir_elementwise},
};

uf_status compile_ir(arena *a, const compile_job *job, code_module *module) {
    *module = (code_module){
        .fast = job->fast, .flags = job->flags, .max_registers = job->max_registers, .max_steps = job->max_steps};
    from_tree *of_tree = shapes[job->v->loop].tree;
    return of_tree ? of_tree(a, job->name, job->tree, job->v, &job->target, module)
                   : shapes[job->v->loop].fold(a, job->name, job->fold, job->v, &job->target, module);
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
