/* test_mistakes.c - the mistakes that newcomers make, each with the whole message that it gets: the page tests/core/mistakes.txt, which
 * a person reads at review. UF_BLESS=1 writes it anew. A mistake is a line of C; it is what the page shows, and what runs. The tests see
 * no CUDA driver (UFUNC_CUDA_DRIVER points nowhere). */
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
#include <unistd.h>

#include "ufunc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LIST(...) ((DLTensor[]){__VA_ARGS__})
#define OPTIONS(...) (&(uf_options){.size = sizeof(uf_options), __VA_ARGS__})
#define REDUCE(...) (&(uf_reduce_options){.size = sizeof(uf_reduce_options), __VA_ARGS__})
#define AXES(...) \
    .naxes = (int)COUNT(((int[]){__VA_ARGS__})), .axes = (int[]) { __VA_ARGS__ }

static float x[24], y[24], r[24];
static double d[24];
static int n[24];
static _Bool b[24];
static float complex z[24];
static const DLDevice CPU = {kDLCPU, 0};

static uf_func *f, *add, *hypot2, *matvec, *total, *step;
static uf_plan *plan;
static uf_module *m;
static char *words;
static FILE *page;
static int mistakes, taken; /* taken: lines that gave no error */

static const char *const statuses[] = {"OK",     "ARGUMENT", "SYNTAX",  "TYPE",   "SIGNATURE", "SHAPE", "CAST",
                                       "DEVICE", "LIBRARY",  "COMPILE", "KERNEL", "MEMORY",    "IO"};

/* Writes a mistake and its message to the page, with the text that the message is about. */
static void mistake(const char *line, uf_status status) {
    const uf_error *e = uf_last_error();
    if (!status) {
        print_error("%s is no mistake\n", line);
        taken++;
        return;
    }
    mistakes++;
    assert_int_equal(e->status, status);
    fprintf(page, "\n%s\n    %s%s%s: ", line, statuses[status], *e->source ? " in " : "", e->source);
    for (const char *c = e->message; *c; c++) {
        fputc(*c, page);
        if (*c == '\n' && strncmp(c, "\n  \n", 4)) /* a line of blanks stays empty */
            fputs("    ", page);
    }
    fputc('\n', page);
}

#define M(...) mistake(#__VA_ARGS__, (__VA_ARGS__))
#define TITLE(words) fprintf(page, "\n\n==== %s ====\n", words)

/* ---- The texts of kernels ---- */

static uf_status kernel(const char *source) { return uf_vectorize(&f, "f", "float32->float32", source); }
static uf_status kernel2(const char *source) { return uf_vectorize(&f, "f", "float32,float32->float32", source); }
static uf_status complex_kernel(const char *source) { return uf_vectorize(&f, "f", "complex64->complex64", source); }

static void heads(void) {
    TITLE("Kernels: the head");
    M(kernel(""));
    M(kernel("x * x"));
    M(kernel("sqrt(x)"));
    M(kernel("x"));
    M(kernel("(x) x * x"));
    M(kernel("(x) => x * x"));
    M(kernel("(x) -> x * x"));
    M(kernel("(x) return x * x;"));
    M(kernel("return x * x;"));
    M(kernel("lambda x: x * x"));
    M(kernel("def f(x): return x * x"));
    M(kernel("function f(x) { return x; }"));
    M(kernel("fn f(x) { x }"));
    M(kernel("{ return x; }"));
    M(kernel("float f(float x) { return x; }"));
    M(kernel("void f(float *x) { *x = 1; }"));
    M(kernel("__global__ void f(float *x) { x[i] = 0; }"));
    M(kernel("template <class T> T f(T x) { return x; }"));
    M(kernel("(float x) { return x; }"));
    M(kernel("(x: float) { return x; }"));
    M(kernel("(x = 1) { return x; }"));
    M(kernel("(float32* x) { return x; }"));
    M(kernel("(x[]) { return x; }"));
    M(kernel("(x, x) { return x; }"));
    M(kernel("(x; y) { return x; }"));
    M(kernel("f(x) { return x; }"));
    M(kernel("(x) { return square(x); } square(x) { return x * x; }"));
    M(kernel("(x) { return x; }}"));
    M(kernel("(x) -> y { y = x; }"));
    M(kernel("(x) -> (float y) { y = x; }"));
    M(kernel("#include <math.h>\n(x) { return sqrt(x); }"));
    M(kernel("import math; (x) { return sqrt(x); }"));
    M(kernel("use vecc; (x) { return x; }"));
    M(kernel("use vec (x) { return x; }"));
    M(kernel("const n = 3 (x) { return n * x; }"));
}

static void statements(void) {
    TITLE("Kernels: statements");
    M(kernel("(x) { return x }"));
    M(kernel("(x) { int n = 3\n  return x + n; }"));
    M(kernel("(x) { auto y = 2 * x return y; }"));
    M(kernel("(x) { double y = x, return y; }"));
    M(kernel("(x) { return x; "));
    M(kernel("(x) { return (x + 1; }"));
    M(kernel("(x) { return fabs(x)); }"));
    M(kernel("(x) { x * x; }"));
    M(kernel("(x) { return; }"));
    M(kernel("(x) { }"));
    M(kernel("(x) { if (x > 0) return 1; }"));
    M(kernel("(x) { retrun x; }"));
    M(kernel("(x) { Return x; }"));
    M(kernel("(x) { whiel (x > 1) { x /= 2; } return x; }"));
    M(kernel("(x) { fro (int i = 0; i < 3; i++) x += i; return x; }"));
    M(kernel("(x) { for (int i = 0, i < 3, i++) x += i; return x; }"));
    M(kernel("(x) { for i in range(10) x += i; return x; }"));
    M(kernel("(x) { for (i = 0; i < 3; i++) x += i; return x; }"));
    M(kernel("(x) { for (auto i : 3) x += i; return x; }"));
    M(kernel("(x) { if x > 0 return x; return 0; }"));
    M(kernel("(x) { if (x > 0) then return x; return 0; }"));
    M(kernel("(x) { if (x > 0) { return x; } elif (x < 0) { return -x; } return 0; }"));
    M(kernel("(x) { if (x > 0) auto y = x; return x; }"));
    M(kernel("(x) { esle return x; }"));
    M(kernel("(x) { break; }"));
    M(kernel("(x) { goto end; }"));
    M(kernel("(x) { switch (x) { case 1: return 2; } return x; }"));
    M(kernel("(x) { switch ((int)x) { default: return 2; default: return 3; } }"));
    M(kernel("(x) { y = 2 * x; return y; }"));
    M(kernel("(x) { let y = 2 * x; return y; }"));
    M(kernel("(x) { auto y; y = x; return y; }"));
    M(kernel("(x) { auto y = x; auto y = 2; return y; }"));
    M(kernel("(x) { auto count = x; cuont += 1; return count; }"));
    M(kernel("(x) { const int n = 3; n = 4; return n; }"));
    M(kernel("(x) { 3 = x; return x; }"));
    M(kernel("(x) { x + 1; return y; }"));
    M(kernel("(x) { auto (p, q) = x; return p; }"));
    M(kernel("(x) { return x, 1; }"));
    M(kernel("(x) { return {x, x}; }"));
    M(kernel("(x) -> (y) { return x; }"));
    M(kernel("(x) { f(t) { return t; } return f(x); }"));
    M(kernel("(x) { float f(float t) { return t; } return f(x); }"));
    M(kernel("(x) { static int n = 0; return n; }"));
}

static void expressions(void) {
    TITLE("Kernels: expressions");
    M(kernel("(x) { return x ** 2; }"));
    M(kernel("(x) { return x ^ 2; }"));
    M(kernel("(x) { return x % 2; }"));
    M(kernel("(x) { return x // 2; }"));
    M(kernel("(x) { return x <> 0; }"));
    M(kernel("(x) { return x === 0; }"));
    M(kernel("(x) { return x =< 0; }"));
    M(kernel("(x) { return x > 0 and x < 1; }"));
    M(kernel("(x) { return not x; }"));
    M(kernel("(x) { return x if x > 0 else 0; }"));
    M(kernel("(x) { return x > 0 ? x; }"));
    M(kernel("(x) { return x +; }"));
    M(kernel("(x) { return 2 x; }"));
    M(kernel("(x) { return (2)(x); }"));
    M(kernel("(x) { return x[0]; }"));
    M(kernel("(x) { return x.real; }"));
    M(kernel("(x) { return x->y; }"));
    M(kernel("(x) { return &x; }"));
    M(kernel("(x) { float *p; return x; }"));
    M(kernel("(x) { return sizeof(x); }"));
    M(kernel("(x) { return np.sqrt(x); }"));
    M(kernel("(x) { return std::sqrt(x); }"));
    M(kernel("(x) { return squrt(x); }"));
    M(kernel("(x) { return Sin(x); }"));
    M(kernel("(x) { return arcsin(x); }"));
    M(kernel("(x) { return ln(x); }"));
    M(kernel("(x) { return frobnicate(x); }"));
    M(kernel("(x) { return relu(x); }"));
    M(kernel("(x) { return pow(x); }"));
    M(kernel("(x) { return max(x, 0, 1); }"));
    M(kernel("(x) { return sqrt; }"));
    M(kernel("(x) { return x(2); }"));
    M(kernel("(x) { return 2 * pi * x; }"));
    M(kernel("(x) { return inf; }"));
    M(kernel("(x) { return True; }"));
    M(kernel("(x) { return None; }"));
    M(kernel("(alpha) { return 2 * alhpa; }"));
    M(kernel("(x) { return 'a'; }"));
    M(kernel("(x) { print(\"here\"); return x; }"));
    M(kernel("(x) { print(x); return x; }"));
    M(kernel("(x) { return 1.5L * x; }"));
    M(kernel("(x) { return 09; }"));
    M(kernel("(x) { return 1e; }"));
    M(kernel("(x) { return 12px; }"));
    M(kernel("(x) { return x \xC3\x97 2; }"));
    M(kernel("(x) { return x \xE2\x88\x92 2; }"));
    M(kernel("(x) { return \xE2\x80\x9Cx\xE2\x80\x9D; }"));
    M(kernel("(x) { /* half return x; }"));
    M(complex_kernel("(z) { return z < 0; }"));
    M(complex_kernel("(z) { return floor(z); }"));
    M(complex_kernel("(z) { return atan2(z, z); }"));
    M(kernel("f(x) { return f(x - 1); } (x) { return f(x); }"));
    M(kernel("f(a, b) { return a + b; } (x) { return f(x); }"));
}

static void types(void) {
    TITLE("Kernels: types, arrays and sums");
    M(kernel("(x) { flaot y = 2 * x; return y; }"));
    M(kernel("(x) { string s = x; return s; }"));
    M(kernel("(x) { long double y = x; return y; }"));
    M(kernel("(x) { unsigned float y = x; return y; }"));
    M(kernel("(x) { return (flaot)x; }"));
    M(kernel("(x) { return float(x); }"));
    M(kernel("(x) { return (int x); }"));
    M(kernel("(x) { struct point { float u, v; }; return x; }"));
    M(kernel("struct point { float u, v; } (x) { return x; }"));
    M(kernel("struct point { float u, v; }; (x) { point p = {x, x}; return p.w; }"));
    M(kernel("struct point { float u, v; }; (x) { point p = {x, x}; return p; }"));
    M(kernel("struct point { float u, v; }; (x) { pont p = {x, x}; return p.u; }"));
    M(kernel("(x) { float w[3] = {1, 2, 3, 4}; return w[0]; }"));
    M(kernel("(x) { float w[] ; return x; }"));
    M(kernel("(x) { int n = 3; float w[n]; return x; }"));
    M(kernel("(x) { float w[3]; return w; }"));
    M(kernel("(x) { float w[3] = x; return w[0]; }"));
    M(kernel("(x) { float w[3]; return w[x]; }"));
    M(kernel("(x) { float w[2, 2]; return x; }"));
    M(kernel("(x) { return sum(i < 3, x); }"));
    M(kernel("(x) { return max(i < 3, x * i); }"));
    M(kernel("(x) { return sum(i = 3, x); }"));
    M(kernel("(x) { return sum(i : 3 x); }"));
    M(kernel("(x) { return sum(int i : 3, x); }"));
    M(kernel("(x) { return sum(x); }"));
    M(kernel("(x) { return mean(i : 3, x); }"));
    M(kernel("(x) { return reduce(i : 3, x); }"));
    M(kernel("(x) { return reduce(add, i : 3, x); }"));
    M(kernel("(x) { forall (i < 3) x += i; return x; }"));
    M(kernel("(x) { return sum(i : x, 1); }"));
    M(kernel2("(x, y) { return x - Y; }"));
    M(kernel2("(x) { return x; }"));
    M(kernel2("[i](x, y) { return x[i]; }"));
}

/* ---- Signatures and layouts ---- */

static uf_status signature(const char *signatures) {
    return uf_vectorize(&f, "f", signatures, "(x, y) { return x + y; }");
}

static uf_status layout(const char *text, const char *source) {
    return uf_guvectorize(&f, "f", text, "float32->float32", source);
}

static void signatures(void) {
    TITLE("Signatures");
    M(signature(""));
    M(signature("float32"));
    M(signature("float32,float32"));
    M(signature("float32,float32=>float32"));
    M(signature("float32,float32:float32"));
    M(signature("float32 float32->float32"));
    M(signature("(float32,float32)->float32"));
    M(signature("float32(float32,float32"));
    M(signature("float32,float32->"));
    M(signature("flaot32,float32->float32"));
    M(signature("Float32,Float32->Float32"));
    M(signature("floot,float->float"));
    M(signature("real,real->real"));
    M(signature("string,string->string"));
    M(signature("float128,float128->float128"));
    M(signature("long double,long double->long double"));
    M(signature("unsigned float,float->float"));
    M(signature("void(float,float)"));
    M(signature("float*,float*->float*"));
    M(signature("float[],float[]->float[]"));
    M(signature(">f8,>f8->>f8"));
    M(signature("<f3,<f3-><f3"));
    M(signature("f,f->f"));
    M(signature("ff->float32"));
    M(signature("gg->g"));
    M(signature("f->f"));
    M(signature("ff->f; fff->f"));
    M(signature("ff->f; dd->d; float,float->float"));
    M(signature("point,point->point"));
    M(uf_vectorize(&f, "two words", "ff->f", "(x, y) { return x + y; }"));
    M(uf_vectorize(&f, NULL, "ff->f", "(x, y) { return x + y; }"));
    M(uf_vectorize(&f, "f", "ff->f", NULL));
    M(uf_vectorize(NULL, "f", "ff->f", "(x, y) { return x + y; }"));
    M(uf_vectorize(&f, "f", "(x, y) { return x + y; }", "ff->f"));
}

static void layouts(void) {
    TITLE("Layouts");
    M(layout("", "(x) -> (y) { y = 0; }"));
    M(layout("n->", "(x) -> (y) { y = sum(i : n, x[i]); }"));
    M(layout("(n)", "(x) -> (y) { y = sum(i : n, x[i]); }"));
    M(layout("(n)->(", "(x) -> (y) { y = sum(i : n, x[i]); }"));
    M(layout("(m) (n)->()", "(x) -> (y) { y = sum(i : n, x[i]); }"));
    M(layout("(n,)->()", "(x) -> (y) { y = sum(i : n, x[i]); }"));
    M(layout("(0)->()", "(x) -> (y) { y = 0; }"));
    M(layout("(n-m)->()", "(x) -> (y) { y = 0; }"));
    M(layout("(n)->(k+1)", "(x) -> (y) { forall (i : n) y[i] = x[i]; }"));
    M(layout("[n]->[]", "(x) -> (y) { y = sum(i : n, x[i]); }"));
    M(layout("(n)->()", "(x) -> (y) { y = sum(i : m, x[i]); }"));
    M(layout("(n)->()", "(x) { return sum(i : n, x[i]); }"));
    M(layout("(n)->()", "(x, y) -> (s) { s = 0; }"));
    M(layout("(n)->()", "(x) -> (y) { y = x; }"));
    M(layout("(n)->()", "(x) -> (y) { y = x[0][0]; }"));
    M(layout("(m,n)->()", "(a) -> (y) { y = a[0, 1]; }"));
    M(layout("(n)->(n)", "(x) -> (y) { y = x; }"));
    M(layout("(n)->(n)", "(x) -> (y) { forall (i : n) x[i] = 2 * x[i]; }"));
    M(layout("(n)->()", "(x) -> (y) { n = 3; y = x[0]; }"));
    M(uf_guvectorize(&f, "f", NULL, NULL, "(x) -> (y) { y = x; }"));
    M(uf_guvectorize(&f, "f", "(n)->()", "ff->f", "(x) -> (y) { y = x[0]; }"));
}

/* ---- Calls ---- */

static void calls(void) {
    TITLE("Calls");
    M(uf_call(NULL, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), NULL));
    M(UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3)));
    M(UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 4), UF_ARRAY(r, 3)));
    M(UF_CALL(add, UF_ARRAY(x, 2, 3), UF_ARRAY(y, 2), UF_ARRAY(r, 2, 3)));
    M(UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 4)));
    M(UF_CALL(add, UF_ARRAY(x, 2, 3), UF_ARRAY(y, 2, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_SCALAR(0.0f)));
    M(UF_CALL(hypot2, UF_ARRAY(z, 3), UF_ARRAY(z, 3), UF_ARRAY(z, 3)));
    M(UF_CALL(hypot2, UF_ARRAY(x, 3), UF_ARRAY(d, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(add, UF_ARRAY(d, 3), UF_ARRAY(d, 3), UF_ARRAY(n, 3)));
    M(UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(b, 3)));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(d, 3)), OPTIONS(.casting = UF_CAST_NO)));
    M(uf_call(add, 3, LIST(UF_ARRAY(d, 3), UF_ARRAY(d, 3), UF_ARRAY(r, 3)), OPTIONS(.casting = UF_CAST_SAFE)));
    M(uf_call(add, 3, LIST(UF_ARRAY(d, 3), UF_ARRAY(d, 3), UF_ARRAY(r, 3)),
              OPTIONS(.signature = "float32,float32->float32", .casting = UF_CAST_SAFE)));
    M(uf_call(add, 3, LIST(UF_ARRAY(z, 3), UF_ARRAY(d, 3), UF_ARRAY(r, 3)),
              OPTIONS(.signature = "float32,float32->float32")));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)),
              OPTIONS(.signature = "int32,int32->int32")));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)),
              OPTIONS(.signature = "flaot,float->float")));
    M(UF_CALL(add, UF_ARRAY((uint8_t *)b, 3), UF_SCALAR(300), UF_ARRAY((uint8_t *)b + 8, 3)));
    M(UF_CALL(add, UF_ARRAY((float *)NULL, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(add, UF_ARRAY((float *)0x1001, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(add, UF_ARRAY(x, -3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(add, ((DLTensor){.data = x, .device = CPU, .ndim = 1, .dtype = UF_DTYPE_OF(*x)}), UF_ARRAY(y, 3),
              UF_ARRAY(r, 3)));
    M(UF_CALL(add, ((DLTensor){.data = x, .device = CPU, .ndim = 1, .shape = (int64_t[]){3}}), UF_ARRAY(y, 3),
              UF_ARRAY(r, 3)));
    M(UF_CALL(add, UF_ARRAY(x, 3), UF_ARRAY(y, 3),
              ((DLTensor){.data = r,
                          .device = CPU,
                          .ndim = 1,
                          .dtype = UF_DTYPE_OF(*r),
                          .shape = (int64_t[]){3},
                          .strides = (int64_t[]){0}})));
    M(UF_CALL(add, UF_CUDA(0, UF_DTYPE_OF(*x), x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(add,
              ((DLTensor){.data = x, .device = {99, 0}, .ndim = 1, .dtype = UF_DTYPE_OF(*x), .shape = (int64_t[]){3}}),
              UF_ARRAY(y, 3), UF_ARRAY(r, 3)));
    M(uf_call(add, 3, NULL, NULL));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), &(uf_options){.casting = UF_CAST_UNSAFE}));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), OPTIONS(.threads = -1)));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), OPTIONS(.block = 256)));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), OPTIONS(.flags = UF_ORDERED)));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), OPTIONS(.where = &UF_ARRAY(n, 3))));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), OPTIONS(.where = &UF_ARRAY(b, 4))));
    M(uf_call(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)),
              OPTIONS(.axes = &(uf_axes){.size = sizeof(uf_axes), .keepdims = true})));
    M(UF_CALL(total, UF_ARRAY(x, 3), UF_ARRAY(r, 1)));
    M(UF_CALL(step, UF_ARRAY(x, 3), UF_ARRAY(r, 3)));
    M(uf_infer(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 4), ((DLTensor){.shape = (int64_t[UF_MAX_NDIM]){0}})), NULL));
    M(uf_infer(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), ((DLTensor){.data = NULL})), NULL));
    M(uf_plan_new(&plan, add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 4), UF_ARRAY(r, 3)), NULL));
    M(uf_plan_run(NULL, NULL, NULL));
}

static void gufunc_calls(void) {
    TITLE("Calls of generalized ufuncs");
    M(UF_CALL(matvec, UF_ARRAY(x, 3, 4), UF_ARRAY(y, 3), UF_ARRAY(r, 3)));
    M(UF_CALL(matvec, UF_ARRAY(x, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 3)));
    M(UF_CALL(matvec, UF_ARRAY(x, 3, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 4)));
    M(UF_CALL(matvec, UF_ARRAY(x, 2, 3, 4), UF_ARRAY(y, 3, 4), UF_ARRAY(r, 2, 3)));
    M(UF_CALL(matvec, UF_ARRAY(x, 3, 4), UF_SCALAR(2.0f), UF_ARRAY(r, 3)));
    M(uf_call(matvec, 3, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 3)), OPTIONS(.where = &UF_ARRAY(b, 3))));
    M(uf_call(matvec, 3, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 3)),
              OPTIONS(.axes = &(uf_axes){.size = sizeof(uf_axes), .axis = (int[]){0}})));
    M(uf_call(matvec, 3, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 3)),
              OPTIONS(.axes = &(uf_axes){.axis = (int[]){0}})));
}

/* ---- Reductions and their like ---- */

static uf_status reduction(const char *combine, const char *identity) {
    return uf_reduction(
        &f, "f", "float32->float32",
        &(uf_reduction_def){.size = sizeof(uf_reduction_def), .combine = combine, .identity = identity});
}

static void reductions(void) {
    TITLE("Reductions");
    M(reduction(NULL, NULL));
    M(reduction("a + b", NULL));
    M(reduction("(a, b) { return a + b }", NULL));
    M(reduction("(a) { return a; }", NULL));
    M(reduction("(a, b) { return a + b; }", "zero"));
    M(reduction("(a, b) { return a + b; }", "0, 0"));
    M(reduction("(a, b) { return a + b; }", ""));
    M(uf_reduction(&f, "f", "float32->float32", NULL));
    M(uf_reduction(&f, "f", "float32->float32",
                   &(uf_reduction_def){.size = sizeof(uf_reduction_def),
                                       .combine = "(s, n, t, m) -> (u, k) { u = s + t; k = n + m; }"}));
    M(uf_reduction(&f, "f", "float32->float32",
                   &(uf_reduction_def){.size = sizeof(uf_reduction_def),
                                       .map = "(v) -> (s, n) { s = v; n = 1; }",
                                       .combine = "(s, n, t, m) -> (u, k) { u = s + t; k = n + m; }",
                                       .state = "float32",
                                       .finish = "(s, n) { return s / n; }"}));
    M(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                     .name = "f",
                                     .nsections = 1,
                                     .sections = &(uf_section){"ff->f", "(x, y) { return x + y; }"},
                                     .identity = "nothing"}));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), NULL));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), REDUCE(.axes = (int[]){1})));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), REDUCE(.naxes = 1)));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), REDUCE(AXES(2))));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), REDUCE(AXES(0))));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), REDUCE(AXES(1, 1))));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), REDUCE(AXES(1), .keepdims = true)));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(n, 3)), REDUCE(AXES(1))));
    M(uf_reduce(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 1)), NULL));
    M(uf_reduce(matvec, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), NULL));
    M(uf_reduce(hypot2, 2, LIST(UF_ARRAY(x, 0), ((DLTensor){.data = r, .device = CPU, .dtype = UF_DTYPE_OF(*r)})),
                NULL));
    M(uf_reduce(hypot2, 2, LIST(UF_ARRAY(x, 3), ((DLTensor){.data = r, .device = CPU, .dtype = UF_DTYPE_OF(*r)})),
                REDUCE(.where = &UF_ARRAY(b, 3))));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3), UF_OUT(r[0])), REDUCE(.initial = &UF_ARRAY(y, 1))));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(n, 3), UF_OUT(n[3])), REDUCE(.initial = &UF_SCALAR(0.5))));
    M(uf_reduce(add, 2, LIST(UF_ARRAY(x, 3), UF_SCALAR(0.0f)), REDUCE(.flags = UF_STRONG_NUMBERS)));
    M(uf_accumulate(add, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 4)), 0, NULL));
    M(uf_accumulate(add, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), 1, NULL));
    M(uf_accumulate(add, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(n, 3)), 0, NULL));
    M(uf_accumulate(add, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), 0, OPTIONS(.where = &UF_ARRAY(b, 3))));
    M(uf_reduceat(add, 2, LIST(UF_ARRAY(x, 6), UF_ARRAY(r, 2)), &UF_ARRAY(((int[]){0, 6}), 2), 0, NULL));
    M(uf_reduceat(add, 2, LIST(UF_ARRAY(x, 6), UF_ARRAY(r, 3)), &UF_ARRAY(((int[]){0, 4}), 2), 0, NULL));
    M(uf_reduceat(add, 2, LIST(UF_ARRAY(x, 6), UF_ARRAY(r, 2)), &UF_ARRAY(y, 2), 0, NULL));
    M(uf_reduceat(add, 2, LIST(UF_ARRAY(x, 6), UF_ARRAY(r, 2)), NULL, 0, NULL));
    M(uf_outer(add, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 4), UF_ARRAY(r, 3)), NULL));
    M(uf_outer(matvec, 3, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(y, 4), UF_ARRAY(r, 3)), NULL));
    M(uf_at(add, &UF_ARRAY(r, 4), 1, &UF_ARRAY(((int[]){0, 4}), 2), &UF_ARRAY(y, 2), NULL));
    M(uf_at(add, &UF_ARRAY(r, 4), 1, &UF_ARRAY(x, 2), &UF_ARRAY(y, 2), NULL));
    M(uf_at(add, &UF_ARRAY(r, 4), 1, &UF_ARRAY(n, 2), &UF_ARRAY(y, 3), NULL));
    M(uf_at(add, &UF_ARRAY(r, 4), 2, LIST(UF_ARRAY(n, 2), UF_ARRAY(n, 2)), &UF_ARRAY(y, 2), NULL));
    M(uf_at(add, &UF_ARRAY(r, 4), 1, &UF_ARRAY(n, 2), NULL, NULL));
    M(uf_at(add, &UF_ARRAY(n, 4), 1, &UF_ARRAY(n, 2), &UF_ARRAY(y, 2), NULL));
}

/* ---- Kernels over indices ---- */

static uf_status over(const char *parameters, const char *source) { return uf_kernel(&f, "f", parameters, source); }
static int64_t three[] = {3}, square[] = {3, 4};

static void kernels(void) {
    TITLE("Kernels over indices");
    M(over("float32[]", "(a) { a[0] = 1; }"));
    M(over("float32[]", "[i : n](a) { return a[i]; }"));
    M(over("float32[]", "[i](a, b) { a[i] = b[i]; }"));
    M(over("float32", "[i](a) { a[i] = 1; }"));
    M(over("float32[,]", "[i](a) { a[i] = 1; }"));
    M(over("float32[,]", "[i, j](a) { a[i, j] = 1; }"));
    M(over("float32[]", "[i](a) { a(i) = 1; }"));
    M(over("float32[]", "[i](a) { a[i] = b[i]; }"));
    M(over("float32[]", "[i](a) { a = 1; }"));
    M(over("float32[]", "[i](a) { i = 1; }"));
    M(over("float32[]", "[i](a) { a[threadIdx.x] = 1; }"));
    M(over("float32[]", "[i](a) { a[i] = a.size(); }"));
    M(over("float32[]", "[i](a) { a[i] = size(a); }"));
    M(over("float32[]", "[i](a) { a[i] = extent(a, 1); }"));
    M(over("float32[]", "[i](a) { atomicAdd(&a[0], 1); }"));
    M(over("float32[]", "[i](a) { atomic_ad(a[0], 1); }"));
    M(over("float32[]", "[i](a) { if (i >= n) return; a[i] = 1; }"));
    M(over("float32[]", "[i < n](a) { a[i] = 1; }"));
    M(over("float32[]", "(i)(a) { a[i] = 1; }"));
    M(over("float32*", "[i](a) { a[i] = 1; }"));
    M(over("float32[3]", "[i](a) { a[i] = 1; }"));
    M(over("float32[][]", "[i, j](a) { a[i][j] = 1; }"));
    M(over("float32[:]", "[i](a) { a[i] = 1; }"));
    M(over("[]float32", "[i](a) { a[i] = 1; }"));
    M(over("float32[]->float32[]", "[i](a, b) { b[i] = a[i]; }"));
    M(over("float33[]", "[i](a) { a[i] = 1; }"));
    M(over("float32[]; float32[,]", "[i](a) { a[i] = 1; }"));
    M(uf_forall(step, 2, square, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), NULL));
    M(uf_forall(step, 1, (int64_t[]){-3}, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), NULL));
    M(uf_forall(step, 1, NULL, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), NULL));
    M(uf_forall(step, 1, three, 1, LIST(UF_ARRAY(x, 3)), NULL));
    M(uf_forall(step, 1, three, 2, LIST(UF_ARRAY(d, 3), UF_ARRAY(r, 3)), NULL));
    M(uf_forall(step, 1, three, 2, LIST(UF_ARRAY(x, 3, 4), UF_ARRAY(r, 3)), NULL));
    M(uf_forall(step, 1, three, 2, LIST(UF_SCALAR(1.0f), UF_ARRAY(r, 3)), NULL));
    M(uf_forall(step, 1, three, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), OPTIONS(.where = &UF_ARRAY(b, 3))));
    M(uf_forall(step, 1, three, 2, LIST(UF_ARRAY(x, 3), UF_ARRAY(r, 3)), OPTIONS(.block = 100)));
    M(uf_forall(add, 1, three, 3, LIST(UF_ARRAY(x, 3), UF_ARRAY(y, 3), UF_ARRAY(r, 3)), NULL));
}

/* ---- Other texts ---- */

static uf_status module(const char *source) {
    return uf_module_new(&m,
                         &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "m", .source = source});
}

static void modules(void) {
    TITLE("Modules and records");
    M(module("struct point { float u, v; }"));
    M(module("struct point { float u v; };"));
    M(module("struct point { flaot u; };"));
    M(module("struct point { float u; float u; };"));
    M(module("class point { float u; };"));
    M(module("struct point { float u; }; point operator+(point a, point b) { return a; }"));
    M(module("struct p { float u; }; operator ** (p a, p b) { return a; }"));
    M(module("struct point { float u; }; norm(point p { return p.u; }"));
    M(module("(x) { return x; }"));
    M(module("use nothing_like_it; half(x) { return x / 2; }"));
    M(uf_module_load(&m, "quaternions"));
    M(uf_module_load(&m, "no_such_file.uf"));
    M(uf_vectorize(&f, "f", "interval(float32)->float32", "use interval; (x) { return x; }"));
    M(uf_vectorize(&f, "f", "interval->float32", "use interval; (x) { return mid(x); }"));
    M(uf_vectorize(&f, "f", "intervall(float32)->float32", "use interval; (x) { return mid(x); }"));
    M(uf_vectorize(&f, "f", "interval(int32)->float32", "use interval; (x) { return mid(x); }"));
    M(uf_vectorize(&f, "f", "interval(float32)->float32", "use interval; (x) { return x.low; }"));
}

static void compositions(void) {
    TITLE("Compositions and derivatives");
    M(uf_compose(&f, "f", "x, y", "add(x, y", 1, &add));
    M(uf_compose(&f, "f", "x, y", "addd(x, y)", 1, &add));
    M(uf_compose(&f, "f", "x, y", "add(x, z)", 1, &add));
    M(uf_compose(&f, "f", "x, y", "add(x, y) y", 1, &add));
    M(uf_compose(&f, "f", "x, y", "add[x, y]", 1, &add));
    M(uf_compose(&f, "f", "x y", "add(x, y)", 1, &add));
    M(uf_compose(&f, "f", "x, x", "add(x, x)", 1, &add));
    M(uf_compose(&f, "f", "x, y", "", 1, &add));
    M(uf_compose(&f, "f", "x", "add(total(x), x)", 2, (uf_func *[]){add, total}));
    M(uf_derivative(&f, matvec, 0));
    M(uf_derivative(&f, add, 2));
}

/* Loads a file with this text. */
static uf_status file(const char *content) {
    FILE *out = fopen("f.uf", "w");
    assert_non_null(out);
    fputs(content, out);
    fclose(out);
    return uf_load(&f, "f.uf");
}

static void files(void) {
    TITLE("Files and the catalogue");
    M(uf_load(&f, "hypott"));
    M(uf_load(&f, "frobnicate"));
    M(uf_load(&f, "no_such_file.uf"));
    M(uf_load(&f, "/"));
    M(file(""));
    M(file("(x) { return x; }\n"));
    M(file("ufun half\nkernel (x) { return x / 2; }\n"));
    M(file("ufunc\nkernel (x) { return x / 2; }\n"));
    M(file("ufunc half\n"));
    M(file("ufunc half\nkernal (x) { return x / 2; }\n"));
    M(file("ufunc half\nsignature f->f\nkernel (x) { return x / 2; }\n"));
    M(file("ufunc half\nkernel (x) { return x / 2 }\n"));
    M(file("ufunc half\nsignatures f->g\nkernel (x) { return x / 2; }\n"));
    M(file("ufunc half\nlayout (n)->()\nkernel (x) { return x / 2; }\n"));
    M(file("gufunc norm\nkernel (x) -> (y) { y = sum(i : n, x[i]); }\n"));
    M(file("ufunc half\nfast everything\nkernel (x) { return x / 2; }\n"));
    M(file("ufunc half\ndoc a half\ndoc of it\nkernel (x) { return x / 2; }\n"));
    M(file("forall fill\nkernel [i](a) { a[i] = 1; }\n"));
    M(file("reduction total\nkernel (a, b) { return a + b; }\n"));
}

static void others(void) {
    TITLE("Arrays, plans and views");
    static DLManagedTensor *t;
    M(uf_empty(&t, CPU, (DLDataType){kDLFloat, 24, 1}, 1, three));
    M(uf_empty(&t, CPU, UF_DTYPE_OF(*x), 1, (int64_t[]){-1}));
    M(uf_empty(&t, CPU, UF_DTYPE_OF(*x), 1, NULL));
    M(uf_empty(&t, ((DLDevice){kDLCUDA, 0}), UF_DTYPE_OF(*x), 1, three));
    M(uf_copy(&UF_ARRAY(r, 3), &UF_ARRAY(x, 4), NULL));
    M(uf_copy(&UF_ARRAY(n, 3), &UF_ARRAY(x, 3), NULL));
    M(uf_copy(NULL, &UF_ARRAY(x, 3), NULL));
    M(uf_inspect(add, "float32", CPU, UF_VIEW_IR, &words));
    M(uf_inspect(add, "float32,flaot32", CPU, UF_VIEW_IR, &words));
    M(uf_inspect(step, "float32[]", CPU, UF_VIEW_IR, &words));
    M(uf_describe(add, &(uf_description){.name = ""}));
    M(uf_define(&f, &(uf_definition){.name = "f"}));
    M(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition), .name = "f"}));
    M(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                     .name = "f",
                                     .nsections = 1,
                                     .sections = &(uf_section){"ff->f", "(x, y) { return x + y; }"},
                                     .flags = 8}));
    M(uf_define(&f, &(uf_definition){.size = sizeof(uf_definition),
                                     .name = "f",
                                     .nsections = 1,
                                     .sections = &(uf_section){"ff->f", "(x, y) { return x + y; }"},
                                     .blas = "gemmm"}));
}

/* ---- The page ---- */

static char *read_all(FILE *in) {
    size_t size = 0;
    char *content = NULL, chunk[4096];
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, in)) > 0; size += got) {
        content = realloc(content, size + got + 1);
        assert_non_null(content);
        memcpy(content + size, chunk, got);
        content[size + got] = 0;
    }
    return content;
}

/* The functions that the calls are made with. */
static void functions_make(void) {
    assert_int_equal(uf_load(&add, "add"), UF_OK);
    assert_int_equal(uf_vectorize(&hypot2, "hypot2", "ff->f", "(x, y) { return sqrt(x * x + y * y); }"), UF_OK);
    assert_int_equal(uf_load(&matvec, "matvec"), UF_OK);
    assert_int_equal(uf_load(&total, "sum"), UF_OK);
    assert_int_equal(uf_kernel(&step, "step", "float32[], float32[]", "[i](a, b) { b[i] = 2 * a[i]; }"), UF_OK);
}

static void page_write(void) {
    fputs("Mistakes that newcomers make, and what they are told. Written by tests/core/test_mistakes.c (UF_BLESS=1); "
          "read it whole.\n",
          page);
    heads();
    statements();
    expressions();
    types();
    signatures();
    layouts();
    calls();
    gufunc_calls();
    reductions();
    kernels();
    modules();
    compositions();
    files();
    others();
}

/* Compares the page with the one that was read, and writes it anew if asked to. */
static void page_compare(const char *golden) {
    rewind(page);
    char *got = read_all(page), *expected = NULL;
    FILE *file = fopen(golden, "r");
    if (file) {
        expected = read_all(file);
        fclose(file);
    }
    bool same = expected && !strcmp(got, expected);
    if (!same && getenv("UF_BLESS")) {
        file = fopen(golden, "w");
        assert_non_null(file);
        fputs(got, file);
        fclose(file);
        same = true;
    }
    if (!same) {
        size_t at = 0, line;
        while (expected && got[at] && got[at] == expected[at])
            at++;
        for (line = at; line > 0 && got[line - 1] != '\n';)
            line--;
        print_error("%s differs, first at:\n%.400s\nlook, then UF_BLESS=1\n", golden, got + line);
    }
    free(got);
    free(expected);
    assert_true(same);
}

static void test_mistakes(void **state) {
    char golden[4096], directory[] = "/tmp/uf_mistakes_XXXXXX";
    (void)state;
    assert_non_null(realpath("tests/core", golden));
    strcat(golden, "/mistakes.txt");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0); /* so that the names of files are the same in each run */
    page = tmpfile();
    assert_non_null(page);
    functions_make();
    page_write();
    print_message("%d mistakes\n", mistakes);
    assert_int_equal(taken, 0);
    assert_true(mistakes >= 200);
    page_compare(golden);
    fclose(page);
    remove("f.uf");
    rmdir(directory);
    uf_func *const made[] = {add, hypot2, matvec, total, step};
    for (size_t i = 0; i < COUNT(made); i++)
        uf_free(made[i]);
}

int main(void) {
    setenv("UFUNC_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
