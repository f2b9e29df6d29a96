/* launch.c - from a loop to a grid: how many elements a thread takes (part of the variant, so of the code), and at each
 * launch the parameter block, the blocks and the threads. The layout of words and tiles is that of type/variant.h; each class
 * of loops is a row of a table. Nothing here allocates device memory, waits, or asks the driver anything but the current
 * context; cooperative groups of several blocks (calls.c) need memory. */
#include "cuda/launch.h"

enum {
    IN_FLIGHT = 32,        /* bytes a thread should load before it computes: 48 KiB a multiprocessor and more */
    IN_FLIGHT_SHARED = 64, /* the same where a row is shared: each row of a thread more is a load of it less */
    FLAT_REPEAT_MAX = 4,
    ROWS_REPEAT_MAX = 8,
    GENERAL_REPEAT = 4,
    SMALL_WORDS = 256 /* parameter words that fit the stack comfortably */
};

/* Indices of the general class are computed with 32 bits below this: some way below 2^31, so that those of the threads past
 * the end do not wrap. */
static const int64_t narrow_max = INT32_MAX - 65536;

static bool is_output(const variant *v, int k) { return k >= v->nin && k < v->nin + v->nout; }

/* ---- Specialising ---- */

/* Elements in one access of the widest operand that is accessed by vectors. */
static int vector_width(const variant *v) {
    int largest = 1;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_CONTIGUOUS && element_size(v, k) > largest)
            largest = element_size(v, k);
    return ACCESS / largest;
}

/* Bytes of the contiguous inputs of one element; the mask is one, `fixed` operands are not. */
static int input_bytes(const variant *v) {
    int bytes = 0;
    for (int k = 0; k < variant_operands(v); k++)
        if (!is_output(v, k) && v->operand[k].kind == OPERAND_CONTIGUOUS && !v->operand[k].fixed)
            bytes += element_size(v, k);
    return bytes;
}

/* Large bodies are not multiplied: they are bound by computation, and cost registers and compile time. */
static void lighten(variant *v, const code_traits *traits) {
    int most = traits->has_loop ? 1 : BODY_MAX / (traits->nodes > 0 ? traits->nodes : 1);
    while (v->repeat > 1 && v->vector * v->repeat > most)
        v->repeat /= 2;
    while (v->vector > 1 && v->vector * v->repeat > most)
        v->vector /= 2;
}

static void specialise_flat(variant *v, const problem *s) {
    int vector = vector_width(v), bytes = vector * input_bytes(v);
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)(bytes ? repeat_for(bytes, IN_FLIGHT, FLAT_REPEAT_MAX) : 1);
    lighten(v, s->traits);
}

static bool is_narrow(const variant *v, const nd_loop *loop) {
    if (loop->count > narrow_max)
        return false;
    for (int k = 0; k < variant_operands(v); k++) {
        int64_t reach = 0, part;
        if (v->operand[k].kind == OPERAND_NUMBER)
            continue;
        for (int d = 0; d < loop->ndim; d++) {
            int64_t stride = stride_of(loop, d, k);
            if (stride == INT64_MIN ||
                __builtin_mul_overflow(stride < 0 ? -stride : stride, loop->extent[d] - 1, &part) ||
                __builtin_add_overflow(reach, part, &reach) || reach > INT32_MAX)
                return false;
        }
    }
    return true;
}

void general_specialise(variant *v, const problem *s) {
    v->loop = LOOP_GENERAL;
    v->vector = 1;
    v->repeat = GENERAL_REPEAT;
    v->wide = !is_narrow(v, s->loop);
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].fixed = 0;
    lighten(v, s->traits);
}

/* How a block of the rows class is laid out: 2^shift threads along a row; the tiles of dimensions 0 and 1; all blocks, or
 * more than GRID_MAX. */
typedef struct tiling {
    unsigned shift;
    int64_t across, down, blocks;
} tiling;

static tiling rows_tiling(const variant *v, const nd_loop *loop, unsigned threads) {
    unsigned vector = log2_floor(v->vector), repeat = log2_floor(v->repeat), all = log2_floor(threads);
    unsigned wanted = log2_ceil((uint64_t)ceil_shift(loop->extent[0], vector));
    tiling t = {.shift = wanted < all ? wanted : all};
    t.across = ceil_shift(loop->extent[0], t.shift + vector);
    t.down = ceil_shift(loop->extent[1], all - t.shift + repeat);
    t.blocks = t.across;
    for (int d = 1; d < loop->ndim; d++)
        if (__builtin_mul_overflow(t.blocks, d == 1 ? t.down : loop->extent[d], &t.blocks) || t.blocks > GRID_MAX) {
            t.blocks = INT64_MAX;
            break;
        }
    return t;
}

/* Threads that a plane of dimensions 0 and 1 keeps busy. */
static int64_t plane_threads(const variant *v, const nd_loop *loop) {
    int64_t lanes = ceil_shift(loop->extent[0], log2_floor(v->vector)),
            rows = ceil_shift(loop->extent[1], log2_floor(v->repeat));
    return lanes > BLOCK_MAX || rows > BLOCK_MAX ? BLOCK_MAX : lanes * rows;
}

static void specialise_rows(variant *v, const problem *s) {
    const nd_loop *loop = s->loop;
    bool shared = false;
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->kind != OPERAND_NUMBER && !is_output(v, k) && stride_of(loop, 1, k) == 0;
        shared |= o->fixed && o->kind == OPERAND_CONTIGUOUS;
    }
    int vector = vector_width(v), bytes = vector * input_bytes(v), most = ROWS_REPEAT_MAX;
    while (most > 1 && most / 2 >= loop->extent[1])
        most /= 2;
    v->vector = (uint8_t)vector;
    v->repeat = (uint8_t)(bytes ? repeat_for(bytes, shared ? IN_FLIGHT_SHARED : IN_FLIGHT, most) : most);
    lighten(v, s->traits);
    /* planes that leave a warp idle, and more tiles than a grid has blocks */
    if ((loop->ndim > 2 && plane_threads(v, loop) < WARP) || rows_tiling(v, loop, WARP).blocks > GRID_MAX)
        general_specialise(v, s);
}

/* ---- Parameter blocks ---- */

static int count_arrays(const variant *v, int *words) {
    int arrays = 0;
    *words = 0;
    for (int k = 0; k < variant_operands(v); k++) {
        arrays += v->operand[k].kind != OPERAND_NUMBER;
        *words += operand_words(&v->operand[k]);
    }
    return arrays;
}

static uint64_t *put_operands(uint64_t *w, const launch *l) {
    const variant *v = l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        const variant_operand *o = &v->operand[k];
        if (o->kind != OPERAND_NUMBER) {
            *w++ = (uint64_t)(uintptr_t)l->data[k];
            continue;
        }
        *w++ = l->numbers[k][0];
        if (operand_words(o) == 2)
            *w++ = l->numbers[k][1];
    }
    return w;
}

/* Elements before the first index at which every contiguous operand is aligned for vectors; -1: none, or beyond the end. */
static int64_t find_head(const launch *l) {
    const variant *v = l->v;
    int64_t head = -1;
    for (int k = 0; k < variant_operands(v); k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t size = (uintptr_t)element_size(v, k), width = size * v->vector; /* powers of two */
        uintptr_t before = (0 - (uintptr_t)l->data[k]) & (width - 1);
        int64_t here = (int64_t)(before >> log2_floor(size));
        if (before & (size - 1) || (head >= 0 && head != here))
            return -1;
        head = here;
    }
    return head > l->loop->count ? -1 : head;
}

/* Is every row of every contiguous operand aligned for vectors? */
static bool rows_aligned(const launch *l) {
    const variant *v = l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        if (v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        uintptr_t misaligned = (uintptr_t)l->data[k] & ((uintptr_t)element_size(v, k) * v->vector - 1);
        for (int d = 1; d < l->loop->ndim; d++)
            misaligned |= (uintptr_t)stride_of(l->loop, d, k) & (v->vector - 1u);
        if (misaligned)
            return false;
    }
    return true;
}

/* ---- Layouts: each writes the words after the operands', sets the threads of a block, and returns the number of blocks.
 * Small loops get smaller blocks, so that every multiprocessor has work. ---- */

static int64_t layout_line(int64_t n, unsigned elements, const occupancy *r, grid *g) {
    unsigned per = log2_floor(elements), shift = log2_floor(r->block);
    int64_t blocks = ceil_shift(n, per + shift);
    g->threads = r->block;
    while (blocks < r->sms && g->threads > BLOCK_MIN) {
        g->threads /= 2;
        blocks = ceil_shift(n, per + --shift);
    }
    return blocks ? blocks : 1;
}

static int64_t layout_flat(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    int64_t n = l->loop->count, head = find_head(l);
    w[0] = (uint64_t)n;
    w[1] = (uint64_t)head;
    return layout_line(n, (unsigned)l->v->vector * l->v->repeat, r, g);
}

int64_t general_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    *w++ = (uint64_t)l->loop->count;
    for (int d = 0; d < l->loop->ndim - 1; d++)
        w = put_divisor(w, l->loop->extent[d], l->v->wide);
    put_strides(w, l, 0);
    return layout_line(l->loop->count, l->v->repeat, r, g);
}

static int64_t layout_rows(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    const nd_loop *loop = l->loop;
    int64_t busy = plane_threads(l->v, loop);
    unsigned threads = r->block;
    while (threads > WARP && threads / 2 >= busy)
        threads /= 2;
    tiling t = rows_tiling(l->v, loop, threads);
    while (t.blocks < r->sms && threads > BLOCK_MIN) {
        threads /= 2;
        t = rows_tiling(l->v, loop, threads);
    }
    *w++ = (uint64_t)loop->extent[0];
    *w++ = (uint64_t)loop->extent[1];
    *w++ = t.shift;
    *w++ = rows_aligned(l);
    w = put_divisor(w, t.across, false);
    w = put_divisor(w, t.down, false);
    for (int d = 2; d < loop->ndim - 1; d++)
        w = put_divisor(w, loop->extent[d], false);
    put_strides(w, l, 1);
    g->threads = threads;
    return t.blocks;
}

static int words_flat(const variant *v, const core_layout *layout, int arrays) {
    (void)v, (void)layout, (void)arrays;
    return 2;
}

static int words_rows(const variant *v, const core_layout *layout, int arrays) {
    (void)layout;
    return 10 + 3 * (v->ndim > 3 ? v->ndim - 3 : 0) + arrays * (v->ndim - 1);
}

int general_words(const variant *v, const core_layout *layout, int arrays) {
    (void)layout;
    return 1 + 3 * (v->ndim - 1) + arrays * v->ndim;
}

/* ---- Classes ---- */

static const struct {
    void (*specialise)(variant *v, const problem *s);
    int (*words)(const variant *v, const core_layout *layout, int arrays); /* after the operands' */
    int64_t (*layout)(const launch *l, const occupancy *r, uint64_t *w, grid *g);
} classes[LOOP_CLASSES] = {
    [LOOP_FLAT] = {specialise_flat, words_flat, layout_flat},
    [LOOP_ROWS] = {specialise_rows, words_rows, layout_rows},
    [LOOP_GENERAL] = {general_specialise, general_words, general_layout},
    [LOOP_GUFUNC] = {gufunc_specialise, gufunc_words, gufunc_layout},
    [LOOP_FOLD] = {NULL, fold_words, fold_layout},
    [LOOP_SCAN] = {NULL, scan_words, scan_layout},
    [LOOP_AT] = {at_specialise, at_words, at_layout},
    [LOOP_FORALL] = {forall_specialise, forall_words, forall_layout},
};

void launch_specialise(variant *v, const nd_loop *loop, const core_layout *layout, const int64_t *core,
                       const code_traits *traits) {
    v->ndim = (uint8_t)loop->ndim;
    v->wide = 0;
    classes[v->loop].specialise(v, &(problem){loop, layout, core, traits});
}

int64_t launch_specialise_fold(variant *v, const fold_problem *s) {
    static int64_t (*const by_class[LOOP_CLASSES])(variant * v, const fold_problem *s) = {
        [LOOP_FOLD] = fold_specialise, [LOOP_SCAN] = scan_specialise};
    return by_class[v->loop](v, s);
}

size_t launch_fold_scratch(const launch *l) { return l->v->loop == LOOP_SCAN ? scan_scratch(l) : 0; }

/* Classes that know nothing of the elements of a report have its address in the last word. */
static bool reports_last(const variant *v) {
    return v->reports && (v->loop == LOOP_FOLD || v->loop == LOOP_SCAN || v->loop == LOOP_AT);
}

int launch_words(const variant *v, const core_layout *layout) {
    int words, arrays = count_arrays(v, &words);
    return words + classes[v->loop].words(v, layout, arrays) + reports_last(v);
}

/* What is laid out behind the operands' words. */
static uf_status layout_behind(const launch *l, const occupancy *r, uint64_t *words, uint64_t *w, grid *g) {
    *g = (grid){.words = (uint32_t)launch_words(l->v, l->layout), .slots = (uint32_t)(w - words)};
    int64_t blocks = classes[l->v->loop].layout(l, r, w, g);
    if (blocks > GRID_MAX)
        return fail(UF_ERR_ARGUMENT, "%lld elements take more than the %lld blocks of a CUDA grid",
                    (long long)l->loop->count, (long long)GRID_MAX);
    g->blocks = (uint32_t)blocks;
    if (reports_last(l->v))
        words[g->words - 1] = (uintptr_t)l->report;
    return UF_OK;
}

uf_status launch_layout(const launch *l, const occupancy *r, uint64_t *words, grid *g) {
    return layout_behind(l, r, words, put_operands(words, l), g);
}

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
    const variant *v = l->v;
    if (!atomic_load_explicit(&c->block, memory_order_acquire))
        TRY(prepare_late(c));
    *r = (occupancy){.block = atomic_load_explicit(&c->block, memory_order_relaxed),
                     .sms = c->device->sms,
                     .cooperative = c->device->cooperative};
    if (v->loop == LOOP_GUFUNC && v->coop == COOP_GRID)
        TRY(code_resident(c, 1 << COOP_GRID_BLOCK, &r->resident));
    if (v->loop == LOOP_FORALL && variant_privatised(v))
        TRY(code_resident(c, forall_block(l), &r->resident));
    return UF_OK;
}

static uf_status run_in_context(code *c, const launch *l, cu_context context, uint64_t *words) {
    grid g;
    occupancy r;
    TRY(find_occupancy(c, l, &r));
    TRY(launch_layout(l, &r, words, &g));
    note_launch(c, context);
    if (g.coops)
        return gufunc_launch_coops(c, l, &g, words);
    if (l->v->loop == LOOP_SCAN)
        TRY(scan_prepare(l));
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
    int count = launch_words(l->v, l->layout);
    return count <= SMALL_WORDS ? run_with_words(c, l, words) : run_large(c, l, count);
}

/* ---- Telling ---- */

static uf_status grid_with_words(code *c, const launch *l, uint64_t *words, grid *g) {
    cuda_scope scope;
    occupancy r;
    TRY(cuda_enter_relaxed(c->device, &scope));
    uf_status s = find_occupancy(c, l, &r);
    cuda_leave(&scope);
    return s ? s : layout_behind(l, &r, words, words, g);
}

uf_status launch_info(const code *shared, const launch *l, uf_launch *out) {
    code *c = (code *)(uintptr_t)shared;
    resources r;
    grid g;
    uint64_t *words = mem_alloc((size_t)launch_words(l->v, l->layout) * sizeof *words);
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
