/* test_debug_cuda.c - UF_DEBUG, max_steps and cancel on CUDA without a GPU. Against the mock driver, whose launches are simulated on the host: what a
 * call that waits says, and when. The bookkeeping of reports: none before its launch is done, more launches than slots, several
 * devices, contexts, streams and threads, captures, failures of the driver and of memory. And the code itself, judged by every
 * LLVM, libNVVM and ptxas. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "cuda/code.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "define.h"
#include "draw.h"
#include "failing.h"
#include "gpu_sim.h"
#include "ir_check.h"
#include "mock_child.h"

static const DLDevice gpu = {kDLCUDA, 0}, second = {kDLCUDA, 1};
static const DLDataType int32 = {kDLInt, 32, 1}, boolean = {UF_BOOL_CODE, 8, 1};

enum {
    KEPT = -77,
    SLOTS = 256 /* of report.c */
};

/* An array of the mock's device memory, which is the host's. */
static DLManagedTensor *array(DLDevice device, DLDataType type, int ndim, const int64_t *shape) {
    DLManagedTensor *m;
    CHECK(!uf_empty(&m, device, type, ndim, shape));
    return m;
}

static int32_t *ints(const DLManagedTensor *m) { return m->dl_tensor.data; }

/* ---- Simulated launches ---- */

static code_module simulated;
static int simulations;

static void simulate(const mock_launch *l) {
    code_module copy = simulated;
    copy.ir = (text){0};
    text_add(&copy.ir, simulated.ir.data, simulated.ir.length);
    CHECK(strcmp(l->kernel, copy.entry) == 0);
    const char *wrong = sim_run(&copy, l->words, (int)(l->bytes / 8), (int)l->blocks, (int)l->threads);
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    CHECK(!wrong);
    text_free(&copy.ir);
    simulations++;
}

/* The code that a plan runs. */
static void simulate_plan(arena *a, const uf_plan *plan) {
    compile_job job = {.name = plan->func->name,
                       .source = "",
                       .layout = "",
                       .tree = plan->binding->tree,
                       .v = &plan->pass[0].v,
                       .target = {.gpu = true, .arch = 90},
                       .flags = plan->func->flags,
                       .max_steps = plan->func->max_steps};
    text_free(&simulated.ir);
    CHECK(!compile_ir(a, &job, &simulated));
    mock->on_launch(simulate);
}

static void elementwise_body(void *user) {
    const int64_t shape[] = {5, 70}, row[] = {1, 70}, column[] = {5, 1};
    arena a = {0};
    uf_plan *plan;
    int masked = *(const char *)user == 'm';
    uf_func *f = define("over", NULL, "int32,int32->int32", "(x, y) {\n  return x / y;\n}", UF_DEBUG, 0);
    DLManagedTensor *x = array(gpu, int32, 2, row), *y = array(gpu, int32, 2, column), *r = array(gpu, int32, 2, shape);
    DLManagedTensor *where = array(gpu, boolean, 2, shape);
    for (int i = 0; i < 70; i++)
        ints(x)[i] = 1000 + i;
    for (int i = 0; i < 5; i++)
        ints(y)[i] = i == 3 ? 0 : i + 1;
    for (int i = 0; i < 350; i++) {
        ints(r)[i] = KEPT;
        ((int8_t *)where->dl_tensor.data)[i] = i / 70 != 3 || i % 70 == 61;
    }
    DLTensor args[] = {x->dl_tensor, y->dl_tensor, r->dl_tensor};
    const uf_options options = {.size = sizeof options, .where = masked ? &where->dl_tensor : NULL};
    CHECK(!uf_plan_new(&plan, f, 3, args, &options));
    simulate_plan(&a, plan);
    CHECK(!uf_call(f, 3, args, &options));
    CHECK(simulations == 1);
    CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL, "over: line 2: integer division by 0, at (3, ");
    CHECK(!masked || strstr(error_slot()->message, "(3, 61)"));
    CHECK(error_slot()->line == 2 && error_slot()->argument == -1);
    CHECK(!uf_sync(gpu, NULL));
    for (int i = 0; i < 350; i++)
        CHECK(ints(r)[i] == (i / 70 == 3 ? KEPT : (1000 + i % 70) / (i / 70 + 1)));
    ints(y)[3] = 4;
    void *data[] = {ints(x), ints(y), ints(r), where->dl_tensor.data};
    CHECK(!uf_plan_run(plan, data, NULL) && !uf_sync(gpu, NULL));
    CHECK(ints(r)[3 * 70 + 61] == 1061 / 4);
    ints(y)[0] = 0;
    CHECK(!uf_plan_run(plan, data, NULL));
    uf_plan_free(plan);
    uf_free(f); /* what errors say of it is kept */
    CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL, "over: line 2: integer division by 0, at (0, ");
    arena_free(&a);
}

static void gufunc_body(void *unused) {
    const int64_t xs[] = {3, 4}, ks[] = {3, 6};
    arena a = {0};
    uf_plan *plan;
    (void)unused;
    uf_func *f = define("gather", "(n),(m)->(m)", "int32,int32->int32",
                        "at(i) {\n  assert(i < 9);\n  return i;\n}\n(x, k) -> (y) {\n  forall (i : m)\n    y[i] = "
                        "x[at(k[i])];\n}",
                        UF_DEBUG, 0);
    DLManagedTensor *x = array(gpu, int32, 2, xs), *k = array(gpu, int32, 2, ks), *y = array(gpu, int32, 2, ks);
    for (int i = 0; i < 12; i++)
        ints(x)[i] = 100 + i;
    for (int i = 0; i < 18; i++) {
        ints(k)[i] = i % 4;
        ints(y)[i] = KEPT;
    }
    DLTensor args[] = {x->dl_tensor, k->dl_tensor, y->dl_tensor};
    CHECK(!uf_plan_new(&plan, f, 3, args, NULL));
    CHECK(plan->pass[0].v.reports && !plan->pass[0].v.gufunc.coop && !plan->pass[0].v.operand[0].staged);
    simulate_plan(&a, plan);
    ints(k)[9] = 4;
    CHECK(!uf_call(f, 3, args, NULL));
    CHECK_FAILS(
        uf_sync(gpu, NULL), UF_ERR_KERNEL,
        "gather: line 7: index 4 is outside of core dimension 0 of argument 0, which is 4, in the inner call (1)");
    CHECK(error_slot()->argument == 0 && error_slot()->dimension == 0 && error_slot()->line == 7);
    for (int i = 0; i < 18; i++)
        CHECK(ints(y)[i] == (i >= 9 && i < 12 ? KEPT : 100 + i / 6 * 4 + i % 4));
    ints(k)[9] = 10;
    CHECK(!uf_call(f, 3, args, NULL));
    CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL, "gather: line 2: assertion failed: i < 9, in the inner call (1)");
    uf_plan_free(plan);
    uf_free(f);
    arena_free(&a);
}

/* The code that is shown for a kernel over indices is that of dense arrays that do not overlap, which these are. */
static void forall_body(void *unused) {
    const int64_t shape[] = {9, 40};
    char *ir;
    (void)unused;
    uf_func *f = define("step", NULL, "int32[,], int32[,], int32",
                        "[i, j](u, v, k) {\n  v[i][j] = u[i][j + k * k];\n  atomic_add(v[i][0], 1);\n}",
                        UF_DEBUG | UF_KERNEL, 0);
    CHECK(!uf_inspect(f, NULL, (DLDevice){kDLCUDA, -90}, UF_VIEW_IR, &ir));
    snprintf(simulated.entry, sizeof simulated.entry, "uf_step_forall_i32");
    text_puts(&simulated.ir, ir);
    mock->on_launch(simulate);
    DLManagedTensor *u = array(gpu, int32, 2, shape), *v = array(gpu, int32, 2, shape);
    for (int i = 0; i < 360; i++) {
        ints(u)[i] = i;
        ints(v)[i] = KEPT;
    }
    int32_t k = 0;
    DLTensor args[] = {u->dl_tensor, v->dl_tensor, UF_SCALAR(k)};
    CHECK(!uf_forall(f, 2, (int64_t[]){9, 40}, 3, args, NULL) && !uf_sync(gpu, NULL));
    CHECK(ints(v)[79] == 79 && simulations == 1);
    CHECK(!uf_forall(f, 2, (int64_t[]){9, 41}, 3, args, NULL));
    CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL,
                "step: line 2: index 40 is outside of dimension 1 of argument 0, which is 40, at (");
    CHECK(strstr(error_slot()->message, ", 40)"));
    CHECK(error_slot()->argument == 0 && error_slot()->dimension == 1 && error_slot()->line == 2);
    uf_free(f);
}

/* ---- Steps: the same, of kernels that would not end ---- */

static uf_func *define_steps(const char *name, const char *layout, const char *signatures, const char *source,
                             unsigned flags, int64_t max_steps) {
    uf_func *f;
    uf_section only = {signatures, source};
    CHECK(!uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                          .name = name,
                                          .nsections = 1,
                                          .sections = &only,
                                          .layout = layout,
                                          .flags = flags,
                                          .max_steps = max_steps}));
    return f;
}

/* Steps of an elementwise function, and a flag; then the flag alone. */
static void steps_body(void *unused) {
    static const char source[] = "spin(n) {\n  while (n == 5) ;\n  return n; }\n(x) { return spin(x) + 1; }";
    const int64_t shape[] = {3, 40}, one[] = {1};
    (void)unused;
    DLManagedTensor *x = array(gpu, int32, 2, shape), *y = array(gpu, int32, 2, shape);
    DLManagedTensor *flag = array((DLDevice){kDLCUDAHost, 0}, int32, 1, one);
    for (int steps = 1; steps >= 0; steps--) {
        arena a = {0};
        uf_plan *plan;
        uf_func *f = define_steps("spin", NULL, "int32->int32", source, 0, steps ? 500 : 0);
        const uf_options options = {.size = sizeof options, .cancel = flag->dl_tensor.data};
        for (int i = 0; i < 120; i++) {
            ints(x)[i] = i % 40 == 5 && (i != 45 || !steps) ? 6 : i % 40;
            ints(y)[i] = KEPT;
        }
        ints(flag)[0] = 0;
        CHECK(!uf_plan_new(&plan, f, 2, (DLTensor[]){x->dl_tensor, y->dl_tensor}, &options));
        CHECK(plan->pass[0].v.reports == (steps ? REPORTS_STEPS | REPORTS_CANCEL : REPORTS_CANCEL));
        simulate_plan(&a, plan);
        CHECK(!uf_plan_run(plan, (void *[]){ints(x), ints(y)}, NULL));
        if (steps)
            CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL,
                        "spin: line 2: the kernel took more than 500 steps, at (1, 5)");
        else
            CHECK(!uf_sync(gpu, NULL));
        for (int i = 0; i < 120; i++)
            CHECK(ints(y)[i] == (i == 45 && steps ? KEPT : ints(x)[i] + 1));
        ints(flag)[0] = 1;
        ints(x)[45] = 5;
        CHECK(!uf_plan_run(plan, (void *[]){ints(x), ints(y)}, NULL));
        CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL, "spin: the call was cancelled");
        CHECK(!uf_sync(gpu, NULL));
        uf_plan_free(plan);
        uf_free(f);
        arena_free(&a);
    }
}

/* Points, and a sum over more than there is time for. */
static void points_body(void *unused) {
    const int64_t shape[] = {9, 40};
    char *ir;
    (void)unused;
    uf_func *f = define_steps(
        "far", NULL, "int32[,]",
        "[i, j](v) {\n  v[i][j] = 1;\n  v[i][j] = sum(k : i == 4 && j == 7 ? 4611686018427387904 : j, 2);\n}",
        UF_KERNEL, 300);
    CHECK(!uf_inspect(f, NULL, (DLDevice){kDLCUDA, -90}, UF_VIEW_IR, &ir));
    snprintf(simulated.entry, sizeof simulated.entry, "uf_far_forall_i32");
    text_puts(&simulated.ir, ir);
    mock->on_launch(simulate);
    DLManagedTensor *v = array(gpu, int32, 2, shape);
    CHECK(!uf_forall(f, 2, shape, 1, &v->dl_tensor, NULL));
    CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL, "far: line 3: the kernel took more than 300 steps, at (4, 7)");
    for (int i = 0; i < 360; i++)
        CHECK(ints(v)[i] == (i == 167 ? 1 : i % 40 * 2));
    CHECK(simulations == 1);
    uf_free(f);
}

/* Loops over sizes are counted where these allow more steps; the threads of a block then do not share a call. */
static void sizes_body(void *unused) {
    (void)unused;
    for (int64_t n = 40; n <= 60; n += 20) {
        const int64_t xs[] = {3, n}, ys[] = {3};
        arena a = {0};
        uf_plan *plan;
        uf_func *f = define_steps("far", "(n)->()", "int32->int32", "(x) -> (y) { y = sum(i : n, x[i]); }", 0, 50),
                *g =
                    define_steps("near", "(n)->()", "int32->int32", "(x) -> (y) { y = sum(i : n, x[i]); }", 0, 1 << 20);
        DLManagedTensor *x = array(gpu, int32, 2, xs), *y = array(gpu, int32, 1, ys);
        for (int i = 0; i < 3 * n; i++)
            ints(x)[i] = i;
        DLTensor args[] = {x->dl_tensor, y->dl_tensor};
        CHECK(!uf_plan_new(&plan, g, 2, args, NULL));
        CHECK(!plan->pass[0].v.reports);
        uf_plan_free(plan);
        CHECK(!uf_plan_new(&plan, f, 2, args, NULL));
        CHECK(plan->pass[0].v.reports == (REPORTS_STEPS | REPORTS_SIZES) && !plan->pass[0].v.gufunc.coop);
        simulate_plan(&a, plan);
        for (int i = 0; i < 3; i++)
            ints(y)[i] = KEPT;
        CHECK(!uf_plan_run(plan, (void *[]){ints(x), ints(y)}, NULL));
        if (n > 50)
            CHECK_FAILS(uf_sync(gpu, NULL), UF_ERR_KERNEL,
                        "far: line 1: the kernel took more than 50 steps, in the inner call (");
        else
            CHECK(!uf_sync(gpu, NULL));
        for (int i = 0; i < 3; i++)
            CHECK(ints(y)[i] == (n > 50 ? KEPT : (int32_t)(n * (i * n) + n * (n - 1) / 2)));
        uf_plan_free(plan);
        uf_free(f);
        uf_free(g);
        arena_free(&a);
    }
}

/* Which memory a flag may be in; all verbs take it, and have a report behind their words. */
static void flags_body(void *unused) {
    const int64_t four[] = {4}, one[] = {1};
    static const DLDevice places[] = {{kDLCUDAHost, 0}, {kDLCUDAManaged, 0}, {kDLCUDA, 0}, {kDLCPU, 0}};
    (void)unused;
    DLManagedTensor *x = array(gpu, int32, 1, four), *y = array(gpu, int32, 1, four), *s = array(gpu, int32, 1, one);
    for (int i = 0; i < 4; i++)
        ints(x)[i] = i;
    for (size_t i = 0; i < COUNT(places); i++) {
        DLManagedTensor *flag = array(places[i], int32, 1, one);
        const uf_options options = {.size = sizeof options, .cancel = flag->dl_tensor.data};
        const uf_reduce_options reduce = {.size = sizeof reduce, .cancel = options.cancel, .keepdims = true};
        DLTensor args[] = {x->dl_tensor, y->dl_tensor, y->dl_tensor}, whole[] = {x->dl_tensor, s->dl_tensor};
        for (int loops = 0; loops < 2; loops++) {
            char source[64];
            snprintf(source, sizeof source, "(x, y) { %s return x + y; }", loops ? "while (x > 9) x -= y;" : "");
            uf_func *f = define_steps("flagged", NULL, "int32,int32->int32", source, 0, 0);
            args[1] = x->dl_tensor;
            uf_status said[] = {uf_call(f, 3, args, &options), uf_reduce(f, 2, whole, &reduce),
                                uf_accumulate(f, 2, (DLTensor[]){args[0], args[2]}, 0, &options),
                                uf_reduceat(f, 2, whole, &s->dl_tensor, 0, &options),
                                uf_at(f, &y->dl_tensor, 1, &x->dl_tensor, &x->dl_tensor, &options)};
            for (size_t k = 0; k < COUNT(said); k++)
                CHECK(said[k] == (i < 2 ? UF_OK : UF_ERR_ARGUMENT));
            if (i >= 2)
                CHECK(strstr(error_slot()->message, "flagged: the flag to cancel the call with is at"));
            CHECK(!uf_sync(gpu, NULL));
            uf_free(f);
        }
        if (i == 0) {
            uf_func *f =
                define_steps("loops", NULL, "int32,int32->int32", "(x, y) { while (x > 9) x -= y; return x; }", 0, 0);
            mock->fail_name("cuPointerGetAttribute", 999);
            CHECK_FAILS(uf_call(f, 3, args, &options), UF_ERR_DEVICE, "cuPointerGetAttribute");
            mock->fail_name(NULL, 0);
            mock->capture(1);
            CHECK_FAILS(uf_call(f, 3, args, &options), UF_ERR_ARGUMENT, "cannot be captured");
            mock->capture(0);
            CHECK(!uf_call(f, 3, args, &options) && !uf_sync(gpu, NULL));
            uf_free(f);
        }
        flag->deleter(flag);
    }
}

static bool can_simulate(void) { return sim_there() && nvvm_found(); }

static void test_simulated(void **unused) {
    (void)unused;
    if (!can_simulate())
        skip();
    in_child(elementwise_body, "plain");
    in_child(elementwise_body, "masked");
    in_child(gufunc_body, NULL);
    in_child(forall_body, NULL);
    in_child(steps_body, NULL);
    in_child(points_body, NULL);
    in_child(sizes_body, NULL);
    in_child(flags_body, NULL);
}

/* ---- When reports are seen: launches that say they failed ---- */

typedef struct line {
    uf_func *func;
    DLManagedTensor *x, *y;
} line;

static const int64_t four[] = {4};

/* y = 4 / x, of four elements. */
static line line_make(const char *name, DLDevice device) {
    return (line){define(name, NULL, "int32->int32", "(x) { return 4 / x; }", UF_DEBUG, 0),
                  array(device, int32, 1, four), array(device, int32, 1, four)};
}

static uf_status line_call(const line *l, void *stream) {
    return uf_call(l->func, 2, (DLTensor[]){l->x->dl_tensor, l->y->dl_tensor},
                   &(uf_options){.size = sizeof(uf_options), .stream = stream});
}

/* The report of a launch, whose address is the last word. */
static report *report_of(const mock_launch *l) { return (report *)(uintptr_t)l->words[l->bytes / 8 - 1]; }

static void say_failed(const mock_launch *l) {
    report *r = report_of(l);
    CHECK(!r->state && !r->what);
    *r = (report){.state = 1, .what = REPORT_DIVISION, .line = 1, .operand = -1, .dimension = -1, .element = 2};
}

static void say_nothing(const mock_launch *l) { CHECK(!report_of(l)->state); }

/* A launch that says that it failed, or not. */
static uf_status line_run(const line *l, void *stream, bool failing) {
    mock->on_launch(failing ? say_failed : say_nothing);
    uf_status s = line_call(l, stream);
    mock->on_launch(NULL);
    return s;
}

#define SAID(call, name) CHECK_FAILS(call, UF_ERR_KERNEL, name ": line 1: integer division by 0, at (2)")

static void waiting_body(void *unused) {
    char a[2];
    int32_t host[4] = {1, 2, 3, 4}, wide[8] = {0};
    int64_t two[] = {2};
    (void)unused;
    line l = line_make("first", gpu), other = line_make("second", gpu), far = line_make("far", second);
    memcpy(ints(l.y), host, sizeof host);
    /* the calls that wait say it, once: uf_sync, and a copy to or from memory that is not pinned, which is made */
    CHECK(!line_run(&l, NULL, true));
    SAID(uf_sync(gpu, NULL), "first");
    CHECK(!uf_sync(gpu, NULL));
    CHECK(!line_run(&l, NULL, true));
    memset(host, 0, sizeof host);
    SAID(uf_copy(&UF_ARRAY(host, 4), &l.y->dl_tensor, NULL), "first");
    CHECK(host[3] == 4);
    CHECK(!uf_copy(&UF_ARRAY(host, 4), &l.y->dl_tensor, NULL));
    CHECK(!line_run(&l, NULL, true));
    SAID(uf_copy(&l.x->dl_tensor, &UF_ARRAY(host, 4), NULL), "first");
    CHECK(ints(l.x)[3] == 4);
    CHECK(!line_run(&l, NULL, true));
    DLTensor strided = UF_ARRAY(wide, 4);
    strided.strides = two;
    SAID(uf_copy(&strided, &l.y->dl_tensor, NULL), "first");
    CHECK(wide[6] == 4 && !uf_sync(gpu, NULL));
    /* no other calls do */
    CHECK(!line_run(&l, NULL, true));
    CHECK(!uf_copy(&l.x->dl_tensor, &l.y->dl_tensor, NULL));
    CHECK(!line_run(&other, NULL, true));
    CHECK(!uf_sync(second, NULL));
    CHECK(!line_run(&far, NULL, true));
    SAID(uf_sync(gpu, NULL), "first"); /* of several the first, and then they are forgotten */
    CHECK(!uf_sync(gpu, NULL));
    SAID(uf_sync(second, NULL), "far");
    /* not before the launch is done */
    mock->hold(1);
    CHECK(!line_run(&other, &a[0], true));
    CHECK(!line_run(&l, &a[1], true));
    CHECK(!uf_sync(gpu, NULL));
    SAID(uf_sync(gpu, &a[1]), "first");
    CHECK(!uf_sync(gpu, &a[1]));
    SAID(uf_sync(gpu, &a[0]), "second");
    mock->hold(0);
    CHECK(!uf_sync(gpu, NULL));
}

/* Staged outputs are copied back, all of them, and keep what the kernel did not store. */
static void staged_body(void *unused) {
    int32_t x[4] = {1, 2, 3, 4}, a[4] = {5, 6, 7, 8}, b[4] = {9, 10, 11, 12};
    (void)unused;
    uf_func *f = define("staged", NULL, "int32->int32,int32", "(x) -> (a, b) { a = 4 / x; b = a; }", UF_DEBUG, 0);
    mock->on_launch(say_failed); /* and stores nothing */
    SAID(uf_call(f, 3, (DLTensor[]){UF_ARRAY(x, 4), UF_ARRAY(a, 4), UF_ARRAY(b, 4)},
                 &(uf_options){.size = sizeof(uf_options), .flags = UF_STAGE, .device = gpu}),
         "staged");
    for (int i = 0; i < 4; i++)
        CHECK(a[i] == 5 + i && b[i] == 9 + i);
    CHECK(!uf_sync(gpu, NULL));
}

static void crowd_body(void *unused) {
    int synchronised;
    cuda_device *d;
    (void)unused;
    CHECK(!cuda_device_get(0, &d));
    line good = line_make("good", gpu), bad = line_make("bad", gpu), worse = line_make("worse", gpu);
    /* many more launches than slots: what is done makes room, and the first that failed is kept */
    for (int i = 0; i < 5 * SLOTS; i++) {
        bool failing = i == 7 || i % 100 == 99;
        CHECK(!line_run(i == 7 ? &bad : failing ? &worse : &good, NULL, failing));
    }
    SAID(uf_sync(gpu, NULL), "bad");
    CHECK(!uf_sync(gpu, NULL));
    /* all failed */
    CHECK(!line_run(&bad, NULL, true));
    for (int i = 0; i < 2 * SLOTS; i++)
        CHECK(!line_run(&worse, NULL, true));
    SAID(uf_sync(gpu, NULL), "bad");
    CHECK(!uf_sync(gpu, NULL));
    /* none is known to be done: the context is waited for */
    mock->hold(1);
    for (int i = 0; i < SLOTS; i++)
        CHECK(!line_run(i == 3 ? &bad : &good, (void *)8, i == 3));
    synchronised = mock->synchronised(atomic_load(&d->primary));
    CHECK(!line_run(&good, (void *)8, false));
    CHECK(mock->synchronised(atomic_load(&d->primary)) == synchronised + 1);
    SAID(uf_sync(gpu, NULL), "bad");
    mock->hold(0);
    CHECK(!uf_sync(gpu, NULL));
}

/* Slots held by another context's launches, which cannot be waited for in this one. */
static void contexts_body(void *unused) {
    (void)unused;
    line l = line_make("other", gpu);
    void *own = mock->context_new(0), *third = mock->context_new(0);
    mock->context_set(own);
    CHECK(!line_run(&l, NULL, true));
    CHECK(mock->context_get() == own);
    SAID(uf_sync(gpu, NULL), "other");
    mock->hold(1);
    for (int i = 0; i < SLOTS; i++)
        CHECK(!line_run(&l, (void *)8, i == 9));
    mock->fail_name("cuCtxSynchronize", 700);
    mock->context_set(third);
    CHECK_FAILS(line_run(&l, (void *)16, false), UF_ERR_DEVICE, "256 launches of such functions are not done yet");
    mock->fail_name(NULL, 0);
    mock->context_set(own);
    SAID(uf_sync(gpu, (void *)8), "other");
    mock->context_set(third);
    CHECK(!line_run(&l, (void *)16, false) && !uf_sync(gpu, (void *)16));
    mock->hold(0);
}

static void capture_body(void *unused) {
    (void)unused;
    line l = line_make("caught", gpu);
    CHECK(!line_run(&l, NULL, false) && !uf_sync(gpu, NULL));
    mock->capture(1);
    CHECK_FAILS(line_run(&l, NULL, false), UF_ERR_ARGUMENT, "caught has UF_DEBUG");
    CHECK_FAILS(line_run(&l, NULL, false), UF_ERR_ARGUMENT, "cannot be captured");
    mock->capture(0);
    CHECK(!line_run(&l, NULL, true));
    SAID(uf_sync(gpu, NULL), "caught");
}

/* Every call of the driver's fails in turn, at the first launch and later; nothing is left behind but the slots. */
static void failures_body(void *unused) {
    (void)unused;
    line l = line_make("failing", gpu);
    int launches, before;
    for (int round = 0; round < 2; round++)
        for (int nth = 1;; nth++) {
            mock->launch(&before);
            mock->fail_at(nth, 700);
            uf_status s = line_run(&l, NULL, true), synced;
            bool failed = mock->failed() != NULL;
            mock->fail_at(0, 0);
            mock->launch(&launches);
            CHECK(!failed || s == UF_ERR_DEVICE || s == UF_ERR_COMPILE || s == UF_OK);
            synced = uf_sync(gpu, NULL);
            if (!s)
                CHECK(launches == before + 1 && synced == UF_ERR_KERNEL);
            else /* a launch that was not marked is not known to be done */
                CHECK(!synced);
            if (!failed)
                break;
        }
    /* more than slots: none is lost to a launch that failed */
    mock->fail_name("cuLaunchKernel", 700);
    for (int i = 0; i < 2 * SLOTS; i++)
        CHECK(line_run(&l, NULL, false) == UF_ERR_DEVICE);
    mock->fail_name("cuMemsetD8Async", 700);
    for (int i = 0; i < 2 * SLOTS; i++)
        CHECK(line_run(&l, NULL, false) == UF_ERR_DEVICE);
    mock->fail_name(NULL, 0);
    CHECK(!line_run(&l, NULL, true));
    SAID(uf_sync(gpu, NULL), "failing");
}

static void memory_body(void *unused) {
    (void)unused;
    line l = line_make("poor", gpu);
    int failed = 0;
    for (int n = 0;; n++) {
        mock->on_launch(say_failed);
        allocations_fail_after(n);
        uf_status s = line_call(&l, NULL);
        allocations_succeed();
        CHECK(!s || s == UF_ERR_MEMORY);
        failed += s != 0;
        if (!s)
            break;
    }
    CHECK(failed);
    allocations_fail_after(0); /* the text of the report */
    uf_status s = uf_sync(gpu, NULL);
    allocations_succeed();
    CHECK(s == UF_ERR_MEMORY);
    CHECK(!uf_sync(gpu, NULL));
}

static void *thread_body(void *stream) {
    char name[] = "t0";
    name[1] = (char)('0' + (uintptr_t)stream % 10);
    line l = line_make(name, gpu);
    for (int i = 0; i < 300; i++) {
        uf_status s = line_call(&l, stream);
        CHECK(!s);
        if (i % 7 == 0) {
            s = uf_sync(gpu, stream);
            CHECK(!s || s == UF_ERR_KERNEL);
        }
    }
    uf_free(l.func);
    return NULL;
}

static void threads_body(void *unused) {
    pthread_t threads[4];
    (void)unused;
    mock->on_launch(say_failed);
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(!pthread_create(&threads[i], NULL, thread_body, (void *)(i + 1)));
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_join(threads[i], NULL));
    uf_status s = uf_sync(gpu, NULL);
    CHECK(!s || s == UF_ERR_KERNEL);
    CHECK(!uf_sync(gpu, NULL));
}

static void test_reports(void **unused) {
    (void)unused;
    if (!nvvm_found())
        skip();
    in_child(waiting_body, NULL);
    in_child(staged_body, NULL);
    in_child(crowd_body, NULL);
    in_child(contexts_body, NULL);
    in_child(capture_body, NULL);
    in_child(failures_body, NULL);
    in_child(memory_body, NULL);
    in_child(threads_body, NULL);
}

/* ---- The code ---- */

static void test_code(void **unused) {
    static const struct {
        const char *layout, *types, *source;
        unsigned flags;
    } kernels[] = {
        {NULL, "int32,int32->int32", "(x, y) { return x / y + x % y; }", 0},
        {NULL, "int8,uint64->float32,bool", "(x, y) -> (a, b) { a = x / y; b = y % (x + 3); }", 0},
        {NULL, "complex64,int32->complex64", "(z, k) { complex64 t[4]; t[k] = z / (k / 2); return t[k + 1]; }", 0},
        {NULL, "float16->bool",
         "f(i) { bool t[3][2]; t[i][1] = true; return t[1][i]; } (x) { assert(x > 0); return f((int32_t)x); }", 0},
        {"(n),(m)->(m),()", "float32,int64->float32,int32",
         "(x, k) -> (y, s) { forall (i : m) y[i] = x[k[i]]; s = sum(i : n, 3 / (int32_t)x[i]); }", 0},
        {"(m,n),(n)->(m)", "float64,float64->float64",
         "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }", 0},
        {"(n),()->()", "int32,int32->int32",
         "q(a, b) { return a / b; } (x, k) -> (y) { y = reduce(q, j : n, x[j + k]) + max(j : k, x[j]); }", 0},
        {NULL, "float32[,], float32[,], int32", "[i, j](u, v, k) { v[i][j] = u[i][j + k] + u[i / k][j]; }", UF_KERNEL},
        {NULL, "uint8[], int32[]", "[i](x, h) { assert(i < len(x)); atomic_add(h[x[i]], 1); }", UF_KERNEL},
        {NULL, "complex128[], bool[,]",
         "[i, j : m](z, b) { if (z[i] == 0) return; b[i][j] = atomic_exchange(b[j][i], m % (i - 3) > 1); }", UF_KERNEL},
    };
    const code_target targets[] = {judge_host(), {.gpu = true, .arch = 90}};
    (void)unused;
    if (!nvvm_found())
        skip();
    for (size_t i = 0; i < COUNT(kernels); i++) {
        uf_func *f =
            define("judged", kernels[i].layout, kernels[i].types, kernels[i].source, UF_DEBUG | kernels[i].flags, 0);
        for (int t = 0; t < 2; t++) {
            char *ir;
            code_module m = {.entry = "uf_judged", .flags = UF_DEBUG, .math = false};
            assert_int_equal(uf_inspect(f, NULL, t ? (DLDevice){kDLCUDA, -90} : (DLDevice){kDLCPU, 0}, UF_VIEW_IR, &ir),
                             UF_OK);
            assert_true(t == 1 || strstr(ir, "@report(") || i == 5);
            text_puts(&m.ir, ir);
            m.math = strstr(ir, "@__nv_") != NULL;
            if (!judge_accept(&m, &targets[t], JUDGE_ASSEMBLE, i))
                fail_msg("%s", kernels[i].source);
            text_free(&m.ir);
            free(ir);
        }
        uf_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_code),
    };
    if (!mock_find()) {
        puts("no mock driver beside the program");
        return 77;
    }
    return cmocka_run_group_tests_name("debug on CUDA", tests, draw_seed, NULL);
}
