/* accumulate.c - `ufunc accumulate`: folds an array along an axis and keeps every intermediate result. */
#include "cmd.h"

static uf_status infer(call *c) {
    uf_options options = call_options(c);
    return uf_accumulate_infer(c->func, c->nargs, c->args, first_axis(c), &options);
}

static uf_status compute(call *c) {
    uf_options options = call_options(c);
    return uf_accumulate(c->func, c->nargs, c->args, first_axis(c), &options);
}

const method accumulate_method = {.fit = fit_reducing, .infer = infer, .compute = compute};

int run_accumulate(const job *j) { return run_method(&accumulate_method, j); }
