/* gu_tests.h - the parts of test_gufunc. */
#ifndef UF_TEST_GU_TESTS_H
#define UF_TEST_GU_TESTS_H

#include <stdbool.h>

extern bool gu_gpu; /* arrays live in device memory */

/* *state is a seed. */
void gu_random_programs(void **state);
void gu_sums(void **state);

/* Known answers. */
void gu_matvec(void **state);
void gu_vecdot(void **state);
void gu_outer(void **state);
void gu_elimination(void **state);
void gu_matmul_forms(void **state);
void gu_softmax(void **state);
void gu_norm(void **state);
void gu_pairwise(void **state);
void gu_cumsum(void **state);
void gu_histogram(void **state);
void gu_minmax(void **state);
void gu_convolve(void **state);
void gu_output_only(void **state);
void gu_empty(void **state);
void gu_unassigned(void **state);
void gu_assigned_again(void **state);
void gu_axes(void **state);
void gu_axes_lists(void **state);
void gu_stretch(void **state);
void gu_in_place(void **state);
void gu_in_place_loop(void **state);
void gu_signatures(void **state);
void gu_infer_shapes(void **state);
void gu_plans(void **state);
void gu_threads(void **state);

/* What is wrong. */
void gu_bad_shapes(void **state);
void gu_bad_axes(void **state);
void gu_bad_options(void **state);
void gu_bad_registration(void **state);

#endif
