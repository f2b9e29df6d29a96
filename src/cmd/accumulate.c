/* accumulate.c - `ufunc accumulate`: folds an array along an axis and keeps every intermediate result. */
#include "cmd.h"

static uf_options options_of(const call *c) {
    const job *j = c->job;
    return (uf_options){
        .size = sizeof(uf_options), .signature = j->signature, .threads = j->threads, .flags = j->flags};
}

/* The axis on the command line, or the first one. */
static int axis_of(const call *c) { return c->job->has_axes ? c->job->axes[0] : 0; }

static uf_status infer(call *c) {
    uf_options options = options_of(c);
    return uf_accumulate_infer(c->func, c->nargs, c->args, axis_of(c), &options);
}

static uf_status compute(call *c) {
    uf_options options = options_of(c);
    return uf_accumulate(c->func, c->nargs, c->args, axis_of(c), &options);
}

int run_accumulate(int argc, char **argv) {
    static const method m = {.bit = ACCUMULATE, .fit = fit_reducing, .infer = infer, .compute = compute};
    return run_method(&m, argc, argv);
}
