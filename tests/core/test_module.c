/* test_module.c - modules: what texts see of them, files beside each other, the catalogue, cycles and clashes, bad input, and that code is
 * not taken for that of another text of the same words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h" /* before cmocka, which has a macro of the name of a function of it */

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"

#define MODULE(...) \
    &(uf_module_definition) { .size = sizeof(uf_module_definition), __VA_ARGS__ }

static uf_module *module(const char *name, const char *source, int n, uf_module *const *modules) {
    uf_module *m;
    OK(uf_module_new(&m, MODULE(.name = name, .source = source, .nmodules = n, .modules = modules)));
    return m;
}

/* An elementwise function of float64 whose text sees modules and functions. */
static uf_status define_with(uf_func **out, const char *source, int nmodules, uf_module *const *modules, int nfunctions,
                             uf_func *const *functions) {
    const uf_section only = {.signatures = "d->d", .source = source};
    return uf_define(out, &(uf_definition){.size = sizeof(uf_definition),
                                           .name = "f",
                                           .nsections = 1,
                                           .sections = &only,
                                           .nmodules = nmodules,
                                           .modules = modules,
                                           .nfunctions = nfunctions,
                                           .functions = functions});
}

static double value_of(const uf_func *f, double x) {
    double r[1] = {-1}, in[1] = {x};
    OK(UF_CALL(f, UF_ARRAY(in, 1), UF_ARRAY(r, 1)));
    return r[0];
}

static double value_with(const char *source, uf_module *m, double x) {
    uf_func *f;
    OK(define_with(&f, source, 1, &m, 0, NULL));
    uf_module_free(m); /* the function keeps what it needs */
    double r = value_of(f, x);
    uf_free(f);
    return r;
}

static void helpers_and_constants(void **state) {
    (void)state;
    assert_true(value_with("(x) { return twice(x) + k; }",
                           module("m", "const k = 0.5;\ntwice(x) { return 2 * x; }", 0, NULL), 3) == 6.5);
}

/* The same words, with modules of the same name and of another text: the code is another. */
static void equal_texts(void **state) {
    (void)state;
    static const char kernel[] = "(x) { return change(x); }";
    for (int round = 0; round < 2; round++) {
        assert_true(value_with(kernel, module("m", "change(x) { return x + 1; }", 0, NULL), 3) == 4);
        assert_true(value_with(kernel, module("m", "change(x) { return x + 2; }", 0, NULL), 3) == 5);
    }
    uf_module *inner[2] = {module("inner", "by() { return 10; }", 0, NULL),
                           module("inner", "by() { return 20; }", 0, NULL)};
    for (int i = 0; i < 2; i++) {
        uf_module *m = module("m", "change(x) { return x + by(); }", 1, &inner[i]);
        uf_module_free(inner[i]);
        assert_true(value_with(kernel, m, 3) == 13 + 10 * i);
    }
}

static void functions_in_texts(void **state) {
    (void)state;
    uf_func *half, *f;
    OK(uf_vectorize(&half, "half", "d->d", "(x) { return x / 2; }"));
    OK(define_with(&f, "(x) { return half(x) + half(1); }", 0, NULL, 1, &half));
    uf_free(half);
    assert_true(value_of(f, 3) == 2);
    uf_free(f);
}

/* A number beside a vector is a vector to the operator of vectors, and not, by way of a vector, a pair of them to that of pairs. */
static void operators_of_modules(void **state) {
    (void)state;
    uf_module *both[2] = {
        module("vector",
               "struct vector(T) { T x, y; };\n"
               "operator vector (T s) { return (vector(T)){s, s}; }\n"
               "operator * (vector(T) a, vector(T) b) { return (vector(T)){a.x * b.x, a.y * b.y}; }\n",
               0, NULL),
        module("pair",
               "struct pair(T) { T a, b; };\n"
               "operator pair (T s) { return (pair(T)){s, s}; }\n"
               "operator + (pair(T) p) { return (pair(T)){p.b, p.a}; }\n"
               "operator * (pair(T) p, T s) { return (pair(T)){p.a * s, p.b * s}; }\n",
               0, NULL)};
    uf_func *f;
    OK(define_with(&f, "(x) { return (x * (vector(float64)){1, 2}).y; }", 2, both, 0, NULL));
    assert_true(value_of(f, 3) == 6);
    uf_free(f);
    OK(define_with(&f, "(x) { auto p = +(pair(float64)){1, 2} * x; return 10 * p.a + p.b; }", 2, both, 0, NULL));
    assert_true(value_of(f, 3) == 63);
    uf_free(f);
    uf_module_free(both[0]);
    uf_module_free(both[1]);
}

/* A function takes records, too: the section is that of the first scalar, and outputs become records by what is assigned to them. */
/* reduce combines by a function of two values, or by what a reduction combines by. */
static void functions_that_combine(void **state) {
    (void)state;
    uf_func *widening, *f;
    OK(define_with(&f,
                   "use add, sum, maximum, gcd;\n(x) { return reduce(add, i : 4, x * i) + reduce(sum, i : 3, x) "
                   "+ 100 * reduce(maximum, i : 5, i) + 1000 * reduce(gcd, i : 3, 6 * i); }",
                   0, NULL, 0, NULL));
    assert_true(value_of(f, 2) == 12 + 6 + 400 + 6000);
    uf_free(f);
    OK(uf_vectorize(&widening, "widening", "dd->f", "(x, y) { return x + y; }"));
    FAILS(UF_ERR_TYPE, "reduce needs the type of its arguments",
          define_with(&f, "(x) { return reduce(widening, i : 3, (float32)x); }", 0, NULL, 1, &widening));
    uf_free(widening);
}

static void functions_of_records(void **state) {
    (void)state;
    static const char pairs[] = "struct pair(T) { T a, b; };\n"
                                "operator pair (T s) { return (pair(T)){s, s}; }\n"
                                "operator + (pair(T) p, pair(T) q) { return (pair(T)){p.a + q.a, p.b + q.b}; }\n"
                                "(x) { auto (s, t) = both((pair(float64)){x, 1}, 2); return 10 * t.a + s.b; }";
    const uf_section sections[] = {{"ii->ii", "(x, y) -> (s, t) { s = 0; t = 0; }"},
                                   {"dd->dd", "(x, y) -> (s, t) { s = 1; t = x; t += y; if (y > 0) s += x; }"}};
    uf_func *both, *f;
    OK(uf_define(
        &both, &(uf_definition){.size = sizeof(uf_definition), .name = "both", .nsections = 2, .sections = sections}));
    OK(define_with(&f, pairs, 0, NULL, 1, &both));
    assert_true(value_of(f, 3) == 52);
    uf_free(f);
    FAILS(UF_ERR_TYPE, "there is no 'operator *' with (pair(float64), float64)",
          define_with(
              &f, "use multiply;\nstruct pair(T) { T a, b; };\n(x) { return multiply((pair(float64)){x, 1}, x).a; }", 0,
              NULL, 0, NULL));
    uf_free(both);
}

static void catalogue(void **state) {
    (void)state;
    uf_module *a, *b;
    bool found = false;
    for (int64_t i = 0; uf_catalogue_module(i); i++) {
        assert_true(i == 0 || strcmp(uf_catalogue_module(i - 1), uf_catalogue_module(i)) < 0);
        found |= !strcmp(uf_catalogue_module(i), "units");
        OK(uf_module_load(&a, uf_catalogue_module(i)));
        uf_module_free(a);
    }
    assert_true(found);
    assert_null(uf_catalogue_module(-1));
    OK(uf_module_load(&a, "units"));
    OK(uf_module_load(&b, "units"));
    assert_ptr_equal(a, b); /* it is made once */
    uf_module_free(b);
    assert_true(value_with("(x) { return from_fahrenheit(x); }", a, 50) == 283.15);
    uf_func *f;
    OK(define_with(&f, "use units, hypot;\n(x) { return hypot(x, to_celsius(277.15)); }", 0, NULL, 0, NULL));
    assert_true(value_of(f, 3) == 5);
    uf_free(f);
}

/* ---- Files ---- */

static char folder[64];

static const char *path(const char *name) {
    static char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", folder, name);
    return whole;
}

static void write_file(const char *name, const char *content) {
    FILE *file = fopen(path(name), "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void files(void **state) {
    (void)state;
    uf_func *f;
    uf_module *m;
    uf_module_description d = {.size = sizeof d};
    write_file("inner.uf", "# a comment\nmodule inner\ntext\nconst ten = 10;\n");
    write_file("outer.uf", "module outer\ndoc  Two\n     lines.\nuse inner\ntext\nadd_ten(x) { return x + ten; }\n");
    write_file(
        "f.uf",
        "ufunc f\nsignatures d->d\nkernel\nuse outer, inner;\nconst one = 1;\ntwice(x) { return 2 * x; }\n(x) { return "
        "add_ten(twice(x)) + one + ten; }\n");
    OK(uf_module_load(&m, path("outer.uf")));
    OK(uf_module_describe(m, &d));
    assert_string_equal(d.name, "outer");
    assert_string_equal(d.doc, "Two\nlines.");
    assert_non_null(strstr(d.helpers, "add_ten"));
    assert_string_equal(d.records, "");
    uf_module_free(m);
    OK(uf_load(&f, path("f.uf")));
    assert_true(value_of(f, 3) == 27);
    uf_free(f);
    /* One beside the text goes before the catalogue's. */
    write_file("units.uf", "module units\ntext\nconst ice_point = 1;\n");
    write_file("g.uf", "ufunc g\nsignatures d->d\nkernel\nuse units;\n(x) { return x + ice_point; }\n");
    OK(uf_load(&f, path("g.uf")));
    assert_true(value_of(f, 3) == 4);
    uf_free(f);
}

/* ---- Errors ---- */

static void cycles(void **state) {
    (void)state;
    uf_module *m = (uf_module *)&m;
    uf_func *f;
    write_file("a.uf", "module a\nuse b\ntext\nof_a(x) { return x; }\n");
    write_file("b.uf", "module b\ntext\nuse a;\nof_b(x) { return x; }\n");
    FAILS(UF_ERR_SYNTAX, "a.uf uses ", uf_module_load(&m, path("a.uf")));
    assert_null(m);
    assert_non_null(strstr(uf_last_error()->message, "b.uf, which uses "));
    assert_string_equal(uf_last_error()->source, path("b.uf"));
    assert_int_equal(uf_last_error()->line, 3);
    assert_int_equal(uf_last_error()->column, 5);
    write_file("self.uf", "ufunc self\nsignatures d->d\nkernel\nuse self;\n(x) { return x; }\n");
    FAILS(UF_ERR_SYNTAX, "would use itself", uf_load(&f, path("self.uf")));
    assert_null(f);
    for (int i = 0; i < 40; i++) {
        char name[32], content[96];
        snprintf(name, sizeof name, "deep%d.uf", i);
        snprintf(content, sizeof content, "module deep%d\nuse deep%d\ntext\nconst k%d = 1;\n", i, i + 1, i);
        write_file(name, content);
    }
    FAILS(UF_ERR_SYNTAX, "more than 32 texts", uf_module_load(&m, path("deep0.uf")));
}

static void clashes(void **state) {
    (void)state;
    uf_module *m[2] = {module("m", "k() { return 1; }", 0, NULL), module("m", "k() { return 2; }", 0, NULL)}, *out;
    uf_func *f, *both[2];
    FAILS(UF_ERR_ARGUMENT, "modules[0] and modules[1] are both called m",
          define_with(&f, "(x) { return x; }", 2, m, 0, NULL));
    FAILS(UF_ERR_ARGUMENT, "modules[0] and modules[1] are both called m",
          uf_module_new(&out, MODULE(.name = "n", .source = "", .nmodules = 2, .modules = m)));
    uf_module_free(m[0]);
    uf_module_free(m[1]);
    OK(uf_vectorize(&both[0], "g", NULL, "(x) { return x; }"));
    OK(uf_vectorize(&both[1], "g", NULL, "(x) { return -x; }"));
    FAILS(UF_ERR_ARGUMENT, "functions[0] and functions[1] are both called g",
          define_with(&f, "(x) { return x; }", 0, NULL, 2, both));
    uf_free(both[0]);
    uf_free(both[1]);
}

static void where_errors_are(void **state) {
    (void)state;
    uf_func *f;
    uf_module *m;
    FAILS(UF_ERR_SYNTAX, "1:", uf_module_new(&m, MODULE(.name = "bad", .source = "k( { }")));
    assert_null(m);
    assert_string_equal(uf_last_error()->source, "module bad");
    /* A kernel that calls its helper with types that it is not for. */
    m = module("shifts", "\n  by_two(x) { return x << 2; }", 0, NULL);
    FAILS(UF_ERR_TYPE, "", define_with(&f, "(x) { return by_two(x); }", 1, &m, 0, NULL));
    assert_string_equal(uf_last_error()->source, "module shifts");
    assert_int_equal(uf_last_error()->line, 2);
    uf_module_free(m);
    write_file("bits.uf", "module bits\ndoc none\ntext\nby_two(x) { return x << 2; }\n");
    write_file("h.uf", "ufunc h\nsignatures d->d\nkernel\nuse bits;\n(x) { return by_two(x); }\n");
    FAILS(UF_ERR_TYPE, "", uf_load(&f, path("h.uf")));
    assert_string_equal(uf_last_error()->source, path("bits.uf"));
    assert_int_equal(uf_last_error()->line, 4);
    write_file("bits.uf", "module bits\ndoc none\ntext\nby_two(x) { return x <<; }\n");
    FAILS(UF_ERR_SYNTAX, "bits.uf:4:", uf_load(&f, path("h.uf")));
    assert_string_equal(uf_last_error()->source, path("bits.uf"));
    write_file("h.uf", "ufunc h\nsignatures d->d\nkernel\nuse nothing_like_it;\n(x) { return x; }\n");
    FAILS(UF_ERR_SYNTAX, "nothing_like_it", uf_load(&f, path("h.uf")));
    assert_int_equal(uf_last_error()->line, 4);
    assert_string_equal(uf_last_error()->source, path("h.uf"));
}

static void bad_files(void **state) {
    (void)state;
    static const struct {
        const char *content, *message;
    } rows[] = {{"module m\n", "there is no \"text\""},
                {"module m\nkernel (x) { return x; }\n", "a module has no \"kernel\""},
                {"ufunc f\ntext\nconst k = 1;\n", "a ufunc has no \"text\""},
                {"module m\nuse a; b\ntext\nconst k = 1;\n", "names with commas between them are needed"},
                {"module 1\ntext\nconst k = 1;\n", "no identifier"},
                {"module m\nmodule n\ntext\nconst k = 1;\n", "a second module"},
                {"module m\ntext", "\"text\" needs a value"}};
    uf_module *m;
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_file("bad.uf", rows[i].content);
        FAILS(UF_ERR_SYNTAX, rows[i].message, uf_module_load(&m, path("bad.uf")));
        assert_null(m);
    }
    uf_func *f;
    write_file("m.uf", "module m\ntext\nconst k = 1;\n");
    write_file("u.uf", "ufunc u\nkernel (x) { return x; }\n");
    FAILS(UF_ERR_ARGUMENT, "is a module; uf_module_load", uf_load(&f, path("m.uf")));
    FAILS(UF_ERR_ARGUMENT, "is no module; uf_load", uf_module_load(&m, path("u.uf")));
    FAILS(UF_ERR_IO, "none.uf", uf_module_load(&m, path("none.uf")));
    FAILS(UF_ERR_ARGUMENT, "did you mean \"units\"", uf_module_load(&m, "unit"));
    FAILS(UF_ERR_ARGUMENT, "uf_catalogue_module", uf_module_load(&m, "nothing_like_it"));
}

static void bad_arguments(void **state) {
    (void)state;
    uf_module *m = (uf_module *)&m;
    uf_func *f, *gufunc;
    uf_module_definition longer[2] = {{.size = sizeof longer, .name = "m", .source = ""}};
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_module_new(NULL, MODULE(.name = "m", .source = "")));
    FAILS(UF_ERR_ARGUMENT, "definition is NULL", uf_module_new(&m, NULL));
    assert_null(m);
    FAILS(UF_ERR_ARGUMENT, "size is 0", uf_module_new(&m, &(uf_module_definition){.name = "m", .source = ""}));
    longer[1].name = "x";
    FAILS(UF_ERR_ARGUMENT, "is not zero", uf_module_new(&m, longer));
    FAILS(UF_ERR_ARGUMENT, "name is NULL", uf_module_new(&m, MODULE(.source = "")));
    FAILS(UF_ERR_ARGUMENT, "no identifier", uf_module_new(&m, MODULE(.name = "a b", .source = "")));
    FAILS(UF_ERR_ARGUMENT, "source is NULL", uf_module_new(&m, MODULE(.name = "m")));
    FAILS(UF_ERR_ARGUMENT, "nmodules is -1", uf_module_new(&m, MODULE(.name = "m", .source = "", .nmodules = -1)));
    FAILS(UF_ERR_ARGUMENT, "modules is NULL", uf_module_new(&m, MODULE(.name = "m", .source = "", .nmodules = 2)));
    FAILS(UF_ERR_ARGUMENT, "modules[0] is NULL",
          uf_module_new(&m, MODULE(.name = "m", .source = "", .nmodules = 1, .modules = (uf_module *[]){NULL})));
    FAILS(UF_ERR_ARGUMENT, "functions[0] is NULL",
          define_with(&f, "(x) { return x; }", 0, NULL, 1, (uf_func *[]){NULL}));
    OK(uf_load(&gufunc, "matmul"));
    FAILS(UF_ERR_ARGUMENT, "generalized ufunc", define_with(&f, "(x) { return x; }", 0, NULL, 1, &gufunc));
    uf_free(gufunc);
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_module_load(NULL, "units"));
    FAILS(UF_ERR_ARGUMENT, "what is NULL", uf_module_load(&m, NULL));
    FAILS(UF_ERR_ARGUMENT, "module is NULL", uf_module_describe(NULL, &(uf_module_description){.size = 40}));
    OK(uf_module_load(&m, "units"));
    FAILS(UF_ERR_ARGUMENT, "out is NULL", uf_module_describe(m, NULL));
    FAILS(UF_ERR_ARGUMENT, "size is 0", uf_module_describe(m, &(uf_module_description){.size = 0}));
    uf_module_free(m);
    uf_module_free(NULL);
}

/* FIPS 180-4's examples. */
static void digests(void **state) {
    (void)state;
    static const struct {
        const char *text, *digest;
    } rows[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    char out[DIGEST_TEXT];
    for (size_t i = 0; i < COUNT(rows); i++) {
        digest d;
        digest_begin(&d);
        for (const char *c = rows[i].text; *c; c++)
            digest_add(&d, c, 1);
        digest_end(&d, out);
        assert_string_equal(out, rows[i].digest);
    }
}

static int folder_make(void **state) {
    (void)state;
    strcpy(folder, "/tmp/test_module.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Two modules with a helper for the same parameters are an error where they come together; a module that is there twice is not. */
static void helper_clashes(void **state) {
    (void)state;
    uf_module *a, *b, *both;
    uf_func *f;
    OK(uf_module_new(&a, &(uf_module_definition){
                             .size = sizeof(uf_module_definition), .name = "a", .source = "area(x) { return x; }"}));
    OK(uf_module_new(&b, &(uf_module_definition){.size = sizeof(uf_module_definition),
                                                 .name = "b",
                                                 .source = "\n area(y) { return 2 * y; }"}));
    uf_module_definition def = {.size = sizeof def,
                                .name = "c",
                                .source = "one() { return 1; }",
                                .nmodules = 2,
                                .modules = (uf_module *[]){a, b}};
    FAILS(UF_ERR_SYNTAX, "two modules define 'area' for the same parameters: at 1:1 of module a and at 2:2 of module b",
          uf_module_new(&both, &def));
    const uf_section only = {.source = "(x) { return x; }"};
    FAILS(UF_ERR_SYNTAX, "at 1:1 of module a and at 2:2 of module b",
          uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                         .name = "f",
                                         .nsections = 1,
                                         .sections = &only,
                                         .nmodules = 2,
                                         .modules = (uf_module *[]){a, b}}));
    uf_module *interval;
    OK(uf_module_load(&interval, "interval"));
    const uf_section twice = {.source = "use interval; (x) { return mid((interval(float64)){x, x}); }"};
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "f",
                                      .nsections = 1,
                                      .sections = &twice,
                                      .nmodules = 1,
                                      .modules = &interval}));
    uf_free(f);
    uf_module_free(interval);
    uf_module_free(a);
    uf_module_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(digests),
                                       cmocka_unit_test(helpers_and_constants),
                                       cmocka_unit_test(equal_texts),
                                       cmocka_unit_test(functions_in_texts),
                                       cmocka_unit_test(catalogue),
                                       cmocka_unit_test(files),
                                       cmocka_unit_test(cycles),
                                       cmocka_unit_test(clashes),
                                       cmocka_unit_test(where_errors_are),
                                       cmocka_unit_test(bad_files),
                                       cmocka_unit_test(bad_arguments),
                                       cmocka_unit_test(operators_of_modules),
                                       cmocka_unit_test(functions_of_records),
                                       cmocka_unit_test(functions_that_combine),
                                       cmocka_unit_test(helper_clashes)};
    return cmocka_run_group_tests_name("modules", tests, folder_make, folder_remove);
}
