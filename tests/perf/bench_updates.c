/* bench_updates.c - uf_at and uf_reduceat on the CPU, beside plain C loops: counters, sums by index, and sums of segments. Rates are of
 * indices, or of elements. Results are compared with those of the plain loops, and with a loop here where there are none. */
#include "bench.h"

enum {
    ELEMENTS = 1 << 24,
    RUNS = 9
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

int main(int argc, char **argv) {
    void *plain = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    uf_func *add;
    float *x = memory(sizeof *x * ELEMENTS);
    double *wide = memory(sizeof *wide * ELEMENTS);
    if (getenv("BENCH_GPU_ONLY"))
        return 0;
    if (plain) {
        *(void **)&counters_by_c = dlsym(plain, "plain_counters");
        *(void **)&sums_by_c = dlsym(plain, "plain_sums");
        *(void **)&segments_by_c = dlsym(plain, "plain_segments");
    } else {
        fprintf(stderr, "bench: no plain_updates.so; the plain C loops are left out\n");
    }
    for (int64_t i = 0; i < ELEMENTS; i++)
        wide[i] = x[i] = (float)noise(.5, 2);
    MUST(uf_load(&add, "add"));
    at_case(add, "cpu_counters_i64_256", 1 << 8, NULL);
    at_case(add, "cpu_counters_i64_1M", 1 << 20, NULL);
    at_case(add, "cpu_sums_f64_64K", 1 << 16, wide);
    segments_case(add, "cpu_segments_f32_4", 4, x);
    segments_case(add, "cpu_segments_f32_64", 64, x);
    segments_case(add, "cpu_segments_f32_4096", 4096, x);
    uf_free(add);
    return 0;
}
