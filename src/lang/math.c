/* math.c - the table of functions that both libm and libdevice have. A bound in units in the last place is the largest
 * of three: what glibc 2.36 states for its scalar functions, 4 for those of libmvec, and what the CUDA C++ Programming
 * Guide states. On the CPU the rounding functions are intrinsics, so that they can be vectorised; a host without SSE4.1
 * or FMA still calls libm for them. */
#include <math.h>

#include "lang/math.h"

/* The address of a function as a pointer to data, which POSIX's dlsym relies on, and ISO C has no conversion for. */
#define ADDRESS(function) __extension__(const void *) function

#define LIBM(name) #name, "__nv_" #name
/* The addresses, and what only some rows have. */
#define CALLS(name) ADDRESS(name##f), ADDRESS(name), 0, false, false
#define NO_CALLS NULL, NULL, 0, false, false
#define INVERTED NULL, NULL, 0, false, true
#define ABSOLUTELY HUGE_VAL
#define DIRECTED(operation) #operation, "llvm.nvvm." #operation

/* libm's lgamma stores the sign of gamma in a variable that all threads share; lgamma_r does not. */
static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

static float log_gammaf(float x) {
    int sign;
    return lgammaf_r(x, &sign);
}

/* clang-format off */
const math_row math_rows[] = {
    /* name      arity rule              cpu               gpu                vector ulp32 ulp64     addresses */
    {"acos",        1, MATH_FLOATING,     LIBM(acos),                          true,   4,   4, CALLS(acos)},
    {"acosh",       1, MATH_FLOATING,     LIBM(acosh),                         true,   4,   4, CALLS(acosh)},
    {"asin",        1, MATH_FLOATING,     LIBM(asin),                          true,   4,   4, CALLS(asin)},
    {"asinh",       1, MATH_FLOATING,     LIBM(asinh),                         true,   4,   4, CALLS(asinh)},
    {"atan",        1, MATH_FLOATING,     LIBM(atan),                          true,   4,   4, CALLS(atan)},
    {"atan2",       2, MATH_FLOATING,     LIBM(atan2),                         true,   4,   4, CALLS(atan2)},
    {"atanh",       1, MATH_FLOATING,     LIBM(atanh),                         true,   4,   4, CALLS(atanh)},
    {"cbrt",        1, MATH_FLOATING,     LIBM(cbrt),                          true,   4,   4, CALLS(cbrt)},
    {"ceil",        1, MATH_FLOATING,     "llvm.ceil",      "llvm.ceil",       false,  0,   0, CALLS(ceil)},
    {"clz",         1, MATH_BITS,         "llvm.ctlz",      "llvm.ctlz",       false,  0,   0, NO_CALLS},
    {"copysign",    2, MATH_FLOATING,     "llvm.copysign",  "llvm.copysign",   false,  0,   0, NO_CALLS},
    {"cos",         1, MATH_FLOATING,     LIBM(cos),                           true,   4,   4, CALLS(cos)},
    {"cosh",        1, MATH_FLOATING,     LIBM(cosh),                          true,   4,   4, CALLS(cosh)},
    {"ctz",         1, MATH_BITS,         "llvm.cttz",      "llvm.cttz",       false,  0,   0, NO_CALLS},
    {"erf",         1, MATH_FLOATING,     LIBM(erf),                           true,   4,   4, CALLS(erf)},
    {"erfc",        1, MATH_FLOATING,     LIBM(erfc),                          true,   5,   5, CALLS(erfc)},
    {"exp",         1, MATH_FLOATING,     LIBM(exp),                           true,   4,   4, CALLS(exp)},
    {"exp10",       1, MATH_FLOATING,     LIBM(exp10),                         true,   4,   4, CALLS(exp10)},
    {"exp2",        1, MATH_FLOATING,     LIBM(exp2),                          true,   4,   4, CALLS(exp2)},
    {"expm1",       1, MATH_FLOATING,     LIBM(expm1),                         true,   4,   4, CALLS(expm1)},
    {"fabs",        1, MATH_FLOATING,     "llvm.fabs",      "__nv_fabs",       false,  0,   0, NO_CALLS},
    {"floor",       1, MATH_FLOATING,     "llvm.floor",     "llvm.floor",      false,  0,   0, CALLS(floor)},
    {"fma",         3, MATH_FLOATING,     "llvm.fma",       "llvm.fma",        false,  0,   0, CALLS(fma)},
    {"fmod",        2, MATH_FLOATING,     LIBM(fmod),                          false,  0,   0, CALLS(fmod)},
    {"hypot",       2, MATH_FLOATING,     LIBM(hypot),                         true,   4,   4, CALLS(hypot)},
    {"ilogb",       1, MATH_TO_INT,       LIBM(ilogb),                         false,  0,   0, CALLS(ilogb)},
    {"j0",          1, MATH_FLOATING,     LIBM(j0),                false, ABSOLUTELY, ABSOLUTELY, CALLS(j0)},
    {"j1",          1, MATH_FLOATING,     LIBM(j1),                false, ABSOLUTELY, ABSOLUTELY, CALLS(j1)},
    {"jn",          2, MATH_INT_FLOATING, LIBM(jn),                false, ABSOLUTELY, ABSOLUTELY, CALLS(jn)},
    {"ldexp",       2, MATH_FLOATING_INT, LIBM(ldexp),                         false,  0,   0, CALLS(ldexp)},
    {"lgamma",      1, MATH_FLOATING,     LIBM(lgamma),            false, ABSOLUTELY, ABSOLUTELY, CALLS(log_gamma)},
    {"log",         1, MATH_FLOATING,     LIBM(log),                           true,   4,   4, CALLS(log)},
    {"log10",       1, MATH_FLOATING,     LIBM(log10),                         true,   4,   4, CALLS(log10)},
    {"log1p",       1, MATH_FLOATING,     LIBM(log1p),                         true,   4,   4, CALLS(log1p)},
    {"log2",        1, MATH_FLOATING,     LIBM(log2),                          true,   4,   4, CALLS(log2)},
    {"logb",        1, MATH_FLOATING,     LIBM(logb),                          false,  0,   0, CALLS(logb)},
    {"nearbyint",   1, MATH_FLOATING,     "llvm.nearbyint", "__nv_nearbyint",  false,  0,   0, CALLS(nearbyint)},
    {"nextafter",   2, MATH_FLOATING,     LIBM(nextafter),                     false,  0,   0, CALLS(nextafter)},
    {"popcount",    1, MATH_BITS,         "llvm.ctpop",     "llvm.ctpop",      false,  0,   0, NO_CALLS},
    {"pow",         2, MATH_FLOATING,     LIBM(pow),                           true,   4,   4, CALLS(pow)},
    {"remainder",   2, MATH_FLOATING,     LIBM(remainder),                     false,  0,   0, CALLS(remainder)},
    {"rint",        1, MATH_FLOATING,     "llvm.rint",      "__nv_rint",       false,  0,   0, CALLS(rint)},
    {"round",       1, MATH_FLOATING,     "llvm.round",     "__nv_round",      false,  0,   0, CALLS(round)},
    {"rsqrt",       1, MATH_FLOATING,     "llvm.sqrt",      "__nv_rsqrt",      false,  2,   2, INVERTED},
    {"scalbn",      2, MATH_FLOATING_INT, LIBM(scalbn),                        false,  0,   0, CALLS(scalbn)},
    {"sin",         1, MATH_FLOATING,     LIBM(sin),                           true,   4,   4, CALLS(sin)},
    {"sinh",        1, MATH_FLOATING,     LIBM(sinh),                          true,   4,   4, CALLS(sinh)},
    {"sqrt",        1, MATH_FLOATING,     "llvm.sqrt",      "llvm.sqrt",       false,  0,   0, NO_CALLS},
    {"tan",         1, MATH_FLOATING,     LIBM(tan),                           true,   4,   4, CALLS(tan)},
    {"tanh",        1, MATH_FLOATING,     LIBM(tanh),                          true,   4,   4, CALLS(tanh)},
    {"tgamma",      1, MATH_FLOATING,     LIBM(tgamma),                        false,  8,  10, CALLS(tgamma)},
    {"trunc",       1, MATH_FLOATING,     "llvm.trunc",     "__nv_trunc",      false,  0,   0, CALLS(trunc)},
    {"y0",          1, MATH_FLOATING,     LIBM(y0),                false, ABSOLUTELY, ABSOLUTELY, CALLS(y0)},
    {"y1",          1, MATH_FLOATING,     LIBM(y1),                false, ABSOLUTELY, ABSOLUTELY, CALLS(y1)},
    {"yn",          2, MATH_INT_FLOATING, LIBM(yn),                false, ABSOLUTELY, ABSOLUTELY, CALLS(yn)},

    /* the same with a direction, and whether it subtracts */
    {"add_down",   2, MATH_FLOATING,     DIRECTED(add),                     false,  0,   0, NULL, NULL, -1, false, false},
    {"add_up",     2, MATH_FLOATING,     DIRECTED(add),                     false,  0,   0, NULL, NULL,  1, false, false},
    {"div_down",   2, MATH_FLOATING,     DIRECTED(div),                     false,  0,   0, NULL, NULL, -1, false, false},
    {"div_up",     2, MATH_FLOATING,     DIRECTED(div),                     false,  0,   0, NULL, NULL,  1, false, false},
    {"fma_down",   3, MATH_FLOATING,     DIRECTED(fma),                     false,  0,   0, NULL, NULL, -1, false, false},
    {"fma_up",     3, MATH_FLOATING,     DIRECTED(fma),                     false,  0,   0, NULL, NULL,  1, false, false},
    {"mul_down",   2, MATH_FLOATING,     DIRECTED(mul),                     false,  0,   0, NULL, NULL, -1, false, false},
    {"mul_up",     2, MATH_FLOATING,     DIRECTED(mul),                     false,  0,   0, NULL, NULL,  1, false, false},
    {"sqrt_down",  1, MATH_FLOATING,     DIRECTED(sqrt),                    false,  0,   0, NULL, NULL, -1, false, false},
    {"sqrt_up",    1, MATH_FLOATING,     DIRECTED(sqrt),                    false,  0,   0, NULL, NULL,  1, false, false},
    {"sub_down",   2, MATH_FLOATING,     "add",            "llvm.nvvm.fma",   false,  0,   0, NULL, NULL, -1, true, false},
    {"sub_up",     2, MATH_FLOATING,     "add",            "llvm.nvvm.fma",   false,  0,   0, NULL, NULL,  1, true, false},
};
/* clang-format on */
const int math_row_count = COUNT(math_rows);

const math_row *math_find(const char *name, size_t length) {
    for (int i = 0; i < math_row_count; i++)
        if (strlen(math_rows[i].name) == length && memcmp(math_rows[i].name, name, length) == 0)
            return &math_rows[i];
    return NULL;
}
