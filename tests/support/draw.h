/* draw.h - random numbers for tests that want no more than small integers: xorshift64*, from UF_SEED or the clock. */
#ifndef UF_TEST_DRAW_H
#define UF_TEST_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* A set-up function for cmocka; prints the seed. */
int draw_seed(void **unused);
extern uint64_t draw_state;              /* never 0; as a seed, it repeats what followed */
uint64_t draw_bits(void);                /* 53 of them */
int64_t pick(int64_t low, int64_t high); /* both included */
bool chance(int percent);
/* n times PROP_N, which is 1 if not set. */
int64_t trials(int64_t n);

#endif
