/* bench_modules.c - what is written by composing, beside the same without: a product of complex numbers as a record beside the built-in
 * one, a chain of functions of the catalogue beside its formula and beside its calls, and the first call of a function that uses a
 * module of many helpers beside that of a text with the helper that it needs. */
#include "bench.h"

enum {
    CHAIN = 8,
    HELPERS = 200
};

static const DLDevice cpu = {kDLCPU, 0}, gpu = {kDLCUDA, 0};
static const DLDataType c64 = {kDLComplex, 64, 1}, pair = {kDLFloat, 32, 2};

/* A call of up to four arrays of one shape. */
typedef struct modules_call {
    uf_func *f;
    int nargs;
    int64_t n;
    DLTensor args[4];
    const uf_options *options;
} modules_call;

static void run(void *user) {
    modules_call *c = user;
    MUST(uf_call(c->f, c->nargs, c->args, c->options));
}

static void set(modules_call *c, uf_func *f, DLDevice device, DLDataType type, int64_t n, int nargs,
                void *const *data) {
    *c = (modules_call){.f = f, .nargs = nargs, .n = n, .options = device.device_type == kDLCPU ? &one_thread : NULL};
    for (int k = 0; k < nargs; k++)
        c->args[k] = (DLTensor){.data = data[k], .device = device, .ndim = 1, .dtype = type, .shape = &c->n};
}

/* A row for a function that is run so: elements a second. */
static void timed(const char *name, const char *system, DLDevice device, gpu_work *work, void *user, int64_t n) {
    double t[REPETITIONS];
    if (device.device_type == kDLCUDA) {
        gpu_time(work, user, t, REPETITIONS);
    } else {
        int inner = (int)((1 << 20) / n) + 1;
        for (int k = -3; k < REPETITIONS; k++) {
            double start = now();
            for (int j = 0; j < inner; j++)
                work(user);
            if (k >= 0)
                t[k] = (now() - start) / inner;
        }
    }
    row(name, system, "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
}

/* ---- A product of complex numbers ---- */

static void product(const char *name, DLDevice device, int64_t n, void *const *data) {
    static const char text[] = "struct number { float32 re, im; };\n"
                               "operator * (number a, number b) {\n"
                               "    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};\n"
                               "}\n"
                               "(a, b) { return a * b; }";
    uf_func *record, *builtin;
    modules_call c;
    MUST(uf_vectorize(&builtin, "builtin", "FF->F", "(a, b) { return a * b; }"));
    MUST(uf_vectorize(&record, "record", "number,number->number", text));
    set(&c, builtin, device, c64, n, 3, data);
    timed(name, "libufunc complex64", device, run, &c, n);
    set(&c, record, device, pair, n, 3, data);
    timed(name, "libufunc record", device, run, &c, n);
    uf_free(record);
    uf_free(builtin);
}

/* ---- A chain ---- */

static const char chain_names[CHAIN][16] = {"add",  "multiply", "hypot",     "subtract",
                                            "fmax", "copysign", "logaddexp", "divide"};
static const char chain[] =
    "divide(logaddexp(copysign(fmax(subtract(hypot(multiply(add(x, y), y), x), y), x), y), x), y)";
static const char formula[] = "(x, y) {\n"
                              "    auto h = hypot((x + y) * y, x) - y;\n"
                              "    auto a = copysign(fmax(h, x), y);\n"
                              "    auto m = fmax(a, x), d = -fabs(a - x);\n"
                              "    return (a == x ? a + (float32)M_LN2 : d < 0 ? m + log1p(exp(d)) : a - x) / y;\n"
                              "}";

/* The eight calls, each with the result of the one before; the second operands go by turns. */
typedef struct eight_calls {
    uf_func *f[CHAIN];
    modules_call c;
    void *x, *y, *result;
} eight_calls;

static void eight_run(void *user) {
    static const char second[CHAIN] = {'y', 'y', 'x', 'y', 'x', 'y', 'x', 'y'};
    eight_calls *e = user;
    for (int k = 0; k < CHAIN; k++) {
        e->c.f = e->f[k];
        e->c.args[0].data = k ? e->result : e->x;
        e->c.args[1].data = second[k] == 'x' ? e->x : e->y;
        run(&e->c);
    }
}

static void chain_case(const char *name, DLDevice device, int64_t n, void *const *data) {
    uf_func *composed, *written;
    modules_call c;
    eight_calls e = {.x = data[0], .y = data[1], .result = data[2]};
    MUST(uf_compose(&composed, "chain", "x, y", chain, 0, NULL));
    MUST(uf_vectorize(&written, "formula", "ff->f", formula));
    set(&c, composed, device, f32, n, 3, data);
    timed(name, "libufunc composed", device, run, &c, n);
    c.f = written;
    timed(name, "libufunc formula", device, run, &c, n);
    set(&e.c, NULL, device, f32, n, 3, data);
    for (int k = 0; k < CHAIN; k++)
        MUST(uf_load(&e.f[k], chain_names[k]));
    timed(name, "libufunc eight calls", device, eight_run, &e, n);
    for (int k = 0; k < CHAIN; k++)
        uf_free(e.f[k]);
    uf_free(composed);
    uf_free(written);
}

/* ---- First calls ---- */

static void first_case(const char *name, DLDevice device, void *const *data) {
    enum {
        TIMES = 15
    };
    double with[TIMES], without[TIMES];
    size_t size = HELPERS * 128, used = 0;
    char *text = malloc(size), source[256];
    uf_module *m;
    for (int i = 0; i < HELPERS; i++)
        used += (size_t)snprintf(
            text + used, size - used,
            "helper%d(a, b) { auto c = a * %d + b; return c > b ? c - b * a : sqrt(c * c + b); }\n", i, i + 2);
    MUST(uf_module_new(&m,
                       &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "many", .source = text}));
    for (int k = -2; k < 2 * TIMES; k++) {
        bool module = k & 1;
        uf_section section = {"ff->f", source};
        uf_definition d = {.size = sizeof d, .name = "first", .nsections = 1, .sections = &section};
        snprintf(source, sizeof source, "%s(x, y) { return helper7(x, y) * %d; }",
                 module ? "" : "helper7(a, b) { auto c = a * 9 + b; return c > b ? c - b * a : sqrt(c * c + b); }\n",
                 k + 100);
        d.nmodules = module;
        d.modules = &m;
        modules_call c;
        double start = now();
        uf_func *f;
        MUST(uf_define(&f, &d));
        set(&c, f, device, f32, 16, 3, data);
        run(&c);
        MUST(uf_sync(device, NULL));
        if (k >= 0)
            (module ? with : without)[k / 2] = now() - start;
        uf_free(f);
    }
    row(name, "libufunc module of 200", "us to the first result", 0, with, TIMES);
    row(name, "libufunc the helper", "us to the first result", 0, without, TIMES);
    uf_module_free(m);
    free(text);
}

/* ---- */

static void fill(float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)noise(.5, 2);
}

static void cpu_all(void) {
    const int64_t n = 1 << 18, large = 1 << 25;
    void *data[3];
    for (int i = 0; i < 3; i++)
        fill(data[i] = memory((size_t)large * 4), large);
    product("cpu_modules_product", cpu, n / 2, data);
    chain_case("cpu_modules_chain", cpu, n, data);
    chain_case("cpu_modules_chain_large", cpu, large, data);
    first_case("cpu_modules_first_call", cpu, data);
    for (int i = 0; i < 3; i++)
        free(data[i]);
}

static void gpu_all(void) {
    const int64_t n = (int64_t)1 << 28;
    void *data[3];
    for (int i = 0; i < 3; i++) {
        DLTensor all = on_gpu(f32, n);
        gpu_fill(&all, n);
        data[i] = all.data;
    }
    product("gpu_modules_product", gpu, n / 2, data);
    chain_case("gpu_modules_chain", gpu, n, data);
    first_case("gpu_modules_first_call", gpu, data);
}

int main(void) {
    if (!getenv("BENCH_GPU_ONLY"))
        cpu_all();
    if (driver_open())
        gpu_all();
    else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return 0;
}
