/* product_case.h - products of matrices to be tried: a BLAS form, sizes, loop dimensions and strides of any kind, and what the result
 * must be. Operands hold small integers, so that every sum is exact in any order, and results must be equal to the bit to a plain
 * loop. Outputs are NaN before, and what lies between their elements must stay. */
#ifndef UF_PRODUCT_CASE_H
#define UF_PRODUCT_CASE_H

#include "engine.h"

enum {
    PRODUCT_LOOPS = 3,
    PRODUCT_FORMS = BLAS_GEVMC + 1,
    PRODUCT_EDGE = 16 /* elements around each operand */
};

/* Of each form: the core dimensions of the operands by letters, its layout, and a kernel that computes it. */
typedef struct product_form {
    const char *name, *dims[3], *layout, *source;
} product_form;
extern const product_form product_forms[PRODUCT_FORMS];

typedef struct product_operand {
    int64_t loop[PRODUCT_LOOPS], core[3]; /* strides in elements; core by letter: m, n, p */
    int64_t span, first;                  /* elements of the buffer without its edges; the first element among them */
    char *buffer;
    char *data;
} product_operand;

typedef struct product_case {
    blas_form form;
    dtype type;
    int64_t extent[3]; /* m, n, p; 1 where the form has none */
    int ndim;
    int64_t loop[PRODUCT_LOOPS];
    product_operand operand[3];
} product_case;

int product_letter(char c); /* of m, n, p: its number */
product_case product_case_of(blas_form form, dtype type, int64_t m, int64_t n, int64_t p);
/* Makes the operands. wild: gaps, transposed, negative and zero strides; else C order. */
void product_case_fill(product_case *q, bool wild);
void product_case_reals(product_case *q); /* random numbers from 0 to 1 in place of small integers */
void product_case_free(product_case *q);
size_t product_case_bytes(const product_case *q, int k); /* of a buffer */
/* What the whole buffer of the output must be, from malloc. */
char *product_case_expected(const product_case *q);
/* The first component of the buffers that differs by more than the sign of zero; -1: there is none. */
int64_t product_case_difference(const product_case *q, const char *got, const char *want);
/* Ends the test unless the buffers are equal but for the sign of zero. */
void product_case_compare(const product_case *q, const char *got, const char *want);

/* The launch of a case, whose parts are in `space`. */
typedef struct product_launch {
    layout_operand operands[3];
    core_layout layout;
    int64_t words[16], extent[PRODUCT_LOOPS + 1], stride[(PRODUCT_LOOPS + 1) * 3], offset[3];
    variant v;
    nd_loop loop;
    char *data[3];
} product_launch;
launch product_case_launch(const product_case *q, product_launch *space);

/* The operand as a host array: loop dimensions, then core dimensions, those that are missing left out. */
DLTensor product_case_array(const product_case *q, int k, bool no_m, bool no_p, int64_t *shape, int64_t *strides);
/* A function of the form, for all dtypes that libraries take. */
uf_func *product_case_define(blas_form form);

#endif
