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
                               .flags = j->flags};
}

static uf_status infer(call *c) {
    uf_reduce_options options = options_of(c);
    return uf_reduce_infer(c->func, c->nargs, c->args, &options);
}

static uf_status compute(call *c) {
    uf_reduce_options options = options_of(c);
    return uf_reduce(c->func, c->nargs, c->args, &options);
}

/* Elements fold one after the other, whatever the shapes are. */
static bool is_serial(const call *c) {
    const unsigned given = c->job->flags & (UF_ORDERED | UF_SERIAL);
    return (given ? given : c->about.order) == UF_SERIAL;
}

static bool is_integer(DLDataType t) {
    return t.lanes == 1 && (t.code == kDLInt || t.code == kDLUInt || t.code == UF_BOOL_CODE);
}

/* How elements are grouped may follow from how many results there are. It changes no bit where they fold one after the other, nor where
 * integers do by a function of two inputs, whose accumulator is one, too. */
static bool is_divisible(const call *c) {
    const bool integers = strcmp(c->about.kind, "elementwise") == 0 && c->job->casting != UF_CAST_UNSAFE &&
                          is_integer(c->args[0].dtype) && is_integer(c->args[1].dtype);
    return !c->about.layout && (is_serial(c) || integers);
}

/* Is dimension i reduced, of so many? */
static bool is_reduced(const job *j, int rank, int i) {
    bool found = !j->has_axes;
    for (int k = 0; k < j->naxes && !found; k++)
        found = j->axes[k] == i || j->axes[k] == i - rank;
    return found;
}

/* The outputs have the dimensions that are not reduced, or these with extent 1. */
static int dimension(const call *c, int k, int ndim, int d) {
    const job *j = c->job;
    const int rank = c->args[c->nin].ndim + (j->keepdims ? 0 : j->naxes);
    int i = 0;
    (void)k;
    for (int kept = 0; !j->keepdims && (is_reduced(j, rank, i) || kept++ < d); i++) {
    }
    i = j->keepdims ? d : i;
    return i < rank - ndim || is_reduced(j, rank, i) ? -1 : i - (rank - ndim);
}

const method reduce_method = {
    .fit = fit_reducing, .infer = infer, .compute = compute, .is_divisible = is_divisible, .dimension = dimension};

int run_reduce(const job *j) { return run_method(&reduce_method, j); }
