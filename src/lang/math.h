/* math.h - the table of math functions: one row a function. */
#ifndef UF_MATH_H
#define UF_MATH_H

#include "type/type.h"

/* Which types arguments and result have. */
typedef enum math_rule {
    MATH_FLOATING,     /* all arguments and the result: the common floating type (integers: float64; halves: float32) */
    MATH_FLOATING_INT, /* the same, but the last argument is int32: ldexp */
    MATH_INT_FLOATING, /* the same, but the first argument is int32: jn */
    MATH_TO_INT,       /* floating arguments, int32 result: ilogb */
    MATH_BITS          /* one integer of any width, not promoted; int32 result: clz */
} math_rule;

typedef struct math_row {
    const char *name; /* of the double function in libm, and in kernel C: but a function of the prelude hides it */
    uint8_t arity;
    uint8_t rule; /* math_rule */
    const char
        *cpu; /* "llvm.floor": an intrinsic (.f32, .f64 / .i32 follow); else the libm name (f follows for float32) */
    const char *gpu;     /* "llvm.floor" or "__nv_floor" (f follows for float32) */
    bool vector;         /* glibc's libmvec has it */
    double ulp32, ulp64; /* largest error on any engine in units in the last place; 0: exact; HUGE_VAL: bounded
                                          absolutely only (near a zero of the function) */
    const void *address32, *address64; /* libm's functions; NULL for intrinsics that never call one */
} math_row;

extern const math_row math_rows[];
extern const int math_row_count;
const math_row *math_find(const char *name, size_t length);

#endif
