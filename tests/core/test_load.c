/* test_load.c - function files: what they say, where errors in them are, and the catalogue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "failing.h"

#include <cmocka.h>
#undef fail

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const uf_error *last(void) { return uf_last_error(); }

static uf_status func_load(uf_func **out, const char *path, const char *source, size_t length) {
    imported x;
    uf_status s = source_load(&x, path, path, source, length, NULL);
    *out = s ? NULL : x.func;
    return s;
}

static uf_status load_text(uf_func **out, const char *source) { return func_load(out, "x.uf", source, strlen(source)); }

static uf_func *good(const char *source) {
    uf_func *f = NULL;
    uf_status s = load_text(&f, source);
    if (s)
        print_error("%s\n", last()->message);
    assert_int_equal(s, UF_OK);
    assert_non_null(f);
    return f;
}

/* ---- What files say ---- */

static void a_whole_file(void **state) {
    (void)state;
    uf_func *f = good("# a comment\n"
                      "\n"
                      "gufunc      matvec\n"
                      "layout      ( m , n ),\n"
                      "            (n) -> (m)\n"
                      "doc         Matrix-vector product.  \n"
                      "\n"
                      "    Over the last axes.\n"
                      "# not of the doc\n"
                      "blas        gemv\n"
                      "fast        contract\n"
                      "            flush\n"
                      "unchecked\n"
                      "debug   \n"
                      "max_registers 32\n"
                      "max_steps 9223372036854775807\n"
                      "max_extent 12\n"
                      "signatures  float32,float32->float32;\n"
                      "            dd->d\n"
                      "kernel\n"
                      "twice(x) { return x + x; }\n"
                      "doc(x) { return x; }\n"
                      "last (x) { return doc(x); }\n"
                      "(A, x) -> (y) {\n"
                      "# a comment in the kernel\n"
                      "    forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]);\n"
                      "}\n"
                      "signatures  int32,int32->int32\n"
                      "kernel (A, x) -> (y) { forall (i : m) y[i] = 0; }");
    uf_description d = {.size = sizeof d};
    assert_int_equal(uf_describe(f, &d), UF_OK);
    assert_string_equal(d.name, "matvec");
    assert_string_equal(d.kind, "gufunc");
    assert_string_equal(d.layout, "(m,n),(n)->(m)");
    assert_string_equal(d.doc, "Matrix-vector product.\n\nOver the last axes.");
    assert_string_equal(d.signatures, "float32,float32->float32; float64,float64->float64; int32,int32->int32");
    assert_int_equal(f->form.blas, BLAS_GEMV);
    assert_int_equal(f->fast, UF_FAST_CONTRACT | UF_FAST_FLUSH);
    assert_int_equal(f->flags, UF_UNCHECKED | UF_DEBUG);
    assert_int_equal(f->max_registers, 32);
    assert_true(f->max_steps == INT64_MAX);
    assert_true(f->max_extent == 12);
    assert_int_equal(f->nsections, 2);

    float a[] = {1, 2, 3, 4}, x[] = {1, 10}, y[2];
    assert_int_equal(UF_CALL(f, UF_ARRAY(a, 2, 2), UF_ARRAY(x, 2), UF_ARRAY(y, 2)), UF_OK);
    assert_true(y[0] == 21 && y[1] == 43);
    uf_free(f);
}

static void the_least_file(void **state) {
    (void)state;
    uf_description d = {.size = sizeof d};
    uf_func *f = good("ufunc f\nkernel (x) { return x; }");
    assert_int_equal(uf_describe(f, &d), UF_OK);
    assert_string_equal(d.kind, "elementwise");
    assert_string_equal(d.doc, "");
    assert_null(d.signatures);
    assert_null(d.layout);
    uf_free(f);
}

/* Line ends of other systems and a byte order mark change nothing but the bytes. */
static void carriage_returns(void **state) {
    (void)state;
    uf_description d = {.size = sizeof d};
    uf_func *f = good("\xEF\xBB\xBF"
                      "ufunc f\r\n# comment\r\ndoc one\r\n  two\r\nsignatures\r\n  f->f\r\n  d->d\r\nunchecked\r\n"
                      "kernel\r\n(x) {\r\n    return x; // \xC3\xA4\r\n}\r\n");
    assert_int_equal(uf_describe(f, &d), UF_OK);
    assert_string_equal(d.doc, "one\ntwo");
    assert_string_equal(d.signatures, "float32->float32; float64->float64");
    uf_free(f);
}

static void a_reduction(void **state) {
    (void)state;
    uf_func *f = good("reduction   farthest\n"
                      "doc         Where the greatest distance is.\n"
                      "order       ordered\n"
                      "identity    -INFINITY,\n"
                      "            -1\n"
                      "state       float32,int64;\n"
                      "            dl\n"
                      "signatures  ff->l; dd->l\n"
                      "map\n"
                      "distance(x, y) { return fabs(x - y); }\n"
                      "# of each element\n"
                      "[k](x, y) -> (v, i) { v = distance(x, y); i = k; }\n"
                      "combine     (a, i, b, j) -> (v, k) { v = a < b ? b : a; k = a < b ? j : i; }\n"
                      "finish\n"
                      "map(x) { return x; }\n"
                      "(v, i) { return map(i); }\n"
                      "max_registers 64");
    uf_description d = {.size = sizeof d};
    assert_int_equal(uf_describe(f, &d), UF_OK);
    assert_string_equal(d.kind, "reduction");
    assert_string_equal(d.signatures, "float32,float32->int64; float64,float64->int64");
    assert_int_equal(d.order, UF_ORDERED);
    assert_int_equal(d.nstate, 2);
    assert_true(d.nin == 2 && d.nout == 1);
    assert_string_equal(d.doc, "Where the greatest distance is.");
    assert_int_equal(f->reduction->state[0], DT_FLOAT32);
    assert_int_equal(f->reduction->state[2], DT_FLOAT64);
    assert_int_equal(f->max_registers, 64);
    uf_free(f);
    f = good("reduction r\ncombine (a, b) { return a + b; }"); /* all else may be left out */
    assert_true(f->any_types && f->nin == 1 && f->order == FOLD_FREE);
    uf_free(f);
    f = good("gufunc product\nlayout (n,n),(n,n)->(n,n)\nidentity [i, j]() { return i == j; }\norder serial\n"
             "kernel (a, b) -> (c) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]); }");
    assert_true(f->order == FOLD_SERIAL && f->identity.syntax);
    uf_free(f);
    f = good("ufunc sub\norder serial\nidentity 0\nwiden\nkernel (x, y) { return x - y; }");
    assert_true(f->order == FOLD_SERIAL && f->widen && f->identity.syntax);
    uf_free(f);
}

static void a_kernel_over_indices(void **state) {
    (void)state;
    uf_func *f = good("forall      smooth\n"
                      "doc         Means.\n"
                      "parameters  float32[], float32[];\n"
                      "            d[],d[]\n"
                      "lines\n"
                      "kernel      [i : n](x, y) { if (i > 0 && i < n - 1) y[i] = (x[i-1] + x[i] + x[i+1]) / 3; }\n"
                      "max_registers 40\n"
                      "parameters  f[,], f[,]\n"
                      "kernel\n"
                      "twice(x) { return x + x; }\n"
                      "[i, j](x, y) {\n"
                      "forall (k : 1)\n"
                      "    y[i][j] = twice(x[i][j]);\n"
                      "}");
    uf_description d = {.size = sizeof d};
    float x[] = {3, 6, 12}, y[3] = {0};
    assert_int_equal(uf_describe(f, &d), UF_OK);
    assert_string_equal(d.kind, "kernel");
    assert_string_equal(d.signatures, "float32[], float32[]; float64[], float64[]; float32[,], float32[,]");
    assert_string_equal(d.doc, "Means.");
    assert_int_equal(f->flags, UF_KERNEL | UF_LINES);
    assert_int_equal(f->max_registers, 40);
    assert_int_equal(uf_forall(f, 1, (int64_t[]){3}, 2, (DLTensor[]){UF_ARRAY(x, 3), UF_ARRAY(y, 3)}, NULL), UF_OK);
    assert_true(y[0] == 0 && y[1] == 7 && y[2] == 0);
    assert_int_equal(uf_forall(f, 2, (int64_t[]){1, 3}, 2, (DLTensor[]){UF_ARRAY(x, 1, 3), UF_ARRAY(y, 1, 3)}, NULL),
                     UF_OK);
    assert_true(y[0] == 6 && y[1] == 12 && y[2] == 24);
    uf_free(f);
    f = good("forall f\nunchecked\nfast all\ndebug\nparameters\n  i[]\nkernel [i](a) { a[i] = i; }");
    assert_int_equal(f->flags, UF_KERNEL | UF_UNCHECKED | UF_DEBUG);
    uf_free(f);
}

/* ---- Errors ---- */

typedef struct bad {
    const char *source;
    int line, column;
    const char *message, *shown; /* parts of the message; the line of the file with its caret */
    uf_status status;
} bad;

#define HEAD "gufunc g\nlayout (n)->()\n"
#define COMBINE "combine (a, b) { return a + b; }"

static const bad bads[] = {
    /* Entries */
    {"", 1, 1, "nothing is here; a file begins with \"ufunc NAME\"", "\n  \n  ^", UF_ERR_SYNTAX},
    {"\n# only this\n\n", 1, 1, "nothing is here", NULL, UF_ERR_SYNTAX},
    {"(x) { return x; }", 1, 1,
     "begins with \"ufunc NAME\", \"gufunc NAME\", \"reduction NAME\", \"forall NAME\" or \"module NAME\", in column 1",
     NULL, UF_ERR_SYNTAX},
    {"\n ufunc f", 2, 2, "in column 1", "\n   ufunc f\n   ^", UF_ERR_SYNTAX},
    {"doc f", 1, 1, "begins with \"ufunc NAME\"", NULL, UF_ERR_SYNTAX},
    {"gufnc f", 1, 1, "unknown keyword \"gufnc\"; did you mean \"gufunc\"?", "\n  gufnc f\n  ^", UF_ERR_SYNTAX},
    {"ufunc f\nsignature f->f\nkernel (x) { return x; }", 2, 1, "did you mean \"signatures\"?", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nkernl (x) { return x; }", 2, 1, "did you mean \"kernel\"?", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nkernel (x) {\nreturn x; }", 3, 1,
     "unknown keyword \"return\"; a line that goes on with an entry is indented", "\n  return x; }\n  ^",
     UF_ERR_SYNTAX},
    {"ufunc f\nkernel (x) {\n    return x; }\nsignaturs f->f", 4, 1, "did you mean \"signatures\"?", NULL,
     UF_ERR_SYNTAX},
    {"ufunc f\ndoc a\ndoc b\nkernel (x) { return x; }", 3, 1, "a second \"doc\"; the first is in line 2", NULL,
     UF_ERR_SYNTAX},
    {"ufunc f\nkernel (x) { return x; }\nufunc g", 3, 1,
     "a second function; a file has one function or module, which begins in line 1", NULL, UF_ERR_SYNTAX},
    {"ufunc", 1, 1, "\"ufunc\" needs a value", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nkernel\n\n# nothing\n", 2, 1, "\"kernel\" needs a value", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nkernel(x) { return x; }", 2, 7, "a blank is needed after \"kernel\"",
     "\n  kernel(x) { return x; }\n        ^", UF_ERR_SYNTAX},
    {"ufunc f g\n", 1, 9, "\"ufunc\" needs one word", "\n  ufunc f g\n          ^", UF_ERR_SYNTAX},
    {"ufunc f\nunchecked yes\n", 2, 11, "\"unchecked\" stands alone", NULL, UF_ERR_SYNTAX},
    {"ufunc 3f\nkernel (x) { return x; }", 1, 7, "no identifier", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nfast contract  divid\nkernel (x) { return x; }", 2, 16, "fast is \"divid\"; known are: contract", NULL,
     UF_ERR_SYNTAX},
    {"ufunc f\nmax_registers 3a\nkernel (x) { return x; }", 2, 15, "max_registers is \"3a\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nmax_registers 8\nkernel (x) { return x; }", 2, 15,
     "max_registers is \"8\"; a number from 16 to 255 is needed", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nmax_registers 99999999999\nkernel (x) { return x; }", 2, 15, "is \"99999999999\"", NULL, UF_ERR_SYNTAX},
    {"gufunc f\nlayout (n)->(n)\nmax_extent 0\nkernel (x) -> (y) { }", 3, 12, "max_extent is \"0\"; a number from 1",
     NULL, UF_ERR_SYNTAX},
    {"ufunc f\nmax_extent 3\nkernel (x) { return x; }", 2, 1, "max_extent", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nmax_steps 0\nkernel (x) { return x; }", 2, 11, "max_steps is \"0\"; a number from 1 to 2^63 - 1", NULL,
     UF_ERR_SYNTAX},
    {"ufunc f\nmax_steps 9223372036854775808\nkernel (x) { return x; }", 2, 11, "is \"9223372036854775808\"", NULL,
     UF_ERR_SYNTAX},
    {"ufunc f\nmax_steps -5\nkernel (x) { return x; }", 2, 11, "max_steps is \"-5\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nmax_steps\nkernel (x) { return x; }", 2, 1, "\"max_steps\" needs a value", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nmax_registers 0\nkernel (x) { return x; }", 2, 15, "max_registers is \"0\"", NULL, UF_ERR_SYNTAX},
    /* Sections */
    {"ufunc f\nsignatures f->f\n", 2, 1, "signatures without a kernel", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nsignatures f->f\nsignatures d->d\nkernel (x) { return x; }", 3, 1, "those of line 2 have no kernel",
     NULL, UF_ERR_SYNTAX},
    {"ufunc f\ndoc none\n", 1, 1, "there is no \"kernel\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nsignatures f->f\nkernel (x) { return x; }\nkernel (x) { return x; }", 4, 1,
     "a kernel without signatures", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nkernel (x) { return x; }\nsignatures f->f\nkernel (x) { return x; }", 2, 1,
     "a kernel without signatures", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nsignatures f->f\nkernel (x) { return x; }\nsignatures d->d; f->f\nkernel (x) { return x; }", 4, 12,
     "both have the signature float32->float32", NULL, UF_ERR_SYNTAX},
    /* Layouts */
    {"gufunc g\nkernel (x) -> (y) { y = 0; }", 1, 1, "a gufunc needs a \"layout\"", NULL, UF_ERR_SYNTAX},
    {"ufunc g\nlayout (n)->()\nkernel (x) { return x; }", 2, 1, "a ufunc has no \"layout\"", NULL, UF_ERR_SYNTAX},
    {"gufunc g\nlayout   (n),\n     (n->()\nkernel (x, z) -> (y) { y = 0; }", 3, 0, "", "\n       (n->()\n",
     UF_ERR_SYNTAX},
    {HEAD "blas dott\nkernel (x) -> (y) { y = 0; }", 3, 6, "blas is \"dott\"", "\n  blas dott\n       ^",
     UF_ERR_SYNTAX},
    {HEAD "blas dot\nkernel (x) -> (y) { y = 0; }", 3, 6, "which is for the layout", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nblas dot\nkernel (x) { return x; }", 2, 6, "which is for the layout", NULL, UF_ERR_SYNTAX},
    /* Signatures */
    {"ufunc f\nsignatures float32->float32; float3->float32\nkernel (x) { return x; }", 2, 30, "float3",
     "\n  signatures float32->float32; float3->float32\n                               ^", UF_ERR_SYNTAX},
    {"ufunc f\nsignatures f->f\n\n# nothing\n           floot->d\nkernel (x) { return x; }", 5, 12, "floot",
     "\n             floot->d\n             ^", UF_ERR_SYNTAX},
    {"ufunc f\nsignatures ff->f\nkernel (x) { return x; }", 2, 12, "f: the signatures have 2 inputs", NULL,
     UF_ERR_TYPE},
    /* Kernels */
    {"ufunc f\nsignatures f->f\nkernel (x) { return y; }", 3, 21, "'y'",
     "\n  kernel (x) { return y; }\n                      ^", UF_ERR_TYPE},
    {"ufunc f\nsignatures f->f\nkernel\n# \xC3\xA4\n(x) {\n    /* \xC3\xA4 */ return x %;\n}", 6, 23, "",
     "\n      /* \xC3\xA4 */ return x %;\n                        ^", UF_ERR_SYNTAX},
    {"ufunc f\nsignatures l->l; f->f\nkernel\nhelp(x) { return x; }\n(x) { return help(x) % 2; }", 5, 22,
     "'%' needs integers", "\n  (x) { return help(x) % 2; }\n                       ^", UF_ERR_TYPE},
    {"ufunc f\nsignatures f->f\nkernel (x) { return x;", 3, 23, "",
     "\n  kernel (x) { return x;\n                        ^", UF_ERR_SYNTAX},
    {"ufunc f\nsignatures f->f\nkernel (x) { return x; }\nsignatures d->d\nkernel (x, y) { return x; }", 5, 8,
     "the kernel of a later section has 2 inputs", NULL, UF_ERR_TYPE},
    {"ufunc f\r\nsignatures f->f\r\nkernel\r\n(x) {\r\n  return y;\r\n}\r\n", 5, 10, "'y'",
     "\n    return y;\n           ^", UF_ERR_TYPE},
    /* Reductions */
    {"reduction r\nkernel (x) { return x; }", 2, 1, "a reduction has no \"kernel\"", NULL, UF_ERR_SYNTAX},
    {"reduction r\nlayout (n)->()", 2, 1, "a reduction has no \"layout\"", NULL, UF_ERR_SYNTAX},
    {"reduction r\nwiden\n" COMBINE, 2, 1, "a reduction has no \"widen\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\ncombine (x) { return x; }", 2, 1, "a ufunc has no \"combine\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nstate float32", 2, 1, "a ufunc has no \"state\"", NULL, UF_ERR_SYNTAX},
    {HEAD "identity 0\nkernel (x) -> (y) { y = 0; }", 3, 10, "g has an identity, but only functions of two inputs",
     NULL, UF_ERR_SYNTAX},
    {"reduction r\nsignatures f->f\n", 1, 1, "there is no \"combine\"", NULL, UF_ERR_SYNTAX},
    {"reduction r\nsignatures f->f\n" COMBINE "\nsignatures d->d", 4, 1, "those of a reduction are in line 2", NULL,
     UF_ERR_SYNTAX},
    {"reduction r\norder free\n" COMBINE, 2, 7, "order is \"free\"; known are: ordered serial",
     "\n  order free\n        ^", UF_ERR_SYNTAX},
    {"ufunc f\norder none\nkernel (x, y) { return x; }", 2, 7, "order is \"none\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\norder  serial\nkernel (x) { return x; }", 2, 8, "f has an order", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nwiden\nkernel (x) { return x; }", 2, 1, "f has a wide accumulator", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nidentity 0\nkernel (x) { return x; }", 2, 10, "f has an identity", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nidentity 0, 1\nkernel (x, y) { return x; }", 2, 10, "identity: 2 values", NULL, UF_ERR_TYPE},
    {"ufunc f\nidentity 1 +\nkernel (x, y) { return x; }", 2, 13, "identity: expected an expression",
     "\n  identity 1 +\n              ^", UF_ERR_SYNTAX},
    {"reduction r\nsignatures f->f\n" COMBINE "\nidentity   0 ? 1", 4, 17, "identity: expected ':'", NULL,
     UF_ERR_SYNTAX},
    {"reduction r\nsignatures f->f\n" COMBINE "\nmap (x) {\n    return z; }", 5, 12,
     "map: ", "\n      return z; }\n             ^", UF_ERR_TYPE},
    {"reduction r\nsignatures f->f\n" COMBINE "\nmap (x, y) { return x; }", 4, 5, "map: 2 parameters", NULL,
     UF_ERR_TYPE},
    {"reduction r\nsignatures f->f\ncombine (a, b) { return a % b; }", 3, 27, "combine: '%' needs integers", NULL,
     UF_ERR_TYPE},
    {"reduction r\nsignatures f->f\n" COMBINE "\nfinish (s, n, m) { return s; }", 4, 8, "finish: 3 parameters", NULL,
     UF_ERR_TYPE},
    {"reduction r\nsignatures f->f\n" COMBINE "\nstate float3", 4, 7, "state: unknown dtype \"float3\"", NULL,
     UF_ERR_SYNTAX},
    {"reduction r\nsignatures f->f\n" COMBINE "\nstate   f; d", 4, 9, "state: 2 lists of dtypes", NULL, UF_ERR_TYPE},
    /* Kernels over indices */
    {"forall f\nkernel [i](a) { }", 2, 1, "a kernel without parameters before it", NULL, UF_ERR_SYNTAX},
    {"forall f\nparameters d[]\nkernel [i](a) { }\nkernel [i](a) { }", 4, 1, "a kernel without parameters before it",
     NULL, UF_ERR_SYNTAX},
    {"forall f\nparameters d[]\nparameters f[]\nkernel [i](a) { }", 3, 1,
     "parameters again; those of line 2 have no kernel yet", NULL, UF_ERR_SYNTAX},
    {"forall f\nparameters d[]", 2, 1, "parameters without a kernel after them", NULL, UF_ERR_SYNTAX},
    {"forall f\ndoc none", 1, 1, "there is no \"kernel\"", NULL, UF_ERR_SYNTAX},
    {"forall f\nsignatures d->d\nkernel [i](a) { }", 2, 1, "a forall has no \"signatures\"", NULL, UF_ERR_SYNTAX},
    {"forall f\nlayout (n)->()", 2, 1, "a forall has no \"layout\"", NULL, UF_ERR_SYNTAX},
    {"forall f\nblas gemm", 2, 1, "a forall has no \"blas\"", NULL, UF_ERR_SYNTAX},
    {"forall f\nidentity 0", 2, 1, "a forall has no \"identity\"", NULL, UF_ERR_SYNTAX},
    {"forall f\norder serial", 2, 1, "a forall has no \"order\"", NULL, UF_ERR_SYNTAX},
    {"forall f\ncombine (a, b) { return a; }", 2, 1, "a forall has no \"combine\"", NULL, UF_ERR_SYNTAX},
    {"ufunc f\nparameters d[]\nkernel (x) { return x; }", 2, 1, "a ufunc has no \"parameters\"", NULL, UF_ERR_SYNTAX},
    {"forall f\nparameters  d[;]\nkernel [i](a) { }", 2, 15, "expected \",\" or \"]\"",
     "\n  parameters  d[;]\n                ^", UF_ERR_SYNTAX},
    {"forall f\nparameters d[]; d[,]\nkernel [i](a) { }", 2, 12, "have other ranks", NULL, UF_ERR_TYPE},
    {"forall f\nparameters d[], d\nkernel [i](a) { }", 2, 12, "the parameter lists have 2 parameters", NULL,
     UF_ERR_TYPE},
    {"forall f\nparameters d[]\nkernel (a) { a[0] = 1; }", 3, 8, "names them before its parameters", NULL,
     UF_ERR_SYNTAX},
    {"forall f\nparameters d[]\nkernel\n[i](a) {\n    a[i] = b; }", 5, 12, "'b'", "\n      a[i] = b; }\n             ^",
     UF_ERR_TYPE},
    {"forall f\nparameters d[]\nkernel [i](a) { }\nparameters d[]\nkernel [i](a) { }", 4, 12,
     "sections 0 and 1 both have the parameter list float64[]", NULL, UF_ERR_SYNTAX},
    {"forall f\nparameters d[]\nkernel [i](a) { }\nforall g", 4, 1, "a second function", NULL, UF_ERR_SYNTAX},
    {"reduction r\nsignatures ff->f\n" COMBINE, 2, 12, "r: 2 inputs, but the state has 1 value", NULL, UF_ERR_TYPE},
};

static void refused(const bad *b) {
    uf_func *f = (uf_func *)&f;
    uf_status s = load_text(&f, b->source);
    const uf_error *e = last();
    char position[64];
    snprintf(position, sizeof position, b->column ? "x.uf:%d:%d: " : "x.uf:%d:", b->line, b->column);
    bool column = !b->column || e->column == b->column;
    bool said = strstr(e->message, b->message) && (!b->shown || strstr(e->message, b->shown));
    bool once = !strstr(e->message + 6, "x.uf");
    if (getenv("UF_SHOW"))
        print_message("%s\n\n", e->message);
    if (s != b->status || e->line != b->line || !column || !said || !once ||
        strncmp(e->message, position, strlen(position)) != 0)
        print_error("%s\n---- got %d, %d:%d: %s\n", b->source, s, e->line, e->column, e->message);
    assert_int_equal(s, b->status);
    assert_int_equal(e->status, s);
    assert_int_equal(e->line, b->line);
    assert_string_equal(e->source, "x.uf");
    assert_true(column && said && once);
    assert_int_equal(strncmp(e->message, position, strlen(position)), 0);
}

static void errors_in_files(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bads); i++)
        refused(&bads[i]);
}

static void bytes_that_are_no_text(void **state) {
    (void)state;
    uf_func *f;
    static const char nul[] = "ufunc f\nkernel (x) { \0 return x; }";
    assert_int_equal(func_load(&f, "x.uf", nul, sizeof nul - 1), UF_ERR_SYNTAX);
    assert_int_equal(last()->line, 2);
    assert_int_equal(last()->column, 14);
    assert_non_null(strstr(last()->message, "a NUL byte"));
    static const char *const junk[] = {
        "\xFF",    "\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x80\x80\x80",
        "\xE2\x82"};
    for (size_t i = 0; i < COUNT(junk); i++) {
        char source[64];
        int n = snprintf(source, sizeof source, "ufunc f\n# %s", junk[i]);
        assert_int_equal(func_load(&f, "x.uf", source, (size_t)n), UF_ERR_SYNTAX);
        assert_non_null(strstr(last()->message, "x.uf: byte 11, "));
        assert_non_null(strstr(last()->message, "is not UTF-8"));
    }
}

static void load_and_free(const char *source, size_t length) {
    uf_func *f;
    if (func_load(&f, "x.uf", source, length) == UF_OK)
        uf_free(f);
}

/* Any part of a file, and a file with any byte changed, is read without harm. */
static void file_spoil(const char *whole, unsigned *random) {
    size_t length = strlen(whole);
    char *changed = malloc(length + 1);
    assert_non_null(changed);
    for (size_t n = 0; n <= length; n++) {
        memcpy(changed, whole, length + 1);
        load_and_free(changed, n);
        for (int k = 0; k < 4; k++) {
            memcpy(changed, whole, length + 1);
            for (int i = 0; i <= k; i++) {
                *random = *random * 1664525u + 1013904223u;
                changed[(*random >> 8) % length] = "\n ()#\xC3gkz;"[(*random >> 24) % 10];
            }
            load_and_free(changed, length);
        }
    }
    free(changed);
}

static void pieces_and_changes(void **state) {
    (void)state;
    static const char *const whole[] = {
        "gufunc g\nlayout (n,3)->(n*(n-1)/2)\ndoc \xC3\xA4\nfast all\nsignatures ff->f; dd->d\nkernel\n"
        "h(x) { return x; }\n(x, y) -> (z) { forall (i : n) z[i] = h(x[i][0]); }\n",
        "reduction r\nsignatures f->l; d->l\nstate float32,int64; dl\norder serial\nidentity -1.5, 2 / 3\n"
        "map [k](x) -> (v, i) { v = x; i = k; }\ncombine\ng(x, y) { return x > y; }\n"
        "(a, i, b, j) -> (v, k) { if (g(b, a)) { v = b; k = j; } else { v = a; k = i; } }\nfinish (v, i, n) { return i "
        "+ n; }",
        "ufunc f\nidentity 0\nwiden\nsignatures bb->b; ff->f\nkernel (x, y) { return x + y; }",
        "forall f\nlines\nparameters d[,], i; f[,], b\nkernel\nh(x) { return x; }\n[i, j : m](a, s) { a[i][j] = h(s) + "
        "m; }\n"
        "parameters\n  h[], l\nkernel [i](a, s) { atomic_add(a[i], (short)s); }"};
    const char *seed = getenv("UF_SEED");
    unsigned random = seed ? (unsigned)strtoul(seed, NULL, 0) : (unsigned)getpid() * 2654435761u;
    print_message("UF_SEED=%u\n", random);
    for (size_t i = 0; i < COUNT(whole); i++)
        file_spoil(whole[i], &random);
    uf_func *f = good(whole[1]); /* they are files, unspoiled */
    uf_free(f);
    f = good(whole[2]);
    uf_free(f);
}

static void long_things(void **state) {
    (void)state;
    uf_func *f;
    /* One kernel too many. */
    text t = {0};
    text_puts(&t, "ufunc f\n");
    for (int i = 0; i < 257; i++)
        text_puts(&t, "signatures f->f\nkernel (x) { return x; }\n");
    assert_int_equal(func_load(&f, "x.uf", t.data, t.length), UF_ERR_SYNTAX);
    assert_non_null(strstr(last()->message, "more than 256 kernels"));
    text_free(&t);
    /* A path and a message that do not fit together: the end of the path, and where it is. */
    char path[6000];
    memset(path, 'p', sizeof path);
    strcpy(path + sizeof path - 6, "/x.uf");
    assert_int_equal(func_load(&f, path, "ufunc f\nkernl", 13), UF_ERR_SYNTAX);
    assert_non_null(strstr(last()->message, "pp/x.uf:2:1: unknown keyword \"kernl\""));
    assert_string_equal(last()->source, path + strlen(path) - (sizeof last()->source - 1));
    /* Many short lines. */
    for (int i = 0; i < 300000; i++)
        text_puts(&t, "a\n");
    assert_int_equal(func_load(&f, "x.uf", t.data, t.length), UF_ERR_SYNTAX);
    assert_int_equal(last()->line, 1);
    text_free(&t);
}

/* ---- Files ---- */

static char folder[] = "/tmp/test_load.XXXXXX";

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const char *content, size_t length) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void write_file(const char *name, const char *content) { write_bytes(name, content, strlen(content)); }

static void files(void **state) {
    (void)state;
    uf_func *f;
    static const char source[] = "ufunc f\nkernel (x) { return x; }\n";
    write_file("good.uf", source);
    write_file("other", source);
    assert_int_equal(uf_load(&f, path_of("good.uf")), UF_OK);
    uf_free(f);
    assert_int_equal(uf_load(&f, path_of("other")), UF_OK);
    uf_free(f);

    write_file("bad.uf", "ufunc f\nkernel (x) { return x + ; }\n");
    assert_int_equal(uf_load(&f, path_of("bad.uf")), UF_ERR_SYNTAX);
    assert_int_equal(last()->line, 2);
    assert_int_equal(last()->column, 25);
    assert_non_null(strstr(last()->message, "/bad.uf:2:25: "));
    write_file("empty.uf", "");
    assert_int_equal(uf_load(&f, path_of("empty.uf")), UF_ERR_SYNTAX);
    assert_non_null(strstr(last()->message, "/empty.uf:1:1: nothing is here"));
    assert_null(f);
}

static void files_that_cannot_be_read(void **state) {
    (void)state;
    uf_func *f;
    assert_int_equal(uf_load(&f, path_of("none.uf")), UF_ERR_IO);
    assert_non_null(strstr(last()->message, "/none.uf: No such file"));
    assert_int_equal(uf_load(&f, "none.uf"), UF_ERR_IO);
    assert_int_equal(uf_load(&f, folder), UF_ERR_IO);
    assert_non_null(strstr(last()->message, "irectory"));
    write_file("closed.uf", "ufunc f");
    assert_int_equal(chmod(path_of("closed.uf"), 0), 0);
    if (geteuid() != 0) {
        assert_int_equal(uf_load(&f, path_of("closed.uf")), UF_ERR_IO);
        assert_non_null(strstr(last()->message, "ermission"));
    }
    size_t most = 1 << 20;
    char *large = malloc(most + 1);
    assert_non_null(large);
    memset(large, '\n', most + 1);
    memcpy(large, "ufunc f\nkernel (x) { return x; }", 32);
    write_bytes("large.uf", large, most + 1);
    assert_int_equal(uf_load(&f, path_of("large.uf")), UF_ERR_IO);
    assert_non_null(strstr(last()->message, "more than 1048576 bytes"));
    write_bytes("large.uf", large, most);
    assert_int_equal(uf_load(&f, path_of("large.uf")), UF_OK);
    uf_free(f);
    free(large);
    assert_int_equal(uf_load(&f, "/dev/zero"), UF_ERR_IO);
    assert_non_null(strstr(last()->message, "/dev/zero: is a character device; a regular file is needed"));
}

/* Nobody writes to it: opened as a file is, it would be waited for. */
static void a_fifo_is_not_waited_for(void **state) {
    (void)state;
    uf_func *f = (uf_func *)&f;
    assert_int_equal(mkfifo(path_of("fifo.uf"), 0600), 0);
    alarm(20);
    assert_int_equal(uf_load(&f, path_of("fifo.uf")), UF_ERR_IO);
    alarm(0);
    assert_non_null(strstr(last()->message, "/fifo.uf: is a FIFO; a regular file is needed"));
    assert_null(f);
}

static void what_is_no_name(void **state) {
    (void)state;
    uf_func *f = (uf_func *)&f;
    assert_int_equal(uf_load(NULL, "matmul"), UF_ERR_ARGUMENT);
    assert_int_equal(uf_load(&f, NULL), UF_ERR_ARGUMENT);
    assert_null(f);
    assert_int_equal(uf_load(&f, ""), UF_ERR_ARGUMENT);
    assert_int_equal(uf_load(&f, "matmull"), UF_ERR_ARGUMENT);
    assert_non_null(strstr(last()->message, "no \"matmull\"; did you mean \"matmul\"?"));
    assert_int_equal(uf_load(&f, "tsofmax"), UF_ERR_ARGUMENT);
    assert_non_null(strstr(last()->message, "did you mean \"softmax\"?"));
    assert_int_equal(uf_load(&f, "something_else"), UF_ERR_ARGUMENT);
    assert_null(strstr(last()->message, "did you mean"));
    char large[5000];
    memset(large, 'm', sizeof large);
    large[sizeof large - 1] = 0;
    assert_int_equal(uf_load(&f, large), UF_ERR_ARGUMENT);
}

/* ---- The catalogue ---- */

static void catalogue_loads(void **state) {
    (void)state;
    int64_t n = 0;
    for (const char *name; (name = uf_catalogue(n)); n++) {
        uf_func *f = NULL;
        uf_description d = {.size = sizeof d};
        if (n > 0)
            assert_true(strcmp(uf_catalogue(n - 1), name) < 0);
        if (uf_load(&f, name))
            print_error("%s: %s\n", name, last()->message);
        assert_non_null(f);
        assert_int_equal(uf_describe(f, &d), UF_OK);
        assert_string_equal(d.name, name);
        assert_true(d.doc[0] && d.signatures);
        uf_free(f);
        /* Of what is built in signatures are checked here alone, as those of a file. */
        const catalogue_entry *e = catalogue_find(&catalogue, name);
        imported read;
        assert_int_equal(source_load(&read, name, "/nowhere", (const char *)e->source, e->length, NULL), UF_OK);
        uf_free(read.func);
    }
    assert_true(n >= 30);
    assert_null(uf_catalogue(n));
    assert_null(uf_catalogue(-1));
    assert_null(uf_catalogue(INT64_MAX));
    assert_null(uf_catalogue(INT64_MIN));
}

/* ---- Out of memory ---- */

static void out_of_memory(void **state) {
    (void)state;
    write_file("oom.uf", "ufunc f\ndoc d\nsignatures f->f\nkernel (x) { return x; }\n");
    for (long n = 0;; n++) {
        uf_func *f = NULL;
        allocations_fail_after(n);
        uf_status s = uf_load(&f, path_of("oom.uf"));
        allocations_succeed();
        if (s == UF_OK) {
            uf_free(f);
            break;
        }
        assert_int_equal(s, UF_ERR_MEMORY);
        assert_null(f);
        assert_true(n < 1000);
    }
}

static int folder_make(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state) {
    (void)state;
    static const char *const names[] = {"good.uf",   "other",   "bad.uf",   "empty.uf",
                                        "closed.uf", "fifo.uf", "large.uf", "oom.uf"};
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file),
        cmocka_unit_test(a_reduction),
        cmocka_unit_test(a_kernel_over_indices),
        cmocka_unit_test(the_least_file),
        cmocka_unit_test(carriage_returns),
        cmocka_unit_test(errors_in_files),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(pieces_and_changes),
        cmocka_unit_test(long_things),
        cmocka_unit_test(files),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(a_fifo_is_not_waited_for),
        cmocka_unit_test(what_is_no_name),
        cmocka_unit_test(catalogue_loads),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
