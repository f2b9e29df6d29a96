/* random.h - random kernel C programs, elementwise and with core dimensions, and random values to run them on. */
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

/* ---- Generalized ufuncs ---- */

enum {
    CORE_RANK = 3,
    CORE_NAMES = 3
};

/* One core dimension of an operand. */
typedef struct core_dim {
    enum {
        CORE_FROZEN, /* `value` */
        CORE_NAME,
        CORE_STRETCH, /* the name, |1 */
        CORE_COMPUTED
    } kind;
    int name, other; /* computed: of both, by a form */
    int64_t value;   /* the form, if computed */
    char bound[24];  /* the extent in kernel C */
} core_dim;

typedef struct core_operand {
    int rank;
    core_dim dim[CORE_RANK];
} core_operand;

/* A generalized ufunc whose result does not depend on the order of its foralls, and on that of its reductions only where
 * they overflow or where floating sums are of other things than small integers; callers find out by running it in several
 * orders. tame: it wants inputs that are small integers, so that floating sums are exact. */
typedef struct core_program {
    program p;
    text layout;
    core_operand operand[PROGRAM_TYPES];
    bool optional[CORE_NAMES], in_inputs[CORE_NAMES], in_outputs[CORE_NAMES];
    bool tame;
} core_program;
extern const char *const core_names[CORE_NAMES];
void random_core_program(core_program *c, source *s);
void core_program_free(core_program *c);
/* The extent of a dimension; may be negative where it is computed. */
int64_t core_extent(const core_dim *d, const int64_t *sizes);

#endif
