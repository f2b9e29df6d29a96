/* args.c - the arguments of a call, one by one: dtypes, devices, numbers; then where the call runs. */
#include <stdio.h>

#include "core/core.h"

/* Arguments count from 0. The mask is argument MASK, as in nd_check and nd_fail. */
enum {
    MASK = ND_MASK,
    NOBODY = PLACEMENT_NOBODY
};

static uf_status dtype_fail(const DLTensor *t, int argument) {
    if (!t->dtype.lanes && !t->dtype.bits)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its dtype is not set: it has 0 bits and 0 lanes");
    if (t->dtype.lanes != 1)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1,
                       "its dtype has %d lanes; 1 is needed, but where the signature, which may be that of "
                       "uf_options.signature, names a record",
                       t->dtype.lanes);
    return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its dtype (DLPack code %d, %d bits) is none of the fifteen",
                   t->dtype.code, t->dtype.bits);
}

static inline uf_status dtype_read(const DLTensor *t, int argument, dtype *out) {
    *out = dtype_of_dl(t->dtype);
    return *out != DT_NONE ? UF_OK : dtype_fail(t, argument);
}

static uf_status device_check(const DLTensor *t, int argument) {
    switch ((int)t->device.device_type) {
    case kDLCUDA:
    case kDLCUDAManaged:
        if (t->device.device_id < 0)
            return nd_fail(UF_ERR_DEVICE, argument, -1, "has device_id %d; devices count from 0", t->device.device_id);
        return UF_OK;
    case kDLCPU:
    case kDLCUDAHost:
        return UF_OK;
    default:
        return nd_fail(UF_ERR_DEVICE, argument, -1,
                       "has DLPack device type %d; kDLCPU, kDLCUDA, kDLCUDAHost and kDLCUDAManaged are known",
                       (int)t->device.device_type);
    }
}

uf_status array_check(const DLTensor *t, int argument, unsigned how) {
    dtype type;
    DLTensor one = *t;
    int lanes = how & ARGS_LANES && t->dtype.lanes ? t->dtype.lanes : 1;
    if (lanes > 1)
        one.dtype.lanes = 1;
    TRY(dtype_read(&one, argument, &type));
    TRY(device_check(t, argument));
    return nd_check(t, argument, dtypes[type].size * lanes, dtypes[type].align, !(how & ARGS_LASTING));
}

const placement placement_none = {NOBODY, NOBODY, NOBODY, NOBODY, 0, 0};

/* "argument 2" or "where". */
static const char *who(int argument, char name[32]) {
    snprintf(name, 32, argument == MASK ? "where" : "argument %d", argument);
    return name;
}

uf_status place(placement *p, const DLTensor *t, int argument) {
    char name[32];
    int *first;
    switch ((int)t->device.device_type) {
    case kDLCPU:
        first = &p->host;
        break;
    case kDLCUDA:
        if (p->cuda != NOBODY && t->device.device_id != p->device)
            return nd_fail(UF_ERR_DEVICE, argument, -1, "is on CUDA device %d, but %s is on device %d",
                           t->device.device_id, who(p->cuda, name), p->device);
        first = &p->cuda;
        p->device = t->device.device_id;
        break;
    case kDLCUDAHost:
        first = &p->pinned;
        break;
    case kDLCUDAManaged:
        first = &p->managed;
        if (p->managed == NOBODY)
            p->managed_device = t->device.device_id;
        break;
    default:
        return device_check(t, argument);
    }
    if (*first == NOBODY)
        *first = argument;
    return UF_OK;
}

/* UF_STAGE only gets here where outputs are inferred: a call under it has its arrays copied to one device first. So
 * arrays in host and in device memory may then be mixed. */
uf_status place_decide(const placement *p, unsigned flags, call_args *a) {
    char name[32];
    bool cuda = p->cuda != NOBODY, managed_only = p->managed != NOBODY && p->host == NOBODY;
    if (cuda && p->host != NOBODY && !(flags & UF_STAGE))
        return nd_fail(UF_ERR_DEVICE, p->host, -1,
                       "is in host memory, but %s is on CUDA device %d; copy one of them (uf_copy), or ask for staging "
                       "(UF_STAGE)",
                       who(p->cuda, name), p->device);
    a->key.engine = a->engine = cuda || managed_only ? ENGINE_CUDA : ENGINE_CPU;
    a->key.device = a->device = cuda ? p->device : managed_only ? p->managed_device : 0;
    if (a->device < 0)
        return nd_fail(UF_ERR_DEVICE, cuda ? p->cuda : p->managed, -1, "has device_id %d; devices count from 0",
                       a->device);
    return UF_OK;
}

const int64_t uf_number_shape[1] = {0};

uf_status output_writable(const DLTensor *t, int argument) {
    if (t->shape == uf_number_shape)
        return nd_fail(
            UF_ERR_ARGUMENT, argument, -1,
            "is a number (UF_SCALAR), a copy that nobody would see the result in; UF_OUT(variable) is an output");
    return UF_OK;
}

/* Reads one array or number. */
static uf_status array_read(const DLTensor *t, int argument, dtype type, bool output, unsigned how, nd_array *out) {
    const dtype_info *info = &dtypes[type];
    TRY(nd_check(t, argument, info->size, info->align, !(how & (ARGS_NO_DATA | ARGS_LASTING | ARGS_EMPTY))));
    if (output)
        TRY(output_writable(t, argument));
    out->data = t->data ? (char *)t->data + t->byte_offset : NULL;
    out->shape = t->shape;
    out->strides = t->strides;
    out->ndim = t->ndim;
    out->size = info->size;
    out->output = output;
    out->number = false;
    out->mask = argument == MASK;
    out->role = ND_ELEMENTS;
    out->core = 0;
    return UF_OK;
}

static uf_status mask_read(const DLTensor *where, unsigned how, placement *p, nd_array *out) {
    dtype type;
    TRY(dtype_read(where, MASK, &type));
    if (type != DT_BOOL)
        return fail(UF_ERR_ARGUMENT, "where: the dtype is %s; bool is needed", dtypes[type].name);
    TRY(array_read(where, MASK, type, false, how, out));
    return place(p, where, MASK);
}

uf_status args_count(const char *verb, const char *name, int nin, int nout, int nargs, const DLTensor *args) {
    const char *of = *verb ? " of " : "";
    if (nargs != nin + nout)
        return fail(UF_ERR_ARGUMENT, "%s%s%s takes %d input%s and %d output%s, but got %d argument%s", verb, of, name,
                    nin, nin == 1 ? "" : "s", nout, nout == 1 ? "" : "s", nargs, nargs == 1 ? "" : "s");
    if (!args)
        return fail(UF_ERR_ARGUMENT, "%s%s%s: args is NULL", verb, of, name);
    return UF_OK;
}

uf_status func_check(const uf_func *f) {
    if (!f)
        return fail(UF_ERR_ARGUMENT, "func is NULL");
    if (is_kernel(f))
        return fail(UF_ERR_ARGUMENT, "%s is a kernel over indices; uf_forall runs it", f->name);
    return UF_OK;
}

uf_status args_match(const uf_func *f, int nargs, const DLTensor *args, const uf_options *options) {
    TRY(func_check(f));
    if (f->reduction)
        return fail(UF_ERR_ARGUMENT, "%s is a reduction; uf_reduce, uf_accumulate and uf_reduceat run it", f->name);
    TRY(args_count("", f->name, f->nin, f->nout, nargs, args));
    if (options->axes && !f->layout)
        return fail(UF_ERR_ARGUMENT, "%s has no core dimensions; uf_options.axes is for functions that have some",
                    f->name);
    if (options->where && f->layout)
        return fail(UF_ERR_ARGUMENT, "%s has core dimensions, %s; a mask (where) needs a function without", f->name,
                    f->layout_text);
    return UF_OK;
}

int args_rank(const call_args *a) {
    int ndim = 0;
    for (int k = 0; k < a->narrays; k++)
        if (a->array[k].ndim > ndim)
            ndim = a->array[k].ndim;
    return ndim;
}

uf_status output_check(int k, dtype type, int ndim, int64_t *shape) {
    const DLTensor dense = {.ndim = ndim, .shape = shape};
    return nd_check(&dense, k, dtypes[type].size, dtypes[type].align, false);
}

/* There is room for the shapes of outputs that are to be inferred. */
static uf_status storage_check(int nin, int nargs, const DLTensor *args) {
    for (int k = nin; k < nargs; k++)
        if (!args[k].shape)
            return fail_argument(UF_ERR_ARGUMENT, k, -1, "shape is NULL; storage for UF_MAX_NDIM extents is needed");
    return UF_OK;
}

uf_status args_take(int nin, int nargs, const DLTensor *args, const core_layout *layout, const uf_options *options,
                    unsigned how, call_args *out, void **data) {
    placement p = placement_none;
    out->nin = nin;
    out->nargs = how & ARGS_NO_OUTPUTS ? nin : nargs;
    out->stream = options->stream;
    for (int k = 0; k < out->nargs; k++) {
        dtype type;
        TRY(dtype_read(&args[k], k, &type));
        TRY(array_read(&args[k], k, type, k >= nin, how, &out->array[k]));
        out->array[k].number = k < nin && !(how & ARGS_ARRAYS) && is_number_array(layout, k, &args[k]);
        out->key.type[k] = (uint8_t)(type | (out->array[k].number ? BINDING_NUMBER : 0));
        data[k] = out->array[k].data;
        if (out->array[k].number && how & ARGS_LASTING)
            out->array[k].data = NULL; /* the plan's runs read it; what it is at this time decides nothing */
        /* Host arrays after the first one say nothing that is not known yet. */
        bool known = p.host != NOBODY && args[k].device.device_type == kDLCPU;
        if (!out->array[k].number && !known)
            TRY(place(&p, &args[k], k));
    }
    out->narrays = out->nargs;
    if (options->where) {
        nd_array *mask = &out->array[out->narrays];
        TRY(mask_read(options->where, how, &p, mask));
        data[out->narrays++] = mask->data;
    }
    TRY(place_decide(&p, options->flags, out));
    if (how & ARGS_NO_OUTPUTS)
        TRY(storage_check(nin, nargs, args));
    out->key.casting = (int32_t)options->casting;
    out->key.flags = (int32_t)(options->flags & (UF_FIRST_MATCH | UF_STRONG_NUMBERS));
    out->key.forced = 0;
    out->key.verb = VERB_CALL;
    out->key.ndim = 0;
    return UF_OK;
}
