/* bench_lines.c - our side of the benchmark of functions along an axis, of float32 and bfloat16: softmax and layer_norm along the last axis,
 * rows of 256 to 2^20, and along the first, of columns of 64 to 2^21. Useful bytes: one read and one write. Some results are
 * checked against plain loops before a case is timed. */
#include "bench.h"

enum {
    RUNS = 7,
    AFFINE = 2,
    CHECKED = 3,
    HIGHEST = 1 << 21 /* columns that are read again for each reduction */
};

static const DLDataType bf16 = {kDLBfloat, 16, 1};
static int failures;
static double copying[RUNS]; /* seconds of a copy of all elements of the type */
static int64_t copied;       /* bytes of that */

/* A matrix of which each line along `axis` is one inner call. */
typedef struct lines {
    const char *function;
    DLDataType type;
    int64_t shape[2], line[1]; /* line: the shape of weight and bias */
    int axis;
    uf_func *f;
    int nargs;
    DLTensor args[5];
    uf_options options;
} lines;

static void lines_run(void *user) {
    lines *l = user;
    MUST(uf_call(l->f, l->nargs, l->args, &l->options));
}

/* Element i of the result; of layer_norm with weights and biases of AFFINE. */
static double plain_at(const double *x, int64_t n, bool softmax, int64_t i) {
    double top = x[0], sum = 0, squares = 0;
    for (int64_t j = 0; j < n; j++)
        top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; j++)
        sum += softmax ? exp(x[j] - top) : x[j];
    if (softmax)
        return exp(x[i] - top) / sum;
    double mean = sum / (double)n;
    for (int64_t j = 0; j < n; j++)
        squares += (x[j] - mean) * (x[j] - mean);
    return (x[i] - mean) / sqrt(squares / (double)n + 1e-5) * AFFINE + AFFINE;
}

/* Line `which` of argument k as numbers, in memory that the caller frees. */
static double *fetch(const lines *l, int k, int64_t which) {
    int64_t n = l->shape[l->axis], stride = l->axis ? 1 : l->shape[1];
    float *host = memory(4 * (size_t)n);
    double *line = memory(8 * (size_t)n);
    DLTensor part = l->args[k], to = UF_ARRAY(host, n);
    part.ndim = 1;
    part.shape = &n;
    part.strides = &stride;
    part.byte_offset += (uint64_t)(which * (l->axis ? l->shape[1] : 1) * (l->type.bits / 8));
    MUST(uf_copy(&to, &part, NULL));
    for (int64_t i = 0; i < n; i++)
        line[i] = (double)host[i];
    free(host);
    return line;
}

static bool is_right(const lines *l, int64_t which) {
    int64_t n = l->shape[l->axis];
    double *x = fetch(l, 0, which), *y = fetch(l, l->nargs - 1, which), near = l->type.bits == 16 ? 1e-2 : 1e-4;
    bool right = true;
    for (int64_t i = 0; i < n; i += 1 + n / (n < HIGHEST ? 64 : 8)) {
        double want = plain_at(x, n, l->nargs == 2, i);
        right &= fabs(y[i] - want) <= near * (fabs(want) + (l->nargs == 5));
    }
    free(x);
    free(y);
    return right;
}

static void lines_case(lines *l, void *const *data) {
    char name[96];
    double t[RUNS];
    const int64_t n = l->shape[l->axis], count = l->shape[1 - l->axis];
    static float epsilon = 1e-5F;
    const DLDevice gpu = {kDLCUDA, 0};
    snprintf(name, sizeof name, "gpu_%s_%s_%s_%lld", l->function, l->type.bits == 16 ? "bf16" : "f32",
             l->axis ? "rows" : "columns", (long long)n);
    l->line[0] = n;
    l->nargs = strcmp(l->function, "softmax") != 0 ? 5 : 2;
    for (int k = 0; k < l->nargs; k++) {
        bool whole = k == 0 || k == l->nargs - 1;
        l->args[k] = (DLTensor){.data = data[k == 0  ? 0
                                             : whole ? 1
                                                     : 2],
                                .device = gpu,
                                .ndim = whole ? 2 : 1,
                                .dtype = l->type,
                                .shape = whole ? l->shape : l->line};
    }
    if (l->nargs == 5)
        l->args[3] = (DLTensor){.data = &epsilon, .device = {kDLCPU, 0}, .dtype = f32};
    const int axis = l->axis ? -1 : 0; /* of the matrices, and of the weights */
    const uf_axes axes = {.size = sizeof axes, .axis = &axis};
    l->options = (uf_options){.size = sizeof l->options, .axes = &axes};
    MUST(uf_load(&l->f, l->function));
    lines_run(l);
    bool right = true;
    for (int64_t i = 0; i < CHECKED; i++)
        right &= is_right(l, i) && is_right(l, count - 1 - i);
    if (!right)
        fprintf(stderr, "%s: wrong result\n", name);
    failures += !right;
    gpu_time(lines_run, l, t, RUNS);
    const int64_t bytes = n * count * (l->type.bits / 8);
    row(name, "libufunc", "GB/s", 2e-9 * (double)bytes, t, RUNS);
    row(name, "uf_copy", "GB/s", 2e-9 * (double)copied, copying, RUNS);
    uf_free(l->f);
}

static void all_of(const char *function, DLDataType type, int axis, void *const *data, int64_t elements) {
    static const int64_t rows[] = {256, 1024, 4096, 5000, 9001, 16384, 32768, 50257, 1 << 20},
                         columns[] = {64, 256, 1024, 4096, 16384, HIGHEST};
    const int64_t *n = axis ? rows : columns, count = axis ? 9 : 6;
    for (int64_t i = 0; i < count; i++) {
        int64_t other = elements / n[i];
        lines l = {
            .function = function, .type = type, .shape = {axis ? other : n[i], axis ? n[i] : other}, .axis = axis};
        lines_case(&l, data);
    }
}

typedef struct copy {
    DLTensor to, from;
} copy;

static void copy_run(void *user) {
    const copy *c = user;
    MUST(uf_copy(&c->to, &c->from, NULL));
}

static void all_types(const DLTensor *x, const DLTensor *y, const DLTensor *affine, int64_t elements) {
    void *const data[] = {x->data, y->data, affine->data};
    const float number = AFFINE;
    DLTensor one = {.data = (void *)(uintptr_t)&number, .device = {kDLCPU, 0}, .dtype = f32};
    for (int narrow = 0; narrow < 2; narrow++) {
        const DLDataType type = narrow ? bf16 : f32;
        copy c = {*y, *x}, ones = {*affine, one};
        c.to.dtype = ones.to.dtype = type;
        copy_run(&ones);
        if (narrow) { /* the same numbers in half the bytes: by way of y */
            copy_run(&c);
            c = (copy){*x, c.to};
            c.to.dtype = type;
            copy_run(&c);
        }
        gpu_time(copy_run, &c, copying, RUNS);
        copied = elements * (type.bits / 8);
        for (int axis = 1; axis >= 0; axis--) {
            all_of("softmax", type, axis, data, elements);
            all_of("layer_norm", type, axis, data, elements);
        }
    }
}

int main(void) {
    const int64_t all = 1 << 27;
    if (!driver_open()) {
        fprintf(stderr, "bench_lines: no CUDA driver; the GPU rows are left out\n");
        return 0;
    }
    DLTensor x = on_gpu(f32, all), y = on_gpu(f32, all), affine = on_gpu(f32, HIGHEST);
    gpu_fill(&x, all);
    all_types(&x, &y, &affine, all);
    return failures != 0;
}
