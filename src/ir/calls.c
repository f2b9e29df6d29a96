/* calls.c - the kernel of a generalized ufunc: the tree's functions with @kernel over core operands in memory, and around it
 * the loop over inner calls, one for each engine. */
#include "ir/calls.h"

void calls_core_words(calls *c) {
    for (int w = 0; w < c->layout->nwords; w++)
        text_printf(&c->arguments, ", i64 %s", shape_word(&c->s).text);
}

/* The value of a scalar input, or the address of a core operand, as @kernel takes it. */
static void argument(calls *c, int k, text *out, const char *comma) {
    emit *e = c->s.e;
    const variant_operand *o = &c->s.v->operand[k];
    if (calls_is_core(c, k)) {
        e->shared = o->staged;
        text_printf(out, "%s%s%s %s", comma, ir_memory_type((dtype)o->memory), ir_global_pointer(e), c->at[k].text);
        e->shared = false;
        return;
    }
    ssa value = c->s.value[k];
    if (!c->s.known[k])
        value = emit_convert(e, emit_load(e, (dtype)o->memory, c->at[k]), (dtype)o->memory, (dtype)o->value);
    text_printf(out, "%s%s %s", comma, ir_value_type((dtype)o->value), value.text);
}

static void store_results(calls *c, const char *type, ssa all) {
    emit *e = c->s.e;
    int field = 0;
    for (int k = c->s.nin; k < c->s.noperands; k++) {
        const variant_operand *o = &c->s.v->operand[k];
        if (calls_is_core(c, k))
            continue;
        ssa value = emit_value(e, "extractvalue %s %s, %d", type, all.text, field++);
        emit_store(e, (dtype)o->memory, emit_convert(e, value, (dtype)o->value, (dtype)o->memory), c->at[k]);
    }
}

void calls_run(calls *c, ssa stores) {
    emit *e = c->s.e;
    text arguments = {0}, type = {0};
    const char *comma = "";
    for (int k = 0; k < c->s.noperands; k++) {
        if (k >= c->s.nin && !calls_is_core(c, k))
            continue;
        argument(c, k, &arguments, comma);
        comma = ", ";
    }
    emit_result_type(&type, c->s.t->kernel);
    e->failed |= arguments.failed || type.failed || c->arguments.failed;
    if (!e->failed) {
        ssa all = emit_value(e, "call %s @kernel(%s%s)", type.data, arguments.data ? arguments.data : "",
                             c->arguments.data ? c->arguments.data : "");
        int end = stores.text[0] ? shape_if(&c->s, stores) : 0;
        store_results(c, type.data, all);
        if (end)
            shape_end_if(&c->s, end);
    }
    text_free(&arguments);
    text_free(&type);
}

/* Writes the functions. Running out of arena memory comes back here. */
static uf_status write_kernel(emit *e, calls *c, const tree *t, const variant *v) {
    jmp_buf *outer = e->a->escape, escape;
    if (setjmp(escape)) {
        e->a->escape = outer;
        return UF_ERR_MEMORY;
    }
    e->a->escape = &escape;
    c->layout = t->layout;
    for (int w = 0; w < c->layout->nwords; w++)
        text_printf(&c->parameters, ", i64 %%s%d", w);
    c->frame = (frame){.v = v, .layout = t->layout, .spread = e->target->gpu && v->team > 0};
    if (c->frame.spread)
        text_puts(&c->parameters, ", i64 %rank, i64 %size, i1 %aligned, i8 addrspace(1)* %slot, i32 %blocks");
    e->failed |= c->parameters.failed;
    c->frame.parameters = c->parameters.failed || !c->parameters.data ? "" : c->parameters.data;
    c->s = (shape){.v = v};
    int words = e->target->gpu ? gpu_calls_words(c) : cpu_calls_words(c);
    for (int k = 0; k < variant_operands(v); k++)
        words += operand_words(&v->operand[k]);
    e->frame = &c->frame;
    emit_functions(e, t, "kernel");
    shape_begin(&c->s, e, t, v, words);
    (e->target->gpu ? gpu_calls : cpu_calls)(c);
    shape_end(&c->s);
    e->a->escape = outer;
    return UF_OK;
}

uf_status ir_calls(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                   code_module *module) {
    emit e;
    emit_name(module, name);
    calls *c = arena_alloc(a, sizeof *c);
    if (!c)
        return fail_memory();
    emit_begin(&e, a, module, target, name);
    uf_status status = write_kernel(&e, c, t, v), finished = emit_finish(&e);
    text_free(&c->parameters);
    text_free(&c->arguments);
    return status ? status : finished;
}
