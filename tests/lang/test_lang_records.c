/* test_lang_records.c - what records, overloads, several results, array parameters, constants and modules mean: kernels run by the
 * interpreter and by the CPU, beside values that plain C gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "element_module.h"
#include "expect.h"
#include "ir_check.h"
#include "lang_try.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

static code_target host;

/* What the texts use. */
static const char *const modules[] = {
    "interval",
    "struct interval(T) { T lo, hi; };\n"
    "operator + (interval(T) a, interval(T) b) { return (interval(T)){a.lo + b.lo, a.hi + b.hi}; }\n"
    "operator * (interval(T) a, T k) { return k < 0 ? (interval(T)){a.hi * k, a.lo * k} : (interval(T)){a.lo * k, a.hi "
    "* k}; }\n"
    "operator * (T k, interval(T) a) { return a * k; }\n"
    "operator - (interval(T) a) { return (interval(T)){-a.hi, -a.lo}; }\n"
    "operator interval (T x) { return (interval(T)){x, x}; }\n"
    "operator float64 (interval(T) a) { return (a.lo + a.hi) / 2.0; }\n"
    "operator < (interval(T) a, interval(T) b) { return a.hi < b.lo; }\n"
    "sqrt(interval(T) a) { return (interval(T)){sqrt(a.lo), sqrt(a.hi)}; }\n"
    "max(interval(T) a, interval(T) b) { return a.hi < b.hi ? b : a; }\n"
    "width(interval(T) a) { return a.hi - a.lo; }\n",
    "pair",
    "struct pair { int32 a, b; };\n"
    "operator == (pair x, pair y) { return x.a == y.a; }\n"
    "operator % (pair x, int32 n) { return (pair){x.a % n, x.b % n}; }\n"
    "operator << (pair x, int32 n) { return (pair){x.a << n, x.b << n}; }\n"
    "operator ! (pair x) { return x.a == 0 && x.b == 0; }\n"
    "operator ~ (pair x) { return (pair){x.b, x.a}; }\n"
    "width(pair p) { return p.a + p.b; }\n"
    "const scale = 0.5, base = 10;\n"
    "const int16 steps[3] = {1, 2, 4};\n"
    "step(i) { return steps[i]; }\n",
    NULL};

/* A kernel of two float64, x and y, with up to three results. The texts see what `use` has before. */
typedef struct meaning {
    const char *source;
    double in[2], out[3];
} meaning;

/* clang-format off */
static const meaning meanings[] = {
    /* ---- Records ---- */
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p = {x, y}; u = p.a; v = p.n; }", {1.5, 2.75}, {1.5, 2}},
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p; u = p.a; v = p.n; }", {1, 2}, {0, 0}},
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p = {.n = y}; u = p.a; v = p.n; }", {1, 2}, {0, 2}},
    {"struct P { float64 a, b, c; }; (x, y) -> (u, v, w) { P p = {.b = x, y}; u = p.a; v = p.b; w = p.c; }", {1, 2}, {0, 1, 2}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p = {x, y}; p = (P){p.b, p.a}; u = p.a; v = p.b; }", {1, 2}, {2, 1}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p = {x, y}, q; q = p; p.a = 7; u = q.a; v = p.a; }", {1, 2}, {1, 7}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p, q; p = q = (P){x, y}; u = p.a + q.a; v = p.b; }", {1, 2}, {2, 2}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p = {x, y}; auto q = x > y ? p : (P){9, 8}; u = q.a; v = q.b; }", {1, 2}, {9, 8}},
    {"struct P { float64 a, b; }; (x, y) { return ((P){x, y}).b; }", {1, 2}, {2}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p = {x, y}, q = p; u = p == q; q.b++; v = p == q; }", {1, 2}, {1, 0}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p = {x, y}, q = p; u = p != q; q.b++; v = p != q; }", {1, 2}, {0, 1}},
    {"struct P { float64 a, b; }; (x, y) -> (u, v) { P p = {NAN, y}; u = p == p; v = p != p; }", {1, 2}, {0, 1}},
    {"struct Q { float64 a; }; struct P { Q l, r; int8 n; }; (x, y) -> (u, v, w) { P p = {{x}, {y}, 3}; p.l = p.r; p.r.a *= 5; u = p.l.a; v = p.r.a; w = p.n; }", {1, 2}, {2, 10, 3}},
    {"struct P { Q l; }; struct Q { float64 a; }; (x, y) { return (P){(Q){y}}.l.a; }", {1, 2}, {2}},
    {"struct P { float64 m[2][2]; }; (x, y) -> (u, v) { P p = {{{x, y}, {3}}}; p.m[1][1] = 4; u = p.m[0][0] + 10 * p.m[0][1] + 100 * p.m[1][0] + 1000 * p.m[1][1]; int i = 1; v = p.m[i][0] + p.m[0][i] * 10; }", {1, 2}, {4321, 23}},
    {"struct P { float64 v[3]; }; (x, y) -> (u, v) { P p = {{1, 2, 3}}; int i = y; p.v[i] = 7; u = p.v[i]; v = p.v[0] + 10 * p.v[1] + 100 * p.v[2]; }", {1, 2}, {7, 721}},
    {"struct P { float64 v[3]; }; (x, y) -> (u, v) { P p = {{1, 2, 3}}; int i = y; u = p.v[i] = 7; v = p.v[0] + 10 * p.v[1] + 100 * p.v[2]; }", {1, 3}, {7, 321}},
    {"struct P { float64 v[3]; }; (x, y) -> (u, v) { P p = {{1, 2, 3}}; int i = y; u = p.v[i]; p.v[i] += 5; v = p.v[0] + 10 * p.v[1] + 100 * p.v[2]; }", {1, -1}, {0, 321}},
    {"struct P { float64 v[3]; }; (x, y) -> (u, v) { P p = {{1, 2, 3}}; int i = 0; p.v[i++] += 5; u = i; v = p.v[0] + 10 * p.v[1] + 100 * p.v[2]; }", {1, 2}, {1, 326}},
    {"struct P { float64 v[3]; }; (x, y) -> (u, v) { P p = {{1, 2, 3}}; int i = y; u = p.v[i]++; v = p.v[0] + 10 * p.v[1] + 100 * p.v[2]; }", {1, 2}, {3, 421}},
    {"struct P { float64 v[3]; }; (x, y) -> (u, v) { P p = {{1, 2, 3}}; int i = y; u = --p.v[i]; v = p.v[0] + 10 * p.v[1] + 100 * p.v[2]; }", {1, 1}, {1, 311}},
    {"struct P { int8 v[2]; }; (x, y) -> (u, v) { P p = {{127, 1}}; int i = 0; u = p.v[i]++; v = p.v[0]; }", {1, 1}, {127, -128}},
    {"struct P { int8 n; }; (x, y) -> (u, v) { P p = {127}; u = p.n += 1; v = p.n++; }", {1, 1}, {-128, -128}},
    {"struct P { int8 v[2]; }; (x, y) -> (u, v) { P p = {{100, 1}}; int i = 0; u = p.v[i] += 100; v = p.v[0]; }", {1, 1}, {-56, -56}},
    {"struct P { int8 v[2]; }; (x, y) -> (u, v) { P p = {{100, 1}}; int i = 5; u = p.v[i] = 100; v = p.v[0]; }", {1, 1}, {100, 100}},
    {"struct Q { float64 a; int32 n; }; struct P { Q q[3]; }; (x, y) -> (u, v, w) { P p = {{{1, 2}, {3, 4}}}; int i = x; p.q[i] = (Q){9, 8}; u = p.q[0].a + 10 * p.q[1].a; v = p.q[i].n; w = p.q[1 - i].n; }", {1, 2}, {91, 8, 2}},
    /* Arrays of records. */
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p[3] = {{x, 1}, {y, 2}}; int i = 0; p[i++].a = 5; p[i].n = 6; u = p[0].a + 10 * p[1].a + 100 * p[2].a; v = p[0].n + 10 * p[1].n; }", {1, 2}, {25, 61}},
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p[2][2] = {{{1, 2}}, {{3, 4}, {5, 6}}}; u = p[1][1].a + p[1][(int)x].n * 10; v = p[2][0].a + p[0][5].n; }", {1, 2}, {65, 0}},
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p[3]; p[1] = (P){x, y}; p[7] = p[1]; auto q = p[1]; u = q.a + p[7].a; v = q.n; }", {1, 2}, {1, 2}},
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p[2] = {{1, 2}, {3, 4}}; auto t = p[0]; p[0] = p[1]; p[1] = t; u = p[0].a * 10 + p[1].a; v = p[0].n * 10 + p[1].n; }", {1, 2}, {31, 42}},
    {"struct P { float64 v[2]; }; (x, y) -> (u, v) { P p[2] = {{{1, 2}}, {{3, 4}}}; int i = x, j = y; p[i].v[j] = 7; u = p[0].v[0] + 10 * p[0].v[1] + 100 * p[1].v[0] + 1000 * p[1].v[1]; v = p[i].v[j] + p[i].v[1 - j]; }", {1, 0}, {4721, 11}},
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { const P t[] = {{1, 2}, {3, 4}, {5, 6}}; u = t[1].a; v = len(t) + t[(int)y].n; }", {1, 2}, {3, 9}},
    /* Evaluation order. */
    {"struct P { float64 a; int32 n; }; (x, y) -> (u, v) { P p[3]; int i = 0; p[i] = (P){i++, i++}; u = p[0].a + 10 * p[0].n; v = p[1].n + p[2].n + 10 * i; }", {1, 2}, {10, 20}},
    {"struct P { int32 a, n; }; (x, y) -> (u, v) { P p = {1, 2}; u = p == (p = (P){3, 4}); v = p.a; }", {1, 2}, {0, 3}},
    {"struct P { int32 a, n; }; operator - (P p, P q) { return (P){p.a - q.a, p.n - q.n}; } (x, y) -> (u, v) { P p = {1, 2}; auto d = p - (p = (P){4, 8}); u = d.a; v = d.n; }", {1, 2}, {-3, -6}},
    {"struct P { int32 a, n; }; operator - (P p, P q) { return (P){p.a - q.a, p.n - q.n}; } (x, y) -> (u, v) { P p[2] = {{1, 2}, {4, 8}}; int i = 0; auto d = p[i] - p[++i]; u = d.a; v = d.n; }", {1, 2}, {-3, -6}},
    {"struct P { int32 a, n; }; operator - (P p, P q) { return (P){p.a - q.a, p.n - q.n}; } (x, y) -> (u, v) { P p[2] = {{1, 2}, {4, 8}}; int i = 0; p[i] -= p[++i]; u = p[0].a * 100 + p[0].n; v = p[1].a * 100 + p[1].n; }", {1, 2}, {-306, 408}},
    {"struct P { int32 a, n; }; f(P p, P q) { return p.a * 1000 + p.n * 100 + q.a * 10 + q.n; } (x, y) -> (u, v) { P p = {1, 2}; u = f(p, p = (P){3, 4}); v = 0; }", {1, 2}, {1234, 0}},
    {"struct P { int32 v[2]; }; (x, y) -> (u, v) { P p = {{5, 6}}; int i = 0; p.v[i] = ++i; u = p.v[0]; v = p.v[1]; }", {1, 2}, {1, 6}},
    {"struct P { int32 v[2]; }; (x, y) -> (u, v) { P p = {{5, 6}}; int i = 0; u = p.v[i] + (p.v[i] = 9) + p.v[0] * 100; v = p.v[1]; }", {1, 2}, {914, 6}},
    {"struct P { int32 a; }; (x, y) -> (u, v) { P p = {5}; u = p.a + (p.a = 9) + p.a * 100; v = p.a; }", {1, 2}, {914, 9}},
    {"struct P { int32 a, b; }; (x, y) -> (u, v) { P p = {5, 6}; int i = 0; while (i++ < 9 && (p = (P){p.a - 1, p.b + i}) != (P){2, 12}) ; u = p.a; v = i; }", {1, 2}, {2, 3}},
    {"struct P { int32 a, b; }; (x, y) -> (u, v) { P p = {0, 0}; for (P q = {0, 3}; q.a < q.b; q = (P){q.a + 1, q.b}) p = (P){p.a + q.a, p.b + 1}; u = p.a; v = p.b; }", {1, 2}, {3, 3}},
    {"struct P { int32 a, b; }; (x, y) -> (u, v) { P p = {0, 0}; for (P q = {0, 3}; q.a < q.b; q.a++) { if (q.a == 1) continue; p.b += q.a; } u = p.a; v = p.b; }", {1, 2}, {0, 2}},
    {"struct P { int32 a, b; }; (x, y) -> (u, v) { int i = 0; P p = x > 5 ? (P){i++, 1} : (P){2, i--}; u = p.a * 10 + p.b; v = i; }", {1, 2}, {20, -1}},
    /* ---- Helpers over records ---- */
    {"struct P { float64 a, b; }; f(P p) { if (p.a > 1) return p; return (P){p.b, 9}; } (x, y) -> (u, v) { auto p = f(f((P){x, y})); u = p.a; v = p.b; }", {1, 2}, {2, 9}},
    {"struct P { float64 a, b; }; f(p) { p.a = 8; return p; } (x, y) -> (u, v) { P p = {x, y}; u = f(p).a; v = p.a; }", {1, 2}, {8, 1}},
    {"struct P { float64 a; }; f(p) { return (P){p.a + 1}; } (x, y) -> (u, v) { u = f(f((P){x})).a; v = 0; }", {1, 2}, {3, 0}},
    {"struct P { float64 a, b; }; f(x) { P p; while (1) { if (p.a > x) return p; p.a++; } } (x, y) -> (u, v) { u = f(y).a; v = 0; }", {1, 2}, {3, 0}},
    {"struct P(T) { T a, b; }; f(P(T) p, T k) { return (P(T)){p.a * k, p.b}; } (x, y) -> (u, v) { auto p = f((P(float32)){0.1, 2}, 2), q = f((P(int64)){100, 2}, 2); u = p.a == (float32)0.1 * 2; v = q.a; }", {1, 2}, {1, 200}},
    {"struct P(T) { T a, b; }; g(P(T) p) { T t = 7.9; return t + p.a; } (x, y) -> (u, v) { u = g((P(int32)){x, y}); v = g((P(float64)){x, y}); }", {1, 2}, {8, 8.9}},
    {"struct P(T) { T a, b; }; struct Q(T) { P(T) l, r; }; f(Q(T) q) { return q.l.a + q.r.b; } (x, y) -> (u, v) { u = f((Q(float64)){{x, y}, {x, y}}); P(P(int8)) p = {{1, 2}, {3, 4}}; v = p.b.a; }", {1, 2}, {3, 3}},
    {"use interval; (x, y) -> (u, v) { auto a = (interval(float64)){x, y} + 1; u = a.lo; v = a.hi; }", {1, 2}, {2, 3}},
    {"use interval; (x, y) -> (u, v) { auto a = 1 + (interval(float32)){x, y}; u = a.lo; v = a.hi; }", {1, 2}, {2, 3}},
    {"use interval; (x, y) -> (u, v) { auto a = 2 * (interval(float64)){x, y}; a *= -1; u = a.lo; v = a.hi; }", {1, 2}, {-4, -2}},
    {"use interval; (x, y) -> (u, v) { interval(float64) a = {x, y}; a += a; a += 0.5; u = a.lo; v = -(-a).lo; }", {1, 2}, {2.5, 4.5}},
    {"use interval; (x, y) -> (u, v) { interval(float64) a = {x, y}; u = (float64)a; v = (int)(float64)a; }", {1, 2}, {1.5, 1}},
    {"use interval; (x, y) -> (u, v) { interval(float64) a = x; auto b = (interval(float32))y; u = a.hi; v = b.lo; }", {1, 2}, {1, 2}},
    {"use interval; (x, y) -> (u, v) { interval(float64) a[2] = {x, {3, y}}; u = a[0].hi; v = a[1].lo; a[1] = x; v += a[1].lo; }", {1, 2}, {1, 4}},
    {"use interval; (x, y) -> (u, v) { interval(float64) a = {x, y}; u = a < a + 5; v = sqrt(a * 4).lo; }", {1, 2}, {1, 2}},
    {"use interval; (x, y) -> (u, v) { interval(float64) a = {x, y}; u = max(a, a + 1).lo; v = max(x, y); }", {1, 2}, {2, 2}},
    {"use interval; f(a) { return width(a); } (x, y) -> (u, v) { u = f((interval(float64)){x, y}); v = 0; }", {1, 2}, {1, 0}},
    {"use interval; (x, y) -> (u, v) { auto a = x < y ? (interval(float64)){x, y} : 1; u = a.lo; v = a.hi; }", {1, 2}, {1, 2}},
    {"use interval, pair; (x, y) -> (u, v) { u = width((interval(float64)){x, y}); v = width((pair){3, 4}); }", {1, 2}, {1, 7}},
    {"use pair; (x, y) -> (u, v, w) { pair p = {x, y}, q = {x, 9}; u = p == q; v = p != q; w = width(p % 2) + width(p << 3); }", {1, 2}, {1, 0, 25}},
    {"use pair; (x, y) -> (u, v, w) { pair p = {x, y}; u = !p; v = !(pair){}; w = (~p).a; }", {1, 2}, {0, 1, 2}},
    {"use pair; (x, y) -> (u, v, w) { pair p = {x, 15}; p <<= 1; p %= 4; u = p.a; v = p.b; w = 0; }", {1, 2}, {2, 2, 0}},
    /* ---- Overloads ---- */
    {"f(int32 a) { return 1; } f(float64 a) { return 2; } f(a) { return 3; } (x, y) -> (u, v, w) { u = f((int32)x); v = f(x); w = f((int8)x); }", {1, 2}, {1, 2, 3}},
    {"f(T a, T b) { return 1; } f(a, b) { return 2; } (x, y) -> (u, v) { u = f(x, y); v = f(1.5f, (int8)1); }", {1, 2}, {1, 1}},
    {"f(float64 a, b) { return 1; } f(a, b) { return 2; } (x, y) -> (u, v) { u = f(x, 1); v = f(1, x); }", {1, 2}, {1, 2}},
    {"f(a) { return 1; } f(a, b) { return 2; } (x, y) -> (u, v) { u = f(x); v = f(x, y); }", {1, 2}, {1, 2}},
    {"sqrt(x) { return 7; } (x, y) -> (u, v) { u = sqrt(x); v = sqrt(4); }", {1, 2}, {7, 7}},
    {"struct P { float64 a; }; struct Q { float64 a; }; operator P (float64 x) { return (P){x}; } operator Q (float64 x) { return (Q){x}; } sqrt(P p) { return p; } sqrt(Q q) { return q; } (x, y) -> (u, v) { u = sqrt(x); v = sqrt((P){y}).a; }", {4, 4}, {2, 4}},
    {"sqrt(int32 x) { return 7; } (x, y) -> (u, v) { u = sqrt(x); v = sqrt((int32)4); }", {4, 2}, {2, 7}},
    {"max(a, b, c) { return max(max(a, b), c); } (x, y) -> (u, v) { u = max(x, y, 5); v = max(x, y); }", {1, 2}, {5, 2}},
    {"f(float32 x) { return x; } (x, y) -> (u, v) { u = f(0.1) == 0.1f; v = f(x) == (float32)x; }", {0.3, 2}, {1, 1}},
    {"f(int8 x) { return x; } (x, y) -> (u, v) { u = f(300); v = f(x); }", {2.9, 2}, {44, 2}},
    {"f(T x) { return (T)2.5; } (x, y) -> (u, v) { u = f((int8)1); v = f(x); }", {1, 2}, {2, 2.5}},
    {"f(T x, T y) { T a[2] = {x, y}; return a[0] / a[1]; } (x, y) -> (u, v) { u = f(1, 2); v = f(1.0, 2); }", {1, 2}, {0, 0.5}},
    /* ---- Several results ---- */
    {"divide(a, b) -> (q, r) { q = floor(a / b); r = a - q * b; } (x, y) -> (u, v) { auto (q, r) = divide(x, y); u = q; v = r; }", {7, 2}, {3, 1}},
    {"f(a) -> (int32 q, float32 r) { q = a; r = a; } (x, y) -> (u, v) { auto (q, r) = f(x); u = q; v = r == (float32)x; }", {7.7, 2}, {7, 1}},
    {"f(a) -> (q, r) { q = 1; if (a > 0) return; r = 2.5; } (x, y) -> (u, v) { auto (q, r) = f(x); const auto (s, t) = f(-x); u = q * 10 + r; v = s * 10 + t; }", {7, 2}, {10, 12.5}},
    {"struct P { float64 a, b; }; f(P p) -> (P q, n) { q = (P){p.b, p.a}; n = 3; } (x, y) -> (u, v, w) { auto (q, n) = f((P){x, y}); u = q.a; v = q.b; w = n; }", {1, 2}, {2, 1, 3}},
    {"struct P { float64 a; }; f(a) -> (P q, P r) { q.a = a; r = (P){a + 1}; } (x, y) -> (u, v) { auto (q, r) = f(x); u = q.a; v = r.a; }", {1, 2}, {1, 2}},
    {"f(a) -> (q) { q = a + 1; } (x, y) -> (u, v) { u = f(x); auto (z) = f(y); v = z; }", {1, 2}, {2, 3}},
    {"f(a) -> (q, r) { q = a; r = -a; } g(a) -> (q, r) { auto (s, t) = f(a); q = t; r = s; } (x, y) -> (u, v) { auto (s, t) = g(x); u = s; v = t; }", {1, 2}, {-1, 1}},
    /* ---- Array parameters ---- */
    {"swap(x[n], i, j) { auto t = x[i]; x[i] = x[j]; x[j] = t; } (x, y) -> (u, v) { float64 a[3] = {x, y}; swap(a, 0, 1); u = a[0]; v = a[1]; }", {1, 2}, {2, 1}},
    {"mean(x[n]) { return sum(i : n, x[i]) / n; } (x, y) -> (u, v) { float64 a[4] = {x, y, 3, 6}; u = mean(a); v = mean(a) + 1; }", {1, 2}, {3, 4}},
    {"find(x[n], k) { for (int i = 0; i < n; i++) if (x[i] == k) return i; return -1; } (x, y) -> (u, v) { int a[4] = {4, 5, 6, 7}; u = find(a, x); v = find(a, y) + 10 * find(a, 7); }", {6, 2}, {2, 29}},
    {"sort(x[n]) { for (int i = 1; i < n; i++) for (int j = i; j > 0; j--) { if (x[j - 1] <= x[j]) break; auto t = x[j]; x[j] = x[j - 1]; x[j - 1] = t; } } (x, y) -> (u, v) { float64 a[4] = {3, x, 9, y}; sort(a); u = a[0] + 10 * a[1]; v = a[2] + 10 * a[3]; }", {1, 2}, {21, 93}},
    {"dot(x[n], y[n]) { return sum(i : n, x[i] * y[i]); } norm(x[m]) { return sqrt(dot(x, x)); } (x, y) -> (u, v) { float64 a[2] = {3, 4}, b[2] = {x, y}; u = dot(a, b); v = norm(a); }", {1, 2}, {11, 5}},
    {"fill(a[m][n], k) { for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i][j] = k + i * n + j; } (x, y) -> (u, v) { int a[2][3]; fill(a, 5); u = a[1][2]; v = a[0][0]; }", {1, 2}, {10, 5}},
    {"f(float64 x[n]) { return 1; } f(int32 x[n]) { return 2; } f(T x[n], T k) { return 3; } (x, y) -> (u, v, w) { float64 a[2]; int b[3]; u = f(a); v = f(b); w = f(b, 1); }", {1, 2}, {1, 2, 3}},
    {"struct P { float64 a; int32 n; }; last(p[n]) { return p[n - 1]; } set(p[n], i) { p[i].n = 9; } (x, y) -> (u, v) { P p[2] = {{1, 2}, {3, 4}}; set(p, 1); auto q = last(p); u = q.a; v = q.n; }", {1, 2}, {3, 9}},
    {"add(x[n], k) { int r = 0; while (1) { if (r == n) return r; x[r++] += k; } } (x, y) -> (u, v) { float64 a[2] = {x, y}; u = add(a, 1) + add(a, 10); v = a[0] * 100 + a[1]; }", {1, 2}, {4, 1213}},
    {"bounds(x[n]) -> (lo, hi) { lo = min(i : n, x[i]); hi = max(i : n, x[i]); } (x, y) -> (u, v) { float64 a[3] = {x, 5, y}; auto (l, h) = bounds(a); u = l; v = h; }", {1, 2}, {1, 5}},
    {"get(x[n], i) { return x[i]; } (x, y) -> (u, v) { float64 a[3] = {x, 5, y}; u = sum(i : 3, get(a, i)); v = get(a, 7); }", {1, 2}, {8, 0}},
    {"get(x[n], i) { return x[i]; } (x, y) -> (u, v) { const float64 t[3] = {1, 2, 4}; u = get(t, (int)x); v = get(t, (int)y); }", {1, 2}, {2, 4}},
    {"get(x[n], i) { return x[i]; } const float64 t[3] = {1, 2, 4}; (x, y) -> (u, v) { u = get(t, (int)x); v = get(t, (int)y); }", {1, 2}, {2, 4}},
    {"put(x[n], i, k) { x[i] = k; } (x, y) -> (u, v) { float64 a[4]; forall (i : 4) put(a, i, i * x); u = a[1] + a[2]; v = a[3]; }", {1, 2}, {3, 3}},
    {"one(x[n]) { if (x[0] > 5) return; x[0]++; } (x, y) -> (u, v) { float64 a[1] = {x}; for (int i = 0; i < 9; i++) one(a); u = a[0]; v = 0; }", {1, 2}, {6, 0}},
    /* All of these together. */
    {"find(x[n], k) { for (int i = 0; i < n; i++) if (x[i] == k) return i; return -1; } rev(x[n]) -> (a, b) { float64 t[2]; t[0] = x[n - 1]; t[1] = x[0]; a = t[0]; b = t[1]; } one(x[n]) { auto (a, b) = rev(x); return a * 10 + b; } (x, y) -> (u, v) { float64 t[3] = {x, y, 7}; u = sum(i : 3, find(t, t[i])); v = sum(i : 2, one(t)); }", {1, 4}, {3, 142}},
    {"bump(x[n]) { x[0]++; return x[0]; } (x, y) -> (u, v) { float64 t[3] = {x}; int k = 0; while (bump(t) < 5) k++; u = t[0]; v = k; if (k > 9 && bump(t) > 0) v = 7; v += (k > 2 || bump(t) > 0) + t[0] * 10; }", {1, 4}, {5, 54}},
    {"struct P { float64 a, b; }; ends(x[n]) { if (n < 2) return (P){0, 0}; return (P){x[0], x[n - 1]}; } (x, y) -> (u, v) { float64 t[3] = {x, y, 7}; auto p = ends(t); u = p.a + ends(t).b; v = p.b; }", {1, 4}, {8, 7}},
    {"struct P { float64 a, b; }; f(int32 k) { P p = {1, 2}; switch (k) { case 1: P q = {3, 4}; p = q; break; case 2: return (P){9, 9}; default: p.a = 5; } return p; } (x, y) -> (u, v) { u = f(1).a * 100 + f(2).a * 10 + f(7).a; v = f(1).b; }", {1, 4}, {395, 4}},
    {"struct P { int32 a; }; operator == (P p, P q) { return p.a == q.a; } (x, y) -> (u, v) { P p = {0}; int n = 0; u = x > 5 && (p = (P){n++}) == p; v = n; }", {1, 4}, {0, 0}},
    {"struct P { float64 a, b; }; operator + (P p, P q) { return (P){p.a + q.a, p.b + q.b}; } (x, y) -> (u, v) { P p[4]; forall (i : 4) { P q = {i, x}; q += q; p[i] = q + (P){1, 1}; p[i].b *= 2; } auto s = sum(i : 4, p[i]); u = s.a; v = s.b; }", {1, 4}, {16, 24}},
    {"pop(s[n], t[one]) { if (t[0] == 0) return -1.0; t[0]--; return s[t[0]]; } push(s[n], t[one], v) { if (t[0] == n) return; s[t[0]] = v; t[0]++; } (x, y) -> (u, v) { float64 s[8]; int32 top[1]; push(s, top, x); push(s, top, y); for (int i = 0; i < 20; i++) push(s, top, i); u = pop(s, top); v = 0; while (1) { auto w = pop(s, top); if (w < 0) break; v = v * 2 + w; } }", {1, 4}, {5, 401}},
    /* ---- Constants and tables ---- */
    {"const k = 0.1; (x, y) -> (u, v) { u = k * (float32)x == 0.1f * (float32)x; v = k; }", {3, 2}, {1, 0.1}},
    {"const float64 k = 0.1; (x, y) -> (u, v) { u = _Generic(k * 1.0f, float64: 1, default: 0); v = k; }", {3, 2}, {1, 0.1}},
    {"const a = 2 * b, b = 3; const float64 t[a] = {1, b, a}; (x, y) -> (u, v) { u = t[2]; v = len(t); }", {3, 2}, {6, 6}},
    {"const t[] = {1, 2.5, 3}; (x, y) -> (u, v) { u = t[1]; v = t[(int)x]; }", {3, 2}, {2.5, 0}},
    {"const t[2][2] = {{1, 2}, {3, 4}}; f(i) { return t[i][i]; } (x, y) -> (u, v) { u = f(0); v = t[1][(int)x]; }", {0, 2}, {1, 3}},
    {"use pair; (x, y) -> (u, v, w) { u = step(2); v = steps[(int)x]; w = scale * base; }", {1, 2}, {4, 2, 5}},
    {"const k = 3; (x, y) -> (u, v) { u = k; int k = 5; v = k; }", {1, 2}, {3, 5}},
    {"const k = 3; f(k) { return k; } (x, y) -> (u, v) { u = f(9); v = sum(k : 3, k) + k; }", {1, 2}, {9, 6}},
    {"const base = 2; use_base() { return base; } (x, y) -> (u, v) { u = base; v = use_base(); }", {1, 2}, {2, 2}},
    {"(x, y) -> (u, v) { const k = 0.1; u = k * (float32)x == 0.1f * (float32)x; const auto h = 0.1; v = h * (float32)x == 0.1f * (float32)x; }", {3, 2}, {1, 1}},
    {"(x, y) -> (u, v) { const t[] = {1, 2.5, 3}; u = t[1]; const k = x; v = _Generic(k, float64: k); }", {3, 2}, {2.5, 3}},
    {"(x, y) -> (u, v) { const t[] = {x, 2, 3}; u = t[0] / 2; v = 0; for (const k = 2; v < k; v++) ; }", {3, 2}, {1.5, 2}},
    /* ---- exact ---- */
    {"exact two_sum(a, b) -> (s, e) { s = a + b; auto t = s - a; e = (a - (s - t)) + (b - t); } (x, y) -> (u, v) { auto (s, e) = two_sum(x, y); u = s; v = e; }", {1e16, 1}, {1e16, 1}},
    /* ---- Reductions over records ---- */
    {"use interval; (x, y) -> (u, v) { auto s = sum(i : 3, (interval(float64)){x, i}); u = s.lo; v = s.hi; }", {1, 2}, {3, 3}},
    {"use interval; (x, y) -> (u, v) { auto s = sum(i : 0, (interval(float64)){x, i}); u = s.lo; v = s.hi; }", {1, 2}, {0, 0}},
    {"struct P { float64 a, b; }; both(P p, P q) { return (P){p.a + q.a, p.b * q.b}; } (x, y) -> (u, v) { auto s = reduce(both, i : 3, (P){x, y + i}); u = s.a; v = s.b; }", {1, 2}, {3, 24}},
    {"struct P { float64 a, b; }; both(P p, P q) { return (P){p.a + q.a, p.b * q.b}; } (x, y) -> (u, v) { auto s = reduce(both, i : 0, (P){x, y + i}); u = s.a; v = s.b; }", {1, 2}, {0, 0}},
    {"struct P { float64 a, b; }; operator P (float64 x) { return (P){x, -x}; } operator * (P p, P q) { return (P){p.a * q.a, p.b * q.b}; } (x, y) -> (u, v, w) { auto s = prod(i : 3, j : 2, (P){x + j, y}); u = s.a; v = s.b; w = prod(i : 0, (P){x, y}).b; }", {1, 2}, {8, 64, -1}},
    {"use interval; (x, y) -> (u, v) { u = max(i : 4, width((interval(float64)){x, i})); v = sum(i : 2, j : 2, width(sum(k : i + 1, (interval(float64)){0, j}))); }", {1, 2}, {2, 3}},
};
/* clang-format on */

/* What is wrong with a row goes to stderr, so that all rows are seen. */
static int expect_results(const char *who, const meaning *m, int n, const double *got) {
    for (int k = 0; k < n; k++)
        if (!(got[k] == m->out[k])) {
            print_error("%s\n  %s: result %d is %.17g, not %.17g\n", m->source, who, k, got[k], m->out[k]);
            return 1;
        }
    return 0;
}

static int interpret(const meaning *m, const tree *t) {
    number in[2], out[3];
    double got[3] = {0};
    for (int k = 0; k < 2; k++)
        in[k] = (number){.type = DT_FLOAT64, .as.f = {m->in[k]}};
    const char *wrong = ref_run(t, in, out, 100000);
    if (wrong) {
        print_error("%s: %s\n", m->source, wrong);
        return 1;
    }
    for (int k = 0; k < t->kernel->nresults; k++)
        got[k] = out[k].as.f[0];
    return expect_results("the interpreter", m, t->kernel->nresults, got);
}

static int run_cpu(arena *a, const meaning *m, const tree *t) {
    double in[2] = {m->in[0], m->in[1]}, out[3];
    char *arrays[] = {(char *)&in[0], (char *)&in[1], (char *)&out[0], (char *)&out[1], (char *)&out[2]};
    code_module made = element_module(a, t, &host, 0, 0);
    judged *result = judge_compile(0, &made, 2);
    ((void (*)(char **, int64_t))judge_address(result, "entry"))(arrays, 1);
    judge_free(result);
    text_free(&made.ir);
    return expect_results("the CPU", m, t->kernel->nresults, out);
}

static const char *types_of(const char *source) {
    return strstr(source, "-> (u, v, w)") ? "float64,float64->float64,float64,float64"
           : strstr(source, "-> (u, v)")  ? "float64,float64->float64,float64"
                                          : "float64,float64->float64";
}

static int meaning_wrong(const meaning *m) {
    arena a = {0};
    tree *t;
    int wrong = 1;
    if (lang_try_with(&a, &(lang_trial){.source = m->source, .types = types_of(m->source), .modules = modules}, &t))
        print_error("%s\n%s\n", m->source, uf_last_error()->message);
    else if (tree_fault(t))
        print_error("%s: %s\n", m->source, tree_fault(t));
    else
        wrong = interpret(m, t) || run_cpu(&a, m, t);
    arena_free(&a);
    return wrong;
}

static void test_meanings(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(meanings); i++)
        wrong += meaning_wrong(&meanings[i]);
    assert_int_equal(wrong, 0);
}

/* ---- Arrays of callers, through the library ---- */

/* A generalized ufunc of float64, whose helpers work on its operands. */
static uf_func *gufunc(const char *layout, const char *signature, const char *source) {
    uf_func *f;
    const uf_section only = {.signatures = signature, .source = source};
    OK(uf_define(&f,
                 &(uf_definition){
                     .size = sizeof(uf_definition), .name = "f", .layout = layout, .nsections = 1, .sections = &only}));
    return f;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Extents are sizes of the layout; the output is changed by a helper of a helper, with early returns. */
static void check_operands(const uf_func *dot, const uf_func *sort, int64_t calls, int64_t n) {
    double *x = calloc((size_t)(calls * n + 1), sizeof *x), *y = calloc((size_t)(calls * n + 1), sizeof *y);
    double *z = calloc((size_t)calls, sizeof *z);
    for (int64_t i = 0; i < calls * n; i++)
        x[i] = (double)pick(-9, 9);
    OK(UF_CALL(dot, UF_ARRAY(x, calls, n), UF_ARRAY(z, calls)));
    OK(UF_CALL(sort, UF_ARRAY(x, calls, n), UF_ARRAY(y, calls, n)));
    for (int64_t k = 0; k < calls; k++) {
        double want = 0;
        for (int64_t i = 0; i < n; i++)
            want += x[k * n + i] * x[k * n + i];
        assert_true(z[k] == want + (double)n);
        qsort(x + k * n, (size_t)n, sizeof *x, ascending);
    }
    assert_memory_equal(x, y, (size_t)(calls * n) * sizeof *x);
    free(x);
    free(y);
    free(z);
}

static void test_operands(void **state) {
    (void)state;
    uf_func *dot = gufunc("(n)->()", "d->d",
                          "dot(a[m], b[m]) { if (m == 0) return 0.0; return sum(i : m, a[i] * b[i]); }\n"
                          "(x) -> (z) { z = dot(x, x) + n; }");
    uf_func *sort =
        gufunc("(n)->(n)", "d->d",
               "swap(a[k], i, j) { auto t = a[i]; a[i] = a[j]; a[j] = t; }\n"
               "insert(a[k], i) { for (auto j = i; j > 0; j--) { if (a[j - 1] <= a[j]) return; swap(a, j - 1, j); } }\n"
               "(x) -> (y) { for (int64 i = 0; i < n; i++) { y[i] = x[i]; insert(y, i); } }");
    static const int64_t sizes[] = {0, 1, 2, 7, 64, 333};
    for (size_t i = 0; i < COUNT(sizes); i++)
        check_operands(dot, sort, i % 2 ? 5 : 1, sizes[i]);
    uf_free(dot);
    uf_free(sort);
}

/* A kernel over indices: a helper that writes to an array of it, or only reads. */
static void test_indices(void **state) {
    uf_func *f;
    int32_t a[40], b[7];
    (void)state;
    for (int i = 0; i < 40; i++)
        a[i] = (int32_t)pick(0, 6);
    for (int i = 0; i < 7; i++)
        b[i] = (int32_t)pick(-50, 50);
    int32_t want[40];
    for (int i = 0; i < 40; i++)
        want[i] = b[a[i]] + 2 * (i > 3 ? 40 : 7);
    OK(uf_kernel(
        &f, "f", "int32[], int32[]",
        "at(t[m], i) { return t[i] + m; }\n"
        "set(t[m], u[k], i) { if (i > 3) { t[i] = at(u, t[i]) + 2 * m - k; return; } t[i] = at(u, t[i]) + k; }\n"
        "[i](a, b) { set(a, b, i); }"));
    OK(uf_forall(f, 1, (int64_t[]){40}, 2, (DLTensor[]){UF_ARRAY(a, 40), UF_ARRAY(b, 7)}, NULL));
    assert_memory_equal(a, want, sizeof a);
    uf_free(f);
}

/* ---- Random texts ---- */

/* A piece of another row's text in place of one of this, cut at words. */
static void random_text(text *out) {
    const char *from = meanings[pick(0, COUNT(meanings) - 1)].source;
    const char *other = meanings[pick(0, COUNT(meanings) - 1)].source;
    size_t cut = (size_t)pick(0, (int64_t)strlen(from) - 1), length = (size_t)pick(0, 9);
    size_t piece = (size_t)pick(0, (int64_t)strlen(other) - 1), taken = (size_t)pick(0, 9);
    while (cut && from[cut - 1] != ' ')
        cut--;
    while (piece && other[piece - 1] != ' ')
        piece--;
    text_add(out, from, cut);
    text_add(out, other + piece, strlen(other + piece) < taken ? strlen(other + piece) : taken);
    if (cut + length < strlen(from))
        text_puts(out, from + cut + length);
}

/* It must be typed as lang.h promises, or refused with a place. */
static bool random_is_kernel(const char *source) {
    arena a = {0};
    tree *t;
    const uf_error *e = uf_last_error();
    uf_status status =
        lang_try_with(&a, &(lang_trial){.source = source, .types = types_of(source), .modules = modules}, &t);
    if (!status && tree_fault(t))
        fail_msg("%s: %s", source, tree_fault(t));
    if (status && ((status != UF_ERR_SYNTAX && status != UF_ERR_TYPE) || e->line < 1 || e->column < 1 ||
                   !strchr(e->message, '^')))
        fail_msg("%s: status %d, %s", source, status, e->message);
    arena_free(&a);
    return !status;
}

static void test_random(void **state) {
    int kernels = 0, tries = (int)trials(5000);
    (void)state;
    for (int i = 0; i < tries; i++) {
        text t = {0};
        random_text(&t);
        kernels += random_is_kernel(t.data);
        text_free(&t);
    }
    print_message("%d of %d texts are kernels\n", kernels, tries);
    assert_true(kernels > tries / 200);
}

static int set_up(void **state) {
    if (draw_seed(state))
        return -1;
    host = judge_host();
    return judge_count() > 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meanings), cmocka_unit_test(test_operands),
                                       cmocka_unit_test(test_indices), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
