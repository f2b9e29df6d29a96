/* reduceat.c - `ufunc reduceat`: folds segments of an axis. */
#include "cmd.h"

/* Outputs have the shape of accumulating, but for the axis, which has an element for each segment. */
static uf_status infer(call *c) {
    uf_options options = call_options(c);
    options.flags &= ~(unsigned)UF_UNEVEN;
    uf_status s = uf_accumulate_infer(c->func, c->nargs, c->args, first_axis(c), &options);
    for (int k = c->nin; !s && k < c->nargs; k++) {
        int axis = first_axis(c) + (first_axis(c) < 0 ? c->args[k].ndim : 0);
        c->args[k].shape[axis] = c->starts.array.ndim == 1 ? c->starts.array.shape[0] : 0;
    }
    return s;
}

static uf_status compute(call *c) {
    uf_options options = call_options(c);
    return uf_reduceat(c->func, c->nargs, c->args, &c->starts.array, first_axis(c), &options);
}

int run_reduceat(const job *j) {
    static const method m = {.fit = fit_reducing, .infer = infer, .compute = compute};
    if (!j->starts)
        return bad_usage(j->verb->name, "--starts is needed: 0,4,8 or a file");
    return run_method(&m, j);
}
