/* test_reduction.c - reductions from their texts: what is registered and described, the dtypes that a fold has for those of a
 * call, and what is refused with which words and where. Nothing runs here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

#include <cmocka.h>

#include "expect.h"

static uf_func *reduction_of(const char *signatures, uf_reduction_def def) {
    uf_func *f;
    def.size = sizeof def;
    OK(uf_reduction(&f, "r", signatures, &def));
    assert_non_null(f);
    return f;
}

static uf_func *binary_of(const char *signatures, const char *source, const char *identity, unsigned flags) {
    uf_func *f;
    uf_section only = {signatures, source};
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "b",
                                      .nsections = 1,
                                      .sections = &only,
                                      .identity = identity,
                                      .flags = flags}));
    return f;
}

/* ---- What a call finds ---- */

/* Arguments of these dtypes, "float32,int8->float64" or without outputs. */
static void arguments(const char *types, call_args *a) {
    dtype all[UF_MAX_OPERANDS];
    int nout = 0;
    *a = (call_args){.nin = 0};
    if (strstr(types, "->"))
        OK(signature_parse(types, all, &a->nin, &nout));
    else
        OK(types_parse(types, all, &a->nin));
    a->nargs = a->narrays = a->nin + nout;
    for (int k = 0; k < a->nargs; k++)
        a->key.type[k] = (uint8_t)all[k];
}

static uf_status find(const uf_func *f, const char *types, const char *signature, unsigned flags, const binding **b) {
    call_args a;
    arguments(types, &a);
    return fold_find(f, &a, UF_CAST_DEFAULT, signature, flags, b);
}

/* "inputs | state | outputs" of the fold for a call. */
static const char *found_as(const uf_func *f, const char *types, const char *signature, unsigned flags) {
    static char line[3 * SIGNATURE_TEXT];
    const binding *b;
    OK(find(f, types, signature, flags, &b));
    const fold *x = b->fold;
    text t = {0};
    signature_print(&t, x->in, x->nin, 0);
    text_puts(&t, " | ");
    signature_print(&t, x->state, x->nstate, 0);
    text_puts(&t, " | ");
    signature_print(&t, x->out, x->nout, 0);
    snprintf(line, sizeof line, "%s", t.data);
    text_free(&t);
    for (int k = 0; k < x->nin; k++)
        assert_int_equal(b->types[k], x->in[k]);
    for (int k = 0; k < x->nout; k++)
        assert_int_equal(b->types[x->nin + k], x->out[k]);
    assert_int_equal(b->key.verb, VERB_FOLD);
    assert_int_equal(b->traits.nstate, x->nstate);
    return line;
}

#define FOUND(f, types, line) assert_string_equal(found_as(f, types, NULL, 0), line)
#define FORCED(f, types, signature, line) assert_string_equal(found_as(f, types, signature, 0), line)

#define NOT_FOUND(f, types, wanted, part)                           \
    do {                                                            \
        const binding *none;                                        \
        assert_int_equal(find(f, types, NULL, 0, &none), wanted);   \
        assert_int_equal(uf_last_error()->status, wanted);          \
        if (!strstr(uf_last_error()->message, part))                \
            print_error("message: %s\n", uf_last_error()->message); \
        assert_non_null(strstr(uf_last_error()->message, part));    \
    } while (0)

#define MEAN                                                                        \
    (uf_reduction_def) {                                                            \
        .map = "(x) { return (double)x; }", .combine = "(a, b) { return a + b; }",  \
        .finish = "(s, n) { return s / n; }", .state = "float64", .identity = "0.0" \
    }
#define ARGMAX                                                                                                     \
    (uf_reduction_def) {                                                                                           \
        .map = "[k](x) -> (v, i) { v = x; i = k; }",                                                               \
        .combine =                                                                                                 \
            "(a, i, b, j) -> (v, k) { if (b > a || (b == a && j < i)) { v = b; k = j; } else { v = a; k = i; } }", \
        .finish = "(v, i) { return i; }", .state = "int32,int64; float32,int64"                                    \
    }

static void test_reductions_find_their_types(void **state) {
    (void)state;
    uf_func *f = reduction_of("float32->float32; float64->float64", MEAN);
    FOUND(f, "float32", "float32 | float64 | float32");
    FOUND(f, "float32->float64", "float32 | float64 | float32");
    FOUND(f, "int8->float32", "float32 | float64 | float32");
    FOUND(f, "int32->float32", "float64 | float64 | float64");
    FORCED(f, "int8", "float64->float64", "float64 | float64 | float64");
    NOT_FOUND(f, "complex64", UF_ERR_SIGNATURE, "no signature matches");
    NOT_FOUND(f, "float32->int32", UF_ERR_CAST, "argument 1: is int32, but r gives float32");
    const binding *b;
    OK(find(f, "float32->float32", NULL, 0, &b));
    assert_true(b->fold->takes_count && !b->fold->takes_position && b->fold->map && b->fold->identity);
    uf_free(f);

    f = reduction_of("int32->int64; float32->int64", ARGMAX);
    FOUND(f, "float32", "float32 | float32,int64 | int64");
    FOUND(f, "int16", "int32 | int32,int64 | int64");
    OK(find(f, "float32->int64", NULL, 0, &b));
    assert_true(b->fold->takes_position && !b->fold->takes_count && !b->fold->identity);
    assert_int_equal(b->fold->map->kernel->nparams, 2);
    uf_free(f);

    f = reduction_of("float32,float32->float32; int8,int8->int32",
                     (uf_reduction_def){.map = "(x, y) { return x * y; }", .combine = "(a, b) { return a + b; }"});
    FOUND(f, "float32,float16", "float32,float32 | float32 | float32");
    FOUND(f, "int8,int8", "int8,int8 | int32 | int32");
    uf_free(f);
}

static void test_reductions_of_any_types(void **state) {
    (void)state;
    uf_func *f = reduction_of(NULL, (uf_reduction_def){.combine = "(a, b) { return a + b; }"});
    FOUND(f, "float32", "float32 | float32 | float32");
    FOUND(f, "int8", "int8 | int32 | int32"); /* what C's + gives */
    FOUND(f, "float16", "float16 | float32 | float32");
    uf_free(f);

    f = reduction_of(
        NULL, (uf_reduction_def){.map = "(x) -> (s, q) { s = x; q = (double)x * x; }",
                                 .combine = "(a, i, b, j) -> (c, k) { c = a + b; k = i + j; }",
                                 .finish = "(s, q, n) -> (mean, all, many) { mean = s / n; all = q; many = n; }"});
    FOUND(f, "float32", "float32 | float32,float64 | float32,float64,int64");
    FOUND(f, "int8->int64,float64,int64", "int8 | int32,float64 | int64,float64,int64");
    uf_free(f);

    f = reduction_of(NULL, (uf_reduction_def){.map = "(x) { return x != 0; }",
                                              .combine = "(a, b) { return a + b; }",
                                              .state = "int64",
                                              .identity = "0"});
    FOUND(f, "complex64", "complex64 | int64 | int64");
    uf_free(f);

    f = reduction_of(NULL, (uf_reduction_def){.combine = "(a, b) { return a && b; }", .identity = "1"});
    FOUND(f, "float64", "float64 | bool | bool");
    uf_free(f);

    f = reduction_of(NULL, (uf_reduction_def){.combine = "(a, i, b, j) -> (c, k) { c = i; k = a + 0.5f; }"});
    NOT_FOUND(f, "float64,int32", UF_ERR_TYPE, "combine: what it gives has other dtypes");
    uf_free(f);
}

#define ALL_ADDED                                                                                    \
    "bool,bool->bool; int8,int8->int8; int16,int16->int16; int32,int32->int32; int64,int64->int64; " \
    "uint8,uint8->uint8;"                                                                            \
    "uint16,uint16->uint16; uint32,uint32->uint32; uint64,uint64->uint64; float16,float16->float16;" \
    "bfloat16,bfloat16->bfloat16; float32,float32->float32; float64,float64->float64; complex64,complex64->complex64"

/* As np.add.reduce: the dtype of the result, and of the accumulator. */
static void test_binary_functions_widen(void **state) {
    (void)state;
    uf_func *f = binary_of(ALL_ADDED, "(x, y) { return x + y; }", "0", UF_WIDEN);
    FOUND(f, "bool", "int64 | int64 | int64");
    FOUND(f, "int8", "int64 | int64 | int64");
    FOUND(f, "uint8", "uint64 | uint64 | uint64");
    FOUND(f, "uint32", "uint64 | uint64 | uint64");
    FOUND(f, "int64", "int64 | int64 | int64");
    FOUND(f, "float16", "float32 | float32 | float16");
    FOUND(f, "bfloat16", "float32 | float32 | bfloat16");
    FOUND(f, "float32", "float32 | float32 | float32");
    FOUND(f, "complex64", "complex64 | complex64 | complex64");
    /* the output takes part, as the first operand */
    FOUND(f, "int8->int8", "int8 | int8 | int8");
    FOUND(f, "int8->int32", "int32 | int32 | int32");
    FOUND(f, "int8->float16", "float32 | float32 | float16");
    FOUND(f, "int8->float32", "float32 | float32 | float32");
    FOUND(f, "float32->float64", "float64 | float64 | float64");
    FOUND(f, "float16->float16", "float32 | float32 | float16");
    FOUND(f, "float16->float32", "float32 | float32 | float32");
    FOUND(f, "float32->float16", "float32 | float32 | float32");
    FOUND(f, "bool->bool", "bool | bool | bool");
    FOUND(f, "int32->float32", "float64 | float64 | float64");
    NOT_FOUND(f, "float64->int64", UF_ERR_CAST, "argument 1: is int64, but b gives float64");
    FORCED(f, "int8", "int8,int8->int8", "int8 | int8 | int8");
    FORCED(f, "int8->float32", "float16,float16->float16", "float16 | float16 | float16");
    FORCED(f, "float32", "float64,float64->float64", "float64 | float64 | float64");
    uf_free(f);
}

static void test_binary_functions(void **state) {
    (void)state;
    uf_func *f = binary_of(ALL_ADDED, "(x, y) { return x + y; }", NULL, 0);
    FOUND(f, "int8", "int8 | int8 | int8");
    FOUND(f, "float16", "float16 | float16 | float16");
    uf_free(f);
    f = binary_of("float32,float32->float32; float64,float64->float64", "(x, y) { return x / y; }", NULL, UF_SERIAL);
    FOUND(f, "int64", "float64 | float64 | float64");
    FOUND(f, "int8", "float32 | float32 | float32");
    uf_free(f);
    /* of any types */
    f = binary_of(NULL, "(x, y) { return x + y; }", "0", UF_WIDEN);
    FOUND(f, "int8", "int64 | int64 | int64");
    FOUND(f, "int8->int8", "int32 | int32 | int32");
    FOUND(f, "float16", "float32 | float32 | float16");
    FOUND(f, "float32", "float32 | float32 | float32");
    uf_free(f);
    f = binary_of(NULL, "(x, y) { return x * y; }", NULL, 0);
    FOUND(f, "int8", "int32 | int32 | int32");
    FOUND(f, "complex64", "complex64 | complex64 | complex64");
    uf_free(f);
}

/* Logical functions fold bools; a comparison, which is no associative function, what it compares. */
static void test_functions_that_give_bool(void **state) {
    static const char with_bool[] = "bool,bool->bool; float32,float32->bool; float64,float64->bool";
    (void)state;
    uf_func *f = binary_of(with_bool, "(x, y) { return x && y; }", "1", 0);
    FOUND(f, "float32", "bool | bool | bool");
    FOUND(f, "bool->bool", "bool | bool | bool");
    FOUND(f, "float64->bool", "bool | bool | bool");
    FOUND(f, "float64->float32", "bool | bool | bool");
    uf_free(f);
    f = binary_of(NULL, "(x, y) { return x || y; }", "0", 0);
    FOUND(f, "int16", "bool | bool | bool");
    uf_free(f);
    f = binary_of(with_bool, "(x, y) { return x < y; }", NULL, UF_SERIAL);
    FOUND(f, "float32", "float32 | float32 | float32");
    FOUND(f, "bool", "bool | bool | bool");
    NOT_FOUND(f, "float32->bool", UF_ERR_CAST, "argument 1: is bool, but b gives float32");
    uf_free(f);
    f = binary_of("int32,int32->bool", "(x, y) { return x && y; }", NULL, 0);
    FOUND(f, "int8", "int32 | int32 | int32");
    uf_free(f);
}

static void test_functions_that_do_not_fold(void **state) {
    (void)state;
    uf_func *f = binary_of("float32,int32->float32", "(x, y) { return x * y; }", NULL, 0);
    NOT_FOUND(f, "int16", UF_ERR_SIGNATURE, "b cannot reduce by its signature float32,int32->float32");
    uf_free(f);
    f = binary_of("float32,float32->complex64", "(x, y) { return x + I * y; }", NULL, 0);
    NOT_FOUND(f, "float32", UF_ERR_SIGNATURE, "b cannot reduce float32: it gives complex64");
    uf_free(f);
    f = binary_of(NULL, "(x, y) { return x % y; }", NULL, 0);
    NOT_FOUND(f, "float32", UF_ERR_TYPE, "'%' needs integers");
    const binding *b;
    assert_int_equal(find(f, "int32", "int32,int32->int32", 0, &b), UF_ERR_ARGUMENT);
    assert_non_null(strstr(uf_last_error()->message, "b was registered for any types"));
    uf_free(f);
}

/* Bindings are found again; what makes code differ makes its key differ. */
static void test_bindings(void **state) {
    (void)state;
    uf_func *f = binary_of(ALL_ADDED, "(x, y) { return x + y; }", "0", UF_WIDEN);
    const binding *a, *b, *serial, *ordered, *other;
    OK(find(f, "float32->float32", NULL, 0, &a));
    OK(find(f, "float32->float32", NULL, 0, &b));
    OK(find(f, "float32->float32", NULL, UF_SERIAL, &serial));
    OK(find(f, "float32->float32", NULL, UF_ORDERED, &ordered));
    OK(find(f, "float32", NULL, 0, &other));
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, other);
    assert_int_equal(a->fold->order, FOLD_FREE);
    assert_int_equal(serial->fold->order, FOLD_SERIAL);
    assert_int_equal(serial->traits.order, FOLD_SERIAL);
    assert_int_equal(ordered->fold->order, FOLD_ORDERED);
    assert_string_equal(a->source, other->source);
    assert_string_not_equal(a->source, serial->source);
    assert_string_not_equal(ordered->source, serial->source);
    uf_func *ones = binary_of(ALL_ADDED, "(x, y) { return x + y; }", "1", UF_WIDEN);
    OK(find(ones, "float32->float32", NULL, 0, &b));
    assert_string_not_equal(a->source, b->source);
    uf_free(ones);
    uf_free(f);
}

/* ---- What is registered ---- */

static void test_described(void **state) {
    (void)state;
    uf_description d = {.size = sizeof d};
    uf_reduction_def def = ARGMAX;
    def.identity = "0, -1";
    def.flags = UF_ORDERED;
    uf_func *f = reduction_of("int32->int64; f->l", def);
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "reduction");
    assert_string_equal(d.signatures, "int32->int64; float32->int64");
    assert_string_equal(d.identity, "0, -1");
    assert_int_equal(d.order, UF_ORDERED);
    assert_true(d.nin == 1 && d.nout == 1 && d.nstate == 2 && !d.layout);
    uf_free(f);

    f = binary_of(NULL, "(x, y) { return x - y; }", NULL, UF_SERIAL);
    OK(uf_describe(f, &d));
    assert_string_equal(d.kind, "elementwise");
    assert_true(!d.signatures && !d.identity && d.order == UF_SERIAL && d.nstate == 1);
    uf_free(f);

    /* callers of another age */
    struct {
        uf_description d;
        char more[16];
    } newer = {.d = {.size = sizeof newer}};
    memset(newer.more, 0x55, sizeof newer.more);
    OK(uf_vectorize(&f, "f", "f->f", "(x) { return x; }"));
    OK(uf_describe(f, &newer.d));
    assert_int_equal(newer.d.nstate, 0);
    assert_int_equal(newer.d.size, sizeof newer);
    for (size_t i = 0; i < sizeof newer.more; i++)
        assert_int_equal(newer.more[i], 0);
    uf_description older = {.size = offsetof(uf_description, doc), .doc = "untouched"};
    OK(uf_describe(f, &older));
    assert_string_equal(older.name, "f");
    assert_string_equal(older.doc, "untouched");
    older.size = 0;
    assert_int_equal(uf_describe(f, &older), UF_ERR_ARGUMENT);
    uf_free(f);
}

static void test_arity(void **state) {
    (void)state;
    int nin, nout;
    uf_func *f = reduction_of("float32,float32->int64", (uf_reduction_def){.map = "(x, y) { return x < y; }",
                                                                           .combine = "(a, b) { return a + b; }"});
    OK(fold_arity(f, "uf_reduce", &nin, &nout));
    assert_true(nin == 2 && nout == 1);
    uf_free(f);
    f = binary_of(NULL, "(x, y) { return x + y; }", NULL, 0);
    OK(fold_arity(f, "uf_reduce", &nin, &nout));
    assert_true(nin == 1 && nout == 1);
    uf_free(f);
    OK(uf_vectorize(&f, "f", NULL, "(x) { return x; }"));
    assert_int_equal(fold_arity(f, "uf_reduce", &nin, &nout), UF_ERR_ARGUMENT);
    assert_non_null(strstr(uf_last_error()->message, "uf_reduce: f has 1 input and 1 output; a reduction, or"));
    uf_free(f);
    OK(uf_guvectorize(&f, "g", "(n),(n)->()", NULL, "(x, y) -> (z) { z = 0; }"));
    assert_int_equal(fold_arity(f, "uf_accumulate", &nin, &nout), UF_ERR_ARGUMENT);
    assert_non_null(strstr(uf_last_error()->message, "with core dimensions, (n),(n)->()"));
    uf_free(f);
}

/* ---- What is refused ---- */

typedef struct bad {
    const char *signatures;
    uf_reduction_def def;
    uf_status status;
    int line, column;
    const char *message;
} bad;

#define SUM "(a, b) { return a + b; }"
#define PAIRS "(a, i, b, j) -> (c, k) { c = a; k = j; }"

/* clang-format off */
static const bad bads[] = {
    {"f->f", {.combine = NULL}, UF_ERR_ARGUMENT, 0, 0, "r: combine is NULL"},
    {"f->f", {.combine = SUM, .flags = UF_ORDERED | UF_SERIAL}, UF_ERR_ARGUMENT, 0, 0, "UF_ORDERED and UF_SERIAL"},
    {"f->f", {.combine = SUM, .flags = UF_WIDEN}, UF_ERR_ARGUMENT, 0, 0, "flags of the reduction is 0x80; bits 0x80 are unknown"},
    /* Each text is named, and the place in it. */
    {"f->f", {.combine = "(a, b) {\n return a +; }"}, UF_ERR_SYNTAX, 2, 12, "2:12: combine: expected an expression, got ';'\n   return a +; }\n             ^"},
    {"f->f", {.combine = SUM, .map = "(x) { return y; }"}, UF_ERR_TYPE, 1, 14, "1:14: map: "},
    {"f->f", {.combine = SUM, .map = "(x) { return x"}, UF_ERR_SYNTAX, 1, 15, "1:15: map: expected ';'"},
    {"f->f", {.combine = SUM, .finish = "(s, n) { return t; }"}, UF_ERR_TYPE, 1, 17, "1:17: finish: "},
    {"f->f", {.combine = "(a, b) { return a % b; }"}, UF_ERR_TYPE, 1, 19, "1:19: combine: '%' needs integers"},
    {"i->i; f->f", {.combine = "(a, b) { return a ^ b; }"}, UF_ERR_TYPE, 1, 19, "combine: '^' needs integers"},
    {"f->f", {.combine = SUM, .identity = "1 +"}, UF_ERR_SYNTAX, 1, 4, "1:4: identity: expected an expression, got the end"},
    {"f->f", {.combine = SUM, .identity = ""}, UF_ERR_SYNTAX, 1, 1, "1:1: identity: expected an expression"},
    {"f->f", {.combine = SUM, .identity = "0 1"}, UF_ERR_SYNTAX, 1, 3, "1:3: identity: expected ',' or the end of the text, got '1'"},
    {"f->f", {.combine = SUM, .identity = "x"}, UF_ERR_TYPE, 1, 1, "1:1: identity: "},
    {"f->f", {.combine = SUM, .identity = "0, 1"}, UF_ERR_TYPE, 1, 1, "identity: 2 values, but the state has 1"},
    {"ff->ff", {.combine = PAIRS, .identity = "0"}, UF_ERR_TYPE, 1, 1, "identity: 1 value, but the state has 2"},
    {"ff->ff", {.combine = PAIRS, .identity = "0, 5 % 2.0"}, UF_ERR_TYPE, 1, 6, "1:6: identity: '%' needs integers"},
    {"f->f", {.combine = SUM, .state = "float3"}, UF_ERR_SYNTAX, 1, 1, "1:1: state: unknown dtype \"float3\""},
    {"f->f", {.combine = SUM, .state = ""}, UF_ERR_SYNTAX, 1, 1, "state: expected 1 dtype, got none"},
    {"f->f", {.combine = SUM, .state = "float32,int64"}, UF_ERR_SYNTAX, 1, 1, "state: expected 1 dtype, got 2"},
    {"f->f; d->d; i->i", {.combine = SUM, .state = "f;\nd"}, UF_ERR_TYPE, 0, 0, "state: 2 lists of dtypes, but there are 3 signatures"},
    {NULL, {.combine = SUM, .state = "f; d"}, UF_ERR_TYPE, 0, 0, "state: 2 lists of dtypes"},
    /* What texts take and give. */
    {"f->f", {.combine = "(a) { return a; }"}, UF_ERR_TYPE, 1, 1, "combine: 1 parameter; 2 needed: the values of one state"},
    {"f->f", {.combine = "(a, b, c) { return a; }"}, UF_ERR_TYPE, 1, 1, "combine: 3 parameters; 2 needed"},
    {"f->f", {.combine = "(a, b, c) -> (d, e) { d = a; e = b; }"}, UF_ERR_TYPE, 1, 1, "combine: 3 parameters; 4 needed"},
    {"f->f", {.combine = "[k](a, b) { return a; }"}, UF_ERR_TYPE, 1, 1, "combine: 1 index; only a map has one"},
    {"f->f", {.combine = "(a, b) -> (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6) { a0 = a; }"}, UF_ERR_TYPE, 1, 1, "combine: 17 values of state; at most 16"},
    {"f->f", {.combine = SUM, .map = "(x, y) { return x; }"}, UF_ERR_TYPE, 1, 1, "map: 2 parameters; 1 needed: the inputs of the signatures"},
    {"f->f", {.combine = SUM, .map = "(x) -> (y, z) { y = x; }"}, UF_ERR_TYPE, 1, 1, "map: it gives 2 values; 1 needed: the state"},
    {"f->f", {.combine = SUM, .map = "[i, j](x) { return x; }"}, UF_ERR_TYPE, 1, 1, "map: 2 indices; there is one, the position"},
    {"f->f", {.combine = SUM, .finish = "() { return 0; }"}, UF_ERR_TYPE, 1, 1, "finish: 0 parameters; 1 needed: the values of the state; the count may follow"},
    {"f->f", {.combine = SUM, .finish = "(s, n, m) { return s; }"}, UF_ERR_TYPE, 1, 1, "finish: 3 parameters; 1 needed"},
    {"f->f", {.combine = SUM, .finish = "[i](s) { return s; }"}, UF_ERR_TYPE, 1, 1, "finish: 1 index; only a map has one"},
    {"f->f", {.combine = SUM, .finish = "(s) -> (a, b) { a = s; b = s; }"}, UF_ERR_TYPE, 1, 1, "finish: it gives 2 values; 1 needed: the outputs"},
    {"ff->f", {.combine = SUM}, UF_ERR_TYPE, 0, 0, "r: 2 inputs, but the state has 1 value; without a map they are the same"},
    {"f->ff", {.combine = SUM}, UF_ERR_TYPE, 0, 0, "r: 2 outputs, but the state has 1 value; without a finish they are the same"},
    {"ff->f", {.combine = PAIRS, .finish = "(v, i) { return v; }"}, UF_ERR_TYPE, 0, 0, "dtypes are needed: there is 1 output, but 2 values of state"},
    {"f->", {.combine = SUM}, UF_ERR_SYNTAX, 1, 4, "expected"},
    {"->f", {.combine = SUM, .map = "() { return 1; }"}, UF_ERR_TYPE, 1, 1, "map: no parameters"},
    {NULL, {.combine = SUM, .map = "() { return 1; }"}, UF_ERR_TYPE, 1, 1, "map: no parameters; a reduction has inputs"},
    {NULL, {.combine = "(a, b) { return a ^ b; }", .state = "float32"}, UF_ERR_TYPE, 1, 19, "combine: '^' needs integers"},
    {NULL, {.combine = SUM, .state = "float32", .finish = "(s) { return s % 2; }"}, UF_ERR_TYPE, 1, 16, "finish: '%' needs integers"},
};
/* clang-format on */

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bads); i++) {
        const bad *b = &bads[i];
        uf_reduction_def def = b->def;
        uf_func *f = (uf_func *)&def;
        def.size = sizeof def;
        uf_status s = uf_reduction(&f, "r", b->signatures, &def);
        const uf_error *e = uf_last_error();
        if (s != b->status || !strstr(e->message, b->message) || e->line != b->line || e->column != b->column)
            print_error("row %zu, expected %d at %d:%d with \"%s\", got %d at %d:%d: %s\n", i, b->status, b->line,
                        b->column, b->message, s, e->line, e->column, e->message);
        assert_int_equal(s, b->status);
        assert_non_null(strstr(e->message, b->message));
        assert_true(e->line == b->line && e->column == b->column);
        assert_null(f);
    }
}

#define REFUSED(wanted, part, ...)                                  \
    do {                                                            \
        uf_func *made = (uf_func *)(uintptr_t)16;                   \
        assert_int_equal(uf_define(&made, &(__VA_ARGS__)), wanted); \
        if (!strstr(uf_last_error()->message, part))                \
            print_error("message: %s\n", uf_last_error()->message); \
        assert_non_null(strstr(uf_last_error()->message, part));    \
        assert_null(made);                                          \
    } while (0)

static void test_refused_definitions(void **state) {
    (void)state;
    const uf_section kernel = {"ff->f", "(x, y) { return x + y; }"}, unary = {"f->f", "(x) { return x; }"},
                     indexed = {"ff->f", "  [k](x, y) { return x; }"}, none = {"f->f", NULL};
    const uf_reduction_def sum = {.size = sizeof sum, .combine = SUM};
    const uf_definition base = {.size = sizeof base, .name = "f", .nsections = 1, .sections = &kernel};
    uf_definition d = base;
    d.identity = "1 +";
    REFUSED(UF_ERR_SYNTAX, "1:4: identity: expected an expression", d);
    d.identity = "1, 2";
    REFUSED(UF_ERR_TYPE, "identity: 2 values, but the state has 1", d);
    d.identity = "I % 2";
    REFUSED(UF_ERR_TYPE, "1:3: identity: ", d);
    d.identity = "0";
    d.sections = &unary;
    REFUSED(UF_ERR_ARGUMENT, "f has an identity, but only functions of two inputs and one output reduce", d);
    d.identity = NULL;
    d.flags = UF_SERIAL;
    REFUSED(UF_ERR_ARGUMENT, "f has an order (UF_ORDERED, UF_SERIAL), but only", d);
    d.flags = UF_WIDEN;
    REFUSED(UF_ERR_ARGUMENT, "f has a wide accumulator (UF_WIDEN), but only", d);
    d.sections = &kernel;
    d.flags = UF_SERIAL | UF_ORDERED;
    REFUSED(UF_ERR_ARGUMENT, "f: UF_ORDERED and UF_SERIAL", d);
    d = base;
    d.sections = &indexed;
    REFUSED(UF_ERR_SYNTAX, "1:3: only kernels over indices (uf_kernel) and the map of a reduction have indices", d);
    d = base;
    d.layout = "(n),(n)->()";
    d.identity = "0";
    d.sections = &(uf_section){"ff->f", "(x, y) -> (z) { z = 0; }"};
    REFUSED(UF_ERR_ARGUMENT, "f has an identity, but only", d);

    d = base;
    d.reduction = &sum;
    REFUSED(UF_ERR_ARGUMENT, "a reduction has one section, whose source is NULL", d);
    d.sections = &none;
    d.layout = "(n)->()";
    REFUSED(UF_ERR_ARGUMENT, "a reduction has no layout", d);
    d.layout = NULL;
    d.blas = "dot";
    REFUSED(UF_ERR_ARGUMENT, "a reduction has no BLAS form", d);
    d.blas = NULL;
    d.identity = "0";
    REFUSED(UF_ERR_ARGUMENT, "the identity of a reduction is in its uf_reduction_def", d);
    d.identity = NULL;
    d.flags = UF_ORDERED;
    REFUSED(UF_ERR_ARGUMENT, "the order is in its uf_reduction_def", d);
    d.flags = 0;
    d.nsections = 2;
    REFUSED(UF_ERR_ARGUMENT, "a reduction has one section", d);

    uf_func *f = NULL;
    assert_int_equal(uf_reduction(&f, "f", NULL, NULL), UF_ERR_ARGUMENT);
    assert_int_equal(uf_reduction(NULL, "f", NULL, &sum), UF_ERR_ARGUMENT);
    assert_int_equal(uf_reduction(&f, NULL, NULL, &sum), UF_ERR_ARGUMENT);
    assert_int_equal(uf_reduction(&f, "f", NULL, &(uf_reduction_def){.combine = SUM}), UF_ERR_ARGUMENT);
    assert_non_null(strstr(uf_last_error()->message, "uf_reduction_def.size is 0"));
}

/* Other verbs say which ones run a reduction. */
static void test_other_verbs(void **state) {
    (void)state;
    uf_func *f = reduction_of("f->f", (uf_reduction_def){.combine = SUM});
    float x[4] = {0}, y[4];
    DLTensor args[2] = {UF_ARRAY(x, 4), UF_ARRAY(y, 4)};
    uf_plan *plan;
    static const char words[] = "r is a reduction; uf_reduce, uf_accumulate and uf_reduceat run it";
    assert_int_equal(uf_call(f, 2, args, NULL), UF_ERR_ARGUMENT);
    assert_string_equal(uf_last_error()->message, words);
    assert_int_equal(uf_infer(f, 2, args, NULL), UF_ERR_ARGUMENT);
    assert_string_equal(uf_last_error()->message, words);
    assert_int_equal(uf_plan_new(&plan, f, 2, args, NULL), UF_ERR_ARGUMENT);
    assert_string_equal(uf_last_error()->message, words);
    uf_free(f);
}

static void test_inspected(void **state) {
    (void)state;
    static const DLDevice cpu = {kDLCPU, 0};
    static const struct {
        uf_view view;
        const char *part;
    } views[] = {{UF_VIEW_TREE, "# map\nkernel#0 ( %0 x float32, %1 k int64) -> %2 v float32, %3 i int64\n"},
                 {UF_VIEW_TREE, "\n# combine\nkernel#0 ( %0 a float32, %1 i int64, %2 b float32, %3 j int64) ->"},
                 {UF_VIEW_TREE, "\n# finish\n"},
                 {UF_VIEW_IR, "define internal { float, i64 } @combine("},
                 {UF_VIEW_ASSEMBLY, "uf_r_reduce_"},
                 {UF_VIEW_RESOURCES, "code "}};
    uf_func *f = reduction_of("int32->int64; float32->int64", ARGMAX);
    char *shown;
    for (size_t i = 0; i < COUNT(views); i++) {
        OK(uf_inspect(f, "float32", cpu, views[i].view, &shown));
        if (!strstr(shown, views[i].part))
            print_error("%s\nhas no %s\n", shown, views[i].part);
        assert_non_null(strstr(shown, views[i].part));
        free(shown);
    }
    OK(uf_inspect(f, NULL, cpu, UF_VIEW_TREE, &shown)); /* the first signature */
    assert_non_null(strstr(shown, "%0 x int32"));
    free(shown);
    assert_int_equal(uf_inspect(f, "float32,float32", cpu, UF_VIEW_TREE, &shown), UF_ERR_ARGUMENT);
    assert_null(shown);
    assert_int_equal(uf_inspect(f, "complex64", cpu, UF_VIEW_TREE, &shown), UF_ERR_SIGNATURE);
    uf_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reductions_find_their_types),
        cmocka_unit_test(test_reductions_of_any_types),
        cmocka_unit_test(test_binary_functions_widen),
        cmocka_unit_test(test_binary_functions),
        cmocka_unit_test(test_functions_that_give_bool),
        cmocka_unit_test(test_functions_that_do_not_fold),
        cmocka_unit_test(test_bindings),
        cmocka_unit_test(test_described),
        cmocka_unit_test(test_arity),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_definitions),
        cmocka_unit_test(test_other_verbs),
        cmocka_unit_test(test_inspected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
