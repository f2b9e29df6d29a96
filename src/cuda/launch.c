/* launch.c - runs compiled code over a loop: what the device has room for, the parameter block and the grid that src/gpu lays out, and
 * the launch. Nothing here waits; cooperative groups of several blocks take memory in stream order. */
#include "cuda/code.h"

enum {
    SMALL_WORDS = 256 /* parameter words that fit the stack comfortably */
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
        atomic_store(&c->homeless, true);
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
                     .cooperative = c->device->cooperative};
    int block = gpu_resident_block(l);
    if (block)
        TRY(code_resident(c, block, &r->resident));
    return UF_OK;
}

/* The parameters go one by one: a capture refuses a cooperative launch with all in one buffer. */
static uf_status launch_zeroed(const code *c, const launch *l, const grid *g, uint64_t *words, void **parameters) {
    for (uint32_t i = 0; i < g->words; i++)
        parameters[i] = &words[i];
    cu_launch_attribute together = {.id = CU_LAUNCH_COOPERATIVE, .value = {1}};
    cu_launch_config config = {.grid = {g->blocks, 1, 1},
                               .block = {g->threads, 1, 1},
                               .shared = g->shared,
                               .stream = l->stream,
                               .attributes = &together,
                               .count = g->coop_blocks > 1};
    CU(cuMemsetD8Async, words[g->slots], 0, (size_t)g->coops * COOP_SLOT, l->stream);
    CU(cuLaunchKernelEx, &config, c->kernel, parameters, NULL);
    return UF_OK;
}

static uf_status launch_coops(const code *c, const launch *l, const grid *g, uint64_t *words) {
    cu_pointer slots = 0;
    void **parameters = mem_alloc(g->words * sizeof *parameters);
    if (!parameters)
        return fail_memory();
    uf_status s = scratch_take(c->device, (size_t)g->coops * COOP_SLOT, l->stream, &slots);
    if (!s) {
        words[g->slots] = slots;
        s = launch_zeroed(c, l, g, words, parameters);
        scratch_give(c->device, slots, l->stream);
    }
    mem_free(parameters);
    return s;
}

/* What a launch's scratch memory must hold before the kernel runs. */
static uf_status prepare_scratch(const launch *l) {
    size_t size = l->v->loop == LOOP_SCAN ? gpu_fold_scratch(l) : 0;
    if (size)
        CU(cuMemsetD8Async, (uintptr_t)l->scratch, 0, size, l->stream);
    return UF_OK;
}

static uf_status run_in_context(code *c, const launch *l, cu_context context, uint64_t *words) {
    grid g;
    occupancy r;
    TRY(find_occupancy(c, l, &r));
    TRY(gpu_layout(l, &r, words, &g));
    note_launch(c, context);
    if (g.coops)
        return launch_coops(c, l, &g, words);
    TRY(prepare_scratch(l));
    size_t bytes = g.words * sizeof *words;
    void *extra[] = {(void *)1, words, (void *)2, &bytes, NULL}; /* buffer pointer, buffer size, end */
    CU(cuLaunchKernel, c->kernel, g.blocks, 1, 1, g.threads, 1, 1, g.shared, l->stream, NULL, extra);
    return UF_OK;
}

static uf_status run_reported(code *c, const launch *l, cu_context context, uint64_t *words) {
    launch own = *l;
    TRY(report_begin(c->device, context, l, &own.report));
    return report_end(own.report, l->stream, run_in_context(c, &own, context, words));
}

/* A flag is to be one that the device can read, whether or not it will. */
static uf_status run_silent(code *c, const launch *l, cu_context context, uint64_t *words) {
    uint64_t flag;
    TRY(report_flag(l, &flag));
    return run_in_context(c, l, context, words);
}

static uf_status run_with_words(code *c, const launch *l, uint64_t *words) {
    cuda_scope scope;
    TRY(cuda_enter(c->device, &scope));
    uf_status s = (l->v->reports ? run_reported : run_silent)(c, l, scope.context, words);
    cuda_leave(&scope);
    return s;
}

static uf_status run_large(code *c, const launch *l, int count) {
    if (count > WORDS_MAX)
        return fail(UF_ERR_ARGUMENT,
                    "a loop of %d dimensions over %d operands needs %d bytes of kernel parameters; CUDA has %d",
                    l->v->ndim, variant_operands(l->v), 8 * count, 8 * WORDS_MAX);
    uint64_t *words = mem_alloc((size_t)count * sizeof *words);
    if (!words)
        return fail_memory();
    uf_status s = run_with_words(c, l, words);
    mem_free(words);
    return s;
}

uf_status launch_run(const code *shared, const launch *l) {
    code *c = (code *)(uintptr_t)shared; /* its atomics are what changes */
    uint64_t words[SMALL_WORDS];
    if (l->loop->count == 0)
        return UF_OK;
    int count = gpu_words(l->v, l->layout);
    return count <= SMALL_WORDS ? run_with_words(c, l, words) : run_large(c, l, count);
}

/* ---- The parts of a reduction ---- */

uf_status launch_fold_chunk(const code *c, const launch *l, int64_t *out) {
    int resident;
    TRY(code_resident((code *)(uintptr_t)c, gpu_fold_block(l), &resident));
    *out = gpu_fold_chunk(l, resident);
    return UF_OK;
}

int64_t launch_specialise_fold(variant *v, const fold_problem *s) {
    cuda_device *d;
    int sms = cuda_device_get(s->device, &d) ? 1 : d->sms; /* a device that is not there is an error of the launch */
    return gpu_specialise_fold(v, s, sms);
}

/* ---- Telling ---- */

static uf_status grid_with_words(code *c, const launch *l, uint64_t *words, grid *g) {
    cuda_scope scope;
    occupancy r;
    TRY(cuda_enter_relaxed(c->device, &scope));
    uf_status s = find_occupancy(c, l, &r);
    cuda_leave(&scope);
    return s ? s : gpu_layout_behind(l, &r, words, words, g);
}

uf_status launch_info(const code *shared, const launch *l, uf_launch *out) {
    code *c = (code *)(uintptr_t)shared;
    resources r;
    grid g;
    uint64_t *words = mem_alloc((size_t)gpu_words(l->v, l->layout) * sizeof *words);
    if (!words)
        return fail_memory();
    uf_status s = grid_with_words(c, l, words, &g);
    mem_free(words);
    TRY(s);
    TRY(code_resources(c, (int)g.threads, (int)g.shared, &r));
    out->grid = g.blocks;
    out->block = (int)g.threads;
    out->elements = l->v->vector * l->v->repeat;
    out->vector = l->v->vector;
    out->registers = r.registers;
    out->shared_bytes = r.shared + (int)g.shared;
    out->local_bytes = r.local;
    out->blocks_per_processor = r.blocks;
    out->occupancy = (double)r.blocks * r.block / c->device->threads;
    return UF_OK;
}
