/* launch.c - runs a compiled kernel over a loop: lays out its words, walks the dimensions the kernel does not, and spreads
 * the work over threads where it pays.
 *
 * Work is counted in units that may be cut anywhere: elements of a flat loop; else rows (dimension 1 and outwards), or
 * pieces of rows where there are few. What an element costs is learned per kernel from timed runs, so that neither a small
 * call of a light kernel nor a heavy kernel on few elements needs to be told apart beforehand. The elements of a generalized
 * ufunc's loop are its inner calls: an estimate of their steps stands between sizes that were seen and sizes that were not. */
#include <fenv.h>
#include <math.h>
#include <time.h>

#include "cpu/blas.h"
#include "cpu/cpu.h"

enum {
    /* Costs are in ticks: of the time stamp counter (0.3 to 0.5 ns), or nanoseconds. */
    TICKS_TIMED = 2500,     /* runs that should take less are not timed */
    TICKS_PARALLEL = 60000, /* runs that should take less stay on the caller's thread */
    TICKS_PART = 25000,     /* smallest part for another thread */
    PARTS_A_THREAD = 4,     /* so that threads that start late or are slowed down have less to do */
    PROBE = 64,             /* a kernel of unknown cost is timed on 1 / PROBE of the work first, */
    PROBE_MIN = 16,         /* if there are so many units, */
    PROBE_MIN_CALLS = 2,    /* or inner calls */
    GRAIN = 64,             /* flat: large parts are multiples of this many elements: 64 bytes of the smallest dtype, */
    LARGE_PART = 4,         /* and have so many grains at least */
    ROWS_ENOUGH = 256,      /* loops of fewer rows are cut within rows too, */
    PIECE_GRAIN = 16,       /* into multiples of this many elements (inner calls: of one) */
    MOST_WORDS = VARIANT_OPERANDS * 4 + 2,
    MOST_CORE_WORDS = LAYOUT_MAX_DIMS + UF_MAX_OPERANDS * LAYOUT_MAX_RANK
};

static inline uint64_t ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* The work of one launch. */
typedef struct work {
    code *c;
    const launch *l;
    void (*run)(const struct work *w, int64_t first, int64_t last); /* units first .. last-1 */
    int64_t units;
    double unit_steps;     /* elements in a unit; of inner calls, their steps */
    int size;              /* which of the costs they have */
    int64_t probe_min;     /* a kernel of unknown cost is probed first if there are so many units */
    int64_t lead, grain;   /* large parts are cut at lead + k * grain; lead < grain */
    int64_t pieces, piece; /* loops of more dimensions: pieces a row, and elements in a piece */
    bool stream;
} work;

/* ---- Flat ---- */

static void flat_run(const work *w, int64_t first, int64_t last) {
    uint64_t words[MOST_WORDS];
    if (w->stream) {
        stream_run(w->c, w->l, first, last - first);
        return;
    }
    words[flat_words(w->l, first, words)] = (uint64_t)(last - first);
    w->c->run(words);
}

/* Elements before the first output is at a multiple of 64 bytes. */
static int64_t flat_lead(const launch *l) {
    const variant_operand *o = &l->v->operand[l->v->nin];
    return (int64_t)((0 - (uintptr_t)l->data[l->v->nin]) % 64 / dtypes[o->memory].size);
}

/* ---- More dimensions ---- */

/* A place in the loop: the words of the kernel, and the indices of the dimensions that are walked here. */
typedef struct place {
    uint64_t words[MOST_WORDS + MOST_CORE_WORDS];
    size_t used;                    /* words up to the extents */
    uint8_t word[VARIANT_OPERANDS]; /* where an array's address is; arrays only */
    uint8_t array[VARIANT_OPERANDS];
    int narrays;
    int64_t index[UF_MAX_NDIM];
} place;

static inline int64_t stride_bytes(const launch *l, int d, int k) {
    const nd_loop *loop = l->loop;
    return d < loop->ndim
               ? loop->stride[(size_t)d * (size_t)loop->narrays + (size_t)k] * dtypes[l->v->operand[k].memory].size
               : 0;
}

static inline int64_t extent(const launch *l, int d) { return d < l->loop->ndim ? l->loop->extent[d] : 1; }

static void place_operands(place *p, const launch *l) {
    const variant *v = l->v;
    p->used = 0;
    p->narrays = 0;
    for (int k = 0, count = variant_operands(v); k < count; k++) {
        const variant_operand *o = &v->operand[k];
        if (o->kind != OPERAND_NUMBER) {
            p->word[p->narrays] = (uint8_t)p->used;
            p->array[p->narrays++] = (uint8_t)k;
            p->words[p->used++] = (uintptr_t)l->data[k];
        } else {
            p->words[p->used++] = l->numbers[k][0];
            if (o->value == DT_COMPLEX128)
                p->words[p->used++] = l->numbers[k][1];
        }
    }
    uint64_t *strides = p->words + p->used + 2;
    for (int a = 0; a < p->narrays; a++)
        for (int d = 0; d < 2; d++)
            *strides++ =
                (uint64_t)(d < l->loop->ndim ? l->loop->stride[(size_t)d * (size_t)l->loop->narrays + p->array[a]] : 0);
    if (l->layout)
        memcpy(strides, l->core, (size_t)l->layout->nwords * sizeof *strides);
}

/* Adds `steps` steps along dimension d to every address. */
static inline void place_move(place *p, const launch *l, int d, int64_t steps) {
    for (int a = 0; a < p->narrays; a++)
        p->words[p->word[a]] += (uint64_t)(stride_bytes(l, d, p->array[a]) * steps);
}

/* To the next index of the dimensions from 2 on. */
static void place_next(place *p, const launch *l) {
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
static int64_t place_row(place *p, const launch *l, int64_t row) {
    for (int d = 1; d < l->loop->ndim; d++) {
        p->index[d] = row % l->loop->extent[d];
        row /= l->loop->extent[d];
        place_move(p, l, d, p->index[d]);
    }
    return l->loop->ndim > 1 ? p->index[1] : 0;
}

/* Elements first .. first + n - 1 of rows row .. row + rows - 1. */
static void run_rows(const code *c, const launch *l, int64_t first, int64_t n, int64_t row, int64_t rows) {
    place p;
    place_operands(&p, l);
    place_move(&p, l, 0, first);
    int64_t at = place_row(&p, l, row), m = extent(l, 1);
    p.words[p.used] = (uint64_t)n;
    for (int64_t take; rows; rows -= take) {
        take = m - at < rows ? m - at : rows;
        p.words[p.used + 1] = (uint64_t)take;
        c->run(p.words);
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
            run_rows(w->c, w->l, 0, n, row, left / w->pieces);
            first += left / w->pieces * w->pieces;
        } else {
            int64_t end = w->pieces - at < left ? w->pieces : at + left;
            int64_t stop = end * w->piece < n ? end * w->piece : n;
            run_rows(w->c, w->l, at * w->piece, stop - at * w->piece, row, 1);
            first += end - at;
        }
    }
}

/* ---- How the work is spread ---- */

static inline uint32_t cost_at(const code *c, int size) {
    return atomic_load_explicit(&c->cost[size], memory_order_relaxed);
}

/* What a step costs; where that is not known, at the nearest size. 0: nothing is known. */
static uint32_t cost_of(const work *w) {
    uint32_t cost = cost_at(w->c, w->size);
    for (int away = 1; !cost && away < COST_SIZES; away++) {
        cost = w->size >= away ? cost_at(w->c, w->size - away) : 0;
        if (!cost && w->size + away < COST_SIZES)
            cost = cost_at(w->c, w->size + away);
    }
    return cost;
}

/* What was learned: half of what was known, half of what was seen. */
static void learn(const work *w, uint64_t took, double steps) {
    double cost = (double)took * 1024 / steps;
    uint32_t seen = cost < 1 ? 1 : cost > 4e9 ? 4000000000u : (uint32_t)cost;
    uint32_t known = cost_at(w->c, w->size);
    atomic_store_explicit(&w->c->cost[w->size], known ? known / 2 + seen / 2 + 1 : seen, memory_order_relaxed);
}

static void run_timed(const work *w, int64_t first, int64_t last) {
    uint64_t start = ticks();
    w->run(w, first, last);
    learn(w, ticks() - start, (double)(last - first) * w->unit_steps);
}

static double estimate(const work *w, int64_t units) {
    return (double)cost_of(w) * (double)units * w->unit_steps / 1024;
}

/* Work cut into parts: part k is base + k * size .. base + (k + 1) * size, and part 0 begins at `first` <= base. */
typedef struct split {
    const work *w;
    int64_t first, base, last, size;
} split;

static void run_part(void *user, int64_t k) {
    const split *s = user;
    int64_t begin = s->base + k * s->size;
    run_timed(s->w, k ? begin : s->first, s->last - begin > s->size ? begin + s->size : s->last);
}

/* Parts of `size` units or a little more; those that are large are cut between cache lines of the first output. */
static split split_make(const work *w, int64_t first, int64_t size) {
    split s = {.w = w, .first = first, .base = first, .last = w->units, .size = size};
    if (size >= LARGE_PART * w->grain) {
        int64_t past = (first + w->grain - w->lead) % w->grain;
        s.base = past ? first + w->grain - past : first;
        s.size = (size + w->grain - 1) / w->grain * w->grain;
    }
    return s;
}

/* Units first .. units-1, whose cost per element is known, on as many threads as pay. */
static void run_rest(const work *w, int64_t first) {
    double total = estimate(w, w->units - first);
    int threads = w->l->threads;
    if (total < TICKS_PARALLEL || threads == 1 || (threads = threads ? threads : cpu_count()) == 1) {
        run_timed(w, first, w->units);
        return;
    }
    double parts = total / TICKS_PART, most = (double)threads * PARTS_A_THREAD;
    split s = split_make(w, first, (int64_t)((double)(w->units - first) / (parts < most ? parts : most)) + 1);
    pool_run(threads, s.last <= s.base ? 1 : (s.last - s.base + s.size - 1) / s.size, run_part, &s);
}

static void run_work(const work *w) {
    if (!cost_of(w)) {
        int64_t probe = w->units < w->probe_min ? w->units : w->units / PROBE + 1;
        run_timed(w, 0, probe);
        if (probe < w->units)
            run_rest(w, probe);
    } else if (estimate(w, w->units) < TICKS_TIMED) {
        w->run(w, 0, w->units);
    } else {
        run_rest(w, 0);
    }
}

static void launch_flat(code *c, const launch *l) {
    int64_t n = l->loop->count;
    uint32_t cost = cost_at(c, 0);
    if (cost && n < TICKS_TIMED && n * cost < TICKS_TIMED * INT64_C(1024)) { /* the short way: nothing to decide */
        uint64_t words[MOST_WORDS];
        words[flat_words(l, 0, words)] = (uint64_t)n;
        c->run(words);
        return;
    }
    run_work(&(work){.c = c,
                     .l = l,
                     .run = flat_run,
                     .units = n,
                     .unit_steps = 1,
                     .probe_min = PROBE_MIN,
                     .lead = flat_lead(l),
                     .grain = GRAIN,
                     .stream = stream_wanted(l, n)});
}

/* Cuts the rows of a loop of few into pieces of at least `grain` elements. */
static void cut_rows(work *w, int64_t rows, int64_t n, int64_t grain) {
    w->units = rows;
    w->pieces = 1;
    w->piece = n;
    if (rows < ROWS_ENOUGH && n >= 2 * grain) {
        int64_t pieces = (ROWS_ENOUGH + rows - 1) / rows;
        int64_t piece = (n + pieces - 1) / pieces;
        w->piece = (piece + grain - 1) / grain * grain;
        w->pieces = (n + w->piece - 1) / w->piece;
        w->units = rows * w->pieces;
    }
}

static void launch_nested(code *c, const launch *l) {
    int64_t n = l->loop->extent[0];
    work w = {.c = c, .l = l, .run = nested_run, .probe_min = PROBE_MIN, .grain = 1};
    cut_rows(&w, l->loop->count / n, n, PIECE_GRAIN);
    w.unit_steps = (double)w.piece;
    run_work(&w);
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
    if (l->blas && blas_launch(l))
        return;
    int64_t n = l->loop->extent[0];
    double steps = call_steps(l);
    work w = {.c = c, .l = l, .run = nested_run, .probe_min = PROBE_MIN_CALLS, .grain = 1};
    cut_rows(&w, l->loop->count / n, n, 1);
    w.unit_steps = (double)w.piece * steps;
    frexp(steps, &w.size);
    w.size = w.size < COST_SIZES ? w.size : COST_SIZES - 1;
    run_work(&w);
}

static void launch_any(const code *c, const launch *l) {
    static void (*const by_class[LOOP_CLASSES])(code * c, const launch *l) = {[LOOP_FLAT] = launch_flat,
                                                                              [LOOP_ROWS] = launch_nested,
                                                                              [LOOP_GENERAL] = launch_nested,
                                                                              [LOOP_CALLS] = launch_calls};
    by_class[l->v->loop]((code *)(uintptr_t)c, l);
}

/* Results depend on the inputs alone: not on a rounding mode, flushing to zero or traps that the caller's thread has set. */
uf_status cpu_launch(const code *c, const launch *l) {
    if (!l->loop->count)
        return UF_OK;
#if defined(__x86_64__)
    const unsigned raised = 0x3f, defaults = 0x1f80; /* of MXCSR: exceptions that happened; all masked, to nearest */
    unsigned mode = __builtin_ia32_stmxcsr();
    if ((mode & ~raised) == defaults) {
        launch_any(c, l);
        return UF_OK;
    }
    __builtin_ia32_ldmxcsr(defaults);
    launch_any(c, l);
    __builtin_ia32_ldmxcsr(mode);
#else
    fenv_t mode;
    feholdexcept(&mode);
    fesetenv(FE_DFL_ENV);
    launch_any(c, l);
    fesetenv(&mode);
#endif
    return UF_OK;
}
