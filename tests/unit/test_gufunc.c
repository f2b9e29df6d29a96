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
    };
    int failed = cmocka_run_group_tests_name("gufuncs, CPU", tests, set_up, NULL);
    const char *wanted = getenv("UF_TEST_GPU");
    if (wanted && *wanted == '1') {
        gu_gpu = true;
        failed += cmocka_run_group_tests_name("gufuncs, GPU", tests, set_up, NULL);
    }
    return failed;
}
