/* test_sizes.c - generalized ufuncs on batches whose core sizes become constants of the code (core/sizes.c): the same results as for
 * batches that are too small for that, but for the smallest cores, on random sizes around all bounds, with random strides, dtypes in
 * memory and broadcasting; and memory around the arrays that no access may touch. On the CPU; the GPU where UF_TEST_GPU=1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "draw.h"
#include "views.h"

enum {
    MOST_ARGS = 3,
    CALLS = 256, /* from so many on sizes are constants */
    FEW = 100
};

static const DLDataType F32 = {kDLFloat, 32, 1}, F64 = {kDLFloat, 64, 1}, I32 = {kDLInt, 32, 1};

/* A kernel; exact: on small whole numbers all orders of computing give the same. */
typedef struct kernel {
    const char *layout, *source; /* source NULL: layout is a function of the catalogue's */
    int nargs;
    const char *core[MOST_ARGS];
    bool exact;
} kernel;

static const kernel kernels[] = {
    {"matmul", NULL, 3, {"mn", "np", "mp"}, true},
    {"matvec", NULL, 3, {"mn", "n", "m"}, true},
    {"vecmat", NULL, 3, {"m", "mn", "n"}, true},
    {"cholesky", NULL, 2, {"nn", "nn"}, false},
    {"vecdot", NULL, 3, {"n", "n", ""}, true},
    {"outer", NULL, 3, {"m", "n", "mn"}, true},
    {"cross1d", NULL, 3, {"3", "3", "3"}, true},
    {"quat_mul", NULL, 3, {"4", "4", "4"}, true},
    {"solve", NULL, 3, {"nn", "n", "n"}, false},
    {"inv", NULL, 2, {"nn", "nn"}, false},
    {"det", NULL, 2, {"nn", ""}, false},
    {"softmax", NULL, 2, {"n", "n"}, false},
    /* products of other shapes, and with more in the statement */
    {"(m,n),(n,p)->(m,p)",
     "(a, b) -> (c) { forall (i : m, j : p) c[i][j] = 2 * sum(k : n, b[k][j] * a[i][k]) - b[0][j] * 3; }",
     3,
     {"mn", "np", "mp"},
     true},
    {"(m,n),(n,p)->(m,p)",
     "(a, b) -> (c) { forall (i : m, j : p) c[i][j] = sum(k : n, a[i][k] - b[k][j]); }",
     3,
     {"mn", "np", "mp"},
     true},
    {"(m,n),(p,n)->(m,p)",
     "(a, b) -> (c) { forall (i : m, j : p) c[i][j] = sum(k : n, a[i][k] * b[j][k]); }",
     3,
     {"mn", "pn", "mp"},
     true},
    /* elements that are not assigned, or not always */
    {"(n),(n)->(n)", "(x, y) -> (z) { z[0] = x[0] + y[n - 1]; }", 3, {"n", "n", "n"}, true},
    {"(n),(n)->(n)",
     "(x, y) -> (z) { for (int64 i = 0; i < n; i++) if (x[i] > y[i]) z[i] = x[i]; }",
     3,
     {"n", "n", "n"},
     true},
    {"(n),(n)->(n)", "(x, y) -> (z) { forall (i : n) z[i] += x[i] * y[n - 1 - i]; }", 3, {"n", "n", "n"}, true},
    /* indices that are data, within the array and beyond it; local arrays */
    {"(n),(n)->(n)",
     "(x, y) -> (z) { typeof(x[0]) t[5]; for (int64 i = 0; i < n; i++) t[(int64)fabs(x[i])] += y[i]; "
     "for (int64 i = 0; i < n; i++) z[i] = t[(int64)y[i]] + t[i] + x[(int64)x[i]]; }",
     3,
     {"n", "n", "n"},
     true},
    /* loops that leave early, and that end where data says: these cannot be unrolled */
    {"(n),(n)->()",
     "(x, y) -> (z) { for (int64 i = 0; i < n; i++) { if (x[i] == 3) break; if (y[i] < 0) continue; z += x[i] * y[i]; "
     "} }",
     3,
     {"n", "n", ""},
     true},
    {"(n),(n)->()",
     "(x, y) -> (z) { int64 i = 0; while (i < n && x[i] < 3) { z += y[i]; i++; } }",
     3,
     {"n", "n", ""},
     true},
    {"(n)->(n)",
     "(x) -> (z) { auto best = 0; for (int64 i = 1; i < n; i++) if (x[i] > x[best]) best = i; auto t = x[best]; "
     "forall (i : n) z[i] = x[i]; z[best] = x[0]; z[0] = t; switch ((int64)t) { case 1: z[0] = 7; case 2: z[n - 1] += "
     "1; break; "
     "default: z[0] -= 1; } }",
     2,
     {"n", "n"},
     true},
};

typedef struct problem {
    const kernel *k;
    uf_func *f;
    DLDataType type;
    int64_t size[3]; /* of m, n, p */
    int64_t calls;
    view arg[MOST_ARGS], want;
} problem;

static int64_t size_of(const problem *p, char letter) {
    return letter >= 'm' ? p->size[letter == 'm' ? 0 : letter == 'n' ? 1 : 2] : letter - '0';
}

static double get(DLDataType t, const void *at) {
    return t.code == kDLInt ? *(const int32_t *)at : t.bits == 32 ? (double)*(const float *)at : *(const double *)at;
}

static void put(DLDataType t, void *at, double x) {
    if (t.code == kDLInt)
        *(int32_t *)at = (int32_t)x;
    else if (t.bits == 32)
        *(float *)at = (float)x;
    else
        *(double *)at = x;
}

static void draw_view(const problem *p, view *v, const char *core, bool broadcast, bool plain) {
    int64_t shape[1 + 8] = {broadcast ? 1 : p->calls};
    int rank = (int)strlen(core), bytes = p->type.bits / 8;
    for (int d = 0; d < rank; d++)
        shape[1 + d] = size_of(p, core[d]);
    (plain ? view_make_plain : view_make)(v, p->type, 1 + rank, shape);
    for (int64_t i = 0; i < v->elements; i++)
        put(p->type, v->block + i * bytes, p->k->exact ? (double)pick(-2, 4) : 1 + (double)pick(-400, 400) / 401);
}

/* Makes matrices positive definite, as Cholesky factors need: of others, what is NaN depends on the form. */
static void add_to_diagonal(const problem *p, const view *v) {
    const DLTensor *t = &v->host;
    int64_t n = p->size[1], step = t->strides ? t->strides[0] : n * n,
            diagonal = t->strides ? t->strides[1] + t->strides[2] : n + 1, bytes = p->type.bits / 8;
    for (int64_t c = 0; c < v->shape[0]; c++)
        for (int64_t i = 0; i < n; i++) {
            char *at = (char *)t->data + t->byte_offset + (c * step + i * diagonal) * bytes;
            put(p->type, at, get(p->type, at) + 4 * (double)n);
        }
}

static void draw_problem(problem *p) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65};
    memset(p, 0, sizeof *p);
    p->k = &kernels[pick(0, (int64_t)(sizeof kernels / sizeof *kernels) - 1)];
    p->type = p->k->exact && p->k->source && chance(20) ? I32 : chance(50) ? F32 : F64;
    int64_t same = sizes[chance(70) ? pick(0, 8) : pick(0, 18)];
    for (int i = 0; i < 3; i++)
        p->size[i] = chance(50) ? same : pick(1, 9);
    if (!p->k->exact && p->size[1] > 9)
        p->size[1] = 9; /* well enough conditioned */
    p->calls = CALLS + pick(0, 200);
    bool plain = chance(60);
    int last = p->k->nargs - 1;
    for (int k = 0; k <= last; k++)
        draw_view(p, &p->arg[k], p->k->core[k], k < last && last > 1 && chance(10), plain);
    if (!strcmp(p->k->layout, "cholesky"))
        add_to_diagonal(p, &p->arg[0]);
    view_copy(&p->want, &p->arg[last]);
    if (p->k->source) {
        char signature[32];
        const char *name = p->type.code == kDLInt ? "int32" : p->type.bits == 32 ? "float32" : "float64";
        snprintf(signature, sizeof signature, last > 1 ? "%s,%s->%s" : "%s->%s", name, name, name);
        OK(uf_guvectorize(&p->f, "f", p->k->layout, signature, p->k->source));
    } else {
        OK(uf_load(&p->f, p->k->layout));
    }
}

/* The calls from `first` on, `count` of them, of an argument. */
static DLTensor some_calls(const view *v, DLTensor whole, int64_t first, int64_t count, int64_t *shape) {
    memcpy(shape, v->shape, sizeof v->shape);
    if (shape[0] == 1)
        return whole;
    int64_t stride = 1;
    for (int d = 1; d < whole.ndim; d++)
        stride *= v->shape[d];
    shape[0] = count;
    int64_t step = whole.strides ? whole.strides[0] : stride;
    whole.data = (char *)whole.data + first * step * (int64_t)(whole.dtype.bits / 8);
    whole.shape = shape;
    return whole;
}

/* What batches give that are too small. */
static void expect_few(problem *p) {
    int last = p->k->nargs - 1;
    for (int64_t first = 0; first < p->calls; first += FEW) {
        int64_t shape[MOST_ARGS][VIEW_RANK], count = p->calls - first < FEW ? p->calls - first : FEW;
        DLTensor args[MOST_ARGS];
        for (int k = 0; k <= last; k++) {
            const view *v = k == last ? &p->want : &p->arg[k];
            args[k] = some_calls(v, v->host, first, count, shape[k]);
        }
        OK(uf_call(p->f, p->k->nargs, args, NULL));
    }
}

static bool alike(const problem *p, double a, double b) {
    if (p->k->exact)
        return a == b;
    return fabs(a - b) <= (p->type.bits == 32 ? 2e-2 : 1e-6) * (fabs(b) + 1) || (!isfinite(a) && !isfinite(b));
}

static void try_one(void) {
    static problem p;
    draw_problem(&p);
    int last = p.k->nargs - 1, bytes = p.type.bits / 8, errors = 0;
    DLTensor args[MOST_ARGS];
    expect_few(&p);
    for (int k = 0; k <= last; k++) {
        GOOD(view_send(&p.arg[k]));
        args[k] = p.arg[k].used;
    }
    if (chance(30)) {
        uf_plan *plan;
        void *data[MOST_ARGS];
        OK(uf_plan_new(&plan, p.f, p.k->nargs, args, NULL));
        for (int k = 0; k <= last; k++)
            data[k] = (char *)args[k].data + args[k].byte_offset;
        OK(uf_plan_run(plan, data, NULL));
        OK(uf_sync(args[0].device, NULL));
        uf_plan_free(plan);
    } else {
        OK(uf_call(p.f, p.k->nargs, args, NULL));
    }
    GOOD(view_fetch(&p.arg[last]));
    for (int64_t i = 0; i < p.arg[last].elements; i++)
        errors += !alike(&p, get(p.type, p.arg[last].block + i * bytes), get(p.type, p.want.block + i * bytes));
    if (errors)
        fail_msg("%s %s: %d elements of %lld are wrong; m %lld, n %lld, p %lld, %lld calls, %d bits", p.k->layout,
                 p.k->source ? p.k->source : "", errors, (long long)p.arg[last].elements, (long long)p.size[0],
                 (long long)p.size[1], (long long)p.size[2], (long long)p.calls, p.type.bits);
    for (int k = 0; k <= last; k++)
        view_free(&p.arg[k]);
    view_free(&p.want);
    uf_free(p.f);
}

static void random_sizes(void **state) {
    const char *given = getenv("PROP_N");
    (void)state;
    for (int i = 0; i < (given ? atoi(given) : 1) * 60; i++)
        try_one();
}

/* Memory that ends where an array ends, and begins where it begins. */
static float *guarded(int64_t count, bool at_end, void **map, size_t *length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 4 * (size_t)count, whole = (bytes + page - 1) / page * page;
    *length = whole + 2 * page;
    *map = mmap(NULL, *length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*map != MAP_FAILED);
    assert_int_equal(mprotect((char *)*map + page, whole, PROT_READ | PROT_WRITE), 0);
    return (float *)(void *)((char *)*map + page + (at_end ? whole - bytes : 0));
}

/* Arrays of float32 of a shape of rank 3, next to memory that no access may touch. */
typedef struct guarded_arrays {
    int64_t shape[3], count;
    void *map[3];
    size_t length[3];
    DLTensor args[3];
} guarded_arrays;

static void guarded_begin(guarded_arrays *g, int n, const int64_t *shape, bool at_end) {
    memcpy(g->shape, shape, sizeof g->shape);
    g->count = shape[0] * shape[1] * shape[2];
    for (int k = 0; k < n; k++)
        g->args[k] = (DLTensor){.data = guarded(g->count, at_end, &g->map[k], &g->length[k]),
                                .device = {kDLCPU, 0},
                                .ndim = 3,
                                .dtype = F32,
                                .shape = g->shape};
}

static void guarded_end(const guarded_arrays *g, int n) {
    for (int k = 0; k < n; k++)
        munmap(g->map[k], g->length[k]);
}

static void guard_pages(void **state) {
    (void)state;
    uf_func *f;
    if (views_on_gpu())
        skip();
    OK(uf_load(&f, "matmul"));
    for (int64_t n = 1; n <= 40; n += n < 20 ? 1 : 7)
        for (int at_end = 0; at_end < 2; at_end++) {
            guarded_arrays g;
            guarded_begin(&g, 3, (int64_t[]){CALLS, n, n}, at_end);
            for (int64_t i = 0; i < g.count; i++)
                ((float *)g.args[0].data)[i] = ((float *)g.args[1].data)[i] = 1;
            OK(uf_call(f, 3, g.args, NULL));
            for (int64_t i = 0; i < g.count; i++)
                assert_true(((float *)g.args[2].data)[i] == (float)n);
            guarded_end(&g, 3);
        }
    uf_free(f);
}

/* The same of inverses, whose calls go by lanes that are no whole number of vectors. */
static void guarded_lanes(void **state) {
    (void)state;
    uf_func *f;
    if (views_on_gpu())
        skip();
    OK(uf_load(&f, "inv"));
    for (int64_t n = 1; n <= 8; n++)
        for (int at_end = 0; at_end < 2; at_end++) {
            guarded_arrays g;
            guarded_begin(&g, 2, (int64_t[]){CALLS + n, n, n}, at_end);
            for (int64_t i = 0; i < g.count; i++)
                ((float *)g.args[0].data)[i] = i % (n * n) % (n + 1) ? 0 : 2;
            OK(uf_call(f, 2, g.args, NULL));
            for (int64_t i = 0; i < g.count; i++)
                assert_true(((float *)g.args[1].data)[i] == (i % (n * n) % (n + 1) ? 0 : 0.5F));
            guarded_end(&g, 2);
        }
    uf_free(f);
}

/* A program that meets many sizes: results are right, whatever was called before. */
static void many_sizes(void **state) {
    (void)state;
    uf_func *f;
    static double x[300 * 20], y[300], want;
    OK(uf_guvectorize(&f, "f", "(n)->()", "float64->float64", "(x) -> (s) { s = sum(i : n, x[i] * i); }"));
    for (int i = 0; i < 300 * 20; i++)
        x[i] = i % 7;
    for (int round = 0; round < 2; round++)
        for (int64_t n = 1; n <= 20; n++) {
            DLTensor args[] = {UF_ARRAY(x, 300, n), UF_ARRAY(y, 300)};
            if (!views_on_gpu())
                OK(uf_call(f, 2, args, NULL));
            for (int64_t c = 0; c < 300 && !views_on_gpu(); c++) {
                want = 0;
                for (int64_t i = 0; i < n; i++)
                    want += x[c * n + i] * (double)i;
                assert_true(y[c] == want);
            }
        }
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(random_sizes, draw_seed), cmocka_unit_test(guard_pages),
                                       cmocka_unit_test(guarded_lanes), cmocka_unit_test(many_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
