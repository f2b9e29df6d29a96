/* test_lang.c - what kernel C means: goldens of typed trees (tests/lang; UF_BLESS=1 writes them anew), the types of
 * operators against the C compiler's own, constants against the C compiler's values, the rules for weak values. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <glob.h>

#undef I /* kernel C's is tested, C's is in the way */

#include "lang/check.h"
#include "lang_try.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* ---- Goldens ---- */

static char *file_read(const char *path) {
    FILE *f = fopen(path, "rb");
    text t = {0};
    char bytes[4096];
    if (!f)
        return NULL;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        text_add(&t, bytes, n);
    fclose(f);
    return text_take(&t);
}

static void file_write(const char *path, const char *s) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(s, f) >= 0 && fclose(f) == 0);
}

/* A line of a function file, to be freed; NULL: it is not there. */
static char *line_of(const char *file, const char *word) {
    for (const char *at = strstr(file, word); at; at = strstr(at + 1, word))
        if (at == file || at[-1] == '\n') {
            at += strlen(word);
            at += strspn(at, " ");
            return strndup(at, strcspn(at, "\n"));
        }
    return NULL;
}

/* The functions of the text itself: those of the prelude, which have no lines, are judged by what they compute (test_math). */
static void print_own(text *out, const tree *t) {
    text all = {0};
    const function *f = NULL;
    bool own = true;
    lang_print(&all, t);
    for (const char *line = all.data, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (*line != ' ') {
            f = f ? f->next : t->functions;
            own = !f || !f->body || f->body->line; /* needs stand behind the last function */
        }
        if (own)
            text_add(out, line, (size_t)(end - line));
    }
    text_free(&all);
}

/* What the kernels of function files use. */
static const char *const golden_modules[] = {
    "intervals",
    "struct interval(T) { T lo, hi; };\n"
    "operator + (interval(T) a, interval(T) b) { return (interval(T)){a.lo + b.lo, a.hi + b.hi}; }\n"
    "operator interval (T x) { return (interval(T)){x, x}; }\n"
    "operator float32 (interval(T) a) { return a.hi - a.lo; }\n"
    "const quarter = 0.25;\n"
    "const int16 odd[3] = {1, 3, 5};\n",
    NULL};

/* The tree of each signature of a function file, under a line that names it. */
static char *trees_of(const char *path, char *file) {
    text out = {0};
    char *signatures = line_of(file, "signatures"), *kernel = strstr(file, "\nkernel\n");
    char *layout = line_of(file, "layout"), *parameters = line_of(file, "parameters");
    if ((!signatures && !parameters) || !kernel)
        fail_msg("%s has no signatures or no kernel", path);
    kernel += strlen("\nkernel\n");
    for (char *next, *s = signatures ? signatures : parameters; s; s = next) {
        arena a = {0};
        tree *t;
        next = strchr(s, ';');
        if (next)
            *next++ = 0;
        s += strspn(s, " ");
        lang_trial trial = {.source = kernel,
                            .types = parameters ? NULL : s,
                            .parameters = parameters ? s : NULL,
                            .layout = layout,
                            .modules = golden_modules};
        if (lang_try_with(&a, &trial, &t))
            fail_msg("%s: %s", path, uf_last_error()->message);
        if (tree_fault(t))
            fail_msg("%s: %s", path, tree_fault(t));
        text_printf(&out, "# %s\n", s);
        print_own(&out, t);
        arena_free(&a);
    }
    free(signatures);
    free(parameters);
    free(layout);
    return text_take(&out);
}

static int first_difference(const char *a, const char *b) {
    int line = 1;
    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    return line;
}

static bool golden_holds(const char *path) {
    char golden[256];
    snprintf(golden, sizeof golden, "%.*s.tree", (int)(strrchr(path, '.') - path), path);
    char *file = file_read(path);
    if (!file)
        return false;
    char *expected = file_read(golden), *got = trees_of(path, file);
    bool same = expected && got && strcmp(expected, got) == 0;
    if (!same && got && getenv("UF_BLESS")) {
        file_write(golden, got);
        same = true;
    }
    if (!same)
        print_error("%s differs from line %d on; look, then UF_BLESS=1\n%s", golden,
                    expected ? first_difference(expected, got ? got : "") : 1, got ? got : "");
    free(file);
    free(expected);
    free(got);
    return same;
}

static void test_goldens(void **state) {
    glob_t files;
    int wrong = 0;
    (void)state;
    assert_int_equal(glob("tests/lang/*.uf", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        wrong += !golden_holds(files.gl_pathv[i]);
    globfree(&files);
    assert_int_equal(wrong, 0);
}

/* ---- Types, against the C compiler ---- */

/* clang-format off */
#define DTYPE_OF(expression) _Generic((expression), _Bool: DT_BOOL, signed char: DT_INT8, short: DT_INT16, int: DT_INT32, \
    long: DT_INT64, long long: DT_INT64, unsigned char: DT_UINT8, unsigned short: DT_UINT16, unsigned: DT_UINT32,          \
    unsigned long: DT_UINT64, unsigned long long: DT_UINT64, float: DT_FLOAT32, double: DT_FLOAT64,                        \
    float complex: DT_COMPLEX64, double complex: DT_COMPLEX128)

#define C_TYPES(X) X(_Bool) X(int8_t) X(int16_t) X(int32_t) X(int64_t) X(uint8_t) X(uint16_t) X(uint32_t) X(uint64_t) X(float) \
    X(double) X(float complex) X(double complex)
#define C_TYPES_AGAIN(X, first) X(first, _Bool) X(first, int8_t) X(first, int16_t) X(first, int32_t) X(first, int64_t)        \
    X(first, uint8_t) X(first, uint16_t) X(first, uint32_t) X(first, uint64_t) X(first, float) X(first, double)             \
    X(first, float complex) X(first, double complex)
#define C_INTEGERS(X) X(_Bool) X(int8_t) X(int16_t) X(int32_t) X(int64_t) X(uint8_t) X(uint16_t) X(uint32_t) X(uint64_t)
/* clang-format on */

typedef struct pair_rule {
    dtype a, b, sum, select;
} pair_rule;
typedef struct unary_rule {
    dtype a, minus, shift; /* shift: of integers, by an int64 */
} unary_rule;

/* The tables are full of what a compiler warns of in C. */
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wdiv-by-zero"
#endif

#define PAIR(x, y) {DTYPE_OF((x)1), DTYPE_OF((y)1), DTYPE_OF((x)1 + (y)1), DTYPE_OF(1 ? (x)1 : (y)1)},
#define PAIRS(x) C_TYPES_AGAIN(PAIR, x)
static const pair_rule pair_rules[] = {C_TYPES(PAIRS)};
#define MINUS(x) {DTYPE_OF((x)1), DTYPE_OF(-(x)1), DT_NONE},
#define SHIFT(x) {DTYPE_OF((x)1), DTYPE_OF(~(x)1), DTYPE_OF((x)1 << (int64_t)1)},
static const unary_rule minus_rules[] = {C_TYPES(MINUS)}, shift_rules[] = {C_INTEGERS(SHIFT)};

static dtype result_type(const char *source, const char *types) {
    arena a = {0};
    tree *t;
    if (lang_try(&a, source, types, &t))
        fail_msg("%s for %s: %s", source, types, uf_last_error()->message);
    if (tree_fault(t))
        fail_msg("%s for %s: %s", source, types, tree_fault(t));
    dtype type = t->kernel->locals[t->kernel->nparams].type;
    arena_free(&a);
    return type;
}

static void expect_type(const char *source, const char *types, dtype expected) {
    dtype got = result_type(source, types);
    if (got != expected)
        fail_msg("%s for %s gives %s, not %s", source, types, dtypes[got].name, dtypes[expected].name);
}

/* float16 and bfloat16 act as float32 in arithmetic. */
static void test_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(pair_rules); i++) {
        const pair_rule *r = &pair_rules[i];
        for (int half = 0; half < 4; half++) {
            dtype a = r->a == DT_FLOAT32 && half & 1 ? DT_FLOAT16 : r->a;
            dtype b = r->b == DT_FLOAT32 && half & 2 ? DT_BFLOAT16 : r->b;
            char types[64];
            snprintf(types, sizeof types, "%s,%s", dtypes[a].name, dtypes[b].name);
            for (const char *o = "+-*/"; *o; o++) {
                char source[64];
                snprintf(source, sizeof source, "(x, y) { return x %c y; }", *o);
                expect_type(source, types, r->sum);
            }
            expect_type("(x, y) { return x ? x : y; }", types, r->select);
            expect_type("(x, y) { x += y; return x; }", types, a);
            expect_type("(x, y) { return x == y; }", types, DT_BOOL);
            expect_type("(x, y) { return x && y; }", types, DT_BOOL);
            expect_type("(x, y) { return x = y; }", types, a);
            expect_type("(x, y) { if (x) return x; return y; }", types, a == b ? a : r->sum);
        }
    }
    for (size_t i = 0; i < COUNT(minus_rules); i++) {
        expect_type("(x) { return -x; }", dtypes[minus_rules[i].a].name, minus_rules[i].minus);
        expect_type("(x) { return +x; }", dtypes[minus_rules[i].a].name, minus_rules[i].minus);
        expect_type("(x) { return !x; }", dtypes[minus_rules[i].a].name, DT_BOOL);
        expect_type("(x) { return x; }", dtypes[minus_rules[i].a].name, minus_rules[i].a);
    }
    for (size_t i = 0; i < COUNT(shift_rules); i++) {
        char types[64];
        expect_type("(x) { return ~x; }", dtypes[shift_rules[i].a].name, shift_rules[i].minus);
        snprintf(types, sizeof types, "%s,int64", dtypes[shift_rules[i].a].name);
        expect_type("(x, n) { return x << n; }", types, shift_rules[i].shift);
        expect_type("(x, n) { return x >> n; }", types, shift_rules[i].shift);
    }
}

/* ---- The type of a function or construct, by the dtype of x; n is an int16 ---- */

/* A letter a dtype, in their order: b bool, i int32, l int64, u uint32, w uint64, f float32, d float64, c complex64,
 * z complex128; "-": it is not defined for x. */
static const struct {
    const char *expression, *types;
} result_rules[] = {
    {"sum(i : 3, x)", "lllllwwwwfffdcz"},
    {"prod(i : 3, x)", "lllllwwwwfffdcz"},
    {"min(i : 3, x)", "iiiiliiuwfffd--"},
    {"any(i : 3, x)", "bbbbbbbbbbbbbbb"},
    {"sum(i : 3, 0.5) * x", "dddddddddddddzz"},
    {"max(i : 2, 1) * x", "iiiiliiuwfffdcz"},
    {"sin(x)", "dddddddddfffdcz"},
    {"atan2(x, 1)", "dddddddddfffd--"},
    {"fma(x, 2, n)", "dddddddddfffd--"},
    {"pow(2, x)", "dddddddddfffdcz"},
    {"ldexp(x, n)", "dddddddddfffd--"},
    {"scalbln(x, n)", "dddddddddfffd--"},
    {"jn(n, x)", "dddddddddfffd--"},
    {"ilogb(x)", "iiiiiiiiiiiii--"},
    {"clz(x)", "iiiiiiiii------"},
    {"min(x, n)", "iiiiliiuwfffd--"},
    {"max(n, x)", "iiiiliiuwfffd--"},
    {"fmin(x, 1)", "dddddddddfffd--"},
    {"fdim(x, n)", "dddddddddfffd--"},
    {"abs(x)", "iiiiliiuwfffdfd"},
    {"clamp(x, 0, 1)", "iiiiliiuwfffd--"},
    {"sign(x)", "iiiiliiuwfffd--"},
    {"isnan(x)", "bbbbbbbbbbbbbbb"},
    {"lrint(x)", "lllllllllllll--"},
    {"_Generic(x, integer: 1, floating: 2.0, complex: 3l, float32: 4u, bool: n > 0)", "biiiiiiiiddudll"},
};

static dtype dtype_of_letter(char letter) {
    static const char letters[] = "biluwfdcz";
    static const dtype types[] = {DT_BOOL,    DT_INT32,   DT_INT64,     DT_UINT32,    DT_UINT64,
                                  DT_FLOAT32, DT_FLOAT64, DT_COMPLEX64, DT_COMPLEX128};
    const char *at = strchr(letters, letter);
    return at ? types[at - letters] : DT_NONE;
}

static void test_results(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(result_rules); i++)
        for (dtype t = DT_BOOL; t < DT_COUNT; t++) {
            dtype expected = dtype_of_letter(result_rules[i].types[t]);
            char source[128], types[64];
            arena a = {0};
            snprintf(source, sizeof source, "(x, n) { return %s; }", result_rules[i].expression);
            snprintf(types, sizeof types, "%s,int16", dtypes[t].name);
            if (expected == DT_NONE)
                assert_int_equal(lang_try(&a, source, types, NULL), UF_ERR_TYPE);
            else
                expect_type(source, types, expected);
            arena_free(&a);
        }
    for (dtype t = DT_BOOL; t < DT_COUNT; t++)
        expect_type("first(a, b) { return a; } (x) { return reduce(first, i : 3, x); }", dtypes[t].name, t);
}

/* ---- Weak values ---- */

static const struct {
    const char *expression, *types; /* of x, y */
    dtype type;
} weak_rules[] = {
    {"1", "int8,int8", DT_INT32},
    {"1.0", "int8,int8", DT_FLOAT64},
    {"NAN", "int8,int8", DT_FLOAT64},
    {"I", "int8,int8", DT_COMPLEX128},
    {"4294967295", "int8,int8", DT_INT64},
    {"0xFFFFFFFF", "int8,int8", DT_UINT32},
    {"1 + 1.0", "int8,int8", DT_FLOAT64},
    {"1 / 3 * x", "float32,int8", DT_FLOAT32},
    {"2 * x", "float16,int8", DT_FLOAT32},
    {"2.0 * x", "bfloat16,int8", DT_FLOAT32},
    {"2.0 * x", "int64,int8", DT_FLOAT64},
    {"2 * x", "int64,int8", DT_INT64},
    {"2 * x", "uint8,int8", DT_INT32},
    {"3000000000 * x", "uint8,int8", DT_INT64},
    {"0xFFFFFFFF + x", "int32,int8", DT_UINT32},
    {"3000000000 * x", "float32,int8", DT_FLOAT32},
    {"2.0 * x", "complex64,int8", DT_COMPLEX64},
    {"2.0 * I * x", "float32,int8", DT_COMPLEX64},
    {"2.0 * I * x", "int32,int8", DT_COMPLEX128},
    {"(y + 0.5) * x", "float32,int64", DT_FLOAT32},
    {"(y + 0.5) * x", "float32,float64", DT_FLOAT64},
    {"sqrt(y * 2.0) * x", "float32,int64", DT_FLOAT32},
    {"sqrt(y) * x", "float32,int64", DT_FLOAT64},
    {"sin(M_PI) * x", "float32,int64", DT_FLOAT32},
    {"max(y, 0.5) * x", "float32,int64", DT_FLOAT32},
    {"jn(y, 0.5) * x", "float32,int64", DT_FLOAT32},
    {"jn(y, 1) * x", "float32,int64", DT_FLOAT32},
    {"yn(2, y) * x", "float32,int64", DT_FLOAT64},
    {"ldexp(0.5, y) * x", "float32,int64", DT_FLOAT32},
    {"scalbln(0.5, y) * x", "float32,int64", DT_FLOAT32},
    {"scalbln(x, y)", "float16,uint64", DT_FLOAT32},
    {"remainder(2, 3.0) * x", "float32,int64", DT_FLOAT32},
    {"max(1, 2) * x", "int64,int64", DT_INT64},
    {"(y ? 0.5 : 1) * x", "float32,int64", DT_FLOAT32},
    {"(y ? x : 1)", "float32,int64", DT_FLOAT32},
    {"(y ? x : 1.0)", "int32,int64", DT_FLOAT64},
    {"x < 0.5", "float32,int8", DT_BOOL},
    {"(double)1.0 * x", "float32,int8", DT_FLOAT64},
    {"1.0f * x", "float16,int8", DT_FLOAT32},
    {"1u * x", "int32,int8", DT_UINT32},
    {"1 << x", "int64,int8", DT_INT32},
    {"1l << x", "int64,int8", DT_INT64},
    {"x << 1.0 / 1 - 1 < 2", "bool,int8", DT_NONE}, /* a type error */
    {"pow(x, 2)", "float32,int8", DT_FLOAT32},
    {"pow(x, 2)", "float16,int8", DT_FLOAT32},
    {"pow(2, x)", "int8,int8", DT_FLOAT64},
    {"exp(I * x)", "float32,int8", DT_COMPLEX64},
    {"pow(x, 0.5)", "complex64,int8", DT_COMPLEX64},
    {"CMPLX(x, 0)", "float16,int8", DT_COMPLEX64},
    {"CMPLX(1, 0) * x", "float32,int8", DT_COMPLEX64},
    {"real(I) * x", "float32,int8", DT_FLOAT32},
    {"conj(I) * x", "float32,int8", DT_COMPLEX64},
    {"abs(-1) * x", "uint64,int8", DT_UINT64},
    {"_Generic(1.5, double: x)", "float32,int8", DT_FLOAT32},
};

static void test_weak(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(weak_rules); i++) {
        char source[128];
        arena a = {0};
        snprintf(source, sizeof source, "(x, y) { return %s; }", weak_rules[i].expression);
        if (weak_rules[i].type == DT_NONE)
            assert_int_equal(lang_try(&a, source, weak_rules[i].types, NULL), UF_ERR_TYPE);
        else
            expect_type(source, weak_rules[i].types, weak_rules[i].type);
        arena_free(&a);
    }
    expect_type("f(a, b) { return b; } (x, y) { return f(x, 1.0); }", "float32,int8", DT_FLOAT32);
    expect_type("f(a, b) { return b; } (x, y) { return f(x, 1.0); }", "float16,int8", DT_FLOAT32);
    expect_type("f(a, b) { return b; } (x, y) { return f(x, I); }", "float32,int8", DT_COMPLEX64);
    expect_type("f(a, b) { return b; } (x, y) { return f(y, 1.0); }", "float32,int8", DT_FLOAT64);
    expect_type("f(a, b) { return b; } (x, y) { return f(x, 1); }", "float32,int8", DT_INT32);
    expect_type("f(a, b) { return b; } (x, y) { return f(x, 3000000000); }", "float32,int8", DT_INT64);
    expect_type("half() { return 0.5; } (x, y) { return half() * x; }", "float32,int8", DT_FLOAT32);
    expect_type("(x, y) { auto t = 1.0; return t * x; }", "float32,int8", DT_FLOAT64);
    expect_type("(x, y) { if (x > 0) return 0; return x; }", "float32,int8", DT_FLOAT32);
}

/* ---- Constants, against the C compiler ---- */

typedef struct constant {
    const char *expression;
    dtype type;
    double value;
} constant;

/* clang-format off */
/* NOLINTBEGIN(bugprone-integer-division) */
#define E(...) {#__VA_ARGS__, DTYPE_OF(__VA_ARGS__), (double)(__VA_ARGS__)}
static const constant constants[] = {
    E(0), E(1), E(017), E(0x1F), E(2147483647), E(2147483648), E(0x7fffffff), E(0xffffffff), E(0x100000000), E(1u),
    E(1l), E(1LL), E(1ull), E(4294967296u), E(1.5), E(1.5f), E(.25), E(5.), E(1e3), E(1E-3f), E(0x1.8p-1), E(0x.8p1), E(0xAp2f),
    E(0.1), E(0.1f), E(123456789.123456789), E(3.4028235e38f), E(4.9e-324), E(1e-46f), E(1 / 3), E(-7 / 2), E(-7 % 3),
    E(7 % -3), E(7u / 2), E(-1 / 2u), E(-1 % 7u), E(1 / 3.0), E(1.0f / 3), E(1 + 2 * 3 - 4), E(2 - 3 - 4), E(100 / 10 / 5),
    E(1 << 4 + 1), E(-16 >> 2), E(0x80000000 >> 4), E(1ull << 63), E(5 & 3 | 4 ^ 1), E(~5), E(~5u), E(-5u), E(- -5), E(+5),
    E(1 ? 2 : 3.0), E(0 ? 2.5f : 3), E(1 ? 2u : -1), E((signed char)300), E((unsigned char)-1), E((float)0.1),
    E((double)0.1f), E((int)2.9), E((int)-2.9), E((unsigned short)70000), E((_Bool)0.1 + 0), E((long long)1e18),
    E(2147483647 + 1u), E(65535 * 65537u), E((short)32767 + (short)1), E(0.1 + 0.2), E(0.1f + 0.2f), E(1e308 * 10),
    E(-(0.0)), E(16777217.0f), E(16777216.0f + 1), E(9007199254740993), E((double)9007199254740993), E(1.0 / 0.0),
};
/* NOLINTEND(bugprone-integer-division) */
/* Comparisons are bool here, int in C. */
#define B(...) {#__VA_ARGS__, DT_BOOL, (double)(__VA_ARGS__)}
static const constant relations[] = {
    B(1 < 2), B(2 <= 1), B(-1 < 1u), B(-1 < 1l), B(0.5f == 0.5), B(1 > 0.5), B(3 != 3), B(!0), B(!2.5), B(!!3),
    B(1 && 0), B(0.5 && 2), B(0 || 0.1), B(1 < 2 == 1), B(1 || 0 && 0), B(NAN == NAN), B(NAN != NAN), B(NAN < 1), B(!(NAN >= 1)),
    B(1 / 3 == 0 && 5 % 3 == 2 || 0),
};
/* clang-format on */

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

static const node *returned_constant(const char *expression, arena *a) {
    char source[128];
    tree *t;
    snprintf(source, sizeof source, "() { return %s; }", expression);
    if (lang_try(a, source, "", &t))
        fail_msg("%s: %s", expression, uf_last_error()->message);
    const node *value = t->kernel->body->kid[0]->kid[1];
    if (value->kind != N_CONST)
        fail_msg("%s is not evaluated", expression);
    return value;
}

static double number_value(number n) {
    return dtype_is_floating(n.type) ? n.as.f[0] : dtypes[n.type].is_signed ? (double)n.as.i : (double)n.as.u;
}

static void expect_constant(const constant *c) {
    arena a = {0};
    const node *got = returned_constant(c->expression, &a);
    double value = number_value(got->value);
    if (got->type != c->type || got->value.type != c->type || value != c->value || signbit(value) != signbit(c->value))
        fail_msg("%s is %s %.17g, not %s %.17g", c->expression, dtypes[got->type].name, value, dtypes[c->type].name,
                 c->value);
    arena_free(&a);
}

/* What C leaves undefined is defined here. */
static const constant total[] = {
    {"0b101", DT_INT32, 5},
    {"1 / 0", DT_INT32, 0},
    {"1 % 0", DT_INT32, 0},
    {"1u / 0", DT_UINT32, 0},
    {"(-2147483647 - 1) / -1", DT_INT32, -2147483648.0},
    {"(-2147483647 - 1) % -1", DT_INT32, 0},
    {"2147483647 + 1", DT_INT32, -2147483648.0},
    {"1 << 31", DT_INT32, -2147483648.0},
    {"1 << 32", DT_INT32, 0},
    {"1 << -1", DT_INT32, 0},
    {"-1 >> 32", DT_INT32, -1},
    {"-1 >> -1", DT_INT32, -1},
    {"5 >> 32", DT_INT32, 0},
    {"-1 >> 4294967297", DT_INT32, -1},
    {"1l << 63", DT_INT64, -9223372036854775808.0},
    {"(int)1e10", DT_INT32, 2147483647},
    {"(int)-1e10", DT_INT32, -2147483648.0},
    {"(int)NAN", DT_INT32, 0},
    {"(uint8)-1.0", DT_UINT8, 0},
    {"(uint8)256.0", DT_UINT8, 255},
    {"(int8)INFINITY", DT_INT8, 127},
    {"(uint64)1e30", DT_UINT64, 18446744073709551615.0},
    {"(float16)65520.0", DT_FLOAT16, INFINITY},
    {"(float16)0.1", DT_FLOAT16, 0.0999755859375},
    {"(bfloat16)0.1", DT_BFLOAT16, 0.10009765625},
    /* Both parts at once: each is rounded to its type. */
    {"real((0.5f - I) / 0.1f)", DT_FLOAT32, 5},
    {"imag((0.5f - I) / 0.1f)", DT_FLOAT32, -10},
    {"real((0.1f - I) * (0.1f + I * 0.3f))", DT_FLOAT32, (double)(0.1f * 0.1f + 0.3f)},
};

static void test_constants(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(constants); i++)
        expect_constant(&constants[i]);
    for (size_t i = 0; i < COUNT(relations); i++)
        expect_constant(&relations[i]);
    for (size_t i = 0; i < COUNT(total); i++)
        expect_constant(&total[i]);
}

/* Every helper of the prelude type-checks for every dtype, or says for which it is not defined. */
static void test_prelude(void **state) {
    (void)state;
    for (int i = 0; i < prelude_row_count; i++)
        for (dtype t = DT_BOOL; prelude_rows[i].rule != RULE_EXACT && t < DT_COUNT; t++) {
            static const char *const arguments[] = {"", "x", "x, x", "x, x, x"};
            char source[64];
            arena a = {0};
            tree *tree_made;
            snprintf(source, sizeof source, "(x) { return %s(%s); }", prelude_rows[i].name,
                     arguments[prelude_rows[i].arity]);
            uf_status status = lang_try(&a, source, dtypes[t].name, &tree_made);
            const char *why = prelude_rows[i].rule == RULE_WORDS ? "needs integers" : "complex";
            bool refused =
                status == UF_ERR_TYPE && dtypes[t].kind >= DK_FLOATING && strstr(uf_last_error()->message, why);
            if (status ? !refused : tree_fault(tree_made) != NULL)
                fail_msg("%s for %s: %s", source, dtypes[t].name,
                         status ? uf_last_error()->message : tree_fault(tree_made));
            arena_free(&a);
        }
}

/* Philox 4x32-10 of seed, i, k: the word of block i >> 2 as Random123 1.14 has it, and what the others make of such words. */
static const struct {
    uint64_t seed, i, k;
    uint32_t bits;
} philox[] = {
    {0, 0, 0, 0x6627E8D5},
    {0, 1, 0, 0xE169C58D},
    {0, 2, 0, 0xBC57AC4C},
    {0, 3, 0, 0x9B00DBD8},
    {0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x411FCEFD},
    {0x299F31D0A4093822, 0x85A308D3243F6A88, 0x370734413198A2E, 0xEF508D2F},
    {0x1, 0x4, 0x0, 0xAC08141B},
    {0x1, 0x7, 0x0, 0xA7F66093},
    {0x100000000, 0x5, 0x0, 0x6306F434},
    {0x1, 0x400000000, 0x0, 0x833FF8DC},
    {0x1, 0x2, 0x1, 0x3909104B},
    {0x1, 0x2, 0x100000000, 0x48842B20},
    {0x2A, 0x7048860DDF79, 0x7, 0x46849BAB},
    {0xDEADBEEFCAFEF00D, 0x3, 0x3039, 0x525AA7B4},
};

static number run_random(const char *what, uint64_t seed, uint64_t i, uint64_t k) {
    char source[128];
    arena a = {0};
    tree *t;
    snprintf(source, sizeof source, "(s, i, k) { return %s(s, i, k); }", what);
    assert_int_equal(lang_try(&a, source, "uint64,uint64,uint64", &t), UF_OK);
    number out,
        in[] = {{.type = DT_UINT64, .as.u = seed}, {.type = DT_UINT64, .as.u = i}, {.type = DT_UINT64, .as.u = k}};
    assert_null(ref_run(t, in, &out, 10000));
    arena_free(&a);
    return out;
}

static void expect_near(double got, double expected, double ulp) {
    if (fabs(got - expected) > 8 * ulp * fmax(1, fabs(expected)))
        fail_msg("%.17g, not %.17g", got, expected);
}

/* Neighbours, since two have a pair of words in common. */
static void expect_numbers(uint64_t seed, uint64_t even, uint64_t k) {
    double w[4];
    const double pi = 3.14159265358979323846;
    uint64_t group = even >> 1 << 2; /* of which even is the first or the second element of float64 */
    for (uint64_t n = 0; n < 4; n++)
        w[n] = (double)run_random("random_bits", seed, group + n, k).as.u;
    for (uint64_t n = 0; n < 4; n++)
        assert_true(run_random("random_uniformf", seed, group + n, k).as.f[0] == floor(w[n] / 256) * 0x1p-24);
    for (uint64_t n = 0; n < 2; n++) {
        double high = floor(w[2 * n] / 32), low = floor(w[2 * n + 1] / 64);
        assert_true(run_random("random_uniform", seed, even + n, k).as.f[0] == (high * 0x1p26 + low) * 0x1p-53);
        double size = sqrt(-2 * log(1 - floor(w[2 * n] / 256) * 0x1p-24)),
               turn = 2 * pi * floor(w[2 * n + 1] / 256) * 0x1p-24;
        expect_near(run_random("random_normalf", seed, group + 2 * n, k).as.f[0], size * cos(turn), 0x1p-24);
        expect_near(run_random("random_normalf", seed, group + 2 * n + 1, k).as.f[0], size * sin(turn), 0x1p-24);
    }
    double u = (floor(w[0] / 32) * 0x1p26 + floor(w[1] / 64)) * 0x1p-53,
           v = (floor(w[2] / 32) * 0x1p26 + floor(w[3] / 64)) * 0x1p-53;
    expect_near(run_random("random_normal", seed, even, k).as.f[0], sqrt(-2 * log(1 - u)) * cos(2 * pi * v), 0x1p-53);
    expect_near(run_random("random_normal", seed, even + 1, k).as.f[0], sqrt(-2 * log(1 - u)) * sin(2 * pi * v),
                0x1p-53);
}

static void test_random_numbers(void **state) {
    (void)state;
    for (size_t n = 0; n < COUNT(philox); n++) {
        uint64_t got = run_random("random_bits", philox[n].seed, philox[n].i, philox[n].k).as.u;
        if (got != philox[n].bits)
            fail_msg("row %zu gives %llx", n, (unsigned long long)got);
        expect_numbers(philox[n].seed, philox[n].i & (UINT64_MAX / 2 - 1), philox[n].k);
    }
    /* Negative and narrow arguments are their uint64s. */
    expect_type("(x) { return random_bits(x, -1, 3); }", "int8", DT_UINT32);
    expect_type("(x, y) { return random_uniformf(1, x, 0) * y; }", "int64,float16", DT_FLOAT32);
    expect_type("(x, y) { return random_uniform(1, x, 0) * y; }", "int64,float32", DT_FLOAT64);
    expect_type("(x, y) { return random_normalf(1, x, true) * y; }", "uint8,float64", DT_FLOAT64);
    expect_type("(x, y) { return random_normal(1, x, 0) + y; }", "bool,float32", DT_FLOAT64);
}

/* Kernels over four indices and an array of four elements, points in order. */
static const struct {
    dtype type;
    const char *body;
    double before[4], after[4];
} kernels[] = {
    {DT_INT32, "a[n - 1 - i] = i + len(a) * 10;", {0}, {43, 42, 41, 40}},
    {DT_INT32, "if (i == 1) return; a[i]++;", {1, 2, 3, 4}, {2, 2, 4, 5}},
    {DT_INT32, "a[i - 1] = a[i + 1] + 1;", {1, 2, 3, 4}, {4, 5, 1, 4}},
    {DT_INT32, "atomic_add(a[0], a[i]);", {1, 2, 3, 4}, {11, 2, 3, 4}},
    {DT_INT32, "a[i] = atomic_add(a[i - 1], 10) + 100 * atomic_sub(a[i + 9], i);", {1, 2, 3, 4}, {10, 10, 10, 0}},
    {DT_UINT8, "atomic_add(a[i], 255); atomic_max(a[1], i); atomic_min(a[2], i + 1);", {1, 2, 3, 0}, {0, 3, 0, 255}},
    {DT_UINT8, "atomic_and(a[i], 3); atomic_or(a[i], 16); atomic_xor(a[i], 1);", {0, 1, 6, 255}, {17, 16, 19, 18}},
    {DT_BOOL, "atomic_xor(a[i], i & 1); atomic_or(a[0], 4); atomic_and(a[1], 0);", {0, 0, 1, 1}, {1, 0, 1, 0}},
    {DT_FLOAT16, "atomic_add(a[i], 0.1);", {1, 2048, 0, -1}, {1.099609375, 2048, 0.0999755859375, -0.89990234375}},
    {DT_FLOAT32, "atomic_min(a[i], NAN); atomic_max(a[i], 5);", {1, NAN, 9, -1}, {NAN, NAN, NAN, NAN}},
    {DT_FLOAT32, "atomic_max(a[i], i); atomic_min(a[i], 2);", {1, 2, NAN, -1}, {1, 2, NAN, 2}},
    {DT_FLOAT32, "auto old = atomic_exchange(a[i], 7); if (i == 2) a[3] = old;", {1, 2, 3, 4}, {7, 7, 7, 7}},
    {DT_FLOAT32, "atomic_compare_exchange(a[i], i < 2 ? NAN : 0, 5);", {NAN, 1, -0.0, 0}, {5, 1, -0.0, 5}},
    {DT_INT64,
     "a[i] = atomic_compare_exchange(a[0], 1, 8) + atomic_compare_exchange(a[4], 0, 1);",
     {1, 2, 3, 4},
     {8, 1, 8, 8}},
    {DT_INT32,
     "assert(a[i] > 7 && i < 0); forall (j : len(a)) atomic_add(a[j], 1); a[i] += sum(j : extent(a, 0), 1);",
     {0, 0, 0, 0},
     {8, 8, 8, 8}},
    {DT_INT32, "int t[3] = {1, 2, 3}; a[i] = len(t) * 10 + t[i % 3]; n_of(a[i]);", {0, 0, 0, 0}, {31, 32, 33, 31}},
};

static void expect_kernel(size_t row) {
    char source[256], data[4 * 16];
    int64_t index, words[] = {4, 4, 1};
    arena a = {0};
    tree *t;
    dtype type = kernels[row].type;
    snprintf(source, sizeof source, "%s[]", dtypes[type].name);
    char *body = source + strlen(source) + 1;
    snprintf(body, sizeof source - strlen(source) - 1, "n_of(x) { return x; } [i : n](a) { %s }", kernels[row].body);
    if (lang_try_kernel(&a, source, body, &t) || tree_fault(t))
        fail_msg("%s: %s", body, uf_last_error()->message);
    for (int k = 0; k < 4; k++)
        number_write(ref_convert((number){.type = DT_FLOAT64, .as.f = {kernels[row].before[k]}}, type), type,
                     data + k * dtypes[type].size);
    for (index = 0; index < 4; index++) {
        ref_core call = {.data = (char *[]){data, (char *)&index},
                         .types = (dtype[]){type, DT_INT64},
                         .words = words,
                         .steps = 1000};
        const char *wrong = ref_run_core(t, &call);
        if (wrong)
            fail_msg("%s: %s", body, wrong);
    }
    for (int k = 0; k < 4; k++) {
        number got = ref_convert(number_read(type, data + k * dtypes[type].size), DT_FLOAT64);
        if (!ref_same(got, (number){.type = DT_FLOAT64, .as.f = {kernels[row].after[k]}}))
            fail_msg("%s: element %d is %.17g, not %.17g", body, k, got.as.f[0], kernels[row].after[k]);
    }
    arena_free(&a);
}

static void test_kernels(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(kernels); i++)
        expect_kernel(i);
}

/* A literal beside float32 is rounded from its decimal digits once: this one would round the other way through double. */
static void test_literal_rounds_once(void **state) {
    arena a = {0};
    tree *t;
    (void)state;
    static const char source[] = "(x) { return x + 1.00000017881393432617187499; }";
    assert_true((float)1.00000017881393432617187499 != 1.00000017881393432617187499f);
    assert_int_equal(lang_try(&a, source, "float32", &t), UF_OK);
    double value = t->kernel->body->kid[0]->kid[1]->kid[1]->value.as.f[0];
    assert_true(value == (double)1.00000017881393432617187499f);
    arena_free(&a);
}

/* A list of values is a kernel without inputs that assigns them in turn. */
static void test_values(void **state) {
    arena a = {0};
    const syntax *s;
    tree *t;
    dtype types[] = {DT_INT8, DT_FLOAT16, DT_NONE, DT_NONE};
    (void)state;
    assert_int_equal(lang_parse_values(&a, " -1, // one\n INFINITY, 1 ? 2 : 3.0, max(1, 2u) ", NULL, &s), UF_OK);
    assert_true(lang_inputs(s) == 0 && lang_indices(s) == 0 && lang_outputs(s) == 4);
    assert_int_equal(lang_check(&a, s, NULL, NULL, NULL, 0, types, 4, false, &t), UF_OK);
    assert_true(types[0] == DT_INT8 && types[1] == DT_FLOAT16 && types[2] == DT_FLOAT64 && types[3] == DT_UINT32);
    if (tree_fault(t))
        fail_msg("%s", tree_fault(t));
    const node *first = t->kernel->body;
    assert_true(first->kind == N_EVAL && first->kid[0]->kind == N_ASSIGN && first->kid[0]->kid[0]->local == 0);
    assert_true(first->next->kid[0]->kid[1]->kind == N_CONST && first->next->kid[0]->kid[0]->local == 1);
    assert_int_equal(lang_parse(&a, "[i, j](x) { return x; }", NULL, &s), UF_OK);
    assert_true(lang_inputs(s) == 1 && lang_indices(s) == 2 && lang_outputs(s) == 1);
    arena_free(&a);
}

static const struct {
    const char *source;
    uf_status status;
    int column;
    const char *words;
} bad_values[] = {
    {"", UF_ERR_SYNTAX, 1, "expected an expression, got the end of the text"},
    {"1,", UF_ERR_SYNTAX, 3, "expected an expression"},
    {"1, , 2", UF_ERR_SYNTAX, 4, "expected an expression, got ','"},
    {"1; 2", UF_ERR_SYNTAX, 2, "expected ',' or the end of the text, got ';'"},
    {"1 }", UF_ERR_SYNTAX, 3, "got '}'"},
    {"f(x) { return x; } 1", UF_ERR_SYNTAX, 6, "expected ',' or the end of the text"},
    {"auto x = 1", UF_ERR_SYNTAX, 1, "expected an expression"},
    {"0, x", UF_ERR_TYPE, 4, "'x'"},
    {"1 % 2.0", UF_ERR_TYPE, 3, "'%' needs integers"},
};

static void test_bad_values(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad_values); i++) {
        arena a = {0};
        const syntax *s;
        tree *t;
        dtype types[] = {DT_FLOAT32, DT_FLOAT32};
        uf_status got = lang_parse_values(&a, bad_values[i].source, NULL, &s);
        if (!got)
            got = lang_check(&a, s, NULL, NULL, NULL, 0, types, lang_outputs(s), false, &t);
        arena_free(&a);
        if (!strstr(uf_last_error()->message, bad_values[i].words))
            print_error("%s: %s\n", bad_values[i].source, uf_last_error()->message);
        assert_int_equal(got, bad_values[i].status);
        assert_int_equal(uf_last_error()->column, bad_values[i].column);
        assert_non_null(strstr(uf_last_error()->message, bad_values[i].words));
    }
}

static void test_layout_of_text(void **state) {
    static const char *const sources[] = {"(x) {\r\n  return x; // a comment\r\n}\r\n",
                                          "\xEF\xBB\xBF(x) { return x; }",
                                          "(x)\t{\v\f return/**/x; } //",
                                          "(x) { /* /* // \xC3\xA9 */ return x; }\n\n",
                                          "(x,) { return x; }",
                                          "\n\n(x){return x;}"};
    arena a = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++)
        if (lang_try(&a, sources[i], "int8", NULL))
            fail_msg("%s", uf_last_error()->message);
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_weak),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_prelude),
        cmocka_unit_test(test_random_numbers),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_literal_rounds_once),
        cmocka_unit_test(test_layout_of_text),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_bad_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
