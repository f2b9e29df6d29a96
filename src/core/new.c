/* new.c - uf_new and its like: the outputs of a call that has not been made, inferred from its inputs and allocated. */
#include "core/core.h"

/* What a verb infers its outputs by. */
typedef struct inference {
    uf_status (*infer)(const struct inference *x, int nargs, DLTensor *args);
    const uf_func *func;
    int axis;
    const uf_options *options;
    const uf_reduce_options *reduce_options;
} inference;

static uf_status call_infer(const inference *x, int nargs, DLTensor *args) {
    return uf_infer(x->func, nargs, args, x->options);
}

static uf_status reduce_infer(const inference *x, int nargs, DLTensor *args) {
    return uf_reduce_infer(x->func, nargs, args, x->reduce_options);
}

static uf_status accumulate_infer(const inference *x, int nargs, DLTensor *args) {
    return uf_accumulate_infer(x->func, nargs, args, x->axis, x->options);
}

/* Where the inputs are. A 0-d array in host memory says nothing, since it may go to any device. */
static uf_status device_of(int nin, const DLTensor *inputs, DLDevice *out) {
    placement p = placement_none;
    for (int k = 0; k < nin; k++)
        if (!is_number_array(NULL, k, &inputs[k]))
            TRY(place(&p, &inputs[k], k));
    bool managed = p.managed != PLACEMENT_NOBODY && p.host == PLACEMENT_NOBODY;
    *out = p.cuda != PLACEMENT_NOBODY ? (DLDevice){kDLCUDA, p.device}
           : managed                  ? (DLDevice){kDLCUDA, p.managed_device}
                                      : (DLDevice){kDLCPU, 0};
    return UF_OK;
}

/* Makes the outputs, and releases those made before one that fails. */
static uf_status outputs_make(DLManagedTensor **out, DLDevice device, int nout, const DLTensor *like) {
    uf_status s = UF_OK;
    int made = 0;
    for (; made < nout && !s; made++)
        s = uf_empty(&out[made], device, like[made].dtype, like[made].ndim, like[made].shape);
    for (int k = 0; k < made && s; k++)
        if (out[k]) {
            out[k]->deleter(out[k]);
            out[k] = NULL;
        }
    return s;
}

static uf_status inferred_make(DLManagedTensor **out, int nin, const DLTensor *inputs, const inference *x) {
    int nout = x->func->nout;
    struct room {
        DLTensor args[2 * UF_MAX_OPERANDS];
        int64_t shape[][UF_MAX_NDIM];
    } *room = mem_alloc(sizeof *room + (size_t)nout * sizeof *room->shape);
    DLDevice device;
    if (!room)
        return fail_memory();
    if (nin)
        memcpy(room->args, inputs, (size_t)nin * sizeof *inputs);
    for (int k = 0; k < nout; k++)
        room->args[nin + k] = (DLTensor){.shape = room->shape[k]};
    uf_status s = x->infer(x, nin + nout, room->args);
    s = s ? s : device_of(nin, inputs, &device);
    s = s ? s : outputs_make(out, device, nout, room->args + nin);
    mem_free(room);
    return s;
}

uf_status outputs_out(DLManagedTensor **out, const uf_func *func) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    TRY(func_check(func));
    for (int k = 0; k < func->nout; k++)
        out[k] = NULL;
    return UF_OK;
}

static uf_status outputs_new(DLManagedTensor **out, int nin, const DLTensor *inputs, const inference *x) {
    TRY(outputs_out(out, x->func));
    if (nin < 0 || nin > UF_MAX_OPERANDS)
        return fail(UF_ERR_ARGUMENT, "nin is %d; 0 to %d are possible", nin, UF_MAX_OPERANDS);
    if (nin && !inputs)
        return fail(UF_ERR_ARGUMENT, "inputs is NULL");
    return inferred_make(out, nin, inputs, x);
}

uf_status uf_new(DLManagedTensor **out, const uf_func *func, int nin, const DLTensor *inputs,
                 const uf_options *options) {
    return outputs_new(out, nin, inputs, &(inference){.infer = call_infer, .func = func, .options = options});
}

uf_status uf_reduce_new(DLManagedTensor **out, const uf_func *func, int nin, const DLTensor *inputs,
                        const uf_reduce_options *options) {
    return outputs_new(out, nin, inputs, &(inference){.infer = reduce_infer, .func = func, .reduce_options = options});
}

uf_status uf_accumulate_new(DLManagedTensor **out, const uf_func *func, int nin, const DLTensor *inputs, int axis,
                            const uf_options *options) {
    return outputs_new(out, nin, inputs,
                       &(inference){.infer = accumulate_infer, .func = func, .axis = axis, .options = options});
}
