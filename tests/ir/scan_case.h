/* scan_case.h - an accumulation on random arrays: folds made of texts, loops made by hand, and what must come out by a plain
 * left fold. Elements are small integers, so that every grouping gives the same bits. */
#ifndef UF_TEST_SCAN_CASE_H
#define UF_TEST_SCAN_CASE_H

#include "engine.h"
#include "lang/fold.h"

enum {
    SCAN_DIMS = 4,    /* of the lines, and one along them, the last */
    SCAN_OPERANDS = 6 /* with the position */
};

/* An operator with its own idea of itself: state and finished results as integers. */
typedef struct scan_operator {
    const char *name, *map, *combine, *finish;
    const char *types; /* "in -> state -> out"; T stands for a random dtype, U for its accumulator */
    fold_order order;
    int low, high;                                                    /* of the elements */
    void (*step)(int64_t *state, const int64_t *in, int64_t index);   /* index 0: begins */
    void (*result)(const int64_t *state, int64_t count, double *out); /* NULL: the state */
    bool takes_position, takes_count;
} scan_operator;
extern const scan_operator scan_operators[];
extern const int scan_operator_count;

typedef struct scan_case {
    const scan_operator *op;
    arena a;
    fold f;
    code_traits size;
    variant v;
    int ndim; /* of the lines; dimension `ndim` is along the line */
    int64_t extent[SCAN_DIMS + 1], stride[SCAN_OPERANDS][SCAN_DIMS + 1];
    int64_t kept_stride[SCAN_DIMS * SCAN_OPERANDS], along_stride[SCAN_OPERANDS], zero[SCAN_OPERANDS];
    nd_fold loops;
    char *block[SCAN_OPERANDS], *expected[SCAN_OPERANDS]; /* arrays, canaries around their elements */
    size_t bytes[SCAN_OPERANDS];
    char *data[SCAN_OPERANDS]; /* the first element */
    uint64_t numbers[SCAN_OPERANDS][2];
    launch l;
} scan_case;

/* kinds of memory layout: */
enum {
    SCAN_ROWS = 1,    /* contiguous along the line, C order */
    SCAN_COLUMNS = 2, /* contiguous along dimension 0 of the lines */
    SCAN_ANY = 0      /* any, each operand its own */
};
/* t: T. The extents of x are set. in_place: the first output is the first input, where dtypes allow. */
void scan_make(scan_case *x, const scan_operator *which, dtype t, int layout, bool in_place);
const char *scan_fault(scan_case *x); /* what in the outputs is wrong, or NULL; static storage */
void scan_free(scan_case *x);

#endif
