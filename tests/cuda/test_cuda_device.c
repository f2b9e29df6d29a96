/* test_cuda_device.c - what only a real driver can show, with UF_TEST_GPU=1: whose context is used and left, calls captured
 * into a graph, cooperative groups of blocks that meet, code that is freed while work with it is queued, resources, and what a call
 * costs the host beside a bare launch. That results are right on the GPU is for test_call, test_random and test_math to say. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/code.h"
#include "device.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static const DLDevice gpu = {kDLCUDA, 0};
static const DLDataType float32 = {kDLFloat, 32, 1};

/* ---- Arrays ---- */

static DLManagedTensor *device_line(int64_t n, float first) {
    DLManagedTensor *m;
    float *host = malloc((size_t)n * sizeof *host);
    for (int64_t i = 0; i < n; i++)
        host[i] = first + (float)(i % 1000);
    OK(uf_empty(&m, gpu, float32, 1, &n));
    OK(uf_copy(&m->dl_tensor, &UF_ARRAY(host, n), NULL));
    free(host);
    return m;
}

/* array[i] == scale * (first + i % 1000) + shift */
static void check_line(const DLManagedTensor *m, float scale, float first, float shift, void *stream) {
    int64_t n = m->dl_tensor.shape[0];
    float *host = malloc((size_t)n * sizeof *host);
    OK(uf_sync(gpu, stream));
    OK(uf_copy(&UF_ARRAY(host, n), &m->dl_tensor, stream));
    for (int64_t i = 0; i < n; i++)
        if (host[i] != scale * (first + (float)(i % 1000)) + shift)
            fail_msg("element %lld is %g", (long long)i, (double)host[i]);
    free(host);
}

static uf_func *twice_plus_one(void) {
    uf_func *f;
    OK(uf_vectorize(&f, "twice_plus_one", "float32->float32", "(x) { return 2 * x + 1; }"));
    return f;
}

static void call(const uf_func *f, const DLManagedTensor *x, const DLManagedTensor *y, void *stream) {
    DLTensor args[] = {x->dl_tensor, y->dl_tensor};
    OK(uf_call(f, 2, args, &(uf_options){.size = sizeof(uf_options), .stream = stream}));
}

/* ---- Contexts ---- */

static cu_context current(void) {
    cu_context context;
    OK(cuda.cuCtxGetCurrent(&context));
    return context;
}

static void test_own_context(void **unused) {
    cu_context own;
    cuda_device *d;
    (void)unused;
    OK(cuda_device_get(0, &d));
    OK(more.cuCtxCreate_v2(&own, 0, d->handle));
    assert_ptr_equal(current(), own);
    uf_func *f = twice_plus_one();
    DLManagedTensor *x = device_line(5000, 1), *y = device_line(5000, 0);
    cu_stream stream;
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    OK(uf_sync(gpu, NULL));
    call(f, x, y, stream); /* a stream of another context would be refused */
    check_line(y, 2, 1, 1, stream);
    assert_ptr_equal(current(), own);
    OK(more.cuStreamDestroy_v2(stream));
    x->deleter(x);
    y->deleter(y);
    uf_free(f);
    code_reap(d);
    OK(more.cuCtxDestroy_v2(own));
    assert_null(current());
}

static void test_no_context(void **unused) {
    (void)unused;
    OK(more.cuCtxSetCurrent(NULL));
    uf_func *f = twice_plus_one();
    DLManagedTensor *x = device_line(5000, 1), *y = device_line(5000, 0);
    call(f, x, y, NULL);
    check_line(y, 2, 1, 1, NULL);
    assert_null(current());
    x->deleter(x);
    y->deleter(y);
    uf_free(f);
}

/* ---- Capture ---- */

static void capture(bool overlap) {
    cu_stream stream;
    cuda_device *d;
    cu_context primary;
    void *graph, *exec;
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    uf_func *f = twice_plus_one();
    DLManagedTensor *x = device_line(100001, 1), *y = device_line(100001, 0);
    int64_t n = overlap ? 100000 : 100001;
    DLTensor args[] = {x->dl_tensor, overlap ? x->dl_tensor : y->dl_tensor};
    uf_options options = {.size = sizeof options, .stream = stream};
    args[0].shape = args[1].shape = &n;
    if (overlap)
        args[1].byte_offset = 4; /* the copy's memory becomes part of the graph */
    uf_plan *plan;
    OK(uf_plan_new(&plan, f, 2, args, &options)); /* compiles; nothing ran yet */
    void *data[] = {args[0].data, (char *)args[1].data + args[1].byte_offset};
    OK(uf_sync(gpu, NULL));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    OK(uf_plan_run(plan, data, stream));
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        OK(more.cuGraphLaunch(exec, stream));
    OK(uf_sync(gpu, stream));
    if (overlap) {
        float host[4];
        OK(uf_copy(&UF_ARRAY(host, 4), &(DLTensor){x->dl_tensor.data, gpu, 1, float32, (int64_t[]){4}, NULL, 0}, NULL));
        assert_true(host[0] == 1 && host[1] == 3 && host[2] == 7 && host[3] == 11); /* 1 3 5 7, then 1 3 7 11 */
    } else {
        check_line(y, 2, 1, 1, stream);
    }
    OK(more.cuGraphExecDestroy(exec));
    OK(more.cuGraphDestroy(graph));
    uf_plan_free(plan);
    OK(more.cuStreamDestroy_v2(stream));
    x->deleter(x);
    y->deleter(y);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

static void test_capture(void **unused) {
    (void)unused;
    capture(false);
    capture(true);
}

/* Functions made and freed while a stream of a strict mode is being captured. */
static void test_compile_in_capture(void **unused) {
    cu_stream stream;
    cuda_device *d;
    void *graph;
    (void)unused;
    OK(cuda_device_get(0, &d));
    cu_context primary;
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
    DLManagedTensor *x = device_line(1000, 1), *y = device_line(1000, 0);
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    for (int i = 0; i < 3; i++) {
        uf_func *f;
        char source[64];
        snprintf(source, sizeof source, "(x) { return %d * x + 1; }", i + 10);
        OK(uf_vectorize(&f, "f", "float32->float32", source));
        call(f, x, y, stream);
        uf_free(f);
    }
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphDestroy(graph));
    OK(more.cuStreamDestroy_v2(stream));
    x->deleter(x);
    y->deleter(y);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Queued work keeps its code alive ---- */

static void test_freed_while_queued(void **unused) {
    enum {
        FUNCTIONS = 300 /* more than the library keeps for reuse */
    };
    DLManagedTensor *x = device_line(1000, 0), *y = device_line(1000, 0);
    (void)unused;
    for (int i = 0; i < FUNCTIONS; i++) {
        uf_func *f;
        char source[128];
        snprintf(source, sizeof source,
                 "(x) { auto y = x; for (int i = 0; i < 4000000; i++) y = y * 0.5f; return y * 0 + 3 * x + %d; }", i);
        OK(uf_vectorize(&f, "slow", "float32->float32", source));
        call(f, x, y, NULL);
        uf_free(f);
    }
    check_line(y, 3, 0, FUNCTIONS - 1, NULL);
    print_message("pieces of code that wait to be unloaded: %d\n", code_dead());
    assert_true(code_dead() < FUNCTIONS);
    x->deleter(x);
    y->deleter(y);
}

/* ---- Inner calls: what only cooperative groups of several blocks and shared memory ask of the driver ---- */

/* Sums of rows: y[i] = sum(x[i]). What runs is PTX written for the purpose. */
typedef struct rows {
    variant v;
    nd_loop loop;
    layout_operand operands[2];
    core_layout layout;
    int64_t extent[1], stride[2], offset[2], core[2];
    char *data[2];
    launch l;
} rows;

static void rows_make(rows *r, int64_t calls, int64_t length, const DLManagedTensor *y, void *stream) {
    static const code_construct sum = {.reduces = true, .nodes = 2, .nouter = 1, .naccesses = 1, .access = {{0, 1, 0}}};
    code_traits size = {.nodes = 4, .maps_to_threads = true, .nconstructs = 1, .construct = {sum}};
    *r = (rows){.v = {.loop = LOOP_GUFUNC, .nin = 1, .nout = 1},
                .operands = {{.rank = 1, .strides = 1}, {.strides = 2}}};
    for (int k = 0; k < 2; k++)
        r->v.operand[k] = (variant_operand){.memory = DT_FLOAT32, .value = DT_FLOAT32, .kind = OPERAND_STRIDED};
    r->layout = (core_layout){.nin = 1, .nout = 1, .ndims = 1, .nparameters = 2, .operands = r->operands};
    r->extent[0] = calls;
    r->stride[0] = r->core[0] = length;
    r->stride[1] = r->core[1] = 1;
    r->data[0] = r->data[1] = y->dl_tensor.data; /* the input is not read */
    r->loop = (nd_loop){1, 2, calls, r->extent, r->stride, r->offset, LOOP_GUFUNC, {0}};
    r->l = (launch){
        .v = &r->v, .loop = &r->loop, .data = r->data, .stream = stream, .layout = &r->layout, .core = r->core};
    gpu_specialise(&r->v, &(loop_problem){.loop = &r->loop, .layout = &r->layout, .core = r->core, .traits = &size});
}

/* A kernel with so many words, p0 .. as parameters. */
static code *rows_load(const rows *r, int threads, const char *body) {
    cuda_device *d;
    code *c;
    text ptx = {0};
    text_puts(&ptx, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(");
    for (int i = 0; i < schema_count(&r->v, &r->layout, true); i++)
        text_printf(&ptx, "%s.param .u64 p%d", i ? ", " : "", i);
    text_printf(&ptx, ") .maxntid %d, 1, 1\n{\n.reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n.reg .pred %%p<4>;\n%s}\n",
                threads, body);
    OK(cuda_device_get(0, &d));
    OK(code_load(ptx.data, "k", 0, 0, d, &c));
    text_free(&ptx);
    return c;
}

/* Every block arrives at its cooperative group's slot and waits for the others, which ends only if all run and the slot began at 0; the
 * first one of each cooperative group adds what it saw to y[cooperative group]. Words: x y n aligned strides(2) blocks slots core(2). */
static const char meeting[] = "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra end;\n"
                              "ld.param.u64 %d0, [p6];\ncvt.u32.u64 %r1, %d0;\nmov.u32 %r2, %ctaid.x;\n"
                              "div.u32 %r3, %r2, %r1;\nld.param.u64 %d1, [p7];\nmul.wide.u32 %d2, %r3, COOP_SLOT;\n"
                              "add.u64 %d1, %d1, %d2;\natom.global.add.u32 %r4, [%d1], 1;\n"
                              "wait:\nld.volatile.global.u32 %r4, [%d1];\nsetp.lt.u32 %p1, %r4, %r1;\n@%p1 bra wait;\n"
                              "rem.u32 %r5, %r2, %r1;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra end;\n"
                              "ld.param.u64 %d3, [p1];\nmul.wide.u32 %d4, %r3, 4;\nadd.u64 %d3, %d3, %d4;\n"
                              "cvt.rn.f32.u32 %r6, %r4;\natom.global.add.f32 %r7, [%d3], %r6;\nend:\nret;\n";

static void check_meetings(const DLManagedTensor *y, const grid *g, int times, void *stream) {
    float host[64];
    OK(uf_sync(gpu, stream));
    OK(uf_copy(&UF_ARRAY(host, 64), &y->dl_tensor, stream));
    for (uint32_t i = 0; i < 64; i++)
        assert_true(host[i] == (i < g->coops ? (float)(g->coop_blocks * (uint32_t)times) : 0));
}

static void meet(int64_t calls, int64_t length) {
    char body[2048];
    rows r;
    grid g;
    uint64_t words[32];
    void *graph, *exec;
    cu_stream stream;
    int resident;
    OK(more.cuStreamCreate(&stream, NON_BLOCKING));
    DLManagedTensor *y = device_line(64, 0);
    OK(uf_sync(gpu, NULL));
    OK(cuda.cuMemsetD8Async((uintptr_t)y->dl_tensor.data, 0, 256, stream));
    rows_make(&r, calls, length, y, stream);
    assert_int_equal(r.v.gufunc.coop, COOP_GRID);
    const char *slot = strstr(meeting, "COOP_SLOT");
    snprintf(body, sizeof body, "%.*s%d%s", (int)(slot - meeting), meeting, COOP_SLOT, slot + strlen("COOP_SLOT"));
    code *c = rows_load(&r, 1 << COOP_GRID_BLOCK, body);
    OK(cuda_engine.launch(c, &r.l));
    OK(code_resident(c, 1 << COOP_GRID_BLOCK, 0, &resident));
    OK(gpu_layout(&r.l, &(occupancy){.sms = c->device->sms, .resident = resident, .cooperative = true}, words, &g));
    print_message("%lld calls: %u coops of %u blocks, %d resident\n", (long long)calls, g.coops, g.coop_blocks,
                  resident);
    check_meetings(y, &g, 1, stream);
    OK(more.cuStreamBeginCapture_v2(stream, GLOBAL_CAPTURE));
    OK(cuda_engine.launch(c, &r.l));
    OK(more.cuStreamEndCapture(stream, &graph));
    OK(more.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) /* the slots are zeroed each time */
        OK(more.cuGraphLaunch(exec, stream));
    check_meetings(y, &g, 4, stream);
    OK(more.cuGraphExecDestroy(exec));
    OK(more.cuGraphDestroy(graph));
    cuda_engine.release(c);
    y->deleter(y);
    OK(more.cuStreamDestroy_v2(stream));
}

static void test_coops(void **unused) {
    cuda_device *d;
    cu_context primary;
    (void)unused;
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
    meet(1, (int64_t)1 << 26);
    meet(3, (int64_t)1 << 20);
    meet(40, (int64_t)1 << 18);
    OK(more.cuCtxSetCurrent(NULL));
}

/* The most shared memory that staging takes. */
static void test_staged(void **unused) {
    rows r;
    cuda_device *d;
    cu_context primary;
    float host[1];
    int64_t one = 1;
    (void)unused;
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
    DLManagedTensor *y = device_line(1, 7);
    rows_make(&r, 1 << 20, 3, y, NULL);
    assert_true(r.v.gufunc.coop == 0 && r.v.operand[0].staged);
    r.core[0] = r.stride[0] = 383; /* as if a body without constructs had it: 1532 bytes a call */
    code *c = rows_load(&r, 256,
                        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nor.b32 %r0, %r0, %r1;\n"
                        "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra end;\nmov.u32 %r2, %dynamic_smem_size;\n"
                        "cvt.rn.f32.u32 %r3, %r2;\nld.param.u64 %d0, [p1];\nst.global.b32 [%d0], %r3;\nend:\nret;\n");
    OK(cuda_engine.launch(c, &r.l));
    OK(uf_sync(gpu, NULL));
    OK(uf_copy(&UF_ARRAY(host, one), &y->dl_tensor, NULL));
    assert_true(host[0] == 32 * 1532);
    cuda_engine.release(c);
    y->deleter(y);
    OK(more.cuCtxSetCurrent(NULL));
}

/* ---- Resources and cost ---- */

static void test_resources(void **unused) {
    char *shown;
    uf_func *f = twice_plus_one();
    (void)unused;
    OK(uf_inspect(f, NULL, gpu, UF_VIEW_RESOURCES, &shown));
    print_message("%s", shown);
    assert_non_null(strstr(shown, "registers a thread"));
    assert_non_null(strstr(shown, "local memory a thread 0 bytes"));
    free(shown);
    OK(uf_inspect(f, NULL, gpu, UF_VIEW_PTX, &shown));
    assert_non_null(strstr(shown, ".entry"));
    free(shown);
    uf_free(f);
}

static double microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Prints the host's time for a call, a plan, and the launch within, least of some rounds. Nothing is asserted: bench is. */
static void test_cost(void **unused) {
    enum {
        CALLS = 500,
        ROUNDS = 20
    };
    double best[3] = {1e9, 1e9, 1e9};
    cuda_device *d;
    code *c;
    uf_plan *plan;
    cu_context primary;
    (void)unused;
    OK(cuda_device_get(0, &d));
    OK(cuda.cuDevicePrimaryCtxRetain(&primary, d->handle));
    OK(more.cuCtxSetCurrent(primary));
    uf_func *f = twice_plus_one();
    DLManagedTensor *x = device_line(1000, 0), *y = device_line(1000, 0);
    DLTensor args[] = {x->dl_tensor, y->dl_tensor};
    void *data[] = {args[0].data, args[1].data};
    OK(uf_plan_new(&plan, f, 2, args, NULL));
    OK(code_load(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
                 ".param .u64 c, .param .u64 d)\n{\n\tret;\n}\n",
                 "k", 0, 0, d, &c));
    cu_function function;
    uint64_t words[4] = {0};
    size_t bytes = sizeof words;
    void *extra[] = {(void *)1, words, (void *)2, &bytes, NULL};
    OK(cuda.cuKernelGetFunction(&function, c->kernel));
    for (int round = 0; round < ROUNDS; round++)
        for (int what = 0; what < 3; what++) {
            double before = microseconds();
            for (int i = 0; i < CALLS; i++)
                if (what == 0)
                    uf_call(f, 2, args, NULL);
                else if (what == 1)
                    uf_plan_run(plan, data, NULL);
                else
                    cuda.cuLaunchKernel((cu_kernel)(void *)function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra);
            double each = (microseconds() - before) / CALLS;
            best[what] = each < best[what] ? each : best[what];
            OK(uf_sync(gpu, NULL));
        }
    print_message("host time: uf_call %.2f us, uf_plan_run %.2f us, cuLaunchKernel of a function %.2f us\n", best[0],
                  best[1], best[2]);
    cuda_engine.release(c);
    uf_plan_free(plan);
    x->deleter(x);
    y->deleter(y);
    uf_free(f);
    OK(more.cuCtxSetCurrent(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_context),
        cmocka_unit_test(test_no_context),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_compile_in_capture),
        cmocka_unit_test(test_freed_while_queued),
        cmocka_unit_test(test_coops),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_cost),
    };
    if (!getenv("UF_TEST_GPU")) {
        puts("UF_TEST_GPU is not set");
        return 77;
    }
    return cmocka_run_group_tests(tests, device_begin, NULL);
}
