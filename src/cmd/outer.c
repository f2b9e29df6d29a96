/* outer.c - `ufunc outer`: applies a function to all combinations of the elements of its inputs. */
#include <string.h>

#include "cmd.h"

static const char *fit(call *c) {
    c->nin = c->about.nin;
    return strcmp(c->about.kind, "elementwise") == 0 ? NULL : "is not elementwise, and has no outer form";
}

/* Views input k, whose dimensions are those of the outputs from `first` on, as an array that broadcasts with the others. */
static void spread(const DLTensor *input, int first, int rank, int64_t shape[UF_MAX_NDIM], DLTensor *out) {
    *out = *input;
    if (!input->ndim) /* a number stays one */
        return;
    for (int d = 0; d < rank; d++)
        shape[d] = d >= first && d < first + input->ndim ? input->shape[d - first] : 1;
    out->ndim = rank;
    out->shape = shape;
    out->strides = NULL;
}

/* Outputs are those of a call whose inputs have their dimensions side by side. Its data are not read. */
static uf_status infer(call *c) {
    int64_t shapes[UF_MAX_OPERANDS][UF_MAX_NDIM];
    DLTensor views[UF_MAX_OPERANDS];
    uf_options options = call_options(c);
    int rank = 0;
    for (int k = 0; k < c->nin; k++)
        rank += c->args[k].ndim;
    if (rank > UF_MAX_NDIM) /* the call itself says so */
        return uf_outer(c->func, c->nargs, c->args, &options);
    for (int k = 0, first = 0; k < c->nin; first += c->args[k++].ndim)
        spread(&c->args[k], first, rank, shapes[k], &views[k]);
    memcpy(views + c->nin, c->args + c->nin, (size_t)(c->nargs - c->nin) * sizeof *views);
    uf_status s = uf_infer(c->func, c->nargs, views, &options);
    memcpy(c->args + c->nin, views + c->nin, (size_t)(c->nargs - c->nin) * sizeof *views);
    return s;
}

static uf_status compute(call *c) {
    uf_options options = call_options(c);
    return uf_outer(c->func, c->nargs, c->args, &options);
}

const method outer_method = {.stages = true, .fit = fit, .infer = infer, .compute = compute};

int run_outer(const job *j) { return run_method(&outer_method, j); }
