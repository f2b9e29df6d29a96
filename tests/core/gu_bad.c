/* gu_bad.c - calls of generalized ufuncs that are wrong: status, argument, dimension and message, and outputs
 * untouched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gu_call.h"

enum {
    MAX_ARGS = 4,
    MAX_DIMS = 4
};

typedef struct bad_call {
    const char *layout;
    int64_t shapes[MAX_ARGS][MAX_DIMS]; /* ended by -1 */
    uf_status status;
    int argument, dimension;
    const char *part;
} bad_call;

#define S(...) \
    { __VA_ARGS__, -1 }
#define S0 \
    { -1 }

static const bad_call bad_calls[] = {
    /* clang-format off */
    {"(m,n),(n)->(m)", {S(3, 4), S(5), S(3)}, UF_ERR_SHAPE, 1, 0,
     "argument 1: dimension 0 is 5, but n is 4 (from argument 0)"},
    {"(m,n),(n)->(m)", {S(2, 3, 4), S(2, 5), S(2, 3)}, UF_ERR_SHAPE, 1, 1,
     "argument 1: dimension 1 is 5, but n is 4 (from argument 0)"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(5)}, UF_ERR_SHAPE, 2, 0,
     "argument 2: dimension 0 is 5, but m is 3 (from argument 0)"},
    {"(m,n),(n)->(m)", {S(3, 4), S(1), S(3)}, UF_ERR_SHAPE, 1, 0,
     "is 1, but n is 4"}, /* core dimensions do not broadcast */
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(1)}, UF_ERR_SHAPE, 2, 0, "is 1, but m is 3"},
    {"(m,n),(n)->(m)", {S(4), S(4), S(4)}, UF_ERR_SHAPE, 0, -1,
     "argument 0: its rank is 1, but its core dimensions (m,n) need 2"},
    {"(m,n),(n)->(m)", {S(3, 4), S0, S(3)}, UF_ERR_SHAPE, 1, -1,
     "argument 1: its rank is 0, but its core dimensions (n) need 1"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S0}, UF_ERR_SHAPE, 2, -1,
     "argument 2: its rank is 0, but its core dimensions (m) need 1"},
    {"(m,n),(n)->(m)", {S(2, 3, 4), S(5, 4), S(2, 3)}, UF_ERR_SHAPE, 1, 0, "5"},
    {"(m,n),(n)->(m)", {S(2, 3, 4), S(4), S(5, 3)}, UF_ERR_SHAPE, 0, 0, "dimension 0 of argument 2, an output, is 5"},
    {"(m,n),(n)->(m)", {S(2, 3, 4), S(4), S(3)}, UF_ERR_SHAPE, 0, -1,
     "its rank without core dimensions is 1, but that of argument 2, an output, is 0"},
    {"(3),(3)->(3)", {S(3), S(4), S(3)}, UF_ERR_SHAPE, 1, 0, "argument 1: dimension 0 is 4, but must be 3"},
    {"(3),(3)->(3)", {S(3), S(1), S(3)}, UF_ERR_SHAPE, 1, 0, "must be 3"},
    {"(3),(3)->(3)", {S(3), S(3), S(2)}, UF_ERR_SHAPE, 2, 0, "must be 3"},
    {"(n,n)->()", {S(3, 4), S0}, UF_ERR_SHAPE, 0, 1, "argument 0: dimension 1 is 4, but n is 3 (from argument 0)"},
    {"(n),(n|1)->(n)", {S(3), S(2), S(3)}, UF_ERR_SHAPE, 1, 0, "is 2, but n is 3"},
    {"(n),(n|1)->(n)", {S(3), S(1), S(1)}, UF_ERR_SHAPE, 2, 0, "is 1, but n is 3"},
    {"(m?,n),(n,p?)->(m?,p?)", {S(2, 3), S(2, 3), S(2, 3)}, UF_ERR_SHAPE, 1, 0, "is 2, but n is 3"},
    {"(n)->(n-1)", {S(4), S(4)}, UF_ERR_SHAPE, 1, 0, "is 4, but n-1 is 3"},
    {"(n)->(n-1)", {S(0), S(0)}, UF_ERR_SHAPE, 1, 0, "negative"},
    {"(n)->(12/n)", {S(0), S(0)}, UF_ERR_SHAPE, 1, 0, "divides by zero"},
    {"(n)->(n*n*n*n)", {S(70000), S(1)}, UF_ERR_SHAPE, 1, 0, "overflows 64 bits"},
    {"(m),(n)->(m+n-1)", {S(0), S(0), S(0)}, UF_ERR_SHAPE, 2, 0, "negative"},
    {"(n)->(n),(n)", {S(3), S(3), S(2)}, UF_ERR_SHAPE, 2, 0, "is 2, but n is 3"},
    {"()->(p),(p)", {S0, S(3), S(2)}, UF_ERR_SHAPE, 2, 0, "is 2, but p is 3 (from argument 1)"},
    {"(n)->(n),(n)", {S(2, 3), S(2, 3), S(5, 2, 3)}, UF_ERR_SHAPE, -2, -2, ""}, /* outputs have one loop */
    /* clang-format on */
};

static int64_t data[MAX_ARGS][70000];

/* Registers a kernel that would write everywhere, for float64 everywhere. */
static uf_func *writer(const char *layout, int *nin, int *nargs) {
    char types[128] = "", text[512] = "(";
    int rank[MAX_ARGS] = {0}, n = 0, first = MAX_ARGS;
    const char *arrow = strstr(layout, "->");
    for (const char *p = layout; *p; p++) {
        if (p == arrow)
            first = n;
        if (*p == '(')
            rank[n] = p[1] != ')';
        rank[n] += *p == ',' && p[-1] != ')';
        n += *p == ')';
    }
    *nin = first;
    *nargs = n;
    for (int k = 0; k < n; k++)
        sprintf(types + strlen(types), "%sfloat64", k == first ? "->" : k ? "," : "");
    for (int k = 0; k < n; k++)
        sprintf(text + strlen(text), "%sa%d", k == first ? ") -> (" : k ? ", " : "", k);
    strcat(text, ") {");
    for (int k = first; k < n; k++) {
        sprintf(text + strlen(text), " a%d", k);
        for (int d = 0; d < rank[k]; d++)
            strcat(text, "[0]");
        strcat(text, " = 1;");
    }
    strcat(text, " }");
    return gu_make(layout, types, text);
}

static void make_args(DLTensor *args, int n, int64_t shapes[][MAX_DIMS]) {
    for (int k = 0; k < n; k++) {
        int rank = 0;
        while (shapes[k][rank] >= 0)
            rank++;
        args[k] = (DLTensor){
            .data = data[k], .device = {kDLCPU, 0}, .ndim = rank, .dtype = {kDLFloat, 64, 1}, .shape = shapes[k]};
    }
}

static void check_untouched(void) {
    for (int k = 0; k < MAX_ARGS; k++)
        for (int i = 0; i < 70000; i++)
            if (data[k][i])
                fail_msg("element %d of argument %d was written", i, k);
}

void gu_bad_shapes(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof bad_calls / sizeof *bad_calls; i++) {
        const bad_call *b = &bad_calls[i];
        int nin, n;
        int64_t shapes[MAX_ARGS][MAX_DIMS];
        DLTensor args[MAX_ARGS];
        uf_func *f = writer(b->layout, &nin, &n);
        uf_plan *plan;
        memcpy(shapes, b->shapes, sizeof shapes);
        make_args(args, n, shapes);
        uf_status status = uf_call(f, n, args, NULL);
        const uf_error *e = uf_last_error();
        if (status != b->status || !strstr(e->message, b->part) || (b->argument >= -1 && e->argument != b->argument) ||
            (b->dimension >= -1 && e->dimension != b->dimension)) {
            wrong++;
            print_error("row %zu, %s: %s, argument %d, dimension %d: %.500s\n", i, b->layout, uf_status_text(status),
                        e->argument, e->dimension, status ? e->message : "");
        }
        assert_int_equal(uf_plan_new(&plan, f, n, args, NULL), b->status);
        assert_null(plan);
        uf_free(f);
    }
    assert_int_equal(wrong, 0);
    check_untouched();
}

/* ---- Axes ---- */

typedef struct bad_axes {
    const char *layout;
    int64_t shapes[MAX_ARGS][MAX_DIMS];
    int count; /* of lists; 0: axis, keepdims */
    struct {
        int count, axes[3];
    } lists[MAX_ARGS];
    int axis; /* 99: not given */
    bool keepdims;
    uf_status status;
    const char *part;
} bad_axes;

static const bad_axes bad_lists[] = {
    /* clang-format off */
    {"(n)->()", {S(2, 3), S(2)}, 1, {{1, {2}}}, 99, false, UF_ERR_ARGUMENT,
     "argument 0: axis 2 is out of range: its rank is 2, so axes are from -2 to 1"},
    {"(n)->()", {S(2, 3), S(2)}, 1, {{1, {-3}}}, 99, false, UF_ERR_ARGUMENT, "axis -3 is out of range"},
    {"(n)->()", {S(2, 3), S(2)}, 0, {{0}}, 2, false, UF_ERR_ARGUMENT, "axis 2 is out of range"},
    {"(n)->()", {S(2, 3), S(2)}, 1, {{2, {0, 1}}}, 99, false, UF_ERR_ARGUMENT,
     "it has 1 core dimension, but uf_axes.lists[0].count is 2"},
    {"(n)->()", {S(2, 3), S(2)}, 1, {{1, {1}}}, 1, false, UF_ERR_ARGUMENT, "both lists and axis"},
    {"(n)->()", {S(2, 3), S(2)}, -1, {{0}}, 99, false, UF_ERR_ARGUMENT, "must not be negative"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(3)}, 2, {{2, {0, 1}}, {1, {0}}}, 99, false, UF_ERR_ARGUMENT,
     "must be 3: a list for each argument"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(3)}, 3, {{2, {0, 0}}, {1, {0}}, {1, {0}}}, 99, false, UF_ERR_ARGUMENT,
     "axis 0 occurs twice"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(3)}, 3, {{2, {0, -2}}, {1, {0}}, {1, {0}}}, 99, false, UF_ERR_ARGUMENT,
     "twice"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(3)}, 0, {{0}}, 0, false, UF_ERR_ARGUMENT,
     "uf_axes.axis needs a single core dimension"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(3)}, 0, {{0}}, 99, true, UF_ERR_ARGUMENT,
     "uf_axes.keepdims needs inputs with equally many core dimensions"},
    {"(m,n),(n)->()", {S(3, 4), S(4), S0}, 0, {{0}}, 99, true, UF_ERR_ARGUMENT, "keepdims"},
    {"(n)->(n)", {S(3), S(3)}, 0, {{0}}, 99, true, UF_ERR_ARGUMENT, "keepdims"},
    {"(n)->()", {S(2, 3), S(2)}, 0, {{0}}, 99, true, UF_ERR_SHAPE, ""}, /* the output lacks the dimension */
    {"(n)->()", {S(2, 3), S(2, 3)}, 0, {{0}}, 99, true, UF_ERR_SHAPE, "is 3, but keepdims makes it 1"},
    {"(m,n),(n)->(m)", {S(3, 4), S(3), S(4)}, 3, {{2, {1, 0}}, {1, {0}}, {1, {0}}}, 99, true, UF_ERR_ARGUMENT,
     "keepdims"},
    {"(m,n),(n)->(m)", {S(3, 4), S(4), S(4)}, 3, {{2, {1, 0}}, {1, {0}}, {1, {0}}}, 99, false, UF_ERR_SHAPE,
     "argument 1: dimension 0 is 4, but n is 3 (from argument 0)"},
    /* clang-format on */
};

void gu_bad_axes(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof bad_lists / sizeof *bad_lists; i++) {
        const bad_axes *b = &bad_lists[i];
        int nin, n;
        int64_t shapes[MAX_ARGS][MAX_DIMS];
        DLTensor args[MAX_ARGS];
        uf_axis_list lists[MAX_ARGS];
        uf_func *f = writer(b->layout, &nin, &n);
        memcpy(shapes, b->shapes, sizeof shapes);
        make_args(args, n, shapes);
        for (int k = 0; k < MAX_ARGS; k++)
            lists[k] = (uf_axis_list){b->lists[k].count, b->lists[k].axes};
        uf_axes axes = {.size = sizeof axes, .count = b->count, .lists = lists, .keepdims = b->keepdims};
        axes.axis = b->axis != 99 ? &b->axis : NULL;
        uf_status status = uf_call(f, n, args, &(uf_options){.size = sizeof(uf_options), .axes = &axes});
        if (status != b->status || !strstr(uf_last_error()->message, b->part)) {
            wrong++;
            print_error("row %zu, %s: %s: %.500s\n", i, b->layout, uf_status_text(status),
                        status ? uf_last_error()->message : "");
        }
        uf_free(f);
    }
    assert_int_equal(wrong, 0);
    check_untouched();
}

/* ---- Options and memory ---- */

void gu_bad_options(void **state) {
    (void)state;
    int nin, n;
    double x[6] = {0}, r[6] = {0};
    int64_t shape[UF_MAX_NDIM];
    uf_func *f = writer("(n)->(n)", &nin, &n);
    uint8_t mask[2] = {1, 1};
    DLTensor where = {
        .data = mask, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {UF_BOOL_CODE, 8, 1}, .shape = (int64_t[]){2}};
    uf_axes axes = {0};
    DLTensor in = UF_ARRAY(x, 2, 3), out = UF_ARRAY(r, 2, 3);
    FAILS(UF_ERR_ARGUMENT, "a mask (where) needs a function without",
          uf_call(f, 2, (DLTensor[]){in, out}, &(uf_options){.size = sizeof(uf_options), .where = &where}));
    FAILS(UF_ERR_ARGUMENT, "uf_axes.size is 0",
          uf_call(f, 2, (DLTensor[]){in, out}, &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
    axes = (uf_axes){.size = sizeof axes, .count = 2};
    FAILS(UF_ERR_ARGUMENT, "uf_axes.lists is NULL",
          uf_call(f, 2, (DLTensor[]){in, out}, &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
    out.strides = (int64_t[]){3, 0};
    FAILS(UF_ERR_ARGUMENT, "two elements at one address", uf_call(f, 2, (DLTensor[]){in, out}, NULL));
    out.strides = (int64_t[]){2, 1};
    FAILS(UF_ERR_ARGUMENT, "two elements at one address", uf_call(f, 2, (DLTensor[]){in, out}, NULL));
    uf_free(f);
    f = writer("(n)->(n),(n)", &nin, &n);
    FAILS(UF_ERR_ARGUMENT, "overlaps output", UF_CALL(f, UF_ARRAY(x, 2), UF_ARRAY(r, 3, 2), UF_ARRAY(r + 1, 3, 2)));
    FAILS(UF_ERR_SHAPE, "", uf_infer(f, 3, (DLTensor[]){UF_SCALAR(1.0), {.shape = shape}, {.shape = shape}}, NULL));
    uf_free(f);
    f = writer("(n)->(n)", &nin, &n);
    float half[3];
    int32_t whole[3];
    FAILS(UF_ERR_CAST, "does not cast", UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(whole, 3)));
    OK(uf_infer(f, 2, (DLTensor[]){UF_ARRAY(half, 3), {.shape = shape}}, NULL));
    uf_free(f);
    f = gu_make("(n)->(n)", "float32->float32", "(x) -> (y) { y[0] = x[0]; }");
    FAILS(UF_ERR_SIGNATURE, "argument 0 is float64", UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(half, 3)));
    uf_free(f);
    uf_func *scalar;
    OK(uf_vectorize(&scalar, "g", "float64->float64", "(x) { return x; }"));
    axes = (uf_axes){.size = sizeof axes};
    FAILS(UF_ERR_ARGUMENT, "axes",
          uf_call(scalar, 2, (DLTensor[]){in, UF_ARRAY(r, 2, 3)},
                  &(uf_options){.size = sizeof(uf_options), .axes = &axes}));
    uf_free(scalar);
    for (int i = 0; i < 6; i++)
        assert_true(r[i] == 0);
    check_untouched();
}

void gu_bad_registration(void **state) {
    static const struct {
        const char *layout, *signatures, *source;
        uf_status status;
        const char *part;
    } rows[] = {
        {"(n)->(n", "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_SYNTAX, ""},
        {"(n)->(n),", "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_SYNTAX, ""},
        {"(n)", "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_SYNTAX, ""},
        {"", "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_SYNTAX, ""},
        {NULL, "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_ARGUMENT, "layout"},
        {"(n)->(n)", "dd->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_TYPE, "the signatures have 2 inputs"},
        {"(n),(n)->(n)", "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_TYPE, "the layout has 2 and 1"},
        {"(n)->(n)", "d->d", "(x) -> (y) { y = x[0]; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { y[0] = x; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { y[0] = x[0][0]; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { x[0] = 1; }", UF_ERR_TYPE, ""},
        {"(n)->()", "d->d", "(x) -> (y) { y[0] = x[0]; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { n = 3; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { auto t = 0; forall (i : n) t += 1; }", UF_ERR_TYPE, ""},
        {"(n)->()", "d->d", "(x) -> (y) { forall (i : n) y = x[i]; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) i = 0; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) return; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : n) break; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { forall (i : 1.5) y[i] = 0; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { y[0] = sum(i : n, y[0] = 1); }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) -> (y) { y[0] = reduce(f, i : n, x[i]); }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(x) { return x[0]; }", UF_ERR_TYPE, ""},
        {"(n)->(n)", "d->d", "(n) -> (y) { y[0] = 1; }", UF_ERR_TYPE, ""},
    };
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uf_func *f = (uf_func *)&f;
        uf_status status = uf_guvectorize(&f, "f", rows[i].layout, rows[i].signatures, rows[i].source);
        if (status != rows[i].status || !strstr(uf_last_error()->message, rows[i].part)) {
            wrong++;
            print_error("row %zu, %s: %s: %.500s\n", i, rows[i].source, uf_status_text(status),
                        status ? uf_last_error()->message : "");
        }
        if (uf_last_error()->status == UF_ERR_TYPE && !*rows[i].part)
            assert_true(uf_last_error()->line == 1 && uf_last_error()->column > 0);
        assert_null(f);
    }
    assert_int_equal(wrong, 0);
}
