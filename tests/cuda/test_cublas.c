/* test_cublas.c - products of matrices by cuBLAS, against the mock driver and a mock cuBLAS that computes by plain loops: which launches
 * are given to it, with what, on which stream and with whose memory; captures, threads, every failure; where the library is
 * looked for. What is not given to it must be left alone. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cuda/code.h"
#include "cuda/cublas.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "draw.h"
#include "mock/mockcublas.h"
#include "mock_child.h"
#include "product_case.h"

static const dtype types[] = {DT_FLOAT16, DT_BFLOAT16, DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};

enum {
    TYPES = COUNT(types),
    RELAXED = 2,
    MIB = 1 << 20
};

/* ---- The mock ---- */

static char blas_path[4096]; /* beside the mock driver */
static const mock_cublas *blas;

static void use_blas(void) {
    CHECK(setenv("UFUNC_CUBLAS", blas_path, 1) == 0);
    void *handle = dlopen(blas_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    const mock_cublas *(*control)(void);
    *(void **)&control = dlsym(handle, "mock_cublas_control");
    CHECK(control);
    blas = control();
}

static cuda_device *device(void) {
    cuda_device *d;
    CHECK(!cuda_device_get(0, &d));
    return d;
}

static int products(void) { return blas->count("cublasGemmStridedBatchedEx_64"); }

/* ---- Launches ---- */

static uf_status launch_status(const product_case *q, void *stream, unsigned fast, bool *done) {
    product_launch space;
    launch l = product_case_launch(q, &space);
    l.stream = stream;
    l.fast = fast;
    return cublas_launch(device(), &l, done);
}

/* cuBLAS computes it and the result is right, or it declines and leaves the output alone. */
static bool try_problem(const product_case *q, void *stream) {
    bool ran;
    CHECK(!launch_status(q, stream, 0, &ran));
    char *want = product_case_expected(q);
    if (!ran)
        memset(want, 0xff, product_case_bytes(q, 2));
    CHECK(product_case_difference(q, q->operand[2].buffer, want) < 0);
    free(want);
    return ran;
}

/* One matrix of so many rows, terms and columns, in C order. */
static product_case plain(dtype type, int64_t m, int64_t n, int64_t p) {
    product_case q = product_case_of(BLAS_GEMM, type, m, n, p);
    product_case_fill(&q, false);
    return q;
}

/* ---- Which products ---- */

/* The least m * n * p, and the least of the middle one, by the order of `types`. */
static const int work_from[TYPES] = {13824, 13824, 13824, 8000, 13824, 2744};
enum {
    MIDDLE = 12
};

/* Little work in all, of dtypes for which tiles of generated code are faster. */
static bool are_few(const product_case *q, int t) {
    int64_t calls = 1, work = q->extent[0] * q->extent[1] * q->extent[2];
    bool thin = q->extent[0] < 16 || q->extent[1] < 16 || q->extent[2] < 16;
    for (int d = 0; d < q->ndim; d++)
        calls *= q->loop[d];
    if (thin || (types[t] != DT_FLOAT32 && types[t] != DT_COMPLEX64))
        return false;
    return work * calls <= 1 << 19 || (calls <= 4 && q->extent[1] <= 128 && work * calls <= 1 << 23);
}

static bool is_worth(const product_case *q, int t) {
    int middle = 0;
    for (int i = 0; i < 3; i++)
        middle += q->extent[i] >= MIDDLE;
    int64_t work = q->extent[0] * q->extent[1] * q->extent[2];
    bool few = q->ndim < 2 || work * q->loop[1] >= 1 << 24; /* calls, or they are large */
    bool read_once = q->form == BLAS_GEMV && q->ndim && work <= 1 << 16 && !dtype_is_complex(types[t]);
    return work >= work_from[t] && middle >= 2 && few && !read_once && !are_few(q, t);
}

static void forms_body(void *unused) {
    int taken = 0;
    (void)unused;
    use_blas();
    for (int form = BLAS_GEMM; form < PRODUCT_FORMS; form++)
        for (int t = 0; t < TYPES; t++)
            for (int round = 0; round < 3; round++) {
                product_case q = product_case_of((blas_form)form, types[t], 60, round ? 900 : 80, 110);
                q.ndim = round;
                q.loop[0] = 2, q.loop[1] = 3;
                product_case_fill(&q, false);
                bool ran = try_problem(&q, NULL);
                CHECK(ran == is_worth(&q, t));
                taken += ran;
                product_case_free(&q);
            }
    CHECK(taken > 30);
}

/* Random strides: transposed, with gaps, negative, zero; sizes on both sides of those that pay. */
static void random_body(void *user) {
    int ran = 0;
    draw_seed(NULL);
    use_blas();
    (void)user;
    int64_t count = trials(400);
    for (int64_t k = count; k; k--) {
        blas_form form = (blas_form)pick(BLAS_GEMM, PRODUCT_FORMS - 1);
        int64_t most = form == BLAS_GEMM ? 60 : 300;
        product_case q = product_case_of(form, types[pick(0, TYPES - 1)], chance(10) ? 1 : pick(20, most),
                                         chance(10) ? 1 : pick(20, most), chance(10) ? 1 : pick(20, most));
        q.ndim = (int)pick(0, PRODUCT_LOOPS);
        for (int d = 0; d < q.ndim; d++)
            q.loop[d] = pick(1, 3);
        product_case_fill(&q, true);
        ran += try_problem(&q, NULL);
        product_case_free(&q);
    }
    printf("# cuBLAS computed %d of %d\n", ran, (int)count);
    CHECK(ran > count / 20);
}

/* The choice: sizes and dtypes on both sides of the border; nothing to add or to write. */
static void choice_body(void *unused) {
    (void)unused;
    use_blas();
    static const struct {
        dtype type;
        int64_t m, n, p;
        bool taken;
    } cases[] = {
        {DT_FLOAT32, 256, 256, 256, false},   {DT_FLOAT32, 257, 256, 256, true},   {DT_FLOAT32, 255, 257, 255, true},
        {DT_FLOAT32, 15, 900, 15, true},      {DT_FLOAT32, 16, 900, 16, false},    {DT_FLOAT64, 20, 20, 20, true},
        {DT_FLOAT64, 20, 20, 19, false},      {DT_FLOAT16, 24, 24, 24, true},      {DT_BFLOAT16, 24, 24, 23, false},
        {DT_COMPLEX64, 256, 128, 256, false}, {DT_COMPLEX64, 257, 128, 256, true}, {DT_COMPLEX64, 100, 129, 100, true},
        {DT_COMPLEX128, 14, 14, 14, true},    {DT_COMPLEX128, 14, 13, 14, false},  {DT_FLOAT32, 1, 300, 300, true},
        {DT_FLOAT32, 300, 300, 1, true},      {DT_FLOAT32, 300, 1, 300, true},     {DT_FLOAT32, 11, 11, 4000, false},
        {DT_FLOAT32, 12, 12, 4000, true},     {DT_FLOAT32, 1, 100000, 1, false},   {DT_FLOAT32, 0, 300, 300, false},
        {DT_FLOAT32, 300, 0, 300, false},     {DT_FLOAT32, 300, 300, 0, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        product_case q = plain(cases[i].type, cases[i].m, cases[i].n, cases[i].p);
        CHECK(try_problem(&q, NULL) == cases[i].taken);
        product_case_free(&q);
    }
    static const struct {
        dtype type;
        int64_t n, count;
        bool taken;
    } batches[] = {
        {DT_FLOAT32, 24, 37, false},   {DT_FLOAT32, 24, 38, true},  {DT_FLOAT32, 23, 100, false},
        {DT_FLOAT32, 128, 4, false},   {DT_FLOAT32, 96, 5, true},   {DT_FLOAT32, 160, 2, true},
        {DT_COMPLEX64, 128, 4, false}, {DT_COMPLEX64, 96, 5, true}, {DT_FLOAT64, 20, 4, true},
        {DT_FLOAT64, 19, 4, false},    {DT_BFLOAT16, 24, 4, true},  {DT_BFLOAT16, 23, 4, false},
    };
    for (size_t i = 0; i < COUNT(batches); i++) { /* of squares */
        product_case b = product_case_of(BLAS_GEMM, batches[i].type, batches[i].n, batches[i].n, batches[i].n);
        b.ndim = 1;
        b.loop[0] = batches[i].count;
        product_case_fill(&b, false);
        CHECK(try_problem(&b, NULL) == batches[i].taken);
        product_case_free(&b);
    }
    static const struct {
        dtype type;
        int64_t m, n, count;
        bool taken;
    } vectors[] = {
        /* Many matrices, of which each is multiplied by a vector of its own. */
        {DT_FLOAT32, 256, 256, 2, false}, {DT_FLOAT32, 256, 257, 2, true},   {DT_FLOAT32, 256, 256, 1, true},
        {DT_FLOAT32, 4096, 64, 2, false}, {DT_FLOAT32, 4097, 64, 2, true},   {DT_FLOAT32, 4000, 65, 2, true},
        {DT_FLOAT64, 4096, 64, 2, true},  {DT_BFLOAT16, 256, 256, 2, false}, {DT_COMPLEX64, 256, 256, 2, true},
    };
    for (size_t i = 0; i < COUNT(vectors); i++) {
        product_case v = product_case_of(BLAS_GEMV, vectors[i].type, vectors[i].m, vectors[i].n, 1);
        v.ndim = 1;
        v.loop[0] = vectors[i].count;
        product_case_fill(&v, false);
        CHECK(try_problem(&v, NULL) == vectors[i].taken);
        product_case_free(&v);
    }
    product_case q = plain(DT_FLOAT32, 64, 64, 64);
    bool done;
    CHECK(!launch_status(&q, NULL, UF_FAST_ALL & ~UF_FAST_TF32, &done) && !done);
    CHECK(!launch_status(&q, NULL, UF_FAST_TF32, &done) && done); /* a library's, however little */
    q.ndim = 1;                                                   /* a loop without elements */
    CHECK(!launch_status(&q, NULL, 0, &done) && !done);
    product_case_free(&q);
}

/* What is not cuBLAS's: other dtypes, casts, numbers, masks, calls that report, functions without a form. */
static void not_ours_body(void *unused) {
    (void)unused;
    use_blas();
    product_case q = plain(DT_FLOAT32, 64, 300, 64);
    for (int which = 0; which < 7; which++) {
        product_launch s;
        launch l = product_case_launch(&q, &s);
        bool done;
        s.v.operand[0].memory = which == 1 ? DT_FLOAT64 : DT_FLOAT32;
        s.v.operand[1].kind = which == 2 ? OPERAND_NUMBER : OPERAND_STRIDED;
        s.v.masked = which == 3;
        s.v.reports = which == 4;
        for (int k = 0; which == 5 && k < 3; k++)
            s.v.operand[k].memory = s.v.operand[k].value = DT_INT32;
        l.blas = which == 6 ? BLAS_NONE : BLAS_GEMM;
        CHECK(!cublas_launch(device(), &l, &done) && done == !which);
    }
    product_case_free(&q);
}

/* ---- How products are called ---- */

/* One matrix times many vectors is one product, whichever side stands still. */
static void merging_body(void *unused) {
    (void)unused;
    use_blas();
    static const struct {
        blas_form form;
        int still;
        int64_t m, n, k;
    } cases[] = {{BLAS_GEMV, 0, 10, 500, 30},
                 {BLAS_GEVM, 1, 10, 500, 30},
                 {BLAS_GEVMC, 1, 10, 500, 30},
                 {BLAS_GEMM, 1, 10, 500 * 10, 30}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int t = 0; t < TYPES; t++) {
            product_case q = product_case_of(cases[i].form, types[t], 10, 30, 10);
            q.ndim = 1;
            q.loop[0] = 500;
            product_case_fill(&q, false);
            q.operand[cases[i].still].loop[0] = 0;
            int before = products();
            /* BLAS conjugates only what it transposes */
            bool taken = cases[i].form != BLAS_GEVMC || !dtype_is_complex(types[t]);
            CHECK(try_problem(&q, NULL) == taken);
            const mock_gemm *g = blas->gemm();
            CHECK(!taken || (products() == before + 1 && g->batch == 1 && g->k == cases[i].k && g->m == cases[i].m &&
                             g->n == cases[i].n));
            product_case_free(&q);
        }
}

/* Dimensions that do not become one product: the longest is a batch, each index of the others a call. */
static void batches_body(void *unused) {
    (void)unused;
    use_blas();
    product_case q = product_case_of(BLAS_GEMM, DT_FLOAT32, 64, 64, 64);
    q.ndim = 3;
    q.loop[0] = 2, q.loop[1] = 80, q.loop[2] = 3;
    product_case_fill(&q, false);
    int before = products();
    CHECK(try_problem(&q, NULL));
    const mock_gemm *g = blas->gemm();
    CHECK(products() == before + 6 && g->batch == 80);
    CHECK(g->stride_c == q.operand[2].loop[1] && g->stride_b == q.operand[0].loop[1]); /* C^T = right^T left^T */
    product_case_free(&q);
    q.loop[1] = 8; /* many calls of little work */
    product_case_fill(&q, false);
    CHECK(!try_problem(&q, NULL) && products() == before + 6);
    product_case_free(&q);
    q = product_case_of(BLAS_GEMM, DT_FLOAT32, 64, 64, 64);
    q.ndim = 2;
    q.loop[0] = 90, q.loop[1] = 3;
    product_case_fill(&q, false);
    q.operand[1].loop[0] = 0,
    q.operand[0].loop[1] = 0; /* each side stands still somewhere, where it cannot be merged */
    CHECK(try_problem(&q, NULL));
    product_case_free(&q);
}

/* What each dtype is computed in, without and with UF_FAST_TF32: nothing is rounded that need not be. */
static void precision_body(void *unused) {
    (void)unused;
    use_blas();
    static const struct {
        int type, compute, fast;
    } want[TYPES] = {{2, 68, 68}, {14, 68, 68}, {0, 69, 77}, {1, 70, 70}, {4, 69, 77}, {5, 70, 70}};
    for (int t = 0; t < TYPES; t++)
        for (unsigned fast = 0; fast <= UF_FAST_ALL; fast++) {
            bool done, tf32 = fast & UF_FAST_TF32;
            product_case q = plain(types[t], 50, 300, 50);
            CHECK(!launch_status(&q, NULL, fast, &done) && done);
            const mock_gemm *g = blas->gemm();
            CHECK(g->type == want[t].type && g->compute == (tf32 ? want[t].fast : want[t].compute));
            CHECK(g->math == (tf32 ? 0 : 16)); /* no reduced precision in sums */
            product_case_free(&q);
        }
}

static void test_choice(void **unused) {
    (void)unused;
    in_child(forms_body, NULL);
    in_child(random_body, NULL);
    in_child(choice_body, NULL);
    in_child(not_ours_body, NULL);
}

static void test_calls(void **unused) {
    (void)unused;
    in_child(merging_body, NULL);
    in_child(batches_body, NULL);
    in_child(precision_body, NULL);
}

/* ---- Streams and memory ---- */

static void *stream_of(int k) { return (void *)(uintptr_t)(16 * (k + 1)); }

static int allocated(void) { return mock->count("cuMemAllocAsync") + mock->count("cuMemAlloc_v2"); }

static void look_at_mode(const mock_gemm *g) {
    (void)g;
    CHECK(mock->mode() == RELAXED);
}

/* Each stream has its workspace, and in the steady state nothing is allocated or made. */
static void streams_body(void *arch) {
    setenv("MOCK_ARCH", arch, 1);
    use_blas();
    blas->on_call(look_at_mode);
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    const void *workspace[3];
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < 3; k++) {
            CHECK(try_problem(&q, stream_of(k)));
            const mock_gemm *g = blas->gemm();
            CHECK(g->stream == stream_of(k) && g->workspace_size == (size_t)(atoi(arch) < 90 ? 4 : 32) * MIB);
            CHECK(!round || g->workspace == workspace[k]);
            workspace[k] = g->workspace;
        }
    CHECK(workspace[0] != workspace[1] && workspace[1] != workspace[2] && workspace[0] != workspace[2]);
    CHECK(allocated() == 3 && mock->live().allocations == 3 && mock->live().depth == 0 && mock->mode() == 0);
    CHECK(blas->count("cublasCreate_v2") == 1); /* one call at a time needs one handle */
    product_case_free(&q);
}

/* A capture takes memory in stream order, of the same size, whether or not the stream was used before. */
static void capture_body(void *used) {
    use_blas();
    blas->on_call(look_at_mode);
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    if (used)
        CHECK(try_problem(&q, stream_of(0)));
    int before = mock->count("cuMemAllocAsync"), freed = mock->count("cuMemFreeAsync");
    mock->capture(1);
    CHECK(try_problem(&q, stream_of(0)));
    CHECK(blas->gemm()->workspace_size == (size_t)32 * MIB);
    CHECK(mock->count("cuMemAllocAsync") == before + 1 && mock->count("cuMemFreeAsync") == freed + 1);
    CHECK(mock->count("cuStreamSynchronize") + mock->count("cuCtxSynchronize") == 0);
    mock->capture(0);
    CHECK(try_problem(&q, stream_of(0)) && mock->live().depth == 0 && mock->mode() == 0);
    product_case_free(&q);
}

/* How often a handle was told its stream, workspace and mode. */
static void check_told(int streams, int workspaces, int modes) {
    CHECK(blas->count("cublasSetStream_v2") == streams);
    CHECK(blas->count("cublasSetWorkspace_v2") == workspaces);
    CHECK(blas->count("cublasSetMathMode") == modes);
}

/* A handle is told what differs from the call before, and everything again after a failure and in a capture. */
static void told_body(void *unused) {
    (void)unused;
    use_blas();
    product_case q = plain(DT_FLOAT32, 50, 300, 50);
    bool done;
    for (int k = 0; k < 3; k++)
        CHECK(try_problem(&q, stream_of(0)));
    check_told(1, 1, 1);
    CHECK(try_problem(&q, stream_of(1)) && blas->gemm()->stream == stream_of(1));
    check_told(2, 2, 1);
    CHECK(!launch_status(&q, stream_of(1), UF_FAST_TF32, &done) && done && blas->gemm()->math == 0);
    CHECK(try_problem(&q, stream_of(1)) && blas->gemm()->math == 16);
    check_told(2, 2, 3);
    blas->fail_name("cublasSetWorkspace_v2", 13);
    CHECK(launch_status(&q, stream_of(0), 0, &done));
    blas->fail_name(NULL, 0);
    CHECK(try_problem(&q, stream_of(1)) && blas->gemm()->stream == stream_of(1));
    check_told(4, 4, 3);
    mock->capture(1);
    CHECK(try_problem(&q, stream_of(1)) && try_problem(&q, stream_of(1)));
    check_told(6, 6, 3);
    mock->capture(0);
    CHECK(try_problem(&q, stream_of(1)));
    check_told(7, 7, 3);
    product_case_free(&q);
}

/* Contexts do not share handles. */
static void contexts_body(void *unused) {
    (void)unused;
    use_blas();
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    CHECK(try_problem(&q, NULL));
    const void *primary = blas->gemm()->handle;
    void *other = mock->context_new(0);
    for (int round = 0; round < 2; round++) {
        mock->context_set(other);
        CHECK(try_problem(&q, NULL) && blas->gemm()->handle != primary && mock->context_get() == other);
        mock->context_set(NULL);
        CHECK(try_problem(&q, NULL) && blas->gemm()->handle == primary);
    }
    mock->context_set(mock->context_new(1)); /* of another device: the primary one is pushed */
    CHECK(try_problem(&q, NULL) && blas->gemm()->handle == primary);
    CHECK(blas->count("cublasCreate_v2") == 2);
    product_case_free(&q);
}

typedef struct caller {
    pthread_t thread;
    int k;
    product_case q;
} caller;

static void *call_on_and_on(void *user) {
    caller *c = user;
    for (int i = 0; i < 30; i++) {
        memset(c->q.operand[2].buffer, 0xff, product_case_bytes(&c->q, 2));
        CHECK(try_problem(&c->q, stream_of(c->k % 3)));
    }
    return NULL;
}

static void threads_body(void *unused) {
    enum {
        CALLERS = 6
    };
    caller callers[CALLERS];
    (void)unused;
    use_blas();
    for (int k = 0; k < CALLERS; k++) {
        callers[k] = (caller){.k = k, .q = plain(DT_FLOAT64, 40 + k, 40, 40)};
        CHECK(!pthread_create(&callers[k].thread, NULL, call_on_and_on, &callers[k]));
    }
    for (int k = 0; k < CALLERS; k++)
        CHECK(!pthread_join(callers[k].thread, NULL));
    CHECK(blas->count("cublasCreate_v2") <= CALLERS && products() == CALLERS * 30);
    for (int k = 0; k < CALLERS; k++)
        product_case_free(&callers[k].q);
}

static void test_streams(void **unused) {
    (void)unused;
    in_child(streams_body, "90");
    in_child(streams_body, "80");
    in_child(capture_body, NULL);
    in_child(capture_body, "used");
    in_child(told_body, NULL);
    in_child(contexts_body, NULL);
    in_child(threads_body, NULL);
}

/* ---- Failures ---- */

static void failures_body(void *unused) {
    static const char *const functions[] = {"cublasCreate_v2", "cublasSetStream_v2", "cublasSetWorkspace_v2",
                                            "cublasSetMathMode", "cublasGemmStridedBatchedEx_64"};
    (void)unused;
    use_blas();
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    bool done;
    for (size_t i = 0; i < COUNT(functions); i++)
        for (int twice = 0; twice < 2; twice++) {
            blas->fail_name(functions[i], twice ? 3 : 13);
            CHECK_FAILS(launch_status(&q, NULL, 0, &done), twice ? UF_ERR_MEMORY : UF_ERR_DEVICE, functions[i]);
            CHECK(
                strstr(error_slot()->message, twice ? "CUBLAS_STATUS_MOCK_3 (3): a status" : "CUBLAS_STATUS_MOCK_13"));
            CHECK(mock->live().depth == 0 && mock->mode() == 0 && mock->live().allocations == 1);
        }
    blas->fail_name(NULL, 0);
    CHECK(try_problem(&q, NULL) && mock->live().allocations == 1);
    product_case_free(&q);
}

/* Every call of the driver fails in turn. */
static void driver_body(void *unused) {
    (void)unused;
    use_blas();
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    bool done, failed = true;
    CHECK(device());
    for (int nth = 1; failed; nth++) {
        mock->fail_at(nth, 2);
        uf_status s = launch_status(&q, stream_of(nth), 0, &done);
        failed = mock->failed();
        CHECK(failed ? s == UF_ERR_MEMORY || !s : !s); /* leaving a context and giving back cannot fail the call */
        CHECK(nth < 60);
        mock->fail_at(0, 0);
        mock->context_set(NULL);
    }
    CHECK(try_problem(&q, NULL));
    product_case_free(&q);
}

/* Through the engine: cuBLAS in place of the kernel, or the kernel. */
static void engine_body(void *with) {
    if (with)
        use_blas();
    else
        setenv("UFUNC_CUBLAS", "/nowhere/libcublas.so.12", 1);
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    product_launch s;
    launch l = product_case_launch(&q, &s);
    int before, after;
    code *c;
    gpu_specialise(&s.v,
                   &(loop_problem){.loop = &s.loop, .layout = &s.layout, .core = s.words, .traits = &(code_traits){0}});
    CHECK(!code_load(ptx_of("k", schema_count(&s.v, &s.layout, true), 1024), "k", 0, 0, device(), &c));
    CHECK(cublas_takes(&l) == (with != NULL));
    mock->launch(&before);
    CHECK(!launch_run(with ? NULL : c, &l));
    mock->launch(&after);
    CHECK(after - before == !with);
    if (with) {
        blas->fail_name("cublasGemmStridedBatchedEx_64", 13);
        CHECK_FAILS(launch_run(c, &l), UF_ERR_DEVICE, "cublasGemmStridedBatchedEx_64"); /* nothing takes its place */
        static volatile int flag;
        l.cancel = &flag;
        CHECK_FAILS(launch_run(c, &l), UF_ERR_ARGUMENT, "the flag to cancel the call with");
        mock->launch(&after);
        CHECK(after == before);
    }
    product_case_free(&q);
}

static void test_failures(void **unused) {
    (void)unused;
    in_child(failures_body, NULL);
    in_child(driver_body, NULL);
    in_child(engine_body, "with");
    in_child(engine_body, NULL);
}

/* ---- Where it is looked for ---- */

static void check_info(const char *part, const char *other) {
    text info = {0};
    cublas_info(&info);
    if (!strstr(info.data, part) || (other && !strstr(info.data, other))) {
        fprintf(stderr, "%s: not \"%s\", \"%s\"\n", info.data, part, other ? other : "");
        _exit(1);
    }
    text_free(&info);
}

static void no_driver_body(void *unused) {
    (void)unused;
    use_blas();
    check_info("cuBLAS       not looked for, as the driver is missing", NULL);
}

static void missing_body(void *file) {
    setenv("UFUNC_CUBLAS", file, 1);
    product_case q = plain(DT_FLOAT64, 40, 40, 40);
    CHECK(!try_problem(&q, NULL) && !try_problem(&q, NULL) && error_slot()->status == UF_OK);
    check_info("missing: ", file);
    check_info("generated code", strstr(file, "libm") ? "it has no function cublasCreate_v2" : "cannot open");
    product_case_free(&q);
}

/* In a folder of its own: DIRECTORY/BELOW/NAME is the mock. */
static void place(const char *directory, const char *below, const char *name) {
    char path[512], command[8192];
    snprintf(path, sizeof path, "%s/%s", directory, below);
    snprintf(command, sizeof command, "mkdir -p '%s' && cp '%s' '%s/%s'", path, blas_path, path, name);
    CHECK(system(command) == 0);
}

typedef struct place_case {
    const char *variable, *below, *name, *version, *found; /* found: part of what is said */
} place_case;

static void place_body(void *user) {
    const place_case *p = user;
    char directory[] = "/tmp/cublasXXXXXX", command[64];
    static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME", "UFUNC_CUBLAS"};
    CHECK(mkdtemp(directory));
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    setenv(p->variable, directory, 1);
    setenv("MOCK_VERSION", p->version, 1);
    place(directory, p->below, p->name);
    CHECK(device());
    check_info(p->found, "cuBLAS ");
    snprintf(command, sizeof command, "rm -r %s", directory);
    CHECK(system(command) == 0);
}

static void test_places(void **unused) {
    (void)unused;
    static const place_case cases[] = {
        {"VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cublas/lib", "libcublas.so.12", "12040", "version 13.1.7"},
        {"VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cu13/lib", "libcublas.so.13", "13000", "nvidia/cu13/lib"},
        {"CONDA_PREFIX", "lib", "libcublas.so.13", "13010", "/lib/libcublas.so.13"},
        {"CUDA_PATH", "lib64", "libcublas.so.12", "12000", "/lib64/libcublas.so.12"},
        {"CUDA_HOME", "lib64", "libcublas.so.13", "14000", "/lib64/libcublas.so.13"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        in_child(place_body, (void *)(uintptr_t)&cases[i]);
    in_child(no_driver_body, NULL);
    in_child(missing_body, "/nowhere/libcublas.so.13");
    in_child(missing_body, "libm.so.6");
}

/* A version newer than the driver is left out. */
static void newer_body(void *unused) {
    (void)unused;
    place_case p = {"CUDA_PATH", "lib64", "libcublas.so.13", "12080", "missing"};
    if (!dlopen("libcublas.so.12", RTLD_NOW | RTLD_LOCAL) && access("/usr/local/cuda/lib64/libcublas.so.12", F_OK))
        place_body(&p);
}

static void test_newer(void **unused) {
    (void)unused;
    in_child(newer_body, NULL);
}

int main(void) {
    if (!mock_find()) {
        printf("1..0 # SKIP there is no %s\n", mock_path);
        return 0;
    }
    snprintf(blas_path, sizeof blas_path, "%s", mock_path);
    strcpy(strrchr(blas_path, '/') + 1, "libmockcublas.so");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice),  cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_streams), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_places),  cmocka_unit_test(test_newer)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
