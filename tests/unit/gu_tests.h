/* gu_tests.h - the parts of test_gufunc. */
#ifndef UF_TEST_GU_TESTS_H
#define UF_TEST_GU_TESTS_H

#include <stdbool.h>

extern bool gu_gpu; /* arrays live in device memory */

/* *state is a seed. */
void gu_random_programs(void **state);
void gu_sums(void **state);

#endif
