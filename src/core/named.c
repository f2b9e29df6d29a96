/* named.c - what the macros with arguments in place and options by name hand over becomes the arguments of a verb. */
#include <assert.h>
#include <limits.h>

#include "core/core.h"

static_assert(UF_NO_AXIS == INT_MIN, "no axis that is counted from either end");

/* What all of the structs begin with. */
typedef struct args_head {
    size_t size;
    int room;
} args_head;

#define HAS_HEAD(type)                                                                            \
    static_assert(offsetof(type, size) == 0 && offsetof(type, room) == offsetof(args_head, room), \
                  "begins with args_head")
HAS_HEAD(uf_call_args);
HAS_HEAD(uf_reduce_args);
HAS_HEAD(uf_accumulate_args);
HAS_HEAD(uf_forall_args);

/* The arrays of a call. */
typedef struct in_place {
    int count;
    const DLTensor *arrays;
} in_place;

/* How many of the arrays stand before the first one that is all zero. */
static int arrays_count(const DLTensor *args, int room) {
    int n = 0;
    while (n < room &&
           (args[n].data || args[n].device.device_type || args[n].ndim || args[n].dtype.bits || args[n].shape))
        n++;
    return n;
}

/* Finds the arrays behind the options, of which the caller's header knew `size` bytes and this one `known`. *options becomes `given`,
 * or *scratch, which is filled from it, where these differ. */
static uf_status args_read(const void *given, size_t known, void *scratch, const char *what, const void **options,
                           in_place *arrays) {
    if (!given)
        return fail(UF_ERR_ARGUMENT, "the %s are NULL", what);
    const args_head *head = given;
    *options = given;
    if (head->size != known) {
        TRY(struct_read(given, scratch, known, what));
        *options = scratch;
    }
    arrays->arrays = (const DLTensor *)(const void *)((const char *)given + head->size);
    arrays->count = arrays_count(arrays->arrays, ((const args_head *)*options)->room);
    return UF_OK;
}

/* ---- Calls ---- */

/* What uf_call, uf_plan_new and uf_new take. */
typedef struct call_settings {
    uf_call_args own;
    in_place args;
    uf_axes axes;
    uf_options options;
} call_settings;

static uf_status axes_read(const uf_call_args *args, uf_axes *axes) {
    if (args->axes)
        TRY(struct_read(args->axes, axes, sizeof *axes, "uf_axes"));
    else
        *axes = (uf_axes){.size = sizeof *axes};
    if (args->axis != UF_NO_AXIS && args->axes)
        return fail(UF_ERR_ARGUMENT, "both .axis and .axes are given; one of them is possible");
    if (args->axis != UF_NO_AXIS)
        axes->axis = &args->axis;
    axes->keepdims |= args->keepdims;
    return UF_OK;
}

/* *args may become &s->own. */
static uf_status call_read(const uf_call_args **args, call_settings *s) {
    const void *read;
    TRY(args_read(*args, offsetof(uf_call_args, args), &s->own, "uf_call_args", &read, &s->args));
    const uf_call_args *a = read;
    bool has_axes = a->axes || a->axis != UF_NO_AXIS || a->keepdims;
    if (has_axes)
        TRY(axes_read(a, &s->axes));
    /* All members are named, since clearing the others first takes longer than the rest of this function. */
    s->options = (uf_options){.size = sizeof s->options,
                              .stream = a->stream,
                              .device = a->device,
                              .casting = a->casting,
                              .signature = a->signature,
                              .where = a->where,
                              .threads = a->threads,
                              .flags = a->flags,
                              .axes = has_axes ? &s->axes : NULL,
                              .scratch = NULL,
                              .scratch_size = 0,
                              .block = 0,
                              .elements = 0,
                              .cancel = a->cancel,
                              .progress = a->progress};
    *args = a;
    return UF_OK;
}

uf_status uf_call_with(const uf_func *func, const uf_call_args *args) {
    call_settings s;
    TRY(call_read(&args, &s));
    return uf_call(func, s.args.count, s.args.arrays, &s.options);
}

uf_status uf_plan_with(uf_plan **out, const uf_func *func, const uf_call_args *args) {
    TRY(plan_out(out));
    call_settings s;
    TRY(call_read(&args, &s));
    return uf_plan_new(out, func, s.args.count, s.args.arrays, &s.options);
}

uf_status uf_new_with(DLManagedTensor **out, const uf_func *func, const uf_call_args *args) {
    TRY(outputs_out(out, func));
    call_settings s;
    TRY(call_read(&args, &s));
    return uf_new(out, func, s.args.count, s.args.arrays, &s.options);
}

/* ---- Reductions ---- */

typedef struct reduce_settings {
    uf_reduce_args own;
    in_place args;
    uf_reduce_options options;
} reduce_settings;

static uf_status reduce_read(const uf_reduce_args **args, reduce_settings *s) {
    const void *read;
    TRY(args_read(*args, offsetof(uf_reduce_args, args), &s->own, "uf_reduce_args", &read, &s->args));
    const uf_reduce_args *a = read;
    bool one = a->axis != UF_NO_AXIS;
    if (one && (a->axes.count || a->axes.axes))
        return fail(UF_ERR_ARGUMENT, "both .axis and .axes are given; one of them is possible");
    s->options = (uf_reduce_options){.size = sizeof s->options,
                                     .stream = a->stream,
                                     .casting = a->casting,
                                     .signature = a->signature,
                                     .naxes = one ? 1 : a->axes.count,
                                     .axes = one ? &a->axis : a->axes.axes,
                                     .keepdims = a->keepdims,
                                     .initial = a->initial,
                                     .where = a->where,
                                     .scratch = a->scratch,
                                     .scratch_size = a->scratch_size,
                                     .threads = a->threads,
                                     .flags = a->flags,
                                     .cancel = a->cancel,
                                     .progress = a->progress};
    *args = a;
    return UF_OK;
}

uf_status uf_reduce_with(const uf_func *func, const uf_reduce_args *args) {
    reduce_settings s;
    TRY(reduce_read(&args, &s));
    return uf_reduce(func, s.args.count, s.args.arrays, &s.options);
}

uf_status uf_reduce_plan_with(uf_plan **out, const uf_func *func, const uf_reduce_args *args) {
    TRY(plan_out(out));
    reduce_settings s;
    TRY(reduce_read(&args, &s));
    return uf_reduce_plan(out, func, s.args.count, s.args.arrays, &s.options);
}

uf_status uf_reduce_new_with(DLManagedTensor **out, const uf_func *func, const uf_reduce_args *args) {
    TRY(outputs_out(out, func));
    reduce_settings s;
    TRY(reduce_read(&args, &s));
    return uf_reduce_new(out, func, s.args.count, s.args.arrays, &s.options);
}

/* ---- Scans ---- */

typedef struct accumulate_settings {
    uf_accumulate_args own;
    in_place args;
    uf_options options;
} accumulate_settings;

static uf_status accumulate_read(const uf_accumulate_args **args, accumulate_settings *s) {
    const void *read;
    TRY(args_read(*args, offsetof(uf_accumulate_args, args), &s->own, "uf_accumulate_args", &read, &s->args));
    const uf_accumulate_args *a = read;
    s->options = (uf_options){.size = sizeof s->options,
                              .stream = a->stream,
                              .casting = a->casting,
                              .signature = a->signature,
                              .threads = a->threads,
                              .flags = a->flags,
                              .scratch = a->scratch,
                              .scratch_size = a->scratch_size,
                              .cancel = a->cancel,
                              .progress = a->progress};
    *args = a;
    return UF_OK;
}

uf_status uf_accumulate_with(const uf_func *func, const uf_accumulate_args *args) {
    accumulate_settings s;
    TRY(accumulate_read(&args, &s));
    return uf_accumulate(func, s.args.count, s.args.arrays, args->axis, &s.options);
}

uf_status uf_accumulate_plan_with(uf_plan **out, const uf_func *func, const uf_accumulate_args *args) {
    TRY(plan_out(out));
    accumulate_settings s;
    TRY(accumulate_read(&args, &s));
    return uf_accumulate_plan(out, func, s.args.count, s.args.arrays, args->axis, &s.options);
}

uf_status uf_accumulate_new_with(DLManagedTensor **out, const uf_func *func, const uf_accumulate_args *args) {
    TRY(outputs_out(out, func));
    accumulate_settings s;
    TRY(accumulate_read(&args, &s));
    return uf_accumulate_new(out, func, s.args.count, s.args.arrays, args->axis, &s.options);
}

/* ---- Kernels over indices ---- */

typedef struct forall_settings {
    uf_forall_args own;
    in_place args;
    uf_options options;
} forall_settings;

static uf_status forall_read(const uf_forall_args **args, forall_settings *s) {
    const void *read;
    TRY(args_read(*args, offsetof(uf_forall_args, args), &s->own, "uf_forall_args", &read, &s->args));
    const uf_forall_args *a = read;
    s->options = (uf_options){.size = sizeof s->options,
                              .stream = a->stream,
                              .signature = a->signature,
                              .threads = a->threads,
                              .flags = a->flags,
                              .block = a->block,
                              .elements = a->elements,
                              .cancel = a->cancel,
                              .progress = a->progress};
    *args = a;
    return UF_OK;
}

uf_status uf_forall_with(const uf_func *kernel, int ndim, const int64_t *extents, const uf_forall_args *args) {
    forall_settings s;
    TRY(forall_read(&args, &s));
    return uf_forall(kernel, ndim, extents, s.args.count, s.args.arrays, &s.options);
}

uf_status uf_forall_plan_with(uf_plan **out, const uf_func *kernel, int ndim, const int64_t *extents,
                              const uf_forall_args *args) {
    TRY(plan_out(out));
    forall_settings s;
    TRY(forall_read(&args, &s));
    return uf_forall_plan(out, kernel, ndim, extents, s.args.count, s.args.arrays, &s.options);
}
