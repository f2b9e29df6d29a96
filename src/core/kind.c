/* kind.c - elementwise functions and generalized ufuncs, a row each: how the arrays of a call become a loop, and what an
 * operand reaches. Everything else in core is one for both. */
#include "core/core.h"

/* ---- Both ---- */

static unsigned loop_flags(const uf_plan *plan) { return plan->reports ? ND_KEEP_ORDER : 0; }

/* The elements of the loop are inner calls. */
static void call_inside(uf_plan *plan) {
    plan->loop.loop = LOOP_GUFUNC;
    for (int k = 0; k < plan->narrays; k++)
        if (plan->loop.kind[k] != OPERAND_NUMBER)
            plan->loop.kind[k] = OPERAND_STRIDED;
}

/* Every output has the loop shape. */
static void points_note(uf_plan *plan, const nd_array *output) {
    plan->npoints = output->ndim;
    for (int d = 0; d < output->ndim; d++)
        plan->points[d] = output->shape[d];
}

/* ---- Elementwise: the arrays are the loop ---- */

static size_t elementwise_space(const uf_func *f, int ndim, int narrays) {
    (void)f;
    return nd_space(ndim, narrays);
}

static uf_status elementwise_lay(uf_plan *plan, const call_args *a, const uf_options *options, void *space) {
    static const int64_t no_words[1];
    (void)options;
    plan->core = NULL;
    TRY(nd_plan(a->array, a->narrays, a->nin, loop_flags(plan), space, &plan->loop));
    if (!plan->reports)
        return UF_OK;
    plan->core = no_words;
    points_note(plan, &a->array[a->nin]);
    call_inside(plan);
    return UF_OK;
}

static uf_status elementwise_infer(const uf_func *f, const call_args *a, const uf_options *options, const dtype *types,
                                   DLTensor *args) {
    (void)options;
    int ndim;
    int64_t shape[UF_MAX_NDIM];
    TRY(nd_broadcast(a->array, a->narrays, &ndim, shape));
    for (int k = f->nin; k < f->nin + f->nout; k++)
        TRY(output_check(k, types[k], ndim, shape));
    for (int k = f->nin; k < f->nin + f->nout; k++) {
        args[k].ndim = ndim;
        memcpy(args[k].shape, shape, (size_t)ndim * sizeof *shape);
    }
    return UF_OK;
}

static bool elementwise_self_overlap(const uf_plan *plan, int k) { return nd_self_overlap(&plan->loop, k); }

static void elementwise_bounds(const uf_plan *plan, int k, int64_t *lowest, int64_t *highest) {
    nd_bounds(&plan->loop, k, lowest, highest);
}

static nd_overlap elementwise_compare(const uf_plan *plan, int a, const char *data_a, int b, const char *data_b) {
    const variant_operand *o = plan->v.operand;
    return nd_compare(&plan->loop, a, data_a, dtypes[o[a].memory].size, b, data_b, dtypes[o[b].memory].size);
}

static bool elementwise_has_elements(const uf_plan *plan, int k) {
    (void)k;
    return plan->loop.count != 0;
}

const func_kind elementwise_kind = {.space = elementwise_space,
                                    .lay = elementwise_lay,
                                    .infer = elementwise_infer,
                                    .self_overlap = elementwise_self_overlap,
                                    .bounds = elementwise_bounds,
                                    .compare = elementwise_compare,
                                    .has_elements = elementwise_has_elements,
                                    .execute = plan_execute};

/* ---- Generalized ufuncs: the arrays without their core dimensions are ---- */

/* The loop's part comes first. */
static size_t loop_space(int ndim, int narrays) { return (nd_space(ndim, narrays) + 7) / 8 * 8; }

static size_t gufunc_space(const uf_func *f, int ndim, int narrays) {
    return loop_space(ndim, narrays) + nd_core_space(f->layout, ndim, narrays);
}

static uf_status gufunc_lay(uf_plan *plan, const call_args *a, const uf_options *options, void *space) {
    nd_core core;
    char *core_space = (char *)space + loop_space(args_rank(a), a->narrays);
    TRY(nd_core_resolve(plan->func->layout, a->array, a->narrays, options->axes, core_space, &core));
    TRY(nd_plan(core.loops, a->narrays, a->nin, loop_flags(plan), space, &plan->loop));
    plan->core = core.words;
    if (plan->reports)
        points_note(plan, &core.loops[a->nin]);
    call_inside(plan);
    return UF_OK;
}

/* The outputs' shapes over a loop shape: without args they are checked, else they go there. */
static uf_status output_shapes(const uf_func *f, const nd_core *core, const uf_axes *axes, int loop_ndim,
                               const int64_t *loop_shape, const dtype *types, DLTensor *args) {
    int64_t shape[UF_MAX_NDIM];
    int ndim;
    for (int k = f->nin; k < f->nin + f->nout; k++) {
        TRY(nd_core_shape(f->layout, core, axes, k, loop_ndim, loop_shape, &ndim, shape));
        if (!args) {
            TRY(output_check(k, types[k], ndim, shape));
            continue;
        }
        args[k].ndim = ndim;
        memcpy(args[k].shape, shape, (size_t)ndim * sizeof *shape);
    }
    return UF_OK;
}

static uf_status gufunc_infer(const uf_func *f, const call_args *a, const uf_options *options, const dtype *types,
                              DLTensor *args) {
    int ndim;
    int64_t shape[UF_MAX_NDIM];
    nd_core core;
    void *space = mem_alloc(nd_core_space(f->layout, args_rank(a), a->narrays));
    if (!space)
        return fail_memory();
    uf_status s = nd_core_resolve(f->layout, a->array, a->narrays, options->axes, space, &core);
    if (!s)
        s = nd_broadcast(core.loops, a->narrays, &ndim, shape);
    if (!s)
        s = output_shapes(f, &core, options->axes, ndim, shape, types, NULL);
    if (!s)
        s = output_shapes(f, &core, options->axes, ndim, shape, types, args);
    mem_free(space);
    return s;
}

static bool gufunc_self_overlap(const uf_plan *plan, int k) {
    return nd_core_self_overlap(&plan->loop, plan->func->layout, plan->core, k);
}

static void gufunc_bounds(const uf_plan *plan, int k, int64_t *lowest, int64_t *highest) {
    nd_core_bounds(&plan->loop, plan->func->layout, plan->core, k, lowest, highest);
}

static nd_overlap gufunc_compare(const uf_plan *plan, int a, const char *data_a, int b, const char *data_b) {
    const variant_operand *o = plan->v.operand;
    return nd_core_compare(&plan->loop, plan->func->layout, plan->core, a, data_a, dtypes[o[a].memory].size, b, data_b,
                           dtypes[o[b].memory].size);
}

static bool gufunc_has_elements(const uf_plan *plan, int k) {
    const layout_operand *o = &plan->func->layout->operands[k];
    bool some = plan->loop.count != 0;
    for (int d = 0; d < o->rank; d++)
        some = some && plan->core[o->dim[d]];
    return some;
}

const func_kind gufunc_kind = {.space = gufunc_space,
                               .lay = gufunc_lay,
                               .infer = gufunc_infer,
                               .self_overlap = gufunc_self_overlap,
                               .bounds = gufunc_bounds,
                               .compare = gufunc_compare,
                               .has_elements = gufunc_has_elements,
                               .execute = plan_execute};
