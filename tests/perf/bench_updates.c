/* bench_updates.c - uf_at and uf_reduceat: counters, sums by index, and sums of segments; on the CPU beside plain C loops, where rates are of
 * indices, or of elements, and on the GPU (peers: limits_updates.cu), where they are of bytes that are read and written. Results are compared
 * with those of loops here. */
#include "bench.h"

enum {
    ELEMENTS = 1 << 24,
    RUNS = 9,
    GPU_ELEMENTS = 1 << 26
};

typedef void plain_counters(int64_t n, const int32_t *at, int64_t *bins);
typedef void plain_sums(int64_t n, const int32_t *at, const double *x, double *bins);
typedef void plain_segments(int64_t segments, const int64_t *starts, int64_t n, const float *x, float *sums);

static plain_counters *counters_by_c;
static plain_sums *sums_by_c;
static plain_segments *segments_by_c;

static const char ONE[] = "libufunc 1 thread", ALL[] = "libufunc all threads", C[] = "gcc -O3 -march=native";

/* A call that is timed: one of uf_at or uf_reduceat, or a plain loop (system: C). */
typedef struct problem {
    uf_func *add;
    DLTensor target, index, operand; /* of uf_at */
    DLTensor x, starts, sums;        /* of uf_reduceat */
    int64_t segments;                /* 0: it is one of uf_at */
} problem;

static void run(const problem *p, const char *system) {
    const uf_options options = {.size = sizeof options, .threads = system == ONE};
    if (system == C && p->segments)
        segments_by_c(p->segments, p->starts.data, ELEMENTS, p->x.data, p->sums.data);
    else if (system == C && p->operand.ndim)
        sums_by_c(ELEMENTS, p->index.data, p->operand.data, p->target.data);
    else if (system == C)
        counters_by_c(ELEMENTS, p->index.data, p->target.data);
    else if (p->segments)
        MUST(uf_reduceat(p->add, 2, (DLTensor[]){p->x, p->sums}, &p->starts, 0, &options));
    else
        MUST(uf_at(p->add, &p->target, 1, &p->index, &p->operand, &options));
}

static void time_all(const problem *p, const char *name) {
    const char *const systems[] = {ONE, ALL, C};
    double t[RUNS];
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
        if (systems[s] == C && !counters_by_c)
            continue;
        for (int k = -1; k < RUNS; k++) {
            double begin = now();
            run(p, systems[s]);
            if (k >= 0)
                t[k] = now() - begin;
        }
        row(name, systems[s], "Gelem/s", 1e-9 * ELEMENTS, t, RUNS);
    }
}

/* Counts, or adds x, in so many bins, at places that are drawn evenly. */
static void at_case(uf_func *add, const char *name, int bins, double *x) {
    int32_t *at = memory(sizeof *at * ELEMENTS);
    int64_t *counts = memory(8 * (size_t)bins);
    double *want = memory(8 * (size_t)bins);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        at[i] = (int32_t)noise(0, bins);
        want[at[i]] += x ? x[i] : 1;
    }
    problem p = {
        .add = add, .index = UF_ARRAY(at, ELEMENTS), .operand = x ? UF_ARRAY(x, ELEMENTS) : UF_SCALAR((int64_t){1})};
    p.target = UF_ARRAY(counts, bins);
    p.target.dtype = x ? UF_DTYPE_OF(*x) : p.target.dtype;
    run(&p, ALL);
    for (int k = 0; k < bins; k++) {
        double got = x ? ((double *)p.target.data)[k] : (double)counts[k];
        check(fabs(got - want[k]) <= 1e-9 * want[k], name);
    }
    time_all(&p, name);
    free(at);
    free(counts);
    free(want);
}

static void segments_case(uf_func *add, const char *name, int64_t length, float *x) {
    int64_t n = ELEMENTS / length, *starts = memory(8 * (size_t)n);
    float *sums = memory(4 * (size_t)n);
    for (int64_t k = 0; k < n; k++)
        starts[k] = k * length;
    problem p = {.add = add, .x = UF_ARRAY(x, ELEMENTS), .segments = n};
    p.starts = UF_ARRAY(starts, n);
    p.sums = UF_ARRAY(sums, n);
    run(&p, ALL);
    for (int64_t k = 0; k < n; k++) {
        double want = 0;
        for (int64_t i = starts[k]; i < starts[k] + length; i++)
            want += (double)x[i];
        check(fabs((double)sums[k] - want) <= 1e-5 * want, name);
    }
    time_all(&p, name);
    free(starts);
    free(sums);
}

/* ---- GPU. limits_updates.cu draws the same numbers ---- */

typedef struct gpu_problem {
    uf_func *add;
    DLTensor args[2], starts; /* of uf_reduceat */
    DLTensor target, index, operand;
    unsigned flags;
} gpu_problem;

static void gpu_segments_run(void *user) {
    gpu_problem *p = user;
    const uf_options options = {.size = sizeof options, .flags = p->flags};
    MUST(uf_reduceat(p->add, 2, p->args, &p->starts, 0, &options));
}

static void gpu_at_run(void *user) {
    gpu_problem *p = user;
    MUST(uf_at(p->add, &p->target, 1, &p->index, &p->operand, NULL));
}

typedef enum lengths {
    EVEN,
    DRAWN, /* from half of the mean to one and a half */
    SKEWED /* the last segment has half of all elements */
} lengths;

static void gpu_segments(uf_func *add, const char *name, int mean, lengths way, unsigned flags) {
    const DLDataType i64 = {kDLInt, 64, 1};
    int64_t n = 0, all = way == SKEWED ? GPU_ELEMENTS / 2 + 1 : GPU_ELEMENTS,
            *starts = memory((size_t)(all / mean * 2 + 2) * sizeof *starts);
    float *x = memory(GPU_ELEMENTS * sizeof *x), *got;
    double t[REPETITIONS];
    draw_state = 1;
    for (int64_t at = 0; at < all; at += way == DRAWN ? mean / 2 + (int)draw((unsigned)mean + 1) : mean)
        starts[n++] = at;
    for (int64_t i = 0; i < GPU_ELEMENTS; i++)
        x[i] = (float)draw(8);
    starts[n] = GPU_ELEMENTS;
    gpu_problem p = {.add = add, .flags = flags, .starts = to_gpu(starts, i64, n)};
    p.args[0] = to_gpu(x, f32, GPU_ELEMENTS);
    p.args[1] = on_gpu(f32, n);
    gpu_segments_run(&p);
    got = memory((size_t)n * sizeof *got);
    DLTensor host = UF_ARRAY(got, n);
    MUST(uf_copy(&host, &p.args[1], NULL));
    for (int64_t k = 0; k < n; k++) {
        double want = 0;
        for (int64_t i = starts[k]; i < starts[k + 1]; i++)
            want += (double)x[i];
        check(fabs((double)got[k] - want) <= 1e-5 * want, name);
    }
    gpu_time(gpu_segments_run, &p, t, REPETITIONS);
    row(name, "libufunc", "GB/s", 1e-9 * (4. * GPU_ELEMENTS + 12. * (double)n), t, REPETITIONS);
    free(starts);
    free(x);
    free(got);
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The target has the beginning of an allocation of its own, of 4 MiB at least: on an H200 256 KiB whose address is no multiple of 64 KiB take an
 * eighth longer, in CUDA, too. */
static void gpu_sums(uf_func *add, const char *name, int64_t bins, bool sorted) {
    const DLDataType i64 = {kDLInt, 64, 1};
    int64_t *at = memory(ELEMENTS * sizeof *at), room = bins < 1 << 20 ? 1 << 20 : bins;
    float *x = memory(ELEMENTS * sizeof *x), *got = memory((size_t)room * sizeof *got);
    double *wanted = memory((size_t)bins * sizeof *wanted), t[REPETITIONS];
    draw_state = 1;
    for (int64_t i = 0; i < ELEMENTS; i++)
        at[i] = draw((unsigned)bins);
    if (sorted)
        qsort(at, ELEMENTS, sizeof *at, by_number);
    for (int64_t i = 0; i < ELEMENTS; i++)
        wanted[at[i]] += x[i] = (float)draw(8);
    gpu_problem p = {.add = add,
                     .target = to_gpu(got, f32, room),
                     .index = to_gpu(at, i64, ELEMENTS),
                     .operand = to_gpu(x, f32, ELEMENTS)};
    p.target.shape = &bins;
    gpu_at_run(&p);
    DLTensor host = UF_ARRAY(got, bins);
    MUST(uf_copy(&host, &p.target, NULL));
    for (int64_t k = 0; k < bins; k++)
        check(fabs((double)got[k] - wanted[k]) <= 1e-5 * wanted[k], name);
    gpu_time(gpu_at_run, &p, t, REPETITIONS);
    row(name, "libufunc", "GB/s", 12e-9 * ELEMENTS, t, REPETITIONS);
    free(at);
    free(x);
    free(got);
    free(wanted);
}

static void gpu_cases(uf_func *add) {
    gpu_segments(add, "gpu_segments_f32_4", 4, EVEN, 0);
    gpu_segments(add, "gpu_segments_f32_64", 64, EVEN, 0);
    gpu_segments(add, "gpu_segments_f32_1000", 1000, EVEN, 0);
    gpu_segments(add, "gpu_segments_f32_drawn_16", 16, DRAWN, 0);
    gpu_segments(add, "gpu_segments_f32_drawn_100", 100, DRAWN, 0);
    gpu_segments(add, "gpu_segments_f32_half_among_16", 16, SKEWED, UF_UNEVEN);
    gpu_segments(add, "gpu_segments_f32_half_among_1000", 1000, SKEWED, UF_UNEVEN);
    gpu_sums(add, "gpu_sums_f32_64K", 1 << 16, false);
    gpu_sums(add, "gpu_sums_f32_64K_sorted", 1 << 16, true);
    gpu_sums(add, "gpu_sums_f32_4M", 1 << 22, false);
}

int main(int argc, char **argv) {
    void *plain = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    uf_func *add;
    MUST(uf_load(&add, "add"));
    if (driver_open())
        gpu_cases(add);
    if (getenv("BENCH_GPU_ONLY"))
        return 0;
    float *x = memory(sizeof *x * ELEMENTS);
    double *wide = memory(sizeof *wide * ELEMENTS);
    if (plain) {
        *(void **)&counters_by_c = dlsym(plain, "plain_counters");
        *(void **)&sums_by_c = dlsym(plain, "plain_sums");
        *(void **)&segments_by_c = dlsym(plain, "plain_segments");
    } else {
        fprintf(stderr, "bench: no plain_updates.so; the plain C loops are left out\n");
    }
    for (int64_t i = 0; i < ELEMENTS; i++)
        wide[i] = x[i] = (float)noise(.5, 2);
    at_case(add, "cpu_counters_i64_256", 1 << 8, NULL);
    at_case(add, "cpu_counters_i64_1M", 1 << 20, NULL);
    at_case(add, "cpu_sums_f64_64K", 1 << 16, wide);
    segments_case(add, "cpu_segments_f32_4", 4, x);
    segments_case(add, "cpu_segments_f32_64", 64, x);
    segments_case(add, "cpu_segments_f32_4096", 4096, x);
    uf_free(add);
    return 0;
}
