/* exact_dot.c - a dot product whose terms cancel but for a part in 10^18: in float64, where nothing of the result is right, and in
 * twice the precision, by a reduction over the catalogue's module `double_double`. Runs on the CPU and, if there is one,
 * on the GPU, and compares both with the exact value, in integers of 128 bits.
 *    exact_dot [TERMS] */
#include "example.h"
#include <math.h>

typedef struct double_double {
    double hi, lo;
} double_double;

__extension__ typedef __int128 wide;

/* The product of two float64 is exactly a double_double. */
static const uf_reduction_def dot = {
    .size = sizeof(uf_reduction_def),
    .map = UF_SOURCE(use double_double; (x, y) { return exact_product(x, y); }),
    .combine = UF_SOURCE(use double_double; (a, b) { return a + b; }),
    .state = "double_double",
    .identity = "0",
};

static uint64_t state = 1;

static int64_t draw(void) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (int64_t)(state >> 24);
}

/* Products of up to 2^80, and their opposites as far from the other end, which leaves those of the first and the last elements. */
static wide fill(double *x, double *y, int64_t n) {
    wide sum = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t opposite = n - 1 - i, a = draw(), b = draw();
        if (i == 0 || i == n - 1) {
            a = i + 12345;
            b = 54321;
        } else if (i >= opposite) {
            a = i > opposite ? -(int64_t)x[opposite] : 0;
            b = (int64_t)y[opposite];
        }
        x[i] = (double)a;
        y[i] = (double)b;
        sum += (wide)a * b;
    }
    return sum;
}

/* Reduces x and y, on a device. */
static void reduce_on(DLDevice device, uf_func *f, double *x, double *y, int64_t n, DLTensor result) {
    DLManagedTensor *a = copy_to(device, UF_ARRAY(x, n)), *b = copy_to(device, UF_ARRAY(y, n)),
                    *c = copy_to(device, result);
    UF_CHECK(UF_REDUCE(f, a->dl_tensor, b->dl_tensor, c->dl_tensor));
    take_back(result, c);
    a->deleter(a);
    b->deleter(b);
    uf_free(f);
}

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 1000000);
    double *x = allocate(n, sizeof *x), *y = allocate(n, sizeof *y);
    DLDevice device;
    double exact = (double)fill(x, y, n);
    for (int k = 0; find_device(k, &device); k++) {
        double_double r = {0, 0};
        double plain = 0;
        uf_func *precise, *usual;
        UF_CHECK(uf_reduction(&precise, "dot", "float64,float64->double_double", &dot));
        UF_CHECK(uf_load(&usual, "dot"));
        reduce_on(device, precise, x, y, n,
                  (DLTensor){.data = &r, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, sizeof r}});
        reduce_on(device, usual, x, y, n,
                  (DLTensor){.data = &plain, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}});
        check(fabs(r.hi - exact) <= 1e-9 * fabs(exact), "the dot product in double_double has nine digits");
        printf("%-7s   double_double %.12g, float64 %.12g, exact %.12g\n", name_of(device), r.hi, plain, exact);
    }
    free(x);
    free(y);
}
