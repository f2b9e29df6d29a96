/* elementwise.c - an elementwise kernel: the scalar functions of the tree, and around them the shape of the variant's class.
 * One row of the table for each engine and class. */
#include "ir/shape.h"

/* Parameter words after the operands'; see variant.h. */
static int one_word(const variant *v) { return (void)v, 1; }
static int two_words(const variant *v) { return (void)v, 2; }
static int gpu_rows_words(const variant *v) {
    return 10 + 3 * (v->ndim > 3 ? v->ndim - 3 : 0) + shape_arrays(v) * (v->ndim - 1);
}

static const struct {
    void (*write)(shape *s);
    int (*words)(const variant *v);
} shapes[2][LOOP_CLASSES] = {
    {[LOOP_FLAT] = {cpu_flat, one_word},
     [LOOP_ROWS] = {cpu_strided, cpu_strided_words},
     [LOOP_GENERAL] = {cpu_strided, cpu_strided_words}},
    {[LOOP_FLAT] = {gpu_flat, two_words},
     [LOOP_ROWS] = {gpu_rows, gpu_rows_words},
     [LOOP_GENERAL] = {gpu_general, gpu_general_words}},
};

/* Writes the functions. Running out of arena memory comes back here. */
static uf_status write_kernel(emit *e, shape *s, const tree *t, const variant *v) {
    jmp_buf *outer = e->a->escape, escape;
    if (setjmp(escape)) {
        e->a->escape = outer;
        return UF_ERR_MEMORY;
    }
    e->a->escape = &escape;
    int words = shapes[e->target->gpu][v->loop].words(v);
    for (int k = 0; k < variant_operands(v); k++)
        words += operand_words(&v->operand[k]);
    emit_functions(e, t, "kernel");
    shape_begin(s, e, t, v, words);
    shapes[e->target->gpu][v->loop].write(s);
    shape_end(s);
    e->a->escape = outer;
    return UF_OK;
}

uf_status ir_elementwise(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                         code_module *module) {
    emit e;
    emit_name(module, name);
    shape *s = arena_alloc(a, sizeof *s);
    if (!s)
        return fail_memory();
    emit_begin(&e, a, module, target, name);
    uf_status status = write_kernel(&e, s, t, v), finished = emit_finish(&e);
    return status ? status : finished;
}
