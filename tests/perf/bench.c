/* bench.c - our side of the benchmark, and what can be measured beside it in one process: plain C loops (plain.so) and
 * bare driver calls. Every result is checked before it is timed. run.sh adds the other peers. */
#include "bench.h"

static uf_func *rel_diff_make(void) {
    uf_func *f;
    MUST(uf_vectorize(&f, "rel_diff", "float32,float32->float32; float64,float64->float64",
                      UF_SOURCE((x, y) { return 2 * (x - y) / (x + y); })));
    return f;
}

/* ---- CPU ---- */

/* ISO C keeps function and object pointers apart; dlsym does not. */
static void *symbol(void *lib, const char *name, void *slot) {
    void *p = lib ? dlsym(lib, name) : NULL;
    memcpy(slot, &p, sizeof p);
    return p;
}

typedef void rel_diff_loop(const float *, const float *, float *, int64_t);
typedef void outer_loop(const float *, const float *, float *, int64_t, int64_t);
typedef void table_loop(const uint8_t *, uint8_t *, int64_t);

static void cpu_rel_diff(void *plain, int64_t n, const char *tag) {
    char name[64];
    double t[REPETITIONS];
    float *x = memory(4 * (size_t)n), *y = memory(4 * (size_t)n), *r = memory(4 * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)noise(.5, 2);
        y[i] = (float)noise(.5, 2);
    }
    uf_func *f = rel_diff_make();
    DLTensor args[] = {UF_ARRAY(x, n), UF_ARRAY(y, n), UF_ARRAY(r, n)};
    MUST(uf_call(f, 3, args, &one_thread));
    for (int64_t i = 0; i < n; i += 1 + i / 7)
        check(r[i] == 2 * (x[i] - y[i]) / (x[i] + y[i]), "rel_diff");
    int inner = n <= 65536 ? 200 : 1;
    snprintf(name, sizeof name, "cpu_rel_diff_f32_%s", tag);
    for (int k = 0; k < REPETITIONS; k++) {
        t[k] = now();
        for (int j = 0; j < inner; j++)
            uf_call(f, 3, args, &one_thread);
        t[k] = (now() - t[k]) / inner;
    }
    row(name, "libufunc 1 thread", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    for (int k = 0; k < REPETITIONS; k++) {
        t[k] = now();
        for (int j = 0; j < inner; j++)
            uf_call(f, 3, args, NULL);
        t[k] = (now() - t[k]) / inner;
    }
    row(name, "libufunc all threads", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    rel_diff_loop *loop;
    symbol(plain, "plain_rel_diff", &loop);
    for (int k = 0; loop && k < REPETITIONS; k++) {
        t[k] = now();
        for (int j = 0; j < inner; j++)
            loop(x, y, r, n);
        t[k] = (now() - t[k]) / inner;
    }
    if (loop)
        row(name, "gcc -O3 -march=native", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    uf_free(f);
    free(x);
    free(y);
    free(r);
}

static void cpu_outer(void *plain) {
    int64_t m = 4096;
    double t[REPETITIONS];
    float *a = memory(4 * (size_t)m), *b = memory(4 * (size_t)m), *r = memory(4 * (size_t)(m * m));
    for (int64_t i = 0; i < m; i++) {
        a[i] = (float)noise(.5, 2);
        b[i] = (float)noise(.5, 2);
    }
    uf_func *f = rel_diff_make();
    DLTensor args[] = {UF_ARRAY(a, m, 1), UF_ARRAY(b, 1, m), UF_ARRAY(r, m, m)};
    MUST(uf_call(f, 3, args, &one_thread));
    for (int64_t i = 0; i < m; i += 97)
        check(r[i * m + 5] == 2 * (a[i] - b[5]) / (a[i] + b[5]), "outer");
    for (int k = 0; k < REPETITIONS; k++) {
        t[k] = now();
        uf_call(f, 3, args, &one_thread);
        t[k] = now() - t[k];
    }
    row("cpu_outer_bcast_f32_16M", "libufunc 1 thread", "Gelem/s", 1e-9 * (double)(m * m), t, REPETITIONS);
    outer_loop *loop;
    symbol(plain, "plain_outer", &loop);
    for (int k = 0; loop && k < REPETITIONS; k++) {
        t[k] = now();
        loop(a, b, r, m, m);
        t[k] = now() - t[k];
    }
    if (loop)
        row("cpu_outer_bcast_f32_16M", "gcc -O3 -march=native", "Gelem/s", 1e-9 * (double)(m * m), t, REPETITIONS);
    uf_free(f);
    free(a);
    free(b);
    free(r);
}

/* Look-ups in a table of 256 bytes: in a constant array, in a core input, and in C. */
static void cpu_table(void *plain) {
    enum {
        N = 65536,
        INNER = 20
    };
    static const char name[] = "cpu_table_u8_64K";
    static uint8_t x[N], r[N], t[256];
    uf_func *f[2];
    char source[2048];
    int at = snprintf(source, sizeof source, "(x) { const uint8 t[] = {");
    for (int i = 0; i < 256; i++) {
        t[i] = (uint8_t)(i * 167 + 13);
        at += snprintf(source + at, sizeof source - (size_t)at, "%d,", t[i]);
    }
    snprintf(source + at, sizeof source - (size_t)at, "}; return t[x]; }");
    for (int i = 0; i < N; i++)
        x[i] = (uint8_t)noise(0, 256);
    MUST(uf_vectorize(&f[0], "table", "uint8->uint8", source));
    MUST(uf_guvectorize(&f[1], "table", "(),(n)->()", "uint8,uint8->uint8", "(x, t) -> (y) { y = t[x]; }"));
    for (int way = 0; way < 2; way++) {
        double seconds[REPETITIONS];
        DLTensor args[] = {UF_ARRAY(x, N), UF_ARRAY(r, N), UF_ARRAY(r, N)};
        if (way)
            args[1] = UF_ARRAY(t, 256);
        memset(r, 0, sizeof r);
        MUST(uf_call(f[way], 2 + way, args, &one_thread));
        for (int i = 0; i < N; i++)
            check(r[i] == t[x[i]], name);
        for (int k = 0; k < REPETITIONS; k++) {
            seconds[k] = now();
            for (int j = 0; j < INNER; j++)
                uf_call(f[way], 2 + way, args, &one_thread);
            seconds[k] = (now() - seconds[k]) / INNER;
        }
        row(name, way ? "libufunc core input" : "libufunc 1 thread", "Gelem/s", 1e-9 * N, seconds, REPETITIONS);
        uf_free(f[way]);
    }
    table_loop *loop;
    double seconds[REPETITIONS];
    symbol(plain, "plain_table", &loop);
    for (int k = 0; loop && k < REPETITIONS; k++) {
        seconds[k] = now();
        for (int j = 0; j < INNER; j++)
            loop(x, r, N);
        seconds[k] = (now() - seconds[k]) / INNER;
    }
    if (loop)
        row(name, "gcc -O3 -march=native", "Gelem/s", 1e-9 * N, seconds, REPETITIONS);
}

/* Functions of one argument (pow: two), in and out of cache. The check is loose: accuracy has its own tests. */
static void cpu_math(const char *fn, double (*reference)(double), bool two, bool wide, int64_t n, const char *tag) {
    char name[64], source[64];
    double t[REPETITIONS];
    size_t size = wide ? 8 : 4;
    char *x = memory(size * (size_t)n), *r = memory(size * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        double v = noise(.5, 2);
        if (wide)
            ((double *)x)[i] = v;
        else
            ((float *)x)[i] = (float)v;
    }
    uf_func *f;
    snprintf(source, sizeof source, two ? "(x, y) { return %s(x, y); }" : "(x) { return %s(x); }", fn);
    MUST(uf_vectorize(&f, fn, NULL, source));
    DLTensor in = wide ? UF_ARRAY((double *)x, n) : UF_ARRAY((float *)x, n);
    DLTensor out = wide ? UF_ARRAY((double *)r, n) : UF_ARRAY((float *)r, n);
    DLTensor args[3] = {in, two ? in : out, out};
    MUST(uf_call(f, two ? 3 : 2, args, &one_thread));
    for (int64_t i = 0; i < n; i += 1 + i / 9) {
        double v = wide ? ((double *)x)[i] : (double)((float *)x)[i],
               w = wide ? ((double *)r)[i] : (double)((float *)r)[i];
        double want = two ? pow(v, v) : reference(v);
        check(fabs(w - want) <= (wide ? 1e-14 : 1e-5) * (fabs(want) + 1e-2), fn);
    }
    int inner = n <= 65536 ? 20 : 1;
    for (int k = 0; k < REPETITIONS; k++) {
        t[k] = now();
        for (int j = 0; j < inner; j++)
            uf_call(f, two ? 3 : 2, args, &one_thread);
        t[k] = (now() - t[k]) / inner;
    }
    snprintf(name, sizeof name, "cpu_%s_f%d_%s", two ? "power" : fn, wide ? 64 : 32, tag);
    row(name, "libufunc 1 thread", "Gelem/s", 1e-9 * (double)n, t, REPETITIONS);
    uf_free(f);
    free(x);
    free(r);
}

static void cpu_small(void) {
    enum {
        CALLS = 20000
    };
    static float x[16], y[16], r[16];
    double t[REPETITIONS];
    for (int i = 0; i < 16; i++) {
        x[i] = (float)i + 1;
        y[i] = 2;
    }
    uf_func *f = rel_diff_make();
    DLTensor args[] = {UF_ARRAY(x, 16), UF_ARRAY(y, 16), UF_ARRAY(r, 16)};
    MUST(uf_call(f, 3, args, NULL));
    check(r[3] == 2 * (x[3] - y[3]) / (x[3] + y[3]), "small call");
    for (int k = 0; k < REPETITIONS; k++) {
        t[k] = now();
        for (int j = 0; j < CALLS; j++)
            uf_call(f, 3, args, NULL);
        t[k] = (now() - t[k]) / CALLS;
    }
    row("cpu_call_16", "uf_call", "host us/call", 0, t, REPETITIONS);
    uf_plan *plan;
    void *data[] = {x, y, r};
    MUST(uf_plan_new(&plan, f, 3, args, NULL));
    for (int k = 0; k < REPETITIONS; k++) {
        t[k] = now();
        for (int j = 0; j < CALLS; j++)
            uf_plan_run(plan, data, NULL);
        t[k] = (now() - t[k]) / CALLS;
    }
    row("cpu_call_16", "uf_plan_run", "host us/call", 0, t, REPETITIONS);
    uf_plan_free(plan);
    uf_free(f);
}

static const char rel_diff_formula[] = "(x - y) / (x + y)", exp_formula[] = "(x - y) / (x + y) + exp(x)";

/* Registration to result of a formula the process has not seen; a fresh constant each time. */
static void first_call(const char *name, const char *formula, DLTensor *args, DLDevice device) {
    enum {
        TIMES = 15
    };
    double t[TIMES];
    char source[96];
    for (int k = -2; k < TIMES; k++) {
        uf_func *f;
        snprintf(source, sizeof source, "(x, y) { return %d * %s; }", k + 100, formula);
        double start = now();
        MUST(uf_vectorize(&f, "first", "float32,float32->float32", source));
        MUST(uf_call(f, 3, args, NULL));
        MUST(uf_sync(device, NULL));
        if (k >= 0)
            t[k] = now() - start;
        uf_free(f);
    }
    row(name, "libufunc", "us to the first result", 0, t, TIMES);
}

static void cpu_all(void *plain) {
    static float x[16], y[16], r[16];
    DLTensor args[] = {UF_ARRAY(x, 16), UF_ARRAY(y, 16), UF_ARRAY(r, 16)};
    first_call("cpu_first_call", rel_diff_formula, args, (DLDevice){kDLCPU, 0});
    first_call("cpu_first_call_exp", exp_formula, args, (DLDevice){kDLCPU, 0});
    cpu_small();
    cpu_rel_diff(plain, 1 << 16, "64K");
    cpu_rel_diff(plain, 1 << 24, "16M");
    cpu_outer(plain);
    cpu_table(plain);
    static const struct {
        const char *name;
        double (*f)(double);
    } functions[] = {{"exp", exp}, {"log", log}, {"sin", sin}, {"tanh", tanh}, {"pow", NULL}};
    for (int wide = 0; wide < 2; wide++)
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
            cpu_math(functions[k].name, functions[k].f, !functions[k].f, wide, 1 << 16, "64K");
            cpu_math(functions[k].name, functions[k].f, !functions[k].f, wide, 1 << 24, "16M");
        }
}

/* ---- GPU ---- */

/* The last elements of an array along each dimension, in host memory. */
enum {
    PART = 64
};
static DLManagedTensor *last_part(const DLTensor *t) {
    DLManagedTensor *part;
    DLTensor view = *t;
    int64_t shape[2], strides[2], dense = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        shape[d] = t->shape[d] < PART ? t->shape[d] : PART;
        strides[d] = t->strides ? t->strides[d] : dense;
        dense *= t->shape[d];
        view.byte_offset += (uint64_t)((t->shape[d] - shape[d]) * strides[d] * (t->dtype.bits / 8));
    }
    view.shape = shape;
    view.strides = strides;
    MUST(uf_empty(&part, (DLDevice){kDLCPU, 0}, t->dtype, t->ndim, shape));
    MUST(uf_copy(&part->dl_tensor, &view, NULL));
    return part;
}

static void as_doubles(const DLTensor *t, double *out) {
    DLTensor wide = *t;
    wide.data = out;
    wide.dtype = (DLDataType){kDLFloat, 64, 1};
    MUST(uf_copy(&wide, t, NULL));
}

/* Runs a call and compares its last elements with those that the CPU computes from the same operands; `tolerated` of
 * them may differ. */
static void gpu_verify(gpu_call *c, const char *what, double tolerated) {
    static double got[PART * PART], want[PART * PART];
    DLManagedTensor *part[4];
    DLTensor host[4];
    int last = c->nargs - 1, wrong = 0, count = 1;
    gpu_call_run(c);
    for (int k = 0; k <= last; k++) {
        part[k] = c->args[k].ndim ? last_part(&c->args[k]) : NULL;
        host[k] = part[k] ? part[k]->dl_tensor : c->args[k];
    }
    as_doubles(&host[last], got);
    MUST(uf_call(c->f, c->nargs, host, NULL));
    as_doubles(&host[last], want);
    for (int d = 0; d < host[last].ndim; d++)
        count *= (int)host[last].shape[d];
    for (int i = 0; i < count; i++)
        wrong +=
            !(got[i] == want[i] || fabs(got[i] - want[i]) <= 1e-6 * fabs(want[i]) || (isnan(got[i]) && isnan(want[i])));
    check(wrong <= tolerated * count, what);
    for (int k = 0; k <= last; k++)
        if (part[k])
            part[k]->deleter(part[k]);
}

typedef struct bare_copy {
    unsigned long long to, from;
    size_t size;
} bare_copy;
static void bare_copy_run(void *user) {
    bare_copy *c = user;
    cu.copy(c->to, c->from, c->size, NULL);
}

static void gpu_rates(DLTensor x, DLTensor y, DLTensor r, int64_t n) {
    double t[REPETITIONS];
    bare_copy c = {(unsigned long long)(uintptr_t)r.data, (unsigned long long)(uintptr_t)x.data, 4 * (size_t)n};
    gpu_time(bare_copy_run, &c, t, REPETITIONS);
    row("gpu_copy_f32", "cuMemcpyDtoDAsync", "GB/s", 8e-9 * (double)n, t, REPETITIONS);

    gpu_call rel = {rel_diff_make(), 3, {x, y, r}};
    gpu_verify(&rel, "rel_diff on the GPU", 0);
    gpu_time(gpu_call_run, &rel, t, REPETITIONS);
    row("gpu_rel_diff_f32", "libufunc", "GB/s", 12e-9 * (double)n, t, REPETITIONS);

    int64_t m = 1 << 14, column[] = {m, 1}, line[] = {1, m}, square[] = {m, m};
    gpu_call outer = {rel.f, 3, {x, y, r}};
    outer.args[0].shape = column;
    outer.args[1].shape = line;
    outer.args[2].shape = square;
    for (int k = 0; k < 3; k++)
        outer.args[k].ndim = 2;
    gpu_verify(&outer, "outer on the GPU", 0);
    gpu_time(gpu_call_run, &outer, t, REPETITIONS);
    row("gpu_outer_bcast_f32", "libufunc", "GB/s", 4e-9 * (double)(m * m), t, REPETITIONS);

    gpu_call bias = {rel.f, 3, {x, y, r}};
    for (int k = 0; k < 3; k++) {
        bias.args[k].ndim = 2;
        bias.args[k].shape = k == 1 ? line : square;
    }
    gpu_verify(&bias, "bias on the GPU", 0);
    gpu_time(gpu_call_run, &bias, t, REPETITIONS);
    row("gpu_bias_f32", "libufunc", "GB/s", 8e-9 * (double)(m * m), t, REPETITIONS);

    int64_t strides[] = {1, m};
    gpu_call transposed = {rel.f, 3, {x, y, r}};
    for (int k = 0; k < 3; k++) {
        transposed.args[k].shape = square;
        transposed.args[k].ndim = 2;
    }
    transposed.args[1].strides = strides;
    gpu_verify(&transposed, "transposed operand on the GPU", 0);
    gpu_time(gpu_call_run, &transposed, t, REPETITIONS);
    row("gpu_transposed_operand_f32", "libufunc", "GB/s", 12e-9 * (double)(m * m), t, REPETITIONS);

    gpu_call shifted = {rel.f, 3, {x, y, r}};
    int64_t less = n - 8;
    for (int k = 0; k < 3; k++) {
        shifted.args[k].shape = &less;
        shifted.args[k].byte_offset = 4;
    }
    gpu_verify(&shifted, "offset on the GPU", 0);
    gpu_time(gpu_call_run, &shifted, t, REPETITIONS);
    row("gpu_rel_diff_f32_offset_all", "libufunc", "GB/s", 12e-9 * (double)less, t, REPETITIONS);
    shifted.args[0].byte_offset = 8;
    gpu_verify(&shifted, "offset on the GPU", 0);
    gpu_time(gpu_call_run, &shifted, t, REPETITIONS);
    row("gpu_rel_diff_f32_offset_one", "libufunc", "GB/s", 12e-9 * (double)less, t, REPETITIONS);

    uf_func *sine;
    MUST(uf_vectorize(&sine, "sine", "float32->float32", "(x) { return sin(x); }"));
    gpu_call s = {sine, 2, {x, r}};
    gpu_verify(&s, "sin on the GPU", 0);
    gpu_time(gpu_call_run, &s, t, REPETITIONS);
    row("gpu_sin_f32", "libufunc", "GB/s", 8e-9 * (double)n, t, REPETITIONS);
    uf_func *add;
    MUST(uf_vectorize(&add, "add", "int8,int8->int8; float16,float16->float16; float64,float64->float64",
                      "(x, y) { return x + y; }"));
    static const struct {
        const char *name;
        DLDataType type;
    } types[] = {
        {"gpu_add_i8", {kDLInt, 8, 1}}, {"gpu_add_f16", {kDLFloat, 16, 1}}, {"gpu_add_f64", {kDLFloat, 64, 1}}};
    for (int k = 0; k < 3; k++) {
        int64_t count = 4 * n / (types[k].type.bits / 8);
        gpu_call a = {add, 3, {x, y, r}};
        for (int j = 0; j < 3; j++) {
            a.args[j].dtype = types[k].type;
            a.args[j].shape = &count;
        }
        gpu_verify(&a, "add on the GPU", 0);
        gpu_time(gpu_call_run, &a, t, REPETITIONS);
        row(types[k].name, "libufunc", "GB/s", 12e-9 * (double)n, t, REPETITIONS);
    }
    uf_free(add);
    uf_free(sine);
    uf_free(rel.f);
}

static void gpu_mandelbrot(void) {
    int64_t w = 12288, h = 8192;
    double t[7], *hx = memory(8 * (size_t)w), *hy = memory(8 * (size_t)h);
    for (int64_t i = 0; i < w; i++)
        hx[i] = -2 + 3.0 * (double)i / (double)(w - 1);
    for (int64_t i = 0; i < h; i++)
        hy[i] = -1 + 2.0 * (double)i / (double)(h - 1);
    DLManagedTensor *x, *y, *o;
    const DLDevice gpu = {kDLCUDA, 0};
    MUST(uf_empty(&x, gpu, (DLDataType){kDLFloat, 64, 1}, 2, (int64_t[]){1, w}));
    MUST(uf_empty(&y, gpu, (DLDataType){kDLFloat, 64, 1}, 2, (int64_t[]){h, 1}));
    MUST(uf_empty(&o, gpu, (DLDataType){kDLUInt, 8, 1}, 2, (int64_t[]){h, w}));
    MUST(uf_copy(&x->dl_tensor, &UF_ARRAY(hx, 1, w), NULL));
    MUST(uf_copy(&y->dl_tensor, &UF_ARRAY(hy, h, 1), NULL));
    const uf_section section = {"float64,float64,int32->uint8", UF_SOURCE((x, y, limit) {
                                    auto zr = 0.0, zi = 0.0;
                                    for (int i = 0; i < limit; i++) {
                                        auto t = zr * zr - zi * zi + x;
                                        zi = 2 * zr * zi + y;
                                        zr = t;
                                        if (zr * zr + zi * zi >= 4)
                                            return 255 * i / limit;
                                    }
                                    return 255;
                                })};
    for (int fast = 0; fast < 2; fast++) { /* nvcc contracts a * b + c unless told not to */
        uf_func *f;
        MUST(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                            .name = "mandelbrot",
                                            .nsections = 1,
                                            .sections = &section,
                                            .fast = fast ? UF_FAST_CONTRACT : 0}));
        for (int limit = 20; limit <= 1000; limit *= 50) {
            char name[32];
            gpu_call c = {f, 4, {x->dl_tensor, y->dl_tensor, UF_SCALAR(limit), o->dl_tensor}};
            gpu_verify(&c, "mandelbrot on the GPU", fast ? 0.01 : 0);
            gpu_time(gpu_call_run, &c, t, 7);
            snprintf(name, sizeof name, "gpu_mandelbrot%d_f64", limit);
            row(name, fast ? "libufunc contract" : "libufunc", "Mpx/s", 1e-6 * (double)(w * h), t, 7);
        }
        uf_free(f);
    }
    x->deleter(x);
    y->deleter(y);
    o->deleter(o);
    free(hx);
    free(hy);
}

static void gpu_host_time(DLTensor x, DLTensor y, DLTensor r) {
    enum {
        CALLS = 400
    };
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry bare(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n) { ret; }\n";
    double t[REPETITIONS];
    void *module, *kernel;
    if (cu.load(&module, ptx) || cu.get(&kernel, module, "bare"))
        exit(1);
    uint64_t n = 16;
    void *params[] = {&x.data, &y.data, &r.data, &n};
    uf_func *f = rel_diff_make();
    int64_t small = 16;
    DLTensor args[] = {x, y, r};
    for (int k = 0; k < 3; k++)
        args[k].shape = &small;
    uf_plan *plan;
    void *data[] = {x.data, y.data, r.data};
    MUST(uf_call(f, 3, args, NULL));
    MUST(uf_plan_new(&plan, f, 3, args, NULL));
    const DLDevice gpu = {kDLCUDA, 0};
    const char *systems[] = {"bare cuLaunchKernel", "uf_call", "uf_plan_run"};
    for (int round = 0; round < 2; round++) /* the first warms up */
        for (int which = 0; which < 3; which++) {
            for (int k = 0; k < REPETITIONS; k++) {
                MUST(uf_sync(gpu, NULL));
                t[k] = now();
                for (int j = 0; j < CALLS; j++) {
                    if (which == 0)
                        cu.launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
                    else if (which == 1)
                        uf_call(f, 3, args, NULL);
                    else
                        uf_plan_run(plan, data, NULL);
                }
                t[k] = (now() - t[k]) / CALLS;
            }
            if (round)
                row("gpu_call_16", systems[which], "host us/call", 0, t, REPETITIONS);
        }
    first_call("gpu_first_call", rel_diff_formula, args, gpu);
    first_call("gpu_first_call_exp", exp_formula, args, gpu);
    DLTensor rows[] = {x, y, r};
    rows[0].shape = (int64_t[]){64, 1};
    rows[1].shape = (int64_t[]){1, 64};
    rows[2].shape = (int64_t[]){64, 64};
    for (int k = 0; k < 3; k++)
        rows[k].ndim = 2;
    first_call("gpu_first_call_rows", rel_diff_formula, rows, gpu);
    uf_plan_free(plan);
    uf_free(f);
}

static void gpu_all(void) {
    int64_t n = 1 << 28;
    DLTensor x = on_gpu(f32, n), y = on_gpu(f32, n), r = on_gpu(f32, n);
    gpu_fill(&x, n);
    gpu_fill(&y, n);
    gpu_rates(x, y, r, n);
    gpu_mandelbrot();
    gpu_host_time(x, y, r);
}

int main(int argc, char **argv) {
    void *plain = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plain)
        fprintf(stderr, "bench: no plain.so; the plain C loops are left out\n");
    bool only_gpu = getenv("BENCH_GPU_ONLY") != NULL;
    if (!only_gpu)
        cpu_all(plain);
    if (driver_open())
        gpu_all();
    else
        fprintf(stderr, "bench: no CUDA driver; the GPU rows are left out\n");
    return 0;
}
