/* test_bad_input.c - what a caller can get wrong, through the public interface. Each is refused with its status, the place
 * and the words; no output is written; a good call right after succeeds. The tests see no CUDA driver
 * (UFUNC_CUDA_DRIVER points nowhere), so that what CUDA must not be asked for is seen. UF_SHOW=1 prints every message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <complex.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ufunc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const DLDataType F32 = {kDLFloat, 32, 1};
static const DLDevice CPU = {kDLCPU, 0}, GPU = {kDLCUDA, 0};

static uf_func *add, *bytes, *any, *two; /* of sum, of bytes, of any types, with two outputs */
static float x[12], y[12], mask_like[12];
static _Bool mask[12];
static _Alignas(64) unsigned char out[256]; /* outputs of all calls that must fail */

#define OUT(...) UF_ARRAY((float *)(void *)out, __VA_ARGS__)
#define LIST(...) ((DLTensor[]){__VA_ARGS__})

/* ---- What a refusal is ---- */

typedef struct place {
    int argument, dimension, line, column;
} place;
#define NOWHERE ((place){-1, -1, 0, 0})
#define ARGUMENT(k) ((place){k, -1, 0, 0})
#define DIMENSION(k, d) ((place){k, d, 0, 0})
#define SOURCE(line, column) ((place){-1, -1, line, column})

/* An error that no test expects, so that the next one is known to be new. */
static void forget(void) { uf_describe(NULL, NULL); }

static void still_works(const char *file, int line) {
    float r[12] = {0};
    for (size_t i = 0; i < sizeof out; i++)
        _assert_int_equal(out[i], 0xA5, file, line);
    _assert_int_equal(UF_CALL(add, UF_ARRAY(x, 12), UF_ARRAY(y, 12), UF_ARRAY(r, 12)), UF_OK, file, line);
    for (int i = 0; i < 12; i++)
        _assert_true(r[i] == x[i] + y[i], "a good call gives its sum", file, line);
}

static void refused(uf_status got, uf_status want, place at, const char *part, const char *file, int line) {
    const uf_error e = *uf_last_error();
    bool said = strstr(e.message, part);
    _assert_int_equal(e.source[0] != 0, e.line > 0, file, line);
    if (getenv("UF_SHOW"))
        print_message("%d: %d (%d, %d, %d:%d) %s\n", line, got, e.argument, e.dimension, e.line, e.column, e.message);
    if (got != want || !said)
        print_error("expected status %d and \"%s\", got status %d and: %s\n", want, part, got, e.message);
    _assert_int_equal(got, want, file, line);
    _assert_int_equal(e.status, want, file, line);
    _assert_true(said, part, file, line);
    _assert_int_equal(e.argument, at.argument, file, line);
    _assert_int_equal(e.dimension, at.dimension, file, line);
    _assert_int_equal(e.line, at.line, file, line);
    _assert_int_equal(e.column, at.column, file, line);
    still_works(file, line);
}

#define BAD(status, at, part, ...) (forget(), refused((__VA_ARGS__), status, at, part, __FILE__, __LINE__))

static uf_options with_where(const DLTensor *where) { return (uf_options){.size = sizeof(uf_options), .where = where}; }

/* ---- Registration ---- */

static uf_func *const not_null = (uf_func *)&x;

/* Fails, and says so in *out too. */
static uf_status vectorize(const char *name, const char *signatures, const char *source) {
    uf_func *f = not_null;
    uf_status s = uf_vectorize(&f, name, signatures, source);
    assert_null(f);
    return s;
}

static uf_status define(const uf_definition *d) {
    uf_func *f = not_null;
    uf_status s = uf_define(&f, d);
    assert_null(f);
    return s;
}

static void names(void **state) {
    (void)state;
    char name[129] = "";
    uf_func *f;
    memset(name, 'n', 128);
    BAD(UF_ERR_ARGUMENT, NOWHERE, "out is NULL", uf_vectorize(NULL, "f", "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "the name is NULL", vectorize(NULL, "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "0 characters", vectorize("", "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "128 characters; 1 to 127", vectorize(name, "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "\"1a\" is no identifier", vectorize("1a", "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "character 2", vectorize("a-b", "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "character 2", vectorize("a\xC3\xA9", "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "character 2", vectorize("a\"; define void @f() {", "f->f", "(x) { return x; }"));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "source", vectorize("f", "f->f", NULL));
    name[127] = 0;
    assert_int_equal(uf_vectorize(&f, name, "f->f", "(x) { return x; }"), UF_OK);
    uf_free(f);
}

/* Every refusal of a text: the status, the position, and the caret below that position. */
static void texts(void **state) {
    (void)state;
    static const struct {
        const char *signatures, *source;
        uf_status status;
        int line, column;
        const char *part;
    } rows[] = {
        {"", "(x) { return x; }", UF_ERR_SYNTAX, 1, 1, "expected a signature"},
        {" ;\n; ", "(x) { return x; }", UF_ERR_SYNTAX, 1, 1, "expected a signature"},
        {"float32", "(x) { return x; }", UF_ERR_SYNTAX, 1, 8, "got the end"},
        {"float33->float32", "(x) { return x; }", UF_ERR_SYNTAX, 1, 1, "unknown dtype \"float33\""},
        {"f->f; d->g", "(x) { return x; }", UF_ERR_SYNTAX, 1, 10, "\"g\""},
        {"f->f\nd,->d", "(x) { return x; }", UF_ERR_SYNTAX, 2, 2, "\",\""},
        {"f->f;\n\n  dd->d", "(x) { return x; }", UF_ERR_SYNTAX, 3, 3, "inputs: 2"},
        {"f->f; d->d; float32->float32", "(x) { return x; }", UF_ERR_SYNTAX, 1, 13, "repeats \"f->f\" at 1:1"},
        {"float32(float32", "(x) { return x; }", UF_ERR_SYNTAX, 1, 16, "\")\""},
        {"f->", "(x) { return x; }", UF_ERR_SYNTAX, 1, 4, "the end"},
        {"ff->f", "(x) { return x; }", UF_ERR_TYPE, 0, 0, "2 inputs and 1 output"},
        {"f->ff", "(x) { return x; }", UF_ERR_TYPE, 0, 0, "1 input and 2 outputs"},
        {"f->f", "", UF_ERR_SYNTAX, 1, 1, ""},
        {"f->f", "x + 1", UF_ERR_SYNTAX, 1, 3, ""},
        {"f->f", "(x) { return x +; }", UF_ERR_SYNTAX, 1, 17, "';'"},
        {"f->f", "(x) {\n  return x\n}", UF_ERR_SYNTAX, 2, 11, "expected ';' behind 'x'"},
        {"f->f", "(x) { return (x; }", UF_ERR_SYNTAX, 1, 16, "')'"},
        {"f->f", "(x) { return x; ", UF_ERR_SYNTAX, 1, 17, "end"},
        {"f->f", "(x) { return x; } y", UF_ERR_SYNTAX, 1, 19, ""},
        {"f->f", "(x) { return x; /* }", UF_ERR_SYNTAX, 1, 17, "comment"},
        {"f->f", "(x) { return x @ 2; }", UF_ERR_SYNTAX, 1, 16, "@"},
        {"f->f", "(x) { return x \xC3\x97 2; }", UF_ERR_SYNTAX, 1, 16, ""},
        {"f->f", "(x) { return x + '2'; }", UF_ERR_SYNTAX, 1, 18, "'"},
        {"f->f", "(x) { return 0x; }", UF_ERR_SYNTAX, 1, 16, "hexadecimal"},
        {"f->f", "(x) { return 1e400000; }", UF_ERR_SYNTAX, 1, 14, ""},
        {"f->f", "(x) { return 99999999999999999999; }", UF_ERR_SYNTAX, 1, 14, ""},
        {"f->f", "(x, x) { return x; }", UF_ERR_SYNTAX, 1, 5, "'x' is named twice"},
        {"f->f", "#include <math.h>\n(x) { return x; }", UF_ERR_SYNTAX, 1, 1, "#"},
        {"f->f", "(x) { goto end; }", UF_ERR_SYNTAX, 1, 7, "goto"},
        {"f->f", "(x) { return *x; }", UF_ERR_SYNTAX, 1, 14, "*"},
        {"f->f", "(x) { return sizeof x; }", UF_ERR_SYNTAX, 1, 14, "sizeof"},
        {"f->f", "(x) { return z; }", UF_ERR_TYPE, 1, 14, "'z' is not known"},
        {"f->f", "(x) { return cosinus(x); }", UF_ERR_TYPE, 1, 14, "cosinus"},
        {"f->f", "(x) { return pow(x); }", UF_ERR_TYPE, 1, 14, "pow"},
        {"f->f", "(x) {\n\tauto t = x;\n\treturn t % 2;\n}", UF_ERR_TYPE, 3, 11, "float32"},
        {"f->f", "(x) { return x << 1; }", UF_ERR_TYPE, 1, 16, "float32"},
        {"f->f; F->F", "(x) { return x < 1 ? 1 : 2; }", UF_ERR_TYPE, 1, 16, "complex64"},
        {"f->f", "(x) { break; }", UF_ERR_TYPE, 1, 7, "break"},
        {"f->f", "(x) { 1 = x; return x; }", UF_ERR_SYNTAX, 1, 9, ""},
        {"f->f", "(x) { const float t = 1; t = x; return t; }", UF_ERR_TYPE, 1, 26, "const"},
        {"f->f", "(x) { int t[3]; return t; }", UF_ERR_TYPE, 1, 24, "array"},
        {"f->f", "(x) { int t[x]; return t[0]; }", UF_ERR_TYPE, 1, 13, "constant"},
        {"f->f", "(x) { return x[0]; }", UF_ERR_TYPE, 1, 14, "cannot be indexed"},
        {"f->f", "(x) -> (y) { return x; }", UF_ERR_TYPE, 1, 21, "the outputs have names"},
        {"f->f", "(x) { return; }", UF_ERR_TYPE, 1, 7, "return"},
        {"f->f", "g(a) { return g(a); } (x) { return g(x); }", UF_ERR_TYPE, 1, 15, "g"},
        {"f->f", "g(a) { return a; } (x) { return g(x, x); }", UF_ERR_TYPE, 1, 33, "g"},
    };
    int wrong = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        forget();
        uf_status s = vectorize("f", rows[i].signatures, rows[i].source);
        const uf_error *e = uf_last_error();
        bool right = s == rows[i].status && e->status == s && e->line == rows[i].line && e->column == rows[i].column &&
                     strstr(e->message, rows[i].part) && e->argument == -1 && e->dimension == -1;
        if (s &&
            e->line) { /* tabs are repeated before the caret: it stands after as many characters as the column says */
            const char *caret = strrchr(e->message, '\n');
            right = right && caret && strlen(caret) == 3 + (size_t)e->column && caret[strlen(caret) - 1] == '^';
        }
        if (!right)
            print_error("%s | %s: wanted status %d at %d:%d with \"%s\", got %d: %s\n", rows[i].signatures,
                        rows[i].source, rows[i].status, rows[i].line, rows[i].column, rows[i].part, s, e->message);
        wrong += !right;
        still_works(__FILE__, __LINE__);
    }
    assert_int_equal(wrong, 0);
}

static void definitions(void **state) {
    (void)state;
    static const uf_section good = {"ff->f", "(x, y) { return x + y; }"}, no_signatures = {NULL, "(x) { return x; }"},
                            no_source = {"f->f", NULL};
    const uf_definition base = {.size = sizeof base, .name = "f", .nsections = 1, .sections = &good};
    struct {
        uf_definition known;
        unsigned char tail[24];
    } longer = {base, {0}};
    uf_definition d = base;
    uf_func *f;

    BAD(UF_ERR_ARGUMENT, NOWHERE, "out is NULL", uf_define(NULL, &d));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "the definition is NULL", define(NULL));
    d.size = 0;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "uf_definition.size is 0", define(&d));
    d.size = sizeof d.size - 1;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "uf_definition.size is 7", define(&d));
    d.size = offsetof(uf_definition, nsections); /* too old to have sections */
    BAD(UF_ERR_ARGUMENT, NOWHERE, "0 sections", define(&d));
    longer.known.size = sizeof longer;
    longer.tail[23] = 1;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "is not zero", define(&longer.known));
    longer.tail[23] = 0;
    assert_int_equal(uf_define(&f, &longer.known), UF_OK);
    uf_free(f);
    d.size = offsetof(uf_definition, fast); /* a shorter, older struct: what follows is not read */
    d.fast = d.flags = 0xFFFF;
    assert_int_equal(uf_define(&f, &d), UF_OK);
    uf_free(f);

#define CHANGED(part, member, value)                     \
    do {                                                 \
        d = base;                                        \
        d.member = value;                                \
        BAD(UF_ERR_ARGUMENT, NOWHERE, part, define(&d)); \
    } while (0)
    CHANGED("the name is NULL", name, NULL);
    CHANGED("0 sections", nsections, 0);
    CHANGED("-1 sections", nsections, -1);
    CHANGED("sections is NULL", sections, NULL);
    CHANGED("the source is NULL", sections, &no_source);
    CHANGED("bits 0x10 are unknown", fast, 16 | UF_FAST_ALL);
    CHANGED("bits 0x8 are unknown", flags, 8 | UF_DEBUG);
    CHANGED("max_registers is 15", max_registers, 15);
    CHANGED("max_registers is 256", max_registers, 256);
    CHANGED("max_registers is -1", max_registers, -1);
    CHANGED("max_steps is -3", max_steps, -3);
    CHANGED("max_extent is -3", max_extent, -3);
#undef CHANGED

    const uf_section sections[] = {good, no_signatures}, twice[] = {good, {"dd->d; ff->f", good.source}},
                     arity[] = {good, {"f->f", "(x) { return x; }"}}, late[] = {good, {"dd->d", "(x, y) { return x"}};
    d = (uf_definition){.size = sizeof d, .name = "f", .nsections = 2, .sections = sections};
    BAD(UF_ERR_ARGUMENT, NOWHERE, "the signatures of section 1 are NULL", define(&d));
    d.sections = twice;
    BAD(UF_ERR_SYNTAX, NOWHERE, "sections 0 and 1 both have the signature float32,float32->float32", define(&d));
    d.sections = arity;
    BAD(UF_ERR_TYPE, NOWHERE, "1 input and 1 output", define(&d));
    d.sections = late;
    BAD(UF_ERR_SYNTAX, SOURCE(1, 18), "expected", define(&d));
}

/* ---- Sizes: texts of a million characters, 65 operands. Refused or taken, but soon. ---- */

enum {
    MILLION = 1000000
};

/* head, unit over and over up to a million characters, tail. */
static char *long_text(const char *head, const char *unit, const char *tail) {
    char *s = malloc(MILLION + 1);
    size_t n = strlen(head), end = MILLION - strlen(tail), step = strlen(unit);
    assert_non_null(s);
    memcpy(s, head, n);
    for (; n + step <= end; n += step)
        memcpy(s + n, unit, step);
    memset(s + n, ' ', end - n);
    memcpy(s + end, tail, strlen(tail) + 1);
    return s;
}

/* Processor time: how busy the machine is decides nothing. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void long_kernels(void **state) {
    (void)state;
    static const struct {
        const char *head, *unit, *tail;
        uf_status status;
        const char *part;
    } rows[] = {
        {"(x) { return x", "+1", "; }", UF_ERR_SYNTAX, "8192"},
        {"(x) { return ", "(", "", UF_ERR_SYNTAX, "256"},
        {"(x) { return ", "!", "x; }", UF_ERR_SYNTAX, "256"},
        {"(x) { return ", "x?1:", "x; }", UF_ERR_SYNTAX, ""},
        {"(x) { ", "{", "", UF_ERR_SYNTAX, "256"},
        {"(x) { return ", "sin(", "x", UF_ERR_SYNTAX, "256"},
        {"(x) { auto a = x; ", "a = 1;", " return a; }", UF_ERR_SYNTAX, "8192"},
        {"(x) { ", "if (x) ", "return 1; return x; }", UF_ERR_SYNTAX, "256"},
        {"(x) { int a", "[1]", "; return x; }", UF_ERR_SYNTAX, ""},
        {"(x) { return ", "z", "; }", UF_ERR_SYNTAX, "127 characters"},
        {"(x) { return ", "9", "; }", UF_ERR_SYNTAX, "64 bits"},
        {"(x) { return 0.", "9", "; }", UF_OK, ""},
        {"(", "x,", "x) { return x; }", UF_ERR_SYNTAX, "'x' is named twice"},
        {"(x) -> (", "y,", "y) { }", UF_ERR_SYNTAX, "'y' is named twice"},
        {"/*", "comment ", "*/ (x) { return x; }", UF_OK, ""},
        {"//", "comment ", "\n(x) { return x; }", UF_OK, ""},
        {"(x) { return x; ", ";", "}", UF_ERR_SYNTAX, "8192"},
        {"(x) { /*", "*", "", UF_ERR_SYNTAX, "comment"},
        {"", "\n", "(x) { return q; }", UF_ERR_TYPE, "999984:14: 'q' is not known"},
        {"", "h(a) { return a; } ", "(x) { return x; }", UF_ERR_SYNTAX, ""},
        {"", "\x01", "", UF_ERR_SYNTAX, ""},
        {"", "\xFF", "", UF_ERR_SYNTAX, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *source = long_text(rows[i].head, rows[i].unit, rows[i].tail);
        uf_func *f;
        forget();
        double start = now();
        uf_status s = uf_vectorize(&f, "f", "f->f", source);
        double seconds = now() - start;
        if (s != rows[i].status || seconds > 0.2)
            print_message("%s%s%s%s..: %.3f s\n", rows[i].head, rows[i].unit, rows[i].unit, rows[i].unit, seconds);
        assert_true(seconds < 5);
        if (rows[i].status) {
            const uf_error *e = uf_last_error();
            refused(s, rows[i].status, SOURCE(e->line, e->column), rows[i].part, __FILE__, __LINE__);
            assert_true(e->line > 0 && e->column > 0 && strlen(e->message) < 1000);
        }
        assert_int_equal(s, rows[i].status);
        uf_free(f);
        free(source);
    }
}

/* Distinct signatures of 12 inputs up to a million characters. */
static char *many_signatures(void) {
    static const char codes[] = "bhilBHILefd";
    char *s = malloc(MILLION + 32);
    size_t n = 0;
    assert_non_null(s);
    for (unsigned k = 0; n < MILLION; k++) {
        unsigned rest = k;
        for (int i = 0; i < 12; i++, rest /= 11)
            s[n++] = codes[rest % 11];
        memcpy(s + n, "->d;", 5);
        n += 4;
    }
    return s;
}

static void long_signatures(void **state) {
    (void)state;
    static const struct {
        const char *head, *unit, *tail;
        const char *part;
    } rows[] = {
        {"f->f;", "d->d;", "", "repeats"},     {"", "f", "->f", "64 operands"},
        {"", ";", "", "expected a signature"}, {"", "x", "->f", "unknown dtype"},
        {"f->f;", "\n", "d-", "expected"},     {"", "float32,", "float32->f", "64 operands"},
    };
    uf_func *f;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *list = long_text(rows[i].head, rows[i].unit, rows[i].tail);
        forget();
        double start = now();
        uf_status s = vectorize("f", list, "(x) { return x; }");
        assert_true(now() - start < 5);
        refused(s, UF_ERR_SYNTAX, SOURCE(uf_last_error()->line, uf_last_error()->column), rows[i].part, __FILE__,
                __LINE__);
        uf_options o = {.size = sizeof o, .signature = list};
        forget();
        s = uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3)), &o);
        assert_true(s == UF_ERR_SYNTAX || s == UF_ERR_SIGNATURE);
        still_works(__FILE__, __LINE__);
        char *shown;
        assert_int_not_equal(uf_inspect(add, list, CPU, UF_VIEW_TREE, &shown), UF_OK);
        assert_null(shown);
        free(list);
    }
    char *list = many_signatures();
    double start = now();
    assert_int_equal(uf_vectorize(&f, "f", list, "(a, b, c, d, e, f, g, h, i, j, k, l) { return a; }"), UF_OK);
    print_message("%zu signatures: %.3f s\n", strlen(list) / 16, now() - start);
    assert_true(now() - start < 5);
    uf_section twice[] = {{list, "(a, b, c, d, e, f, g, h, i, j, k, l) { return a; }"},
                          {"dddddddddddd->f", "(a, b, c, d, e, f, g, h, i, j, k, l) { return b; }"}};
    uf_func *both;
    start = now();
    assert_int_equal(
        uf_define(&both,
                  &(uf_definition){.size = sizeof(uf_definition), .name = "f", .nsections = 2, .sections = twice}),
        UF_OK);
    assert_true(now() - start < 5);
    uf_free(both);

    DLTensor args[13], each;
    float complex z[2] = {0};
    each = UF_ARRAY(z, 2);
    for (int k = 0; k < 12; k++)
        args[k] = each;
    args[12] = OUT(2);
    start = now();
    BAD(UF_ERR_SIGNATURE, NOWHERE, "more", uf_call(f, 13, args, NULL));
    assert_true(strlen(uf_last_error()->message) < sizeof uf_last_error()->message);
    assert_true(now() - start < 5);
    uf_free(f);
    free(list);
}

static void operands_65(void **state) {
    (void)state;
    char source[1024] = "(", *at = source + 1, signature[80];
    uf_func *f;
    for (int k = 0; k < 64; k++)
        at += sprintf(at, "%sp%d", k ? ", " : "", k);
    strcpy(at, ") { return p0 + p63; }");
    BAD(UF_ERR_SYNTAX, SOURCE(1, 1), "64", vectorize("f", NULL, source));
    memset(signature, 'f', 64);
    strcpy(signature + 64, "->f");
    BAD(UF_ERR_SYNTAX, SOURCE(1, 67), "64 operands", vectorize("f", signature, "(x) { return x; }"));

    char *last = strstr(source, ", p63)"); /* 63 inputs and an output work */
    strcpy(last, ") { return p0 + p62; }");
    strcpy(signature + 63, "->f");
    assert_int_equal(uf_vectorize(&f, "f", signature, source), UF_OK);
    DLTensor args[66], each = UF_ARRAY(x, 12);
    float r[12];
    for (int k = 0; k < 65; k++)
        args[k] = each;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "got 65 arguments", uf_call(f, 65, args, NULL));
    args[63] = UF_ARRAY(r, 12);
    uf_options o = with_where(&UF_ARRAY(mask, 12));
    assert_int_equal(uf_call(f, 64, args, NULL), UF_OK);
    assert_true(r[7] == 2 * x[7]);
    r[3] = -1;
    assert_int_equal(uf_call(f, 64, args, &o), UF_OK);
    assert_true(r[3] == -1 && r[4] == 2 * x[4]); /* mask[3] is false */
    uf_free(f);
}

/* ---- One bad array, in each place of each verb ---- */

static int64_t negative[] = {3, -4}, huge[] = {INT64_MAX, INT64_MAX}, eight[] = {8},
               square[] = {(int64_t)1 << 31, (int64_t)1 << 31};
static int64_t far[] = {INT64_MAX / 2}, far_back[] = {INT64_MIN};

static void rank_65(DLTensor *t) { t->ndim = 65; }
static void rank_below_0(DLTensor *t) { t->ndim = -1; }
static void rank_lowest(DLTensor *t) { t->ndim = INT_MIN; }
static void no_shape(DLTensor *t) { t->shape = NULL; }
static void no_data(DLTensor *t) { t->data = NULL; }
static void only_offset(DLTensor *t) { t->data = NULL, t->byte_offset = 64; }
static void odd_address(DLTensor *t) { t->data = (char *)t->data + 1; }
static void odd_offset(DLTensor *t) { t->byte_offset = 2; }
static void wild_offset(DLTensor *t) { t->byte_offset = UINT64_MAX - 63; }
static void lanes_2(DLTensor *t) { t->dtype.lanes = 2; }
static void lanes_0(DLTensor *t) { t->dtype.lanes = 0; }
static void no_code(DLTensor *t) { t->dtype.code = 77; }
static void no_bits(DLTensor *t) { t->dtype.bits = 24; }
static void no_device(DLTensor *t) { t->device.device_type = (DLDeviceType)99; }
static void opencl(DLTensor *t) { t->device.device_type = kDLOpenCL; }
static void extent_below_0(DLTensor *t) { t->ndim = 2, t->shape = negative; }
static void extents_overflow(DLTensor *t) { t->ndim = 2, t->shape = huge; }
static void bytes_overflow(DLTensor *t) { t->ndim = 2, t->shape = square; }
static void stride_overflows(DLTensor *t) { t->shape = eight, t->strides = far; }
static void stride_lowest(DLTensor *t) { t->shape = eight, t->strides = far_back; }

typedef struct defect {
    void (*damage)(DLTensor *);
    uf_status status;
    int dimension;
    const char *part;
    enum {
        ALWAYS,
        BY_ADDRESS, /* seen where addresses are given */
        NOT_A_MASK  /* the same, and bool has no such fault */
    } seen;
} defect;

static const defect defects[] = {
    {rank_65, UF_ERR_ARGUMENT, -1, "rank is 65", ALWAYS},
    {rank_below_0, UF_ERR_ARGUMENT, -1, "rank is -1", ALWAYS},
    {rank_lowest, UF_ERR_ARGUMENT, -1, "rank is -2147483648", ALWAYS},
    {no_shape, UF_ERR_ARGUMENT, -1, "shape is NULL", ALWAYS},
    {no_data, UF_ERR_ARGUMENT, -1, "data is NULL, but it has 3 elements", BY_ADDRESS},
    {only_offset, UF_ERR_ARGUMENT, -1, "data is NULL, but it has 3 elements", BY_ADDRESS},
    {odd_address, UF_ERR_ARGUMENT, -1, "aligned to 4 bytes", NOT_A_MASK},
    {odd_offset, UF_ERR_ARGUMENT, -1, "aligned to 4 bytes", NOT_A_MASK},
    {wild_offset, UF_ERR_ARGUMENT, -1, "leave the address space", BY_ADDRESS},
    {lanes_2, UF_ERR_ARGUMENT, -1, "2 lanes", ALWAYS},
    {lanes_0, UF_ERR_ARGUMENT, -1, "0 lanes", ALWAYS},
    {no_code, UF_ERR_ARGUMENT, -1, "DLPack code 77", ALWAYS},
    {no_bits, UF_ERR_ARGUMENT, -1, "24 bits", ALWAYS},
    {no_device, UF_ERR_DEVICE, -1, "device type 99", ALWAYS},
    {opencl, UF_ERR_DEVICE, -1, "device type 4", ALWAYS},
    {extent_below_0, UF_ERR_ARGUMENT, 1, "is -4", ALWAYS},
    {extents_overflow, UF_ERR_ARGUMENT, -1, "2^63", ALWAYS},
    {bytes_overflow, UF_ERR_ARGUMENT, -1, "2^63", ALWAYS},
    {stride_overflows, UF_ERR_ARGUMENT, -1, "2^63 bytes", ALWAYS},
    {stride_lowest, UF_ERR_ARGUMENT, -1, "2^63 bytes", ALWAYS},
};

/* place 0, 1, 2: that argument; 3: the mask. */
static void bad_at(const defect *d, int where) {
    int64_t storage[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3)}, m = UF_ARRAY(mask, 3);
    place at = where < 3 ? DIMENSION(where, d->dimension) : DIMENSION(-1, d->dimension);
    const char *prefix =
        where < 3
            ? (char[]){'a', 'd', 'd', ':', ' ', 'a', 'r', 'g', 'u', 'm', 'e', 'n', 't', ' ', (char)('0' + where), 0}
            : "add: where: ";
    uf_plan *plan = (uf_plan *)&args;
    d->damage(where < 3 ? &args[where] : &m);
    uf_options o = with_where(&m);
    if (where == 3 && d->damage == bytes_overflow)
        return; /* 2^62 bools are less than 2^63 bytes */

    BAD(d->status, at, d->part, uf_call(add, 3, args, &o));
    assert_int_equal(strncmp(uf_last_error()->message, prefix, strlen(prefix)), 0);
    uf_options stage = o;
    stage.flags = UF_STAGE;
    stage.device = GPU;
    BAD(d->status, at, d->part, uf_call(add, 3, args, &stage));
    if (d->seen == ALWAYS) {
        BAD(d->status, at, d->part, uf_plan_new(&plan, add, 3, args, &o));
        assert_null(plan);
    }
    if (d->seen == ALWAYS && where != 2) {
        args[2].shape = storage;
        BAD(d->status, at, d->part, uf_infer(add, 3, args, &o));
    }
}

static void bad_arrays(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(defects); i++)
        for (int where = 0; where < 4; where++)
            if (where < 3 || defects[i].seen != NOT_A_MASK)
                bad_at(&defects[i], where);
}

static void bad_copies(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(defects); i++) {
        const defect *d = &defects[i];
        DLTensor src = UF_ARRAY(x, 3), dst = OUT(3), bad_src = src, bad_dst = dst;
        d->damage(&bad_src);
        d->damage(&bad_dst);
        BAD(d->status, DIMENSION(0, d->dimension), d->part, uf_copy(&bad_dst, &src, NULL));
        assert_int_equal(strncmp(uf_last_error()->message, "dst: ", 5), 0);
        BAD(d->status, DIMENSION(1, d->dimension), d->part, uf_copy(&dst, &bad_src, NULL));
        assert_int_equal(strncmp(uf_last_error()->message, "src: ", 5), 0);
    }
    BAD(UF_ERR_ARGUMENT, NOWHERE, "dst is NULL", uf_copy(NULL, &UF_ARRAY(x, 3), NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "src is NULL", uf_copy(&OUT(3), NULL, NULL));
    BAD(UF_ERR_SHAPE, DIMENSION(1, 0), "of dst", uf_copy(&OUT(4), &UF_ARRAY(x, 3), NULL));
    BAD(UF_ERR_SHAPE, ARGUMENT(1), "of dst", uf_copy(&OUT(3), &UF_ARRAY(x, 1, 3), NULL));
    DLTensor integers = OUT(3);
    integers.dtype = (DLDataType){kDLInt, 32, 1};
    BAD(UF_ERR_CAST, ARGUMENT(0), "int32", uf_copy(&integers, &UF_ARRAY(x, 3), NULL));
    DLTensor still = OUT(3);
    still.strides = (int64_t[]){0};
    BAD(UF_ERR_ARGUMENT, ARGUMENT(0), "two elements at one address", uf_copy(&still, &UF_ARRAY(x, 3), NULL));
}

/* ---- Calls ---- */

static void counts_and_nulls(void **state) {
    (void)state;
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3), OUT(3)};
    uf_plan *plan;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "func is NULL", uf_call(NULL, 3, args, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "args is NULL", uf_call(add, 3, NULL, NULL));
    static const int wrong[] = {INT_MIN, -1, 0, 2, 4, 65, INT_MAX};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        BAD(UF_ERR_ARGUMENT, NOWHERE, "add takes 2 inputs and 1 output", uf_call(add, wrong[i], args, NULL));
        BAD(UF_ERR_ARGUMENT, NOWHERE, "add takes 2 inputs and 1 output", uf_infer(add, wrong[i], args, NULL));
        BAD(UF_ERR_ARGUMENT, NOWHERE, "add takes 2 inputs and 1 output", uf_plan_new(&plan, add, wrong[i], args, NULL));
        uf_options stage = {.size = sizeof stage, .device = GPU, .flags = UF_STAGE};
        BAD(UF_ERR_ARGUMENT, NOWHERE, "add takes 2 inputs and 1 output", uf_call(add, wrong[i], args, &stage));
    }
}

typedef struct options_row {
    uf_options o;
    const char *part;
} options_row;

static void bad_options(void **state) {
    (void)state;
    static const options_row rows[] = {
        {{.size = 0}, "uf_options.size is 0"},
        {{.size = 7}, "uf_options.size is 7"},
        {{.size = sizeof(uf_options), .casting = (uf_casting)6}, "casting is 6"},
        {{.size = sizeof(uf_options), .casting = (uf_casting)-1}, "casting is -1"},
        {{.size = sizeof(uf_options), .threads = -1}, "threads is -1"},
        {{.size = sizeof(uf_options), .threads = INT_MIN}, "threads is -2147483648"},
        {{.size = sizeof(uf_options), .flags = 0x200}, "bits 0x200 are unknown"},
        {{.size = sizeof(uf_options), .flags = 0x80000001}, "bits 0x80000000 are unknown"},
    };
    int64_t storage[UF_MAX_NDIM];
    uf_plan *plan;
    for (size_t i = 0; i < COUNT(rows); i++) {
        DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3)};
        BAD(UF_ERR_ARGUMENT, NOWHERE, rows[i].part, uf_call(add, 3, args, &rows[i].o));
        BAD(UF_ERR_ARGUMENT, NOWHERE, rows[i].part, uf_plan_new(&plan, add, 3, args, &rows[i].o));
        assert_null(plan);
        args[2].shape = storage;
        BAD(UF_ERR_ARGUMENT, NOWHERE, rows[i].part, uf_infer(add, 3, args, &rows[i].o));
    }
}

static void sizes_of_options(void **state) {
    (void)state;
    struct {
        uf_options known;
        unsigned char tail[40];
    } longer = {{.size = sizeof longer}, {0}};
    float r[3];
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)};
    longer.tail[39] = 1;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "is not zero", uf_call(add, 3, LIST(args[0], args[1], OUT(3)), &longer.known));
    longer.tail[39] = 0;
    assert_int_equal(uf_call(add, 3, args, &longer.known), UF_OK);
    /* Older structs: what comes after their size is not read. */
    static const size_t sizes[] = {offsetof(uf_options, stream), offsetof(uf_options, casting),
                                   offsetof(uf_options, where), offsetof(uf_options, flags)};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uf_options o;
        memset(&o, 0xFF, sizeof o);
        memset(&o, 0, sizes[i]);
        o.size = sizes[i];
        r[1] = 0;
        assert_int_equal(uf_call(add, 3, args, &o), UF_OK);
        assert_true(r[1] == x[1] + y[1]);
    }
}

static void no_match(void **state) {
    (void)state;
    float complex z[3] = {0};
    double d[3] = {0};
    const char *lines = "add: no signature matches the inputs (float64, complex64)\n"
                        "  float32,float32->float32: argument 0 is float64, which does not cast safely to float32\n"
                        "  float64,float64->float64: argument 1 is complex64, which does not cast safely to float64";
    BAD(UF_ERR_SIGNATURE, NOWHERE, lines, UF_CALL(add, UF_ARRAY(d, 3), UF_ARRAY(z, 3), OUT(3)));
    BAD(UF_ERR_SIGNATURE, NOWHERE, "argument 1 is a complex number",
        UF_CALL(add, UF_ARRAY(x, 3), UF_SCALAR(1 + I), OUT(3)));
    uf_options o = {.size = sizeof o, .casting = UF_CAST_NO};
    int16_t h[3] = {0};
    BAD(UF_ERR_SIGNATURE, NOWHERE, "argument 0 is int16, which is not float32",
        uf_call(add, 3, LIST(UF_ARRAY(h, 3), UF_ARRAY(x, 3), OUT(3)), &o));
    o = (uf_options){.size = sizeof o, .flags = UF_STRONG_NUMBERS};
    BAD(UF_ERR_SIGNATURE, NOWHERE, "argument 1 is float64, which does not cast safely to uint8",
        uf_call(bytes, 3, LIST(UF_ARRAY((uint8_t *)out, 3), UF_SCALAR(0.5), OUT(3)), &o));
    /* A kernel of any types that does not take these. */
    BAD(UF_ERR_TYPE, SOURCE(1, 16), "float32", UF_CALL(any, UF_ARRAY(x, 3), OUT(3)));
}

/* Of inputs that are possible each, and of which a and b broadcast to 2^80 elements: what a call refuses is not inferred. */
static void inferred_sizes(DLTensor a, DLTensor b) {
    int64_t storage[UF_MAX_NDIM] = {-1}, long_line[] = {(int64_t)1 << 40}, zero[2] = {0, 0};
    DLTensor result = {.ndim = -7, .shape = storage}, line = UF_ARRAY(x, 1), rows = a, columns = b, cell = OUT(1);
    uf_func *dot, *table;
    cell.ndim = 0;
    assert_int_equal(uf_load(&dot, "dot"), UF_OK);
    assert_int_equal(uf_guvectorize(&table, "table", "(m),(n)->(m,n)", "ff->f",
                                    "(u, v) -> (t) { forall (i : m, j : n) t[i][j] = u[i] * v[j]; }"),
                     UF_OK);
    const char *much = "broadcast to 2^63 elements or more";
    BAD(UF_ERR_SHAPE, NOWHERE, much, uf_infer(add, 3, LIST(a, b, result), NULL));
    BAD(UF_ERR_SHAPE, NOWHERE, much, uf_reduce(dot, 3, LIST(a, b, cell), NULL));
    BAD(UF_ERR_SHAPE, NOWHERE, much, uf_reduce_infer(dot, 3, LIST(a, b, result), NULL));
    BAD(UF_ERR_SHAPE, NOWHERE, much, uf_accumulate_infer(dot, 3, LIST(a, b, result), 0, NULL));
    line.shape = long_line, line.strides = zero;
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "its extents multiply to 2^63 elements or more",
        uf_infer(table, 3, LIST(line, line, result), NULL));
    rows.shape = (int64_t[]){(int64_t)1 << 31, 1}, columns.shape = (int64_t[]){1, (int64_t)1 << 31};
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "its elements span 2^63 bytes or more",
        uf_infer(add, 3, LIST(rows, columns, result), NULL));
    assert_true(storage[0] == -1); /* nothing is written */
    uf_free(dot);
    uf_free(table);
}

static void shapes(void **state) {
    (void)state;
    static const struct {
        int64_t shape[3][3]; /* of x, y and the output; ends with 0 or the third */
        int rank[3];
        int argument, dimension;
        const char *part;
    } rows[] = {
        {{{3}, {4}, {4}}, {1, 1, 1}, 1, 0, "is 4, but dimension 0 of argument 0 is 3"},
        {{{3, 4}, {3, 3}, {3, 4}}, {2, 2, 2}, 1, 1, "is 3, but dimension 1 of argument 0 is 4"},
        {{{4}, {3, 2}, {3, 2}}, {1, 2, 2}, 1, 1, "is 2, but dimension 0 of argument 0 is 4"},
        {{{3}, {3}, {4}}, {1, 1, 1}, 0, 0, "is 3, but dimension 0 of argument 2"},
        {{{1}, {3}, {4}}, {1, 1, 1}, 1, 0, "is 3, but dimension 0 of argument 2"},
        {{{4}, {4}, {3}}, {1, 1, 1}, 0, 0, "is 4, but dimension 0 of argument 2"},
        {{{4}, {4}, {1}}, {1, 1, 1}, 0, 0, "is 4, but dimension 0 of argument 2"},
        {{{4}, {1}, {0}}, {1, 1, 1}, 0, 0, "is 4, but dimension 0 of argument 2"},
        {{{0}, {1}, {4}}, {1, 1, 1}, 0, 0, "is 0, but dimension 0 of argument 2"},
        {{{0}, {4}, {4}}, {1, 1, 1}, 1, 0, "is 4, but dimension 0 of argument 0 is 0"},
        {{{2, 3}, {3}, {3}}, {2, 1, 1}, 0, -1, "its rank is 2, but that of argument 2, an output, is 1"},
        {{{3}, {1, 3}, {3}}, {1, 2, 1}, 1, -1, "its rank is 2, but that of argument 2, an output, is 1"},
        {{{1}, {1}, {0}}, {1, 1, 0}, 0, -1, "its rank is 1, but that of argument 2, an output, is 0"},
    };
    uf_plan *plan;
    for (size_t i = 0; i < COUNT(rows); i++) {
        DLTensor args[] = {UF_ARRAY(x, 1), UF_ARRAY(y, 1), OUT(1)};
        for (int k = 0; k < 3; k++) {
            args[k].ndim = rows[i].rank[k];
            args[k].shape = (int64_t *)(uintptr_t)rows[i].shape[k];
        }
        BAD(UF_ERR_SHAPE, DIMENSION(rows[i].argument, rows[i].dimension), rows[i].part, uf_call(add, 3, args, NULL));
        BAD(UF_ERR_SHAPE, DIMENSION(rows[i].argument, rows[i].dimension), rows[i].part,
            uf_plan_new(&plan, add, 3, args, NULL));
    }
    BAD(UF_ERR_SHAPE, DIMENSION(2, 0), "is 4, but that of argument 1, an output too, is 3",
        UF_CALL(two, UF_ARRAY(x, 3), OUT(3), UF_ARRAY((float *)(void *)(out + 64), 4)));
    BAD(UF_ERR_SHAPE, ARGUMENT(2), "its rank is 2",
        UF_CALL(two, UF_ARRAY(x, 3), OUT(3), UF_ARRAY((float *)(void *)(out + 64), 1, 3)));

    /* Each array is possible, what they broadcast to is not. */
    int64_t zero[2] = {0, 0}, tall[] = {(int64_t)1 << 40, 1}, wide[] = {1, (int64_t)1 << 40},
            both[] = {(int64_t)1 << 40, (int64_t)1 << 40};
    DLTensor a = UF_ARRAY(x, 1, 1), b = UF_ARRAY(y, 1, 1), c = OUT(1, 1);
    a.shape = tall, b.shape = wide, c.shape = both;
    a.strides = b.strides = c.strides = zero;
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "2^63", uf_call(add, 3, LIST(a, b, c), NULL));
    BAD(UF_ERR_SHAPE, NOWHERE, "broadcast to 2^63 elements or more", uf_call(add, 3, LIST(a, b, OUT(1, 1)), NULL));
    inferred_sizes(a, b);
}

static void outputs(void **state) {
    (void)state;
    DLTensor still = OUT(3), near = OUT(3, 2), columns = OUT(3, 2), floats = OUT(3);
    still.strides = (int64_t[]){0};
    near.strides = (int64_t[]){1, 1};
    columns.strides = (int64_t[]){0, 1};
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "two elements at one address",
        UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3), still));
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "two elements at one address",
        UF_CALL(add, UF_ARRAY(x, 3, 2), UF_ARRAY(y, 3, 2), near));
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "two elements at one address", UF_CALL(add, UF_SCALAR(1), UF_SCALAR(2), columns));
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "overlaps output argument 1", UF_CALL(two, UF_ARRAY(x, 3), floats, floats));
    floats.byte_offset = 8;
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "overlaps output argument 1", UF_CALL(two, UF_ARRAY(x, 3), OUT(3), floats));
    DLTensor integers = OUT(3);
    integers.dtype = (DLDataType){kDLInt, 32, 1};
    BAD(UF_ERR_CAST, ARGUMENT(2), "int32, but add gives float32, which does not cast to it under the rule same_kind",
        UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3), integers));
    DLTensor half = OUT(3);
    half.dtype.bits = 16;
    uf_options o = {.size = sizeof o, .casting = UF_CAST_SAFE};
    BAD(UF_ERR_CAST, ARGUMENT(2), "under the rule safe",
        uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), half), &o));
    /* Overlap with the mask is no fault: it is read first. The bytes of 5.0f are 0, 0, and two that are not 0. */
    float r[3] = {5, 5, 5};
    DLTensor own = UF_ARRAY(mask, 3);
    own.data = r;
    o = with_where(&own);
    assert_int_equal(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), &o), UF_OK);
    assert_true(r[0] == 5 && r[1] == 5 && r[2] == x[2] + y[2]);
}

static void masks(void **state) {
    (void)state;
    int64_t storage[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3)};
    uint8_t raw[3] = {1, 1, 1};
    uf_options o = with_where(&UF_ARRAY(mask_like, 3));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "where: the dtype is float32; bool is needed", uf_call(add, 3, args, &o));
    o = with_where(&UF_ARRAY(raw, 3));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "where: the dtype is uint8; bool is needed", uf_call(add, 3, args, &o));
    o = with_where(&UF_ARRAY(mask, 4));
    BAD(UF_ERR_SHAPE, DIMENSION(-1, 0), "where: dimension 0 is 4", uf_call(add, 3, args, &o));
    args[2].shape = storage;
    BAD(UF_ERR_SHAPE, DIMENSION(-1, 0), "where: dimension 0 is 4", uf_infer(add, 3, args, &o));
    args[2] = OUT(3);
    o = with_where(&UF_ARRAY(mask, 1, 3));
    BAD(UF_ERR_SHAPE, NOWHERE, "where: its rank is 2", uf_call(add, 3, args, &o));
    o = with_where(&UF_ARRAY(mask, 0));
    BAD(UF_ERR_SHAPE, DIMENSION(-1, 0), "where: dimension 0 is 0", uf_call(add, 3, args, &o));
}

/* The first call with these dtypes and later ones, which know the signature, say the same. */
static void numbers(void **state) {
    (void)state;
    uint8_t u[3] = {1, 2, 3}, r[3];
    uf_plan *plan;
    DLTensor o = UF_ARRAY((uint8_t *)out, 3);
    for (int round = 0; round < 2; round++) {
        BAD(UF_ERR_CAST, ARGUMENT(1), "300", UF_CALL(bytes, UF_ARRAY(u, 3), UF_SCALAR(300), o));
        BAD(UF_ERR_CAST, ARGUMENT(0), "-1", UF_CALL(bytes, UF_SCALAR(-1), UF_ARRAY(u, 3), o));
        BAD(UF_ERR_CAST, ARGUMENT(1), "9223372036854775807", UF_CALL(bytes, UF_ARRAY(u, 3), UF_SCALAR(INT64_MAX), o));
        BAD(UF_ERR_CAST, ARGUMENT(1), "18446744073709551615", UF_CALL(bytes, UF_ARRAY(u, 3), UF_SCALAR(UINT64_MAX), o));
        BAD(UF_ERR_SIGNATURE, NOWHERE, "a floating number", UF_CALL(bytes, UF_ARRAY(u, 3), UF_SCALAR(0.5), o));
        assert_int_equal(UF_CALL(bytes, UF_ARRAY(u, 3), UF_SCALAR(200), UF_ARRAY(r, 3)), UF_OK);
        assert_int_equal(UF_CALL(bytes, UF_SCALAR((int64_t)200), UF_ARRAY(u, 3), UF_ARRAY(r, 3)), UF_OK);
        assert_int_equal(UF_CALL(bytes, UF_ARRAY(u, 3), UF_SCALAR((uint64_t)7), UF_ARRAY(r, 3)), UF_OK);
        assert_true(r[2] == 10);
    }
    /* A number's value is a matter of each run of a plan, not of the plan. */
    int n = 300;
    DLTensor number = {.data = &n, .device = CPU, .dtype = {kDLInt, 32, 1}};
    assert_int_equal(uf_plan_new(&plan, bytes, 3, LIST(UF_ARRAY(u, 3), number, UF_ARRAY(r, 3)), NULL), UF_OK);
    BAD(UF_ERR_CAST, ARGUMENT(1), "300", uf_plan_run(plan, (void *[]){u, &n, out}, NULL));
    BAD(UF_ERR_ARGUMENT, ARGUMENT(1), "data is NULL", uf_plan_run(plan, (void *[]){u, NULL, out}, NULL));
    n = 20;
    assert_int_equal(uf_plan_run(plan, (void *[]){u, &n, r}, NULL), UF_OK);
    assert_true(r[2] == 23);
    uf_plan_free(plan);
}

static void forced(void **state) {
    (void)state;
    static const struct {
        const char *signature;
        uf_status status;
        place at;
        const char *part;
    } rows[] = {
        {"", UF_ERR_SYNTAX, {-1, -1, 1, 1}, ""},
        {"ff", UF_ERR_SYNTAX, {-1, -1, 1, 3}, "\"->\""},
        {"ff->g", UF_ERR_SYNTAX, {-1, -1, 1, 5}, "\"g\""},
        {"ff->f; dd->d", UF_ERR_SYNTAX, {-1, -1, 1, 8}, "one signature"},
        {"ll->l", UF_ERR_SIGNATURE, {-1, -1, 0, 0}, "int64,int64->int64, is not in its list\n  float32"},
        {"f->f", UF_ERR_SIGNATURE, {-1, -1, 0, 0}, "float32->float32, is not in its list"},
        {"ff->d", UF_ERR_SIGNATURE, {-1, -1, 0, 0}, "not in its list"},
    };
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3)}, output = args[2];
    int64_t storage[UF_MAX_NDIM];
    for (size_t i = 0; i < COUNT(rows); i++) {
        uf_options o = {.size = sizeof o, .signature = rows[i].signature};
        uf_plan *plan;
        BAD(rows[i].status, rows[i].at, rows[i].part, uf_call(add, 3, args, &o));
        BAD(rows[i].status, rows[i].at, rows[i].part, uf_plan_new(&plan, add, 3, args, &o));
        args[2].shape = storage;
        BAD(rows[i].status, rows[i].at, rows[i].part, uf_infer(add, 3, args, &o));
        args[2] = output;
    }
    double d[3] = {0};
    uf_options o = {.size = sizeof o, .signature = "ff->f", .casting = UF_CAST_SAFE};
    BAD(UF_ERR_CAST, ARGUMENT(1), "float64 does not cast safely to float32",
        uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(d, 3), OUT(3)), &o));
    o.signature = "f->f";
    BAD(UF_ERR_ARGUMENT, NOWHERE, "no signature to force", uf_call(any, 2, LIST(UF_ARRAY(x, 3), OUT(3)), &o));
}

/* ---- Plans, inference, looking at things, memory ---- */

static void plans(void **state) {
    (void)state;
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 3), OUT(3)}, m = UF_ARRAY(mask, 3);
    uf_options o = {.size = sizeof o, .device = GPU, .flags = UF_STAGE};
    uf_plan *plan = (uf_plan *)&args;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "out is NULL", uf_plan_new(NULL, add, 3, args, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "func is NULL", uf_plan_new(&plan, NULL, 3, args, NULL));
    assert_null(plan);
    BAD(UF_ERR_ARGUMENT, NOWHERE, "args is NULL", uf_plan_new(&plan, add, 3, NULL, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "a plan cannot stage", uf_plan_new(&plan, add, 3, args, &o));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "plan is NULL", uf_plan_run(NULL, (void *[]){x, y, out}, NULL));
    uf_plan_free(NULL);

    o = with_where(&m);
    for (int k = 0; k < 3; k++)
        args[k].data = NULL;
    m.data = NULL;
    assert_int_equal(uf_plan_new(&plan, add, 3, args, &o), UF_OK);
    void *data[] = {x, y, out, mask};
    BAD(UF_ERR_ARGUMENT, NOWHERE, "data is NULL", uf_plan_run(plan, NULL, NULL));
    for (int k = 0; k < 4; k++) {
        void *was = data[k];
        data[k] = NULL;
        BAD(UF_ERR_ARGUMENT, ARGUMENT(k < 3 ? k : -1), k < 3 ? "data is NULL" : "where: its data is NULL",
            uf_plan_run(plan, data, NULL));
        data[k] = (char *)was + 2;
        if (k < 3)
            BAD(UF_ERR_ARGUMENT, ARGUMENT(k), "aligned", uf_plan_run(plan, data, NULL));
        data[k] = was;
    }
    uf_plan_free(plan);

    uf_plan *pair;
    assert_int_equal(uf_plan_new(&pair, two, 3, LIST(args[0], args[1], args[2]), NULL), UF_OK);
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "overlaps output argument 1",
        uf_plan_run(pair, (void *[]){x, out, out + 8}, NULL));
    uf_plan_free(pair);
}

static void inference(void **state) {
    (void)state;
    int64_t storage[UF_MAX_NDIM];
    DLTensor args[] = {UF_ARRAY(x, 3), UF_ARRAY(y, 4), {.shape = storage}};
    BAD(UF_ERR_ARGUMENT, NOWHERE, "func is NULL", uf_infer(NULL, 3, args, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "args is NULL", uf_infer(add, 3, NULL, NULL));
    BAD(UF_ERR_SHAPE, DIMENSION(1, 0), "is 4, but dimension 0 of argument 0 is 3", uf_infer(add, 3, args, NULL));
    args[1].shape[0] = 3;
    args[2].shape = NULL;
    BAD(UF_ERR_ARGUMENT, ARGUMENT(2), "shape is NULL; storage for UF_MAX_NDIM extents", uf_infer(add, 3, args, NULL));
    float complex z[3];
    args[1] = UF_ARRAY(z, 3);
    args[2].shape = storage;
    BAD(UF_ERR_SIGNATURE, NOWHERE, "complex64", uf_infer(add, 3, args, NULL));
    BAD(UF_ERR_TYPE, SOURCE(1, 16), "float32", uf_infer(any, 2, LIST(args[0], args[2]), NULL));
    assert_int_equal(args[2].ndim, 0); /* outputs are described on success only */
    args[1] = UF_ARRAY(y, 4, 1);
    assert_int_equal(uf_infer(add, 3, args, NULL), UF_OK);
    assert_true(args[2].ndim == 2 && storage[0] == 4 && storage[1] == 3 && args[2].dtype.bits == 32);
}

static uf_status inspect(const uf_func *f, const char *types, DLDevice device, int view) {
    char *text = (char *)&out;
    uf_status s = uf_inspect(f, types, device, (uf_view)view, &text);
    assert_null(text);
    return s;
}

static void looking(void **state) {
    (void)state;
    uf_description d = {.size = sizeof d};
    BAD(UF_ERR_ARGUMENT, NOWHERE, "func is NULL", uf_describe(NULL, &d));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "out is NULL", uf_describe(add, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "text is NULL", uf_system_info(NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "text is NULL", uf_inspect(add, NULL, CPU, UF_VIEW_IR, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "func is NULL", inspect(NULL, NULL, CPU, UF_VIEW_IR));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "view is 5", inspect(add, NULL, CPU, 5));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "view is -1", inspect(add, NULL, CPU, -1));
    BAD(UF_ERR_SYNTAX, SOURCE(1, 9), "\"float33\"", inspect(add, "float32,float33", CPU, UF_VIEW_TREE));
    BAD(UF_ERR_SYNTAX, SOURCE(1, 3), "the end of the dtypes", inspect(add, "ff->f", CPU, UF_VIEW_TREE));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "takes 2 inputs, but \"f\" has 1", inspect(add, "f", CPU, UF_VIEW_TREE));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "takes 2 inputs, but \"\" has 0", inspect(add, "", CPU, UF_VIEW_TREE));
    BAD(UF_ERR_SIGNATURE, NOWHERE, "complex64", inspect(add, "FF", CPU, UF_VIEW_TREE));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "name the dtypes", inspect(any, NULL, CPU, UF_VIEW_TREE));
    BAD(UF_ERR_TYPE, SOURCE(1, 16), "float32", inspect(any, "f", CPU, UF_VIEW_TREE));
    BAD(UF_ERR_DEVICE, NOWHERE, "device type 99", inspect(add, NULL, (DLDevice){(DLDeviceType)99, 0}, UF_VIEW_TREE));
    BAD(UF_ERR_DEVICE, NOWHERE, "device type 3",
        inspect(add, NULL, (DLDevice){(DLDeviceType)kDLCUDAHost, 0}, UF_VIEW_IR));
    BAD(UF_ERR_DEVICE, NOWHERE, "-2147483648", inspect(add, NULL, (DLDevice){kDLCUDA, INT_MIN}, UF_VIEW_PTX));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "PTX", inspect(add, NULL, CPU, UF_VIEW_PTX));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "device -1", inspect(add, NULL, (DLDevice){kDLCPU, -1}, UF_VIEW_IR));
    assert_string_equal(uf_status_text((uf_status)99), "unknown status");
    assert_string_equal(uf_status_text((uf_status)-1), "unknown status");
}

static uf_status empty(DLDevice device, DLDataType type, int ndim, const int64_t *shape) {
    DLManagedTensor *t = (DLManagedTensor *)&out;
    uf_status s = uf_empty(&t, device, type, ndim, shape);
    assert_null(t);
    return s;
}

static void memory(void **state) {
    (void)state;
    int64_t three[] = {3}, below[] = {3, -2}, most[] = {INT64_MAX}, wraps[] = {(int64_t)1 << 62, 4},
            big[] = {(int64_t)1 << 60, 1}, none[] = {INT64_MAX, INT64_MAX, 0}, deep[65];
    DLManagedTensor *t;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "out is NULL", uf_empty(NULL, CPU, F32, 1, three));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "shape is NULL", empty(CPU, F32, 1, NULL));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "ndim is -1", empty(CPU, F32, -1, three));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "ndim is 65", empty(CPU, F32, 65, deep));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "shape[1] is -2", empty(CPU, F32, 2, below));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "2^63", empty(CPU, F32, 1, most));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "2^63", empty(CPU, F32, 2, wraps));
    BAD(UF_ERR_MEMORY, NOWHERE, "out of memory", empty(CPU, F32, 2, big));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "0 lanes", empty(CPU, (DLDataType){kDLFloat, 32, 0}, 1, three));
    BAD(UF_ERR_ARGUMENT, NOWHERE, "DLPack code 0, 7 bits", empty(CPU, (DLDataType){kDLInt, 7, 1}, 1, three));
    BAD(UF_ERR_DEVICE, NOWHERE, "device type 99", empty((DLDevice){(DLDeviceType)99, 0}, F32, 1, three));
    BAD(UF_ERR_DEVICE, NOWHERE, "device_id is -1", empty((DLDevice){kDLCUDA, -1}, F32, 1, three));
    BAD(UF_ERR_DEVICE, NOWHERE, "device type 0", uf_sync((DLDevice){(DLDeviceType)0, 0}, NULL));
    BAD(UF_ERR_DEVICE, NOWHERE, "device_id is -3", uf_sync((DLDevice){kDLCUDA, -3}, NULL));
    assert_int_equal(uf_empty(&t, CPU, F32, 3, none), UF_OK);
    assert_null(t->dl_tensor.data);
    t->deleter(t);
    assert_int_equal(uf_empty(&t, CPU, F32, 0, NULL), UF_OK);
    t->deleter(t);
}

/* ---- Devices, where there is no CUDA ---- */

static DLTensor fake(int id) { return UF_CUDA(id, F32, 0x10000, 3); }

static void mixed_devices(void **state) {
    (void)state;
    static int64_t three[] = {3};
    DLTensor hx = UF_ARRAY(x, 3), hy = UF_ARRAY(y, 3), r = OUT(3), d0 = fake(0), d1 = fake(1), lost = fake(-1),
             hm = UF_ARRAY(mask, 3), dm = fake(0);
    d0.shape = d1.shape = lost.shape = dm.shape = three;
    dm.dtype = hm.dtype;
    uf_options host_mask = with_where(&hm), device_mask = with_where(&dm);
    BAD(UF_ERR_DEVICE, ARGUMENT(0), "is in host memory, but argument 1 is on CUDA device 0", UF_CALL(add, hx, d0, r));
    BAD(UF_ERR_DEVICE, ARGUMENT(1), "is in host memory, but argument 0 is on CUDA device 0", UF_CALL(add, d0, hy, d0));
    BAD(UF_ERR_DEVICE, ARGUMENT(2), "is in host memory, but argument 0", UF_CALL(add, d0, d0, r));
    BAD(UF_ERR_DEVICE, ARGUMENT(1), "is on CUDA device 1, but argument 0 is on device 0", UF_CALL(add, d0, d1, r));
    BAD(UF_ERR_DEVICE, ARGUMENT(0), "device_id -1", UF_CALL(add, lost, lost, lost));
    BAD(UF_ERR_DEVICE, NOWHERE, "where: is in host memory, but argument 0 is on CUDA device 0",
        uf_call(add, 3, LIST(d0, d0, d0), &host_mask));
    BAD(UF_ERR_DEVICE, ARGUMENT(0), "is in host memory, but where is on CUDA device 0",
        uf_call(add, 3, LIST(hx, hy, r), &device_mask));
    BAD(UF_ERR_DEVICE, ARGUMENT(2), "is in host memory, but where is on CUDA device 0",
        uf_call(add, 3, LIST(UF_SCALAR(1), UF_SCALAR(2), r), &device_mask));
    BAD(UF_ERR_DEVICE, NOWHERE, "where: is on CUDA device 0, but argument 0 is on device 1",
        uf_call(add, 3, LIST(d1, d1, d1), &device_mask));
    BAD(UF_ERR_DEVICE, ARGUMENT(1), "device type 4",
        uf_copy(&d0, &(DLTensor){.data = x, .device = {kDLOpenCL, 0}, .ndim = 1, .dtype = F32, .shape = three}, NULL));
    BAD(UF_ERR_DEVICE, ARGUMENT(0), "device_id -1", uf_copy(&lost, &hx, NULL));
}

static void no_cuda(void **state) {
    (void)state;
    static int64_t three[] = {3};
    DLTensor hx = UF_ARRAY(x, 3), hy = UF_ARRAY(y, 3), r = OUT(3), d0 = fake(0);
    d0.shape = three;
    uf_plan *plan;
    uf_options stage = {.size = sizeof stage, .device = GPU, .flags = UF_STAGE}, nowhere = stage;
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", UF_CALL(add, d0, d0, d0));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", UF_CALL(add, d0, UF_SCALAR(2), d0));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", uf_plan_new(&plan, add, 3, LIST(d0, d0, d0), NULL));
    assert_null(plan);
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", uf_call(add, 3, LIST(hx, hy, r), &stage));
    nowhere.device = CPU;
    BAD(UF_ERR_ARGUMENT, NOWHERE, "UF_STAGE needs options->device", uf_call(add, 3, LIST(hx, hy, r), &nowhere));
    nowhere.device = (DLDevice){kDLCUDA, -2};
    BAD(UF_ERR_DEVICE, NOWHERE, "-2", uf_call(add, 3, LIST(hx, hy, r), &nowhere));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", empty(GPU, F32, 1, three));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", empty((DLDevice){(DLDeviceType)kDLCUDAHost, 0}, F32, 1, three));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", empty((DLDevice){(DLDeviceType)kDLCUDAManaged, 0}, F32, 1, three));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", uf_copy(&d0, &hx, NULL));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", uf_copy(&r, &d0, NULL));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", uf_sync(GPU, NULL));
    BAD(UF_ERR_LIBRARY, NOWHERE, "/nonexistent", inspect(add, NULL, GPU, UF_VIEW_IR));
    /* What needs no driver: empty arrays, inference, copies of nothing. */
    DLManagedTensor *t;
    int64_t zero[] = {0}, storage[UF_MAX_NDIM];
    assert_int_equal(uf_empty(&t, GPU, F32, 1, zero), UF_OK);
    assert_int_equal(uf_copy(&UF_ARRAY(x, 0), &t->dl_tensor, NULL), UF_OK);
    BAD(UF_ERR_SHAPE, DIMENSION(1, 0), "is 2", uf_copy(&t->dl_tensor, &UF_ARRAY(x, 2), NULL));
    BAD(UF_ERR_SHAPE, DIMENSION(1, 0), "is 0", uf_copy(&r, &t->dl_tensor, NULL));
    t->deleter(t);
    DLTensor args[] = {d0, d0, {.shape = storage}};
    assert_int_equal(uf_infer(add, 3, args, NULL), UF_OK);
    args[1] = hy;
    BAD(UF_ERR_DEVICE, ARGUMENT(1), "is in host memory", uf_infer(add, 3, args, NULL));
    assert_int_equal(uf_infer(add, 3, args, &stage), UF_OK);
    assert_true(args[2].ndim == 1 && storage[0] == 3);
}

/* Success leaves the last error alone. */
static void success_is_silent(void **state) {
    (void)state;
    char *text;
    uf_func *f;
    DLManagedTensor *t;
    float r[3];
    forget();
    static uf_error before;
    before = *uf_last_error();
    assert_int_equal(uf_system_info(&text), UF_OK);
    free(text);
    assert_int_equal(uf_vectorize(&f, "f", "f->f", "(x) { return x; }"), UF_OK);
    assert_int_equal(UF_CALL(f, UF_ARRAY(x, 3), UF_ARRAY(r, 3)), UF_OK);
    assert_int_equal(uf_inspect(f, NULL, CPU, UF_VIEW_ASSEMBLY, &text), UF_OK);
    free(text);
    uf_free(f);
    uf_free(NULL);
    assert_int_equal(uf_empty(&t, CPU, F32, 1, (int64_t[]){3}), UF_OK);
    assert_int_equal(uf_copy(&t->dl_tensor, &UF_ARRAY(r, 3), NULL), UF_OK);
    t->deleter(t);
    assert_int_equal(uf_sync(CPU, NULL), UF_OK);
    assert_memory_equal(&before, uf_last_error(), sizeof before);
}

static int set_up(void **state) {
    (void)state;
    memset(out, 0xA5, sizeof out);
    for (int i = 0; i < 12; i++) {
        x[i] = (float)i;
        y[i] = (float)(100 * i);
        mask[i] = i != 3;
    }
    return uf_vectorize(&add, "add", "ff->f; dd->d", "(x, y) { return x + y; }") ||
           uf_vectorize(&bytes, "bytes", "BB->B", "(x, y) { return x + y; }") ||
           uf_vectorize(&any, "any", NULL, "(x) { return x % 2; }") ||
           uf_vectorize(&two, "two", "f->ff", "(x) -> (p, q) { p = x; q = -x; }");
}

/* ---- The text that an error is about ---- */

static void is_about(uf_status got, uf_status want, const char *source) {
    assert_int_equal(got, want);
    assert_true(uf_last_error()->line > 0);
    assert_string_equal(uf_last_error()->source, source);
    forget();
    assert_string_equal(uf_last_error()->source, "");
}

static uf_status reduction_with(uf_reduction_def def) {
    uf_func *f;
    def.size = sizeof def;
    def.combine = def.combine ? def.combine : "(a, b) { return a + b; }";
    return uf_reduction(&f, "r", "f->f", &def);
}

static void names_of_texts(void **state) {
    (void)state;
    uf_func *f;
    const uf_section sections[] = {
        {"f->f", "(x) { return x; }"}, {"d->d", "(x) { return x +; }"}, {"d->", "(x) { return x; }"}};
    uf_definition d = {.size = sizeof d, .name = "f", .nsections = 2, .sections = sections};
    is_about(uf_vectorize(&f, "f", "f->f", "(x) { return x +; }"), UF_ERR_SYNTAX, "f");
    is_about(uf_vectorize(&f, "f", "f->f", "(x) { return z; }"), UF_ERR_TYPE, "f");
    is_about(uf_vectorize(&f, "f", "f->g", "(x) { return x; }"), UF_ERR_SYNTAX, "signatures of f");
    is_about(uf_guvectorize(&f, "g", "(n->()", "f->f", "(x) -> (y) { y = 0; }"), UF_ERR_SYNTAX, "layout of g");
    is_about(uf_kernel(&f, "k", "float32[", "[i](x) { x[i] = 0; }"), UF_ERR_SYNTAX, "signatures of k");
    is_about(uf_kernel(&f, "k", "float32[]", "[i](x) { x[i] = z; }"), UF_ERR_TYPE, "k");
    is_about(uf_define(&f, &d), UF_ERR_SYNTAX, "f, section 1");
    d.sections = sections + 1;
    is_about(uf_define(&f, &d), UF_ERR_SYNTAX, "f");
    d.sections = (uf_section[]){sections[0], sections[2]};
    is_about(uf_define(&f, &d), UF_ERR_SYNTAX, "signatures of f, section 1");
    is_about(reduction_with((uf_reduction_def){.map = "(x) {"}), UF_ERR_SYNTAX, "map of r");
    is_about(reduction_with((uf_reduction_def){.combine = "(a, b) { return z; }"}), UF_ERR_TYPE, "combine of r");
    is_about(reduction_with((uf_reduction_def){.finish = "(a b)"}), UF_ERR_SYNTAX, "finish of r");
    is_about(reduction_with((uf_reduction_def){.state = "float31"}), UF_ERR_SYNTAX, "state of r");
    is_about(reduction_with((uf_reduction_def){.identity = "0 +"}), UF_ERR_SYNTAX, "identity of r");
}

static void names_of_texts_of_calls(void **state) {
    (void)state;
    uf_func *bits, *fold, *wrong, *kernel;
    char *text;
    uf_options options = {.size = sizeof options, .signature = "f->"};
    const uf_reduction_def def = {.size = sizeof def, .combine = "(a, b) { return a & b; }"};
    const uf_section section = {"f->f", "(x) { assert(x > 100); return x; }"};
    const uf_definition d = {
        .size = sizeof d, .name = "wrong", .nsections = 1, .sections = &section, .flags = UF_DEBUG};
    assert_int_equal(uf_vectorize(&bits, "bits", NULL, "(a, b) { return a & b; }"), UF_OK);
    assert_int_equal(uf_reduction(&fold, "fold", NULL, &def), UF_OK);
    assert_int_equal(uf_define(&wrong, &d), UF_OK);
    assert_int_equal(uf_kernel(&kernel, "kernel", "float32[]", "[i](x) { x[i] = 0; }"), UF_OK);
    is_about(UF_CALL(bits, UF_ARRAY(x, 12), UF_ARRAY(y, 12), OUT(12)), UF_ERR_TYPE, "bits");
    is_about(uf_reduce(bits, 2, LIST(UF_ARRAY(x, 12), OUT(1)), NULL), UF_ERR_TYPE, "bits");
    is_about(uf_reduce(fold, 2, LIST(UF_ARRAY(x, 12), OUT(1)), NULL), UF_ERR_TYPE, "combine of fold");
    is_about(uf_call(add, 3, LIST(UF_ARRAY(x, 12), UF_ARRAY(y, 12), OUT(12)), &options), UF_ERR_SYNTAX,
             "signature of the options");
    is_about(uf_inspect(add, "f,", CPU, UF_VIEW_TREE, &text), UF_ERR_SYNTAX, "types");
    is_about(uf_inspect(kernel, "f[", CPU, UF_VIEW_TREE, &text), UF_ERR_SYNTAX, "types");
    is_about(UF_CALL(wrong, UF_ARRAY(x, 12), OUT(12)), UF_ERR_KERNEL, "wrong");
    uf_free(bits);
    uf_free(fold);
    uf_free(wrong);
    uf_free(kernel);
}

static int tear_down(void **state) {
    (void)state;
    uf_free(add);
    uf_free(bytes);
    uf_free(any);
    uf_free(two);
    return 0;
}

int main(void) {
    setenv("UFUNC_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(texts),
        cmocka_unit_test(definitions),
        cmocka_unit_test(names_of_texts),
        cmocka_unit_test(names_of_texts_of_calls),
        cmocka_unit_test(long_kernels),
        cmocka_unit_test(long_signatures),
        cmocka_unit_test(operands_65),
        cmocka_unit_test(bad_arrays),
        cmocka_unit_test(bad_copies),
        cmocka_unit_test(counts_and_nulls),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(sizes_of_options),
        cmocka_unit_test(no_match),
        cmocka_unit_test(shapes),
        cmocka_unit_test(outputs),
        cmocka_unit_test(masks),
        cmocka_unit_test(numbers),
        cmocka_unit_test(forced),
        cmocka_unit_test(plans),
        cmocka_unit_test(inference),
        cmocka_unit_test(looking),
        cmocka_unit_test(memory),
        cmocka_unit_test(mixed_devices),
        cmocka_unit_test(no_cuda),
        cmocka_unit_test(success_is_silent),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
