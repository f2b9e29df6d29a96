/* reduceat.c - uf_reduceat: reduces each segment of an axis to one result. Kernels take the bounds of segments as
 * int64, begins and ends. These are the starts, where kernels can read them as such; else each run makes them of the starts: it
 * converts those in host memory, which it checks, and enqueues a copy that converts those in device memory. */
#include "core/fold.h"

static const fold_form form = {.loop = LOOP_FOLD, .segmented = true};

/* ---- Starts ---- */

static uf_status starts_arguments(const plan_request *r, call_args *a, void **data) {
    TRY(fold_arguments(r, a, data));
    data[a->nargs] = r->starts && r->starts->data ? (char *)r->starts->data + r->starts->byte_offset : NULL;
    return UF_OK;
}

static uf_status starts_check(uf_plan *p, const plan_request *r) {
    const DLTensor *t = r->starts;
    fold_part *x = &p->fold;
    if (!t)
        return fail(UF_ERR_ARGUMENT, "starts is NULL");
    TRY(array_check(t, ND_STARTS, r->how & ARGS_LASTING));
    dtype type = dtype_of_dl(t->dtype);
    int device = (int)t->device.device_type;
    if (!dtype_is_integer(type))
        return nd_fail(UF_ERR_ARGUMENT, ND_STARTS, -1, "its dtype is %s; an integer is needed", dtypes[type].name);
    if (t->ndim != 1)
        return nd_fail(UF_ERR_SHAPE, ND_STARTS, -1, "its rank is %d, but must be 1", t->ndim);
    x->nsegments = t->shape[0];
    x->starts_step = t->strides && t->shape[0] != 1 ? t->strides[0] : 1;
    x->starts_on_device = device == kDLCUDA || (device == kDLCUDAManaged && p->engine == ENGINE_CUDA);
    if (x->starts_on_device && p->engine == ENGINE_CPU)
        return nd_fail(UF_ERR_DEVICE, ND_STARTS, -1, "is on CUDA device %d, but the arrays are in host memory",
                       t->device.device_id);
    if (x->starts_on_device && t->device.device_id != p->device)
        return nd_fail(UF_ERR_DEVICE, ND_STARTS, -1, "is on CUDA device %d, but the arrays are on device %d",
                       t->device.device_id, p->device);
    return UF_OK;
}

/* The copies of a run that make bounds: starts on a device, and behind them the extent, which ends the last segment. */
typedef struct transfers {
    int64_t one, extent;
    int64_t nsegments, step;
    DLTensor starts, bounds, end, last;
} transfers;

static void transfers_make(const uf_plan *p, dtype type, void *starts, char *bounds, transfers *out) {
    const DLDevice device = {kDLCUDA, p->device};
    *out = (transfers){.one = 1, .extent = p->fold.extent, .nsegments = p->fold.nsegments, .step = p->fold.starts_step};
    out->starts = (DLTensor){.data = starts,
                             .device = device,
                             .ndim = 1,
                             .dtype = dtypes[type].dl,
                             .shape = &out->nsegments,
                             .strides = &out->step};
    out->bounds =
        (DLTensor){.data = bounds, .device = device, .ndim = 1, .dtype = dtypes[DT_INT64].dl, .shape = &out->nsegments};
    out->end = (DLTensor){.data = &out->extent, .device = {kDLCPU, 0}, .dtype = dtypes[DT_INT64].dl};
    out->last = out->bounds;
    out->last.byte_offset = (uint64_t)p->fold.nsegments * sizeof(int64_t);
    out->last.shape = &out->one;
}

/* Compiles the copies that a run will make, so that the run compiles nothing. */
static uf_status transfers_compile(const uf_plan *p, dtype type) {
    transfers t;
    transfers_make(p, type, NULL, NULL, &t);
    TRY(copy_compile(&t.bounds, &t.starts));
    return copy_compile(&t.last, &t.end);
}

static uf_status lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    nd_array starts;
    TRY(starts_check(p, r));
    starts = (nd_array){.shape = &p->fold.nsegments, .ndim = 1};
    dtype type = dtype_of_dl(r->starts->dtype);
    plan_arguments_set(p, a);
    p->fold.starts = p->nargs;
    plan_argument_set(p, p->nargs++, type, &starts, ND_STARTS);
    TRY(fold_lay(p, r, a, &form, data));
    return p->lasts && !p->idle && p->fold.starts_on_device ? transfers_compile(p, type) : UF_OK;
}

/* ---- Runs ---- */

/* Starts as int64, of each integer type. as: the conversion, if it is not the implicit one. */
#define WIDENS(name, from, as)                                                   \
    static void name(int64_t *to, const char *starts, int64_t step, int64_t n) { \
        for (int64_t i = 0; i < n; i++) {                                        \
            from x;                                                              \
            memcpy(&x, starts + i * step * (int64_t)sizeof x, sizeof x);         \
            to[i] = as(x);                                                       \
        }                                                                        \
    }

/* INT64_MAX is out of range as well. */
static inline int64_t at_most_int64(uint64_t x) { return x > INT64_MAX ? INT64_MAX : (int64_t)x; }

WIDENS(widen_int8, int8_t, )
WIDENS(widen_int16, int16_t, )
WIDENS(widen_int32, int32_t, )
WIDENS(widen_int64, int64_t, )
WIDENS(widen_uint8, uint8_t, )
WIDENS(widen_uint16, uint16_t, )
WIDENS(widen_uint32, uint32_t, )
WIDENS(widen_uint64, uint64_t, at_most_int64)

static void (*const widen[DT_COUNT])(int64_t *to, const char *starts, int64_t step, int64_t n) = {
    [DT_INT8] = widen_int8,   [DT_INT16] = widen_int16,   [DT_INT32] = widen_int32,   [DT_INT64] = widen_int64,
    [DT_UINT8] = widen_uint8, [DT_UINT16] = widen_uint16, [DT_UINT32] = widen_uint32, [DT_UINT64] = widen_uint64,
};

/* All are looked at, without a branch for each: a start within the extent has no sign bit, and neither has its distance from the last. */
static bool bounds_are_within(const int64_t *bounds, int64_t n, int64_t extent) {
    uint64_t signs = 0;
    for (int64_t i = 0; i < n; i++)
        signs |= (uint64_t)bounds[i] | ((uint64_t)extent - 1 - (uint64_t)bounds[i]);
    return !n || (extent && !(signs >> 63));
}

static uf_status bounds_fail(const int64_t *bounds, int64_t extent) {
    int64_t i = 0;
    while (bounds[i] >= 0 && bounds[i] < extent)
        i++;
    bool beyond = bounds[i] == INT64_MAX;
    return nd_fail(UF_ERR_ARGUMENT, ND_STARTS, -1,
                   beyond ? "element %lld is beyond int64, but the axis has %lld elements"
                          : "element %lld is %lld, but must be from 0 to %lld",
                   (long long)i, (long long)(beyond ? extent : bounds[i]), (long long)extent - 1);
}

/* Does output k of a pass lie over the starts, of which there are so many bytes? */
static bool is_over(const plan_run *run, const plan_pass *s, int k, uintptr_t starts, uintptr_t bytes) {
    int64_t lowest, highest, size = dtypes[s->v.operand[k].memory].size;
    uintptr_t out = (uintptr_t)run->data[s->source[k]] + (uintptr_t)s->shift[k];
    fold_bounds(run->plan, s, k, &lowest, &highest);
    return out + (uintptr_t)(lowest * size) < starts + bytes && starts < out + (uintptr_t)((highest + 1) * size);
}

/* Are the starts what kernels take as bounds, where they are? Not if an output lies over them. */
static bool are_bounds(const plan_run *run) {
    const uf_plan *p = run->plan;
    const fold_part *x = &p->fold;
    const plan_pass *last = &p->pass[p->npasses - 1];
    const variant *v = &last->v;
    bool are = x->starts_on_device == (p->engine == ENGINE_CUDA) && p->argument[x->starts].type == DT_INT64 &&
               x->starts_step == 1;
    for (int k = v->nin; k < v->nin + v->nout && are && !p->idle; k++)
        are = !is_over(run, last, k, (uintptr_t)run->data[x->starts], (uintptr_t)x->nsegments * sizeof(int64_t));
    return are;
}

/* Takes the bounds from starts on the host. On a GPU the last one is the extent; on the CPU kernels know it. */
static uf_status bounds_read(plan_run *run) {
    const uf_plan *p = run->plan;
    const fold_part *x = &p->fold;
    const int64_t *bounds = are_bounds(run) ? run->data[x->starts] : NULL;
    run->bounds = bounds;
    if (x->starts_on_device)
        return UF_OK;
    if (!bounds) {
        int64_t *own = workspace_take(&run->space, (size_t)(x->nsegments + 1) * sizeof *own);
        if (!own)
            return fail_memory();
        widen[p->argument[x->starts].type](own, run->data[x->starts], x->starts_step, x->nsegments);
        own[x->nsegments] = x->extent;
        bounds = own;
        *(p->engine == ENGINE_CPU ? &run->bounds : &run->sent) = own;
    }
    return bounds_are_within(bounds, x->nsegments, x->extent) ? UF_OK : bounds_fail(bounds, x->extent);
}

/* Brings bounds that kernels cannot read where they are to scratch memory on a GPU: those on the host by a copy of bytes, starts on a
 * device by a copy that converts them, with the extent after them. */
static uf_status bounds_send(const plan_run *run) {
    const uf_plan *p = run->plan;
    const fold_part *x = &p->fold;
    if (run->bounds)
        return UF_OK;
    char *bounds = run->block + x->bounds_at;
    if (run->sent)
        return engines[p->engine]->copy(p->device, bounds, run->sent, (size_t)(x->nsegments + 1) * sizeof(int64_t),
                                        run->stream, false);
    transfers t;
    transfers_make(p, (dtype)p->argument[x->starts].type, run->data[x->starts], bounds, &t);
    TRY(uf_copy(&t.bounds, &t.starts, run->stream));
    return uf_copy(&t.last, &t.end, run->stream);
}

static const plan_verb reduceat_verb = {.options = "uf_options",
                                        .folds = true,
                                        .arity = fold_arguments_count,
                                        .arguments = starts_arguments,
                                        .bind = fold_bind,
                                        .lay = lay,
                                        .settle = fold_settle,
                                        .self_overlap = fold_self_overlap,
                                        .bounds = fold_bounds,
                                        .compare = fold_compare,
                                        .fits = fold_fits,
                                        .specialise = fold_respecialise,
                                        .check = bounds_read,
                                        .prepare = bounds_send};

/* ---- The verbs ---- */

static inline plan_request request_of(const char *name, unsigned how, const uf_func *func, int nargs,
                                      const DLTensor *args, const DLTensor *starts, const int *axis,
                                      const uf_options *options) {
    return (plan_request){.verb = &reduceat_verb,
                          .name = name,
                          .func = func,
                          .options = options,
                          .how = how,
                          .nargs = nargs,
                          .args = args,
                          .naxes = 1,
                          .axes = axis,
                          .starts = starts};
}

uf_status uf_reduceat(const uf_func *func, int nargs, const DLTensor *args, const DLTensor *starts, int axis,
                      const uf_options *options) {
    RANGE("uf_reduceat", func);
    uf_options own;
    TRY(axis_options_read(options, "uf_reduceat", UF_UNEVEN, &own, &options));
    const plan_request r = request_of("uf_reduceat", 0, func, nargs, args, starts, &axis, options);
    return plan_once(&r);
}

uf_status uf_reduceat_plan(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args, const DLTensor *starts,
                           int axis, const uf_options *options) {
    uf_options own;
    TRY(plan_out(out));
    TRY(axis_options_read(options, "uf_reduceat_plan", UF_UNEVEN, &own, &options));
    const plan_request r = request_of("uf_reduceat_plan", 0, func, nargs, args, starts, &axis, options);
    return plan_new(out, &r);
}

uf_status uf_reduceat_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                   const DLTensor *starts, int axis, const uf_options *options) {
    uf_options own;
    TRY(fold_bytes_check(bytes));
    TRY(axis_options_read(options, "uf_reduceat", UF_UNEVEN, &own, &options));
    const plan_request r = request_of("uf_reduceat", ARGS_NO_DATA, func, nargs, args, starts, &axis, options);
    return fold_scratch_size(&r, bytes);
}
