/* reduce.c - uf_reduce: reduces all elements along some axes to one result. */
#include "core/fold.h"

/* A reduction of no elements needs an identity or initial values, and does so even if there is no result. So does
 * one with a mask, which may leave no elements. */
static uf_status begins(const uf_plan *p, const plan_request *r) {
    if (p->fold.fold->identity || r->initial)
        return UF_OK;
    if (p->pass[0].loops.reduced.count == 0)
        return fail(UF_ERR_ARGUMENT, "%s: no elements to reduce, and %s has no identity; initial values are needed",
                    r->name, p->func->name);
    if (r->options->where)
        return fail(UF_ERR_ARGUMENT,
                    "%s: a mask (where) may leave no elements, and %s has no identity; initial values are needed",
                    r->name, p->func->name);
    return UF_OK;
}

static const fold_form form = {.loop = LOOP_FOLD, .begins = begins};

static uf_status lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    plan_arguments_set(p, a);
    return fold_lay(p, r, a, &form, data);
}

/* ---- What uf_inspect shows: one-dimensional inputs, reduced to numbers ---- */

static uf_status imagine(uf_plan *p, plan_request *r, const char *types, call_args *a) {
    TRY(inputs_imagine(p->func, types, a));
    return fold_bind(r, a, &p->binding);
}

static uf_status imagine_arrays(uf_plan *p, call_args *a) {
    static const int64_t shape[] = {1 << 28};
    const fold *x = p->binding->fold;
    a->nargs = a->narrays = x->nin + x->nout;
    for (int k = 0; k < a->nargs; k++) {
        dtype type = p->binding->types[k];
        a->key.type[k] = (uint8_t)type;
        a->array[k] = (nd_array){.shape = shape, .ndim = 1, .size = dtypes[type].size};
        if (k >= x->nin)
            a->array[k] = (nd_array){.size = dtypes[type].size, .output = true, .role = ND_RESULTS};
    }
    return UF_OK;
}

const plan_verb reduce_verb = {.options = "uf_reduce_options",
                               .folds = true,
                               .arity = fold_arguments_count,
                               .arguments = fold_arguments,
                               .bind = fold_bind,
                               .lay = lay,
                               .settle = fold_settle,
                               .imagine = imagine,
                               .imagine_arrays = imagine_arrays,
                               .self_overlap = fold_self_overlap,
                               .bounds = fold_bounds,
                               .compare = fold_compare,
                               .fits = fold_fits,
                               .specialise = fold_respecialise,
                               .check_idle = fold_check_initial};

/* ---- The verbs ---- */

/* Makes the request of a call or plan; *own gets its options in the form that all verbs have. Errors: those of
 * reduce_options_read. */
static inline uf_status request_read(const char *name, unsigned how, const uf_func *func, int nargs,
                                     const DLTensor *args, const uf_reduce_options *options, uf_options *own,
                                     plan_request *out) {
    uf_reduce_options scratch;
    TRY(reduce_options_read(options, &scratch, &options));
    *own = (uf_options){.size = sizeof *own,
                        .stream = options->stream,
                        .casting = options->casting,
                        .signature = options->signature,
                        .where = options->where,
                        .threads = options->threads,
                        .flags = options->flags,
                        .scratch = options->scratch,
                        .scratch_size = options->scratch_size,
                        .cancel = options->cancel,
                        .progress = options->progress};
    *out = (plan_request){.verb = &reduce_verb,
                          .name = name,
                          .func = func,
                          .options = own,
                          .how = how,
                          .nargs = nargs,
                          .args = args,
                          .naxes = options->naxes,
                          .axes = options->axes,
                          .keepdims = options->keepdims,
                          .initial = options->initial};
    return UF_OK;
}

uf_status uf_reduce(const uf_func *func, int nargs, const DLTensor *args, const uf_reduce_options *options) {
    RANGE("uf_reduce", func);
    uf_options own;
    plan_request r;
    TRY(request_read("uf_reduce", 0, func, nargs, args, options, &own, &r));
    return plan_once(&r);
}

uf_status uf_reduce_plan(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args,
                         const uf_reduce_options *options) {
    uf_options own;
    plan_request r;
    TRY(plan_out(out));
    TRY(request_read("uf_reduce_plan", 0, func, nargs, args, options, &own, &r));
    return plan_new(out, &r);
}

uf_status uf_reduce_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                 const uf_reduce_options *options) {
    uf_options own;
    plan_request r;
    TRY(fold_bytes_check(bytes));
    TRY(request_read("uf_reduce", ARGS_NO_DATA, func, nargs, args, options, &own, &r));
    return fold_scratch_size(&r, bytes);
}

uf_status uf_reduce_infer(const uf_func *func, int nargs, DLTensor *args, const uf_reduce_options *options) {
    uf_options own;
    plan_request r;
    TRY(request_read("uf_reduce", ARGS_NO_OUTPUTS | ARGS_NO_DATA, func, nargs, args, options, &own, &r));
    return fold_infer(&r, &form);
}
