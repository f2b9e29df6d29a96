/* chain.c - reductions over core dimensions whose cores have many scalars: a chain of calls of the function itself, on pairs of
 * neighbours, then on pairs of the results, and so on; or, under UF_SERIAL, one after the other. What is between lies in scratch memory.
 * The loops are those of a reduction of the cores' first scalars, which checks axes, shapes and casts, too (cores.c). */
#include <assert.h>

#include "core/cores.h"
#include "core/fold.h"

enum {
    ALIGN = 256 /* of each piece of scratch memory */
};

/* Where an operand of a call lies. */
typedef enum place_of {
    FROM_INPUT,
    FROM_OUTPUT,
    FROM_MASK,
    FROM_SCRATCH,
    FROM_NUMBER /* a number that no kernel looks at */
} place_of;

/* An array of cores, or, if `core` is NULL, of scalars: `at` bytes from where it lies, strides in elements. */
typedef struct view {
    place_of from;
    dtype type;
    int64_t at, stride[UF_MAX_NDIM];
    const int64_t *core; /* strides */
} view;

/* A call that is to be made. Its loop dimensions are the builder's. */
typedef struct call {
    const uf_func *func;
    int nargs, ndim;
    int64_t extent[UF_MAX_NDIM];
    view arg[3];
} call;

/* A call that a run makes. A serial one runs many times: from one to the next its second operand moves to the next element, in
 * C order of the reduced dimensions, and the other two operands change places. */
typedef struct step {
    uf_plan *plan;
    int nargs;
    place_of from[3];
    int64_t at[3];
    bool serial;
    int64_t times, first; /* serial: how often it runs, and the element that it begins with */
} step;

struct call_chain {
    int nsteps, room;
    step *steps;
    core core;
    bool begins;                      /* with an initial value, which the host reads */
    int64_t initial_at;               /* in scratch memory */
    int64_t strides[LAYOUT_MAX_RANK]; /* of that array */
    /* Of serial steps: the reduced dimensions, outermost first. */
    int ndim;
    int64_t extent[UF_MAX_NDIM], stride[UF_MAX_NDIM];
};

typedef struct builder {
    uf_plan *p;
    const plan_request *r;
    const core *core;
    const uf_func *func; /* the function, not its form */
    char signature[SIGNATURE_TEXT];
    call_chain *out;
    int kept; /* loop dimensions of results; those that are reduced come behind */
    int ndim;
    int64_t extent[UF_MAX_NDIM]; /* outermost first */
    int64_t dense[LAYOUT_MAX_RANK];
    call last; /* not planned yet, as its output may become that of the whole */
    bool has_last;
    bool overflows;
} builder;

void chain_free(call_chain *c) {
    for (int k = 0; c && k < c->nsteps; k++)
        uf_plan_free(c->steps[k].plan);
}

/* ---- Views ---- */

/* Takes scratch memory for the cores over the first ndim loop dimensions. */
static view scratch_view(builder *b, int ndim) {
    view v = {.from = FROM_SCRATCH, .type = b->core->type, .at = (int64_t)b->p->scratch_size, .core = b->dense};
    int64_t dense = b->core->count;
    size_t bytes;
    for (int d = ndim - 1; d >= 0; d--) {
        v.stride[d] = dense;
        b->overflows |= __builtin_mul_overflow(dense, b->extent[d], &dense);
    }
    b->overflows |=
        __builtin_mul_overflow((size_t)dense, (size_t)dtypes[v.type].size, &bytes) ||
        __builtin_add_overflow(b->p->scratch_size, (bytes + ALIGN - 1) / ALIGN * ALIGN, &b->p->scratch_size);
    return v;
}

/* The view from element i of dimension d on. */
static view moved(const view *v, int d, int64_t i) {
    view to = *v;
    to.at += i * v->stride[d] * dtypes[v->type].size;
    return to;
}

/* ---- Calls ---- */

static DLTensor view_tensor(const builder *b, const call *c, const view *v, int64_t *words) {
    static const DLTensor scalar = {.device = {kDLCPU, 0}, .dtype = {UF_BOOL_CODE, 8, 1}};
    int rank = v->core ? b->core->rank : 0;
    if (v->from == FROM_NUMBER)
        return scalar;
    int64_t *shape = words, *strides = words + c->ndim + rank;
    memcpy(shape, c->extent, (size_t)c->ndim * sizeof *shape);
    memcpy(strides, v->stride, (size_t)c->ndim * sizeof *strides);
    for (int i = 0; i < rank; i++) {
        shape[c->ndim + i] = b->core->size[i];
        strides[c->ndim + i] = v->core[i];
    }
    return (DLTensor){.device = {b->p->engine == ENGINE_CUDA ? kDLCUDA : kDLCPU, b->p->device},
                      .ndim = c->ndim + rank,
                      .dtype = dtypes[v->type].dl,
                      .shape = shape,
                      .strides = strides};
}

static step *step_new(builder *b) {
    call_chain *c = b->out;
    if (c->nsteps == c->room) {
        int room = c->room ? 2 * c->room : 32;
        step *more = plan_space(b->p, (size_t)room * sizeof *more);
        if (!more)
            return NULL;
        if (c->nsteps)
            memcpy(more, c->steps, (size_t)c->nsteps * sizeof *more);
        c->steps = more;
        c->room = room;
    }
    return &c->steps[c->nsteps];
}

/* What a caller's arguments are called in errors of the calls of a chain. */
static int caller_argument(const void *user, int argument) {
    const int *inputs = user;
    return argument >= *inputs;
}

/* Makes the plan of a call. */
static uf_status call_plan(builder *b, const call *c) {
    int64_t words[3][2 * (UF_MAX_NDIM + LAYOUT_MAX_RANK)];
    DLTensor args[3];
    const uf_options *asked = b->r->options;
    bool own = c->func == b->func;
    const uf_options options = {.size = sizeof options,
                                .casting = c->arg[c->nargs - 1].from == FROM_OUTPUT ? asked->casting : UF_CAST_UNSAFE,
                                .signature = own && *b->signature ? b->signature : NULL,
                                .threads = asked->threads,
                                .cancel = own ? asked->cancel : NULL};
    step *s = step_new(b);
    int inputs = c->nargs - 1;
    if (!s)
        return fail_memory();
    *s = (step){.nargs = c->nargs};
    for (int k = 0; k < c->nargs; k++) {
        args[k] = view_tensor(b, c, &c->arg[k], words[k]);
        s->from[k] = c->arg[k].from;
        s->at[k] = c->arg[k].at;
    }
    uf_status status = plan_new(&s->plan, &(plan_request){.verb = call_verb(c->func),
                                                          .name = b->r->name,
                                                          .func = c->func,
                                                          .options = &options,
                                                          .nargs = c->nargs,
                                                          .args = args});
    if (status) {
        fail_renumber("argument ", caller_argument, &inputs);
        uf_error *e = error_slot();
        e->argument = e->argument < 0 ? e->argument : caller_argument(&inputs, e->argument);
        return status;
    }
    b->out->nsteps++;
    return UF_OK;
}

static uf_status last_plan(builder *b) {
    bool has = b->has_last;
    b->has_last = false;
    return has ? call_plan(b, &b->last) : UF_OK;
}

/* Adds a call over the first ndim loop dimensions, which writes to scratch memory. */
static uf_status call_add(builder *b, const uf_func *f, int ndim, int nin, const view *const *in, const view *out) {
    TRY(last_plan(b));
    call *c = &b->last;
    *c = (call){.func = f, .nargs = nin + 1, .ndim = ndim};
    memcpy(c->extent, b->extent, (size_t)ndim * sizeof *c->extent);
    for (int k = 0; k < nin; k++)
        c->arg[k] = *in[k];
    c->arg[nin] = *out;
    b->has_last = true;
    return UF_OK;
}

/* *out = f(a, b), in scratch memory. */
static uf_status combine_add(builder *b, int ndim, const view *left, const view *right, view *out) {
    const view to = scratch_view(b, ndim);
    TRY(call_add(b, b->func, ndim, 2, (const view *const[]){left, right}, &to));
    *out = to;
    return UF_OK;
}

/* ---- In pairs ---- */

/* Reduces the innermost of the loop dimensions that are left. */
static uf_status dimension_reduce(builder *b, view *x) {
    int d = b->ndim - 1;
    int64_t m = b->extent[d];
    bool has_tail = false;
    view tail;
    for (; m > 1; m /= 2) {
        view left = *x, right = moved(x, d, 1), end = moved(x, d, m - 1);
        left.stride[d] = right.stride[d] = 2 * x->stride[d];
        b->extent[d] = m / 2;
        TRY(combine_add(b, b->ndim, &left, &right, x));
        if (m % 2 && has_tail)
            TRY(combine_add(b, d, &end, &tail, &tail));
        else if (m % 2)
            tail = end;
        has_tail |= m % 2;
    }
    b->ndim--;
    return has_tail ? combine_add(b, b->ndim, x, &tail, x) : UF_OK;
}

/* ---- One after the other ---- */

static uf_status serial_reduce(builder *b, view *x, const view *begin) {
    call_chain *c = b->out;
    view accumulator[2], first = *x;
    int64_t elements = 1;
    c->ndim = b->ndim - b->kept;
    for (int d = 0; d < c->ndim; d++) {
        c->extent[d] = b->extent[b->kept + d];
        c->stride[d] = x->stride[b->kept + d] * dtypes[x->type].size;
        elements *= c->extent[d];
    }
    b->ndim = b->kept;
    int64_t skipped = begin ? 0 : 1;
    if (elements == skipped) {
        *x = begin ? *begin : first;
        return UF_OK;
    }
    for (int i = 0; i < 2; i++)
        accumulator[i] = scratch_view(b, b->kept);
    const uf_func *copy;
    TRY(copy_function(&copy));
    TRY(call_add(b, copy, b->kept, 1, (const view *const[]){begin ? begin : &first}, &accumulator[0]));
    TRY(last_plan(b));
    call again = {.func = b->func, .nargs = 3, .ndim = b->kept, .arg = {accumulator[0], first, accumulator[1]}};
    memcpy(again.extent, b->extent, (size_t)b->kept * sizeof *again.extent);
    TRY(call_plan(b, &again));
    step *s = &c->steps[c->nsteps - 1];
    s->serial = true;
    s->times = elements - skipped;
    s->first = skipped;
    *x = accumulator[(elements - skipped) % 2];
    return UF_OK;
}

/* ---- What comes before ---- */

/* The views of the arguments, whose loops are those of the reduction. */
static view argument_view(const builder *b, const nd_fold *loops, int k, place_of from, const int64_t *strides) {
    const nd_loop *in[] = {&loops->kept, &loops->reduced};
    view v = {.from = from, .type = (dtype)b->p->argument[k].type, .core = strides};
    int at = 0;
    v.at = loops->kept.offset[k] * dtypes[v.type].size;
    for (int i = 0; i < 2; i++)
        for (int d = in[i]->ndim - 1; d >= 0; d--)
            if (in[i]->extent[d] != 1)
                v.stride[at++] = in[i]->stride[d * in[i]->narrays + k];
    return v;
}

static void dimensions_set(builder *b, const nd_fold *loops) {
    const nd_loop *in[] = {&loops->kept, &loops->reduced};
    b->ndim = 0;
    for (int i = 0; i < 2; i++) {
        for (int d = in[i]->ndim - 1; d >= 0; d--)
            if (in[i]->extent[d] != 1)
                b->extent[b->ndim++] = in[i]->extent[d];
        if (i == 0)
            b->kept = b->ndim;
    }
}

/* All elements get the dtype of the core, and those that take no part become the identity. */
static uf_status elements_prepare(builder *b, const nd_fold *loops, view *x) {
    const uf_func *copy, *select;
    if (x->type != b->core->type) {
        const view to = scratch_view(b, b->ndim);
        TRY(copy_function(&copy));
        TRY(call_add(b, copy, b->ndim, 1, (const view *const[]){x}, &to));
        *x = to;
    }
    if (b->r->options->where) {
        const view mask = argument_view(b, loops, 2, FROM_MASK, NULL), to = scratch_view(b, b->ndim);
        TRY(core_form_find(b->func, b->core, CORE_SELECTS, &select));
        TRY(call_add(b, select, b->ndim, 2, (const view *const[]){x, &mask}, &to));
        *x = to;
    }
    return UF_OK;
}

/* Makes the value that the fold begins with, which is the same for all results: the initial value, which a run writes, or the identity. */
static uf_status begin_add(builder *b, view *out) {
    static const view unused = {.from = FROM_NUMBER, .type = DT_BOOL};
    const uf_func *fill;
    *out = scratch_view(b, 0);
    if (b->r->initial) {
        b->out->begins = true;
        b->out->initial_at = out->at;
        memcpy(b->out->strides, b->core->initial, (size_t)b->core->rank * sizeof *b->out->strides);
        return UF_OK;
    }
    TRY(core_form_find(b->func, b->core, CORE_FILLS, &fill));
    return call_add(b, fill, 0, 1, (const view *const[]){&unused}, out);
}

/* ---- The whole ---- */

static uf_status elements_reduce(builder *b, const nd_fold *loops, view *x, const view *begin) {
    if (loops->reduced.count == 0) {
        assert(begin); /* without one reducing no elements is an error */
        b->ndim = b->kept;
        *x = *begin;
        return UF_OK;
    }
    TRY(elements_prepare(b, loops, x));
    if (b->p->fold.fold->order == FOLD_SERIAL)
        return serial_reduce(b, x, begin);
    while (b->ndim > b->kept)
        TRY(dimension_reduce(b, x));
    return begin ? combine_add(b, b->kept, begin, x, x) : UF_OK;
}

/* Brings the results to the output: the last call writes there itself if it can. */
static uf_status results_add(builder *b, const nd_fold *loops, const view *x) {
    const uf_func *copy;
    const view out = argument_view(b, loops, 1, FROM_OUTPUT, b->core->strides[1]);
    if (b->has_last && b->last.func == b->func && b->core->result == b->core->type) {
        b->last.arg[2] = out;
        return last_plan(b);
    }
    TRY(copy_function(&copy));
    TRY(call_add(b, copy, b->kept, 1, (const view *const[]){x}, &out));
    return last_plan(b);
}

static uf_status chain_build(builder *b, const nd_fold *loops) {
    bool begins = b->r->initial || b->func->identity.syntax;
    view begin, x;
    dimensions_set(b, loops);
    x = argument_view(b, loops, 0, FROM_INPUT, b->core->strides[0]);
    if (b->r->options->where && !b->func->identity.syntax)
        return fail(UF_ERR_ARGUMENT,
                    "%s: a mask (where) over cores of more than %d scalars needs an identity, and %s has none",
                    b->r->name, UF_MAX_STATE, b->func->name);
    if (begins)
        TRY(begin_add(b, &begin));
    TRY(elements_reduce(b, loops, &x, begins ? &begin : NULL));
    TRY(results_add(b, loops, &x));
    return b->overflows ? fail(UF_ERR_MEMORY, "the results in between need 2^63 bytes or more") : UF_OK;
}

static uf_status chain_make(uf_plan *p, const plan_request *r, const nd_fold *loops) {
    builder *b = mem_zero(1, sizeof *b);
    call_chain *c = plan_space(p, sizeof *c);
    if (!b || !c) {
        mem_free(b);
        return fail_memory();
    }
    memset(c, 0, sizeof *c);
    c->core = *r->core;
    p->chain = c;
    b->p = p;
    b->r = r;
    b->core = r->core;
    b->func = r->func->owner;
    b->out = c;
    int64_t dense = 1;
    for (int i = c->core.rank - 1; i >= 0; i--) {
        b->dense[i] = dense;
        dense *= c->core.size[i];
    }
    const dtype types[] = {c->core.type, c->core.type, c->core.result};
    if (!b->func->any_types)
        signature_format(b->signature, types, 2, 1);
    uf_status s = chain_build(b, loops);
    mem_free(b);
    return s;
}

static uf_status lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    TRY(reduce_verb.lay(p, r, a, data));
    const nd_fold loops = p->npasses == 2 ? p->fold.whole : p->pass[0].loops;
    p->npasses = 0;
    p->scratch_size = 0;
    p->idle |= r->core->count == 0;
    return p->idle ? UF_OK : chain_make(p, r, &loops);
}

/* ---- Runs ---- */

/* Writes the initial value to scratch memory, in the dtype of the core. */
static uf_status initial_write(plan_run *run) {
    const uf_plan *p = run->plan;
    const call_chain *c = p->chain;
    size_t size = dtypes[c->core.type].size, bytes = size * (size_t)c->core.count;
    int source = p->fold.initial;
    char *host = workspace_take(&run->space, bytes), *to = run->block + c->initial_at;
    if (!host)
        return fail_memory();
    for (int64_t e = 0; e < c->core.count; e++) {
        uint64_t words[2];
        int64_t offset = core_offset(&c->core, c->strides, e);
        TRY(plan_number(p, source, (char *)run->data[source] + offset * dtypes[p->argument[source].type].size,
                        c->core.type, words));
        memcpy(host + (size_t)e * size, words, size);
    }
    if (p->engine == ENGINE_CUDA)
        return engines[ENGINE_CUDA]->copy(p->device, to, host, bytes, run->stream, false);
    memcpy(to, host, bytes);
    return UF_OK;
}

static void *place_address(const plan_run *run, place_of from, int64_t at) {
    static const bool unused;
    char *const places[] = {[FROM_INPUT] = run->data[0],
                            [FROM_OUTPUT] = run->data[1],
                            [FROM_MASK] = run->plan->nargs > 2 ? run->data[2] : NULL,
                            [FROM_SCRATCH] = run->block,
                            [FROM_NUMBER] = (char *)(uintptr_t)&unused};
    return (void *)((uintptr_t)places[from] + (uintptr_t)at);
}

/* Bytes from the first element to element i, in C order of the reduced dimensions. */
static int64_t element_offset(const call_chain *c, int64_t i) {
    int64_t offset = 0;
    for (int d = c->ndim - 1; d >= 0; d--) {
        offset += i % c->extent[d] * c->stride[d];
        i /= c->extent[d];
    }
    return offset;
}

static uf_status step_run(const plan_run *run, const step *s) {
    const call_chain *c = run->plan->chain;
    void *data[3] = {NULL};
    for (int k = 0; k < s->nargs; k++)
        data[k] = place_address(run, s->from[k], s->at[k]);
    if (!s->serial)
        return plan_run_addresses(s->plan, data, run->stream);
    for (int64_t i = 0; i < s->times; i++) {
        void *turned[] = {data[i % 2 ? 2 : 0], (char *)data[1] + element_offset(c, s->first + i), data[i % 2 ? 0 : 2]};
        TRY(plan_run_addresses(s->plan, turned, run->stream));
    }
    return UF_OK;
}

static uf_status chain_run(plan_run *run) {
    const call_chain *c = run->plan->chain;
    if (c->begins)
        TRY(initial_write(run));
    for (int k = 0; k < c->nsteps; k++)
        TRY(step_run(run, &c->steps[k]));
    return UF_OK;
}

const plan_verb chain_verb = {.options = "uf_reduce_options",
                              .folds = true,
                              .arity = fold_arguments_count,
                              .arguments = fold_arguments,
                              .bind = fold_bind,
                              .lay = lay,
                              .self_overlap = fold_self_overlap,
                              .bounds = fold_bounds,
                              .compare = fold_compare,
                              .check_idle = fold_check_initial,
                              .run = chain_run};
