/* calls.c - the kernel of a generalized ufunc: the tree's functions with @kernel over core operands in memory, and around it
 * the loop over inner calls, one for each engine. */
#include "ir/gufunc/gufunc.h"
#include "ir/common/report.h"

void gufunc_core_words(calls *c) {
    if (c->s.v->reports)
        c->report = skeleton_word(&c->s);
    c->core = arena_alloc(c->s.e->a, (size_t)c->layout->nwords * sizeof *c->core);
    for (int w = 0; w < c->layout->nwords; w++) {
        c->core[w] = skeleton_word(&c->s);
        text_printf(&c->arguments, ", i64 %s", c->core[w].text);
    }
}

void calls_more_arguments(calls *c, text *out) {
    if (c->arguments.data)
        text_puts(out, c->arguments.data);
    if (c->s.v->reports)
        report_arguments(out, c->report, c->element);
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
    for (int k = c->s.nin; k < variant_mask(c->s.v); k++) {
        const variant_operand *o = &c->s.v->operand[k];
        if (calls_is_core(c, k))
            continue;
        ssa value = emit_value(e, "extractvalue %s %s, %d", type, all.text, field++);
        emit_store(e, (dtype)o->memory, emit_convert(e, value, (dtype)o->value, (dtype)o->memory), c->at[k]);
    }
}

static void run(calls *c, ssa stores) {
    emit *e = c->s.e;
    text arguments = {0}, more = {0}, type = {0};
    const char *comma = "";
    for (int k = 0; k < variant_mask(c->s.v); k++) {
        if (k >= c->s.nin && !calls_is_core(c, k))
            continue;
        argument(c, k, &arguments, comma);
        comma = ", ";
    }
    emit_result_type(e, &type, c->s.t->kernel);
    calls_more_arguments(c, &more);
    e->failed |= arguments.failed || type.failed || c->arguments.failed || more.failed;
    if (!e->failed) {
        ssa all = emit_invoke(e, type.data, "kernel", arguments.data, more.data);
        if (reports(e))
            stores = emit_value(e, "xor i1 %s, true", report_ended(e, c->s.t->kernel, type.data, all).text);
        int end = ssa_is_set(stores) ? skeleton_if(&c->s, stores) : 0;
        store_results(c, type.data, all);
        if (end)
            skeleton_end_if(&c->s, end);
    }
    text_free(&arguments);
    text_free(&more);
    text_free(&type);
}

void calls_run(calls *c, ssa stores) {
    const ssa *mask = &c->at[variant_mask(c->s.v)];
    int end = c->s.v->masked ? skeleton_if(&c->s, emit_load(c->s.e, DT_BOOL, *mask)) : 0;
    run(c, stores);
    if (end)
        skeleton_end_if(&c->s, end);
}

/* What write_kernel is told; the texts outlive an escape for want of memory. */
typedef struct gufunc_text {
    calls c;
    const tree *t;
    const variant *v;
} gufunc_text;

static void write_kernel(emit *e, void *user) {
    gufunc_text *q = user;
    calls *c = &q->c;
    const variant *v = q->v;
    text_free(&c->parameters);
    text_free(&c->arguments);
    *c = (calls){.layout = q->t->layout ? q->t->layout : &layout_scalars};
    for (int w = 0; w < c->layout->nwords; w++)
        text_printf(&c->parameters, ", i64 %%s%d", w);
    c->frame = (frame){.v = v, .layout = c->layout, .mapped = e->target->gpu && v->coop > 0};
    if (c->frame.mapped)
        text_puts(&c->parameters, ", i64 %rank, i64 %size, i1 %aligned, i8 addrspace(1)* %slot, i32 %blocks");
    if (v->reports)
        report_parameters(&c->parameters);
    e->failed |= c->parameters.failed;
    c->frame.parameters = c->parameters.failed || !c->parameters.data ? "" : c->parameters.data;
    c->s = (skeleton){.v = v};
    e->frame = &c->frame;
    e->reports = v->reports;
    emit_functions(e, q->t, "kernel");
    skeleton_begin(&c->s, e, q->t, v, e->target->gpu ? gpu_gufunc_words(c) : cpu_gufunc_words(c));
    (e->target->gpu ? gpu_gufunc : cpu_gufunc)(c);
    skeleton_end(&c->s);
}

uf_status ir_gufunc(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module) {
    gufunc_text *q = arena_alloc(a, sizeof *q);
    if (!q)
        return fail_memory();
    q->t = t;
    q->v = v;
    uf_status status = skeleton_module(a, name, v, target, module, write_kernel, q);
    text_free(&q->c.parameters);
    text_free(&q->c.arguments);
    return status;
}
