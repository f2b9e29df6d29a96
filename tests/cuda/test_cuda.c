/* test_cuda.c - the CUDA engine without a GPU: a mock driver (tests/support/mock) for everything that talks to libcuda, the real
 * libnvvm, where there is one, for what compiles. Every test runs in processes of its own, as the engine keeps what it
 * found. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/code.h"
#include "cuda/toolkit.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "mock_child.h"

static char directory[4096];
static bool have_toolkit;

/* ---- A small call ---- */

typedef struct sample {
    variant v;
    nd_loop loop;
    int64_t extent[UF_MAX_NDIM], stride[UF_MAX_NDIM * VARIANT_OPERANDS], offset[VARIANT_OPERANDS];
    char *data[VARIANT_OPERANDS];
    uint64_t numbers[VARIANT_OPERANDS][2];
    launch l;
} sample;

static sample flat; /* z = x + number */

static void make_flat(int64_t n) {
    flat.v = (variant){.loop = LOOP_FLAT, .nin = 2, .nout = 1};
    for (int k = 0; k < 3; k++) {
        flat.v.operand[k] = (variant_operand){
            .memory = DT_FLOAT32, .value = DT_FLOAT32, .kind = k == 1 ? OPERAND_NUMBER : OPERAND_CONTIGUOUS};
        flat.stride[k] = k != 1;
        flat.data[k] = k == 1 ? NULL : (char *)(uintptr_t)(0x10000 * (k + 1));
    }
    flat.numbers[1][0] = 0x3f800000;
    flat.extent[0] = n;
    flat.loop = (nd_loop){1, 3, n, flat.extent, flat.stride, flat.offset, LOOP_FLAT, {0}};
    flat.l = (launch){.v = &flat.v,
                      .loop = &flat.loop,
                      .data = flat.data,
                      .numbers = (const uint64_t(*)[2])flat.numbers,
                      .stream = (void *)0x77};
    gpu_specialise(&flat.v, &(loop_problem){.loop = &flat.loop, .traits = &(code_traits){.nodes = 4}});
}

enum {
    FLAT_WORDS = 5
};

static code *load(int device) {
    cuda_device *d;
    code *c = NULL;
    CHECK(!cuda_device_get(device, &d));
    CHECK(!code_load(ptx_of("k", FLAT_WORDS, 256), "k", 0, 0, d, &c));
    return c;
}

/* ---- The driver ---- */

#if __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#include "failing.h"
_Static_assert((int)CU_OUT_OF_MEMORY == (int)CUDA_ERROR_OUT_OF_MEMORY, "");
_Static_assert((int)CU_NOT_INITIALIZED == (int)CUDA_ERROR_NOT_INITIALIZED, "");
_Static_assert((int)CU_STUB_LIBRARY == (int)CUDA_ERROR_STUB_LIBRARY, "");
_Static_assert((int)CU_OPTION_LINE_INFO == (int)CU_JIT_GENERATE_LINE_INFO, "");
_Static_assert((int)CU_NO_DEVICE == (int)CUDA_ERROR_NO_DEVICE && (int)CU_INVALID_IMAGE == (int)CUDA_ERROR_INVALID_IMAGE,
               "");
_Static_assert((int)CU_NO_BINARY_FOR_GPU == (int)CUDA_ERROR_NO_BINARY_FOR_GPU &&
                   (int)CU_INVALID_PTX == (int)CUDA_ERROR_INVALID_PTX,
               "");
_Static_assert((int)CU_JIT_COMPILER_NOT_FOUND == (int)CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "");
_Static_assert((int)CU_UNSUPPORTED_PTX_VERSION == (int)CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "");
_Static_assert((int)CU_INVALID_SOURCE == (int)CUDA_ERROR_INVALID_SOURCE, "");
_Static_assert((int)CU_CAPTURE_UNSUPPORTED == (int)CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "");
_Static_assert((int)CU_CAPTURE_LAST == (int)CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "");
_Static_assert((int)CU_ATTRIBUTE_SM_COUNT == (int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "");
_Static_assert((int)CU_ATTRIBUTE_MAJOR == (int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "");
_Static_assert((int)CU_ATTRIBUTE_MINOR == (int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "");
_Static_assert((int)CU_ATTRIBUTE_COOPERATIVE == (int)CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, "");
_Static_assert((int)CU_LAUNCH_COOPERATIVE == (int)CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "");
_Static_assert(sizeof(cu_launch_attribute) == sizeof(CUlaunchAttribute) &&
                   offsetof(cu_launch_attribute, value) == offsetof(CUlaunchAttribute, value),
               "");
_Static_assert(sizeof(cu_launch_config) == sizeof(CUlaunchConfig) &&
                   offsetof(cu_launch_config, block) == offsetof(CUlaunchConfig, blockDimX) &&
                   offsetof(cu_launch_config, shared) == offsetof(CUlaunchConfig, sharedMemBytes) &&
                   offsetof(cu_launch_config, stream) == offsetof(CUlaunchConfig, hStream) &&
                   offsetof(cu_launch_config, attributes) == offsetof(CUlaunchConfig, attrs) &&
                   offsetof(cu_launch_config, count) == offsetof(CUlaunchConfig, numAttrs),
               "");
_Static_assert((int)CU_ATTRIBUTE_MEMORY_POOLS == (int)CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, "");
_Static_assert((int)CU_KERNEL_MAX_THREADS == (int)CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "");
_Static_assert((int)CU_KERNEL_SHARED_BYTES == (int)CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "");
_Static_assert((int)CU_KERNEL_LOCAL_BYTES == (int)CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, "");
_Static_assert((int)CU_KERNEL_REGISTERS == (int)CU_FUNC_ATTRIBUTE_NUM_REGS, "");
_Static_assert((int)CU_OPTION_MAX_REGISTERS == (int)CU_JIT_MAX_REGISTERS, "");
_Static_assert((int)CU_OPTION_ERROR_LOG == (int)CU_JIT_ERROR_LOG_BUFFER, "");
_Static_assert((int)CU_OPTION_ERROR_LOG_SIZE == (int)CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, "");
_Static_assert((int)CU_HOST_PORTABLE == CU_MEMHOSTALLOC_PORTABLE && (int)CU_MANAGED_GLOBAL == (int)CU_MEM_ATTACH_GLOBAL,
               "");
_Static_assert((int)CU_MODE_RELAXED == (int)CU_STREAM_CAPTURE_MODE_RELAXED, "");
_Static_assert(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT == 1 && CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT == 2, "");
#endif

static void open_body(void *unused) {
    cuda_device *d;
    text t = {0};
    (void)unused;
    CHECK(!cuda_device_get(1, &d));
    CHECK(d->ordinal == 1 && d->arch == 90 && d->sms == 4 && d->pools);
    CHECK_FAILS(cuda_device_get(2, &d), UF_ERR_DEVICE, "CUDA device 2: this process sees 2 CUDA devices");
    CHECK_FAILS(cuda_device_get(-1, &d), UF_ERR_DEVICE, "CUDA device -1");
    CHECK(mock->live().retained == 0 && mock->live().depth == 0); /* looking costs no context */
    *error_slot() = (uf_error){.status = UF_ERR_IO, .message = "kept"};
    cuda_engine.info(&t);
    CHECK(strstr(t.data, mock_path) && strstr(t.data, "CUDA 13.0") &&
          strstr(t.data, "1: Mock 1, compute capability 9.0"));
    CHECK(error_slot()->status == UF_ERR_IO && !strcmp(error_slot()->message, "kept"));
    text_free(&t);
}

static void missing_body(void *unused) {
    cuda_device *d;
    code_target target;
    void *block;
    text t = {0};
    (void)unused;
    setenv("UFUNC_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    CHECK_FAILS(cuda_device_get(0, &d), UF_ERR_LIBRARY, "/nowhere/libcuda.so.1");
    CHECK_FAILS(cuda_engine.target(0, &target), UF_ERR_LIBRARY, "UFUNC_CUDA_DRIVER");
    CHECK_FAILS(cuda_engine.alloc((DLDevice){kDLCUDA, 0}, 8, &block), UF_ERR_LIBRARY, "install:");
    CHECK(!block);
    setenv("UFUNC_CUDA_DRIVER", "libm.so.6", 1);
    CHECK_FAILS(cuda_device_get(0, &d), UF_ERR_LIBRARY, "it has no cu");
    cuda_engine.info(&t);
    CHECK(strstr(t.data, "CUDA driver  missing:"));
    text_free(&t);
    setenv("UFUNC_CUDA_DRIVER", mock_path, 1);
    setenv("MOCK_DEVICES", "0", 1);
    CHECK_FAILS(cuda_device_get(0, &d), UF_ERR_DEVICE, "cuInit");
    setenv("MOCK_DEVICES", "1", 1);
    CHECK(!cuda_device_get(0, &d)); /* a failed search is tried again */
    CHECK_FAILS(cuda_device_get(1, &d), UF_ERR_DEVICE, "1 CUDA device,");
}

static void test_open(void **unused) {
    (void)unused;
    in_child(open_body, NULL);
    in_child(missing_body, NULL);
}

/* ---- Launches and contexts ---- */

static void check_launch(const code *c, int expected_calls, void *context) {
    uint64_t words[FLAT_WORDS];
    int count, before;
    grid g;
    CHECK(!gpu_layout(&flat.l, &(occupancy){.block = 256, .sms = 4}, words, &g));
    mock->launch(&before);
    mock->fail_at(0, 0);
    CHECK(!cuda_engine.launch(c, &flat.l));
    CHECK(mock->calls() == expected_calls);
    const mock_launch *m = mock->launch(&count);
    CHECK(count == before + 1 && m->bytes == sizeof words && !memcmp(m->words, words, sizeof words));
    CHECK(m->blocks == g.blocks && m->threads == g.threads && m->stream == flat.l.stream && !strcmp(m->kernel, "k"));
    CHECK(m->context == context);
}

/* A launch asks for the current context, launches, and nothing else: so it costs little and can be captured. */
static void launch_body(void *unused) {
    (void)unused;
    make_flat(1000);
    code *c = load(0);
    CHECK(mock->live().retained == 0); /* the caller may have a context of its own */
    flat.loop.count = 0;
    mock->fail_at(0, 0);
    CHECK(!cuda_engine.launch(c, &flat.l) && mock->calls() == 0);
    flat.loop.count = 1000;
    CHECK(!cuda_engine.launch(c, &flat.l)); /* the first makes the code ready */
    CHECK(mock->live().retained == 1 && mock->live().depth == 0);
    void *primary = mock->launch(&(int){0})->context;
    check_launch(c, 4, primary); /* push and pop of the primary context */
    mock->context_set(primary);
    check_launch(c, 2, primary);
    flat.numbers[1][0] = 7;
    check_launch(c, 2, primary);
    CHECK(mock->mode() == 0 && mock->live().depth == 1);
    cuda_engine.release(c);
}

static void contexts_body(void *unused) {
    (void)unused;
    make_flat(1000);
    void *own = mock->context_new(1), *other = mock->context_new(0);
    code *c = load(1);
    flat.l.device = 1;
    mock->context_set(own); /* belongs to the device: used */
    CHECK(!cuda_engine.launch(c, &flat.l));
    CHECK(mock->live().retained == 0);
    check_launch(c, 3, own);
    CHECK(mock->context_get() == own);
    mock->context_set(other); /* belongs to another: the primary one, and `other` afterwards */
    CHECK(!cuda_engine.launch(c, &flat.l));
    void *primary = mock->launch(&(int){0})->context;
    CHECK(primary != own && primary != other && mock->context_get() == other && mock->live().depth == 1);
    check_launch(c, 5, primary);
    CHECK(mock->context_get() == other && mock->live().retained == 1);
    code *ready = load(1); /* with the primary context alive, code is made ready when loaded */
    check_launch(ready, 5, primary);
    cuda_engine.release(ready);
    cuda_engine.release(c);
}

static void large_body(void *unused) {
    sample s = {.v = {.loop = LOOP_GENERAL, .nin = 60, .nout = 1}};
    cuda_device *d;
    code *c;
    (void)unused;
    CHECK(!cuda_device_get(0, &d));
    for (int ndim = 20; ndim <= 62; ndim += 42) {
        s.loop = (nd_loop){ndim, 61, 2, s.extent, s.stride, s.offset, LOOP_GENERAL, {0}};
        for (int k = 0; k < 61; k++)
            s.v.operand[k] = (variant_operand){.memory = DT_INT8, .value = DT_INT8, .kind = OPERAND_STRIDED};
        for (int i = 0; i < ndim; i++)
            s.extent[i] = 1;
        s.extent[0] = 2;
        s.l = (launch){.v = &s.v, .loop = &s.loop, .data = s.data, .numbers = (const uint64_t(*)[2])s.numbers};
        gpu_specialise(&s.v, &(loop_problem){.loop = &s.loop, .traits = &(code_traits){.nodes = 1}});
        int words = schema_count(&s.v, NULL, true);
        CHECK(words == 61 + 1 + 3 * (ndim - 1) + 61 * ndim);
        CHECK(!code_load(ptx_of("k", words, 256), "k", 0, 0, d, &c));
        if (words <= PARAMETERS_MAX)
            CHECK(!cuda_engine.launch(c, &s.l) && mock->launch(&(int){0})->bytes == 8 * (size_t)words);
        else
            CHECK_FAILS(cuda_engine.launch(c, &s.l), UF_ERR_ARGUMENT, "of kernel parameters; CUDA has 32760");
        cuda_engine.release(c);
    }
}

static void test_launch(void **unused) {
    (void)unused;
    in_child(launch_body, NULL);
    in_child(contexts_body, NULL);
    in_child(large_body, NULL);
}

/* ---- Loading ---- */

static void loading_body(void *unused) {
    cuda_device *d;
    code *c;
    int n;
    (void)unused;
    CHECK(!cuda_device_get(0, &d));
    CHECK(!code_load(ptx_of("k", 3, 256), "k", 40, 0, d, &c));
    const int *options = mock->jit(&n);
    CHECK(n == 3 && options[0] == 5 && options[1] == 6 && options[2] == 0);
    cuda_engine.release(c);
    CHECK(!code_load(ptx_of("k", 3, 256), "k", 0, 0, d, &c));
    mock->jit(&n);
    CHECK(n == 2);
    cuda_engine.release(c);
    CHECK(!code_load(ptx_of("k", 3, 256), "k", 0, UF_DEBUG, d, &c));
    mock->jit(&n);
    CHECK(n == 3 && options[2] == 13);
    cuda_engine.release(c);
    CHECK_FAILS(code_load("nonsense", "k", 0, 0, d, &c), UF_ERR_COMPILE, "mock: line 1: this is no PTX");
    CHECK(!c);
    CHECK_FAILS(code_load(ptx_of("k", 3, 256), "other", 0, 0, d, &c), UF_ERR_DEVICE, "cuLibraryGetKernel");
    mock->fail_name("cuLibraryLoadData", 222);
    CHECK_FAILS(code_load(ptx_of("k", 3, 256), "k", 0, 0, d, &c), UF_ERR_LIBRARY, "libnvvm is newer than the driver");
    mock->fail_name(NULL, 0);
    CHECK(mock->live().libraries == 0 && mock->mode() == 0);
}

static void sticky_body(void *unused) {
    (void)unused;
    make_flat(10);
    code *c = load(0);
    mock->fail_name("cuLaunchKernel", 700);
    CHECK_FAILS(cuda_engine.launch(c, &flat.l), UF_ERR_DEVICE, "cuLaunchKernel: CUDA_ERROR_MOCK_700 (700)");
    CHECK(strstr(error_slot()->message, "the context is lost"));
    mock->fail_name("cuStreamSynchronize", 719);
    CHECK_FAILS(cuda_engine.sync(0, NULL), UF_ERR_DEVICE, "an earlier kernel or copy caused it");
    mock->fail_name("cuLaunchKernel", 2);
    CHECK_FAILS(cuda_engine.launch(c, &flat.l), UF_ERR_MEMORY, "cuLaunchKernel");
    mock->fail_name(NULL, 0);
    CHECK(!cuda_engine.launch(c, &flat.l));
    cuda_engine.release(c);
}

static void test_loading(void **unused) {
    (void)unused;
    in_child(loading_body, NULL);
    in_child(sticky_body, NULL);
}

/* ---- The end of code ---- */

static void release_many(int n, void *context) {
    for (int i = 0; i < n; i++) {
        code *c = load(0);
        void *before = mock->context_get();
        if (context)
            mock->context_set(context);
        CHECK(!cuda_engine.launch(c, &flat.l));
        mock->context_set(before);
        cuda_engine.release(c);
    }
}

static void release_body(void *unused) {
    cuda_device *d;
    (void)unused;
    make_flat(10);
    CHECK(!cuda_device_get(0, &d));
    code *never = load(0);
    cuda_engine.release(never); /* nothing can be queued */
    CHECK(mock->live().libraries == 0 && code_dead() == 0);
    release_many(1, NULL);
    void *primary = mock->launch(&(int){0})->context;
    CHECK(code_dead() == 1 && mock->synchronised(primary) == 0); /* releasing does not wait */
    release_many(31, NULL);
    CHECK(code_dead() == 0 && mock->live().libraries == 0 && mock->synchronised(primary) == 1);

    mock->capture(1); /* nothing that would break the capture */
    release_many(40, NULL);
    CHECK(code_dead() == 40 && mock->synchronised(primary) == 1);
    mock->capture(0);
    code_reap(d);
    CHECK(code_dead() == 0 && mock->live().libraries == 0 && mock->synchronised(primary) == 2);

    void *own = mock->context_new(0), *another = mock->context_new(0);
    release_many(3, own); /* waits until that context is current */
    code_reap(d);
    CHECK(code_dead() == 3);
    mock->context_set(another);
    code_reap(d);
    CHECK(code_dead() == 3);
    mock->context_set(own);
    code_reap(d);
    CHECK(code_dead() == 0 && mock->synchronised(own) == 1 && mock->live().libraries == 0);
    CHECK(mock->context_get() == own && mock->live().depth == 1 && mock->mode() == 0);

    release_many(1, NULL);
    mock->fail_name("cuCtxSynchronize", 700); /* a lost context has nothing queued */
    code_reap(d);
    mock->fail_name(NULL, 0);
    CHECK(code_dead() == 0 && mock->live().libraries == 0);

    release_many(1, NULL);
    mock->fail_name("cuLibraryUnload", 4); /* the driver has gone already */
    code_reap(d);
    mock->fail_name("cuCtxGetCurrent", 4);
    cuda_engine.free((DLDevice){kDLCUDA, 0}, (void *)64);
    code_reap(d);
    CHECK(code_dead() == 0);
}

static void test_release(void **unused) {
    (void)unused;
    in_child(release_body, NULL);
}

/* ---- Memory ---- */

static void memory_body(void *pools) {
    static const int kinds[] = {kDLCUDA, kDLCUDAHost, kDLCUDAManaged};
    char in[64] = "forty-two", out[64] = "";
    void *block = NULL, *scratch = NULL;
    setenv("MOCK_POOLS", pools, 1);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        DLDevice device = {kinds[i], 1};
        CHECK(!cuda_engine.alloc(device, i ? 64 : 0, &block) && block && (uintptr_t)block % 256 == 0);
        CHECK(mock->live().allocations == 1 && mock->live().depth == 0);
        cuda_engine.free(device, block);
        CHECK(mock->live().allocations == 0);
        cuda_engine.free(device, NULL);
    }
    CHECK(!cuda_engine.scratch(0, 64, (void *)5, &scratch) && scratch);
    CHECK(!cuda_engine.copy(0, scratch, in, sizeof in, (void *)5, false));
    CHECK(!cuda_engine.copy(0, out, scratch, sizeof in, (void *)5, true));
    CHECK(!strcmp(out, "forty-two"));
    mock->fail_at(0, 0);
    CHECK(!cuda_engine.copy(0, scratch, in, 0, NULL, true) && mock->calls() == 0);
    cuda_engine.scratch_free(0, scratch, (void *)5);
    cuda_engine.scratch_free(0, NULL, NULL);
    CHECK(!cuda_engine.sync(0, NULL));
    mock->fail_name("cuMemAlloc_v2", 2);
    CHECK_FAILS(cuda_engine.alloc((DLDevice){kDLCUDA, 0}, 64, &block), UF_ERR_MEMORY, "cuMemAlloc");
    CHECK(!block && mock->live().depth == 0 && mock->mode() == 0);
    CHECK(mock->live().allocations == 1); /* the stream's piece, kept */
}

static void test_memory(void **unused) {
    (void)unused;
    in_child(memory_body, "1");
    in_child(memory_body, "0");
}

/* ---- Every driver call failing in turn ---- */

static uf_status use_everything(void) {
    cuda_device *d;
    code *c = NULL;
    void *block = NULL, *scratch = NULL;
    char buffer[16] = "";
    uf_status s = cuda_device_get(0, &d);
    if (s)
        return s;
    if (!(s = code_load(ptx_of("k", FLAT_WORDS, 256), "k", 24, 0, d, &c)))
        s = cuda_engine.launch(c, &flat.l);
    if (!s)
        s = cuda_engine.launch(c, &flat.l);
    if (!s)
        s = cuda_engine.alloc((DLDevice){kDLCUDA, 0}, 100, &block);
    if (!s)
        s = cuda_engine.scratch(0, 100, NULL, &scratch);
    if (!s)
        s = cuda_engine.copy(0, scratch, buffer, sizeof buffer, NULL, true);
    if (!s)
        s = cuda_engine.sync(0, NULL);
    cuda_engine.scratch_free(0, scratch, NULL);
    cuda_engine.free((DLDevice){kDLCUDA, 0}, block);
    cuda_engine.release(c);
    code_reap(d);
    return s;
}

/* A release that fails before it begins, as the context cannot be entered, has to leave its block behind. */
static bool release_was_barred(const char *failed) {
    static const char *const barred[] = {"cuThreadExchangeStreamCaptureMode", "cuCtxGetCurrent", "cuCtxPushCurrent_v2"};
    for (size_t i = 0; i < COUNT(barred); i++)
        if (failed && !strcmp(failed, barred[i]))
            return true;
    return false;
}

typedef struct failure {
    int nth, error;
} failure;

static void failure_body(void *user) {
    const failure *f = user;
    make_flat(1000);
    mock->fail_at(f->nth, f->error);
    uf_status s = use_everything();
    const char *failed = mock->failed();
    if (!failed)
        _exit(77); /* fewer calls than that */
    char name[64];
    snprintf(name, sizeof name, "%s", failed);
    bool reported = s != UF_OK;
    if (reported) {
        char plain[64];
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "_"), name);
        CHECK(s == (f->error == 2 ? UF_ERR_MEMORY : UF_ERR_DEVICE) && strstr(error_slot()->message, plain));
    }
    mock->fail_at(0, 0);
    mock_live after = mock->live();
    CHECK(after.depth == 0 && after.retained <= 1);
    if (!release_was_barred(name))
        CHECK(after.allocations <= 1 && after.libraries == code_dead()); /* the stream's piece is kept */
    int blocks = after.allocations;
    CHECK(use_everything() == UF_OK); /* usable afterwards */
    after = mock->live();
    CHECK(after.allocations >= 1 && after.allocations <= blocks + 1 && after.depth == 0 && after.retained <= 1);
    CHECK(release_was_barred(name) || after.allocations == 1);
    CHECK(code_dead() == 0 && after.libraries == 0);
}

static void test_failures(void **unused) {
    int tried = 0;
    (void)unused;
    for (int error = 2; error <= 999; error += 997)
        for (int nth = 1;; nth++) {
            int status = child_status(failure_body, &(failure){nth, error});
            if (status == 77)
                break;
            if (status)
                fail_msg("driver call %d failing with %d", nth, error);
            tried++;
        }
    assert_true(tried > 2 * 30);
}

/* ---- Allocations failing in turn ---- */

static void allocation_body(void *nth) {
    make_flat(1000);
    allocation_fails_after(*(int *)nth - 1);
    uf_status s = use_everything();
    if (!allocations_succeed())
        _exit(77);
    CHECK(s == UF_ERR_MEMORY && error_slot()->status == UF_ERR_MEMORY);
    CHECK(mock->live().libraries == 0 && mock->live().allocations == 0 && mock->live().depth == 0);
    CHECK(use_everything() == UF_OK && mock->live().allocations == 1);
}

/* Runs body for n = 1, 2, .. until it says 77; how many that were. */
static int each_allocation(void (*body)(void *)) {
    for (int nth = 1;; nth++) {
        int status = child_status(body, &nth);
        if (status == 77)
            return nth - 1;
        if (status)
            fail_msg("allocation %d failing", nth);
    }
}

static void test_allocations(void **unused) {
    (void)unused;
    assert_true(each_allocation(allocation_body) >= 3);
}

/* ---- Threads ---- */

static void *thread_body(void *unused) {
    sample own = flat;
    (void)unused;
    own.l.v = &own.v;
    own.l.loop = &own.loop;
    for (int i = 0; i < 20; i++) {
        cuda_device *d;
        code *c;
        CHECK(!cuda_device_get(i % 2, &d));
        CHECK(!code_load(".version 8\n.entry k(.param .u64 a,.param .u64 b,.param .u64 c,.param .u64 d,.param .u64 e)",
                         "k", 0, 0, d, &c));
        CHECK(!cuda_engine.launch(c, &own.l));
        cuda_engine.release(c);
    }
    return NULL;
}

static void threads_body(void *unused) {
    pthread_t threads[8];
    cuda_device *d;
    (void)unused;
    make_flat(100);
    for (size_t i = 0; i < COUNT(threads); i++)
        CHECK(!pthread_create(&threads[i], NULL, thread_body, NULL));
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        CHECK(!cuda_device_get(i, &d));
        code_reap(d);
    }
    CHECK(code_dead() == 0 && mock->live().libraries == 0 && mock->live().retained <= 2);
}

static void test_threads(void **unused) {
    (void)unused;
    in_child(threads_body, NULL);
}

/* ---- The search ---- */

static void clear_variables(void) {
    static const char *const names[] = {"UFUNC_NVVM",   "UFUNC_LIBDEVICE", "VIRTUAL_ENV",
                                        "CONDA_PREFIX", "CUDA_PATH",       "CUDA_HOME"};
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
}

static void make_file(const char *path, const char *content) {
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(copy, 0777);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(content, f) >= 0 && fclose(f) == 0);
}

static void search_missing_body(void *unused) {
    const toolkit *kit;
    code_target target;
    text t = {0};
    (void)unused;
    clear_variables();
    setenv("UFUNC_NVVM", "/nowhere/libnvvm.so.4", 1);
    CHECK_FAILS(toolkit_find(&kit), UF_ERR_LIBRARY, "/nowhere/libnvvm.so.4");
    CHECK(!strstr(error_slot()->message, "/usr/local/cuda")); /* only that is tried */
    CHECK_FAILS(cuda_engine.target(0, &target), UF_ERR_LIBRARY, "install: pip install nvidia-nvvm");
    setenv("UFUNC_NVVM", mock_path, 1);
    CHECK_FAILS(toolkit_find(&kit), UF_ERR_LIBRARY, "it has no nvvmVersion");
    cuda_engine.info(&t);
    CHECK(strstr(t.data, "libnvvm      missing:"));
    text_free(&t);
}

/* The roots in their order, with a file that is no library in each. */
static void search_order_body(void *unused) {
    static const char *const order[] = {
        "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvvm.so.4",
        "venv/lib/python3.11/site-packages/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so.3",
        "conda/nvvm/lib64/libnvvm.so.4",
        "path/lib64/libnvvm.so",
        "home/lib/libnvvm.so.4",
    };
    const toolkit *kit;
    char path[8192];
    (void)unused;
    clear_variables();
    for (size_t i = 0; i < COUNT(order); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, order[i]);
        make_file(path, "no library\n");
    }
    const char *names[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME"},
               *roots[] = {"venv", "conda", "path", "home"};
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, roots[i]);
        setenv(names[i], path, 1);
    }
    if (!toolkit_find(&kit)) {
        /* the loader or /usr/local/cuda had it: then a bad file in front did no harm */
        CHECK(have_toolkit && !strstr(kit->nvvm_path, directory));
        return;
    }
    const char *at = error_slot()->message;
    for (size_t i = 0; i < COUNT(order); i++) {
        at = strstr(at, order[i]);
        CHECK(at);
    }
    CHECK(strstr(at, "libnvvm.so.4: ") && strstr(at, "/usr/local/cuda"));
}

static void libdevice_missing_body(void *unused) {
    const toolkit *kit;
    const char *data;
    char path[8192];
    size_t size;
    (void)unused;
    clear_variables();
    setenv("UFUNC_LIBDEVICE", "/nowhere/libdevice.10.bc", 1);
    CHECK(!toolkit_find(&kit)); /* many kernels do without */
    CHECK_FAILS(toolkit_libdevice(&data, &size), UF_ERR_LIBRARY, "/nowhere/libdevice.10.bc");
    snprintf(path, sizeof path, "%s/garbage.bc", directory);
    make_file(path, "this is no bitcode");
    setenv("UFUNC_LIBDEVICE", path, 1);
    CHECK_FAILS(toolkit_libdevice(&data, &size), UF_ERR_LIBRARY, "not a bitcode file");
    setenv("UFUNC_LIBDEVICE", directory, 1);
    CHECK_FAILS(toolkit_libdevice(&data, &size), UF_ERR_LIBRARY, "not a bitcode file");
}

/* libnvvm alone in a root, so that its libdevice has nowhere to be. */
static void lonely_body(void *found) {
    const toolkit *kit;
    const char *data;
    char path[8192];
    size_t size;
    clear_variables();
    snprintf(path, sizeof path, "%s/lonely/lib64/libnvvm.so.4", directory);
    make_file(path, "");
    unlink(path);
    /* a hard copy, as a link would lead to the toolkit's own libdevice */
    char command[16384];
    snprintf(command, sizeof command, "cp '%s' '%s'", (const char *)found, path);
    CHECK(system(command) == 0);
    setenv("UFUNC_NVVM", path, 1);
    CHECK(!toolkit_find(&kit) && !kit->libdevice_path);
    CHECK_FAILS(toolkit_libdevice(&data, &size), UF_ERR_LIBRARY, "near it");
    setenv("UFUNC_LIBDEVICE", "/nowhere", 1);
    CHECK_FAILS(toolkit_libdevice(&data, &size), UF_ERR_LIBRARY, "/nowhere");
    unlink(path);
}

static void toolkit_body(void *path) {
    const toolkit *kit;
    const char *data;
    size_t size;
    if (toolkit_find(&kit))
        _exit(77);
    CHECK(kit->libdevice_path && !toolkit_libdevice(&data, &size) && size > 100000);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(kit->nvvm_path, f) >= 0 && fclose(f) == 0);
}

static void test_search(void **unused) {
    char found[4096] = "", path[8192];
    (void)unused;
    in_child(search_missing_body, NULL);
    in_child(search_order_body, NULL);
    if (!have_toolkit)
        return;
    in_child(libdevice_missing_body, NULL);
    snprintf(path, sizeof path, "%s/found", directory);
    FILE *f = fopen(path, "r");
    assert_true(f && fgets(found, sizeof found, f));
    fclose(f);
    in_child(lonely_body, found);
}

/* ---- libnvvm ---- */

#define POINTER "float addrspace(1)*"

/* r[i] = f(x[i], y[i]): `body` computes %z from %x and %y, all float. */
static void make_module(code_module *m, const char *body, bool math) {
    *m = (code_module){.entry = "k", .math = math};
    text_puts(&m->ir,
              "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-"
              "f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
              "target triple = \"nvptx64-nvidia-cuda\"\n"
              "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n");
    if (math)
        text_puts(&m->ir, "declare float @__nv_sinf(float)\n");
    text_printf(&m->ir,
                "define void @k(" POINTER " %%px, " POINTER " %%py, " POINTER " %%pr) {\n"
                "  %%i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                "  %%ax = getelementptr float, " POINTER " %%px, i32 %%i\n"
                "  %%ay = getelementptr float, " POINTER " %%py, i32 %%i\n"
                "  %%ar = getelementptr float, " POINTER " %%pr, i32 %%i\n"
                "  %%x = load float, " POINTER " %%ax\n  %%y = load float, " POINTER " %%ay\n%s"
                "  store float %%z, " POINTER " %%ar\n  ret void\n}\n"
                "!nvvm.annotations = !{!0}\n!0 = !{void (" POINTER ", " POINTER ", " POINTER
                ")* @k, !\"kernel\", i32 1, !\"maxntidx\", i32 256}\n!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0, i32 "
                "3, i32 2}\n",
                body);
    CHECK(!m->ir.failed);
}

static const char add[] = "  %m = fmul float %x, %y\n  %z = fadd float %m, %x\n";
static const char divide[] = "  %z = fdiv float %x, %y\n";
static const char sine[] = "  %s = call float @__nv_sinf(float %x)\n  %z = fadd float %s, %y\n";

static bool ptx_has(const code_module *m, int arch, const char *part) {
    text ptx = {0};
    CHECK(!nvvm_compile(m, arch, &ptx));
    bool has = strstr(ptx.data, part) != NULL;
    text_free(&ptx);
    return has;
}

static void options_body(void *unused) {
    static const struct {
        unsigned fast;
        const char *body, *has, *has_not;
    } cases[] = {
        {0, add, "mul.rn.f32", "fma.rn"},
        {UF_FAST_CONTRACT, add, "fma.rn.f32", "mul.f32"},
        {0, divide, "div.rn.f32", "div.full"},
        {UF_FAST_DIVIDE, divide, "div.full.f32", "div.rn"},
        {UF_FAST_FLUSH, divide, "div.rn.ftz.f32", "div.rn.f32"},
    };
    code_module m;
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_module(&m, cases[i].body, false);
        m.fast = cases[i].fast;
        CHECK(ptx_has(&m, 90, cases[i].has) && !ptx_has(&m, 90, cases[i].has_not));
        m.flags = UF_DEBUG;
        CHECK(ptx_has(&m, 90, cases[i].has)); /* -generate-line-info is understood */
        text_free(&m.ir);
    }
}

static bool assembles(const text *ptx, int arch) {
    char path[8192], command[20000];
    snprintf(path, sizeof path, "%s/k%d.ptx", directory, arch);
    make_file(path, ptx->data);
    snprintf(command, sizeof command, "ptxas -arch=sm_%d -o /dev/null '%s' 2>&1", arch, path);
    return system(command) == 0;
}

static void architectures_body(void *unused) {
    static const int architectures[] = {75, 80, 86, 89, 90, 100, 120};
    bool ptxas = system("ptxas --version >/dev/null 2>&1") == 0;
    (void)unused;
    for (size_t i = 0; i < COUNT(architectures); i++) {
        int arch = architectures[i];
        code_target target;
        code_module m;
        text ptx = {0};
        CHECK(!cuda_engine.target(-arch, &target) && target.gpu && target.arch == arch);
        make_module(&m, sine, true);
        CHECK(!nvvm_verify(&m, arch));
        CHECK(!cuda_engine.inspect(&m, &target, -arch, UF_VIEW_PTX, &ptx));
        CHECK(strstr(ptx.data, ".visible .entry k(") && !strstr(ptx.data, ".extern"));
        if (ptxas)
            CHECK(assembles(&ptx, arch));
        text_free(&ptx);
        text_free(&m.ir);
    }
}

static void refused_body(void *unused) {
    code_module m;
    text ptx = {0};
    (void)unused;
    make_module(&m, "  %z = fnonsense float %x, %y\n", false);
    CHECK_FAILS(nvvm_compile(&m, 90, &ptx), UF_ERR_COMPILE, "expected instruction opcode");
    CHECK_FAILS(nvvm_verify(&m, 90), UF_ERR_COMPILE, "expected instruction opcode");
    CHECK(!ptx.data);
    text_free(&m.ir);
    make_module(&m, "  %z = call float @llvm.round.f32(float %x)\n", false);
    text_puts(&m.ir, "declare float @llvm.round.f32(float)\n");
    CHECK_FAILS(nvvm_verify(&m, 90), UF_ERR_COMPILE, "llvm.round"); /* it compiles, wrongly */
    text_free(&m.ir);
}

/* Devices that libnvvm does not know. */
static void target_body(void *arch) {
    code_target target;
    setenv("MOCK_ARCH", arch, 1);
    if (!strcmp(arch, "130")) {
        CHECK(!cuda_engine.target(0, &target) && target.arch >= 120 && target.arch < 130);
        CHECK_FAILS(cuda_engine.target(-130, &target), UF_ERR_ARGUMENT, "compute_130");
    } else {
        CHECK_FAILS(cuda_engine.target(0, &target), UF_ERR_LIBRARY, "compute capability 2.0");
    }
}

/* From text to launch, with everything real but the driver. */
static void compile_body(void *unused) {
    code_target target;
    code_module m;
    code *c;
    text t = {0};
    (void)unused;
    CHECK(!cuda_engine.target(1, &target) && target.arch == 90);
    make_module(&m, sine, true);
    m.max_registers = 32;
    CHECK(!cuda_engine.compile(&m, &target, 1, &c) && c);
    cuda_engine.release(c);
    CHECK(!cuda_engine.inspect(&m, &target, 1, UF_VIEW_RESOURCES, &t));
    CHECK(strstr(t.data, "registers a thread 40") && strstr(t.data, "local memory a thread 16 bytes"));
    CHECK(strstr(t.data, "block 256 threads, 6 blocks (1536 threads)"));
    text_free(&t);
    memcpy(strstr(m.ir.data, "i32 256"), "i32 512", 7); /* a cooperative group of several blocks, or of one large one */
    CHECK(!cuda_engine.inspect(&m, &target, 1, UF_VIEW_RESOURCES, &t));
    CHECK(strstr(t.data, "largest block 512 threads\nblock 512 threads, 3 blocks (1536 threads)"));
    CHECK_FAILS(cuda_engine.inspect(&m, &target, -90, UF_VIEW_RESOURCES, &t), UF_ERR_ARGUMENT, "ptxas -v -arch=sm_90");
    CHECK_FAILS(cuda_engine.inspect(&m, &target, 0, UF_VIEW_ASSEMBLY, &t), UF_ERR_ARGUMENT, "cuobjdump");
    CHECK(mock->live().libraries == 0 && mock->live().depth == 0);
    CHECK_FAILS(cuda_engine.compile(&m, &target, -90, &c), UF_ERR_DEVICE, "CUDA device -90");
    CHECK(!c);
    text_free(&t);
    text_free(&m.ir);
}

/* PTX needs no driver. */
static void no_driver_body(void *unused) {
    code_target target;
    code_module m;
    text ptx = {0};
    (void)unused;
    setenv("UFUNC_CUDA_DRIVER", "/nowhere", 1);
    make_module(&m, add, false);
    CHECK(!cuda_engine.target(-80, &target));
    CHECK(!cuda_engine.inspect(&m, &target, -80, UF_VIEW_PTX, &ptx) && strstr(ptx.data, ".target sm_80"));
    text_free(&ptx);
    text_free(&m.ir);
}

static uf_status compile_once(void) {
    code_target target;
    code_module m;
    code *c = NULL;
    bool (*hook)(size_t) = mem_may_alloc;
    mem_may_alloc = NULL;
    make_module(&m, sine, true);
    mem_may_alloc = hook;
    uf_status s = cuda_engine.target(0, &target);
    if (!s)
        s = cuda_engine.compile(&m, &target, 0, &c);
    cuda_engine.release(c);
    text_free(&m.ir);
    return s;
}

static void compile_allocation_body(void *nth) {
    allocation_fails_after(*(int *)nth - 1);
    uf_status s = compile_once();
    if (!allocations_succeed())
        _exit(77);
    CHECK(s == UF_ERR_MEMORY && error_slot()->status == UF_ERR_MEMORY && mock->live().libraries == 0);
    CHECK(compile_once() == UF_OK);
}

/* ---- The whole way: from uf_call to a launch of real PTX. The mock refuses parameter blocks of another size than the PTX
 * declares. ---- */

typedef struct tensor {
    int64_t shape[4], strides[4];
    DLTensor t;
} tensor;

/* Nothing looks at the memory. */
static DLTensor *device_array(tensor *a, uintptr_t address, dtype type, int ndim, const int64_t *shape,
                              const int64_t *strides) {
    for (int d = 0; d < ndim; d++) {
        a->shape[d] = shape[d];
        a->strides[d] = strides[d];
    }
    a->t = (DLTensor){.data = (void *)address,
                      .device = {kDLCUDA, 0},
                      .ndim = ndim,
                      .dtype = dtypes[type].dl,
                      .shape = a->shape,
                      .strides = a->strides};
    return &a->t;
}

static void call_body(void *unused) {
    static const struct {
        dtype type;
        int ndim;
        int64_t shape[4], in[4], out[4];
        unsigned fast;
    } cases[] = {
        {DT_FLOAT32, 1, {1000}, {1}, {1}, 0},
        {DT_COMPLEX128, 1, {1000}, {1}, {1}, 0},
        {DT_FLOAT32, 2, {300, 200}, {0, 1}, {200, 1}, 0},
        {DT_INT8, 4, {7, 5, 300, 200}, {0, 1000000, 0, 1}, {300000, 60000, 200, 1}, 0},
        {DT_FLOAT64, 3, {7, 30, 20}, {1, 100, 3000}, {600, 20, 1}, 0},
        {DT_COMPLEX128, 2, {7, 30}, {1, 100}, {30, 1}, 0},
    };
    uf_func *f;
    tensor x, y;
    double complex_number[2] = {2, 3};
    int8_t five = 5;
    (void)unused;
    CHECK(!uf_vectorize(&f, "axpb", NULL, "(a, x, b) { return a * x + b; }"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        int before, after;
        dtype type = cases[i].type;
        DLTensor scalar = {.data = complex_number, .device = {kDLCPU, 0}, .dtype = dtypes[type].dl};
        DLTensor args[] = {scalar, *device_array(&x, 0x100000000, type, cases[i].ndim, cases[i].shape, cases[i].in),
                           scalar, *device_array(&y, 0x200000000, type, cases[i].ndim, cases[i].shape, cases[i].out)};
        if (type == DT_INT8)
            args[0].data = args[2].data = &five;
        mock->launch(&before);
        double share = 0.25; /* of work that is still to be done when the call returns, nobody says how far it is */
        for (int again = 0; again < 2; again++)
            CHECK(!uf_call(f, 4, args,
                           &(uf_options){.size = sizeof(uf_options), .stream = (void *)0x99, .progress = &share}));
        CHECK(share == 0.25);
        CHECK(mock->launch(&after)->stream == (void *)0x99 && after == before + 2);
        CHECK(mock->live().depth == 0 && mock->mode() == 0);
    }
    uf_free(f);
}

/* An output that overlaps an input: a copy in the stream's piece, which stays. */
static void overlap_body(void *unused) {
    uf_func *f;
    DLManagedTensor *m;
    int64_t shape[] = {1001};
    int before, after;
    (void)unused;
    CHECK(!uf_vectorize(&f, "twice", NULL, "(x) { return 2 * x; }"));
    CHECK(!uf_empty(&m, (DLDevice){kDLCUDA, 0}, dtypes[DT_FLOAT32].dl, 1, shape));
    DLTensor args[] = {m->dl_tensor, m->dl_tensor};
    shape[0] = 1000;
    args[0].shape = args[1].shape = shape;
    args[1].byte_offset = 4;
    mock->launch(&before);
    CHECK(!uf_call(f, 2, args, NULL));
    CHECK(mock->launch(&after)->words[0] != (uintptr_t)m->dl_tensor.data && after == before + 1);
    CHECK(mock->live().allocations == 2 && mock->live().depth == 0);
    m->deleter(m);
    CHECK(mock->live().allocations == 1);
    uf_free(f);
}

static void test_nvvm(void **unused) {
    (void)unused;
    if (!have_toolkit)
        skip();
    in_child(options_body, NULL);
    in_child(architectures_body, NULL);
    in_child(refused_body, NULL);
    in_child(target_body, "130");
    in_child(target_body, "20");
    in_child(compile_body, NULL);
    in_child(no_driver_body, NULL);
    in_child(call_body, NULL);
    in_child(overlap_body, NULL);
}

static void test_nvvm_allocations(void **unused) {
    (void)unused;
    if (!have_toolkit)
        skip();
    assert_true(each_allocation(compile_allocation_body) >= 8);
}

/* ---- main ---- */

static int begin(void **unused) {
    char path[8192];
    (void)unused;
    assert_true(mock_find());
    snprintf(directory, sizeof directory, "%s/test_cuda.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/found", directory);
    int status = child_status(toolkit_body, path);
    have_toolkit = status == 0;
    if (!have_toolkit)
        print_message("no libnvvm here: what compiles is not tested\n");
    assert_true(status == 0 || status == 77);
    return 0;
}

static int end(void **unused) {
    char command[8192];
    (void)unused;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static void test_ptx_version(void **unused) {
    static const char *const cases[][2] = {
        {".version 8.0\n.target sm_90\nst.async", ".version 8.1\n.target sm_90\nst.async"},
        {".version 8.0\n.target sm_90\nst.shared", ".version 8.0\n.target sm_90\nst.shared"},
        {".version 8.3\n.target sm_90\nst.async", ".version 8.3\n.target sm_90\nst.async"},
        {".version 9.0\n.target sm_90\nst.async", ".version 9.0\n.target sm_90\nst.async"},
        {"", ""},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char ptx[64];
        strcpy(ptx, cases[i][0]);
        ptx_raise_version(ptx);
        assert_string_equal(ptx, cases[i][1]);
    }
}

/* Stores to global memory, and nothing else. */
static void test_streamed_stores(void **unused) {
    static const char *const cases[][2] = {
        {"{\n\tst.global.f32 \t[%rd1], %f1;\n\tst.global.v4.u32 \t[%rd2+16], {%r1, %r2, %r3, %r4};\n}",
         "{\n\tst.global.cs.f32 \t[%rd1], %f1;\n\tst.global.cs.v4.u32 \t[%rd2+16], {%r1, %r2, %r3, %r4};\n}"},
        {"\tst.shared.f32 \t[%rd1], %f1;\n\tld.global.nc.f32 \t%f2, [%rd3];\n\tred.global.add.f32 \t[%rd3], %f2;",
         "\tst.shared.f32 \t[%rd1], %f1;\n\tld.global.nc.f32 \t%f2, [%rd3];\n\tred.global.add.f32 \t[%rd3], %f2;"},
        {"\t@%p1 st.global.u8 \t[%rd1], %rs1;", "\t@%p1 st.global.cs.u8 \t[%rd1], %rs1;"},
        {"", ""},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        text out = {0};
        ptx_stream_stores(&out, cases[i][0]);
        assert_string_equal(out.data ? out.data : "", cases[i][1]);
        text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_loading),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_nvvm),
        cmocka_unit_test(test_nvvm_allocations),
        cmocka_unit_test(test_ptx_version),
        cmocka_unit_test(test_streamed_stores),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
