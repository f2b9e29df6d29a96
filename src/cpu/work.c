/* work.c - spreads the work of a launch over threads where that makes it faster. How long a step takes is learned
 * for each kernel from runs that are timed, so that a small call of a cheap kernel and an expensive kernel on few
 * elements need not be told apart beforehand. */
#include <math.h>
#include <time.h>

#include "cpu/cpu.h"

enum {
    /* Costs are in ticks: those of the time stamp counter (0.3 to 0.5 ns), or nanoseconds where there is none. */
    /* Runs that should take less time stay on the caller's thread. */
    TICKS_PARALLEL = 60000,
    TICKS_PART = 25000, /* a part for another thread takes at least this long */
    /* A thread gets several parts, so that one that starts late or is slowed down takes fewer. */
    PARTS_A_THREAD = 4,
    ROWS_ENOUGH = 256, /* loops of fewer rows are cut within rows too */
    PROBE = 64,        /* a kernel of unknown cost is timed on 1 / PROBE of the work first */
    LARGE_PART = 4,    /* parts of at least so many grains are cut between grains */
    /* Calls that are watched, because they can be cancelled or say how much is done: about the time that a part takes, and how much
     * longer than the one before it a part may be, since the cost that a short one shows may be that of its call. */
    TICKS_WATCHED = 20000000,
    GROWTH = 4
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

int cost_size(double steps) {
    int size;
    frexp(steps, &size);
    return size < COST_SIZES ? size : COST_SIZES - 1;
}

void work_cut_rows(work *w, int64_t rows, int64_t n, int64_t grain) {
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

/* The cost of a step; if it is not known for that size, the one of the nearest size. 0: none is known. */
static uint32_t cost_of(const work *w) {
    uint32_t cost = cost_at(w->c, w->size);
    for (int away = 1; !cost && away < COST_SIZES; away++) {
        cost = w->size >= away ? cost_at(w->c, w->size - away) : 0;
        if (!cost && w->size + away < COST_SIZES)
            cost = cost_at(w->c, w->size + away);
    }
    return cost;
}

/* Makes the new cost the mean of what was known and what was measured. */
static void learn(const work *w, uint64_t took, double steps) {
    double cost = (double)took * 1024 / steps;
    uint32_t least = w->cost_min ? w->cost_min : 1, seen = cost > 4e9 ? 4000000000u : (uint32_t)cost;
    seen = seen < least ? least : seen;
    uint32_t known = cost_at(w->c, w->size);
    atomic_store_explicit(&w->c->cost[w->size], known ? known / 2 + seen / 2 + 1 : seen, memory_order_relaxed);
}

/* Was the call cancelled? It is asked between parts, so that a call can be cancelled whatever its kernel does. */
static bool is_cancelled(const launch *l) {
    if (!l->cancel || !__atomic_load_n(l->cancel, __ATOMIC_RELAXED))
        return false;
    report_cancelled(l->report);
    return true;
}

/* Adds what so many units are of the launch to the share that is done. Sums of rounded shares may end beside 1, and so do those of launches
 * that consist of more works than they said. */
static void add_progress(const work *w, int64_t units) {
    volatile double *done = w->l->progress;
    double more = (double)units / (double)w->units * (w->share > 0 ? w->share : 1), sum, old;
    if (!done)
        return;
    __atomic_load(done, &old, __ATOMIC_RELAXED);
    do
        sum = old + more < 1 ? old + more : 1;
    while (!__atomic_compare_exchange(done, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void run_timed(const work *w, int64_t first, int64_t last) {
    if (is_cancelled(w->l))
        return;
    uint64_t start = ticks();
    w->run(w, first, last);
    learn(w, ticks() - start, (double)(last - first) * w->unit_steps);
    add_progress(w, last - first);
}

static double estimate(const work *w, int64_t units) {
    return (double)cost_of(w) * (double)units * w->unit_steps / 1024;
}

static bool is_watched(const launch *l) { return l->cancel || l->progress; }

/* Units first .. last-1 on this thread. The flag that cancels a call is looked at before each part. */
static void run_here(const work *w, int64_t first, int64_t last) {
    int64_t part = is_watched(w->l) ? 1 : last - first;
    while (first < last) {
        int64_t n = part < last - first ? part : last - first;
        run_timed(w, first, first + n);
        first += n;
        double units = TICKS_WATCHED / (estimate(w, 1) + 1);
        part = units < (double)GROWTH * (double)n ? (int64_t)units + 1 : GROWTH * n;
    }
}

/* Work cut into parts. Part k is base + k * size .. base + (k + 1) * size; part 0 begins at `first`, which is at
 * most base. */
typedef struct split {
    const work *w;
    int64_t first, base, last, size;
} split;

static void run_part(void *user, int64_t k) {
    const split *s = user;
    int64_t begin = s->base + k * s->size;
    run_timed(s->w, k ? begin : s->first, s->last - begin > s->size ? begin + s->size : s->last);
}

/* Cuts work into parts of `size` units or somewhat more. Large parts are cut between cache lines of the first
 * output. */
static split split_make(const work *w, int64_t first, int64_t size) {
    split s = {.w = w, .first = first, .base = first, .last = w->units, .size = size};
    if (size >= LARGE_PART * w->grain) {
        int64_t past = (first + w->grain - w->lead) % w->grain;
        s.base = past ? first + w->grain - past : first;
        s.size = (size + w->grain - 1) / w->grain * w->grain;
    }
    return s;
}

/* How many parts work for so many threads is cut into. */
static double parts_of(const work *w, double total, int threads) {
    double parts = total / TICKS_PART, most = (double)threads * PARTS_A_THREAD;
    if (is_watched(w->l) && most < total / TICKS_WATCHED)
        most = total / TICKS_WATCHED;
    return parts < most ? parts : most;
}

/* Runs units first .. units-1, where the cost is known, on as many threads as make it faster. */
static void run_rest(const work *w, int64_t first) {
    double total = estimate(w, w->units - first);
    int threads = w->l->threads;
    if (total < TICKS_PARALLEL || threads == 1 || (threads = threads ? threads : cpu_count()) == 1) {
        run_here(w, first, w->units);
        return;
    }
    split s = split_make(w, first, (int64_t)((double)(w->units - first) / parts_of(w, total, threads)) + 1);
    pool_run(threads, s.last <= s.base ? 1 : (s.last - s.base + s.size - 1) / s.size, run_part, &s);
}

bool work_parallel(const work *w) {
    return w->l->threads != 1 && estimate(w, w->units) >= TICKS_PARALLEL && cpu_count() > 1;
}

void work_run(const work *w) {
    if (!cost_of(w)) {
        int64_t probe = w->units < w->probe_min ? w->units : w->units / PROBE + 1;
        run_here(w, 0, probe);
        if (probe < w->units)
            run_rest(w, probe);
    } else if (estimate(w, w->units) < TICKS_TIMED) {
        w->run(w, 0, w->units);
    } else {
        run_rest(w, 0);
    }
}
