/* vector_forms.h - functions of whole vectors that we write ourselves, as they are faster, and nearer to the exact results, than those
 * of libmvec, which go to libm lane by lane where a result is not an ordinary number (exp of -100 in float32, log of 0) or an argument is large
 * (sin from 10,000 on). Most live on the instructions of AVX-512 for exponents, mantissas and tables in registers; those for vectors of 256
 * bits do without. */
#ifndef UF_VECTOR_FORMS_H
#define UF_VECTOR_FORMS_H

#include "ir/common/vector_ops.h"

/* Is there one of a row and a type (float32 or float64) for the processor? */
bool emit_has_vector_form(const emit *e, const math_row *row, dtype wide);
/* The name of the module's function of vectors for a row and a type, which is defined if it has not been; NULL: libmvec's is to be used. */
const char *emit_vector_form(emit *e, const math_row *row, dtype wide);

/* domain.c: writes the name of a function of the module that calls libmvec's `routine` for a row and a type, but of numbers in the
 * function's domain alone; false: it has all numbers for its domain. */
bool emit_in_domain(emit *e, const math_row *row, dtype wide, const char *routine, char *name, size_t size);

/* A form: writes a function's body, from its parameters to its returns. */
void vec_atan2(const vec *v, const ssa *x);
void vec_cos(const vec *v, const ssa *x); /* of float32, as vec_sin is */
void vec_exp(const vec *v, const ssa *x);
void vec_exp2(const vec *v, const ssa *x);
void vec_exp2_without_tables(const vec *v, const ssa *x);
void vec_exp_without_tables(const vec *v, const ssa *x);
void vec_log(const vec *v, const ssa *x);
void vec_log_without_tables(const vec *v, const ssa *x); /* of float32 */
void vec_sin(const vec *v, const ssa *x);
void vec_tanh(const vec *v, const ssa *x);
void vec_pow(const vec *v, const ssa *x);

/* A sum of two numbers, of which the second is small beside the first. */
typedef struct vec_two {
    ssa high, low;
} vec_two;

/* scale * x = n log 2 + r, where n is a multiple of 1/16 whose last four bits are those of index, and |r| is hardly above log(2) / 32. r
 * is exact: the number that stands for log 2 is a rounded one. */
typedef struct vec_reduced {
    ssa n, index, r;
} vec_reduced;
vec_reduced vec_reduce(const vec *v, ssa x, double scale);
/* e^(scale * x) = 2^n (1 + p), where 2^n is the one of the table: returns p, and what it lacks. is_near: |n| is at most 64; c: coefficients of
 * (e^r - 1 - r) / r^2. */
vec_two vec_expm1_of(const vec *v, vec_reduced d, bool is_near, const double *c, int count);
/* 2^n, of the index that belongs to n; it must be a normal number. */
ssa vec_power_of(const vec *v, ssa index);
/* Added to a small number, leaves in the last bits its multiple of 1/16. */
ssa vec_to_sixteenths(const vec *v);
/* 2^(t.high + t.low). shifted: the sum, roughly, and vec_to_sixteenths; is_normal: so is the result. */
ssa vec_exp2_of(const vec *v, vec_two t, ssa shifted, bool is_normal);

/* log2(|a|): a sum, and one number near it. Of 0, infinity and NaN the higher part of the sum is right, the lower one NaN. */
typedef struct vec_logarithm {
    vec_two sum;
    ssa near;
} vec_logarithm;
vec_logarithm vec_log2_of(const vec *v, ssa a);

#endif
