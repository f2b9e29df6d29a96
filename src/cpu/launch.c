/* launch.c - runs a compiled kernel over a loop: writes its parameters, walks the dimensions the kernel does not, and hands
 * the work to work.c.
 *
 * Work is counted in units that may be cut anywhere: elements of a flat loop; else rows (dimension 1 and outwards), or
 * pieces of rows where there are few. The elements of a generalized ufunc's loop are its inner calls: an estimate of their
 * steps stands between sizes that were seen and sizes that were not. */
#include <assert.h>
#include <fenv.h>

#include "cpu/blas.h"
#include "cpu/cpu.h"

enum {
    GRAIN = 64, /* flat: large parts are multiples of this many elements: 64 bytes of the smallest dtype */
    TILE_ROWS =
        128, /* along dimension 1 in a unit of a loop of the class tile, which has TILE_COLUMNS along dimension 0 */
    NARROW_COLUMNS = 4096, /* where dimension 1 is narrow */
    PIECE_GRAIN = 16,      /* into multiples of this many elements (inner calls: of one) */
    /* Operands, extents and strides; the number of the first call and the report; core parameters, or indexed dimensions. */
    LOOP_PARAMETERS = VARIANT_OPERANDS * 4 + 2 + 2,
    CORE_PARAMETERS = LAYOUT_MAX_DIMS + UF_MAX_OPERANDS * LAYOUT_MAX_RANK
};

/* ---- Flat ---- */

/* Elements before the first output is at a line of the cache. */
static int64_t flat_lead(const launch *l) {
    const variant_operand *o = &l->v->operand[l->v->nin];
    return (int64_t)((0 - (uintptr_t)l->data[l->v->nin]) % LINE_BYTES / dtypes[o->memory].size);
}

/* So many of the first n elements go by a call of their own: vectors that are stored across two lines of the cache take up to twice as long. */
static int64_t flat_head(const launch *l, int64_t n) {
    enum {
        BYTES_LEAST = 1 << 14 /* of the output */
    };
    const variant_operand *o = &l->v->operand[l->v->nin];
    int64_t size = dtypes[o->memory].size;
    if (n * size < BYTES_LEAST || o->kind != OPERAND_CONTIGUOUS)
        return 0;
    return (uintptr_t)l->data[l->v->nin] % (uintptr_t)size ? 0 : flat_lead(l);
}

/* The first n elements. */
static void flat_begin(const code *c, const launch *l, int64_t n) {
    int64_t head = flat_head(l, n);
    if (head)
        flat_run(c, l, 0, head, NULL, false);
    flat_run(c, l, head, n - head, NULL, false);
}

static void run_units(const work *w, int64_t first, int64_t last) {
    if (w->stream)
        nontemporal_run(w->c, w->l, first, last - first);
    else if (first)
        flat_run(w->c, w->l, first, last - first, NULL, false);
    else
        flat_begin(w->c, w->l, last);
}

/* ---- More dimensions ---- */

/* A place in the loop: the parameters of the kernel, and the indices of the dimensions that are walked here. */
typedef struct loop_cursor {
    uint64_t parameters[LOOP_PARAMETERS + CORE_PARAMETERS];
    uint64_t *extents;                /* of dimensions 0 and 1 */
    uint64_t *number;                 /* calls that report: the number of the first; else NULL */
    uint64_t *data[VARIANT_OPERANDS]; /* where an array's address is */
    uint8_t array[VARIANT_OPERANDS];  /* its operand */
    int narrays;
    int64_t index[UF_MAX_NDIM];
} loop_cursor;

static inline int64_t stride_of(const launch *l, int d, int k) {
    return d < l->loop->ndim ? l->loop->stride[(size_t)d * (size_t)l->loop->narrays + (size_t)k] : 0;
}

static inline int64_t stride_bytes(const launch *l, int d, int k) {
    return stride_of(l, d, k) * dtypes[l->v->operand[k].memory].size;
}

static inline int64_t extent(const launch *l, int d) { return d < l->loop->ndim ? l->loop->extent[d] : 1; }

/* Operands and loop, which all classes but flat have alike; the extents are left to rows_run. */
static void put_loop(parameter_writer *w, loop_cursor *p, const launch *l) {
    const variant *v = l->v;
    p->narrays = 0;
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        uint64_t *at = put_operand(w, k, (uintptr_t)l->data[k], l->numbers);
        if (operand_has_strides(v, k)) {
            p->data[p->narrays] = at;
            p->array[p->narrays++] = (uint8_t)k;
        }
    }
    p->extents = put_parameter(w, CPU_LOOP_EXTENTS, 0);
    put_parameter(w, CPU_LOOP_EXTENTS, 0);
    for (int a = 0; a < p->narrays; a++)
        for (int d = 0; d < 2; d++)
            put_parameter(w, CPU_LOOP_STRIDES, stride_of(l, d, p->array[a]));
}

static void place_operands(loop_cursor *p, const launch *l) {
    const variant *v = l->v;
    parameter_writer w = parameters_write(p->parameters, v, l->layout, false);
    put_loop(&w, p, l);
    p->number = v->reports && v->loop == LOOP_GUFUNC ? put_parameter(&w, CPU_GUFUNC_FIRST, 0) : NULL;
    for (int i = 0; i < 2 * v->nindices; i++)
        put_parameter(&w, PARAMETER_INDEXED, l->indexed[i]);
    if (v->loop == LOOP_AT && !variant_at_rows(v))
        put_address(&w, CPU_AT_OUTSIDE, l->outside);
    if (v->reports)
        put_address(&w, PARAMETER_REPORT, l->report);
    if (l->layout)
        put_core(&w, l->layout, l->core);
    parameters_finish(&w);
}

/* Adds `steps` steps along dimension d to every address. */
static inline void place_move(loop_cursor *p, const launch *l, int d, int64_t steps) {
    for (int a = 0; a < p->narrays; a++)
        *p->data[a] += (uint64_t)(stride_bytes(l, d, p->array[a]) * steps);
}

/* To the next index of the dimensions from 2 on. */
static void place_next(loop_cursor *p, const launch *l) {
    for (int d = 2; d < l->loop->ndim; d++) {
        if (++p->index[d] < l->loop->extent[d]) {
            place_move(p, l, d, 1);
            return;
        }
        p->index[d] = 0;
        place_move(p, l, d, 1 - l->loop->extent[d]);
    }
}

/* To row `row` of the whole loop; returns its index in dimension 1. */
static int64_t place_row(loop_cursor *p, const launch *l, int64_t row) {
    for (int d = 1; d < l->loop->ndim; d++) {
        p->index[d] = row % l->loop->extent[d];
        row /= l->loop->extent[d];
        place_move(p, l, d, p->index[d]);
    }
    return l->loop->ndim > 1 ? p->index[1] : 0;
}

void rows_run(const code *c, const launch *l, int64_t first, int64_t n, int64_t row, int64_t rows) {
    loop_cursor p;
    place_operands(&p, l);
    place_move(&p, l, 0, first);
    int64_t at = place_row(&p, l, row), m = extent(l, 1);
    p.extents[0] = (uint64_t)n;
    for (int64_t take; rows; rows -= take, row += take) {
        take = m - at < rows ? m - at : rows;
        p.extents[1] = (uint64_t)take;
        if (p.number)
            *p.number = (uint64_t)(row * extent(l, 0) + first);
        c->run(p.parameters);
        if (at)
            place_move(&p, l, 1, -at);
        at = 0;
        place_next(&p, l);
    }
}

/* Units are rows, or pieces of rows: unit u is piece u % pieces of row u / pieces. Whole rows are taken together. */
static void nested_run(const work *w, int64_t first, int64_t last) {
    int64_t n = w->l->loop->extent[0];
    while (first < last) {
        int64_t row = first / w->pieces, at = first % w->pieces, left = last - first;
        if (!at && left >= w->pieces) {
            rows_run(w->c, w->l, 0, n, row, left / w->pieces);
            first += left / w->pieces * w->pieces;
        } else {
            int64_t end = w->pieces - at < left ? w->pieces : at + left;
            int64_t stop = end * w->piece < n ? end * w->piece : n;
            rows_run(w->c, w->l, at * w->piece, stop - at * w->piece, row, 1);
            first += end - at;
        }
    }
}

static void launch_flat(code *c, const launch *l) {
    int64_t n = l->loop->count;
    if (work_is_short(c, n)) { /* the short way: nothing to decide */
        flat_begin(c, l, n);
        return;
    }
    work_run(&(work){.c = c,
                     .l = l,
                     .run = run_units,
                     .units = n,
                     .unit_steps = 1,
                     .probe_min = PROBE_MIN,
                     .lead = flat_lead(l),
                     .grain = GRAIN,
                     .stream = nontemporal_wanted(l, n)});
}

static void launch_nested(code *c, const launch *l) {
    int64_t n = l->loop->extent[0];
    work w = {.c = c, .l = l, .run = nested_run, .probe_min = PROBE_MIN, .grain = 1};
    work_cut_rows(&w, l->loop->count / n, n, PIECE_GRAIN);
    w.unit_steps = (double)w.piece;
    work_run(&w);
}

/* Runs a block of a loop of the class tile: unit u is block u % pieces along dimension 0 of rows of blocks u / pieces, each of TILE_ROWS of
 * dimension 1. Blocks that cover both dimensions are taken together. */
static void tile_run(const work *w, int64_t first, int64_t last) {
    const launch *l = w->l;
    int64_t n = l->loop->extent[0], m = l->loop->extent[1], down = (m + TILE_ROWS - 1) / TILE_ROWS;
    if (w->pieces == 1 && down == 1) {
        rows_run(w->c, l, 0, n, first * m, (last - first) * m);
        return;
    }
    for (int64_t u = first; u < last; u++) {
        int64_t column = u % w->pieces * w->piece, block = u / w->pieces, row = block % down * TILE_ROWS;
        int64_t columns = n - column < w->piece ? n - column : w->piece,
                rows = m - row < TILE_ROWS ? m - row : TILE_ROWS;
        rows_run(w->c, l, column, columns, block / down * m + row, rows);
    }
}

static void launch_tiles(code *c, const launch *l) {
    int64_t n = l->loop->extent[0], m = l->loop->extent[1], piece = l->v->tile.narrow ? NARROW_COLUMNS : TILE_COLUMNS,
            across = (n + piece - 1) / piece, down = (m + TILE_ROWS - 1) / TILE_ROWS;
    work_run(&(work){.c = c,
                     .l = l,
                     .run = tile_run,
                     .units = l->loop->count / n / m * across * down,
                     .pieces = across,
                     .piece = piece,
                     .unit_steps = (double)(n < piece ? n : piece) * (double)(m < TILE_ROWS ? m : TILE_ROWS),
                     .probe_min = PROBE_MIN,
                     .grain = 1});
}

/* Steps of an inner call, roughly: as many as its dimensions have points together. Computed ones follow from the others. */
static double call_steps(const launch *l) {
    double steps = 1;
    for (int d = 0; d < l->layout->ndims; d++)
        if (!l->layout->dims[d].steps && l->core[d] > 1)
            steps *= (double)l->core[d];
    return steps;
}

static void launch_calls(code *c, const launch *l) {
    if (!c) { /* which the plan was told (blas_takes) */
        bool done = blas_launch(l);
        assert(done);
        (void)done;
        return;
    }
    int64_t n = l->loop->extent[0];
    double steps = call_steps(l);
    work w = {.c = c, .l = l, .run = nested_run, .probe_min = PROBE_MIN_CALLS, .grain = 1};
    work_cut_rows(&w, l->loop->count / n, n, 1);
    w.unit_steps = (double)w.piece * steps;
    w.size = cost_size(steps);
    work_run(&w);
}

static void launch_class(const code *c, const launch *l) {
    static void (*const by_class[LOOP_CLASSES])(code * c, const launch *l) = {
        [LOOP_FLAT] = launch_flat,    [LOOP_ROWS] = launch_nested,       [LOOP_GENERAL] = launch_nested,
        [LOOP_GUFUNC] = launch_calls, [LOOP_FOLD] = cpu_fold_launch,     [LOOP_SCAN] = cpu_scan_launch,
        [LOOP_AT] = cpu_at_launch,    [LOOP_FORALL] = cpu_forall_launch, [LOOP_TILE] = launch_tiles};
    by_class[l->v->loop]((code *)(uintptr_t)c, l);
}

/* Kernels with large arrays, and what is told to them, need the caller's room; workers have theirs. */
static bool has_room(const launch *l) {
    static const bool wanted[LOOP_CLASSES] = {
        [LOOP_FOLD] = true, [LOOP_SCAN] = true, [LOOP_FORALL] = true, [LOOP_TILE] = true, [LOOP_GUFUNC] = true};
    return !wanted[l->v->loop] || thread_scratch(0);
}

static uf_status launch_any(const code *c, const launch *l) {
    if (!has_room(l))
        return fail_memory();
    if (!l->v->reports && !l->cancel) {
        launch_class(c, l);
        return UF_OK;
    }
    report r = {.cancel = (uintptr_t)l->cancel};
    launch own = *l;
    own.report = &r;
    launch_class(c, &own);
    report_kernel where = launch_report_kernel(l);
    return r.state ? report_fail(&r, &where) : UF_OK;
}

/* Results depend on the inputs alone: not on a rounding mode, flushing to zero or traps that the caller's thread has set. */
uf_status cpu_default_mode(uf_status (*job)(void *user), void *user) {
#if defined(__x86_64__)
    const unsigned raised = 0x3f, defaults = 0x1f80; /* of MXCSR: exceptions that happened; all masked, to nearest */
    unsigned mode = __builtin_ia32_stmxcsr();
    if ((mode & ~raised) == defaults)
        return job(user);
    __builtin_ia32_ldmxcsr(defaults);
    uf_status s = job(user);
    __builtin_ia32_ldmxcsr(mode);
#else
    fenv_t mode;
    feholdexcept(&mode);
    fesetenv(FE_DFL_ENV);
    uf_status s = job(user);
    fesetenv(&mode);
#endif
    return s;
}

typedef struct code_launch {
    const code *c;
    const launch *l;
} code_launch;

static uf_status launch_job(void *user) {
    const code_launch *job = user;
    return launch_any(job->c, job->l);
}

uf_status cpu_launch(const code *c, const launch *l) {
    return l->loop->count ? cpu_default_mode(launch_job, &(code_launch){c, l}) : UF_OK;
}

/* ---- Launches that are made again ---- */

bool cpu_keep(const code *c, const launch *l, kept_launch *out) {
    const variant *v = l->v;
    int64_t n = l->loop->count;
    bool fits = variant_operands(v) + FLAT_PARAMETERS - 2 * VARIANT_OPERANDS <= KEPT_WORDS;
    if (v->loop != LOOP_FLAT || v->reports || l->cancel || l->progress || !fits || nontemporal_wanted(l, n))
        return false;
    for (int k = 0; k < variant_operands(v); k++)
        if (v->operand[k].kind == OPERAND_NUMBER)
            return false;
    int64_t head = flat_head(l, n);
    *out = (kept_launch){.c = c, .elements = n, .headed = head > 0, .alone = l->threads == 1};
    flat_parameters(out->head, l, 0, head, NULL, false);
    flat_parameters(out->parameters, l, head, n - head, NULL, false);
    return true;
}

static uf_status repeat_job(void *user) {
    const kept_launch *k = user;
    if (k->headed)
        k->c->run(k->head);
    k->c->run(k->parameters);
    return UF_OK;
}

bool cpu_repeat(const kept_launch *k) {
    if (!k->alone && !work_is_short(k->c, k->elements))
        return false;
    return !cpu_default_mode(repeat_job, (void *)(uintptr_t)k);
}
