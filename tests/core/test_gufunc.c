/* test_gufunc.c - generalized ufuncs through the public interface. On the CPU; on the GPU where UF_TEST_GPU=1 (arrays then
 * live in device memory and are copied back to be compared): the same cases, the same expectations. UF_SEED=<the seed
 * printed> PROP_N=0 runs one random program and its arrays again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gu_tests.h"

bool gu_gpu;

static uint64_t seed;

static int set_up(void **state) {
    const char *given = getenv("UF_SEED");
    seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    print_message("UF_SEED=%llu\n", (unsigned long long)seed);
    *state = &seed;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gu_random_programs),
        cmocka_unit_test(gu_sums),
        cmocka_unit_test(gu_matvec),
        cmocka_unit_test(gu_vecdot),
        cmocka_unit_test(gu_outer),
        cmocka_unit_test(gu_elimination),
        cmocka_unit_test(gu_matmul_forms),
        cmocka_unit_test(gu_softmax),
        cmocka_unit_test(gu_norm),
        cmocka_unit_test(gu_pairwise),
        cmocka_unit_test(gu_cumsum),
        cmocka_unit_test(gu_histogram),
        cmocka_unit_test(gu_minmax),
        cmocka_unit_test(gu_convolve),
        cmocka_unit_test(gu_output_only),
        cmocka_unit_test(gu_empty),
        cmocka_unit_test(gu_unassigned),
        cmocka_unit_test(gu_assigned_again),
        cmocka_unit_test(gu_axes),
        cmocka_unit_test(gu_axes_lists),
        cmocka_unit_test(gu_stretch),
        cmocka_unit_test(gu_in_place),
        cmocka_unit_test(gu_in_place_loop),
        cmocka_unit_test(gu_signatures),
        cmocka_unit_test(gu_infer_shapes),
        cmocka_unit_test(gu_plans),
        cmocka_unit_test(gu_threads),
        cmocka_unit_test(gu_bad_shapes),
        cmocka_unit_test(gu_bad_axes),
        cmocka_unit_test(gu_bad_options),
        cmocka_unit_test(gu_bad_registration),
    };
    int failed = cmocka_run_group_tests_name("gufuncs, CPU", tests, set_up, NULL);
    const char *wanted = getenv("UF_TEST_GPU");
    if (wanted && *wanted == '1') {
        gu_gpu = true;
        failed += cmocka_run_group_tests_name("gufuncs, GPU", tests, set_up, NULL);
    }
    return failed;
}
