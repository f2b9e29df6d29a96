/* num.h - numbers by their parts, so that what is written with them is the same for real and complex ones. */
#ifndef UF_NUM_H
#define UF_NUM_H

#include "ir/common/emit.h"

enum {
    PARTS = 2
};

/* A real number, or the parts of a complex one. */
typedef struct num {
    ssa part[PARTS];
} num;

/* What numbers are: their dtype, that of their parts, and how many these are. */
typedef struct num_kind {
    emit *e;
    dtype type, real;
    int parts;
} num_kind;

static inline num_kind num_kind_of(emit *e, dtype type) {
    bool is_complex = dtype_is_complex(type);
    return (num_kind){e, type, is_complex ? (dtype)dtypes[type].component : type, is_complex ? PARTS : 1};
}

/* A value of the dtype from its parts, and back. */
ssa num_value(const num_kind *of, num x);
num num_of_value(const num_kind *of, ssa value);

/* Of parts. */
ssa num_constant(const num_kind *of, double x);
static inline ssa part_binary(const num_kind *of, op o, ssa a, ssa b) {
    return emit_binary(of->e, o, of->real, a, b, of->real);
}
static inline ssa part_select(const num_kind *of, ssa condition, ssa yes, ssa no) {
    return emit_select(of->e, of->real, condition, yes, no);
}
ssa part_negated(const num_kind *of, ssa x);
ssa part_quotient(const num_kind *of, ssa a, ssa b);
ssa part_fused(const num_kind *of, ssa a, ssa b, ssa c); /* a b + c */
ssa part_magnitude(const num_kind *of, ssa x);

num num_real(const num_kind *of, double x);
num num_fused(const num_kind *of, num a, num b, num c); /* a b + c, by fused operations */
num num_product(const num_kind *of, num a, num b);
num num_scaled(const num_kind *of, num x, ssa factor); /* by a real number */
num num_negated(const num_kind *of, num x);
num num_conjugate(const num_kind *of, num x);
/* The square of its absolute value, added to `more`; that value, without overflow. Parts. */
ssa num_square(const num_kind *of, num x, ssa more);
ssa num_absolute(const num_kind *of, num x);
num num_select(const num_kind *of, ssa condition, num yes, num no);
ssa num_is_zero(const num_kind *of, num x); /* i1 */

/* What several numbers are divided by; small ones, whose inverse might overflow, and what is divided by them, are multiplied by a power of
 * two first. */
typedef struct num_divisor {
    num x, inverse; /* inverse: of x by */
    ssa by;
} num_divisor;
num_divisor num_divide_by(const num_kind *of, num x);
num num_quotient(const num_kind *of, num a, const num_divisor *d);

/* How large a part is, as an integer that is not negative (i32): of wide ones the upper half, and whether there is anything below it. NaN is
 * larger than all numbers. Of a complex number it is that of the sum of its parts. */
ssa part_size(const num_kind *of, ssa x);
ssa num_size(const num_kind *of, num x);
/* x with the sign of another; with the other sign if the highest bit of an i32 is set. */
ssa part_signed_as(const num_kind *of, ssa x, ssa sign);
ssa part_negated_by(const num_kind *of, ssa x, ssa bits);

/* ---- Of GPUs ---- */

/* What depends on the precision of parts. Numbers are scaled so that the largest of them has that exponent: sums of squares of all that matter
 * are numbers then, too. */
typedef struct num_precision {
    int mantissa, bias; /* bits; of the exponent */
    int scale;
    int inverse_steps, root_steps; /* of Newton's method */
    double epsilon;                /* half the distance from 1 to the next number */
    double tiny;                   /* the least that is divided by */
} num_precision;
const num_precision *num_precision_of(const num_kind *of);

/* Reciprocals of positive numbers that are far from the ends of their range, without a division. */
ssa part_inverse(const num_kind *of, ssa x);
ssa part_inverse_root(const num_kind *of, ssa x);

/* Factors that multiply, one after the other, by 2 to the power of an i32; one alone may be out of range. */
typedef struct num_factors {
    ssa by[2];
} num_factors;
num_factors num_power_of_two(const num_kind *of, ssa exponent);
ssa part_times(const num_kind *of, ssa x, const num_factors *f);

#endif
