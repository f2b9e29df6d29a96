/* bench_reduce.c - our side of the benchmark of reductions and scans: any operator, any axis, large and small. Results are
 * checked against plain loops before they are timed; a case that fails is left out, and the exit status says so. */
#include "bench.h"

enum {
    AXES = 3,
    LOOKS = 5 /* results of a case that are checked */
};

static int failures;

/* ---- Operators ---- */

typedef struct operation {
    const char *name, *signatures;
    uf_reduction_def def;
} operation;

#define DEF(...) \
    { .size = sizeof(uf_reduction_def), __VA_ARGS__ }

static const operation sum = {"sum", "float32->float32; float64->float64; float16->float32; int8->int64",
                              DEF(.combine = UF_SOURCE((a, b) { return a + b; }), .identity = "0")},
                       product = {"prod", "float32->float32",
                                  DEF(.combine = UF_SOURCE((a, b) { return a * b; }), .identity = "1")},
                       either = {"user", "float32->float32", /* the chance of one of two events */
                                 DEF(.combine = UF_SOURCE((a, b) { return a + b - a * b; }), .identity = "0")},
                       largest = {"max", "float32->float32; float64->float64",
                                  DEF(.combine = UF_SOURCE((a, b) { return max(a, b); }))},
                       bounds = {"minmax", "float32->float32,float32",
                                 DEF(.map = UF_SOURCE((x)->(low, high) {
                                         low = x;
                                         high = x;
                                     }),
                                     .combine = UF_SOURCE((a, b, c, d)->(low, high) {
                                         low = min(a, c);
                                         high = max(b, d);
                                     }))},
                       where_largest = {"argmax", "float32->int64; float64->int64",
                                        DEF(.map = UF_SOURCE([k](x) -> (v, i) {
                                                v = x;
                                                i = k;
                                            }),
                                            .combine = UF_SOURCE((v, i, w, j)->(r, k) {
                                                bool first = v > w || (v == w && i < j);
                                                r = first ? v : w;
                                                k = first ? i : j;
                                            }),
                                            .finish = UF_SOURCE((v, i) { return i; }),
                                            .state = "float32,int64; float64,int64")};

static uf_func *make(const operation *o) {
    uf_func *f;
    MUST(uf_reduction(&f, o->name, o->signatures, &o->def));
    return f;
}

/* ---- One call ---- */

/* A reduction of the first argument, or a scan of it. The shapes live here: do not copy. */
typedef struct problem {
    uf_func *f;
    bool scans;
    int nargs, axis; /* axis -1: all */
    DLTensor args[3];
    int64_t shape[AXES], out_shape[AXES];
    int threads;
} problem;

static uf_status run(const problem *p) {
    if (p->scans)
        return uf_accumulate(p->f, p->nargs, p->args, p->axis,
                             &(uf_options){.size = sizeof(uf_options), .threads = p->threads});
    return uf_reduce(p->f, p->nargs, p->args,
                     &(uf_reduce_options){.size = sizeof(uf_reduce_options),
                                          .naxes = p->axis >= 0,
                                          .axes = p->axis >= 0 ? &p->axis : NULL,
                                          .threads = p->threads});
}

/* x has the shape; results go to `out`, whose second line is that of a second output. */
static void problem_make(problem *p, uf_func *f, DLTensor x, int ndim, const int64_t *shape, int axis, bool scans,
                         const DLTensor *out, int nout) {
    *p = (problem){.f = f, .scans = scans, .nargs = 1 + nout, .axis = axis, .args = {x}};
    int rank = 0;
    for (int d = 0; d < ndim; d++) {
        p->shape[d] = shape[d];
        if (scans || (axis >= 0 && d != axis))
            p->out_shape[rank++] = shape[d];
    }
    p->args[0].ndim = ndim;
    p->args[0].shape = p->shape;
    for (int k = 0; k < nout; k++) {
        p->args[1 + k] = out[k];
        p->args[1 + k].ndim = rank;
        p->args[1 + k].shape = p->out_shape;
    }
}

/* The lines along the axis: `count` of them, of `length` elements `stride` apart. */
typedef struct lines {
    int64_t count, length, stride;
} lines;

static lines lines_of(const problem *p) {
    lines l = {1, 1, 1};
    for (int d = 0; d < p->args[0].ndim; d++) {
        bool reduced = p->axis < 0 || d == p->axis;
        *(reduced ? &l.length : &l.count) *= p->shape[d];
        if (p->axis >= 0 && d > p->axis)
            l.stride *= p->shape[d];
    }
    return l;
}

static int64_t place(const lines *l, int64_t i, int64_t k) {
    return i / l->stride * l->stride * l->length + i % l->stride + k * l->stride;
}

/* ---- Checks: of line i of x, up to and with element `last`, in double ----
 *
 * x has 2^28 numbers, or fewer; a longer array repeats them. */

static const int64_t all = 1 << 28;
static float element(const float *x, const lines *l, int64_t i, int64_t k) { return x[place(l, i, k) & (all - 1)]; }

typedef double plain_fold(const float *x, const lines *l, int64_t i, int64_t last);

static double plain_sum(const float *x, const lines *l, int64_t i, int64_t last) {
    double part[4] = {0, 0, 0, 0};
    for (int64_t k = 0; k <= last; k++)
        part[k & 3] += (double)element(x, l, i, k);
    return part[0] + part[1] + (part[2] + part[3]);
}

static double plain_max(const float *x, const lines *l, int64_t i, int64_t last) {
    float most = element(x, l, i, 0);
    for (int64_t k = 1; k <= last; k++)
        most = fmaxf(most, element(x, l, i, k));
    return (double)most;
}

static double plain_min(const float *x, const lines *l, int64_t i, int64_t last) {
    float least = element(x, l, i, 0);
    for (int64_t k = 1; k <= last; k++)
        least = fminf(least, element(x, l, i, k));
    return (double)least;
}

static double plain_argmax(const float *x, const lines *l, int64_t i, int64_t last) {
    int64_t at = 0;
    for (int64_t k = 1; k <= last; k++)
        at = element(x, l, i, k) > element(x, l, i, at) ? k : at;
    return (double)at;
}

/* What prod reduces, so that its result is exact; and what user reduces, small numbers of either sign. */
static const char sign_source[] = "(x) { return x < 1.25f ? -1.0f : 1.0f; }",
                  small_part_source[] = "(x) { return (x - 1.25f) * 1e-4f; }";
static double sign_of(float x) { return x < 1.25f ? -1 : 1; }
static double small_part(float x) { return (double)((x - 1.25f) * 1e-4f); }

static double plain_product(const float *x, const lines *l, int64_t i, int64_t last) {
    double r = 1;
    for (int64_t k = 0; k <= last; k++)
        r *= sign_of(element(x, l, i, k));
    return r;
}

static double plain_either(const float *x, const lines *l, int64_t i, int64_t last) {
    double neither = 1;
    for (int64_t k = 0; k <= last; k++)
        neither *= 1 - small_part(element(x, l, i, k));
    return 1 - neither;
}

static const char small_source[] = "(x) { return (int8)(x * 60 - 70); }";
static double plain_small_sum(const float *x, const lines *l, int64_t i, int64_t last) {
    int64_t r = 0;
    for (int64_t k = 0; k <= last; k++)
        r += (int8_t)(element(x, l, i, k) * 60 - 70);
    return (double)r;
}

/* Element `at` of an output, as a double. */
static double result(const DLTensor *out, int64_t at) {
    double value;
    int64_t one = 1;
    DLTensor element = *out, to = UF_ARRAY(&value, 1);
    element.ndim = 1;
    element.shape = &one;
    element.strides = NULL;
    element.byte_offset += (uint64_t)(at * (out->dtype.bits / 8));
    MUST(uf_copy(&to, &element, NULL));
    return value;
}

/* Calls once and looks at some results. `x` is the input in host memory, or what the fold makes it of. */
static bool right(const problem *p, const char *name, const float *x, plain_fold *const *plain, double tolerance) {
    lines l = lines_of(p);
    if (run(p)) {
        fprintf(stderr, "%s: %s\n", name, uf_last_error()->message);
        failures++;
        return false;
    }
    for (int look = 0; look < LOOKS; look++) {
        int64_t i = (l.count - 1) * look / (LOOKS - 1),
                last = p->scans ? (l.length - 1) * look / (LOOKS - 1) : l.length - 1;
        for (int k = 1; k < p->nargs && (look == 0 || l.count > 1 || p->scans); k++) {
            double want = plain[k - 1](x, &l, i, last);
            double got = result(&p->args[k], p->scans ? place(&l, i, last) : i);
            if (fabs(got - want) <= tolerance * fabs(want))
                continue;
            fprintf(stderr, "%s: wrong result %lld: %.9g, not %.9g\n", name, (long long)i, got, want);
            failures++;
            return false;
        }
    }
    return true;
}

/* ---- CPU ---- */

static void cpu_time(problem *p, const char *name, int64_t n) {
    static const struct {
        const char *system;
        int threads;
    } ways[] = {{"libufunc 1 thread", 1}, {"libufunc all threads", 0}};
    double t[REPETITIONS];
    int inner = n <= 65536 ? 100 : 1;
    for (int way = 0; way < 2; way++) {
        p->threads = ways[way].threads;
        for (int k = -3; k < REPETITIONS; k++) {
            double start = now();
            for (int j = 0; j < inner; j++)
                run(p);
            if (k >= 0)
                t[k] = (now() - start) / inner;
        }
        row(name, ways[way].system, "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    }
}

static const struct {
    const char *name;
    const operation *operation;
    plain_fold *plain;
    int axis; /* of a square; -1: of one dimension */
    bool scans, integer;
} cpu_cases[] = {
    {"sum", &sum, plain_sum, -1, false, false},
    {"sum_axis0", &sum, plain_sum, 0, false, false},
    {"sum_axis1", &sum, plain_sum, 1, false, false},
    {"max", &largest, plain_max, -1, false, false},
    {"argmax", &where_largest, plain_argmax, -1, false, true},
    {"cumsum", &sum, plain_sum, -1, true, false},
};

/* One size and dtype: x has the numbers in float32, `data` in the dtype. */
static void cpu_size(int64_t n, const char *tag, const float *x, DLTensor data, DLTensor out) {
    const DLDataType i64 = {kDLInt, 64, 1};
    int64_t side = (int64_t)(sqrt((double)n) + .5), square[] = {side, side};
    for (size_t c = 0; c < sizeof cpu_cases / sizeof *cpu_cases; c++) {
        char name[64];
        problem p;
        DLTensor to = out;
        bool line = cpu_cases[c].axis < 0;
        if (cpu_cases[c].integer)
            to.dtype = i64;
        snprintf(name, sizeof name, "cpu_%s_f%d_%s", cpu_cases[c].name, data.dtype.bits, tag);
        uf_func *f = make(cpu_cases[c].operation);
        problem_make(&p, f, data, line ? 1 : 2, line ? &n : square, cpu_cases[c].scans ? 0 : cpu_cases[c].axis,
                     cpu_cases[c].scans, &to, 1);
        p.threads = 1;
        if (right(&p, name, x, &cpu_cases[c].plain, cpu_cases[c].integer ? 0 : 1e-4))
            cpu_time(&p, name, n);
        uf_free(f);
    }
}

static void cpu_small(float *x, float *out) {
    enum {
        CALLS = 20000
    };
    double t[REPETITIONS];
    problem p;
    uf_func *f = make(&sum);
    plain_fold *plain = plain_sum;
    problem_make(&p, f, UF_ARRAY(x, 16), 1, (int64_t[]){16}, -1, false, &UF_ARRAY(out, 1), 1);
    if (right(&p, "cpu_reduce_16", x, &plain, 1e-6)) {
        for (int k = 0; k < REPETITIONS; k++) {
            t[k] = now();
            for (int j = 0; j < CALLS; j++)
                run(&p);
            t[k] = (now() - t[k]) / CALLS;
        }
        row("cpu_reduce_16", "uf_reduce", "host us/call", 0, t, REPETITIONS);
    }
    uf_free(f);
}

static void cpu_all(void) {
    const int64_t most = 1 << 24;
    float *x = memory(4 * (size_t)most), *r = memory(8 * (size_t)most);
    double *wide = memory(8 * (size_t)most);
    for (int64_t i = 0; i < most; i++)
        wide[i] = (double)(x[i] = (float)noise(.5, 2));
    for (int64_t n = 1 << 16; n <= most; n <<= 8) {
        const char *tag = n == most ? "16M" : "64K";
        cpu_size(n, tag, x, UF_ARRAY(x, n), UF_ARRAY(r, n));
        cpu_size(n, tag, x, UF_ARRAY(wide, n), UF_ARRAY((double *)(void *)r, n));
    }
    cpu_small(x, r);
    free(x);
    free(r);
    free(wide);
}

/* ---- GPU ---- */

static void gpu_run(void *user) { MUST(run(user)); }

static void gpu_case(problem *p, const char *name, double gigabytes, const float *x, plain_fold *const *plain,
                     double tolerance) {
    double t[REPETITIONS];
    if (!right(p, name, x, plain, tolerance))
        return;
    gpu_time(gpu_run, p, t, REPETITIONS);
    row(name, "libufunc", "GB/s", gigabytes, t, REPETITIONS);
}

/* The device's arrays, 1 GiB each. */
static DLTensor device_x, device_sign, device_part, device_r, device_small, device_half;
static float *host_x;

static void apply(const char *source, const char *signature, DLTensor x, DLTensor r) {
    uf_func *f;
    MUST(uf_vectorize(&f, "fill", signature, source));
    MUST(uf_call(f, 2, (DLTensor[]){x, r}, NULL));
    uf_free(f);
}

/* Those of int8 and float16 are full of copies of x. */
static void gpu_arrays(void) {
    int64_t twice[] = {2, all}, four_times[] = {4, all};
    host_x = memory(4 * (size_t)all);
    for (int64_t i = 0; i < all; i++)
        host_x[i] = (float)noise(.5, 2);
    device_x = on_gpu(f32, all);
    device_sign = on_gpu(f32, all);
    device_part = on_gpu(f32, all);
    device_r = on_gpu(f32, all);
    device_half = on_gpu((DLDataType){kDLFloat, 16, 1}, 2 * all);
    device_small = on_gpu((DLDataType){kDLInt, 8, 1}, 4 * all);
    MUST(uf_copy(&device_x, &UF_ARRAY(host_x, all), NULL));
    apply(sign_source, "float32->float32", device_x, device_sign);
    apply(small_part_source, "float32->float32", device_x, device_part);
    DLTensor half = device_half, small = device_small;
    half.ndim = small.ndim = 2;
    half.shape = twice;
    small.shape = four_times;
    MUST(uf_copy(&half, &device_x, NULL));
    apply(small_source, "float32->int8", device_x, small);
}

static void gpu_full(void) {
    static const DLDataType i64 = {kDLInt, 64, 1};
    static const struct {
        const operation *operation;
        const DLTensor *x;
        plain_fold *plain[2];
        double tolerance;
    } cases[] = {{&sum, &device_x, {plain_sum}, 1e-5},
                 {&product, &device_sign, {plain_product}, 0},
                 {&either, &device_part, {plain_either}, 1e-3},
                 {&where_largest, &device_x, {plain_argmax}, 0},
                 {&bounds, &device_x, {plain_min, plain_max}, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char name[64];
        problem p;
        DLTensor out[] = {device_r, device_r};
        out[1].byte_offset = 256;
        if (cases[c].operation == &where_largest)
            out[0].dtype = i64;
        snprintf(name, sizeof name, "gpu_%s_f32", cases[c].operation->name);
        uf_func *f = make(cases[c].operation);
        problem_make(&p, f, *cases[c].x, 1, &all, -1, false, out, cases[c].plain[1] ? 2 : 1);
        gpu_case(&p, name, 4e-9 * (double)all, host_x, cases[c].plain, cases[c].tolerance);
        uf_free(f);
    }
}

static const struct {
    int64_t shape[AXES];
    int ndim, first, last; /* axes */
} gpu_shapes[] = {{{1 << 14, 1 << 14}, 2, 0, 1}, {{1 << 22, 64}, 2, 0, 1},      {{64, 1 << 22}, 2, 0, 1},
                  {{1 << 18, 1 << 10}, 2, 0, 1}, {{1 << 10, 1 << 18}, 2, 0, 1}, {{512, 512, 1024}, 3, 1, 1}};

static void gpu_axes(uf_func *f) {
    plain_fold *plain = plain_sum;
    for (size_t s = 0; s < sizeof gpu_shapes / sizeof *gpu_shapes; s++)
        for (int axis = gpu_shapes[s].first; axis <= gpu_shapes[s].last; axis++) {
            char name[64], *at = name + sprintf(name, "gpu_sum_f32_");
            problem p;
            for (int d = 0; d < gpu_shapes[s].ndim; d++)
                at += sprintf(at, d ? "x%lld" : "%lld", (long long)gpu_shapes[s].shape[d]);
            sprintf(at, "_axis%d", axis);
            problem_make(&p, f, device_x, gpu_shapes[s].ndim, gpu_shapes[s].shape, axis, false, &device_r, 1);
            gpu_case(&p, name, 4e-9 * (double)all, host_x, &plain, 1e-5);
        }
}

/* Other inputs: all of the array, and either axis of 2^14 lines. */
static void gpu_dtypes(uf_func *f) {
    static const DLDataType i64 = {kDLInt, 64, 1}, f64 = {kDLFloat, 64, 1};
    int64_t half = all / 2;
    DLTensor first_half = device_x, wide = device_sign; /* which is needed no more */
    wide.dtype = f64;
    wide.shape = first_half.shape = &half;
    MUST(uf_copy(&wide, &first_half, NULL));
    const struct {
        const char *name;
        const DLTensor *x;
        DLDataType out;
        plain_fold *plain;
        double tolerance;
    } cases[] = {{"f16", &device_half, f32, plain_sum, 1e-3},
                 {"i8", &device_small, i64, plain_small_sum, 0},
                 {"f64", &wide, f64, plain_sum, 1e-10}};
    for (int c = 0; c < 3; c++)
        for (int axis = -1; axis < 2; axis++) {
            char name[64];
            problem p;
            int64_t shape[] = {1 << 14, cases[c].x->shape[0] >> 14};
            DLTensor out = device_r;
            out.dtype = cases[c].out;
            snprintf(name, sizeof name, axis < 0 ? "gpu_sum_%s" : "gpu_sum_%s_axis%d", cases[c].name, axis);
            problem_make(&p, f, *cases[c].x, 2, shape, axis, false, &out, 1);
            gpu_case(&p, name, 4e-9 * (double)all, host_x, &cases[c].plain, cases[c].tolerance);
        }
}

static void gpu_scans(uf_func *f) {
    static const int64_t square[] = {1 << 14, 1 << 14};
    plain_fold *plain = plain_sum;
    problem p;
    problem_make(&p, f, device_x, 1, &all, 0, true, &device_r, 1);
    gpu_case(&p, "gpu_cumsum_f32", 8e-9 * (double)all, host_x, &plain, 1e-4);
    for (int axis = 0; axis < 2; axis++) {
        char name[64];
        snprintf(name, sizeof name, "gpu_cumsum_f32_16384x16384_axis%d", axis);
        problem_make(&p, f, device_x, 2, square, axis, true, &device_r, 1);
        gpu_case(&p, name, 8e-9 * (double)all, host_x, &plain, 1e-4);
    }
}

/* The host's time for a small reduction, and for as many bare launches as it takes. */
static void gpu_small(uf_func *f, int64_t n, const char *name) {
    enum {
        CALLS = 400
    };
    static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry bare(.param .u64 a, .param .u64 b, .param .u64 n) { ret; }\n";
    static const char *const systems[] = {"bare launches", "uf_reduce", "uf_plan_run"};
    uf_plan *plan;
    double t[REPETITIONS];
    void *module, *kernel;
    size_t scratch;
    plain_fold *plain = plain_sum;
    problem p;
    problem_make(&p, f, device_x, 1, &n, -1, false, &device_r, 1);
    void *params[] = {&p.args[0].data, &p.args[1].data, &n};
    if (!right(&p, name, host_x, &plain, 1e-5))
        return;
    check(!cu.load(&module, ptx) && !cu.get(&kernel, module, "bare"), name);
    MUST(uf_reduce_scratch_size(&scratch, f, 2, p.args, NULL));
    int launches = scratch ? 2 : 1;
    MUST(uf_reduce_plan(&plan, f, 2, p.args, NULL));
    void *data[] = {p.args[0].data, p.args[1].data};
    for (int turn = 0; turn < 6; turn++) { /* the first three warm up */
        int way = turn % 3;
        for (int k = 0; k < REPETITIONS; k++) {
            MUST(uf_sync(p.args[0].device, NULL));
            t[k] = now();
            for (int j = 0; j < CALLS; j++)
                if (way == 1)
                    run(&p);
                else if (way == 2)
                    MUST(uf_plan_run(plan, data, NULL));
                else
                    for (int i = 0; i < launches; i++)
                        cu.launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
            t[k] = (now() - t[k]) / CALLS;
        }
        if (turn >= 3)
            row(name, systems[way], "host us/call", 0, t, REPETITIONS);
    }
    uf_plan_free(plan);
}

static void gpu_all(void) {
    uf_func *f = make(&sum);
    gpu_arrays();
    gpu_full();
    gpu_axes(f);
    gpu_dtypes(f);
    gpu_scans(f);
    gpu_small(f, 16, "gpu_reduce_16");
    gpu_small(f, 65536, "gpu_reduce_65536");
    uf_free(f);
}

int main(void) {
    if (!getenv("BENCH_GPU_ONLY"))
        cpu_all();
    if (driver_open())
        gpu_all();
    else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return failures != 0;
}
