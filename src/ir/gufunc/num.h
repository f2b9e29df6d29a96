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
ssa part_negated(const num_kind *of, ssa x);
ssa part_quotient(const num_kind *of, ssa a, ssa b);

num num_real(const num_kind *of, double x);
num num_fused(const num_kind *of, num a, num b, num c); /* a b + c, by fused operations */
num num_product(const num_kind *of, num a, num b);
num num_scaled(const num_kind *of, num x, ssa factor); /* by a real number */
num num_negated(const num_kind *of, num x);
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

/* How large a number is, as an integer that is not negative (i32): of a complex one the sum of its parts; of wide ones the upper half, and
 * whether there is anything below it. NaN is larger than all numbers. */
ssa num_size(const num_kind *of, num x);

#endif
