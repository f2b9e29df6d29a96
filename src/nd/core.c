/* core.c - what a call makes of a layout: which dimensions of the arrays are core dimensions, the size of each core
 * dimension, and the arrays without them. The rules for axes, axis, keepdims and optional dimensions are NumPy's. The
 * arrays were checked before.
 *
 * A size is bound by the inputs, first by those that cannot stretch to it; then by the outputs, for names that no input
 * has; then computed. Last, every extent is checked against its size. */
#include <assert.h>

#include "nd/nd.h"

/* A layout, together with the options of a call. */
typedef struct core_call {
    const core_layout *l;
    uint64_t missing; /* bit d: optional dimension d is missing */
    int kept;         /* with keepdims: how many core dimensions, of extent 1, each output has; else 0 */
    uf_axes axes;     /* with the members that this version of the library knows */
} core_call;

/* ---- Options ---- */

/* Copies a struct of options that may be shorter or longer than the library's, because the program was built with
 * another version. */
static uf_status read_axes(const uf_axes *from, uf_axes *to) {
    const unsigned char *bytes = (const unsigned char *)from;
    *to = (uf_axes){.size = sizeof *to};
    if (!from)
        return UF_OK;
    if (from->size < sizeof from->size)
        return fail(UF_ERR_ARGUMENT, "uf_axes.size is %zu; set it to sizeof(uf_axes)", from->size);
    for (size_t i = sizeof *to; i < from->size; i++)
        if (bytes[i])
            return fail(UF_ERR_ARGUMENT,
                        "uf_axes.size is %zu, but this library (version %s) knows %zu bytes, and byte %zu is not zero",
                        from->size, uf_version(), sizeof *to, i);
    memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    return UF_OK;
}

/* The error of an option that the layout does not allow. */
static uf_status wrong_option(const core_layout *l, const char *what) {
    text t = {0};
    layout_print(&t, l);
    uf_status status = t.failed ? fail_memory() : fail(UF_ERR_ARGUMENT, "%s, but the layout is %s", what, t.data);
    text_free(&t);
    return status;
}

static bool has_output_core(const core_layout *l) {
    for (int k = l->nin; k < l->nin + l->nout; k++)
        if (l->operands[k].rank > 0)
            return true;
    return false;
}

static uf_status check_keepdims(const core_layout *l) {
    bool fits = l->nin > 0 && !has_output_core(l);
    for (int k = 1; k < l->nin; k++)
        fits &= l->operands[k].rank == l->operands[0].rank;
    return fits ? UF_OK
                : wrong_option(l, "uf_axes.keepdims needs inputs with equally many core dimensions and outputs "
                                  "without any");
}

static uf_status check_axis(const core_layout *l) {
    bool fits = l->ndims == 1;
    for (int k = 0; k < l->nin + l->nout; k++)
        fits &= l->operands[k].rank <= 1;
    return fits ? UF_OK : wrong_option(l, "uf_axes.axis needs a single core dimension, which no argument has twice");
}

static uf_status check_lists(const core_layout *l, const uf_axes *axes) {
    int narguments = l->nin + l->nout;
    if (axes->count < 0)
        return fail(UF_ERR_ARGUMENT, "uf_axes.count is %d; it must not be negative", axes->count);
    if (axes->count > 0 && !axes->lists)
        return fail(UF_ERR_ARGUMENT, "uf_axes.count is %d, but uf_axes.lists is NULL", axes->count);
    if (axes->count > 0 && axes->axis)
        return fail(UF_ERR_ARGUMENT, "uf_axes has both lists and axis; at most one of them may be given");
    if (axes->count == 0 || axes->count == narguments || (axes->count == l->nin && !has_output_core(l)))
        return UF_OK;
    if (has_output_core(l))
        return fail(UF_ERR_ARGUMENT, "uf_axes.count is %d, but must be %d: a list for each argument", axes->count,
                    narguments);
    return fail(UF_ERR_ARGUMENT,
                "uf_axes.count is %d, but must be %d, a list for each argument, or %d, one for each input", axes->count,
                narguments, l->nin);
}

static uf_status begin(const core_layout *l, const uf_axes *axes, uint64_t missing, core_call *c) {
    c->l = l;
    c->missing = missing;
    c->kept = 0;
    TRY(read_axes(axes, &c->axes));
    TRY(check_lists(l, &c->axes));
    if (c->axes.axis)
        TRY(check_axis(l));
    if (!c->axes.keepdims)
        return UF_OK;
    TRY(check_keepdims(l));
    c->kept = l->operands[0].rank;
    return UF_OK;
}

/* ---- Core dimensions of an argument ---- */

static bool is_missing(const core_call *c, int d) { return c->missing >> d & 1; }

/* How many core dimensions argument k has in this call. */
static int core_rank(const core_call *c, int k) {
    const layout_operand *o = &c->l->operands[k];
    int rank = o->rank + (k >= c->l->nin ? c->kept : 0);
    for (int i = 0; c->missing && i < o->rank; i++)
        rank -= is_missing(c, o->dim[i]);
    return rank;
}

static uf_status bad_axis(int k, int axis, int ndim) {
    if (ndim == 0)
        return nd_fail(UF_ERR_ARGUMENT, k, -1, "axis %d is out of range: its rank is 0", axis);
    return nd_fail(UF_ERR_ARGUMENT, k, -1, "axis %d is out of range: its rank is %d, so axes are from %d to %d", axis,
                   ndim, -ndim, ndim - 1);
}

/* The dimensions that a list of axes names. *taken has their bits. */
static uf_status read_list(int k, const int *axes, int rank, int ndim, uint8_t *at, uint64_t *taken) {
    for (int i = 0; i < rank; i++) {
        int axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axes[i] < -ndim || axes[i] >= ndim)
            return bad_axis(k, axes[i], ndim);
        if (*taken >> axis & 1)
            return nd_fail(UF_ERR_ARGUMENT, k, -1, "axis %d occurs twice among its axes", axis);
        *taken |= UINT64_C(1) << axis;
        at[i] = (uint8_t)axis;
    }
    return UF_OK;
}

/* Where the core dimensions of argument k are, an array of ndim dimensions: at[i] is the dimension that is the i-th one
 * it has in this call, and *taken has their bits. ndim is at least their number. */
static uf_status find_core(const core_call *c, int k, int ndim, uint8_t at[LAYOUT_MAX_RANK], uint64_t *taken) {
    const uf_axes *axes = &c->axes;
    int last[LAYOUT_MAX_RANK], rank = core_rank(c, k);
    *taken = 0;
    assert(rank <= ndim && rank <= LAYOUT_MAX_RANK);
    if (axes->axis && rank == 1)
        return read_list(k, axes->axis, 1, ndim, at, taken);
    if (k < axes->count) {
        const uf_axis_list *list = &axes->lists[k];
        if (list->count != rank)
            return nd_fail(UF_ERR_ARGUMENT, k, -1, "it has %d core dimension%s, but uf_axes.lists[%d].count is %d",
                           rank, rank == 1 ? "" : "s", k, list->count);
        if (rank > 0 && !list->axes)
            return nd_fail(UF_ERR_ARGUMENT, k, -1, "uf_axes.lists[%d].axes is NULL, but its count is %d", k, rank);
        return read_list(k, list->axes, rank, ndim, at, taken);
    }
    for (int i = 0; i < rank; i++)
        last[i] = i - rank;
    return read_list(k, last, rank, ndim, at, taken);
}

/* ---- Which optional dimensions are missing ---- */

static uf_status too_few(const core_call *c, const nd_array *a, int k) {
    const layout_operand *o = &c->l->operands[k];
    int need = core_rank(c, k);
    bool optional = false;
    text t = {0};
    if (o->rank == 0)
        return nd_fail(UF_ERR_SHAPE, k, -1, "its rank is %d, but keepdims gives it %d core dimension%s", a->ndim, need,
                       need == 1 ? "" : "s");
    for (int i = 0; i < o->rank; i++) {
        text_puts(&t, i ? "," : "");
        layout_dim_print(&t, c->l, o->dim[i]);
        text_puts(&t, c->l->dims[o->dim[i]].optional ? "?" : "");
        optional |= c->l->dims[o->dim[i]].optional;
    }
    uf_status status = t.failed ? fail_memory()
                                : nd_fail(UF_ERR_SHAPE, k, -1, "its rank is %d, but its core dimensions (%s) need %s%d",
                                          a->ndim, t.data, optional ? "at least " : "", need);
    text_free(&t);
    return status;
}

/* NumPy's rule: an argument that has too few dimensions does without its first optional ones; these are then missing
 * from all arguments. */
static uf_status find_missing(core_call *c, const nd_array *arrays, int n) {
    for (int k = 0; k < n; k++) {
        const layout_operand *o = &c->l->operands[k];
        if (arrays[k].ndim >= core_rank(c, k))
            continue;
        for (int i = 0; i < o->rank && arrays[k].ndim < core_rank(c, k) && !arrays[k].number; i++)
            if (c->l->dims[o->dim[i]].optional)
                c->missing |= UINT64_C(1) << o->dim[i];
        if (arrays[k].ndim < core_rank(c, k))
            return too_few(c, &arrays[k], k);
    }
    return UF_OK;
}

/* ---- Sizes ---- */

enum {
    UNBOUND = -1, /* the size is not known yet */
    NOWHERE = 255 /* the core dimension is missing */
};

typedef struct binder {
    core_call call;
    const nd_array *arrays;
    int n;                         /* arguments that are given */
    int64_t *size;                 /* of each dimension of the layout */
    int16_t from[LAYOUT_MAX_DIMS]; /* argument that bound the size; -1: none */
    /* by core dimension of an argument: the array's dimension, or NOWHERE */
    uint8_t at[UF_MAX_OPERANDS][LAYOUT_MAX_RANK];
    uint64_t taken[UF_MAX_OPERANDS]; /* bits of the array's dimensions that are core dimensions */
} binder;

/* One occurrence of a dimension of the layout: dimension `dimension` of an argument, which has this extent. */
typedef struct occurrence {
    int argument, dimension, dim;
    bool stretch;
    int64_t extent;
} occurrence;

/* Adds "n is 4 (from argument 0)": a size, and what bound it. */
static void say_binding(text *t, const binder *b, int d) {
    layout_dim_print(t, b->call.l, d);
    text_printf(t, " is %lld", (long long)b->size[d]);
    if (b->from[d] >= 0)
        text_printf(t, " (from argument %d)", b->from[d]);
}

/* Adds "; n is 4 (from argument 0), m is .." for each name in a computed size. */
static void say_names(text *t, const binder *b, int d) {
    const layout_dim *dim = &b->call.l->dims[d];
    uint64_t said = 0;
    for (int i = 0; i < dim->nsteps; i++) {
        int name = dim->steps[i].dim;
        if (dim->steps[i].op != 'd' || said >> name & 1)
            continue;
        text_puts(t, said ? ", " : "; ");
        say_binding(t, b, name);
        said |= UINT64_C(1) << name;
    }
}

static uf_status fail_text(text *t, int argument, int dimension) {
    uf_status status = t->failed ? fail_memory() : nd_fail(UF_ERR_SHAPE, argument, dimension, "%s", t->data);
    text_free(t);
    return status;
}

static uf_status disagree(const binder *b, const occurrence *o) {
    const layout_dim *dim = &b->call.l->dims[o->dim];
    text t = {0};
    text_printf(&t, "is %lld, but ", (long long)o->extent);
    if (dim->frozen)
        text_printf(&t, "must be %lld", (long long)dim->frozen);
    else
        say_binding(&t, b, o->dim);
    if (dim->steps)
        say_names(&t, b, o->dim);
    if (o->stretch)
        text_puts(&t, dim->frozen ? " or 1" : "; it must be that or 1");
    return fail_text(&t, o->argument, o->dimension);
}

static uf_status agree(const binder *b, const occurrence *o) {
    return o->extent == b->size[o->dim] || (o->stretch && o->extent == 1) ? UF_OK : disagree(b, o);
}

static uf_status bind(binder *b, const occurrence *o) {
    if (b->size[o->dim] != UNBOUND)
        return agree(b, o);
    b->size[o->dim] = o->extent;
    b->from[o->dim] = (int16_t)o->argument;
    return UF_OK;
}

static uf_status bind_plain(binder *b, const occurrence *o) {
    return o->stretch || b->call.l->dims[o->dim].steps ? UF_OK : bind(b, o);
}

static uf_status bind_stretched(binder *b, const occurrence *o) {
    return o->stretch && o->extent != 1 ? bind(b, o) : UF_OK;
}

static uf_status bind_output_only(binder *b, const occurrence *o) {
    return b->call.l->dims[o->dim].output_only ? bind(b, o) : UF_OK;
}

static uf_status check_size(binder *b, const occurrence *o) { return agree(b, o); }

/* Visits each core dimension of arguments first .. last-1 that is not missing. */
static uf_status each(binder *b, int first, int last, uf_status (*visit)(binder *, const occurrence *)) {
    for (int k = first; k < last; k++) {
        const layout_operand *o = &b->call.l->operands[k];
        for (int i = 0; i < o->rank; i++) {
            int at = b->at[k][i];
            if (at == NOWHERE)
                continue;
            occurrence here = {k, at, o->dim[i], o->stretch[i], b->arrays[k].shape[at]};
            TRY(visit(b, &here));
        }
    }
    return UF_OK;
}

/* The first argument that has dimension d, and which of its dimensions that is; -1 if the array is not given. */
static int first_with(const binder *b, int d, int *dimension) {
    for (int k = 0;; k++)
        for (int i = 0; i < b->call.l->operands[k].rank; i++)
            if (b->call.l->operands[k].dim[i] == d) {
                *dimension = k < b->n ? b->at[k][i] : -1;
                return k;
            }
}

static uf_status cannot_compute(const binder *b, int d, int64_t value) {
    int dimension, argument = first_with(b, d, &dimension);
    text t = {0};
    text_puts(&t, dimension < 0 ? "the size of its core dimension " : "should be ");
    layout_dim_print(&t, b->call.l, d);
    text_puts(&t, dimension < 0 ? " " : ", which ");
    if (value < 0)
        text_printf(&t, "is negative, %lld", (long long)value);
    else
        text_puts(&t, value ? "overflows 64 bits" : "divides by zero");
    say_names(&t, b, d);
    return fail_text(&t, argument, dimension);
}

static uf_status unknown_size(const binder *b, int d) {
    int dimension, argument = first_with(b, d, &dimension);
    return nd_fail(UF_ERR_SHAPE, argument, -1,
                   "the size of its core dimension %s is known from the outputs alone, and they are not given",
                   b->call.l->dims[d].name);
}

static uf_status settle(binder *b) {
    const core_layout *l = b->call.l;
    int nout = b->n > l->nin ? b->n : l->nin;
    for (int d = 0; d < l->ndims; d++) {
        b->size[d] = is_missing(&b->call, d) ? 1 : l->dims[d].frozen ? l->dims[d].frozen : UNBOUND;
        b->from[d] = -1;
    }
    TRY(each(b, 0, l->nin, bind_plain));
    TRY(each(b, 0, l->nin, bind_stretched));
    TRY(each(b, l->nin, nout, bind_output_only));
    for (int d = 0; d < l->ndims; d++)
        if (b->size[d] == UNBOUND && l->dims[d].name) {
            if (l->dims[d].output_only)
                return unknown_size(b, d);
            b->size[d] = 1; /* every input that has it has extent 1 and stretches */
        }
    for (int d = 0; d < l->ndims; d++)
        if (l->dims[d].steps && !layout_compute(&l->dims[d], b->size, &b->size[d]))
            return cannot_compute(b, d, b->size[d]);
    return each(b, 0, nout, check_size);
}

/* ---- Arrays without their core dimensions ---- */

/* Fills b->at and b->taken for argument k. Checks that the dimensions that keepdims adds to an output have extent 1. */
static uf_status split(binder *b, int k) {
    const layout_operand *o = &b->call.l->operands[k];
    const nd_array *a = &b->arrays[k];
    uint8_t at[LAYOUT_MAX_RANK];
    int present = 0;
    TRY(find_core(&b->call, k, a->ndim, at, &b->taken[k]));
    for (int i = 0; i < o->rank; i++)
        b->at[k][i] = is_missing(&b->call, o->dim[i]) ? NOWHERE : at[present++];
    for (int i = present; i < core_rank(&b->call, k); i++)
        if (a->shape[at[i]] != 1)
            return nd_fail(UF_ERR_SHAPE, k, at[i], "is %lld, but keepdims makes it 1", (long long)a->shape[at[i]]);
    return UF_OK;
}

/* Writes the core strides of argument k to words, and the array without its core dimensions to *loop; its shape and
 * strides are placed at space. */
static void write_array(const binder *b, int k, int64_t *words, nd_array *loop, int64_t *space) {
    const layout_operand *o = &b->call.l->operands[k];
    const nd_array *a = &b->arrays[k];
    int64_t stride[UF_MAX_NDIM], dense = 1, *shape = space, *strides = space + a->ndim;
    *loop = *a;
    loop->core = b->taken[k];
    if (!b->taken[k])
        return;
    for (int d = a->ndim - 1; d >= 0; d--) {
        stride[d] = a->strides ? a->strides[d] : dense;
        if (!a->strides && a->shape[d] > 1)
            dense *= a->shape[d];
    }
    for (int i = 0; i < o->rank; i++) {
        int at = b->at[k][i];
        words[o->strides + i] = at == NOWHERE || a->shape[at] == 1 ? 0 : stride[at];
    }
    loop->ndim = 0;
    loop->shape = shape;
    loop->strides = strides;
    for (int d = 0; d < a->ndim; d++)
        if (!(b->taken[k] >> d & 1)) {
            shape[loop->ndim] = a->shape[d];
            strides[loop->ndim++] = stride[d];
        }
}

size_t nd_core_space(const core_layout *l, int ndim, int narrays) {
    size_t arrays = (size_t)narrays, dimensions = ndim > 0 ? (size_t)ndim : 0;
    return arrays * sizeof(nd_array) + ((size_t)l->nparameters + 2 * arrays * dimensions) * sizeof(int64_t);
}

uf_status nd_core_resolve(const core_layout *l, const nd_array *arrays, int narrays, const uf_axes *axes, void *space,
                          nd_core *out) {
    binder b;
    nd_array *loops = space;
    int64_t *words = (int64_t *)(loops + narrays), *free_space = words + l->nparameters;
    b.arrays = arrays;
    b.n = narrays < l->nin + l->nout ? narrays : l->nin + l->nout;
    b.size = words;
    memset(words, 0, (size_t)l->nparameters * sizeof *words);
    TRY(begin(l, axes, 0, &b.call));
    TRY(find_missing(&b.call, arrays, b.n));
    for (int k = 0; k < b.n; k++)
        TRY(split(&b, k));
    TRY(settle(&b));
    for (int k = 0; k < narrays; k++) {
        if (k >= b.n) { /* a mask */
            loops[k] = arrays[k];
            continue;
        }
        write_array(&b, k, words, &loops[k], free_space);
        free_space += 2 * arrays[k].ndim;
    }
    *out = (nd_core){.loops = loops, .words = words, .missing = b.call.missing};
    return UF_OK;
}

uf_status nd_core_shape(const core_layout *l, const nd_core *core, const uf_axes *axes, int k, int loop_ndim,
                        const int64_t *loop_shape, int *ndim, int64_t *shape) {
    const layout_operand *o = &l->operands[k];
    uint8_t at[LAYOUT_MAX_RANK] = {0};
    uint64_t taken;
    core_call c;
    TRY(begin(l, axes, core->missing, &c));
    int rank = loop_ndim + core_rank(&c, k), present = 0;
    if (rank > UF_MAX_NDIM)
        return nd_fail(UF_ERR_SHAPE, k, -1, "its rank would be %d, but is at most %d", rank, UF_MAX_NDIM);
    TRY(find_core(&c, k, rank, at, &taken));
    for (int d = 0, from = 0; d < rank; d++)
        shape[d] = taken >> d & 1 ? 1 : loop_shape[from++];
    for (int i = 0; i < o->rank; i++)
        if (!is_missing(&c, o->dim[i]))
            shape[at[present++]] = core->words[o->dim[i]];
    *ndim = rank;
    return UF_OK;
}
