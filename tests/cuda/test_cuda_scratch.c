/* test_cuda_scratch.c - the library's pieces of device memory for streams, against the mock driver: who gets the piece and who
 * memory in stream order, growth, rows of streams that are gone, captures, contexts, threads, every driver call failing. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/code.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

#include "mock_child.h"

#define MIB ((size_t)1 << 20)

enum {
    ROWS = 64, /* of the table: 48 for the primary context, 16 for others */
    FOREIGN = 16,
    PERIOD = 4096 /* of takes, in which what is not used may go */
};

static void *stream_of(int k) { return (void *)(uintptr_t)(16 * (k + 1)); }

static void *take(size_t size, void *stream) {
    void *block;
    CHECK(!cuda_engine.scratch(0, size, stream, &block) && block);
    memset(block, 0x5a, size); /* it has the room */
    return block;
}

static void give(void *block, void *stream) { cuda_engine.scratch_free(0, block, stream); }

/* Takes and gives back; the address. */
static void *touch(size_t size, void *stream) {
    void *block = take(size, stream);
    give(block, stream);
    return block;
}

/* Allocations by the driver so far. */
static int allocated(void) { return mock->count("cuMemAllocAsync") + mock->count("cuMemAlloc_v2"); }
static int freed(void) { return mock->count("cuMemFreeAsync") + mock->count("cuMemFree_v2"); }

/* ---- One stream ---- */

static void steady_body(void *pools) {
    setenv("MOCK_POOLS", pools, 1);
    void *a = touch(1000, NULL), *b = touch(1000, stream_of(0));
    CHECK(a != b && allocated() == 2 && freed() == 0 && mock->live().allocations == 2);
    int synchronised = mock->count("cuStreamSynchronize");
    for (int i = 0; i < 100; i++) {
        CHECK(touch(1 + (size_t)i * 10000, NULL) == a && touch(MIB, stream_of(0)) == b);
        CHECK(touch(0, NULL) == a);
    }
    CHECK(allocated() == 2 && freed() == 0 && mock->count("cuStreamSynchronize") == synchronised);
    CHECK(mock->count("cuCtxSynchronize") == 0 && mock->live().depth == 0);
}

static void growth_body(void *pools) {
    setenv("MOCK_POOLS", pools, 1);
    for (size_t m = 1; m <= 64; m *= 2) {
        touch(m * MIB - 5, NULL);
        touch(m * MIB, NULL);
        touch(1, NULL);
        CHECK(mock->live().allocations == 1); /* the smaller one is gone */
    }
    CHECK(allocated() == 7 && freed() == 6);
    void *large = take(64 * MIB + 1, NULL); /* not the piece's */
    CHECK(mock->live().allocations == 2);
    give(large, NULL);
    CHECK(allocated() == 8 && freed() == 7 && mock->live().allocations == 1);
    touch(64 * MIB, NULL);
    CHECK(allocated() == 8);
}

/* More calls before the first one gives back: a stream has two pieces, and a third call gets memory in stream order. */
static void held_body(void *unused) {
    (void)unused;
    void *first = take(100, NULL), *second = take(100, NULL), *third = take(100, NULL);
    CHECK(first != second && second != third && first != third && mock->live().allocations == 3);
    give(third, NULL);
    CHECK(mock->live().allocations == 2);
    give(second, NULL);
    CHECK(take(100, NULL) == second);
    give(first, NULL);
    CHECK(touch(100, NULL) == first);
    give(second, NULL);
    CHECK(mock->live().allocations == 2 && touch(100, NULL) == first && allocated() == 3);
}

static void capture_body(void *unused) {
    (void)unused;
    void *piece = touch(100, NULL);
    mock->capture(1);
    for (int i = 0; i < 3; i++) {
        void *block = take(100, NULL);
        CHECK(block != piece && mock->live().allocations == 2);
        give(block, NULL);
    }
    CHECK(mock->count("cuMemAllocAsync") == 4 && mock->count("cuMemFreeAsync") == 3);
    mock->capture(0);
    CHECK(touch(100, NULL) == piece && allocated() == 4);
}

static void test_one_stream(void **unused) {
    (void)unused;
    in_child(steady_body, "1");
    in_child(steady_body, "0");
    in_child(growth_body, "1");
    in_child(growth_body, "0");
    in_child(held_body, NULL);
    in_child(capture_body, NULL);
}

/* ---- Many streams ---- */

/* More streams than rows: the others get memory in stream order, and nothing is waited for. */
static void crowd_body(void *unused) {
    (void)unused;
    for (int round = 0; round < 5; round++)
        for (int k = 0; k < ROWS; k++)
            touch(100, stream_of(k));
    CHECK(mock->live().allocations == ROWS - FOREIGN && mock->count("cuCtxSynchronize") == 0);
    CHECK(allocated() == ROWS - FOREIGN + 5 * FOREIGN);
}

/* Streams that are gone, with others at their addresses: no piece goes to another stream while work may use it. */
static void renewed_body(void *unused) {
    void *piece[ROWS];
    const int rows = ROWS - FOREIGN;
    (void)unused;
    for (int k = 0; k < rows; k++)
        piece[k] = touch(100, stream_of(k));
    mock->renew_streams();
    CHECK(touch(100, stream_of(0)) != piece[0] && mock->live().allocations == rows); /* no row is free */
    for (int i = 0; i < 2 * PERIOD; i++)
        touch(100, stream_of(0));
    CHECK(mock->count("cuCtxSynchronize") == 1 && mock->live().allocations == 1);
    int before = allocated();
    for (int i = 0; i < 10; i++)
        touch(100, stream_of(0));
    CHECK(allocated() == before && mock->live().allocations == 1);
}

/* The rows that are cleared are those not used for a period, and not those held. */
static void idle_body(void *unused) {
    const int rows = ROWS - FOREIGN;
    void *piece[ROWS];
    (void)unused;
    for (int k = 0; k < rows; k++)
        piece[k] = touch(100, stream_of(k));
    void *held = take(100, stream_of(3));
    CHECK(held == piece[3]);
    for (int look = 0; look < 2; look++) {
        for (int i = 0; i < PERIOD; i++)
            CHECK(touch(100, stream_of(0)) == piece[0]);
        CHECK(mock->count("cuCtxSynchronize") == 0);
        touch(100, stream_of(rows));
    }
    CHECK(mock->count("cuCtxSynchronize") == 1 && mock->live().allocations == 3);
    give(held, stream_of(3));
    CHECK(touch(100, stream_of(3)) == held && touch(100, stream_of(0)) == piece[0]);
}

static void test_many_streams(void **unused) {
    (void)unused;
    in_child(crowd_body, NULL);
    in_child(renewed_body, NULL);
    in_child(idle_body, NULL);
}

/* ---- Contexts ---- */

static void contexts_body(void *unused) {
    void *first, *second, *block[2];
    (void)unused;
    void *primary = touch(100, NULL);
    mock->context_set(first = mock->context_new(0));
    block[0] = touch(100, NULL);
    mock->context_set(second = mock->context_new(0));
    block[1] = touch(100, NULL);
    CHECK(block[0] != block[1] && block[0] != primary && block[1] != primary && mock->live().allocations == 3);
    CHECK(touch(100, NULL) == block[1]);
    mock->context_set(first);
    CHECK(touch(100, NULL) == block[0]);
    mock->context_set(NULL);
    CHECK(touch(100, NULL) == primary && mock->live().allocations == 3);
}

/* Contexts come and go: what they leave takes no row of the primary one's, and is left to the driver. */
static void contexts_gone_body(void *unused) {
    (void)unused;
    void *primary = touch(100, stream_of(0));
    for (int i = 0; i < 3 * FOREIGN; i++) {
        mock->context_set(mock->context_new(0));
        touch(100, stream_of(0));
        touch(100, stream_of(0));
    }
    CHECK(mock->live().allocations == 1 + FOREIGN && mock->count("cuCtxSynchronize") == 0);
    mock->context_set(NULL);
    CHECK(touch(100, stream_of(0)) == primary);
    for (int k = 0; k < ROWS - FOREIGN; k++)
        touch(100, stream_of(k));
    CHECK(mock->live().allocations == ROWS);
}

static void devices_body(void *unused) {
    void *one, *zero = touch(100, NULL);
    (void)unused;
    CHECK(!cuda_engine.scratch(1, 100, NULL, &one) && one != zero);
    give(take(100, NULL), NULL);
    cuda_engine.scratch_free(1, one, NULL);
    CHECK(mock->live().allocations == 2 && allocated() == 2);
    CHECK_FAILS(cuda_engine.scratch(7, 100, NULL, &one), UF_ERR_DEVICE, "CUDA device 7");
    CHECK(!one);
}

static void test_contexts(void **unused) {
    (void)unused;
    in_child(contexts_body, NULL);
    in_child(contexts_gone_body, NULL);
    in_child(devices_body, NULL);
}

/* ---- Threads ---- */

/* Every thread sees its own bytes, whichever streams they are on. */
static void *thread_body(void *user) {
    int id = *(int *)user;
    for (int i = 0; i < 2000; i++) {
        size_t size = 64 + (size_t)(i * 37 % 4096);
        void *block, *stream = stream_of((id + i / 100) % 3);
        CHECK(!cuda_engine.scratch(0, size, stream, &block));
        memset(block, id, size);
        for (size_t k = 0; k < size; k++)
            CHECK(((char *)block)[k] == id);
        cuda_engine.scratch_free(0, block, stream);
    }
    return NULL;
}

static void threads_body(void *unused) {
    enum {
        THREADS = 8
    };
    pthread_t thread[THREADS];
    int id[THREADS];
    (void)unused;
    for (int k = 0; k < THREADS; k++) {
        id[k] = k;
        CHECK(!pthread_create(&thread[k], NULL, thread_body, &id[k]));
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    CHECK(mock->live().allocations >= 3 && mock->live().allocations <= 6);
}

static void test_threads(void **unused) {
    (void)unused;
    in_child(threads_body, NULL);
}

/* ---- What calls cost the driver ---- */

static const char *const forbidden[] = {"cuMemAlloc_v2",  "cuMemAllocAsync",     "cuMemFree_v2",
                                        "cuMemFreeAsync", "cuStreamSynchronize", "cuCtxSynchronize"};

static void note_counts(int *out) {
    for (size_t k = 0; k < COUNT(forbidden); k++)
        out[k] = mock->count(forbidden[k]);
}

/* In a steady state a reduction of many blocks, or an accumulation, allocates nothing and waits for nothing, on each of its
 * streams. */
static void reduction_body(void *accumulates) {
    int64_t n = 1 << 22;
    int before[COUNT(forbidden)], after[COUNT(forbidden)];
    size_t size;
    uf_func *f;
    DLManagedTensor *x, *r;
    code_target target;
    if (cuda_engine.target(0, &target))
        _exit(77); /* no libnvvm */
    CHECK(!uf_reduction(&f, "sum", "float32->float32",
                        &(uf_reduction_def){.size = sizeof(uf_reduction_def), .combine = "(a, b) { return a + b; }"}));
    CHECK(!uf_empty(&x, (DLDevice){kDLCUDA, 0}, dtypes[DT_FLOAT32].dl, 1, &n));
    CHECK(!uf_empty(&r, (DLDevice){kDLCUDA, 0}, dtypes[DT_FLOAT32].dl, 1, &n));
    DLTensor args[] = {x->dl_tensor, r->dl_tensor};
    args[1].ndim = accumulates ? 1 : 0;
    CHECK(!(accumulates ? uf_accumulate_scratch_size(&size, f, 2, args, 0, NULL)
                        : uf_reduce_scratch_size(&size, f, 2, args, NULL)));
    CHECK(size > 0);
    for (int i = 0; i < 20; i++) {
        void *stream = stream_of(i % 3);
        if (i == 3)
            note_counts(before);
        if (accumulates)
            CHECK(!uf_accumulate(f, 2, args, 0, &(uf_options){.size = sizeof(uf_options), .stream = stream}));
        else
            CHECK(!uf_reduce(f, 2, args, &(uf_reduce_options){.size = sizeof(uf_reduce_options), .stream = stream}));
    }
    note_counts(after);
    CHECK(!memcmp(before, after, sizeof before));
    CHECK(mock->live().allocations == 2 + 3 && mock->live().depth == 0);
    x->deleter(x);
    r->deleter(r);
    uf_free(f);
}

static void test_reduction(void **unused) {
    (void)unused;
    int status = child_status(reduction_body, NULL);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
    in_child(reduction_body, "accumulates");
}

/* ---- Failures ---- */

/* A new piece, its growth, another context's, rows cleared; stops at the first error. */
static uf_status use_everything(void *context) {
    static const size_t sizes[] = {10, 2 * MIB, 100};
    void *block;
    for (int k = 0; k < 6; k++) {
        mock->context_set(k < 3 ? NULL : context);
        TRY(cuda_engine.scratch(0, sizes[k % 3], stream_of(0), &block));
        cuda_engine.scratch_free(0, block, stream_of(0));
    }
    mock->context_set(NULL);
    TRY(cuda_engine.scratch(0, 100, stream_of(ROWS), &block));
    cuda_engine.scratch_free(0, block, stream_of(ROWS));
    return UF_OK;
}

typedef struct failure {
    int nth, error;
} failure;

static void failure_body(void *user) {
    const failure *f = user;
    void *context = mock->context_new(0);
    for (int k = 0; k < ROWS - FOREIGN; k++)
        touch(100, stream_of(k));
    for (int i = 0; i < 2 * PERIOD; i++)
        touch(100, stream_of(i == PERIOD ? ROWS : 0)); /* that one looks, and finds none */
    mock->fail_at(f->nth, f->error);
    uf_status s = use_everything(context);
    const char *failed = mock->failed();
    if (!failed)
        _exit(77);
    if (s) {
        char plain[64];
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(failed, "_"), failed);
        CHECK(s == (f->error == 2 ? UF_ERR_MEMORY : UF_ERR_DEVICE) && strstr(error_slot()->message, plain));
    } else { /* releases, and what is tried only to make room */
        static const char *const spared[] = {"cuMemFreeAsync",      "cuMemFree_v2",
                                             "cuStreamIsCapturing", "cuCtxSynchronize",
                                             "cuCtxPopCurrent_v2",  "cuThreadExchangeStreamCaptureMode"};
        bool known = false;
        for (size_t i = 0; i < COUNT(spared); i++)
            known |= !strcmp(failed, spared[i]);
        CHECK(known);
    }
    mock->fail_at(0, 0);
    mock->context_set(NULL);
    CHECK(mock->mode() == 0 || !strcmp(failed, "cuThreadExchangeStreamCaptureMode"));
    CHECK(use_everything(context) == UF_OK && mock->live().depth == 0);
    bool cleared = mock->live().allocations == 3; /* the three that are used */
    CHECK(cleared || mock->live().allocations == ROWS - FOREIGN + 1);
    CHECK(cleared || !s); /* what makes room may fail: then there is none until the next look */
    int before = allocated();
    CHECK(use_everything(context) == UF_OK && allocated() == before + !cleared);
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

static bool none_left(size_t size) {
    (void)size;
    return false;
}

static void table_body(void *unused) {
    void *block;
    cuda_device *d;
    (void)unused;
    CHECK(!cuda_device_get(0, &d));
    mem_may_alloc = none_left;
    CHECK(cuda_engine.scratch(0, 100, NULL, &block) == UF_ERR_MEMORY && !block);
    mem_may_alloc = NULL;
    CHECK(mock->live().allocations == 0 && mock->live().depth == 0);
    touch(100, NULL);
}

static void test_table(void **unused) {
    (void)unused;
    in_child(table_body, NULL);
}

/* ---- main ---- */

static int begin(void **unused) {
    (void)unused;
    assert_true(mock_find());
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_stream), cmocka_unit_test(test_many_streams), cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_reduction),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
