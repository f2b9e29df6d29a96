/* test_repeat.c - calls that are made again, whose plans threads keep: whatever else has the same function and addresses, they compute
 * what they are asked to, and refuse what they have to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "define.h"
#include "draw.h"
#include "expect.h"
#include "failing.h"

/* ---- Random calls on the same few addresses ---- */

enum {
    BYTES = 512,
    MOST = 3 /* of an extent */
};

static _Alignas(16) char memory[BYTES];

/* r = x + factor * y over a shape, with elements of one dtype. x, y and r begin in `memory`; y may be a number of its own dtype. */
typedef struct random_call {
    uf_func *f;
    int factor, ndim;
    bool wide, strided[3], number;
    int64_t shape[2], strides[3][2], at[3];
} random_call;

static random_call call_draw(uf_func *const *f) {
    random_call c = {.factor = (int)pick(1, 2), .ndim = (int)pick(1, 2), .wide = chance(30), .number = chance(20)};
    c.f = f[c.factor - 1];
    c.shape[0] = pick(1, MOST);
    c.shape[1] = pick(1, MOST);
    for (int k = 0; k < 3; k++) {
        c.strided[k] = chance(50);
        c.strides[k][1] = pick(1, 2);
        c.strides[k][0] = c.strides[k][1] * (c.ndim == 2 ? MOST : 1);
        c.at[k] = k == 1 ? 64 + 8 * pick(0, 1) : 8 * pick(0, 1) + (k == 2 && chance(50) ? 256 : 0);
    }
    return c;
}

static double get(const random_call *c, const char *from, int64_t at, int64_t i) {
    from += at;
    return c->wide ? ((const double *)(const void *)from)[i] : (double)((const float *)(const void *)from)[i];
}

static void put(const random_call *c, char *to, int64_t at, int64_t i, double value) {
    to += at;
    if (c->wide)
        ((double *)(void *)to)[i] = value;
    else
        ((float *)(void *)to)[i] = (float)value;
}

/* The offset of element (i, j) of array k. */
static int64_t offset(const random_call *c, int k, int64_t i, int64_t j) {
    if (!c->strided[k])
        return c->ndim == 2 ? i * c->shape[1] + j : j;
    return c->ndim == 2 ? i * c->strides[k][0] + j * c->strides[k][1] : j * c->strides[k][0];
}

static void expect(const random_call *c, const char *before, double number, char *after) {
    int64_t n = c->ndim == 2 ? c->shape[0] : 1, m = c->shape[c->ndim - 1];
    memcpy(after, before, BYTES);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double y = c->number ? number : get(c, before, c->at[1], offset(c, 1, i, j));
            put(c, after, c->at[2], offset(c, 2, i, j), get(c, before, c->at[0], offset(c, 0, i, j)) + c->factor * y);
        }
}

/* The call as another one has it, in one thing or another. */
static void call_change(random_call *c, const random_call *other) {
    int k = (int)pick(0, 2);
    switch (pick(0, 4)) {
    case 0:
        c->wide = other->wide;
        break;
    case 1:
        c->ndim = other->ndim;
        break;
    case 2:
        c->shape[0] = other->shape[0];
        break;
    case 3:
        c->strided[k] = other->strided[k];
        memcpy(c->strides[k], other->strides[k], sizeof c->strides[k]);
        break;
    default:
        c->at[k] = other->at[k];
    }
    for (k = 0; k < 3; k++) /* rows do not overlap */
        c->strides[k][0] = c->ndim == 2 ? c->strides[k][1] * MOST : c->strides[k][1];
}

/* By the plan *p, which is made if it is NULL; p NULL: by uf_call. */
static void call_once(random_call *c, uf_plan **p) {
    static char before[BYTES], after[BYTES];
    static double number;
    const DLDataType type = {kDLFloat, c->wide ? 64 : 32, 1};
    DLTensor args[3];
    for (int i = 0; i < BYTES / 8; i++)
        ((double *)(void *)memory)[i] = c->wide ? (double)pick(-99, 99) : 0;
    for (int i = 0; !c->wide && i < BYTES / 4; i++)
        ((float *)(void *)memory)[i] = (float)pick(-99, 99);
    number = (double)pick(-9, 9);
    for (int k = 0; k < 3; k++)
        args[k] = (DLTensor){.data = memory,
                             .byte_offset = (uint64_t)c->at[k],
                             .device = {kDLCPU, 0},
                             .ndim = c->ndim,
                             .dtype = type,
                             .shape = c->shape,
                             .strides = c->strided[k] ? c->strides[k] : NULL};
    if (c->number)
        args[1] = (DLTensor){.data = &number, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}};
    memcpy(before, memory, BYTES);
    expect(c, before, number, after);
    void *const data[] = {memory + c->at[0], c->number ? (void *)&number : memory + c->at[1], memory + c->at[2]};
    if (p && !*p)
        OK(uf_plan_new(p, c->f, 3, args, NULL));
    OK(p ? uf_plan_run(*p, data, NULL) : uf_call(c->f, 3, args, NULL));
    assert_memory_equal(memory, after, BYTES);
}

static void random_calls(void **state) {
    (void)state;
    uf_func *f[] = {make("ff->f; dd->d", "(x, y) { return x + y; }"),
                    make("ff->f; dd->d", "(x, y) { return x + 2 * y; }")};
    random_call c = call_draw(f);
    for (int64_t i = trials(20000); i > 0; i--) {
        const random_call other = call_draw(f);
        if (chance(30))
            c = other;
        else
            call_change(&c, &other);
        for (int64_t times = pick(1, 4); times > 0; times--)
            call_once(&c, NULL);
    }
    uf_free(f[0]);
    uf_free(f[1]);
}

/* Runs of plans at other addresses than they were made for, at the same ones, and of plans that lie where others did. */
static void random_plans(void **state) {
    (void)state;
    uf_func *f[] = {make("ff->f; dd->d", "(x, y) { return x + y; }"),
                    make("ff->f; dd->d", "(x, y) { return x + 2 * y; }")};
    uf_plan *p = NULL;
    random_call c = call_draw(f);
    for (int64_t i = trials(10000); i > 0; i--) {
        const random_call other = call_draw(f);
        if (chance(40)) {
            uf_plan_free(p);
            p = NULL;
            c = other;
        } else {
            memcpy(c.at, other.at, sizeof c.at);
        }
        for (int64_t times = pick(1, 4); times > 0; times--)
            call_once(&c, &p);
        if (chance(20))
            call_once(&c, NULL);
    }
    uf_plan_free(p);
    uf_free(f[0]);
    uf_free(f[1]);
}

/* ---- What is no repetition ---- */

static void other_functions(void **state) {
    (void)state;
    static float x[4] = {1, 2, 3, 4}, r[4];
    static const char *const texts[] = {"(x) { return x + 1; }", "(x) { return x + 2; }"};
    for (int i = 0; i < 20; i++) {
        uf_func *f = make("f->f", texts[i % 2]); /* mostly where the one before was */
        for (int times = 0; times < 3; times++) {
            OK(UF_CALL(f, UF_ARRAY(x), UF_ARRAY(r)));
            assert_true(r[3] == (float)(5 + i % 2));
        }
        uf_free(f);
    }
}

static void other_options(void **state) {
    (void)state;
    static double x[2] = {1.5, -2.5};
    static int32_t r[2];
    static const bool none[2] = {false, false};
    const uf_options unsafe = {.size = sizeof unsafe, .casting = UF_CAST_UNSAFE},
                     masked = {.size = sizeof masked, .casting = UF_CAST_UNSAFE, .where = &UF_ARRAY(none)};
    const DLTensor args[] = {UF_ARRAY(x), UF_ARRAY(r)};
    uf_func *f = make("d->d", "(x) { return 2 * x; }");
    for (int round = 0; round < 3; round++) {
        for (int times = 0; times < 3; times++) {
            r[0] = 0;
            OK(uf_call(f, 2, args, &unsafe));
            assert_true(r[0] == 3 && r[1] == -5);
        }
        for (int times = 0; times < round; times++) {
            r[0] = 7;
            OK(uf_call(f, 2, args, &masked));
            assert_int_equal(r[0], 7);
        }
    }
    FAILS(UF_ERR_CAST, "argument 1", uf_call(f, 2, args, NULL));
    uf_free(f);
}

static void other_flags(void **state) {
    (void)state;
    static const float x[1] = {1};
    static double r[1];
    static double y = 0.1;
    const DLTensor args[] = {UF_ARRAY(x), UF_OUT(y), UF_ARRAY(r)};
    const uf_options strong = {.size = sizeof strong, .flags = UF_STRONG_NUMBERS};
    uf_func *f = make("ff->f; dd->d", "(x, y) { return x + y; }");
    for (int round = 0; round < 2; round++) {
        for (int times = 0; times < 3; times++) {
            OK(uf_call(f, 3, args, NULL));
            assert_true(r[0] == (double)(1 + 0.1f));
        }
        for (int times = 0; times < 3; times++) {
            OK(uf_call(f, 3, args, &strong));
            assert_true(r[0] == 1 + 0.1);
        }
    }
    uf_free(f);
}

/* The value of a number decides the signature where it does not fit the one that the dtypes choose. */
static void other_numbers(void **state) {
    (void)state;
    static const uint8_t x[1] = {200};
    static int64_t y;
    static bool r[1];
    const DLTensor args[] = {UF_ARRAY(x), UF_OUT(y), UF_ARRAY(r)};
    uf_func *f = make("uint8,uint8->bool; int16,int16->bool", "(x, y) { return (typeof(x))(x + 100) < y; }");
    for (int round = 0; round < 60; round++) {
        y = round % 3 ? 50 + round : 299 + round % 2 * 2; /* 300 wraps to 44 in uint8 */
        for (int times = 0; times < 3; times++) {
            OK(uf_call(f, 3, args, NULL));
            assert_int_equal(r[0], y == 301 || y < 256);
        }
    }
    uf_free(f);
}

/* Plans of high ranks have memory beside their own, which is given back. */
static void high_ranks(void **state) {
    (void)state;
    static float x[2] = {1, 2}, r[2];
    enum {
        RANK = 40
    };
    int64_t shape[RANK];
    for (int d = 0; d < RANK; d++)
        shape[d] = d == 7 ? 2 : 1;
    DLTensor args[3] = {UF_ARRAY(x), UF_ARRAY(x), UF_ARRAY(r)};
    uf_func *f = make("ff->f", "(x, y) { return x + y; }");
    for (int ndim = 24; ndim <= RANK; ndim += 8)
        for (int times = 0; times < 4; times++) {
            for (int k = 0; k < 3; k++)
                args[k] = (DLTensor){
                    .data = args[k].data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = args[k].dtype, .shape = shape};
            r[1] = 0;
            OK(uf_call(f, 3, args, NULL));
            assert_true(r[0] == 2 && r[1] == 4);
        }
    uf_free(f);
}

/* Sums of products of two rows each, of other sizes, strides and axes on the same addresses. */
static void core_sizes(void **state) {
    (void)state;
    static float x[24], r[24];
    uf_func *f = define("f", "(n),(n)->()", "ff->f", "(x, y) -> (r) { r = sum(i : n, x[i] * y[i]); }", 0, 0);
    for (int i = 0; i < 24; i++)
        x[i] = (float)i;
    for (int round = 0; round < 200; round++) {
        int64_t calls = pick(1, 3), n = pick(1, 4), shape[2] = {calls, n}, strides[2] = {1, 6};
        const bool turned = chance(30), first = !turned && chance(30);
        const int axis = 0;
        const uf_axes axes = {.size = sizeof axes, .axis = &axis};
        const uf_options along = {.size = sizeof along, .axes = &axes};
        DLTensor args[3];
        for (int k = 0; k < 3; k++)
            args[k] = (DLTensor){.data = k < 2 ? x : r,
                                 .device = {kDLCPU, 0},
                                 .ndim = k < 2 ? 2 : 1,
                                 .dtype = {kDLFloat, 32, 1},
                                 .shape = first && k == 2 ? &shape[1] : shape,
                                 .strides = turned && k < 2 ? strides : NULL};
        for (int64_t times = pick(1, 3); times > 0; times--) {
            memset(r, 0, sizeof r);
            OK(uf_call(f, 3, args, first ? &along : NULL));
            for (int64_t c = 0; c < (first ? n : calls); c++) {
                float all = 0;
                for (int64_t i = 0; i < (first ? calls : n); i++) {
                    float one = x[turned ? c + 6 * i : first ? c + n * i : c * n + i];
                    all += one * one;
                }
                assert_true(r[c] == all);
            }
        }
    }
    uf_free(f);
}

/* A library inverts matrices of so many rows by steps that are calls themselves. */
static void calls_of_calls(void **state) {
    (void)state;
    enum {
        N = 40
    };
    static double x[N][N], y[N][N];
    uf_func *f;
    OK(uf_load(&f, "inv"));
    for (int times = 1; times < 5; times++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                x[i][j] = i == j ? times : 0;
        OK(UF_CALL(f, UF_ARRAY(x), UF_ARRAY(y)));
        assert_true(y[0][0] == 1.0 / times && y[N - 1][N - 1] == 1.0 / times && y[0][1] == 0);
    }
    uf_free(f);
}

static void refused(void **state) {
    (void)state;
    float x[4] = {1, 2, 3, 4}, r[4], one = 1;
    int64_t n = 4;
    uf_func *f = make("f->f", "(x) { return x + 1; }");
    DLTensor args[] = {UF_ARRAY(x), UF_ARRAY(r)};
    args[0].shape = args[1].shape = &n;
    for (int times = 0; times < 3; times++)
        OK(uf_call(f, 2, args, NULL));
    args[1].shape = NULL;
    FAILS(UF_ERR_ARGUMENT, "shape is NULL", uf_call(f, 2, args, NULL));
    args[1].shape = &n;
    n = -1;
    FAILS(UF_ERR_ARGUMENT, "an extent is 0 or more", uf_call(f, 2, args, NULL));
    n = 4;
    args[0].dtype.bits = 8;
    FAILS(UF_ERR_ARGUMENT, "its dtype", uf_call(f, 2, args, NULL));

    DLTensor numbers[] = {UF_OUT(x[0]), UF_OUT(one)};
    for (int times = 0; times < 3; times++)
        OK(uf_call(f, 2, numbers, NULL));
    numbers[1] = UF_SCALAR(1.0f);
    numbers[1].data = &one;
    FAILS(UF_ERR_ARGUMENT, "is a number", uf_call(f, 2, numbers, NULL));
    uf_free(f);
}

/* ---- Memory ---- */

typedef struct memory_use {
    const char *layout, *source;
    bool calls_succeed, keeps, allocates_later;
} memory_use;

/* In a thread that has made no calls. */
static void *thread_calls(void *user) {
    memory_use *use = user;
    static float x[4] = {1, 2, 3, 4}, r[4];
    uf_func *f = define("f", use->layout, "f->f", use->source, 0, 0);
    bool good = !UF_CALL(f, UF_ARRAY(x), UF_ARRAY(r));
    allocations_fail_after(0);
    good &= !UF_CALL(f, UF_ARRAY(x), UF_ARRAY(r)); /* there is no memory for a plan */
    use->keeps = allocations_succeed();
    good &= !UF_CALL(f, UF_ARRAY(x), UF_ARRAY(r));
    allocations_fail_after(0);
    for (int i = 0; i < 3; i++) {
        r[0] = 0;
        good &= !UF_CALL(f, UF_ARRAY(x), UF_ARRAY(r)) && r[0] == 2;
    }
    use->allocates_later = allocations_succeed();
    uf_free(f);
    use->calls_succeed = good;
    return NULL;
}

static void memory_is_asked_for_once(void **state) {
    (void)state;
    memory_use uses[] = {{.source = "(x) { return x + 1; }"},
                         {.layout = "(n)->(n)", .source = "(x) -> (y) { forall (i : n) y[i] = x[i] + 1; }"}};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, thread_calls, &uses[i]), 0);
        pthread_join(thread, NULL);
        assert_true(uses[i].calls_succeed && uses[i].keeps && !uses[i].allocates_later);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_calls, draw_seed),
        cmocka_unit_test_setup(random_plans, draw_seed),
        cmocka_unit_test(other_functions),
        cmocka_unit_test(other_options),
        cmocka_unit_test(other_flags),
        cmocka_unit_test(other_numbers),
        cmocka_unit_test(high_ranks),
        cmocka_unit_test_setup(core_sizes, draw_seed),
        cmocka_unit_test(calls_of_calls),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_is_asked_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
