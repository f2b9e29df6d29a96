/* gufunc.c - the kernel of a generalized ufunc: the tree's functions, with @kernel over core operands in memory, and around it the
 * loop over inner calls, which each engine has its own of. */
#include "ir/gufunc/gufunc.h"
#include "ir/common/report.h"
#include "ir/construct/held.h"
#include "ir/gufunc/call_strips.h"

/* What the kernel is told of core parameter i: of a column in shared memory another stride than of that in the array. */
static ssa kernel_parameter(const gufunc_writer *w, int i) {
    const variant *v = w->s.v;
    for (int k = 0; v->gufunc.across && k < v->nin; k++)
        if (v->operand[k].staged && w->layout->operands[k].strides == i)
            return ssa_constant(1 << v->gufunc.across);
    return w->core[i];
}

void gufunc_core_parameters(gufunc_writer *w) {
    if (w->s.v->reports)
        w->report = skeleton_parameter(&w->s, PARAMETER_REPORT);
    w->core = arena_alloc(w->s.e->a, (size_t)w->told->nparameters * sizeof *w->core);
    for (int i = 0; i < w->told->nparameters; i++)
        w->core[i] = skeleton_parameter(&w->s, PARAMETER_CORE);
}

void gufunc_more_arguments(gufunc_writer *w, text *out) {
    for (int i = 0; w->core && i < w->layout->nparameters; i++)
        text_printf(out, ", i64 %s", kernel_parameter(w, i).text);
    if (w->arguments.data)
        text_puts(out, w->arguments.data);
    if (ssa_is_set(w->active))
        text_printf(out, ", i1 %s", w->active.text);
    if (ssa_is_set(w->piece.to))
        text_printf(out, ", i64 %s, i64 %s, i64 %s", w->piece.from.text, w->piece.to.text, w->piece.head.text);
    if (variant_holds_part(w->s.v))
        text_printf(out, ", i64 %s", w->piece.before.text);
    for (int k = 0; k < w->s.nin && variant_holds_part(w->s.v); k++)
        if (w->s.v->operand[k].staged)
            text_printf(out, ", %s%s %s", ir_memory_type((dtype)w->s.v->operand[k].memory), ir_global_pointer(w->s.e),
                        w->memory[k].text);
    if (w->s.v->reports)
        report_arguments(out, w->report, w->element);
}

/* The value of a scalar input, or the address of a core operand, as @kernel takes it. */
static void argument(gufunc_writer *w, int k, text *out, const char *comma) {
    emit *e = w->s.e;
    const variant_operand *o = &w->s.v->operand[k];
    if (gufunc_is_core(w, k)) {
        e->shared = o->staged && e->target->gpu;
        text_printf(out, "%s%s%s %s", comma, ir_memory_type((dtype)o->memory), ir_global_pointer(e), w->at[k].text);
        e->shared = false;
        return;
    }
    ssa value = w->s.value[k];
    if (!w->s.uniform[k])
        value = emit_convert(e, emit_load(e, (dtype)o->memory, w->at[k]), (dtype)o->memory, (dtype)o->value);
    text_printf(out, "%s%s %s", comma, ir_value_type((dtype)o->value), value.text);
}

static void store_results(gufunc_writer *w, const char *type, ssa all) {
    emit *e = w->s.e;
    int field = 0;
    for (int k = w->s.nin; k < variant_mask(w->s.v); k++) {
        const variant_operand *o = &w->s.v->operand[k];
        if (gufunc_is_core(w, k))
            continue;
        ssa value = emit_value(e, "extractvalue %s %s, %d", type, all.text, field++);
        emit_store(e, (dtype)o->memory, emit_convert(e, value, (dtype)o->value, (dtype)o->memory), w->at[k]);
    }
}

static void run(gufunc_writer *w, ssa stores) {
    emit *e = w->s.e;
    text arguments = {0}, more = {0}, type = {0};
    const char *comma = "";
    for (int k = 0; k < variant_mask(w->s.v); k++) {
        if (k >= w->s.nin && !gufunc_is_core(w, k))
            continue;
        argument(w, k, &arguments, comma);
        comma = ", ";
    }
    emit_result_type(e, &type, w->s.t->kernel);
    gufunc_more_arguments(w, &more);
    e->failed |= arguments.failed || type.failed || w->arguments.failed || more.failed;
    if (!e->failed) {
        ssa all = emit_invoke(e, type.data, "kernel", arguments.data, more.data);
        if (reports(e))
            stores = emit_value(e, "xor i1 %s, true", report_ended(e, w->s.t->kernel, type.data, all).text);
        int end = ssa_is_set(stores) ? skeleton_if(&w->s, stores) : 0;
        store_results(w, type.data, all);
        if (end)
            skeleton_end_if(&w->s, end);
    }
    text_free(&arguments);
    text_free(&more);
    text_free(&type);
}

void gufunc_call(gufunc_writer *w, ssa stores) {
    const ssa *mask = &w->at[variant_mask(w->s.v)];
    int end = w->s.v->masked && !ssa_is_set(w->active) ? skeleton_if(&w->s, emit_load(w->s.e, DT_BOOL, *mask)) : 0;
    run(w, stores);
    if (end)
        skeleton_end_if(&w->s, end);
}

/* What write_kernel is told; the texts outlive an escape for want of memory. */
typedef struct gufunc_request {
    gufunc_writer w;
    const tree *t;
    const variant *v;
    const core_layout *told;
} gufunc_request;

/* The frame of the kernel, and the functions of the tree, unless a form of LAPACK stands for it. */
static void write_functions(emit *e, void *user) {
    gufunc_request *q = user;
    gufunc_writer *w = &q->w;
    const variant *v = q->v;
    text_free(&w->parameters);
    text_free(&w->arguments);
    *w = (gufunc_writer){.layout = q->t->layout ? q->t->layout : &layout_scalars, .told = q->told};
    for (int i = 0; i < w->layout->nparameters; i++)
        text_printf(&w->parameters, ", i64 %%s%d", i);
    w->frame = (frame){.v = v, .layout = w->layout, .mapped = e->target->gpu && v->gufunc.coop > 0};
    w->frame.strip_lanes = v->gufunc.strips ? call_strips_lanes(v, e->target) : 0;
    if (w->frame.mapped)
        text_puts(&w->parameters, ", i64 %rank, i64 %size, i1 %aligned, i8 addrspace(1)* %slot, i32 %blocks");
    if (variant_grid_across(v))
        text_puts(&w->parameters, ", i32 %block, i32 %side, i32 %row, i32 %ranks");
    for (int d = 0; d < GUFUNC_SIZES; d++)
        if (v->gufunc.part[d])
            text_printf(&w->parameters, ", i64 %%t%d", d);
    if (v->gufunc.across)
        text_puts(&w->parameters, ", i1 %active");
    if (v->gufunc.pieces)
        text_puts(&w->parameters, ", i64 %from, i64 %to, i64 %head");
    if (variant_holds_part(v))
        text_puts(&w->parameters, ", i64 %before");
    for (int k = 0; k < v->nin && variant_holds_part(v); k++)
        if (v->operand[k].staged)
            text_printf(&w->parameters, ", %s%s %%g%d", ir_memory_type((dtype)v->operand[k].memory),
                        ir_global_pointer(e), k);
    if (v->gufunc.tile)
        text_puts(&w->parameters, ", i64 %call");
    if (v->reports)
        report_parameters(&w->parameters);
    e->failed |= w->parameters.failed;
    w->frame.parameters = w->parameters.failed || !w->parameters.data ? "" : w->parameters.data;
    if (v->gufunc.unrolled) {
        w->frame.hooks = core_has_parts(v) ? &registers_part_hooks : &registers_hooks;
        w->frame.user = w;
    }
    if (v->gufunc.held)
        w->frame.hooks = &held_hooks;
    if (!e->target->gpu && !v->gufunc.unrolled)
        w->frame.hooks = &keeping_hooks;
    w->s = (skeleton){.v = v};
    e->frame = &w->frame;
    e->reports = v->reports;
    if (!v->gufunc.form)
        emit_functions(e, q->t, "kernel");
}

static void write_kernel(emit *e, void *user) {
    gufunc_request *q = user;
    gufunc_writer *w = &q->w;
    write_functions(e, user);
    skeleton_begin(&w->s, e, q->t, q->v, w->told);
    (e->target->gpu ? gpu_gufunc : cpu_gufunc)(w);
    skeleton_end(&w->s);
}

/* ---- Without loops ---- */

/* The variant whose kernel is measured: it has the dtypes of the signature in memory, and no addresses to compute. */
static variant unrolled_variant(const tree *t, const int64_t *sizes) {
    const function *f = t->kernel;
    variant v = {.loop = LOOP_GUFUNC, .ndim = 1, .nin = (uint8_t)f->nparams, .nout = (uint8_t)f->nresults};
    v.gufunc.unrolled = 1;
    for (int d = 0; d < t->layout->ndims; d++)
        v.gufunc.size[d] = (uint8_t)sizes[d];
    for (int k = 0; k < v.nin + v.nout; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)f->locals[k].type,
                                         .value = (uint8_t)f->locals[k].type,
                                         .kind = OPERAND_STRIDED,
                                         .staged = 1};
    return v;
}

int ir_unrolled(arena *a, const tree *t, const int64_t *sizes, int most) {
    static const code_target target = {.gpu = true, .arch = 90}; /* the same for all, so that so is the choice */
    variant v = unrolled_variant(t, sizes);
    gufunc_request *q = arena_alloc(a, sizeof *q);
    if (!q)
        return -1;
    q->t = t;
    q->told = t->layout;
    q->v = &v;
    int lines = skeleton_measure(a, &target, most, write_functions, q);
    text_free(&q->w.parameters);
    text_free(&q->w.arguments);
    return lines;
}

uf_status ir_gufunc(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module) {
    gufunc_request *q = arena_alloc(a, sizeof *q);
    if (!q)
        return fail_memory();
    q->t = v->gufunc.strips ? call_strips_lift(a, t, v) : t;
    q->v = v;
    q->told = t->layout ? t->layout : &layout_scalars;
    if (!q->t)
        return fail_memory();
    uf_status status = skeleton_module(a, name, v, target, module, write_kernel, q);
    text_free(&q->w.parameters);
    text_free(&q->w.arguments);
    return status;
}
