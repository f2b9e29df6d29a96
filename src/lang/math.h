/* math.h - the table of math functions, one row for each. */
#ifndef UF_MATH_H
#define UF_MATH_H

#include "type/type.h"

/* Which types the arguments and the result have. */
typedef enum math_rule {
    /* arguments and result have the common floating type (integers: float64; 16-bit ones: float32) */
    MATH_FLOATING,
    MATH_FLOATING_INT, /* the same, but the last argument is int32, as of ldexp */
    MATH_INT_FLOATING, /* the same, but the first argument is int32, as of jn */
    MATH_TO_INT,       /* floating arguments and an int32 result, as of ilogb */
    MATH_BITS          /* one integer of any width, which is not promoted, and an int32 result, as of clz */
} math_rule;

typedef struct math_row {
    /* in kernel C, and of the double function in libm; a function of the prelude with the same name hides the row */
    const char *name;
    uint8_t arity;
    uint8_t rule; /* math_rule */
    /* An intrinsic, "llvm.floor", to which .f32, .f64 or .i32 is added; else libm's name, to which f is added for
     * float32. */
    const char *cpu;
    const char *gpu; /* an intrinsic too, or libdevice's name, "__nv_floor", to which f is added for float32 */
    bool vector;     /* glibc's libmvec has a vector form */
    /* The largest error on any engine, in units in the last place. 0: exact; HUGE_VAL: near a zero of the function only
     * the absolute error is bounded. */
    double ulp32, ulp64;
    const void *address32, *address64; /* libm's functions; NULL for an intrinsic that never becomes a call */
    /* -1 or 1: the result is rounded toward -infinity or +infinity. cpu is then the operation, "add", and gpu the beginning of an
     * intrinsic, "llvm.nvvm.add"; if `subtracts` is set, "llvm.nvvm.fma", see ir/common/directed.c. 0: neither. */
    int8_t direction;
    bool subtracts;
    bool inverted; /* on the CPU the result is 1 divided by what `cpu` gives */
} math_row;

extern const math_row math_rows[];
extern const int math_row_count;
const math_row *math_find(const char *name, size_t length);

#endif
