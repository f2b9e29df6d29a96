/* at.c - `ufunc at`: a copy of an array, of which a function updates elements, once for each occurrence of an index. */
#include <string.h>

#include "cmd.h"

static const char *fit(call *c) {
    if (strcmp(c->about.kind, "elementwise") != 0 || c->about.nin > 2 || c->about.nout != 1)
        return "does not update elements; elementwise functions of one or two inputs and one output do";
    c->nin = c->job->ninputs;
    if (c->nin < c->about.nin + 1)
        return c->about.nin == 2 ? "needs a target, an index for each of its first dimensions, and an operand"
                                 : "needs a target, and an index for each of its first dimensions";
    return NULL;
}

static uf_status infer(call *c) {
    const DLTensor *target = &c->args[0];
    DLTensor *out = &c->args[c->nin];
    out->dtype = target->dtype;
    out->ndim = target->ndim;
    for (int d = 0; d < target->ndim; d++)
        out->shape[d] = target->shape[d];
    return UF_OK;
}

/* Makes the output a copy of the target, which --casting is for if their dtypes differ. Errors name arguments of the copy's. */
static uf_status copy_target(call *c) {
    DLTensor args[] = {c->args[0], c->args[c->nin]};
    uf_options options = {.size = sizeof options, .casting = c->job->casting, .threads = c->job->threads};
    uf_func *copy = NULL;
    if (dtype_of(args[0].dtype) == dtype_of(args[1].dtype))
        return uf_copy(&args[1], &args[0], NULL);
    c->ninputs_named = 1;
    uf_status s = uf_vectorize(&copy, "target", NULL, "(x) { return x; }");
    s = s ? s : uf_call(copy, 2, args, &options);
    uf_free(copy);
    c->ninputs_named = s ? 1 : c->job->ninputs;
    return s;
}

static uf_status compute(call *c) {
    const DLTensor *out = &c->args[c->nin];
    bool binary = c->about.nin == 2;
    uf_options options = call_options(c);
    uf_status s = copy_target(c);
    return s ? s
             : uf_at(c->func, out, c->nin - 1 - binary, c->args + 1, binary ? &c->args[c->nin - 1] : NULL, &options);
}

/* Indices are arrays, which must be where the target is. */
static bool moves_number(const call *c, int k) { return k < c->nin - (c->about.nin == 2); }

int run_at(const job *j) {
    static const method m = {.fit = fit, .infer = infer, .compute = compute, .moves_number = moves_number};
    return run_method(&m, j);
}
