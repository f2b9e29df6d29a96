/* test_lang_proofs.c - which indices are proved to lie within their extents, and of kernels over indices for which sizes: tables of
 * accesses as people write them, and random loops around random indices, whose proofs are tried on sizes up to the largest by
 * arithmetic of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* True if a line ends in a word. */
static bool ends_in(const char *line, size_t length, const char *word) {
    size_t n = strlen(word);
    return length > n && strncmp(line + length - n, word, n) == 0;
}

/* Writes 'u' for each access without a check, 'n' for one where the needs hold, and 'c' for each with one, in the order of the
 * tree; false: out of memory. */
static bool accesses(const tree *t, char *out, size_t size) {
    text printed = {0};
    size_t n = 0;
    lang_print(&printed, t);
    if (printed.failed)
        return false;
    for (const char *s = strstr(printed.data, " element "); s && n + 1 < size; s = strstr(s + 1, " element ")) {
        size_t length = strcspn(s, "\n");
        out[n++] = ends_in(s, length, " unchecked") ? 'u' : ends_in(s, length, " conditional") ? 'n' : 'c';
    }
    out[n] = 0;
    text_free(&printed);
    return true;
}

/* ---- A table ---- */

typedef struct proof {
    const char *layout, *types, *body, *expected;
} proof;

#define ONE "(n)->(n)", "float32"
#define TWO "(m),(n)->(m+n-1)", "float32,float32"

/* clang-format off */
static const proof table[] = {
    /* Ranges over sizes. */
    {"(m,n),(n)->(m)", "float32,float32", "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }", "uuu"},
    {"(m,n),(n)->(m)", "float32,float32", "(A, x) -> (y) { forall (i : n) y[i] = sum(j : m, A[i][j] * x[j]); }", "ccc"},
    {ONE, "(x) -> (y) { forall (i : n) y[n - 1 - i] = x[i]; }", "uu"},
    {ONE, "(x) -> (y) { forall (i : n - 1) y[i] = x[i + 1] + x[i + 2]; }", "uuc"},
    {ONE, "(x) -> (y) { forall (i : n - 2) y[i + 1] = x[i] + x[i + 2]; }", "uuu"},
    {ONE, "(x) -> (y) { forall (i : n + 1) y[i] = x[i - 1]; }", "cc"},
    {ONE, "(x) -> (y) { forall (i : n, j : i) y[i] = 1; }", NULL},
    {ONE, "(x) -> (y) { forall (i : n) forall (j : i) y[i] = x[j] + x[i - 1 - j] + x[i - j]; }", "uuuu"},
    {ONE, "(x) -> (y) { forall (i : n / 2) { y[2 * i] = x[2 * i + 1] + x[i + n / 2] + x[2 * i + 2]; } }", "uuuc"},
    {ONE, "(x) -> (y) { forall (i : (n + 1) / 2) y[2 * i] = 1; }", "c"}, /* n + 1 may overflow */
    {ONE, "(x) -> (y) { forall (i : n >> 1) { y[i << 1] = x[(i << 1) + 1]; } }", "uu"},
    {ONE, "(x) -> (y) { forall (i : n) y[i / 2] = x[i % 4] + x[i & 3] + x[3 & 1] + x[-i & 7]; }", "uuucc"},
    {ONE, "(x) -> (y) { y[0] = x[n - 1]; if (n > 0) y[0] = x[n - 1]; }", "ccuu"},
    {ONE, "(x) -> (y) { y[0] = sum(i : n, j : n - i, x[i]); y[0] = sum(i : n, sum(j : n - i, x[i + j])); }", NULL},
    {ONE, "(x) -> (y) { forall (i : n) y[i] = sum(j : n - i, x[i + j]); }", "uu"},
    {ONE, "(x) -> (y) { forall (i : -2 * n) y[i] = 1; }", "c"}, /* -2 n wraps to above 0 */
    {ONE, "(x) -> (y) { forall (i : 2 * n) y[i / 2] = 1; }", "u"},
    {"(n),()->(n)", "float32,int64", "(x, k) -> (y) { forall (i : k) y[i] = 1; forall (i : min(k, n)) y[i] = 1; }", "cu"},
    {"(n),()->(n)", "float32,uint64", "(x, k) -> (y) { forall (i : k % n) y[i] = 1; if (n) y[k % n] = 1; }", "cu"},

    /* Computed sizes. */
    {TWO, "(x, z) -> (y) { forall (k : m + n - 1) y[k] = 1; }", "u"},
    {TWO, "(x, z) -> (y) { forall (k : n - 1 + m) y[k] = 1; forall (i : m, j : n) y[i + j] = x[i] * z[j]; }", "uuuu"},
    {TWO, "(x, z) -> (y) { forall (k : m + n) y[k] = 1; forall (k : m) y[k] = 1; }", "cc"},
    {TWO, "(x, z) -> (y) { forall (k : m + n - 1) y[k] = sum(i : m, k - i >= 0 && k - i < n ? x[i] * z[k - i] : 0); }", "uuu"},
    {"(n)->(n*(n-1)/2)", "float32", "(x) -> (y) { forall (k : n * (n - 1) / 2) y[k] = 1; }", "u"},
    {"(n)->(n*(n-1)/2)", "float32", "(x) -> (y) { forall (k : (n - 1) * n / 2) y[k] = 1; forall (k : n) y[k] = 1; }", "cc"},
    {"(n)->(n/2)", "float32", "(x) -> (y) { forall (k : n / 2) y[k] = x[k] + x[2 * k + 1] + x[n / 2 + k]; }", "uuuu"},
    {"(m),(n)->(m*n)", "float32,float32", "(x, z) -> (y) { forall (i : m, j : n) y[i * n + j] = x[i] * z[j]; }", "uuu"},
    {"(m),(n)->(m*n)", "float32,float32", "(x, z) -> (y) { forall (i : m, j : n) y[i * m + j] = y[j * m + i]; }", "cu"},
    {"(n),(w)->(n-w+1)", "float32,float32", "(x, k) -> (y) { forall (i : n - w + 1) y[i] = sum(j : w, x[i + j] * k[j]); }", "uuu"},

    /* Frozen sizes and local arrays. */
    {"(3),(3)->(3)", "float32,float32", "(a, b) -> (c) { c[0] = a[1] * b[2] - a[3] * b[-1]; }", "uuucc"},
    {"(3)->(3)", "float32", "(a) -> (c) { for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] + a[i + 1]; }", "uuc"},
    {"(3)->(3)", "float32", "(a) -> (c) { forall (i : 2, j : 2) c[i * j] = a[i + j] + a[i * 2 + j]; }", "uuc"},
    {ONE, "(x) -> (y) { float t[4]; forall (i : 4) t[i] = t[i - 1]; for (uint8 i = 0; i < 4; i++) t[i] = t[3 - i]; y[0] = 0; }", "ucuuc"},

    {"(2147483649),()->()", "float32,int32", "(x, k) -> (y) { if (k >= 0) y = x[k + 1]; if (k >= 0) y = x[k + 1L]; }", "cu"},

    /* What constants and operators bound, in each kernel the first element read and not the second; loops over a counter. */
    {NULL, "uint8,int32", "(u, n) { int a[10], t[256]; return a[9] + a[10] + t[u] + a[u] + a[n & 7] + a[n & 15]; }", "ucucuc"},
    {NULL, "uint8,int32", "(u, n) { int a[10]; return a[u % 10] + a[n % 10] + a[u / 26] + a[u / 25] + a[n > 2] + a[-1]; }", "ucucuc"},
    {NULL, "int32", "(n) { int a[10], r = 0; for (int64 i = 1; i <= 9; i += 2) r += a[i - 1] + a[i - 2]; return r; }", "uc"},
    {NULL, "int32", "(n) { int a[10], r = 0; for (int i = 0; i < 10; i++) r += a[i] + a[i + 1]; return r; }", "uc"},
    {NULL, "int32", "(n) { int a[10], r = 0; for (int i = 0; i < 3; i++) for (uint8 j = 0; j < 3; j++) r += a[i * 3 + j] + a[i * 4 + j]; return r; }", "uc"},
    {NULL, "int32", "(n) { int a[10], r = 0; for (n = 0; n < 10; ++n) r += a[n]; return r + a[n]; }", "uc"},
    {NULL, "int32", "(n) { int a[10], r = 0; for (int i = 0; i < 10; i++) { r += a[i]; i += n; } return r; }", "c"},
    {NULL, "int32", "(n) { int t[256], r = 0; for (int8 i = 0; i <= 127; i++) r += t[i]; for (int8 i = 0; i < 127; i++) r += t[i]; return r; }", "cu"},
    {NULL, "int32", "(n) { int a[10], r = 0; for (int i = 9; i >= 0; i--) r += a[i]; for (int i = 0; (int8)i < 10; i++) r += a[i]; return r; }", "uc"},

    /* for. */
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i++) y[i] = 1; for (int64 i = 0; i <= n; i++) y[i] = 1; }", "uc"},
    {ONE, "(x) -> (y) { for (int i = 0; i < n; i++) y[i] = 1; for (uint64 i = 0; i < n; i++) y[i] = 1; }", "cu"},
    {ONE, "(x) -> (y) { for (uint64 i = 0; i < n - 1; i++) y[i] = 1; }", "c"}, /* n - 1 may be the largest uint64 */
    {ONE, "(x) -> (y) { for (int64 i = 1; i < n; i++) y[i] = y[i - 1] + y[i - 2]; }", "uuc"},
    {ONE, "(x) -> (y) { for (int64 i = n - 1; i >= 0; i--) y[i] = x[n - 1 - i]; for (int64 i = n; i > 0; i -= 1) y[i - 1] = 1; }", "uuu"},
    {ONE, "(x) -> (y) { for (int64 i = n - 2; i >= 0; i--) y[i] = y[i + 1]; for (uint64 i = n - 1; i >= 0; i--) y[i] = 1; }", "uuc"},
    {ONE, "(x) -> (y) { for (int64 i = 0; n > i; ++i) for (int64 j = i + 1; j < n; j++) y[j] = x[j - 1 - i]; }", "uu"},
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i += 2) y[i] = 1; for (int64 i = 0; i < n - 1; i += 2) y[i] = y[i + 1]; }", "cuu"},
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i++) { y[i] = 1; i = 0; } for (int64 i = 0; i < n; i++) for (i = 0; i < n; i++) y[i] = 1; }", "cu"},
    {ONE, "(x) -> (y) { int64 i; for (i = 0; i < n; i++) y[i] = 1; y[i] = 1; }", "uc"},
    {ONE, "(x) -> (y) { int64 k = n; for (int64 i = 0; i < k; i++) y[i] = 1; }", "u"},
    {ONE, "(x) -> (y) { int64 k = n; k++; for (int64 i = 0; i < k; i++) y[i] = 1; }", "c"},
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i++) { while (1) { int64 k = i; y[k] = 1; k++; y[k] = 1; break; } } }", "cc"},
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i--) y[i] = 1; for (int64 i = 0; i > n; i++) y[i] = 1; }", "cc"},
    {ONE, "(x) -> (y) { for (int64 i = 9223372036854775807; i + 1 < n; i++) y[i] = 1; }", "c"},

    /* Choices and conditions. */
    {ONE, "(x) -> (y) { forall (i : n) y[i] = x[(i + 1) % n] + x[min(i + 1, n - 1)] + x[max(i - 1, 0)] + x[clamp(i + 3, 0, n - 1)]; }", "uuuuu"},
    {ONE, "(x) -> (y) { forall (i : n) y[i] = x[(i - 1 + n) % n]; }", "uc"}, /* i + n may overflow */
    {ONE, "(x) -> (y) { forall (i : n) y[i] = x[floor_mod(i - 1, n)] + x[floor_mod(-3 * i, n)] + x[floor_div(i, 2)]; }", "uuuu"},
    {ONE, "(x) -> (y) { forall (i : n) y[i] = x[floor_mod(i - 1, 4 - n)] + x[floor_div(i - 1, 2)]; }", "ucc"},
    {ONE, "(x) -> (y) { forall (i : n) y[i] = x[i > 0 ? i - 1 : n - 1] + x[i + 1 < n ? i + 1 : 0] + x[i ? i - 1 : 0]; }", "uuuu"},
    {ONE, "(x) -> (y) { forall (i : n) y[i] = x[min(i + 1, n)] + x[max(i - 1, -1)] + x[clamp(i, 1, n)]; }", "uccc"},
    {ONE, "(x) -> (y) { forall (i : n) if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1]; else y[i] = x[i - 1]; }", "uuuuc"},
    {ONE, "(x) -> (y) { forall (i : n) { if (i == 0 || i == n - 1) y[i] = 0; else y[i] = x[i - 1] + x[i + 1]; } }", "uuuu"},
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i++) { if (!i) continue; y[i] = x[i - 1]; } y[0] = n ? x[0] : x[n]; }", "uucuc"},
    {ONE, "(x) -> (y) { for (int64 i = 0; i < n; i++) { if (!i) { y[i] = 0; } y[i] = x[i - 1]; } }", "uuc"},
    {"(n),(k)->(k)", "float32,int32", "(x, at) -> (y) { forall (i : k) { auto j = at[i]; if (j >= 0 && j < n) y[i] = x[j]; } }", "uuu"},
    {"(n),(k)->(k)", "float32,int32", "(x, at) -> (y) { forall (i : k) { auto j = at[i]; if (0 <= j && j < n) { j++; y[i] = x[j]; } } }", "uuc"},
    {"(n),()->()", "float32,int64", "(x, k) -> (y) { if (k < 0) return; if (k >= n) return; y = x[k]; }", "u"},
    {"(n),()->()", "float32,int64", "(x, k) -> (y) { if (k < 0) return; k--; if (k >= n) return; y = x[k]; }", "c"},
    {"(n),()->()", "float32,int64", "(x, k) -> (y) { switch (k) { case 0: if (n < 1) break; y = x[0]; case 1: y = x[0]; } }", "cc"},
    {"(n),()->()", "float32,int64", "(x, k) -> (y) { switch (k) { case 1: int64 j = n > 0 ? 0 : 0; default: y = x[j]; } }", "c"},
    {"(n),()->()", "float32,int64", "(x, k) -> (y) { while (k >= 0 && k < n) { y += x[k]; k++; } }", "c"},
    {"(n),()->()", "float32,uint8", "(x, k) -> (y) { if (k < n) y = x[k]; if (k != n) y = x[k]; if (k <= n && k != n) y = x[k]; }", "ucu"},
    {"(n),()->()", "float32,int64", "(x, k) -> (y) { if (k + 1 > 0 && k + 1 <= n) y = x[k]; if ((k >= 0) & (k < n)) y = x[k]; }", "cc"},
    /* What is known where a helper is called first, here in a loop without iterations, is not known in the helper. */
    {ONE, "const float32 t[3] = {1, 2, 3}; h(a) { return t[3] + a; } (x) -> (y) { for (int64 i = 0; i < 0; i++) y[0] = h(x[0]); "
          "y[0] = h(x[0]); }", "cuucc"},
};
/* clang-format on */

static void test_table(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        const proof *p = &table[i];
        arena a = {0};
        tree *t;
        char got[64] = "refused";
        uf_status status = lang_try_core(&a, p->layout, p->body, p->types, &t);
        if (!status && tree_fault(t))
            fail_msg("%s: %s", p->body, tree_fault(t));
        if (!status)
            assert_true(accesses(t, got, sizeof got));
        bool as_expected = p->expected ? !status && strcmp(got, p->expected) == 0 : status == UF_ERR_TYPE;
        if (!as_expected)
            print_error("%s %s\n  %s, not %s %s\n", p->layout, p->body, got, p->expected ? p->expected : "refused",
                        status ? uf_last_error()->message : "");
        wrong += !as_expected;
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Kernels over indices ---- */

#define STENCIL "v[i][j] = u[i][j] + k * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1]); "
#define GRIDS "float32[,], float32[,], float32"

/* clang-format off */
static const struct {
    const char *parameters, *source, *expected, *needs; /* needs: ">= 0" left out, "; " between */
} needs_table[] = {
    {"float32[], float32[]", "[i](a, b) { a[i] = 2 * b[i]; b[i] = a[i]; }", "nnnn", "|a.0| - |i|; |b.0| - |i|"},
    {"float32[], float32[]", "[i : n](a, b) { if (i < len(a)) a[i] = b[i]; }", "un", "|b.0| - |a.0|"},
    {"float32[], float32[]", "[i : n](a, b) { if (i > 0 && i < n - 1) a[i] = b[i - 1] + b[i + 1]; }", "nnn", "|a.0| - |i|; |b.0| - |i|"},
    {"float32[], float32[]", "[i](a, b) { forall (j : len(b)) a[i] += b[j]; }", "nu", "|a.0| - |i|"},
    {"float32[], float32[]", "[i](a, b) { a[0] = b[3] + b[1]; }", "nnn", "|a.0| - 1; |b.0| - 4"},
    {"float32[]", "[i : n](a) { a[2 * i + 1] = a[2 * i]; a[n - 1 - i] = 0; a[i / 2] = 1; }", "nnnn", "|a.0| - 2 |i|"},
    {"float32[]", "[i : n](a) { a[(i + 1) % n] = a[i > 0 ? i - 1 : n - 1]; }", "nn", "|a.0| - |i|"},
    {"float32[]", "[i : n](a) { a[max(i - 1, 0)] = a[min(i + 1, n - 1)] + a[clamp(i - 3, 0, n - 1)]; }", "nnn", "|a.0| - |i|"},
    {"float32[]", "[i : n](a) { a[i - 1] = 0; a[-i] = 0; }", "cc", ""},
    {"float32[]", "[i](a) { a[i + 1] = a[i]; }", "nn", "|a.0| - |i| - 1"},
    {"int32[], float32[]", "[i](start, x) { for (int64 k = start[i]; k < start[i + 1]; k++) x[k] = 0; }", "nnc", "|start.0| - |i|; |start.0| - |i| - 1"},
    {"int32[], float32[]", "[i](at, x) { if (at[i] >= 0 && at[i] < len(x)) x[at[i]] = 0; }", "nncn", "|at.0| - |i|"},
    {"int32[], float32[]", "[i](at, x) { auto k = at[i]; if (k >= 0 && k < len(x)) x[k] = 0; }", "nu", "|at.0| - |i|"},
    {"uint8[], int32[]", "[i](b, h) { atomic_add(h[b[i]], 1); atomic_add(h[b[i] >> 4], 1); }", "nnnn", "|b.0| - |i|; |h.0| - 256"},
    {"int32[], uint32[]", "[i](b, h) { atomic_add(h[b[i]], 1); }", "cn", "|b.0| - |i|"},
    {"uint32[], int32[]", "[i](b, h) { atomic_add(h[b[i] % len(h)], 1); }", "nn", "|b.0| - |i|; |h.0| - 1"},
    {"float64[], int32[]", "[i](x, h) { atomic_add(h[x[i] > 0.5], 1); atomic_add(h[x[i] > 0 ? 2 : 0], 1); }", "nncn", "|x.0| - |i|; |h.0| - 2"},
    {GRIDS, "[i : n, j : m](u, v, k) { if (i > 0 && i < n - 1 && j > 0 && j < m - 1) " STENCIL "}", "nnnnnn",
     "|v.0| - |i|; |v.1| - |j|; |u.0| - |i|; |u.1| - |j|"},
    {GRIDS, "[i, j](u, v, k) { if (i > 0 && i < extent(u, 0) - 1 && j > 0 && j < extent(u, 1) - 1) " STENCIL "}", "nuuuuu",
     "|v.0| - |u.0|; |v.1| - |u.1|"},
    {GRIDS, "[i, j](u, v, k) { if (i == 0 || j == 0 || i >= len(u) - 1 || j >= extent(u, 1) - 1) return; " STENCIL "}", "nuuuuu",
     "|v.0| - |u.0|; |v.1| - |u.1|"},
    {GRIDS, "[i : n, j : m](u, v, k) { v[j][i] = u[n - 1 - i][m - 1 - j]; }", "nn",
     "|v.0| - |j|; |v.1| - |i|; |u.0| - |i|; |u.1| - |j|"},
    {GRIDS, "[i, j](u, v, k) { v[i][j] = sum(l : extent(u, 1), u[i][l] * v[l][j]); }", "nnn",
     "|v.0| - |i|; |v.1| - |j|; |u.0| - |i|; |v.0| - |u.1|"},
    {GRIDS, "[i](u, v, k) { u[i][i] = 0; u[i][-1] = 0; v[i - 1][i] = 0; }", "ncc", "|u.0| - |i|; |u.1| - |i|"},
    {"float32[]", "[i : n, j : m](a) { a[i * m + j] = 0; a[j * n + i] = 0; }", "nn", "|a.0| - |i||j|"},
    {"float32[]", "[i : n, j : m, k : l](a) { a[(i * m + j) * l + k] = 0; }", "n", "|a.0| - |i||j||k|"},
    {"float32[]", "[i : n, j : m, k : l](a) { a[i * m * l + j * l + k] = 0; }", "n", "|a.0| - |i||j||k|"},
    {"float32[], int64", "[i](a, s) { a[i * s] = 0; a[i + s] = 0; if (s >= 0 && i + s < len(a) && s < len(a)) a[i + s] = 0; }", "cnn", "s; |a.0| - |i| - s"},
    {"float32[], float32[], int32", "[i](a, b, n) { float32 t = 0; for (int k = 0; k < n; k++) t += b[k]; a[i] = t; }", "nn", "|b.0| - n; |a.0| - |i|"},
    {"float32[], float32[], int16", "[i : m](a, b, r) { for (int k = -r; k <= r; k++) if (i + k >= 0 && i + k < m) a[i] += b[i + k]; }", "nc", "|a.0| - |i|"},
    {"float32[], int64, int64", "[i](a, n, m) { a[i] = sum(j : n, sum(k : m, a[j * m + k])); }", "nn", "|a.0| - |i|; |a.0| - nm"},
    {"float32[], float32[], int64", "[i](a, b, n) { if (i < n) a[i] = b[n - 1 - i]; }", "nn", "|a.0| - n; |b.0| - n"},
    {"float32[], float32[], uint8", "[i](a, b, n) { a[i] = sum(k : n, b[k]); }", "nn", "|a.0| - |i|; |b.0| - n"},
    {"float32[], float32[], uint64", "[i](a, b, n) { a[i] = sum(k : n, b[k]); }", "nc", "|a.0| - |i|"},
    {"float32[], float32[], int32", "[i](a, b, n) { n += 1; a[i] = b[n]; }", "nc", "|a.0| - |i|"},
    {"float32[], float32[], float32", "[i](a, b, n) { a[i] = b[(int)n]; }", "nc", "|a.0| - |i|"},
    {"float32[], float32[], bool", "[i](a, b, n) { a[i] = b[n]; }", "nn", "|a.0| - |i|; |b.0| - n - 1"},
    {"float32[], int64", "[i](a, s) { if (s >= 0 && s < len(a) - i) a[i + s] = 0; }", "u", ""},
    {"float32[,,,,,,,], float32[]", "[a, b, c, d, e, f, g, h](u, s) { u[a][b][c][d][e][f][g][h] = s[h]; }", "nn",
     "|u.0| - |a|; |u.1| - |b|; |u.2| - |c|; |u.3| - |d|; |u.4| - |e|; |u.5| - |f|; |u.6| - |g|; |u.7| - |h|; |s.0| - |h|"},
    {"float32[]", "[i](a) { float t[4]; t[i & 3] = a[i]; t[i] = 0; a[i] = len(t) == 4 ? t[extent(t, 0) - 1] : 0; }", "uncnu", "|a.0| - |i|"},
    {"float32[]", "f(n) { float t[4]; t[n] = 1; return t[0]; } [i](a) { a[i] = f(i); }", "cun", "|a.0| - |i|"},
};
/* clang-format on */

/* The tree's needs as the table has them. */
static bool needs_text(const tree *t, char *out, size_t size) {
    text printed = {0};
    size_t n = 0;
    lang_print(&printed, t);
    if (printed.failed)
        return false;
    for (const char *s = strstr(printed.data, "\nneeds "); s; s = strstr(s + 1, "\nneeds "))
        n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? "; " : "", (int)(strstr(s, " >= 0") - s - 7), s + 7);
    out[n] = 0;
    text_free(&printed);
    return true;
}

static void test_needs(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(needs_table); i++) {
        arena a = {0};
        tree *t;
        char got[64], needs[1024];
        if (lang_try_kernel(&a, needs_table[i].parameters, needs_table[i].source, &t))
            fail_msg("%s: %s", needs_table[i].source, uf_last_error()->message);
        if (tree_fault(t))
            fail_msg("%s: %s", needs_table[i].source, tree_fault(t));
        assert_true(accesses(t, got, sizeof got) && needs_text(t, needs, sizeof needs));
        if (strcmp(got, needs_table[i].expected) != 0 || strcmp(needs, needs_table[i].needs) != 0) {
            print_error("%s %s\n  %s, not %s: %s\n", needs_table[i].parameters, needs_table[i].source, got,
                        needs_table[i].expected, needs);
            wrong++;
        }
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* More arrays than there is room for in needs: what is beyond stays checked. */
static void test_many_needs(void **state) {
    text parameters = {0}, source = {0};
    arena a = {0};
    tree *t;
    char got[64], expected[64] = {0};
    (void)state;
    text_puts(&source, "[i](");
    for (int k = 0; k < 40; k++) {
        text_puts(&parameters, k ? ", int8[]" : "int8[]");
        text_printf(&source, "%sa%d", k ? ", " : "", k);
        expected[k] = k < 32 ? 'n' : 'c';
    }
    text_puts(&source, ") { ");
    for (int k = 0; k < 40; k++)
        text_printf(&source, "a%d[i] = 1; ", k);
    text_puts(&source, "}");
    assert_int_equal(lang_try_kernel(&a, parameters.data, source.data, &t), UF_OK);
    assert_true(accesses(t, got, sizeof got));
    assert_string_equal(got, expected);
    assert_int_equal(t->nneeds, 32);
    int64_t sizes[41];
    for (int k = 0; k < 41; k++)
        sizes[k] = 7;
    assert_true(lang_needs_hold(t, sizes, NULL, false));
    sizes[32] = 6;
    assert_false(lang_needs_hold(t, sizes, NULL, false));
    sizes[32] = 7;
    sizes[33] = 6;
    assert_true(lang_needs_hold(t, sizes, NULL, false));
    text_free(&parameters);
    text_free(&source);
    arena_free(&a);
}

/* Products that no 64 bits hold are exact, and those that nothing holds are not taken to hold. */
static void test_large_needs(void **state) {
    arena a = {0};
    tree *t;
    (void)state;
    assert_int_equal(lang_try_kernel(&a, "int8[]", "[i : n, j : m](a) { a[i * m + j] = 0; }", &t), UF_OK);
    assert_int_equal(t->nneeds, 1);
    assert_true(lang_needs_hold(t, (int64_t[]){INT32_MAX, INT32_MAX, (int64_t)INT32_MAX * INT32_MAX}, NULL, false));
    assert_false(
        lang_needs_hold(t, (int64_t[]){INT32_MAX, INT32_MAX, (int64_t)INT32_MAX * INT32_MAX - 1}, NULL, false));
    assert_false(lang_needs_hold(t, (int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32, INT64_MAX}, NULL, false));
    assert_int_equal(lang_try_kernel(&a, "int8[]", "[i : n, j : m, k : l](a) { a[(i * m + j) * l + k] = 0; }", &t),
                     UF_OK);
    assert_true(lang_needs_hold(t, (int64_t[]){1000, 1000, 1000, 1000000000}, NULL, false));
    assert_false(lang_needs_hold(t, (int64_t[]){1000, 1000, 1000, 999999999}, NULL, false));
    assert_false(lang_needs_hold(t, (int64_t[]){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, NULL, false));
    arena_free(&a);
}

/* ---- Random loops ---- */

__extension__ typedef __int128 wide;

static uint64_t random_state;
static uint64_t random_bits(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    uint64_t high = random_state >> 32;
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return high << 32 | random_state >> 32;
}
static int64_t below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }
static bool chance(int percent) { return below(100) < percent; }

/* An expression of int32 and int64 values, as C types it. */
typedef struct expr {
    char op;     /* 'n' number, 'v' variable, + - * / % < = !, 'm' min, 'M' max, '?', '&' (&&) */
    bool narrow; /* int32 */
    int64_t value;
    const struct expr *a, *b, *c;
} expr;

enum {
    VARIABLES = 12, /* 0 m, 1 n, then what loops and declarations make */
    EXPRS = 400,
    STEPS = 8
};

/* What stands around the access, outermost first. */
typedef struct wrap {
    enum {
        WRAP_FORALL,  /* variable : a */
        WRAP_FOR,     /* variable = a; variable relation b; variable += step */
        WRAP_IF,      /* a */
        WRAP_SKIP,    /* if (a) continue */
        WRAP_DECLARE, /* variable = a */
        WRAP_ASSIGN   /* variable = a */
    } kind;
    int variable, step;
    bool narrow, reaches;
    const expr *a, *b;
} wrap;

typedef struct kernel {
    expr pool[EXPRS];
    int npool, nvariables, nwraps, target;
    bool narrow[VARIABLES], fixed[VARIABLES];
    wrap wraps[STEPS];
    const expr *index;
    text source;
} kernel;

static expr *expr_new(kernel *k, char o, const expr *a, const expr *b, const expr *c) {
    assert_true(k->npool < EXPRS);
    expr *e = &k->pool[k->npool++];
    *e = (expr){.op = o, .a = a, .b = b, .c = c};
    bool of_a = a && o != '?'; /* the condition has no part in it */
    e->narrow = (!of_a || a->narrow) && (!b || b->narrow) && (!c || c->narrow);
    if (o == '<' || o == '=' || o == '!' || o == '&')
        e->narrow = true; /* a truth is promoted to int32 */
    return e;
}

static const expr *number_expr(kernel *k, int64_t value) {
    expr *e = expr_new(k, 'n', NULL, NULL, NULL);
    e->value = value;
    return e;
}

static const expr *variable_expr(kernel *k, int v) {
    expr *e = expr_new(k, 'v', NULL, NULL, NULL);
    e->value = v;
    e->narrow = k->narrow[v];
    return e;
}

static const expr *random_condition(kernel *k, int depth);

static const expr *random_expr(kernel *k, int depth) {
    static const char operators[] = "+++++-----**/%%mM??";
    if (depth == 0 || chance(25))
        return chance(25) ? number_expr(k, below(5)) : variable_expr(k, (int)below(k->nvariables));
    char o = operators[below(sizeof operators - 1)];
    if (o == '?') {
        const expr *when = random_condition(k, depth - 1), *yes = random_expr(k, depth - 1);
        return expr_new(k, o, when, yes, random_expr(k, depth - 1));
    }
    const expr *a = random_expr(k, depth - 1);
    return expr_new(k, o, a, o != '*' && o != '/' ? random_expr(k, depth - 1) : number_expr(k, below(4)), NULL);
}

static const expr *random_condition(kernel *k, int depth) {
    static const char relations[] = "<<<=!&";
    char o = relations[below(depth > 0 ? 6 : 5)];
    if (o == '&') {
        const expr *a = random_condition(k, depth - 1);
        return expr_new(k, o, a, random_condition(k, depth - 1), NULL);
    }
    const expr *a = random_expr(k, depth > 0 ? 1 : 0);
    return expr_new(k, o, a, random_expr(k, depth > 0 ? 1 : 0), NULL);
}

static void variable_print(text *out, int64_t v) {
    if (v < 2)
        text_puts(out, v ? "n" : "m");
    else
        text_printf(out, "v%d", (int)v);
}

static void expr_print(text *out, const expr *e) {
    switch (e->op) {
    case 'n':
        text_printf(out, "%d", (int)e->value);
        return;
    case 'v':
        variable_print(out, e->value);
        return;
    case 'm':
    case 'M':
        text_puts(out, e->op == 'm' ? "min(" : "max(");
        break;
    default:
        text_puts(out, "(");
    }
    expr_print(out, e->a);
    const char *sign = e->op == '=' ? " == " : e->op == '!' ? " != " : e->op == '&' ? " && " : NULL;
    if (e->op == 'm' || e->op == 'M')
        sign = ", ";
    if (sign)
        text_puts(out, sign);
    else
        text_printf(out, " %c ", e->op);
    expr_print(out, e->b);
    if (e->c) {
        text_puts(out, " : ");
        expr_print(out, e->c);
    }
    text_puts(out, ")");
}

static int64_t wrapped(uint64_t value, bool narrow) { return narrow ? (int32_t)(uint32_t)value : (int64_t)value; }

static int64_t divide(int64_t a, int64_t b, bool remainder) {
    if (b == 0)
        return 0;
    if (b == -1)
        return remainder ? 0 : (int64_t)(0 - (uint64_t)a);
    return remainder ? a % b : a / b;
}

static int64_t evaluate(const expr *e, const int64_t *values) {
    if (e->op == 'n')
        return e->value;
    if (e->op == 'v')
        return values[e->value];
    int64_t a = evaluate(e->a, values), b;
    if (e->op == '?')
        return evaluate(a ? e->b : e->c, values);
    if (e->op == '&')
        return a && evaluate(e->b, values);
    b = evaluate(e->b, values);
    switch (e->op) {
    case '+':
        return wrapped((uint64_t)a + (uint64_t)b, e->narrow);
    case '-':
        return wrapped((uint64_t)a - (uint64_t)b, e->narrow);
    case '*':
        return wrapped((uint64_t)a * (uint64_t)b, e->narrow);
    case '/':
    case '%':
        return wrapped((uint64_t)divide(a, b, e->op == '%'), e->narrow);
    case '<':
        return a < b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case 'm':
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

/* ---- The kernel around a random index ---- */

enum {
    OVER_INDICES = 5, /* [v2 : m, v3 : n](y, x), with v4 the length of y */
    TARGETS
};

static const char *const layouts[] = {"(m),(n)->(n)",   "(m),(n)->(m+n-1)", "(m),(n)->(m*n)",
                                      "(m),(n)->(n/2)", "(m),(n)->(3)",     "float32[], float32[]"};

/* The extent of y; below 0: the call is refused. */
static wide extent_of(int target, const int64_t *sizes) {
    wide m = sizes[0], n = sizes[1];
    switch (target) {
    case 0:
        return n;
    case 1:
        return m + n > INT64_MAX ? -1 : m + n - 1;
    case 2:
        return m * n > INT64_MAX ? -1 : m * n;
    case 3:
        return n / 2;
    case OVER_INDICES:
        return sizes[4];
    default:
        return 3;
    }
}

/* An extent near the target's, or anything. */
static const expr *random_extent(kernel *k) {
    const expr *m = variable_expr(k, 0), *n = variable_expr(k, 1);
    switch (chance(30) ? -1 : k->target) {
    case 0:
        return n;
    case 1:
        return expr_new(k, '-', expr_new(k, '+', m, n, NULL), number_expr(k, 1), NULL);
    case 2:
        return chance(50) ? expr_new(k, '*', m, n, NULL) : chance(50) ? m : n;
    case 3:
        return expr_new(k, '/', n, number_expr(k, 2), NULL);
    case 4:
        return number_expr(k, 3);
    case OVER_INDICES:
        return variable_expr(k, 4);
    default:
        return random_expr(k, 2);
    }
}

static int variable_new(kernel *k, bool narrow, bool fixed) {
    k->narrow[k->nvariables] = narrow;
    k->fixed[k->nvariables] = fixed;
    return k->nvariables++;
}

static void random_wrap(kernel *k, bool skip) {
    wrap *w = &k->wraps[k->nwraps++];
    int kind = (int)below(10);
    bool narrow = chance(20);
    *w = (wrap){.step = chance(70) ? 1 : 1 + (int)below(4), .narrow = narrow, .reaches = chance(30)};
    if (kind < 3) {
        w->kind = WRAP_FORALL;
        w->a = random_extent(k);
        w->variable = variable_new(k, false, true);
    } else if (kind < 6) {
        w->kind = WRAP_FOR;
        w->a = chance(60) ? number_expr(k, below(3)) : random_expr(k, 1);
        w->b = chance(70) ? random_extent(k) : random_expr(k, 1);
        if (chance(35)) {
            const expr *swap = w->a;
            w->step = -w->step;
            w->a = expr_new(k, '-', w->b, number_expr(k, 1), NULL);
            w->b = swap;
            w->reaches |= chance(50);
        }
        w->variable = variable_new(k, narrow, false);
    } else if (kind < 8) {
        w->kind = skip && chance(50) ? WRAP_SKIP : WRAP_IF;
        w->a = random_condition(k, 2);
    } else {
        w->kind = WRAP_DECLARE;
        w->a = random_expr(k, 2);
        w->variable = variable_new(k, narrow, false);
    }
}

static void wrap_print(const wrap *w, text *out) {
    const char *type = w->narrow ? "int" : "int64";
    switch (w->kind) {
    case WRAP_FORALL:
        text_printf(out, "forall (v%d : ", w->variable);
        expr_print(out, w->a);
        text_puts(out, ") {\n");
        return;
    case WRAP_FOR:
        text_printf(out, "for (%s v%d = ", type, w->variable);
        expr_print(out, w->a);
        text_printf(out, "; v%d %c%s ", w->variable, w->step > 0 ? '<' : '>', w->reaches ? "=" : "");
        expr_print(out, w->b);
        text_printf(out, "; v%d += %d) {\n", w->variable, w->step);
        return;
    case WRAP_DECLARE:
        text_printf(out, "{ %s v%d = ", type, w->variable);
        break;
    case WRAP_ASSIGN:
        text_printf(out, "{ v%d = ", w->variable);
        break;
    default:
        text_puts(out, "if (");
        expr_print(out, w->a);
        text_puts(out, w->kind == WRAP_IF ? ") {\n" : ") continue; {\n");
        return;
    }
    expr_print(out, w->a);
    text_puts(out, ";\n");
}

static void random_kernel(kernel *k) {
    *k = (kernel){.nvariables = 2, .target = chance(50) ? OVER_INDICES : (int)below(TARGETS)};
    for (int i = 0; i < 3 && k->target == OVER_INDICES; i++)
        variable_new(k, false, true);
    bool in_for = false;
    int wraps = 1 + (int)below(STEPS - 2);
    while (k->nwraps < wraps) {
        random_wrap(k, in_for);
        const wrap *last = &k->wraps[k->nwraps - 1];
        if (last->kind == WRAP_FOR || last->kind == WRAP_FORALL)
            in_for = last->kind == WRAP_FOR;
    }
    /* Now and then a variable changes before it is used. */
    const wrap *last = &k->wraps[k->nwraps - 1];
    if (last->kind == WRAP_DECLARE && chance(30))
        k->wraps[k->nwraps++] = (wrap){.kind = WRAP_ASSIGN, .variable = last->variable, .a = random_expr(k, 1)};
    k->index = random_expr(k, 2);
    text_puts(&k->source,
              k->target == OVER_INDICES ? "[v2 : m, v3 : n](y, x) {\nconst int64 v4 = len(y);\n" : "(x, z) -> (y) {\n");
    for (int i = 0; i < k->nwraps; i++)
        wrap_print(&k->wraps[i], &k->source);
    text_puts(&k->source, "y[");
    expr_print(&k->source, k->index);
    text_puts(&k->source, "] = 1;\n");
    for (int i = 0; i < k->nwraps; i++)
        text_puts(&k->source, "}");
    text_puts(&k->source, "}");
}

/* ---- Trying it ---- */

static int64_t random_size(void) {
    static const int64_t sizes[] = {
        0, 1, 2, 3, 4, 7, INT32_MAX - 1, INT32_MAX, INT64_MAX, INT64_MAX - 1, INT64_MAX / 2, INT64_MAX / 2 + 1, 1000};
    return chance(80) ? sizes[below((int64_t)COUNT(sizes))] : (int64_t)(random_bits() >> (1 + below(62)));
}

static bool goes_on(const wrap *w, wide value, int64_t limit) {
    if (w->step > 0)
        return value < limit || (w->reaches && value == limit);
    return value > limit || (w->reaches && value == limit);
}

/* Some value that the counter has in the body, if any: one of the first, the last, or what follows where it wraps. */
static bool for_value(const wrap *w, int64_t *values) {
    int64_t start = wrapped((uint64_t)evaluate(w->a, values), w->narrow), limit = evaluate(w->b, values);
    wide span, count, edge = w->step > 0 ? (w->narrow ? INT32_MAX : INT64_MAX) : (w->narrow ? INT32_MIN : INT64_MIN);
    if (!goes_on(w, start, limit))
        return false;
    wide last = w->step > 0 ? (wide)limit - !w->reaches : (wide)limit + !w->reaches;
    bool wraps = w->step > 0 ? last > edge - w->step : last < edge - w->step;
    if (w->step > 0 ? last > edge : last < edge)
        last = edge;
    span = (last - start) / w->step;
    count = chance(30)   ? 0
            : chance(40) ? span
            : span       ? (wide)(random_bits() % ((uint64_t)span + (span < UINT64_MAX)))
                         : 0;
    wide value = start + (wide)w->step * count;
    int64_t around = wrapped((uint64_t)(start + (wide)w->step * (span + 1)), w->narrow);
    if (wraps && chance(40) && goes_on(w, around, limit))
        value = around;
    values[w->variable] = (int64_t)value;
    return true;
}

/* Comes to the access with some values, or does not come to it. */
static bool reach(const kernel *k, int64_t *values) {
    for (int i = 0; i < k->nwraps; i++) {
        const wrap *w = &k->wraps[i];
        int64_t value = w->kind == WRAP_FOR ? 0 : evaluate(w->a, values);
        switch (w->kind) {
        case WRAP_FORALL:
            if (value <= 0)
                return false;
            values[w->variable] = chance(30) ? 0 : chance(50) ? value - 1 : below(value);
            break;
        case WRAP_FOR:
            if (!for_value(w, values))
                return false;
            break;
        case WRAP_IF:
            if (!value)
                return false;
            break;
        case WRAP_SKIP:
            if (value)
                return false;
            break;
        default:
            values[w->variable] = wrapped((uint64_t)value, k->narrow[w->variable]);
        }
    }
    return true;
}

/* Indices of a point, and the length of y: near what a need may ask for. False: there is no point, or the needs do not hold. */
static bool point(const tree *t, int64_t *values) {
    wide m = values[0], n = values[1];
    const wide near[] = {m, n, m + n, 2 * m, m * n, random_size(), 4, m - n};
    wide length = near[below((int64_t)COUNT(near))] + below(4) - 1;
    if (m < 1 || n < 1 || length < 0 || length > INT64_MAX)
        return false;
    values[2] = chance(30) ? 0 : chance(50) ? values[0] - 1 : below(values[0]);
    values[3] = chance(30) ? 0 : chance(50) ? values[1] - 1 : below(values[1]);
    values[4] = (int64_t)length;
    return lang_needs_hold(t, (int64_t[]){values[0], values[1], values[4], 0}, NULL, false);
}

/* The number of accesses tried; fails if a proved one lies outside. */
static int64_t try_accesses(const kernel *k, const tree *t) {
    int64_t tried = 0;
    for (int i = 0; i < 300; i++) {
        int64_t values[VARIABLES] = {random_size(), random_size()};
        if (k->target == OVER_INDICES && !point(t, values))
            continue;
        wide extent = extent_of(k->target, values);
        if (extent < 0 || !reach(k, values))
            continue;
        int64_t index = evaluate(k->index, values);
        tried++;
        if (index < 0 || index >= extent)
            fail_msg("%s %s\nindex %lld is proved within %lld, with m %lld, n %lld, %lld %lld %lld %lld",
                     layouts[k->target], k->source.data, (long long)index, (long long)extent, (long long)values[0],
                     (long long)values[1], (long long)values[2], (long long)values[3], (long long)values[4],
                     (long long)values[5]);
    }
    return tried;
}

static void test_random(void **state) {
    const char *seed = getenv("UF_SEED"), *scale = getenv("PROP_N");
    static kernel k;
    int64_t typed = 0, proved = 0, needing = 0, tried = 0, tries = (int64_t)(12000 * (scale ? atof(scale) : 1));
    (void)state;
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    print_message("UF_SEED=%llu\n", (unsigned long long)random_state);
    for (int64_t i = 0; i < tries; i++) {
        arena a = {0};
        tree *t;
        char got[8];
        random_kernel(&k);
        if (k.target == OVER_INDICES
                ? !lang_try_kernel(&a, layouts[k.target], k.source.data, &t)
                : !lang_try_core(&a, layouts[k.target], k.source.data, "float32,float32->float32", &t)) {
            assert_true(accesses(t, got, sizeof got));
            typed++;
            if (strcmp(got, "c") != 0) {
                int64_t n = try_accesses(&k, t);
                proved++;
                needing += got[0] == 'n';
                tried += n;
            }
        } else {
            fail_msg("%s", uf_last_error()->message);
        }
        arena_free(&a);
        text_free(&k.source);
    }
    print_message("%lld kernels, %lld proved, %lld of them by needs, %lld accesses tried\n", (long long)typed,
                  (long long)proved, (long long)needing, (long long)tried);
    assert_true(proved > tries / 20 && needing > tries / 40 && tried > 10 * proved);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_needs),
                                       cmocka_unit_test(test_many_needs), cmocka_unit_test(test_large_needs),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
