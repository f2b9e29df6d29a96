/* test_strided_rows.c - reductions of rows whose elements lie a few apart, which the CPU reads by vectors that it shuffles: results are those of
 * plain loops, nothing before the first or behind the last element is read, and results are those of rows without gaps. */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_without_gaps), cmocka_unit_test(distances_are_known)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
