/* ref.h - the tests' oracle: what kernel C means, told a second time. A tree-walking interpreter of the typed tree, one
 * element or inner call at a time, and the math functions by MPFR. Shares no arithmetic with the library: conversions,
 * halves, integer rules are its own. Floating values are held as double, rounded to their type at each step. */
#ifndef UF_TEST_REF_H
#define UF_TEST_REF_H

#include "lang/lang.h"

/* Runs the kernel of a tree: in has its parameters' values, of their types; out gets its results. Returns NULL, ref_endless
 * if it was stopped after `steps` nodes, or what is wrong with the tree. */
const char *ref_run(const tree *t, const number *in, number *out, int64_t steps);
extern const char ref_endless[];

/* The order that foralls and reductions go in. A kernel that gives different bits in different orders has no one answer.
 * Exact: forward, and sums of floating values are those of their terms rounded once. */
typedef enum ref_order {
    REF_FORWARD,
    REF_BACKWARD,
    REF_SCATTERED, /* foralls in a mixed order, reductions in pairs */
    REF_EXACT
} ref_order;

/* One inner call of a generalized ufunc, or one point of a kernel over indices, whose operands are its parameters, then the
 * indices. */
typedef struct ref_core {
    char *const *data;    /* per operand, inputs then outputs: element 0 of its core */
    const dtype *types;   /* in memory; any, values are converted */
    const int64_t *words; /* the core parameters, see type.h */
    ref_order order;
    int64_t steps; /* in, and what is left */
    double doubt;  /* raised to: how far the value of a reduction may be from REF_EXACT's, in any order, given that what
                      is inside it depends on other reductions with slope 1 at most */
} ref_core;
/* As ref_run. Outputs are written element by element as the kernel goes; those without core dimensions at its end. */
const char *ref_run_core(const tree *t, ref_core *core);

/* A value converted to a type by kernel C's rules. */
number ref_convert(number value, dtype to);

/* A math function of arguments as in N_MATH, correctly rounded. type is the row's `wide`. */
number ref_math(const math_row *row, dtype type, const number *args);

/* How far `got` is from the exact value of a math function, in units in the last place of the exact value (subnormals have
 * the spacing of the smallest; infinity stands one unit beyond the largest finite number). 0 where both are NaN, HUGE_VAL
 * where only one is. *exact, if not NULL, gets the exact value rounded to double. */
double ref_ulps(const math_row *row, dtype type, const number *args, double got, double *exact);

/* Are two values the same bits? Any NaN equals any NaN. Both are of one type. */
bool ref_same(number a, number b);

#endif
