/* gu_kernel.c - see gu_kernel.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gu_kernel.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

const code_target gu_gpu = {.gpu = true, .arch = 90}, gu_cpu = {.vector_bits = 256, .f16c = true};

/* A helper that calls another one twice. */
#define CALLS(f, g) f "(x) { auto w = x * 3 + 1; return " g "(w) + " g "(x) * w; }"

const gu_kernel gu_kernels[] = {
    {"table", "(n),(m)->(m)",
     "(x, at) -> (y) { const float32 t[8] = {1, 2, 4, 8, 16, 32, 64}; const bool odd[2] = {0, 1}; forall (i : m) y[i] "
     "= "
     "t[at[i]] * x[at[i]] + odd[at[i] & 1]; }",
     "float32,int32->float32"},
    {"at", "(m,n),(n)->(m)",
     "at(a[m][n], i, j) { return a[i][j]; } (A, x) -> (y) { forall (i : m) y[i] = sum(j : n, at(A, i, j) * x[j]); }",
     "float32,float32->float32"},
    {"fill", "(m,n),(n)->(m)",
     "fill(y[m], a[m][n], x[n]) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); } (A, x) -> (y) { fill(y, A, x); }",
     "float32,float32->float32"},
    {"call_chain", "(n)->(n)",
     "a(x) { return x + 1; }" CALLS("b", "a") CALLS("c", "b") CALLS("d", "c") CALLS("e", "d") CALLS("f", "e")
         CALLS("g", "f") CALLS("h", "g") CALLS("i", "h") CALLS("j", "i") CALLS("k", "j") CALLS("l", "k")
             CALLS("m", "l") "(x) -> (y) { forall (i : n) y[i] = m(x[i]); }",
     "int32->int32"},
    {"matvec", "(m,n),(n)->(m)", "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }",
     "float32,float32->float32"},
    {"vecmat", "(m),(m,n)->(n)", "(x, A) -> (y) { forall (j : n) y[j] = sum(i : m, x[i] * A[i][j]); }",
     "float32,float32->float32"},
    {"matmul", "(m,n),(n,p)->(m,p)", "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }",
     "float64,float64->float64"},
    {"complex_matmul", "(m,n),(n,p)->(m,p)",
     "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * conj(B[k][j])); }",
     "complex64,complex128->complex128"},
    {"spread", "(n),(n),()->(n),()",
     "(x, w, a) -> (y, z) { auto top = max(i : n, x[i]); auto s = sum(i : n, x[i] - top); forall (i : n) y[i] = (x[i] "
     "- "
     "top) * w[i] + s + a; z = s; }",
     "int32,int16,int32->int32,int32"},
    {"columns", "(n)->(n)",
     "(x) -> (y) { auto low = min(i : n, x[i]); forall (i : n) if (x[i] > low) y[i] = x[n - 1 - i]; }",
     "float32->float32"},
    {"norm", "(n)->()", "(x) -> (y) { y = sqrt(sum(i : n, x[i] * x[i])); }", "float32->float32"},
    {"softmax", "(n)->(n)",
     "(x) -> (y) { auto m = max(i : n, x[i]); auto s = sum(i : n, exp(x[i] - m)); forall (i : n) y[i] = exp(x[i] - m) "
     "/ s; }",
     "float32->float32"},
    {"rows", "(m,n)->(m)",
     "(A) -> (y) { forall (i : m) { auto s = sum(j : n, A[i][j]) / n; auto v = sum(j : n, (A[i][j] - s) * (A[i][j] - "
     "s)); if (v > 1) y[i] = v; else y[i] = s > 0 ? min(j : n, A[i][j]) : 0; } }",
     "float32->float32"},
    {"layer", "(m,n)->(m,n)",
     "(A) -> (y) { forall (i : m) { auto s = sum(j : n, A[i][j]) / n; forall (j : n) y[i][j] = A[i][j] - s; } }",
     "bfloat16->float16"},
    {"two_moments", "(m,n)->(m),(m)",
     "(A) -> (s, q) { forall (i : m) { auto t = sum(j : n, A[i][j]); auto u = t / n; s[i] = u; q[i] = "
     "sum(j : n, (A[i][j] - u) * (A[i][j] - u)); } }",
     "float32->float32,float32"},
    {"helper", "(n)->(),()",
     "first(a, b) { return a * b + a; } (x) -> (y, z) { y = reduce(first, i : n, x[i]); z = any(i : n, x[i] > 3) ? 1 "
     ": 0; }",
     "int8->int32,uint8"},
    {"looping_helper", "(m,n)->(m),()",
     "up(a, b) { auto c = a; while (c < b) c += c; return c; } (x) -> (y, z) { forall (i : m) y[i] = reduce(up, j : n, "
     "x[i][j]); z = reduce(up, i : m, j : n, x[i][j]); }",
     "int64->int64,int64"},
    {"complex_helper", "(n)->()", "one(a, b) { return a * b + 1; } (x) -> (y) { y = reduce(one, i : n, x[i]); }",
     "complex128->complex128"},
    {"bools", "(m,n)->(m),()",
     "(x) -> (y, z) { forall (i : m) y[i] = all(j : n, x[i][j]) || any(j : n, !x[i][j]); z = all(i : m, any(j : n, "
     "x[i][j])); }",
     "bool->bool,bool"},
    {"three_ranges", "(m,n,p)->()", "(x) -> (s) { s = prod(i : m, j : n, k : p, x[i][j][k]); }", "float16->float32"},
    {"four_ranges", "(m,n)->(m,n)",
     "(x) -> (y) { forall (i : m, a : 2, b : 1, j : n) y[i][j] = sum(k : n, l : 3, x[i][k] * l + a * b); }",
     "uint16->int32"},
    {"many_ranges", "(n)->()", "(x) -> (s) { s = sum(a : 2, b : 2, c : 2, d : 2, e : 2, i : n, x[i]); }",
     "float32->float32"},
    {"read_back", "(n)->(n)",
     "(x) -> (y) { forall (i : n) y[i] = x[i] * 2; auto s = sum(i : n, y[i]); forall (i : n) y[i] = y[n - 1 - i] / s; "
     "}",
     "float64->float64"},
    {"own_store", "(m,n)->(m),(m)",
     "(A) -> (y, z) { forall (i : m) { y[i] = sum(j : n, A[i][j]); z[i] = sum(j : n, A[i][j] * y[i]); } }",
     "float32->float32,float32"},
    {"update", "(m,n)->(m)", "(A) -> (y) { forall (i : m) y[i] += sum(j : n, A[i][j]); }", "float32->float32"},
    {"scatter", "(n),(n)->(n)", "(x, at) -> (y) { forall (i : n) y[i] = 0; forall (i : n) y[at[i]] = x[at[i]]; }",
     "int8,int32->int8"},
    {"rounds", "(n)->(n)", "(x) -> (y) { for (int64 t = 0; t < 3; t++) forall (i : n) y[(i + t) % n] = x[i] + t; }",
     "int32->int32"},
    {"plain_loop", "(n)->(n)",
     "(x) -> (y) { auto s = x[0] * 0; for (int64 i = 0; i < n; i++) { s += x[i]; y[i] = s; } }", "float32->float32"},
    {"early", "(n)->(n)", "(x) -> (y) { if (sum(i : n, x[i]) < 0) return; forall (i : n) y[i] = x[i]; }",
     "float32->float32"},
    {"checked", "(n),(m)->(m)", "(x, at) -> (y) { forall (i : m) y[i] = x[at[i]] + x[i]; }", "float16,int32->float32"},
    {"local_array", "(m,n)->(m)",
     "(A) -> (y) { forall (i : m) { float32 t[4]; for (int64 k = 0; k < 4; k++) t[k] = sum(j : n, A[i][j] * k); y[i] = "
     "t[0] + t[3]; } }",
     "float32->float64"},
    {"shared_array", "(n)->()",
     "(x) -> (s) { float32 t[4]; forall (k : 4) t[k] = sum(i : n, x[i] * k); s = sum(k : 4, t[k]); }",
     "float32->float32"},
    {"conditional", "(m,n)->(n)",
     "(A) -> (y) { forall (i : n) y[i] = i < n - 1 ? sum(j : m, A[j][i + 1]) : sum(j : m, A[j][i]) + 1; }",
     "float32->float32"},
    {"triangle", "(n,n)->(n)", "(A) -> (y) { forall (i : n) y[i] = sum(j : i, A[i][j]) - sum(j : n - i, A[j][i]); }",
     "float32->float32"},
    {"nested_sums", "(m,n)->()", "(A) -> (s) { s = sum(i : m, prod(j : n, A[i][j]) * max(j : n, A[i][j])); }",
     "int16->int64"},
    {"range_of_sum", "(n)->()", "(x) -> (s) { s = sum(i : sum(j : n, (int64)x[j]), i * i); }", "uint8->int64"},
    {"range_of_output", "(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = x[i]; forall (i : (int64)y[0]) y[i] = 1; }",
     "int32->int32"},
    {"nothing", "(n)->(n)", "(x) -> (y) { forall (i : 0) y[i] = x[i]; forall (i : -3) y[i] = 1; }", "int32->int32"},
    {"frozen", "(3),(3)->(3)",
     "(a, b) -> (c) { c[0] = a[1] * b[2] - a[2] * b[1]; c[1] = a[2] * b[0] - a[0] * b[2]; c[2] = a[0] * b[1] - a[1] * "
     "b[0]; }",
     "float64,float64->float64"},
    {"scaled", "(),(n),()->(n),()",
     "(a, x, k) -> (y, s) { a = a + 1; forall (i : n) y[i] = a * x[i] + k; s = sum(i : n, x[i]) * a; }",
     "float32,float32,int32->float32,float64"},
    {"sorted", "(n),()->(n)",
     "(x, still) -> (y) { forall (i : n) y[still ? i : sum(j : n, x[j] > x[i] || (x[j] == x[i] && j < i))] = x[i]; }",
     "int32,bool->int32"},
    {"outer", "(m),(n)->(m,n)", "(x, y) -> (z) { forall (i : m, j : n) z[i][j] = x[i] * y[j]; }", "int8,int8->int16"},
};
const int gu_kernel_count = COUNT(gu_kernels);

const gu_kernel *gu_kernel_of(const char *name) {
    for (int k = 0; k < gu_kernel_count; k++)
        if (!strcmp(gu_kernels[k].name, name))
            return &gu_kernels[k];
    fail_msg("no kernel %s", name);
    return NULL;
}

tree *gu_tree(arena *a, const gu_kernel *k) {
    tree *t = NULL;
    if (lang_try_core(a, k->layout, k->source, k->types, &t))
        fail_msg("%s: %s", k->name, uf_last_error()->message);
    return t;
}

variant gu_variant(const tree *t, int coop, int lanes, int vector, int repeat) {
    variant v;
    memset(&v, 0, sizeof v);
    v.loop = LOOP_GUFUNC;
    v.ndim = 1;
    v.nin = (uint8_t)t->layout->nin;
    v.nout = (uint8_t)t->layout->nout;
    v.gufunc.coop = (uint8_t)coop;
    v.gufunc.lanes = (uint8_t)lanes;
    v.gufunc.vector = (uint8_t)vector;
    v.gufunc.steps = (uint8_t)repeat;
    for (int k = 0; k < v.nin + v.nout; k++)
        v.operand[k] = (variant_operand){.memory = (uint8_t)t->kernel->locals[k].type,
                                         .value = (uint8_t)t->kernel->locals[k].type,
                                         .kind = OPERAND_STRIDED,
                                         .unit = (uint8_t)t->layout->operands[k].rank};
    return v;
}

variant gu_unrolled(const tree *t, int n) {
    variant v = gu_variant(t, 0, 0, 1, 1);
    v.gufunc.unrolled = 1;
    for (int d = 0; d < t->layout->ndims; d++)
        v.gufunc.size[d] = (uint8_t)(t->layout->dims[d].frozen ? t->layout->dims[d].frozen : n);
    for (int k = 0; k < v.nin + v.nout; k++)
        v.operand[k].staged = t->layout->operands[k].rank > 0;
    return v;
}

void gu_describe(const gu_kernel *k, const variant *v) {
    fprintf(stderr, "%s, %s, %s\n%s\nndim %d wide %d vector %d repeat %d coop %d across %d held %d lanes %d along %d\n",
            k->name, k->layout, k->types, k->source, v->ndim, v->wide, v->gufunc.vector, v->gufunc.steps,
            v->gufunc.coop, v->gufunc.across, v->gufunc.held, v->gufunc.lanes, v->gufunc.along);
    for (int i = 0; i < v->nin + v->nout; i++)
        fprintf(stderr, "operand %d: %s as %s, kind %d, unit %d, staged %d\n", i, dtypes[v->operand[i].memory].name,
                dtypes[v->operand[i].value].name, v->operand[i].kind, v->operand[i].unit, v->operand[i].staged);
}

code_module gu_generate(arena *a, const gu_kernel *k, const tree *t, const variant *v, const code_target *target) {
    code_module m = {.flags = 0};
    if (ir_gufunc(a, k->name, t, v, target, &m)) {
        gu_describe(k, v);
        fail_msg("%s", uf_last_error()->message);
    }
    return m;
}
