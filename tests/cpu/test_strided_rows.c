/* test_strided_rows.c - rows whose elements lie a few apart, which the CPU reads by vectors that it shuffles, reduced and element by element: nothing
 * before the first or behind the last element is read or written, and results are those of rows without gaps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "cpu/cpu.h"
#include "draw.h"
#include "type/type.h"
#include "ufunc.h"

#undef fail /* base.h's */
#include <cmocka.h>

enum {
    MEMORY = 1 << 20 /* bytes between two unreadable pages */
};

static char *memory;

static const struct {
    dtype type;
    DLDataType name;
} types[] = {{DT_INT8, {kDLInt, 8, 1}},       {DT_INT16, {kDLInt, 16, 1}},     {DT_INT32, {kDLInt, 32, 1}},
             {DT_INT64, {kDLInt, 64, 1}},     {DT_FLOAT16, {kDLFloat, 16, 1}}, {DT_FLOAT32, {kDLFloat, 32, 1}},
             {DT_FLOAT64, {kDLFloat, 64, 1}}, {DT_BOOL, {UF_BOOL_CODE, 8, 1}}};

static void reduce(const char *name, DLTensor x, DLTensor out) {
    uf_func *f;
    uf_reduce_options o = {.size = sizeof o, .naxes = 1, .axes = (int[]){1}, .threads = (int)pick(0, 2)};
    if (uf_load(&f, name) || uf_reduce(f, 2, (DLTensor[]){x, out}, &o))
        fail_msg("%s: %s", name, uf_last_error()->message);
    uf_free(f);
}

static DLTensor matrix(void *data, DLDataType type, int64_t *shape, int64_t *strides) {
    return (DLTensor){
        .data = data, .dtype = type, .ndim = 2, .shape = shape, .strides = strides, .device = {kDLCPU, 0}};
}

static DLTensor line(void *data, DLDataType type, int64_t *n) {
    return (DLTensor){.data = data, .dtype = type, .ndim = 1, .shape = n, .device = {kDLCPU, 0}};
}

/* Are n results the same? Variances are rounded, and rows without gaps are added in another order. */
static bool agree(const char *far, const char *near, int64_t n, int bytes, bool rounded, dtype type) {
    double most = type == DT_FLOAT16   ? 2e-3
                  : type == DT_FLOAT32 ? 1e-5
                                       : 1e-12; /* they have the precision of the elements */
    bool same = true;
    for (int64_t i = 0; i < n && rounded; i++) {
        double a, b;
        memcpy(&a, far + i * bytes, sizeof a);
        memcpy(&b, near + i * bytes, sizeof b);
        same &= fabs(a - b) <= most * fabs(b) + 1e-24;
    }
    return rounded ? same : !memcmp(far, near, (size_t)(n * bytes));
}

/* Random rows that end with the memory, or begin with it; and the same without gaps. */
static void same_as_without_gaps(void **unused) {
    (void)unused;
    static const char *const names[] = {"sum", "max", "argmin", "any", "var", "count_nonzero"};
    static char dense[MEMORY], far[1024], near[1024];
    for (int64_t t = 0; t < trials(120); t++) {
        size_t which = (size_t)pick(0, COUNT(types) - 1);
        dtype type = types[which].type;
        int64_t size = dtypes[type].size, apart = pick(2, 10), rows = pick(1, 4);
        int64_t n = pick(1, chance(50) ? 300 : (MEMORY / size / rows - 1) / apart);
        int64_t extent = (rows * n - 1) * apart + 1, shape[] = {rows, n};
        char *x = chance(70) ? memory + MEMORY - extent * size : memory;
        for (int64_t i = 0; i < rows * n; i++) {
            number_write((number){.type = DT_FLOAT64, .as.f = {(double)pick(-90, 90) / 8}}, type, dense + i * size);
            memcpy(x + i * apart * size, dense + i * size, (size_t)size);
        }
        const char *name = names[pick(0, COUNT(names) - 1)];
        bool wide = !strcmp(name, "sum") || !strcmp(name, "var");
        DLDataType out = !strcmp(name, "max")                                   ? types[which].name
                         : !strcmp(name, "any")                                 ? (DLDataType){UF_BOOL_CODE, 8, 1}
                         : wide && (type >= DT_FLOAT16 || !strcmp(name, "var")) ? (DLDataType){kDLFloat, 64, 1}
                                                                                : (DLDataType){kDLInt, 64, 1};
        int64_t gaps[] = {n * apart, apart}, none[] = {n, 1};
        reduce(name, matrix(x, types[which].name, shape, gaps), line(far, out, &rows));
        reduce(name, matrix(dense, types[which].name, shape, none), line(near, out, &rows));
        if (!agree(far, near, rows, out.bits / 8, !strcmp(name, "var"), type))
            fail_msg("%s of %d rows of %d %s, %d apart", name, (int)rows, (int)n, dtypes[type].name, (int)apart);
    }
}

static const struct {
    const char *source, *types; /* T: any */
    int nin;
} functions[] = {{"(x) { return x; }", "T->T", 1},
                 {"(x, y) { return x + y; }", "T,T->T", 2},
                 {"(x, y) { return x < y; }", "T,T->bool", 2},
                 {"(x) { return x; }", "T->float32", 1},
                 {"(x) { return x; }", "T->int64", 1},
                 {"(x, y) { return x / y; }", "T,T->float64", 2},
                 {"(x) { return sqrt(fabs(x)); }", "T->float32", 1},
                 {"(x, y) { return y > 0 ? exp(x) : y; }", "T,T->float32", 2},
                 {"(x) { return exp(x) + 1 / (x + 100); }", "T->float64", 1}};

static uf_func *function_of(size_t f, dtype type, DLDataType *out) {
    char types_of[64] = "";
    uf_func *u;
    for (const char *at = functions[f].types; *at; at++) {
        bool any = at[0] == 'T';
        snprintf(types_of + strlen(types_of), sizeof types_of - strlen(types_of), "%.*s",
                 any ? (int)strlen(dtypes[type].name) : 1, any ? dtypes[type].name : at);
    }
    const char *to = strstr(functions[f].types, "->") + 2;
    *out = (DLDataType){UF_BOOL_CODE, 8, 1};
    for (size_t i = 0; i < COUNT(types); i++)
        if (!strcmp(dtypes[types[i].type].name, *to == 'T' ? dtypes[type].name : to))
            *out = types[i].name;
    if (uf_vectorize(&u, "f", types_of, functions[f].source))
        fail_msg("%s: %s", functions[f].source, uf_last_error()->message);
    return u;
}

static void call(uf_func *f, int n, DLTensor *args) {
    uf_options o = {.size = sizeof o, .threads = (int)pick(1, 2)};
    if (uf_call(f, n, args, &o))
        fail_msg("%s", uf_last_error()->message);
}

/* Where so many arrays of these bytes lie: one after the other, from the beginning of the memory or up to its end; which comes first differs. */
static void place(int n, const int64_t *bytes, char **to) {
    enum {
        ALIGN = 8
    };
    bool last = chance(70);
    int64_t done = 0;
    for (int i = 0, first = (int)pick(0, n - 1); i < n; i++) {
        int k = (first + i) % n;
        to[k] = last ? memory + MEMORY - done - bytes[k] : memory + done;
        to[k] -= last ? (uintptr_t)to[k] % (i ? ALIGN : 1) : 0;
        done = last ? memory + MEMORY - to[k] : (done + bytes[k] + ALIGN - 1) / ALIGN * ALIGN;
    }
}

/* Functions of rows into rows; nothing between elements is written. */
static void elementwise_as_without_gaps(void **unused) {
    (void)unused;
    static char dense[2][MEMORY / 4], near[MEMORY];
    for (int64_t t = 0; t < trials(60); t++) {
        size_t which = (size_t)pick(0, COUNT(types) - 1), f = (size_t)pick(0, COUNT(functions) - 1);
        dtype type = types[which].type;
        DLDataType out;
        uf_func *u = function_of(f, type, &out);
        int nin = functions[f].nin;
        int64_t size = dtypes[type].size, to = out.bits / 8, rows = pick(1, 4), n = pick(1, chance(50) ? 40 : 300),
                apart = chance(60) ? 2 : pick(1, 4), far = chance(60) ? 1 : pick(2, 3), pad = pick(0, 3);
        int64_t shape[] = {rows, n}, gaps[] = {n * apart + pad, apart}, wide[] = {n * far + pad, far}, none[] = {n, 1},
                in_bytes = ((rows - 1) * gaps[0] + (n - 1) * apart + 1) * size,
                out_bytes = ((rows - 1) * wide[0] + (n - 1) * far + 1) * to,
                bytes[] = {in_bytes, nin > 1 ? in_bytes : out_bytes, out_bytes};
        char *at[3] = {memory, memory, memory}, *r;
        DLTensor args[3], plain[3];
        place(nin + 1, bytes, at);
        for (int k = 0; k < nin; k++) {
            for (int64_t i = 0; i < rows * n; i++) {
                number x = {.type = DT_FLOAT64, .as.f = {(double)pick(-90, 90) / 8}};
                number_write(x, type, dense[k] + i * size);
                memcpy(at[k] + (i / n * gaps[0] + i % n * apart) * size, dense[k] + i * size, (size_t)size);
            }
            args[k] = matrix(at[k], types[which].name, shape, gaps);
            plain[k] = matrix(dense[k], types[which].name, shape, none);
        }
        r = at[nin];
        args[nin] = matrix(r, out, shape, wide);
        plain[nin] = matrix(near, out, shape, none);
        memset(r, 0x5a, (size_t)out_bytes);
        call(u, nin + 1, args);
        call(u, nin + 1, plain);
        int64_t wrong = 0;
        for (int64_t i = 0; i < out_bytes / to; i++) {
            int64_t row = i / wide[0], column = i % wide[0];
            bool element = column % far == 0 && column / far < n;
            for (int64_t byte = 0; byte < to; byte++)
                wrong += r[i * to + byte] != (element ? near[(row * n + column / far) * to + byte] : 0x5a);
        }
        if (wrong)
            fail_msg("%s of %s, %d rows of %d, %d apart, to %d apart: %d bytes differ", functions[f].source,
                     dtypes[type].name, (int)rows, (int)n, (int)apart, (int)far, (int)wrong);
        uf_free(u);
    }
}

/* Every second element of long rows is known to be so, if it is no complex number and LLVM makes shuffles of it. */
static void pairs_are_known(void **unused) {
    (void)unused;
    static const struct {
        dtype in, out;
        int64_t n, stride;
        loop_class loop;
        bool masked, known;
    } cases[] = {{DT_INT8, DT_INT8, 64, 2, LOOP_GENERAL, false, true},
                 {DT_INT8, DT_INT8, 63, 2, LOOP_GENERAL, false, false},
                 {DT_INT8, DT_INT8, 64, 3, LOOP_GENERAL, false, false},
                 {DT_INT8, DT_INT8, 64, -2, LOOP_GENERAL, false, false},
                 {DT_INT8, DT_INT8, 64, 2, LOOP_GENERAL, true, false},
                 {DT_INT8, DT_INT8, 64, 2, LOOP_ROWS, false, true},
                 {DT_INT16, DT_INT32, 64, 2, LOOP_GENERAL, false, true},
                 {DT_INT16, DT_BOOL, 64, 2, LOOP_GENERAL, false, false},
                 {DT_INT16, DT_FLOAT64, 64, 2, LOOP_GENERAL, false, false},
                 {DT_FLOAT32, DT_FLOAT64, 64, 2, LOOP_GENERAL, false, true},
                 {DT_FLOAT64, DT_FLOAT64, 64, 2, LOOP_GENERAL, false, true},
                 {DT_INT64, DT_FLOAT32, 64, 2, LOOP_GENERAL, false, true},
                 {DT_COMPLEX64, DT_COMPLEX64, 64, 2, LOOP_GENERAL, false, false},
                 {DT_FLOAT16, DT_FLOAT16, 64, 2, LOOP_GENERAL, false, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        variant v = {.loop = (uint8_t)cases[i].loop, .nin = 1, .nout = 1, .masked = cases[i].masked};
        int64_t extent[] = {cases[i].n, 3}, stride[] = {cases[i].stride, 1, 1, 1000, 1000, 1000};
        nd_loop loop = {.ndim = 2, .narrays = 3, .count = 3 * cases[i].n, .extent = extent, .stride = stride};
        v.operand[0] = (variant_operand){.memory = (uint8_t)cases[i].in, .value = (uint8_t)cases[i].in, .group = 1};
        v.operand[0].kind = OPERAND_STRIDED;
        v.operand[1] = (variant_operand){.memory = (uint8_t)cases[i].out, .value = (uint8_t)cases[i].out};
        v.operand[2] = (variant_operand){.memory = DT_BOOL, .value = DT_BOOL};
        cpu_engine.specialise(&v, &(loop_problem){.loop = &loop, .traits = &(code_traits){.nodes = 4}});
        if (v.operand[0].kind != (cases[i].known ? OPERAND_INTERLEAVED : OPERAND_STRIDED) || v.operand[0].group ||
            v.operand[0].record != (cases[i].known ? 2 * dtypes[cases[i].in].size : 0))
            fail_msg("case %d", (int)i);
    }
}

/* The variant knows distances of up to `most` elements, along rows. */
static void check_distances(dtype type, int64_t most) {
    for (int64_t apart = 1; apart < 12; apart++) {
        variant v = {.loop = LOOP_FOLD, .nin = 1, .nout = 1};
        v.operand[0].memory = v.operand[0].value = v.operand[1].memory = v.operand[1].value = (uint8_t)type;
        int64_t many = 100, stride[] = {apart, 0}, kept[] = {100 * apart, 1}, offset[] = {0, 0};
        nd_fold loops = {.kept = {.ndim = 1, .narrays = 2, .count = many, .loop = LOOP_FOLD},
                         .reduced = {.ndim = 1, .narrays = 2, .count = many, .loop = LOOP_FOLD}};
        loops.kept.extent = loops.reduced.extent = &many;
        loops.kept.offset = loops.reduced.offset = offset;
        loops.kept.stride = kept;
        loops.reduced.stride = stride;
        v.operand[0].group = 1; /* others lie beside it, which have its address */
        loops.kept.kind[0] = OPERAND_STRIDED;
        loops.reduced.kind[0] = apart == 1 ? OPERAND_CONTIGUOUS : OPERAND_STRIDED;
        code_traits traits = {.nodes = 1, .nstate = 1, .state_bytes = 8};
        fold_problem problem = {.loops = &loops, .traits = &traits, .whole = true};
        cpu_engine.specialise_fold(&v, &problem);
        assert_int_equal(v.reduction.columns, 0);
        assert_int_equal(v.operand[0].group, 1);
        assert_int_equal(v.operand[0].kind, apart == 1      ? OPERAND_CONTIGUOUS
                                            : apart <= most ? OPERAND_INTERLEAVED
                                                            : OPERAND_STRIDED);
        assert_int_equal(v.operand[0].record, apart > 1 && apart <= most ? dtypes[type].size * apart : 0);
    }
}

static void distances_are_known(void **unused) {
    (void)unused;
    check_distances(DT_FLOAT64, 8);
    check_distances(DT_INT8, 8);
    check_distances(DT_FLOAT16, 4);
}

static int set_up(void **unused) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, MEMORY + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, MEMORY, PROT_READ | PROT_WRITE))
        return 1;
    memory = all + page;
    return draw_seed(unused);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_without_gaps),
                                       cmocka_unit_test(elementwise_as_without_gaps),
                                       cmocka_unit_test(distances_are_known), cmocka_unit_test(pairs_are_known)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
