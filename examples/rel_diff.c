/* rel_diff.c - an elementwise function of two arrays, on the CPU and, if there is one, on the GPU; both are compared
 * with a plain C loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ufunc.h>

enum {
    N = 1 << 24,
    REPEAT = 10
};

static float x[N], y[N], r[N];

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double plain_rate; /* elements a second */

static void report(const char *how, double rate) {
    printf("rel_diff  %-8s %7.2f Gelem/s  %7.1f GB/s  %7.1f x plain C\n", how, rate / 1e9,
           3 * sizeof(float) * rate / 1e9, rate / plain_rate);
}

static void plain_c(void) {
    for (int i = 0; i < N; i++)
        r[i] = 2 * (x[i] - y[i]) / (x[i] + y[i]);
}

static void compute_in_plain_c(void) {
    plain_c();
    double start = seconds();
    for (int k = 0; k < REPEAT; k++)
        plain_c();
    plain_rate = (double)REPEAT * N / (seconds() - start);
    report("plain C", plain_rate);
}

static void compute(const uf_func *rel_diff, const DLTensor args[3], const char *device) {
    UF_CHECK(uf_call(rel_diff, 3, args, NULL)); /* the first call on a device compiles for it */
    UF_CHECK(uf_sync(args[2].device, NULL));
    double start = seconds();
    for (int i = 0; i < REPEAT; i++)
        UF_CHECK(uf_call(rel_diff, 3, args, NULL));
    UF_CHECK(uf_sync(args[2].device, NULL));
    report(device, (double)REPEAT * N / (seconds() - start));
}

static bool compute_on_gpu(const uf_func *rel_diff, const DLTensor host[3]) {
    DLManagedTensor *array[3];
    for (int k = 0; k < 3; k++) {
        if (uf_empty(&array[k], (DLDevice){kDLCUDA, 0}, host[k].dtype, host[k].ndim, host[k].shape)) {
            const char *why = uf_last_error()->message;
            printf("rel_diff  cuda:0   left out: %.*s\n", (int)strcspn(why, "\n"), why);
            return false;
        }
        UF_CHECK(uf_copy(&array[k]->dl_tensor, &host[k], NULL));
    }
    DLTensor args[3] = {array[0]->dl_tensor, array[1]->dl_tensor, array[2]->dl_tensor};
    compute(rel_diff, args, "cuda:0");
    UF_CHECK(uf_copy(&host[2], &args[2], NULL));
    for (int k = 0; k < 3; k++)
        array[k]->deleter(array[k]);
    return true;
}

static void check(void) {
    for (int i = 0; i < N; i++) {
        if (r[i] != 2 * (x[i] - y[i]) / (x[i] + y[i])) {
            fprintf(stderr, "rel_diff: element %d of (%g, %g) is %g\n", i, x[i], y[i], r[i]);
            exit(1);
        }
        r[i] = -1;
    }
}

int main(void) {
    for (int i = 0; i < N; i++) {
        x[i] = 1 + (float)(i % 1000);
        y[i] = 1 + (float)(i % 77);
    }
    uf_func *rel_diff;
    UF_CHECK(uf_vectorize(&rel_diff, "rel_diff", "float32,float32->float32; float64,float64->float64",
                          UF_SOURCE((x, y) { return 2 * (x - y) / (x + y); })));
    const DLTensor host[3] = {UF_ARRAY(x), UF_ARRAY(y), UF_ARRAY(r)};
    compute_in_plain_c();
    check();
    compute(rel_diff, host, "cpu");
    check();
    if (compute_on_gpu(rel_diff, host))
        check();
    uf_free(rel_diff);
}
