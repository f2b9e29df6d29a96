/* forall.c - uf_forall, uf_forall_plan and uf_launch_info: kernels over indices. The parameters' shapes and strides become core
 * words, as a generalized ufunc's do; what the addresses say of alignment and overlap is found anew for each launch. */
#include <stdio.h>

#include "core/core.h"

enum {
    WORDS_MOST =
        2 * LAYOUT_MAX_DIMS, /* of a layout of parameters: an extent for each dimension, a stride for those of arrays */
    ALIGN_MOST = 4           /* log2 of the longest access, 16 bytes */
};

/* What a parameter that is an array covers, in bytes from its element 0. */
typedef struct stretch {
    int64_t lowest, end;
    uint8_t
        align; /* log2, at most ALIGN_MOST, of what all its strides but that of the unit dimension are multiples of */
} stretch;

typedef struct forall {
    uf_plan plan; /* first: it is what uf_plan_run knows */
    const core_layout *layout;
    int block;
    void *stream;     /* of the call */
    uint64_t written; /* bit k: parameter k is, atomically or not */
    uint64_t
        whole; /* bit k: an atomic function takes elements of parameter k whole, which need not be aligned to their size */
    int64_t extents[LAYOUT_MAX_RANK], reversed[LAYOUT_MAX_RANK]; /* of the space, and as the loop has them */
    stretch array[UF_MAX_OPERANDS];
    int64_t core[WORDS_MOST];
} forall;

/* Nothing moves in the loop: the strides and offsets of any. */
static const int64_t nothing_moves[LAYOUT_MAX_RANK * UF_MAX_OPERANDS];

static int64_t *still(void) { return (int64_t *)(uintptr_t)nothing_moves; }

/* ---- The space ---- */

static uf_status space_check(const uf_func *f, int ndim, const int64_t *extents) {
    if (ndim < 1 || ndim > LAYOUT_MAX_RANK)
        return fail(UF_ERR_ARGUMENT, "uf_forall of %s: ndim is %d; 1 to %d are possible", f->name, ndim,
                    LAYOUT_MAX_RANK);
    if (!extents)
        return fail(UF_ERR_ARGUMENT, "uf_forall of %s: extents is NULL", f->name);
    for (int d = 0; d < ndim; d++)
        if (extents[d] < 0)
            return fail(UF_ERR_ARGUMENT, "uf_forall of %s: extents[%d] is %lld; it must not be negative", f->name, d,
                        (long long)extents[d]);
    return UF_OK;
}

static uf_status space_set(forall *x, const uf_func *f, int ndim, const int64_t *extents) {
    nd_loop *loop = &x->plan.loop;
    int64_t count = 1;
    bool overflow = false, empty = false;
    for (int d = 0; d < ndim; d++) {
        x->extents[d] = x->core[d] = x->reversed[ndim - 1 - d] = extents[d];
        empty |= extents[d] == 0;
        overflow |= __builtin_mul_overflow(count, extents[d], &count);
    }
    if (overflow && !empty)
        return fail(UF_ERR_SHAPE, "uf_forall of %s: the product of the extents is 2^63 or more", f->name);
    loop->ndim = ndim;
    loop->narrays = f->nin;
    loop->count = empty ? 0 : count;
    loop->extent = x->reversed;
    loop->stride = loop->offset = still();
    loop->loop = LOOP_FORALL;
    return UF_OK;
}

/* ---- The parameter list ---- */

static uf_status kernel_check(const uf_func *f, const char *verb, int nargs, const DLTensor *args) {
    if (!f)
        return fail(UF_ERR_ARGUMENT, "kernel is NULL");
    if (!is_kernel(f))
        return fail(UF_ERR_ARGUMENT, "%s is no kernel over indices (uf_kernel); %s runs no other functions", f->name,
                    verb);
    if (nargs != f->nin)
        return fail(UF_ERR_ARGUMENT, "%s of %s: %d argument%s, but the kernel has %d parameter%s", verb, f->name, nargs,
                    nargs == 1 ? "" : "s", f->nin, f->nin == 1 ? "" : "s");
    if (!args && nargs)
        return fail(UF_ERR_ARGUMENT, "%s of %s: args is NULL", verb, f->name);
    return UF_OK;
}

/* The key of an argument: 0xC0 and above are ranks that no parameter has, for which no binding is made. */
static uint8_t type_key(uint8_t type, const nd_array *x) {
    if (x->number)
        return type;
    return (uint8_t)(type | (x->ndim < 1 ? 0xC0 : x->ndim > LAYOUT_MAX_RANK ? 0xD0 : BINDING_RANK * (x->ndim - 1)));
}

/* Is there a section of so many indices? */
static uf_status indices_check(const uf_func *f, int ndim) {
    char numbers[LAYOUT_MAX_RANK * 8], *at = numbers;
    unsigned known = 0;
    for (int s = 0; s < f->nsections; s++)
        known |= 1u << f->sections[s].layout->nindices;
    if (known >> ndim & 1)
        return UF_OK;
    for (int n = 1; n <= LAYOUT_MAX_RANK; n++)
        if (known >> n & 1)
            at += sprintf(at, "%s%d", at == numbers ? "" : " or ", n);
    return fail(UF_ERR_ARGUMENT, "uf_forall of %s: ndim is %d, but its number of indices is %s", f->name, ndim,
                numbers);
}

static uf_status choose_list(const uf_func *f, const call_args *a, int ndim, const uf_options *options, bool values,
                             int *chosen) {
    dispatch_input inputs[UF_MAX_OPERANDS];
    TRY(indices_check(f, ndim));
    for (int k = 0; k < f->nin; k++) {
        const nd_array *x = &a->array[k];
        inputs[k] = (dispatch_input){.type = (dtype)(a->key.type[k] & 0xF), .is_number = x->number, .rank = x->ndim};
        if (values && x->number && x->data)
            inputs[k].value = number_read(inputs[k].type, x->data);
    }
    return dispatch_kernel(f->name, &f->signatures, ndim, inputs, options->flags, options->signature, chosen);
}

typedef struct request {
    const uf_func *func;
    const call_args *args;
    const uf_options *options;
    int ndim;
    bool values; /* of numbers take part in the choice */
} request;

static uf_status binding_fill(binding *b, void *user) {
    const request *r = user;
    const uf_func *f = r->func;
    int chosen;
    TRY(choose_list(f, r->args, r->ndim, r->options, r->values, &chosen));
    const section *s = &f->sections[f->section_of[chosen]];
    memcpy(b->types, f->signatures.types + (size_t)chosen * (size_t)f->nin, (size_t)f->nin * sizeof *b->types);
    b->source = s->source;
    b->layout = s->layout_text;
    TRY(type_kernel(f, f->section_of[chosen], b->types, &b->arena, &b->tree));
    ir_traits(b->tree, &b->traits);
    return UF_OK;
}

static uf_status binding_choose(request *r, call_args *a, const binding **out) {
    int n = r->func->nin, chosen;
    a->key.verb = VERB_FORALL;
    a->key.ndim = r->ndim;
    for (int k = 0; k < n; k++)
        a->key.type[k] = type_key(a->key.type[k], &a->array[k]);
    if (r->options->signature) { /* the key says which: dispatch runs first, each time */
        TRY(choose_list(r->func, a, r->ndim, r->options, true, &chosen));
        a->key.forced = chosen + 1;
    }
    return binding_get_for(r->func, a, &a->key, offsetof(binding_key, type) + (size_t)n, binding_fill, r, &r->values,
                           out);
}

/* ---- Parameters ---- */

static int log2_of_multiple(uint64_t bytes) { return __builtin_ctzll(bytes | 1 << ALIGN_MOST); }

/* Extents and strides of an array to the core words; is it without gaps, in C order? A stride that is never used is 0. */
static bool array_words(const layout_operand *o, const nd_array *x, int64_t *core) {
    bool packed = true, empty = false;
    for (int d = 0; d < x->ndim; d++) {
        core[o->dim[d]] = x->shape[d];
        core[o->strides + d] = 0;
        empty |= x->shape[d] == 0;
    }
    int64_t dense = 1;
    for (int d = x->ndim - 1; d >= 0 && !empty; d--) {
        int64_t extent = x->shape[d], stride = x->strides ? x->strides[d] : dense;
        packed &= extent == 1 || stride == dense;
        core[o->strides + d] = extent == 1 ? 0 : stride;
        dense *= extent;
    }
    return packed;
}

/* 1 + the dimension of stride 1, the last of several. One of a single element may have any stride: the last is taken to have
 * that, if no other has. */
static uint8_t unit_dimension(const layout_operand *o, const int64_t *core) {
    for (int d = o->rank; d > 0; d--)
        if (core[o->strides + d - 1] == 1)
            return (uint8_t)d;
    return core[o->dim[o->rank - 1]] <= 1 ? o->rank : 0;
}

static void stretch_find(const layout_operand *o, const int64_t *core, int unit, int64_t size, stretch *out) {
    int64_t lowest = 0, highest = 0;
    uint64_t strides = 0;
    bool empty = false;
    for (int d = 0; d < o->rank; d++) {
        int64_t extent = core[o->dim[d]], stride = core[o->strides + d];
        empty |= extent == 0;
        *(stride < 0 ? &lowest : &highest) += (extent - 1) * stride;
        strides |= d + 1 == unit ? 0 : (uint64_t)(stride * size);
    }
    *out = (stretch){.lowest = empty ? 0 : lowest * size,
                     .end = empty ? 0 : (highest + 1) * size,
                     .align = (uint8_t)log2_of_multiple(strides)};
}

static uf_status writable_check(const forall *x, int k) {
    static const int64_t one = 1;
    nd_loop point = {.ndim = 1, .narrays = UF_MAX_OPERANDS, .count = 1, .loop = LOOP_FORALL};
    point.extent = (int64_t *)(uintptr_t)&one;
    point.stride = point.offset = still();
    point.kind[k] = OPERAND_STRIDED;
    if (nd_core_self_overlap(&point, x->layout, x->core, k))
        return fail_argument(UF_ERR_ARGUMENT, k, -1,
                             "is written to and has two elements at one address (or its strides are too many to tell)");
    return UF_OK;
}

static uf_status parameter_set(forall *x, int k, const nd_array *a, dtype given) {
    const layout_operand *o = &x->layout->operands[k];
    uint8_t type = (uint8_t)x->plan.binding->types[k];
    variant_operand *v = &x->plan.v.operand[k];
    *v = (variant_operand){.memory = type, .value = type, .kind = OPERAND_NUMBER};
    x->plan.loop.kind[k] = v->kind;
    x->plan.number_type[k] = (uint8_t)given;
    if (!o->rank)
        return UF_OK;
    v->kind = x->plan.loop.kind[k] = OPERAND_STRIDED;
    bool packed = array_words(o, a, x->core), written = x->plan.binding->traits.use[k] & (USE_WRITE | USE_ATOMIC);
    v->unit = unit_dimension(o, x->core);
    stretch_find(o, x->core, v->unit, dtypes[type].size, &x->array[k]);
    x->written |= (uint64_t)written << k;
    bool whole = (x->plan.binding->traits.use[k] & USE_ATOMIC) && dtypes[type].align < dtypes[type].size;
    x->whole |= (uint64_t)whole << k;
    return written && !packed ? writable_check(x, k) : UF_OK;
}

/* What arguments and options say of a launch, but for what follows from addresses, which go to data. */
static uf_status forall_lay(forall *x, const request *r, const int64_t *extents, const call_args *a, void **data) {
    const uf_func *f = r->func;
    uf_plan *p = &x->plan;
    variant *v = &p->v;
    p->func = f;
    p->engine = a->engine;
    p->device = a->device;
    p->threads = r->options->threads;
    p->cancel = r->options->cancel;
    p->reports = func_reports(f, p->binding->traits.unbounded, r->options->cancel);
    p->nin = p->narrays = a->nin;
    p->core = x->core;
    x->layout = p->binding->tree->layout;
    x->block = r->options->block;
    x->stream = r->options->stream;
    x->written = x->whole = 0;
    TRY(space_set(x, f, r->ndim, extents));
    memset(v, 0, offsetof(variant, operand));
    v->loop = LOOP_FORALL;
    v->ndim = (uint8_t)r->ndim;
    v->nin = (uint8_t)a->nin;
    v->reports = p->reports;
    v->repeat = (uint8_t)r->options->elements;
    v->coop = x->block > 256 ? (uint8_t)__builtin_ctz((unsigned)x->block) : 0;
    for (int k = 0; k < a->nin; k++) {
        data[k] = a->array[k].data;
        TRY(parameter_set(x, k, &a->array[k], (dtype)(a->key.type[k] & 0xF)));
    }
    v->proved = lang_needs_hold(p->binding->tree, x->core);
    return UF_OK;
}

/* ---- Launching ---- */

/* The bytes of array k; none if it has no elements. */
static bool bytes_of(const forall *x, void *const *data, int k, intptr_t *first, intptr_t *end) {
    if (x->plan.v.operand[k].kind == OPERAND_NUMBER)
        return false;
    *first = (intptr_t)data[k] + x->array[k].lowest;
    *end = (intptr_t)data[k] + x->array[k].end;
    return *first < *end;
}

/* Is no array that is written to reached by another parameter? */
static bool apart(const forall *x, void *const *data) {
    for (uint64_t left = x->written; left; left &= left - 1) {
        int w = __builtin_ctzll(left);
        intptr_t first, end, other, other_end;
        if (!bytes_of(x, data, w, &first, &end))
            continue;
        for (int k = 0; k < x->plan.nin; k++)
            if (k != w && bytes_of(x, data, k, &other, &other_end) && other < end && first < other_end)
                return false;
    }
    return true;
}

/* The variant for arrays at these addresses; without them, for what most have: aligned and apart. */
static void variant_decide(const forall *x, void *const *data, variant *v) {
    const uf_plan *p = &x->plan;
    memcpy(v, &p->v, variant_key_size(&p->v));
    v->noalias = !data || apart(x, data);
    for (int k = 0; k < p->nin; k++)
        if (v->operand[k].kind != OPERAND_NUMBER) {
            int align = log2_of_multiple(data ? (uintptr_t)data[k] : 0);
            v->operand[k].align = align < x->array[k].align ? (uint8_t)align : x->array[k].align;
        }
    engines[p->engine]->specialise(v, &p->loop, x->layout, p->core, &p->binding->traits);
}

static uf_status code_find(const forall *x, void *const *data, variant *v, const code **out) {
    variant_decide(x, data, v);
    return binding_code(x->plan.func, x->plan.binding, v, out);
}

static launch launch_of(const forall *x, const variant *v, void *const *data, void *stream) {
    return (launch){.v = v,
                    .loop = &x->plan.loop,
                    .data = (char *const *)data,
                    .device = x->plan.device,
                    .stream = stream,
                    .threads = x->plan.threads,
                    .cancel = x->plan.cancel,
                    .layout = x->layout,
                    .core = x->core,
                    .block = x->block,
                    .name = x->plan.func->name,
                    .source = x->plan.binding->source,
                    .npoints = x->plan.loop.ndim,
                    .points = x->extents};
}

static uf_status numbers_read(const uf_plan *p, void *const *data, uint64_t (*numbers)[2]) {
    for (int k = 0; k < p->nin; k++)
        if (p->v.operand[k].kind == OPERAND_NUMBER)
            TRY(argument_convert(k, (dtype)p->number_type[k], data[k], (dtype)p->v.operand[k].value, false,
                                 numbers[k]));
    return UF_OK;
}

/* Numbers of two parts are aligned like one of them; hardware swaps both only where they are aligned together. */
static uf_status whole_check(const forall *x, void *const *data) {
    for (uint64_t left = x->whole; left; left &= left - 1) {
        int k = __builtin_ctzll(left), size = dtypes[x->plan.v.operand[k].memory].size;
        if (x->array[k].end > x->array[k].lowest && (uintptr_t)data[k] % (uintptr_t)size)
            return fail_argument(UF_ERR_ARGUMENT, k, -1,
                                 "its element 0 is at 0x%llx, but must be aligned to %d bytes for atomic functions",
                                 (unsigned long long)(uintptr_t)data[k], size);
    }
    return UF_OK;
}

static uf_status forall_run(const forall *x, void *const *data, void *stream) {
    uint64_t numbers[UF_MAX_OPERANDS][2];
    variant v;
    const code *c;
    TRY(numbers_read(&x->plan, data, numbers));
    if (x->plan.loop.count == 0)
        return UF_OK;
    TRY(whole_check(x, data));
    TRY(code_find(x, data, &v, &c));
    launch l = launch_of(x, &v, data, stream);
    l.numbers = (const uint64_t(*)[2])numbers;
    return engines[x->plan.engine]->launch(c, &l);
}

/* Everything that the verbs check and decide. *data are the arguments' addresses. */
static uf_status forall_make(forall *x, const char *verb, unsigned how, const uf_func *kernel, int ndim,
                             const int64_t *extents, int nargs, const DLTensor *args, const uf_options *options,
                             void **data) {
    uf_options own;
    call_args a;
    TRY(forall_options_read(options, &own, &options));
    TRY(kernel_check(kernel, verb, nargs, args));
    TRY(space_check(kernel, ndim, extents));
    TRY(args_take(nargs, nargs, args, NULL, options, how, &a));
    for (int k = 0; k < nargs; k++)
        if (how & ARGS_NO_DATA && a.array[k].number)
            a.array[k].data = NULL; /* numbers are read when the plan runs; what they are now decides nothing */
    request r = {kernel, &a, options, ndim, false};
    TRY(binding_choose(&r, &a, &x->plan.binding));
    return forall_lay(x, &r, extents, &a, data);
}

uf_status uf_forall(const uf_func *kernel, int ndim, const int64_t *extents, int nargs, const DLTensor *args,
                    const uf_options *options) {
    RANGE("uf_forall", kernel);
    forall x;
    void *data[UF_MAX_OPERANDS];
    TRY(forall_make(&x, "uf_forall", 0, kernel, ndim, extents, nargs, args, options, data));
    return forall_run(&x, data, x.stream);
}

static uf_status execute(const uf_plan *plan, void *const *data, void *stream) {
    return forall_run((const forall *)plan, data, stream);
}

static bool has_elements(const uf_plan *plan, int k) {
    return ((const forall *)plan)->array[k].end > ((const forall *)plan)->array[k].lowest;
}

const func_kind forall_kind = {.has_elements = has_elements, .execute = execute};

/* The code that will most likely be run: addresses that are not there yet are taken to be like most. */
static uf_status plan_compile(const forall *x, void *const *data) {
    bool known = true;
    variant v;
    const code *c;
    for (int k = 0; k < x->plan.nin; k++)
        known &= x->plan.v.operand[k].kind == OPERAND_NUMBER || !has_elements(&x->plan, k) || data[k];
    return x->plan.loop.count ? code_find(x, known ? data : NULL, &v, &c) : UF_OK;
}

uf_status uf_forall_plan(uf_plan **out, const uf_func *kernel, int ndim, const int64_t *extents, int nargs,
                         const DLTensor *args, const uf_options *options) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    void *data[UF_MAX_OPERANDS];
    forall *x = mem_alloc(sizeof *x);
    if (!x)
        return fail_memory();
    uf_status s = forall_make(x, "uf_forall_plan", ARGS_NO_DATA, kernel, ndim, extents, nargs, args, options, data);
    if (!s)
        s = plan_compile(x, data);
    if (s) {
        mem_free(x);
        return s;
    }
    func_keep(kernel);
    *out = &x->plan;
    return UF_OK;
}

/* ---- Looking at kernels ---- */

/* The list that is wanted; the first one if there is none, and if it is not there, which is dispatch's to say. */
static uf_status list_find(const uf_func *f, const char *wanted, int *out) {
    const signature_list *list = &f->signatures;
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    size_t n = (size_t)list->nin;
    int given;
    *out = 0;
    if (!wanted)
        return UF_OK;
    TRY(fail_named(parameter_list_parse(wanted, types, ranks, &given), "types"));
    for (int s = 0; given == list->nin && s < list->count; s++)
        if (!memcmp(list->types + (size_t)s * n, types, n * sizeof *types) &&
            !memcmp(list->ranks + (size_t)s * n, ranks, n)) {
            *out = s;
            break;
        }
    return UF_OK;
}

/* Arguments as a call of list s could have them: every extent is the same. */
static void arguments_imagine(const uf_func *f, int s, const int64_t *extents, call_args *a) {
    size_t first = (size_t)s * (size_t)f->nin;
    a->nin = a->nargs = a->narrays = f->nin;
    for (int k = 0; k < f->nin; k++) {
        dtype type = f->signatures.types[first + (size_t)k];
        int rank = f->signatures.ranks[first + (size_t)k];
        a->array[k] = (nd_array){.shape = extents, .ndim = rank, .size = dtypes[type].size, .number = rank == 0};
        a->key.type[k] = (uint8_t)(type | (rank ? 0 : BINDING_NUMBER));
    }
}

uf_status forall_imagine(const uf_func *f, const char *wanted, call_args *a, const binding **out, variant *v) {
    enum {
        LOG_ELEMENTS = 24
    };
    forall x;
    char spelled[ENTRY_TEXT];
    int64_t extents[LAYOUT_MAX_RANK];
    void *data[UF_MAX_OPERANDS];
    int s;
    TRY(list_find(f, wanted, &s));
    signature_list_format(spelled, &f->signatures, s);
    const uf_options options = {.size = sizeof options, .signature = wanted ? wanted : spelled};
    request r = {f, a, &options, f->signatures.indices[s], false};
    int most = r.ndim;
    for (int k = 0; k < f->nin; k++)
        if (f->signatures.ranks[s * f->nin + k] > most)
            most = f->signatures.ranks[s * f->nin + k];
    for (int d = 0; d < LAYOUT_MAX_RANK; d++)
        extents[d] = (int64_t)1 << LOG_ELEMENTS / most;
    arguments_imagine(f, s, extents, a);
    TRY(binding_choose(&r, a, &x.plan.binding));
    TRY(forall_lay(&x, &r, extents, a, data));
    variant_decide(&x, NULL, v);
    *out = x.plan.binding;
    return UF_OK;
}

uf_status uf_launch_info(const uf_func *kernel, int ndim, const int64_t *extents, int nargs, const DLTensor *args,
                         const uf_options *options, uf_launch *out) {
    forall x;
    variant v;
    const code *c;
    void *data[UF_MAX_OPERANDS];
    uf_launch all = {.size = out ? out->size : 0};
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    TRY(forall_make(&x, "uf_launch_info", 0, kernel, ndim, extents, nargs, args, options, data));
    if (x.plan.loop.count) {
        TRY(code_find(&x, data, &v, &c));
        launch l = launch_of(&x, &v, data, x.stream);
        TRY(engines[x.plan.engine]->launch_info(c, &l, &all));
    }
    return struct_write(&all, sizeof all, out, "uf_launch");
}
