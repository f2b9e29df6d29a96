/* plan.c - a call with everything decided. A call is a plan made on the stack and run once: there is one path. */
#include "core/core.h"

const engine *const engines[ENGINES] = {[ENGINE_CPU] = &cpu_engine, [ENGINE_CUDA] = &cuda_engine};

size_t plan_space(const uf_func *f, const call_args *a) { return f->kind->space(f, args_rank(a), a->narrays); }

static void operands_fill(uf_plan *plan, const call_args *a, const dtype *types) {
    variant *v = &plan->v;
    memset(v, 0, offsetof(variant, operand) + (size_t)a->narrays * sizeof v->operand[0]);
    v->loop = (uint8_t)plan->loop.loop;
    v->reports = plan->reports;
    v->nin = (uint8_t)a->nin;
    v->nout = (uint8_t)(a->nargs - a->nin);
    v->masked = a->narrays > a->nargs;
    for (int k = 0; k < a->nargs; k++) {
        variant_operand *o = &v->operand[k];
        uint8_t memory = a->key.type[k] & (uint8_t)~BINDING_NUMBER;
        o->value = (uint8_t)types[k];
        o->memory = a->array[k].number ? o->value : memory;
        o->kind = plan->loop.kind[k];
        plan->number_type[k] = memory;
    }
    if (v->masked)
        v->operand[a->nargs] =
            (variant_operand){.memory = DT_BOOL, .value = DT_BOOL, .kind = plan->loop.kind[a->nargs]};
}

static uf_status outputs_check(const uf_plan *plan) {
    for (int k = plan->nin; k < plan->nin + plan->v.nout; k++)
        if (plan->func->kind->self_overlap(plan, k))
            return fail_argument(UF_ERR_ARGUMENT, k, -1,
                                 "is an output with two elements at one address (or its strides are "
                                 "too many to tell)");
    return UF_OK;
}

static const core_layout *layout_of(const uf_plan *plan) {
    return plan->reports && !plan->func->layout ? &layout_scalars : plan->func->layout;
}

uf_status plan_lay(uf_plan *plan, const uf_func *f, const call_args *a, const uf_options *options, const dtype *types,
                   const code_traits *traits, void *space) {
    plan->func = f;
    plan->engine = a->engine;
    plan->device = a->device;
    plan->threads = options->threads;
    plan->cancel = options->cancel;
    plan->reports = func_reports(f, traits->unbounded, options->cancel);
    plan->nin = a->nin;
    plan->narrays = a->narrays;
    plan->npoints = 0;
    plan->wraps = numbers_wrap(options->signature, options->casting);
    TRY(f->kind->lay(plan, a, options, space));
    operands_fill(plan, a, types);
    TRY(outputs_check(plan));
    engines[plan->engine]->specialise(&plan->v, &plan->loop, layout_of(plan), plan->core, traits);
    return UF_OK;
}

uf_status plan_make(uf_plan *plan, const uf_func *f, const call_args *a, const uf_options *options, void *space) {
    TRY(binding_find(f, a, options, &plan->binding));
    TRY(plan_lay(plan, f, a, options, plan->binding->types, &plan->binding->traits, space));
    return binding_code(f, plan->binding, &plan->v, &plan->code);
}

/* ---- Running ---- */

uf_status number_convert(const char *what, int index, dtype from, const void *data, dtype to, bool wraps,
                         uint64_t *words) {
    number n = number_read(from, data);
    if (!wraps && !number_fits(n, to))
        return fail(UF_ERR_CAST, dtypes[from].is_signed ? "%s %d: %lld does not fit %s" : "%s %d: %llu does not fit %s",
                    what, index, (long long)n.as.i, dtypes[to].name);
    words[0] = words[1] = 0;
    number_write(n, to, words);
    return UF_OK;
}

uf_status argument_convert(int k, dtype from, const void *data, dtype to, bool wraps, uint64_t *words) {
    uf_status s = number_convert("argument", k, from, data, to, wraps, words);
    if (s)
        error_slot()->argument = k;
    return s;
}

/* The address of an array's first element in loop order; NULL: it has no core elements. */
static char *first_element(const uf_plan *plan, int k, void *data) {
    return data ? (char *)data + plan->loop.offset[k] * dtypes[plan->v.operand[k].memory].size : NULL;
}

/* Addresses and numbers for the launch. */
static uf_status operands_read(const uf_plan *plan, void *const *data, char **address, uint64_t (*numbers)[2]) {
    for (int k = 0; k < plan->narrays; k++) {
        const variant_operand *o = &plan->v.operand[k];
        if (o->kind == OPERAND_NUMBER) {
            TRY(argument_convert(k, (dtype)plan->number_type[k], data[k], (dtype)o->value, plan->wraps, numbers[k]));
            address[k] = NULL;
        } else {
            address[k] = first_element(plan, k, data[k]);
        }
    }
    return UF_OK;
}

/* Which inputs must be copied first, because an output overlaps them other than element for element. */
static uf_status overlaps_find(const uf_plan *plan, void *const *data, bool *copy, bool *any) {
    int outputs_end = plan->nin + plan->v.nout;
    *any = false;
    for (int o = plan->nin; o < outputs_end; o++) {
        for (int k = 0; k < plan->narrays; k++) {
            if (plan->v.operand[k].kind == OPERAND_NUMBER || k == o || (k >= plan->nin && k < o))
                continue;
            nd_overlap how = plan->func->kind->compare(plan, k, data[k], o, data[o]);
            if (how == ND_DISJOINT)
                continue;
            if (k > o && k < outputs_end)
                return fail_argument(UF_ERR_ARGUMENT, k, -1, "is an output that overlaps output argument %d", o);
            if (how == ND_OVERLAP) {
                if (!*any)
                    memset(copy, 0, (size_t)plan->narrays * sizeof *copy);
                *any = copy[k] = true;
            }
        }
    }
    return UF_OK;
}

static uf_status launch_now(const uf_plan *plan, char *const *address, const uint64_t (*numbers)[2], void *stream) {
    return engines[plan->engine]->launch(plan->code, &(launch){.v = &plan->v,
                                                               .loop = &plan->loop,
                                                               .data = address,
                                                               .numbers = numbers,
                                                               .device = plan->device,
                                                               .stream = stream,
                                                               .threads = plan->threads,
                                                               .cancel = plan->cancel,
                                                               .layout = layout_of(plan),
                                                               .core = plan->core,
                                                               .blas = plan->func->blas,
                                                               .name = plan->func->name,
                                                               .source = plan->binding->source,
                                                               .npoints = plan->npoints,
                                                               .points = plan->points});
}

uf_status stretch_copy(const engine *e, int device, void *stream, int64_t lowest, int64_t highest, int size,
                       char **address, void **block) {
    enum {
        ALIGN = 256
    }; /* what allocations have; the copy keeps the address's remainder */
    char *from = *address + lowest * size;
    size_t bytes = (size_t)(highest - lowest + 1) * (size_t)size, shift = (uintptr_t)from % ALIGN;
    TRY(e->scratch(device, bytes + ALIGN, stream, block));
    char *to = (char *)*block + (shift + ALIGN - (uintptr_t)*block % ALIGN) % ALIGN;
    TRY(e->copy(device, to, from, bytes, stream, false));
    *address = to - lowest * size;
    return UF_OK;
}

/* Of an operand at `data`: *address is where the copy's first element is. */
static uf_status operand_copy(const uf_plan *plan, int k, void *data, void *stream, char **address, void **block) {
    int64_t lowest, highest;
    *address = first_element(plan, k, data);
    plan->func->kind->bounds(plan, k, &lowest, &highest);
    return stretch_copy(engines[plan->engine], plan->device, stream, lowest, highest,
                        dtypes[plan->v.operand[k].memory].size, address, block);
}

static uf_status launch_with_copies(const uf_plan *plan, void *const *data, char **address,
                                    const uint64_t (*numbers)[2], const bool *copy, void *stream) {
    void *blocks[VARIANT_OPERANDS] = {0};
    uf_status s = UF_OK;
    for (int k = 0; k < plan->narrays && !s; k++)
        if (copy[k])
            s = operand_copy(plan, k, data[k], stream, &address[k], &blocks[k]);
    if (!s)
        s = launch_now(plan, address, numbers, stream);
    for (int k = 0; k < plan->narrays; k++)
        if (blocks[k])
            engines[plan->engine]->scratch_free(plan->device, blocks[k], stream);
    return s;
}

uf_status plan_execute(const uf_plan *plan, void *const *data, void *stream) {
    char *address[VARIANT_OPERANDS];
    uint64_t numbers[VARIANT_OPERANDS][2];
    bool copy[VARIANT_OPERANDS], any;
    if (plan->loop.count == 0)
        return UF_OK;
    TRY(operands_read(plan, data, address, numbers));
    TRY(overlaps_find(plan, data, copy, &any));
    return any ? launch_with_copies(plan, data, address, (const uint64_t(*)[2])numbers, copy, stream)
               : launch_now(plan, address, (const uint64_t(*)[2])numbers, stream);
}

/* ---- Plans that last ---- */

uf_status uf_plan_new(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args, const uf_options *options) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    uf_options own;
    call_args a;
    TRY(options_read(options, &own, &options));
    if (options->flags & UF_STAGE)
        return fail(UF_ERR_ARGUMENT, "a plan cannot stage arrays; use uf_call, or arrays of one device");
    TRY(args_read(func, nargs, args, options, ARGS_NO_DATA, &a));
    for (int k = 0; k < a.nin; k++)
        a.array[k].data = NULL; /* numbers are read when the plan runs; what they are now decides nothing */
    uf_plan *plan = mem_alloc(sizeof *plan + plan_space(func, &a));
    if (!plan)
        return fail_memory();
    uf_status s = plan_make(plan, func, &a, options, plan + 1);
    if (s) {
        mem_free(plan);
        return s;
    }
    func_keep(func);
    *out = plan;
    return UF_OK;
}

static uf_status data_check(const uf_plan *plan, int k, const void *data) {
    const dtype_info *type =
        &dtypes[plan->v.operand[k].kind == OPERAND_NUMBER ? plan->number_type[k] : plan->v.operand[k].memory];
    int argument = k < plan->nin + plan->v.nout ? k : -1; /* the mask */
    bool needed = plan->v.operand[k].kind == OPERAND_NUMBER || plan->func->kind->has_elements(plan, k);
    if (!data)
        return needed ? nd_fail(UF_ERR_ARGUMENT, argument, -1, "its data is NULL") : UF_OK;
    if ((uintptr_t)data % type->align)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its data is at %p, but must be aligned to the %d bytes of %s",
                       data, type->align, type->name);
    return UF_OK;
}

uf_status uf_plan_run(const uf_plan *plan, void *const *data, void *stream) {
    RANGE("uf_plan_run", plan ? plan->func : NULL);
    if (!plan || !data)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", plan ? "data" : "plan");
    for (int k = 0; k < plan->narrays; k++)
        TRY(data_check(plan, k, data[k]));
    return plan->func->kind->execute(plan, data, stream);
}

void uf_plan_free(uf_plan *plan) {
    if (!plan)
        return;
    func_drop(plan->func);
    mem_free(plan);
}
