/* run.c - from a plan and addresses to launches: reads addresses and numbers, finds overlaps and copies what
 * overlaps, takes scratch memory, and launches each pass. Nothing here looks at shapes. It compiles only if the
 * addresses differ, in what the code depends on, from those that the plan was made for (plan_verb.fits). */
#include <stdio.h>

#include "core/core.h"

enum {
    /* For what is needed on the host, on the stack. More comes from the heap. */
    RUN_WORDS = 64,
    SCRATCH_ALIGN = 256 /* alignment that a caller's scratch memory must have */
};

/* ---- Operands ---- */

/* The operands of one pass, as a launch takes them. */
typedef struct operands {
    /* Of the first elements in loop order. NULL for numbers. */
    char *address[VARIANT_OPERANDS];
    uint64_t number[VARIANT_OPERANDS][2];
} operands;

static inline uf_status number_convert(const char *what, int index, dtype from, const void *data, dtype to, bool wraps,
                                       uint64_t *words) {
    number n = number_read(from, data);
    if (!wraps && !number_fits(n, to))
        return fail(UF_ERR_CAST, dtypes[from].is_signed ? "%s %d: %lld does not fit %s" : "%s %d: %llu does not fit %s",
                    what, index, (long long)n.as.i, dtypes[to].name);
    words[0] = words[1] = 0;
    number_write(n, to, words);
    return UF_OK;
}

static inline uf_status argument_convert(int k, dtype from, const void *data, dtype to, bool wraps, uint64_t *words) {
    uf_status s = number_convert("argument", k, from, data, to, wraps, words);
    if (s)
        error_slot()->argument = k;
    return s;
}

uf_status plan_number(const uf_plan *p, int source, const void *data, dtype to, uint64_t *words) {
    const plan_argument *a = &p->argument[source];
    if (a->says >= SAYS_INITIAL)
        return number_convert("initial value", a->says - SAYS_INITIAL, (dtype)a->type, data, to, false, words);
    return argument_convert(a->says, (dtype)a->type, data, to, p->wraps, words);
}

static bool is_argument(const plan_pass *s, int k) { return s->source[k] < PLAN_ARGUMENTS; }

/* The address of operand k's element 0. */
static inline char *origin(const plan_run *r, const plan_pass *s, int k) {
    int source = s->source[k];
    char *from = source < PLAN_ARGUMENTS    ? r->data[source]
                 : source == SOURCE_SCRATCH ? r->block
                 : r->bounds                ? (char *)(uintptr_t)r->bounds
                                            : r->block + r->plan->fold.bounds_at;
    return from ? (char *)((uintptr_t)from + (uintptr_t)s->shift[k]) : NULL;
}

static uf_status operands_read(const plan_run *r, const plan_pass *s, operands *out) {
    const nd_loop *loop = &s->loops.kept;
    for (int k = 0; k < loop->narrays; k++) {
        const variant_operand *o = &s->v.operand[k];
        int source = s->source[k];
        if (o->kind == OPERAND_NUMBER) {
            TRY(plan_number(r->plan, source, r->data[source], (dtype)o->value, out->number[k]));
            out->address[k] = NULL;
        } else if (source == SOURCE_POSITION) {
            out->address[k] = (char *)(uintptr_t)loop->offset[k];
        } else {
            char *at = origin(r, s, k);
            out->address[k] =
                at ? (char *)((uintptr_t)at + (uintptr_t)(loop->offset[k] * dtypes[o->memory].size)) : NULL;
        }
    }
    return UF_OK;
}

/* ---- Overlaps ---- */

/* The memory that an operand reaches. */
typedef struct reach {
    uintptr_t first, end;
} reach;

static reach reach_of(const plan_run *r, const plan_pass *s, int k, const char *address) {
    int64_t lowest, highest, size = dtypes[s->v.operand[k].memory].size;
    r->plan->verb->bounds(r->plan, s, k, &lowest, &highest);
    return (reach){(uintptr_t)address + (uintptr_t)(lowest * size),
                   (uintptr_t)address + (uintptr_t)((highest + 1) * size)};
}

/* Nobody has looked whether the addresses of a plan's run lie so near the end of all addresses that this goes beyond it. */
static bool apart(const reach *a, const reach *b) {
    return a->first < a->end && b->first < b->end && (a->end <= b->first || b->end <= a->first);
}

/* Extends what several operands reach by that of another one; by all memory, if it goes beyond the end of all addresses. */
static void reach_join(reach *all, const reach *r) {
    static const reach everything = {0, UINTPTR_MAX};
    if (r->first >= r->end)
        r = &everything;
    all->first = r->first < all->first ? r->first : all->first;
    all->end = r->end > all->end ? r->end : all->end;
}

static bool is_array(const plan_pass *s, int k) { return s->v.operand[k].kind != OPERAND_NUMBER && is_argument(s, k); }

/* Finds the operands that must be copied before the launch, because an output overlaps them in another way than
 * element for element. Two outputs that overlap are an error. What operands reach settles most pairs. */
static uf_status overlaps_find(const plan_run *r, const plan_pass *s, const operands *o, bool *copy, bool *any) {
    const uf_plan *p = r->plan;
    const variant *v = &s->v;
    reach of[VARIANT_OPERANDS], inputs = {UINTPTR_MAX, 0};
    int end = v->nin + v->nout, n = s->loops.kept.narrays;
    *any = false;
    for (int k = 0; k < n; k++) {
        bool array = is_array(s, k);
        of[k] = array ? reach_of(r, s, k, o->address[k]) : (reach){0, 0};
        if (array && k < v->nin)
            reach_join(&inputs, &of[k]);
    }
    for (int out = v->nin; out < end; out++)
        for (int k = apart(&inputs, &of[out]) ? out + 1 : 0; k < n; k++) {
            if ((k >= v->nin && k <= out) || !is_array(s, k) || apart(&of[k], &of[out]))
                continue;
            nd_overlap how = p->verb->compare(p, s, k, origin(r, s, k), out, origin(r, s, out));
            if (how == ND_DISJOINT)
                continue;
            if (k > out && k < end)
                return fail_argument(UF_ERR_ARGUMENT, p->argument[s->source[k]].says, -1,
                                     "is an output that overlaps output argument %d", p->argument[s->source[out]].says);
            if (how == ND_OVERLAP) {
                if (!*any)
                    memset(copy, 0, (size_t)n * sizeof *copy);
                *any = copy[k] = true;
            }
        }
    return UF_OK;
}

/* Copies so many bytes from `lowest` bytes behind *address on, and moves *address into the copy. Alignment stays as it is, and so does
 * the compiled code. *block must be freed, if it was set. */
static uf_status stretch_copy(const engine *e, int device, void *stream, int64_t lowest, size_t bytes, char **address,
                              void **block) {
    /* The alignment of allocations. The copy has the same remainder by it as the original. */
    enum {
        ALIGN = 256
    };
    char *from = *address + lowest;
    size_t shift = (uintptr_t)from % ALIGN;
    TRY(e->scratch(device, bytes + ALIGN, stream, block));
    char *to = (char *)*block + (shift + ALIGN - (uintptr_t)*block % ALIGN) % ALIGN;
    TRY(e->copy(device, to, from, bytes, stream, false));
    *address = to - lowest;
    return UF_OK;
}

/* Must operand k be copied, or one that follows it? *bytes: what one element of all of them takes. */
static bool copy_wanted(const variant *v, const bool *copy, int k, size_t *bytes) {
    bool wanted = copy[k];
    *bytes = dtypes[v->operand[k].memory].size;
    for (int i = 0; i < v->nin && v->operand[k].group; i++) {
        const variant_operand *o = &v->operand[i];
        if (o->group != k + 1)
            continue;
        size_t end = (size_t)o->offset + dtypes[o->memory].size;
        *bytes = end > *bytes ? end : *bytes;
        wanted |= copy[i];
    }
    return wanted && !variant_follows(v, k);
}

/* ---- Launching ---- */

static inline launch launch_of(const plan_run *r, const uf_plan *p, const plan_pass *s, const variant *v,
                               const operands *o) {
    const plan_points *points = p->windows;
    return (launch){.v = v,
                    .loop = points ? &points->loop : &s->loops.kept,
                    .data = o ? o->address : NULL,
                    .numbers = o ? o->number : NULL,
                    .device = p->device,
                    .stream = r ? r->stream : NULL,
                    .threads = p->threads,
                    .layout = points ? points->binding->tree->layout : p->layout,
                    .core = points ? points->core : p->core,
                    .blas = p->func->form.blas,
                    .fast = p->func->fast,
                    .indexed = p->indexed,
                    .outside = r ? r->outside : NULL,
                    .reduced = &s->loops.reduced,
                    .chunk = s->chunk,
                    .chunk_stride = s->chunk_stride,
                    .deciding = r ? r->parts : NULL,
                    .elements = p->elements,
                    .scratch = r && r->block ? r->block + p->launch_at : NULL,
                    .block = p->block,
                    .cancel = p->cancel,
                    .progress = s == p->pass && !p->lapack ? p->progress : NULL,
                    .name = p->func->name,
                    .source = p->source,
                    .npoints = p->npoints,
                    .points = p->points};
}

launch plan_launch(const uf_plan *p, const plan_pass *s) { return launch_of(NULL, p, s, plan_variant_of(p, s), NULL); }

static bool is_taken(const uf_plan *p, const plan_pass *s, const variant *v) {
    const engine *e = engines[p->engine];
    if (!p->func->form.blas || !e->takes)
        return false;
    const launch l = launch_of(NULL, p, s, v, NULL);
    return e->takes(&l);
}

uf_status plan_code(const uf_plan *p, const plan_pass *s, const variant *v, const code **out) {
    *out = NULL;
    return is_taken(p, s, v) ? UF_OK : binding_code(p->func, plan_binding_of(p), v, out);
}

static uf_status code_launch(const plan_run *r, const plan_pass *s, const operands *o, const variant *v,
                             const code *c) {
    const launch l = launch_of(r, r->plan, s, v, o);
    if (r->plan->lapack)
        return lapack_launch(r->plan, &l);
    return engines[r->plan->engine]->launch(c, &l);
}

/* Copies the stretch of memory that each of these operands reaches, from its lowest to its highest element, and launches. An interleaved
 * group, which has one address, is copied as a whole. */
static __attribute__((noinline)) uf_status copy_and_launch(const plan_run *r, const plan_pass *s, operands *o,
                                                           const bool *copy, const variant *v, const code *c) {
    const uf_plan *p = r->plan;
    const engine *e = engines[p->engine];
    void *blocks[VARIANT_OPERANDS] = {0};
    uf_status status = UF_OK;
    int n = s->loops.kept.narrays;
    for (int k = 0; k < n && !status; k++) {
        int64_t lowest, highest, size = dtypes[v->operand[k].memory].size;
        size_t bytes;
        if (!copy_wanted(v, copy, k, &bytes))
            continue;
        p->verb->bounds(p, s, k, &lowest, &highest);
        status = stretch_copy(e, p->device, r->stream, lowest * size, (size_t)((highest - lowest) * size) + bytes,
                              &o->address[k], &blocks[k]);
    }
    if (!status)
        status = code_launch(r, s, o, v, c);
    for (int k = 0; k < n; k++)
        if (blocks[k])
            e->scratch_free(p->device, blocks[k], r->stream);
    return status;
}

/* copy: the operands that must be copied first; NULL: none. */
static inline uf_status variant_launch(const plan_run *r, const plan_pass *s, operands *o, const bool *copy,
                                       const variant *v, const code *c) {
    return copy ? copy_and_launch(r, s, o, copy, v, c) : code_launch(r, s, o, v, c);
}

/* Launches code for the addresses of this run, which differ from those that the plan was made for. */
static __attribute__((noinline)) uf_status unlike_launch(const plan_run *r, const plan_pass *s, operands *o,
                                                         const bool *copy) {
    const uf_plan *p = r->plan;
    const code *c;
    variant v;
    TRY(p->verb->specialise(p, r->data, &v));
    TRY(plan_code(p, s, &v, &c));
    return variant_launch(r, s, o, copy, &v, c);
}

/* Launches a pass. The plan of a call was made for its addresses, so that only one that lasts must be compared with
 * them. */
static uf_status pass_launch(const plan_run *r, const plan_pass *s, operands *o, const bool *copy) {
    const plan_verb *verb = r->plan->verb;
    if (!r->options && verb->fits && !verb->fits(r->plan, r->data))
        return unlike_launch(r, s, o, copy);
    return variant_launch(r, s, o, copy, plan_variant_of(r->plan, s), s->code);
}

uf_status plan_pass_run(plan_run *r) {
    const plan_pass *s = r->plan->pass;
    operands o;
    bool copy[VARIANT_OPERANDS], any = false;
    TRY(operands_read(r, s, &o));
    if (s->v.nout && !r->apart) {
        TRY(overlaps_find(r, s, &o, copy, &any));
        r->apart = !any;
    }
    if (r->plan->verb->prepare)
        TRY(r->plan->verb->prepare(r));
    return pass_launch(r, s, &o, any ? copy : NULL);
}

/* The first pass has read all inputs before the second writes, so only outputs can overlap. The operands of the
 * second are read before anything is launched, so that a number that does not fit is an error before anything is
 * written. They are read again after the first launch, which needs less stack than keeping both. */
static __attribute__((noinline)) uf_status two_passes(plan_run *r) {
    const plan_pass *s = r->plan->pass;
    operands o;
    bool copy[VARIANT_OPERANDS], any;
    int64_t parts = s[1].loops.reduced.count;
    TRY(operands_read(r, &s[1], &o));
    TRY(overlaps_find(r, &s[1], &o, copy, &any));
    TRY(operands_read(r, &s[0], &o));
    if (r->plan->verb->prepare)
        TRY(r->plan->verb->prepare(r));
    r->parts = &parts;
    TRY(pass_launch(r, &s[0], &o, NULL));
    TRY(operands_read(r, &s[1], &o));
    launch l = launch_of(r, r->plan, &s[1], &s[1].v, &o);
    nd_loop deciding = s[1].loops.reduced; /* over states of parts, which are one dimension */
    deciding.extent = &parts;
    deciding.count = parts;
    if (parts < s[1].loops.reduced.count)
        l.reduced = &deciding;
    return engines[r->plan->engine]->launch(s[1].code, &l);
}

/* ---- Scratch memory ---- */

static uf_status scratch_check(const plan_run *r) {
    const uf_options *o = r->options;
    if ((uintptr_t)o->scratch % SCRATCH_ALIGN)
        return fail(UF_ERR_ARGUMENT, "%s.scratch is %p, but must be aligned to %d bytes", r->plan->verb->options,
                    o->scratch, SCRATCH_ALIGN);
    if (o->scratch_size < r->plan->scratch_size)
        return fail(UF_ERR_ARGUMENT, "%s.scratch_size is %zu, but %zu bytes are needed (%s_scratch_size)",
                    r->plan->verb->options, o->scratch_size, r->plan->scratch_size, r->name);
    return UF_OK;
}

/* Takes the run's scratch memory: on CUDA the caller's if there is any, on the CPU that of the run's words if there
 * is enough, else the engine's. *own is what must be freed, or NULL. */
static uf_status scratch_take(plan_run *r, void **own) {
    const uf_plan *p = r->plan;
    bool host = p->engine == ENGINE_CPU;
    *own = NULL;
    if (!host && r->options && r->options->scratch) {
        r->block = r->options->scratch;
        return scratch_check(r);
    }
    if (host && p->scratch_size <= r->space.left * sizeof(int64_t)) {
        r->block = workspace_take(&r->space, p->scratch_size);
        return UF_OK;
    }
    TRY(engines[p->engine]->scratch(p->device, p->scratch_size, r->stream, own));
    r->block = *own;
    return UF_OK;
}

static uf_status passes_run(plan_run *r) {
    if (r->plan->verb->run)
        return r->plan->verb->run(r);
    return r->plan->npasses == 2 ? two_passes(r) : plan_pass_run(r);
}

static uf_status with_scratch(plan_run *r) {
    const uf_plan *p = r->plan;
    void *own;
    TRY(scratch_take(r, &own));
    uf_status s = passes_run(r);
    if (own)
        engines[p->engine]->scratch_free(p->device, own, r->stream);
    return s;
}

/* ---- Runs ---- */

/* Says how much of a run is done where the caller looks, if it does. */
static inline void progress_set(const uf_plan *p, double share) {
    if (p->progress)
        __atomic_store(p->progress, &share, __ATOMIC_RELAXED);
}

static uf_status look_and_run(plan_run *r) {
    const plan_verb *verb = r->plan->verb;
    if (verb->check)
        TRY(verb->check(r));
    if (!r->plan->idle)
        return r->plan->scratch_size ? with_scratch(r) : passes_run(r);
    return verb->check_idle ? verb->check_idle(r) : UF_OK;
}

uf_status plan_execute(plan_run *r) {
    int64_t few[RUN_WORDS];
    r->space = (workspace){.words = few, .left = RUN_WORDS};
    progress_set(r->plan, 0);
    uf_status s = look_and_run(r);
    if (!s)
        progress_set(r->plan, 1);
    if (r->space.blocks)
        workspace_free(&r->space);
    return s && r->plan->verb->named ? r->plan->verb->named(r->plan, s) : s;
}

bool plan_keep(const plan_run *r, kept_launch *out) {
    const uf_plan *p = r->plan;
    const plan_pass *s = p->pass;
    const engine *e = engines[p->engine];
    operands o;
    if (p->verb != &elementwise_verb || !r->apart || p->idle || !e->keep)
        return false;
    if ((!r->options && !p->verb->fits(p, r->data)) || operands_read(r, s, &o))
        return false;
    const launch l = launch_of(r, p, s, plan_variant_of(p, s), &o);
    return e->keep(s->code, &l, out);
}

uf_status plan_look(const uf_plan *p, void *const *data) {
    int64_t few[RUN_WORDS];
    plan_run run = {.plan = p, .data = data, .space = {.words = few, .left = RUN_WORDS}};
    uf_status s = p->verb->check ? p->verb->check(&run) : UF_OK;
    if (!s && p->verb->check_idle)
        s = p->verb->check_idle(&run);
    workspace_free(&run.space);
    return s;
}

static uf_status argument_fail(const plan_argument *a, const char *why) {
    if (a->says >= SAYS_INITIAL)
        return fail(UF_ERR_ARGUMENT, "initial value %d: %s", a->says - SAYS_INITIAL, why);
    return nd_fail(UF_ERR_ARGUMENT, a->says, -1, "%s", why);
}

static uf_status address_refuse(const uf_plan *p, int k, const void *data) {
    const plan_argument *a = &p->argument[k];
    const dtype_info *type = &dtypes[a->type];
    char why[128];
    if (!data)
        return a->number || (a->full && !p->idle) ? argument_fail(a, "its data is NULL") : UF_OK;
    snprintf(why, sizeof why, "its data is at %p, but must be aligned to the %d bytes of %s", data, type->align,
             type->name);
    return argument_fail(a, why);
}

static bool is_good(const plan_argument *a, const void *data) {
    return data && ((uintptr_t)data & (uintptr_t)(dtypes[a->type].align - 1)) == 0;
}

uf_status plan_run_addresses(const uf_plan *plan, void *const *data, void *stream) {
    if (repeat_plan(plan, data))
        return UF_OK;
    for (int k = 0; k < plan->nargs; k++)
        if (!is_good(&plan->argument[k], data[k])) {
            uf_status s = address_refuse(plan, k, data[k]);
            if (s)
                return plan->verb->named ? plan->verb->named(plan, s) : s;
        }
    plan_run run = {.plan = plan, .data = data, .stream = stream};
    TRY(plan_execute(&run));
    repeat_plan_keep(&run);
    return UF_OK;
}

uf_status uf_plan_run(const uf_plan *plan, void *const *data, void *stream) {
    RANGE("uf_plan_run", plan ? plan->func : NULL);
    if (!plan || !data)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", plan ? "data" : "plan");
    uf_status s = plan->expanded ? expanded_run(plan, data, stream) : plan_run_addresses(plan, data, stream);
    return s ? fail_about(s, plan->func->name) : s;
}
