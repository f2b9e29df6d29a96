/* elementwise.c - an elementwise kernel: the scalar functions of the tree, and around them the skeleton of the variant's class, for which
 * a table has one row for each engine and class. */
#include "ir/elementwise/elementwise.h"

/* Parameter words after the operands'; see variant.h. */
static int one_word(const variant *v) { return (void)v, 1; }
static int two_words(const variant *v) { return (void)v, 2; }
static int gpu_rows_words(const variant *v) {
    return 10 + 3 * (v->ndim > 3 ? v->ndim - 3 : 0) + skeleton_arrays(v) * (v->ndim - 1);
}

static const struct {
    void (*write)(skeleton *s);
    int (*words)(const variant *v);
} skeletons[2][LOOP_CLASSES] = {
    {[LOOP_FLAT] = {cpu_flat, one_word},
     [LOOP_ROWS] = {cpu_strided, cpu_strided_words},
     [LOOP_GENERAL] = {cpu_strided, cpu_strided_words}},
    {[LOOP_FLAT] = {gpu_flat, two_words},
     [LOOP_ROWS] = {gpu_rows, gpu_rows_words},
     [LOOP_GENERAL] = {gpu_general, gpu_general_words}},
};

typedef struct elementwise_request {
    skeleton s;
    const tree *t;
    const variant *v;
} elementwise_request;

static void write_kernel(emit *e, void *user) {
    elementwise_request *q = user;
    emit_functions(e, q->t, "kernel");
    skeleton_begin(&q->s, e, q->t, q->v, skeletons[e->target->gpu][q->v->loop].words(q->v));
    skeletons[e->target->gpu][q->v->loop].write(&q->s);
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
