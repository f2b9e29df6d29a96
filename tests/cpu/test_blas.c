/* test_blas.c - OpenBLAS beside generated code. Operands hold small integers, so that every sum is exact in any order
 * and results must be equal to the bit: to a plain loop here, and so to each other. Outputs are NaN before, and what
 * lies between their elements must stay. A process opens the library once; other ways to find it, or not, get processes
 * of their own (this program again, steered by the variables CHILD and UFUNC_OPENBLAS). */
#include <complex.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/blas.h"

#include <cmocka.h> /* last: its macro fail() is not ours */

#include "draw.h"

enum {
    LOOPS = 3,
    FORMS = BLAS_GEVMC + 1,
    EDGE = 16 /* elements around each operand */
};

static const dtype types[] = {DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};

/* clang-format off */
static const struct {
    const char *name, *dims[3], *layout, *source;
} forms[FORMS] = {
    [BLAS_GEMM]  = {"gemm", {"mn", "np", "mp"}, "(m?,n),(n,p?)->(m?,p?)",
                    "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }"},
    [BLAS_GEMV]  = {"gemv", {"mn", "n", "m"}, "(m,n),(n)->(m)",
                    "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }"},
    [BLAS_GEVM]  = {"gevm", {"n", "np", "p"}, "(n),(n,p)->(p)",
                    "(x, A) -> (y) { forall (i : p) y[i] = sum(j : n, x[j] * A[j][i]); }"},
    [BLAS_DOT]   = {"dot", {"n", "n", ""}, "(n),(n)->()", "(x, y) -> (r) { r = sum(i : n, x[i] * y[i]); }"},
    [BLAS_DOTC]  = {"dotc", {"n", "n", ""}, "(n),(n)->()", "(x, y) -> (r) { r = sum(i : n, conj(x[i]) * y[i]); }"},
    [BLAS_GER]   = {"ger", {"m", "p", "mp"}, "(m),(p)->(m,p)",
                    "(x, y) -> (r) { forall (i : m, j : p) r[i][j] = x[i] * y[j]; }"},
    [BLAS_GEVMC] = {"gevmc", {"n", "np", "p"}, "(n),(n,p)->(p)",
                    "(x, A) -> (y) { forall (i : p) y[i] = sum(j : n, conj(x[j]) * A[j][i]); }"},
};
/* clang-format on */

static bool conjugates(blas_form form) { return form == BLAS_DOTC || form == BLAS_GEVMC; }

/* ---- Operands ---- */

typedef struct operand {
    int64_t loop[LOOPS], core[3]; /* strides in elements; core by letter: m, n, p */
    int64_t span, first;          /* elements of the buffer without its edges; the first element among them */
    char *buffer;
    char *data;
} operand;

typedef struct problem {
    blas_form form;
    dtype type;
    int64_t extent[3]; /* m, n, p; 1 where the form has none */
    int ndim;
    int64_t loop[LOOPS];
    operand operand[3];
} problem;

static int letter_of(char c) { return c == 'm' ? 0 : c == 'n' ? 1 : 2; }

static double complex get(dtype t, const char *at) {
    switch (t) {
    case DT_FLOAT32:
        return *(const float *)at;
    case DT_FLOAT64:
        return *(const double *)at;
    case DT_COMPLEX64:
        return *(const float complex *)at;
    default:
        return *(const double complex *)at;
    }
}

static void put(dtype t, char *at, double complex v) {
    switch (t) {
    case DT_FLOAT32:
        *(float *)at = (float)creal(v);
        break;
    case DT_FLOAT64:
        *(double *)at = creal(v);
        break;
    case DT_COMPLEX64:
        *(float complex *)at = (float complex)v;
        break;
    default:
        *(double complex *)at = v;
        break;
    }
}

/* Strides for dimensions in a random order, the core ones innermost more often than not. wild: gaps, negative and zero
 * strides too. */
static void draw_strides(problem *q, int k, bool wild) {
    operand *o = &q->operand[k];
    int64_t *stride[LOOPS + 3], extent[LOOPS + 3], next = wild && chance(20) ? pick(2, 3) : 1;
    int n = 0, ncore;
    const char *dims = forms[q->form].dims[k];
    memset(o, 0, sizeof *o);
    for (; *dims; dims++) {
        stride[n] = &o->core[letter_of(*dims)];
        extent[n++] = q->extent[letter_of(*dims)];
    }
    ncore = n;
    for (int d = 0; d < q->ndim; d++)
        if (k == 2 || !wild || !chance(30)) {
            stride[n] = &o->loop[d];
            extent[n++] = q->loop[d];
        }
    bool mixed = wild && chance(30);
    for (int i = n - 1; wild && i > 0; i--) {
        int j = (int)(mixed || i < ncore ? pick(0, i) : pick(ncore, i)); /* shuffle each kind, or all */
        int64_t *s = stride[i], e = extent[i];
        stride[i] = stride[j], extent[i] = extent[j];
        stride[j] = s, extent[j] = e;
    }
    if (!wild && ncore == 2) { /* C order */
        int64_t *s = stride[0], e = extent[0];
        stride[0] = stride[1], extent[0] = extent[1];
        stride[1] = s, extent[1] = e;
    }
    o->span = 1;
    for (int i = 0; i < n; i++) {
        bool core = stride[i] >= o->core && stride[i] < o->core + 3;
        *stride[i] = extent[i] == 1 ? 0 : next;
        if (wild && k < 2 && core && chance(2))
            *stride[i] = 0;
        if (wild && chance(core ? 4 : 15)) {
            *stride[i] = -*stride[i];
            o->first -= *stride[i] * (extent[i] - 1);
        }
        o->span += (*stride[i] < 0 ? -*stride[i] : *stride[i]) * (extent[i] - 1);
        next = next * extent[i] + (wild && chance(20) ? pick(1, 5) : 0);
    }
}

static void make_operand(problem *q, int k, bool wild) {
    operand *o = &q->operand[k];
    size_t size = dtypes[q->type].size;
    draw_strides(q, k, wild);
    size_t bytes = (size_t)(o->span + 2 * EDGE) * size;
    o->buffer = malloc(bytes);
    assert_non_null(o->buffer);
    o->data = o->buffer + (size_t)(EDGE + o->first) * size;
    memset(o->buffer, 0xff, bytes); /* NaN */
    for (int64_t i = 0; k < 2 && i < o->span; i++)
        put(q->type, o->buffer + (size_t)(EDGE + i) * size, (double)pick(-8, 8) + (double)pick(-8, 8) * I);
}

static void problem_free(problem *q) {
    for (int k = 0; k < 3; k++)
        free(q->operand[k].buffer);
}

static char *at(const problem *q, int k, const int64_t *loop, int64_t m, int64_t n, int64_t p) {
    const operand *o = &q->operand[k];
    int64_t offset = m * o->core[0] + n * o->core[1] + p * o->core[2];
    for (int d = 0; d < q->ndim; d++)
        offset += loop[d] * o->loop[d];
    return o->data + offset * (int64_t)dtypes[q->type].size;
}

static void naive_inner(const problem *q, const int64_t *loop, char *shift_to, const char *shift_from) {
    for (int64_t i = 0; i < q->extent[0]; i++)
        for (int64_t j = 0; j < q->extent[2]; j++) {
            double complex sum = 0;
            for (int64_t n = 0; n < q->extent[1]; n++) {
                double complex x = get(q->type, at(q, 0, loop, i, n, j)), y = get(q->type, at(q, 1, loop, i, n, j));
                double re = creal(x), im = conjugates(q->form) ? -cimag(x) : cimag(x);
                sum += re * creal(y) - im * cimag(y) + (re * cimag(y) + im * creal(y)) * I;
            }
            put(q->type, shift_to + (at(q, 2, loop, i, 0, j) - shift_from), sum);
        }
}

/* What the whole buffer of the output must be. */
static char *expected(const problem *q) {
    const operand *o = &q->operand[2];
    size_t bytes = (size_t)(o->span + 2 * EDGE) * dtypes[q->type].size;
    char *want = malloc(bytes);
    assert_non_null(want);
    memset(want, 0xff, bytes);
    int64_t index[LOOPS] = {0};
    for (int d = 0; d < q->ndim;) {
        if (d == 0)
            naive_inner(q, index, want, o->buffer);
        if (++index[d] < q->loop[d])
            d = 0;
        else
            index[d++] = 0;
    }
    if (!q->ndim)
        naive_inner(q, index, want, o->buffer);
    return want;
}

/* Equal but for the sign of zero. */
static void compare(const problem *q, const char *got, const char *want) {
    size_t component = dtypes[dtypes[q->type].component].size;
    size_t n = (size_t)(q->operand[2].span + 2 * EDGE) * dtypes[q->type].size / component;
    for (size_t i = 0; i < n; i++) {
        dtype t = component == 4 ? DT_FLOAT32 : DT_FLOAT64;
        const char *a = got + i * component, *b = want + i * component;
        if (memcmp(a, b, component) && !(creal(get(t, a)) == creal(get(t, b))))
            fail_msg("%s of %s, m n p %lld %lld %lld, %d loops: component %zu of %zu is %g, not %g",
                     forms[q->form].name, dtypes[q->type].name, (long long)q->extent[0], (long long)q->extent[1],
                     (long long)q->extent[2], q->ndim, i, n, creal(get(t, a)), creal(get(t, b)));
    }
}

/* ---- Launches ---- */

static bool launch_problem(const problem *q, int threads) {
    static const layout_dim dims[3] = {{.name = "m"}, {.name = "n"}, {.name = "p"}};
    layout_operand operands[3] = {{0}};
    core_layout layout = {.nin = 2, .nout = 1, .ndims = 3, .dims = dims, .operands = operands};
    int64_t words[16], extent[LOOPS + 1] = {1}, stride[(LOOPS + 1) * 3] = {0}, offset[3] = {0};
    variant v = {.loop = LOOP_GUFUNC, .nin = 2, .nout = 1};
    char *data[3];
    memcpy(words, q->extent, sizeof q->extent);
    layout.nparameters = 3;
    for (int k = 0; k < 3; k++) {
        v.operand[k] =
            (variant_operand){.memory = (uint8_t)q->type, .value = (uint8_t)q->type, .kind = OPERAND_STRIDED};
        operands[k].strides = layout.nparameters;
        for (const char *c = forms[q->form].dims[k]; *c; c++) {
            operands[k].dim[operands[k].rank++] = (uint8_t)letter_of(*c);
            words[layout.nparameters++] = q->operand[k].core[letter_of(*c)];
        }
        for (int d = 0; d < q->ndim; d++)
            stride[d * 3 + k] = q->operand[k].loop[d];
        data[k] = q->operand[k].data;
    }
    nd_loop loop = {.ndim = q->ndim ? q->ndim : 1,
                    .narrays = 3,
                    .count = 1,
                    .extent = extent,
                    .stride = stride,
                    .offset = offset,
                    .loop = LOOP_GUFUNC};
    for (int d = 0; d < q->ndim; d++) {
        extent[d] = q->loop[d];
        loop.count *= q->loop[d];
    }
    return blas_launch(&(launch){
        .v = &v, .loop = &loop, .data = data, .threads = threads, .layout = &layout, .core = words, .blas = q->form});
}

static bool has(blas_form form, char c) {
    return strchr(forms[form].dims[0], c) || strchr(forms[form].dims[1], c) || strchr(forms[form].dims[2], c);
}

static problem problem_of(blas_form form, dtype type, int64_t m, int64_t n, int64_t p) {
    problem q = {.form = form, .type = type};
    q.extent[0] = has(form, 'm') ? m : 1;
    q.extent[1] = has(form, 'n') ? n : 1;
    q.extent[2] = has(form, 'p') ? p : 1;
    return q;
}

static void fill(problem *q, bool wild) {
    for (int k = 0; k < 3; k++)
        make_operand(q, k, wild);
}

/* OpenBLAS computes it and the result is right, or it declines and leaves the output alone. */
static bool try_problem(const problem *q, int threads) {
    bool ran = launch_problem(q, threads);
    char *want = expected(q);
    if (!ran)
        memset(want, 0xff, (size_t)(q->operand[2].span + 2 * EDGE) * dtypes[q->type].size);
    compare(q, q->operand[2].buffer, want);
    free(want);
    return ran;
}

static bool present(void) {
    static int known = -1;
    if (known < 0) {
        void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (!lib && !getenv("UFUNC_OPENBLAS")) {
            pid_t child = fork(); /* so that this process does not count as having had it */
            if (!child)
                _exit(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) ? 0 : 1);
            int status = 1;
            waitpid(child, &status, 0);
            known = status == 0;
        } else {
            known = 1;
        }
    }
    if (!known)
        print_message("no libopenblas.so.0 here (Debian: libopenblas0-pthread)\n");
    return known;
}

/* ---- Tests ---- */

static void every_form(void **unused) {
    (void)unused;
    if (!present())
        skip();
    for (int form = BLAS_GEMM; form < FORMS; form++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (int round = 0; round < 3; round++) {
                problem q = problem_of((blas_form)form, types[t], round == 1 ? 1 : 130, round ? 700 : 90, 75);
                if (form == BLAS_DOT || form == BLAS_DOTC)
                    q.extent[1] = 3000;
                q.ndim = round;
                q.loop[0] = 2, q.loop[1] = 3;
                fill(&q, false);
                bool dot = form == BLAS_DOT || form == BLAS_DOTC || (form == BLAS_GEMV && round == 1);
                bool want = form != BLAS_GER && !(dot && !dtype_is_complex(types[t]));
                if (try_problem(&q, round) != want)
                    fail_msg("%s of %s, round %d: OpenBLAS %s it", forms[form].name, dtypes[types[t]].name, round,
                             want ? "declined" : "computed");
                problem_free(&q);
            }
}

static void random_problems(void **unused) {
    (void)unused;
    if (!present())
        skip();
    int ran[FORMS] = {0}, tried[FORMS] = {0};
    for (int64_t k = trials(600); k; k--) {
        blas_form form = (blas_form)pick(BLAS_GEMM, FORMS - 1);
        int64_t most = form == BLAS_GEMM                       ? 48
                       : form == BLAS_GER                      ? 60
                       : form == BLAS_DOT || form == BLAS_DOTC ? 2000
                                                               : 200;
        problem q = problem_of(form, types[pick(0, 3)], chance(10) ? 1 : pick(2, most),
                               chance(10) ? 1 : pick(most / 4, most), chance(10) ? 1 : pick(2, most));
        q.ndim = (int)pick(0, LOOPS);
        for (int d = 0; d < q.ndim; d++)
            q.loop[d] = pick(1, 3);
        fill(&q, true);
        tried[form]++;
        ran[form] += try_problem(&q, (int)pick(0, 4));
        problem_free(&q);
    }
    for (int form = BLAS_GEMM; form < FORMS; form++) {
        print_message("%s: OpenBLAS computed %d of %d\n", forms[form].name, ran[form], tried[form]);
        if (form != BLAS_GER && tried[form] > 50)
            assert_true(ran[form] > 5);
    }
}

/* Nothing to add up, nothing to write, an inner call or no loop at all: generated code's. */
static void empty(void **unused) {
    (void)unused;
    for (int which = 0; which < 3; which++) {
        problem q = problem_of(BLAS_GEMM, DT_FLOAT64, 100, 100, 100);
        fill(&q, false);
        q.extent[which] = 0;
        assert_false(launch_problem(&q, 1));
        problem_free(&q);
    }
    problem q = problem_of(BLAS_GEMM, DT_FLOAT64, 100, 100, 100);
    fill(&q, false);
    q.ndim = 1;
    q.loop[0] = 0;
    assert_false(launch_problem(&q, 1));
    problem_free(&q);
}

/* Operands whose loop stands still make a matrix of vectors. */
static void folding(void **unused) {
    (void)unused;
    if (!present())
        skip();
    for (size_t t = 0; t < COUNT(types); t++)
        for (int form = BLAS_GEMM; form < FORMS; form++)
            for (int still = 0; still < 2; still++) {
                problem q = problem_of((blas_form)form, types[t], 6, 10, 6);
                q.ndim = 1;
                q.loop[0] = 150;
                fill(&q, false);
                q.operand[still].loop[0] = 0;
                bool lines_up = !(still == 0 && strcmp(forms[form].dims[1], "np") == 0); /* columns of C */
                bool want = form != BLAS_GER && lines_up;
                if (try_problem(&q, 0) != want)
                    fail_msg("%s of %s, operand %d: %s", forms[form].name, dtypes[types[t]].name, still,
                             want ? "declined" : "computed");
                problem_free(&q);
            }
}

static void random_reals(problem *q) {
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < q->operand[k].span; i++)
            put(q->type, q->operand[k].buffer + (size_t)(EDGE + i) * dtypes[q->type].size,
                (double)draw_bits() / 0x1p53 + (double)draw_bits() / 0x1p53 * I);
}

/* Large products are cut; the cut depends on sizes alone, and so do the results. */
static void large(void **unused) {
    (void)unused;
    if (!present())
        skip();
    static const struct {
        blas_form form;
        int64_t m, n, p;
    } cases[] = {{BLAS_GEMM, 1100, 24, 600}, {BLAS_GEMV, 3000, 300, 1}, {BLAS_GEVM, 1, 300, 3000},
                 {BLAS_GEVMC, 1, 300, 3000}, {BLAS_DOT, 1, 1 << 20, 1}, {BLAS_GEMM, 513, 30, 1}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t t = 0; t < COUNT(types); t++) {
            problem q = problem_of(cases[i].form, types[t], cases[i].m, cases[i].n, cases[i].p);
            fill(&q, false);
            bool ran = q.form != BLAS_DOT || dtype_is_complex(q.type);
            if (q.extent[1] < 1 << 18)
                assert_true(try_problem(&q, 3));
            random_reals(&q);
            size_t bytes = (size_t)(q.operand[2].span + 2 * EDGE) * dtypes[q.type].size;
            char *first = malloc(bytes);
            for (int threads = 0; threads < 5; threads++) {
                memset(q.operand[2].buffer, 0xff, bytes);
                assert_true(launch_problem(&q, threads) == ran);
                if (threads == 0)
                    memcpy(first, q.operand[2].buffer, bytes);
                assert_memory_equal(first, q.operand[2].buffer, bytes);
            }
            free(first);
            problem_free(&q);
        }
}

/* What is not BLAS's: other dtypes, casts, numbers. */
static void not_ours(void **unused) {
    (void)unused;
    problem q = problem_of(BLAS_GEMM, DT_FLOAT64, 64, 64, 64);
    fill(&q, false);
    q.type = DT_INT64;
    assert_false(launch_problem(&q, 1));
    const variant one_number = {.loop = LOOP_GUFUNC,
                                .nin = 2,
                                .nout = 1,
                                .operand = {{.memory = DT_FLOAT64, .value = DT_FLOAT64, .kind = OPERAND_NUMBER},
                                            {.memory = DT_FLOAT64, .value = DT_FLOAT64, .kind = OPERAND_STRIDED},
                                            {.memory = DT_FLOAT64, .value = DT_FLOAT64, .kind = OPERAND_STRIDED}}};
    variant cast = one_number;
    cast.operand[0] = (variant_operand){.memory = DT_FLOAT32, .value = DT_FLOAT64, .kind = OPERAND_STRIDED};
    assert_false(blas_launch(&(launch){.v = &one_number, .blas = BLAS_DOT}));
    assert_false(blas_launch(&(launch){.v = &cast, .blas = BLAS_GEMM}));
    assert_false(blas_launch(&(launch){.v = &cast}));
    problem_free(&q);
}

/* ---- Calls ---- */

/* The operand as an array: loop dimensions, then core dimensions, those that are missing left out. */
static DLTensor array_of(const problem *q, int k, bool no_m, bool no_p, int64_t *shape, int64_t *strides) {
    const operand *o = &q->operand[k];
    int n = 0;
    for (int d = q->ndim - 1; d >= 0; d--) {
        shape[n] = o->loop[d] || k == 2 ? q->loop[d] : 1;
        strides[n++] = o->loop[d];
    }
    for (const char *c = forms[q->form].dims[k]; *c; c++)
        if (!((no_m && *c == 'm') || (no_p && *c == 'p'))) {
            shape[n] = q->extent[letter_of(*c)];
            strides[n++] = o->core[letter_of(*c)];
        }
    return (DLTensor){.data = o->data,
                      .device = {kDLCPU, 0},
                      .ndim = n,
                      .dtype = dtypes[q->type].dl,
                      .shape = shape,
                      .strides = strides};
}

static void call_problem(const uf_func *f, const problem *q, bool no_m, bool no_p) {
    int64_t shape[3][LOOPS + 2], strides[3][LOOPS + 2];
    DLTensor args[3];
    const uf_options options = {.size = sizeof options, .threads = (int)pick(0, 3)};
    for (int k = 0; k < 3; k++)
        args[k] = array_of(q, k, no_m, no_p, shape[k], strides[k]);
    if (uf_call(f, 3, args, &options))
        fail_msg("%s of %s: %s", forms[q->form].name, dtypes[q->type].name, uf_last_error()->message);
    char *want = expected(q);
    compare(q, q->operand[2].buffer, want);
    free(want);
}

static uf_func *define(blas_form form) {
    uf_func *f;
    const uf_section section = {"float32,float32->float32; float64,float64->float64; complex64,complex64->complex64; "
                                "complex128,complex128->complex128",
                                forms[form].source};
    if (uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                       .name = forms[form].name,
                                       .nsections = 1,
                                       .sections = &section,
                                       .layout = forms[form].layout,
                                       .blas = forms[form].name}))
        fail_msg("%s", uf_last_error()->message);
    return f;
}

/* From registration to result, sizes on both sides of those that pay. Without OpenBLAS (in a process of its own) the
 * same problems go through generated code alone. */
static void calls(void **unused) {
    (void)unused;
    for (int form = BLAS_GEMM; form < FORMS; form++) {
        uf_func *f = define((blas_form)form);
        for (int64_t k = trials(12); k; k--) { /* most of them are a variant to compile */
            int64_t most = form == BLAS_GEMM ? 24 : form == BLAS_DOT || form == BLAS_DOTC ? 400 : 60;
            problem q = problem_of((blas_form)form, types[k % 4], chance(15) ? 1 : pick(1, most), pick(1, most),
                                   chance(15) ? 1 : pick(1, most));
            q.ndim = (int)pick(0, LOOPS);
            for (int d = 0; d < q.ndim; d++)
                q.loop[d] = pick(1, 3);
            fill(&q, true);
            bool optional = form == BLAS_GEMM && !q.ndim; /* else the last loop dimension would be taken for it */
            call_problem(f, &q, optional && q.extent[0] == 1 && chance(50), optional && q.extent[2] == 1 && chance(50));
            problem_free(&q);
        }
        uf_free(f);
    }
}

static atomic_bool stop;
static void *multiply_on_and_on(void *user) {
    while (!atomic_load(&stop))
        launch_problem(user, 1);
    return NULL;
}

static void forks(void **unused) {
    (void)unused;
    if (!present())
        skip();
    problem a = problem_of(BLAS_GEMM, DT_FLOAT32, 96, 96, 96), b = problem_of(BLAS_GEMM, DT_COMPLEX128, 40, 40, 40);
    fill(&a, false);
    fill(&b, false);
    pthread_t thread;
    int status = 0;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, multiply_on_and_on, &a), 0);
    for (int k = 0; k < 30 && !status; k++) {
        usleep(1000);
        pid_t child = fork();
        if (!child) {
            alarm(30);
            _exit(launch_problem(&b, 2) ? 0 : 1);
        }
        if (waitpid(child, &status, 0) != child)
            status = -1;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    problem_free(&a);
    problem_free(&b);
}

typedef struct caller {
    pthread_t thread;
    problem q;
    char *want;
    bool right;
} caller;

static void *check_on_and_on(void *user) {
    caller *c = user;
    const operand *out = &c->q.operand[2];
    size_t bytes = (size_t)(out->span + 2 * EDGE) * sizeof(float);
    c->right = true;
    for (int k = 0; k < 100; k++) {
        memset(out->buffer, 0xff, bytes);
        c->right &= launch_problem(&c->q, k % 3) && !memcmp(out->buffer, c->want, bytes);
    }
    return NULL;
}

static void many_callers(void **unused) {
    (void)unused;
    if (!present())
        skip();
    enum {
        CALLERS = 8
    };
    caller callers[CALLERS];
    for (int k = 0; k < CALLERS; k++) {
        callers[k].q = problem_of(BLAS_GEMM, DT_FLOAT32, 70, 50, 60);
        fill(&callers[k].q, false);
        callers[k].want = expected(&callers[k].q);
    }
    for (int k = 0; k < CALLERS; k++)
        assert_int_equal(pthread_create(&callers[k].thread, NULL, check_on_and_on, &callers[k]), 0);
    for (int k = 0; k < CALLERS; k++)
        pthread_join(callers[k].thread, NULL);
    for (int k = 0; k < CALLERS; k++) {
        assert_true(callers[k].right);
        free(callers[k].want);
        problem_free(&callers[k].q);
    }
}

static int library_threads(void) {
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    int (*get_threads)(void);
    assert_non_null(lib);
    *(void **)&get_threads = dlsym(lib, "openblas_get_num_threads");
    assert_non_null(*(void **)&get_threads);
    int n = get_threads();
    dlclose(lib);
    return n;
}

static void information(void **unused) {
    (void)unused;
    if (!present())
        skip();
    text info = {0};
    blas_info(&info);
    assert_non_null(strstr(info.data, "libopenblas"));
    assert_null(strstr(info.data, "missing"));
    if (!getenv("CHILD"))
        assert_int_equal(library_threads(), 1);
    text_free(&info);
}

/* ---- Processes of their own ---- */

static int run_child(const char *role, const char *library) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        setenv("CHILD", role, 1);
        if (library)
            setenv("UFUNC_OPENBLAS", library, 1);
        if (strcmp(role, "old") == 0)
            setenv("OPENBLAS_CORETYPE", "Prescott", 1);
        execl("/proc/self/exe", "test_blas", (char *)NULL);
        _exit(126);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* No library, or one of another kind: products are declined, and the information says why. */
static int child_missing(void) {
    problem q = problem_of(BLAS_GEMM, DT_FLOAT64, 64, 64, 64);
    text info = {0};
    fill(&q, false);
    bool declined = !try_problem(&q, 1) && !try_problem(&q, 1);
    problem_free(&q);
    blas_info(&info);
    const char *file = getenv("UFUNC_OPENBLAS");
    bool said = strstr(info.data, "missing: ") && strstr(info.data, file) &&
                (strstr(file, "libm") == NULL || strstr(info.data, "it has no function cblas_sgemm"));
    if (!said)
        print_message("%s", info.data);
    text_free(&info);
    return declined && said ? 0 : 1;
}

/* The host has OpenBLAS already, with two threads: so it stays, and it computes the same products, whatever threads a call may use. */
static int child_host(void) {
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*set_threads)(int);
    *(void **)&set_threads = lib ? dlsym(lib, "openblas_set_num_threads") : NULL;
    if (!set_threads)
        return 2;
    set_threads(2);
    problem small = problem_of(BLAS_GEMM, DT_FLOAT32, 40, 40, 40),
            big = problem_of(BLAS_GEMM, DT_FLOAT32, 150, 150, 150);
    fill(&small, false);
    fill(&big, false);
    bool right = try_problem(&big, 1) && try_problem(&big, 2) && try_problem(&small, 1) && library_threads() == 2;
    problem_free(&small);
    problem_free(&big);
    return right ? 0 : 1;
}

/* A library that takes this for an old processor computes matrices only, and the information says how to do better. */
static int child_old(void) {
    problem matrix = problem_of(BLAS_GEMM, DT_FLOAT32, 40, 40, 40),
            vector = problem_of(BLAS_GEMV, DT_FLOAT32, 90, 90, 1);
    text info = {0};
    fill(&matrix, false);
    fill(&vector, false);
    bool right = try_problem(&matrix, 1) && !try_problem(&vector, 1);
    blas_info(&info);
    right &= strstr(info.data, "OPENBLAS_CORETYPE=") != NULL;
    text_free(&info);
    problem_free(&matrix);
    problem_free(&vector);
    return right ? 0 : 1;
}

static int child_calls(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls)};
    return cmocka_run_group_tests_name("calls without OpenBLAS", tests, draw_seed, NULL);
}

static void other_libraries(void **unused) {
    (void)unused;
    assert_int_equal(run_child("missing", "/nowhere/libopenblas.so.0"), 0);
    assert_int_equal(run_child("missing", "libm.so.6"), 0);
    assert_int_equal(run_child("calls", "/nowhere/libopenblas.so.0"), 0);
#ifndef __SANITIZE_THREAD__ /* it does not see how OpenBLAS's own threads wait for each other */
    if (present())
        assert_int_equal(run_child("host", NULL), 0);
#endif
#if defined(__x86_64__)
    if (present() && __builtin_cpu_supports("avx2"))
        assert_int_equal(run_child("old", NULL), 0);
#endif
}

int main(void) {
    const char *role = getenv("CHILD");
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        setenv("OPENBLAS_CORETYPE", "Haswell", 0); /* it may not know this processor */
#endif
    static const struct {
        const char *role;
        int (*run)(void);
    } children[] = {{"missing", child_missing}, {"old", child_old}, {"host", child_host}, {"calls", child_calls}};
    for (size_t k = 0; role && k < COUNT(children); k++)
        if (strcmp(role, children[k].role) == 0)
            return children[k].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information), cmocka_unit_test(every_form),      cmocka_unit_test(random_problems),
        cmocka_unit_test(folding),     cmocka_unit_test(empty),           cmocka_unit_test(large),
        cmocka_unit_test(not_ours),    cmocka_unit_test(forks),           cmocka_unit_test(many_callers),
        cmocka_unit_test(calls),       cmocka_unit_test(other_libraries),
    };
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
