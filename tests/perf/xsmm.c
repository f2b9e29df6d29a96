/* xsmm.c - products of many small matrices by libxsmm, which bench_sizes loads if it could be compiled. */
#include <libxsmm.h>
#include <stddef.h>
#include <stdint.h>

/* c[k] = a[k] b[k] for `count` matrices of n rows and columns in C order. libxsmm's order is Fortran's, so the sides change places.
 * Returns 0 if there is no kernel. */
int xsmm_matmul(int64_t n, int64_t count, const float *a, const float *b, float *c) {
    const float one = 1, zero = 0;
    int size = (int)n;
    libxsmm_smmfunction product = libxsmm_smmdispatch(size, size, size, NULL, NULL, NULL, &one, &zero, NULL, NULL);
    if (!product)
        return 0;
    for (int64_t k = 0; k < count; k++)
        product(b + k * n * n, a + k * n * n, c + k * n * n);
    return 1;
}
