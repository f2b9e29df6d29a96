/* prelude.c - the functions that are written in kernel C: one text for both engines. A row is parsed when a kernel first
 * names it. docs/kernel-c.md states the accuracy; each algorithm's source stands above it. */
#include "lang/check.h"

/* clang-format off */
const prelude_row prelude_rows[] = {
{"min", 2, RULE_ARITHMETIC, "min(a, b) { return a < b || a != a ? a : b; }"},
{"max", 2, RULE_ARITHMETIC, "max(a, b) { return a > b || a != a ? a : b; }"},
{"fmin", 2, RULE_FLOATING, "fmin(a, b) { return a < b || b != b ? a : b; }"},
{"fmax", 2, RULE_FLOATING, "fmax(a, b) { return a > b || b != b ? a : b; }"},
{"fdim", 2, RULE_FLOATING, "fdim(a, b) { return a <= b ? 0 : a - b; }"},
{"abs", 1, RULE_ARITHMETIC, "abs(x) { return _Generic(x, floating: fabs(x), default: x < 0 ? -x : x); }"},
{"clamp", 3, RULE_ARITHMETIC, "clamp(x, low, high) { return min(max(x, low), high); }"},
{"sign", 1, RULE_ARITHMETIC, "sign(x) { return x > 0 ? 1 : x < 0 ? -1 : x; }"},
{"isnan", 1, RULE_INEXACT, "isnan(x) { return x != x; }"},
{"isinf", 1, RULE_INEXACT,
 "isinf(x) { return _Generic(x, complex: isinf(real(x)) || isinf(imag(x)), default: fabs(x) == INFINITY); }"},
{"isfinite", 1, RULE_INEXACT,
 "isfinite(x) { return _Generic(x, complex: isfinite(real(x)) && isfinite(imag(x)), default: fabs(x) < INFINITY); }"},
{"signbit", 1, RULE_FLOATING, "signbit(x) { return copysign(1, x) < 0; }"},
{"lrint", 1, RULE_FLOATING, "lrint(x) { return (int64)rint(x); }"},
{"llrint", 1, RULE_FLOATING, "llrint(x) { return (int64)rint(x); }"},
{"lround", 1, RULE_FLOATING, "lround(x) { return (int64)round(x); }"},
{"llround", 1, RULE_FLOATING, "llround(x) { return (int64)round(x); }"},
};
/* clang-format on */
const int prelude_row_count = COUNT(prelude_rows);
