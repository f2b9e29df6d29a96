/* reduce.c - `ufunc reduce`: folds an array along some of its axes. */
#include <string.h>

#include "cmd.h"

const char *fit_reducing(call *c) {
    if (!c->about.nstate)
        return "does not reduce; reductions do, and functions of two inputs and one output, elementwise ones and those "
               "whose operands can have cores of one shape";
    c->nin = strcmp(c->about.kind, "reduction") == 0 ? c->about.nin : 1;
    return NULL;
}

static uf_reduce_options options_of(const call *c) {
    const job *j = c->job;
    return (uf_reduce_options){.size = sizeof(uf_reduce_options),
                               .casting = j->casting,
                               .signature = j->signature,
                               .naxes = j->has_axes && !j->naxes ? UF_NO_AXES : j->naxes,
                               .axes = j->has_axes ? j->axes : NULL,
                               .keepdims = j->keepdims,
                               .initial = j->ninitial ? c->initials : NULL,
                               .where = c->mask,
                               .threads = j->threads,
                               .flags = j->flags,
                               .progress = progress_share()};
}

static uf_status infer(call *c) {
    uf_reduce_options options = options_of(c);
    return uf_reduce_infer(c->func, c->nargs, c->args, &options);
}

static uf_status compute(call *c) {
    uf_reduce_options options = options_of(c);
    return uf_reduce(c->func, c->nargs, c->args, &options);
}

const method reduce_method = {.fit = fit_reducing, .infer = infer, .compute = compute};

int run_reduce(const job *j) { return run_method(&reduce_method, j); }
