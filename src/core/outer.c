/* outer.c - uf_outer: a call whose inputs are views. The view of an input has a dimension of extent 1 for each
 * dimension of the inputs after it, so that the inputs broadcast to all combinations of their elements. */
#include "core/core.h"

/* Words on the stack for the shapes and strides of the views. More are taken from the heap, in one block. */
enum {
    VIEW_WORDS = 128
};

static uf_status inputs_rank(const uf_func *f, const DLTensor *args, int *total) {
    *total = 0;
    for (int k = 0; k < f->nin; k++) {
        TRY(array_check(&args[k], k, func_takes_records(f) ? ARGS_LANES : 0));
        *total += args[k].ndim;
        if (*total > UF_MAX_NDIM)
            return fail_argument(UF_ERR_SHAPE, k, -1,
                                 "its rank is %d, which makes that of the outputs %d; at most %d are possible",
                                 args[k].ndim, *total, UF_MAX_NDIM);
    }
    return UF_OK;
}

static uf_status outputs_rank(const uf_func *f, const DLTensor *args, int total) {
    for (int k = f->nin; k < f->nin + f->nout; k++)
        if (args[k].ndim < total)
            return fail_argument(UF_ERR_SHAPE, k, -1, "its rank is %d, but those of the inputs add up to %d",
                                 args[k].ndim, total);
    return UF_OK;
}

/* Makes t a view that has `more` dimensions of extent 1 behind its own. Returns the words behind those that it took. */
static int64_t *view_make(DLTensor *t, int more, int64_t *words) {
    int64_t *shape = words, *strides = words + t->ndim + more;
    if (t->ndim)
        memcpy(shape, t->shape, (size_t)t->ndim * sizeof *shape);
    if (t->ndim && t->strides)
        memcpy(strides, t->strides, (size_t)t->ndim * sizeof *strides);
    for (int d = t->ndim; d < t->ndim + more; d++)
        shape[d] = strides[d] = 1;
    t->strides = t->strides ? strides : NULL;
    t->shape = shape;
    t->ndim += more;
    return words + 2 * t->ndim;
}

/* Does input k need a view? The last one does not, and a number stays a number. */
static bool is_view(const uf_func *f, const DLTensor *args, int k) {
    return k < f->nin - 1 && !is_number(f, k, &args[k]);
}

static void views_make(const uf_func *f, DLTensor *args, int total, int64_t *words) {
    int before = 0;
    for (int k = 0; k < f->nin; k++) {
        before += args[k].ndim;
        if (is_view(f, args, k))
            words = view_make(&args[k], total - before, words);
    }
}

uf_status uf_outer(const uf_func *func, int nargs, const DLTensor *args, const uf_options *options) {
    RANGE("uf_outer", func);
    uf_options own;
    const uf_options *known;
    int64_t few[VIEW_WORDS];
    DLTensor views[UF_MAX_OPERANDS];
    int total;
    TRY(options_read(options, &own, &known));
    TRY(args_match(func, nargs, args, known));
    if (func->layout)
        return fail(UF_ERR_ARGUMENT, "%s has core dimensions, %s; uf_outer is for functions without", func->name,
                    func->layout_text);
    TRY(inputs_rank(func, args, &total));
    TRY(outputs_rank(func, args, total));

    size_t need = 2 * (size_t)total * (size_t)func->nin; /* each view has at most that rank */
    int64_t *words = need <= VIEW_WORDS ? few : mem_alloc(need * sizeof *words);
    if (!words)
        return fail_memory();
    memcpy(views, args, (size_t)nargs * sizeof *views);
    views_make(func, views, total, words);
    uf_status s = uf_call(func, nargs, views, known);
    if (words != few)
        mem_free(words);
    return s;
}
