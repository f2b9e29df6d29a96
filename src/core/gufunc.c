/* gufunc.c - the row of generalized ufuncs: the loop goes over the loop dimensions of the arrays, and its elements
 * are inner calls, which get the core dimensions. Everything else is as for elementwise functions (call.c). */
#include "core/core.h"

/* ---- Alignment, which follows from the addresses of a run ---- */

/* Code that does not know how the addresses are aligned serves all. */
static bool gufunc_fits(const uf_plan *p, void *const *data) {
    const plan_pass *s = &p->pass[0];
    uint8_t misalignment[VARIANT_OPERANDS];
    if (p->windows)
        return points_fit(p, data);
    if (!s->v.gufunc.aligned || p->lapack)
        return true;
    plan_misalignment(&p->pass[0], data, misalignment);
    return !memcmp(misalignment, p->misalignment, (size_t)s->loops.kept.narrays);
}

static uf_status gufunc_specialise(const uf_plan *p, void *const *data, variant *v) {
    uint8_t misalignment[VARIANT_OPERANDS];
    if (p->windows)
        return points_specialise(p, data, v);
    memcpy(v, &p->pass[0].v, variant_size(&p->pass[0].v));
    plan_misalignment(&p->pass[0], data, misalignment);
    call_specialise(p, misalignment, v);
    return UF_OK;
}

/* ---- Loops ---- */

/* Calls whose operands are in registers wait for memory alone: they go by squares where an operand lies across. It is the layout that
 * decides, and the results are the same. */
static uf_status by_squares(uf_plan *p, const nd_array *loops) {
    nd_loop *loop = &p->pass[0].loops.kept;
    nd_square square;
    if (!engines[p->engine]->squares || !p->pass[0].v.gufunc.unrolled || !nd_square_find(loops, loop, &square))
        return UF_OK;
    void *space = plan_space(p, nd_space(loop->ndim + ND_SQUARE_MORE, loop->narrays));
    if (!space)
        return fail_memory();
    nd_square_cut(&square, space, loop);
    call_specialise(p, p->misalignment, &p->pass[0].v);
    return UF_OK;
}

static uf_status gufunc_lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    const core_layout *l = p->func->layout;
    plan_pass *s = &p->pass[0];
    nd_core core;
    int rank = args_rank(a);
    void *space = plan_space(p, nd_space(rank, a->narrays)), *more = plan_space(p, nd_core_space(l, rank, a->narrays));
    if (!space || !more)
        return fail_memory();
    TRY(nd_core_resolve(l, a->array, a->narrays, r->options->axes, more, &core));
    uint8_t reports = func_reports_sized(p->func, p->binding, core.words, r->options->cancel);
    TRY(nd_plan(core.loops, a->narrays, a->nin, reports ? ND_KEEP_ORDER : 0, space, &s->loops.kept));
    p->layout = l;
    p->core = core.words;
    if (reports)
        call_points(p, &core.loops[a->nin]);
    call_inside(s);
    TRY(call_operands(p, a, reports));
    plan_misalignment(s, data, p->misalignment);
    if (!lapack_generated(p)) {
        TRY(sizes_unrolled(p->binding, p->layout, p->core, s->loops.kept.count, engines[p->engine]->few_lines,
                           &p->unrolled));
        call_specialise(p, p->misalignment, &p->pass[0].v);
    }
    TRY(by_squares(p, core.loops));
    return points_choose(p, data);
}

/* ---- Shapes of outputs ---- */

/* Computes the shapes of outputs for a loop shape: checks them if args is NULL, else writes them there. */
static uf_status output_shapes(const plan_request *r, const nd_core *core, int loop_ndim, const int64_t *loop_shape,
                               const dtype *types, DLTensor *args) {
    const uf_func *f = r->func;
    int64_t shape[UF_MAX_NDIM];
    int ndim;
    for (int k = f->nin; k < f->nin + f->nout; k++) {
        TRY(nd_core_shape(f->layout, core, r->options->axes, k, loop_ndim, loop_shape, &ndim, shape));
        if (!args) {
            TRY(output_check(k, types[k], ndim, shape));
            continue;
        }
        args[k].ndim = ndim;
        memcpy(args[k].shape, shape, (size_t)ndim * sizeof *shape);
    }
    return UF_OK;
}

static uf_status gufunc_infer(const plan_request *r, const call_args *a, const dtype *types, DLTensor *args) {
    const core_layout *l = r->func->layout;
    int ndim;
    int64_t shape[UF_MAX_NDIM];
    nd_core core;
    void *space = mem_alloc(nd_core_space(l, args_rank(a), a->narrays));
    if (!space)
        return fail_memory();
    uf_status s = nd_core_resolve(l, a->array, a->narrays, r->options->axes, space, &core);
    if (!s)
        s = nd_broadcast(core.loops, a->narrays, &ndim, shape);
    if (!s)
        s = output_shapes(r, &core, ndim, shape, types, NULL);
    if (!s)
        s = output_shapes(r, &core, ndim, shape, types, args);
    mem_free(space);
    return s;
}

/* ---- Overlap ---- */

static bool gufunc_self_overlap(const uf_plan *p, const plan_pass *s, int k) {
    return nd_core_self_overlap(&s->loops.kept, p->layout, p->core, k);
}

static void gufunc_bounds(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest) {
    nd_core_bounds(&s->loops.kept, p->layout, p->core, k, lowest, highest);
}

static nd_overlap gufunc_compare(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b,
                                 const char *data_b) {
    const variant_operand *o = s->v.operand;
    return nd_core_compare(&s->loops.kept, p->layout, p->core, a, data_a, dtypes[o[a].memory].size, b, data_b,
                           dtypes[o[b].memory].size);
}

/* ---- What uf_inspect shows ---- */

enum {
    CALLS = 1 << 16, /* inner calls to begin with */
    CORE_SIZE = 64   /* extent of a core dimension to begin with */
};

typedef int64_t core_shape[1 + LAYOUT_MAX_RANK];

/* Chooses sizes for the dimensions of a layout. A computed one that has no valid size becomes 0; the call's own
 * check refuses it if that matters. */
static void sizes_choose(const core_layout *l, int64_t size, int64_t *sizes) {
    for (int d = 0; d < l->ndims; d++)
        sizes[d] = l->dims[d].frozen ? l->dims[d].frozen : size;
    for (int d = 0; d < l->ndims; d++)
        if (l->dims[d].steps && !layout_compute(&l->dims[d], sizes, &sizes[d]))
            sizes[d] = 0;
}

/* The shape of an operand: one loop dimension, then its core dimensions. False if it has 2^48 elements or more. */
static bool shape_choose(const layout_operand *o, const int64_t *sizes, int64_t calls, int64_t *shape) {
    int64_t count = calls;
    bool overflow = false;
    shape[0] = calls;
    for (int d = 0; d < o->rank; d++) {
        shape[1 + d] = sizes[o->dim[d]];
        overflow |= __builtin_mul_overflow(count, shape[1 + d] > 1 ? shape[1 + d] : 1, &count);
    }
    return !overflow && count >> 48 == 0;
}

/* Chooses the shapes of all operands: core sizes shrink until the arrays of some thousand inner calls could exist. */
static uf_status shapes_choose(const uf_func *f, core_shape *shapes) {
    int64_t sizes[LAYOUT_MAX_DIMS];
    int n = f->nin + f->nout;
    for (int64_t size = CORE_SIZE, calls = CALLS; calls; size = size > 1 ? size / 2 : 1, calls /= 2) {
        int k = 0;
        sizes_choose(f->layout, size, sizes);
        while (k < n && shape_choose(&f->layout->operands[k], sizes, calls, shapes[k]))
            k++;
        if (k == n)
            return UF_OK;
    }
    return fail(UF_ERR_SHAPE, "%s: there is no array with the frozen sizes of %s", f->name, f->layout_text);
}

static uf_status gufunc_arrays(uf_plan *p, call_args *a) {
    core_shape *shapes = plan_space(p, (size_t)a->narrays * sizeof *shapes);
    if (!shapes)
        return fail_memory();
    TRY(shapes_choose(p->func, shapes));
    for (int k = 0; k < a->narrays; k++) {
        a->array[k].shape = shapes[k];
        a->array[k].ndim = 1 + p->func->layout->operands[k].rank;
    }
    return UF_OK;
}

const plan_verb gufunc_verb = {.options = "uf_options",
                               .arity = call_arity,
                               .arguments = call_arguments,
                               .bind = call_bind,
                               .lay = gufunc_lay,
                               .settle = lapack_settle,
                               .imagine = call_imagine,
                               .imagine_arrays = gufunc_arrays,
                               .infer = gufunc_infer,
                               .self_overlap = gufunc_self_overlap,
                               .bounds = gufunc_bounds,
                               .compare = gufunc_compare,
                               .fits = gufunc_fits,
                               .specialise = gufunc_specialise};
