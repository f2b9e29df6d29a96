/* record.h - record types, as `struct` in a text defines them: their fields, and how these lie in memory, which is as C lays them
 * out. Below the core there are no records. An array of records is taken apart into one array for each leaf, which lies between
 * the others; code generation knows the leaves' dtypes alone. A leaf is a real scalar of the record, or one of the two parts of a complex
 * one: a record's size is a whole number of the parts, but not of the complex numbers in it, and strides count elements. */
#ifndef UF_RECORD_H
#define UF_RECORD_H

#include "type/type.h"

enum {
    RECORD_MAX_LEAVES = UF_MAX_OPERANDS, /* elements of arrays counted one by one */
    RECORD_MAX_RANK = 4                  /* dimensions of an array in a record */
};

typedef struct record record;

typedef struct record_field {
    const char *name;
    dtype type;           /* of a scalar, or of the elements of an array; DT_NONE: a record */
    const record *record; /* that record, or NULL */
    int rank;             /* 0: no array */
    int64_t extent[RECORD_MAX_RANK];
    int64_t offset;    /* bytes from the record's beginning */
    int leaf, nleaves; /* its leaves among those of the record */
} record_field;

typedef struct record_leaf {
    const char *path; /* "lo", "a.x", "m[1][2]", "z.re" */
    dtype type;
    dtype scalar;   /* of the scalar: type, or the complex one of which it is a part */
    int64_t offset; /* bytes */
} record_leaf;

struct record {
    const char *name; /* with its argument: "interval(float32)" */
    int64_t size;     /* bytes, a multiple of align */
    int align;
    int nfields, nleaves;
    record_field *fields;
    record_leaf *leaves;
    /* What it was made from, which tells records apart: the definition in its text (lang), and the argument in place of that
     * one's type parameter (DT_NONE and NULL: it has none). */
    const void *definition;
    dtype argument;
    const record *argument_record;
};

/* Lays out a record whose fields have names, types and extents: sets offsets, leaves, size and alignment, in arena memory. False:
 * it has more than RECORD_MAX_LEAVES leaves; nothing is set then. Running out of memory leaves by the arena's escape. */
bool record_lay(arena *a, record *r);
/* Are both the same record: of one definition, with the same argument? */
bool record_same(const record *a, const record *b);
/* The dtype of all scalars, if they have the same one and lie without gaps; else DT_NONE. */
dtype record_uniform(const record *r);
/* How many scalars a record has, a complex one counted once. */
int record_scalars(const record *r);
/* How many leaves a scalar in a record is. */
static inline int scalar_leaves(dtype t) { return dtype_is_complex(t) ? 2 : 1; }

#endif
