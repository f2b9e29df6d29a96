/* record_types.h - random record types, as text in kernel C and in C. */
#ifndef UF_TEST_RECORD_TYPES_H
#define UF_TEST_RECORD_TYPES_H

#include "type/record.h"

enum {
    RECORDS_FIELDS = 6,
    RECORDS_DEFINITIONS = 16,
    RECORDS_TYPES = 64
};

typedef struct random_record random_record;

/* A dtype; or DT_NONE and a record. */
typedef struct random_type {
    dtype type;
    const random_record *record;
} random_type;

typedef struct random_field {
    char name[16];
    random_type type;
    bool is_parameter; /* the definition has its type parameter here */
    int rank;          /* 0: no array */
    int extent[2];
} random_field;

/* A record type, with the argument of its type parameter where it has one. */
struct random_record {
    int definition;
    random_type argument;
    char kernel[160], c[160];       /* its name: "rec1(float32)", "p3_rec1_float32" */
    int nfields, nscalars, nleaves; /* a complex scalar is two leaves */
    random_field field[RECORDS_FIELDS];
};

typedef struct random_definition {
    char name[12];
    bool has_parameter;
    int nfields;
    struct random_definition_field {
        random_field field;
        int of_parameter; /* the definition that stands here with this one's type parameter as its argument, or -1 */
    } field[RECORDS_FIELDS];
} random_definition;

typedef struct random_records {
    const char *prefix; /* of names in C */
    int most_leaves;    /* of a record; complex scalars count twice */
    text kernel, c;     /* the definitions; C has one for each argument, in the order of their first use */
    int ndefinitions, nrecords;
    random_definition definition[RECORDS_DEFINITIONS];
    random_record record[RECORDS_TYPES];
} random_records;

/* Adds a definition of some dtypes, of records that are there, and, half the time, of a type parameter, and says so in `kernel`. */
void random_record_define(random_records *all, const dtype *types, int ntypes);
/* The record of a definition for an argument. NULL: it would have more scalars than a record can have, or there are too many records. */
const random_record *random_record_of(random_records *all, int definition, random_type argument);
/* A record of some definition with a random argument, or NULL as above. */
const random_record *random_record_any(random_records *all, const dtype *types, int ntypes);
void random_records_free(random_records *all);

/* "float64", "rec1(float32)"; "double", "p3_rec1_float32". In C the half types are uint16_t. */
const char *kernel_type_name(random_type t);
const char *c_type_name(random_type t);

#endif
