/* accumulate.c - uf_accumulate: scans along an axis. */
#include "core/fold.h"

static const fold_form form = {.flags = ND_SCAN, .loop = LOOP_SCAN};

static uf_status lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    plan_arguments_set(p, a);
    return fold_lay(p, r, a, &form, data);
}

static const plan_verb accumulate_verb = {.options = "uf_options",
                                          .folds = true,
                                          .arity = fold_arguments_count,
                                          .arguments = fold_arguments,
                                          .bind = fold_bind,
                                          .lay = lay,
                                          .settle = fold_settle,
                                          .self_overlap = fold_self_overlap,
                                          .bounds = fold_bounds,
                                          .compare = fold_compare};

static inline plan_request request_of(const char *name, unsigned how, const uf_func *func, int nargs,
                                      const DLTensor *args, const int *axis, const uf_options *options) {
    return (plan_request){.verb = &accumulate_verb,
                          .name = name,
                          .func = func,
                          .options = options,
                          .how = how,
                          .nargs = nargs,
                          .args = args,
                          .naxes = 1,
                          .axes = axis};
}

uf_status uf_accumulate(const uf_func *func, int nargs, const DLTensor *args, int axis, const uf_options *options) {
    RANGE("uf_accumulate", func);
    uf_options own;
    TRY(axis_options_read(options, "uf_accumulate", 0, &own, &options));
    const plan_request r = request_of("uf_accumulate", 0, func, nargs, args, &axis, options);
    return plan_once(&r);
}

uf_status uf_accumulate_plan(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args, int axis,
                             const uf_options *options) {
    uf_options own;
    TRY(plan_out(out));
    TRY(axis_options_read(options, "uf_accumulate_plan", 0, &own, &options));
    const plan_request r = request_of("uf_accumulate_plan", 0, func, nargs, args, &axis, options);
    return plan_new(out, &r);
}

uf_status uf_accumulate_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args, int axis,
                                     const uf_options *options) {
    uf_options own;
    TRY(fold_bytes_check(bytes));
    TRY(axis_options_read(options, "uf_accumulate", 0, &own, &options));
    const plan_request r = request_of("uf_accumulate", ARGS_NO_DATA, func, nargs, args, &axis, options);
    return fold_scratch_size(&r, bytes);
}

uf_status uf_accumulate_infer(const uf_func *func, int nargs, DLTensor *args, int axis, const uf_options *options) {
    uf_options own;
    TRY(axis_options_read(options, "uf_accumulate", 0, &own, &options));
    const plan_request r =
        request_of("uf_accumulate", ARGS_NO_OUTPUTS | ARGS_NO_DATA, func, nargs, args, &axis, options);
    return fold_infer(&r, &form);
}
