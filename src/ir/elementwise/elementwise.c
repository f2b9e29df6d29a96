/* elementwise.c - an elementwise kernel: the scalar functions of the tree, and around them the skeleton of the variant's class, for which
 * a table has one row for each engine and class. */
#include "ir/elementwise/elementwise.h"

static void (*const skeletons[2][LOOP_CLASSES])(skeleton *s) = {
    {[LOOP_FLAT] = cpu_flat, [LOOP_ROWS] = cpu_strided, [LOOP_GENERAL] = cpu_strided, [LOOP_TILE] = cpu_tile},
    {[LOOP_FLAT] = gpu_flat, [LOOP_ROWS] = gpu_rows, [LOOP_GENERAL] = gpu_general, [LOOP_TILE] = gpu_tile},
};

typedef struct elementwise_request {
    skeleton s;
    const tree *t;
    const variant *v;
} elementwise_request;

/* The inputs that are the same in all elements of the innermost loop, as bits. */
static uint64_t uniform_inputs(const variant *v) {
    uint64_t bits = 0;
    for (int k = 0; k < v->nin; k++)
        if (v->operand[k].kind == OPERAND_NUMBER || v->operand[k].kind == OPERAND_CONSTANT)
            bits |= UINT64_C(1) << k;
    return bits;
}

static void write_kernel(emit *e, void *user) {
    elementwise_request *q = user;
    e->uniform = uniform_inputs(q->v);
    e->byte_tables = byte_tables_pay(e, q->t, q->v);
    emit_functions(e, q->t, "kernel");
    skeleton_begin(&q->s, e, q->t, q->v, NULL);
    skeletons[e->target->gpu][q->v->loop](&q->s);
    skeleton_end(&q->s);
}

uf_status ir_elementwise(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                         code_module *module) {
    elementwise_request *q = arena_alloc(a, sizeof *q);
    if (!q)
        return fail_memory();
    q->t = t;
    q->v = v;
    return skeleton_module(a, name, v, target, module, write_kernel, q);
}
