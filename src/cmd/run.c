/* run.c - `ufunc run`: applies a function to arrays. */
#include <limits.h>
#include <string.h>

#include "cmd.h"

static const char *fit(call *c) {
    c->nin = c->about.nin;
    if (strcmp(c->about.kind, "reduction") == 0)
        return "is a reduction; `ufunc reduce`, `accumulate` and `reduceat` run it";
    if (strcmp(c->about.kind, "kernel") == 0)
        return "is a kernel over indices; `ufunc forall` runs it";
    return NULL;
}

/* What options have about axes, in the form of the library's. */
typedef struct axes_given {
    uf_axes axes;
    uf_axis_list lists[UF_MAX_OPERANDS];
    int numbers[UF_MAX_OPERANDS][UF_MAX_NDIM];
} axes_given;

static void axes_read(const job *j, axes_given *to) {
    to->axes = (uf_axes){.size = sizeof to->axes,
                         .count = j->nlists,
                         .lists = j->nlists ? to->lists : NULL,
                         .axis = j->has_axes ? j->axes : NULL,
                         .keepdims = j->keepdims};
    for (int k = 0; k < j->nlists; k++) {
        int64_t list[UF_MAX_NDIM];
        read_integers(j->lists[k], UF_MAX_NDIM, list, &to->lists[k].count);
        for (int i = 0; i < to->lists[k].count; i++)
            to->numbers[k][i] = list[i] < INT_MIN ? INT_MIN : list[i] > INT_MAX ? INT_MAX : (int)list[i];
        to->lists[k].axes = to->numbers[k];
    }
}

static uf_options options_of(const call *c, axes_given *given) {
    const job *j = c->job;
    uf_options options = call_options(c);
    axes_read(j, given);
    options.axes = j->has_axes || j->keepdims || j->nlists ? &given->axes : NULL;
    return options;
}

static uf_status infer(call *c) {
    axes_given given;
    uf_options options = options_of(c, &given);
    return uf_infer(c->func, c->nargs, c->args, &options);
}

static uf_status compute(call *c) {
    axes_given given;
    uf_options options = options_of(c, &given);
    return uf_call(c->func, c->nargs, c->args, &options);
}

const method call_method = {.stages = true, .fit = fit, .infer = infer, .compute = compute};

int run_run(const job *j) { return run_method(&call_method, j); }
