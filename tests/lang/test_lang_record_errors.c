/* test_lang_record_errors.c - what texts with records, overloads, several results, array parameters, constants and modules refuse: each
 * error with its place, its words and the text that it is in; limits; failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "failing.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

typedef struct bad {
    const char *source, *types;
    uf_status status;
    int line, column;
    const char *words; /* the message has them */
} bad;

/* clang-format off */
static const char *const bad_modules[] = {
    "interval", "struct interval(T) { T lo, hi; };\noperator + (interval(T) a, interval(T) b) { return (interval(T)){a.lo + b.lo, a.hi + b.hi}; }\noperator interval (T x) { return (interval(T)){x, x}; }\nmid(interval(T) a) { return a.lo & a.hi; }\n",
    "other", "struct interval { int8 a; };\nlimit(x) { return x; }\nconst k = 1;\n",
    "clash", "limit(x) { return 2 * x; }\n",
    "twin", "const k = 2;\nlimit(float32 x) { return 2 * x; }\n",
    "broken", "f(x) {\n  return x +;\n}\n",
    "loop", "const a = 1;\n f(x) { return f(x); }",
    NULL};

/* Of texts that see these, and of what records, overloads, several results and file scope are refused. */
static const struct {
    bad row;
    const char *in; /* the source of the error */
} module_table[] = {
    {{"struct P { P next; }; (x) { return x; }", "int8", UF_ERR_SYNTAX, 1, 14, "the record 'P' contains itself"}, ""},
    {{"struct P { Q q; }; struct Q { P p; }; (x) { return x; }", "int8", UF_ERR_SYNTAX, 1, 33, "the record 'P' contains itself"}, ""},
    {{"struct P { Q q; }; struct Q { P p; }; (x) { P p; return x; }", "int8", UF_ERR_SYNTAX, 1, 33, "the record 'P' contains itself"}, ""},
    {{"struct P { P next; }; (x) { P p; return x; }", "int8", UF_ERR_SYNTAX, 1, 14, "the record 'P' contains itself"}, ""},
    {{"struct P { int8 a[2]; }; (x) { P p; return p.b; }", "int8", UF_ERR_TYPE, 1, 46, "P has no field 'b'; it has a"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p = {.c = 1}; return p.a; }", "int8", UF_ERR_TYPE, 1, 39, "P has no field 'c'; it has a, b"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p, q; return (p + q).a; }", "int8", UF_ERR_TYPE, 1, 50, "there is no 'operator +' with (P, P)"}, ""},
    {{"struct P { int8 a, b; }; operator + (P p, int8 n) { return p; } (x) { P p, q; return (p + q).a; }", "int8", UF_ERR_TYPE, 1, 89, "there is no 'operator +' with (P, P); there are\n    operator + (P p, int8 n) at 1:26"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p; return (-p).a; }", "int8", UF_ERR_TYPE, 1, 45, "there is no 'operator -' with (P)"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p; return sqrt(p).a; }", "int8", UF_ERR_TYPE, 1, 44, "there is no 'sqrt' with (P)"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p; return p; }", "int8", UF_ERR_TYPE, 1, 44, "the kernel returns P, and no signature says so"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p = x; return p.a; }", "int8", UF_ERR_TYPE, 1, 38, "there is no conversion from int8 to P"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p = {1}; return (int)p; }", "int8", UF_ERR_TYPE, 1, 50, "there is no conversion from P to int32"}, ""},
    {{"struct P { int8 a, b; }; (x) { P p = {1}; int n = p; return n; }", "int8", UF_ERR_TYPE, 1, 51, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a, b; }; struct Q { int8 a; }; (x) { P p = {1}; Q q = p; return q.a; }", "int8", UF_ERR_TYPE, 1, 71, "Q is needed here, got P; only a cast converts a record"}, ""},
    {{"struct P { int8 a, b; }; struct Q { int8 a; }; (x) { P p = {1}; Q q = (Q)p; return q.a; }", "int8", UF_ERR_TYPE, 1, 71, "there is no conversion from P to Q"}, ""},
    {{"f(int32 a, b) { return 1; } f(a, int32 b) { return 2; } (x) { return f(1, 2); }", "int8", UF_ERR_TYPE, 1, 70, "more than one helper fits 'f' with (int32 (weak), int32 (weak)); there are\n    f(int32 a, b) at 1:1\n    f(a, int32 b) at 1:29"}, ""},
    {{"f(int32 a) { return 1; } f(int32 b) { return 2; } (x) { return f(1); }", "int8", UF_ERR_SYNTAX, 1, 26, "the helper 'f' is defined twice, here and at 1:1"}, ""},
    {{"f(a) { return 1; } f(b) { return 2; } (x) { return f(1); }", "int8", UF_ERR_SYNTAX, 1, 20, "the helper 'f' is defined twice, here and at 1:1"}, ""},
    {{"f(a, b) { return 1; } (x) { return f(x); }", "int8", UF_ERR_TYPE, 1, 36, "'f' takes 2 arguments, got 1"}, ""},
    {{"f(a, b) { return 1; } f(int8 a, b, c) { return 1; } (x) { return f(x); }", "int8", UF_ERR_TYPE, 1, 66, "there is no 'f' with (int8); there are\n    f(a, b) at 1:1\n    f(int8 a, b, c) at 1:23"}, ""},
    {{"use interval; (x) { interval(float32) a = {1, 2}; return (a + x).lo; }", "float64", UF_ERR_TYPE, 1, 61, "there is no conversion from float64 to interval(float32)"}, ""},
    {{"use interval; (x) { interval a = {1, 2}; return a.lo; }", "float64", UF_ERR_TYPE, 1, 30, "'interval' needs a type: interval(float32)"}, ""},
    {{"struct P { int8 a; }; (x) { P(int8) a = {1, 2}; return a.a; }", "float64", UF_ERR_SYNTAX, 1, 31, "'P' has no type parameter"}, ""},
    {{"struct P { int8 a; }; (x) { P a = {1, 2}; return a.a; }", "float64", UF_ERR_TYPE, 1, 39, "more values than P has fields (1)"}, ""},
    {{"struct P { int8 a[2]; }; (x) { P a = {1, 2}; return a.a; }", "float64", UF_ERR_TYPE, 1, 39, "the array 'a' is initialised with { .. }"}, ""},
    {{"struct P { int8 a[2]; }; (x) { P a = {{1, 2, 3}}; return a.a[0]; }", "float64", UF_ERR_TYPE, 1, 46, "more values than 'a' has elements (2)"}, ""},
    {{"struct P { int8 a[2]; }; (x) { P a; return a.a[2]; }", "float64", UF_ERR_TYPE, 1, 48, "index 2 of 'a', which has 2 elements"}, ""},
    {{"struct P { int8 a[2]; }; (x) { P a; return a.a; }", "float64", UF_ERR_TYPE, 1, 46, "'a' is an array; its elements are used one at a time"}, ""},
    {{"struct P { int8 a[2]; }; (x) { P a; return a.a[0][1]; }", "float64", UF_ERR_TYPE, 1, 46, "'a' has 1 dimension, got more indices"}, ""},
    {{"struct P { int8 a; }; (x) { P a; return a.a.b; }", "float64", UF_ERR_TYPE, 1, 45, "int8 has no fields"}, ""},
    {{"struct P { int8 a; }; (x) { P a[3]; return a.a; }", "float64", UF_ERR_TYPE, 1, 46, "the field of an array; an element of it is meant: [..].a"}, ""},
    {{"struct P { int8 a; }; (x) { return x.a; }", "float64", UF_ERR_TYPE, 1, 38, "float64 has no fields"}, ""},
    {{"struct P { int8 a; }; (x) { P p; if (p) return 1; return 0; }", "float64", UF_ERR_TYPE, 1, 38, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return p ? 1 : 2; }", "float64", UF_ERR_TYPE, 1, 41, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return p && x; }", "float64", UF_ERR_TYPE, 1, 41, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return x ? p : 1; }", "float64", UF_ERR_TYPE, 1, 49, "there is no conversion from int32 to P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; p++; return 1; }", "float64", UF_ERR_TYPE, 1, 35, "'++' needs a number, got P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return any(i : 3, p); }", "float64", UF_ERR_TYPE, 1, 52, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return sum(i : 3, p).a; }", "float64", UF_ERR_TYPE, 1, 41, "there is no 'operator +' with (P, P)"}, ""},
    {{"struct P { int8 a; }; (x) { P p; switch (p) { default: return 1; } }", "float64", UF_ERR_TYPE, 1, 42, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a; }; (x) { P p; assert(p); return 1; }", "float64", UF_ERR_TYPE, 1, 41, "a number is needed here, got P"}, ""},
    {{"struct P { int8 a; }; (x) { int t[2]; P p; return t[p]; }", "float64", UF_ERR_TYPE, 1, 53, "a number is needed here, got P"}, ""},
    {{"f(a) -> (q, r) { q = a; r = a; } (x) { auto (q) = f(x); return q; }", "float64", UF_ERR_TYPE, 1, 45, "1 name for 2 results"}, ""},
    {{"f(a) -> (q, r) { q = a; r = a; } (x) { return f(x); }", "float64", UF_ERR_TYPE, 1, 47, "'f' has 2 results: auto (a, b) = f(..); takes them"}, ""},
    {{"f(a) { return a; } (x) { auto (q, r) = f(x); return q; }", "float64", UF_ERR_TYPE, 1, 31, "2 names for 1 result"}, ""},
    {{"(x) { auto (q, r) = sin(x); return q; }", "float64", UF_ERR_TYPE, 1, 21, "'sin' is no helper with several results"}, ""},
    {{"f(a) -> (q, r) { q = a; r = a; } (x) { auto (q, q) = f(x); return q; }", "float64", UF_ERR_SYNTAX, 1, 49, "'q' is named twice"}, ""},
    {{"(x) { int t[2]; return sqrt(t); }", "float64", UF_ERR_TYPE, 1, 29, "'t' is an array; its elements are used one at a time"}, ""},
    {{"f(a) { return a; } (x) { int t[2]; return f(t); }", "float64", UF_ERR_TYPE, 1, 45, "'t' is an array; its elements are used one at a time"}, ""},
    {{"f(a[n]) { return n; } (x) { return f(x); }", "float64", UF_ERR_TYPE, 1, 36, "there is no 'f' with (float64); there are\n    f(a[n]) at 1:1"}, ""},
    {{"f(a[n]) { return n; } (x) { int t[2][2]; return f(t); }", "float64", UF_ERR_TYPE, 1, 49, "there is no 'f' with (int32[]); there are\n    f(a[n]) at 1:1"}, ""},
    {{"f(a[n], b[n]) { return n; } (x) { int t[2], u[3]; return f(t, u); }", "float64", UF_ERR_TYPE, 1, 58, "the arrays of 'f' have several extents for 'n'"}, ""},
    {{"f(a[n]) { a[0] = 1; return n; } (x) { const int t[2] = {1, 2}; return f(t); }", "float64", UF_ERR_TYPE, 1, 11, "'a' is const and cannot be assigned"}, ""},
    {{"f(a[n]) { n = 1; return n; } (x) { int t[2]; return f(t); }", "float64", UF_ERR_TYPE, 1, 11, "'n' is the extent of an array and cannot be assigned"}, ""},
    {{"f(a[n]) { return f(a); } (x) { int t[2]; return f(t); }", "float64", UF_ERR_TYPE, 1, 18, "'f' calls itself; helpers are inlined and cannot be recursive"}, ""},
    {{"f(a[n]) { a[0] = 2; } (x) { int t[2]; return f(t); }", "float64", UF_ERR_TYPE, 1, 46, "a value is needed here, and the helper gives none"}, ""},
    {{"f(a[n], n) { return 1; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 9, "the name of this parameter is also that of an extent"}, ""},
    {{"f(n, a[n]) { return 1; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 8, "'n' is named twice"}, ""},
    {{"f(a) -> (r[2]) { return 1; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 12, "expected the name of an extent of the array, got '2'"}, ""},
    {{"const t[2] = {1, x}; (x) { return t[0]; }", "float64", UF_ERR_TYPE, 1, 18, "'x' is not known"}, ""},
    {{"const t[2] = {1, sin(1)}; (x) { return t[0]; }", "float64", UF_ERR_TYPE, 1, 18, "the elements of a table of file scope must be constant"}, ""},
    {{"const k = sin(1); (x) { return k; }", "float64", UF_ERR_TYPE, 1, 11, "the value of a constant of file scope must be constant"}, ""},
    {{"const k = k + 1; (x) { return k; }", "float64", UF_ERR_TYPE, 1, 11, "'k' is used in its own value"}, ""},
    {{"const a = b, b = a; (x) { return a; }", "float64", UF_ERR_TYPE, 1, 18, "'a' is used in its own value"}, ""},
    {{"const t[] = {}; (x) { return t[0]; }", "float64", UF_ERR_TYPE, 1, 7, "an empty table has no type"}, ""},
    {{"const k; (x) { return k; }", "float64", UF_ERR_SYNTAX, 1, 8, "expected '=' and the value of the constant, got ';'"}, ""},
    {{"const k = 1; (x) { k = 2; return k; }", "float64", UF_ERR_TYPE, 1, 20, "'k' is a constant and cannot be assigned"}, ""},
    {{"const t[2] = {1, 2}; (x) { t[0] = 2; return k; }", "float64", UF_ERR_TYPE, 1, 28, "'t' is a constant and cannot be assigned"}, ""},
    {{"const t[2] = {1, 2}; (x) { return t; }", "float64", UF_ERR_TYPE, 1, 35, "'t' is a table; its elements are used one at a time"}, ""},
    {{"const k = 2; (x) { return k[0]; }", "float64", UF_ERR_TYPE, 1, 27, "'k' is a constant and cannot be indexed"}, ""},
    {{"struct P { int8 a; }; const P t[2] = {{1}, {2}}; (x) { return t[1].a; }", "float64", UF_ERR_TYPE, 1, 31, "the dtype of the elements of a table is needed here, and 'P' is a record"}, ""},
    {{"struct P { int8 a; }; const P k = {1}; (x) { return k.a; }", "float64", UF_ERR_TYPE, 1, 31, "the dtype of a constant is needed here, and 'P' is a record"}, ""},
    {{"const k = 1, k = 2; (x) { return k; }", "float64", UF_ERR_SYNTAX, 1, 14, "the constant 'k' is defined twice, here and at 1:7"}, ""},
    {{"struct P { int8 a; }; const P = 1; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 31, "expected the name of a variable, got '='"}, ""},
    {{"struct P { int8 a; }; P(x) { return 1; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 23, "the helper 'P' is defined twice, here and at 1:8"}, ""},
    {{"struct P { int8 a; }; struct P { int8 b; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 30, "the record 'P' is defined twice, here and at 1:8"}, ""},
    {{"struct P { int8 a; }; (x) { int P = 1; return P; }", "float64", UF_ERR_SYNTAX, 1, 33, "'P' is a type and cannot be the name of a variable"}, ""},
    {{"struct P { int8 a; }; (P) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 24, "parameters are names without types, and 'P' is a type"}, ""},
    {{"struct P { int8 a; }; (x) { return sum(P : 3, 1); }", "float64", UF_ERR_SYNTAX, 1, 40, "'P' is a type and cannot be the name of a variable"}, ""},
    {{"struct P { int8 a; }; (x) { return P; }", "float64", UF_ERR_TYPE, 1, 36, "'P' is not known"}, ""},
    {{"struct P { int8 a, a; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 20, "the record has two fields called 'a'"}, ""},
    {{"struct P { }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 12, "expected a type, got '}'"}, ""},
    {{"struct P { int8 a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 22, "expected ';' after the record, got '('"}, ""},
    {{"struct { int8 a; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 8, "expected the name of the record, got '{'"}, ""},
    {{"struct P(T, U) { T a; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 11, "expected ')': a record has one type parameter or none, got ','"}, ""},
    {{"struct P(int8) { int8 a; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 10, "the type parameter of a record is a name that is not a type"}, ""},
    {{"struct P { auto a; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 12, "expected a type, got 'auto'"}, ""},
    {{"struct P { T a; }; (x) { P p; return 1; }", "float64", UF_ERR_SYNTAX, 1, 12, "expected a type, got 'T'"}, ""},
    {{"struct P { float64 a[65]; }; (x) { P p; return 1; }", "float64", UF_ERR_TYPE, 1, 8, "the record has more than 64 scalars"}, ""},
    {{"struct P { float64 a[0]; }; (x) { P p; return 1; }", "float64", UF_ERR_TYPE, 1, 22, "the extent of an array must be at least 1"}, ""},
    {{"struct P { float64 a[1][1][1][1][1]; }; (x) { P p; return 1; }", "float64", UF_ERR_SYNTAX, 1, 34, "an array in a record has at most 4 dimensions"}, ""},
    {{"(x) { struct P { int8 a; }; return 1; }", "float64", UF_ERR_SYNTAX, 1, 7, "expected an expression, got 'struct'"}, ""},
    {{"f(x) { return x; } use interval; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 20, "what a text uses stands at its head"}, ""},
    {{"use nothing; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 5, "there is no module 'nothing'"}, ""},
    {{"use interval (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 14, "expected ',' or ';' after what is used, got '('"}, ""},
    {{"use 3; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 5, "expected '(' after the name of a helper, got '3'"}, ""},
    {{"use interval, other; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 15, "two modules define the record 'interval': at 1:8 of module interval and at 1:8 of module other"}, ""},
    {{"use other; struct interval { int8 a; }; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 19, "the record 'interval' is defined twice, here and at 1:8 of module other"}, ""},
    {{"use other, clash; (x) { return x; }", "float64", UF_ERR_SYNTAX, 1, 12, "two modules define 'limit' for the same parameters: at 2:1 of module other and at 1:1 of module clash"}, ""},
    {{"use other, twin; (x) { return k; }", "float64", UF_ERR_TYPE, 1, 31, "'k' is defined twice, at 3:7 of module other and at 1:7 of module twin"}, ""},
    {{"use broken; (x) { return 1; }", "float64", UF_ERR_SYNTAX, 2, 13, "expected an expression, got ';'"}, "module broken"},
    {{"use interval; (x) { return mid((interval(float32)){1, 2}); }", "float64", UF_ERR_TYPE, 4, 34, "'&' needs integers, got float32 and float32"}, "module interval"},
    {{"use loop; (x) { return f(x); }", "float64", UF_ERR_TYPE, 2, 16, "'f' calls itself; helpers are inlined and cannot be recursive"}, "module loop"},
    {{"operator * (a) { return a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 1, "'operator *' with 1 parameters: it has another number of operands"}, ""},
    {{"operator ! (a, b) { return a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 1, "'operator !' with 2 parameters: it has another number of operands"}, ""},
    {{"operator && (a, b) { return a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 10, "expected an operator, or the type that is converted to, got '&&'"}, ""},
    {{"operator = (a, b) { return a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 10, "expected an operator, or the type that is converted to, got '='"}, ""},
    {{"operator += (a, b) { return a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 10, "expected an operator, or the type that is converted to, got '+='"}, ""},
    {{"operator typeof(1) (a) { return a; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 10, "a conversion is to a dtype or to a record"}, ""},
    {{"operator + (float64 a, float64 b) { return 1; } (x) { return x + x; }", "float64", UF_ERR_SYNTAX, 1, 1, "'operator +' of numbers is built in; an operator has a record among its operands or results"}, ""},
    {{"f(T a, U b) { V c = 1; return c; } (x) { return f(x, x); }", "float64", UF_ERR_SYNTAX, 1, 15, "'V' is no type that is known, and no keyword"}, ""},
    {{"f(T a) { return a; } (x) { T b = 1; return b; }", "float64", UF_ERR_SYNTAX, 1, 28, "'T' is no type that is known, and no keyword"}, ""},
    {{"f(a) { T b = 1; return b; } (x) { return f(x); }", "float64", UF_ERR_SYNTAX, 1, 8, "'T' is no type that is known, and no keyword"}, ""},
    {{"exact (x) { return x; }", "float64", UF_ERR_SYNTAX, 1, 24, "expected a helper 'name(..) { .. }' or the kernel '(..) { .. }', got the end of the text"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return typeof(p){3}.a; }", "float64", UF_ERR_SYNTAX, 1, 41, "expected an expression, got 'typeof'"}, ""},
    {{"struct P { int8 a; }; (x) { P p = 3; p = {4}; return p.a; }", "float64", UF_ERR_SYNTAX, 1, 42, "expected an expression, got '{'"}, ""},
    {{"struct P { int8 a; }; (x) { int p = {3}; return p; }", "float64", UF_ERR_SYNTAX, 1, 37, "{ .. } initialises arrays and records; this is a scalar"}, ""},
    {{"struct P { int8 a; }; f(int8 p) { return p; } (x) { return f((P){1}); }", "float64", UF_ERR_TYPE, 1, 60, "there is no 'f' with (P); there are\n    f(int8 p) at 1:23"}, ""},
    {{"struct P { int8 a; }; (x) { P p; return len(p); }", "float64", UF_ERR_TYPE, 1, 45, "'len' needs an array; 'p' is a scalar (int8)"}, ""},
    {{"struct P { int8 a; }; (x) { P p[2]; return p == p; }", "float64", UF_ERR_TYPE, 1, 44, "'p' is an array; its elements are used one at a time"}, ""},
    {{"struct P { int8 a; }; (x) { (P){1}.a = 2; return 1; }", "float64", UF_ERR_SYNTAX, 1, 38, "only a variable or an element can be assigned"}, ""},
    {{"f() { } (x) { f(); return 1; }", "float64", UF_ERR_TYPE, 1, 7, "the helper returns no value"}, ""},
    {{"f(a) { if (a > 0) return 1; } (x) { f(x); return 1; }", "float64", UF_ERR_TYPE, 1, 29, "not every path returns a value"}, ""},
    {{"f(a[n]) { if (a[0] > 0) return; return 1; } (x) { int t[1]; f(t); return 1; }", "float64", UF_ERR_TYPE, 1, 25, "return needs a value, as another return of the helper has one"}, ""},
    {{"f(a[n]) { if (a[0] > 0) return 1; return; } (x) { int t[1]; f(t); return 1; }", "float64", UF_ERR_TYPE, 1, 35, "return needs a value, as another return of the helper has one"}, ""},
    {{"operator float64 (int32 x) { return 1.0; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 1, "'operator float64' of numbers is built in; an operator has a record among its operands or results"}, ""},
    {{"f(a[n]) { return a; } (x) { int t[1]; return f(t); }", "float64", UF_ERR_TYPE, 1, 18, "'a' is an array; its elements are used one at a time"}, ""},
    {{"(x) { auto (q) = x; return q; }", "float64", UF_ERR_SYNTAX, 1, 18, "several names take the results of a call of a helper"}, ""},
    {{"struct P { int8 a; }; f(x) -> (P) { return 1; } (x) { return 1; }", "float64", UF_ERR_SYNTAX, 1, 33, "expected the name of a parameter, got ')'"}, ""},
    {{"(x) { return unknown(x); }", "float64", UF_ERR_TYPE, 1, 14, "the function 'unknown' is not known"}, ""},
    {{"use interval; (x) { return unknown(x); }", "float64", UF_ERR_TYPE, 1, 28, "the function 'unknown' is not known"}, ""},
    {{"use interval; (x) { return midd(x); }", "float64", UF_ERR_TYPE, 1, 28, "the function 'midd' is not known; did you mean 'mid'?"}, ""},
    {{"use interval; (x) { return mid(x); }", "float64", UF_ERR_TYPE, 1, 28, "there is no 'mid' with (float64); there are\n    mid(interval(T) a) at 4:1 of module interval"}, ""},
    {{"struct P { float64 a; }; (x) { P p; float64 t[2]; t[0] = p; return 1; }", "float64", UF_ERR_TYPE, 1, 58, "a number is needed here, got P"}, ""},
    {{"struct P { float64 a; }; (x) { P p; x = p; return 1; }", "float64", UF_ERR_TYPE, 1, 41, "a number is needed here, got P"}, ""},
    {{"struct P { float64 a; }; (x) { P p; x += p; return 1; }", "float64", UF_ERR_TYPE, 1, 42, "a number is needed here, got P"}, ""},
    {{"struct P { float64 a; }; (x) { const P p; p.a = 1; return 1; }", "float64", UF_ERR_TYPE, 1, 45, "'p' is const and cannot be assigned"}, ""},
    {{"struct P { float64 a; }; (x) { P p; forall (i : 3) p.a = 1; return 1; }", "float64", UF_ERR_TYPE, 1, 54, "'p' is declared outside of this forall, which assigns its own variables and elements of arrays only"}, ""},
    {{"struct P { float64 a; }; (x) { P p; return sum(i : 3, p.a = 1); }", "float64", UF_ERR_TYPE, 1, 57, "'p' cannot be assigned here: the term of a construct has no effects"}, ""},
    {{"struct P { float64 a; }; (x) { P p = p; return 1; }", "float64", UF_ERR_TYPE, 1, 38, "'p' is used in its own initialiser"}, ""},
    {{"struct P(T) { T a; }; (x) { P(P) p; return 1; }", "float64", UF_ERR_TYPE, 1, 34, "'P' needs a type: P(float32)"}, ""},
    {{"struct P(T) { T a; }; (x) { P() p; return 1; }", "float64", UF_ERR_SYNTAX, 1, 31, "expected a type, got ')'"}, ""},
    {{"struct P { float64 v[2][2]; }; (x) { P p = {{1, 2}}; return 1; }", "float64", UF_ERR_TYPE, 1, 46, "a row of 'v' is initialised with { .. }"}, ""},
    {{"struct P { float64 v[2], w[2]; }; struct Q { P p[2]; }; (x) { Q q; int i = x; return q.p[i].v[i]; }", "float64", UF_ERR_TYPE, 1, 93, "only one array on the way to a field can have indices that are no constants"}, ""},
    {{"reduce2(a) { return a; } struct P { float64 a; }; (x) { P p; return reduce(reduce2, i : 3, p).a; }", "float64", UF_ERR_TYPE, 1, 76, "'reduce2' takes 1 argument, got 2"}, ""},
    {{"f(P a, P b) { return a.a; } struct P { float64 a; }; (x) { P p; return reduce(f, i : 3, p).a; }", "float64", UF_ERR_TYPE, 1, 72, "'reduce' of records needs P of two P, got float64"}, ""},
    {{"struct P { float64 a; }; (x) { P p; int t[2] = {.a = 1}; return t[0]; }", "float64", UF_ERR_TYPE, 1, 49, "'.a =' where there is no record to initialise"}, ""},
    {{"struct P { float64 v[2]; }; (x) { P p = {{.a = 1}}; return 1; }", "float64", UF_ERR_TYPE, 1, 43, "'.a =' where there is no record to initialise"}, ""},
    {{"const typeof(1) k = {1}; (x) { return k; }", "float64", UF_ERR_TYPE, 1, 21, "{ .. } where a value is needed"}, ""},
    {{"const t[] = {.a = 1}; (x) { return t[0]; }", "float64", UF_ERR_TYPE, 1, 14, "'.a =' where there is no record to initialise"}, ""},
};
/* clang-format on */

static bool row_holds(const bad *b, const char *in) {
    arena a = {0};
    const uf_error *e = uf_last_error();
    uf_status status =
        lang_try_with(&a, &(lang_trial){.source = b->source, .types = b->types, .modules = bad_modules}, NULL);
    arena_free(&a);
    if (status == b->status && e->line == b->line && e->column == b->column && strstr(e->message, b->words) &&
        strcmp(e->source, in) == 0)
        return true;
    print_error("%s\nfor (%s) gives status %d in '%s', %s\nnot status %d in '%s', %d:%d: %s\n\n", b->source, b->types,
                status, status ? e->source : "", status ? e->message : "accepted", b->status, in, b->line, b->column,
                b->words);
    return false;
}

static void test_table(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(module_table); i++)
        wrong += !row_holds(&module_table[i].row, module_table[i].in);
    assert_int_equal(wrong, 0);
}

/* An array of the kernel that is an input, written to by a helper. */
static void test_inputs(void **state) {
    arena a = {0};
    (void)state;
    assert_int_equal(lang_try_core(&a, "(n)->(n)", "set(x[n]) { x[0] = 1; } (x) -> (y) { set(y); set(x); }",
                                   "float64->float64", NULL),
                     UF_ERR_TYPE);
    assert_non_null(strstr(uf_last_error()->message, "1:13: 'x' is an input array and cannot be assigned"));
    assert_int_equal(
        lang_try_core(&a, "(m),(n)->()",
                      "dot(x[n], y[n]) { return sum(i : n, x[i] * y[i]); } (x, y) -> (z) { z = dot(x, y); }",
                      "float64,float64->float64", NULL),
        UF_ERR_TYPE);
    assert_non_null(strstr(uf_last_error()->message, "the arrays of 'dot' have several extents for 'n'"));
    arena_free(&a);
}

/* ---- Limits ---- */

/* A kernel behind a text, or one that uses it as a module. */
static uf_status try_text(const char *source, bool as_module) {
    arena a = {0};
    text whole = {0};
    const char *const modules[] = {"m", source, NULL};
    text_printf(&whole, "%s (x) { return x; }", as_module ? "use m;" : source);
    uf_status status =
        lang_try_with(&a, &(lang_trial){.source = whole.data, .types = "float64", .modules = modules}, NULL);
    text_free(&whole);
    arena_free(&a);
    return status;
}

static void expect_text(uf_status status, const char *words, const char *before, const char *part, int count,
                        const char *after) {
    text t = {0};
    text_puts(&t, before);
    for (int i = 0; i < count; i++)
        text_puts(&t, part);
    text_puts(&t, after);
    for (int as_module = 0; as_module < 2; as_module++) {
        uf_status got = try_text(t.data, as_module);
        if (got != status || (got && !strstr(uf_last_error()->message, words)))
            fail_msg("%s %s ..: status %d, %s", before, part, got, got ? uf_last_error()->message : "accepted");
    }
    text_free(&t);
}

static void test_limits(void **state) {
    const char *large = "too large: more than 8192 nodes";
    (void)state;
    expect_text(UF_OK, "", "", "/* nothing */ ", 70000, "f(x) { return x; }");
    expect_text(UF_OK, "", "", "\n", 1000000, "f(x) { return x; }");
    expect_text(UF_OK, "", "const t[] = {", "1, ", 4000, "};");
    expect_text(UF_ERR_SYNTAX, large, "const t[] = {", "1, ", 350000, "};");
    expect_text(UF_ERR_SYNTAX, large, "f(x) { ", ";", 1000000, "return x; }");
    expect_text(UF_ERR_SYNTAX, "at most 64 fields", "struct P {", "int8 a;", 0,
                "int8 "
                "a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,b0,b1,b2,b3,b4,b5,b6,b7,b8,b9,c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,d0,d1,d2,d3,"
                "d4,d5,d6,d7,d8,d9,"
                "e0,e1,e2,e3,e4,e5,e6,e7,e8,e9,f0,f1,f2,f3,f4,f5,f6,f7,f8,f9,g0,g1,g2,g3,g4; };");
    expect_text(UF_ERR_SYNTAX, "the name of a field", "struct P { ", "int8", 1, "; };");
    expect_text(UF_ERR_SYNTAX, "more than 64 parameters and outputs", "f(a0", "", 0,
                ",a1,a2,a3,a4,a5,a6,a7,a8,a9,b0,b1,b2,b3,b4,b5,b6,b7,b8,b9,c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,d0,d1,d2,d3,"
                "d4,d5,d6,d7,d8,d9,"
                "e0,e1,e2,e3,e4,e5,e6,e7,e8,e9,f0,f1,f2,f3,f4,f5,f6,f7,f8,f9,g0,g1,g2,g3,g4) { return 1; }");
}

/* Records nested in records: 256 levels are fine. */
static void test_nesting(void **state) {
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        text t = {0};
        text_puts(&t, "struct P0 { float64 a; };\n");
        for (int i = 1; i < LANG_MAX_DEPTH + extra; i++)
            text_printf(&t, "struct P%d { P%d a; };\n", i, i - 1);
        text_printf(&t, "f(x) { P%d p; return x; }", LANG_MAX_DEPTH + extra - 1);
        uf_status status = try_text(t.data, false);
        if (status != (extra ? UF_ERR_SYNTAX : UF_OK))
            fail_msg("%d records: status %d, %s", LANG_MAX_DEPTH + extra, status,
                     status ? uf_last_error()->message : "accepted");
        text_free(&t);
    }
}

static void test_tables(void **state) {
    (void)state;
    arena a = {0};
    const char *source = "const float64 t[90][90] = {{1}}; (x) { return t[1][1]; }";
    assert_int_equal(lang_try(&a, source, "float64", NULL), UF_OK);
    source = "const float64 t[92][90] = {{1}}; (x) { return t[1][1]; }";
    assert_int_equal(lang_try(&a, source, "float64", NULL), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "65536 bytes"));
    source = "const float64 t[90][90] = {{1}}, u[90][90] = {{2}}; (x) { return t[1][1] + u[1][1]; }";
    assert_int_equal(lang_try(&a, source, "float64", NULL), UF_ERR_SYNTAX);
    source = "const float64 t[90][90] = {{1}}; f(x) { return t[x][0]; } g(x) { return t[0][x]; } (x) { return f(1) + "
             "g(2); }";
    assert_int_equal(lang_try(&a, source, "float64", NULL), UF_OK); /* one table, which two functions look into */
    arena_free(&a);
}

/* The time to read a text is in proportion to its length: eight times the text takes less than thirty times as long. */
static double time_of(int helpers) {
    text t = {0};
    struct timespec from, to;
    for (int i = 0; i < helpers; i++)
        text_printf(&t, "const k%d = %d; /*%0500d*/ struct P%d { float64 a; }; f%d(P%d p) { return p.a; }\n", i, i, i,
                    i, i, i);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < 5; i++)
        assert_int_equal(try_text(t.data, true), UF_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    text_free(&t);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static void test_time(void **state) {
    (void)state;
    double small = time_of(125), large = time_of(1000);
    print_message("125 records and helpers: %.2g s, 1000: %.2g s\n", small, large);
    assert_true(large < 30 * small + 0.01);
}

/* ---- Memory ---- */

static size_t taken;

static bool count_bytes(size_t size) {
    taken += size;
    return true;
}

/* A name of many helpers, of which each call finds one: memory grows with their number and with that of the calls, not with the product
 * times what is noted of a call's arguments. */
static void test_memory_of_overloads(void **state) {
    enum {
        HELPERS = 200,
        CALLS = 500
    };
    text t = {0};
    (void)state;
    for (int i = 0; i < HELPERS; i++)
        text_printf(&t, "struct r%d { float32 x; };\nf(r%d a, float32 b) { return a.x + b; }\n", i, i);
    text_puts(&t, "(x) { r7 v = {x}; auto s = x;\n");
    for (int i = 0; i < CALLS; i++)
        text_puts(&t, "s = f(v, s);\n");
    text_puts(&t, "return s; }");
    arena a = {0};
    taken = 0;
    mem_may_alloc = count_bytes;
    uf_status status = lang_try(&a, t.data, "float32", NULL);
    mem_may_alloc = NULL;
    arena_free(&a);
    text_free(&t);
    assert_int_equal(status, UF_OK);
    assert_true(taken < (size_t)HELPERS * CALLS * 256);
}

/* ---- Running out of memory ---- */

static const char *const good_modules[] = {
    "vec",
    "struct vec(T) { T v[3]; };\n"
    "operator + (vec(T) a, vec(T) b) { vec(T) r; for (int i = 0; i < 3; i++) r.v[i] = a.v[i] + b.v[i]; return r; }\n"
    "operator vec (T x) { return (vec(T)){{x, x, x}}; }\n"
    "split(vec(T) a) -> (T x, T y, vec(T) rest) { x = a.v[0]; y = a.v[1]; rest = a; rest.v[0] = rest.v[1] = 0; }\n"
    "sort(x[n]) { for (int i = 1; i < n; i++) if (x[i] < x[i - 1]) { auto t = x[i]; x[i] = x[i - 1]; x[i - 1] = t; } "
    "}\n",
    "tables", "use vec;\nconst half = 0.5, t[] = {1, 2, 3};\nat(i) { return half * t[i]; }\n", NULL};

static void test_no_memory(void **state) {
    text padded = {0};
    int64_t n = 0;
    (void)state;
    text_puts(&padded, "use tables, vec;\nstruct box { vec(float64) lo, hi; int8 n; };\n");
    for (int i = 0; i < 150; i++)
        text_printf(&padded, "helper%d(float32 a%d, b%d) { return a%d; }\n", i, i, i, i);
    text_puts(
        &padded,
        "grow(box b, vec(float64) by) { return (box){.hi = b.hi + by, .lo = b.lo, b.n + 1}; }\n"
        "(x) -> (u, v) { box b = {{{x, 1}}, {{3, x}}, 2}, c[2]; float64 a[3] = {x, 2, 1}; sort(a); c[1] = grow(b, x); "
        "auto (p, q, r) = split(c[1].hi); u = p + q + sum(i : 3, (vec(float64)){{a[i]}}).v[(int)x] + (c[1] == b); "
        "v = x < 1 ? (r + 1).v[0] : at((int)x); }");
    for (uf_status status = UF_ERR_MEMORY; status != UF_OK; n++) {
        arena a = {0};
        allocations_fail_after(n);
        status = lang_try_with(
            &a, &(lang_trial){.source = padded.data, .types = "float64->float64,float64", .modules = good_modules},
            NULL);
        allocations_succeed();
        arena_free(&a);
        if (status != UF_OK && status != UF_ERR_MEMORY)
            fail_msg("%s", uf_last_error()->message);
    }
    print_message("%lld allocations\n", (long long)n - 1);
    assert_true(n > 5);
    text_free(&padded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_time),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_memory_of_overloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
