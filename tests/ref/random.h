/* random.h - random kernel C programs, and random values to run them on. */
#ifndef UF_TEST_RANDOM_H
#define UF_TEST_RANDOM_H

#include "type/type.h"

/* Numbers from a seed; any seed will do. */
typedef struct source {
    uint64_t state;
} source;
uint64_t random_bits(source *s);
int64_t random_between(source *s, int64_t low, int64_t high); /* both included */
bool random_chance(source *s, int percent);
/* A value of a type: hard ones (zeros, ones, limits, subnormals, infinities, NaN), small ones, and any bits. */
number random_number(source *s, dtype type);

enum {
    PROGRAM_TYPES = 26
};

/* A program that ends, with few hundred operations at most, meant to type-check; the rare one that does not is for the
 * caller to pass over. Its functions are exact ones only, so that every engine must give the same bits. */
typedef struct program {
    text source;
    int nin, nout;
    dtype types[PROGRAM_TYPES]; /* inputs, outputs */
    char signature[512];        /* "float32,int8->float64" */
} program;
void random_program(program *p, source *s);
void program_free(program *p);

#endif
