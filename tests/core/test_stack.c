/* test_stack.c - every call on a thread with 64 KiB of stack, the first, which compiles, included. The stack is painted: how much
 * of it each call has written to is shown, and a page behind its end that cannot be written to stops what wants more. */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "ufunc.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* frames are several times as large */
#else
#define SANITIZED 0
#endif

enum {
    STACK = 64 << 10, /* what include/ufunc.h says is enough */
    PAINT = 0xa5,
    N = 257,
    LARGE = 600 * 1000
};

static float x[LARGE + 3], y[LARGE], z[LARGE], table[300 * 300];
static double wide[LARGE];
static int64_t places[LARGE];

#define MUST(call)                                                                        \
    do {                                                                                  \
        if (call) {                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, uf_last_error()->message); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

static uf_func *loaded(const char *name) {
    uf_func *f;
    MUST(uf_load(&f, name));
    return f;
}

/* ---- What is called ---- */

static const DLDevice cpu = {kDLCPU, 0};

static void elementwise(void) {
    uf_func *add = loaded("add"), *sine;
    MUST(uf_vectorize(&sine, "sine", NULL, "(x) { return sin(x) + tgamma(x); }"));
    MUST(UF_CALL(add, UF_ARRAY(x, LARGE), UF_ARRAY(y, LARGE), UF_ARRAY(z, LARGE)));
    MUST(UF_CALL(add, UF_ARRAY(x, 300, 1), UF_ARRAY(y, 1, 300), UF_ARRAY(table, 300, 300)));
    MUST(UF_CALL(sine, UF_ARRAY(x, LARGE), UF_ARRAY(wide, LARGE)));
    MUST(UF_CALL(add, UF_ARRAY(x, N), UF_ARRAY(x + 1, N), UF_ARRAY(x + 2, N))); /* overlaps */
    bool mask[N] = {true};
    MUST(uf_call(add, 3, (DLTensor[]){UF_ARRAY(x, N), UF_SCALAR(2), UF_ARRAY(z, N)},
                 &(uf_options){.size = sizeof(uf_options), .where = &UF_ARRAY(mask, N)}));
    int64_t shape[UF_MAX_NDIM];
    DLTensor inferred[] = {UF_ARRAY(x, N), UF_ARRAY(y, N), {.shape = shape}};
    MUST(uf_infer(add, 3, inferred, NULL));
    MUST(uf_outer(add, 3, (DLTensor[]){UF_ARRAY(x, 300), UF_ARRAY(y, 300), UF_ARRAY(table, 300, 300)}, NULL));
    uf_free(add);
    uf_free(sine);
}

/* The largest rank, and the most operands. */
static void largest(void) {
    uf_func *f;
    char source[2048] = "(a0", *at = source + 3;
    for (int k = 1; k < 63; k++)
        at += sprintf(at, ", a%d", k);
    at += sprintf(at, ") { return a0");
    for (int k = 1; k < 63; k++)
        at += sprintf(at, " + a%d", k);
    strcpy(at, "; }");
    MUST(uf_vectorize(&f, "f", NULL, source));
    int64_t shape[UF_MAX_NDIM], forth[UF_MAX_NDIM], back[UF_MAX_NDIM];
    for (int d = 0; d < UF_MAX_NDIM; d++) {
        shape[d] = d % 6 ? 1 : 2;
        forth[d] = d % 6 ? 1 : 1 << d / 6;
        back[d] = d % 6 ? 1 : 1 << (10 - d / 6);
    }
    DLTensor args[64];
    for (int k = 0; k < 64; k++) {
        args[k] = UF_ARRAY(k == 63 ? y : x + k, 1);
        args[k].ndim = UF_MAX_NDIM;
        args[k].shape = shape;
        args[k].strides = k % 2 ? forth : back;
    }
    MUST(uf_call(f, 64, args, NULL));
    args[63].data = x + 5; /* overlaps all inputs */
    MUST(uf_call(f, 64, args, NULL));
    uf_free(f);
}

static void gufuncs(void) {
    static const char *const names[] = {"matmul", "matvec", "softmax"};
    for (size_t i = 0; i < 2; i++) {
        uf_func *f = loaded(names[i]);
        DLTensor b = i ? UF_ARRAY(y, 200) : UF_ARRAY(y, 200, 200), c = i ? UF_ARRAY(z, 200) : UF_ARRAY(z, 200, 200);
        MUST(UF_CALL(f, UF_ARRAY(x, 200, 200), b, c));
        MUST(UF_CALL(f, UF_ARRAY(x, 4, 4), i ? UF_ARRAY(y, 4) : UF_ARRAY(y, 4, 4),
                     i ? UF_ARRAY(z, 4) : UF_ARRAY(z, 4, 4)));
        uf_free(f);
    }
    uf_func *f = loaded(names[2]);
    MUST(UF_CALL(f, UF_ARRAY(x, 300, 2000), UF_ARRAY(z, 300, 2000)));
    uf_free(f);
}

static void reduce(uf_func *f, int nargs, const DLTensor *args, int axis, unsigned order) {
    uf_reduce_options o = {.size = sizeof o, .naxes = axis >= 0, .axes = axis >= 0 ? &axis : NULL, .flags = order};
    int64_t shape[UF_MAX_NDIM];
    DLTensor inferred[3];
    MUST(uf_reduce(f, nargs, args, &o));
    memcpy(inferred, args, (size_t)nargs * sizeof *args);
    for (int k = 1; k < nargs; k++)
        inferred[k].shape = shape;
    MUST(uf_reduce_infer(f, nargs, inferred, &o));
}

static void reductions(void) {
    static const char *const names[] = {"add", "var", "argmax"};
    static const int extents[][3] = {{300, 2000, -1}, {300, 2000, 0}, {300, 2000, 1}, {5, 100000, 0}, {100000, 5, 1}};
    static const unsigned orders[] = {0, UF_ORDERED, UF_SERIAL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uf_func *f = loaded(names[i]);
        for (size_t s = 0; s < sizeof extents / sizeof *extents; s++)
            for (size_t o = 0; o < 3; o++) {
                int m = extents[s][0], n = extents[s][1], axis = extents[s][2], left = axis < 0 ? 1 : axis ? m : n;
                DLTensor r = strcmp(names[i], "argmax") ? UF_ARRAY(z, left) : UF_ARRAY(places, left);
                r.ndim = axis >= 0;
                reduce(f, 2, (DLTensor[]){UF_ARRAY(x, m, n), r}, axis, orders[o]);
                DLTensor across = UF_ARRAY(x, n, m); /* the other way round in memory */
                across.shape = (int64_t[]){m, n};
                across.strides = (int64_t[]){1, m};
                reduce(f, 2, (DLTensor[]){across, r}, axis, orders[o]);
            }
        uf_free(f);
    }
}

/* Appends `count` items, each in the format, with its number in place of every '#'. */
static void list(char *to, const char *before, const char *item, int count, const char *after) {
    strcat(to, before);
    for (int k = 0; k < count; k++)
        for (const char *at = item; *at; at++)
            sprintf(to + strlen(to), *at == '#' ? "%d" : "%c", *at == '#' ? k : *at);
    strcat(to, after);
}

/* A state of as many values as there may be, along rows and columns, and a scan of it. */
static void large_states(void) {
    enum {
        VALUES = UF_MAX_STATE
    };
    uf_func *f;
    char map[1024] = "", combine[2048] = "", finish[1024] = "", state[256] = "complex128";
    list(map, "(x) -> (v", "#, v", VALUES - 1, "15) { ");
    list(map, "", "v# = x; ", VALUES, "}");
    list(combine, "(a", "#, a", VALUES - 1, "15, b");
    list(combine, "", "#, b", VALUES - 1, "15) -> (c");
    list(combine, "", "#, c", VALUES - 1, "15) { ");
    list(combine, "", "c# = a# + b#; ", VALUES, "}");
    list(finish, "(a", "#, a", VALUES - 1, "15) -> (r) { r = creal(a0) + a15; }");
    for (int k = 1; k < VALUES; k++)
        strcat(state, k % 5 ? ",float64" : ",int8");
    MUST(uf_reduction(
        &f, "wide", "float32->float64",
        &(uf_reduction_def){
            .size = sizeof(uf_reduction_def), .map = map, .combine = combine, .finish = finish, .state = state}));
    for (int axis = 0; axis < 2; axis++) {
        const DLTensor args[] = {UF_ARRAY(x, 300, 2000), axis ? UF_ARRAY(wide, 300) : UF_ARRAY(wide, 2000)};
        const DLTensor all[] = {args[0], UF_ARRAY(wide, 300, 2000)};
        for (unsigned order = 0; order <= UF_SERIAL; order += UF_ORDERED) {
            reduce(f, 2, args, axis, order);
            MUST(uf_accumulate(f, 2, all, axis, &(uf_options){.size = sizeof(uf_options), .flags = order}));
        }
    }
    uf_free(f);
}

static void scans(void) {
    static const char *const names[] = {"add", "mean"};
    int64_t starts[] = {0, 7, 3, 250};
    int64_t shape[UF_MAX_NDIM];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uf_func *f = loaded(names[i]);
        for (int axis = 0; axis < 2; axis++) {
            DLTensor args[] = {UF_ARRAY(x, 300, 2000), UF_ARRAY(wide, 300, 2000)};
            uf_options o = {.size = sizeof o};
            MUST(uf_accumulate(f, 2, args, axis, NULL));
            for (unsigned order = UF_ORDERED; order <= UF_SERIAL; order += UF_ORDERED) {
                o.flags = order;
                MUST(uf_accumulate(f, 2, args, axis, &o));
            }
            args[1] = axis ? UF_ARRAY(wide, 300, 4) : UF_ARRAY(wide, 4, 2000);
            MUST(uf_reduceat(f, 2, args, &UF_ARRAY(starts, 4), axis, NULL));
            args[1].shape = shape;
            MUST(uf_accumulate_infer(f, 2, args, axis, NULL));
        }
        MUST(uf_accumulate(f, 2, (DLTensor[]){UF_ARRAY(x, LARGE), UF_ARRAY(wide, LARGE)}, 0, NULL));
        uf_free(f);
    }
}

static void updates(void) {
    uf_func *add = loaded("add");
    for (int64_t i = 0; i < LARGE; i++)
        places[i] = i * 7 % N;
    MUST(uf_at(add, &UF_ARRAY(z, N), 1, &UF_ARRAY(places, LARGE), &UF_ARRAY(x, LARGE), NULL));
    MUST(uf_at(add, &UF_ARRAY(z, N, 2000), 1, &UF_ARRAY(places, 100), &UF_ARRAY(x, 100, 2000), NULL));
    MUST(uf_at(add, &UF_ARRAY(z, N), 1, &UF_ARRAY(places, N), &UF_ARRAY(z, N), NULL)); /* overlaps */
    uf_free(add);
}

static void kernels(void) {
    uf_func *count, *heat;
    uf_plan *plan;
    uf_launch info = {.size = sizeof info};
    MUST(uf_kernel(&count, "count", "int64[], float64[], float32[], float32[]",
                   "[i](at, h, g, e) { atomic_add(h[at[i]], 1); atomic_add(g[at[i]], 2); atomic_add(e[at[i]], 3); }"));
    DLTensor args[] = {UF_ARRAY(places, LARGE), UF_ARRAY(wide, N), UF_ARRAY(y, N), UF_ARRAY(z, N)};
    MUST(uf_forall(count, 1, (int64_t[]){LARGE}, 4, args, NULL));
    MUST(uf_forall_plan(&plan, count, 1, (int64_t[]){LARGE}, 4, args, NULL));
    MUST(uf_plan_run(plan, (void *[]){places, wide, y, z}, NULL));
    MUST(uf_launch_info(count, 1, (int64_t[]){LARGE}, 4, args, NULL, &info));
    uf_plan_free(plan);
    MUST(uf_kernel(&heat, "heat", "float32[,], float32[,]",
                   "[i : n, j : m](u, v) { if (i > 0 && i < n - 1 && j > 0 && j < m - 1) v[i][j] = u[i][j] + "
                   "(u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]) / 8; }"));
    MUST(uf_forall(heat, 2, (int64_t[]){300, 2000}, 2, (DLTensor[]){UF_ARRAY(x, 300, 2000), UF_ARRAY(y, 300, 2000)},
                   NULL));
    uf_free(count);
    uf_free(heat);
}

/* As many bytes of variables as a kernel may have, in kernels of every form. */
#define LOCALS                                                       \
    "float64 a[2000]; for (int t = 0; t < 2000; t++) a[t] = x + t; " \
    "float64 s = 0; for (int t = 0; t < 2000; t++) s += a[(t * 7 + (int)x) % 2000]; "

static void local_arrays(void) {
    uf_func *f;
    MUST(uf_vectorize(&f, "local", "f->f", "(x) { " LOCALS "return s; }"));
    MUST(UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(y, N)));
    uf_free(f);
    MUST(uf_guvectorize(&f, "local", "(n)->()", "f->f", "(v) -> (r) { auto x = v[0]; " LOCALS "r = s; }"));
    MUST(UF_CALL(f, UF_ARRAY(x, 20, 10), UF_ARRAY(y, 20)));
    uf_free(f);
    MUST(uf_kernel(&f, "local", "float32[], float32[]", "[i](v, r) { auto x = v[i]; " LOCALS "r[i] = s; }"));
    MUST(uf_forall(f, 1, (int64_t[]){N}, 2, (DLTensor[]){UF_ARRAY(x, N), UF_ARRAY(y, N)}, NULL));
    uf_free(f);
    MUST(uf_reduction(&f, "local", "float32->float64",
                      &(uf_reduction_def){.size = sizeof(uf_reduction_def),
                                          .map = "(x) -> (r) { " LOCALS "r = s; }",
                                          .combine = "(a, b) { return a + b; }"}));
    for (int axis = 0; axis < 2; axis++) {
        const DLTensor args[] = {UF_ARRAY(x, 40, 40), UF_ARRAY(wide, 40)};
        for (unsigned order = 0; order <= UF_SERIAL; order += UF_ORDERED)
            reduce(f, 2, args, axis, order);
        MUST(uf_accumulate(f, 2, (DLTensor[]){args[0], UF_ARRAY(wide, 40, 40)}, axis, NULL));
    }
    uf_free(f);
}

/* Without the macro, whose arguments by name take some of the caller's stack: it is the library's that is looked at. */
static void call_both(const uf_func *f) {
    const DLTensor narrow[] = {UF_ARRAY(x, N), UF_ARRAY(y, N)}, wider[] = {UF_ARRAY(wide, N), UF_ARRAY(wide, N)};
    MUST(uf_call(f, 2, narrow, NULL));
    MUST(uf_call(f, 2, wider, NULL));
}

/* Values that all live at once, which registers do not hold: each of a vector of elements, if the code is one of vectors. */
static void live_values(void) {
    enum {
        LEVELS = 250
    };
    static const int counts[] = {60, 120, 200, 400};
    static char source[64 * 1024];
    uf_func *f;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        char *to = source + sprintf(source, "(x) { ");
        for (int i = 0; i < counts[k]; i++)
            to += sprintf(to, "auto v%d = x * %d.5f + x * x / %d; ", i, i + 2, i + 1);
        to += sprintf(to, "auto s = x; ");
        for (int i = counts[k]; i-- > 0;)
            to += sprintf(to, "s = s * v%d + %d; ", i, i);
        sprintf(to, "return s; }");
        MUST(uf_vectorize(&f, "live", "f->f; d->d", source));
        call_both(f);
        uf_free(f);
    }
    char *to = source + sprintf(source, "(x) { return ");
    for (int i = 0; i < LEVELS; i++)
        to += sprintf(to, "((x * %d.5f + x * x / %d) / ", i + 2, i + 1);
    to += sprintf(to, "x");
    memset(to, ')', LEVELS);
    strcpy(to + LEVELS, "; }");
    MUST(uf_vectorize(&f, "live", "f->f; d->d", source));
    call_both(f);
    uf_free(f);
}

/* Helpers that call each other, with as many values that live across the calls as there may be. */
static void call_chains(void) {
    static const int shapes[][3] = {{200, 1, 1}, {20, 28, 1}, {10, 55, 1}, {9, 40, 2}}; /* levels, values, calls */
    static char source[256 * 1024];
    uf_func *f;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        int levels = shapes[k][0], values = shapes[k][1], each = shapes[k][2];
        char *to = source + sprintf(source, "f0(x) { return x + 1; } ");
        for (int level = 1; level < levels; level++) {
            to += sprintf(to, "f%d(x) { ", level);
            for (int i = 0; i < values; i++)
                to += sprintf(to, "auto v%d = x * %d + x / %d; ", i, i + level, i + 3);
            to += sprintf(to, "auto s = x; ");
            for (int i = 0; i < each; i++)
                to += sprintf(to, "s += f%d(x * %d); ", level - 1, i + 2);
            for (int i = values; i-- > 0;)
                to += sprintf(to, "s = s * v%d; ", i);
            to += sprintf(to, "return s; } ");
        }
        sprintf(to, "(x) { return f%d(x); }", levels - 1);
        MUST(uf_vectorize(&f, "calls", "f->f; d->d", source));
        MUST(UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(y, N)));
        MUST(UF_CALL(f, UF_ARRAY(wide, N), UF_ARRAY(wide, N)));
        uf_free(f);
    }
}

/* Kernels that report, and what they report. */
static void debugging(void) {
    uf_func *f;
    uf_section section = {"int64,int64->int64", "(x, y) { return x / y; }"};
    MUST(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                        .name = "quotient",
                                        .nsections = 1,
                                        .sections = &section,
                                        .flags = UF_DEBUG}));
    for (int64_t i = 0; i < LARGE; i++)
        places[i] = i % 1000;
    if (UF_CALL(f, UF_ARRAY(places, LARGE), UF_ARRAY(places, LARGE), UF_ARRAY(wide, LARGE)) != UF_ERR_KERNEL)
        abort();
    uf_free(f);
}

static void plans(void) {
    uf_func *add = loaded("add");
    uf_plan *plan;
    MUST(uf_plan_new(&plan, add, 3, (DLTensor[]){UF_ARRAY(x, LARGE), UF_ARRAY(y, LARGE), UF_ARRAY(z, LARGE)}, NULL));
    MUST(uf_plan_run(plan, (void *[]){x, y, z}, NULL));
    MUST(uf_plan_run(plan, (void *[]){x, y, x + 3}, NULL));
    uf_plan_free(plan);
    uf_free(add);
}

static void copies(void) {
    DLManagedTensor *m;
    MUST(uf_empty(&m, cpu, (DLDataType){kDLFloat, 64, 1}, 2, (int64_t[]){300, 2000}));
    MUST(uf_copy(&m->dl_tensor, &UF_ARRAY(x, 300, 2000), NULL));
    MUST(uf_copy(&UF_ARRAY(x + 1, N), &UF_ARRAY(x, N), NULL));
    MUST(uf_sync(cpu, NULL));
    m->deleter(m);
}

/* Texts that nest as deep as they may, and looking at things. */
static void texts(void) {
    uf_func *f;
    char deep[1024] = "(x) { return ", *text;
    for (int i = 0; i < 200; i++)
        strcat(deep, "(");
    strcat(deep, "x");
    for (int i = 0; i < 200; i++)
        strcat(deep, ")");
    strcat(deep, "; }");
    MUST(uf_vectorize(&f, "deep", "f->f", deep));
    for (int view = UF_VIEW_TREE; view <= UF_VIEW_RESOURCES; view++) {
        if (view == UF_VIEW_PTX)
            continue;
        MUST(uf_inspect(f, NULL, cpu, (uf_view)view, &text));
        free(text);
    }
    uf_free(f);
    for (int64_t i = 0; uf_catalogue(i); i++)
        uf_free(loaded(uf_catalogue(i)));
    MUST(uf_system_info(&text));
    free(text);
    if (uf_vectorize(&f, "f", "f->f", "(x) { return x +; }") != UF_ERR_SYNTAX ||
        UF_CALL(NULL, UF_ARRAY(x, 1)) != UF_ERR_ARGUMENT)
        abort();
}

/* More functions than are kept once nobody has them: code is let go of. */
static void many_functions(void) {
    for (int i = 0; i < 300; i++) {
        char source[64];
        uf_func *f;
        sprintf(source, "(x) { return x + %d; }", i);
        MUST(uf_vectorize(&f, "f", "f->f", source));
        MUST(UF_CALL(f, UF_ARRAY(x, N), UF_ARRAY(y, N)));
        uf_free(f);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} calls[] = {{"elementwise", elementwise},
             {"largest", largest},
             {"gufuncs", gufuncs},
             {"reductions", reductions},
             {"large_states", large_states},
             {"scans", scans},
             {"updates", updates},
             {"kernels", kernels},
             {"local_arrays", local_arrays},
             {"live_values", live_values},
             {"call_chains", call_chains},
             {"debugging", debugging},
             {"plans", plans},
             {"copies", copies},
             {"texts", texts},
             {"many_functions", many_functions}};

/* ---- A thread with little stack ---- */

static size_t stack_size;
static unsigned char *stack;
static size_t used[sizeof calls / sizeof *calls];

/* Bytes below `top` that have been written to since they were painted. */
static size_t written(const unsigned char *top) {
    const unsigned char *at = stack;
    while (*at == PAINT)
        at++;
    return (size_t)(top - at);
}

static void *run_all(void *unused) {
    unsigned char top;
    for (int round = 0; round < 2; round++) /* the second one compiles nothing */
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            if (!round && calls[i].run == many_functions) /* after which the code of the others is gone */
                continue;
            memset(stack, PAINT, (size_t)(&top - stack) - 1024);
            calls[i].run();
            size_t now = written(&top);
            used[i] = now > used[i] ? now : used[i];
            if (getenv("UF_TEST_STACK"))
                fprintf(stderr, "%s, round %d: %zu\n", calls[i].name, round, now);
        }
    return unused;
}

static void every_call(void **unused) {
    pthread_attr_t attributes;
    pthread_t thread;
    (void)unused;
    if (SANITIZED)
        skip();
    /* What the C library keeps at the top of a stack, the variables of threads among it, comes on top. */
    const char *given = getenv("UF_TEST_STACK"); /* KiB: to see how much calls take that need more */
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = given ? (size_t)atoi(given) << 10 : STACK;
    stack_size = (room + (size_t)sysconf(_SC_THREAD_STACK_MIN) + page - 1) / page * page;
    unsigned char *block = mmap(NULL, page + stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    assert_int_equal(mprotect(block, page, PROT_NONE), 0);
    stack = block + page;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, stack_size), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_all, NULL), 0);
    pthread_join(thread, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        print_message("%-14s %6zu bytes\n", calls[i].name, used[i]);
        assert_true(given || used[i] <= STACK);
    }
    munmap(block, page + stack_size);
}

int main(void) {
    for (int i = 0; i < LARGE; i++)
        x[i] = (float)(i % 10 + 1), y[i] = 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
