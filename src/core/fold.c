/* fold.c - uf_reduce, uf_accumulate and uf_reduceat: from arrays to launches. A call is one launch; or two, where the elements
 * of a result are divided in parts: the first leaves a state for each part in scratch memory, the second combines them. */
#include "core/core.h"

enum {
    SPACE_WORDS = 320,  /* on the stack: the loops of 8 operands of rank 8, twice */
    PIECES_MOST = 5,    /* of that, where it does not do: loops of the call, of both launches, shapes, bounds */
    SCRATCH_ALIGN = 256 /* of each piece of a call's scratch memory */
};

/* What differs between the verbs. */
typedef struct fold_verb {
    const char *name, *options;
    unsigned flags; /* of nd_fold_plan */
    loop_class loop;
    bool segmented;
} fold_verb;

static const fold_verb reduce_verb = {.name = "uf_reduce", .options = "uf_reduce_options", .loop = LOOP_FOLD},
                       accumulate_verb = {.name = "uf_accumulate",
                                          .options = "uf_options",
                                          .flags = ND_SCAN,
                                          .loop = LOOP_SCAN},
                       reduceat_verb = {
                           .name = "uf_reduceat", .options = "uf_options", .loop = LOOP_FOLD, .segmented = true};

/* ---- Memory on the host: on the stack as far as it goes ---- */

typedef struct workspace {
    size_t used;
    int nblocks;
    void *block[PIECES_MOST];
    int64_t words[SPACE_WORDS];
} workspace;

/* Uninitialised, 8-byte aligned; NULL when out of memory. At most PIECES_MOST a call. */
static void *space_take(workspace *s, size_t size) {
    size_t words = (size + 7) / 8;
    if (words <= SPACE_WORDS - s->used) {
        s->used += words;
        return s->words + s->used - words;
    }
    void *block = mem_alloc(size);
    if (block)
        s->block[s->nblocks++] = block;
    return block;
}

static void space_free(workspace *s) {
    while (s->nblocks > 0)
        mem_free(s->block[--s->nblocks]);
}

/* ---- Calls ---- */

/* One launch. Its operands are inputs, outputs, mask, bounds, initial values, position: as many as its variant has. */
typedef struct stage {
    nd_fold loops;
    variant v;
    const code *code;
    int64_t chunk, chunk_stride;
    char *address[VARIANT_OPERANDS]; /* of element 0, then of the first element in loop order */
    uint64_t numbers[VARIANT_OPERANDS][2];
} stage;

typedef struct fold_call {
    const uf_func *func;
    const fold_verb *verb;
    const uf_reduce_options *options;
    const DLTensor *starts; /* uf_reduceat */
    const binding *binding;
    const fold *fold;
    unsigned flags;      /* of nd_fold_plan */
    call_args a;         /* with what else the first launch has as operands, in their order */
    stage first, second; /* the second combines parts, if there are any */
    int64_t parts;       /* of each result; 0: one launch does it */
    int64_t extent;      /* of the axis, where there is one */
    int64_t nsegments;
    int64_t *bounds; /* of segments, where the starts are on the host */
    bool starts_on_device;
    /* Scratch memory, in bytes: the parts' states, then the bounds, then what a launch takes. */
    size_t state_at[UF_MAX_STATE + 1], bounds_at, launch_at, scratch_size;
    workspace space;
} fold_call;

static const engine *engine_of(const fold_call *c) { return engines[c->a.engine]; }

static int states_of(const fold_call *c) { return c->fold->nstate + c->first.v.counted; }
static dtype state_type(const fold_call *c, int k) { return k < c->fold->nstate ? c->fold->state[k] : DT_INT64; }

static uf_status loops_space(fold_call *c, int ndim, int narrays, void **out) {
    *out = space_take(&c->space, nd_fold_space(ndim, narrays));
    return *out ? UF_OK : fail_memory();
}

/* ---- Arguments ---- */

static uf_status call_read(fold_call *c, int nargs, const DLTensor *args, unsigned how) {
    const uf_reduce_options *o = c->options;
    const uf_options seen = {
        .size = sizeof seen, .stream = o->stream, .casting = o->casting, .where = o->where, .flags = o->flags};
    int nin, nout;
    TRY(func_check(c->func));
    TRY(fold_arity(c->func, c->verb->name, &nin, &nout));
    TRY(args_count(c->verb->name, c->func->name, nin, nout, nargs, args));
    TRY(args_take(nin, nargs, args, NULL, &seen, how, &c->a));
    TRY(fold_find(c->func, &c->a, o->casting, o->signature, o->flags, &c->binding));
    c->fold = c->binding->fold;
    c->flags = c->verb->flags | (o->keepdims ? ND_KEEPDIMS : 0) | (c->fold->order ? ND_KEEP_ORDER : 0);
    for (int k = nin; k < c->a.nargs; k++)
        c->a.array[k].role = ND_RESULTS;
    return UF_OK;
}

/* ---- The operands that are no arguments ---- */

static void operand_add(fold_call *c, nd_array array) { c->a.array[c->a.narrays++] = array; }

static uf_status initial_fail(uf_status status, int k, const char *why) {
    return fail(status, "initial value %d: %s", k, why);
}

static uf_status initial_read(fold_call *c, int k, uint64_t *words) {
    const DLTensor *t = &c->options->initial[k];
    dtype from = dtype_of_dl(t->dtype), to = c->fold->state[k];
    int device = (int)t->device.device_type;
    if (from == DT_NONE)
        return initial_fail(UF_ERR_ARGUMENT, k, "its dtype is none of the fifteen");
    if (t->ndim != 0)
        return fail(UF_ERR_ARGUMENT, "initial value %d: its rank is %d, but must be 0", k, t->ndim);
    if (device != kDLCPU && device != kDLCUDAHost)
        return initial_fail(UF_ERR_DEVICE, k, "it is not in host memory");
    if (!t->data)
        return initial_fail(UF_ERR_ARGUMENT, k, "its data is NULL");
    bool integers = dtype_is_integer(from) && dtype_is_integer(to); /* need to fit, no more */
    if (!integers && !dtype_can_cast(from, to, UF_CAST_SAME_KIND))
        return fail(UF_ERR_CAST, "initial value %d: is %s, which does not cast to %s, the state's, under the rule %s",
                    k, dtypes[from].name, dtypes[to].name, casting_name(UF_CAST_SAME_KIND));
    return number_convert("initial value", k, from, (const char *)t->data + t->byte_offset, to, false, words);
}

static uf_status initial_add(fold_call *c) {
    for (int k = 0; c->options->initial && k < c->fold->nstate; k++) {
        TRY(initial_read(c, k, c->first.numbers[c->a.narrays]));
        operand_add(c, (nd_array){.number = true, .size = dtypes[c->fold->state[k]].size});
    }
    return UF_OK;
}

/* Begins and ends are one array, shifted. */
static void bounds_add(fold_call *c) {
    for (int k = 0; c->verb->segmented && k < 2; k++)
        operand_add(c, (nd_array){.shape = &c->nsegments, .ndim = 1, .size = sizeof(int64_t), .role = ND_BOUNDS});
}

static void position_add(fold_call *c) {
    if (c->fold->takes_position)
        operand_add(c, (nd_array){.role = ND_POSITION});
}

/* ---- Segments ---- */

static uf_status starts_check(fold_call *c) {
    const DLTensor *t = c->starts;
    if (!t)
        return fail(UF_ERR_ARGUMENT, "starts is NULL");
    TRY(array_check(t, ND_STARTS));
    dtype type = dtype_of_dl(t->dtype);
    int device = (int)t->device.device_type;
    if (!dtype_is_integer(type))
        return nd_fail(UF_ERR_ARGUMENT, ND_STARTS, -1, "its dtype is %s; an integer is needed", dtypes[type].name);
    if (t->ndim != 1)
        return nd_fail(UF_ERR_SHAPE, ND_STARTS, -1, "its rank is %d, but must be 1", t->ndim);
    c->nsegments = t->shape[0];
    c->starts_on_device = device == kDLCUDA || (device == kDLCUDAManaged && c->a.engine == ENGINE_CUDA);
    if (c->starts_on_device && c->a.engine == ENGINE_CPU)
        return nd_fail(UF_ERR_DEVICE, ND_STARTS, -1, "is on CUDA device %d, but the arrays are in host memory",
                       t->device.device_id);
    if (c->starts_on_device && t->device.device_id != c->a.device)
        return nd_fail(UF_ERR_DEVICE, ND_STARTS, -1, "is on CUDA device %d, but the arrays are on device %d",
                       t->device.device_id, c->a.device);
    return UF_OK;
}

/* Element i as an int64; what is beyond becomes INT64_MAX. */
static int64_t start_at(const DLTensor *t, dtype type, int64_t i) {
    int64_t stride = t->strides && t->shape[0] != 1 ? t->strides[0] : 1;
    number n = number_read(type, (const char *)t->data + t->byte_offset + i * stride * dtypes[type].size);
    return dtypes[type].is_signed || n.as.u < INT64_MAX ? n.as.i : INT64_MAX;
}

/* Starts on the host: the bounds, of which the last is the extent. */
static uf_status bounds_read(fold_call *c) {
    const DLTensor *t = c->starts;
    int64_t extent = c->extent;
    dtype type = dtype_of_dl(t->dtype);
    int64_t *bounds = space_take(&c->space, (size_t)(c->nsegments + 1) * sizeof *bounds);
    if (!bounds)
        return fail_memory();
    for (int64_t i = 0; i < c->nsegments; i++) {
        bounds[i] = start_at(t, type, i);
        if (bounds[i] < 0 || bounds[i] >= extent)
            return nd_fail(UF_ERR_ARGUMENT, ND_STARTS, -1,
                           bounds[i] == INT64_MAX ? "element %lld is beyond int64, but the axis has %lld elements"
                                                  : "element %lld is %lld, but must be from 0 to %lld",
                           (long long)i, (long long)(bounds[i] == INT64_MAX ? extent : bounds[i]),
                           (long long)extent - 1);
    }
    bounds[c->nsegments] = extent;
    c->bounds = bounds;
    return UF_OK;
}

static uf_status starts_read(fold_call *c) {
    TRY(starts_check(c));
    return c->starts_on_device ? UF_OK : bounds_read(c);
}

/* ---- Laying the launches ---- */

static uf_status axes_find(fold_call *c, uint64_t *axes) {
    int64_t shape[UF_MAX_NDIM];
    int ndim;
    TRY(nd_fold_shape(c->a.array, c->a.narrays, &ndim, shape));
    TRY(nd_axes(c->options->naxes, c->options->axes, ndim, axes));
    c->extent = *axes ? shape[__builtin_ctzll(*axes)] : 1;
    return UF_OK;
}

static void operand_set(stage *s, int k, int memory, int value) {
    s->v.operand[k] =
        (variant_operand){.memory = (uint8_t)memory, .value = (uint8_t)value, .kind = s->loops.kept.kind[k]};
}

/* Of folds, scans and reduceat (variant.reports). */
static uint8_t reports_of(const fold_call *c) {
    return func_reports_steps(c->func, c->binding->traits.unbounded, c->options->cancel);
}

/* The variant of the first launch, as far as the call decides it. */
static void variant_fill(fold_call *c) {
    stage *s = &c->first;
    variant *v = &s->v;
    const fold *f = c->fold;
    int k = c->a.nargs;
    memset(v, 0, offsetof(variant, operand) + (size_t)c->a.narrays * sizeof v->operand[0]);
    v->loop = (uint8_t)c->verb->loop;
    v->reports = reports_of(c);
    v->nin = (uint8_t)c->a.nin;
    v->nout = (uint8_t)(c->a.nargs - c->a.nin);
    v->masked = c->options->where != NULL;
    v->segmented = c->verb->segmented;
    v->ninitial = (uint8_t)(c->options->initial ? f->nstate : 0);
    v->position = f->takes_position;
    v->empty = s->loops.reduced.count == 0;
    code_items(v, &c->binding->traits);
    for (int i = 0; i < k; i++)
        operand_set(s, i, c->a.array[i].number ? c->binding->types[i] : c->a.key.type[i], c->binding->types[i]);
    if (v->masked)
        operand_set(s, k++, DT_BOOL, DT_BOOL);
    for (int i = 0; i < 2 * v->segmented; i++)
        operand_set(s, k++, DT_INT64, DT_INT64);
    for (int i = 0; i < v->ninitial; i++)
        operand_set(s, k++, f->state[i], f->state[i]);
    if (v->position)
        operand_set(s, k, DT_INT64, DT_INT64);
}

/* Reducing nothing needs an identity or initial values, even if there is no result; so does a mask, which may leave nothing. */
static uf_status emptiness_check(const fold_call *c) {
    if (c->fold->identity || c->options->initial || c->verb != &reduce_verb)
        return UF_OK;
    if (c->first.loops.reduced.count == 0)
        return fail(UF_ERR_ARGUMENT, "%s: no elements to reduce, and %s has no identity; initial values are needed",
                    c->verb->name, c->func->name);
    if (c->options->where)
        return fail(UF_ERR_ARGUMENT,
                    "%s: a mask (where) may leave no elements, and %s has no identity; initial values are needed",
                    c->verb->name, c->func->name);
    return UF_OK;
}

static uf_status outputs_check_overlap(const fold_call *c) {
    for (int k = c->a.nin; k < c->a.nargs; k++)
        if (nd_fold_self_overlap(&c->first.loops, k))
            return fail_argument(UF_ERR_ARGUMENT, k, -1,
                                 "is an output with two elements at one address (or its strides are too many to tell)");
    return UF_OK;
}

static int64_t stage_specialise(const fold_call *c, stage *s, bool whole) {
    return engine_of(c)->specialise_fold(
        &s->v,
        &(fold_problem){.loops = &s->loops, .traits = &c->binding->traits, .device = c->a.device, .whole = whole});
}

static launch stage_launch(const fold_call *c, const stage *s) {
    return (launch){.v = &s->v,
                    .loop = &s->loops.kept,
                    .data = s->address,
                    .numbers = (const uint64_t(*)[2])s->numbers,
                    .device = c->a.device,
                    .stream = c->a.stream,
                    .threads = c->options->threads,
                    .cancel = c->options->cancel,
                    .name = c->func->name,
                    .source = "",
                    .reduced = &s->loops.reduced,
                    .chunk = s->chunk,
                    .chunk_stride = s->chunk_stride,
                    .elements = c->first.loops.reduced.count};
}

/* ---- Parts ---- */

/* The operands of the first launch once it writes states: from which of its operands before each is, or -1. */
static int states_operands(const variant *v, int states, int *of) {
    int n = 0;
    for (int k = 0; k < v->nin; k++)
        of[n++] = k;
    for (int k = 0; k < states; k++)
        of[n++] = -1;
    if (v->masked)
        of[n++] = variant_mask(v);
    if (v->position)
        of[n++] = variant_position(v);
    return n;
}

static char *from_element_0(char *data, int64_t offset, int64_t size) {
    return data ? (char *)((uintptr_t)data + (uintptr_t)(offset * size)) : NULL;
}

/* The arrays of the second launch, over the results in the order of the first one's loop and the parts: states, outputs,
 * initial values. `words` holds their shape, and strides. */
static int second_arrays(const fold_call *c, const nd_fold *whole, int64_t *words, nd_array *arrays) {
    const nd_loop *kept = &whole->kept;
    int nd = kept->ndim, n = 0, states = states_of(c);
    int64_t *shape = words, *strides = words + nd + 1, dense = c->parts;
    shape[nd] = c->parts;
    strides[nd] = c->first.chunk_stride;
    for (int d = 0; d < nd; d++) {
        shape[nd - 1 - d] = kept->extent[d];
        strides[nd - 1 - d] = dense;
        dense *= kept->extent[d];
    }
    for (int k = 0; k < states; k++)
        arrays[n++] =
            (nd_array){.shape = shape, .strides = strides, .ndim = nd + 1, .size = dtypes[state_type(c, k)].size};
    for (int k = c->a.nin; k < c->a.nargs; k++) {
        strides += nd + 1;
        for (int d = 0; d < nd; d++)
            strides[nd - 1 - d] = kept->stride[d * kept->narrays + k];
        arrays[n++] = (nd_array){.shape = shape,
                                 .strides = strides,
                                 .ndim = nd,
                                 .size = c->a.array[k].size,
                                 .output = true,
                                 .role = ND_RESULTS};
    }
    for (int k = 0; c->options->initial && k < c->fold->nstate; k++)
        arrays[n++] = (nd_array){.number = true};
    return n;
}

/* The second launch: states to results. */
static uf_status second_lay(fold_call *c, const nd_fold *whole, const variant *was) {
    stage *s = &c->second;
    variant *v = &s->v;
    nd_array arrays[VARIANT_OPERANDS];
    int nd = whole->kept.ndim, states = states_of(c), nout = c->a.nargs - c->a.nin;
    void *space;
    int64_t *words = space_take(&c->space, (size_t)((nd + 1) * (nout + 2)) * sizeof *words);
    if (!words)
        return fail_memory();
    int n = second_arrays(c, whole, words, arrays);
    TRY(loops_space(c, nd + 1, n, &space));
    TRY(nd_fold_plan(arrays, n, (uint64_t)1 << nd, c->flags & ND_KEEP_ORDER, space, &s->loops));
    memset(v, 0, offsetof(variant, operand) + (size_t)n * sizeof v->operand[0]);
    v->loop = LOOP_FOLD;
    v->reports = reports_of(c);
    v->nin = (uint8_t)states;
    v->nout = was->nout;
    v->ninitial = was->ninitial;
    v->sparse = was->sparse;
    v->counted = was->counted;
    v->from_states = 1;
    for (int k = 0; k < states; k++)
        operand_set(s, k, state_type(c, k), state_type(c, k));
    for (int k = states; k < n; k++) {
        const variant_operand *o =
            &was->operand[k < states + v->nout ? k - states + was->nin : k - states - v->nout + variant_initial(was)];
        operand_set(s, k, o->memory, o->value);
    }
    memcpy(s->numbers[states + v->nout], c->first.numbers[variant_initial(was)], v->ninitial * sizeof *s->numbers);
    stage_specialise(c, s, true);
    return UF_OK;
}

static int64_t parts_of(const nd_fold *whole, int64_t chunk) {
    int64_t total = whole->reduced.count;
    return total / chunk + (total % chunk != 0);
}

static void states_fill(fold_call *c, const variant *was, int n, const int *of) {
    variant *v = &c->first.v;
    v->to_states = 1;
    v->nout = (uint8_t)states_of(c);
    v->ninitial = 0;
    for (int k = 0, state = 0; k < n; k++)
        if (of[k] >= 0) {
            v->operand[k] = was->operand[of[k]];
        } else {
            operand_set(&c->first, k, state_type(c, state), state_type(c, state));
            state++;
        }
}

/* Makes the first launch one that writes a state for each part: [results][parts], so that the second one finds those of a
 * result together. How many there are its specialisation says first, then perhaps its code. */
static uf_status first_divide(fold_call *c, const nd_fold *whole, const variant *was) {
    stage *s = &c->first;
    const engine *e = engine_of(c);
    void *space;
    int of[VARIANT_OPERANDS], n = states_operands(was, states_of(c), of);
    TRY(loops_space(c, whole->kept.ndim + whole->reduced.ndim, n, &space));
    c->parts = parts_of(whole, s->chunk);
    nd_fold_regroup(whole, n, of, c->parts, space, &s->loops);
    s->chunk_stride = 1;
    states_fill(c, was, n, of);
    stage_specialise(c, s, false);
    if (!e->fold_chunk)
        return UF_OK;
    TRY(binding_code(c->func, c->binding, &s->v, &s->code));
    launch l = stage_launch(c, s);
    TRY(e->fold_chunk(s->code, &l, &s->chunk));
    c->parts = parts_of(whole, s->chunk);
    nd_fold_regroup(whole, n, of, c->parts, space, &s->loops);
    return UF_OK;
}

static uf_status parts_lay(fold_call *c) {
    nd_fold whole = c->first.loops;
    variant was = c->first.v;
    for (int k = c->a.nin; k < c->a.nargs; k++) {
        nd_array *a = &c->a.array[k];
        a->data = from_element_0(a->data, whole.kept.offset[k], a->size);
    }
    TRY(first_divide(c, &whole, &was));
    return second_lay(c, &whole, &was);
}

/* ---- Scratch memory ---- */

static bool piece_add(fold_call *c, int64_t count, size_t size, size_t *at) {
    size_t bytes;
    *at = c->scratch_size;
    return !__builtin_mul_overflow((size_t)count, size, &bytes) &&
           !__builtin_add_overflow(c->scratch_size, (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN,
                                   &c->scratch_size);
}

static size_t launch_scratch(const fold_call *c, const stage *s) {
    const engine *e = engine_of(c);
    launch l = stage_launch(c, s);
    return e->fold_scratch ? e->fold_scratch(&l) : 0;
}

/* What the launches take is one piece: the second follows the first. */
static uf_status scratch_lay(fold_call *c) {
    bool fits = true;
    size_t first = launch_scratch(c, &c->first), second = c->parts ? launch_scratch(c, &c->second) : 0;
    c->scratch_size = 0;
    for (int k = 0; c->parts && k < states_of(c); k++) {
        int64_t count;
        fits = fits && !__builtin_mul_overflow(c->first.loops.kept.count, c->parts, &count) &&
               piece_add(c, count, dtypes[state_type(c, k)].size, &c->state_at[k]);
    }
    if (c->verb->segmented && c->a.engine == ENGINE_CUDA)
        fits = fits && piece_add(c, c->nsegments + 1, sizeof(int64_t), &c->bounds_at);
    fits = fits && piece_add(c, 1, first > second ? first : second, &c->launch_at);
    return fits ? UF_OK : fail(UF_ERR_MEMORY, "the states of parts of the results need 2^64 bytes or more");
}

/* Is there nothing to do? Device starts within no elements are all out of range. */
static bool call_is_done(const fold_call *c) {
    const nd_fold *loops = &c->first.loops;
    return loops->kept.count == 0 || (loops->reduced.count == 0 && (c->verb->loop == LOOP_SCAN || c->verb->segmented));
}

/* Decides everything; *done: there is nothing to compute. */
static uf_status call_lay(fold_call *c, bool *done) {
    uint64_t axes;
    void *space;
    stage *s = &c->first;
    TRY(axes_find(c, &axes));
    if (c->verb->segmented)
        TRY(starts_read(c));
    bounds_add(c);
    TRY(initial_add(c));
    position_add(c);
    TRY(loops_space(c, args_rank(&c->a), c->a.narrays, &space));
    TRY(nd_fold_plan(c->a.array, c->a.narrays, axes, c->flags, space, &s->loops));
    TRY(emptiness_check(c));
    *done = call_is_done(c);
    if (*done)
        return UF_OK;
    variant_fill(c);
    TRY(outputs_check_overlap(c));
    s->chunk = stage_specialise(c, s, c->verb->segmented);
    if (s->chunk > 0)
        TRY(parts_lay(c));
    return scratch_lay(c);
}

/* ---- Running: operands ---- */

static uf_status numbers_read(fold_call *c) {
    bool wraps = numbers_wrap(c->options->signature, c->options->casting);
    for (int k = 0; k < c->a.nin; k++)
        if (c->a.array[k].number)
            TRY(argument_convert(k, (dtype)(c->a.key.type[k] & ~BINDING_NUMBER), c->a.array[k].data,
                                 c->binding->types[k], wraps, c->first.numbers[k]));
    return UF_OK;
}

/* The addresses of elements 0. block: the call's scratch memory. */
static void first_addresses(fold_call *c, char *block) {
    stage *s = &c->first;
    const variant *v = &s->v;
    memset(s->address, 0, (size_t)variant_operands(v) * sizeof *s->address);
    for (int k = 0; k < v->nin; k++)
        s->address[k] = c->a.array[k].number ? NULL : c->a.array[k].data;
    for (int k = 0; k < v->nout; k++)
        s->address[v->nin + k] = c->parts ? block + c->state_at[k] : c->a.array[v->nin + k].data;
    if (v->masked)
        s->address[variant_mask(v)] = c->a.array[c->a.nargs].data;
    for (int k = 0; k < 2 * v->segmented; k++)
        s->address[variant_bounds(v) + k] =
            (c->a.engine == ENGINE_CUDA ? block + c->bounds_at : (char *)c->bounds) + (size_t)k * sizeof(int64_t);
}

static void second_addresses(fold_call *c, char *block) {
    stage *s = &c->second;
    const variant *v = &s->v;
    memset(s->address, 0, (size_t)variant_operands(v) * sizeof *s->address);
    for (int k = 0; k < v->nin; k++)
        s->address[k] = block + c->state_at[k];
    for (int k = 0; k < v->nout; k++)
        s->address[v->nin + k] = c->a.array[c->a.nin + k].data;
}

/* From element 0 to the first one in loop order. The position's address is a number. */
static void addresses_move(stage *s) {
    const variant *v = &s->v;
    for (int k = 0; k < variant_operands(v); k++)
        s->address[k] = from_element_0(s->address[k], s->loops.kept.offset[k], dtypes[v->operand[k].memory].size);
    if (v->position)
        s->address[variant_position(v)] = (char *)(uintptr_t)s->loops.kept.offset[variant_position(v)];
}

/* Which operands must be copied first, because an output overlaps them; scans: other than element for element. That outputs
 * overlap is an error; `argument` is the first output's number. */
static uf_status overlaps_find(const stage *s, int argument, bool *copy, bool *any) {
    const variant *v = &s->v;
    int end = v->nin + v->nout;
    *any = false;
    for (int o = v->nin; o < end; o++)
        for (int k = 0; k < end + v->masked; k++) {
            if (k >= v->nin && k <= o)
                continue;
            nd_overlap how = nd_fold_compare(&s->loops, k, s->address[k], dtypes[v->operand[k].memory].size, o,
                                             s->address[o], dtypes[v->operand[o].memory].size);
            if (how == ND_DISJOINT || (how == ND_SAME && k < v->nin && v->loop == LOOP_SCAN))
                continue;
            if (k > o && k < end)
                return fail_argument(UF_ERR_ARGUMENT, argument + k - v->nin, -1,
                                     "is an output that overlaps output argument %d", argument + o - v->nin);
            if (!*any)
                memset(copy, 0, (size_t)variant_operands(v) * sizeof *copy);
            *any = copy[k] = true;
        }
    return UF_OK;
}

/* ---- Running: scratch memory and launches ---- */

static uf_status block_check(const fold_call *c) {
    const uf_reduce_options *o = c->options;
    if ((uintptr_t)o->scratch % SCRATCH_ALIGN)
        return fail(UF_ERR_ARGUMENT, "%s.scratch is %p, but must be aligned to %d bytes", c->verb->options, o->scratch,
                    SCRATCH_ALIGN);
    if (o->scratch_size < c->scratch_size)
        return fail(UF_ERR_ARGUMENT, "%s.scratch_size is %zu, but %zu bytes are needed (%s_scratch_size)",
                    c->verb->options, o->scratch_size, c->scratch_size, c->verb->name);
    return UF_OK;
}

/* The call's scratch memory: the caller's on CUDA, if given, else the library's. *own: to be freed. */
static uf_status block_take(const fold_call *c, char **block, void **own) {
    *block = NULL;
    *own = NULL;
    if (c->scratch_size == 0)
        return UF_OK;
    if (c->a.engine == ENGINE_CUDA && c->options->scratch) {
        *block = c->options->scratch;
        return block_check(c);
    }
    TRY(engine_of(c)->scratch(c->a.device, c->scratch_size, c->a.stream, own));
    *block = *own;
    return UF_OK;
}

/* On a GPU the bounds go to scratch memory: those on the host by a copy, device starts by a conversion, and the extent after
 * them. */
static uf_status bounds_send(const fold_call *c, char *block) {
    int64_t one = 1, extent = c->extent;
    if (!c->verb->segmented || c->a.engine != ENGINE_CUDA)
        return UF_OK;
    if (!c->starts_on_device)
        return engine_of(c)->copy(c->a.device, block + c->bounds_at, c->bounds,
                                  (size_t)(c->nsegments + 1) * sizeof *c->bounds, c->a.stream, false);
    DLTensor to = {.data = block + c->bounds_at,
                   .device = {kDLCUDA, c->a.device},
                   .ndim = 1,
                   .dtype = dtypes[DT_INT64].dl,
                   .shape = (int64_t *)(uintptr_t)&c->nsegments};
    DLTensor last = {.data = &extent, .device = {kDLCPU, 0}, .dtype = dtypes[DT_INT64].dl};
    TRY(uf_copy(&to, c->starts, c->a.stream));
    to.byte_offset = (uint64_t)c->nsegments * sizeof(int64_t);
    to.shape = &one;
    return uf_copy(&to, &last, c->a.stream);
}

static uf_status stage_run(const fold_call *c, const stage *s, char *block) {
    launch l = stage_launch(c, s);
    l.scratch = block ? block + c->launch_at : NULL;
    return engine_of(c)->launch(s->code, &l);
}

static uf_status first_with_copies(fold_call *c, const bool *copy, char *block) {
    stage *s = &c->first;
    void *blocks[VARIANT_OPERANDS] = {0};
    uf_status status = UF_OK;
    int n = variant_operands(&s->v);
    for (int k = 0; k < n && !status; k++)
        if (copy[k]) {
            int64_t lowest, highest;
            nd_fold_bounds(&s->loops, k, &lowest, &highest);
            status = stretch_copy(engine_of(c), c->a.device, c->a.stream, lowest, highest,
                                  dtypes[s->v.operand[k].memory].size, &s->address[k], &blocks[k]);
        }
    if (!status)
        status = stage_run(c, s, block);
    for (int k = 0; k < n; k++)
        if (blocks[k])
            engine_of(c)->scratch_free(c->a.device, blocks[k], c->a.stream);
    return status;
}

static uf_status stages_run(fold_call *c, char *block) {
    bool copy[VARIANT_OPERANDS], any;
    first_addresses(c, block);
    if (c->parts)
        second_addresses(c, block);
    /* Of two launches the first has read all inputs before the second writes. */
    TRY(overlaps_find(c->parts ? &c->second : &c->first, c->a.nin, copy, &any));
    TRY(bounds_send(c, block));
    addresses_move(&c->first);
    TRY(any && !c->parts ? first_with_copies(c, copy, block) : stage_run(c, &c->first, block));
    if (!c->parts)
        return UF_OK;
    addresses_move(&c->second);
    return stage_run(c, &c->second, block);
}

static uf_status call_run(fold_call *c) {
    char *block;
    void *own;
    TRY(numbers_read(c));
    TRY(binding_code(c->func, c->binding, &c->first.v, &c->first.code));
    if (c->parts)
        TRY(binding_code(c->func, c->binding, &c->second.v, &c->second.code));
    TRY(block_take(c, &block, &own));
    uf_status s = stages_run(c, block);
    if (own)
        engine_of(c)->scratch_free(c->a.device, own, c->a.stream);
    return s;
}

/* ---- The verbs ---- */

/* bytes NULL: runs the call; else says what scratch memory it takes. */
static uf_status call(const fold_verb *verb, const uf_func *func, int nargs, const DLTensor *args,
                      const DLTensor *starts, const uf_reduce_options *options, size_t *bytes) {
    fold_call c;
    bool done;
    c.func = func;
    c.verb = verb;
    c.options = options;
    c.starts = starts;
    c.parts = 0;
    c.first.chunk = c.first.chunk_stride = c.second.chunk = c.second.chunk_stride = 0;
    c.space.used = 0;
    c.space.nblocks = 0;
    TRY(call_read(&c, nargs, args, bytes ? ARGS_NO_DATA : 0));
    uf_status s = call_lay(&c, &done);
    if (!s && bytes)
        *bytes = done || c.a.engine == ENGINE_CPU ? 0 : c.scratch_size;
    else if (!s && !done)
        s = call_run(&c);
    space_free(&c.space);
    return s;
}

static uf_status infer(const fold_verb *verb, const uf_func *func, int nargs, DLTensor *args,
                       const uf_reduce_options *options) {
    fold_call c;
    int64_t shape[UF_MAX_NDIM], results[UF_MAX_NDIM];
    int ndim, results_ndim;
    uint64_t axes;
    c.func = func;
    c.verb = verb;
    c.options = options;
    TRY(call_read(&c, nargs, args, ARGS_NO_OUTPUTS | ARGS_NO_DATA));
    TRY(nd_fold_shape(c.a.array, c.a.narrays, &ndim, shape));
    TRY(nd_axes(options->naxes, options->axes, ndim, &axes));
    nd_fold_results(ndim, shape, axes, c.flags, &results_ndim, results);
    for (int k = c.a.nin; k < nargs; k++)
        TRY(output_check(k, c.binding->types[k], results_ndim, results));
    for (int k = c.a.nin; k < nargs; k++) {
        args[k].ndim = results_ndim;
        memcpy(args[k].shape, results, (size_t)results_ndim * sizeof *results);
        args[k].dtype = dtypes[c.binding->types[k]].dl;
    }
    return UF_OK;
}

static uf_status bytes_check(size_t *bytes) {
    if (!bytes)
        return fail(UF_ERR_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    return UF_OK;
}

uf_status uf_reduce(const uf_func *func, int nargs, const DLTensor *args, const uf_reduce_options *options) {
    RANGE("uf_reduce", func);
    uf_reduce_options own;
    TRY(reduce_options_read(options, &own, &options));
    return call(&reduce_verb, func, nargs, args, NULL, options, NULL);
}

uf_status uf_reduce_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                 const uf_reduce_options *options) {
    uf_reduce_options own;
    TRY(bytes_check(bytes));
    TRY(reduce_options_read(options, &own, &options));
    return call(&reduce_verb, func, nargs, args, NULL, options, bytes);
}

uf_status uf_reduce_infer(const uf_func *func, int nargs, DLTensor *args, const uf_reduce_options *options) {
    uf_reduce_options own;
    TRY(reduce_options_read(options, &own, &options));
    return infer(&reduce_verb, func, nargs, args, options);
}

uf_status uf_accumulate(const uf_func *func, int nargs, const DLTensor *args, int axis, const uf_options *options) {
    RANGE("uf_accumulate", func);
    uf_reduce_options own;
    TRY(axis_options_read(options, accumulate_verb.name, &axis, &own));
    return call(&accumulate_verb, func, nargs, args, NULL, &own, NULL);
}

uf_status uf_accumulate_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args, int axis,
                                     const uf_options *options) {
    uf_reduce_options own;
    TRY(bytes_check(bytes));
    TRY(axis_options_read(options, accumulate_verb.name, &axis, &own));
    return call(&accumulate_verb, func, nargs, args, NULL, &own, bytes);
}

uf_status uf_accumulate_infer(const uf_func *func, int nargs, DLTensor *args, int axis, const uf_options *options) {
    uf_reduce_options own;
    TRY(axis_options_read(options, accumulate_verb.name, &axis, &own));
    return infer(&accumulate_verb, func, nargs, args, &own);
}

uf_status uf_reduceat(const uf_func *func, int nargs, const DLTensor *args, const DLTensor *starts, int axis,
                      const uf_options *options) {
    RANGE("uf_reduceat", func);
    uf_reduce_options own;
    TRY(axis_options_read(options, reduceat_verb.name, &axis, &own));
    return call(&reduceat_verb, func, nargs, args, starts, &own, NULL);
}

uf_status uf_reduceat_scratch_size(size_t *bytes, const uf_func *func, int nargs, const DLTensor *args,
                                   const DLTensor *starts, int axis, const uf_options *options) {
    uf_reduce_options own;
    TRY(bytes_check(bytes));
    TRY(axis_options_read(options, reduceat_verb.name, &axis, &own));
    return call(&reduceat_verb, func, nargs, args, starts, &own, bytes);
}
