/* wide.h - values of any dtype as long double, which holds every real dtype exactly: an oracle for conversions. x87 only; and
 * random numbers. */
#ifndef UF_TEST_WIDE_H
#define UF_TEST_WIDE_H

#include "type/type.h"

typedef struct wide_value {
    long double re, im;
} wide_value;

wide_value read_wide(dtype t, const void *p);
/* Converts a value that was read as a `from` with kernel C's rules. */
void write_wide(dtype from, wide_value v, dtype to, void *p);
/* The same bits, or both NaN, in each part. */
bool same_bits(dtype t, const char *a, const char *b);

/* splitmix64, from UF_SEED or the clock; wide_seed prints the seed. */
uint64_t random_bits(void);
void wide_seed(void);

#endif
