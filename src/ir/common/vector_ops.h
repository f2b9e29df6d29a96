/* vector_ops.h - what our vector forms of functions are written in: operations on whole vectors of 256 or 512 bits, each of which is an
 * instruction or two. Those under the head AVX-512 are of vectors of 512 bits alone. A value is an ssa of the vector's type; an index, or
 * bits, one of integers of the same size. */
#ifndef UF_VECTOR_OPS_H
#define UF_VECTOR_OPS_H

#include "ir/common/internal.h"

/* The vectors of one floating dtype. */
typedef struct vec {
    emit *e;
    dtype type;
    int lanes, bits;          /* bits of an element */
    const char *real, *whole; /* <16 x float>, <16 x i32> */
    const char *flags;        /* <16 x i1> */
    const char *mask;         /* i16: the flags' bits in one integer */
    const char *suffix;       /* ps: the end of an instruction's name */
    const char *overload;     /* v16f32 */
} vec;

/* float32 or float64, in vectors of the target's width. */
vec vec_of(emit *e, dtype type);

ssa vec_constant(const vec *v, double x);
/* What is for float32, or for float64. */
static inline double vec_choose(const vec *v, double of_float32, double of_float64) {
    return v->type == DT_FLOAT32 ? of_float32 : of_float64;
}

/* The same of tables of coefficients: two arguments, the table and its length. */
#define VEC_COEFFICIENTS(v, single, wide) \
    ((v)->type == DT_FLOAT32 ? (single) : (wide)), ((v)->type == DT_FLOAT32 ? COUNT(single) : COUNT(wide))

ssa vec_add(const vec *v, ssa a, ssa b);
ssa vec_sub(const vec *v, ssa a, ssa b);
ssa vec_mul(const vec *v, ssa a, ssa b);
ssa vec_divide(const vec *v, ssa a, ssa b);
ssa vec_negate(const vec *v, ssa a);
/* a * b + c, rounded once. */
ssa vec_fma(const vec *v, ssa a, ssa b, ssa c);
ssa vec_abs(const vec *v, ssa a);
ssa vec_rint(const vec *v, ssa a);
/* c[0] + c[1] x + .., pairs of coefficients first, so that fewer operations wait for each other. */
ssa vec_polynomial(const vec *v, const double *c, int n, ssa x);
/* The same of at least four coefficients: both halves at once, so that fewer operations still wait. */
ssa vec_polynomial_by_halves(const vec *v, const double *c, int n, ssa x);
/* The nearest number from low to high; NaN if a is. */
ssa vec_clamp(const vec *v, ssa a, double low, double high);
ssa vec_at_most(const vec *v, ssa a, double high);

ssa vec_compare(const vec *v, const char *how, ssa a, ssa b); /* flags: how is "olt" .. */
ssa vec_and(const vec *v, ssa a, ssa b);                      /* of flags */
ssa vec_or(const vec *v, ssa a, ssa b);
ssa vec_not(const vec *v, ssa a);
ssa vec_select(const vec *v, ssa flags, ssa yes, ssa no);
/* Is a flag false? (i1) */
ssa vec_any_false(const vec *v, ssa flags);

ssa vec_bits(const vec *v, ssa a);
ssa vec_of_bits(const vec *v, ssa bits);
ssa vec_integer(const vec *v, const char *what, ssa a, int64_t b); /* a op b on bits, the same b in all lanes */
ssa vec_integers(const vec *v, const char *what, ssa a, ssa b);    /* a op b on bits, lane by lane */
/* |a| with the sign of b */
ssa vec_with_sign(const vec *v, ssa a, ssa b);

/* ---- AVX-512 ---- */

/* table[index mod count], of 16 elements, or 32 of float32. */
ssa vec_lookup(const vec *v, const double *table, int count, ssa index);

/* |x| = m 2^e, m from 1 to 2, also of subnormal numbers. Zeros, infinities: e is -infinity, infinity, and m is 1. nan_below_zero: of x, so
 * that m is NaN where that is below 0. */
ssa vec_exponent(const vec *v, ssa x);
ssa vec_mantissa(const vec *v, ssa x, bool nan_below_zero);
/* 1 / x with an error of 2^-14. */
ssa vec_rough_inverse(const vec *v, ssa x);
/* x to a multiple of 2^-places. */
ssa vec_round(const vec *v, ssa x, int places);
/* x 2^floor(n), rounded once. */
ssa vec_scale(const vec *v, ssa x, ssa n);

#endif
