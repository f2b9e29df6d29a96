/* test_fold_cuda.c - what reductions ask of the CUDA engine, against the mock driver: parts in scratch memory, the caller's and the
 * library's; bounds of segments from the host and from the device; devices that do not agree. Kernels do not run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/code.h"
#include "type/segments.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "mock_child.h"

static const DLDevice gpu = {kDLCUDA, 0};

static uf_func *sum;

static void sum_make(void) {
    code_target target;
    if (cuda_engine.target(0, &target))
        _exit(77); /* no libnvvm */
    CHECK(!uf_reduction(
        &sum, "sum", "float32->float32",
        &(uf_reduction_def){.size = sizeof(uf_reduction_def), .combine = "(a, b) { return a + b; }", .identity = "0"}));
}

static DLManagedTensor *make(DLDataType type, int64_t n) {
    DLManagedTensor *m;
    CHECK(!uf_empty(&m, gpu, type, 1, &n));
    return m;
}

static DLTensor result_of(const DLManagedTensor *m) {
    DLTensor t = m->dl_tensor;
    t.ndim = 0;
    return t;
}

static int launches(void) {
    int n;
    mock->launch(&n);
    return n;
}

static void skip_without_nvvm(void (*body)(void *)) {
    int status = child_status(body, NULL);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- Parts ---- */

static uint64_t seen[8][8]; /* the first words of each launch */
static int nseen;

static void note(const mock_launch *l) {
    if (nseen < 8)
        memcpy(seen[nseen], l->words, sizeof seen[0]);
    nseen++;
}

/* Two launches; what the first writes, the second reads, and it lies in the caller's memory. */
static void parts_body(void *unused) {
    enum {
        N = 1 << 24
    };
    size_t size;
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, N), *r = make(dtypes[DT_FLOAT32].dl, 1);
    DLTensor args[2] = {x->dl_tensor, result_of(r)};
    /* How many parts there are depends on what fits the device: not to know is an error, each time. */
    mock->fail_name("cuOccupancyMaxActiveBlocksPerMultiprocessor", 999);
    CHECK_FAILS(uf_reduce_scratch_size(&size, sum, 2, args, NULL), UF_ERR_DEVICE, "cuOccupancyMaxActiveBlocks");
    CHECK_FAILS(uf_reduce(sum, 2, args, NULL), UF_ERR_DEVICE, "cuOccupancyMaxActiveBlocks");
    mock->fail_name(NULL, 0);
    CHECK(launches() == 0);
    CHECK(!uf_reduce_scratch_size(&size, sum, 2, args, NULL) && size > 0);
    int64_t bytes = (int64_t)size + 256;
    DLManagedTensor *block = make(dtypes[DT_UINT8].dl, bytes);
    char *scratch = block->dl_tensor.data;
    uf_reduce_options o = {.size = sizeof o, .scratch = scratch, .scratch_size = size};
    mock->on_launch(note);
    CHECK(!uf_reduce(sum, 2, args, &o));
    CHECK(nseen == 2 && seen[0][0] == (uintptr_t)x->dl_tensor.data && seen[1][1] == (uintptr_t)r->dl_tensor.data);
    CHECK(seen[0][1] == seen[1][0] && seen[0][1] >= (uintptr_t)scratch && seen[0][1] < (uintptr_t)scratch + size);
    CHECK(mock->live().allocations == 3);

    o.scratch_size = size - 1;
    CHECK_FAILS(uf_reduce(sum, 2, args, &o), UF_ERR_ARGUMENT, "uf_reduce_options.scratch_size is");
    CHECK(strstr(error_slot()->message, "bytes are needed (uf_reduce_scratch_size)"));
    o = (uf_reduce_options){.size = sizeof o, .scratch = scratch + 16, .scratch_size = size};
    CHECK_FAILS(uf_reduce(sum, 2, args, &o), UF_ERR_ARGUMENT, "but must be aligned to 256 bytes");
    CHECK(nseen == 2);

    int asked = mock->count("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    CHECK(!uf_reduce(sum, 2, args, NULL)); /* the library's */
    CHECK(mock->count("cuOccupancyMaxActiveBlocksPerMultiprocessor") == asked);
    CHECK(nseen == 4 && mock->live().allocations == 4 && mock->live().depth == 0);
    CHECK(seen[2][1] == seen[3][0] && (seen[2][1] < (uintptr_t)scratch || seen[2][1] >= (uintptr_t)scratch + size));
    x->deleter(x);
    r->deleter(r);
    block->deleter(block);
    uf_free(sum);
}

/* Both kernels are compiled at once, the second for as many parts as there may be. Where the guess is wrong that one is compiled again; how many
 * parts there are does not depend on whether code was there. sms: multiprocessors, as text. */
static void guess_and_compile(const char *sms, int kernels) {
    setenv("MOCK_SMS", sms, 1);
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 1 << 24), *r = make(dtypes[DT_FLOAT32].dl, 1);
    DLTensor args[2] = {x->dl_tensor, result_of(r)};
    mock->on_launch(note);
    for (int i = 0; i < 2; i++) {
        CHECK(!uf_reduce(sum, 2, args, NULL));
        CHECK(mock->count("cuLibraryLoadData") == kernels);
    }
    CHECK(nseen == 4);
    for (int i = 0; i < 2; i++) /* after the addresses */
        CHECK(!memcmp(&seen[i][2], &seen[i + 2][2], sizeof seen[0] - 2 * sizeof seen[0][0]));
    x->deleter(x);
    r->deleter(r);
    uf_free(sum);
}

static void guessed_body(void *unused) {
    (void)unused;
    guess_and_compile("2", 2);
}

static void misjudged_body(void *unused) {
    (void)unused;
    guess_and_compile("132", 3);
}

/* Few elements: one launch, no memory. */
static void small_body(void *unused) {
    size_t size = 1;
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 100), *r = make(dtypes[DT_FLOAT32].dl, 1);
    DLTensor args[2] = {x->dl_tensor, result_of(r)};
    CHECK(!uf_reduce_scratch_size(&size, sum, 2, args, NULL) && size == 0);
    CHECK(!uf_reduce(sum, 2, args, NULL));
    CHECK(launches() == 1 && mock->live().allocations == 2);
    /* In parts the inputs are read before the output is written; here a copy is. */
    DLTensor own[2] = {x->dl_tensor, x->dl_tensor};
    own[1].ndim = 0;
    CHECK(!uf_reduce(sum, 2, own, NULL));
    CHECK(launches() == 2 && mock->count("cuMemcpyAsync") == 1);
    x->deleter(x);
    r->deleter(r);
    uf_free(sum);
}

/* A driver that fails, wherever it does: an error, nothing left behind, and the next call is fine. */
static void failures_body(void *unused) {
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 1 << 22), *r = make(dtypes[DT_FLOAT32].dl, 64);
    DLTensor args[2] = {x->dl_tensor, result_of(r)}, segments[2] = {x->dl_tensor, r->dl_tensor};
    int32_t at[64] = {0, 10, 1000, 5};
    uf_options uneven = {.size = sizeof uneven, .flags = UF_UNEVEN};
    CHECK(!uf_reduce(sum, 2, args, NULL) && !uf_reduceat(sum, 2, segments, &UF_ARRAY(at, 64), 0, NULL));
    CHECK(!uf_reduceat(sum, 2, segments, &UF_ARRAY(at, 64), 0, &uneven));
    int before = mock->live().allocations;
    for (int nth = 1, done = 0; !done; nth++) {
        CHECK(nth < 100);
        mock->fail_at(nth, 2);
        uf_status s = uf_reduce(sum, 2, args, NULL);
        uf_status t = s ? UF_OK : uf_reduceat(sum, 2, segments, &UF_ARRAY(at, 64), 0, NULL);
        t = s || t ? t : uf_reduceat(sum, 2, segments, &UF_ARRAY(at, 64), 0, &uneven);
        done = mock->calls() < nth;
        mock->fail_at(0, 0);
        CHECK(done ? !s && !t : true);
        CHECK(mock->live().allocations <= before + 1 && mock->live().depth == 0);
        CHECK(!uf_reduce(sum, 2, args, NULL) && !uf_reduceat(sum, 2, segments, &UF_ARRAY(at, 64), 0, NULL));
        CHECK(!uf_reduceat(sum, 2, segments, &UF_ARRAY(at, 64), 0, &uneven));
    }
    x->deleter(x);
    r->deleter(r);
    uf_free(sum);
}

/* Segments that may be much longer than most: zeroed memory, and two launches, which differ in one parameter. */
static void uneven_body(void *unused) {
    uf_options uneven = {.size = sizeof uneven, .flags = UF_UNEVEN};
    size_t size;
    int64_t at[64] = {0};
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 1 << 22), *r = make(dtypes[DT_FLOAT32].dl, 64);
    DLTensor args[2] = {x->dl_tensor, r->dl_tensor}, starts = UF_ARRAY(at, 64);
    CHECK(!uf_reduceat(sum, 2, args, &starts, 0, &uneven));
    CHECK(launches() == 2 && mock->count("cuMemsetD8Async") == 1);
    CHECK(!uf_reduceat_scratch_size(&size, sum, 2, args, &starts, 0, &uneven));
    CHECK(size >= 64 * sizeof(int64_t) + SPLIT_BYTES);
    args[0].shape = &(int64_t){1000}; /* little: one launch */
    CHECK(!uf_reduceat(sum, 2, args, &starts, 0, &uneven) && launches() == 3);
    CHECK(!uf_reduceat_scratch_size(&size, sum, 2, args, &starts, 0, &uneven) && size < SPLIT_BYTES);
    x->deleter(x);
    r->deleter(r);
    uf_free(sum);
}

static void test_parts(void **unused) {
    (void)unused;
    skip_without_nvvm(parts_body);
}
static void test_guessed(void **unused) {
    (void)unused;
    skip_without_nvvm(guessed_body);
}
static void test_misjudged(void **unused) {
    (void)unused;
    skip_without_nvvm(misjudged_body);
}
static void test_small(void **unused) {
    (void)unused;
    skip_without_nvvm(small_body);
}
static void test_uneven(void **unused) {
    (void)unused;
    skip_without_nvvm(uneven_body);
}
static void test_failures(void **unused) {
    (void)unused;
    skip_without_nvvm(failures_body);
}

/* ---- Segments ---- */

static int64_t bounds[4];

static void note_bounds(const mock_launch *l) {
    CHECK(l->words[3] == l->words[2] + sizeof(int64_t));
    memcpy(bounds, (const void *)(uintptr_t)l->words[2], sizeof bounds);
}

/* Starts on the host are there as int64, the extent after them, when the kernel begins. */
static void host_starts_body(void *unused) {
    size_t size;
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 1000), *r = make(dtypes[DT_FLOAT32].dl, 3);
    DLTensor args[2] = {x->dl_tensor, r->dl_tensor};
    int16_t starts[3] = {0, 700, 30};
    CHECK(!uf_reduceat_scratch_size(&size, sum, 2, args, &UF_ARRAY(starts, 3), 0, NULL) && size == 256);
    mock->on_launch(note_bounds);
    CHECK(!uf_reduceat(sum, 2, args, &UF_ARRAY(starts, 3), 0, NULL));
    CHECK(launches() == 1 && !memcmp(bounds, (int64_t[]){0, 700, 30, 1000}, sizeof bounds));
    uf_options o = {.size = sizeof o, .scratch = r->dl_tensor.data, .scratch_size = 12};
    CHECK_FAILS(uf_reduceat(sum, 2, args, &UF_ARRAY(starts, 3), 0, &o), UF_ERR_ARGUMENT,
                "uf_options.scratch_size is 12, but 256 bytes are needed (uf_reduceat_scratch_size)");
    starts[1] = 1000;
    CHECK_FAILS(uf_reduceat(sum, 2, args, &UF_ARRAY(starts, 3), 0, NULL), UF_ERR_ARGUMENT,
                "starts: element 1 is 1000, but must be from 0 to 999");
    CHECK(launches() == 1);
    x->deleter(x);
    r->deleter(r);
    uf_free(sum);
}

/* Those on the device are converted there, by one kernel, and the extent put after them by another. */
static void device_starts_body(void *unused) {
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 1000), *r = make(dtypes[DT_FLOAT32].dl, 3),
                    *starts = make(dtypes[DT_UINT32].dl, 3), *none = make(dtypes[DT_FLOAT32].dl, 0);
    DLTensor args[2] = {x->dl_tensor, r->dl_tensor}, elsewhere = starts->dl_tensor;
    mock->on_launch(note);
    CHECK(!uf_reduceat(sum, 2, args, &starts->dl_tensor, 0, NULL));
    CHECK(nseen == 3 && seen[0][0] == (uintptr_t)starts->dl_tensor.data && seen[1][0] == 1000);
    CHECK(seen[2][2] == seen[0][1] && seen[2][2] + 3 * sizeof(int64_t) == seen[1][1]);
    CHECK(mock->count("cuStreamSynchronize") == 0 && mock->count("cuMemcpyAsync") == 0);
    /* Of no elements none is a start: the results are left alone. */
    args[0] = none->dl_tensor;
    CHECK(!uf_reduceat(sum, 2, args, &starts->dl_tensor, 0, NULL) && nseen == 3);
    args[0] = x->dl_tensor;
    elsewhere.device.device_id = 1;
    CHECK_FAILS(uf_reduceat(sum, 2, args, &elsewhere, 0, NULL), UF_ERR_DEVICE,
                "starts: is on CUDA device 1, but the arrays are on device 0");
    x->deleter(x);
    r->deleter(r);
    starts->deleter(starts);
    none->deleter(none);
    uf_free(sum);
}

static void test_host_starts(void **unused) {
    (void)unused;
    skip_without_nvvm(host_starts_body);
}
static void test_device_starts(void **unused) {
    (void)unused;
    skip_without_nvvm(device_starts_body);
}

/* ---- Plans ---- */

/* What makes code and memory. */
static int preparations(void) {
    return mock->count("cuLibraryLoadData") + mock->count("cuOccupancyMaxActiveBlocksPerMultiprocessor") +
           mock->count("cuMemAlloc_v2") + mock->count("cuCtxSynchronize") + mock->count("cuStreamSynchronize");
}

/* The launches of a call, from its plan, for these and for other addresses; the first run prepares nothing, captured or not. */
static void plan_parts_body(void *unused) {
    enum {
        N = 1 << 24
    };
    uf_plan *plan;
    size_t size;
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, N), *y = make(dtypes[DT_FLOAT32].dl, N),
                    *r = make(dtypes[DT_FLOAT32].dl, 1);
    DLTensor args[2] = {{.device = gpu, .ndim = 1, .dtype = dtypes[DT_FLOAT32].dl, .shape = (int64_t[]){N}},
                        {.device = gpu, .dtype = dtypes[DT_FLOAT32].dl}};
    mock->on_launch(note);
    CHECK(!uf_reduce_plan(&plan, sum, 2, args, NULL));
    CHECK(nseen == 0);
    int before = preparations();
    mock->capture(1);
    CHECK(!uf_plan_run(plan, (void *[]){x->dl_tensor.data, r->dl_tensor.data}, (void *)0x99));
    mock->capture(0);
    CHECK(preparations() == before && nseen == 2 && mock->count("cuMemAllocAsync") == 1);
    CHECK(seen[0][0] == (uintptr_t)x->dl_tensor.data && seen[1][1] == (uintptr_t)r->dl_tensor.data);
    CHECK(seen[0][1] == seen[1][0] && seen[0][1] != seen[1][1]);
    CHECK(!uf_plan_run(plan, (void *[]){y->dl_tensor.data, r->dl_tensor.data}, NULL));
    args[0].data = y->dl_tensor.data;
    args[1].data = r->dl_tensor.data;
    CHECK(!uf_reduce(sum, 2, args, NULL));
    CHECK(nseen == 6 && !memcmp(seen[2], seen[4], sizeof seen[2]) && !memcmp(seen[3], seen[5], sizeof seen[3]));
    CHECK(!uf_reduce_scratch_size(&size, sum, 2, args, NULL) && size > 0);
    /* A driver that fails is an error, and the plan is as good as before. */
    mock->fail_name("cuLaunchKernel", 999);
    CHECK_FAILS(uf_plan_run(plan, (void *[]){y->dl_tensor.data, r->dl_tensor.data}, NULL), UF_ERR_DEVICE,
                "cuLaunchKernel");
    mock->fail_name(NULL, 0);
    CHECK(!uf_plan_run(plan, (void *[]){y->dl_tensor.data, r->dl_tensor.data}, NULL) && nseen == 8);
    CHECK_FAILS(uf_plan_run(plan, (void *[]){NULL, r->dl_tensor.data}, NULL), UF_ERR_ARGUMENT, "its data is NULL");
    uf_plan_free(plan);
    x->deleter(x);
    y->deleter(y);
    r->deleter(r);
    uf_free(sum);
}

/* Starts on the device are converted by each run, by code that the plan has compiled; those on the host are read by each. */
static void plan_starts_body(void *unused) {
    uf_plan *plan;
    int16_t at[3] = {0, 700, 30};
    (void)unused;
    sum_make();
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 1000), *r = make(dtypes[DT_FLOAT32].dl, 3),
                    *starts = make(dtypes[DT_UINT32].dl, 3);
    DLTensor args[2] = {x->dl_tensor, r->dl_tensor}, some = starts->dl_tensor;
    void *data[3] = {x->dl_tensor.data, r->dl_tensor.data, starts->dl_tensor.data};
    some.data = NULL;
    CHECK(!uf_reduceat_plan(&plan, sum, 2, args, &some, 0, NULL));
    CHECK(launches() == 0);
    int before = preparations();
    mock->on_launch(note);
    mock->capture(1);
    CHECK(!uf_plan_run(plan, data, NULL));
    mock->capture(0);
    CHECK(preparations() == before && nseen == 3);
    CHECK(seen[0][0] == (uintptr_t)starts->dl_tensor.data && seen[1][0] == 1000);
    CHECK(seen[2][2] == seen[0][1] && seen[2][2] + 3 * sizeof(int64_t) == seen[1][1]);
    uf_plan_free(plan);

    CHECK(!uf_reduceat_plan(&plan, sum, 2, args, &UF_ARRAY(at, 3), 0, NULL));
    mock->on_launch(note_bounds);
    data[2] = at;
    CHECK(!uf_plan_run(plan, data, NULL) && !memcmp(bounds, (int64_t[]){0, 700, 30, 1000}, sizeof bounds));
    at[2] = 31;
    CHECK(!uf_plan_run(plan, data, NULL) && bounds[2] == 31);
    at[2] = -1;
    CHECK_FAILS(uf_plan_run(plan, data, NULL), UF_ERR_ARGUMENT, "starts: element 2 is -1, but must be from 0 to 999");
    CHECK(launches() == 5);
    uf_plan_free(plan);
    x->deleter(x);
    r->deleter(r);
    starts->deleter(starts);
    uf_free(sum);
}

/* Complex numbers that are not aligned to their size take other code: a run with such compiles it once, and the plan goes on with
 * its own for those that are. */
static void plan_updates_body(void *unused) {
    uf_plan *plan;
    uf_func *f;
    code_target target;
    (void)unused;
    if (cuda_engine.target(0, &target))
        _exit(77);
    CHECK(!uf_vectorize(&f, "f", "complex64,complex64->complex64", "(x, y) { return x * y; }"));
    DLManagedTensor *x = make(dtypes[DT_COMPLEX64].dl, 100), *i = make(dtypes[DT_INT32].dl, 10),
                    *y = make(dtypes[DT_COMPLEX64].dl, 10);
    DLTensor target_array = x->dl_tensor;
    target_array.shape = (int64_t[]){99};
    CHECK(!uf_at_plan(&plan, f, &target_array, 1, &i->dl_tensor, &y->dl_tensor, NULL));
    int loaded = mock->count("cuLibraryLoadData");
    void *data[3] = {x->dl_tensor.data, i->dl_tensor.data, y->dl_tensor.data};
    for (int round = 0; round < 3; round++) {
        data[0] = (char *)x->dl_tensor.data + (round == 1 ? 4 : 0);
        CHECK(!uf_plan_run(plan, data, NULL));
        CHECK(mock->count("cuLibraryLoadData") == loaded + (round > 0));
        CHECK(mock->launch(&(int){0})->words[0] == (uintptr_t)data[0]);
    }
    CHECK(launches() == 3);
    data[1] = NULL;
    CHECK_FAILS(uf_plan_run(plan, data, NULL), UF_ERR_ARGUMENT, "indices[0]: its data is NULL");
    uf_plan_free(plan);
    x->deleter(x);
    i->deleter(i);
    y->deleter(y);
    uf_free(f);
}

static void test_plan_parts(void **unused) {
    (void)unused;
    skip_without_nvvm(plan_parts_body);
}
static void test_plan_starts(void **unused) {
    (void)unused;
    skip_without_nvvm(plan_starts_body);
}
static void test_plan_updates(void **unused) {
    (void)unused;
    skip_without_nvvm(plan_updates_body);
}

/* ---- Devices ---- */

static void devices_body(void *unused) {
    (void)unused;
    sum_make();
    float host[4] = {0};
    bool mask[4] = {false};
    DLManagedTensor *x = make(dtypes[DT_FLOAT32].dl, 4), *r = make(dtypes[DT_FLOAT32].dl, 1);
    DLTensor args[2] = {x->dl_tensor, result_of(r)}, where = UF_ARRAY(mask, 4);
    uf_reduce_options o = {.size = sizeof o, .where = &where};
    CHECK_FAILS(uf_reduce(sum, 2, args, &o), UF_ERR_DEVICE, "where: is in host memory, but argument 0 is on CUDA");
    args[0] = UF_ARRAY(host, 4);
    CHECK_FAILS(uf_reduce(sum, 2, args, NULL), UF_ERR_DEVICE, "argument 0: is in host memory, but argument 1 is on");
    args[0] = x->dl_tensor;
    args[1].device.device_id = 1;
    CHECK_FAILS(uf_reduce(sum, 2, args, NULL), UF_ERR_DEVICE, "argument 1: is on CUDA device 1, but argument 0");
    CHECK(launches() == 0);
    x->deleter(x);
    r->deleter(r);
    uf_free(sum);
}

static void test_devices(void **unused) {
    (void)unused;
    skip_without_nvvm(devices_body);
}

static int begin(void **unused) {
    (void)unused;
    return !mock_find();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_parts),  cmocka_unit_test(test_plan_starts),   cmocka_unit_test(test_plan_updates),
        cmocka_unit_test(test_parts),       cmocka_unit_test(test_small),         cmocka_unit_test(test_guessed),
        cmocka_unit_test(test_misjudged),   cmocka_unit_test(test_failures),      cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_host_starts), cmocka_unit_test(test_device_starts), cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
