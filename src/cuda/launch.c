/* launch.c - runs compiled code over a loop: what the device has room for, the parameter block and the grid that src/gpu lays out, and
 * the launch. Nothing here waits; cooperative groups of several blocks take scratch memory of the stream's (scratch.c). */
#include "cuda/code.h"
#include "cuda/cublas.h"

enum {
    PARAMETERS_FEW = 256 /* that fit the stack comfortably */
};

/* ---- Launching ---- */

/* What code_reap must know. */
static void note_launch(code *c, cu_context context) {
    if (!atomic_load_explicit(&c->launched, memory_order_relaxed))
        atomic_store(&c->launched, true);
    if (context == atomic_load_explicit(&c->device->primary, memory_order_relaxed))
        return;
    cu_context before = NULL;
    if (!atomic_compare_exchange_strong(&c->foreign, &before, context) && before != context)
        atomic_store(&c->many_contexts, true);
}

/* The first launch in a process that had no primary context when the code was compiled. */
static uf_status prepare_late(code *c) {
    int mode = CU_MODE_RELAXED;
    CU(cuThreadExchangeStreamCaptureMode, &mode);
    uf_status s = code_prepare(c);
    cuda.cuThreadExchangeStreamCaptureMode(&mode);
    return s;
}

static uf_status find_occupancy(code *c, const launch *l, occupancy *r) {
    if (!atomic_load_explicit(&c->block, memory_order_acquire))
        TRY(prepare_late(c));
    *r = (occupancy){.block = atomic_load_explicit(&c->block, memory_order_relaxed),
                     .sms = c->device->sms,
                     .cooperative = c->device->cooperative,
                     .shared = c->device->shared};
    int block = gpu_resident_block(l);
    if (block)
        TRY(code_resident(c, block, gpu_resident_shared(l, c->device->shared), &r->resident));
    return UF_OK;
}

/* The parameters go one by one: a capture refuses a cooperative launch with all in one buffer. */
static uf_status launch_zeroed(const code *c, const launch *l, const grid *g, uint64_t *parameters, void **each) {
    for (uint32_t i = 0; i < g->parameters; i++)
        each[i] = &parameters[i];
    cu_launch_attribute together = {.id = CU_LAUNCH_COOPERATIVE, .value = {1}};
    cu_launch_config config = {.grid = {g->blocks, 1, 1},
                               .block = {g->threads, 1, 1},
                               .shared = g->shared,
                               .stream = l->stream,
                               .attributes = &together,
                               .count = g->coop_blocks > 1};
    CU(cuMemsetD8Async, *g->slots - g->slots_at, 0, g->slots_zeroed, l->stream);
    CU(cuLaunchKernelEx, &config, c->kernel, each, NULL);
    return UF_OK;
}

/* Slots, and parts of tiles, lie in memory that the stream keeps: to allocate it for each launch takes longer than many of these do. */
static uf_status launch_slots(const code *c, const launch *l, const grid *g, uint64_t *parameters) {
    void *slots = NULL, **each = mem_alloc(g->parameters * sizeof *each);
    if (!each)
        return fail_memory();
    uf_status s = memory_scratch(c->device->ordinal, g->slots_bytes, l->stream, &slots);
    if (!s) {
        *g->slots = (uintptr_t)slots + g->slots_at;
        s = launch_zeroed(c, l, g, parameters, each);
        memory_scratch_free(c->device->ordinal, slots, l->stream);
    }
    mem_free(each);
    return s;
}

/* What a launch's scratch memory must hold before the kernel runs. */
static uf_status prepare_scratch(const launch *l) {
    size_t size = gpu_scratch(l);
    if (size)
        CU(cuMemsetD8Async, (uintptr_t)l->scratch, 0, size, l->stream);
    return UF_OK;
}

static uf_status run_in_context(code *c, const launch *l, cu_context context, uint64_t *parameters) {
    grid g;
    occupancy r;
    TRY(find_occupancy(c, l, &r));
    TRY(gpu_layout(l, &r, parameters, &g));
    TRY(code_share(c, g.shared));
    note_launch(c, context);
    if (g.slots)
        return launch_slots(c, l, &g, parameters);
    TRY(prepare_scratch(l));
    size_t bytes = g.parameters * sizeof *parameters;
    void *extra[] = {(void *)1, parameters, (void *)2, &bytes, NULL}; /* buffer pointer, buffer size, end */
    CU(cuLaunchKernel, c->kernel, g.blocks, 1, 1, g.threads, 1, 1, g.shared, l->stream, NULL, extra);
    if (!g.second)
        return UF_OK;
    *g.second = true;
    CU(cuLaunchKernel, c->kernel, g.second_blocks, 1, 1, g.threads, 1, 1, g.shared, l->stream, NULL, extra);
    return UF_OK;
}

static uf_status run_reported(code *c, const launch *l, cu_context context, uint64_t *parameters) {
    launch own = *l;
    TRY(report_begin(c->device, context, l, &own.report));
    return report_end(own.report, l->stream, run_in_context(c, &own, context, parameters));
}

/* A flag is to be one that the device can read, whether or not it will. */
static uf_status run_silent(code *c, const launch *l, cu_context context, uint64_t *parameters) {
    uint64_t flag;
    TRY(report_flag(l, &flag));
    return run_in_context(c, l, context, parameters);
}

static uf_status run_with_parameters(code *c, const launch *l, uint64_t *parameters) {
    cuda_scope scope;
    TRY(cuda_enter(c->device, &scope));
    uf_status s = (l->v->reports ? run_reported : run_silent)(c, l, scope.context, parameters);
    cuda_leave(&scope);
    return s;
}

static uf_status run_large(code *c, const launch *l, int count) {
    if (count > PARAMETERS_MAX)
        return fail(UF_ERR_ARGUMENT,
                    "a loop of %d dimensions over %d operands needs %d bytes of kernel parameters; CUDA has %d",
                    l->v->ndim, variant_operands(l->v), 8 * count, 8 * PARAMETERS_MAX);
    uint64_t *parameters = mem_alloc((size_t)count * sizeof *parameters);
    if (!parameters)
        return fail_memory();
    uf_status s = run_with_parameters(c, l, parameters);
    mem_free(parameters);
    return s;
}

/* The number of the kernel's parameters, which its variant and layout fix: counted at the first launch. */
static int parameters_count(code *c, const launch *l) {
    int count = atomic_load_explicit(&c->parameters, memory_order_relaxed);
    if (!count) {
        count = schema_count(l->v, l->layout, true);
        atomic_store_explicit(&c->parameters, count, memory_order_relaxed);
    }
    return count;
}

static uf_status library_launch(const launch *l, bool *done) {
    cuda_device *d;
    TRY(cuda_device_get(l->device, &d));
    return cublas_launch(d, l, done);
}

uf_status launch_run(const code *shared, const launch *l) {
    code *c = (code *)(uintptr_t)shared; /* its atomics are what changes */
    uint64_t parameters[PARAMETERS_FEW];
    bool done = l->loop->count == 0;
    if (!done && l->blas)
        TRY(library_launch(l, &done));
    if (done)
        return UF_OK;
    int count = parameters_count(c, l);
    return count <= PARAMETERS_FEW ? run_with_parameters(c, l, parameters) : run_large(c, l, count);
}

/* ---- The parts of a reduction ---- */

/* Blocks that run at once, before there is code: three quarters of a multiprocessor's threads, as most folds' registers leave room for. */
static uf_status guess_resident(const launch *l, int block, int *out) {
    cuda_device *d;
    TRY(cuda_device_get(l->device, &d));
    int blocks = d->threads / 4 * 3 / block;
    *out = d->sms * (blocks > 0 ? blocks : 1);
    return UF_OK;
}

uf_status launch_fold_chunk(const code *c, const launch *l, int64_t *out) {
    int resident, block = gpu_fold_block(l);
    TRY(c ? code_resident((code *)(uintptr_t)c, block, 0, &resident) : guess_resident(l, block, &resident));
    *out = gpu_fold_chunk(l, resident);
    return UF_OK;
}

/* A device that is not there is an error of the launch. */
void launch_specialise(variant *v, const loop_problem *p) {
    cuda_device *d;
    loop_problem own = *p;
    if (v->loop == LOOP_GUFUNC && p->device >= 0 && !cuda_device_get(p->device, &d)) {
        own.shared = d->shared;
        own.sms = d->cooperative ? d->sms : 0;
        own.clusters = d->clusters;
    }
    gpu_specialise(v, &own);
}

int64_t launch_specialise_fold(variant *v, const fold_problem *s) {
    cuda_device *d;
    int sms = cuda_device_get(s->device, &d) ? 1 : d->sms; /* a device that is not there is an error of the launch */
    return gpu_specialise_fold(v, s, sms);
}

/* ---- Telling ---- */

/* The grid depends on no number's value, and who asks for it has none. */
static uf_status find_grid(code *c, const launch *l, uint64_t *parameters, grid *g) {
    static const uint64_t numbers[VARIANT_OPERANDS][2];
    launch own = *l;
    cuda_scope scope;
    occupancy r;
    own.numbers = numbers;
    TRY(cuda_enter_relaxed(c->device, &scope));
    uf_status s = find_occupancy(c, l, &r);
    cuda_leave(&scope);
    return s ? s : gpu_layout(&own, &r, parameters, g);
}

/* UF_STAGED_ bits. */
static int staged_by(const variant *v) {
    return (variant_privatised(v) ? UF_STAGED_COUNTERS : 0) | (v->forall.shared_rows ? UF_STAGED_ROWS : 0) |
           (v->forall.pairs ? UF_STAGED_PAIRS : 0);
}

uf_status launch_info(const code *shared, const launch *l, uf_launch *out) {
    code *c = (code *)(uintptr_t)shared;
    resources r;
    grid g;
    uint64_t *parameters = mem_alloc((size_t)schema_count(l->v, l->layout, true) * sizeof *parameters);
    if (!parameters)
        return fail_memory();
    uf_status s = find_grid(c, l, parameters, &g);
    mem_free(parameters);
    TRY(s);
    TRY(code_resources(c, (int)g.threads, (int)g.shared, &r));
    out->grid = g.blocks;
    out->block = (int)g.threads;
    out->elements = l->v->forall.vector * l->v->forall.vectors_per_thread;
    out->vector = l->v->forall.vector;
    out->across = l->v->forall.across ? 1 << l->v->forall.across : 0;
    out->interior = !c->plain && !l->v->reports && !l->v->forall.pairs;
    out->staged = c->plain ? staged_by(l->v) & UF_STAGED_COUNTERS : staged_by(l->v);
    out->registers = r.registers;
    out->shared_bytes = r.shared + (int)g.shared;
    out->local_bytes = r.local;
    out->blocks_per_processor = r.blocks;
    out->occupancy = (double)r.blocks * r.block / c->device->threads;
    return UF_OK;
}
