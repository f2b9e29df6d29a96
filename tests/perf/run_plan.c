/* run_plan.c - runs a plan so many times, for compare_numpy.py. */
int run_plan(int (*run)(const void *plan, void *const *data, void *stream), const void *plan, void *const *data,
             int times);
int run_plan(int (*run)(const void *plan, void *const *data, void *stream), const void *plan, void *const *data,
             int times) {
    int failed = 0;
    for (int i = 0; i < times && !failed; i++)
        failed = run(plan, data, 0);
    return failed;
}
