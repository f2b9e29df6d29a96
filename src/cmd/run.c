/* run.c - `ufunc run`: applies a function to arrays. */
#include <string.h>

#include "cmd.h"

static const char *fit(call *c) {
    c->nin = c->about.nin;
    if (strcmp(c->about.kind, "reduction") == 0)
        return "is a reduction; `ufunc reduce` and `ufunc accumulate` run it";
    if (strcmp(c->about.kind, "kernel") == 0)
        return "is a kernel over indices, which works in place; uf_forall runs it";
    return NULL;
}

static uf_options options_of(const call *c, uf_axes *axes) {
    const job *j = c->job;
    bool staged = j->device.device_type != kDLCPU;
    *axes = (uf_axes){.size = sizeof *axes, .axis = j->has_axes ? j->axes : NULL, .keepdims = j->keepdims};
    return (uf_options){.size = sizeof(uf_options),
                        .device = j->device,
                        .signature = j->signature,
                        .where = c->mask,
                        .threads = j->threads,
                        .flags = staged ? UF_STAGE : 0,
                        .axes = j->has_axes || j->keepdims ? axes : NULL};
}

static uf_status infer(call *c) {
    uf_axes axes;
    uf_options options = options_of(c, &axes);
    return uf_infer(c->func, c->nargs, c->args, &options);
}

static uf_status compute(call *c) {
    uf_axes axes;
    uf_options options = options_of(c, &axes);
    return uf_call(c->func, c->nargs, c->args, &options);
}

int run_run(int argc, char **argv) {
    static const method m = {.bit = RUN, .stages = true, .fit = fit, .infer = infer, .compute = compute};
    return run_method(&m, argc, argv);
}
