/* stage.c - UF_STAGE: copies host arrays to a device, computes there, and copies the results back. */
#include "core/core.h"

typedef struct staged {
    DLManagedTensor *temp[VARIANT_OPERANDS]; /* NULL: the argument itself is used */
    DLTensor args[VARIANT_OPERANDS];
    int64_t strides[VARIANT_OPERANDS][UF_MAX_NDIM];
} staged;

static bool on_device(const DLTensor *t) {
    int type = (int)t->device.device_type;
    return type == kDLCUDA || type == kDLCUDAManaged;
}

static bool stays(const uf_func *f, int k, const DLTensor *t) { return on_device(t) || is_number(f, k, t); }

/* Makes a device array for t, and copies the content if asked to. An input that repeats along a dimension (stride 0)
 * has that dimension once on the device, and repeats there too. */
static uf_status stage_one(staged *s, int k, const DLTensor *t, bool output, bool content, const uf_options *options) {
    int64_t held[UF_MAX_NDIM], dense = 1;
    DLTensor from = *t, *to = &s->args[k];
    from.shape = held;
    for (int d = 0; d < t->ndim; d++)
        held[d] = !output && t->strides && t->strides[d] == 0 && t->shape[d] > 1 ? 1 : t->shape[d];
    TRY(uf_empty(&s->temp[k], options->device, t->dtype, t->ndim, held));
    *to = s->temp[k]->dl_tensor;
    if (content)
        TRY(uf_copy(to, &from, options->stream));
    for (int d = t->ndim - 1; d >= 0; dense *= held[d--])
        s->strides[k][d] = held[d] == t->shape[d] ? dense : 0;
    to->shape = t->shape;
    to->strides = s->strides[k];
    return UF_OK;
}

/* Checks that no output on the host has two elements at one address. Their copies on the device would not, so that
 * the call itself would not notice. */
static uf_status outputs_check(const uf_func *f, int nargs, const DLTensor *args) {
    for (int k = f->nin; k < nargs; k++) {
        if (on_device(&args[k]))
            continue;
        TRY(output_writable(&args[k], k));
        nd_array one = {.data = (char *)args[k].data,
                        .shape = args[k].shape,
                        .strides = args[k].strides,
                        .ndim = args[k].ndim,
                        .size = (uint8_t)(args[k].dtype.bits / 8),
                        .output = true};
        void *space = mem_alloc(nd_space(one.ndim, 1));
        nd_loop loop;
        if (!space)
            return fail_memory();
        uf_status s = nd_plan(&one, 1, 0, 0, space, &loop);
        bool overlaps = !s && nd_self_overlap(&loop, 0);
        mem_free(space);
        TRY(s);
        if (overlaps)
            return fail_argument(UF_ERR_ARGUMENT, k, -1, "is an output with two elements at one address");
    }
    return UF_OK;
}

static uf_status stage_all(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options, staged *s) {
    for (int k = 0; k < nargs; k++) {
        /* An output whose call may leave elements unwritten keeps what they were, so its content is copied to the
         * device as well. */
        bool output = k >= f->nin, keeps = options->where || f->layout || func_reports(f, true, options->cancel);
        if (stays(f, k, &args[k]))
            s->args[k] = args[k];
        else
            TRY(stage_one(s, k, &args[k], output, !output || keeps, options));
    }
    if (options->where) {
        if (on_device(options->where))
            s->args[nargs] = *options->where;
        else
            TRY(stage_one(s, nargs, options->where, false, true, options));
    }
    return UF_OK;
}

static uf_status stage_run(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options, staged *s) {
    TRY(stage_all(f, nargs, args, options, s));
    uf_options inner = *options;
    inner.flags &= ~(unsigned)UF_STAGE;
    inner.where = options->where ? &s->args[nargs] : NULL;
    TRY(uf_call(f, nargs, s->args, &inner));
    uf_status said = UF_OK;
    for (int k = f->nin; k < nargs; k++) {
        uf_status copied = s->temp[k] ? uf_copy(&args[k], &s->args[k], options->stream) : UF_OK;
        /* That error is what the kernel reports, and the copy has been made all the same. */
        if (copied && copied != UF_ERR_KERNEL)
            return copied;
        said = said ? said : copied;
    }
    return said;
}

uf_status stage_call(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options) {
    TRY(args_match(f, nargs, args, options));
    if ((int)options->device.device_type != kDLCUDA)
        return fail(UF_ERR_ARGUMENT,
                    "UF_STAGE needs options->device to be a CUDA device; DLPack device type %d was given",
                    (int)options->device.device_type);
    for (int k = 0; k < nargs; k++)
        TRY(array_check(&args[k], k, func_takes_records(f) ? ARGS_LANES : 0));
    if (options->where)
        TRY(array_check(options->where, -1, 0));
    TRY(outputs_check(f, nargs, args));

    staged *s = mem_zero(1, sizeof *s);
    if (!s)
        return fail_memory();
    uf_status status = stage_run(f, nargs, args, options, s);
    uf_error first = *error_slot();
    uf_status synced = engines[ENGINE_CUDA]->sync(options->device.device_id, options->stream);
    if (status)
        *error_slot() = first;
    for (int k = 0; k < VARIANT_OPERANDS; k++)
        if (s->temp[k])
            s->temp[k]->deleter(s->temp[k]);
    mem_free(s);
    return status ? status : synced;
}
