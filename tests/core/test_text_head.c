/* test_text_head.c - the #line at the head of a text, as UF_SOURCE writes it: errors in every text of a definition name the file and
 * its line, and show what stands there; reports of UF_DEBUG do, too. What is no head is refused as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expect.h"

#include <stdio.h>

#include "define.h"

/* The error is in this file, at line `line` and `column` of the text behind the head, and begins so. */
static void is_at(const char *file, int line, int column, const char *message) {
    const uf_error *e = uf_last_error();
    if (strcmp(e->source, file) != 0 || e->line != line || e->column != column ||
        strncmp(e->message, message, strlen(message)) != 0)
        print_error("%s:%d:%d: %s\n", e->source, e->line, e->column, e->message);
    assert_string_equal(e->source, file);
    assert_int_equal(e->line, line);
    assert_int_equal(e->column, column);
    assert_int_equal(strncmp(e->message, message, strlen(message)), 0);
}

static void line_of_the_macro(void **state) {
    (void)state;
    uf_func *f;
    int line = __LINE__ + 1;
    assert_int_equal(uf_vectorize(&f, "f", "f->f", UF_SOURCE((x) { return x + q; })), UF_ERR_TYPE);
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "%s:%d: ", __FILE__, line);
    is_at(__FILE__, line, 18, wanted);
    assert_non_null(strstr(uf_last_error()->message, "\n  (x) { return x + q; }\n                   ^"));
}

/* A macro of many lines is one line of text, of which the part around the error is shown. */
static void window(void **state) {
    (void)state;
    uf_func *f;
    assert_int_equal(uf_vectorize(&f, "f", "f->f", UF_SOURCE((x) {
                         double first = x * x + 1, second = first * first + 2, third = second * second + 3;
                         double fourth = third * third + 4, fifth = fourth * fourth + 5 + wrong,
                                sixth = fifth * fifth + 6;
                         double seventh = sixth * sixth + 7, eighth = seventh * seventh + 8,
                                ninth = eighth * eighth + 9;
                         return first + second + third + fourth + fifth + sixth + seventh + eighth + ninth;
                     })),
                     UF_ERR_TYPE);
    const char *shown = strstr(uf_last_error()->message, "\n  ..");
    assert_non_null(shown);
    const char *caret = strstr(shown + 1, "\n");
    assert_non_null(caret);
    size_t at = strcspn(caret + 1, "^");
    assert_int_equal(strncmp(shown + 1 + at, "wrong", 5), 0);
    assert_true(caret - shown < 120);
}

#define HEAD "#line 70 \"a b/\xC3\xBC.c\"\n"
#define FILE_ "a b/\xC3\xBC.c"

static void lines_count_on(void **state) {
    (void)state;
    uf_func *f;
    assert_int_equal(uf_vectorize(&f, "f", "f->f", HEAD "(x) {\n  return x +;\n}"), UF_ERR_SYNTAX);
    is_at(FILE_, 71, 13, FILE_ ":71: ");
    assert_int_equal(uf_vectorize(&f, "f", "f->f", HEAD "(x) {\n  return z;\n}"), UF_ERR_TYPE);
    is_at(FILE_, 71, 10, FILE_ ":71: ");
    assert_int_equal(uf_vectorize(&f, "f", "f->f", HEAD "\n\n(x) { return z; }"), UF_ERR_TYPE);
    is_at(FILE_, 72, 14, FILE_ ":72: ");
    assert_int_equal(uf_vectorize(&f, "f", "f->f", HEAD), UF_ERR_SYNTAX);
    is_at(FILE_, 70, 1, FILE_ ":70: ");
    assert_int_equal(uf_vectorize(&f, "f", "f->f", HEAD "h(a) { return a; } h(b) { return b; } (x) { return h(x); }"),
                     UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "70:"));
}

static void every_text(void **state) {
    (void)state;
    uf_func *f;
    uf_module *m;
    uf_reduction_def def = {.size = sizeof def, .combine = HEAD "(a, b) { return a + ; }"};
    assert_int_equal(uf_reduction(&f, "f", "f->f", &def), UF_ERR_SYNTAX);
    is_at(FILE_, 70, 21, FILE_ ":70: ");
    def = (uf_reduction_def){
        .size = sizeof def, .map = HEAD "(x) -> (s) { s = y; }", .combine = HEAD "(a, b) { return a + b; }"};
    assert_int_equal(uf_reduction(&f, "f", "f->f", &def), UF_ERR_TYPE);
    is_at(FILE_, 70, 18, FILE_ ":70: ");
    def = (uf_reduction_def){.size = sizeof def, .combine = "(a, b) { return a + b; }", .identity = HEAD "0 0"};
    assert_int_equal(uf_reduction(&f, "f", "f->f", &def), UF_ERR_SYNTAX);
    is_at(FILE_, 70, 3, FILE_ ":70: ");
    assert_int_equal(uf_guvectorize(&f, "f", "(n)->()", "f->f", HEAD "(x) -> (r) { r = sum(i : k, x[i]); }"),
                     UF_ERR_TYPE);
    is_at(FILE_, 70, 26, FILE_ ":70: ");
    assert_int_equal(uf_kernel(&f, "f", "float32[]", HEAD "[i](a) { a[i] = b; }"), UF_ERR_TYPE);
    is_at(FILE_, 70, 17, FILE_ ":70: ");
    assert_int_equal(uf_module_new(&m, &(uf_module_definition){.size = sizeof(uf_module_definition),
                                                               .name = "m",
                                                               .source = HEAD "h(a) { return a + ; }"}),
                     UF_ERR_SYNTAX);
    is_at(FILE_, 70, 19, FILE_ ":70: ");
}

/* Texts that the library makes of others. */
static void made_of_others(void **state) {
    (void)state;
    float x[2] = {3, 4}, r[2] = {0}, m[3][2][2] = {{{1, 1}, {0, 1}}, {{1, 2}, {0, 1}}, {{1, 3}, {0, 1}}}, product[2][2];
    uf_func *square, *d, *composed, *f;
    uf_description description = {.size = sizeof description};
    OK(uf_vectorize(&square, "square_", "f->f", HEAD "(x) { return x * x; }"));
    OK(uf_derivative(&d, square, 0));
    OK(UF_CALL(d, UF_ARRAY(x), UF_ARRAY(r)));
    assert_true(r[1] == 8);
    OK(uf_compose(&composed, "composed", "x", "square_(x) + 1", 1, (uf_func *[]){square}));
    OK(UF_CALL(composed, UF_ARRAY(x), UF_ARRAY(r)));
    assert_true(r[0] == 10);
    uf_free(composed);
    uf_free(d);
    uf_free(square);
    OK(uf_vectorize(&f, "f", "f->f", HEAD "(x) { float y = x; return y; }"));
    FAILS(UF_ERR_TYPE, FILE_ ":70: ", uf_derivative(&d, f, 0));
    uf_free(f);
    const uf_section only = {"ff->f",
                             HEAD "(a, b) -> (c) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]); }"};
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "mul",
                                      .layout = "(n,n),(n,n)->(n,n)",
                                      .nsections = 1,
                                      .sections = &only,
                                      .identity = HEAD "[i, j]() { return i == j; }"}));
    OK(UF_REDUCE(f, UF_ARRAY(m), UF_ARRAY(product), .axis = 0));
    assert_true(product[0][1] == 6 && product[1][1] == 1);
    OK(UF_REDUCE(f, UF_ARRAY(&m[0][0][0], 0, 2, 2), UF_ARRAY(product), .axis = 0));
    assert_true(product[0][1] == 0 && product[1][1] == 1);
    OK(uf_describe(f, &description));
    assert_string_equal(description.identity, "[i, j]() { return i == j; }");
    uf_free(f);
}

static void reports(void **state) {
    (void)state;
    float x[2] = {3, 4};
    uf_func *f;
    const uf_section only = {"float32[]", HEAD "[i](a) {\n  assert(a[i] < 4);\n}"};
    OK(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                      .name = "f",
                                      .nsections = 1,
                                      .sections = &only,
                                      .flags = UF_KERNEL | UF_DEBUG}));
    FAILS(UF_ERR_KERNEL, "f: " FILE_ ":71: assertion failed: a[i] < 4", UF_FORALL(f, (2), UF_ARRAY(x)));
    assert_string_equal(uf_last_error()->source, FILE_);
    assert_int_equal(uf_last_error()->line, 71);
    uf_free(f);
}

static void no_heads(void **state) {
    (void)state;
    static const char *const texts[] = {
        "#line 0 \"a.c\"\n(x) { return x; }",
        "#line 12\n(x) { return x; }",
        "#line \"a.c\"\n(x) { return x; }",
        "#line 12 a.c\n(x) { return x; }",
        "#line 12 \"a.c\n(x) { return x; }",
        "#line 12 \"\n(x) { return x; }",
        "#line 12 \"a.c\"",
        "#line 12x \"a.c\"\n(x) { return x; }",
        "#line -1 \"a.c\"\n(x) { return x; }",
        "#line 99999999999999999999 \"a.c\"\n(x) { return x; }",
        "#define 12 \"a.c\"\n(x) { return x; }",
        "#line 12 \"a.c\"\n#line 13 \"a.c\"\n(x) { return x; }",
        " #line 12 \"a.c\"\n(x) { return x; }",
        "(x) {\n#line 12 \"a.c\"\nreturn x; }",
    };
    uf_func *f;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        FAILS(UF_ERR_SYNTAX, "there is no preprocessor in kernel C", uf_vectorize(&f, "f", "f->f", texts[i]));
    OK(uf_vectorize(&f, "f", "f->f", "#line 12 \"\"\n(x) { return x; }"));
    uf_free(f);
}

/* Of a long path the end is shown. */
static void long_path(void **state) {
    (void)state;
    static char text[6000], path[4000];
    uf_func *f;
    memset(path, 'p', sizeof path - 1);
    memcpy(path + sizeof path - 7, "/end.c", 6);
    snprintf(text, sizeof text, "#line 3 \"%s\"\n(x) { return x + q; }", path);
    assert_int_equal(uf_vectorize(&f, "f", "f->f", text), UF_ERR_TYPE);
    assert_int_equal(strlen(uf_last_error()->source), sizeof uf_last_error()->source - 1);
    assert_non_null(strstr(uf_last_error()->message, "/end.c:3: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_of_the_macro), cmocka_unit_test(window),         cmocka_unit_test(lines_count_on),
        cmocka_unit_test(every_text),        cmocka_unit_test(made_of_others), cmocka_unit_test(reports),
        cmocka_unit_test(no_heads),          cmocka_unit_test(long_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
