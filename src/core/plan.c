/* plan.c - from the request of a verb to a plan: arguments, operands, loops, variants, code. A call is a plan that
 * is made on the stack and run once, so that there is one path for both. What differs between verbs is in their rows
 * (plan_verb). */
#include "core/core.h"
#include "type/kernel.h"

const engine *const engines[ENGINES] = {[ENGINE_CPU] = &cpu_engine, [ENGINE_CUDA] = &cuda_engine};

/* ---- For verbs ---- */

void *plan_space(uf_plan *p, size_t size) { return workspace_take(&p->space, size); }

bool has_elements(const nd_array *array) {
    for (int d = 0; d < array->ndim; d++)
        if (array->shape[d] == 0)
            return false;
    return true;
}

uf_status plan_outputs_check(const uf_plan *p) {
    const plan_pass *s = &p->pass[0];
    for (int k = s->v.nin; k < s->v.nin + s->v.nout; k++)
        if (p->verb->self_overlap(p, s, k))
            return fail_argument(UF_ERR_ARGUMENT, k, -1,
                                 "is an output with two elements at one address (or its strides are "
                                 "too many to tell)");
    return UF_OK;
}

void plan_places(const plan_pass *s, void *const *data, nd_place *out) {
    const nd_loop *loop = &s->loops.kept;
    for (int k = 0; k < loop->narrays; k++) {
        const dtype_info *type = &dtypes[s->v.operand[k].memory];
        uintptr_t from = s->source[k] < PLAN_ARGUMENTS ? (uintptr_t)data[s->source[k]] : 0;
        out[k] = (nd_place){.size = type->size, .align = type->align};
        if (from)
            out[k].address = from + (uintptr_t)s->shift[k] + (uintptr_t)(loop->offset[k] * type->size);
    }
}

void plan_misalignment(const plan_pass *s, void *const *data, uint8_t *out) {
    nd_place place[VARIANT_OPERANDS];
    plan_places(s, data, place);
    for (int k = 0; k < s->loops.kept.narrays; k++)
        out[k] = s->v.operand[k].kind == OPERAND_NUMBER ? 0 : place[k].address % ACCESS_BYTES;
}

void plan_groups(variant *v, const nd_member *member, int n) {
    for (int k = 0; k < n; k++) {
        v->operand[k].group = member[k].group;
        v->operand[k].offset = member[k].offset;
        v->operand[k].record = member[k].record;
        v->operand[k].align = member[k].align;
    }
}

/* ---- Making ---- */

static inline void plan_begin(uf_plan *p, const plan_request *r) {
    p->verb = r->verb;
    p->func = r->func;
    p->expanded = NULL;
    p->chain = NULL;
    p->space = (workspace){.words = p->words, .left = PLAN_WORDS};
    p->lasts = r->how & ARGS_LASTING;
    p->idle = false;
    p->layout = NULL;
    p->core = p->indexed = NULL;
    p->source = "";
    p->nargs = p->npoints = 0;
    p->elements = 0;
    p->scratch_size = p->launch_at = 0;
    p->npasses = 1;
    p->lapack = NULL;
    p->windows = NULL;
    for (int i = 0; i < 2; i++)
        p->pass[i].chunk = p->pass[i].chunk_stride = 0;
}

/* Sets what the arguments decide (engine and device) and what the options ask for. */
static void plan_settings(uf_plan *p, const plan_request *r, const call_args *a) {
    p->engine = a->engine;
    p->device = a->device;
    p->threads = r->options->threads;
    p->block = r->options->block;
    p->cancel = r->options->cancel;
    p->progress = a->engine == ENGINE_CPU ? r->options->progress : NULL;
    p->wraps = numbers_wrap(r->options->signature, r->options->casting);
}

static __attribute__((noinline)) uf_status plan_lay(uf_plan *p, const plan_request *r, void **data) {
    /* 4 KiB. It is not cleared, which would take as long as a small call, and not inlined, so that it is off the
     * stack when the plan runs. */
    call_args a;
    TRY(r->verb->arguments(r, &a, data));
    plan_settings(p, r, &a);
    TRY(r->verb->bind(r, &a, &p->binding));
    return r->verb->lay(p, r, &a, data);
}

static inline uf_status decide(uf_plan *p, const plan_request *r, void **data) {
    plan_begin(p, r);
    TRY(plan_lay(p, r, data));
    return r->verb->settle && !p->idle ? r->verb->settle(p) : UF_OK;
}

uf_status plan_decide(uf_plan *p, const plan_request *r, void **data) { return decide(p, r, data); }

uf_status plan_imagine(uf_plan *p, plan_request *r, const char *types, call_args *a) {
    plan_begin(p, r);
    /* Addresses are not known, and no input is a number until `imagine` says so. */
    p->lasts = true;
    memset(a->array, 0, sizeof a->array);
    TRY(r->verb->imagine(p, r, types, a));
    plan_settings(p, r, a);
    return UF_OK;
}

uf_status plan_imagine_arrays(uf_plan *p, const plan_request *r, call_args *a) {
    void *data[PLAN_ARGUMENTS] = {NULL};
    if (r->verb->imagine_arrays)
        TRY(r->verb->imagine_arrays(p, a));
    return r->verb->lay(p, r, a, data);
}

/* Two passes are a reduction in parts, which no library takes; they are compiled at the same time. */
static uf_status passes_code(uf_plan *p) {
    plan_pass *s = p->pass;
    if (p->npasses == 1)
        return plan_code(p, s, plan_variant_of(p, s), &s->code);
    const variant *const v[] = {&s[0].v, &s[1].v};
    const code *made[CODE_TOGETHER];
    TRY(binding_codes(p->func, p->binding, v, p->npasses, made));
    for (int i = 0; i < p->npasses; i++)
        s[i].code = made[i];
    return UF_OK;
}

static inline uf_status make(uf_plan *p, const plan_request *r, void **data) {
    TRY(decide(p, r, data));
    return p->idle || p->lapack ? UF_OK : passes_code(p);
}

uf_status plan_make(uf_plan *p, const plan_request *r, void **data) { return make(p, r, data); }

void plan_end(uf_plan *p) {
    if (p->chain)
        chain_free(p->chain);
    if (p->space.blocks)
        workspace_free(&p->space);
}

static __attribute__((noinline)) uf_status on_stack(const plan_request *r) {
    /* 12 KiB. It is not cleared, which would take as long as a small call. */
    uf_plan p;
    void *data[PLAN_ARGUMENTS];
    uf_status s = make(&p, r, data);
    if (!s) {
        plan_run run = {.plan = &p, .data = data, .stream = r->options->stream, .options = r->options, .name = r->name};
        s = plan_execute(&run);
    }
    plan_end(&p);
    return s;
}

static uf_status once(const plan_request *r, void *user) {
    uf_status s;
    (void)user;
    return repeat_run(r, &s) ? s : on_stack(r);
}

uf_status plan_once(const plan_request *r) { return with_records(r, once, NULL); }

/* ---- Plans that last ---- */

uf_status plan_out(uf_plan **out) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "out is NULL");
    *out = NULL;
    return UF_OK;
}

static uf_status lasting(const plan_request *r, void *user) {
    void *data[PLAN_ARGUMENTS];
    uf_plan *p = mem_alloc(sizeof *p);
    if (!p)
        return fail_memory();
    uf_status s = plan_make(p, r, data);
    if (!s && r->expanded)
        s = (r->verb->keep ? r->verb->keep : expansion_keep)(p, r);
    if (s) {
        plan_end(p);
        mem_free(p);
        return s;
    }
    func_keep(r->func);
    p->number = func_number();
    *(uf_plan **)user = p;
    return UF_OK;
}

uf_status plan_new(uf_plan **out, const plan_request *r) {
    plan_request own = *r;
    own.how |= ARGS_LASTING;
    return with_records(&own, lasting, out);
}

void uf_plan_free(uf_plan *p) {
    if (!p)
        return;
    func_drop(p->func);
    plan_end(p);
    mem_free(p);
}
