/* test_lang_errors.c - what kernel C refuses: every kind of syntax and type error with its place and words, the limits,
 * failing allocations, and random texts, which must be refused or typed but never crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "failing.h"
#include "lang_try.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

typedef struct bad {
    const char *source, *types;
    uf_status status;
    int line, column;
    const char *words; /* the message has them */
} bad;

#define SYNTAX "", UF_ERR_SYNTAX
#define TYPES(types) types, UF_ERR_TYPE

/* clang-format off */
static const bad table[] = {
    /* Characters and words. */
    {"(x) { return x # 1; }", SYNTAX, 1, 16, "no preprocessor"},
    {"(x) { return \"a\"; }", SYNTAX, 1, 14, "no strings"},
    {"(x) { return 'a'; }", SYNTAX, 1, 14, "no character constants"},
    {"(x) { return x @ 1; }", SYNTAX, 1, 16, "unexpected character '@'"},
    {"(x) { return x \\ 1; }", SYNTAX, 1, 16, "unexpected character '\\'"},
    {"(x) { return \xC3\xA9; }", SYNTAX, 1, 14, "unexpected character '\xC3\xA9'"},
    {"(x) { /* \xC3\xA9 */ return \xC3\xA9; }", SYNTAX, 1, 22, "unexpected character '\xC3\xA9'"},
    {"(x) { return \xFF; }", SYNTAX, 1, 14, "unexpected byte 0xff"},
    {"(x) { return \xC3 x; }", SYNTAX, 1, 14, "unexpected byte 0xc3"},
    {"(x) { return x\x01; }", SYNTAX, 1, 15, "unexpected byte 0x01"},
    {"(x) { return x; } /* no end", SYNTAX, 1, 19, "the comment has no end"},
    {"(x) {\r\n  return y#;\r\n}", SYNTAX, 2, 11, "no preprocessor"},
    {"(x) { return aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggghhhhhhhhhhiiiiiiiiiijjjjjjjjjj"
     "kkkkkkkkkkllllllllll; }", "", UF_OK, 0, 0, ""}, /* 120 characters are fine; TYPE error below */
    {"(x) { return aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggghhhhhhhhhhiiiiiiiiiijjjjjjjjjj"
     "kkkkkkkkkkllllllllllmmmmmmmm; }", SYNTAX, 1, 14, "more than 127 characters"},

    /* Numbers. */
    {"(x) { return 18446744073709551616; }", SYNTAX, 1, 14, "does not fit 64 bits"},
    {"(x) { return 9223372036854775808; }", SYNTAX, 1, 14, "does not fit int64"},
    {"(x) { return 0x10000000000000000; }", SYNTAX, 1, 14, "does not fit 64 bits"},
    {"(x) { return 0x; }", SYNTAX, 1, 16, "expected a digit of a hexadecimal number"},
    {"(x) { return 0b; }", SYNTAX, 1, 16, "expected a digit of a binary number"},
    {"(x) { return 0b12; }", SYNTAX, 1, 17, "'2' is not a digit of a binary number"},
    {"(x) { return 089; }", SYNTAX, 1, 15, "'8' is not a digit of an octal number"},
    {"(x) { return 12k; }", SYNTAX, 1, 16, "'k' is not a suffix of an integer"},
    {"(x) { return 12lul; }", SYNTAX, 1, 16, "'lul' is not a suffix of an integer"},
    {"(x) { return 1.5l; }", SYNTAX, 1, 17, "long double does not exist"},
    {"(x) { return 1.5.2; }", SYNTAX, 1, 17, "is not a suffix of a floating number"},
    {"(x) { return 1e; }", SYNTAX, 1, 16, "expected the digits of an exponent"},
    {"(x) { return 1e+; }", SYNTAX, 1, 17, "expected the digits of an exponent"},
    {"(x) { return 0x1.8; }", SYNTAX, 1, 19, "needs an exponent"},
    {"(x) { return 0x.p1; }", SYNTAX, 1, 17, "expected a digit"},
    {"(x) { return 1e999; }", SYNTAX, 1, 14, "does not fit float64"},
    {"(x) { return 1e39f; }", SYNTAX, 1, 14, "does not fit float32"},

    /* Functions. */
    {"", SYNTAX, 1, 1, "expected a helper 'name(..) { .. }' or the kernel '(..) { .. }', got the end of the text"},
    {"  \n ", SYNTAX, 2, 2, "got the end of the text"},
    {"x", SYNTAX, 1, 2, "expected '(' after the name of a helper, got the end of the text"},
    {"f(x) { return x; }", SYNTAX, 1, 19, "the kernel '(..) { .. }', got the end of the text"},
    {"[] (x) { return x; }", SYNTAX, 1, 2, "expected the name of an index, got ']'"},
    {"[i 3] (x) { return i; }", SYNTAX, 1, 4, "expected ',' or ']', got '3'"},
    {"[i : 3] (x) { }", SYNTAX, 1, 6, "expected the name of the extent of an index, got '3'"},
    {"[i : n, j : n] (x) { }", SYNTAX, 1, 13, "'n' is named twice"},
    {"[i : n] (x) { return i; }", TYPES("int8,int64"), 1, 2, "only the indices of a kernel over indices (uf_kernel) have an extent with a name"},
    {"[i, i] (x) { return i; }", SYNTAX, 1, 5, "'i' is named twice"},
    {"[i] (i) { return i; }", SYNTAX, 1, 6, "'i' is named twice"},
    {"[i] (x) -> (i) { i = x; }", SYNTAX, 1, 13, "'i' is named twice"},
    {"[int] (x) { return x; }", SYNTAX, 1, 2, "parameters are names without types, and 'int' is a type"},
    {"[i] x) { return x; }", SYNTAX, 1, 5, "expected a helper 'name(..) { .. }' or the kernel '(..) { .. }', got 'x'"},
    {"[i", SYNTAX, 1, 3, "expected ',' or ']', got the end of the text"},
    {"(x { return x; }", SYNTAX, 1, 4, "expected ',' or ')', got '{'"},
    {"(x,) -> (y,) { y = x; } 5", SYNTAX, 1, 25, "expected the end of the text after the kernel, got '5'"},
    {"(x, x) { return x; }", SYNTAX, 1, 5, "'x' is named twice"},
    {"(x) -> (x) { return; }", SYNTAX, 1, 9, "'x' is named twice"},
    {"(x) -> () { }", SYNTAX, 1, 9, "expected the name of an output, got ')'"},
    {"(x) -> y { y = x; }", SYNTAX, 1, 8, "expected '(' and the names of the outputs, got 'y'"},
    {"(float x) { return x; }", SYNTAX, 1, 2, "parameters are names without types, and 'float' is a type"},
    {"(int8) { return 1; }", SYNTAX, 1, 2, "'int8' is a type"},
    {"(x[]) { return x; }", SYNTAX, 1, 3, "parameters are names that stand alone; a layout says which are arrays"},
    {"(3) { return 1; }", SYNTAX, 1, 2, "expected a name or ')', got '3'"},
    {"(x) return x;", SYNTAX, 1, 5, "expected '{', got 'return'"},
    {"(x) { return x; ", SYNTAX, 1, 17, "expected '}', got the end of the text: the '{' at 1:5 has no end"},
    {"(x) { return x; } (y) { return y; }", SYNTAX, 1, 19, "the kernel is the last function"},
    {"(x) { return x; } f(y) { return y; }", SYNTAX, 1, 19, "the kernel is the last function"},
    {"f(x) { return x; } f(y) { return y; } (x) { return f(x); }", SYNTAX, 1, 20, "the helper 'f' is defined twice"},
    {"(a00,a01,a02,a03,a04,a05,a06,a07,a08,a09,a10,a11,a12,a13,a14,a15,a16,a17,a18,a19,a20,a21,a22,a23,a24,a25,a26,a27,"
     "a28,a29,a30,a31,a32,a33,a34,a35,a36,a37,a38,a39,a40,a41,a42,a43,a44,a45,a46,a47,a48,a49,a50,a51,a52,a53,a54,a55,"
     "a56,a57,a58,a59,a60,a61,a62,a63) { return a00; }", SYNTAX, 1, 1, "more than 64 parameters and outputs"},
    {"(a00,a01,a02,a03,a04,a05,a06,a07,a08,a09,a10,a11,a12,a13,a14,a15,a16,a17,a18,a19,a20,a21,a22,a23,a24,a25,a26,a27,"
     "a28,a29,a30,a31,a32,a33,a34,a35,a36,a37,a38,a39,a40,a41,a42,a43,a44,a45,a46,a47,a48,a49,a50,a51,a52,a53,a54,a55,"
     "a56,a57,a58,a59,a60,a61,a62) -> (y, z) { y = 0; }", SYNTAX, 1, 262, "more than 64 parameters and outputs"},

    /* Expressions. */
    {"(x) { return ; }", TYPES("int8"), 1, 7, "return needs a value"},
    {"(x) { return x +; }", SYNTAX, 1, 17, "expected an expression, got ';'"},
    {"(x) { return (x; }", SYNTAX, 1, 16, "expected ')', got ';'"},
    {"(x) { return (x, x); }", SYNTAX, 1, 16, "no comma operator"},
    {"(x) { return x ? 1; }", SYNTAX, 1, 19, "expected ':', got ';'"},
    {"(x) { return *x; }", SYNTAX, 1, 14, "no pointers"},
    {"(x) { return &x; }", SYNTAX, 1, 14, "no pointers"},
    {"(x) { int *p; return x; }", SYNTAX, 1, 11, "no pointers"},
    {"(x) { return (int *)x; }", SYNTAX, 1, 19, "no pointers"},
    {"(x) { return x->y; }", SYNTAX, 1, 15, "expected ';', got '->'"},
    {"(x) { return sizeof x; }", SYNTAX, 1, 14, "'sizeof' is not part of kernel C"},
    {"(x) { goto end; }", SYNTAX, 1, 7, "'goto' is not part of kernel C"},
    {"(x) { static int n; return n; }", SYNTAX, 1, 7, "'static' is not part of kernel C"},
    {"(x) { void y; return x; }", SYNTAX, 1, 7, "'void' is not part of kernel C"},
    {"(x) { return f(x; }", SYNTAX, 1, 17, "expected ',' or ')', got ';'"},
    {"(x) { return (f)(x); }", SYNTAX, 1, 17, "only a name can be called"},
    {"(x) { return f(x)(x); }", SYNTAX, 1, 18, "only a name can be called"},
    {"(x) { return (x)[0]; }", "", UF_OK, 0, 0, ""},
    {"(x) { return (x + 1)[0]; }", SYNTAX, 1, 21, "only the name of an array can be indexed"},
    {"(x) { return x[0; }", SYNTAX, 1, 17, "expected ']', got ';'"},
    {"(x) { return x[]; }", SYNTAX, 1, 16, "expected an expression, got ']'"},
    {"(x) { return x[0][0][0][0][0][0][0][0][0]; }", SYNTAX, 1, 39, "more than 8 indices"},
    {"(x) { 3 = x; }", SYNTAX, 1, 9, "only a variable or an element can be assigned"},
    {"(x) { x + 1 = x; }", SYNTAX, 1, 13, "only a variable or an element can be assigned"},
    {"(x) { x + 1 += x; }", SYNTAX, 1, 13, "only a variable or an element can be assigned"},
    {"(x) { return 3++; }", SYNTAX, 1, 15, "'++' needs a variable or an element"},
    {"(x) { return --3; }", SYNTAX, 1, 14, "'--' needs a variable or an element"},
    {"(x) { return x++++; }", SYNTAX, 1, 17, "'++' needs a variable or an element"},
    {"(x) { return (int)2 = x; }", SYNTAX, 1, 21, "only a variable or an element can be assigned"},
    {"(x) { return (int[]){1}; }", SYNTAX, 1, 18, "expected ')' after the type, got '['"},
    {"(x) { return int8; }", SYNTAX, 1, 14, "expected an expression, got 'int8'"},
    {"(x) { return _Generic(x); }", SYNTAX, 1, 24, "expected ',' and the associations of _Generic, got ')'"},
    {"(x) { return _Generic(x,); }", SYNTAX, 1, 25, "expected an association of _Generic, got ')'"},
    {"(x) { return _Generic x; }", SYNTAX, 1, 23, "expected '(' after _Generic, got 'x'"},
    {"(x) { return _Generic(x, y: 1); }", SYNTAX, 1, 26, "expected a type, got 'y'"},
    {"(x) { return _Generic(x, int 1); }", SYNTAX, 1, 30, "expected ':' after what the association is for, got '1'"},
    {"(x) { return 1 2; }", SYNTAX, 1, 16, "expected ';', got '2'"},

    /* Constructs. */
    {"(x) { return sum(j : 3); }", SYNTAX, 1, 23, "expected ',' and the term to combine, got ')'"},
    {"(x) { return sum(j : 3, k : 2); }", SYNTAX, 1, 30, "expected ',' and the term to combine, got ')'"},
    {"(x) { return sum(j : , x); }", SYNTAX, 1, 22, "expected an expression, got ','"},
    {"(x) { return sum(j : 3, x, x); }", SYNTAX, 1, 26, "expected ')', got ','"},
    {"(x) { return sum(x, j : 3); }", SYNTAX, 1, 23, "expected ',' or ')', got ':'"},
    {"(x) { return sum(j : 3, j : 2, x); }", SYNTAX, 1, 25, "'j' is named twice"},
    {"(x) { return sum(int j : 3, x); }", SYNTAX, 1, 18, "the index of a range is a name without a type; it is an int64"},
    {"(x) { return sum(j : 3, int k : 2, x); }", SYNTAX, 1, 25, "the index of a range is a name without a type"},
    {"(x) { return sum(a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,x); }", SYNTAX, 1, 50, "more than 8 ranges"},
    {"(x) { return reduce(j : 3, x); }", SYNTAX, 1, 21, "reduce combines by a helper, which stands first: reduce(f, i : n, ..)"},
    {"(x) { return reduce(f, ); }", SYNTAX, 1, 24, "expected an expression, got ')'"},
    {"(x) { return reduce(2, j : 3, x); }", SYNTAX, 1, 26, "expected ',' or ')', got ':'"},
    {"(x) { return mean(j : 3, x); }", SYNTAX, 1, 14, "'mean' does not take a range; sum, prod, min, max, any, all and reduce do"},
    {"(x) { return forall(j : 3, x); }", SYNTAX, 1, 14, "forall is a statement and has no value"},
    {"(x) { forall (i : 3, ) x; }", SYNTAX, 1, 22, "expected the index of a range: name : extent, got ')'"},
    {"(x) { forall (i : 3, j) x; }", SYNTAX, 1, 23, "expected ':' and the extent of the range, got ')'"},
    {"(x) { forall (i : 3 x; }", SYNTAX, 1, 21, "expected ',' or ')', got 'x'"},
    {"(x) { forall (int i : 3) x; }", SYNTAX, 1, 15, "the index of a range is a name without a type"},
    {"(x) { forall (i : 3) int y; return x; }", SYNTAX, 1, 22, "a declaration must stand in a block"},
    {"(x) { forall (i : 3, i : 3) x; }", SYNTAX, 1, 22, "'i' is named twice"},
    {"forall(i) { return i; } sum(x) { return x; } (x) { auto min = 2; { int sum = 3; min = sum; } forall (x); return "
     "sum(x) + min; }", "", UF_OK, 0, 0, ""},

    /* Declarations. */
    {"(x) { auto y; return x; }", SYNTAX, 1, 13, "auto takes its type from an initialiser"},
    {"(x) { auto y[2] = {1}; return x; }", SYNTAX, 1, 12, "an array needs the type of its elements"},
    {"(x) { int y[2] = 1; return x; }", SYNTAX, 1, 18, "an array is initialised with { .. }"},
    {"(x) { int y = {1}; return x; }", SYNTAX, 1, 15, "{ .. } initialises arrays"},
    {"(x) { int y[]; return x; }", SYNTAX, 1, 14, "an array without extent takes it from an initialiser"},
    {"(x) { int y[2][] = {1}; return x; }", SYNTAX, 1, 16, "only the first extent can be left out"},
    {"(x) { int y[1][1][1][1][1][1][1][1][1]; return x; }", SYNTAX, 1, 36, "at most 8 dimensions"},
    {"(x) { int y[2] = {1; return x; }", SYNTAX, 1, 20, "expected ',' or '}', got ';'"},
    {"(x) { int int8 = 1; return x; }", SYNTAX, 1, 11, "'int8' is a type and cannot be the name of a variable"},
    {"(x) { int 5; return x; }", SYNTAX, 1, 11, "expected the name of a variable, got '5'"},
    {"(x) { float f(x) { return x; } return x; }", SYNTAX, 1, 13, "functions stand before the kernel"},
    {"(x) { short char y; return x; }", SYNTAX, 1, 7, "'short char' is not a type of kernel C"},
    {"(x) { long long long y; return x; }", SYNTAX, 1, 7, "'long long long' is not a type of kernel C"},
    {"(x) { long double y; return x; }", SYNTAX, 1, 7, "'long double' is not a type of kernel C"},
    {"(x) { complex y; return x; }", SYNTAX, 1, 7, "'complex' is not a type of kernel C"},
    {"(x) { unsigned float y; return x; }", SYNTAX, 1, 7, "'unsigned float' is not a type of kernel C"},
    {"(x) { int int y; return x; }", SYNTAX, 1, 7, "'int int' is not a type of kernel C"},
    {"(x) { typeof x y; return x; }", SYNTAX, 1, 14, "expected '(' after typeof, got 'x'"},
    {"(x) { const y; return x; }", SYNTAX, 1, 14, "expected '=' and the value of the constant, got ';'"},

    /* Statements. */
    {"(x) { return x }", SYNTAX, 1, 15, "expected ';' behind 'x', got '}'"},
    {"(x) { if x return x; }", SYNTAX, 1, 10, "expected '(' after if, got 'x'"},
    {"(x) { if (x return x; }", SYNTAX, 1, 13, "expected ')', got 'return'"},
    {"(x) { else return x; }", SYNTAX, 1, 7, "'else' without 'if'"},
    {"(x) { if (x) int y = 1; return x; }", SYNTAX, 1, 14, "a declaration must stand in a block"},
    {"(x) { for (;;) auto y = 1; return x; }", SYNTAX, 1, 16, "a declaration must stand in a block"},
    {"(x) { for x; }", SYNTAX, 1, 11, "expected '(' after for, as in for (int i = 0; i < n; i++), got 'x'"},
    {"(x) { for (x = 0; x < 3) x; }", SYNTAX, 1, 24, "expected ';' in the header of the for, got ')'"},
    {"(x) { while x; }", SYNTAX, 1, 13, "expected '(' after while, got 'x'"},
    {"(x) { do x++; until (x); }", SYNTAX, 1, 15, "expected 'while' after the body of do, got 'until'"},
    {"(x) { do x++; while (x) return x; }", SYNTAX, 1, 24, "expected ';' behind ')', got 'return'"},
    {"(x) { switch x { } }", SYNTAX, 1, 14, "expected '(' after switch, got 'x'"},
    {"(x) { switch (x) case 1: return x; }", SYNTAX, 1, 18, "expected '{', got 'case'"},
    {"(x) { case 1: return x; }", SYNTAX, 1, 7, "'case' must stand directly in the block of a switch"},
    {"(x) { switch (x) { case 1: { default: ; } } return x; }", SYNTAX, 1, 30, "'default' must stand directly"},
    {"(x) { switch (x) { case 1 return x; } }", SYNTAX, 1, 27, "expected ':', got 'return'"},
    {"(x) { end: return x; }", SYNTAX, 1, 10, "expected ';', got ':'"},

    /* Names. */
    {"(alpha) { return alhpa; }", TYPES("int8"), 1, 18, "'alhpa' is not known; did you mean 'alpha'?"},
    {"(x) { return zzzzzzzz; }", TYPES("int8"), 1, 14, "'zzzzzzzz' is not known"},
    {"(x) { return squrt(x); }", TYPES("float32"), 1, 14, "the function 'squrt' is not known; did you mean 'sqrt'?"},
    {"(x) { return zzzzzzzz(x); }", TYPES("float32"), 1, 14, "the function 'zzzzzzzz' is not known"},
    {"halve(x) { return x / 2; } (x) { return havle(x); }", TYPES("float32"), 1, 41, "did you mean 'halve'?"},
    {"(x) { return sin; }", TYPES("float32"), 1, 14, "'sin' is a function; it can only be called"},
    {"f(x) { return x; } (x) { return f; }", TYPES("float32"), 1, 33, "'f' is a function; it can only be called"},
    {"(x) { return x(1); }", TYPES("float32"), 1, 14, "'x' is a variable here and cannot be called"},
    {"(x) { t = x; return t; }", TYPES("float32"), 1, 7, "'t' is not declared; write 'auto t = ..'"},
    {"(x) { t[0] = x; return x; }", TYPES("float32"), 1, 7, "'t' is not declared"},
    {"(x) { t++; return x; }", TYPES("float32"), 1, 7, "'t' is not declared"},
    {"(x) { { auto t = x; } return t; }", TYPES("float32"), 1, 30, "'t' is not known"},
    {"(x) { for (int i = 0; i < 2; i++) { } return i; }", TYPES("float32"), 1, 46, "'i' is not known"},
    {"(x) { auto t = t; return t; }", TYPES("float32"), 1, 16, "'t' is used in its own initialiser"},
    {"(x) { auto t = t[0]; return t; }", TYPES("float32"), 1, 16, "'t' is used in its own initialiser"},
    {"(x) { int t = t[0] = 1; return t; }", TYPES("float32"), 1, 15, "'t' is used in its own initialiser"},
    {"(x) { forall (i : 3) { int t = t = 1; } return x; }", TYPES("float32"), 1, 32, "'t' is used in its own initialiser"},
    {"(x) { int x = 1; return x; }", TYPES("float32"), 1, 11, "'x' is declared twice in one block"},
    {"(x) { int a, b, a; return x; }", TYPES("float32"), 1, 17, "'a' is declared twice in one block"},
    {"(x) { int a[2]; return a; }", TYPES("float32"), 1, 24, "'a' is an array"},
    {"(x) { int a[2]; a = 1; return x; }", TYPES("float32"), 1, 17, "'a' is an array"},
    {"(x) { int a[2]; return a[0][1]; }", TYPES("float32"), 1, 24, "'a' has 1 dimension, got 2 indices"},
    {"(x) { int a[2][2]; return a[0]; }", TYPES("float32"), 1, 27, "'a' has 2 dimensions, got 1 index"},
    {"(x) { return x[0]; }", TYPES("float32"), 1, 14, "'x' is a scalar (float32) and cannot be indexed"},
    {"(x) { int a[2]; return a[x]; }", TYPES("float32"), 1, 26, "an index must be an integer, got float32"},
    {"(x) { int a[2]; return a[1.0]; }", TYPES("float32"), 1, 26, "an index must be an integer, got float64 (weak)"},
    {"(x) { const int a = 1; a = 2; return a; }", TYPES("float32"), 1, 24, "'a' is const and cannot be assigned"},
    {"(x) { const int a[1] = {1}; a[0]++; return x; }", TYPES("float32"), 1, 29, "'a' is const and cannot be assigned"},
    {"f() { return x; } (x) { return f(); }", TYPES("float32"), 1, 14, "'x' is not known"},

    /* Operators. */
    {"(x) { return x % 2; }", TYPES("float32"), 1, 16, "'%' needs integers, got float32 and int32 (weak); the remainder"},
    {"(x, y) { return x % y; }", TYPES("int8,float64"), 1, 19, "got int8 and float64"},
    {"(x) { return floor_div(x, 2); }", TYPES("float32"), 1, 14, "'floor_div' needs integers, got float32 and int32 (weak); of floating numbers it is floor(x / y)"},
    {"(x) { return floor_mod(x); }", TYPES("int32"), 1, 14, "'floor_mod' takes 2 arguments, got 1"},
    {"(z) { return z % 2; }", TYPES("complex64"), 1, 16, "'%' needs integers, got complex64 and int32 (weak)"},
    {"(x) { return x << 1; }", TYPES("float32"), 1, 16, "'<<' needs integers"},
    {"(x) { return 1 >> x; }", TYPES("float32"), 1, 16, "'>>' needs integers, got int32 (weak) and float32"},
    {"(x) { return x & 1; }", TYPES("float16"), 1, 16, "'&' needs integers, got float16 and int32 (weak)"},
    {"(x) { return x | 1; }", TYPES("float32"), 1, 16, "'|' needs integers"},
    {"(x) { return x ^ 1; }", TYPES("float32"), 1, 16, "'^' needs integers"},
    {"(x) { return ~x; }", TYPES("float32"), 1, 14, "'~' needs an integer, got float32"},
    {"(x) { return ~1.5; }", TYPES("float32"), 1, 14, "'~' needs an integer, got float64 (weak)"},
    {"(z) { return z < 1; }", TYPES("complex64"), 1, 16, "'<' needs real operands, got complex64 and int32 (weak)"},
    {"(z) { return 1 >= z; }", TYPES("complex128"), 1, 16, "'>=' needs real operands"},
    {"(z) { return I > z; }", TYPES("float32"), 1, 16, "got complex128 (weak) and float32"},
    {"(x) { x %= 2; return x; }", TYPES("float32"), 1, 9, "'%=' needs integers, got float32 and int32 (weak)"},
    {"(x) { x <<= 2; return x; }", TYPES("float32"), 1, 9, "'<<=' needs integers"},
    {"(x) { x |= 2; return x; }", TYPES("float32"), 1, 9, "'|=' needs integers"},
    {"(z) { z++; return z; }", TYPES("complex64"), 1, 8, "'++' needs a real variable, got complex64"},
    {"(z) { --z; return z; }", TYPES("complex64"), 1, 7, "'--' needs a real variable, got complex64"},

    /* Calls. */
    {"(x) { return sin(x, x); }", TYPES("float32"), 1, 14, "'sin' takes 1 argument, got 2"},
    {"(x) { return pow(x); }", TYPES("float32"), 1, 14, "'pow' takes 2 arguments, got 1"},
    {"(x) { return max(x); }", TYPES("float32"), 1, 14, "'max' takes 2 arguments, got 1"},
    {"(x) { return CMPLX(x); }", TYPES("float32"), 1, 14, "'CMPLX' takes 2 arguments, got 1"},
    {"(x) { return real(); }", TYPES("float32"), 1, 14, "'real' takes 1 argument, got 0"},
    {"(x) { return clz(); }", TYPES("int8"), 1, 14, "'clz' takes 1 argument, got 0"},
    {"f(x) { return x; } (x) { return f(); }", TYPES("float32"), 1, 33, "'f' takes 1 argument, got 0"},
    {"(z) { return floor(z); }", TYPES("complex64"), 1, 14, "'floor' is not defined for complex64"},
    {"(z) { return max(z, 1); }", TYPES("complex64"), 1, 14, "'max' is not defined for complex64"},
    {"(z) { return max(1, I); }", TYPES("complex64"), 1, 14, "'max' is not defined for complex128"},
    {"(z) { return sign(z); }", TYPES("complex64"), 1, 14, "'sign' is not defined for complex64"},
    {"(z) { return ldexp(z, 2); }", TYPES("complex64"), 1, 14, "'ldexp' is not defined for complex64"},
    {"(z) { return ldexp(2.0, z); }", TYPES("complex64"), 1, 14, "'ldexp' is not defined for complex64"},
    {"(z) { return jn(z, 2.0); }", TYPES("complex64"), 1, 14, "'jn' is not defined for complex64"},
    {"(z) { return CMPLX(z, 1); }", TYPES("complex64"), 1, 14, "'CMPLX' is not defined for complex64"},
    {"(x) { return clz(x); }", TYPES("float32"), 1, 14, "'clz' needs an integer, got float32"},
    {"(x) { return popcount(1.0); }", TYPES("float32"), 1, 14, "'popcount' needs an integer, got float64 (weak)"},
    {"(z) { return scalbln(1.0, z); }", TYPES("complex64"), 1, 14, "'scalbln' is not defined for complex64"},
    {"(x) { return complex_mul(x, x); }", TYPES("complex64"), 1, 14, "the function 'complex_mul' is not known"},
    {"f(x) { return f(x); } (x) { return f(x); }", TYPES("float32"), 1, 15, "'f' calls itself"},
    {"f(x) { return g(x); } g(x) { return f(x); } (x) { return f(x); }", TYPES("float32"), 1, 37, "'f' calls itself"},
    {"f(x) { return x % 2; } (x) { return f(x); }", TYPES("float32"), 1, 17, "'%' needs integers"},

    /* Constructs. */
    {"(x) { return sum(j : x, 1); }", TYPES("float32"), 1, 22, "the extent of a range must be an integer, got float32"},
    {"(x) { return sum(j : 2.0, 1); }", TYPES("float32"), 1, 22, "the extent of a range must be an integer, got float64 (weak)"},
    {"(x) { return sum(i : 3, j : i, x); }", TYPES("int8"), 1, 29, "'i' is not known in the ranges beside its own; nest the constructs"},
    {"(x) { return sum(i : i, x); }", TYPES("int8"), 1, 22, "'i' is not known in the ranges beside its own"},
    {"(x) { forall (i : 3, j : i) ; return x; }", TYPES("int8"), 1, 26, "'i' is not known in the ranges beside its own"},
    {"(x) { return sum(i : 3, x) + i; }", TYPES("int8"), 1, 30, "'i' is not known"},
    {"(x) { return sum(i : 3, i = 1); }", TYPES("int8"), 1, 25, "'i' is the index of a range and cannot be assigned"},
    {"(x) { return sum(i : 3, x = 1); }", TYPES("int8"), 1, 25, "'x' cannot be assigned here: the term of a construct has no effects"},
    {"(x) { int a[2]; return sum(i : 2, a[i]++); }", TYPES("int8"), 1, 35, "'a' cannot be assigned here"},
    {"(x) { return sum(i : 3, sum(j : x++, i)); }", TYPES("int8"), 1, 33, "'x' cannot be assigned here"},
    {"(x) { forall (i : 3) i++; return x; }", TYPES("int8"), 1, 22, "'i' is the index of a range and cannot be assigned"},
    {"(x) { forall (i : 3) x = i; return x; }", TYPES("int8"), 1, 22, "'x' is declared outside of this forall, which assigns its own variables and elements of arrays only"},
    {"(x) { forall (i : 3) { int t; forall (j : 3) t += j; } return x; }", TYPES("int8"), 1, 46, "'t' is declared outside of this forall"},
    {"(x) { forall (i : 3) for (x = 0; x < 3; x++) ; return x; }", TYPES("int8"), 1, 27, "'x' is declared outside of this forall"},
    {"(x) { forall (i : 3) return x; return x; }", TYPES("int8"), 1, 22, "return cannot leave a forall"},
    {"f(x) { forall (i : 3) return x; return x; } (x) { return f(x); }", TYPES("int8"), 1, 23, "return cannot leave a forall"},
    {"(x) { forall (i : 3) break; return x; }", TYPES("int8"), 1, 22, "break cannot leave a forall; each of its iterations runs to its end"},
    {"(x) { for (;;) forall (i : 3) continue; }", TYPES("int8"), 1, 31, "continue cannot leave a forall"},
    {"(x) { switch (x) { case 1: forall (i : 3) { break; } } return x; }", TYPES("int8"), 1, 45, "break cannot leave a forall"},
    {"(x) { forall (i : 3) switch (i) { case 1: continue; } return x; }", TYPES("int8"), 1, 43, "continue cannot leave a forall"},
    {"(z) { return max(i : 3, z); }", TYPES("complex64"), 1, 14, "'max' is not defined for complex64"},
    {"(z) { return min(i : 3, I); }", TYPES("float32"), 1, 14, "'min' is not defined for complex128"},
    {"(x) { return reduce(f, i : 3, x); }", TYPES("int8"), 1, 21, "the helper 'f' is not known"},
    {"(x) { return reduce(max, i : 3, x); }", TYPES("int8"), 1, 21, "'max' is built in; reduce needs a helper: f(a, b) { return max(a, b); }"},
    {"(x) { return reduce(x, i : 3, x); }", TYPES("int8"), 1, 21, "'x' is a variable here; reduce needs a helper"},
    {"f(a) { return a; } (x) { return reduce(f, i : 3, x); }", TYPES("int8"), 1, 40, "'f' takes 1 argument; reduce needs a helper of 2"},
    {"f(a, uint64 b) { return a * b; } (x) { return reduce(f, i : 3, x); }", TYPES("float32"), 1, 54, "reduce needs a helper of two float32, and 'f' takes float32 and uint64"},
    {"f(a, b) { return _Generic(a, int8: 1.5f, float32: 1, default: a); } (x) { return reduce(f, i : 3, x); }",
     TYPES("int8"), 1, 89, "'f' of two int8 is float32, and of two of these int32; reduce needs the type of its arguments"},
    {"f(a, b) { return a % b; } (x) { return reduce(f, i : 3, x); }", TYPES("float32"), 1, 20, "'%' needs integers"},
    {"f(a, b) { return reduce(f, i : 3, a); } (x) { return reduce(f, i : 3, x); }", TYPES("int8"), 1, 25, "'f' calls itself"},
    {"(x) { return reduce(later, x, x); }", TYPES("int8"), 1, 14, "'reduce' combines the terms of a range: reduce(f, i : n, ..)"},

    /* _Generic, typeof. */
    {"(x) { return _Generic(x, float64: 1, complex: 2); }", TYPES("float32"), 1, 14, "no association of _Generic is for float32"},
    {"(x) { return _Generic(x, float: 1, float32: 2); }", TYPES("float32"), 1, 36, "two associations of _Generic are for float32"},
    {"(x) { return _Generic(x, integer: 1, integer: 2); }", TYPES("int8"), 1, 38, "two associations of _Generic are for integer"},
    {"(x) { return _Generic(x, default: 1, default: 2); }", TYPES("int8"), 1, 38, "two associations of _Generic are for default"},
    {"(x) { return _Generic(y, default: 1); }", TYPES("int8"), 1, 23, "'y' is not known"},
    {"(x) { return _Generic(x, int8: y, default: 1); }", TYPES("int8"), 1, 32, "'y' is not known"},
    {"(x) { typeof(y) t = 1; return t; }", TYPES("int8"), 1, 14, "'y' is not known"},

    /* Statements. */
    {"(x) { if (x > 0) return x; }", TYPES("int8"), 1, 28, "not every path returns a value"},
    {"(x) { x++; }", TYPES("int8"), 1, 12, "the kernel returns no value"},
    {"f(x) { x++; } (x) { return f(x); }", TYPES("int8"), 1, 13, "the helper returns no value"},
    {"(x) {\n  while (x) {\n    return x;\n  }\n}", TYPES("int8"), 5, 1, "not every path returns a value"},
    {"(x) { for (;;) { if (x) break; } }", TYPES("int8"), 1, 34, "the kernel returns no value"},
    {"(x) { for (;;) { if (x) break; return x; } }", TYPES("int8"), 1, 44, "not every path returns a value"},
    {"(x) { do { if (x) continue; return x; } while (x > 1); }", TYPES("int8"), 1, 56, "not every path"},
    {"(x) { switch (x) { case 1: return x; } }", TYPES("int8"), 1, 40, "not every path returns a value"},
    {"(x) { switch (x) { default: break; case 1: return x; } }", TYPES("int8"), 1, 56, "not every path"},
    {"(x) { switch (x) { default: return x; case 1: x++; } }", TYPES("int8"), 1, 54, "not every path"},
    {"(x) { for (;;) { } }", TYPES("int8"), 1, 20, "no return gives the result a type"},
    {"(x) -> (y) { return x; }", TYPES("int8"), 1, 21, "the outputs have names"},
    {"(x) -> (y, z) { y = x; }", TYPES("int8"), 1, 1, "output 'z' is never assigned"},
    {"(x) { return; }", TYPES("int8"), 1, 7, "return needs a value: the kernel has one unnamed output"},
    {"f(x) { return; } (x) { return f(x); }", TYPES("int8"), 1, 8, "return needs a value: helpers have one"},
    {"(x) { break; return x; }", TYPES("int8"), 1, 7, "break stands outside of every loop and switch"},
    {"(x) { continue; return x; }", TYPES("int8"), 1, 7, "continue stands outside of every loop"},
    {"(x) { switch (x) { case 1: continue; } return x; }", TYPES("int8"), 1, 28, "continue stands outside of every loop"},
    {"f(x) { break; return x; } (x) { while (1) x = f(x); }", TYPES("int8"), 1, 8, "break stands outside"},
    {"(x) { switch (x) { } return x; }", TYPES("float32"), 1, 15, "switch needs an integer, got float32"},
    {"(x) { switch (x) { case x: ; } return x; }", TYPES("int8"), 1, 25, "the value of a case must be a constant integer"},
    {"(x) { switch (x) { case 1.0: ; } return x; }", TYPES("int8"), 1, 25, "the value of a case must be a constant integer"},
    {"(x) { switch (x) { case 1: case 3 - 2: ; } return x; }", TYPES("int8"), 1, 28, "two cases for 1"},
    {"(x) { switch (x) { default: default: ; } return x; }", TYPES("int8"), 1, 29, "two defaults"},
    {"(x) { int a[x]; return x; }", TYPES("int8"), 1, 13, "the extent of an array must be a constant integer"},
    {"(x) { int a[1.0]; return x; }", TYPES("int8"), 1, 13, "the extent of an array must be a constant integer"},
    {"(x) { int a[0]; return x; }", TYPES("int8"), 1, 13, "the extent of an array must be at least 1"},
    {"(x) { int a[3 - 5]; return x; }", TYPES("int8"), 1, 15, "the extent of an array must be at least 1"},
    {"(x) { int a[] = {}; return x; }", TYPES("int8"), 1, 17, "an empty initialiser gives the array no extent"},
    {"(x) { int a[2] = {1, 2, 3}; return x; }", TYPES("int8"), 1, 25, "more values than the array has elements"},
    {"(x) { int a[2][2] = {{1, 2, 3}}; return x; }", TYPES("int8"), 1, 29, "more values than the row has elements (2)"},
    {"(x) { int a[2] = {{1}, 2}; return x; }", TYPES("int8"), 1, 19, "{ .. } where one element is initialised"},

    /* Signatures. */
    {"(x, y) { return x; }", TYPES("int8"), 1, 1, "the kernel has 2 inputs and 1 outputs, the signature 1 and 1"},
    {"(x) -> (y, z) { y = z = x; }", TYPES("int8->int8"), 1, 1, "the kernel has 1 inputs and 2 outputs"},

    /* Limits once inlined. */
    {"(x) { int8 a[16385]; return x; }", "int8", UF_ERR_SYNTAX, 1, 12, "the local variables take more than 16384 bytes"},
    {"(x) { double a[2048]; double b; return x; }", "int8", UF_ERR_SYNTAX, 1, 30, "more than 16384 bytes"},
    {"(x) { double a[4000000000][4000000000][4000000000]; return x; }", "int8", UF_ERR_SYNTAX, 1, 14, "more than 16384"},
    {"f(x) { double a[1024]; a[x] = 1; return a[0]; } (x) { return f(x) + f(x) + f(x); }", "int8", UF_ERR_SYNTAX, 1, 49,
     "more than 16384 bytes once helpers are inlined"},
    {"(x) { const int8 a[65537] = {1}; return a[x]; }", "int8", UF_ERR_SYNTAX, 1, 18,
     "a constant array takes more than 65536 bytes"},
    {"(x) { const int a[4000000000][4000000000] = {1}; return a[x][x]; }", "int8", UF_ERR_SYNTAX, 1, 17,
     "a constant array takes more than 65536 bytes"},
    {"f(x) { const double t[3] = {1}; return t[x]; } (x) { const int8 a[40000] = {1}; const int8 b[40000] = {2}; return "
     "a[x] + b[x] + f(x); }", "int8", UF_ERR_SYNTAX, 1, 92,
     "the constant arrays of the function take 80000 bytes together, more than 65536"},
    {"(x) { const int8 a[20000] = {x}; return a[x]; }", "int8", UF_ERR_SYNTAX, 1, 18, "more than 16384 bytes"},
};
/* clang-format on */

/* Generalized ufuncs. */
static const struct {
    const char *layout, *source, *types;
    int line, column;
    const char *words;
} core_table[] = {
#define MATVEC "(m,n),(n)->(m)"
#define FLOATS "float32,float32"
    {MATVEC, "(A, x) { return 1; }", FLOATS, 1, 1,
     "the kernel of a generalized ufunc names its outputs: (..) -> (y) { .. }"},
    {MATVEC, "(A, x, z) -> (y) { }", "float32,float32,float32", 1, 1,
     "the kernel has 3 inputs and 1 outputs, the layout 2 and 1"},
    {MATVEC, "(A, x) -> (y, z) { }", FLOATS "->float32,float32", 1, 1,
     "the kernel has 2 inputs and 2 outputs, the layout 2 and 1"},
    {MATVEC, "(A, n) -> (y) { y[0] = 1; }", FLOATS, 1, 5,
     "'n' is a dimension of the layout; an operand needs another name"},
    {MATVEC, "(A, x) -> (m) { m[0] = 1; }", FLOATS, 1, 12,
     "'m' is a dimension of the layout; an operand needs another name"},
    {MATVEC, "(A, x) -> (y) { y = 1; }", FLOATS, 1, 17, "'y' is an array; its elements are used one at a time"},
    {MATVEC, "(A, x) -> (y) { y[0] = x; }", FLOATS, 1, 24, "'x' is an array; its elements are used one at a time"},
    {MATVEC, "(A, x) -> (y) { y[0] = A[0]; }", FLOATS, 1, 24, "'A' has 2 dimensions, got 1 index"},
    {MATVEC, "(A, x) -> (y) { y[0][1] = 1; }", FLOATS, 1, 17, "'y' has 1 dimension, got 2 indices"},
    {MATVEC, "f(a) { return a; } (A, x) -> (y) { y[0] = f(x); }", FLOATS, 1, 45, "'x' is an array; its elements"},
    {MATVEC, "f(a) { return a[0]; } (A, x) -> (y) { y[0] = f(x[0]); }", FLOATS, 1, 15,
     "'a' is a scalar (float32) and cannot be indexed"},
    {MATVEC, "f(a) { return a + n; } (A, x) -> (y) { y[0] = f(x[0]); }", FLOATS, 1, 19, "'n' is not known"},
    {MATVEC, "(A, x) -> (y) { x[0] = 1; }", FLOATS, 1, 17, "'x' is an input array and cannot be assigned"},
    {MATVEC, "(A, x) -> (y) { forall (i : m) A[i][0]++; }", FLOATS, 1, 32,
     "'A' is an input array and cannot be assigned"},
    {MATVEC, "(A, x) -> (y) { n = 1; }", FLOATS, 1, 17, "'n' is a size (int64) and cannot be assigned"},
    {MATVEC, "(A, x) -> (y) { m++; }", FLOATS, 1, 17, "'m' is a size (int64) and cannot be assigned"},
    {MATVEC, "(A, x) -> (y) { y[0] = n[0]; }", FLOATS, 1, 24, "'n' is a size (int64) and cannot be indexed"},
    {MATVEC, "(A, x) -> (y) { y[0] = x[0.5]; }", FLOATS, 1, 26, "an index must be an integer, got float64 (weak)"},
    {MATVEC, "(A, x) -> (y) { }", FLOATS, 1, 1, "output 'y' is never assigned, so that it has no type"},
    {MATVEC, "(A, x) -> (y) { float n[n]; y[0] = 1; }", FLOATS, 1, 25,
     "the extent of an array must be a constant integer"},
    {MATVEC, "(A, x) -> (y) { switch (1) { case n: y[0] = 1; } }", FLOATS, 1, 35,
     "the value of a case must be a constant integer"},
    {MATVEC, "(A, x) -> (y) { y[0] = k; }", FLOATS, 1, 24, "'k' is not known"},
    {"(count)->()", "(x) -> (y) { y = coutn; }", "float32", 1, 18, "'coutn' is not known; did you mean 'count'?"},
    {"(n)->(),()", "(x) -> (y, z) { forall (i : n) y = x[i]; }", "float32", 1, 32,
     "'y' is declared outside of this forall"},
    {"(n)->()", "(x) -> (y) { forall (i : n) y += x[i]; }", "float32", 1, 29, "'y' is declared outside of this forall"},
    {"(n)->(n)", "(x) -> (y) { y[0] = sum(i : n, y[i] = 1); }", "float32", 1, 32, "'y' cannot be assigned here"},
    {"(n),()->(n)", "(x, s) -> (y) { y[0] = s[0]; }", FLOATS, 1, 24, "'s' is a scalar (float32) and cannot be indexed"},
    {"(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = 1; return y; }", "float32", 1, 46, "the outputs have names"},
    {"(sum)->()", "(x) -> (y) { y = sum(i : sum, x[i]) + sums; }", "float32", 1, 39,
     "'sums' is not known; did you mean 'sum'?"},
};

/* Kernels over indices. */
/* clang-format off */
static const struct {
    const char *parameters, *source;
    int column;
    const char *words;
} kernel_table[] = {
    {"float32[]", "[i](a) -> (b) { b = 1; }", 1, "a kernel over indices has no outputs: it writes to its arrays"},
    {"float32[]", "[i](a, b) { }", 1, "the kernel has 2 parameters, the list of types 1"},
    {"float32[]", "[i](a) { return 1; }", 17, "a kernel over indices has no result: assign elements, then 'return;'"},
    {"float32[]", "[i](a) { forall (j : 3) return; }", 25, "return cannot leave a forall"},
    {"float32[]", "[i : a](a) { }", 9, "'a' is the extent of an index; a parameter needs another name"},
    {"float32[]", "[i : i](a) { }", 6, "'i' is named twice"},
    {"float32[]", "[i](a) { i = 1; }", 10, "'i' is an index and cannot be assigned"},
    {"float32[]", "[i : n](a) { n++; }", 14, "'n' is a size (int64) and cannot be assigned"},
    {"float32[]", "[i : count](a) { a[i] = cuont; }", 25, "'cuont' is not known; did you mean 'count'?"},
    {"float32[]", "[i](a) { a = 1; }", 10, "'a' is an array; its elements are used one at a time"},
    {"float32[], float32", "[i](a, x) { forall (j : 3) x = j; }", 28, "'x' is declared outside of this forall"},
    {"float32[]", "f(x) { return n; } [i : n](a) { a[i] = f(i); }", 15, "'n' is not known"},

    {"float32[]", "[i](a) { a[i] = len(i); }", 21, "'len' needs an array; 'i' is a scalar (int64)"},
    {"float32[]", "[i](a) { a[i] = len(a[i]); }", 21, "'len' needs the name of an array"},
    {"float32[]", "[i](a) { a[i] = len(b); }", 21, "'b' is not known"},
    {"float32[]", "[i](a) { a[i] = len(a, 0); }", 17, "'len' takes 1 argument, got 2"},
    {"float32[]", "[i](a) { a[i] = len; }", 17, "'len' is a function; it can only be called"},
    {"float32[]", "[i](a) { auto len = len(a); }", 21, "'len' is a variable here and cannot be called"},
    {"float32[]", "[i](a) { a[i] = extent(a); }", 17, "'extent' takes 2 arguments, got 1"},
    {"float32[]", "[i](a) { a[i] = extent(a, 1); }", 27, "'a' has 1 dimension, the last is 0"},
    {"float32[,]", "[i](a) { a[i][i] = extent(a, 1 - 2); }", 32, "'a' has 2 dimensions, the last is 1"},
    {"float32[]", "[i](a) { a[i] = extent(a, i); }", 27, "the dimension must be a constant integer: extent(a, 0)"},
    {"float32[]", "[i](a) { a[i] = extents(a, 0); }", 17, "the function 'extents' is not known; did you mean 'extent'?"},
    {"float32[]", "[i](a) { a[i] = extnet(i, 0); }", 17, "the function 'extnet' is not known; did you mean 'extent'?"},

    {"float32[]", "[i](a) { atomic_add(a[i]); }", 10, "'atomic_add' takes 2 arguments, got 1"},
    {"float32[]", "[i](a) { atomic_compare_exchange(a[i], 1); }", 10, "'atomic_compare_exchange' takes 3 arguments, got 2"},
    {"float32[]", "[i](a) { atomic_add(a, 1); }", 21, "'atomic_add' needs an element of an array first: atomic_add(h[i], ..)"},
    {"float32[]", "[i](a) { atomic_add(i, 1); }", 21, "'atomic_add' needs an element of an array first"},
    {"float32[]", "[i](a) { int t[3]; atomic_add(t[0], 1); }", 31, "'t' is a local array, which nobody shares"},
    {"float32[]", "f(x) { float t[3]; return atomic_add(t[0], x); } [i](a) { a[i] = f(1); }", 27, "'atomic_add' stands in the body of a kernel over indices only"},
    {"float32[]", "[i](a) { a[i] = sum(j : 3, atomic_add(a[j], 1)); }", 28, "'atomic_add' cannot be called here: the term of a construct has no effects"},
    {"P[], int32[]", "struct P { int32 h[2]; }; [i](a, j) { atomic_add(a[i].h[j[i]], 1); }", 55, "'atomic_add' needs an element at one place"},
    {"P[]", "struct P { complex64 h[2]; }; [i](a) { atomic_exchange(a[i].h[1], 1); }", 61, "nor a complex number in a record, which is two"},
    {"bool[]", "[i](a) { atomic_add(a[i], 1); }", 21, "'atomic_add' needs integers or floating numbers, got bool"},
    {"complex64[]", "[i](a) { atomic_max(a[i], 1); }", 21, "'atomic_max' needs integers or floating numbers, got complex64"},
    {"float16[]", "[i](a) { atomic_xor(a[i], 1); }", 21, "'atomic_xor' needs integers or bool, got float16"},
    {"complex128[]", "[i](a) { atomic_exchange(a[i], 1); }", 26, "'atomic_exchange' needs a type of at most 64 bits, got complex128"},
    {"float32[]", "[i](a) { atomic_ad(a[i], 1); }", 10, "the function 'atomic_ad' is not known; did you mean 'atomic_add'?"},
    {"float32[]", "[i](a) { auto f = atomic_add; }", 19, "'atomic_add' is a function; it can only be called"},

    {"float32[]", "[i](a) { a[i] = assert(i > 0); }", 17, "assert is a statement and has no value"},
    {"float32[]", "[i](a) { assert(i > 0, 1); }", 10, "'assert' takes 1 argument, got 2"},
    {"float32[]", "[i](a) { assert(); }", 10, "'assert' takes 1 argument, got 0"},
    {"float32[]", "[i](a) { assert(a[i]++ > 0); }", 17, "'a' cannot be assigned here: the condition of an assert has no effects"},
    {"float32[]", "[i](a) { assert(atomic_add(a[i], 1) > 0); }", 17, "'atomic_add' cannot be called here: the condition of an assert has no effects"},
    {"float32[]", "[i](a) { for (;; assert(i)) ; }", 18, "assert is a statement and has no value"},

    {"float32[]", "[i](a) { a[i] = random_uniform(1, i); }", 17, "'random_uniform' takes 3 arguments, got 2"},
    {"float32[]", "[i](a) { a[i] = random_normalf(1, i, 0.5); }", 17, "'random_normalf' needs integers, got float64 (weak)"},
};
/* clang-format on */

/* Rows of status UF_OK must parse; they say what is not a syntax error. */
static bool row_holds(const bad *b, arena *a) {
    const syntax *s;
    const uf_error *e = uf_last_error();
    bool checks = b->types[0] != 0;
    uf_status status = checks ? lang_try(a, b->source, b->types, NULL) : lang_parse(a, b->source, NULL, &s);
    if (status == b->status &&
        (status == UF_OK || (e->line == b->line && e->column == b->column && strstr(e->message, b->words))))
        return true;
    print_error("%s\nfor (%s) gives status %d, %s\nnot status %d, %d:%d: %s\n\n", b->source, b->types, status,
                status ? e->message : "accepted", b->status, b->line, b->column, b->words);
    return false;
}

static void test_table(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        arena a = {0};
        wrong += !row_holds(&table[i], &a);
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

static void test_core_table(void **state) {
    const uf_error *e = uf_last_error();
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(core_table); i++) {
        arena a = {0};
        uf_status status = lang_try_core(&a, core_table[i].layout, core_table[i].source, core_table[i].types, NULL);
        bool holds = status == UF_ERR_TYPE && e->line == core_table[i].line && e->column == core_table[i].column &&
                     strstr(e->message, core_table[i].words);
        if (!holds)
            print_error("%s\nfor %s gives status %d, %s\nnot %d:%d: %s\n\n", core_table[i].source, core_table[i].layout,
                        status, status ? e->message : "accepted", core_table[i].line, core_table[i].column,
                        core_table[i].words);
        wrong += !holds;
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

static void test_kernel_table(void **state) {
    const uf_error *e = uf_last_error();
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(kernel_table); i++) {
        arena a = {0};
        tree *t;
        uf_status status = lang_try_kernel(&a, kernel_table[i].parameters, kernel_table[i].source, &t);
        bool holds =
            status && e->line == 1 && e->column == kernel_table[i].column && strstr(e->message, kernel_table[i].words);
        if (!holds)
            print_error("%s\ngives status %d, %s\nnot 1:%d: %s\n\n", kernel_table[i].source, status,
                        status ? e->message : "accepted", kernel_table[i].column, kernel_table[i].words);
        wrong += !holds;
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

static void test_caret(void **state) {
    arena a = {0};
    (void)state;
    assert_int_equal(lang_try(&a, "f(x) {\n    return x;\n}\n(x) {\n\treturn f(x) + y;\n}\n", "int8", NULL),
                     UF_ERR_TYPE);
    assert_string_equal(uf_last_error()->message, "5:16: 'y' is not known\n  \treturn f(x) + y;\n  \t              ^");
    assert_int_equal(lang_try(&a, "(x) {\r\n  return y;\r\n}", "int8", NULL), UF_ERR_TYPE);
    assert_string_equal(uf_last_error()->message, "2:10: 'y' is not known\n    return y;\n           ^");
    arena_free(&a);
}

/* ---- Limits ---- */

/* head, then `unit` n times, then tail */
static char *repeated(const char *head, const char *unit, size_t n, const char *tail) {
    size_t size = strlen(head) + n * strlen(unit) + strlen(tail) + 1;
    char *s = malloc(size), *at = s;
    assert_non_null(s);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%s", unit);
    sprintf(at, "%s", tail);
    return s;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* status UF_OK: accepted. Any answer within a second, sanitizers included. */
static void expect_long(uf_status status, const char *words, const char *head, const char *unit, size_t n,
                        const char *tail) {
    arena a = {0};
    char *source = repeated(head, unit, n, tail);
    double start = seconds();
    uf_status got = lang_try(&a, source, "int64", NULL);
    double taken = seconds() - start;
    if (got != status || (status && !strstr(uf_last_error()->message, words)))
        fail_msg("%s%s..%s: status %d, %s", head, unit, tail, got, got ? uf_last_error()->message : "accepted");
    if (taken > 1)
        fail_msg("%s%s..%s takes %.2f s", head, unit, tail, taken);
    free(source);
    arena_free(&a);
}

#define FORTY "))))))))))))))))))))))))))))))))))))))))"
#define TWENTY "}}}}}}}}}}}}}}}}}}}}"
#define HUNDRED TWENTY TWENTY TWENTY TWENTY TWENTY
static const char closing_200[] = "a[i]++;" HUNDRED HUNDRED " return x; }";
static const char closing_240[] = "x" FORTY FORTY FORTY FORTY FORTY FORTY "]; }";
static const char closing_120[] = "x" FORTY FORTY FORTY "; }";

static void test_limits(void **state) {
    const char *deep = "nested too deeply: more than 256 levels", *large = "too large: more than 8192 nodes";
    (void)state;
    expect_long(UF_OK, "", "(x) { return x", " + x", 2700, "; }");
    expect_long(UF_OK, "", "(x) { return x", " && x", 2000, "; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { return x", " + x", 5000, "; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { return x", " + x", 250000, "; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { ", "x++;", 250000, "return x; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { ", ";", 1000000, "return x; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { ", "{}", 500000, "return x; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { return f(x", ",x", 500000, "); }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { int a[2] = {", "1,", 500000, "}; }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { switch (x) {", "case 1:", 100000, "} }");
    expect_long(UF_ERR_SYNTAX, large, "(x) { if (x) return 1;", "else if (x) return 1;", 50000, "return x; }");
    expect_long(UF_OK, "", "(x) { if (x) return 1;", "else if (x) return 1;", 1000, "return x; }");
    expect_long(UF_OK, "", "(x) { return ", "-(", 120, closing_120);
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "(", 1000000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "-", 333333, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "!", 333333, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "(int)", 200000, "x; }");
    expect_long(UF_OK, "", "(x) { return ", "x ? x : ", 250, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "x ? x : ", 100000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "x ? ", 100000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { ", "x = ", 250000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { ", "{", 1000000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { ", "if (x) ", 100000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "a[", 500000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "f(", 500000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { int a[1] = ", "{", 500000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { ", "typeof(", 100000, "x; }");
    expect_long(UF_ERR_SYNTAX, "more than 127 characters", "(x) { return ", "x", 1000000, "; }");
    expect_long(UF_ERR_SYNTAX, "does not fit 64 bits", "(x) { return ", "9", 1000000, "; }");
    expect_long(UF_ERR_SYNTAX, "does not fit float64", "(x) { return ", "9", 1000000, ".0; }");
    expect_long(UF_OK, "", "(x) { return 0.", "3", 1000000, "; }");
    expect_long(UF_OK, "", "(x) { return x; }", " ", 1000000, "");
    expect_long(UF_OK, "", "(x) { return x; }", "/**/", 250000, "");
    expect_long(UF_ERR_SYNTAX, "the comment has no end", "(x) { return x; } /*", "x", 1000000, "");
    expect_long(UF_ERR_SYNTAX, "named twice", "(a", ",x", 500000, ") { return x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { ", "forall (i : 2) ", 100000, "x; }");
    expect_long(UF_ERR_SYNTAX, deep, "(x) { return ", "sum(i : 2, ", 100000, "x; }");
    expect_long(UF_ERR_SYNTAX, "named twice", "(x) { return sum(i0 : 1", ", i : 1", 100000, ", x); }");
    expect_long(UF_OK, "", "(x) { int a[9]; ", "a[(x + a[x]) % 9] = a[x > 0 && x < 9 ? x : 3];", 300, "return a[0]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; ", "if (x > 3 && x < 7) a[x - 1] = a[x > 4 ? x - 4 : 3 - x];", 250,
                "return a[0]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; ", "int64 i = x % 9; { ", 200, closing_200);
    expect_long(UF_OK, "", "(x) { int a[9]; ", "{ const int64 i = min(x, 3) * x; a[i]++; }", 200, "return a[0]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; return a[", "x > 3 ? ", 1, "x : 0]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; return a[", "x < 3 ? 1 : ", 240, "x]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; return a[", "x + ", 3000, "x]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; return a[", "x * ", 3000, "x]; }");
    expect_long(UF_OK, "", "(x) { int a[9]; return a[", "min(x, ", 240, closing_240);
}

/* A helper for each level, which calls the one before it `calls` times, and a kernel that calls the last. */
static void chain(text *s, int levels, int calls) {
    text_puts(s, "f0(x) { return x + 1; }");
    for (int i = 1; i < levels; i++) {
        text_printf(s, "f%d(x) { return x", i);
        for (int k = 0; k < calls; k++)
            text_printf(s, " * f%d(x)", i - 1);
        text_puts(s, "; }");
    }
    text_printf(s, "(x) { return f%d(x); }", levels - 1);
}

static void expect_chain(int levels, int calls, const char *message) {
    text s = {0};
    arena a = {0};
    tree *t;
    chain(&s, levels, calls);
    uf_status status = lang_try(&a, s.data, "int64", &t);
    if (message) {
        assert_int_equal(status, UF_ERR_SYNTAX);
        assert_non_null(strstr(uf_last_error()->message, message));
    } else {
        assert_int_equal(status, UF_OK);
        assert_null(tree_fault(t));
    }
    arena_free(&a);
    text_free(&s);
}

/* Helpers that call each other. They are checked once for their types, and their nodes count once; but what they do for an element is
 * bounded too, since nothing else would end a kernel without loops. */
static void test_inlining(void **state) {
    text s = {0};
    arena a = {0};
    (void)state;
    expect_chain(200, 1, NULL);
    expect_chain(14, 2, NULL);
    expect_chain(30, 2, "more than 1048576 nodes, helpers counted at each call");
    expect_chain(200, 2, "more than 1048576 nodes, helpers counted at each call");
    expect_chain(250, 6, "more than 1048576 nodes, helpers counted at each call");

    text_puts(&s, "f0(x) { return x + 1; }");
    for (int i = 1; i < 300; i++)
        text_printf(&s, "f%d(x) { return f%d(x); }", i, i - 1);
    text_puts(&s, "(x) { return f299(x); }");
    assert_int_equal(lang_try(&a, s.data, "int64", NULL), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "more than 256 levels deep"));
    arena_free(&a);
    text_free(&s);

    text_puts(&s, "f0(x) { return casin(x); }");
    for (int i = 1; i < LANG_MAX_DEPTH - 1; i++)
        text_printf(&s, "f%d(x) { return f%d(x); }", i, i - 1);
    text_printf(&s, "(x) { return f%d(x); }", LANG_MAX_DEPTH - 2);
    assert_int_equal(lang_try(&a, s.data, "complex64", NULL), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "in 'casin': helpers call each other more than 256 levels deep"));
    arena_free(&a);
    text_free(&s);

    text_puts(&s, "(x) -> (y) { y = 0;");
    for (int i = 0; i < 200; i++)
        text_puts(&s, "y += casin(x);");
    text_puts(&s, "}");
    assert_int_equal(lang_try(&a, s.data, "complex64->complex64", NULL), UF_OK);
    arena_free(&a);
    text_free(&s);

    /* A helper of 2000 nodes for each of five types. */
    text_puts(&s, "f(x) { return x");
    for (int k = 0; k < 1000; k++)
        text_puts(&s, " + x");
    text_puts(&s, "; } (x) { return f(x) + f((int)x) + f((uint64)x) + f((float)x) + f((double)x); }");
    assert_int_equal(lang_try(&a, s.data, "int64", NULL), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, "more than 8192 nodes, each helper counted once"));
    arena_free(&a);
    text_free(&s);
}

/* ---- Running out of memory ---- */

/* Each allocation fails in turn. */
static void expect_no_leak(const char *layout, const char *parameters, const char *source) {
    text padded = {0};
    for (int i = 0; i < 300; i++) /* names enough for tables to grow, nodes enough for several blocks of the arena */
        text_printf(&padded, "helper%d(a%d, b%d) { auto c%d = a%d + b%d; return c%d; }\n", i, i, i, i, i, i, i);
    text_puts(&padded, source);
    int64_t n = 0;
    for (uf_status status = UF_ERR_MEMORY; status != UF_OK; n++) {
        arena a = {0};
        allocations_fail_after(n);
        tree *t;
        status = parameters ? lang_try_kernel(&a, parameters, padded.data, &t)
                            : lang_try_core(&a, layout, padded.data, "float32,int8", &t);
        allocations_succeed();
        arena_free(&a);
        if (status != UF_OK)
            assert_int_equal(status, UF_ERR_MEMORY);
    }
    print_message("%lld allocations\n", (long long)n - 1);
    assert_true(n > 5);
    text_free(&padded);
}

static void test_no_memory(void **state) {
    (void)state;
    expect_no_leak(NULL, NULL,
                   "twice(x) { return 2 * x; }\n"
                   "(x, n) -> (q, r) { const int16 t[500] = {3, 1}; float a[4][500] = {{1, 2}, {3}}; q = t[n]; for "
                   "(int i = 0; i < 4; i++) q += a[i][n] * "
                   "twice(x); switch (n) { case 1: r = exp(q * 1.0 * I); break; default: r = csqrt(x) / (n + I); } }");
    expect_no_leak(
        "(m,n),(n)->(m),(m+n-1)", NULL,
        "most(a, b) { return a < b ? b : a; }\n"
        "(A, k) -> (y, z) { forall (i : m) y[i] = sum(j : n, A[i][j] * k[j]) + reduce(most, j : n, k[j]); "
        "for (int64 i = 0; i < m; i++) if (i > 0 && k[i % n] < 3) z[i + n - 1] = prod(j : i, A[j][0] * I); "
        "forall (i : min(m, n), j : n) { auto t = max(l : i, A[l][j]); z[i + j] = y[i ? i - 1 : m - 1] + t; } }");
    expect_no_leak(NULL, "float32[,], int32[], int8",
                   "[i : n, j : m](a, h, k) { if (i > 0 && j < extent(a, 1) - 1) a[i - 1][j + 1] = len(h); "
                   "atomic_add(h[i * m + j], k); assert(k > 0); a[i][j] = random_normal(k, i * m + j, 0); }");
}

/* ---- Random texts ---- */

static uint64_t random_state;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

static const char *const words[] = {"(",
                                    ")",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    ";",
                                    ",",
                                    "x",
                                    "y",
                                    "a",
                                    "i",
                                    "f",
                                    "g",
                                    "+",
                                    "-",
                                    "*",
                                    "/",
                                    "%",
                                    "<<",
                                    ">>",
                                    "<",
                                    "<=",
                                    "==",
                                    "!=",
                                    "&",
                                    "|",
                                    "^",
                                    "~",
                                    "!",
                                    "&&",
                                    "||",
                                    "?",
                                    ":",
                                    "=",
                                    "+=",
                                    "/=",
                                    "<<=",
                                    "++",
                                    "--",
                                    "->",
                                    "0",
                                    "1",
                                    "2",
                                    "3.5",
                                    "0x1p3",
                                    "1.0f",
                                    "7u",
                                    "if",
                                    "else",
                                    "for",
                                    "while",
                                    "do",
                                    "switch",
                                    "case",
                                    "default",
                                    "break",
                                    "continue",
                                    "return",
                                    "auto",
                                    "int",
                                    "float",
                                    "bool",
                                    "int8",
                                    "uint64",
                                    "float16",
                                    "complex",
                                    "double",
                                    "const",
                                    "typeof",
                                    "_Generic",
                                    "sin",
                                    "max",
                                    "exp",
                                    "pow",
                                    "I",
                                    "NAN",
                                    "M_PI",
                                    "CMPLX",
                                    "real",
                                    "clz",
                                    "ldexp",
                                    "sum ( i : 3 ,",
                                    "return x ;",
                                    "forall ( i : n )",
                                    "reduce ( f , j : 2 ,",
                                    "i : 3",
                                    "a [ i ] [ j ]",
                                    "int i = 0 ;",
                                    "for ( int i = 0 ; i < 3 ; i ++ )",
                                    "a [ i ]",
                                    "{ 1 , 2 }",
                                    "int a [ 3 ]",
                                    "( x )",
                                    "( x , y )",
                                    "x = y ;",
                                    "if ( x )",
                                    "\n",
                                    "/* */",
                                    "integer :",
                                    "default :",
                                    "#",
                                    "1e",
                                    "0x",
                                    "len(x)",
                                    "extent(y, 1)",
                                    "atomic_max(",
                                    "assert(x);",
                                    "random_bits(1, i, x)",
                                    "[i : n]"};

static const char *const valid[] = {
    "(x, y) { return 2 * (x - y) / (x + y); }",
    "clamp01(x, lo, hi) { if (x < lo) return lo; if (x > hi) return hi; return x; } (x, y) { return clamp01(x, 0.0, "
    "y); }",
    "(x, y) -> (q, r) { q = floor(x / y); r = x - q * y; }",
    "(x, y) { int n = 0; float a[3] = {1, 2, 3}; for (int i = 0; i < 3; i++) { if (a[i] > x) break; n += i; } return "
    "n; }",
    "(x, y) { switch ((int)x) { case 1: return y; case 2: { y++; break; } default: y -= x; } do y *= 2; while (y < 9); "
    "return y; }",
    "(x, y) { return _Generic(x, float32: sin(x), integer: x << 2, complex: exp(x * I), default: pow(x, 0.5)) + y; }",
    "(x, y) { auto z = CMPLX(x, y); z *= I; z /= 2 - z; return real(z) + abs(z) + (z == 0 ? 1 : max(x, y)); }",
    "h(a, b) { return a < b ? b : a; } (x, y) { double t[3]; forall (i : 3) { auto s = x * i; s += y; t[i] = s; } "
    "return "
    "sum(i : 3, j : 2, t[i] * j) + reduce(h, i : 3, t[i]) + max(i : 2, any(j : i, x < j) ? x : y); }",
    "g(a) { return a + 1; } f(a, b) { typeof(a + b) t = a; return g(t) ? t : b; } (x, y) { return f(x, y) && !f(y, x); "
    "}",
    "(x, y) { const uint8 t[2][2] = {1, 2, {3}}; auto s = 0u; while (s < 2) s += t[s & 1][s]--; return ~s ^ -s | +s; "
    "}"};

/* For the layout (m,n),(n)->(m),(n). */
static const char *const valid_core[] = {
    "(x, y) -> (z, w) { forall (i : m) z[i] = sum(j : n, x[i][j] * y[j]); for (int64 j = 0; j < n; j++) w[j] = 0; }",
    "f(a, b) { return a * b; } (x, y) -> (z, w) { forall (j : n) { auto s = prod(i : m, x[i][j]); w[j] = s / m; } "
    "forall "
    "(i : m) z[i] = reduce(f, j : n - 1, x[i][j + 1] + y[j]); }",
    "(x, y) -> (z, w) { int k = 0; forall (i : m) forall (j : i % n) { if (i > 0 && all(k : n, y[k] == 0)) z[i] = x[i "
    "- 1][j]; "
    "else z[i] = x[i ? i - 1 : m - 1][j]; } for (int64 i = n - 1; i >= 0; i--) { k++; w[i] = y[i] + k; } w[0] += m; }"};

/* Over two indices; see parameter_lists. */
static const char *const valid_kernels[] = {
    "[i : n, j](x, y) { if (i > 0 && j < extent(x, 1) - 1) x[i][j] = x[i - 1][j + 1] * y; }",
    "f(a, b) { return a + b; } [i, j : m](x, y) { y += reduce(f, k : m, len(x) * k); x[i][j] += x[j % len(x)][i]; "
    "assert(x[i][j] == y); if (!y) return; forall (k : 3) x[k][j] = random_uniform(1, i, k); }",
    "[i : n, j : m](x, y) { auto old = atomic_exchange(x[i][j], y); old += old; for (int64 k = 1; k < extent(x, 1); "
    "k++) "
    "x[i][k - 1] = old; x[n - 1 - i][m - 1 - j] = random_bits(j, i * m + j, 0) >> 3; }",
};
static const char *const parameter_lists[] = {"float32[,], float32", "int8[,], uint64",   "uint64[,], float16",
                                              "bool[,], bool",       "float64[,], int32", "bfloat16[,], int64"};

/* What a text is tried as. */
typedef enum trial {
    TRY_ELEMENTWISE,
    TRY_CORE, /* with the layout (m,n),(n)->(m),(n) */
    TRY_KERNEL
} trial;

static const char *const operand_types[] = {"float32,float32", "int8,uint64",   "complex64,float16",
                                            "bool,complex128", "float64,int32", "int64,bfloat16"};

/* Must come back, typed as lang.h promises, or with a status that says what it was, and a place; true if typed. */
static bool try_random(trial as, const char *source) {
    arena a = {0};
    tree *t = NULL;
    const char *layout = as == TRY_CORE ? "(m,n),(n)->(m),(n)" : NULL;
    uf_status status = as == TRY_KERNEL
                           ? lang_try_kernel(&a, parameter_lists[random_below(COUNT(parameter_lists))], source, &t)
                           : lang_try_core(&a, layout, source, operand_types[random_below(COUNT(operand_types))], &t);
    if (status == UF_OK) {
        text printed = {0};
        if (tree_fault(t))
            fail_msg("%s: %s", source, tree_fault(t));
        lang_print(&printed, t);
        assert_true(printed.length > 0);
        text_free(&printed);
    } else {
        const uf_error *e = uf_last_error();
        if ((status != UF_ERR_SYNTAX && status != UF_ERR_TYPE) || e->line < 1 || e->column < 1 ||
            !strchr(e->message, '^'))
            fail_msg("%s: status %d, %s", source, status, e->message);
    }
    arena_free(&a);
    return status == UF_OK;
}

static void random_soup(char *out, size_t size, const char *from) {
    size_t n = (size_t)sprintf(out, "%s", random_below(4) ? "(x, y) { " : "");
    (void)from;
    for (uint32_t left = random_below(40); left && n + 64 < size; left--)
        n += (size_t)sprintf(out + n, "%s ", words[random_below(COUNT(words))]);
    if (random_below(2))
        sprintf(out + n, "; return x; }");
}

/* One to four edits of a valid kernel: a byte changed, a piece removed, repeated, or a word put in. */
static void random_mutant(char *out, size_t size, const char *from) {
    size_t n = (size_t)snprintf(out, size, "%s", from);
    for (uint32_t edits = 1 + random_below(4); edits; edits--) {
        size_t at = random_below((uint32_t)n), length = random_below(12);
        const char *word = words[random_below(COUNT(words))];
        if (length > n - at)
            length = n - at;
        switch (random_below(4)) {
        case 0:
            out[at] = (char)(1 + random_below(255));
            break;
        case 1:
            if (n - length > 2) {
                memmove(out + at, out + at + length, n - at - length + 1);
                n -= length;
            }
            break;
        case 2:
            if (n + length < size) {
                memmove(out + at + length, out + at, n - at + 1);
                n += length;
            }
            break;
        default:
            length = strlen(word);
            if (n + length < size) {
                memmove(out + at + length, out + at, n - at + 1);
                memcpy(out + at, word, length);
                n += length;
            }
        }
    }
}

/* Words that stand for each other in most places: such texts are often kernels. */
static const char *const operators[] = {"+",  "-",  "*", "/", "%", "<<", ">>", "<",
                                        ">=", "==", "&", "|", "^", "&&", "||"};
static const char *const operands[] = {
    "x",      "y",       "1",         "2.5",           "3u",         "I",      "NAN",       "(int)x",      "(-y)",
    "(!x)",   "(x = y)", "x++",       "(y ? x : 1)",   "0x7fffffff", "sin(x)", "max(x, 2)", "CMPLX(x, y)", "1e9",
    "(x, y)", "abs(y)",  "pow(x, y)", "sum(i : 3, x)", "m",          "n",      "y[0]",      "x[0][n - 1]", "i"};
static const char *const types[] = {"int", "float", "bool", "uint8", "int64", "float16", "complex64", "double", "auto"};

static const struct {
    const char *const *words;
    size_t count;
} classes[] = {{operators, COUNT(operators)}, {operands, COUNT(operands)}, {types, COUNT(types)}};

/* A word for `length` bytes at s, if they are in a class. */
static const char *random_peer(const char *s, size_t length) {
    for (size_t k = 0; k < COUNT(classes); k++)
        for (size_t i = 0; i < classes[k].count; i++)
            if (strlen(classes[k].words[i]) == length && memcmp(classes[k].words[i], s, length) == 0)
                return classes[k].words[random_below((uint32_t)classes[k].count)];
    return NULL;
}

/* A valid kernel with about one word in six exchanged. */
static void random_relative(char *out, size_t size, const char *from) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    static const char sign[] = "+-*/%<>=!&|^";
    const char *s = from;
    size_t n = 0;
    for (size_t length; *s && n + 32 < size; s += length) {
        length = strspn(s, word);
        if (!length)
            length = strspn(s, sign);
        if (!length)
            length = 1;
        const char *peer = random_below(6) ? NULL : random_peer(s, length);
        n += (size_t)sprintf(out + n, "%.*s", (int)(peer ? strlen(peer) : length), peer ? peer : s);
    }
}

static void test_random(void **state) {
    const char *seed = getenv("UF_SEED"), *scale = getenv("PROP_N");
    char source[2048];
    (void)state;
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    print_message("UF_SEED=%llu\n", (unsigned long long)random_state);
    for (size_t i = 0; i < COUNT(valid); i++)
        try_random(TRY_ELEMENTWISE, valid[i]);
    for (size_t i = 0; i < COUNT(valid_core); i++)
        assert_true(try_random(TRY_CORE, valid_core[i]));
    for (size_t i = 0; i < COUNT(valid_kernels); i++)
        assert_true(try_random(TRY_KERNEL, valid_kernels[i]));
    int64_t typed = 0, tries = (int64_t)(20000 * (scale ? atof(scale) : 1));
    for (int64_t i = tries; i > 0; i--) {
        static void (*const makers[])(char *, size_t, const char *) = {random_soup, random_mutant, random_relative,
                                                                       random_relative};
        trial as = (trial)random_below(3);
        const char *from = as == TRY_CORE     ? valid_core[random_below(COUNT(valid_core))]
                           : as == TRY_KERNEL ? valid_kernels[random_below(COUNT(valid_kernels))]
                                              : valid[random_below(COUNT(valid))];
        makers[i % 4](source, sizeof source, from);
        typed += try_random(as, source);
    }
    print_message("%lld of %lld texts are kernels\n", (long long)typed, (long long)tries);
    assert_true(typed > tries / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_core_table), cmocka_unit_test(test_kernel_table),
        cmocka_unit_test(test_caret),     cmocka_unit_test(test_limits),     cmocka_unit_test(test_inlining),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
